"""Fetch answers on the wire, written by hand because every consumed byte goes out through here.

The answer is a list of pieces: the bytes between the records are packed here, the records themselves are
the log's memory, passed on untouched. The generated codec is the oracle for this module in the tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import Any, Final, NamedTuple

Buffer = bytes | bytearray | memoryview

FIRST_WITH_SESSIONS: Final = 7
FIRST_FLEXIBLE: Final = 12
FIRST_WITH_IDS: Final = 13
FIRST_WITH_ENDPOINTS: Final = 16
NO_PREFERRED_REPLICA: Final = -1

_INT32: Final = Struct(">i")
_INT16: Final = Struct(">h")
_HEAD_V4: Final = Struct(">iii")
_HEAD_V7: Final = Struct(">iiihi")
_HEAD_V12: Final = Struct(">iiBihi")
"""Size, correlation id, [header tags,] throttle time[, error, session id]."""
_PART_V4: Final = Struct(">ihqqii")
_PART_V5: Final = Struct(">ihqqqii")
_PART_V11: Final = Struct(">ihqqqiii")
_PART_V12: Final = Struct(">ihqqqBi")
"""Index, error, high watermark, last stable offset, [log start,] aborted transactions, [preferred
replica,] and, unless flexible, the size of the records."""
_HEAD_ONE_V12: Final = Struct(">iiBihiB")
_ONE_V12: Final = Struct(">BihqqqBi")
_NO_TAGS: Final = b"\0\0\0"
"""Of the partition, the topic and the whole answer."""
_ONE_V12_BYTES: Final = _HEAD_ONE_V12.size + _ONE_V12.size + len(_NO_TAGS)


class Leader(NamedTuple):
    """Who leads a partition, told with NOT_LEADER_OR_FOLLOWER and FENCED_LEADER_EPOCH (KIP-951)."""

    node_id: int
    epoch: int
    preferred: int = NO_PREFERRED_REPLICA
    """The preferred read replica: the leader itself, for a client that knows it and asks another broker."""


class PartitionAnswer(NamedTuple):
    """What one partition answers. Offsets are -1 with an error; ``size`` is that of ``pieces`` together,
    which are memory by the time the answer is written (before, they may be file ranges)."""

    partition: int
    error: int
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    pieces: Sequence[Any]
    size: int
    leader: Leader | None = None


AnyAnswer = tuple[int, int, int, int, int, Sequence[Any], int, Leader | None]
"""A :class:`PartitionAnswer` or the plain tuple of the same fields, which costs a third to make."""
PIECES: Final = 5
SIZE: Final = 6


class Endpoint(NamedTuple):
    """Where a current leader can be reached."""

    node_id: int
    host: str
    port: int
    rack: str | None


TopicAnswer = tuple[str | bytes, Sequence[AnyAnswer]]


def answer(
    version: int,
    correlation_id: int,
    error: int,
    session_id: int,
    read_committed: bool,
    topics: Sequence[TopicAnswer],
    endpoints: Sequence[Endpoint] = (),
) -> tuple[list[Buffer], int]:
    """The whole frame as pieces, and its size.

    ``read_committed`` readers get an empty list of aborted transactions, the others null, as from Kafka.
    """
    if version >= FIRST_FLEXIBLE:
        return _flexible(version, correlation_id, error, session_id, read_committed, topics, endpoints)
    return _classic(version, correlation_id, error, session_id, read_committed, topics)


def _flexible(
    version: int,
    correlation_id: int,
    error: int,
    session_id: int,
    read_committed: bool,
    topics: Sequence[TopicAnswer],
    endpoints: Sequence[Endpoint],
) -> tuple[list[Buffer], int]:
    aborted = 1 if read_committed else 0
    if len(topics) == 1 and not endpoints:
        topic, parts = topics[0]
        if len(parts) == 1 and parts[0][7] is None:
            return _one_partition(correlation_id, error, session_id, aborted, topic, parts[0])
    pieces: list[Buffer] = []
    between = bytearray(_HEAD_V12.size)
    between += _unsigned_varint(len(topics) + 1)
    total = 0
    for topic, parts in topics:
        between += topic if isinstance(topic, bytes) else _compact_string(topic)
        between += _unsigned_varint(len(parts) + 1)
        for part in parts:
            index, code, high_watermark, stable, log_start, records, size, leader = part
            preferred = NO_PREFERRED_REPLICA if leader is None else leader.preferred
            between += _PART_V12.pack(index, code, high_watermark, stable, log_start, aborted, preferred)
            between += _unsigned_varint(size + 1)
            if size:
                pieces.append(between)
                pieces.extend(records)
                total += len(between) + size
                between = bytearray()
            if leader is None:
                between.append(0)
            else:
                between += b"\1\1\x09" + _INT32.pack(leader.node_id) + _INT32.pack(leader.epoch) + b"\0"
        between.append(0)
    if endpoints and version >= FIRST_WITH_ENDPOINTS:
        tag = _endpoints(endpoints)
        between += b"\1\0" + _unsigned_varint(len(tag)) + tag
    else:
        between.append(0)
    pieces.append(between)
    total += len(between)
    _HEAD_V12.pack_into(pieces[0], 0, total - 4, correlation_id, 0, 0, error, session_id)
    return pieces, total


def _one_partition(
    correlation_id: int, error: int, session_id: int, aborted: int, topic: str | bytes, part: AnyAnswer
) -> tuple[list[Buffer], int]:
    """The answer given most, flexible: one partition, no leader told."""
    index, code, high_watermark, stable, log_start, records, size, _ = part
    key = topic if isinstance(topic, bytes) else _compact_string(topic)
    length = _unsigned_varint(size + 1)
    total = _ONE_V12_BYTES + len(key) + len(length) + size
    front = b"".join(
        (
            _HEAD_ONE_V12.pack(total - 4, correlation_id, 0, 0, error, session_id, 2),
            key,
            _ONE_V12.pack(2, index, code, high_watermark, stable, log_start, aborted, NO_PREFERRED_REPLICA),
            length,
        )
    )
    return ([front, *records, _NO_TAGS] if size else [front, _NO_TAGS]), total


def _classic(
    version: int,
    correlation_id: int,
    error: int,
    session_id: int,
    read_committed: bool,
    topics: Sequence[TopicAnswer],
) -> tuple[list[Buffer], int]:
    aborted = 0 if read_committed else -1
    head = _HEAD_V7 if version >= FIRST_WITH_SESSIONS else _HEAD_V4
    pieces: list[Buffer] = []
    between = bytearray(head.size)
    between += _INT32.pack(len(topics))
    total = 0
    for topic, parts in topics:
        name = str(topic).encode()
        between += _INT16.pack(len(name))
        between += name
        between += _INT32.pack(len(parts))
        for index, code, high_watermark, stable, log_start, records, size, _ in parts:
            if version >= 11:
                between += _PART_V11.pack(
                    index, code, high_watermark, stable, log_start, aborted, NO_PREFERRED_REPLICA, size
                )
            elif version >= 5:
                between += _PART_V5.pack(index, code, high_watermark, stable, log_start, aborted, size)
            else:
                between += _PART_V4.pack(index, code, high_watermark, stable, aborted, size)
            if size:
                pieces.append(between)
                pieces.extend(records)
                total += len(between) + size
                between = bytearray()
    if between:
        pieces.append(between)
        total += len(between)
    if version >= FIRST_WITH_SESSIONS:
        _HEAD_V7.pack_into(pieces[0], 0, total - 4, correlation_id, 0, error, session_id)
    else:
        _HEAD_V4.pack_into(pieces[0], 0, total - 4, correlation_id, 0)
    return pieces, total


def _endpoints(endpoints: Sequence[Endpoint]) -> bytes:
    out = bytearray(_unsigned_varint(len(endpoints) + 1))
    for node_id, host, port, rack in endpoints:
        out += _INT32.pack(node_id) + _compact_string(host) + _INT32.pack(port)
        out += (b"\0" if rack is None else _compact_string(rack)) + b"\0"
    return bytes(out)


def _compact_string(text: str) -> bytes:
    data = text.encode()
    return _unsigned_varint(len(data) + 1) + data


def _unsigned_varint(value: int) -> bytes:
    if value < 0x80:
        return value.to_bytes(1, "big")
    if value < 0x4000:
        return bytes((value & 0x7F | 0x80, value >> 7))
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
