"""What other brokers ask of the copies here: PUSH, SEAL, STATE, READ, CATALOG, RAW, REPAIR.

Handlers for `kproto.net.internal.InternalListener`. Owners push; the controller seals and orders repairs; new
leaders and repairing stores read. Reads run in a worker thread and answer when they are done. Errors of
answers: ``UNKNOWN`` (nothing of this vseg here), ``LIMBO``, ``GAP`` (the copy ends earlier), ``CONFLICT``
(damaged: ask another copy), ``BAD_REQUEST`` (it makes no sense, or begins or ends inside a frame).
"""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from kproto.metadata.vlogs import VlogTable, VsegId, VsegRecord
from kproto.replica.awaited import AwaitedReads, UnwantedError, Wanted
from kproto.replica.catalogs import Catalogs, look_up
from kproto.replica.copies import Copy
from kproto.replica.messages import (
    NOTHING,
    PUSH_ANSWER,
    CatalogRow,
    Look,
    Raw,
    Read,
    Seal,
    Sealed,
    StateAnswer,
    encode_catalog,
    encode_read_answer,
)
from kproto.replica.pace import Pace
from kproto.replica.reading import DamagedError, Extent, MisplacedError, Selection, select, state_at
from kproto.replica.repair import Repairer, is_whole
from kproto.replica.rules import Presence, Push, Worth, eligible
from kproto.replica.store import ReplicaStore
from kproto.replica.stored_file import Inspection, inspect
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import FILE_HEADER_SIZE
from kproto.vlog.journal import file_name as journal_name
from kproto.vlog.kept import EMPTIED, HEADLESS, KEPT
from kproto.wire.internal import Api, InternalError
from kproto.wire.primitives import WireError
from kproto.wire.push import PushHead

if TYPE_CHECKING:
    from kproto.metadata.image import MetadataImage
    from kproto.net.internal import Caller, InternalListener, Reply
    from kproto.net.ports import PeersPort

log = logging.getLogger(__name__)

INSPECTED_S: Final = 30.0
"""So long a journal that was found to be whole is taken for that, by who makes a copy of it, too: waiting for
its turn it asks again and again."""
PUSH_ERRORS: Final = {
    Push.STORE: InternalError.NONE,
    Push.REPEATED: InternalError.NONE,
    Push.FENCED: InternalError.FENCED,
    Push.GAP: InternalError.GAP,
    Push.CONFLICT: InternalError.CONFLICT,
    Push.LIMBO: InternalError.LIMBO,
    Push.CLOSED: InternalError.REFUSED,
    Push.POISONED: InternalError.REFUSED,
    Push.MALFORMED: InternalError.BAD_REQUEST,
    Push.FULL: InternalError.FULL,
}
WORTH_ERRORS: Final = {
    Worth.ABSENT: InternalError.UNKNOWN,
    Worth.LIMBO: InternalError.LIMBO,
    Worth.CORRUPT: InternalError.CONFLICT,
    Worth.REPAIR: InternalError.GAP,
}


class ReplicaService:
    """See the module's text. All methods on the loop."""

    def __init__(
        self, store: ReplicaStore, peers: PeersPort, journal_directory: str, read_rate: int = 0
    ) -> None:
        self.store = store
        self.pace = Pace(store.loop, store.clock, read_rate)
        self.journal_directory = journal_directory
        self.catalogs = Catalogs(store)
        self.repairer = Repairer(store, peers, journal_directory, self.pace)
        self._reads = AwaitedReads(lambda: store.workers.reads, store.clock)
        self._journals: dict[VsegId, Copy] = {}
        """Journals of this broker that are read like copies."""
        self._looking: dict[VsegId, list[Callable[[Copy | None], object]]] = {}
        """Who waits for the look at a journal that is under way."""
        self._inspected: dict[VsegId, float] = {}
        """When (monotonic seconds)."""
        self._unsound: set[VsegId] = set()
        """Those that turned out not to have all that they should, or damaged."""
        self.pushes = 0
        self.push_bytes = 0
        self.refused = 0
        """Pushes that were not stored, for whatever reason."""
        store.on_damage = self._damaged
        store.was_begun = self._was_begun
        self.on_damage: Callable[[VsegId, str], object] = _log_damage
        """A copy turned out to be damaged, or an owner broke its promise: for the operator, and for whoever
        asks the controller for a repair."""

    def _damaged(self, vseg: VsegId, problem: str) -> None:
        self.on_damage(vseg, problem)

    def register(self, listener: InternalListener) -> None:
        """Answer the requests to backups on ``listener``."""
        listener.serve(Api.PUSH, self.push, borrowing=True)
        listener.serve(Api.SEAL, self.seal)
        listener.serve(Api.STATE, self.state)
        listener.serve(Api.READ, self.read)
        listener.serve(Api.CATALOG, self.catalog)
        listener.serve(Api.RAW, self.raw)
        listener.serve_async(Api.REPAIR, self.repairer.handle)

    def apply(self, image: MetadataImage, table: VlogTable) -> None:
        """A newer revision of metadata; for `apply_table`."""
        self.apply_table(table, frozenset(broker.epoch for broker in image.brokers.values()))

    def apply_table(self, table: VlogTable, live: frozenset[int]) -> None:
        """Delete what metadata gave up, finish what it closed. ``live`` are the epochs of the live members at
        the revision of ``table``."""
        self.store.apply(table, live)

    # Owners

    def push(self, _caller: Caller, body: memoryview, reply: Reply) -> None:
        """Api.PUSH. The body may be borrowed, unless it is larger than `BYTES_A_TURN`."""
        if not body:
            reply(InternalError.BAD_REQUEST)
            return
        self.pushes += 1
        self.push_bytes += len(body)
        if not body[0]:
            self.store.push(None, body[1:], partial(self._pushed, reply))
            return
        try:
            head = PushHead.decode(body)
        except WireError:
            reply(InternalError.BAD_REQUEST)
            return
        if head.store_id not in ("", self.store.me.store_id):
            self.refused += 1
            reply(InternalError.UNKNOWN)
            return
        frame_at = head.end + (FILE_HEADER_SIZE if head.first else 0)
        first = body[head.end : frame_at] if head.first else None
        self.store.push(first, body[frame_at:], partial(self._pushed, reply), head.known)

    def _pushed(self, reply: Reply, verdict: Push, end: int) -> None:
        error = PUSH_ERRORS[verdict]
        if error:
            self.refused += 1
            if verdict is Push.CONFLICT or verdict is Push.MALFORMED:
                log.error("a push was refused (%s): the copy here ends at %d", verdict.value, end)
        reply(error, PUSH_ANSWER.pack(end))

    # The controller

    def seal(self, _caller: Caller, body: memoryview, reply: Reply) -> None:
        """Api.SEAL."""
        request = Seal.decode(body)
        if request.store_id not in ("", self.store.me.store_id):
            reply(InternalError.UNKNOWN)
            return
        if self.store.poisoned:
            reply(InternalError.REFUSED)
            return
        if request.journal:
            self._seal_journal(request, reply)
            return

        def sealed(position: int, usable: bool) -> None:
            if self.store.state.suspect and not usable:
                reply(InternalError.WAIT)  # the first metadata tells; LIMBO would be believed
            else:
                copy = self.store.copies.get(request.vseg)
                torn, durable = (copy.torn, copy.durable) if copy is not None else (False, 0)
                reply(InternalError.NONE, Sealed(position, not usable, torn, durable).encode())

        def fenced(position: int, usable: bool) -> None:
            if usable and request.thorough:
                self._read_through(request.vseg, lambda: self.store.seal(request.vseg, request.fence, sealed))
            else:
                sealed(position, usable)

        self.store.seal(request.vseg, request.fence, fenced)

    def _read_through(self, vseg: VsegId, then: Callable[[], object]) -> None:
        """Read the file of a copy to which nothing is added any more. One that lacks what this process once
        stored is damaged, and cannot say where the vseg ends (24c)."""
        copy = self.store.copies.get(vseg)
        if copy is None:
            then()
            return
        end, found = copy.end, list[Inspection]()
        look = partial(inspect, self.store.disk, copy.path, vseg, True)
        copy.pins += 1

        def look_twice() -> None:
            one = look()
            found.append(look() if one.presence is Presence.UNREADABLE else one)  # it might have been once

        def read(error: BaseException | None) -> None:
            copy.pins -= 1
            one = found[0] if error is None else Inspection(Presence.UNREADABLE, problem=str(error))
            if self.store.copies.get(vseg) is copy and not (one.header is not None and one.end >= end):
                lost = Presence.READABLE if one.header is not None else Presence.UNREADABLE
                problem = one.problem or f"{copy.path}: damaged at position {one.end} of {end}"
                copy.take(one._replace(presence=lost, proven=True, problem=problem))
                log.error("the copy of virtual segment %s is none: %s", vseg, problem)
                self.store.report_unfit(vseg, copy)
            self.store.released(copy)
            then()

        self.store.workers.reads.submit(look_twice, read)

    def _seal_journal(self, request: Seal, reply: Reply) -> None:
        """The owner's own copy, from the journal of an earlier process of it (rule 18b)."""
        path = os.path.join(self.journal_directory, journal_name(*request.vseg))
        found: list[Inspection] = []
        record = self.store.table.vsegs.get(request.vseg)
        synced = record is not None and record.policy == FlushPolicy.SYNCED
        begun = True

        def look() -> None:
            nonlocal begun
            found.append(inspect(self.store.disk, path, request.vseg, True))
            begun = self._was_begun(request.vseg, synced)

        def never_begun(one: Inspection, vseg: VsegId) -> bool:
            """The store recorded it, but its owner ended before it heard of that, or could not write: no
            journal file was made, and none was lost with the power, or without its header."""
            missing = one.presence is Presence.MISSING and not begun
            return missing and not self.store.state.may_lack(vseg)

        def done(error: BaseException | None) -> None:
            if error is not None or not (found[0].header or never_begun(found[0], request.vseg)):
                reply(InternalError.UNKNOWN)
                return
            one = found[0]
            if one.header is None:
                reply(InternalError.NONE, Sealed(NOTHING, False).encode())
                return
            limbo = request.vseg in self.store.state.limbo or not self.store.journal_is_whole(one)
            reply(InternalError.NONE, Sealed(one.end, limbo).encode())

        self.store.workers.reads.submit(look, done)

    def _was_begun(self, vseg: VsegId, synced: bool = False) -> bool:
        """The journal has a file of it, with its header or without; or that cannot be told. If frames wait
        until the header is ``synced``, one that a start has `EMPTIED` has lost nothing."""
        name = journal_name(*vseg)
        try:
            names = self.store.disk.listdir(self.journal_directory)
            there = [one for one in (name, name + HEADLESS) if one in names]
            return any(not synced or self._size(one) != EMPTIED for one in there)
        except OSError:
            return True

    def _size(self, name: str) -> int:
        """Bytes of a file of the journal. OSError passes through."""
        fd = self.store.disk.open(os.path.join(self.journal_directory, name), write=False)
        try:
            return self.store.disk.size(fd)
        finally:
            self.store.disk.close(fd)

    # New leaders, and stores that repair a copy

    def state(self, _caller: Caller, body: memoryview, reply: Reply) -> None:
        """Api.STATE."""
        request = Look.decode(body)
        wanted = self._wanted(reply, request.patience_ms)

        def found(copy: Copy, extent: Extent) -> None:
            position = copy.state_before(extent.end)
            if position < 0:
                reply(InternalError.NONE, *StateAnswer(NOTHING, copy.start, []).encode())
                return
            job = partial(state_at, self.store.disk, extent._replace(begin=position), request.partitions)
            self._run(copy, job, wanted, reply, lambda answer: reply(InternalError.NONE, *answer.encode()))

        self._usable(request.vseg, request.fence, None, request.end, reply, found)

    def read(self, caller: Caller, body: memoryview, reply: Reply) -> None:
        """Api.READ."""
        request = Read.decode(body)
        wanted = self._wanted(reply, request.patience_ms)
        size = self.pace.turn(request.max_bytes) if request.background else request.max_bytes
        taken = 0

        def found(copy: Copy, extent: Extent) -> None:
            nonlocal taken
            job = partial(select, self.store.disk, extent, request.partitions, request.offsets, size)
            run = partial(self._run, copy, job, wanted, failed, chosen)
            if request.background:
                taken = min(size, extent.end - extent.begin)
                self._in_turn(copy, taken, run, reply, (caller, None))
            else:
                run()

        def chosen(found: Selection) -> None:
            self._count(taken, sum(map(len, found.pieces)))
            reply(InternalError.NONE, *encode_read_answer(found.next, found.rows, found.pieces))

        def failed(error: int) -> None:
            self._count(taken, 0)
            reply(error)

        self._usable(request.vseg, request.fence, request.begin, request.end, reply, found)

    def catalog(self, _caller: Caller, body: memoryview, reply: Reply) -> None:
        """Api.CATALOG."""
        request = Look.decode(body)
        wanted = self._wanted(reply, request.patience_ms)

        def found(copy: Copy, extent: Extent) -> None:
            job: Callable[[], list[CatalogRow]]
            if copy is self._journals.get(copy.vseg):
                job = partial(look_up, self.store.disk, extent, request.partitions)
            else:
                job = self.catalogs.look_up(copy, extent, request.partitions)
            self._run(
                copy,
                job,
                wanted,
                reply,
                lambda rows: reply(InternalError.NONE, encode_catalog(rows)),
            )

        self._usable(request.vseg, request.fence, None, request.end, reply, found)

    def raw(self, caller: Caller, body: memoryview, reply: Reply) -> None:
        """Api.RAW: bytes of the file, never beyond the copy's end; perhaps fewer than were asked for."""
        request = Raw.decode(body)
        wanted = self._wanted(reply, request.patience_ms)
        if request.begin == 0 and request.vseg not in self._unsound:
            looked_at = self._inspected.get(request.vseg, -math.inf)
            if self.store.clock.monotonic() > looked_at + INSPECTED_S:
                self._journals.pop(request.vseg, None)  # damage since would be copied again and again

        def found(copy: Copy, extent: Extent) -> None:
            length = self.pace.turn(max(min(request.length, copy.base + extent.end - request.begin), 0))
            job = partial(_read_raw, self.store, copy.path, request.begin, length)

            def chosen(data: bytes) -> None:
                self._count(length, len(data))
                reply(InternalError.NONE, data)

            def failed(error: int) -> None:
                self._count(length, 0)
                reply(error)

            run = partial(self._run, copy, job, wanted, failed, chosen)
            self._in_turn(copy, length, run, reply, (caller, request.vseg))

        self._usable(request.vseg, 0, None, None, reply, found)

    def _usable(
        self,
        vseg: VsegId,
        fence: int,
        begin: int | None,
        end: int | None,
        reply: Reply,
        found: Callable[[Copy, Extent], None],
    ) -> None:
        """``found(copy, extent)`` when an eligible copy covers ``[begin, end)`` (rules 22 and 23), clipped
        (rule 15); else the error goes to ``reply``. ``fence`` as in SEAL: recovery reads fence, too (20).
        None: from its start, or up to its end."""

        def loaded(copy: Copy | None) -> None:
            if fence or (copy is not None and eligible(self.store.worth(vseg, copy))):
                whole(copy)
            elif self._has_not_heard(vseg):
                reply(InternalError.REFUSED)  # UNKNOWN would be taken for having no journal either
            else:
                self._find_journal(vseg, lambda found: whole(found or copy))

        def whole(copy: Copy | None) -> None:
            if self.store.poisoned:
                reply(InternalError.REFUSED)  # memory may have what the disk has not (35)
                return
            worth = self.store.worth(vseg, copy)
            if copy is None or not eligible(worth):
                reply(WORTH_ERRORS.get(worth, InternalError.UNKNOWN))
                return
            closed = self.store.closed_end(vseg)
            wanted = copy.end if end is None else end
            last = copy.usable_end(wanted, closed)
            if last < (wanted if closed is None else min(wanted, closed)):
                reply(InternalError.GAP)
                return
            first = copy.start if begin is None else begin
            if first < copy.start:
                reply(InternalError.BAD_REQUEST)
                return
            found(copy, Extent(copy.path, vseg, copy.base, first, last))

        if fence > vseg.owner_epoch:
            self.store.fences.add(vseg.owner_epoch, lambda: self.store.find(vseg, loaded))
        else:
            self.store.find(vseg, loaded)

    def in_journal(self, records: Iterable[VsegRecord]) -> set[VsegId]:
        """Those of which the owner's own copy is here, in its journal: others can be made from it (18b). Not
        of one that was cut where a power loss tore it, nor of one that was not sound when somebody asked for
        it: no start reads all of them, and what is copied from it is no copy."""
        mine = {journal_name(*one.id): one for one in records if one.store_id == self.store.me.store_id}
        names = self.store.disk.listdir(self.journal_directory) if mine else ()
        found = [(name, mine[name.removesuffix(KEPT)]) for name in names if name.removesuffix(KEPT) in mine]
        found = [(name, one) for name, one in found if one.id not in self._unsound]
        return {one.id for name, one in found if self._is_long_enough(name, one)}

    def _is_long_enough(self, name: str, record: VsegRecord) -> bool:
        try:
            return self._size(name) >= FILE_HEADER_SIZE + (record.end or 0) - record.start
        except OSError:
            return False

    def _has_not_heard(self, vseg: VsegId) -> bool:
        """It is this broker's own, and where it ends has not been heard here yet; or nothing has, of
        anything, so that it may be, as while it starts: who asks knows already."""
        table = self.store.table
        record = table.vsegs.get(vseg)
        own_open = record is not None and record.open and record.store_id == self.store.me.store_id
        return own_open or not table.revision

    def _find_journal(self, vseg: VsegId, done: Callable[[Copy | None], object]) -> None:
        """The owner's own copy of a closed vseg, in its journal: asked for when no backup has one (18b)."""
        record = self.store.table.vsegs.get(vseg)
        known = self._journals.get(vseg)
        if known is not None and known.presence is Presence.READABLE:
            done(known)
            return
        if record is None or record.open or record.store_id != self.store.me.store_id:
            done(None)
            return
        if vseg in self._looking:
            self._looking[vseg].append(done)
            return
        self._looking[vseg] = [done]
        path = os.path.join(self.journal_directory, journal_name(*vseg))
        found: list[tuple[str, Inspection]] = []

        def look() -> None:
            for name in (path, path + KEPT):
                inspection = inspect(self.store.disk, name, vseg, True)
                if inspection.header is not None:
                    found.append((name, inspection))
                    return

        def inspected(error: BaseException | None) -> None:
            waiting = self._looking.pop(vseg)
            if not (found and is_whole(found[0][1], record)) and self.in_journal([record]):
                self._unsound.add(vseg)
                log.warning("the journal of virtual segment %s is here, but damaged: it is no copy", vseg)
            copy = self._note_journal(vseg, *found[0]) if error is None and found else None
            for each in waiting:
                each(copy)

        self.store.workers.reads.submit(look, inspected)

    def _note_journal(self, vseg: VsegId, path: str, found: Inspection) -> Copy:
        """It can be read like a copy."""
        known = self.store.table.vsegs
        self._journals = {each: one for each, one in self._journals.items() if each in known or one.pins}
        self._inspected = {each: at for each, at in self._inspected.items() if each in self._journals}
        self._inspected[vseg] = self.store.clock.monotonic()
        self._unsound &= known.keys()
        copy = self._journals[vseg] = Copy(vseg, path)
        copy.take(found)
        return copy

    def _in_turn(
        self, copy: Copy, size: int, run: Callable[[], None], reply: Reply, who: tuple[Caller, VsegId | None]
    ) -> None:
        """``run()`` when the limit on reads allows ``size`` bytes, or the caller is told to ask again; the
        file keeps its bytes meanwhile. A caller repairs several at once, but reads one after the other."""
        copy.pins += 1

        def go() -> None:
            copy.pins -= 1
            run()

        def again() -> None:
            copy.pins -= 1
            self.store.released(copy)
            reply(InternalError.WAIT)

        self.pace.take(size, go, again, who)

    def _count(self, taken: int, size: int) -> None:
        """A read of ``size`` bytes is done; it had a turn for ``taken``, or 0: it did not wait."""
        if taken:
            self.pace.correct(taken, size)
        else:
            self.pace.at_once(size)

    def _wanted(self, reply: Reply, patience_ms: int) -> Wanted:
        """Tells whether who asks now still waits when there is an answer, and takes it."""
        clock = self.store.clock
        until = clock.monotonic() + patience_ms / 1000 if patience_ms else math.inf
        return lambda seconds: reply.wanted and clock.monotonic() + seconds < until

    def _run(
        self,
        copy: Copy,
        job: Callable[[], Any],
        wanted: Wanted,
        refuse: Callable[[int], object],
        answer: Callable[[Any], object],
    ) -> None:
        """Run ``job`` in the reading worker, if it is still ``wanted`` then; the file keeps its bytes
        meanwhile."""
        results: list[Any] = []
        copy.pins += 1

        def done(error: BaseException | None) -> None:
            copy.pins -= 1
            self.store.released(copy)
            if error is None:
                answer(results[0])
                return
            if isinstance(error, UnwantedError):
                refuse(InternalError.WAIT)
                return
            if isinstance(error, MisplacedError) and error.place != self.store.closed_end(copy.vseg):
                log.warning("a read of a copy was refused: %s", error)
                refuse(InternalError.BAD_REQUEST)
                return
            if isinstance(error, DamagedError | OSError):
                copy.presence = Presence.UNREADABLE
                copy.problem = str(error)
                if copy.path != self.store.path_of(copy.vseg):
                    self._journals.pop(copy.vseg, None)
                    if isinstance(error, FileNotFoundError):  # kept under another name by now, or not needed
                        refuse(InternalError.WAIT)
                        return
                else:
                    self.on_damage(copy.vseg, copy.problem)
            else:
                log.error("a read of a copy failed", exc_info=error)
            refuse(InternalError.CONFLICT)

        self._reads.submit(lambda: results.append(job()), done, wanted)


def _read_raw(store: ReplicaStore, path: str, begin: int, length: int) -> bytes:
    fd = store.disk.open_patiently(path, write=False)
    try:
        return store.disk.pread(fd, length, begin)
    finally:
        store.disk.close(fd)


def _log_damage(vseg: VsegId, problem: str) -> None:
    log.error("the copy of virtual segment %s is damaged: %s", vseg, problem)
