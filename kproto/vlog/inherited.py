"""The journal files of earlier processes, until nobody needs them.

Virtual logs of an earlier process are never continued (rule 2): what `recovery` found is opened and flushed
by the log. A file goes once all chunks that were found in it are in synced segment files, or were deleted;
where nothing else would ever sync them, that is done for it. No file waits for what `recovery` need not look
for, because the page cache has it in segment files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from kproto.disk import NO_SPACE
from kproto.log.ports import EVERYTHING
from kproto.vlog.cleaner import SLICE_S
from kproto.vlog.kept import vseg_of_name

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.log.ports import LogSegment
    from kproto.vlog.cleaner import Cleaner
    from kproto.vlog.frame import FileHeader
    from kproto.vlog.journal import Journal
    from kproto.vlog.recovery import PartitionKey, Recovered
    from kproto.vlog.space import Space
    from kproto.vlog.worker import Works

SYNCS_AT_ONCE: Final = 500
"""Segment files synced at once for old journal files."""


class Owner(Protocol):
    """The part of `VlogManager` that is used."""

    poisoned: str | None
    unsealed: Callable[[int, int, int], bool]

    def poison(self, reason: str) -> None: ...
    def room_changed(self) -> None: ...
    def keep(self, path: str, vseg: tuple[int, int, int]) -> bool: ...


def _sync_all(segments: Sequence[LogSegment]) -> None:
    for segment in segments:
        segment.sync()


class Inherited:
    """See the module's text. ``recovered`` is what they have. ``settled(topic id, partition, end offset)``:
    everything below is in synced segment files, or deleted; ``unsynced(topic id, partition)``: the segments
    whose files are not synced, None for a partition that is not open yet.
    """

    __slots__ = (
        "_cleaner",
        "_clock",
        "_journal",
        "_owner",
        "_recovered",
        "_releasing",
        "_settled",
        "_space",
        "_syncing",
        "_unsynced",
        "_worker",
    )

    def __init__(
        self,
        recovered: Recovered,
        settled: Callable[[bytes, int, int], bool],
        unsynced: Callable[[bytes, int], Sequence[LogSegment] | None],
        journal: Journal,
        space: Space,
        cleaner: Cleaner,
        worker: Works,
        clock: Clock,
        owner: Owner,
    ) -> None:
        self._recovered = recovered
        self._settled = settled
        self._unsynced = unsynced
        self._journal = journal
        self._space = space
        self._cleaner = cleaner
        self._worker = worker
        self._clock = clock
        self._owner = owner
        self._syncing = False
        self._releasing: dict[PartitionKey, int] = {}
        """See `_knows_deletions`."""
        journal.bytes += recovered.bytes
        journal.inherited = recovered.bytes

    @property
    def gone(self) -> bool:
        """No file is left."""
        return not self._recovered.files

    def is_unsynced(self, partition: PartitionKey) -> bool:
        """Some of its chunks are in files that nobody has synced, and perhaps nowhere else."""
        return self._recovered.is_unsynced(partition)

    def drop(self) -> None:
        """Delete the files that nobody needs, or have them kept (rule 18b)."""
        owner, journal = self._owner, self._journal
        if owner.poisoned is not None:
            return
        self._recovered.settle(self._settled)
        before = journal.inherited
        for file in self._recovered.droppable(self._is_unsealed):
            path, size = file.path, file.size
            vseg = vseg_of_name(os.path.basename(path))
            try:
                if vseg is not None and owner.keep(path, vseg):
                    journal.unreserve(size)
                else:
                    journal.drop(path, size)
            except OSError as error:
                if error.errno in NO_SPACE:
                    break  # for the name of one that is kept: later
                owner.poison(f"{path}: {error}")
                return
            journal.inherited -= size
            self._recovered.dropped(file)
        if journal.inherited != before:
            owner.room_changed()

    def finish(self) -> None:
        """`drop` at a stop, when all is flushed and synced: nobody will look again for partitions that end
        before what a file has of them, because the rest was given up."""
        left = EVERYTHING
        while self._journal.inherited < left:
            left = self._journal.inherited
            for partition in self._recovered.waiting():
                self._left_of(partition)
            self.drop()

    def _is_unsealed(self, header: FileHeader) -> bool:
        return header.copies > 1 and self._owner.unsealed(header.owner_epoch, header.vlog, header.vseg)

    def sync(self) -> None:
        """Flush, a slice at a time, and sync, in the thread, segments that the files wait for."""
        if self._syncing:
            return
        until = self._clock.monotonic() + SLICE_S
        segments: list[LogSegment] = []
        for partition in self._recovered.waiting():
            for segment in self._left_of(partition):
                try:
                    segment.flush(EVERYTHING)
                except OSError as error:
                    self._syncing = True  # a full disk asks for what is being tried here
                    self._space.failed(error)
                    self._syncing = False
                    return
                segments.append(segment)
            if len(segments) >= SYNCS_AT_ONCE or self._clock.monotonic() > until:
                break
        if segments:
            self._syncing = True
            self._worker.submit(partial(_sync_all, segments), self._synced)

    def _left_of(self, partition: PartitionKey) -> Sequence[LogSegment]:
        """What is not synced of a partition that is open; when that is nothing, the files need not wait for
        it any more."""
        unsynced = self._unsynced(*partition)
        if unsynced is not None and not unsynced and self._knows_deletions(partition):
            self._recovered.release(partition)
        return unsynced or ()

    def _knows_deletions(self, partition: PartitionKey) -> bool:
        """The files need not wait for a partition of which nothing is unsynced once a start would know of all
        that was deleted by then."""
        deletions = self._cleaner.deletions
        if self._releasing.setdefault(partition, deletions.newest) > deletions.known:
            return False
        del self._releasing[partition]
        return True

    def _synced(self, error: BaseException | None) -> None:
        self._syncing = False
        if error is not None:
            self._owner.poison(f"fdatasync of a segment file: {error}")
        else:
            self.drop()
            self.sync()
