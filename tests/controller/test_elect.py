"""ElectLeaders waits for what it began, and the controller moves leaders by itself: what it begins when."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from kproto.config import load
from kproto.controller import arranging, leader_choice, rules
from kproto.controller.arranging import AGAIN_SECONDS, SETTLED_SECONDS, Arranger
from kproto.controller.config_changes import ConfigChange, ConfigOp, OpType, ResourceType, decide_alter
from kproto.controller.decision import Decision
from kproto.controller.denials import Denials
from kproto.controller.leader_choice import (
    ElectionType,
    all_partitions,
    decide_unregister,
    elect,
    losses,
)
from kproto.controller.moves import Wish, decide_moves
from kproto.controller.reassignment import NewReplicas, decide_reassign
from kproto.controller.unreached import Unreached
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata.vlogs import CopyTarget, VsegId
from tests.controller.cluster_world import SETTINGS, World, cluster, no_other_has_any
from tests.controller.test_moves import begin, hand_over


class Acting:
    """A controller that decides on a world; in the place of `Controller`."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.decided = 0
        self.accepted: list[VsegId] = []
        self.named: list[bool] = []
        loop = SimpleNamespace(accept_loss=self._accept_loss)
        self.proposals = SimpleNamespace(loop=loop, denials=no_other_has_any(world), unreached=Unreached())

    def _accept_loss(self, vsegs: Sequence[VsegId], named: bool) -> None:
        self.accepted.extend(vsegs)
        self.named.append(named)

    @property
    def image(self) -> Any:
        return self.world.image

    @property
    def table(self) -> Any:
        return self.world.table

    async def decide(self, decision: Callable[[], Any]) -> Any:
        self.decided += 1
        return self.world.commit(decision())


def codes(answers: Sequence[Any]) -> list[ErrorCode | None]:
    return [None if answer is None else answer.code for answer in answers]


def electing(
    acting: Acting,
    kind: ElectionType,
    names: list[tuple[str, int]],
    meanwhile: Callable[[], object],
    named: bool = True,
) -> list[ErrorCode | None]:
    """What is answered when ``meanwhile`` happens after the election began."""
    controller: Any = acting

    async def go() -> list[ErrorCode | None]:
        election = asyncio.ensure_future(elect(controller, kind, names, 0.05, named=named))
        await asyncio.sleep(0)
        assert not election.done() or meanwhile is nothing
        meanwhile()
        return codes(await election)

    return asyncio.run(go())


def nothing() -> None:
    """Nothing happens meanwhile."""


def other_leader() -> Acting:
    """t-0 is led by broker 1, its preferred leader is 3."""
    world = cluster(4, t=(2, 3, [1, 2]))
    world.commit(decide_reassign(world.image, world.table, [NewReplicas("t", 0, (3, 1, 2))]))
    world.open(1, seq=0)
    return Acting(world)


def moved(world: World) -> None:
    """The leader hands over, the target recovers."""
    world.open(1, seq=1, start=500)
    assert hand_over(world)
    world.commit_all([world.streamlet("t")])


def test_an_election_is_answered_when_the_preferred_one_leads() -> None:
    acting = other_leader()
    names = [("t", 0), ("t", 1), ("t", 7), ("x", 0)]
    answers = electing(acting, ElectionType.PREFERRED, names, lambda: moved(acting.world))
    assert answers == [
        None,
        ErrorCode.ELECTION_NOT_NEEDED,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    assert acting.world.streamlet("t").leader == 3


def test_an_election_that_is_not_needed_changes_nothing_and_waits_for_nothing() -> None:
    acting = other_leader()
    assert electing(acting, ElectionType.PREFERRED, [("t", 1)], nothing) == [ErrorCode.ELECTION_NOT_NEEDED]
    assert acting.decided == 0


def test_a_leader_that_does_not_hand_over_in_time() -> None:
    acting = other_leader()
    assert electing(acting, ElectionType.PREFERRED, [("t", 0)], nothing) == [ErrorCode.REQUEST_TIMED_OUT]
    assert acting.table.moves, "it goes on"


def test_a_topic_that_is_deleted_meanwhile_has_no_leader() -> None:
    acting = other_leader()
    answers = electing(acting, ElectionType.PREFERRED, [("t", 0)], lambda: acting.world.delete("t"))
    assert answers == [ErrorCode.REQUEST_TIMED_OUT]


def without_copies() -> tuple[Acting, VsegId]:
    """The owners of t-0 and of other-0 are gone, and both backups of the first one's open virtual segment."""
    world = cluster(5, t=(1, 3, [1]), other=(1, 3, [4]))
    vseg = world.open(1)
    world.open(4)
    for node in {1, 4, *(target.node_id for target in vseg.backups)}:
        world.fence(node)
    return Acting(world), vseg.id


def orphaned(unclean: bool, named: bool = True) -> tuple[Acting, list[ErrorCode | None], VsegId]:
    """t-0 has a leader that may not have all of what broker 1 had in a virtual segment; the disks with its
    copies, and broker 1, are gone."""
    world = cluster(5, t=(1, 3, [1]), other=(1, 3, [5]))
    vseg = world.open(1)
    world.fence(1)
    world.seal_all(500)
    world.commit_all(world.assign())
    leader = world.streamlet("t").leader
    record = world.table.vsegs[vseg.id]._replace(backups=(CopyTarget(leader, "an earlier directory"),))
    world.commit(Decision(None, {record.key: record.encode()}))
    acting = Acting(world)
    kind = ElectionType.UNCLEAN if unclean else ElectionType.PREFERRED
    return acting, electing(acting, kind, [("t", 0), ("other", 0), ("t", 9)], nothing, named), vseg.id


def test_an_unclean_election_gives_up_what_a_leader_cannot_get_any_more() -> None:
    acting, answers, lost = orphaned(True)
    assert answers == [None, ErrorCode.ELECTION_NOT_NEEDED, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert acting.table.vsegs[lost].lost


@pytest.mark.parametrize("said", ["nothing", "none", "here"])
def test_what_a_leader_lacks_is_not_said_to_be_there_while_others_are_asked_for_it(
    monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    """An operator was told that there was nothing to do, until all had been asked."""
    monkeypatch.setattr(leader_choice, "AGAIN_SECONDS", 0.01)
    acting, _, lost = orphaned(False)
    denials, acting.proposals.denials = acting.proposals.denials, Denials()

    def meanwhile() -> None:
        if said == "none":
            acting.proposals.denials = denials
        elif said == "here":
            node, broker = next(iter(acting.image.brokers.items()))
            record = acting.table.vsegs[lost]._replace(backups=(CopyTarget(node, broker.store_id),))
            acting.world.commit(Decision(None, {record.key: record.encode()}))

    answers = electing(acting, ElectionType.UNCLEAN, [("t", 0)], meanwhile)
    late, unneeded = ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, ErrorCode.ELECTION_NOT_NEEDED
    assert answers == {"nothing": [late], "none": [None], "here": [unneeded]}[said]
    assert acting.table.vsegs[lost].lost == (said == "none")


def test_an_unclean_election_of_all_partitions_leaves_those_with_leaders_alone() -> None:
    """Nobody said that of this one anything may be lost; who has it may only be away."""
    acting, answers, lost = orphaned(True, named=False)
    unneeded = ErrorCode.ELECTION_NOT_NEEDED
    assert answers == [unneeded, unneeded, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert not acting.table.vsegs[lost].lost


def test_an_election_of_preferred_leaders_gives_up_nothing() -> None:
    acting, _, lost = orphaned(False)
    assert not acting.table.vsegs[lost].lost


def test_an_unclean_election_gives_up_what_waits_and_nothing_else() -> None:
    acting, lost = without_copies()
    world = acting.world

    def recovered() -> None:
        assert acting.accepted == [lost], "what another topic waits for is not given up"
        record = world.table.vsegs[lost]
        empty = record._replace(end=record.start)
        world.commit(Decision(None, {empty.key: empty.encode()}))
        world.commit_all(world.assign())

    assert electing(acting, ElectionType.UNCLEAN, [("t", 0)], recovered) == [None]
    assert world.streamlet("t").leader in world.image.brokers


def test_what_an_owner_opened_after_it_had_handed_over_is_not_given_up_with_what_it_had_before() -> None:
    """Broker 1 handed t-0 over, and went on with other-0 only; then it went away, with all who have that. Of
    t-0 an older virtual segment is lost: with that an operator lost all that other-0 had in the open one."""
    world = cluster(6, t=(1, 3, [1]), other=(1, 3, [1]))
    old = world.open(1, seq=0)
    target = next(node for node in (2, 3, 4, 5, 6) if node not in {one.node_id for one in old.backups})
    world.commit(decide_moves(world.image, world.table, [Wish(world.streamlet("t").topic_id, 0, target)]))
    later = world.open(1, seq=1, start=500, exclude=(target,))
    assert hand_over(world)
    world.commit_all([world.streamlet("t")])
    for node in (1, *(one.node_id for one in later.backups)):
        world.fence(node)
    closed = world.table.vsegs[old.id]
    without = closed._replace(backups=(CopyTarget(1, "an earlier directory"),))
    world.commit(Decision(None, {without.key: without.encode()}))
    acting = Acting(world)
    assert electing(acting, ElectionType.UNCLEAN, [("t", 0)], nothing) == [None]
    assert (world.table.vsegs[old.id].lost, acting.accepted) == (True, [])
    electing(acting, ElectionType.UNCLEAN, [("other", 0)], nothing)
    assert acting.accepted == [later.id]


def test_what_thousands_wait_for_is_looked_for_among_what_waits_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An election of 2,000 partitions of an owner with 10,000 virtual segments held up the controller for 5
    s."""
    world = cluster(4, t=(50, 3, [1] * 50))
    for seq in range(20):
        world.open(1, seq, 10 * seq)
    last = world.open(1, 20, 200)
    world.fence(1)
    looked: list[VsegId] = []

    def counted(name: str) -> None:
        before = getattr(rules, name)

        def count(*args: Any) -> bool:
            looked.append(args[-1].id)
            return bool(before(*args))

        monkeypatch.setattr(rules, name, count)

    counted("is_sealing")
    counted("is_for")
    records = [world.streamlet("t", index) for index in range(50)]
    assert losses(world.image, world.table, records) == [last.id]
    assert looked == [last.id] * 2


@pytest.mark.parametrize("named", [False, True])
def test_an_unclean_election_that_finds_nobody(named: bool) -> None:
    acting, lost = without_copies()
    answers = electing(acting, ElectionType.UNCLEAN, [("t", 0)], nothing, named)
    assert answers == [ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE]
    assert (acting.accepted, acting.named) == ([lost], [named])


@pytest.mark.parametrize("named", [False, True])
def test_closed_ones_without_a_copy_here_are_given_up_where_they_are_named(named: bool) -> None:
    """Of a partition without a leader, too: all who have it may be back in a moment."""
    acting, lost = without_copies()
    closed = acting.table.vsegs[lost]._replace(end=700)
    acting.world.commit(Decision(None, {closed.key: closed.encode()}))
    electing(acting, ElectionType.UNCLEAN, [("t", 0)], nothing, named)
    assert acting.table.vsegs[lost].lost == named


@pytest.mark.parametrize("answered", [False, True])
def test_who_may_have_what_is_to_be_given_up_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, answered: bool
) -> None:
    monkeypatch.setattr(leader_choice, "AGAIN_SECONDS", 0.01)
    acting, lost = without_copies()
    closed = acting.table.vsegs[lost]._replace(end=700)
    acting.world.commit(Decision(None, {closed.key: closed.encode()}))
    said, acting.proposals.denials = acting.proposals.denials, Denials()

    def answer() -> None:
        assert not acting.table.vsegs[lost].lost
        if answered:
            acting.proposals.denials = said

    controller: Any = acting

    async def go() -> KafkaError | None:
        election = asyncio.ensure_future(elect(controller, ElectionType.UNCLEAN, [("t", 0)], 0.05))
        await asyncio.sleep(0.001)
        answer()
        return (await election)[0]

    error = asyncio.run(go())
    assert acting.table.vsegs[lost].lost == answered
    assert error is not None
    assert (error.message == leader_choice.ASKED) != answered


def test_all_partitions_are_those_of_all_topics() -> None:
    world = cluster(3, b=(2, 1, [1, 1]), a=(1, 1, [1]))
    assert all_partitions(world.image) == [("a", 0), ("b", 0), ("b", 1)]


def test_what_was_configured_for_a_broker_is_forgotten_with_it() -> None:
    world = cluster(3, t=(1, 1, [1]))
    drain(world, 3)
    world.fence(3)
    assert "3" in world.image.configs
    world.commit(decide_unregister(world.image, world.table, 3))
    assert "3" not in world.image.configs


# By itself


def drain(world: World, node: int) -> None:
    change = ConfigChange(ResourceType.BROKER, str(node), (ConfigOp("kproto.drain", OpType.SET, "true"),))
    world.commit(decide_alter(world.image, [change], SETTINGS))


def arranger(acting: Acting, now: float = 0.0, automatic: bool = True) -> Arranger:
    controller: Any = acting
    settings = load(
        None,
        {
            "auto.leader.rebalance.enable": str(automatic).lower(),
            "leader.imbalance.check.interval.seconds": "60",
        },
    )
    found = Arranger(controller, settings, now)
    found.follow(acting.image.brokers, now)
    return found


def look(one: Arranger, now: float) -> None:
    asyncio.run(one.look(now))


@pytest.mark.parametrize("automatic", [True, False])
def test_leaders_go_back_to_preferred_replicas_when_it_is_time(automatic: bool) -> None:
    acting = other_leader()
    one = arranger(acting, automatic=automatic)
    look(one, 30.0)
    assert not acting.table.moves, "not between two checks"
    look(one, 61.0)
    assert [move.target for move in acting.table.moves.values()] == ([3] if automatic else [])


def test_moves_that_wait_for_copies_hold_up_neither_others_nor_those_that_come_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With two copies a move waits for others to be made. A hundred of them had all others wait, and the next
    hundred came with the next check, five minutes later."""
    monkeypatch.setattr(arranging, "MOVES_AT_ONCE", 2)
    world = cluster(4, two=(5, 2, [1] * 5), three=(2, 3, [1] * 2))
    acting = Acting(world)
    one = arranger(acting)
    for name, replicas in (("two", (2, 1)), ("three", (2, 1, 3))):
        wanted = [NewReplicas(name, index, replicas) for index in range(5 if name == "two" else 2)]
        world.commit(decide_reassign(world.image, world.table, wanted))

    def moving(now: float) -> list[tuple[str, int]]:
        look(one, now)
        return sorted((world.image.topics_by_id[topic].name, index) for topic, index in world.table.moves)

    both = [("three", 0), ("three", 1), ("two", 0), ("two", 1)]
    for now in (61.0, 62.0, 63.0):
        assert moving(now) == both
    for index, lead in ((0, 2), (1, 3)):
        record = world.streamlet("two", index)
        move = world.table.moves[record.topic_id, index]
        done = record.led_by(2)
        world.commit(Decision(None, {done.key: done.encode()}, [move.key]))
        assert ("two", lead) in moving(64.0 + index), "not with the next check"


def test_what_there_is_no_room_for_is_told_though_there_is_room_for_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(arranging, "MOVES_AT_ONCE", 1)
    acting = Acting(cluster(4, two=(2, 2, [1, 1])))
    topic_id = acting.world.image.topics["two"].topic_id
    wishes = [Wish(topic_id, index, 2) for index in (0, 1)]
    assert arranger(acting)._choose(wishes[:1]) == (wishes[:1], False)
    assert arranger(acting)._choose(wishes) == (wishes[:1], True)


def test_what_has_just_moved_goes_on_to_another_broker_at_once() -> None:
    """It waited for half a minute, as after a move that was tried in vain: one replica was put elsewhere, and
    two in its place a moment later, which stood still so long."""
    acting = other_leader()
    world = acting.world
    one = arranger(acting)
    look(one, 61.0)
    (move,) = world.table.moves.values()
    moved(world)
    assert world.streamlet("t").leader == move.target
    other = next(node for node in (2, 3, 4) if node != move.target)
    record = world.streamlet("t").assigned_to((other, 1))
    world.commit(Decision(None, {record.key: record.encode()}))
    look(one, 62.0)
    assert [move.target for move in world.table.moves.values()] == [other]


def test_nothing_is_given_to_a_broker_that_has_just_come() -> None:
    """It may go again; what it would get has a leader."""
    acting = other_leader()
    one = arranger(acting)
    acting.world.register(3)
    one.follow(acting.image.brokers, 60.0)
    look(one, 61.0)
    assert not acting.table.moves
    acting.world.register(4)
    one.follow(acting.image.brokers, 60.0 + SETTLED_SECONDS)
    look(one, 121.5)
    assert [move.target for move in acting.table.moves.values()] == [3]


@pytest.mark.parametrize("automatic", [True, False])
def test_nothing_is_given_to_a_broker_that_does_not_reach_the_copies(automatic: bool) -> None:
    """Nor is it forgotten, though nothing changes in the metadata when that is over."""
    acting = other_leader()
    record = acting.world.streamlet("t")
    other = acting.world.streamlet("t").assigned_to((3, 4))
    assert record.leader not in other.replicas
    acting.world.commit(Decision(None, {other.key: other.encode()}))
    one = arranger(acting, automatic=automatic)
    for node in (3, 4):
        epoch = acting.world.epoch(node)
        acting.proposals.unreached.said((record.topic_id, 0), node, epoch, 10.0 + node)
    for now in (20.0, 100.0, 312.0):
        look(one, now)
        assert not acting.table.moves
    look(one, 313.0)
    assert [move.target for move in acting.table.moves.values()] == [3]


def test_another_replica_gets_what_the_first_does_not_reach() -> None:
    acting = other_leader()
    other = acting.world.streamlet("t").assigned_to((3, 4))
    acting.world.commit(Decision(None, {other.key: other.encode()}))
    one = arranger(acting)
    acting.proposals.unreached.said((other.topic_id, 0), 3, acting.world.epoch(3), 9.0)
    look(one, 10.0)
    assert [move.target for move in acting.table.moves.values()] == [4]


def test_nothing_is_decided_while_nothing_changes() -> None:
    acting = Acting(cluster(3, t=(1, 3, [1])))
    one = arranger(acting)
    for now in (10.0, 20.0, 30.0):
        look(one, now)
    assert acting.decided == 0


def test_a_drained_broker_is_replaced_and_hands_over() -> None:
    acting = Acting(cluster(4, t=(1, 3, [1])))
    world = acting.world
    world.open(1, seq=0)
    drain(world, 1)
    one = arranger(acting)
    look(one, 10.0)
    assert world.streamlet("t").replicas == (4, 2, 3)
    (move,) = world.table.moves.values()
    assert move.target in (2, 3, 4)
    world.open(1, seq=1, start=10)
    assert hand_over(world)
    world.commit_all([world.streamlet("t")])
    look(one, 20.0)
    assert not world.table.moves
    assert world.streamlet("t").leader != 1


def test_a_drained_broker_is_replaced_everywhere_though_not_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was left over waited for something else to change in the metadata, or the next balance."""
    monkeypatch.setattr(arranging, "REPLACED_AT_ONCE", 1)
    acting = Acting(cluster(4, t=(3, 3, [2, 2, 2])))
    drain(acting.world, 1)
    one = arranger(acting)
    for now in (10.0, 11.0, 12.0):
        look(one, now)
    assert [acting.world.streamlet("t", index).replicas for index in range(3)] == [(2, 4, 3)] * 3


def test_void_moves_are_tidied_away_and_begin_anew_later() -> None:
    acting = other_leader()
    world = acting.world
    begin(world, 4)
    world.fence(4)
    one = arranger(acting)
    look(one, 61.0)
    targets = [move.target for move in world.table.moves.values()]
    assert targets == [3]
    world.fence(3)
    one.follow(world.image.brokers, 62.0)
    look(one, 63.0)
    assert not world.table.moves
    world.register(3)
    one.follow(world.image.brokers, 64.0)
    look(one, 64.0 + SETTLED_SECONDS)
    assert not world.table.moves, "it was tried a moment ago"
    look(one, 62.0 + AGAIN_SECONDS + 61.0)
    assert [move.target for move in world.table.moves.values()] == [3]
