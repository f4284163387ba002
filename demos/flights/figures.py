"""What is computed per carrier, and the comparison of two ways to compute it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from demos.flights.source import Flight


@dataclass(frozen=True, slots=True)
class CarrierFigures:
    """One carrier's year: whole numbers only, so that two computations agree exactly or not at all."""

    flights: int
    """Flights planned."""
    departures: int
    """Flights that left (those with a departure time)."""
    delay_minutes: int
    """Sum of the departure delays of the flights that left; early departures count negative."""

    @property
    def mean_delay(self) -> float | None:
        """Minutes; None for a carrier none of whose flights left."""
        return self.delay_minutes / self.departures if self.departures else None


def figures_of(flights: Iterable[Flight]) -> dict[str, CarrierFigures]:
    """Carrier code -> figures, computed directly."""
    sums: dict[str, list[int]] = {}
    for flight in flights:
        row = sums.setdefault(str(flight["carrier"]), [0, 0, 0])
        row[0] += 1
        if flight["dep_time"] is not None:
            row[1] += 1
            delay = flight["dep_delay"]
            if not isinstance(delay, int):
                raise ValueError(f"a flight that left has no delay: {flight}")
            row[2] += delay
    return {carrier: CarrierFigures(*row) for carrier, row in sorted(sums.items())}


def differences(expected: Mapping[str, CarrierFigures], found: Mapping[str, CarrierFigures]) -> list[str]:
    """One line per carrier whose figures are not the same in both tables; empty when they agree."""
    lines = []
    for carrier in sorted(expected.keys() | found.keys()):
        wanted, got = expected.get(carrier), found.get(carrier)
        if wanted != got:
            lines.append(f"{carrier}: from the CSV {wanted}, from Spark {got}")
    return lines
