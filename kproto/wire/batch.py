"""The header of a record batch v2 (a chunk), read and stamped in place.

Layout and CRC range: Kafka's ``DefaultRecordBatch`` (KIP-98). The CRC-32C covers everything from the
attributes to the end, so base offset and leader epoch can be stamped without touching it; timestamps
cannot.
"""

from collections.abc import Iterator
from struct import Struct
from typing import Final, NamedTuple

from kproto.wire.crc import crc32c
from kproto.wire.primitives import Buf

HEADER: Final = Struct(">qiibIhiqqqhii")
"""The fields of :class:`BatchHeader`, in order."""
HEADER_SIZE: Final = 61
LENGTH_OVERHEAD: Final = 12
"""Bytes before the part that the length field counts."""
STAMP: Final = Struct(">qii")
"""Base offset, length, leader epoch: the first 16 bytes."""
CRC_AT: Final = 17
CRC_FROM: Final = 21
MAX_TIMESTAMP_AT: Final = 35

CODEC_MASK: Final = 0x07
LOG_APPEND_TIME: Final = 0x08
TRANSACTIONAL: Final = 0x10
CONTROL: Final = 0x20
"""Set by compaction: the base timestamp is when tombstones may go (KIP-534)."""

_LINK = Struct(">qiib6xi")
"""Base offset, length, leader epoch, magic and last offset delta."""
_LEAST_LENGTH = HEADER_SIZE - LENGTH_OVERHEAD
_CRC_ATTRIBUTES = Struct(">Ih")
_TIMESTAMP = Struct(">q")
_CRC = Struct(">I")

Fields = tuple[int, int, int, int, int, int, int, int, int, int, int, int, int]


class BatchHeader(NamedTuple):
    """A header with names; hot code unpacks :data:`HEADER` itself. Times: ms since 1970, -1 for none."""

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records: int

    @property
    def size(self) -> int:
        """Bytes of the whole batch."""
        return self.length + LENGTH_OVERHEAD

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def codec(self) -> int:
        return self.attributes & CODEC_MASK

    @property
    def log_append_time(self) -> bool:
        return bool(self.attributes & LOG_APPEND_TIME)

    @property
    def transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL)

    @property
    def control(self) -> bool:
        return bool(self.attributes & CONTROL)


def read_header(buf: Buf) -> BatchHeader:
    """The header at the front; the caller knows that 61 bytes are there (else struct.error)."""
    return BatchHeader._make(HEADER.unpack_from(buf))


def hop(data: Buf, at: int = 0) -> Iterator[tuple[int, int, Fields]]:
    """``(position, size, header fields)`` of the whole batches in ``data`` from ``at`` on.

    Stops at the first that is cut off or makes no sense; CRCs are not looked at.
    """
    end = len(data)
    unpack = HEADER.unpack_from
    while at + HEADER_SIZE <= end:
        fields = unpack(data, at)
        size = fields[1] + LENGTH_OVERHEAD
        if size < HEADER_SIZE or fields[3] != 2 or fields[6] < 0 or at + size > end:
            return
        yield at, size, fields
        at += size


def chained(data: Buf, offset: int, newest: int) -> int:
    """How many bytes of ``data`` are whole batches each of which continues the one before: the first has the
    base offset ``offset``, and none is of an earlier leader epoch, nor of a later one than ``newest``.

    No CRC tells of damage there. Only where it breaks off the last one's is looked at, whose length may be
    what is damaged.
    """
    at, before, epoch, end = 0, 0, 0, len(data)
    unpack = _LINK.unpack_from
    while at + HEADER_SIZE <= end:
        base, length, own, magic, last = unpack(data, at)
        behind = at + length + LENGTH_OVERHEAD
        if base != offset or not epoch <= own <= newest or magic != 2 or last < 0:
            break
        if behind > end or length < _LEAST_LENGTH:
            break
        before, at, epoch, offset = at, behind, own, base + last + 1
    if at in (0, end) or _CRC.unpack_from(data, before + CRC_AT)[0] == crc_of(data, before, at - before):
        return at
    return before


def iter_batches(buf: Buf) -> Iterator[memoryview]:
    """Views of the whole batches in ``buf``, as :func:`hop` finds them."""
    view = memoryview(buf)
    for at, size, _ in hop(view):
        yield view[at : at + size]


def crc_of(buf: Buf, at: int = 0, size: int | None = None) -> int:
    """The CRC-32C that the batch at ``at`` (of ``size`` bytes; None: up to the end) should have."""
    end = len(buf) if size is None else at + size
    return crc32c(memoryview(buf)[at + CRC_FROM : end])


def with_max_timestamp(batch: Buf, newest: int) -> bytearray:
    """A copy of the batch whose header says that ``newest`` is the greatest timestamp, with its CRC."""
    copy = bytearray(batch)
    _TIMESTAMP.pack_into(copy, MAX_TIMESTAMP_AT, newest)
    _CRC.pack_into(copy, CRC_AT, crc_of(copy))
    return copy


def stamp_log_append_time(
    buf: bytearray | memoryview, now_ms: int, at: int = 0, size: int | None = None
) -> int:
    """Make ``now_ms`` the time of every record of the batch, renew the CRC and return it."""
    attributes = _CRC_ATTRIBUTES.unpack_from(buf, at + CRC_AT)[1] | LOG_APPEND_TIME
    _CRC_ATTRIBUTES.pack_into(buf, at + CRC_AT, 0, attributes)
    _TIMESTAMP.pack_into(buf, at + MAX_TIMESTAMP_AT, now_ms)
    crc = crc_of(buf, at, size)
    _CRC.pack_into(buf, at + CRC_AT, crc)
    return crc
