"""Latencies, counted exactly: how often each was seen, and percentiles over all of them.

Imports the standard library only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, log2, nextafter
from typing import Self


class Histogram:
    """How often each latency (microseconds) was seen. Histograms of workers and of periods add up exactly."""

    def __init__(self, counts: Mapping[int, int] | None = None) -> None:
        self.counts: dict[int, int] = dict(counts or {})

    @classmethod
    def parse(cls, found: Mapping[str, Sequence[int]]) -> Self:
        """From what a worker answers."""
        return cls(dict(zip(found["us"], found["counts"], strict=True)))

    def add(self, other: Histogram) -> None:
        """Count what the other one counted, too."""
        mine = self.counts
        for value, count in other.counts.items():
            mine[value] = mine.get(value, 0) + count

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def mean(self) -> float:
        """Microseconds; 0 when empty."""
        total = self.total
        return sum(value * count for value, count in self.counts.items()) / total if total else 0.0

    @property
    def highest(self) -> int:
        """Microseconds; 0 when empty."""
        return max(self.counts, default=0)

    def percentiles(self, wanted: Iterable[float]) -> list[int]:
        """The least latency that at least that many percent of the events do not exceed; 0 when empty."""
        ordered, total, found = sorted(self.counts), self.total, {}
        seen, place = 0, 0
        levels = list(wanted)
        for level in sorted(levels):
            # One unit in the last place less: 99.9 % of 1000 is 999, however the product was rounded.
            rank = max(1, ceil(nextafter(level / 100 * total, 0)))
            while place < len(ordered) and seen + self.counts[ordered[place]] < rank:
                seen += self.counts[ordered[place]]
                place += 1
            found[level] = ordered[min(place, len(ordered) - 1)] if ordered else 0
        return [found[level] for level in levels]

    def quantile_steps(self, ticks_per_half: int = 100) -> list[tuple[float, int]]:
        """(percent of the events up to here, latency): that many steps in each half of what remains to 100 %.

        The steps of HdrHistogram's percentile iteration, which the OpenMessaging benchmark writes down.
        """
        steps: list[tuple[float, int]] = []
        total, seen, level = self.total, 0, 0.0
        for value in sorted(self.counts):
            seen += self.counts[value]
            reached = 100.0 * seen / total
            while reached >= level and seen < total:
                if not steps or steps[-1][1] != value:
                    steps.append((reached, value))
                level += 100.0 / (ticks_per_half * 2 ** (floor(log2(100.0 / (100.0 - level))) + 1))
        if total:
            steps.append((100.0, self.highest))
        return steps
