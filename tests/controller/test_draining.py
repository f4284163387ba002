"""Brokers that are drained: who gets what they had, also the only copies, and what is left on them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from kproto.controller import draining
from kproto.controller.config_changes import ConfigChange, ConfigOp, OpType, ResourceType, decide_alter
from kproto.controller.decision import Decision
from kproto.controller.draining import decide_replacements, is_held_up, left_on, replacements
from kproto.controller.freeing import Unneeded, decide_free
from kproto.controller.moves import misplaced
from kproto.controller.repair import Repairs, decide_repaired
from kproto.controller.repair_pairs import Repair
from kproto.controller.topics import NewTopic, decide_create
from kproto.errors import ErrorCode
from kproto.metadata.vlogs import CopyTarget
from tests.controller.cluster_world import SETTINGS, World, cluster, nodes
from tests.controller.test_factors import copied, reassign
from tests.controller.test_moves import ALL
from tests.controller.test_single import alone, copies, listed, move


def replace(world: World) -> list[tuple[int, ...]]:
    """What the controller does about drained brokers; the new assignments."""
    wanted = replacements(world.image, 100)
    assert world.commit(decide_replacements(world.image, world.table, wanted)) == len(wanted)
    return [one.replicas for one in wanted]


def drain(world: World, node: int) -> None:
    ops = [ConfigOp("kproto.drain", OpType.SET, " TRUE ")]
    change = ConfigChange(ResourceType.BROKER, str(node), ops)
    assert world.commit(decide_alter(world.image, [change], SETTINGS)) == [None]


def test_a_drained_broker_gets_nothing_and_gives_all() -> None:
    world = cluster(5, t=(3, 3, [1, 2, 3]))
    drain(world, 2)
    assert len(replace(world)) == 3
    for index in range(3):
        assert 2 not in world.streamlet("t", index).replicas
        assert len(set(world.streamlet("t", index).replicas)) == 3
    (wish,) = misplaced(world.image, world.table, ALL - {2}, False)
    assert wish.streamlet == 1
    assert 2 not in nodes(world.open(1).backups)
    world.topic("u", 5, 3)
    assert all(2 not in world.streamlet("u", index).replicas for index in range(5))
    assert left_on(world.image, world.table, 2) == {"streamlets": 1, "single": 0, "copies": 0}


def test_copies_of_a_drained_broker_are_made_elsewhere_first() -> None:
    world = cluster(5, t=(1, 3, [1]))
    vseg = world.open(1)
    drained = nodes(vseg.backups)[0]
    world.open(1, seq=1, start=500, exclude=(drained,))
    drain(world, drained)
    assert left_on(world.image, world.table, drained)["copies"] == 1
    vseg = world.table.vsegs[vseg.id]
    (other,) = (node for node in nodes(vseg.backups) if node != drained)
    world.table.vsegs[vseg.id] = vseg._replace(denied=((other, world.epoch(other)),))
    assert left_on(world.image, world.table, 1)["copies"] == 1, "what is listed there is none"
    world.table.vsegs[vseg.id] = vseg
    fresh = next(node for node in (2, 3, 4, 5) if node not in nodes(vseg.backups))
    (order,) = Repairs(10.0).plan(world.image, world.table, 5.0).orders
    assert order.target.node_id not in (*nodes(vseg.backups), 1)
    repair = Repair(vseg, drained, CopyTarget(fresh, f"store{fresh}"), world.epoch(fresh))
    assert world.commit(decide_repaired(world.image, world.table, repair))
    assert drained not in nodes(world.table.vsegs[vseg.id].backups)
    assert left_on(world.image, world.table, drained)["copies"] == 0


def test_a_drained_broker_is_needed_while_what_a_dead_owner_left_open_is_sealed() -> None:
    """It was stopped, and forgotten, in the moment before that was closed with its copy alone."""
    world = cluster(4, t=(1, 2, [1]))
    (drained,) = nodes(world.open(1, copies=2).backups)
    drain(world, drained)
    replace(world)
    world.fence(1)
    left = [left_on(world.image, world.table, drained)["copies"]]
    (ask,) = world.plan().asks
    world.answer(ask, 500)
    left.append(left_on(world.image, world.table, drained)["copies"])
    (closed,) = world.close()
    assert nodes(closed.backups) == [drained]
    left.append(left_on(world.image, world.table, drained)["copies"])
    assert left == [1, 1, 1]


def test_what_is_left_is_looked_at_once_for_all_that_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a hundred thousand virtual segments it took the controller 0.4 s, five times a second while a broker
    was drained."""
    world = cluster(4, t=(1, 3, [1]))
    vseg, looks = world.open(1), Counter[int]()
    puts = (vseg._replace(id=vseg.id._replace(seq=seq), start=seq, end=seq + 1) for seq in range(200))
    world.commit(Decision(None, {one.key: one.encode() for one in puts}))
    (drained, _) = nodes(vseg.backups)
    drain(world, drained)

    def counted(*args: Any) -> bool:
        looks[drained] += 1
        return is_held_up(*args)

    monkeypatch.setattr(draining, "is_held_up", counted)
    assert left_on(world.image, world.table, drained)["copies"] == 200
    assert looks[drained] == 1


def test_two_drained_brokers_do_not_count_on_each_other() -> None:
    """Each could go because of the other one's copy, and both did."""
    world = cluster(6, t=(1, 3, [1]))
    vseg = world.open(1)
    drained = nodes(vseg.backups)
    world.open(1, seq=1, start=500, exclude=tuple(drained))
    for node in drained:
        drain(world, node)
    replace(world)
    left = []
    for _ in range(2):
        left += [left_on(world.image, world.table, node)["copies"] for node in drained]
        (order,) = Repairs(10.0).plan(world.image, world.table, 5.0).orders
        assert world.commit(decide_repaired(world.image, world.table, order))
    assert left == [1] * 4
    assert [left_on(world.image, world.table, node)["copies"] for node in drained] == [0, 0]
    assert not set(drained) & set(nodes(world.table.vsegs[vseg.id].backups))


def test_the_only_copies_of_a_drained_broker_go_elsewhere() -> None:
    world = cluster(4, t=(3, 1, [1, 2, 1]))
    drain(world, 1)
    assert left_on(world.image, world.table, 1) == {"streamlets": 2, "single": 2, "copies": 0}
    assert replace(world) == [(3,), (4,)]
    assert replace(world) == [], "once"
    assert [one[:3] for one in listed(world)] == [(0, [3, 1], [3]), (2, [4, 1], [4])]
    assert copies(world) == 2, "its leader makes one first"
    world.open(1, copies=2)
    world.open(1, 1, 10, copies=2)
    assert copied(world, 1, [0]) == [True]
    assert left_on(world.image, world.table, 1)["single"] == 1
    move(world)
    assert alone(world, 3) == [True]
    assert left_on(world.image, world.table, 1)["streamlets"] == 1
    record = world.streamlet("t")
    assert (record.leader, record.replicas, record.sources) == (3, (3,), ())
    world.commit(decide_free(world.image, world.table, Unneeded()))
    assert [one[0] for one in listed(world)] == [2]


def test_the_only_copy_goes_to_somebody_else_when_the_newcomer_dies_for_good() -> None:
    """Before its leader has made another one, and when it is to hand over."""
    world = cluster(4, t=(1, 1, [1]))
    drain(world, 1)
    assert replace(world) == [(2,)]
    world.fence(2)
    assert replace(world) == [(3,)]
    assert replace(world) == [], "once"
    assert listed(world) == [(0, [3, 1], [3], [1])]
    world.open(1, copies=2)
    world.open(1, 1, 10, copies=2)
    assert copied(world, 1, [0]) == [True]
    world.fence(3)
    assert replace(world) == [(4,)]
    world.register(3)
    assert replace(world) == []
    move(world)
    assert alone(world, 4) == [True]
    assert left_on(world.image, world.table, 1)["streamlets"] == 0
    assert listed(world) == []


def test_one_of_the_replicas_that_all_died_is_replaced_so_that_a_drained_leader_can_go() -> None:
    world = cluster(5, t=(1, 2, [1]))
    assert reassign(world, (2, 3)) == [ErrorCode.NONE]
    drain(world, 1)
    assert replace(world) == []
    world.fence(2)
    assert replace(world) == [], "number 3 can lead it"
    world.fence(3)
    assert replace(world) == [(4, 3)]


def test_one_that_was_on_its_way_to_the_drained_broker_goes_to_another_one() -> None:
    """Back to where it is: what its leader has pushed is void then."""
    world = cluster(3, t=(1, 1, [1]), u=(2, 1, [3, 3]))
    reassign(world, (2,))
    drain(world, 2)
    assert replace(world) == [(1,)]
    record = world.streamlet("t")
    assert (record.leader_epoch, copies(world), listed(world)) == (1, 1, [])


def test_a_topic_that_goes_back_to_one_copy_there_does_so_elsewhere() -> None:
    world = cluster(4, t=(1, 3, [1]))
    reassign(world, (2,))
    assert world.table.current_move(world.streamlet("t")) is not None
    drain(world, 2)
    assert replace(world) == [(1,)]
    assert world.table.current_move(world.streamlet("t")) is None
    assert alone(world, 1) == [True]


def test_a_reassignment_whose_target_is_drained_goes_elsewhere_and_can_be_cancelled() -> None:
    world = cluster(7, t=(1, 3, [1]), u=(1, 3, [1]))
    assert reassign(world, (4, 5, 6)) == [ErrorCode.NONE]
    drain(world, 4)
    assert replace(world) == [(7, 5, 6)]
    assert listed(world) == [(0, [7, 5, 6, 1, 2, 3], [7, 5, 6], [1, 2, 3])]
    turned = world.table.current_move(world.streamlet("t"))
    assert turned is not None
    assert turned.target == 7
    assert reassign(world, None) == [ErrorCode.NONE]
    assert (world.streamlet("t").replicas, world.table.moves) == ((1, 2, 3), {})
    assert listed(world) == []


@pytest.mark.parametrize(
    ("copies_before", "wanted", "instead"), [(1, (2, 3), (1, 3)), (3, (4,), (1,))], ids=["more", "fewer"]
)
def test_a_reassignment_of_an_older_version_is_cancelled_after_its_replica_was_drained(
    copies_before: int, wanted: tuple[int, ...], instead: tuple[int, ...]
) -> None:
    """Its record does not keep the replicas that there were: its leader is one, or the move knows them."""
    world = cluster(4, t=(1, copies_before, [1]))
    before = world.streamlet("t").replicas
    assert reassign(world, wanted) == [ErrorCode.NONE]
    older = world.streamlet("t").assigned_to(wanted)
    world.commit(Decision(None, {older.key: older.encode()}))
    drain(world, wanted[0])
    assert replace(world) == [instead]
    assert reassign(world, None) == [ErrorCode.NONE]
    assert (world.streamlet("t").replicas, copies(world)) == (before, copies_before)


def test_the_only_copy_stays_where_nobody_else_can_have_it() -> None:
    world = cluster(2, t=(1, 1, [1]))
    drain(world, 1)
    drain(world, 2)
    assert replace(world) == []
    assert world.streamlet("t").replicas == (1,)
    assert left_on(world.image, world.table, 1)["single"] == 1


def test_what_was_changed_meanwhile_is_not_replaced() -> None:
    world = cluster(4, t=(1, 1, [1]))
    drain(world, 1)
    wanted = replacements(world.image, 100)
    assert reassign(world, (4,)) == [ErrorCode.NONE]
    assert world.commit(decide_replacements(world.image, world.table, wanted)) == 0
    assert world.streamlet("t").replicas == (4,)


@pytest.mark.parametrize(("default", "copies"), [("1", 3), ("3", 1), ("3", 2)])
def test_new_topics_need_a_drained_broker_only_where_others_are_too_few(default: str, copies: int) -> None:
    """Whatever topics have that do not say how many copies."""
    world = cluster(3)
    drain(world, 3)
    settings = SETTINGS.with_texts({"default.replication.factor": default})
    new = [NewTopic("t", 6, copies), NewTopic("u", 6, copies)]
    ids = iter((b"t" * 16, b"u" * 16))
    found = world.commit(decide_create(world.image, new, settings, lambda: next(ids), Counter()))
    assert [outcome.error for outcome in found] == [None, None]
    used = {node for name in "tu" for index in range(6) for node in world.streamlet(name, index).replicas}
    assert used == ({1, 2, 3} if copies == 3 else {1, 2})
    leaders = Counter(world.streamlet(name, index).leader for name in "tu" for index in range(6))
    assert max(leaders.values()) - min(leaders.values()) <= 1
