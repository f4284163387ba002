"""What ``kproto consume`` makes of batches that ``kproto produce`` does not write."""

from __future__ import annotations

from pathlib import Path
from struct import Struct

import pytest
from click.testing import CliRunner, Result

from kproto.cli import consume as command
from kproto.cli.main import main
from kproto.net.client import Client
from kproto.testing import InProcessBroker, kafka_broker
from kproto.wire.batch import read_header
from kproto.wire.compression import DEFAULT_LIMIT, Codec
from kproto.wire.generated.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from kproto.wire.generated.metadata import MetadataResponsePartition, MetadataResponseTopic
from kproto.wire.generated.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kproto.wire.records import Record, build_batch

PRODUCE = 0
LAST_DELTA = Struct(">i")
LAST_DELTA_AT = 23


def consume(broker: InProcessBroker, *words: str) -> Result:
    where = ("--from-beginning", "--timeout", "0", "--bootstrap", broker.bootstrap_servers)
    done = CliRunner().invoke(main, ["consume", "t", *words, *where])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def test_a_batch_that_unpacks_to_much_is_printed_or_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was a traceback from 64 MiB on, where the broker stops looking into batches."""
    large = Record(None, bytes(DEFAULT_LIMIT + 1), timestamp=1)
    with kafka_broker(data_dir=tmp_path) as broker:
        made = CliRunner().invoke(main, ["topic", "create", "t", "--bootstrap", broker.bootstrap_servers])
        assert made.exit_code == 0
        with Client(broker.host, broker.port) as client:
            for record in (Record(None, b"small", timestamp=1), large):
                batch = memoryview(build_batch([record], codec=Codec.ZSTD))
                data = TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])
                request = ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[data])
                assert client.call(PRODUCE, 9, request).responses[0].partition_responses[0].error_code == 0
        done = consume(broker)
        assert (done.exit_code, done.stdout_bytes == b"small\n" + large.value + b"\n") == (0, True)
        monkeypatch.setattr(command, "UNPACKED_BYTES", DEFAULT_LIMIT)
        done = consume(broker)
        assert (done.exit_code, done.stdout) == (1, "small\n")
        assert done.stderr == (
            f"Error: t-0, the batch at offset 1: a batch unpacks to more than {DEFAULT_LIMIT} bytes\n"
        )


class _Compacted:
    """A cluster of Apache Kafka with one partition, as far as the command asks: one batch in each answer."""

    def __init__(self, batches: list[bytearray]) -> None:
        self._batches = batches
        self.asked: list[int] = []

    def __enter__(self) -> _Compacted:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def hurry(self) -> None:
        pass

    def topic(self, name: str) -> MetadataResponseTopic:
        partition = MetadataResponsePartition(partition_index=0, leader_id=1)
        return MetadataResponseTopic(name=name, topic_id=bytes(16), partitions=[partition])

    def node(self, _: int) -> _Compacted:
        return self

    def call(self, _: int, request: FetchRequest) -> FetchResponse:
        offset = request.topics[0].partitions[0].fetch_offset
        self.asked.append(offset)
        found = (batch for batch in self._batches if read_header(batch).next_offset > offset)
        data = PartitionData(partition_index=0, records=memoryview(next(found, b"")))
        return FetchResponse(responses=[FetchableTopicResponse(partitions=[data])])


def test_a_batch_is_over_at_its_end_and_control_batches_are_not_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The markers of transactions were printed; behind a batch whose last record compaction had taken the
    same was asked for ever."""
    shorter = build_batch([Record(None, b"0", timestamp=1), Record(None, b"1", timestamp=1)])
    LAST_DELTA.pack_into(shorter, LAST_DELTA_AT, 4)
    marker = build_batch([Record(b"key", b"marker", timestamp=1)], base_offset=5, control=True)
    last = build_batch([Record(None, b"6", timestamp=1)], base_offset=6)
    cluster = _Compacted([shorter, marker, last])
    monkeypatch.setattr(command, "Cluster", lambda _: cluster)
    monkeypatch.setattr(command, "look_up", lambda *_: {("t", 0): 0})
    done = CliRunner().invoke(main, ["consume", "t", "--from-beginning", "--timeout", "0"])
    assert (done.exit_code, done.stdout) == (0, "0\n1\n6\n")
    assert cluster.asked == [0, 5, 6, 7]
