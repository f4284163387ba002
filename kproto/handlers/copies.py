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

    def note(self, partition: Partition) -> None:
        """The last thing that ``partition`` appended is on too few."""
        vlog = partition.vlog
        if vlog is not None:
            self._known = {one: vsegs for one, vsegs in self._known.items() if not one.deleted}
            self._known.setdefault(partition, set()).update(VsegId(*place) for place in vlog.places())

    def has(self, partition: Partition) -> bool:
        """Whether it is yet, as far as the metadata tells. It gets copies, or is given up (rules 17, 45)."""
        vsegs = self._known.get(partition)
        if vsegs is None:
            return False
        needed = partition.config.min_insync_replicas
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
