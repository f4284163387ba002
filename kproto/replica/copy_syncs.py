"""When the files of copies are synced: in groups, for acks and seals that wait; about every second, for class
``TIMED``, whose acks do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from kproto.replica.copies import NO_FILE, Copy

if TYPE_CHECKING:
    from kproto.disk import Disk
    from kproto.vlog.worker import Loop, Works

TIMED_SYNC_S: Final = 1.0
"""Copies of class ``TIMED`` are synced about so often."""


class CopySyncs:
    """On the loop. ``acks`` and ``background`` are threads; ``released(copy)`` is called when one has done
    with the descriptor of a copy, ``poison(reason)`` when a sync failed (rule 35)."""

    def __init__(
        self,
        disk: Disk,
        directory: str,
        acks: Works,
        background: Works,
        loop: Loop,
        released: Callable[[Copy], object],
        poison: Callable[[str], object],
    ) -> None:
        self._disk = disk
        self._directory = directory
        self._acks = acks
        self._background = background
        self._loop = loop
        self._released = released
        self._poison = poison
        self._waiting: list[tuple[Copy, Callable[[], object]]] = []
        self._syncing = False
        self._timed: dict[Copy, None] = {}
        self.failed = False
        """The directory is poisoned: nothing is synced again, and nobody who waits is answered (rule 35)."""

    def when_synced(self, copy: Copy, answer: Callable[[], object]) -> None:
        """``answer()`` once all that ``copy`` has now is synced; never, when that fails."""
        copy.pins += 1
        self._waiting.append((copy, answer))
        self._sync()

    def later(self, copy: Copy) -> None:
        """Class ``TIMED``: the ack does not wait."""
        if not self._timed:
            self._loop.call_later(TIMED_SYNC_S, self._sync_timed)
        self._timed[copy] = None

    def forget(self, copy: Copy) -> None:
        """``copy`` is given up: it is not synced `later`."""
        self._timed.pop(copy, None)

    def sync_file(self, copy: Copy) -> None:
        """In a worker. A failure is never retried (rule 35)."""
        if copy.fd != NO_FILE:
            self._disk.datasync(copy.fd)
        elif not copy.named:  # of an earlier process, which may not have synced it
            self._disk.sync_file(copy.path)
        if not copy.named:
            self._disk.sync_directory(self._directory)
            copy.named = True

    def _sync(self) -> None:
        """One group of fdatasyncs in the worker for all acks that wait."""
        if self._syncing or self.failed or not self._waiting:
            return
        self._syncing = True
        batch, self._waiting = self._waiting, []

        def sync_files() -> None:
            for copy in dict.fromkeys(copy for copy, _ in batch):
                self.sync_file(copy)

        def synced(error: BaseException | None) -> None:
            self._syncing = False
            self._synced([copy for copy, _ in batch], error)
            if not self.failed:
                for _, answer in batch:
                    answer()
                self._sync()

        self._acks.submit(sync_files, synced)

    def _sync_timed(self) -> None:
        if self.failed:
            return
        copies = [copy for copy in self._timed if copy.fd != NO_FILE]
        self._timed = {}
        for copy in copies:
            copy.pins += 1

        def sync_files() -> None:
            for copy in copies:
                self.sync_file(copy)

        self._background.submit(sync_files, partial(self._synced, copies))

    def _synced(self, copies: Sequence[Copy], error: BaseException | None) -> None:
        """A worker has done with the descriptors of ``copies``."""
        for copy in copies:
            copy.pins -= 1
            self._released(copy)
        if error is not None:
            self.failed = True
            self._poison(f"fdatasync of copies: {error}")
