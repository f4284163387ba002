"""A topic over the brokers of a cluster: make it, find its leaders, write into all partitions of each."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from bench.rawclient import NONE, RawClient

GIVE_UP_S = 300.0
PIPELINE = 4


def create(
    bootstrap: str,
    topic: str,
    partitions: int,
    replicas: int = 3,
    assignment: Sequence[Sequence[int]] | None = None,
    configs: Mapping[str, str] | None = None,
) -> None:
    """Create it, with these nodes for each partition instead of ``replicas`` if given. Raises
    KafkaException."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    own = dict(configs or {})
    if assignment is None:
        wanted = NewTopic(topic, num_partitions=partitions, replication_factor=replicas, config=own)
    else:
        wanted = NewTopic(
            topic,
            num_partitions=partitions,
            replica_assignment=[list(nodes) for nodes in assignment],
            config=own,
        )
    admin.create_topics([wanted], operation_timeout=GIVE_UP_S, request_timeout=GIVE_UP_S)[topic].result(
        GIVE_UP_S
    )


def leaders(bootstrap: str, topic: str) -> dict[int, int]:
    """Partition -> port of its leader, once every partition has one."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    deadline = time.monotonic() + GIVE_UP_S
    while time.monotonic() < deadline:
        with suppress(KafkaException):
            found = admin.list_topics(topic, timeout=10)
            ports = {broker.id: broker.port for broker in found.brokers.values()}
            parts = found.topics[topic].partitions
            if parts and all(part.leader in ports for part in parts.values()):
                return {number: ports[part.leader] for number, part in parts.items()}
        time.sleep(0.05)
    raise RuntimeError(f"no leaders for all partitions of {topic}")


def by_leader(led: Mapping[int, int]) -> dict[int, list[int]]:
    """Port -> partitions."""
    found: dict[int, list[int]] = {}
    for partition, port in sorted(led.items()):
        found.setdefault(port, []).append(partition)
    return found


def write(bootstrap: str, topic: str, batch: bytes, rounds: int = 1, at_once: int = 50) -> None:
    """``rounds`` times ``batch`` into every partition, several partitions a request, some requests in flight
    on one connection per leader. Partitions that their leader does not serve yet are repeated."""
    for port, partitions in by_leader(leaders(bootstrap, topic)).items():
        client = RawClient(port, GIVE_UP_S)
        try:
            requests = [
                partitions[first : first + at_once]
                for _ in range(rounds)
                for first in range(0, len(partitions), at_once)
            ]
            _pipelined(client, topic, batch, requests)
        finally:
            client.close()


def _pipelined(client: RawClient, topic: str, batch: bytes, requests: Sequence[Sequence[int]]) -> None:
    waiting: list[Sequence[int]] = []
    deadline = time.monotonic() + GIVE_UP_S
    left = list(reversed(requests))
    while left or waiting:
        while left and len(waiting) < PIPELINE:
            waiting.append(left.pop())
            client.send_produce(topic, [(partition, batch) for partition in waiting[-1]])
        sent = waiting.pop(0)
        codes = client.receive_produce(topic)
        refused = [partition for partition, code in zip(sent, codes, strict=True) if code != NONE]
        if refused:
            if time.monotonic() > deadline:
                raise RuntimeError(f"produce failed: error codes {sorted(set(codes))}")
            time.sleep(0.01)
            left.append(refused)
