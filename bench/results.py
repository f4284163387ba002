"""What a suite measured: runs of both systems under the same cases, as one JSON file per result.

Every command of the suite writes a `Result`; the report page and the published tables read nothing else.
Metrics carry their unit at the end of their name (MB of values, 1e6 bytes): `records_per_s`, `mb_per_s`,
`broker_cpu_s`, `cpu_s_per_million`, `cpu_s_per_gb`, `client_cpu_s`, `client_cpu_s_per_million`,
`peak_rss_mb`, `rpcs_per_s`, `chunks_per_rpc`, `disk_mb`, `publish_p50_ms` (also p99, p999, p9999, max),
`e2e_p50_ms` and so on. `direction` says which of them are better when they are more, and which when they are
less; the others explain and are not judged.

May import the standard library only: this is the bottom of the suite.
"""

from __future__ import annotations

import json
import os
import reprlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import inf, isfinite
from pathlib import Path
from statistics import median
from typing import Any, Final

KPROTO = "kproto"
KAFKA = "kafka"
FAILED_RUN = " failed: "
"""What is in a note about a run that is missing."""
MOST_LETTERS = 300
"""Of a failure in a note."""
MARGIN = 0.01
"""A difference smaller than that is none: at a fixed rate both reach it, but for the last record."""

MORE_IS_BETTER = ("records_per_s", "events_per_s", "mb_per_s", "mib_per_s", "gb_per_s")
EXPLAINING = (
    "rpcs",
    "chunks_per",
    "pushes",
    "client_",
    "worker_",
    "broker_cpu_s",
    "disk_mb",
    "backlog",
    "sent",
    "stolen",
)
"""How these names begin: they depend on how much was done, or are means and no ends."""
LESS_IS_BETTER = ("_s", "_ms", "_us", "_mb", "_percent", "cores", "_per_million", "_per_gb")
"""How these names end."""


def direction(metric: str) -> int:
    """1: more is better, -1: less is better, 0: explains something and is not judged."""
    if metric.startswith(EXPLAINING):
        return 0
    if metric.endswith(MORE_IS_BETTER):
        return 1
    if metric.endswith("_per_s") or not metric.endswith(LESS_IS_BETTER):
        return 0
    return -1


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


@dataclass(frozen=True, slots=True)
class Verdict:
    """One figure of kproto, judged."""

    case: str
    system: str
    metric: str
    ours: float | None
    """kproto's median."""
    theirs: float | None
    """Apache Kafka's median."""
    ratios: list[float]
    """Ours / theirs, pair by pair."""
    target: float | None
    """For the median ratio; see `Result.targets`."""
    limit: float | None
    """For our median."""

    @property
    def ratio(self) -> float | None:
        """The median over the pairs, not the ratio of the medians."""
        return median(self.ratios) if self.ratios else None

    @property
    def lost(self) -> bool:
        """Apache Kafka is better, by the median of the pairs and by more than `MARGIN`."""
        return self.severity > 1 + MARGIN

    @property
    def clear(self) -> bool:
        """Every pair agrees with the median about who is better."""
        return len({self._worse(ratio, 1.0) for ratio in self.ratios}) <= 1

    @property
    def met(self) -> bool | None:
        """Whether target and limit are met; None where there is none. What was not measured is missed."""
        judged = []
        if self.target is not None:
            judged.append(bool(self.ratios) and not self._worse(median(self.ratios), self.target))
        if self.limit is not None:
            judged.append(self.ours is not None and not self._worse(self.ours, self.limit))
        return all(judged) if judged else None

    @property
    def severity(self) -> float:
        """How much worse than Apache Kafka, as a factor: 2 is half as good, 1 or less is no loss."""
        ratio = self.ratio
        if ratio is None:
            return 0.0
        if direction(self.metric) > 0:
            return 1 / ratio if ratio else inf
        return ratio

    def _worse(self, value: float, than: float) -> bool:
        return value < than if direction(self.metric) > 0 else value > than


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
    """Case -> metric -> the most that kproto / Apache Kafka may be (the least, where more is better)."""
    limits: dict[str, dict[str, float]] = field(default_factory=dict)
    """The same for kproto's figure by itself."""
    x: str = ""
    """The parameter over which the page draws lines; without it, bars of the ratios case by case."""
    shown: list[str] = field(default_factory=list)
    """The metrics of the table and, over `x`, of the plots, in their order; none: all."""
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
        """The median of each metric over the runs that have it."""
        runs = self.of(case, system)
        names = dict.fromkeys(name for run in runs for name in run.metrics)
        return {name: median(run.metrics[name] for run in runs if name in run.metrics) for name in names}

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

    def verdicts(self) -> list[Verdict]:
        """Every figure of kproto that is judged: beside Apache Kafka's, against its target, or both. Of a
        case in which only Apache Kafka has a run, as kproto failed, targets and limits: they are missed."""
        found = []
        kinds = [name for name in self.systems() if name.startswith(KPROTO)]
        for case in self.cases():
            ours = [name for name in kinds if self.of(case, name)] or kinds[:1]
            for system in [KPROTO] if KPROTO in ours else ours:
                found += self._verdicts_of(case, system)
        return found

    def _verdicts_of(self, case: str, system: str) -> list[Verdict]:
        ours, theirs = self.medians(case, system), self.medians(case, KAFKA)
        ratios = self.ratios(case, system)
        targets, limits = self.targets.get(case, {}), self.limits.get(case, {})
        named = self.shown or list(ours)
        return [
            Verdict(
                case,
                system,
                name,
                ours.get(name),
                theirs.get(name),
                ratios.get(name, []),
                targets.get(name),
                limits.get(name),
            )
            for name in dict.fromkeys([*named, *targets, *limits])
            if (name in ratios and direction(name)) or name in targets or name in limits
        ]

    def save(self, directory: Path) -> Path:
        """Write ``<directory>/<suite>-<name>.json``; the path. On a full disk what was there before stays."""
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / f"{self.suite}-{self.name}.json"
        fresh = path.with_suffix(".json-tmp")
        try:
            fresh.write_text(json.dumps(asdict(self), indent=1))
            os.replace(fresh, path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
        return path


_NUMBERS: Final = {str: float}
_RUN: Final = {
    **{"system": str, "case": str, "pair": int, "parameters": {str: object}, "metrics": {str: object}},
    **{"series": {str: [(float, float)]}, "quantiles": {str: _NUMBERS}},
}
_RESULT: Final = {
    **dict.fromkeys(("suite", "name", "title", "command", "x"), str),
    **{"environment": {str: object}, "targets": {str: _NUMBERS}, "limits": {str: _NUMBERS}},
    **{"shown": [str], "notes": [str], "runs": [object]},
}
"""What JSON has for each field; a tuple is a list of that length."""


def _fits(value: Any, form: Any) -> bool:
    if isinstance(form, dict):
        inside = next(iter(form.values()))
        return isinstance(value, dict) and all(_fits(each, inside) for each in value.values())
    if isinstance(form, list):
        return isinstance(value, list) and all(_fits(each, form[0]) for each in value)
    if isinstance(form, tuple):
        return isinstance(value, list) and len(value) == len(form) and all(map(_fits, value, form))
    if form in (int, float):
        return isinstance(value, int if form is int else (int, float)) and not isinstance(value, bool)
    return isinstance(value, form)


def _check(fields: Mapping[str, Any], forms: Mapping[str, Any]) -> None:
    for name, value in fields.items():
        if name in forms and not _fits(value, forms[name]):
            raise ValueError(f"{name} is {reprlib.repr(value)}")


def load(path: Path) -> Result:
    """Read what `Result.save` wrote. Raises KeyError, TypeError or ValueError for anything else."""
    found: Mapping[str, Any] = json.loads(path.read_text())
    _check(found, _RESULT)
    for run in found["runs"]:
        _check(dict(run), _RUN)
    runs = [Run(**run) for run in found["runs"]]
    if found.get("x") and any(found["x"] not in run.parameters for run in runs):
        raise ValueError(f"a run does not say its {found['x']}")
    for run in runs:
        for name, value in run.metrics.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
                raise ValueError(f"{name} of {run.case} on {run.system} is {value!r}")
    return Result(**{**found, "runs": runs})


def in_short(failure: BaseException) -> str:
    """What a note says of a failure: how its first two lines begin, as one, or what kind it is."""
    text = " ".join(str(failure).splitlines()[:2]) or type(failure).__name__
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]} ..."
