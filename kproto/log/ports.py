"""What the log expects of the virtual logs, and what the virtual logs expect of the log.

The log may not import ``vlog``; ``broker`` wires the two together. The hand-over, in both directions:

- *Direct writes*: before a frame that holds only references is written, the pusher calls
  ``segment.flush(upto)`` with the end of the last referenced chunk; when it returns, ``segment.flushed >=
  upto``.
- *Cleaning*: a journal file may go when every reference in it lies below its ``segment.synced`` (position +
  length). To get there the cleaner calls ``segment.flush`` on the loop and ``segment.sync`` in a thread.
  Segments of deleted data count as synced. For chunks found at start there are no segments yet:
  `LogManager.settled` answers for (topic, partition, offset).
  A start has to know of what was deleted: a file that needs nothing any more waits until all `Deletions` of
  that time are known.
- *Start*: ``Checkpoint.point`` is what ``LogPorts.scan_point`` returned at the last checkpoint:
  everything below that point is in segment files (not necessarily synced: after a power loss scan from the
  oldest journal file). For every partition found, recovery calls `Unopened.recovered` with its
  :class:`JournalRun` list, before the first request. The partition applies them on first open: runs below
  the end of its (verified) segment files are skipped, the rest is checked (CRC-32C and contiguous offsets)
  and appended to the open segment without passing a virtual log again; the old journal files must stay
  until `LogManager.settled`. Chunks written directly need no run: the segment file itself is scanned.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from kproto.config import TopicConfig
    from kproto.disk import Buffer
    from kproto.log.chunk import ChunkRef
    from kproto.log.partition import Partition
    from kproto.log.reader import RemoteRange

EVERYTHING: Final = 1 << 62
"""Above every position, in a segment or a virtual log, and every offset."""


class JournalRun(NamedTuple):
    """Whole chunks of one partition that lie back to back in a journal file."""

    read: Callable[[int, int], Buffer]
    """``read(position, length)`` returns bytes of the journal file; OSError passes through."""
    position: int
    length: int
    base_offset: int
    next_offset: int
    epoch: int = -1
    """Leader epoch of the chunks."""
    synced: bool = False
    """They are on the medium."""


class Snapshot(Protocol):
    """The state of a partition behind a certain chunk (``vlog.frame.PartitionSnapshot``)."""

    @property
    def log_start(self) -> int: ...

    @property
    def end_offset(self) -> int:
        """The first offset that the state does not cover."""
        ...

    @property
    def epochs(self) -> bytes:
        """`EpochCache.encode`."""
        ...

    @property
    def producers(self) -> bytes:
        """`Producers.encode`."""
        ...


class RemoteReader(Protocol):
    """Reads chunks that a partition has not in files of its own (yet) from other brokers (rule 27b)."""

    def read(self, wanted: RemoteRange) -> Awaitable[memoryview]:
        """Whole chunks back to back, from the one that holds ``wanted.offset`` on, all below
        ``wanted.limit``, together at most ``wanted.max_bytes``; the first one always with
        ``wanted.at_least_one``. May stop early, but not before the first one.

        Raises KafkaError: KAFKA_STORAGE_ERROR when no copy can be read at the moment.
        """
        ...


class Deletions:
    """Each time a log start moves, or segments are given up, has a number. ``newest`` is the last one; up to
    ``known`` they are in a synced checkpoint, so that no start begins before data that is gone. Others come
    all the time: who waits does so for the number that was the newest when he began."""

    __slots__ = ("known", "newest")

    def __init__(self) -> None:
        self.newest = self.known = 0

    @property
    def all_known(self) -> bool:
        """Nobody has to wait."""
        return self.known == self.newest


Done = Callable[[BaseException | None], object]
InBackground = Callable[[Callable[[], object], Done], object]
"""Have ``call()`` run where waiting for the disk keeps nobody waiting, then ``done(error or None)`` on the
loop."""


def _at_once(partition: Partition, offset: int) -> None:
    """A log whose log starts need not be known to others."""
    partition.start_at(offset)


def _leave(_: Partition) -> None:
    """A log whose holes nobody fills."""


def _here(call: Callable[[], object], done: Done) -> None:
    """A log that may be kept waiting."""
    call()
    done(None)


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
    remote: RemoteReader | None = None
    """Where the chunks of taken-over partitions are read that are not here (`RemoteRange.load`)."""
    copies: RemoteReader | None = None
    """Where chunks are read that should be here, too, but whose file is damaged."""
    in_background: InBackground = _here
    """For what nothing waits for: files of deleted data are removed there."""
    on_log_start: Callable[[Partition, int], object] = _at_once
    """A partition with several copies is to start at an offset: to be stored, then done with
    `Partition.start_at`. Else the next leader might not know, and clients see the log start go back (rules 38
    and 44)."""
    on_hole: Callable[[Partition], object] = _leave
    """A partition that was opened lacks what others have (rule 27b): it is to be brought over. Only opening
    tells of holes where files turn out to be damaged."""
    on_deleted: Callable[[bytes], object] = len
    """A topic, by its id, is no more."""


class VirtualLogPort(Protocol):
    """The virtual log a partition appends to."""

    @property
    def end(self) -> int:
        """How many references were appended; after `append` it is the position of that reference."""
        ...

    @property
    def durable(self) -> int:
        """How many of them are durable."""
        ...

    @property
    def blocked(self) -> bool:
        """Appends must be refused with KAFKA_STORAGE_ERROR; check before appending."""
        ...

    @property
    def lost(self) -> bool:
        """The owner epoch is over (rule 16): ``blocked`` is set too, nothing becomes durable any more, and
        every callback is called, of what is durable and of what is not."""
        ...

    @property
    def retiring(self) -> bool:
        """Its partitions are being handed over to another broker (rule 12b): ``blocked`` is set too, what was
        appended becomes durable."""
        ...

    @property
    def copies(self) -> int:
        """Copies that the class of the virtual log wants, the owner's included."""
        ...

    @property
    def live_copies(self) -> int:
        """Copies that new appends get: fewer while backups lack (rule 18)."""
        ...

    def places(self) -> list[tuple[int, int, int]]:
        """Virtual segments (owner epoch, virtual log, number) that may have what was appended last."""
        ...

    def append(self, ref: ChunkRef) -> None:
        """Take a reference; it is pushed with everything else of this turn of the event loop."""
        ...

    def when_durable(self, position: int, callback: Callable[[], object]) -> None:
        """Call ``callback()`` once the first ``position`` appends are durable, or the log is lost; at once
        when it is so already."""
        ...

    def when_written(self, position: int, callback: Callable[[], object]) -> None:
        """The same once they are in the journal of this broker, whatever its backups have."""
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

    def write_ahead(self, most: int, upto: int) -> int:
        """Write up to ``most`` of these bytes, oldest first; they do not count before `flush`, which has less
        to write then. Returns how many. On the loop. OSError passes through."""
        ...

    def sync(self) -> None:
        """fdatasync the file; ``synced`` becomes the ``flushed`` of the start. Called in a thread."""
        ...

    def before(self) -> Sequence[LogSegment]:
        """The segments of the partition before this one with bytes that are not in synced files, oldest
        first; all are closed. A start cuts off what lies behind a torn file (rule 24b), synced or not."""
        ...


class Encodes(Protocol):
    """A fold of chunks that has a stored form."""

    def encode(self) -> bytes: ...


class LogPartition(Protocol):
    """A partition, as the virtual logs see it."""

    topic_id: bytes
    index: int
    config: TopicConfig
    vlog: VirtualLogPort | None
    log_start_offset: int
    log_end_offset: int
    high_watermark: int
    deleted: bool
    """Nothing is appended any more: its topic is gone, or (``lost``) another broker leads it."""
    lost: bool

    @property
    def epochs(self) -> Encodes:
        """Its leader epochs."""
        ...

    @property
    def producers(self) -> Encodes:
        """Its idempotent producers."""
        ...

    def on_durable(self, end_offset: int) -> None:
        """Everything below ``end_offset`` is durable; called in order, once per push."""
        ...

    def unsynced(self) -> Sequence[LogSegment]:
        """Segments with bytes that are not in synced files, oldest first."""
        ...

    def sync_starts(self, partitions: Sequence[Any]) -> None:
        """Have a loss of power not take back where the logs of ``partitions`` (of this kind) start: what was
        deleted is in no file that could be synced. One sync for all, since the loop waits; of what has
        several copies the store knows it (rule 44). OSError passes through."""
        ...
