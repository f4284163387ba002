"""Room for the next virtual segment: reserved ahead of need, within the journal's limit, or a full disk said
early.

The next file is prepared in a thread while the open one still has a quarter of its room. When that fails with
ENOSPC, appends are refused from then on (``full``) while what was accepted before still fits: a full disk is
an error code, never a lost ack. Whether there is room again is tried once a second.

The limit holds as long as waiting helps. A full journal gives back what is closed, oldest first, once that is
in synced segment files (`cleaner`), and what earlier processes left; while nothing is closed, virtual logs
that nobody appends to close what they have (`VlogManager._press`). A closed file stays while it is pinned:
until it is synced, which begins when it takes no more (`group_sync`), and, with backups, until the store
knows the next segment. Two files may therefore be beyond the limit, as small as they can be (`Space.get`):
the one that a virtual log needs so that the store gets to know it, and any while nothing is closed that could
be given back. Else these would wait for themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from kproto.disk import NO_SPACE
from kproto.vlog.frame import FILE_HEADER_SIZE
from kproto.vlog.later import Later

if TYPE_CHECKING:
    from kproto.vlog.journal import Journal, JournalFile
    from kproto.vlog.placement import Place
    from kproto.vlog.worker import Loop, Works

RETRY_S: Final = 1.0
SMALLEST_FILE: Final = 1 << 18


class Space:
    """Hands out journal files. ``changed()`` is called when ``full`` changes or room appears;
    ``poison(reason)`` for errors that are no lack of space (rule 35); ``press()`` asks the cleaner to hurry,
    and tells whether it has anything to give back."""

    __slots__ = (
        "_changed",
        "_file_bytes",
        "_journal",
        "_poison",
        "_preparing",
        "_press",
        "_retry",
        "_worker",
        "closed",
        "full",
        "sharing",
    )

    def __init__(
        self,
        journal: Journal,
        loop: Loop,
        worker: Works,
        file_bytes: int,
        changed: Callable[[], object],
        press: Callable[[], bool],
        poison: Callable[[str], object],
    ) -> None:
        self._journal = journal
        self._worker = worker
        self._file_bytes = file_bytes
        self._changed = changed
        self._press = press
        self._poison = poison
        self._preparing = False
        self._retry = Later(loop, self._try_again)
        self.full = False
        self.closed = False
        self.sharing: set[Place] = set()
        """Virtual logs that share the limit: not those that nobody has any more."""

    def resize(self, file_bytes: int) -> None:
        """Ordinary files have ``file_bytes`` from now on."""
        self._file_bytes = file_bytes

    @property
    def file_bytes(self) -> int:
        """Size of the next ordinary file: the setting, less when many vlogs share a small journal, or one
        that earlier processes left full."""
        share = (self._journal.limit - self._journal.inherited) // (2 * max(len(self.sharing), 2))
        return max(min(self._file_bytes, share), self._smallest)

    @property
    def most(self) -> int:
        """Bytes that a virtual segment may have room for when its state frame needs it: what the setting
        says, however many share the journal, and what a virtual log may have of that, whatever the setting.
        """
        share = self._journal.limit // (2 * max(len(self.sharing), 2))
        return max(self._file_bytes, share) - FILE_HEADER_SIZE

    @property
    def _smallest(self) -> int:
        return min(SMALLEST_FILE, self._file_bytes)

    def get(self, frame_bytes: int, owed: bool = False) -> JournalFile | None:
        """A file with room for a frame of ``frame_bytes``, or None: then ``changed`` is called when to try
        again. Where waiting might never end, a small one may be beyond the limit: when nothing is closed that
        could be given back, or without this one (``owed``) nothing can be."""
        size = max(self.file_bytes, frame_bytes + FILE_HEADER_SIZE)
        need = min(size, max(self._smallest, frame_bytes + FILE_HEADER_SIZE))
        file = self._journal.acquire(need)
        if file is not None or self._preparing:
            return file
        while not self._journal.reserve(size):
            if self._journal.shrink():
                return None  # its bytes count until it is deleted
            if size == need:
                if self._press() and not owed:
                    return None
                self._journal.reserve(size, beyond=True)
                break
            size = max(size // 2, need)
        return self._create(size, need)

    def _create(self, size: int, need: int) -> JournalFile | None:
        """Make a file of ``size`` bytes now; on a nearly full disk a smaller one, down to ``need``."""
        wanted = size
        while True:
            try:
                file = self._journal.create(self._journal.new_name(), wanted)
            except OSError as error:
                if error.errno in NO_SPACE and wanted > need:
                    wanted = max(wanted // 2, need)
                    continue
                self._journal.unreserve(size)
                self.failed(error)
                return None
            self._journal.unreserve(size - wanted)
            return file

    def ahead(self) -> None:
        """Have a spare file ready before it is needed."""
        if (
            self._preparing
            or self.closed
            or any(spare.size >= self._smallest for spare in self._journal.spares)
        ):
            return
        size = self.file_bytes
        if not self._journal.reserve(size):
            self._press()
            return
        self._preparing = True
        made: list[JournalFile] = []
        create = partial(self._journal.create, self._journal.new_name(), size)
        self._worker.submit(lambda: made.append(create()), partial(self._prepared, size, made))

    def _prepared(self, size: int, made: list[JournalFile], error: BaseException | None) -> None:
        self._preparing = False
        if error is None:
            self._journal.spares.append(made[0])
            if self.closed:
                self._journal.shrink()
                return
            self._set_full(False)
            self._changed()
            return
        self._journal.unreserve(size)
        if not isinstance(error, OSError):
            raise error
        if error.errno not in NO_SPACE:
            self.failed(error)
            return
        small = self._smallest
        smaller = self._journal.reserve(small) and self._create(small, small)
        if smaller:
            self._journal.spares.append(smaller)
            self._changed()
        self._press()

    def failed(self, error: OSError) -> None:
        """A write or reservation failed anywhere in the data directory: full disk, or poison (rule 35)."""
        if error.errno not in NO_SPACE:
            self._poison(f"journal: {error}")
            return
        self._set_full(True)
        self._press()
        if not self.closed:
            self._retry.ask(RETRY_S)

    def _try_again(self) -> None:
        """Is there room for a small file again?"""
        if self.closed or not self.full:
            return
        probe = self._journal.new_name()
        try:
            file = self._journal.create(probe, SMALLEST_FILE)
        except OSError as error:
            self.failed(error)
            return
        self._journal.discard(file, 0)
        self._set_full(False)
        self._changed()

    def _set_full(self, full: bool) -> None:
        if full != self.full:
            self.full = full
            self._changed()
