"""Commits on their way into ``__consumer_offsets``."""

import asyncio
import errno
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kproto.directory import LeftAs
from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.groups.partition_log import TOPIC, PartitionLog
from kproto.log.partition import Partition
from kproto.metadata import MetadataImage
from kproto.metadata.records import BrokerRecord, StreamletRecord, TopicRecord
from kproto.vlog.virtual_log import VirtualLog
from kproto.wire.batch import read_header
from tests.log.support import Log, batch

ME = 1


class OnePartition(PartitionLog):
    """Has one partition, which appends to a virtual log of three copies."""

    def __init__(self) -> None:
        self.vlog = VirtualLog(1, 1, 3)
        self.hurried = 0
        self.vlog.hurry = self._hurry

    def _hurry(self) -> None:
        self.hurried += 1

    def _append(self, _chunk: memoryview, owned: bool) -> tuple[int]:
        assert owned
        self.vlog.append(cast(Any, self))
        return (7,)

    def _partition(self, index: int) -> Any:
        return SimpleNamespace(append=self._append, vlog=self.vlog)

    def _is_short(self, partition: Any) -> bool:
        return False


def test_a_commit_is_not_waited_with_and_is_done_when_all_copies_have_it() -> None:
    log = OnePartition()
    done: list[tuple[int, KafkaError | None]] = []
    log.append(0, bytearray(100), lambda *told: done.append(told))
    assert log.hurried == 1
    for told in log.vlog.note_written(1):
        told()
    assert done == [], "the journal alone is not enough"
    log.vlog.durable = 1
    for _, told in log.vlog.waiters:
        told()
    assert done == [(7, None)]


class Stored(PartitionLog):
    """Has one partition, which is read."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition

    def _partition(self, index: int) -> Partition:
        return self.partition


def test_nobody_is_led_past_a_damaged_batch_to_those_in_memory(tmp_path: Path) -> None:
    """What was committed there would be missing, and older commits take its place."""
    log = Log(tmp_path)
    for _ in range(5):
        log.partition().append(batch(100))
    path = log.partition().segments[0].path
    log.restart(LeftAs.CLEAN)
    partition = log.partition()
    partition.append(batch(100))
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 5 * 3)
        file.write(bytes([0, 0, 0, 1]))
    read: list[int] = []

    async def scan() -> None:
        async for one in Stored(partition).scan(0):
            read.append(read_header(one).base_offset)

    with pytest.raises(KafkaError) as caught:
        asyncio.run(scan())
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert read == [0, 1, 2]


def test_a_partition_that_cannot_be_opened_now_is_an_error_that_is_known() -> None:
    """Files run out while it is loaded, say: whoever waits for it asks again. What is written is refused, not
    left under way for ever."""

    def no_file(topic_id: bytes, index: int) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    topic = TopicRecord(TOPIC, bytes(16), 1, 1, 1, {}, True)
    image = MetadataImage(
        topics={TOPIC: topic},
        topics_by_id={topic.topic_id: topic},
        streamlets={topic.topic_id: (StreamletRecord(topic.topic_id, 0, ME, 0, (ME,)),)},
        brokers={ME: BrokerRecord(ME, 1, "h", 1, None)},
    )
    log = PartitionLog(lambda: image, ME, cast(Any, SimpleNamespace(partition=no_file)))
    for use in (log.bounds, log.most_bytes, lambda index: log.append(index, bytearray(9), lambda *_: None)):
        with pytest.raises(KafkaError) as caught:
            use(0)
        assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert log.lacks_copies(0)
