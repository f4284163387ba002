"""``kproto cluster decommission``: take a broker out of a local cluster for good, while clients go on."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Collection, Iterator
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Final

import click

from kproto.cli.cluster import Cluster, require
from kproto.errors import ErrorCode
from kproto.local_cluster import DEAD, INTERRUPTS, RUNNING, ClusterError, LocalCluster, heard
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
UNREGISTER_BROKER: Final = 64
LOOK_S: Final = 0.2
ANSWER_S: Final = 10.0


def decommission(local: LocalCluster, number: int, timeout_s: float) -> None:
    """Drain a broker, stop it, have it forgotten. Raises ClusterError: it keeps the metadata, the others are
    too few, or it takes longer than ``timeout_s``; then it is a broker like others again."""
    node = local.node(number)
    if local.keeps_metadata(number):
        raise ClusterError(f"node {number} keeps the metadata of this cluster")
    other = next((each for each in local.nodes if each is not node and local.state(each) == RUNNING), None)
    if other is None:
        raise ClusterError("no other broker is running")
    address = f"127.0.0.1:{other.port}"
    if local.state(node) != DEAD:
        with _ended_by_signals(), Cluster(address) as cluster:
            able = set(cluster.members()) - set(map(int, _draining(other))) - {number}
            _require_room(cluster.metadata(None), able, number)
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
    """It is no member any more, or will not be in a moment."""
    until = time.monotonic() + ANSWER_S
    while True:
        answer = cluster.any.call(UNREGISTER_BROKER, UnregisterBrokerRequest(broker_id=number))
        if answer.error_code != ErrorCode.INVALID_REQUEST or time.monotonic() > until:
            require(answer.error_code, f"broker {number}", answer.error_message)
            return
        time.sleep(LOOK_S)
