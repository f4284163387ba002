"""A broker that lost all its backups: what it has is served again after any restart, and copied to others."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import KafkaException

from compat_tests.support.cluster import lose_disks, own_cluster
from compat_tests.support.confluent import producer, read_partition, send_all
from compat_tests.support.ports import wait_until
from compat_tests.support.records import Sample
from compat_tests.support.topics import create_topic
from kproto.local_cluster import LocalCluster

pytestmark = [pytest.mark.owns_broker]

QUICK_REPAIR = {"kproto.repair.delay.ms": "1000"}


def send(cluster: LocalCluster, value: bytes) -> None:
    client = producer(cluster.bootstrap_servers, message_timeout_ms=180_000)
    send_all(client, "t", 0, [Sample(None, value, (), -1)])


def stored(cluster: LocalCluster) -> list[bytes | None]:
    try:
        return [message.value() for message in read_partition(cluster.bootstrap_servers, "t", 0)]
    except KafkaException:
        return []


def await_stored(cluster: LocalCluster, *wanted: bytes) -> None:
    wait_until("all records", lambda: stored(cluster) == list(wanted))


def copies(cluster: LocalCluster, node: int) -> set[str]:
    """Names of the virtual segments that a broker has copies of."""
    directory = Path(cluster.data_dir(node)) / "replicas"
    return {path.name.removesuffix(".replica") for path in directory.glob("0*.replica")}


def kept(cluster: LocalCluster, node: int) -> set[str]:
    directory = Path(cluster.data_dir(node)) / "journal"
    return {path.name.partition(".")[0] for path in directory.glob("*.kept")}


def test_the_last_broker_starts_again_and_again(tmp_path: Path) -> None:
    with own_cluster(tmp_path, 3, QUICK_REPAIR) as cluster:
        create_topic(cluster.bootstrap_servers, "t", replicas=3)
        send(cluster, b"with backups")
        cluster.kill(2, 3)
        send(cluster, b"alone")
        for restart in range(4):
            if restart % 2:
                cluster.stop([1])
            else:
                cluster.kill(1)
            cluster.start([1])
            await_stored(cluster, b"with backups", b"alone")
        wait_until("files that are kept", lambda: len(kept(cluster, 1)) > 1)
        alone = kept(cluster, 1)
        cluster.start([2, 3])
        wait_until("copies of them", lambda: alone <= copies(cluster, 2) & copies(cluster, 3))
        wait_until("their end", lambda: not kept(cluster, 1))
        await_stored(cluster, b"with backups", b"alone")


def test_both_backups_lost_their_disks(tmp_path: Path) -> None:
    with own_cluster(tmp_path, 3) as cluster:
        create_topic(cluster.bootstrap_servers, "t", replicas=3)
        send(cluster, b"before")
        lose_disks(cluster, 2, 3)
        cluster.start([2, 3])
        send(cluster, b"after")
        for _ in range(2):
            cluster.kill(1)
            cluster.start([1])
            await_stored(cluster, b"before", b"after")
