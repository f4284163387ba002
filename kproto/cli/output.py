"""What the commands print: tables for people (rich), one JSON document for machines, progress bars."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

AS_WIDE_AS_IT_IS: Final = 1_000_000
"""Columns for who is no terminal: a table takes no more than it needs."""


def print_rows(
    rows: Iterable[Mapping[str, Any]], columns: Sequence[str], *, as_json: bool, title: str | None = None
) -> None:
    """Print ``rows`` (column name -> value) as a table, or all of them as one JSON array. What a terminal has
    no room for goes on in the next line of its column."""
    found = list(rows)
    if as_json:
        print_json(found)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in found:
        table.add_row(*(_text(row.get(column)) for column in columns))
    width = None if sys.stdout.isatty() else AS_WIDE_AS_IT_IS
    console = Console(width=width, emoji=False, markup=False)  # names are what they are
    if title is not None:
        console.print(title, style="table.title", highlight=False, soft_wrap=True)
    console.print(table)


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    json.dump(value, sys.stdout, indent=2)
    sys.stdout.write("\n")


@contextmanager
def progress(label: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error while the block runs; call the result with how much came on."""
    if not sys.stderr.isatty():
        yield lambda amount: None  # noqa: ARG005
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda amount: bar.advance(task, amount)


def _text(value: Any) -> str:
    return "-" if value is None else str(value)
