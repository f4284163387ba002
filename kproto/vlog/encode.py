"""From references to a frame: the one loop that runs per chunk on the way to the disk. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kproto.vlog.frame import DIRECT, ENTRY, ENTRY_SIZE, FRAME_SIZE, seal
from kproto.vlog.virtual_segment import Frame

if TYPE_CHECKING:
    from collections.abc import Container

    from kproto.disk import Buffer
    from kproto.log.chunk import ChunkRef
    from kproto.vlog.virtual_log import VirtualLog
    from kproto.vlog.virtual_segment import VirtualSegment


FEW_PIECES: Final = 8
SMALL_PIECE: Final = 4096
"""Bytes. More pieces than those, smaller ones on average, are joined: they are about to be given to the
kernel by the journal and for each backup, which takes it longer every time than to copy them once."""


def encode(
    vlog: VirtualLog, segment: VirtualSegment, refs: list[ChunkRef], direct: Container[Any] = ()
) -> Frame:
    """The frame of ``refs`` (just taken from ``vlog``) for its open ``segment``.

    ``direct`` are the partitions whose chunks are in their segment files already: theirs are entries without
    bytes. Neighbours in the same block of memory become one piece. ``attempt`` equals the leader epoch:
    these are first appends, not replays (rule 26).
    """
    head = bytearray(FRAME_SIZE + ENTRY_SIZE * len(refs))
    extents = segment.stripe().extents
    ends: dict[Any, int] = {}
    pieces: list[Buffer] = [head]
    length = at = FRAME_SIZE
    length += ENTRY_SIZE * len(refs)
    pack = ENTRY.pack_into
    open_block: Buffer | None = None
    begin = stop = 0
    flags = 0
    for part, seg, place, base, end, epoch, size, crc, block, start in refs:
        if direct:
            flags = DIRECT if part in direct else 0
        pack(
            head,
            at,
            part.topic_id,
            part.index,
            seg.group_base,
            seg.number,
            place,
            base,
            epoch,
            epoch,
            end - base,
            size,
            crc,
            flags,
        )
        at += ENTRY_SIZE
        ends[part] = end
        extents[seg] = place + size
        if flags:
            continue
        length += size
        if block is open_block and start == stop:
            stop += size
            continue
        if open_block is not None:
            pieces.append(memoryview(open_block)[begin:stop])
        open_block, begin, stop = block, start, start + size
    if open_block is not None:
        pieces.append(memoryview(open_block)[begin:stop])
    if len(pieces) > FEW_PIECES and length < len(pieces) * SMALL_PIECE:
        pieces[1:] = [b"".join(pieces[1:])]
    position = segment.end
    chain = seal(
        head,
        vlog.vlog_id,
        vlog.owner_epoch,
        segment.number,
        position,
        length,
        segment.chain,
        segment.durable,
        len(refs),
    )
    return Frame(position, length, pieces, refs, ends, vlog.framed + len(refs), chain)
