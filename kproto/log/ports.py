"""What the log expects of the virtual logs, and what the virtual logs expect of the log.

The log may not import ``vlog``; ``broker`` wires the two together. The hand-over, in both directions:

- *Direct writes*: before a frame that holds only references is written, the pusher calls
  ``segment.flush(upto)`` with the end of the last referenced chunk; when it returns, ``segment.flushed >=
  upto``.
- *Cleaning*: a journal file may go when every reference in it lies below its ``segment.synced`` (position +
  length). To get there the cleaner calls ``segment.flush`` on the loop and ``segment.sync`` in a thread.
  Segments of deleted data count as synced. For chunks found at start there are no segments yet:
  `LogManager.settled` answers for (topic, partition, offset).
- *Start*: ``LogManager.scan_from`` is what ``LogPorts.scan_point`` returned at the last checkpoint:
  everything below that point is in segment files (not necessarily synced: after a power loss scan from the
  oldest journal file). For every partition found, recovery calls `LogManager.recovered` with its
  :class:`JournalRun` list, before the first request. The partition applies them on first open: runs below
  the end of its (verified) segment files are skipped, the rest is checked (CRC-32C and contiguous offsets)
  and appended to the open segment without passing a virtual log again; the old journal files must stay
  until `LogManager.settled`. Chunks written directly need no run: the segment file itself is scanned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from kproto.config import TopicConfig
    from kproto.disk import Buffer
    from kproto.log.chunk import ChunkRef
    from kproto.log.partition import Partition


class JournalRun(NamedTuple):
    """Whole chunks of one partition that lie back to back in a journal file."""

    read: Callable[[int, int], Buffer]
    """``read(position, length)`` returns bytes of the journal file; OSError passes through."""
    position: int
    length: int
    base_offset: int
    next_offset: int


@dataclass(slots=True)
class LogPorts:
    """What the log needs from the outside. The defaults belong to a log without virtual logs (tests,
    tools).
    """

    assign_vlog: Callable[[Partition], VirtualLogPort]
    """Choose the virtual log of a partition; called when it is opened and when its config changed."""
    defer: Callable[[Callable[[], object]], object]
    """Run a callback at the end of this turn of the event loop (``loop.call_soon``)."""
    on_poison: Callable[[str], object]
    """The data directory can no longer be trusted (rule 35); the process must stop."""
    scan_point: Callable[[], bytes] = bytes
    """Opaque journal position that goes into the checkpoint; see "Start" above."""


class VirtualLogPort(Protocol):
    """The virtual log a partition appends to."""

    end: int
    """How many references were appended; after `append` it is the position of that reference."""
    durable: int
    """How many of them are durable."""
    blocked: bool
    """Appends must be refused with KAFKA_STORAGE_ERROR; check before appending."""
    lost: bool
    """The owner epoch is over (rule 16): ``blocked`` is set too, nothing becomes durable any more, and every
    callback is called, of what is durable and of what is not."""
    live_copies: int
    """Copies that new appends get, the owner's included: fewer than the class has while backups lack (rule
    18)."""

    def append(self, ref: ChunkRef) -> None:
        """Take a reference; it is pushed with everything else of this turn of the event loop."""
        ...

    def when_durable(self, position: int, callback: Callable[[], object]) -> None:
        """Call ``callback()`` once the first ``position`` appends are durable, or the log is lost; at once
        when it is so already."""
        ...


class LogSegment(Protocol):
    """A segment of a partition, as the pusher and the cleaner see it. Hashed by identity.

    When a segment is deleted (retention, DeleteRecords, topic deletion), ``flushed`` and ``synced`` become
    greater than any position, and `flush` and `sync` do nothing: the journal needs it no more.
    """

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
