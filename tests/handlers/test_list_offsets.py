"""ListOffsets and OffsetForLeaderEpoch against a whole broker."""

import pytest
from conftest import Kafka, chunk_of

from kproto.errors import ErrorCode
from kproto.testing import kafka_broker
from kproto.wire.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kproto.wire.generated.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kproto.wire.generated.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

T0 = 1_700_000_000_000


def ask(kafka: Kafka, name: str, *timestamps: int, version: int = 11, isolation: int = 0, epoch: int = -1):
    """``(error, timestamp, offset)`` for each timestamp, asked one by one."""
    found = []
    for timestamp in timestamps:
        part = ListOffsetsPartition(partition_index=0, timestamp=timestamp, current_leader_epoch=epoch)
        request = ListOffsetsRequest(
            replica_id=-1, isolation_level=isolation, topics=[ListOffsetsTopic(name=name, partitions=[part])]
        )
        answer = kafka.call(2, version, request).topics[0].partitions[0]
        found.append((answer.error_code, answer.timestamp, answer.offset))
    return found


@pytest.mark.parametrize("version", range(1, 12))
def test_the_ends_in_every_version(kafka, version):
    name, _ = kafka.create()
    assert ask(kafka, name, -1, -2, version=version) == [(0, -1, 0), (0, -1, 0)]
    kafka.stored(name, chunk_of(b"a", b"b"))
    assert ask(kafka, name, -1, -2, version=version, isolation=1) == [(0, -1, 2), (0, -1, 0)]


def test_special_timestamps_come_with_their_versions(kafka):
    name, _ = kafka.create()
    kafka.stored(name, chunk_of(b"a", b"b", timestamp=T0 + 50))
    kafka.stored(name, chunk_of(b"c", timestamp=T0))
    assert ask(kafka, name, -3) == [(0, T0 + 51, 1)]
    assert ask(kafka, name, -4, -5, -6) == [(0, -1, 0), (0, -1, -1), (0, -1, -1)]
    refused = [(ErrorCode.UNSUPPORTED_VERSION, -1, -1)]
    for timestamp, first in ((-3, 7), (-4, 8), (-5, 9), (-6, 11)):
        assert ask(kafka, name, timestamp, version=first - 1) == refused
        assert ask(kafka, name, timestamp, version=first)[0][0] == 0
    assert ask(kafka, name, -7) == refused


def test_by_time_exact_to_the_record(kafka):
    name, _ = kafka.create()
    for i in range(20):
        kafka.stored(name, chunk_of(*[b"v"] * 10, timestamp=T0 + 100 * i, codec=i % 5))
    assert ask(kafka, name, 0, T0, T0 + 1, T0 + 10, T0 + 1905, T0 + 1909, T0 + 1910) == [
        (0, T0, 0),
        (0, T0, 0),
        (0, T0 + 1, 1),
        (0, T0 + 100, 10),
        (0, T0 + 1905, 195),
        (0, T0 + 1909, 199),
        (0, -1, -1),
    ]
    assert ask(kafka, name, -3) == [(0, T0 + 1909, 199)]


def test_an_empty_partition(kafka):
    name, _ = kafka.create()
    assert ask(kafka, name, -3, 0, T0) == [(0, -1, -1)] * 3


def test_after_deleting_records(kafka):
    name, _ = kafka.create()
    for i in range(5):
        kafka.stored(name, chunk_of(b"a", b"b", timestamp=T0 + 10 * i))
    part = DeleteRecordsPartition(partition_index=0, offset=3)
    kafka.call(
        21,
        2,
        DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=name, partitions=[part])], timeout_ms=1000),
    )
    assert ask(kafka, name, -2, -4, -1, T0) == [(0, -1, 3), (0, -1, 3), (0, -1, 10), (0, T0 + 11, 3)]


def test_by_time_in_files(tmp_path):
    settings = {"kproto.log.memory.bytes": "2097152", "log.segment.bytes": "1048576"}
    with kafka_broker(settings, data_dir=str(tmp_path)) as broker, Kafka(broker.host, broker.port) as kafka:
        name, _ = kafka.create()
        for i in range(300):
            kafka.stored(name, chunk_of(b"x" * 20_000, b"y", timestamp=T0 + 10 * i))
        chunks = (0, 7, 150, 299)
        expected = [(0, T0 + 10 * i + 1, 2 * i + 1) for i in chunks]
        assert ask(kafka, name, *[T0 + 10 * i + 1 for i in chunks]) == expected
        assert ask(kafka, name, -3) == [(0, T0 + 2991, 599)]


def test_errors(kafka):
    name, _ = kafka.create()
    assert ask(kafka, "unknown", -1)[0][0] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    epoch = kafka.leader_epoch(name)
    assert ask(kafka, name, -1, epoch=epoch)[0][0] == 0
    assert ask(kafka, name, -1, epoch=epoch + 1)[0][0] == ErrorCode.UNKNOWN_LEADER_EPOCH
    part = ListOffsetsPartition(partition_index=0, timestamp=-1)
    twice = ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=name, partitions=[part, part])])
    answers = kafka.call(2, 5, twice).topics[0].partitions
    assert [(a.error_code, a.offset) for a in answers] == [(ErrorCode.INVALID_REQUEST, -1)]
    searched = ListOffsetsPartition(partition_index=0, timestamp=0)
    for topics in ([[searched, searched]], [[searched], [part]], [[part], [searched], []]):
        asked = [ListOffsetsTopic(name=name, partitions=partitions) for partitions in topics]
        (topic,) = kafka.call(2, 5, ListOffsetsRequest(replica_id=-1, topics=asked)).topics
        assert [(a.error_code, a.offset, a.timestamp) for a in topic.partitions] == [(42, -1, -1)]


@pytest.mark.parametrize("version", [2, 3, 4])
def test_epochs_end_where_the_next_begins(tmp_path, version):
    def end_of(kafka: Kafka, name: str, epoch: int, current: int = -1):
        part = OffsetForLeaderPartition(partition=0, leader_epoch=epoch, current_leader_epoch=current)
        topic = OffsetForLeaderTopic(topic=name, partitions=[part])
        answer = kafka.call(23, version, OffsetForLeaderEpochRequest(replica_id=-1, topics=[topic]))
        found = answer.topics[0].partitions[0]
        return found.error_code, found.leader_epoch, found.end_offset

    with kafka_broker(data_dir=str(tmp_path)) as broker, Kafka(broker.host, broker.port) as kafka:
        name, _ = kafka.create()
        first = kafka.leader_epoch(name)
        kafka.stored(name, chunk_of(b"a", b"b", b"c"))
        assert end_of(kafka, name, first) == (0, first, 3)
        assert end_of(kafka, name, first + 5) == (0, -1, -1)
    with kafka_broker(data_dir=str(tmp_path)) as broker, Kafka(broker.host, broker.port) as kafka:
        second = kafka.leader_epoch(name)
        assert second > first
        kafka.stored(name, chunk_of(b"d"))
        assert end_of(kafka, name, first) == (0, first, 3)
        assert end_of(kafka, name, second, current=second) == (0, second, 4)
        assert end_of(kafka, name, second, current=first)[0] == ErrorCode.FENCED_LEADER_EPOCH
        assert end_of(kafka, "unknown", 0)[0] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
