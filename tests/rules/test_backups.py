"""What a backup promises: fences, syncs, and what its copies are worth (rules 3, 6, 8, 15, 20, 22, 24)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from kproto.broker import Broker
from kproto.config import load
from kproto.controller.sealing import Ask
from kproto.directory import DataDirectory
from kproto.metadata.vlogs import VsegId
from kproto.replica.messages import Read, ReadAnswer, Seal, Sealed
from kproto.replica.rules import Push
from kproto.replica.scrub import Scrub
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import FILE_HEADER_SIZE
from kproto.wire.internal import Api, InternalError
from tests.controller.cluster_world import cluster
from tests.replica.support import ME, TOPIC, Metadata, Owner, Station
from tests.replica.test_service import Backup

from .support import needs, promise

VSEG = VsegId(5, 1, 1)
PART = (TOPIC, 0)


def written(station: Station, frames: int, policy: FlushPolicy = FlushPolicy.MEMORY) -> Owner:
    """An owner, and a backup that acknowledged its frames."""
    owner = Owner(VSEG, policy=policy)
    for _ in range(frames):
        first = owner.header_for(owner.end)
        assert station.push(first, owner.push([PART], [300])) == (Push.STORE, owner.end)
    return owner


def acked_end(station: Station, owner: Owner) -> int:
    """Push the next frame, and stop everything right behind its ack."""
    answers: list[int] = []
    frame = owner.push([PART], [300])
    first = owner.header_for(owner.frames[-1][0])
    station.store.push(first, memoryview(frame), lambda _, end: answers.append(end))
    while not answers:
        assert station.loop.ready, "no answer will come"
        callback, arguments = station.loop.ready.popleft()
        callback(*arguments)
    return answers[0]


def late_push(station: Station, owner: Owner) -> Push:
    """The owner was only asleep: it pushes another frame."""
    answer = station.push(None, owner.push([PART], [300]))
    assert answer is not None
    return answer[0]


@needs("fences are ignored")
def test_what_a_sealed_backup_says_is_the_end_stays_the_end() -> None:
    """The controller takes the owner for dead and seals: the log ends where the backup says. The owner wakes
    up and pushes. If the backup took that, the owner would acknowledge what no new leader has (20)."""
    station = Station()
    owner = written(station, 2)
    assert station.seal(VSEG) == (owner.end, True)
    promise(late_push(station, owner) is Push.FENCED, "S7: a push is acked below a fence")


@needs("parts of a failed directory go on")
def test_a_backup_whose_own_journal_failed_takes_no_pushes() -> None:
    """What is written to a disk that fails may be gone, whichever file the kernel could not write. The broker
    ends, but not at once; until then the owner of the copy would believe it (35)."""
    station = Station()
    owner = written(station, 2)
    broker = Broker(load(None, {"listeners": "PLAINTEXT://127.0.0.1:0"}))
    broker._directory = cast(DataDirectory, SimpleNamespace(doubt=lambda: None))
    broker._poisoned_together.append(station.store.poison)
    broker._on_poison("the journal could not be synced")
    promise(late_push(station, owner) is Push.POISONED, "S16: a push is acked in a failed directory")


@needs("SEAL carries no fence")
def test_the_controllers_seal_fences() -> None:
    """The same, with the very request that the controller sends: without a fence in it the backup goes on
    taking pushes of an owner whose log has been ended (20)."""
    world = cluster(3, t=(1, 3, [1]))
    for _ in range(3):
        world.register(1)  # whoever starts again has the next epoch
    assert world.commit_all(world.assign()) == [True]
    vseg = world.open(1)
    world.fence(1)
    ask: Ask = world.plan().asks[0]
    station = Station()
    owner = Owner(vseg.id)
    station.push(owner.first, owner.push([PART], [300]))
    answers: list[tuple[int, bool]] = []
    station.store.seal(ask.vseg, ask.fence, lambda *answer: answers.append(answer))
    station.loop.run()
    assert answers == [(owner.end, True)]
    promise(late_push(station, owner) is Push.FENCED, "S7: SEAL was answered, and a later push is acked")


@needs("fences are not persisted")
def test_a_fence_outlives_a_power_loss() -> None:
    """The backup loses power right behind its answer to SEAL. When it is back the owner, still cut off from
    the controller, pushes the first frame of another virtual segment: the fence must be there (20)."""
    station = Station()
    written(station, 2)
    assert station.seal(VSEG) is not None
    station.lose_power(1)
    other = Owner(VSEG._replace(vlog=2))
    answer = station.push(other.first, other.push([PART], [300]))
    promise(answer == (Push.FENCED, 0), "S7: the fence did not survive")


@needs("an ack does not wait for the sync")
def test_an_ack_of_a_synced_topic_means_the_medium() -> None:
    """flush.messages=1. The power goes as soon as the ack is out, on every machine at once: what was
    acknowledged is on the medium (8)."""
    for seed in range(10):
        station = Station()
        owner = Owner(VSEG, policy=FlushPolicy.SYNCED)
        acked = 0
        for _ in range(3):
            acked = acked_end(station, owner)
        station.lose_power(seed)
        found = station.seal(VSEG)
        promise(
            found is not None and found[1] and found[0] >= acked, f"S1: {acked} was acked, {found} is left"
        )


@needs("power losses leave no limbo")
def test_after_a_power_loss_an_empty_disk_proves_nothing() -> None:
    """Acks of a default topic wait for no sync. The backup loses power and its files with it. It must not
    say that it never had anything: with that answer the log would end at 0 (3, 8, 22)."""
    for seed in range(10):
        station, metadata = Station(), Metadata(5)
        owner = written(station, 2)
        metadata.put(owner.record())
        station.lose_power(seed)
        station.store.apply(metadata.table, metadata.live)
        station.loop.run()
        answer = station.seal(VSEG)
        assert answer is not None
        position, usable = answer
        promise(not usable or position >= owner.end, f"S1: sealed at {position}, {owner.end} was acked")


@needs("every copy is eligible")
def test_a_copy_with_a_damaged_middle_does_not_seal() -> None:
    """A bit flips in the first of three acknowledged frames. The sound part is empty; the third frame tells
    that more was durable. That is no torn tail: the copy must not say where the log ends (22, 24c)."""
    station = Station()
    owner = written(station, 3)
    station.file(VSEG)[FILE_HEADER_SIZE + 10] ^= 1
    station.restart()
    backup = Backup.of(station)
    error, body = backup.ask(Api.SEAL, Seal(VSEG, 6, ME.store_id).encode())
    assert error == InternalError.NONE
    sealed = Sealed.decode(body)
    promise(sealed.limbo or sealed.position >= owner.end, f"S1: the log is sealed at {sealed.position}")


@needs("copies are not clipped")
def test_what_lies_behind_the_recorded_end_is_not_read() -> None:
    """Rule 13 ended the virtual segment behind its second frame, because another backup failed: the third one
    was pushed again, into the next virtual segment, perhaps as something else. A reader must not get it from
    here (15)."""
    backup, owner, metadata = Backup(), Owner(VSEG), Metadata(5)
    for _ in range(3):
        owner.push([PART], [300])
    backup.hold(owner)
    end = owner.frames[2][0]
    metadata.put(owner.record(end))
    read = Read(VSEG, 0, owner.end, [PART], 10_000).encode()
    backup.station.store.table = metadata.table  # before anybody had the time to cut the file
    error, body = backup.ask(Api.READ, read)
    assert error == InternalError.NONE
    found = len(ReadAnswer.decode(body).chunks)
    promise(found == 2, f"S2: {found} chunks are read from a virtual segment that ends behind 2")


@needs("nobody scrubs")
def test_rot_is_found_while_another_copy_is_there() -> None:
    """A bit flips in a closed copy that nobody reads. It must be found and reported, so that it is made anew
    before the other copies are lost (17, 37)."""
    backup, owner, metadata = Backup(), Owner(VSEG), Metadata(5)
    for _ in range(3):
        owner.push([PART], [300])
    backup.hold(owner)
    metadata.put(owner.record(owner.end))
    backup.apply(metadata)
    backup.station.file(VSEG)[owner.end - 20] ^= 1
    Scrub(backup.service, pause_s=1.0, round_s=1000.0).start()
    backup.station.loop.run(2000.0)
    promise(VSEG in backup.damage, "S8: nobody knows that a copy is damaged")
