"""Whether what is produced with acks=all has as many copies as its topic asks for (rule 18)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kproto.metadata.vlogs import VsegId

if TYPE_CHECKING:
    from kproto.log.partition import Partition
    from kproto.metadata import MetadataImage, TopicRecord
    from kproto.metadata.vlogs import VlogTable


def copies_short(partition: Partition, topic: TopicRecord, image: MetadataImage) -> bool:
    """Whether acks=all must be refused: fewer copies than ``min.insync.replicas`` (rule 18).

    One that is to get more copies has a single one until all that is there has them (rule 45).
    """
    needed = needed_copies(partition, topic, image)
    if needed <= 1:
        return False
    if not image.partition_streamlet(topic, partition.index).sources:
        return True
    vlog, live = partition.vlog, len(image.brokers)
    return (live if vlog is None else min(live, vlog.live_copies)) < needed


def needed_copies(partition: Partition, topic: TopicRecord, image: MetadataImage) -> int:
    """How many acks=all asks for. As in Apache Kafka never more than the partition has replicas."""
    replicas = image.partition_streamlet(topic, partition.index).replicas
    return min(partition.config.min_insync_replicas, len(replicas))


class TooFew:
    """Partitions that appended something which got fewer copies than acks=all asks for, its producer being
    told so.

    As in Apache Kafka, where a follower counts when it has caught up, they take nothing with acks=all before
    what they have so is on others, too: that it was sent again, or that something behind it was stored, would
    be taken for the copies that it has not. Another leader does not know of it.
    """

    __slots__ = ("_known", "_table")

    def __init__(self, table: VlogTable) -> None:
        self._table = table
        self._known: dict[Partition, set[VsegId]] = {}
        """Virtual segments that may have it."""

    def __bool__(self) -> bool:
        return bool(self._known)

    def note(self, partition: Partition) -> None:
        """The last thing that ``partition`` appended is on too few."""
        if partition.vlog is not None:
            places = (VsegId(*place) for place in partition.vlog.places())
            self._known.setdefault(partition, set()).update(places)

    def look(self) -> None:
        """The metadata is another one: forget what has its copies by now, or is led here no more."""
        for partition in list(self._known):
            if partition.deleted or not self.has(partition, partition.config.min_insync_replicas):
                self._known.pop(partition, None)

    def has(self, partition: Partition, needed: int) -> bool:
        """Whether it has fewer than ``needed`` copies yet, as far as the metadata tells. It gets others, or
        is given up (rules 17, 45)."""
        vsegs = self._known.get(partition)
        if vsegs is None:
            return False
        left = {vseg for vseg in vsegs if self._is_short(vseg, needed)}
        if left:
            self._known[partition] = left
        else:
            del self._known[partition]
        return bool(left)

    def _is_short(self, vseg: VsegId, needed: int) -> bool:
        record = self._table.vsegs.get(vseg)
        wanted = min(needed, record.copies) if record is not None else 0
        return record is not None and not record.empty and 1 + len(record.backups) < wanted
