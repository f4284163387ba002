"""How long answers take: a histogram for each API, of some of its requests."""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

BOUNDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds; what takes longer is in a last bucket."""
EACH: Final = 17
"""Of Produce and Fetch one request in so many is timed: all of them would cost more than it is worth. A
prime, so that it is not the same client's again and again."""


class Latency:
    """Call it with the seconds from when a request was there, whole, to when its answer was known."""

    __slots__ = ("counts", "seconds")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0
        """The sum of all."""

    def __call__(self, seconds: float) -> None:
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """Upper bound, and how many took no longer, as Prometheus wants them."""
        found: list[tuple[str, float]] = []
        so_far = 0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), self.counts, strict=True):
            so_far += count
            found.append((bound, so_far))
        return found
