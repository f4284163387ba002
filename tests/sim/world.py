"""The cluster: machines, brokers, the store, and what can happen to them.

A `World` runs one seed: `run` starts the cluster, lets clients and faults at it, then heals everything and
checks that it comes to rest with nothing lost. What breaks an invariant raises `Violation`.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any
from weakref import WeakKeyDictionary

from kproto.broker import Broker, StartError
from kproto.config import load
from kproto.config import settings as settings_module
from kproto.controller import Controller, NewTopic
from kproto.controller.names import OFFSETS_TOPIC
from kproto.errors import KafkaError
from kproto.log.ports import LogPartition
from kproto.metadata.image import MetadataImage, load_image
from kproto.metadata.store import Change
from kproto.metadata.vlogs import VlogTable, VsegRecord
from kproto.net.ports import PeerError
from kproto.replica.reach import NoCopyError
from kproto.replica.store import ReplicaStore
from kproto.replica.takeover import NotSealedError
from kproto.vlog.classes import FlushPolicy

from .disk import Machine, SimDisk, SimOs
from .groups import topic_of_offsets
from .loop import DEAD, PAUSED, RUNNING, Process, SimLoop
from .net import Network
from .parts import STORE_IS_DOWN, SimClock, SimStore

PORT = 1
SESSION_S = 1.0
FIRST_FILES = ("/identity.json", "/running", "/checkpoint", "/fences")
"""What a data directory has before it is used, or used under another boot."""


class Violation(AssertionError):
    """An invariant is broken."""


class Node:
    """One machine's broker: its present process, if any, and the `Broker` in it."""

    def __init__(self, world: World, number: int) -> None:
        self.world = world
        self.number = number
        self.machine = world.machines[number]
        self.settings = world.settings(number)
        self.process: Process | None = None
        self.broker: Broker | None = None
        self.ready = False
        self.starts = 0
        self.told_to_stop: Process | None = None
        """Nobody tells it twice."""

    @property
    def stopping(self) -> bool:
        """Its process was told to stop, and has not ended."""
        return self.up and self.process is self.told_to_stop

    @property
    def here(self) -> Process:
        """The process of a node that is up."""
        assert self.process is not None
        return self.process

    @property
    def running(self) -> Broker:
        """The broker of a node that is ready."""
        assert self.broker is not None
        return self.broker

    @property
    def store(self) -> ReplicaStore:
        """Its copies."""
        assert self.running._member is not None
        return self.running._member.replicas.store

    @property
    def in_doubt(self) -> bool:
        """Its disk is about to fail, or has, and what may be lost with that is not made up for: copies on
        another one that fails, too, would be the last of two."""
        machine = self.machine
        failed = machine.fail_next is not None or "failed" in machine.folders.get(machine.root, {})
        known = self.broker is not None and self.broker._member is not None
        return failed or (known and (self.store.state.suspect or bool(self.store.state.limbo)))

    def is_deciding_by(self, number: int) -> bool:
        """It is controller, and just writing down who has copies, or asks node ``number`` once more for what
        it has: the answer, on its way, may be the last that it gives (seed 30091589)."""
        member = self.broker._member if self.up and self.broker is not None else None
        if member is None or member._acting is None:
            return False
        loop = member._seat._loop if member._seat is not None else member._embedded
        known = loop._sealing._progress.values() if loop is not None else ()
        copies = [copy for one in known for target, copy in one.copies.items() if target.node_id == number]
        return member._acting._busy.locked() or any(copy.asked and copy.answered for copy in copies)

    def may_disown(self, record: VsegRecord) -> bool:
        """Its copy is, or will be, in limbo: nothing was lost, and nobody can tell (3, 35)."""
        return record.open and record.policy != FlushPolicy.SYNCED and self.in_doubt

    @property
    def up(self) -> bool:
        return self.process is not None and self.process.state is not DEAD

    @property
    def paused(self) -> bool:
        return self.process is not None and self.process.state is PAUSED

    @property
    def serving(self) -> bool:
        return self.ready and self.process is not None and self.process.state is RUNNING

    def start(self) -> None:
        """Start a process."""
        if self.up:
            return
        self.starts += 1
        self.ready = False
        self.machine.begin()
        loop = self.world.loop
        self.process = process = loop.process(f"n{self.number}#{self.starts}", self.number)
        process.on_end.append(lambda: self.world.network.ended(process))
        process.on_end.append(self.machine.kill)
        process.spawn(self._life(process))

    async def _life(self, process: Process) -> None:
        try:
            await self._run(process)
        except Exception as error:
            self.world.failed(f"n{self.number} died: {''.join(traceback.format_exception(error)[-4:])}")

    async def _run(self, process: Process) -> None:
        world = self.world
        busy = Random(f"busy {world.seed} {self.number} {self.starts}") if world.plan.busy else None
        clock = SimClock(world.loop, lambda: world.ahead.get(self.number, 0), busy)
        self.broker = broker = Broker(self.settings, clock, SimDisk(self.machine))
        try:
            await broker.start()
        except (StartError, OSError) as error:
            world.note(f"n{self.number} cannot start: {error}")
            if not world.may_fail(self, str(error)):
                world.failed(f"n{self.number} cannot start: {error}")
            self._end(process, 0.5)
            return
        self.ready = True
        world.note(f"n{self.number} serves, epoch {world.epoch_of(self)}")
        endings = [asyncio.ensure_future(event.wait()) for event in (broker.failed, broker.fenced)]
        await asyncio.wait(endings, return_when=asyncio.FIRST_COMPLETED)
        if broker.failed.is_set() and not self.machine.failures:
            world.failed(f"n{self.number} poisoned its directory")
        world.count("fenced itself" if broker.fenced.is_set() else "poisoned")
        if broker.failed.is_set():
            await asyncio.sleep(self._dying_s())  # a process does not end at once; it acks nothing (S16)
        self._end(process, 0.05)

    def _dying_s(self) -> float:
        """How long a process goes on after its storage failed."""
        return Random(f"dying {self.world.seed} {self.number} {self.starts}").choice((0.0, 0.02, 0.5))

    def _end(self, process: Process, seconds: float) -> None:
        """The process ends and begins anew."""
        process.kill()
        self.ready = False
        self.world.loop.deliver(None, self.world.loop.now + seconds, self._again, process)

    def _again(self, process: Process) -> None:
        if self.process is process:
            self.start()

    def kill(self) -> None:
        """SIGKILL: what was written stays."""
        if self.process is not None:
            self.process.kill()
        self.ready = False
        self.process = None


class World:
    """See the module's text. ``replaced`` are (module, name, value) of rules that are taken out."""

    def __init__(self, seed: int, plan: Any, replaced: Any = ()) -> None:
        self.seed = seed
        self.plan = plan
        self.replaced = list(replaced)
        self.random = Random(f"faults {seed}")
        self.loop = SimLoop(Random(f"loop {seed}"))
        self.clock = SimClock(self.loop)
        numbers = range(1, plan.nodes + 1)
        self.machines = {n: Machine(n, f"/sim/n{n}", Random(f"machine {n} {seed}")) for n in numbers}
        self.os = SimOs({f"n{n}": machine for n, machine in self.machines.items()}, Random(f"os {seed}"))
        self.os.here = lambda: self.machines[self.loop.current.node]  # type: ignore[union-attr]
        self.network = Network(self.loop, Random(f"network {seed}"))
        self.store = SimStore(self.clock)
        self.store.on_change = self._stored
        self.store.on_unguarded = lambda keys: self.failed(f"19b: {keys} are written without a condition")
        self.image = MetadataImage()
        self.table = VlogTable()
        self.ahead: dict[int, int] = {}
        """By node, ms that its wall clock is ahead of the others'."""
        self.nodes = {n: Node(self, n) for n in numbers}
        self.cover: Counter[str] = Counter()
        self.lines: list[str] = []
        self.problems: list[str] = []
        self.closed = False
        self.pace = plan.pace
        self.hopeless = False
        """Faults have ended, and clients need not wait for their last answers any more."""
        self.power_may_go = True
        """All that was acknowledged is on media, if the plan says so at all (`late`)."""
        self.is_damaged: Callable[[int, str, int], bool] = lambda *_: False
        """Whether a node may hand out anything of a partition (`damage`)."""
        self.ruin: Callable[[Node, str, int], None] = lambda *_: None
        """Damages a file of a partition of one copy (`damage`)."""
        self.came: WeakKeyDictionary[LogPartition, int] = WeakKeyDictionary()
        """Where partitions ended when what they had before (`Older`) was last known to be unsynced."""
        self.ruined: set[tuple[str, int]] = set()
        """Topic and number of partitions of one copy with damaged files: nothing is promised of them."""
        self.on_change: list[Any] = []
        self._began = self.loop.now
        self._revision = 0

    def settings(self, number: int) -> Any:
        """A broker's settings, smaller than it would accept."""
        plan = self.plan
        texts = {
            "node.id": str(number),
            "log.dirs": f"/sim/n{number}",
            "listeners": f"PLAINTEXT://n{number}:9092",
            "kproto.internal.listen": f"n{number}:{PORT}",
            "broker.session.timeout.ms": str(int(SESSION_S * 1000)),
            "kproto.backup.stall.ms": "200",
            "kproto.push.linger.max.ms": "100",
            "kproto.repair.delay.ms": "500",
            "kproto.controller.grace.ms": "4000",
            "kproto.flush.age.ms": "300",
            "kproto.flush.bytes": "4096",
            "kproto.checkpoint.interval.ms": "400",
            "kproto.recovery.read.bytes.per.second": str(plan.rate),
            "kproto.vlogs.per.broker": str(plan.vlogs),
            "log.segment.delete.delay.ms": "500",
            "log.retention.check.interval.ms": "900",
            "min.insync.replicas": str(plan.min_insync),
            "offsets.topic.num.partitions": "2",
            "offsets.commit.timeout.ms": "1000",
            "group.min.session.timeout.ms": "100",
            "group.initial.rebalance.delay.ms": "100",
            "producer.id.expiration.ms": str(plan.forgets_ms),
        }
        if plan.groups:
            texts["offsets.retention.check.interval.ms"] = "700"
        if plan.racks:
            texts["broker.rack"] = "ab"[number % 2]
        if plan.shared:
            texts["kproto.metadata.store"] = "etcd://store:2379/sim"
        elif number != 1:
            texts["kproto.join"] = f"n1:{PORT}"
        base = load(overrides=texts)
        small = {
            "kproto.virtual.segment.bytes": plan.vseg_bytes,
            "kproto.segment.file.bytes": plan.segment_bytes,
            "kproto.virtual.segment.ms": Random(f"age {self.seed}").choice((1_000, 5_000, 15_000)),
            "log.segment.bytes": plan.segment_bytes * 4,
            "kproto.direct.bytes": 3_000,
            "kproto.log.memory.bytes": plan.memory,
            "kproto.request.memory.bytes": plan.requests,
            "kproto.open.files": plan.files,
        }
        if plan.journal:
            small["kproto.journal.bytes"] = max(plan.journal, 4 * plan.vseg_bytes)
        return settings_module._settings({**base.values, **small}, base.explicit)

    # What is told

    def note(self, line: str) -> None:
        self.lines.append(f"{round((self.loop.now - self._began) * 1000):6} ms  {line}")

    def count(self, what: str, by: int = 1) -> None:
        self.cover[what] += by

    def failed(self, problem: str) -> None:
        """Something is wrong; the run ends at the next look."""
        if not self.closed:
            self.note(f"VIOLATION {problem}")
            self.problems.append(problem)

    def look(self) -> None:
        """Raise what was found so far."""
        for error in self.loop.errors:
            self.failed(f"nobody caught: {error}")
        self.loop.errors.clear()
        for process in self.loop.processes:
            under_way = []
            for task in process.tasks:
                if not task.done():
                    under_way.append(task)
                elif task._log_traceback:
                    failure = task.exception()
                    if isinstance(failure, KafkaError | NoCopyError | NotSealedError | PeerError):
                        # what waits for it has no turn any more, or not yet: its process is paused
                        self.count(f"never asked for: {type(failure).__name__}")
                        continue
                    self.failed(f"a task failed: {''.join(traceback.format_exception(failure)[-4:])}")
            process.tasks = under_way
        if self.problems:
            raise Violation(self.problems[0])

    def may_fail(self, node: Node, why: str) -> bool:
        """A broker need not start when its disk fails, or the store that is on it, which may be back by the
        time that the broker says so; all others wait for the store. A full disk keeps away only who has no
        such files yet, or not of this boot. (One with a new disk is another one as long as nobody knows that
        the one before it ended, and waits for that, too.)"""
        machine = node.machine
        own_store = not self.plan.shared and node.number == 1
        full = machine.full or machine.room is not None
        return bool(
            machine.failures
            or (full and any(name in why for name in FIRST_FILES))
            or machine.scarce
            or (own_store and (self.store.down or STORE_IS_DOWN in why))
        )

    def epoch_of(self, node: Node) -> int:
        member = node.broker._member if node.broker is not None else None
        return member.epoch if member is not None else 0

    # Metadata as the store has it

    def _stored(self, puts: Any, deletes: Any) -> None:
        self._revision = self.store._revision
        gone = tuple(deletes)
        before = dict(self.table.vsegs) if any(key.startswith("vsegs/") for key in (*puts, *gone)) else None
        change = Change(self._revision, dict(puts), gone)
        if self.image.revision + 1 == self._revision and self.image.revision:
            self.image = self.image.apply(change)
        else:
            entries = [self.store._entries[key] for key in sorted(self.store._entries)]
            self.image = load_image(self._revision, entries)
        self.table.apply(change)
        for listener in self.on_change:
            listener(change, before)

    # The cluster

    async def boot(self) -> None:
        """Start all nodes, wait for them, make the topics."""
        for node in self.nodes.values():
            node.start()
        for _ in range(200):
            acting = self.acting()
            if acting is not None and all(node.ready for node in self.nodes.values()):
                break
            await asyncio.sleep(0.05)
            self.look()
        else:
            raise Violation("the cluster does not start")
        topics = [
            NewTopic(topic.name, topic.partitions, topic.copies, (), topic.configs)
            for topic in self.plan.topics
        ]
        names = [topic.name for topic in topics] + [OFFSETS_TOPIC] * bool(self.plan.groups)
        for _ in range(50):
            acting = self.acting()
            if acting is not None:
                process, controller = acting
                if len(names) > len(topics):
                    topics.append(topic_of_offsets(self.plan, controller))
                await self.inside(process, self._make(controller, topics))
            if all(name in self.image.topics for name in names):
                return
            await asyncio.sleep(0.1)
        raise Violation("the topics cannot be made")

    async def _make(self, controller: Controller, topics: list[NewTopic]) -> None:
        try:
            for outcome in await controller.create_topics(topics):
                if outcome.error is not None:
                    self.note(f"topic {outcome.name}: {outcome.error}")
        except KafkaError as error:
            self.note(f"topics: {error}")

    def acting(self) -> tuple[Process, Controller] | None:
        """The controller and its process: one that thinks so, and may be wrong."""
        for node in self.nodes.values():
            if node.serving:
                assert node.process is not None
                assert node.broker is not None
                member = node.broker._member
                controller = member._acting if member is not None else None
                if controller is not None:
                    return node.process, controller
        return None

    async def inside(self, process: Process, work: Any) -> Any:
        """The result of a coroutine that runs in a process, and may not fail; whoever awaits it stays
        outside."""
        future = self.loop.create_future()

        async def run() -> None:
            self.loop.deliver(None, self.loop.now, future.set_result, await work)

        process.spawn(run())
        return await future

    def crash(self, number: int) -> None:
        node = self.nodes[number]
        if node.up:
            self.note(f"kill n{number}")
            self.count("kill")
            node.kill()

    def crash_writing(self, number: int, where: str) -> None:
        """Kill a broker when it next writes a path with ``where`` in it, with part of that done."""
        machine = self.machines[number]
        machine.cut_in = where
        machine.on_cut = lambda: self._cut(number, where)

    def _cut(self, number: int, where: str) -> None:
        node = self.nodes[number]
        self.note(f"kill n{number} as it writes {where or 'something'}")
        self.count("killed as it wrote")
        node.ready = False
        node.here.kill_meanwhile()

    def power_loss(self, number: int) -> None:
        self.note(f"n{number} loses power")
        self.count("power loss")
        self.network.dark.add(number)
        self.nodes[number].kill()
        self.machines[number].lose_power()

    def wipe(self, number: int) -> None:
        self.note(f"n{number} loses its disk")
        self.count("wipe")
        self.nodes[number].kill()
        self.machines[number].wipe()

    def start(self, number: int) -> None:
        node = self.nodes[number]
        if not node.up:
            self.note(f"start n{number}")
            self.network.lit(number)
            node.start()

    def pause(self, number: int) -> None:
        node = self.nodes[number]
        if node.up and not node.paused:
            self.note(f"pause n{number}")
            self.count("pause")
            node.here.pause()

    def resume(self, number: int) -> None:
        node = self.nodes[number]
        if node.paused:
            self.note(f"resume n{number}")
            node.here.resume()

    def close(self) -> None:
        self.closed = True
        for node in self.nodes.values():
            if node.process is not None:
                node.process.kill()
        self.loop.bury()


class Complaints(logging.Handler):
    """Errors that kproto logs with a traceback are bugs."""

    def __init__(self, world: World) -> None:
        super().__init__(logging.ERROR)
        self.world = world

    def emit(self, record: logging.LogRecord) -> None:
        current = self.world.loop.current
        if current is not None and not current.alive:
            return  # it was killed within this callback
        if record.exc_info and record.exc_info[0] is not None:
            text = "".join(traceback.format_exception(*record.exc_info)[-3:])
            self.world.failed(f"{record.name}: {record.getMessage()}: {text}")
        elif record.levelno >= logging.CRITICAL and not any(m.failures for m in self.world.machines.values()):
            self.world.failed(f"{record.name}: {record.getMessage()}")
