"""Fetches of clients that know who leads and ask somebody else."""

import asyncio
from pathlib import Path

import pytest

from kproto.errors import ErrorCode, KafkaError
from kproto.log.manager import LogManager
from kproto.wire.generated.create_topics import CreatableReplicaAssignment, CreatableTopic
from kproto.wire.generated.fetch import FetchPartition, FetchTopic
from tests.groups.members import Members, members

FETCH, CREATE_TOPICS = 1, 19


async def preferred(cluster: Members, node_id: int, leader_epoch: int, version: int) -> tuple[int, int]:
    """Error and preferred read replica that broker ``node_id`` answers for the only partition."""
    topic = cluster.image().topics["t"]
    part = FetchPartition(partition=0, current_leader_epoch=leader_epoch, partition_max_bytes=1000)
    wanted = FetchTopic(topic="t", topic_id=topic.topic_id, partitions=[part])
    answer = await cluster.call(node_id, FETCH, version, topics=[wanted], max_bytes=1000)
    (found,) = answer.responses[0].partitions
    return found.error_code, found.preferred_read_replica


@pytest.mark.parametrize("version", [12, 16, 18])
def test_who_knows_the_leader_and_asks_another_broker_is_sent_there(tmp_path: Path, version: int) -> None:
    """librdkafka does, for ever, when a leader changes and changes back before it has left the first one."""

    async def scenario() -> None:
        async with members(tmp_path, 3) as cluster:
            where = [CreatableReplicaAssignment(partition_index=0, broker_ids=[2, 1, 3])]
            topic = CreatableTopic(name="t", num_partitions=-1, replication_factor=-1, assignments=where)
            answer = await cluster.call(1, CREATE_TOPICS, 5, topics=[topic], timeout_ms=10_000)
            assert answer.topics[0].error_code == 0
            await cluster.stop(2)
            await cluster.start(2)
            await cluster.until(lambda: sorted(cluster.image().brokers) == [1, 2, 3])
            record = cluster.image().partition_streamlet(cluster.image().topics["t"], 0)
            leader, epoch = record.leader, record.leader_epoch
            assert epoch > 0
            for other in {1, 2, 3} - {leader}:
                await cluster.until(
                    lambda other=other: cluster.image(other).revision >= cluster.image().revision
                )
                told = leader if version >= 16 else -1
                astray = await preferred(cluster, other, epoch, version)
                assert astray == (ErrorCode.NOT_LEADER_OR_FOLLOWER, told)
                behind = await preferred(cluster, other, epoch - 1, version)
                assert behind == (ErrorCode.FENCED_LEADER_EPOCH, -1)
                without = await preferred(cluster, other, -1, version)
                assert without == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
            assert await preferred(cluster, leader, epoch, version) == (ErrorCode.NONE, -1)

    asyncio.run(asyncio.wait_for(scenario(), 240))


def test_who_asks_the_leader_itself_is_not_sent_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While files are synced after a kill: librdkafka took it for a follower, and said that the preferred
    replica changed too quickly."""

    async def scenario() -> None:
        async with members(tmp_path, 1) as cluster:
            topic = CreatableTopic(name="t", num_partitions=1, replication_factor=1)
            answer = await cluster.call(1, CREATE_TOPICS, 5, topics=[topic], timeout_ms=10_000)
            assert answer.topics[0].error_code == 0
            epoch = cluster.image().partition_streamlet(cluster.image().topics["t"], 0).leader_epoch

            def not_proven(*_: object) -> None:
                raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)

            monkeypatch.setattr(LogManager, "partition", not_proven)
            assert await preferred(cluster, 1, epoch, 16) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
            monkeypatch.undo()

    asyncio.run(asyncio.wait_for(scenario(), 240))
