"""A cluster with a cuttable network and one small disk, clients that come and go, and faults from a seed."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from compat_tests.black_box.client import to_record
from compat_tests.black_box.history import Kind, Op, Poll, Result, Send, read
from compat_tests.support.cluster import QUICK
from compat_tests.support.confluent import read_partition
from compat_tests.support.links import Links
from compat_tests.support.ports import wait_until
from compat_tests.support.small_disk import SmallMount
from compat_tests.support.topics import create_topic
from kproto.local_cluster import DEAD, PAUSED, LocalCluster, Node

ROOT = Path(__file__).resolve().parents[2]
BROKERS = 4
PARTITIONS = 6
SMALL_NODE = 3
"""The broker whose disk gets full."""
DISK_BYTES = 96 << 20
LEFT_BYTES = 64 << 10
"""What is free on a full disk."""
SETTINGS = {
    **QUICK,
    "kproto.virtual.segment.bytes": str(1 << 20),
    "kproto.journal.bytes": str(16 << 20),
    "kproto.segment.file.bytes": str(1 << 20),
    "kproto.log.memory.bytes": str(8 << 20),
    "kproto.repair.delay.ms": "1000",
}
CLIENTS = (
    ("confluent", Kind.ASSIGN),
    ("confluent", Kind.SUBSCRIBE),
    ("confluent", Kind.SUBSCRIBE),
    ("kafka-python", Kind.ASSIGN),
    ("kafka-python", Kind.SUBSCRIBE),
)
FAULTS = ("kill", "kill", "kill-two", "kill-all", "pause", "isolate", "one-way", "split", "full-disk")
HOLD_S = (0.5, 6.0)
QUIET_S = (1.0, 3.0)


class FaultyCluster(LocalCluster):
    """Brokers that reach each other through `Links`; one has its data on a small disk."""

    links: Links
    disk: SmallMount

    def node_settings(self, node: Node) -> dict[str, str]:
        settings = super().node_settings(node)
        settings["kproto.internal.advertise"] = f"127.0.0.1:{self.links.ports[node.node]}"
        if "kproto.join" in settings:
            settings["kproto.join"] = f"127.0.0.1:{self.links.ports[1]}"
        return settings

    def within(self, node: Node) -> list[str]:
        return self.disk.inside([]) if node.node == SMALL_NODE else []

    def kill(self, node: int) -> None:
        super().kill(node)
        self.links.down(node)

    def start(self, nodes: Iterable[int] | None = None, *, wait: bool = True) -> None:
        wanted = [node.node for node in self.nodes] if nodes is None else list(nodes)
        for node in wanted:
            self.links.up(node)
        super().start(wanted, wait=wait)


@contextmanager
def faulty_cluster(directory: Path, settings: Mapping[str, str] | None = None) -> Iterator[FaultyCluster]:
    """Started, with `SETTINGS` and others; killed at the end."""
    place = directory / "cluster"
    cluster = FaultyCluster.create(str(place), BROKERS, 0, {**SETTINGS, **(settings or {})})
    assert isinstance(cluster, FaultyCluster)
    with ExitStack() as undo:
        cluster.links = Links({node.node: node.internal_port for node in cluster.nodes})
        undo.callback(cluster.links.close)
        cluster.disk = SmallMount(Path(cluster.data_dir(SMALL_NODE)), DISK_BYTES)
        undo.callback(cluster.disk.close)
        undo.callback(_kill_all, cluster)
        cluster.start()
        yield cluster


def _kill_all(cluster: FaultyCluster) -> None:
    for node in cluster.nodes:
        if cluster.state(node) != DEAD:
            cluster.kill(node.node)


class Clients:
    """The clients that run, and the files of all that ever did."""

    def __init__(self, cluster: FaultyCluster, topic: str, directory: Path, chance: random.Random) -> None:
        self._cluster = cluster
        self._topic = topic
        self._directory = directory
        self._chance = chance
        self._running: dict[int, tuple[int, subprocess.Popen[bytes]]] = {}
        self._files: dict[int, Path] = {}
        self._slots: dict[int, int] = {}
        """Which of `CLIENTS` a process is."""
        self.crashes = 0
        for slot in range(len(CLIENTS)):
            self._start(slot)

    def _start(self, slot: int) -> None:
        name, mode = CLIENTS[slot]
        process = len(self._files) + 1
        path = self._files[process] = self._directory / f"client-{process}.jsonl"
        self._slots[process] = slot
        path.touch()
        command = [sys.executable, "-m", "compat_tests.black_box.client", name, mode.value]
        command += [self._cluster.bootstrap_servers, self._topic, str(PARTITIONS), str(process)]
        command += [str(self._chance.randrange(1 << 30)), "box", str(path)]
        with (self._directory / f"client-{process}.err").open("wb") as err:
            started = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=err, cwd=ROOT)
        self._running[slot] = (process, started)

    def crash(self) -> None:
        """Kill one in the middle of whatever it does; another one takes its place."""
        slot = self._chance.choice(sorted(self._running))
        _, running = self._running[slot]
        running.kill()
        running.wait()
        self.crashes += 1
        self._start(slot)

    def replace_ended(self) -> None:
        """A client that gave up (a fatal error of its producer, say) is replaced, too."""
        for slot, (_, running) in sorted(self._running.items()):
            if running.poll() is not None:
                self._start(slot)

    def done(self) -> Counter[tuple[int, type]]:
        """(slot, Send) -> records acknowledged, (slot, Poll) -> records read, so far."""
        found: Counter[tuple[int, type]] = Counter()
        for process, path in self._files.items():
            slot = self._slots[process]
            for part in (part for op in read(path, process) for part in op.parts):
                if isinstance(part, Poll):
                    found[slot, Poll] += len(part.records)
                else:
                    found[slot, Send] += part.result is Result.OK
        return found

    def await_progress(self) -> None:
        """The faults are over: of all kinds of clients one sends and reads again."""
        before = self.done()

        def all_go_on() -> bool:
            self.replace_ended()
            now = self.done()
            return all(
                now[slot, do] > before[slot, do] for slot in range(len(CLIENTS)) for do in (Send, Poll)
            )

        wait_until("clients of all kinds to send and to read", all_go_on, every_s=0.5)

    def finish(self) -> list[Op]:
        """Ask all to end; what they all saw."""
        for _, running in self._running.values():
            assert running.stdin is not None
            running.stdin.close()
        for _, running in self._running.values():
            try:
                running.wait(30)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()
        return [op for process, path in self._files.items() for op in read(path, process)]

    def kill(self) -> None:
        for _, running in self._running.values():
            running.kill()
            running.wait()


@dataclass(slots=True)
class Outcome:
    """A history, and what happened meanwhile."""

    seed: int
    history: list[Op] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    crashes: int = 0
    carried: int = 0
    """Bytes between brokers."""

    def counts(self) -> dict[str, int]:
        """How much was sent, acknowledged, given up and read."""
        found: Counter[str] = Counter(clients=len({op.process for op in self.history}), ops=len(self.history))
        for op in self.history:
            found["rebalanced"] += op.rebalanced
            for part in op.parts:
                if isinstance(part, Send):
                    found[f"sends {part.result.value}"] += 1
                else:
                    found["records polled"] += len(part.records)
        return dict(found)

    def acknowledged(self) -> int:
        return self.counts().get(f"sends {Result.OK.value}", 0)


class Nemesis:
    """Does one fault at a time and undoes it."""

    def __init__(self, cluster: FaultyCluster, chance: random.Random) -> None:
        self._cluster = cluster
        self._chance = chance
        self._nodes = [node.node for node in cluster.nodes]
        self._filler: Path | None = None

    def begin(self, fault: str) -> str:
        """What it did, for people."""
        chance, links = self._chance, self._cluster.links
        some = chance.sample(self._nodes, len(self._nodes))
        if fault.startswith("kill"):
            victims = some[: {"kill": 1, "kill-two": 2, "kill-all": len(some)}[fault]]
            for node in victims:
                self._cluster.kill(node)
            return f"kill {sorted(victims)}"
        if fault == "pause":
            self._cluster.pause(some[0])
            return f"pause {some[0]}"
        if fault == "isolate":
            links.isolate(some[0])
            return f"isolate {some[0]}"
        if fault == "one-way":
            links.cut([(some[0], some[1])])
            return f"cut {some[0]} to {some[1]}"
        if fault == "split":
            links.cut(
                [(a, b) for a in some[:2] for b in some[2:]] + [(b, a) for a in some[:2] for b in some[2:]]
            )
            return f"split {some[:2]} from {some[2:]}"
        if self._cluster.disk.free_bytes() > LEFT_BYTES:
            self._filler = self._cluster.disk.fill(LEFT_BYTES)
        return "full disk"

    def undo(self) -> None:
        """Everything is as it should be: brokers run, the network carries, the disk has room."""
        if self._filler is not None:
            self._filler.unlink()
            self._filler = None
        self._cluster.links.heal()
        for node in self._cluster.nodes:
            if self._cluster.state(node) == PAUSED:
                self._cluster.resume(node.node)
        dead = [node.node for node in self._cluster.nodes if self._cluster.state(node) == DEAD]
        if dead:
            self._cluster.start(dead)


def run(directory: Path, seed: int, seconds: float, faults: Iterable[str] = FAULTS) -> Outcome:
    """Faults for so long, each kind at least once; then all clients must go on; then everything is read once
    more by a client of its own (0)."""
    chance, outcome, kinds = random.Random(seed), Outcome(seed), list(faults)
    with faulty_cluster(directory) as cluster:
        topic = create_topic(cluster.bootstrap_servers, "box", PARTITIONS, replicas=3)
        clients = Clients(cluster, topic, directory, chance)
        nemesis = Nemesis(cluster, chance)
        try:
            time.sleep(2)
            end = time.monotonic() + seconds
            pending = chance.sample(kinds, len(kinds))
            while time.monotonic() < end or len(outcome.faults) < len(kinds):
                pending = pending or chance.sample(kinds, len(kinds))
                outcome.faults.append(nemesis.begin(pending.pop()))
                time.sleep(chance.uniform(*HOLD_S))
                if chance.random() < 0.4:
                    clients.crash()
                nemesis.undo()
                time.sleep(chance.uniform(*QUIET_S))
                clients.replace_ended()
            clients.await_progress()
            outcome.history = clients.finish()
        finally:
            clients.kill()
        outcome.crashes = clients.crashes
        outcome.history += read_everything(cluster, topic)
        outcome.carried = cluster.links.carried.total()
    return outcome


def read_everything(cluster: FaultyCluster, topic: str) -> list[Op]:
    """The final polls: one client reads every partition from its start to its end."""
    ops = [Op(0, Kind.ASSIGN, keys=frozenset(range(PARTITIONS)))]
    for key in range(PARTITIONS):

        def all_of(key: int = key) -> Poll | None:
            try:
                found = read_partition(cluster.bootstrap_servers, topic, key)
            except Exception as error:
                print(f"partition {key} cannot be read yet: {error}")
                return None
            return Poll(tuple(to_record(key, m.offset(), m.value()) for m in found))

        poll = wait_until(f"partition {key} to be read", all_of)
        assert poll is not None
        ops.append(Op(0, Kind.MIX, (poll,)))
    return ops
