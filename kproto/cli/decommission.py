"""``kproto cluster decommission``: take a broker out of a local cluster for good, while clients go on."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Final

import click

from kproto.cli.cluster import DESCRIBE_CLUSTER, NO_LEADER, Cluster, names_of, require
from kproto.errors import ErrorCode
from kproto.local_cluster import DEAD, INTERRUPTS, RUNNING, ClusterError, LocalCluster, heard
from kproto.wire.generated.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kproto.wire.generated.describe_cluster import DescribeClusterRequest
from kproto.wire.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kproto.wire.generated.unregister_broker import UnregisterBrokerRequest

if TYPE_CHECKING:
    from kproto.local_cluster import Node

BROKER: Final = 4
SET, DELETE = 0, 1
INCREMENTAL_ALTER_CONFIGS: Final = 44
ALTER_PARTITION_REASSIGNMENTS: Final = 45
UNREGISTER_BROKER: Final = 64
LOOK_S: Final = 0.2
ANSWER_S: Final = 10.0


def decommission(local: LocalCluster, number: int, timeout_s: float) -> None:
    """Drain a broker, stop it, have it forgotten; one that is dead is a replica no more. Raises ClusterError:
    it keeps the metadata, the others are too few, it is dead and may have the only copy of something, or it
    takes longer than ``timeout_s``; then it is a broker like others again."""
    node = local.node(number)
    if local.keeps_metadata(number):
        raise ClusterError(f"node {number} keeps the metadata of this cluster")
    other = next((each for each in local.nodes if each is not node and local.state(each) == RUNNING), None)
    if other is None:
        raise ClusterError("no other broker is running")
    address = f"127.0.0.1:{other.port}"
    with _ended_by_signals(), Cluster(address) as cluster:
        able = set(cluster.members()) - set(map(int, _draining(other))) - {number}
        _require_room(cluster.metadata(None), able, number)
        if local.state(node) == DEAD:
            _require_others(cluster, number)
            _unregister(cluster, number)  # first: it is refused before anything was moved
            _replace(cluster, able, number)
        else:
            try:
                _set_draining(cluster, number, SET)
                _drain(other, number, time.monotonic() + timeout_s)
            except BaseException:
                _give_up(local, number)
                raise
            local.refresh()  # somebody may have restarted it meanwhile
            local.stop([number])
    with Cluster(address) as cluster:  # another connection: one that is idle for so long is closed
        _unregister(cluster, number)
    local.forget(number)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM, and SIGHUP of a session that is cut, end this as Ctrl-C does, so that what was begun is called
    off; but for those that are ignored (nohup). The first one does: of a session that is cut both its shell
    and the kernel tell."""
    deadly = [each for each in INTERRUPTS if signal.getsignal(each) is signal.SIG_DFL]

    def end(number: int) -> None:
        for each in deadly:
            signal.signal(each, signal.SIG_IGN)
        sys.exit(128 + number)

    with heard(deadly, end):
        yield


def _require_room(metadata: Any, able: Collection[int], number: int) -> None:
    """A topic's copies are on different brokers. Raises ClusterError when it has some, and all are more than
    those who are ``able`` to have one."""
    for topic in metadata.topics:
        here = [part.replica_nodes for part in topic.partitions if number in part.replica_nodes]
        copies = max(map(len, here), default=0)
        if copies > len(able):
            raise ClusterError(
                f"broker {number} is needed: {topic.name} has {copies} copies, and of other brokers "
                f"{len(able)} are live and not drained themselves"
            )


def _require_others(cluster: Cluster, number: int) -> None:
    """All that a dead broker had is led by others. Raises ClusterError when it is the only replica of
    something, or when what has several, or is on its way to a live one, has no leader for long: the copy that
    such partitions wait for may be on any broker, whoever their replicas are."""
    until = time.monotonic() + ANSWER_S
    while True:
        topics, live = cluster.metadata(None).topics, set(cluster.members())
        every = [(topic.name, part) for topic in topics for part in topic.partitions]
        if only := _named((name, part) for name, part in every if part.replica_nodes == [number]):
            raise ClusterError(f"broker {number} is dead and has the only copy of {only}: start it again")
        unled = _named(
            (name, part)
            for name, part in every
            if part.leader_id in (NO_LEADER, number)
            and (len(part.replica_nodes) > 1 or not live.isdisjoint(part.replica_nodes))
        )
        if not unled:
            return
        if time.monotonic() > until:
            raise ClusterError(
                f"broker {number} is dead and may have the only copy of something: {unled} "
                "wait for a leader. Start it again, or others that are dead"
            )
        time.sleep(LOOK_S)


def _named(partitions: Iterable[tuple[str, Any]]) -> str:
    """The first one, and how many more; empty when there is none."""
    names = [(topic, part.partition_index) for topic, part in partitions]
    return names_of(names[:1]) + (f" and {len(names) - 1} other partitions" if names[1:] else "")


def _replace(cluster: Cluster, able: Collection[int], number: int) -> None:
    """Others are replicas in the place of a dead broker, and of those beside it that were forgotten before.
    Raises ClickException when a partition stays as it is."""
    known = cluster.any.call(DESCRIBE_CLUSTER, DescribeClusterRequest(include_fenced_brokers=True))
    require(known.error_code, "the cluster", known.error_message)
    registered = {broker.broker_id for broker in known.brokers}
    for topic in replacements(cluster.metadata(None), able, number, registered):
        request = AlterPartitionReassignmentsRequest(topics=[topic])
        answer = cluster.any.call(ALTER_PARTITION_REASSIGNMENTS, request)
        require(answer.error_code, topic.name, answer.error_message)
        for part in answer.responses[0].partitions:
            require(part.error_code, names_of([(topic.name, part.partition_index)]), part.error_message)


def replacements(
    metadata: Any, able: Collection[int], number: int, registered: Collection[int]
) -> list[ReassignableTopic]:
    """Replicas without that broker: one of those who are ``able`` in its place, in another rack than those
    that stay if there is such, and the one with the fewest; and in that of others who are not ``registered``,
    with whom the controller takes none. Neighbours with the same replicas get the same ones, since they may
    be in one streamlet."""
    racks = {broker.node_id: broker.rack for broker in metadata.brokers if broker.rack is not None}
    every = (part for topic in metadata.topics for part in topic.partitions)
    load = Counter(node for part in every for node in part.replica_nodes)
    found = []
    for topic in metadata.topics:
        partitions: list[ReassignablePartition] = []
        before: list[int] = []
        after: list[int] = []
        for part in sorted(topic.partitions, key=lambda part: int(part.partition_index)):
            if part.replica_nodes != before:
                before = after = part.replica_nodes
                gone = [node for node in before if node == number or node not in registered]
                for each in gone if number in before else ():
                    after = _without(each, gone, after, able, racks, load)
            if number in before:
                partitions.append(ReassignablePartition(part.partition_index, after))
        if partitions:
            found.append(ReassignableTopic(topic.name, partitions))
    return found


def _without(
    number: int,
    gone: Collection[int],
    replicas: Sequence[int],
    able: Collection[int],
    racks: Mapping[int, str],
    load: Counter[int],
) -> list[int]:
    """They, with another one in the place of that broker, which is one of them and of those who are
    ``gone``."""
    taken = Counter(racks[node] for node in replicas if node not in gone and node in racks)
    fresh = [node for node in able if node not in replicas]
    newcomer = min(fresh, key=lambda node: (taken[racks[node]] if node in racks else 0, load[node], node))
    load[newcomer] += 1
    return [newcomer if node == number else node for node in replicas]


def _set_draining(cluster: Cluster, number: int, operation: int) -> None:
    value = "true" if operation == SET else None
    config = AlterableConfig(name="kproto.drain", config_operation=operation, value=value)
    resource = AlterConfigsResource(resource_type=BROKER, resource_name=str(number), configs=[config])
    answer = cluster.any.call(INCREMENTAL_ALTER_CONFIGS, IncrementalAlterConfigsRequest(resources=[resource]))
    require(answer.responses[0].error_code, f"broker {number}", answer.responses[0].error_message)


def _give_up(local: LocalCluster, number: int) -> None:
    """Whatever happened, the controller is not to drain it any more; whoever answers is asked."""
    try:
        with Cluster(local.bootstrap_servers) as cluster:
            _set_draining(cluster, number, DELETE)
    except click.ClickException as error:
        click.echo(f"broker {number} goes on being drained: {error.message}", err=True)


def _drain(other: Node, number: int, until: float) -> None:
    """Until nothing is there that the cluster needs."""
    told: dict[str, int] = {}
    while True:
        left = _left(other, number)
        if left and not left["streamlets"] and not left["copies"]:
            return
        if left and left != told:
            told = left
            click.echo(f"left: {left['streamlets']} streamlets, {left['copies']} copies")
        if time.monotonic() > until:
            raise ClusterError(f"broker {number} is not drained in time and stays: {_still_there(told)}")
        time.sleep(LOOK_S)


def _still_there(left: dict[str, int]) -> str:
    if not left:
        return "the controller has not said what it still has"
    return f"it still has {left['streamlets']} streamlets and {left['copies']} copies that others need"


def _left(other: Node, number: int) -> dict[str, int]:
    """What the controller says is left; empty when it does not know yet."""
    return _draining(other).get(str(number), {})


def _draining(other: Node) -> dict[str, dict[str, int]]:
    """What the controller says is left on members that are drained, by node id."""
    try:
        found: dict[str, Any] = other.page("/recovery", ANSWER_S)
    except (HTTPException, OSError, ValueError) as error:
        raise ClusterError(f"broker {other.node}: {error}") from None
    draining: dict[str, dict[str, int]] = found["draining"]
    return draining


def _unregister(cluster: Cluster, number: int) -> None:
    """It is no member any more, or will not be in a moment. Who began this before, and was ended, may have
    had it forgotten already."""
    until = time.monotonic() + ANSWER_S
    while True:
        answer = cluster.any.call(UNREGISTER_BROKER, UnregisterBrokerRequest(broker_id=number))
        if answer.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED:
            return
        if answer.error_code != ErrorCode.INVALID_REQUEST or time.monotonic() > until:
            require(answer.error_code, f"broker {number}", answer.error_message)
            return
        time.sleep(LOOK_S)
