"""What is known of partitions that nobody has opened since the start, or since another broker led them. It is
what `opening` and `adopting` begin with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kproto.log.adopting import TakenOver
    from kproto.log.checkpoint import Entry
    from kproto.log.ports import JournalRun

Key = tuple[bytes, int]
"""Topic id and partition."""


class Unopened:
    """Entries go when their partition is opened, released or deleted."""

    __slots__ = ("_recovered", "_released", "_taken", "_with_chunks")

    def __init__(self) -> None:
        self._recovered: dict[Key, list[JournalRun]] = {}
        self._taken: dict[bytes, dict[int, TakenOver]] = {}
        """By topic id."""
        self._with_chunks: dict[Key, None] = {}
        """Those of them that hold memory until they are opened."""
        self._released: dict[Key, Entry] = {}
        """Where partitions stood when another broker became their leader."""

    # Chunks that old journals have

    def recovered(self, topic_id: bytes, index: int, runs: list[JournalRun]) -> None:
        """Chunks of a partition found in old journals, ordered by offset; applied when it is opened."""
        self._recovered.setdefault((topic_id, index), []).extend(runs)

    def runs(self, topic_id: bytes, index: int) -> list[JournalRun]:
        return self._recovered.get((topic_id, index), [])

    def drop_runs(self, topic_id: bytes, index: int) -> None:
        """They are in files now, or of no use."""
        self._recovered.pop((topic_id, index), None)

    @property
    def has_runs(self) -> bool:
        """Something is in old journals that nobody has opened."""
        return bool(self._recovered)

    # Takeovers

    def take(self, topic_id: bytes, index: int, taken: TakenOver) -> None:
        """A partition was taken over."""
        self._taken.setdefault(topic_id, {})[index] = taken
        if taken.chunks:
            self._with_chunks[topic_id, index] = None

    def taken(self, topic_id: bytes, index: int) -> TakenOver | None:
        return self._taken.get(topic_id, {}).get(index)

    def taken_of(self, topic_id: bytes) -> Mapping[int, TakenOver]:
        """By partition, of one topic."""
        return self._taken.get(topic_id, {})

    def drop_taken(self, topic_id: bytes, index: int) -> bool:
        """Another broker leads the partition now; False when it was not taken over or is opened."""
        waiting = self._taken.get(topic_id)
        if waiting is None or waiting.pop(index, None) is None:
            return False
        self._with_chunks.pop((topic_id, index), None)
        return True

    def release(self, topic_id: bytes, index: int, entry: Entry) -> None:
        """Another broker leads a partition, which stood where ``entry`` says and is not open any more."""
        self._released[topic_id, index] = entry

    def released(self, topic_id: bytes, index: int) -> Entry | None:
        return self._released.get((topic_id, index))

    # Both

    def drop(self, topic_id: bytes, index: int) -> None:
        """The partition is open now, with all that was known of it."""
        self.drop_taken(topic_id, index)
        self._released.pop((topic_id, index), None)
        self.drop_runs(topic_id, index)

    def forget(self, topic_id: bytes) -> None:
        """The topic is deleted."""
        self._taken.pop(topic_id, None)
        entries: dict[Key, Any]
        for entries in (self._recovered, self._released, self._with_chunks):
            for key in [key for key in entries if key[0] == topic_id]:
                del entries[key]

    def waiting(self) -> Iterator[Key]:
        """Those with chunks, from a journal or a takeover: they should be opened soon."""
        return chain(self._recovered, self._with_chunks)
