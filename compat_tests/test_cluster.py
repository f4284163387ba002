"""A cluster of four brokers with three copies: stock clients go on while brokers die, hang and come back.

Every acknowledged record is checked afterwards, byte by byte, at the offset that was acknowledged.
KPROTO_CLUSTER_ROUNDS sets the number of kills (3 unless set; `make test-long` does more).
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from compat_tests.support.cluster import ClusterLoad, await_copies, lose_disks, own_cluster, told
from compat_tests.support.confluent import consumer, read_partition
from compat_tests.support.load import MemberLoad, verify_seen
from compat_tests.support.moving import Admin
from compat_tests.support.ports import wait_until
from kproto.local_cluster import RUNNING

ROUNDS = int(os.environ.get("KPROTO_CLUSTER_ROUNDS", "3"))
SEED = int(os.environ.get("KPROTO_CLUSTER_SEED", str(time.time_ns() % 1_000_000)))

pytestmark = [pytest.mark.owns_broker]

SMALL = {
    "kproto.virtual.segment.bytes": str(4 << 20),
    "kproto.segment.file.bytes": str(1 << 20),
    "kproto.repair.delay.ms": "1000",
}
"""Rolls and repairs come often."""


def test_three_copies_are_written_and_read(tmp_path: Path) -> None:
    with own_cluster(tmp_path) as cluster:
        load = ClusterLoad(cluster, partitions=8, producers=2)
        load.await_progress()
        time.sleep(2)
        assert load.finish() > 100


@pytest.mark.crash
@pytest.mark.timeout(600 + 30 * ROUNDS)
def test_kill_9_of_one_broker_after_another(tmp_path: Path) -> None:
    """A leader, a backup of the others, and a group's coordinator die; every second time with their data."""
    chance = random.Random(SEED)
    print(f"KPROTO_CLUSTER_SEED={SEED}")
    with own_cluster(tmp_path, settings=SMALL) as cluster:
        load = ClusterLoad(cluster, partitions=16, producers=4)
        member = MemberLoad(cluster.bootstrap_servers, load.topic, "storm")
        for turn in range(ROUNDS):
            load.await_progress()
            member.await_progress()
            victim, promised = chance.choice([2, 3, 4]), dict(member.committed)
            if turn % 3 < 2 and (coordinator := member.coordinator()) != 1:
                victim = coordinator
            load.listen()
            cluster.kill(victim)
            load.await_progress()
            silences = load.silences()
            member.await_progress()
            member.check_stored(promised)
            print(f"round {turn}: broker {victim} killed, longest silence {max(silences.values()):.2f} s")
            if turn % 2:
                cluster.wipe(victim)
            cluster.start([victim])
            load.await_progress()
        print(f"{load.finish()} records exactly once")
        member.finish(*load.producers)
        for each in load.producers:
            verify_seen(cluster.bootstrap_servers, member, each)


def test_kill_9_of_all_brokers_at_once(tmp_path: Path) -> None:
    with own_cluster(tmp_path, settings=SMALL) as cluster:
        load = ClusterLoad(cluster, partitions=8, producers=2)
        for _ in range(2):
            load.await_progress()
            cluster.kill(*(node.node for node in cluster.nodes))
            cluster.start()
            load.await_progress()
        assert load.finish() > 100


def test_a_stopped_broker_is_replaced_and_comes_back(tmp_path: Path) -> None:
    """SIGSTOP: as a backup it may not stop anybody for long; as a leader it is fenced and starts anew."""
    with own_cluster(tmp_path, settings=SMALL) as cluster:
        load = ClusterLoad(cluster, partitions=8, producers=2)
        load.await_progress()
        load.listen()
        cluster.pause(3)
        time.sleep(6)
        load.await_progress()  # while it is still stopped
        print(f"longest silence {max(load.silences().values()):.2f} s")
        cluster.resume(3)
        log = Path(cluster.log_path(3))
        wait_until("it notices that it is fenced", lambda: "starting anew" in log.read_text())
        load.await_progress()
        time.sleep(1)
        load.await_progress()
        assert cluster.state(cluster.node(3)) == RUNNING, log.read_text()[-2000:]
        await_copies(cluster)
        assert told(cluster.node(3))["recoveries"]
        assert load.finish() > 100


def test_the_controller_is_killed_and_comes_back(tmp_path: Path) -> None:
    """With SQLite nobody takes over: what others lead can be read, what it led waits for it, as do writes
    that need other backups."""
    with own_cluster(tmp_path, settings=SMALL) as cluster:
        load = ClusterLoad(cluster, partitions=8, producers=2)
        load.await_progress()
        with Admin(cluster.bootstrap_servers) as admin:
            led = admin.leaders(load.topic)
        cluster.kill(1)
        time.sleep(4)
        others = [partition for partition, node in led.items() if node != 1]
        assert others
        for partition in others:
            acked = load.acked()[partition]
            assert len(read_partition(cluster.bootstrap_servers, load.topic, partition)) >= acked > 0
        cluster.start([1])
        load.await_progress()
        cluster.kill(3)
        load.await_progress()
        assert load.finish() > 100


def test_brokers_are_restarted_one_after_another(tmp_path: Path) -> None:
    """Clients see retriable errors only, and nothing is lost."""
    with own_cluster(tmp_path, settings=SMALL) as cluster:
        load = ClusterLoad(cluster, partitions=8, producers=2)
        for node in cluster.nodes:
            load.await_progress()
            load.listen()
            cluster.restart(node.node)
            load.await_progress()
            print(f"broker {node.node}: longest silence {max(load.silences().values()):.2f} s")
        assert load.finish() > 100


def test_old_records_are_served_from_copies(tmp_path: Path) -> None:
    """What was written before the leader died, and is on no disk of the new one, is read at once."""
    with own_cluster(tmp_path, settings=SMALL) as cluster:
        load = ClusterLoad(cluster, partitions=4, producers=1, rate=4000)
        wait_until("20 MB", lambda: sum(load.acked().values()) * 250 > 20 << 20)
        load.await_progress()
        cluster.kill(2)
        load.await_progress()
        reader = consumer(cluster.bootstrap_servers, group_id="none")
        reader.close()
        for partition in range(4):
            first = next(iter(read_partition(cluster.bootstrap_servers, load.topic, partition)))
            assert first.offset() == 0
        assert load.finish() > 1000


def test_one_copy_waits_for_its_broker(tmp_path: Path) -> None:
    """Replication factor 1: no leader while its broker is away (rule 18b), nothing lost when it is back."""
    with own_cluster(tmp_path, brokers=2) as cluster:
        load = ClusterLoad(cluster, partitions=4, producers=1, replicas=1)
        load.await_progress()
        with Admin(cluster.bootstrap_servers.split(",")[0]) as admin:
            led = admin.leaders(load.topic)
            cluster.kill(2)
            without = {partition: node if node != 2 else -1 for partition, node in led.items()}
            assert -1 in without.values()
            wait_until("it to be missed", lambda: admin.leaders(load.topic) == without)
        cluster.start([2])
        load.await_progress()
        assert load.finish() > 10


def test_topics_are_made_while_a_broker_is_away(tmp_path: Path) -> None:
    """As with Apache Kafka: it gets replicas, and copies once it is back; another one then loses its disk."""
    with own_cluster(tmp_path, brokers=4, settings=SMALL) as cluster:
        cluster.kill(3, 4)
        load = ClusterLoad(cluster, partitions=6, producers=2, replicas=3)
        load.await_progress()
        cluster.start([3, 4])
        load.await_progress()
        await_copies(cluster)
        lose_disks(cluster, 2)
        load.await_progress()
        await_copies(cluster)
        assert load.finish() > 100
