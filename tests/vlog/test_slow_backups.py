"""Virtual logs whose backups are all slow or gone, who waits for the journal only, and logs that rest."""

from __future__ import annotations

from kproto.clock import ManualClock
from kproto.vlog.replication import FORGOTTEN_S, SUSPECT_S, Suspects
from tests.vlog.cluster import ClusterPartition, ClusterWorld, backups_of, begun


def test_partitions_that_get_more_copies_leave_a_log_that_rests() -> None:
    copies = 2
    world = ClusterWorld.begin(2, 4)
    world.manager._copies_of = lambda *_: copies
    part = world.partition()
    part.append()
    world.flow()
    (pusher,) = world.pushers
    assert world.manager.rest([1]) == [], "it is in use"
    copies = 3
    world.manager.assign(part)  # type: ignore[arg-type]
    assert part.vlog.copies == 3
    assert world.manager.take_outgrown() == {1: 3}
    assert world.manager.take_outgrown() == {}
    ((vlog, seq, end),) = world.manager.rest([1])
    assert (vlog, seq, end) == (1, 1, pusher.vlog.position)
    world.vsegs.records[1, 1].end = end
    world.manager.rested([(vlog, seq, end)])
    assert world.manager.leave_behind() == {1: 1}
    assert world.manager.left_behind({1: 1})
    part.append()
    world.flow()
    assert (part.high_watermark, len(backups_of(world, 1, 2))) == (2, 2)
    world.manager.members_changed([1, 2])
    passing(world, 3)
    assert sorted(key for key in world.vsegs.records if key[0] == 1) == [(1, 1)], "it rests"
    copies = 2
    world.manager.assign(part)  # type: ignore[arg-type]
    part.append()
    world.flow()
    assert part.high_watermark == 3
    assert world.vsegs.records[1, 2].start == end
    world.check()


def both_silent(**overrides: str) -> tuple[ClusterWorld, ClusterPartition]:
    """The only two other brokers do not answer, though they are members."""
    world, part = begun(others=2, **overrides)
    for node in world.nodes.values():
        node.silent = True
    part.append()
    world.flow()
    assert part.high_watermark == 1
    return world, part


def journaled(part: ClusterPartition, told: list[int]) -> None:
    """Append, and note the append when the journal has it."""
    part.append()
    assert part.vlog is not None
    end = part.vlog.end
    part.vlog.when_written(end, lambda: told.append(end))


def test_who_waits_for_the_journal_does_not_wait_for_slow_backups() -> None:
    world, part = both_silent()
    (pusher,) = world.pushers
    told: list[int] = []
    journaled(part, told)
    world.flow()
    assert told == [], "backups may be quick"
    world.loop.advance(0.02)
    assert told == [3]
    for _ in range(10):
        journaled(part, told)
        world.loop.advance(0.002)
    world.loop.advance(0.02)
    assert told == [*range(3, 14)]
    assert pusher.pushes < 12, "a frame for every 5 ms, not for every append"
    assert part.high_watermark == 1
    for node in world.nodes.values():
        node.silent = False
    world.flow()
    assert part.high_watermark == 13
    assert pusher.idle
    world.check()


def test_frames_that_overtook_are_pushed_again_to_others() -> None:
    world, part = begun(others=3)
    for node in backups_of(world, 1):
        world.nodes[node].silent = True
    told: list[int] = []
    for _ in range(5):
        journaled(part, told)
        world.loop.turn()
        world.loop.advance(0.02)
    assert told == [2, 3, 4, 5, 6]
    journaled(part, told)
    part.append()
    passing(world, 2)
    assert part.high_watermark == 8
    assert told == [2, 3, 4, 5, 6, 7]
    assert len(world.vsegs.records) >= 2
    world.check()


def test_a_slow_backup_that_gets_on_is_not_replaced() -> None:
    """The stall time counts from the last frame that became durable."""
    world, part = both_silent()
    told: list[int] = []
    for _ in range(5):
        journaled(part, told)
        world.loop.advance(0.02)
    for node in world.nodes.values():
        node.silent = False
    for _ in range(5):
        world.loop.advance(0.4)
        for _ in range(2):
            world.backups.deliver(0)
        for _ in range(2):
            world.backups.answer(0)
    world.flow()
    assert part.high_watermark == 7
    assert world.pushers[0].replaced == 0


def test_a_backup_that_hangs_after_a_large_frame_is_replaced_after_the_usual_time() -> None:
    """32 MiB may take 4 s, the next frame may not."""
    sizes = {"kproto__virtual__segment__bytes": str(64 << 20), "kproto__journal__bytes": str(512 << 20)}
    world, part = begun(others=3, **sizes)
    (pusher,) = world.pushers
    part.append(size=32 << 20)
    world.loop.turn()
    world.loop.advance(0.8)
    world.flow()
    assert (part.high_watermark, pusher.stalls) == (part.log_end_offset, 0)
    world.nodes[backups_of(world, 1)[0]].silent = True
    part.append()
    world.flow()
    world.loop.advance(0.49)
    assert pusher.stalls == 0
    world.loop.advance(0.07)
    world.flow()
    assert (part.high_watermark, pusher.stalls) == (part.log_end_offset, 1)
    world.check()


def test_who_waits_for_the_journal_is_told_when_ownership_is_lost() -> None:
    world, part = both_silent()
    told: list[int] = []
    journaled(part, told)
    world.manager.lose_ownership()
    assert told == [3]
    assert part.vlog is not None
    assert part.vlog.lost


def passing(world: ClusterWorld, seconds: int) -> None:
    for _ in range(seconds):
        world.loop.advance(1.0)
        world.manager.tick()
        world.flow()


def test_when_all_others_are_silent_they_are_waited_for() -> None:
    world, part = both_silent()
    passing(world, 29)
    assert part.high_watermark == 1, "not with one copy only"
    assert part.vlog.live_copies == 3
    assert len(world.vsegs.records) == 1, "nobody better is there"
    for node in world.nodes.values():
        node.silent = False
    world.flow()
    assert part.high_watermark == 2
    assert len(world.vsegs.records) == 1, "nothing has to be pushed again"
    world.check()


def test_when_all_others_are_silent_for_too_long_one_copy_has_to_do() -> None:
    world, part = both_silent()
    passing(world, 32)
    assert (part.high_watermark, part.vlog.live_copies) == (2, 1)
    part.append()
    world.flow()
    assert part.high_watermark == 3, "and that is not waited for again"


def test_one_that_failed_long_ago_is_not_taken_for_one_that_failed_ever_since() -> None:
    clock = ManualClock()
    suspects = Suspects(clock)
    suspects.add(2, waited=0.5)
    assert suspects.failing(2) == 0.5
    clock.advance(100.0)
    assert suspects.failing(2) == 100.5
    suspects.add(2)
    assert suspects.failing(2) == 100.5, "nothing was stored meanwhile"
    clock.advance(SUSPECT_S * 2 + FORGOTTEN_S + 1)
    assert suspects.failing(2) == 0.0, "it was not tried"
    suspects.add(2, waited=0.5)
    assert suspects.failing(2) == 0.5
    assert suspects.hopeless(30.0) == frozenset()
    suspects.clear(2)
    assert suspects.failing(2) == 0.0


def test_how_long_is_a_setting() -> None:
    world, part = both_silent(replica__lag__time__max__ms="3000")
    passing(world, 2)
    assert part.high_watermark == 1
    passing(world, 3)
    assert (part.high_watermark, part.vlog.live_copies) == (2, 1)


def test_silent_ones_that_are_no_members_any_more_are_not_waited_for() -> None:
    world, part = both_silent()
    passing(world, 3)
    world.manager.members_changed([])
    world.flow()
    assert (part.high_watermark, part.vlog.live_copies) == (2, 1)


def test_one_that_answers_is_enough_to_go_on_without_the_other() -> None:
    world, part = both_silent()
    world.nodes[2].silent = False
    world.flow()
    passing(world, 1)
    assert (part.high_watermark, part.vlog.live_copies) == (2, 2)
    world.check()
