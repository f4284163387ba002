"""Moving leaders and replicas by plain requests, and what Metadata says of it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from compat_tests.support.ports import PATIENCE_S
from kproto.cli import cluster as connections
from kproto.cli import decommission as leaving
from kproto.cli.cluster import Cluster
from kproto.errors import ErrorCode
from kproto.local_cluster import LocalCluster
from kproto.net.client import Client
from kproto.wire.generated.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kproto.wire.generated.elect_leaders import ElectLeadersRequest, TopicPartitions
from kproto.wire.generated.list_partition_reassignments import ListPartitionReassignmentsRequest
from kproto.wire.generated.unregister_broker import UnregisterBrokerRequest


class PatientClient(Client):
    """Brokers on a busy machine may take longer to answer than an operator would wait."""

    def __init__(self, host: str, port: int, *, timeout: float) -> None:
        super().__init__(host, port, timeout=max(timeout, PATIENCE_S))


connections.Client = PatientClient  # type: ignore[misc]
leaving.ANSWER_S = PATIENCE_S  # type: ignore[misc]


def decommission(cluster: LocalCluster, number: int) -> None:
    """Take a broker out, as the command does."""
    leaving.decommission(cluster, number, PATIENCE_S)


def rotated(nodes: Sequence[int], by: int) -> list[int]:
    """The same nodes in the same cyclic order, beginning with another one."""
    by %= len(nodes)
    return [*nodes[by:], *nodes[:by]]


class Admin:
    """One connection to the last broker of a cluster that answers: one just started may not listen yet."""

    def __init__(self, bootstrap: str) -> None:
        self._cluster = Cluster(",".join(reversed(bootstrap.split(","))))

    def __enter__(self) -> Admin:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cluster.__exit__(kind, error, trace)

    def call(self, key: int, request: Any) -> Any:
        """One request, one answer."""
        return self._cluster.any.call(key, request)

    def partitions(self, topic: str) -> dict[int, Any]:
        """Partition -> its part of a Metadata answer."""
        return {one.partition_index: one for one in self._cluster.topic(topic).partitions}

    def replicas(self, topic: str) -> dict[int, list[int]]:
        return {index: list(one.replica_nodes) for index, one in self.partitions(topic).items()}

    def leaders(self, topic: str) -> dict[int, int]:
        return {index: one.leader_id for index, one in self.partitions(topic).items()}

    def reassign(self, topic: str, replicas: Mapping[int, Sequence[int] | None]) -> None:
        """Give partitions other replicas; all of it must be accepted."""
        codes = self.try_to_reassign(topic, replicas)
        assert set(codes.values()) == {ErrorCode.NONE}, codes

    def try_to_reassign(self, topic: str, replicas: Mapping[int, Sequence[int] | None]) -> dict[int, int]:
        """The same; the error code of each partition."""
        wanted = [
            ReassignablePartition(partition_index=index, replicas=None if nodes is None else list(nodes))
            for index, nodes in sorted(replicas.items())
        ]
        request = AlterPartitionReassignmentsRequest(
            timeout_ms=10_000, topics=[ReassignableTopic(name=topic, partitions=wanted)]
        )
        answer = self.call(45, request)
        assert answer.error_code == ErrorCode.NONE, answer
        return {one.partition_index: one.error_code for one in answer.responses[0].partitions}

    def reassigning(self) -> int:
        """How many partitions are being reassigned."""
        answer = self.call(46, ListPartitionReassignmentsRequest(timeout_ms=10_000, topics=None))
        return sum(len(topic.partitions) for topic in answer.topics)

    def elect_preferred(self, topic: str, partitions: Sequence[int]) -> None:
        """The first replicas lead when this returns.

        Brokers wait some seconds and say of those that do not lead by then that the time is over: these are
        asked for again. They may be without a leader then, for the moment in which they move.
        """
        fine = {ErrorCode.NONE, ErrorCode.ELECTION_NOT_NEEDED}
        later = {ErrorCode.REQUEST_TIMED_OUT}
        left = list(partitions)
        deadline = time.monotonic() + PATIENCE_S
        while left:
            answer = self._elect_preferred(topic, left)
            left = [one.partition_id for one in answer if one.error_code not in fine]
            for one in answer:
                assert one.error_code in fine | later, one
            if left:
                assert time.monotonic() < deadline, f"{left} of {topic} have other leaders"
                later.add(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE)
                time.sleep(0.1)

    def _elect_preferred(self, topic: str, partitions: list[int]) -> Sequence[Any]:
        """One request; what it says of each partition."""
        wanted = [TopicPartitions(topic=topic, partitions=partitions)]
        request = ElectLeadersRequest(election_type=0, topic_partitions=wanted, timeout_ms=10_000)
        answer = self.call(43, request)
        assert answer.error_code == ErrorCode.NONE, answer
        found: Sequence[Any] = answer.replica_election_results[0].partition_result
        return found

    def unregister(self, node_id: int) -> int:
        """Have a broker forgotten; the error code."""
        code: int = self.call(64, UnregisterBrokerRequest(broker_id=node_id)).error_code
        return code
