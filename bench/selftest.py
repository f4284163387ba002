"""``kproto bench selftest``: what the load worker reaches against a sink that does nothing.

Where a broker comes near these figures, the clients are the limit and not the broker. For each size of
records: as fast as a worker produces, and as fast as one consumes; and fixed rates, whose latencies are what
the client, the loopback and the machine take by themselves: no broker answers sooner. The sink is
java/NullSink.java.
"""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from bench import options
from bench.brokers import usage
from bench.environment import environment
from bench.jars import null_sink_classpath
from bench.results import Result, Run
from bench.workers import FASTEST, PUBLISH, Spec, Taken, Workers

SYSTEM = "null sink"
TOPIC = "nowhere"
PARTITIONS = 16
SIZES = (100, 1024, 16 * 1024, 64 * 1024)
BATCH_BYTES = 131_072
CONSUMER = {"max.partition.fetch.bytes": str(1 << 20)}
PRODUCE, CONSUME = "produce", "consume"

SHOWN = ["records_per_s", "mb_per_s", "client_cores", "sink_cores", "publish_p50_ms", "publish_p99_ms"]


@dataclass(frozen=True, slots=True)
class Load:
    """What a worker does to the sink."""

    mode: str
    value_bytes: int
    rate: float = FASTEST
    """Records per second."""
    linger_ms: int = 1

    @property
    def case(self) -> str:
        size = f"{self.value_bytes // 1024} KB" if self.value_bytes >= 1024 else f"{self.value_bytes} B"
        fast = self.rate == FASTEST
        return f"{self.mode} {size}" if fast else f"{self.rate:.0f}/s {size}, linger {self.linger_ms}"

    @property
    def producer(self) -> dict[str, str]:
        """Configs."""
        return {"acks": "all", "linger.ms": str(self.linger_ms), "batch.size": str(BATCH_BYTES)}

    def specs(self, workers: int, bootstrap: str) -> list[Spec]:
        """One producer, or one consumer of all partitions, for each worker."""
        common = {"bootstrap.servers": bootstrap}
        if self.mode == CONSUME:
            reader = {"topic": TOPIC, "partitions": list(range(PARTITIONS))}
            return [Spec(common, consumer=CONSUMER, consumers=[reader])] * workers
        payload = {"bytes": self.value_bytes}
        return [Spec(common, producer=self.producer, producers=[{"topic": TOPIC}], payload=payload)] * workers


LOADS = (
    *(Load(mode, size) for mode in (PRODUCE, CONSUME) for size in SIZES),
    *(Load(PRODUCE, 1024, rate, 0) for rate in (2_000, 20_000)),
    Load(PRODUCE, 1024, 5_000),
)
"""The fixed rates are those at which the other suites ask for latencies."""


@dataclass(frozen=True, slots=True)
class Sink:
    """A running sink."""

    bootstrap: str
    pid: int


@contextlib.contextmanager
def sink(value_bytes: int) -> Iterator[Sink]:
    """A sink whose fetches give values of that size. Raises RuntimeError when it does not start."""
    command = ["java", "-Xms512M", "-Xmx512M", "-cp", null_sink_classpath(), "NullSink"]
    command += [str(PARTITIONS), str(value_bytes), str(BATCH_BYTES)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            port = process.stdout.readline().strip() if process.stdout else ""
            if not port:
                raise RuntimeError("the null sink did not start")
            yield Sink(f"127.0.0.1:{port}", process.pid)
        finally:
            process.kill()


def figures(load: Load, before: Taken, after: Taken, sink_cpu_s: float) -> dict[str, float]:
    """Throughput, cores used by the worker and by the sink, latencies at a fixed rate."""
    during = after.counters.minus(before.counters)
    count = during.received if load.mode == CONSUME else during.acked
    size = during.received_bytes if load.mode == CONSUME else during.acked_bytes
    found = {
        "records_per_s": count / during.seconds,
        "mb_per_s": size / 1e6 / during.seconds,
        "client_cores": during.cpu_s / during.seconds,
        "client_cpu_s_per_million": during.cpu_s * 1e6 / max(count, 1),
        "sink_cores": sink_cpu_s / during.seconds,
        "sent_errors": float(during.errors),
    }
    if load.rate != FASTEST:
        half, late, later = after.histograms[PUBLISH].percentiles((50, 99, 99.9))
        found |= {
            "publish_p50_ms": half / 1000,
            "publish_p99_ms": late / 1000,
            "publish_p999_ms": later / 1000,
        }
    return found


def measure(load: Load, workers: int, warmup_s: float, seconds: float) -> Run:
    """One run. Raises RuntimeError when worker or sink fail."""
    with sink(load.value_bytes) as target, Workers(workers) as processes:
        processes.open(load.specs(workers, target.bootstrap))
        processes.rate(load.rate)
        time.sleep(warmup_s)
        before, used = processes.take(), usage(target.pid)
        time.sleep(seconds)
        after = processes.take()
        cpu_s = usage(target.pid).cpu_s - used.cpu_s
        processes.rate(0)
        if after.counters.errors:
            raise RuntimeError(f"{after.counters.errors} errors: {after.counters.first_error}")
    parameters = {
        "message_bytes": load.value_bytes,
        "workers": workers,
        "seconds": seconds,
        "producer": load.producer,
    }
    return Run(SYSTEM, load.case, 0, parameters, figures(load, before, after, cpu_s))


@click.command()
@options.quick_option
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="Load processes.")
@options.seconds_option
@options.out_option
def command(quick: bool, workers: int, seconds: float | None, out: Path) -> None:
    """What the load generator reaches by itself, against a broker that does nothing."""
    screen = options.console()
    length, warmup_s = seconds or (3.0 if quick else 10.0), 3.0 if quick else 8.0
    title = "The load generator against a sink that does nothing"
    line = options.command_line("selftest")
    result = Result("selftest", "client", title, line, environment(workers=workers), shown=SHOWN)
    for load in LOADS:
        run = measure(load, workers, warmup_s, length)
        screen.print(f"{run.case}: {run.metrics['records_per_s']:,.0f} records/s", highlight=False)
        result.runs.append(run)
        result.save(out)
    options.show(result, out, screen)
    options.finish(result)
