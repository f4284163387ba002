"""A store whose disk fails, and one that ends while something is under way: what it may still say."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kproto.disk import PAGE, Disk
from kproto.metadata.vlogs import VsegId
from kproto.replica.copy_files import SPARE_BYTES
from kproto.replica.rules import Presence, Push
from kproto.replica.store import DIRECTORY
from kproto.replica.store_state import STATE_FILE, read_state
from kproto.replica.stored_file import inspect
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import FILE_HEADER_SIZE
from tests.descriptors import NoDescriptor
from tests.replica.support import ME, OTHER, Metadata, Owner, Station
from tests.replica.test_store import PART, SYNCED, VSEG, filled, stored_bytes, wire_bytes


def failing(operation: str, number: int = errno.EIO) -> Callable[[str], None]:
    def fail(name: str) -> None:
        if name == operation:
            raise OSError(number, os.strerror(number))

    return fail


def whole(_: str) -> None:
    """Nothing fails."""


def listed(owner: Owner, end: int | None = None) -> Metadata:
    metadata = Metadata(5)
    metadata.put(owner.record(end))
    return metadata


@pytest.mark.parametrize("sync_fails", [False, True])
def test_only_an_end_that_synced_everything_is_a_clean_one(sync_fails: bool) -> None:
    """After a power loss a store that ended cleanly has all that it acked; another one does not know."""
    station, owner = Station(), Owner(VSEG)
    filled(station, owner)
    ended: list[bool] = []
    station.disk.fail = failing("sync") if sync_fails else whole
    station.store.close(lambda: ended.append(True))
    station.loop.run(1)
    station.disk.fail = whole
    assert ended == [True]
    assert len(station.poison) == sync_fails
    assert not station.disk._open, "no descriptor is left"
    station.lose_power(3)
    metadata = listed(owner)
    station.store.apply(metadata.table, metadata.live)
    assert station.store.state.limbo == ({VSEG} if sync_fails else set())


def test_an_end_closes_the_files_that_were_kept_for_later() -> None:
    station, owner = Station(), Owner(VSEG, size=4 << 20)
    station.push(owner.first, owner.push([PART], [SPARE_BYTES]))
    metadata = Metadata(5)
    metadata.put(owner.record(None, [OTHER]))
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    station.store.close()
    station.loop.run(1.0)
    assert not station.disk._open
    station.restart()
    assert not station.store.copies, "a spare is no copy"


def test_what_a_spare_had_is_zero_behind_the_first_frame_to_the_end_of_its_page() -> None:
    """So that the next frames need nothing of it (`rest_of_page`)."""
    station, owner, next_one = Station(), Owner(VSEG, size=4 << 20), Owner(VsegId(5, 1, 3))
    station.push(owner.first, owner.push([PART], [SPARE_BYTES], fill=255))
    metadata = Metadata(5)
    metadata.put(owner.record(None, [OTHER]))
    metadata.put(next_one.record(None, [ME, OTHER]))
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    station.push(next_one.first, next_one.push([PART], [500]))
    content, end = station.file(next_one.vseg), FILE_HEADER_SIZE + next_one.end
    assert end < PAGE
    assert content[end:PAGE] == bytes(PAGE - end)
    assert set(content[PAGE:SPARE_BYTES]) == {255}


@pytest.mark.parametrize(("presence", "kept"), [(Presence.READABLE, 1), (Presence.UNREADABLE, 0)])
def test_a_file_that_could_not_be_read_is_not_used_for_the_next_copy(presence: Presence, kept: int) -> None:
    """One bad file was that of copy after copy, and the last one was the only copy (seed 14005286)."""
    station, owner = Station(), Owner(VSEG, size=4 << 20)
    others = len(station.disk._open)
    station.push(owner.first, owner.push([PART], [SPARE_BYTES]))
    station.store.copies[VSEG].presence = presence
    metadata = Metadata(5)
    metadata.put(owner.record(None, [OTHER]))
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    assert not station.store.copies
    assert len(station.disk._open) == others + kept


def test_after_an_end_nothing_is_acked_and_nothing_deleted() -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner)
    metadata = listed(owner)
    station.store.apply(metadata.table, metadata.live)
    metadata.put(owner.record(None, [OTHER]))
    station.store.apply(metadata.table, metadata.live)
    station.store.close()
    station.loop.run(5.0)
    assert station.push(None, owner.push([PART], [300])) == (Push.POISONED, owner.frames[-1][0])
    station.restart()
    assert VSEG in station.store.copies, "the next process decides what is garbage"


class _Replaced:
    """A disk that is another one but for what a test replaces."""

    def __init__(self, disk: Any) -> None:
        self._disk = disk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._disk, name)


def between(station: Station, **replaced: Callable[..., Any]) -> None:
    """The store has a disk of which some operations are ``replaced``."""
    store: Any = station.store
    station.disk = store.disk = store.files.disk = _Replaced(station.disk)
    vars(station.disk).update(replaced)


@pytest.mark.parametrize("frames", [0, 2])
def test_half_a_write_is_no_copy_of_the_frame(frames: int) -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner, frames)
    before = owner.end
    write = station.disk.pwritev

    def half(fd: int, pieces: Any, position: int, length: int = -1) -> int:
        data = b"".join(map(bytes, pieces))
        wrote: int = write(fd, [data[: len(data) // 2]], position)
        return wrote

    between(station, pwritev=half)
    answer = station.push(owner.header_for(before), owner.push([PART], [300]))
    assert answer is not None
    assert answer[0] is Push.POISONED
    assert len(station.poison) == 1
    station.disk = station.disk._disk
    station.restart()
    assert station.seal(VSEG) == ((before, True) if frames else (-1, True))


def test_a_frame_from_before_the_begin_of_a_copy_is_not_taken_for_a_repetition() -> None:
    station, owner, stranger = Station(), Owner(VSEG, start=70_000), Owner(VSEG, start=60_000)
    filled(station, owner)
    stranger.push([PART], [300])
    assert station.push(None, stranger.frames[0][1]) == (Push.CONFLICT, owner.end)
    assert stored_bytes(station, owner) == wire_bytes(owner)


def test_a_frame_that_begins_within_another_one_is_not_taken_for_a_repetition() -> None:
    station, owner, stranger = Station(), Owner(VSEG), Owner(VSEG)
    filled(station, owner)
    for size in (120, 300):
        stranger.push([PART], [size])
    assert station.push(None, stranger.frames[1][1]) == (Push.CONFLICT, owner.end)
    assert stored_bytes(station, owner) == wire_bytes(owner)


def test_what_cannot_be_compared_is_not_acked_again() -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner)
    station.disk.fail = failing("read")
    assert station.push(owner.first, owner.frames[0][1]) == (Push.POISONED, owner.end)
    assert station.store.poisoned


def test_a_missing_descriptor_is_no_reason_to_end(tmp_path: Path, no_descriptor: NoDescriptor) -> None:
    """The owner was told of a conflict, and the process ended."""
    station, owner = real(tmp_path), Owner(VSEG)
    filled(station, owner)
    no_descriptor.begins()
    assert station.push(owner.first, owner.frames[0][1]) == (Push.FULL, owner.end)
    no_descriptor.ends()
    assert not station.poison
    assert station.push(owner.first, owner.frames[0][1]) == (Push.REPEATED, owner.end)


def test_a_copy_is_not_unreadable_for_want_of_a_descriptor(
    tmp_path: Path, no_descriptor: NoDescriptor
) -> None:
    """It was made anew from another one, if there was one, and a recovery went on without it."""
    station, owner = real(tmp_path), Owner(VSEG)
    filled(station, owner)
    station.store.close()
    station.loop.run(1.0)
    no_descriptor.begins()
    found = inspect(station.disk, station.store.path_of(VSEG), VSEG, True)
    assert no_descriptor.waited
    assert (found.presence, found.end) == (Presence.READABLE, owner.end)


def real(path: Path) -> Station:
    """On a file system of the machine."""
    return Station(Disk(), data_dir=str(path))


def test_a_copy_whose_file_somebody_deleted_while_it_grows_is_poison(tmp_path: Path) -> None:
    """It was acked on, into a file that no start finds."""
    station, owner = real(tmp_path), Owner(VSEG)
    filled(station, owner)
    station.store.look_for_deleted()
    assert not station.poison
    path = station.store.path_of(VSEG)
    os.unlink(path)
    assert station.push(None, owner.push([PART], [300])) == (Push.STORE, owner.end)
    station.store.look_for_deleted()
    assert station.poison == [f"{path}: somebody deleted it"]
    assert station.push(None, owner.push([PART], [300]))[0] is Push.POISONED  # type: ignore[index]


def test_fences_that_somebody_deleted_are_poison(tmp_path: Path) -> None:
    """The next process would store what it has refused for ever."""
    station, owner = real(tmp_path), Owner(VSEG)
    filled(station, owner)
    os.unlink(station.store.fences.path)
    station.store.look_for_deleted()
    assert station.poison == [f"{station.store.fences.path}: somebody deleted it"]


def test_files_that_the_store_itself_deletes_are_not_missed(tmp_path: Path) -> None:
    station, owner = real(tmp_path), Owner(VSEG)
    filled(station, owner)
    metadata = listed(owner)
    station.store.apply(metadata.table, metadata.live)
    metadata.put(owner.record(None, [OTHER]))
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(5.0)
    assert not os.path.exists(station.store.path_of(VSEG))
    station.store.look_for_deleted()
    station.store.close()
    station.loop.run(5.0)
    station.store.look_for_deleted()
    assert not station.poison


def test_a_copy_that_was_replaced_while_it_was_synced_is_closed_then() -> None:
    """A repair puts a whole copy in its place; the old file stays open until the sync is over."""
    station, owner = Station(), Owner(VSEG, policy=SYNCED)
    frame = owner.push([PART], [300])
    answers: list[Push] = []
    station.store.push(owner.first, memoryview(frame), lambda verdict, _: answers.append(verdict))
    old = station.store.copies[VSEG]
    assert (old.pins, answers) == (1, [])
    fd = old.fd
    metadata = Metadata(5, 9)
    metadata.fence(5)
    del station.store.copies[VSEG]
    station.loop.run(1.0)
    assert answers == [Push.STORE]
    assert fd not in station.disk._open
    assert old.pins == 0


@pytest.mark.parametrize("policy", [FlushPolicy.MEMORY, SYNCED])
@pytest.mark.parametrize("told", [False, True])
def test_a_frame_torn_by_a_power_loss_does_not_exist_for_any_later_process(
    policy: FlushPolicy, told: bool
) -> None:
    """A power loss tears any frame that was not synced, a kill only the last: what the first process that
    starts would find counts for the next one, too, whether the first was ``told`` what it should have or not
    (7, 24b). Else the log would end behind bytes that nobody has."""
    station, owner = Station(), Owner(VSEG, policy=policy)
    owner.durable = 0
    filled(station, owner)
    torn, end = owner.frames[1][0], owner.end
    metadata = listed(owner)
    station.disk.datasync(station.store.copies[VSEG].fd)
    station.disk.sync_directory(station.store.directory)
    station.lose_power(2)
    station.file(VSEG)[FILE_HEADER_SIZE + owner.frames[2][0] - 1] ^= 1
    if told:
        station.store.apply(metadata.table, metadata.live)
    for _ in range(2):
        station.restart()
        station.store.apply(metadata.table, metadata.live)
    answers = [station.push(None, frame) for _, frame in owner.frames[1:]]
    if policy is SYNCED:
        assert answers == [(Push.STORE, owner.frames[2][0]), (Push.STORE, end)]
        assert stored_bytes(station, owner) == wire_bytes(owner)
    assert station.seal(VSEG) == ((end, True) if policy is SYNCED else (torn, False))


def test_what_a_power_loss_has_torn_is_reported_though_it_is_closed_while_nobody_runs() -> None:
    station, owner = Station(), Owner(VSEG, policy=SYNCED)
    owner.durable = 0
    filled(station, owner)
    metadata = listed(owner)
    station.disk.datasync(station.store.copies[VSEG].fd)
    station.disk.sync_directory(station.store.directory)
    station.lose_power(2)
    station.store.apply(metadata.table, metadata.live)
    station.file(VSEG)[FILE_HEADER_SIZE + owner.frames[1][0] - 1] ^= 1
    metadata.put(owner.record(owner.end))
    station.restart()
    damaged: list[VsegId] = []
    station.store.on_damage = lambda vseg, _: damaged.append(vseg)
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1)
    assert set(damaged) == {VSEG}


@pytest.mark.parametrize("read_before", [False, True])
@pytest.mark.parametrize("ends", ["killed", "stopped"])
@pytest.mark.parametrize("closed", ["before", "after"])
def test_a_closed_copy_that_a_power_loss_tore_is_whole_for_no_later_process(
    closed: str, ends: str, read_before: bool
) -> None:
    """The first process to start read all of it, if anybody asked for it, and the next one believed the heads
    of its frames: it counted as a copy until the scrub came to it (17, 24d)."""
    station, owner = Station(), Owner(VSEG)
    filled(station, owner)
    metadata = listed(owner, owner.end if closed == "before" else None)
    station.disk.datasync(station.store.copies[VSEG].fd)
    station.disk.sync_directory(station.store.directory)
    station.lose_power(2)
    station.file(VSEG)[FILE_HEADER_SIZE + owner.frames[1][0] - 1] ^= 1
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1)
    metadata.put(owner.record(owner.end))
    station.store.apply(metadata.table, metadata.live)
    for _ in range(2):
        if read_before:
            station.store.find(VSEG, lambda _: None)
        station.loop.run(1)
        if ends == "stopped":
            station.store.close()
            station.loop.run(1)
        station.restart()
        station.store.apply(metadata.table, metadata.live)
    damaged: list[VsegId] = []
    station.store.on_damage = lambda vseg, _: damaged.append(vseg)
    station.store.find(VSEG, lambda _: None)
    station.loop.run(1)
    assert set(damaged) == {VSEG}
    assert not station.store.is_whole(VSEG)


@pytest.mark.parametrize("closed", ["before", "after"])
def test_what_a_power_loss_left_whole_is_read_once_and_forgotten(closed: str) -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner)
    metadata = listed(owner, owner.end if closed == "before" else None)
    station.disk.datasync(station.store.copies[VSEG].fd)
    station.disk.sync_directory(station.store.directory)
    station.lose_power(2)
    station.store.apply(metadata.table, metadata.live)
    metadata.put(owner.record(owner.end))
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1)
    station.restart()
    state = station.store.files.at(STATE_FILE)
    kept = read_state(station.disk, state)
    doubts = {vseg for key in ("limbo", "torn", "unread") for vseg in map(tuple, kept[key])}
    assert doubts == {VSEG}
    station.store.apply(metadata.table, metadata.live)
    station.store.find(VSEG, lambda _: None)
    station.loop.run(1)
    assert station.store.is_whole(VSEG)
    metadata.put(Owner(VsegId(5, 9, 1)).record(None, [OTHER]))
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1)
    kept = read_state(station.disk, state)
    assert (kept["limbo"], kept["torn"], kept["unread"]) == ([], [], [])


def test_the_judgement_after_a_power_loss_fails_as_any_write_does() -> None:
    station, owner = Station(), Owner(VSEG)
    station.lose_power(2)
    metadata = listed(owner)
    station.disk.fail = failing("write")
    station.store.apply(metadata.table, metadata.live)
    assert station.store.poisoned
    assert station.store.state.limbo == {VSEG}
    station.disk.fail = whole
    station.restart()
    station.store.apply(metadata.table, metadata.live)
    assert station.store.state.limbo == {VSEG}, "judged again"


def test_a_judgement_that_waits_for_room_is_not_written_over_the_end() -> None:
    station, owner = Station(), Owner(VSEG)
    station.lose_power(2)
    metadata = listed(owner)
    station.disk.fail = failing("write", errno.ENOSPC)
    station.store.apply(metadata.table, metadata.live)
    station.disk.fail = whole
    station.store.close()
    station.loop.run(60)
    station.restart()
    station.store.apply(metadata.table, metadata.live)
    assert station.store.state.limbo == {VSEG}
    answer = station.push(owner.first, owner.push([PART], [300]))
    assert answer is not None
    assert answer[0] is Push.LIMBO


@pytest.mark.parametrize("policy", [FlushPolicy.MEMORY, FlushPolicy.TIMED])
def test_a_closed_copy_that_cannot_be_synced_is_poison(policy: FlushPolicy) -> None:
    """Its recovery counts on it."""
    station, owner = Station(), Owner(VSEG, policy=policy)
    filled(station, owner)
    station.disk.fail = failing("sync")
    metadata = listed(owner, owner.end)
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    assert len(station.poison) == 1
    assert "fdatasync" in station.store.poisoned


def test_a_file_that_cannot_be_deleted_is_poison() -> None:
    """Its bytes would count against the disk for ever, and nobody would know."""
    station, owner = Station(), Owner(VSEG)
    filled(station, owner)

    def unlink(path: str) -> None:
        raise OSError(errno.EIO, path)

    between(station, unlink=unlink)
    metadata = Metadata(5)
    metadata.put(owner.record(None, [OTHER]))
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    assert "deleting a copy" in station.store.poisoned
    assert VSEG not in station.store.copies


def test_files_of_others_are_left_alone() -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner)
    names = {name: os.path.join("data", DIRECTORY, name) for name in ("notes.txt", "1-2.replica")}
    for path in names.values():
        station.disk.close(station.disk.open(path, create=True))
    station.restart()
    station.loop.run(1.0)
    left = station.disk.listdir(station.store.directory)
    assert "notes.txt" in left
    assert "1-2.replica" not in left, "left behind by this store"
    assert set(station.store.copies) == {VsegId(5, 1, 2)}


def test_nothing_is_begun_after_a_power_loss_before_metadata_tells_what_should_be_there() -> None:
    """The file was lost with the power, and its first frame, sent long before, came again: it looked like
    a copy from its start, and its end was the end for all (3, 14, 22). Found by simulation (seed
    18000763)."""
    station, owner = Station(), Owner(VSEG)
    first = owner.push([PART], [300])
    station.push(owner.first, first)
    station.push(None, owner.push([PART], [300]))
    station.lose_power(1)
    assert VSEG not in station.store.copies
    assert station.push(owner.first, first) == (Push.LIMBO, 0)
    metadata = Metadata(5)
    metadata.put(owner.record())
    station.store.apply(metadata.table, metadata.live)
    assert station.push(owner.first, first) == (Push.LIMBO, 0)
    assert station.seal(VSEG) == (-1, False)


def test_after_a_failed_write_or_sync_an_open_copy_is_believed_by_nobody() -> None:
    """In the same boot: the end of what was acked may be missing on the medium, and nothing here shows it
    (22, 35). It counts for later processes, too."""
    station, owner = Station(), Owner(VSEG)
    station.push(owner.first, owner.push([PART], [300]))
    station.restart()
    station.store.doubt(False)
    metadata = Metadata(5)
    metadata.put(owner.record())
    station.store.apply(metadata.table, metadata.live)
    assert station.seal(VSEG, fence=False) == (owner.end, True), "it was killed only"
    station.restart()
    station.store.doubt(True)
    for _ in range(2):
        station.store.apply(metadata.table, metadata.live)
        assert station.store.state.limbo == {VSEG}
        found = station.seal(VSEG)
        assert found is not None
        assert not found[1]
        station.restart()
