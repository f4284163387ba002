"""New leaders: what they rebuild from sealed copies is the fold of all chunks, whoever owned them."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kproto.clock import ManualClock
from kproto.errors import KafkaError
from kproto.log.epochs import EpochCache
from kproto.log.partition import Partition
from kproto.log.reader import FileRange, RemoteRange, load_blocking
from kproto.replica import reach, takeover
from kproto.replica.messages import ReadChunk
from kproto.replica.reach import Reach
from kproto.replica.remote import RemoteChunks
from kproto.replica.survey import Base
from kproto.replica.takeover import Claim, Part, Takeover, between, by_last_time
from kproto.vlog.side import FIRST_SIDE_ID
from kproto.wire.batch import hop
from tests.log.replicated import ME, Sealed
from tests.replica.sealed_world import Chunk, Vlog, World


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(takeover, "RETRY_SECONDS", 0.01)


class Run:
    """A world whose owners are gone, and this broker's takeover of everything."""

    def __init__(self, world: World) -> None:
        self.world = world
        world.log.epoch += 1
        world.metadata.publish()
        self.reach = Reach(world.peers, world.metadata, ME)
        self.clock = ManualClock()
        self.takeover = Takeover(self.reach, world.metadata, world.log.manager, self.clock)
        self.remote = RemoteChunks(self.reach, world.metadata)
        world.log.manager.ports.remote = self.remote

    async def online(self, patience: int = 2000) -> None:
        self.takeover.on_image(self.world.metadata.image)
        for _ in range(patience):
            if self.takeover.waiting == 0:
                return
            await asyncio.sleep(0.005)
        raise AssertionError("it takes too long")

    async def check(self, step: int = 1) -> None:
        for key, sealed in self.world.truth.items():
            await check_fold(self.world.log.partition(key[1]), sealed, step)


async def read(partition: Partition, offset: int, max_bytes: int) -> bytes:
    out = b""
    for piece in partition.read(offset, max_bytes).pieces:
        if isinstance(piece, RemoteRange):
            out += await piece.load()
        elif isinstance(piece, FileRange):
            out += load_blocking([piece])[0]
        else:
            out += piece
    return out


async def check_fold(partition: Partition, sealed: Sealed, step: int) -> None:
    alive = [chunk for chunk in sealed.chunks if chunk.end > sealed.log_start]
    assert partition.log_start_offset == sealed.log_start
    assert partition.log_end_offset == partition.high_watermark == sealed.end
    epochs, _ = sealed.fold(len(sealed.chunks))
    epochs.cut_front(sealed.log_start)
    if alive:
        assert partition.epochs.of_offset(sealed.end - 1) == epochs.of_offset(sealed.end - 1)
    for number in range(0, len(alive), step):
        data = await read(partition, max(alive[number].base, sealed.log_start), 3000)
        count = len(list(hop(data)))
        assert data
        assert data == b"".join(chunk.data for chunk in alive[number : number + count])


def simulate(seed: int, owners: int, go: Callable[[Run], object]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory), seed, world_size(seed))
        for _ in range(owners):
            world.owner(world.random.randint(0, 30))
        run = Run(world)
        asyncio.run(go(run))  # type: ignore[arg-type]


def world_size(seed: int) -> int:
    return 1 + seed % 5


@given(seed=st.integers(0, 1 << 32), owners=st.integers(1, 4))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_all_chunks_of_all_owners(seed: int, owners: int) -> None:
    async def go(run: Run) -> None:
        run.world.peers.silent = run.world.random.choice((0, 0, 1, 7))
        await run.online()
        await run.check(3)
        for key, sealed in run.world.truth.items():
            partition = run.world.log.partition(key[1])
            epochs, producers = sealed.fold(len(sealed.chunks))
            assert partition.producers.encode() == producers.encode()
            assert (partition.epochs.epochs, partition.epochs.starts) == (epochs.epochs, epochs.starts)

    simulate(seed, owners, go)


def test_the_controller_is_told_of_partitions_that_never_had_anything() -> None:
    async def go(run: Run) -> None:
        await run.online()
        bare = {key[1] for key, sealed in run.world.truth.items() if not sealed.chunks}
        assert run.world.metadata.empty == bare
        found.append(len(bare))

    found: list[int] = []
    for seed in range(20):
        simulate(seed, 1 + seed % 3, go)
    assert any(found)


@given(
    seed=st.integers(0, 1 << 32), turns=st.lists(st.booleans(), min_size=2, max_size=8), deleted=st.booleans()
)
@example(5573, [False, True, True, True, True], True)
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
def test_owners_that_led_more_than_once(seed: int, turns: list[bool], deleted: bool) -> None:
    """Planned moves back and forth (12b): an owner's newest state frame may be of an earlier time. What was
    deleted since, and is there, still tells about producers (40)."""

    async def go(run: Run) -> None:
        for again in turns:
            run.world.owner(run.world.random.choice((0, 1, 1, 3, 20)), again)
        for sealed in run.world.truth.values():
            if deleted and sealed.chunks:
                sealed.log_start = run.world.random.choice(sealed.chunks[-4:]).base
        run.world.log.epoch += 1
        run.world.metadata.publish()
        await run.online()
        await run.check(3)
        for key, sealed in run.world.truth.items():
            _, producers = sealed.fold(len(sealed.chunks))
            assert run.world.log.partition(key[1]).producers.encode() == producers.encode()

    simulate(seed, 1, go)


def test_without_looking_between_two_times_of_an_owner_chunks_are_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def go(run: Run) -> None:
        for rounds, again in ((20, False), (0, True)):
            run.world.owner(rounds, again)
        run.world.epochs[-1] = run.world.epochs[0]
        run.world.metadata.publish()
        await run.online()
        await run.check(3)

    found = 0
    for seed in range(30):
        simulate(seed, 1, go)
        with monkeypatch.context() as patch:
            patch.setattr(takeover, "may_stop", lambda *_: True)
            try:
                simulate(seed, 1, go)
            except AssertionError:
                found += 1
    assert found > 0


@given(seed=st.integers(0, 1 << 32), owners=st.integers(1, 3))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_freed_segments_are_not_missed(seed: int, owners: int) -> None:
    async def go(run: Run) -> None:
        run.world.free()
        run.world.metadata.publish()
        await run.online()
        await run.check(3)

    simulate(seed, owners, go)


@pytest.mark.parametrize("problem", ["gone", "limbo", "rubbish"])
def test_the_other_copy_is_asked(problem: str) -> None:
    async def go(run: Run) -> None:
        run.world.peers.failing[3] = problem
        await run.online()
        await run.check()

    simulate(4, 2, go)


def test_old_chunks_are_read_from_side_virtual_logs_whatever_their_order() -> None:
    """Chunks are pushed again as they are lost, so later offsets may come first (rule 45)."""

    async def go(run: Run) -> None:
        world = run.world
        await run.online()
        world.freed.update(record.id for vlog in world.vlogs for record in vlog.records())
        for spread in (1, 40):
            side = Vlog(world.epochs[-1], FIRST_SIDE_ID + spread)
            chunks = [Chunk(key, *one) for key, sealed in world.truth.items() for one in sealed.chunks]
            world.random.shuffle(chunks)
            for at in range(0, len(chunks), spread):
                side.add(chunks[at : at + spread])
            world.vlogs = [side]
            run.remote = world.log.manager.ports.remote = RemoteChunks(run.reach, world.metadata)
            world.metadata.publish()
            await run.check()

    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory), 3, 2)
        world.owner(30)
        asyncio.run(go(Run(world)))


def test_a_silent_copy_is_asked_once_and_then_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "FIRST_SECONDS", 0.02)

    async def go(run: Run) -> None:
        run.world.peers.failing[3] = "silent"
        await run.online()
        await run.check()
        asked = [node for node, _ in run.world.peers.asked]
        vlogs = len(run.world.vlogs)
        assert asked.count(3) <= vlogs < asked.count(2), "once for each virtual log, all in parallel"
        run.world.peers.failing[2] = "gone"
        del run.world.peers.failing[3]
        await run.check()

    simulate(4, 2, go)


def test_without_a_copy_it_waits_until_one_is_back() -> None:
    async def go(run: Run) -> None:
        run.world.peers.failing = {2: "gone", 3: "limbo"}
        with pytest.raises(AssertionError, match="too long"):
            await run.online(10)
        with pytest.raises(KafkaError):
            run.world.log.partition(0)
        run.world.peers.failing = {}
        await run.online()
        await run.check()

    simulate(4, 2, go)


def test_a_refused_commit_is_tried_again() -> None:
    async def go(run: Run) -> None:
        run.world.metadata.refusals = 1
        await run.online()
        await run.check()
        assert len(run.world.metadata.commits) == 2

    simulate(4, 1, go)


def test_commits_come_in_batches() -> None:
    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory), 1, 250)
        world.owner(20)
        run = Run(world)
        asyncio.run(run.online())
        assert world.metadata.commits == [100, 100, 50]
        assert not list(world.log.manager.partitions_open()), "opened on first use"
        states = [api.name for _, api in world.peers.asked]
        assert len(states) < 20, "asked once for all partitions"


def test_a_newer_attempt_replaces_this_one() -> None:
    async def go(run: Run) -> None:
        run.takeover.on_image(run.world.metadata.image)
        run.world.log.epoch += 1
        run.world.metadata.publish()
        await run.online()
        await run.check()
        assert all(
            run.world.log.partition(key[1]).leader_epoch == run.world.log.epoch for key in run.world.keys
        )

    simulate(4, 2, go)


def test_deleted_records_behind_the_state_still_tell_about_producers() -> None:
    """They are there: what holds them is freed only when a newer state is somewhere else (rules 28b, 40)."""
    part = Part(Claim(bytes(16), 0, 1), (bytes(16), 0), [1], 33)
    assert part.needed_from == 0
    part.state = Base(0, 28, b"epochs", b"producers")
    assert part.needed_from == 28
    part.chunks = [ReadChunk(0, 30, 33, memoryview(b"")), ReadChunk(0, 28, 30, memoryview(b""))]
    state, run, missing = part.outcome()
    assert (state.end_offset, [chunk.base_offset for chunk in run], missing) == (28, [28, 30], None)
    assert state.producers
    del part.chunks[1]
    state, run, missing = part.outcome()
    assert (state.end_offset, missing) == (33, None), "freed: then it does not matter"
    assert (state.epochs, state.producers) == (b"epochs", b""), "where they go on nobody knows"
    part.chunks[0] = ReadChunk(0, 30, 36, memoryview(b""))
    state, run, missing = part.outcome()
    assert (state.end_offset, state.producers, missing) == (30, b"", None), "the log starts amid a batch"


def part_of(sources: list[int], newest: int) -> Part:
    """A partition that is taken over under leader epoch 9, after its newest source was looked at: chunks of
    leader epoch ``newest`` are the last that it knows of."""
    part = Part(Claim(bytes(16), 0, 9), (bytes(16), 0), sources, 0)
    assert part.next_sources() == [sources[-1]]
    epochs = EpochCache()
    epochs.note(newest, 5)
    part.state = Base(0, 6, epochs.encode())
    return part


def test_however_often_it_moved_only_who_led_last_is_asked() -> None:
    part = part_of([1, 2, 1, 3, 1, 4, 1], 8)
    assert part.done


def made_of(leader_epoch: int) -> bytes:
    """The header of a chunk."""
    return bytes(12) + leader_epoch.to_bytes(4, "big") + bytes(45)


def test_who_led_in_between_is_asked_when_only_deleted_records_are_missing() -> None:
    """The last leader has led before, and has written no newer state down yet."""
    part = part_of([1, 2, 1], 8)
    part.chunks = [ReadChunk(0, 29, 30, memoryview(made_of(8)))]
    part.log_start = 29
    assert part.outcome()[2] is None, "nothing is missing that is not deleted"
    assert not part.done
    assert part.next_sources() == [2]
    assert part.done, "nobody else is left"
    part.sources = [2]
    part.chunks.insert(0, ReadChunk(0, 6, 29, memoryview(made_of(7))))
    assert part.done, "the chunks tell, too"


def test_who_led_in_between_is_asked_at_once_when_nothing_was_appended_last() -> None:
    part = part_of([5, 1, 2, 1, 3, 4, 1], 7)
    assert not part.done
    assert sorted(part.next_sources()) == [2, 3, 4]
    assert part.done, "who led before all of them knows nothing newer"
    assert part.sources == [5]


def test_without_a_state_twice_as_many_are_asked_each_time() -> None:
    part = Part(Claim(bytes(16), 0, 9), (bytes(16), 0), [1, 2, 3, 4, 5], 0)
    assert [part.next_sources() for _ in range(3)] == [[5], [3, 4], [1, 2]]
    assert part.done
    assert part.empty
    part.log_start = 3
    assert not part.empty, "it had records once"


def test_who_could_not_be_asked_matters_only_when_the_others_do_not_tell_enough() -> None:
    part = Part(Claim(bytes(16), 0, 9), (bytes(16), 0), [1, 2, 3], 0)
    assert [part.next_sources() for _ in range(2)] == [[3], [1, 2]]
    part.put_back(1)
    assert not part.done
    assert not part.empty
    part.state = Base(0, 6)
    assert part.done, "broker epoch 2 told"
    part.put_back(2)
    assert part.sources == [1, 2]
    part.all_sources = [1, 2, 1, 3]
    part.sources = [2, 3]
    assert not part.done, "broker epoch 2 led after 1 had written that down"


OWNERS = st.lists(st.integers(1, 8), max_size=16)


@given(sources=OWNERS, left=OWNERS)
def test_in_what_order_owners_led_and_who_led_in_between(sources: list[int], left: list[int]) -> None:
    assert by_last_time(sources) == sorted(set(sources), key=sources[::-1].index, reverse=True)
    later = [epoch for at, epoch in enumerate(sources) if not set(sources[: at + 1]) <= set(left)]
    assert between(sources, left) == [epoch for epoch in left if epoch in later]


def test_the_work_of_a_partition_grows_with_its_sources_and_no_faster() -> None:
    """One that keeps its records for ever gets a source with every restart of a broker: hundreds."""
    compared = 0

    class Epoch(int):
        __hash__ = int.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return int(self) == other

    count = 300
    part = Part(Claim(bytes(16), 0, 9), (bytes(16), 0), [Epoch(at) for at in range(count)], 0)
    part.next_sources()
    part.state = Base(0, 6)
    assert part.done, "nobody else led after who told"
    part.state = None
    while part.next_sources():
        pass
    for first in (0, 100):
        part.put_back(*map(Epoch, range(first, first + 100)))
    assert part.sources == list(range(200))
    assert compared < 10 * count


def test_a_round_of_many_partitions_begins_in_turns() -> None:
    async def turns(run: Run) -> int:
        image = run.world.metadata.image
        claims = [Claim(one.topic_id, one.index, one.leader_epoch) for one in image.every_streamlet()]
        count, beginning = 0, asyncio.ensure_future(run.takeover._parts(claims))
        while not beginning.done():
            await asyncio.sleep(0)
            count += 1
        assert [part.claim for part in beginning.result()] == claims
        return count

    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory), 1, 250)
        world.owner(1)
        assert asyncio.run(turns(Run(world))) >= 250 // takeover.PARTS_A_TURN
