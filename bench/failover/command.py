"""`kproto bench failover`: brokers are killed under load, round after round; nothing acked may be lost."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
from rich.console import Console

from bench import options
from bench.environment import environment
from bench.failover.census import Census
from bench.failover.clusters import (
    COPIES,
    SETTLED_S,
    KafkaCluster,
    KprotoCluster,
    await_whole,
    session_settings,
)
from bench.failover.copies import compare
from bench.failover.load import FailoverLoad
from bench.failover.report import census_run, runs_of, summary, table
from bench.failover.rounds import WHOLE_TIMEOUT_S, Round, Rounds, row
from bench.results import FAILED_RUN, KAFKA, KPROTO, Result, in_short
from bench.spread import create, leaders
from kproto.cli.arguments import set_option

TOPIC: Final = "failover"
SETTINGS: Final = {
    "group.initial.rebalance.delay.ms": "0",
    "kproto.repair.delay.ms": "1000",
    "kproto.virtual.segment.bytes": str(4 << 20),
    "kproto.segment.file.bytes": str(1 << 20),
}
"""Virtual segments are small, so that every round rolls and repairs some."""


ROUNDS: Final = click.IntRange(0)
SESSION_HELP: Final = "Of brokers of both systems, with five heartbeats in it (as shipped: 3000, Kafka 9000)."
INSYNC_HELP: Final = "min.insync.replicas of the topic; it has three copies."


class Counts(NamedTuple):
    """How many rounds of each kind."""

    kills: int
    all_at_once: int
    pauses: int
    restarts: int
    keep_two: bool


class Shape(NamedTuple):
    """The topic and its load."""

    partitions: int
    rate: int
    min_insync: int


class Session:
    """One cluster, its load and its results. What Apache Kafka loses is counted, kproto may lose nothing."""

    def __init__(self, cluster: KprotoCluster | KafkaCluster, seed: int, out: Path, console: Console) -> None:
        self.cluster = cluster
        self.census: Census | None = None
        self.chance = random.Random(seed)
        self.out = out
        self.console = console
        self.results: dict[str, Any] = {"name": cluster.name, "seed": seed, "rounds": []}

    def note(self, this: Round) -> None:
        """Keep a round, whatever comes next."""
        self.results["rounds"].append(row(this))
        self.save()
        brokers = ",".join(map(str, this.victims)) + (" wiped" if this.wiped else "")
        whole = "" if this.whole_s is None else f", all copies after {this.whole_s:.1f} s"
        steps = "".join(f"; broker {node} led {led}: {gap:.2f} s" for node, led, gap in this.steps)
        self.console.print(
            f"round {this.number}: {this.kind} {brokers}: longest gap {this.gap_s:.2f} s, "
            f"on return {this.return_gap_s:.2f} s{whole}; {this.records} records{steps}",
            highlight=False,
        )

    def save(self) -> None:
        """Write what there is."""
        self.results["summary"] = summary(self.results["rounds"])
        (self.out / f"{self.cluster.kind}-rounds.json").write_text(json.dumps(self.results, indent=1))

    def go(self, counts: Counts, shape: Shape, work: Path) -> None:
        """All rounds, then the final check. AssertionError and TimeoutError when a promise is broken."""
        self.cluster.start(self.cluster.nodes)
        bootstrap, configs = self.cluster.bootstrap, {"min.insync.replicas": str(shape.min_insync)}
        create(bootstrap, TOPIC, shape.partitions, replicas=COPIES, configs=configs)
        leaders(bootstrap, TOPIC)
        settled_s = await_whole(self.cluster, TOPIC, WHOLE_TIMEOUT_S, SETTLED_S)
        self.results["settled_s"] = round(settled_s, 1)
        self.console.print(f"all copies in sync for {SETTLED_S:.0f} s, after {settled_s:.1f} s")
        forgiving = self.cluster.kind == KAFKA
        load = FailoverLoad(bootstrap, TOPIC, shape.partitions, shape.rate, work, forgiving)
        try:
            load.await_progress()
            time.sleep(2)
            spare = self.cluster.spare(shape.min_insync)
            turns = Rounds(self.cluster, load, self.chance, self.note, counts.keep_two, spare)
            kinds = [turns.kill] * counts.kills + [turns.all_at_once] * counts.all_at_once
            kinds += [turns.pause] * counts.pauses + [turns.restart_all] * counts.restarts
            for number, turn in enumerate(kinds):
                turn(number)
            self.census = load.finish()
            self.results["census"] = asdict(self.census)
            self.results["problems"] = load.problems
            if self.census.kept:
                self.console.print(
                    f"{self.census.acknowledged} acknowledged records, each there once, at its offset"
                )
            else:
                self.console.print(f"{self.census}; the first: {load.problems[:1]}", highlight=False)
            self.results["last_whole_s"] = await_whole(self.cluster, TOPIC, WHOLE_TIMEOUT_S)
        finally:
            load.kill()
            self.save()


def kproto_settings(given: Mapping[str, str], metadata: str) -> dict[str, str]:
    """The settings of kproto's brokers."""
    own = dict(SETTINGS)
    if metadata != "sqlite":
        own["kproto.metadata.store"] = metadata
    return {**own, **given}


def compare_copies(run: Session, cluster: KprotoCluster, settings: Mapping[str, str]) -> bool:
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
@options.quick_option
@click.option("--rounds", type=ROUNDS, help="Kills of a random broker: 10, or 3 with --quick.")
@click.option("--all-at-once", type=ROUNDS, default=0, help="Rounds of killing all four, after those.")
@click.option("--pause", "pauses", type=ROUNDS, default=0, help="Rounds of SIGSTOP, after those.")
@click.option(
    "--restart", "restarts", type=ROUNDS, default=0, help="Rolling restarts (SIGTERM), after those."
)
@click.option("--keep-two", is_flag=True, help="Two brokers that are killed together keep their data.")
@click.option("--partitions", type=click.IntRange(1), default=32, show_default=True)
@click.option(
    "--rate", type=click.IntRange(1), default=800, show_default=True, help="Records per second in all."
)
@click.option("--session-ms", type=click.IntRange(100), help=SESSION_HELP)
@click.option("--min-insync", type=click.IntRange(1, COPIES), default=2, show_default=True, help=INSYNC_HELP)
@click.option("--seed", type=int, help="Which brokers and when; printed and kept with the results.")
@click.option("--metadata", default="sqlite", show_default=True, help="sqlite, or etcd://HOST:PORT/PREFIX.")
@click.option("--controller", type=click.Choice(["combined", "separate"]), default="combined")
@options.settings_option
@set_option("kafka_given", "Of Apache Kafka's.", "--set-kafka")
@options.only_option
@options.data_dir_option
@options.out_option
def command(
    quick: bool,
    rounds: int | None,
    all_at_once: int,
    pauses: int,
    restarts: int,
    keep_two: bool,
    partitions: int,
    rate: int,
    session_ms: int | None,
    min_insync: int,
    seed: int | None,
    metadata: str,
    controller: str,
    given: dict[str, str],
    kafka_given: dict[str, str],
    only: str | None,
    data_dir: Path | None,
    out: Path,
) -> None:
    """Kill brokers under load, check every promise; exit code 1 and the data kept when kproto breaks one.

    What Apache Kafka loses is told as a figure. The load begins when all copies have been in sync for 5 s.
    """
    console = options.console()
    seed = time.time_ns() % 1_000_000 if seed is None else seed
    kills = (3 if quick else 10) if rounds is None else rounds
    counts = Counts(kills, all_at_once, pauses, restarts, keep_two)
    shape = Shape(partitions, rate, min_insync)
    about = {**shape._asdict(), "session_ms": session_ms or "as shipped"}
    (out / "failover").mkdir(parents=True, exist_ok=True)
    result = Result(
        "failover",
        "failover",
        "Brokers are killed under load",
        options.command_line("failover"),
        environment(seed=seed),
        notes=[
            "The two clusters one after the other, not in turn: a round goes on where the last one ended.",
            "With its metadata in SQLite the broker of kproto that has the controller is never killed or "
            "stopped alone; of Apache Kafka's four three are controllers, and may be, unless --controller "
            "separate.",
        ],
    )
    failures = []
    for kind in reversed(options.systems(only)):
        work = options.new_directory("kproto-failover-", data_dir)
        console.print(f"{kind}: seed {seed}, data in {work}", highlight=False)
        settings = kproto_settings(given, metadata) if kind == KPROTO else kafka_given
        settings = session_settings(kind, session_ms) | settings
        cluster: KprotoCluster | KafkaCluster
        if kind == KAFKA:
            cluster = KafkaCluster(work / "cluster", controller == "separate", settings)
        else:
            cluster = KprotoCluster(work / "cluster", settings)
        session = Session(cluster, seed, out / "failover", console)
        failed = _whole(session, counts, shape, work, settings)
        if failed:
            failures.append(kind)
        _tell(session, failed, work, about, result)
        result.save(out)
    options.show(result, out, console)
    options.finish(result)
    if KPROTO in failures:
        raise SystemExit(1)


def _tell(session: Session, failed: str, work: Path, about: Mapping[str, Any], result: Result) -> None:
    """What came of one cluster, into ``result`` and on the screen. Its data is deleted when all is well."""
    console, cluster, found = session.console, session.cluster, session.census
    result.runs += runs_of(cluster.kind, session.results["rounds"], about)
    if found is not None:
        result.runs.append(census_run(cluster.kind, found, about))
        result.notes.append(f"{cluster.name}: {found}.")
    if failed:
        result.notes.append(f"{cluster.name}{FAILED_RUN}{in_short(RuntimeError(failed))}")
        console.print(f"FAILED: {failed}", highlight=False)
    if failed or (found is not None and not found.kept):
        console.print(f"The data is kept in {work}", highlight=False)
    else:
        shutil.rmtree(work, ignore_errors=True)
    title = ", ".join(f"{name} {value}" for name, value in about.items())
    console.print(table(f"{cluster.name}: {title}", session.results["rounds"]))


def _whole(session: Session, counts: Counts, shape: Shape, work: Path, settings: Mapping[str, str]) -> str:
    """All rounds on one cluster and what is checked afterwards: what failed, or nothing."""
    failed, cluster = "", session.cluster
    try:
        session.go(counts, shape, work)
        if isinstance(cluster, KprotoCluster) and not compare_copies(session, cluster, settings):
            failed = "copies differ"
    except Exception as error:  # Above all what `promises` and waits raise; the other cluster has its turn.
        failed = str(error) or type(error).__name__
    finally:
        cluster.close()
    session.results["failed"] = failed
    session.save()
    return failed
