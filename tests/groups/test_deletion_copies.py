"""Deletions of committed offsets that got too few copies."""

import asyncio

from kproto.errors import ErrorCode
from kproto.handlers.groups.records import partition_of
from kproto.wire.generated.offset_delete import OffsetDeleteRequestPartition, OffsetDeleteRequestTopic
from tests.groups.test_coordinator import commit, everything
from tests.groups.world import FIND, OFFSET_DELETE, World, scenario


@scenario("t")
async def test_a_deletion_that_got_too_few_copies_is_written_again(world: World) -> None:
    """Sent again it was done without: nothing was known of the offset any more, which one disk alone had
    deleted."""
    await world.call(FIND, 3, key="g")
    assert await commit(world, "g", 3) == [0]
    log = world.port.partition(partition_of("g", 50))
    world.port.auto = False

    async def delete() -> int:
        part = OffsetDeleteRequestPartition(partition_index=0)
        topic = OffsetDeleteRequestTopic(name="t", partitions=[part])
        return (await world.call(OFFSET_DELETE, 0, group_id="g", topics=[topic])).error_code

    first = asyncio.ensure_future(delete())
    await asyncio.sleep(0.01)
    log.sync(error=ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
    assert await first == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert await everything(world, "g") == {("t", 0): 3}
    written = len(log.batches)
    again = asyncio.ensure_future(delete())
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
