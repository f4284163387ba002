"""Opening a partition that another broker (or an earlier process here) led: its sealed state and last chunks
as the copies have them, and what is still in segment files here (rules 2b, 27b, 33).

Files are only a cache: a chunk in them counts when it has the leader epoch that the sealed log has at its
offset, since a leader gives an offset away once. Everything else is removed: what was never acknowledged, or
does not connect. What is in no file here is a hole (`Partition.holes`), read from other brokers until it is
brought over.

Files come in runs: segments of one group with consecutive numbers, each beginning where the one before ended,
as its index and its size say. Holes are only between runs, so that the end of one file per run has to be
found out by hopping over its chunks.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kproto.check import check
from kproto.log.epochs import EpochCache
from kproto.log.files import SegmentName
from kproto.log.opening import (
    Trust,
    by_offset,
    check_file,
    cut_from,
    ensure_index,
    names_in,
    scan,
    segments_of,
    trim,
    truncate,
)
from kproto.log.ports import EVERYTHING
from kproto.log.producers import Producers
from kproto.log.segment import Segment, hop_file
from kproto.wire.batch import CRC_FROM, hop
from kproto.wire.crc import crc32c

if TYPE_CHECKING:
    from kproto.log.checkpoint import Entry
    from kproto.log.partition import Partition
    from kproto.log.ports import JournalRun, Snapshot

log = logging.getLogger(__name__)


class GapError(Exception):
    """The chunks of a partition do not follow each other from its state on; ``offset`` is the first one that
    is missing."""

    def __init__(self, offset: int, found: int) -> None:
        super().__init__(f"offset {offset} is missing, the log goes on at {found}")
        self.offset = offset


class TakenOver(NamedTuple):
    """What is known of a partition that was taken over and not used since."""

    leader_epoch: int
    log_start: int
    base: int
    """End of the state; the chunks follow."""
    end: int
    """Sealed end: the high watermark (rule 27b)."""
    epochs: bytes
    producers: bytes
    chunks: tuple[memoryview, ...]
    """Runs of whole chunks in order of offset. They may begin below ``base``."""


def taken_over(
    leader_epoch: int, snapshot: Snapshot | None, chunks: Sequence[memoryview], log_start: int
) -> TakenOver:
    """Check that ``chunks`` (runs of whole ones, ordered by offset) continue ``snapshot`` (None: a log that
    begins at 0) and put all together. Raises GapError."""
    base = snapshot.end_offset if snapshot is not None else 0
    end = base
    for run in chunks:
        for _, _, fields in hop(run):
            first, after = fields[0], fields[0] + fields[6] + 1
            if after > end:
                if first != end:
                    raise GapError(end, first)
                end = after
    start = max(log_start, snapshot.log_start if snapshot is not None else 0)
    if start > end:
        raise GapError(end, start)
    epochs, producers = (snapshot.epochs, snapshot.producers) if snapshot is not None else (b"", b"")
    return TakenOver(leader_epoch, start, base, end, epochs, producers, tuple(chunks))


def open_taken_over(
    partition: Partition, taken: TakenOver, entry: Entry | None, runs: Sequence[JournalRun]
) -> int:
    """Bring ``partition`` (just made, empty) to the sealed state; returns where its files ended. OSError
    passes through.

    ``runs`` are chunks in the journal of an earlier process here: what is not in a file may be there.
    """
    sealed = EpochCache.decode(taken.epochs)
    behind = list(_chunks(taken))
    for _, fields in behind:
        sealed.note(fields[2], fields[0])
    partition.log_start_offset = taken.log_start
    local_end = _adopt_files(partition, taken, sealed, entry)
    partition.epochs = sealed
    partition.begin_at(local_end)
    _apply(partition, taken, runs)
    if partition.log_end_offset < taken.base:
        partition.skip_to(taken.base)
    partition.producers = Producers.decode(taken.producers)
    for chunk, fields in behind:
        if fields[0] >= partition.log_end_offset:
            partition.restore(chunk, fields)
        elif fields[9] >= 0:
            partition.producers.add(fields[9], fields[10], fields[11], fields[12], fields[0], fields[8])
    sealed.cut_front(taken.log_start)
    check(partition.log_end_offset == taken.end, f"{partition} was sealed at {taken.end}")
    partition.remove_dead_groups()
    return local_end


def _apply(partition: Partition, taken: TakenOver, runs: Sequence[JournalRun]) -> None:
    """Append what an old journal has of the sealed log. That may begin amid a chunk, and end there, too, when
    what was behind is lost: of each chunk the last offset tells (33)."""
    for run in runs:
        if not partition.log_end_offset < run.next_offset or run.next_offset <= taken.log_start:
            continue
        data = memoryview(run.read(run.position, run.length))
        for at, size, fields in hop(data):
            base, last, chunk = fields[0], fields[0] + fields[6], data[at : at + size]
            if base < partition.log_end_offset or not taken.log_start <= last < taken.end:
                continue
            if partition.epochs.of_offset(last) != fields[2] or crc32c(chunk[CRC_FROM:]) != fields[4]:
                continue
            if base > partition.log_end_offset:
                partition.skip_to(base)
            partition.restore(chunk, fields)


def _chunks(taken: TakenOver) -> Iterator[tuple[memoryview, tuple[int, ...]]]:
    """The chunks behind the state, in order, each once."""
    end = taken.base
    for run in taken.chunks:
        for at, size, fields in hop(run):
            if fields[0] >= end:
                end = fields[0] + fields[6] + 1
                yield run[at : at + size], fields


# Files


def _adopt_files(partition: Partition, taken: TakenOver, sealed: EpochCache, entry: Entry | None) -> int:
    """Keep the files that agree with the sealed log; returns where the last of them ends (0: none)."""
    names = names_in(partition)
    if not names:
        return 0
    partition.has_directory = True
    adopted: list[Segment] = []
    end = 0
    for run in _runs(partition, sorted(names, key=by_offset)):
        segments = _adopt_run(partition, run, taken, sealed, entry, end)
        if segments:
            adopted += segments
            end = segments[-1].next_offset
    partition.segments = []
    partition.bases = []
    for segment in adopted:
        partition.add_segment(segment)
    return end


def _runs(partition: Partition, names: Sequence[SegmentName]) -> Iterator[list[SegmentName]]:
    """Files whose neighbours are sure to be contiguous: no name is missing between them, and none was cut."""
    run: list[SegmentName] = []
    before: Segment | None = None
    for name, segment in zip(names, segments_of(partition, names, None), strict=True):
        follows = run and (name.group_base, name.number) == (run[-1].group_base, run[-1].number + 1)
        if before is not None and not (follows and before.load_summary()):
            yield run
            run = []
        run.append(name)
        before = segment
    yield run


def _adopt_run(
    partition: Partition,
    names: Sequence[SegmentName],
    taken: TakenOver,
    sealed: EpochCache,
    entry: Entry | None,
    floor: int,
) -> list[Segment]:
    """Closed segments for the part of a run that belongs to the sealed log; the rest of it is removed."""
    partition.segments = segments_of(partition, names, entry)
    partition.bases = [name.base_offset for name in names]
    first = names[0].base_offset
    if first < floor:
        cut_from(partition, 0, f"the log up to {floor} is in other files", logging.INFO)
        return []
    partition.epochs, partition.producers = EpochCache(), Producers()
    scan(partition, _trust(names, entry))
    if not partition.segments:
        return []
    local = partition.epochs
    end = min(partition.segments[-1].next_offset, taken.end)
    _cut_at(partition, local.divergence(sealed, max(first, taken.log_start), end))
    segments = partition.segments
    while segments and segments[-1].next_offset == segments[-1].base_offset:
        cut_from(partition, len(segments) - 1, "it is empty", logging.INFO)
    if segments and segments[-1].next_offset <= taken.log_start:
        # Nobody has compared it: it may even end amid a chunk of the sealed log.
        cut_from(partition, 0, f"the log starts at {taken.log_start}", logging.INFO)
    if segments:
        last = segments[-1]
        local.cut_end(last.next_offset)
        trim(partition, last)
        if entry is not None and _is_synced(last, entry):
            last.mark_synced()
        ensure_index(partition, last)
    return segments


def _is_synced(segment: Segment, entry: Entry) -> bool:
    """Whether the checkpoint vouches for all of the segment's file."""
    if segment.base_offset == entry.synced_base:
        return segment.size <= entry.synced
    return segment.next_offset <= entry.synced_base


def _trust(names: Sequence[SegmentName], entry: Entry | None) -> Trust:
    """What the checkpoint vouches for; a run that is followed by others has no open segment. No chunk is
    trusted in where a run ends: there the log goes on, and runs that begin below are removed."""
    if entry is None:
        return Trust(0, 0, False)
    last = names[-1].base_offset
    if last < entry.base_offset:
        return Trust(last, EVERYTHING, False)
    return Trust(entry.base_offset, entry.flushed, False)


def _cut_at(partition: Partition, offset: int) -> None:
    """Remove the chunk that has ``offset``, and what lies above, from the segments of a run. It begins there,
    or below, when the log starts amid that chunk."""
    number = sum(segment.next_offset <= offset for segment in partition.segments)
    if number < len(partition.segments):
        segment = partition.segments[number]
        if segment.base_offset < offset:
            chunks = hop_file(segment.path, 0, segment.measure())
            position = next((at for at, _, one in chunks if one[0] + one[6] >= offset), segment.measure())
            truncate(partition, segment, position)
            segment.next_offset, segment.size = check_file(partition, segment, EVERYTHING, False)
            number += 1
        cut_from(partition, number, f"other chunks are sealed from {offset} on", logging.INFO)
