"""Virtual logs that wait for more chunks where brokers are busy, and those that do not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kproto.vlog.gathering import ENOUGH_BYTES, FEW, FRAMES, LEAST_S, REST_TIMES, Gathering
from kproto.vlog.replicated import ReplicatedPusher
from tests.vlog.cluster import ClusterPartition, ClusterWorld, begun

LONGEST = 0.020
QUICK, SLOW = 0.0004, 0.003


def fly(world: ClusterWorld, part: ClusterPartition, chunks: int, seconds: float, size: int = 1024) -> None:
    """Send so many chunks in one frame, whose flight takes so long."""
    (pusher,) = world.pushers
    before = pusher.pushes
    for _ in range(chunks):
        part.append(size)
    world.loop.turn()
    while pusher.pushes == before:
        world.vsegs.answer()
        world.loop.advance(0.001)
    world.loop.clock.advance(seconds)
    world.flow()
    assert part.high_watermark == part.log_end_offset


def busy(
    chunks: int = 8, size: int = 1024, **overrides: str
) -> tuple[ClusterWorld, ClusterPartition, ReplicatedPusher]:
    """Flights take longer than the first one, and frames have so many chunks; the last has just landed."""
    world, part = begun(**overrides)
    for _ in range(2 * FRAMES):
        fly(world, part, chunks, QUICK, size)
        fly(world, part, chunks, SLOW, size)
    return world, part, world.pushers[0]


def sent_after(world: ClusterWorld, pusher: ReplicatedPusher) -> float:
    """Seconds until the next frame is sent."""
    began, before = world.loop.clock.monotonic(), pusher.pushes
    world.loop.turn()
    while pusher.pushes == before:
        assert world.loop.clock.monotonic() < began + 1, "it is never sent"
        world.loop.advance(0.0005)
    return world.loop.clock.monotonic() - began


def test_a_busy_log_waits_for_more_chunks_and_sends_them_together() -> None:
    world, part, pusher = busy()
    part.append()
    world.loop.turn()
    assert not world.backups.pushes
    world.loop.advance(0.004)
    part.append()
    assert 0.001 < sent_after(world, pusher) <= LONGEST
    world.flow()
    assert part.high_watermark == part.log_end_offset
    assert pusher.chunks == 1 + 4 * FRAMES * 8 + 2
    assert pusher.state()["rest_ms"] > 1
    world.check()


def test_it_waits_no_longer_than_the_setting_says_and_never_with_0() -> None:
    world, part, pusher = busy(kproto__push__linger__max__ms="4")
    part.append()
    assert 0.001 < sent_after(world, pusher) <= 0.004 + 0.0005
    world, part, pusher = busy(kproto__push__linger__max__ms="0")
    part.append()
    assert sent_after(world, pusher) == 0
    assert pusher.state()["rest_ms"] == 0


def test_it_waits_no_longer_once_everyone_is_back() -> None:
    """As many chunks as the frames before had, if those were few."""
    world, part, pusher = busy(chunks=FEW)
    for _ in range(FEW - 1):
        part.append()
    world.loop.turn()
    assert not world.backups.pushes
    part.append()
    assert sent_after(world, pusher) == 0
    world, part, pusher = busy(chunks=FEW + 1)
    for _ in range(FEW + 1):
        part.append()
    assert sent_after(world, pusher) > 0.001


def test_one_producer_that_waits_for_each_answer_never_waits_longer() -> None:
    world, part, pusher = busy(chunks=1)
    part.append()
    assert sent_after(world, pusher) == 0


def test_a_long_way_is_not_a_busy_broker() -> None:
    world, part = begun()
    for _ in range(20 * FRAMES):
        fly(world, part, 8, 0.02)
    part.append()
    assert sent_after(world, world.pushers[0]) == 0


def test_a_log_that_is_not_busy_any_more_waits_no_more() -> None:
    world, part, pusher = busy()
    for _ in range(6 * FRAMES):
        fly(world, part, 8, QUICK)
    part.append()
    assert sent_after(world, pusher) == 0


def test_large_chunks_wait_until_they_make_a_large_frame() -> None:
    world, part, pusher = busy(size=ENOUGH_BYTES // 4)
    for _ in range(2):
        part.append()
    world.loop.turn()
    assert not world.backups.pushes
    part.append()
    assert sent_after(world, pusher) == 0


def test_who_waits_for_the_journal_only_ends_the_rest() -> None:
    world, part, pusher = busy()
    told: list[int] = []
    part.append()
    world.loop.turn()
    assert not world.backups.pushes
    part.vlog.when_written(part.vlog.end, lambda: told.append(1))
    assert sent_after(world, pusher) == 0
    assert told == [1], "the journal has it"
    world.flow()
    world.check()


def test_a_log_that_goes_on_in_another_segment_does_not_wait() -> None:
    world, part, pusher = busy()
    part.append()
    world.loop.turn()
    pusher.renew()
    assert pusher.opening


def test_synced_frames_are_not_waited_with() -> None:
    """Chunks gather while the disks sync."""
    world = ClusterWorld.begin()
    part = world.partition(flush__messages="1")
    for _ in range(2 * FRAMES):
        for seconds in (QUICK, SLOW):
            for _ in range(8):
                part.append()
            world.loop.turn()
            world.vsegs.answer()
            world.loop.turn()
            world.loop.clock.advance(seconds)
            world.flow()
    part.append()
    assert sent_after(world, world.pushers[0]) == 0


def test_a_setting_that_changes_is_followed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    world, part, pusher = busy()
    monkeypatch.setattr(world.manager._replication, "linger_s", 0.0)
    fly(world, part, 8, SLOW)
    part.append()
    assert sent_after(world, pusher) == 0


@settings(deadline=None)
@given(
    flights=st.lists(
        st.tuples(st.floats(0.0001, 0.1), st.integers(1, 50), st.floats(0.0, 0.05)), min_size=1, max_size=200
    ),
    longest=st.floats(0.0, 1.0),
)
def test_how_long_it_rests_is_bounded(flights: list[tuple[float, int, float]], longest: float) -> None:
    """By the setting, and by what flights take beyond the shortest of them all."""
    gathering, now = Gathering(), 5.0
    for flight, chunks, pause in flights:
        now += flight
        gathering.landed(flight, chunks, 100 * chunks, now, longest)
        excess = max(one[0] for one in flights) - min(one[0] for one in flights)
        assert gathering.rest <= min(longest, REST_TIMES * excess) + 1e-9
        assert gathering.rest == 0 or gathering.rest >= LEAST_S
        assert 0 <= gathering.left(1, now) <= gathering.rest + 1e-9
        assert gathering.left(max(gathering.awaited, 1), now) == 0
        assert gathering.left(1, now + gathering.rest) == 0
        now += pause
