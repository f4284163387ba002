"""File systems in memory, one per machine: a kill keeps everything, a power loss what was synced, and by
chance some of the rest, whole or torn.

`SimDisk` is kproto's ``Disk`` on one machine; `SimOs` stands for the ``os`` module where kproto reads files
directly.
"""

from __future__ import annotations

import errno
import io
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from random import Random
from types import SimpleNamespace
from typing import Any

from kproto.disk import NO_DATA, Buffer, Disk, SyncError


class Inode:
    """``data`` may be shorter than ``length``: the rest is zeros that were reserved."""

    __slots__ = ("before", "data", "length", "pending", "unkept")

    def __init__(self) -> None:
        self.data = bytearray()
        self.length = 0
        self.pending: list[tuple[int, bytes | None, bytes, int, int]] = []
        """Since the last sync: position, bytes (None: a change of length), what was there, lengths before."""
        self.unkept: list[tuple[int, int, bytes]] = []
        """Position, length, and what the medium has there: a sync of it failed. What is cached shows what was
        written, no later sync writes it, and it is gone when the memory is needed."""
        self.before = 0
        """Its length when the process began whose sync failed, or that is there now."""

    def write(self, position: int, data: bytes) -> None:
        end = position + len(data)
        if self.unkept:  # over that, a later sync writes again
            self.unkept = [one for one in self.unkept if one[0] >= end or one[0] + one[1] <= position]
        kept, length = self.data, self.length
        filled = len(kept)
        if filled < position:
            kept.extend(bytes(position - filled))
        old = bytes(kept[position:end]) if filled > position else b""
        self.pending.append((position, data, old, filled, length))
        kept[position:end] = data
        if end > length:
            self.length = end

    def resize(self, length: int) -> None:
        self.pending.append((length, None, bytes(self.data[length:]), len(self.data), self.length))
        del self.data[length:]
        self.length = length

    def read(self, position: int, length: int) -> bytes:
        end = min(position + length, self.length)
        with memoryview(self.data) as data:
            found = bytes(data[position:end])
        return found.ljust(end - position, b"\0")

    def sync(self) -> None:
        self.pending.clear()

    def fail_to_sync(self) -> None:
        """As Linux does: the pages count as written."""
        self.unkept += [(at, len(data), old) for at, data, old, *_ in self.pending if data is not None]
        self.pending.clear()

    def forget_cached(self) -> None:
        """Read it from the medium again."""
        unkept, self.unkept = self.unkept, []
        for position, length, old in reversed(unkept):
            end = min(position + length, len(self.data))
            if position < end:
                self.data[position:end] = old[: end - position].ljust(end - position, b"\0")

    def copy(self) -> Inode:
        """Another file with the same in it."""
        other = Inode()
        other.data, other.length = self.data[:], self.length
        return other

    def lose_power(self, random: Random) -> None:
        """Each unsynced write is there, or is not, or in part, whatever the others are."""
        pending, self.pending = self.pending, []
        for position, data, old, filled, length in reversed(pending):
            if data is None:
                self.data[position:] = old
            else:
                self.data[position : position + len(old)] = old
            del self.data[filled:]
            self.length = length
        for position, data, *_ in pending:
            fate = random.random()
            if data is None:
                if fate < 0.5:
                    self.resize(position)
            elif fate < 0.4:
                self.write(position, data)
            elif fate < 0.6:
                self.write(position, data[: random.randrange(len(data) + 1)])
        self.pending.clear()


_Change = tuple[str, str, str, Inode | None, Inode | None]
_Left = tuple[dict[str, dict[str, Inode]], dict[str, list[_Change]], int | None]
"""Folders, changes and room of a machine."""


class Machine:
    """The file system of one node, and the boot that its kernel is in."""

    def __init__(self, node: int, root: str, random: Random) -> None:
        self.node = node
        self.root = root
        self.random = random
        self.boots = 0
        self.folders: dict[str, dict[str, Inode]] = {}
        self.changes: dict[str, list[_Change]] = {}
        """By folder, since its last sync: operation, name, other name, inode, inode that was replaced."""
        self.open_files: dict[int, tuple[Inode, str]] = {}
        self.next_fd = node * 10_000_000
        self.full = False
        self.room: int | None = None
        """Bytes that files can grow by until the disk is full; None: any number."""
        self.fail_next: str | None = None
        self.fail_where = ""
        """The operation that fails is the next one of a path with this in it."""
        self.needed: Callable[[str], bool] = lambda path: False
        """Whether nobody else has what is in a file: it must be readable."""
        self.forgot: Callable[[str], object] = lambda path: None
        """Told of each file that has lost what a failed sync did not write."""
        self.alone: Callable[[], bool] = lambda: False
        """Whether nobody else has something that has backups as a rule: the disk must not fail now."""
        self.slow = 1.0
        self.cut_in: str | None = None
        """The next write of a path with this in it kills who writes, with a part of it done: see `on_cut`."""
        self.on_cut: Callable[[], object] = lambda: None
        self._left: _Left | None = None
        """What there was when it did: whatever else that callback does is done to copies."""
        self.torn: set[Inode] = set()
        """Files that a part of a write is in."""
        self.failures = 0
        self.unreadable: set[Inode] = set()
        """Files that the medium does not give back any more."""
        self.scarce = 0.0
        """Share of files that cannot be opened, because too many are."""
        self.make_folder(root)

    @property
    def boot_id(self) -> str:
        return f"{self.node:08x}-0000-4000-8000-{self.boots + 1:012x}"

    def make_folder(self, path: str) -> None:
        while path not in self.folders and len(path) > 1:
            self.folders[path] = {}
            path = path.rpartition("/")[0]

    def find(self, path: str) -> Inode | None:
        folder, _, name = path.rpartition("/")
        names = self.folders.get(folder)
        return names.get(name) if names is not None else None

    def link(self, path: str, inode: Inode) -> None:
        folder, _, name = path.rpartition("/")
        names = self.folders.get(folder)
        if names is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        names[name] = inode
        self._note(folder, "create", name, "", inode, None)

    def unlink(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        if path in self.folders:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        inode = self.folders.get(folder, {}).pop(name, None)
        if inode is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        self._note(folder, "unlink", name, "", inode, None)
        self.give_back(inode.length)

    def rename(self, source: str, target: str) -> None:
        folder, _, name = source.rpartition("/")
        other, _, new = target.rpartition("/")
        assert folder == other, "kproto renames within a folder only"
        names = self.folders.get(folder, {})
        inode = names.pop(name, None)
        if inode is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), source)
        self._note(folder, "rename", name, new, inode, names.get(new))
        names[new] = inode

    def _note(
        self, folder: str, what: str, name: str, new: str, one: Inode | None, two: Inode | None
    ) -> None:
        self.changes.setdefault(folder, []).append((what, name, new, one, two))

    def sync_folder(self, path: str) -> None:
        self.changes.pop(path, None)

    def begin(self) -> None:
        """A process starts, and finds what there is."""
        for names in self.folders.values():
            for inode in names.values():
                if not inode.unkept:
                    inode.before = inode.length

    def kill(self) -> None:
        """The process is gone, and its descriptors with it; by chance its memory is needed elsewhere."""
        self.open_files.clear()
        self.forget_cached(self.root, 0.5)
        if self._left is not None:
            self.folders, self.changes, self.room = self._left
            self._left = None

    def forget_cached(self, below: str, share: float = 1.0) -> None:
        """What failed syncs did not write is gone, of a ``share`` of files; not of a copy of which there is
        no other: that would be one fault more than topics have copies for."""
        for folder, names in self.folders.items():
            for name, inode in names.items() if folder.startswith(below) else ():
                if not inode.unkept or (share < 1.0 and self.random.random() >= share):
                    continue
                path = f"{folder}/{name}"
                if self.needed(path):
                    inode.unkept.clear()
                    continue
                inode.forget_cached()
                self.forgot(path)

    def lose_power(self) -> None:
        """Of each folder's unsynced changes the first ones stay; of files see `Inode.lose_power`."""
        self.kill()
        self.boots += 1
        random = self.random
        self.forget_cached(self.root)
        for folder, changes in sorted(self.changes.items()):
            names = self.folders[folder]
            for what, name, new, inode, replaced in reversed(changes[random.randrange(len(changes) + 1) :]):
                if what == "create":
                    names.pop(name, None)
                    continue
                assert inode is not None
                names[name] = inode
                if what != "unlink":
                    names.pop(new, None)
                    if replaced is not None:
                        names[new] = replaced
        self.changes.clear()
        for _, names in sorted(self.folders.items()):
            for _, inode in sorted(names.items()):
                inode.lose_power(random)

    def rot(self, inode: Inode, position: int, length: int) -> None:
        """Bits of a file change by themselves, or by a write that was meant for another place."""
        for at in range(position, min(position + length, len(inode.data))):
            inode.data[at] ^= 1 << self.random.randrange(8)

    def wipe(self) -> None:
        self.kill()
        self.folders.clear()
        self.changes.clear()
        self.unreadable.clear()
        self.torn.clear()
        self.make_folder(self.root)

    def trouble(self, operation: str, path: str) -> None:
        """Raise the error that was ordered, once."""
        if self.fail_next == operation and self.fail_where in path and not path.endswith("LOCK"):
            if self.alone() or (operation in ("open", "read") and self.needed(path)):
                return
            self.fail_next = None
            self.failures += 1
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    def spend_descriptor(self, path: str) -> None:
        """A file is to be opened: raise the error when there is no descriptor for it. That is no failure of
        the disk, and nobody may take it for one."""
        if self.scarce and self.random.random() < self.scarce:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), path)

    def is_writing(self, path: str) -> bool:
        """Whether who writes is to be killed now."""
        return self.cut_in is not None and self.cut_in in path

    def cut(self) -> None:
        """Who writes is killed: nothing becomes of what it does until it knows."""
        self.cut_in = None
        self._left = self.folders, self.changes, self.room
        copies: dict[Inode, Inode] = defaultdict(Inode)
        copies.update((one, one.copy()) for names in self.folders.values() for one in names.values())
        self.folders = {
            folder: {name: copies[one] for name, one in names.items()}
            for folder, names in self.folders.items()
        }
        self.changes = {}
        self.open_files = {fd: (copies[one], path) for fd, (one, path) in self.open_files.items()}
        self.on_cut()

    def grow(self, by: int) -> int:
        """A file is to grow by so many bytes: how many of them there is room for. It is taken."""
        if by <= 0:
            return by
        if self.full:
            return 0
        if self.room is None:
            return by
        taken = min(by, self.room)
        self.room -= taken
        return taken

    def give_back(self, size: int) -> None:
        """A file got smaller."""
        if self.room is not None:
            self.room += size


class SimDisk(Disk):
    """kproto's disk on a machine. A path that is not below its root is a mistake."""

    __slots__ = ("machine",)

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def open(self, path: str, *, create: bool = False, write: bool = True) -> int:
        self.machine.spend_descriptor(path)
        return self._open(path, create)

    def open_patiently(self, path: str, *, write: bool = True) -> int:
        """Who waits gets a descriptor."""
        return self._open(path)

    def _open(self, path: str, create: bool = False) -> int:
        machine = self.machine
        if machine.fail_next is not None:
            machine.trouble("open", path)
        inode = machine.find(path)
        if inode is None:
            if not create:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            if machine.full or machine.room == 0:
                raise _no_room(path)
            inode = Inode()
            machine.link(path, inode)
        machine.next_fd += 1
        machine.open_files[machine.next_fd] = (inode, path)
        return machine.next_fd

    def close(self, fd: int) -> None:
        del self.machine.open_files[fd]

    def pwritev(self, fd: int, buffers: Sequence[Buffer], position: int, length: int = -1) -> int:
        machine = self.machine
        inode, path = machine.open_files[fd]
        if machine.fail_next is not None:
            machine.trouble("write", path)
        data = b"".join(buffers)
        size = len(data)
        killed = machine.is_writing(path)
        if killed:
            data = data[: machine.random.randrange(size + 1)]
        more = position + len(data) - inode.length
        lacking = more - machine.grow(more)
        if lacking:  # what there is room for is written
            if lacking < len(data):
                inode.write(position, data[:-lacking])
            raise _no_room(path)
        inode.write(position, data)
        if killed:
            machine.torn.add(inode)
            machine.cut()
        return size

    def pread(self, fd: int, length: int, position: int) -> bytes:
        inode, path = self.machine.open_files[fd]
        if self.machine.fail_next is not None:
            self.machine.trouble("read", path)
        if inode in self.machine.unreadable:
            self.machine.failures += 1
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        return inode.read(position, length)

    def next_data(self, fd: int, position: int) -> int:
        return position if position < len(self.machine.open_files[fd][0].data) else NO_DATA

    def read_nothing_ahead(self, fd: int) -> None:
        """It never does."""

    def allocate(self, fd: int, position: int, length: int) -> None:
        machine = self.machine
        inode, path = machine.open_files[fd]
        if machine.fail_next is not None:
            machine.trouble("allocate", path)
        more = position + length - inode.length
        if machine.full or (machine.room is not None and more > machine.room):
            raise _no_room(path)
        if more > 0:
            machine.grow(more)
            inode.resize(position + length)

    def allocate_ahead(self, path: str, position: int, length: int) -> None:
        """Room is taken when bytes come."""

    def truncate(self, fd: int, length: int) -> None:
        inode, path = self.machine.open_files[fd]
        if self.machine.fail_next is not None:
            self.machine.trouble("truncate", path)
        if length < inode.length:
            self.machine.give_back(inode.length - length)
        inode.resize(length)

    def datasync(self, fd: int) -> None:
        inode, path = self.machine.open_files[fd]
        if self.machine.fail_next is not None:
            try:
                self.machine.trouble("sync", path)
            except OSError as error:
                inode.fail_to_sync()
                raise SyncError(error.errno, error.strerror, path) from error
        inode.sync()

    def drop_cached(self, fd: int) -> None:
        """What is cached is no part of the model."""
        assert fd in self.machine.open_files

    def forget_cached(self, directory: str) -> None:
        self.machine.forget_cached(directory)

    def size(self, fd: int) -> int:
        return self.machine.open_files[fd][0].length

    def is_deleted(self, fd: int) -> bool:
        inode, path = self.machine.open_files[fd]
        return inode not in self.machine.folders.get(path.rpartition("/")[0], {}).values()

    def rename(self, source: str, target: str) -> None:
        if self.machine.fail_next is not None:
            self.machine.trouble("rename", source)
        if self.machine.full and self.machine.find(target) is None:
            raise _no_room(target)
        self.machine.rename(source, target)

    def unlink(self, path: str) -> None:
        if self.machine.fail_next is not None:
            self.machine.trouble("unlink", path)
        self.machine.unlink(path)

    def makedirs(self, path: str) -> None:
        self.machine.make_folder(path)

    def is_directory(self, path: str) -> bool:
        return path in self.machine.folders

    def listdir(self, path: str) -> list[str]:
        inside = path + "/"
        folders = [name[len(inside) :] for name in self.machine.folders if name.startswith(inside)]
        return [*self.machine.folders.get(path, ()), *(name for name in folders if "/" not in name)]

    def sync_directory(self, path: str) -> None:
        if self.machine.fail_next is not None:
            try:
                self.machine.trouble("folder", path)
            except OSError as error:
                raise SyncError(error.errno, error.strerror, path) from error
        self.machine.sync_folder(path)


def _no_room(path: str) -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)


class SimOs:
    """The ``os`` module where kproto's modules use it directly. ``machine_of(path)`` finds the machine;
    ``urandom`` comes from the seed. What is not here is the real one's."""

    def __init__(self, machines: dict[str, Machine], random: Random) -> None:
        self.machines = machines
        self.random = random
        self.files: dict[int, tuple[Inode, Machine]] = {}
        self.next_fd = 0
        self.here: Callable[[], Machine]
        """The machine of the process that is running."""
        self.path = SimpleNamespace(
            **{
                name: getattr(os.path, name)
                for name in ("join", "dirname", "basename", "realpath", "ismount")
            }
        )
        self.path.exists = lambda path: self.machine(path).find(path) is not None

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def machine(self, path: str) -> Machine:
        return self.machines[path.split("/", 3)[2]]

    def open(self, path: str, flags: int, mode: int = 0o777) -> int:
        machine = self.machine(path)
        machine.spend_descriptor(path)
        inode = machine.find(path)
        if inode is None:
            if not flags & os.O_CREAT:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            inode = Inode()
            machine.link(path, inode)
        self.next_fd += 1
        self.files[self.next_fd] = inode, machine
        return self.next_fd

    def close(self, fd: int) -> None:
        del self.files[fd]

    def pread(self, fd: int, length: int, position: int) -> bytes:
        return self._inode(fd).read(position, length)

    def preadv(self, fd: int, buffers: Sequence[Any], position: int, flags: int = 0) -> int:
        if flags and self.random.random() < 0.3:
            raise BlockingIOError(errno.EAGAIN, "not in the page cache")
        (buffer,) = buffers
        data = self._inode(fd).read(position, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _inode(self, fd: int) -> Inode:
        """Of an open file that the medium gives back."""
        inode, machine = self.files.get(fd, (None, None))
        if inode is None or machine is None:
            for machine in self.machines.values():
                if fd in machine.open_files:
                    inode = machine.open_files[fd][0]
                    break
            else:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        if inode in machine.unreadable:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return inode

    def stat(self, path: str) -> Any:
        inode = self.machine(path).find(path)
        if inode is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return SimpleNamespace(st_size=inode.length)

    def rmdir(self, path: str) -> None:
        self.machine(path).folders.pop(path, None)
        self.machine(path).changes.pop(path, None)

    def sync(self) -> None:
        machine = self.here()
        machine.changes.clear()
        for names in machine.folders.values():
            for inode in names.values():
                inode.sync()

    def urandom(self, size: int) -> bytes:
        return self.random.randbytes(size)

    def open_file(self, path: str, mode: str = "r", **options: Any) -> io.BytesIO | io.StringIO:
        """The ``open`` function, for reading."""
        machine = self.machine(path)
        machine.spend_descriptor(path)
        inode = machine.find(path)
        if inode is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if inode in machine.unreadable:
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        content = inode.read(0, inode.length)
        return io.BytesIO(content) if "b" in mode else io.StringIO(content.decode("ascii"))
