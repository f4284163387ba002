"""Metadata while a leader seems to be dead: the answer waits for the next one, but not for ever."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kproto.broker import Broker
from kproto.handlers import metadata
from kproto.metadata import presence
from kproto.metadata.roll_call import RollCall
from kproto.replica.takeover import Takeover
from kproto.wire.generated.create_topics import CreatableTopic
from kproto.wire.generated.metadata import MetadataRequestTopic
from tests.groups.members import Members, members

METADATA, CREATE_TOPICS = 3, 19
VERSION = 12


def run(scenario: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(scenario(), 240))  # type: ignore[arg-type]


async def leaders(cluster: Members) -> list[int]:
    """Of the topic's partitions, as broker 1 answers."""
    answer = await cluster.call(1, METADATA, VERSION, topics=[MetadataRequestTopic(name="t")])
    return [each.leader_id for each in sorted(answer.topics[0].partitions, key=lambda p: p.partition_index)]


def suspect(broker: Broker, node_id: int) -> None:
    """As if a connection with it had been lost."""
    assert broker._member is not None
    broker._member._lost(node_id)


async def with_topic(cluster: Members) -> None:
    topic = CreatableTopic(name="t", num_partitions=6, replication_factor=3)
    answer = await cluster.call(1, CREATE_TOPICS, 5, topics=[topic], timeout_ms=10_000)
    assert answer.topics[0].error_code == 0
    while -1 in await leaders(cluster):
        await asyncio.sleep(0.01)


async def within(seconds: float, task: "asyncio.Task[Any]") -> bool:
    done, _ = await asyncio.wait([task], timeout=seconds)
    return bool(done)


def test_the_answer_waits_for_the_next_leader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "SUSPICION_SECONDS", 600.0)

    async def scenario() -> None:
        async with members(tmp_path, 3) as cluster:
            await with_topic(cluster)
            assert sorted(set(await leaders(cluster))) == [1, 2, 3]
            suspect(cluster.brokers[1], 2)
            asked = asyncio.create_task(leaders(cluster))
            assert not await within(0.1, asked), "2 may be dead: nobody should go there now"
            await cluster.kill(2)
            found = await asked
            assert sorted(set(found)) == [1, 3]

    run(scenario)


def test_a_suspicion_in_vain_ends(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with members(tmp_path, 3) as cluster:
            await with_topic(cluster)
            before = await leaders(cluster)
            suspect(cluster.brokers[1], 2)
            assert await leaders(cluster) == before

    run(scenario)


def test_topics_that_it_does_not_lead_are_answered_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "SUSPICION_SECONDS", 600.0)

    async def scenario() -> None:
        async with members(tmp_path, 3) as cluster:
            topic = CreatableTopic(name="t", num_partitions=2, replication_factor=1)
            answer = await cluster.call(1, CREATE_TOPICS, 5, topics=[topic], timeout_ms=10_000)
            assert answer.topics[0].error_code == 0
            suspect(cluster.brokers[1], 2)
            asked = asyncio.create_task(leaders(cluster))
            assert await within(60, asked), "a single copy waits for its broker, there is nobody else"

    run(scenario)


def test_a_death_that_nobody_has_noticed_is_noticed_by_asking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that lost its leader asks before the broker that it asks has lost anything."""
    monkeypatch.setattr(presence, "SUSPICION_SECONDS", 600.0)

    async def scenario() -> None:
        async with members(tmp_path, 3) as cluster:
            await with_topic(cluster)
            for node_id in (1, 3):
                own = cluster.brokers[node_id]._member
                assert own is not None
                own.peers.on_lost = own.listener.on_closed = None
            await cluster.kill(2)
            assert sorted(set(await leaders(cluster))) == [1, 3], "the session of 2 ends after some seconds"

    run(scenario)


def test_brokers_alone_are_told_without_asking_anybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks for brokers only, as clients that bootstrap do, is not told who leads."""

    async def scenario() -> None:
        async with members(tmp_path, 2) as cluster:
            monkeypatch.setattr(RollCall, "hear", pytest.fail)
            answer = await cluster.call(1, METADATA, VERSION, topics=[])
            assert sorted(each.node_id for each in answer.brokers) == [1, 2]

    run(scenario)


def test_the_dead_leave_the_list_of_brokers_later_than_they_stop_leading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "LISTED_SECONDS", 1.5)

    async def scenario() -> None:
        async with members(tmp_path, 3) as cluster:
            await with_topic(cluster)
            for version in (1, VERSION):
                answer = await cluster.call(1, METADATA, version, topics=[MetadataRequestTopic(name="t")])
                assert sorted(each.node_id for each in answer.brokers) == [1, 2, 3]
            await cluster.kill(2)
            while 2 in await leaders(cluster):
                await asyncio.sleep(0.01)
            for version in (1, VERSION):
                answer = await cluster.call(1, METADATA, version, topics=[MetadataRequestTopic(name="t")])
                assert sorted(each.node_id for each in answer.brokers) == [1, 2, 3]
                assert all(2 not in each.isr_nodes for each in answer.topics[0].partitions)
                assert all(2 in each.replica_nodes for each in answer.topics[0].partitions)
            while len(answer.brokers) == 3:
                answer = await cluster.call(1, METADATA, VERSION, topics=[])
                await asyncio.sleep(0.05)
            assert sorted(each.node_id for each in answer.brokers) == [1, 3]

    run(scenario)


async def leaders_until(cluster: Members, task: "asyncio.Task[None]") -> list[list[int]]:
    """What broker 1 answers, asked again and again."""
    seen: list[list[int]] = []
    while not task.done():
        seen.append(await leaders(cluster))
        await asyncio.sleep(0)
    return seen


def test_a_leader_that_is_not_ready_yet_is_waited_for(tmp_path: Path) -> None:
    """Who is told that nobody leads, with the leader epoch of who will, leaves the leader that another broker
    has named meanwhile."""

    async def scenario() -> None:
        async with members(tmp_path, 3) as cluster:
            await with_topic(cluster)
            assert 2 in await leaders(cluster)
            seen = await leaders_until(cluster, asyncio.create_task(cluster.stop(2)))
            assert all(-1 not in each for each in seen)
            assert sorted(set(await leaders(cluster))) == [1, 3]

    run(scenario)


def test_a_leader_that_does_not_get_ready_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change is news for half a second only, however patient a request is."""
    monkeypatch.setattr(metadata, "SUSPICION_SECONDS", 600.0)
    monkeypatch.setattr(Takeover, "_start", lambda _: None)

    async def scenario() -> None:
        async with members(tmp_path, 3) as cluster:
            await with_topic(cluster)
            await cluster.kill(2)
            while -1 not in await leaders(cluster):
                await asyncio.sleep(0.01)
            assert 2 not in await leaders(cluster)

    run(scenario)


def test_a_request_is_not_patient_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where changes follow each other sooner than one ceases to be news."""
    monkeypatch.setattr(presence, "SUSPICION_SECONDS", 600.0)
    monkeypatch.setattr(Takeover, "_start", lambda _: None)

    async def scenario() -> None:
        async with members(tmp_path, 3) as cluster:
            await with_topic(cluster)
            stopping = asyncio.create_task(cluster.stop(2))
            while -1 not in await leaders(cluster):
                pass
            stopping.cancel()

    run(scenario)
