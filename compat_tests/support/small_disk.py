"""A small tmpfs in a mount namespace of its own (mounting needs root), and a kproto that lives there."""

from __future__ import annotations

import errno
import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from compat_tests.support.broker import Kproto


class SmallMount:
    """The tmpfs lives as long as its namespace: a keeper holds that, so that brokers can come and go."""

    def __init__(self, mount_point: Path, size_bytes: int) -> None:
        self.mount_point = mount_point
        mount_point.mkdir(exist_ok=True)
        mount = f"mount -t tmpfs -o size={size_bytes} tmpfs {shlex.quote(str(self.mount_point))}"
        self._keeper = subprocess.Popen(
            ["unshare", "-m", "sh", "-c", f"{mount} && echo done && read -r nothing"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._keeper.stdout is not None
        assert self._keeper.stdout.readline() == b"done\n", "unshare -m and mount need root"

    def inside(self, command: Sequence[str]) -> list[str]:
        """The command line that runs ``command`` where the disk is mounted, as the same process."""
        return ["nsenter", "-t", str(self._keeper.pid), "-m", f"--wd={Path.cwd()}", *command]

    @property
    def outside(self) -> Path:
        """The disk as seen from outside the namespace."""
        return Path(f"/proc/{self._keeper.pid}/root{self.mount_point}")

    def free_bytes(self) -> int:
        found = os.statvfs(self.outside)
        return found.f_bavail * found.f_frsize

    def fill(self, leave_bytes: int) -> Path:
        """Another program's file takes all but so much of the disk; remove it to give the space back.

        Brokers may write meanwhile: a file that does not fit any more takes what is free at the next look.
        """
        filler = self.outside / "somebody-else"
        with filler.open("wb") as out:
            while (size := self.free_bytes() - leave_bytes) > 0:
                try:
                    os.posix_fallocate(out.fileno(), 0, size)
                    break
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
        return filler

    def close(self) -> None:
        """Gone with the last process in the namespace."""
        self._keeper.communicate(timeout=60)


class SmallDisk(Kproto):
    """A kproto whose data directory is on a small disk."""

    def __init__(self, directory: Path, size_bytes: int, settings: Mapping[str, object]) -> None:
        super().__init__(directory, settings)
        self._mount = SmallMount(directory / "disk", size_bytes)
        self._data_dir = self._mount.mount_point / "data"

    def command(self) -> Sequence[str]:
        return self._mount.inside(super().command())

    @property
    def outside(self) -> Path:
        """The disk as seen from outside the namespace."""
        return self._mount.outside

    def free_bytes(self) -> int:
        return self._mount.free_bytes()

    def fill(self, leave_bytes: int) -> Path:
        """Another program's file takes all but so much of the disk; remove it to give the space back."""
        return self._mount.fill(leave_bytes)

    def __exit__(self, *details: object) -> None:
        super().__exit__(*details)
        self._mount.close()
