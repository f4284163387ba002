"""`python -m bench.cluster`: clusters of four brokers, three copies, the same load on each in turn (A B A B).

The cases of KerA's figures 8 to 13: many partitions with small chunks, records of 100 bytes, linger 1 ms,
acks=all, four producers and four consumers. Broker CPU is that of all four processes together. `--vlogs` runs
kproto once for each number of virtual logs per broker; chunks per push and pushes per second are printed.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from bench.cases import KIB, Case, Scale
from bench.clusters import KafkaCluster, KprotoCluster
from bench.environment import environment
from bench.generator import Load, measure
from bench.report import markdown, metrics, tables

RECORD_BYTES = 100


def case(partitions: int, chunk_bytes: int, most_cpu: float) -> Case:
    load = Load(
        RECORD_BYTES,
        chunk_bytes,
        partitions,
        linger_ms=1,
        producers=4,
        consumers=4,
        replicas=3,
        buffer_bytes=max(1 << 20, 2 * chunk_bytes * partitions),
    )
    size = f"{chunk_bytes // KIB}KB" if chunk_bytes < KIB * KIB else "1MB"
    return Case(f"rf3-{partitions}p-{size}", load, {"cpu_s_per_million": most_cpu})


CASES = (
    case(128, KIB, 1 / 10),
    case(512, KIB, 1 / 10),
    case(32, 16 * KIB, 1 / 5),
    case(32, 64 * KIB, 1 / 2),
    case(32, 1024 * KIB, 1 / 2),
)


def run(
    target: KafkaCluster | KprotoCluster, load: Load, runs: list[dict[str, Any]], console: Console
) -> None:
    """One run; what was replicated with it is kept, too."""
    before = target.pushes() if isinstance(target, KprotoCluster) else {}
    measured = measure(target, load)
    figures = metrics(measured.load, measured.broker_cpu_s, measured.peak_rss_bytes)
    if isinstance(target, KprotoCluster):
        after = target.pushes()
        pushes = max(after["pushes"] - before["pushes"], 1)
        figures["chunks_per_push"] = (after["chunks"] - before["chunks"]) / pushes
        figures["bytes_per_push"] = (after["bytes"] - before["bytes"]) / pushes
        figures["pushes_per_s"] = pushes / (load.warmup_seconds + load.seconds)
    runs.append({**asdict(measured), "metrics": figures})
    shown = {name: round(value, 3) for name, value in figures.items()}
    console.print(f"{target.name}: {shown}")


@click.command()
@click.option("--pairs", type=int, default=2, show_default=True, help="Runs of each case on each cluster.")
@click.option("--seconds", type=float, default=10, show_default=True, help="Measured seconds of a run.")
@click.option("--warmup", type=float, default=30, show_default=True, help="Seconds of load before anything.")
@click.option("--case", "patterns", multiple=True, help="Only cases whose name contains this.")
@click.option("--only", type=click.Choice(["kafka", "kproto"]), help="Only one of the clusters.")
@click.option("--vlogs", default="1", show_default=True, help="kproto.vlogs.per.broker: numbers with commas.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Where the brokers keep their data.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("out/bench"), show_default=True)
def main(
    pairs: int,
    seconds: float,
    warmup: float,
    patterns: tuple[str, ...],
    only: str | None,
    vlogs: str,
    data_dir: Path | None,
    out: Path,
) -> None:
    """CPU and throughput of four brokers with three copies, Apache Kafka and kproto in turn."""
    scale = Scale(seconds, min(seconds / 2, 4), warmup, pairs, 4e9)
    console = Console(width=None if sys.stdout.isatty() else 160)
    cases = [each for each in CASES if not patterns or any(pattern in each.name for pattern in patterns)]
    out.mkdir(parents=True, exist_ok=True)
    for number in vlogs.split(","):
        results: dict[str, Any] = {
            "environment": environment(scale=str(scale)),
            "vlogs": int(number),
            "cases": {},
        }
        work = Path(tempfile.mkdtemp(prefix="kproto-bench-", dir=data_dir))
        clusters: dict[str, KafkaCluster | KprotoCluster] = {}
        try:
            if only != "kproto":
                clusters["kafka"] = KafkaCluster(work / "kafka")
            if only != "kafka":
                clusters["kproto"] = KprotoCluster(work / "kproto", {"kproto.vlogs.per.broker": number})
            for each in clusters.values():
                each.start()
                first = replace(
                    cases[0].load, seconds=warmup if each.name != "kproto" else 3, warmup_seconds=0
                )
                measure(each, first)
            _cases(clusters, cases, scale, results, console)
        finally:
            for each in clusters.values():
                each.stop()
            shutil.rmtree(work, ignore_errors=True)
        name = f"cluster-{number}-vlogs"
        (out / f"{name}.json").write_text(json.dumps(results, indent=1))
        (out / f"{name}.md").write_text(markdown(results))
        for table in tables(results):
            console.print(table)


def _cases(
    clusters: dict[str, KafkaCluster | KprotoCluster],
    cases: list[Case],
    scale: Scale,
    results: dict[str, Any],
    console: Console,
) -> None:
    for each in cases:
        load = replace(
            each.load,
            seconds=scale.seconds,
            warmup_seconds=scale.warmup_seconds,
            max_bytes=scale.max_bytes,
        )
        entry: dict[str, Any] = {"load": asdict(load), "targets": dict(each.targets), "failures": []}
        entry["runs"] = {kind: [] for kind in clusters}
        results["cases"][each.name] = entry
        console.print(each.name)
        for _ in range(scale.pairs):
            for kind, target in clusters.items():
                run(target, load, entry["runs"][kind], console)


if __name__ == "__main__":
    main()
