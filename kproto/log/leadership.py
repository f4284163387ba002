"""Which streamlets this broker may open: those it has the only copy of, and those it has taken over (rules 5,
18b and 27).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kproto.log.by_topic import ByTopic
from kproto.metadata.records import NO_LEADER, ONLINE

if TYPE_CHECKING:
    from kproto.metadata import MetadataImage, StreamletRecord


class Leadership:
    """What the newest image and earlier takeovers say. A streamlet with ``sources`` has several copies."""

    __slots__ = ("_node_id", "_taken", "going", "image", "owner_epoch")

    def __init__(self, node_id: int, owner_epoch: int) -> None:
        self._node_id = node_id
        self.owner_epoch = owner_epoch
        """This process's broker epoch: a streamlet with no other source began here."""
        self.image: MetadataImage | None = None
        self._taken: ByTopic[int] = ByTopic()
        """Leader epoch under which a streamlet was taken over."""
        self.going: set[tuple[bytes, int]] = set()
        """Streamlets that are being handed over: what is opened of them takes no appends."""

    def streamlet(self, topic_id: bytes, index: int) -> StreamletRecord | None:
        """The streamlet of a partition; None when there is no such partition."""
        image = self.image
        record = image.topics_by_id.get(topic_id) if image is not None else None
        if image is None or record is None or index >= record.partitions:
            return None
        return image.partition_streamlet(record, index)

    def taken_over(self, topic_id: bytes, index: int, leader_epoch: int) -> None:
        """A partition was taken over, and with it, under that leader epoch, its streamlet."""
        record = self.image.topics_by_id.get(topic_id) if self.image is not None else None
        if record is not None:
            self._taken[topic_id, index // record.active_groups] = leader_epoch

    def forget(self, topic_id: bytes) -> None:
        """The topic is deleted."""
        self._taken.forget(topic_id)

    def is_here(self, streamlet: StreamletRecord) -> bool:
        """It may be opened: taken over, or its only copy is here."""
        return self._serves(streamlet) if streamlet.sources else not self.is_elsewhere(streamlet)

    def may_open(self, topic_id: bytes, index: int) -> bool:
        """Of one in virtual segments with backups, what is sealed has to be known first. One that is gone is
        opened, too: that tells."""
        streamlet = self.streamlet(topic_id, index)
        return streamlet is None or self.is_here(streamlet)

    def is_elsewhere(self, streamlet: StreamletRecord) -> bool:
        """Another broker leads it. A streamlet of a single copy stays where that is while nobody leads it."""
        if streamlet.leader == NO_LEADER:
            return bool(streamlet.sources)
        return streamlet.leader != self._node_id

    def is_served_elsewhere(self, streamlet: StreamletRecord) -> bool:
        """Another broker that is there has taken it over: nothing of what is here is needed any more."""
        there = self.image is not None and streamlet.leader in self.image.brokers
        return there and streamlet.state == ONLINE and self.is_elsewhere(streamlet)

    def _serves(self, streamlet: StreamletRecord) -> bool:
        """Rules 5 and 27: led here, online, and either taken over under this leader epoch or begun here."""
        if streamlet.leader != self._node_id or streamlet.state != ONLINE:
            return False
        taken = self._taken.get((streamlet.topic_id, streamlet.index))
        return taken == streamlet.leader_epoch or streamlet.sources == (self.owner_epoch,)
