"""What is drawn of a result: ratios by case, lines over a parameter, percentiles, time series.

A panel draws itself on matplotlib axes of a given height; how many there are and where they go is the page's
business. Nothing here imports matplotlib before something is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final

from bench.results import KAFKA, KPROTO, Result, Run, Verdict, direction
from bench.tables import columns, heading, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

COLOURS: Final = {KPROTO: "#2878d0", KAFKA: "#e0752d"}
"""Legible on white and on black."""
OTHERS: Final = ("#1f9e89", "#a05ad6", "#b8961f", "#dd4f7a", "#5b8c3a", "#6f7fd8", "#c2553d", "#4aa3c7")
LEAST_RATIO: Final = 0.001
"""Smaller ones are drawn as this: nothing beside something has no place on a logarithmic axis."""
FADED: Final = 0.35
MAX_PANELS: Final = 24
FOLDED: Final = 6
"""More panels than that are shown on request."""
MAX_POINTS: Final = 240
"""Of a time series: a panel is 300 pixels wide."""
WARMUP: Final = {"warmup_s": 1, "warmup_seconds": 1, "warmup_minutes": 60, "warmupDurationMinutes": 60}
"""Parameters that say how long the warm-up was, and their unit in seconds."""
OVER_TIME: Final = "Over time"
TICKS: Final = (50.0, 90.0, 99.0, 99.9, 99.99, 99.999)


@dataclass(frozen=True, slots=True)
class Panel:
    """One small plot."""

    title: str
    height: float
    """Inches, at a width of 4."""
    draw: Callable[[Axes], None]


@dataclass(frozen=True, slots=True)
class Group:
    """Panels of one kind."""

    title: str
    note: str
    panels: list[Panel]
    legend: dict[str, str]
    """Name -> colour; empty where none is needed."""
    folded: bool = False


def colours(systems: Iterable[str]) -> dict[str, str]:
    """Label -> colour: kproto's and Apache Kafka's own, others in their order."""
    others = iter(OTHERS * 8)
    return {label(name): COLOURS.get(name) or next(others) for name in systems}


def groups(result: Result) -> list[Group]:
    """Everything that can be drawn of it, the most telling first."""
    places = {run.parameters.get(result.x) for run in result.runs} - {None}
    found = [lines(result)] if len(places) > 1 else [ratios(result)]
    found += [percentiles(result), over_time(result)]
    return [group for group in found if group.panels]


def ratios(result: Result) -> Group:
    """kproto / Apache Kafka of every judged metric: bars from 1, dots for pairs, marks for targets.

    A panel for each metric with the cases as rows; with few cases a panel for each case with the metrics as
    rows.
    """
    verdicts = [one for one in result.verdicts() if one.ratios]
    metrics = [name for name in columns(result) if any(one.metric == name for one in verdicts)]
    cases = list(dict.fromkeys(map(_row_name, verdicts)))
    panels = []
    if len(cases) < min(len(metrics), 4):
        for case in cases:
            mine = [one for one in verdicts if _row_name(one) == case]
            panels.append(_bars(case, mine, [_with_aim(one.metric) for one in mine]))
    else:
        for metric in metrics:
            mine = [one for one in verdicts if one.metric == metric]
            panels.append(_bars(_with_aim(metric), mine, list(map(_row_name, mine))))
    note = "kproto / Apache Kafka, logarithmic. Dots: pairs; red mark: target; orange: Apache Kafka wins."
    return Group("Ratios", note, panels[:MAX_PANELS], {})


def _row_name(one: Verdict) -> str:
    return one.case if one.system == KPROTO else f"{one.case}, {label(one.system)}"


def _with_aim(metric: str) -> str:
    """Less is better unless it says so."""
    return f"{heading(metric)}{' (more is better)' if direction(metric) > 0 else ''}"


def _bars(title: str, mine: Sequence[Verdict], names: Sequence[str]) -> Panel:
    def draw(axes: Axes) -> None:
        for place, one in enumerate(mine):
            colour = COLOURS[KAFKA if one.lost else KPROTO]
            axes.barh(place, max(median(one.ratios), LEAST_RATIO) - 1, left=1, height=0.62, color=colour)
            places = [place] * len(one.ratios)
            axes.plot(one.ratios, places, "o", ms=3, mec="none", mfc="#808080", zorder=3)
            if one.target is not None:
                axes.plot([one.target] * 2, [place - 0.42, place + 0.42], "-", lw=2, color="#d33a4a")
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.axvline(1, lw=1, color="#808080")
        _scale_ratios(axes, [value for one in mine for value in [*one.ratios, one.target or 1.0]])

    return Panel(title, 0.7 + 0.24 * len(mine), draw)


def _scale_ratios(axes: Axes, values: Sequence[float]) -> None:
    low, high = max(min([*values, 0.5]), LEAST_RATIO), max([*values, 2.0])
    axes.set_xscale("log")
    axes.set_xlim(low / 1.25, high * 1.25)
    _plain_numbers(axes.xaxis, high / low)
    axes.grid(axis="x")


def _plain_numbers(axis: Axis, span: float) -> None:
    """Ticks of a logarithmic axis as people write numbers, few of them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    steps = (1, 2, 3, 5) if span < 6 else (1, 2, 5) if span < 60 else (1,)
    axis.set_major_locator(LogLocator(base=10, subs=steps, numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_locator(NullLocator())


def _from_nothing(axes: Axes) -> None:
    """The y axis begins at 0; its numbers have commas."""
    from matplotlib.ticker import FuncFormatter

    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def lines(result: Result) -> Group:
    """Each shown metric over the result's parameter `x`, a line for each system, the pairs as a band."""
    named = colours(result.systems())
    panels = []
    for metric in columns(result)[:MAX_PANELS]:
        points = {system: _over(result, system, metric) for system in result.systems()}
        if not any(points.values()):
            continue

        def draw(axes: Axes, points: dict[str, dict[float, list[float]]] = points) -> None:
            for system, found in points.items():
                places = sorted(found)
                middles = [median(found[x]) for x in places]
                colour = named[label(system)]
                axes.plot(places, middles, "o-", ms=3.5, lw=1.6, color=colour)
                axes.fill_between(
                    places,
                    [min(found[x]) for x in places],
                    [max(found[x]) for x in places],
                    color=colour,
                    alpha=0.15,
                    lw=0,
                )
            _scale_x(axes, sorted({x for found in points.values() for x in found}))
            _from_nothing(axes)
            axes.set_xlabel(result.x.replace("_", " "))
            axes.grid()

        panels.append(Panel(heading(metric), 2.7, draw))
    return Group("Over " + result.x.replace("_", " "), "Medians; bands: all pairs.", panels, named)


def _over(result: Result, system: str, metric: str) -> dict[float, list[float]]:
    """x -> values of the runs."""
    found: dict[float, list[float]] = {}
    for run in result.runs:
        if run.system == system and metric in run.metrics and result.x in run.parameters:
            found.setdefault(float(run.parameters[result.x]), []).append(run.metrics[metric])
    return found


def _scale_x(axes: Axes, places: Sequence[float]) -> None:
    """Logarithmic when the values span much, as numbers of streams do; ticks where there are values."""
    if len(places) > 2 and places[0] > 0 and places[-1] / places[0] >= 8:
        axes.set_xscale("log")
    few = places if len(places) <= 8 else places[:: math.ceil(len(places) / 8)]
    axes.set_xticks(few, [f"{place:g}" for place in few])
    axes.minorticks_off()


def percentiles(result: Result) -> Group:
    """Latency by percentile, a panel for each case and latency; every run is a line."""
    named = colours(result.systems())
    panels = []
    for case in result.cases():
        mine = [run for run in result.runs if run.case == case]
        for name in dict.fromkeys(name for run in mine for name in run.quantiles):
            chosen = [run for run in mine if run.quantiles.get(name)]
            if not chosen:
                continue

            def draw(axes: Axes, name: str = name, chosen: Sequence[Run] = chosen) -> None:
                first = min(run.pair for run in chosen)
                places = [
                    _curve(axes, run.quantiles[name], named[label(run.system)], run.pair == first)
                    for run in chosen
                ]
                ticks = [tick for tick in TICKS if _nines(tick) <= max(places) + 0.01]
                axes.set_xticks([_nines(tick) for tick in ticks], [f"{tick:g}" for tick in ticks])
                axes.set_yscale("log")
                low, high = axes.get_ylim()
                if high < 3 * low:
                    axes.set_ylim(low / 2, high * 1.5)
                _plain_numbers(axes.yaxis, max(high / low, 6))
                axes.set_ylabel(heading(name))
                axes.set_xlabel("percentile")
                axes.grid()

            panels.append(Panel(f"{case}\n{heading(name)}", 2.6, draw))
    note = "Every run; the first pair in full colour. The last point is the maximum."
    return _limited("Latency percentiles", note, panels, named)


def _nines(percentile: float) -> float:
    """50 -> 0.3, 90 -> 1, 99 -> 2, 99.9 -> 3."""
    return -math.log10(1 - percentile / 100)


def _curve(axes: Axes, values: dict[str, float], colour: str, first: bool) -> float:
    """Draw it; where its last percentile below 100 is."""
    pairs = sorted((float(percentile), value) for percentile, value in values.items())
    below = [(_nines(percentile), value) for percentile, value in pairs if TICKS[0] <= percentile < 99.99999]
    last = below[-1][0] if below else 0.0
    most = [(last + 0.5, value) for percentile, value in pairs if percentile >= 99.99999]
    shown = [(place, max(value, 1e-3)) for place, value in [*below, *most[-1:]]]
    axes.plot(
        [place for place, _ in shown],
        [value for _, value in shown],
        lw=1.6,
        color=colour,
        alpha=1 if first else FADED,
    )
    return last


def over_time(result: Result) -> Group:
    """Time series, a panel for each case and series, the warm-up shaded."""
    named = colours(result.systems())
    panels = []
    for case in result.cases():
        mine = [run for run in result.runs if run.case == case]
        for name in _told(result, dict.fromkeys(name for run in mine for name in run.series)):
            chosen = [run for run in mine if len(run.series.get(name, [])) > 1]
            if not chosen:
                continue

            def draw(axes: Axes, name: str = name, chosen: Sequence[Run] = chosen) -> None:
                first = min(run.pair for run in chosen)
                for run in chosen:
                    points = thinned(run.series[name])
                    axes.plot(
                        [point[0] for point in points],
                        [point[1] for point in points],
                        lw=1.2,
                        color=named[label(run.system)],
                        alpha=1 if run.pair == first else FADED,
                    )
                warm = max(map(warmup_s, chosen))
                if warm:
                    axes.axvspan(0, warm, color="#808080", alpha=0.18, lw=0)
                    axes.text(
                        warm,
                        0.02,
                        "warm-up ",
                        ha="right",
                        va="bottom",
                        size=8,
                        transform=axes.get_xaxis_transform(),
                    )
                _from_nothing(axes)
                axes.set_xlim(left=0)
                axes.set_xlabel("s")
                axes.set_ylabel(heading(name))
                axes.grid()

            panels.append(Panel(f"{case}\n{heading(name)}", 2.4, draw))
    note = "Every run, seconds since its load began; shaded: warm-up, not measured."
    return _limited(OVER_TIME, note, panels, named)


def _told(result: Result, names: Iterable[str]) -> list[str]:
    """The series worth a plot: those whose metric the result's table has, MB/s only instead of records/s."""
    found = list(names)
    named = [name for name in found if name in result.shown] or found
    return [name for name in named if name != "mb_per_s" or "records_per_s" not in named]


def _limited(title: str, note: str, panels: list[Panel], legend: dict[str, str]) -> Group:
    """At most `MAX_PANELS`, and the note says so; many are folded."""
    more = f" {len(panels) - MAX_PANELS} more are not drawn." if len(panels) > MAX_PANELS else ""
    return Group(title, note + more, panels[:MAX_PANELS], legend, folded=len(panels) > FOLDED)


def warmup_s(run: Run) -> float:
    """How long the run warmed up, as its parameters say; 0 when they say nothing."""
    for name, unit in WARMUP.items():
        if name in run.parameters:
            return float(run.parameters[name]) * unit
    return 0.0


def thinned(points: Sequence[Sequence[float]], most: int = MAX_POINTS) -> list[Sequence[float]]:
    """At most so many points: of each stretch the one that stands out most, so that spikes stay."""
    if len(points) <= most:
        return list(points)
    step = len(points) / most
    middle = median(point[1] for point in points)
    return [
        max(points[int(n * step) : int((n + 1) * step)], key=lambda point: abs(point[1] - middle))
        for n in range(most)
    ]
