"""What the log expects of the virtual logs, and what the virtual logs expect of the log.

The log may not import ``vlog``; ``broker`` wires the two together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from kproto.config import TopicConfig
    from kproto.log.chunk import ChunkRef


class VirtualLogPort(Protocol):
    """The virtual log a partition appends to."""

    end: int
    """How many references were appended; after `append` it is the position of that reference."""
    durable: int
    """How many of them are durable."""
    blocked: bool
    """Appends must be refused with KAFKA_STORAGE_ERROR; check before appending."""

    def append(self, ref: ChunkRef) -> None:
        """Take a reference; it is pushed with everything else of this turn of the event loop."""
        ...

    def when_durable(self, position: int, callback: Callable[[], object]) -> None:
        """Call ``callback()`` once the first ``position`` appends are durable; at once when they are."""
        ...


class LogSegment(Protocol):
    """A segment of a partition, as the pusher and the cleaner see it."""

    number: int
    """Number of the segment inside its group."""
    flushed: int
    """Bytes that are in the segment file."""
    synced: int
    """Bytes that are in the segment file and were there at the start of a successful fdatasync."""

    @property
    def group_base(self) -> int:
        """First offset of the segment's group."""
        ...

    def flush(self, upto: int) -> None:
        """Write the bytes below segment position ``upto`` that are not in the file yet, as one pwritev.

        On the loop. OSError (ENOSPC included) changes nothing: the bytes stay in memory.
        """
        ...

    def sync(self) -> None:
        """fdatasync the file; ``synced`` becomes the ``flushed`` of the start. Called in a thread."""
        ...


class LogPartition(Protocol):
    """A partition, as the virtual logs see it."""

    topic_id: bytes
    index: int
    config: TopicConfig
    vlog: VirtualLogPort | None
    log_end_offset: int
    high_watermark: int

    def on_durable(self, end_offset: int) -> None:
        """Everything below ``end_offset`` is durable; called in order, once per push."""
        ...
