"""An owner's own files when the end of what it left open is given up (rules 18b, 21, 22)."""

from __future__ import annotations

import pytest

from kproto.controller.sealing import RETRY_SECONDS, decide_close

from .cluster_world import PATIENCE
from .test_sealing import both_in_limbo, owner_died


def test_an_owner_that_was_started_again_at_once_has_failed_to_answer_nobody_yet() -> None:
    """It was never seen to be away; as the time of the process before it was over, all that it has was given
    up while it was starting."""
    world = owner_died()
    vseg = world.table.open_vsegs()[0]
    for target in vseg.backups:
        world.register(target.node_id, store=f"new{target.node_id}")
    world.register(vseg.node_id)
    world.plan()
    world.now += PATIENCE
    (ask,) = world.plan().asks
    world.sealing.accept_loss([vseg.id])
    world.sealing.failed(ask, world.now)
    world.now += PATIENCE - 1
    world.register(vseg.node_id)
    (ask,) = world.plan().asks
    world.now += 1
    assert world.close() == [], "it was asked a second ago"
    world.sealing.failed(ask, world.now)
    world.now += RETRY_SECONDS
    (ask,) = world.plan().asks
    world.answer(ask, 200)
    (closed,) = world.close()
    assert (closed.end, closed.backups, closed.shortened) == (200, (), False)


@pytest.mark.parametrize("store", ["", "new"])
@pytest.mark.parametrize("limbo", [False, True])
def test_an_owner_that_is_gone_by_the_time_it_is_decided_does_not_decide(limbo: bool, store: str) -> None:
    """Others have most of it, and would be listed no more: with the owner's disk all would be lost."""
    world = both_in_limbo()
    vseg = world.table.open_vsegs()[0]
    world.register(vseg.node_id, power_lost=True)
    world.now += PATIENCE
    (ask,) = world.plan().asks
    world.sealing.accept_loss([vseg.id])
    world.answer(ask, 200, limbo=limbo)
    plan = world.sealing.plan(world.image, world.table, world.now)
    assert [(close.end, close.copies) for close in plan.closes] == [(200, ())]
    world.fence(vseg.node_id)
    if store:
        world.register(vseg.node_id, store=store)
    assert world.commit(decide_close(world.image, world.table, plan.closes)) == []
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (170, vseg.backups[:1])
