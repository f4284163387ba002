"""What a disk does when the process has too many files open."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kproto.disk import Disk


class Crowded(Disk):
    """The next ``refusals`` files cannot be opened."""

    __slots__ = ("error", "refusals", "synced")

    def __init__(self, refusals: int, error: int) -> None:
        self.refusals = refusals
        self.error = error
        self.synced = 0

    def open(self, path: str, *, create: bool = False, write: bool = True) -> int:
        if self.refusals:
            self.refusals -= 1
            raise OSError(self.error, os.strerror(self.error))
        return super().open(path, create=create, write=write)

    def datasync(self, fd: int) -> None:
        self.synced += 1


def test_a_sync_waits_for_a_descriptor(tmp_path: Path) -> None:
    """A sync that failed ends the process (rule 35); one that could not begin is none."""
    path = tmp_path / "file"
    path.write_bytes(b"x")
    disk = Crowded(3, errno.EMFILE)
    disk.sync_file(str(path))
    assert (disk.refusals, disk.synced) == (0, 1)


def test_any_other_error_of_a_sync_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x")
    disk = Crowded(3, errno.EIO)
    with pytest.raises(OSError, match="Input/output"):
        disk.sync_file(str(path))
    assert (disk.refusals, disk.synced) == (2, 0)
