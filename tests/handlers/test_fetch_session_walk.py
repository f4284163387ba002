"""A random walk with one fetch session, every answer compared with what a client must be told: a partition
that is off the session's list of news must never have any.
"""

import random
from dataclasses import dataclass

import pytest
from conftest import Kafka, chunk_of, fetch_request

from kproto.wire.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kproto.wire.generated.fetch import ForgottenTopic

PARTITIONS = 6
STEPS = 60
NEVER_TOLD = (-1, -1)
LONG_MS = 20_000


@dataclass
class Log:
    """What is known of one partition, and of what the client was told."""

    start: int = 0
    end: int = 0
    offset: int = 0
    told: tuple[int, int] = NEVER_TOLD

    def has_news(self) -> bool:
        return self.offset < self.end or self.told != (self.end, self.start)


class Walk:
    """One session over some partitions of one topic; the walk stays within offsets that are there."""

    def __init__(self, kafka: Kafka, other: Kafka, seed: int) -> None:
        self.kafka = kafka
        self.other = other
        """A connection of its own for the fetches, which may wait."""
        self.random = random.Random(seed)
        self.name, self.topic_id = kafka.create(PARTITIONS)
        self.logs = [Log() for _ in range(PARTITIONS)]
        self.inside = set(range(PARTITIONS // 2))
        self.changed: set[int] = set()
        """Partitions whose offset the next request has to say."""
        self.forgotten: set[int] = set()
        self.epoch = 0
        self.session = 0

    def append(self) -> None:
        index = self.random.randrange(PARTITIONS)
        count = self.random.randint(1, 3)
        self.kafka.stored(self.name, chunk_of(*[b"x"] * count), index)
        self.logs[index].end += count

    def delete(self) -> None:
        index = self.random.randrange(PARTITIONS)
        log = self.logs[index]
        before = self.random.randint(log.start, log.end)
        part = DeleteRecordsPartition(partition_index=index, offset=before)
        topic = DeleteRecordsTopic(name=self.name, partitions=[part])
        self.kafka.call(21, 2, DeleteRecordsRequest(topics=[topic], timeout_ms=1000))
        log.start = before
        if log.offset < before:
            log.offset = before
            self.changed.add(index)

    def move(self) -> None:
        index = self.random.choice(sorted(self.inside))
        log = self.logs[index]
        log.offset = self.random.choice((log.end, self.random.randint(log.start, log.end)))
        self.changed.add(index)

    def add(self) -> None:
        index = self.random.randrange(PARTITIONS)
        if index not in self.inside | self.forgotten:
            self.inside.add(index)
            self.changed.add(index)

    def forget(self) -> None:
        index = self.random.choice(sorted(self.inside))
        if len(self.inside) > 1 and index not in self.changed:
            self.inside.remove(index)
            self.forgotten.add(index)
            self.logs[index].told = NEVER_TOLD

    def new_image(self) -> None:
        self.kafka.create()

    def fetch(self) -> None:
        """One fetch; when there is no news, it may wait for an append."""
        expected = {i for i in self.inside if self.epoch == 0 or self.logs[i].has_news()}
        waits = self.random.random() < 0.5
        named = sorted(self.changed & self.inside) if self.epoch else sorted(self.inside)
        gone = sorted(self.forgotten)
        request = fetch_request(
            self.topic_id,
            *[(i, self.logs[i].offset) for i in named],
            session_id=self.session,
            session_epoch=self.epoch,
            max_wait_ms=LONG_MS if waits else 0,
            min_bytes=self.random.choice((1, 1, 50)) if waits else 1,
        )
        if gone:
            request.forgotten_topics_data = [ForgottenTopic(topic_id=self.topic_id, partitions=gone)]
        self.other.send(1, 18, request)
        if waits and not any(self.logs[i].offset < self.logs[i].end for i in self.inside):
            index = self.random.choice(sorted(self.inside))
            self.kafka.stored(self.name, chunk_of(b"waited for"), index)
            self.logs[index].end += 1
            expected |= {index}
        answer = self.other.receive()
        assert answer.error_code == 0
        self.session = answer.session_id
        self.epoch += 1
        self.changed -= set(named)
        self.forgotten = set()
        told = {p.partition_index: p for topic in answer.responses for p in topic.partitions}
        assert set(told) == expected
        for index, part in told.items():
            log = self.logs[index]
            assert part.error_code == 0
            assert (part.high_watermark, part.log_start_offset) == (log.end, log.start)
            assert (len(part.records or b"") > 0) == (log.offset < log.end)
            log.told = (log.end, log.start)
            if self.random.random() < 0.8 and log.offset != log.end:
                log.offset = log.end
                self.changed.add(index)


@pytest.mark.parametrize("seed", range(20))
def test_every_answer_tells_what_is_new_and_nothing_else(broker, kafka, seed):
    with Kafka(broker.host, broker.port) as other:
        walk = Walk(kafka, other, seed)
        walk.fetch()
        for _ in range(STEPS):
            steps = (walk.append, walk.delete, walk.move, walk.add, walk.forget, walk.new_image)
            for step in walk.random.choices(steps, (5, 1, 1, 1, 1, 0.3), k=walk.random.randint(0, 3)):
                step()
            walk.fetch()
