"""Four brokers to be killed: kproto's local cluster, or Apache Kafka with its shipped settings."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final, Protocol

from confluent_kafka import ElectionType, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient

from bench.failover.whole import Whole
from bench.quorum import kafka_nodes, start
from bench.results import KAFKA, KPROTO
from kproto.local_cluster import DEAD, PAUSED, LocalCluster

BROKERS: Final = 4
COPIES: Final = 3
WHOLE_LOOKS: Final = 3
"""Redundancy counts as whole when so many looks in a row say so: a broker that died may not be missed yet."""
LOOK_S: Final = 0.3
SETTLED_S: Final = 5.0
"""Brokers that started a moment ago are left alone for so long after all copies are in sync."""
HEARTBEATS: Final = 5
"""In a session: what kproto does by itself. Apache Kafka's brokers send one every 2 s unless they are told:
with a shorter session, and nothing else changed, they are fenced between two of them, again and again."""


class Cluster(Protocol):
    """What the rounds need of a cluster."""

    @property
    def name(self) -> str: ...

    @property
    def nodes(self) -> Sequence[int]: ...

    @property
    def victims(self) -> Sequence[int]:
        """Nodes that may be killed while others go on."""

    @property
    def bootstrap(self) -> str: ...

    def spare(self, min_insync: int) -> int:
        """So many brokers may be away at once, whichever, and acks go on."""

    def start(self, nodes: Sequence[int]) -> None:
        """Start and wait until they serve."""

    def kill(self, *nodes: int) -> None:
        """SIGKILL, in the same moment."""

    def stop(self, node: int) -> None:
        """SIGTERM, and wait until the process has ended."""

    def wipe(self, node: int) -> None:
        """Delete the data of a dead node."""

    def pause(self, node: int) -> None: ...

    def resume(self, node: int) -> None: ...

    def watch(self, topic: str) -> Callable[[], bool]:
        """Says whether everything has all its copies, by nothing that is older than its first answer."""

    def recovered_s(self, node: int, since_ms: int) -> float | None:
        """Seconds from ``since_ms`` (wall clock) until all that ``node`` led was led again, as the controller
        saw it; None when it does not say."""

    def close(self) -> None:
        """Kill what runs."""


def await_whole(cluster: Cluster, topic: str, timeout_s: float, stays_s: float = 0.0) -> float:
    """Seconds until redundancy is whole, and stays so for ``stays_s``. Raises TimeoutError."""
    began, looks, since = time.monotonic(), 0, 0.0
    whole = cluster.watch(topic)
    while looks < WHOLE_LOOKS or time.monotonic() - since < stays_s:
        if time.monotonic() - began > timeout_s:
            raise TimeoutError(f"{cluster.name}: redundancy is not whole after {timeout_s} s")
        looks = looks + 1 if whole() else 0
        if looks <= 1:
            since = time.monotonic()
        time.sleep(LOOK_S)
    return since - began


def session_settings(kind: str, session_ms: int | None) -> dict[str, str]:
    """The settings of a system's brokers for a session of that length; none for None."""
    if session_ms is None:
        return {}
    found = {"broker.session.timeout.ms": str(session_ms)}
    if kind == KAFKA:
        found["broker.heartbeat.interval.ms"] = str(session_ms // HEARTBEATS)
    return found


def leaders(cluster: Cluster, topic: str) -> list[int]:
    """The leader of every partition (-1: none), as a broker that answers has it."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    found = admin.list_topics(topic, timeout=30).topics[topic].partitions
    return [found[partition].leader for partition in sorted(found)]


def elect_preferred(cluster: Cluster, topic: str, partitions: int) -> None:
    """Every broker leads its share again; what cannot be done now is left as it is."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 0})
    wanted = [TopicPartition(topic, partition) for partition in range(partitions)]
    with suppress(KafkaException):
        # With a timeout confluent-kafka 2.16.1 raises SystemError: it takes one more argument than it names.
        admin.elect_leaders(ElectionType.PREFERRED, wanted).result(30)


class KprotoCluster:
    """kproto's own brokers. With SQLite, node 1 has the only controller and is spared."""

    name = "kproto"
    kind = KPROTO

    def __init__(self, directory: Path, settings: Mapping[str, str]) -> None:
        self.local = LocalCluster.create(str(directory), BROKERS, 0, settings)
        self.nodes = [node.node for node in self.local.nodes]
        everybody = settings.get("kproto.metadata.store", "").startswith("etcd:")
        self.victims = self.nodes if everybody else self.nodes[1:]

    @property
    def bootstrap(self) -> str:
        return self.local.bootstrap_servers

    def spare(self, min_insync: int) -> int:
        """New records get their copies on those that are there."""
        return BROKERS - min_insync

    def start(self, nodes: Sequence[int]) -> None:
        self.local.start(nodes)

    def kill(self, *nodes: int) -> None:
        self.local.kill(*nodes)

    def stop(self, node: int) -> None:
        self.local.stop([node])

    def wipe(self, node: int) -> None:
        self.local.wipe(node)

    def pause(self, node: int) -> None:
        self.local.pause(node)

    def resume(self, node: int) -> None:
        self.local.resume(node)

    def watch(self, topic: str) -> Callable[[], bool]:  # noqa: ARG002
        """No recovery waits for anybody, no copy is missing or being made."""
        whole = Whole()

        def look() -> bool:
            found = self._recovery()
            return found is not None and whole.by(found)

        return look

    def recovered_s(self, node: int, since_ms: int) -> float | None:
        found = self._recovery()
        for row in (found or {}).get("recoveries", ()):
            if row["node"] == node and row["wall_ms"] >= since_ms and row["committed_s"] is not None:
                return float((row["wall_ms"] - since_ms) / 1000 + row["committed_s"])
        return None

    def _recovery(self) -> dict[str, Any] | None:
        """What `kproto recovery` shows; None when no broker tells."""
        alive = [node for node in self.local.nodes if self.local.state(node) != DEAD]
        try:
            found: dict[str, Any] = alive[0].page("/recovery", 5)
        except (HTTPException, OSError, ValueError, IndexError):
            return None
        return found

    def close(self) -> None:
        for node in self.local.nodes:
            if self.local.state(node) == PAUSED:
                self.local.resume(node.node)
            if self.local.state(node) != DEAD:
                self.local.kill(node.node)


class KafkaCluster:
    """Four brokers; nodes 1 to 3 are controllers too, or one more JVM, which is spared, is the controller."""

    name = "Apache Kafka"
    kind = KAFKA

    def __init__(self, directory: Path, separate: bool, settings: Mapping[str, str]) -> None:
        self.nodes = list(range(1, BROKERS + 1))
        self.victims = self.nodes
        nodes = kafka_nodes(directory, BROKERS, settings=settings, separate=separate)
        self._processes = dict(enumerate(nodes, start=1))

    def spare(self, min_insync: int) -> int:
        """Where the copies of a partition are does not change."""
        return COPIES - min_insync

    @property
    def bootstrap(self) -> str:
        return ",".join(self._processes[node].bootstrap for node in self.nodes)

    def start(self, nodes: Sequence[int]) -> None:
        spared = [node for node in self._processes if node not in self.nodes]
        wanted = [self._processes[node] for node in (*spared, *nodes)]
        start([node for node in wanted if node.process is None])

    def kill(self, *nodes: int) -> None:
        for node in nodes:
            self._send(node, signal.SIGKILL)
        for node in nodes:
            self._processes[node].stop(signal.SIGKILL)

    def stop(self, node: int) -> None:
        self._processes[node].stop()

    def wipe(self, node: int) -> None:
        shutil.rmtree(self._processes[node].directory / "data", ignore_errors=True)

    def pause(self, node: int) -> None:
        self._send(node, signal.SIGSTOP)

    def resume(self, node: int) -> None:
        self._send(node, signal.SIGCONT)

    def _send(self, node: int, what: signal.Signals) -> None:
        process = self._processes[node].process
        assert process is not None
        process.send_signal(what)

    def watch(self, topic: str) -> Callable[[], bool]:
        """Every partition of the topic has all its replicas in sync."""

        def look() -> bool:
            admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
            try:
                found = admin.describe_topics(TopicCollection([topic]), request_timeout=5)[topic].result(10)
            except KafkaException:
                return False
            return all(len(each.isr) >= COPIES and each.leader is not None for each in found.partitions)

        return look

    def recovered_s(self, node: int, since_ms: int) -> float | None:  # noqa: ARG002
        return None

    def close(self) -> None:
        for node in self._processes.values():
            if node.process is not None:
                with suppress(ProcessLookupError):
                    node.process.send_signal(signal.SIGCONT)
                node.stop(signal.SIGKILL)
