"""A little disk space set aside, given up when the disk is full: deleting topics must not need what it frees.

A full disk stops appends, but a topic can be deleted, and a broker restarted, only by writing metadata.
"""

from __future__ import annotations

import os
from typing import Final

from kproto.disk import Disk

RESERVE_BYTES: Final = 1 << 20


class Reserve:
    """One file of ``RESERVE_BYTES`` beside the metadata, never written to; used by one thread."""

    __slots__ = ("_held", "_path")

    def __init__(self, path: str) -> None:
        self._path = path
        self._held = False

    def hold(self) -> None:
        """Set the space aside if it is not yet; a disk without room for it is no error."""
        if self._held:
            return
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError:
            return
        try:
            Disk().allocate(file, 0, RESERVE_BYTES)
            self._held = True
        except OSError:
            os.unlink(self._path)
        finally:
            os.close(file)

    def give_up(self) -> bool:
        """Free the space; whether there was any (left by an earlier process, too)."""
        self._held = False
        try:
            os.unlink(self._path)
        except OSError:
            return False
        return True
