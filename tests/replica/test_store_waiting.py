"""Copies that go, but not at once: metadata may not have been heard of yet, or somebody waits for a sync."""

from __future__ import annotations

from collections.abc import Callable

from kproto.metadata.vlogs import VsegId
from kproto.replica.messages import Look, Raw, Seal
from kproto.replica.rules import Push
from kproto.replica.store import HELD_S
from kproto.vlog.classes import FlushPolicy
from kproto.wire.internal import Api, InternalError
from tests.replica.support import (
    ME,
    OTHER,
    OTHERS,
    MemoryDisk,
    Metadata,
    Owner,
    Station,
)
from tests.replica.test_service import Backup
from tests.replica.test_store import PART, VSEG, filled, stored_bytes, wire_bytes
from tests.replica.test_store_failures import failing, whole


class BusyWorker:
    """A worker that has other things to do until it is told to `finish` a job."""

    def __init__(self) -> None:
        self.jobs: list[tuple[Callable[[], object], Callable[[BaseException | None], object]]] = []

    def submit(self, job: Callable[[], object], done: Callable[[BaseException | None], object]) -> None:
        self.jobs.append((job, done))

    def finish(self) -> None:
        job, done = self.jobs.pop(0)
        try:
            job()
        except OSError as error:
            done(error)
        else:
            done(None)

    def close(self) -> None:
        """Nothing is under way."""


def test_a_copy_goes_after_the_sync_that_somebody_waits_for() -> None:
    """Found by simulation (seed 520110): its file was gone when its turn came: the process ended."""
    station, metadata = Station(), Metadata(5)
    first, second = (Owner(VsegId(5, vlog, 1), policy=FlushPolicy.SYNCED) for vlog in (1, 2))
    for owner in (first, second):
        filled(station, owner)
    station.restart()
    busy = BusyWorker()
    station.store.workers = station.store.workers._replace(acks=busy)
    answers: list[tuple[int, bool]] = []
    for owner in (first, second):
        station.store.seal(owner.vseg, 6, lambda *answer: answers.append(answer))
        station.loop.run(0.01)
        metadata.put(owner.record(owner.end, [ME] if owner is first else OTHERS))
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    while busy.jobs:
        busy.finish()
    station.loop.run(1.0)
    assert not station.poison
    assert answers == [(first.end, True), (second.end, True)]
    assert set(station.store.copies) == {first.vseg}


def one_that_came_and_went(owner: Owner) -> tuple[Metadata, int]:
    """The owner lives and has no newer one; at which revision it knew the record."""
    metadata = Metadata(5, 6)
    metadata.put(owner.record())
    known = metadata.table.revision
    metadata.delete(owner.record())
    return metadata, known


def test_a_copy_whose_record_came_and_went_unheard_is_garbage() -> None:
    """The owner reached this backup, metadata did not; then nobody appends there any more."""
    station, owner = Station(), Owner(VSEG)
    metadata, known = one_that_came_and_went(owner)
    station.push(owner.first, owner.push([PART], [300]), known=known)
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    assert VSEG not in station.store.copies


def test_a_copy_waits_for_the_revision_that_its_owner_knows() -> None:
    """However long that takes: a broker may take pushes long after it last followed metadata."""
    station, owner, metadata = Station(), Owner(VSEG), Metadata(5, 6)
    metadata.put(Owner(VsegId(6, 1, 1)).record())
    station.push(owner.first, owner.push([PART], [300]), known=metadata.table.revision + 2)
    for vlog in (2, 3):
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(3600.0)
        assert VSEG in station.store.copies
        metadata.put(Owner(VsegId(6, vlog, 1)).record() if vlog == 2 else owner.record())
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(3600.0)
    assert VSEG in station.store.copies
    metadata.delete(owner.record())
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    assert VSEG not in station.store.copies


def test_a_copy_that_is_recorded_between_two_looks_is_garbage() -> None:
    """The record came and went before the store looked at its copies once."""
    station, owner, metadata = Station(), Owner(VSEG), Metadata(5, 6)
    station.store.apply(metadata.table, metadata.live)
    metadata.put(owner.record())
    station.push(owner.first, owner.push([PART], [300]), known=metadata.table.revision)
    station.store.apply(metadata.table, metadata.live)
    metadata.delete(owner.record())
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    assert VSEG not in station.store.copies


def test_no_copy_begins_when_its_record_came_and_went() -> None:
    """The push was on its way for long. No news would come that deletes the copy."""
    station, owner = Station(), Owner(VSEG)
    metadata, known = one_that_came_and_went(owner)
    station.store.apply(metadata.table, metadata.live)
    frame = owner.push([PART], [300])
    assert station.push(owner.first, frame, known=known) == (Push.CLOSED, 0)
    assert VSEG not in station.store.copies
    answer = station.push(owner.first, frame, known=metadata.table.revision + 1)
    assert answer == (Push.STORE, owner.end), "it is known there later: this store is behind"


def test_what_could_be_listed_stays_until_there_are_enough_copies() -> None:
    """Who was a stall late with its answer to SEAL has all of it, and is not listed; whoever is may lose
    its disk before others are made (17, 22)."""
    station, metadata = Station(), Metadata(5)
    whole, short, lost = (Owner(VsegId(5, vlog, 1)) for vlog in (1, 2, 3))
    for owner in (whole, short, lost):
        filled(station, owner)
    metadata.put(whole.record(whole.end, [OTHER]))
    metadata.put(short.record(short.end + 1, [OTHER]))
    metadata.put(lost.record(lost.end, ())._replace(lost=True))
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    assert set(station.store.copies) == {whole.vseg}
    station.restart()
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    assert set(station.store.copies) == {whole.vseg}, "nobody has looked at it yet"
    station.store.find(whole.vseg, lambda copy: None)
    station.loop.run(1.0)
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    assert set(station.store.copies) == {whole.vseg}
    metadata.put(whole.record(whole.end, OTHERS)._replace(denied=((OTHERS[0].node_id, 5),)))
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    assert set(station.store.copies) == {whole.vseg}, "one of them is none, as its broker said"
    metadata.put(whole.record(whole.end, OTHERS))
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    assert not station.store.copies


def test_who_stops_deletes_no_copy_that_may_have_been_listed_unheard() -> None:
    """Found by simulation (seed 30069152): the controller was not heard when a copy was listed. Who serves
    ends itself then, before the copy is held no more; who stops takes as long as that takes (30, 34)."""
    station, metadata, owner, other = Station(), Metadata(5), Owner(VSEG), Owner(VsegId(5, 2, 1))
    for one in (owner, other):
        filled(station, one)
    station.store.hold(station.store.copies[VSEG])
    metadata.put(owner.record(owner.end, OTHERS))
    station.store.apply(metadata.table, metadata.live)
    station.store.keep_all()
    metadata.put(other.record(other.end, OTHERS))
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(3 * HELD_S)
    assert set(station.store.copies) == {VSEG, other.vseg}
    station.restart()
    metadata.put(owner.record(owner.end, [*OTHERS, ME]))
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    assert set(station.store.copies) == {VSEG}


def test_a_seal_does_not_sync_again_what_failed_to() -> None:
    """The second fdatasync says that all is well, of pages that are on no disk: the seal was answered, and so
    were the pushes that had waited (35)."""
    station, owner = Station(), Owner(VSEG, policy=FlushPolicy.SYNCED)
    busy = BusyWorker()
    station.store.workers = station.store.workers._replace(acks=busy)
    station.store._syncs._acks = busy
    pushed: list[Push] = []
    for _ in range(2):
        first = owner.header_for(owner.end)
        frame = memoryview(owner.push([PART], [300]))
        station.store.push(first, frame, lambda verdict, _: pushed.append(verdict))
    station.disk.fail = failing("sync")
    busy.finish()
    station.disk.fail = whole
    syncs = station.disk.syncs
    assert station.poison
    assert station.seal(VSEG, fence=False) is None
    while busy.jobs:
        busy.finish()
    station.loop.run(5.0)
    assert station.disk.syncs == syncs
    assert pushed == []


def test_nobody_is_told_that_a_sync_is_done_once_the_directory_is_poisoned() -> None:
    """By whatever else failed meanwhile (35)."""
    station, owner = Station(), Owner(VSEG, policy=FlushPolicy.SYNCED)
    busy = BusyWorker()
    station.store._syncs._acks = busy
    pushed: list[Push] = []
    frame = memoryview(owner.push([PART], [300]))
    station.store.push(owner.first, frame, lambda verdict, _: pushed.append(verdict))
    station.store.poison("something else")
    busy.finish()
    assert pushed == []


def test_copies_of_a_poisoned_store_are_not_synced_by_time_either() -> None:
    station, owner = Station(), Owner(VSEG, policy=FlushPolicy.TIMED)
    filled(station, owner)
    syncs = station.disk.syncs
    station.store.poison("something else")
    station.loop.run(5.0)
    assert station.disk.syncs == syncs


def test_a_poisoned_store_is_no_source_for_anybody() -> None:
    """Memory may have what the disk has not: another copy has it (35)."""
    backup, owner = Backup(), Owner(VSEG)
    owner.push([PART], [300])
    backup.hold(owner)
    assert backup.ask(Api.RAW, Raw(VSEG, 0, 100).encode())[0] == InternalError.NONE
    backup.station.store.poison("EIO")
    asked = (
        (Api.SEAL, Seal(VSEG, 6, ME.store_id).encode()),
        (Api.SEAL, Seal(VSEG, 6, ME.store_id, True).encode()),
        (Api.STATE, Look(VSEG, owner.end, [PART]).encode()),
        (Api.RAW, Raw(VSEG, 0, 100).encode()),
    )
    assert [backup.ask(api, body) for api, body in asked] == [(InternalError.REFUSED, b"")] * len(asked)


class Room(MemoryDisk):
    """Counts what is reserved on the loop."""

    waited = 0
    in_thread = False

    def allocate(self, fd: int, position: int, length: int) -> None:
        self.waited += not self.in_thread
        super().allocate(fd, position, length)


def roomy() -> tuple[Station, Room, BusyWorker]:
    disk, busy = Room(), BusyWorker()
    station = Station(disk)
    station.store.workers = station.store.workers._replace(room=busy)
    return station, disk, busy


def give_room(disk: Room, busy: BusyWorker) -> None:
    disk.in_thread = True
    busy.finish()
    disk.in_thread = False


def test_a_thread_reserves_room_before_it_is_used_up() -> None:
    """While the disk is busy that takes 0.3 s, in which nobody was served: every 4 MB of every copy."""
    (station, disk, busy), owner = roomy(), Owner(VSEG, size=16 << 20)
    station.push(owner.first, owner.push([PART], [300]))
    began = disk.waited
    for _ in range(100):
        assert station.push(None, owner.push([PART], [100_000])) == (Push.STORE, owner.end)
        while busy.jobs:
            give_room(disk, busy)
    assert disk.waited == began
    assert stored_bytes(station, owner) == wire_bytes(owner)


def test_pushes_wait_for_room_in_their_order() -> None:
    (station, disk, busy), owner = roomy(), Owner(VSEG, size=64 << 20)
    station.push(owner.first, owner.push([PART], [100_000]))
    station.push(None, owner.push([PART], [100_000]))
    assert busy.jobs
    ends: list[int] = []
    for size in (200_000, 300, 9 << 20, 300):
        frame = memoryview(owner.push([PART], [size]))
        station.store.push(
            None, frame, lambda verdict, end: ends.append(end if verdict is Push.STORE else -1)
        )
    station.loop.run()
    assert ends == []
    while busy.jobs:
        give_room(disk, busy)
        station.loop.run()
    assert ends == [position for position, _ in owner.frames[3:]] + [owner.end]
    assert stored_bytes(station, owner) == wire_bytes(owner)


def test_nothing_is_written_to_a_file_that_is_getting_room() -> None:
    """The kernel holds the file's lock for as long as that takes: who writes where there is room waits, too,
    and with it the loop."""
    (station, disk, busy), owner = roomy(), Owner(VSEG, size=16 << 20)
    station.push(owner.first, owner.push([PART], [200_000]))
    assert busy.jobs
    disk.fail = failing("write")
    answers: list[tuple[Push, int]] = []
    frame = memoryview(owner.push([PART], [300]))
    station.store.push(None, frame, lambda *answer: answers.append(answer))
    assert answers == []
    disk.fail = whole
    give_room(disk, busy)
    assert answers == [(Push.STORE, owner.end)]


def test_a_copy_that_gets_no_room_ahead_is_full_when_it_needs_some() -> None:
    (station, disk, busy), owner = roomy(), Owner(VSEG, size=16 << 20)
    station.push(owner.first, owner.push([PART], [200_000]))
    disk.room = 0
    answers: list[Push] = []
    frame = memoryview(owner.push([PART], [200_000]))
    station.store.push(None, frame, lambda verdict, _: answers.append(verdict))
    assert answers == []
    give_room(disk, busy)
    assert answers == [Push.FULL]
    assert not station.poison
    disk.room = 64 << 20
    assert station.push(None, bytes(frame)) == (Push.STORE, owner.end)


def test_a_copy_whose_room_comes_when_it_is_closed_is_cut_to_its_end() -> None:
    (station, disk, busy), owner, metadata = roomy(), Owner(VSEG, size=16 << 20), Metadata(5)
    station.push(owner.first, owner.push([PART], [200_000]))
    metadata.put(owner.record(owner.end, [ME]))
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    give_room(disk, busy)
    station.loop.run(1.0)
    assert len(station.file(VSEG)) == len(wire_bytes(owner))
    assert station.store.copies[VSEG].fd == -1


def test_a_file_that_turns_out_to_be_none_stays_while_a_stop_syncs_it() -> None:
    """It was gone when its turn came, and the stop ended as if storage had failed."""
    station, owner = Station(), Owner(VsegId(5, 1, 1))
    filled(station, owner)
    station.file(owner.vseg)[:] = bytes(8192)
    station.restart()
    store, reads, acks = station.store, BusyWorker(), BusyWorker()
    store.workers = store.workers._replace(reads=reads, acks=acks)
    store.find(owner.vseg, lambda copy: None)
    store.close()
    reads.finish()
    acks.finish()
    station.loop.run(1.0)
    assert owner.vseg not in store.copies
    assert not station.poison
