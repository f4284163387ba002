"""Files of deleted data: removed ``file.delete.delay.ms`` after the deletion, a few at a time, and only once
a checkpoint that knows of the deletion is on disk (`Deletions`: else a restart could begin before data that
is gone).

A file gets another name first, and goes in a thread then: giving back the pages of a large one takes 20 ms,
and a third of a second while the disk is busy. Its own name is free at once. What a process that was killed
left under such a name is found when its partition is opened (`opening`, `adopting`). After a clean stop
nobody looks there: what waits is listed in a file then, for the next process.

Directories of partitions that are led elsewhere wait here, too; they can be taken back, with all that waits
in them: what was deleted may come again, in a file of the same name.
"""

from __future__ import annotations

import json
import logging
import os
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from kproto.disk import Disk
from kproto.log.files import DELETED
from kproto.log.ports import Deletions, InBackground

log = logging.getLogger(__name__)

FILE: Final = "deleted"
AT_ONCE: Final = 16
"""Files that the thread is given together; a clean stop waits for them."""


def leave_files(disk: Disk, data_dir: str, paths: Sequence[str]) -> None:
    """At a clean stop: tell the next process of files that are to go. OSError passes through."""
    if paths:
        names = [path.removeprefix(data_dir + os.sep) for path in paths]
        disk.write_atomically(os.path.join(data_dir, FILE), json.dumps(names).encode())


def left_files(disk: Disk, data_dir: str) -> list[str]:
    """What the process before has left, told once."""
    path = os.path.join(data_dir, FILE)
    try:
        descriptor = disk.open(path, write=False)
    except FileNotFoundError:
        return []
    try:
        content = disk.pread(descriptor, disk.size(descriptor), 0)
    finally:
        disk.close(descriptor)
    disk.unlink(path)
    return [os.path.join(data_dir, name) for name in json.loads(content)]


class Trash:
    """Paths to remove. Files and whole directories; what is missing already is fine."""

    __slots__ = (
        "_deletions",
        "_directories",
        "_disk",
        "_in_background",
        "_looked_into",
        "_now",
        "_on_removed",
        "_waiting",
        "busy",
    )

    def __init__(
        self,
        disk: Disk,
        in_background: InBackground,
        on_removed: Callable[[], object] = int,
        deletions: Deletions | None = None,
    ) -> None:
        self._disk = disk
        self._deletions = deletions or Deletions()
        self._in_background = in_background
        self._on_removed = on_removed
        self.busy = False
        """The thread is at it; ``on_removed`` is called when it has done what it was given."""
        self._waiting: dict[str, list[tuple[float, int, str]]] = {}
        """By directory: when it is due, the number of its deletion, path."""
        self._directories: dict[str, float] = {}
        """Those that may be taken back, in order of time."""
        self._now: deque[str] = deque()
        self._looked_into: set[str] = set()
        """Directories of the work list whose files are before them in it, or gone."""

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values())) + len(self._directories) + len(self._now)

    def add(self, due: float, path: str, deletion: int = 0) -> None:
        """Remove ``path`` at monotonic time ``due`` (seconds), once the deletion with that number is known (0
        always is)."""
        self._waiting.setdefault(os.path.dirname(path), []).append((due, deletion, path))

    def lend(self, due: float, directory: str) -> None:
        """Remove ``directory`` at ``due``, unless it is taken back. Times must not fall."""
        self._directories.pop(directory, None)
        self._directories[directory] = due

    def is_lent(self, directory: str) -> bool:
        """It waits to be removed."""
        return directory in self._directories

    def take_back(self, directory: str) -> None:
        """Keep ``directory`` and what is in it, as far as it is not removed yet. Whoever opens it decides
        anew what is to go."""
        self._directories.pop(directory, None)
        self._waiting.pop(directory, None)
        self._looked_into.discard(directory)
        if self._now:
            inside = directory + os.sep
            self._now = deque(path for path in self._now if path != directory and not path.startswith(inside))

    def close(self) -> list[str]:
        """Nothing more is begun. The files that are left: see `leave_files`; directories the next process
        finds by itself."""
        left = [path for waiting in self._waiting.values() for _, _, path in waiting]
        left = [path for path in (*left, *self._now) if not self._disk.is_directory(path)]
        self._waiting.clear()
        self._directories.clear()
        self._now.clear()
        return left

    def is_due(self, now: float) -> bool:
        """Move what may go now to the work list; True when there is work."""
        known = self._deletions.known
        for directory, waiting in list(self._waiting.items()):
            going = [path for due, deletion, path in waiting if due <= now and deletion <= known]
            if going:
                self._now.extend(going)
                later = [item for item in waiting if item[0] > now or item[1] > known]
                if later:
                    self._waiting[directory] = later
                else:
                    del self._waiting[directory]
        while self._directories:
            directory, due = next(iter(self._directories.items()))
            if due > now:
                break
            del self._directories[directory]
            self._now.append(directory)
        return bool(self._now)

    def remove_some(self) -> None:
        """Give the thread, which must not be ``busy``, a few files; or look into one directory."""
        aside: list[str] = []
        while self._now and len(aside) < AT_ONCE:
            path = self._now[0]
            if self._disk.is_directory(path):
                if not aside:
                    self._look_into(path)
                break
            self._now.popleft()
            if self._set_aside(path):
                aside.append(_aside(path))
        if aside:
            self.busy = True
            self._in_background(partial(_unlink, self._disk, aside), self._removed)

    def _look_into(self, directory: str) -> None:
        """What is in the first one of the work list goes before it."""
        try:
            if directory not in self._looked_into:
                self._now.extendleft(os.path.join(directory, name) for name in self._disk.listdir(directory))
                self._looked_into.add(directory)
                return
            os.rmdir(directory)
        except OSError as error:  # others wait behind it, and the next start looks again
            log.warning("a deleted directory stays: %s", error)
        self._looked_into.discard(directory)
        self._now.popleft()

    def _set_aside(self, path: str) -> bool:
        """Free the name of a file; False when nothing is left of it."""
        if path == _aside(path):
            return True
        try:
            self._disk.rename(path, _aside(path))
        except FileNotFoundError:
            return False
        except OSError:  # a full disk may have no room for the longer name, and more when the file is gone
            _unlink(self._disk, [path])
            return False
        return True

    def _removed(self, error: BaseException | None) -> None:
        self.busy = False
        if error is not None:
            log.error("removing files failed", exc_info=error)
        self._on_removed()


def _aside(path: str) -> str:
    return path if path.endswith(DELETED) else path + DELETED


def _unlink(disk: Disk, paths: Sequence[str]) -> None:
    """In a thread, but for the case of a full disk."""
    for path in paths:
        try:
            disk.unlink(path)
        except FileNotFoundError:
            pass
        except OSError as error:
            log.warning("a deleted file stays: %s", error)
