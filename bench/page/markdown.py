"""The report as Markdown for docs/, with plots in files beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bench.page import story
from bench.page.gathered import Gathered, environment
from bench.page.html import by_suite, heading_of
from bench.page.story import Finding, anchor
from bench.results import KPROTO, Result
from bench.tables import beside, columns, factor, goal, heading, label, rivals, shown

INTRODUCTION = "Made by `kproto bench report`; `kproto bench all` measures everything again."
BOLD = "Bold: Apache Kafka is better, or a target is missed."


def markdown(gathered: Gathered, found: Sequence[Finding], plots: Mapping[str, Sequence[str]]) -> str:
    """All of it; ``plots``: anchor of a result -> paths of its plots, relative to the page."""
    lines = ["# Benchmarks: kproto beside Apache Kafka", "", opening(gathered, found), ""]
    lines += [f"{story.HOW_TO_READ} {BOLD} {INTRODUCTION}", ""]
    worse = [*story.lost(found), *story.unclear(found)]
    lines += _findings("Where Apache Kafka is better", worse)
    lines += _findings("Targets missed", story.missed(found))
    lines += ["## Environment", ""]
    lines += [f"- {name}: {value}" for name, value in environment(gathered.results).items()]
    for suite, results in by_suite(gathered.results).items():
        lines += ["", f"## {heading_of(suite)}"]
        for result in results:
            lines += _section(result, plots.get(anchor(result), ()))
    return "\n".join(lines) + "\n"


def opening(gathered: Gathered, found: Sequence[Finding]) -> str:
    """As the page's first paragraph; places are named, not linked. Two spaces end a line in Markdown."""
    text = "\n".join(story.opening(found, gathered.failed)).replace("\n", "  \n")
    return re.sub(r"\[\[(\S+ .+?)\]\]", r"\1", text)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["", "| " + " | ".join(headings) + " |", "|" + " --- |" * len(headings)]
    return [*lines, *("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows), ""]


def _findings(title: str, found: Sequence[Finding]) -> list[str]:
    if not found:
        return []
    rows = [
        [
            f"{one.anchor} {one.case}",
            heading(one.verdict.metric),
            shown(one.verdict.ours),
            shown(one.verdict.theirs),
            factor(one.verdict.ratio),
            goal(one.verdict) or "-",
            one.why,
        ]
        for one in found
    ]
    headings = ["case", "figure", "kproto", "Apache Kafka", "ratio", "target", "why"]
    return [f"## {title}", *_table(headings, rows)]


def _section(result: Result, plots: Sequence[str]) -> list[str]:
    metrics = columns(result)
    rows = []
    for case in result.cases():
        for system in rivals(result, case) or [KPROTO]:
            name = case if system == KPROTO else f"{case}, {label(system)}"
            row = [name]
            for cell in beside(result, case, system, metrics).values():
                text = f"{cell.ours} / {cell.theirs}" if cell.theirs != "-" else cell.ours
                if cell.ratio:
                    worse = cell.verdict is not None and (cell.verdict.lost or cell.verdict.met is False)
                    text += f" ({'**' if worse else ''}{cell.ratio}{'**' if worse else ''})"
                row.append(text)
            rows.append(row)
    lines = ["", f"### {result.title}", "", f"`{result.command}`", ""]
    lines += [f"- {note}" for note in result.notes]
    lines += _table(["case: kproto / Apache Kafka (ratio)", *map(heading, metrics)], rows)
    return lines + [f"![{result.title}]({path})" for path in plots]
