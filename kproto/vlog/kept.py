"""Journal files that stay though their chunks are in segment files: of virtual segments of which live brokers
have no copy, or too few (rules 17, 18b). This broker, once it is another process, reads them like copies, and
others make theirs from them; then they go.

They are named apart from the journal, so that no start looks for chunks in them, and do not count for its
limit: a broker that is alone for long goes on.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from kproto.vlog.journal import SUFFIX

if TYPE_CHECKING:
    from kproto.disk import Disk

log = logging.getLogger(__name__)

KEPT: Final = ".kept"
"""Behind the name of the journal file."""
HEADLESS: Final = ".headless"
"""The same, of one that a start found without its header, or in the place of one that somebody deleted. It
tells no more than that the owner began the virtual segment: who finds neither takes it for one that was never
begun (18b)."""

EMPTIED: Final = 31
"""Bytes of one of these that had no frame when the power was lost, so that there never was one where frames
wait until the header is synced. Any other size, nothing too, is of one that was begun: whoever truncates a
file, or has no room for what belongs into it, leaves none, or what `echo` writes; and less than a header."""

LacksCopies = Callable[[int, int, int], bool]
"""Whether the store has a virtual segment, by owner epoch, virtual log and number, and live brokers have
fewer copies of it than there should be before its journal file goes."""


def vseg_of_name(name: str) -> tuple[int, int, int] | None:
    """Owner epoch, virtual log and number of a journal file, kept or not; None for other names."""
    return _vseg_of(name.removesuffix(KEPT))


def vseg_of_headless(name: str) -> tuple[int, int, int] | None:
    """The same of one without its header; None for all that is not called so."""
    return _vseg_of(name.removesuffix(HEADLESS)) if name.endswith(HEADLESS) else None


def _vseg_of(name: str) -> tuple[int, int, int] | None:
    try:
        owner_epoch, vlog, vseg = name.removesuffix(SUFFIX).split("-")
        return int(owner_epoch, 16), int(vlog, 16), int(vseg, 16)
    except ValueError:
        return None


class Kept:
    """See the module's text. ``remove(path)`` deletes a file in the background."""

    __slots__ = ("_disk", "_files", "_remove")

    def __init__(self, disk: Disk, directory: str, remove: Callable[[str], object]) -> None:
        self._disk = disk
        self._remove = remove
        self._files: dict[str, tuple[int, int, int]] = {}
        for name in sorted(disk.listdir(directory)):
            vseg = vseg_of_name(name)
            if name.endswith(KEPT) and vseg is not None:
                self._files[os.path.join(directory, name)] = vseg

    def __len__(self) -> int:
        return len(self._files)

    def keep(self, path: str, vseg: tuple[int, int, int]) -> None:
        """Keep the closed journal file of ``vseg`` at ``path``. OSError passes through. The first one is told
        of: others are likely to follow."""
        self._disk.rename(path, path + KEPT)
        level = logging.INFO if self._files else logging.WARNING
        log.log(level, "%s stays until enough brokers have copies of its virtual segment", path)
        self._files[path + KEPT] = vseg

    def sweep(self, lacks_copies: LacksCopies) -> None:
        """Let those go that others have copies of by now, or that nobody needs."""
        for path in [path for path, vseg in self._files.items() if not lacks_copies(*vseg)]:
            del self._files[path]
            self._remove(path)
