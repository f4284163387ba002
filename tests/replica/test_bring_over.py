"""Old data brought over: afterwards everything is in files here, and it is the fold of all chunks."""

from __future__ import annotations

import asyncio
import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kproto.clock import SystemClock
from kproto.directory import LeftAs
from kproto.disk import Disk, SyncError
from kproto.log.above import DIRECTORIES_ABOVE, Above
from kproto.log.files import FETCHING, partition_directory
from kproto.log.partition import Partition
from kproto.log.segment import Segment
from kproto.metadata import MetadataImage
from kproto.metadata.records import BrokerRecord
from kproto.metadata.vlogs import VsegId, VsegRecord
from kproto.replica import bring_over
from kproto.replica.bring_over import BringOver, Filling, first_of
from kproto.replica.messages import PartitionKey, ReadChunk
from tests.log.support import TOPIC_ID, batch
from tests.replica.sealed_world import Vlog, World
from tests.replica.test_takeover import Run, read, simulate

pytestmark = pytest.mark.usefixtures("impatient")


class AtOnce:
    """Does what a thread would do, at once, and says so ``seconds`` later."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds

    def submit(self, call: Callable[[], object], done: Callable[[BaseException | None], object]) -> None:
        error: BaseException | None = None
        try:
            call()
        except OSError as raised:
            error = raised
        asyncio.get_running_loop().call_later(self.seconds, done, error)


class Later(AtOnce):
    """Does it ``seconds`` later."""

    def submit(self, call: Callable[[], object], done: Callable[[BaseException | None], object]) -> None:
        asyncio.get_running_loop().call_later(self.seconds, super().submit, call, done)


class Poisoned:
    """What `BringOver` sees of the virtual logs."""

    def __init__(self) -> None:
        self.poisoned: str | None = None

    def poison(self, reason: str) -> None:
        self.poisoned = reason


def bringing(
    run: Run, seconds: float = 0.0, disk: Disk | None = None, poisoned: Poisoned | None = None
) -> BringOver:
    found = BringOver(
        run.reach,
        run.world.metadata,
        run.world.log.manager,
        disk or run.world.log.disk,
        AtOnce(seconds),
        SystemClock(),
        poisoned or Poisoned(),
    )
    run.takeover.on_online = found.add
    return found


async def finished(bring: BringOver, patience: int = 4000) -> None:
    for _ in range(patience):
        if not bring.state()["partitions"]:
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it takes too long")


@given(seed=st.integers(0, 1 << 32), owners=st.integers(1, 4))
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
def test_afterwards_nobody_else_is_needed(seed: int, owners: int) -> None:
    async def go(run: Run) -> None:
        world = run.world
        bring = bringing(run)
        if seed % 3 == 0:
            world.free()
            world.metadata.publish()
        world.peers.silent = world.random.choice((0, 0, 3))
        world.log.before_me = world.random.choice(((), (0,), (-2, -1, 0)))
        await run.online()
        await run.check(5)
        await finished(bring)
        world.peers.failing = dict.fromkeys((2, 3), "gone")
        await run.check(3)
        for key in world.keys:
            partition = world.log.partition(key[1])
            assert not list(partition.holes())
            partition.flush()
        # An earlier process's files are enough, whatever is asked of the copies later.
        world.log.online.clear()
        world.log.restart(LeftAs.KILLED)
        world.peers.failing = {}
        again = Run(world)
        await again.online()
        world.peers.failing = dict.fromkeys((2, 3), "gone")
        await again.check(3)

    simulate(seed, owners, go)


def survivors(world: World, key: PartitionKey) -> list[tuple[int, int, bytes]]:
    """Offsets and bytes of the chunks of a partition that some virtual segment has which was not given up."""
    found = {
        (chunk.base, chunk.end, chunk.data)
        for vlog in world.vlogs
        for record in vlog.records()
        if record.id not in world.lost
        for frame in vlog.inside(record.id, 0, world.shortened.get(record.id, vlog.end))
        for chunk in frame.chunks
        if chunk.key == key
    }
    return sorted(found)


async def check_what_is_left(world: World, step: int) -> None:
    """Every log is the end of what was, as long as it can be without a hole, and not shorter than any state
    that is left says."""
    for key, sealed in world.truth.items():
        partition = world.log.partition(key[1])
        left = survivors(world, key)
        start, end = partition.log_start_offset, partition.high_watermark
        assert end == partition.log_end_offset
        assert max((stop for _, stop, _ in left), default=0) <= end <= sealed.end
        mine = [tuple(chunk) for chunk in sealed.chunks if start < chunk.end <= end]
        assert {chunk for chunk in left if chunk[1] > start} <= set(mine)
        if start > sealed.log_start:
            before = [chunk for chunk in sealed.chunks if chunk.end <= start]
            assert tuple(before[-1]) not in left, "what is given up ends with what is lost"
            assert world.starts[key] == start, "the store knew first"
        for number in range(0, len(mine), step):
            data = await read(partition, max(mine[number][0], start), 3000)
            assert data
            assert b"".join(chunk[2] for chunk in mine[number:]).startswith(data)


@pytest.mark.parametrize("when", ["before the takeover", "before it was brought over"])
@given(seed=st.integers(0, 1 << 32), owners=st.integers(1, 4))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_was_given_up_is_as_if_deleted(when: str, seed: int, owners: int) -> None:
    async def go(run: Run) -> None:
        world = run.world
        ids = [record.id for vlog in world.vlogs for record in vlog.records() if not record.empty]
        lost = set(world.random.sample(ids, min(len(ids), world.random.randint(1, 3))))
        bring = bringing(run)
        if when == "before the takeover":
            world.lost = lost
            world.metadata.publish()
            await run.online()
        else:
            await run.online()
            assert not world.starts
            world.lost = lost
            world.metadata.publish()
        world.peers.silent = world.random.choice((0, 0, 3))
        await finished(bring)
        world.peers.failing = dict.fromkeys((2, 3), "gone")
        await check_what_is_left(world, 3)
        assert not any(list(world.log.partition(key[1]).holes()) for key in world.keys)

    simulate(seed, owners, go)


@given(seed=st.integers(0, 1 << 32), owners=st.integers(1, 4))
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_an_end_that_was_given_up_leaves_no_gap(seed: int, owners: int) -> None:
    """A partition that had moved on to another virtual log of its owner has later chunks there."""

    async def go(run: Run) -> None:
        world = run.world
        bring = bringing(run)
        world.shorten()
        world.metadata.publish()
        world.peers.silent = world.random.choice((0, 0, 3))
        await run.online()
        await finished(bring)
        await check_what_is_left(world, 3)
        assert not any(list(world.log.partition(key[1]).holes()) for key in world.keys)

    simulate(seed, owners, go)


def test_nothing_is_given_up_as_long_as_a_copy_may_come_back() -> None:
    async def go(run: Run) -> None:
        world = run.world
        ids = [record.id for vlog in world.vlogs for record in vlog.records() if not record.empty]
        await run.online()
        assert any(world.log.manager.may_lack(*key) for key in world.keys)
        world.lost = {ids[0]}
        world.metadata.publish()
        world.peers.failing = dict.fromkeys((2, 3), "gone")
        bring = bringing(run)
        bring.add(world.keys)  # not before: it may be quick
        with pytest.raises(AssertionError, match="too long"):
            await finished(bring, 20)
        assert not world.starts, "others cannot be read: perhaps they have it"
        world.peers.failing = {}
        await finished(bring)
        assert world.starts
        await check_what_is_left(world, 1)

    simulate(0, 3, go)


def test_what_another_partition_waits_for_holds_up_nobody_else() -> None:
    """Its own last owner has something that nobody can read; what both had before was given up."""

    async def go(run: Run, mine: list[VsegId], others: list[VsegId]) -> None:
        world = run.world
        await run.online()
        world.lost, world.bare = set(mine), set(others)
        world.metadata.publish()
        bring = bringing(run)
        bring.add(world.keys)
        for _ in range(400):
            if not list(world.log.partition(0).holes()):
                break
            await asyncio.sleep(0.005)
        assert list(world.starts) == [world.keys[0]]
        assert list(world.log.partition(1).holes()), "perhaps what it wants is there"
        world.lost |= world.bare
        world.metadata.publish()
        await finished(bring)
        assert list(world.starts) == world.keys

    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory), 3, 2)
        world.owner(40)
        first = [record.id for vlog in world.vlogs for record in vlog.records() if not record.empty]
        keys, world.keys = world.keys, world.keys[1:]
        world.owner(40)
        world.keys = keys
        second = [record.id for vlog in world.vlogs for record in vlog.records() if not record.empty]
        image = world.log.image

        def without(**changes: Any) -> MetadataImage:
            """The second owner never led the first partition."""
            found = image(**changes)
            one = found.streamlets[TOPIC_ID][0]
            one.sources = tuple(epoch for epoch in one.sources if epoch != world.epochs[1])
            return found

        world.log.image = without  # type: ignore[method-assign]
        asyncio.run(go(Run(world), first[:2], second[len(first) :]))


def test_the_log_start_moves_from_hole_to_hole_without_a_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    async def go(run: Run) -> None:
        world = run.world
        ids = [record.id for vlog in world.vlogs for record in vlog.records() if not record.empty]
        await run.online()
        world.lost = set(ids[1::2])
        world.metadata.publish()
        monkeypatch.setattr(bring_over, "AGAIN_S", 1000.0)
        bring = bringing(run)
        bring.add(world.keys)
        await finished(bring)
        await check_what_is_left(world, 3)
        moved.append(len(world.starts))

    moved: list[int] = []
    simulate(7, 2, go)
    assert moved == [3]


def test_copies_that_move_while_others_are_read_are_found(caplog: pytest.LogCaptureFixture) -> None:
    """A pass takes long when reads are limited."""

    async def go(run: Run) -> None:
        world, ask = run.world, run.reach.ask
        ids = [record.id for vlog in world.vlogs for record in vlog.records() if not record.empty]
        await run.online()
        world.bare = set(ids)
        world.metadata.publish()
        asked: set[VsegId] = set()

        async def repaired(record: VsegRecord, *rest: Any) -> Any:
            if world.bare:
                world.bare = set()
                world.metadata.publish()
                record = world.metadata.table.vsegs[record.id]
            asked.add(record.id)
            return await ask(record, *rest)

        run.reach.ask = repaired  # type: ignore[method-assign]
        bring = bringing(run)
        bring.add(world.keys)
        await finished(bring)
        assert len(asked) > 2
        assert [one.getMessage() for one in caplog.records if "cannot be brought" in one.getMessage()] == []

    simulate(4, 2, go)


def test_what_cannot_be_used_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A virtual segment goes on behind a hole that is somewhere else: some of it is read to see that, not
    all, however often it is tried."""
    monkeypatch.setattr(bring_over, "READ_BYTES", 1)
    monkeypatch.setattr(bring_over, "BYTES_PER_PARTITION", 1)
    reads: list[tuple[VsegId, int]] = []

    async def go(run: Run) -> None:
        world, read = run.world, bring_over.BringOver._read
        await run.online()
        key = world.keys[0]
        one, other = world.vlogs
        world.bare = {record.id for record in other.records()}
        world.metadata.publish()

        def noted(self: BringOver, record: VsegRecord, position: int, *rest: Any) -> Any:
            reads.append((record.id, position))
            return read(self, record, position, *rest)

        monkeypatch.setattr(bring_over.BringOver, "_read", noted)
        bring = bringing(run)
        bring.add([key])
        with pytest.raises(AssertionError, match="too long"):
            await finished(bring, 40)
        assert {vseg.vlog for vseg, _ in reads} == {one.number}
        hole = next(world.log.partition(0).holes())
        behind = next(frame for frame in one.frames if any(chunk.base > hole[0] for chunk in frame.chunks))
        assert max(position for _, position in reads) <= behind.end, "the next one was asked for meanwhile"
        world.bare = set()
        world.metadata.publish()
        await finished(bring)
        await run.check(5)

    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory), 0, 1)
        (key,) = world.keys
        world.log.epoch += 1
        world.epochs.append(10)
        world.vlogs = [Vlog(10, 1), Vlog(10, 2)]
        for vlog in (world.vlogs[0], world.vlogs[1], world.vlogs[0]):
            for _ in range(20):
                vlog.add([world._chunk(key)])
        world.vlogs[0].add([], {key: world.state(key)})
        world.vlogs[1].add([], {key: world.state(key)})
        asyncio.run(go(Run(world)))


def test_each_new_leader_begins_at_another_segment(monkeypatch: pytest.MonkeyPatch) -> None:
    filled: dict[int, list[int]] = {}
    fill = Partition.fill

    def noted(self: Partition, segment: Segment) -> bool:
        filled.setdefault(self.index, []).append(segment.base_offset)
        return fill(self, segment)

    monkeypatch.setattr(Partition, "fill", noted)

    async def go(run: Run) -> None:
        bring = bringing(run)
        run.world.log.before_me = (0,)
        await run.online()
        await finished(bring)
        orders = list(filled.values())
        assert any(order != sorted(order) for order in orders)
        await run.check()

    simulate(2, 2, go)


def test_a_chunk_behind_a_gap_waits_for_what_is_before_it() -> None:
    """A partition that was in another virtual log for a while has a gap in the middle of this one."""
    filling = Filling(cast(Partition, SimpleNamespace(deleted=False)), 10, 40)

    def chunk(base: int, after: int) -> ReadChunk:
        return ReadChunk(0, base, after, memoryview(b""))

    assert filling.wants(chunk(10, 15))
    assert filling.wants(chunk(8, 11)), "the log may start in the middle of a chunk"
    assert not filling.wants(chunk(15, 20)), "nothing is left out"
    assert not filling.wants(chunk(5, 10)), "it is here already"
    filling.next = 40
    assert not filling.wants(chunk(40, 41)), "the hole is full"


def test_live_brokers_spread_over_the_segments() -> None:
    brokers = {node: BrokerRecord(node, node, "h", 1, None) for node in (2, 5, 7, 9)}
    image = MetadataImage(brokers=brokers)
    assert [first_of(image, node, 8) for node in (2, 5, 7, 9)] == [0, 2, 4, 6]
    assert first_of(image, 3, 8) == 0  # one that is not live any more


def test_what_cannot_be_read_is_tried_again() -> None:
    async def go(run: Run) -> None:
        bring = bringing(run, seconds=0.05)
        await run.online()
        run.world.peers.failing = dict.fromkeys((2, 3), "gone")
        with pytest.raises(AssertionError, match="too long"):
            await finished(bring, 10)
        run.world.peers.failing = {}
        await finished(bring)
        await run.check()
        assert bring.bytes > 0
        await bring.close()

    simulate(4, 2, go)


def test_a_partition_that_is_lost_meanwhile_is_left_alone() -> None:
    async def go(run: Run) -> None:
        world = run.world
        bring = bringing(run, seconds=0.005)
        await run.online()
        await asyncio.sleep(0.02)
        world.log.online.clear()
        again = Run(world)
        await again.online()
        await finished(bring)
        await again.check()

    simulate(4, 2, go)


class Meanwhile(AtOnce):
    """Before the job with the number ``turn``, or after it, something happens on the event loop."""

    def __init__(self, turn: int, before: bool, what: Callable[[], object]) -> None:
        super().__init__()
        self.turn = turn
        self.before = before
        self.what = what

    def submit(self, call: Callable[[], object], done: Callable[[BaseException | None], object]) -> None:
        self.turn -= 1
        if self.turn == 0 and self.before:
            self.what()
        super().submit(call, done)
        if self.turn == 0 and not self.before:
            self.what()


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize("seed", [1, 7])
def test_files_of_another_opening_are_not_replaced(seed: int, before: bool, gone: bool) -> None:
    """What is being brought over would have the name of a file that a later opening has written itself; also
    when that is closed again (``gone``)."""
    sizes: dict[str, int] = {}

    async def go(run: Run, turn: int) -> None:
        world, manager = run.world, run.world.log.manager
        key, sealed = world.keys[0], world.truth[world.keys[0]]

        def lost_and_taken_over_with_everything() -> None:
            hole = next(manager.partition(*key).holes())  # type: ignore[union-attr]
            assert hole[1] < sealed.end, "another seed is needed"
            manager.take_over(*key, world.log.epoch, None, sealed.from_(0), sealed.log_start)
            partition = manager.partition(*key)
            assert partition is not None
            partition.flush()
            sizes.update({one.path: one.measure() for one in partition.segments})
            if gone:
                manager.release(*key)

        bring = bringing(run)
        bring._jobs = Meanwhile(turn, before, lost_and_taken_over_with_everything)
        await run.online()
        await finished(bring)
        assert {path: os.stat(path).st_size for path in sizes} == sizes
        for path in sizes:
            assert not [name for name in os.listdir(os.path.dirname(path)) if name.endswith(FETCHING)]

    for turn in range(1, 100):
        sizes.clear()
        with tempfile.TemporaryDirectory() as directory:
            world = World(Path(directory), seed, 1)
            world.owner(60)
            asyncio.run(go(Run(world), turn))
        if not sizes:  # there are not so many jobs
            assert turn > 3
            return


@pytest.mark.parametrize("jobs", [AtOnce, Later])
def test_appends_go_on_while_a_hole_is_filled(jobs: type[AtOnce]) -> None:
    """Both make the directory when they come first."""

    async def go(run: Run) -> None:
        world = run.world
        bring = bringing(run)
        bring._jobs = jobs(0.01)
        await run.online()
        count = 0
        while bring.state()["partitions"]:
            for key in world.keys:
                chunk = batch(b"x" * 100, b"y")
                world.log.partition(key[1]).append(memoryview(bytearray(chunk)))
                world.truth[key].add(chunk, world.log.epoch)
            world.log.journal.push()
            world.log.tick(10.0)
            count += 1
            await asyncio.sleep(0.002)
        assert count > 1
        assert not world.log.poisoned
        await run.check()

    simulate(4, 2, go)


class FullDisk(Disk):
    """No room for what is brought over, for a while."""

    __slots__ = ("times",)

    def pwritev(self, fd: int, buffers: object, position: int, length: int = -1) -> int:
        if self.times > 0:
            self.times -= 1
            raise OSError(28, "No space left on device")
        return super().pwritev(fd, buffers, position, length)  # type: ignore[arg-type]


def test_a_full_disk_is_waited_out() -> None:
    async def go(run: Run) -> None:
        disk = FullDisk()
        disk.times = 2
        bring = bringing(run, disk=disk)
        await run.online()
        await finished(bring)
        await run.check()

    simulate(4, 2, go)


def test_a_hole_is_filled_when_no_power_loss_takes_the_file_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither its name was synced nor the directories above, and copies elsewhere are given up (30, 36)."""
    sync_directory, fill = Disk.sync_directory, Partition.fill
    known: set[str] = set()
    filled: list[str] = []

    def note_sync(disk: Disk, path: str) -> None:
        there = disk.listdir(path)
        sync_directory(disk, path)
        known.update(os.path.join(path, name) for name in there)

    def look(partition: Partition, segment: Segment) -> bool:
        above = Path(segment.path).parents[:DIRECTORIES_ABOVE]
        assert known >= {segment.path, *map(str, above)}
        filled.append(segment.path)
        return fill(partition, segment)

    monkeypatch.setattr(Disk, "sync_directory", note_sync)
    monkeypatch.setattr(Partition, "fill", look)

    async def go(run: Run) -> None:
        bring = bringing(run)
        logs = run.world.log.manager
        for topic_id, _ in run.world.keys:  # directories above that are known, until there is more in them
            other = partition_directory(logs.data_dir, topic_id, 1, 99)
            logs.above.make(other)
            logs.above.sync(other)
        await run.online()
        await finished(bring)
        assert filled

    simulate(4, 2, go)


class Failing(Disk):
    """What is brought over meets an error of the medium, at one place, once; the next try would succeed."""

    __slots__ = ("where",)

    def __init__(self, where: str) -> None:
        self.where = where

    def _fail(self, where: str, path: str) -> None:
        if where == self.where:
            self.where = ""
            kind = OSError if where in ("write", "rename") else SyncError
            raise kind(errno.EIO, os.strerror(errno.EIO), path)

    def pwritev(self, fd: int, buffers: Any, position: int, length: int = -1) -> int:
        self._fail("write", "")
        return super().pwritev(fd, buffers, position, length)

    def datasync(self, fd: int) -> None:
        self._fail("file", "")
        super().datasync(fd)

    def rename(self, source: str, target: str) -> None:
        self._fail("rename", target)
        super().rename(source, target)

    def sync_directory(self, path: str) -> None:
        if path.endswith("streams"):
            self._fail("streams", path)
        self._fail("directory", path)
        super().sync_directory(path)


@pytest.mark.parametrize("where", ["write", "file", "rename", "directory", "streams"])
def test_what_failed_once_is_not_tried_again(where: str) -> None:
    """A second sync of the directory succeeds, and says nothing of the name: without the hole others gave up
    what a power loss took here (30, 35, 36)."""

    async def go(run: Run) -> None:
        poisoned = Poisoned()
        disk = Failing(where)
        bring = bringing(run, disk=disk, poisoned=poisoned)
        run.takeover.on_online = lambda _: None  # not before all have the disk that fails
        await run.online()
        for key in run.world.keys:
            partition = run.world.log.partition(key[1])
            partition.disk = disk
            partition.manager.above = Above(disk)
        bring.add(run.world.keys)
        async with asyncio.timeout(20):
            while poisoned.poisoned is None:
                await asyncio.sleep(0.005)
        brought = bring.segments
        bring.add(run.world.keys)
        await asyncio.sleep(0.1)
        assert bring.segments == brought == 0
        assert any(list(run.world.log.partition(key[1]).holes()) for key in run.world.keys)

    simulate(4, 2, go)


def test_nothing_is_filled_when_something_else_failed_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own sync may have been the second one of a directory (35)."""

    async def go(run: Run) -> None:
        poisoned = Poisoned()
        bring = bringing(run, poisoned=poisoned)
        monkeypatch.setattr(Segment, "sync_directories", lambda _: poisoned.poison("a copy failed"))
        await run.online()
        async with asyncio.timeout(20):
            while poisoned.poisoned is None:
                await asyncio.sleep(0.005)
        await asyncio.sleep(0.1)
        assert bring.segments == 0

    simulate(4, 2, go)


def test_many_partitions_read_each_segment_once() -> None:
    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory), 1, 100)
        for _ in range(2):
            world.owner(30)
        run = Run(world)

        async def go() -> None:
            bring = bringing(run)
            await run.online()
            before = len(world.peers.asked)
            await finished(bring)
            sizes = [(one.end or 0) - one.start for vlog in world.vlogs for one in vlog.records()]
            reads = sum(1 + size // bring_over.READ_BYTES for size in sizes)
            most = 2 * reads + 2 * len(sizes)  # a second pass for partitions that moved between virtual logs
            assert len(world.peers.asked) - before <= most
            assert not [name for _, _, names in os.walk(directory) for name in names if "fetching" in name]

        asyncio.run(go())
