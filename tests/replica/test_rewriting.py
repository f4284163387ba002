"""What no copy has any more is pushed again by its leader: all of it that is live, verbatim, and reported."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kproto.clock import ManualClock, SystemClock
from kproto.metadata import exchange
from kproto.metadata.vlogs import CopyTarget, VsegId
from kproto.replica import rewriting
from kproto.replica.messages import PartitionKey
from kproto.replica.pace import Pace
from kproto.replica.rewriting import Rewriting
from kproto.vlog.side import FIRST_SIDE_ID
from tests.log.support import batch
from tests.replica.sealed_world import Chunk, Vlog, World
from tests.replica.test_bring_over import bringing, finished
from tests.replica.test_takeover import Run, simulate

WIPED = CopyTarget(2, "an earlier directory")

pytestmark = pytest.mark.usefixtures("impatient")


class Side:
    """A virtual log that takes references; ``held``: nothing becomes durable."""

    def __init__(self) -> None:
        self.lost = self.blocked = self.held = False
        self.refs: list[Any] = []
        self.waiters: list[Callable[[], object]] = []

    @property
    def end(self) -> int:
        return len(self.refs)

    def append(self, ref: Any) -> None:
        self.refs.append(ref)

    def when_durable(self, position: int, callback: Callable[[], object]) -> None:
        assert position == self.end
        if self.held:
            self.waiters.append(callback)
        else:
            callback()

    def side(self, partition: Any) -> Side:
        return self

    def side_vlogs(self) -> list[int]:
        return []

    def chunks(self) -> set[tuple[PartitionKey, int, bytes]]:
        return {
            ((ref[0].topic_id, ref[0].index), ref[3], bytes(ref[8][ref[9] : ref[9] + ref[6]]))
            for ref in self.refs
        }


class Case:
    """A leader that has everything in files, and some virtual segments without a copy."""

    def __init__(self, world: World, run: Run) -> None:
        self.world = world
        self.side = Side()
        self.clock = ManualClock()
        self.knows = True
        self.journals: set[VsegId] = set()
        self.reported: list[VsegId] = []
        self.metadata = world.metadata
        self.metadata.propose = self.propose  # type: ignore[method-assign]
        self.rewriting = Rewriting(
            run.reach,
            world.metadata,
            world.log.manager,
            self.side,  # type: ignore[arg-type]
            Pace(asyncio.get_running_loop(), SystemClock(), 0),
            self.clock,
            lambda: 99,
            lambda vseg, keys: self.knows,
            lambda records: self.journals & {record.id for record in records},
            10.0,
        )
        self.metadata.publish()

    async def propose(self, kind: str, args: Any) -> Any:
        assert kind == "rewritten"
        assert 0 < len(args["vsegs"]) <= exchange.ITEMS_MAX
        self.reported += [VsegId(*row) for row in args["vsegs"]]
        return len(args["vsegs"])

    def lose(self, vsegs: list[VsegId]) -> None:
        for vseg in vsegs:
            self.metadata.table.vsegs[vseg] = self.metadata.table.vsegs[vseg]._replace(backups=(WIPED,))

    def live_in(self, vsegs: list[VsegId]) -> set[tuple[PartitionKey, int, bytes]]:
        found: set[tuple[PartitionKey, int, bytes]] = set()
        for vseg in vsegs:
            vlog = self.world.vseg(vseg)
            chunks: list[Chunk] = [one for frame in vlog.inside(vseg, 0, vlog.end) for one in frame.chunks]
            found |= {
                (one.key, one.base, bytes(one.data))
                for one in chunks
                if one.end > self.world.truth[one.key].log_start
            }
        return found

    async def look(self) -> int:
        """Twice, with the delay between; how many have no copy."""
        await self.rewriting.look()
        assert not self.side.refs, "copies may come back"
        self.clock.advance(10.0)
        return await self.rewriting.look()


async def case(run: Run, free: bool = False) -> Case:
    bring = bringing(run)
    if free:
        run.world.free()
        run.world.metadata.publish()
    await run.online()
    await finished(bring)
    return Case(run.world, run)


@given(seed=st.integers(0, 1 << 32), owners=st.integers(1, 3))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_everything_live_that_no_copy_has_is_pushed_again(seed: int, owners: int) -> None:
    async def go(run: Run) -> None:
        this = await case(run, free=seed % 3 == 0)
        chance = random.Random(seed)
        vsegs = [vseg for vseg, record in sorted(this.metadata.table.vsegs.items()) if not record.empty]
        lost = chance.sample(vsegs, chance.randint(0, len(vsegs)))
        this.lose(lost)
        assert await this.look() == len(lost)
        assert this.live_in(lost) <= this.side.chunks()
        assert this.side.chunks() <= this.live_in(vsegs), "verbatim, and nothing else"
        assert sorted(set(this.reported)) == sorted(lost)

    simulate(seed, owners, go)


def appended(world: World, key: PartitionKey) -> Chunk:
    """What the new leader has appended itself."""
    chunk = batch(100)
    world.log.partition(key[1]).append(memoryview(bytearray(chunk)))
    world.log.journal.push()
    world.truth[key].add(chunk, world.log.epoch)
    return Chunk(key, *world.truth[key].chunks[-1])


def directed(go: Callable[[Case], Any], rounds: int = 30) -> None:
    async def whole(run: Run) -> None:
        await go(await case(run))

    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory), 3, 2)
        world.owner(rounds)
        asyncio.run(whole(Run(world)))


def test_nothing_is_pushed_as_long_as_some_of_it_is_not_here() -> None:
    """It would be pushed once more with the rest, every few seconds."""

    async def go(run: Run) -> None:
        await run.online()
        bring = bringing(run)
        bring.add(run.world.keys[:1])
        await finished(bring)
        this = Case(run.world, run)
        lack = [bool(list(run.world.log.partition(key[1]).holes())) for key in run.world.keys]
        assert not lack[0]
        assert any(lack)
        lost = sorted(this.metadata.table.vsegs)
        this.lose(lost)
        assert await this.look() == len([vseg for vseg in lost if not this.metadata.table.vsegs[vseg].empty])
        assert not this.side.refs
        assert not this.reported

    simulate(7, 2, go)


def test_neighbours_that_have_all_partitions_tell_exactly_what_was_lost() -> None:
    async def go(this: Case) -> None:
        table = this.metadata.table.vsegs
        told = [
            vseg
            for vseg in sorted(table)
            if all(
                near in table and {one[0] for one in this.live_in([near])} == set(this.world.keys)
                for near in (vseg._replace(seq=vseg.seq - 1), vseg._replace(seq=vseg.seq + 1))
            )
        ]
        assert told, "another seed is needed"
        this.lose(told[:1])
        await this.look()
        assert this.side.chunks() == this.live_in(told[:1])

    directed(go, 120)


@pytest.mark.parametrize(
    ("sources", "exact"), [((10, 99), True), ((10, 99, 10, 99), False), ((99,), False), ((10, 99, 99), False)]
)
def test_before_the_first_one_of_a_new_leader_its_leader_epoch_tells(
    sources: tuple[int, ...], exact: bool
) -> None:
    """Found by simulation: a few chunks waited until all that was there before them had been brought over,
    and all of that was pushed again with them. An owner that led more than once has more than its last leader
    epoch; it waits."""

    async def go(run: Run) -> None:
        await run.online()
        world = run.world
        new = Vlog(99, 1)
        world.vlogs.append(new)
        for key in world.keys[:2]:
            assert list(world.log.partition(key[1]).holes()), "nothing is brought over"
        key = world.keys[0]
        new.add([appended(world, key)])
        new.starts.append(new.end)
        this = Case(world, run)
        led = this.metadata.image.streamlets[key[0]]
        this.metadata.image = replace(
            this.metadata.image, streamlets={key[0]: tuple(one._changed(sources=sources) for one in led)}
        )
        lost = VsegId(99, 1, 1)
        this.lose([lost])
        assert await this.look() == 1
        assert this.side.chunks() == (this.live_in([lost]) if exact else set())
        assert set(this.reported) == ({lost} if exact else set())

    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory), 3, 2)
        world.owner(30)
        asyncio.run(go(Run(world)))


@pytest.mark.parametrize("older_first", [True, False])
def test_neighbours_in_a_side_virtual_log_tell_nothing(older_first: bool) -> None:
    """Offsets go back in it, since what was lost later may be older, and its state frames tell of nobody."""

    async def go(this: Case) -> None:
        key = this.world.keys[0]
        chunks = this.world.truth[key].chunks
        pushed = [Chunk(key, *chunks[0]), Chunk(key, *chunks[-1])]
        side = Vlog(this.world.epochs[-1], FIRST_SIDE_ID + 7)
        this.world.vlogs.append(side)
        for chunk in pushed if older_first else reversed(pushed):
            side.add([chunk])
            side.add([], {})
            side.starts.append(side.end)
        side.add([], {})
        this.metadata.publish()
        lost = [VsegId(side.owner_epoch, side.number, seq) for seq in (1, 2)]
        for vseg in lost:
            this.metadata.publish()
            this.lose([vseg])
            await this.look()
            assert this.live_in([vseg]) <= this.side.chunks()
            assert this.reported[-1:] == [vseg]
            this.side.refs.clear()

    directed(go)


def test_a_lost_virtual_segment_of_its_own_side_virtual_log_is_reported_once_it_is_elsewhere() -> None:
    """Found by simulation: reports wait for copies of what was pushed again, and what was lost of that was
    itself waited for."""

    async def go(this: Case) -> None:
        key = this.world.keys[0]
        chunks = [Chunk(key, *one) for one in this.world.truth[key].chunks]
        side = Vlog(99, FIRST_SIDE_ID + 7)
        this.world.vlogs.append(side)
        for _ in range(2):
            side.add(chunks)
            side.starts.append(side.end)
        side.add(chunks)
        this.side.side_vlogs = lambda: [side.number]  # type: ignore[method-assign]
        this.metadata.publish()
        first, second, third = (VsegId(99, side.number, seq) for seq in (1, 2, 3))
        this.lose([first])
        await this.look()
        assert this.live_in([first]) <= this.side.chunks()
        assert set(this.reported) == {first}
        this.reported.clear()
        this.lose([second])
        await this.rewriting.look()
        assert not this.reported, "what was pushed again may be in it"
        this.clock.advance(10.0)
        await this.rewriting.look()
        assert set(this.reported) == {first, second}
        this.reported.clear()
        this.lose([third])
        await this.rewriting.look()
        assert not this.reported

    directed(go)


def test_everything_is_pushed_once_for_all_that_a_side_virtual_log_lost() -> None:
    """Found by simulation: each of many, with others between them, had everything pushed for itself, into as
    many more."""

    async def go(this: Case) -> None:
        key = this.world.keys[0]
        side = Vlog(99, FIRST_SIDE_ID + 7)
        this.world.vlogs.append(side)
        for one in this.world.truth[key].chunks[:7]:
            side.add([Chunk(key, *one)])
            side.starts.append(side.end)
        side.add([Chunk(key, *this.world.truth[key].chunks[7])])
        this.side.side_vlogs = lambda: [side.number]  # type: ignore[method-assign]
        this.metadata.publish()
        lost = [VsegId(99, side.number, seq) for seq in (1, 3, 4, 6)]
        this.lose(lost)
        await this.look()
        assert set(this.reported) == set(lost)
        assert this.side.chunks() == this.live_in(list(this.metadata.table.vsegs))
        assert len(this.side.refs) == len(this.side.chunks()), "once"

    directed(go)


@pytest.mark.parametrize("number", [FIRST_SIDE_ID + 7, 7])
def test_first_copies_that_are_lost_while_they_are_made_are_pushed_again(number: int) -> None:
    """Their partitions have no sources yet. Nobody pushed them again, and that they have all their copies was
    waited for without end."""

    async def go(this: Case) -> None:
        one, other = this.world.keys
        this.world.log.copying = {one[1]}
        mine = Vlog(99, number)
        this.world.vlogs.append(mine)
        mine.add([Chunk(one, *chunk) for chunk in this.world.truth[one].chunks])
        taken_over = [Chunk(other, *chunk) for chunk in this.world.truth[other].chunks]
        mine.add(taken_over if number >= FIRST_SIDE_ID else [appended(this.world, other)])
        mine.starts.append(mine.end)
        mine.add([], {key: this.world.state(key) for key in (one, other)})
        this.side.side_vlogs = lambda: [FIRST_SIDE_ID + 7]  # type: ignore[method-assign]
        this.metadata.publish()
        lost = VsegId(99, number, 1)
        this.lose([lost])
        assert await this.look() == 1
        assert this.live_in([lost]) <= this.side.chunks()
        assert {ref[0].index for ref in this.side.refs} == {one[1], other[1]}
        assert this.reported == [lost, lost]

    directed(go)


def test_first_copies_that_are_lost_go_from_the_log_start_that_is_not_stored_yet() -> None:
    """The store gets it with the first copies, and these were waited for: neither came, nor did all others
    with something in the same virtual segments (45)."""

    async def go(this: Case) -> None:
        one, other = this.world.keys
        this.world.log.copying = {one[1]}
        mine = Vlog(99, FIRST_SIDE_ID + 7)
        this.world.vlogs.append(mine)
        for key in (one, other):
            mine.add([Chunk(key, *chunk) for chunk in this.world.truth[key].chunks])
        mine.starts.append(mine.end)
        this.side.side_vlogs = lambda: [FIRST_SIDE_ID + 7]  # type: ignore[method-assign]
        this.metadata.publish()
        partition = this.world.log.partition(one[1])
        partition.log_start_offset = this.world.truth[one].log_start = this.world.truth[one].chunks[2].base
        partition.only_here = True
        lost = VsegId(99, FIRST_SIDE_ID + 7, 1)
        this.lose([lost])
        assert await this.look() == 1
        assert this.reported == [lost, lost]
        assert this.live_in([lost]) <= this.side.chunks()

    directed(go)


def test_first_copies_that_begin_after_the_report_are_none_of_it() -> None:
    """What was lost was closed before. Still, it is reported again only with them."""

    async def go(this: Case) -> None:
        lost = [min(vseg for vseg, record in this.metadata.table.vsegs.items() if not record.empty)]
        this.lose(lost)
        await this.look()
        assert set(this.reported) == set(lost)
        pushed, this.reported = len(this.side.refs), []
        this.world.log.copying = {this.world.keys[0][1]}
        this.metadata.publish()
        this.lose(lost)
        await this.rewriting.look()
        assert set(this.reported) == set(lost)
        assert len(this.side.refs) == pushed, "they can only be in virtual segments of this owner"

    directed(go)


def test_nothing_is_reported_before_it_is_durable_and_written_down() -> None:
    async def go(this: Case) -> None:
        lost = [min(vseg for vseg, record in this.metadata.table.vsegs.items() if not record.empty)]
        this.lose(lost)
        this.side.held, this.knows = True, False
        look = asyncio.ensure_future(this.look())
        while not this.side.waiters:
            await asyncio.sleep(0)
        assert not this.reported
        this.side.waiters.pop()()
        await look
        assert not this.reported, "the state of its partitions is in no later state frame"
        this.knows = True
        pushed = len(this.side.refs)
        await this.rewriting.look()
        assert this.reported == lost
        await this.rewriting.look()
        assert this.reported == lost * 2, "the controller may have forgotten"
        assert len(this.side.refs) == pushed, "once is enough"

    directed(go)


def test_more_than_a_proposal_takes_is_reported_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "ITEMS_MAX", 2)

    async def go(this: Case) -> None:
        lost = sorted(vseg for vseg, record in this.metadata.table.vsegs.items() if not record.empty)
        assert len(lost) > 2
        this.lose(lost)
        assert await this.look() == len(lost)
        assert sorted(set(this.reported)) == lost

    directed(go)


def test_of_what_was_given_up_nothing_is_remembered() -> None:
    """Its partitions may be deleted, and are large."""

    async def go(this: Case) -> None:
        table = this.metadata.table.vsegs
        lost = [vseg for vseg, record in sorted(table.items()) if not record.empty]
        this.lose(lost)
        await this.look()
        assert sorted(set(this.reported)) == lost
        assert this.rewriting._partitions.keys() == set(lost)
        for vseg in lost:
            del table[vseg]
        assert await this.rewriting.look() == 0
        assert not this.rewriting._partitions

    directed(go)


def test_what_went_to_a_side_virtual_log_of_another_class_is_waited_for_too() -> None:
    async def go(this: Case) -> None:
        lost = [min(vseg for vseg, record in this.metadata.table.vsegs.items() if not record.empty)]
        this.lose(lost)
        this.side.held = True
        now = this.side
        append = now.append

        def reconfigured(ref: Any) -> None:
            append(ref)
            now.side = lambda _: later  # type: ignore[method-assign,assignment,misc]

        later = Side()
        now.append = reconfigured  # type: ignore[method-assign]
        look = asyncio.ensure_future(this.look())
        for _ in range(1000):
            if now.waiters or look.done():
                break
            await asyncio.sleep(0)
        assert now.waiters, "nothing here is on backups yet"
        assert not this.reported
        now.waiters.pop()()
        await look
        assert set(this.reported) == set(lost)

    directed(go)


def test_what_is_in_the_journal_here_is_left_to_repair() -> None:
    async def go(this: Case) -> None:
        lost = [min(vseg for vseg, record in this.metadata.table.vsegs.items() if not record.empty)]
        this.lose(lost)
        this.journals.update(lost)
        assert await this.look() == 0
        assert not this.side.refs

    directed(go)


def test_what_is_no_copy_as_its_broker_said_is_pushed_again() -> None:
    """Found by simulation (seed 30024341): the last listed copy was none, and its leader did not know."""

    async def go(this: Case) -> None:
        table, image = this.metadata.table.vsegs, this.metadata.image
        (vseg, *_) = sorted(vseg for vseg, record in table.items() if not record.empty)
        sound = table[vseg]
        nodes = {target.node_id for target in sound.backups if target.node_id in image.brokers}
        said = tuple((node, image.brokers[node].epoch) for node in sorted(nodes))
        for denied, lost in (said[1:], 0), (((said[0][0], -1), *said[1:]), 0), (said, 1):
            table[vseg] = sound._replace(denied=denied)
            assert await this.look() == lost, denied
        assert this.live_in([vseg]) <= this.side.chunks()
        assert set(this.reported) == {vseg}

    directed(go)


def test_what_was_given_up_is_pushed_again_whatever_is_in_the_journal() -> None:
    """Nobody copies it any more, though its owner may be back."""

    async def go(this: Case) -> None:
        lost = [min(vseg for vseg, record in this.metadata.table.vsegs.items() if not record.empty)]
        this.lose(lost)
        this.metadata.table.vsegs[lost[0]] = this.metadata.table.vsegs[lost[0]]._replace(
            backups=(), lost=True
        )
        this.journals.update(lost)
        assert await this.look() == 1
        pushed = {((ref[0].topic_id, ref[0].index), ref[3]) for ref in this.side.refs}
        assert {(key, base) for key, base, _ in this.live_in(lost)} <= pushed
        assert set(this.reported) == set(lost)

    directed(go)


def test_partitions_that_are_handed_over_meanwhile_hold_it_up() -> None:
    async def go(this: Case) -> None:
        lost = [min(vseg for vseg, record in this.metadata.table.vsegs.items() if not record.empty)]
        this.lose(lost)
        this.knows = False
        await this.look()
        this.knows = True
        partition = this.world.log.partition(next(iter(this.live_in(lost)))[0][1])
        partition.hand_over(True)
        await this.rewriting.look()
        assert not this.reported
        partition.hand_over(False)
        await this.rewriting.look()
        assert this.reported == lost

    directed(go)


def test_a_lost_ownership_ends_it() -> None:
    async def go(this: Case) -> None:
        this.lose([min(vseg for vseg, record in this.metadata.table.vsegs.items() if not record.empty)])
        this.side.lost = True
        with pytest.raises(rewriting.LostError):
            await this.look()

    directed(go)
