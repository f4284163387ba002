"""A leader makes copies again of what nobody else has any more (rule 45).

When all backups of a closed virtual segment have lost their disks, or said that what they have is no copy,
its records are safe in the segment files of the leaders, but there is no file left to copy (rule 17), and the
frames cannot be made again: part of what was in them may have been deleted since. So each leader pushes its
live chunks of that virtual segment once more, verbatim, into a *side* virtual log of its own, with backups as
any other, and says so. When all leaders concerned have, the controller gives the virtual segment up
(`controller.freeing.decide_emptied`).

Which offsets were in it is asked of its neighbours in the same virtual log: what they hold of each partition,
and what their state frames say of the others. Nobody is before the first one of an owner; if it led once,
after others, all it has was appended under one leader epoch. Where nothing tells, more is pushed than would
be needed; chunks that are there twice do no harm, since an offset is given away once. The neighbours in a
side virtual log cannot tell anything: when one of its virtual segments is lost, too, everything is pushed
again. So are the partitions whose first copies are in it (`widening`), which have no sources yet.

An interruption, also the end of this process, only means that it is done again: nothing changes for the
virtual segment before the last step, which is one compare-and-set. What a failure stops goes on where it
stopped, after a longer while each time: a batch that is damaged for good would have all before it pushed
again and again, and nothing frees that.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from kproto.errors import KafkaError
from kproto.log.reader import RemoteRange, in_memory
from kproto.metadata.exchange import parts
from kproto.metadata.vlogs import VsegId, VsegRecord
from kproto.replica.looking import Looking, LostError, Waits, if_changed
from kproto.replica.messages import Look, PartitionKey, StateAnswer, decode_catalog
from kproto.replica.reach import Metadata, NoCopyError, Reach, sound_copies
from kproto.replica.takeover import floors_of, may_be_in
from kproto.replica.unneeded import led_from
from kproto.vlog.side import DamagedError, OldChunks, is_side
from kproto.wire.internal import Api

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.log.chunk import ChunkRef
    from kproto.log.partition import Partition
    from kproto.log.ports import LogPartition, VirtualLogPort
    from kproto.replica.pace import Pace

log = logging.getLogger(__name__)

LOOK_SECONDS: Final = 1.0
RETRY_SECONDS: Final = 5.0
MOST_RETRY_SECONDS: Final = 30.0
"""As long as it cannot be done it is tried again after so long, twice as much each time."""
READ_BYTES: Final = 256 * 1024
WINDOW_BYTES: Final = 1 << 20
"""So much is on its way to backups before the next chunks are read."""
REST_SECONDS: Final = 0.004
"""After each read the loop belongs to others for a while."""


class NotHereError(Exception):
    """A partition has not got, or not in one piece, what is to be pushed again; perhaps later."""


NOT_NOW: Final = (NotHereError, NoCopyError, DamagedError, KafkaError, OSError)
"""Why pushing again did not work."""


class Stretch:
    """Offsets ``[begin, end)`` of a partition that are pushed again, under a leader epoch, and ``at``, up to
    where they were.

    Those count wherever they went: nothing is reported as long as a virtual segment of a side virtual log has
    no copy, and all that it may have had is pushed again for that itself (`Rewriting.is_copied`).
    """

    __slots__ = ("at", "begin", "end", "follows", "leader_epoch", "partition")

    def __init__(self, partition: Partition, begin: int, end: int, leader_epoch: int) -> None:
        self.partition = partition
        self.begin = self.at = begin
        self.end = end
        self.leader_epoch = leader_epoch
        self.follows = False
        """A chunk has to begin at ``at``: another one ended there."""

    def go_on(self, former: Stretch) -> None:
        """Begin where an earlier try stopped, if that had all up to there. Not one of the partition's life
        before it was led elsewhere, or before it had one copy: that took its sources away."""
        same = (former.partition, former.leader_epoch) == (self.partition, self.leader_epoch)
        if same and former.begin <= self.begin <= former.at:
            self.begin, self.at, self.follows = former.begin, former.at, former.follows


class Logs(Protocol):
    """The part of `LogManager` that is used."""

    def partition(self, topic_id: bytes, index: int) -> Partition | None: ...


class Vlogs(Protocol):
    """The part of `VlogManager` that is used."""

    def side(self, partition: LogPartition) -> VirtualLogPort: ...

    def side_vlogs(self) -> list[int]: ...


class Rewriting:
    """See the module's text. ``epoch`` is this broker's; ``knows(vseg, partitions)`` as for
    `UnneededReports`; ``in_journal(records)``: those of which the owner's copy is still in its journal here,
    so that others can be made from it (rules 17, 18b); ``delay`` in seconds."""

    def __init__(
        self,
        reach: Reach,
        metadata: Metadata,
        logs: Logs,
        vlogs: Vlogs,
        pace: Pace,
        clock: Clock,
        epoch: Callable[[], int],
        knows: Callable[[VsegId, frozenset[PartitionKey]], bool],
        in_journal: Callable[[Iterable[VsegRecord]], set[VsegId]],
        delay: float,
    ) -> None:
        self._reach = reach
        self._metadata = metadata
        self._logs = logs
        self._vlogs = vlogs
        self._pace = pace
        self._clock = clock
        self._epoch = epoch
        self._knows = knows
        self._in_journal = in_journal
        self._delay = delay
        self._since: dict[VsegId, float] = {}
        """Without a copy since when; after a failure, from when on it is tried again."""
        self._waits: Waits[VsegId] = Waits(RETRY_SECONDS, MOST_RETRY_SECONDS)
        self._begun: dict[tuple[VsegId, ...], dict[PartitionKey, Stretch]] = {}
        """What was pushed for some that could not be done yet."""
        self._done: dict[VsegId, frozenset[PartitionKey]] = {}
        """Pushed again, with the chunks of these partitions."""
        self._partitions: dict[VsegId, list[Partition]] = {}
        """Those that had any."""
        self._sides: dict[int, VirtualLogPort] = {}
        """Side virtual logs, by identity, that anything was pushed to."""
        self._unacked = 0
        self._looking = Looking("pushing again what has no copy")
        self.bytes = 0
        """Pushed again so far."""

    def start(self) -> None:
        """Look every second from now on."""
        self._looking.start(LOOK_SECONDS, if_changed(self._metadata, self.look))

    async def close(self) -> None:
        """Stop."""
        await self._looking.close()

    async def look(self) -> int:
        """Do what is due; how many virtual segments of partitions led here have no copy. Raises LostError,
        and KafkaError when the controller refuses."""
        lost = self._lost()
        now = self._clock.monotonic()
        self._since = {vseg: self._since.get(vseg, now + self._delay) for vseg in lost}
        self._done = {vseg: keys for vseg, keys in self._done.items() if vseg in lost}
        self._partitions = {vseg: some for vseg, some in self._partitions.items() if vseg in self._done}
        self._waits.keep(lost)
        self._begun = {run: begun for run, begun in self._begun.items() if all(vseg in lost for vseg in run)}
        others = len(self._metadata.image.brokers) > 1
        due = [vseg for vseg, at in self._since.items() if at <= now and vseg not in self._done and others]
        for run in self._runs(due):
            keys = self._led().get(run[0].id.owner_epoch, frozenset())
            try:
                await self._rewrite(run, keys)
            except NOT_NOW as error:
                log.warning(
                    "virtual segment %s has no copy, and cannot be pushed again: %s", run[0].id, error
                )
                again_at = self._clock.monotonic() + self._waits.longer(run[0].id)
                self._since.update((record.id, again_at) for record in run)
                continue
            await self._report()
        await self._report()
        return len(lost)

    def _led(self) -> dict[int, frozenset[PartitionKey]]:
        owners = {vseg.owner_epoch for vseg in self._since}
        return self._led_from(owners)

    def _led_from(self, owners: set[int]) -> dict[int, frozenset[PartitionKey]]:
        return led_from(self._metadata.image, self._reach.node_id, self._epoch(), owners, copying=True)

    def _has_copy(self, record: VsegRecord) -> bool:
        return bool(sound_copies(self._metadata.image, record))

    def _lost(self) -> dict[VsegId, None]:
        """Virtual segments without a copy that partitions led here have among their sources."""
        without = [
            record
            for _, record in sorted(self._metadata.table.vsegs.items())
            if not record.open and not record.empty and not self._has_copy(record)
        ]
        owners = {record.id.owner_epoch for record in without}
        led = self._led_from(owners) if without else {}
        mine = [record for record in without if record.id.owner_epoch in led]
        kept = self._in_journal(mine)
        return {record.id: None for record in mine if record.lost or record.id not in kept}

    def _runs(self, due: Iterable[VsegId]) -> Iterator[list[VsegRecord]]:
        """Neighbours among the ``due``, with nothing else between them, are dealt with together; and all of a
        side virtual log, since everything is pushed again for any of them."""
        wanted = set(due)
        for vseg in sorted({vseg._replace(seq=0) for vseg in wanted}):
            run: list[VsegRecord] = []
            for record in self._vlog(vseg):
                if record.id in wanted:
                    run.append(record)
                elif run and not record.empty and not is_side(vseg.vlog):
                    yield run
                    run = []
            if run:
                yield run

    def _vlog(self, vseg: VsegId) -> list[VsegRecord]:
        """The virtual segments of the same virtual log, in order."""
        mine = self._metadata.table.of_owner(vseg.owner_epoch)
        return [record for record in mine if record.id.vlog == vseg.vlog]

    # Which offsets

    async def _rewrite(self, run: Sequence[VsegRecord], keys: frozenset[PartitionKey]) -> None:
        """Push again what is live in ``run`` of the partitions."""
        vlog = [] if is_side(run[0].id.vlog) else self._vlog(run[0].id)
        before = [record for record in reversed(vlog) if record.id < run[0].id]
        after = [record for record in vlog if record.id > run[-1].id]
        floors = floors_of(self._metadata.image, keys)
        held = may_be_in(set(floors.values()), run)
        asked = [key for key in sorted(keys) if floors[key[0]] in held]
        begins = await self._edges(before, asked, False)
        ends = await self._edges(after, asked, True)
        ids = tuple(record.id for record in run)
        begun = self._begun.setdefault(ids, {})
        stretches: dict[PartitionKey, Stretch] = {}
        for key in asked:
            begin = max(begins.get(key, 0), self._metadata.table.log_start(*key))
            if begin >= ends.get(key, begin + 1):
                continue
            partition = self._logs.partition(*key)
            if partition is None:
                continue
            begin = max(begin, self._first_of(run[0].id, partition))
            if partition.only_here:  # nobody else leads it before the store has its start, with first copies
                begin = max(begin, partition.log_start_offset)
            end = ends.get(key, partition.high_watermark)
            if begin < min(end, partition.high_watermark):
                if begin < partition.log_start_offset:
                    raise NotHereError(f"{partition}: its log start is not stored yet")
                one = stretches[key] = Stretch(partition, begin, end, partition.leader_epoch)
                if key in begun:
                    one.go_on(begun[key])
                check_here(one)  # of all of them, before anything is pushed in vain
        begun.update(stretches)
        for one in stretches.values():
            await self.push(one)
        await self.durable()
        self._begun.pop(ids, None)
        for vseg in ids:
            self._done[vseg] = keys
            self._partitions[vseg] = [one.partition for one in stretches.values()]

    def _first_of(self, vseg: VsegId, partition: Partition) -> int:
        """Below this offset the virtual logs of an owner have nothing of the partition but what was pushed
        again. Known of the last owner, if others led before it and it led once: all it appended has the
        leader epoch that it got then (5, 27b), or sources would name it twice. Else 0."""
        image = self._metadata.image
        topic = image.topics_by_id.get(partition.topic_id)
        if topic is None or is_side(vseg.vlog):
            return 0
        record = image.partition_streamlet(topic, partition.index)
        sources, epoch = record.sources, partition.leader_epoch
        newest = sources[-1:] == (vseg.owner_epoch,) and sources.count(vseg.owner_epoch) == 1
        if not newest or len(sources) == 1 or record.leader_epoch != epoch:
            return 0
        return partition.epochs.end_offset(epoch - 1, epoch, partition.log_end_offset)[1]

    async def _edges(
        self, records: Sequence[VsegRecord], keys: Sequence[PartitionKey], after: bool
    ) -> dict[PartitionKey, int]:
        """What the neighbours on one side, the next one first, have of each partition: the end offset of
        those before, or the first offset of those ``after``. A partition that is in none of them is missing.

        A state frame tells of every partition with chunks before it, so nobody further away has to be asked:
        the others have none (0).
        """
        found: dict[PartitionKey, int] = {}
        for record in records:
            left = [key for key in keys if key not in found]
            if not left or record.open:
                break
            if record.unread:
                continue
            request = Look(record.id, record.end or 0, left)
            try:
                rows = await self._reach.ask(record, Api.CATALOG, request, decode_catalog)
                state = await self._reach.ask(record, Api.STATE, request, StateAnswer.decode)
            except NoCopyError as error:
                log.info("%s", error)
                continue
            told = {left[one.partition]: one.end_offset for one in state.states}
            for key, row in zip(left, rows, strict=True):
                if row.frame >= 0:
                    found[key] = row.first if after else row.end
                elif state.position >= 0:
                    found[key] = told.get(key, 0)
        return found

    # Pushing

    async def push(self, stretch: Stretch, wanted: Callable[[], bool] = lambda: True) -> None:
        """Push the chunks of ``stretch`` again, from where that stopped before, as long as it is ``wanted``.
        Raises LostError, and `NOT_NOW` when it has to be tried again."""
        partition = stretch.partition
        self._side(partition)
        stand_in = OldChunks(partition)
        while stretch.at < min(stretch.end, partition.high_watermark):
            size = self._pace.turn(READ_BYTES)
            await self._turn(size)
            if not wanted():
                raise NotHereError(f"{partition}: nobody wants it any more")
            # Of what was deleted meanwhile the store knows (rule 44). Beginning anew might never end.
            if stretch.at < partition.log_start_offset:
                stretch.at, stretch.follows = partition.log_start_offset, False
            if stretch.at >= stretch.end:
                break
            before, pushed = stretch.at, self.bytes
            try:
                pieces = await _read(partition, stretch.at, size)
                vlog = self._side(partition)
                for data in pieces:
                    for ref in stand_in.references(data, stretch.at, stretch.end):
                        self._append(stretch, vlog, ref)
            except (DamagedError, KafkaError) as error:
                raise NotHereError(f"{partition}: from offset {stretch.at} on: {error}") from error
            self._pace.correct(size, self.bytes - pushed)
            if stretch.at == before:
                raise NotHereError(f"{partition}: offset {before} cannot be read")
            if self._unacked >= WINDOW_BYTES:
                await _durable(vlog)
                self._unacked = 0
            await asyncio.sleep(REST_SECONDS)

    def _side(self, partition: Partition) -> VirtualLogPort:
        """Where its chunks go: elsewhere once it is to have more copies, since what is in the one before is
        widened at that moment (`widening`). Raises NotHereError."""
        if partition.copies == 1:
            raise NotHereError(f"{partition}: it is about to have this one copy, and no sources")
        if partition.deleted:
            raise NotHereError(f"{partition} is gone, and so are the virtual logs that only its topic had")
        vlog = self._vlogs.side(partition)
        self._sides[id(vlog)] = vlog
        return vlog

    async def _turn(self, size: int) -> None:
        """Wait until the limit on reads allows ``size`` bytes."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pace.take(size, partial(_release, future))
        await future

    def _append(self, stretch: Stretch, vlog: VirtualLogPort, ref: Any) -> None:
        partition, offset = stretch.partition, stretch.at
        if ref[3] > offset or (stretch.follows and ref[3] < offset):
            raise NotHereError(f"{partition}: offset {offset} is missing")
        check_epoch(partition, ref)
        if vlog.lost:
            raise LostError
        if vlog.blocked or partition.deleted or partition.handing_over:
            raise NotHereError(f"{partition} is not to be pushed again now")
        vlog.append(ref)
        stretch.at, stretch.follows = ref[4], True
        self._unacked += ref[6]
        self.bytes += ref[6]

    async def durable(self) -> None:
        """Wait until all that was pushed again is on backups, also in side virtual logs that partitions would
        not use any more (their configs or numbers of copies changed). Raises LostError."""
        for vlog in list(self._sides.values()):
            await _durable(vlog)

    # Saying so

    async def _report(self) -> None:
        """Tell the controller what was pushed again and is on backups now, as long as the records are
        there."""
        revision = self._metadata.image.revision
        rows = list(self._speakable(self._led())) if self._done else []
        side = self._vlogs.side_vlogs()
        if rows and self.is_copied(lambda vlog: vlog in side, self._done):
            for some in parts(rows):
                await self._metadata.propose("rewritten", {"vsegs": some, "revision": revision})

    def _speakable(self, led: dict[int, frozenset[PartitionKey]]) -> Iterator[list[int]]:
        """Those of which the controller may be told; those that are to be pushed again once more are done no
        longer."""
        for vseg, keys in list(self._done.items()):
            now = led.get(vseg.owner_epoch, frozenset())
            partitions = self._partitions[vseg]
            if not now <= keys or any(one.deleted for one in partitions if _key(one) in now):
                del self._done[vseg]  # others came meanwhile, or went and came back: again
            elif not any(one.handing_over for one in partitions) and self._knows(vseg, now):
                yield list(vseg)

    def is_copied(self, which: Callable[[int], bool], aside: Container[VsegId] = ()) -> bool:
        """Whether every virtual segment of ``which`` virtual logs of this owner has a copy elsewhere (18b):
        else they are no better than files here. Those ``aside`` are not waited for: what was pushed to them
        was pushed again since."""
        return all(
            record.empty or record.id in aside or self._has_copy(record)
            for record in self._metadata.table.of_owner(self._epoch())
            if which(record.id.vlog)
        )


def check_epoch(partition: Partition, ref: ChunkRef) -> None:
    """A chunk has to have the leader epoch it was appended under: copies with another one could not be read,
    and the right ones are given up for them. Raises DamagedError."""
    if not partition.epochs.agrees(ref[4] - 1, ref[5]):
        raise DamagedError(f"offset {ref[3]} was not appended under leader epoch {ref[5]}")


def check_here(stretch: Stretch) -> None:
    """All that is left to push has to be here. Raises NotHereError."""
    for first, after in stretch.partition.holes():
        if first < stretch.end and stretch.at < after:
            missing = max(first, stretch.at)
            raise NotHereError(f"{stretch.partition}: offset {missing} is not in files here yet")


def _key(partition: Partition) -> PartitionKey:
    return partition.topic_id, partition.index


def _release(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def _durable(vlog: VirtualLogPort) -> None:
    """Wait until all that was appended is on all copies. Raises LostError."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    vlog.when_durable(vlog.end, partial(_release, future))
    await future
    if vlog.lost:
        raise LostError


async def _read(partition: Partition, offset: int, size: int) -> list[memoryview]:
    """About ``size`` bytes of chunks from the one with ``offset`` on, in memory of their own."""
    pieces = partition.read(offset, size).pieces
    if any(isinstance(piece, RemoteRange) for piece in pieces):
        raise NotHereError(f"{partition}: offset {offset} is not in files here yet")
    return await in_memory(pieces)
