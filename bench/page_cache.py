"""Memory full of page cache before a run, as a broker's machine has it after its first day.

In a virtual machine, memory that was never used, or was given back to the host since it was freed (free page
reporting, balloons), costs a fault in the host when it is touched: up to 3 s of CPU per GB, ten times the
copying, charged to whoever writes. Brokers write into page cache, so what a byte costs them would depend on
what ran before. When memory is full, a new page of the cache is one that held something older.

What fills it is read from a file of holes, which takes no space on the disk and goes with the process.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import BinaryIO, Final

STEP: Final = 256 << 20
"""Bytes between two looks at what is free."""
STILL: Final = 4
"""Steps in a row behind which no less is free: it is full."""
SLACK: Final = 256 << 20
"""Bytes more than when it was last full that are not worth a step."""
_PIECE: Final = 1 << 20
_LARGEST: Final = 1 << 43
"""Bytes of the file of holes, at most: what file systems allow is a little more."""


class Filler:
    """Fills memory with pages of ``file``, which is made ``size`` bytes long; ``free()`` is in bytes."""

    __slots__ = ("_at", "_buffer", "_file", "_free", "_full", "_size")

    def __init__(self, file: BinaryIO, size: int, free: Callable[[], int]) -> None:
        file.truncate(size)
        self._file = file
        self._size = size
        self._free = free
        self._at = 0
        self._full: int | None = None
        """What was free when it was full."""
        self._buffer = bytearray(_PIECE)

    def fill(self) -> int:
        """Read until as little is free as when it was full, at first until that takes no more free memory;
        how many bytes were read. Somebody may be freeing meanwhile: it reads no more than the file has."""
        read, still, least = 0, 0, self._free()
        while read < self._size and (self._full is None or self._free() > self._full + SLACK):
            read += self._step()
            free = self._free()
            still = 0 if free < least - STEP // 4 else still + 1
            least = min(free, least)
            if self._full is None and still == STILL:
                self._full = least
        return read

    def _step(self) -> int:
        """Read on, from the beginning again behind the end."""
        for position in range(self._at, self._at + STEP, _PIECE):
            os.preadv(self._file.fileno(), [self._buffer], position % self._size)
        self._at = (self._at + STEP) % self._size
        return STEP


_fillers: dict[int, Filler] = {}
"""By file system."""


def fill(directory: Path) -> None:
    """Fill this machine's memory, if it is a virtual one, through the file system of ``directory``."""
    if not is_virtual():
        return
    device = directory.stat().st_dev
    if device not in _fillers:
        size = min(2 * memory("MemTotal") // STEP * STEP, _LARGEST)
        holes = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115 (until the process ends)
        _fillers[device] = Filler(holes, size, partial(memory, "MemFree"))
    _fillers[device].fill()


@cache
def is_virtual() -> bool:
    """Whether the processor says that somebody else owns it."""
    about = Path("/proc/cpuinfo").read_text()
    return re.search(r"^flags\s*:.*\bhypervisor\b", about, re.MULTILINE) is not None


def memory(name: str) -> int:
    """A line of /proc/meminfo, in bytes."""
    found = re.search(rf"^{name}:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0
