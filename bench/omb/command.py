"""``kproto bench omb``: OpenMessaging workload and driver files as they are; without driver, a comparison."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from bench import options
from bench.clusters import running
from bench.environment import environment
from bench.omb.compare import WORKLOADS, Comparison, DiskError, Scale
from bench.omb.runner import Hooks, NotReadyError, run
from bench.omb.settings import SettingsError, read_driver, read_workload
from bench.workers import WorkerError
from kproto.cli.arguments import BadArgument

FULL = Scale(minutes=0.5, warmup_minutes=1 / 6, pairs=3, by_need=True)
QUICK = Scale(minutes=1 / 12, warmup_minutes=1 / 20, pairs=1, backlog_gb=1 / 16, by_need=True)
BROKER_WARMUP_MINUTES, QUICK_BROKER_WARMUP_MINUTES = 0.5, 1 / 12


def chosen(given: Sequence[Path], patterns: Sequence[str]) -> list[Path]:
    """The workload files given, or those of the suite whose name contains one of the patterns."""
    if given:
        return list(given)
    shipped = sorted(WORKLOADS.glob("*.yaml"))
    found = [path for path in shipped if not patterns or any(pattern in path.stem for pattern in patterns)]
    if not found:
        raise click.UsageError(f"no such workload; there are: {', '.join(path.stem for path in shipped)}")
    return found


def check_names(paths: Sequence[Path]) -> None:
    """Raises SettingsError when two workloads would be one case, or have one result file: their figures would
    be put together, and each compared with the other's."""
    seen: dict[str, Path] = {}
    for path in paths:
        for name in (f"name {read_workload(path).name}", f"file name {path.stem}"):
            if seen.setdefault(name, path) is not path:
                raise SettingsError(f"{seen[name]} and {path} have the same {name}")


def targets_of(output: Path, drivers: Sequence[Path]) -> list[Path]:
    """Where the result for each driver goes: of one the file asked for; of several each its own beside it,
    those of files that are called alike with a number."""
    if len(drivers) == 1:
        return [output]
    stems: list[str] = []
    for driver in drivers:
        stem, number = driver.stem, 1
        while stem in stems:
            number += 1
            stem = f"{driver.stem}-{number}"
        stems.append(stem)
    return [output.with_name(f"{output.stem}-{stem}{output.suffix}") for stem in stems]


def check_place(target: Path) -> None:
    """Raises OSError when no file can be written there; what is there stays."""
    new = not target.exists()
    target.open("a").close()
    if new:
        target.unlink()


OF_DRIVERS = ("output", "bootstrap", "delete_topics")
OF_COMPARISONS = ("quick", "copies", "sync", "only", "pairs", "patterns", "data_dir", "out")
"""Parameters that mean something with, and without, --driver."""


def refuse(names: Sequence[str], why: str) -> None:
    """UsageError when one of the options was given."""
    context = click.get_current_context()
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in names and source == click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{parameter.opts[0]} {why}")


def run_files(
    workload_path: Path,
    drivers: Sequence[Path],
    output: Path,
    scale: Scale,
    workers: int,
    bootstrap: str | None,
    delete_topics: bool,
    screen: Console,
) -> bool:
    """One workload on the clusters that the driver files name, in turn; a result file for each. Whether no
    record failed, and all that were acknowledged were received."""
    hooks = Hooks(say=lambda text: screen.print(text, highlight=False, markup=False))
    workload = scale.of(read_workload(workload_path))
    read = [read_driver(path, bootstrap) for path in drivers]  # before anything is measured, not after it
    targets = targets_of(output, drivers)
    output.parent.mkdir(parents=True, exist_ok=True)
    for target in targets:
        check_place(target)
    well = True
    for driver, target in zip(read, targets, strict=True):
        hooks.say(f"{workload.name} on {driver.name}")
        outcome = run(workload, driver, workload_path.parent, workers, hooks, delete_topics)
        target.write_text(json.dumps(outcome.json(), indent=1))
        during = outcome.during
        if outcome.short:
            hooks.say(f"the rate was out of reach: {outcome.unsent:,} records that were due were never sent")
        hooks.say(
            f"written: {target}; load's own CPU {during.cpu_s / during.seconds:.2f} cores, "
            f"{outcome.whole.errors} errors, {outcome.missing} acknowledged records not received in time"
        )
        well = well and not outcome.whole.errors and not outcome.missing
    return well


@click.command()
@click.argument("workload", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--driver",
    "drivers",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Kafka driver file of the OpenMessaging benchmark; repeatable. Its cluster must be running.",
)
@click.option(
    "--output", type=click.Path(path_type=Path), help="With --driver: the result file (JSON, OMB's keys)."
)
@click.option("--bootstrap", help="With --driver: host:port,... instead of the file's bootstrap.servers.")
@click.option("--delete-topics", is_flag=True, help="With --driver: leave no topics behind (OMB does).")
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True, help="Load processes.")
@click.option(
    "--minutes",
    type=options.ABOVE_ZERO,
    help="Measured minutes, instead of testDurationMinutes.",
)
@click.option(
    "--warmup", type=options.NOT_NEGATIVE, help="Minutes of warm-up, instead of warmupDurationMinutes."
)
@click.option(
    "--backlog-gb", type=options.NOT_NEGATIVE, help="Instead of consumerBacklogSizeGB, where there is one."
)
@click.option(
    "--copies", type=click.Choice(["1", "3"]), default="1", show_default=True, help="Per partition."
)
@click.option("--sync", is_flag=True, help="On disk before the ack (flush.messages=1).")
@click.option("--case", "patterns", multiple=True, help="Only workloads whose name contains this.")
@options.quick_option
@options.pairs_option
@options.only_option
@options.data_dir_option
@options.out_option
def command(
    workload: tuple[Path, ...],
    drivers: tuple[Path, ...],
    output: Path | None,
    bootstrap: str | None,
    delete_topics: bool,
    workers: int,
    minutes: float | None,
    warmup: float | None,
    backlog_gb: float | None,
    copies: str,
    sync: bool,
    patterns: tuple[str, ...],
    quick: bool,
    pairs: int | None,
    only: str | None,
    data_dir: Path | None,
    out: Path,
) -> None:
    """OpenMessaging workloads (OMB's YAML files) on Kafka clusters.

    With --driver: WORKLOAD on the running cluster that each driver file names, as OMB runs it, result JSON
    with OMB's keys; exit code 1 when records failed or were lost, 2 for a wrong file. Without: starts Apache
    Kafka and kproto, and runs the WORKLOAD files (none: the suite's own) on both in turn.
    """
    screen = options.console()
    if drivers:
        refuse(OF_COMPARISONS, "is for comparisons, without --driver")
    else:
        refuse(OF_DRIVERS, "needs --driver")
    try:
        if drivers:
            if len(workload) != 1 or output is None:
                raise click.UsageError("--driver needs one WORKLOAD and --output")
            asked = Scale(minutes, warmup, 1, backlog_gb)
            if not run_files(workload[0], drivers, output, asked, workers, bootstrap, delete_topics, screen):
                raise SystemExit(1)
            return
        scale = scale_of(QUICK if quick else FULL, minutes, warmup, pairs, backlog_gb)
        paths = chosen(workload, patterns)
        check_names(paths)
        first = QUICK_BROKER_WARMUP_MINUTES if quick else BROKER_WARMUP_MINUTES
        line = options.command_line("omb")
        with (
            options.workspace(data_dir) as work,
            running(options.systems(only), int(copies), work) as clusters,
        ):
            comparison = Comparison(clusters, int(copies), sync, scale, workers, out)
            results = comparison.results(paths, line, environment(workers=workers))
            hooks = Hooks(say=lambda text: screen.print(text, highlight=False, markup=False))
            comparison.warm_up(WORKLOADS / "max-1-topic-16-partitions-1kb.yaml", first, screen)
            comparison.all_runs(paths, results, hooks)
    except SettingsError as problem:  # 1 is for what was measured: records that failed or were lost
        raise BadArgument(str(problem)) from problem
    except (NotReadyError, WorkerError, DiskError) as problem:
        raise click.ClickException(str(problem)) from problem
    for result in results.values():
        options.show(result, out, screen)
    options.finish(*results.values())


def scale_of(
    base: Scale, minutes: float | None, warmup: float | None, pairs: int | None, backlog_gb: float | None
) -> Scale:
    """``base`` with what was asked for instead; a warm-up that was asked for is just that long."""
    by_need = None if warmup is None else False
    return options.asked(
        base, minutes=minutes, warmup_minutes=warmup, by_need=by_need, pairs=pairs, backlog_gb=backlog_gb
    )
