"""The rounds as a table and as a plot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from rich.table import Table

COLOURS = {"kill": "#1f77b4", "two": "#d62728", "all": "#9467bd", "pause": "#ff7f0e"}
MEANINGS = {
    "kill": "one broker killed",
    "two": "two brokers killed",
    "all": "all brokers killed and started",
    "pause": "one broker stopped (SIGSTOP)",
}
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
            high = gaps[min(len(gaps) - 1, int(0.9 * len(gaps)))]
            found[kind] = {"rounds": len(gaps), "median": median(gaps), "p90": high, "max": gaps[-1]}
    return found


def markdown(results: Mapping[str, Any]) -> str:
    """The table for a document."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(_cells(row)) + " |" for row in results["rounds"]]
    for kind, of in summary(results["rounds"]).items():
        figures = ", ".join(f"{name} {value:.2f} s" for name, value in of.items() if name != "rounds")
        lines.append(f"\n{MEANINGS[kind]}: {of['rounds']} rounds, longest gap: {figures}")
    return "\n".join(lines) + "\n"


def plot(results: Sequence[Mapping[str, Any]], target: Path) -> None:
    """Longest gap in acknowledgements of any partition, per round; one panel for each run in ``results``."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(
        len(results), 1, figsize=(11, 3.4 * len(results)), squeeze=False, sharey=True
    )
    for run, panel in zip(results, panels[:, 0], strict=True):
        for kind, colour in COLOURS.items():
            rows = [row for row in run["rounds"] if row["kind"] == kind]
            if rows:
                places = [run["rounds"].index(row) for row in rows]
                panel.bar(places, [row["gap_s"] for row in rows], color=colour, label=MEANINGS[kind])
                middles = [median(row["gaps"]) for row in rows]
                panel.plot(places, middles, ".", color="black", markersize=3)
        panel.set_ylabel("longest gap in acks of\nany partition, s")
        panel.set_title(run["name"], fontsize=10)
        panel.grid(axis="y", alpha=0.3)
        if run["rounds"]:
            panel.legend(fontsize=8)
    panels[-1, 0].set_xlabel("round (dots: median over the partitions)")
    figure.tight_layout()
    figure.savefig(target, dpi=110)
    pyplot.close(figure)
