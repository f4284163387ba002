"""`kproto bench soak` against a real broker: it measures, and it notices what must not be."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from click.testing import CliRunner
from confluent_kafka import KafkaException, Producer

from bench.results import load
from bench.soak import LIMITS, PARTITIONS, TOPIC, Steady, command, visit
from bench.spread import create
from kproto.testing import kafka_broker

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]


def test_a_short_one_is_measured(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        command, ["--only", "kproto", "--copies", "1", "--minutes", "0.2", "--out", str(tmp_path)]
    )
    assert done.exit_code == 0, done.output
    result = load(tmp_path / "soak-rf1.json")
    assert result.notes == []
    (run,) = result.runs
    assert run.metrics["guests"] >= 4
    assert run.metrics["records"] >= 100
    assert run.metrics["descriptors"] > 10
    assert run.metrics["files"] > PARTITIONS
    assert run.metrics["rss_mb"] > 20
    assert LIMITS.keys() <= run.metrics.keys()
    assert [at for at, _ in run.series["rss_mb"]] == sorted(at for at, _ in run.series["rss_mb"])
    assert len(run.series["publish_p99_ms"]) > 4


@pytest.mark.parametrize("number", [0, 1 << 40])
def test_a_record_that_was_not_sent_is_noticed(number: int) -> None:
    with kafka_broker() as broker:
        create(broker.bootstrap_servers, TOPIC, PARTITIONS, 1)
        other = Producer({"bootstrap.servers": broker.bootstrap_servers})
        steady = Steady(broker.bootstrap_servers, 1000.0)
        steady.start()
        other.produce(TOPIC, struct.pack(">q", number), partition=3)
        assert other.flush(30) == 0
        with pytest.raises(RuntimeError, match=rf"{TOPIC}-3: \d+ came instead of \d+"):
            steady.stop()


def test_a_guest_that_is_not_served_says_so() -> None:
    with kafka_broker({"auto.create.topics.enable": "false"}) as broker:
        visit(broker.bootstrap_servers, "first", 1)
        with pytest.raises(KafkaException, match=r"(?i)replication.factor"):
            visit(broker.bootstrap_servers, "second", 3)
