"""All virtual logs of one broker process: created on first use, wired to their pushers, journal and cleaner.

What ``broker`` uses: `assign` and `scan_point` (the log's ports), `apply_settings`, `tick`, `inherit` (after
a restart), `drain` and `close`. Virtual logs of an earlier process are never
continued (rule 2): they are only read, then deleted once their chunks are in synced segment files.

In a cluster, `replicate` comes first; then topics with several replicas get virtual logs with backups. What
the broker must tell: `members_changed` and `lose_ownership`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from kproto.check import check
from kproto.disk import NO_SPACE
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.cleaner import Cleaner, Closed
from kproto.vlog.crossing import Crossing
from kproto.vlog.frame import FILE_HEADER_SIZE
from kproto.vlog.inherited import Inherited
from kproto.vlog.journal import Journal, JournalFile
from kproto.vlog.kept import HEADLESS, Kept, LacksCopies
from kproto.vlog.large_states import LargeStates
from kproto.vlog.placement import Place, place
from kproto.vlog.pusher import Pusher
from kproto.vlog.scan_point import ScanStart, encode_starts
from kproto.vlog.side import FIRST_SIDE_ID, SIDE
from kproto.vlog.space import Space
from kproto.vlog.virtual_log import VirtualLog
from kproto.vlog.worker import Loop, Worker, Works

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.config import Settings
    from kproto.disk import Disk
    from kproto.log.ports import LogPartition, LogSegment, VirtualLogPort
    from kproto.metadata.vlogs import CopyTarget
    from kproto.vlog.classes import VlogClass
    from kproto.vlog.ports import Backups, Vsegs
    from kproto.vlog.recovery import Recovered
    from kproto.vlog.replicated import ReplicatedPusher
    from kproto.vlog.replication import Replication
    from kproto.vlog.virtual_segment import VirtualSegment

log = logging.getLogger(__name__)

JOURNAL_DIRECTORY: Final = "journal"
FIRST_SETTLE_S: Final = 3.0
"""Old journal files are left alone so long after the start: its first commits should not wait for their
syncs."""
SETTLE_S: Final = 1.0
"""How often old journal files are looked at."""
FORGET_S: Final = 0.001
LOOK_S: Final = 1.0
"""How often it is looked whether somebody deleted journal files that are written to, and for states that are
too large."""
DRAIN_S: Final = 5.0
"""How long the end of the process waits for backups, controller and disk."""


def _nobody() -> None:
    """Nobody asked to be told."""


def _one_copy(*_: object) -> int:
    """Without a cluster there are no backups, whatever replication factor a topic has."""
    return 1


def _perhaps(*_: int) -> bool:
    """Before metadata is there."""
    return True


def _nowhere(*_: int) -> bool:
    """Without a cluster the store has no virtual segments."""
    return False


def _file_bytes(settings: Settings) -> int:
    return min(settings.kproto_virtual_segment_bytes, settings.kproto_journal_bytes)


class VlogManager:
    """See the module docstring. ``owner_epoch`` is this process's broker epoch (rule 2).

    ``on_poison(reason)`` is called once, when a write or sync failed for another reason than a full disk:
    nothing is acked any more and the process must exit (rule 35).
    """

    lacks_copies: LacksCopies = staticmethod(_nowhere)
    """See `kept.LacksCopies`."""
    on_files_gone: Callable[[], object] = staticmethod(_nobody)
    """Called before `poison` tells of itself when somebody deleted files that are written to: others may be
    gone, too."""
    _kept: Kept | None = None
    _replication: Replication | None = None
    """With backups only."""
    _numbered = 0
    """Virtual logs made so far: a number is never used twice."""
    _drain_until: float | None = None
    _forgotten = False
    """A topic was deleted since the last look: what is done for its partitions is not to keep them."""
    _forgetting: Iterator[None] = iter(())
    _removing = 0
    """Bytes of journal files that are being deleted, and count until then."""

    def __init__(
        self,
        data_dir: str,
        settings: Settings,
        disk: Disk,
        clock: Clock,
        loop: Loop,
        owner_epoch: int,
        on_poison: Callable[[str], object],
        boot: bytes,
        make_worker: Callable[[Loop, str], Works] = Worker,
    ) -> None:
        self._disk = disk
        self._clock = clock
        self._loop = loop
        self._on_poison = on_poison
        self._take(settings)
        self.poisoned: str | None = None
        """Why nothing is acked any more."""
        self._sync_worker = make_worker(loop, "kproto-journal-sync")
        self._timed_worker = make_worker(loop, "kproto-timed-sync")
        self._clean_worker = make_worker(loop, "kproto-segment-sync")
        directory = os.path.join(data_dir, JOURNAL_DIRECTORY)
        self.journal = Journal(disk, directory, owner_epoch, boot, settings.kproto_journal_bytes)
        self.journal.remove, self.journal.sync_names = self._remove, self._sync_names
        self.space = Space(
            self.journal,
            loop,
            self._sync_worker,
            _file_bytes(settings),
            self.room_changed,
            self._press,
            self.poison,
        )
        self.on_flushed: Callable[[], object] = _nobody
        """Called when more of the journal is in segment files: a checkpoint now makes the next start
        quicker."""
        self.cleaner = Cleaner(
            self.journal,
            loop,
            self._clean_worker,
            clock,
            self._report_flushed,
            self.room_changed,
            self.space.failed,
            self.poison,
        )
        self.cleaner.deleted = self._deleted
        self._pushers: dict[Place, Pusher] = {}
        self._of: dict[VirtualLog, Pusher] = {}
        self._ended: set[Place] = set()
        """Virtual logs that only deleted topics had, until nothing is left of them, or that are too many
        since ``kproto.vlogs.per.broker`` was lowered."""
        self._large = LargeStates()
        self._inherited: Inherited | None = None
        self._next_settle = self._next_look = 0.0
        self._copies_of: Callable[[bytes, int], int] = _one_copy
        self._outgrown: dict[int, int] = {}
        self._retiring = False
        self._recorded = False
        """The store knows where the last segments with backups ended."""
        self.unsealed: Callable[[int, int, int], bool] = _perhaps
        """Whether the store does not know yet where a virtual segment of an earlier process, by owner epoch,
        virtual log and number, ended; asked for those with backups only."""

    # Backups

    def replicate(self, backups: Backups, vsegs: Vsegs, copies_of: Callable[[bytes, int], int]) -> None:
        """This broker is in a cluster: a partition has ``copies_of(topic id, partition)`` copies, the owner's
        included.

        To be called before the first partition is assigned.
        """
        from kproto.vlog.replication import Replication

        check(not self._pushers, "replication must be set up before the first virtual log")
        self._replication = Replication(
            backups,
            vsegs,
            self._clock,
            self._settings,
            self._lost,
        )
        self._copies_of = copies_of
        self._kept = Kept(self._disk, self.journal.directory, partial(self._remove, counted=0))
        self.cleaner.keep = self._keep

    def members_changed(self, node_ids: Iterable[int], drained: frozenset[int] = frozenset()) -> None:
        """``node_ids`` are the live brokers besides this one: backups that are none any more, or are being
        ``drained`` while there are enough others, are replaced, and virtual logs that have too few get more.
        May be called though nothing changed."""
        replication = self._replication
        members = tuple(sorted(node_ids))
        if replication is not None and (members, drained) != (replication.members, replication.drained):
            gone = replication.change_members(members, drained)
            for pusher in self._replicated():
                pusher.members_changed(gone)

    def follow_backups(self, epoch_of: Callable[[CopyTarget], int | None]) -> None:
        """``epoch_of(target)``: the broker epoch of a member that has this data directory; None: there is
        none. Looked at every now and then: a backup that lost its power, or its disk, may be a member again
        before anything is pushed to it."""
        if self._replication is not None:
            self._replication.epoch_of = epoch_of

    def follow_controller(self, heard: Callable[[], bool]) -> None:
        """``heard()``: the controller was, a moment ago. While it was not, who is slow is waited for."""
        if self._replication is not None:
            self._replication.heard = heard

    def lose_ownership(self) -> None:
        """The broker has learned that its owner epoch is over (rule 16): nothing that has backups becomes
        durable any more, and whoever waits is told. Virtual logs without backups go on: their journal is the
        only copy, whatever the epoch."""
        if self._replication is not None:
            self._replication.lose()

    def _lost(self) -> None:
        for pusher in self._replicated():
            pusher.fail()

    @property
    def lost(self) -> bool:
        """The owner epoch is over."""
        return self._replication is not None and self._replication.lost

    def covered(self, vlog_id: int) -> tuple[int, frozenset[tuple[bytes, int]]]:
        """The number of the segment with the newest durable state frame of a virtual log of this process, 0
        when there is none, and the partitions in it.

        An older virtual segment, of this or of an earlier owner, may be freed (rule 30) only when the
        partitions that have chunks in it are here and the segment is not this one or a later one.
        """
        for pusher in self._replicated():
            if pusher.vlog.vlog_id == vlog_id:
                return pusher.states.covered
        return 0, frozenset()

    def covers(self, owner_epoch: int, vlog_id: int, seq: int, partition: tuple[bytes, int]) -> bool:
        """Whether the state of ``partition`` is in a durable state frame of this process that stays when the
        given virtual segment, of this or of an earlier owner, and those before it are freed (rule 30): one
        of the virtual log that it appends to. Where it left another, it is older than what it appended since.
        """
        for pusher in self._replicated():
            number, partitions = pusher.states.covered
            same = (pusher.vlog.owner_epoch, pusher.vlog.vlog_id) == (owner_epoch, vlog_id)
            if partition not in partitions or (same and number <= seq):
                continue
            if pusher.states.is_current(partition, pusher.vlog):
                return True
        return False

    def side(self, partition: LogPartition) -> VirtualLogPort:
        """The virtual log of the partition's class for chunks that are pushed again (rule 45)."""
        return self._pusher(self._place(partition)._replace(number=SIDE)).vlog

    def side_vlogs(self) -> list[int]:
        """The numbers of the virtual logs that `side` made."""
        return [pusher.vlog.vlog_id for where, pusher in self._pushers.items() if where.number == SIDE]

    def take_outgrown(self) -> dict[int, int]:
        """Virtual logs with backups that partitions have left for others with more copies, or with more
        syncs, since the last call, and the most copies of those and of their own: what is in them wants as
        many, and is to be in closed virtual segments, which backups sync. An open one is in limbo after a
        loss of power."""
        outgrown, self._outgrown = self._outgrown, {}
        return outgrown

    def forget_topic(self, topic_id: bytes) -> None:
        """It was deleted: nobody needs the state of its partitions, wherever they were led at last."""
        self._forgotten = True
        for pusher in self._replicated():
            pusher.states.forget_topic(topic_id)
        self._end({where for where in self._pushers if where.klass.topic_id == topic_id})

    def _end(self, places: set[Place]) -> None:
        """Nobody appends there any more."""
        self.space.sharing -= places
        self._ended |= places

    def ended(self) -> list[int]:
        """Virtual logs with backups that are to `rest`, unless somebody appends there: those that nobody has
        any more, and those with a backup that is drained."""
        over = [self._pushers[where].vlog.vlog_id for where in self._ended if where.klass.copies > 1]
        return over + [one.vlog.vlog_id for one in self._replicated() if one.is_on_drained]

    def write_down(self, partition: LogPartition) -> None:
        """Have the state of ``partition`` in a state frame soon, though nothing is appended."""
        for pusher in self._replicated():
            if pusher.vlog is partition.vlog:
                pusher.write_down()

    def _replicated(self) -> list[ReplicatedPusher]:
        return [pusher for pusher in self._pushers.values() if pusher.klass.copies > 1]  # type: ignore[misc]

    # Partitions

    def assign(self, partition: LogPartition) -> VirtualLogPort:
        """Set ``partition.vlog`` to its virtual log, made if need be, and return it. Call again when the
        config of the partition or ``kproto.vlogs.per.broker`` changed.

        A partition moves once all it has is durable (rule 12); what it appends until then waits. Nothing is
        refused meanwhile.
        """
        current = partition.vlog
        if current is not None and (current.lost or isinstance(current, Crossing)):
            return current
        pusher = self._pusher(self._place(partition))
        if current is None:
            self._enter(partition, None, pusher)
        elif current is not pusher.vlog:
            check(isinstance(current, VirtualLog), "a partition appends to no virtual log of this broker")
            self._move(partition, current, pusher)  # type: ignore[arg-type]
        return partition.vlog or pusher.vlog

    def _move(self, partition: LogPartition, current: VirtualLog, pusher: Pusher) -> None:
        """Have ``partition`` append to the virtual log of ``pusher``, not to ``current``."""
        before = self._of[current]
        if before.klass.copies > 1:
            before.states.leave(partition)  # type: ignore[attr-defined]
        if partition.high_watermark >= partition.log_end_offset:
            self._enter(partition, current, pusher)
        else:
            crossing = partition.vlog = Crossing(current, pusher.vlog)
            current.when_durable(current.end, partial(self._land, partition, crossing))

    def _land(self, partition: LogPartition, crossing: Crossing) -> None:
        """All that ``partition`` had in the virtual log it leaves is durable, or lost."""
        if partition.vlog is not crossing or crossing.lost:
            for callback in crossing.sink():
                self._loop.call_soon(callback)
            return
        pusher = self._pusher(self._place(partition))
        self._enter(partition, crossing.source, pusher)
        crossing.land(pusher.vlog)

    def _enter(self, partition: LogPartition, before: VirtualLog | None, pusher: Pusher) -> None:
        """``partition`` appends to the virtual log of ``pusher`` from now on (rule 12); all it had in
        ``before`` is durable."""
        if before is not None and self._outgrows(klass := self._of[before].klass, pusher.klass):
            left = {before, *(one.vlog for where, one in self._pushers.items() if where == (klass, SIDE))}
            most = max(klass.copies, pusher.klass.copies)  # who leaves for fewer does not speak for others
            for number in (vlog.vlog_id for vlog in left):
                self._outgrown[number] = max(most, self._outgrown.get(number, 0))
        if self._brings_older(partition, before, pusher.klass.policy):
            pusher.older.add(partition)
        partition.vlog = pusher.vlog
        if pusher.klass.copies > 1:
            pusher.states.join(partition, self._clock.monotonic())  # type: ignore[attr-defined]

    def _brings_older(self, partition: LogPartition, current: VirtualLog | None, policy: FlushPolicy) -> bool:
        """Whether ``partition`` may have chunks that are synced less than those of a class with ``policy``
        (see `Older`). On opening only what the journal of an earlier process has: what is not in a synced one
        is synced before it is used."""
        if current is None:
            inherited = self._inherited
            known = inherited is not None and inherited.is_unsynced((partition.topic_id, partition.index))
            return known and policy > FlushPolicy.MEMORY
        before = self._of[current]
        pending = before.older.leave(partition)
        return policy > before.klass.policy or (pending and policy > FlushPolicy.MEMORY)

    @staticmethod
    def _outgrows(before: VlogClass, now: VlogClass) -> bool:
        """Whether what was left behind in backups is worth less than what comes (`take_outgrown`)."""
        more_syncs = before.policy < now.policy == FlushPolicy.SYNCED
        return before.copies > 1 and (before.copies < now.copies or more_syncs)

    def apply_settings(self, settings: Settings, partitions: Iterable[LogPartition]) -> None:
        """Follow a change of ``kproto.vlogs.per.broker``, ``kproto.virtual.segment.bytes`` and ``.ms``,
        ``kproto.direct.bytes``, ``kproto.backup.stall.ms`` or ``kproto.push.linger.max.ms`` while running.
        The size is that of the next segments."""
        self._take(settings)
        self.space.resize(_file_bytes(settings))
        if self._replication is not None:
            self._replication.follow(settings)
        for pusher in self._pushers.values():
            pusher.direct_from(self._direct_bytes)
        for partition in partitions:
            self.assign(partition)
        shared = (where for where in self._pushers if not where.klass.topic_id)
        self._end({where for where in shared if where.number >= self._per_broker})

    def _take(self, settings: Settings) -> None:
        self._settings = settings
        self._per_broker = settings.kproto_vlogs_per_broker
        self._direct_bytes = settings.kproto_direct_bytes

    def _place(self, partition: LogPartition) -> Place:
        copies = self._copies_of(partition.topic_id, partition.index)
        return place(partition.topic_id, partition.index, partition.config, self._per_broker, copies)

    def _pusher(self, where: Place) -> Pusher:
        pusher = self._pushers.get(where)
        if where in self._ended:  # there are to be as many again
            self._ended.remove(where)
            self.space.sharing.add(where)
        if pusher is None:
            self._numbered += 1
            number = self._numbered + (FIRST_SIDE_ID if where.number == SIDE else 0)
            vlog = VirtualLog(number, self.journal.owner_epoch, where.klass.copies)
            vlog.retiring = self._retiring and where.klass.copies > 1
            vlog.blocked = self.poisoned is not None or self.space.full or vlog.retiring
            pusher = self._make_pusher(vlog, where.klass)
            self._pushers[where] = pusher
            self._of[vlog] = pusher
            self.space.sharing.add(where)
        return pusher

    def _make_pusher(self, vlog: VirtualLog, klass: VlogClass) -> Pusher:
        worker = self._timed_worker if klass.policy is FlushPolicy.TIMED else self._sync_worker
        common = (vlog, klass, self.journal, self.space, self._loop, worker, self._clock, self)
        if self._replication is None or klass.copies == 1:
            return Pusher(*common, self._direct_bytes)
        from kproto.vlog.replicated import ReplicatedPusher

        pusher = ReplicatedPusher(self._replication, *common, 0)
        if self._replication.lost:
            pusher.fail()
        return pusher

    # What pushers, space and cleaner report

    def segment_closed(self, vlog: VirtualLog, segment: VirtualSegment, file: JournalFile) -> None:
        """Implements ``pusher.Owner``."""
        self.cleaner.add(Closed(vlog, segment, file))

    def poison(self, reason: str) -> None:
        """Implements ``pusher.Owner``."""
        if self.poisoned is None:
            self.poisoned = reason
            self.cleaner.stopped = True
            for pusher in self._pushers.values():
                pusher.stop()
                pusher.vlog.blocked = True
            if not self.space.closed and self._note_deleted(self._files()):
                self.on_files_gone()
            self._on_poison(reason)

    def _deleted(self, reason: str) -> None:
        """`poison`, for somebody else deleted a file: also others that are not open, perhaps."""
        self.on_files_gone()
        self.poison(reason)

    def _report_flushed(self) -> None:
        self.on_flushed()

    def _remove(self, path: str, counted: int) -> None:
        """Delete a file in the thread."""
        self._removing += counted
        self._clean_worker.submit(partial(self._disk.unlink, path), partial(self._removed, counted))

    def _removed(self, counted: int, error: BaseException | None) -> None:
        self._removing -= counted
        if error is not None:
            poison = self._deleted if isinstance(error, FileNotFoundError) else self.poison
            poison(f"deleting a journal file: {error}")
            return
        self.journal.unreserve(counted)
        self.room_changed()

    def _sync_names(self, then: Callable[[], object]) -> None:
        """Sync the journal's directory in the thread."""
        sync = partial(self._disk.sync_directory, self.journal.directory)
        self._clean_worker.submit(sync, partial(self._names_synced, then))

    def _names_synced(self, then: Callable[[], object], error: BaseException | None) -> None:
        if error is not None:
            self.poison(f"fsync of the journal's directory: {error}")
            return
        then()
        self.room_changed()

    def keep(self, path: str, vseg: tuple[int, int, int]) -> bool:
        """Implements ``inherited.Owner``: keep the closed file if too few brokers have copies."""
        if self._kept is None or not self.lacks_copies(*vseg):
            return False
        self._kept.keep(path, vseg)
        return True

    def _keep(self, closed: Closed) -> bool | None:
        """Whether the file is kept, and counts for the journal no more (rule 18b); or was to be, and is left
        as it is, for that failed. None: the full disk has no room for another name."""
        vlog, segment, file = closed
        vseg = vlog.owner_epoch, vlog.vlog_id, segment.number
        if self._kept is None or not self.lacks_copies(*vseg):
            return False
        try:
            self._disk.truncate(file.fd, FILE_HEADER_SIZE + segment.end - segment.start)
            self._kept.keep(file.path, vseg)
        except OSError as error:
            if error.errno in NO_SPACE:
                return None
            self.poison(f"{file.path}: {error}")
            return True
        file.close()
        self.journal.unreserve(file.size)
        return True

    def _press(self) -> bool:
        """A file is wanted and the limit or the disk says no: hurry, and close what nobody appends to. True
        when room will come of it: something is closed, or being deleted."""
        if not self.cleaner.closed:
            for pusher in self._pushers.values():
                if pusher.idle and pusher.klass.copies == 1:
                    pusher.roll()
        self.cleaner.press()
        if self._inherited is not None:
            self._inherited.sync()
        return bool(self.cleaner.closed) or self._removing > 0

    def room_changed(self) -> None:
        """Implements ``inherited.Owner``: look again whether there is room for frames."""
        blocked = self.poisoned is not None or self.space.full
        for pusher in self._pushers.values():
            pusher.vlog.blocked = blocked or pusher.vlog.lost or pusher.vlog.retiring
            if pusher.wants_room:
                pusher.wake()

    # Restart

    def scan_start(self) -> list[ScanStart]:
        """Where the scan of each virtual log would have to begin if the process died now.

        Ask in the same turn of the loop in which the flushed positions of the checkpoint are collected.
        """
        starts: list[ScanStart] = []
        for vlog in self._of:
            if not vlog.segments:
                continue
            for segment in vlog.segments:
                stripe = segment.needed_from("flushed")
                if stripe is None and segment.frames:
                    stripe = segment.stripes[-1]
                if stripe is not None:
                    break
            position, chain = (stripe.start, stripe.chain) if stripe else (segment.durable, segment.chain)
            starts.append(ScanStart(vlog.owner_epoch, vlog.vlog_id, segment.number, position, chain))
        return starts

    def scan_point(self) -> bytes:
        """`scan_start` as bytes for the checkpoint (``LogPorts.scan_point``)."""
        return encode_starts(self.scan_start())

    def inherit(
        self,
        recovered: Recovered,
        settled: Callable[[bytes, int, int], bool],
        unsynced: Callable[[bytes, int], Sequence[LogSegment] | None],
    ) -> None:
        """Keep the files of ``recovered`` until ``settled(topic id, partition, end offset)`` holds for all
        that is in them. `tick` asks, and has the segments that ``unsynced(topic id, partition)`` names
        synced; opening the partitions and flushing what was recovered is the log's part.
        """
        parts = self.journal, self.space, self.cleaner, self._clean_worker, self._clock, self
        self._inherited = Inherited(recovered, settled, unsynced, *parts)
        self._next_settle = self._clock.monotonic() + FIRST_SETTLE_S
        self._drop_inherited()

    def _drop_inherited(self) -> None:
        if self._inherited is not None:
            self._inherited.drop()
            if self._inherited.gone:
                self._inherited = None

    # Time and end

    def tick(self) -> None:
        """Several times a second: work that is due for no other reason."""
        self.cleaner.work()
        now = self._clock.monotonic()
        if self._replication is not None:
            for pusher in self._replicated():
                pusher.tick(now)
        for where in [one for one in self._ended if self._pushers[one].wind_up()]:
            if where.klass.copies > 1 and not where.klass.topic_id:
                continue  # others may be to read what partitions had there, as `leave_behind` tells
            self._ended.remove(where)
            del self._of[self._pushers.pop(where).vlog]
        if now >= self._next_settle and (self._inherited is not None or self._kept):
            self._next_settle = now + SETTLE_S
            if self._kept is not None:
                self._kept.sweep(self.lacks_copies)
            self._drop_inherited()
            if self._inherited is not None:
                self._inherited.sync()
        if now >= self._next_look:
            self._next_look = now + LOOK_S
            self._look_for_deleted()
            self._large.look(self._replicated())
            if self._forgotten:
                self._forgotten = False
                self._forgetting = chain(*(one.forget_done() for vlog in self._of for one in vlog.segments))
        until = now + FORGET_S
        for _ in self._forgetting:
            if self._clock.monotonic() >= until:
                break

    def _look_for_deleted(self) -> None:
        """A file that somebody deleted is poison while frames go into it, not only when it is given back."""
        for file in self._files():
            if self.poisoned is None and file.deleted:
                self.poison(f"{file.path}: somebody deleted it")

    def _files(self) -> list[JournalFile]:
        """Those with names that this process has open."""
        files = [pusher.file for pusher in self._pushers.values()]
        files += [closed.file for closed in self.cleaner.closed]
        return [file for file in files if file is not None]

    def _note_deleted(self, files: Iterable[JournalFile]) -> bool:
        """Whether somebody deleted some of them, or that cannot be told. What is left in their place tells
        that they were begun (18b): of a class that syncs no loss of power would explain a missing one."""
        return sum(map(self._is_noted, files)) > 0

    def _is_noted(self, file: JournalFile) -> bool:
        """The same of one. There may be no room for a byte, and the directory may be gone, too."""
        try:
            if not file.deleted:
                return False
            self._disk.makedirs(self.journal.directory)
            self._disk.close(self._disk.open(file.path + HEADLESS, create=True))
        except OSError:  # no room for a name, or worse
            pass
        return True

    @property
    def stuck(self) -> bool:
        """Waiting helps no more: the directory is poisoned, the disk is full, or, since the first `drain`,
        backups, controller and disk had `DRAIN_S` and several stall times. A `drain` might not end; what was
        acknowledged is in the journal."""
        late = self._drain_until is not None and self._clock.monotonic() >= self._drain_until
        return self.poisoned is not None or self.space.full or late

    def drain(self) -> bool:
        """Push what is pending; True when everything appended is durable. Call until it is, or `stuck`."""
        if self._drain_until is None:
            stall_s = self._settings.kproto_backup_stall_ms / 1000
            self._drain_until = self._clock.monotonic() + DRAIN_S + 4 * stall_s
        for pusher in list(self._pushers.values()):  # one that nobody uses any more may go with its last push
            pusher.run()
        return all(pusher.idle for pusher in self._pushers.values())

    def retire(self) -> None:
        """Take no more appends for partitions with several copies: they are handed over (rule 12b)."""
        self._retiring = True
        for pusher in self._replicated():
            pusher.vlog.retiring = pusher.vlog.blocked = True

    def retired(self) -> bool:
        """Everything that was appended before `retire` is durable, and the store knows every segment; pushes
        what is not."""
        for pusher in self._replicated():
            pusher.run()
        return all(pusher.idle and not pusher.opening for pusher in self._replicated())

    def leave_behind(self) -> dict[int, int]:
        """Begin a new segment of every virtual log with backups, for what is durable now is to be read by
        others (rule 12b). Returns the last number of each that has something; see `left_behind`."""
        marks = {pusher.vlog.vlog_id: pusher.leave_behind() for pusher in self._replicated()}
        return {vlog: number for vlog, number in marks.items() if number > 0}

    def left_behind(self, marks: Mapping[int, int]) -> bool:
        """Whether the store knows the ends of all segments up to these."""
        return all(
            pusher.resting or pusher.vlog.numbered > marks.get(pusher.vlog.vlog_id, -1)
            for pusher in self._replicated()
        )

    def rest(self, vlog_ids: Iterable[int]) -> list[tuple[int, int, int]]:
        """Close the last segments of virtual logs that nobody appends to any more. Returns (virtual log,
        number, end) of those, for the store; then call `rested`."""
        wanted = set(vlog_ids)
        found = [(one.vlog.vlog_id, one.rest()) for one in self._replicated() if one.vlog.vlog_id in wanted]
        return [(vlog, *end) for vlog, end in found if end is not None]

    def rested(self, ends: Iterable[tuple[int, int, int]]) -> None:
        """The store knows what `rest` returned."""
        known = {vlog: (number, end) for vlog, number, end in ends}
        for pusher in self._replicated():
            if pusher.vlog.vlog_id in known:
                pusher.rested(known[pusher.vlog.vlog_id])

    def finish(self) -> list[tuple[int, int, int]]:
        """After a drain: push no more, and say where each virtual log with backups ended, as (virtual log,
        number of the last segment, its end). Tell the store, then call `recorded`: nothing is left to be
        sealed by the next start (rules 2b and 20)."""
        ends: list[tuple[int, int, int]] = []
        for pusher in self._replicated():
            last = pusher.last_end
            pusher.stop()
            if last is not None:
                ends.append((pusher.vlog.vlog_id, *last))
        return ends

    def recorded(self) -> None:
        """The store has what `finish` returned."""
        self._recorded = True

    def await_threads(self) -> None:
        """Wait until they have done what they were given; they tell of it in the next turn of the loop."""
        for worker in (self._sync_worker, self._timed_worker, self._clean_worker):
            worker.close()

    def close(self) -> None:
        """Stop. After a drain, and with all segments flushed and synced, no journal file is left behind, but
        for those of segments with backups whose end the store does not know (rule 18b). Nor does a loss of
        power bring one back, of which it may have taken anything: after a clean stop that would be damage."""
        self.space.closed = True
        self.cleaner.stopped = True
        self.journal.remove = self.journal.remove_now
        files = [(pusher, pusher.vlog.open_segment, pusher.close()) for pusher in self._pushers.values()]
        self.await_threads()
        if not self._recorded and self.poisoned is None:
            self._look_for_deleted_at_last([file for one, _, file in files if file and one.klass.copies > 1])
        for pusher, segment, file in files:
            if file is None or segment is None:
                continue
            pusher.vlog.close()
            if pusher.klass.copies > 1 and not self._recorded and self.poisoned is None:
                self._leave(segment, file)
            else:
                self.cleaner.closed.append(Closed(pusher.vlog, segment, file))
        try:
            if self.poisoned is None:
                if self._inherited is not None:
                    self._inherited.finish()
                while self.poisoned is None and self.cleaner.let_go(self._discard):
                    pass
            self.journal.close()
            if self.poisoned is None:
                self._disk.sync_directory(self.journal.directory)
        except OSError as error:  # the others stay, too: the next start takes them as they are
            self.poison(f"a journal file that is not needed any more: {error}")
        for left in self.cleaner.closed:
            left.file.close()

    def _discard(self, file: JournalFile) -> None:
        self.journal.discard(file, file.size)

    def _look_for_deleted_at_last(self, files: Sequence[JournalFile]) -> None:
        """Among those that the next start needs: since the last look, a moment ago."""
        if self._note_deleted(files):
            self._deleted("somebody deleted files of the journal")

    def _leave(self, segment: VirtualSegment, file: JournalFile) -> None:
        """Keep the file of a last segment for the next start, no longer than it has to be."""
        try:
            self._disk.truncate(file.fd, FILE_HEADER_SIZE + segment.end - segment.start)
            file.sync()
        except OSError as error:
            self.poison(f"{file.path}: {error}")
        file.close()

    def state(self) -> list[dict[str, Any]]:
        """One row for each virtual log, for people."""
        return [
            {
                "copies": where.klass.copies,
                "policy": where.klass.policy.name.lower(),
                "topic_id": where.klass.topic_id.hex(),
                "lasting": where.klass.lasting,
                "number": where.number,
                **pusher.vlog.state(),
                **pusher.state(),
            }
            for where, pusher in self._pushers.items()
        ]
