"""New leaders and the commit point (rules 2b, 19, 19b, 27, 27b, 29)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from kproto.controller import rules
from kproto.controller.decision import PER_TRANSACTION, Decision
from kproto.controller.giving_up import decide_give_up
from kproto.controller.moves import HandOver, Wish, decide_handed_over, decide_moves, misplaced
from kproto.controller.recovery import (
    NAMED,
    Attempt,
    awaited,
    awaits_preferred,
    being_rebuilt,
    choose_leader,
    decide_assign,
    decide_cannot,
    decide_commit,
    due_streamlets,
    led_now,
    only_copies,
    stuck,
)
from kproto.controller.repair import decide_disowned
from kproto.controller.retiring import decide_retire
from kproto.controller.sealing import Sealing
from kproto.controller.unreached import KEPT_SECONDS, NodesOf, Unreached, nobody
from kproto.controller.vsegs import decide_close_vsegs
from kproto.metadata import Change
from kproto.metadata.records import ONLINE, RECOVERING, StreamletRecord
from kproto.metadata.vlogs import VsegId

from .cluster_world import PATIENCE, STALL, World, cluster, no_owner_has_any
from .sim_cluster import SimCluster
from .virtual_time import run_virtual


def test_creation_makes_the_leaders_epoch_the_first_source() -> None:
    world = cluster(3, many=(2, 3, [2, 1]), single=(1, 1, [1]))
    assert [world.streamlet("many", index).sources for index in (0, 1)] == [(2,), (1,)]
    assert world.streamlet("single").sources == ()
    assert due_streamlets(world.image) == []


def test_nobody_leads_before_the_sources_are_sealed() -> None:
    world = cluster(3, t=(2, 3, [1, 1]))
    world.open(1)
    world.fence(1)
    assert len(due_streamlets(world.image)) == 2
    assert world.assign() == []
    world.seal_all(500)
    assigned = world.assign()
    assert sorted(record.leader for record in assigned) == [2, 3]
    assert all(record.state == RECOVERING and record.leader_epoch == 1 for record in assigned)
    assert due_streamlets(world.image) == []
    assert world.table.moved_upto == {1: 1}
    assert world.commit_all(assigned) == [True, True]
    record = world.streamlet("t")
    assert (record.state, record.sources) == (ONLINE, (1, world.epoch(record.leader)))


def test_an_owner_keeps_what_it_had_before_it_led_what_others_lead_now() -> None:
    """Found by simulation (seed 870694): a broker came back, led a streamlet, and died again. When another
    led that, the broker's journal was no copy any more of what it alone had had since its first time."""
    world = cluster(4, old=(1, 3, [1]), new=(1, 3, [2]))
    alone = world.open(1)._replace(backups=())
    world.commit(Decision(None, {alone.key: alone.encode()}))
    world.register(1)
    topic_id = world.streamlet("new").topic_id
    (move,) = world.commit(decide_moves(world.image, world.table, [Wish(topic_id, 0, 1)]))
    given = [HandOver(topic_id, 0, move.leader_epoch, move.began)]
    assert world.commit(decide_handed_over(world.image, world.table, 2, world.epoch(2), given, [])) == [True]
    assert world.commit_all([world.streamlet("new")]) == [True]
    later = world.open(1).id
    world.fence(1)
    world.seal_all(500)
    (record,) = world.assign()
    assert (record.topic_id, record.leader in (2, 3, 4)) == (topic_id, True)
    world.register(1)
    assert not rules.owner_holds(world.image, world.table, world.table.vsegs[later])
    assert rules.owner_holds(world.image, world.table, alone)
    world.now += 100
    (ask,) = [ask for ask in world.plan().asks if ask.journal]
    world.answer(ask, 70)
    world.close()
    assert [one.leader for one in world.assign()] == [1]


def test_a_restarted_leader_gets_its_streamlets_back() -> None:
    """Rule 2b; its own files stay a copy: nothing was moved."""
    world = cluster(3, t=(4, 3, [1, 1, 2, 3]))
    vseg = world.open(1).id
    world.register(1)
    assert world.assign() == []
    world.seal_all(90)
    assigned = world.assign()
    assert [(record.leader, record.leader_epoch) for record in assigned] == [(1, 1), (1, 1)]
    assert world.table.moved_upto == {}
    assert rules.owner_holds(world.image, world.table, world.table.vsegs[vseg])
    assert world.commit_all(assigned) == [True, True]
    assert world.streamlet("t").sources == (1, 4)
    assert world.streamlet("t", 2).leader_epoch == 0


def test_two_brokers_die_at_once() -> None:
    world = cluster(4, t=(8, 3, ()))
    for node in (1, 2, 3, 4):
        world.open(node)
    world.fence(1)
    world.fence(2)
    world.seal_all(40)
    assigned = world.assign()
    assert len(assigned) == 4
    assert Counter(record.leader for record in assigned) == {3: 2, 4: 2}
    assert world.commit_all(assigned) == [True] * 4


def test_the_new_leader_dies_while_it_recovers() -> None:
    """Rule 29: another attempt from the same sources, under the next leader epoch; the old one is refused."""
    world = cluster(4, t=(1, 3, [1]))
    world.open(1)
    world.fence(1)
    world.seal_all(40)
    (first,) = world.assign()
    epoch = world.epoch(first.leader)
    world.fence(first.leader)
    (second,) = world.assign()
    assert second.leader not in (1, first.leader)
    assert (second.leader_epoch, second.sources) == (2, (1,))
    attempt = Attempt(first.topic_id, 0, first.leader_epoch)
    assert decide_commit(world.image, world.table, first.leader, epoch, [attempt]).answer == [False]
    assert world.commit_all([second]) == [True]


def test_a_leader_that_starts_again_while_it_recovers_goes_on_under_its_new_epoch() -> None:
    """It has written nothing that anybody else sees, so the attempt stays; its old process cannot commit."""
    world = cluster(3, t=(1, 3, [1]))
    world.open(1)
    world.fence(1)
    world.seal_all(40)
    (record,) = world.assign()
    old = world.epoch(record.leader)
    world.register(record.leader)
    attempt = Attempt(record.topic_id, 0, record.leader_epoch)
    assert decide_commit(world.image, world.table, record.leader, old, [attempt]).answer == [False]
    assert world.commit_all([record]) == [True]
    assert world.streamlet("t").sources[-1] == world.epoch(record.leader) != old


class Silence:
    """Leaders to be that do not reach the copies, and say so."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.said = Unreached()

    def cannot(self, record: StreamletRecord, node: int | None = None, **other: Any) -> list[int]:
        """Who is to try now."""
        world, node = self.world, record.leader if node is None else node
        attempt = Attempt(record.topic_id, record.index, record.leader_epoch)._replace(**other)
        epoch = world.epoch(node)
        self.said.said(attempt[:2], node, epoch, world.now)
        decision = decide_cannot(world.image, world.table, node, epoch, [attempt], self.tried())
        return [one.leader for one in world.commit(decision)]

    def tried(self) -> NodesOf:
        return self.said.at(self.world.image, self.world.now)


def recovering(brokers: int, copies: int = 3) -> tuple[World, Silence, StreamletRecord]:
    """Broker 1 led one streamlet and died; who is to rebuild that does not reach the copies."""
    world = cluster(brokers, t=(1, copies, [1]))
    world.open(1, copies=copies)
    world.fence(1)
    world.seal_all(40)
    (record,) = world.assign()
    return world, Silence(world), record


def test_who_cannot_rebuild_is_followed_by_all_others() -> None:
    """Rule 29: each is an attempt of its own, and who was told before cannot commit any more. Replicas come
    first; when all have said so, the last one goes on."""
    world, silence, record = recovering(5)
    tried = [record.leader]
    while to := silence.cannot(record):
        assert silence.cannot(record) == [], "it is somebody else's by now"
        tried += to
        before, record = record, world.streamlet("t")
        assert (record.state, record.sources, record.leader_epoch) == (RECOVERING, (1,), len(tried))
        assert world.commit_all([before]) == [False]
    assert sorted(tried) == [2, 3, 4, 5]
    assert set(tried[:2]) == {2, 3}, "replicas"
    assert world.commit_all([record]) == [True]


def test_who_said_that_it_cannot_is_told_again_after_a_while() -> None:
    world, silence, record = recovering(3)
    (other,) = silence.cannot(record)
    assert silence.cannot(world.streamlet("t")) == []
    world.now += KEPT_SECONDS - 1
    silence.said.forget(world.now)
    assert silence.cannot(world.streamlet("t")) == []
    world.now += 2
    assert silence.cannot(world.streamlet("t")) == [record.leader]
    assert other == 5 - record.leader
    silence.said.forget(world.now + KEPT_SECONDS)
    assert not silence.said._until


def test_who_cannot_read_is_spared_as_long_as_others_can() -> None:
    """Nothing is moved to it, be it the preferred one; when the next leader goes it is the last choice."""
    world, silence, record = recovering(4)
    first = record.leader
    (second,) = silence.cannot(record)
    assert world.commit_all([world.streamlet("t")]) == [True]
    kept = world.streamlet("t").assigned_to((first, second, 4))
    world.commit(Decision(None, {kept.key: kept.encode()}))
    everybody = {2, 3, 4}
    assert [wish.target for wish in misplaced(world.image, world.table, everybody, True)] == [first]
    assert list(misplaced(world.image, world.table, everybody, True, silence.tried())) == []
    left = decide_retire(world.image, world.table, second, world.epoch(second), [], silence.tried())
    then = world.image.apply(Change(world.image.revision + 1, left.puts, ()))
    assert then.streamlet(kept.topic_id, 0).leader == 4
    world.fence(second)
    world.seal_all(40)
    due = due_streamlets(world.image)
    decision = decide_assign(world.image, world.table, due, Counter(), silence.tried())
    assert [one.leader for one in decision.answer] == [4]
    world.commit(decision)
    world.fence(4)
    due = due_streamlets(world.image)
    decision = decide_assign(world.image, world.table, due, Counter(), silence.tried())
    assert [one.leader for one in decision.answer] == [first], "nobody else is left"


def test_who_was_started_again_or_has_read_after_all_is_spared_no_more() -> None:
    world, silence, record = recovering(3)
    key, first = (record.topic_id, 0), record.leader
    (other,) = silence.cannot(record)
    assert silence.tried()(key) == [first]
    silence.said.reached(key, other, world.epoch(other))
    assert silence.tried()(key) == [first]
    silence.said.reached(key, first, world.epoch(first))
    assert silence.tried()(key) == []
    silence.said.said(key, first, world.epoch(first), world.now)
    world.register(first)
    assert silence.tried()(key) == []
    assert silence.cannot(world.streamlet("t")) == [first]


def test_many_that_one_cannot_rebuild_are_spread() -> None:
    world = cluster(5, t=(8, 1 + 4, [1] * 8))
    world.open(1, copies=5)
    world.fence(1)
    world.seal_all(40)
    for index in range(8):
        record = world.streamlet("t", index).recovering(2)
        world.commit(Decision(None, {record.key: record.encode()}))
    attempts = [Attempt(record.topic_id, index, 1) for index in range(8)]
    decision = decide_cannot(world.image, world.table, 2, world.epoch(2), attempts, nobody)
    assert Counter(one.leader for one in decision.answer) == {3: 3, 4: 3, 5: 2}


def test_what_the_target_of_a_move_cannot_read_goes_back() -> None:
    """Who gave it away lives, and has all of it (12b), though others are its replicas now."""
    world = cluster(5, t=(1, 3, [1]))
    vseg = world.open(1)
    record = world.streamlet("t")
    others = record.assigned_to((4, 2, 3))
    world.commit(Decision(None, {others.key: others.encode()}))
    (move,) = world.commit(decide_moves(world.image, world.table, [Wish(record.topic_id, 0, 4)]))
    world.commit(decide_close_vsegs(world.image, world.table, 1, [(vseg.id, 40)]))
    given = [HandOver(record.topic_id, 0, move.leader_epoch, move.began)]
    upto = [(0, 0)]
    done = decide_handed_over(world.image, world.table, 1, world.epoch(1), given, upto)
    assert world.commit(done) == [True]
    assert Silence(world).cannot(world.streamlet("t")) == [1]


def test_who_does_not_rebuild_a_streamlet_cannot_give_it_up() -> None:
    world = cluster(4, t=(1, 3, [1]))
    record = world.streamlet("t")
    assert Silence(world).cannot(record) == [], "it is served"
    world, silence, record = recovering(4)
    other = next(node for node in (2, 3, 4) if node != record.leader)
    for wrong in ({"topic_id": bytes(16)}, {"streamlet": 7}, {"leader_epoch": 0}, {"node": other}):
        assert silence.cannot(record, **wrong) == []
    assert world.commit_all([record]) == [True]


def test_a_drained_broker_is_to_try_only_when_nobody_else_can() -> None:
    world, silence, record = recovering(4)
    drained = 5 - record.leader
    drain = {f"configs/{drained}": b'{"kproto.drain":"true"}'}
    world.commit(Decision(None, drain))
    assert silence.cannot(record) == [4], "though the drained one is a replica"
    assert silence.cannot(world.streamlet("t")) == [drained]


def back_with_the_last_copy(store: str = "") -> World:
    """Broker 1 led, died and is back; of something its own files are the last copy."""
    world = cluster(4, t=(1, 2, [1]))
    first = world.open(1, 0, 0, 2)
    world.open(1, 1, 100, 2, exclude=(first.backups[0].node_id,))
    world.fence(first.backups[0].node_id)
    world.fence(1)
    world.seal_all(150)
    world.register(1, store=store)
    return world


def test_who_has_the_last_copy_goes_on_trying() -> None:
    """Its own files are it (2b): nobody else could."""
    world = back_with_the_last_copy()
    (record,) = world.assign()
    assert record.leader == 1
    assert Silence(world).cannot(record) == []


def test_who_has_the_last_copy_that_is_one_goes_on_trying() -> None:
    """The other one is listed, but its broker said that it is none."""
    world = cluster(4, t=(1, 2, [1]))
    vseg = world.open(1, copies=2)
    world.register(1)
    world.seal_all(90)
    (record,) = world.assign()
    assert record.leader == 1
    silence, holder = Silence(world), vseg.backups[0].node_id
    assert world.commit(
        decide_disowned(world.image, world.table, holder, world.epoch(holder), [vseg.id], lambda *_: False)
    ) == [False]
    assert silence.cannot(record) == []
    world.register(holder)
    assert len(silence.cannot(record)) == 1, "it may have one again"


def test_a_leader_whose_files_are_needed_goes_on_trying() -> None:
    """It started again, and one of the two other copies is missing: it is not to be the only one (18b)."""
    world = cluster(4, t=(1, 3, [1]))
    vseg = world.open(1)
    world.register(1)
    world.seal_all(90)
    lost = vseg.backups[0].node_id
    world.fence(lost)
    (record,) = world.assign()
    assert record.leader == 1
    silence = Silence(world)
    assert silence.cannot(record) == []
    world.register(lost)
    assert len(silence.cannot(record)) == 1


def test_a_commit_can_be_repeated_but_not_by_others() -> None:
    world = cluster(3, t=(1, 3, [1]))
    world.open(1)
    world.fence(1)
    world.seal_all(40)
    (record,) = world.assign()
    attempt = Attempt(record.topic_id, 0, record.leader_epoch)
    other = 5 - record.leader
    commits = [
        (other, world.epoch(other), attempt),
        (record.leader, world.epoch(record.leader), attempt._replace(leader_epoch=0)),
        (record.leader, world.epoch(record.leader), attempt._replace(streamlet=7)),
        (record.leader, world.epoch(record.leader), attempt._replace(topic_id=bytes(16))),
    ]
    for node, epoch, wrong in commits:
        assert decide_commit(world.image, world.table, node, epoch, [wrong]).answer == [False]
    assert world.commit_all([record]) == [True]
    again = decide_commit(world.image, world.table, record.leader, world.epoch(record.leader), [attempt])
    assert again.answer == [True]
    assert not again.writes


@pytest.mark.parametrize("empty", [False, True])
def test_who_died_is_no_source_of_what_never_had_anything(empty: bool) -> None:
    """Who lives stays one: it may write down what it knew when it handed the streamlet over."""
    world = cluster(4, t=(1, 3, [1]))
    for node in (1, 2):
        world.open(node)
    first, second = world.epoch(1), world.epoch(2)
    record = world.streamlet("t").read_from((first, second, first)).recovering(3)
    world.commit(Decision(None, {record.key: record.encode()}))
    world.fence(1)
    world.seal_all(40)
    attempt = Attempt(record.topic_id, 0, record.leader_epoch, empty)
    decision = decide_commit(world.image, world.table, 3, world.epoch(3), [attempt])
    assert world.commit(decision) == [True]
    known = (second,) if empty else (first, second, first)
    assert world.streamlet("t").sources == (*known, world.epoch(3))


def test_a_commit_waits_for_a_source_that_is_sealing() -> None:
    """Rule 27b: nothing open may be among the sources."""
    world = cluster(4, t=(1, 3, [1]))
    world.open(1)
    world.fence(1)
    record = world.streamlet("t").recovering(2)
    world.commit(Decision(None, {record.key: record.encode()}))
    assert world.commit_all([record]) == [False]
    world.seal_all(10)
    assert world.commit_all([record]) == [True]


def test_no_copy_of_a_closed_one_is_here_so_the_streamlet_waits() -> None:
    """Rules 22, 27b: nothing is given up; the owner with its own files, or a copy, ends the wait."""
    world = cluster(4, t=(1, 2, [1]))
    first = world.open(1, 0, 0, 2)
    world.open(1, 1, 100, 2, exclude=(first.backups[0].node_id,))
    world.fence(first.backups[0].node_id)
    world.fence(1)
    world.seal_all(150)
    assert world.assign() == []
    due = due_streamlets(world.image)
    assert stuck(awaited(world.image, world.table, due)) == [
        "1 streamlets wait for virtual segment 1/0/0: no broker with a copy is here; copies were on "
        f"1, {first.backups[0].node_id}"
    ]
    world.register(first.backups[0].node_id)
    assert stuck(awaited(world.image, world.table, due)) == []
    (record,) = world.assign()
    assert record.leader != 1


def test_partitions_whose_only_copy_is_away_are_told_by_broker() -> None:
    world = cluster(3, few=(1, 1, [2]), many=(NAMED + 5, 1, [3] * (NAMED + 5)), safe=(1, 2, [3]))
    assert only_copies(world.image) == []
    world.fence(2)
    world.fence(3)
    named = ", ".join(f"many-{partition}" for partition in range(NAMED))
    assert only_copies(world.image) == [
        "on broker 2 only, which is away: few-0",
        f"on broker 3 only, which is away: {named} and 5 more",
    ]
    world.register(3)
    assert only_copies(world.image) == ["on broker 2 only, which is away: few-0"]


def test_what_a_member_cannot_rebuild_any_more_is_told() -> None:
    """Found by simulation (seed 10004200): the last copies went when somebody had been told to rebuild it.
    Who that was tried for ever, and what it waited for, and could be given up, was told nowhere."""
    world = cluster(4, t=(1, 3, [1]))
    first = world.open(1)
    world.fence(1)
    world.seal_all(150)
    (record,) = world.assign()
    assert stuck(awaited(world.image, world.table, [], being_rebuilt(world.image))) == []
    for target in first.backups:
        world.register(target.node_id, store="another")
    assert record.leader in world.image.brokers
    assert due_streamlets(world.image) == []
    (line,) = stuck(awaited(world.image, world.table, [], being_rebuilt(world.image)))
    assert line.startswith("1 streamlets wait for virtual segment 1/0/0: no broker with a copy is here")
    (lost,) = world.commit(decide_give_up(world.image, world.table, [record], no_owner_has_any(world)))
    assert lost.id == first.id
    assert stuck(awaited(world.image, world.table, [], being_rebuilt(world.image))) == []
    assert world.commit_all([world.streamlet("t")]) == [True]
    assert being_rebuilt(world.image) == {}


def test_the_owner_alone_can_lead_when_its_files_are_the_last_copy() -> None:
    world = back_with_the_last_copy()
    (record,) = world.assign()
    assert (record.leader, world.table.moved_upto) == (1, {})


def test_an_owner_with_a_new_directory_is_no_copy() -> None:
    """Rule 3."""
    world = back_with_the_last_copy("new")
    assert world.assign() == []


def test_an_empty_closed_one_needs_no_copy() -> None:
    """Rule 23: else recovery would wait for ever."""
    world = cluster(3, t=(1, 2, [1]))
    first = world.open(1, 0, 0, 2)
    world.open(1, 1, 0, 2, exclude=(first.backups[0].node_id,))
    world.fence(first.backups[0].node_id)
    world.fence(1)
    world.seal_all(0)
    assert len(world.assign()) == 1


def test_a_dead_broker_without_virtual_logs_is_replaced_at_once() -> None:
    world = cluster(3, t=(2, 3, [1, 2]))
    world.fence(1)
    assert world.plan().asks == []
    (record,) = world.assign()
    assert world.commit_all([record]) == [True]
    assert world.streamlet("t").sources == (world.epoch(record.leader),), (
        "an owner without anything is no source"
    )
    world.fence(record.leader)
    assert len(world.assign()) == (2 if record.leader == 2 else 1)


def test_a_topic_that_is_deleted_meanwhile_is_forgotten() -> None:
    world = cluster(3, t=(2, 3, [1, 1]), other=(1, 3, [1]))
    world.open(1)
    world.fence(1)
    due = due_streamlets(world.image)
    world.seal_all(20)
    world.delete("t")
    decision = decide_assign(world.image, world.table, due, led_now(world.image))
    assert [record.topic_id for record in decision.answer] == [world.image.topics["other"].topic_id]
    (record,) = world.commit(decision)
    world.delete("other")
    attempt = Attempt(record.topic_id, 0, record.leader_epoch)
    leader = record.leader
    assert decide_commit(world.image, world.table, leader, world.epoch(leader), [attempt]).answer == [False]


def test_batches_are_small_enough_for_every_store_and_spread_the_load() -> None:
    world = cluster(4, t=(250, 3, [1] * 250))
    world.open(1)
    world.fence(1)
    world.seal_all(20)
    load = led_now(world.image)
    due = due_streamlets(world.image)
    sizes = []
    while due:
        decision = decide_assign(world.image, world.table, due, load)
        assert len(decision.puts) <= 128
        sizes.append(len(world.commit(decision)))
        due = due_streamlets(world.image)
    assert sizes == [PER_TRANSACTION, PER_TRANSACTION, 50]
    led = led_now(world.image)
    assert sum(led.values()) == 250
    assert led[4] == 0, "replicas are 1, 2 and 3"
    assert abs(led[2] - led[3]) <= 1


def test_without_a_live_replica_any_broker_leads() -> None:
    world = cluster(5, t=(1, 3, [1]))
    world.open(1, exclude=(2, 3))
    for node in (1, 2, 3):
        world.fence(node)
    world.seal_all(20)
    (record,) = world.assign()
    assert record.leader in (4, 5)


def test_what_a_broker_gathered_it_gives_back_when_it_starts_again() -> None:
    """Only to the preferred leader, and only while that leads fewer."""
    world = cluster(3, t=(6, 3, [1, 2, 3, 1, 2, 3]))
    for node in (2, 3):
        world.fence(node)
        assert all(world.commit_all(world.assign()))
    assert led_now(world.image) == {1: 6}
    records = [world.streamlet("t", index) for index in range(6)]
    world.register(1)
    waits = [awaits_preferred(world.image, world.table, record) for record in records]
    assert waits == [False, True, True, False, True, True]
    world.register(2, 3)
    assert not any(awaits_preferred(world.image, world.table, record) for record in records)
    assert [record.leader for record in world.assign()] == [1, 2, 3, 1, 2, 3]


@pytest.mark.parametrize(
    ("load", "leader"), [({1: 5, 2: 4}, 2), ({1: 5, 2: 5}, 1), ({1: 0, 2: 3}, 1), ({1: 9, 3: 0, 2: 9}, 1)]
)
def test_who_leads_when_the_leader_is_back(load: dict[int, int], leader: int) -> None:
    record = StreamletRecord(bytes(16), 0, 1, 0, (2, 3, 1), sources=(1,))
    assert choose_leader(record, [1, 2, 3], Counter(load)) == leader
    assert choose_leader(record, [1, 3], Counter(load)) == 1


def test_all_brokers_restart_at_once() -> None:
    """Each comes back under a new epoch, in any order; everybody gets back what it led."""
    world = cluster(3, t=(6, 3, [1, 2, 3, 1, 2, 3]))
    for node in (1, 2, 3):
        world.open(node)
    world.register(1)
    asks = world.plan().asks
    for ask in asks:
        world.sealing.failed(ask, world.now)
    assert world.assign() == []
    world.register(3, 2)
    world.now += 1
    world.seal_all(70)
    assigned = world.assign()
    assert [record.leader for record in assigned] == [1, 2, 3, 1, 2, 3]
    assert all(world.commit_all(assigned))
    assert due_streamlets(world.image) == []


@pytest.mark.parametrize("step", ["fenced", "asked", "closed", "assigned", "committed"])
def test_the_controller_may_start_anew_after_any_step(step: str) -> None:
    """19b: what a new one finds in the records is enough to go on, and nothing is done twice."""
    world = cluster(3, t=(2, 3, [1, 1]))
    world.open(1)
    world.fence(1)
    if step != "fenced":
        world.plan()
    if step in ("closed", "assigned", "committed"):
        world.sealing = Sealing(STALL, PATIENCE)
        world.seal_all(33)
    if step in ("assigned", "committed"):
        world.assign()
    recovering = [world.streamlet("t", index) for index in (0, 1)]
    if step == "committed":
        assert world.commit_all(recovering[:1]) == [True]
    world.sealing = Sealing(STALL, PATIENCE)
    world.seal_all(33)
    again = world.assign()
    assert len(again) == (0 if step in ("assigned", "committed") else 2)
    assert world.commit_all([world.streamlet("t", index) for index in (0, 1)]) == [True, True]
    for index in (0, 1):
        record = world.streamlet("t", index)
        assert (record.state, record.leader_epoch) == (ONLINE, 1)
        assert record.sources == (1, world.epoch(record.leader))


def test_what_is_held_for_preferred_leaders_is_not_looked_for_record_by_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A controller of 5,000 partitions that start together was not to be heard for seven seconds."""
    partitions, compared = 300, 0
    equal = StreamletRecord.__eq__

    def counted(one: StreamletRecord, other: object) -> bool:
        nonlocal compared
        compared += 1
        return equal(one, other)

    async def run() -> None:
        cluster = SimCluster(3)
        await cluster.start()
        await cluster.topic("t", partitions, 3)
        for node in (3, 2):
            await cluster.leave(node)
            await cluster.sleep(1)
        monkeypatch.setattr(StreamletRecord, "__eq__", counted)
        await cluster.restart_controller()
        await cluster.sleep(0.2)
        held = due_streamlets(cluster.controller.image)
        await cluster.stop()
        assert 0 < len(held) < partitions

    run_virtual(run())
    assert compared <= partitions


def test_a_recovery_has_no_time_for_lost_copies_to_return_when_the_owner_is_here() -> None:
    """All that have what a broker handed over die at once; its journal has it: a copy is made at once."""

    async def run() -> None:
        cluster = SimCluster(4)
        await cluster.start()
        await cluster.topic("t", 8, 2)
        await cluster.write(2, 0, 0, 100, copies=2, exclude=[1])
        cluster.kill(2)
        await cluster.sleep(1)
        await cluster.restart(2)
        (vseg,) = cluster.controller.table.vsegs.values()
        assert vseg.end == 100
        cluster.kill(3, 4)
        await cluster.sleep(1)
        image = cluster.controller.image
        (vseg,) = cluster.controller.table.vsegs.values()
        await cluster.stop()
        assert [copy.node_id for copy in vseg.backups] == [1, 2]
        assert sorted(image.brokers) == [1, 2]
        assert due_streamlets(image) == []
        assert all(record.state == ONLINE for record in image.every_streamlet())

    run_virtual(run())


def test_who_begins_to_wait_for_a_copy_is_looked_after_though_nothing_else_changed() -> None:
    async def run() -> None:
        cluster = SimCluster(4)
        await cluster.start()
        upkeep = cluster.control._upkeep
        await cluster.sleep(3)
        before = upkeep.repairs()
        assert before["seen"] == before["changes"]
        for _ in range(2):
            upkeep.hurry({VsegId(1, 0, 0)})
            assert upkeep.repairs()["changes"] == before["changes"] + 1
        await cluster.sleep(0.01)
        assert upkeep.repairs()["seen"] == before["changes"] + 1
        await cluster.stop()

    run_virtual(run())


def test_the_controller_tells_what_a_member_cannot_rebuild() -> None:
    """The same with its loop: nothing is due, and still it looks what is waited for."""

    async def run() -> None:
        cluster = SimCluster(4)
        await cluster.start()
        await cluster.topic("t", 4, 3)
        vseg = await cluster.write(2, 0, 0, 100)
        for broker in cluster.brokers.values():
            broker.recovers = False
        cluster.kill(2)
        await cluster.sleep(1)
        assert cluster.control.stuck() == []
        for target in vseg.backups:
            await cluster.restart(target.node_id, wiped=True)
        await cluster.sleep(1)
        told = list(cluster.control.stuck())
        await cluster.stop()
        assert due_streamlets(cluster.controller.image) == []
        assert [line.partition(":")[0] for line in told] == [
            f"1 streamlets wait for virtual segment {vseg.id.owner_epoch}/0/0"
        ]

    run_virtual(run())
