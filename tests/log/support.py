"""A log on a real directory, with a journal that is a list: what it holds counts as durable and survives a
crash.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from kproto.clock import ManualClock
from kproto.config import load
from kproto.directory import LeftAs
from kproto.disk import Disk
from kproto.log.chunk import ChunkRef
from kproto.log.line import Line
from kproto.log.manager import LogManager
from kproto.log.partition import Partition
from kproto.log.ports import Done, InBackground, JournalRun, LogPorts
from kproto.log.reader import FileRange, complete
from kproto.metadata import MetadataImage, StreamletRecord, TopicRecord
from kproto.vlog.recovery import ordered
from kproto.vlog.scan import ScannedChunk
from kproto.wire.batch import HEADER
from kproto.wire.records import NO_PRODUCER, Producer, Record, build_batch

TOPIC_ID = bytes(range(16))
Jobs = deque[tuple[Callable[[], object], Done]]


def do(jobs: Jobs) -> None:
    """What the thread was given."""
    while jobs:
        job, done = jobs.popleft()
        failure = None
        try:
            job()
        except OSError as error:
            failure = error
        done(failure)


class Journal:
    """A virtual log whose only copy is memory. `push` makes everything appended durable, as the pusher
    does.
    """

    def __init__(self, *, automatic: bool = True) -> None:
        self.end = self.durable = 0
        self.blocked = self.lost = self.retiring = False
        self.copies = self.live_copies = 1
        self.automatic = automatic
        self.synced = False
        """A start finds its files synced, as those of a class with syncs."""
        self.pending: list[ChunkRef] = []
        self.stored: dict[tuple[bytes, int], list[tuple[int, int, bytes]]] = {}
        self.waiting: list[tuple[int, Callable[[], object]]] = []

    def places(self) -> list[tuple[int, int, int]]:
        return []

    def append(self, ref: ChunkRef) -> None:
        self.end += 1
        self.pending.append(ref)
        if self.automatic:
            self.push()

    def push(self) -> None:
        pending, self.pending = self.pending, []
        for partition, _, _, base, end, _, length, _, block, start in pending:
            data = bytes(block[start : start + length])
            self.stored.setdefault((partition.topic_id, partition.index), []).append((base, end, data))
            partition.on_durable(end)
        self.durable = self.end
        for _, callback in self.waiting:
            callback()
        self.waiting = []

    def when_durable(self, position: int, callback: Callable[[], object]) -> None:
        if position <= self.durable:
            callback()
        else:
            self.waiting.append((position, callback))

    when_written = when_durable

    def runs(self, key: tuple[bytes, int]) -> list[JournalRun]:
        """As a start finds them, in order of offset, without what a later leader epoch replaced."""
        stored = self.stored.get(key, [])
        chunks = []
        for i, (base, end, data) in enumerate(stored):
            epoch = HEADER.unpack_from(data)[2]
            chunks.append(ScannedChunk(*key, 0, 0, 0, base, end, epoch, epoch, len(data), 0, "", i))
        found = []
        for base, end, data in (stored[chunk.file_position] for chunk in ordered(chunks)):
            epoch = HEADER.unpack_from(data)[2]
            found.append(JournalRun(partial(_part, data), 0, len(data), base, end, epoch, self.synced))
        return found


def _part(data: bytes, at: int, size: int) -> bytes:
    return data[at : at + size]


def image(
    partitions: int = 1,
    configs: dict[str, str] | None = None,
    *,
    epoch: int = 0,
    revision: int = 1,
    active_groups: int = 1,
    topic_id: bytes = TOPIC_ID,
) -> MetadataImage:
    topic = TopicRecord("t", topic_id, partitions, 1, active_groups, configs or {}, False)
    streamlets = tuple(StreamletRecord(topic_id, i, 1, epoch, (1,)) for i in range(topic.streamlets))
    return MetadataImage(
        revision=revision,
        topics={"t": topic},
        topics_by_id={topic_id: topic},
        streamlets={topic_id: streamlets},
        base_revision=revision - 1,
        touched=frozenset({topic_id}),
    )


class Log:
    """A `LogManager` with everything it needs, which can be stopped in several ways and opened again."""

    def __init__(
        self,
        path: Path,
        configs: dict[str, str] | None = None,
        *,
        partitions: int = 1,
        settings: dict[str, str] | None = None,
        disk: Disk | None = None,
        automatic: bool = True,
        active_groups: int = 1,
        in_background: InBackground | None = None,
    ) -> None:
        self.in_background = in_background
        self.path = path
        self.configs = configs or {}
        self.partitions = partitions
        self.active_groups = active_groups
        self.settings = load(None, settings or {})
        self.disk = disk or Disk()
        self.clock = ManualClock()
        self.journal = Journal(automatic=automatic)
        self.epoch = 0
        self.poisoned: list[str] = []
        self.deferred: list[Callable[[], object]] = []
        self.revision = 1
        self._start(LeftAs.NEW)

    def _start(self, left_as: LeftAs) -> None:
        ports = LogPorts(lambda partition: self.journal, self.deferred.append, self.poisoned.append)
        ports.in_background = self.in_background or ports.in_background
        self.manager = LogManager(str(self.path), self.disk, self.clock, self.settings, ports, left_as)
        for key in self.journal.stored:
            self.manager.unopened.recovered(*key, self.journal.runs(key))
        self.manager.apply_image(self.image())

    def image(self, **changes: Any) -> MetadataImage:
        found = image(
            self.partitions,
            self.configs,
            epoch=self.epoch,
            revision=self.revision,
            active_groups=self.active_groups,
        )
        return replace(found, **changes)

    def partition(self, index: int = 0) -> Partition:
        partition = self.manager.partition(TOPIC_ID, index)
        assert partition is not None
        return partition

    def run_deferred(self) -> None:
        while self.deferred:
            self.deferred.pop(0)()

    def tick(self, seconds: float = 0.0) -> None:
        self.clock.advance(seconds)
        self.run_deferred()
        while self.manager.tick(self.clock.monotonic()):
            self.run_deferred()

    def restart(self, left_as: LeftAs, *, epoch: int | None = None) -> None:
        """Stop as ``left_as`` says and start again with the next leader epoch (rule 2b)."""
        if left_as is LeftAs.CLEAN:
            self.run_deferred()
            if self.manager.close():
                self.journal.stored.clear()
            else:
                assert not self.manager.checkpointing.exact, (
                    "only what a killed process left can stand in the way"
                )
                left_as = LeftAs.KILLED
        else:
            self.manager.files.close_all()
        self.journal.pending.clear()
        self.deferred.clear()
        self.epoch = self.epoch + 1 if epoch is None else epoch
        self._start(left_as)


def batch(
    *values: bytes | int,
    time: int = 1_700_000_000_000,
    codec: int = 0,
    producer: Producer = NO_PRODUCER,
    times: list[int] | None = None,
) -> memoryview:
    """A chunk with one record per value; an int is the size of a value."""
    records = [
        Record(None, bytes(value) if isinstance(value, int) else value, times[i] if times else time)
        for i, value in enumerate(values)
    ]
    return memoryview(build_batch(records, codec=codec, producer=producer))


def in_memory(partition: Partition, max_bytes: int = 10_000) -> memoryview:
    """The first piece that a fetch from the log start finds; it is in no file yet."""
    piece = partition.read(0, max_bytes).pieces[0]
    assert isinstance(piece, memoryview)
    return piece


def everything(partition: Partition, max_bytes: int = 1 << 20) -> bytes:
    """All chunks from the log start to the high watermark, fetched piece by piece as a consumer does."""
    from kproto.log.reader import load_blocking, load_nowait
    from kproto.wire.batch import hop

    out = bytearray()
    offset = partition.log_start_offset
    while offset < partition.high_watermark:
        read = partition.read(offset, max_bytes)
        data = b""
        for piece in read.pieces:
            if isinstance(piece, FileRange):
                data += (load_nowait([piece]) or load_blocking([piece]))[0]
            else:
                assert isinstance(piece, memoryview)
                data += piece
        assert data, f"nothing at {offset} of {partition}"
        for at, size, fields in hop(data):
            assert fields[0] <= offset or at > 0
            offset = fields[0] + fields[6] + 1
            end = at + size
        assert end == len(data)
        out += data
    return bytes(out)


async def in_turn(load: Any, ranges: Sequence[FileRange]) -> list[memoryview]:
    """Blocks."""
    loaded: list[memoryview] = load(ranges)
    return loaded


async def no_pause() -> None:
    """Nobody else has anything to do."""


async def looked_up(lookup: Any, blocking: Any = in_turn, pause: Any = no_pause) -> Any:
    """What a look-up by time finds that is the only one."""
    return await complete(lookup, blocking, pause, Line().place("it"))
