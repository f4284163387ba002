"""Reading one journal file back: which frames it proves, and what a damaged place means (rule 24).

The decision table, for the first place of a virtual segment that is not a sound continuation:

=========  ======  ========  ==========================================================================
damaged    proven  survives  verdict
=========  ======  ========  ==========================================================================
no         any     any       ``USE``: nothing is wrong (24a)
yes        no      any       ``CUT``: a torn tail, never acked; the virtual log ends here (24b)
yes        yes     yes       ``CORRUPT``: acked bytes changed on the medium (24c)
yes        yes     no        ``LOST``: acked without a sync, then the machine lost its page cache (24e)
=========  ======  ========  ==========================================================================

*damaged*: something follows that should be a frame. *proven*: a frame or virtual segment further on says
that this place was durable. *survives*: the policy syncs before the ack, or the machine has not been
restarted since.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from struct import Struct
from typing import TYPE_CHECKING, Final, NamedTuple

from kproto.disk import PAGE
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import (
    DIRECT,
    ENTRY,
    ENTRY_SIZE,
    FILE_HEADER_SIZE,
    FRAME,
    FRAME_SIZE,
    IDENTITY_AT,
    KIND_CHUNKS,
    KIND_STATE,
    FileHeader,
    FrameHeader,
    decode_file_header,
    decode_frame_header,
    decode_state,
    head_is_sound,
    head_length,
    identity,
)
from kproto.wire.batch import CRC_FROM, HEADER_SIZE
from kproto.wire.crc import crc32c

if TYPE_CHECKING:
    from kproto.disk import Disk

CHUNK_HEAD: Final = Struct(">qiibIhi")
"""Of a record batch v2: base offset, length after this field, leader epoch, magic, CRC, attributes, last
delta."""
_WINDOW: Final = 1 << 20
_ZEROS: Final = bytes(_WINDOW + PAGE)


class Verdict(Enum):
    """See the table above."""

    USE = "use"
    CUT = "cut"
    CORRUPT = "corrupt"
    LOST = "lost"


def decide(damaged: bool, proven: bool, survives: bool) -> Verdict:
    """The table above."""
    if not damaged:
        return Verdict.USE
    if not proven:
        return Verdict.CUT
    return Verdict.CORRUPT if survives else Verdict.LOST


class ScannedChunk(NamedTuple):
    """One chunk of a sound frame. Its bytes are ``length`` at ``file_position`` of the journal file ``path``,
    or, with ``file_position`` -1, in its segment file already (at ``segment_position``)."""

    topic_id: bytes
    partition: int
    group: int
    segment: int
    segment_position: int
    base_offset: int
    next_offset: int
    leader_epoch: int
    attempt: int
    length: int
    crc: int
    path: str
    file_position: int


class ScannedFrame(NamedTuple):
    """One sound frame; one of kind ``KIND_STATE`` has no chunks."""

    header: FrameHeader
    chunks: list[ScannedChunk]


class JournalReader:
    """A journal file, read through a window. Raises OSError when the medium does."""

    __slots__ = ("_at", "_disk", "_fd", "_least", "_window", "header", "path", "size")

    def __init__(self, disk: Disk, path: str, least: int = _WINDOW) -> None:
        """``least`` bytes are read at a time: fewer where much is skipped."""
        self._disk = disk
        self._least = least
        self.path = path
        self._fd = disk.open_patiently(path, write=False)
        disk.read_nothing_ahead(self._fd)
        self._at = 0
        self._window = b""
        self.size = disk.size(self._fd)
        self.header: FileHeader | None = decode_file_header(self.view(0, FILE_HEADER_SIZE))

    def close(self) -> None:
        self._window = b""
        self._disk.close(self._fd)

    def view(self, at: int, length: int) -> memoryview:
        """``length`` bytes at file position ``at``; fewer only at the end of the file."""
        begin = at - self._at
        if begin < 0 or begin + length > len(self._window):
            self._window = self._disk.pread(self._fd, max(length, self._least), at)
            self._at = at
            begin = 0
        return memoryview(self._window)[begin : begin + length]

    def written_from(self, at: int) -> int:
        """The first file position from ``at`` on that may have been written; the size when there is none."""
        return min(self._disk.next_data(self._fd, at), self.size)

    def was_begun(self, owner_epoch: int, vlog: int, vseg: int) -> bool:
        """A frame of a virtual segment is there, whatever became of the header, and of the first ones, which
        are in the same page."""
        pattern = identity(vlog, owner_epoch, vseg)
        hits = self.hits(pattern, FILE_HEADER_SIZE + IDENTITY_AT)
        return any(decode_frame_header(self.view(hit - IDENTITY_AT, FRAME_SIZE)) for hit in hits)

    def hits(self, pattern: bytes, at: int) -> Iterator[int]:
        """Where that is, from ``at`` on. Looks through all that was ever written: a chunk may be zeros, too.
        Windows end with a page, so that none is brought into memory by a look before it."""
        while (at := self.written_from(at)) < self.size:
            window = bytes(self.view(at, _WINDOW + -at % PAGE))
            if window == _ZEROS[: len(window)]:
                at += len(window)
                continue
            hit = window.find(pattern)
            while hit >= 0:
                yield at + hit
                hit = window.find(pattern, hit + 1)
            at += max(len(window) - len(pattern), 1)

    def survives(self, boot: bytes) -> bool:
        """Whether everything acked must still be there, ``boot`` being the data directory's number now."""
        header = self.header
        return header is not None and (
            header.policy == FlushPolicy.SYNCED or (header.boot_id == boot and any(boot))
        )


class FileScan:
    """Walks the frames of one journal file from ``position``; afterwards ``position`` and ``chain`` tell
    where the sound part ended. `frames` can be called again after `resume`."""

    __slots__ = ("_header", "_reader", "chain", "durable", "position")

    def __init__(self, reader: JournalReader, header: FileHeader, position: int, chain: int) -> None:
        self._reader = reader
        self._header = header
        self.position = position
        self.chain = chain
        self.durable = 0
        """The largest durable position that a frame mentioned."""

    def frames(self, end: int = 1 << 63) -> Iterator[ScannedFrame]:
        """Sound frames in order, up to the first place that is not one, or to position ``end`` (rule 15)."""
        while self.position < end and (frame := self._frame()) is not None:
            yield frame
            self.position += frame.header.length
            self.chain = frame.header.chain
            self.durable = max(self.durable, frame.header.durable)

    def _frame(self) -> ScannedFrame | None:
        at = FILE_HEADER_SIZE + self.position - self._header.start
        header = decode_frame_header(self._reader.view(at, FRAME_SIZE))
        if header is None or header.previous != self.chain or not self._belongs(header, self.position):
            return None
        view = self._reader.view(at, header.length)
        if len(view) < header.length or not head_is_sound(view, 0, header):
            return None
        chunks = _chunks(view, header, self._reader.path, at)
        return None if chunks is None else ScannedFrame(header, chunks)

    def _belongs(self, header: FrameHeader, position: int) -> bool:
        mine = self._header
        return (
            header.position == position
            and header.vlog == mine.vlog
            and header.owner_epoch == mine.owner_epoch
            and header.vseg == mine.vseg
            and header.length <= mine.start + self._reader.size - FILE_HEADER_SIZE - position
        )

    def begun_to(self) -> int:
        """Up to where the next frame was begun, at least (a position); 0 when none was.

        What is written has zeros behind it to the end of its page (`rest_of_page`): anything else there is of
        a frame that was torn, or damaged since. From the next page on there may be the rest of a former file,
        unless it names this virtual segment or the frame before.
        """
        mine = self._header
        at = FILE_HEADER_SIZE + self.position - mine.start
        begun = len(bytes(self._reader.view(at, PAGE - at % PAGE)).rstrip(b"\0"))
        head = bytes(self._reader.view(at, FRAME_SIZE))
        named = head.startswith(identity(mine.vlog, mine.owner_epoch, mine.vseg), IDENTITY_AT)
        if named or (len(head) == FRAME_SIZE and FRAME.unpack(head)[7] == self.chain):
            begun = max(begun, 1)
        return self.position + begun if begun else 0

    def later(self) -> Iterator[FrameHeader]:
        """Frames after `position` whose heads are sound."""
        mine = self._header
        pattern = identity(mine.vlog, mine.owner_epoch, mine.vseg)
        for hit in self._reader.hits(pattern, FILE_HEADER_SIZE + self.position - mine.start + 1):
            header = self._sound_head(hit - IDENTITY_AT)
            if header is not None:
                yield header

    def _sound_head(self, at: int) -> FrameHeader | None:
        if at < FILE_HEADER_SIZE:
            return None
        position = at - FILE_HEADER_SIZE + self._header.start
        header = decode_frame_header(self._reader.view(at, FRAME_SIZE))
        if header is None or position <= self.position or not self._belongs(header, position):
            return None
        head = self._reader.view(at, head_length(header))
        return header if head_is_sound(head, 0, header) else None

    def resume(self, header: FrameHeader) -> None:
        """Go on at a frame found by `later`; what is between is lost."""
        self.position = header.position
        self.chain = header.previous


def _chunks(view: memoryview, header: FrameHeader, path: str, file_at: int) -> list[ScannedChunk] | None:
    """The chunks of the frame in ``view``, which starts at ``file_at``; None unless all of them are
    intact. A state frame has none."""
    if header.kind != KIND_CHUNKS:
        return [] if header.kind == KIND_STATE and decode_state(view) is not None else None
    at = FRAME_SIZE + header.chunks * ENTRY_SIZE
    chunks: list[ScannedChunk] = []
    head = CHUNK_HEAD.unpack_from
    new, kind = tuple.__new__, ScannedChunk
    for topic, part, group, seg, place, base, epoch, attempt, offsets, size, crc, flags in ENTRY.iter_unpack(
        view[FRAME_SIZE:at]
    ):
        where = -1
        if not flags & DIRECT:
            end = at + size
            if size < HEADER_SIZE or end > header.length:
                return None
            found, after, stamped, magic, stored, _, delta = head(view, at)
            if (
                found != base
                or after != size - 12
                or stamped != epoch
                or magic != 2
                or stored != crc
                or delta != offsets - 1
                or crc32c(view[at + CRC_FROM : end]) != crc
            ):
                return None
            where, at = file_at + at, end
        next_base = base + offsets
        fields = (topic, part, group, seg, place, base, next_base, epoch, attempt, size, crc, path, where)
        chunks.append(new(kind, fields))
    return chunks if at == header.length else None
