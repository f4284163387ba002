"""What a start needs to know about every partition, in one file: `Entry` records appended every few seconds.

The file is a run of frames: ``magic u32 | payload length u32 | crc32c of the payload u32 | payload``, where
the payload is ``point length u16 | exact u8 | journal point | entries``. A later entry of a partition
replaces the earlier one. A torn frame ends the file. When most of it is superseded it is written anew, by a
thread beside the file, whose name it takes with what was written to that meanwhile.

``exact`` says that a partition with nothing in the journal behind the point is as its entry says, file
sizes and all, so that after a clean stop it can be opened without a look at its directory. It is lost in a
power loss, and when a start finds no file, or after a clean stop one that is damaged: what other frames would
have said is unknown then.

An entry is a hint of where to begin checking, never a proof of what is there: an old one costs time,
nothing else. The exception is ``log_start``: files below it may be gone, so they are removed only after a
synced checkpoint.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator
from enum import Enum
from functools import partial
from struct import Struct
from typing import Final, NamedTuple

from kproto.check import check
from kproto.disk import BESIDE, Disk
from kproto.log.by_topic import ByTopic, Key
from kproto.wire.crc import crc32c

FILE: Final = "checkpoint"
_FRAME: Final = Struct(">III")
_MAGIC: Final = 0x4B504350
_POINT: Final = Struct(">HB")
_KEY: Final = Struct(">16sI")
_FIELDS: Final = Struct(">qqqIqQqQIQq")
ENTRY_SIZE: Final = _KEY.size + _FIELDS.size
_REWRITE_BYTES: Final = 4 << 20
_RESERVE_BYTES: Final = 1 << 20
"""Space held for the next frames: on a full disk, files can be deleted only after a checkpoint that knows."""


class Entry(NamedTuple):
    """Where a partition stood."""

    log_start: int
    next_offset: int
    """End of what is in segment files."""
    group_base: int
    """The open segment: its group, number, first offset, and its bytes in the file."""
    number: int
    base_offset: int
    flushed: int
    synced_base: int
    """Segments below this offset are synced, and of the segment that begins there ``synced`` bytes are."""
    synced: int
    closed: int
    """How many closed segments there are: with none, a clean start need not list the directory."""
    size: int
    """Bytes in all segments, as far as it is known without looking."""
    oldest_ms: int
    """First timestamp of the oldest group: retention by time need not look before it is too old."""

    @property
    def unsynced(self) -> bool:
        """Not all that is in files is known to be on the medium."""
        return (self.synced_base, self.synced) < (self.base_offset, self.flushed)

    def all_synced(self) -> Entry:
        """The files were synced."""
        return self._replace(synced_base=self.base_offset, synced=self.flushed)

    def only_synced(self) -> Entry:
        """Nothing counts as in the files but what was synced."""
        return self._replace(base_offset=self.synced_base, flushed=self.synced)


class Found(Enum):
    """What a start finds."""

    MISSING = "missing"
    EMPTY = "empty"
    """Nothing but space held for frames."""
    TORN = "torn"
    """Something is behind the last sound frame."""
    WHOLE = "whole"


class Checkpoint:
    """The file and its content. Invariant: ``entries`` is what a reader of the file would get."""

    __slots__ = (
        "_anew",
        "_disk",
        "_enough",
        "_meanwhile",
        "_named",
        "_path",
        "_reserved",
        "_size",
        "entries",
        "exact",
        "found",
        "point",
    )

    def __init__(self, disk: Disk, data_dir: str) -> None:
        self._disk = disk
        self._path = os.path.join(data_dir, FILE)
        self.entries: ByTopic[bytes] = ByTopic()
        self.point = b""
        """The journal point of the newest frame."""
        self.exact = True
        """See the module docstring; goes into every frame."""
        self.found = Found.WHOLE
        self._size = 0
        self._reserved = 0
        self._named = False
        """The directory entry is on the medium (rule 36)."""
        self._anew = 0
        """Bytes of the file beside this one that says the same; 0: there is none."""
        self._meanwhile: list[bytes] = []
        """Frames that are not in that one yet."""
        self._enough = _REWRITE_BYTES
        """A smaller file is not written anew."""
        self._load()
        if self._reserved < self._size + _RESERVE_BYTES // 2:
            self._reserve_early()

    def get(self, topic_id: bytes, index: int) -> Entry | None:
        packed = self.entries.get((topic_id, index))
        return Entry._make(_FIELDS.unpack(packed)) if packed is not None else None

    def unsynced(self) -> Iterator[tuple[bytes, int, Entry]]:
        """Those that vouch for what need not be on the medium: topic id, partition, entry."""
        for key, packed in self.entries.items():
            entry = Entry._make(_FIELDS.unpack(packed))
            if entry.unsynced:
                yield *key, entry

    def write(self, changed: Iterable[tuple[bytes, int, Entry]], point: bytes, *, sync: bool = False) -> None:
        """Append a frame. OSError passes through and leaves the old content valid."""
        fresh = {(topic_id, index): _FIELDS.pack(*entry) for topic_id, index, entry in changed}
        self._append(_frame(point, self.exact, fresh.items()), sync)
        for key, packed in fresh.items():
            self.entries[key] = packed
        self.point = point

    def sync(self) -> None:
        """Put what was written on the medium; in a thread. OSError passes through."""
        self._disk.sync_file(self._path)
        self._sync_name()

    @property
    def is_long(self) -> bool:
        """Most of it is superseded: it is to be written `anew`, while no `sync` is running."""
        least = _FRAME.size + _POINT.size + len(self.point) + len(self.entries) * ENTRY_SIZE
        return self._size > max(self._enough, 2 * least)

    def anew(self) -> Callable[[], object]:
        """What writes a file that says the same beside this one, and syncs it: for a thread, since it may
        take seconds. Then `take_anew`, or `keep_old`."""
        frame = _frame(self.point, self.exact, self.entries.items())
        self._anew = len(frame)
        self._meanwhile = []
        return partial(self._disk.write_beside, self._path, frame)

    def take_anew(self) -> None:
        """The thread has done it: that is the file now, unless more was synced in the old one. A loss of
        power may bring that back, until the next sync. OSError passes and leaves the old one."""
        if self._anew:
            self._add_meanwhile()
            self._disk.take_beside(self._path)
            self._size = self._reserved = self._anew
            self._anew = 0
            self._named = False
        self._enough = _REWRITE_BYTES

    def _add_meanwhile(self) -> None:
        """Nobody has vouched for these frames: none was synced."""
        if self._meanwhile:
            descriptor = self._disk.open(self._path + BESIDE)
            try:
                self._anew += self._disk.pwritev(descriptor, self._meanwhile, self._anew)
            finally:
                self._disk.close(descriptor)
        self._meanwhile = []

    def keep_old(self) -> None:
        """There was no room for it: not before there is as much more to gain again."""
        self._disk.drop_beside(self._path)
        self._anew = 0
        self._enough = self._size + _REWRITE_BYTES

    def distrust(self) -> None:
        """The files have to be looked at; written at once, so that no later start believes more."""
        self.exact = False
        self._replace(_frame(self.point, self.exact, self.entries.items()))

    def distrust_unsynced(self) -> None:
        """After a power loss: nothing counts as in the files but what was synced; written at once, too."""
        for key, packed in self.entries.items():
            entry = Entry._make(_FIELDS.unpack(packed))
            self.entries[key] = _FIELDS.pack(*entry.only_synced())
        self.distrust()

    def _replace(self, frame: bytes) -> None:
        self._disk.write_atomically(self._path, frame)
        self._size = self._reserved = len(frame)

    def forget(self, topic_id: bytes) -> None:
        """The topic is deleted; its entries leave the file when it is rewritten."""
        self.entries.forget(topic_id)

    def forget_others(self, topics: Container[bytes]) -> None:
        """The same of all topics but ``topics``: frames from before they were deleted are read again."""
        for topic_id in self.entries.topics():
            if topic_id not in topics:
                self.entries.forget(topic_id)

    def _append(self, frame: bytes, sync: bool) -> None:
        if sync:
            self._anew = 0
        descriptor = self._disk.open(self._path, create=True)
        try:
            if self._size + len(frame) + _RESERVE_BYTES // 2 > self._reserved:
                self._reserve(descriptor, len(frame))
            self._disk.pwritev(descriptor, [frame], self._size)
            if sync:
                self._disk.datasync(descriptor)
        finally:
            self._disk.close(descriptor)
        if sync:
            self._sync_name()
        self._size += len(frame)
        if self._anew:
            self._meanwhile.append(frame)

    def _sync_name(self) -> None:
        if not self._named:
            self._disk.sync_directory(os.path.dirname(self._path))
            self._named = True

    def _reserve_early(self) -> None:
        """Before the first frame: a disk can be full before that."""
        try:
            descriptor = self._disk.open(self._path, create=True)
        except OSError:
            return
        try:
            self._reserve(descriptor, 0)
        finally:
            self._disk.close(descriptor)

    def _reserve(self, descriptor: int, wanted: int) -> None:
        try:
            self._disk.allocate(descriptor, self._size, wanted + _RESERVE_BYTES)
            self._reserved = self._size + wanted + _RESERVE_BYTES
        except OSError:
            pass  # what was reserved before may still be enough

    def _load(self) -> None:
        try:
            with open(self._path, "rb", buffering=0) as file:
                data = file.read()
        except FileNotFoundError:
            self.found = Found.MISSING
            return
        at = 0
        while at + _FRAME.size <= len(data):
            magic, length, crc = _FRAME.unpack_from(data, at)
            payload = data[at + _FRAME.size : at + _FRAME.size + length]
            if magic != _MAGIC or len(payload) != length or crc32c(payload) != crc:
                break
            if length < _POINT.size:
                break  # torn behind the magic: zeros are a sound checksum of nothing
            self._fold(payload)
            at += _FRAME.size + length
        self._size = at
        self._reserved = len(data)
        if at == 0:
            self.found = Found.EMPTY
        if data[at:] != bytes(len(data) - at):  # 30 times quicker than looking for another byte
            self.found = Found.TORN
            self._reserved = at
            descriptor = self._disk.open(self._path)
            try:
                self._disk.truncate(descriptor, at)
            finally:
                self._disk.close(descriptor)

    def _fold(self, payload: bytes) -> None:
        length, exact = _POINT.unpack_from(payload)
        self.exact = bool(exact)
        at = _POINT.size + length
        self.point = payload[_POINT.size : at]
        check(
            (len(payload) - at) % ENTRY_SIZE == 0, f"{self._path} has another format; which version wrote it?"
        )
        key_size, entries = _KEY.size, self.entries
        for start in range(at, len(payload), ENTRY_SIZE):
            entries[_KEY.unpack_from(payload, start)] = payload[start + key_size : start + ENTRY_SIZE]


def _frame(point: bytes, exact: bool, entries: Iterable[tuple[Key, bytes]]) -> bytes:
    pieces = [_POINT.pack(len(point), exact), point]
    for key, packed in entries:
        pieces += _KEY.pack(*key), packed
    payload = b"".join(pieces)
    return _FRAME.pack(_MAGIC, len(payload), crc32c(payload)) + payload
