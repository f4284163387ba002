"""Several brokers in one event loop that share a controller: each with real logs and a coordinator.

Leadership is moved by writing the records that a controller would write. Partitions have one copy, so what a
broker stored while it led is what it finds when it leads again, and nobody else has it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from kproto.clock import SystemClock
from kproto.config import load
from kproto.controller import Controller
from kproto.controller.decision import Decision
from kproto.controller.registration import Registration
from kproto.disk import Disk
from kproto.handlers import registry
from kproto.handlers.context import RequestContext, Services
from kproto.handlers.groups.coordinator import GroupCoordinator
from kproto.handlers.groups.partition_log import PartitionLog
from kproto.handlers.turns import answer_of
from kproto.log.leadership import Leadership
from kproto.log.manager import LogManager
from kproto.log.partition import Partition
from kproto.log.ports import LogPorts
from kproto.metadata import StreamletRecord
from kproto.metadata.memory import MemoryStore
from kproto.metadata.records import ONLINE
from kproto.vlog.manager import VlogManager
from kproto.vlog.virtual_log import VirtualLog
from kproto.wire.messages import codec
from tests.groups.world import module_name

OFFSETS_TOPIC = "__consumer_offsets"


class Staying(Leadership):
    """Bytes stay where they are when another node leads, so that who leads again reads its own once more."""

    def is_elsewhere(self, streamlet: StreamletRecord) -> bool:
        return False


class Node:
    """One broker without sockets."""

    def __init__(self, cluster: "Cluster", node_id: int, epoch: int, directory: Path) -> None:
        self.node_id = node_id
        settings, loop = cluster.settings._replace(node_id=node_id), asyncio.get_running_loop()
        directory.mkdir(exist_ok=True)
        self.vlogs = VlogManager(
            str(directory), settings, Disk(), cluster.clock, loop, epoch, self._poisoned, bytes(16)
        )
        ports = LogPorts(self.vlogs.assign, loop.call_soon, self.vlogs.poison, self.vlogs.scan_point)
        self.logs = LogManager(str(directory), Disk(), cluster.clock, settings, ports)
        self.logs.leadership = Staying(node_id, -1)
        self.logs.apply_image(cluster.controller.image)
        self.port = GatedLog(lambda: cluster.controller.image, node_id, self.logs)
        self.groups = GroupCoordinator(
            settings,
            node_id,
            cluster.clock,
            lambda: cluster.controller.image,
            cluster.controller.ensure_offsets_topic,
            self.port,
        )
        cluster.controller.subscribe(self.logs.apply_image)
        cluster.controller.subscribe(self.groups.on_image)
        self.groups.start()
        self.services = Services(
            settings=settings,
            node_id=node_id,
            clock=cluster.clock,
            image=lambda: cluster.controller.image,
            controller=cluster.controller,
            logs=self.logs,
            groups=self.groups,
            budget=None,  # type: ignore[arg-type]
            blocking=None,  # type: ignore[arg-type]
            host=f"host{node_id}",
            port=9092,
        )

    def _poisoned(self, reason: str) -> None:
        raise AssertionError(reason)

    async def call(self, key: int, version: int, /, **fields: Any) -> Any:
        """Send a request through codec and handler and return the parsed response."""
        api, handler = codec(key), registry.handler(key)
        module = __import__(module_name(api.name), fromlist=["x"])
        out = bytearray()
        api.write_request(version, getattr(module, api.name + "Request")(**fields), out)
        parsed, _ = api.parse_request(version, memoryview(bytes(out)))
        assert handler is not None
        assert handler.handle is not None
        context = RequestContext(version, 1, "c", "127.0.0.1", self.services)
        response = await answer_of(handler.handle(context, parsed))
        out = bytearray()
        api.write_response(version, response, out)
        return api.parse_response(version, memoryview(bytes(out)))[0]

    @property
    def loaded(self) -> list[int]:
        """Partitions of the offsets topic that are ready here."""
        return sorted(self.groups._shards)

    def offsets_partition(self, index: int) -> Partition:
        topic = self.services.image().topics[OFFSETS_TOPIC]
        partition = self.logs.partition(topic.topic_id, index)
        assert partition is not None
        return partition

    def lose_ownership(self) -> None:
        """What happens when a backup or the store says that the owner epoch is over (rule 16)."""
        for pusher in self.vlogs._pushers.values():
            vlog = pusher.vlog
            assert isinstance(vlog, VirtualLog)
            for callback in vlog.fail():
                callback()

    def close(self) -> None:
        self.groups.close()
        while not self.vlogs.drain():
            pass
        self.logs.close()
        self.vlogs.close()


class GatedLog(PartitionLog):
    """The log of a node; while ``gate`` is closed nothing can be loaded from it."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.gate = asyncio.Event()
        self.gate.set()
        self.waiting = 0

    async def scan(self, index: int) -> AsyncIterator[memoryview]:
        self.waiting += 1
        await self.gate.wait()
        self.waiting -= 1
        async for batch in super().scan(index):
            yield batch


class Cluster:
    """Nodes 1 to ``brokers`` and the controller; every node knows every image at once."""

    def __init__(self, **settings: str) -> None:
        names = {name.replace("_", "."): value for name, value in settings.items()}
        defaults = {"group.initial.rebalance.delay.ms": "0", "offsets.topic.replication.factor": "1"}
        self.settings = load(None, {**defaults, **names})
        self.clock = SystemClock()
        self.controller = Controller(MemoryStore(), self.settings, 1)
        self.nodes: dict[int, Node] = {}

    async def start(self, directory: Path, brokers: int) -> None:
        await self.controller.start()
        epochs = {}
        for node_id in range(1, brokers + 1):
            record = await self.controller.register_broker(Registration(node_id, f"host{node_id}", 9092))
            epochs[node_id] = record.epoch
        for node_id, epoch in epochs.items():
            self.nodes[node_id] = Node(self, node_id, epoch, directory / str(node_id))

    async def write(self, *records: StreamletRecord) -> None:
        """Commit streamlet records as a controller's decision."""
        puts = {record.key: record.encode() for record in records}
        await self.controller.decide(lambda: Decision(None, puts))

    async def lead(self, index: int, leader: int, epochs: int = 1, state: int = ONLINE) -> StreamletRecord:
        """Make ``leader`` the leader of a partition of the offsets topic, ``epochs`` leader epochs later."""
        image = self.controller.image
        topic = image.topics[OFFSETS_TOPIC]
        old = image.streamlet(topic.topic_id, index)
        new = StreamletRecord(
            old.topic_id, index, leader, old.leader_epoch + epochs, old.replicas, state, old.sources
        )
        await self.write(new)
        return new

    def leader(self, index: int) -> int:
        image = self.controller.image
        return image.streamlet(image.topics[OFFSETS_TOPIC].topic_id, index).leader


@asynccontextmanager
async def running(directory: Path, brokers: int, **settings: str) -> AsyncIterator[Cluster]:
    cluster = Cluster(**settings)
    await cluster.start(directory, brokers)
    try:
        yield cluster
    finally:
        for node in cluster.nodes.values():
            node.close()


def run(test: Callable[[], Awaitable[None]]) -> None:
    """``test`` in an event loop of its own; two minutes at most."""
    asyncio.run(asyncio.wait_for(test(), 120))  # type: ignore[arg-type]


async def until(condition: Callable[[], object]) -> None:
    """Give the loop turns until ``condition()`` holds."""
    try:
        async with asyncio.timeout(60):
            while not condition():
                await asyncio.sleep(0.001)
    except TimeoutError:
        raise AssertionError("it did not come true") from None
