"""Streamlets move between live brokers while clients go on: reassignments, elections, decommission.

Every acknowledged record is checked afterwards, byte by byte, at the offset that was acknowledged.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from compat_tests.support.cluster import ClusterLoad, await_copies, own_cluster
from compat_tests.support.load import MemberLoad, verify_seen
from compat_tests.support.moving import Admin, decommission, rotated
from compat_tests.support.ports import wait_until
from compat_tests.support.topics import create_topic
from kproto.errors import ErrorCode

pytestmark = [pytest.mark.owns_broker]

ROUNDS = int(os.environ.get("KPROTO_CLUSTER_ROUNDS", "4"))
SEED = int(os.environ.get("KPROTO_CLUSTER_SEED", str(time.time_ns() % 1_000_000)))

SMALL = {"kproto.virtual.segment.bytes": str(4 << 20), "kproto.repair.delay.ms": "500"}
"""Rolls and repairs come often."""


def test_streamlets_move_back_and_forth_under_load(tmp_path: Path) -> None:
    """Those of groups, too: their coordinators move."""
    with own_cluster(tmp_path) as cluster, Admin(cluster.bootstrap_servers) as admin:
        load = ClusterLoad(cluster, partitions=16, producers=4)
        member = MemberLoad(cluster.bootstrap_servers, load.topic, "movers")
        worst = 0.0
        for turn in range(8):
            load.await_progress()
            replicas = admin.replicas(load.topic)
            load.listen()
            began = time.monotonic()
            admin.reassign(load.topic, {p: rotated(nodes, 1 + turn % 2) for p, nodes in replicas.items()})
            admin.elect_preferred(load.topic, sorted(replicas))
            took = time.monotonic() - began
            groups = admin.replicas("__consumer_offsets")
            admin.reassign("__consumer_offsets", {p: rotated(nodes, 1) for p, nodes in groups.items()})
            admin.elect_preferred("__consumer_offsets", sorted(groups))
            load.await_progress()
            silences = load.silences()
            worst = max(worst, *silences.values())
            line = " ".join(f"{silences[p]:.2f}" for p in sorted(silences))
            print(f"turn {turn}: 16 leaders moved in {took:.2f} s; longest silence by partition, s: {line}")
            member.await_progress()
        print(f"{load.finish()} records exactly once, longest silence {worst:.2f} s")
        member.finish(*load.producers)
        for each in load.producers:
            verify_seen(cluster.bootstrap_servers, member, each)


def test_a_broker_is_decommissioned_under_load(tmp_path: Path) -> None:
    """Everything goes elsewhere; then the broker is no part of the cluster, and a second one may even die."""
    with own_cluster(tmp_path, brokers=5, settings=SMALL) as cluster:
        load = ClusterLoad(cluster, partitions=16, producers=4)
        load.await_progress()
        time.sleep(2)
        load.listen()
        began = time.monotonic()
        decommission(cluster, 5)
        load.await_progress()
        silence = max(load.silences().values())
        print(f"decommissioned in {time.monotonic() - began:.1f} s, longest silence {silence:.2f} s")
        with Admin(cluster.bootstrap_servers) as admin:
            for nodes in admin.replicas(load.topic).values():
                assert 5 not in nodes
                assert len(nodes) == 3
            assert 5 not in admin.leaders(load.topic).values()
        cluster.kill(4)
        load.await_progress()
        assert load.finish() > 100


def test_leaders_go_back_to_a_broker_that_has_come_back(tmp_path: Path) -> None:
    with own_cluster(tmp_path, settings={"leader.imbalance.check.interval.seconds": "2"}) as cluster:
        load = ClusterLoad(cluster, partitions=8, producers=2)
        load.await_progress()
        with Admin(cluster.bootstrap_servers.split(",")[0]) as admin:
            preferred = {index: nodes[0] for index, nodes in admin.replicas(load.topic).items()}
            cluster.kill(3)
            load.await_progress()
            assert 3 not in admin.leaders(load.topic).values()
            cluster.start([3])
            load.listen()
            wait_until("preferred leaders", lambda: admin.leaders(load.topic) == preferred, every_s=0.1)
        load.await_progress()
        print(f"longest silence {max(load.silences().values()):.2f} s")
        assert load.finish() > 100


def test_reassignments_that_cannot_be(tmp_path: Path) -> None:
    with own_cluster(tmp_path) as cluster, Admin(cluster.bootstrap_servers) as admin:
        three = create_topic(cluster.bootstrap_servers, "three", 2, None, 3)
        single = create_topic(cluster.bootstrap_servers, "single", 4, None, 1)
        for wanted, code in (
            ({0: []}, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
            ({0: [1, 1, 2]}, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
            ({0: [1, 2, 9]}, ErrorCode.INVALID_REPLICA_ASSIGNMENT),
            ({5: [1, 2, 3]}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
            ({0: None}, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS),
        ):
            assert admin.try_to_reassign(three, wanted) == {next(iter(wanted)): code}
        index, here = next((p, node) for p, node in sorted(admin.leaders(single).items()) if node != 1)
        assert admin.try_to_reassign(single, {index: [here]}) == {index: ErrorCode.NONE}
        assert admin.unregister(here) == ErrorCode.INVALID_REQUEST
        assert admin.unregister(77) == ErrorCode.BROKER_ID_NOT_REGISTERED


@pytest.mark.crash
def test_brokers_die_while_streamlets_move(tmp_path: Path) -> None:
    """Old leaders, new leaders and the controller are killed in the middle of moves, some with their data."""
    chance = random.Random(SEED)
    print(f"KPROTO_CLUSTER_SEED={SEED}")
    with own_cluster(tmp_path, settings=SMALL) as cluster:
        load = ClusterLoad(cluster, partitions=16, producers=4)
        for turn in range(ROUNDS):
            load.await_progress()
            await_copies(cluster)
            victim = chance.choice([1, 2, 3, 4])
            with Admin(cluster.bootstrap_servers.split(",")[victim % 4]) as admin:
                for _ in range(3):
                    replicas = admin.replicas(load.topic)
                    admin.reassign(load.topic, {p: chance.sample([1, 2, 3, 4], 3) for p in replicas})
                    time.sleep(chance.random() * 0.05)
                load.listen()
                cluster.kill(victim)
            if turn % 2 and victim != 1:
                cluster.wipe(victim)
            elif victim == 1:
                time.sleep(1)
                cluster.start([1])
            load.await_progress()
            silence = max(load.silences().values())
            print(f"turn {turn}: broker {victim} killed, longest silence {silence:.2f} s")
            cluster.start()
        load.await_progress()
        print(f"{load.finish()} records exactly once")
