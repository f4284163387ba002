"""What the figures say: where kproto loses, which targets it misses, by how much, and why. Pure functions."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from statistics import median

from bench.results import KAFKA, KPROTO, Result, Verdict
from bench.tables import factor, goal, heading, label, shown

HOW_TO_READ = (
    "Figures with × are kproto / Apache Kafka, the median over pairs of runs made one after the other on the "
    "same machine; for throughput more is better, for all else less."
)


LATE = re.compile(r"_p(\d\d)(\d*)_")
"""In the name of a latency: which percentile."""
WITHHELD = (
    "The machine's host kept it from running for a larger share of these runs than this percentile leaves "
    'out ("host took %"): what it shows are those stops.'
)
POINT = "\n– "
"""Between the points of a sentence in the first paragraph: a line each."""
OVERALL = ("records_per_s", "cpu_s_per_million", "publish_p50_ms", "publish_p99_ms")
"""Figures whose median over all cases is told."""
AGAIN = frozenset(("analysis",))
"""Suites that look at runs of others once more: what they find is counted there."""
MOST_NAMED = 2
"""Cases of one reason, or of none, that are named in the first paragraph; the tables have all."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A sentence for the losses whose "suite-name/case" and metric match the shell patterns."""

    case: str
    metric: str
    why: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict with its result: something lost or missed."""

    result: Result
    verdict: Verdict
    whys: tuple[str, ...]

    @property
    def why(self) -> str:
        return " ".join(self.whys)

    @property
    def anchor(self) -> str:
        return anchor(self.result)

    @property
    def case(self) -> str:
        """Case, with the system where it is a variant."""
        variant = "" if self.verdict.system == KPROTO else f" ({label(self.verdict.system)})"
        return f"{self.verdict.case}{variant}"

    @property
    def amount(self) -> str:
        """The figure in few words: "publish p99 ms 1.46×", or the value where nothing is compared."""
        name = heading(self.verdict.metric)
        if self.verdict.ratio is None:
            return f"{name} {shown(self.verdict.ours)}"
        return f"{name} {factor(self.verdict.ratio)}×"


def anchor(result: Result) -> str:
    """Where the page has it."""
    return f"{result.suite}-{result.name}"


def read_reasons(text: str) -> list[Reason]:
    """``[[reason]]`` tables with ``case``, ``metric`` (default: any) and ``why``. Raises KeyError, TypeError
    and tomllib.TOMLDecodeError for anything else."""
    rows = tomllib.loads(text).get("reason", [])
    return [Reason(row["case"], row.get("metric", "*"), row["why"]) for row in rows]


def findings(results: Iterable[Result], reasons: Sequence[Reason]) -> list[Finding]:
    """Every verdict, the worst first."""
    found = [
        Finding(each, one, whys(each, one, reasons))
        for each in results
        if each.suite not in AGAIN
        for one in each.verdicts()
    ]
    return sorted(found, key=lambda one: -one.verdict.severity)


def whys(result: Result, verdict: Verdict, reasons: Sequence[Reason]) -> tuple[str, ...]:
    """All sentences that match, and `WITHHELD` where the figures say so."""
    place = f"{anchor(result)}/{verdict.case}"
    found = [
        reason.why
        for reason in reasons
        if fnmatchcase(place, reason.case) and fnmatchcase(verdict.metric, reason.metric)
    ]
    return (*found, WITHHELD) if withheld(result, verdict) else tuple(found)


def withheld(result: Result, verdict: Verdict) -> bool:
    """The machine stood still for more of kproto's runs than this percentile leaves out, of a p99 1 %, and
    for more of them than of Apache Kafka's."""
    level = LATE.search(verdict.metric)
    beyond = 100 - float(f"{level[1]}.{level[2] or 0}") if level else 100.0
    ours = result.medians(verdict.case, verdict.system).get("stolen_percent", 0.0)
    return ours > max(beyond, result.medians(verdict.case, KAFKA).get("stolen_percent", 0.0))


def lost(found: Iterable[Finding]) -> list[Finding]:
    """Apache Kafka is better, and every pair says so."""
    return [one for one in found if one.verdict.lost and one.verdict.clear]


def unclear(found: Iterable[Finding]) -> list[Finding]:
    """Apache Kafka is better by the median, but not in every pair."""
    return [one for one in found if one.verdict.lost and not one.verdict.clear]


def missed(found: Iterable[Finding]) -> list[Finding]:
    """A target or limit that is not met."""
    return [one for one in found if one.verdict.met is False]


@dataclass(frozen=True, slots=True)
class Case:
    """All findings of one kind about one case."""

    findings: list[Finding]

    @property
    def worst(self) -> str:
        """``[[anchor case]] (its worst figure)``: see `opening`."""
        first = self.findings[0]
        return f"[[{first.anchor} {first.case}]] ({first.amount})"

    @property
    def cause(self) -> str:
        """The first reason of that figure; "" where it has none, whatever is said of the others."""
        return next(iter(self.findings[0].whys), "")


def by_case(found: Iterable[Finding]) -> list[Case]:
    """Findings of a case together, in their order."""
    grouped: dict[tuple[str, str], list[Finding]] = {}
    for one in found:
        grouped.setdefault((one.anchor, one.case), []).append(one)
    return list(map(Case, grouped.values()))


def compared(found: Iterable[Finding]) -> int:
    """How many cases have a ratio."""
    return len({(one.anchor, one.case) for one in found if one.verdict.ratios})


def judged(found: Iterable[Finding]) -> int:
    """How many figures have a target or a limit."""
    return sum(one.verdict.met is not None for one in found)


def opening(found: Sequence[Finding], failed: Sequence[str]) -> list[str]:
    """The sentences of the first paragraph; ``failed``: commands. Markup: ``**bold**``, `` `code` ``,
    ``[[anchor case]]`` for a place on the page, and an end of line before a `POINT`."""
    behind, unsure, short = by_case(lost(found)), by_case(unclear(found)), missed(found)
    cases, goals = compared(found), judged(found)
    sentences = []
    if cases:
        number = len(behind) or "none"
        head = f"**kproto loses to Apache Kafka in {number} of {count(cases, 'case', 'cases')} compared**"
        sentences.append(f"{head}, {_agreeing(behind)}:{_listed(behind)}." if behind else f"{head}.")
    if overall := _overall(found):
        sentences.append(f"In the median of all cases compared: {', '.join(overall)}.")
    if unsure:
        sentences.append(f"Behind by the median, though the pairs disagree:{_listed(unsure)}.")
    if short:
        head = f"**It misses {len(short)} of {count(goals, 'target', 'targets')}**"
        sentences.append(f"{head}:{_short_of(short, found)}.")
    elif goals:
        sentences.append(f"It meets {'its only target' if goals == 1 else f'all {goals} targets'}.")
    if failed:
        sentences.append(f"**Not measured, because it failed**: {', '.join(f'`{one}`' for one in failed)}.")
    return sentences


def _agreeing(behind: Sequence[Case]) -> str:
    """How sure that is."""
    single = sum(max(len(one.verdict.ratios) for one in case.findings) == 1 for case in behind)
    told = "in the only pair of short runs, where a tenth more or less means little"
    if single == len(behind):
        return told
    return f"{single} of them {told}, in the others every pair agreeing" if single else "every pair agreeing"


def _overall(found: Iterable[Finding]) -> list[str]:
    """The median ratio of each figure of `OVERALL`, and of how many cases."""
    ratios: dict[str, list[float]] = {}
    for one in found:
        if one.verdict.ratio is not None:
            ratios.setdefault(one.verdict.metric, []).append(one.verdict.ratio)
    return [
        f"{heading(metric)} {factor(median(ratios[metric]))}× ({len(ratios[metric])})"
        for metric in OVERALL
        if metric in ratios
    ]


def _short_of(short: Sequence[Finding], found: Sequence[Finding]) -> str:
    """Targets that are missed, by figure, with the worst case of each; the tables have all."""
    by_figure: dict[str, list[Finding]] = {}
    for one in short:
        by_figure.setdefault(one.verdict.metric, []).append(one)
    said = []
    for metric, those in sorted(by_figure.items(), key=lambda item: -len(item[1])):
        worst = those[0]
        aims = sum(one.verdict.metric == metric and one.verdict.met is not None for one in found)
        where = f"[[{worst.anchor} {worst.case}]] {worst.amount}, {goal(worst.verdict)}"
        said.append(
            f"{heading(metric)} in {len(those)} of {aims} ({'worst: ' if len(those) > 1 else ''}{where})"
        )
    return "".join(POINT + one for one in said)


def _listed(cases: Sequence[Case]) -> str:
    """Those of one reason together, the worst named, the reason behind them; most cases first, and last
    those without a reason."""
    causes: dict[str, list[Case]] = {}
    for case in cases:
        causes.setdefault(case.cause.rstrip("."), []).append(case)
    unexplained = causes.pop("", [])
    said = [
        f"{_named(those)}: {why}" for why, those in sorted(causes.items(), key=lambda item: -len(item[1]))
    ]
    if unexplained:
        said.append(f"{'not explained: ' if said else ''}{_named(unexplained)}")
    return "".join(POINT + one for one in said)


def _named(cases: Sequence[Case]) -> str:
    """The worst of them, and how many more there are."""
    more = len(cases) - MOST_NAMED
    return ", ".join(case.worst for case in cases[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def count(number: int, singular: str, plural: str) -> str:
    return f"{number} {singular if number == 1 else plural}"
