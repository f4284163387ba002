"""`kproto bench cluster`: clusters of four brokers, three copies, the same load on each in turn (A B A B).

Each is alone on the machine while it is measured, started anew and warmed up each time: four idle brokers of
Apache Kafka take a tenth of two cores.

Many partitions with small chunks and few with large ones, as in KerA's figures 8 to 13, in one topic: records
of 100 bytes, linger 1 ms, acks=all, four producers and four consumers, Java's or librdkafka's. Broker CPU is
that of all four processes together. An RPC is what carries copies: a push of kproto to a backup, a fetch of
an Apache Kafka follower. `--vlogs 1,4` measures kproto with those numbers of virtual logs per broker, one
after the other on the same cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import click
from rich.console import Console

from bench import generator, librdkafka, options, page_cache
from bench.brokers import Target
from bench.cases import FULL as SINGLE_FULL
from bench.cases import KIB, WRITTEN_TWICE, Case, Scale
from bench.cases import QUICK as SINGLE_QUICK
from bench.clusters import Cluster, KprotoCluster, running
from bench.environment import environment
from bench.generator import Load, Measured, figures, parameters, quantiles, series
from bench.results import KAFKA, KPROTO, Result, Run
from bench.topics import Topics, disk_bytes

RECORD_BYTES = 100
COPIES = 3
CHUNKS_PER_PARTITION = 8
LEAST_BUFFER, MOST_BUFFER = 1 << 20, 256 << 20
WARMUP_CPU_S = 40.0
"""CPU s that four Apache Kafka brokers use at least until they are compiled."""
WARMUP_ROUNDS = 3
"""Rounds of load that the time for it is divided into, at least."""
MOST_ROUNDS = 10
WARM = 0.9
"""Of the CPU time that a record cost in the round before: who still becomes faster is not compiled."""
SHOWN = (
    "records_per_s",
    "cpu_s_per_million",
    "client_cpu_s_per_million",
    "rpcs_per_s",
    "chunks_per_rpc",
    "publish_p50_ms",
    "publish_p99_ms",
    "peak_rss_mb",
    "disk_mb",
    "stolen_percent",
)
FULL = replace(SINGLE_FULL, seconds=10, pairs=2)
QUICK = replace(SINGLE_QUICK, max_bytes=FULL.max_bytes)
CLIENTS: Mapping[str, Callable[..., Measured]] = {
    "java": generator.measure,
    "librdkafka": librdkafka.measure,
}


def buffer_bytes(partitions: int, chunk_bytes: int) -> int:
    """What a producer may hold: five chunks of each partition on their way, three that fill.

    A Java producer whose buffer is exhausted sends all chunks as they are: with two per partition they held 2
    records instead of 9, four times the work for the same records. With 32 MB, the default, records would
    wait for seconds instead.
    """
    return max(LEAST_BUFFER, min(MOST_BUFFER, CHUNKS_PER_PARTITION * chunk_bytes * partitions))


def case(partitions: int, chunk_bytes: int, most_cpu: float) -> Case:
    """With the most CPU per record and the least throughput that kproto may have beside Apache Kafka."""
    load = Load(
        RECORD_BYTES,
        chunk_bytes,
        partitions,
        linger_ms=1,
        producers=4,
        consumers=4,
        replicas=COPIES,
        buffer_bytes=buffer_bytes(partitions, chunk_bytes),
    )
    size = f"{chunk_bytes // KIB}KB" if chunk_bytes < KIB * KIB else "1MB"
    least = 3.0 if chunk_bytes == KIB else 1.0
    targets = {"cpu_s_per_million": most_cpu, "records_per_s": least}
    return Case(f"rf3-{partitions}p-{size}", load, targets)


CASES = (
    case(128, KIB, 1 / 10),
    case(512, KIB, 1 / 10),
    case(32, 16 * KIB, 1 / 5),
    case(32, 64 * KIB, 1 / 2),
    case(32, 1024 * KIB, 1 / 2),
)


@dataclass(slots=True)
class Replication:
    """What a kproto cluster pushed to backups in the measured part."""

    count: Callable[[], Mapping[str, float]]
    """What was pushed so far; nothing for Apache Kafka."""
    _before: Mapping[str, float] = field(default_factory=dict)
    _after: Mapping[str, float] = field(default_factory=dict)

    def begin(self, _pid: int = 0, _seconds: float = 0) -> None:
        """Count from now."""
        self._before = self.count()

    def end(self) -> None:
        """Until now."""
        self._after = self.count()

    def metrics(self, seconds: float, copies: int) -> dict[str, float]:
        """Nothing where nothing was pushed. A push is an RPC to each backup of its virtual segment."""
        done = {name: self._after[name] - self._before.get(name, 0) for name in self._after}
        if not done.get("pushes"):
            return {}
        return {
            "rpcs_per_s": (copies - 1) * done["pushes"] / seconds,
            "chunks_per_rpc": done["chunks"] / done["pushes"],
            "kb_per_rpc": done["bytes"] / done["pushes"] / 1e3,
        }


def run_once(
    target: Cluster,
    system: str,
    case_name: str,
    pair: int,
    load: Load,
    topics: Topics | None = None,
    client: str = "java",
) -> Run:
    """One run the clients' figures, the brokers', what was replicated, what disks hold."""
    watch = Replication(target.pushes if isinstance(target, KprotoCluster) else dict)
    page_cache.fill(target.directory)
    before = disk_bytes(target.directory)
    measured = CLIENTS[client](target, load, watch.begin, topics, watch.end)
    grown = max(disk_bytes(target.directory) - before, 0) if topics is not None else None
    metrics = {**figures(measured), **watch.metrics(measured.wall_s, load.replicas)}
    if grown is not None:
        metrics["disk_mb"] = grown / 1e6
        metrics["disk_bytes_per_value_byte"] = grown / max(measured.load["acked_total"] * load.value_bytes, 1)
    asked = parameters(load, measured) | {"client": client}
    return Run(system, case_name, pair, asked, metrics, series(measured), quantiles(measured))


def warm_up(clusters: Mapping[str, Cluster], load: Load, seconds: float, console: Console) -> None:
    """Load on new clusters until the JVMs among them have compiled themselves, by the CPU time they took and
    by what a record costs, which is twice as much in the first half minute. None in no ``seconds``."""
    for name, cluster in clusters.items() if seconds else ():
        console.print(f"warming up {cluster.name}")
        topics = Topics(cluster, load.topics, load.partitions, load.replicas)
        topics.create(load.value_bytes)
        compiled = name == KAFKA
        wanted = seconds / WARMUP_ROUNDS if compiled else min(seconds, 3.0)
        rounds: list[tuple[float, float]] = []
        while not rounds or (compiled and not warm(rounds, min(WARMUP_CPU_S, seconds * 4 / 3))):
            measured = generator.measure(
                cluster, replace(load, seconds=wanted, warmup_seconds=0), topics=topics
            )
            taken = max(measured.load["acked_records"], 1)
            rounds.append((measured.broker_cpu_s, measured.broker_cpu_s / taken))
        topics.delete()


def warm(rounds: Sequence[tuple[float, float]], least: float) -> bool:
    """Whether brokers that took these CPU s, altogether and per record, in rounds of load are
    compiled: after ``least`` CPU s, when a record costs about what it did in the round before."""
    if len(rounds) >= MOST_ROUNDS:
        return True
    costs = [cost for _, cost in rounds]
    return len(costs) > 1 and sum(spent for spent, _ in rounds) >= least and costs[-1] >= costs[-2] * WARM


def names(system: str, vlogs: tuple[int, ...]) -> list[tuple[str, int]]:
    """What a system is called in results, for each number of virtual logs per broker (0: it has none)."""
    if system == KAFKA:
        return [(KAFKA, 0)]
    several = len(vlogs) > 1
    return [(f"{KPROTO}, {n} vlog{'s' if n > 1 else ''}" if several else KPROTO, n) for n in vlogs]


def create(target: Target, load: Load, configs: Mapping[str, str] | None = None) -> tuple[Topics, float]:
    """The load's topics, ready, and how many seconds that took."""
    topics = Topics(target, load.topics, load.partitions, load.replicas, configs)
    return topics, topics.create(load.value_bytes)


def measure_case(
    cluster: Cluster,
    system: str,
    chosen: Case,
    pair: int,
    scale: Scale,
    vlogs: tuple[int, ...],
    client: str,
    result: Result,
    out: Path,
    console: Console,
) -> None:
    """A case on one system, with topics of its own: once, or for each number of virtual logs."""
    load = replace(
        chosen.load,
        seconds=scale.seconds,
        warmup_seconds=scale.warmup_seconds,
        steady_seconds=scale.steady_seconds if client == "java" else 0,
        max_bytes=scale.max_bytes,
    )
    made: tuple[Topics, float] | None = None
    for name, number in names(system, vlogs):
        with options.noted(f"{chosen.name} on {name}", result.notes, console):
            topics, ready_s = made = made or create(cluster, load)
            if isinstance(cluster, KprotoCluster):
                cluster.set_vlogs(number)
            run = run_once(cluster, name, chosen.name, pair, load, topics, client)
            run.metrics["topics_ready_s"] = ready_s
            result.runs.append(run)
            shown = ", ".join(f"{key} {run.metrics[key]:.4g}" for key in SHOWN if key in run.metrics)
            console.print(f"{chosen.name} {name}: {shown}", highlight=False)
        result.save(out)
    if made is not None:
        with options.noted(f"deleting the topics of {chosen.name} on {system}", result.notes, console):
            made[0].delete()


@click.command()
@options.quick_option
@options.pairs_option
@options.seconds_option
@click.option(
    "--warmup",
    type=options.NOT_NEGATIVE,
    default=30,
    show_default=True,
    help="Seconds of load before anything.",
)
@options.steady_option
@click.option("--case", "patterns", multiple=True, help="Only cases whose name contains this.")
@click.option("--client", type=click.Choice(sorted(CLIENTS)), default="java", show_default=True)
@click.option(
    "--vlogs",
    callback=options.listed(int),
    default="1",
    show_default=True,
    help="kproto.vlogs.per.broker: numbers with commas.",
)
@options.settings_option
@options.only_option
@options.data_dir_option
@options.out_option
def command(
    quick: bool,
    pairs: int | None,
    seconds: float | None,
    warmup: float,
    steady: float | None,
    patterns: tuple[str, ...],
    client: str,
    vlogs: str,
    given: dict[str, str],
    only: str | None,
    data_dir: Path | None,
    out: Path,
) -> None:
    """CPU and throughput of four brokers with three copies, Apache Kafka and kproto in turn."""
    usual = QUICK if quick else FULL
    measured_s = seconds or usual.seconds
    scale = replace(
        options.asked(usual, pairs=pairs, steady_seconds=steady),
        seconds=measured_s,
        warmup_seconds=min(measured_s / 2, 4),
        broker_warmup_seconds=warmup,
    )
    cases = [each for each in CASES if not patterns or any(pattern in each.name for pattern in patterns)]
    if not cases:
        raise click.UsageError(f"no such case; there are: {', '.join(each.name for each in CASES)}")
    console, numbers = options.console(), tuple(int(number) for number in vlogs.split(","))
    result = Result(
        "cluster",
        client,
        f"Four brokers, three copies, {'Java clients' if client == 'java' else 'librdkafka'}",
        options.command_line("cluster"),
        environment(scale=str(scale)),
        targets={each.name: dict(each.targets) for each in cases},
        shown=list(SHOWN),
        notes=[WRITTEN_TWICE] if client == "java" else [WRITTEN_TWICE, librdkafka.NOTE],
    )
    for pair in range(scale.pairs):
        for system in options.systems(only):
            with (
                options.workspace(data_dir) as work,
                running([system], COPIES, work, given) as clusters,
            ):
                warm_up(clusters, CASES[0].load, warmup, console)
                for each in cases:
                    measure_case(
                        clusters[system], system, each, pair, scale, numbers, client, result, out, console
                    )
    options.show(result, out, console)
    options.finish(result)
