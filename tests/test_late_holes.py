"""A broker that leads again finds out, when it opens a partition, that its own files are not whole."""

import asyncio
import os
from pathlib import Path

import pytest

from kproto.replica import bring_over
from kproto.wire.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
)
from kproto.wire.generated.delete_records import DeleteRecordsPartition, DeleteRecordsTopic
from kproto.wire.generated.produce import PartitionProduceData, TopicProduceData
from kproto.wire.records import Record, build_batch
from tests.groups.members import members

PRODUCE, CREATE_TOPICS, DELETE_RECORDS = 0, 19, 21


def test_what_only_opening_shows_to_be_missing_is_brought_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody who may have to bring anything over has looked for it later."""
    monkeypatch.setattr(bring_over, "FIRST_REST_S", 0.0)

    async def scenario() -> None:
        async with members(tmp_path, 2) as cluster:
            placed = [CreatableReplicaAssignment(partition_index=0, broker_ids=[2, 1])]
            small = [CreatableTopicConfig(name="segment.bytes", value=str(1 << 20))]
            topic = CreatableTopic(
                name="t", num_partitions=-1, replication_factor=-1, assignments=placed, configs=small
            )
            await cluster.call(1, CREATE_TOPICS, 7, topics=[topic], timeout_ms=5000)
            await cluster.until(lambda: cluster.image(2).topics.get("t"))
            for number in range(6):
                batch = bytes(build_batch([Record(None, bytes([number]) * 400_000)]))
                part = PartitionProduceData(index=0, records=batch)
                data = [TopicProduceData(name="t", partition_data=[part])]
                answer = await cluster.call(2, PRODUCE, 9, acks=-1, timeout_ms=5000, topic_data=data)
                assert answer.responses[0].partition_responses[0].error_code == 0
            delete = [DeleteRecordsPartition(partition_index=0, offset=1)]
            some = [DeleteRecordsTopic(name="t", partitions=delete)]
            deleted = await cluster.call(2, DELETE_RECORDS, 2, topics=some, timeout_ms=5000)
            assert deleted.topics[0].partitions[0].low_watermark == 1, "where the state is that is read again"
            topic_id = cluster.image(1).topics["t"].topic_id
            await cluster.kill(2)
            files = sorted((tmp_path / "2" / "streams").rglob("*.chunks"))
            before = [file.stat().st_size for file in files]
            os.truncate(files[0], before[0] - 5000)
            await cluster.start(2)
            logs = cluster.brokers[2]._logs
            assert logs is not None
            await cluster.until(lambda: logs.opened(topic_id, 0))
            partition = logs.opened(topic_id, 0)
            assert partition is not None
            await cluster.until(lambda: not list(partition.holes()), 10)
            await cluster.until(lambda: partition.log_end_offset == 6, 10)
            partition.flush()
            found = sorted((tmp_path / "2" / "streams").rglob("*.chunks"))
            assert sum(file.stat().st_size for file in found) == sum(before) // 6 * 5, "one is deleted"

    asyncio.run(asyncio.wait_for(scenario(), 60))
