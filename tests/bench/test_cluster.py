"""The cluster benchmark's decisions: what producers may hold, what topics are made of, who runs when."""

from __future__ import annotations

import re
from math import gcd
from pathlib import Path
from typing import Any, cast

import click
import pytest
from rich.console import Console

from bench import cases, clusters
from bench.cluster import (
    CASES,
    LEAST_BUFFER,
    MOST_BUFFER,
    MOST_ROUNDS,
    Replication,
    buffer_bytes,
    names,
    warm,
    warm_up,
)
from bench.generator import Load
from bench.jars import GENERATOR_SOURCE
from bench.kera.figures import FIGURES
from bench.librdkafka import SAMPLE_EVERY, per_second, percentiles, places, settings
from bench.options import systems
from bench.results import KAFKA, KPROTO
from bench.topics import LEAST_INDEX, MOST_INDEX, Topics, disk_bytes, index_bytes


@pytest.mark.parametrize(
    ("partitions", "chunk", "expected"),
    [
        (1, 1024, LEAST_BUFFER),
        (512, 1024, 8 * 512 * 1024),
        (32, 16 << 10, 4 << 20),
        (32, 1 << 20, MOST_BUFFER),
    ],
)
def test_a_producer_holds_full_chunks_of_every_partition(partitions: int, chunk: int, expected: int) -> None:
    assert buffer_bytes(partitions, chunk) == expected


def test_index_files_of_many_partitions_stay_small() -> None:
    assert index_bytes(1) == MOST_INDEX
    assert index_bytes(10_000) == LEAST_INDEX
    for replicas in (128 * 3, 512 * 3):
        assert LEAST_INDEX <= index_bytes(replicas) < MOST_INDEX
        assert 2 * replicas * index_bytes(replicas) <= 256 << 20
        assert index_bytes(replicas) % 4096 == 0


class _Somewhere:
    name = "somewhere"
    bootstrap = "127.0.0.1:1"


def test_topics_are_named_alike() -> None:
    target = cast("Any", _Somewhere())
    one, many = Topics(target, 1, 32, 3), Topics(target, 3, 1, 3)
    assert one.names == [one.name]
    assert many.names == [f"{many.name}-0", f"{many.name}-1", f"{many.name}-2"]
    assert one.name != many.name


def test_disk_bytes_count_blocks_not_lengths(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "full").write_bytes(b"x" * 100_000)
    with (tmp_path / "hollow").open("wb") as file:
        file.truncate(50_000_000)
    assert 100_000 <= disk_bytes(tmp_path) < 1_000_000


def test_systems_in_the_order_of_a_pair() -> None:
    assert systems(None) == [KAFKA, KPROTO]
    assert systems(KPROTO) == [KPROTO]


def test_a_system_is_measured_for_each_number_of_virtual_logs() -> None:
    assert names(KAFKA, (1, 4)) == [(KAFKA, 0)]
    assert names(KPROTO, (2,)) == [(KPROTO, 2)]
    assert names(KPROTO, (1, 4)) == [("kproto, 1 vlog", 1), ("kproto, 4 vlogs", 4)]


def test_an_rpc_is_a_push_to_one_backup() -> None:
    counted = iter(
        [
            {"pushes": 100.0, "chunks": 1000.0, "bytes": 1e6, "vlogs": 4.0},
            {"pushes": 300.0, "chunks": 7000.0, "bytes": 9e6, "vlogs": 4.0},
        ]
    )
    watch = Replication(lambda: next(counted))
    assert watch.metrics(10, 3) == {}
    watch.begin()
    watch.end()
    assert watch.metrics(10, 3) == {"rpcs_per_s": 40, "chunks_per_rpc": 30, "kb_per_rpc": 40}


def test_cases_are_the_promised_ones() -> None:
    assert [each.name for each in CASES] == [
        "rf3-128p-1KB",
        "rf3-512p-1KB",
        "rf3-32p-16KB",
        "rf3-32p-64KB",
        "rf3-32p-1MB",
    ]
    assert [each.targets["cpu_s_per_million"] for each in CASES] == [0.1, 0.1, 0.2, 0.5, 0.5]
    for each in CASES:
        assert (each.load.producers, each.load.consumers, each.load.replicas) == (4, 4, 3)


def test_librdkafka_gets_what_the_java_client_gets() -> None:
    found = settings(Load(100, 65536, 32, linger_ms=1, buffer_bytes=16 << 20), "a:1")
    assert found["enable.idempotence"] is True
    assert (found["linger.ms"], found["batch.size"]) == (1, 65536)
    assert found["queue.buffering.max.kbytes"] == 16 << 10
    assert "max.in.flight.requests.per.connection" not in found
    assert settings(Load(100, 1024, in_flight=1), "a:1")["max.in.flight.requests.per.connection"] == 1
    assert places(["a", "b"], 2) == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]


def test_latencies_are_of_all_partitions() -> None:
    """Producers take theirs in turn: of every 16th record all went to 2 of 32, which one broker led."""
    source = re.search(r"SAMPLE_EVERY = (\d+);", GENERATOR_SOURCE.read_text())
    assert source is not None
    assert int(source[1]) == SAMPLE_EVERY
    shapes = {(point.shape, point.system) for figure in FIGURES.values() for point in figure.points()}
    written = {shape.streams * shape.partitions(system) // shape.entries(system) for shape, system in shapes}
    written |= {each.load.partitions for each in (*CASES, *cases.CASES)}
    assert {1, 32, 64, 512} <= written
    assert {gcd(SAMPLE_EVERY, count) for count in written} == {1}


def test_percentiles_are_nearest_rank() -> None:
    assert percentiles([]) is None
    found = percentiles([number / 1e6 for number in range(1, 1001)])
    assert found is not None
    assert {name: round(found[name]) for name in ("p50", "p99", "p999", "max")} == {
        "p50": 500,
        "p99": 990,
        "p999": 999,
        "max": 1000,
    }


class _Started:
    """Says what happens to it; a bad one does not start."""

    def __init__(self, system: str, log: list[str]) -> None:
        self.system = system
        self.log = log

    def start(self) -> None:
        self.log.append(f"{self.system} starts")
        if self.system == "bad":
            raise RuntimeError("does not start")

    def stop(self) -> None:
        self.log.append(f"{self.system} stops")


def test_what_was_started_is_stopped_whatever_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log: list[str] = []
    monkeypatch.setattr(clusters, "cluster_of", lambda system, *_: _Started(system, log))
    with clusters.running(["one", "two"], 3, tmp_path) as found:
        assert list(found) == ["one", "two"]
    refused = pytest.raises(click.ClickException, match="does not start")
    with refused, clusters.running(["one", "bad"], 3, tmp_path):
        raise AssertionError("runs")
    pairs = ["one starts", "two starts", "two stops", "one stops"]
    assert log == [*pairs, *(text.replace("two", "bad") for text in pairs)]


def test_processes_are_counted_by_their_own_clocks() -> None:
    """Both do 100 a second; the second one answers half a second later at the end."""
    before = [{"done": 10, "at_s": 5.0}, {"done": 0, "at_s": 5.1}]
    after = [{"done": 1010, "at_s": 15.0}, {"done": 1050, "at_s": 15.6}]
    assert per_second(before, after) == pytest.approx(200)


def test_no_seconds_of_warm_up_are_none() -> None:
    clusters: Any = {KAFKA: _Somewhere(), KPROTO: _Somewhere()}
    warm_up(clusters, CASES[0].load, 0.0, Console(quiet=True))


def test_brokers_are_warm_when_a_record_costs_what_it_did_in_the_round_before() -> None:
    assert not warm([(20.0, 90.0)], least=10.0), "nothing to compare with"
    assert not warm([(20.0, 90.0), (20.0, 60.0)], least=10.0), "still becoming faster"
    assert warm([(20.0, 90.0), (20.0, 60.0), (20.0, 55.0)], least=10.0)
    assert not warm([(2.0, 90.0), (2.0, 90.0)], least=10.0), "a busy machine gave them little time"
    falling = [(20.0, 2.0**-number) for number in range(MOST_ROUNDS)]
    assert not warm(falling[:-1], least=10.0)
    assert warm(falling, least=10.0), "not for ever"
