"""The report as one HTML page that needs nothing else: styles and plots are in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from bench.page import story
from bench.page.drawing import inline
from bench.page.gathered import Gathered, environment
from bench.page.panels import Group, groups
from bench.page.story import Finding, anchor
from bench.results import KPROTO, Result, Verdict
from bench.tables import Cell, beside, columns, factor, goal, heading, label, limit_text, rivals, shown

STYLE = Path(__file__).with_name("style.css")
SUITES = {
    "single": "One broker",
    "cluster": "Four brokers",
    "omb": "OpenMessaging workloads",
    "kera": "KerA's figures",
    "pravega": "Pravega's benchmark",
    "startup": "Start-up",
    "idle": "Idle brokers",
    "failover": "Failover",
    "recovery": "Recovery",
    "stall": "A stalled backup",
    "soak": "An hour of coming and going",
    "analysis": "All events, on Spark",
    "selftest": "The load generator by itself",
}
"""Headings, in the page's order; suites that are not named here follow."""


def page(gathered: Gathered, found: Sequence[Finding]) -> str:
    """All of it. ``found``: as `story.findings` gives them."""
    suites = by_suite(gathered.results)
    links = " ".join(f'<a href="#{escape(suite)}">{escape(heading_of(suite))}</a>' for suite in suites)
    body = [
        "<h1>kproto beside Apache Kafka</h1>",
        opening(gathered, found),
        f"<nav>{links} <a href='#environment'>Environment</a></nav>",
        _findings("Where Apache Kafka is better", [*story.lost(found), *story.unclear(found)]),
        _findings("Targets missed", story.missed(found)),
        _outcomes(gathered),
        _environment(gathered.results),
    ]
    for suite, results in suites.items():
        body.append(f'<h2 id="{escape(suite)}">{escape(heading_of(suite))}</h2>')
        body += [_section(result) for result in results]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>kproto benchmarks</title><style>{STYLE.read_text()}</style></head>\n"
        f"<body>\n{chr(10).join(filter(None, body))}\n</body></html>\n"
    )


def by_suite(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Suites in the page's order."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.suite, []).append(result)
    order = list(SUITES)
    return dict(sorted(found.items(), key=lambda item: order.index(item[0]) if item[0] in order else 99))


def heading_of(suite: str) -> str:
    return SUITES.get(suite, suite)


def opening(gathered: Gathered, found: Sequence[Finding]) -> str:
    """The first paragraph: what is lost and which targets are missed, the worst of each, and why."""
    text = escape("\n".join(story.opening(found, gathered.failed))).replace("\n", "<br>\n")
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
    text = re.sub(r"`(.+?)`", r"<code>\1</code>", text)
    text = re.sub(r"\[\[(\S+) (.+?)\]\]", r'<a href="#\1">\1 \2</a>', text)
    return f'<p class="lead">{text}<br>\n<span class="soft">{escape(story.HOW_TO_READ)}</span></p>'


def _link(one: Finding) -> str:
    return f'<a href="#{escape(one.anchor)}">{escape(f"{one.anchor} {one.case}")}</a>'


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]], texts: int) -> str:
    """``rows`` of ready cells, ``texts`` columns of text first; cells may bring their own `td`."""
    head = "".join(
        f"<th{' class=text' if number < texts or name == 'why' else ''}>{escape(name)}</th>"
        for number, name in enumerate(headings)
    )
    lines = [
        "".join(
            cell if cell.startswith("<td") else f"<td{' class=text' if number < texts else ''}>{cell}</td>"
            for number, cell in enumerate(row)
        )
        for row in rows
    ]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _findings(title: str, found: Sequence[Finding]) -> str:
    if not found:
        return ""
    explained = any(one.why for one in found)
    rows = [
        [
            _link(one),
            escape(heading(one.verdict.metric)),
            _ratio(one.verdict),
            shown(one.verdict.ours),
            shown(one.verdict.theirs),
            _goal(one.verdict),
            *([f'<td class="text wide">{escape(one.why)}</td>'] if explained else []),
        ]
        for one in found
    ]
    headings = [
        "case",
        "figure",
        "ratio",
        "kproto",
        "Apache Kafka",
        "target",
        *(["why"] if explained else []),
    ]
    return f"<h2>{escape(title)}</h2>{_table(headings, rows, 2)}"


def _ratio(verdict: Verdict) -> str:
    """The median ratio, coloured; pairs that disagree are marked."""
    if verdict.ratio is None:
        kind = {True: "good", False: "bad", None: ""}[verdict.met]
        return f'<span class="tag {kind}">{"met" if verdict.met else "missed"}</span>' if kind else "-"
    kind = "bad" if verdict.lost or verdict.met is False else "good"
    if kind == "bad" and not verdict.clear and verdict.met is not False:
        kind = "unsure"
    return f'<span class="tag {kind}">{factor(verdict.ratio)}×</span>'


def _goal(verdict: Verdict) -> str:
    return f'<td style="white-space:nowrap">{escape(goal(verdict)) or "-"}</td>'


def _outcomes(gathered: Gathered) -> str:
    failed = [one for one in gathered.outcomes if one.failed]
    if not failed:
        return ""
    parts = [f"<h4><code>{escape(one.command)}</code></h4><pre>{escape(one.failed)}</pre>" for one in failed]
    return f"<h2>Suites that failed</h2>{''.join(parts)}"


def _environment(results: Sequence[Result]) -> str:
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>"
        for name, value in environment(list(results)).items()
    )
    text = "Load is that of the machine when a suite began; on a busy machine only the ratios mean something."
    return f'<h2 id="environment">Environment</h2><dl>{rows}</dl><p class="note">{text}</p>'


def _section(result: Result) -> str:
    notes = "".join(f"<li>{escape(note)}</li>" for note in result.notes)
    plots = "".join(_group(group) for group in groups(result))
    return (
        f'<section class="result" id="{escape(anchor(result))}"><h3>{escape(result.title)}</h3>'
        f"<pre>{escape(result.command)}</pre>"
        + (f"<ul class='soft'>{notes}</ul>" if notes else "")
        + _matrix(result)
        + plots
        + _details(result)
        + "</section>"
    )


def _group(group: Group) -> str:
    legend = "".join(
        f'<span><i style="background:{colour}"></i>{escape(name)}</span>'
        for name, colour in group.legend.items()
    )
    plots = "".join(f"<figure style='margin:0'>{inline(panel)}</figure>" for panel in group.panels)
    inner = (
        f'<div class="legend">{legend}</div>' if legend else ""
    ) + f'<div class="plots">{plots}</div><p class="note">{escape(group.note)}</p>'
    opened = "" if group.folded else " open"
    return f"<details{opened}><summary>{escape(group.title)}</summary>{inner}</details>"


def _matrix(result: Result) -> str:
    """A row for each case (and variant), a column for each metric: the ratio, below it both medians."""
    metrics = columns(result)
    rows = []
    for case in result.cases():
        for system in rivals(result, case):
            name = case if system == KPROTO else f"{case}, {label(system)}"
            cells = beside(result, case, system, metrics)
            rows.append([escape(name), *map(_cell, cells.values())])
        if not rivals(result, case):
            medians = result.medians(case, "kafka")
            rows.append([f"{escape(case)} (Apache Kafka)", *(shown(medians.get(name)) for name in metrics)])
    return _table(["case", *map(heading, metrics)], rows, 1)


def _cell(cell: Cell) -> str:
    if not cell.ratio:
        text = cell.ours if cell.theirs == "-" else f"{cell.ours} / {cell.theirs}"
        if cell.verdict is not None and cell.verdict.met is not None:
            kind = "good" if cell.verdict.met else "bad"
            wanted = f'<span class="pair">{escape(goal(cell.verdict))}</span>'
            return f'<span class="tag {kind}">{text}</span>{wanted}'
        return text
    ratio = _ratio(cell.verdict) if cell.verdict is not None else f"{cell.ratio}×"
    wanted = (
        f" ({escape(limit_text(cell.verdict))})" if cell.verdict and cell.verdict.limit is not None else ""
    )
    return f'{ratio}<span class="pair">{cell.ours} / {cell.theirs}{wanted}</span>'


def _details(result: Result) -> str:
    """Every judged figure with its pairs."""
    rows = [
        [
            escape(one.case if one.system == KPROTO else f"{one.case}, {label(one.system)}"),
            escape(heading(one.metric)),
            shown(one.ours),
            shown(one.theirs),
            " ".join(map(factor, one.ratios)) or "-",
            _ratio(one),
            _goal(one),
            {True: "met", False: "missed", None: "-"}[one.met],
        ]
        for one in result.verdicts()
    ]
    if not rows:
        return ""
    headings = ["case", "figure", "kproto", "Apache Kafka", "ratio of each pair", "median", "target", ""]
    return f"<details><summary>Pair by pair</summary>{_table(headings, rows, 2)}</details>"
