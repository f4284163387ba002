"""Which files of copies say that a frame was begun behind their sound part (rules 24b, 24c)."""

from __future__ import annotations

from random import Random

import pytest

from kproto.disk import PAGE
from kproto.metadata.vlogs import VsegId
from kproto.replica.copy_files import SPARE_BYTES
from kproto.replica.messages import Seal, Sealed
from kproto.replica.stored_file import inspect
from kproto.vlog.frame import ENTRY_SIZE, FILE_HEADER_SIZE, FRAME_SIZE
from kproto.wire.internal import Api
from tests.replica.support import ME, OTHER, TOPIC, Metadata, Owner, Station

from .test_service import Backup
from .test_stored_file import PATH, ROOM, START, VSEG, an_owner, contents, disk_with, edges


@pytest.mark.parametrize("thorough", [False, True])
def test_one_bit_anywhere_in_the_last_frame(thorough: bool) -> None:
    owner = an_owner()
    whole = contents(owner)
    last = FILE_HEADER_SIZE + edges(owner)[2] - START
    missed = []
    for at in range(last, len(whole)):
        for bit in range(8):
            damaged = bytearray(whole + bytes(ROOM))
            damaged[at] ^= 1 << bit
            if not inspect(disk_with(bytes(damaged)), PATH, VSEG, thorough).torn_to:
                missed.append((at - last, bit))
    assert not missed, (len(missed), sorted({at for at, _ in missed}), FRAME_SIZE)


@pytest.mark.parametrize("thorough", [False, True])
def test_a_frame_of_a_former_file_at_the_very_place(thorough: bool) -> None:
    """Where the next frame would begin there are zeros, to the end of the page: it took the place of one."""
    owner = an_owner()
    whole = contents(owner)
    last = FILE_HEADER_SIZE + edges(owner)[2] - START
    for other in (VsegId(5, 1, 1), VsegId(5, 2, 2), VsegId(4, 1, 2)):
        former = Owner(other, START)
        former.push([(TOPIC, 0), (TOPIC, 1)], [100, 90])
        former.push_state()
        former.push([(TOPIC, 0)], [120])
        stale = contents(former)
        assert len(stale) == len(whole)
        found = inspect(disk_with(whole[:last] + stale[last:] + bytes(ROOM)), PATH, VSEG, thorough)
        assert (found.end, found.torn_to) == (edges(owner)[2], owner.end)


SECTOR = 512


def in_a_used_file(seed: int) -> tuple[Station, Owner]:
    """A copy of some frames, in a file that was used before and is full of something else."""
    random = Random(seed)
    station, owner = Station(), Owner(VSEG)
    former = Owner(VsegId(5, 1, 1), size=4 << 20)
    station.push(former.first, former.push([(TOPIC, 0)], [SPARE_BYTES], fill=255))
    metadata = Metadata(5)
    metadata.put(former.record(None, [OTHER]))
    metadata.put(owner.record(None, [ME, OTHER]))
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    first: bytes | None = owner.first
    for _ in range(random.randrange(2, 9)):
        left = -(FILE_HEADER_SIZE + owner.end + FRAME_SIZE + ENTRY_SIZE) % PAGE
        size = random.choice((90, 300, 1400, PAGE, 9000, max(left, 90)))
        station.push(first, owner.push([(TOPIC, 0)], [size], fill=255))
        first = None
    return station, owner


@pytest.mark.parametrize("seed", range(40))
def test_what_a_file_had_before_is_no_frame_that_was_begun(seed: int) -> None:
    station, owner = in_a_used_file(seed)
    assert set(station.file(VSEG)[SPARE_BYTES // 2 : SPARE_BYTES]) == {255}
    station.restart()
    found = inspect(station.disk, station.store.path_of(VSEG), VSEG, True)
    assert (found.end, found.torn_to) == (owner.end, 0)


@pytest.mark.parametrize("seed", range(40))
def test_a_sector_of_something_else_in_the_place_of_the_last_head(seed: int) -> None:
    """No later frame says that it was durable, and nothing in it names this virtual segment."""
    station, owner = in_a_used_file(seed)
    last = FILE_HEADER_SIZE + owner.frames[-1][0]
    sector = last // SECTOR * SECTOR
    begin = max(sector, last)  # a sound frame before it stays, or it would be the one that is damaged
    station.file(VSEG)[begin : sector + SECTOR] = Random(seed).randbytes(sector + SECTOR - begin)
    station.restart()
    found = inspect(station.disk, station.store.path_of(VSEG), VSEG, True)
    assert (found.end, found.torn_to > found.end) == (owner.frames[-1][0], True)


def test_who_got_the_frame_again_is_not_torn_any_more() -> None:
    station = Station()
    owner = Owner(VSEG)
    owner.push([(TOPIC, 0)], [300])
    frame = owner.push([(TOPIC, 0)], [300])
    station.push(owner.first, owner.frames[0][1])
    station.push(None, frame)
    station.file(VSEG)[FILE_HEADER_SIZE + owner.end - 1] ^= 1
    station.restart()
    for torn in (True, False):
        error, body = Backup.of(station).ask(Api.SEAL, Seal(VSEG, 0).encode())
        sealed = Sealed.decode(body)
        assert (error, sealed.position) == (0, owner.frames[1][0] if torn else owner.end)
        assert sealed.torn is torn
        station.push(None, frame)


def with_a_hole(owner: Owner, number: int) -> Station:
    """A backup that starts again: a byte in the head of a frame is another one, those behind it are sound."""
    station = Station()
    station.push(owner.first, owner.frames[0][1])
    for _, frame in owner.frames[1:]:
        station.push(None, frame)
    station.file(VSEG)[FILE_HEADER_SIZE + owner.frames[number][0] + FRAME_SIZE + 5] ^= 1
    station.restart()
    return station


def test_any_frame_behind_a_hole_may_prove_that_it_was_acknowledged() -> None:
    """Not only the first one, which may have been on its way together with it (24c)."""
    for number, proven in ((1, True), (2, True), (3, True), (4, False)):
        owner = Owner(VSEG)
        for at in range(5):
            owner.durable = owner.frames[2][0] if at == 3 else None
            owner.push([(TOPIC, 0)], [300])
        station = with_a_hole(owner, number)
        found = inspect(station.disk, station.store.path_of(VSEG), VSEG, True)
        assert (found.end, found.torn_to > found.end) == (owner.frames[number][0], True)
        assert found.proven is proven, number


def test_a_copy_is_torn_until_all_that_was_begun_is_there_again() -> None:
    """Frames that were acknowledged may be behind the one that the owner pushes again (24c)."""
    owner = Owner(VSEG)
    owner.durable = 0
    for _ in range(4):
        owner.push([(TOPIC, 0)], [300])
    station = with_a_hole(owner, 1)
    for number, torn in ((1, True), (2, True), (3, True), (3, False)):
        answer = Backup.of(station).ask(Api.SEAL, Seal(VSEG, 0).encode())
        assert Sealed.decode(answer[1]).torn is torn
        station.push(None, owner.frames[number][1])


def test_a_frame_behind_a_hole_is_one_that_was_begun() -> None:
    """It does not prove that what is missing was durable: it overtook it (acks=1)."""
    owner = an_owner()
    owner.durable = edges(owner)[2]
    owner.push([(TOPIC, 0)], [50])
    whole = bytearray(contents(owner))
    hole = FILE_HEADER_SIZE + edges(owner)[2] - START
    whole[hole : hole + FRAME_SIZE] = bytes(FRAME_SIZE)
    found = inspect(disk_with(bytes(whole)), PATH, VSEG, False)
    assert (found.end, found.proven, found.torn_to > found.end) == (edges(owner)[2], False, True)
