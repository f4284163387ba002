"""Events into Parquet files and into a topic: the same rows, with their origin in every one of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from bench.analysis.raw import LandingError, Origin, Source, read
from bench.workers import RAW_FIELDS

if TYPE_CHECKING:
    import pyarrow
    from confluent_kafka import KafkaError, Message

ROW_GROUP = 1_000_000
EVENTS_PER_RECORD = 2_000
PARTITIONS = 4
ORIGIN_HEADER = "origin"
HEADER_EVENTS = "events"
ANSWER_S = 20
ORIGIN_TEXTS = ("suite", "run", "host", "system", "case")
ORIGIN_NUMBERS = ("pair", "worker", "begin_us", "from_us", "until_us")

SCHEMA = ", ".join(
    [
        *(f"`{name}` STRING" for name in ORIGIN_TEXTS),
        *(f"`{name}` BIGINT" for name in ORIGIN_NUMBERS),
        *(f"`{name}` BIGINT" for name, _ in RAW_FIELDS),
    ]
)
"""The columns of an event for Spark, in both ways: its origin's, then its own."""


def columns(rows: bytes, origin: Origin) -> pyarrow.RecordBatch:
    """Whole events -> one Arrow batch with the columns of `SCHEMA`."""
    import numpy
    import pyarrow

    events = numpy.frombuffer(rows, dtype=numpy.dtype(RAW_FIELDS))
    arrays = {
        name: pyarrow.repeat(pyarrow.scalar(getattr(origin, name), kind), len(events))
        for names, kind in ((ORIGIN_TEXTS, pyarrow.string()), (ORIGIN_NUMBERS, pyarrow.int64()))
        for name in names
    }
    for name, _ in RAW_FIELDS:
        arrays[name] = pyarrow.array(events[name].astype("int64"))
    return pyarrow.RecordBatch.from_pydict(arrays)


def to_parquet(sources: Iterable[Source], directory: Path) -> int:
    """One Parquet file per source in the new ``directory``; how many events there are.

    Raises FileExistsError when the directory is there: events of another call would be counted, too.
    """
    import pyarrow.parquet

    directory.mkdir(parents=True)
    events = 0
    for number, source in enumerate(sources):
        with pyarrow.parquet.ParquetWriter(
            directory / f"{number:05d}.parquet", columns(b"", source.origin).schema, compression="zstd"
        ) as writer:
            for rows in _blocks(source, ROW_GROUP):
                writer.write_batch(columns(rows, source.origin))
        events += source.events
    return events


def has_topic(bootstrap: str, topic: str) -> bool:
    """Whether there is one of that name. Raises LandingError when no broker answers."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    try:
        return topic in AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=ANSWER_S).topics
    except KafkaException as failure:
        raise LandingError(f"{bootstrap} does not answer: {failure.args[0].str()}") from failure


def header_of(source: Source) -> str:
    """What each record of a source carries: where its events come from, and how many there are in all."""
    return json.dumps({**asdict(source.origin), HEADER_EVENTS: source.events})


def origin_of(header: str) -> Origin:
    """The origin in it."""
    found = json.loads(header)
    found.pop(HEADER_EVENTS, None)
    return Origin(**found)


def wrongly_landed(found: Iterable[tuple[str | None, int]]) -> list[str]:
    """One line for each source of which a topic holds other than all events, once; ``found``: headers and
    how many events came with them. Who landed a source twice, or was interrupted, would get wrong rates."""
    wrong = []
    for header, events in found:
        if header is None:
            wrong.append("records that are no events")
            continue
        said = json.loads(header)
        if said.get(HEADER_EVENTS, events) != events:
            place = ", ".join(str(said[name]) for name in ("run", "system", "case", "pair", "host", "worker"))
            wrong.append(f"{place}: {events:,} events of {said[HEADER_EVENTS]:,}")
    return sorted(wrong)


def create_topic(bootstrap: str, topic: str) -> bool:
    """Make the topic, which keeps everything; False when there is one of that name already."""
    from confluent_kafka import KafkaError, KafkaException
    from confluent_kafka.admin import AdminClient, NewTopic

    wanted = NewTopic(topic, num_partitions=PARTITIONS, replication_factor=1, config={"retention.ms": "-1"})
    admin = AdminClient({"bootstrap.servers": bootstrap})
    try:
        admin.create_topics([wanted])[topic].result(timeout=60)
    except KafkaException as failure:
        if failure.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
            return False
        raise
    return True


def to_topic(
    sources: Iterable[Source], bootstrap: str, topic: str, events_per_record: int = EVENTS_PER_RECORD
) -> int:
    """Produce the events, some thousand rows in one record, the origin as a header; how many events.

    Dealt over the partitions: the order of events means nothing to the analysis. Raises LandingError when a
    record is not acked.
    """
    from confluent_kafka import Producer

    failures: list[str] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            failures.append(f"{message.topic()}[{message.partition()}]: {error}")

    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "enable.idempotence": True,
            "compression.type": "lz4",
            "linger.ms": 20,
            "queue.buffering.max.kbytes": 65536,
        }
    )
    partitions = len(producer.list_topics(topic, timeout=30).topics[topic].partitions)
    events = records = 0
    for source in sources:
        header = [(ORIGIN_HEADER, header_of(source).encode())]
        for rows in _blocks(source, events_per_record):
            while True:
                try:
                    producer.produce(
                        topic,
                        value=rows,
                        headers=list(header),
                        partition=records % partitions,
                        on_delivery=delivered,
                    )
                    break
                except BufferError:
                    producer.poll(0.1)
            producer.poll(0)
            records += 1
        events += source.events
    unsent = producer.flush(120)
    if failures or unsent:
        raise LandingError(f"{len(failures) + unsent} of {records} records not acked: {failures[:3]}")
    return events


def _blocks(source: Source, events: int) -> Iterator[bytes]:
    """The file's rows in pieces of at most so many events."""
    rows = read(source.path)
    for start in range(0, len(rows), events):
        yield rows[start : start + events].tobytes()
