"""FindCoordinator: who has a group, and what is said while nobody has it."""

import asyncio

import pytest

from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.turns import PART
from kproto.metadata import TopicRecord
from tests.groups.world import DELETE_GROUPS, DESCRIBE, FIND, World, scenario


@scenario()
async def test_find_coordinator_creates_the_topic_once_and_answers_every_version(world: World) -> None:
    for version in range(7):
        if version < 4:
            found = await world.call(FIND, version, key="g")
        else:
            response = await world.call(FIND, version, coordinator_keys=["g", "h"])
            assert [c.key for c in response.coordinators] == ["g", "h"]
            found = response.coordinators[1]
        assert (found.error_code, found.node_id, found.host, found.port) == (0, 0, "127.0.0.1", 9092)
    assert world.controller.image.topics["__consumer_offsets"].partitions == 50


@scenario()
async def test_without_a_controller_there_is_no_coordinator_yet(world: World) -> None:
    """As in Apache Kafka: at this error every client asks again."""

    async def refused() -> TopicRecord:
        raise KafkaError(ErrorCode.NOT_CONTROLLER, "try again")

    world.groups._ensure_topic = refused
    found = await world.call(FIND, 3, key="g")
    assert (found.error_code, found.error_message) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, "try again")


@scenario()
async def test_a_client_waits_a_second_for_the_topic_and_no_longer(world: World) -> None:
    """What it asked on the same connection behind that waits, too: Metadata took 15 s where the controller
    was away, though other brokers led what it wanted to read."""
    create, go_on, asked = world.groups._ensure_topic, asyncio.Event(), 0

    async def slowly() -> TopicRecord:
        nonlocal asked
        asked += 1
        await go_on.wait()
        return await create()

    world.groups._ensure_topic = slowly
    loop = asyncio.get_running_loop()
    for _ in range(2):
        began = loop.time()
        found = await world.call(FIND, 3, key="g")
        assert found.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert loop.time() - began == pytest.approx(1.0, abs=0.1)
    assert asked == 1, "it is still being created"
    go_on.set()
    assert (await world.call(FIND, 3, key="g")).error_code == 0


@scenario()
async def test_others_are_served_while_a_request_names_many_groups(world: World) -> None:
    """A part of them in each turn of the loop, in order; more turns where each is a task."""
    names = [f"g{number}" for number in range(4 * PART)]
    await world.call(FIND, 4, coordinator_keys=["g"])
    await world.call(DESCRIBE, 5, groups=names)  # all shards are loaded now
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    ticking = asyncio.ensure_future(others())
    answered: list[list[str]] = []
    for key, version, least, fields in (
        (FIND, 4, 6, {"coordinator_keys": names}),
        (DESCRIBE, 5, 3, {"groups": names}),
        (DELETE_GROUPS, 2, 3, {"groups_names": names}),
    ):
        before = turns
        answer = await world.call(key, version, **fields)
        assert turns - before >= least, key
        if key == FIND:
            answered.append([one.key for one in answer.coordinators])
        elif key == DELETE_GROUPS:
            answered.append([one.group_id for one in answer.results])
        else:
            answered.append([one.group_id for one in answer.groups])
    ticking.cancel()
    assert answered == [names] * 3


def test_transactions_and_share_groups_get_a_final_answer(caplog: pytest.LogCaptureFixture) -> None:
    """Most clients show that a transactional id is not authorized, and no more: the log tells why."""

    @scenario()
    async def refused(world: World) -> None:
        for _ in range(3):
            response = await world.call(FIND, 3, key="tx", key_type=1)
            assert response.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
            assert response.error_message
        response = await world.call(FIND, 6, coordinator_keys=["s"], key_type=2)
        assert response.coordinators[0].error_code == ErrorCode.INVALID_REQUEST

    refused()
    assert [record.getMessage() for record in caplog.records] == [
        "client 'c' at 127.0.0.1 is refused: this broker has no transactions yet"
    ]
