"""State frames of one virtual log: when one is due, and what is in it (rule 28b). Pure.

A state frame is written right behind a frame that took *all* pending references, before anything else is
appended. So each partition's state in it is exactly the fold of its chunks in the frames before it, and of
what it held when it came to this virtual log.

What a reader must know. A partition's state may be in state frames of several virtual logs (it moved from one
to another) and of several owners: the one with the largest end offset counts, and then the chunks from
that offset on, wherever they are, without a gap. A partition that left for another virtual log, or another
leader, stays in the state frames of the one it left, as it was then: its chunks before are there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kproto.log.by_topic import ByTopic
from kproto.vlog.frame import PartitionSnapshot, encode_state
from kproto.vlog.virtual_segment import Frame

if TYPE_CHECKING:
    from kproto.log.ports import LogPartition
    from kproto.vlog.virtual_log import VirtualLog
    from kproto.vlog.virtual_segment import VirtualSegment

FIRST_AFTER: Final = 64 * 1024
"""Bytes of frames before the first state frame of a virtual log."""
INTERVAL: Final = 8 * 1024 * 1024
SHARE: Final = 20
"""Frames between two state frames are at least so many times the last one: 5 % of what is pushed."""
BYTES_PER_PARTITION: Final = 4096
"""And at least so many bytes for each partition, because collecting their states holds up the loop."""
PATIENCE_S: Final = 1.0
"""A partition that came with data is written down after so long, even when nothing else is."""
IDLE_BYTES_PER_S: Final = 1 << 20
"""Such state frames write no more than this."""

LATE: Final = 4
"""So many times the bytes after which one is due: what is pending is pushed in one larger frame for it."""

PartitionKey = tuple[bytes, int]


def is_due(since: int, last_bytes: int, partitions: int, new_vseg: bool, waiting: bool) -> bool:
    """Whether a state frame follows the present frame.

    ``since`` bytes of frames came after the last state frame, which had ``last_bytes`` (0: there was none).
    ``new_vseg``: the segment has none yet. Each has one soon, so that older segments can be freed (rule 30).
    """
    if waiting or new_vseg:
        return since >= max(SHARE * last_bytes, FIRST_AFTER)
    return since >= _usual(last_bytes, partitions)


def _usual(last_bytes: int, partitions: int) -> int:
    return max(SHARE * last_bytes, INTERVAL, BYTES_PER_PARTITION * partitions)


class States:
    """The partitions of one virtual log and what was last written down of them.

    Invariant: a key is in ``_partitions`` or in ``_frozen``, never in both.
    """

    __slots__ = (
        "_cache",
        "_frozen",
        "_partitions",
        "_vseg",
        "_waiting_since",
        "covered",
        "flying",
        "last_bytes",
        "missed",
        "since",
        "written",
    )

    def __init__(self) -> None:
        self._partitions: ByTopic[LogPartition] = ByTopic()
        self._frozen: ByTopic[tuple[LogPartition, bytes]] = ByTopic()
        """Partitions that append elsewhere now, and what they were then."""
        self._cache: ByTopic[tuple[int, int, bytes]] = ByTopic()
        """Log start and end at the last encoding, and its bytes."""
        self._vseg = 0
        """Number of the segment with the last state frame."""
        self._waiting_since: float | None = None
        """When the first partition came whose data is in no frame of this virtual log."""
        self.since = 0
        self.last_bytes = 0
        self.missed = 0
        """How often there was no room for one since the last."""
        self.written = 0
        """State frames made."""
        self.flying: tuple[Frame, int, frozenset[PartitionKey]] | None = None
        """The last state frame while it is not durable, its segment's number, and who is in it."""
        self.covered: tuple[int, frozenset[PartitionKey]] = (0, frozenset())
        """Segment number of the newest durable state frame, and who is in it."""

    def join(self, partition: LogPartition, now: float) -> None:
        """``partition`` appends to this virtual log from now on."""
        key = (partition.topic_id, partition.index)
        self._partitions[key] = partition
        self._frozen.pop(key)
        self.covered = (self.covered[0], self.covered[1] - {key})
        if self.flying is not None:
            self.flying = (*self.flying[:2], self.flying[2] - {key})
        if partition.log_end_offset > 0 and self._waiting_since is None:
            self._waiting_since = now

    def is_current(self, key: PartitionKey, vlog: VirtualLog) -> bool:
        """The newest of a partition is in state frames of this virtual log, ``vlog``: it appends here. Of one
        that went on elsewhere, or was led by another broker meanwhile (12b), they may say what was true once.
        """
        partition = self._partitions.get(key)
        return partition is not None and partition.vlog is vlog and not partition.lost

    def begun(self, now: float) -> None:
        """Have a state frame soon, even without traffic: not the first segment was opened, and a recovery is
        not to depend on what copies the older ones have; or somebody wants it."""
        if self._waiting_since is None and (self._partitions or self._frozen):
            self._waiting_since = now

    def leave(self, partition: LogPartition) -> None:
        """``partition``, all of it durable, appends to another virtual log from now on (rule 12)."""
        key = (partition.topic_id, partition.index)
        if self._partitions.get(key) is partition:
            self._partitions.pop(key)
            self._cache.pop(key)
            if partition.log_end_offset > 0 and _counts(partition):
                self._frozen[key] = (partition, _snapshot(partition))

    def forget_topic(self, topic_id: bytes) -> None:
        """Of its partitions that are led elsewhere, too: else the state of a topic that moved away and was
        deleted would be in every frame for ever."""
        self._partitions.forget(topic_id)
        self._frozen.forget(topic_id)
        self._cache.forget(topic_id)

    @property
    def used(self) -> bool:
        """Some partition appends to this virtual log."""
        return any(
            partition.vlog is not None and not partition.deleted for partition in self._partitions.values()
        )

    def due(self, vseg: int) -> bool:
        """Whether a state frame should follow the frame that was just made for segment ``vseg``."""
        waiting = self._waiting_since is not None
        return is_due(self.since, self.last_bytes, self._count, vseg != self._vseg, waiting)

    @property
    def late(self) -> bool:
        """One was due long ago, but something was always pending: recovery would read ever more."""
        return self.since >= LATE * _usual(self.last_bytes, self._count)

    @property
    def _count(self) -> int:
        return len(self._partitions) + len(self._frozen)

    def overdue(self, now: float) -> bool:
        """Whether a partition has waited so long that a state frame is written for it alone."""
        since = self._waiting_since
        return since is not None and now - since >= max(PATIENCE_S, self.last_bytes / IDLE_BYTES_PER_S)

    def make(self, vlog: VirtualLog, segment: VirtualSegment) -> Frame | None:
        """A state frame for the end of ``segment``; None when it does not fit.

        Nothing may be pending: then it would not be the state at that place.
        """
        packed = self._collect(vlog)
        position = segment.end
        data, chain = encode_state(
            list(packed.values()),
            vlog.vlog_id,
            vlog.owner_epoch,
            segment.number,
            position,
            segment.chain,
            segment.durable,
        )
        self.last_bytes = len(data)
        self.since = 0
        if len(data) > segment.room():
            self.missed += 1
            return None
        frame = Frame(position, len(data), [data], [], {}, vlog.framed, chain)
        self._waiting_since = None
        self._vseg = segment.number
        self.missed = 0
        self.written += 1
        self.flying = (frame, segment.number, frozenset(packed))
        return frame

    def landed(self, segment: VirtualSegment) -> None:
        """The durable header of ``segment`` moved."""
        if self.flying is not None:
            frame, number, keys = self.flying
            if number == segment.number and segment.durable >= frame.position + frame.length:
                self.covered = (number, keys)
                self.flying = None

    def abandoned(self, now: float) -> None:
        """The open segment was closed at its durable header (rule 13): is a state frame gone with it?"""
        if self.flying is not None:
            self.flying = None
            self._vseg = 0
            self._waiting_since = now

    def _collect(self, vlog: VirtualLog) -> dict[PartitionKey, bytes]:
        """The encoded states of all partitions with data."""
        for partition in [one for one in self._partitions.values() if one.vlog is not vlog]:
            self.leave(partition)
        for key in [key for key, frozen in self._frozen.items() if not _counts(frozen[0])]:
            self._frozen.pop(key)
        packed = {key: state for key, (_, state) in self._frozen.items()}
        for key, partition in self._partitions.items():
            start, end = partition.log_start_offset, partition.log_end_offset
            if end <= 0:
                continue
            known = self._cache.get(key)
            if known is None or known[0] != start or known[1] != end:
                known = self._cache[key] = (start, end, _snapshot(partition))
            packed[key] = known[2]
        return packed


def _counts(partition: LogPartition) -> bool:
    """Whether somebody may need the state: of a deleted topic nobody, of one led elsewhere its new leader."""
    return partition.lost or not partition.deleted


def _snapshot(partition: LogPartition) -> bytes:
    return PartitionSnapshot(
        partition.topic_id,
        partition.index,
        partition.log_start_offset,
        partition.log_end_offset,
        partition.epochs.encode(),
        partition.producers.encode(),
    ).encode()
