"""A whole broker in the test process, and a client that speaks to it in generated messages."""

import os
from collections.abc import Iterator
from itertools import count

import pytest

from kproto.net.client import Client
from kproto.testing import InProcessBroker, kafka_broker
from kproto.wire.generated.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from kproto.wire.generated.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from kproto.wire.generated.metadata import MetadataRequest, MetadataRequestTopic
from kproto.wire.generated.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from kproto.wire.records import Producer, Record, build_batch

_numbers = count(1)


def chunk_of(*values: bytes, timestamp: int = 1_700_000_000_000, codec: int = 0, **batch) -> bytes:
    """A record batch of ``values``, one millisecond apart."""
    records = [Record(None, value, timestamp=timestamp + i) for i, value in enumerate(values)]
    return bytes(build_batch(records, codec=codec, **batch))


def producer(pid: int, epoch: int, sequence: int, transactional: bool = False) -> Producer:
    return Producer(pid, epoch, sequence, transactional)


class Kafka(Client):
    """The requests of these tests in one line each."""

    def create(self, partitions: int = 1, **configs: str) -> tuple[str, bytes]:
        """A fresh topic: ``(name, id)``. Config names have underscores for dots."""
        name = f"topic-{next(_numbers)}-{os.getpid()}"
        topic = CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=1,
            configs=[CreatableTopicConfig(name=k.replace("_", "."), value=v) for k, v in configs.items()],
        )
        made = self.call(19, 7, CreateTopicsRequest(topics=[topic], timeout_ms=10_000)).topics[0]
        assert made.error_code == 0, made.error_message
        return name, made.topic_id

    def leader_epoch(self, name: str, partition: int = 0) -> int:
        answer = self.call(3, 12, MetadataRequest(topics=[MetadataRequestTopic(name=name)]))
        return {p.partition_index: p.leader_epoch for p in answer.topics[0].partitions}[partition]

    def produce(
        self,
        topic: str | bytes,
        *chunks: tuple[int, bytes | None],
        version: int = 9,
        acks: int = -1,
        timeout_ms: int = 30_000,
        transactional_id: str | None = None,
    ) -> list[PartitionProduceResponse]:
        """Produce ``(partition, chunk)`` pairs to one topic, named by id when it is bytes."""
        request = produce_request(topic, *chunks, acks=acks, timeout_ms=timeout_ms)
        request.transactional_id = transactional_id
        answer = self.call(0, version, request)
        assert len(answer.responses) == 1
        return answer.responses[0].partition_responses

    def stored(self, topic: str | bytes, chunk: bytes, partition: int = 0, version: int = 9) -> int:
        """Produce one chunk that must be stored; its base offset."""
        if isinstance(topic, bytes):
            version = 13
        (answer,) = self.produce(topic, (partition, chunk), version=version)
        assert answer.error_code == 0, (answer.error_code, answer.error_message)
        return answer.base_offset

    def fetch(
        self, topic: str | bytes, *wanted: tuple[int, int], version: int | None = None, **fields
    ) -> FetchResponse:
        """Fetch ``(partition, offset)`` pairs of one topic; ``fields`` go into the request."""
        version = version or (18 if isinstance(topic, bytes) else 12)
        return self.call(1, version, fetch_request(topic, *wanted, **fields))


def produce_request(
    topic: str | bytes, *chunks: tuple[int, bytes | None], acks: int = -1, timeout_ms: int = 30_000
) -> ProduceRequest:
    data = TopicProduceData(
        name=topic if isinstance(topic, str) else "",
        topic_id=topic if isinstance(topic, bytes) else bytes(16),
        partition_data=[
            PartitionProduceData(index=index, records=None if chunk is None else memoryview(chunk))
            for index, chunk in chunks
        ],
    )
    return ProduceRequest(acks=acks, timeout_ms=timeout_ms, topic_data=[data])


def fetch_request(
    topic: str | bytes,
    *wanted: tuple[int, int],
    partition_max_bytes: int = 1 << 20,
    epoch: int = -1,
    **fields,
) -> FetchRequest:
    entry = FetchTopic(
        topic=topic if isinstance(topic, str) else "",
        topic_id=topic if isinstance(topic, bytes) else bytes(16),
        partitions=[
            FetchPartition(
                partition=index,
                fetch_offset=offset,
                partition_max_bytes=partition_max_bytes,
                current_leader_epoch=epoch,
            )
            for index, offset in wanted
        ],
    )
    values = {"max_wait_ms": 0, "min_bytes": 1, "max_bytes": 1 << 26, "session_epoch": -1, **fields}
    return FetchRequest(topics=[entry] if wanted else [], **values)


@pytest.fixture(scope="module")
def broker() -> Iterator[InProcessBroker]:
    with kafka_broker() as running:
        yield running


@pytest.fixture
def kafka(broker: InProcessBroker) -> Iterator[Kafka]:
    with Kafka(broker.host, broker.port) as client:
        yield client
