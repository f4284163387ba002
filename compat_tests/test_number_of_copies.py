"""Topics get more copies, or fewer, while clients go on; then disks are lost, and nothing acknowledged is."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from compat_tests.support.cluster import (
    QUICK,
    ClusterLoad,
    await_copies,
    lose_disks,
    own_cluster,
    pushed_again,
    vsegs_of,
)
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
    wait_until(f"{megabytes} MB", lambda: sum(load.acked().values()) * 250 > megabytes << 20)


def replaced(leader: int, copies: int) -> list[int]:
    return [1 + (leader - 1 + step) % 4 for step in range(copies)]


def test_one_copy_becomes_three(tmp_path: Path) -> None:
    with own_cluster(tmp_path, settings=SETTINGS) as cluster, Admin(cluster.bootstrap_servers) as admin:
        load = ClusterLoad(cluster, partitions=8, producers=2, replicas=1)
        stored(load, 5)
        leaders = admin.leaders(load.topic)
        load.listen()
        admin.reassign(load.topic, {index: replaced(leader, 3) for index, leader in leaders.items()})
        wait_until("all have copies", lambda: admin.reassigning() == 0)
        load.await_progress()
        print(f"longest silence {max(load.silences().values()):.2f} s")
        await_copies(cluster)
        for victim in (2, 3):
            load.lose_disks_and_come_back(victim)
            await_copies(cluster, 120)
        assert load.finish() > 100


def test_cancelled_while_copies_are_made_and_done_later(tmp_path: Path) -> None:
    settings = {**SETTINGS, "kproto.recovery.read.bytes.per.second": str(1 << 18)}
    with own_cluster(tmp_path, settings=settings) as cluster, Admin(cluster.bootstrap_servers) as admin:
        load = ClusterLoad(cluster, partitions=8, producers=2, replicas=1)
        stored(load, 10)
        leaders = admin.leaders(load.topic)
        wanted = {index: replaced(leader, 3) for index, leader in leaders.items()}
        nothing = dict.fromkeys(leaders)
        none_there = dict.fromkeys(leaders, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
        assert admin.try_to_reassign(load.topic, nothing) == none_there
        load.listen()
        admin.reassign(load.topic, wanted)
        wait_until("some is pushed again", lambda: pushed_again(cluster.nodes) > 1 << 18)
        assert admin.reassigning() == 8
        before = {index: one.leader_epoch for index, one in admin.partitions(load.topic).items()}
        admin.reassign(load.topic, {0: None})
        assert admin.reassigning() == 7
        admin.reassign(load.topic, {index: None for index in leaders if index > 0})
        assert admin.reassigning() == 0
        assert admin.replicas(load.topic) == {index: [leader] for index, leader in leaders.items()}
        epochs = {index: one.leader_epoch for index, one in admin.partitions(load.topic).items()}
        assert epochs == {index: epoch + 1 for index, epoch in before.items()}
        assert admin.try_to_reassign(load.topic, nothing) == none_there
        load.await_progress()
        stored(load, 11)
        admin.reassign(load.topic, wanted)
        load.await_progress()
        wait_until("all have copies", lambda: admin.reassigning() == 0)
        print(f"longest silence {max(load.silences().values()):.2f} s")
        await_copies(cluster)
        assert set(admin.try_to_reassign(load.topic, nothing).values()) == set(none_there.values())
        lose_disks(cluster, 2)
        load.await_progress()
        assert load.finish() > 100


def test_a_leader_that_is_killed_after_the_copies_were_cancelled(tmp_path: Path) -> None:
    """What it appended meanwhile is in virtual logs that had backups; its own journal has all of it."""
    settings = {**SETTINGS, "kproto.recovery.read.bytes.per.second": str(1 << 16)}
    with own_cluster(tmp_path, settings=settings) as cluster, Admin(cluster.bootstrap_servers) as admin:
        load = ClusterLoad(cluster, partitions=8, producers=2, replicas=1)
        stored(load, 8)
        leaders = admin.leaders(load.topic)
        admin.reassign(load.topic, {index: replaced(leader, 3) for index, leader in leaders.items()})
        wait_until("some is pushed again", lambda: pushed_again(cluster.nodes) > 1 << 18)
        load.await_progress()
        admin.reassign(load.topic, dict.fromkeys(leaders))
        load.await_progress()
        for victim in (2, 3):
            cluster.kill(victim)
            cluster.start([victim])
            load.await_progress(60)
        wait_until("the same leaders", lambda: admin.leaders(load.topic) == leaders)
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
        wait_until("all have copies", lambda: admin.reassigning() == 0)
        await_copies(cluster)
        lose_disks(cluster, 2)
        load.await_progress()
        assert load.finish() > 100


def test_two_copies_become_three_and_two_again(tmp_path: Path) -> None:
    with own_cluster(tmp_path, settings=SETTINGS) as cluster, Admin(cluster.bootstrap_servers) as admin:
        load = ClusterLoad(cluster, partitions=8, producers=2, replicas=2)
        stored(load, 5)
        leaders = admin.leaders(load.topic)
        admin.reassign(load.topic, {index: replaced(leader, 3) for index, leader in leaders.items()})
        load.await_progress()

        def want_three() -> bool:
            """What has two copies and is open counts as short once it is closed."""
            vsegs = [vseg for vseg in vsegs_of(cluster) if not vseg.unread]
            return all(vseg.copies == 3 and len(vseg.backups) >= 2 * vseg.open for vseg in vsegs)

        wait_until("three copies of all are wanted", want_three, every_s=0.5)
        await_copies(cluster)
        load.lose_disks_and_come_back(3, 4)
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

            wait_until("three copies", lambda: in_sync() == {3})
            assert admin.reassigning() == 0
        await_copies(cluster)
        cluster.kill(1)
        cluster.start([1])

        def committed() -> list[TopicPartition]:
            """librdkafka finds another coordinator, and leaves it to the application to ask again."""
            try:
                return list(early.committed([TopicPartition("t", 0)], timeout=30))
            except KafkaException as error:
                if error.args[0].code() != KafkaError.NOT_COORDINATOR:
                    raise
                return []

        (found,) = wait_until("the coordinator answers", committed)
        assert found.offset == 7
        early.close()
    finally:
        for node in cluster.nodes:
            if cluster.state(node) != "dead":
                cluster.kill(node.node)
