"""A full disk is an error code, not a crash: reads and deletes go on, nothing acknowledged is lost.

The disk is a tmpfs of 64 MiB in a mount namespace, so these tests need root.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Message, TopicPartition
from confluent_kafka.admin import AdminClient

from compat_tests.support import frames
from compat_tests.support.confluent import producer, read_partition
from compat_tests.support.frames import RawConnection, batch
from compat_tests.support.load import number_of, value_of
from compat_tests.support.peak import Peak
from compat_tests.support.ports import PATIENCE_S, wait_until
from compat_tests.support.small_disk import SmallDisk
from compat_tests.support.topics import create_topic

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]

MIB = 1 << 20
KAFKA_STORAGE_ERROR = 56
REQUEST_MEMORY = 64 * MIB
SETTINGS: dict[str, object] = {
    "kproto.request.memory.bytes": REQUEST_MEMORY,
    "kproto.virtual.segment.bytes": 2 * MIB,
    "kproto.journal.bytes": 16 * MIB,
    "kproto.segment.file.bytes": 1 * MIB,
    "kproto.log.memory.bytes": 8 * MIB,
    "log.segment.bytes": 1 * MIB,
    "log.segment.delete.delay.ms": 0,
    "log.retention.check.interval.ms": 500,
}
SIZE = 40_000


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    assert os.geteuid() == 0, "a small disk must be mounted: run the tests as root"
    with SmallDisk(tmp_path, 64 * MIB, SETTINGS) as broker, Peak(broker) as peak:
        yield broker
    assert peak.bytes < 60_000_000 + REQUEST_MEMORY


class Writer:
    """An idempotent producer of numbered records; what was acknowledged, and where."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.topic = topic
        self.acked: dict[int, int] = {}
        self.next = 0
        self._client = producer(
            bootstrap,
            enable_idempotence=True,
            linger_ms=0,
            message_timeout_ms=600_000,
            retry_backoff_ms=20,
            retry_backoff_max_ms=100,
            queue_buffering_max_messages=100,
            log_level=0,
        )

    def _on_ack(self, error: KafkaError | None, message: Message) -> None:
        assert error is None, str(error)
        value, offset = message.value(), message.offset()
        assert value is not None
        assert offset is not None
        self.acked[number_of(value)] = offset

    def write(self, count: int, timeout_s: float = PATIENCE_S) -> bool:
        """Hand over `count` records; whether all (of this and earlier calls) are acknowledged in time."""
        deadline = time.monotonic() + timeout_s
        for _ in range(count):
            value = value_of(0, self.next, SIZE)
            while True:
                try:
                    self._client.produce(self.topic, value, partition=0, on_delivery=self._on_ack)
                    break
                except BufferError:
                    if time.monotonic() > deadline:
                        return False
                    self._client.poll(0.02)
            self.next += 1
        return self._client.flush(max(0.01, deadline - time.monotonic())) == 0

    def until_full(self, disk: SmallDisk, probe: str) -> None:
        """Write until nothing at all is acknowledged for four seconds, because the disk is full: somebody who
        writes to topic ``probe`` is told so."""
        for _ in range(200):
            before = len(self.acked)
            if not self.write(50, 4.0) and len(self.acked) == before:
                wait_until("the error code", partial(self._is_told, disk, probe, before))
                if len(self.acked) == before:
                    return
        raise AssertionError(f"{self.next * SIZE // 2 // MIB} MiB went onto a disk of 64 MiB")

    def _is_told(self, disk: SmallDisk, probe: str, before: int) -> bool:
        """Who writes gets the error code; or more is acknowledged: the broker had only stood still."""
        self._client.poll(0)
        return len(self.acked) > before or plain_code(disk, probe) == KAFKA_STORAGE_ERROR

    def verify(self, bootstrap: str, low: int = 0) -> None:
        """The log holds 0, 1, 2 ... from `low` on, each acknowledged one at its offset, none twice."""
        stored = {}
        for message in read_partition(bootstrap, self.topic, 0, check_crcs=True):
            value = message.value()
            assert value is not None
            number = number_of(value)
            assert value == value_of(0, number, SIZE)
            stored[message.offset()] = number
        assert list(stored.values()) == list(range(min(stored.values()), min(stored.values()) + len(stored)))
        assert min(stored) == low
        for number, offset in self.acked.items():
            if offset >= low:
                assert stored.get(offset) == number, f"{number} was acknowledged at {offset}"


def plain_code(disk: SmallDisk, topic: str) -> int:
    """The error code of one raw produce request."""
    with RawConnection(("127.0.0.1", disk.port)) as connection:
        answer = connection.ask(frames.produce(topic, 0, batch([bytes(50_000)])))
        assert answer is not None
        return frames.produce_error(answer)[0]


def test_somebody_else_fills_the_disk_and_frees_it(disk: SmallDisk) -> None:
    topic = create_topic(disk.bootstrap, "full", 1)
    other = create_topic(disk.bootstrap, "other", 1)
    writer = Writer(disk.bootstrap, topic)
    assert writer.write(100)
    filler = disk.fill(leave_bytes=1 * MIB)
    writer.until_full(disk, other)
    stuck = dict(writer.acked)
    read = read_partition(disk.bootstrap, topic, 0)
    assert len(read) >= len(stuck), "reads go on while the disk is full"
    assert disk.running(), disk.log_tail()
    filler.unlink()
    assert writer.write(50), "writing goes on once there is space again"
    assert len(writer.acked) == writer.next
    wait_until("plain producers", lambda: plain_code(disk, other) == 0)
    writer.verify(disk.bootstrap)


def test_killed_on_a_full_disk(disk: SmallDisk) -> None:
    """It starts, serves what was acknowledged, and goes on once there is space."""
    topic = create_topic(disk.bootstrap, "full", 1)
    other = create_topic(disk.bootstrap, "other", 1)
    writer = Writer(disk.bootstrap, topic)
    filler = disk.fill(leave_bytes=12 * MIB)
    writer.until_full(disk, other)
    disk.kill()
    disk.start()
    held = {
        message.offset(): number_of(message.value() or b"")
        for message in read_partition(disk.bootstrap, topic, 0)
    }
    for number, offset in writer.acked.items():
        assert held.get(offset) == number, "lost by a crash on a full disk"
    filler.unlink()
    assert writer.write(50), "writing goes on once there is space again"
    writer.verify(disk.bootstrap)


def test_our_own_data_fills_the_disk_and_deleting_records_frees_it(disk: SmallDisk) -> None:
    topic = create_topic(disk.bootstrap, "full", 1)
    other = create_topic(disk.bootstrap, "other", 1)
    writer = Writer(disk.bootstrap, topic)
    writer.until_full(disk, other)
    assert len(read_partition(disk.bootstrap, topic, 0)) >= len(writer.acked), "reads go on"
    half = max(writer.acked.values()) * 3 // 4
    place = TopicPartition(topic, 0, half)
    admin = AdminClient({"bootstrap.servers": disk.bootstrap})
    assert admin.delete_records([place])[TopicPartition(topic, 0)].result(120).low_watermark == half
    assert writer.write(100), "writing goes on once there is space again"
    assert len(writer.acked) == writer.next
    writer.verify(disk.bootstrap, low=half)


def test_deleting_a_topic_frees_a_full_disk(disk: SmallDisk) -> None:
    victim, topic = create_topic(disk.bootstrap, "victim", 1), create_topic(disk.bootstrap, "kept", 1)
    other = create_topic(disk.bootstrap, "other", 1)
    kept = Writer(disk.bootstrap, topic)
    assert kept.write(50)
    Writer(disk.bootstrap, victim).until_full(disk, other)
    assert len(read_partition(disk.bootstrap, topic, 0)) >= len(kept.acked), "reads go on"
    admin = AdminClient({"bootstrap.servers": disk.bootstrap})
    admin.delete_topics([victim])[victim].result(120)
    assert kept.write(100), "writing goes on once there is space again"
    kept.verify(disk.bootstrap)
