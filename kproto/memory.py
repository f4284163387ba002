"""Memory for large buffers that goes back to the system as soon as nobody uses it.

malloc keeps freed buffers of up to 32 MB in its heap, in pieces that the next large one does not fit in, so
that a process that handles many would need far more than it holds. Small ones are better off in a heap: its
pages are warm. Better still is one that was used before (`Spares`): it need not be cleared either.
"""

from collections import deque
from typing import Final

LARGE_BYTES: Final = 3 << 19
"""Above a usual large batch (1 MiB and its frame), which is better off with warm pages."""


def buffer_of(size: int) -> memoryview:
    """``size`` zero bytes, writable. The memory lives as long as views of it."""
    if size < LARGE_BYTES:
        return memoryview(bytearray(size))
    import mmap

    return memoryview(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))


class Spares:
    """A few large buffers for reuse, of at most ``MOST_BYTES`` together; those below ``LEAST`` are not
    worth it.
    """

    LEAST: Final = 1 << 17
    MOST_BYTES: Final = 6 << 20

    __slots__ = ("_buffers", "bytes")

    def __init__(self) -> None:
        self._buffers: deque[bytearray] = deque()
        self.bytes = 0

    def give(self, buffer: bytearray) -> None:
        """Keep ``buffer`` for somebody else. Views of it may still exist; while they do, nobody gets it."""
        if len(buffer) < self.LEAST:
            return
        self._buffers.append(buffer)
        self.bytes += len(buffer)
        while self.bytes > self.MOST_BYTES:
            self.bytes -= len(self._buffers.popleft())

    def take(self, size: int) -> memoryview | None:
        """``size`` bytes of a buffer that nobody looks at and that is not much larger; None when there is
        none. What is in them is rubbish: show nobody what was not written first.
        """
        for i, buffer in enumerate(self._buffers):
            if size <= len(buffer) <= size + (size >> 2) and untouched(buffer):
                del self._buffers[i]
                self.bytes -= len(buffer)
                return memoryview(buffer)[:size]
        return None

    def borrow(self, size: int) -> memoryview:
        """``size`` bytes, to be used again by others once no view of them exists. Rubbish, as from `take`."""
        view = self.take(size) or buffer_of(size)
        if isinstance(view.obj, bytearray):
            self.give(view.obj)
        return view

    def clear(self) -> None:
        """Give all of it back to the system."""
        self._buffers.clear()
        self.bytes = 0


def untouched(data: bytearray) -> bool:
    """Whether no memoryview of ``data`` exists: with one, a bytearray refuses to change its size."""
    try:
        last = data.pop()
    except BufferError:
        return False
    data.append(last)
    return True
