"""OffsetCommit, OffsetFetch and OffsetDelete: who is refused for what, and requests that name very much."""

import asyncio
from collections.abc import Set
from typing import Any

import pytest

from kproto.errors import ErrorCode
from kproto.handlers.groups import offsets, records
from kproto.handlers.groups.records import partition_of
from kproto.handlers.groups.shard import Shard
from kproto.handlers.repeats import MOST_REPEATS
from kproto.wire.generated.offset_commit import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kproto.wire.generated.offset_delete import OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from kproto.wire.generated.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.groups.test_coordinator import (
    commit,
    everything,
    fetched,
    join,
    partitions,
    stable_member,
    subscription,
)
from tests.groups.world import COMMIT, DESCRIBE, FETCH, FIND, OFFSET_DELETE, World, scenario


@scenario("t")
async def test_who_may_not_commit_is_told_so_whatever_the_metadata(world: World) -> None:
    await world.call(FIND, 4, coordinator_keys=["g"])
    part = OffsetCommitRequestPartition(committed_offset=5, committed_metadata="x" * 5000)
    topics = [OffsetCommitRequestTopic("t", partitions=[part])]
    for member_id, generation, code in (
        ("", -1, ErrorCode.OFFSET_METADATA_TOO_LARGE),
        ("m", 3, ErrorCode.ILLEGAL_GENERATION),
    ):
        who = {"member_id": member_id, "generation_id_or_member_epoch": generation}
        answer = await world.call(COMMIT, 8, group_id="g", topics=topics, **who)
        assert answer.topics[0].partitions[0].error_code == code


@scenario("t")
async def test_offsets_may_be_kept_for_as_long_as_a_number_can_say(world: World) -> None:
    await world.call(FIND, 3, key="g")
    for retention_ms in (2**63 - 1, 5):
        assert await commit(world, "g", 5, version=4, retention_time_ms=retention_ms) == [0]
    await asyncio.sleep(0.01)
    await world.groups.expire_offsets()
    assert await everything(world, "g") == {}, "no commit counts as under way"


@scenario()
async def test_others_are_served_while_many_offsets_are_fetched(world: World) -> None:
    """Of many groups, of many topics, of many partitions."""
    await world.call(FIND, 4, coordinator_keys=["g"])
    names = [f"n{number}" for number in range(20_000)]
    await world.call(DESCRIBE, 5, groups=names[:200])  # all shards are loaded now
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def fetched(version: int, **fields: Any) -> Any:
        before = turns
        answer = await world.call(FETCH, version, **fields)
        assert turns - before >= 5
        return answer

    ticking = asyncio.ensure_future(others())
    answer = await fetched(9, groups=[OffsetFetchRequestGroup(group_id=name, topics=[]) for name in names])
    assert [one.group_id for one in answer.groups] == names
    topics = [OffsetFetchRequestTopic(name, [0]) for name in names]
    assert [one.name for one in (await fetched(7, group_id="g", topics=topics)).topics] == names
    one = OffsetFetchRequestTopics("t", partition_indexes=list(range(20_000)))
    answer = await fetched(8, groups=[OffsetFetchRequestGroup(group_id="g", topics=[one])])
    assert [part.partition_index for part in answer.groups[0].topics[0].partitions] == list(range(20_000))
    ticking.cancel()


@scenario("t")
async def test_a_group_that_is_named_very_often_is_answered_once(world: World) -> None:
    """All its offsets, or all its members, each time: a small request would make an answer of gigabytes."""
    await world.call(FIND, 4, coordinator_keys=["g"])
    topics = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(committed_offset=5)])]
    await world.call(COMMIT, 8, group_id="g", topics=topics)
    for repeats, answers in ((MOST_REPEATS, MOST_REPEATS + 2), (MOST_REPEATS + 1, 2)):
        names = ["other", *["g"] * (repeats + 1)]
        groups = [OffsetFetchRequestGroup(group_id=name, topics=None) for name in names]
        fetched = (await world.call(FETCH, 8, groups=groups)).groups
        assert [one.group_id for one in fetched] == names[:answers]
        assert all(one.topics[0].partitions[0].committed_offset == 5 for one in fetched[1:])
        described = (await world.call(DESCRIBE, 5, groups=names)).groups
        assert [one.group_id for one in described] == names[:answers]


def counted(patched: pytest.MonkeyPatch, module: Any, name: str) -> list[object]:
    """What ``module``'s function is called with from now on."""
    calls: list[object] = []
    function = getattr(module, name)

    def call(argument: object) -> object:
        calls.append(argument)
        return function(argument)

    patched.setattr(module, name, call)
    return calls


@scenario("t")
async def test_subscriptions_are_looked_at_once_however_many_topics_are_named(world: World) -> None:
    """A group may have hundreds of members, a request name thousands of topics."""
    await world.call(FIND, 3, key="g")
    await stable_member(world, "g")
    part = [OffsetDeleteRequestPartition(partition_index=0)]
    topics = [OffsetDeleteRequestTopic(name=name, partitions=part) for name in ("t", "u", "v")]
    with pytest.MonkeyPatch.context() as patched:
        calls = counted(patched, offsets, "parse_subscription_topics")
        response = await world.call(OFFSET_DELETE, 0, group_id="g", topics=topics)
    assert response.topics[0].partitions[0].error_code == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    assert len(calls) == 1


@scenario("t", "u")
async def test_what_is_subscribed_to_while_others_join_is_what_the_members_said_before(world: World) -> None:
    """They go on with the partitions that they have, and commit, until the next generation begins."""
    await world.call(FIND, 3, key="g")
    part = [OffsetDeleteRequestPartition(partition_index=0)]
    topics = [OffsetDeleteRequestTopic(name=name, partitions=part) for name in ("t", "u")]

    async def errors() -> list[int]:
        response = await world.call(OFFSET_DELETE, 0, group_id="g", topics=topics)
        return [topic.partitions[0].error_code for topic in response.topics]

    subscribed = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    member = await stable_member(world, "g")
    assert await errors() == [subscribed, 0]
    other = asyncio.ensure_future(join(world, "g", metadata=subscription("u")))
    await asyncio.sleep(0.01)
    assert await errors() == [subscribed, 0], "it has no partitions yet"
    again = asyncio.ensure_future(join(world, "g", member_id=member.member_id, metadata=subscription("u")))
    await asyncio.sleep(0.01)
    assert (await other).generation_id == (await again).generation_id
    assert await errors() == [0, subscribed]
    world.restart()
    await world.call(FIND, 3, key="g")
    assert await errors() == [subscribed, 0], "as of the last generation that was stored"


@scenario("t", "u", "v")
async def test_writes_under_way_are_looked_at_once_however_many_topics_are_deleted(world: World) -> None:
    await world.call(FIND, 3, key="g")
    names = ("t", "u", "v")
    topics = [OffsetCommitRequestTopic(name=name, partitions=partitions(3, 0)) for name in names]
    world.port.auto = False
    late = asyncio.ensure_future(commit(world, "g", 3, topics=topics))
    await asyncio.sleep(0.01)
    (shard,) = [one for one in await world.groups.all_shards() if "g" in one.entries]
    with pytest.MonkeyPatch.context() as patched:
        calls = counted(patched, records, "parse_key")
        shard.drop_topics({"t", "u"})
    assert len(calls) == len(names)
    world.port.auto = True
    world.port.partition(partition_of("g", 50)).sync()
    assert await late == [0, 0, 0]
    assert await everything(world, "g") == {("v", 0): 3}


@pytest.mark.parametrize("version", [7, 8, 10])
def test_a_stable_fetch_waits_for_what_it_asks_for_alone_and_no_longer_than_a_commit(version: int) -> None:
    """Clients ask for that as a rule, and what they sent next waits behind the answer."""

    @scenario("t", offsets_commit_timeout_ms="80")
    async def test(world: World) -> None:
        await world.call(FIND, 3, key="g")
        await commit(world, "g", 1, topics=[OffsetCommitRequestTopic("t", partitions=partitions(1, 0, 1))])
        world.port.auto = False
        other = next(name for name in (f"o{i}" for i in range(500)) if partition_of(name, 50) == log)
        late = [asyncio.ensure_future(commit(world, name, 2)) for name in ("g", other)]
        await asyncio.sleep(0.01)

        async def told(group: str, *asked: int) -> dict[int, tuple[int, int]]:
            return await asked_for(world, version, group, *asked)

        async with asyncio.timeout(0.001):
            assert await told("g", 1) == {1: (0, 1)}, "nobody commits that"
            assert await told(other, 1) == {1: (0, -1)}
        unstable = (ErrorCode.UNSTABLE_OFFSET_COMMIT, -1)
        for asked in ((0, 1), ()):
            async with asyncio.timeout(0.2):
                assert await told("g", *asked) == {0: unstable, 1: (0, 1)}
        assert await asyncio.gather(*late) == [[ErrorCode.COORDINATOR_NOT_AVAILABLE]] * 2
        world.port.partition(log).sync()
        assert await told("g", 0, 1) == {0: (0, 2), 1: (0, 1)}

    log = partition_of("g", 50)
    test()


@pytest.mark.parametrize("version", [1, 6, 7, 8, 10])
def test_a_fetch_tells_what_was_committed_before_it_or_what_was_there_when_that_fails(version: int) -> None:
    """It came at once with the old offset: who commits and asks on one connection gets what it committed."""

    @scenario("t", offsets_commit_timeout_ms="80")
    async def test(world: World) -> None:
        await world.call(FIND, 3, key="g")
        await commit(world, "g", 1)
        world.port.auto = False
        late = asyncio.ensure_future(commit(world, "g", 2))
        await asyncio.sleep(0.01)
        told = asyncio.ensure_future(asked_for(world, version, "g", 0, require_stable=False))
        await asyncio.sleep(0.01)
        assert not told.done()
        world.port.partition(log).sync()
        assert await told == {0: (0, 2)}
        assert await late == [0]
        late = asyncio.ensure_future(commit(world, "g", 3))
        await asyncio.sleep(0.01)
        async with asyncio.timeout(0.2):
            assert await asked_for(world, version, "g", 0, require_stable=False) == {0: (0, 2)}
        assert await late == [ErrorCode.COORDINATOR_NOT_AVAILABLE]

    log = partition_of("g", 50)
    test()


async def asked_for(
    world: World, version: int, group: str, *asked: int, require_stable: bool = True
) -> dict[int, tuple[int, int]]:
    """Error and offset of these partitions of t, or of all that the group has."""
    if version < 8:
        topics = [OffsetFetchRequestTopic("t", list(asked))] if asked else None
        fields: dict[str, Any] = {"group_id": group, "topics": topics}
        answer = await world.call(FETCH, version, **fields, require_stable=require_stable)
    else:
        topic_id = world.controller.image.topics["t"].topic_id
        named = [OffsetFetchRequestTopics("t", topic_id, list(asked))] if asked else None
        one = OffsetFetchRequestGroup(group_id=group, topics=named)
        (answer,) = (await world.call(FETCH, version, groups=[one], require_stable=require_stable)).groups
    assert answer.error_code == 0
    (topic,) = answer.topics
    return {part.partition_index: (part.error_code, part.committed_offset) for part in topic.partitions}


@scenario("t", offsets_retention_minutes="1", offsets_retention_check_interval_ms="60000")
async def test_offsets_expire_though_that_failed_before(world: World) -> None:
    await world.call(FIND, 3, key="g")
    await commit(world, "g", 1)
    (shard,) = [one for one in await world.groups.all_shards() if one.entries]
    expire, failures = shard.expire, [MemoryError()]

    def failing(group_id: str, retention_ms: int) -> None:
        if failures:
            raise failures.pop()
        expire(group_id, retention_ms)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Shard, "expire", lambda _, *args: failing(*args))
        await asyncio.sleep(200)
    assert not failures
    assert await fetched(world, "g") == -1


@scenario("t")
async def test_offsets_of_a_deleted_topic_go_though_those_of_one_shard_cannot(world: World) -> None:
    for number in range(6):
        await world.call(FIND, 3, key=f"g{number}")
        await commit(world, f"g{number}", 1)
    shards = [one for one in await world.groups.all_shards() if one.entries]
    drop, failures = Shard.drop_topics, [MemoryError()]

    def failing(shard: Shard, names: Set[str]) -> None:
        if shard.entries and failures:
            raise failures.pop()
        drop(shard, names)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Shard, "drop_topics", failing)
        await world.delete("t")
        await asyncio.sleep(1)
    assert not failures
    assert len(shards) > 2
    assert sum(any(entry.offsets for entry in shard.entries.values()) for shard in shards) == 1
