"""The bytes of a copy of a virtual segment: one file header, then frames (rules 6 and 7).

All numbers are big endian. A frame is what one push carries::

    header   magic u32 | chain u32 | vlog u64 | owner epoch u64 | vseg u32 | position u64 | length u32
             | previous u32 | durable u64 | count u32 | kind u32
    entries  count times: topic id 16 B | partition u32 | group u64 | segment u32 | segment position u32
             | base offset i64 | leader epoch i32 | attempt i32 | offsets u32 | length u32 | CRC-32C u32 |
             flags u32
    bytes    the chunks whose entry is not a reference, in the order of their entries

``position`` counts bytes of the virtual log over all its segments; ``length`` is the whole frame. ``chain``
is the CRC-32C of everything between itself and the chunk bytes, seeded with ``previous``, the chain of the
frame before (for the first frame: of the file header). The entries hold each chunk's own CRC-32C, so the
chain covers the chunk checksums (rule 6). Because ``previous`` is stored too, a frame can be proven after a
damaged one. Rubbish left in a recycled file never passes: its vlog, owner epoch, vseg and position are
others.

An entry flagged ``DIRECT`` is a reference: the chunk is in its segment file at ``segment position`` already.

A frame of kind ``KIND_STATE`` has a count of 0 and no chunks: behind the header comes the state of all
partitions of the virtual log (rule 28b), just as they are after the frames before it::

    partitions u32, then for each: topic id 16 B | partition u32 | log start i64 | end offset i64
                                   | length of epochs u32 | length of producers u32 | epochs | producers

The chain of such a frame covers all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct, pack
from typing import Final, NamedTuple

from kproto.wire.crc import crc32c

FILE_MAGIC: Final = b"KPROTOJ1"
FRAME_MAGIC: Final = 0x4B504652
FILE_HEADER: Final = Struct(">8sQQIQQHH16sI")
"""magic, vlog, owner epoch, vseg, start position, file bytes, copies, flush policy, boot, checksum."""
FILE_HEADER_SIZE: Final = 128
FRAME: Final = Struct(">IIQQIQIIQII")
ENTRY: Final = Struct(">16sIQIIqiiIIII")
FRAME_SIZE: Final = FRAME.size
ENTRY_SIZE: Final = ENTRY.size
DIRECT: Final = 1
"""Entry flag: the bytes are not in this frame but in the chunk's segment file."""
KIND_CHUNKS: Final = 0
KIND_STATE: Final = 1
STATE: Final = Struct(">16sIqqII")
STATE_SIZE: Final = STATE.size
IDENTITY_AT: Final = 8
_CHECKED_FROM: Final = 8


class FileHeader(NamedTuple):
    """Who wrote a journal file and when. ``boot_id`` (16 B) is `DataDirectory.boot`: it tells
    a restart from a power loss or a failed sync."""

    vlog: int
    owner_epoch: int
    vseg: int
    start: int
    size: int
    copies: int
    policy: int
    boot_id: bytes
    chain: int
    """Checksum of the header: the ``previous`` of the first frame."""


class FrameHeader(NamedTuple):
    """The fixed part of a frame; see the module docstring."""

    magic: int
    chain: int
    vlog: int
    owner_epoch: int
    vseg: int
    position: int
    length: int
    previous: int
    durable: int
    chunks: int
    kind: int


class Entry(NamedTuple):
    """One chunk of a frame. ``attempt`` is the leader epoch of the recovery that replayed it (rule 25)."""

    topic_id: bytes
    partition: int
    group: int
    segment: int
    segment_position: int
    base_offset: int
    leader_epoch: int
    attempt: int
    offsets: int
    """How many offsets the chunk covers."""
    length: int
    crc: int
    flags: int


class PartitionSnapshot(NamedTuple):
    """One partition in a state frame: the fold of its chunks below ``end_offset``.

    ``epochs`` is what ``EpochCache.encode`` wrote, ``producers`` what ``Producers.encode`` did. ``log_start``
    is that of the time of writing; the one in the metadata store counts (rule 44).
    """

    topic_id: bytes
    index: int  # type: ignore[assignment]
    log_start: int
    end_offset: int
    epochs: bytes
    producers: bytes

    def encode(self) -> bytes:
        """Its bytes in a state frame."""
        return (
            STATE.pack(
                self.topic_id,
                self.index,
                self.log_start,
                self.end_offset,
                len(self.epochs),
                len(self.producers),
            )
            + self.epochs
            + self.producers
        )


def encode_file_header(
    vlog: int, owner_epoch: int, vseg: int, start: int, size: int, copies: int, policy: int, boot_id: bytes
) -> tuple[bytes, int]:
    """The first ``FILE_HEADER_SIZE`` bytes of a file, and the chain its first frame continues."""
    bare = FILE_HEADER.pack(FILE_MAGIC, vlog, owner_epoch, vseg, start, size, copies, policy, boot_id, 0)
    chain = crc32c(bare[:-4])
    return (bare[:-4] + pack(">I", chain)).ljust(FILE_HEADER_SIZE, b"\0"), chain


def decode_file_header(data: bytes | memoryview) -> FileHeader | None:
    """The header at the start of ``data``; None when it is absent or damaged."""
    if len(data) < FILE_HEADER.size:
        return None
    magic, vlog, epoch, vseg, start, size, copies, policy, boot_id, chain = FILE_HEADER.unpack_from(data)
    if magic != FILE_MAGIC or crc32c(memoryview(data)[: FILE_HEADER.size - 4]) != chain:
        return None
    return FileHeader(vlog, epoch, vseg, start, size, copies, policy, boot_id, chain)


def seal(
    head: bytearray,
    vlog: int,
    owner_epoch: int,
    vseg: int,
    position: int,
    length: int,
    previous: int,
    durable: int,
    count: int,
    kind: int = KIND_CHUNKS,
) -> int:
    """Fill the header of a frame whose entries are in ``head`` already; returns the new chain.

    For ``KIND_STATE``, ``head`` is the whole frame.
    """
    FRAME.pack_into(
        head,
        0,
        FRAME_MAGIC,
        0,
        vlog,
        owner_epoch,
        vseg,
        position,
        length,
        previous,
        durable,
        count,
        kind,
    )
    chain: int = crc32c(memoryview(head)[_CHECKED_FROM:], previous)
    head[4:8] = chain.to_bytes(4, "big")
    return chain


def decode_frame_header(data: bytes | bytearray | memoryview, at: int = 0) -> FrameHeader | None:
    """The frame header at ``at`` when the magic and the sizes make sense; the chain is not checked here."""
    if len(data) - at < FRAME_SIZE:
        return None
    header = FrameHeader._make(FRAME.unpack_from(data, at))
    if header.magic != FRAME_MAGIC or header.length < FRAME_SIZE + header.chunks * ENTRY_SIZE:
        return None
    return header


def head_length(header: FrameHeader) -> int:
    """How many bytes of the frame its chain covers: header and entries, or all of a state frame."""
    if header.kind == KIND_STATE:
        return header.length
    return FRAME_SIZE + header.chunks * ENTRY_SIZE


def head_is_sound(data: bytes | bytearray | memoryview, at: int, header: FrameHeader) -> bool:
    """Whether header and entries at ``at`` match the checksum they carry (given their own ``previous``).

    A state frame must be in ``data`` as a whole.
    """
    end = at + head_length(header)
    if len(data) < end:
        return False
    checked: int = crc32c(memoryview(data)[at + _CHECKED_FROM : end], header.previous)
    return checked == header.chain


def identity(vlog: int, owner_epoch: int, vseg: int) -> bytes:
    """Bytes ``IDENTITY_AT`` .. of every frame header of one vseg; what a search after damage looks for."""
    return pack(">QQI", vlog, owner_epoch, vseg)


def encode_state(
    states: Sequence[bytes],
    vlog: int,
    owner_epoch: int,
    vseg: int,
    position: int,
    previous: int,
    durable: int,
) -> tuple[bytearray, int]:
    """A whole state frame of snapshots that `PartitionSnapshot.encode` made, and its chain."""
    frame = bytearray(FRAME_SIZE) + pack(">I", len(states)) + b"".join(states)
    length = len(frame)
    chain = seal(frame, vlog, owner_epoch, vseg, position, length, previous, durable, 0, KIND_STATE)
    return frame, chain


def decode_state(frame: bytes | bytearray | memoryview) -> list[PartitionSnapshot] | None:
    """The snapshots in a state frame, given from its header to its end; None unless they fill it exactly.

    The chain is not checked here.
    """
    data, end = bytes(frame), len(frame)
    if end < FRAME_SIZE + 4:
        return None
    at = FRAME_SIZE + 4
    found: list[PartitionSnapshot] = []
    for _ in range(int.from_bytes(data[FRAME_SIZE:at], "big")):
        if end - at < STATE_SIZE:
            return None
        topic_id, index, log_start, end_offset, epochs, producers = STATE.unpack_from(data, at)
        at += STATE_SIZE
        middle, after = at + epochs, at + epochs + producers
        if after > end:
            return None
        found.append(
            PartitionSnapshot(topic_id, index, log_start, end_offset, data[at:middle], data[middle:after])
        )
        at = after
    return found if at == end else None
