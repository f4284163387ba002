"""flush.messages=N and flush.ms=T as Kafka honours them: acks do not wait, a group fdatasync follows when
due, or when a journal file takes no more.

One fdatasync covers all partitions of the virtual log, so their number does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from kproto.vlog.classes import NEVER

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.log.ports import LogSegment
    from kproto.vlog.journal import JournalFile
    from kproto.vlog.worker import Loop, Works


class GroupSync:
    """Which partitions of one virtual log have unsynced records, since when, and the sync that is due.

    Invariant: at most one sync runs; a partition is in ``_since`` iff it has written records that no finished
    sync covers (``_since[p]`` = first such offset; for new data during a sync, the end that the sync covers).
    """

    __slots__ = (
        "_clock",
        "_closed",
        "_deadline",
        "_ends",
        "_files",
        "_left",
        "_loop",
        "_older",
        "_poison",
        "_running",
        "_since",
        "_syncing",
        "_worker",
        "syncs",
    )

    def __init__(self, loop: Loop, worker: Works, clock: Clock, poison: Callable[[str], object]) -> None:
        self._loop = loop
        self._worker = worker
        self._clock = clock
        self._poison = poison
        self._since: dict[Any, int] = {}
        self._ends: dict[Any, int] = {}
        self._files: dict[JournalFile, int] = {}
        """Files with unsynced frames, and up to which position."""
        self._syncing: dict[JournalFile, int] = {}
        """The thread is at these."""
        self._older: dict[LogSegment, None] = {}
        """Segment files with what partitions had before they came here: synced first."""
        self._deadline = float("inf")
        self._running = False
        self._closed = False
        self._left = False
        """Some of the files take no more frames."""
        self.syncs = 0

    def add(self, older: Iterable[LogSegment]) -> None:
        """Sync these, too, with the frame that is about to be reported by `written`."""
        self._older.update(dict.fromkeys(older))

    def written(self, file: JournalFile, position: int, ends: Mapping[Any, int]) -> None:
        """``file`` was written up to ``position``; ``ends`` are the new end offsets of the partitions in it.

        Called before the high watermarks move: a partition's is the first offset of what was written.
        """
        if file not in self._files:
            file.pins += 1
        self._files[file] = position
        due = False
        earliest = NEVER
        for part, end in ends.items():
            since = self._since.get(part)
            if since is None:
                since = self._since[part] = self._ends.get(part, part.high_watermark)
            self._ends[part] = end
            due = due or end - since >= part.config.flush_messages
            earliest = min(earliest, part.config.flush_ms)
        if due:
            self._start()
        elif earliest < NEVER:
            self._arm(self._clock.monotonic() + earliest / 1000)

    def left(self, file: JournalFile, position: int) -> None:
        """``file`` gets no more frames; its unsynced ones are synced now, though none may be due for long:
        until then the file is not given back, nor any that was closed later, and a full journal has no next
        file in which some would become due."""
        if file in self._files:
            self._files[file] = position
            self._left = True
            self._start()

    def close(self) -> None:
        """Begin no other sync: the files are about to be closed, when the thread has done. Nor do they stay
        for one: what is in synced segment files needs none."""
        self._closed = True
        self._unpin(self._files)
        self._unpin(self._syncing)

    def _arm(self, at: float) -> None:
        if at < self._deadline:
            self._deadline = at
            self._loop.call_later(max(at - self._clock.monotonic(), 0), self._expired, at)

    def _expired(self, at: float) -> None:
        if at == self._deadline:
            self._deadline = float("inf")
            self._start()

    def _start(self) -> None:
        """Sync all files with unsynced frames, in the thread."""
        if self._running or self._closed or not self._files:
            return
        self._running = True
        self._left = False
        self._deadline = float("inf")
        self._syncing, self._files = self._files, {}
        older, self._older = self._older, {}
        covered = dict(self._ends)
        self._worker.submit(partial(_sync_all, (*older, *self._syncing)), partial(self._done, covered))

    @staticmethod
    def _unpin(files: dict[JournalFile, int]) -> None:
        for file in files:
            file.pins -= 1
        files.clear()

    def _done(self, covered: Mapping[Any, int], error: BaseException | None) -> None:
        self._running = False
        self._unpin(self._syncing)
        if error is not None:
            self._poison(f"group fdatasync of the journal: {error}")
            return
        self.syncs += 1
        for part, end in covered.items():
            if self._ends[part] == end:
                self._since.pop(part, None)
                del self._ends[part]
            else:
                self._since[part] = end
        due = any(
            self._ends[part] - since >= part.config.flush_messages for part, since in self._since.items()
        )
        if due or self._left:
            self._start()
            return
        earliest = min((part.config.flush_ms for part in self._since), default=NEVER)
        if earliest < NEVER:
            self._arm(self._clock.monotonic() + earliest / 1000)


def _sync_all(files: Sequence[JournalFile | LogSegment]) -> None:
    for file in files:
        file.sync()
