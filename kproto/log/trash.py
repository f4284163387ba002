"""Files of deleted data: removed ``file.delete.delay.ms`` after the deletion, one at a time, and only once
a checkpoint that knows of the deletion is on disk (else a restart could begin before data that is gone).
"""

from __future__ import annotations

import os
from collections import deque

from kproto.disk import Disk


class Trash:
    """Paths to remove. Files and whole directories; what is missing already is fine."""

    __slots__ = ("_disk", "_now", "_waiting")

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._waiting: list[tuple[float, str]] = []
        self._now: deque[str] = deque()

    def __len__(self) -> int:
        return len(self._waiting) + len(self._now)

    def add(self, due: float, path: str) -> None:
        """Remove ``path`` at monotonic time ``due`` (seconds)."""
        self._waiting.append((due, path))

    def cancel(self, directory: str) -> None:
        """Keep ``directory`` and what is in it, as far as it is not removed yet."""
        inside = directory + os.sep

        def kept(path: str) -> bool:
            return path != directory and not path.startswith(inside)

        self._waiting = [item for item in self._waiting if kept(item[1])]
        self._now = deque(path for path in self._now if kept(path))

    def is_due(self, now: float) -> bool:
        """Move what is due to the work list; True when there is work."""
        if self._waiting:
            self._now.extend(path for due, path in self._waiting if due <= now)
            self._waiting = [item for item in self._waiting if item[0] > now]
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
