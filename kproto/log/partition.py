"""A partition on its leader: one total order of chunks, appended to memory, made durable by its virtual log.

The way of a produced batch: `append` (checks, stamps, copies once) -> `VirtualLogPort.append` (a reference)
-> ... -> `on_durable` (the high watermark moves, waiters are called). The way of a fetched batch: `read` ->
slices of segment memory, or `reader.collect` -> file ranges.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Generator, Iterator, Sequence
from struct import Struct
from struct import error as StructError
from typing import TYPE_CHECKING, Any, Final

from kproto.check import check
from kproto.errors import ErrorCode, KafkaError
from kproto.log import kept_producers, times
from kproto.log.blocks import LARGEST, NO_BLOCK, SIZES, Block, size_class_for
from kproto.log.checkpoint import Entry
from kproto.log.checks import MAX_CODEC, examine
from kproto.log.epochs import EpochCache
from kproto.log.index import SparseIndex
from kproto.log.producers import MAX_SEQUENCE, Producers
from kproto.log.reader import EMPTY, Read, clip, collect
from kproto.log.retention import groups_of, new_log_start
from kproto.log.segment import NO_TIME, Group, Segment
from kproto.wire.batch import HEADER, HEADER_SIZE, LENGTH_OVERHEAD, STAMP, stamp_log_append_time
from kproto.wire.crc import crc32c

if TYPE_CHECKING:
    from kproto.config import TopicConfig
    from kproto.disk import Disk
    from kproto.log.blocks import BlockPool
    from kproto.log.chunk import ChunkRef
    from kproto.log.manager import LogManager
    from kproto.log.ports import VirtualLogPort
    from kproto.log.reader import IndexCache

Appended = tuple[int, int, int, bool]
"""base offset, log append time (ms, or -1), log start offset, whether the chunk was there already."""
Lookup = Generator["times.Wanted", "list[memoryview]", "times.Found | None"]

NEVER: Final = 1 << 62
ADOPT_BYTES: Final = 65_536
"""From this size on, memory that the caller gives away is kept instead of copied."""
HOPPED_BYTES: Final = 16_384
"""So much of a file may be without an index where another broker is about to lead: a millisecond of hops."""

_unpack = Struct(">qi4xbIHIqqqhii").unpack_from
"""`HEADER` without the leader epoch, which is stamped; attributes and last offset delta, which are not to be
negative, are unsigned."""
_stamp = STAMP.pack_into


class Partition:
    """Invariants: ``log_start_offset <= last_stable_offset <= high_watermark <= log_end_offset``, none of
    them falls; ``bases[i] == segments[i].base_offset``; only the last segment is open; ``tail`` is its last
    block or `NO_BLOCK`. A segment begins where the one before it ends; only what was taken over from another
    broker may be missing (`holes`), before the first segment of a group, and the end of a torn segment
    (`Segment.tear`).

    Used on the event loop only, except what `reader.load_blocking` and `Segment.sync` do in threads.
    """

    __slots__ = (
        "__weakref__",
        "_block_class",
        "_ceiling",
        "_max_bytes",
        "_noted_epoch",
        "_roll_ts",
        "bases",
        "config",
        "copies",
        "deleted",
        "directory",
        "dirty_from",
        "disk",
        "epochs",
        "handing_over",
        "has_directory",
        "high_watermark",
        "index",
        "index_interval",
        "indexes",
        "last_stable_offset",
        "leader_epoch",
        "log_end_offset",
        "log_start_offset",
        "lost",
        "manager",
        "only_here",
        "pool",
        "producers",
        "segments",
        "settled",
        "tail",
        "topic",
        "topic_id",
        "vlog",
        "waiters",
    )

    def __init__(
        self,
        manager: LogManager,
        topic: str,
        topic_id: bytes,
        index: int,
        leader_epoch: int,
        config: TopicConfig,
        directory: str,
        copies: int = 1,
    ) -> None:
        self.manager = manager
        self.pool: BlockPool = manager.pool
        self.disk: Disk = manager.disk
        self.indexes: IndexCache = manager.indexes
        self.topic = topic
        self.topic_id = topic_id
        self.index = index
        self.leader_epoch = leader_epoch
        self.directory = directory
        self.has_directory = False
        self.copies = copies
        """How many brokers keep what is appended, this one included."""
        self.only_here = False
        """No other broker is a source of what it has: also while others get their first copies of it."""
        self.deleted = False
        """Nothing is read or appended any more: the topic is gone, or (``lost``) another broker leads."""
        self.lost = False
        self.handing_over = False
        """Another broker is about to lead (rule 12b): appends are refused. See `hand_over`."""
        self.log_start_offset = 0
        self.high_watermark = 0
        self.last_stable_offset = 0
        self.log_end_offset = 0
        self.vlog: VirtualLogPort | None = None
        self.epochs = EpochCache()
        self.producers = Producers()
        self.segments: list[Segment] = []
        self.bases: list[int] = []
        self.settled = 0
        """So many segments at the front are closed and known to be synced."""
        self.tail: Block = NO_BLOCK
        self.dirty_from = -1
        """Number in ``segments`` from which on bytes are only in memory, or -1."""
        self.waiters: list[Callable[[], object]] = []
        """Called without arguments when high watermark, LSO, log start or leader epoch change, until
        removed.
        """
        self._block_class = 0
        self._ceiling = -NEVER
        self._roll_ts = NEVER
        self._noted_epoch = -1
        """Newest epoch in `epochs`."""
        self.configure(config)

    def configure(self, config: TopicConfig) -> None:
        """Take a new topic config."""
        self.config = config
        self.index_interval = config.index_interval_bytes
        careful = (
            config.log_append_time
            or config.validate_records
            or config.timestamp_before_max_ms < NEVER
            or self.handing_over
        )
        self._max_bytes = -1 if careful else min(config.max_message_bytes, config.segment_bytes)
        self._ceiling = -NEVER
        if self.segments:
            self._schedule_roll(self.segments[-1].group)
            if self.tail is not NO_BLOCK:
                self.tail.limit = self._limit_of(self.tail, len(self.tail.data))

    def clock_went_back(self) -> None:
        """What was not too far ahead of the clock may be now."""
        self._ceiling = -NEVER

    def hand_over(self, going: bool) -> None:
        """Refuse appends from now on, because another broker is about to lead (rule 12b), or take them
        again. Reading goes on. What is open is closed: should this broker lead again, its index tells what is
        in the file, which would have to be hopped through."""
        self.handing_over = going
        self.configure(self.config)
        if going and self.segments[-1].size >= HOPPED_BYTES:
            self.roll_group()

    def begin(self, base_offset: int) -> None:
        """Open the first group of a partition that stores nothing."""
        self.log_start_offset = self.log_end_offset = base_offset
        self.high_watermark = self.last_stable_offset = base_offset
        self._open_group()

    # Producing

    def append(self, chunk: memoryview, owned: bool = False) -> Appended:
        """Append exactly one chunk.

        ``owned``: the caller never touches the memory behind ``chunk`` again (a writable view), so it may
        be kept. Raises KafkaError (see `checks`, `producers`; KAFKA_STORAGE_ERROR when nothing can be
        stored; MESSAGE_TOO_LARGE for more than ever fits into memory).
        """
        vlog = self.vlog
        if vlog is None or vlog.blocked:
            raise self._refusal(chunk)
        try:
            base, length, magic, crc, bits, delta, first_ts, max_ts, pid, epoch, seq, count = _unpack(chunk)
        except StructError:
            examine(chunk, self.config, self.manager.now_ms())
            raise
        size = length + LENGTH_OVERHEAD
        append_time = -1
        # fmt: off
        if (magic != 2 or base or size != len(chunk) or size > self._max_bytes or bits > MAX_CODEC
                or count - delta != 1 or not 0 <= first_ts <= max_ts <= self._ceiling):
            # fmt: on
            chunk, append_time = self._look_closely(chunk)
            crc, _, _, _, max_ts = HEADER.unpack_from(chunk)[4:9]  # it may have been put right
            if append_time >= 0:
                max_ts = append_time
        elif crc32c(chunk[21:]) != crc:
            raise KafkaError(ErrorCode.CORRUPT_MESSAGE, "the CRC-32C does not match")
        producer = None
        if pid != -1:
            producer = self.producers.get(pid)
            if producer is None or producer.epoch != epoch or producer.next_seq != seq:
                if self.producers.follows_refused(pid, epoch, seq, self.manager.mono_ms()):
                    raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, "a batch before it was refused")
                known = self.producers.examine(pid, epoch, seq, count)
                if known is not None:
                    return known[2], known[3], self.log_start_offset, True
                producer = None
        base_offset = self.log_end_offset
        try:
            ref = self._store(chunk, size, crc, count, max_ts, self.leader_epoch, owned, append_time)
        except KafkaError as error:
            if error.code is ErrorCode.KAFKA_STORAGE_ERROR:  # what is behind it may fit
                self.producers.refused(pid, epoch, seq, self.manager.mono_ms())
            raise
        if producer is not None:
            producer.add(seq, (seq + count - 1) & MAX_SEQUENCE, base_offset, max_ts)
        elif pid != -1:
            self.producers.add(pid, epoch, seq, count, base_offset, max_ts)
        vlog.append(ref)
        return base_offset, append_time, self.log_start_offset, False

    def _store(
        self,
        chunk: memoryview,
        size: int,
        crc: int,
        count: int,
        max_ts: int,
        leader_epoch: int,
        owned: bool = False,
        append_time: int = -1,
    ) -> ChunkRef:
        """Put a checked chunk at the end of the log: bytes, offsets, index, times and epochs; the reference
        to it. Producers are left to the caller. Raises KafkaError when there is no room, and nothing changes.
        """
        block = self.tail
        start = block.used
        if start + size > block.limit or max_ts > self._roll_ts:
            block = self._room(chunk, size, max_ts, owned)
            start = block.used
        view = block.view
        if not owned or block.data is not chunk:
            view[start : start + size] = chunk
        base_offset = self.log_end_offset
        end_offset = base_offset + count
        _stamp(view, start, base_offset, size - LENGTH_OVERHEAD, leader_epoch)
        if append_time >= 0:
            crc = stamp_log_append_time(view, append_time, start, size)
        block.offsets.append(base_offset)
        block.starts.append(start)
        block.used = start + size
        block.end_offset = self.log_end_offset = end_offset
        segment: Segment = block.segment  # type: ignore[assignment]
        position = block.position + start
        if position - segment.indexed >= self.index_interval and position:
            self._index(segment, base_offset, position)
        if max_ts > segment.max_ts:
            segment.max_ts = max_ts
            segment.max_ts_base = base_offset
        elif max_ts < 0 and segment.max_ts < 0:
            segment.group.written_ms = self.manager.now_ms()
        segment.size = filled = position + size
        if self._noted_epoch != leader_epoch:
            self.epochs.note(leader_epoch, base_offset)
            self._noted_epoch = leader_epoch
        if filled > segment.wake_at:
            self._wake(segment)
        return self, segment, position, base_offset, end_offset, leader_epoch, size, crc, block.data, start

    def _refusal(self, chunk: memoryview) -> KafkaError:
        """Why no append is taken at all. That ``chunk`` was refused for it is remembered for what its
        producer sent behind it."""
        vlog = self.vlog
        if len(chunk) >= HEADER_SIZE:
            pid, epoch, seq = _unpack(chunk)[8:11]
            self.producers.refused(pid, epoch, seq, self.manager.mono_ms())
        if self.lost or self.handing_over or (vlog is not None and (vlog.lost or vlog.retiring)):
            return KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if self.deleted:
            return KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "the journal takes no more appends")

    def _look_closely(self, chunk: memoryview) -> tuple[memoryview, int]:
        """Everything unusual: raises KafkaError, or returns what to append and the log append time to stamp
        (-1: none)."""
        if self.handing_over:
            raise self._refusal(chunk)
        config = self.config
        now = self.manager.now_ms()
        chunk = examine(chunk, config, now)
        if len(chunk) > config.segment_bytes:  # what is there already was let in by another config
            raise KafkaError(
                ErrorCode.RECORD_LIST_TOO_LARGE,
                f"{len(chunk)} bytes, segment.bytes is {config.segment_bytes}",
            )
        self._ceiling = now + config.timestamp_after_max_ms
        self.manager.latest_ms = max(self.manager.latest_ms, now)
        if config.validate_records:
            times.check_records(chunk)
        return chunk, now if config.log_append_time else -1

    def _room(self, chunk: memoryview, size: int, max_ts: int, owned: bool) -> Block:
        """The block the next chunk goes to; rolls segment and group when they are full or old."""
        segment = self.segments[-1]
        group, config = segment.group, self.config
        block = self._new_block(chunk, size, owned)
        filled = group.size + segment.size
        if filled and (filled + size > config.segment_bytes or max_ts > self._roll_ts):
            self.roll_group()
        elif segment.size and segment.size + size > config.segment_file_bytes:
            self._roll_segment()
        segment = self.segments[-1]
        group = segment.group
        if group.first_ts == NO_TIME and not group.size and not segment.size:
            group.first_ts = max_ts
            self._schedule_roll(group)
        block.segment = segment
        block.position = segment.size
        block.base_offset = block.end_offset = self.log_end_offset
        block.limit = max(size, self._limit_of(block, len(block.data)))
        segment.blocks.append(block)
        self.tail = block
        return block

    def _limit_of(self, block: Block, capacity: int) -> int:
        """Up to where ``block`` may be filled before segment or group are full."""
        segment = self.segments[-1]
        config = self.config
        group_left = config.segment_bytes - segment.group.size - block.position
        return min(capacity, config.segment_file_bytes - block.position, group_left)

    def _new_block(self, chunk: memoryview, size: int, owned: bool) -> Block:
        """Memory for the next chunk: larger the faster the partition fills it."""
        pool = self.pool
        block: Block | None
        if owned and size >= ADOPT_BYTES and not chunk.readonly:
            block = pool.adopt(chunk)
        elif size > LARGEST:
            block = pool.take_large(size)
        else:
            tail = self.tail
            if tail is not NO_BLOCK and tail.size_class >= self._block_class:
                self._block_class = min(tail.size_class + 1, len(SIZES) - 1)
            block = pool.take(max(self._block_class, size_class_for(size)))
        if block is None:
            if size > pool.largest:
                raise KafkaError(ErrorCode.MESSAGE_TOO_LARGE, "larger than all memory for new data")
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no memory for new data: is the disk full?")
        return block

    def _index(self, segment: Segment, offset: int, position: int) -> None:
        if segment.index is None:
            segment.index = SparseIndex()
        segment.index.add(offset, position, segment.max_ts)
        segment.indexed = position

    def _wake(self, segment: Segment) -> None:
        """The first byte that is only in memory, or enough of them to write."""
        flushing = self.manager.flushing
        if self.dirty_from < 0:
            self.dirty_from = len(self.segments) - 1
            flushing.note_dirty(self)
        if segment.size - segment.flushed >= flushing.flush_bytes:
            flushing.flush_soon(self)
            segment.wake_at = segment.size + flushing.flush_bytes
        else:
            segment.wake_at = segment.flushed + flushing.flush_bytes

    def restore(self, chunk: memoryview, fields: tuple[int, ...]) -> None:
        """Append a chunk that the journal had, verbatim; it is durable already."""
        base_offset, leader_epoch, crc, max_ts = fields[0], fields[2], fields[4], fields[8]
        pid, epoch, seq, count = fields[9:]
        check(base_offset == self.log_end_offset, f"{self}: restoring offset {base_offset}")
        self._store(chunk, len(chunk), crc, count, max_ts, leader_epoch)
        if pid >= 0:
            self.producers.add(pid, epoch, seq, count, base_offset, max_ts)
        self.high_watermark = self.last_stable_offset = self.log_end_offset

    # Taking over

    def begin_at(self, offset: int) -> None:
        """Go on at ``offset`` with a new group; everything below it is durable, wherever it is."""
        self.log_end_offset = self.high_watermark = self.last_stable_offset = offset
        self._noted_epoch = -1
        self._open_group()

    def skip_to(self, offset: int) -> None:
        """What lies between the log's end and ``offset`` is not here: a hole."""
        if self.segments[-1].size:
            self._close_segment(self.segments[-1])
        else:
            del self.segments[-1], self.bases[-1]
        self.begin_at(offset)

    def holes(self) -> Iterator[tuple[int, int]]:
        """Offsets ``[start, end)`` that only other brokers have, oldest first."""
        known = self.log_start_offset
        for segment in self.segments:
            if segment.base_offset > known:
                yield known, segment.base_offset
            known = max(known, segment.whole_end)

    def fill(self, segment: Segment) -> bool:
        """Insert a closed segment whose synced file was brought here; it lies in a hole. False, and nothing
        is changed, when it is not wanted any more.
        """
        number = bisect_right(self.bases, segment.base_offset)
        wanted = not self.deleted and segment.next_offset > self.log_start_offset
        if not wanted or number == len(self.bases):
            return False
        before = self.segments[number - 1].next_offset if number else 0
        check(
            before <= segment.base_offset and segment.next_offset <= self.bases[number],
            f"{self}: [{segment.base_offset}, {segment.next_offset}) is here already",
        )
        self.segments.insert(number, segment)
        self.bases.insert(number, segment.base_offset)
        if number <= self.settled:
            self.settled += 1
        if self.dirty_from >= number:
            self.dirty_from += 1
        return True

    # Rolling

    def jitter(self) -> int:
        """What to take off segment.ms for one group."""
        most = self.config.segment_jitter_ms
        return self.manager.random_below(most) if most else 0

    def resume(self, group: Group) -> None:
        """Go on in the last segment of ``group``, found on disk."""
        self._noted_epoch = self.epochs.last
        self._schedule_roll(group)

    def _open_group(self) -> None:
        group = Group(self.log_end_offset, self.manager.now_ms(), self.jitter())
        self._roll_ts = NEVER
        self.add_segment(Segment(self, group, 0, self.log_end_offset))

    def _schedule_roll(self, group: Group) -> None:
        """segment.ms counts from the first chunk's timestamp (as in Kafka); 0 ms of age never rolls a fresh
        group.
        """
        age = max(self.config.segment_ms - group.jitter_ms, 1)
        self._roll_ts = group.first_ts + age if group.first_ts > NO_TIME else NEVER

    def add_segment(self, segment: Segment) -> None:
        """Make ``segment`` the last one."""
        self.segments.append(segment)
        self.bases.append(segment.base_offset)
        self.tail = NO_BLOCK

    def roll_group(self) -> None:
        """Close the open group and begin the next one; nothing happens while it is empty."""
        segment = self.segments[-1]
        if segment.size == 0 and segment.number == 0:
            return
        self._close_segment(segment)
        self._open_group()

    def _roll_segment(self) -> None:
        segment = self.segments[-1]
        self._close_segment(segment)
        self.add_segment(Segment(self, segment.group, segment.number + 1, self.log_end_offset))

    def _close_segment(self, segment: Segment) -> None:
        segment.closed = True
        segment.next_offset = self.log_end_offset
        segment.group.size += segment.size
        self.producers.reach(self.log_end_offset)
        segment.footer = (self.producers.encode(), self.epochs.encode())
        if segment.index is None:
            segment.index = SparseIndex()
        if self.dirty_from < 0:
            self.dirty_from = len(self.segments) - 1
            self.manager.flushing.note_dirty(self)
        self.manager.flushing.flush_soon(self)

    # Durability

    def on_durable(self, end_offset: int) -> None:
        """Everything below ``end_offset`` is durable: move the high watermark, call the waiters."""
        if end_offset > self.high_watermark:
            if end_offset > self.log_end_offset:
                check(False, f"{self}: durable {end_offset}, end {self.log_end_offset}")
            self.high_watermark = self.last_stable_offset = end_offset
            waiters = self.waiters
            if len(waiters) == 1:
                waiters[0]()
            elif waiters:
                self.notify()

    def notify(self) -> None:
        """Call everybody who waits for a change."""
        for waiter in tuple(self.waiters):
            waiter()

    def flush(self) -> bool:
        """Write everything that is only in memory to the segment files; False when the disk is full."""
        while 0 <= self.dirty_from < len(self.segments):
            segment = self.segments[self.dirty_from]
            if not self.manager.flushing.write(segment):
                return False
            if not segment.closed:
                break
            self.dirty_from += 1
        self.dirty_from = -1
        return True

    def write_ahead(self, most: int) -> int:
        """Write up to ``most`` bytes of that, so that `flush` has less to write; returns how many. OSError
        passes through."""
        left = most
        for segment in self.segments[self.dirty_from :] if self.dirty_from >= 0 else ():
            left -= segment.write_ahead(left)
            if not left:
                break
        return most - left

    @property
    def dirty_bytes(self) -> int:
        """Bytes that are only in memory (and in the journal)."""
        if self.dirty_from < 0:
            return 0
        return sum(segment.size - segment.flushed for segment in self.segments[self.dirty_from :])

    @property
    def synced_offset(self) -> int:
        """Everything below is in synced segment files."""
        while self.settled < len(self.segments):
            segment = self.segments[self.settled]
            if segment.synced_offset < segment.next_offset or not segment.closed:
                return segment.synced_offset
            self.settled += 1
        return self.log_end_offset

    def unsynced(self) -> list[Segment]:
        """Segments with bytes that are not in synced files, oldest first."""
        self.synced_offset  # noqa: B018 - moves `settled` on
        return [segment for segment in self.segments[self.settled :] if segment.synced < segment.measure()]

    def sync_starts(self, partitions: Sequence[Any]) -> None:
        """Implements ``ports.LogPartition``."""
        checkpointing = self.manager.checkpointing
        if not checkpointing.deletions.all_known:
            moved = [one for one in partitions if one.log_start_offset and (one.copies == 1 or one.only_here)]
            if moved:
                checkpointing.note_down(moved, sync=True)

    def idle(self) -> None:
        """Nothing was appended for a while: shrink the next block to what was used."""
        if self.tail is not NO_BLOCK and self._block_class and self.tail.used * 4 < len(self.tail.data):
            self._block_class -= 1

    def open_for_write(self, segment: Segment) -> int:
        """A descriptor of the segment's file, made when it is missing."""
        if not self.has_directory:
            self.manager.above.make(self.directory)
            self.has_directory = True
        files = self.manager.files
        try:
            return files.get(segment.path, create=not (segment.flushed or segment.ahead))
        except FileNotFoundError:
            if not self.has_other_copies:
                raise
        self.manager.above.make(self.directory)
        self.manager.suspects.append(segment)
        return files.get(segment.path, create=True)

    def look_for_deleted(self, segment: Segment) -> bool:
        """Look whether somebody deleted the file of ``segment`` while it is written. Of a partition of one
        copy that is poison (rule 35), and True: what goes into it is gone with the descriptor, and a
        checkpoint would vouch for it. What others have is written again from there (`scrubbing`)."""
        manager = self.manager
        if not manager.files.is_deleted(segment.path):
            return False
        if self.has_other_copies:
            manager.files.close(segment.path)
            manager.suspects.append(segment)
            return False
        manager.ports.on_poison(f"{segment.path}: somebody deleted it")
        return True

    @property
    def has_other_copies(self) -> bool:
        """What a file here has can be read from other brokers, too."""
        return self.copies > 1 and not self.only_here and self.manager.ports.copies is not None

    # Consuming

    def read(
        self, offset: int, max_bytes: int, committed_only: bool = False, at_least_one: bool = True
    ) -> Read:
        """Whole chunks from the one that holds ``offset`` on, below the high watermark (``committed_only``:
        the LSO).

        At most ``max_bytes``, except for the first chunk with ``at_least_one``. Pieces of the answer are
        views of segment memory and `FileRange`s for `reader.load_nowait` or `reader.load_blocking`. Raises
        OFFSET_OUT_OF_RANGE.
        """
        limit = self.last_stable_offset if committed_only else self.high_watermark
        tail = self.tail
        if offset < self.log_start_offset or not tail.base_offset <= offset < limit:
            if offset == limit and offset >= self.log_start_offset:
                return EMPTY
            return collect(self, offset, limit, max_bytes, at_least_one)
        offsets, starts = tail.offsets, tail.starts
        first = bisect_right(offsets, offset) - 1
        begin = starts[first]
        end = tail.used if limit >= tail.end_offset else starts[bisect_left(offsets, limit)]
        if end - begin > max_bytes:
            end = clip(tail, first, begin, max_bytes, at_least_one)
            if end == begin:
                return EMPTY
        return Read([tail.view[begin:end]], end - begin, True)

    def offset_for_time(self, timestamp: int, committed_only: bool = False) -> Lookup:
        """ListOffsets by time: the first record at or after ``timestamp`` ms; see `reader.complete`."""
        return times.offset_for_time(self, timestamp, self._limit(committed_only))

    def max_timestamp_offset(self, committed_only: bool = False) -> Lookup:
        """ListOffsets -3: the first record with the newest timestamp; see `reader.complete`."""
        return times.max_timestamp_offset(self, self._limit(committed_only))

    def _limit(self, committed_only: bool) -> int:
        return self.last_stable_offset if committed_only else self.high_watermark

    def epoch_end_offset(self, epoch: int) -> tuple[int, int]:
        """``(epoch, end offset)`` for OffsetForLeaderEpoch; (-1, -1) when the epoch is unknown."""
        return self.epochs.end_offset(epoch, self.leader_epoch, self.log_end_offset)

    def epoch_of(self, offset: int) -> int:
        """Leader epoch of the chunk at ``offset``; the leader's own at the end of the log."""
        return self.leader_epoch if offset >= self.log_end_offset else self.epochs.of_offset(offset)

    def size_bytes(self) -> int:
        """Bytes stored, in memory or on disk; looks at closed files the first time."""
        return sum(segment.measure() for segment in self.segments)

    # Deleting

    def delete_records(self, before_offset: int) -> int:
        """DeleteRecords: the log starts at ``before_offset`` (-1: the high watermark); returns the new log
        start.

        Raises OFFSET_OUT_OF_RANGE above the high watermark; an offset below the log start changes nothing.
        Whole groups below go at once, the checkpoint with the new start is written soon. Where there are
        several copies the store has to know the offset (rule 44).
        """
        offset = self.high_watermark if before_offset == -1 else before_offset
        if not 0 <= offset <= self.high_watermark:
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE, f"{offset} is not below the high watermark")
        if offset > self.log_start_offset:
            self.start_at(offset)
        return self.log_start_offset

    def start_at(self, offset: int) -> None:
        """Move the log start forward; groups that lie below it are dropped, an open one that is done with
        is rolled.
        """
        check(
            self.log_start_offset <= offset <= self.log_end_offset,
            f"{self}: the log cannot start at {offset}",
        )
        self.log_start_offset = offset
        if offset == self.log_end_offset:
            self.roll_group()
        if self.copies == 1 or self.only_here:
            kept_producers.keep(self)
        unwritten = self._drop_groups_below(offset)
        self.epochs.cut_front(offset)
        self.manager.checkpointing.sync_soon(self)
        if unwritten:
            self.manager.checkpointing.note_gap(self)
        self.notify()

    def remove_dead_groups(self) -> None:
        """Files that a crash kept from being removed."""
        self._drop_groups_below(self.log_start_offset)

    def retain(self) -> None:
        """Apply retention.ms and retention.bytes; where there are several copies, once the store knows."""
        config = self.config
        now_ms, last = self.manager.now_ms(), self.segments[-1].group
        if last.first_ts == NO_TIME and now_ms - last.opened_ms > config.segment_ms - last.jitter_ms:
            self.roll_group()  # as in Apache Kafka, but for when: there it is the next append
        if config.lasting:
            return
        total = self.size_bytes() if config.retention_bytes >= 0 else 0
        start = new_log_start(
            groups_of(self),
            now_ms,
            total,
            config.retention_ms,
            config.retention_bytes,
            self.high_watermark,
        )
        if start is not None and start > self.log_start_offset:
            if self.copies > 1:
                self.manager.ports.on_log_start(self, start)
            else:
                self.start_at(start)

    def entry(self) -> Entry:
        """What the checkpoint notes down."""
        last = self.segments[-1]
        self.synced_offset  # noqa: B018 - moves `settled` on
        settled = self.segments[min(self.settled, len(self.segments) - 1)]
        known = sum(segment.size for segment in self.segments if segment.size > 0)
        unwritten = self.segments[self.dirty_from] if self.dirty_from >= 0 else last
        return Entry(
            self.log_start_offset,
            min(unwritten.flushed_offset, last.flushed_offset),
            last.group_base,
            last.number,
            last.base_offset,
            last.flushed,
            settled.base_offset,
            settled.synced,
            len(self.segments) - 1,
            known,
            self.segments[0].group.first_ts,
        )

    def _drop_groups_below(self, offset: int) -> bool:
        """Groups that end at or below ``offset`` leave the partition; their files are removed later. Returns
        whether some of that was in no file."""
        keep = 0
        before = None
        for i, segment in enumerate(self.segments):
            if segment.number == 0 and (
                segment.base_offset <= offset or (before is not None and before.whole_end <= offset)
            ):
                keep = i
            before = segment
        if not keep:
            return False
        dropped = self.segments[:keep]
        unwritten = any(segment.flushed < segment.size for segment in dropped)
        del self.segments[:keep], self.bases[:keep]
        self.settled = max(self.settled - keep, 0)
        if self.dirty_from >= 0:
            self.dirty_from = max(self.dirty_from - keep, 0)
        for segment in dropped:
            segment.drop()
        self.manager.discard(self, dropped)
        return unwritten

    def close_deleted(self, lost: bool = False) -> None:
        """The topic is gone, or another broker leads (``lost``): give up memory, tell the waiters."""
        self.deleted = True
        self.lost = lost
        self.vlog = None
        for segment in self.segments:
            segment.drop()
        self.dirty_from = -1
        self.notify()

    def __repr__(self) -> str:
        return f"Partition({self.topic}-{self.index} [{self.log_start_offset}, {self.log_end_offset}))"
