"""What a start must know of the store of copies, in one small synced file: JSON, and its CRC-32C on a line of
its own.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kproto.wire.crc import crc32c

if TYPE_CHECKING:
    from kproto.disk import Disk


def read_state(disk: Disk, path: str) -> dict[str, Any]:
    """The content of the file; empty when there is none or it is damaged, which is as bad as a power loss."""
    try:
        fd = disk.open(path, write=False)
    except FileNotFoundError:
        return {}
    try:
        content = disk.pread(fd, disk.size(fd), 0)
    finally:
        disk.close(fd)
    text, _, checksum = content.rpartition(b"\n")
    if checksum != b"%08x" % crc32c(text):
        return {}
    found: dict[str, Any] = json.loads(text)
    return found


def write_state(disk: Disk, path: str, state: dict[str, Any]) -> None:
    """Replace the file, synced. OSError passes through."""
    text = json.dumps(state).encode()
    disk.write_atomically(path, text + b"\n%08x" % crc32c(text))
