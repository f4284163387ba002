"""One file of a copy: ``<owner epoch>-<vlog>-<vseg>.replica``, the owner's file header and frames as in its
journal (`kproto.vlog.frame`), and what a start finds in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kproto.metadata.vlogs import VsegId
from kproto.replica.rules import Presence
from kproto.vlog.frame import (
    FILE_HEADER_SIZE,
    FRAME_SIZE,
    KIND_STATE,
    FileHeader,
    FrameHeader,
    decode_frame_header,
    head_is_sound,
    head_length,
)
from kproto.vlog.scan import FileScan, JournalReader

if TYPE_CHECKING:
    from kproto.disk import Disk

SUFFIX: Final = ".replica"
BESIDE: Final = ".catalog"
"""Behind the name of a copy: what is derived from it, and goes with it."""


class Inspection(NamedTuple):
    """What a file proves by itself, up to ``end`` (a position of the virtual log)."""

    presence: Presence
    header: FileHeader | None = None
    end: int = 0
    chain: int = 0
    durable: int = 0
    """The largest durable position that a frame mentions."""
    damaged: bool = False
    """More follows behind the sound part: reserved room, a torn frame, or worse."""
    proven: bool = False
    """Something says that more than the sound part was durable."""
    last: tuple[int, int] = (-1, 0)
    """Position and chain of the last sound frame."""
    states: tuple[int, ...] = ()
    """Positions of the state frames."""
    size: int = 0
    """Bytes of the file."""
    problem: str = ""
    torn_to: int = 0
    """Frames were begun behind the sound part, up to here at least: nobody can tell whether they were ever
    whole. 0: none was."""


NOT_THERE: Final = Inspection(Presence.MISSING)


def file_name(vseg: VsegId) -> str:
    """Name of the file of a copy."""
    return f"{vseg.owner_epoch:016x}-{vseg.vlog:016x}-{vseg.seq:08x}{SUFFIX}"


def vseg_of_name(name: str) -> VsegId | None:
    """The inverse of `file_name`; None for other names."""
    try:
        vseg = VsegId(*(int(part, 16) for part in name.removesuffix(SUFFIX).split("-")))
    except (TypeError, ValueError):
        return None
    return vseg if name == file_name(vseg) else None


def inspect(disk: Disk, path: str, vseg: VsegId, thorough: bool) -> Inspection:
    """Read the file at ``path``; may run in a thread.

    ``thorough`` checks the bytes of every chunk, as after a power loss. Otherwise the checksums of all frames
    and the chunks of the last one: a process that is killed in a write leaves nothing else torn.
    """
    try:
        reader = JournalReader(disk, path)
    except FileNotFoundError:
        return NOT_THERE
    except OSError as error:
        return Inspection(Presence.UNREADABLE, problem=f"{path}: {error}")
    try:
        return _inspect(reader, vseg, thorough)
    except OSError as error:
        return Inspection(Presence.UNREADABLE, problem=f"{path}: {error}")
    finally:
        reader.close()


def _inspect(reader: JournalReader, vseg: VsegId, thorough: bool) -> Inspection:
    header = reader.header
    if header is None or (header.owner_epoch, header.vlog, header.vseg) != vseg:
        if _was_begun(reader, vseg, thorough):
            return Inspection(Presence.UNREADABLE, problem=f"{reader.path}: its header is damaged")
        return NOT_THERE
    heads = [] if thorough else sound_heads(reader, header)
    last = heads.pop() if heads else None
    begin = (header.start, header.chain) if last is None else (last.position, last.previous)
    scan = FileScan(reader, header, *begin)
    for frame in scan.frames():
        heads.append(frame.header)
    durable = max((head.durable for head in heads), default=0)
    torn_to = scan.begun_to()
    for later in scan.later():  # a state frame says no more than the chunks before it did
        durable = max(durable, later.durable)
        torn_to = max(torn_to, later.position + later.length)
    return Inspection(
        Presence.READABLE,
        header,
        scan.position,
        scan.chain,
        durable,
        FILE_HEADER_SIZE + scan.position - header.start < reader.size,
        durable > scan.position,
        (heads[-1].position, heads[-1].chain) if heads else (-1, 0),
        tuple(head.position for head in heads if head.kind == KIND_STATE),
        reader.size,
        torn_to=torn_to,
    )


def _was_begun(reader: JournalReader, vseg: VsegId, thorough: bool) -> bool:
    """A file without a sound header is one that lost it: it has the first frame, or what its header was. To
    say that nothing was ever acknowledged takes one that was never written (24c, 24f). After a power loss
    that may have anything where its header should be."""
    if reader.was_begun(*vseg):
        return True
    return reader.header is None and not thorough and any(reader.view(0, FILE_HEADER_SIZE))


def sound_heads(reader: JournalReader, file: FileHeader) -> list[FrameHeader]:
    """Headers of the frames from the start whose heads continue each other."""
    found: list[FrameHeader] = []
    position, chain = file.start, file.chain
    while True:
        at = FILE_HEADER_SIZE + position - file.start
        header = decode_frame_header(reader.view(at, FRAME_SIZE))
        if (
            header is None
            or header[2:6] != (file.vlog, file.owner_epoch, file.vseg, position)
            or header.previous != chain
            or at + header.length > reader.size
            or not head_is_sound(reader.view(at, head_length(header)), 0, header)
        ):
            return found
        found.append(header)
        position, chain = position + header.length, header.chain
