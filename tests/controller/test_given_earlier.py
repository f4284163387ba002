"""What becomes of the files that an owner has from before it started again, when it gives streamlets away
(rules 2b, 12b, 17)."""

from __future__ import annotations

import pytest

from kproto.controller import rules
from kproto.controller.missing import wanted_copies
from kproto.controller.moves import HandOver, Wish, decide_handed_over, decide_moves
from kproto.controller.recovery import awaited, due_streamlets, stuck
from kproto.controller.retiring import decide_retire
from kproto.controller.sources import owner_has
from kproto.controller.vsegs import decide_close_vsegs
from kproto.metadata.records import ONLINE
from kproto.metadata.vlogs import VsegRecord
from tests.controller.cluster_world import World, cluster


def started_again(**topics: tuple[int, int, list[int]]) -> tuple[World, VsegRecord]:
    """Broker 1 of four wrote a virtual segment with two copies, was killed, and leads again: all others were
    away, too, or it has the only controller."""
    world = cluster(4, **topics)
    first = world.open(1, copies=2)
    world.register(1)
    world.seal_all(500)
    world.commit_all(world.assign())
    return world, world.table.vsegs[first.id]


def retire(world: World) -> None:
    ends = [(vseg.id, vseg.start + 10) for vseg in world.table.open_vsegs() if vseg.node_id == 1]
    world.commit(decide_retire(world.image, world.table, 1, world.epoch(1), ends))


def hand_over(world: World) -> None:
    """As a planned move of the streamlet to broker 3."""
    topic_id = world.streamlet("t").topic_id
    ends = [(vseg.id, vseg.start + 10) for vseg in world.table.open_vsegs() if vseg.node_id == 1]
    world.commit(decide_close_vsegs(world.image, world.table, 1, ends))
    (move,) = world.commit(decide_moves(world.image, world.table, [Wish(topic_id, 0, 3)]))
    given = [HandOver(topic_id, 0, move.leader_epoch, move.began)]
    upto = [(vseg.vlog, vseg.seq) for vseg, _ in ends]
    decision = decide_handed_over(world.image, world.table, 1, world.epoch(1), given, upto)
    assert world.commit(decision) == [True]


@pytest.mark.parametrize("give", [retire, hand_over])
def test_what_it_wrote_before_it_started_again_wants_all_copies_when_it_is_given_away(give: object) -> None:
    """It counted as a copy, but its files go when another broker leads: there was one copy less than told."""
    world, first = started_again(t=(1, 2, [1]))
    world.open(1, copies=2)
    assert wanted_copies(world.image, world.table, first) == 1
    give(world)  # type: ignore[operator]
    assert {wanted_copies(world.image, world.table, one) for one in world.table.vsegs.values()} == {2}
    assert rules.may_come_back(world.image, world.table, first) == frozenset()
    world.commit_all([world.streamlet("t")])
    world.register(1)
    assert wanted_copies(world.image, world.table, first) == 2
    assert not owner_has(world.image, world.table, world.streamlet("t"), first)


@pytest.mark.parametrize("give", [retire, hand_over])
def test_who_gave_it_away_cannot_lead_it_again_without_a_copy(give: object) -> None:
    """The backup loses its disk and the new leader dies: who had it long ago must not lead it without it."""
    world, first = started_again(t=(1, 2, [1]))
    world.open(1, copies=2)
    give(world)  # type: ignore[operator]
    record = world.streamlet("t")
    world.commit_all([record])
    (backup,) = first.backups
    world.register(backup.node_id, store="another")
    world.seal_all(10)
    if record.leader in world.image.brokers:
        world.fence(record.leader)
    assert world.assign() == []
    (line, *_) = stuck(awaited(world.image, world.table, due_streamlets(world.image)))
    assert "1/0/0" in line


def test_what_it_did_not_give_away_is_still_its_own_when_others_went() -> None:
    """u has two copies, and one of its backups lost its disk; then the leader was stopped, and gave t away.
    When it was back, with all of u in its files, these did not count, because it had led u before, too."""
    world, _ = started_again(t=(1, 3, [1]), u=(1, 2, [1]))
    old = world.open(1, vlog=1, copies=2)
    (backup,) = old.backups
    world.open(1, vlog=1, seq=1, start=500, copies=2, exclude=(backup.node_id,))
    world.open(1, vlog=2)
    world.register(backup.node_id, store="another")
    retire(world)
    assert (world.streamlet("t").leader != 1, world.streamlet("u").leader) == (True, 1)
    for _ in range(2):
        world.fence(1)
        world.register(1)
        world.seal_all(10)
        (record,) = world.assign()
        assert (record.topic_id, record.leader) == (world.streamlet("u").topic_id, 1)
        assert world.commit_all([record]) == [True]
        assert world.streamlet("u").state == ONLINE
