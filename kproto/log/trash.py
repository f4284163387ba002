"""Files of deleted data: removed ``file.delete.delay.ms`` after the deletion, one at a time, and only once
a checkpoint that knows of the deletion is on disk (else a restart could begin before data that is gone).

Directories of partitions that are led elsewhere wait here, too; they can be taken back, with all that waits
in them: what was deleted may come again, in a file of the same name.
"""

from __future__ import annotations

import os
from collections import deque

from kproto.disk import Disk


class Trash:
    """Paths to remove. Files and whole directories; what is missing already is fine."""

    __slots__ = ("_directories", "_disk", "_now", "_waiting")

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._waiting: dict[str, list[tuple[float, str]]] = {}
        """By directory."""
        self._directories: dict[str, float] = {}
        """Those that may be taken back, in order of time."""
        self._now: deque[str] = deque()

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values())) + len(self._directories) + len(self._now)

    def add(self, due: float, path: str) -> None:
        """Remove ``path`` at monotonic time ``due`` (seconds)."""
        self._waiting.setdefault(os.path.dirname(path), []).append((due, path))

    def lend(self, due: float, directory: str) -> None:
        """Remove ``directory`` at ``due``, unless it is taken back. Times must not fall."""
        self._directories.pop(directory, None)
        self._directories[directory] = due

    def take_back(self, directory: str) -> None:
        """Keep ``directory`` and what is in it, as far as it is not removed yet. Whoever opens it decides
        anew what is to go."""
        self._directories.pop(directory, None)
        self._waiting.pop(directory, None)
        if self._now:
            inside = directory + os.sep
            self._now = deque(path for path in self._now if path != directory and not path.startswith(inside))

    def is_due(self, now: float) -> bool:
        """Move what is due to the work list; True when there is work."""
        for directory, waiting in list(self._waiting.items()):
            if any(due <= now for due, _ in waiting):
                self._now.extend(path for due, path in waiting if due <= now)
                later = [item for item in waiting if item[0] > now]
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

    def remove_one(self) -> None:
        """Remove one file, or look into one directory. An OSError other than "missing" passes through."""
        path = self._now.popleft()
        try:
            self._disk.unlink(path)
        except FileNotFoundError:
            pass
        except (IsADirectoryError, PermissionError):
            inside = self._disk.listdir(path)
            if inside:
                self._now.appendleft(path)
                self._now.extendleft(os.path.join(path, name) for name in inside)
            else:
                os.rmdir(path)
