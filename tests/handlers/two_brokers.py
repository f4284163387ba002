"""One conversation with a cluster of two brokers, the second of which dies in the middle: raw requests.

``speak`` returns what was answered, a line each. Recording Apache Kafka's side:
``python tests/handlers/two_brokers.py HOST:PORT HOST:PORT PID`` (with the repository and its directory in
``PYTHONPATH``), the addresses of brokers 1, the controller, and 2, and the process id of broker 2, both with
``offsets.topic.replication.factor=2``; the output is ``answers/kafka-4.3.1-two-brokers.txt``.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from conftest import chunk_of, fetch_request, produce_request

from kproto.wire.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
)
from kproto.wire.generated.delete_records import DeleteRecordsPartition, DeleteRecordsTopic
from kproto.wire.generated.describe_topic_partitions import TopicRequest
from kproto.wire.generated.list_offsets import ListOffsetsPartition, ListOffsetsTopic
from kproto.wire.generated.metadata import MetadataRequestTopic
from kproto.wire.generated.offset_for_leader_epoch import OffsetForLeaderPartition, OffsetForLeaderTopic

PRODUCE, FETCH, LIST_OFFSETS, METADATA, FIND_COORDINATOR, CREATE_TOPICS = 0, 1, 2, 3, 10, 19
DELETE_RECORDS, OFFSET_FOR_LEADER_EPOCH, DESCRIBE_CLUSTER, DESCRIBE_TOPIC_PARTITIONS = 21, 23, 60, 75
TOPICS = ("both", "other-way", "second", "first")
"""Replicas 1 and 2, with two in-sync replicas needed; 2 and 1; 2 alone; 1 alone, two needed."""
GROUPS = [f"g{i}" for i in range(8)]

Call = Callable[..., Awaitable[Any]]


def _topic(name: str, *replicas: int, **configs: str) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=-1,
        replication_factor=-1,
        assignments=[CreatableReplicaAssignment(partition_index=0, broker_ids=list(replicas))],
        configs=[CreatableTopicConfig(name=k.replace("_", "."), value=v) for k, v in configs.items()],
    )


class Conversation:
    """Speaks, and writes down what is answered."""

    def __init__(self, calls: dict[int, Call]) -> None:
        self.calls = calls
        self.ids: dict[str, bytes] = {}
        self.lines: list[str] = []

    def say(self, *words: Any) -> None:
        self.lines.append(" ".join(map(str, words)))

    async def create(self) -> None:
        topics = [
            _topic("both", 1, 2, min_insync_replicas="2"),
            _topic("other-way", 2, 1),
            _topic("second", 2),
            _topic("first", 1, min_insync_replicas="2"),
            _topic("unknown-broker", 1, 9),
            _topic("named-twice", 1, 1),
        ]
        answer = await self.calls[2](CREATE_TOPICS, 7, topics=topics, timeout_ms=5000)
        for topic in answer.topics:
            self.say("create", topic.name, topic.error_code, topic.num_partitions, topic.replication_factor)

    async def metadata(self, node: int, version: int) -> None:
        asked = [MetadataRequestTopic(name=name) for name in TOPICS]
        answer = await self.calls[node](METADATA, version, topics=asked)
        self.say("metadata", node, version, "brokers", sorted(b.node_id for b in answer.brokers))
        for topic in answer.topics:
            if version >= 10:
                self.ids[topic.name] = topic.topic_id
            for p in topic.partitions:
                lists = p.replica_nodes, p.isr_nodes, p.offline_replicas
                self.say("  ", topic.name, topic.error_code, p.error_code, p.leader_id, *lists)

    async def produce(self, node: int, name: str, version: int, acks: int = -1) -> None:
        topic = self.ids[name] if version >= 13 else name
        request = produce_request(topic, (0, chunk_of(b"x")), acks=acks, timeout_ms=3000)
        fields = {field: getattr(request, field) for field in ("acks", "timeout_ms", "topic_data")}
        answer = await self.calls[node](PRODUCE, version, **fields)
        part = answer.responses[0].partition_responses[0]
        offsets = part.error_code, part.base_offset, part.log_append_time_ms, part.log_start_offset
        self.say("produce", node, name, version, acks, *offsets, *_leader(part, answer))

    async def fetch(self, node: int, name: str, version: int, epoch: int) -> None:
        topic = self.ids[name] if version >= 13 else name
        request = fetch_request(topic, (0, 0), epoch=epoch)
        names = ("topics", "max_bytes", "max_wait_ms", "min_bytes", "session_epoch")
        answer = await self.calls[node](FETCH, version, **{field: getattr(request, field) for field in names})
        part = answer.responses[0].partitions[0]
        offsets = part.error_code, part.high_watermark, part.last_stable_offset, part.log_start_offset
        size = len(part.records or b"")
        self.say("fetch", node, name, version, epoch, *offsets, size, *_leader(part, answer))

    async def ends(self, node: int, name: str, epoch: int) -> None:
        wanted = ListOffsetsPartition(timestamp=-1, current_leader_epoch=epoch)
        asked = [ListOffsetsTopic(name=name, partitions=[wanted])]
        part = (await self.calls[node](LIST_OFFSETS, 6, topics=asked)).topics[0].partitions[0]
        self.say("latest", node, name, epoch, part.error_code, part.offset)
        of = OffsetForLeaderPartition(current_leader_epoch=epoch, leader_epoch=0)
        asked = [OffsetForLeaderTopic(topic=name, partitions=[of])]
        part = (await self.calls[node](OFFSET_FOR_LEADER_EPOCH, 4, topics=asked)).topics[0].partitions[0]
        self.say("epoch end", node, name, epoch, part.error_code, part.leader_epoch, part.end_offset)

    async def delete(self, node: int, name: str) -> None:
        wanted = DeleteRecordsPartition(partition_index=0, offset=1)
        asked = [DeleteRecordsTopic(name=name, partitions=[wanted])]
        answer = await self.calls[node](DELETE_RECORDS, 2, topics=asked, timeout_ms=3000)
        part = answer.topics[0].partitions[0]
        self.say("delete", node, name, part.error_code, part.low_watermark)

    async def coordinators(self, node: int) -> list[int]:
        for _ in range(300):
            answer = await self.calls[node](FIND_COORDINATOR, 4, coordinator_keys=GROUPS)
            if all(one.error_code == 0 for one in answer.coordinators):
                return [one.node_id for one in answer.coordinators]
            await asyncio.sleep(0.05)
        raise AssertionError("no coordinators")

    async def describe(self, node: int) -> None:
        for version, fenced in ((1, False), (2, False), (2, True)):
            answer = await self.calls[node](DESCRIBE_CLUSTER, version, include_fenced_brokers=fenced)
            shown = sorted((b.broker_id, b.is_fenced) for b in answer.brokers)
            self.say("cluster", version, fenced, answer.error_code, shown)
        asked = [TopicRequest(name=name) for name in TOPICS]
        answer = await self.calls[node](DESCRIBE_TOPIC_PARTITIONS, 0, topics=asked)
        for topic in answer.topics:
            for p in topic.partitions:
                lists = p.replica_nodes, p.isr_nodes, p.offline_replicas
                self.say("describe", topic.name, topic.error_code, p.error_code, p.leader_id, *lists)


def _leader(part: Any, answer: Any) -> tuple[Any, ...]:
    """The leader that the answer tells, when it tells one (KIP-951)."""
    leader = part.current_leader
    if leader is None or leader.leader_id < 0:
        return ("nobody",)
    return leader.leader_id, leader.leader_epoch, [node.node_id for node in answer.node_endpoints]


async def speak(calls: dict[int, Call], kill: Callable[[], Awaitable[None]]) -> list[str]:
    """The whole conversation; ``kill`` ends broker 2."""
    talk = Conversation(calls)
    await talk.create()
    await asyncio.sleep(1)
    for node in (1, 2):
        for version in (0, 12):
            await talk.metadata(node, version)
    for name in TOPICS:
        for node in (1, 2):
            for version in (8, 10, 13):
                await talk.produce(node, name, version)
            await talk.produce(node, name, 9, acks=1)
    for name in TOPICS:
        for node in (1, 2):
            for epoch in (-1, 0, 5):
                await talk.fetch(node, name, 12, epoch)
                await talk.fetch(node, name, 16, epoch)
                await talk.ends(node, name, epoch)
            await talk.delete(node, name)
    homes = await talk.coordinators(1)
    talk.say("coordinators", homes == await talk.coordinators(2), sorted(set(homes)))
    await talk.describe(1)
    talk.say("broker 2 dies")
    await kill()
    for version in (0, 5, 12):
        await talk.metadata(1, version)
    for name in TOPICS:
        for version in (8, 10, 13):
            await talk.produce(1, name, version)
        await talk.produce(1, name, 9, acks=1)
        for epoch in (-1, 0, 1, 5):
            await talk.fetch(1, name, 12, epoch)
            await talk.fetch(1, name, 16, epoch)
            await talk.ends(1, name, epoch)
    await talk.describe(1)
    talk.say("coordinators", await talk.coordinators(1))
    return talk.lines


async def _record(first: str, second: str, pid: int) -> None:
    from tests.groups.conversation import Remote

    async def kill() -> None:
        os.kill(pid, signal.SIGKILL)
        while len((await calls[1](METADATA, 12, topics=[])).brokers) > 1:
            await asyncio.sleep(0.1)
        await asyncio.sleep(3)

    calls: dict[int, Call] = {}
    for node, address in ((1, first), (2, second)):
        host, _, port = address.rpartition(":")
        calls[node] = Remote(host, int(port)).call
    sys.stdout.write("\n".join(await speak(calls, kill)) + "\n")


if __name__ == "__main__":
    asyncio.run(_record(sys.argv[1], sys.argv[2], int(sys.argv[3])))
