"""The only sender of a virtual log: one push for everything that accumulated in one turn of the event loop.

Thin shell around `VirtualLog`. The first reference of a turn schedules one push at the end of the turn; it
takes all that is pending, for all partitions, and writes one frame with one ``pwritev``. Nothing is awaited
on this way. Classes:

- ``MEMORY``: the write is the ack; high watermarks and callbacks follow in the same call.
- ``TIMED``: the same, and `GroupSync` runs a group fdatasync in a thread when N records or T ms are due.
- ``SYNCED``: the write is followed by an fdatasync in a thread; meanwhile references accumulate, and the
  next push takes all of them: the batch adapts to the disk without a linger setting.

A partition that came from a class with fewer syncs has what it had before synced with its first frame
(`older`).

Direct writes (one copy, ``MEMORY`` only): a partition with ``kproto.direct.bytes`` or more in one push has
them written straight to its segment file, and the frame holds references only, so that large chunks are not
written twice.

A batch of tens of megabytes is written in several turns, so that others get theirs; the head of its frame
comes last. What fails stays queued and is tried again from the progress values (`VirtualSegment.unsent`),
whatever it was.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from kproto.disk import NO_SPACE
from kproto.log.due import BYTES_A_TURN
from kproto.log.ports import EVERYTHING
from kproto.vlog.classes import FlushPolicy, VlogClass
from kproto.vlog.encode import encode
from kproto.vlog.frame import ENTRY_SIZE, FILE_HEADER_SIZE, FRAME_SIZE
from kproto.vlog.group_sync import GroupSync
from kproto.vlog.older import Older
from kproto.vlog.virtual_log import OWNER, VirtualLog

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.disk import Buffer
    from kproto.log.chunk import ChunkRef
    from kproto.log.ports import LogSegment
    from kproto.vlog.journal import Journal, JournalFile
    from kproto.vlog.space import Space
    from kproto.vlog.virtual_segment import Frame, VirtualSegment
    from kproto.vlog.worker import Loop, Works


class Owner(Protocol):
    """What a pusher reports to; the manager is one."""

    def segment_closed(self, vlog: VirtualLog, segment: VirtualSegment, file: JournalFile) -> None:
        """``segment`` takes no more frames; its file may be recycled once its chunks are in synced
        segments."""
        ...

    def poison(self, reason: str) -> None:
        """A write or sync failed: no more acks from this directory (rule 35)."""
        ...


class Pusher:
    """Drives one virtual log. Everything runs on the loop; only `JournalFile.sync` runs in a thread."""

    __slots__ = (
        "_ahead",
        "_call_soon",
        "_clock",
        "_direct_bytes",
        "_file",
        "_journal",
        "_loop",
        "_owner",
        "_scheduled",
        "_space",
        "_stopped",
        "_syncing",
        "_taking",
        "_worker",
        "group_sync",
        "klass",
        "older",
        "vlog",
    )

    def __init__(
        self,
        vlog: VirtualLog,
        klass: VlogClass,
        journal: Journal,
        space: Space,
        loop: Loop,
        worker: Works,
        clock: Clock,
        owner: Owner,
        direct_bytes: int,
    ) -> None:
        self.vlog = vlog
        self.klass = klass
        self._journal = journal
        self._space = space
        self._loop = loop
        self._call_soon = loop.call_soon
        self._worker = worker
        self._clock = clock
        self._owner = owner
        self.direct_from(direct_bytes)
        self._file: JournalFile | None = None
        self._scheduled = False
        self._syncing = False
        self._stopped = False
        self._ahead: tuple[Frame, int] | None = None
        """The frame that is being written in turns, and how many bytes of its chunks are in the journal."""
        self._taking = 0
        """So many references make up the next frame, whose direct chunks are being written in turns."""
        self.older = Older()
        self.group_sync: GroupSync | None = None
        if klass.policy is FlushPolicy.TIMED:
            self.group_sync = GroupSync(loop, worker, clock, self._owner.poison)
        vlog.wake = self.wake

    def wake(self) -> None:
        """Schedule a push at the end of this turn of the loop, unless one is."""
        if not self._scheduled:
            self._scheduled = True
            self._call_soon(self.run)

    def run(self) -> None:
        """Push all that is pending, now."""
        self._scheduled = False
        while not (self._syncing or self._stopped):
            frame = self._next_frame()
            if frame is None or not self._send(frame):
                return

    def stop(self) -> None:
        """No more pushes (poison, or the end of the process)."""
        self._stopped = True

    def close(self) -> JournalFile | None:
        """Stop and hand over the open file."""
        self.stop()
        if self.group_sync is not None:
            self.group_sync.close()
        file, self._file = self._file, None
        return file

    @property
    def file(self) -> JournalFile | None:
        """The open file."""
        return self._file

    @property
    def idle(self) -> bool:
        """Nothing is pending or on its way."""
        return self.vlog.durable == self.vlog.end and not self._syncing

    @property
    def wants_room(self) -> bool:
        """Call `wake` when there is room."""
        return not self.idle

    def direct_from(self, size: int) -> None:
        """Partitions with ``size`` bytes or more in one push go straight to their segment file (0: none)."""
        may_be_direct = self.klass.policy is FlushPolicy.MEMORY and self.klass.copies == 1
        self._direct_bytes = size if may_be_direct else 0

    def state(self) -> dict[str, Any]:
        """What an operator asks for besides `VirtualLog.state`."""
        return {}

    # Making a frame

    def _next_frame(self) -> Frame | None:
        """The frame to send next; None when there is none, or no room for it yet."""
        vlog = self.vlog
        segment = vlog.open_segment
        if segment is not None:
            again = segment.unsent(OWNER)
            if again is not None:
                return again
        refs = vlog.pending
        if not refs:
            return None
        if self._taking:
            refs = refs[: self._taking]
        count = len(refs)
        size = refs[0][6] if count == 1 else sum([ref[6] for ref in refs])
        direct: dict[Any, int] = {}
        if self._direct_bytes and size >= self._direct_bytes:
            direct = self._direct_of(refs)
            if size > BYTES_A_TURN and self._write_ahead_of(refs, direct):
                self._taking = count
                self.wake()
                return None
            self._write_direct(refs, direct)
            if direct:
                size -= sum(direct.values())
        size += FRAME_SIZE + ENTRY_SIZE * count
        if segment is None or size > segment.room():
            sizes = [(0 if ref[0] in direct else ref[6]) + ENTRY_SIZE for ref in refs]
            count = how_many_fit(sizes, segment.room()) if segment and segment.end == segment.start else 0
            count = count or self._make_room(size, sizes)
            if not count:
                return None
            segment = vlog.segments[-1]
        self._taking = 0
        frame = encode(vlog, segment, vlog.take(count), direct)
        vlog.add(frame)
        return frame

    def _direct_of(self, refs: Sequence[ChunkRef]) -> dict[Any, int]:
        """The partitions with many bytes in ``refs``, and how many."""
        direct: dict[Any, int] = {}
        for ref in refs:
            part = ref[0]
            direct[part] = direct.get(part, 0) + ref[6]
        if len(direct) > 1:
            limit = self._direct_bytes
            direct = {part: size for part, size in direct.items() if size >= limit}
        return direct

    def _write_direct(self, refs: Sequence[ChunkRef], direct: dict[Any, int]) -> None:
        """Write the chunks of ``direct`` partitions to their segment files.

        What lies before them has to be in files, too: a start cuts off what lies behind a file that is not
        whole (rule 24b). One that does not get there (full disk) goes through the journal like a small one.
        """
        for segment, last in _ends(refs, direct):
            try:
                for earlier in segment.before():
                    earlier.flush(EVERYTHING)
                segment.flush(last[2] + last[6])
            except OSError as error:
                direct.pop(last[0], None)
                self._space.failed(error)

    def _write_ahead_of(self, refs: Sequence[ChunkRef], direct: Container[Any]) -> bool:
        """Write a turn's bytes of these chunks, and of what lies before them; False when none are left. What
        fails does so again in `_write_direct`."""
        left = BYTES_A_TURN
        for segment, last in _ends(refs, direct):
            try:
                for earlier in segment.before():
                    left -= earlier.write_ahead(left, EVERYTHING)
                left -= segment.write_ahead(left, last[2] + last[6])
            except OSError:
                return False
        return left < BYTES_A_TURN

    def _make_room(self, size: int, sizes: Sequence[int]) -> int:
        """Roll to a segment for a frame of ``size`` bytes; how many references fit, 0 while there is no room.

        ``sizes`` are the bytes of each reference in the frame, entry included.
        """
        vlog = self.vlog
        largest = self._space.file_bytes - FILE_HEADER_SIZE
        want = size if size <= largest else min(size, max(largest, FRAME_SIZE + sizes[0]))
        file = self._space.get(want)
        if file is None:
            return 0
        self.roll()
        capacity = file.size - FILE_HEADER_SIZE
        try:
            self._journal.start(
                file, vlog.vlog_id, vlog.numbered + 1, vlog.position, self.klass.copies, self.klass.policy
            )
        except OSError as error:
            if error.errno in NO_SPACE:  # for its name, or what a file system copies on writing
                self._journal.spares.append(file)
                self._space.failed(error)
            else:
                self._owner.poison(f"journal file {file.path}: {error}")
            return 0
        vlog.open(capacity, file.chain)
        self._file = file
        if self.klass.policy is FlushPolicy.SYNCED:
            # Frames over former contents whose header is still the one on disk would look like damage.
            self._sync(file, vlog.position)
            return 0
        return how_many_fit(sizes, capacity)

    def roll(self) -> None:
        """Close the open segment; the next push opens another."""
        file, segment = self._file, self.vlog.open_segment
        if file is None or segment is None:
            return
        self._file = None
        self.vlog.close()
        if self.group_sync is not None:
            self.group_sync.left(file, segment.end)
        self._owner.segment_closed(self.vlog, segment, file)

    def wind_up(self) -> bool:
        """Nobody appends here any more. True once nothing is left of it: with backups the journal keeps the
        last file until the store knows where that ends."""
        if not self._at_rest:
            return False
        self.roll()
        return not self.vlog.segments

    @property
    def _at_rest(self) -> bool:
        """Nothing is pending, nor on its way, nor wanted."""
        return self.idle

    # Sending it

    def _send(self, frame: Frame) -> bool:
        """Write ``frame``; True when the next one may follow at once."""
        file, segment = self._file, self.vlog.segments[-1]
        if file is None or self._stopped:
            return False
        older = self._write(file, frame)
        if older is None:
            return False
        end = frame.position + frame.length
        segment.sent(OWNER, frame)
        if (end - segment.start) * 4 > segment.capacity * 3:
            self._space.ahead()
        if self.klass.policy is FlushPolicy.SYNCED:
            self._sync(file, end, older)
            return False
        self._acked(segment, end)
        return bool(self.vlog.pending)

    def _write(self, file: JournalFile, frame: Frame) -> Sequence[LogSegment] | None:
        """Write ``frame`` into the journal; returns the segments that are to be synced with it (see `Older`).
        None: it did not work, or takes another turn, and nobody may rely on anything of it."""
        older: Sequence[LogSegment] = ()
        pieces, length = frame.pieces, frame.length
        try:
            whole = length <= BYTES_A_TURN
            if not whole:
                if self._write_ahead(file, frame):
                    self.wake()
                    return None
                pieces, length = pieces[:1], len(pieces[0])
            if self.older:
                older = self.older.flush(frame.ends)
            file.write(pieces, frame.position, length, last=whole)
        except OSError as error:
            self._space.failed(error)
            return None
        if self.older:
            self.older.settle(frame.ends)
            if self.group_sync is not None:
                self.group_sync.add(older)
        return older

    def _write_ahead(self, file: JournalFile, frame: Frame) -> bool:
        """Write a turn's bytes of the chunks of ``frame``; False when none are left. Without its head, which
        comes last, they are nothing. OSError passes through."""
        done = self._ahead[1] if self._ahead is not None and self._ahead[0] is frame else 0
        head = len(frame.pieces[0])
        size = min(frame.length - head - done, BYTES_A_TURN)
        if size:
            file.write(_some(frame.pieces[1:], done, done + size), frame.position + head + done, size)
            self._ahead = frame, done + size
        else:
            self._ahead = None
        return size > 0

    def _sync(self, file: JournalFile, end: int, older: Sequence[LogSegment] = ()) -> None:
        """fdatasync in the thread, of ``older`` first; nothing is sent meanwhile."""
        self._syncing = True
        file.pins += 1
        job = partial(_sync_all, (*older, file)) if older else file.sync
        self._worker.submit(job, partial(self._synced, file, self.vlog.segments[-1], end))

    def _synced(
        self, file: JournalFile, segment: VirtualSegment, end: int, error: BaseException | None
    ) -> None:
        """The fdatasync that covers everything below ``end`` is over."""
        self._syncing = False
        file.pins -= 1
        if self._stopped:
            return
        if error is not None:
            self._owner.poison(f"fdatasync of {file.path}: {error}")
            return
        self._acked(segment, end)
        self.run()

    def _acked(self, segment: VirtualSegment, end: int, copy: int = OWNER) -> None:
        """``copy`` holds ``segment`` up to ``end``: move high watermarks, then answer who waits."""
        vlog = self.vlog
        for frame in vlog.ack(copy, segment, end):
            if self.group_sync is not None and self._file is not None and frame.ends:
                self.group_sync.written(self._file, end, frame.ends)
            for part, offset in frame.ends.items():
                try:
                    part.on_durable(offset)
                except Exception as error:
                    self._report("on_durable", error)
        if vlog.waiters:
            for _, callback in vlog.fired():
                try:
                    callback()
                except Exception as error:
                    self._report("when_durable", error)

    def _report(self, where: str, error: Exception) -> None:
        """A callback is broken: say so, and go on with the others."""
        self._loop.call_exception_handler({"message": f"{where} callback failed", "exception": error})


def _ends(refs: Sequence[ChunkRef], direct: Container[Any]) -> list[tuple[LogSegment, ChunkRef]]:
    """The segments with chunks of ``direct`` partitions, and the last of those in each."""
    ends: dict[LogSegment, ChunkRef] = {ref[1]: ref for ref in refs if ref[0] in direct}
    return list(ends.items())


def _some(pieces: Sequence[Buffer], begin: int, end: int) -> list[Buffer]:
    """Bytes ``[begin, end)`` of ``pieces`` joined."""
    found: list[Buffer] = []
    at = 0
    for piece in pieces:
        size = len(piece)
        if at < end and begin < at + size:
            found.append(memoryview(piece)[max(begin - at, 0) : end - at])
        at += size
    return found


def _sync_all(files: Iterable[LogSegment | JournalFile]) -> None:
    for file in files:
        file.sync()


def how_many_fit(sizes: Sequence[int], room: int) -> int:
    """How many references, of ``sizes`` bytes each in a frame, fit into one frame of ``room`` bytes."""
    total = FRAME_SIZE
    for count, size in enumerate(sizes):
        total += size
        if total > room:
            return count
    return len(sizes)
