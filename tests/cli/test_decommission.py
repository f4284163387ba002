"""A broker is taken out, or it is said why it cannot be, whatever else goes on meanwhile."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from bench.failover.promises import wait_until
from kproto.cli import decommission
from kproto.cli.cluster import Cluster
from kproto.cli.main import main
from kproto.local_cluster import DEAD, RUNNING, ClusterError, LocalCluster, Node
from kproto.wire.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kproto.wire.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kproto.wire.generated.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

IDLE_MS = 2000


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[[int], LocalCluster]]:
    """started(n) -> a cluster of n brokers that close connections when they are idle for `IDLE_MS`."""
    clusters: list[LocalCluster] = []

    def start(brokers: int) -> LocalCluster:
        settings = {"connections.max.idle.ms": str(IDLE_MS)}
        cluster = LocalCluster.create(str(tmp_path / "cluster"), brokers, 0, settings)
        clusters.append(cluster)
        cluster.start()
        return cluster

    yield start
    for cluster in clusters:
        cluster.stop()


def test_a_drain_may_take_longer_than_a_connection_may_be_idle(
    started: Callable[[int], LocalCluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last request used to go out on the connection of the first."""
    local, drain = started(2), decommission._drain

    def long_drain(other: Node, number: int, until: float) -> None:
        time.sleep(1.5 * IDLE_MS / 1000)
        drain(other, number, until)

    monkeypatch.setattr(decommission, "_drain", long_drain)
    decommission.decommission(local, 2, 60.0)
    assert [node.node for node in local.nodes] == [1]


@pytest.mark.parametrize(
    ("left", "said"),
    [
        ({"streamlets": 16, "copies": 3}, "it still has 16 streamlets and 3 copies that others need"),
        ({}, "the controller has not said what it still has"),
    ],
)
def test_what_is_left_is_said_in_a_sentence(
    left: dict[str, int], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decommission, "_left", lambda _other, _number: left)
    with pytest.raises(ClusterError) as refused:
        decommission._drain(Node(1, 1, 2, 3), 4, time.monotonic() - 1)
    assert str(refused.value) == f"broker 4 is not drained in time and stays: {said}"


@pytest.mark.parametrize(
    ("able", "replicas", "enough"),
    [
        ({2, 3}, [1, 2, 3], False),
        ({2, 3, 4}, [1, 2, 3], True),
        ({2, 3}, [2, 3, 4], True),
    ],
)
def test_a_broker_stays_when_the_others_are_too_few_for_its_copies(
    able: set[int], replicas: list[int], enough: bool
) -> None:
    partitions = [MetadataResponsePartition(replica_nodes=nodes) for nodes in ([1], replicas)]
    topics = [
        MetadataResponseTopic(name="empty"),
        MetadataResponseTopic(name="orders", partitions=partitions),
    ]
    found = MetadataResponse(topics=topics)
    if enough:
        decommission._require_room(found, able, 1)
        return
    with pytest.raises(ClusterError, match="is needed: orders has 3 copies, and of other brokers 2 are live"):
        decommission._require_room(found, able, 1)


def test_a_broker_that_was_restarted_meanwhile_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another command: its process is not the one that the file had at first."""
    directory = str(tmp_path / "cluster")
    cluster = LocalCluster.create(directory, 2, 0, {})
    cluster.start()
    another = LocalCluster.open(directory)
    drain = decommission._drain

    def drain_and_restart(other: Node, number: int, until: float) -> None:
        drain(other, number, until)
        another.restart(number)

    monkeypatch.setattr(decommission, "_drain", drain_and_restart)
    try:
        decommission.decommission(cluster, 2, 60)
        assert another.node(2).pid
        assert another.state(another.node(2)) == DEAD
        assert [(node.node, cluster.state(node)) for node in cluster.nodes] == [(1, RUNNING)]
        assert [node.node for node in LocalCluster.open(directory).nodes] == [1]
    finally:
        another.stop()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_ended_calls_off_what_it_began(
    number: signal.Signals, started: Callable[[int], LocalCluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the session is cut: the broker used to be drained for ever."""
    local = started(2)

    def cut_off(other: Node, node: int, _: float) -> None:
        assert str(node) in decommission._draining(other)
        assert signal.getsignal(number) is not signal.SIG_DFL
        os.kill(os.getpid(), number)
        time.sleep(60)

    monkeypatch.setattr(decommission, "_drain", cut_off)
    with pytest.raises(SystemExit) as ended:
        decommission.decommission(local, 2, 60.0)
    assert ended.value.code == 128 + number
    assert signal.getsignal(number) is signal.SIG_DFL
    wait_until("it is a broker like others", lambda: decommission._draining(local.nodes[0]) == {})
    assert local.state(local.node(2)) == RUNNING


def test_a_broker_that_just_died_or_is_drained_itself_has_no_room(
    started: Callable[[int], LocalCluster],
) -> None:
    """Metadata lists the dead one for a minute."""
    local = started(3)
    refused = "^broker 2 is needed: t has 2 copies, and of other brokers 1 are live and not drained"
    placed = [CreatableReplicaAssignment(partition_index=0, broker_ids=[2, 1])]
    topic = CreatableTopic(name="t", num_partitions=-1, replication_factor=-1, assignments=placed)
    address = f"127.0.0.1:{local.nodes[0].port}"

    def asked(ask: Callable[[Cluster], Any]) -> Any:
        with Cluster(address) as cluster:
            return ask(cluster)

    created = asked(lambda one: one.any.call(19, CreateTopicsRequest(topics=[topic], timeout_ms=30_000)))
    assert [each.error_code for each in created.topics] == [0]
    asked(lambda one: decommission._set_draining(one, 3, decommission.SET))
    with pytest.raises(ClusterError, match=refused):
        decommission.decommission(local, 2, 1.0)
    asked(lambda one: decommission._set_draining(one, 3, decommission.DELETE))
    local.kill(3)
    wait_until("it is no member", lambda: sorted(asked(Cluster.members)) == [1, 2])
    assert {broker.node_id for broker in asked(lambda one: one.metadata(None)).brokers} == {1, 2, 3}
    with pytest.raises(ClusterError, match=refused):
        decommission.decommission(local, 2, 1.0)


def test_the_second_signal_of_a_session_that_is_cut_keeps_nothing_from_being_called_off(
    started: Callable[[int], LocalCluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shell hands SIGHUP on, and when it is gone the kernel sends another one: that ended the command while
    it called off what it had begun. So did the first one while the broker was told."""
    local, give_up, set_draining = started(2), decommission._give_up, decommission._set_draining

    def told(cluster: Cluster, number: int, operation: int) -> None:
        set_draining(cluster, number, operation)
        assert signal.getsignal(signal.SIGHUP) is not signal.SIG_DFL
        os.kill(os.getpid(), signal.SIGHUP)

    def cut_off(local: LocalCluster, number: int) -> None:
        assert signal.getsignal(signal.SIGHUP) is not signal.SIG_DFL
        os.kill(os.getpid(), signal.SIGHUP)
        give_up(local, number)

    monkeypatch.setattr(decommission, "_set_draining", told)
    monkeypatch.setattr(decommission, "_give_up", cut_off)
    with pytest.raises(SystemExit):
        decommission.decommission(local, 2, 60.0)
    wait_until("it is a broker like others", lambda: decommission._draining(local.nodes[0]) == {})


def test_a_broker_may_be_taken_out_in_any_thread(started: Callable[[int], LocalCluster]) -> None:
    """Only the main one may say what signals do."""
    local = started(2)
    with ThreadPoolExecutor() as threads:
        threads.submit(decommission.decommission, local, 2, 60.0).result()
    assert [node.node for node in local.nodes] == [1]


def test_a_dead_broker_is_a_replica_no_more(started: Callable[[int], LocalCluster]) -> None:
    """It stayed one of topics that it had copies of, which had one too few for ever then; nobody looked
    whether the others were enough."""
    local = started(4)
    address = f"127.0.0.1:{local.nodes[0].port}"
    assigned = {"three": [[1, 2, 3], [3, 4, 1]], "four": [[1, 2, 3, 4]], "one": [[4], [3]]}
    with Cluster(address) as cluster:
        for name, replicas in assigned.items():
            placed = [
                CreatableReplicaAssignment(partition_index=n, broker_ids=r) for n, r in enumerate(replicas)
            ]
            topic = CreatableTopic(name=name, num_partitions=-1, replication_factor=-1, assignments=placed)
            created = cluster.any.call(19, CreateTopicsRequest(topics=[topic], timeout_ms=30_000))
            assert [each.error_code for each in created.topics] == [0]

    def delete(name: str) -> None:
        with Cluster(address) as cluster:
            request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], topic_names=[name])
            assert [each.error_code for each in cluster.any.call(20, request).responses] == [0]

    local.kill(3)
    with pytest.raises(
        ClusterError, match=r"^broker 3 is needed: four has 4 copies, and of other brokers 3 are"
    ):
        decommission.decommission(local, 3, 60.0)
    delete("four")
    with pytest.raises(
        ClusterError, match=r"^broker 3 is dead and has the only copy of one-1: start it again$"
    ):
        decommission.decommission(local, 3, 60.0)
    delete("one")
    decommission.decommission(local, 3, 60.0)
    assert [node.node for node in local.nodes] == [1, 2, 4]
    with Cluster(address) as cluster:
        parts = sorted(cluster.topic("three").partitions, key=lambda part: int(part.partition_index))
    assert [part.replica_nodes for part in parts] == [[1, 2, 4], [2, 4, 1]]
    assert [sorted(part.isr_nodes) for part in parts] == [[1, 2, 4]] * 2


def test_a_dead_broker_stays_while_partitions_wait_for_a_copy_of_it(
    started: Callable[[int], LocalCluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copies are on any brokers, whoever the replicas are: it was taken out, with the only one. Where the
    controller saw that it was, that was refused when others had become replicas already."""
    local = started(4)
    placed = [
        CreatableReplicaAssignment(partition_index=n, broker_ids=replicas)
        for n, replicas in enumerate(([2, 3], [3, 4], [4, 2]))
    ]
    topic = CreatableTopic(name="t", num_partitions=-1, replication_factor=-1, assignments=placed)
    address = f"127.0.0.1:{local.nodes[0].port}"
    with Cluster(address) as cluster:
        created = cluster.any.call(19, CreateTopicsRequest(topics=[topic], timeout_ms=30_000))
        assert [each.error_code for each in created.topics] == [0]
    for partition in range(3):
        sent = ["produce", "t", "--partition", str(partition), "--bootstrap", address]
        assert CliRunner().invoke(main, sent, input="x").exit_code == 0
    owners = ((node.node, log) for node in local.nodes[1:] for log in node.page("/vlogs"))
    owner, backup = next((node, log["backups"][0]) for node, log in owners if log["backups"] != [1])
    local.kill(owner, backup)
    monkeypatch.setattr(decommission, "ANSWER_S", 1.0)

    def replicas() -> list[list[int]]:
        with Cluster(address) as cluster:
            return [part.replica_nodes for part in cluster.metadata(["t"]).topics[0].partitions]

    before = replicas()
    for number in (owner, backup):
        refused = f"^broker {number} is dead and may have the only copy of something: t-[012] .*wait for"
        with pytest.raises(ClusterError, match=refused):
            decommission.decommission(local, number, 60.0)
    assert replicas() == before
    local.start([owner])
    monkeypatch.setattr(decommission, "ANSWER_S", 30.0)
    decommission.decommission(local, backup, 60.0)
    assert sorted(node.node for node in local.nodes) == sorted({1, 2, 3, 4} - {backup})


def test_a_dead_broker_can_be_taken_out_again_and_with_others_that_were_forgotten(
    started: Callable[[int], LocalCluster],
) -> None:
    """Whoever was unregistered before stays among the replicas: with it the controller took no others, for
    ever. And a broker that was forgotten by a command that ended then was not known any more."""
    local = started(5)
    placed = [CreatableReplicaAssignment(partition_index=0, broker_ids=[4, 1, 5])]
    topic = CreatableTopic(name="t", num_partitions=-1, replication_factor=-1, assignments=placed)
    address = f"127.0.0.1:{local.nodes[0].port}"
    with Cluster(address) as cluster:
        created = cluster.any.call(19, CreateTopicsRequest(topics=[topic], timeout_ms=30_000))
        assert [each.error_code for each in created.topics] == [0]
        local.kill(4, 5)
        decommission._unregister(cluster, 5)
    for number in (4, 5):
        decommission.decommission(local, number, 60.0)
    with Cluster(address) as cluster:
        assert [part.replica_nodes for part in cluster.topic("t").partitions] == [[2, 1, 3]]
    assert [node.node for node in local.nodes] == [1, 2, 3]


def test_other_replicas_go_to_other_racks_and_are_shared_by_neighbours() -> None:
    """With several groups of a streamlet its partitions have the same replicas."""
    racks = ("a", "b", "c", "b", "c", "c")
    brokers = [MetadataResponseBroker(node_id=node, rack=rack) for node, rack in enumerate(racks, 1)]
    replicas = ([1, 2, 3], [1, 2, 3], [1, 4, 5], [3, 1, 4])
    partitions = [
        MetadataResponsePartition(partition_index=index, replica_nodes=nodes)
        for index, nodes in enumerate(replicas)
    ]
    topics = [MetadataResponseTopic(name="orders", partitions=partitions[::-1])]
    metadata, others = MetadataResponse(brokers=brokers, topics=topics), {1, 2, 4, 5, 6}
    found = decommission.replacements(metadata, others, 3, others)
    assert [topic.name for topic in found] == ["orders"]
    after = [(part.partition_index, part.replicas) for part in found[0].partitions]
    assert after == [(0, [1, 2, 6]), (1, [1, 2, 6]), (3, [5, 1, 4])]


@pytest.mark.parametrize(("replicas", "refused"), [([4], True), ([5], False), ([5, 6], True)])
def test_a_partition_on_its_way_to_a_single_replica_may_wait_for_the_copy_of_a_dead_broker(
    replicas: list[int], refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its leader died before it had handed it over, and so did who has the copy that it waits for: that one
    was forgotten. The only copy of others that is on another dead broker holds up nothing."""
    monkeypatch.setattr(decommission, "ANSWER_S", 0.0)
    monkeypatch.setattr(decommission, "LOOK_S", 0.001)
    parts = [MetadataResponsePartition(leader_id=-1, replica_nodes=replicas)]
    found = MetadataResponse(topics=[MetadataResponseTopic(name="t", partitions=parts)])
    cluster: Any = SimpleNamespace(metadata=lambda _: found, members=lambda: [3, 4])
    if not refused:
        decommission._require_others(cluster, 2)
        return
    with pytest.raises(ClusterError, match="t-0 wait for a leader"):
        decommission._require_others(cluster, 2)
