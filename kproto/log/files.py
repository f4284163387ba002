"""Names of the log's files, and a bounded set of open descriptors.

``<data>/streams/<topic id>/<streamlet>.<partition>/<group base>.<segment>.<base offset>.chunks`` (and
``.index``); the topic id has 32 hex digits, offsets 20 decimal digits, so that names sort by offset. A
topic id without metadata is a deleted topic.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from typing import Final, NamedTuple

from kproto.disk import Disk

STREAMS: Final = "streams"
CHUNKS: Final = ".chunks"
INDEX: Final = ".index"
FETCHING: Final = ".fetching"
"""A segment that is being brought over from other brokers; renamed when it is complete."""
DELETED: Final = ".deleted"
"""Of a deleted file of any kind, until a thread has removed it (`trash`)."""


class SegmentName(NamedTuple):
    """What the name of a segment file says. Sorts by offset."""

    group_base: int
    number: int
    base_offset: int


def segment_stem(group_base: int, number: int, base_offset: int) -> str:
    """Name of a segment's files without the ending."""
    return f"{group_base:020d}.{number:05d}.{base_offset:020d}"


def parse_name(name: str) -> SegmentName | None:
    """The segment a chunk file's name stands for; None for any other file."""
    if not name.endswith(CHUNKS):
        return None
    parts = name[: -len(CHUNKS)].split(".")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts):
        return None
    return SegmentName(int(parts[0]), int(parts[1]), int(parts[2]))


def stream_directory(data_dir: str, topic_id: bytes) -> str:
    return os.path.join(data_dir, STREAMS, topic_id.hex())


def partition_directory(data_dir: str, topic_id: bytes, active_groups: int, index: int) -> str:
    return f"{stream_directory(data_dir, topic_id)}/{index // active_groups:05d}.{index:05d}"


class OpenFiles:
    """Descriptors of segment files, at most ``limit``, the one used longest ago closed first. For the loop
    only.
    """

    __slots__ = ("_descriptors", "_limit", "disk")

    def __init__(self, disk: Disk, limit: int) -> None:
        self.disk = disk
        self._limit = limit
        self._descriptors: OrderedDict[str, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._descriptors)

    def get(self, path: str, *, create: bool = False) -> int:
        """A descriptor for ``path``; valid until the next call. OSError passes through."""
        descriptor = self._descriptors.get(path)
        if descriptor is not None:
            self._descriptors.move_to_end(path)
            return descriptor
        descriptor = self.disk.open(path, create=create)
        self._descriptors[path] = descriptor
        if len(self._descriptors) > self._limit:
            self.disk.close(self._descriptors.popitem(last=False)[1])
        return descriptor

    def is_deleted(self, path: str) -> bool:
        """Whether ``path`` is open, and somebody deleted the file."""
        descriptor = self._descriptors.get(path)
        return descriptor is not None and self.disk.is_deleted(descriptor)

    def close(self, path: str) -> None:
        """Close the descriptor of ``path`` if there is one."""
        descriptor = self._descriptors.pop(path, None)
        if descriptor is not None:
            self.disk.close(descriptor)

    def close_all(self) -> None:
        while self._descriptors:
            self.disk.close(self._descriptors.popitem()[1])
