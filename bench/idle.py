"""`kproto bench idle`: what four idle brokers with 5,000 partitions of three copies use.

The topic is created, one record is written into every partition, and nothing happens any more. After a
rest (`--rest` seconds, for what follows a write): CPU time of all brokers over `--seconds`, wake-ups, and
memory: resident size, summed, and PSS (pages shared with others count in part). Both systems in turn.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

import click

from bench import options
from bench.brokers import usage
from bench.clusters import Cluster, running
from bench.environment import environment
from bench.rawclient import one_record_batch
from bench.results import Result, Run
from bench.spread import create, write

TOPIC = "idle"
COPIES = 3
LIMITS = {"cores": 0.05, "rss_mb": 600.0}
"""Of all four brokers of kproto."""


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


def measure(cluster: Cluster, partitions: int, rest: float, seconds: float) -> dict[str, float]:
    """Of all brokers together, just started; see the module's text."""
    time.sleep(2)
    found = {"empty_rss_mb": sum(usage(pid).rss_bytes for pid in cluster.pids) / 1e6}
    begin = time.monotonic()
    create(cluster.bootstrap, TOPIC, partitions, COPIES)
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
    changes = [(now[0] - then[0], now[1] - then[1]) for now, then in zip(after, before, strict=True)]
    found["cores"] = sum(cpu_s for cpu_s, _ in changes) / took
    found["wakeups_per_s"] = sum(switched for _, switched in changes) / took
    sizes = [usage(pid) for pid in pids]
    found["rss_mb"] = sum(size.rss_bytes for size in sizes) / 1e6
    found["peak_rss_mb"] = sum(size.peak_rss_bytes for size in sizes) / 1e6
    found["pss_mb"] = sum(own_mb(pid) for pid in pids)
    return found


@click.command()
@options.quick_option
@options.pairs_option
@click.option("--partitions", type=click.IntRange(1), help="5,000, or 500 with --quick.")
@click.option("--seconds", type=options.ABOVE_ZERO, help="Measured seconds: 30, or 10 with --quick.")
@click.option(
    "--rest",
    type=options.NOT_NEGATIVE,
    help="Seconds between the last write and that: 30, or 5 with --quick.",
)
@options.only_option
@options.data_dir_option
@options.out_option
def command(
    quick: bool,
    pairs: int | None,
    partitions: int | None,
    seconds: float | None,
    rest: float | None,
    only: str | None,
    data_dir: Path | None,
    out: Path,
) -> None:
    """CPU and memory of four idle brokers."""
    partitions = partitions or (500 if quick else 5_000)
    seconds, usual_s = seconds or (10 if quick else 30), 5 if quick else 30
    rest = usual_s if rest is None else rest
    case, line = f"{partitions:,} partitions", options.command_line("idle")
    result = Result("idle", "idle", "Four idle brokers, three copies", line, environment())
    result.limits[case] = dict(LIMITS)
    about, screen = {"partitions": partitions, "seconds": seconds, "rest_s": rest}, options.console()
    for pair in range(pairs or 1):
        for kind in options.systems(only):
            screen.print(f"{case} on {kind}, pair {pair + 1}", highlight=False)
            with options.noted(f"{case} on {kind}", result.notes, screen):
                with options.workspace(data_dir) as work, running([kind], COPIES, work) as clusters:
                    figures = measure(clusters[kind], partitions, rest, seconds)
                result.runs.append(Run(kind, case, pair, about, figures))
            result.save(out)
    options.show(result, out, screen)
    options.finish(result)
