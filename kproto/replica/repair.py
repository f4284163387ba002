"""Making this store's copy of a closed virtual segment from another one (rule 17).

Copy the file by RAW, or, of what an earlier process of this broker owned, from its journal as long as that is
there; verify every chunk, sync, then rename: only a whole copy ever has the name of one. It counts when
metadata lists it, which is the controller's business.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from kproto.disk import NO_SPACE
from kproto.metadata.vlogs import VsegId, VsegRecord
from kproto.net.ports import PeerError
from kproto.replica.copies import Copy
from kproto.replica.messages import Buffer, Raw, Repair
from kproto.replica.pace import Pace
from kproto.replica.rules import Presence
from kproto.replica.store import COPYING, ReplicaStore
from kproto.replica.stored_file import NOT_THERE, Inspection, inspect
from kproto.trouble import Alike
from kproto.vlog.frame import FILE_HEADER_SIZE
from kproto.vlog.journal import file_name as journal_name
from kproto.vlog.kept import KEPT
from kproto.vlog.worker import Works, in_worker
from kproto.wire.internal import Api, InternalError

if TYPE_CHECKING:
    from kproto.disk import Disk
    from kproto.net.internal import Caller
    from kproto.net.ports import PeersPort

log = logging.getLogger(__name__)

PIECE_BYTES: Final = 1 << 20
PIECE_SECONDS: Final = 10.0
REPORT_SECONDS: Final = 20.0
"""After so long whoever ordered a copy is told that it is being made: an answer that it is there must not
come so late that the copy may be gone again (`kproto.controller.loop.LISTED_SECONDS`)."""
_Result = TypeVar("_Result")
Handled = tuple[int, Sequence[Buffer]]


class Repairer:
    """Carries out REPAIR orders, several at a time, one for each vseg."""

    def __init__(self, store: ReplicaStore, peers: PeersPort, journal_directory: str, pace: Pace) -> None:
        self._store = store
        self._peers = peers
        self._journal_directory = journal_directory
        self._pace = pace
        self._running: dict[VsegId, tuple[asyncio.Task[InternalError], int]] = {}
        """And from whom."""
        self._failures = Alike(log, store.clock)
        self.bytes = 0
        """Copied so far from other brokers."""

    async def handle(self, _caller: Caller, body: memoryview) -> Handled:
        """Api.REPAIR."""
        request = Repair.decode(body)
        return await self.repair(request.record, request.source), ()

    def close(self) -> None:
        """Leave copies unfinished: they are begun anew another time."""
        for task, _ in self._running.values():
            task.cancel()

    async def repair(self, record: VsegRecord, source: int) -> InternalError:
        """Have a whole copy of the closed ``record``; NONE when there is one now. Meant to be repeated: what
        is whole already is not copied again. WAIT: it is being made, which may take long with a limit on
        reads; to be asked again, and whoever asks meanwhile gets the same answer, unless that is what another
        ``source`` has not got."""
        if record.end is None:
            return InternalError.BAD_REQUEST
        if record.id not in self._running:
            work = self._repair(record, record.end, source)
            self._running[record.id] = asyncio.get_running_loop().create_task(work), source
        task, giver = self._running[record.id]
        done, _ = await asyncio.wait([task], timeout=REPORT_SECONDS)
        if not done or (giver != source and task.result() is not InternalError.NONE):
            return InternalError.WAIT
        return task.result()

    async def _repair(self, record: VsegRecord, end: int, source: int) -> InternalError:
        try:
            if await self._has(record):
                return InternalError.NONE
            return await self._copy(record, end, source)
        except PeerError as error:  # which says nothing about the copy there
            line = f"virtual segment {record.id} could not be copied from broker {source}: {error}"
            self._failures.failed((source, str(error)), line)
            return InternalError.REFUSED
        except OSError as error:
            if error.errno in NO_SPACE:
                return await self._without_room(record, source)
            self._store.poison(f"repair of virtual segment {record.id}: {error}")
            await asyncio.sleep(REPORT_SECONDS)  # this process ends, and what it has is found by the next one
            return InternalError.WAIT
        finally:
            del self._running[record.id]

    async def _without_room(self, record: VsegRecord, source: int) -> InternalError:
        """What there is no room for. That there is nothing to be copied is told all the same: an operator may
        give up only what all said that they have not got (22), and all disks may be full."""
        body = Raw(record.id, 0, 1, int(PIECE_SECONDS * 1000)).encode()
        try:
            answer = await self._peers.call(source, Api.RAW, body, PIECE_SECONDS)
        except PeerError:
            return InternalError.FULL
        there = answer.error in (InternalError.NONE, InternalError.WAIT)
        return InternalError.FULL if there else InternalError(answer.error)

    async def _has(self, record: VsegRecord) -> bool:
        """This store has all of it already, listed or given up: verified, and synced now."""
        store = self._store
        future: asyncio.Future[Copy | None] = asyncio.get_running_loop().create_future()
        store.find(record.id, future.set_result)
        copy = await future
        if copy is None or copy.presence is not Presence.READABLE or copy.end < (record.end or 0):
            return False
        copy.pins += 1
        try:
            look = partial(inspect, store.disk, copy.path, record.id, True)
            found = await self._work(look, store.workers.reads)
            if is_whole(found, record):
                await self._work(partial(store.disk.sync_file, copy.path))
                await self._work(partial(store.disk.sync_directory, store.directory))
                store.hold(copy)
                return True
        finally:
            copy.pins -= 1
            store.released(copy)
        return False

    async def _copy(self, record: VsegRecord, end: int, source: int) -> InternalError:
        store = self._store
        path = store.path_of(record.id)
        temporary = path + COPYING
        size = FILE_HEADER_SIZE + end - record.start
        fd = await self._work(partial(_create, store, temporary, size))
        try:
            verify = partial(inspect, store.disk, temporary, record.id, True)
            found = NOT_THERE
            if await self._take_journal(record, fd, size):
                found = await self._work(verify, store.workers.reads)
            if not is_whole(found, record):
                error = await self._fetch(record, source, fd, size)
                if error is not InternalError.NONE:
                    return error
                found = await self._work(verify, store.workers.reads)
            if not is_whole(found, record):
                problem = found.problem or f"what it sent is sound up to position {found.end}"
                log.error("broker %d has no sound copy of virtual segment %s: %s", source, record.id, problem)
                return InternalError.CONFLICT
            await self._work(partial(store.disk.datasync, fd))
            await self._work(partial(store.disk.drop_cached, fd))
            store.adopt(record.id, temporary, found)
            await self._work(partial(store.disk.sync_directory, store.directory))
            return InternalError.NONE
        finally:
            # Behind what the worker still has to write: another file may get the number at once.
            store.workers.background.submit(partial(store.disk.close, fd), self._closed)
            store.files.delete(temporary)

    def _closed(self, error: BaseException | None) -> None:
        if error is not None:
            self._store.poison(f"repair: {error}")

    async def _take_journal(self, record: VsegRecord, fd: int, size: int) -> bool:
        """Copy the bytes piece by piece from the journal of this broker, if it is the owner and has them yet;
        whether there were as many."""
        if record.store_id != self._store.me.store_id:
            return False
        path = os.path.join(self._journal_directory, journal_name(*record.id))
        at = 0
        while at < size:
            length = self._pace.turn(min(PIECE_BYTES, size - at))
            turn = asyncio.Event()
            self._pace.take(length, turn.set)
            await turn.wait()
            took = await self._work(partial(_take_piece, self._store.disk, path, fd, at, length))
            self._pace.correct(length, took)
            if took:
                at += took
            elif path.endswith(KEPT):
                return False
            else:
                path += KEPT
        return True

    async def _fetch(self, record: VsegRecord, source: int, fd: int, size: int) -> InternalError:
        """Copy the bytes piece by piece."""
        at = 0
        while at < size:
            length = min(PIECE_BYTES, size - at)
            body = Raw(record.id, at, length, int(PIECE_SECONDS * 1000)).encode()
            answer = await self._peers.call(source, Api.RAW, body, PIECE_SECONDS)
            if answer.error == InternalError.WAIT:
                continue
            if answer.error != InternalError.NONE:
                return InternalError(answer.error)
            if not answer.body or len(answer.body) > size - at:
                return InternalError.GAP
            write = partial(self._store.disk.pwritev, fd, [answer.body], at)
            await self._work(write)
            at += len(answer.body)
            self.bytes += len(answer.body)
        return InternalError.NONE

    async def _work(self, job: Callable[[], _Result], worker: Works | None = None) -> _Result:
        return await in_worker(worker or self._store.workers.background, job)


def is_whole(found: Inspection, record: VsegRecord) -> bool:
    """Rule 17: everything from the start to the end in metadata is there and sound."""
    return (
        found.presence is Presence.READABLE
        and found.header is not None
        and found.header.start == record.start
        and record.end is not None
        and found.end >= record.end
    )


def _take_piece(disk: Disk, path: str, fd: int, at: int, length: int) -> int:
    """Copy ``length`` bytes of the file at ``path``, in a worker; how many were there, 0 when it is not or
    cannot be read. OSError of the other file passes through."""
    try:
        source = disk.open_patiently(path, write=False)
        try:
            data = disk.pread(source, length, at)
        finally:
            disk.close(source)
    except OSError:
        return 0
    disk.pwritev(fd, [data], at)
    return len(data)


def _create(store: ReplicaStore, path: str, size: int) -> int:
    """An empty file with its room reserved, in a worker."""
    fd = store.disk.open(path, create=True)
    try:
        store.disk.truncate(fd, 0)
        store.disk.allocate(fd, 0, size)
    except OSError:
        store.disk.close(fd)
        store.disk.unlink(path)
        raise
    return fd
