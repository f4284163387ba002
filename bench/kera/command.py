"""``kproto bench kera``: figures of KerA's paper, kproto and Apache Kafka in turn where it compares both."""

from __future__ import annotations

import os
from pathlib import Path

import click

from bench import options
from bench.cluster import COPIES, warm_up
from bench.clusters import running
from bench.environment import environment
from bench.kera.drawing import draw
from bench.kera.figures import FIGURES, Point, Shape
from bench.kera.runner import Pass
from bench.kera.scale import SCALES, load_of
from bench.results import KPROTO

DEFAULT = (*range(8, 17), 21)
"""What shows the idea; 17 to 20 vary the chunk size once more, with more clients each."""
WARMUP_S = 30.0
WARMUP_POINT = Point(Shape(128, 1, 1, 3), 0, 1, 4, 4, "")


@click.command()
@click.option(
    "--figure",
    "numbers",
    type=click.IntRange(min(FIGURES), max(FIGURES)),
    multiple=True,
    help="Of the paper; may be repeated. Without: 8 to 16 and 21.",
)
@click.option("--scale", "size", type=click.Choice(sorted(SCALES)), default="quick", show_default=True)
@options.quick_option
@click.option("--seconds", type=options.ABOVE_ZERO, help="Measured seconds of a point.")
@options.steady_option
@options.pairs_option
@options.only_option
@options.data_dir_option
@options.out_option
def command(
    numbers: tuple[int, ...],
    size: str,
    quick: bool,
    seconds: float | None,
    steady: float | None,
    pairs: int | None,
    only: str | None,
    data_dir: Path | None,
    out: Path,
) -> None:
    """The figures of KerA's paper on this machine: its streams, virtual logs and copies, fewer clients."""
    usual = SCALES["quick" if quick else size]
    scale = options.asked(usual, seconds=seconds, pairs=pairs, steady_seconds=steady)
    cores, console = os.cpu_count() or 1, options.console()
    figures = [FIGURES[number] for number in numbers or DEFAULT]
    beside = options.systems(only or (None if any(each.beside_kafka for each in figures) else KPROTO))
    where = environment(scale=str(scale))
    with options.workspace(data_dir) as work, running(beside, COPIES, work) as clusters:
        warm_up(clusters, load_of(WARMUP_POINT, scale), WARMUP_S, console)
        line = options.command_line("kera")
        together = Pass(figures, clusters, scale, cores, line, where, out, console)
        together.measure()
    for number, results in sorted(together.results.items()):
        for result in results.values():
            options.show(result, out, console)
        if any(result.runs for result in results.values()):
            path = draw(FIGURES[number], list(results.values()), out / f"kera-{FIGURES[number].name}.png")
            console.print(f"written: {path}", highlight=False)
    options.finish(*(result for results in together.results.values() for result in results.values()))
