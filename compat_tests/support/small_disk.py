"""A kproto whose data directory is a small tmpfs in a mount namespace of its own (mounting needs root)."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from compat_tests.support.broker import Kproto


class SmallDisk(Kproto):
    """The tmpfs lives as long as its namespace: a keeper holds that, so that brokers can come and go."""

    def __init__(self, directory: Path, size_bytes: int, settings: Mapping[str, object]) -> None:
        super().__init__(directory, settings)
        self.mount_point = directory / "disk"
        self.mount_point.mkdir()
        self._data_dir = self.mount_point / "data"
        mount = f"mount -t tmpfs -o size={size_bytes} tmpfs {shlex.quote(str(self.mount_point))}"
        self._keeper = subprocess.Popen(
            ["unshare", "-m", "sh", "-c", f"{mount} && echo done && read -r nothing"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._keeper.stdout is not None
        assert self._keeper.stdout.readline() == b"done\n", "unshare -m and mount need root"

    def command(self) -> Sequence[str]:
        return ["nsenter", "-t", str(self._keeper.pid), "-m", f"--wd={Path.cwd()}", *super().command()]

    @property
    def outside(self) -> Path:
        """The disk as seen from outside the namespace."""
        return Path(f"/proc/{self._keeper.pid}/root{self.mount_point}")

    def free_bytes(self) -> int:
        found = os.statvfs(self.outside)
        return found.f_bavail * found.f_frsize

    def fill(self, leave_bytes: int) -> Path:
        """Another program's file takes all but so much of the disk; remove it to give the space back."""
        filler = self.outside / "somebody-else"
        size = self.free_bytes() - leave_bytes
        with filler.open("wb") as out:
            os.posix_fallocate(out.fileno(), 0, size)
        return filler

    def __exit__(self, *details: object) -> None:
        super().__exit__(*details)
        self._keeper.communicate(timeout=10)
