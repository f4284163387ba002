"""Reading segment files again in the background, and mending them (rule 37).

One piece at a time, with a pause after each: the pace is ``piece_bytes`` every ``pause_s`` seconds, of closed
segments that are written, each again after ``again_s``; those that a read complained of
(`LogManager.suspects`) come first, and without pauses. At the same pace the files of partitions that nobody
has opened are read, and those in which something is wrong are opened (`unused`). Chunks are checked one by
one, in a thread: checksum, offsets without a gap, and, where copies can tell better, leader epochs, which no
checksum covers. What lies below the log start nobody reads, and copies may not have it any more: it is
passed over where that can be done.

Where a partition has copies (`LogPorts.copies`), what is damaged is written again, chunk by chunk, from them:
an offset is given away once, so the same bytes belong at the same place. What no copy can be read of now is
tried again. A partition of one copy is said to be damaged, once for each place. What its CRC covers is handed
out as it is, as Apache Kafka does: clients check that. A chunk that does not say at which offset it is, or
where it ends, is an error (`wire.batch.chained`); what comes behind is found by its offset, or by the index.
What is missing, or cannot be found, is torn (`Segment.tear`).
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from kproto.disk import NO_SPACE, poisoning
from kproto.errors import ErrorCode, KafkaError
from kproto.log.epochs import EpochCache
from kproto.log.opening import chunks_of
from kproto.log.ports import EVERYTHING
from kproto.log.reader import RemoteRange
from kproto.log.unused import Unused, UnusedFile, is_unused, unused
from kproto.wire.batch import CRC_FROM, hop
from kproto.wire.crc import crc32c

if TYPE_CHECKING:
    from kproto.disk import Disk
    from kproto.log.manager import LogManager
    from kproto.log.partition import Partition
    from kproto.log.segment import Segment

log = logging.getLogger(__name__)

PIECE_BYTES: Final = 1 << 20
CHUNKS_AT_ONCE: Final = 1000
"""Nor are more chunks looked at without a pause: each takes some us, and the event loop has to wait."""
PAUSE_S: Final = 0.25
AGAIN_S: Final = 3600.0
"""A segment is read again no sooner than so long after the last time."""
ROUND_S: Final = 10.0
"""How often segments are looked for that are due."""
LOOK_S: Final = 1.0
"""How often suspects are looked for during a rest."""
REST_S: Final = 0.004
"""After each piece of a suspect."""
RETRY_S: Final = 10.0
"""When what no copy could be read of is tried again."""
MEND_BYTES: Final = 1 << 20
PLACES_TOLD: Final = 16
PARTITIONS_AT_ONCE: Final = 64
"""So many are asked for segments before the loop belongs to others."""


class InThread(Protocol):
    """Has a call done where waiting for the disk keeps nobody waiting."""

    def __call__(self, call: Callable[[], Any], /) -> Awaitable[Any]: ...


class Place(NamedTuple):
    """Where a chunk begins."""

    position: int
    offset: int


NOWHERE: Final = Place(-1, -1)


class Scrub:
    """Looks after the segment files of one log."""

    def __init__(
        self,
        logs: LogManager,
        in_thread: InThread,
        piece_bytes: int = PIECE_BYTES,
        pause_s: float = PAUSE_S,
        again_s: float = AGAIN_S,
    ) -> None:
        self._logs = logs
        self._in_thread = in_thread
        self._piece_bytes = piece_bytes
        self._pause_s = pause_s
        self._again_s = again_s
        self._tasks: list[asyncio.Task[None]] = []
        self._told: dict[Segment, set[int]] = {}
        """Offsets that were said to be damaged."""
        self._later: dict[Segment, float] = {}
        """What could not be mended, and when it is tried again."""
        self.rounds = 0
        self.bytes = 0
        """Verified so far."""
        self.mended = 0
        """Bytes written again so far."""

    def start(self) -> None:
        """Begin, after a pause."""
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(self._run()), loop.create_task(self._run_unused())]

    async def close(self) -> None:
        """Stop."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            for segment in self._written():
                await self._rest(self._pause_s)
                if segment is not None:
                    await self._look(segment)
            self.rounds += 1
            self._told = {segment: told for segment, told in self._told.items() if _is_here(segment)}
            await self._rest(ROUND_S)

    async def _run_unused(self) -> None:
        """The same for partitions that nobody has opened, all of them once in ``again_s``."""
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            await asyncio.sleep(self._pause_s)
            for number, partition in enumerate(unused(self._logs), 1):
                if partition is not None:
                    await self._look_unused(partition)
                if not number % PARTITIONS_AT_ONCE:
                    await asyncio.sleep(self._pause_s)
            await asyncio.sleep(max(began + self._again_s - loop.time(), ROUND_S))

    async def _look_unused(self, partition: Unused) -> None:
        try:
            for file in await self._in_thread(partition.files):
                if not await self._is_sound(file):
                    self._suspect(file)
        except OSError as error:
            if error.errno not in NO_SPACE:
                log.warning("%s cannot be verified: %s", partition.directory, error.strerror)
        except Exception:
            log.exception("looking at %s failed", partition.directory)

    async def _is_sound(self, file: UnusedFile) -> bool:
        """Whether nothing is wrong with it, as long as nobody opens the partition."""
        place, sound = Place(0, file.base_offset), True
        while sound and place.offset < file.end and is_unused(self._logs, file.topic_id, file.partition):
            job = partial(check_piece, file.path, place, file.end, self._piece_bytes, EpochCache())
            reached, sound = await self._in_thread(job)
            self.bytes += reached.position - place.position
            place = reached
            await asyncio.sleep(self._pause_s)
        return sound

    def _suspect(self, file: UnusedFile) -> None:
        """Open the partition of a damaged file, and look at that again. When it cannot be opened now, another
        broker leads it, or the next round comes here again."""
        with contextlib.suppress(KafkaError):
            partition = self._logs.partition(file.topic_id, file.partition)
            number = bisect_left(partition.bases, file.base_offset) if partition is not None else 0
            if partition is not None and partition.bases[number : number + 1] == [file.base_offset]:
                self._logs.suspects.append(partition.segments[number])

    def _written(self) -> Iterator[Segment | None]:
        """The closed segments with whole files that are due, in order; None: time passes."""
        before = asyncio.get_running_loop().time() - self._again_s
        for number, partition in enumerate(list(self._logs.partitions_open()), 1):
            after = -1
            while not partition.deleted:
                at = bisect_right(partition.bases, after)
                found = next((one for one in partition.segments[at:] if _is_due(one, before)), None)
                if found is None:
                    break
                after = found.base_offset
                yield found
            if not number % PARTITIONS_AT_ONCE:
                yield None

    async def _rest(self, seconds: float) -> None:
        """Wait. Suspects do not."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while True:
            await asyncio.sleep(max(min(until - loop.time(), LOOK_S), 0.0))
            for segment in self._due(loop.time()):
                await self._look(segment, suspect=True)
            if loop.time() >= until:
                return

    def _due(self, now: float) -> list[Segment]:
        """Suspects, but for those that were looked at a moment ago: they wait."""
        due = {segment: None for segment, at in self._later.items() if at <= now}
        self._later = {segment: at for segment, at in self._later.items() if at > now}
        suspects = self._logs.suspects
        while suspects:
            segment = suspects.popleft()
            if segment not in self._later:
                due[segment] = None
        for segment in [one for one in due if one.checked_at > now - RETRY_S]:
            del due[segment]
            self._later[segment] = segment.checked_at + RETRY_S
        return list(due)

    async def _look(self, segment: Segment, suspect: bool = False) -> None:
        """Check all of one segment, and mend it as far as that is possible."""
        segment.checked_at = asyncio.get_running_loop().time()
        try:
            await self._check(segment, suspect)
        except OSError as error:
            if error.errno not in NO_SPACE and self._tell(segment, NOWHERE):
                log.warning("%s cannot be verified: %s", segment.path, error.strerror)
            self._later[segment] = asyncio.get_running_loop().time() + RETRY_S
        except Exception:
            log.exception("looking at %s failed", segment.path)

    async def _check(self, segment: Segment, suspect: bool) -> None:
        place, mended = Place(0, segment.base_offset), 0
        while _is_here(segment):
            end = _end(segment)
            job = partial(check_piece, segment.path, place, end, self._piece_bytes, _epochs(segment))
            reached, sound = await self._in_thread(job)
            self.bytes += reached.position - place.position
            place = reached
            if not sound:
                behind = await _below_log_start(segment, place, end, self._in_thread)
                if behind is None:
                    behind = await self._damaged(segment, place, end)
                    if behind is None:
                        break
                    if segment.partition.has_other_copies:
                        mended += behind.position - place.position
                place = behind
            elif place.offset >= end:
                break
            await (asyncio.sleep(REST_S) if suspect else self._rest(self._pause_s))
        torn = segment.torn_end >= 0 and segment.partition.has_other_copies
        if (mended or torn) and _is_here(segment):
            await self._finish(segment, place, mended)

    async def _damaged(self, segment: Segment, place: Place, end: int) -> Place | None:
        """The chunk at ``place`` is not what it should be; returns where to go on (None: not now)."""
        if not _is_here(segment):
            return None
        if segment.partition.has_other_copies:
            try:
                return await self._mend(segment, place, end)
            except KafkaError as error:
                if self._tell(segment, place):
                    log.warning(
                        "%s is damaged from offset %d on, and no copy of that can be read yet: %s",
                        segment.path,
                        place.offset,
                        error,
                    )
                self._later[segment] = asyncio.get_running_loop().time() + RETRY_S
                return None
        behind: Place | None = await self._in_thread(partial(find_behind, segment, place, end))
        if behind is None and segment.closed and segment.footer is None:
            segment.tear(*place)
        elif self._tell(segment, place):
            partition = segment.partition
            after = behind.offset if behind is not None else end
            served = await self._in_thread(partial(is_handed_out, segment, place, behind))
            log.error(
                "%s-%d: offsets %d to %d are damaged in %s from byte %d on, and there is no other copy: %s",
                partition.topic,
                partition.index,
                place.offset,
                after - 1,
                segment.path,
                place.position,
                "clients get the bytes as they are, and notice by the CRC"
                if served
                else f"reads of them fail (KAFKA_STORAGE_ERROR), what comes behind begins at offset {after}",
            )
        return behind

    def _tell(self, segment: Segment, place: Place) -> bool:
        """Whether this was not said before. Of one file no more is said than `PLACES_TOLD`."""
        told = self._told.setdefault(segment, set())
        if place.offset in told or len(told) >= PLACES_TOLD:
            return False
        told.add(place.offset)
        return True

    async def _mend(self, segment: Segment, place: Place, end: int) -> Place:
        """Write again what copies have from ``place`` on, some of it. KafkaError: none can be read."""
        partition, copies = segment.partition, self._logs.ports.copies
        assert copies is not None
        data = await copies.read(RemoteRange(partition, place.offset, end, MEND_BYTES, True))
        first = next((fields for _, _, fields in hop(data)), None)
        same = first is not None and partition.epochs.agrees(first[0] + first[6], first[2])
        if not same or not _is_here(segment):
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"offset {place.offset} is another one there")
        self._logs.files.close(segment.path)  # it may be of a file that was deleted
        with poisoning(self._logs.ports.on_poison, segment.path):
            job = partial(overwrite, self._logs.disk, segment.path, place, data, end)
            with self._logs.above.making(partition.directory):  # it may be gone
                reached: Place = await self._in_thread(job)
        if reached == place:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"what they have at {place.offset} is not sound")
        return reached

    async def _finish(self, segment: Segment, place: Place, mended: int) -> None:
        """The file of ``segment`` is good up to ``place``, where ``mended`` bytes were written again: none if
        somebody says it is torn who had read it before that."""
        partition = segment.partition
        self._logs.files.close(segment.path)
        whole = place.offset >= _end(segment)
        if segment.closed and segment.footer is None and whole:
            with poisoning(self._logs.ports.on_poison, segment.path):
                await self._in_thread(partial(cut, self._logs.disk, segment.path, place.position))
            if _is_here(segment):
                segment.mended(place.position)
        if not mended:
            return
        self.mended += mended
        log.warning(
            "%s-%d: %s was damaged; %d bytes of it were written again from copies%s",
            partition.topic,
            partition.index,
            segment.path,
            mended,
            "" if whole else ", more is missing",
        )


def _is_due(segment: Segment, before: float) -> bool:
    """Its file is written; whether it is synced does not matter: nobody may sync one that was adopted."""
    return segment.closed and segment.footer is None and segment.checked_at <= before


def _is_here(segment: Segment) -> bool:
    """Whether the segment is one of an open partition still."""
    partition: Partition = segment.partition
    number = bisect_right(partition.bases, segment.base_offset) - 1
    return not partition.deleted and number >= 0 and partition.segments[number] is segment


def _end(segment: Segment) -> int:
    """The offset up to which its file should be good. What waits for a disk that is full is not there yet."""
    if not segment.closed or segment.footer is not None:
        return segment.flushed_offset
    return segment.whole_end if segment.partition.has_other_copies else segment.next_offset


def _epochs(segment: Segment) -> EpochCache:
    """What the leader epochs of its chunks should be, as far as that is known and can be mended; for a
    thread."""
    epochs = EpochCache()
    if segment.partition.has_other_copies:
        known = segment.partition.epochs
        epochs.epochs, epochs.starts = known.epochs[:], known.starts[:]
    return epochs


async def _below_log_start(segment: Segment, place: Place, end: int, in_thread: InThread) -> Place | None:
    """Where the log goes on behind a damaged chunk that nobody reads any more; None: it is read, or that is
    not known."""
    if place.offset >= segment.partition.log_start_offset:
        return None
    behind: Place | None = await in_thread(partial(find_behind, segment, place, end))
    if behind is None or behind.offset > segment.partition.log_start_offset:
        return None
    return behind


async def is_sound(segment: Segment, in_thread: InThread) -> bool:
    """Read the file of ``segment``: whether it has what it should. What is not sound is suspected. OSError
    passes through."""
    place, end = Place(0, segment.base_offset), _end(segment)
    while True:
        job = partial(check_piece, segment.path, place, end, PIECE_BYTES, _epochs(segment))
        place, sound = await in_thread(job)
        if not sound:
            behind = await _below_log_start(segment, place, end, in_thread)
            if behind is None:
                segment.partition.manager.suspects.append(segment)
                return False
            place = behind
        elif place.offset >= end:
            return True
        await asyncio.sleep(REST_S)


# In a thread


def check_piece(path: str, place: Place, end: int, max_bytes: int, epochs: EpochCache) -> tuple[Place, bool]:
    """Check the chunks from ``place`` on, until ``max_bytes`` or so were read or offset ``end`` is reached;
    where the first one is that was not looked at, or (False) is not sound."""
    position, offset = place
    try:
        for number, (at, size, fields, chunk) in enumerate(chunks_of(path, 0, position)):
            if offset >= end or at - place.position >= max_bytes or number >= CHUNKS_AT_ONCE:
                return Place(position, offset), True
            following = offset + fields[6] + 1
            sound = fields[0] == offset and following <= end
            sound = sound and epochs.agrees(following - 1, fields[2])
            if not sound or chunk is None or crc32c(chunk[CRC_FROM:]) != fields[4]:
                break
            position, offset = at + size, following
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.EIO):  # a disk may write anew what it cannot read
            raise
    return Place(position, offset), offset >= end


def find_behind(segment: Segment, place: Place, end: int) -> Place | None:
    """Where the log goes on in the file of ``segment`` behind a damaged chunk: as its own header says, or
    at the next place that the index knows; None: nowhere."""
    found = _header(segment.path, place.position)
    if found is not None:
        size, fields = found
        behind = Place(place.position + size, place.offset + fields[6] + 1)
        if behind.offset <= end and _goes_on(segment, behind, end):
            return behind
    with contextlib.suppress(FileNotFoundError):
        segment.load_index()
    index = segment.index
    if index is None:
        return None
    for number in range(bisect_right(index.offsets, place.offset), len(index.offsets)):
        behind = Place(index.positions[number], index.offsets[number])
        if behind.offset < end and _goes_on(segment, behind, end):
            return behind
    return None


def is_handed_out(segment: Segment, place: Place, behind: Place | None) -> bool:
    """Whether reads get the damaged chunk at ``place``: its own header says where it is, and where the log
    goes on ``behind`` it."""
    found = _header(segment.path, place.position)
    if found is None:
        return False
    size, fields = found
    ends = Place(place.position + size, place.offset + fields[6] + 1)
    return fields[0] == place.offset and behind == ends


def _goes_on(segment: Segment, place: Place, end: int) -> bool:
    """Whether a chunk with the offset begins at ``place``, or the segment ends there."""
    found = _header(segment.path, place.position)
    if place.offset == end:
        return found is None and os.stat(segment.path).st_size == place.position
    return found is not None and found[1][0] == place.offset


def _header(path: str, position: int) -> tuple[int, tuple[int, ...]] | None:
    """Size and header fields of the chunk at ``position``; None: there is no whole one."""
    with contextlib.suppress(FileNotFoundError):
        for _, size, fields, _ in chunks_of(path, EVERYTHING, position):
            return size, fields
    return None


def overwrite(disk: Disk, path: str, place: Place, data: memoryview, end: int) -> Place:
    """Write the good chunks at the front of ``data``, as far as they go on at ``place`` and lie below the
    offset ``end``, into a file, which may be gone, and sync it; where they end. OSError passes through."""
    good, offset = 0, place.offset
    for at, size, fields in hop(data):
        following = offset + fields[6] + 1
        if fields[0] != offset or following > end or crc32c(data[at + CRC_FROM : at + size]) != fields[4]:
            break
        good, offset = at + size, following
    if not good:
        return place
    directory = os.path.dirname(path)
    disk.makedirs(directory)
    fd = disk.open(path, create=True)
    try:
        try:
            disk.pwritev(fd, [data[:good]], place.position)
        finally:  # a full disk takes a part of it, which may be all that was damaged
            disk.datasync(fd)
            if place.position == 0:
                disk.sync_directory(directory)
    finally:
        disk.close(fd)
    return Place(place.position + good, offset)


def cut(disk: Disk, path: str, size: int) -> None:
    """Remove what a file has behind its first ``size`` bytes, and sync it: nobody may have, if they were not
    written again. OSError passes through."""
    fd = disk.open(path)
    try:
        if disk.size(fd) > size:
            disk.truncate(fd, size)
        disk.datasync(fd)
    finally:
        disk.close(fd)
