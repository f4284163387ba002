"""A whole broker with its controller, and brokers 2 and 3 that exist in the metadata and as backups only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from kproto.broker import Broker
from kproto.check import check
from kproto.config import load
from kproto.controller import NewTopic
from kproto.controller.fencing import decide_fence
from kproto.controller.registration import Registration
from kproto.disk import Buffer
from kproto.errors import ErrorCode, KafkaError
from kproto.log.partition import Partition
from kproto.metadata.vlogs import CopyTarget
from kproto.vlog.frame import decode_frame_header
from kproto.vlog.ports import OpenVseg, PushAnswer, PushOutcome
from kproto.vlog.virtual_log import VirtualLog
from tests.groups.conversation import Remote

ME = 1
Done = Callable[[PushAnswer], object]


class HeldBackups:
    """Backups that store everything, but answer only while they are not ``held``."""

    def __init__(self) -> None:
        self.held = False
        self.waiting: list[tuple[int, int, Done]] = []
        """Node, end of the frame, callback."""

    def push(self, target: CopyTarget, first: bytes | None, pieces: Sequence[Buffer], done: Done) -> None:
        header = decode_frame_header(bytes(pieces[0]))
        assert header is not None
        self.waiting.append((target.node_id, header.position + header.length, done))
        if not self.held:
            asyncio.get_running_loop().call_soon(self.release)

    def release(self) -> None:
        """Everything that was pushed is stored."""
        self.held = False
        waiting, self.waiting = self.waiting, []
        for _, end, done in waiting:
            done(PushAnswer(PushOutcome.STORED, end))

    def lose(self, node_id: int) -> None:
        """The connections to a broker break."""
        broken = [entry for entry in self.waiting if entry[0] == node_id]
        self.waiting = [entry for entry in self.waiting if entry[0] != node_id]
        for _, _, done in broken:
            done(PushAnswer(PushOutcome.UNREACHABLE))


class Proposed:
    """Virtual segments by way of the real controller."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._tasks: set[asyncio.Task[None]] = set()

    def open_next(self, request: OpenVseg, done: Callable[[tuple[CopyTarget, ...] | None], object]) -> None:
        task = asyncio.get_running_loop().create_task(self._propose(request, done))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _propose(
        self, request: OpenVseg, done: Callable[[tuple[CopyTarget, ...] | None], object]
    ) -> None:
        args = {**request._asdict(), "exclude": sorted(request.exclude)}
        try:
            answer = await self._broker._controller.propose("open_vseg", args)
        except KafkaError as error:
            check(error.code is ErrorCode.STALE_BROKER_EPOCH, f"open_vseg: {error}")
            done(None)
        else:
            done(tuple(CopyTarget(*target) for target in answer["backups"]))

    def on_ownership_lost(self) -> None:
        """The broker itself would start anew; here nothing does."""


class Owner:
    """Broker 1 with its backups; ``call`` is what a client would do."""

    def __init__(self, directory: Path, settings: dict[str, str]) -> None:
        given = {"log.dirs": str(directory), "listeners": "PLAINTEXT://127.0.0.1:0", "node.id": str(ME)}
        self.broker = Broker(load(None, {**given, **settings}))
        self.backups = HeldBackups()

    async def start(self) -> None:
        await self.broker.start()
        self.controller = self.broker._controller
        self.vlogs = self.broker._vlogs
        self.vlogs.replicate(self.backups, Proposed(self.broker), self._copies_of)
        self.controller.subscribe(lambda image: self.vlogs.members_changed(set(image.brokers) - {ME}))
        for node_id in (2, 3):
            await self.register(node_id)
        self.call = Remote("127.0.0.1", self.broker.port).call

    def _copies_of(self, topic_id: bytes, _: int) -> int:
        return self.controller.image.topics_by_id[topic_id].replication_factor

    async def register(self, node_id: int) -> None:
        await self.controller.register_broker(
            Registration(node_id, f"host{node_id}", 9092, None, f"host{node_id}", 10092, f"store{node_id}")
        )

    async def fence(self, node_id: int) -> None:
        epoch = self.controller.image.brokers[node_id].epoch
        await self.controller.decide(lambda: decide_fence(self.controller.image, node_id, epoch))

    async def create(self, name: str, replicas: Sequence[int], partitions: int = 1, **configs: str) -> bytes:
        """A topic all of whose partitions have these replicas; config names have underscores for dots."""
        assignment = tuple((index, tuple(replicas)) for index in range(partitions))
        named = {key.replace("_", "."): value for key, value in configs.items()}
        topic = NewTopic(name, assignments=assignment, configs=named)
        (outcome,) = await self.controller.create_topics([topic])
        assert outcome.error is None
        assert outcome.topic is not None
        return outcome.topic.topic_id

    def partition(self, topic: str, index: int = 0) -> Partition:
        partition = self.broker._logs.partition(self.controller.image.topics[topic].topic_id, index)
        assert partition is not None
        return partition

    def vlog(self, topic: str) -> VirtualLog:
        vlog = self.partition(topic).vlog
        assert isinstance(vlog, VirtualLog)
        return vlog

    async def stop(self) -> None:
        self.backups.release()
        await self.broker.stop()


@asynccontextmanager
async def owner(directory: Path, **settings: Any) -> AsyncIterator[Owner]:
    world = Owner(directory, {name.replace("_", "."): value for name, value in settings.items()})
    await world.start()
    try:
        yield world
    finally:
        await world.stop()
