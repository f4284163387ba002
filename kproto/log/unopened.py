"""What is known of partitions that nobody has opened since the start, or since another broker led them. It is
what `opening` and `adopting` begin with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

from kproto.log.by_topic import ByTopic

if TYPE_CHECKING:
    from kproto.log.adopting import TakenOver
    from kproto.log.by_topic import Key
    from kproto.log.checkpoint import Entry
    from kproto.log.ports import JournalRun


class Unopened:
    """Entries go when their partition is opened, released or deleted."""

    __slots__ = ("_recovered", "_released", "_taken", "_with_chunks")

    def __init__(self) -> None:
        self._recovered: ByTopic[list[JournalRun]] = ByTopic()
        self._taken: ByTopic[TakenOver] = ByTopic()
        self._with_chunks: ByTopic[bool] = ByTopic()
        """Those of them that hold memory until they are opened."""
        self._released: ByTopic[Entry] = ByTopic()
        """Where partitions stood when another broker became their leader."""

    # Chunks that old journals have

    def recovered(self, topic_id: bytes, index: int, runs: list[JournalRun]) -> None:
        """Chunks of a partition found in old journals, ordered by offset; applied when it is opened."""
        self._recovered[topic_id, index] = self.runs(topic_id, index) + runs

    def runs(self, topic_id: bytes, index: int) -> list[JournalRun]:
        return self._recovered.get((topic_id, index)) or []

    def drop_runs(self, topic_id: bytes, index: int) -> None:
        """They are in files now, or of no use."""
        self._recovered.pop((topic_id, index))

    @property
    def has_runs(self) -> bool:
        """Something is in old journals that nobody has opened."""
        return bool(self._recovered)

    # Takeovers

    def take(self, topic_id: bytes, index: int, taken: TakenOver) -> None:
        """A partition was taken over."""
        self._taken[topic_id, index] = taken
        if taken.chunks:
            self._with_chunks[topic_id, index] = True

    def taken(self, topic_id: bytes, index: int) -> TakenOver | None:
        return self._taken.get((topic_id, index))

    def taken_of(self, topic_id: bytes) -> Mapping[int, TakenOver]:
        """By partition, of one topic."""
        return self._taken.of(topic_id)

    def drop_taken(self, topic_id: bytes, index: int) -> bool:
        """Another broker leads the partition now; False when it was not taken over or is opened."""
        self._with_chunks.pop((topic_id, index))
        return self._taken.pop((topic_id, index)) is not None

    def release(self, topic_id: bytes, index: int, entry: Entry) -> None:
        """Another broker leads a partition, which stood where ``entry`` says and is not open any more."""
        self._released[topic_id, index] = entry

    def released(self, topic_id: bytes, index: int) -> Entry | None:
        return self._released.get((topic_id, index))

    # Both

    def drop(self, topic_id: bytes, index: int) -> None:
        """The partition is open now, with all that was known of it."""
        self.drop_taken(topic_id, index)
        self._released.pop((topic_id, index))
        self.drop_runs(topic_id, index)

    def forget(self, topic_id: bytes) -> None:
        """The topic is deleted."""
        self._recovered.forget(topic_id)
        self._taken.forget(topic_id)
        self._with_chunks.forget(topic_id)
        self._released.forget(topic_id)

    def waiting(self) -> Iterator[Key]:
        """Those with chunks, from a journal or a takeover: they should be opened soon."""
        return chain(self._recovered, self._with_chunks)
