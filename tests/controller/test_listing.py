"""A copy that was made is listed as long as its broker keeps it for that, and not later (rule 17)."""

from __future__ import annotations

from kproto.controller import upkeep
from kproto.controller.decision import Decision
from kproto.controller.repair import Repairs, decide_repaired
from kproto.metadata.vlogs import VsegRecord
from kproto.net.ports import Done
from kproto.replica.repair import REPORT_SECONDS
from kproto.replica.store import HELD_S
from kproto.wire.internal import Api

from .cluster_world import nodes
from .sim_cluster import SimBroker, SimCluster
from .test_repair import closed_one, orders
from .virtual_time import run_virtual

ANSWER_S = HELD_S + 10


class LateCluster(SimCluster):
    """The first answer to REPAIR takes long; the copy that it tells of is given up meanwhile."""

    def __init__(self, brokers: int, *overrides: tuple[str, str]) -> None:
        super().__init__(brokers, *overrides)
        self.asked: list[int] = []
        """Brokers that were told to make a copy."""

    def _serve(self, broker: SimBroker, api: int, body: memoryview, done: Done) -> None:
        if api != Api.REPAIR:
            super()._serve(broker, api, body, done)
            return
        self.asked.append(broker.node)
        if len(self.asked) > 1:
            super()._serve(broker, api, body, done)
            return
        super()._serve(broker, api, body, lambda answer: self.loop.call_later(ANSWER_S, done, answer))
        self.loop.call_later(HELD_S, self._give_up, broker)

    def _give_up(self, broker: SimBroker) -> None:
        """As `ReplicaStore` does with what it holds and metadata does not list."""
        for vseg in list(broker.directory.copies):
            if all(copy.node_id != broker.node for copy in self.controller.table.vsegs[vseg].backups):
                del broker.directory.copies[vseg]

    def record(self) -> VsegRecord:
        """The only virtual segment."""
        (record,) = self.controller.table.vsegs.values()
        return record


async def short_of_a_copy() -> LateCluster:
    """One that is closed, and lost a backup for good."""
    cluster = LateCluster(4)
    await cluster.start()
    await cluster.topic("t", 4, 3)
    vseg = await cluster.write(1, 1, 0, 1000)
    args = {"vsegs": [[vseg.id.vlog, vseg.id.seq, 1000]]}
    await cluster.controller.proposals.handle(1, cluster.brokers[1].epoch, "close_vsegs", args)
    cluster.kill(vseg.backups[0].node_id)
    while not cluster.asked:
        await cluster.sleep(1)
    return cluster


def test_an_answer_that_came_late_lists_no_copy_that_may_be_gone() -> None:
    """Its broker is asked anew, and makes it anew where it has to."""

    async def run() -> None:
        cluster = await short_of_a_copy()
        await cluster.sleep(ANSWER_S + 5)
        listed = [copy.node_id for copy in cluster.record().backups]
        assert cluster.asked == [cluster.asked[0]] * 2
        assert cluster.asked[0] in listed
        assert all(cluster.record().id in cluster.brokers[node].directory.copies for node in listed)
        await cluster.stop()

    run_virtual(run())


def test_a_decision_that_comes_late_lists_no_copy_either() -> None:
    """What was decided before it took as long."""

    async def run() -> None:
        cluster = await short_of_a_copy()
        before = cluster.record().backups
        await cluster.sleep(ANSWER_S - 1)
        async with cluster.controller._busy:
            await cluster.sleep(ANSWER_S)
            assert len(cluster.asked) == 2
            later = cluster.controller.decide(lambda: Decision(cluster.record().backups))
            seen = cluster.loop.create_task(later)
            await cluster.sleep(1)
        assert await seen == before
        await cluster.stop()

    run_virtual(run())


def test_a_copy_is_held_for_as_long_as_its_answer_counts_and_as_long_again() -> None:
    """For the decision is still to be written, and heard of; an order that takes long is answered in time."""
    assert REPORT_SECONDS < upkeep.LISTED_SECONDS
    assert 2 * upkeep.LISTED_SECONDS <= HELD_S


def test_a_copy_is_listed_only_for_the_process_that_made_it() -> None:
    """The next one on the same directory has deleted it: metadata did not list it when that began."""
    world, vseg = closed_one()
    world.fence(vseg.backups[0].node_id)
    (order,) = orders(world, Repairs(0))
    target = order.target.node_id
    world.register(target)
    assert not world.commit(decide_repaired(world.image, world.table, order))
    assert target not in nodes(world.table.vsegs[vseg.id].backups)
    (again,) = orders(world, Repairs(0))
    assert again.target == order.target
    assert world.commit(decide_repaired(world.image, world.table, again))
    assert target in nodes(world.table.vsegs[vseg.id].backups)
