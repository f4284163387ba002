"""Runs java/LoadGenerator.java; reads the broker's CPU time at both ends of the measured part."""

from __future__ import annotations

import contextlib
import ctypes
import json
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from bench.brokers import Target
from bench.jars import generator_classpath

HEAP = "1G"
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
    max_bytes: float = 1e18
    producers: int = 1
    consumers: int = 1
    replicas: int = 1
    buffer_bytes: int = 0
    """Of each producer; 0: 32 MiB, or four batches of every partition. What waits there is latency."""

    def arguments(self) -> list[str]:
        return [f"{name.replace('_', '.')}={value}" for name, value in asdict(self).items()]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a run gave."""

    load: dict[str, Any]
    """The generator's RESULT: counts, latencies in microseconds."""
    broker_cpu_s: float
    wall_s: float
    peak_rss_bytes: int


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
    }
    for prefix, name in LATENCIES.items():
        for quantile in ("p50", "p99", "p999", "max"):
            if load[name] is not None:
                found[f"{prefix}_{quantile}_ms"] = load[name][quantile] / 1e3
    return found


def quantiles(measured: Measured) -> dict[str, dict[str, float]]:
    """A run's `quantiles` by the names of `bench.results`, ms."""
    percents = {"p50": "50", "p90": "90", "p99": "99", "p999": "99.9", "max": "100"}
    return {
        f"{prefix}_ms": {text: measured.load[name][key] / 1e3 for key, text in percents.items()}
        for prefix, name in LATENCIES.items()
        if measured.load[name] is not None
    }


def measure(broker: Target, load: Load, during: Callable[[int, float], None] | None = None) -> Measured:
    """Run a load. `during(pid, seconds)` is called when the measured part begins (a profiler starts there).

    Raises RuntimeError with the generator's output when it fails or when an acked record was not consumed.
    """
    topic = f"bench-{uuid.uuid4().hex[:8]}"
    command = ["java", f"-Xms{HEAP}", f"-Xmx{HEAP}", "-cp", generator_classpath(), "LoadGenerator"]
    command += [f"bootstrap={broker.bootstrap}", f"topic={topic}", *load.arguments()]
    begin = end = broker.usage()
    began = ended = 0.0
    result: dict[str, Any] | None = None
    with tempfile.TemporaryFile("w+") as errors:
        with exact_timers():
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            for line in process.stdout or ():
                if line.startswith("BEGIN"):
                    begin, began = broker.usage(), time.monotonic()
                    broker.reset_peak()
                    if during is not None:
                        during(broker.pid, load.seconds)
                elif line.startswith("END"):
                    end, ended = broker.usage(), time.monotonic()
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
    if load.consumers and result["acked_total"] != result["consumed_total"]:
        raise RuntimeError(
            f"{broker.name}: {result['acked_total']} acked, {result['consumed_total']} consumed"
        )
    return Measured(result, end.cpu_s - begin.cpu_s, ended - began, end.peak_rss_bytes)
