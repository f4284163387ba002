"""Partitions that go from one virtual log to another while they are busy (rule 12)."""

from __future__ import annotations

from functools import partial

import pytest

from kproto.config.topic_configs import topic_config
from kproto.vlog import states
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.crossing import Crossing
from tests.vlog.cluster import ClusterPartition, ClusterWorld, begun

SYNCED = "1"
MEMORY = str(2**63 - 1)


def configure(world: ClusterWorld, part: ClusterPartition, messages: str) -> None:
    part.config = topic_config({"flush.messages": messages}, world.settings)
    world.manager.assign(part)  # type: ignore[arg-type]


def policy_of(world: ClusterWorld, part: ClusterPartition) -> FlushPolicy:
    return world.manager._of[part.vlog].klass.policy


def busy() -> tuple[ClusterWorld, ClusterPartition]:
    """A frame of the partition is on its way, another chunk waits for it, and the config has changed."""
    world, part = begun()
    for _ in range(2):
        part.append()
        world.loop.turn()
    configure(world, part, SYNCED)
    assert isinstance(part.vlog, Crossing)
    return world, part


def test_a_partition_that_is_never_at_rest_goes_to_its_new_class_all_the_same() -> None:
    world, part = busy()
    left = world.pushers[0].vlog
    for _ in range(6):
        part.append()
        world.loop.turn()
        world.vsegs.answer()
        for _ in range(len(world.backups.pushes)):
            world.backups.deliver(0)
        part.append()
        for _ in range(len(world.backups.answers)):
            world.backups.answer(0)
        assert part.high_watermark < part.log_end_offset
        world.check()
    assert policy_of(world, part) is FlushPolicy.SYNCED
    assert left.end == 3, "what was appended since the config changed is in the new one"
    world.flow()
    assert part.high_watermark == part.log_end_offset
    world.check()
    world.check_states()


def test_what_is_appended_on_the_way_waits_for_what_was_there_before() -> None:
    world, part = busy()
    told: list[str] = []
    crossing = part.vlog
    crossing.when_durable(part.append(), lambda: told.append("durable"))
    crossing.when_written(crossing.end, lambda: told.append("written"))
    world.loop.turn()
    (left, ahead) = (pusher.vlog for pusher in world.pushers)
    assert (left.end, ahead.end, crossing.durable) == (3, 0, 0), "nothing may overtake"
    assert not crossing.blocked
    while part.vlog is crossing:
        world.backups.deliver(0)
        world.backups.answer(0)
    assert part.high_watermark == 3
    assert (ahead.end, told) == (1, [])
    crossing.when_durable(1, lambda: told.append("late"))
    world.flow()
    assert told == ["written", "durable", "late"]
    assert (part.high_watermark, crossing.durable, crossing.end) == (4, 1, 1)
    crossing.when_written(1, lambda: told.append("at once"))
    assert told[-1] == "at once"
    world.check()


def test_two_partitions_that_change_places_do_not_wait_for_each_other() -> None:
    world, one = begun()
    other = world.partition(index=1, flush__messages=SYNCED)
    other.append()
    world.flow()
    for part in (one, other, one, other):
        part.append()
        world.loop.turn()
    configure(world, one, SYNCED)
    configure(world, other, MEMORY)
    for part in (one, other):
        part.append()
    world.flow()
    assert (policy_of(world, one), policy_of(world, other)) == (FlushPolicy.SYNCED, FlushPolicy.MEMORY)
    assert (one.high_watermark, other.high_watermark) == (4, 4)
    world.check()
    world.check_states()


def test_who_changes_it_back_in_time_finds_it_where_it_was() -> None:
    world, part = busy()
    left = world.pushers[0].vlog
    part.append()
    configure(world, part, MEMORY)
    part.append()
    world.flow()
    assert part.vlog is left
    assert part.high_watermark == 5
    assert [pusher.vlog.end for pusher in world.pushers] == [5, 0]
    world.check()
    world.check_states()


def test_a_backup_that_fails_meanwhile_is_replaced_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "FIRST_AFTER", 1)
    world, part = busy()
    part.append()
    world.backups.cut(world.backups.pushes[0].node)
    world.loop.turn()
    assert isinstance(part.vlog, Crossing)
    world.flow()
    assert part.high_watermark == 4
    assert policy_of(world, part) is FlushPolicy.SYNCED
    world.check()
    world.check_states()


def test_when_ownership_is_lost_on_the_way_all_who_wait_are_told() -> None:
    world, part = busy()
    crossing = part.vlog
    told: list[bool] = []
    crossing.when_durable(part.append(), lambda: told.append(crossing.lost))
    world.manager.lose_ownership()
    world.loop.turn()
    assert told == [True]
    assert (crossing.lost, crossing.blocked, crossing.refs) == (True, True, [])
    assert world.manager.assign(part) is crossing  # type: ignore[arg-type]
    crossing.when_durable(1, lambda: told.append(crossing.lost))
    crossing.when_written(1, lambda: told.append(crossing.lost))
    assert told == [True, True, True]


@pytest.mark.parametrize("callback", ["when_durable", "when_written"])
def test_of_a_partition_that_is_closed_on_the_way_nothing_goes_on(callback: str) -> None:
    world, part = busy()
    crossing = part.vlog
    told: list[bool] = []
    getattr(crossing, callback)(part.append(), partial(told.append, True))
    part.deleted, part.vlog = True, None
    for _ in range(10):
        world.backups.deliver(0)
        world.backups.answer(0)
        world.loop.turn()
    assert told == [True]
    assert crossing.lost
    assert world.pushers[1].vlog.end == 0


def test_a_topic_counts_the_copies_of_what_it_has_until_it_has_more() -> None:
    copies = 2
    world = ClusterWorld.begin(2, 4)
    world.manager._copies_of = lambda *_: copies
    part = world.partition()
    part.append()
    world.loop.turn()
    copies = 3
    world.manager.assign(part)  # type: ignore[arg-type]
    crossing = part.vlog
    assert (crossing.copies, crossing.live_copies) == (2, 3)
    assert world.manager.take_outgrown() == {}
    world.flow()
    assert (part.vlog.copies, crossing.copies) == (3, 3)
    assert world.manager.take_outgrown() == {1: 3}


@pytest.mark.parametrize("fewer", [1, 2])
def test_who_goes_to_fewer_copies_and_more_syncs_gives_up_nobodys_copies(fewer: int) -> None:
    """What is left wants as many copies as it has, though who left has one now (the controller refuses a wish
    for one, each time), and as many as others want that left the same virtual log (17)."""
    copies = [2, 2]
    world = ClusterWorld.begin(2, 4)
    world.manager._copies_of = lambda _, index: copies[index]
    parts = [world.partition(index=index) for index in (0, 1)]
    for part in parts:
        part.append()
    world.flow()
    first, second = parts
    copies[0] = fewer
    configure(world, first, SYNCED)
    assert world.manager.take_outgrown() == {1: 2}
    copies[1] = 3
    world.manager.assign(second)  # type: ignore[arg-type]
    assert [part.vlog.copies for part in parts] == [fewer, 3]
    copies[0] = 2
    configure(world, first, MEMORY)
    copies[0] = fewer
    configure(world, first, SYNCED)
    assert world.manager.take_outgrown() == {1: 3}
    world.check()


def test_an_owner_that_hands_everything_over_takes_no_appends_on_the_way() -> None:
    world, part = busy()
    part.append()
    world.manager.retire()
    assert (part.vlog.blocked, part.vlog.retiring, part.vlog.lost) == (True, True, False)
    world.flow()
    assert world.manager.retired()
    assert part.high_watermark == 4


def test_what_is_left_for_a_class_with_more_syncs_is_to_be_closed() -> None:
    """An open virtual segment whose acks were not synced is in limbo after a loss of power (24e)."""
    world, part = begun()
    configure(world, part, "5")
    assert world.manager.take_outgrown() == {}, "TIMED promises no more"
    part.append()
    world.flow()
    configure(world, part, SYNCED)
    assert world.manager.take_outgrown() == {2: 3}
    part.append()
    world.flow()
    configure(world, part, MEMORY)
    assert world.manager.take_outgrown() == {}
    configure(world, part, SYNCED)
    assert world.manager.take_outgrown() == {1: 3}
    world.manager.rested(world.manager.rest([1, 2]))
    assert [pusher.resting for pusher in world.pushers] == [True, True, False]
    world.check()
