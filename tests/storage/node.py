"""One broker's storage on one machine, wired as `kproto.broker` does it, its loop and threads in the hands of
the run: they do what they have to do when they are told to.
"""

from __future__ import annotations

import errno
import logging
import os
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from types import SimpleNamespace
from typing import Any

import kproto.directory
from kproto.clock import ManualClock
from kproto.config import load
from kproto.directory import open_directory
from kproto.disk import NO_SPACE
from kproto.errors import ErrorCode, KafkaError
from kproto.log.manager import LogManager
from kproto.log.partition import Partition
from kproto.log.ports import LogPorts
from kproto.metadata import MetadataImage, StreamletRecord, TopicRecord
from kproto.vlog.manager import JOURNAL_DIRECTORY, VlogManager
from kproto.vlog.recovery import recover
from kproto.vlog.scan_point import decode_starts
from tests.sim.disk import Machine, SimOs
from tests.sim.parts import files_of, replaced
from tests.sim.world import Violation
from tests.vlog.conftest import TestLoop

from .disk import DeadlyDisk
from .model import Key
from .plan import Plan, some_configs

NODE = 1
BEGIN_MS = 1_700_000_000_000
BETWEEN_MS = 1000
"""Nobody is there for so long."""
TURN_S = 0.25
PUT_OFF_S = 5.0


class Hands:
    """A thread's place (`kproto.vlog.worker.Worker`): a job is done when `step` is called."""

    def __init__(self, loop: TestLoop) -> None:
        self.loop = loop
        self.jobs: deque[tuple[Callable[[], object], Callable[..., object]]] = deque()

    def submit(self, call: Callable[[], object], done: Callable[..., object]) -> None:
        self.jobs.append((call, done))

    def step(self) -> bool:
        if not self.jobs:
            return False
        call, done = self.jobs.popleft()
        error = None
        try:
            call()
        except Exception as raised:
            error = raised
        self.loop.call_soon(done, error)
        return True

    def close(self) -> None:
        while self.step():
            pass


class Told(logging.Handler):
    """What kproto tells operators as an error: nothing, while nothing is lost and the disk has room."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(logging.ERROR)
        self.plan = plan
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[0] is not None:
            told = "".join(traceback.format_exception(*record.exc_info)[-3:])
            self.lines.append(f"{record.getMessage()}: {told}")
        elif not self.plan.power and not self.plan.full:
            self.lines.append(record.getMessage())


class Topic:
    """Of which the metadata says what it is."""

    def __init__(self, name: str, random: Random) -> None:
        self.id = name.encode().ljust(16, b".")
        self.configs = some_configs(random)
        self.partitions = random.choice((1, 2, 3))
        self.groups = random.choice((1, 2))

    def record(self, name: str) -> TopicRecord:
        return TopicRecord(name, self.id, self.partitions, 1, self.groups, dict(self.configs), False)


class Node:
    """The machine, what the metadata say, and the present process: `start` makes it, `stop` ends it in peace,
    `kill` and `lose_power` do not. What a process has is gone with it."""

    def __init__(self, seed: int, plan: Plan) -> None:
        self.plan = plan
        self.random = Random(f"node {seed}")
        self.machine = Machine(NODE, f"/sim/n{NODE}", Random(f"machine {seed}"))
        self.disk = DeadlyDisk(self.machine)
        self.os = SimOs({f"n{NODE}": self.machine}, Random(f"os {seed}"))
        self.os.here = lambda: self.machine
        self.told = Told(plan)
        self.lines: list[str] = []
        self.cover: Counter[str] = Counter()
        self.overrides = dict(plan.settings)
        self.topics: dict[str, Topic] = {}
        self.topics_made = 0
        for _ in range(3):
            self.make_topic()
        self.epoch = 0
        self.revision = 0
        self.wall_ms = BEGIN_MS
        self.power_was_lost = False
        self.running = False

    def note(self, what: str, *more: object) -> None:
        """Count it, and tell of it in the transcript of a single seed."""
        self.cover[what] += 1
        self.lines.append(f"{self.epoch:3} {' '.join(map(str, (what, *more)))}")

    @contextmanager
    def installed(self) -> Iterator[None]:
        """kproto's modules use this machine."""
        no_locks = SimpleNamespace(LOCK_EX=0, LOCK_NB=0, flock=lambda *_: None)
        places = [
            *files_of(self.os),
            (kproto.directory, "boot_id", lambda: self.machine.boot_id),
            (kproto.directory, "fcntl", no_locks),
            (LogManager, "random_below", lambda _, limit: self.random.randrange(limit)),
        ]
        logger = logging.getLogger("kproto")
        before = logger.level, logger.propagate
        logger.addHandler(self.told)
        logger.setLevel(logging.ERROR)
        logger.propagate = False
        try:
            with replaced(places):
                yield
        finally:
            logger.removeHandler(self.told)
            logger.setLevel(before[0])
            logger.propagate = before[1]

    # The metadata

    def make_topic(self) -> None:
        self.topics_made += 1
        name = f"t{self.topics_made}"
        self.topics[name] = Topic(name, self.random)

    def partitions(self) -> list[Key]:
        return [(name, index) for name, topic in self.topics.items() for index in range(topic.partitions)]

    def image(self) -> MetadataImage:
        self.revision += 1
        topics = {name: topic.record(name) for name, topic in self.topics.items()}
        return MetadataImage(
            revision=self.revision,
            base_revision=-1,
            topics=topics,
            topics_by_id={topic.topic_id: topic for topic in topics.values()},
            streamlets={
                topic.topic_id: tuple(
                    StreamletRecord(topic.topic_id, index, 1, self.epoch, (NODE,))
                    for index in range(topic.streamlets)
                )
                for topic in topics.values()
            },
        )

    # A process

    def start(self) -> None:
        """Killed, or an OSError where the disk is full, leave no process."""
        self.epoch += 1
        self.running = True
        self.wall_ms += BETWEEN_MS
        self.clock = ManualClock(self.wall_ms)
        self.loop = TestLoop(self.clock.monotonic)
        self.hands: list[Hands] = []
        self.poison: list[str] = []
        self.put_off: dict[tuple[bytes, int], float] = {}
        self.logs: LogManager | None = None
        settings = load(None, self.overrides)
        path = self.machine.root
        self.directory = open_directory(path, NODE, self.disk)
        self.note(f"left as {self.directory.left_as.value}")
        self.vlogs = VlogManager(
            path,
            settings,
            self.disk,
            self.clock,
            self.loop,
            self.epoch,
            self.poison.append,
            self.directory.boot,
            make_worker=lambda *_: self._hands(),
        )
        self.vlogs.on_files_gone = self.directory.doubt_names
        self.removals = self._hands()
        ports = LogPorts(
            assign_vlog=self.vlogs.assign,
            defer=self.loop.call_soon,
            on_poison=self.vlogs.poison,
            scan_point=self.vlogs.scan_point,
            in_background=self.removals.submit,
            on_deleted=self.vlogs.forget_topic,
        )
        self.logs = LogManager(
            path, self.disk, self.clock, settings, ports, self.directory.left_as, self.epoch
        )
        self.logs.apply_image(self.image())
        self._recover()

    def _hands(self) -> Any:
        self.hands.append(Hands(self.loop))
        return self.hands[-1]

    def _recover(self) -> None:
        logs, vlogs, directory = self.log, self.vlogs, self.directory
        found = recover(
            self.disk,
            os.path.join(directory.path, JOURNAL_DIRECTORY),
            decode_starts(logs.checkpointing.file.point),
            directory.boot,
            power_lost=directory.left_as.unsynced_gone,
        )
        if found.losses and not self.power_was_lost:
            raise Violation(f"S5: the journal is said to have lost something: {found.losses}")
        for key, runs in found.runs():
            logs.unopened.recovered(*key, runs)
        vlogs.on_flushed = logs.checkpointing.write_soon
        vlogs.cleaner.deletions = logs.checkpointing.deletions
        vlogs.inherit(found, logs.settled, logs.unsynced)
        if logs.checkpointing.noted:
            directory.distrusted()

    @property
    def log(self) -> LogManager:
        assert self.logs is not None
        return self.logs

    def opened(self) -> dict[Key, Partition]:
        """What this process has open."""
        if self.logs is None:
            return {}
        return {(one.topic, one.index): one for one in self.logs.partitions_open()}

    def partition(self, key: Key) -> Partition | None:
        """None while it is being proven, or, on a full disk, cannot be opened."""
        try:
            return self.log.partition(self.topics[key[0]].id, key[1])
        except KafkaError as error:
            if not self.may_refuse(error.code):
                raise
        except OSError as error:
            self.only_full(error)
        return None

    def patiently(self, key: Key) -> Partition:
        """A partition, when the threads have done what it waits for."""
        for _ in range(100):
            partition = self.partition(key)
            if partition is not None:
                return partition
            if self.plan.full:  # memory is there again some time after there is room
                self.keep_house(TURN_S)
            self.rest()
        raise Violation(f"S7: {key} never opens")

    def may_refuse(self, code: ErrorCode) -> bool:
        """Whether a client may be told so, and come again."""
        full = self.plan.full and code is ErrorCode.KAFKA_STORAGE_ERROR
        return full or code is ErrorCode.NOT_LEADER_OR_FOLLOWER

    def only_full(self, error: OSError) -> None:
        if not self.plan.full or error.errno not in NO_SPACE or error.errno == errno.EMFILE:
            raise error

    def keep_house(self, seconds: float) -> None:
        """Time passes, and `Broker._keep_house` comes."""
        self.clock.advance(seconds)
        now = self.clock.monotonic()
        self.log.tick(now)
        self.open_recovered(now)
        self.vlogs.tick()

    def open_recovered(self, now: float) -> None:
        """Some of the time: the next partition that has chunks in old journals."""
        waiting = [key for key in self.log.to_open() if now >= self.put_off.get(key, now)]
        if not waiting or self.random.random() < 0.6:
            return
        try:
            self.log.open(*waiting[0])
        except KafkaError as error:
            if not self.may_refuse(error.code):
                raise
            self.put_off[waiting[0]] = now + PUT_OFF_S
        except OSError as error:
            self.only_full(error)
            self.put_off[waiting[0]] = now + PUT_OFF_S

    def spin(self) -> None:
        """Threads do some of their jobs, and the loop has a turn."""
        for hands in self.hands:
            while self.random.random() < 0.7 and hands.step():
                pass
        self.loop.turn()

    def rest(self) -> None:
        """Threads do all of them."""
        for hands in self.hands:
            hands.close()
        self.loop.turn()

    # Ends

    def stop(self) -> bool:
        """As `Broker._close_logs` does; whether it is a clean stop. By chance after all that was recovered is
        open."""
        turns = 400 if self.random.random() < 0.6 else 0
        while self.log.to_open() and turns:
            self.keep_house(TURN_S)
            self.spin()
            turns -= 1
        while not self.vlogs.drain():
            if self.vlogs.stuck:
                if not self.plan.full:
                    raise Violation("S7: a stop does not come to its end")
                return self._stopped(clean=False)
            self.keep_house(TURN_S)
            self.spin()
        self.log.hasten()
        self.removals.close()
        self.vlogs.await_threads()
        self.loop.turn()
        clean = self.log.close()
        self.removals.close()
        self.vlogs.close()
        return self._stopped(clean and self.vlogs.poisoned is None)

    def _stopped(self, clean: bool) -> bool:
        self.directory.close(clean=clean)
        self.note("clean stop" if clean else "stop that is not clean")
        return clean

    def kill(self) -> None:
        self.note("killed")
        self.bury()
        self.machine.kill()

    def lose_power(self) -> None:
        self.note("power lost")
        self.bury()
        self.machine.lose_power()
        self.power_was_lost = True

    def bury(self) -> None:
        """There is no process any more."""
        self.running = False
        self.wall_ms = max(self.wall_ms, self.clock.wall_ms())
        self.machine.open_files.clear()
        self.os.files.clear()
        self.disk.revive()
