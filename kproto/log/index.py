"""The sparse index of one segment: offsets, positions and times, one entry for every
``index.interval.bytes``.

In memory three arrays; the file ``*.index`` beside a closed segment holds them, together with the state of
producers and leader epochs at the segment's end (so that opening a partition reads one index and the open
segment, not everything)::

    magic 8 B | crc32c of the rest of the fixed part u32 | entries u32 | base offset i64 | next offset i64 |
    bytes u64 | max timestamp i64 | its chunk i64 | crc32c of what is behind the fixed part u64 | unused 8 B |
    producers length u32 | epochs length u32 ||
    offsets i64.. | max timestamps before i64.. | positions u32.. | producers | epochs

Little-endian. The fixed part proves itself, because it is read alone: its timestamp says what is too old. In
older files (another magic) the first checksum is of all that is behind it, and there is no second one. An
index that is missing, damaged or of another size than its segment is rebuilt by hopping headers.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left, bisect_right
from struct import Struct
from typing import Final, NamedTuple

from kproto.check import check
from kproto.wire.crc import crc32c

MAGIC: Final = b"KPROTOX2"
OLD_MAGIC: Final = b"KPROTOX1"
FRONT: Final = Struct("<8sIIqqQqqQ8xII")
_CRC_AT: Final = 8
_CRC_END: Final = 12


class SparseIndex:
    """Entries in order of position. The segment's start is an entry that is not stored."""

    __slots__ = ("max_before", "offsets", "positions")

    def __init__(self) -> None:
        self.offsets = array("q")
        """Base offset of the chunk at ``positions[i]``."""
        self.positions = array("I")
        self.max_before = array("q")
        """Newest timestamp of all chunks before it in the segment; never falls."""

    def add(self, offset: int, position: int, max_before: int) -> None:
        self.offsets.append(offset)
        self.positions.append(position)
        self.max_before.append(max_before)

    def floor(self, offset: int, base_offset: int) -> tuple[int, int, int]:
        """``(entry number, offset, position)`` of the last entry at or below ``offset``; number -1 is the
        start.
        """
        i = bisect_right(self.offsets, offset) - 1
        return (i, self.offsets[i], self.positions[i]) if i >= 0 else (-1, base_offset, 0)

    def before_time(self, timestamp: int) -> tuple[int, int]:
        """Entry numbers ``(i, j)``: the first chunk whose newest time is >= ``timestamp`` lies between
        them, if at all; i is -1 for the start, j is ``len`` for the segment's end.
        """
        j = bisect_left(self.max_before, timestamp)
        return j - 1, j

    def cut(self, position: int) -> None:
        """Forget the entries at or above ``position``."""
        keep = bisect_left(self.positions, position)
        del self.offsets[keep:], self.positions[keep:], self.max_before[keep:]


class Summary(NamedTuple):
    """The fixed part of an index file: what is known of a closed segment without its entries."""

    entries: int
    base_offset: int
    next_offset: int
    size: int
    max_ts: int
    max_ts_base: int
    rest_crc: int
    """Checksum of everything behind it; older files have something else there."""
    producers: int
    epochs: int


def encode(index: SparseIndex, summary: Summary, producers: bytes, epochs: bytes) -> bytes:
    """The content of an index file. What ``summary`` says of lengths and checksums is not looked at."""
    arrays = (_little(index.offsets), _little(index.max_before), _little(index.positions))
    rest = b"".join((*arrays, producers, epochs))
    summary = summary._replace(
        entries=len(index.offsets), rest_crc=crc32c(rest), producers=len(producers), epochs=len(epochs)
    )
    known = FRONT.pack(MAGIC, 0, *summary)[_CRC_END:]
    return MAGIC + crc32c(known).to_bytes(4, "little") + known + rest


def decode_summary(data: bytes) -> Summary | None:
    """The fixed part alone; None when it does not prove itself: of an older file, too."""
    return _front(data, MAGIC, FRONT.size)


def _front(data: bytes, magic: bytes, proven: int) -> Summary | None:
    """The fixed part of a file with ``magic``, whose checksum is that of the first ``proven`` bytes."""
    if len(data) < FRONT.size or data[:_CRC_AT] != magic:
        return None
    fields = FRONT.unpack_from(data)
    return Summary._make(fields[2:]) if fields[1] == crc32c(memoryview(data)[_CRC_END:proven]) else None


def decode(data: bytes) -> tuple[SparseIndex, Summary, bytes, bytes] | None:
    """``(index, summary, producers, epochs)``; None when anything is wrong with ``data``."""
    summary = _front(data, OLD_MAGIC, len(data))
    if summary is None:
        summary = decode_summary(data)
        if summary is None or summary.rest_crc != crc32c(memoryview(data)[FRONT.size :]):
            return None
    index = SparseIndex()
    count = summary.entries
    at = FRONT.size
    if len(data) != at + 20 * count + summary.producers + summary.epochs:
        return None
    index.offsets = _array("q", data[at : at + 8 * count])
    index.max_before = _array("q", data[at + 8 * count : at + 16 * count])
    index.positions = _array("I", data[at + 16 * count : at + 20 * count])
    at += 20 * count
    producers_end = at + summary.producers
    return index, summary, data[at:producers_end], data[producers_end:]


def _array(code: str, data: bytes) -> array[int]:
    values: array[int] = array(code, data)
    check(values.itemsize == {"q": 8, "I": 4}[code], "this platform has other array sizes")
    if sys.byteorder == "big":
        values.byteswap()
    return values


def _little(values: array[int]) -> bytes:
    if sys.byteorder == "big":
        values = array(values.typecode, values)
        values.byteswap()
    return values.tobytes()
