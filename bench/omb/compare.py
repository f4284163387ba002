"""The workloads on kproto and Apache Kafka in turn, under the same load: figures as a `bench.results.Result`.

Both systems run throughout, only one is under load at a time; they take turns run by run. Broker CPU, memory
and bytes written are those of all brokers together, in the measured part. Publish latency counts from the
call of send, as in the OpenMessaging benchmark; ``intended_*`` from when the schedule wanted the record sent.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console

from bench import options, page_cache
from bench.brokers import Usage
from bench.cases import WRITTEN_TWICE
from bench.cluster import CASES as CLUSTER_CASES
from bench.cluster import warm_up as warm_up_clusters
from bench.clusters import Cluster
from bench.histogram import Histogram
from bench.omb.result import Period
from bench.omb.runner import TOPIC_PREFIX, Hooks, Outcome, run
from bench.omb.settings import BEYOND_REACH, Driver, Workload, read_driver, read_workload
from bench.results import Result, Run
from bench.stolen import Stolen
from bench.topics import await_files_gone, modest_files
from bench.workers import DELAY, END_TO_END, INTENDED, PUBLISH

HERE = Path(__file__).parent
WORKLOADS = HERE / "workloads"
DRIVERS = HERE / "drivers"

NAMES = {PUBLISH: "publish", INTENDED: "intended", END_TO_END: "e2e", DELAY: "delay"}
PERCENTILES = {"p50": 50.0, "p99": 99.0, "p999": 99.9, "p9999": 99.99, "max": 100.0}
QUANTILES = (1, 5, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 100)

FIXED, MAX, SEARCH, BACKLOG = "fixed", "max", "sustainable", "backlog"

COSTS = (
    *("cpu_s_per_million", "peak_rss_mb", "disk_mb"),
    *("client_rpcs_per_s", "client_cpu_s_per_million", "stolen_percent"),
)
LATENCIES = ("publish_p50_ms", "publish_p99_ms", "publish_p999_ms", "e2e_p50_ms", "e2e_p99_ms")
SHOWN = {
    FIXED: ("published_per_s", *LATENCIES, "intended_p99_ms", *COSTS),
    MAX: ("records_per_s", "mb_per_s", "consumed_records_per_s", *LATENCIES[:2], "cpu_s_per_gb", *COSTS),
    SEARCH: ("records_per_s", "mb_per_s", *LATENCIES[:2], *COSTS),
    BACKLOG: ("drain_s", "published_per_s", *LATENCIES[:2], *COSTS),
}
TITLES = {
    FIXED: "fixed rates: latencies and what they cost",
    MAX: "as fast as it goes",
    SEARCH: "the greatest rate that consumers keep up with",
    BACKLOG: "a backlog built up and drained while producers go on",
}


NOTES = (
    "client RPCs are those of producers and consumers, by their own count; disk MB is what the brokers had "
    "the kernel write, all copies and indexes together, by the kernel's count. " + WRITTEN_TWICE,
    "Publish latency counts from the call of send, as OMB has it; `intended` from when the schedule wanted "
    "the record sent: what was due by the end is sent, and counts, however late. End-to-end latency is that "
    "of the records' timestamps: whole milliseconds, from 1 on.",
    "As fast as it goes, all producers together buffer 256 MB (`buffer.memory`; 32 MB each at most).",
)


MANY_CLIENTS = 100
WARMUP_OF_MANY = 14
"""How much longer so many clients take: a hundred of each kind connect and are compiled for ten seconds and
more on two cores, and what they were behind by then would count as latency."""
BUFFERS_BYTES = 256 << 20
"""Of all producers of a load together that sends as fast as it goes, see `modest_buffers`."""
MOST_BUFFER, LEAST_BUFFER = 32 << 20, 1 << 20
"""Of one producer; the most is Kafka's default."""
WARMUP_OF_SEARCH = 5
"""The search begins at 10,000 records per second and doubles every three seconds."""
WARMUP_OF_RATES = 4
"""What the clients' JVMs take to be compiled would count as latency, most of all on few cores."""
FREE_BYTES_MIN = 8 << 30
FREE_TIMEOUT_S = 120.0


class DiskError(RuntimeError):
    """Too little space is left where the brokers keep their data: what is as fast as it goes fills disks."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How long and how often; None leaves what the workload files say."""

    minutes: float | None
    warmup_minutes: float | None
    pairs: int
    backlog_gb: float | None = None
    by_need: bool = False
    """A warm-up is longer where a workload needs it, see `warmup_factor`."""

    def of(self, workload: Workload) -> Workload:
        """The workload at this scale."""
        changed: dict[str, Any] = {}
        if self.minutes is not None:
            changed["testDurationMinutes"] = self.minutes
        if self.warmup_minutes is not None:
            times = warmup_factor(workload) if self.by_need else 1
            changed["warmupDurationMinutes"] = self.warmup_minutes * times
        if self.backlog_gb is not None and workload.consumerBacklogSizeGB:
            changed["consumerBacklogSizeGB"] = self.backlog_gb
        return replace(workload, **changed)


def kind_of(workload: Workload) -> str:
    """Which result a workload belongs to."""
    if workload.consumerBacklogSizeGB:
        return BACKLOG
    if workload.producerRate == 0:
        return SEARCH
    return FIXED if workload.fixed else MAX


def written_bytes(pids: Sequence[int]) -> int:
    """What the processes have had written to disks so far, page cache included (as the kernel counts it)."""
    found = 0
    for pid in pids:
        lines = Path(f"/proc/{pid}/io").read_text().splitlines()
        found += sum(int(line.split()[1]) for line in lines if line.startswith("write_bytes"))
    return found


def check_disk(directory: Path, patience_s: float = 0.0) -> None:
    """Raises DiskError when less than `FREE_BYTES_MIN` is free, after ``patience_s`` (deletes are slow)."""
    deadline = time.monotonic() + patience_s
    while (free := shutil.disk_usage(directory).free) < FREE_BYTES_MIN:
        if time.monotonic() >= deadline:
            raise DiskError(f"{free / 1e9:.1f} GB are left on the disk of {directory}")
        time.sleep(1)


def warmup_factor(workload: Workload) -> int:
    """How many times the usual warm-up a workload needs."""
    if workload.producerRate == 0:
        return WARMUP_OF_SEARCH
    each = workload.producersPerTopic + workload.subscriptionsPerTopic * workload.consumerPerSubscription
    if workload.topics * each >= MANY_CLIENTS:
        return WARMUP_OF_MANY
    return WARMUP_OF_RATES if kind_of(workload) == FIXED else 1


def modest_buffers(workload: Workload) -> dict[str, str]:
    """Producer configs with which the buffers of a load as fast as it goes fill at once.

    A hundred producers of 32 MB each take minutes to fill 3.2 GB, and until then their JVM is busy with new
    memory and with copying what lives in it: whatever the broker does, nothing is settled.
    """
    if kind_of(workload) != MAX:
        return {}
    fair = BUFFERS_BYTES // (workload.topics * workload.producersPerTopic)
    return {"buffer.memory": str(max(LEAST_BUFFER, min(MOST_BUFFER, fair)))}


@dataclass(slots=True)
class Watch:
    """What the brokers used in the measured part: its `begin` and `end` are hooks of the runner."""

    cluster: Cluster
    usage: tuple[Usage, Usage] | None = None
    written: int = 0
    stolen_percent: float = 0.0
    _before: tuple[Usage, int, Stolen] | None = field(default=None, init=False)

    def begin(self) -> None:
        """Count from now."""
        self.cluster.reset_peak()
        self._before = (self.cluster.usage(), written_bytes(self.cluster.pids), Stolen())

    def end(self) -> None:
        """Until now."""
        if self._before is not None:
            self.stolen_percent = self._before[2].percent()
            self.usage = (self._before[0], self.cluster.usage())
            self.written = written_bytes(self.cluster.pids) - self._before[1]

    def metrics(self, outcome: Outcome) -> dict[str, float]:
        """CPU, memory, bytes on disk, per record and per GB of values."""
        if self.usage is None:
            return {}
        before, after = self.usage
        cpu = after.cpu_s - before.cpu_s
        during = outcome.during
        return {
            "broker_cpu_s": cpu,
            "cpu_s_per_million": cpu * 1e6 / max(during.acked, 1),
            "cpu_s_per_gb": cpu * 1e9 / max(during.acked_bytes, 1),
            "peak_rss_mb": after.peak_rss_bytes / 1e6,
            "disk_mb": self.written / 1e6,
            "stolen_percent": self.stolen_percent,
        }


def client_metrics(outcome: Outcome) -> dict[str, float]:
    """Throughput, latencies and the load's own CPU, of the measured part."""
    during = outcome.during
    rate = during.acked / during.seconds
    kind = kind_of(outcome.workload)
    # At a fixed rate that both reach, the one that is a record short would count as the worse one.
    name = "published_per_s" if kind in (FIXED, BACKLOG) else "records_per_s"
    found = {
        name: rate,
        "mb_per_s" if kind in (MAX, SEARCH) else "published_mb": during.acked_bytes / 1e6 / during.seconds,
        "consumed_records_per_s" if kind in (MAX, SEARCH) else "received_per_s": during.received
        / during.seconds,
        "client_cpu_s": during.cpu_s,
        "client_cpu_s_per_million": during.cpu_s * 1e6 / max(during.acked, 1),
        "client_rpcs_per_s": (during.produce_requests + during.consume_requests) / during.seconds,
        "records_per_produce": during.acked / max(during.produce_requests, 1),
        "sent_errors": float(during.errors),
        "backlog_missing": float(outcome.missing),
    }
    if outcome.build_s is not None:
        found["backlog_build"] = outcome.build_s
    if outcome.drain_s is not None:
        found["drain_s"] = outcome.drain_s
    for kind_name, histogram in outcome.histograms().items():
        values = histogram.percentiles(PERCENTILES.values())
        for percentile, value in zip(PERCENTILES, values, strict=True):
            found[f"{NAMES[kind_name]}_{percentile}_ms"] = value / 1000
    return found


def series(outcome: Outcome) -> dict[str, list[list[float]]]:
    """Over the seconds since the load began, warm-up included."""
    periods = [*outcome.warmup, *outcome.measured]

    def late(period: Period, kind: str) -> float:
        return period.histograms[kind].percentiles((99,))[0] / 1000

    return {
        "published_per_s": [[each.at_s, each.published / each.seconds] for each in periods],
        "received_per_s": [[each.at_s, each.received / each.seconds] for each in periods],
        "backlog_records": [[each.at_s, float(each.backlog)] for each in periods],
        "publish_p99_ms": [[each.at_s, late(each, PUBLISH)] for each in periods],
        "e2e_p99_ms": [[each.at_s, late(each, END_TO_END)] for each in periods],
        "wanted_per_s": [[at, rate] for at, rate in outcome.rates],
    }


def quantiles(histograms: Mapping[str, Histogram]) -> dict[str, dict[str, float]]:
    """Milliseconds at the percentiles that a plot needs, over every event."""
    found = {}
    for kind, histogram in histograms.items():
        values = histogram.percentiles(QUANTILES)
        found[f"{NAMES[kind]}_ms"] = {
            f"{level:g}": value / 1000 for level, value in zip(QUANTILES, values, strict=True)
        }
    return found


def as_run(system: str, pair: int, outcome: Outcome, watch: Watch | None, workers: int) -> Run:
    """An outcome in the suite's form."""
    workload, driver = outcome.workload, outcome.driver
    parameters = {
        "copies": driver.replicationFactor,
        "topics": workload.topics,
        "partitions": workload.partitionsPerTopic,
        "message_bytes": workload.messageSize,
        "rate": workload.producerRate,
        "workers": workers,
        "warmup_s": workload.warmupDurationMinutes * 60,
        "test_s": workload.testDurationMinutes * 60,
        "producer": dict(driver.producerConfig),
        "topic": dict(driver.topicConfig),
    }
    metrics = client_metrics(outcome) | (watch.metrics(outcome) if watch else {})
    return Run(
        system, workload.name, pair, parameters, metrics, series(outcome), quantiles(outcome.histograms())
    )


def driver_of(system: str, copies: int, sync: bool, bootstrap: str) -> Driver:
    """The suite's driver file for a system."""
    stem = system + ("" if copies == 1 else f"-rf{copies}") + ("-sync" if sync else "")
    return read_driver(DRIVERS / f"{stem}.yaml", bootstrap)


class Comparison:
    """Workloads on several systems in turn."""

    def __init__(
        self, clusters: Mapping[str, Cluster], copies: int, sync: bool, scale: Scale, workers: int, out: Path
    ) -> None:
        self._clusters = clusters
        self._copies = copies
        self._sync = sync
        self._scale = scale
        self._workers = workers
        self._out = out

    def results(self, workloads: Sequence[Path], command: str, about: dict[str, Any]) -> dict[str, Result]:
        """Empty results, one per kind of workload."""
        found: dict[str, Result] = {}
        for path in workloads:
            workload = read_workload(path)
            kind = kind_of(workload)
            name = f"{kind}-rf{self._copies}" + ("-sync" if self._sync else "")
            title = f"OpenMessaging workloads, {TITLES[kind]}, {self._copies} "
            title += "copy" if self._copies == 1 else "copies"
            title += ", on disk before the ack" if self._sync else ""
            result = found.setdefault(
                kind,
                Result("omb", name, title, command, about, shown=list(SHOWN[kind]), notes=list(NOTES)),
            )
            result.targets[workload.name] = self._targets(kind)
        return found

    def _targets(self, kind: str) -> dict[str, float]:
        """The most of what Apache Kafka takes; throughput: the least."""
        if kind == FIXED:
            found = {"publish_p50_ms": 1.0, "publish_p99_ms": 1.0}
        elif kind == BACKLOG:
            found = {"drain_s": 1.0}
        else:
            found = {"records_per_s": 1.0}
        return {**found, "cpu_s_per_million": 0.5} if self._copies == 1 else found

    def warm_up(self, workload: Path, minutes: float, screen: Console) -> None:
        """Load before anything is measured; the JVM brokers compile themselves meanwhile, four of them for as
        long as they take: see `bench.cluster.warm_up`."""
        if self._copies > 1:
            warm_up_clusters(self._clusters, CLUSTER_CASES[0].load, minutes * 60, screen)
            return
        wanted = replace(read_workload(workload), testDurationMinutes=minutes, warmupDurationMinutes=0)
        for system in self._clusters:
            screen.print(f"warming up {self._clusters[system].name}")
            self._once(system, workload, replace(wanted, producerRate=BEYOND_REACH), Hooks())

    def _once(self, system: str, path: Path, workload: Workload, hooks: Hooks) -> Outcome:
        cluster = self._clusters[system]
        check_disk(cluster.directory, FREE_TIMEOUT_S)
        guarded = replace(hooks, look=lambda: check_disk(cluster.directory))
        driver = driver_of(system, self._copies, self._sync, cluster.bootstrap)
        replicas = workload.topics * workload.partitionsPerTopic * self._copies
        prepared = replace(
            driver,
            topicConfig={**driver.topicConfig, **modest_files(replicas)},
            producerConfig={**driver.producerConfig, **modest_buffers(workload)},
        )
        try:
            return run(workload, prepared, path.parent, self._workers, guarded, delete_topics=True)
        finally:
            await_files_gone(cluster, TOPIC_PREFIX)

    def measure(self, system: str, path: Path, pair: int, hooks: Hooks) -> Run:
        """One run of one workload; the OpenMessaging result file is written, too."""
        cluster = self._clusters[system]
        page_cache.fill(cluster.directory)
        watch = Watch(cluster)
        watched = replace(hooks, begin=watch.begin, end=watch.end)
        outcome = self._once(system, path, self._scale.of(read_workload(path)), watched)
        directory = self._out / "openmessaging"
        directory.mkdir(parents=True, exist_ok=True)
        suffix = f"rf{self._copies}" + ("-sync" if self._sync else "")
        target = directory / f"{path.stem}-{system}-{suffix}-{pair}.json"
        target.write_text(json.dumps(outcome.json(), indent=1))
        if outcome.short:
            raise RuntimeError(f"the rate was out of reach, {outcome.unsent:,} records were never sent")
        if outcome.whole.errors or outcome.missing:
            text = f"{outcome.whole.errors:,} records failed, {outcome.missing:,} were never received"
            raise RuntimeError(text)  # what failed has no latency: the run would look better for it
        return as_run(system, pair, outcome, watch, self._workers)

    def all_runs(self, workloads: Sequence[Path], results: Mapping[str, Result], hooks: Hooks) -> None:
        """Every workload, the systems in turn; its result is written after each run.

        A run that fails is noted in its result and the others go on.
        """
        for path in workloads:
            result = results[kind_of(read_workload(path))]
            for pair in range(self._scale.pairs):
                for system in self._clusters:
                    name = f"{path.stem} on {self._clusters[system].name}"
                    hooks.say(f"{name}, pair {pair + 1}")
                    with options.noted(name, result.notes, hooks.say):
                        result.runs.append(self.measure(system, path, pair, hooks))
                    result.save(self._out)
