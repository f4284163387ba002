"""The committed offsets of one group, and when they may be forgotten. Pure: no clock, no I/O."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from kproto.handlers.groups.group import Group
from kproto.handlers.groups.states import State
from kproto.wire import ZERO_UUID
from kproto.wire.data import CONSUMER_PROTOCOL


class Committed(NamedTuple):
    """One committed offset. ``expire_ms`` is -1 unless the commit asked for a retention (v2-4 only);
    ``topic_id`` is all zeros when the record does not say which topic of that name was meant."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_ms: int
    expire_ms: int = -1
    topic_id: bytes = ZERO_UUID

    def is_of(self, topic_id: bytes) -> bool:
        """Was it committed for this topic, and not for an earlier one of the same name? Yes when it does not
        say."""
        return self.topic_id in (ZERO_UUID, topic_id)


class Offsets:
    """Topic -> partition -> :class:`Committed`; only durable commits are in here."""

    __slots__ = ("topics",)

    def __init__(self) -> None:
        self.topics: dict[str, dict[int, Committed]] = {}

    def __bool__(self) -> bool:
        return bool(self.topics)

    def put(self, topic: str, partition: int, committed: Committed) -> None:
        partitions = self.topics.get(topic)
        if partitions is None:
            partitions = self.topics[topic] = {}
        partitions[partition] = committed

    def drop(self, topic: str, partition: int) -> None:
        partitions = self.topics.get(topic)
        if partitions is not None:
            partitions.pop(partition, None)
            if not partitions:
                del self.topics[topic]

    def get(self, topic: str, partition: int) -> Committed | None:
        partitions = self.topics.get(topic)
        return None if partitions is None else partitions.get(partition)

    def all(self) -> Iterator[tuple[str, int, Committed]]:
        for topic, partitions in self.topics.items():
            for partition, committed in partitions.items():
                yield topic, partition, committed


def expired(group: Group, offsets: Offsets, wall_ms: int, retention_ms: int) -> list[tuple[str, int]]:
    """What is past its retention: counted from when the group became empty; of a stable consumer group
    from the commit, for topics nobody subscribes to; of a group that never had members from the commit."""
    if group.protocol_type is not None and group.state is not State.EMPTY:
        topics = subscribed_topics(group)
        if group.state is not State.STABLE or topics is None:
            return []
        since = -1
    else:
        topics = set()
        since = group.state_since_ms if group.protocol_type is not None else -1
    return [
        (topic, partition)
        for topic, partition, committed in offsets.all()
        if topic not in topics and _is_expired(committed, since, wall_ms, retention_ms)
    ]


def _is_expired(committed: Committed, since_ms: int, wall_ms: int, retention_ms: int) -> bool:
    if committed.expire_ms >= 0:
        return wall_ms >= committed.expire_ms
    start = since_ms if since_ms >= 0 else committed.commit_ms
    return wall_ms - start >= retention_ms


def subscribed_topics(group: Group) -> set[str] | None:
    """The topics any member of a consumer group's newest generation subscribes to, whatever is said by who
    joins the next one; None when they cannot be known."""
    if group.protocol_type != CONSUMER_PROTOCOL or group.subscriptions is None:
        return None
    topics: set[str] = set()
    for metadata in group.subscriptions:
        subscription = parse_subscription_topics(metadata)
        if subscription is None:
            return None
        topics.update(subscription)
    return topics


def parse_subscription_topics(metadata: bytes) -> list[str] | None:
    """Topic names of a ConsumerProtocolSubscription; None for bytes that are none. Version 0 begins all."""
    try:
        _, count = struct.unpack_from(">hi", metadata, 0)
        position = 6
        topics: list[str] = []
        for _ in range(count):
            (size,) = struct.unpack_from(">h", metadata, position)
            end = position + 2 + size
            if size < 0 or end > len(metadata):
                return None
            topics.append(metadata[position + 2 : end].decode())
            position = end
    except (struct.error, UnicodeDecodeError):
        return None
    return topics
