"""Results as text: headings, figures with three digits, tables for the terminal.

May import `bench.results`; rich is imported on use.
"""

from __future__ import annotations

import re
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from bench.results import KAFKA, KPROTO, Result, Verdict, direction

if TYPE_CHECKING:
    from rich.table import Table

HEADINGS = {
    "cpu_s_per_gb": "CPU s/GB",
    "cpu_s_per_million": "CPU s/M records",
    "broker_cpu_s": "broker CPU s",
    "client_cpu_s": "client CPU s",
    "client_cpu_s_per_gb": "client CPU s/GB",
    "client_cpu_s_per_million": "client CPU s/M records",
    "mb_per_s": "MB/s",
    "records_per_s": "records/s",
    "events_per_s": "events/s",
    "peak_rss_mb": "peak memory MB",
    "rpcs_per_s": "RPCs/s",
    "chunks_per_rpc": "chunks/RPC",
    "disk_mb": "disk MB",
    "stolen_percent": "host took %",
}
UNITS = {"_ms": "ms", "_us": "µs", "_s": "s", "_mb": "MB", "_gb": "GB", "_percent": "%"}
PERCENTILE = re.compile(r"\bp(\d\d)(\d+)\b")


class Cell(NamedTuple):
    """One figure of one case: both medians, the ratio and what is thought of it; texts for people."""

    ours: str
    theirs: str
    ratio: str
    verdict: Verdict | None


def heading(metric: str) -> str:
    """``publish_p999_ms`` -> "publish p99.9 ms"."""
    if metric in HEADINGS:
        return HEADINGS[metric]
    name, unit = metric, ""
    if name.endswith("_per_s"):
        name, unit = name.removesuffix("_per_s"), "/s"
    else:
        for ending, text in UNITS.items():
            if name.endswith(ending):
                name, unit = name.removesuffix(ending), f" {text}"
                break
    words = name.replace("_", " ").replace("cpu", "CPU").replace("rss", "memory")
    words = re.sub(r"\b(mb|gb)\b", lambda place: place[0].upper(), words)
    return PERCENTILE.sub(r"p\1.\2", words) + unit


def shown(value: float | None) -> str:
    """Three significant digits, no exponents: 0.0123, 4.57, 1,235."""
    if value is None:
        return "-"
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.4f}"


def factor(ratio: float | None) -> str:
    """A ratio as text; small ones keep two digits."""
    if ratio is None:
        return "-"
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def goal(verdict: Verdict) -> str:
    """Target and limit in words; empty without any."""
    target = f"ratio {target_text(verdict)}" if verdict.target is not None else ""
    return ", ".join(filter(None, (target, limit_text(verdict))))


def target_text(verdict: Verdict) -> str:
    """What the ratio is to be, "≤ 0.20"; empty without a target."""
    return f"{_sign(verdict)} {factor(verdict.target)}" if verdict.target is not None else ""


def limit_text(verdict: Verdict) -> str:
    """What our figure is to be, "≤ 600"; empty without a limit."""
    return f"{_sign(verdict)} {shown(verdict.limit)}" if verdict.limit is not None else ""


def _sign(verdict: Verdict) -> str:
    return "≥" if direction(verdict.metric) > 0 else "≤"


def columns(result: Result) -> list[str]:
    """The metrics of its table: those it names, else all that any run has; only those measured."""
    measured = dict.fromkeys(name for run in result.runs for name in run.metrics)
    return [name for name in result.shown if name in measured] if result.shown else list(measured)


def beside(result: Result, case: str, system: str, metrics: list[str]) -> dict[str, Cell]:
    """The cells of one case: ``system`` beside Apache Kafka."""
    ours, theirs = result.medians(case, system), result.medians(case, KAFKA)
    judged = {each.metric: each for each in result.verdicts() if (each.case, each.system) == (case, system)}
    pairs = result.ratios(case, system)
    return {
        name: Cell(
            shown(ours.get(name)),
            shown(theirs.get(name)),
            factor(median(pairs.get(name, []))) if pairs.get(name) else "",
            judged.get(name),
        )
        for name in metrics
    }


def rivals(result: Result, case: str) -> list[str]:
    """The systems of a case that are not Apache Kafka."""
    return [name for name in result.systems() if name != KAFKA and result.of(case, name)]


def label(system: str) -> str:
    """As people call it."""
    return {KPROTO: "kproto", KAFKA: "Apache Kafka"}.get(system, system)


def terminal(result: Result) -> Table:
    """One line per case and system, and one of ratios; missed targets in red."""
    from rich.table import Table

    metrics = columns(result)
    table = Table(title=result.title)
    for number, text in enumerate(("case", "system", *map(heading, metrics))):
        table.add_column(text, justify="left" if number < 2 else "right")
    for case in result.cases():
        for system in rivals(result, case):
            cells = beside(result, case, system, metrics)
            table.add_row(case, label(system), *map(_ours, cells.values()))
            if any(cell.ratio for cell in cells.values()):
                table.add_row("", "ratio", *map(_ratio, cells.values()))
        theirs = result.medians(case, KAFKA)
        if theirs:
            first = case if not rivals(result, case) else ""
            table.add_row(first, label(KAFKA), *(shown(theirs.get(name)) for name in metrics))
        table.add_section()
    return table


def _ours(cell: Cell) -> str:
    """Our figure with its limit."""
    if cell.verdict is None or cell.verdict.limit is None:
        return cell.ours
    return _red(f"{cell.ours} ({limit_text(cell.verdict)})", cell.verdict.met is False)


def _ratio(cell: Cell) -> str:
    """The ratio with its target."""
    verdict = cell.verdict
    if verdict is None or not cell.ratio:
        return cell.ratio
    text = f"{cell.ratio} ({target_text(verdict)})" if verdict.target is not None else cell.ratio
    return _red(text, verdict.lost or (verdict.target is not None and verdict.met is False))


def _red(text: str, bad: bool) -> str:
    return f"[red]{text}[/]" if bad else text
