"""Fetch requests off the wire, written by hand: every poll of every consumer comes through here.

The generated codec is the oracle for this module in the tests. What only replicas say (replica id and state,
log start, last fetched epoch, directory) and the rack are skipped: nothing here depends on them.
"""

from __future__ import annotations

import struct
from struct import Struct
from typing import Final

from kproto.handlers.fetch_sessions import MAX_PARTITIONS, PartitionKey, TopicKey, Wanted
from kproto.handlers.fetch_wire import FIRST_FLEXIBLE, FIRST_WITH_IDS, FIRST_WITH_SESSIONS
from kproto.wire import WireError
from kproto.wire.primitives import read_uvarint, skip_counted_tags

FIRST_WITHOUT_REPLICA_ID: Final = 15
FIRST_WITH_EPOCH: Final = 9
FIRST_WITH_LOG_START: Final = 5

_WAIT: Final = Struct(">iiib").unpack_from
_INT32: Final = Struct(">i").unpack_from
_INT16: Final = Struct(">h").unpack_from
_TWO_INT32: Final = Struct(">ii").unpack_from
_PART_V4: Final = Struct(">iqi")
_PART_V5: Final = Struct(">iqqi")
_PART_V9: Final = Struct(">iiqqi")
_PART_V12: Final = Struct(">iiqiqi")
_ONE_V13: Final = Struct(">B16sBiiqiqiBBB")
"""Count of topics, id, count of partitions, the partition, its tags, the topic's, count of forgotten."""


class ParsedFetch:
    """A request. ``topics`` are names or ids as the version has them; no session before version 7."""

    __slots__ = (
        "forgotten",
        "max_bytes",
        "max_wait_ms",
        "min_bytes",
        "read_committed",
        "session_epoch",
        "session_id",
        "wanted",
    )

    def __init__(self, front: tuple[int, int, int, int], session_id: int, session_epoch: int) -> None:
        self.max_wait_ms, self.min_bytes, self.max_bytes, isolation = front
        self.read_committed = isolation == 1
        self.session_id = session_id
        self.session_epoch = session_epoch
        self.wanted: list[Wanted] = []
        self.forgotten: list[PartitionKey] = []


def parse(version: int, frame: memoryview, position: int) -> ParsedFetch:
    """Read the body at ``position``; raises WireError when it does not fit into the frame."""
    try:
        if version < FIRST_WITHOUT_REPLICA_ID:
            position += 4
        front = _WAIT(frame, position)
        position += 13
        session_id, session_epoch = 0, -1
        if version >= FIRST_WITH_SESSIONS:
            session_id, session_epoch = _TWO_INT32(frame, position)
            position += 8
        request = ParsedFetch(front, session_id, session_epoch)
        if version >= FIRST_FLEXIBLE:
            if version < FIRST_WITH_IDS or not _one_partition(frame, position, request.wanted):
                position = _flexible_topics(version, frame, position, request.wanted)
                position = _flexible_forgotten(version, frame, position, request.forgotten)
        else:
            position = _classic_topics(version, frame, position, request.wanted)
            if version >= FIRST_WITH_SESSIONS:
                position = _classic_forgotten(frame, position, request.forgotten)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise WireError(f"a fetch request: {error}") from error
    if position > len(frame):
        raise WireError("a fetch request ends too early")
    return request


def _one_partition(frame: memoryview, position: int, wanted: list[Wanted]) -> bool:
    """The request sent most, with ids: one partition, none forgotten; False when it is another."""
    if len(frame) < position + _ONE_V13.size:
        return False
    topics, topic, count, index, epoch, offset, _, _, max_bytes, tags, topic_tags, forgotten = (
        _ONE_V13.unpack_from(frame, position)
    )
    if topics != 2 or count != 2 or tags or topic_tags or forgotten != 1:
        return False
    wanted.append(((topic, index), offset, max_bytes, epoch))
    return True


def _flexible_topics(version: int, frame: memoryview, position: int, wanted: list[Wanted]) -> int:
    topic_count, position = read_uvarint(frame, position)
    _check_count(topic_count - 1)
    with_ids = version >= FIRST_WITH_IDS
    tags = 0
    for _ in range(topic_count - 1):
        topic, position = _flexible_topic(frame, position, with_ids)
        count, position = read_uvarint(frame, position)
        _check_count(count - 1, len(wanted))
        for _ in range(count - 1):
            index, epoch, offset, _, _, max_bytes = _PART_V12.unpack_from(frame, position)
            wanted.append(((topic, index), offset, max_bytes, epoch))
            position += 33
            if frame[position - 1]:
                position, tags = skip_counted_tags(frame, position - 1, tags)
        position, tags = skip_counted_tags(frame, position, tags)
    return position


def _flexible_forgotten(version: int, frame: memoryview, position: int, forgotten: list[PartitionKey]) -> int:
    topic_count, position = read_uvarint(frame, position)
    _check_count(topic_count - 1)
    with_ids = version >= FIRST_WITH_IDS
    tags = 0
    for _ in range(topic_count - 1):
        topic, position = _flexible_topic(frame, position, with_ids)
        count, position = read_uvarint(frame, position)
        _check_count(count - 1, len(forgotten))
        for _ in range(count - 1):
            forgotten.append((topic, _INT32(frame, position)[0]))
            position += 4
        position, tags = skip_counted_tags(frame, position, tags)
    return position


def _flexible_topic(frame: memoryview, position: int, with_ids: bool) -> tuple[TopicKey, int]:
    if with_ids:
        end = position + 16
        return bytes(frame[position:end]), end
    length, position = read_uvarint(frame, position)
    if length == 0:
        raise WireError("a topic name is null")
    end = position + length - 1
    return str(frame[position:end], "utf-8"), end


def _classic_topics(version: int, frame: memoryview, position: int, wanted: list[Wanted]) -> int:
    (topic_count,) = _INT32(frame, position)
    _check_count(topic_count)
    position += 4
    for _ in range(topic_count):
        topic, position = _classic_topic(frame, position)
        (count,) = _INT32(frame, position)
        position += 4
        _check_count(count, len(wanted))
        epoch = -1
        for _ in range(count):
            if version >= FIRST_WITH_EPOCH:
                index, epoch, offset, _, max_bytes = _PART_V9.unpack_from(frame, position)
                position += _PART_V9.size
            elif version >= FIRST_WITH_LOG_START:
                index, offset, _, max_bytes = _PART_V5.unpack_from(frame, position)
                position += _PART_V5.size
            else:
                index, offset, max_bytes = _PART_V4.unpack_from(frame, position)
                position += _PART_V4.size
            wanted.append(((topic, index), offset, max_bytes, epoch))
    return position


def _classic_forgotten(frame: memoryview, position: int, forgotten: list[PartitionKey]) -> int:
    (topic_count,) = _INT32(frame, position)
    _check_count(topic_count)
    position += 4
    for _ in range(topic_count):
        topic, position = _classic_topic(frame, position)
        (count,) = _INT32(frame, position)
        position += 4
        _check_count(count, len(forgotten))
        for _ in range(count):
            forgotten.append((topic, _INT32(frame, position)[0]))
            position += 4
    return position


def _classic_topic(frame: memoryview, position: int) -> tuple[str, int]:
    (length,) = _INT16(frame, position)
    if length < 0:
        raise WireError("a topic name is null")
    position += 2
    end = position + length
    return str(frame[position:end], "utf-8"), end


def _check_count(count: int, before: int = 0) -> None:
    """Of partitions, ``before`` of which came before, and of topics: counts are looked at before what they
    count. Below 0 a list is null, and none may be."""
    if count < 0 or before + count > MAX_PARTITIONS:
        raise WireError(f"a fetch request names {before + count} topics or partitions, or null")
