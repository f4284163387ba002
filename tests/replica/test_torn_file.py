"""Which files of copies say that a frame was begun behind their sound part (rules 24b, 24c)."""

from __future__ import annotations

import pytest

from kproto.metadata.vlogs import VsegId
from kproto.replica.messages import Seal, Sealed
from kproto.replica.stored_file import inspect
from kproto.vlog.frame import FILE_HEADER_SIZE, FRAME_SIZE
from kproto.wire.internal import Api
from tests.replica.support import TOPIC, Owner, Station

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
        assert not inspect(disk_with(whole[:last] + stale[last:] + bytes(ROOM)), PATH, VSEG, thorough).torn_to


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
