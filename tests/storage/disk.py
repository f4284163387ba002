"""A disk whose user is killed at the operation that was chosen."""

from __future__ import annotations

from collections.abc import Sequence

from kproto.disk import Buffer
from tests.sim.disk import Machine, SimDisk

NEVER = -1


class Killed(BaseException):
    """The process ends here. Nothing of kproto catches it for good: whatever asks the disk then ends, too."""


class DeadlyDisk(SimDisk):
    """``fuse``: so many operations that change something are done, then whoever asks for one is killed; a
    write leaves a part of itself."""

    __slots__ = ("dead", "fuse")

    def __init__(self, machine: Machine) -> None:
        super().__init__(machine)
        self.fuse = NEVER
        self.dead = False

    def _burn(self) -> None:
        if self.dead:
            raise Killed
        if self.fuse == 0:
            self.dead = True
            raise Killed
        if self.fuse > 0:
            self.fuse -= 1

    def revive(self) -> None:
        """Another process uses it."""
        self.dead, self.fuse = False, NEVER

    def open(self, path: str, *, create: bool = False, write: bool = True) -> int:
        self._burn()
        return super().open(path, create=create, write=write)

    def pwritev(self, fd: int, buffers: Sequence[Buffer], position: int, length: int = -1) -> int:
        if self.fuse == 0 and not self.dead:
            data = b"".join(buffers)
            part = data[: self.machine.random.randrange(len(data) + 1)]
            self.fuse = NEVER
            try:
                super().pwritev(fd, [part], position)
            finally:
                self.fuse = 0
        self._burn()
        return super().pwritev(fd, buffers, position, length)

    def allocate(self, fd: int, position: int, length: int) -> None:
        self._burn()
        super().allocate(fd, position, length)

    def truncate(self, fd: int, length: int) -> None:
        self._burn()
        super().truncate(fd, length)

    def datasync(self, fd: int) -> None:
        self._burn()
        super().datasync(fd)

    def rename(self, source: str, target: str) -> None:
        self._burn()
        super().rename(source, target)

    def unlink(self, path: str) -> None:
        self._burn()
        super().unlink(path)

    def makedirs(self, path: str) -> None:
        self._burn()
        super().makedirs(path)

    def sync_directory(self, path: str) -> None:
        self._burn()
        super().sync_directory(path)
