"""What a disk does when the process has too many files open."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from kproto.disk import NO_DATA, Buffer, Disk, SyncError, poisoning
from tests.descriptors import NoDescriptor, no_descriptor

__all__ = ["no_descriptor"]


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


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_whatever_a_sync_fails_with_it_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Thin volumes say that there is no room then. A second try has nothing left to write, and works."""

    def fail(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fdatasync", fail)
    monkeypatch.setattr(os, "fsync", fail)
    (tmp_path / "file").write_bytes(b"x")
    for sync, path in ((Disk().sync_file, tmp_path / "file"), (Disk().sync_directory, tmp_path)):
        with pytest.raises(SyncError) as caught:
            sync(str(path))
        assert caught.value.errno == errno.EIO


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


def test_so_does_a_sync_of_a_directory(tmp_path: Path, no_descriptor: NoDescriptor) -> None:
    """A journal file, or a copy, whose name is synced for the first time: that ended the process."""
    no_descriptor.begins()
    Disk().sync_directory(str(tmp_path))
    assert no_descriptor.waited == 1


def test_a_directory_that_goes_as_it_is_made_again_is_no_failed_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody deletes it between the moment that mkdir finds it and the look at what is there."""
    path, poisoned = tmp_path / "topic", list[str]()
    mkdir = os.mkdir

    def find_and_delete(name: str, mode: int = 0o777) -> None:
        try:
            mkdir(name, mode)
        except FileExistsError:
            os.rmdir(name)
            raise

    monkeypatch.setattr(os, "mkdir", find_and_delete)
    path.mkdir()
    with pytest.raises(FileExistsError), poisoning(poisoned.append, "topic"):
        Disk().makedirs(str(path))
    assert not poisoned
    with pytest.raises(OSError, match="Input/output"), poisoning(poisoned.append, "topic"):
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    assert poisoned == ["topic: [Errno 5] Input/output error"]


def test_a_file_that_was_replaced_is_not_said_to_be_the_old_one(
    tmp_path: Path, no_descriptor: NoDescriptor
) -> None:
    """Its sync lacks a descriptor: a checkpoint went on behind the end of the old file."""

    class Late(Disk):
        def rename(self, source: str, target: str) -> None:
            super().rename(source, target)
            no_descriptor.begins()

    path = tmp_path / "state"
    path.write_bytes(b"old")
    Late().write_atomically(str(path), b"new")
    assert path.read_bytes() == b"new"
    assert no_descriptor.waited == 1


def test_what_cannot_be_written_beside_a_file_does_not_stay_there(tmp_path: Path) -> None:
    """A full disk had less room for the rest, until somebody tried again."""

    class Full(Disk):
        def pwritev(self, fd: int, buffers: Sequence[Buffer], position: int, length: int = -1) -> int:
            super().pwritev(fd, [b"a part"], position, length)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "state"
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="No space"):
        Full().write_atomically(str(path), b"new")
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == b"old"


def test_an_open_file_that_is_deleted(tmp_path: Path) -> None:
    disk, path = Disk(), str(tmp_path / "file")
    fd = disk.open(path, create=True)
    disk.rename(path, path + ".new")
    assert not disk.is_deleted(fd)
    disk.unlink(path + ".new")
    assert disk.is_deleted(fd)
    disk.close(fd)


def test_what_is_dropped_from_the_cache_is_still_in_the_file(tmp_path: Path) -> None:
    disk, path = Disk(), str(tmp_path / "file")
    fd = disk.open(path, create=True)
    disk.pwritev(fd, [b"synced" * 10_000], 0)
    disk.datasync(fd)
    disk.pwritev(fd, [b"not yet"], 60_000)
    disk.drop_cached(fd)
    assert disk.pread(fd, 60_007, 0) == b"synced" * 10_000 + b"not yet"
    disk.close(fd)


def is_cached(fd: int) -> bool:
    try:
        os.preadv(fd, [bytearray(4096)], 0, os.RWF_NOWAIT)
    except OSError as error:
        return error.errno != errno.EAGAIN
    return True


def test_what_is_dropped_is_not_cached(tmp_path: Path) -> None:
    """As far as the file system follows advice: one in memory does not."""
    disk = Disk()
    files = [disk.open(str(tmp_path / name), create=True) for name in ("advised", "dropped")]
    for fd in files:
        disk.pwritev(fd, [b"synced" * 10_000], 0)
        disk.datasync(fd)
        assert is_cached(fd)
    os.posix_fadvise(files[0], 0, 0, os.POSIX_FADV_DONTNEED)
    disk.drop_cached(files[1])
    assert is_cached(files[1]) == is_cached(files[0])
    for fd in files:
        disk.close(fd)


def test_a_file_that_cannot_be_advised_is_no_error() -> None:
    reader, writer = os.pipe()
    with pytest.raises(OSError, match="seek"):
        os.posix_fadvise(reader, 0, 0, os.POSIX_FADV_DONTNEED)
    Disk().drop_cached(reader)
    os.close(reader)
    os.close(writer)


def test_space_that_was_only_reserved_is_no_data(tmp_path: Path) -> None:
    disk = Disk()
    fd = disk.open(str(tmp_path / "file"), create=True)
    try:
        disk.allocate(fd, 0, 1 << 20)
        disk.pwritev(fd, [b"x"], 300_000)
        assert 0 <= disk.next_data(fd, 0) <= 300_000
        assert disk.next_data(fd, 300_000) == 300_000
        assert disk.next_data(fd, 1 << 20) == NO_DATA
    finally:
        disk.close(fd)


def test_where_nothing_can_be_reserved_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As glibc does; the first append ended the broker where the C library does not."""

    def refuse(*_: int) -> None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    disk, path = Disk(), tmp_path / "file"
    path.write_bytes(b"x" * 5_000)
    fd = disk.open(str(path))
    try:
        disk.allocate(fd, 4_000, 3 << 20)
        assert path.read_bytes() == b"x" * 5_000 + bytes((3 << 20) - 1_000)
        assert path.stat().st_blocks * 512 >= 3 << 20, "a full disk would stop the writes to come"
        disk.allocate(fd, 0, 4_000)
        assert path.stat().st_size == (3 << 20) + 4_000
    finally:
        disk.close(fd)
