"""Groups through API handlers and codecs, over a log in memory: membership, offsets, reload, deletion."""

import asyncio
from collections.abc import AsyncIterator, Set
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.groups import records
from kproto.handlers.groups.coordinator import LOAD_PATIENCE_S, GroupCoordinator
from kproto.handlers.groups.group import Group
from kproto.handlers.groups.records import partition_of
from kproto.handlers.groups.shard import Shard
from kproto.wire.data import SUBSCRIPTION
from kproto.wire.generated.consumer_protocol_subscription import ConsumerProtocolSubscription
from kproto.wire.generated.join_group import JoinGroupRequestProtocol
from kproto.wire.generated.leave_group import MemberIdentity
from kproto.wire.generated.offset_commit import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kproto.wire.generated.offset_delete import OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from kproto.wire.generated.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from kproto.wire.generated.sync_group import SyncGroupRequestAssignment
from tests.groups.world import (
    COMMIT,
    DELETE_GROUPS,
    DESCRIBE,
    FETCH,
    FIND,
    HEARTBEAT,
    JOIN,
    LEAVE,
    LIST,
    OFFSET_DELETE,
    SYNC,
    World,
    scenario,
)


def subscription(*topics: str) -> bytes:
    return SUBSCRIPTION.write_versioned(1, ConsumerProtocolSubscription(topics=list(topics)))


async def join(world: World, group: str, version: int = 9, **fields: Any) -> Any:
    metadata = fields.pop("metadata", subscription("t"))
    request: dict[str, Any] = {
        "group_id": group,
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 10_000,
        "protocol_type": "consumer",
        "protocols": [JoinGroupRequestProtocol(name="range", metadata=metadata)],
        **fields,
    }
    response = await world.call(JOIN, version, **request)
    if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
        response = await world.call(JOIN, version, **{**request, "member_id": response.member_id})
    return response


async def sync(world: World, group: str, member: Any, **assignments: bytes) -> Any:
    given = [SyncGroupRequestAssignment(member_id=m, assignment=a) for m, a in assignments.items()]
    if not given and member.leader == member.member_id:
        given = [SyncGroupRequestAssignment(member_id=m.member_id, assignment=b"all") for m in member.members]
    return await world.call(
        SYNC,
        5,
        group_id=group,
        generation_id=member.generation_id,
        member_id=member.member_id,
        protocol_type="consumer",
        protocol_name="range",
        assignments=given,
    )


async def stable_member(world: World, group: str, **fields: Any) -> Any:
    member = await join(world, group, **fields)
    assert member.error_code == 0
    assert (await sync(world, group, member)).error_code == 0
    return member


def partitions(offset: int, *indexes: int, metadata: str | None = "") -> list[OffsetCommitRequestPartition]:
    return [
        OffsetCommitRequestPartition(
            partition_index=i, committed_offset=offset, committed_leader_epoch=2, committed_metadata=metadata
        )
        for i in indexes
    ]


async def commit(world: World, group: str, offset: int, version: int = 9, **fields: Any) -> list[int]:
    topics = fields.pop("topics", None) or [
        OffsetCommitRequestTopic(name="t", partitions=partitions(offset, 0))
    ]
    response = await world.call(COMMIT, version, group_id=group, topics=topics, **fields)
    return [p.error_code for topic in response.topics for p in topic.partitions]


async def fetched(world: World, group: str, topic: str = "t", partition: int = 0) -> int:
    response = await world.call(
        FETCH,
        7,
        group_id=group,
        topics=[OffsetFetchRequestTopic(name=topic, partition_indexes=[partition])],
        require_stable=True,
    )
    assert response.error_code == 0
    offset: int = response.topics[0].partitions[0].committed_offset
    return offset


async def everything(world: World, group: str) -> dict[tuple[str, int], int]:
    response = await world.call(FETCH, 7, group_id=group, topics=None, require_stable=True)
    return {(t.name, p.partition_index): p.committed_offset for t in response.topics for p in t.partitions}


async def described(world: World, group: str, version: int = 5) -> Any:
    return (await world.call(DESCRIBE, version, groups=[group])).groups[0]


# ---- membership -------------------------------------------------------------------------------------


@scenario("t")
async def test_without_the_topic_nobody_coordinates(world: World) -> None:
    assert (await join(world, "g")).error_code == ErrorCode.NOT_COORDINATOR
    assert await commit(world, "g", 1) == [ErrorCode.NOT_COORDINATOR]
    assert (await world.call(LIST, 5)).groups == []


@scenario("t")
async def test_two_members_join_sync_heartbeat_and_leave(world: World) -> None:
    await world.call(FIND, 3, key="g")
    a, b = await asyncio.gather(join(world, "g"), join(world, "g"))
    assert a.error_code == b.error_code == 0
    assert a.generation_id == b.generation_id
    leader, follower = (a, b) if a.leader == a.member_id else (b, a)
    assert {m.member_id for m in leader.members} == {a.member_id, b.member_id}
    assert leader.members[0].metadata == subscription("t")
    assert follower.members == []
    waiting = asyncio.ensure_future(sync(world, "g", follower))
    await asyncio.sleep(0)
    assert not waiting.done()
    given = {leader.member_id: b"L", follower.member_id: b"F"}
    assert (await sync(world, "g", leader, **given)).assignment == b"L"
    assert (await waiting).assignment == b"F"
    group = await described(world, "g")
    assert (group.group_state, group.protocol_type, group.protocol_data) == ("Stable", "consumer", "range")
    assert {m.member_id: m.member_assignment for m in group.members} == given
    assert group.members[0].client_host == "/127.0.0.1"
    beat = {"group_id": "g", "generation_id": leader.generation_id, "member_id": leader.member_id}
    assert (await world.call(HEARTBEAT, 4, **beat)).error_code == 0
    gone = await world.call(LEAVE, 4, group_id="g", members=[MemberIdentity(member_id=follower.member_id)])
    assert gone.members[0].error_code == 0
    assert (await world.call(HEARTBEAT, 4, **beat)).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    again = await join(world, "g", member_id=leader.member_id)
    assert again.generation_id == leader.generation_id + 1
    old = await world.call(LEAVE, 1, group_id="g", member_id=leader.member_id)
    assert old.error_code == 0
    assert (await described(world, "g")).group_state == "Empty"
    assert (await world.call(LEAVE, 1, group_id="g", member_id="x")).error_code == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("version", range(10))
def test_every_version_of_join_and_sync(version: int) -> None:
    @scenario("t")
    async def body(world: World) -> None:
        await world.call(FIND, 3, key="g")
        member = await join(world, "g", version)
        assert (member.error_code, member.protocol_name, member.leader) == (0, "range", member.member_id)
        answer = await world.call(
            SYNC,
            min(version, 5),
            group_id="g",
            generation_id=member.generation_id,
            member_id=member.member_id,
            protocol_type="consumer",
            protocol_name="range",
            assignments=[SyncGroupRequestAssignment(member_id=member.member_id, assignment=b"x")],
        )
        assert (answer.error_code, answer.assignment) == (0, b"x")
        failed = await join(world, "g", version, member_id="nobody")
        assert (failed.error_code, failed.member_id) == (ErrorCode.UNKNOWN_MEMBER_ID, "nobody")

    body()


@scenario("t", group_max_session_timeout_ms="60000")
async def test_requests_that_cannot_be_right(world: World) -> None:
    await world.call(FIND, 3, key="g")
    assert (await join(world, "")).error_code == ErrorCode.INVALID_GROUP_ID
    for timeout in (49, 60_001, -1):
        answer = await join(world, "g", session_timeout_ms=timeout)
        assert answer.error_code == ErrorCode.INVALID_SESSION_TIMEOUT
    answer = await world.call(SYNC, 5, group_id="g", generation_id=1, member_id="m")
    assert answer.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    answer = await world.call(SYNC, 4, group_id="g", generation_id=1, member_id="m")
    assert answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert (
        await world.call(HEARTBEAT, 0, group_id="", member_id="m")
    ).error_code == ErrorCode.INVALID_GROUP_ID
    assert (await world.call(LEAVE, 5, group_id="")).error_code == ErrorCode.INVALID_GROUP_ID


@scenario("t")
async def test_a_silent_member_is_removed_after_its_session(world: World) -> None:
    await world.call(FIND, 3, key="g")
    await stable_member(world, "g", session_timeout_ms=100)
    await asyncio.sleep(0.05)
    assert (await described(world, "g")).group_state == "Stable"
    await asyncio.sleep(0.15)
    assert (await described(world, "g")).group_state == "Empty"


@scenario("t", group_initial_rebalance_delay_ms="150")
async def test_the_first_rebalance_waits_for_more_members(world: World) -> None:
    await world.call(FIND, 3, key="g")
    first = asyncio.ensure_future(join(world, "g"))
    await asyncio.sleep(0.05)
    second = asyncio.ensure_future(join(world, "g"))
    a, b = await asyncio.gather(first, second)
    assert a.generation_id == b.generation_id == 1
    assert len(a.members) + len(b.members) == 2


@scenario("t")
async def test_a_closing_coordinator_answers_parked_joins(world: World) -> None:
    await world.call(FIND, 3, key="g")
    await stable_member(world, "g")
    parked = asyncio.ensure_future(join(world, "g"))
    await asyncio.sleep(0.01)
    assert not parked.done()
    world.groups.close()
    assert (await parked).error_code == ErrorCode.NOT_COORDINATOR


# ---- offsets ----------------------------------------------------------------------------------------


@scenario("t", "u")
async def test_a_member_commits_and_the_offsets_come_back_in_every_version(world: World) -> None:
    await world.call(FIND, 3, key="g")
    member = await stable_member(world, "g")
    topic_id = world.controller.image.topics["t"].topic_id
    for version in range(2, 11):
        asked = OffsetCommitRequestTopic(
            name="t", topic_id=topic_id, partitions=partitions(version, 0, 1, metadata=f"v{version}")
        )
        errors = await commit(
            world,
            "g",
            0,
            version,
            topics=[asked],
            member_id=member.member_id,
            generation_id_or_member_epoch=member.generation_id,
        )
        assert errors == [0, 0]
        assert await fetched(world, "g") == version
    for version in range(1, 8):
        topic = OffsetFetchRequestTopic(name="t", partition_indexes=[1, 2])
        response = await world.call(FETCH, version, group_id="g", topics=[topic])
        one, none = response.topics[0].partitions
        assert (one.committed_offset, one.metadata, one.error_code) == (10, "v10", 0)
        assert one.committed_leader_epoch == (2 if version >= 5 else -1)
        assert (none.committed_offset, none.metadata, none.error_code) == (-1, "", 0)
    for version in range(8, 11):
        topics = [OffsetFetchRequestTopics(name="t", topic_id=topic_id, partition_indexes=[0])]
        groups = [
            OffsetFetchRequestGroup(group_id="g", topics=topics),
            OffsetFetchRequestGroup(group_id="none", topics=topics),
            OffsetFetchRequestGroup(group_id="g", topics=None),
        ]
        response = await world.call(FETCH, version, groups=groups)
        assert [g.topics[0].partitions[0].committed_offset for g in response.groups[:2]] == [10, -1]
        assert len(response.groups[2].topics[0].partitions) == 2
        assert response.groups[2].topics[0].topic_id == (topic_id if version == 10 else bytes(16))


@scenario("t")
async def test_commits_are_checked(world: World) -> None:
    await world.call(FIND, 3, key="g")
    unknown_group = {"member_id": "m", "generation_id_or_member_epoch": 1}
    assert await commit(world, "g", 1, 8, **unknown_group) == [ErrorCode.ILLEGAL_GENERATION]
    assert await commit(world, "g", 1, 9, **unknown_group) == [ErrorCode.GROUP_ID_NOT_FOUND]
    topics = [
        OffsetCommitRequestTopic(name="none", partitions=partitions(1, 0)),
        OffsetCommitRequestTopic(name="t", partitions=partitions(1, 0, 3)),
        OffsetCommitRequestTopic(name="t", partitions=partitions(1, 1, metadata="x" * 4097)),
        OffsetCommitRequestTopic(name="t", partitions=partitions(1, 2, metadata="x" * 4096)),
    ]
    assert await commit(world, "g", 1, topics=topics) == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.OFFSET_METADATA_TOO_LARGE,
        ErrorCode.NONE,
    ]
    by_id = [OffsetCommitRequestTopic(topic_id=bytes(15) + b"x", partitions=partitions(1, 0))]
    assert await commit(world, "g", 1, 10, topics=by_id) == [ErrorCode.UNKNOWN_TOPIC_ID]
    assert await everything(world, "g") == {("t", 0): 1, ("t", 2): 1}
    member = await stable_member(world, "g")
    assert await commit(world, "g", 2) == [ErrorCode.UNKNOWN_MEMBER_ID]
    stale = {"member_id": member.member_id, "generation_id_or_member_epoch": 0}
    assert await commit(world, "g", 2, **stale) == [ErrorCode.ILLEGAL_GENERATION]
    assert await fetched(world, "g") == 1


@scenario("t")
async def test_commits_of_one_turn_share_a_batch_and_wait_for_durability(world: World) -> None:
    await world.call(FIND, 3, key="g")
    await commit(world, "g", 0)
    world.port.auto = False
    before = world.port.appends
    waiting = [asyncio.ensure_future(commit(world, "g", i)) for i in range(50)]
    stable = asyncio.ensure_future(fetched(world, "g"))
    await asyncio.sleep(0.01)
    assert world.port.appends == before + 1
    assert not any(one.done() for one in [*waiting, stable])
    world.port.partition(partition_of("g", 50)).sync()
    assert await asyncio.gather(*waiting) == [[0]] * 50
    assert await stable == 49


@scenario("t")
async def test_the_last_member_has_left_when_that_is_durable(world: World) -> None:
    """It was answered before: a broker killed then waited for the session of who had said goodbye."""
    await world.call(FIND, 3, key="g")
    member = await stable_member(world, "g")
    world.port.auto = False
    gone = [MemberIdentity(member_id=member.member_id)]
    leaving = asyncio.ensure_future(world.call(LEAVE, 5, group_id="g", members=gone))
    await asyncio.sleep(0.01)
    assert not leaving.done()
    world.port.partition(partition_of("g", 50)).sync()
    answer = await leaving
    assert (answer.error_code, [one.error_code for one in answer.members]) == (0, [0])
    world.port.auto = True
    world.restart()
    assert (await described(world, "g")).group_state == "Empty"


@pytest.mark.parametrize("version", [2, 5])
def test_the_last_member_is_not_told_to_have_left_when_that_is_refused(version: int) -> None:
    """It was told so, and was back in the group after the next load."""

    @scenario("t")
    async def test(world: World) -> None:
        await world.call(FIND, 3, key="g")
        member = await stable_member(world, "g")
        gone = [MemberIdentity(member_id=member.member_id)]
        who = {"members": gone} if version > 2 else {"member_id": member.member_id}
        world.port.refuse = ErrorCode.NOT_ENOUGH_REPLICAS
        answer = await world.call(LEAVE, version, group_id="g", **who)
        assert answer.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        world.port.refuse = None
        world.restart()
        answer = await world.call(LEAVE, version, group_id="g", **who)
        assert answer.error_code == 0
        assert (await described(world, "g")).group_state == "Empty"

    test()


@scenario("t")
async def test_a_deleted_group_is_gone_with_those_who_were_about_to_join_it(world: World) -> None:
    await world.call(FIND, 3, key="g")
    await commit(world, "g", 1)
    protocols = [JoinGroupRequestProtocol(name="range", metadata=subscription("t"))]
    about = {"session_timeout_ms": 10_000, "protocol_type": "consumer", "protocols": protocols}
    promised = await world.call(JOIN, 9, group_id="g", **about)
    assert promised.error_code == ErrorCode.MEMBER_ID_REQUIRED
    deleted = await world.call(DELETE_GROUPS, 2, groups_names=["g"])
    assert [one.error_code for one in deleted.results] == [0]
    assert (await described(world, "g")).group_state == "Dead"
    late = await world.call(JOIN, 9, group_id="g", member_id=promised.member_id, **about)
    assert late.error_code == ErrorCode.UNKNOWN_MEMBER_ID


@scenario("t")
async def test_a_refused_write_is_told_in_the_groups_words(world: World) -> None:
    await world.call(FIND, 3, key="g")
    await commit(world, "g", 1)
    world.port.refuse = ErrorCode.KAFKA_STORAGE_ERROR
    assert await commit(world, "g", 2) == [ErrorCode.NOT_COORDINATOR]
    member = await join(world, "g")
    assert (await sync(world, "g", member)).error_code == ErrorCode.NOT_COORDINATOR
    world.port.refuse = None
    assert await fetched(world, "g") == 1
    again = await join(world, "g", member_id=member.member_id)
    assert (await sync(world, "g", again)).error_code == 0


@scenario("t", offsets_commit_timeout_ms="80")
async def test_a_commit_that_does_not_become_durable_is_answered(world: World) -> None:
    await world.call(FIND, 3, key="g")
    await commit(world, "g", 1)
    world.port.auto = False
    assert await commit(world, "g", 2) == [ErrorCode.COORDINATOR_NOT_AVAILABLE]
    partition = world.port.partition(partition_of("g", 50))
    later = asyncio.ensure_future(commit(world, "g", 3))
    await asyncio.sleep(0.01)
    partition.sync()
    assert await later == [0]
    assert await fetched(world, "g") == 3


# ---- restart ----------------------------------------------------------------------------------------


@scenario("t")
async def test_a_restart_keeps_groups_members_and_offsets(world: World) -> None:
    for i in range(20):
        group = f"group-{i}"
        await world.call(FIND, 3, key=group)
        await commit(world, group, i)
    member = await stable_member(world, "group-7")
    owner = {"member_id": member.member_id, "generation_id_or_member_epoch": member.generation_id}
    assert await commit(world, "group-7", 70, **owner) == [0]
    world.restart()
    assert [await fetched(world, f"group-{i}") for i in range(20)] == [*range(7), 70, *range(8, 20)]
    assert (await described(world, "group-7")).group_state == "Stable"
    assert await commit(world, "group-7", 71, **owner) == [0]
    listed = await world.call(LIST, 5)
    assert {g.group_id for g in listed.groups} == {f"group-{i}" for i in range(20)}


@scenario("t")
async def test_while_loading_heartbeats_are_answered_and_others_wait(world: World) -> None:
    await world.call(FIND, 3, key="g")
    member = await stable_member(world, "g")
    world.restart()
    beat = {"group_id": "g", "generation_id": member.generation_id, "member_id": member.member_id}
    assert (await world.call(HEARTBEAT, 4, **beat)).error_code == 0
    assert world.groups.is_loading("g")
    assert await fetched(world, "g") == -1
    assert not world.groups.is_loading("g")
    assert (await world.call(HEARTBEAT, 4, **{**beat, "member_id": "x"})).error_code != 0


# ---- listing and deleting -----------------------------------------------------------------------------


@scenario("t")
async def test_list_filters(world: World) -> None:
    await world.call(FIND, 3, key="stable")
    await stable_member(world, "stable")
    await commit(world, "simple", 1)

    async def listed(version: int = 5, **fields: Any) -> set[tuple[str, str, str, str]]:
        response = await world.call(LIST, version, **fields)
        return {(g.group_id, g.protocol_type, g.group_state, g.group_type) for g in response.groups}

    stable, simple = ("stable", "consumer", "Stable", "classic"), ("simple", "", "Empty", "classic")
    assert await listed() == {stable, simple}
    assert await listed(states_filter=[" stable "]) == {stable}
    assert await listed(states_filter=["EMPTY", "Dead"]) == {simple}
    assert await listed(types_filter=["Classic"]) == {stable, simple}
    assert await listed(types_filter=["consumer"]) == set()
    assert {g[0] for g in await listed(0)} == {"stable", "simple"}


@scenario("t")
async def test_groups_that_cannot_be_loaded_keep_no_others_from_being_listed(world: World) -> None:
    """The answer was NOT_COORDINATOR alone, at which Java's AdminClient does not ask again."""
    await world.call(FIND, 3, key="g")
    await commit(world, "g", 1)
    world.restart()
    scan, here = world.port.scan, partition_of("g", 50)

    async def some(index: int) -> AsyncIterator[memoryview]:
        if index == (here + 1) % 50:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if index != here:
            await asyncio.sleep(LOAD_PATIENCE_S - 1 if index % 2 else 1_000)
        async for batch in scan(index):
            yield batch

    world.port.scan = some  # type: ignore[method-assign]
    async with asyncio.timeout(LOAD_PATIENCE_S + 0.1):
        listed = await world.call(LIST, 4)
    assert listed.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert [group.group_id for group in listed.groups] == ["g"]
    await asyncio.sleep(2_000)
    listed = await world.call(LIST, 4)
    assert (listed.error_code, len(listed.groups)) == (0, 1), "one cannot be read, and may never be"
    world.port.scan = scan  # type: ignore[method-assign]
    await asyncio.sleep(1_000)
    listed = await world.call(LIST, 4)
    assert (listed.error_code, len(listed.groups)) == (0, 1)


@scenario("t")
async def test_describe_unknown_groups(world: World) -> None:
    await world.call(FIND, 3, key="g")
    old, new = await described(world, "nope", 5), await described(world, "nope", 6)
    assert (old.error_code, old.group_state) == (0, "Dead")
    assert (new.error_code, new.group_state) == (ErrorCode.GROUP_ID_NOT_FOUND, "Dead")
    assert new.error_message
    both = await world.call(DESCRIBE, 5, groups=["nope"], include_authorized_operations=True)
    assert both.groups[0].authorized_operations > 0


@scenario("t")
async def test_groups_without_members_can_be_deleted(world: World) -> None:
    await world.call(FIND, 3, key="busy")
    member = await stable_member(world, "busy")
    await commit(world, "idle", 5)

    async def delete(*names: str) -> dict[str, int]:
        response = await world.call(DELETE_GROUPS, 2, groups_names=list(names))
        return {r.group_id: r.error_code for r in response.results}

    assert await delete("busy", "idle", "nope") == {
        "busy": ErrorCode.NON_EMPTY_GROUP,
        "idle": ErrorCode.NONE,
        "nope": ErrorCode.GROUP_ID_NOT_FOUND,
    }
    await world.call(LEAVE, 1, group_id="busy", member_id=member.member_id)
    assert await delete("busy") == {"busy": ErrorCode.NONE}
    world.restart()
    assert (await world.call(LIST, 5)).groups == []
    assert await fetched(world, "idle") == -1


@scenario("t")
async def test_deleting_a_group_catches_commits_under_way(world: World) -> None:
    await world.call(FIND, 3, key="g")
    await commit(world, "g", 1)
    world.port.auto = False
    late = asyncio.ensure_future(
        commit(world, "g", 2, topics=[OffsetCommitRequestTopic(name="t", partitions=partitions(2, 1))])
    )
    await asyncio.sleep(0)
    deleted = asyncio.ensure_future(world.call(DELETE_GROUPS, 2, groups_names=["g"]))
    await asyncio.sleep(0.01)
    world.port.auto = True
    world.port.partition(partition_of("g", 50)).sync()
    assert await late == [0]
    assert (await deleted).results[0].error_code == 0
    assert await everything(world, "g") == {}
    world.restart()
    assert await everything(world, "g") == {}


@scenario(*(f"t{i}" for i in range(25)))
async def test_a_group_whose_tombstones_are_larger_than_a_batch_can_be_deleted(world: World) -> None:
    group = "g" * 30_000
    await world.call(FIND, 3, key=group)
    for index in (0, 1):
        topics = [OffsetCommitRequestTopic(name=f"t{i}", partitions=partitions(1, index)) for i in range(25)]
        assert set(await commit(world, group, 1, topics=topics)) == {0}
    deleted = await world.call(DELETE_GROUPS, 2, groups_names=[group])
    assert deleted.results[0].error_code == 0
    world.restart()
    assert await everything(world, group) == {}


@scenario("t", "u")
async def test_offset_delete(world: World) -> None:
    await world.call(FIND, 3, key="g")
    for name in ("t", "u"):
        await commit(
            world, "g", 3, topics=[OffsetCommitRequestTopic(name=name, partitions=partitions(3, 0, 1))]
        )

    async def delete(group: str, *names: str) -> Any:
        parts = [OffsetDeleteRequestPartition(partition_index=i) for i in (0, 2)]
        topics = [OffsetDeleteRequestTopic(name=name, partitions=parts) for name in names]
        response = await world.call(OFFSET_DELETE, 0, group_id=group, topics=topics)
        return response.error_code or [[p.error_code for p in t.partitions] for t in response.topics]

    assert await delete("none", "t") == ErrorCode.GROUP_ID_NOT_FOUND
    member = await stable_member(world, "g")
    subscribed = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert await delete("g", "t", "u", "x") == [[subscribed] * 2, [0, 0], [unknown] * 2]
    assert await everything(world, "g") == {("t", 0): 3, ("t", 1): 3, ("u", 1): 3}
    await world.call(LEAVE, 1, group_id="g", member_id=member.member_id)
    assert await delete("g", "t") == [[0, 0]]
    world.restart()
    assert await everything(world, "g") == {("t", 1): 3, ("u", 1): 3}
    connect = await join(world, "c", protocol_type="connect")
    assert connect.error_code == 0
    assert await delete("c", "t") == ErrorCode.NON_EMPTY_GROUP


@scenario("t", "u")
async def test_deleted_topics_take_their_offsets_along(world: World) -> None:
    await world.call(FIND, 3, key="g")
    topics = [OffsetCommitRequestTopic(name=n, partitions=partitions(3, 0)) for n in ("t", "u")]
    await commit(world, "g", 3, topics=topics)
    await world.delete("t")
    await asyncio.sleep(0.01)
    assert await everything(world, "g") == {("u", 0): 3}
    await world.create("t")
    assert await fetched(world, "g", "t") == -1


@scenario("t")
async def test_a_deleted_topic_is_forgotten_a_shard_at_a_time(world: World) -> None:
    await world.call(FIND, 3, key="g")
    shards = await world.groups.all_shards()
    turns: list[int] = []
    turn = 0
    drop = Shard.drop_topics

    def noted(shard: Shard, names: Set[str]) -> None:
        turns.append(turn)
        drop(shard, names)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Shard, "drop_topics", noted)
        deleting = asyncio.ensure_future(world.delete("t"))
        while len(turns) < len(shards):
            turn += 1
            await asyncio.sleep(0)
        await deleting
    assert len(set(turns)) == len(shards) > 10


@scenario("t")
async def test_what_is_committed_for_a_topic_of_the_same_name_stays(world: World) -> None:
    """However few turns of the loop lie between deletion and creation."""
    await world.call(FIND, 3, key="g0")
    await world.groups.all_shards()
    groups = [f"g{i}" for i in range(60)]
    for group in groups:
        await commit(world, group, 7)
    await world.delete("t")
    await world.create("t")
    for group in groups[::2]:
        await commit(world, group, 3)
    await asyncio.sleep(0.05)
    assert [await fetched(world, group) for group in groups] == [3, -1] * 30


@scenario("t")
async def test_a_topic_that_was_made_anew_unseen_has_no_offsets(world: World) -> None:
    """A new controller gives whoever is behind all of its metadata, and not what became of it."""
    await world.call(FIND, 3, key="g")
    world.groups.close()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(GroupCoordinator, "on_image", lambda *_: None)
        world.begin()
    await world.groups.all_shards()
    await commit(world, "g", 7)
    assert await fetched(world, "g") == 7
    await world.delete("t")
    await world.create("t")
    world.groups.on_image(replace(world.controller.image, base_revision=0))
    await commit(world, "h", 3)
    await asyncio.sleep(0.05)
    assert await fetched(world, "g") == -1
    assert await fetched(world, "h") == 3


@scenario("gone", "again", "stays")
async def test_topics_deleted_behind_a_crash_are_found_out_in_loading(world: World) -> None:
    await world.call(FIND, 3, key="g")
    names = ("gone", "again", "stays")
    await commit(
        world, "g", 4, topics=[OffsetCommitRequestTopic(name=n, partitions=partitions(4, 0)) for n in names]
    )
    world.groups.close()
    await world.delete("gone")
    await world.delete("again")
    await world.create("again")
    world.begin()
    assert await everything(world, "g") == {("stays", 0): 4}


@scenario("t", offsets_retention_minutes="1")
async def test_all_that_expires_together_is_forgotten_together(world: World) -> None:
    """However long the log takes for what goes first."""
    await world.call(FIND, 3, key="g")
    for i in range(300):
        await commit(world, f"g{i}", 1)
    await later(world, 61_000)
    world.port.auto = False
    await world.groups.expire_offsets()
    for _ in range(3):
        await asyncio.sleep(0.01)
        for partition in world.port.partitions.values():
            partition.sync()
    assert (await world.call(LIST, 5)).groups == []


@scenario("t", offsets_retention_minutes="1")
async def test_a_commit_on_its_way_to_the_log_is_not_expired(world: World) -> None:
    await world.call(FIND, 3, key="g")
    await commit(world, "g", 1)
    await later(world, 61_000)
    world.port.auto = False
    committing = asyncio.ensure_future(commit(world, "g", 2))
    await asyncio.sleep(0.01)
    await world.groups.expire_offsets()
    await asyncio.sleep(0.01)
    for partition in world.port.partitions.values():
        partition.sync()
    await committing
    world.port.auto = True
    assert await fetched(world, "g") == 2
    world.restart()
    assert await fetched(world, "g") == 2


async def later(world: World, by_ms: int) -> None:
    """The wall clock goes on by ``by_ms`` for all that is loaded."""
    world.clock = world.groups.clock = _Later(world.clock.wall_ms() + by_ms)
    for shard in await world.groups.all_shards():
        shard._clock = world.clock


@scenario("t")
async def test_an_assignment_that_cannot_be_written_down_is_refused_and_the_next_one_is_not(
    world: World,
) -> None:
    """SyncGroup has no deadline: who tried again was never answered."""
    for whose, what in ((records, "group_value"), (Group, "_snapshot")):
        group = f"g{what}"
        await world.call(FIND, 3, key=group)
        member = await join(world, group)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(whose, what, _failing)
            with suppress(MemoryError):  # its connection is closed then
                assert (await sync(world, group, member)).error_code == ErrorCode.NOT_COORDINATOR
        async with asyncio.timeout(5):
            again = await join(world, group, member_id=member.member_id)
            assert again.error_code == 0
            assert (await sync(world, group, again)).error_code == 0


def _failing(*_: object) -> None:
    raise MemoryError


@scenario("t", offsets_retention_minutes="1")
async def test_offsets_expire(world: World) -> None:
    await world.call(FIND, 3, key="g")
    member = await stable_member(world, "g")
    owner = {"member_id": member.member_id, "generation_id_or_member_epoch": member.generation_id}
    await commit(world, "g", 1, **owner)
    await commit(world, "simple", 1)
    await commit(world, "own", 1, 4, retention_time_ms=3_600_000)
    start = world.clock.wall_ms()
    world.clock = world.groups.clock = _Later(start)
    for shard in await world.groups.all_shards():
        shard._clock = world.clock
    world.clock.wall = start + 59_000
    await world.groups.expire_offsets()
    await asyncio.sleep(0)
    assert await fetched(world, "simple") == 1
    world.clock.wall = start + 61_000
    await world.groups.expire_offsets()
    await asyncio.sleep(0.01)
    assert [g.group_id for g in (await world.call(LIST, 5)).groups if g.group_id != "own"] == ["g"]
    assert await fetched(world, "g") == 1
    assert await fetched(world, "own") == 1
    await world.call(LEAVE, 1, group_id="g", member_id=member.member_id)
    world.clock.wall += 59_000
    await world.groups.expire_offsets()
    await asyncio.sleep(0.01)
    assert await fetched(world, "g") == 1
    world.clock.wall += 2_000
    await world.groups.expire_offsets()
    await asyncio.sleep(0.01)
    assert await fetched(world, "g") == -1
    world.clock.wall = start + 3_600_001
    await world.groups.expire_offsets()
    await asyncio.sleep(0.01)
    assert (await world.call(LIST, 5)).groups == []
    world.restart()
    assert (await world.call(LIST, 5)).groups == []


class _Later:
    """A wall clock set by hand; time for deadlines goes on as usual."""

    def __init__(self, wall: int) -> None:
        self.wall = wall

    def wall_ms(self) -> int:
        return self.wall

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()
