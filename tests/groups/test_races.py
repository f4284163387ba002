"""What comes between: groups that move, load or are deleted while something of theirs is on its way."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kproto.controller import NewTopic, TopicRef
from kproto.errors import ErrorCode
from kproto.handlers.context import RequestContext
from kproto.handlers.groups import offset_commit
from kproto.handlers.groups.coordinator import GroupCoordinator
from kproto.handlers.groups.records import partition_of
from kproto.wire.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kproto.wire.generated.offset_delete import OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from kproto.wire.generated.offset_fetch import OffsetFetchRequestGroup
from tests.groups.memory_log import MemoryPartition
from tests.groups.nodes import Node, run, until
from tests.groups.test_coordinator import (
    commit,
    described,
    everything,
    fetched,
    join,
    partitions,
    stable_member,
)
from tests.groups.test_leadership import GROUP, INDEX, committed, load_slowly, prepared
from tests.groups.test_leadership import commit as commit_at
from tests.groups.world import DELETE_GROUPS, FETCH, FIND, HEARTBEAT, OFFSET_DELETE, World, scenario


def log_of(world: World, group: str = "g") -> MemoryPartition:
    return world.port.partition(partition_of(group, 50))


# ---- requests that wait -----------------------------------------------------------------------------


@scenario("t")
async def test_a_static_member_that_returns_is_answered_when_its_group_moves(world: World) -> None:
    """Its new id was on its way to the log: it waited until it lost its patience, as long as a rebalance may
    take."""
    await world.call(FIND, 3, key="g")
    await stable_member(world, "g", group_instance_id="i")
    world.port.auto = False
    returning = asyncio.ensure_future(join(world, "g", group_instance_id="i"))
    await asyncio.sleep(0.01)
    assert log_of(world).waiting
    world.groups.close()
    log_of(world).sync()
    async with asyncio.timeout(1):
        assert (await returning).error_code == ErrorCode.NOT_COORDINATOR


def test_a_commit_does_not_overtake_those_that_waited_for_the_load(tmp_path: Path) -> None:
    """A consumer commits without waiting for answers; what it said last has to count."""

    def arrives(node: Node, offset: int) -> Any:
        """As the dispatcher has it handled: in the turn of the loop in which it comes."""
        part = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
        topics = [OffsetCommitRequestTopic(name="t", partitions=[part])]
        context = RequestContext(9, 1, "c", "127.0.0.1", node.services)
        return offset_commit.handle(context, OffsetCommitRequest(group_id=GROUP, topics=topics))

    async def test() -> None:
        async with prepared(tmp_path) as (cluster, here, there):
            assert await commit_at(here, 3) == 0
            await load_slowly(cluster, here, there)
            first = [asyncio.ensure_future(arrives(here, offset)) for offset in (4, 5)]
            await until(lambda: here.port.waiting == 1)
            later: list[Any] = []
            task = here.groups._loading[INDEX].task
            task.add_done_callback(lambda _: later.append(asyncio.ensure_future(arrives(here, 6))))
            here.port.gate.set()
            answers = await asyncio.gather(*first)
            answers += await asyncio.gather(*later)
            assert [one.topics[0].partitions[0].error_code for one in answers] == [0, 0, 0]
            assert await committed(here) == (0, 6)

    run(test)


@scenario("t")
async def test_a_group_that_moves_when_it_is_to_be_deleted_is_not_unknown(world: World) -> None:
    """Who is told so takes it for deleted."""
    await world.call(FIND, 3, key="g")
    await commit(world, "g", 1)
    deleting = asyncio.ensure_future(world.call(DELETE_GROUPS, 2, groups_names=["g"]))
    await asyncio.sleep(0)
    for shard in world.groups._shards.values():
        shard.unload(ErrorCode.NOT_COORDINATOR)
    assert [one.error_code for one in (await deleting).results] == [ErrorCode.NOT_COORDINATOR]


@scenario("t")
async def test_what_moved_is_in_memory_no_more(world: World) -> None:
    """The timers know a group until its sessions would have ended: half an hour, and all of its shard."""
    await world.call(FIND, 3, key="g")
    member = await stable_member(world, "g", session_timeout_ms=1_800_000)
    owner = {"member_id": member.member_id, "generation_id_or_member_epoch": member.generation_id}
    assert await commit(world, "g", 7, **owner) == [0]
    (shard,) = world.groups._shards.values()
    entry = shard.entries["g"]
    assert shard.log.live
    assert entry.offsets
    world.groups._shards.clear()
    shard.unload(ErrorCode.NOT_COORDINATOR)
    assert any(sleeper is entry for _, _, sleeper in world.groups._timers._heap)
    assert not shard.log.live
    assert not entry.offsets
    assert await fetched(world, "g") == 7


# ---- what is deleted --------------------------------------------------------------------------------


@scenario("t")
async def test_a_group_of_which_something_stays_is_not_told_to_be_deleted(world: World) -> None:
    """Thousands of offsets are deleted by several writes, of which the log may refuse some."""
    await world.call(FIND, 3, key="g")
    wide = "w" * 80
    await world.controller.create_topics([NewTopic(wide, 3_000, 1)])
    topics = [OffsetCommitRequestTopic(name=wide, partitions=partitions(1, *range(3_000)))]
    assert not any(await commit(world, "g", 1, topics=topics))
    world.port.room = 150_000
    deleted = await world.call(DELETE_GROUPS, 2, groups_names=["g"])
    assert [one.error_code for one in deleted.results] == [ErrorCode.NOT_COORDINATOR]
    assert len(await everything(world, "g")) > 1_000
    world.port.room = 1 << 30
    deleted = await world.call(DELETE_GROUPS, 2, groups_names=["g"])
    assert [one.error_code for one in deleted.results] == [0]
    assert await everything(world, "g") == {}


@scenario("t")
async def test_offsets_of_a_topic_are_not_those_of_the_next_one_of_its_name(world: World) -> None:
    """Though the log refuses to forget them, or takes long for it: a consumer would begin in the middle."""
    await world.call(FIND, 3, key="g")
    await commit(world, "g", 7)
    world.port.refuse = ErrorCode.NOT_ENOUGH_REPLICAS
    await world.delete("t")
    await world.create("t")
    assert await fetched(world, "g") == -1
    assert await everything(world, "g") == {}
    groups = [OffsetFetchRequestGroup(group_id="g", topics=None)]
    assert (await world.call(FETCH, 10, groups=groups)).groups[0].topics == []
    world.port.refuse = None
    assert await commit(world, "g", 2) == [0]
    assert await fetched(world, "g") == 2


def test_a_commit_for_a_deleted_topic_that_waited_for_a_load_is_not_one_for_the_next(tmp_path: Path) -> None:
    async def test() -> None:
        async with prepared(tmp_path) as (cluster, here, there):
            assert await commit_at(here, 3) == 0
            await load_slowly(cluster, here, there)
            waiting = asyncio.ensure_future(commit_at(here, 4))
            await until(lambda: here.port.waiting == 1)
            await cluster.controller.delete_topics([TopicRef(name="t")])
            here.port.gate.set()
            await waiting
            await cluster.controller.create_topics([NewTopic("t", 1, 1)])
            assert await committed(here) == (0, -1)

    run(test)


@pytest.mark.parametrize("whole_group", [True, False])
def test_what_is_committed_behind_a_deletion_that_waited_for_a_load_stays(
    whole_group: bool, tmp_path: Path
) -> None:
    """It was deleted, too: the deletion was begun a turn after both had waited (seed 30107279)."""
    part = OffsetDeleteRequestPartition(partition_index=0)
    topic = OffsetDeleteRequestTopic(name="t", partitions=[part])

    async def test() -> None:
        async with prepared(tmp_path) as (cluster, here, there):
            assert await commit_at(here, 3) == 0
            await load_slowly(cluster, here, there)
            if whole_group:
                deleting = here.call(DELETE_GROUPS, 2, groups_names=[GROUP])
            else:
                deleting = here.call(OFFSET_DELETE, 0, group_id=GROUP, topics=[topic])
            deletion = asyncio.ensure_future(deleting)
            await until(lambda: here.port.waiting == 1)
            behind = asyncio.ensure_future(commit_at(here, 4))
            await until(lambda: len(here.groups._loading[INDEX].waiting) == 2)
            here.port.gate.set()
            assert await behind == 0
            answer = await deletion
            assert (answer.results[0] if whole_group else answer).error_code == 0
            assert await committed(here) == (0, 4)

    run(test)


@scenario("t")
async def test_an_offsets_topic_that_was_made_anew_unseen_has_no_groups(world: World) -> None:
    """Its leader epochs begin anew, too: they were taken for the ones that were loaded."""
    await world.call(FIND, 3, key="g")
    world.groups.close()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(GroupCoordinator, "on_image", lambda *_: None)
        world.begin()
    assert await commit(world, "g", 7) == [0]
    await world.delete("__consumer_offsets")
    await world.controller.ensure_offsets_topic()
    world.port.partitions.clear()
    world.groups.on_image(replace(world.controller.image, base_revision=0))
    assert await fetched(world, "g") == -1


# ---- loading ----------------------------------------------------------------------------------------


@scenario("t")
async def test_sessions_begin_when_everything_is_loaded(world: World) -> None:
    """Until then heartbeats were answered blindly: nobody who sent them was silent."""
    await world.call(FIND, 3, key="g")
    member = await stable_member(world, "g", session_timeout_ms=100)
    for first in range(0, 1_000, 100):
        await world.controller.create_topics([NewTopic(f"t{first}", 100, 1)])
        topics = [OffsetCommitRequestTopic(name=f"t{first}", partitions=partitions(1, *range(100)))]
        owner = {"member_id": member.member_id, "generation_id_or_member_epoch": member.generation_id}
        assert not any(await commit(world, "g", 1, topics=topics, **owner))
    world.restart()
    beat = {"group_id": "g", "generation_id": member.generation_id, "member_id": member.member_id}
    index, waited = partition_of("g", 50), False
    while world.groups.is_loading("g"):
        assert (await world.call(HEARTBEAT, 4, **beat)).error_code == 0
        if not waited and world.groups._loading[index].shard.find("g") is not None:
            world.clock._loop.now += 0.15  # it is read, others are not
            waited = True
        await asyncio.sleep(0)
    assert waited
    assert (await world.call(HEARTBEAT, 4, **beat)).error_code == 0
    assert (await described(world, "g")).group_state == "Stable"
