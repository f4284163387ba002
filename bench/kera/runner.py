"""Figures on running clusters, the systems in turn at each of their places.

A point that several figures show is measured once. Topics are made once for all points of the same streams,
and anew when the brokers' disks hold too much. kproto's virtual logs are changed while it runs. A run that
fails is noted in the figures that lack it then, and the others go on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from rich.console import Console

from bench.cluster import create, run_once
from bench.clusters import Cluster, KprotoCluster
from bench.kera.figures import FIGURES, Figure, Point, Shape
from bench.kera.plan import Place, Shared, beside, plan
from bench.kera.scale import Scale, configs_of, load_of, notes, scaled, targets
from bench.options import noted
from bench.results import KAFKA, KPROTO, Result, Run
from bench.topics import Topics, disk_bytes

SHOWN: Final = (
    "records_per_s",
    "cpu_s_per_million",
    "client_cpu_s_per_million",
    "rpcs_per_s",
    "chunks_per_rpc",
    "chunks_per_produce",
    "publish_p50_ms",
    "publish_p99_ms",
    "peak_rss_mb",
    "disk_mb",
    "stolen_percent",
)
DISK_LIMIT: Final = 12e9
"""Bytes below a cluster's directory from which on its topics are made anew."""
UNITS: Final = {"streams": "streams", "vlogs": "vlogs", "chunk_kb": "KB", "producers": "producers"}


def system_name(figure: Figure, point: Point) -> str:
    """As the lines of the figure are called. What is compared with Apache Kafka has its part in a result of
    its own, see `result_name`; elsewhere it is part of the name."""
    if point.system == KAFKA:
        return KAFKA
    words = [KPROTO]
    if figure.x != "vlogs":
        words.append(f"{point.vlogs} vlog{'s' if point.vlogs > 1 else ''}")
    if not figure.beside_kafka and point.part:
        words.append(point.part)
    return ", ".join(words)


def result_name(figure: Figure, point: Point) -> str:
    """A result for each part of a figure with Apache Kafka, so that ratios compare like with like."""
    if not figure.beside_kafka or not point.part:
        return figure.name
    return f"{figure.name}-{point.part.lower().replace(' ', '-').replace(',', '')}"


def case_name(figure: Figure, point: Point) -> str:
    """A place on the x axis."""
    return f"{point.value(figure.x)} {UNITS[figure.x]}"


@dataclass(slots=True)
class Pass:
    """Figures together: where they are measured and what of them is there so far."""

    figures: Sequence[Figure]
    """As the paper has them."""
    clusters: Mapping[str, Cluster]
    scale: Scale
    cores: int
    command: str
    environment: Mapping[str, object]
    out: Path
    console: Console
    results: dict[int, dict[str, Result]] = field(default_factory=dict)
    """Number of the figure -> name -> result; written after each run."""
    _topics: dict[str, Topics] = field(default_factory=dict)
    _ready_s: dict[str, float] = field(default_factory=dict)

    def measure(self) -> None:
        """Every point in every pair."""
        points = plan(scaled(each, self.scale, self.cores) for each in self.figures)
        number, every = 0, sum(map(len, points.values())) * self.scale.pairs
        for shape, group in points.items():
            mine = [each for each in group if each.point.system in self.clusters]
            number += (len(group) - len(mine)) * self.scale.pairs
            for pair in range(self.scale.pairs):
                for shared in mine:
                    number += 1
                    self.console.print(f"{number}/{every} {_named(shared)}", highlight=False)
                    self._one(shared, shape, pair, mine)
            self._forget()

    def _one(self, shared: Shared, shape: Shape, pair: int, group: Sequence[Shared]) -> None:
        point = shared.point
        system, cluster = point.system, self.clusters[point.system]
        results = [self._result(place, group) for place in shared.places]
        failed: list[str] = []
        run = None
        with noted(_named(shared), failed, self.console):
            run = self._run(point, pair)
        if run is None:
            for result in results:
                result.notes += failed
                result.save(self.out)
            self._forget(system)
            return
        for place, result in zip(shared.places, results, strict=True):
            result.runs.append(_shown_as(run, place, shape))
            result.save(self.out)
        shown = ", ".join(f"{key} {run.metrics[key]:.4g}" for key in SHOWN[:5] if key in run.metrics)
        self.console.print(f"  {shown}", highlight=False)
        if disk_bytes(cluster.directory) > DISK_LIMIT:
            self._forget(system)

    def _run(self, point: Point, pair: int) -> Run:
        system, load = point.system, load_of(point, self.scale)
        cluster = self.clusters[system]
        if isinstance(cluster, KprotoCluster):
            cluster.set_vlogs(point.vlogs)
        if system not in self._topics:
            self._topics[system], self._ready_s[system] = create(cluster, load, configs_of(point))
        run = run_once(cluster, system, "", pair, load, self._topics[system])
        run.metrics["topics_ready_s"] = self._ready_s[system]
        return run

    def _forget(self, *systems: str) -> None:
        """Delete the topics of these systems, of all without names."""
        for system in systems or tuple(self._topics):
            topics = self._topics.pop(system, None)
            if topics is not None:
                with noted(f"deleting topics on {system}", [], self.console):
                    topics.delete()

    def _result(self, place: Place, group: Sequence[Shared]) -> Result:
        point, figure = place.point, FIGURES[place.figure.number]
        name = result_name(figure, point)
        results = self.results.setdefault(figure.number, {})
        if name not in results:
            part = f", {point.part}" if figure.beside_kafka and point.part else ""
            results[name] = Result(
                "kera",
                name,
                f"KerA figure {figure.number}{part}: {figure.title}",
                self.command,
                dict(self.environment),
                x=figure.x,
                shown=list(SHOWN),
                notes=notes(figure, self.scale, self.cores),
            )
        result = results[name]
        if figure.beside_kafka:
            result.targets[case_name(figure, point)] = targets(beside(group, place))
        return result


def _named(shared: Shared) -> str:
    """A point and who shows it, for people."""
    point = shared.point
    numbers = ", ".join(str(place.figure.number) for place in shared.places)
    vlogs = f" with {point.vlogs} vlogs" if point.vlogs else ""
    return (
        f"{point.system}{vlogs}: {point.shape.streams} streams, R{point.shape.copies}, {point.chunk_kb} KB, "
        f"{point.producers} producers, {point.consumers} consumers (figure {numbers})"
    )


def _shown_as(run: Run, place: Place, shape: Shape) -> Run:
    """The run as a figure names it."""
    figure, point = FIGURES[place.figure.number], place.point
    more = {
        "streams": shape.streams,
        "copies": shape.copies,
        "vlogs": point.vlogs,
        "chunk_kb": point.chunk_kb,
        "part": point.part,
    }
    return replace(
        run,
        system=system_name(figure, point),
        case=case_name(figure, point),
        parameters=run.parameters | more,
    )
