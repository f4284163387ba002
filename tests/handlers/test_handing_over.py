"""What producers are told while a partition gets another leader: who that is, as soon as it serves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import chunk_of, produce_request
from simulated_backups import ME, Owner, owner

from kproto import leaving, member
from kproto.controller.decision import Decision
from kproto.errors import ErrorCode
from kproto.handlers import holding
from kproto.metadata.records import StreamletRecord
from kproto.wire.generated.create_topics import CreatableReplicaAssignment, CreatableTopic
from tests.groups.conversation import Remote
from tests.groups.members import Members, members

PRODUCE, CREATE_TOPICS = 0, 19
NONE, NOT_LEADER = ErrorCode.NONE, ErrorCode.NOT_LEADER_OR_FOLLOWER
Call = Callable[..., Awaitable[Any]]


KEPT: list[float] = []
"""The answers that were kept in this test, and for how long at most."""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is, no time is over before what is waited for has happened."""
    keep = holding.Holding.keep

    def noting(self: holding.Holding, seconds: float, *how: Callable[[], Any]) -> None:
        keep(self, seconds, *how)
        KEPT.append(seconds)

    KEPT.clear()
    monkeypatch.setattr(holding.Holding, "keep", noting)
    monkeypatch.setattr(holding, "HOLD_SECONDS", 600.0)
    monkeypatch.setattr(leaving, "SUCCESSION_SECONDS", 600.0)
    monkeypatch.setattr(member, "FINISH_SECONDS", 600.0)


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), 240))  # type: ignore[arg-type]


async def produce(
    call: Call, topic: str | bytes, *parts: int, version: int = 10, timeout_ms: int = 600_000
) -> Any:
    """Produce one record to each partition; the answer."""
    chunks = [(index, chunk_of(b"x")) for index in parts or (0,)]
    request = produce_request(topic, *chunks, timeout_ms=timeout_ms)
    fields = {name: getattr(request, name) for name in ("acks", "timeout_ms", "topic_data")}
    return await call(PRODUCE, version, **fields)


def told(answer: Any) -> list[tuple[int, int, int, list[int]]]:
    """Of each partition: error, the leader that the answer names (-1: none), its epoch, endpoints."""
    nodes = [node.node_id for node in answer.node_endpoints]
    found = []
    for part in answer.responses[0].partition_responses:
        leader = part.current_leader
        named = (-1, -1) if leader is None else (leader.leader_id, leader.leader_epoch)
        found.append((part.error_code, *named, nodes))
    return found


class Handing:
    """Broker 1 hands partition 0 of t over, step by step."""

    def __init__(self, world: Owner) -> None:
        self.world = world
        self.logs = world.broker._logs

    @property
    def record(self) -> StreamletRecord:
        image = self.world.controller.image
        return image.streamlet(image.topics["t"].topic_id, 0)

    def refuse(self, going: bool = True) -> None:
        self.logs.hand_over(self.record.topic_id, 0, going)

    async def write(self, record: StreamletRecord) -> None:
        await self.world.controller.decide(lambda: Decision(None, {record.key: record.encode()}))

    async def give(self, target: int) -> None:
        """The target is told to rebuild it."""
        await self.write(self.record.handed_over(target, self.record.sources[-1]))

    async def commit(self) -> None:
        """It serves."""
        broker = self.world.controller.image.brokers[self.record.leader]
        await self.write(self.record.online(broker.epoch))


@asynccontextmanager
async def handing(tmp_path: Path, partitions: int = 1) -> AsyncIterator[Handing]:
    """Each partition of t has one record; those of the first streamlet take no more, which is partition 0."""
    async with owner(tmp_path) as world:
        await world.create("t", (1, 2, 3), partitions=partitions)
        await produce(world.call, "t", *range(partitions))
        this = Handing(world)
        this.refuse()
        yield this


async def waits(answer: asyncio.Future[Any], number: int = 1) -> None:
    """The broker keeps it, the ``number``-th one."""
    while len(KEPT) < number:
        assert not answer.done()
        await asyncio.sleep(0.001)
    await asyncio.wait([answer], timeout=0.05)
    assert not answer.done()


@pytest.mark.parametrize("version", [3, 9, 10, 13])
def test_the_answer_waits_for_the_next_leader_and_names_it(tmp_path: Path, version: int) -> None:
    async def scenario() -> None:
        async with handing(tmp_path) as this:
            call, key = this.world.call, this.record.topic_id if version >= 13 else "t"
            first = asyncio.ensure_future(produce(call, key, version=version))
            await waits(first)
            await this.give(2)
            second = asyncio.ensure_future(produce(call, key, version=version))
            await waits(second, 2)
            await this.commit()
            expected = (NOT_LEADER, 2, 1, [2]) if version >= 10 else (NOT_LEADER, -1, -1, [])
            assert told(await first) == told(await second) == [expected]

    run(scenario)


def test_a_move_that_is_given_up_ends_the_wait_and_nothing_was_stored(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with handing(tmp_path) as this:
            world = this.world
            answer = asyncio.ensure_future(produce(world.call, "t"))
            await waits(answer)
            this.refuse(False)
            await world.register(4)
            assert told(await answer) == [(NOT_LEADER, ME, 0, [ME])]
            assert world.partition("t").log_end_offset == 1
            assert told(await produce(world.call, "t"))[0][0] == NONE

    run(scenario)


def test_what_else_is_in_the_request_is_stored(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with handing(tmp_path, partitions=3) as this:
            world = this.world
            answer = asyncio.ensure_future(produce(world.call, "t", 1, 0, 2))
            await waits(answer)
            assert [world.partition("t", index).high_watermark for index in range(3)] == [1, 2, 2]
            await this.give(3)
            await this.commit()
            codes = [(error, leader) for error, leader, *_ in told(await answer)]
            assert codes == [(NONE, -1), (NOT_LEADER, 3), (NONE, -1)]

    run(scenario)


def test_no_answer_waits_longer_than_its_request_allows(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with handing(tmp_path) as this:
            assert told(await produce(this.world.call, "t", timeout_ms=20))[0][0] == NOT_LEADER

    run(scenario)


def test_no_answer_waits_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holding, "HOLD_SECONDS", 0.02)

    async def scenario() -> None:
        async with handing(tmp_path) as this:
            assert told(await produce(this.world.call, "t"))[0][0] == NOT_LEADER

    run(scenario)


def test_nobody_waits_for_a_leader_that_died(tmp_path: Path) -> None:
    """Another one has to be found first, which may take as long as it takes."""

    async def scenario() -> None:
        async with handing(tmp_path) as this:
            world = this.world
            await this.give(2)
            answer = asyncio.ensure_future(produce(world.call, "t"))
            await waits(answer)
            await world.fence(2)
            assert told(await answer) == [(NOT_LEADER, -1, -1, [])]
            assert told(await produce(world.call, "t"))[0][0] == NOT_LEADER

    run(scenario)


# Whole brokers


async def led_by(cluster: Members, **topics: tuple[int, ...]) -> None:
    """Create topics with these replicas."""
    wanted = [
        CreatableTopic(
            name=name,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[
                CreatableReplicaAssignment(partition_index=n, broker_ids=list(ids)) for n in range(4)
            ],
        )
        for name, ids in topics.items()
    ]
    answer = await cluster.call(1, CREATE_TOPICS, 7, topics=wanted, timeout_ms=5000)
    assert {topic.error_code for topic in answer.topics} == {NONE}
    for node_id in cluster.brokers:
        await cluster.until(lambda node_id=node_id: topics.keys() <= cluster.image(node_id).topics.keys())


def caller(cluster: Members, node_id: int) -> Call:
    return Remote("127.0.0.1", cluster.brokers[node_id].port).call


def test_a_broker_that_ends_in_peace_tells_its_producers_who_leads_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asked it to store something hears of one error, and the broker that it names takes the same
    record."""

    async def scenario() -> None:
        async with members(tmp_path, 3) as cluster:
            await led_by(cluster, t=(2, 1, 3))
            calls = {node: caller(cluster, node) for node in (1, 2, 3)}
            assert {error for error, *_ in told(await produce(calls[2], "t", *range(4)))} == {NONE}
            stopping = asyncio.ensure_future(cluster.stop(2))
            await asyncio.sleep(0)
            answers = told(await produce(calls[2], "t", *range(4)))
            assert {error for error, *_ in answers} == {NOT_LEADER}
            assert {leader for _, leader, *_ in answers} == {1, 3}, "all led again, and by both"
            for index, (_, leader, epoch, nodes) in enumerate(answers):
                assert (epoch, nodes) == (1, [1, 3])
                (stored,) = told(await produce(calls[leader], "t", index))
                assert stored[0] == NONE
            await stopping
            monkeypatch.setattr(member, "FINISH_SECONDS", 0.1)  # the last one has nobody to tell

    run(scenario)


def test_the_controller_goes_when_others_lead_and_have_other_backups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until it is back nobody could decide that, and all that has a copy on its broker would stand still."""

    async def scenario() -> None:
        async with members(tmp_path, 3) as cluster:
            await led_by(cluster, t=(2, 3, 1), u=(3, 2, 1), v=(1, 2, 3))
            calls = {node: caller(cluster, node) for node in (1, 2, 3)}
            for node, topic in ((1, "v"), (2, "t"), (3, "u")):
                assert told(await produce(calls[node], topic))[0][0] == NONE
            stopping = asyncio.ensure_future(cluster.stop(1))
            await asyncio.sleep(0)
            ((error, leader, *_),) = told(await produce(calls[1], "v"))
            assert (error, leader in {2, 3}) == (NOT_LEADER, True)
            await stopping
            for node, topic in ((2, "t"), (3, "u"), (leader, "v")):
                assert told(await produce(calls[node], topic))[0][0] == NONE
            monkeypatch.setattr(member, "FINISH_SECONDS", 0.1)  # the others have nobody to tell

    run(scenario)
