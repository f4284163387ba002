"""confluent-kafka (librdkafka) helpers: it is also the reader that checks what other clients wrote."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from bench.failover.promises import consumer, producer
from compat_tests.support.ports import PATIENCE_S
from compat_tests.support.records import Sample

__all__ = ["consumer", "messages", "producer", "read_partition", "read_samples", "send_all", "to_sample"]


def to_sample(message: Message) -> Sample:
    headers = tuple((name, value) for name, value in message.headers() or [])
    return Sample(message.key(), message.value(), headers, message.timestamp()[1])


def send_all(client: Producer, topic: str, partition: int, records: Sequence[Sample]) -> list[int]:
    """Send in order and flush; the acknowledged offsets in the order of the acks (-1 without acks)."""
    offsets: list[int] = []

    def acknowledged(error: KafkaError | None, message: Message) -> None:
        assert error is None, f"{topic}-{partition}: {error}"
        offset = message.offset()
        offsets.append(-1 if offset is None or offset < 0 else offset)

    for record in records:
        client.produce(
            topic,
            record.value,
            record.key,
            partition,
            on_delivery=acknowledged,
            timestamp=record.timestamp,
            headers=list(record.headers),
        )
        client.poll(0)
    assert client.flush(PATIENCE_S) == 0, f"messages stayed unsent for {PATIENCE_S} s"
    return offsets


def messages(client: Consumer, count: int, timeout_s: float = PATIENCE_S) -> list[Message]:
    """The next `count` messages; AssertionError on an error or when they do not come in time."""
    found: list[Message] = []
    deadline = time.monotonic() + timeout_s
    while len(found) < count:
        assert time.monotonic() < deadline, f"{len(found)} of {count} messages after {timeout_s} s"
        for message in client.consume(min(500, count - len(found)), 0.5):
            assert message.error() is None, str(message.error())
            found.append(message)
    return found


def read_partition(bootstrap: str, topic: str, partition: int, **settings: Any) -> list[Message]:
    """Everything between the low and the high watermark, in order, offsets checked to rise."""
    client = consumer(bootstrap, **settings)
    place = TopicPartition(topic, partition)
    try:
        low, high = client.get_watermark_offsets(place, timeout=PATIENCE_S)
        client.assign([TopicPartition(topic, partition, low)])
        found = messages(client, high - low, PATIENCE_S + (high - low) / 1000) if high > low else []
    finally:
        client.close()
    offsets = [message.offset() for message in found]
    assert offsets == sorted(set(offsets)), f"{topic}-{partition}: offsets {offsets[:20]}..."
    return found


def read_samples(bootstrap: str, topic: str, partition: int) -> list[Sample]:
    return [to_sample(message) for message in read_partition(bootstrap, topic, partition)]
