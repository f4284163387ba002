"""The file system as a parameter: every byte kproto writes goes through a :class:`Disk`.

The class is a thin layer over ``os``; tests subclass it to inject full disks, failing syncs and torn
writes. It adds no buffering. May be imported from anywhere; imports nothing of kproto.
"""

import contextlib
import errno
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any, Final, Protocol

Buffer = bytes | bytearray | memoryview

IOV_MAX: Final = 1024
NO_DESCRIPTOR: Final = frozenset({errno.EMFILE, errno.ENFILE})
"""Errors of a file that could not be opened because too many are."""
NO_SPACE: Final = NO_DESCRIPTOR | {errno.ENOSPC, errno.EDQUOT}
"""No room, or no descriptor for another file: nothing is lost, and it may be otherwise a second later."""
NOT_FAILED: Final = NO_SPACE | {errno.ENOENT, errno.EEXIST}
"""Or a file went with its partition, or its directory just as it was made."""
PATIENCE_S: Final = 60.0
RETRY_S: Final = 0.05
BESIDE: Final = ".tmp"
"""Behind the name of a file that is to take the place of another one."""
PAGE: Final = 4096
"""What the kernel keeps of files in memory, and reads from them, at least."""
_ZEROS: Final = memoryview(bytes(PAGE))
_ZEROS_BYTES: Final = 1 << 20
"""Written at once."""
_KEEP_SIZE: Final = 1
NO_DATA: Final = 1 << 62
"""Behind the end of every file."""


def rest_of_page(begin: int, length: int, limit: int) -> memoryview:
    """Zeros for behind a write of ``length`` bytes at ``begin`` into a file that was used before: to the end
    of the page in which the next one begins, or to ``limit``, the file size; none when it stays inside its
    page, whose rest the write before has zeroed.

    When memory has not kept such a page, the kernel reads it from the disk before a part of it is written,
    and whoever writes waits: 0.1 s and more while the disk is busy. And whoever reads the file knows that
    what follows in the page was begun, whatever it is.
    """
    end = begin + length
    if -begin % PAGE > length:
        return _ZEROS[:0]
    return _ZEROS[: min(PAGE - end % PAGE, limit - end)]


class SyncError(OSError):
    """A sync failed: what it was for may be gone with the power, whatever the page cache shows (rule 35). Its
    number is EIO: that there is no room, as thin volumes say, is found out too late for another try."""


class Disk:
    """File operations used by the storage packages. Errors are the operating system's ``OSError``."""

    _sync_failed = False
    """A sync has failed, in whatever thread, and whether or not anybody waits for its answer still: the
    kernel tells that once, and the next sync of the same file, or directory, works. So none does any more."""
    on_failed_sync: Callable[[], object] = int
    """Called when one fails, in its thread: this process may end before another one could."""

    def open(self, path: str, *, create: bool = False, write: bool = True) -> int:
        """Open ``path`` and return a descriptor; ``create`` makes it when missing."""
        flags = (os.O_RDWR if write else os.O_RDONLY) | os.O_CLOEXEC
        return os.open(path, flags | os.O_CREAT if create else flags, 0o644)

    def close(self, fd: int) -> None:
        os.close(fd)

    def pwritev(self, fd: int, buffers: Sequence[Buffer], position: int, length: int = -1) -> int:
        """Write all ``buffers`` at ``position``; loops over short writes. Returns bytes written.

        ``length``, their sum, spares the count when one system call takes everything.
        """
        total = 0
        if length >= 0 and len(buffers) <= IOV_MAX:
            total = os.pwritev(fd, buffers, position)
            if total == length:
                return total
            buffers = _after(list(buffers), total)
        pending = list(buffers)
        while pending:
            wrote = os.pwritev(fd, pending[:IOV_MAX], position + total)
            total += wrote
            pending = _after(pending, wrote)
        return total

    def pread(self, fd: int, length: int, position: int) -> bytes:
        """Read up to ``length`` bytes; shorter only at the end of the file."""
        return os.pread(fd, length, position)

    def next_data(self, fd: int, position: int) -> int:
        """The first place from ``position`` on that somebody may have written, whatever is there: space that
        was only reserved is skipped where the file system can tell. A large number when there is none."""
        try:
            return os.lseek(fd, position, os.SEEK_DATA)
        except OSError as error:
            return NO_DATA if error.errno == errno.ENXIO else position

    def read_nothing_ahead(self, fd: int) -> None:
        """Reads of ``fd`` bring nothing into memory but what they ask for: what else they touch of space that
        was only reserved would be data for `next_data`, from then on."""
        with contextlib.suppress(OSError):
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)

    def allocate(self, fd: int, position: int, length: int) -> None:
        """Reserve space so that later writes inside the range cannot meet a full disk. Where a file system
        knows no reserving, the C library writes the blocks; Alpine Linux's does not."""
        try:
            os.posix_fallocate(fd, position, length)
        except OSError as error:
            if error.errno != errno.EOPNOTSUPP:
                raise
            _write_zeros(fd, max(position, os.fstat(fd).st_size), position + length)

    def allocate_ahead(self, path: str, position: int, length: int) -> None:
        """Take blocks for later writes, beyond the file's end, without moving it. Where that is impossible
        nothing happens: it only makes the writes cheaper. In a thread: while the disk is busy it takes 0.2 s.
        """
        with contextlib.suppress(OSError):
            fd = self.open(path)
            try:
                _fallocate()(fd, _KEEP_SIZE, position, length)
            finally:
                self.close(fd)

    def truncate(self, fd: int, length: int) -> None:
        os.ftruncate(fd, length)

    def datasync(self, fd: int) -> None:
        """``fdatasync``; releases the GIL. A failure, `SyncError`, is never retried (rule 35)."""
        self._sync_once(os.fdatasync, fd)

    def _sync_once(self, sync: Callable[[int], object], fd: int, path: str | None = None) -> None:
        """Do it. An error of another thread counts though it came meanwhile."""
        try:
            sync(fd)
        except OSError as error:
            self._sync_failed = True
            self.on_failed_sync()
            raise SyncError(errno.EIO, error.strerror, path) from error
        if self._sync_failed:
            raise SyncError(errno.EIO, "a sync failed before", path)

    def sync_file(self, path: str) -> None:
        """`datasync` of a file that is not open; in a thread. OSError passes through, but for want of a
        descriptor, which is no failed sync, it waits."""
        fd = self.open_patiently(path)
        try:
            self.datasync(fd)
        finally:
            self.close(fd)

    def open_patiently(self, path: str, *, write: bool = True) -> int:
        """`open` in a thread: while there is no descriptor to be had, it waits. A file that could not be
        opened for want of one is neither damaged nor unsynced."""
        return _patiently(partial(self.open, path, write=write))

    def drop_cached(self, fd: int) -> None:
        """Nobody is expected to read the file soon: the memory that caches its synced bytes is free for
        others. In a thread: 64 MB take 10 ms. A file system that does not take the advice is no error."""
        with contextlib.suppress(OSError):
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)

    def forget_cached(self, directory: str) -> None:
        """`drop_cached` for every file below it: what is read next is what the medium has."""
        for folder, _, names in os.walk(directory):
            for name in names:
                with contextlib.suppress(OSError):
                    fd = self.open(os.path.join(folder, name), write=False)
                    try:
                        self.drop_cached(fd)
                    finally:
                        self.close(fd)

    def size(self, fd: int) -> int:
        return os.fstat(fd).st_size

    def is_deleted(self, fd: int) -> bool:
        """Somebody deleted the open file: what is written to it is gone with the descriptor."""
        return os.fstat(fd).st_nlink == 0

    def rename(self, source: str, target: str) -> None:
        os.replace(source, target)

    def unlink(self, path: str) -> None:
        os.unlink(path)

    def makedirs(self, path: str) -> None:
        os.makedirs(path, exist_ok=True)

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(path)

    def listdir(self, path: str) -> list[str]:
        """Names in ``path``, unsorted; an absent directory is empty."""
        try:
            return os.listdir(path)
        except FileNotFoundError:
            return []

    def sync_directory(self, path: str) -> None:
        """Make creations, renames and deletions in ``path`` survive a power loss (rule 36). OSError passes
        through, but for want of a descriptor it waits, as `sync_file` does."""
        fd = _patiently(partial(os.open, path, os.O_RDONLY | os.O_DIRECTORY))
        try:
            self._sync_once(os.fsync, fd, path)
        finally:
            os.close(fd)

    def write_atomically(self, path: str, content: bytes, *, sync: bool = True) -> None:
        """Replace a small state file: temporary file, fsync, rename, fsync of the directory (rule 36).
        Without ``sync`` a power loss may take it."""
        self.write_beside(path, content, sync=sync)
        self.take_beside(path)
        if sync:
            self.sync_directory(os.path.dirname(path) or ".")

    def write_beside(self, path: str, content: bytes, *, sync: bool = True) -> None:
        """The first half of `write_atomically`; nobody sees it. When it fails nothing of it stays."""
        fd = self.open(path + BESIDE, create=True)
        try:
            self.truncate(fd, 0)
            self.pwritev(fd, [content], 0)
            if sync:
                self.datasync(fd)
        except OSError:
            self.drop_beside(path)
            raise
        finally:
            self.close(fd)

    def drop_beside(self, path: str) -> None:
        """What was written beside ``path`` is of no use; a full disk needs the room."""
        with contextlib.suppress(OSError):
            self.unlink(path + BESIDE)

    def take_beside(self, path: str) -> None:
        """What was written beside ``path`` takes its place, in a directory that is not synced yet."""
        self.rename(path + BESIDE, path)


class Poisonable(Protocol):
    """Whose storage may fail (rule 35): `VlogManager`, as others see it."""

    poisoned: str | None
    """Why; None as long as it has not."""

    def poison(self, reason: str) -> None: ...


@contextlib.contextmanager
def poisoning(poison: Callable[[str], object], what: str) -> Iterator[None]:
    """What fails in here is poison (rule 35), unless its error is one of `NOT_FAILED`; it passes."""
    try:
        yield
    except OSError as error:
        if error.errno not in NOT_FAILED:
            poison(f"{what}: {error}")
        raise


def set_aside(disk: Disk, path: str, aside: str) -> bool:
    """Give a file that is to go another name, so that its own is free; a full disk may have no room for one:
    then it is deleted at once. Whether it is there as ``aside``. OSError passes through."""
    try:
        disk.rename(path, aside)
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise
        disk.unlink(path)
        return False
    return True


def _patiently(attempt: Callable[[], int]) -> int:
    """The descriptor that ``attempt`` opens; while there is none to be had, it waits."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            return attempt()
        except OSError as error:
            if error.errno not in NO_DESCRIPTOR or time.monotonic() >= until:
                raise
        time.sleep(RETRY_S)


def _write_zeros(fd: int, begin: int, end: int) -> None:
    """Of the bytes from ``begin`` to ``end``. OSError leaves some of them written."""
    while begin < end:
        begin += os.pwrite(fd, bytes(min(end - begin, _ZEROS_BYTES)), begin)


@cache
def _fallocate() -> Callable[[int, int, int, int], Any]:
    """Linux's fallocate, whose flags Python does not offer."""
    import ctypes

    library = ctypes.CDLL(None)
    function = getattr(library, "fallocate64", None) or getattr(library, "fallocate", None)
    if function is None:
        return lambda *_: -1
    function.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    return function  # type: ignore[no-any-return]


def _after(buffers: list[Buffer], wrote: int) -> list[Buffer]:
    """The buffers that remain once the first ``wrote`` bytes are out."""
    for i, buffer in enumerate(buffers):
        size = len(buffer)
        if wrote < size:
            rest: list[Buffer] = [memoryview(buffer)[wrote:]] if wrote else [buffer]
            return rest + buffers[i + 1 :]
        wrote -= size
    return []
