"""What a suite measured: runs of both systems under the same cases, as one JSON file per result.

Every command of the suite writes a `Result`; the report page and the published tables read nothing else.
Metrics carry their unit at the end of their name (MB of values, 1e6 bytes): `records_per_s`, `mb_per_s`,
`broker_cpu_s`, `cpu_s_per_million`, `cpu_s_per_gb`, `client_cpu_s`, `client_cpu_s_per_million`,
`peak_rss_mb`, `rpcs_per_s`, `chunks_per_rpc`, `disk_mb`, `publish_p50_ms` (also p99, p999, p9999, max),
`e2e_p50_ms` and so on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

KPROTO = "kproto"
KAFKA = "kafka"


@dataclass(slots=True)
class Run:
    """One run of one system."""

    system: str
    """`KPROTO` or `KAFKA`, or a variant of them such as ``kproto, 4 vlogs``."""
    case: str
    pair: int
    """Runs of both systems with the same number were made one after the other."""
    parameters: dict[str, Any]
    metrics: dict[str, float]
    series: dict[str, list[list[float]]] = field(default_factory=dict)
    """Name -> [seconds since the start of the load, value]; the name carries the unit."""
    quantiles: dict[str, dict[str, float]] = field(default_factory=dict)
    """Name with unit (``publish_ms``) -> percentile as text ("99.9") -> value."""


@dataclass(slots=True)
class Result:
    """What one command measured."""

    suite: str
    """omb, kera, pravega, ..."""
    name: str
    title: str
    command: str
    """The command that measures it again."""
    environment: dict[str, Any]
    targets: dict[str, dict[str, float]] = field(default_factory=dict)
    """Case -> metric -> the most that kproto / Apache Kafka may be (the least, for `*_per_s`)."""
    notes: list[str] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    def cases(self) -> list[str]:
        """In the order of their first runs."""
        return list(dict.fromkeys(run.case for run in self.runs))

    def systems(self) -> list[str]:
        """In the order of their first runs."""
        return list(dict.fromkeys(run.system for run in self.runs))

    def of(self, case: str, system: str) -> list[Run]:
        """The runs of a case on a system, by pair."""
        found = [run for run in self.runs if run.case == case and run.system == system]
        return sorted(found, key=lambda run: run.pair)

    def medians(self, case: str, system: str) -> dict[str, float]:
        """The median of each metric that all of these runs have."""
        runs = self.of(case, system)
        shared = set.intersection(*(set(run.metrics) for run in runs)) if runs else set()
        return {
            name: median(run.metrics[name] for run in runs)
            for name in (runs[0].metrics if runs else ())
            if name in shared
        }

    def ratios(self, case: str, ours: str = KPROTO, theirs: str = KAFKA) -> dict[str, list[float]]:
        """Metric -> ours / theirs, one per pair that both have: the two runs of a pair shared the machine."""
        other = {run.pair: run.metrics for run in self.of(case, theirs)}
        found: dict[str, list[float]] = {}
        for run in self.of(case, ours):
            for name, value in run.metrics.items():
                beside = other.get(run.pair, {}).get(name)
                if beside:
                    found.setdefault(name, []).append(value / beside)
        return found

    def save(self, directory: Path) -> Path:
        """Write ``<directory>/<suite>-<name>.json``; the path."""
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / f"{self.suite}-{self.name}.json"
        path.write_text(json.dumps(asdict(self), indent=1))
        return path


def load(path: Path) -> Result:
    """Read what `Result.save` wrote. Raises KeyError or TypeError for anything else."""
    found: Mapping[str, Any] = json.loads(path.read_text())
    runs = [Run(**run) for run in found["runs"]]
    return Result(**{**found, "runs": runs})
