"""How long the host kept the machine from running: steal time.

A virtual machine whose host gives it less than its cores (a quota of CPU, neighbours) stands still for tens
of milliseconds at a time, all of its threads at once. Whoever is measured then looks slow, the more so the
later the percentile: what is withheld for 1 % of a run is in its p99. Real hardware has none.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

_STEAL = 7
"""The field of /proc/stat's first line, behind its name; ticks of all cores together (proc(5))."""


def stolen_s(stat: str) -> float:
    """Seconds, of all cores together since the machine was started; ``stat``: the text of /proc/stat."""
    return int(stat.split("\n", 1)[0].split()[1 + _STEAL]) / os.sysconf("SC_CLK_TCK")


def _now() -> tuple[float, float]:
    return time.monotonic(), stolen_s(Path("/proc/stat").read_text())


@dataclass(frozen=True, slots=True)
class Stolen:
    """From its making on."""

    _began: tuple[float, float] = field(default_factory=_now)

    def percent(self) -> float:
        """Of the time since then, as a mean over the cores."""
        (at, stolen), (began, before) = _now(), self._began
        return 100 * (stolen - before) / max((at - began) * (os.cpu_count() or 1), 1e-9)
