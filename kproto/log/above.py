"""The directories above those of partitions: that of the topic, of all streams, and the data directory. Many
partitions share them, so they are synced once for all that is in them (rule 36).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kproto.disk import Disk

DIRECTORIES_ABOVE: Final = 3
"""Topic, streams, data directory."""


class Above:
    """What is known of them. In any thread."""

    __slots__ = ("_disk", "_grown", "_synced")

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._grown: dict[str, object] = {}
        """Those that got something new in this process; each time another object."""
        self._synced: dict[str, object] = {}
        """What they had in ``_grown`` when the newest sync began. An earlier process may have left any of
        them unsynced."""

    def make(self, directory: str) -> None:
        """Make the directory of a partition and what is missing above it. OSError passes through."""
        with self.making(directory):
            self._disk.makedirs(directory)

    @contextmanager
    def making(self, directory: str) -> Iterator[None]:
        """Somebody does that. What gets something new is noted before, for whoever finds it there already
        and syncs it, and again behind it, for a sync that began before it was there."""
        growing = [above for one, above in _steps(directory) if not self._disk.is_directory(one)]
        self._note(growing)
        try:
            yield
        finally:
            self._note(growing)

    def _note(self, growing: list[str]) -> None:
        for above in growing:
            self._grown[above] = object()

    def forget(self, topic_directory: str) -> None:
        """The topic is deleted."""
        self._grown.pop(topic_directory, None)
        self._synced.pop(topic_directory, None)

    def sync(self, directory: str) -> None:
        """Once this is done, a power loss takes none of those in which ``directory`` is, nor itself."""
        for _, above in _steps(directory):
            grown = self._grown.get(above)
            if above not in self._synced or self._synced[above] is not grown:
                self._disk.sync_directory(above)
                self._synced[above] = grown


def _steps(directory: str) -> Iterator[tuple[str, str]]:
    """Each directory with the one that it is in."""
    for _ in range(DIRECTORIES_ABOVE):
        above = os.path.dirname(directory)
        yield directory, above
        directory = above
