"""A segment: chunks of one group, first in memory, then in a file, the same bytes at the same positions.

Bytes ``[0, flushed)`` are in the file, ``[memory_start, size)`` in blocks; the two ranges always cover
everything between them. The file is made at the first flush. When a segment is closed its index is written
beside it.

Space for a file is taken ahead of its bytes once its group has some size: pages of a file that has its blocks
cost about half of what fresh ones do.
"""

from __future__ import annotations

import logging
import math
import os
from functools import partial
from typing import TYPE_CHECKING, Final

from kproto.check import check
from kproto.log.blocks import NO_BLOCK, Block
from kproto.log.files import CHUNKS, INDEX, segment_stem
from kproto.log.index import SparseIndex, Summary, decode, decode_summary, encode
from kproto.log.ports import EVERYTHING
from kproto.wire.batch import HEADER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kproto.disk import Buffer
    from kproto.log.partition import Partition

log = logging.getLogger(__name__)

NO_TIME: Final = -1
SUMMARY_BYTES: Final = 128
AHEAD_FROM: Final = 1 << 20
"""Bytes of a group from which on space is taken ahead: as much again as the group has, at most..."""
AHEAD_BYTES: Final = 8 << 20
"""...this much."""
UNUSED_BYTES: Final = 1 << 20
"""More space than this is given back when a segment closes."""


class Group:
    """A run of segments: the unit of rolling and deletion. Only the last group of a partition is open."""

    __slots__ = ("base_offset", "first_ts", "jitter_ms", "opened_ms", "size", "written_ms")

    def __init__(self, base_offset: int, opened_ms: int, jitter_ms: int = 0) -> None:
        self.base_offset = base_offset
        self.opened_ms = opened_ms
        self.jitter_ms = jitter_ms
        """What is taken off segment.ms for this group."""
        self.written_ms = NO_TIME
        """When a chunk without a timestamp was appended last, while it had no others; by this process."""
        self.first_ts = NO_TIME
        """Max timestamp of its first chunk; segment.ms counts from it."""
        self.size = 0
        """Bytes of its closed segments."""

    @property
    def last_ms(self) -> int:
        """When something was put last into a group without timestamps (ms), as far as is known. As in Apache
        Kafka retention goes by that; there by the time of the file, which also outlives a restart."""
        return max(self.written_ms, self.opened_ms)


class Segment:
    """Implements ``ports.LogSegment``.

    Invariants: ``synced <= flushed <= size``; blocks are contiguous, the last one ends at ``size``; a
    closed segment does not grow. ``size`` of a segment that was found on disk is -1 until `measure` looks
    at the file. A torn one ends where its file does; ``whole_end`` is where it should.
    """

    __slots__ = (
        "ahead",
        "allocated",
        "base_offset",
        "blocks",
        "checked_at",
        "closed",
        "dropped",
        "flushed",
        "flushed_offset",
        "footer",
        "group",
        "group_base",
        "index",
        "indexed",
        "max_ts",
        "max_ts_base",
        "next_offset",
        "number",
        "partition",
        "path",
        "size",
        "synced",
        "synced_offset",
        "torn_end",
        "wake_at",
    )

    def __init__(self, partition: Partition, group: Group, number: int, base_offset: int) -> None:
        self.partition = partition
        self.group = group
        self.group_base = group.base_offset
        self.number = number
        self.base_offset = base_offset
        self.path = f"{partition.directory}/{segment_stem(group.base_offset, number, base_offset)}{CHUNKS}"
        self.next_offset = base_offset
        """End offset; kept up to date when the segment closes, the open one ends at the log's end."""
        self.size = 0
        self.flushed = 0
        self.ahead = 0
        """Up to where `write_ahead` has written."""
        self.allocated = 0
        """Up to where space was taken ahead; 0: it was not."""
        self.flushed_offset = base_offset
        """Offset at position ``flushed``."""
        self.synced = 0
        self.synced_offset = base_offset
        self.closed = False
        self.dropped = False
        """It is deleted; threads may be reading it yet."""
        self.checked_at = -math.inf
        """When its file was verified (`scrubbing`), in seconds of the event loop."""
        self.torn_end = -1
        """Where it ended before `tear`; -1: its file is whole, as far as anybody knows."""
        self.max_ts = NO_TIME
        self.max_ts_base = base_offset
        """Base offset of the first chunk with ``max_ts``."""
        self.index: SparseIndex | None = None
        """None: not needed yet (open and small), or still in its file (closed)."""
        self.indexed = 0
        """Position of the newest index entry."""
        self.wake_at = 0
        """The log must be told when an append makes ``size`` larger than this (first dirty byte, enough to
        flush).
        """
        self.blocks: list[Block] = []
        self.footer: tuple[bytes, bytes] | None = None
        """Producers and epochs at the end, between closing and writing the index."""

    @property
    def index_path(self) -> str:
        return self.path[: -len(CHUNKS)] + INDEX

    # To the file

    def flush(self, upto: int) -> None:
        """Write everything that is not in the file yet, if that is below ``upto``, as one pwritev. OSError
        (a full disk included) changes nothing: the bytes stay in memory.
        """
        flushed, size = self.flushed, self.size
        if flushed >= min(upto, size):
            return
        unwritten: list[Block] = []
        for block in reversed(self.blocks):
            if block.position + block.used <= flushed:
                break
            unwritten.append(block)
        unwritten.reverse()
        if self.ahead < size:
            self._write(unwritten, max(flushed, self.ahead), size)
        self.flushed = self.wake_at = size
        self.flushed_offset = self.next_offset if self.closed else self.partition.log_end_offset
        self.partition.manager.checkpointing.note(self.partition)
        for block in unwritten:
            self.partition.pool.written(block)

    def write_ahead(self, most: int, upto: int = EVERYTHING) -> int:
        """Write up to ``most`` bytes of what lies below ``upto`` and is not in the file yet, oldest first.
        They count, and are flushed, with the next `flush`, which has less to write then. Returns how many;
        OSError passes through."""
        begin = max(self.flushed, self.ahead)
        end = min(begin + most, self.size, upto)
        if end <= begin:
            return 0
        self._write([one for one in self.blocks if one.position + one.used > begin], begin, end)
        self.ahead = end
        return end - begin

    def _write(self, blocks: list[Block], begin: int, end: int) -> None:
        """One pwritev of positions ``[begin, end)``, which are in ``blocks``."""
        pieces: list[Buffer] = [
            block.view[max(begin - block.position, 0) : min(block.used, end - block.position)]
            for block in blocks
            if begin < block.position + block.used and block.position < end
        ]
        descriptor = self.partition.open_for_write(self)
        self._allocate_ahead()
        self.partition.disk.pwritev(descriptor, pieces, begin)

    def _allocate_ahead(self) -> None:
        """Have space taken beyond what is about to be written, before half of what there is is used."""
        size = self.size
        stored = self.group.size + size
        ahead = min(stored, AHEAD_BYTES)
        if stored < AHEAD_FROM or self.closed or self.allocated > size + ahead // 2:
            return
        partition = self.partition
        begin, end = max(self.allocated, self.flushed), min(size + ahead, partition.config.segment_file_bytes)
        if begin < end:
            self.allocated = end
            partition.manager.ports.in_background(partial(self._allocate, begin, end - begin), id)

    def _allocate(self, position: int, length: int) -> None:
        """In a thread. What a closed one did not need may have been given back already."""
        if not self.closed:
            self.partition.disk.allocate_ahead(self.path, position, length)

    def sync(self) -> None:
        """fdatasync the file and, the first time, its directory; in a thread. ``synced`` is what was
        flushed before. A file that somebody deleted is written again from what others have (`scrubbing`).
        """
        flushed, offset = self.flushed, self.flushed_offset
        if self.synced >= flushed:
            return
        try:
            self.partition.disk.sync_file(self.path)
            if self.synced == 0:
                self.sync_directories()
        except FileNotFoundError:  # of a topic that is deleted meanwhile the directories go, too
            partition = self.partition
            if not partition.deleted and self in partition.segments:
                check(partition.has_other_copies, f"{self.path} has disappeared")
                partition.manager.suspects.append(self)
        self._now_synced(flushed, offset)

    def sync_directories(self) -> None:
        """The file's own directory, and those above it unless they are known to be (rule 36); in a thread."""
        partition = self.partition
        partition.disk.sync_directory(partition.directory)
        partition.manager.above.sync(partition.directory)

    def before(self) -> Sequence[Segment]:
        """Implements ``ports.LogSegment``. Asked for every segment of a journal file, so there is a short way
        for most: nothing before it is left."""
        partition, base = self.partition, self.base_offset
        bases, settled = partition.bases, partition.settled
        if partition.deleted or settled >= len(bases) or bases[settled] >= base:
            return ()
        return [one for one in partition.unsynced() if one.base_offset < base]

    def mark_synced(self) -> None:
        """What was flushed is known to be on the medium."""
        self._now_synced(self.flushed, self.flushed_offset)

    def _now_synced(self, flushed: int, offset: int) -> None:
        if flushed > self.synced:
            self.synced = flushed
            self.synced_offset = offset

    def write_index(self) -> None:
        """Write the index file of a closed, flushed segment and give back the space that its chunks did not
        need, if that is much: it may wait for the disk. A lost or torn index is rebuilt: nothing is synced.
        """
        check(
            self.footer is not None and self.flushed == self.size, f"{self.path} is not ready for its index"
        )
        producers, epochs = self.footer or (b"", b"")
        summary = Summary(
            0, self.base_offset, self.next_offset, self.size, self.max_ts, self.max_ts_base, 0, 0, 0
        )
        content = encode(self.index or SparseIndex(), summary, producers, epochs)
        disk = self.partition.disk
        if self.allocated > self.size + UNUSED_BYTES:
            disk.truncate(self.partition.open_for_write(self), self.size)
        descriptor = disk.open(self.index_path, create=True)
        try:
            disk.pwritev(descriptor, [content], 0)
            if disk.size(descriptor) > len(content):  # not before: ext4 writes what was empty out on closing
                disk.truncate(descriptor, len(content))
        finally:
            disk.close(descriptor)
        self.footer = None
        self.partition.indexes.keep(self)

    # From the file

    def measure(self) -> int:
        """Bytes of the segment; looks at the file of a closed one the first time."""
        if self.size < 0:
            try:
                self.size = self.flushed = os.stat(self.path).st_size
            except FileNotFoundError:
                self.size = self.flushed = 0
            if self.synced_offset == self.next_offset:
                self.synced = self.size
        return self.size

    def load_summary(self) -> bool:
        """Learn ``max_ts`` of a closed segment that was found on disk; False when its index has to be
        rebuilt.
        """
        if self.max_ts_base >= 0:
            return True
        summary = decode_summary(read_index(self.index_path, SUMMARY_BYTES))
        if summary is None:  # of an older file all of it is proven at once
            found = decode(read_index(self.index_path))
            summary = found[1] if found is not None else None
        if summary is None or (summary.size, summary.next_offset) != (self.measure(), self.next_offset):
            return False
        self.max_ts, self.max_ts_base = summary.max_ts, summary.max_ts_base
        return True

    def load_index(self) -> None:
        """Read the index of a closed segment, or rebuild it from the headers. May block: for a thread."""
        if self.index is not None:
            return
        found = decode(read_index(self.index_path))
        if found is not None and (found[1].size, found[1].next_offset) == (self.measure(), self.next_offset):
            self.max_ts, self.max_ts_base = found[1].max_ts, found[1].max_ts_base
            self.index = found[0]
            return
        self.rebuild_index()

    def rebuild_index(self) -> None:
        """Hop over the headers of the file and make the index again. What does not go on to the end of the
        segment is torn: its file was cut, or bytes are missing in the middle."""
        rebuilt = Segment(self.partition, self.group, self.number, self.base_offset)
        rebuilt.index = SparseIndex()
        offset = self.base_offset
        for position, size, fields in hop_file(self.path, 0, self.size) if self.measure() else ():
            if fields[0] != offset:
                break
            rebuilt.note(position, size, offset, fields[8])
            offset += fields[6] + 1
        self.max_ts, self.max_ts_base = rebuilt.max_ts, rebuilt.max_ts_base
        self.index = rebuilt.index
        if offset < self.next_offset:
            self.tear(rebuilt.size, offset)

    @property
    def whole_end(self) -> int:
        """The end offset of a closed segment, also of one that is torn."""
        return max(self.next_offset, self.torn_end)

    def tear(self, position: int, offset: int) -> None:
        """Nothing in the file of this closed segment is of use from ``position``, where ``offset`` should be,
        on: it ends there. What is behind is read from other brokers, or is an error: nobody may be led past
        it.

        What the journal was told to be in the file stays told. What was deleted is no loss: it may never have
        got to its file.
        """
        partition = self.partition
        partition.manager.suspects.append(self)
        if self.blocks:
            return  # memory has it
        if self.torn_end < 0:
            self.torn_end = self.next_offset
            if not partition.has_other_copies and self.torn_end > partition.log_start_offset:
                log.error(
                    "%s-%d: offsets %d to %d are missing in %s from byte %d on, and there is no other copy: "
                    "reads of them fail (KAFKA_STORAGE_ERROR), what comes behind begins at offset %d",
                    partition.topic,
                    partition.index,
                    offset,
                    self.torn_end - 1,
                    self.path,
                    position,
                    self.torn_end,
                )
        self.size, self.next_offset = position, offset

    def mended(self, size: int) -> None:
        """The file of this closed segment has all its ``size`` bytes again, synced; its name may not be."""
        self.next_offset, self.torn_end = self.whole_end, -1
        self.size = self.flushed = size
        if self.synced_offset > self.base_offset:
            self._now_synced(size, self.next_offset)
        if self.footer is None:
            self.index, self.max_ts_base = None, -1

    # Memory

    def note(self, position: int, size: int, base_offset: int, max_ts: int) -> None:
        """Fold one chunk into index and times; what `Partition.append` does inline."""
        if position - self.indexed >= self.partition.index_interval and position:
            if self.index is None:
                self.index = SparseIndex()
            self.index.add(base_offset, position, self.max_ts)
            self.indexed = position
        if max_ts > self.max_ts:
            self.max_ts = max_ts
            self.max_ts_base = base_offset
        self.size = position + size

    @property
    def memory_offset(self) -> int:
        """First offset that is in memory; the end of the segment when nothing is."""
        if self.blocks:
            return self.blocks[0].base_offset
        return self.next_offset if self.closed else self.partition.log_end_offset

    def evict(self, block: Block) -> bool:
        """Release blocks from the front up to ``block``; False when one on the way is still needed."""
        partition = self.partition
        durable = partition.high_watermark
        freed = False
        while self.blocks:
            front = self.blocks[0]
            if front.position + front.used > self.flushed or front.end_offset > durable:
                return freed
            del self.blocks[0]
            front.segment = None
            if front is partition.tail:
                partition.tail = NO_BLOCK
            partition.pool.release(front)
            freed = True
            if front is block:
                break
        return freed

    def drop(self) -> None:
        """The segment is deleted: give up its memory; the cleaner may take it for synced."""
        for block in self.blocks:
            if block is self.partition.tail:
                self.partition.tail = NO_BLOCK
            self.partition.pool.forget(block)
        self.blocks = []
        self.footer = None
        self.dropped = True
        self.partition.indexes.forget(self)
        self.flushed = self.synced = max(self.size, self.flushed)
        self.synced_offset = self.flushed_offset = max(self.next_offset, self.base_offset)


HOP_WINDOW: Final = 1 << 16


def hop_file(path: str, start: int, end: int) -> list[tuple[int, int, tuple[int, ...]]]:
    """``(position, size, header fields)`` of the chunks in ``[start, end)`` of a segment file, CRCs not
    checked.
    """
    chunks: list[tuple[int, int, tuple[int, ...]]] = []
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        window, origin, at = b"", start, start
        while at + HEADER.size <= end:
            if at < origin or at + HEADER.size > origin + len(window):
                origin, window = at, os.pread(descriptor, min(HOP_WINDOW, end - at), at)
                if len(window) < HEADER.size:
                    break
            fields = HEADER.unpack_from(window, at - origin)
            size = fields[1] + 12
            if fields[3] != 2 or size < HEADER.size or at + size > end:
                break
            chunks.append((at, size, fields))
            at += size
    finally:
        os.close(descriptor)
    return chunks


def read_file(path: str, limit: int = -1) -> bytes:
    """The first ``limit`` bytes of a file (-1: all); nothing when it is missing."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read(limit)
    except FileNotFoundError:
        return b""


def read_index(path: str, limit: int = -1) -> bytes:
    """The same of an index; nothing of one that cannot be read, either: it is made again from the headers."""
    try:
        return read_file(path, limit)
    except OSError as error:
        log.warning("%s: %s", path, error.strerror)
        return b""
