"""At the end: what became of every record that was acknowledged, wherever it is.

The checks while the load runs (`load`) end with the first record that is not where it was acknowledged. That
is right for kproto, where one is too many; of Apache Kafka it is told how many there were.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from confluent_kafka import Consumer, TopicPartition

from bench.failover.promises import UNTOLD, consumer, number_of, value_of

READ_TIMEOUT_S: Final = 300.0
BATCH: Final = 1000


@dataclass(slots=True)
class Census:
    """Records of all partitions; ``lost``, ``elsewhere`` and ``twice`` are of those acknowledged."""

    acknowledged: int = 0
    found: int = 0
    """Records in the log, acknowledged or not."""
    lost: int = 0
    """Nowhere in their partition."""
    elsewhere: int = 0
    """At other offsets than they were acknowledged for, if that was told, and nowhere else."""
    twice: int = 0
    """There more than once."""
    disordered: int = 0
    """Behind one of the same producer that was sent later, by the offsets that were told. With Apache Kafka
    idempotent producers may have such ones when leaders change before they have stored anything: a leader
    that does not know a producer takes whatever sequence number comes first, also of a batch behind others
    that were refused elsewhere."""
    damaged: int = 0
    """Values that nobody sent."""

    def add(self, partition: int, acked: Mapping[int, int], values: Mapping[int, bytes], size: int) -> None:
        """Count a partition: ``acked`` are offsets by number, ``values`` what is in its log by offset."""
        places: dict[int, list[int]] = {}
        for offset, value in values.items():
            number = _number(partition, value, size)
            if number is None:
                self.damaged += 1
            else:
                places.setdefault(number, []).append(offset)
        self.found += len(values)
        self.acknowledged += len(acked)
        for number, offset in acked.items():
            where = places.get(number, [])
            self.lost += not where
            self.elsewhere += bool(where) and offset != UNTOLD and offset not in where
            self.twice += len(where) > 1
        newest = -1
        told = [number for number, offset in acked.items() if offset != UNTOLD]
        for number in sorted(told, key=lambda each: acked[each]):
            self.disordered += number < newest
            newest = max(newest, number)

    @property
    def kept(self) -> bool:
        """Every acknowledged record is there once, at its offset, in order."""
        return not (self.lost or self.elsewhere or self.twice or self.disordered or self.damaged)

    def __str__(self) -> str:
        return (
            f"lost {self.lost} of {self.acknowledged} acknowledged records; {self.elsewhere} at other "
            f"offsets, {self.disordered} out of order, {self.twice} there twice, {self.damaged} values that "
            "nobody sent"
        )


def _number(partition: int, value: bytes, size: int) -> int | None:
    """The number of a record of ``partition``; None when nobody sent it there."""
    try:
        number = number_of(value)
    except (ValueError, IndexError):
        return None
    return number if number >= 0 and value == value_of(partition, number, size) else None


def census(
    bootstrap: str,
    topic: str,
    acked: Mapping[int, Mapping[int, int]],
    size: int,
    timeout_s: float = READ_TIMEOUT_S,
) -> Census:
    """Read all partitions of ``acked`` (partition -> number -> offset), each from its begin to its end as it
    is now. Raises TimeoutError when they cannot be read in ``timeout_s``."""
    found = Census()
    client = consumer(bootstrap, log_level=0, socket_timeout_ms=5000, enable_partition_eof=False)
    try:
        for partition, offsets in sorted(acked.items()):
            found.add(partition, offsets, _read(client, topic, partition, timeout_s), size)
    finally:
        client.close()
    return found


def _read(client: Consumer, topic: str, partition: int, timeout_s: float) -> dict[int, bytes]:
    """Everything in a partition, by offset."""
    low, high = client.get_watermark_offsets(TopicPartition(topic, partition), timeout=timeout_s)
    client.assign([TopicPartition(topic, partition, low)])
    values: dict[int, bytes] = {}
    deadline = time.monotonic() + timeout_s
    last = low - 1
    while last < high - 1:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{topic}-{partition} could not be read up to {high} in {timeout_s} s: {last}")
        for message in client.consume(min(BATCH, high - 1 - last), 0.5):
            offset, value = message.offset(), message.value()
            if message.error() is None and offset is not None:
                values[offset] = value or b""
                last = max(last, offset)
    return values
