"""Virtual logs under the real log: random lives that end by a kill or a power loss, each followed by a
restart.

A broker's storage is driven as `broker` wires it: produce, flush, age, checkpoint, clean, restart. After each
end, everything acked must be there (after a power loss: everything acked in the SYNCED class, whatever class
the partition was in before), in one contiguous run of offsets per partition, byte for byte.
"""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kproto.clock import ManualClock
from kproto.config import load
from kproto.directory import LeftAs
from kproto.disk import PAGE, Buffer, Disk
from kproto.log import due
from kproto.log.checkpointing import Checkpointing
from kproto.log.manager import LogManager
from kproto.log.partition import Partition
from kproto.log.ports import LogPorts
from kproto.log.segment import Segment
from kproto.metadata import MetadataImage, StreamletRecord, TopicRecord
from kproto.vlog import pusher
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.crossing import Crossing
from kproto.vlog.manager import JOURNAL_DIRECTORY, VlogManager
from kproto.vlog.recovery import recover
from kproto.vlog.scan_point import decode_starts
from kproto.vlog.virtual_log import VirtualLog
from kproto.wire.batch import hop
from tests.log.support import batch, everything
from tests.vlog.conftest import TestLoop

SETTINGS = {
    "kproto.virtual.segment.bytes": "1048576",
    "kproto.journal.bytes": "8388608",
    "kproto.log.memory.bytes": "4194304",
    "kproto.flush.age.ms": "2000",
    "kproto.checkpoint.interval.ms": "3000",
    "kproto.vlogs.per.broker": "2",
}
TOPICS: dict[str, dict[str, str]] = {
    "memory": {"kproto.segment.file.bytes": "1048576", "segment.bytes": "3145728"},
    "synced": {"flush.messages": "1"},
    "timed": {"flush.messages": "7", "flush.ms": "1000"},
}
CLASSES: list[dict[str, str]] = [{}, {"flush.messages": "5"}, {"flush.messages": "1"}]
PARTITIONS = 3
SIZES = (90, 300, 1000, 5000, 20_000, 90_000)


class PowerDisk(Disk):
    """Remembers what unsynced writes replaced, so that a power loss can take some of them back."""

    def __init__(self) -> None:
        self.paths: dict[int, str] = {}
        self.undo: dict[str, list[tuple[int, int, bytes]]] = {}

    def open(self, path: str, *, create: bool = False, write: bool = True) -> int:
        fd = super().open(path, create=create, write=write)
        self.paths[fd] = path
        return fd

    def pwritev(self, fd: int, buffers: Sequence[Buffer], position: int, length: int = -1) -> int:
        total = sum(len(buffer) for buffer in buffers)
        before = os.pread(fd, total, position)
        self.undo.setdefault(self.paths[fd], []).append((position, os.fstat(fd).st_size, before))
        return super().pwritev(fd, buffers, position, length)

    def datasync(self, fd: int) -> None:
        done = len(self.undo.get(self.paths[fd], ()))
        super().datasync(fd)
        del self.undo.get(self.paths[fd], [])[:done]

    def rename(self, source: str, target: str) -> None:
        super().rename(source, target)
        self.undo[target] = self.undo.pop(source, [])
        for fd, path in self.paths.items():
            if path == source:
                self.paths[fd] = target

    def lose_power(self, rng: random.Random) -> None:
        """Take back some of the last unsynced writes of each file."""
        for path, writes in self.undo.items():
            if not os.path.exists(path):
                continue
            keep = rng.randint(0, len(writes))
            fd = os.open(path, os.O_RDWR)
            for position, size, before in reversed(writes[keep:]):
                if rng.random() < 0.8:
                    os.pwrite(fd, before, position)
                    if size < position + len(before) or len(before) == 0:
                        os.ftruncate(fd, max(size, 0))
            os.close(fd)
        self.undo.clear()
        self.paths.clear()


class FullForOne(PowerDisk):
    """No room is left for one file."""

    refused = ""

    def pwritev(self, fd: int, buffers: Sequence[Buffer], position: int, length: int = -1) -> int:
        if self.paths[fd] == self.refused:
            raise OSError(errno.ENOSPC, "no room", self.refused)
        return super().pwritev(fd, buffers, position, length)


class Everything(random.Random):
    """Takes back every unsynced write."""

    def randint(self, a: int, b: int) -> int:
        return a

    def random(self) -> float:
        return 0.0


@dataclass
class Node:
    """One data directory and the process over it; the model knows what was sent and acked."""

    path: Path
    disk: PowerDisk
    epoch: int = 0
    boot: bytes = b"\1" * 16
    left_as: LeftAs = LeftAs.NEW
    sent: dict[tuple[str, int], dict[int, bytes]] = field(default_factory=dict)
    acked: dict[tuple[str, int], int] = field(default_factory=dict)
    promised: dict[tuple[str, int], int] = field(default_factory=dict)
    """What was acked in the SYNCED class."""
    topics: dict[str, dict[str, str]] = field(default_factory=lambda: dict(TOPICS))
    revision: int = 0
    losses: list[str] = field(default_factory=list)
    power_was_lost: bool = False

    def start(self) -> None:
        self.epoch += 1
        self.loop = TestLoop()
        self.clock = ManualClock(1_700_000_000_000 + self.epoch * 10_000_000)
        self.poison: list[str] = []
        settings = load(None, SETTINGS)
        self.vlogs = VlogManager(
            str(self.path),
            settings,
            self.disk,
            self.clock,
            self.loop,
            self.epoch,
            self.poison.append,
            self.boot,
        )
        ports = LogPorts(
            self.vlogs.assign, self.loop.call_soon, self.vlogs.poison, scan_point=self.vlogs.scan_point
        )
        self.logs = LogManager(str(self.path), self.disk, self.clock, settings, ports, self.left_as)
        self.logs.apply_image(self.image())
        found = recover(
            self.disk,
            str(self.path / JOURNAL_DIRECTORY),
            decode_starts(self.logs.checkpointing.file.point),
            self.boot,
            power_lost=self.left_as is LeftAs.POWER_LOST,
        )
        self.losses = found.losses
        for key, runs in found.runs():
            self.logs.unopened.recovered(*key, runs)
        self.vlogs.on_flushed = self.logs.checkpointing.write_soon
        self.vlogs.inherit(found, self.logs.settled, self.unsynced)

    def image(self) -> MetadataImage:
        topics = {
            name: TopicRecord(name, name.encode().ljust(16, b"."), PARTITIONS, 1, 1, configs, False)
            for name, configs in self.topics.items()
        }
        self.revision += 1
        return MetadataImage(
            revision=self.revision,
            base_revision=-1,
            topics=topics,
            topics_by_id={topic.topic_id: topic for topic in topics.values()},
            streamlets={
                topic.topic_id: tuple(
                    StreamletRecord(topic.topic_id, i, 1, self.epoch, (1,)) for i in range(PARTITIONS)
                )
                for topic in topics.values()
            },
        )

    def configure(self, topic: str, configs: dict[str, str]) -> None:
        self.topics[topic] = configs
        self.logs.apply_image(self.image())

    def unsynced(self, topic_id: bytes, index: int) -> list[Segment] | None:
        stream = self.logs.streams.get(topic_id)
        partition = stream.partitions.get(index) if stream is not None else None
        return partition.unsynced() if partition is not None else None

    def partition(self, topic: str, index: int) -> Partition:
        partition = self.logs.partition(topic.encode().ljust(16, b"."), index)
        assert partition is not None
        return partition

    def produce(self, rng: random.Random) -> None:
        key = rng.choice(list(self.topics)), rng.randrange(PARTITIONS)
        partition = self.partition(*key)
        for _ in range(rng.choice((1, 1, 1, 8))):
            self.send(partition, key, rng.randbytes(rng.choice(SIZES)))

    def send(self, partition: Partition, key: tuple[str, int], payload: bytes) -> None:
        data = batch(payload)
        writable = memoryview(bytearray(data))
        base = partition.append(writable, owned=True)[0]
        end = partition.log_end_offset
        self.sent.setdefault(key, {})[base] = bytes(data)
        vlog = partition.vlog
        assert isinstance(vlog, VirtualLog | Crossing)
        vlog.when_durable(vlog.end, lambda: self.ack(key, end, vlog))

    def ack(self, key: tuple[str, int], end: int, vlog: VirtualLog | Crossing) -> None:
        assert end > self.acked.get(key, 0)
        self.acked[key] = end
        where = vlog.ahead if isinstance(vlog, Crossing) else vlog
        if self.vlogs._of[where].klass.policy is FlushPolicy.SYNCED:  # type: ignore[index]
            self.promised[key] = end

    def drained(self) -> bool:
        self.clock.advance(0.25)
        self.logs.tick(self.clock.monotonic())
        self.vlogs.tick()
        return self.vlogs.drain()

    def live(self, rng: random.Random, steps: int) -> None:
        for _ in range(steps):
            if "changing" in self.topics and rng.random() < 0.1:
                self.configure("changing", rng.choice(CLASSES))
            what = rng.random()
            if what < 0.75:
                self.produce(rng)
            elif what < 0.8:
                self.loop.until(self.drained)
            elif what < 0.9:
                self.clock.advance(rng.choice((0.1, 0.7, 2.5)))
                self.logs.tick(self.clock.monotonic())
                self.vlogs.tick()
            else:
                self.logs.flushing.flush_all()
            if rng.random() < 0.7:
                self.loop.turn()
        assert not self.poison
        assert not self.loop.errors

    def die(self) -> None:
        self.vlogs.space.closed = True
        self.vlogs.cleaner.stopped = True
        self.vlogs._sync_worker.close()
        self.vlogs._timed_worker.close()
        self.vlogs._clean_worker.close()
        self.logs.files.close_all()

    def kill(self) -> None:
        self.die()
        self.left_as = LeftAs.KILLED
        self.start()
        assert self.power_was_lost or not self.losses
        self.verify(self.acked)

    def lose_power(self, rng: random.Random) -> None:
        self.die()
        self.disk.lose_power(rng)
        self.boot = bytes([self.epoch % 250 + 2]) * 16
        self.left_as = LeftAs.POWER_LOST
        self.power_was_lost = True
        self.start()
        self.verify(self.promised)

    def stop_cleanly(self) -> None:
        self.loop.until(self.drained)
        assert self.logs.close()
        self.vlogs.close()
        self.left_as = LeftAs.CLEAN
        self.start()
        assert self.power_was_lost or not self.losses
        self.verify(self.acked)

    def verify(self, least: Mapping[tuple[str, int], int]) -> None:
        """Each partition is a prefix of what was sent, and goes at least to where ``least`` says."""
        for key in [(topic, index) for topic in self.topics for index in range(PARTITIONS)]:
            partition = self.partition(*key)
            end = partition.log_end_offset
            assert partition.high_watermark == end
            assert end >= least.get(key, 0), f"{key}: acked {least.get(key)}, found {end}"
            data = everything(partition)
            found = {fields[0]: data[at + 61 : at + size] for at, size, fields in hop(data)}
            sent = self.sent.get(key, {})
            assert found == {base: sent[base][61:] for base in sorted(sent) if base < end}, key
            self.sent[key] = {base: chunk for base, chunk in sent.items() if base < end}
            self.acked[key] = end


@pytest.mark.parametrize("seed", range(6))
def test_kills_lose_nothing_that_was_acked(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    node = Node(tmp_path, PowerDisk())
    node.start()
    for _ in range(6):
        node.live(rng, rng.choice((1, 30, 300)))
        if rng.random() < 0.15:
            node.stop_cleanly()
        else:
            node.kill()
    node.die()


@pytest.mark.parametrize("seed", range(4))
def test_neither_do_ends_amid_batches_that_take_several_turns(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (due, pusher):
        monkeypatch.setattr(module, "BYTES_A_TURN", 15_000)
    rng = random.Random(300 + seed)
    node = Node(tmp_path, PowerDisk(), topics=TOPICS | {"changing": {}})
    node.start()
    for _ in range(6):
        node.live(rng, rng.choice((1, 30, 100)))
        if rng.random() < 0.4:
            node.lose_power(rng)
        else:
            node.kill()
    node.die()


@pytest.mark.parametrize("seed", [*range(5), 32, 43, 45, 88])
def test_power_losses_lose_nothing_that_was_synced(tmp_path: Path, seed: int) -> None:
    """Seeds above 4 found something: stale chunks behind a gap, old headers of recycled files."""
    rng = random.Random(100 + seed)
    node = Node(tmp_path, PowerDisk())
    node.start()
    for _ in range(6):
        node.live(rng, rng.choice((1, 30, 300)))
        if rng.random() < 0.6:
            node.lose_power(rng)
        else:
            node.kill()
    node.die()


@pytest.mark.parametrize("seed", [*range(6), 33, 34, 43, 57])
def test_power_losses_lose_nothing_that_was_synced_whatever_the_topic_was_before(
    tmp_path: Path, seed: int
) -> None:
    rng = random.Random(200 + seed)
    node = Node(tmp_path, PowerDisk(), topics={"changing": {}, "synced": TOPICS["synced"]})
    node.start()
    for _ in range(6):
        node.live(rng, rng.choice((1, 30, 100)))
        if rng.random() < 0.6:
            node.lose_power(rng)
        else:
            node.kill()
    node.die()


def older_records(node: Node, path: Path, how: str) -> tuple[str, int]:
    """A partition with three unsynced records."""
    node.topics = {"changing": {"flush.messages": "1000"} if how == "timed" else {}}
    node.start()
    key = ("changing", 0)
    partition = node.partition(*key)
    for fill in (b"a", b"b", b"c"):
        node.send(partition, key, fill * (90_000 if how == "written directly" else 500))
        if how == "in two segments":
            node.loop.until(node.drained)
            partition.roll_group()
    node.loop.until(node.drained)
    if how == "in files":
        node.logs.flushing.flush_all()
    if how == "of an earlier process":
        node.kill()
        partition = node.partition(*key)
    assert sum(segment.measure() - segment.synced for segment in partition.unsynced()) > 1500
    return key


@pytest.mark.parametrize(
    "how",
    ["in memory", "in files", "in two segments", "written directly", "of an earlier process", "timed"],
)
def test_the_first_ack_with_syncs_means_that_the_older_records_are_synced_too(
    tmp_path: Path, how: str
) -> None:
    node = Node(tmp_path, PowerDisk())
    key = older_records(node, tmp_path, how)
    node.configure("changing", {"flush.messages": "1"})
    node.send(node.partition(*key), key, b"d" * 500)
    node.loop.until(node.drained)
    assert node.promised[key] == 4
    node.lose_power(Everything(0))
    assert node.partition(*key).log_end_offset == 4
    node.die()


def test_who_started_anew_with_the_stricter_config_syncs_what_the_old_journal_has(tmp_path: Path) -> None:
    node = Node(tmp_path, PowerDisk())
    key = older_records(node, tmp_path, "in memory")
    node.topics["changing"] = {"flush.messages": "1"}
    node.kill()
    node.send(node.partition(*key), key, b"d" * 500)
    node.loop.until(node.drained)
    assert node.promised[key] == 4
    node.lose_power(Everything(0))
    assert node.partition(*key).log_end_offset == 4
    node.die()


def test_older_records_are_synced_though_their_partition_moves_on_before_it_appends(tmp_path: Path) -> None:
    node = Node(tmp_path, PowerDisk())
    key = older_records(node, tmp_path, "in memory")
    node.configure("changing", {"flush.messages": "1"})
    partition = node.partition(*key)
    first = partition.vlog
    for count in ("1", "3", "4", "5"):
        node.vlogs.apply_settings(load(None, {**SETTINGS, "kproto.vlogs.per.broker": count}), [partition])
    assert partition.vlog is not first
    node.send(partition, key, b"d" * 500)
    node.loop.until(node.drained)
    node.lose_power(Everything(0))
    assert node.partition(*key).log_end_offset == 4
    node.die()


def test_a_timed_sync_covers_what_the_topic_had_before(tmp_path: Path) -> None:
    node = Node(tmp_path, PowerDisk())
    key = older_records(node, tmp_path, "in memory")
    node.configure("changing", {"flush.messages": "2"})
    for fill in (b"d", b"e"):
        node.send(node.partition(*key), key, fill * 500)
    node.loop.until(node.drained)
    group_sync = node.vlogs._of[node.partition(*key).vlog].group_sync  # type: ignore[index]
    assert group_sync is not None
    node.loop.until(lambda: group_sync.syncs == 1)
    node.lose_power(Everything(0))
    assert node.partition(*key).log_end_offset == 5
    node.die()


def test_a_full_disk_holds_the_first_ack_until_the_older_records_are_synced(tmp_path: Path) -> None:
    disk = FullForOne()
    node = Node(tmp_path, disk)
    key = older_records(node, tmp_path, "in memory")
    partition = node.partition(*key)
    disk.refused = partition.segments[0].path
    node.configure("changing", {"flush.messages": "1"})
    node.send(partition, key, b"d" * 500)
    node.loop.until(lambda: node.vlogs.space.full)
    assert node.acked[key] == 3
    disk.refused = ""
    node.loop.until(node.drained)
    assert node.acked[key] == 4
    node.lose_power(Everything(0))
    assert node.partition(*key).log_end_offset == 4
    node.die()


def test_what_a_partition_has_in_another_virtual_log_is_not_cut_off_by_a_power_loss(tmp_path: Path) -> None:
    """Found by simulation: the file of a later segment was synced and its journal file given back, but the
    segment before it had its records in the journal of the virtual log that the partition had left. Its file
    was torn, and a start cuts off what lies behind."""
    node = Node(tmp_path, PowerDisk())
    node.start()
    key = (
        "synced",
        next(i for i in range(PARTITIONS) if node.vlogs._place(node.partition("synced", i)).number),
    )
    partition = node.partition(*key)
    left = partition.vlog
    node.send(partition, key, b"a" * 500)
    node.loop.until(node.drained)
    partition.roll_group()
    node.logs.flushing.flush_all()
    node.configure("synced", {"flush.messages": "1", "kproto.vlogs": "1"})
    assert partition.vlog is not left
    for fill in range(13):
        node.send(partition, key, bytes([fill]) * 90_000)
        node.loop.until(node.drained)
    assert node.vlogs.cleaner.closed, "its first virtual segment is full"
    node.vlogs.cleaner.press()
    node.loop.until(lambda: not node.vlogs.cleaner.closed)
    node.lose_power(Everything(0))
    assert node.partition(*key).log_end_offset == node.acked[key] == 14
    node.die()


def test_a_chunk_is_written_to_its_file_alone_only_behind_files_that_are_whole(tmp_path: Path) -> None:
    """The segment before it is in the journal only: a start cuts off what lies behind its file."""
    disk = FullForOne()
    node = Node(tmp_path, disk)
    node.start()
    key = ("memory", 0)
    partition = node.partition(*key)
    node.send(partition, key, b"a" * 500)
    node.loop.until(node.drained)
    disk.refused = partition.segments[0].path
    partition.roll_group()
    node.send(partition, key, b"b" * 90_000)
    node.loop.until(node.drained)
    assert len(partition.segments) == 2
    disk.refused = ""
    node.kill()
    assert node.partition(*key).log_end_offset == node.acked[key] == 2
    node.die()


class Sizes(PowerDisk):
    """Remembers how much each write of a file had."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[tuple[str, int]] = []

    def pwritev(self, fd: int, buffers: Sequence[Buffer], position: int, length: int = -1) -> int:
        wrote = super().pwritev(fd, buffers, position, length)
        self.writes.append((Path(self.paths[fd]).suffix, wrote))
        return wrote

    def largest(self, suffix: str) -> list[int]:
        """Sizes of the large writes of such files."""
        return [size for of, size in self.writes if of == suffix and size > 2 * PAGE]


def large_batch_sent(
    tmp_path: Path, config: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> tuple[Node, Sizes, tuple[str, int]]:
    """A partition with one small batch that is stored and one of several turns, nothing of which is yet."""
    for module in (due, pusher):
        monkeypatch.setattr(module, "BYTES_A_TURN", 100_000)
    disk = Sizes()
    node = Node(tmp_path, disk, topics={"t": {"max.message.bytes": "2000000", **config}})
    node.start()
    key = ("t", 0)
    node.send(node.partition(*key), key, b"a" * 500)
    node.loop.until(node.drained)
    disk.writes.clear()
    node.send(node.partition(*key), key, b"b" * 450_000)
    return node, disk, key


@pytest.mark.parametrize("config", [{}, {"flush.messages": "1"}, {"flush.messages": "1000"}])
def test_a_large_batch_is_written_in_turns_and_the_head_of_its_frame_comes_last(
    tmp_path: Path, config: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    node, disk, key = large_batch_sent(tmp_path, config, monkeypatch)
    node.send(node.partition("t", 1), ("t", 1), b"c" * 500)
    where = ".journal" if config else ".chunks"
    while len(disk.largest(where)) < 5:
        assert node.acked[key] == 1
        node.loop.turn()
    node.loop.until(node.drained)
    assert node.acked == {key: 2, ("t", 1): 1}
    assert [size for size in disk.largest(where)[:4] if not 100_000 <= size < 100_000 + PAGE] == []
    assert max(size for _, size in disk.writes) < 100_000 + PAGE
    node.kill()
    node.die()


@pytest.mark.parametrize("config", [{}, {"flush.messages": "1"}])
def test_a_large_batch_that_was_written_in_part_is_nothing(
    tmp_path: Path, config: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    node, disk, key = large_batch_sent(tmp_path, config, monkeypatch)
    while len(disk.largest(".journal" if config else ".chunks")) < 3:
        node.loop.turn()
    node.kill()
    assert node.partition(*key).log_end_offset == 1
    node.send(node.partition(*key), key, b"c" * 450_000)
    node.loop.until(node.drained)
    node.kill()
    assert node.partition(*key).log_end_offset == 2
    node.die()


def test_a_kill_takes_nothing_behind_deleted_records_that_were_in_no_file(tmp_path: Path) -> None:
    """What is written to its file alone is in none of the journals; a start that does not know of the
    deletion misses what went before it, and cuts off what lies behind."""
    node = Node(tmp_path, PowerDisk())
    node.start()
    key = ("memory", 0)
    partition = node.partition(*key)
    node.send(partition, key, b"a" * 500)
    node.logs.flushing.flush_all()
    node.send(partition, key, b"b" * 500)
    node.loop.turn()
    assert partition.delete_records(-1) == 2
    node.send(partition, key, b"c" * 90_000)
    node.loop.turn()
    assert node.acked[key] == 3
    node.die()
    node.left_as = LeftAs.KILLED
    node.start()
    assert node.partition(*key).log_end_offset == 3
    node.die()


def killed_then_stopped(node: Node) -> None:
    """And started again each time; nobody opens anything between."""
    for left_as in (LeftAs.KILLED, LeftAs.CLEAN):
        if left_as is LeftAs.CLEAN:
            assert node.logs.close()
            node.vlogs.close()
        else:
            node.die()
        node.left_as = left_as
        node.start()


def test_what_two_kills_left_in_files_before_a_checkpoint_is_there_after_a_clean_stop(tmp_path: Path) -> None:
    """The first one came before the partition was in a checkpoint; the process after it gave the journal
    back, for all is in a synced file, and the next one had no reason to open the partition. The checkpoint
    of its clean stop was believed, and the partition was empty."""
    node = Node(tmp_path, PowerDisk())
    node.start()
    key = ("memory", 0)
    node.send(node.partition(*key), key, b"a" * 90_000)
    node.loop.turn()
    assert node.acked[key] == 1
    node.kill()
    node.clock.advance(5.0)
    node.loop.until(lambda: (node.drained(), node.vlogs._inherited is None)[1])
    killed_then_stopped(node)
    node.verify(node.acked)
    assert node.partition(*key).log_end_offset == 1
    node.die()


def test_a_stop_goes_on_though_its_pushes_make_another_virtual_log(tmp_path: Path) -> None:
    """Of a topic whose class has changed twice since: it had waited for what was on its way."""
    node = Node(tmp_path, PowerDisk(), topics={"changing": {}})
    node.start()
    key = ("changing", 0)
    node.send(node.partition(*key), key, b"a" * 100)
    for configs in ({"flush.messages": "1"}, {"flush.messages": "5"}):
        node.configure("changing", configs)
    node.send(node.partition(*key), key, b"b" * 100)
    node.stop_cleanly()
    assert node.acked[key] == 2
    node.die()


def test_what_was_deleted_before_acks_waited_for_syncs_takes_nothing_behind_it(tmp_path: Path) -> None:
    """It was not synced, and no checkpoint with the new log start was: after a loss of power the log began
    before that again, and ended there."""
    node = Node(tmp_path, PowerDisk(), topics={"changing": {}})
    node.start()
    key = ("changing", 0)
    partition = node.partition(*key)
    for _ in range(3):
        node.send(partition, key, b"a" * 5000)
        node.loop.turn()
        node.logs.flushing.flush_all()
        node.logs.checkpointing.note_down([partition], sync=True)
    assert partition.delete_records(-1) == 3
    node.configure("changing", {"flush.messages": "1"})
    node.send(partition, key, b"b" * 100)
    node.loop.until(lambda: node.acked.get(key) == 4)
    assert node.promised[key] == 4
    node.die()
    node.disk.lose_power(Everything())
    node.boot, node.left_as, node.power_was_lost = b"\2" * 16, LeftAs.POWER_LOST, True
    node.start()
    partition = node.partition(*key)
    assert (partition.log_start_offset, partition.log_end_offset) == (3, 4)
    node.die()


class Names(PowerDisk):
    """Notes what becomes of names in the journal's directory."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []

    def unlink(self, path: str) -> None:
        super().unlink(path)
        if f"/{JOURNAL_DIRECTORY}/" in path:
            self.done.append("unlink")

    def sync_directory(self, path: str) -> None:
        super().sync_directory(path)
        if path.endswith(f"/{JOURNAL_DIRECTORY}"):
            self.done.append("sync")


def test_no_loss_of_power_brings_journal_files_back_after_a_clean_stop(tmp_path: Path) -> None:
    """Their headers may never have got to the medium: a start after a clean stop takes that for damage."""
    disk = Names()
    node = Node(tmp_path, disk)
    node.start()
    key = ("memory", 0)
    node.send(node.partition(*key), key, b"a" * 100)
    node.loop.until(node.drained)
    assert node.logs.close()
    disk.done.clear()
    node.vlogs.close()
    assert disk.done.count("unlink") > 0
    assert disk.done[-1] == "sync"
    node.left_as = LeftAs.CLEAN
    node.start()
    node.verify(node.acked)


def test_many_that_come_to_a_class_with_syncs_wait_for_one_sync_of_where_they_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """250 in one push held the loop for a second, because records of another one had just been deleted."""
    monkeypatch.setitem(SETTINGS, "kproto.vlogs.per.broker", "1")
    node = Node(tmp_path, PowerDisk(), topics={"changing": {}, "memory": {}})
    node.start()
    keys = [("changing", index) for index in range(PARTITIONS)]
    for key in (*keys, ("memory", 0)):
        node.send(node.partition(*key), key, b"a" * 100)
    node.loop.turn()
    for key in (*keys[1:], ("memory", 0)):
        node.partition(*key).delete_records(-1)
    node.configure("changing", {"flush.messages": "1"})
    noted: list[list[int]] = []
    note_down = Checkpointing.note_down

    def note(self: Checkpointing, partitions: Iterable[Partition], sync: bool = False) -> None:
        noted.extend([[one.index for one in partitions]] if sync else [])
        note_down(self, partitions, sync)

    monkeypatch.setattr(Checkpointing, "note_down", note)
    for key in keys:
        node.send(node.partition(*key), key, b"b" * 100)
    node.loop.until(lambda: all(node.acked[key] == 2 for key in keys))
    assert noted == [[1, 2]], "nothing is deleted of the first one"
    node.die()


@pytest.mark.parametrize("closed", [False, True])
def test_what_a_kill_left_in_a_file_is_synced_by_a_clean_stop_though_nobody_opened_it(
    tmp_path: Path, closed: bool
) -> None:
    """It had not come to the journal, and the checkpoint knew the file without it. The next start took all of
    the file for synced, and what was acknowledged behind it was lost with the power."""
    node = Node(tmp_path, PowerDisk())
    node.start()
    node.stop_cleanly()
    key = ("synced", 0)
    partition = node.partition(*key)
    for _ in range(2):
        node.send(partition, key, b"a" * 500)
        node.loop.until(lambda: partition.high_watermark == partition.log_end_offset)
        if closed:
            partition.roll_group()
            closed = False
    for _ in range(2):
        node.stop_cleanly()
    partition = node.partition(*key)
    node.send(partition, key, b"b" * 500)
    node.logs.flushing.flush_all()
    assert node.acked[key] == 2
    killed_then_stopped(node)
    node.send(node.partition(*key), key, b"c" * 500)
    node.loop.until(lambda: node.promised.get(key, 0) == node.partition(*key).log_end_offset)
    node.lose_power(Everything())
    node.die()
