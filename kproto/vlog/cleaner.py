"""Gives journal files back: a closed virtual segment is done when all its chunks are in synced segment files.

Two levels, so that a restart is quick and the disk is left in peace:

1. *flush*: when a virtual segment is closed, its chunks are written to their segment files (page cache only,
   in slices of a millisecond, with rests, since making thousands of files takes long), and ``flushed()`` asks
   for a checkpoint. That bounds what the next start must scan.
2. *sync*: fdatasync of those files in a thread, oldest virtual segments first and several together, because
   many partitions mean many files: soon when there are few files per byte, else when the journal is half
   full, when a push waits for room, or when the disk is full.

Virtual segments are given back in the order in which they were closed. A partition may have its records
before in another virtual log: its segments before are flushed and synced first, since a start cuts off what
lies behind a torn file.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from kproto.log.ports import EVERYTHING, Deletions

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.log.ports import LogSegment
    from kproto.vlog.journal import Journal, JournalFile
    from kproto.vlog.virtual_log import VirtualLog
    from kproto.vlog.virtual_segment import VirtualSegment
    from kproto.vlog.worker import Loop, Works

SLICE_S: Final = 0.001
REST: Final = 4.0
"""After each slice the loop belongs to others for so many times what it took, unless a push waits."""
BYTES_PER_SYNC: Final = 1 << 20
"""Sync without pressure only when a file sync frees at least so many bytes of journal."""


def _keep_nothing(_: Closed) -> bool:
    """Without backups every file may go."""
    return False


class Closed(NamedTuple):
    """A closed virtual segment and its file."""

    vlog: VirtualLog
    segment: VirtualSegment
    file: JournalFile


class Cleaner:
    """See the module docstring. ``freed()`` is called when files were given back, ``failed(error)`` when
    a write raised (full disk, or poison), ``poison(reason)`` when a sync did: it is never retried (rule
    35)."""

    __slots__ = (
        "_clock",
        "_done",
        "_failed",
        "_flushed",
        "_freed",
        "_job",
        "_journal",
        "_loop",
        "_needs",
        "_poison",
        "_pressed",
        "_running",
        "_worker",
        "closed",
        "deleted",
        "deletions",
        "keep",
        "stopped",
        "synced",
    )

    def __init__(
        self,
        journal: Journal,
        loop: Loop,
        worker: Works,
        clock: Clock,
        flushed: Callable[[], object],
        freed: Callable[[], object],
        failed: Callable[[OSError], object],
        poison: Callable[[str], object],
    ) -> None:
        self._journal = journal
        self._loop = loop
        self._worker = worker
        self._clock = clock
        self._flushed = flushed
        self._freed = freed
        self._failed = failed
        self._poison = poison
        self.deleted = poison
        """The same of a file that somebody deleted."""
        self._pressed = False
        self._running = False
        self._job: Iterator[None] = iter(())
        self._needs: dict[VirtualSegment, dict[LogSegment, int]] = {}
        """Of the closed virtual segments that are flushed: which segments have to be synced, up to where."""
        self._done: dict[VirtualSegment, int] = {}
        """Up to which deletions have to be known before they may go: the newest when nothing else lacked."""
        self.closed: deque[Closed] = deque()
        self.keep: Callable[[Closed], bool | None] = _keep_nothing
        """Asked before a file is given back: True when it was taken away to be kept; None when it is to be,
        and cannot be now: it is asked again, and later ones wait."""
        self.deletions = Deletions()
        """The log's, when it is there."""
        self.stopped = False
        self.synced = 0
        """Segment files synced so far."""

    def add(self, closed: Closed) -> None:
        """A virtual segment was closed."""
        self.closed.append(closed)
        self.work()

    def press(self) -> None:
        """Somebody waits for room."""
        self._pressed = True
        self.work()

    def work(self) -> None:
        """Do what is due, unless a pass is running."""
        if not self._running and not self.stopped and self.closed:
            self._running = True
            self._job = self._flushing()
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        """Level 1, one slice."""
        began = self._clock.monotonic()
        try:
            for _ in self._job:
                if self.stopped:
                    self._rest()
                    return
                took = self._clock.monotonic() - began
                if took > SLICE_S:
                    self._loop.call_later(0 if self._pressed else REST * took, self._flush)
                    return
        except OSError as error:
            self._failed(error)  # which presses: the next pass begins with the next tick, not at once
            self._rest()
            return
        self._sync()

    def _flushing(self) -> Iterator[None]:
        """Flush what the closed virtual segments need, a step at a time."""
        for closed in [one for one in self.closed if one.segment not in self._needs]:
            needs: dict[LogSegment, int] = {}
            for stripe in closed.segment.stripes:
                for checked, (segment, end) in enumerate(stripe.extents.items()):
                    for earlier in segment.before():
                        earlier.flush(EVERYTHING)
                        needs[earlier] = max(needs.get(earlier, 0), earlier.flushed)
                        yield
                    needs[segment] = max(needs.get(segment, 0), end)
                    if segment.flushed < end:
                        segment.flush(end)
                        yield
                    elif not checked % 256:
                        yield
            if any(one is closed for one in self.closed):
                self._needs[closed.segment] = needs
            self._flushed()

    def _rest(self) -> None:
        self._running = False

    def _sync(self) -> None:
        """Level 2: which virtual segments now, and their files to the thread."""
        chosen = self._choose()
        if not chosen:
            self._pressed = False
            self._rest()
            return
        files: dict[LogSegment, None] = {}
        for closed in chosen:
            needs = self._needs[closed.segment]
            files.update(dict.fromkeys(one for one, end in needs.items() if one.synced < end))

        def sync() -> None:
            for segment in files:
                segment.sync()

        self.synced += len(files)
        self._worker.submit(sync, self._release)

    def _choose(self) -> list[Closed]:
        """The oldest virtual segments that should be synced now: several when there are many files."""
        chosen: list[Closed] = []
        pressed = self._pressed or self._journal.bytes * 2 > self._journal.limit
        for closed in self.closed:
            segment = closed.segment
            needs = self._needs.get(segment)
            if closed.file.pins or needs is None:
                break
            unsynced = sum(one.synced < end for one, end in needs.items())
            cheap = unsynced * BYTES_PER_SYNC <= segment.end - segment.start
            if not (cheap or pressed):
                break
            chosen.append(closed)
            if not cheap and len(chosen) * 2 >= len(self.closed):
                break
        return chosen

    def _release(self, error: BaseException | None) -> None:
        """The sync is over: give back what needs no journal any more."""
        self._rest()
        if error is not None:
            self._poison(f"fdatasync of a segment file: {error}")
            return
        if self.stopped:
            return  # after poison a start verifies all that is there (rule 35)
        self._pressed = False
        try:
            released = self.release()
        except FileNotFoundError as failure:
            self.deleted(f"{failure.filename}: somebody deleted it")
            return
        except OSError as failure:
            self._poison(f"a journal file that is not needed any more: {failure}")
            return
        if released:
            self._freed()
            if self._journal.bytes * 2 > self._journal.limit:
                self.work()

    def release(self) -> int:
        """Give back the files of the oldest virtual segments that are done; how many. OSError, of a file that
        somebody deleted too, is poison: who can tell what else is gone."""
        count = 0
        for closed in self.closed:
            if not self._is_done(closed):
                break  # those before it wait for the same sync of the checkpoint
        while not self.stopped and self.let_go(self._journal.give_back):
            count += 1
        return count

    def let_go(self, give_back: Callable[[JournalFile], object]) -> bool:
        """Keep or give back the file of the oldest virtual segment, if all of its chunks are in synced
        segment files, or deleted for good. OSError passes through."""
        if not self.closed or not self._is_done(self.closed[0]):
            return False
        vlog, segment, file = closed = self.closed[0]
        if self._done[segment] > self.deletions.known:
            return False
        kept = self.keep(closed)
        if kept is None:
            return False
        self.closed.popleft()
        self._needs.pop(segment, None)
        self._done.pop(segment, None)
        vlog.forget(segment)
        if not kept:
            give_back(file)
        return True

    def _is_done(self, closed: Closed) -> bool:
        """Whether all of its chunks are in synced segment files, or deleted."""
        segment = closed.segment
        if closed.file.pins or segment.frames:
            return False
        if segment not in self._done:
            if segment.needed_from("synced") is not None:
                return False
            self._done[segment] = self.deletions.newest
        return True
