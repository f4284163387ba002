"""`kproto bench pravega`: the modes of Pravega's benchmark on kproto and Apache Kafka in turn."""

from __future__ import annotations

import secrets
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from bench.options import (
    ABOVE_ZERO,
    NOT_NEGATIVE,
    asked,
    console,
    data_dir_option,
    finish,
    only_option,
    out_option,
    quick_option,
    show,
)
from bench.pravega.cases import BURST, MODES, PARTITIONS, SIZES, Case, Scale, cases_of
from bench.pravega.compare import Suite, notes_of, result_of, running
from bench.results import KPROTO, Result

FULL = Scale(seconds=10, warmup_s=15)
QUICK = Scale(seconds=2, warmup_s=8, window_s=0.5)
PAIRS = 3
BROKER_WARMUP_S, CLUSTER_WARMUP_S = 20.0, 30.0


@click.command("pravega")
@click.option("--mode", "modes", multiple=True, type=click.Choice(MODES), help="Default: all four, in turn.")
@click.option("--size", "sizes", multiple=True, type=int, help="Bytes of an event. Default: 10 to 100,000.")
@click.option("--rate", "rates", multiple=True, type=float, help="MB/s or events/s. Default: 1 or 500.")
@click.option("--producers", type=click.IntRange(0), help="Default: 10, end-to-end 1. 0: a burst is read.")
@click.option("--consumers", type=click.IntRange(0), help="Default: none, end-to-end 1.")
@click.option(
    "--rf", "--copies", "copies", type=click.Choice([1, 3]), default=1, help="3: clusters of four brokers."
)
@click.option("--flush/--no-flush", help="Each event on disk before its ack (flush.messages=1).")
@click.option("--wait-each", is_flag=True, help="A producer waits for each ack before its next event.")
@click.option("--partitions", type=click.IntRange(1), default=PARTITIONS)
@click.option("--linger", "linger_ms", type=click.IntRange(0), default=0, help="Of producers, milliseconds.")
@click.option("--poll-records", type=click.IntRange(1), default=500, help="max.poll.records of consumers.")
@click.option("--workers", type=click.IntRange(1), default=1, help="Client processes.")
@click.option("--pairs", type=click.IntRange(1), help="Runs of each case on each system. Default: 3.")
@click.option("--seconds", type=ABOVE_ZERO, help="Measured, of each run. Default: 10.")
@click.option("--warmup", "warmup_s", type=NOT_NEGATIVE, help="Seconds of each run before that. Default: 15.")
@click.option(
    "--window",
    "window_s",
    type=ABOVE_ZERO,
    help="Seconds per point of the series. Default: 1.",
)
@click.option(
    "--broker-warmup",
    type=NOT_NEGATIVE,
    help="Seconds of load on a fresh broker. Default: 20, clusters 30.",
)
@click.option(
    "--raw", type=click.Path(path_type=Path), help="Keep every event here, for kproto bench analyze."
)
@click.option(
    "--run", "run_name", help="Name of the raw events' run; the same on machines that run together."
)
@click.option("--bootstrap", help="Brokers that run already (no comparison, their use is not seen).")
@click.option("--system", default=KPROTO, help="What runs at --bootstrap.")
@click.option("--label", default="", help="Appended to the results' names.")
@quick_option
@only_option
@data_dir_option
@out_option
def command(
    modes: tuple[str, ...],
    sizes: tuple[int, ...],
    rates: tuple[float, ...],
    producers: int | None,
    consumers: int | None,
    pairs: int | None,
    seconds: float | None,
    warmup_s: float | None,
    window_s: float | None,
    broker_warmup: float | None,
    raw: Path | None,
    run_name: str | None,
    bootstrap: str | None,
    system: str,
    label: str,
    quick: bool,
    only: str | None,
    data_dir: Path | None,
    out: Path,
    **given: Any,
) -> None:
    """Pravega's benchmark: burst, mb-limited, events-limited and end-to-end, for events of 10 B to 100 KB."""
    usual = QUICK if quick else FULL
    scale = asked(usual, seconds=seconds, warmup_s=warmup_s, window_s=window_s)
    base = Case(mode=BURST, event_bytes=1_000, scale=scale, **given)
    try:
        planned = {
            mode: cases_of(mode, sizes or SIZES, rates, producers, consumers, base) for mode in modes or MODES
        }
    except ValueError as wrong:
        raise click.UsageError(str(wrong)) from wrong
    screen = console()
    name = run_name or f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(2)}"
    with running(bootstrap, system, only, base.copies, data_dir) as found:
        suite = Suite(found, pairs or (1 if quick else PAIRS), out, raw, name, bootstrap is None, screen)
        if bootstrap is None:
            usual_s = 3.0 if quick else CLUSTER_WARMUP_S if base.copies > 1 else BROKER_WARMUP_S
            suite.warm_up(replace(base, producers=2), usual_s if broker_warmup is None else broker_warmup)
        measured: list[Result] = []
        for mode, cases in planned.items():
            result = result_of(mode, cases, label, notes_of(cases[0]))
            suite.measure(result, cases)
            show(result, out, screen)
            measured.append(result)
    finish(*measured)
