"""OpenMessaging files as that benchmark reads and writes them, and its rules for the rate."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import pytest
from click.testing import CliRunner
from rich.console import Console

from bench.cli import bench
from bench.histogram import Histogram
from bench.omb.command import QUICK, check_place, chosen, command, scale_of, targets_of
from bench.omb.compare import (
    BACKLOG,
    DRIVERS,
    FIXED,
    MAX,
    SEARCH,
    SHOWN,
    WARMUP_OF_MANY,
    WARMUP_OF_RATES,
    WARMUP_OF_SEARCH,
    WORKLOADS,
    Comparison,
    DiskError,
    Scale,
    check_disk,
    kind_of,
    modest_buffers,
)
from bench.omb.compare import as_run as run_of
from bench.omb.rate import LEAST_RATE, RAMP_MIN, RateSearch
from bench.omb.result import Period, capped, result
from bench.omb.runner import Hooks, Outcome, Runner, heap, run, shares, specs, topic_names
from bench.omb.settings import Driver, SettingsError, Workload, properties, read_driver, read_workload
from bench.results import direction
from bench.workers import DELAY, END_TO_END, INTENDED, KINDS, PUBLISH, Counters, Taken, WorkerError, Workers

WORKLOAD = """
name: two topics
topics: 2
partitionsPerTopic: 3
keyDistributor: "KEY_ROUND_ROBIN"
messageSize: 100
payloadFile: "payload-100b.data"
subscriptionsPerTopic: 2
consumerPerSubscription: 3
producersPerTopic: 4
producerRate: 5000
consumerBacklogSizeGB: 0
testDurationMinutes: 5
somethingNewer: 1
"""

DRIVER = """
name: Kafka
driverClass: io.openmessaging.benchmark.driver.kafka.KafkaBenchmarkDriver
replicationFactor: 3
reset: true
topicConfig: |
  min.insync.replicas=2
commonConfig: |
  # where
  bootstrap.servers=localhost:9092
producerConfig: |
  acks=all
  linger.ms = 1
  batch.size:131072
consumerConfig: |
  auto.offset.reset=earliest
"""

SUFFIXES = ("Avg", "50pct", "75pct", "95pct", "99pct", "999pct", "9999pct", "Max")
MEASURES = ("publishLatency", "publishDelayLatency", "endToEndLatency")
KEYS = {
    *("workload", "driver", "messageSize", "topics", "partitions", "producersPerTopic", "consumersPerTopic"),
    *("publishRate", "publishErrorRate", "consumeRate", "backlog"),
    *(f"{measure}{suffix}" for measure in MEASURES for suffix in SUFFIXES),
    *(
        f"aggregated{each[0].upper()}{each[1:]}{suffix}"
        for each in MEASURES
        for suffix in (*SUFFIXES, "Quantiles")
    ),
}


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.fixture
def workload(tmp_path: Path) -> Workload:
    return read_workload(written(tmp_path / "w.yaml", WORKLOAD))


@pytest.fixture
def driver(tmp_path: Path) -> Driver:
    return read_driver(written(tmp_path / "d.yaml", DRIVER))


def test_a_workload_file_is_read_with_its_defaults(workload: Workload, tmp_path: Path) -> None:
    assert (workload.topics, workload.partitionsPerTopic, workload.producersPerTopic) == (2, 3, 4)
    assert workload.keyDistributor == "KEY_ROUND_ROBIN"
    assert (workload.warmupDurationMinutes, workload.backlogDrainRatio) == (1, 1.0)
    (tmp_path / "payload-100b.data").write_bytes(b"x" * 100)
    assert workload.payload(tmp_path) == {"file": str(tmp_path / "payload-100b.data")}


def test_a_payload_must_be_as_long_as_the_messages(workload: Workload, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no such file"):
        workload.payload(tmp_path)
    (tmp_path / "payload-100b.data").write_bytes(b"x" * 99)
    with pytest.raises(SettingsError, match="99 bytes, messageSize 100"):
        workload.payload(tmp_path)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("producerRate: 0\nconsumerBacklogSizeGB: 1", "needs a producerRate"),
        ("keyDistributor: SOME", "keyDistributor SOME"),
        ("testDurationMinutes: 0", "testDurationMinutes"),
        ("topics:", "not a mapping"),
        ("topics: 0", "topics 0 is no whole number from 1 on"),
        ("producerRate: -5", "producerRate -5 is no whole number from 0 on"),  # was 1 record per second
        ('producerRate: "fast"', "producerRate 'fast'"),
        ("partitionsPerTopic: null", "partitionsPerTopic None"),
        ("messageSize: 1.5", "messageSize 1.5"),
        ("messageSize: 0\nconsumerBacklogSizeGB: 1", "a backlog needs a messageSize"),
        ("subscriptionsPerTopic: 0\nconsumerBacklogSizeGB: 1", "a backlog needs subscriptions"),  # had no end
        ("subscriptionsPerTopic: 0\nproducerRate: 0", "a producerRate of 0 needs subscriptions"),
        ("consumerPerSubscription: 0", "need a consumerPerSubscription"),
        ("testDurationMinutes: .nan", "testDurationMinutes nan"),
        ("testDurationMinutes: '5'", "testDurationMinutes '5' is no number"),
        ("warmupDurationMinutes: -1", "warmupDurationMinutes -1 is no number from 0 on"),
        ("randomBytesRatio: 2", "randomBytesRatio 2 is no number from 0 to 1"),
        ("useRandomizedPayloads: 'no'", "neither true nor false"),
        ("payloadFile: 17", "payloadFile 17 is no name of a file"),
    ],
)
def test_what_the_benchmark_cannot_run_is_refused(tmp_path: Path, change: str, complaint: str) -> None:
    text = "- a list" if change == "topics:" else f"{WORKLOAD}\n{change}\n"
    with pytest.raises(SettingsError, match=complaint):
        read_workload(written(tmp_path / "w.yaml", text))


def test_a_payload_is_found_as_in_a_clone_of_the_openmessaging_benchmark(tmp_path: Path) -> None:
    (tmp_path / "workloads").mkdir()
    (tmp_path / "payload").mkdir()
    (tmp_path / "payload" / "payload-100b.data").write_bytes(b"x" * 100)
    text = WORKLOAD.replace("payload-100b.data", "payload/payload-100b.data")
    found = read_workload(written(tmp_path / "workloads" / "w.yaml", text))
    assert found.payload(tmp_path / "workloads") == {"file": str(tmp_path / "payload" / "payload-100b.data")}


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match=r"w\.yaml: .*utf-8"):
        read_workload(tmp_path / "w.yaml")


@pytest.mark.parametrize(
    ("line", "instead", "complaint"),
    [
        ("topicConfig: |", "topicConfig:\n  a: 1\nother: |", "topicConfig is no text of properties"),
        ("replicationFactor: 3", "replicationFactor: three", "replicationFactor 'three'"),
    ],
)
def test_a_driver_that_is_wrong_is_refused(tmp_path: Path, line: str, instead: str, complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint):
        read_driver(written(tmp_path / "d.yaml", DRIVER.replace(line, instead)))


def test_a_workload_without_a_needed_key_names_it(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="messageSize"):
        read_workload(written(tmp_path / "w.yaml", WORKLOAD.replace("messageSize: 100\n", "")))


def test_a_driver_file_is_read_and_its_cluster_can_be_another(driver: Driver, tmp_path: Path) -> None:
    assert (driver.name, driver.replicationFactor) == ("Kafka", 3)
    assert driver.topicConfig == {"min.insync.replicas": "2"}
    assert driver.commonConfig == {"bootstrap.servers": "localhost:9092"}
    assert driver.producerConfig == {"acks": "all", "linger.ms": "1", "batch.size": "131072"}
    other = read_driver(tmp_path / "d.yaml", "127.0.0.1:5")
    assert other.commonConfig == {"bootstrap.servers": "127.0.0.1:5"}


def test_other_drivers_are_refused(tmp_path: Path) -> None:
    text = DRIVER.replace("kafka.KafkaBenchmarkDriver", "pulsar.PulsarBenchmarkDriver")
    with pytest.raises(SettingsError, match="not the Kafka driver"):
        read_driver(written(tmp_path / "d.yaml", text))


def test_properties_are_javas() -> None:
    text = "# no\n! no\na=1\n b : 2 \nc 3\nd=x=y\nlong=one,\\\n    two\nempty=\n\n"
    wanted = {"a": "1", "b": "2", "c": "3", "d": "x=y", "long": "one,two", "empty": ""}
    assert properties(text) == wanted


def test_the_files_that_are_shipped_can_be_read() -> None:
    kinds = {kind_of(read_workload(path)) for path in WORKLOADS.glob("*.yaml")}
    assert kinds == {FIXED, MAX, SEARCH, BACKLOG}
    names = [read_workload(path).name for path in WORKLOADS.glob("*.yaml")]
    assert len(set(names)) == len(names)
    for path in DRIVERS.glob("*.yaml"):
        driver = read_driver(path)
        assert driver.replicationFactor == (3 if "rf3" in path.stem else 1)
        assert ("flush.messages" in driver.topicConfig) == ("sync" in path.stem)
        assert driver.topicConfig["min.insync.replicas"] == ("2" if "rf3" in path.stem else "1")


def test_kproto_and_apache_kafka_are_driven_alike() -> None:
    for path in DRIVERS.glob("kproto*.yaml"):
        ours, theirs = read_driver(path), read_driver(path.with_name(path.name.replace("kproto", "kafka")))
        assert ours.producerConfig == theirs.producerConfig
        assert ours.consumerConfig == theirs.consumerConfig
        assert ours.topicConfig == theirs.topicConfig


def test_the_rate_doubles_while_both_ends_keep_up() -> None:
    search = RateSearch()
    assert search.next_rate(3.0, 30_000, 30_000) == 20_000
    assert search.next_rate(3.0, 90_000, 89_100) == 40_000
    assert search.ramp == 1.0


def test_consumers_that_fall_behind_halve_the_step_and_set_the_rate() -> None:
    search = RateSearch()
    # 24,000 received in 3 s; 30,000 wanted, 6,000 of them wait: both say 8,000 a second.
    assert search.next_rate(3.0, 30_000, 24_000) == 8_000
    assert search.ramp == 0.5
    # Caught up: the step is doubled first.
    assert search.next_rate(3.0, 54_000, 54_000) == 16_000
    assert search.ramp == 1.0


def test_producers_that_fall_behind_set_the_rate_when_consumers_do_not() -> None:
    search = RateSearch()
    assert search.next_rate(3.0, 21_000, 21_000) == 7_000
    assert search.ramp == 0.5


def test_a_thousand_records_may_wait() -> None:
    search = RateSearch()
    assert search.next_rate(3.0, 29_000, 28_000) == 20_000
    assert RateSearch().next_rate(3.0, 30_000, 28_999) < 10_000


def test_a_rate_is_not_sustained_when_one_of_two_subscriptions_stands_still(
    workload: Workload, driver: Driver
) -> None:
    class Standing:
        asked: ClassVar[list[float]] = []

        def counters(self) -> Counters:
            return Counters(at_us=3_000_000, sent=30_000, acked=30_000, received=30_000)

        def rate(self, per_second: float) -> None:
            self.asked.append(per_second)

    assert workload.subscriptionsPerTopic == 2
    workers = Standing()
    runner = Runner(replace(workload, producerRate=0), driver, cast(Workers, workers), Hooks())
    assert runner._search is not None
    runner._control(runner._search)
    assert workers.asked == [5_000]


def test_the_rate_grows_again_from_wherever_it_fell_to() -> None:
    search = RateSearch()
    for _ in range(20):
        assert search.next_rate(3.0, 10**9, 0) == LEAST_RATE
    assert search.ramp == RAMP_MIN
    both = 10**9
    for _ in range(20):
        both += int(search.rate * 3.0)
        before = search.rate
        assert search.next_rate(3.0, both, both) > before


def test_topics_and_groups_are_named_as_there(workload: Workload, driver: Driver) -> None:
    topics = topic_names(2)
    assert [name[:18] for name in topics] == ["test-topic-0000000", "test-topic-0000001"]
    (spec,) = specs(workload, driver, topics, {"bytes": 100}, 1)
    assert len(spec.producers) == 2 * 4
    assert len(spec.consumers) == 2 * 2 * 3
    groups = {each["group"] for each in spec.consumers}
    assert len(groups) == 4
    assert {name[:8] for name in groups} == {"sub-000-", "sub-001-"}


@pytest.mark.parametrize(("count", "producing"), [(2, 1), (3, 1), (4, 2), (5, 2)])
def test_half_of_several_workers_produces(
    workload: Workload, driver: Driver, count: int, producing: int
) -> None:
    dealt = specs(workload, driver, topic_names(2), {"bytes": 100}, count)
    assert [bool(spec.producers) for spec in dealt] == [n < producing for n in range(count)]
    assert [bool(spec.consumers) for spec in dealt] == [n >= producing for n in range(count)]
    assert sum(len(spec.producers) for spec in dealt) == 8
    assert sum(len(spec.consumers) for spec in dealt) == 12


def test_nothing_is_lost_in_sharing() -> None:
    assert sorted(item for share in shares(range(10), 3) for item in share) == list(range(10))
    assert heap(1, {}) == "1064M"
    assert heap(1000, {}) == "4096M"
    assert heap(100, {"buffer.memory": str(4 << 20)}) == "1524M"


def period(at: float, latencies: dict[int, int], seconds: float = 10.0) -> Period:
    histograms = {kind: Histogram(latencies) for kind in (PUBLISH, DELAY, INTENDED, END_TO_END)}
    count = sum(latencies.values())
    return Period(at, seconds, count, 1, count, 7, histograms)


def test_result_files_have_the_benchmarks_keys_and_units(workload: Workload, driver: Driver) -> None:
    found = result(workload, driver, [period(10, {1_000: 99, 8_000: 1}), period(20, {2_000: 100})])
    assert set(found) == KEYS
    assert len(KEYS) == 62
    assert found["publishRate"] == [10.0, 10.0]
    assert found["publishErrorRate"] == [0.1, 0.1]
    assert found["backlog"] == [7, 7]
    assert found["publishLatency50pct"] == [1.0, 2.0]
    assert found["publishLatencyMax"] == [8.0, 2.0]
    assert found["publishDelayLatency50pct"] == [1_000, 2_000]
    assert found["aggregatedPublishLatency50pct"] == 2.0
    assert found["aggregatedPublishLatency999pct"] == 8.0
    assert found["aggregatedEndToEndLatencyAvg"] == pytest.approx((99 + 8 + 200) / 200)
    assert found["aggregatedPublishLatencyQuantiles"] == {"49.5": 1.0, "99.5": 2.0, "100.0": 8.0}
    assert found["aggregatedPublishDelayLatencyQuantiles"]["100.0"] == 8_000


def test_publish_latencies_end_at_a_minute_and_end_to_end_ones_do_not(
    workload: Workload, driver: Driver
) -> None:
    found = result(workload, driver, [period(10, {5: 1, 70_000_000: 1, 90_000_000: 2})])
    assert found["publishLatencyMax"] == [60_000.0]
    assert found["aggregatedPublishDelayLatencyMax"] == 60_000_000
    assert found["aggregatedEndToEndLatencyMax"] == 90_000.0
    assert capped(Histogram({5: 1}), 10).counts == {5: 1}


def test_a_run_in_which_nothing_was_measured_still_has_all_keys(workload: Workload, driver: Driver) -> None:
    found = result(workload, driver, [])
    assert set(found) == KEYS
    assert found["aggregatedPublishLatencyMax"] == 0


def outcome(workload: Workload, driver: Driver) -> Outcome:
    during = Counters(at_us=20_000_000, acked=200, acked_bytes=20_000, received=200, cpu_s=1.0, sent=200)
    whole = Counters(acked=300, received=590)
    periods = [period(10, {1_000: 100}), period(20, {2_000: 100})]
    return Outcome(workload, driver, [period(0, {9_000: 100})], periods, during, whole)


def test_a_run_is_kept_in_the_suites_form(workload: Workload, driver: Driver) -> None:
    run = run_of("kproto", 1, outcome(workload, driver), None, 2)
    assert (run.system, run.case, run.pair) == ("kproto", "two topics", 1)
    assert run.metrics["published_per_s"] == 10.0
    assert run.metrics["publish_p50_ms"] == 1.0
    assert run.metrics["publish_max_ms"] == 2.0
    assert run.metrics["client_cpu_s_per_million"] == 5_000.0
    # The two subscriptions received 590 of twice 300.
    assert run.metrics["backlog_missing"] == 10.0
    assert run.quantiles["publish_ms"]["100"] == 2.0
    assert [at for at, _ in run.series["publish_p99_ms"]] == [0, 10, 20], "the warm-up is visible"


class Stalled:
    """In the place of `Workers`: 100 records a second are due, and from the beginning of the measured part on
    none is acknowledged until its end, when all that are due are sent at once, or only ``sent`` of them."""

    def __init__(self, sent: int | None = None) -> None:
        self.each = [None]
        self.asked: list[str] = []
        self._most = sent
        self._began = time.monotonic()
        self._over = False
        self._left = Histogram()

    def _due(self) -> int:
        return int(100 * (time.monotonic() - self._began)) + 1

    def counters(self) -> Counters:
        self.asked.append("counters")
        now = Counters(at_us=int(time.monotonic() * 1e6))
        if self._over:
            now.sent = now.acked = now.received = self._sent
        return now

    def end_schedule(self) -> int:
        due = self._due()
        self._over, self._sent = True, due if self._most is None else self._most
        self._left = Histogram({3_000_000: self._sent})
        return due

    def take(self) -> Taken:
        counters = self.counters()
        self.asked[-1] = "take"
        taken, self._left = self._left, Histogram()
        return Taken(counters, {kind: Histogram(taken.counts) for kind in KINDS})

    def __getattr__(self, name: str) -> Any:
        return lambda *given: self.asked.append(name)


def measured(workload: Workload, driver: Driver, workers: Stalled, hooks: Hooks | None = None) -> Outcome:
    once = replace(
        workload,
        producerRate=100,
        subscriptionsPerTopic=1,
        warmupDurationMinutes=0,
        testDurationMinutes=0.3 / 60,
    )
    runner = Runner(once, driver, cast(Workers, workers), hooks or Hooks())
    runner.measure()
    runner.finish()
    return runner.outcome


def test_what_a_stall_at_the_end_held_up_is_sent_and_counts(workload: Workload, driver: Driver) -> None:
    found = measured(workload, driver, Stalled())
    assert found.whole.acked >= 20
    for kind in (PUBLISH, INTENDED, END_TO_END):
        assert found.histograms()[kind].total == found.whole.acked
    assert run_of("kproto", 1, found, None, 1).metrics["intended_p50_ms"] == 3_000
    assert (found.unsent, found.short) == (0, False)
    assert found.json()["aggregatedPublishLatencyMax"] == 0, "as the stock benchmark has it"


def test_records_are_counted_at_the_moments_at_which_brokers_are_looked_at(
    workload: Workload, driver: Driver
) -> None:
    workers = Stalled()
    said = Hooks(begin=lambda: workers.asked.append("begin"), end=lambda: workers.asked.append("end"))
    measured(workload, driver, workers, said)
    begin, end = workers.asked.index("begin"), workers.asked.index("end")
    assert workers.asked[begin + 1] == workers.asked[end + 1] == "counters"


def test_a_rate_that_is_out_of_reach_fails_the_run(
    workload: Workload, driver: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.omb.runner.LATE_S", 0.1)
    found = measured(workload, driver, Stalled(sent=10))
    assert found.unsent >= 10
    assert found.short
    monkeypatch.setattr("bench.omb.compare.page_cache.fill", lambda directory: None)
    comparison = Comparison(
        {"kproto": cast(Any, SimpleNamespace(directory=tmp_path))}, 1, False, QUICK, 1, tmp_path
    )
    monkeypatch.setattr(comparison, "_once", lambda *given: found)
    path = next(WORKLOADS.glob("fixed-*"))
    with pytest.raises(RuntimeError, match=f"out of reach, {found.unsent} records were never sent"):
        comparison.measure("kproto", path, 0, Hooks())


def test_at_a_fixed_rate_the_throughput_is_not_judged(workload: Workload, driver: Driver) -> None:
    metrics = run_of("kproto", 1, outcome(workload, driver), None, 2).metrics
    assert "records_per_s" not in metrics
    assert direction("published_per_s") == 0
    assert "publish_p99_ms" in SHOWN[FIXED]


def test_scaled_workloads_keep_their_shape(workload: Workload) -> None:
    scaled = Scale(0.5, 0.1, 3, 0.25).of(workload)
    assert (scaled.testDurationMinutes, scaled.warmupDurationMinutes) == (0.5, 0.1)
    assert scaled.consumerBacklogSizeGB == 0, "there is no backlog in this workload"
    assert (scaled.topics, scaled.producerRate) == (workload.topics, workload.producerRate)
    backlog = read_workload(WORKLOADS / "backlog-1-topic-16-partitions-1kb.yaml")
    assert Scale(None, None, 1, 0.25).of(backlog).consumerBacklogSizeGB == 0.25


@pytest.mark.parametrize(("copies", "of_clusters"), [(1, []), (3, ["kafka", "kproto"])])
def test_three_copies_are_warmed_up_as_all_clusters_are(
    copies: int, of_clusters: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[str] = []
    loads: list[str] = []
    clusters: Any = {name: SimpleNamespace(name=name) for name in ("kafka", "kproto")}
    comparison = Comparison(clusters, copies, False, QUICK, 1, tmp_path)
    monkeypatch.setattr(comparison, "_once", lambda system, *given: loads.append(system))
    monkeypatch.setattr(
        "bench.omb.compare.warm_up_clusters",
        lambda clusters, load, seconds, screen: found.extend([*clusters] if seconds == 30 else []),
    )
    comparison.warm_up(next(WORKLOADS.glob("max-*")), 0.5, Console())
    assert found == of_clusters
    assert sorted(found + loads) == ["kafka", "kproto"]


def test_rates_many_clients_and_a_search_warm_up_longer_unless_a_time_was_asked_for() -> None:
    one, fastest, many, search = (
        read_workload(WORKLOADS / f"{stem}-1kb.yaml")
        for stem in (
            "fixed-1-topic-100-partitions",
            "max-1-topic-100-partitions",
            "max-100-topics-1-partition",
            "sustainable-1-topic-16-partitions",
        )
    )
    wanted = [QUICK.warmup_minutes or 0, scale_of(QUICK, None, 0.01, None, None).warmup_minutes]
    assert QUICK.of(one).warmupDurationMinutes == wanted[0] * WARMUP_OF_RATES
    assert QUICK.of(fastest).warmupDurationMinutes == wanted[0]
    assert QUICK.of(many).warmupDurationMinutes == wanted[0] * WARMUP_OF_MANY
    assert QUICK.of(search).warmupDurationMinutes == wanted[0] * WARMUP_OF_SEARCH
    for workload in (one, fastest, many, search):
        assert scale_of(QUICK, None, 0.01, None, None).of(workload).warmupDurationMinutes == wanted[1] == 0.01


def test_buffers_of_many_producers_fill_soon_only_where_nothing_limits_the_rate() -> None:
    one, many, slow = (
        modest_buffers(read_workload(WORKLOADS / f"{stem}-1kb.yaml"))
        for stem in (
            "max-1-topic-16-partitions",
            "max-100-topics-1-partition",
            "fixed-100-topics-1-partition",
        )
    )
    assert one == {"buffer.memory": str(32 << 20)}
    assert 1 << 20 <= int(many["buffer.memory"]) * 100 <= 256 << 20
    assert slow == {}


@pytest.mark.parametrize(
    ("whole", "code"),
    [
        (Counters(acked=10, received=20), 0),
        (Counters(acked=10, received=19), 1),
        (Counters(acked=10, received=20, errors=1), 1),
    ],
)
def test_records_that_fail_or_get_lost_are_an_exit_code(
    whole: Counters,
    code: int,
    workload: Workload,
    driver: Driver,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = replace(outcome(workload, driver), whole=whole)
    monkeypatch.setattr("bench.omb.command.run", lambda *given: found)
    target = tmp_path / "r.json"
    places = [str(tmp_path / "w.yaml"), "--driver", str(tmp_path / "d.yaml"), "--output", str(target)]
    assert CliRunner().invoke(command, places).exit_code == code
    assert json.loads(target.read_text())["workload"] == workload.name


@pytest.mark.parametrize(
    ("given", "with_driver"),
    [
        *(
            (text, True)
            for text in ("--quick", "--copies 1", "--sync", "--only kproto", "--pairs 1", "--case x")
        ),
        *((text, True) for text in ("--data-dir d", "--out o")),
        *((text, False) for text in ("--output r.json", "--bootstrap h:1", "--delete-topics")),
    ],
)
def test_options_that_would_be_ignored_are_refused(
    given: str, with_driver: bool, workload: Workload, driver: Driver, tmp_path: Path
) -> None:
    line = [str(tmp_path / "w.yaml"), *given.split()]
    if with_driver:
        line += ["--driver", str(tmp_path / "d.yaml"), "--output", str(tmp_path / "r.json")]
    done = CliRunner().invoke(command, line)
    assert done.exit_code == 2
    assert (
        f"{given.split(maxsplit=1)[0]} {'is for comparisons' if with_driver else 'needs --driver'}"
        in done.output
    )


def test_a_full_disk_ends_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.omb.compare.FREE_BYTES_MIN", 0)
    check_disk(tmp_path)
    monkeypatch.setattr("bench.omb.compare.FREE_BYTES_MIN", 1 << 62)
    with pytest.raises(DiskError, match="GB are left"):
        check_disk(tmp_path)


def test_files_are_chosen_by_name_and_results_are_kept_apart() -> None:
    assert {path.stem for path in chosen([], ["64kb"])} == {
        "fixed-1-topic-16-partitions-64kb",
        "max-1-topic-16-partitions-64kb",
    }
    given: Any = [Path("mine.yaml")]
    assert chosen(given, ["64kb"]) == given
    drivers = [Path(name) for name in ("a/d.yaml", "e.yaml", "b/d.yaml", "d-2.yaml", "a/d.yaml")]
    names = [path.name for path in targets_of(Path("o/r.json"), drivers)]
    assert names == ["r-d.json", "r-e.json", "r-d-2.json", "r-d-2-2.json", "r-d-3.json"]
    assert targets_of(Path("o/r.json"), drivers[:1]) == [Path("o/r.json")]


@pytest.mark.parametrize("ended_by", [KeyboardInterrupt, None])
def test_topics_that_cannot_be_deleted_hide_neither_ctrl_c_nor_what_was_measured(
    ended_by: type[BaseException] | None, workload: Workload, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`bench.options.noted` takes a WorkerError for a failed run and goes on with the next one."""

    class Gone:
        __init__ = __exit__ = stop = lambda self, *given, **named: None
        __enter__ = lambda self: self  # noqa: E731

        def delete_topics(self, common: object, names: list[str]) -> None:
            raise WorkerError(f"{len(names)} topics, and nobody there")

    def measure(runner: Runner) -> None:
        if ended_by is not None:
            raise ended_by

    said: list[str] = []
    monkeypatch.setattr("bench.omb.runner.Workers", Gone)
    monkeypatch.setattr(Runner, "prepare", lambda runner, payload: setattr(runner, "topics", ["t"]))
    monkeypatch.setattr(Runner, "measure", measure)
    monkeypatch.setattr(Runner, "finish", lambda runner: None)
    random = replace(workload, useRandomizedPayloads=True)
    if ended_by is None:
        assert run(random, driver, Path(), 1, Hooks(say=said.append), delete_topics=True).workload is random
    else:
        with pytest.raises(ended_by):
            run(random, driver, Path(), 1, Hooks(say=said.append), delete_topics=True)
    assert said == ["topics were not deleted: 1 topics, and nobody there"]


def test_names_are_no_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "w.yaml", WORKLOAD.replace("two topics", '"[/red] of [b]two[/b]"'))
    written(tmp_path / "d.yaml", DRIVER)
    monkeypatch.setattr("bench.omb.command.run", lambda *given: outcome(given[0], given[1]))
    places = [str(tmp_path / "w.yaml"), "--driver", str(tmp_path / "d.yaml")]
    done = CliRunner().invoke(command, [*places, "--output", str(tmp_path / "r.json")])
    assert "[/red] of [b]two[/b] on Kafka" in done.output


def test_a_place_for_no_file_is_refused_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "w.yaml", WORKLOAD)
    written(tmp_path / "d.yaml", DRIVER)
    measured: list[object] = []
    monkeypatch.setattr("bench.omb.command.run", lambda *given: measured.append(given))
    places = ["omb", str(tmp_path / "w.yaml"), "--driver", str(tmp_path / "d.yaml")]
    done = CliRunner().invoke(bench, [*places, "--output", str(tmp_path)])
    assert (done.exit_code, measured) == (1, [])
    assert "Is a directory" in done.output


def test_a_wrong_driver_is_refused_before_any_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "w.yaml", WORKLOAD)
    written(tmp_path / "d.yaml", DRIVER)
    written(tmp_path / "e.yaml", DRIVER.replace("KafkaBenchmark", "PulsarBenchmark"))
    measured: list[object] = []
    monkeypatch.setattr("bench.omb.command.run", lambda *given: measured.append(given))
    places = ["omb", str(tmp_path / "w.yaml"), "--driver", str(tmp_path / "d.yaml")]
    places += ["--driver", str(tmp_path / "e.yaml"), "--output", str(tmp_path / "r.json")]
    done = CliRunner().invoke(bench, places)
    assert "is not the Kafka driver" in done.output
    assert done.exit_code == 2
    assert measured == []


@pytest.mark.parametrize(
    ("other", "name", "same"),
    [
        ("v.yaml", "two topics", "name two topics"),
        ("d/w.yaml", "others", "file name w"),
        ("w.yaml", "x", "name x"),
    ],
)
def test_workloads_that_would_be_one_case_are_refused_before_brokers_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str, name: str, same: str
) -> None:
    (tmp_path / "d").mkdir()
    paths = [written(tmp_path / "w.yaml", WORKLOAD)]
    paths.append(written(tmp_path / other, WORKLOAD.replace("two topics", name)))
    started: list[object] = []
    monkeypatch.setattr("bench.omb.command.running", lambda *given: started.append(given))
    done = CliRunner().invoke(bench, ["omb", *map(str, paths)])
    assert (done.exit_code, started) == (2, [])
    assert f"have the same {same}" in done.output


def test_looking_for_a_place_leaves_what_is_there(tmp_path: Path) -> None:
    check_place(tmp_path / "new.json")
    check_place(written(tmp_path / "old.json", "{}"))
    assert [path.name for path in tmp_path.iterdir()] == ["old.json"]
    assert (tmp_path / "old.json").read_text() == "{}"


def test_too_little_room_is_said_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: object) -> None:
        raise DiskError("1.0 GB are left on the disk of d")

    monkeypatch.setattr("bench.omb.command.running", full)
    done = CliRunner().invoke(bench, ["omb", "--quick", "--data-dir", str(tmp_path)])
    assert done.output.splitlines()[-1] == "Error: 1.0 GB are left on the disk of d"
