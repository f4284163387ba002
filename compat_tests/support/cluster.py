"""A cluster of broker processes for one test, and the load that goes on while brokers come and go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import URLError

from bench.failover.copies import read_table
from bench.failover.whole import Whole
from compat_tests.support.load import ProducerLoad, verify_exactly_once
from compat_tests.support.ports import PATIENCE_S, wait_until
from compat_tests.support.topics import create_topic
from kproto.local_cluster import LocalCluster, Node
from kproto.metadata.vlogs import VsegRecord

QUICK = {"group.initial.rebalance.delay.ms": "0"}


@contextmanager
def own_cluster(
    directory: Path, brokers: int = 4, settings: Mapping[str, str] | None = None
) -> Iterator[LocalCluster]:
    """A cluster on free ports; killed at the end, its logs stay in ``directory`` for whoever looks."""
    cluster = LocalCluster.create(str(directory / "cluster"), brokers, 0, {**QUICK, **(settings or {})})
    cluster.start()
    try:
        yield cluster
    finally:
        for node in cluster.nodes:
            if cluster.state(node) != "dead":
                cluster.kill(node.node)


def lose_disks(cluster: LocalCluster, *nodes: int) -> None:
    """All of ``nodes`` die, and what they stored is gone."""
    cluster.kill(*nodes)
    for node in nodes:
        cluster.wipe(node)


def tell_next_time(cluster: LocalCluster, name: str, value: str) -> None:
    """Brokers that are started from now on have another setting."""
    settings = cluster.settings
    assert isinstance(settings, dict)
    settings[name] = value


def told(node: Node, path: str = "/recovery") -> Any:
    """A page of a broker's metrics address, which is closed while the broker starts (anew)."""

    def answered() -> tuple[Any] | None:
        try:
            return (node.page(path, PATIENCE_S),)
        except URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError):
                raise
            return None

    return wait_until(f"broker {node.node} answers {path}", answered)[0]


def pushed_again(nodes: Iterable[Node]) -> int:
    """Bytes that these brokers have pushed again, as leaders."""
    return sum(told(node, "/recovery/here")["pushed_again_bytes"] for node in nodes)


def await_copies(cluster: LocalCluster, timeout_s: float = PATIENCE_S) -> None:
    """Nothing lacks a copy, as of now or later."""
    whole = Whole()
    asked = next(node for node in cluster.nodes if cluster.state(node) == "running")
    wait_until("all copies", lambda: whole.by(told(asked)), timeout_s)


def vsegs_of(cluster: LocalCluster) -> list[VsegRecord]:
    """What the metadata has; broker 1, which keeps them, stands still meanwhile."""
    cluster.pause(1)
    try:
        wait_until("broker 1 stands still", lambda: cluster.state(cluster.node(1)) == "paused", every_s=0.001)
        table, _ = read_table("sqlite", Path(cluster.data_dir(1)))
    finally:
        cluster.resume(1)
    return list(table.vsegs.values())


class ClusterLoad:
    """Idempotent producers over the partitions of one topic with several copies."""

    def __init__(
        self,
        cluster: LocalCluster,
        partitions: int = 32,
        producers: int = 4,
        rate: int = 500,
        configs: Mapping[str, str] | None = None,
        replicas: int = 3,
        name: str = "load",
    ) -> None:
        self.cluster = cluster
        bootstrap = cluster.bootstrap_servers
        self.topic = create_topic(bootstrap, name, partitions, configs, replicas)
        self.producers = [
            ProducerLoad(
                bootstrap,
                self.topic,
                list(range(first, partitions, producers)),
                500,
                rate,
                enable_idempotence=True,
                retry_backoff_ms=50,
                retry_backoff_max_ms=200,
                reconnect_backoff_ms=20,
                reconnect_backoff_max_ms=200,
                topic_metadata_refresh_fast_interval_ms=50,
            )
            for first in range(producers)
        ]

    def listen(self) -> None:
        """Measure silences from now on."""
        for load in self.producers:
            load.promises.listen()

    def silences(self) -> dict[int, float]:
        """partition -> the longest time without an acknowledgement since `listen`, in seconds."""
        return {p: s for load in self.producers for p, s in load.promises.longest_silences().items()}

    def acked(self) -> dict[int, int]:
        """partition -> how many records were acknowledged."""
        return {p: len(offsets) for load in self.producers for p, offsets in load.promises.acked.items()}

    def await_progress(self, timeout_s: float = PATIENCE_S) -> None:
        """Every partition gets an acknowledgement for something since now."""
        before = self.acked()

        def stuck() -> list[int]:
            failed = [line for load in self.producers for line in load.promises.failed]
            assert failed == [], failed[:10]
            now = self.acked()
            return [p for p, count in before.items() if now[p] <= count]

        wait_until("acknowledgements of all partitions", lambda: not stuck(), timeout_s, every_s=0.01)

    def lose_disks_and_come_back(self, *nodes: int) -> None:
        """All of ``nodes`` lose what they stored, and the load goes on, without them and with them again."""
        lose_disks(self.cluster, *nodes)
        self.await_progress()
        self.cluster.start(list(nodes))
        self.await_progress()

    def finish(self) -> int:
        """Stop, then compare all that is stored with all that was acknowledged; how many records."""
        for load in self.producers:
            load.finish()
        bootstrap = self.cluster.bootstrap_servers
        return sum(verify_exactly_once(bootstrap, load) for load in self.producers)
