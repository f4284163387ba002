"""Sample records, and topics written and read without Spark."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import Consumer, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

FIRST_TIMESTAMP_MS = 1_700_000_000_000
STEP_MS = 1_000
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


@dataclass(frozen=True, slots=True, order=True)
class Stored:
    """A record at its place in a topic; ordered by partition, then offset."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp_ms: int
    headers: tuple[tuple[str, bytes], ...] = ()


def sample(count: int, partitions: int, start: int = 0) -> list[Stored]:
    """Records number `start` to `start + count`, dealt over the partitions, with the offsets they will have.

    Some keys, values and headers are missing; the timestamps rise by a second from record to record.
    """
    return [
        Stored(
            partition=number % partitions,
            offset=number // partitions,
            key=None if number % 7 == 0 else f"key-{number % 50}".encode(),
            value=None if number % 11 == 5 else f"value-{number}-{'x' * (number % 40)}".encode(),
            timestamp_ms=FIRST_TIMESTAMP_MS + number * STEP_MS,
            headers=(("number", str(number).encode()), ("empty", b"")) if number % 5 == 0 else (),
        )
        for number in range(start, start + count)
    ]


def new_topic(bootstrap: str, partitions: int, config: Mapping[str, str] | None = None) -> str:
    """A new topic under a name of its own; it keeps records however old their timestamps are."""
    name = f"spark-{uuid.uuid4().hex[:10]}"
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topic = NewTopic(
        name, num_partitions=partitions, replication_factor=1, config={"retention.ms": "-1", **(config or {})}
    )
    admin.create_topics([topic])[name].result(timeout=120)
    return name


def produce(bootstrap: str, topic: str, records: Sequence[Stored], codec: str = "none") -> None:
    """Produce in the given order, each record to its partition; every offset must be the expected one."""
    placed: list[tuple[int, int]] = []

    def delivered(error: object, message: Message) -> None:
        assert error is None, error
        placed.append((message.partition() or 0, message.offset() or 0))

    producer = Producer(
        {"bootstrap.servers": bootstrap, "compression.type": codec, "enable.idempotence": True}
    )
    for record in records:
        producer.produce(
            topic,
            value=record.value,
            key=record.key,
            partition=record.partition,
            timestamp=record.timestamp_ms,
            headers=list(record.headers),
            on_delivery=delivered,
        )
    assert producer.flush(180) == 0
    assert sorted(placed) == sorted((record.partition, record.offset) for record in records)


def produce_in_all_codecs(bootstrap: str, topic: str, records: Sequence[Stored]) -> None:
    """Produce a fifth of the records with each codec."""
    size = -(-len(records) // len(CODECS))
    for number, codec in enumerate(CODECS):
        produce(bootstrap, topic, records[number * size : (number + 1) * size], codec)


def read_topic(bootstrap: str, topic: str, partitions: int) -> list[Stored]:
    """Everything the topic holds now, sorted; read with confluent-kafka."""
    settings = {"bootstrap.servers": bootstrap, "group.id": "reader", "enable.auto.commit": False}
    consumer = Consumer({**settings, "auto.offset.reset": "error", "enable.partition.eof": False})
    marks = {
        p: consumer.get_watermark_offsets(TopicPartition(topic, p), timeout=60) for p in range(partitions)
    }
    missing = {p: high for p, (low, high) in marks.items() if high > low}
    consumer.assign([TopicPartition(topic, p, marks[p][0]) for p in missing])
    found = []
    deadline = time.monotonic() + 180
    while missing:
        assert time.monotonic() < deadline, f"{topic}: still waiting for {missing}"
        for message in consumer.consume(500, timeout=0.5):
            assert message.error() is None, message.error()
            record = _stored(message)
            found.append(record)
            if record.offset + 1 >= missing.get(record.partition, -1):
                missing.pop(record.partition, None)
    consumer.close()
    return sorted(found)


def _stored(message: Message) -> Stored:
    key, value = message.key(), message.value()
    headers = tuple((str(name), bytes(content or b"")) for name, content in message.headers() or [])
    return Stored(
        message.partition() or 0,
        message.offset() or 0,
        None if key is None else bytes(key),  # type: ignore[arg-type]
        None if value is None else bytes(value),  # type: ignore[arg-type]
        message.timestamp()[1],
        headers,
    )


def without_headers(records: Iterable[Stored]) -> list[Stored]:
    """The same records as a reader sees them that asked for no headers, sorted."""
    return sorted(Stored(r.partition, r.offset, r.key, r.value, r.timestamp_ms) for r in records)
