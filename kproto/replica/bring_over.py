"""Bringing old data of taken-over partitions into files here, in the background (rule 27b).

Virtual segment by virtual segment for all partitions at once: each is read once, however many partitions
have chunks in it. In order, but each new leader begins at another one and comes back for what lies before, so
that they do not all queue for the same copies. Chunks go to a temporary file per partition; when that has the
size of a segment, or the hole is filled, it is synced, renamed and given to the partition (`Partition.fill`),
so that a file here is whole or not there. Until then the copies are read (`remote`). What cannot be read now
is tried again later.

Where an operator gave up what no copy is left of, a hole can stay that nothing fills though all else that may
have it was read: the log starts behind it then, as if what is missing had been deleted.
"""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Final, Protocol

from kproto.disk import poisoning
from kproto.errors import ErrorCode, KafkaError
from kproto.log.epochs import EpochCache
from kproto.log.files import FETCHING
from kproto.log.segment import Group, Segment
from kproto.metadata import MetadataImage
from kproto.metadata.vlogs import VsegRecord
from kproto.replica.messages import Look, PartitionKey, Read, ReadAnswer, ReadChunk, decode_catalog
from kproto.replica.reach import Metadata, NoCopyError, Reach
from kproto.replica.takeover import (
    NotSealedError,
    floors_of,
    gave_all,
    may_be_in,
    older_sources,
    sources_of,
)
from kproto.vlog.side import is_side
from kproto.vlog.worker import in_worker
from kproto.wire.batch import HEADER
from kproto.wire.internal import Api

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.disk import Disk, Poisonable
    from kproto.log.above import Above
    from kproto.log.partition import Partition
    from kproto.vlog.worker import Jobs

log = logging.getLogger(__name__)

READ_BYTES: Final = 512 * 1024
BYTES_PER_PARTITION: Final = 1024
"""A read for many partitions brings more, because naming them costs, too."""
SLICE_S: Final = 0.001
REST_S: Final = 0.004
"""After each slice the loop belongs to others for a while."""
PATIENCE: Final = (10.0, 20.0)
"""Seconds: copies may let reads in the background wait (`kproto.replica.pace`)."""
FIRST_REST_S: Final = 1.0
AGAIN_S: Final = 5.0
STARTS_AT_ONCE: Final = 100
"""Log starts in one transaction (rule 19b)."""


class Logs(Protocol):
    """The part of `LogManager` that is used."""

    @property
    def above(self) -> Above: ...

    def partition(self, topic_id: bytes, index: int) -> Partition | None: ...

    def may_lack(self, topic_id: bytes, index: int) -> bool: ...


class Filling:
    """The first hole of a partition while it is filled. Chunks from ``next`` on are wanted, below ``end``."""

    __slots__ = (
        "ahead",
        "begun",
        "end",
        "group",
        "group_bytes",
        "later",
        "next",
        "number",
        "partition",
        "pieces",
        "segment",
        "written",
    )

    def __init__(self, partition: Partition, start: int, end: int) -> None:
        self.partition = partition
        self.next = start
        self.end = end
        self.begun = False
        """Whether a chunk was taken."""
        self.ahead = False
        """Whether the virtual segment that is read has gone on behind ``next``."""
        self.later = end
        """The first offset behind ``next`` that is somewhere, as long as nothing was taken."""
        self.segment: Segment | None = None
        self.group: Group | None = None
        self.group_bytes = 0
        self.number = 0
        self.written = 0
        self.pieces: list[memoryview] = []
        """What is not in the temporary file yet."""

    @property
    def done(self) -> bool:
        return self.next >= self.end or self.partition.deleted

    def note(self, first: int) -> None:
        """Somebody has a chunk with the offset ``first``."""
        if self.next < first < self.later:
            self.later = first

    def wants(self, chunk: ReadChunk) -> bool:
        """Whether ``chunk`` is the next one."""
        self.note(chunk.base_offset)
        self.ahead |= chunk.base_offset > self.next
        return not self.done and chunk.base_offset <= self.next < chunk.next_offset

    def skip_to(self, offset: int) -> None:
        """Leave what lies before ``offset`` for another pass, unless something was taken already."""
        if not self.begun and self.next < offset < self.end:
            self.next = offset

    def is_full(self, size: int) -> bool:
        """Whether a chunk of ``size`` bytes begins another segment."""
        segment = self.segment
        return segment is not None and segment.size + size > self.partition.config.segment_file_bytes

    def add(self, chunk: ReadChunk, now_ms: int) -> None:
        """Take the next chunk."""
        fields = HEADER.unpack_from(chunk.data)
        if self.segment is None:
            self._begin(chunk.base_offset, fields[8], now_ms)
        segment = self.segment
        assert segment is not None
        segment.note(segment.size, len(chunk.data), chunk.base_offset, fields[8])
        self.pieces.append(chunk.data)
        self.begun = True
        self.next = segment.next_offset = chunk.next_offset

    def _begin(self, base: int, timestamp: int, now_ms: int) -> None:
        partition = self.partition
        if self.group is None or self.group_bytes >= partition.config.segment_bytes:
            self.group = Group(base, now_ms)
            self.group.first_ts = timestamp
            self.group_bytes = self.number = 0
        self.segment = Segment(partition, self.group, self.number, base)
        self.segment.closed = True
        self.number += 1
        self.written = 0

    def finish(self) -> Segment:
        """The segment is in its file, synced: make it one of the partition's."""
        segment = self.segment
        assert segment is not None
        self.group_bytes += segment.size
        segment.flushed = segment.synced = segment.wake_at = segment.size
        segment.flushed_offset = segment.synced_offset = segment.next_offset
        epochs = EpochCache.decode(self.partition.epochs.encode())
        epochs.cut_end(segment.next_offset)
        segment.footer = (b"", epochs.encode())
        self.segment = None
        return segment


class BringOver:
    """See the module's text. All on one event loop; files are written in ``jobs``. It ends when ``vlogs`` are
    poisoned."""

    def __init__(
        self,
        reach: Reach,
        metadata: Metadata,
        logs: Logs,
        disk: Disk,
        jobs: Jobs,
        clock: Clock,
        vlogs: Poisonable,
    ) -> None:
        self._reach = reach
        self._metadata = metadata
        self._logs = logs
        self._disk = disk
        self._jobs = jobs
        self._clock = clock
        self._vlogs = vlogs
        self._keys: dict[PartitionKey, None] = {}
        """Partitions that may have holes."""
        self._fresh: set[PartitionKey] = set()
        """Those of which no pass has tried to bring anything."""
        self._task: asyncio.Task[None] | None = None
        self.bytes = 0
        self.segments = 0
        self.seconds = 0.0
        self._given_up = 0
        """Holes that the log starts were moved past."""

    def add(self, keys: Iterable[PartitionKey]) -> None:
        """These partitions were taken over."""
        added = dict.fromkeys(keys)
        self._keys.update(added)
        self._fresh.update(added)
        if self._keys and self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Stop; unfinished files are removed when their partition is opened again."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def state(self) -> dict[str, Any]:
        """Figures for people: partitions that may lack data, and what was brought so far."""
        return {
            "partitions": len(self._keys),
            "bytes": self.bytes,
            "segments": self.segments,
            "seconds": round(self.seconds, 3),
        }

    async def _run(self) -> None:
        try:
            await asyncio.sleep(FIRST_REST_S)
            while self._keys and self._vlogs.poisoned is None:
                before, began = self.segments + self._given_up, self._clock.monotonic()
                try:
                    await self._pass()
                except OSError as error:
                    log.warning("old data cannot be written: %s", error)
                except Exception:
                    log.exception("bringing old data over failed; trying again")
                self.seconds += self._clock.monotonic() - began
                if self._keys and self.segments + self._given_up == before:
                    await asyncio.sleep(AGAIN_S)
        finally:
            self._task = None

    # One pass over all sources

    async def _pass(self) -> None:
        """Fill the first hole of each partition as far as its chunks can be had in order."""
        fillings, sources = await self._begin()
        fresh, self._fresh = self._fresh, set()
        problems: list[str] = []
        lost: set[PartitionKey] = set()
        waiting: set[PartitionKey] = set()
        """What cannot be read now may have what these lack."""
        for epoch in sorted({epoch for epochs in sources.values() for epoch in epochs}):
            mine = {key: fillings[key] for key, epochs in sources.items() if epoch in epochs}
            try:
                image = self._metadata.image
                floors, given = set(floors_of(image, mine).values()), gave_all(image, epoch, mine)
                vlogs = sources_of(image, self._metadata.table, epoch, floors, given)
            except NotSealedError as error:
                problems.append(str(error))
                waiting |= mine.keys()
                continue
            lost |= may_lack(image, [one for records in vlogs for one in records if one.gave_up], mine)
            unread: list[VsegRecord] = []
            for records in vlogs:
                first = first_of(self._metadata.image, self._reach.node_id, len(records))
                for number, record in enumerate(records):
                    skipping = (
                        {key for key in fresh if key in mine and not mine[key].begun} if first else set()
                    )
                    wanted = mine if number >= first else {k: v for k, v in mine.items() if k not in skipping}
                    try:
                        await self._segment(record, wanted, skipping)
                    except NoCopyError as error:
                        problems.append(str(error))
                        unread.append(record)
            waiting |= may_lack(image, unread, mine)
        for filling in fillings.values():
            await self._complete(filling)
        if problems:
            log.warning("%d virtual segments cannot be brought over yet: %s", len(problems), problems[0])
        over = lost - fresh - waiting
        await self._pass_over({key: fillings[key] for key in over if not fillings[key].begun})

    async def _pass_over(self, fillings: dict[PartitionKey, Filling]) -> None:
        """Nobody has what these want next, and what may have had it was given up: their logs start behind.
        The store has to know first (rule 44)."""
        wanted = [(key, one) for key, one in sorted(fillings.items()) if not one.partition.deleted]
        for at in range(0, len(wanted), STARTS_AT_ONCE):
            some = wanted[at : at + STARTS_AT_ONCE]
            rows = [[key[0].hex(), key[1], one.later] for key, one in some]
            try:
                known = await self._metadata.propose("starts", {"starts": rows})
            except KafkaError as error:
                log.warning("%d log starts wait to be stored: %s", len(some), error)
                return
            for (_, one), is_known in zip(some, known, strict=True):
                partition = one.partition
                if is_known and not partition.deleted and one.later > partition.log_start_offset:
                    log.error(
                        "%s: offsets %d to %d are lost; it starts at %d",
                        partition,
                        one.next,
                        one.later - 1,
                        one.later,
                    )
                    partition.start_at(one.later)
                    self._given_up += 1

    async def _begin(self) -> tuple[dict[PartitionKey, Filling], dict[PartitionKey, tuple[int, ...]]]:
        """Holes and sources of the partitions that have holes; the others are forgotten."""
        fillings: dict[PartitionKey, Filling] = {}
        sources: dict[PartitionKey, tuple[int, ...]] = {}
        until = self._clock.monotonic() + SLICE_S
        for key in list(self._keys):
            image = self._metadata.image
            topic = image.topics_by_id.get(key[0])
            filling = self._open(key)
            if filling is not None and topic is not None:
                fillings[key] = filling
                streamlet = image.partition_streamlet(topic, key[1])
                sources[key] = older_sources(image, self._reach.node_id, streamlet)
            if self._clock.monotonic() > until:
                await asyncio.sleep(REST_S)
                until = self._clock.monotonic() + SLICE_S
        return fillings, sources

    def _open(self, key: PartitionKey) -> Filling | None:
        """The first hole of a partition; it is forgotten when it has none, or is led elsewhere."""
        try:
            partition = self._logs.partition(*key) if self._logs.may_lack(*key) else None
        except (KafkaError, OSError) as error:
            log.info("partition %s-%d is not brought over: %s", key[0].hex(), key[1], error)
            if isinstance(error, KafkaError) and error.code is ErrorCode.NOT_LEADER_OR_FOLLOWER:
                del self._keys[key]
            return None
        hole = next(partition.holes(), None) if partition is not None else None
        if partition is None or hole is None:
            del self._keys[key]
            return None
        return Filling(partition, *hole)

    async def _segment(
        self, record: VsegRecord, fillings: dict[PartitionKey, Filling], skipping: set[PartitionKey]
    ) -> None:
        """Take from one virtual segment what continues the fillings; those ``skipping`` may begin in it."""
        record = self._current(record)
        keys = [key for key, filling in fillings.items() if not filling.done]
        if not keys or record.unread:
            return
        end = record.end or 0
        rows = await self._reach.ask(record, Api.CATALOG, Look(record.id, end, keys), decode_catalog)
        for key, row in zip(keys, rows, strict=True):
            if row.frame >= 0:
                fillings[key].note(row.first)
                if key in skipping:
                    fillings[key].skip_to(row.first)
        useful = [
            (key, row.frame)
            for key, row in zip(keys, rows, strict=True)
            if row.frame >= 0 and row.first <= fillings[key].next < row.end
        ]
        if not useful:
            return
        keys = [key for key, _ in useful]
        position = min(frame for _, frame in useful)
        mine = [fillings[key] for key in keys]
        for filling in mine:
            filling.ahead = False
        ordered = not is_side(record.id.vlog)  # what is missing does not come later
        reading = self._read(record, position, keys, mine)
        try:
            while position < end and not all(one.done or (ordered and one.ahead) for one in mine):
                answer = await reading
                if answer.next <= position:
                    raise NoCopyError(f"virtual segment {record.id}: reading does not get past {position}")
                position = answer.next
                if position < end:  # comes while this one is written
                    reading = self._read(record, position, keys, mine)
                await self._take(answer.chunks, mine)
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    def _current(self, record: VsegRecord) -> VsegRecord:
        """A pass may take long, and copies move."""
        return self._metadata.table.vsegs.get(record.id, record)

    def _read(
        self, record: VsegRecord, position: int, keys: list[PartitionKey], fillings: list[Filling]
    ) -> asyncio.Task[ReadAnswer]:
        """What the fillings lack of a virtual segment from ``position`` on, some of it."""
        size = max(READ_BYTES, BYTES_PER_PARTITION * len(keys))
        offsets = [filling.next for filling in fillings]
        request = Read(record.id, position, record.end or 0, keys, size, offsets, background=True)
        ask = self._reach.ask(self._current(record), Api.READ, request, ReadAnswer.decode, PATIENCE)
        return asyncio.get_running_loop().create_task(ask)

    async def _take(self, chunks: list[ReadChunk], fillings: list[Filling]) -> None:
        size = 0
        now_ms = self._clock.wall_ms()
        until = self._clock.monotonic() + SLICE_S
        for chunk in chunks:
            filling = fillings[chunk.partition]
            if not filling.wants(chunk):
                continue
            if filling.is_full(len(chunk.data)):
                await self._complete(filling)
            filling.add(chunk, now_ms)
            size += len(chunk.data)
            if filling.done:
                await self._complete(filling)
            elif self._clock.monotonic() > until:
                await asyncio.sleep(REST_S)
                until = self._clock.monotonic() + SLICE_S
        await self._write([filling for filling in fillings if filling.pieces])
        self.bytes += size

    # Files

    async def _write(self, fillings: list[Filling]) -> None:
        """Put what was taken into the temporary files."""
        jobs: list[tuple[str, str, int, list[memoryview]]] = []
        for filling in fillings:
            segment, partition = filling.segment, filling.partition
            if segment is not None and not partition.deleted:
                jobs.append((partition.directory, segment.path + FETCHING, filling.written, filling.pieces))
                filling.written = segment.size
                filling.pieces = []
        if jobs:
            with poisoning(self._vlogs.poison, "old data"):
                await in_worker(self._jobs, lambda: _write_all(self._disk, self._logs.above, jobs))

    async def _complete(self, filling: Filling) -> None:
        """Make what was taken a segment of its partition.

        It gets its name in a turn of the event loop in which the partition is open. If that was released
        before, a later opening may have written a file of its own under that name; one that comes after it
        finds a whole file. It gets its place when a power loss cannot take the name any more (36): without a
        hole here, others may give up what they have. So no sync that failed is tried again (35): the next one
        would say that the name is there.
        """
        segment, partition = filling.segment, filling.partition
        if segment is None:
            return
        try:
            await self._write([filling])
            with poisoning(self._vlogs.poison, segment.path):
                await self._name(segment)
        except FileNotFoundError:
            if not partition.deleted:  # else who opened it again removed the file
                raise
        if partition.deleted:
            return
        if self._vlogs.poisoned is not None:
            raise OSError(errno.EIO, "storage failed")
        segment = filling.finish()
        if not partition.fill(segment):
            self._remove(segment.path)
            return
        self.segments += 1
        try:
            segment.write_index()
        except OSError as error:
            segment.footer = None  # made again when it is needed
            log.warning("%s cannot be written: %s", segment.index_path, error.strerror)

    async def _name(self, segment: Segment) -> None:
        """Give a temporary file, which is whole, its name, unless its partition is released meanwhile.
        OSError passes."""
        temporary = segment.path + FETCHING
        if not segment.partition.deleted:
            await in_worker(self._jobs, lambda: self._disk.sync_file(temporary))
        if segment.partition.deleted:
            self._remove(temporary)
            return
        self._disk.rename(temporary, segment.path)
        await in_worker(self._jobs, segment.sync_directories)

    def _remove(self, path: str) -> None:
        """Nobody else uses files with such a name now."""
        try:
            self._disk.unlink(path)
        except FileNotFoundError:
            pass


def may_lack(
    image: MetadataImage, vsegs: Collection[VsegRecord], keys: Collection[PartitionKey]
) -> set[PartitionKey]:
    """Those partitions, of topics that are there, which may have chunks in any of the virtual segments."""
    if not vsegs:
        return set()
    floors = floors_of(image, keys)
    held = may_be_in(set(floors.values()), vsegs)
    return {key for key in keys if key[0] in image.topics_by_id and floors[key[0]] in held}


def first_of(image: MetadataImage, node_id: int, segments: int) -> int:
    """The number of the virtual segment, of so many, at which this broker begins: the live brokers spread
    over them."""
    nodes = sorted(image.brokers)
    return segments * nodes.index(node_id) // len(nodes) if node_id in nodes else 0


def _write_all(disk: Disk, above: Above, jobs: list[tuple[str, str, int, list[memoryview]]]) -> None:
    for directory, path, position, pieces in jobs:
        if position == 0:
            above.make(directory)
        fd = disk.open(path, create=True)
        try:
            if position == 0:
                disk.truncate(fd, 0)
            disk.pwritev(fd, pieces, position)
        finally:
            disk.close(fd)
