"""Whether what is produced with acks=all has as many copies as its topic asks for (rule 18)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kproto.metadata.vlogs import VsegRecord

if TYPE_CHECKING:
    from kproto.log.partition import Partition
    from kproto.metadata import MetadataImage, TopicRecord
    from kproto.metadata.vlogs import VlogTable


def copies_short(partition: Partition, topic: TopicRecord, image: MetadataImage) -> bool:
    """Whether acks=all must be refused: fewer copies than ``min.insync.replicas`` (rule 18).

    As in Apache Kafka a partition never needs more copies than it has replicas, and one that is to get more
    copies has a single one until all that is there has them (rule 45).
    """
    streamlet = image.partition_streamlet(topic, partition.index)
    needed = min(partition.config.min_insync_replicas, len(streamlet.replicas))
    if needed <= 1:
        return False
    if not streamlet.sources:
        return True
    vlog, live = partition.vlog, len(image.brokers)
    return (live if vlog is None else min(live, vlog.live_copies)) < needed


class Repetitions:
    """Batches that are there already, because their first answer was an error or lost: what was short of
    copies then has no more by being sent again, whatever new ones get now.

    Where in its virtual logs a chunk is nobody knows any more: all that may have it count. They are looked
    through once per revision, and few are ever short.
    """

    __slots__ = ("_node_id", "_short", "_table")

    def __init__(self, node_id: int, table: VlogTable) -> None:
        self._node_id = node_id
        self._table = table
        self._short: dict[int, tuple[int, list[VsegRecord]]] = {}
        """By the number of copies: the revision, and the virtual segments that have fewer."""

    def are_short(self, partition: Partition, topic: TopicRecord, image: MetadataImage) -> bool:
        """Whether a virtual segment that may have chunks of ``partition`` has fewer copies than acks=all
        asks for. It gets others, or is given up (rules 17, 45)."""
        streamlet = image.partition_streamlet(topic, partition.index)
        needed = min(partition.config.min_insync_replicas, len(streamlet.replicas))
        if needed <= 1:
            return False
        sources = streamlet.sources
        return any(
            record.id.owner_epoch in sources and record.may_hold(topic.floor)
            for record in self._with_fewer(needed, image)
        )

    def _with_fewer(self, copies: int, image: MetadataImage) -> list[VsegRecord]:
        revision, short = self._short.get(copies, (-1, []))
        if revision != self._table.revision:
            vsegs = self._table.vsegs.values()
            short = [one for one in vsegs if not one.empty and self._copies(one, image) < copies]
            self._short[copies] = self._table.revision, short
        return short

    def _copies(self, record: VsegRecord, image: MetadataImage) -> int:
        """Members that have one: who is listed and has not said that it has none, and its owner, if that is
        this broker."""
        denied = record.deniers(image.is_member)
        brokers = image.brokers
        having = {
            target.node_id
            for target in record.backups
            if target.node_id not in denied
            and target.node_id in brokers
            and brokers[target.node_id].store_id == target.store_id
        }
        me = brokers.get(self._node_id)
        if me is not None and me.epoch == record.id.owner_epoch:
            having.add(self._node_id)
        return len(having)
