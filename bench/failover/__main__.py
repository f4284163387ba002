"""`python -m bench.failover`: brokers are killed under load, round after round; nothing acked may be lost."""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
from rich.console import Console

from bench.failover.clusters import COPIES, KafkaCluster, KprotoCluster, await_whole
from bench.failover.copies import compare
from bench.failover.load import FailoverLoad
from bench.failover.report import markdown, plot, summary, table
from bench.failover.rounds import WHOLE_TIMEOUT_S, Round, Rounds, row
from compat_tests.support.topics import create_topic

TOPIC: Final = "failover"
SETTINGS: Final = {
    "group.initial.rebalance.delay.ms": "0",
    "kproto.repair.delay.ms": "1000",
    "kproto.virtual.segment.bytes": str(4 << 20),
    "kproto.segment.file.bytes": str(1 << 20),
}
"""Virtual segments are small, so that every round rolls and repairs some."""


class Counts(NamedTuple):
    """How many rounds of each kind."""

    kills: int
    all_at_once: int
    pauses: int
    keep_two: bool


class Run:
    """One cluster, its load and its results."""

    def __init__(
        self, name: str, cluster: KprotoCluster | KafkaCluster, seed: int, out: Path, console: Console
    ) -> None:
        self.cluster = cluster
        self.chance = random.Random(seed)
        self.out = out
        self.console = console
        self.results: dict[str, Any] = {"name": name, "seed": seed, "rounds": []}

    def note(self, this: Round) -> None:
        """Keep a round, whatever comes next."""
        self.results["rounds"].append(row(this))
        self.save()
        brokers = ",".join(map(str, this.victims)) + (" wiped" if this.wiped else "")
        whole = "" if this.whole_s is None else f", all copies after {this.whole_s:.1f} s"
        self.console.print(
            f"round {this.number}: {this.kind} {brokers}: longest gap {this.gap_s:.2f} s, "
            f"on return {this.return_gap_s:.2f} s{whole}; {this.records} records",
            highlight=False,
        )

    def save(self) -> None:
        """Write what there is."""
        self.results["summary"] = summary(self.results["rounds"])
        (self.out / "failover.json").write_text(json.dumps(self.results, indent=1))

    def go(self, counts: Counts, partitions: int, rate: int, work: Path) -> None:
        """All rounds, then the final check. AssertionError and TimeoutError when a promise is broken."""
        self.cluster.start(self.cluster.nodes)
        create_topic(self.cluster.bootstrap, TOPIC, partitions, replicas=COPIES)
        load = FailoverLoad(self.cluster.bootstrap, TOPIC, partitions, rate, work)
        try:
            load.await_progress()
            time.sleep(2)
            turns = Rounds(self.cluster, load, self.chance, self.note, counts.keep_two)
            kinds = [turns.kill] * counts.kills + [turns.all_at_once] * counts.all_at_once
            kinds += [turns.pause] * counts.pauses
            for number, turn in enumerate(kinds):
                turn(number)
            self.results["records"] = load.finish()
            self.console.print(f"{self.results['records']} records exactly once, in order, at their offsets")
            self.results["last_whole_s"] = await_whole(self.cluster, TOPIC, WHOLE_TIMEOUT_S)
        finally:
            load.kill()
            self.save()


def kproto_settings(pairs: tuple[str, ...], metadata: str) -> dict[str, str]:
    """The settings of kproto's brokers."""
    own = dict(SETTINGS)
    if metadata != "sqlite":
        own["kproto.metadata.store"] = metadata
    return own | _parsed(pairs)


def _parsed(pairs: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator:
            raise click.UsageError(f"not NAME=VALUE: {pair}")
        found[name] = value
    return found


def compare_copies(run: Run, cluster: KprotoCluster, settings: Mapping[str, str]) -> bool:
    """Kill all brokers as they are, compare what is on their disks; whether all is well."""
    cluster.close()
    directories = {node: Path(cluster.local.data_dir(node)) for node in cluster.nodes}
    found = compare(settings.get("kproto.metadata.store", "sqlite"), directories)
    run.results["copies"] = found.as_json()
    run.save()
    (run.out / "chains.txt").write_text("".join(f"{line}\n" for line in found.chains))
    for line in found.chains:
        run.console.print(line, highlight=False, soft_wrap=True)
    copies = ", ".join(f"{count} with {name} copies" for name, count in sorted(found.copies.items()))
    run.console.print(
        f"{found.vsegs} closed virtual segments: {copies}; {found.open_vsegs} open; compared: "
        f"{found.bytes_compared / 1e6:.1f} MB of copies, {found.chunks_of_owners} chunks of owners"
    )
    for problem in found.problems[:20]:
        run.console.print(f"PROBLEM {problem}", highlight=False, soft_wrap=True)
    return not found.problems


@click.command()
@click.option("--rounds", type=int, default=10, show_default=True, help="Kills of a random broker.")
@click.option("--all-at-once", type=int, default=0, help="Rounds of killing all four, after those.")
@click.option("--pause", "pauses", type=int, default=0, help="Rounds of SIGSTOP, after those.")
@click.option("--keep-two", is_flag=True, help="Two brokers that are killed together keep their data.")
@click.option("--partitions", type=int, default=32, show_default=True)
@click.option("--rate", type=int, default=800, show_default=True, help="Records per second in all.")
@click.option("--seed", type=int, help="Which brokers and when; printed and kept with the results.")
@click.option("--metadata", default="sqlite", show_default=True, help="sqlite, or etcd://HOST:PORT/PREFIX.")
@click.option("--kafka", is_flag=True, help="The same with Apache Kafka.")
@click.option("--controller", type=click.Choice(["combined", "separate"]), default="combined")
@click.option("--set", "pairs", multiple=True, metavar="NAME=VALUE", help="A setting of every broker.")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Where the brokers keep their data.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("out/failover"), show_default=True)
@click.option(
    "--beside",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="The failover.json of another run, to be drawn in the same plot; may be repeated.",
)
def main(
    rounds: int,
    all_at_once: int,
    pauses: int,
    keep_two: bool,
    partitions: int,
    rate: int,
    seed: int | None,
    metadata: str,
    kafka: bool,
    controller: str,
    pairs: tuple[str, ...],
    data_dir: Path | None,
    out: Path,
    beside: tuple[Path, ...],
) -> None:
    """Kill brokers under load and check every promise; exit code 1 and the data kept when one is broken."""
    console = Console(width=None if sys.stdout.isatty() else 160)
    seed = time.time_ns() % 1_000_000 if seed is None else seed
    out.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="kproto-failover-", dir=data_dir))
    console.print(f"seed {seed}, data in {work}", highlight=False)
    settings = _parsed(pairs) if kafka else kproto_settings(pairs, metadata)
    cluster: KprotoCluster | KafkaCluster
    if kafka:
        cluster = KafkaCluster(work / "cluster", controller == "separate", settings)
        name = f"Apache Kafka 4.3.1, {controller} controllers {' '.join(pairs)}"
    else:
        cluster = KprotoCluster(work / "cluster", settings)
        name = f"kproto, {metadata.split(':', 1)[0]} {' '.join(pairs)}"
    run = Run(name, cluster, seed, out, console)
    failed = ""
    try:
        run.go(Counts(rounds, all_at_once, pauses, keep_two), partitions, rate, work)
        if isinstance(cluster, KprotoCluster) and not compare_copies(run, cluster, settings):
            failed = "copies differ"
    except (AssertionError, TimeoutError) as error:
        failed = str(error)
    finally:
        cluster.close()
    run.results["failed"] = failed
    run.save()
    (out / "failover.md").write_text(markdown(run.results))
    others = [json.loads(path.read_text()) for path in beside]
    plot([run.results, *others], out / "failover.png")
    console.print(table(name, run.results["rounds"]))
    console.print(f"written: {out / 'failover.json'}, {out / 'failover.md'}, {out / 'failover.png'}")
    if failed:
        console.print(f"FAILED: {failed}\nThe data is kept in {work}", highlight=False)
        sys.exit(1)
    shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
