"""Texts that newer requests have room for and records have not: refused, so that no group waits for them."""

import sys

import pytest

from kproto.errors import ErrorCode
from kproto.handlers.groups.answers import new_member_id
from kproto.handlers.groups.records import LONGEST, fits, partition_of
from kproto.wire.generated.join_group import JoinGroupRequestProtocol
from tests.groups.test_coordinator import commit, described, fetched, join, stable_member, subscription, sync
from tests.groups.world import DELETE_GROUPS, DESCRIBE, FIND, HEARTBEAT, JOIN, LEAVE, LIST, World, scenario

TOO_LONG = "x" * (LONGEST + 1)


@pytest.mark.parametrize("client_id", ["c" * LONGEST, "\u00fc" * (LONGEST // 2)])
def test_the_member_id_of_the_longest_client_id_can_be_stored(client_id: str) -> None:
    member_id = new_member_id(client_id)
    assert fits(member_id)
    assert member_id[:100] == client_id[:100]
    assert member_id != new_member_id(client_id)


@scenario("t")
async def test_a_longest_instance_id_has_a_member_id(world: World) -> None:
    await world.call(FIND, 3, key="g")
    member = await stable_member(world, "g", group_instance_id="i" * LONGEST)
    world.restart()
    (found,) = (await described(world, "g", version=0)).members
    assert found.member_id == member.member_id


@pytest.mark.parametrize(
    "fields",
    [
        {"group_instance_id": TOO_LONG},
        {"protocol_type": TOO_LONG},
        {"protocols": [JoinGroupRequestProtocol(name=TOO_LONG, metadata=b"")]},
        {"protocol_type": "\u00fc" * (LONGEST // 2 + 1)},
    ],
)
def test_what_cannot_be_stored_is_refused_before_anybody_waits_for_it(fields: dict[str, object]) -> None:
    @scenario("t")
    async def run(world: World) -> None:
        await world.call(FIND, 3, key="g")
        refused = await join(world, "g", **fields)
        assert refused.error_code == ErrorCode.INVALID_REQUEST
        member = await join(world, "g", metadata=subscription("t"))
        assert (await sync(world, "g", member)).error_code == ErrorCode.NONE

    run()


@scenario("t")
async def test_group_ids_that_cannot_be_stored_are_invalid(world: World) -> None:
    await world.call(FIND, 3, key="g")
    await stable_member(world, "g")
    assert (await join(world, TOO_LONG)).error_code == ErrorCode.INVALID_GROUP_ID
    assert await commit(world, TOO_LONG, 3) == [ErrorCode.INVALID_GROUP_ID]
    beat = await world.call(HEARTBEAT, 4, group_id=TOO_LONG, generation_id=1, member_id="m")
    assert beat.error_code == ErrorCode.INVALID_GROUP_ID
    left = await world.call(LEAVE, 4, group_id=TOO_LONG, members=[])
    assert left.error_code == ErrorCode.INVALID_GROUP_ID
    found = await world.call(FIND, 6, key_type=0, coordinator_keys=[TOO_LONG])
    assert found.coordinators[0].error_code == ErrorCode.INVALID_GROUP_ID
    told = await world.call(DESCRIBE, 5, groups=[TOO_LONG])
    assert told.groups[0].error_code == ErrorCode.INVALID_GROUP_ID
    gone = await world.call(DELETE_GROUPS, 2, groups_names=[TOO_LONG])
    assert gone.results[0].error_code == ErrorCode.INVALID_GROUP_ID
    assert [group.group_id for group in (await world.call(LIST, 0)).groups] == ["g"]


@scenario("t")
async def test_the_longest_group_id_is_stored(world: World) -> None:
    await world.call(FIND, 3, key="g")
    name = "\u20ac" * (LONGEST // 3)
    await stable_member(world, name)
    assert await commit(world, "g" * LONGEST, 5) == [ErrorCode.NONE]
    world.restart()
    assert (await described(world, name, version=0)).group_state == "Stable"
    assert await fetched(world, "g" * LONGEST) == 5


def test_long_group_ids_are_not_kept() -> None:
    name = "n" * 10_000
    before = sys.getrefcount(name)
    partition_of(name, 50)
    assert sys.getrefcount(name) == before


def test_join_is_refused_in_every_version() -> None:
    @scenario("t")
    async def run(world: World) -> None:
        await world.call(FIND, 3, key="g")
        for version in range(6, 10):
            answer = await world.call(
                JOIN, version, group_id=TOO_LONG, session_timeout_ms=6000, protocol_type="consumer"
            )
            assert answer.error_code == ErrorCode.INVALID_GROUP_ID

    run()
