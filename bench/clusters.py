"""The two clusters of four brokers: `kproto cluster`, and Apache Kafka as shipped with three controllers.

`running` starts what a comparison needs, single brokers or clusters, and stops it at the end.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

import click

from bench.brokers import KINDS, Target, Usage, reset_peak, together, usage
from bench.quorum import kafka_nodes, start
from bench.results import KPROTO
from kproto.local_cluster import ClusterError, LocalCluster

BROKERS = 4
VLOGS = "kproto.vlogs.per.broker"


class Cluster(Target, Protocol):
    """What is compared: a broker, or several of them."""

    directory: Path

    def start(self) -> None:
        """Start, and wait until all serve."""
        ...

    def stop(self) -> None:
        """Whatever runs of it."""
        ...


class KprotoCluster:
    """Four `kproto serve` processes with their defaults, metadata in SQLite; ``settings`` for all of them."""

    name = "kproto"

    def __init__(self, directory: Path, settings: Mapping[str, str] | None = None) -> None:
        self.directory = directory
        self._cluster = LocalCluster.create(str(directory), BROKERS, 0, settings)

    @property
    def bootstrap(self) -> str:
        return self._cluster.bootstrap_servers

    @property
    def pid(self) -> int:
        return self._cluster.nodes[1].pid

    @property
    def pids(self) -> list[int]:
        return [node.pid for node in self._cluster.nodes]

    def start(self) -> None:
        self._cluster.start()

    def usage(self) -> Usage:
        return together(usage(node.pid) for node in self._cluster.nodes)

    def reset_peak(self) -> None:
        for node in self._cluster.nodes:
            reset_peak(node.pid)

    def pushes(self) -> dict[str, float]:
        """Replication so far, over all brokers: pushes, chunks and bytes in them, virtual logs."""
        rows: list[dict[str, Any]] = []
        for node in self._cluster.nodes:
            rows += [row for row in node.page("/vlogs") if row["copies"] > 1]
        pushed = sum(row["pushes"] for row in rows)
        return {
            "pushes": pushed,
            "chunks": sum(row["pushes"] * row["chunks_per_push"] for row in rows),
            "bytes": sum(row["pushes"] * row["bytes_per_push"] for row in rows),
            "vlogs": len(rows),
        }

    def set_vlogs(self, number: int) -> None:
        """``kproto.vlogs.per.broker`` while it runs; partitions move once what they have is durable."""
        from confluent_kafka.admin import (
            AdminClient,
            AlterConfigOpType,
            ConfigEntry,
            ConfigResource,
            ResourceType,
        )

        entry = ConfigEntry(VLOGS, str(number), incremental_operation=AlterConfigOpType.SET)
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        for node in self._cluster.nodes:
            broker = ConfigResource(ResourceType.BROKER, str(node.node), incremental_configs=[entry])
            for future in admin.incremental_alter_configs([broker]).values():
                future.result(30)

    def stop(self) -> None:
        for node in self._cluster.nodes:
            if self._cluster.state(node) != "dead":
                self._cluster.kill(node.node)

    def remove(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)


class KafkaCluster:
    """Four Apache Kafka nodes, three of them controllers as well, replication as its own scripts set it."""

    name = "Apache Kafka"

    def __init__(self, directory: Path, settings: Mapping[str, str] | None = None) -> None:
        self.directory = directory
        self.nodes = kafka_nodes(directory, BROKERS, settings=settings)

    @property
    def bootstrap(self) -> str:
        return ",".join(node.bootstrap for node in self.nodes)

    @property
    def pid(self) -> int:
        return self.nodes[0].pid

    @property
    def pids(self) -> list[int]:
        return [node.pid for node in self.nodes]

    def start(self) -> None:
        start(self.nodes)

    def usage(self) -> Usage:
        return together(node.usage() for node in self.nodes)

    def reset_peak(self) -> None:
        for node in self.nodes:
            node.reset_peak()

    def stop(self) -> None:
        for node in reversed(self.nodes):
            if node.process is not None:
                node.process.send_signal(signal.SIGTERM)
        for node in self.nodes:
            node.stop(signal.SIGKILL)

    def remove(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)


def cluster_of(
    system: str, copies: int, directory: Path, settings: Mapping[str, str] | None = None
) -> Cluster:
    """A broker, or four of them for more than one copy, kproto's then with ``settings``. Not started yet."""
    if copies == 1:
        return KINDS[system](directory)
    return KprotoCluster(directory, settings) if system == KPROTO else KafkaCluster(directory)


@contextmanager
def running(
    systems: Sequence[str], copies: int, work: Path, settings: Mapping[str, str] | None = None
) -> Iterator[dict[str, Cluster]]:
    """The systems by name, in that order, with their data side by side below ``work``; stopped at the end.
    ``settings`` are those of kproto's four brokers.
    Raises ClickException with the end of its log when one does not start."""
    found: dict[str, Cluster] = {}
    with ExitStack() as stack:
        for system in systems:
            found[system] = cluster_of(system, copies, work / system, settings)
            stack.callback(found[system].stop)
            try:
                found[system].start()
            except (RuntimeError, ClusterError) as failure:
                raise click.ClickException(str(failure)) from failure
        yield found
