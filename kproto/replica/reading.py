"""Which chunks of a copy somebody wants: filters over its frames. Pure but for `JournalReader`, which reads.

For a worker thread: every function here loops over entries in Python, some 0.3 us each. What is handed out
was verified: the frame's chain over header and entries, the checksum of every chunk (rule 22). A place that
is not sound is a `DamagedError`: another copy has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from kproto.metadata.vlogs import VsegId
from kproto.replica.messages import PartitionKey, PartitionState, StateAnswer
from kproto.replica.stored_file import sound_heads
from kproto.vlog.frame import (
    DIRECT,
    ENTRY_SIZE,
    FILE_HEADER_SIZE,
    FRAME_SIZE,
    KIND_STATE,
    FrameHeader,
    decode_file_header,
    decode_frame_header,
    decode_state,
    head_is_sound,
    head_length,
)
from kproto.vlog.scan import CHUNK_HEAD, JournalReader
from kproto.wire.batch import CRC_FROM, HEADER_SIZE
from kproto.wire.crc import crc32c

if TYPE_CHECKING:
    from kproto.disk import Disk


class DamagedError(Exception):
    """The copy is not sound at a place that was asked for; the message says where."""


class MisplacedError(DamagedError):
    """What was asked for begins or ends at ``place``, inside a frame: that says nothing of the copy."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.place = place


class Extent(NamedTuple):
    """A part of a copy to read: positions ``[begin, end)``, both at the edge of a frame; position p is byte
    ``base + p`` of the file at ``path``."""

    path: str
    vseg: VsegId
    base: int
    begin: int
    end: int


class Selection(NamedTuple):
    """Rows ``[partition, base offset, next offset, length]`` and the chunks' bytes in the same order;
    ``next`` is where to go on."""

    next: int
    rows: list[list[int]]
    pieces: list[bytes]


_KEY: Final = Struct(">16sI")
_BRIEF: Final = Struct(">20s16xqi4xIIII")
"""An entry (`kproto.vlog.frame`) without what nobody asks for here: topic id and partition in one, base
offset, leader epoch, offsets, length, CRC, flags."""
HEAD_BYTES: Final = 16 * 1024
"""Of a file at a time for the heads of its frames, which have 68 bytes for each chunk."""
Catalog = dict[PartitionKey, list[int]]
"""Topic id and partition to ``[first offset, end offset, bytes, position of the first frame]``."""


def select(
    disk: Disk, extent: Extent, partitions: Sequence[PartitionKey], offsets: Sequence[int], max_bytes: int
) -> Selection:
    """Chunks of ``partitions`` in ``extent``, in their order, up to the frame that exceeds ``max_bytes``.

    With ``offsets``, one per partition, chunks that end at or below it are left out.
    """
    wanted = {_KEY.pack(*key): i for i, key in enumerate(partitions)}
    rows: list[list[int]] = []
    pieces: list[bytes] = []
    size = 0
    following = extent.begin
    for header, frame in _frames(disk, extent):
        following = header.position + header.length
        at = FRAME_SIZE + header.chunks * ENTRY_SIZE
        for key, base, epoch, count, length, crc, flags in _BRIEF.iter_unpack(frame[FRAME_SIZE:at]):
            i = wanted.get(key)
            if i is not None and not (offsets and base + count <= offsets[i]):
                pieces.append(_chunk(frame, at, base, epoch, count, length, crc, flags, extent))
                rows.append([i, base, base + count, length])
                size += length
            at += length
        if size >= max_bytes:
            break
    return Selection(following, rows, pieces)


def _chunk(
    frame: memoryview,
    at: int,
    base: int,
    epoch: int,
    count: int,
    length: int,
    crc: int,
    flags: int,
    extent: Extent,
) -> bytes:
    """A copy of the chunk at ``at`` in ``frame``, when it is what its entry says."""
    data = bytes(frame[at : at + length])
    if len(data) == length >= HEADER_SIZE and not flags & DIRECT:
        found, after, stamped, magic, stored, _, delta = CHUNK_HEAD.unpack_from(data)
        if (
            stored == crc
            and magic == 2
            and found == base
            and stamped == epoch
            and delta + 1 == count
            and after + 12 == length
            and crc32c(memoryview(data)[CRC_FROM:]) == crc
        ):
            return data
    raise DamagedError(f"{extent.path}: the chunk at offset {base} is not what its frame says")


def _frames(disk: Disk, extent: Extent, heads: bool = False) -> Iterator[tuple[FrameHeader, memoryview]]:
    """Headers and bytes of the frames; ``heads``: header and entries alone, and the chunks are not even read.
    The bytes belong to a window of the file: copy what you keep."""
    reader = JournalReader(disk, extent.path, HEAD_BYTES) if heads else JournalReader(disk, extent.path)
    try:
        position = extent.begin
        while position < extent.end:
            at = extent.base + position
            header = decode_frame_header(reader.view(at, FRAME_SIZE))
            if header is None or not _fits(header, position, extent):
                _look_at_edges(reader, extent)
                raise DamagedError(f"{extent.path}: no frame of the segment at byte {at}")
            frame = reader.view(at, head_length(header) if heads else header.length)
            if at + header.length > reader.size or not head_is_sound(frame, 0, header):
                raise DamagedError(f"{extent.path}: the frame at byte {at} is damaged")
            yield header, frame
            position += header.length
    finally:
        reader.close()


def _fits(header: FrameHeader, position: int, extent: Extent) -> bool:
    return (
        header[2:6] == (extent.vseg.vlog, extent.vseg.owner_epoch, extent.vseg.seq, position)
        and position + header.length <= extent.end
    )


def _look_at_edges(reader: JournalReader, extent: Extent) -> None:
    """Raise `MisplacedError` when a frame of ``extent`` lies across its begin or end, and all frames before
    that one are there. A file of another segment says nothing of what was asked."""
    file = reader.header
    mine = (extent.vseg.vlog, extent.vseg.owner_epoch, extent.vseg.seq, FILE_HEADER_SIZE - extent.base)
    if file is None or (file.vlog, file.owner_epoch, file.vseg, file.start) != mine:
        return
    for head in sound_heads(reader, file):
        for place in (extent.begin, extent.end):
            if head.position < place < head.position + head.length:
                raise MisplacedError(f"{extent.path}: a frame lies across position {place}", place)


def catalogue(disk: Disk, extent: Extent) -> Catalog:
    """What every partition has in ``extent``."""
    found: dict[bytes, list[int]] = {}
    for header, frame in _frames(disk, extent, heads=True):
        position = header.position
        end = FRAME_SIZE + header.chunks * ENTRY_SIZE
        for key, base, _, count, length, _, _ in _BRIEF.iter_unpack(frame[FRAME_SIZE:end]):
            row = found.get(key)
            if row is None:
                found[key] = [base, base + count, length, position]
            else:
                row[0] = min(row[0], base)
                row[1] = max(row[1], base + count)
                row[2] += length
    return {_KEY.unpack(key): row for key, row in found.items()}


def state_at(disk: Disk, extent: Extent, partitions: Sequence[PartitionKey]) -> StateAnswer:
    """The states of ``partitions`` in the state frame at the begin of ``extent``."""
    for header, frame in _frames(disk, extent):
        snapshots = decode_state(frame) if header.kind == KIND_STATE else None
        if snapshots is None:
            break
        wanted = {key: i for i, key in enumerate(partitions)}
        states: list[PartitionState] = []
        for one in snapshots:
            i = wanted.get(one[:2])
            if i is not None:
                states.append(PartitionState(i, one.log_start, one.end_offset, one.epochs, one.producers))
        return StateAnswer(header.position, header.position + header.length, states)
    raise DamagedError(f"{extent.path}: no state frame at position {extent.begin}")


def _check_file_header(disk: Disk, extent: Extent) -> None:
    fd = disk.open_patiently(extent.path, write=False)
    try:
        header = decode_file_header(disk.pread(fd, FILE_HEADER_SIZE, 0))
    finally:
        disk.close(fd)
    wanted = (*extent.vseg, extent.begin)
    if header is None or (header.owner_epoch, header.vlog, header.vseg, header.start) != wanted:
        raise DamagedError(f"{extent.path}: its header is damaged")


def verify(disk: Disk, extent: Extent, begin: int, max_bytes: int) -> int:
    """Check the frames from ``begin`` on with all their chunks, until ``max_bytes`` were read; where to go
    on. ``extent`` is the whole copy; its first piece includes the head of the file, without which the next
    start would not believe anything. Nothing of it stays cached, so the next look is at the medium again."""
    if begin == extent.begin:
        _check_file_header(disk, extent)
    position = begin
    for header, frame in _frames(disk, extent._replace(begin=begin)):
        at = FRAME_SIZE + header.chunks * ENTRY_SIZE
        for _, base, epoch, count, length, crc, flags in _BRIEF.iter_unpack(frame[FRAME_SIZE:at]):
            _chunk(frame, at, base, epoch, count, length, crc, flags, extent)
            at += length
        position += header.length
        if position - begin >= max_bytes:
            break
    _drop_cached(disk, extent)
    return position


def _drop_cached(disk: Disk, extent: Extent) -> None:
    fd = disk.open_patiently(extent.path, write=False)
    try:
        disk.drop_cached(fd)
    finally:
        disk.close(fd)
