"""Groups when their coordinator dies: whole brokers, several copies, nothing committed is forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kproto import member
from kproto.errors import ErrorCode
from kproto.handlers.groups import offsets_log
from kproto.handlers.groups.records import partition_of
from kproto.wire.generated.create_topics import CreatableTopic
from kproto.wire.generated.join_group import JoinGroupRequestProtocol
from kproto.wire.generated.offset_commit import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kproto.wire.generated.offset_fetch import OffsetFetchRequestTopic
from kproto.wire.generated.sync_group import SyncGroupRequestAssignment
from tests.groups.members import Members, members
from tests.groups.world import COMMIT, FETCH, FIND, HEARTBEAT, JOIN, LIST, SYNC

End = Callable[[Members, int], Awaitable[None]]

CREATE_TOPICS = 19
GROUPS = [f"group-{i}" for i in range(24)]
OFFSETS_TOPIC = "__consumer_offsets"
ASK_AGAIN = (
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
)


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), 240))  # type: ignore[arg-type]


async def prepared(cluster: Members) -> None:
    topic = CreatableTopic(name="t", num_partitions=1, replication_factor=len(cluster.brokers))
    answer = await cluster.call(2, CREATE_TOPICS, 7, topics=[topic], timeout_ms=5000)
    assert answer.topics[0].error_code == 0
    for group in GROUPS:
        await coordinator(cluster, group)


async def coordinator(cluster: Members, group: str) -> int:
    """The broker that coordinates a group, as any broker says."""
    while True:
        for node_id in tuple(cluster.brokers):
            found = await cluster.call(node_id, FIND, 3, key=group)
            if found.error_code == 0 and found.node_id in cluster.brokers:
                node: int = found.node_id
                return node
            assert found.error_code in (0, *ASK_AGAIN)
        await asyncio.sleep(0.01)


async def at_coordinator(
    cluster: Members, group: str, code_of: Callable[[Any], int], key: int, version: int, **fields: Any
) -> Any:
    """What a client does: asks the coordinator, and where that is again when it is told to."""
    while True:
        answer = await cluster.call(await coordinator(cluster, group), key, version, group_id=group, **fields)
        if code_of(answer) not in ASK_AGAIN:
            return answer
        await asyncio.sleep(0.01)


async def commit(cluster: Members, group: str, offset: int) -> int:
    part = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    topics = [OffsetCommitRequestTopic(name="t", partitions=[part])]

    def code_of(answer: Any) -> int:
        code: int = answer.topics[0].partitions[0].error_code
        return code

    return code_of(await at_coordinator(cluster, group, code_of, COMMIT, 8, topics=topics))


async def committed(cluster: Members, group: str) -> int:
    topics = [OffsetFetchRequestTopic(name="t", partition_indexes=[0])]
    answer = await at_coordinator(cluster, group, lambda each: each.error_code, FETCH, 7, topics=topics)
    assert answer.error_code == 0
    offset: int = answer.topics[0].partitions[0].committed_offset
    return offset


async def joined(cluster: Members, group: str) -> tuple[str, int]:
    """A member of its own group that has its assignment; its id and generation."""
    fields: dict[str, Any] = {
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 10_000,
        "protocol_type": "consumer",
        "protocols": [JoinGroupRequestProtocol(name="range", metadata=b"m")],
    }
    answer = await at_coordinator(cluster, group, lambda each: each.error_code, JOIN, 3, **fields)
    assert answer.error_code == 0
    member: str = answer.member_id
    given = [SyncGroupRequestAssignment(member_id=member, assignment=b"all of it")]
    fields = {"generation_id": answer.generation_id, "member_id": member, "assignments": given}
    synced = await at_coordinator(cluster, group, lambda each: each.error_code, SYNC, 2, **fields)
    assert (synced.error_code, synced.assignment) == (0, b"all of it")
    return member, answer.generation_id


async def beat(cluster: Members, group: str, member: tuple[str, int]) -> int:
    fields = {"member_id": member[0], "generation_id": member[1]}
    answer = await at_coordinator(cluster, group, lambda each: each.error_code, HEARTBEAT, 2, **fields)
    code: int = answer.error_code
    return code


@pytest.mark.parametrize("end", [Members.stop, Members.kill])
def test_offsets_and_members_outlive_their_coordinator(tmp_path: Path, end: End) -> None:
    async def scenario() -> None:
        async with members(tmp_path, 3) as cluster:
            await prepared(cluster)
            assert cluster.image().topics[OFFSETS_TOPIC].replication_factor == 3
            for i, group in enumerate(GROUPS):
                assert await commit(cluster, group, i) == 0
            homes = {group: await coordinator(cluster, group) for group in GROUPS}
            assert set(homes.values()) == {1, 2, 3}
            moving = next(group for group in GROUPS if homes[group] == 3)
            member = await joined(cluster, moving)
            await end(cluster, 3)
            assert [await committed(cluster, group) for group in GROUPS] == list(range(len(GROUPS)))
            assert await beat(cluster, moving, member) == 0, "the generation goes on"
            for i, group in enumerate(GROUPS):
                where = await coordinator(cluster, group)
                assert where == homes[group] or homes[group] == 3
                assert await commit(cluster, group, 100 + i) == (
                    ErrorCode.UNKNOWN_MEMBER_ID if group == moving else 0
                )

    run(scenario)


def test_every_group_is_listed_once(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with members(tmp_path, 3) as cluster:
            await prepared(cluster)
            for i, group in enumerate(GROUPS):
                assert await commit(cluster, group, i) == 0
            for _ in range(2):
                listed: list[str] = []
                for node_id in tuple(cluster.brokers):
                    answer = await cluster.call(node_id, LIST, 4)
                    assert answer.error_code == 0
                    listed += [group.group_id for group in answer.groups]
                assert sorted(listed) == sorted(GROUPS)
                if 2 in cluster.brokers:
                    await cluster.stop(2)
                    for group in GROUPS:
                        await committed(cluster, group)

    run(scenario)


@pytest.mark.parametrize("end", [Members.stop, Members.kill])
def test_a_broker_that_comes_back_coordinates_again(tmp_path: Path, end: End) -> None:
    """Twice, each time with commits in between: what the others stored meanwhile counts."""

    async def scenario() -> None:
        async with members(tmp_path, 3) as cluster:
            await prepared(cluster)
            for turn in range(2):
                for i, group in enumerate(GROUPS):
                    assert await commit(cluster, group, 100 * turn + i) == 0
                await end(cluster, 2 + turn)
                for i, group in enumerate(GROUPS):
                    assert await committed(cluster, group) == 100 * turn + i
                    assert await commit(cluster, group, 100 * turn + 50 + i) == 0
                await cluster.start(2 + turn)
                for i, group in enumerate(GROUPS):
                    assert await committed(cluster, group) == 100 * turn + 50 + i

    run(scenario)


@pytest.mark.parametrize("end", [Members.stop, Members.kill])
def test_a_checkpointed_log_is_loaded_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: End
) -> None:
    """After a checkpoint the log begins late, and what is live lies behind."""
    monkeypatch.setattr(offsets_log, "GARBAGE_BYTES", 20_000)

    async def scenario() -> None:
        async with members(tmp_path, 3) as cluster:
            await prepared(cluster)
            homes = {each: await coordinator(cluster, each) for each in GROUPS}
            group = next(each for each in GROUPS if homes[each] != 1)  # the controller stays
            home = homes[group]
            index = partition_of(group, 50)
            for i in range(600):
                assert await commit(cluster, group, i) == 0
            topic = cluster.image().topics[OFFSETS_TOPIC]
            partition = cluster.brokers[home]._logs.partition(topic.topic_id, index)
            assert partition is not None
            assert partition.log_start_offset > 0
            await end(cluster, home)
            assert await committed(cluster, group) == 599
            assert await commit(cluster, group, 1000) == 0

    run(scenario)


def test_commits_need_as_many_copies_as_acks_all(tmp_path: Path) -> None:
    """``min.insync.replicas`` counts for the offsets topic, too; what is committed can be read meanwhile."""

    async def scenario() -> None:
        async with members(tmp_path, 3, min_insync_replicas="3") as cluster:
            await prepared(cluster)
            homes = {each: await coordinator(cluster, each) for each in GROUPS}
            group = next(each for each in GROUPS if homes[each] == 1)
            assert await commit(cluster, group, 1) == 0
            await cluster.stop(3)
            topic = cluster.image().topics[OFFSETS_TOPIC]
            partition = cluster.brokers[1]._logs.partition(topic.topic_id, partition_of(group, 50))
            assert partition is not None
            end = partition.log_end_offset
            part = OffsetCommitRequestPartition(partition_index=0, committed_offset=2)
            topics = [OffsetCommitRequestTopic(name="t", partitions=[part])]
            answer = await cluster.call(1, COMMIT, 8, group_id=group, topics=topics)
            assert answer.topics[0].partitions[0].error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
            assert partition.log_end_offset == end
            assert await committed(cluster, group) == 1
            await cluster.start(3)
            assert await commit(cluster, group, 3) == 0
            assert await committed(cluster, group) == 3

    run(scenario)


def test_a_broker_that_is_stopped_goes_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its clients must not be kept with metadata in which it still leads (rule 12b): it goes by itself, not
    since its time is over, and does not give up waiting for an image either."""
    monkeypatch.setattr(member, "FINISH_SECONDS", 600.0)

    async def scenario() -> None:
        async with members(tmp_path, 3) as cluster:
            await prepared(cluster)
            for group in GROUPS:
                assert await commit(cluster, group, 1) == 0
            for node_id in (2, 3):
                await cluster.stop(node_id)
                assert "could not hand over" not in caplog.text
                assert {await committed(cluster, group) for group in GROUPS} == {1}
            monkeypatch.setattr(member, "FINISH_SECONDS", 0.1)  # the last one has nobody to tell

    run(scenario)
