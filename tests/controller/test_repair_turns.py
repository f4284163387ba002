"""Who is asked for a missing copy, and what comes next (rule 17)."""

from __future__ import annotations

from kproto.controller.decision import Decision
from kproto.controller.repair import RETRY_SECONDS, Repair, Repairs
from kproto.metadata.vlogs import CopyTarget, VsegId
from kproto.wire.internal import InternalError

from .cluster_world import World
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
