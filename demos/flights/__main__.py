"""`python -m demos.flights [--bootstrap HOST:PORT] [--topic flights] [--limit N] [--out DIR]`"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from demos.flights.figures import CarrierFigures, differences, figures_of
from demos.flights.report import save_plot, table_of
from demos.flights.source import FLIGHTS, carrier_names, read_flights


@contextlib.contextmanager
def broker_at(bootstrap: str | None) -> Iterator[str]:
    """The given broker, or a kproto of our own for as long as the run takes."""
    if bootstrap is not None:
        yield bootstrap
        return
    from kproto.testing import kafka_broker

    with kafka_broker(subprocess=True) as broker:
        yield broker.bootstrap_servers


def steps(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description:<28}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    )


def run(
    console: Console, bootstrap: str, topic: str, count: int
) -> tuple[dict[str, CarrierFigures], list[str]]:
    """Produce `count` flights and let Spark count them: Spark's figures, and where the CSV's differ."""
    from bench.spark_connector import local_session
    from demos.flights.produce import create_topic, produce_flights
    from demos.flights.spark import run_job

    create_topic(bootstrap, topic)
    with steps(console) as progress, tempfile.TemporaryDirectory(prefix="kproto-flights-") as scratch:

        def step(name: str) -> Callable[[int], None]:
            task = progress.add_task(name, total=count)
            return lambda done: progress.update(task, completed=done)

        acked = produce_flights(bootstrap, topic, read_flights(count), step("produce (confluent-kafka)"))
        counting = step("count from the CSV")
        expected = figures_of(read_flights(count))
        counting(count)
        reading = step("count from the topic (Spark)")
        session = local_session("flights", scratch=Path(scratch))
        try:
            found = run_job(session, bootstrap, topic, Path(scratch, "checkpoint"), reading)
        finally:
            session.stop()
    problems = differences(expected, found)
    if acked != count:
        problems.append(f"{acked} flights acked, {count} expected")
    return found, problems


@click.command()
@click.option(
    "--bootstrap", metavar="HOST:PORT", help="A running broker; without it one is started for the run."
)
@click.option("--topic", default="flights", show_default=True, help="The topic to create and fill.")
@click.option("--limit", type=click.IntRange(1, FLIGHTS), default=FLIGHTS, help="Only the first N flights.")
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("out"), show_default=True, help="For the plot."
)
def main(bootstrap: str | None, topic: str, limit: int, out: Path) -> None:
    """New York's flights of 2013 into a topic, delays per carrier out of Spark, compared with the CSV."""
    console = Console()
    begin = time.monotonic()
    with broker_at(bootstrap) as address:
        try:
            figures, problems = run(console, address, topic, limit)
        except RuntimeError as error:
            raise click.ClickException(str(error)) from None
    names = carrier_names()
    console.print(table_of(figures, names))
    plot = out / "flights.png"
    save_plot(figures, names, plot)
    console.print(f"plot: {plot}    {time.monotonic() - begin:.1f} s")
    if problems:
        console.print("[bold red]Spark's figures are not those of the CSV:[/]")
        for line in problems:
            console.print(f"  {line}", markup=False)
        sys.exit(1)
    console.print(
        f"[bold green]Spark's figures equal the CSV's: {limit:,} flights, {len(figures)} carriers.[/]"
    )


if __name__ == "__main__":
    main()
