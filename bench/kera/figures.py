"""KerA's figures 8 to 21 as data: what each varies, what it holds, and where the paper says so.

Common to all (section V-A): four brokers, records of 100 bytes without keys, partitions in turn, linger 1 ms,
one synchronous request per broker and producer with a chunk for every partition there, a cache of up to 1000
chunks per client. Copies count the broker's own. A stream of one partition is a topic of one partition. A
stream of 32 streamlets with four sub-partitions each is a topic of 128 partitions with
``kproto.active.groups=4``, where producer i writes to the sub-partitions i modulo 4 (section IV); in Apache
Kafka it is a topic of 32 partitions.

The paper's numbers of streams are read off its text and captions; its plots may have more points between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Final

from bench.results import KAFKA, KPROTO

STREAMS: Final = (128, 256, 512)
VLOGS: Final = (1, 2, 4, 8, 16, 32)
CHUNKS_KB: Final = (4, 8, 16, 32, 64)
COPIES: Final = (1, 2, 3)
STREAMLETS: Final = 32
SUB_PARTITIONS: Final = 4
ONE_EACH: Final = 32
"""Virtual logs per broker so that each partition of 128 on four brokers has its own."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The streams of a point; clusters make their topics of it."""

    streams: int
    streamlets: int
    """Of each stream."""
    sub_partitions: int
    """Of each streamlet (kproto's active groups); Apache Kafka has none."""
    copies: int

    def partitions(self, system: str) -> int:
        """Of each stream's topic."""
        return self.streamlets * (1 if system == KAFKA else self.sub_partitions)

    def entries(self, system: str) -> int:
        """Producer i writes to the partitions i modulo this."""
        return 1 if system == KAFKA else self.sub_partitions


@dataclass(frozen=True, slots=True)
class Point:
    """One measured place of a figure."""

    shape: Shape
    vlogs: int
    """kproto.vlogs.per.broker; 0 for Apache Kafka."""
    chunk_kb: int
    producers: int
    consumers: int
    part: str
    """What a figure shows beside its x axis and the systems: copies, producers or chunks."""

    @property
    def system(self) -> str:
        """KAFKA or KPROTO."""
        return KPROTO if self.vlogs else KAFKA

    def value(self, name: str) -> int:
        """Of what an x axis shows."""
        named = {
            "streams": self.shape.streams,
            "vlogs": self.vlogs,
            "chunk_kb": self.chunk_kb,
            "producers": self.producers,
        }
        return named[name]


@dataclass(frozen=True, slots=True)
class Figure:
    """All combinations of what it varies."""

    number: int
    title: str
    section: str
    x: str
    """streams, vlogs, chunk_kb or producers."""
    streams: tuple[int, ...] = STREAMS
    throughput: bool = False
    """One stream with streamlets and sub-partitions instead of `streams` with one partition each."""
    copies: tuple[int, ...] = (3,)
    vlogs: tuple[int, ...] = (1,)
    chunks_kb: tuple[int, ...] = (1,)
    producers: tuple[int, ...] = (4,)
    consumers: bool = True
    """As many as producers; none in the paper's first experiments."""
    beside_kafka: bool = False

    def points(self) -> Iterator[Point]:
        """Those with the same streams one after the other, Apache Kafka first."""
        systems = (*((0,) if self.beside_kafka else ()), *self.vlogs)
        for copies, streams in product(self.copies, (1,) if self.throughput else self.streams):
            one = Shape(streams, STREAMLETS, SUB_PARTITIONS, copies)
            shape = one if self.throughput else Shape(streams, 1, 1, copies)
            for producers, chunk, vlogs in product(self.producers, self.chunks_kb, systems):
                consumers = producers if self.consumers else 0
                yield Point(shape, vlogs, chunk, producers, consumers, self._part(copies, producers, chunk))

    def _part(self, copies: int, producers: int, chunk_kb: int) -> str:
        varied = (
            (f"R{copies}", len(self.copies) > 1),
            (f"{producers} producers", len(self.producers) > 1 and self.x != "producers"),
            (f"{chunk_kb} KB", len(self.chunks_kb) > 1 and self.x != "chunk_kb"),
        )
        return ", ".join(text for text, shown in varied if shown)

    @property
    def name(self) -> str:
        return f"figure-{self.number:02}"


def _sub_partitions(number: int, producers: int) -> Figure:
    return Figure(
        number,
        f"One virtual log per sub-partition, {producers} producers and {producers} consumers",
        "V-D",
        "chunk_kb",
        throughput=True,
        copies=COPIES,
        vlogs=(ONE_EACH,),
        chunks_kb=CHUNKS_KB,
        producers=(producers,),
    )


def _ingestion(number: int, streams: int) -> Figure:
    title = f"Ingestion of {streams} streams varying the number of virtual logs"
    return Figure(number, title, "V-C", "vlogs", streams=(streams,), vlogs=VLOGS)


FIGURES: Final = {
    each.number: each
    for each in (
        Figure(
            8,
            "Scaling the number of streams, four producers",
            "V-B",
            "streams",
            copies=COPIES,
            vlogs=(4,),
            consumers=False,
            beside_kafka=True,
        ),
        Figure(
            9,
            "Scaling the number of clients, 128 streams, chunks of 16 KB",
            "V-B",
            "producers",
            streams=(128,),
            copies=COPIES,
            vlogs=(ONE_EACH,),
            chunks_kb=(16,),
            producers=(4, 8, 16),
            consumers=False,
            beside_kafka=True,
        ),
        Figure(
            10,
            "Low latency: scaling the number of streams, three copies",
            "V-B",
            "streams",
            vlogs=(4, 32),
            beside_kafka=True,
        ),
        Figure(
            11,
            "High throughput: one stream of 32 partitions, three copies",
            "V-B",
            "chunk_kb",
            throughput=True,
            vlogs=(ONE_EACH,),
            chunks_kb=CHUNKS_KB,
            producers=(4, 8, 16),
            beside_kafka=True,
        ),
        Figure(12, "Scaling the number of streams over one virtual log", "V-C", "streams", copies=COPIES),
        Figure(13, "Replication capacity: 1, 2 and 4 virtual logs", "V-C", "streams", vlogs=(1, 2, 4)),
        _ingestion(14, 128),
        _ingestion(15, 256),
        _ingestion(16, 512),
        _sub_partitions(17, 4),
        _sub_partitions(18, 8),
        _sub_partitions(19, 16),
        _sub_partitions(20, 32),
        Figure(
            21,
            "Varying the number of virtual logs, chunks of 32 and 64 KB",
            "V-D",
            "vlogs",
            throughput=True,
            vlogs=VLOGS,
            chunks_kb=(32, 64),
            producers=(8,),
        ),
    )
}
