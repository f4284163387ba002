"""The single-broker cases, what is read off them, and the targets. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bench.generator import Load

BATCH_OVERHEAD = 96
"""Batch header, record head and the client's reserve: a value this much smaller fills its batch alone."""

KIB = 1024

WRITTEN_TWICE = (
    "kproto writes small chunks twice, into the journal and later, in large pieces, into their segment file; "
    "the journal's files are used again once that has happened. Of topics with one copy, large ones go to "
    "the segment file at once."
)
"""What disk_mb of kproto has in it; a note of the results that show it."""


@dataclass(frozen=True, slots=True)
class Case:
    """A load with a name, and the most kproto may take of what Apache Kafka takes, by metric."""

    name: str
    load: Load
    targets: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Scale:
    """How long and how often."""

    seconds: float
    warmup_seconds: float
    steady_seconds: float
    """See `bench.generator.Load`."""
    broker_warmup_seconds: float
    """Of load on a fresh broker before anything is measured: the JVM compiles itself."""
    pairs: int
    max_bytes: float
    """A throughput run ends early after this much."""


FULL = Scale(
    seconds=15, warmup_seconds=4, steady_seconds=60, broker_warmup_seconds=30, pairs=3, max_bytes=4e9
)
QUICK = Scale(
    seconds=5, warmup_seconds=2, steady_seconds=0, broker_warmup_seconds=8, pairs=1, max_bytes=1.5e9
)

WARMUP_OF_RATES = 20
"""Seconds longer: until its JVM has compiled it, the load falls up to half a second behind its schedule, and
its compiler takes one core for ten seconds and more, which on two cores is the other one's latency."""

CPU_PER_GB_TARGETS = {16 * KIB: 1 / 5, 64 * KIB: 1 / 3, 1024 * KIB: 1 / 2}


def size_name(size: int) -> str:
    return f"{size // (KIB * KIB)}MB" if size >= KIB * KIB else f"{size // KIB}KB"


def throughput_case(partitions: int, batch_bytes: int) -> Case:
    """As fast as it goes, one record per batch."""
    target = CPU_PER_GB_TARGETS.get(batch_bytes)
    load = Load(value_bytes=batch_bytes - BATCH_OVERHEAD, batch_bytes=batch_bytes, partitions=partitions)
    name = f"{partitions}p-{size_name(batch_bytes)}"
    return Case(name, load, {} if target is None else {"cpu_s_per_gb": target})


def small_records_case(partitions: int) -> Case:
    """As fast as it goes, records of 100 bytes, about 150 in a batch of 16 KB."""
    return Case(f"{partitions}p-16KB-100B", Load(100, 16 * KIB, partitions, linger_ms=5), {})


def rate_case(rate: int, linger_ms: int) -> Case:
    """A fixed rate of 1 KB records into one partition."""
    share = 1.0 if linger_ms else 0.5
    targets = {"cpu_s_per_million": 1 / 3, "publish_p50_ms": share, "publish_p99_ms": share}
    load = Load(value_bytes=KIB, batch_bytes=16 * KIB, rate=rate, linger_ms=linger_ms)
    return Case(f"{rate}/s-linger{linger_ms}", load, targets)


THROUGHPUT_METRICS = [
    "cpu_s_per_gb",
    "cpu_s_per_million",
    "mb_per_s",
    "publish_p50_ms",
    "publish_p99_ms",
    "peak_rss_mb",
    "client_cpu_s_per_gb",
]
RATE_METRICS = [
    "cpu_s_per_million",
    *(f"{kind}_{quantile}_ms" for kind in ("publish", "e2e") for quantile in ("p50", "p99", "p999")),
    "peak_rss_mb",
    "client_cpu_s_per_million",
    "stolen_percent",
]

CASES: tuple[Case, ...] = (
    *(throughput_case(p, size) for p in (1, 64) for size in (KIB, 16 * KIB, 64 * KIB, 1024 * KIB)),
    *(small_records_case(p) for p in (1, 64)),
    *(rate_case(rate, linger) for rate in (2_000, 20_000) for linger in (1, 0)),
)


def scaled(case: Case, scale: Scale) -> Load:
    """The load of a case at a scale."""
    warmup = scale.warmup_seconds + (WARMUP_OF_RATES if case.load.rate else 0)
    return replace(
        case.load,
        seconds=scale.seconds,
        warmup_seconds=warmup,
        steady_seconds=scale.steady_seconds,
        max_bytes=scale.max_bytes,
    )
