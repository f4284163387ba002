"""Committed offsets where ``__consumer_offsets`` has several copies: too few, or still on their way."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from simulated_backups import ME, Owner, owner

from kproto.controller.decision import Decision
from kproto.errors import ErrorCode
from kproto.handlers.groups import offsets_log
from kproto.wire.generated.offset_commit import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kproto.wire.generated.offset_fetch import OffsetFetchRequestTopic
from tests.groups.nodes import run, until
from tests.groups.world import COMMIT, DELETE_GROUPS, FETCH

OFFSETS = "__consumer_offsets"


async def commit(world: Owner, offset: int) -> int:
    part = OffsetCommitRequestPartition(partition_index=0, committed_offset=offset)
    topics = [OffsetCommitRequestTopic(name="t", partitions=[part])]
    answer = await world.call(COMMIT, 9, group_id="g", topics=topics)
    code: int = answer.topics[0].partitions[0].error_code
    return code


async def committed(world: Owner) -> int:
    topics = [OffsetFetchRequestTopic(name="t", partition_indexes=[0])]
    answer = await world.call(FETCH, 7, group_id="g", topics=topics)
    assert answer.error_code == 0
    offset: int = answer.topics[0].partitions[0].committed_offset
    return offset


async def on_its_way(world: Owner, offset: int) -> asyncio.Future[int]:
    """A commit that was appended and waits for the backups."""
    world.backups.held = True
    end = world.partition(OFFSETS).log_end_offset
    waiting = asyncio.ensure_future(commit(world, offset))
    await until(lambda: world.partition(OFFSETS).log_end_offset > end and world.backups.waiting)
    return waiting


async def alone(world: Owner) -> None:
    """The partition is to have one copy, and its leader has all of it: one transaction, the next leader
    epoch, and the same process goes on with what it has."""
    image = world.controller.image
    old = image.streamlet(image.topics[OFFSETS].topic_id, 0)
    record = old.assigned_to((ME,)).alone(())
    await world.controller.decide(lambda: Decision(None, {record.key: record.encode()}))


def test_a_commit_whose_copies_go_missing_on_the_way_is_no_success(tmp_path: Path) -> None:
    """Rule 18: what was told to be committed must have as many copies as were asked for. It is in the log all
    the same, so it is shown, and who loads it finds it."""

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (ME,))
            await world.create(OFFSETS, (1, 2, 3), min_insync_replicas="3")
            assert await commit(world, 1) == 0
            waiting = await on_its_way(world, 2)
            await world.fence(3)
            world.backups.lose(3)
            await until(lambda: world.vlog(OFFSETS).live_copies == 2)
            world.backups.release()
            assert await waiting == ErrorCode.COORDINATOR_NOT_AVAILABLE
            assert await committed(world) == 2
            assert await commit(world, 3) == ErrorCode.COORDINATOR_NOT_AVAILABLE
            assert await committed(world) == 2

    run(scenario)


def test_what_an_earlier_term_left_on_its_way_is_read(tmp_path: Path) -> None:
    """It becomes durable later: until the next load nobody would have known of it."""

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            world.vlogs._copies_of = lambda topic_id, index: copies_of(world, topic_id, index)
            await world.create("t", (ME,))
            await world.create(OFFSETS, (1, 2))
            assert await commit(world, 3) == 0
            waiting = await on_its_way(world, 7)
            await alone(world)
            assert await waiting == ErrorCode.NOT_COORDINATOR
            asked = asyncio.ensure_future(committed(world))
            await asyncio.sleep(0.02)
            world.backups.release()
            assert await asked == 7

    run(scenario)


def test_a_deleted_group_does_not_come_back_with_what_was_on_its_way(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (ME,))
            await world.create(OFFSETS, (1, 2))
            assert await committed(world) == -1
            waiting = await on_its_way(world, 7)
            await alone(world)
            assert await waiting == ErrorCode.NOT_COORDINATOR
            deleting = asyncio.ensure_future(world.call(DELETE_GROUPS, 2, groups_names=["g"]))
            await asyncio.sleep(0.02)
            world.backups.release()
            assert (await deleting).results[0].error_code == 0
            await alone(world)  # and it is read once more
            assert await committed(world) == -1

    run(scenario)


async def left_alone(world: Owner) -> None:
    """The backups die; the leader goes on."""
    for node_id in (2, 3):
        await world.fence(node_id)
        world.backups.lose(node_id)
    await until(lambda: world.vlog(OFFSETS).live_copies == 1)


def starts_of(world: Owner) -> list[tuple[int, int]]:
    """Log starts that the store is to know, each with how many records before it were synced then."""
    starts: list[tuple[int, int]] = []
    partition = world.partition(OFFSETS)
    partition.manager.ports.on_log_start = lambda one, offset: starts.append((offset, one.synced_offset))
    return starts


def test_what_three_brokers_have_is_not_given_up_for_what_one_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An hour after two of three died the third wrote everything again, for itself, and gave up the rest."""

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (ME,))
            await world.create(OFFSETS, (1, 2, 3))
            assert await commit(world, 1) == 0
            starts = starts_of(world)
            await left_alone(world)
            monkeypatch.setattr(offsets_log, "OLDEST_MS", -1)
            for offset in range(2, 6):
                assert await commit(world, offset) == 0
            await asyncio.sleep(0.05)
            assert starts == []
            for node_id in (2, 3):
                await world.register(node_id)
            await until(lambda: world.vlog(OFFSETS).live_copies == 3)
            assert await commit(world, 6) == 0
            await until(lambda: starts)

    run(scenario)


def test_what_one_broker_of_three_is_left_with_is_synced_before_the_rest_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offsets_log, "OLDEST_MS", -1)
    monkeypatch.setattr(offsets_log, "SHORT_TIMES", 0)

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (ME,))
            await world.create(OFFSETS, (1, 2, 3))
            await left_alone(world)
            assert await commit(world, 1) == 0
            starts = starts_of(world)
            assert await commit(world, 2) == 0
            await until(lambda: starts)
            start, synced = starts[0]
            assert synced > start

    run(scenario)


def test_groups_are_where_the_metadata_says_though_the_logs_cannot_take_it_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        raise ValueError("a config that nobody can read")

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (ME,))
            await world.create(OFFSETS, (1, 2))
            assert await commit(world, 1) == 0
            groups = world.broker._groups
            assert groups._terms == {0: 0}
            monkeypatch.setattr(world.broker, "_apply_image", broken)
            await alone(world)
            assert groups._terms == {0: 1}

    run(scenario)


def copies_of(world: Owner, topic_id: bytes, index: int) -> int:
    image = world.controller.image
    topic = image.topics_by_id[topic_id]
    return topic.copies_of(image.partition_streamlet(topic, index))
