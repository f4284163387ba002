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
from kproto.wire.generated.elect_leaders import ElectLeadersRequest, TopicPartitions
from kproto.wire.generated.unregister_broker import UnregisterBrokerRequest

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

    for version in range(2):
        ask("nothing to cancel", name, 0, None, version)
        ask("no such broker", name, 0, [77], version)
        ask("no replicas", name, 0, [], version)
        ask("one twice", name, 0, [1, 1], version)
        ask("negative", name, 0, [-1], version)
        ask("no such partition", name, 9, [1], version)
        ask("no such topic", talk.name("unknown"), 0, [1], version)


def unregistering(talk: Talk) -> None:
    """UnregisterBroker."""
    talk(UNREGISTER_BROKER, 0, UnregisterBrokerRequest(broker_id=77), "no such broker")


CONVERSATIONS = (
    Conversation("electing", electing),
    Conversation("reassigning", reassigning),
    Conversation("unregistering", unregistering),
)
