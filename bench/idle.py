"""`python -m bench.idle`: what four idle brokers with 5,000 partitions of three copies use.

The topic is created, one record is written into every partition, and nothing happens any more. After a
rest (`--rest` seconds, for what follows a write): CPU time of all brokers over `--seconds`, wake-ups, and
memory: resident size, summed, and PSS (pages shared with others count in part).
With --peer the same with Apache Kafka.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from bench.brokers import usage
from bench.clusters import KafkaCluster, KprotoCluster
from bench.rawclient import one_record_batch
from bench.spread import create, write

TOPIC = "idle"
TARGETS = {"cores": 0.05, "rss_mb": 600.0}


def own_mb(pid: int) -> float:
    """Memory of a process where every shared page counts in part."""
    rolled = Path(f"/proc/{pid}/smaps_rollup").read_text()
    found = re.search(r"^Pss:\s+(\d+) kB", rolled, re.MULTILINE)
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def switches(pid: int) -> int:
    """Times all threads of a process have slept so far: its wake-ups."""
    total = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        found = re.search(r"^voluntary_ctxt_switches:\s+(\d+)", (thread / "status").read_text(), re.MULTILINE)
        total += int(found[1]) if found else 0
    return total


def measure(
    cluster: KafkaCluster | KprotoCluster, partitions: int, rest: float, seconds: float
) -> dict[str, Any]:
    """See the module's text."""
    cluster.start()
    time.sleep(2)
    found: dict[str, Any] = {"empty_rss_mb": [usage(pid).rss_bytes / 1e6 for pid in cluster.pids]}
    begin = time.monotonic()
    create(cluster.bootstrap, TOPIC, partitions)
    found["create_s"] = time.monotonic() - begin
    write(cluster.bootstrap, TOPIC, one_record_batch(b"x" * 100))
    found["written_s"] = time.monotonic() - begin
    time.sleep(rest)
    pids = cluster.pids
    before = [(usage(pid).cpu_s, switches(pid)) for pid in pids]
    began = time.monotonic()
    time.sleep(seconds)
    took = time.monotonic() - began
    after = [(usage(pid).cpu_s, switches(pid)) for pid in pids]
    cores = [(now[0] - then[0]) / took for now, then in zip(after, before, strict=True)]
    found["cores"] = sum(cores)
    found["cores_each"] = cores
    found["wakeups_per_s_each"] = [(now[1] - then[1]) / took for now, then in zip(after, before, strict=True)]
    sizes = [usage(pid) for pid in pids]
    found["rss_mb"] = sum(size.rss_bytes for size in sizes) / 1e6
    found["rss_mb_each"] = [size.rss_bytes / 1e6 for size in sizes]
    found["peak_rss_mb"] = sum(size.peak_rss_bytes for size in sizes) / 1e6
    found["pss_mb"] = sum(own_mb(pid) for pid in pids)
    return found


def shown(value: object) -> str:
    if isinstance(value, list):
        return " ".join(f"{item:.3g}" for item in value)
    return f"{value:.3g}" if isinstance(value, float) else str(value)


@click.command()
@click.option("--partitions", default=5_000, show_default=True)
@click.option("--seconds", default=30.0, show_default=True, help="Measured seconds.")
@click.option("--rest", default=30.0, show_default=True, help="Seconds between the last write and that.")
@click.option("--peer", is_flag=True, help="Also Apache Kafka.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Where the brokers keep their data.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("out/bench"), show_default=True)
def main(partitions: int, seconds: float, rest: float, peer: bool, data_dir: Path | None, out: Path) -> None:
    """CPU and memory of four idle brokers."""
    console = Console()
    results: dict[str, Any] = {}
    for kind in ("kproto", "kafka") if peer else ("kproto",):
        work = Path(tempfile.mkdtemp(prefix="kproto-bench-", dir=data_dir))
        cluster = KprotoCluster(work / kind) if kind == "kproto" else KafkaCluster(work / kind)
        try:
            results[kind] = measure(cluster, partitions, rest, seconds)
        finally:
            cluster.stop()
            shutil.rmtree(work, ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    (out / "idle.json").write_text(json.dumps({"partitions": partitions, **results}, indent=1))
    table = Table("figure", *results, "target")
    for name in dict.fromkeys(name for part in results.values() for name in part):
        row = (shown(part.get(name, "-")) for part in results.values())
        table.add_row(name, *row, shown(TARGETS.get(name, "")))
    console.print(table)


if __name__ == "__main__":
    main()
