"""When appended bytes go into their segment files: once enough of a partition came together (`due` writes
them at the end of a turn of the event loop), once they are old, and when their memory is wanted. Until then
they are in memory and in the journal.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from kproto.disk import NO_SPACE
from kproto.log.blocks import BlockPool
from kproto.log.due import Due
from kproto.trouble import Trouble

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.config import Settings
    from kproto.log.partition import Partition
    from kproto.log.ports import LogPorts
    from kproto.log.segment import Segment

log = logging.getLogger(__name__)

RETRY_S: Final = 1.0
"""How long to wait after the disk was full."""
CALM_S: Final = 10.0
"""Nothing must have failed for so long: a full disk has room for some files, and not for others."""
REST_S: Final = 60.0
"""Memory is given back when nothing was produced for so long."""
BLOCKS_PER_SLICE: Final = 500


class Flushing:
    """All partitions of a broker. On the event loop."""

    __slots__ = (
        "_busy",
        "_clock",
        "_due",
        "_full_until",
        "_next_rest",
        "_ports",
        "_room_at",
        "_trouble",
        "dirty",
        "flush_bytes",
        "pool",
    )

    def __init__(self, clock: Clock, settings: Settings, ports: LogPorts) -> None:
        self._clock = clock
        self._ports = ports
        self.flush_bytes = settings.kproto_flush_bytes
        memory = min(settings.kproto_log_memory_bytes, settings.kproto_request_memory_bytes // 2)
        limit = memory + settings.kproto_request_memory_bytes
        largest = settings.kproto_log_memory_bytes + settings.kproto_request_memory_bytes
        self.pool = BlockPool(memory, limit, self._make_room, self._is_full, largest)
        self.dirty: dict[Partition, float] = {}
        """Partitions with bytes that are only in memory and the journal, and since when; oldest first."""
        self._due = Due(self._flush, ports.defer)
        self._full_until = 0.0
        self._trouble = Trouble(log, clock, "data stays in the journal and in memory")
        self._room_at = 0.0
        self._busy = False
        """Something was produced since memory was last given back."""
        self._next_rest = clock.monotonic() + REST_S

    def note_dirty(self, partition: Partition) -> None:
        """``partition`` has its first byte that is not in a file."""
        self.dirty.setdefault(partition, self._clock.monotonic())
        self._busy = True

    def flush_soon(self, partition: Partition) -> None:
        """Flush ``partition`` at the end of this turn of the event loop, or of one of the next."""
        self._due.add(partition)

    def forget(self, partition: Partition) -> None:
        """Nothing of ``partition`` is to be written any more."""
        self.dirty.pop(partition, None)
        self._due.pop(partition, None)

    def write(self, segment: Segment) -> bool:
        """Flush one segment and, when it is closed, write its index. False when the disk is full (tried
        again later); any other error poisons the data directory (rule 35).
        """
        try:
            segment.flush(segment.size)
            if segment.footer is not None:
                if segment.partition.look_for_deleted(segment):
                    return False
                segment.write_index()
        except OSError as error:
            if error.errno not in NO_SPACE:
                self._ports.on_poison(f"{segment.path}: {error.strerror}")
            else:
                self._trouble.failed(f"{segment.path}: {error.strerror}")
            self._full_until = self._clock.monotonic() + RETRY_S
            return False
        if self._full_until and self._clock.monotonic() >= self._full_until + CALM_S:
            self._full_until = 0.0
            self._trouble.over()
        return True

    def flush_all(self) -> bool:
        """Flush every partition; False when the disk is full."""
        failed = [partition for partition in tuple(self.dirty) if not self._flush(partition)]
        return not failed

    def flush_old(self, now: float, age: float, deadline: float) -> bool:
        """Flush what has waited for ``age`` seconds, until ``deadline``; True when more is waiting."""
        if now < self._full_until:
            return False
        while self.dirty:
            partition, since = next(iter(self.dirty.items()))
            if since > now - age:
                return False
            partition.idle()
            if not self._flush(partition):
                return False
            if self._clock.monotonic() >= deadline:
                return True
        return False

    def rest(self, now: float) -> bool:
        """When nothing was produced for a while, give the memory back. True when there is more to give."""
        if now < self._next_rest:
            return False
        self._next_rest = now + REST_S
        if self.dirty or self._busy:
            self._busy = False
            return False
        for _ in range(BLOCKS_PER_SLICE):
            if not self.pool.evict():
                self.pool.trim()
                return False
        self._next_rest = 0.0
        return True

    def _flush(self, partition: Partition) -> bool:
        if not partition.deleted and not partition.flush():
            return False
        self.dirty.pop(partition, None)
        return True

    def _make_room(self) -> bool:
        """Flush the partition that has been dirty longest, so that its memory can be reused; half of the time
        at most, as long as there is some memory left.
        """
        began = self._clock.monotonic()
        if began < max(self._full_until, 0.0 if self.pool.short else self._room_at):
            return False
        partition = next(iter(self.dirty), None)
        if partition is None or not self._flush(partition):
            return False
        now = self._clock.monotonic()
        self._room_at = now + (now - began)
        return True

    def _is_full(self) -> bool:
        return self._clock.monotonic() < self._full_until
