"""Taking over when something is in the way: a controller that is away, topics that go, chunks that lack."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import MetadataImage
from kproto.metadata.records import ANYWHERE, Floor
from kproto.metadata.store import Change, Entry
from kproto.metadata.vlogs import VlogTable, VsegId, VsegRecord
from kproto.replica import takeover
from kproto.replica.messages import PartitionKey
from kproto.replica.survey import Base
from kproto.replica.takeover import NotSealedError, Part, Takeover, sources_of
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.side import FIRST_SIDE_ID
from kproto.wire.records import NO_PRODUCER, Producer
from tests.log.replicated import ME
from tests.log.support import batch
from tests.replica.sealed_world import Chunk, Vlog, World
from tests.replica.test_takeover import Run


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(takeover, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(takeover, "MOST_RETRY_SECONDS", 0.05)


def directed(
    go: Callable[[Run], Coroutine[Any, Any, None]],
    rounds: int = 20,
    prepare: Callable[[World], None] | None = None,
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        world = World(Path(directory), 4, 2)
        if rounds:
            world.owner(rounds)
        if prepare is not None:
            prepare(world)
        run = Run(world)
        asyncio.run(asyncio.wait_for(go(run), 120))


def answering(run: Run, *errors: Exception, said: list[Any] | None = None) -> list[str]:
    """The controller raises these first; returns what it was asked, as it comes. ``said``: with which
    arguments, too."""
    asked: list[str] = []
    propose, left = run.world.metadata.propose, list(errors)

    async def refusing(kind: str, args: Any) -> Any:
        asked.append(kind)
        if said is not None:
            said.append(args)
        if left:
            raise left.pop(0)
        return await propose(kind, args) if kind != "cannot" else 0

    run.world.metadata.propose = refusing  # type: ignore[method-assign]
    return asked


async def failed_once(run: Run) -> list[str]:
    """No copy could be read, and everything waits for another try; as `answering`."""
    asked = answering(run)
    run.world.peers.failing = {2: "gone", 3: "gone"}
    run.takeover.on_image(run.world.metadata.image)
    while not run.takeover.rounds:
        await asyncio.sleep(0)
    return asked


def told(run: Run) -> list[PartitionKey]:
    """The partitions that others are told of as online."""
    online: list[PartitionKey] = []
    run.takeover.on_online = online.extend
    return online


def test_a_controller_that_is_away_is_asked_again_and_nothing_is_read_twice() -> None:
    async def go(run: Run) -> None:
        asked = answering(run, *[KafkaError(ErrorCode.NOT_CONTROLLER)] * 3)
        online = told(run)
        await run.online()
        assert asked == ["commit"] * 4
        assert sorted(online) == run.world.keys
        assert len(run.takeover.rounds) == 1, "only the commit is repeated"
        await run.check()

    directed(go)


def test_who_is_no_member_any_more_stops() -> None:
    """Another broker recovers the streamlets by now; they are not online here (16)."""

    async def go(run: Run) -> None:
        asked = answering(run, *[KafkaError(ErrorCode.STALE_BROKER_EPOCH)] * 9)
        await run.online()
        await asyncio.sleep(0.05)
        assert asked == ["commit"]
        assert not run.world.log.online
        with pytest.raises(KafkaError):
            run.world.log.partition(0)

    directed(go)


def test_a_topic_that_is_deleted_meanwhile_is_dropped() -> None:
    async def go(run: Run) -> None:
        office = run.world.metadata
        asked = answering(run)
        run.takeover.on_image(office.image)
        office.image = office.image.__class__(office.image.revision + 1, brokers=office.image.brokers)
        await run.online()
        assert not asked
        assert run.takeover.rounds[-1]["committed"] == 0

    directed(go)


def test_what_waits_for_another_try_is_dropped_when_somebody_else_recovers_it() -> None:
    async def go(run: Run) -> None:
        asked = await failed_once(run)
        assert run.takeover.waiting == 2
        office = run.world.metadata
        office.image = office.image.__class__(office.image.revision + 1, brokers=office.image.brokers)
        run.world.peers.failing = {}
        while run.takeover.waiting:
            await asyncio.sleep(0.001)
        assert not asked

    directed(go)


async def rounds(run: Run, count: int, seconds: float) -> None:
    """So many more, each of which takes so long."""
    before = len(run.takeover.rounds)
    while len(run.takeover.rounds) < before + count:
        seen = len(run.takeover.rounds)
        while len(run.takeover.rounds) == seen:
            await asyncio.sleep(0.001)
        run.clock.advance(seconds)


@pytest.mark.parametrize("failures", [[], [KafkaError(ErrorCode.NOT_CONTROLLER), ValueError("what?")]])
def test_the_controller_is_told_of_copies_that_stay_silent(failures: list[Exception]) -> None:
    """Others may reach them; until somebody else is to try, it goes on here."""

    async def go(run: Run) -> None:
        said: list[Any] = []
        asked = answering(run, *failures, said=said)
        run.world.peers.failing = {2: "gone", 3: "gone"}
        run.takeover.on_image(run.world.metadata.image)
        await rounds(run, 3, 1.0)
        assert not asked, "not yet"
        await rounds(run, 12, 1.0)
        assert set(asked) == {"cannot"}
        assert 2 <= len(asked) <= 8, "not with each try"
        records = run.world.metadata.image.streamlets[run.world.keys[0][0]]
        known = [[one.topic_id.hex(), one.index, one.leader_epoch] for one in records]
        told = [row for args in said for row in args["streamlets"]]
        assert all(row in told for row in known)
        assert all(row in known for row in told)
        assert run.takeover.waiting == len(known)
        run.world.peers.failing = {}
        while run.takeover.waiting:
            await asyncio.sleep(0.001)
        assert not run.takeover._silent_since
        await run.check()

    directed(go)


def test_a_controller_that_hangs_when_it_is_told_holds_up_nothing() -> None:
    async def go(run: Run) -> None:
        office, asked = run.world.metadata, 0
        propose = office.propose

        async def hanging(kind: str, args: Any) -> Any:
            nonlocal asked
            if kind != "cannot":
                return await propose(kind, args)
            asked += 1
            return await asyncio.Event().wait()

        office.propose = hanging  # type: ignore[method-assign]
        run.world.peers.failing = {2: "gone", 3: "gone"}
        run.takeover.on_image(office.image)
        await rounds(run, 12, 2.0)
        assert asked == 1
        run.world.peers.failing = {}
        while run.takeover.waiting:
            await asyncio.sleep(0.001)
        await run.check()
        await run.takeover.close()

    directed(go)


@pytest.mark.parametrize("problem", ["rubbish", "limbo"])
def test_copies_that_answer_are_no_reason_for_another_leader(problem: str) -> None:
    """It would be told the same. Nor are those that were silent before and have answered since."""

    async def go(run: Run) -> None:
        asked = answering(run)
        peers = run.world.peers
        peers.failing = {2: "gone", 3: "gone"}
        run.takeover.on_image(run.world.metadata.image)
        await rounds(run, 1, 1.0)
        assert run.takeover._silent_since
        peers.failing = {2: problem, 3: problem}
        await rounds(run, 8, 10.0)
        assert asked == []
        peers.failing = {2: problem, 3: "gone"}
        await rounds(run, 3, 10.0)
        while not asked:  # a round may have been under way as it began
            await rounds(run, 1, 10.0)
        assert set(asked) == {"cannot"}, "one of them is enough: it may be the good one"

    directed(go)


def test_one_silent_round_is_no_reason_however_long_it_takes() -> None:
    """Others had to wait for the controller in it, or one question got no answer."""

    async def go(run: Run) -> None:
        asked = answering(run)
        call = run.world.peers.call

        async def slowly(*arguments: Any, **more: Any) -> Any:
            run.clock.advance(3.0)
            return await call(*arguments, **more)

        run.world.peers.call = slowly  # type: ignore[method-assign]
        run.world.peers.failing = {2: "gone", 3: "gone"}
        run.takeover.on_image(run.world.metadata.image)
        while not run.takeover.rounds:
            await asyncio.sleep(0)
        assert run.takeover.rounds[0]["seconds"] > 5.0
        assert asked == []
        run.world.peers.failing = {}
        while run.takeover.waiting:
            await asyncio.sleep(0.001)
        assert set(asked) == {"commit"}, "twice, when the machine is slow: nothing comes of the second one"

    directed(go)


def test_an_attempt_that_was_not_begun_again_is_forgotten_when_there_is_a_newer_one() -> None:
    async def go(run: Run) -> None:
        await failed_once(run)
        office, one = run.world.metadata, run.takeover
        before = len(one._waits)
        assert before
        one._running = asyncio.get_running_loop().create_future()  # type: ignore[assignment]
        while len(one._due) < before:  # due again, behind a round that goes on
            await asyncio.sleep(0.001)
        records = [each.recovering(ME) for each in office.image.streamlets[run.world.keys[0][0]]]
        change = Change(office.image.revision + 1, {each.key: each.encode() for each in records}, ())
        office.image = office.image.apply(change)
        one.on_image(office.image)
        assert not one._waits
        assert not one._silent_since
        one._running = None
        run.world.peers.failing = {}
        await run.online()

    directed(go)


def test_a_long_session_is_waited_for() -> None:
    """Before it ends a broker that is gone is still a member."""
    with tempfile.TemporaryDirectory() as directory:
        run = Run(World(Path(directory), 4, 1))
        reach, metadata, logs = run.reach, run.world.metadata, run.world.log.manager
        silent = [Takeover(reach, metadata, logs, run.clock, seconds)._cannot_s for seconds in (0, 3, 30)]
        assert silent == [5, 5, 32]


def test_an_unexpected_failure_is_tried_again() -> None:
    async def go(run: Run) -> None:
        answering(run, ValueError("what is this?"))
        await run.online()
        await run.check()

    directed(go)


def test_an_unexpected_failure_of_a_read_is_tried_again() -> None:
    async def go(run: Run) -> None:
        call = run.world.peers.call
        failures = [ValueError("what is this?")] * 2

        async def failing(*arguments: Any, **more: Any) -> Any:
            if failures:
                raise failures.pop()
            return await call(*arguments, **more)

        run.world.peers.call = failing  # type: ignore[method-assign]
        await run.online()
        await run.check()

    directed(go)


def test_closing_commits_nothing() -> None:
    async def go(run: Run) -> None:
        asked = answering(run)
        run.takeover.on_image(run.world.metadata.image)
        await asyncio.sleep(0)
        await run.takeover.close()
        await asyncio.sleep(0.02)
        assert not asked
        assert not run.world.log.online

    directed(go)


def test_closing_ends_what_waits_for_another_try() -> None:
    async def go(run: Run) -> None:
        asked = await failed_once(run)
        run.world.peers.failing = {}
        await run.takeover.close()
        await asyncio.sleep(0.05)
        assert not asked
        assert len(run.takeover.rounds) == 1

    directed(go)


def written(world: World, count: int) -> list[Chunk]:
    """So many chunks of the first partition were acknowledged."""
    world.log.epoch += 1
    world.epochs.append(10)
    return [world._chunk(world.keys[0]) for _ in range(count)]


def pushed_again(world: World) -> None:
    """The second of three virtual segments was lost, and its chunk pushed again: it is in the side virtual
    log now, before a state frame that tells of nobody."""
    one, two, three = written(world, 3)
    key = world.keys[0]
    vlog, side = Vlog(10, 1), Vlog(10, FIRST_SIDE_ID)
    vlog.add([one])
    vlog.add([], {key: Base(*world.truth[key].state(1) or (0, 0))})
    for chunks in ([two], [three]):
        vlog.starts.append(vlog.end)
        vlog.add(chunks)
    world.freed.add(vlog.records()[1].id)
    side.add([two])
    side.add([], {})
    world.vlogs += [vlog, side]


def test_what_was_pushed_again_is_found_before_state_frames_that_tell_of_nobody() -> None:
    """The newest state is older than what was pushed again: that is looked for everywhere (45)."""

    async def go(run: Run) -> None:
        await run.online()
        await run.check()

    directed(go, 0, pushed_again)


def test_a_producer_goes_on_when_what_it_sent_last_is_deleted_and_the_state_behind_that_is_lost() -> None:
    """The state that is left is older. By that its next sequence is wrong, which stops it for good; by none
    it goes on, as any whose records are gone (40)."""

    def prepare(world: World) -> None:
        written(world, 0)
        (key, _), vlog = world.keys, Vlog(10, 1)
        sealed = world.truth[key]
        for producer in (Producer(7, 0, 0), Producer(7, 0, 1), NO_PRODUCER):
            sealed.add(batch(b"x", producer=producer), world.log.epoch)
            vlog.add([Chunk(key, *sealed.chunks[-1])])
            if sealed.end == 1:
                vlog.add([], {key: world.state(key)})
            vlog.starts.append(vlog.end)
        world.freed.add(vlog.records()[1].id)
        world.vlogs.append(vlog)
        sealed.log_start = 2

    async def go(run: Run) -> None:
        await run.online()
        await run.check()
        partition = run.world.log.partition()
        assert partition.append(batch(b"x", producer=Producer(7, 0, 2)))[0] == 3

    directed(go, 0, prepare)


def test_a_topic_that_is_deleted_before_it_is_looked_for_everywhere_is_dropped(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What was to be taken over with it was put off, too."""

    async def go(run: Run) -> None:
        office, look = run.world.metadata, run.takeover._look

        async def looked(*arguments: Any) -> None:
            await look(*arguments)
            office.image = office.image.__class__(office.image.revision + 1, brokers=office.image.brokers)

        run.takeover._look = looked  # type: ignore[method-assign]
        asked = answering(run)
        await run.online()
        assert not asked
        assert run.takeover.rounds[-1]["committed"] == 0

    directed(go, 0, pushed_again)
    assert "taking over failed" not in caplog.text


def hole(world: World) -> None:
    one, _, three = written(world, 3)
    vlog = Vlog(10, 1)
    vlog.add([one])
    vlog.add([three])
    world.vlogs.append(vlog)


def test_a_partition_with_a_hole_is_not_served() -> None:
    """A chunk between others is in no copy: whoever served it would give away records as if it never was."""

    async def go(run: Run) -> None:
        asked = answering(run)
        with pytest.raises(AssertionError, match="too long"):
            await run.online(20)
        assert run.world.log.online == {1}, "the other streamlet is served"
        with pytest.raises(KafkaError):
            run.world.log.partition(0)
        assert asked == ["commit"]
        chunks = run.world.truth[run.world.keys[0]].chunks
        vlog = run.world.vlogs[0]
        vlog.frames.clear()
        vlog.end = 0
        vlog.add([Chunk(run.world.keys[0], *chunk) for chunk in chunks])
        run.world.metadata.publish()
        await run.online()
        await run.check()

    directed(go, 0, hole)


def given_away(world: World) -> None:
    """The owner gave everything away and lives on, under epoch 10. What it wrote down afterwards, in segments
    that were opened later, has no copy any more."""
    world.log.before_me = (10,)
    for vlog in world.vlogs:
        given = vlog.records()[-1].id
        world.given[given[:2]] = given.seq
        vlog.starts.append(vlog.end)
        vlog.add([], {})
        world.bare.add(given._replace(seq=given.seq + 1))


def test_what_a_live_owner_opened_after_it_gave_all_away_is_not_waited_for() -> None:
    """It holds nothing of that (12b): it lost both backups while it was open, and the owner's journal had
    given it back."""

    async def go(run: Run) -> None:
        await run.online()
        await run.check()

    directed(go, prepare=given_away)


def test_what_a_live_owner_opened_later_is_left_out_when_its_copies_are_none() -> None:
    """It was asked first, in vain, and what could have told was not asked."""

    def prepare(world: World) -> None:
        given_away(world)
        world.bare.clear()

    async def go(run: Run) -> None:
        office = run.world.metadata
        table, brokers = office.table, office.image.brokers
        before = [one.id for vlog in sources_of(office.image, table, 10, (ANYWHERE,)) for one in vlog]
        given = table.given_upto
        later = [vseg for vseg in before if given.get(vseg[:2], -1) < vseg.seq]
        for vseg in later:
            record = table.vsegs[vseg]
            said = tuple((one.node_id, brokers[one.node_id].epoch) for one in record.backups)
            table.vsegs[vseg] = record._replace(denied=said)
        found = [one.id for vlog in sources_of(office.image, table, 10, (ANYWHERE,)) for one in vlog]
        assert later
        assert found == [vseg for vseg in before if vseg not in later]

    directed(go, prepare=prepare)


@pytest.mark.parametrize("case", ["the owner is gone", "it was given away, too", "it has copies"])
def test_what_else_a_source_has_is_read_or_waited_for(case: str) -> None:
    def prepare(world: World) -> None:
        given_away(world)
        if case == "the owner is gone":
            world.log.before_me = ()
        elif case == "it was given away, too":
            world.given = {vlog: seq + 1 for vlog, seq in world.given.items()}
        else:
            world.bare.clear()

    async def go(run: Run) -> None:
        office = run.world.metadata
        found = sources_of(office.image, office.table, 10, (ANYWHERE,))
        assert [one.id for vlog in found for one in vlog] == [
            one.id for vlog in run.world.vlogs for one in vlog.records()
        ]

    directed(go, prepare=prepare)


def test_what_a_dead_owner_opened_after_it_gave_all_away_is_not_waited_for() -> None:
    """It has one open, too, which nobody can seal."""

    def prepare(world: World) -> None:
        given_away(world)
        world.log.before_me, world.log.given = (), (10,)

    async def go(run: Run) -> None:
        office = run.world.metadata
        last = max(office.table.vsegs)
        record = office.table.vsegs[last]
        opened = record._replace(id=last._replace(seq=last.seq + 1), start=record.end or 0, end=None)
        office.table.vsegs[opened.id] = opened
        office.table._by_owner[10][opened.id] = None
        with pytest.raises(NotSealedError):
            sources_of(office.image, office.table, 10, (ANYWHERE,))
        await run.online()
        await run.check()

    directed(go, prepare=prepare)


def test_an_open_segment_that_can_hold_nothing_of_what_is_asked_for_is_not_waited_for() -> None:
    """Each of two topics is above it in another way: one always synced, one always had more copies."""
    record = VsegRecord(VsegId(9, 1, 1), 9, "gone", 2, FlushPolicy.MEMORY, 0, None, ())
    image, table = MetadataImage(), VlogTable()
    table.load(1, [Entry(record.key, record.encode(), 1)])
    often, synced = Floor(3, FlushPolicy.MEMORY), Floor(2, FlushPolicy.SYNCED)
    assert sources_of(image, table, 9, {often, synced}) == []
    for floor in (Floor(2, FlushPolicy.MEMORY), ANYWHERE):
        with pytest.raises(NotSealedError):
            sources_of(image, table, 9, {often, synced, floor})


def test_what_is_tried_again_is_not_said_again_with_every_try(caplog: pytest.LogCaptureFixture) -> None:
    """Of every streamlet there was a line with every try."""

    async def go(run: Run) -> None:
        asked = answering(run, *[KafkaError(ErrorCode.NOT_CONTROLLER, "nobody is there")] * 9)
        run.world.peers.failing = {2: "gone", 3: "gone"}
        run.takeover.on_image(run.world.metadata.image)
        while len(run.takeover.rounds) < 4:
            await asyncio.sleep(0.001)
        run.world.peers.failing = {}
        while run.takeover._waits or not asked:
            await asyncio.sleep(0.001)

    directed(go)
    said = [line for line in caplog.messages if "taken over" in line]
    assert len(said) == 2, said
    assert said[0].startswith("streamlets cannot be taken over yet: ")
    assert said[1] == "streamlets cannot be taken over yet: it works again"
    waits = [line for line in caplog.messages if "waits for the controller" in line]
    assert waits == [
        "commit waits for the controller: NOT_CONTROLLER: nobody is there",
        "commit waits for the controller: it works again",
    ]


Turn = tuple[int, tuple[int, ...]]
"""An owner that leads everything, and the partitions that it appends to."""
TOLD: tuple[Turn, ...] = ((10, (0, 1)), (11, (0, 1)), (12, ()))
ONE_TOLD: tuple[Turn, ...] = ((10, (0, 1)), (11, (0,)), (12, ()))
IN_BETWEEN: tuple[Turn, ...] = ((11, (0, 1)), (10, (0, 1)), (11, ()), (12, ()))


def led(world: World, turns: tuple[Turn, ...], unread: str) -> None:
    """What owner 10 has cannot be read. Each owner writes down what it appends to, and appends once."""
    vlogs = {epoch: Vlog(epoch, 1) for epoch, _ in turns}
    for epoch, partitions in turns:
        world.log.epoch += 1
        world.epochs.append(epoch)
        keys = [world.keys[i] for i in partitions]
        if keys:
            vlogs[epoch].add([], {key: world.state(key) for key in keys})
            vlogs[epoch].add([world._chunk(key) for key in keys])
    world.vlogs += [vlog for vlog in vlogs.values() if vlog.frames]
    hidden = {record.id for record in vlogs[10].records()}
    if unread == "no copy":
        world.bare = hidden
    else:
        world.unsealed = hidden


def readable(world: World) -> None:
    world.bare, world.unsealed = set(), set()
    world.metadata.publish()


def looked_at(run: Run) -> list[int]:
    """The owners that are looked at, as it comes."""
    looked: list[int] = []
    source = run.takeover._source

    async def noted(epoch: int, parts: list[Part], deep: bool = False) -> dict[Part, str]:
        looked.append(epoch)
        return await source(epoch, parts, deep)

    run.takeover._source = noted  # type: ignore[method-assign]
    return looked


@pytest.mark.parametrize("unread", ["no copy", "not sealed"])
def test_an_older_owner_that_cannot_be_read_does_not_matter_when_a_newer_one_tells_enough(
    unread: str,
) -> None:
    """Both are looked at together, as the last owner has nothing."""

    async def go(run: Run) -> None:
        looked = looked_at(run)
        await run.online()
        assert looked == [12, 10, 11]
        assert [row["committed"] for row in run.takeover.rounds] == [2], "at once"
        readable(run.world)
        await run.check()

    directed(go, 0, lambda world: led(world, TOLD, unread))


@pytest.mark.parametrize("unread", ["no copy", "not sealed"])
@pytest.mark.parametrize(
    ("turns", "served"), [(ONE_TOLD, {0}), (IN_BETWEEN, set())], ids=["nothing of one", "it led in between"]
)
def test_an_older_owner_that_cannot_be_read_is_waited_for_when_no_newer_one_tells_enough(
    turns: tuple[Turn, ...], served: set[int], unread: str
) -> None:
    """The newer one has nothing of a partition, or led before the older one, too, and knows only of that."""

    async def go(run: Run) -> None:
        looked = looked_at(run)
        with pytest.raises(AssertionError, match="too long"):
            await run.online(20)
        assert looked[:3] == [12, 10, 11]
        assert run.world.log.online == served
        assert run.takeover.rounds[0]["committed"] == len(served), "the rest is put off, for another round"
        for key in run.world.keys:
            if key[1] not in served:
                with pytest.raises(KafkaError):
                    run.world.log.partition(key[1])
        readable(run.world)
        await run.online()
        await run.check()

    directed(go, 0, lambda world: led(world, turns, unread))
