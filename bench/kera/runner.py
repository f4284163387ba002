"""A figure on running clusters, the systems in turn at each of its places.

Topics are made once for all points of the same streams, and anew when the brokers' disks hold too much.
kproto's virtual logs are changed while it runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Final

from rich.console import Console

from bench.cluster import create, run_once
from bench.clusters import Cluster, KprotoCluster
from bench.kera.figures import Figure, Point, Shape
from bench.kera.scale import Scale, configs_of, load_of, notes, scaled, targets
from bench.results import KAFKA, KPROTO, Result, in_short
from bench.topics import Topics, disk_bytes

SHOWN: Final = (
    "records_per_s",
    "cpu_s_per_million",
    "client_cpu_s_per_million",
    "rpcs_per_s",
    "chunks_per_rpc",
    "chunks_per_produce",
    "publish_p50_ms",
    "peak_rss_mb",
    "disk_mb",
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
class FigureRun:
    """One figure: where it is measured and what of it is there so far."""

    figure: Figure
    """As the paper has it."""
    clusters: Mapping[str, Cluster]
    scale: Scale
    cores: int
    command: str
    environment: Mapping[str, object]
    out: Path
    console: Console
    results: dict[str, Result] = field(default_factory=dict)
    _topics: dict[str, Topics] = field(default_factory=dict)
    _ready_s: dict[str, float] = field(default_factory=dict)

    def measure(self) -> list[Result]:
        """Every point in every pair; results are written after each run. A run that fails is noted."""
        points = [
            each
            for each in scaled(self.figure, self.scale, self.cores).points()
            if each.system in self.clusters
        ]
        for shape, group in groupby(points, lambda each: each.shape):
            mine = list(group)
            try:
                for pair, point in self._in_turn(mine):
                    self._one(point, shape, pair, mine)
            finally:
                for topics in self._topics.values():
                    topics.delete()
                self._topics.clear()
        return list(self.results.values())

    def _in_turn(self, points: Sequence[Point]) -> Iterator[tuple[int, Point]]:
        for pair in range(self.scale.pairs):
            for point in points:
                yield pair, point

    def _one(self, point: Point, shape: Shape, pair: int, beside: Sequence[Point]) -> None:
        figure, system = self.figure, point.system
        cluster, load = self.clusters[system], load_of(point, self.scale)
        result = self._result(point, beside)
        name = f"{figure.name} {case_name(figure, point)} {point.part} {system_name(figure, point)}"
        try:
            if isinstance(cluster, KprotoCluster):
                cluster.set_vlogs(point.vlogs)
            if system not in self._topics:
                self._topics[system], self._ready_s[system] = create(cluster, load, configs_of(point))
            run = run_once(
                cluster,
                system_name(figure, point),
                case_name(figure, point),
                pair,
                load,
                self._topics[system],
            )
        except RuntimeError as failure:
            text = in_short(failure)
            result.notes.append(f"{name} failed: {text}")
            self.console.print(f"failed: {name}: {text}", highlight=False)
            return
        run.parameters |= {
            "streams": shape.streams,
            "copies": shape.copies,
            "vlogs": point.vlogs,
            "chunk_kb": point.chunk_kb,
            "part": point.part,
        }
        run.metrics["topics_ready_s"] = self._ready_s[system]
        result.runs.append(run)
        result.save(self.out)
        shown = ", ".join(f"{key} {run.metrics[key]:.4g}" for key in SHOWN[:5] if key in run.metrics)
        self.console.print(f"{name}: {shown}", highlight=False)
        if disk_bytes(cluster.directory) > DISK_LIMIT:
            self._topics.pop(system).delete()

    def _result(self, point: Point, beside: Sequence[Point]) -> Result:
        figure, name = self.figure, result_name(self.figure, point)
        if name not in self.results:
            part = f", {point.part}" if figure.beside_kafka and point.part else ""
            self.results[name] = Result(
                "kera",
                name,
                f"KerA figure {figure.number}{part}: {figure.title}",
                self.command,
                dict(self.environment),
                x=figure.x,
                shown=list(SHOWN),
                notes=notes(figure, self.scale, self.cores),
            )
        result = self.results[name]
        if figure.beside_kafka:
            alike = [each for each in beside if each.part == point.part]
            result.targets[case_name(figure, point)] = targets(alike)
        return result
