"""When the checkpoint is written and what goes into it: every few seconds the entries of partitions that
changed, some at a time; at once, and synced, before files of deleted data may go; and all at a clean stop.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Container, Iterable
from functools import partial
from typing import TYPE_CHECKING, Final

from kproto.directory import LeftAs
from kproto.disk import NO_SPACE, poisoning
from kproto.log.by_topic import ByTopic
from kproto.log.checkpoint import Checkpoint, Found
from kproto.log.files import STREAMS, parse_name
from kproto.log.ports import Deletions
from kproto.trouble import Trouble

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.disk import Disk
    from kproto.log.above import Above
    from kproto.log.by_topic import Key
    from kproto.log.checkpoint import Entry
    from kproto.log.partition import Partition
    from kproto.log.ports import LogPorts
    from kproto.log.segment import Segment

log = logging.getLogger(__name__)

RETRY_S: Final = 1.0
"""How long to wait after a checkpoint could not be written."""
BATCH: Final = 150
"""Entries in one frame."""
AT_ONCE: Final = 600
"""So many are written in one frame, too, when these are all."""
SLICES: Final = 40
"""After so many slices the rest is written at once, lest partitions that change all the time hold it up."""
SYNC_ALL_FROM: Final = 100
"""More files than that get to the medium together first, with sync(2): then each of their own syncs, which
alone say whether one failed, takes little."""
_DOUBTFUL: Final = {
    LeftAs.NEW: (),
    LeftAs.CLEAN: (Found.MISSING, Found.EMPTY, Found.TORN),
    LeftAs.KILLED: (Found.MISSING,),
}
"""What the last process cannot have left: it held space for the file at its start, had written it when it
ended by itself, and may have been killed when it was about to."""


class Checkpointing:
    """``file`` is what the last process left, and what is written. On the event loop."""

    __slots__ = (
        "_changed",
        "_clock",
        "_closed",
        "_disk",
        "_next",
        "_ports",
        "_released",
        "_retry",
        "_rewriting",
        "_slices",
        "_syncing",
        "_trouble",
        "deletions",
        "exact",
        "file",
        "noted",
        "on_synced",
    )

    def __init__(
        self, data_dir: str, disk: Disk, clock: Clock, interval: float, ports: LogPorts, left_as: LeftAs
    ) -> None:
        self._disk = disk
        self._clock = clock
        self._ports = ports
        self.file = Checkpoint(disk, data_dir)
        self.noted = True
        """What is not believed any more is in the file: a later start does not believe it either."""
        if left_as.unsynced_gone:
            self._distrust(self.file.distrust_unsynced)
        elif self.file.found in _DOUBTFUL[left_as]:
            # killed, and nothing there: an earlier start came to nothing
            if left_as is LeftAs.CLEAN or disk.is_directory(os.path.join(data_dir, STREAMS)):
                found = self.file.found.value
                log.error("the checkpoint in %s is %s: all files are looked at", data_dir, found)
            self._distrust(self.file.distrust)
        self.exact = left_as is LeftAs.CLEAN and self.file.exact
        """The files are as their entries say (`checkpoint`)."""
        self._changed: dict[Partition, None] = {}
        self._released: ByTopic[Entry] = ByTopic()
        """Where partitions stood that are not open any more: for when others that lead them now give them
        back, perhaps to a next process."""
        self.deletions = Deletions()
        self._slices = 0
        self._syncing = False
        """A thread syncs the file: on a slow disk that takes long, and all clients would wait."""
        self._rewriting = False
        """A thread writes the file anew; the next frame waits for it."""
        self._closed = False
        self.on_synced: Callable[[], object] = int
        """Called when it has, for files that wait for `deletions`."""
        self._retry = 0.0
        self._trouble = Trouble(log, clock, "no checkpoint could be written")
        self._next = clock.monotonic() + interval

    def _distrust(self, note: Callable[[], object]) -> None:
        """A full disk is no reason not to start (rule 37)."""
        try:
            note()
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            log.warning("the checkpoint cannot be written: %s", error.strerror)
            self.noted = False

    def note(self, partition: Partition) -> None:
        """Bytes of ``partition`` went into a file."""
        self._changed[partition] = None

    def note_down(self, partitions: Iterable[Partition], sync: bool = False) -> None:
        """Have the checkpoint say where ``partitions`` stand, now. OSError passes through."""
        self._put(_entries(partitions), self.file.point, sync)

    def _put(self, entries: Iterable[tuple[bytes, int, Entry]], point: bytes, sync: bool = False) -> None:
        """Have the file say that. OSError passes. But for want of room nobody tries again: what is in the
        file already need not get to the medium with a later sync (rule 35), and files of deleted data may go
        once it has."""
        with poisoning(self._ports.on_poison, "the checkpoint"):
            self.file.write(entries, point, sync=sync)

    def write_soon(self) -> None:
        """More of the journal is in segment files: the next tick writes a checkpoint."""
        self._next = self._clock.monotonic()

    def sync_soon(self, partition: Partition) -> None:
        """The log start of ``partition`` moved, or files of it go: the next tick writes a checkpoint, and
        syncs it."""
        self._changed[partition] = None
        self.deletions.newest += 1
        self.write_soon()

    def note_gap(self, partition: Partition) -> None:
        """What was deleted of ``partition`` was not all in files: what comes behind it does not connect with
        what is there, for a start that does not know of the deletion. So one after a kill knows at once: what
        is written to files alone (`Pusher`) is in no journal. A full disk has space held for it."""
        try:
            self.note_down([partition])
        except OSError as error:  # the next tick tries again
            self._trouble.failed(error.strerror)

    def forget(self, partition: Partition) -> None:
        """``partition`` is no longer here, or was never opened."""
        self._changed.pop(partition, None)

    def released(self, topic_id: bytes, index: int, entry: Entry) -> None:
        """A partition that is not open (another broker leads it, say) stands where ``entry`` says."""
        self._released[topic_id, index] = entry

    def opened(self, topic_id: bytes, index: int) -> None:
        """It is open again."""
        self._released.pop((topic_id, index))

    def forget_topic(self, topic_id: bytes) -> None:
        """It is deleted."""
        self._released.forget(topic_id)
        self.file.forget(topic_id)

    def tick(self, now: float, interval: float) -> bool:
        """Write what is due at monotonic time ``now``; True when more is waiting. Seconds both."""
        if now < self._retry or now < self._next or self._rewriting:
            return False
        if self.file.is_long and not self._syncing:
            self._rewriting = True
            self._ports.in_background(self.file.anew(), self._rewritten)
            return False
        return self._write_some(now, interval)

    def _rewritten(self, error: BaseException | None) -> None:
        """The thread has done with the file beside the old one. But for want of room nobody tries again."""
        self._rewriting = False
        if self._closed:
            return
        try:
            with poisoning(self._ports.on_poison, "the checkpoint"):
                if error is not None:
                    raise error
                self.file.take_anew()
        except OSError as failure:
            self.file.keep_old()
            self._trouble.failed(failure.strerror)

    def _write_some(self, now: float, interval: float) -> bool:
        """Write the entries of some changed partitions; True when more are waiting.

        Only the frame that leaves none waiting may move the journal point: a partition that has nothing in
        the journal behind the point must have its newest entry in the file.
        """
        last = len(self._changed) <= AT_ONCE or self._slices >= SLICES
        batch = list(self._changed) if last else list(self._changed)[:BATCH]
        sync = last and not (self.deletions.all_known or self._syncing)
        if any(one.look_for_deleted(one.segments[-1]) for one in batch if one.segments):
            return False
        if batch or sync or self._released:
            entries = [*self._left(), *_entries(batch)]
            point = self._ports.scan_point() if last else self.file.point
            try:
                self._put(entries, point)
            except OSError as error:
                self._retry = now + RETRY_S
                self._trouble.failed(error.strerror)
                return False
            self._trouble.over()
            self._released.clear()
            for partition in batch:
                del self._changed[partition]
        if not last:
            self._slices += 1
            return True
        self._slices = 0
        self._next = now + interval
        if sync:
            self._syncing = True
            self._ports.in_background(self.file.sync, partial(self._synced, self.deletions.newest))
        return False

    def _synced(self, newest: int, error: BaseException | None) -> None:
        """The file has the log starts of all deletions up to ``newest``, or it cannot be told what it has
        (rule 35)."""
        self._syncing = False
        if error is not None:
            self._ports.on_poison(f"fdatasync of the checkpoint: {error}")
        elif not self._closed:
            self.deletions.known = newest
            if not self.deletions.all_known:
                self.write_soon()
            self.on_synced()

    def close(self, opened: Iterable[Partition]) -> None:
        """Write and sync the last checkpoint. OSError passes."""
        self._closed = True
        self._changed.update(dict.fromkeys(opened))
        self._put([*self._left(), *_entries(self._changed)], self._ports.scan_point(), sync=True)
        self.deletions.known = self.deletions.newest

    def sync_others(
        self, opened: Container[Key], directory_of: Callable[[bytes, int], str], above: Above
    ) -> None:
        """Before a clean stop, which is believed: sync what entries of other partitions than ``opened`` say
        is in files. A killed process wrote it, or others lead them since. They vouch for no files that are
        gone. OSError passes."""
        noted = [one for one in self.file.unsynced() if self._released.get(one[:2]) is None]
        noted += [one for one in self._left() if one[2].unsynced]
        left = [one for one in noted if one[:2] not in opened]
        if len(left) > SYNC_ALL_FROM:
            os.sync()
        for topic_id, index, entry in left:
            directory = directory_of(topic_id, index)
            files = [name for name in self._disk.listdir(directory) if parse_name(name) is not None]
            for name in files:
                self._disk.sync_file(f"{directory}/{name}")
            if files:  # they have their names (rule 36)
                self._disk.sync_directory(directory)
                above.sync(directory)
            self.released(topic_id, index, entry.all_synced() if files else entry.only_synced())

    def _left(self) -> list[tuple[bytes, int, Entry]]:
        return [(*key, entry) for key, entry in self._released.items()]


def _entries(partitions: Iterable[Partition]) -> list[tuple[bytes, int, Entry]]:
    return [(one.topic_id, one.index, one.entry()) for one in partitions if not one.deleted]


def sync_all(partitions: Iterable[Partition]) -> None:
    """Sync all files of all ``partitions``. OSError passes."""
    unsynced = [segment for partition in partitions for segment in partition.unsynced()]
    if len(unsynced) > SYNC_ALL_FROM:
        os.sync()
    sync_each(unsynced)


def sync_each(segments: Iterable[Segment]) -> None:
    """Sync their files. OSError passes."""
    for segment in segments:
        segment.sync()
