"""The owner's copy of its virtual logs: one file per virtual segment, space reserved first, files recycled.

Files live in one directory. ``<owner epoch>-<vlog>-<vseg>.journal`` (hexadecimal) are in use,
``spare-<n>.journal`` wait. A segment whose chunks are all in synced segment files gives its file back; the
next segment takes it over by rename, so that its page-cache pages are warm (a cold page costs several times
a warm one) and its space is reserved already. The contents are not erased: a frame belongs to a segment only
by its identity and chain (see ``frame``). Where memory is scarce those pages are cold all the same;
so what is written goes on with zeros to the end of the page in which the next frame begins (`rest_of_page`).

A power loss may take renames back that were not synced, and what was written since only in part. A file of a
class that syncs would then be damaged, under its old name, where a start expects no damage (rule 24c). So it
becomes a spare when the directory is synced, and spares of an earlier process when its start has done that.
The other classes wait for no sync: of their files a start after a power loss expects nothing.

A file that is to be deleted is renamed first, at once: the files of a virtual log must go by name
in their order, whatever becomes of the deletion in a thread. A start that finds an older one and lacks one
behind it takes that for lost (rule 24c), and is refused though all of it is in segment files.

The files have ``limit`` bytes at most: `reserve` says no, and the cleaner must make room. When one may be
beyond it, says `space`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from kproto.check import check
from kproto.disk import rest_of_page, set_aside
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import FILE_HEADER_SIZE, encode_file_header

if TYPE_CHECKING:
    from kproto.disk import Buffer, Disk

log = logging.getLogger(__name__)

SUFFIX: Final = ".journal"
SPARE_PREFIX: Final = "spare-"
DROPPED: Final = ".dropped"
"""Behind the name of a file of an earlier process that is about to be deleted. It is no spare: most of these
were cut to what they contain, and two small ones would take the places of files of the usual size."""
SPARES_KEPT: Final = 2


def file_name(owner_epoch: int, vlog: int, vseg: int) -> str:
    """Name of the file of a virtual segment."""
    return f"{owner_epoch:016x}-{vlog:016x}-{vseg:08x}{SUFFIX}"


class JournalFile:
    """One open file. ``size`` bytes are reserved; frames go at ``FILE_HEADER_SIZE + position - start``."""

    __slots__ = ("_disk", "base", "chain", "fd", "header", "named", "path", "pins", "policy", "size")

    def __init__(self, disk: Disk, path: str, fd: int, size: int) -> None:
        self._disk = disk
        self.path = path
        self.fd = fd
        self.size = size
        self.base = 0
        """File position of vlog position 0 (negative once the vlog is longer than a file)."""
        self.chain = 0
        """What the first frame continues."""
        self.header = b""
        """The file header, as it is in every copy."""
        self.named = False
        """The directory entry is on disk (rule 36)."""
        self.policy: int = FlushPolicy.MEMORY
        """The class that it was last used for."""
        self.pins = 0
        """Threads that are using the descriptor; the file must stay open meanwhile."""

    def write(self, pieces: Sequence[Buffer], position: int, length: int, *, last: bool = True) -> None:
        """Write a frame, or a part of one, at vlog ``position``; OSError leaves it unwritten as far as
        anybody may know. ``last``: nothing that counts is behind it, so that zeros may follow."""
        begin = self.base + position
        if last and (rest := rest_of_page(begin, length, self.size)):
            pieces = (*pieces, rest)
            length += len(rest)
        wrote = self._disk.pwritev(self.fd, pieces, begin, length)
        if wrote != length:
            check(False, f"frame at {position} of {self.path}: {wrote} of {length} bytes went out")

    def sync(self) -> None:
        """fdatasync of the file and, the first time, of its directory entry. Called in a thread. OSError is
        poison."""
        self._disk.datasync(self.fd)
        if not self.named:
            self._disk.sync_directory(os.path.dirname(self.path))
            self.named = True

    @property
    def deleted(self) -> bool:
        """Somebody else deleted it: no start would find what is acknowledged because it is there."""
        return self._disk.is_deleted(self.fd)

    def close(self) -> None:
        self._disk.close(self.fd)


class Journal:
    """The files of all virtual logs of one broker process. All calls on the loop, except `create`."""

    __slots__ = (
        "_boot_id",
        "_directory",
        "_disk",
        "_numbered",
        "_settling",
        "bytes",
        "inherited",
        "limit",
        "owner_epoch",
        "remove",
        "spares",
        "sync_names",
    )

    def __init__(self, disk: Disk, directory: str, owner_epoch: int, boot_id: bytes, limit: int) -> None:
        self._disk = disk
        self._directory = directory
        self._boot_id = boot_id
        self._numbered = 0
        self.owner_epoch = owner_epoch
        self.limit = limit
        self.bytes = 0
        """Bytes of all files: in use, spare, being created, and left by earlier processes until released."""
        self.inherited = 0
        """How many of them earlier processes left."""
        self.spares: list[JournalFile] = []
        self.remove: Callable[[str, int], object] = self.remove_now
        """Deletes a closed file, then stops counting its bytes. To be replaced by something that does it in a
        thread: giving back the pages of one takes 10 ms."""
        self._settling: list[JournalFile] = []
        """They are spares when the directory is synced."""
        self.sync_names: Callable[[Callable[[], object]], object] = self._sync_names_now
        """Syncs the directory, then calls. To be replaced by something that does it in a thread."""
        disk.makedirs(directory)
        disk.sync_directory(os.path.dirname(directory) or ".")  # else all in it may go with it (36)
        for name in disk.listdir(directory):
            if name.startswith(SPARE_PREFIX):
                self._adopt(os.path.join(directory, name))
            elif name.endswith(DROPPED):
                disk.unlink(os.path.join(directory, name))
        if self.spares:
            disk.sync_directory(directory)

    def _adopt(self, path: str) -> None:
        """Keep a spare file of an earlier process, if there is use for it."""
        fd = self._disk.open(path)
        size = self._disk.size(fd)
        if len(self.spares) < SPARES_KEPT and size > 0 and self.bytes + size <= self.limit // 2:
            self.bytes += size
            self.spares.append(JournalFile(self._disk, path, fd, size))
        else:
            self._disk.close(fd)
            self._disk.unlink(path)

    @property
    def directory(self) -> str:
        """Where the files are."""
        return self._directory

    def reserve(self, size: int, beyond: bool = False) -> bool:
        """Count ``size`` bytes for a file about to be created; False when the limit does not allow it.

        An eighth of the limit is kept back for the next process: it must be able to write before it has
        brought what this one leaves behind into segment files. ``beyond``: the limit does not count.
        """
        most = self.limit - (0 if self.inherited else self.limit // 8)
        if not beyond and self.bytes and self.bytes + size > most:
            return False
        self.bytes += size
        return True

    def unreserve(self, size: int) -> None:
        """The file was not created, or is gone."""
        self.bytes -= size
        check(self.bytes >= 0, "the journal counts fewer than zero bytes")

    def new_name(self) -> str:
        """Path of the next spare file."""
        self._numbered += 1
        return os.path.join(
            self._directory, f"{SPARE_PREFIX}{self.owner_epoch:x}-{self._numbered:06d}{SUFFIX}"
        )

    def create(self, path: str, size: int) -> JournalFile:
        """Make a file with its space reserved; may run in a thread. OSError (ENOSPC) leaves nothing
        behind."""
        fd = self._disk.open(path, create=True)
        try:
            self._disk.allocate(fd, 0, size)
        except OSError:
            self._disk.close(fd)
            self._disk.unlink(path)
            raise
        return JournalFile(self._disk, path, fd, size)

    def acquire(self, size: int) -> JournalFile | None:
        """A spare file of at least ``size`` bytes, None when there is none."""
        for i, spare in enumerate(self.spares):
            if spare.size >= size:
                return self.spares.pop(i)
        return None

    def start(self, file: JournalFile, vlog: int, vseg: int, start: int, copies: int, policy: int) -> None:
        """Make ``file`` the journal of a vseg that begins at vlog position ``start``."""
        path = os.path.join(self._directory, file_name(self.owner_epoch, vlog, vseg))
        header, chain = encode_file_header(
            vlog, self.owner_epoch, vseg, start, file.size, copies, policy, self._boot_id
        )
        self._disk.pwritev(file.fd, [header, rest_of_page(0, len(header), file.size)], 0)
        self._disk.rename(file.path, path)
        file.path = path
        file.base = FILE_HEADER_SIZE - start
        file.chain = chain
        file.header = header
        file.named = False
        file.policy = policy

    def discard(self, file: JournalFile, counted: int) -> None:
        """Close and delete a file; ``counted`` bytes of it are counted."""
        file.close()
        self.remove(file.path, counted)

    def remove_now(self, path: str, counted: int) -> None:
        """Delete a closed file and stop counting its bytes. At the end of the process, when nothing of it is
        needed: one that somebody else deleted does not spoil a clean stop."""
        try:
            self._disk.unlink(path)
        except FileNotFoundError:
            log.error("%s is gone: somebody else deleted it", path)
        self.unreserve(counted)

    def give_back(self, file: JournalFile) -> None:
        """No chunk of ``file`` is needed any more: keep it as a spare, or delete it."""
        path = self.new_name()
        if not set_aside(self._disk, file.path, path):
            file.close()
            self.unreserve(file.size)
            return
        file.path = path
        if len(self.spares) + len(self._settling) >= SPARES_KEPT or self.bytes > self.limit:
            self.discard(file, file.size)
            return
        if file.policy != FlushPolicy.SYNCED:
            self.spares.append(file)
            return
        self._settling.append(file)
        self.sync_names(partial(self._settled, file))

    def drop(self, path: str, counted: int) -> None:
        """Delete the file of an earlier process that is not needed any more, its name now, so that names go
        in their order; what to think of one that somebody else deleted is up to `remove`."""
        aside = path + DROPPED
        try:
            there = set_aside(self._disk, path, aside)
        except FileNotFoundError:
            aside, there = path, True
        if there:
            self.remove(aside, counted)
        else:
            self.unreserve(counted)

    def _sync_names_now(self, then: Callable[[], object]) -> None:
        self._disk.sync_directory(self._directory)
        then()

    def _settled(self, file: JournalFile) -> None:
        """The directory knows ``file`` as a spare; the journal may be closed by now."""
        if file in self._settling:
            self._settling.remove(file)
            self.spares.append(file)

    def shrink(self) -> bool:
        """Delete one spare file, to make room for one of another size; False when there is none."""
        if not self.spares:
            return False
        file = self.spares.pop()
        self.discard(file, file.size)
        return True

    def close(self) -> None:
        """Close and delete the spares; the files in use belong to their pushers."""
        self.spares += self._settling
        self._settling.clear()
        while self.shrink():
            pass
