"""The raw results of a run: one row of 24 bytes per event, and a description of where they come from.

A row is what a load worker writes (`bench.workers.RAW_FIELDS`): when the event was due, how much later it was
sent, how much later than due it was acked (kind 0) or received (kind 1), its size, and which client.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.workers import RAW_FIELDS

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

EVENT_BYTES = 24
PUBLISHED, RECEIVED = 0, 1
SUFFIX = ".events"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the events of a file come from. All times are of the clock of that file's events."""

    suite: str
    run: str
    """Of one call of a suite's command; the same on all machines that put load on the same brokers."""
    system: str
    case: str
    pair: int
    begin_us: int
    """When the load began, microseconds since the epoch."""
    from_us: int
    """Events that were due from here ..."""
    until_us: int
    """... and before this are measured; the others are warm-up and tail."""
    worker: int = 0
    host: str = field(default_factory=platform.node)
    parameters: dict[str, Any] = field(default_factory=dict)


class LandingError(RuntimeError):
    """A topic does not take, or does not hold, each event once."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file of events."""

    path: Path
    origin: Origin
    events: int


def describe(path: Path, origin: Origin) -> None:
    """Write the description that belongs to the events in ``path`` (``NAME.events`` -> ``NAME.json``)."""
    path.with_suffix(".json").write_text(json.dumps(asdict(origin), indent=1))


def find(directories: Iterable[Path]) -> list[Source]:
    """Every file of events in the directories and below, in the order of their names.

    Raises ValueError for a file without a description, one whose description is damaged, one that ends inside
    an event, and one that has the same origin as another (it would count twice).
    """
    found: dict[tuple[str, str, str, str, int, str, int], Source] = {}
    for path in sorted({each.resolve() for top in directories for each in top.rglob(f"*{SUFFIX}")}):
        described = path.with_suffix(".json")
        if not described.exists():
            raise ValueError(f"{path} has no {described.name} beside it")
        try:
            origin = Origin(**json.loads(described.read_text()))
        except (TypeError, ValueError) as problem:
            raise ValueError(f"{described}: {problem}") from problem
        size = path.stat().st_size
        if size % EVENT_BYTES:
            raise ValueError(f"{path}: {size} bytes are no whole events")
        name = (origin.suite, origin.run, origin.system, origin.case, origin.pair, origin.host, origin.worker)
        if name in found:
            raise ValueError(f"{path} and {found[name].path} have the same origin: {name}")
        found[name] = Source(path, origin, size // EVENT_BYTES)
    return list(found.values())


def read(path: Path) -> NDArray[numpy.void]:
    """The events of a file as a numpy array of rows; the file is mapped, not read."""
    import numpy

    if not path.stat().st_size:
        return numpy.empty(0, dtype=numpy.dtype(RAW_FIELDS))
    return numpy.memmap(path, dtype=numpy.dtype(RAW_FIELDS), mode="r")
