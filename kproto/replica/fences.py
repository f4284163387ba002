"""Owner epochs that may not write here any more, kept through every kind of crash (rules 6 and 20).

The controller seals only what belongs to an owner epoch that is over (rule 19), so a fence closes all virtual
segments of that epoch at once, also those this store has never heard of. One file of 16-byte records, each
``epoch u64 | magic u32 | CRC-32C of both``; its room is reserved ahead, so that a fence never meets a full
disk (rule 37): from 128 fences before the end on, each asks for more, and goes without it. Behind the last of
them it waits for room. Nothing is ever removed: a fence costs 16 bytes for each time that a broker died.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from struct import Struct
from typing import TYPE_CHECKING, Final

from kproto.disk import NO_SPACE
from kproto.wire.crc import crc32c

if TYPE_CHECKING:
    from kproto.disk import Disk
    from kproto.vlog.worker import Loop, Works

FILE_NAME: Final = "fences"
_BARE: Final = Struct(">QI")
_RECORD: Final = Struct(">QII")
_MAGIC: Final = 0x4B504645
_STEP: Final = 4096
"""Bytes reserved at a time."""
RETRY_S: Final = 1.0
"""How long to wait when there is no room for another fence."""

Persisted = Callable[[], object]


class Fences:
    """The set of fenced owner epochs of one store. All methods on the loop.

    Invariant: an epoch in ``epochs`` refuses pushes at once; who asked for it hears of it only when it is on
    the medium.
    """

    __slots__ = (
        "_closed",
        "_disk",
        "_fd",
        "_loop",
        "_poison",
        "_reserved",
        "_slot",
        "_waiting",
        "_worker",
        "_working",
        "_writing",
        "epochs",
        "path",
    )

    def __init__(
        self, disk: Disk, directory: str, worker: Works, loop: Loop, poison: Callable[[str], object]
    ) -> None:
        """Reads the file, or makes it; what it says is on the medium then. OSError passes through: without
        fences the store must not start."""
        self._disk = disk
        self._worker = worker
        self._loop = loop
        self._poison = poison
        self.path = os.path.join(directory, FILE_NAME)
        self._fd = disk.open(self.path, create=True)
        self._reserved = disk.size(self._fd)
        self.epochs: set[int] = set()
        self._slot = self._load()
        if self._room() < _STEP // 2:
            self._grow(_STEP)
        disk.datasync(self._fd)
        disk.sync_directory(directory)
        self._waiting: dict[int, list[Persisted]] = {}
        """Not on the medium yet: who waits for it."""
        self._writing = False
        self._working = False
        """The worker is using the descriptor, or about to."""
        self._closed = False

    def _load(self) -> int:
        """Take every sound record; returns the first slot behind the last of them. They are written again,
        for the sync to come: an earlier process may have ended before its own, or because that failed."""
        slots = self._disk.pread(self._fd, self._reserved, 0)
        last = -1
        for number in range(len(slots) // _RECORD.size):
            epoch, magic, checksum = _RECORD.unpack_from(slots, number * _RECORD.size)
            if magic == _MAGIC and checksum == crc32c(_BARE.pack(epoch, magic)):
                self.epochs.add(epoch)
                last = number
        if last >= 0:
            self._disk.pwritev(self._fd, [slots[: (last + 1) * _RECORD.size]], 0)
        return last + 1

    def _room(self) -> int:
        return self._reserved - self._slot * _RECORD.size

    def add(self, epoch: int, done: Persisted) -> None:
        """Refuse ``epoch`` from now on; ``done()`` once that survives a power loss: never when poisoned, on a
        full disk when there is room for it."""
        waiting = self._waiting.get(epoch)
        if waiting is not None:
            waiting.append(done)
        elif epoch in self.epochs:
            done()
        else:
            self.epochs.add(epoch)
            self._waiting[epoch] = [done]
            if not self._writing:
                self._write()

    def _write(self) -> None:
        """Persist everything that waits, with one sync."""
        if self._closed:
            return
        batch = list(self._waiting)
        records = b"".join(map(_record, batch))
        self._writing = True
        at = self._slot * _RECORD.size
        self._slot += len(batch)
        self._working = True
        self._worker.submit(partial(self._persist, records, at), partial(self._written, batch))

    def _persist(self, records: bytes, at: int) -> None:
        """In the worker. Nobody else looks at ``_reserved`` meanwhile."""
        if self._room() < _STEP // 2:
            self._grow(max(_STEP, len(records)))
        self._disk.pwritev(self._fd, [records], at)
        self._disk.datasync(self._fd)

    def _grow(self, more: int) -> None:
        """Reserve ``more`` bytes, if the disk has them. OSError when it has not, and nothing is left."""
        try:
            self._disk.allocate(self._fd, self._reserved, more)
        except OSError as error:
            if error.errno not in NO_SPACE or self._room() <= 0:
                raise
        else:
            self._reserved += more

    def _written(self, batch: list[int], error: BaseException | None) -> None:
        self._working = False
        if self._closed:
            self._disk.close(self._fd)
        if isinstance(error, OSError) and error.errno in NO_SPACE:
            self._slot -= len(batch)
            self._loop.call_later(RETRY_S, self._write)
            return
        if error is not None:
            self._poison(f"fences: {error}")
            return
        waiting = [self._waiting.pop(epoch) for epoch in batch]
        self._writing = False
        if self._waiting:
            self._write()
        for callbacks in waiting:
            for done in callbacks:
                done()

    @property
    def deleted(self) -> bool:
        """Somebody else deleted the file: the next start would not know the fences."""
        return self._disk.is_deleted(self._fd)

    def close(self) -> None:
        """Give the descriptor back, once nothing is on its way to the disk: when the write comes its number
        could be another file's."""
        self._closed = True
        if not self._working:
            self._disk.close(self._fd)


def _record(epoch: int) -> bytes:
    return _RECORD.pack(epoch, _MAGIC, crc32c(_BARE.pack(epoch, _MAGIC)))
