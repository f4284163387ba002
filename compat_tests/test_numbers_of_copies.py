"""Partitions of one topic with different numbers of replicas, by kafka-reassign-partitions, while clients go
on; then brokers are killed or lose their disks, and nothing acknowledged is lost or there twice.

What the tool says is what it says to Apache Kafka 4.3 for the same plans; there a partition that goes to one
of its replicas is done at once, and there is nothing to cancel.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_tests.support.cluster import ClusterLoad, await_copies, own_cluster, tell_next_time
from compat_tests.support.java import Jvm
from compat_tests.support.moving import Admin
from compat_tests.support.ports import wait_until
from compat_tests.test_moving_tools import REASSIGN, plan, run
from compat_tests.test_number_of_copies import SETTINGS, replaced, stored
from compat_tests.test_one_copy import kill_each
from kproto.errors import ErrorCode
from kproto.local_cluster import LocalCluster

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]

LIMIT = "kproto.recovery.read.bytes.per.second"
SLOW = {**SETTINGS, LIMIT: str(1 << 12)}
"""First copies take minutes, and so does what a new leader brings over: longer than the tools need."""


def numbers(admin: Admin, topic: str) -> list[int]:
    """How many replicas each partition has."""
    return [len(nodes) for _, nodes in sorted(admin.replicas(topic).items())]


def lift_the_limit(cluster: LocalCluster, load: ClusterLoad) -> None:
    """Brokers take it from their settings when they start."""
    tell_next_time(cluster, LIMIT, "0")
    kill_each(cluster, load)


def test_some_partitions_get_more_copies_by_the_tool(tmp_path: Path) -> None:
    """--execute, --list, --cancel, --execute again, --verify; others go from three to two at once."""
    with own_cluster(tmp_path, settings=SLOW) as cluster:
        tools = Jvm(cluster.bootstrap_servers, tmp_path / "stderr.log")
        try:
            with Admin(cluster.bootstrap_servers) as admin:
                load = ClusterLoad(cluster, partitions=8, producers=2, replicas=1)
                stored(load, 6)
                leaders = admin.leaders(load.topic)
                path = plan(
                    tmp_path / "more.json", load.topic, {p: replaced(leaders[p], 3) for p in range(4)}
                )
                run(tools, REASSIGN, "--reassignment-json-file", path, "--execute")
                said = run(tools, REASSIGN, "--list").stdout
                assert "Current partition reassignments:" in said, said
                assert [f"{load.topic}-{p}: replicas" in said for p in range(8)] == [True] * 4 + [False] * 4
                said = run(tools, REASSIGN, "--reassignment-json-file", path, "--cancel").stdout
                assert "Successfully cancelled partition reassignments" in said, said
                assert numbers(admin, load.topic) == [1] * 8
            lift_the_limit(cluster, load)
            with Admin(cluster.bootstrap_servers) as admin:
                load.listen()
                run(tools, REASSIGN, "--reassignment-json-file", path, "--execute")
                wait_until("more copies", lambda: admin.reassigning() == 0)
                said = run(tools, REASSIGN, "--reassignment-json-file", path, "--verify").stdout
                assert said.count("is completed.") == 4, said
                assert numbers(admin, load.topic) == [3] * 4 + [1] * 4
                two = {p: replaced(leaders[p], 2) for p in (0, 1)}
                path = plan(tmp_path / "two.json", load.topic, two)
                run(tools, REASSIGN, "--reassignment-json-file", path, "--execute")
                said = run(tools, REASSIGN, "--reassignment-json-file", path, "--verify").stdout
                assert said.count("is completed.") == 2, said
                assert "No partition reassignments found." in run(tools, REASSIGN, "--list").stdout
                assert numbers(admin, load.topic) == [2, 2, 3, 3] + [1] * 4
                in_sync = {p: len(one.isr_nodes) for p, one in admin.partitions(load.topic).items()}
                assert [in_sync[p] for p in range(8)] == [2, 2, 3, 3] + [1] * 4
                load.await_progress()
                print(f"longest silence {max(load.silences().values()):.2f} s")
            await_copies(cluster)
            kill_each(cluster, load)
            with Admin(cluster.bootstrap_servers) as admin:
                assert numbers(admin, load.topic) == [2, 2, 3, 3] + [1] * 4
            assert load.finish() > 100
        finally:
            tools.close()


def test_who_dies_takes_the_partitions_with_one_copy_only(tmp_path: Path) -> None:
    """Others go on elsewhere at once; a disk that is lost then had the only copies of none."""
    with own_cluster(tmp_path, settings=SETTINGS) as cluster:
        with Admin(cluster.bootstrap_servers) as admin:
            load = ClusterLoad(cluster, partitions=8, producers=2, replicas=1)
            stored(load, 3)
            leaders = admin.leaders(load.topic)
            mine = [p for p, leader in leaders.items() if leader == 4]
            assert len(mine) > 1
            admin.reassign(load.topic, {mine[0]: replaced(4, 3)})
            wait_until("more copies", lambda: admin.reassigning() == 0)
            load.await_progress()
        cluster.kill(4)
        with Admin(cluster.bootstrap_servers) as admin:
            wait_until("another leader", lambda: admin.leaders(load.topic)[mine[0]] in (1, 2, 3))
            assert {admin.leaders(load.topic)[p] for p in mine[1:]} == {-1}
        before = load.acked()[mine[0]]
        wait_until("acknowledgements", lambda: load.acked()[mine[0]] > before)
        cluster.start([4])
        load.await_progress()
        with Admin(cluster.bootstrap_servers) as admin:
            admin.reassign(load.topic, {p: replaced(4, 2) for p in mine[1:]})
            wait_until("more copies", lambda: admin.reassigning() == 0)
        await_copies(cluster)
        load.lose_disks_and_come_back(4)
        assert load.finish() > 100


def test_that_some_go_to_one_copy_elsewhere_is_cancelled_by_the_tool(tmp_path: Path) -> None:
    with own_cluster(tmp_path, settings=SLOW) as cluster:
        tools = Jvm(cluster.bootstrap_servers, tmp_path / "stderr.log")
        try:
            with Admin(cluster.bootstrap_servers) as admin:
                load = ClusterLoad(cluster, partitions=8, producers=2)
                stored(load, 8)
                before = admin.replicas(load.topic)
                path = plan(tmp_path / "one.json", load.topic, {p: before[p][1:2] for p in range(4)})
                run(tools, REASSIGN, "--reassignment-json-file", path, "--execute")
                assert numbers(admin, load.topic) == [1] * 4 + [3] * 4
                said = run(tools, REASSIGN, "--reassignment-json-file", path, "--cancel").stdout
                assert "Successfully cancelled partition reassignments" in said, said
                assert admin.replicas(load.topic) == before
                assert "No partition reassignments found." in run(tools, REASSIGN, "--list").stdout
                nothing = admin.try_to_reassign(load.topic, {0: None})
                assert nothing == {0: ErrorCode.NO_REASSIGNMENT_IN_PROGRESS}
                load.await_progress()
            lift_the_limit(cluster, load)
            await_copies(cluster)
            load.lose_disks_and_come_back(2)
            assert load.finish() > 100
        finally:
            tools.close()
