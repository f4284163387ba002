"""Requests in few words, for conversations."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from compat_tests.support.wire.talk import Talk
from kproto.wire.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kproto.wire.generated.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from kproto.wire.generated.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kproto.wire.generated.produce import PartitionProduceData, ProduceRequest, TopicProduceData

PRODUCE, FETCH, LIST_OFFSETS, METADATA, CREATE_TOPICS = 0, 1, 2, 3, 19
PRODUCE_IDS_SINCE = FETCH_IDS_SINCE = 13
T0 = int(time.time()) // 60 * 60_000 - 7_200_000
"""The time of records, ms: the same for both sides, young enough to be kept, too old to be taken for now."""


def _named(kind: Any, field: str, talk: Talk, topic: str | bytes, with_ids: bool, **fields: Any) -> Any:
    """A topic of a request, by name or by id. ``topic`` may be an id itself."""
    if with_ids:
        known = topic if isinstance(topic, bytes) else talk.ids.get(topic, bytes(15) + b"x")
        return kind(topic_id=known, **fields)
    return kind(**{field: topic if isinstance(topic, str) else "no-such-topic"}, **fields)


def produce(
    talk: Talk,
    label: str,
    topic: str | bytes,
    *batches: bytes | bytearray | None,
    version: int = 12,
    partition: int = 0,
    acks: int = -1,
    transactional_id: str | None = None,
) -> Any:
    """Produce each of ``batches`` to partitions ``partition``, ``partition + 1``, ... and write it down."""
    data = [
        PartitionProduceData(index=partition + place, records=None if batch is None else memoryview(batch))
        for place, batch in enumerate(batches)
    ]
    part = _named(TopicProduceData, "name", talk, topic, version >= PRODUCE_IDS_SINCE, partition_data=data)
    request = ProduceRequest(transactional_id=transactional_id, acks=acks, timeout_ms=5000, topic_data=[part])
    return talk(PRODUCE, version, request, label)


Wanted = tuple[Any, ...]
"""Topic (name or id), partition, offset, then optionally: max bytes, current leader epoch, last epoch."""


def fetch_request(
    talk: Talk,
    version: int,
    wanted: Sequence[Wanted],
    forgotten: Sequence[tuple[Any, int]] = (),
    **fields: Any,
) -> FetchRequest:
    """One topic entry per element of ``wanted``."""
    with_ids = version >= FETCH_IDS_SINCE
    topics = []
    for topic, partition, offset, *more in wanted:
        limit, epoch, last = more + [1 << 20, -1, -1][len(more) :]
        part = FetchPartition(
            partition=partition,
            fetch_offset=offset,
            partition_max_bytes=limit,
            current_leader_epoch=epoch,
            last_fetched_epoch=last,
            log_start_offset=-1,
        )
        topics.append(_named(FetchTopic, "topic", talk, topic, with_ids, partitions=[part]))
    gone = [
        _named(ForgottenTopic, "topic", talk, topic, with_ids, partitions=[number])
        for topic, number in forgotten
    ]
    usual = {"max_wait_ms": 0, "min_bytes": 1, "max_bytes": 50 << 20, "session_epoch": -1}
    return FetchRequest(topics=topics, forgotten_topics_data=gone, **{**usual, **fields})


def fetch(talk: Talk, label: str, *wanted: Wanted, version: int = 12, **fields: Any) -> Any:
    """Fetch without a session (unless told otherwise) and write it down."""
    return talk(FETCH, version, fetch_request(talk, version, wanted, **fields), label)


def list_offsets(
    talk: Talk,
    label: str,
    topic: str,
    *timestamps: int,
    version: int = 7,
    partition: int = 0,
    epoch: int = -1,
    **fields: Any,
) -> Any:
    """One request per timestamp."""
    for timestamp in timestamps:
        part = ListOffsetsPartition(
            partition_index=partition, timestamp=timestamp, current_leader_epoch=epoch
        )
        wanted = ListOffsetsTopic(name=topic, partitions=[part])
        request = ListOffsetsRequest(replica_id=-1, topics=[wanted], **fields)
        talk(LIST_OFFSETS, version, request, f"{label} {timestamp}")


def topic(
    name: str,
    partitions: int = 1,
    factor: int = 1,
    configs: Mapping[str, str | None] | None = None,
    assignments: Mapping[int, Sequence[int]] | None = None,
) -> CreatableTopic:
    """A topic to be created."""
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()],
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=list(brokers))
            for index, brokers in (assignments or {}).items()
        ],
    )


def create(talk: Talk, label: str, *topics: CreatableTopic, version: int = 7, validate: bool = False) -> Any:
    """CreateTopics, written down."""
    request = CreateTopicsRequest(topics=list(topics), timeout_ms=9000, validate_only=validate)
    answer = talk(CREATE_TOPICS, version, request, label)
    for made in answer.topics if answer is not None else ():
        if made.error_code == 0 and any(made.topic_id):
            talk.ids[made.name] = bytes(made.topic_id)
    return answer
