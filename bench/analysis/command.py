"""`kproto bench analyze`: the events of one or many runs -> exact figures, by Spark."""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console

from bench.analysis.raw import LandingError, Source, find
from bench.options import OUT, show
from bench.options import console as screen
from kproto.cli.arguments import FiniteRange


@contextlib.contextmanager
def _broker(bootstrap: str | None) -> Iterator[str]:
    """The given one, or a kproto of our own for as long as the analysis takes."""
    if bootstrap is not None:
        yield bootstrap
        return
    from kproto.testing import kafka_broker

    with kafka_broker(subprocess=True) as broker:
        yield broker.bootstrap_servers


def _land(sources: list[Source], bootstrap: str, topic: str, append: bool, console: Console) -> None:
    """The sources' events into the topic. Raises UsageError when it may hold others, too."""
    from bench.analysis.land import create_topic, has_topic, to_topic

    there = has_topic(bootstrap, topic) or not create_topic(bootstrap, topic)
    if there and not append:
        raise click.UsageError(
            f"topic {topic} exists: choose another, add to it (--land-only), or analyze it alone"
        )
    events = to_topic(sources, bootstrap, topic)
    console.print(f"{events:,} events in topic {topic}")


def _analyze(
    sources: list[Source],
    topic: str | None,
    bootstrap: str | None,
    output: Path,
    name: str,
    window_s: float,
    console: Console,
) -> None:
    """Both ways, as far as they are asked for; write the results. Exits with 1 when the two ways differ."""
    from bench.analysis.figures import by_run, differences, over_all, results
    from bench.analysis.job import Tables, compute, from_parquet, from_topic
    from bench.analysis.land import has_topic, to_parquet
    from bench.environment import environment
    from bench.spark_connector import local_session

    if not sources and topic and bootstrap and not has_topic(bootstrap, topic):
        raise click.UsageError(f"there is no topic {topic} at {bootstrap}")
    found: list[Tables] = []
    with tempfile.TemporaryDirectory(prefix="kproto-analysis-") as scratch, contextlib.ExitStack() as stack:
        session = local_session("analyze", scratch=Path(scratch))
        stack.callback(session.stop)
        if sources:
            parquet = output / f"analysis-{name}-events"
            shutil.rmtree(parquet, ignore_errors=True)
            events = to_parquet(sources, parquet)
            console.print(f"{events:,} events in {parquet}")
            found.append(compute(from_parquet(session, parquet), window_s))
        if topic is not None:
            address = stack.enter_context(_broker(bootstrap))
            if sources:
                _land(sources, address, topic, False, console)
            found.append(compute(from_topic(session, address, topic), window_s))
        where = environment(spark=session.version)
    if not any(tables.origins for tables in found):
        raise click.ClickException("there are no events")
    if len(found) == 2:
        problems = differences(by_run(found[0], window_s), by_run(found[1], window_s))
        problems += differences(over_all(found[0]), over_all(found[1]))
        if problems:
            console.print("[bold red]Parquet and the topic do not give the same figures:[/]")
            console.print("\n".join(problems[:20]), markup=False)
            sys.exit(1)
        console.print("[green]Parquet and the topic give the same figures.[/]")
    whole, single = results(found[0], name, _again(topic, name, window_s), where, window_s)
    show(whole, output, console)
    console.print(f"run by run: {single.save(output)}")


def _again(topic: str | None, name: str, window_s: float) -> str:
    """The call that computes it again, wherever the events are."""
    through = f" --topic {topic}" if topic else ""
    return f"kproto bench analyze RAW_DIR...{through} --name {name} --window {window_s:g}"


@click.command("analyze")
@click.argument(
    "directories",
    metavar="[RAW_DIR]...",
    nargs=-1,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
)
@click.option("--topic", help="Land the events in this topic, too, and read them back from there.")
@click.option("--bootstrap", metavar="HOST:PORT", help="The broker of --topic; without it one is started.")
@click.option("--land-only", is_flag=True, help="Only add the events to the topic, which may exist already.")
@click.option("--output", "--out", type=click.Path(path_type=Path), default=OUT, show_default=True)
@click.option("--name", default="events", show_default=True, help="Of the result.")
@click.option(
    "--window", "window_s", type=FiniteRange(0.001), default=1.0, show_default=True, help="Seconds."
)
def command(
    directories: tuple[Path, ...],
    topic: str | None,
    bootstrap: str | None,
    land_only: bool,
    output: Path,
    name: str,
    window_s: float,
) -> None:
    """Exact percentiles over all events in RAW_DIR... (what a suite wrote with --raw), computed by Spark.

    Several directories, also copied from several machines, count together. Without directories the events
    that are in --topic already are analyzed.
    """
    console = screen()
    try:
        sources = find(directories)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from problem
    if directories and not sources:
        raise click.UsageError("there are no events in these directories")
    if not sources and (topic is None or bootstrap is None):
        raise click.UsageError("name directories with events, or a topic and the broker that has it")
    if land_only and (topic is None or bootstrap is None or not sources):
        raise click.UsageError("--land-only needs directories, --topic and --bootstrap")
    try:
        if land_only:
            _land(sources, str(bootstrap), str(topic), True, console)
        else:
            _analyze(sources, topic, bootstrap, output, name, window_s, console)
    except LandingError as problem:
        raise click.ClickException(str(problem)) from problem
