"""What the commands of the suites share: options, a directory for the brokers' data, the end of a run.

May import click, rich, `bench.results`, `bench.tables` and `kproto.cli.arguments`.
"""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from rich.console import Console

from bench.results import FAILED_RUN, KAFKA, KPROTO, Result, in_short
from bench.tables import terminal
from kproto.cli.arguments import FiniteRange, set_option

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Scale = TypeVar("Scale", bound="DataclassInstance")
"""Of a suite: how long and how often."""
OUT: Final = Path("out/bench")
_PLACES: Final = frozenset(("out", "data_dir", "raw"))

ABOVE_ZERO: Final = FiniteRange(0, min_open=True)
"""The type of durations."""
NOT_NEGATIVE: Final = FiniteRange(0)
"""The type of pauses, and of sizes that may be none."""

quick_option = click.option("--quick", is_flag=True, help="Short runs: whether it works, not for figures.")
pairs_option = click.option("--pairs", type=click.IntRange(1), help="Runs of each case on each system.")
seconds_option = click.option("--seconds", type=ABOVE_ZERO, help="Measured seconds of a run.")
only_option = click.option("--only", type=click.Choice([KPROTO, KAFKA]), help="Only one of the systems.")
data_dir_option = click.option(
    "--data-dir", type=click.Path(path_type=Path), help="Where the brokers keep their data."
)
steady_option = click.option(
    "--steady",
    type=NOT_NEGATIVE,
    help="Most seconds of warm-up, until Java's clients become no faster.  [60; 0, not, with --quick]",
)
out_option = click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=OUT,
    show_default=True,
    help="Where the results go, one JSON file each.",
)
settings_option = set_option("given", "A setting of kproto's brokers.")


def listed(
    kind: Callable[[str], float],
) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """A callback for an option that is a list of numbers above zero, with commas; it stays a text."""

    def checked(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
        try:
            right = value is None or all(0 < kind(each) < inf for each in value.split(","))
        except ValueError:
            right = False
        if not right:
            raise click.BadParameter(f"{value} is no list of numbers above zero, with commas between them")
        return value

    return checked


def asked(base: Scale, **given: Any) -> Scale:
    """``base`` with the options that were given; None: that one was not."""
    return replace(base, **{name: value for name, value in given.items() if value is not None})


def systems(only: str | None) -> list[str]:
    """In the order of a pair: Apache Kafka, kproto."""
    return [only] if only else [KAFKA, KPROTO]


def console() -> Console:
    """Wide enough for tables, also in a file."""
    return Console(width=None if sys.stdout.isatty() else 160)


def new_directory(prefix: str, data_dir: Path | None) -> Path:
    """A new directory for the brokers' data, below ``data_dir``, which is made if need be."""
    if data_dir is not None:
        data_dir.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=prefix, dir=data_dir))


@contextmanager
def workspace(data_dir: Path | None) -> Iterator[Path]:
    """The same, deleted at the end."""
    work = new_directory("kproto-bench-", data_dir)
    try:
        yield work
    finally:
        _remove(work)


def _remove(work: Path) -> None:
    """A broker whose stop was interrupted may still be writing for a moment."""
    deadline = time.monotonic() + 5
    shutil.rmtree(work, ignore_errors=True)
    while work.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
        shutil.rmtree(work, ignore_errors=True)


def command_line(name: str) -> str:
    """How this very run was called, so that it can be repeated."""
    return shlex.join(["kproto", "bench", name, *_asked()])


def _asked() -> list[str]:
    """What stood behind the suite's name; places differ from machine to machine and are left out."""
    context = click.get_current_context(silent=True)
    found: list[str] = []
    if context is None:
        return found
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source == click.core.ParameterSource.COMMANDLINE and parameter.name not in _PLACES:
            found += _as_given(parameter, context.params.get(parameter.name or ""))
    return found


def _as_given(parameter: click.Parameter, value: Any) -> list[str]:
    """A parameter with its value, or its values, as words."""
    if isinstance(value, bool):
        return [(parameter.opts if value else parameter.secondary_opts)[0]]
    if isinstance(value, dict):
        value = tuple(f"{key}={one}" for key, one in value.items())
    words = [str(each) for each in (value if isinstance(value, tuple) else (value,))]
    if isinstance(parameter, click.Argument):
        return words
    return [text for word in words for text in (parameter.opts[0], word)]


@contextmanager
def noted(what: str, notes: list[str], screen: Console | Callable[[str], object]) -> Iterator[None]:
    """Whatever fails in here is noted for the page and said, and no more: the other runs are worth having."""
    try:
        yield
    except Exception as failure:
        notes.append(f"{what}{FAILED_RUN}{in_short(failure)}")
        if isinstance(screen, Console):
            screen.print(notes[-1], style="red", highlight=False, markup=False)
        else:
            screen(notes[-1])


def show(result: Result, out: Path, screen: Console) -> None:
    """Write it and show its table."""
    path = result.save(out)
    screen.print(terminal(result))
    for note in result.notes:
        screen.print(f"- {note}", highlight=False)
    screen.print(f"written: {path}", highlight=False)


def finish(*results: Result) -> None:
    """All of a suite. Raises ClickException when not one run went well: its exit code is 1."""
    if not any(result.runs for result in results):
        raise click.ClickException("nothing was measured")
