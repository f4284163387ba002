"""Several Apache Kafka nodes as shipped, as one cluster on this machine: which listens where.

May import `bench.brokers`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.brokers import ApacheKafka
from kproto.local_cluster import free_port, is_free

CONTROLLERS = 3
"""So many brokers are controllers as well, or one in a cluster that is smaller."""
CONTROLLER_OFFSET = 1000
START_TIMEOUT_S = 300.0


def kafka_nodes(
    directory: Path,
    brokers: int,
    base_port: int = 0,
    settings: Mapping[str, object] | None = None,
    separate: bool = False,
) -> list[ApacheKafka]:
    """Nodes 1 to ``brokers``, which listen from ``base_port`` on, their controllers 1000 higher (0: on free
    ports). Internal topics have three copies, as Apache Kafka's documentation advises for clusters. With
    ``separate`` one more node, the last one, is the only controller.
    """
    count = brokers + 1 if separate else brokers
    controllers = [count] if separate else list(range(1, (CONTROLLERS if brokers >= CONTROLLERS else 1) + 1))
    ports = [base_port + n if base_port else free_port() for n in range(count)]
    quorum = {
        node: base_port + CONTROLLER_OFFSET + node - 1 if base_port else free_port() for node in controllers
    }
    copies = min(brokers, 3)
    common: dict[str, object] = {
        "controller.quorum.voters": ",".join(f"{node}@127.0.0.1:{port}" for node, port in quorum.items()),
        "offsets.topic.replication.factor": copies,
        "share.coordinator.state.topic.replication.factor": copies,
        "share.coordinator.state.topic.min.isr": min(copies, 2),
        "transaction.state.log.replication.factor": copies,
        "transaction.state.log.min.isr": min(copies, 2),
    }
    found = []
    for node in range(1, count + 1):
        roles, listeners = [], []
        if node <= brokers:
            roles.append("broker")
            listeners.append("PLAINTEXT://{bootstrap}")
        if node in quorum:
            roles.append("controller")
            listeners.append(f"CONTROLLER://127.0.0.1:{quorum[node]}")
        own = {
            **common,
            "node.id": node,
            "process.roles": ",".join(roles),
            "listeners": ",".join(listeners),
            "advertised.listeners": listeners[0],
            **(settings or {}),
        }
        found.append(ApacheKafka(directory / f"n{node}", own, port=ports[node - 1]))
    return found


def start(nodes: Sequence[ApacheKafka]) -> None:
    """Start all and wait until the brokers among them answer. Raises RuntimeError with the end of a log, or
    when somebody else listens there: that one would answer, too, and be measured."""
    for node in nodes:
        if node.is_broker and not is_free(node.port):
            raise RuntimeError(f"{node.name} cannot start: something listens on {node.bootstrap} already")
    for node in nodes:
        node.prepare()
    for node in nodes:
        node.spawn()
    deadline = time.monotonic() + START_TIMEOUT_S
    for node in nodes:
        if node.is_broker:
            node.wait_for_answers(deadline)
