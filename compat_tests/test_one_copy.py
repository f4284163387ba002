"""Topics go back to one copy, and the only copy goes to another broker, while clients go on; then leaders are
killed, or the brokers that were left lose their disks, and nothing acknowledged is lost or there twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Producer

from compat_tests.support.cluster import ClusterLoad, lose_disks, own_cluster
from compat_tests.support.confluent import read_samples, send_all
from compat_tests.support.java import Jvm
from compat_tests.support.moving import Admin, decommission
from compat_tests.support.ports import wait_until
from compat_tests.support.records import plain
from compat_tests.support.topics import create_topic
from compat_tests.test_moving_tools import REASSIGN, plan, run
from compat_tests.test_number_of_copies import SETTINGS, replaced, stored
from kproto.errors import ErrorCode
from kproto.local_cluster import LocalCluster

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]


def kill_each(cluster: LocalCluster, load: ClusterLoad) -> None:
    for victim in (1, 2, 3, 4):
        cluster.kill(victim)
        cluster.start([victim])
        load.await_progress()


def await_leaders(cluster: LocalCluster, topic: str, leaders: dict[int, int]) -> None:
    """Whoever is asked may not have heard yet that the last one that was killed is back."""
    with Admin(cluster.bootstrap_servers) as admin:
        wait_until("the same leaders", lambda: admin.leaders(topic) == leaders)


def test_three_copies_become_one_by_the_tool(tmp_path: Path) -> None:
    """--execute, --verify; every second partition is to be where it is not led."""
    with own_cluster(tmp_path, settings=SETTINGS) as cluster:
        tools = Jvm(cluster.bootstrap_servers, tmp_path / "stderr.log")
        try:
            with Admin(cluster.bootstrap_servers) as admin:
                load = ClusterLoad(cluster, partitions=8, producers=2)
                stored(load, 5)
                replicas = admin.replicas(load.topic)
                wanted = {index: [nodes[index % 2]] for index, nodes in replicas.items()}
                path = plan(tmp_path / "one.json", load.topic, wanted)
                load.listen()
                run(tools, REASSIGN, "--reassignment-json-file", path, "--execute")
                wait_until("one copy of each", lambda: admin.reassigning() == 0)
                load.await_progress()
                print(f"longest silence {max(load.silences().values()):.2f} s")
                said = run(tools, REASSIGN, "--reassignment-json-file", path, "--verify").stdout
                assert said.count("is completed.") == 8, said
                leaders = {index: nodes[0] for index, nodes in wanted.items()}
                assert admin.leaders(load.topic) == leaders
                assert {tuple(one.isr_nodes) for one in admin.partitions(load.topic).values()} == {
                    (leader,) for leader in leaders.values()
                }
            kill_each(cluster, load)
            await_leaders(cluster, load.topic, leaders)
            assert load.finish() > 100
        finally:
            tools.close()


def test_the_only_copies_leave_a_broker_that_loses_its_disk_then(tmp_path: Path) -> None:
    with own_cluster(tmp_path, settings=SETTINGS) as cluster:
        with Admin(cluster.bootstrap_servers) as admin:
            load = ClusterLoad(cluster, partitions=8, producers=2, replicas=1)
            stored(load, 5)
            leaders = admin.leaders(load.topic)
            some = {index: [1 + index % 3] for index, leader in leaders.items() if leader == 4}
            assert some
            load.listen()
            admin.reassign(load.topic, some)
            listed, led = admin.reassigning(), admin.leaders(load.topic)
            there = sum(led[index] == nodes[0] for index, nodes in some.items())
            assert len(some) - there <= listed <= len(some), "who is not there yet is listed"
            wait_until("they moved", lambda: admin.reassigning() == 0)
            load.await_progress()
            print(f"longest silence {max(load.silences().values()):.2f} s")
            leaders.update((index, nodes[0]) for index, nodes in some.items())
            assert admin.leaders(load.topic) == leaders
        lose_disks(cluster, 4)
        load.await_progress()
        cluster.start([4])
        kill_each(cluster, load)
        await_leaders(cluster, load.topic, leaders)
        assert load.finish() > 100


def test_a_broker_with_only_copies_is_decommissioned(tmp_path: Path) -> None:
    """Beside partitions with three copies; nothing of what it had is needed any more."""
    with own_cluster(tmp_path, brokers=5, settings=SETTINGS) as cluster:
        load = ClusterLoad(cluster, partitions=10, producers=2, replicas=1)
        other = ClusterLoad(cluster, partitions=5, producers=1, name="other")
        stored(load, 5)
        with Admin(cluster.bootstrap_servers.split(",")[0]) as admin:
            before = admin.leaders(load.topic)
            assert 5 in before.values()
            load.listen()
            decommission(cluster, 5)
            load.await_progress()
            print(f"longest silence {max(load.silences().values()):.2f} s")
            after = admin.leaders(load.topic)
            assert {index for index in before if before[index] != after[index]} == {
                index for index, leader in before.items() if leader == 5
            }
            assert admin.replicas(load.topic) == {index: [leader] for index, leader in after.items()}
        kill_each(cluster, load)
        assert load.finish() > 100
        assert other.finish() > 100


def test_the_only_copy_goes_there_and_back_and_on(tmp_path: Path) -> None:
    """The broker that has it again gets no record before it hands over once more: what its virtual log still
    has of the first time is older than what was acknowledged elsewhere in between."""
    with own_cluster(tmp_path, settings=SETTINGS) as cluster, Admin(cluster.bootstrap_servers) as admin:
        bootstrap = cluster.bootstrap_servers
        topic = create_topic(bootstrap, "there-and-back", 4)
        first = admin.leaders(topic)

        def later(steps: int) -> dict[int, list[int]]:
            return {index: [1 + (leader - 1 + steps) % 4] for index, leader in first.items()}

        def alone(steps: int) -> bool:
            led = {index: [leader] for index, leader in admin.leaders(topic).items()}
            return led == later(steps) and admin.reassigning() == 0

        client = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
        early, late = plain([b"early"] * 100), plain([b"late"] * 300)
        for index in first:
            send_all(client, topic, index, early)
        admin.reassign(topic, later(1))
        wait_until("they are there", lambda: alone(1))
        for index in first:
            send_all(client, topic, index, late)
        admin.reassign(topic, later(0))
        back: set[int] = set()

        def all_back() -> bool:
            now = {index for index, leader in admin.leaders(topic).items() if leader == first[index]} - back
            if now:
                admin.try_to_reassign(topic, {index: later(2)[index] for index in now})
                back.update(now)
            return len(back) == len(first)

        wait_until("they are back", all_back)
        wait_until("they are elsewhere", lambda: alone(2))
        for index in first:
            assert read_samples(bootstrap, topic, index) == early + late


def test_first_copies_are_cancelled_when_some_partitions_have_them(tmp_path: Path) -> None:
    settings = {**SETTINGS, "kproto.recovery.read.bytes.per.second": str(1 << 19)}
    with own_cluster(tmp_path, settings=settings) as cluster:
        with Admin(cluster.bootstrap_servers) as admin:
            load = ClusterLoad(cluster, partitions=8, producers=2, replicas=1)
            stored(load, 4)
            leaders = admin.leaders(load.topic)
            admin.reassign(load.topic, {index: replaced(leader, 2) for index, leader in leaders.items()})

            def have_copies() -> int:
                return sum(len(one.isr_nodes) > 1 for one in admin.partitions(load.topic).values())

            wait_until("some have copies", lambda: have_copies() > 0)
            # All may be done by now, and then there is nothing to cancel.
            codes = set(admin.try_to_reassign(load.topic, dict.fromkeys(leaders)).values())
            assert codes <= {ErrorCode.NONE, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS}
            admin.reassign(load.topic, {index: [leader] for index, leader in leaders.items()})
            wait_until("one copy of each", lambda: admin.reassigning() == 0)
            assert admin.replicas(load.topic) == {index: [leader] for index, leader in leaders.items()}
            load.await_progress()
        kill_each(cluster, load)
        assert load.finish() > 100
