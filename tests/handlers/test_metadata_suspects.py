"""Metadata while a leader seems to be dead: the answer waits for the next one, but not for ever."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kproto import member
from kproto.broker import Broker
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
    monkeypatch.setattr(member, "SUSPICION_SECONDS", 600.0)

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
    monkeypatch.setattr(member, "SUSPICION_SECONDS", 600.0)

    async def scenario() -> None:
        async with members(tmp_path, 3) as cluster:
            topic = CreatableTopic(name="t", num_partitions=2, replication_factor=1)
            answer = await cluster.call(1, CREATE_TOPICS, 5, topics=[topic], timeout_ms=10_000)
            assert answer.topics[0].error_code == 0
            suspect(cluster.brokers[1], 2)
            asked = asyncio.create_task(leaders(cluster))
            assert await within(60, asked), "a single copy waits for its broker, there is nobody else"

    run(scenario)
