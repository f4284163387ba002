"""What ``kproto consume`` makes of batches that ``kproto produce`` does not write."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kproto.cli import consume as command
from kproto.cli.main import main
from kproto.net.client import Client
from kproto.testing import InProcessBroker, kafka_broker
from kproto.wire.compression import DEFAULT_LIMIT, Codec
from kproto.wire.generated.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kproto.wire.records import Record, build_batch

PRODUCE = 0


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
