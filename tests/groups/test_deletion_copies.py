"""Deletions of committed offsets that got too few copies, or take too long."""

import asyncio

from kproto.errors import ErrorCode
from kproto.handlers.groups.records import partition_of
from kproto.wire.generated.offset_delete import OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from tests.groups.test_coordinator import commit, everything
from tests.groups.world import DELETE_GROUPS, FIND, OFFSET_DELETE, World, scenario


async def delete(world: World) -> int:
    """Delete the offset of the group; the answer's error."""
    part = OffsetDeleteRequestPartition(partition_index=0)
    topic = OffsetDeleteRequestTopic(name="t", partitions=[part])
    return int((await world.call(OFFSET_DELETE, 0, group_id="g", topics=[topic])).error_code)


@scenario("t")
async def test_a_deletion_that_got_too_few_copies_is_written_again(world: World) -> None:
    """Sent again it was done without: nothing was known of the offset any more, which one disk alone had
    deleted."""
    await world.call(FIND, 3, key="g")
    assert await commit(world, "g", 3) == [0]
    log = world.port.partition(partition_of("g", 50))
    world.port.auto = False

    first = asyncio.ensure_future(delete(world))
    await asyncio.sleep(0.01)
    log.sync(error=ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
    assert await first == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert await everything(world, "g") == {("t", 0): 3}
    written = len(log.batches)
    again = asyncio.ensure_future(delete(world))
    await asyncio.sleep(0.01)
    assert (again.done(), len(log.batches)) == (False, written + 1)
    log.sync()
    assert await again == 0
    assert await everything(world, "g") == {}


@scenario("t")
async def test_offsets_of_a_deleted_topic_go_though_their_deletion_got_too_few_copies(world: World) -> None:
    """Nobody asks for that again."""
    await world.call(FIND, 3, key="g")
    assert await commit(world, "g", 3) == [0]
    log = world.port.partition(partition_of("g", 50))
    world.port.auto = False
    await world.delete("t")
    await asyncio.sleep(0.01)
    log.sync(error=ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
    world.port.auto = True
    assert await everything(world, "g") == {}


@scenario("t", offsets_commit_timeout_ms="300")
async def test_who_deletes_does_not_wait_for_ever_and_asks_again(world: World) -> None:
    """While nothing becomes durable, as a commit."""
    await world.call(FIND, 3, key="g")
    assert await commit(world, "g", 3) == [0]
    log = world.port.partition(partition_of("g", 50))
    world.port.auto = False

    async def delete_group() -> int:
        return int((await world.call(DELETE_GROUPS, 2, groups_names=["g"])).results[0].error_code)

    begun = world.clock.monotonic()
    asked = asyncio.gather(delete(world), delete_group())
    assert await asyncio.wait_for(asked, 10) == [ErrorCode.COORDINATOR_NOT_AVAILABLE] * 2
    assert 0.29 < world.clock.monotonic() - begun < 0.5
    log.sync()
    world.port.auto = True
    assert await everything(world, "g") == {}
    assert await delete_group() == ErrorCode.GROUP_ID_NOT_FOUND
