"""`kproto bench single`: Apache Kafka and kproto in turn, the same load on each.

Both brokers run throughout, on data directories of their own side by side; only one is under load at a time,
and the two take turns run by run (A B A B), so that whatever else the machine does falls on both. A run makes
a new topic and deletes it.

Batch sizes: the value of a record fills its batch (one record a batch): the least work per byte for a broker
that looks into batches, as Apache Kafka does, and so the harder comparison; `*-100B` cases have 100-byte
records. The producer is the Java client with acks=all, idempotent, its defaults otherwise. A consumer of all
partitions reads along. Fixed rates: 1 KB records.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console

from bench import options, page_cache
from bench.cases import CASES, FULL, QUICK, RATE_METRICS, THROUGHPUT_METRICS, Case, Scale, scaled
from bench.clusters import Cluster, running
from bench.environment import environment
from bench.generator import Load, Measured, figures, measure, parameters, quantiles, series
from bench.results import KPROTO, Result, Run, in_short

ATTEMPTS = 3
"""Of one run of a case on one system, before it is left out."""
PARTS = {
    "throughput": ("One broker, as fast as it goes", THROUGHPUT_METRICS),
    "rate": ("One broker at a fixed rate", RATE_METRICS),
}


def chosen(patterns: tuple[str, ...]) -> list[Case]:
    """The cases whose name contains one of the patterns; all without patterns."""
    found = [case for case in CASES if not patterns or any(pattern in case.name for pattern in patterns)]
    if not found:
        raise click.UsageError(f"no such case; there are: {', '.join(case.name for case in CASES)}")
    return found


def profiler(target: Path) -> Callable[[int, float], None]:
    """A hook: py-spy looks at the broker for the measured part, into `target` (raw stacks with counts)."""
    program = shutil.which("py-spy", path=str(Path(sys.executable).parent)) or "py-spy"

    def begin(pid: int, seconds: float) -> None:
        command = [program, "record", "--pid", str(pid), "--duration", str(max(1, int(seconds) - 1))]
        command += ["--gil", "--format", "raw", "--rate", "500", "--output", str(target)]
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    return begin


def warm_up(brokers: dict[str, Cluster], scale: Scale, console: Console) -> None:
    """Load on both before anything is measured; the JVM broker compiles itself meanwhile."""
    third = scale.broker_warmup_seconds / 3
    for kind, broker in brokers.items():
        page_cache.fill(broker.directory)
        seconds = third if kind == "kafka" else min(third, 2.0)
        console.print(f"warming up {broker.name}")
        for load in (Load(928, 1024), Load(16_288, 16_384, partitions=16), Load(1024, 16_384, rate=5_000)):
            measure(
                broker, Load(**{**asdict(load), "seconds": seconds, "warmup_seconds": 0, "max_bytes": 2e9})
            )


def measure_again(
    broker: Cluster, load: Load, hook: Callable[[int, float], None] | None, failures: list[str]
) -> Measured:
    """Measure; a run that fails is noted (the report shows it) and repeated, so that the pairs stay pairs.

    Raises what the last one raised when `ATTEMPTS` runs failed.
    """
    while True:
        try:
            return measure(broker, load, hook)
        except Exception as failure:
            failures.append(in_short(failure))
            if len(failures) >= ATTEMPTS:
                raise


def run_cases(
    brokers: dict[str, Cluster],
    cases: list[Case],
    scale: Scale,
    results: dict[str, Result],
    out: Path,
    profile: bool,
    console: Console,
) -> None:
    """Every case, `scale.pairs` times, the brokers in turn; its result is written after each run."""
    for case in cases:
        load, result = scaled(case, scale), results[part_of(case)]
        result.targets[case.name] = dict(case.targets)
        for pair in range(scale.pairs):
            for kind, broker in brokers.items():
                hook = None
                if profile and kind == KPROTO:
                    hook = profiler(out / f"profile-{case.name.replace('/', '-')}.txt")
                failures: list[str] = []
                with options.noted(f"{case.name} on {broker.name}", result.notes, console):
                    page_cache.fill(broker.directory)
                    run = measure_again(broker, load, hook, failures)
                    metrics = figures(run)
                    made = Run(
                        kind, case.name, pair, parameters(load, run), metrics, series(run), quantiles(run)
                    )
                    result.runs.append(made)
                    shown = ", ".join(f"{key} {metrics[key]:.4g}" for key in result.shown if key in metrics)
                    console.print(f"{case.name} on {broker.name}: {shown}", highlight=False)
                    result.notes += [f"{case.name}, repeated after a failure: {text}" for text in failures]
                result.save(out)


def part_of(case: Case) -> str:
    """The result that a case belongs to."""
    return "rate" if case.load.rate else "throughput"


def results_of(cases: list[Case], scale: Scale) -> dict[str, Result]:
    """Empty results, one for each part of the cases."""
    about = environment(scale=", ".join(f"{name} {value:g}" for name, value in asdict(scale).items()))
    line = options.command_line("single")
    return {
        name: Result("single", name, PARTS[name][0], line, about, shown=PARTS[name][1])
        for name in dict.fromkeys(part_of(case) for case in cases)
    }


@click.command()
@options.quick_option
@options.pairs_option
@options.seconds_option
@options.steady_option
@click.option("--case", "patterns", multiple=True, help="Only cases whose name contains this; repeatable.")
@options.only_option
@click.option("--profile", is_flag=True, help="Let py-spy look at kproto (costs CPU; not for figures).")
@options.data_dir_option
@options.out_option
def command(
    quick: bool,
    pairs: int | None,
    seconds: float | None,
    steady: float | None,
    patterns: tuple[str, ...],
    only: str | None,
    profile: bool,
    data_dir: Path | None,
    out: Path,
) -> None:
    """CPU, throughput and latency of a single broker, Apache Kafka and kproto in turn."""
    scale = options.asked(QUICK if quick else FULL, pairs=pairs, seconds=seconds, steady_seconds=steady)
    cases, console = chosen(patterns), options.console()
    out.mkdir(parents=True, exist_ok=True)
    results = results_of(cases, scale)
    with options.workspace(data_dir) as work, running(options.systems(only), 1, work) as brokers:
        warm_up(brokers, scale, console)
        run_cases(brokers, cases, scale, results, out, profile, console)
    for result in results.values():
        options.show(result, out, console)
    options.finish(*results.values())
