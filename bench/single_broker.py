"""`python -m bench.single_broker`: Apache Kafka and kproto in turn, the same load on each.

Both brokers run throughout, on data directories of their own side by side; only one is under load at a time,
and the two take turns run by run (A B A B), so that whatever else the machine does falls on both. A run makes
a new topic and deletes it.

Batch sizes: the value of a record fills its batch (one record a batch): the least work per byte for a broker
that looks into batches, as Apache Kafka does, and so the harder comparison; `*-100B` cases have 100-byte
records. The producer is the Java client with acks=all, idempotent, its defaults otherwise. A consumer of all
partitions reads along. Fixed rates: 1 KB records.
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from bench.brokers import HEAP, KINDS, BrokerProcess
from bench.cases import CASES, FULL, QUICK, Case, Scale, scaled
from bench.generator import Load, Measured, measure
from bench.report import markdown, metrics, tables

ATTEMPTS = 3
"""Failed runs of one case before the benchmark gives up."""


def first_line(*command: str) -> str:
    """The first line a command prints, wherever it prints it."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip().split("\n")[0]


def environment(scale: Scale) -> dict[str, str]:
    """Where and how: what a reader needs to judge the figures."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    cpu = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return {
        "machine": f"{len(cpu)} x {cpu[0] if cpu else platform.machine()}, Linux {platform.release()}",
        "kproto": f"Python {platform.python_version()} ({platform.python_compiler()})",
        "Apache Kafka": f"4.3.1 as shipped, heap {HEAP}, {first_line('java', '-version')}",
        "scale": ", ".join(f"{name} {value:g}" for name, value in asdict(scale).items()),
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


def warm_up(brokers: dict[str, BrokerProcess], scale: Scale, console: Console) -> None:
    """Load on both before anything is measured; the JVM broker compiles itself meanwhile."""
    third = scale.broker_warmup_seconds / 3
    for kind, broker in brokers.items():
        seconds = third if kind == "kafka" else min(third, 2.0)
        console.print(f"warming up {broker.name}")
        for load in (Load(928, 1024), Load(16_288, 16_384, partitions=16), Load(1024, 16_384, rate=5_000)):
            measure(
                broker, Load(**{**asdict(load), "seconds": seconds, "warmup_seconds": 0, "max_bytes": 2e9})
            )


def measure_again(
    broker: BrokerProcess, load: Load, hook: Callable[[int, float], None] | None, failures: list[str]
) -> Measured:
    """Measure; a run that fails is noted (the report shows it) and repeated, so that the pairs stay pairs.

    Raises RuntimeError when `ATTEMPTS` runs failed.
    """
    while True:
        try:
            return measure(broker, load, hook)
        except RuntimeError as failure:
            failures.append(str(failure))
            if len(failures) >= ATTEMPTS:
                raise


def run_cases(
    brokers: dict[str, BrokerProcess],
    cases: list[Case],
    scale: Scale,
    results: dict[str, Any],
    out: Path,
    profile: bool,
) -> None:
    """Every case, `scale.pairs` times, the brokers in turn; the results file is written after each run."""
    columns = (TextColumn("{task.description:<32}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns) as progress:
        task = progress.add_task("", total=len(cases) * scale.pairs * len(brokers))
        for case in cases:
            load = scaled(case, scale)
            entry: dict[str, Any] = {"load": asdict(load), "targets": dict(case.targets), "failures": []}
            entry["runs"] = {kind: [] for kind in brokers}
            results["cases"][case.name] = entry
            for _ in range(scale.pairs):
                for kind, broker in brokers.items():
                    progress.update(task, description=f"{case.name} on {broker.name}")
                    hook = None
                    if profile and kind == "kproto":
                        hook = profiler(out / f"profile-{case.name.replace('/', '-')}.txt")
                    run = measure_again(broker, load, hook, entry["failures"])
                    figures = metrics(run.load, run.broker_cpu_s, run.peak_rss_bytes)
                    entry["runs"][kind].append({**asdict(run), "metrics": figures})
                    (out / "single_broker.json").write_text(json.dumps(results, indent=1))
                    progress.advance(task)


@click.command()
@click.option("--quick", is_flag=True, help="Short runs, one pair: to see whether it works, not for figures.")
@click.option("--pairs", type=int, help="Runs of each case on each broker.")
@click.option("--seconds", type=float, help="Measured seconds of a run.")
@click.option(
    "--case", "patterns", multiple=True, help="Only cases whose name contains this; may be repeated."
)
@click.option("--only", type=click.Choice(sorted(KINDS)), help="Only one of the brokers.")
@click.option("--profile", is_flag=True, help="Let py-spy look at kproto (costs CPU; not for figures).")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Where the brokers keep their data.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("out/bench"), show_default=True)
def main(
    quick: bool,
    pairs: int | None,
    seconds: float | None,
    patterns: tuple[str, ...],
    only: str | None,
    profile: bool,
    data_dir: Path | None,
    out: Path,
) -> None:
    """CPU, throughput and latency of a single broker, Apache Kafka and kproto in turn."""
    base = QUICK if quick else FULL
    scale = Scale(**{**asdict(base), "pairs": pairs or base.pairs, "seconds": seconds or base.seconds})
    cases, console = chosen(patterns), Console(width=None if sys.stdout.isatty() else 140)
    out.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {"environment": environment(scale), "cases": {}}
    work = Path(tempfile.mkdtemp(prefix="kproto-bench-", dir=data_dir))
    brokers = {kind: KINDS[kind](work / kind) for kind in ("kafka", "kproto") if only in (None, kind)}
    try:
        for broker in brokers.values():
            broker.start()
        warm_up(brokers, scale, console)
        run_cases(brokers, cases, scale, results, out, profile)
    finally:
        for broker in brokers.values():
            broker.stop()
        shutil.rmtree(work, ignore_errors=True)
    (out / "single_broker.md").write_text(markdown(results))
    for table in tables(results):
        console.print(table)
    console.print(f"written: {out / 'single_broker.json'}, {out / 'single_broker.md'}")


if __name__ == "__main__":
    main()
