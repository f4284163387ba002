"""For packages whose tests "kill" what runs in their own process: its files stay open."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

DATA: Final = (".chunks", ".index", ".journal", ".replica")
"""Files that only `kproto.disk.Disk` opens: nothing closes such a descriptor once more by itself."""


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
