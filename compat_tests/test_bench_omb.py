"""The load worker and `kproto bench omb` against a real broker: what they count is what happened."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from confluent_kafka.admin import AdminClient

from bench.omb.command import command
from bench.omb.compare import DRIVERS, WORKLOADS
from bench.omb.runner import Hooks, run
from bench.omb.settings import read_driver, read_workload
from bench.selftest import CONSUME, PARTITIONS, PRODUCE, Load, sink
from bench.workers import (
    DELAY,
    END_TO_END,
    FASTEST,
    INTENDED,
    KINDS,
    PUBLISH,
    RAW_FIELDS,
    Spec,
    Taken,
    WorkerError,
)
from bench.workers import Workers as LoadWorkers
from kproto.testing import kafka_broker

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]

WORKLOAD = WORKLOADS / "fixed-1-topic-16-partitions-1kb.yaml"
DRIVER = DRIVERS / "kproto.yaml"
PATIENCE_S = 120.0


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with kafka_broker() as broker:
        yield broker.bootstrap_servers


@dataclass
class Watched:
    """What workers were asked to do, and when: moments of the clock that their schedule goes by."""

    rates: list[tuple[float, float]] = field(default_factory=list)
    """Of every `rate`, when it was called and when it had its answer."""
    ends: list[tuple[float, float]] = field(default_factory=list)
    """The same of every `end_schedule`."""
    taken: list[Taken] = field(default_factory=list)
    """What every `take` gave."""

    def least(self, per_second: float) -> float:
        """Events due from the last `rate` to the last end, however long the workers took to hear of both."""
        return per_second * (self.ends[-1][0] - self.rates[-1][1])

    def most(self, per_second: float) -> float:
        return per_second * (self.ends[-1][1] - self.rates[-1][0]) + 1  # The first one is due at once.


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    seen, rate, end, take = Watched(), LoadWorkers.rate, LoadWorkers.end_schedule, LoadWorkers.take

    def watched_rate(self: LoadWorkers, per_second: float, events: int | None = None) -> None:
        before = time.monotonic()
        rate(self, per_second, events)
        seen.rates.append((before, time.monotonic()))

    def watched_end(self: LoadWorkers) -> int:
        before = time.monotonic()
        due = end(self)
        seen.ends.append((before, time.monotonic()))
        return due

    def watched_take(self: LoadWorkers) -> Taken:
        seen.taken.append(take(self))
        return seen.taken[-1]

    monkeypatch.setattr(LoadWorkers, "rate", watched_rate)
    monkeypatch.setattr(LoadWorkers, "end_schedule", watched_end)
    monkeypatch.setattr(LoadWorkers, "take", watched_take)
    return seen


def await_received(workers: LoadWorkers, count: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while workers.counters().received < count:
        assert time.monotonic() < deadline, workers.counters()
        time.sleep(0.05)


def test_a_workload_file_runs_as_it_is(address: str, tmp_path: Path) -> None:
    output = tmp_path / "deep" / "result.json"
    arguments = [str(WORKLOAD), "--driver", str(DRIVER), "--bootstrap", address, "--output", str(output)]
    arguments += ["--minutes", "0.05", "--warmup", "0.02", "--delete-topics"]
    done = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "0 errors, 0 acknowledged records not received in time" in " ".join(done.output.split())
    found = json.loads(output.read_text())
    assert found["workload"] == read_workload(WORKLOAD).name
    assert found["driver"] == "kproto"
    assert len(found) == 62
    assert 1 <= len(found["publishRate"]) <= 6, "every half second, less often on a busy machine"
    assert sum(found["publishRate"]) > 0
    assert 0 < found["aggregatedPublishLatency50pct"] <= found["aggregatedPublishLatencyMax"]
    assert found["aggregatedPublishLatencyQuantiles"]["100.0"] == found["aggregatedPublishLatencyMax"]
    topics = AdminClient({"bootstrap.servers": address}).list_topics(timeout=30).topics
    assert not [name for name in topics if name.startswith("test-topic-")]


def test_a_backlog_is_built_up_and_drained(address: str) -> None:
    workload = replace(
        read_workload(WORKLOADS / "backlog-1-topic-16-partitions-1kb.yaml"),
        consumerBacklogSizeGB=2_000 * 1024 / 2**30,
        producerRate=4_000,
        warmupDurationMinutes=0,
        testDurationMinutes=0.02,
    )
    outcome = run(workload, read_driver(DRIVER, address), WORKLOADS, 1, delete_topics=True)
    assert outcome.build_s is not None
    assert outcome.drain_s is not None
    assert outcome.built >= 2_000, "when the consumers went on"
    assert outcome.missing == 0
    assert outcome.whole.received == outcome.whole.acked > 2_000


def test_a_stall_at_the_end_is_in_the_figures(watched: Watched) -> None:
    """The broker stands still for the last two of three seconds."""
    workload = replace(
        read_workload(WORKLOAD), producerRate=1_000, warmupDurationMinutes=0, testDurationMinutes=3 / 60
    )
    with kafka_broker(subprocess=True) as broker:
        halt = threading.Timer(1, lambda: os.kill(broker.pid, signal.SIGSTOP))
        hooks = Hooks(begin=halt.start, end=lambda: os.kill(broker.pid, signal.SIGCONT))
        outcome = run(workload, read_driver(DRIVER, broker.bootstrap_servers), WORKLOADS, 1, hooks)
    found, whole = outcome.histograms(), outcome.whole
    for kind in (PUBLISH, INTENDED):  # All but what was acknowledged before the measured part began.
        assert found[kind].total == whole.acked - watched.taken[0].histograms[kind].total
    # A busy machine may be late to begin and to end the three seconds: what is due goes on until then.
    assert whole.acked == whole.sent
    assert watched.least(1_000) <= whole.sent <= watched.most(1_000)
    assert whole.sent > 2_400
    assert found[INTENDED].percentiles((50,))[0] > 200_000
    assert outcome.unsent == 0
    assert outcome.json()["aggregatedPublishLatency50pct"] < 200, "as the stock benchmark has it"


def test_every_event_is_counted_from_its_schedule(address: str, tmp_path: Path) -> None:
    common, raw = {"bootstrap.servers": address}, tmp_path / "events"
    events, partitions = 3_000, 4
    with LoadWorkers(1) as workers:
        workers.create_topics(common, [{"name": "counted", "partitions": partitions, "replicas": 1}])
        spec = Spec(
            common,
            producers=[{"topic": "counted"}, {"topic": "counted", "partitions": [1, 2]}],
            consumers=[{"topic": "counted", "partitions": list(range(partitions))}],
            payload={"bytes": 64},
            keys="KEY_ROUND_ROBIN",
            end_to_end="payload",
            raw=str(raw),
        )
        workers.open([spec])
        workers.rate(2_000, events)
        await_received(workers, events)
        taken = workers.take()
        assert taken.counters.acked == taken.counters.received == taken.counters.sent == events
        assert taken.counters.acked_bytes == taken.counters.received_bytes == 64 * events
        assert {kind: taken.histograms[kind].total for kind in KINDS} == dict.fromkeys(KINDS, events)
        assert all(histogram.total == 0 for histogram in workers.take().histograms.values())
        workers.stop()
        workers.delete_topics(common, ["counted"])
    rows = np.fromfile(raw, dtype=np.dtype(RAW_FIELDS))
    sent, received = rows[rows["kind"] == 0], rows[rows["kind"] == 1]
    assert (len(sent), len(received)) == (events, events)
    assert set(rows["bytes"]) == {64}
    assert set(sent["client"]) == {0, 1}
    # The schedule goes on whatever becomes of the events: 500 microseconds apart, to the microsecond.
    steps = np.diff(np.sort(sent["intended_us"]))
    assert set(steps) <= {499, 500, 501}
    assert np.abs(np.sort(sent["intended_us"]) - np.sort(received["intended_us"])).max() <= 1
    assert sorted(sent["latency_us"]) == pytest.approx(  # above 262 ms a histogram rounds
        [value for value, count in sorted(taken.histograms[INTENDED].counts.items()) for _ in range(count)],
        rel=1 / 131_072,
    )
    assert (sent["latency_us"] >= sent["delay_us"]).all()
    means = {kind: taken.histograms[kind].mean for kind in (DELAY, PUBLISH, INTENDED)}
    assert means[INTENDED] == pytest.approx(means[DELAY] + means[PUBLISH], rel=1 / 131_072, abs=2)
    assert taken.histograms[END_TO_END].mean == pytest.approx(float(received["latency_us"].mean()), rel=1e-4)


def test_what_is_due_when_a_schedule_ends_is_sent_and_no_more(address: str, watched: Watched) -> None:
    common = {"bootstrap.servers": address}
    with LoadWorkers(2) as workers:
        workers.create_topics(common, [{"name": "ended", "partitions": 1, "replicas": 1}])
        reads = [{"topic": "ended", "partitions": [0]}]
        workers.open([Spec(common, producers=[{"topic": "ended"}]), Spec(common, consumers=reads)])
        workers.rate(500)
        time.sleep(1)
        due = workers.end_schedule()
        assert watched.least(500) <= due <= watched.most(500)
        await_received(workers, due)
        time.sleep(0.2)
        assert workers.counters().sent == due
        workers.rate(500, 100)
        await_received(workers, due + 100)
        assert workers.end_schedule() == 100, "no more than was asked for"


def test_a_producer_that_waits_has_one_record_under_way(address: str) -> None:
    common = {"bootstrap.servers": address}
    with LoadWorkers(1) as workers:
        workers.create_topics(common, [{"name": "waited", "partitions": 1, "replicas": 1}])
        workers.open([Spec(common, producers=[{"topic": "waited"}], flush_each=True)])
        workers.rate(FASTEST, 200)
        deadline = time.monotonic() + PATIENCE_S
        while (counters := workers.counters()).acked < 200:
            assert time.monotonic() < deadline, counters
            time.sleep(0.05)
        # One request for each record, besides those for metadata and the producer's ID.
        assert 200 <= counters.produce_requests <= 220


def test_what_goes_wrong_is_said(address: str) -> None:
    with LoadWorkers(1) as workers:
        with pytest.raises(WorkerError, match="no such command"):
            workers.ask("dance")
        with pytest.raises(WorkerError, match="UnknownTopicOrPartition"):
            workers.delete_topics({"bootstrap.servers": address}, ["nowhere"])


@pytest.mark.parametrize("mode", [PRODUCE, CONSUME])
def test_the_null_sink_takes_and_gives_records(mode: str) -> None:
    with sink(1_024) as target, LoadWorkers(1) as workers:
        workers.open(Load(mode, 1_024).specs(1, target.bootstrap))
        if mode == CONSUME:
            await_received(workers, 10 * PARTITIONS)
            assert workers.counters().received_bytes % 1_024 == 0
        else:
            workers.rate(FASTEST, 5_000)
            deadline = time.monotonic() + PATIENCE_S
            while (counters := workers.counters()).acked < 5_000:
                assert time.monotonic() < deadline, counters
                time.sleep(0.05)
            assert counters.errors == 0
            assert workers.take().histograms[PUBLISH].total == 5_000
