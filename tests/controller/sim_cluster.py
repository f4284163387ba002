"""The real controller, its loop and proposals, over brokers that are simulated: their processes, directories
and network. Everything happens on one virtual loop; what changes in the metadata is a list of lines.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kproto.config import load
from kproto.controller import Controller, NewTopic, TopicRef
from kproto.controller.loop import ControllerLoop
from kproto.controller.registration import Registration
from kproto.errors import KafkaError
from kproto.metadata import MetadataImage
from kproto.metadata.memory import MemoryStore
from kproto.metadata.records import RECOVERING, BrokerRecord
from kproto.metadata.vlogs import CopyTarget, VsegId, VsegRecord
from kproto.net.ports import Answer, Buffer, Done, PeerError
from kproto.replica import messages
from kproto.replica.rules import is_garbage, is_spare
from kproto.wire.internal import Api, InternalError

from .virtual_time import VirtualClock, VirtualLoop

LATENCY = 0.001
TAKEOVER_S = 0.05
UNANSWERED_S = 5.0
STILL_COPYING_S = 60.0


@dataclass
class Directory:
    store_id: str
    copies: dict[VsegId, int] = field(default_factory=dict)
    limbo: bool = False
    fences: dict[VsegId, int] = field(default_factory=dict)
    journals: dict[VsegId, int] = field(default_factory=dict)


@dataclass
class SimBroker:
    node: int
    directory: Directory
    epoch: int = 0
    up: bool = True
    cut: bool = False
    slow: float = 0.0
    recovers: bool = True
    minutes: int = 0
    """So long it takes to copy anything."""
    repairs: dict[VsegId, float] = field(default_factory=dict)
    """When the copies that are being made are there."""


class SimCluster:
    """See the module's text. Node 1 has the controller. Methods are what scenarios do."""

    def __init__(self, brokers: int, *overrides: tuple[str, str]) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        self.loop = loop
        self.clock = VirtualClock(loop)
        self.settings = load(overrides=dict(overrides)) if overrides else load()
        self.store = MemoryStore(self.clock)
        self.brokers = {node: SimBroker(node, Directory(f"store{node}")) for node in range(1, brokers + 1)}
        self.lines: list[str] = []
        self.began = loop.now
        self.tasks: set[asyncio.Task[Any]] = set()
        self._before = MetadataImage()
        self._vsegs: dict[VsegId, VsegRecord] = {}

    async def start(self) -> None:
        await self.start_controller()
        for node in self.brokers:
            await self.register(node)
        self.control.start()
        self.spawn(self._beats())

    async def start_controller(self) -> None:
        self.controller = Controller(self.store, self.settings, 1)
        self._before = await self.controller.start()
        self._vsegs = dict(self.controller.table.vsegs)
        self.control = ControllerLoop(self.controller, self, self.refused, self.clock, self.settings)
        self.controller.subscribe(self._on_image)

    async def restart_controller(self) -> None:
        """The controller's process dies and starts again on the same store, as the same node."""
        await self.control.close()
        self.say("the controller starts anew")
        await self.start_controller()
        self.control.start()
        await self.register(1)

    def spawn(self, work: Any) -> None:
        task = self.loop.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def stop(self) -> None:
        await self.control.close()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    # --- what scenarios do

    async def register(self, node: int) -> BrokerRecord:
        broker = self.brokers[node]
        registered = await self.controller.register_broker(
            Registration(node, f"h{node}", 9092, None, f"i{node}", 1, broker.directory.store_id)
        )
        broker.epoch, broker.up = registered.epoch, True
        self._recover(broker)
        return registered

    async def topic(self, name: str, partitions: int, copies: int) -> None:
        (outcome,) = await self.controller.create_topics([NewTopic(name, partitions, copies)])
        assert outcome.error is None

    async def delete(self, name: str) -> None:
        (outcome,) = await self.controller.delete_topics([TopicRef(name)])
        assert outcome.error is None

    async def write(
        self, node: int, seq: int, start: int, end: int, copies: int = 3, exclude: Sequence[int] = ()
    ) -> VsegRecord:
        """An owner opens a virtual segment and pushes to all its backups."""
        broker = self.brokers[node]
        args = {"vlog": 0, "seq": seq, "copies": copies, "policy": 0, "start": start}
        args["exclude"] = list(exclude)
        await self.controller.proposals.handle(node, broker.epoch, "open_vseg", args)
        vseg = self.controller.table.vsegs[VsegId(broker.epoch, 0, seq)]
        for target in vseg.backups:
            self.brokers[target.node_id].directory.copies[vseg.id] = end
        broker.directory.journals[vseg.id] = end
        return vseg

    def kill(self, *nodes: int) -> None:
        """The processes end; their connections are reset a moment later."""
        for node in nodes:
            self.say(f"kill {node}")
            self.brokers[node].up = False
            self.loop.call_later(LATENCY, self.control.lost, node)

    async def leave(self, node: int) -> None:
        """A process ends in peace; nothing is open (rule 12b)."""
        self.say(f"{node} leaves")
        broker = self.brokers[node]
        await self.controller.proposals.handle(node, broker.epoch, "leave", None)
        broker.up = False

    def cut(self, *nodes: int) -> None:
        """Nothing gets through to or from these any more, and nobody is told."""
        for node in nodes:
            self.say(f"cut off {node}")
            self.brokers[node].cut = True

    async def restart(self, node: int, wiped: bool = False) -> None:
        self.say(f"start {node}{' with an empty directory' if wiped else ''}")
        if wiped:
            self.brokers[node].directory = Directory(f"new{node}")
        self.brokers[node].cut = False
        await self.register(node)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    # --- the network

    async def refused(self, node_id: int) -> bool:
        await asyncio.sleep(LATENCY)
        broker = self.brokers[node_id]
        return not broker.up and not broker.cut

    def request(self, node_id: int, api: int, pieces: Sequence[Buffer], done: Done) -> None:
        broker = self.brokers[node_id]
        body = memoryview(b"".join(bytes(piece) for piece in pieces))
        if broker.cut:
            self.loop.call_later(UNANSWERED_S, done, None)
            return
        delay = LATENCY if not broker.slow else broker.slow
        self.loop.call_later(delay, self._serve, broker, api, body, done)

    async def call(self, node_id: int, api: int, body: Buffer = b"", timeout: float = 10.0) -> Answer:
        future: asyncio.Future[Answer | None] = self.loop.create_future()
        self.request(node_id, api, (body,), future.set_result)
        answer = await asyncio.wait_for(future, timeout)
        if answer is None:
            raise PeerError(f"broker {node_id} is not reachable")
        return answer

    def _serve(self, broker: SimBroker, api: int, body: memoryview, done: Done) -> None:
        if not broker.up:
            done(None)
            return
        error, answer = self._seal(broker, body) if api == Api.SEAL else self._repair(broker, body)
        delay = STILL_COPYING_S if error == InternalError.WAIT else LATENCY
        self.loop.call_later(delay, done, Answer(error, memoryview(answer)))

    def _seal(self, broker: SimBroker, body: memoryview) -> tuple[int, bytes]:
        seal, directory = messages.Seal.decode(body), broker.directory
        if seal.store_id != directory.store_id:
            return InternalError.UNKNOWN, b""
        if seal.journal:
            return InternalError.NONE, messages.Sealed(directory.journals[seal.vseg], False).encode()
        directory.fences[seal.vseg] = seal.fence
        position = directory.copies.get(seal.vseg, messages.NOTHING)
        return InternalError.NONE, messages.Sealed(position, directory.limbo).encode()

    def _repair(self, broker: SimBroker, body: memoryview) -> tuple[int, bytes]:
        repair = messages.Repair.decode(body)
        if broker.directory.copies.get(repair.record.id, -1) >= (repair.record.end or 0):
            return InternalError.NONE, b""
        source = self.brokers[repair.source].directory
        held = source.copies.get(repair.record.id, source.journals.get(repair.record.id))
        if not self.brokers[repair.source].up or held is None:
            return InternalError.REFUSED, b""
        if broker.minutes:
            if repair.record.id not in broker.repairs:
                self.say(f"{broker.node} begins to copy {'/'.join(map(str, repair.record.id))}")
            there = broker.repairs.setdefault(repair.record.id, self.loop.now + 60 * broker.minutes)
            if self.loop.now < there:
                return InternalError.WAIT, b""
        broker.directory.copies[repair.record.id] = held
        return InternalError.NONE, b""

    async def _beats(self) -> None:
        while True:
            for broker in self.brokers.values():
                if broker.up and not broker.cut:
                    self.control.heard(broker.node, broker.epoch)
            await asyncio.sleep(0.6)

    # --- what happens

    def say(self, line: str) -> None:
        self.lines.append(f"{round((self.loop.now - self.began) * 1000):6} ms  {line}")

    def _on_image(self, image: MetadataImage) -> None:
        before, self._before = self._before, image
        for node, broker in sorted(before.brokers.items()):
            if node not in image.brokers:
                self.say(f"broker {node} is fenced")
            elif image.brokers[node].epoch != broker.epoch:
                self.say(f"broker {node} is epoch {image.brokers[node].epoch}")
        for node in sorted(image.brokers.keys() - before.brokers.keys()):
            self.say(f"broker {node} is epoch {image.brokers[node].epoch}")
        self._say_vsegs()
        assigned: Counter[str] = Counter()
        for topic_id in image.touched:
            pairs = zip(before.streamlets.get(topic_id, ()), image.streamlets.get(topic_id, ()), strict=False)
            for old, new in pairs:
                if new.state == RECOVERING and new.leader_epoch > old.leader_epoch:
                    assigned[f"to be recovered by {new.leader}"] += 1
                elif new.state != RECOVERING and old.state == RECOVERING:
                    assigned[f"online on {new.leader}"] += 1
        for what, count in sorted(assigned.items()):
            self.say(f"{count} streamlets {what}")
        for broker in self.brokers.values():
            self._sweep(broker)
            self._recover(broker)

    def _sweep(self, broker: SimBroker) -> None:
        """Delete copies that are none (15)."""
        copies, me = broker.directory.copies, CopyTarget(broker.node, broker.directory.store_id)
        for vseg in list(copies) if broker.up and not broker.cut else ():
            record = self.controller.table.vsegs.get(vseg)
            if (
                record is not None
                and is_garbage(vseg, record, me, 0, False)
                and not is_spare(record, None, ())
            ):
                del copies[vseg]

    def _say_vsegs(self) -> None:
        table = self.controller.table.vsegs
        for vseg, record in sorted(table.items()):
            known = self._vsegs.get(vseg)
            where = ",".join(str(target.node_id) for target in record.backups) or "nobody"
            name = "/".join(map(str, vseg))
            if known is not None and known.open and not record.open:
                self.say(f"vseg {name} ends at {record.end}, copies on {where}")
            elif known is not None and known.backups != record.backups:
                self.say(f"vseg {name} has copies on {where}")
        for vseg in sorted(self._vsegs.keys() - table.keys()):
            self.say(f"vseg {'/'.join(map(str, vseg))} is freed")
        self._vsegs = dict(table)

    def _recover(self, broker: SimBroker) -> None:
        """What a leader does that finds streamlets to recover: it takes some time, then it commits."""
        mine = [
            [record.topic_id.hex(), record.index, record.leader_epoch]
            for part in self.controller.image.streamlets.values()
            for record in part
            if record.state == RECOVERING and record.leader == broker.node
        ]
        if mine and broker.up and not broker.cut and broker.recovers:
            self.spawn(self._commit(broker, broker.epoch, mine))

    async def _commit(self, broker: SimBroker, epoch: int, mine: list[list[Any]]) -> None:
        await asyncio.sleep(TAKEOVER_S + broker.node / 100_000)
        if broker.up and not broker.cut and broker.epoch == epoch:
            try:
                await self.controller.proposals.handle(broker.node, epoch, "commit", {"streamlets": mine})
            except KafkaError as error:
                self.say(f"commit of {broker.node} is refused: {error.code.name}")
