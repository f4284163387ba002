"""Topics get more copies, or fewer, while clients go on; then disks are lost, and nothing acknowledged is."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from compat_tests.support.cluster import QUICK, ClusterLoad, await_copies, own_cluster
from compat_tests.support.moving import Admin
from compat_tests.support.ports import wait_until
from compat_tests.support.topics import create_topic
from kproto.errors import ErrorCode
from kproto.local_cluster import LocalCluster

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]

SETTINGS = {
    "kproto.virtual.segment.bytes": str(1 << 20),
    "kproto.segment.file.bytes": str(1 << 20),
    "kproto.repair.delay.ms": "500",
}


def stored(load: ClusterLoad, megabytes: int) -> None:
    wait_until(f"{megabytes} MB", lambda: sum(load.acked().values()) * 250 > megabytes << 20, 120)


def replaced(leader: int, copies: int) -> list[int]:
    return [1 + (leader - 1 + step) % 4 for step in range(copies)]


def test_one_copy_becomes_three(tmp_path: Path) -> None:
    with own_cluster(tmp_path, settings=SETTINGS) as cluster, Admin(cluster.bootstrap_servers) as admin:
        load = ClusterLoad(cluster, partitions=8, producers=2, replicas=1)
        stored(load, 5)
        leaders = admin.leaders(load.topic)
        some = {0: replaced(leaders[0], 3)}
        refused = admin.try_to_reassign(load.topic, some)
        assert refused == {0: ErrorCode.INVALID_REPLICATION_FACTOR}, "it is a matter of the whole topic"
        load.listen()
        admin.reassign(load.topic, {index: replaced(leader, 3) for index, leader in leaders.items()})
        wait_until("all have copies", lambda: admin.reassigning() == 0, 60)
        load.await_progress()
        print(f"longest silence {max(load.silences().values()):.2f} s")
        await_copies(cluster)
        for victim in (2, 3):
            cluster.kill(victim)
            cluster.wipe(victim)
            load.await_progress()
            cluster.start([victim])
            load.await_progress()
            await_copies(cluster, 120)
        assert load.finish() > 100


def test_a_leader_that_starts_again_while_it_makes_copies(tmp_path: Path) -> None:
    with own_cluster(tmp_path, settings=SETTINGS) as cluster, Admin(cluster.bootstrap_servers) as admin:
        load = ClusterLoad(cluster, partitions=8, producers=2, replicas=1)
        stored(load, 3)
        leaders = admin.leaders(load.topic)
        admin.reassign(load.topic, {index: replaced(leader, 3) for index, leader in leaders.items()})
        cluster.kill(2)
        cluster.start([2])
        load.await_progress(60)
        wait_until("all have copies", lambda: admin.reassigning() == 0, 60)
        await_copies(cluster)
        cluster.kill(2)
        cluster.wipe(2)
        load.await_progress()
        assert load.finish() > 100


def test_two_copies_become_three_and_two_again(tmp_path: Path) -> None:
    with own_cluster(tmp_path, settings=SETTINGS) as cluster, Admin(cluster.bootstrap_servers) as admin:
        load = ClusterLoad(cluster, partitions=8, producers=2, replicas=2)
        stored(load, 5)
        leaders = admin.leaders(load.topic)
        admin.reassign(load.topic, {index: replaced(leader, 3) for index, leader in leaders.items()})
        load.await_progress()
        time.sleep(4)  # what was open is closed, and counts as short then
        await_copies(cluster)
        for victim in (3, 4):
            cluster.kill(victim)
        for victim in (3, 4):
            cluster.wipe(victim)
        load.await_progress()
        cluster.start([3, 4])
        load.await_progress()
        await_copies(cluster, 120)
        with Admin(cluster.bootstrap_servers) as again:
            leaders = again.leaders(load.topic)
            again.reassign(load.topic, {index: replaced(leader, 2) for index, leader in leaders.items()})
            load.await_progress()
            assert {len(nodes) for nodes in again.replicas(load.topic).values()} == {2}
        assert load.finish() > 100


def test_offsets_of_groups_get_more_copies_when_brokers_join(tmp_path: Path) -> None:
    cluster = LocalCluster.create(str(tmp_path / "cluster"), 3, 0, {**QUICK, **SETTINGS})
    try:
        cluster.start([1])
        bootstrap = f"127.0.0.1:{cluster.nodes[0].port}"
        create_topic(bootstrap, "t")
        config = {"bootstrap.servers": bootstrap, "group.id": "early", "enable.auto.commit": False}
        early = Consumer(config)
        early.commit(offsets=[TopicPartition("t", 0, 7)], asynchronous=False)
        with Admin(bootstrap) as admin:
            assert {len(nodes) for nodes in admin.replicas("__consumer_offsets").values()} == {1}
            cluster.start([2, 3])

            def in_sync() -> set[int]:
                return {len(one.isr_nodes) for one in admin.partitions("__consumer_offsets").values()}

            wait_until("three copies", lambda: in_sync() == {3}, 60)
            assert admin.reassigning() == 0
        await_copies(cluster)
        cluster.kill(1)
        cluster.start([1])
        (found,) = early.committed([TopicPartition("t", 0)], timeout=30)
        assert found.offset == 7
        early.close()
    finally:
        for node in cluster.nodes:
            if cluster.state(node) != "dead":
                cluster.kill(node.node)
