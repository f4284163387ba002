"""What is measured for several figures together: each point once, whoever shows it.

Figures 10 and 12 to 16 are views of the same 27 points, and figure 21 has two of figure 11's. A run of such a
point is put into each of its figures.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from bench.kera.figures import Figure, Point, Shape


@dataclass(frozen=True, slots=True)
class Place:
    """Where a figure shows a point."""

    figure: Figure
    point: Point
    """As this figure calls its part."""


@dataclass(slots=True)
class Shared:
    """A point that is measured, and all places that show it."""

    point: Point
    places: list[Place] = field(default_factory=list)


def plan(figures: Iterable[Figure]) -> dict[Shape, list[Shared]]:
    """Points by their streams, so that topics are made once for each; both in the order of the figures.

    A figure that is given twice is one. Points that differ in nothing but the name of their part are one.
    """
    found: dict[Shape, dict[Point, Shared]] = {}
    for figure in dict.fromkeys(figures):
        for point in figure.points():
            same = replace(point, part="")
            shared = found.setdefault(point.shape, {}).setdefault(same, Shared(same))
            shared.places.append(Place(figure, point))
    return {shape: list(points.values()) for shape, points in found.items()}


def beside(points: Iterable[Shared], place: Place) -> list[Point]:
    """The points of a figure with the same streams and part as a place."""
    return [
        each.point
        for shared in points
        for each in shared.places
        if each.figure is place.figure and each.point.part == place.point.part
    ]
