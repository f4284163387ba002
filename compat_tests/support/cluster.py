"""A cluster of broker processes for one test, and the load that goes on while brokers come and go."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from compat_tests.support.load import ProducerLoad, verify_exactly_once
from compat_tests.support.ports import PATIENCE_S, wait_until
from compat_tests.support.topics import create_topic
from kproto import local_cluster
from kproto.local_cluster import LocalCluster

local_cluster.START_TIMEOUT_S = PATIENCE_S  # type: ignore[misc]

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
    for node in nodes:
        cluster.kill(node)
    for node in nodes:
        cluster.wipe(node)


def await_copies(cluster: LocalCluster, timeout_s: float = PATIENCE_S) -> None:
    """Nothing lacks a copy, in the controller's last look and in the one after it."""

    def short() -> int:
        metrics = next(node.metrics_port for node in cluster.nodes if cluster.state(node) == "running")
        with urlopen(f"http://127.0.0.1:{metrics}/recovery", timeout=60) as answer:
            found: int = json.load(answer)["repairs"]["short"]
            return found

    for _ in range(2):
        time.sleep(1.2)
        wait_until("all copies", lambda: not short(), timeout_s)


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
