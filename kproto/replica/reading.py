"""Which chunks of a copy somebody wants: filters over its frames. Pure but for `JournalReader`, which reads.

For a worker thread: every function here loops over entries in Python, some 0.3 us each. What is handed out
was verified: the frame's chain over header and entries, the checksum of every chunk (rule 22). A place that
is not sound is a `DamagedError`: another copy has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kproto.metadata.vlogs import VsegId
from kproto.replica.messages import PartitionKey, PartitionState, StateAnswer
from kproto.vlog.frame import (
    DIRECT,
    ENTRY,
    ENTRY_SIZE,
    FRAME_SIZE,
    KIND_STATE,
    FrameHeader,
    decode_frame_header,
    decode_state,
    head_is_sound,
    head_length,
)
from kproto.vlog.scan import CHUNK_HEAD, CRC_FROM, SMALLEST_CHUNK, JournalReader
from kproto.wire.crc import crc32c

if TYPE_CHECKING:
    from kproto.disk import Disk


class DamagedError(Exception):
    """The copy is not sound at a place that was asked for; the message says where."""


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


Catalog = dict[PartitionKey, list[int]]
"""Topic id and partition to ``[first offset, end offset, bytes, position of the first frame]``."""


def select(
    disk: Disk, extent: Extent, partitions: Sequence[PartitionKey], offsets: Sequence[int], max_bytes: int
) -> Selection:
    """Chunks of ``partitions`` in ``extent``, in their order, up to the frame that exceeds ``max_bytes``.

    With ``offsets``, one per partition, chunks that end at or below it are left out.
    """
    wanted = {key: i for i, key in enumerate(partitions)}
    rows: list[list[int]] = []
    pieces: list[bytes] = []
    size = 0
    following = extent.begin
    for header, head, first, reader in _frames(disk, extent):
        following = header.position + header.length
        at = first
        for entry in ENTRY.iter_unpack(head[FRAME_SIZE : FRAME_SIZE + header.chunks * ENTRY_SIZE]):
            length = entry[9]
            i = wanted.get(entry[:2])
            if i is not None and not (offsets and entry[5] + entry[8] <= offsets[i]):
                pieces.append(_chunk(reader, at, entry, extent))
                rows.append([i, entry[5], entry[5] + entry[8], length])
                size += length
            at += length
        if size >= max_bytes:
            break
    return Selection(following, rows, pieces)


def _chunk(reader: JournalReader, at: int, entry: tuple[bytes | int, ...], extent: Extent) -> bytes:
    """The verified bytes of the chunk of ``entry`` at file position ``at``."""
    _, _, _, _, _, base, epoch, _, offsets, length, crc, flags = entry
    if isinstance(length, int) and length >= SMALLEST_CHUNK and flags != DIRECT:
        data = bytes(reader.view(at, length))
        if len(data) == length:
            found, after, stamped, _, stored, _, delta = CHUNK_HEAD.unpack_from(data)
            promised = (base, epoch, crc, offsets, length)
            if promised == (found, stamped, stored, delta + 1, after + 12) and crc == crc32c(
                memoryview(data)[CRC_FROM:]
            ):
                return data
    raise DamagedError(f"{extent.path}: a chunk at byte {at} is not what its frame says")


def _frames(disk: Disk, extent: Extent) -> Iterator[tuple[FrameHeader, bytes, int, JournalReader]]:
    """Per frame: header, the bytes that its chain covers, file position of its first chunk, and the
    reader."""
    reader = JournalReader(disk, extent.path)
    try:
        position = extent.begin
        while position < extent.end:
            at = extent.base + position
            header = decode_frame_header(reader.view(at, FRAME_SIZE))
            if header is None or not _fits(header, position, extent):
                raise DamagedError(f"{extent.path}: no frame of the segment at byte {at}")
            head = bytes(reader.view(at, head_length(header)))
            if not head_is_sound(head, 0, header):
                raise DamagedError(f"{extent.path}: the frame at byte {at} is damaged")
            yield header, head, at + len(head), reader
            position += header.length
    finally:
        reader.close()


def _fits(header: FrameHeader, position: int, extent: Extent) -> bool:
    return (
        header[2:6] == (extent.vseg.vlog, extent.vseg.owner_epoch, extent.vseg.seq, position)
        and position + header.length <= extent.end
    )


def catalogue(disk: Disk, extent: Extent) -> Catalog:
    """What every partition has in ``extent``."""
    found: Catalog = {}
    for header, head, _, _ in _frames(disk, extent):
        position = header.position
        for entry in ENTRY.iter_unpack(head[FRAME_SIZE : FRAME_SIZE + header.chunks * ENTRY_SIZE]):
            base, after = entry[5], entry[5] + entry[8]
            row = found.get(entry[:2])
            if row is None:
                found[entry[:2]] = [base, after, entry[9], position]
            else:
                row[0] = min(row[0], base)
                row[1] = max(row[1], after)
                row[2] += entry[9]
    return found


def state_at(disk: Disk, extent: Extent, partitions: Sequence[PartitionKey]) -> StateAnswer:
    """The states of ``partitions`` in the state frame at the begin of ``extent``."""
    for header, frame, _, _ in _frames(disk, extent):
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


def verify(disk: Disk, extent: Extent, begin: int, max_bytes: int) -> int:
    """Check the frames from ``begin`` on with all their chunks, until ``max_bytes`` were read; where to go
    on."""
    position = begin
    for header, head, first, reader in _frames(disk, extent._replace(begin=begin)):
        at = first
        for entry in ENTRY.iter_unpack(head[FRAME_SIZE : FRAME_SIZE + header.chunks * ENTRY_SIZE]):
            _chunk(reader, at, entry, extent)
            at += entry[9]
        position += header.length
        if position - begin >= max_bytes:
            break
    return position
