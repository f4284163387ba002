"""Flights into a topic with confluent-kafka, the way a careful producer would: idempotent, zstd, keyed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from demos.flights.source import Flight

PARTITIONS = 12
REPORT_EVERY = 2_000


def create_topic(bootstrap: str, topic: str, partitions: int = PARTITIONS) -> None:
    """A new topic of one copy. Raises RuntimeError when nobody answers, or when one of that name exists: its
    records would count."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    future = admin.create_topics([NewTopic(topic, num_partitions=partitions, replication_factor=1)])[topic]
    try:
        future.result(timeout=30)
    except TimeoutError:
        raise RuntimeError(f"no broker answers at {bootstrap}") from None
    except KafkaException as failure:
        if failure.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS:
            raise RuntimeError(f"topic {topic!r} exists already: choose another with --topic") from failure
        raise


def produce_flights(
    bootstrap: str, topic: str, flights: Iterable[Flight], progress: Callable[[int], None] = lambda _: None
) -> int:
    """Produce all flights and wait for every ack; returns how many were acked.

    The key is the tail number (so the flights of an aircraft stay in order), null where the data has none.
    `progress` is called now and then with the number acked so far. Raises RuntimeError when a record fails.
    """
    acked = 0
    failures: list[str] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        nonlocal acked
        if error is None:
            acked += 1
        else:
            failures.append(f"{message.topic()}[{message.partition()}]: {error}")

    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "enable.idempotence": True,
            "compression.type": "zstd",
            "linger.ms": 20,
        }
    )
    sent = 0
    for flight in flights:
        tail = flight["tailnum"]
        key = None if tail is None else str(tail).encode()
        value = json.dumps(flight, separators=(",", ":")).encode()
        _produce(producer, topic, key, value, delivered)
        sent += 1
        if sent % REPORT_EVERY == 0:
            producer.poll(0)
            progress(acked)
    while producer.flush(0.2):
        progress(acked)
    if failures or acked != sent:
        raise RuntimeError(f"{sent} flights sent, {acked} acked; first failures: {failures[:3]}")
    progress(acked)
    return acked


def _produce(
    producer: Producer,
    topic: str,
    key: bytes | None,
    value: bytes,
    delivered: Callable[[KafkaError | None, Message], None],
) -> None:
    """Hand one record over, waiting while the producer's queue is full."""
    while True:
        try:
            producer.produce(topic, value=value, key=key, on_delivery=delivered)
            return
        except BufferError:
            producer.poll(0.1)
