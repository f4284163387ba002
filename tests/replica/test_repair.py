"""Copies of closed virtual segments are made anew from whoever has one (rule 17)."""

from __future__ import annotations

import asyncio
import errno

import pytest

from kproto.controller.repair import FAULTS_OF_TARGETS
from kproto.metadata.vlogs import VsegRecord
from kproto.net.ports import Answer
from kproto.replica.messages import Read, Repair
from kproto.replica.repair import Repairer
from kproto.vlog.frame import FILE_HEADER_SIZE
from kproto.vlog.journal import file_name
from kproto.vlog.kept import KEPT
from kproto.wire.internal import Api, InternalError
from tests.replica.support import ME, OTHER, MemoryDisk, Metadata, Owner
from tests.replica.test_service import CALLER, PARTS, VSEG, Backup, LocalPeers, informed, two_frames


def source_and_target() -> tuple[LocalPeers, Backup, Backup, Owner, VsegRecord]:
    """A backup with a copy, node 8, one without, and how they reach each other."""
    peers = LocalPeers()
    source, target = Backup(), Backup(peers)
    peers.services[8] = source
    owner, metadata = two_frames(), Metadata(5)
    source.hold(owner)
    record = owner.record(owner.end)
    metadata.put(record)
    source.apply(metadata)
    target.apply(metadata)
    return peers, source, target, owner, record


def repaired(target: Backup, record: VsegRecord) -> int:
    """Run the coroutine with the loop in virtual time doing the work of the workers."""

    async def run() -> int:
        repairer = target.service.repairer
        task = asyncio.ensure_future(repairer.handle(CALLER, memoryview(Repair(record, 8).encode())))
        while not task.done():
            await asyncio.sleep(0)
            target.station.loop.run()
        return task.result()[0]

    return asyncio.run(run())


def test_that_one_has_none_is_not_said_of_another_one_who_was_not_asked() -> None:
    """Who ordered a copy from the first one was gone meanwhile. With the owner as the other one an operator
    could give up what only its journal has (22, `kproto.controller.giving_up`)."""
    peers, _, target, _, record = source_and_target()
    peers.services[9] = Backup()

    async def run() -> list[InternalError]:
        orders = [asyncio.ensure_future(target.service.repairer.repair(record, node)) for node in (9, 8)]
        while not all(order.done() for order in orders):
            await asyncio.sleep(0)
            target.station.loop.run()
        return [order.result() for order in orders]

    first, other = asyncio.run(run())
    assert first in (InternalError.UNKNOWN, InternalError.REFUSED)
    assert other is InternalError.WAIT
    assert repaired(target, record) == InternalError.NONE, "asked again"


def test_a_copy_of_all_is_made_and_used() -> None:
    _, _, target, owner, record = source_and_target()
    assert target.station.store.unfit() == [VSEG]
    assert not target.station.store.is_whole(VSEG)
    assert repaired(target, record) == InternalError.NONE
    assert target.station.store.unfit() == []
    assert target.station.store.is_whole(VSEG)
    target.station.lose_power(1)  # it was synced
    metadata = Metadata(5)
    metadata.put(record)
    target.station.store.apply(metadata.table, metadata.live)
    assert target.station.seal(VSEG) == (owner.end, True)


def test_a_damaged_copy_is_replaced() -> None:
    _, _, target, owner, record = source_and_target()
    assert repaired(target, record) == InternalError.NONE
    target.station.file(VSEG)[FILE_HEADER_SIZE + 80] ^= 1
    read = Read(VSEG, 0, owner.end, PARTS, 100_000)
    assert target.ask(Api.READ, read.encode())[0] == InternalError.CONFLICT
    assert repaired(target, record) == InternalError.NONE
    assert len(target.read_all(read)) == 3


def test_a_copy_that_was_given_up_counts_when_it_is_whole() -> None:
    """No byte is copied, and it is kept until it is listed; but not with damage inside."""
    peers, _, target, owner, record = source_and_target()
    twin = Owner(VSEG)
    twin.frames = owner.frames
    target.station.store.table = Metadata(5).table
    target.hold(twin)
    metadata = Metadata(5)
    metadata.put(record._replace(backups=(OTHER,)))
    assert repaired(target, record) == InternalError.NONE
    assert target.service.repairer.bytes == 0
    target.apply(metadata)
    target.station.loop.run(1.0)
    assert VSEG in target.station.store.copies
    target.station.file(VSEG)[FILE_HEADER_SIZE + 60 + 136 + 100] ^= 1
    assert repaired(target, record) == InternalError.NONE
    assert target.service.repairer.bytes > 0
    assert bytes(target.station.file(VSEG)) == owner.first + b"".join(frame for _, frame in owner.frames)
    assert peers.services


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("problem", ["none", "cut", "damaged", "unreadable", "another store's"])
def test_an_owner_that_is_back_makes_it_from_its_own_journal(
    problem: str, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was copied over the network. With anything wrong it still is."""
    _, _, target, owner, record = source_and_target()
    if problem != "another store's":
        record = record._replace(node_id=ME.node_id, store_id=ME.store_id)
    disk, whole = target.station.disk, owner.first + b"".join(frame for _, frame in owner.frames)
    data = bytearray(whole + bytes(4096))
    if problem == "cut":
        del data[len(whole) - 1 :]
    elif problem == "damaged":
        data[len(whole) - 1] ^= 1
    fd = disk.open(f"data/journal/{file_name(*VSEG)}" + (KEPT if kept else ""), create=True)
    disk.pwritev(fd, [data], 0)
    disk.close(fd)
    opened = MemoryDisk.open

    def unreadable(disk: MemoryDisk, path: str, **how: bool) -> int:
        if "/journal/" in path:
            raise OSError(errno.EIO, path)
        return opened(disk, path, **how)

    if problem == "unreadable":
        monkeypatch.setattr(MemoryDisk, "open", unreadable)
    assert repaired(target, record) == InternalError.NONE
    assert (target.service.repairer.bytes == 0) == (problem == "none")
    assert (target.service.pace.bytes >= len(whole)) == (problem in ("none", "damaged")), "it has a limit"
    assert bytes(target.station.file(VSEG)) == whole
    assert not target.station.poison


def test_the_name_of_a_copy_that_was_given_up_survives_a_power_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    """Acks of its class waited for no sync: neither its bytes nor its name are on the medium (36)."""
    _, _, target, owner, record = source_and_target()
    twin = Owner(VSEG)
    twin.frames = owner.frames
    target.station.store.table = Metadata(5).table
    target.hold(twin)
    synced: list[str] = []
    monkeypatch.setattr(MemoryDisk, "sync_directory", lambda _, path: synced.append(path))
    assert repaired(target, record) == InternalError.NONE
    assert target.service.repairer.bytes == 0
    assert synced == [target.station.store.directory]


def test_what_is_whole_is_not_copied_again() -> None:
    _, _, target, _, record = source_and_target()
    assert repaired(target, record) == InternalError.NONE
    copied = target.service.repairer.bytes
    assert repaired(target, record) == InternalError.NONE
    assert target.service.repairer.bytes == copied


@pytest.mark.parametrize("at", [10, FILE_HEADER_SIZE + 30, FILE_HEADER_SIZE + 60 + 136 + 100])
def test_bytes_that_change_on_the_way_are_no_copy(at: int, caplog: pytest.LogCaptureFixture) -> None:
    peers, _, target, _, record = source_and_target()

    def damage(answer: Answer) -> Answer:
        data = bytearray(answer.body)
        data[at] ^= 1
        return Answer(answer.error, memoryview(data))

    peers.answers = damage
    assert repaired(target, record) == InternalError.CONFLICT
    name = f"{VSEG.owner_epoch}/{VSEG.vlog}/{VSEG.seq}"
    assert f"broker 8 has no sound copy of virtual segment {name}: " in caplog.text
    assert VSEG not in target.station.store.copies
    target.station.loop.run(1.0)
    assert not [name for name in target.station.disk.listdir("data/replicas") if "copying" in name]


def test_short_sources_full_disks_and_open_vsegs() -> None:
    peers, _, target, owner, record = source_and_target()
    assert repaired(target, owner.record(None)) == InternalError.BAD_REQUEST
    assert repaired(target, owner.record(owner.end + 100)) == InternalError.GAP
    target.station.disk.room = 10
    assert repaired(target, record) == InternalError.FULL
    target.station.disk.room = None
    peers.services.clear()
    peers.services[8] = informed(owner.record(None))
    assert repaired(target, record) == InternalError.UNKNOWN
    assert not target.station.poison
    assert isinstance(target.service.repairer, Repairer)


def test_that_a_source_is_away_is_not_said_of_each_virtual_segment(caplog: pytest.LogCaptureFixture) -> None:
    """A broker that goes away with thousands made thousands of lines, with each try again."""
    peers, _, target, _, record = source_and_target()
    del peers.services[8]
    for seq in range(1, 51):
        other = record._replace(id=record.id._replace(seq=seq))
        assert repaired(target, other) == InternalError.REFUSED
    name = f"{VSEG.owner_epoch}/{VSEG.vlog}/1"
    (line,) = caplog.messages
    assert line.startswith(f"virtual segment {name} could not be copied from broker 8: ")


def test_that_an_owner_has_none_is_told_though_there_is_no_room_for_it() -> None:
    """With all disks full it was never asked, and no operator could give up what it had not (18b, 22)."""
    peers, _, target, _, record = source_and_target()
    mine = record._replace(node_id=ME.node_id, store_id=ME.store_id)
    for backup in (target, Backup(peers)):
        peers.services[8] = backup  # itself, or another one
        target.station.disk.room = 10
        metadata = Metadata(5)
        metadata.put(mine)
        backup.apply(metadata)
        answer = repaired(target, mine)
        assert answer == InternalError.GAP
        assert answer not in FAULTS_OF_TARGETS
    peers.services.clear()
    assert repaired(target, mine) == InternalError.FULL, "who is away has not said so"


def test_an_owner_gives_its_journal_though_what_its_store_has_is_no_copy() -> None:
    """A listed copy that it had made of it was damaged since: it said that it has none, so that an operator
    could give up what its journal had (18b, 22)."""
    peers, _, target, owner, record = source_and_target()
    mine = record._replace(node_id=ME.node_id, store_id=ME.store_id)
    peers.services[8] = source = Backup()
    torn = Owner(VSEG)
    torn.frames = owner.frames[:1]
    source.hold(torn)
    metadata = Metadata(5)
    metadata.put(mine)
    source.apply(metadata)
    disk, whole = source.station.disk, owner.first + b"".join(frame for _, frame in owner.frames)
    fd = disk.open(f"data/journal/{file_name(*VSEG)}{KEPT}", create=True)
    disk.pwritev(fd, [whole + bytes(4096)], 0)
    disk.close(fd)
    assert repaired(target, mine) == InternalError.NONE


def test_who_cannot_be_reached_has_not_said_that_it_has_none() -> None:
    """What an owner has in its journal is given up by command once it said that it has none, not because
    the network between it and whoever was to have a copy was cut (18b, 22)."""
    peers, source, target, _, record = source_and_target()
    del peers.services[8]
    assert repaired(target, record) in FAULTS_OF_TARGETS
    peers.services[8] = informed(record)
    assert repaired(target, record) not in FAULTS_OF_TARGETS
    peers.services[8] = source
    assert repaired(target, record) == InternalError.NONE
