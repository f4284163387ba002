"""The owner's own journal is the only copy of a virtual segment without backups (rule 18b): the next process
there reads it like a copy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from kproto.controller.repair import FAULTS_OF_TARGETS
from kproto.metadata.vlogs import CopyTarget, VsegId, VsegRecord
from kproto.replica import service
from kproto.replica.messages import NOTHING, Look, Raw, Read, Seal, Sealed, StateAnswer, decode_catalog
from kproto.replica.service import INSPECTED_S
from kproto.replica.stored_file import Inspection, inspect
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import FILE_HEADER_SIZE
from kproto.vlog.journal import file_name
from kproto.vlog.kept import HEADLESS, KEPT
from kproto.vlog.recovery import recover
from kproto.wire.internal import Api, InternalError
from tests.replica.support import ME, OTHER, Metadata, Owner, Replying, Station
from tests.replica.test_service import CALLER, PARTS, VSEG, Backup
from tests.replica.test_store_waiting import BusyWorker


def left_behind(
    closed: bool = True,
    backups: Sequence[CopyTarget] = (),
    store: CopyTarget = ME,
    policy: FlushPolicy = FlushPolicy.MEMORY,
    heard: bool = True,
) -> tuple[Backup, Owner]:
    """A store whose broker owned a virtual segment in an earlier process, and has ``heard`` of metadata."""
    backup = Backup()
    owner, record = leave_one(backup, VSEG, closed, backups, store, policy)
    metadata = Metadata(9)
    metadata.put(record)
    if heard:
        backup.apply(metadata)
    return backup, owner


def leave_one(
    backup: Backup,
    vseg: VsegId,
    closed: bool = True,
    backups: Sequence[CopyTarget] = (),
    store: CopyTarget = ME,
    policy: FlushPolicy = FlushPolicy.MEMORY,
) -> tuple[Owner, VsegRecord]:
    """Its journal file is there; its record is returned."""
    owner = Owner(vseg, 5000, policy)
    owner.push(PARTS[:2], [100, 200])
    owner.push_state()
    owner.push(PARTS[:1], [300])
    disk = backup.station.disk
    fd = disk.open(f"data/journal/{file_name(*vseg)}", create=True)
    disk.pwritev(fd, [owner.first, *(frame for _, frame in owner.frames), bytes(4096)], 0)
    disk.close(fd)
    record = owner.record(owner.end if closed else None, backups)
    return owner, record._replace(node_id=store.node_id, store_id=store.store_id)


def test_it_is_read_like_a_copy() -> None:
    backup, owner = left_behind()
    error, body = backup.ask(Api.STATE, Look(VSEG, owner.end, PARTS).encode())
    answer = StateAnswer.decode(memoryview(body))
    assert (error, answer.position) == (0, owner.frames[1][0])
    assert [one.end_offset for one in answer.states] == [owner.chunks[0][2], owner.chunks[1][2]]
    found = backup.read_all(Read(VSEG, owner.start, owner.end, PARTS, 1))
    assert [(PARTS[i], base, end, data) for i, base, end, data in found] == [one[:4] for one in owner.chunks]
    error, body = backup.ask(Api.CATALOG, Look(VSEG, owner.end, PARTS[:2]).encode())
    rows = decode_catalog(memoryview(body))
    assert [(row.bytes, row.frame) for row in rows] == [(400, owner.start), (200, owner.start)]
    assert not [name for name in backup.station.disk.listdir("data/journal") if not name.endswith(".journal")]


def test_it_is_looked_at_once_for_all_who_ask_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole file was read for each of them before any had an answer, and for those who had given up, too:
    of a hundred consumers none had an answer in time."""
    backup, owner = left_behind()
    busy = BusyWorker()
    backup.station.store.workers = backup.station.store.workers._replace(reads=busy)
    looks, answers = list[str](), list[int]()

    def look(disk: Any, path: str, vseg: VsegId, thorough: bool) -> Inspection:
        looks.append(path)
        return inspect(disk, path, vseg, thorough)

    monkeypatch.setattr(service, "inspect", look)
    body = Read(VSEG, owner.start, owner.end, PARTS, 1000, patience_ms=1000).encode()
    for _ in range(100):
        backup.service.read(CALLER, memoryview(body), Replying(lambda error, *_: answers.append(error)))
    while busy.jobs:
        busy.finish()
    assert answers == [InternalError.NONE] * 100
    assert len(looks) == 1


def test_nothing_is_remembered_of_those_that_are_no_more() -> None:
    backup, metadata = Backup(), Metadata(9)
    for seq in range(3):
        vseg = VSEG._replace(seq=seq)
        owner, record = leave_one(backup, vseg)
        metadata.put(record)
        backup.apply(metadata)
        assert len(backup.read_all(Read(vseg, owner.start, owner.end, PARTS, 1))) == len(owner.chunks)
        assert list(backup.service._journals) == [vseg]
        metadata.delete(record)
        backup.apply(metadata)


def test_it_is_no_copy_of_another_store() -> None:
    backup, owner = left_behind(store=OTHER)
    error, body = backup.ask(Api.READ, Read(VSEG, owner.start, owner.end, PARTS, 1).encode())
    assert error in (InternalError.UNKNOWN, InternalError.GAP)
    assert not body


@pytest.mark.parametrize("heard", [False, True])
def test_before_its_end_is_heard_of_it_is_not_denied(heard: bool) -> None:
    """Found by simulation (seeds 11005251, 7285): it was the only copy, and was given up by command because
    the order to copy it was faster than the news that it is closed, or any news (18b, 22)."""
    backup, owner = left_behind(closed=False, heard=heard)
    error, body = backup.ask(Api.RAW, Raw(VSEG, 0, owner.end).encode())
    assert error == InternalError.REFUSED
    assert error in FAULTS_OF_TARGETS
    assert not body


@pytest.mark.parametrize("kept", [False, True])
def test_copies_can_be_made_from_it_unless_it_was_cut_or_is_of_another_store(kept: bool) -> None:
    backup, owner = left_behind(backups=(OTHER,))
    disk = backup.station.disk
    name = f"data/journal/{file_name(*VSEG)}"
    if kept:
        disk.rename(name, name + KEPT)
        name += KEPT
    record = owner.record(owner.end, (OTHER,))._replace(node_id=ME.node_id, store_id=ME.store_id)
    assert backup.service.in_journal([record]) == {VSEG}
    assert not backup.service.in_journal([record._replace(store_id=OTHER.store_id)])
    fd = disk.open(name)
    disk.truncate(fd, FILE_HEADER_SIZE + owner.frames[-1][0] - owner.start)
    disk.close(fd)
    assert not backup.service.in_journal([record]), "its last frame is missing: who led has to push it again"


def zeroed(data: bytearray) -> None:
    """A file system kept its length and nothing else when the power was lost."""
    data[:] = bytes(len(data))


def rotten(data: bytearray) -> None:
    """Another bit in a record."""
    data[FILE_HEADER_SIZE + 150] ^= 1


def rotten_header(data: bytearray) -> None:
    data[9] ^= 1


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("read_before", [False, True])
@pytest.mark.parametrize("damage", [zeroed, rotten, rotten_header])
def test_one_that_is_not_sound_does_not_count_once_a_copy_was_to_be_made_from_it(
    damage: Callable[[bytearray], None], read_before: bool, kept: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """It is long enough, so it was left to repair for ever, of which nothing came; nobody pushed again what
    was in it, and its leader could not be moved (45)."""
    backup, owner = left_behind(backups=(OTHER,))
    disk, name = backup.station.disk, f"data/journal/{file_name(*VSEG)}"
    if kept:
        disk.rename(name, name + KEPT)
        name += KEPT
    record = owner.record(owner.end, (OTHER,))._replace(node_id=ME.node_id, store_id=ME.store_id)
    first = Raw(VSEG, 0, 4096).encode()
    if read_before:
        assert backup.ask(Api.RAW, first)[0] == InternalError.NONE
        backup.station.loop.run(INSPECTED_S + 1)
    damage(disk.content(name))
    assert backup.service.in_journal([record]) == {VSEG}, "nobody has read it"
    for _ in range(2):
        assert backup.ask(Api.RAW, first)[0] in (InternalError.UNKNOWN, InternalError.GAP)
        assert not backup.service.in_journal([record])
    assert [str(VSEG) in one.getMessage() for one in caplog.records] == [True], "said once"


def test_a_copy_that_is_begun_does_not_make_a_read_under_way_take_it_for_a_listed_copy() -> None:
    """It is looked at anew then; the read, which finds no file any more, is to be repeated."""
    backup, owner = left_behind(backups=(OTHER,))
    name = f"data/journal/{file_name(*VSEG)}"
    read, first = Read(VSEG, owner.start, owner.end, PARTS, 1).encode(), Raw(VSEG, 0, 4096).encode()
    assert backup.ask(Api.READ, read)[0] == InternalError.NONE
    backup.station.loop.run(INSPECTED_S + 1)
    answers: list[int] = []
    backup.service.read(CALLER, memoryview(read), Replying(lambda error, *_: answers.append(error)))
    backup.service.raw(CALLER, memoryview(first), Replying(lambda error, *_: answers.append(error)))
    backup.station.disk.rename(name, name + KEPT)
    backup.station.loop.run()
    assert answers == [InternalError.WAIT, InternalError.NONE]
    assert not backup.damage


def test_who_waits_for_a_turn_to_copy_it_does_not_have_it_read_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All of it, each time, which the limit on reads did not count."""
    backup, _ = left_behind(backups=(OTHER,))
    looks: list[int] = []
    monkeypatch.setattr(service, "inspect", lambda *args: looks.append(1) or inspect(*args))
    for _ in range(4):
        assert backup.ask(Api.RAW, Raw(VSEG, 0, 4096).encode())[0] == InternalError.NONE
    assert len(looks) == 1
    backup.station.loop.run(INSPECTED_S + 1)
    assert backup.ask(Api.RAW, Raw(VSEG, 0, 4096).encode())[0] == InternalError.NONE
    assert len(looks) == 2


@pytest.mark.parametrize("kept", [False, True])
def test_it_is_read_when_the_backups_it_had_are_gone_for_good(kept: bool) -> None:
    backup, owner = left_behind(backups=(OTHER,))
    if kept:
        name = f"data/journal/{file_name(*VSEG)}"
        backup.station.disk.rename(name, name + KEPT)
    read = Read(VSEG, owner.start, owner.end, PARTS, 1)
    assert [data for _, _, _, data in backup.read_all(read)] == [one[3] for one in owner.chunks]
    if not kept:
        damaged: list[VsegId] = []
        backup.service.on_damage = lambda vseg, _: damaged.append(vseg)
        name = f"data/journal/{file_name(*VSEG)}"
        backup.station.disk.rename(name, name + KEPT)
        assert backup.ask(Api.READ, read.encode())[0] == InternalError.WAIT, "the name was known"
        assert [data for _, _, _, data in backup.read_all(read)] == [one[3] for one in owner.chunks]
        assert not damaged


@pytest.mark.parametrize("cut", [0, 1])
def test_after_a_power_loss_it_counts_when_all_of_it_is_there(cut: int) -> None:
    """Where it ends is known, and every chunk is verified (24a): a clean stop before is as good."""
    backup, owner = left_behind()
    disk = backup.station.disk
    fd = disk.open(f"data/journal/{file_name(*VSEG)}")
    disk.truncate(fd, disk.size(fd) - 4096 - cut)
    disk.close(fd)
    backup.station.store._boot = bytes([9]) * 16
    error, _ = backup.ask(Api.READ, Read(VSEG, owner.start, owner.end, PARTS, 1).encode())
    assert error == (InternalError.GAP if cut else InternalError.NONE)


def test_while_it_is_open_it_counts_after_a_power_loss_when_it_was_synced() -> None:
    for policy in (FlushPolicy.MEMORY, FlushPolicy.SYNCED):
        backup, owner = left_behind(closed=False, policy=policy)
        backup.station.store._boot = bytes([9]) * 16
        error, body = backup.ask(Api.SEAL, Seal(VSEG, 6, ME.store_id, True).encode())
        sealed = Sealed.decode(memoryview(body))
        assert (error, sealed.position) == (InternalError.NONE, owner.end)
        assert sealed.limbo == (policy is FlushPolicy.MEMORY)


def test_one_with_a_damaged_header_was_begun() -> None:
    """With a flipped bit in it, it was deleted, and said to have been never begun: that was the end of the
    virtual segment when its backups were away for long (18b, 24c)."""
    backup, _ = left_behind(closed=False)
    backup.station.disk.content(f"data/journal/{file_name(*VSEG)}")[9] ^= 1
    error, _ = backup.ask(Api.SEAL, Seal(VSEG, 6, ME.store_id, True).encode())
    assert error == InternalError.UNKNOWN


def after_a_failed_sync(backup: Backup, owner: Owner, power: bool = False, starts: int = 1) -> Backup:
    """The process after it, or one later, of which those before were not told what they should have; or the
    ``power`` was lost, too, before that."""
    station = backup.station
    if power:
        station.lose_power(3)
    for _ in range(starts):
        station.boot = bytes([station.boot[0] + 1]) * 16
        station.restart()
        station.store.doubt(True)
    return heard_of(station, owner)


def heard_of(station: Station, owner: Owner) -> Backup:
    """The present process there knows of the virtual segment, which is open and has no backups."""
    backup = Backup.of(station)
    metadata = Metadata(9)
    metadata.put(owner.record(None, ())._replace(node_id=ME.node_id, store_id=ME.store_id))
    backup.apply(metadata)
    return backup


def sealed(backup: Backup) -> tuple[int, Sealed | None]:
    error, body = backup.ask(Api.SEAL, Seal(VSEG, 6, ME.store_id, True).encode())
    return error, Sealed.decode(memoryview(body)) if error == InternalError.NONE else None


@pytest.mark.parametrize("damage", ["its first page", "all of it", "set aside"])
def test_after_a_failed_sync_it_was_perhaps_begun(damage: str) -> None:
    """All that tells that a file is one can be gone then. That nothing was ever in it closed the virtual
    segment, and gave up what others, who were only away, had."""
    backup, owner = left_behind(closed=False)
    disk, name = backup.station.disk, f"data/journal/{file_name(*VSEG)}"
    data = disk.content(name)
    if damage == "set aside":
        disk.rename(name, name + HEADLESS)
    else:
        size = 4096 if damage == "its first page" else len(data)
        data[:size] = bytes(size)
    backup = after_a_failed_sync(backup, owner)
    assert sealed(backup) == (InternalError.UNKNOWN, None)
    if damage != "set aside":
        disk.rename(name, name + HEADLESS)
        assert sealed(backup) == (InternalError.UNKNOWN, None)


@pytest.mark.parametrize("starts", [1, 2])
@pytest.mark.parametrize("power", [False, True])
def test_without_a_file_it_was_never_begun_also_after_a_failed_sync_unless_names_may_be_lost(
    power: bool, starts: int
) -> None:
    """Found by simulation (seed 30128717): the storage failed before the journal file of a recorded virtual
    segment was made, and its partitions waited for the operator. So they did when a start ended before it was
    told what it should have. But after a power loss it may be gone, also when such a start was followed by
    another one, after a failed sync."""
    backup, owner = left_behind(closed=False)
    backup.station.disk.unlink(f"data/journal/{file_name(*VSEG)}")
    backup = after_a_failed_sync(backup, owner, power, starts)
    never = (InternalError.NONE, Sealed(NOTHING, False))
    expected = (InternalError.UNKNOWN, None) if power else never
    assert sealed(backup) == expected
    backup.station.restart()
    assert sealed(heard_of(backup.station, owner)) == expected, "later starts know no more"


@pytest.mark.parametrize("failed", [False, True], ids=["power lost", "failed sync"])
@pytest.mark.parametrize("begun", [False, True])
def test_a_file_that_lost_a_header_for_whose_sync_its_frames_wait_was_never_begun(
    failed: bool, begun: bool
) -> None:
    """Nothing was ever sent of it, so nothing can be missing. It was set aside, and taken for begun: its
    partitions waited for the operator. But where a frame is, the header was synced, and damaged since."""
    backup, owner = left_behind(closed=False, policy=FlushPolicy.SYNCED)
    station, path = backup.station, f"data/journal/{file_name(*VSEG)}"
    fd = station.disk.open(path)
    if begun:
        station.disk.content(path)[9] ^= 1
    else:
        station.disk.content(path)[:] = bytes(station.disk.size(fd))
    station.disk.close(fd)
    station.boot = bytes([9]) * 16
    station.restart()
    station.store.doubt(failed)
    backup = heard_of(station, owner)
    unknown = (InternalError.UNKNOWN, None)
    assert sealed(backup) == unknown, "no start has looked at it"
    recover(station.disk, "data/journal", (), station.boot, power_lost=True, listed=lambda *_: True)
    assert sealed(backup) == (unknown if begun else (InternalError.NONE, Sealed(NOTHING, False)))


@pytest.mark.parametrize("left", [b"", b"\n"], ids=["nothing", "a line"])
@pytest.mark.parametrize("failed", [False, True], ids=["killed", "failed sync"])
def test_what_somebody_truncated_was_begun(failed: bool, left: bytes) -> None:
    """An empty file was taken for one that the power took, and what was acknowledged in it was given up; so
    was one with a line, as `echo > file` leaves it."""
    backup, owner = left_behind(closed=False, policy=FlushPolicy.SYNCED)
    station, path = backup.station, f"data/journal/{file_name(*VSEG)}"
    fd = station.disk.open(path)
    station.disk.truncate(fd, 0)
    station.disk.pwritev(fd, [left], 0)
    station.disk.close(fd)
    if failed:
        backup = after_a_failed_sync(backup, owner)
    assert sealed(backup) == (InternalError.UNKNOWN, None)
    recover(station.disk, "data/journal", (), station.boot, listed=lambda *_: True)
    assert sealed(backup) == (InternalError.UNKNOWN, None)


def test_a_power_loss_after_such_a_start_counts() -> None:
    """It was not told what it should have, either."""
    backup, owner = left_behind(closed=False)
    backup.station.disk.unlink(f"data/journal/{file_name(*VSEG)}")
    backup.station.boot = bytes([8]) * 16
    backup.station.restart()
    backup.station.store.doubt(True)
    assert sealed(after_a_failed_sync(backup, owner, power=True)) == (InternalError.UNKNOWN, None)


def test_one_that_was_set_aside_was_begun() -> None:
    """Without any loss: the header was damaged, and a start has seen that."""
    backup, _ = left_behind(closed=False)
    name = f"data/journal/{file_name(*VSEG)}"
    backup.station.disk.rename(name, name + HEADLESS)
    assert sealed(backup) == (InternalError.UNKNOWN, None)


@pytest.mark.parametrize("policy", [FlushPolicy.MEMORY, FlushPolicy.SYNCED])
@pytest.mark.parametrize("lost", [False, True], ids=["killed", "power lost"])
@pytest.mark.parametrize("backups", [(), (OTHER,)], ids=["alone", "with backups"])
def test_a_segment_that_its_owner_never_began_is_empty_unless_a_power_loss_may_have_taken_it(
    policy: FlushPolicy, lost: bool, backups: Sequence[CopyTarget]
) -> None:
    backup, owner = Backup(), Owner(VSEG, 5000, policy)
    if lost:
        backup.station.lose_power(3)
        backup = Backup.of(backup.station)
    metadata = Metadata(9)
    metadata.put(owner.record(None, backups)._replace(node_id=ME.node_id, store_id=ME.store_id))
    body = Seal(VSEG, 6, ME.store_id, True).encode()
    before = InternalError.UNKNOWN if lost else InternalError.NONE
    assert backup.ask(Api.SEAL, body)[0] == before, "without metadata it cannot know"
    backup.apply(metadata)
    error, body = backup.ask(Api.SEAL, body)
    if lost and policy is FlushPolicy.MEMORY:
        assert error == InternalError.UNKNOWN
    else:
        assert (error, Sealed.decode(memoryview(body))) == (InternalError.NONE, Sealed(NOTHING, False))
