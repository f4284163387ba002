"""Backups whose disks are full, and that nobody can take the place of (13)."""

from __future__ import annotations

import pytest

from kproto.vlog.frame import decode_frame_header
from kproto.vlog.ports import PushAnswer
from kproto.vlog.virtual_log import VirtualLog
from tests.vlog.cluster import ClusterPartition, ClusterWorld, Node, backups_of, begun

from .test_slow_backups import passing


def fill(world: ClusterWorld, full: bool = True) -> None:
    for node in world.nodes.values():
        node.full = full


def one_backup() -> tuple[ClusterWorld, ClusterPartition, Node]:
    """Two copies, and one other broker."""
    world = ClusterWorld.begin(2, 1)
    part = world.partition()
    part.append()
    world.flow()
    assert part.high_watermark == 1
    return world, part, world.nodes[1]


def vlog_of(part: ClusterPartition) -> VirtualLog:
    assert part.vlog is not None
    return part.vlog


def asked(world: ClusterWorld, part: ClusterPartition, seconds: float, told: list[float]) -> None:
    """Append ten times a second, and note how long the journal took."""
    for _ in range(round(seconds * 10)):
        part.append()
        begin = world.loop.clock.monotonic()
        vlog_of(part).when_written(
            vlog_of(part).end, lambda begin=begin: told.append(world.loop.clock.monotonic() - begin)
        )
        for _ in range(10):
            world.loop.advance(0.01)
            world.flow()
        world.manager.tick()


def test_all_others_are_asked_again_every_second() -> None:
    world, part = begun(others=2)
    fill(world)
    part.append()
    world.flow()
    passing(world, 10)
    assert part.high_watermark == 1, "not with one copy only"
    assert len(world.vsegs.records) <= 4, "the store has other things to do"
    fill(world, False)
    passing(world, 1)
    assert part.high_watermark == 2
    world.check()


def test_one_copy_has_to_do_when_that_lasts_too_long() -> None:
    world, part = begun(others=2)
    fill(world)
    part.append()
    world.flow()
    passing(world, 33)
    assert (part.high_watermark, part.vlog.live_copies) == (2, 1)


@pytest.mark.parametrize("others", [1, 2])
def test_who_waits_for_the_journal_only_does_not_notice(others: int) -> None:
    """It took a second for each frame (found by attack)."""
    world = ClusterWorld.begin(1 + others, others)
    part = world.partition()
    part.append()
    world.flow()
    fill(world)
    told: list[float] = []
    asked(world, part, 20, told)
    assert len(told) == 200
    assert max(told) < 0.1
    assert part.high_watermark == 1
    fill(world, False)
    passing(world, 2)
    assert part.high_watermark == 201
    world.check()


def test_it_is_offered_one_frame_and_sent_the_others_when_it_took_that() -> None:
    world, part, node = one_backup()
    (pusher,) = world.pushers
    node.full = True
    asked(world, part, 1.5, [])
    segment = pusher.vlog.open_segment
    assert segment is not None
    assert len(segment.frames) > 10
    world.backups.pushes.clear()
    world.loop.advance(1.0)
    assert [message.first for message in world.backups.pushes] == [None], "one, in the middle of its copy"
    node.full = False
    world.backups.deliver(0)
    world.backups.answer(0)
    assert len(world.backups.pushes) == len(segment.frames)
    world.flow()
    assert part.high_watermark == 16
    assert list(world.vsegs.records) == [(1, 1)]
    world.check()


def test_all_that_refuse_for_another_reason_are_asked_in_new_segments_every_second() -> None:
    """Their copies may never go on."""
    world, part = begun(others=2)
    for node in world.nodes.values():
        node.refuses = True
    part.append()
    world.flow()
    passing(world, 10)
    assert part.high_watermark == 1, "not with one copy only"
    assert 8 <= len(world.vsegs.records) <= 16
    for node in world.nodes.values():
        node.refuses = False
    passing(world, 2)
    assert part.high_watermark == 2
    world.check()


def test_the_first_frame_of_a_copy_is_offered_with_its_header() -> None:
    world = ClusterWorld.begin(2, 1)
    part = world.partition()
    fill(world)
    part.append()
    world.flow()
    passing(world, 2)
    assert part.high_watermark == 0
    fill(world, False)
    passing(world, 1)
    assert part.high_watermark == 1
    assert list(world.vsegs.records) == [(1, 1)]
    world.check()


def test_who_goes_away_meanwhile_is_replaced() -> None:
    """Also when what it does not answer is a frame behind."""
    world, part, node = one_backup()
    node.full = True
    asked(world, part, 0.5, [])
    for _ in range(2):
        part.append()
        vlog_of(part).when_written(vlog_of(part).end, lambda: None)
        world.loop.advance(0.01)
    passing(world, 1)
    assert list(world.vsegs.records) == [(1, 1)]
    world.loop.advance(1.0)
    node.up = False
    world.backups.cut(node)
    passing(world, 1)
    assert (1, 2) in world.vsegs.records
    world.check()


def test_one_that_has_room_is_enough_to_go_on_without_the_other() -> None:
    world, part = begun(others=2)
    full, other = backups_of(world, 1)
    world.nodes[full].full = True
    part.append()
    world.flow()
    assert (part.high_watermark, backups_of(world, 2)) == (2, [other])
    world.check()


@pytest.mark.parametrize(("size", "most"), [(100, 32), (1 << 20, 8)])
def test_what_it_lacks_is_sent_a_part_at_a_time(size: int, most: int) -> None:
    """A connection takes 64 MB at once, and a frame too many was the end of the copy, and of those of other
    virtual logs (found by attack)."""
    world = ClusterWorld.begin(
        2, 1, kproto__virtual__segment__bytes=str(64 << 20), kproto__journal__bytes=str(256 << 20)
    )
    part = world.partition()
    part.append()
    world.flow()
    fill(world)
    for _ in range(60):
        part.append(size)
        vlog_of(part).when_written(vlog_of(part).end, lambda: None)
        world.loop.turn()
        world.loop.advance(0.01)
        world.flow()
    fill(world, False)
    sent: list[int] = []
    for _ in range(200):
        world.loop.advance(0.01)
        sent.append(len(world.backups.pushes))
        for _ in range(sent[-1]):
            world.backups.deliver(0)
        for _ in range(sent[-1]):
            world.backups.answer(0)
    assert part.high_watermark == 61
    assert most // 2 < max(sent) <= most
    assert list(world.vsegs.records) == [(1, 1)]
    world.check()


def test_no_more_than_that_is_on_its_way_to_who_is_silent() -> None:
    """The frames after a long wait are large, those that do not wait for backups, too: the third one was more
    than a connection takes, once a second, as long as somebody wrote with acks=1 (found by attack)."""
    sizes = {"kproto__virtual__segment__bytes": str(64 << 20), "kproto__journal__bytes": str(256 << 20)}
    world = ClusterWorld.begin(2, 1, **sizes)
    part = world.partition()
    part.append()
    world.flow()
    told: list[int] = []
    for number in range(40):
        part.append(1 << 20)
        vlog_of(part).when_written(vlog_of(part).end, lambda number=number: told.append(number))
        world.loop.turn()
        world.loop.advance(0.01)
    assert told == [*range(40)]
    assert 3 < len(world.backups.pushes) < 9
    world.flow()
    assert part.high_watermark == 41
    assert list(world.vsegs.records) == [(1, 1)]
    world.check()


def test_the_ack_of_a_frame_may_come_behind_the_refusal_of_the_next_one() -> None:
    """It waits for a sync, which a refusal does not (found by attack: an invariant was broken)."""
    world = ClusterWorld.begin(2, 1)
    part = world.partition(flush__messages="1")
    part.append()
    world.flow()
    for full in (False, True):
        world.nodes[1].full = full
        part.append()
        vlog_of(part).when_written(vlog_of(part).end, lambda: None)
        world.loop.turn()
        world.loop.advance(0.01)
        world.backups.deliver(0)
    world.backups.answer(1)
    world.backups.answer(0)
    assert part.high_watermark == 2
    fill(world, False)
    passing(world, 2)
    assert part.high_watermark == 3
    assert list(world.vsegs.records) == [(1, 1)]
    world.check()


def test_a_segment_is_closed_by_age_though_its_backup_has_no_room() -> None:
    """The next one was wanted, and acks=1 stood still until this one was durable (found by attack)."""
    world = ClusterWorld.begin(2, 1, kproto__virtual__segment__ms="10000")
    part = world.partition()
    part.append()
    world.flow()
    fill(world)
    told: list[float] = []
    asked(world, part, 25, told)
    assert len(told) == 250
    assert max(told) < 1.1
    assert len(world.vsegs.records) == 3
    fill(world, False)
    passing(world, 2)
    assert part.high_watermark == 251
    world.check()


def test_what_is_durable_can_be_left_behind_though_a_backup_has_no_room() -> None:
    """(12b)"""
    world, part, _ = one_backup()
    fill(world)
    asked(world, part, 1, [])
    left = world.manager.leave_behind()
    passing(world, 2)
    assert world.manager.left_behind(left)
    assert part.high_watermark == 1
    world.check()


def test_another_segment_waits_for_room_while_no_controller_is_heard() -> None:
    """Nobody could record it."""
    world, part, _ = one_backup()
    (pusher,) = world.pushers
    fill(world)
    part.append()
    world.flow()
    pusher._shared.heard = lambda: False
    pusher.renew()
    passing(world, 3)
    assert list(world.vsegs.records) == [(1, 1)]
    fill(world, False)
    world.loop.advance(1.0)
    world.backups.deliver(0)
    world.backups.answer(0)
    assert part.high_watermark == 2
    world.check()


def test_one_copy_has_to_do_though_another_virtual_log_finds_room() -> None:
    """Where room was reserved for it. What it stores there made this one wait anew each time (found by
    attack)."""
    world = ClusterWorld.begin(2, 1)
    part, other = world.partition(), world.partition(index=1, flush__messages="1")
    for one in (part, other):
        one.append()
    world.flow()
    node, push = world.nodes[1], world.nodes[1].push

    def push_where_reserved(first: bytes | None, frame: bytes) -> PushAnswer:
        header = decode_frame_header(frame)
        assert header is not None
        node.full = header.vlog == vlog_of(part).vlog_id
        return push(first, frame)

    node.push = push_where_reserved  # type: ignore[method-assign]
    waits = 0
    for _ in range(200):
        for one in (part, other):
            one.append()
        passing(world, 1)
        waits += part.high_watermark < part.log_end_offset
    assert other.high_watermark == 201
    assert waits < 50, "once, and not after each try to have two copies again"
    world.check()


@pytest.mark.parametrize("seconds", [3, 8, 12, 17, 22])
def test_all_others_without_room_are_asked_in_turn(seconds: int) -> None:
    """The one that had room again was not asked for up to 15 s, and records went on in one copy (found by
    attack)."""
    world = ClusterWorld.begin(2, 2)
    part = world.partition()
    part.append()
    world.flow()
    fill(world)
    part.append()
    world.flow()
    passing(world, seconds)
    assert part.high_watermark == 1
    (waited_for,) = backups_of(world, max(world.vsegs.records)[1])
    world.nodes[3 - waited_for].full = False
    passing(world, 7)
    assert (part.high_watermark, part.vlog.live_copies) == (2, 2)
    assert len(world.vsegs.records) <= 8
    world.check()
