"""Produce on the wire, written by hand because every produced chunk comes through here.

Only two things: reading a request of any version (3-13) and writing an answer that has no error in it.
Answers with errors go through the generated codec, which is also the oracle for this module in the tests.
A topic is known by its *key*: the bytes of its name (with their length prefix) or id exactly as in the
request, which the answer repeats.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from struct import Struct
from typing import Final

from kproto.errors import ErrorCode
from kproto.wire import WireError
from kproto.wire.primitives import skip_counted_tags

Key = bytes
ParsedTopic = tuple[Key, list[tuple[int, memoryview | None]]]
Outcome = tuple[int, int, int, int, ErrorCode, str | None]
"""Partition index, base offset, log append time (-1: create time), log start offset, error, message. The
offsets are -1 with an error."""

FIRST_FLEXIBLE: Final = 9
FIRST_WITH_IDS: Final = 13
ID_SIZE: Final = 16
MAX_PARTITIONS: Final = 10_000
"""And topics, of one request; more are refused: it is handled in one piece, about 10 us for each. Counts are
looked at before what they count: a frame of 100 MB has room for 17 million."""

_ACKS_TIMEOUT: Final = Struct(">hi")
_INT32: Final = Struct(">i")
_INT16: Final = Struct(">h")
_INDEX_SIZE: Final = Struct(">ii")
_FRONT_V9: Final = Struct(">BhiBB").unpack_from
"""Length of the transactional id, acks, timeout, count of topics, length of the first name (compact: + 1)."""
_ONE_PART_V9: Final = Struct(">BiBBB").unpack_from
"""Count of partitions, index, up to three bytes of the records' size."""
_ONE_PART_V9_SIZE: Final = 8
_INDEX_AND_SIZE_V9: Final = Struct(">iBB").unpack_from
_HEAD_FLEXIBLE: Final = Struct(">iiBB")
_HEAD_CLASSIC: Final = Struct(">iii")
_ONE_V3: Final = Struct(">iihqqi")
_ONE_V5: Final = Struct(">iihqqqi")
_ONE_V8: Final = Struct(">iihqqqihi")
_ONE_V9: Final = Struct(">BihqqqIIB")
"""As written for one partition: count, index, error, offsets, then nothing else up to the frame's end:
empty record errors, null message, partition tags, topic tags (0x01000000), throttle, tags."""
_PART_V3: Final = Struct(">i2xqq")
_PART_V5: Final = Struct(">i2xqqq")
_PART_V8: Final = Struct(">i2xqqq4xh")
_PART_V9: Final = Struct(">i2xqqqB2x")
"""Index, no error, base offset, log append time[, log start[, no record errors, no message[, no tags]]]."""


ParsedProduce = tuple[bool, int, int, list[ParsedTopic]]
"""Whether it has a transactional id (an empty one is none), acks, timeout in ms, topics. Record views point
into the frame."""


def parse(version: int, frame: memoryview, position: int) -> ParsedProduce:
    """Read the body at ``position``; raises WireError when it does not fit into the frame."""
    try:
        if version >= FIRST_FLEXIBLE:
            with_ids = version >= FIRST_WITH_IDS
            return _parse_one(frame, position, with_ids) or _parse_flexible(frame, position, with_ids)
        return _parse_classic(frame, position)
    except (struct.error, IndexError) as error:
        raise WireError("a produce request ends too early") from error


def _parse_one(frame: memoryview, position: int, with_ids: bool) -> ParsedProduce | None:
    """The request clients send most: one topic, one partition, below 2 MiB; None when it is another."""
    transactional, acks, timeout_ms, topics, name = _FRONT_V9(frame, position)
    start = position + 8
    if with_ids:
        name = ID_SIZE
    if transactional or topics != 2 or not 0 < name < 0x80:
        return None
    position = start + name
    if len(frame) < position + _ONE_PART_V9_SIZE:
        return None
    parts, index, low, middle, high = _ONE_PART_V9(frame, position)
    if parts != 2:
        return None
    if low < 0x80:
        size = low
        first = position + 6
    elif middle < 0x80:
        size = low & 0x7F | middle << 7
        first = position + 7
    elif high < 0x80:
        size = low & 0x7F | (middle & 0x7F) << 7 | high << 14
        first = position + 8
    else:
        return None
    stop = first + size - 1
    if size == 0 or stop + 3 != len(frame) or frame[stop] or frame[stop + 1] or frame[stop + 2]:
        return None
    return False, acks, timeout_ms, [(bytes(frame[start:position]), [(index, frame[first:stop])])]


def _parse_flexible(frame: memoryview, position: int, with_ids: bool) -> ParsedProduce:
    end = len(frame)
    length = frame[position]
    position += 1
    transactional = length > 1
    if transactional:
        length, position = _varint(frame, position - 1)
        position += length - 1
    acks, timeout_ms = _ACKS_TIMEOUT.unpack_from(frame, position)
    topic_count, position = _varint(frame, position + 6)
    if topic_count == 0:
        raise WireError("the list of topics is null")
    topics: list[ParsedTopic] = []
    total = tags = 0
    for _ in range(topic_count - 1):
        start = position
        if with_ids:
            position += ID_SIZE
        else:
            length, position = _varint(frame, position)
            if length == 0:
                raise WireError("a topic name is null")
            position += length - 1
        if position > end:
            raise WireError("a topic ends behind the request")
        key = bytes(frame[start:position])
        partition_count = frame[position]
        position += 1
        if partition_count > 127:
            partition_count, position = _varint(frame, position - 1)
        total += partition_count
        if partition_count == 0 or total > MAX_PARTITIONS:
            raise _bad_count(partition_count - 1)
        parts: list[tuple[int, memoryview | None]] = []
        for _ in range(partition_count - 1):
            index, size, middle = _INDEX_AND_SIZE_V9(frame, position)
            if size < 0x80:
                position += 5
            elif middle < 0x80:
                size = size & 0x7F | middle << 7
                position += 6
            else:
                size, position = _varint(frame, position + 4)
            if size:
                stop = position + size - 1
                parts.append((index, frame[position:stop]))
                position = stop
            else:
                parts.append((index, None))
            # An IndexError, too, when the records end behind the request.
            if frame[position] == 0:
                position += 1
            else:
                position, tags = skip_counted_tags(frame, position, tags)
        if frame[position] == 0:
            position += 1
        else:
            position, tags = skip_counted_tags(frame, position, tags)
        topics.append((key, parts))
    if frame[position]:
        skip_counted_tags(frame, position, tags)
    return transactional, acks, timeout_ms, topics


def _parse_classic(frame: memoryview, position: int) -> ParsedProduce:
    end = len(frame)
    length = _INT16.unpack_from(frame, position)[0]
    position += 2
    transactional = length > 0
    if transactional:
        position += length
    acks, timeout_ms = _ACKS_TIMEOUT.unpack_from(frame, position)
    topic_count = _INT32.unpack_from(frame, position + 6)[0]
    if topic_count < 0:
        raise WireError("the list of topics is null")
    position += 10
    topics: list[ParsedTopic] = []
    total = 0
    for _ in range(topic_count):
        start = position
        length = _INT16.unpack_from(frame, position)[0]
        if length < 0:
            raise WireError("a topic name is null")
        position += 2 + length
        if position > end:
            raise WireError("a topic ends behind the request")
        key = bytes(frame[start:position])
        partition_count = _INT32.unpack_from(frame, position)[0]
        position += 4
        total += 1 + partition_count
        if partition_count < 0 or total > MAX_PARTITIONS:
            raise _bad_count(partition_count)
        parts: list[tuple[int, memoryview | None]] = []
        for _ in range(partition_count):
            index, size = _INDEX_SIZE.unpack_from(frame, position)
            position += 8
            if size < 0:
                parts.append((index, None))
                continue
            stop = position + size
            if stop > end:
                raise WireError("records end behind the request")
            parts.append((index, frame[position:stop]))
            position = stop
        topics.append((key, parts))
    return transactional, acks, timeout_ms, topics


def topic_name(version: int, key: Key) -> str:
    """The name inside a key of a version that has names; raises WireError unless it is UTF-8."""
    start = _varint(memoryview(key), 0)[1] if version >= FIRST_FLEXIBLE else 2
    try:
        return str(key[start:], "utf-8")
    except UnicodeDecodeError as error:
        raise WireError("a topic name is not UTF-8") from error


def one_stored(
    version: int, correlation_id: int, key: Key, index: int, base_offset: int, time_ms: int, log_start: int
) -> bytes:
    """The whole frame that answers a request of one partition whose chunk was stored."""
    if version >= FIRST_FLEXIBLE:
        # After the key: 1+4+2+8+8+8, then 01 00 00 00 (errors, message, tags, topic tags), throttle, tags.
        return (
            _HEAD_FLEXIBLE.pack(46 + len(key), correlation_id, 0, 2)
            + key
            + _ONE_V9.pack(2, index, 0, base_offset, time_ms, log_start, 0x01000000, 0, 0)
        )
    if version >= 8:
        tail = _ONE_V8.pack(1, index, 0, base_offset, time_ms, log_start, 0, -1, 0)
    elif version >= 5:
        tail = _ONE_V5.pack(1, index, 0, base_offset, time_ms, log_start, 0)
    else:
        tail = _ONE_V3.pack(1, index, 0, base_offset, time_ms, 0)
    return _HEAD_CLASSIC.pack(8 + len(key) + len(tail), correlation_id, 1) + key + tail


def all_stored(version: int, correlation_id: int, topics: Sequence[tuple[Key, Sequence[Outcome]]]) -> bytes:
    """The whole frame that answers a request all of whose chunks were stored."""
    flexible = version >= FIRST_FLEXIBLE
    pieces: list[bytes | bytearray] = [b""]
    for key, parts in topics:
        pieces.append(key)
        pieces.append(_unsigned_varint(len(parts) + 1) if flexible else _INT32.pack(len(parts)))
        if flexible:
            pieces += (_flexible_parts(parts), b"\0")
        elif version >= 8:
            pack8 = _PART_V8.pack
            pieces += [pack8(i, base, at, start, -1) for i, base, at, start, _, _ in parts]
        elif version >= 5:
            pack5 = _PART_V5.pack
            pieces += [pack5(i, base, at, start) for i, base, at, start, _, _ in parts]
        else:
            pack3 = _PART_V3.pack
            pieces += [pack3(i, base, at) for i, base, at, _, _, _ in parts]
    if flexible:
        pieces.append(b"\0\0\0\0\0")
        head = b"\0" + _unsigned_varint(len(topics) + 1)
    else:
        pieces.append(b"\0\0\0\0")
        head = _INT32.pack(len(topics))
    size = 4 + len(head) + sum(map(len, pieces))
    pieces[0] = _INDEX_SIZE.pack(size, correlation_id) + head
    return b"".join(pieces)


def _flexible_parts(parts: Sequence[Outcome]) -> bytearray:
    """The stored partitions of one topic in an answer, into one buffer: there may be hundreds."""
    pack, size = _PART_V9.pack_into, _PART_V9.size
    out = bytearray(size * len(parts))
    position = 0
    for index, base_offset, time_ms, log_start, _, _ in parts:
        pack(out, position, index, base_offset, time_ms, log_start, 1)
        position += size
    return out


def _varint(frame: memoryview, position: int) -> tuple[int, int]:
    """An unsigned varint of at most 32 bits and the position behind it."""
    value = shift = 0
    while shift < 35:
        byte = frame[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise WireError("a varint is longer than five bytes")


def _unsigned_varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _bad_count(count: int) -> WireError:
    return WireError(f"{count} partitions of a topic: null, or more than {MAX_PARTITIONS} in the request")
