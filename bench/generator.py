"""Runs java/LoadGenerator.java; reads the broker's CPU time at both ends of the measured part.

The topics of a run take writes before it begins and their files are gone before the next one does:
`bench.topics` says why.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from bench.brokers import ApacheKafka, Target
from bench.jars import generator_classpath
from bench.stolen import Stolen
from bench.topics import Topics

HEAP_MB = 1024
"""Beside what the producers may buffer."""
BATCH_HEADER, RECORD_OVERHEAD = 61, 9
"""Bytes of a batch beside its records, and of a record beside its value (deltas of a byte or two)."""
PR_SET_TIMERSLACK = 29
TIMER_SLACK_NS = 1_000
LATENCIES = {"publish": "ack_us", "e2e": "end_to_end_us"}
"""What `bench.results` calls a latency -> what the generator calls it."""

_libc = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def exact_timers() -> Iterator[None]:
    """What is started here wakes when it asked to, not up to 50 us later (a child inherits that)."""
    _libc.prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0)
    try:
        yield
    finally:
        _libc.prctl(PR_SET_TIMERSLACK, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Load:
    """One run of the generator; see LoadGenerator.Settings for what each name means there."""

    value_bytes: int
    batch_bytes: int
    partitions: int = 1
    rate: int = 0
    linger_ms: int = 0
    seconds: float = 10.0
    warmup_seconds: float = 3.0
    steady_seconds: float = 0.0
    """The warm-up goes on for up to so long until throughput no longer grows; not at a rate."""
    max_bytes: float = 1e18
    producers: int = 1
    consumers: int = 1
    replicas: int = 1
    buffer_bytes: int = 0
    """Of each producer; 0: 32 MiB, or four batches of every partition. What waits there is latency."""
    topics: int = 1
    """Each of so many partitions."""
    entries: int = 1
    """Producer i writes to the partitions p with p % entries = i % entries (KerA's active groups)."""
    in_flight: int = 0
    """Requests of a producer per broker that wait for their answers; 0: the client's default, five."""
    fetch_bytes: int = 0
    """Of a partition per fetch; 0: the client's default, 1 MiB."""
    request_bytes: int = 1 << 20
    """The most of a produce request."""

    def arguments(self) -> list[str]:
        """For the generator; how many copies there are is the topics' matter."""
        named = {name: value for name, value in asdict(self).items() if name != "replicas"}
        return [f"{name.replace('_', '.')}={value}" for name, value in named.items()]

    @property
    def heap_mb(self) -> int:
        """What the generator's JVM gets."""
        buffer = self.buffer_bytes or max(1 << 25, 4 * self.batch_bytes * self.partitions * self.topics)
        return HEAP_MB + self.producers * buffer // (1 << 20)


@dataclass(frozen=True, slots=True)
class Measured:
    """What a run gave."""

    load: dict[str, Any]
    """The generator's RESULT: counts, latencies in microseconds."""
    broker_cpu_s: float
    wall_s: float
    peak_rss_bytes: int
    stolen_percent: float = 0.0
    """See `bench.stolen`."""
    ready_s: float | None = None
    """From the order for the topics until each partition had acknowledged a record; None: they were there."""
    more: dict[str, float] = field(default_factory=dict)
    """Figures that the client or the cluster adds, by the names of `bench.results`."""


def rpcs(load: dict[str, Any], value_bytes: int, copies: int) -> dict[str, float]:
    """The clients' requests and, on Apache Kafka, its followers', from what the Java clients count.

    A chunk is a record batch; how many there were follows from the clients' mean batch size.
    """
    records = max((load["batch_bytes"] - BATCH_HEADER) / (value_bytes + RECORD_OVERHEAD), 1.0)
    chunks = load["acked_records"] / records
    found = {
        "records_per_chunk": records,
        "produce_requests_per_s": load["produce_requests"] / load["seconds"],
        "chunks_per_produce": chunks / max(load["produce_requests"], 1),
        "fetches_per_s": load["fetch_requests"] / load["seconds"],
    }
    if load["follower_fetches"] is not None and copies > 1:
        found["rpcs_per_s"] = load["follower_fetches"] / load["seconds"]
        found["chunks_per_rpc"] = chunks * (copies - 1) / max(load["follower_fetches"], 1)
    return found


def figures(measured: Measured) -> dict[str, float]:
    """A run's metrics by the names of `bench.results`: latencies in ms, values' bytes, 1 GB = 1e9."""
    load = measured.load
    gigabytes, millions = load["acked_bytes"] / 1e9, load["acked_records"] / 1e6
    found = {
        "broker_cpu_s": measured.broker_cpu_s,
        "cpu_s_per_gb": measured.broker_cpu_s / gigabytes,
        "cpu_s_per_million": measured.broker_cpu_s / millions,
        "mb_per_s": gigabytes * 1e3 / load["seconds"],
        "records_per_s": load["acked_records"] / load["seconds"],
        "client_cpu_s": load["generator_cpu_s"],
        "client_cpu_s_per_gb": load["generator_cpu_s"] / gigabytes,
        "client_cpu_s_per_million": load["generator_cpu_s"] / millions,
        "peak_rss_mb": measured.peak_rss_bytes / 1e6,
        "stolen_percent": measured.stolen_percent,
    }
    for prefix, name in LATENCIES.items():
        for quantile in ("p50", "p99", "p999", "max"):
            if load[name] is not None:
                found[f"{prefix}_{quantile}_ms"] = load[name][quantile] / 1e3
    if "records_per_chunk" in measured.more:
        chunks = load["acked_records"] / measured.more["records_per_chunk"]
        found["cpu_us_per_chunk"] = measured.broker_cpu_s / chunks * 1e6
    if measured.ready_s is not None:
        found["topics_ready_s"] = measured.ready_s
    return {**found, **measured.more}


def quantiles(measured: Measured) -> dict[str, dict[str, float]]:
    """A run's `quantiles` by the names of `bench.results`, ms."""
    percents = {"p50": "50", "p90": "90", "p99": "99", "p999": "99.9", "max": "100"}
    return {
        f"{prefix}_ms": {text: measured.load[name][key] / 1e3 for key, text in percents.items()}
        for prefix, name in LATENCIES.items()
        if measured.load[name] is not None
    }


def parameters(load: Load, measured: Measured) -> dict[str, Any]:
    """A run's: the load, with the warm-up that it had."""
    warmup = measured.load.get("warmup_seconds", load.warmup_seconds)
    return asdict(load) | {"warmup_seconds": warmup}


def series(measured: Measured) -> dict[str, list[list[float]]]:
    """A run's `series` by the names of `bench.results`: seconds since the load began, warm-up included."""
    rows = measured.load.get("per_second", [])
    found = {
        "records_per_s": [[second, acked] for second, acked, *_ in rows],
        "consumed_per_s": [[second, consumed] for second, _, consumed, *_ in rows],
    }
    if slowest := [[second, worst / 1e3] for second, _, _, *rest in rows for worst in rest]:
        found["publish_max_ms"] = slowest
    return found


def measure(
    broker: Target,
    load: Load,
    during: Callable[[int, float], None] | None = None,
    topics: Topics | None = None,
    ended: Callable[[], None] | None = None,
) -> Measured:
    """Run a load. `during(pid, seconds)` is called when the measured part begins (a profiler starts there),
    `ended` at its end.

    ``topics`` are those of the load and stay; without, new ones are made and deleted again.
    Raises RuntimeError with the generator's output when it fails, when nothing was acknowledged, or when an
    acked record was not consumed.
    """
    if topics is not None:
        return _measure(broker, load, topics, during, ended)
    own = Topics(broker, load.topics, load.partitions, load.replicas)
    ready_s = own.create(load.value_bytes)
    try:
        return replace(_measure(broker, load, own, during, ended), ready_s=ready_s)
    finally:
        own.delete()


def _measure(
    broker: Target,
    load: Load,
    topics: Topics,
    during: Callable[[int, float], None] | None,
    ended_hook: Callable[[], None] | None,
) -> Measured:
    command = ["java", "-Xms1G", f"-Xmx{load.heap_mb}M", "-cp", generator_classpath(), "LoadGenerator"]
    command += [f"bootstrap={broker.bootstrap}", f"topic={topics.name}", *load.arguments()]
    if broker.name == ApacheKafka.name:
        command.append(f"jvms={','.join(map(str, broker.pids))}")
    begin = end = broker.usage()
    began = ended = withheld = 0.0
    stolen = Stolen()
    result: dict[str, Any] | None = None
    with tempfile.TemporaryFile("w+") as errors:
        with exact_timers():
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
            )
        try:
            for line in process.stdout or ():
                if line.startswith("BEGIN"):
                    begin, began, stolen = broker.usage(), time.monotonic(), Stolen()
                    broker.reset_peak()
                    if during is not None:
                        during(broker.pid, load.seconds)
                elif line.startswith("END"):
                    end, ended, withheld = broker.usage(), time.monotonic(), stolen.percent()
                    if ended_hook is not None:
                        ended_hook()
                elif line.startswith("RESULT "):
                    result = json.loads(line.removeprefix("RESULT "))
            code = process.wait()
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()
        errors.seek(0)
        if code or result is None:
            raise RuntimeError(
                f"the load generator failed ({code}) on {broker.name}:\n{errors.read()[-4000:]}"
            )
    if not result["acked_records"]:
        raise RuntimeError(f"{broker.name}: nothing was acknowledged in {load.seconds:g} s")
    if load.consumers and result["acked_total"] != result["consumed_total"]:
        raise RuntimeError(
            f"{broker.name}: {result['acked_total']} acked, {result['consumed_total']} consumed"
        )
    more = rpcs(result, load.value_bytes, load.replicas)
    cpu_s = end.cpu_s - begin.cpu_s
    return Measured(result, cpu_s, ended - began, end.peak_rss_bytes, withheld, more=more)
