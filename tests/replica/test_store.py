"""Directed tests of the store: pushes, fences, full disks, poison, limbo, garbage, recycling."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import partial
from random import Random

import pytest

from kproto.metadata.vlogs import VsegId
from kproto.replica.copy_files import SPARE_BYTES
from kproto.replica.reading import Extent, verify
from kproto.replica.rules import Push
from kproto.replica.store import FIRST_STEP, HELD_S, STEP
from kproto.replica.stored_file import file_name, inspect, vseg_of_name
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import FILE_HEADER_SIZE
from tests.replica.support import BOOT, ME, OTHER, OTHERS, TOPIC, MemoryDisk, Metadata, Owner, Station

VSEG = VsegId(5, 1, 2)
PART = (TOPIC, 0)
SYNCED = FlushPolicy.SYNCED


def filled(station: Station, owner: Owner, frames: int = 3) -> None:
    for _ in range(frames):
        first = owner.header_for(owner.end)
        frame = owner.push([PART, (TOPIC, 1)], [300, 200])
        assert station.push(first, frame) == (Push.STORE, owner.end)


def stored_bytes(station: Station, owner: Owner) -> bytes:
    end = FILE_HEADER_SIZE + owner.end - owner.start
    return bytes(station.file(owner.vseg)[:end])


def wire_bytes(owner: Owner) -> bytes:
    return owner.first + b"".join(frame for _, frame in owner.frames)


def test_names() -> None:
    assert vseg_of_name(file_name(VSEG)) == VSEG
    for name in ("x.replica", "1-2-3.replica", "fences", "spare-1-1.replica", file_name(VSEG) + ".copying"):
        assert vseg_of_name(name) is None


def test_frames_are_stored_as_they_came_and_acked_with_the_end() -> None:
    station, owner = Station(), Owner(VSEG, start=70_000)
    filled(station, owner)
    assert stored_bytes(station, owner) == wire_bytes(owner)


def test_the_same_frame_again_is_acked_again_and_stored_once() -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner, 4)
    for position, frame in owner.frames:
        assert station.push(owner.header_for(position), frame) == (Push.REPEATED, owner.end)
    assert stored_bytes(station, owner) == wire_bytes(owner)


def test_a_gap_is_refused_and_answered_with_the_end() -> None:
    station, owner = Station(), Owner(VSEG)
    owner.push([PART], [300])
    late = owner.push([PART], [300])
    assert station.push(None, late) == (Push.GAP, 0)
    assert station.push(owner.first, late) == (Push.GAP, 0), "a copy has its vseg from the start, or is none"
    assert station.push(owner.first, owner.frames[0][1]) == (Push.STORE, owner.frames[1][0])
    owner.push([PART], [300])
    assert station.push(None, owner.frames[2][1]) == (Push.GAP, owner.frames[1][0])


def test_other_bytes_never_overwrite() -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner, 2)
    twin = Owner(VSEG)
    stranger = [(twin.end, twin.push([PART, (TOPIC, 1)], [300, 200], fill=99)) for _ in range(3)]
    assert [station.push(None, frame) for _, frame in stranger] == [(Push.CONFLICT, owner.end)] * 3
    assert station.push(None, owner.frames[1][1][:-1]) == (Push.MALFORMED, 0)
    assert stored_bytes(station, owner) == wire_bytes(owner)


def test_a_first_frame_under_another_file_header_is_refused() -> None:
    station, owner = Station(), Owner(VSEG)
    frame = owner.push([PART], [300])
    assert station.push(Owner(VSEG, policy=SYNCED).first, frame) == (Push.CONFLICT, 0)
    assert station.push(Owner(VsegId(5, 1, 3)).first, frame) == (Push.MALFORMED, 0)
    assert station.push(b"\0" * FILE_HEADER_SIZE, frame) == (Push.MALFORMED, 0)


@pytest.mark.parametrize("at", [0, 4, 8, 20, 30, 40, 60, 80, 127])
def test_a_frame_with_a_flipped_bit_in_its_head_is_refused(at: int) -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner, 1)
    frame = bytearray(owner.push([PART], [300]))
    frame[at] ^= 1
    verdict = station.push(None, bytes(frame))
    assert verdict is not None
    assert verdict[0] in (Push.MALFORMED, Push.GAP)
    assert station.push(None, owner.frames[-1][1]) == (Push.STORE, owner.end)


def test_a_fence_is_persisted_before_the_answer_and_survives_everything() -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner)
    answers: list[tuple[int, bool]] = []
    syncs = station.disk.syncs
    station.store.seal(VSEG, 6, lambda *answer: answers.append(answer))
    assert not answers
    late = owner.push([PART], [300])
    refused = station.push(None, late, run=False)
    assert refused is not None
    assert refused[0] is Push.FENCED, "from the moment that the seal arrived"
    station.loop.run()
    assert answers == [(owner.frames[-1][0], True)]
    assert station.disk.syncs > syncs
    other = Owner(VsegId(5, 9, 9))
    for _ in range(2):
        assert station.push(other.first, other.make([PART], [300])) == (Push.FENCED, 0), "never heard of"
        station.lose_power(1)
    station.restart()
    refused = station.push(None, late)
    assert refused is not None
    assert refused[0] is Push.FENCED
    younger = Owner(VsegId(6, 1, 1))
    station.store.apply(Metadata(6).table, frozenset({6}))
    assert station.push(younger.first, younger.push([PART], [300])) == (Push.STORE, younger.end)


def test_many_fences_and_torn_records() -> None:
    station = Station()
    for epoch in range(600):
        station.seal(VsegId(epoch, 0, 1))
    path = os.path.join(station.store.directory, "fences")
    station.disk.content(path)[600 * 16 : 601 * 16] = b"\1" * 16
    station.lose_power(3)
    assert station.store.fences.epochs == set(range(600))
    station.seal(VsegId(700, 0, 1))
    station.restart()
    assert station.store.fences.epochs == {*range(600), 700}


def test_a_fence_needs_no_room_on_a_full_disk() -> None:
    station = Station()
    station.disk.room = 0
    for epoch in range(120):
        assert station.seal(VsegId(epoch, 0, 1)) == (-1, True)
    assert not station.poison


def test_a_seal_of_nothing_says_so() -> None:
    assert Station().seal(VSEG) == (-1, True)


def test_an_ack_of_the_synced_class_waits_for_the_sync() -> None:
    station, owner = Station(), Owner(VSEG, policy=SYNCED)
    first = owner.push([PART], [300])
    answers: list[tuple[Push, int]] = []
    station.store.push(owner.first, memoryview(first), lambda *answer: answers.append(answer))
    assert not answers
    station.loop.run()
    assert answers == [(Push.STORE, owner.end)]
    station.lose_power(5)
    metadata = Metadata(5)
    metadata.put(owner.record())
    station.store.apply(metadata.table, metadata.live)
    assert station.seal(VSEG) == (owner.end, True)


def test_one_sync_serves_all_acks_that_wait() -> None:
    station = Station()
    owners = [Owner(VsegId(5, vlog, 1), policy=SYNCED) for vlog in range(4)]
    for owner in owners:
        station.push(owner.first, owner.push([PART], [300]))
    answers: list[int] = []
    before = station.disk.syncs
    for owner in owners:
        for _ in range(5):
            frame = memoryview(owner.push([PART], [300]))
            station.store.push(None, frame, lambda _verdict, end: answers.append(end))
    station.loop.run()
    assert len(answers) == 20
    assert station.disk.syncs - before <= 1 + len(owners), "one group for the first, one for all the others"


def test_the_timed_class_is_synced_soon_and_acked_at_once() -> None:
    station, owner = Station(), Owner(VSEG, policy=FlushPolicy.TIMED)
    filled(station, owner)
    before = station.disk.syncs
    station.loop.run(2.0)
    assert station.disk.syncs > before
    station.disk.lose_power(Random(1))
    found = inspect(station.disk, station.store.path_of(VSEG), VSEG, True)
    assert found.end == owner.end


def test_a_full_disk_is_an_error_and_nothing_else() -> None:
    station, owner = Station(), Owner(VSEG)
    station.disk.room = 0
    frame = owner.push([PART], [300])
    assert station.push(owner.first, frame) == (Push.FULL, 0)
    station.disk.room = FIRST_STEP
    assert station.push(owner.first, frame) == (Push.STORE, owner.end)
    while (answer := station.push(None, owner.push([PART], [100_000]))) == (Push.STORE, owner.end):
        pass
    assert answer == (Push.FULL, owner.frames[-1][0])
    station.disk.room = 100_000
    assert station.push(None, owner.frames[-1][1]) == (Push.STORE, owner.end), "as much as is needed"
    assert not station.poison
    assert stored_bytes(station, owner) == wire_bytes(owner)


@pytest.mark.parametrize("operation", ["write", "sync", "allocate"])
def test_any_other_failure_is_poison(operation: str) -> None:
    station, owner = Station(), Owner(VSEG, policy=SYNCED)
    filled(station, owner)

    def fail(name: str) -> None:
        if name == operation:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    station.disk.fail = fail
    answer = station.push(None, owner.push([PART], [STEP]))
    assert answer is None or answer[0] is Push.POISONED
    station.disk.fail = lambda _name: None
    again = station.push(None, owner.frames[-1][1])
    assert again is not None
    assert again[0] is Push.POISONED, "a failed write or sync is never retried (rule 35)"
    assert len(station.poison) == 1


def test_a_restart_goes_on_where_the_killed_process_was() -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner)
    station.restart()
    filled(station, owner)
    for position, frame in owner.frames:
        assert station.push(owner.header_for(position), frame) == (Push.REPEATED, owner.end)
    assert stored_bytes(station, owner) == wire_bytes(owner)
    assert station.seal(VSEG) == (owner.end, True)


@pytest.mark.parametrize("kept", [0, 1, 30, 60, 200, 400])
def test_a_frame_torn_by_a_kill_does_not_exist(kept: int) -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner)
    end = owner.end
    torn = owner.push([PART], [400])
    at = FILE_HEADER_SIZE + end
    station.file(VSEG)[at : at + kept] = torn[:kept]
    station.restart()
    assert station.seal(VSEG, fence=False) == (end, True)
    assert station.push(None, torn) == (Push.STORE, owner.end)
    assert stored_bytes(station, owner) == wire_bytes(owner)


def test_damage_below_what_was_durable_is_no_torn_tail() -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner)
    station.file(VSEG)[FILE_HEADER_SIZE + 10] ^= 1
    station.restart()
    assert station.seal(VSEG) == (0, False), "acked bytes changed: not eligible (24c)"
    assert station.push(None, owner.push([PART], [300])) == (Push.FENCED, 0)


def test_a_damaged_copy_takes_no_more_frames() -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner)
    station.file(VSEG)[FILE_HEADER_SIZE + 10] ^= 1
    station.restart()
    assert station.push(owner.first, owner.frames[0][1]) == (Push.LIMBO, 0)


def test_an_unreadable_file_is_in_limbo() -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner)
    station.restart()

    def fail(name: str) -> None:
        if name == "read":
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    station.disk.fail = fail
    assert station.seal(VSEG) == (0, False)


class TestPowerLoss:
    """Rules 3 and 8: by default an ack survives the process, not the machine, and the store says so."""

    def test_open_vsegs_of_the_first_table_are_in_limbo_until_they_are_closed(self) -> None:
        station, owner = Station(), Owner(VSEG)
        filled(station, owner)
        station.lose_power(2)
        metadata = Metadata(5)
        metadata.put(owner.record())
        assert station.seal(VSEG, fence=False) == (
            station.store.copies[VSEG].end if VSEG in station.store.copies else -1,
            False,
        ), "before any table, nothing is believed"
        station.store.apply(metadata.table, metadata.live)
        for _ in range(2):
            sealed = station.seal(VSEG, fence=False)
            assert sealed is not None
            assert not sealed[1]
            verdict = station.push(None, owner.push([PART], [300]))
            assert verdict is not None
            assert verdict[0] is Push.LIMBO
            station.restart()  # limbo outlives the process
            station.store.apply(metadata.table, metadata.live)

    def test_what_was_lost_is_reported_as_soon_as_it_is_closed(self) -> None:
        """Not with the next scrub, an hour later: until then metadata counts on the copy (rule 17)."""
        station, whole, torn = Station(), Owner(VSEG), Owner(VsegId(5, 1, 3))
        station.push(whole.first, whole.push([PART], [300]))
        station.disk.datasync(station.store.copies[VSEG].fd)
        station.disk.sync_directory(station.store.directory)
        station.lose_power(2)
        metadata = Metadata(5)
        metadata.put(whole.record())
        metadata.put(torn.record())
        own = Owner(VsegId(5, 2, 1))
        metadata.put(own.record(None, [OTHER])._replace(node_id=ME.node_id, store_id=ME.store_id))
        station.store.apply(metadata.table, metadata.live)
        damaged: list[VsegId] = []
        station.store.on_damage = lambda vseg, _: damaged.append(vseg)
        torn.push([PART], [300])
        own.push([PART], [300])
        metadata.put(whole.record(whole.end))
        metadata.put(torn.record(torn.end))
        metadata.put(own.record(own.end, [OTHER])._replace(node_id=ME.node_id, store_id=ME.store_id))
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(1)
        assert damaged == [torn.vseg]

    def test_whoever_looks_finds_out_that_a_file_is_empty(self) -> None:
        """The scrub looks through the list of files once an hour: it would never see this one again."""
        station, owner = Station(), Owner(VSEG)
        station.push(owner.first, owner.push([PART], [300]))
        metadata = Metadata(5)
        metadata.put(owner.record(owner.end))
        station.store.apply(metadata.table, metadata.live)
        station.file(VSEG)[:200] = bytes(200)
        station.restart()
        damaged: list[VsegId] = []
        station.store.on_damage = lambda vseg, _: damaged.append(vseg)
        station.store.apply(metadata.table, metadata.live)
        station.store.find(VSEG, lambda _: None)
        station.loop.run(1)
        assert damaged == [VSEG]

    def test_a_lost_file_is_in_limbo_too(self) -> None:
        """The file itself may be what was lost."""
        station, owner = Station(), Owner(VSEG)
        metadata = Metadata(5)
        metadata.put(owner.record())
        station.lose_power(2)
        station.store.apply(metadata.table, metadata.live)
        assert station.seal(VSEG, fence=False) == (-1, False)
        verdict = station.push(owner.first, owner.push([PART], [300]))
        assert verdict == (Push.LIMBO, 0)

    def test_what_is_listed_on_others_or_opened_later_is_not(self) -> None:
        station = Station()
        mine, others = Owner(VSEG), Owner(VsegId(5, 1, 3))
        metadata = Metadata(5)
        metadata.put(others.record(None, [OTHER]))
        station.lose_power(2)
        station.store.apply(metadata.table, metadata.live)
        metadata.put(mine.record())
        station.store.apply(metadata.table, metadata.live)
        assert station.seal(mine.vseg, fence=False) == (-1, True)
        filled(station, mine)
        assert station.seal(mine.vseg, fence=False) == (mine.end, True)

    def test_a_closed_vseg_is_proven_by_its_bytes(self) -> None:
        station, owner = Station(), Owner(VSEG)
        filled(station, owner)
        station.disk.datasync(station.store.copies[VSEG].fd)
        station.disk.sync_directory(station.store.directory)
        metadata = Metadata(5)
        metadata.put(owner.record(owner.end))
        station.lose_power(2)
        station.store.apply(metadata.table, metadata.live)
        assert station.seal(VSEG) == (owner.end, True)
        assert station.store.unfit() == []

    def test_a_closed_vseg_that_is_short_wants_repair(self) -> None:
        station, owner = Station(), Owner(VSEG)
        filled(station, owner)
        metadata = Metadata(5)
        metadata.put(owner.record(owner.end + 1000))
        station.restart()
        station.store.apply(metadata.table, metadata.live)
        assert station.seal(VSEG) == (owner.end, False)
        assert station.store.unfit() == [VSEG]

    def test_a_clean_stop_loses_nothing(self) -> None:
        station, owner = Station(), Owner(VSEG)
        filled(station, owner)
        station.restart()  # what the killed process wrote is unsynced, too
        other = Owner(VsegId(5, 2, 1))
        filled(station, other)
        done: list[int] = []
        station.store.close(lambda: done.append(1))
        station.loop.run()
        assert done
        assert station.disk._open == {}
        station.lose_power(1)
        metadata = Metadata(5)
        metadata.put(owner.record())
        metadata.put(other.record())
        station.store.apply(metadata.table, metadata.live)
        assert station.seal(VSEG) == (owner.end, True)
        assert station.seal(other.vseg) == (other.end, True)

    def test_a_directory_that_lost_its_state_is_not_believed(self) -> None:
        owner, metadata = Owner(VSEG), Metadata(5)
        metadata.put(owner.record())
        station = Station(new=False)
        station.store.apply(metadata.table, metadata.live)
        assert station.seal(VSEG) == (-1, False)
        station = Station()
        station.disk.content(os.path.join(station.store.directory, "state"))[3] ^= 1
        station.restart()
        station.store.apply(metadata.table, metadata.live)
        assert station.seal(VSEG) == (-1, False)


class TestMetadata:
    """Rules 15 and 30: files go when metadata says so, and not before."""

    def test_a_closed_copy_is_cut_synced_and_gives_room_back(self) -> None:
        station, owner = Station(), Owner(VSEG)
        filled(station, owner)
        metadata = Metadata(5)
        metadata.put(owner.record(owner.frames[2][0]))
        station.store.apply(metadata.table, metadata.live)
        station.loop.run()
        assert len(station.file(VSEG)) == FILE_HEADER_SIZE + owner.frames[2][0]
        assert station.store.copies[VSEG].fd < 0
        verdict = station.push(None, owner.frames[2][1])
        assert verdict == (Push.CLOSED, owner.frames[2][0])
        station.store.copies[VSEG].pins += 1  # somebody reads it, so that it cannot be deleted yet
        metadata.delete(owner.record())
        station.store.apply(metadata.table, metadata.live)
        verdict = station.push(None, owner.frames[2][1])
        assert verdict == (Push.CLOSED, owner.frames[2][0]), "no other bytes are there (seed 11016115)"

    def test_what_metadata_deleted_or_gave_to_others_is_deleted(self) -> None:
        station = Station()
        owners = [Owner(VsegId(5, 1, seq)) for seq in range(1, 5)]
        metadata = Metadata(5)
        for owner in owners:
            filled(station, owner)
            metadata.put(owner.record(owner.end if owner is not owners[-1] else None))
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(1.0)
        assert set(station.store.copies) == {owner.vseg for owner in owners}
        metadata.delete(owners[0].record())
        metadata.put(owners[1].record(owners[1].end, OTHERS))
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(1.0)
        assert set(station.store.copies) == {owners[2].vseg, owners[3].vseg}
        names = [name for name in station.disk.listdir(station.store.directory) if vseg_of_name(name)]
        assert sorted(names) == [file_name(owners[2].vseg), file_name(owners[3].vseg)]

    def test_a_vseg_that_metadata_does_not_know_yet_is_kept(self) -> None:
        station, metadata = Station(), Metadata(5)
        known, news, newer_owner = Owner(VsegId(5, 1, 1)), Owner(VsegId(5, 1, 2)), Owner(VsegId(6, 1, 1))
        for owner in (known, news, newer_owner):
            filled(station, owner)
        metadata.put(known.record())
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(1.0)
        assert set(station.store.copies) == {known.vseg, news.vseg, newer_owner.vseg}

    def test_the_last_one_of_a_virtual_log_is_garbage_when_it_is_deleted(self) -> None:
        """Its owner lives, and nobody appends there any more: no newer one tells."""
        station, metadata = Station(), Metadata(5)
        last, news = Owner(VsegId(5, 1, 1)), Owner(VsegId(5, 2, 1))
        filled(station, last)
        metadata.put(last.record(last.end))
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(1.0)
        assert set(station.store.copies) == {last.vseg}
        metadata.delete(last.record())
        filled(station, news)
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(1.0)
        assert set(station.store.copies) == {news.vseg}, "metadata does not know that one yet"

    def test_what_a_former_process_left_is_garbage_when_it_is_deleted(self) -> None:
        """Its record was there before its first byte (4): who started since has it in its first table."""
        station, metadata = Station(), Metadata(5)
        gone, kept, news = Owner(VsegId(5, 1, 1)), Owner(VsegId(5, 2, 1)), Owner(VsegId(5, 3, 1))
        filled(station, gone)
        filled(station, kept)
        station.restart()
        filled(station, news)
        station.loop.run(1.0)
        assert set(station.store.copies) == {gone.vseg, kept.vseg, news.vseg}, "nothing is known yet"
        metadata.put(kept.record())
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(1.0)
        assert set(station.store.copies) == {kept.vseg, news.vseg}

    def test_what_an_owner_that_is_over_left_unlisted_is_garbage(self) -> None:
        station, metadata = Station(), Metadata(5, 9)
        owner = Owner(VSEG)
        filled(station, owner)
        metadata.fence(5)
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(1.0)
        assert not station.store.copies
        verdict = station.push(owner.first, owner.frames[0][1])
        assert verdict is not None
        assert verdict[0] is Push.FENCED, "metadata shows that the epoch is over"

    def test_a_read_under_way_keeps_the_bytes(self) -> None:
        station, metadata = Station(), Metadata(5, 9)
        owner = Owner(VSEG)
        filled(station, owner)
        station.store.copies[VSEG].pins += 1
        metadata.fence(5)
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(1.0)
        assert VSEG in station.store.copies
        station.store.copies[VSEG].pins -= 1
        station.loop.run(1.0)
        assert not station.store.copies

    def test_a_large_file_is_taken_over_by_the_next_copy(self) -> None:
        station, metadata = Station(), Metadata(5)
        owner, after = Owner(VSEG, size=4 << 20), Owner(VsegId(5, 1, 3))
        first = owner.push([PART], [SPARE_BYTES])
        station.push(owner.first, first)
        metadata.put(owner.record(None, [OTHER]))
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(1.0)
        station.disk.room = 0
        filled(station, after)
        assert stored_bytes(station, after) == wire_bytes(after)
        station.restart()
        assert station.seal(after.vseg) == (after.end, True), "what is left of the former life is nothing"

    def test_names_are_free_again_at_once(self) -> None:
        """A deletion in the background never hits the next file of the same name."""
        station, owner = Station(), Owner(VSEG)
        filled(station, owner)
        station.file(VSEG)[:] = bytes(len(station.file(VSEG)))
        station.restart()
        assert station.push(owner.first, owner.frames[0][1]) == (Push.STORE, owner.frames[1][0])
        station.loop.run(1.0)
        assert station.seal(VSEG) == (owner.frames[1][0], True)

    def repaired(self, station: Station, owner: Owner) -> Callable[[], None]:
        """The same copy was made once more; what is called when it is whole."""
        found = inspect(station.disk, station.store.path_of(VSEG), VSEG, True)
        temporary = station.store.path_of(VSEG) + ".copying"
        fd = station.disk.open(temporary, create=True)
        station.disk.pwritev(fd, [stored_bytes(station, owner)], 0)
        station.disk.close(fd)
        return partial(station.store.adopt, VSEG, temporary, found)

    def test_a_repaired_copy_of_what_was_freed_meanwhile_goes_without_news(self) -> None:
        """Found by simulation: metadata did not change any more, and it stayed for ever."""
        station, metadata, owner = Station(), Metadata(5, 6), Owner(VSEG)
        filled(station, owner)
        adopt = self.repaired(station, owner)
        metadata.fence(5)
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(1.0)
        assert VSEG not in station.store.copies
        adopt()
        station.loop.run(HELD_S / 2)
        assert VSEG in station.store.copies, "it may be listed in a moment"
        station.loop.run(HELD_S)
        assert VSEG not in station.store.copies

    def test_a_repaired_copy_is_held_while_a_broker_may_be_cut_off(self) -> None:
        """It may have been listed since, and be the only one."""
        station, metadata, owner = Station(cut_off_s=3 * HELD_S), Metadata(5), Owner(VSEG)
        filled(station, owner)
        self.repaired(station, owner)()
        metadata.put(owner.record(owner.end, OTHERS))
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(3.5 * HELD_S)
        assert VSEG in station.store.copies
        station.loop.run(HELD_S)
        assert VSEG not in station.store.copies

    def test_a_copy_that_is_listed_late_and_heard_of_late_is_held(self) -> None:
        """The answer counts for half of the hold, the decision is to be written, and who serves on without
        a controller hears of it as late as that lasts: one does not eat up the time of another."""
        cut_off_s = HELD_S / 2
        station, metadata, owner = Station(cut_off_s=cut_off_s), Metadata(5), Owner(VSEG)
        filled(station, owner)
        self.repaired(station, owner)()
        metadata.put(owner.record(owner.end, OTHERS))
        station.store.apply(metadata.table, metadata.live)
        written_s = 10.0
        station.loop.run(HELD_S / 2 + written_s + cut_off_s)
        assert VSEG in station.store.copies
        metadata.put(owner.record(owner.end, [OTHER, ME]))
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(3 * HELD_S)
        assert VSEG in station.store.copies

    def test_what_is_listed_and_deleted_while_another_is_held_is_garbage(self) -> None:
        """Found by simulation: metadata was not looked at until the other could go. So this one was never
        seen in it, and stayed."""
        station, metadata = Station(), Metadata(5)
        owner, last = Owner(VSEG), Owner(VsegId(5, 2, 1))
        filled(station, owner)
        self.repaired(station, owner)()
        metadata.put(owner.record(owner.end, OTHERS))
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(HELD_S / 4)
        filled(station, last)
        metadata.put(last.record(last.end))
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(HELD_S / 4)
        metadata.delete(last.record())
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(HELD_S / 4)
        assert set(station.store.copies) == {VSEG}
        station.loop.run(HELD_S * 2)
        assert not station.store.copies

    def test_a_repaired_copy_is_held_until_it_is_listed(self) -> None:
        station, metadata, owner = Station(), Metadata(5), Owner(VSEG)
        filled(station, owner)
        self.repaired(station, owner)()
        metadata.put(owner.record(owner.end, OTHERS))
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(HELD_S / 2)
        assert VSEG in station.store.copies
        metadata.put(owner.record(owner.end, [OTHER, ME]))
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(HELD_S * 2)
        assert station.seal(VSEG) == (owner.end, True)

    def test_nothing_waits_for_a_repaired_copy_that_is_held(self) -> None:
        """Found by simulation: while one was held, no file was closed or deleted."""
        station, metadata, owner, closed = Station(), Metadata(5), Owner(VSEG), Owner(VsegId(5, 2, 1))
        filled(station, owner)
        filled(station, closed)
        self.repaired(station, owner)()
        metadata.put(owner.record(owner.end, OTHERS))
        metadata.put(closed.record())
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(1.0)
        metadata.put(closed.record(closed.end))
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(1.0)
        assert station.store.copies[closed.vseg].settled
        metadata.delete(closed.record())
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(1.0)
        assert set(station.store.copies) == {VSEG}

    def test_a_closed_copy_is_not_cached(self) -> None:
        """Nobody reads it but a repair or a recovery, and clients want the memory."""
        station, metadata, owner = Station(), Metadata(5), Owner(VSEG)
        filled(station, owner)
        metadata.put(owner.record())
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(1.0)
        assert not station.disk.dropped
        metadata.put(owner.record(owner.end))
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(1.0)
        assert station.disk.dropped == [FILE_HEADER_SIZE + owner.end]

    def test_what_a_scrub_reads_is_not_cached(self) -> None:
        """Its next look would be at the memory, not at the medium."""
        station, owner = Station(), Owner(VSEG)
        filled(station, owner)
        disk, copy = station.disk, station.store.copies[VSEG]
        disk.datasync(copy.fd)
        extent = Extent(station.store.path_of(VSEG), VSEG, FILE_HEADER_SIZE, 0, owner.end)
        assert verify(disk, extent, 0, owner.end) == owner.end
        assert disk.dropped == [copy.reserved]

    def test_a_copy_that_was_repaired_too_late_goes_after_its_hold(self) -> None:
        """Found by simulation: the record went just before, and its owner lives and has no newer one."""
        station, metadata, owner = Station(), Metadata(5), Owner(VSEG)
        filled(station, owner)
        adopt = self.repaired(station, owner)
        metadata.put(owner.record(owner.end))
        station.store.apply(metadata.table, metadata.live)
        metadata.delete(owner.record())
        station.store.apply(metadata.table, metadata.live)
        adopt()
        station.loop.run(HELD_S / 2)
        assert VSEG in station.store.copies
        station.loop.run(HELD_S)
        assert VSEG not in station.store.copies

    def test_who_was_stopped_holds_a_repaired_copy_anew(self) -> None:
        """What it knows is from before: the copy may be listed since. (Seed 30190077: as the hold ended.)"""
        station, metadata, owner = Station(), Metadata(5), Owner(VSEG)
        filled(station, owner)
        self.repaired(station, owner)()
        metadata.put(owner.record(owner.end, OTHERS))
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(1.0)
        station.loop.now += HELD_S - 0.5
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(1.0)
        assert VSEG in station.store.copies
        metadata.put(owner.record(owner.end, [OTHER, ME]))
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(2 * HELD_S)
        assert station.seal(VSEG) == (owner.end, True)

    def test_who_knows_nothing_yet_deletes_nothing(self) -> None:
        """A repair was ordered of it before it is registered."""
        station, metadata, owner, other = Station(), Metadata(5), Owner(VSEG), Owner(VsegId(5, 2, 1))
        filled(station, owner)
        filled(station, other)
        station.restart()
        self.repaired(station, owner)()
        station.loop.run(3 * HELD_S)
        assert set(station.store.copies) == {VSEG, other.vseg}
        metadata.put(owner.record(owner.end))
        metadata.put(other.record())
        station.store.apply(metadata.table, metadata.live)
        station.loop.run(3 * HELD_S)
        assert set(station.store.copies) == {VSEG, other.vseg}


def test_a_start_reads_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    station = Station()
    for seq in range(20):
        filled(station, Owner(VsegId(5, 1, seq)), 1)
    disk: MemoryDisk = station.disk
    reads: list[str] = []
    disk.fail = lambda name: reads.append(name) if name == "read" else None
    station.restart()
    assert len(reads) == 2, "the fences and the state"
    assert len(station.store.copies) == 20
    assert station.boot == BOOT


def test_an_end_on_a_full_disk_is_an_end() -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner)

    def full(operation: str) -> None:
        if operation == "write":
            raise OSError(errno.ENOSPC, "full")

    station.disk.fail = full
    ended: list[bool] = []
    station.store.close(lambda: ended.append(True))
    station.loop.run(1)
    assert ended == [True]
    assert not station.store.poisoned


def test_what_a_power_loss_may_have_taken_is_kept_when_the_disk_has_room_for_it() -> None:
    """Until then the next start judges again; the process goes on."""
    station, owner = Station(), Owner(VSEG)
    metadata = Metadata(5)
    metadata.put(owner.record())
    station.lose_power(2)

    def full(operation: str) -> None:
        if operation == "write":
            raise OSError(errno.ENOSPC, "full")

    station.disk.fail = full
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(5)
    assert not station.store.poisoned
    assert station.store.state.limbo == {VSEG}
    station.disk.fail = lambda _: None
    station.loop.run(5)
    station.restart()
    assert station.store.state.limbo == {VSEG}


def test_what_an_earlier_process_stored_is_synced_before_it_is_acked_again() -> None:
    """Rule 8: that process was killed before its own sync."""
    station, owner = Station(), Owner(VSEG, 0, FlushPolicy.SYNCED)
    frame = owner.push([PART], [300])
    station.store.push(owner.first, memoryview(frame), lambda *_: None)
    station.restart()
    metadata = Metadata(5)
    metadata.put(owner.record())
    station.store.apply(metadata.table, metadata.live)
    answer = station.push(owner.first, frame)
    assert answer is not None
    assert answer[0] is Push.REPEATED
    station.lose_power(3)
    station.store.apply(metadata.table, metadata.live)
    assert station.seal(VSEG) == (owner.end, True)
