"""Memory for large buffers that goes back to the system as soon as nobody uses it.

malloc keeps freed buffers of up to 32 MB in its heap, in pieces that the next large one does not fit in, so
that a process that handles many would need far more than it holds. Small ones are better off in a heap: its
pages are warm. Better still is one that was used before (`Spares`): it need not be cleared either.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from mmap import mmap

LARGE_BYTES: Final = 3 << 19
"""Above a usual large batch (1 MiB and its frame), which is better off with warm pages."""


def buffer_of(size: int) -> memoryview:
    """``size`` zero bytes, writable. The memory lives as long as views of it."""
    if size < LARGE_BYTES:
        return memoryview(bytearray(size))
    import mmap

    return memoryview(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))


class Spares:
    """A few large buffers for reuse, of at most ``MOST_BYTES`` together, and no more than there is room for;
    those below ``LEAST`` are not worth it.
    """

    LEAST: Final = 1 << 17
    MOST_BYTES: Final = 12 << 20
    """Three of the largest frames between brokers."""

    __slots__ = ("_buffers", "_loose", "_room", "bytes")

    def __init__(self, loose: bool = False, room: Callable[[], int] | None = None) -> None:
        """``loose``: who takes buffers gives them back soon, so much larger ones will do. ``room``: the bytes
        that may be kept now; who makes it smaller calls `shrink`.
        """
        self._buffers: deque[bytearray | mmap] = deque()
        self._loose = loose
        self._room = room
        self.bytes = 0

    def give(self, buffer: bytearray | mmap) -> None:
        """Keep ``buffer`` for somebody else. Views of it may still exist; while they do, nobody gets it."""
        if not self.LEAST <= len(buffer) <= self.MOST_BYTES:
            return
        self._buffers.append(buffer)
        self.bytes += len(buffer)
        most = self.MOST_BYTES
        self.shrink(most if self._room is None else min(most, self._room()))

    def give_unused(self, buffer: bytearray | mmap) -> None:
        """Keep ``buffer`` if nobody looks at it; whoever does will give it, or not."""
        if len(buffer) >= self.LEAST and untouched(buffer):
            self.give(buffer)

    def take(self, size: int) -> memoryview | None:
        """``size`` bytes of a buffer that nobody looks at and that is not much larger; None when there is
        none. What is in them is rubbish: show nobody what was not written first.
        """
        most = self.MOST_BYTES if self._loose else size + (size >> 2)
        for i, buffer in enumerate(self._buffers):
            if size <= len(buffer) <= most and untouched(buffer):
                del self._buffers[i]
                self.bytes -= len(buffer)
                return memoryview(buffer)[:size]
        return None

    def borrow(self, size: int) -> memoryview:
        """``size`` bytes, to be used again by others once no view of them exists. Rubbish, as from `take`.
        Below ``LEAST`` they are new memory: they would keep a large buffer."""
        if size < self.LEAST:
            return buffer_of(size)
        view = self.take(size) or buffer_of(-(-size // self.LEAST) * self.LEAST)[:size]
        self.give(view.obj)  # type: ignore[arg-type]
        return view

    def shrink(self, most: int) -> None:
        """Give back to the system what is more than ``most`` bytes, those that were given first."""
        while self.bytes > most:
            self.bytes -= len(self._buffers.popleft())


def untouched(data: bytearray | mmap) -> bool:
    """Whether no memoryview of ``data`` exists: with one, neither bytearrays nor mappings can be resized."""
    try:
        if type(data) is bytearray:
            last = data.pop()
            data.append(last)
        else:
            data.resize(len(data))  # type: ignore[union-attr]
    except (BufferError, SystemError):  # the latter where mappings have one size for ever
        return False
    return True
