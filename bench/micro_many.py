"""What a small chunk costs the leader when requests carry many of them and the caches are cold.

    python -m bench.micro_many [--partitions 128] [--producers 4] [--consumers 4] [--rounds 100]

In one process without sockets: whole Produce requests of a 1 KB chunk for every partition, from several
idempotent producers, through the real handler, log and virtual log (three copies; the backups answer when
told to, and frames are not written), then the incremental fetches that waited for them. Between two steps a
few MB of other memory are touched, as other processes do it on a busy machine: a hot loop costs a third.
Rows are microseconds of CPU per chunk, median and least of the rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import struct
import tempfile
import time
from collections.abc import Callable
from statistics import median
from types import SimpleNamespace
from typing import Any

import crc32c

from bench.micro_vlog import FULL_SIZE, ManualLoop, NoWrite
from bench.rawclient import varint
from kproto.clock import SystemClock
from kproto.config import load
from kproto.directory import LeftAs
from kproto.handlers import fetch, produce
from kproto.log.manager import LogManager
from kproto.log.ports import LogPorts
from kproto.metadata import MetadataImage, StreamletRecord, TopicRecord
from kproto.metadata.records import BrokerRecord
from kproto.metadata.vlogs import CopyTarget
from kproto.vlog.manager import VlogManager
from kproto.vlog.ports import OpenVseg, PushAnswer, PushOutcome
from kproto.wire.framing import parse_response_frame, request_frame
from kproto.wire.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from kproto.wire.generated.produce import PartitionProduceData, ProduceRequest, TopicProduceData

ME = 1
TOPIC_ID = bytes(range(16))
PRODUCE, FETCH = 0, 1
PRODUCE_VERSION, FETCH_VERSION = 13, 18
CHUNK_BYTES = 1024
WARM_UP = 20
DIRTY_BYTES = 4 << 20
CLIENT_ID = ""
BODY_AT = 8 + 2 + 1
"""Where the body of a request begins: behind key, version, correlation id, client id and tags."""
_SEQUENCE = struct.Struct(">i")
_BASE_AND_LENGTH = struct.Struct(">qi")


class Backups:
    """Backups that say yes when told to, and a store that does at once."""

    def __init__(self) -> None:
        self._waiting: list[Callable[[PushAnswer], object]] = []

    def push(self, _target: Any, _first: Any, _pieces: Any, done: Callable[[PushAnswer], object]) -> None:
        self._waiting.append(done)

    def answer(self) -> None:
        waiting, self._waiting = self._waiting, []
        for done in waiting:
            done(PushAnswer(PushOutcome.STORED, 1 << 62))

    def open_next(self, request: OpenVseg, done: Callable[..., object]) -> None:
        done(tuple(CopyTarget(node, "") for node in range(2, 1 + request.copies)))

    def on_ownership_lost(self) -> None:
        raise AssertionError("nobody fences here")


class Turn:
    """Stands for the server: what is done at the end of a turn, and the answers."""

    def __init__(self) -> None:
        self._soon: list[Callable[[], None]] = []
        self.server = self.connection = self
        self.closed = False

    def soon(self, callback: Callable[[], None]) -> None:
        self._soon.append(callback)

    def together(self) -> Turn:
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def end(self) -> None:
        while self._soon:
            soon, self._soon = self._soon, []
            for callback in soon:
                callback()


class Exchange:
    """The place of one answer."""

    def __init__(self, turn: Turn) -> None:
        self.connection = turn
        self.interrupt: Callable[[], None] | None = None
        self.answer: Any = None

    def reply(self, frame: bytes) -> None:
        self.answer = frame

    def respond(self, pieces: list[Any], size: int) -> None:  # noqa: ARG002
        self.answer = pieces


def image_of(partitions: int) -> MetadataImage:
    topic = TopicRecord("bench", TOPIC_ID, partitions, 3, 1, {}, False)
    nodes = (1, 2, 3)
    return MetadataImage(
        revision=1,
        brokers={node: BrokerRecord(node, 1, "", 0, None) for node in nodes},
        topics={"bench": topic},
        topics_by_id={TOPIC_ID: topic},
        streamlets={
            TOPIC_ID: tuple(
                StreamletRecord(TOPIC_ID, index, ME, 0, nodes, sources=(1,)) for index in range(partitions)
            )
        },
    )


class Leader:
    """A broker's log, virtual logs and data handlers."""

    def __init__(self, directory: str, partitions: int) -> None:
        self.loop = ManualLoop()
        self.backups = Backups()
        self.turn = Turn()
        texts = {name.replace("__", "."): value for name, value in FULL_SIZE.items()}
        settings = load(None, {**texts, "node.id": str(ME)})
        disk, clock, image = NoWrite(), SystemClock(), image_of(partitions)
        vlogs = VlogManager(directory, settings, disk, clock, self.loop, 1, print, bytes(16))
        vlogs.replicate(self.backups, self.backups, lambda *_: 3)
        vlogs.members_changed((2, 3))
        ports = LogPorts(vlogs.assign, self.loop.call_soon, print)
        self.logs = LogManager(directory, disk, clock, settings, ports, LeftAs.NEW, 1)
        self.logs.apply_image(image)
        services: Any = SimpleNamespace(
            settings=settings,
            node_id=ME,
            image=lambda: image,
            controller=SimpleNamespace(subscribe=lambda _: None),
            logs=self.logs,
            budget=SimpleNamespace(free=lambda: 1 << 30),
        )
        self.producer = produce.Producer(services)
        self.fetcher = fetch.Fetcher(services)

    def produce(self, frame: bytearray) -> None:
        exchange: Any = Exchange(self.turn)
        self.producer.handle(exchange, PRODUCE_VERSION, 1, memoryview(frame), BODY_AT, False)

    def fetch(self, exchange: Any, frame: bytes) -> None:
        self.fetcher.handle(exchange, FETCH_VERSION, 1, memoryview(frame), BODY_AT, False)

    def end_turn(self) -> None:
        self.loop.turn()
        self.turn.end()


class ProducerClient:
    """An idempotent producer: one request with a chunk for every partition, made anew in place."""

    def __init__(self, pid: int, partitions: int) -> None:
        value = bytes(CHUNK_BYTES - 96)
        body = b"\0\0\0" + varint(-1) + varint(len(value)) + value + b"\0"
        now = int(time.time() * 1000)
        checked = struct.pack(">hiqqqhii", 0, 0, now, now, pid, 0, 0, 1) + varint(len(body)) + body
        self._chunk = bytearray(struct.pack(">qiibI", 0, 9 + len(checked), -1, 2, 0) + checked)
        rows = [PartitionProduceData(index=p, records=memoryview(self._chunk)) for p in range(partitions)]
        topic = TopicProduceData(topic_id=TOPIC_ID, partition_data=rows)
        whole = request_frame(
            PRODUCE, PRODUCE_VERSION, ProduceRequest(acks=-1, topic_data=[topic]), 1, CLIENT_ID
        )
        self.frame = bytearray(whole[4:])
        self._at = [self.frame.find(self._chunk)]
        while (at := self.frame.find(self._chunk, self._at[-1] + len(self._chunk))) >= 0:
            self._at.append(at)
        self._sequence = 0

    def next(self) -> bytearray:
        chunk = self._chunk
        _SEQUENCE.pack_into(chunk, 53, self._sequence)
        chunk[17:21] = crc32c.crc32c(memoryview(chunk)[21:]).to_bytes(4, "big")
        for at in self._at:
            self.frame[at : at + len(chunk)] = chunk
        self._sequence += 1
        return self.frame


class ConsumerClient:
    """A fetch session of some partitions."""

    def __init__(self, partitions: range) -> None:
        self._offsets = dict.fromkeys(partitions, 0)
        self._session, self._epoch = 0, 0
        self._changed = list(partitions)
        self.exchange: Any = None
        """Of the fetch under way."""

    def next(self) -> bytes:
        rows = [
            FetchPartition(partition=p, fetch_offset=self._offsets[p], partition_max_bytes=1 << 20)
            for p in self._changed
        ]
        request = FetchRequest(
            max_wait_ms=500,
            min_bytes=1,
            max_bytes=50 << 20,
            session_id=self._session,
            session_epoch=self._epoch,
            topics=[FetchTopic(topic_id=TOPIC_ID, partitions=rows)] if rows else [],
        )
        self._epoch += 1
        return request_frame(FETCH, FETCH_VERSION, request, 1, CLIENT_ID)[4:]

    def take(self, pieces: list[Any]) -> None:
        answer = parse_response_frame(FETCH, FETCH_VERSION, memoryview(b"".join(pieces))[4:])[1]
        self._session = answer.session_id
        self._changed = []
        for topic in answer.responses:
            for row in topic.partitions:
                assert row.error_code == 0
                if row.records:
                    self._changed.append(row.partition_index)
                    self._offsets[row.partition_index] += chunks_in(row.records)


def chunks_in(records: memoryview) -> int:
    count = at = 0
    while at < len(records):
        at += _BASE_AND_LENGTH.unpack_from(records, at)[1] + 12
        count += 1
    return count


class Bench:
    """Steps of the leader, each with cold caches, and what they cost."""

    def __init__(self, directory: str, partitions: int, producers: int, consumers: int) -> None:
        self.leader = Leader(directory, partitions)
        self.partitions = partitions
        self.producers = [ProducerClient(1000 + i, partitions) for i in range(producers)]
        share = -(-partitions // consumers)
        self.consumers = [
            ConsumerClient(range(at, min(at + share, partitions))) for at in range(0, partitions, share)
        ]
        self.costs: dict[str, list[float]] = {}
        self._dirty = bytearray(DIRTY_BYTES)
        self._spent: dict[str, int] = {}
        self._fetch(self.consumers)

    def _step(self, name: str, call: Callable[..., object], *arguments: Any) -> None:
        self._dirty.translate(None)
        before = time.thread_time_ns()
        call(*arguments)
        self._spent[name] = self._spent.get(name, 0) + time.thread_time_ns() - before

    def _fetch(self, consumers: list[ConsumerClient]) -> None:
        """These go on; they wait, because everything was read."""
        for consumer in consumers:
            consumer.exchange = Exchange(self.leader.turn)
            self._step("fetch", self.leader.fetch, consumer.exchange, consumer.next())
            assert consumer.exchange.answer is None

    def round(self) -> None:
        """A request of every producer, and what follows from it."""
        leader = self.leader
        self._spent = {}
        for producer in self.producers:
            self._step("produce", leader.produce, producer.next())
            self._step("push", leader.end_turn)
            self._step("durable", leader.backups.answer)
            self._step("answer fetches", leader.turn.end)
            while any(consumer.exchange.answer is None for consumer in self.consumers):
                leader.end_turn()  # a new journal file is being prepared
                leader.backups.answer()
            for consumer in self.consumers:
                consumer.take(consumer.exchange.answer)
            self._fetch(self.consumers)
        per_round = len(self.producers) * self.partitions
        self._spent["all"] = sum(self._spent.values())
        for name, spent in self._spent.items():
            self.costs.setdefault(name, []).append(spent / 1e3 / per_round)


async def run(partitions: int, producers: int, consumers: int, rounds: int) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as directory:
        bench = Bench(directory, partitions, producers, consumers)
        for number in range(rounds + WARM_UP):
            if number == WARM_UP:
                bench.costs.clear()
                gc.collect()
                gc.freeze()
                gc.set_threshold(20_000, 20, 50)
            bench.round()
        return bench.costs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", type=int, default=128)
    parser.add_argument("--producers", type=int, default=4)
    parser.add_argument("--consumers", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=100)
    given = parser.parse_args()
    costs = asyncio.run(run(given.partitions, given.producers, given.consumers, given.rounds))
    print(f"{'us per chunk':16} {'median':>8} {'least':>8}")
    for name, samples in costs.items():
        print(f"{name:16} {median(samples):8.2f} {min(samples):8.2f}")


if __name__ == "__main__":
    main()
