"""For packages whose tests "kill" what runs in their own process: its files stay open."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

DATA: Final = (".chunks", ".dropped", ".index", ".journal", ".replica")
"""Files that only `kproto.disk.Disk` opens: nothing closes such a descriptor once more by itself."""


class NoDescriptor:
    """The process may open no other file, from `begins` until somebody waits for a descriptor."""

    def __init__(self) -> None:
        self.limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.waited = 0

    def begins(self) -> None:
        lowest = os.dup(0)
        os.close(lowest)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, self.limits[1]))

    def ends(self) -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, self.limits)

    def wait(self, _: float) -> None:
        """Instead of a pause."""
        self.waited += 1
        self.ends()


@pytest.fixture
def no_descriptor(monkeypatch: pytest.MonkeyPatch) -> Iterator[NoDescriptor]:
    found = NoDescriptor()
    monkeypatch.setattr("kproto.disk.time.sleep", found.wait)
    yield found
    found.ends()


@pytest.fixture(autouse=True)
def data_files_closed() -> Iterator[None]:
    """Close the data files of processes that were "killed": thousands would add up in this one."""
    yield
    for name in os.listdir("/proc/self/fd"):
        try:
            path = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            continue
        if Path(path.removesuffix(" (deleted)")).suffix in DATA:
            os.close(int(name))
