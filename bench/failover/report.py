"""The rounds as a table, and as runs for the report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from statistics import median
from typing import Any

from rich.table import Table

from bench.failover.census import Census
from bench.results import Run

MEANINGS = {
    "kill": "one broker killed",
    "two": "two brokers killed",
    "all": "all brokers killed and started",
    "pause": "one broker stopped (SIGSTOP)",
    "restart": "all brokers restarted, one after the other",
}
CENSUS = "acknowledged records, at the end"
FIGURES = ("gap_s", "back_s", "return_gap_s", "recovered_s", "whole_s")
"""Of a round: seconds; see `rounds.Round`."""
COLUMNS = (
    "round",
    "kind",
    "brokers",
    "led",
    "data",
    "away s",
    "gap s",
    "led again s",
    "back s",
    "return gap s",
    "whole s",
    "records",
)


def _cells(row: Mapping[str, Any]) -> list[str]:
    whole = row["whole_s"]
    return [
        str(row["number"]),
        row["kind"],
        ",".join(map(str, row["victims"])),
        str(row["led"]),
        "deleted" if row["wiped"] else "kept",
        f"{row['away_s']:.1f}",
        f"{row['gap_s']:.2f}",
        "" if row["recovered_s"] is None else f"{row['recovered_s']:.2f}",
        f"{row['back_s']:.2f}",
        f"{row['return_gap_s']:.2f}",
        "" if whole is None else f"{whole:.1f}",
        str(row["records"]),
    ]


def table(title: str, rows: Iterable[Mapping[str, Any]]) -> Table:
    """One line for each round."""
    found = Table(title=title)
    for name in COLUMNS:
        found.add_column(name, justify="right")
    for row in rows:
        found.add_row(*_cells(row))
    return found


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """For each kind of round: how many, and the gaps' median, 90th percentile and maximum in seconds."""
    found = {}
    for kind in MEANINGS:
        gaps = sorted(row["gap_s"] for row in rows if row["kind"] == kind)
        if gaps:
            high = gaps[ceil(0.9 * len(gaps)) - 1]
            found[kind] = {"rounds": len(gaps), "median": median(gaps), "p90": high, "max": gaps[-1]}
    return found


def census_run(system: str, found: Census, parameters: Mapping[str, Any]) -> Run:
    """What became of the acknowledged records, as a run of its own; `Census` as text says more."""
    return Run(system, CENSUS, 0, dict(parameters), {"acknowledged": found.acknowledged, "lost": found.lost})


def runs_of(system: str, rows: Sequence[Mapping[str, Any]], parameters: Mapping[str, Any]) -> list[Run]:
    """A run for each round; rounds of a kind are one case. Rounds of two clusters do not share a moment."""
    found: list[Run] = []
    for row in rows:
        case = MEANINGS[row["kind"]]
        about = {**parameters, "data": "deleted" if row["wiped"] else "kept", "brokers": row["victims"]}
        figures = {name: float(row[name]) for name in FIGURES if row[name] is not None}
        found.append(Run(system, case, sum(run.case == case for run in found), about, figures))
    return found
