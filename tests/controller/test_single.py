"""Topics that go back to one copy, and the only copy that goes to another broker (rules 12b, 18b)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kproto.controller import rules
from kproto.controller.decision import Decision
from kproto.controller.freeing import Start, Unneeded, decide_free, decide_starts
from kproto.controller.moves import Wish, decide_moves, misplaced
from kproto.controller.reassignment import ongoing
from kproto.controller.recovery import Attempt
from kproto.controller.single import decide_alone
from kproto.errors import ErrorCode
from kproto.metadata.records import ONLINE, RECOVERING
from kproto.replica.takeover import may_stop
from tests.controller.cluster_world import World, cluster
from tests.controller.test_factors import copied, reassign
from tests.controller.test_moves import hand_over

NOTHING = ErrorCode.NO_REASSIGNMENT_IN_PROGRESS
ALL = frozenset({1, 2, 3, 4})


def alone(world: World, node: int, streamlets: Sequence[int] = (0,), back: int = 0) -> list[bool]:
    """The leader says that it has everything; ``back``: of an earlier leader epoch."""
    records = [world.streamlet("t", index) for index in streamlets]
    wanted = [Attempt(one.topic_id, one.index, one.leader_epoch - back) for one in records]
    return world.commit(decide_alone(world.image, world.table, node, world.epoch(node), wanted))


def copies(world: World, index: int = 0) -> int:
    return world.image.topics["t"].copies_of(world.streamlet("t", index))


def move(world: World) -> None:
    """Whoever is no replica any more hands over, and the target takes over."""
    wishes: list[Wish] = list(misplaced(world.image, world.table, ALL, False))
    world.commit(decide_moves(world.image, world.table, wishes))
    record = world.streamlet("t")
    assert world.table.current_move(record) is not None
    assert hand_over(world, seq=-1)
    assert world.commit_all([world.streamlet("t")]) == [True]


def listed(world: World) -> list[tuple[int, list[int], list[int], list[int]]]:
    return [tuple(one[1:]) for one in ongoing(world.image, world.table, None)]  # type: ignore[misc]


def test_a_topic_has_one_copy_when_its_leaders_have_all_of_it() -> None:
    world = cluster(4, t=(2, 3, [1, 2]))
    vseg = world.open(1).id
    world.open(1, 1, 10)
    assert reassign(world, (1,), (2,)) == [ErrorCode.NONE] * 2
    topic = world.image.topics["t"]
    assert (topic.replication_factor, topic.fewest_copies) == (1, 3)
    assert (copies(world), world.streamlet("t").sources) == (3, (world.epoch(1),)), "nobody says so yet"
    assert [one[0] for one in listed(world)] == [0, 1]
    assert alone(world, 2) == [False], "it is no leader"
    assert alone(world, 1, back=-1) == [False]
    assert world.commit(decide_free(world.image, world.table, Unneeded())) == []
    assert alone(world, 1) == [True]
    record = world.streamlet("t")
    assert (record.leader, record.sources, record.state) == (1, (), ONLINE)
    assert (record.leader_epoch, copies(world)) == (1, 1)
    assert alone(world, 1, back=1) == [False], "once"
    assert [one[0] for one in listed(world)] == [1]
    assert world.image.topics["t"].fewest_copies == 3, "the other one has not"
    assert world.commit(decide_free(world.image, world.table, Unneeded())) == [vseg], "nobody needs it"
    assert alone(world, 2, [1]) == [True]
    assert listed(world) == []
    assert world.image.topics["t"].fewest == 0
    world.fence(1)
    assert world.assign() == [], "there is no other copy"
    world.register(1)
    assert (world.streamlet("t").leader, world.streamlet("t").leader_epoch) == (1, 2)


def test_until_then_whoever_has_copies_leads_on_and_the_wanted_one_comes_back() -> None:
    world = cluster(4, t=(1, 2, [1]))
    reassign(world, (1,))
    world.fence(1)
    (record,) = world.assign()
    assert record.leader != 1
    world.commit_all([record])
    assert copies(world) == 2
    assert alone(world, record.leader) == [False], "it is not to be there"
    world.register(1)
    move(world)
    assert world.streamlet("t").leader == 1
    assert alone(world, 1) == [True]


def test_another_replica_leads_before_it_is_the_only_one() -> None:
    world = cluster(4, t=(1, 3, [1]))
    assert reassign(world, (3,)) == [ErrorCode.NONE]
    assert listed(world) == [(0, [3, 1, 2], [], [1, 2])]
    assert alone(world, 1) == [False]
    move(world)
    assert listed(world) == [(0, [3, 1, 2], [], [1, 2])]
    assert alone(world, 1) == [False]
    assert alone(world, 3) == [True]
    assert world.streamlet("t").replicas == (3,)


def test_a_leader_that_hands_over_is_not_alone() -> None:
    world = cluster(4, t=(1, 2, [1]))
    reassign(world, (1,))
    topic_id = world.streamlet("t").topic_id
    world.commit(decide_moves(world.image, world.table, [Wish(topic_id, 0, 2)]))
    assert alone(world, 1) == [False]
    assert hand_over(world, seq=-1)
    assert world.streamlet("t").state == RECOVERING
    assert alone(world, 2) == [False]


def test_the_only_copy_goes_to_another_broker() -> None:
    world = cluster(4, t=(2, 1, [1, 1]))
    assert reassign(world, (2,), (1,)) == [ErrorCode.NONE] * 2
    first, second = world.streamlet("t"), world.streamlet("t", 1)
    assert (first.leader, first.replicas, first.sources) == (1, (2,), ())
    assert (copies(world), copies(world, 1), second.replicas) == (2, 1, (1,)), "the other one is left alone"
    assert listed(world) == [(0, [2, 1], [2], [1])]
    assert rules.is_copying(world.image, first, 1, world.epoch(1))
    assert not rules.is_copying(world.image, second, 1, world.epoch(1))
    vseg = world.open(1, copies=2).id
    world.open(1, 1, 10, copies=2)
    assert world.commit(decide_free(world.image, world.table, Unneeded())) == [], "copies of it are made"
    start = Start(first.topic_id, 0, 7)
    assert world.commit(decide_starts(world.image, world.table, 1, world.epoch(1), [start])) == [True]
    assert copied(world, 1, [0, 1]) == [True, False]
    assert listed(world) == [(0, [2, 1], [2], [1])]
    move(world)
    record = world.streamlet("t")
    assert (record.leader, record.sources) == (2, (world.epoch(1), world.epoch(2)))
    assert alone(world, 2) == [True]
    assert (world.streamlet("t").sources, world.streamlet("t").leader) == ((), 2)
    assert vseg in world.table.vsegs
    assert world.commit(decide_free(world.image, world.table, Unneeded())) == [vseg]
    assert listed(world) == []
    world.fence(1)
    assert world.assign() == []


@pytest.mark.parametrize("freed", [False, True])
def test_who_led_before_somebody_was_alone_has_not_written_down_the_newest(freed: bool) -> None:
    """A virtual log of the first time tells an old end, and when its owner leads again without a new record
    it is the last one there is: who led in between is asked, too. It lost what was acknowledged there."""
    world = cluster(4, t=(1, 1, [1]))
    world.open(1, copies=2)
    reassign(world, (2,))
    assert copied(world, 1, [0]) == [True]
    move(world)
    assert alone(world, 2) == [True]
    if freed:
        world.commit(decide_free(world.image, world.table, Unneeded()))
    reassign(world, (1,))
    assert copied(world, 2, [0]) == [True]
    assert world.streamlet("t").sources == (world.epoch(2),)
    move(world)
    first, second = world.epoch(1), world.epoch(2)
    assert world.streamlet("t").sources == (first, second, first)
    assert not may_stop((first, second, first), [second])
    reassign(world, (3,))
    move(world)
    assert world.streamlet("t").sources[-2:] == (first, world.epoch(3))
    assert alone(world, 3) == [True]
    assert world.streamlet("t").before == ((first,) if world.table.of_owner(first) else ())


@pytest.mark.parametrize("when", ["copies are made", "copies are there", "it is handed over"])
def test_that_the_only_copy_goes_elsewhere_can_be_cancelled(when: str) -> None:
    world = cluster(4, t=(1, 1, [1]))
    assert reassign(world, None) == [NOTHING]
    reassign(world, (2,))
    if when != "copies are made":
        assert copied(world, 1, [0]) == [True]
    before = world.streamlet("t").leader_epoch
    if when == "it is handed over":
        topic_id = world.streamlet("t").topic_id
        world.commit(decide_moves(world.image, world.table, [Wish(topic_id, 0, 2)]))
    assert reassign(world, None) == [ErrorCode.NONE]
    record = world.streamlet("t")
    assert (record.leader, record.replicas) == (1, (1,))
    if when == "copies are made":
        assert (record.leader_epoch, copies(world)) == (before + 1, 1), "what was pushed is void"
        assert reassign(world, None) == [NOTHING]
    else:
        assert world.table.current_move(record) is None
        assert (record.leader_epoch, copies(world)) == (before, 2)
        assert reassign(world, None) == [NOTHING]
        assert alone(world, 1) == [True]
    assert listed(world) == []


def test_asking_for_the_old_replica_voids_what_was_pushed() -> None:
    world = cluster(4, t=(1, 1, [1]))
    reassign(world, (2,))
    reassign(world, (3,))
    assert world.streamlet("t").leader_epoch == 0, "copies are made as before"
    assert reassign(world, (1,)) == [ErrorCode.NONE]
    assert (world.streamlet("t").leader_epoch, copies(world)) == (1, 1)
    late = Attempt(world.streamlet("t").topic_id, 0, 0)
    reassign(world, (2,))
    assert world.commit(decide_alone(world.image, world.table, 1, world.epoch(1), [late])) == [False]
    assert copied(world, 1, [0]) == [True]
    reassign(world, (3,))
    assert reassign(world, None) == [ErrorCode.NONE]
    assert world.streamlet("t").replicas == (1,), "where it is, whatever was asked for in between"


def test_first_copies_can_be_cancelled_when_some_are_made() -> None:
    world = cluster(4, t=(2, 1, [1, 2]))
    reassign(world, (3, 2, 1), (2, 3, 4))
    assert copied(world, 1, [0]) == [True]
    assert [one[0] for one in listed(world)] == [1]
    assert reassign(world, None, None) == [NOTHING, ErrorCode.NONE], "one is done, as in Apache Kafka"
    first, second = world.streamlet("t"), world.streamlet("t", 1)
    assert (first.replicas, first.leader_epoch, copies(world)) == ((3, 2, 1), 0, 3)
    assert (second.replicas, second.leader_epoch, copies(world, 1)) == ((2,), 1, 1)
    assert world.image.topics["t"].replication_factor == 3
    assert copied(world, 2, [1]) == [False]
    assert listed(world) == []
    assert reassign(world, None, None) == [NOTHING] * 2


@pytest.mark.parametrize("when", ["its leader stays", "another one is to lead", "another one leads"])
def test_that_it_goes_to_one_copy_can_be_cancelled(when: str) -> None:
    world = cluster(4, t=(2, 3, [1, 2]))
    vseg = world.open(1).id
    stays = when == "its leader stays"
    assert reassign(world, (1,) if stays else (3,)) == [ErrorCode.NONE]
    if when == "another one leads":
        world.open(1, 1, 10)
        move(world)
        assert world.streamlet("t").leader == 3
    later = world.open(world.streamlet("t").leader, 2, 20, copies=2, vlog=1).id
    assert reassign(world, None) == [ErrorCode.NONE]
    record = world.streamlet("t")
    assert (record.replicas, copies(world), world.table.current_move(record)) == ((1, 2, 3), 3, None)
    assert (world.table.vsegs[vseg].copies, world.table.vsegs[later].copies) == (3, 2), (
        "with two copies it can have nothing of it, and with three others would wait for it (12c)"
    )
    assert world.image.topics["t"].replication_factor == 3
    assert alone(world, record.leader) == [False]
    assert listed(world) == []
    assert reassign(world, None) == [NOTHING]
    for node in (1, 2):
        world.fence(node)
    world.seal_all(30)
    assert 0 in [one.index for one in world.assign()] or record.leader == 3


def test_what_was_asked_for_in_between_is_not_what_is_restored() -> None:
    """As in Apache Kafka: what there was before the first of them."""
    world = cluster(4, t=(1, 3, [1]))
    for replicas in ((2,), (4,), (1,)):
        assert reassign(world, replicas) == [ErrorCode.NONE]
    assert listed(world) == [(0, [1, 2, 3], [], [2, 3])]
    assert reassign(world, None) == [ErrorCode.NONE]
    assert world.streamlet("t").replicas == (1, 2, 3)
    assert reassign(world, (4,)) == [ErrorCode.NONE]
    assert reassign(world, (1, 2)) == [ErrorCode.NONE]
    assert reassign(world, None) == [NOTHING], "that was done at once"


def test_the_only_copy_that_is_elsewhere_by_now_comes_back_when_that_is_cancelled() -> None:
    world = cluster(4, t=(1, 1, [1]))
    reassign(world, (2,))
    world.open(1, copies=2)
    assert copied(world, 1, [0]) == [True]
    move(world)
    assert listed(world) == [(0, [2, 1], [2], [1])]
    assert reassign(world, None) == [ErrorCode.NONE]
    record = world.streamlet("t")
    assert (record.leader, record.replicas) == (2, (1,))
    assert reassign(world, None) == [NOTHING]
    move(world)
    assert alone(world, 1) == [True]
    assert listed(world) == []


def test_first_copies_that_an_older_version_began_are_cancelled() -> None:
    world = cluster(4, t=(1, 1, [1]))
    reassign(world, (2, 3))
    old = world.streamlet("t").assigned_to((2, 3))
    assert old.encode() == b"[1,0,[2,3]]"
    world.commit(Decision(None, {old.key: old.encode()}))
    assert listed(world) == [(0, [2, 3, 1], [2, 3], [1])]
    assert reassign(world, None) == [ErrorCode.NONE]
    assert world.streamlet("t").replicas == (1,)


def test_what_two_copies_had_on_the_way_is_waited_for_when_there_are_more() -> None:
    """Rule 12c: the topic had one copy, but not all of it."""
    world = cluster(5, t=(1, 1, [1]))
    reassign(world, (2,))
    vseg = world.open(1, copies=2)
    assert copied(world, 1, [0]) == [True]
    assert reassign(world, (1, 2, 3)) == [ErrorCode.NONE]
    topic = world.image.topics["t"]
    assert (topic.replication_factor, topic.fewest_copies) == (3, 2)
    assert world.table.vsegs[vseg.id].copies == 3, "and it is to have as many"
    assert rules.may_have(world.image, world.streamlet("t"), vseg)


def test_one_copy_may_become_more_again_on_the_way() -> None:
    world = cluster(5, t=(2, 3, [1, 2]))
    reassign(world, (1,), (2,))
    assert alone(world, 1) == [True]
    assert reassign(world, (1, 3), (2, 3)) == [ErrorCode.NONE] * 2
    topic = world.image.topics["t"]
    assert (topic.replication_factor, topic.fewest_copies) == (2, 2)
    assert (world.streamlet("t").sources, world.streamlet("t", 1).sources) == ((), (world.epoch(2),))
    assert alone(world, 2, [1]) == [False]
    assert [one[0] for one in listed(world)] == [0]
    assert copied(world, 1, [0]) == [True]
    assert listed(world) == []


def test_who_leads_it_again_has_to_say_anew_what_is_unneeded() -> None:
    """Found by simulation (seed 873232): what a broker had said of its own virtual logs while another one was
    alone with a streamlet was still believed when they were sources of that again."""
    world = cluster(4, t=(1, 2, [1]), u=(1, 2, [1]))
    vseg = world.open(1).id
    world.open(1, 1, 10)
    reassign(world, (2,))
    move(world)
    assert alone(world, 2) == [True]
    unneeded = Unneeded()
    unneeded.report(1, world.epoch(1), [vseg], world.image.revision)
    assert unneeded.free(world.image, world.table) == [vseg], "nothing of the other topic is in it"
    reassign(world, (1,))
    assert copied(world, 2, [0]) == [True]
    world.commit(decide_moves(world.image, world.table, [Wish(world.streamlet("t").topic_id, 0, 1)]))
    assert hand_over(world, seq=-1)
    record = world.streamlet("t")
    unneeded.took_over(1, world.epoch(1), [record], world.image.revision)
    assert world.commit_all([record]) == [True]
    assert world.epoch(1) in world.streamlet("t").sources
    assert unneeded.free(world.image, world.table) == [], "its chunks of the first time are read again"


@pytest.mark.parametrize("lost", [{"store": "another"}, {"power_lost": True}])
def test_what_is_lost_with_the_only_copy_has_no_log_start_when_it_gets_copies_again(lost: Any) -> None:
    """The log begins anew in another data directory. Whoever led it next, of the copies made since, took all
    that was acknowledged below the old start for deleted (found by attack)."""
    world = cluster(4, t=(2, 2, [1, 2]))
    topic_id = world.image.topics["t"].topic_id
    starts = [Start(topic_id, 0, 500)]
    assert world.commit(decide_starts(world.image, world.table, 1, world.epoch(1), starts)) == [True]
    reassign(world, (1,), (2,))
    assert (alone(world, 1), alone(world, 2, [1])) == ([True], [True])
    world.register(1)
    assert world.table.log_start(topic_id, 0) == 500, "it is still there"
    world.register(1, **lost)
    assert reassign(world, (1, 2), (2, 1)) == [ErrorCode.NONE] * 2
    assert copied(world, 1, [0]) == [True]
    assert world.table.log_start(topic_id, 0) == 0
