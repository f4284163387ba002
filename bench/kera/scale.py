"""What of a figure this machine runs. Streams, virtual logs, copies and chunks stay the paper's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from bench.cases import KIB, WRITTEN_TWICE
from bench.generator import Load
from bench.kera.figures import Figure, Point
from bench.results import KAFKA

BROKERS: Final = 4
RECORD_BYTES: Final = 100
CACHED_CHUNKS: Final = 1000
"""Per client (section V-A)."""
CHUNKS_PER_PARTITION: Final = 4
MOST_BUFFER: Final = 64 << 20
LEAST_REQUEST: Final = 1 << 20
PAPER_CORES: Final = 64
PAPER_SECONDS: Final = 60
MAX_BYTES: Final = 2e9


@dataclass(frozen=True, slots=True)
class Scale:
    """How long, how often, and how many clients a core carries."""

    seconds: float
    warmup_seconds: float
    steady_seconds: float
    pairs: int
    producers_per_core: int


SCALES: Final[Mapping[str, Scale]] = {
    "quick": Scale(seconds=3, warmup_seconds=1.5, steady_seconds=0, pairs=1, producers_per_core=4),
    "full": Scale(seconds=15, warmup_seconds=4, steady_seconds=60, pairs=2, producers_per_core=8),
}


def most_producers(scale: Scale, cores: int) -> int:
    """As many producers, and as many consumers, as all cores together carry."""
    return scale.producers_per_core * cores


def scaled(figure: Figure, scale: Scale, cores: int) -> Figure:
    """The figure with those numbers of producers that the machine carries, or with as many as it does."""
    most = most_producers(scale, cores)
    return replace(figure, producers=tuple(n for n in figure.producers if n <= most) or (most,))


def buffer_bytes(chunk_bytes: int, partitions: int) -> int:
    """A producer's cache: the paper's 1000 chunks, or four of each partition if that is more."""
    return min(MOST_BUFFER, chunk_bytes * max(CACHED_CHUNKS, CHUNKS_PER_PARTITION * partitions))


def load_of(point: Point, scale: Scale) -> Load:
    """The generator's load for a point."""
    shape, chunk = point.shape, point.chunk_kb * KIB
    partitions, entries = shape.partitions(point.system), shape.entries(point.system)
    written = shape.streams * partitions // entries
    return Load(
        RECORD_BYTES,
        chunk,
        partitions,
        topics=shape.streams,
        entries=entries,
        linger_ms=1,
        seconds=scale.seconds,
        warmup_seconds=scale.warmup_seconds,
        steady_seconds=scale.steady_seconds,
        max_bytes=MAX_BYTES,
        producers=point.producers,
        consumers=point.consumers,
        replicas=shape.copies,
        buffer_bytes=buffer_bytes(chunk, written),
        request_bytes=max(LEAST_REQUEST, chunk * (written // BROKERS + 1)),
        in_flight=1,
    )


def configs_of(point: Point) -> dict[str, str]:
    """Of the point's topics."""
    if point.system == KAFKA or point.shape.sub_partitions == 1:
        return {}
    return {"kproto.active.groups": str(point.shape.sub_partitions)}


def targets(points: Iterable[Point]) -> dict[str, float]:
    """What kproto / Apache Kafka may be at most (CPU) or at least (throughput), with three copies."""
    chunks = {point.chunk_kb for point in points if point.shape.copies == 3}
    if chunks == {1}:
        return {"cpu_s_per_million": 1 / 10, "records_per_s": 3.0}
    return {"cpu_s_per_million": 1 / 5, "records_per_s": 1.0} if chunks == {16} else {}


def notes(figure: Figure, scale: Scale, cores: int) -> list[str]:
    """What this machine cannot show, and what else differs from the paper."""
    run = scaled(figure, scale, cores)
    found = [
        f"Section {figure.section} of the paper: {PAPER_CORES} cores for brokers, clients elsewhere, up "
        f"to {PAPER_SECONDS} s. Here brokers and clients share {cores} cores and a point is "
        f"{scale.seconds:g} s: throughput is that of both together, broker CPU per record the brokers' own.",
    ]
    dropped = [n for n in figure.producers if n not in run.producers]
    if dropped:
        instead = [n for n in run.producers if n not in figure.producers]
        text = f"Not run with {', '.join(map(str, dropped))} producers: {cores} cores carry "
        found.append(
            f"{text}{most_producers(scale, cores)}" + (f", run with {instead[0]}." if instead else ".")
        )
    if run.x == "producers" and len(run.producers) < 2:
        found.append("With one number of clients the figure has one place on its x axis.")
    found.append(
        "No network between the brokers but the loopback: an RPC costs CPU and no transfer time, so fewer "
        "RPCs show as less CPU rather than as less waiting."
    )
    if figure.consumers:
        found.append(
            "Consumers are Java's with their defaults: a fetch takes all that is there of a partition, not "
            "one chunk as KerA's do."
        )
    found.append(
        "disk_mb is what the brokers' directories grew by during the run, warm-up and space reserved ahead "
        "included: many virtual logs reserve more. " + WRITTEN_TWICE
    )
    if figure.beside_kafka:
        found.append(
            "Clients are Java's for both systems: max.in.flight.requests.per.connection=1, as KerA's."
        )
    if figure.throughput:
        found.append(
            "32 streamlets of four sub-partitions: 128 partitions with kproto.active.groups=4, producer i "
            "writes to those i modulo 4" + ("; Apache Kafka: 32 partitions." if figure.beside_kafka else ".")
        )
    return found
