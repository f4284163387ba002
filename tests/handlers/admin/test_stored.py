"""DeleteRecords, DescribeLogDirs and live config changes on a whole broker with real data."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from kproto.controller import ResourceType
from kproto.errors import ErrorCode
from kproto.testing import kafka_broker
from kproto.wire.generated.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from kproto.wire.generated.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kproto.wire.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kproto.wire.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kproto.wire.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kproto.wire.generated.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kproto.wire.generated.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from kproto.wire.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kproto.wire.records import Record, build_batch
from tests.groups.members import members
from tests.handlers.conftest import Kafka

TOPIC, BROKER = ResourceType.TOPIC, ResourceType.BROKER


def chunk(*values: bytes, key: bytes | None = None) -> bytes:
    return bytes(build_batch([Record(key, value, timestamp=1_700_000_000_000) for value in values]))


def delete(
    kafka, version: int, *topics: tuple[str, list[tuple[int, int]]]
) -> dict[tuple[str, int], tuple[int, int]]:
    wanted = [
        DeleteRecordsTopic(
            name=name, partitions=[DeleteRecordsPartition(partition_index=p, offset=o) for p, o in partitions]
        )
        for name, partitions in topics
    ]
    answer = kafka.call(21, version, DeleteRecordsRequest(topics=wanted, timeout_ms=5000))
    return {
        (topic.name, each.partition_index): (each.error_code, each.low_watermark)
        for topic in answer.topics
        for each in topic.partitions
    }


def sizes(kafka, version: int, topics: list[tuple[str, list[int]]] | None) -> dict[tuple[str, int], int]:
    wanted = None
    if topics is not None:
        wanted = [DescribableLogDirTopic(topic=name, partitions=parts) for name, parts in topics]
    answer = kafka.call(35, version, DescribeLogDirsRequest(topics=wanted))
    (directory,) = answer.results
    assert (answer.error_code, directory.error_code) == (0, 0)
    assert os.path.isabs(directory.log_dir)
    if version >= 4:
        assert 0 < directory.usable_bytes <= directory.total_bytes
    assert not directory.is_cordoned
    return {(t.name, p.partition_index): p.partition_size for t in directory.topics for p in t.partitions}


@pytest.mark.parametrize("version", [1, 2])
def test_partitions_are_in_the_one_log_directory(kafka, version: int) -> None:
    name, _ = kafka.create(partitions=2)
    own = kafka.call(35, 4, DescribeLogDirsRequest(topics=[])).results[0].log_dir
    wanted = [
        AlterReplicaLogDir(
            path=path, topics=[AlterReplicaLogDirTopic(name=topic, partitions=list(partitions))]
        )
        for path, topic, partitions in (
            ("/nowhere", name, (0, 1)),
            (own, name, (0, 2, 0)),
            (own, "unknown", (0,)),
            (own, "none", ()),
        )
    ]
    answer = kafka.call(34, version, AlterReplicaLogDirsRequest(dirs=wanted))
    assert {
        t.topic_name: [(p.partition_index, p.error_code) for p in t.partitions] for t in answer.results
    } == {
        name: [
            (0, ErrorCode.NONE),
            (1, ErrorCode.LOG_DIR_NOT_FOUND),
            (2, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ],
        "unknown": [(0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)],
    }


def test_a_directory_whose_name_is_no_utf_8_is_told(tmp_path: Path) -> None:
    """Nobody got an answer: the connection was closed."""
    own = os.path.join(tmp_path, os.fsdecode(b"caf\xe9"))
    with kafka_broker(data_dir=own) as broker, Kafka(broker.host, broker.port) as kafka:
        name, _ = kafka.create()
        shown = kafka.call(35, 4, DescribeLogDirsRequest(topics=[])).results[0].log_dir
        assert shown == os.path.join(tmp_path, "caf\\udce9")
        wanted = AlterReplicaLogDir(path=shown, topics=[AlterReplicaLogDirTopic(name=name, partitions=[0])])
        moved = kafka.call(34, 2, AlterReplicaLogDirsRequest(dirs=[wanted])).results
        assert [p.error_code for t in moved for p in t.partitions] == [ErrorCode.NONE]
        resource = DescribeConfigsResource(
            resource_type=BROKER, resource_name="1", configuration_keys=["log.dirs"]
        )
        request = DescribeConfigsRequest(resources=[resource], include_synonyms=True)
        (config,) = kafka.call(32, 4, request).results[0].configs
        assert config.value == config.synonyms[0].value == shown


def test_a_partition_of_other_brokers_is_waited_for(tmp_path: Path) -> None:
    async def ask() -> list[int]:
        async with members(tmp_path, 2, offsets_topic_replication_factor="2") as cluster:
            replicas = [
                CreatableReplicaAssignment(partition_index=i, broker_ids=ids)
                for i, ids in enumerate(([1], [2]))
            ]
            topic = CreatableTopic(
                name="apart", num_partitions=-1, replication_factor=-1, assignments=replicas, configs=[]
            )
            await cluster.call(1, 19, 7, topics=[topic], timeout_ms=10_000, validate_only=False)
            own = (await cluster.call(1, 35, 4, topics=[])).results[0].log_dir
            wanted = AlterReplicaLogDir(
                path=own, topics=[AlterReplicaLogDirTopic(name="apart", partitions=[0, 1])]
            )
            answer = await cluster.call(1, 34, 2, dirs=[wanted])
            return [one.error_code for one in answer.results[0].partitions]

    assert asyncio.run(asyncio.wait_for(ask(), 60)) == [ErrorCode.NONE, ErrorCode.REPLICA_NOT_AVAILABLE]


def alter(kafka, kind: int, name: str, key: str, value: str | None) -> int:
    config = AlterableConfig(name=key, config_operation=0 if value is not None else 1, value=value)
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=[config])
    answer = kafka.call(44, 1, IncrementalAlterConfigsRequest(resources=[resource]))
    return answer.responses[0].error_code


@pytest.mark.parametrize("version", range(3))
def test_delete_records(kafka, version: int) -> None:
    name, _ = kafka.create(partitions=2)
    for value in (b"a", b"b", b"c"):
        kafka.stored(name, chunk(value, value))
    out_of_range = (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert delete(kafka, version, (name, [(0, 3), (1, 0)])) == {(name, 0): (0, 3), (name, 1): (0, 0)}
    assert delete(kafka, version, (name, [(0, 1), (1, -1)])) == {(name, 0): (0, 3), (name, 1): (0, 0)}
    assert delete(kafka, version, (name, [(0, 7), (1, 1)])) == {
        (name, 0): out_of_range,
        (name, 1): out_of_range,
    }
    assert delete(kafka, version, (name, [(0, -2)])) == {(name, 0): out_of_range}
    (below,) = kafka.fetch(name, (0, 2)).responses[0].partitions
    assert below.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    (first,) = kafka.fetch(name, (0, 3)).responses[0].partitions
    assert (first.error_code, first.log_start_offset, first.high_watermark) == (0, 3, 6)
    assert delete(kafka, version, (name, [(0, -1)])) == {(name, 0): (0, 6)}
    assert kafka.stored(name, chunk(b"d")) == 6


def test_delete_records_of_what_is_not_there(kafka) -> None:
    name, _ = kafka.create()
    kafka.call(19, 7, kafka_topic("__consumer_offsets"))
    unknown, invalid = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION
    answer = delete(kafka, 2, (name, [(1, 0), (-1, 0)]), ("none", [(0, 0)]), ("__consumer_offsets", [(0, 0)]))
    assert answer == {
        (name, 1): (unknown, -1),
        (name, -1): (unknown, -1),
        ("none", 0): (unknown, -1),
        ("__consumer_offsets", 0): (invalid, -1),
    }
    nothing = DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=name), DeleteRecordsTopic(name="none")])
    assert kafka.call(21, 2, nothing).topics == []


def test_records_of_a_compacted_topic_are_not_deleted(kafka) -> None:
    """With both policies they may be deleted, and with none."""
    refused = (ErrorCode.POLICY_VIOLATION, -1)
    for policy, expected in (("compact", refused), ("compact,delete", (0, 1)), ("", (0, 1))):
        name, _ = kafka.create(cleanup_policy=policy)
        kafka.stored(name, chunk(b"x", key=b"k"))
        assert delete(kafka, 2, (name, [(0, 1)])) == {(name, 0): expected}


def kafka_topic(name: str):
    return CreateTopicsRequest(topics=[CreatableTopic(name=name, num_partitions=1, replication_factor=1)])


@pytest.mark.parametrize("version", range(1, 6))
def test_sizes_of_partitions(kafka, version: int) -> None:
    name, _ = kafka.create(partitions=3)
    batch = chunk(b"x" * 1000)
    kafka.stored(name, batch, partition=1)
    kafka.stored(name, batch, partition=1)
    assert sizes(kafka, version, [(name, [0, 1, 1, 9]), ("none", [0])]) == {
        (name, 0): 0,
        (name, 1): 2 * len(batch),
    }
    assert sizes(kafka, version, []) == {}
    everything = sizes(kafka, version, None)
    assert [everything[name, index] for index in range(3)] == [0, 2 * len(batch), 0]


def test_config_changes_reach_partitions_that_are_in_use(kafka) -> None:
    """Topic, broker and default configs, on the next produced batch."""
    name, _ = kafka.create()
    big = chunk(b"x" * 5000)
    too_large = ErrorCode.MESSAGE_TOO_LARGE
    kafka.stored(name, big)
    for kind, resource, key in (
        (TOPIC, name, "max.message.bytes"),
        (BROKER, "1", "message.max.bytes"),
        (BROKER, "", "message.max.bytes"),
    ):
        assert alter(kafka, kind, resource, key, "4000") == 0
        assert kafka.produce(name, (0, big))[0].error_code == too_large
        assert alter(kafka, kind, resource, key, None) == 0
        kafka.stored(name, big)


def test_more_partitions_are_used_at_once(kafka) -> None:
    name, _ = kafka.create(partitions=1, kproto_active_groups="2")
    grown = CreatePartitionsRequest(topics=[CreatePartitionsTopic(name=name, count=4, assignments=None)])
    assert kafka.call(37, 3, grown).results[0].error_code == 0
    assert [kafka.stored(name, chunk(b"x"), partition=index) for index in range(4)] == [0, 0, 0, 0]


def test_a_topic_that_was_deleted_starts_anew_under_a_new_id(kafka) -> None:
    name, identity = kafka.create()
    kafka.stored(name, chunk(b"x"))
    gone = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)])
    assert kafka.call(20, 6, gone).responses[0].error_code == 0
    answer = kafka.produce(identity, (0, chunk(b"x")), version=13)
    assert answer[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID
    made = kafka.call(19, 7, kafka_topic(name)).topics[0]
    assert made.error_code == 0
    assert made.topic_id != identity
    assert kafka.stored(name, chunk(b"y")) == 0
