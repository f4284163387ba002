"""The two clusters of four brokers: `kproto cluster`, and Apache Kafka as shipped with three controllers."""

from __future__ import annotations

import json
import shutil
import signal
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.brokers import ApacheKafka, Usage, answers, free_port, reset_peak, together, usage
from kproto.local_cluster import LocalCluster

BROKERS = 4
CONTROLLERS = 3
START_TIMEOUT_S = 120.0


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
            with urllib.request.urlopen(f"http://127.0.0.1:{node.metrics_port}/vlogs", timeout=10) as answer:
                rows += [row for row in json.load(answer) if row["copies"] > 1]
        pushed = sum(row["pushes"] for row in rows)
        return {
            "pushes": pushed,
            "chunks": sum(row["pushes"] * row["chunks_per_push"] for row in rows),
            "bytes": sum(row["pushes"] * row["bytes_per_push"] for row in rows),
            "vlogs": len(rows),
        }

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
        ports = [free_port() for _ in range(CONTROLLERS)]
        voters = ",".join(f"{n + 1}@127.0.0.1:{port}" for n, port in enumerate(ports))
        common = {
            "controller.quorum.voters": voters,
            "offsets.topic.replication.factor": 3,
            "share.coordinator.state.topic.replication.factor": 3,
            "share.coordinator.state.topic.min.isr": 2,
            "transaction.state.log.replication.factor": 3,
            "transaction.state.log.min.isr": 2,
            **(settings or {}),
        }
        self.nodes: list[ApacheKafka] = []
        for n in range(BROKERS):
            own: dict[str, object] = {**common, "node.id": n + 1}
            if n < CONTROLLERS:
                own["listeners"] = f"PLAINTEXT://{{bootstrap}},CONTROLLER://127.0.0.1:{ports[n]}"
            else:
                own["listeners"] = "PLAINTEXT://{bootstrap}"
                own["process.roles"] = "broker"
            self.nodes.append(ApacheKafka(directory / f"n{n + 1}", own))

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
        for node in self.nodes:
            node.prepare()
        for node in self.nodes:
            node.spawn()
        deadline = time.monotonic() + START_TIMEOUT_S
        while not all(answers(node.port) for node in self.nodes):
            if time.monotonic() > deadline:
                raise RuntimeError("the Apache Kafka cluster did not start")
            time.sleep(0.1)

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
