"""What comes between: groups that move, load or are deleted while something of theirs is on its way."""

import asyncio

from kproto.errors import ErrorCode
from kproto.handlers.groups.records import partition_of
from tests.groups.memory_log import MemoryPartition
from tests.groups.test_coordinator import (
    join,
    stable_member,
)
from tests.groups.world import FIND, World, scenario


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


# ---- what is deleted --------------------------------------------------------------------------------


# ---- loading ----------------------------------------------------------------------------------------
