"""Virtual logs that a topic had for itself go with it, those that are too many with
``kproto.vlogs.per.broker``: nothing of them stays, here or in the store."""

from __future__ import annotations

from typing import Any

import pytest

from kproto.log.ports import EVERYTHING
from kproto.vlog.recovery import Recovered
from kproto.vlog.virtual_log import VirtualLog
from kproto.vlog.virtual_segment import Stripe
from tests.vlog.cluster import ClusterPartition, ClusterWorld, Record


def delete(world: ClusterWorld, *parts: ClusterPartition) -> None:
    """Their topic was deleted."""
    for part in parts:
        part.deleted, part.vlog = True, None
        part.segment.flushed = part.segment.synced = EVERYTHING
    world.manager.forget_topic(parts[0].topic_id)


def close(world: ClusterWorld) -> list[tuple[int, int, int]]:
    """What `Widening.roll` does about it; what the store was told."""
    ends = world.manager.rest(world.manager.ended())
    for vlog, seq, end in ends:
        world.vsegs.records[vlog, seq].end = end
    world.manager.rested(ends)
    return ends


def vlogs_of(world: ClusterWorld) -> list[int]:
    return [vlog.vlog_id for vlog in world.manager._of]


def records_of(world: ClusterWorld, *vlogs: int) -> list[Record]:
    return [record for (vlog, _), record in sorted(world.vsegs.records.items()) if vlog in vlogs]


def test_with_backups_they_end_in_the_store_first() -> None:
    world = ClusterWorld.begin()
    shared = world.partition(topic=1)
    shared.append()
    world.flow()
    used = world.manager.journal.bytes
    own = [world.partition(topic=2, index=index, kproto__vlogs="3") for index in range(3)]
    for part in own[:2]:
        part.append(20_000)
    world.manager.side(own[0])  # type: ignore[arg-type]
    world.flow()
    assert (vlogs_of(world), world.manager.ended()) == ([1, 2, 3, 4, (1 << 30) + 5], [])
    delete(world, *own)
    world.pass_time(3)
    assert vlogs_of(world) == [1, 2, 3], "of the others the store has nothing"
    first = world.manager.rest(world.manager.ended())
    assert sorted(first) == [(2, 1, world.pushers[1].vlog.position), (3, 1, world.pushers[2].vlog.position)]
    world.pass_time(3)
    assert sorted(close(world)) == sorted(first), "the store did not answer"
    assert close(world) == []
    world.pass_time(3)
    assert (vlogs_of(world), world.manager.ended()) == ([1], [])
    while world.manager.journal.shrink():
        world.loop.turn()
    assert world.manager.journal.bytes == used
    assert [record.end is None for record in records_of(world, 2, 3)] == [False, False]
    world.loop.advance(7200)
    world.pass_time(3)
    assert len(records_of(world, 2, 3)) == 2
    again = world.partition(topic=3, kproto__vlogs="1")
    assert again.vlog.vlog_id == 6, "no number comes again"
    again.append()
    shared.append()
    world.flow()
    assert (again.high_watermark, shared.high_watermark) == (1, 2)
    world.check()


def test_a_segment_that_is_being_opened_when_the_topic_is_deleted_ends_as_well() -> None:
    """Nothing was on its way, so the virtual log was forgotten; then the answer came, and its segment stayed
    open in the store: a broker that was to stop, and had one it did not know of, gave nothing away."""
    world = ClusterWorld.begin()
    part = world.partition(topic=2, kproto__vlogs="1")
    vlog: Any = part.vlog
    world.manager.write_down(part)  # type: ignore[arg-type]
    delete(world, part)
    world.manager.tick()
    assert vlog.vlog_id in vlogs_of(world)
    world.flow()
    world.pass_time(3)
    close(world)
    world.pass_time(3)
    assert vlog.vlog_id not in vlogs_of(world)
    assert [record.end is None for record in records_of(world, vlog.vlog_id)] == [False]


def test_what_is_on_its_way_when_the_topic_is_deleted_comes_first() -> None:
    world = ClusterWorld.begin()
    part = world.partition(topic=2, kproto__vlogs="1")
    vlog: Any = part.vlog
    told: list[bool] = []
    part.append()
    vlog.when_durable(1, lambda: told.append(True))
    delete(world, part)
    world.loop.turn()
    world.manager.tick()
    assert close(world) == [], "the store is asked for the first segment"
    world.vsegs.answer()
    world.loop.turn()
    assert world.backups.pushes
    assert close(world) == []
    assert vlogs_of(world) == [1]
    world.flow()
    assert told == [True]
    assert len(close(world)) == 1
    world.pass_time(3)
    assert vlogs_of(world) == []


def test_a_deleted_topic_and_one_of_its_name_have_nothing_in_common() -> None:
    """Topics are known by their ids."""
    world = ClusterWorld.begin()
    part = world.partition(topic=2, kproto__vlogs="1")
    part.append()
    world.flow()
    delete(world, part)
    again = world.partition(topic=3, kproto__vlogs="1")
    again.append()
    world.flow()
    assert [vlog for vlog, _, _ in close(world)] == [1]
    world.pass_time(3)
    assert vlogs_of(world) == [2]
    again.append()
    world.flow()
    assert again.high_watermark == 2
    world.check()


def test_without_backups_they_go_by_themselves() -> None:
    world = ClusterWorld.begin(copies=1, others=0)
    shared = world.partition(topic=1)
    shared.append()
    part = world.partition(topic=2, kproto__vlogs="1")
    vlog: VirtualLog = part.vlog
    world.flow()
    part.append()
    delete(world, part)
    world.manager.tick()
    assert vlog in world.manager._of, "a chunk is on its way"
    assert world.manager.ended() == []
    world.pass_time(3)
    assert vlogs_of(world) == [1]
    assert vlog.segments == []
    shared.append()
    world.flow()
    recovered: Recovered = world.recover()
    assert {key[0] for key in recovered.chunks} == {shared.topic_id}
    assert not world.loop.errors


def test_partitions_of_a_deleted_topic_are_not_kept_by_what_others_still_need() -> None:
    """A shared virtual segment is needed until its files are synced: that may take until it is full."""
    world = ClusterWorld.begin()
    stays, gone = world.partition(topic=1), world.partition(topic=2)
    for part in (stays, gone, stays):
        part.append()
    world.flow()
    assert kept_by(world) == {stays.segment, gone.segment}
    delete(world, gone)
    world.pass_time(2)
    assert kept_by(world) == {stays.segment}


def test_looking_for_them_takes_no_longer_than_it_may() -> None:
    """All that everything in the journal takes was gone through at once."""
    world = ClusterWorld.begin()
    parts = [world.partition(topic=number) for number in range(1, 4)]
    for part in parts:
        part.append()
    world.flow()
    segment = next(segment for vlog in world.manager._of for segment in vlog.segments)
    segment.stripes = [Stripe(stripe.start, stripe.chain) for stripe in segment.stripes * 3]
    for stripe in segment.stripes:
        stripe.extents = {part.segment: 1 << 40 for part in parts}
    delete(world, parts[2])
    for number, _ in enumerate(segment.forget_done(), 1):
        assert [parts[2].segment in stripe.extents for stripe in segment.stripes].index(True) == number
        if number == len(segment.stripes) - 1:
            break


def kept_by(world: ClusterWorld) -> set[Any]:
    segments = (segment for vlog in world.manager._of for segment in vlog.segments)
    return {each for segment in segments for stripe in segment.stripes for each in stripe.extents}


def test_a_segment_that_was_opened_while_the_end_was_told_is_told_as_well() -> None:
    """Everything that was durable was left behind for a hand-over meanwhile: the next segment, which is
    empty, stayed open in the store for as long as its owner lived."""
    world = ClusterWorld.begin()
    part = world.partition(topic=2, kproto__vlogs="1")
    vlog: Any = part.vlog
    part.append()
    world.flow()
    delete(world, part)
    first = world.manager.rest(world.manager.ended())
    world.manager.leave_behind()
    world.flow()
    assert len(records_of(world, vlog.vlog_id)) == 2
    second = world.manager.rest(world.manager.ended())
    assert [number for _, number, _ in first + second] == [1, 2]
    world.manager.rested(first)
    assert close(world) == second
    world.pass_time(3)
    assert vlogs_of(world) == []
    assert [record.end is None for record in records_of(world, vlog.vlog_id)] == [False, False]


@pytest.mark.parametrize("pending", [False, True])
@pytest.mark.parametrize("copies", [1, 3])
def test_fewer_per_broker_leave_nothing_of_the_others(copies: int, pending: bool) -> None:
    """They kept a file of the journal each, and files were as small as with all of them."""
    world = ClusterWorld.begin(copies=copies, others=copies - 1, kproto__journal__bytes="4194304")
    parts = [world.partition(index=index) for index in range(8)]
    alone = world.manager.space.file_bytes
    per_broker(world, 4, *parts)
    assert len(vlogs_of(world)) == 4
    assert world.manager.space.file_bytes < alone
    if pending:
        for part in parts:
            part.append()
    per_broker(world, 1, *parts)
    settle(world, *parts)
    assert world.manager.space.file_bytes == alone
    if copies == 1:
        assert len(vlogs_of(world)) == 1
    else:
        assert [one.end is None for one in world.vsegs.records.values()].count(True) == 1
        assert sum(len(vlog.segments) for vlog in world.manager._of) == 1
        assert world.manager.leave_behind().keys() == {1, 2, 3, 4}, "who takes over is to read all of them"
        world.flow()
        assert world.manager.left_behind({1: 1, 2: 1, 3: 1, 4: 1})
    per_broker(world, 4, *parts)
    assert len(vlogs_of(world)) == 4
    assert all(part.high_watermark == part.log_end_offset for part in parts)
    assert world.manager.ended() == []
    if copies > 1:
        world.check()


def test_those_of_a_topic_alone_stay_however_few_others_share() -> None:
    world = ClusterWorld.begin()
    own = [world.partition(index=index, kproto__vlogs="3") for index in range(3)]
    per_broker(world, 1, *own)
    assert (len(vlogs_of(world)), world.manager.ended()) == (3, [])


def test_what_was_too_many_for_a_moment_stays() -> None:
    world = ClusterWorld.begin()
    parts = [world.partition(index=index) for index in range(8)]
    per_broker(world, 4, *parts)
    had = vlogs_of(world)
    per_broker(world, 1, *parts)
    assert len(world.manager.ended()) == 3
    per_broker(world, 4, *parts)
    assert world.manager.ended() == []
    settle(world, *parts)
    assert vlogs_of(world) == had
    world.check()


def test_what_nobody_appends_to_ends_when_a_backup_is_drained_and_too_few_others_are_there() -> None:
    """The drained broker was needed for the open virtual segment for ever, which only deleted topics, or
    those with fewer copies now, were in."""
    world = ClusterWorld.begin(others=2)
    part, used = world.partition(), world.partition(topic=2, flush__messages="1")
    part.append()
    used.append()
    world.flow()
    delete(world, part)
    assert close(world) == [], "nobody is drained"
    world.nodes[2].drained = True
    world.manager.members_changed((1, 2), frozenset({2}))
    vlog, other = world.pushers[0].vlog.vlog_id, world.pushers[1].vlog.vlog_id
    assert [one[:2] for one in close(world)] == [(vlog, 1)]
    world.pass_time(3)
    assert close(world) == [], "once"
    assert [record.end is None for record in records_of(world, vlog, other)] == [False, True]
    again = world.partition(topic=3)
    again.append()
    world.flow()
    assert (again.high_watermark, again.vlog.vlog_id) == (1, vlog)
    world.check()


def per_broker(world: ClusterWorld, number: int, *parts: ClusterPartition) -> None:
    """That many virtual logs are set, and used."""
    settings = world.manager._settings.with_texts({"kproto.vlogs.per.broker": str(number)})
    world.manager.apply_settings(settings, parts)  # type: ignore[arg-type]
    for part in parts:
        part.append()
    if number > 1:
        world.flow()


def settle(world: ClusterWorld, *parts: ClusterPartition) -> None:
    """All that was appended is in files, which are synced; the store is told what ended."""
    world.flow()
    for _ in range(3):
        for part in parts:
            part.segment.flushed = part.segment.synced = EVERYTHING
        world.pass_time(3)
        close(world)
