"""Another number of copies, of a topic or of some of its partitions: up, down, from one, and for internal
topics when brokers join."""

from __future__ import annotations

from collections.abc import Sequence

from kproto.controller import rules
from kproto.controller.freeing import Start, Unneeded, decide_free, decide_starts
from kproto.controller.missing import wanted_copies
from kproto.controller.moves import misplaced
from kproto.controller.reassignment import (
    Copied,
    NewReplicas,
    decide_copied,
    decide_reassign,
    more_internal_copies,
    ongoing,
)
from kproto.controller.recovery import Attempt
from kproto.controller.single import decide_alone
from kproto.controller.topics import NewPartitions, decide_create_partitions
from kproto.errors import ErrorCode
from kproto.metadata.records import ONLINE

from .cluster_world import World, cluster


def reassign(world: World, *replicas: tuple[int, ...] | None, name: str = "t") -> list[ErrorCode]:
    wanted = [NewReplicas(name, index, each) for index, each in enumerate(replicas)]
    answers = world.commit(decide_reassign(world.image, world.table, wanted))
    return [answer.code if answer is not None else ErrorCode.NONE for answer in answers]


def copied(world: World, node: int, streamlets: Sequence[int], starts: Sequence[int] = (0,)) -> list[bool]:
    topic = world.image.topics["t"].topic_id
    wanted = [Copied(topic, index, world.streamlet("t", index).leader_epoch, starts) for index in streamlets]
    return world.commit(decide_copied(world.image, world.table, node, world.epoch(node), wanted))


def test_more_copies_are_for_what_is_there_too() -> None:
    world = cluster(4, t=(2, 2, [1, 2]), u=(1, 2, [3]))
    closed = world.open(1, 0, 0, copies=2).id
    still_open = world.open(1, 1, 10, copies=2).id
    other = world.open(3, 0, 0, copies=2).id
    assert reassign(world, (1, 2, 3), (2, 3, 4)) == [ErrorCode.NONE] * 2
    assert world.image.topics["t"].replication_factor == 3
    assert world.streamlet("t").replicas == (1, 2, 3)
    assert (world.streamlet("t").leader, world.streamlet("t").state) == (1, ONLINE)
    assert wanted_copies(world.image, world.table, world.table.vsegs[closed]) == 2
    assert world.table.vsegs[still_open].copies == 3
    assert world.table.vsegs[other].copies == 2
    assert world.open(1, 1, 10, copies=2).id == still_open, "asked again, it is the same"
    assert world.image.topics["u"].replication_factor == 2


def test_fewer_copies_leave_what_is_there() -> None:
    world = cluster(4, t=(1, 3, [1]))
    vseg = world.open(1).id
    assert reassign(world, (1, 2)) == [ErrorCode.NONE]
    assert world.image.topics["t"].replication_factor == 2
    assert world.table.vsegs[vseg].copies == 3


def test_partitions_of_a_topic_have_different_numbers_of_replicas() -> None:
    """New ones have as many as the first one; Apache Kafka takes the number of any of them."""
    world = cluster(4, t=(3, 2, [1, 2, 3]))
    mine, other = world.open(1, copies=2).id, world.open(2, copies=2).id
    assert reassign(world, (1, 2, 3)) == [ErrorCode.NONE]
    topic = world.image.topics["t"]
    assert (topic.replication_factor, topic.fewest_copies) == (3, 2)
    assert [topic.copies_of(world.streamlet("t", index)) for index in range(3)] == [3, 2, 2]
    assert (world.table.vsegs[mine].copies, world.table.vsegs[other].copies) == (3, 2)
    assert reassign(world, (1, 2, 3), (2, 1, 4, 3), (3, 9)) == [
        ErrorCode.NONE,
        ErrorCode.NONE,
        ErrorCode.INVALID_REPLICA_ASSIGNMENT,
    ]
    assert [len(world.streamlet("t", index).replicas) for index in range(3)] == [3, 4, 2]
    assert world.table.vsegs[other].copies == 4
    assert ongoing(world.image, world.table, None) == []
    grown = decide_create_partitions(world.image, [NewPartitions("t", 4)], {})
    world.commit(grown)
    assert len(world.streamlet("t", 3).replicas) == 3
    assert reassign(world, (2, 3)) == [ErrorCode.NONE]
    topic = world.image.topics["t"]
    assert (topic.replication_factor, topic.fewest_copies) == (2, 2)
    assert len(world.streamlet("t", 3).replicas) == 3


def test_replicas_may_be_away_but_neither_unknown_nor_all_of_them() -> None:
    """All that are away are no reason to have a streamlet where nobody could lead it."""
    world = cluster(4, t=(1, 3, [1]))
    world.fence(4)
    for replicas in (4,), (1, 2, 9):
        assert reassign(world, replicas) == [ErrorCode.INVALID_REPLICA_ASSIGNMENT]
    assert reassign(world, (4, 1, 2)) == [ErrorCode.NONE]
    assert world.streamlet("t").replicas == (4, 1, 2)


def test_what_two_streamlets_have_in_one_virtual_log_gets_the_greater_number() -> None:
    for replicas in (((1, 2, 3), (1, 2, 3, 4)), ((1, 2, 3, 4), (1, 2, 3))):
        world = cluster(4, t=(2, 2, [1, 1]))
        vseg = world.open(1, copies=2).id
        assert reassign(world, *replicas) == [ErrorCode.NONE] * 2
        assert world.table.vsegs[vseg].copies == 4


def test_some_partitions_have_one_copy() -> None:
    """The others keep theirs, and what recoveries wait for."""
    world = cluster(4, t=(2, 3, [1, 2]))
    assert reassign(world, (1,)) == [ErrorCode.NONE]
    first, second = world.streamlet("t"), world.streamlet("t", 1)
    assert rules.may_be_alone(world.image, first, 1, world.epoch(1))
    assert not rules.may_be_alone(world.image, second, 2, world.epoch(2))
    attempts = [Attempt(one.topic_id, one.index, one.leader_epoch) for one in (first, second)]
    for node, done in ((1, [True, False]), (2, [False, False])):
        assert world.commit(decide_alone(world.image, world.table, node, world.epoch(node), attempts)) == done
    topic = world.image.topics["t"]
    assert (topic.replication_factor, topic.fewest_copies) == (1, 3)
    assert [topic.copies_of(world.streamlet("t", index)) for index in (0, 1)] == [1, 3]
    world.fence(1)
    world.fence(2)
    assert [record.index for record in world.assign()] == [1]


def test_the_number_cannot_be_changed_by_who_says_so() -> None:
    """KIP-860."""
    world = cluster(4, t=(2, 2, [1, 2]))
    wanted = [NewReplicas("t", 0, (1, 2, 3)), NewReplicas("t", 1, (2, 3))]
    first, second = decide_reassign(world.image, world.table, wanted, may_change_factor=False).answer
    assert first is not None
    assert first.code == ErrorCode.INVALID_REPLICATION_FACTOR
    assert first.message == "The replication factor is changed from 2 to 3."
    assert second is None


def test_for_another_number_all_partitions_of_a_streamlet_are_named() -> None:
    world = cluster(4)
    world.topic("t", 3, 2, [1, 1, 2], {"kproto.active.groups": "2"})
    wanted = [NewReplicas("t", 0, (1, 2, 3)), NewReplicas("t", 2, (2, 1, 3))]
    first, last = world.commit(decide_reassign(world.image, world.table, wanted))
    assert first is not None
    assert first.code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert first.message.startswith("Partitions 0 to 1 of t are streamlet 0, which has 2 copies")
    assert last is None, "it is alone in its streamlet"
    assert reassign(world, (1, 2, 3), (1, 2, 3)) == [ErrorCode.NONE] * 2


def test_new_partitions_in_the_last_streamlet_have_as_many_replicas_as_that() -> None:
    """The others as many as the first one."""
    world = cluster(4)
    world.topic("t", 3, 2, [1, 1, 2], {"kproto.active.groups": "2"})
    assert world.commit(decide_reassign(world.image, world.table, [NewReplicas("t", 2, (2, 1, 3))])) == [None]

    def is_refused(*rows: tuple[int, ...]) -> bool:
        (outcome,) = decide_create_partitions(world.image, [NewPartitions("t", 5, rows)], {}).answer
        return outcome.error is not None

    assert is_refused((2, 1, 3), (3, 4, 1))
    assert is_refused((2, 1), (3, 4))
    assert not is_refused((2, 1, 3), (3, 4))


def test_a_topic_of_one_copy_gets_more_when_its_leaders_have_made_them() -> None:
    world = cluster(4, t=(2, 1, [1, 2]))
    assert reassign(world, (3, 2, 1), (2, 3, 4)) == [ErrorCode.NONE] * 2
    record = world.streamlet("t")
    assert (record.leader, record.sources, record.replicas) == (1, (), (3, 2, 1))
    assert [(one.partition, one.adding) for one in ongoing(world.image, world.table, None)] == [
        (0, [3, 2]),
        (1, [3, 4]),
    ]
    vseg = world.open(1).id
    world.open(1, 1, 10)
    assert world.commit(decide_free(world.image, world.table, Unneeded())) == [], "copies of it are made"
    assert copied(world, 2, [0]) == [False], "it is no leader"
    assert copied(world, 1, [0], [7]) == [True]
    record = world.streamlet("t")
    assert (record.sources, record.state, record.leader_epoch) == ((world.epoch(1),), ONLINE, 0)
    assert world.table.log_start(record.topic_id, 0) == 7
    assert copied(world, 1, [0]) == [False], "once"
    assert world.commit(decide_free(world.image, world.table, Unneeded())) == [], "its leader needs it"
    assert vseg in world.table.vsegs
    assert [one.partition for one in ongoing(world.image, world.table, None)] == [1]
    assert copied(world, 2, [1]) == [True]
    assert ongoing(world.image, world.table, None) == []


def test_who_starts_again_before_that_begins_anew() -> None:
    world = cluster(4, t=(1, 1, [1]))
    reassign(world, (1, 2, 3))
    vseg = world.open(1).id
    world.fence(1)
    assert world.assign() == [], "there is no other copy"
    world.register(1)
    world.seal_all(10)
    record = world.streamlet("t")
    assert (record.leader, record.sources, record.leader_epoch) == (1, (), 1)
    assert world.commit(decide_free(world.image, world.table, Unneeded())) == [vseg], "nobody reads that"
    assert copied(world, 1, [0]) == [True]
    world.fence(1)
    assert [record.leader for record in world.assign()] != [1]


def test_that_the_first_copies_are_made_can_be_cancelled() -> None:
    world = cluster(4, t=(2, 1, [1, 2]), u=(1, 2, [3]))
    assert reassign(world, None, None) == [ErrorCode.NO_REASSIGNMENT_IN_PROGRESS] * 2
    before = world.image.topics["t"]
    assert reassign(world, (3, 2, 1), (2, 3, 4)) == [ErrorCode.NONE] * 2
    world.open(1)
    assert reassign(world, None, name="u") == [ErrorCode.NO_REASSIGNMENT_IN_PROGRESS]
    late = world.streamlet("t").leader_epoch
    assert reassign(world, None, None) == [ErrorCode.NONE] * 2
    assert world.image.topics["t"] == before
    for index, leader in ((0, 1), (1, 2)):
        record = world.streamlet("t", index)
        assert (record.leader, record.replicas, record.sources) == (leader, (leader,), ())
        assert (record.state, record.leader_epoch) == (ONLINE, late + 1), "what was pushed is void"
    assert ongoing(world.image, world.table, None) == []
    assert ongoing(world.image, world.table, [("t", [0, 1])]) == []
    assert copied(world, 1, [0]) == [False]
    assert reassign(world, None, None) == [ErrorCode.NO_REASSIGNMENT_IN_PROGRESS] * 2
    assert reassign(world, (1, 2), (2, 3)) == [ErrorCode.NONE] * 2
    topic = world.image.topics["t"]
    old = [Copied(topic.topic_id, 0, late, (0,))]
    assert world.commit(decide_copied(world.image, world.table, 1, world.epoch(1), old)) == [False]
    assert copied(world, 1, [0]) == [True]
    assert (topic.replication_factor, topic.fewest_copies) == (2, 2), "what was in three copies is not needed"


def test_who_has_the_only_copy_need_not_keep_one() -> None:
    world = cluster(4, t=(1, 1, [1]))
    assert reassign(world, (2, 3)) == [ErrorCode.NONE]
    (one,) = ongoing(world.image, world.table, None)
    assert (one.replicas, one.adding, one.removing) == ([2, 3, 1], [2, 3], [1])
    assert copied(world, 1, [0]) == [True]
    assert [wish.target for wish in misplaced(world.image, world.table, {2, 3}, False)] == [2]


def test_a_leader_that_is_away_has_one_copy_again_when_it_is_back() -> None:
    world = cluster(3, t=(1, 1, [1]))
    reassign(world, (2, 1))
    world.fence(1)
    assert reassign(world, None) == [ErrorCode.NONE]
    assert world.streamlet("t").replicas == (1,)
    world.register(1)
    assert (world.streamlet("t").leader, world.streamlet("t").leader_epoch) == (1, 2)


def test_internal_topics_get_more_copies_when_brokers_join() -> None:
    world = cluster(1)
    topic_id = world.topic("t", 3, 1, [1, 1, 1])
    inner = world.image.topics["t"]._replace(internal=True)
    world.image.topics["t"] = inner  # type: ignore[index]
    world.image.topics_by_id[topic_id] = inner  # type: ignore[index]
    assert more_internal_copies(world.image, {1}, 3, ()) == []
    world.register(2, 3, 4)
    assert more_internal_copies(world.image, {1}, 3, ()) == [], "they have not settled"
    wanted = more_internal_copies(world.image, {1, 2, 3, 4}, 3, ())
    assert [len(each.replicas or ()) for each in wanted] == [3, 3, 3]
    assert {node for each in wanted for node in each.replicas or ()} == {1, 2, 3, 4}
    assert all((each.replicas or ())[0] == 1 for each in wanted)
    world.commit(decide_reassign(world.image, world.table, wanted))
    assert world.image.topics["t"].replication_factor == 3
    assert more_internal_copies(world.image, {1, 2, 3, 4}, 4, ()) == [], "one step after the other"
    assert copied(world, 1, [0, 1, 2]) == [True] * 3
    assert len(more_internal_copies(world.image, {1, 2, 3, 4}, 4, ())) == 3
    assert reassign(world, (1, 2), (1, 2, 3, 4)) == [ErrorCode.NONE] * 2
    wanted = more_internal_copies(world.image, {1, 2, 3, 4}, 3, ())
    assert [(each.partition, len(each.replicas or ())) for each in wanted] == [(0, 3)]


def test_a_log_start_that_was_stored_while_copies_were_made_does_not_go_back() -> None:
    """Rules 38, 44: the leader said where the log starts, records were deleted, then it was decided."""
    world = cluster(3, t=(2, 1, [1, 1]))
    topic_id = world.image.topics["t"].topic_id
    starts = [Start(topic_id, 0, 7), Start(topic_id, 1, 3)]

    def store(node: int) -> list[bool]:
        epoch = world.epoch(node)
        return world.commit(decide_starts(world.image, world.table, node, epoch, starts))

    assert store(1) == [False, False], "nobody else will ever need them"
    assert reassign(world, (1, 2), (1, 3)) == [ErrorCode.NONE] * 2
    assert store(2) == [False, False]
    assert store(1) == [True, True]
    assert copied(world, 1, [0, 1], [5]) == [True, True]
    assert [world.table.log_start(topic_id, index) for index in (0, 1)] == [7, 5]


def test_who_is_no_member_any_more_does_not_keep_an_internal_topic_at_fewer_copies() -> None:
    world = cluster(2)
    topic_id = world.topic("t", 1, 2)
    inner = world.image.topics["t"]._replace(internal=True)
    world.image.topics["t"] = inner  # type: ignore[index]
    world.image.topics_by_id[topic_id] = inner  # type: ignore[index]
    gone = next(node for node in world.streamlet("t").replicas if node != world.streamlet("t").leader)
    (left,) = {1, 2} - {gone}
    world.fence(gone)
    world.register(3, 4)
    (wanted,) = more_internal_copies(world.image, {left, 3, 4}, 3, {gone})
    assert len(wanted.replicas or ()) == 3
    assert gone in (wanted.replicas or ()), "it is to come back"
    (wanted,) = more_internal_copies(world.image, {left, 3, 4}, 3, ())
    assert wanted.replicas == (left, 3, 4)
    (wanted,) = more_internal_copies(world.image, {left, 3}, 2, ())
    assert wanted.replicas == (left, 3), "as many as before, but all are there"
