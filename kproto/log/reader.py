"""Fetching what is no longer (or not only) in the tail: file and remote ranges, and how they are loaded.

`collect` finds the pieces. A file range that begins and ends at index entries is exact: its bytes are
served as they are, and a consumer that goes on from there begins at an index entry again. Other ranges are
cut to whole chunks when loaded. What was taken over from another broker and is not in files here is a remote
range, always the only piece of an answer.
"""

from __future__ import annotations

import asyncio
import errno
import os
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Generator, Sequence, Sized
from typing import TYPE_CHECKING, Final, TypeVar

from kproto.errors import ErrorCode, KafkaError
from kproto.log.blocks import Block
from kproto.memory import buffer_of
from kproto.wire.batch import chained, crc_of, hop

if TYPE_CHECKING:
    from kproto.log.line import Place
    from kproto.log.partition import Partition
    from kproto.log.segment import Segment

T = TypeVar("T")
NO_OFFSET: Final = -1
NO_TIME: Final = -1
_RWF_NOWAIT: Final = getattr(os, "RWF_NOWAIT", 0)
_NOT_NOW: Final = (errno.EAGAIN, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS)


class Read:
    """What `Partition.read` found: memory and file pieces in order, or one remote range. ``size`` is an upper
    bound unless all is memory.
    """

    __slots__ = ("in_memory", "pieces", "size")

    def __init__(self, pieces: list[Piece], size: int, in_memory: bool) -> None:
        self.pieces = pieces
        self.size = size
        self.in_memory = in_memory


EMPTY: Final = Read([], 0, True)


class FileRange:
    """Bytes ``[position, position + length)`` of a segment file.

    ``exact`` ranges are whole chunks from the wanted one on. Others are cut when they are loaded: chunks
    that end at or below ``offset`` or begin at or above ``limit`` do not count, nor those beyond
    ``max_bytes`` (the first one does with ``at_least_one``). Position -1: the segment's index has to be
    loaded first.
    """

    __slots__ = (
        "at_least_one",
        "base",
        "buffer",
        "exact",
        "length",
        "limit",
        "max_bytes",
        "offset",
        "position",
        "segment",
        "short",
        "until",
    )

    def __init__(
        self,
        segment: Segment,
        position: int,
        length: int,
        offset: int,
        limit: int,
        max_bytes: int,
        at_least_one: bool,
        exact: bool,
        until: int,
        base: int,
    ) -> None:
        self.segment = segment
        self.position = position
        self.length = length
        self.offset = offset
        self.limit = limit
        self.max_bytes = max_bytes
        self.at_least_one = at_least_one
        self.exact = exact
        self.until = until
        """The offset behind the range, or -1 when it is not known before loading."""
        self.base = base
        """The base offset of the chunk at ``position``; not known while that is -1."""
        self.short = False
        """Loading it broke off: no piece behind it belongs to the answer."""
        self.buffer: memoryview | None = None
        """Memory for the bytes, of `prepare`."""

    def prepare(self) -> None:
        """Have memory that was used before, for loading in a thread: fresh pages cost more than the bytes. On
        the loop."""
        if self.position >= 0:
            self.buffer = self.segment.partition.pool.spares.borrow(self.length)

    @property
    def file(self) -> str:
        return self.segment.path


class RemoteRange:
    """Chunks of ``partition`` from the one with ``offset`` on, below ``limit``, that only other brokers have.

    At most ``max_bytes``, except for the first chunk with ``at_least_one``. Chunks at the front whose newest
    timestamp is below ``since`` (ms) may be left out.
    """

    __slots__ = ("at_least_one", "limit", "max_bytes", "offset", "partition", "since")

    def __init__(
        self,
        partition: Partition,
        offset: int,
        limit: int,
        max_bytes: int,
        at_least_one: bool,
        since: int = NO_TIME,
    ) -> None:
        self.partition = partition
        self.offset = offset
        self.limit = limit
        self.max_bytes = max_bytes
        self.at_least_one = at_least_one
        self.since = since

    def load(self) -> Awaitable[memoryview]:
        """The chunks, back to back. Raises KAFKA_STORAGE_ERROR when nobody who has them answers."""
        remote = self.partition.manager.ports.remote
        if remote is None:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"{self.partition}: {self.offset} is not here")
        return remote.read(self)


Piece = memoryview | FileRange | RemoteRange


class IndexCache:
    """Which closed segments keep their index in memory: the last ``limit`` that were used or closed."""

    __slots__ = ("_limit", "_segments")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._segments: OrderedDict[Segment, None] = OrderedDict()
        """The one used last at the end. Of the loop and of threads that read."""

    def keep(self, segment: Segment) -> None:
        """``segment`` has its index in memory; the oldest one loses it."""
        self.forget(segment)
        self._segments[segment] = None
        if segment.dropped:  # while a thread was reading it, perhaps by now
            self.forget(segment)
        if len(self._segments) > self._limit:
            oldest, _ = self._segments.popitem(last=False)
            if oldest is not segment and oldest.footer is None:
                oldest.index = None

    def forget(self, segment: Segment) -> None:
        """``segment`` is deleted. Its partition may be, too, and whatever that has: all its producers."""
        self._segments.pop(segment, None)


# Finding


def clip(block: Block, first: int, begin: int, max_bytes: int, at_least_one: bool) -> int:
    """Where to stop in ``block`` so that chunks from number ``first`` (at ``begin``) on fit into
    ``max_bytes``.
    """
    starts = block.starts
    last = bisect_right(starts, begin + max_bytes) - 1
    if last > first:
        return starts[last]
    if at_least_one:
        return starts[first + 1] if first + 1 < len(starts) else block.used
    return begin


def collect(partition: Partition, offset: int, limit: int, max_bytes: int, at_least_one: bool) -> Read:
    """The slow way of `Partition.read`: over blocks, files and segments."""
    if not partition.log_start_offset <= offset <= partition.log_end_offset:
        raise KafkaError(
            ErrorCode.OFFSET_OUT_OF_RANGE,
            f"{offset} is not in [{partition.log_start_offset}, {partition.log_end_offset}]",
        )
    pieces: list[Piece] = []
    size = 0
    in_memory = True
    number = max(bisect_right(partition.bases, offset) - 1, 0)
    while offset < limit and number < len(partition.segments):
        segment = partition.segments[number]
        if offset < segment.base_offset:
            if not pieces:
                end = min(limit, segment.base_offset)
                return _remote_piece(partition, offset, end, max_bytes, at_least_one)
            break
        end = segment.next_offset if segment.closed else partition.log_end_offset
        if offset >= end:
            number += 1
            continue
        first = at_least_one and not pieces
        if offset < segment.memory_offset:
            piece = _file_piece(segment, offset, limit, max_bytes - size, first)
            if piece is None:
                break
            pieces.append(piece)
            in_memory = False
            size += piece.length
            if piece.until != segment.memory_offset or piece.until > limit or size > max_bytes:
                break
            offset = piece.until
        else:
            view, offset, whole = _memory_piece(segment, offset, limit, max_bytes - size, first)
            if view:
                pieces.append(view)
                size += len(view)
            if not whole:
                break
    return Read(pieces, size, in_memory)


def _remote_piece(partition: Partition, offset: int, limit: int, max_bytes: int, at_least_one: bool) -> Read:
    if max_bytes <= 0 and not at_least_one:
        return EMPTY
    return Read([RemoteRange(partition, offset, limit, max_bytes, at_least_one)], max(max_bytes, 1), False)


def _memory_piece(
    segment: Segment, offset: int, limit: int, max_bytes: int, at_least_one: bool
) -> tuple[memoryview, int, bool]:
    """``(bytes, offset behind them, whether there may be more)`` from the block with ``offset``."""
    blocks = segment.blocks
    number = bisect_right(blocks, offset, key=_base_offset) - 1
    block = blocks[number]
    first = bisect_right(block.offsets, offset) - 1
    begin = block.starts[first]
    inside = limit < block.end_offset
    end = block.starts[bisect_left(block.offsets, limit)] if inside else block.used
    if end - begin <= max_bytes:
        return block.view[begin:end], limit if inside else block.end_offset, not inside
    end = clip(block, first, begin, max_bytes, at_least_one)
    return block.view[begin:end], offset, False


def _base_offset(block: Block) -> int:
    return block.base_offset


def _file_piece(
    segment: Segment, offset: int, limit: int, max_bytes: int, at_least_one: bool
) -> FileRange | None:
    """The range of ``segment``'s file from ``offset`` on, up to where its memory begins; None when nothing
    fits.
    """
    if max_bytes <= 0 and not at_least_one:
        return None
    index = segment.index
    if index is None and segment.closed:
        length = max(min(max_bytes, segment.measure()), 1)
        return FileRange(
            segment, -1, length, offset, limit, max_bytes, at_least_one, False, NO_OFFSET, NO_OFFSET
        )
    file_end = segment.blocks[0].position if segment.blocks else segment.measure()
    memory_offset = segment.memory_offset
    if index is None:
        entry, entry_offset, position, entries = -1, segment.base_offset, 0, 0
    else:
        entry, entry_offset, position = index.floor(offset, segment.base_offset)
        entries = bisect_left(index.positions, file_end)
    last, end = entries, file_end
    if limit < memory_offset or file_end - position > max_bytes:
        if index is not None:
            by_size = bisect_right(index.positions, position + max(max_bytes, 0)) - 1
            by_limit = bisect_right(index.offsets, limit) - 1
            last = max(min(by_size, by_limit, entries), entry + 1)
            end = file_end if last >= entries else index.positions[last]
        until = memory_offset if end == file_end or index is None else index.offsets[last]
    else:
        until = memory_offset
    exact = entry_offset == offset and until <= limit and end - position <= max_bytes
    length = end - position
    return FileRange(
        segment, position, length, offset, limit, max_bytes, at_least_one, exact, until, entry_offset
    )


# Loading


async def in_memory(pieces: Sequence[Piece]) -> list[memoryview]:
    """The bytes of one read's ``pieces``, in memory of their own, up to where a range breaks off. For who
    reads one partition in the background. Raises as `load_blocking` and `RemoteRange.load` do.
    """
    found: list[memoryview] = []
    for piece in pieces:
        if isinstance(piece, RemoteRange):
            found.append(await piece.load())
        elif isinstance(piece, FileRange):
            loaded = load_nowait([piece])
            if loaded is None:
                loaded = await asyncio.get_running_loop().run_in_executor(None, load_blocking, [piece])
            found += loaded
            if piece.short:
                break
        else:
            found.append(memoryview(bytes(piece)))
    return found


def load_nowait(ranges: Sequence[FileRange]) -> list[memoryview] | None:
    """The bytes of ``ranges``, which may be of several partitions, if the page cache has them all; None when
    that would block. On the loop."""
    loaded: list[memoryview] = []
    for piece in ranges:
        if piece.position < 0 or not _RWF_NOWAIT or piece.segment.dropped:  # nobody would close its file
            return None
        buffer = piece.segment.partition.pool.spares.borrow(piece.length)
        try:
            descriptor = piece.segment.partition.manager.files.get(piece.segment.path)
            count = os.preadv(descriptor, [buffer], piece.position, _RWF_NOWAIT)
        except OSError as error:
            if error.errno in _NOT_NOW:
                return None
            raise _unreadable(piece, error) from error
        if count < piece.length:
            return None
        data, whole = _cut(piece, buffer)
        piece.short = not whole
        loaded.append(_frugal(data))
    return loaded


def load_blocking(ranges: Sequence[FileRange]) -> list[memoryview]:
    """The bytes of ``ranges`` of one read, whatever it takes. For a thread: touches nothing but files and
    unused indexes.

    Raises KAFKA_STORAGE_ERROR when what is wanted first cannot be read. All that lies behind a place that
    cannot be read is left out, by the caller what is in memory, too (`FileRange.short`): it is another read's
    error.
    """
    loaded: list[memoryview] = []
    for wanted in ranges:
        try:
            data, whole = _load(wanted)
            loaded.append(_frugal(data))
        except KafkaError:
            if not any(loaded):
                raise
            whole = False
        if not whole:
            wanted.short = True
            break
    return loaded + [memoryview(b"")] * (len(ranges) - len(loaded))


def _load(wanted: FileRange) -> tuple[memoryview, bool]:
    """As `_cut`."""
    piece = _resolved(wanted) if wanted.position < 0 else wanted
    if piece.length <= 0:
        if piece.limit:
            raise _torn(piece)
        return memoryview(b""), True
    buffer = piece.buffer or buffer_of(piece.length)
    try:
        descriptor = os.open(piece.segment.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            count = os.preadv(descriptor, [buffer], piece.position)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _unreadable(piece, error) from error
    if count < piece.length:
        raise _torn(piece)
    return _cut(piece, buffer)


def index_of(segment: Segment) -> FileRange:
    """A range without bytes: loading it loads the index of ``segment``."""
    return FileRange(segment, -1, 0, segment.base_offset, 0, 0, False, False, NO_OFFSET, NO_OFFSET)


def _resolved(piece: FileRange) -> FileRange:
    """``piece`` with its position, once the index is there."""
    segment = piece.segment
    try:
        segment.load_index()
    except OSError as error:
        raise _unreadable(piece, error) from error
    segment.partition.indexes.keep(segment)
    if piece.length == 0 and piece.limit == 0:
        return piece
    found = _file_piece(segment, piece.offset, piece.limit, piece.max_bytes, piece.at_least_one)
    return found if found is not None and found.position >= 0 else index_of(segment)


def _unreadable(piece: FileRange, error: OSError) -> KafkaError:
    piece.segment.partition.manager.suspects.append(piece.segment)
    return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"{piece.file}: {error.strerror}")


def _torn(piece: FileRange) -> KafkaError:
    piece.segment.partition.manager.suspects.append(piece.segment)
    return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"{piece.file} does not have offset {piece.offset}")


def _cut(piece: FileRange, view: memoryview) -> tuple[memoryview, bool]:
    """The chunks of ``view`` that ``piece`` asks for, and whether that is as far as it should reach. Raises
    KAFKA_STORAGE_ERROR when the first one is not there: nobody is led past it.

    A chunk that does not continue the one before is damaged where its CRC does not tell: a consumer would go
    on at whatever offset it has. Who wants a later one gets that, if it can be found.
    """
    partition = piece.segment.partition
    good = chained(view, piece.base, partition.leader_epoch)
    whole = good == len(view)
    if not whole:
        partition.manager.suspects.append(piece.segment)
        at = _behind(piece, view, good)
        if at:
            view = view[at:]
            good = chained(view, piece.offset, partition.leader_epoch)
            whole = good == len(view)
        view = view[:good]
    if piece.exact and view:
        return view, whole
    begin = end = -1
    fields: tuple[int, ...] = ()
    for position, size, fields in hop(view):
        base_offset = fields[0]
        if base_offset + fields[6] < piece.offset:
            continue
        if begin < 0:
            begin = end = position
            if not piece.at_least_one and size > piece.max_bytes:
                break
        elif position + size - begin > piece.max_bytes:
            break
        if base_offset >= piece.limit:
            break
        end = position + size
    else:
        if begin >= 0 and fields[0] + fields[6] + 1 < piece.until:
            return view[begin:end], False
    if begin < 0:
        raise _torn(piece)
    return view[begin:end], True


def _behind(piece: FileRange, view: memoryview, good: int) -> int:
    """Where the wanted chunk begins in ``view``, behind a damaged one at position ``good``; 0: nowhere.
    No CRC covers the offset that it has: that is believed when what comes behind agrees."""
    reached = piece.base
    for _, _, fields in hop(view[:good]):
        reached = fields[0] + fields[6] + 1
    if piece.offset <= reached:
        return 0
    for at, size, fields in hop(view, good):
        if fields[0] != piece.offset or crc_of(view, at, size) != fields[4]:
            continue
        chain = chained(view[at:], piece.offset, piece.segment.partition.leader_epoch)
        if chain > size or (at + size == len(view) and piece.offset + fields[6] + 1 == piece.until):
            return at
    return 0


def _frugal(data: memoryview) -> memoryview:
    """``data`` that was cut, in memory of its own where little is left: an answer keeps all of its buffer
    until it is sent, and counts as what is in it.
    """
    whole: Sized = data.obj  # type: ignore[assignment]
    return data if 4 * len(data) >= len(whole) else memoryview(bytes(data))


# Look-ups that may need files or other brokers


async def complete(
    lookup: Generator[list[FileRange] | RemoteRange, list[memoryview], T],
    blocking: Callable[
        [Callable[[Sequence[FileRange]], list[memoryview]], list[FileRange]], Awaitable[list[memoryview]]
    ],
    pause: Callable[[], Awaitable[None]],
    place: Place,
) -> T:
    """Run a look-up (`Partition.offset_for_time`) when its turn comes: what the page cache has is read at
    once, the rest by ``await blocking(load_blocking, ranges)`` (`net.threads.BlockingPool.run`), while others
    go on; ``pause`` is awaited between the steps."""
    await place.enter()
    try:
        wanted = next(lookup)
        while True:
            loaded: list[memoryview] | None
            if isinstance(wanted, RemoteRange):
                place.leave()
                loaded = [await wanted.load()]
            else:
                loaded = load_nowait(wanted)
                if loaded is None:
                    place.leave()
                    loaded = await blocking(load_blocking, wanted)
            await place.enter()
            await pause()
            wanted = lookup.send(loaded)
    except StopIteration as stop:
        result: T = stop.value
        return result
    finally:
        lookup.close()
        place.leave()
