"""The records inside a batch v2, for internal topics, look-ups and tools; never the data path.

Record: length, attributes (int8), timestamp delta, offset delta, key, value, headers; all numbers zigzag
varints (Kafka's ``DefaultRecord``). Parsing raises WireError for whatever does not fit and checks every
length.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from kproto.wire.batch import (
    CODEC_MASK,
    CONTROL,
    CRC_AT,
    HEADER,
    HEADER_SIZE,
    LENGTH_OVERHEAD,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    BatchHeader,
    crc_of,
    read_header,
)
from kproto.wire.compression import DEFAULT_LIMIT, compress, decompress
from kproto.wire.primitives import Buf, WireError

Header = tuple[str, bytes | None]
Data = bytes | bytearray
NO_TIMESTAMP: Final = -1
MAX_HEADERS: Final = 100_000
"""Headers of one record; more is refused in parsing."""
_MIN_RECORD: Final = 7
"""Bytes of the smallest record: its length, attributes, two deltas, null key, null value, no headers."""
_NULL: Final = 1
"""The length -1 of a key that is not there."""


class Record(NamedTuple):
    """One record. ``timestamp`` in ms since 1970; ``offset`` -1 in building means "the next one"."""

    key: bytes | None
    value: bytes | None
    timestamp: int = NO_TIMESTAMP
    headers: Sequence[Header] = ()
    offset: int = -1


class Producer(NamedTuple):
    """What an idempotent or transactional producer puts into its batches."""

    id: int = -1
    epoch: int = -1
    sequence: int = -1
    transactional: bool = False


NO_PRODUCER: Final = Producer()


def varint(out: bytearray, value: int) -> None:
    """Append ``value`` (64 bits, signed) as a zigzag varint."""
    value = (value << 1) ^ (value >> 63)
    while value > 127:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _bytes_field(out: bytearray, data: bytes | None) -> None:
    if data is None:
        out.append(1)
    else:
        varint(out, len(data))
        out += data


def _append_record(out: bytearray, record: Record, timestamp_delta: int, offset_delta: int) -> None:
    body = bytearray(1)
    varint(body, timestamp_delta)
    varint(body, offset_delta)
    _bytes_field(body, record.key)
    _bytes_field(body, record.value)
    varint(body, len(record.headers))
    for name, value in record.headers:
        _bytes_field(body, name.encode())
        _bytes_field(body, value)
    varint(out, len(body))
    out += body


def build_batch(
    records: Iterable[Record],
    *,
    base_offset: int = 0,
    leader_epoch: int = -1,
    codec: int = 0,
    producer: Producer = NO_PRODUCER,
    control: bool = False,
) -> bytearray:
    """A whole batch with CRC. Times are create times; offsets follow ``base_offset`` unless given.

    ValueError without records, or when their offsets do not grow. ``codec`` is a number of
    ``compression.Codec``.
    """
    body = bytearray()
    count = 0
    delta = -1
    first_timestamp = max_timestamp = NO_TIMESTAMP
    for record in records:
        if count == 0:
            first_timestamp = record.timestamp
        max_timestamp = max(max_timestamp, record.timestamp)
        previous, delta = delta, delta + 1 if record.offset < 0 else record.offset - base_offset
        if delta <= previous:
            raise ValueError(f"offset {record.offset} does not follow {base_offset + previous}")
        _append_record(body, record, record.timestamp - first_timestamp, delta)
        count += 1
    if count == 0:
        raise ValueError("a batch has at least one record")
    payload = compress(codec, body) if codec else body
    attributes = codec | (TRANSACTIONAL if producer.transactional else 0) | (CONTROL if control else 0)
    out = bytearray(HEADER_SIZE)
    HEADER.pack_into(
        out,
        0,
        base_offset,
        HEADER_SIZE - LENGTH_OVERHEAD + len(payload),
        leader_epoch,
        2,
        0,
        attributes,
        delta,
        first_timestamp,
        max_timestamp,
        producer.id,
        producer.epoch,
        producer.sequence,
        count,
    )
    out += payload
    out[CRC_AT : CRC_AT + 4] = crc_of(out).to_bytes(4, "big")
    return out


def _more(data: Data, pos: int, first: int) -> tuple[int, int]:
    """Finish a varint of at most 64 bits whose ``first`` byte was above 127: (value, position behind)."""
    value = first & 0x7F
    for shift in range(7, 70, 7):
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 128:
            if value >> 64:
                break
            return value, pos
    raise WireError("a record's variable-length integer is too long")


def _varint(data: Data, pos: int) -> tuple[int, int]:
    """The zigzag varint at ``pos`` and the position behind it; IndexError past the end."""
    raw = data[pos]
    pos += 1
    if raw > 127:
        raw, pos = _more(data, pos, raw)
    return (raw >> 1) ^ -(raw & 1), pos


def _read_bytes(data: Data, pos: int) -> tuple[bytes | None, int]:
    raw = data[pos]
    pos += 1
    if raw > 127:
        raw, pos = _more(data, pos, raw)
    if raw & 1:
        if raw != 1:
            raise WireError(f"a record has a field of {-(raw >> 1) - 1} bytes")
        return None, pos
    end = pos + (raw >> 1)
    if end > len(data):
        raise WireError(f"a field of {raw >> 1} bytes ends behind its batch")
    return bytes(data[pos:end]), end


def _read_headers(data: Data, pos: int) -> tuple[tuple[Header, ...], int]:
    count, pos = _varint(data, pos)
    if count == 0:
        return (), pos
    if not 0 < count <= min(MAX_HEADERS, (len(data) - pos) // 2):
        raise WireError(f"a record with {count} headers")
    headers = []
    for _ in range(count):
        name, pos = _read_bytes(data, pos)
        if name is None:
            raise WireError("a record header without a name")
        value, pos = _read_bytes(data, pos)
        headers.append((name.decode(), value))
    return tuple(headers), pos


def open_batch(batch: Buf, limit: int = DEFAULT_LIMIT) -> tuple[BatchHeader, Buf]:
    """Header and unpacked records of the batch that begins ``batch``; at most ``limit`` bytes of records.

    WireError if the bytes do not hold a batch v2 that long. The CRC is not looked at.
    """
    if len(batch) < HEADER_SIZE:
        raise WireError(f"{len(batch)} bytes are no record batch")
    header = read_header(batch)
    if header.magic != 2 or not HEADER_SIZE <= header.size <= len(batch) or header.records < 0:
        raise WireError(f"magic {header.magic}, length {header.length}, {header.records} records")
    payload = memoryview(batch)[HEADER_SIZE : header.size]
    body = decompress(header.attributes & CODEC_MASK, payload, limit)
    if header.records * _MIN_RECORD > len(body):
        raise WireError(f"{header.records} records in {len(body)} bytes")
    return header, body


def _heads(batch: Buf, limit: int) -> tuple[Data, Iterator[tuple[int, int, int, int]]]:
    """The unpacked records, and of each one ``(timestamp, offset, position of its key, its end)``."""
    header, body = open_batch(batch, limit)
    data = bytes(body) if isinstance(body, memoryview) else body
    return data, _walk(header, data)


def _walk(header: BatchHeader, data: Data) -> Iterator[tuple[int, int, int, int]]:
    base_offset, base_timestamp = header.base_offset, header.base_timestamp
    append_time = header.max_timestamp if header.attributes & LOG_APPEND_TIME else None
    limit = len(data)
    pos = 0
    for _ in range(header.records):
        raw = data[pos]
        pos += 1
        if raw > 127:
            raw, pos = _more(data, pos, raw)
        end = pos + (raw >> 1)
        if raw < 2 * (_MIN_RECORD - 1) or raw & 1 or end > limit:
            raise WireError(f"a record of length {raw >> 1} at byte {pos} of {limit}")
        raw = data[pos + 1]
        pos += 2
        if raw > 127:
            raw, pos = _more(data, pos, raw)
        time = base_timestamp + ((raw >> 1) ^ -(raw & 1)) if append_time is None else append_time
        raw = data[pos]
        pos += 1
        if raw > 127:
            raw, pos = _more(data, pos, raw)
        yield time, base_offset + ((raw >> 1) ^ -(raw & 1)), pos, end
        pos = end
    if pos != limit:
        raise WireError(f"{limit - pos} bytes behind the last record")


def iter_records(batch: Buf, limit: int = DEFAULT_LIMIT) -> Iterator[Record]:
    """The records of one batch, with offsets and timestamps (the append time where that counts).

    WireError as soon as something does not fit, bytes behind the last record included.
    """
    data, heads = _heads(batch, limit)
    headers: tuple[Header, ...]
    try:
        for timestamp, offset, at, end in heads:
            key, pos = _read_bytes(data, at)
            value, pos = _read_bytes(data, pos)
            if data[pos]:
                headers, pos = _read_headers(data, pos)
            else:
                headers = ()
                pos += 1
            if pos != end:
                raise WireError(f"a record ends at byte {pos}, its length says {end}")
            yield Record(key, value, timestamp, headers, offset)
    except (IndexError, UnicodeDecodeError) as error:
        raise WireError(f"record: {error}") from error


def iter_times(batch: Buf, limit: int = DEFAULT_LIMIT) -> Iterator[tuple[int, int]]:
    """``(timestamp, offset)`` of every record, keys and values skipped. Errors as in :func:`iter_records`."""
    _, heads = _heads(batch, limit)
    try:
        for timestamp, offset, _, _ in heads:
            yield timestamp, offset
    except IndexError as error:
        raise WireError(f"record: {error}") from error


def without_key(batch: Buf, most: int, limit: int = DEFAULT_LIMIT) -> list[int]:
    """Which of the first ``most`` records of the batch have no key (not: an empty one), counted from 0.

    WireError if the walk finds something that does not fit, or more than ``limit`` bytes."""
    data, heads = _heads(batch, limit)
    try:
        return [place for place, head in enumerate(islice(heads, most)) if data[head[2]] == _NULL]
    except IndexError as error:
        raise WireError(f"record: {error}") from error


def check_records(batch: Buf, most: int, limit: int = DEFAULT_LIMIT) -> None:
    """The full look that ``kproto.validate.records`` pays for: WireError unless every record is well formed,
    offsets have no gap, and the header's greatest timestamp is that of the records. Of a batch with more than
    ``most`` records and headers of theirs only the first are looked at."""
    header = None
    expected = greatest = -1
    looked = 0
    for record in iter_records(batch, limit):
        if looked >= most:
            return
        looked += 1 + len(record.headers)
        if header is None:
            header = read_header(batch)
            expected = header.base_offset
        if record.offset != expected:
            raise WireError(f"offset {record.offset} where {expected} is due")
        expected += 1
        greatest = max(greatest, record.timestamp)
    if header is not None and greatest != header.max_timestamp:
        raise WireError(f"the greatest timestamp is {greatest}, the header says {header.max_timestamp}")
