"""Whom a reader asks, what a store says that cannot persist a fence, and orders that come twice."""

from __future__ import annotations

import asyncio
import errno
import os
from types import SimpleNamespace
from typing import Any

import pytest

from kproto.metadata import MetadataImage
from kproto.metadata.records import BrokerRecord
from kproto.metadata.vlogs import CopyTarget, VsegId, VsegRecord
from kproto.net.internal import Caller
from kproto.net.ports import Answer, PeerError
from kproto.replica import repair as repair_module
from kproto.replica import scrub as scrub_module
from kproto.replica import service
from kproto.replica.copies import NO_FILE
from kproto.replica.messages import Look, PartitionState, Read, Repair
from kproto.replica.reach import NoCopyError, Reach
from kproto.replica.reading import verify
from kproto.replica.repair import Repairer
from kproto.replica.scrub import Scrub
from kproto.replica.survey import Found, survey
from kproto.wire import WireError
from kproto.wire.internal import Api, InternalError
from tests.replica.support import TOPIC, Metadata, Owner, Station
from tests.replica.test_repair import repaired, source_and_target
from tests.replica.test_service import PARTS, VSEG, Backup, LocalPeers, scrubbing, two_frames
from tests.replica.test_store_waiting import BusyWorker

# Whom to ask


def reach(me: int, stores: dict[int, str], peers: Any = None) -> Reach:
    brokers = {node: BrokerRecord(node, node, "h", 1, None, "h", 2, store) for node, store in stores.items()}
    office: Any = SimpleNamespace(image=MetadataImage(1, brokers=brokers))
    return Reach(peers, office, me)


def record(*backups: int, seq: int = 0) -> VsegRecord:
    """Owner 1; copies in the directories ``s<node>``."""
    return VsegRecord(
        VsegId(9, 1, seq), 1, "s1", 3, 0, 0, 100, tuple(CopyTarget(node, f"s{node}") for node in backups)
    )


def test_the_own_copy_is_asked_first_and_others_in_turn() -> None:
    stores = {node: f"s{node}" for node in range(1, 6)}
    assert reach(3, stores).nodes(record(2, 3, 4)) == [3, 2, 4, 1]
    asked_first = [reach(5, stores).nodes(record(2, 3, 4, seq=seq))[0] for seq in range(3)]
    assert sorted(asked_first) == [2, 3, 4], "each segment begins with another copy"


def test_the_owner_is_asked_when_no_backup_is_there_and_its_directory_is_the_same() -> None:
    """Its journal may be the only copy that is left (18b)."""
    assert reach(5, {1: "s1", 2: "wiped", 5: "s5"}).nodes(record(2, 3)) == [1]
    assert reach(1, {1: "s1"}).nodes(record(2, 3)) == [1]
    assert reach(5, {1: "wiped", 5: "s5"}).nodes(record(2, 3)) == []


def test_the_owner_is_asked_last_when_backups_are_there() -> None:
    """What they have may turn out to be no copy, while its journal is still there (18b)."""
    stores = {node: f"s{node}" for node in range(1, 6)}
    assert reach(5, stores).nodes(record(2, 3)) == [3, 2, 1]
    assert reach(1, stores).nodes(record(2, 3, seq=1)) == [2, 3, 1]
    assert reach(2, stores).nodes(record(2)) == [2, 1]
    assert reach(5, {**stores, 1: "wiped"}).nodes(record(2, 3)) == [3, 2]
    assert reach(5, stores).nodes(record(2, 1)).count(1) == 1, "its copy is a backup's now"
    none = record(2, 3)._replace(denied=((3, 3),))
    assert reach(5, stores).nodes(none) == [2, 3, 1], "who said that it has none may have some of it"
    late = reach(5, stores)
    late._slow.update((2, 3))
    assert late.nodes(record(2, 3))[-1] == 1


def test_every_copy_is_asked_and_what_each_said_is_told() -> None:
    asked: list[int] = []

    class Peers:
        async def call(self, node: int, api: int, body: Any, timeout: float) -> Answer:
            asked.append(node)
            if node == 2:
                raise PeerError("silent")
            if node == 3:
                return Answer(InternalError.LIMBO, memoryview(b""))
            return Answer(InternalError.NONE, memoryview(b"rubbish"))

    def decode(_: memoryview) -> None:
        raise WireError("rubbish")

    one = reach(5, {node: f"s{node}" for node in range(2, 6)}, Peers())
    with pytest.raises(NoCopyError, match="9/1/0 cannot be read") as told:
        asyncio.run(one.ask(record(2, 3, 4), Api.CATALOG, Look(VSEG, 9, []), decode))
    assert all(why in str(told.value) for why in ("2: no answer", "3: error 4", "4: rubbish"))
    assert sorted(asked) == [2, 2, 3, 4], "only who was silent is asked again"
    assert one.nodes(record(2, 3, 4))[-1] == 2, "and then last"
    with pytest.raises(NoCopyError, match="no broker with a copy is a member"):
        asyncio.run(reach(5, {5: "s5"}, Peers()).ask(record(2, 3), Api.CATALOG, Look(VSEG, 9, []), decode))


# What is found


def test_the_newest_of_two_states_counts_in_whatever_order_they_come() -> None:
    key = (TOPIC, 0)
    states = [PartitionState(0, 0, end, b"e%d" % end, b"") for end in (5, 9, 7)]
    found = Found()
    for state in states:
        found.note_states([key], [state])
    assert (found.states[key].end_offset, found.states[key].epochs) == (9, b"e9")


def test_empty_virtual_segments_are_asked_of_nobody() -> None:
    empty = record(2)._replace(end=0)
    nobody: Any = None
    found = asyncio.run(survey(nobody, [empty], {(TOPIC, 0): 0}))
    assert not found.states
    assert not found.chunks


# Fences


def test_a_fence_that_is_not_on_the_medium_is_no_answer() -> None:
    """Whoever seals believes that nothing is added any more, also after a power loss (20)."""
    station, owner = Station(), Owner(VSEG)
    station.push(owner.first, owner.push([PARTS[0]], [300]))

    def fail(name: str) -> None:
        if name == "sync":
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    station.disk.fail = fail
    assert station.seal(VSEG) is None
    assert len(station.poison) == 1
    station.disk.fail = lambda _: None
    assert station.seal(VSEG) is None, "nor when it is asked again"
    assert station.seal(VsegId(9, 1, 1)) is None


def test_fences_that_come_while_one_is_written_share_the_next_write() -> None:
    station = Station()
    told: list[int] = []
    for epoch in (1, 2, 3, 2):
        station.store.fences.add(epoch, lambda epoch=epoch: told.append(epoch))  # type: ignore[misc]
    before = station.disk.syncs
    station.loop.run()
    assert sorted(told) == [1, 2, 2, 3]
    assert station.disk.syncs - before == 2
    station.store.fences.add(2, lambda: told.append(20))
    assert told[-1] == 20, "it is there already"


# Reads


def test_a_read_from_before_the_begin_of_a_copy_is_refused() -> None:
    backup, owner = Backup(), Owner(VSEG, start=1000)
    owner.push([PARTS[0]], [300])
    backup.hold(owner)
    good = Read(VSEG, 1000, owner.end, PARTS, 1 << 20)
    assert backup.ask(Api.READ, good.encode())[0] == InternalError.NONE
    assert backup.ask(Api.READ, good._replace(begin=900).encode())[0] == InternalError.BAD_REQUEST


def test_a_read_that_fails_in_an_unexpected_way_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is called damaged because of it."""
    backup, owner = Backup(), two_frames()
    backup.hold(owner)

    def broken(*_: object) -> None:
        raise ValueError("what is this?")

    monkeypatch.setattr(service, "select", broken)
    error, _ = backup.ask(Api.READ, Read(VSEG, 0, owner.end, PARTS, 1 << 20).encode())
    assert error == InternalError.CONFLICT
    assert not backup.damage
    monkeypatch.undo()
    assert backup.ask(Api.READ, Read(VSEG, 0, owner.end, PARTS, 1 << 20).encode())[0] == InternalError.NONE


# Repairs and the scrub


def test_the_same_repair_is_not_done_twice_at_a_time() -> None:
    _, _, target, _, whole = source_and_target()

    async def run() -> list[int]:
        body = memoryview(Repair(whole, 8).encode())
        tasks = [asyncio.ensure_future(target.service.repairer.handle(Caller(3, 5), body)) for _ in range(2)]
        while not all(task.done() for task in tasks):
            await asyncio.sleep(0)
            target.station.loop.run()
        return [task.result()[0] for task in tasks]

    assert asyncio.run(run()) == [InternalError.NONE, InternalError.NONE]
    assert target.service.repairer.bytes == len(target.station.file(VSEG))
    assert target.station.store.unfit() == []


def test_who_ordered_a_long_repair_hears_that_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """And when it is over, whoever asks; a broker that ends does not wait for it."""
    monkeypatch.setattr(repair_module, "REPORT_SECONDS", 0.01)
    peers, source, target, _, whole = source_and_target()

    class Late(LocalPeers):
        async def call(self, node_id: int, api: int, body: Any = b"", timeout: float = 10.0) -> Answer:
            await come.wait()
            return await peers.call(node_id, api, body, timeout)

    async def run() -> None:
        repairer = Repairer(target.station.store, Late(), "data/journal", target.service.pace)
        driven = asyncio.ensure_future(drive())
        for _ in range(3):
            assert await repairer.repair(whole, 8) == InternalError.WAIT
        repairer.close()
        with pytest.raises(asyncio.CancelledError):
            await repairer.repair(whole, 8)
        assert await repairer.repair(whole, 8) == InternalError.WAIT
        come.set()
        asked = [repairer.repair(whole, 8), repairer.repair(whole, 8)]
        assert await asyncio.gather(*asked) == [InternalError.NONE, InternalError.NONE]
        assert repairer.bytes == len(target.station.file(VSEG))
        driven.cancel()

    async def drive() -> None:
        while True:
            await asyncio.sleep(0)
            target.station.loop.run()

    come = asyncio.Event()
    asyncio.run(run())
    assert source.damage == []


def test_a_source_that_sends_more_than_was_asked_for_is_no_source() -> None:
    peers, _, target, _, whole = source_and_target()
    peers.answers = lambda answer: Answer(answer.error, memoryview(bytes(answer.body) + b"more"))
    assert repaired(target, whole) == InternalError.GAP
    assert VSEG not in target.station.store.copies


@pytest.mark.parametrize("has_it", [False, True])
def test_a_repair_on_a_failing_disk_is_poison_and_no_answer(
    monkeypatch: pytest.MonkeyPatch, has_it: bool
) -> None:
    """What it has the next process finds: an operator could give that up until this one had ended (22)."""
    monkeypatch.setattr(repair_module, "REPORT_SECONDS", 0.01)
    _, _, target, owner, whole = source_and_target()
    if has_it:
        target = Backup()
        target.hold(owner)
        metadata = Metadata(5)
        metadata.put(whole)
        target.apply(metadata)

    def fail(name: str) -> None:
        if name == ("sync" if has_it else "write"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    target.station.disk.fail = fail
    assert repaired(target, whole) == InternalError.WAIT
    assert len(target.station.poison) == 1


def test_a_repair_that_is_given_up_closes_its_file_behind_what_is_still_to_be_written() -> None:
    """It was closed at once, and what the worker wrote then went to whatever file had got its number."""
    _, _, target, _, whole = source_and_target()
    store, opened = target.station.store, set(target.station.disk._open)
    busy = BusyWorker()
    store.workers = store.workers._replace(background=busy)

    async def run() -> None:
        task = asyncio.ensure_future(target.service.repairer.repair(whole, 8))
        await some_job()
        busy.finish()  # the file is made
        await some_job()  # and something is to be written
        target.service.repairer.close()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def some_job() -> None:
        while not busy.jobs:
            await asyncio.sleep(0)

    asyncio.run(run())
    while busy.jobs:
        busy.finish()
    target.station.loop.run()
    assert set(target.station.disk._open) == opened
    assert not target.station.poison


@pytest.mark.parametrize("seconds", [0.0, 1.5, 3.5])
def test_a_scrub_that_is_stopped_reads_no_more(seconds: float) -> None:
    owner = Owner(VSEG)
    backup, scrub = scrubbing(owner, frames=40)
    backup.station.loop.run(seconds)
    scrub.stop()
    read = scrub.bytes
    assert read < owner.end - owner.start
    backup.station.loop.run(5000.0)
    assert (scrub.bytes, scrub.rounds) == (read, 0)


def test_a_scrub_goes_on_after_what_nobody_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ended for ever before, and no damage was found any more."""
    backup, metadata = Backup(LocalPeers()), Metadata(5)
    owners = [Owner(VsegId(5, 1, seq)) for seq in (1, 2)]
    for owner in owners:
        owner.push(PARTS, [300, 200, 100, 90])
        backup.hold(owner)
        metadata.put(owner.record(owner.end))
    backup.apply(metadata)
    looks: list[VsegId] = []

    def failing(disk: Any, extent: Any, *more: Any) -> int:
        looks.append(extent.vseg)
        if len(looks) == 1:
            raise ValueError("what is this?")
        return verify(disk, extent, *more)

    monkeypatch.setattr(scrub_module, "verify", failing)
    scrub = Scrub(backup.service, pause_s=1.0, round_s=1000.0)
    scrub.start()
    backup.station.loop.run(100.0)
    assert looks == [owner.vseg for owner in owners]
    assert scrub.rounds == 1
    assert not backup.damage, "the copy is as good as before"


def test_a_copy_that_is_settled_while_it_is_scrubbed_is_closed_then() -> None:
    """Its descriptor stayed open for as long as the copy was kept, unless somebody read that."""
    backup, metadata, owner = Backup(LocalPeers()), Metadata(5), two_frames()
    backup.hold(owner)
    store, loop = backup.station.store, backup.station.loop
    background, reads = BusyWorker(), BusyWorker()
    store.workers = store.workers._replace(background=background, reads=reads)
    metadata.put(owner.record(owner.end))
    backup.apply(metadata)
    Scrub(backup.service, pause_s=1.0, round_s=1000.0).start()
    loop.run(2.0)
    assert store.copies[owner.vseg].pins == 2
    background.finish()
    while reads.jobs:
        reads.finish()
        loop.run(10.0)
    assert store.copies[owner.vseg].pins == 0
    assert store.copies[owner.vseg].fd == NO_FILE
