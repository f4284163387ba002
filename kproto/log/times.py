"""ListOffsets by time, exact to the record (KIP-79, KIP-734): find the segment, the index range, the one
batch; unpack it.

The look-ups are generators: they yield the ranges they need, none for a mere pause, and are sent the bytes;
`reader.complete` drives them. What was taken over and is not here yet is asked of the brokers that have it.
Nothing at or above ``limit`` (high watermark or LSO) and nothing below the log start is found.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from kproto.errors import ErrorCode, KafkaError
from kproto.log.checks import MOST_UNPACKED, MOST_WALKED
from kproto.log.reader import NO_TIME, FileRange, RemoteRange, collect, index_of
from kproto.wire.batch import LOG_APPEND_TIME, hop
from kproto.wire.primitives import WireError

if TYPE_CHECKING:
    from kproto.log.partition import Partition
    from kproto.log.segment import Segment

_WINDOW: Final = 131_072
_REMOTE_WINDOW: Final = 1 << 20
_STEP: Final = 2000
"""Records between two pauses, about 1 ms: a batch of 6 KB may unpack to ten million."""


class Found(NamedTuple):
    """A record: its timestamp (ms), its offset, the leader epoch of its chunk."""

    timestamp: int
    offset: int
    leader_epoch: int


Wanted = list[FileRange] | RemoteRange
Lookup = Generator[Wanted, list[memoryview], Found | None]
Chunk = tuple[memoryview, tuple[int, ...]]


def check_records(chunk: memoryview) -> None:
    """The full look of ``kproto.validate.records``: raises INVALID_RECORD. It is bounded: of many records the
    first `MOST_WALKED` are looked at, and what unpacks to more than `MOST_UNPACKED` is refused.
    """
    from kproto.wire.records import check_records as full_look

    try:
        full_look(chunk, MOST_WALKED, MOST_UNPACKED)
    except WireError as error:
        raise KafkaError(ErrorCode.INVALID_RECORD, str(error)) from error


def offset_for_time(partition: Partition, timestamp: int, limit: int) -> Lookup:
    """The first record whose timestamp is at least ``timestamp``, or None."""
    known = partition.log_start_offset
    for segment in tuple(partition.segments):
        if _end(segment) <= partition.log_start_offset:
            continue
        if segment.base_offset > known:
            found = yield from _remote_time(partition, known, min(limit, segment.base_offset), timestamp)
            if found is not None:
                return found
        known = _known(segment)
        found = yield from _local_time(partition, segment, limit, timestamp)
        if found is not None:
            return found
    return None


def _local_time(partition: Partition, segment: Segment, limit: int, timestamp: int) -> Lookup:
    """`offset_for_time` within a segment that is here."""
    yield from _know_times(segment)
    if segment.max_ts < timestamp:
        return None
    start = yield from _start_for(segment, timestamp)
    offset, end = max(start, partition.log_start_offset), min(limit, _end(segment))
    while offset < end:
        window = yield from _window(partition, max(offset, partition.log_start_offset), end)
        if not window:
            break
        for chunk, fields in window:
            if fields[8] >= timestamp:
                found = yield from _record(chunk, fields, partition.log_start_offset, timestamp)
                if found is not None:
                    return found
            offset = fields[0] + fields[6] + 1
    return None


def _remote_time(partition: Partition, offset: int, end: int, timestamp: int) -> Lookup:
    """`offset_for_time` within offsets that only other brokers have."""
    start = max(offset, partition.log_start_offset)
    while start < end:
        (data,) = yield RemoteRange(partition, start, end, _REMOTE_WINDOW, True, timestamp)
        seen = start
        for at, size, fields in hop(data):
            if fields[8] >= timestamp:
                chunk = data[at : at + size]
                found = yield from _record(chunk, fields, partition.log_start_offset, timestamp)
                if found is not None:
                    return found
            start = fields[0] + fields[6] + 1
        if start == seen:
            return None
    return None


def max_timestamp_offset(partition: Partition, limit: int) -> Lookup:
    """The first record with the newest timestamp, or None in an empty log."""
    segments = tuple(partition.segments)
    best = yield from _newest_here(partition, segments, limit)
    known = partition.log_start_offset
    for segment in segments:
        if _end(segment) <= partition.log_start_offset:
            continue
        before = min(limit, segment.base_offset)
        while before > known:
            newer = 0 if best is None else best.timestamp + (best.offset <= known)
            found = yield from _remote_time(partition, known, before, newer)
            if found is None:
                break
            best, known = found, found.offset
        if segment.base_offset >= limit:
            break
        known = _known(segment)
    return best


def _newest_here(partition: Partition, segments: Sequence[Segment], limit: int) -> Lookup:
    """The first of the newest records in segments that are here. Where times ascend, one is looked into."""
    here = []
    for segment in segments:
        if _end(segment) > partition.log_start_offset and segment.base_offset < limit:
            yield from _know_times(segment)
            here.append(segment)
    best: Found | None = None
    for segment in sorted(here, key=lambda one: -one.max_ts):  # equal ones stay in their order
        if best is not None and segment.max_ts <= best.timestamp:
            break
        found = yield from _newest_in(partition, segment, limit)
        if found is not None and (best is None or found.timestamp > best.timestamp):
            best = found
    return best


def _newest_in(partition: Partition, segment: Segment, limit: int) -> Lookup:
    """The newest record of one segment: one batch is unpacked, that of the newest header within bounds."""
    start = partition.log_start_offset
    newest = segment.max_ts_base
    if not start <= newest < limit:
        newest = yield from _newest_header(partition, segment, start, limit)
    if newest < partition.log_start_offset:  # there is none, or it was deleted in a pause
        return None
    window = yield from _window(partition, newest, limit)
    return (yield from _newest_record(*window[0], start)) if window else None


def _newest_header(
    partition: Partition, segment: Segment, start: int, limit: int
) -> Generator[Wanted, list[memoryview], int]:
    """The first offset at or above ``start`` of the first chunk with the newest time that begins below
    ``limit``; -1 when there is none.

    Where all of the segment is above ``start``, its index knows the newest time up to its last entry below
    ``limit``, and from where on to look for that: where times ascend, one step of the index before.
    """
    offset, end = max(start, segment.base_offset), min(limit, _end(segment))
    if start <= segment.base_offset:
        if segment.closed and segment.index is None:
            yield [index_of(segment)]
        index = segment.index
        entry = index.floor(limit, 0)[0] if index is not None else -1
        if index is not None and entry >= 0:
            offset = yield from _start_for(segment, index.max_before[entry])
    found, newest = -1, NO_TIME - 1
    while offset < end:
        window = yield from _window(partition, max(offset, partition.log_start_offset), end)
        if not window:
            break
        for chunk, fields in window:
            time = fields[8]
            if fields[0] < start:
                time = yield from _newest_time(chunk, fields, start)
            if time > newest:
                found, newest = max(fields[0], start), time
            offset = fields[0] + fields[6] + 1
    return found


def _newest_time(
    chunk: memoryview, fields: Sequence[int], start: int
) -> Generator[Wanted, list[memoryview], int]:
    """Of the records from ``start`` on: the header's may be that of one below it."""
    found = yield from _newest_record(chunk, fields, start)
    return NO_TIME - 1 if found is None else found.timestamp


def _end(segment: Segment) -> int:
    return segment.next_offset if segment.closed else segment.partition.log_end_offset


def _known(segment: Segment) -> int:
    """Up to where nobody else has to be asked; times of what is torn are nobody's."""
    return max(_end(segment), segment.torn_end)


def _know_times(segment: Segment) -> Generator[Wanted, list[memoryview], None]:
    """Make sure that ``max_ts`` of a segment found on disk is known. A pause first: there may be many."""
    yield []
    if not segment.load_summary():
        yield [index_of(segment)]


def _start_for(segment: Segment, timestamp: int) -> Generator[Wanted, list[memoryview], int]:
    """An offset at or before the first chunk of ``segment`` that reaches ``timestamp``, at most one index
    step away.
    """
    if segment.closed and segment.index is None:
        yield [index_of(segment)]
    index = segment.index
    if index is None:
        return segment.base_offset
    entry, _ = index.before_time(timestamp)
    return index.offsets[entry] if entry >= 0 else segment.base_offset


def _window(
    partition: Partition, offset: int, limit: int
) -> Generator[Wanted, list[memoryview], list[Chunk]]:
    """Some chunks from the one with ``offset`` on; empty at the end."""
    read = collect(partition, offset, limit, _WINDOW, True)
    ranges = [piece for piece in read.pieces if isinstance(piece, FileRange)]
    loaded = iter((yield ranges) if ranges else ())
    chunks: list[Chunk] = []
    for piece in read.pieces:
        if isinstance(piece, RemoteRange):
            data = (yield piece)[0]
        else:
            data = next(loaded) if isinstance(piece, FileRange) else piece
        chunks += [(data[at : at + size], fields) for at, size, fields in hop(data)]
        if isinstance(piece, FileRange) and piece.short:
            break
    return chunks


def _record(chunk: memoryview, fields: Sequence[int], start: int, timestamp: int) -> Lookup:
    """The first record of ``chunk`` at or above offset ``start`` and time ``timestamp``."""
    records = _records(chunk, fields, start)
    while some := list(islice(records, _STEP)):
        for found in some:
            if found.offset >= start and found.timestamp >= timestamp:
                return found
        yield []
    return None


def _newest_record(chunk: memoryview, fields: Sequence[int], start: int) -> Lookup:
    """The first of the newest records of ``chunk`` at or above offset ``start``."""
    records = _records(chunk, fields, start)
    best: Found | None = None
    while some := list(islice(records, _STEP)):
        found = max((one for one in some if one.offset >= start), key=itemgetter(0), default=None)
        if found is not None and (best is None or found.timestamp > best.timestamp):
            best = found
        yield []
    return best


def _records(chunk: memoryview, fields: Sequence[int], start: int) -> Iterator[Found]:
    """The records of ``chunk``, those below offset ``start``, too. A batch whose records cannot be read
    (nobody looked inside when it was stored) counts as a record at its base offset, or ``start``, with its
    newest time.
    """
    base_offset, epoch, newest = fields[0], fields[2], fields[8]
    if fields[5] & LOG_APPEND_TIME:
        yield Found(newest, max(base_offset, start), epoch)
        return
    from kproto.wire.records import iter_times

    try:
        for time, offset in iter_times(chunk):
            yield Found(time, offset, epoch)
    except WireError:
        yield Found(newest, max(base_offset, start), epoch)
