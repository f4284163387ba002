"""The header of a record batch v2 (a chunk), read and stamped in place.

Layout and CRC range: Kafka's ``DefaultRecordBatch`` (KIP-98). The CRC-32C covers everything from the
attributes to the end, so base offset and leader epoch can be stamped without touching it; timestamps
cannot.
"""

from collections.abc import Iterator
from struct import Struct
from typing import Final, NamedTuple

from kproto.errors import ErrorCode, KafkaError
from kproto.wire.crc import crc32c
from kproto.wire.primitives import Buf

HEADER: Final = Struct(">qiibIhiqqqhii")
"""The fields of :class:`BatchHeader`, in order."""
HEADER_SIZE: Final = 61
LENGTH_OVERHEAD: Final = 12
"""Bytes before the part that the length field counts."""
STAMP: Final = Struct(">qii")
"""Base offset, length, leader epoch: the first 16 bytes."""
LENGTH_AT: Final = 8
LEADER_EPOCH_AT: Final = 12
MAGIC_AT: Final = 16
CRC_AT: Final = 17
CRC_FROM: Final = 21
ATTRIBUTES_AT: Final = 21
MAX_TIMESTAMP_AT: Final = 35

CODEC_MASK: Final = 0x07
LOG_APPEND_TIME: Final = 0x08
TRANSACTIONAL: Final = 0x10
CONTROL: Final = 0x20
DELETE_HORIZON: Final = 0x40
"""Set by compaction: the base timestamp is when tombstones may go (KIP-534)."""
RESERVED_MASK: Final = 0xFF80 - 0x10000
"""As the signed 16-bit number the header field is read as."""
MAX_CODEC: Final = 4

_BASE_OFFSET = Struct(">q")
_EPOCH = Struct(">i")
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

    @property
    def has_delete_horizon(self) -> bool:
        return bool(self.attributes & DELETE_HORIZON)


def read_header(buf: Buf, at: int = 0) -> BatchHeader:
    """The header at ``at``; the caller knows that 61 bytes are there (else struct.error)."""
    return BatchHeader._make(HEADER.unpack_from(buf, at))


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


def iter_batches(buf: Buf) -> Iterator[memoryview]:
    """Views of the whole batches in ``buf``, as :func:`hop` finds them."""
    view = memoryview(buf)
    for at, size, _ in hop(view):
        yield view[at : at + size]


def crc_of(buf: Buf, at: int = 0, size: int | None = None) -> int:
    """The CRC-32C that the batch at ``at`` (of ``size`` bytes; None: up to the end) should have."""
    end = len(buf) if size is None else at + size
    return crc32c(memoryview(buf)[at + CRC_FROM : end])


def stamp(buf: bytearray | memoryview, base_offset: int, leader_epoch: int, at: int = 0) -> None:
    """Write base offset and leader epoch; both lie outside the CRC."""
    _BASE_OFFSET.pack_into(buf, at, base_offset)
    _EPOCH.pack_into(buf, at + LEADER_EPOCH_AT, leader_epoch)


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


def check_batch(buf: Buf) -> BatchHeader:
    """The header of the one batch that must fill ``buf`` exactly; what needs no topic config is checked.

    KafkaError with CORRUPT_MESSAGE (length, CRC, rubbish before it), UNSUPPORTED_FOR_MESSAGE_FORMAT (magic)
    or INVALID_RECORD (counts, offsets, bits, codec, producer fields). Records inside are not looked at.
    """
    size = len(buf)
    if size < HEADER_SIZE:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, f"{size} bytes are no record batch")
    header = read_header(buf)
    if header.magic in (0, 1):
        raise KafkaError(
            ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, f"magic {header.magic} is from before Kafka 0.11"
        )
    if header.magic != 2 or header.size != size:
        raise KafkaError(
            ErrorCode.CORRUPT_MESSAGE, f"magic {header.magic}, length {header.length} in {size} bytes"
        )
    if crc_of(buf) != header.crc:
        raise KafkaError(ErrorCode.CORRUPT_MESSAGE, "the CRC does not match")
    _check_fields(header)
    return header


def _check_fields(header: BatchHeader) -> None:
    problem = None
    if header.records < 1 or header.last_offset_delta != header.records - 1:
        problem = f"{header.records} records, last offset delta {header.last_offset_delta}"
    elif header.attributes & CODEC_MASK > MAX_CODEC:
        problem = f"compression {header.codec}"
    elif header.attributes & (RESERVED_MASK | DELETE_HORIZON):
        problem = f"reserved attribute bits {header.attributes:#x}"
    elif header.control:
        problem = "a control batch, which only brokers write"
    elif header.base_timestamp < -1 or header.max_timestamp < -1:
        problem = f"timestamps {header.base_timestamp}, {header.max_timestamp}"
    elif header.producer_id >= 0 and (header.producer_epoch < 0 or header.base_sequence < 0):
        problem = (
            f"producer {header.producer_id}, epoch {header.producer_epoch}, sequence {header.base_sequence}"
        )
    elif header.producer_id < -1 or (header.producer_id == -1 and header.transactional):
        problem = f"producer id {header.producer_id}"
    if problem is not None:
        raise KafkaError(ErrorCode.INVALID_RECORD, problem)
