"""A table of partitions from which a topic goes without a look at the others: topics are deleted by the
hundred, and there may be many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

Key = tuple[bytes, int]
"""Topic id and partition (or streamlet)."""
V = TypeVar("V")


class ByTopic(Generic[V]):
    """Invariants: no topic is without an entry; there are ``_count`` entries."""

    __slots__ = ("_count", "_topics")

    def __init__(self) -> None:
        self._topics: dict[bytes, dict[int, V]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def get(self, key: Key) -> V | None:
        entries = self._topics.get(key[0])
        return entries.get(key[1]) if entries is not None else None

    def __setitem__(self, key: Key, value: V) -> None:
        topic_id, index = key
        entries = self._topics.get(topic_id)
        if entries is None:
            entries = self._topics[topic_id] = {}
        self._count -= len(entries)
        entries[index] = value
        self._count += len(entries)

    def pop(self, key: Key) -> V | None:
        """Take it out; None when it was not there."""
        topic_id, index = key
        entries = self._topics.get(topic_id)
        if entries is None or index not in entries:
            return None
        value = entries.pop(index)
        self._count -= 1
        if not entries:
            del self._topics[topic_id]
        return value

    def of(self, topic_id: bytes) -> Mapping[int, V]:
        """Those of one topic, by partition."""
        return self._topics.get(topic_id) or {}

    def forget(self, topic_id: bytes) -> None:
        """The topic is deleted."""
        self._count -= len(self._topics.pop(topic_id, ()))

    def clear(self) -> None:
        self._topics.clear()
        self._count = 0

    def topics(self) -> list[bytes]:
        """The ids of all."""
        return list(self._topics)

    def __iter__(self) -> Iterator[Key]:
        """The keys; entries may come and go meanwhile."""
        for topic_id in list(self._topics):
            for index in list(self._topics.get(topic_id, ())):
                yield topic_id, index

    def items(self) -> Iterator[tuple[Key, V]]:
        """None may come or go meanwhile."""
        for topic_id, entries in self._topics.items():
            for index, value in entries.items():
                yield (topic_id, index), value

    def values(self) -> Iterator[V]:
        """As `items`."""
        for entries in self._topics.values():
            yield from entries.values()
