"""Frames of tens of megabytes: a store writes them in several turns of the loop, and nothing counts before
the last one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from kproto.disk import PAGE, Buffer
from kproto.log import due
from kproto.net.connection import SCRATCH_BYTES
from kproto.replica import store as store_module
from kproto.replica.rules import Push
from kproto.vlog.classes import FlushPolicy
from tests.replica.support import ME, MemoryDisk, Metadata, Owner, Station
from tests.replica.test_store import PART, VSEG, filled, stored_bytes, wire_bytes
from tests.replica.test_store_model import StoreMachine

TURN = 1000
Answers = list[tuple[Push, int]]


class NotingDisk(MemoryDisk):
    """How many bytes each write had."""

    __slots__ = ("writes",)

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[int] = []

    def pwritev(self, fd: int, buffers: Sequence[Buffer], position: int, length: int = -1) -> int:
        self.writes.append(super().pwritev(fd, buffers, position, length))
        return self.writes[-1]


@pytest.fixture
def _small_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "BYTES_A_TURN", TURN)


small_turns = pytest.mark.usefixtures("_small_turns")


def begin(station: Station, owner: Owner, frame: bytes, turns: int = 1) -> Answers:
    """Push it and let the loop turn so often, counting the push; the answers that have come, or will."""
    answers: Answers = []
    first = owner.header_for(owner.frames[-1][0])
    station.store.push(first, memoryview(frame), lambda *answer: answers.append(answer))
    for _ in range(turns - 1):
        callback, args = station.loop.ready.popleft()
        callback(*args)
    return answers


@pytest.mark.parametrize("frames_before", [0, 2])
def test_one_takes_several_turns(frames_before: int) -> None:
    disk = NotingDisk()
    station, owner = Station(disk), Owner(VSEG, start=50)
    filled(station, owner, frames_before)
    disk.writes.clear()
    answers = begin(station, owner, owner.push([PART], [2 * due.BYTES_A_TURN + 5]))
    others: list[int] = []
    station.loop.call_soon(others.append, 1)
    assert not answers
    station.loop.run()
    assert others
    assert answers == [(Push.STORE, owner.end)]
    assert max(disk.writes) == due.BYTES_A_TURN
    assert stored_bytes(station, owner) == wire_bytes(owner)


def test_the_memory_of_one_is_nobody_elses() -> None:
    """Frames that fit it are in a buffer that all connections share, and have to be stored at once."""
    assert SCRATCH_BYTES < due.BYTES_A_TURN


@small_turns
@pytest.mark.parametrize("policy", [FlushPolicy.MEMORY, FlushPolicy.SYNCED])
def test_others_to_the_same_copy_wait_for_it(policy: FlushPolicy) -> None:
    station, owner = Station(), Owner(VSEG, policy=policy)
    answers = begin(station, owner, owner.push([PART], [2 * TURN]))
    repeated = begin(station, owner, owner.frames[-1][1])
    for size in (300, 3 * TURN, 400):
        answers += begin(station, owner, owner.push([PART], [size]))
    later: list[Answers] = [begin(station, owner, owner.push([PART], [size])) for size in (3 * TURN, 100)]
    assert not answers
    station.loop.run()
    assert (answers, repeated) == ([(Push.STORE, owner.frames[1][0])], [(Push.REPEATED, owner.frames[1][0])])
    assert later == [[(Push.STORE, owner.frames[-1][0])], [(Push.STORE, owner.end)]]
    assert stored_bytes(station, owner) == wire_bytes(owner)
    assert not station.store.copies[VSEG].pins


@pytest.mark.parametrize("sizes", [(10,), (3000, 10, 500), (5000, 9 * PAGE, 60), (8 * PAGE + 90, 700)])
def test_behind_a_frame_are_zeros_to_the_end_of_its_page_and_former_contents_from_there(
    sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also behind one that is written in turns, whose parts do not zero one another."""
    monkeypatch.setattr(store_module, "BYTES_A_TURN", 2 * PAGE + 100)
    station, owner = Station(), Owner(VSEG)
    filled(station, owner, 1)
    copy = station.store.copies[VSEG]
    content = station.disk.content(copy.path)
    used = -(-(copy.base + copy.end) // PAGE) * PAGE
    content[used:] = b"\xff" * (len(content) - used)
    assert len(content) > used + sum(sizes) + 2 * PAGE
    for size in sizes:
        begin(station, owner, owner.push([PART], [size]))
        station.loop.run()
        assert stored_bytes(station, owner) == wire_bytes(owner)
        end = copy.base + copy.end
        used = max(used, -(-end // PAGE) * PAGE)
        assert content[end:used] == bytes(used - end)
        assert content[used:] == b"\xff" * (len(content) - used)


@small_turns
@pytest.mark.parametrize("frames_before", [0, 2])
def test_a_fence_ends_it(frames_before: int) -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner, frames_before)
    end = owner.end
    answers = begin(station, owner, owner.push([PART], [5 * TURN]), turns=2)
    assert station.seal(VSEG) == (end, True)
    assert answers == [(Push.FENCED, end)]
    assert station.store.copies[VSEG].end == end


@small_turns
def test_so_does_the_end_of_its_virtual_segment() -> None:
    station, owner, metadata = Station(), Owner(VSEG), Metadata(VSEG.owner_epoch)
    filled(station, owner)
    end = owner.end
    answers = begin(station, owner, owner.push([PART], [5 * TURN]), turns=2)
    metadata.put(owner.record(end))
    station.store.apply(metadata.table, metadata.live)
    station.loop.run(1.0)
    assert answers == [(Push.CLOSED, end)]
    copy = station.store.copies[VSEG]
    assert (copy.end, copy.settled, copy.pins) == (end, True, 0)
    assert station.store.is_whole(VSEG)


@small_turns
def test_a_copy_that_is_made_anew_meanwhile_is_not_touched() -> None:
    station, owner, metadata = Station(), Owner(VSEG), Metadata(VSEG.owner_epoch)
    filled(station, owner)
    whole, end = wire_bytes(owner), owner.end
    answers = begin(station, owner, owner.push([PART], [5 * TURN]), turns=2)
    metadata.put(owner.record(end, [ME]))
    station.store.apply(metadata.table, metadata.live)
    path = station.store.path_of(VSEG)
    fd = station.disk.open(path + ".copying", create=True)
    station.disk.pwritev(fd, (whole,), 0)
    station.disk.close(fd)
    found = store_module.inspect(station.disk, path + ".copying", VSEG, True)
    station.store.adopt(VSEG, path + ".copying", found)
    station.loop.run(1.0)
    assert [verdict for verdict, _ in answers] == [Push.CLOSED]
    assert bytes(station.file(VSEG)) == whole


@small_turns
@pytest.mark.parametrize("frames_before", [0, 2])
@pytest.mark.parametrize("turns", [1, 2, 4])
def test_one_that_a_kill_ends_does_not_exist(frames_before: int, turns: int) -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner, frames_before)
    end = owner.end
    frame = owner.push([PART], [5 * TURN])
    assert not begin(station, owner, frame, turns)
    station.restart()
    assert station.seal(VSEG, fence=False) == (end, True)
    assert station.push(owner.header_for(end), frame) == (Push.STORE, owner.end)
    assert stored_bytes(station, owner) == wire_bytes(owner)


@small_turns
@pytest.mark.parametrize("frames_before", [0, 2])
def test_one_without_room_is_refused_and_stored_later(frames_before: int) -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner, frames_before)
    end = owner.end
    station.disk.room = 0
    frame = owner.push([PART], [300 * TURN])
    first = owner.header_for(end)
    assert station.push(first, frame) == (Push.FULL, end)
    station.disk.room = None
    assert station.push(first, frame) == (Push.STORE, owner.end)
    assert stored_bytes(station, owner) == wire_bytes(owner)


@small_turns
def test_a_stop_ends_it() -> None:
    station, owner = Station(), Owner(VSEG)
    filled(station, owner)
    end, ended = owner.end, []
    answers = begin(station, owner, owner.push([PART], [5 * TURN]), turns=2)
    stopped: Callable[[], object] = lambda: ended.append(True)  # noqa: E731
    station.store.close(stopped)
    station.loop.run(1.0)
    assert (answers, ended) == ([(Push.POISONED, end)], [True])
    assert not station.disk._open
    station.lose_power(1)
    assert station.seal(VSEG, fence=False) == (end, True)


@small_turns
def test_whatever_else_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    """The store's model with frames that take up to five turns."""
    monkeypatch.setattr(store_module, "BYTES_A_TURN", 400)
    quick = settings(
        max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(StoreMachine, settings=quick)
