"""The files of the copies that this broker keeps for others: the only place that writes them.

Everything is called on the loop. A push of class ``MEMORY`` or ``TIMED`` is answered from within the call
(the page cache is the promise), one of class ``SYNCED`` after a group fdatasync in a worker. A frame of tens
of megabytes takes several turns, so that others get theirs. Nothing loops over chunks.
``kproto.replica.rules`` decides; this class acts, and keeps in `StoreState` what a start must know.

After a power loss or a failed sync the first metadata table says which copies may have lost what they
acknowledged. The earlier it is given to `apply`, the better: a segment opened after this process started
cannot have lost anything, but one in the first table is not believed.
"""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from kproto.disk import NO_SPACE, rest_of_page
from kproto.log.due import BYTES_A_TURN
from kproto.metadata.vlogs import CopyTarget, VlogTable, VsegId, VsegRecord
from kproto.replica.copies import NO_FILE, Copy
from kproto.replica.copy_files import CopyFiles
from kproto.replica.copy_syncs import CopySyncs
from kproto.replica.fences import Fences
from kproto.replica.rules import (
    Presence,
    Push,
    Worth,
    decide_old,
    decide_push,
    eligible,
    fenced,
    is_garbage,
    is_over,
    is_past,
    is_spare,
    survived,
)
from kproto.replica.store_state import StoreState
from kproto.replica.stored_file import (
    BESIDE,
    SUFFIX,
    Inspection,
    file_name,
    inspect,
    vseg_of_name,
)
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import (
    FILE_HEADER_SIZE,
    FRAME_SIZE,
    KIND_STATE,
    FileHeader,
    FrameHeader,
    decode_file_header,
    decode_frame_header,
    head_is_sound,
)
from kproto.vlog.later import Later
from kproto.vlog.worker import Works

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.disk import Disk
    from kproto.vlog.worker import Loop

DIRECTORY: Final = "replicas"
COPYING: Final = ".copying"
"""Suffix of a repair under way."""
STEP: Final = 4 << 20
"""Bytes reserved at a time while a copy grows."""
FIRST_STEP: Final = 1 << 18
SWEEP_S: Final = 0.1
HELD_S: Final = 60.0
"""How long a repaired copy waits for metadata to list it, at least."""
LATE_S: Final = 1.0
"""A timer is not so late unless the process was stopped."""
HOLD_STEPS: Final = 8
"""So often in `HELD_S` it is looked whether that was so while a copy waits: less goes unnoticed."""

PushDone = Callable[[Push, int], object]
"""The verdict, and how far the copy goes now."""
SealDone = Callable[[int, bool], object]
"""Position (-1: nothing here) and whether the copy is eligible."""


class Workers(NamedTuple):
    """Threads for what waits for the disk: syncs that acks and seals wait for; syncs and deletions that
    nobody waits for; reads; what reserves room, which no sync may hold up."""

    acks: Works
    background: Works
    reads: Works
    room: Works


class ReplicaStore:
    """See the module's text. ``me`` names this store in metadata; ``poison(reason)`` is called once, when
    the directory can no longer be trusted (rule 35).

    Invariants: no push of a fenced epoch is stored; no byte of a copy is ever overwritten by another (S10); a
    copy is extended only by a frame that continues its chain.
    """

    def __init__(
        self,
        data_dir: str,
        disk: Disk,
        clock: Clock,
        loop: Loop,
        workers: Workers,
        boot: bytes,
        me: CopyTarget,
        poison: Callable[[str], object],
        new_directory: bool = False,
        cut_off_s: float = 0.0,
    ) -> None:
        """Reads names only; files are looked at when somebody asks. OSError passes through.

        ``boot`` is `DataDirectory.boot`. ``new_directory``: nobody has
        used the data directory before, so nothing can be missing from it. ``cut_off_s``: how long the process
        may go on without hearing of metadata.
        """
        self.me = me
        self.disk = disk
        self.clock = clock
        self.loop = loop
        self.workers = workers
        self.directory = os.path.join(data_dir, DIRECTORY)
        self.table = VlogTable()
        self.copies: dict[VsegId, Copy] = {}
        self.poisoned = ""
        self.on_damage: Callable[[VsegId, str], object] = lambda *_: None
        """A closed virtual segment is not whole here, though metadata may list it (rule 17)."""
        self.was_begun: Callable[[VsegId], bool] = lambda _: True
        """Whether this broker's journal has, or had, a file of its virtual segment."""
        self._boot = boot
        self._poison = poison
        self._held_s = HELD_S + cut_off_s
        """It may have been listed in time, and that was not heard of yet: who hears nothing for longer than
        ``cut_off_s`` has ended (30, 34), or is about to (`keep_all`)."""
        self._hold_steps = math.ceil(HOLD_STEPS * self._held_s / HELD_S)
        self._live: frozenset[int] = frozenset()
        self._newest = 0
        """The largest owner epoch that metadata has shown."""
        self._loading: dict[VsegId, list[Callable[[], object]]] = {}
        self._sweeping = Later(loop, self._sweep)
        self._keeps_all = False
        self._closed = False
        disk.makedirs(self.directory)
        disk.sync_directory(data_dir)
        unique = f"{clock.wall_ms():x}"
        self.files = CopyFiles(self.directory, disk, workers.background, unique, self.poison)
        self._syncs = CopySyncs(
            disk, self.directory, workers.acks, workers.background, loop, self.released, self.poison
        )
        self.fences = Fences(disk, self.directory, workers.acks, loop, self.poison)
        self.state = StoreState(
            self.directory,
            disk,
            loop,
            boot,
            new_directory,
            self.poison,
            lambda: bool(self.poisoned) or self._closed,
        )
        self._find_files()

    # Begin and end

    def doubt(self, failed: bool) -> None:
        """If a write or sync had ``failed`` (35): as after a power loss, but for the names of files. Before
        the first metadata."""
        if failed:
            self.state.doubt()

    def _find_files(self) -> None:
        """Files are told by their names; what is left of spares, repairs and deletions goes."""
        for name in sorted(self.disk.listdir(self.directory)):
            vseg = vseg_of_name(name)
            if vseg is not None:
                copy = self.copies[vseg] = Copy(vseg, self.files.at(name))
                copy.recorded = True  # before its first byte (4), so before this start
            elif name.endswith((SUFFIX, COPYING)) or (
                name.endswith(BESIDE) and vseg_of_name(name.removesuffix(BESIDE)) not in self.copies
            ):
                self.files.delete(self.files.at(name))

    def poison(self, reason: str) -> None:
        """No more acks from this directory (rule 35)."""
        if not self.poisoned:
            self.poisoned = reason
            self._syncs.failed = True
            self._poison(reason)

    def keep_all(self) -> None:
        """The process stops, which may take long, and nobody ends it any more when it hears nothing of
        metadata: a copy that is held may have been listed long ago. So none is deleted from now on; the next
        process looks (30, 34)."""
        self._keeps_all = True

    def close(self, done: Callable[[], object] | None = None) -> None:
        """Take no more pushes; sync everything and note that the stop was clean, then ``done()``. The workers
        must go on until then."""
        self._closed = True
        copies = list(self.copies.values())
        for copy in copies:
            copy.pins += 1

        def sync_all() -> None:
            for copy in copies:
                if copy.fd != NO_FILE:
                    self.disk.datasync(copy.fd)
                elif self.state.unclean and not copy.settled:
                    self.disk.sync_file(copy.path)
            self.disk.sync_directory(self.directory)

        def synced(error: BaseException | None) -> None:
            if error is not None:
                self.poison(f"fdatasync of copies: {error}")
            for copy in copies:
                copy.pins -= 1
                self._retire(copy)
            self.files.close_spares()
            if not self.poisoned:
                self.state.close()
            self.fences.close()
            if done is not None:
                done()

        self.workers.acks.submit(sync_all, synced)

    def look_for_deleted(self) -> None:
        """A copy that grows in a file that somebody deleted is none: what is acked of it is gone with the
        process, and so is a fence. That is poison (rule 35); of a closed copy it is damage (rule 37)."""
        if self.poisoned or self._closed:
            return
        grown = [copy.path for copy in self.copies.values() if self._is_deleted(copy)]
        if self.fences.deleted:
            grown.append(self.fences.path)
        if grown:
            self.poison(f"{grown[0]}: somebody deleted it")

    def _is_deleted(self, copy: Copy) -> bool:
        return copy.fd != NO_FILE and not copy.settled and self.disk.is_deleted(copy.fd)

    # Pushes

    def push(
        self, first: bytes | memoryview | None, frame: memoryview, done: PushDone, known: int = 0
    ) -> None:
        """Store one ``frame``; ``first`` is the file header, if it came along, and ``known`` (0: not told) a
        revision at which metadata had the vseg. ``done`` may be called from within; the buffers may change
        after the return, but for frames of more than `BYTES_A_TURN`, which are kept."""
        header = decode_frame_header(frame)
        if header is None or header.length != len(frame) or not head_is_sound(frame, 0, header):
            done(Push.MALFORMED, 0)
            return
        vseg = VsegId(header.owner_epoch, header.vlog, header.vseg)
        copy = self.copies.get(vseg)
        large = header.length > BYTES_A_TURN
        if copy is not None and (copy.behind is not None or not copy.loaded or copy.growing):
            kept = None if first is None else bytes(first), frame if large else memoryview(bytes(frame))
            again = partial(self.push, *kept, done, known)
            if not copy.loaded:
                self._load(copy, again)
            else:
                copy.behind = copy.behind or []
                copy.behind.append(again)
            return
        file = None if first is None else decode_file_header(first)
        if first is not None and (file is None or (file.owner_epoch, file.vlog, file.vseg) != vseg):
            done(Push.MALFORMED, 0)
            return
        verdict = self._verdict(vseg, file, header, known)
        if verdict is Push.BEGIN and first is not None:
            verdict = self._begin(vseg, first, header, frame[:0] if large else frame, known)
        elif verdict is Push.STORE and copy is not None and not large:
            verdict = self._append(copy, header, frame)
        elif verdict is Push.OLD and copy is not None:
            verdict = self._compare(copy, header)
        copy = self.copies.get(vseg)
        if large and verdict is Push.STORE and copy is not None:
            copy.behind = []
            copy.pins += 1
            self._append_part(copy, file, header, frame, header.length, known, done)
        else:
            self._answer_push(verdict, copy, done)

    def _verdict(self, vseg: VsegId, file: FileHeader | None, header: FrameHeader, known: int) -> Push:
        """Whether a frame may be stored, as things are now."""
        copy = self.copies.get(vseg)
        is_closed = self.closed_end(vseg) is not None or (copy is not None and copy.settled)
        return decide_push(
            poisoned=bool(self.poisoned) or self._closed,
            is_fenced=fenced(vseg.owner_epoch, self.fences.epochs, self._live, self._newest),
            limbo=vseg in self.state.limbo or not self._takes_frames(copy),
            closed=is_closed or self._is_gone(vseg, known),
            end=None if copy is None else copy.end,
            chain=0 if copy is None else copy.chain,
            start=None if file is None else file.start,
            position=header.position,
            previous=header.previous,
        )

    def _takes_frames(self, copy: Copy | None) -> bool:
        """A copy that an earlier process began goes on only when it is sound (rule 24). None is begun while
        nobody has said what this store should have after a loss of power: it may have had this one, and the
        frame be one that was sent long ago (3, 22)."""
        if copy is None:
            return not self.state.suspect
        return copy.began_here or eligible(self._worth(copy))

    def _answer_push(self, verdict: Push, copy: Copy | None, done: PushDone) -> None:
        """Answer now, or, where an ack means "synced" (rule 8), after the sync."""
        end = 0 if copy is None else copy.end
        if verdict not in STORED or copy is None:
            done(verdict, end)
        elif copy.policy == FlushPolicy.SYNCED:
            self._syncs.when_synced(copy, partial(done, verdict, end))
        else:
            if copy.policy == FlushPolicy.TIMED:
                self._syncs.later(copy)
            done(verdict, end)

    def _begin(
        self, vseg: VsegId, first: bytes | memoryview, header: FrameHeader, frame: memoryview, known: int
    ) -> Push:
        """Make the file, with the first frame unless ``frame`` is empty, because it is a large one."""
        file = decode_file_header(first)
        if file is None or header.previous != file.chain:
            return Push.CONFLICT
        copy = Copy(vseg, self.files.at(file_name(vseg)))
        room = max(FILE_HEADER_SIZE + header.length, FIRST_STEP)
        try:
            fd, reserved = self.files.make(
                copy.path, room, (bytes(first), frame), FILE_HEADER_SIZE + len(frame)
            )
        except OSError as error:
            return self._failed(copy, error)
        copy.begin(fd, file, reserved)
        copy.known = known
        self.copies[vseg] = copy
        if frame:
            self._stored(copy, header)
            self._grow(copy, FILE_HEADER_SIZE + header.length)
        return Push.STORE

    def _append(self, copy: Copy, header: FrameHeader, frame: memoryview, begin: int = 0) -> Push:
        """The next frame, or what is from ``begin`` on of the part of it that ``frame`` is: one write. It is
        stored when its begin is."""
        at = copy.base + header.position
        try:
            if copy.fd == NO_FILE:
                copy.fd = self.disk.open(copy.path)
            if at + header.length > copy.reserved:
                self._reserve(copy, at + header.length)
            part = frame[begin:] if begin else frame
            length = len(part)
            pieces: tuple[memoryview, ...] = (part,)
            if begin + length == header.length:
                rest = rest_of_page(at + begin, length, copy.reserved)
                pieces = part, rest
                length += len(rest)
            wrote = self.disk.pwritev(copy.fd, pieces, at + begin, length)
            if wrote != length:
                raise OSError(errno.EIO, f"{wrote} of {length} bytes went out")
        except OSError as error:
            return self._failed(copy, error)
        if not begin:
            self._stored(copy, header)
            self._grow(copy, at + header.length)
        return Push.STORE

    def _grow(self, copy: Copy, used: int) -> None:
        """Have a thread reserve more before the room is used up: while the disk is busy that takes long, and
        pushes wait for it, since the kernel lets nobody write to the file meanwhile, wherever."""
        if copy.growing or copy.reserved - used >= min(used, STEP):
            return
        copy.growing = True
        copy.pins += 1
        more = min(copy.reserved, 2 * STEP)
        grow = partial(self.disk.allocate, copy.fd, copy.reserved, more)
        self.workers.room.submit(grow, partial(self._grown, copy, more))

    def _grown(self, copy: Copy, more: int, error: BaseException | None) -> None:
        """There is more room, or none: then the next push that needs some says so."""
        copy.growing = False
        copy.pins -= 1
        if error is None:
            copy.reserved += more
        elif not isinstance(error, OSError) or error.errno not in NO_SPACE:
            self.poison(f"{copy.path}: {error}")
        if self._closed:
            self._retire(copy)
        else:
            self.released(copy)
        behind, copy.behind = copy.behind or (), None
        for again in behind:
            again()

    def _append_part(
        self,
        copy: Copy,
        file: FileHeader | None,
        header: FrameHeader,
        frame: memoryview,
        left: int,
        known: int,
        done: PushDone,
    ) -> None:
        """Write a turn's bytes of a large frame, the last ones of the ``left`` that are not written. The part
        with its head comes last: without that the others are nothing (7). Whether it may be stored is asked
        each time; other pushes to the copy wait."""
        begin = max(0, left - BYTES_A_TURN)
        is_there = self.copies.get(copy.vseg) is copy
        verdict = self._verdict(copy.vseg, file, header, known) if is_there else Push.CLOSED
        if verdict is Push.STORE:
            verdict = self._append(copy, header, frame[:left], begin)
            if verdict is Push.STORE and begin:
                self.loop.call_soon(self._append_part, copy, file, header, frame, begin, known, done)
                return
        behind, copy.behind = copy.behind or (), None
        copy.pins -= 1
        if self._closed or not is_there:
            self._retire(copy)
        self._answer_push(verdict, copy, done)
        for again in behind:
            again()

    def _reserve(self, copy: Copy, need: int) -> None:
        """Make the file longer; on a nearly full disk by no more than is needed. Raises OSError."""
        more = max(need - copy.reserved, STEP)
        try:
            self.disk.allocate(copy.fd, copy.reserved, more)
        except OSError as error:
            if error.errno not in NO_SPACE or more == need - copy.reserved:
                raise
            more = need - copy.reserved
            self.disk.allocate(copy.fd, copy.reserved, more)
        copy.reserved += more

    def _stored(self, copy: Copy, header: FrameHeader) -> None:
        copy.end = header.position + header.length
        copy.chain = header.chain
        copy.durable = header.durable
        copy.last = (header.position, header.chain)
        if header.kind == KIND_STATE:
            copy.states.append(header.position)

    def _failed(self, copy: Copy, error: OSError) -> Push:
        """No room, which the owner deals with, or poison."""
        if error.errno in NO_SPACE:
            return Push.FULL
        self.poison(f"{copy.path}: {error}")
        return Push.POISONED

    def _compare(self, copy: Copy, header: FrameHeader) -> Push:
        """What a frame that begins below the copy's end is."""
        try:
            stored = self._stored_chain(copy, header.position)
        except OSError as error:
            return self._failed(copy, error)
        return decide_old(stored, header.chain)

    def _stored_chain(self, copy: Copy, position: int) -> int | None:
        """The chain of the frame that begins at ``position`` below the copy's end; None when none does.
        OSError passes through."""
        if position == copy.last[0]:
            return copy.last[1]
        if position < copy.start:
            return None
        fd = self.disk.open(copy.path, write=False)
        try:
            found = decode_frame_header(self.disk.pread(fd, FRAME_SIZE, copy.base + position))
        finally:
            self.disk.close(fd)
        if found is None or found[2:6] != (copy.vseg.vlog, copy.vseg.owner_epoch, copy.vseg.seq, position):
            return None
        return found.chain

    # Seals

    def seal(self, vseg: VsegId, fence: int, done: SealDone) -> None:
        """Rule 20: refuse the owner epoch for ever, then say how far the copy goes. ``done`` is not called
        before the fence survives everything; never, when the directory is poisoned."""
        if fence <= vseg.owner_epoch:
            self.find(vseg, lambda copy: self._sealed(vseg, copy, done))
            return
        self.fences.add(
            vseg.owner_epoch, lambda: self.find(vseg, lambda copy: self._sealed(vseg, copy, done))
        )

    def _sealed(self, vseg: VsegId, copy: Copy | None, done: SealDone) -> None:
        if self.poisoned:
            return
        worth = self.worth(vseg, copy)
        if not eligible(worth):
            done(-1 if copy is None else copy.end, False)
        elif copy is None:
            done(-1, True)
        elif copy.policy == FlushPolicy.SYNCED and not copy.settled:
            self._syncs.when_synced(copy, partial(done, copy.end, True))
        else:
            done(copy.end, True)

    def worth(self, vseg: VsegId, copy: Copy | None) -> Worth:
        """Rule 24, for a loaded copy or none."""
        if copy is not None:
            return self._worth(copy)
        return Copy(vseg, "").worth(self.closed_end(vseg), self.state.may_lack(vseg))

    def _worth(self, copy: Copy) -> Worth:
        return copy.worth(self.closed_end(copy.vseg), self.state.may_lack(copy.vseg))

    def closed_end(self, vseg: VsegId) -> int | None:
        """Where metadata ends the vseg; None when it is open, or not known here."""
        record = self.table.vsegs.get(vseg)
        return None if record is None else record.end

    # Files of earlier processes

    def find(self, vseg: VsegId, done: Callable[[Copy | None], object]) -> None:
        """``done(copy)`` with the copy loaded; None when there is no file with a header."""
        copy = self.copies.get(vseg)
        if copy is None or copy.loaded:
            done(copy)
        else:
            self._load(copy, lambda: done(self.copies.get(vseg)))

    def _load(self, copy: Copy, then: Callable[[], object]) -> None:
        """Inspect the file in a worker, then call everybody who waits for it."""
        waiting = self._loading.get(copy.vseg)
        if waiting is not None:
            waiting.append(then)
            return
        self._loading[copy.vseg] = [then]
        found: list[Inspection] = []
        look = partial(inspect, self.disk, copy.path, copy.vseg, self.state.may_be_torn(copy.vseg))
        copy.pins += 1
        self.workers.reads.submit(
            lambda: found.append(look()), lambda error: self._loaded(copy, found, error)
        )

    def _loaded(self, copy: Copy, found: list[Inspection], error: BaseException | None) -> None:
        copy.pins -= 1
        if error is not None:
            found = [Inspection(Presence.UNREADABLE, problem=f"{copy.path}: {error}")]
        copy.take(found[0])
        if copy.presence is Presence.MISSING and self.copies.get(copy.vseg) is copy:
            del self.copies[copy.vseg]
            if not self._closed:  # else a thread is about to sync it; the next start finds it
                self.files.delete(copy.path)
        self.report_unfit(copy.vseg, self.copies.get(copy.vseg))
        for then in self._loading.pop(copy.vseg):
            then()

    def report_unfit(self, vseg: VsegId, copy: Copy | None) -> None:
        """Whoever finds out that a listed copy is not whole tells it: the scrub may be past it by now. One
        that is has been read."""
        record = self.table.vsegs.get(vseg)
        if record is None or self.me not in record.backups:
            return
        worth = self.worth(vseg, copy)
        if worth is Worth.REPAIR:
            self.on_damage(vseg, (copy.problem if copy else "") or "it is not whole")
        elif worth is Worth.USE and not record.open:
            self.state.unread.discard(vseg)

    # Metadata

    def apply(self, table: VlogTable, live: frozenset[int]) -> None:
        """A newer revision of metadata: ``table`` (kept, not copied) and the epochs of the live members. It
        was read after this process started: what left a file here before is in it, or was deleted."""
        first = self.table is not table
        self.table = table
        self._live = live
        newest = max((broker.epoch for broker in table.fenced.values()), default=0)
        self._newest = max(self._newest, newest, max(live, default=0))
        if self.state.suspect:
            # No copy is begun before (`_takes_frames`).
            self.state.judge(table, self.me, self.copies, self.was_begun)
        if first:
            self._sweep()
        else:
            self._sweeping.ask(SWEEP_S)

    def _sweep(self) -> None:
        """Delete what is no copy any more (rules 15, 30); sync and cut what was closed."""
        if self.poisoned or self._closed:
            return
        vsegs = self.table.vsegs
        wait = False
        for copy in list(self.copies.values()):
            wait |= self._sweep_one(copy)
        for vseg in self.state.closed(vsegs):
            self.find(vseg, partial(self.report_unfit, vseg))
        self.state.follow(vsegs, self.copies)
        if wait:
            self._sweeping.ask(SWEEP_S)

    def _sweep_one(self, copy: Copy) -> bool:
        """Whether that has to wait."""
        record = self.table.vsegs.get(copy.vseg)
        if self._is_garbage(copy, record):
            kept = copy.holds or self._keeps_all  # it is looked at once more when its hold ends
            return not kept and self._remove(copy)
        if record is not None and record.end is not None and not copy.settled and copy.fd != NO_FILE:
            return self._settle(copy, record.end)
        return False

    def _is_garbage(self, copy: Copy, record: VsegRecord | None) -> bool:
        if record is not None:
            copy.recorded = True
            unlisted = is_garbage(copy.vseg, record, self.me, 0, False)
            worth = self._worth(copy) if copy.loaded else None
            return unlisted and not is_spare(record, worth, self._live)
        over = (
            copy.recorded
            or is_past(copy.known, self.table.revision)
            or is_over(copy.vseg.owner_epoch, self._live, self._newest)
        )
        return is_garbage(copy.vseg, None, self.me, 0 if over else self.table.newest_like(copy.vseg), over)

    def _is_gone(self, vseg: VsegId, known: int) -> bool:
        """Its record was there at ``known``, and is not there any more."""
        return vseg not in self.table.vsegs and is_past(known, self.table.revision)

    def _settle(self, copy: Copy, end: int) -> bool:
        """The vseg is closed: sync it, give back the room behind its end and its pages, which only a repair
        or a recovery will read: clients read the owner's. Whether that has to wait."""
        if copy.pins:
            return True
        if self._worth(copy) is not Worth.USE:  # nothing is cut off what is no copy (24)
            self.files.close(copy)
            self.report_unfit(copy.vseg, copy)
            return False
        copy.settled = True
        copy.pins += 1
        used = copy.base + min(copy.end, end)

        def settle() -> None:
            self.disk.truncate(copy.fd, used)
            self._syncs.sync_file(copy)
            self.disk.drop_cached(copy.fd)

        def settled(error: BaseException | None) -> None:
            copy.pins -= 1
            if error is not None:
                self.poison(f"fdatasync of {copy.path}: {error}")
                return
            copy.reserved = used
            self._retire(copy)

        if copy.end > end:
            copy.end = end
            copy.states = [position for position in copy.states if position < end]
            copy.last = (-1, 0)
        self.workers.background.submit(settle, settled)
        return False

    def _remove(self, copy: Copy) -> bool:
        """Delete the file, or keep it for the next copy. Whether that has to wait."""
        if copy.pins:
            return True
        del self.copies[copy.vseg]
        self._syncs.forget(copy)
        self.files.delete(copy.path + BESIDE)
        self.files.give_up(copy)
        return False

    def released(self, copy: Copy) -> None:
        """A worker has done with its descriptor, or its file: of one that grows no more it is closed."""
        if copy.settled or self.copies.get(copy.vseg) is not copy:
            self._retire(copy)

    def _retire(self, copy: Copy) -> None:
        """No more frames come: close the file, unless a worker is using the descriptor."""
        if not copy.pins:
            self.files.close(copy)

    # For those who repair and look after the copies

    def path_of(self, vseg: VsegId) -> str:
        """Where the file of its copy is, or would be."""
        return self.files.at(file_name(vseg))

    def adopt(self, vseg: VsegId, temporary: str, found: Inspection) -> None:
        """The synced file at ``temporary`` is a whole copy: use it instead of what was there (rule 17), for
        some time even unlisted. The caller syncs the directory. Raises OSError."""
        path = self.path_of(vseg)
        self.disk.rename(temporary, path)
        old = self.copies.get(vseg)
        if old is not None:
            self._syncs.forget(old)
            self._retire(old)
        copy = Copy(vseg, path)
        copy.take(found)
        copy.settled = True
        self.copies[vseg] = copy
        self.state.unread.discard(vseg)
        self.hold(copy)

    def hold(self, copy: Copy) -> None:
        """Keep it for some time, whether metadata lists it or not; then look, though nothing may be heard of
        metadata any more."""
        copy.recorded = True
        copy.holds += 1
        self._hold_on(copy, self._hold_steps)

    def _hold_on(self, copy: Copy, steps: int) -> None:
        step = self._held_s / self._hold_steps
        self.loop.call_later(step, self._let_go, copy, steps - 1, self.clock.monotonic() + step)

    def _let_go(self, copy: Copy, steps: int, due: float) -> None:
        """Late means that the process was stopped: what it knows may be as old as that, so it begins anew, as
        when it knows nothing yet. (Who looked at the end alone missed a stop that ended right then.)"""
        late = not self._newest or self.clock.monotonic() > due + LATE_S
        if late or steps:
            self._hold_on(copy, self._hold_steps if late else steps)
        else:
            copy.holds -= 1
            is_there = self.copies.get(copy.vseg) is copy and not self.poisoned and not self._closed
            if is_there and self._sweep_one(copy):  # not all: thousands of holds may end at once
                self._sweeping.ask(SWEEP_S)

    def journal_is_whole(self, found: Inspection) -> bool:
        """Whether a journal of an earlier process of this broker still has everything that was acked."""
        header = found.header
        if header is None or found.proven:
            return False
        same_boot = header.boot_id == self._boot and any(self._boot)
        return survived(header.policy, self.state.failed or not same_boot)

    def is_whole(self, vseg: VsegId) -> bool:
        """There is a copy of the closed ``vseg`` that can be read, as far as is known."""
        copy = self.copies.get(vseg)
        return copy is not None and copy.loaded and self._worth(copy) is Worth.USE

    def unfit(self) -> list[VsegId]:
        """Closed vsegs that list this store, of which it has no whole copy as far as it knows (rule 33)."""
        found: list[VsegId] = []
        for vseg, record in self.table.vsegs.items():
            if self.me in record.backups and not record.open and not record.empty:
                copy = self.copies.get(vseg)
                if copy is None or (copy.loaded and self._worth(copy) is Worth.REPAIR):
                    found.append(vseg)
        return found


STORED: Final = frozenset({Push.STORE, Push.REPEATED})
