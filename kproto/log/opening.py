"""Opening a partition on first use: its files as far as they can be trusted, then what only the journal has.

What is trusted depends on how the last process ended: after a clean stop everything in the checkpoint
entry, after a kill what the entry says was in the file (the page cache survived), after a power loss what
it says was synced. Whatever lies above is read and its CRC-32C verified, chunk by chunk, offsets
contiguous; the first chunk that fails ends the file: it and everything behind it are cut off (rule 24b),
and the journal supplies what it has from there on.
"""

from __future__ import annotations

import logging
import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kproto.config.definition import LONG_MAX
from kproto.log import kept_producers
from kproto.log.epochs import UNDEFINED, EpochCache
from kproto.log.files import DELETED, FETCHING, SegmentName, parse_name
from kproto.log.index import SparseIndex, decode
from kproto.log.producers import Producers
from kproto.log.segment import HOP_WINDOW, NO_TIME, Group, Segment, hop_file, read_file, read_index
from kproto.wire.batch import CRC_FROM, HEADER, HEADER_SIZE, LENGTH_OVERHEAD, hop
from kproto.wire.crc import crc32c

if TYPE_CHECKING:
    from kproto.disk import Disk
    from kproto.log.checkpoint import Entry
    from kproto.log.partition import Partition
    from kproto.log.ports import JournalRun

log = logging.getLogger(__name__)


class Trust(NamedTuple):
    """Segments below ``base`` are fine, and of the one that begins there the first ``size`` bytes."""

    base: int
    size: int
    ends: bool = True
    """False: the chunk that says where a file ends is verified all the same."""


def open_partition(
    partition: Partition, entry: Entry | None, exact: bool, runs: list[JournalRun]
) -> list[Segment]:
    """Bring ``partition`` (just made, empty) to the state it had. Returns what is to be synced before anybody
    uses it, oldest first. OSError passes through.

    ``exact``: after a clean stop, ``entry`` is what the files are (`checkpoint`).
    """
    recalled = kept_producers.recall(partition)
    names = _names(partition, entry, exact)
    log_start = entry.log_start if entry is not None else 0
    if not names:
        _begin_empty(partition, _first_offset(entry, runs), log_start)
    else:
        partition.has_directory = True
        partition.log_start_offset = max(log_start, names[0].base_offset)
        if entry is not None and partition.log_start_offset > log_start:
            lost(partition, log_start, partition.log_start_offset, "no file has them")
        for segment in segments_of(partition, names, entry):
            partition.add_segment(segment)
        scan(partition, _trusted(entry))
        for segment in partition.segments:
            segment.measure()  # the next entry says how large all of them are, and retention goes by that
        _reopen_last(partition, entry, exact)
    last = partition.segments[-1]
    less = entry is not None and (last.base_offset, last.size) < (entry.synced_base, entry.synced)
    _apply(partition, runs)
    if partition.log_start_offset > partition.log_end_offset:
        _restart_at(partition, partition.log_start_offset)
    if entry is not None and partition.log_end_offset < entry.next_offset:
        lost(partition, partition.log_end_offset, entry.next_offset, "the log ends before them")
    kept_producers.settle(partition, recalled)
    kept_producers.complete_epochs(partition)
    kept_producers.forget_behind(partition, runs)
    partition.high_watermark = partition.last_stable_offset = partition.log_end_offset
    partition.remove_dead_groups()
    if less:  # the checkpoint must not vouch for what comes in the place of that (24b, 36)
        partition.manager.checkpointing.note_down([partition], sync=True)
    config = partition.config
    if not exact and min(config.flush_messages, config.flush_ms) < LONG_MAX:
        return _unproven(partition, runs)
    return []


def lost(partition: Partition, begin: int, end: int, why: str) -> None:
    """Say that the log does not have what the checkpoint vouches for, or did before the power was lost."""
    log.error(
        "%s-%d: offsets %d to %d are lost from %s: %s",
        partition.topic,
        partition.index,
        begin,
        end - 1,
        partition.directory,
        why,
    )


def _first_offset(entry: Entry | None, runs: list[JournalRun]) -> int:
    """Where a log without files begins: at its log start, or earlier if the journal has the chunk with it."""
    if entry is None:
        return 0
    for run in runs:
        if run.base_offset <= entry.log_start < run.next_offset:
            return run.base_offset
    return max(entry.log_start, min(entry.base_offset, entry.next_offset) if entry.flushed == 0 else 0)


def _unproven(partition: Partition, runs: list[JournalRun]) -> list[Segment]:
    """A chunk can be in a file though its push never happened. It is part of the log now, and acknowledged at
    once when it is repeated (rule 8); what is appended (and synced) after it must not depend on bytes that a
    power loss can take away. It takes none that a synced journal has, too, as most often all is.
    """
    unsynced = [segment for segment in partition.unsynced() if segment.synced < segment.flushed]
    return unsynced if unsynced and not _are_in_journal(partition, unsynced, runs) else []


def _are_in_journal(partition: Partition, unsynced: list[Segment], runs: list[JournalRun]) -> bool:
    """Whether synced journal files have all that is in the files of ``unsynced`` and not synced there. A
    start after a loss of power takes it from them, and they stay until it is synced (`LogManager.settled`).
    Chunks with the same offset and leader epoch are the same (rule 33)."""
    offset, end, epoch_of = _synced_end(unsynced[0]), unsynced[-1].flushed_offset, partition.epochs.of_offset
    for run in runs:
        if run.synced and run.base_offset <= offset < min(run.next_offset, end):
            last = min(run.next_offset, end) - 1
            if epoch_of(offset) == run.epoch == epoch_of(last):
                offset = last + 1
    return offset >= end


def _synced_end(segment: Segment) -> int:
    """The end offset of what is synced in its file."""
    index, position, offset = segment.index, 0, segment.base_offset
    number = bisect_right(index.positions, segment.synced) - 1 if index is not None else -1
    if index is not None and number >= 0:
        position, offset = index.positions[number], index.offsets[number]
    for _, _, fields in hop_file(segment.path, position, segment.synced):
        offset = fields[0] + fields[6] + 1
    return offset


def _names(partition: Partition, entry: Entry | None, exact: bool) -> list[SegmentName]:
    """The segments on disk, oldest first. Where they have to be looked for, those are among them that a clean
    stop left to be removed: they may be in use again, and it is decided anew what is to go."""
    told = _told(entry) if exact else None
    if told is not None:
        return told
    partition.manager.trash.take_back(partition.directory)
    return sorted(names_in(partition), key=by_offset)


def _told(entry: Entry | None) -> list[SegmentName] | None:
    """The segments that ``entry`` tells of, if it is right; None: the directory has to be listed."""
    if entry is None or (entry.closed == 0 and entry.flushed == 0):
        return []
    return [SegmentName(entry.group_base, entry.number, entry.base_offset)] if entry.closed == 0 else None


def has_more_files(disk: Disk, directory: str, entry: Entry | None) -> bool:
    """Whether a start that takes ``entry`` for right would miss segments, take what nobody has synced for
    synced, or leave what was to be removed: a process was killed before its next checkpoint, or amid that.
    OSError passes through."""
    told = _told(entry)
    for file in disk.listdir(directory):
        name = parse_name(file)
        if name is None:
            more = told is not None and file.endswith(DELETED)
        else:
            more = told is not None and name not in told
            more = more or (entry is not None and _goes_on(f"{directory}/{file}", name, entry))
        if more:
            return True
    return False


def _goes_on(path: str, name: SegmentName, entry: Entry) -> bool:
    """Whether the segment in ``path`` has something behind where ``entry`` says that the files end."""
    last = SegmentName(entry.group_base, entry.number, entry.base_offset)
    return os.stat(path).st_size > entry.flushed if name == last else by_offset(name) > by_offset(last)


def names_in(partition: Partition) -> list[SegmentName]:
    """The segments in its directory. What nobody has finished there goes: files that were being brought over,
    and those that a process that was killed was about to remove."""
    names: list[SegmentName] = []
    for file in partition.disk.listdir(partition.directory):
        name, path = parse_name(file), f"{partition.directory}/{file}"
        if name is not None:
            names.append(name)
        elif file.endswith(FETCHING):
            partition.disk.unlink(path)
        elif file.endswith(DELETED):
            partition.manager.trash.add(partition.manager.clock.monotonic(), path)
    return names


def by_offset(name: SegmentName) -> tuple[int, int, int]:
    """Sort key of segments."""
    return name.base_offset, name.group_base, name.number


def _trusted(entry: Entry | None) -> Trust:
    return Trust(0, 0) if entry is None else Trust(entry.base_offset, entry.flushed)


def segments_of(partition: Partition, names: Sequence[SegmentName], entry: Entry | None) -> list[Segment]:
    """Segments of the files, which follow each other; all are closed for now, sizes and times and the end of
    the last unknown."""
    segments: list[Segment] = []
    group: Group | None = None
    for i, name in enumerate(names):
        if group is None or group.base_offset != name.group_base:
            group = Group(name.group_base, partition.manager.now_ms(), partition.jitter())
        segment = Segment(partition, group, name.number, name.base_offset)
        segment.closed = True
        segment.size = segment.max_ts_base = -1
        segment.next_offset = names[i + 1].base_offset if i + 1 < len(names) else name.base_offset
        segment.flushed_offset = segment.next_offset
        if entry is not None and i + 1 < len(names) and segment.next_offset <= entry.synced_base:
            segment.synced_offset = segment.next_offset
        segments.append(segment)
    return segments


def scan(partition: Partition, trust: Trust) -> None:
    """Fold and check the segments from the trusted one on; cut where the log ends."""
    first = max(bisect_right(partition.bases, trust.base) - 1, 0)
    start = _restore_state(partition, first)
    for number in range(start, first):
        _fold_file(partition, partition.segments[number])
    offset = partition.segments[first].base_offset
    for number in range(first, len(partition.segments)):
        segment = partition.segments[number]
        if segment.base_offset != offset:
            _cut_for_good(partition, number, f"offset {offset} is missing")
            return
        trusted = trust.size if segment.base_offset == trust.base else 0
        offset, valid = check_file(partition, segment, trusted, trust.ends)
        size = os.stat(segment.path).st_size
        segment.size = segment.flushed = valid
        segment.next_offset = segment.flushed_offset = offset
        if valid < size:
            log.warning(
                "%s: %d bytes from position %d are torn or damaged: cut", segment.path, size - valid, valid
            )
            truncate(partition, segment, valid)
            _cut_for_good(partition, number + 1, "the segment before it is damaged")
            return
        if number + 1 < len(partition.segments):
            ensure_index(partition, segment)


def _restore_state(partition: Partition, first: int) -> int:
    """Producers and epochs at the start of some segment at or before ``first``, from the index of the one
    before it; returns that segment's number.
    """
    for number in range(first, 0, -1):
        before = partition.segments[number - 1]
        found = decode(read_index(before.index_path))
        if found is not None and found[1].next_offset == before.next_offset:
            _, summary, producers, epochs = found
            kept_producers.replace(partition, Producers.decode(producers), before.next_offset)
            partition.epochs = EpochCache.decode(epochs)
            before.max_ts, before.max_ts_base = summary.max_ts, summary.max_ts_base
            return number
    kept_producers.replace(partition, Producers(), partition.segments[0].base_offset)
    return 0


def _fold_file(partition: Partition, segment: Segment) -> None:
    """Fold a trusted segment whose index is lost, and write the index again. Of what is missing in it nobody
    learns what producers sent: none is known from there on (as in `_restart_at`), so that a batch sent again,
    or by an older epoch, is taken as a new one."""
    segment.index, segment.max_ts_base, segment.max_ts = SparseIndex(), segment.base_offset, NO_TIME
    offset, end = segment.base_offset, 0
    for position, size, fields in hop_file(segment.path, 0, segment.measure()):
        if fields[0] != offset:
            break
        _fold(partition, segment, position, size, fields)
        offset, end = offset + fields[6] + 1, position + size
    if offset < segment.next_offset:
        kept_producers.replace(partition, Producers(), segment.next_offset)
        segment.tear(end, offset)
        return
    segment.size = segment.flushed = end
    ensure_index(partition, segment)


def _fold(partition: Partition, segment: Segment, position: int, size: int, fields: tuple[int, ...]) -> None:
    base_offset, epoch, newest, pid = fields[0], fields[2], fields[8], fields[9]
    segment.note(position, size, base_offset, newest)
    partition.epochs.note(epoch, base_offset)
    if pid >= 0:
        partition.producers.add(pid, fields[10], fields[11], fields[12], base_offset, newest)


def check_file(partition: Partition, segment: Segment, trusted: int, ends: bool) -> tuple[int, int]:
    """Fold ``segment``'s file as far as it is good; ``(end offset, end position)``. ``ends`` is that of
    `Trust`."""
    told = _told_by_index(partition, segment, trusted)
    if told is not None:
        return told
    segment.index, segment.max_ts_base, segment.max_ts = SparseIndex(), segment.base_offset, NO_TIME
    segment.indexed = 0
    offset, end = segment.base_offset, 0
    last: tuple[int, int, tuple[int, ...]] | None = None
    verified = ends
    for position, size, fields, chunk in chunks_of(segment.path, trusted):
        if fields[0] != offset or (chunk is not None and crc32c(chunk[CRC_FROM:]) != fields[4]):
            break
        if last is not None:
            _fold(partition, segment, *last)
        last, verified = (position, size, fields), ends or chunk is not None
        offset += fields[6] + 1
        end = position + size
    if last is None:
        return offset, end
    position, size, fields = last
    if not (verified or _is_sound(segment.path, position, fields)):
        return fields[0], position
    _fold(partition, segment, position, size, fields)
    return offset, end


def _told_by_index(partition: Partition, segment: Segment, trusted: int) -> tuple[int, int] | None:
    """What `check_file` would find out chunk by chunk, from the index of a file that is trusted to its end;
    None when that does not tell. Chunks behind the last one that the index knows are looked at, the last of
    the file among them. Who led a partition many times has a file for each of them, which ends a run.
    """
    size = os.stat(segment.path).st_size
    tells = 0 < size <= trusted and partition.producers.kept is None  # what was kept joins on the way
    found = decode(read_index(segment.index_path)) if tells else None
    if found is None:
        return None
    index, summary, producers, packed = found
    at = index.positions[-1] if index.positions else 0
    offset = index.offsets[-1] if index.offsets else segment.base_offset
    end, epoch = at, UNDEFINED
    for position, length, fields, chunk in chunks_of(segment.path, 0, at):
        if fields[0] != offset or chunk is None or crc32c(chunk[CRC_FROM:]) != fields[4]:
            return None
        offset, end, epoch = offset + fields[6] + 1, position + length, fields[2]
    epochs = EpochCache.decode(packed)
    known = epochs.of_offset(segment.base_offset) != UNDEFINED and epochs.of_offset(offset - 1) == epoch
    if not known or (end, offset) != (size, summary.next_offset):  # of a file that was brought here, say
        return None
    segment.index, segment.indexed = index, at
    segment.max_ts, segment.max_ts_base = summary.max_ts, summary.max_ts_base
    partition.epochs, partition.producers = epochs, Producers.decode(producers)
    return offset, size


def _is_sound(path: str, position: int, fields: tuple[int, ...]) -> bool:
    """Whether the chunk at ``position``, with these ``fields``, has the CRC that it says."""
    found = next(chunks_of(path, 0, position), None)
    return found is not None and found[3] is not None and crc32c(found[3][CRC_FROM:]) == fields[4]


def chunks_of(
    path: str, trusted: int, at: int = 0
) -> Iterator[tuple[int, int, tuple[int, ...], memoryview | None]]:
    """``(position, size, header fields, bytes)`` of a file from ``at`` on, up to where no whole chunk is; no
    bytes for what ends within ``trusted``."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        origin, window = at, memoryview(b"")
        wanted = HEADER_SIZE
        length = os.stat(path).st_size
        trusted = min(trusted, length)
        while at + wanted <= length:
            if at + wanted > origin + len(window):
                origin, window = at, memoryview(os.pread(descriptor, max(HOP_WINDOW, wanted), at))
                if len(window) < wanted:
                    return
            fields = HEADER.unpack_from(window, at - origin)
            size = fields[1] + LENGTH_OVERHEAD
            if fields[3] != 2 or size < HEADER_SIZE or fields[6] < 0:
                return
            inside = at + size <= trusted
            if not inside and wanted < size:
                wanted = size
                continue
            yield at, size, fields, None if inside else window[at - origin : at - origin + size]
            at += size
            wanted = HEADER_SIZE
    finally:
        os.close(descriptor)


def ensure_index(partition: Partition, segment: Segment) -> None:
    """Write the index of a closed segment that was just folded, unless the file is there and good. On a full
    disk it is made again when it is needed: what frees the disk has to open partitions (rule 37)."""
    found = decode(read_index(segment.index_path))
    if found is not None and (found[1].size, found[1].next_offset) == (segment.size, segment.next_offset):
        return
    if segment.index is None:
        segment.rebuild_index()
    partition.producers.reach(segment.next_offset)
    segment.footer = (partition.producers.encode(), partition.epochs.encode())
    try:
        segment.write_index()
    except OSError as error:
        segment.footer = None
        log.warning("%s cannot be written: %s", segment.index_path, error.strerror)


def truncate(partition: Partition, segment: Segment, size: int) -> None:
    """Cut the file of ``segment`` to ``size`` bytes. Synced, because what is left may be known to be synced,
    and so the whole file: it must not get its damaged end back when the power is lost again."""
    descriptor = partition.disk.open(segment.path)
    try:
        partition.disk.truncate(descriptor, size)
        partition.disk.datasync(descriptor)
    finally:
        partition.disk.close(descriptor)


def trim(partition: Partition, segment: Segment) -> None:
    """``segment`` is the last one: it ends where what it has is whole, and so does its file."""
    if segment.measure() < os.stat(segment.path).st_size:
        truncate(partition, segment, segment.size)
    segment.flushed, segment.flushed_offset, segment.torn_end = segment.size, segment.next_offset, -1
    segment.synced = min(segment.synced, segment.size)
    segment.synced_offset = min(segment.synced_offset, segment.next_offset)


def cut_from(partition: Partition, number: int, why: str, level: int = logging.WARNING) -> None:
    """Remove the segments from ``number`` on: nothing connects them to the log any more."""
    for segment in partition.segments[number:]:
        log.log(level, "%s does not belong to the log any more (%s): removed", segment.path, why)
        for path in (segment.index_path, segment.path):  # an index without chunks would be found by nobody
            try:
                partition.disk.unlink(path)
            except FileNotFoundError:
                pass
    del partition.segments[number:], partition.bases[number:]


def _cut_for_good(partition: Partition, number: int, why: str) -> None:
    """The same, and a loss of power does not bring them back (36): others get their offsets, perhaps with as
    many bytes before them, so that they would connect. (What disagrees with a sealed log would again.)"""
    if number < len(partition.segments):
        cut_from(partition, number, why)
        partition.disk.sync_directory(partition.directory)


def _reopen_last(partition: Partition, entry: Entry | None, exact: bool) -> None:
    """The last segment takes appends again; learn what its group already holds."""
    if not partition.segments:
        partition.begin(partition.log_start_offset)
        return
    last = partition.segments[-1]
    last.closed = False
    partition.log_end_offset = last.next_offset
    last.wake_at = last.size
    if entry is not None and entry.synced_base == last.base_offset and entry.synced <= last.size:
        last.synced = entry.synced
        if last.synced == last.size:
            last.synced_offset = last.next_offset
    if exact:
        last.synced, last.synced_offset = last.size, last.next_offset
    group = last.group
    members = [segment for segment in partition.segments if segment.group is group]
    group.size = sum(segment.measure() for segment in members[:-1])
    first = read_file(members[0].path, HEADER_SIZE)
    if len(first) == HEADER_SIZE:
        group.first_ts = HEADER.unpack(first)[8]
    partition.resume(group)


def _apply(partition: Partition, runs: list[JournalRun]) -> None:
    """Append what only the journal has (`ports.JournalRun`).

    A chunk of an older leader epoch than the last one in the log is stale (rule 25): an earlier start could
    not use it, because something before it was lost with the page cache, and the log went on without it. Or
    it is older than the takeover after which the log went back to one copy (`kept_producers.Floor`).
    """
    floor = kept_producers.floor(partition)
    for run in runs:
        if run.next_offset <= partition.log_end_offset:
            continue
        data = memoryview(run.read(run.position, run.length))
        for at, size, fields in hop(data):
            base_offset, next_offset, epoch = fields[0], fields[0] + fields[6] + 1, fields[2]
            if next_offset <= partition.log_end_offset or epoch < partition.epochs.last:
                continue
            if floor.is_stale(next_offset, epoch):
                continue
            chunk = data[at : at + size]
            if partition.log_end_offset < base_offset <= partition.log_start_offset:
                _restart_at(partition, base_offset)  # what is missing was deleted
            if base_offset != partition.log_end_offset or crc32c(chunk[CRC_FROM:]) != fields[4]:
                log.error(
                    "%r: the journal goes on at offset %d or its chunk is damaged: the log ends before",
                    partition,
                    base_offset,
                )
                return
            partition.restore(chunk, fields)


def _begin_empty(partition: Partition, offset: int, log_start: int) -> None:
    """Begin at ``offset``, where nothing is known of producers. ``log_start`` may be above it, no more than
    what the journal has."""
    kept_producers.replace(partition, Producers(), offset)
    partition.begin(offset)
    partition.log_start_offset = max(log_start, offset)


def _restart_at(partition: Partition, offset: int) -> None:
    """The log start was moved behind everything that was found so far: begin again, empty, at ``offset``,
    which is not above it.

    What producers sent before is not known until the offset at which it was kept (`kept_producers`); without
    that nothing is: a sequence that is taken for wrong would stop its producer for good.
    """
    log_start = partition.log_start_offset
    log.warning("%r: nothing is left above its log start %d", partition, log_start)
    for segment in partition.segments:
        segment.drop()
    cut_from(partition, 0, f"the log starts at {log_start}")
    partition.settled, partition.dirty_from = 0, -1
    _begin_empty(partition, offset, log_start)
