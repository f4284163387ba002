"""Administrative requests to one broker of several."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from conftest import chunk_of, produce_request
from simulated_backups import ME, Owner, owner

from kproto.controller import Controller, arguments
from kproto.disk import Disk
from kproto.errors import ErrorCode, KafkaError
from kproto.log.checkpoint import FILE, Checkpoint
from kproto.metadata import exchange
from kproto.wire.generated.create_topics import CreatableReplicaAssignment, CreatableTopic
from kproto.wire.generated.delete_records import DeleteRecordsPartition, DeleteRecordsTopic
from kproto.wire.generated.describe_configs import DescribeConfigsResource
from kproto.wire.generated.describe_topic_partitions import TopicRequest

CREATE_TOPICS, DELETE_RECORDS, DESCRIBE_CONFIGS, DESCRIBE_LOG_DIRS = 19, 21, 32, 35
DESCRIBE_CLUSTER, DESCRIBE_TOPIC_PARTITIONS = 60, 75


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), 120))  # type: ignore[arg-type]


async def stored(world: Owner, topic: str, count: int) -> None:
    for _ in range(count):
        request = produce_request(topic, (0, chunk_of(b"x")))
        fields = {name: getattr(request, name) for name in ("acks", "timeout_ms", "topic_data")}
        assert (await world.call(0, 9, **fields)).responses[0].partition_responses[0].error_code == 0


async def delete_records(world: Owner, topic: str, offset: int) -> tuple[int, int]:
    partition = DeleteRecordsPartition(partition_index=0, offset=offset)
    wanted = [DeleteRecordsTopic(name=topic, partitions=[partition])]
    answer = await world.call(DELETE_RECORDS, 2, topics=wanted, timeout_ms=1000)
    part = answer.topics[0].partitions[0]
    return part.error_code, part.low_watermark


def checkpointed(world: Owner, to: Path, topic: str) -> int:
    """The log start that a start would find if the process was killed now."""
    to.mkdir(exist_ok=True)
    logs = world.broker._logs
    shutil.copy(Path(logs.data_dir) / FILE, to)
    entry = Checkpoint(Disk(), str(to)).get(world.controller.image.topics[topic].topic_id, 0)
    return entry.log_start if entry is not None else 0


def test_a_new_log_start_is_in_the_metadata_first(tmp_path: Path) -> None:
    """Rule 44."""

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            topic_id = await world.create("t", (1, 2, 3))
            await world.create("alone", (1,))
            await stored(world, "t", 5)
            await stored(world, "alone", 5)
            assert await delete_records(world, "t", 3) == (ErrorCode.NONE, 3)
            assert world.controller.table.log_start(topic_id, 0) == 3
            assert await delete_records(world, "t", 2) == (ErrorCode.NONE, 3)
            assert world.controller.table.log_start(topic_id, 0) == 3
            assert await delete_records(world, "t", 6) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
            assert await delete_records(world, "alone", 4) == (ErrorCode.NONE, 4)
            assert len(world.controller.table.starts) == 1, "one copy: its checkpoint knows"
            assert [checkpointed(world, tmp_path / "then", name) for name in ("alone", "t")] == [4, 3]
            await world.broker._store.close()
            assert await delete_records(world, "t", 4) == (ErrorCode.REQUEST_TIMED_OUT, -1)
            assert world.partition("t").log_start_offset == 3
            assert await delete_records(world, "alone", 5) == (ErrorCode.NONE, 5)

    run(scenario)


def test_more_log_starts_than_a_proposal_takes_are_proposed_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (exchange, arguments):
        monkeypatch.setattr(module, "ITEMS_MAX", 2)

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (1, 2, 3), 5)
            wanted = [DeleteRecordsPartition(partition_index=index, offset=-1) for index in range(5)]
            topics = [DeleteRecordsTopic(name="t", partitions=wanted)]
            answer = await world.call(DELETE_RECORDS, 2, topics=topics, timeout_ms=1000)
            told = [(each.error_code, each.low_watermark) for each in answer.topics[0].partitions]
            assert told == [(ErrorCode.NONE, 0)] * 5

    run(scenario)


def test_what_the_controller_took_before_it_was_lost_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "ITEMS_MAX", 2)

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (1, 2, 3), 3)
            propose, asked = world.controller.propose, list[object]()

            async def once(kind: str, args: object) -> object:
                asked.append(args)
                if len(asked) > 1:
                    raise KafkaError(ErrorCode.NOT_CONTROLLER, "gone")
                return await propose(kind, args)

            monkeypatch.setattr(Controller, "propose", lambda _self, kind, args: once(kind, args))
            wanted = [DeleteRecordsPartition(partition_index=index, offset=-1) for index in range(3)]
            topics = [DeleteRecordsTopic(name="t", partitions=wanted)]
            answer = await world.call(DELETE_RECORDS, 2, topics=topics, timeout_ms=1000)
            told = [(each.error_code, each.low_watermark) for each in answer.topics[0].partitions]
            assert told == [(ErrorCode.NONE, 0)] * 2 + [(ErrorCode.REQUEST_TIMED_OUT, -1)]

    run(scenario)


def test_only_the_leader_deletes_and_shows_sizes(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("mine", (1, 2, 3))
            await world.create("theirs", (2, 1, 3))
            await stored(world, "mine", 5)
            assert await delete_records(world, "theirs", 0) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
            for version in range(1, 6):
                (directory,) = (await world.call(DESCRIBE_LOG_DIRS, version, topics=None)).results
                sizes = {t.name: [p.partition_size for p in t.partitions] for t in directory.topics}
                assert sizes == {"mine": [5 * len(chunk_of(b"x"))]}

    run(scenario)


@pytest.mark.parametrize(("version", "asked", "listed"), [(1, False, []), (2, False, []), (2, True, [3])])
def test_fenced_brokers_are_shown_to_who_asks(
    tmp_path: Path, version: int, asked: bool, listed: list[int]
) -> None:
    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.fence(3)
            answer = await world.call(DESCRIBE_CLUSTER, version, include_fenced_brokers=asked)
            assert [b.broker_id for b in answer.brokers if not b.is_fenced] == [1, 2]
            assert [(b.broker_id, b.host) for b in answer.brokers if b.is_fenced] == [
                (node, f"host{node}") for node in listed
            ]

    run(scenario)


def test_topics_with_copies_are_created_as_asked(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with owner(tmp_path) as world:
            rows = [(3, 1), (2, 3), (1, 2)]
            placed = [
                CreatableReplicaAssignment(partition_index=i, broker_ids=list(row))
                for i, row in enumerate(rows)
            ]
            by_hand = CreatableTopic(
                name="by-hand", num_partitions=-1, replication_factor=-1, assignments=placed
            )
            topics = [
                by_hand,
                CreatableTopic(name="spread", num_partitions=6, replication_factor=3),
                CreatableTopic(name="too-many", num_partitions=1, replication_factor=4),
                CreatableTopic(
                    name="unknown",
                    num_partitions=-1,
                    replication_factor=-1,
                    assignments=[CreatableReplicaAssignment(partition_index=0, broker_ids=[1, 7])],
                ),
            ]
            answer = await world.call(CREATE_TOPICS, 7, topics=topics, timeout_ms=1000)
            assert {t.name: (t.error_code, t.replication_factor) for t in answer.topics} == {
                "by-hand": (0, 2),
                "spread": (0, 3),
                "too-many": (ErrorCode.INVALID_REPLICATION_FACTOR, -1),
                "unknown": (ErrorCode.INVALID_REPLICA_ASSIGNMENT, -1),
            }
            asked = [TopicRequest(name="by-hand"), TopicRequest(name="spread")]
            shown = await world.call(DESCRIBE_TOPIC_PARTITIONS, 0, topics=asked)
            by_name = {topic.name: topic.partitions for topic in shown.topics}
            assert [tuple(p.replica_nodes) for p in by_name["by-hand"]] == rows
            assert [p.leader_id for p in by_name["by-hand"]] == [3, 2, 1]
            assert [p.isr_nodes for p in by_name["by-hand"]] == [list(row) for row in rows]
            assert sorted(p.leader_id for p in by_name["spread"]) == [1, 1, 2, 2, 3, 3]
            await world.fence(3)
            shown = await world.call(DESCRIBE_TOPIC_PARTITIONS, 0, topics=asked)
            parts = {topic.name: topic.partitions for topic in shown.topics}["by-hand"]
            assert [(p.error_code, p.leader_id, p.isr_nodes, p.offline_replicas) for p in parts] == [
                (0, -1, [1], [3]),
                (0, 2, [2], [3]),
                (0, 1, [1, 2], []),
            ]

    run(scenario)


def test_a_broker_describes_itself_only(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with owner(tmp_path) as world:
            wanted = [DescribeConfigsResource(resource_type=4, resource_name=name) for name in (str(ME), "2")]
            answer = await world.call(DESCRIBE_CONFIGS, 4, resources=wanted)
            assert [result.error_code for result in answer.results] == [0, ErrorCode.INVALID_REQUEST]

    run(scenario)
