"""Partitions as clients see them: leader, replicas, in-sync replicas out of streamlet records. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kproto.errors import ErrorCode
from kproto.metadata import MetadataImage, StreamletRecord, TopicRecord
from kproto.metadata.records import NO_LEADER


class PartitionState(NamedTuple):
    """One partition. The lists are shared between the partitions of a streamlet: not to be changed."""

    partition: int
    error: ErrorCode
    leader: int
    leader_epoch: int
    replicas: list[int]
    isr: list[int]
    offline: list[int]


def partition_states(
    image: MetadataImage, topic: TopicRecord, first: int, end: int
) -> Iterator[PartitionState]:
    """Partitions ``first`` up to ``end`` (not included; the topic may have fewer)."""
    records = image.streamlets[topic.topic_id]
    groups = topic.active_groups
    seen: StreamletRecord | None = None
    for index in range(first, min(end, topic.partitions)):
        record = records[index // groups]
        if record is not seen:
            seen = record
            replicas = list(record.replicas)
            isr = [node for node in replicas if node in image.brokers]
            offline = [node for node in replicas if node not in image.brokers]
            leader = record.leader if record.leader in image.brokers else NO_LEADER
            error = ErrorCode.NONE if leader != NO_LEADER else ErrorCode.LEADER_NOT_AVAILABLE
        yield PartitionState(index, error, leader, record.leader_epoch, replicas, isr, offline)
