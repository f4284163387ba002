"""Memory for large buffers that goes back to the system as soon as nobody uses it.

malloc keeps freed buffers of up to 32 MB in its heap, in pieces that the next large one does not fit in, so
that a process that handles many would need far more than it holds. Small ones are better off in a heap: its
pages are warm.
"""

from typing import Final

LARGE_BYTES: Final = 3 << 19
"""Above a usual large batch (1 MiB and its frame), which is better off with warm pages."""


def buffer_of(size: int) -> memoryview:
    """``size`` zero bytes, writable. The memory lives as long as views of it."""
    if size < LARGE_BYTES:
        return memoryview(bytearray(size))
    import mmap

    return memoryview(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
