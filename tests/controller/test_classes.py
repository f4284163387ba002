"""What is lost of topics with few copies holds up none of those that always had more (rules 12c, 22, 27b)."""

from __future__ import annotations

from kproto.controller import rules
from kproto.controller.leader_choice import ElectionType, examine, losses
from kproto.controller.missing import wanted_copies
from kproto.controller.moves import decide_tidy
from kproto.controller.reassignment import NewReplicas, decide_reassign
from kproto.controller.recovery import awaited, due_streamlets, stuck
from kproto.controller.vsegs import decide_widen
from kproto.metadata import Change
from kproto.metadata.records import RECOVERING, Floor, TopicRecord
from kproto.metadata.vlogs import CopyTarget, VlogTable, VsegRecord, moved_from_key

from .cluster_world import World, cluster


def two_copies_lost(closed: bool = False) -> World:
    """Broker 1 owned a virtual log of each class; it and the only backup of one are gone."""
    world = cluster(5, few=(1, 2, [1]), many=(1, 3, [1]))
    few = world.open(1, vlog=0, copies=2)
    (backup,) = few.backups
    world.open(1, vlog=1, copies=3, exclude=(backup.node_id,))
    if closed:
        world.open(1, 1, 100, vlog=0, copies=2, exclude=(backup.node_id,))
    world.fence(1)
    world.fence(backup.node_id)
    world.seal_all(150)
    return world


def test_topics_with_more_copies_come_back_while_two_copies_are_lost() -> None:
    for closed in (False, True):
        world = two_copies_lost(closed)
        assigned = world.assign()
        assert [record.topic_id for record in assigned] == [world.streamlet("many").topic_id]
        assert world.commit_all(assigned) == [True]
        assert [record.topic_id for record in due_streamlets(world.image)] == [
            world.streamlet("few").topic_id
        ]
        assert len(stuck(awaited(world.image, world.table, due_streamlets(world.image)))) == closed


def test_the_owner_that_is_back_has_still_a_copy_of_what_was_not_given_away() -> None:
    world = two_copies_lost()
    world.commit_all(world.assign())
    few, many = (world.table.of_owner(1)[vlog] for vlog in (0, 1))
    assert (world.table.moved_upto, world.table.moved_from) == ({}, {(1, Floor(3, 0), 0): 1})
    assert wanted_copies(world.image, world.table, many) == 3
    world.register(1)
    assert rules.owner_holds(world.image, world.table, few)
    assert not rules.owner_holds(world.image, world.table, many)
    world.plan()
    world.now += 100
    (ask,) = [ask for ask in world.plan().asks if ask.journal]
    assert ask.target == CopyTarget(1, "store1")
    world.answer(ask, 70)
    world.close()
    (record,) = world.assign()
    assert (record.leader, record.state) == (1, RECOVERING)
    assert world.commit_all([record]) == [True]


def test_what_is_known_of_some_copies_goes_when_it_is_true_of_all() -> None:
    world = two_copies_lost()
    world.commit_all(world.assign())
    few = world.table.of_owner(1)[0]
    world.register(1, store="new")
    assert world.table.moved_upto == {1: 1}
    assert world.commit(decide_tidy(world.image, world.table)) == 1
    assert world.table.moved_from == {}
    assert not rules.owner_holds(world.image, world.table, few)


def test_an_operator_gives_up_only_what_may_hold_the_topic() -> None:
    world = two_copies_lost()
    world.seal_all(150)
    error, record = examine(world.image, ElectionType.UNCLEAN, ("few", 0))
    assert error is None
    assert record is not None
    assert losses(world.image, world.table, [record]) == [world.table.of_owner(1)[0].id]
    assert losses(world.image, world.table, [world.streamlet("many")]) == []


def test_a_topic_that_had_fewer_copies_waits_for_what_they_may_hold() -> None:
    world = cluster(5, grown=(1, 2, [1]), many=(1, 3, [1]))
    (answer,) = world.commit(decide_reassign(world.image, world.table, [NewReplicas("grown", 0, (1, 2, 3))]))
    assert answer is None
    assert world.image.topics["grown"].fewest_copies == 2
    late = world.open(1, vlog=0, copies=2)  # by an owner that has not heard of it yet
    world.fence(1)
    world.fence(late.backups[0].node_id)
    world.seal_all(150)
    assert [record.topic_id for record in world.assign()] == [world.streamlet("many").topic_id]


def test_more_copies_are_wanted_and_the_owner_still_has_the_only_one() -> None:
    """What was noted of its other virtual segments, when topics that always had three copies got other
    leaders, is not true of one that gets a third copy later (simulated seed 25004895)."""
    world = two_copies_lost()
    world.commit_all(world.assign())
    world.register(1)
    (answer,) = world.commit(decide_reassign(world.image, world.table, [NewReplicas("few", 0, (1, 3, 4))]))
    assert answer is None
    few = world.table.of_owner(1)[0]
    assert few.copies == 3
    assert VsegRecord.decode(few.key, few.encode()) == few
    assert rules.owner_holds(world.image, world.table, few)
    world.plan()
    world.now += 100
    (ask,) = [ask for ask in world.plan().asks if ask.journal]
    world.answer(ask, 70)
    world.close()
    assert [record.leader for record in world.assign()] == [1]


def test_what_a_topic_with_more_copies_is_in_is_known_by_the_copies_it_began_with() -> None:
    world = cluster(5, few=(1, 2, [1]), many=(1, 3, [1]))
    world.open(1, vlog=0, copies=2)
    (answer,) = world.commit(decide_reassign(world.image, world.table, [NewReplicas("few", 0, (1, 3, 4))]))
    assert answer is None
    (vseg,) = world.table.of_owner(1)
    assert (vseg.copies, vseg.fewest) == (3, 2)
    assert vseg.may_hold(world.image.topics["few"].floor)
    assert not vseg.may_hold(world.image.topics["many"].floor)
    world.commit(decide_widen(world.image, world.table, 1, vseg.id.owner_epoch, [(0, vseg.id.seq, 4)]))
    (vseg,) = world.table.of_owner(1)
    assert (vseg.copies, vseg.fewest) == (4, 2)


def test_the_fewest_copies_of_a_topic_are_kept() -> None:
    topic = TopicRecord("t", bytes(16), 3, 1, 1, {}, False)
    for factors, fewest in (([2], 2), ([3], 2), ([3, 2], 2), ([2, 3], 2), ([3, 1, 4], 2), ([3, 1], 1)):
        changed = topic
        for factor in factors:
            changed = changed.with_copies(0, factor)
        assert (changed.replication_factor, changed.fewest_copies) == (factors[-1], fewest)
        assert TopicRecord.decode(changed.key, changed.encode()) == changed
    assert TopicRecord.decode("topics/t", topic.encode()).fewest_copies == 1


def test_the_table_knows_what_was_given_of_which_copies() -> None:
    table = VlogTable()
    keys = ["moved-from/7/3", "moved-from/7/3/2", "moved-from/7/3/0/5"]
    table.apply(Change(1, dict.fromkeys(keys, b"12"), ()))
    assert list(table.moved_from) == [(7, Floor(3, 0), 0), (7, Floor(3, 2), 0), (7, Floor(3, 0), 5)]
    assert [moved_from_key(*each) for each in table.moved_from] == keys
    table.apply(Change(2, {}, tuple(keys)))
    assert table.moved_from == {}
