"""Who is asked for a missing copy, and what comes next (rule 17)."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import pytest

from kproto.controller import repair
from kproto.controller.decision import Decision
from kproto.controller.giving_up import hopeless
from kproto.controller.repair import AT_ONCE, LOOKS_FOR_MORE, RETRY_SECONDS, Repairs, decide_repaired
from kproto.controller.repair_pairs import Repair, choose_repair
from kproto.controller.sources import Sources
from kproto.metadata.vlogs import CopyTarget, VsegId
from kproto.wire.internal import InternalError

from .cluster_world import World, cluster, nodes
from .test_draining import drain
from .test_repair import closed_one, orders


def ask(world: World, repairs: Repairs, vseg: VsegId, answer: int | None) -> Repair:
    """The next order for it, which is not done: ``answer``."""
    (order,) = (each for each in orders(world, repairs) if each.vseg.id == vseg)
    repairs.ordered(order)
    repairs.ended(order, False, world.now, answer=answer)
    world.now += RETRY_SECONDS
    return order


def test_an_owner_with_a_new_disk_that_has_a_copy_is_not_asked_to_take_another_one() -> None:
    """It was, with the disks of all others full, and had it at once: the same order came again and again
    without a pause, and no other broker had another try."""
    world, vseg = closed_one()
    first, _ = vseg.backups
    world.register(1, store="new")
    world.seal_all(150)
    world.assign()
    one = world.table.vsegs[vseg.id]._replace(backups=(first, CopyTarget(1, "new")))
    world.commit(Decision(None, {one.key: one.encode()}))
    repairs = Repairs(0)
    targets = [ask(world, repairs, one.id, InternalError.FULL).target.node_id for _ in range(8)]
    assert set(targets[:6]) == set(world.image.brokers) - {1, first.node_id}
    assert targets[6:] == targets[:2]


def many_without_owner(count: int) -> World:
    """Virtual segments of broker 1, which is away, with a copy on broker 2 each; 3 and 4 have none."""
    world = cluster(4, t=(1, 2, [1]))
    for seq in range(count):
        world.open(1, seq, seq * 10, 2, exclude=(3, 4))
    world.fence(1)
    return world


def without_any() -> tuple[World, VsegId]:
    """Its owner and its only copy are away; brokers 3 and 4 are here."""
    world, vseg = closed_one(copies=2, brokers=4)
    world.fence(1)
    world.fence(vseg.backups[0].node_id)
    world.seal_all(150)
    return world, vseg.id


def test_who_does_not_answer_does_not_keep_others_from_being_asked_for_their_own_copies() -> None:
    """One that the controller does not reach was asked again and again, and the one with the last copy never:
    recoveries waited for it."""
    world, vseg = without_any()
    repairs = Repairs(0)
    asked = [ask(world, repairs, vseg, None).target.node_id for _ in range(6)]
    assert sorted(asked[:2]) == [3, 4]
    assert asked[2:] == asked[:2] * 2, "in turn"
    ask(world, repairs, vseg, InternalError.REFUSED)
    (other,) = {3, 4} - {asked[0]}
    assert [ask(world, repairs, vseg, None).target.node_id for _ in range(3)] == [other] * 3, "it has none"


def test_who_was_to_make_a_copy_may_have_it_though_it_said_before_that_it_had_none() -> None:
    """The one with the last copy was here for a moment, and went while another one took it: nobody asked that
    process again, and an operator gave up what it had (22)."""
    for answer in (None, InternalError.NONE, InternalError.GAP):
        world, closed = closed_one()
        vseg, (away, other) = closed.id, nodes(closed.backups)
        for node in (1, away, other):
            world.fence(node)
        repairs = Repairs(0)
        for _ in range(2):
            ask(world, repairs, vseg, InternalError.GAP)
        assert hopeless(world.image, world.table, world.streamlet("t"), repairs.denials)
        world.register(away)
        (order,) = orders(world, repairs)
        assert (order.source, order.known) == (away, True)
        repairs.ordered(order)
        world.fence(away)
        assert hopeless(world.image, world.table, world.streamlet("t"), repairs.denials) == []
        repairs.ended(order, False, world.now, answer=answer)
        lost = hopeless(world.image, world.table, world.streamlet("t"), repairs.denials)
        assert [one.id for one in lost] == [vseg] * (answer == InternalError.GAP)
        world.now += RETRY_SECONDS
        asked = [(one.target.node_id, one.known) for one in orders(world, repairs)]
        assert asked == [(order.target.node_id, False)] * (not lost)


@pytest.mark.parametrize("answer", [None, InternalError.NONE, InternalError.GAP])
def test_so_may_who_is_listed_and_was_to_make_it_anew(answer: InternalError | None) -> None:
    """Its record still says that what it is listed for is none: nobody asked it, and its new copy, the last
    one, was given up."""
    world, closed = closed_one()
    away, other = nodes(closed.backups)
    denied = closed._replace(denied=((other, world.epoch(other)),))
    world.commit(Decision(None, {denied.key: denied.encode()}))
    for node in {1, 2, 3, 4, 5} - {away, other}:
        world.fence(node)
    repairs = Repairs(0)
    (order,) = orders(world, repairs)
    assert (order.source, order.target.node_id, order.known) == (away, other, True)
    repairs.ordered(order)
    repairs.ended(order, False, world.now, answer=answer)
    world.fence(away)
    world.now += RETRY_SECONDS
    lost = hopeless(world.image, world.table, world.streamlet("t"), repairs.denials)
    if answer == InternalError.GAP:
        assert [one.id for one in lost] == [closed.id]
        return
    assert lost == []
    (again,) = orders(world, repairs)
    assert (again.target.node_id, again.known) == (other, False)
    assert world.commit(decide_repaired(world.image, world.table, again))
    assert world.table.vsegs[closed.id].denied == ()


def test_who_is_drained_is_asked_for_its_own_copy_too() -> None:
    """It may have the last one, and was to be taken away with it."""
    world, vseg = without_any()
    drain(world, 4)
    repairs = Repairs(0)
    asked = [ask(world, repairs, vseg, InternalError.REFUSED) for _ in range(2)]
    assert {order.target.node_id for order in asked} == {3, 4}
    (drained,) = (order for order in asked if order.target.node_id == 4)
    assert world.commit(decide_repaired(world.image, world.table, drained))
    order = ask(world, repairs, vseg, None)
    assert (order.source, order.target.node_id) == (4, 3), "it gets nothing, and gives what it has"


def test_a_copy_that_could_not_be_listed_is_not_made_elsewhere_while_its_broker_is_busy() -> None:
    """With hundreds that could not be listed each was made by several brokers."""
    world = cluster(8, t=(3, 3, [1, 3, 4]))
    for seq in range(100):
        for owner in (1, 3, 4):
            world.open(owner, seq, seq * 10, 3)
    world.fence(2)
    repairs, running, some = Repairs(0), list[Repair](), random.Random(1)
    made = defaultdict[VsegId, set[int]](set)
    for _ in range(300):
        for order in orders(world, repairs):
            repairs.ordered(order)
            running.append(order)
        some.shuffle(running)
        for order in running[:5]:
            repairs.ended(order, False, world.now, answer=InternalError.NONE)
            made[order.vseg.id].add(order.target.node_id)
        del running[:5]
        world.now += 0.5
    assert len(made) > AT_ONCE
    assert max(map(len, made.values())) == 1


@pytest.mark.parametrize("running", [False, True])
def test_what_nobody_can_take_does_not_keep_others_from_being_ordered_without_another_plan(
    running: bool,
) -> None:
    """Of three brokers one is away for good: what is to have three copies cannot have them, and was looked at
    first each time that a copy was done. All others got two with each plan, which comes every few seconds."""
    world = cluster(3, t=(1, 3, [1]), u=(1, 2, [2]))
    for seq in range(3 * LOOKS_FOR_MORE):
        world.open(1, seq, seq * 10, 3)
    for seq in range(51):
        world.open(2, seq, seq * 10, 2, exclude=(3,))
    world.fence(1)
    world.seal_all(10_000)
    world.assign()
    repairs, made = Repairs(0), 0
    waiting = orders(world, repairs)
    while waiting:
        for order in waiting:
            repairs.ordered(order)
        if running and made < 2:  # all brokers are busy, or one of two
            waiting += orders(world, repairs)
        order = waiting.pop(0)
        assert world.commit(decide_repaired(world.image, world.table, order))
        repairs.ended(order, True, world.now)
        made += 1
        waiting += repairs.more(world.image, world.table, order)
    assert made == 50


def test_a_plan_looks_at_one_of_thousands_that_wait_for_a_broker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It did at all, twice: with 10,000 that one broker alone can give each plan held up the controller for
    more than a second."""
    world, looks = cluster(4, t=(1, 2, [1])), 0
    for seq in range(5 * LOOKS_FOR_MORE):
        world.open(1, seq, seq * 10, 2)
    for node in (2, 3, 4):
        world.register(node, store="new")

    def counted(*args: Any, **named: Any) -> Repair | None:
        nonlocal looks
        looks += 1
        return choose_repair(*args, **named)

    monkeypatch.setattr(repair, "choose_repair", counted)
    plan = Repairs(0).plan(world.image, world.table, world.now)
    assert plan.orders
    assert looks <= len(plan.orders) + 2 * 3, "for each list of copies"


def test_what_nobody_has_keeps_nobody_from_being_asked_for_another_one() -> None:
    """Of those alike one tells for the others: not where others were asked for it."""
    world = many_without_owner(3)
    world.fence(2)
    repairs, first = Repairs(0), VsegId(1, 0, 0)
    for _ in range(2):
        assert not ask(world, repairs, first, InternalError.REFUSED).known
    assert [order.vseg.id.seq for order in orders(world, repairs)] == [1]


def test_what_nobody_can_take_keeps_nothing_else_from_being_made_that_has_the_same_copies() -> None:
    world = cluster(3, t=(1, 2, [1]), u=(1, 3, [3]))
    for owner, copies in ((3, 3), (1, 2)):
        for seq in range(2):
            world.open(owner, seq, seq * 10, copies, exclude=(4 - owner,))
    world.fence(1)
    world.seal_all(10)
    world.assign()
    short = [vseg for vseg in world.table.vsegs.values() if not vseg.open and not vseg.empty]
    assert {vseg.backups for vseg in short} == {(CopyTarget(2, "store2"),)}
    repairs = Repairs(0)
    repairs._missing = {vseg.id: float(vseg.node_id == 1) for vseg in short}
    assert {(order.vseg.node_id, order.target.node_id) for order in orders(world, repairs)} == {(1, 3)}


def test_what_waits_for_a_slow_broker_does_not_keep_others_from_being_ordered_without_another_plan() -> None:
    """As many as are looked at when a copy is done, and that broker alone can give them: all others got one
    or two with each plan, which comes every few seconds."""
    world = cluster(6, t=(1, 2, [1]), u=(1, 2, [2]))
    for seq in range(2 * LOOKS_FOR_MORE):
        world.open(1, seq, seq * 10, 2, exclude=(2, 4, 5, 6))
    for seq in range(51):
        world.open(2, seq, seq * 10, 2, exclude=(1, 3, 5, 6))
    world.register(3, 4, store="new")
    repairs, made = Repairs(0), 0
    waiting = orders(world, repairs)
    while waiting:
        for order in waiting:
            repairs.ordered(order)
        waiting = [order for order in waiting if order.source != 1]
        order = waiting.pop(0)
        assert world.commit(decide_repaired(world.image, world.table, order))
        repairs.ended(order, True, world.now)
        made += 1
        waiting += repairs.more(world.image, world.table, order)
    assert made == 50


def test_an_owner_is_not_said_to_have_none_by_its_node_without_its_disk() -> None:
    """Who was asked for a copy of its own told what the owner's node said of it with another disk. With the
    old one mounted again an operator could give up what is on it (`giving_up.hopeless`)."""
    world, vseg = without_any()
    world.register(1, store="new")
    repairs = Repairs(0)
    for _ in range(3):
        assert not ask(world, repairs, vseg, InternalError.UNKNOWN).known
    world.register(1)
    assert not repairs.denials.owner_has_none(world.image, world.table.vsegs[vseg])
    order = ask(world, repairs, vseg, InternalError.UNKNOWN)
    assert (order.source, order.known) == (1, True)
    assert repairs.denials.owner_has_none(world.image, world.table.vsegs[vseg]), "now it was asked"


@pytest.mark.parametrize("back", ["later", "at once", "meanwhile"])
def test_an_owner_is_not_said_to_have_none_by_what_it_listed_on_another_disk(back: str) -> None:
    """A torn copy on a new disk was taken for its answer of the journal, which is on the old one: also where
    it came back with that before the next plan, or before the answer."""
    world, vseg = closed_one(copies=2, brokers=4)
    world.fence(1)
    world.seal_all(150)
    world.assign()
    world.register(1, store="new")
    one = world.table.vsegs[vseg.id]._replace(backups=(CopyTarget(1, "new"),))
    world.commit(Decision(None, {one.key: one.encode()}))
    repairs = Repairs(0)
    (order,) = (each for each in orders(world, repairs) if each.vseg.id == vseg.id)
    assert (order.source, order.known) == (1, True)
    repairs.ordered(order)
    if back == "meanwhile":
        world.register(1)
        orders(world, repairs)
    repairs.ended(order, False, world.now, answer=InternalError.UNKNOWN)
    if back == "later":
        orders(world, repairs)
    world.register(1)
    assert not repairs.denials.owner_has_none(world.image, one)
    assert hopeless(world.image, world.table, world.streamlet("t"), repairs.denials) == []
    world.now += RETRY_SECONDS
    orders(world, repairs)
    assert hopeless(world.image, world.table, world.streamlet("t"), repairs.denials) == []
    assert ask(world, repairs, vseg.id, InternalError.UNKNOWN).source == 1
    while not repairs.denials.others_have_none(world.image, one):
        assert hopeless(world.image, world.table, world.streamlet("t"), repairs.denials) == []
        ask(world, repairs, vseg.id, InternalError.UNKNOWN)
    assert hopeless(world.image, world.table, world.streamlet("t"), repairs.denials) == [one]


def test_what_the_owner_said_of_what_is_freed_is_not_remembered() -> None:
    world, vseg = without_any()
    world.register(1)
    world.table.moved_upto[1] = vseg.owner_epoch
    repairs = Repairs(0)
    assert ask(world, repairs, vseg, InternalError.UNKNOWN).source == 1
    assert repairs.denials.owner_has_none(world.image, world.table.vsegs[vseg])
    record = world.table.vsegs[vseg]
    world.commit(Decision(None, {}, [record.key]))
    orders(world, repairs)
    assert not repairs.denials.owner_has_none(world.image, record)


def test_all_are_asked_whether_they_have_copies_without_another_plan() -> None:
    """Eight were with each plan, which of ten thousand takes 60 ms, and a rest of 1.2 s: the last ones that a
    recovery waited for seven minutes later, and others after two hours."""
    world = cluster(6, t=(1, 2, [1]))
    for seq in range(51):
        world.open(1, seq, seq * 10, 2, exclude=(3, 4, 5, 6))
    world.fence(1)
    world.fence(2)
    repairs, asked = Repairs(0), defaultdict[VsegId, list[int]](list)
    waiting = orders(world, repairs)
    for order in waiting:
        repairs.ordered(order)
    while waiting:
        order = waiting.pop(0)
        asked[order.vseg.id].append(order.target.node_id)
        assert repairs.ended(order, False, world.now, answer=InternalError.REFUSED)
        for each in repairs.more(world.image, world.table, order):
            repairs.ordered(each)
            waiting.append(each)
    assert len(asked) == 50
    assert all(sorted(nodes) == [3, 4, 5, 6] for nodes in asked.values())


@pytest.mark.parametrize("drained", [False, True])
def test_an_owner_that_is_alone_makes_a_copy_of_its_own_journal(drained: bool) -> None:
    """Others were told to rebuild what it led, and are away: nobody could lead that though all of it is here,
    and no operator could give it up, since nobody asked the owner."""
    world, vseg = closed_one(brokers=3)
    world.fence(1)
    world.seal_all(150)
    world.assign()
    world.fence(2)
    world.fence(3)
    world.register(1)
    if drained:
        world.register(3, store="new")
        drain(world, 3)
    repairs = Repairs(0)
    order = ask(world, repairs, vseg.id, InternalError.UNKNOWN)
    assert (order.source, order.target.node_id, order.known) == (1, 1, True)
    if drained:
        other = ask(world, repairs, vseg.id, InternalError.UNKNOWN)
        assert (other.target.node_id, other.known) == (3, False)
    assert hopeless(world.image, world.table, world.streamlet("t"), repairs.denials) == [order.vseg]
    for _ in range(2):
        (order,) = orders(world, Repairs(0))
        assert world.commit(decide_repaired(world.image, world.table, order))
    assert [record.leader for record in world.assign()] == [1]


@pytest.mark.parametrize("case", ["listed", "drained", "others are full", "power lost"])
def test_an_owner_is_asked_for_what_nobody_else_can_take(case: str) -> None:
    """Where its own listed copy was none, it was drained, or the disks of others were full, nobody asked for
    its journal: what that had was led by nobody, and what it had not no operator could give up."""
    world, vseg = closed_one(brokers=3)
    world.fence(1)
    world.seal_all(150)
    if case != "power lost":
        world.assign()
    world.fence(2)
    world.fence(3)
    epoch = world.register(1, power_lost=case == "power lost").epoch
    one = world.table.vsegs[vseg.id]
    repairs = Repairs(0)
    if case == "listed":
        one = one._replace(backups=(CopyTarget(1, "store1"),), denied=((1, epoch),))
        world.commit(Decision(None, {one.key: one.encode()}))
    elif case == "drained":
        drain(world, 1)
    elif case == "others are full":
        world.register(2, 3, store="new")

    def asked(answer: InternalError) -> list[Repair]:
        """What was ordered in a minute or so."""
        found = []
        for _ in range(16):
            for order in orders(world, repairs):
                found += [order] * (order.vseg.id == vseg.id)
                repairs.ordered(order)
                repairs.ended(order, False, world.now, answer=answer)
            world.now += RETRY_SECONDS
        return found

    own = [order for order in asked(InternalError.FULL) if order.target.node_id == 1]
    assert len(own) >= 2
    assert {(order.source, order.known) for order in own} == {(1, True)}
    assert one not in hopeless(world.image, world.table, world.streamlet("t"), repairs.denials)
    asked(InternalError.UNKNOWN)
    assert one in hopeless(world.image, world.table, world.streamlet("t"), repairs.denials)
    assert world.commit(decide_repaired(world.image, world.table, own[0]))


def test_nothing_is_given_up_that_others_may_have_while_its_owner_is_here_without_it() -> None:
    """Its node said that its journal is gone, and that was enough: a broker that is not listed had all of it,
    and was asked later, or, while it was drained, never."""
    world, vseg = closed_one()
    other, first = vseg.backups
    one = world.table.vsegs[vseg.id]._replace(backups=(first,))
    world.commit(Decision(None, {one.key: one.encode()}))
    world.fence(1)
    world.seal_all(150)
    world.assign()
    world.register(first.node_id, store="new")
    world.register(1)
    drain(world, other.node_id)
    repairs, order = Repairs(0), None
    while order is None or order.target != other:
        assert hopeless(world.image, world.table, world.streamlet("t"), repairs.denials) == []
        if order is not None:
            repairs.ended(order, False, world.now, answer=InternalError.UNKNOWN)
        (order,) = (each for each in orders(world, repairs) if each.vseg.id == vseg.id)
        repairs.ordered(order)
    assert world.commit(decide_repaired(world.image, world.table, order))
    assert Sources(world.image, world.table).orphans(world.streamlet("t")) == []


def test_all_owners_that_have_none_are_asked_without_another_plan() -> None:
    """Two were with each plan: to give up what ten thousand had took an operator minutes, or hours."""
    world = many_without_owner(51)
    world.seal_all(510)
    world.assign()
    world.register(2, store="new")
    world.register(1)
    repairs = Repairs(0)
    waiting = orders(world, repairs)
    for order in waiting:
        repairs.ordered(order)
    for _ in range(1000):
        if not waiting:
            break
        order = waiting.pop(0)
        if repairs.ended(order, False, world.now, answer=InternalError.UNKNOWN):
            more = repairs.more(world.image, world.table, order)
            for each in more:
                repairs.ordered(each)
            waiting += more
    assert not waiting
    lost = hopeless(world.image, world.table, world.streamlet("t"), repairs.denials)
    assert len(lost) == len(world.table.vsegs)


def test_when_all_were_tried_whose_owner_is_away_they_are_tried_again() -> None:
    world, vseg = closed_one(brokers=4)
    world.fence(1)
    world.seal_all(150)
    world.assign()
    repairs = Repairs(0)
    targets = [ask(world, repairs, vseg.id, InternalError.FULL).target.node_id for _ in range(3)]
    assert targets == [({2, 3, 4} - {copy.node_id for copy in vseg.backups}).pop()] * 3


def test_nothing_is_given_up_that_somebody_may_have_who_was_not_asked_yet() -> None:
    """One that was away when it was closed, so that it is not listed, has all of it, and was being asked."""
    world, vseg = closed_one()
    first, other = vseg.backups
    one = world.table.vsegs[vseg.id]._replace(backups=(first,))
    world.commit(Decision(None, {one.key: one.encode()}))
    world.register(1, first.node_id, store="new")
    world.seal_all(150)
    repairs = Repairs(0)

    def found() -> bool:
        return one in hopeless(world.image, world.table, world.streamlet("t"), repairs.denials)

    while True:
        assert not found()
        (order,) = (each for each in orders(world, repairs) if each.vseg.id == vseg.id)
        if order.target == other:
            break
        repairs.ended(order, False, world.now, answer=InternalError.REFUSED)
    repairs.ended(order, False, world.now, answer=None)
    assert not found(), "it did not answer"
    repairs.ended(order, False, world.now, answer=InternalError.REFUSED)
    world.now += RETRY_SECONDS
    for _ in range(4):
        for order in orders(world, repairs):
            repairs.ended(order, False, world.now, answer=InternalError.REFUSED)
    assert found()
    world.register(4, store="another")
    assert not found(), "it came later"


def test_what_an_owner_denies_on_another_disk_keeps_nobody_from_being_asked_for_copies_of_their_own() -> None:
    """What it says of that disk says nothing of its journal, so that nobody waits for it."""
    world, vseg = closed_one(copies=2, brokers=4)
    world.fence(1)
    world.seal_all(150)
    world.assign()
    epoch = world.register(1, store="new").epoch
    one = world.table.vsegs[vseg.id]._replace(backups=(CopyTarget(1, "new"),), denied=((1, epoch),))
    world.commit(Decision(None, {one.key: one.encode()}))
    repairs = Repairs(0)
    asked = [ask(world, repairs, vseg.id, InternalError.REFUSED) for _ in range(3)]
    assert {(order.target.node_id, order.known) for order in asked} == {(2, False), (3, False), (4, False)}
    assert hopeless(world.image, world.table, world.streamlet("t"), repairs.denials) == [one]


def test_processes_that_ended_are_not_remembered_for_having_had_none() -> None:
    """One more was with each start of a broker, for each virtual segment that waits for an operator."""
    world, vseg = without_any()
    repairs = Repairs(0)
    for _ in range(20):
        ask(world, repairs, vseg, InternalError.REFUSED)
        ask(world, repairs, vseg, InternalError.REFUSED)
        world.register(3, 4)
    assert len(repairs.denials.others(vseg)) <= 2
