"""Disks that are lost together: what has no copy besides its owner's any more is copied again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from compat_tests.support.cluster import ClusterLoad, own_cluster
from compat_tests.support.ports import wait_until
from compat_tests.support.topics import create_topic
from kproto.local_cluster import LocalCluster

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]

SETTINGS = {
    "kproto.virtual.segment.bytes": str(1 << 20),
    "kproto.segment.file.bytes": str(1 << 20),
    "kproto.journal.bytes": str(4 << 20),
    "kproto.repair.delay.ms": "1000",
}
"""Virtual segments are closed, and their journal files used again, all the time."""


def told(cluster: LocalCluster, node: int, path: str = "/recovery") -> dict[str, Any]:
    port = next(one.metrics_port for one in cluster.nodes if one.node == node)
    with urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def is_whole(cluster: LocalCluster) -> bool:
    found = told(cluster, 1)
    return not (found["waiting"] or found["repairs"].get("short") or found["repairs"].get("running"))


def pushed_again(cluster: LocalCluster) -> int:
    return sum(told(cluster, node, "/recovery/here")["pushed_again_bytes"] for node in (1, 2))


def test_both_backups_lose_their_disks_and_then_the_owner_dies(tmp_path: Path) -> None:
    with own_cluster(tmp_path, settings=SETTINGS) as cluster:
        load = ClusterLoad(cluster, partitions=8, producers=2)
        load.await_progress()
        wait_until("40 MB", lambda: sum(load.acked().values()) * 250 > 40 << 20, 240)
        wait_until("all copies are there", lambda: is_whole(cluster), 60)
        for node in (3, 4):
            cluster.kill(node)
        for node in (3, 4):
            cluster.wipe(node)
        load.await_progress()
        cluster.start([3, 4])
        load.await_progress()
        wait_until("some is pushed again: it cannot be copied", lambda: pushed_again(cluster) > 1 << 20, 180)
        wait_until("all copies are there again", lambda: is_whole(cluster), 180)
        print(f"pushed again: {pushed_again(cluster)} bytes")
        cluster.kill(2)
        cluster.wipe(2)
        load.await_progress()
        assert load.finish() > 100


def accept_loss(cluster: LocalCluster, *words: str) -> list[dict[str, Any]]:
    command = (sys.executable, "-m", "kproto.cli.main", "recovery", "accept-loss", *words, "--json")
    where = ("--bootstrap", f"127.0.0.1:{cluster.nodes[0].port}")
    done = subprocess.run([*command, *where], capture_output=True, text=True, timeout=60, check=False)
    print(done.stdout, done.stderr)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_what_is_lost_for_good_can_be_given_up_by_command(tmp_path: Path) -> None:
    """Everybody with a copy loses its disk: the topic waits until somebody accepts that."""
    with own_cluster(tmp_path, settings=SETTINGS) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        drain = ConfigEntry("kproto.drain", "true", incremental_operation=AlterConfigOpType.SET)
        drained = ConfigResource(ResourceType.BROKER, "1", incremental_configs=[drain])
        admin.incremental_alter_configs([drained])[drained].result(10)
        create_topic(cluster.bootstrap_servers, "lost", 1, replicas=3)
        config = {"bootstrap.servers": cluster.bootstrap_servers, "acks": "all"}
        producer = Producer(config)
        producer.produce("lost", b"gone")
        assert producer.flush(20) == 0
        for node in (2, 3, 4):
            cluster.pause(node)
        for node in (2, 3, 4):
            cluster.kill(node)
            cluster.wipe(node)
        wait_until("they are missed", lambda: told(cluster, 1)["waiting"], 30)
        cluster.start([2, 3, 4])
        (row,) = accept_loss(cluster, "lost", "--yes")
        assert (row["topic"], row["partition"], row["result"]) == ("lost", 0, "NONE")
        offsets: list[int] = []
        again = Producer(config)
        again.produce("lost", b"new", on_delivery=lambda error, message: offsets.append(message.offset()))
        assert again.flush(20) == 0
        assert offsets == [0]


def test_topics_with_more_copies_come_back_while_others_have_lost_all_of_theirs(tmp_path: Path) -> None:
    """Two disks are lost, with all that a topic of two copies had there: one of three is served at once."""
    with own_cluster(tmp_path, settings=SETTINGS) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        drain = ConfigEntry("kproto.drain", "true", incremental_operation=AlterConfigOpType.SET)
        drained = ConfigResource(ResourceType.BROKER, "1", incremental_configs=[drain])
        admin.incremental_alter_configs([drained])[drained].result(10)
        partitions = 12
        for name, replicas in (("few", 2), ("many", 3)):
            create_topic(cluster.bootstrap_servers, name, partitions, replicas=replicas)
        config = {"bootstrap.servers": cluster.bootstrap_servers, "acks": "all"}
        producer = Producer(config)
        for index in range(partitions):
            for name in ("few", "many"):
                producer.produce(name, b"kept", partition=index)
        assert producer.flush(30) == 0

        def led(name: str) -> int:
            topic = admin.list_topics(name, timeout=10).topics[name]
            return sum(part.leader in (1, 2) for part in topic.partitions.values())

        for node in (3, 4):
            cluster.pause(node)
        for node in (3, 4):
            cluster.kill(node)
            cluster.wipe(node)
        wait_until("all with three copies have leaders", lambda: led("many") == partitions, 60)
        assert led("few") < partitions, "some had both copies there"
        ends = {}
        consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "nobody"})
        for index in range(partitions):
            ends[index] = consumer.get_watermark_offsets(TopicPartition("many", index), timeout=10)
        consumer.close()
        assert set(ends.values()) == {(0, 1)}
        rows = accept_loss(cluster, "few", "--yes")
        assert {row["result"] for row in rows} == {"NONE"}
        assert led("few") == partitions
