"""Result files with the OpenMessaging benchmark's keys, so that its chart tools read them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bench.histogram import Histogram
from bench.omb.settings import Driver, Workload
from bench.workers import DELAY, END_TO_END, PUBLISH

LEVELS = {"50pct": 50.0, "75pct": 75.0, "95pct": 95.0, "99pct": 99.0, "999pct": 99.9, "9999pct": 99.99}

PUBLISH_US_MAX = 60_000_000
"""Publish latencies and delays above a minute count as a minute."""

MEASURES = {
    "publishLatency": (PUBLISH, 1000.0, PUBLISH_US_MAX),
    "publishDelayLatency": (DELAY, 1, PUBLISH_US_MAX),
    "endToEndLatency": (END_TO_END, 1000.0, None),
}
"""Key -> the histogram, how many microseconds are its unit, and the most that is counted (microseconds)."""


@dataclass(slots=True)
class Period:
    """What happened between two looks at the workers."""

    at_s: float
    """Its end, seconds since the load began."""
    seconds: float
    """How long it was."""
    published: int
    errors: int
    received: int
    backlog: int
    """Records still to be received, at its end."""
    histograms: dict[str, Histogram]


def capped(histogram: Histogram, most: int | None) -> Histogram:
    """With what lies above ``most`` microseconds counted there."""
    if most is None or histogram.highest <= most:
        return histogram
    found = Histogram({value: count for value, count in histogram.counts.items() if value <= most})
    found.add(Histogram({most: histogram.total - found.total}))
    return found


def together(periods: Iterable[Period]) -> dict[str, Histogram]:
    """The histograms of all periods, added up."""
    found: dict[str, Histogram] = {}
    for period in periods:
        for kind, histogram in period.histograms.items():
            found.setdefault(kind, Histogram()).add(histogram)
    return found


def figures(histogram: Histogram, unit: float) -> dict[str, float]:
    """Suffix of OMB's keys -> value: mean, percentiles, greatest; in ``unit`` microseconds."""
    values = histogram.percentiles(LEVELS.values())
    found = {"Avg": histogram.mean / unit}
    found |= {name: _in(unit, value) for name, value in zip(LEVELS, values, strict=True)}
    return {**found, "Max": _in(unit, histogram.highest)}


def _in(unit: float, microseconds: int) -> float:
    """Whole microseconds stay whole numbers, as in OMB's files."""
    return microseconds if unit == 1 else microseconds / unit


def result(workload: Workload, driver: Driver, periods: list[Period]) -> dict[str, Any]:
    """The file's content, with the OpenMessaging benchmark's keys and units.

    Rates are records per second, the backlog records, publish and end-to-end latencies milliseconds, delays
    microseconds.
    """
    found: dict[str, Any] = {
        "workload": workload.name,
        "driver": driver.name,
        "messageSize": workload.messageSize,
        "topics": workload.topics,
        "partitions": workload.partitionsPerTopic,
        "producersPerTopic": workload.producersPerTopic,
        "consumersPerTopic": workload.consumerPerSubscription,
        "publishRate": [period.published / period.seconds for period in periods],
        "publishErrorRate": [period.errors / period.seconds for period in periods],
        "consumeRate": [period.received / period.seconds for period in periods],
        "backlog": [period.backlog for period in periods],
    }
    everything = together(periods)
    for key, (kind, unit, most) in MEASURES.items():
        rows = [figures(capped(period.histograms[kind], most), unit) for period in periods]
        for suffix in figures(Histogram(), unit):
            found[f"{key}{suffix}"] = [row[suffix] for row in rows]
        whole = capped(everything.get(kind, Histogram()), most)
        name = f"aggregated{key[0].upper()}{key[1:]}"
        found |= {f"{name}{suffix}": value for suffix, value in figures(whole, unit).items()}
        steps = whole.quantile_steps()
        found[f"{name}Quantiles"] = {str(percent): _in(unit, value) for percent, value in steps}
    return found
