"""Partitions with several copies: the sealed log as others have it, and a log manager that takes it over."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kproto.directory import LeftAs
from kproto.log.epochs import EpochCache
from kproto.log.partition import Partition
from kproto.log.producers import Producers
from kproto.log.reader import FileRange, RemoteRange, load_blocking
from kproto.metadata import MetadataImage, StreamletRecord, TopicRecord
from kproto.wire.batch import HEADER, STAMP, hop
from tests.log.support import TOPIC_ID, Log

CONFIGS = {
    "kproto.segment.file.bytes": "65536",
    "segment.ms": "400",
    "index.interval.bytes": "300",
}
SETTINGS = {"kproto.log.memory.bytes": "1048576", "kproto.flush.bytes": "65536"}
START = 1_700_000_000_000
ME, OTHER = 1, 2


class Stored(NamedTuple):
    """A chunk of the sealed log."""

    base: int
    end: int
    data: bytes


class State(NamedTuple):
    log_start: int
    end_offset: int
    epochs: bytes
    producers: bytes


class Sealed:
    """The log as the copies have it: what a new leader must end up with. Serves remote reads."""

    def __init__(self) -> None:
        self.chunks: list[Stored] = []
        self.log_start = 0
        self.reads = 0

    @property
    def end(self) -> int:
        return self.chunks[-1].end if self.chunks else 0

    def add(self, chunk: memoryview, epoch: int) -> None:
        data = bytearray(chunk)
        fields = HEADER.unpack_from(data)
        base = self.end
        STAMP.pack_into(data, 0, base, fields[1], epoch)
        self.chunks.append(Stored(base, base + fields[12], bytes(data)))

    def fold(self, count: int) -> tuple[EpochCache, Producers]:
        epochs, producers = EpochCache(), Producers()
        for chunk in self.chunks[:count]:
            fields = HEADER.unpack_from(chunk.data)
            epochs.note(fields[2], chunk.base)
            if fields[9] >= 0:
                producers.add(fields[9], fields[10], fields[11], fields[12], chunk.base, fields[8])
        return epochs, producers

    def state(self, count: int) -> State | None:
        """The state behind the first ``count`` chunks."""
        if not count:
            return None
        epochs, producers = self.fold(count)
        epochs.cut_front(self.log_start)
        return State(0, self.chunks[count - 1].end, epochs.encode(), producers.encode())

    def from_(self, count: int) -> list[memoryview]:
        """The chunks behind the first ``count``, in runs of some."""
        rest = [chunk.data for chunk in self.chunks[count:]]
        return [memoryview(b"".join(rest[at : at + 3])) for at in range(0, len(rest), 3)]

    async def _read(self, wanted: RemoteRange) -> memoryview:
        self.reads += 1
        out = bytearray()
        for chunk in self.chunks:
            if chunk.end <= wanted.offset:
                continue
            if chunk.base >= wanted.limit:
                break
            if len(out) + len(chunk.data) > wanted.max_bytes and (out or not wanted.at_least_one):
                break
            out += chunk.data
        return memoryview(bytes(out))

    def read(self, wanted: RemoteRange) -> Awaitable[memoryview]:
        return self._read(wanted)


class Replicated(Log):
    """A log whose only topic has three copies; ``leader``, ``epoch`` and ``sources`` are what the image
    says."""

    def __init__(self, path: Path, sealed: Sealed, **more: Any) -> None:
        self.leader, self.sources, self.owner, self.state = ME, (0,), 0, 0
        self.sealed = sealed
        super().__init__(path, CONFIGS, settings={**SETTINGS, "node.id": str(ME)}, automatic=False, **more)

    def _start(self, left_as: LeftAs) -> None:
        super()._start(left_as)
        self.manager.ports.remote = self.sealed
        self.manager.leadership.owner_epoch = self.owner

    def image(self, **changes: Any) -> MetadataImage:
        topic = TopicRecord("t", TOPIC_ID, self.partitions, 3, 1, self.configs, False)
        streamlets = tuple(
            StreamletRecord(TOPIC_ID, i, self.leader, self.epoch, (ME, OTHER), self.state, self.sources)
            for i in range(self.partitions)
        )
        fields: dict[str, Any] = {
            "revision": self.revision,
            "topics": {"t": topic},
            "topics_by_id": {TOPIC_ID: topic},
            "streamlets": {TOPIC_ID: streamlets},
            "base_revision": self.revision - 1,
            "touched": frozenset({TOPIC_ID}),
        }
        return MetadataImage(**{**fields, **changes})

    def lead(self, leader: int) -> None:
        """A new leader, with the next leader epoch."""
        self.leader = leader
        self.epoch += 1
        self.apply()

    def apply(self) -> None:
        self.revision += 1
        self.manager.apply_image(self.image())

    def take_over(self, count: int, chunks: Sequence[memoryview] | None = None) -> int:
        """With the state behind ``count`` chunks."""
        found = self.sealed.from_(count) if chunks is None else chunks
        state, start = self.sealed.state(count), self.sealed.log_start
        return self.manager.take_over(TOPIC_ID, 0, self.epoch, state, found, start)


def run(coroutine: Any) -> Any:
    """The result of a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("it waits")


def read(partition: Partition, offset: int, max_bytes: int = 50_000) -> bytes:
    out = b""
    for piece in partition.read(offset, max_bytes).pieces:
        if isinstance(piece, RemoteRange):
            out += run(piece.load())
        elif isinstance(piece, FileRange):
            out += load_blocking([piece])[0]
        else:
            out += piece
    return out


def check_all(log: Replicated, step: int = 1) -> None:
    """The first partition is the fold of all chunks."""
    check_fold(log.partition(), log.sealed, step)


def check_fold(partition: Partition, sealed: Sealed, step: int = 1) -> None:
    """The partition is the fold of all chunks: offsets, epochs, producers, bytes."""
    assert partition.log_start_offset == sealed.log_start
    assert partition.log_end_offset == partition.high_watermark == sealed.end
    epochs, producers = sealed.fold(len(sealed.chunks))
    epochs.cut_front(sealed.log_start)
    assert (partition.epochs.epochs, partition.epochs.starts) == (epochs.epochs, epochs.starts)
    assert partition.producers.encode() == producers.encode()
    alive = [chunk for chunk in sealed.chunks if chunk.end > sealed.log_start]
    for number in range(0, len(alive), step):
        data = read(partition, max(alive[number].base, sealed.log_start))
        expected = b"".join(chunk.data for chunk in alive[number : number + len(list(hop(data)))])
        assert data
        assert data == expected, f"at {alive[number].base}"
