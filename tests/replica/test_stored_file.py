"""What a start believes of a file, at every byte where it may be torn or damaged (rule 24, S17)."""

from __future__ import annotations

import pytest

from kproto.disk import PAGE
from kproto.metadata.vlogs import VsegId
from kproto.replica.copies import Copy
from kproto.replica.reading import DamagedError, Extent, verify
from kproto.replica.rules import Presence, Worth
from kproto.replica.stored_file import NOT_THERE, inspect
from kproto.vlog.frame import FILE_HEADER, FILE_HEADER_SIZE
from tests.replica.support import TOPIC, MemoryDisk, Owner

VSEG = VsegId(5, 1, 2)
START = 10_000
PATH = "copy"
ROOM = 500
"""Reserved and never written."""


def an_owner() -> Owner:
    owner = Owner(VSEG, START)
    owner.push([(TOPIC, 0), (TOPIC, 1)], [100, 90])
    owner.push_state()
    owner.push([(TOPIC, 0)], [120])
    return owner


def contents(owner: Owner) -> bytes:
    return owner.first + b"".join(frame for _, frame in owner.frames)


def edges(owner: Owner) -> list[int]:
    return [position for position, _ in owner.frames] + [owner.end]


def disk_with(content: bytes) -> MemoryDisk:
    disk = MemoryDisk()
    disk.pwritev(disk.open(PATH, create=True), [content], 0)
    return disk


def worth(disk: MemoryDisk, thorough: bool, closed_end: int | None = None) -> tuple[Worth, int]:
    copy = Copy(VSEG, PATH)
    copy.take(inspect(disk, PATH, VSEG, thorough))
    return copy.worth(closed_end, False), copy.end


@pytest.mark.parametrize("thorough", [False, True])
def test_a_whole_file(thorough: bool) -> None:
    owner = an_owner()
    found = inspect(disk_with(contents(owner)), PATH, VSEG, thorough)
    assert (found.end, found.chain, found.last) == (owner.end, owner.chain, (edges(owner)[2], owner.chain))
    assert found.states == (owner.states[0][0],)
    assert not found.damaged
    assert not found.proven
    assert worth(disk_with(contents(owner)), thorough) == (Worth.USE, owner.end)
    assert worth(disk_with(contents(owner) + bytes(ROOM)), thorough) == (Worth.CUT, owner.end)


@pytest.mark.parametrize("thorough", [False, True])
def test_a_write_torn_at_any_byte_leaves_whole_frames(thorough: bool) -> None:
    """The last frame is the one that was on its way: nothing that was acked is missing."""
    owner = an_owner()
    whole = contents(owner)
    before = FILE_HEADER_SIZE + edges(owner)[2] - START
    for cut in range(before, len(whole)):
        for rest in (b"", bytes(len(whole) - cut + ROOM)):
            expected = Worth.CUT if rest or cut > before else Worth.USE
            assert worth(disk_with(whole[:cut] + rest), thorough) == (expected, edges(owner)[2])


@pytest.mark.parametrize("thorough", [False, True])
def test_bytes_gone_below_what_was_durable_are_no_torn_tail(thorough: bool) -> None:
    """A hole in front of a later frame: that frame says that everything before it was acked."""
    owner = an_owner()
    whole = bytearray(contents(owner))
    hole = FILE_HEADER_SIZE + edges(owner)[1] - START
    whole[hole : hole + 40] = bytes(40)
    assert worth(disk_with(bytes(whole)), thorough) == (Worth.CORRUPT, edges(owner)[1])


def test_a_flipped_bit_anywhere_is_found_or_harmless() -> None:
    """Thorough: the end is where damage begins; and it is called damage, unless it is in the last frame."""
    owner = an_owner()
    whole = contents(owner)
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 0x10
        found, end = worth(disk_with(bytes(damaged)), True)
        if at < FILE_HEADER.size:
            assert found is Worth.LIMBO, "it has frames, so it may have acknowledged them"
        elif at < FILE_HEADER_SIZE:
            assert (found, end) == (Worth.USE, owner.end), "padding"
        else:
            position = START + at - FILE_HEADER_SIZE
            intact = max(edge for edge in edges(owner) if edge <= position)
            expected = Worth.CUT if intact == edges(owner)[2] else Worth.CORRUPT
            assert (found, end) == (expected, intact)


def test_a_scrub_finds_what_a_thorough_start_would_find() -> None:
    """At every byte, with every bit (found by simulation, seed 208501: one in the magic went unnoticed, and a
    consumer would have got the chunk with it)."""
    owner = an_owner()
    whole = contents(owner)
    extent = Extent(PATH, VSEG, FILE_HEADER_SIZE - START, START, owner.end)
    for at in range(len(whole)):
        for bit in range(8):
            damaged = bytearray(whole)
            damaged[at] ^= 1 << bit
            disk = disk_with(bytes(damaged))
            if worth(disk, True, owner.end)[0] is Worth.USE:
                assert verify(disk, extent, START, 1 << 30) == owner.end
            else:
                with pytest.raises(DamagedError):
                    verify(disk, extent, START, 1 << 30)


def test_only_a_file_that_was_never_written_says_that_nothing_was_acknowledged() -> None:
    """With one flipped bit in its header, a copy of what a dead owner had left open said that it never got
    anything. That was the end, though another one had all of it (22, 24c)."""
    owner = an_owner()
    whole = contents(owner)
    for thorough in (False, True):
        for at in range(FILE_HEADER.size):
            damaged = bytearray(whole)
            damaged[at] ^= 0x10
            assert worth(disk_with(bytes(damaged)), thorough)[0] is Worth.LIMBO
        assert worth(disk_with(bytes(len(whole))), thorough)[0] is Worth.ABSENT
    stray = b"stray".ljust(len(whole), b"\0")
    assert worth(disk_with(stray), False)[0] is Worth.LIMBO, "a kill leaves nothing like that"
    assert worth(disk_with(stray), True)[0] is Worth.ABSENT, "a power loss may"


@pytest.mark.parametrize("thorough", [False, True])
def test_a_last_frame_that_is_not_sound_is_told_from_none(thorough: bool) -> None:
    """It was torn, or damaged since it was acknowledged (24b, 24c)."""
    owner = an_owner()
    whole = contents(owner)
    last = FILE_HEADER_SIZE + edges(owner)[2] - START
    former = contents(Owner(VsegId(5, 1, 1), START)) + whole[FILE_HEADER_SIZE:]
    for content, torn in (
        (whole, False),
        (whole + bytes(ROOM), False),
        (whole + b"stray" * 20, True),
        (whole[:last], False),
        (whole[:last] + former[: len(whole) - last], True),
        (whole.ljust(PAGE, b"\0") + former, False),
        (whole[:last].ljust(PAGE, b"\0") + former, False),
        (whole[:-1] + bytes(ROOM), True),
        (whole[: last + 60] + bytes(ROOM), True),
        (whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:], True),
    ):
        assert (inspect(disk_with(content), PATH, VSEG, thorough).torn_to > 0) is torn


def test_a_closed_copy_is_used_up_to_its_end_or_not_at_all() -> None:
    owner = an_owner()
    whole = contents(owner)
    for cut in range(len(whole) + 1):
        disk = disk_with(whole[:cut])
        for end in edges(owner):
            complete = cut >= (FILE_HEADER_SIZE + end - START if end > START else FILE_HEADER.size)
            assert worth(disk, True, end)[0] is (Worth.USE if complete else Worth.REPAIR)


def test_what_is_no_file_of_the_vseg() -> None:
    owner = an_owner()
    assert inspect(MemoryDisk(), PATH, VSEG, True) == NOT_THERE
    assert inspect(disk_with(b""), PATH, VSEG, True) == NOT_THERE
    for other in (VsegId(4, 1, 2), VsegId(5, 2, 2), VsegId(5, 1, 3)):
        assert inspect(disk_with(contents(owner)), PATH, other, False) == NOT_THERE


def test_an_error_of_the_medium_is_no_missing_file() -> None:
    disk = disk_with(contents(an_owner()))

    def fail(name: str) -> None:
        if name == "read":
            raise OSError(5, "the medium")

    disk.fail = fail
    found = inspect(disk, PATH, VSEG, True)
    assert found.presence is Presence.UNREADABLE
    assert PATH in found.problem


def test_former_contents_of_a_recycled_file_prove_nothing() -> None:
    former, owner = Owner(VsegId(5, 1, 1), START), an_owner()
    for _ in range(20):
        former.push([(TOPIC, 0)], [200])
    content = contents(owner)
    disk = disk_with(content + contents(former)[len(content) :])
    for thorough in (False, True):
        assert worth(disk, thorough) == (Worth.CUT, owner.end)
