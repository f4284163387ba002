"""Making and deleting the files of copies: room is reserved first, and files that are not needed any more are
kept for the next copies.

A spare has warm pages and reserved space, which a new file would have to get first. What is deleted gets
another name at once and goes in the background.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from errno import EIO
from functools import partial
from typing import TYPE_CHECKING, Final

from kproto.disk import rest_of_page, set_aside
from kproto.replica.copies import NO_FILE, Copy
from kproto.replica.rules import Presence
from kproto.replica.stored_file import SUFFIX

if TYPE_CHECKING:
    from kproto.disk import Buffer, Disk
    from kproto.vlog.worker import Works

SPARE_PREFIX: Final = "spare-"
DOOMED_PREFIX: Final = "doomed-"
SPARES_KEPT: Final = 2
SPARE_BYTES: Final = 1 << 20
"""Smaller files are not worth keeping for the next copy."""


class CopyFiles:
    """See the module's text. ``unique`` is in the names of spares, so that no two processes use the same
    ones; ``poison(reason)`` is called when a deletion fails (rule 35)."""

    def __init__(
        self, directory: str, disk: Disk, background: Works, unique: str, poison: Callable[[str], object]
    ) -> None:
        self.directory = directory
        self.disk = disk
        self._background = background
        self._unique = unique
        self._poison = poison
        self._numbered = 0
        self._spares: list[tuple[str, int, int]] = []
        """Path, descriptor and bytes of files whose pages are warm and whose space is reserved."""

    def at(self, name: str) -> str:
        """The path of ``name``."""
        return os.path.join(self.directory, name)

    def make(self, path: str, size: int, pieces: Sequence[Buffer], length: int) -> tuple[int, int]:
        """A file with ``pieces`` (``length`` bytes) at its begin and room for ``size``: descriptor and
        reserved bytes. Raises OSError, and leaves nothing behind then."""
        source = path
        if self._spares:
            source, fd, reserved = self._spares.pop()
        else:
            fd, reserved = self.disk.open(path, create=True), 0
        try:
            if reserved < size:
                self.disk.allocate(fd, reserved, size - reserved)
                reserved = size
            rest = rest_of_page(0, length, reserved)
            length += len(rest)
            wrote = self.disk.pwritev(fd, (*pieces, rest), 0, length)
            if wrote != length:
                raise OSError(EIO, f"{wrote} of {length} bytes went out")
            if source != path:
                self.disk.rename(source, path)
        except OSError:
            self.disk.close(fd)
            self.delete(source)
            raise
        return fd, reserved

    def give_up(self, copy: Copy) -> None:
        """Delete the file of ``copy``, or keep it for the next one: not where the medium failed once."""
        sound = copy.fd != NO_FILE and copy.presence is Presence.READABLE and not copy.proven
        if sound and len(self._spares) < SPARES_KEPT and copy.reserved >= SPARE_BYTES:
            spare = self._new_name(SPARE_PREFIX)
            with contextlib.suppress(OSError):  # a full disk may have no room for another name
                self.disk.rename(copy.path, spare)
                self._spares.append((spare, copy.fd, copy.reserved))
                copy.fd = NO_FILE
                return
        self.close(copy)
        self.delete(copy.path)

    def close(self, copy: Copy) -> None:
        """Close the file of ``copy``, if it is open."""
        if copy.fd != NO_FILE:
            self.disk.close(copy.fd)
            copy.fd = NO_FILE

    def close_spares(self) -> None:
        """The end of the process; the next one deletes them."""
        for _, fd, _ in self._spares:
            self.disk.close(fd)
        self._spares.clear()

    def delete(self, path: str) -> None:
        """In the background, because giving back the pages of a large file takes 10 ms; the name is free at
        once."""
        doomed = self._new_name(DOOMED_PREFIX)
        try:
            there = set_aside(self.disk, path, doomed)
        except FileNotFoundError:
            return
        except OSError as error:
            self._poison(f"{path}: {error}")
            return
        if there:
            self._background.submit(partial(self.disk.unlink, doomed), self._deleted)

    def _deleted(self, error: BaseException | None) -> None:
        if error is not None and not isinstance(error, FileNotFoundError):
            self._poison(f"deleting a copy: {error}")

    def _new_name(self, prefix: str) -> str:
        """A name that no earlier process has used for a file that may still be there."""
        self._numbered += 1
        return self.at(f"{prefix}{self._unique}-{self._numbered}{SUFFIX}")
