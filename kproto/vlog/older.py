"""What partitions had before they came to a virtual log whose class syncs more (rules 8 and 12c).

A start after a power loss cuts a partition at the first place where something is missing. So what is
acknowledged in a class with syncs is worth as much as what the partition had before: in another virtual log,
in files that were written directly, or in the journal of an earlier process. All of that is synced, in
segment files, before the first ack of the new class; so is where it starts, since what was deleted is not. It
is done with the first frame that has something of the partition: one that is not appended to any more costs
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from weakref import WeakSet

from kproto.log.ports import EVERYTHING

if TYPE_CHECKING:
    from kproto.log.ports import LogPartition, LogSegment


class Older:
    """The partitions of one virtual log whose older chunks may be unsynced."""

    __slots__ = ("_partitions",)

    def __init__(self) -> None:
        self._partitions: WeakSet[LogPartition] = WeakSet()
        """Weak, because of one that is deleted no frame comes any more."""

    def __len__(self) -> int:
        return len(self._partitions)

    def __contains__(self, partition: LogPartition) -> bool:
        return partition in self._partitions

    def add(self, partition: LogPartition) -> None:
        """``partition`` came here; the next frame with something of it syncs what it had."""
        self._partitions.add(partition)

    def leave(self, partition: LogPartition) -> bool:
        """``partition`` appends elsewhere from now on. Whether what it had when it came may be unsynced
        still: no frame with something of it was made durable here."""
        was_here = partition in self._partitions
        self._partitions.discard(partition)
        return was_here

    def flush(self, partitions: Iterable[LogPartition]) -> list[LogSegment]:
        """Of ``partitions``, those of a frame, write what is only in memory and in journals to segment files;
        returns the files to sync, oldest of each partition first. OSError passes through: then it is to be
        tried again."""
        here = [one for one in partitions if one in self._partitions and not one.deleted]
        if here:
            here[0].sync_starts(here)
        segments: list[LogSegment] = []
        for partition in here:
            for segment in partition.unsynced():
                segment.flush(EVERYTHING)
                segments.append(segment)
        return segments

    def settle(self, partitions: Iterable[LogPartition]) -> None:
        """What `flush` returned for ``partitions`` is synced before anything else of this virtual log is."""
        self._partitions.difference_update(partitions)
