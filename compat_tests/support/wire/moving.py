"""Conversations about who leads and who has copies: elections, reassignments, brokers that leave."""

from __future__ import annotations

from collections.abc import Sequence

from compat_tests.support.wire.compare import Conversation
from compat_tests.support.wire.talk import Talk
from kproto.wire.generated.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kproto.wire.generated.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from kproto.wire.generated.describe_log_dirs import DescribeLogDirsRequest
from kproto.wire.generated.elect_leaders import ElectLeadersRequest, TopicPartitions
from kproto.wire.generated.unregister_broker import UnregisterBrokerRequest

ALTER_LOG_DIRS, LOG_DIRS = 34, 35
ELECT_LEADERS, ALTER_REASSIGNMENTS, UNREGISTER_BROKER = 43, 45, 64


def electing(talk: Talk) -> None:
    """ElectLeaders: nothing is to be elected where one broker leads everything."""
    name = talk.make("elects", 2)
    for version in range(3):
        for kind in (0, 1) if version else (0,):
            for label, topics in {
                "led already": [TopicPartitions(topic=name, partitions=[0, 1])],
                "no such partition": [TopicPartitions(topic=name, partitions=[9])],
                "no such topic": [TopicPartitions(topic=talk.name("unknown"), partitions=[0])],
                "none": [],
            }.items():
                request = ElectLeadersRequest(election_type=kind, topic_partitions=topics, timeout_ms=9000)
                talk(ELECT_LEADERS, version, request, f"{label}, type {kind}")


def reassigning(talk: Talk) -> None:
    """AlterPartitionReassignments on one broker."""
    name = talk.make("moves", 2)

    def ask(label: str, topic: str, partition: int, replicas: Sequence[int] | None, version: int) -> None:
        part = ReassignablePartition(
            partition_index=partition, replicas=None if replicas is None else list(replicas)
        )
        request = AlterPartitionReassignmentsRequest(
            timeout_ms=9000, topics=[ReassignableTopic(name=topic, partitions=[part])]
        )
        talk(ALTER_REASSIGNMENTS, version, request, label)

    _several(talk, name, talk.make("moves-too"))
    for version in range(2):
        ask("nothing to cancel", name, 0, None, version)
        ask("no such broker", name, 0, [77], version)
        ask("no replicas", name, 0, [], version)
        ask("one twice", name, 0, [1, 1], version)
        ask("negative", name, 0, [-1], version)
        ask("no such partition", name, 9, [1], version)
        ask("no such topic", talk.name("unknown"), 0, [1], version)


def _several(talk: Talk, name: str, other: str) -> None:
    """Topics and partitions named twice, or not at all; whether the number of replicas may change."""

    def given(which: str, *partitions: int) -> ReassignableTopic:
        parts = [ReassignablePartition(partition_index=number, replicas=[1]) for number in partitions]
        return ReassignableTopic(name=which, partitions=parts)

    for version in range(2):
        for may_change in (True, False):
            for label, topics in {
                "no topics": [],
                "no partitions": [given(name), given(other, 0)],
                "partition twice": [given(name, 0, 0)],
                "topic twice": [given(name, 1), given(name, 0)],
                "another between": [given(name, 1), given(other, 0), given(name, 0)],
            }.items():
                request = AlterPartitionReassignmentsRequest(
                    timeout_ms=9000, topics=topics, allow_replication_factor_change=may_change
                )
                talk(ALTER_REASSIGNMENTS, version, request, f"{label}, may change {may_change}")


def unregistering(talk: Talk) -> None:
    """UnregisterBroker."""
    talk(UNREGISTER_BROKER, 0, UnregisterBrokerRequest(broker_id=77), "no such broker")


def changing_directories(talk: Talk) -> None:
    """AlterReplicaLogDirs: partitions are where they are to be, or the directory is not the broker's."""
    name, other = talk.make("stays", 2), talk.make("stays-too", 1)
    answer = talk(LOG_DIRS, 4, DescribeLogDirsRequest(topics=[]), "own directory")
    own = answer.results[0].log_dir

    def ask(label: str, version: int, *wanted: tuple[str, str, list[int]]) -> None:
        dirs: dict[str, list[AlterReplicaLogDirTopic]] = {}
        for path, which, partitions in wanted:
            dirs.setdefault(path, []).append(AlterReplicaLogDirTopic(name=which, partitions=partitions))
        given = [AlterReplicaLogDir(path=path, topics=topics) for path, topics in dirs.items()]
        talk(ALTER_LOG_DIRS, version, AlterReplicaLogDirsRequest(dirs=given), label)

    for version in (1, 2):
        ask("where it is", version, (own, name, [0, 1]), (own, other, [0]))
        ask("no such partition", version, (own, name, [0, 9, -1]))
        ask("no such topic", version, (own, talk.name("unknown"), [0]))
        ask("bad topic", version, (own, "a b", [0]), (own, "", [0]))
        for path in ("/no/such/directory", "relative", "", own + "/below", own + "/", own + "/../data"):
            label = path.replace(own, "own")
            ask(f"to {label!r}", version, (path, name, [0]))
            ask(f"unknown to {label!r}", version, (path, talk.name("unknown"), [0]))
        ask("twice", version, (own, name, [0, 0]), (own, name, [0]))
        ask("here and there", version, ("/no/such/directory", name, [0]), (own, name, [0]))
        ask("there and here", version, (own, name, [0]), ("/no/such/directory", name, [0]))
        ask("no partitions", version, (own, name, []))
        ask("nothing", version)


CONVERSATIONS = (
    Conversation("electing", electing),
    Conversation("reassigning", reassigning),
    Conversation("unregistering", unregistering),
    Conversation("changing-directories", changing_directories),
)
