"""Closed segment files of partitions that nobody has opened since the start, for the scrub.

They are verified by their names and the checkpoint, which say where each begins and ends: a partition that is
opened stays so, and there may be thousands. Only one in whose files something is wrong is opened: then it is
looked at like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from kproto.log.files import parse_name

if TYPE_CHECKING:
    from kproto.disk import Disk
    from kproto.log.checkpoint import Entry
    from kproto.log.manager import LogManager


class UnusedFile(NamedTuple):
    """A closed segment file and its offsets."""

    topic_id: bytes
    partition: int
    path: str
    base_offset: int
    end: int


class Unused:
    """One partition with closed and synced files."""

    __slots__ = ("_disk", "_entry", "directory", "index", "topic_id")

    def __init__(self, topic_id: bytes, index: int, directory: str, entry: Entry, disk: Disk) -> None:
        self.topic_id = topic_id
        self.index = index
        self.directory = directory
        self._entry = entry
        self._disk = disk

    def files(self) -> list[UnusedFile]:
        """In a thread. OSError passes through."""
        entry, directory = self._entry, self.directory
        found = [(parse_name(file), file) for file in self._disk.listdir(directory)]
        names = sorted((name.base_offset, file) for name, file in found if name is not None)
        ends = [base_offset for base_offset, _ in names[1:]]
        return [
            UnusedFile(self.topic_id, self.index, f"{directory}/{file}", base_offset, end)
            for (base_offset, file), end in zip(names, ends, strict=False)
            if entry.log_start < end <= entry.synced_base
        ]


def unused(logs: LogManager) -> Iterator[Unused | None]:
    """The partitions led here that are not open and have such files; None: another one was passed over."""
    file = logs.checkpointing.file
    for topic_id, index in file.entries:
        entry = file.get(topic_id, index)
        closed = entry is not None and entry.closed and entry.synced_base > entry.log_start
        if entry is not None and closed and is_unused(logs, topic_id, index):
            yield Unused(topic_id, index, logs.directory_of(topic_id, index), entry, logs.disk)
        else:
            yield None


def is_unused(logs: LogManager, topic_id: bytes, index: int) -> bool:
    """Whether the partition is led here, and nobody has opened it."""
    streamlet = logs.leadership.streamlet(topic_id, index)
    led = streamlet is not None and logs.leadership.is_here(streamlet)
    return led and logs.opened(topic_id, index) is None
