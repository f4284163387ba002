"""The disk that the metadata is on is full: brokers that wait for it say so once, and when it is over."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kproto.broker import Broker
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata.sqlite import SqliteStore
from kproto.wire.generated.create_topics import CreatableReplicaAssignment, CreatableTopic
from kproto.wire.generated.produce import PartitionProduceData, TopicProduceData
from kproto.wire.records import Record, build_batch
from tests.groups.members import members

CREATE_TOPICS, PRODUCE = 19, 0
MIB = 1 << 20


async def _limit(broker: Broker, pages: int) -> None:
    """Let the metadata's file have no more than so many pages: beyond them SQLite says what it says when the
    disk is full."""
    store = broker._controller._store  # type: ignore[union-attr]
    assert isinstance(store, SqliteStore)
    await store._submit(lambda connection: connection.execute(f"PRAGMA max_page_count = {pages}").fetchall())


def _topic(name: str, *replicas: int) -> CreatableTopic:
    placed = [CreatableReplicaAssignment(partition_index=0, broker_ids=list(replicas))]
    return CreatableTopic(name=name, num_partitions=-1, replication_factor=-1, assignments=placed)


def test_a_broker_that_waits_for_a_full_disk_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        async with members(tmp_path, 2, kproto_virtual_segment_bytes=str(MIB)) as cluster:
            asked = type(cluster.brokers[2]._member.controller)  # type: ignore[union-attr]
            propose, refused = asked.propose, 0

            async def counted(self: Any, kind: str, args: object) -> Any:
                nonlocal refused
                try:
                    return await propose(self, kind, args)
                except KafkaError as error:
                    refused += error.code is ErrorCode.KAFKA_STORAGE_ERROR and kind == "open_vseg"
                    raise

            monkeypatch.setattr(asked, "propose", counted)

            async def produce() -> None:
                batch = bytes(build_batch([Record(None, bytes(MIB // 2))]))
                part = PartitionProduceData(index=0, records=batch)
                data = [TopicProduceData(name="t", partition_data=[part])]
                while True:
                    await cluster.call(2, PRODUCE, 9, acks=-1, timeout_ms=1000, topic_data=data)

            await cluster.call(1, CREATE_TOPICS, 7, topics=[_topic("t", 2, 1)], timeout_ms=5000)
            await _limit(cluster.brokers[1], 1)
            for number in range(1000):
                wanted = [_topic(f"filler-{number}", 1)]
                answer = await cluster.call(1, CREATE_TOPICS, 7, topics=wanted, timeout_ms=5000)
                if answer.topics[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR:
                    break
            producing = asyncio.create_task(produce())
            try:
                await cluster.until(lambda: refused > 20, 60)
                told = [line for line in caplog.messages if line.startswith("virtual segment ")]
                assert len(told) < refused / 4, told
                await _limit(cluster.brokers[1], 1 << 20)
                await cluster.until(lambda: any("it works again" in line for line in caplog.messages), 30)
            finally:
                producing.cancel()

    asyncio.run(asyncio.wait_for(scenario(), 120))
