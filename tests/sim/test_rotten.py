"""A copy of a virtual segment is damaged: the only listed one of a closed one, and its owner has files
(17, 18b, 37, 45); the last frame of an open one (24c)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import pytest

from kproto.metadata.vlogs import CopyTarget, VsegRecord
from kproto.replica.stored_file import file_name
from kproto.vlog.frame import FILE_HEADER_SIZE
from kproto.vlog.journal import file_name as journal_name

from .checks import Checks
from .clients import Clients
from .disk import Inode, Machine
from .parts import installed
from .plan import Topic, plan_of
from .reading import Reading
from .world import SESSION_S, World

QUIET = replace(
    plan_of(0),
    kind="kills",
    nodes=3,
    topics=[Topic("two", 1, 2)],
    vlogs=1,
    vseg_bytes=6_000,
    moves=False,
    shared=False,
    deletes=False,
    hasty=False,
    min_insync=1,
    pace=0.7,
)


def closed_ones(world: World) -> list[VsegRecord]:
    return [one for one in world.table.vsegs.values() if not one.open and not one.empty and one.backups]


async def filled(world: World, count: int) -> list[VsegRecord]:
    """Wait for closed virtual segments; the oldest of them."""
    while len(closed_ones(world)) < count:
        await asyncio.sleep(0.1)
        world.look()
    return closed_ones(world)[:count]


def copy_of(world: World, vseg: VsegRecord, target: CopyTarget) -> tuple[Machine, Inode]:
    """The file of a backup's copy, and the machine that has it."""
    machine = world.machines[target.node_id]
    inode = machine.find(f"{machine.root}/replicas/{file_name(vseg.id)}")
    assert inode is not None
    return machine, inode


def play(world: World, scenario: Coroutine[Any, Any, None]) -> None:
    with installed(world):
        try:
            world.loop.run_until_complete(asyncio.wait_for(scenario, 120))
        finally:
            world.close()


@pytest.mark.parametrize("owner_restarts", [False, True])
def test_what_was_in_it_is_pushed_again(owner_restarts: bool) -> None:
    world = World(0, QUIET)

    async def scenario() -> None:
        checks = Checks(world)
        await world.boot()
        clients = Clients(world)
        clients.begin()
        bad, *_ = await filled(world, 3)
        (target,) = bad.backups
        await asyncio.sleep(3.0)  # its journal is not needed any more
        checks.rotting(target.node_id, bad.id)
        machine, inode = copy_of(world, bad, target)
        machine.rot(inode, len(inode.data) // 2, 64)
        restarted = [target.node_id, bad.node_id][: 1 + owner_restarts]
        for number in restarted:
            world.crash(number)
        for number in restarted:
            world.start(number)
        await checks.settle(clients)
        left = world.table.vsegs.get(bad.id)
        assert left is None or left.emptied or (left.backups and checks.intact(bad.id, left.backups[0]))
        await clients.stop()
        await Reading(world, checks.leading.leaders).finish(clients)
        world.look()

    play(world, scenario())


@pytest.mark.parametrize("controller_too", [False, True])
def test_it_stays_listed_when_both_lost_their_power(controller_too: bool) -> None:
    """Its owner may have lost more of it, and is taken for alive until it is back. When it has all of it, it
    pushes it again (45)."""
    world = World(0, replace(QUIET, topics=[Topic("two", 3, 2)]))

    async def scenario() -> None:
        checks = Checks(world)
        await world.boot()
        clients = Clients(world)
        clients.begin()
        while not (able := [one for one in closed_ones(world) if 1 not in (one.node_id, one.backups[0][0])]):
            await asyncio.sleep(0.1)
            world.look()
        bad = able[0]
        (target,) = bad.backups
        await clients.stop()
        checks.rotting(target.node_id, bad.id)
        machine, inode = copy_of(world, bad, target)
        machine.rot(inode, len(inode.data) // 2, 64)
        dark = [1] * controller_too + [target.node_id, bad.node_id]
        for number in dark:
            checks.losing_power(number)
            world.power_loss(number)
        for number in dark:
            world.start(number)
            await asyncio.sleep(1.0)
        for _ in range(120):
            await asyncio.sleep(0.5)
            world.look()
            record = world.table.vsegs.get(bad.id)
            if record is None or record.emptied:
                break
            assert target in record.backups
        else:
            return
        image = world.image
        (there,) = [
            ledger
            for ledger in clients.ledgers
            if bad.id.owner_epoch
            in image.partition_streamlet(image.topics[ledger.topic], ledger.index).sources
        ]
        await Reading(world, checks.leading.leaders).read_all(clients, there)
        assert there.acked
        world.look()

    play(world, scenario())


async def with_an_open_one(world: World) -> tuple[Checks, Clients, VsegRecord]:
    """Clients have written something, and are done: a virtual segment with three copies is open, and all that
    it has was acknowledged."""
    checks = Checks(world)
    await world.boot()
    clients = Clients(world)
    clients.begin()
    await filled(world, 1)
    await clients.stop()
    await asyncio.sleep(1.0)
    (opened,) = [one for one in world.table.vsegs.values() if one.open and one.copies == 3]
    return checks, clients, opened


@pytest.mark.parametrize("later", [None, 0.3, 3.0])
def test_the_last_frame_of_an_open_copy_is_not_the_end_for_all(later: float | None) -> None:
    """It was acknowledged, and looks as if it had been torn by a kill. The other backup has it: it lives, or
    was killed, too, and is back so many seconds ``later``. The torn one is back when half of the time is over
    that others are waited for: if the other one's session ends before, the owner is asked, which has all."""
    world = World(0, replace(QUIET, topics=[Topic("three", 1, 3)]))

    async def scenario() -> None:
        checks, clients, bad = await with_an_open_one(world)
        target, other = bad.backups
        copies = [world.nodes[each.node_id].store.copies[bad.id] for each in (target, other)]
        end = copies[0].end
        assert bad.start < end == copies[1].end
        checks.rotting(target.node_id, bad.id)
        machine, inode = copy_of(world, bad, target)
        killed = [bad.node_id, target.node_id] + ([] if later is None else [other.node_id])
        for number in killed:
            world.crash(number)
        machine.rot(inode, FILE_HEADER_SIZE + end - bad.start - 1, 1)
        for number in killed:
            if number == other.node_id:
                await asyncio.sleep(later or 0.0)
            elif number == target.node_id and later is not None and later > SESSION_S:
                await asyncio.sleep(SESSION_S / 2)
            world.start(number)
        while (now := world.table.vsegs[bad.id]).open:
            await asyncio.sleep(0.1)
            world.look()
        assert now.end == end
        assert later is not None or now.backups == (other,)
        await Reading(world, checks.leading.leaders).finish(clients)
        world.look()

    play(world, scenario())


def test_a_copy_that_a_kill_tore_makes_up_for_what_its_owner_lacks() -> None:
    """All three are killed, one backup in a write; the other one stays away. The owner's last frame, that was
    acknowledged, is damaged: the torn one has it."""
    world = World(0, replace(QUIET, topics=[Topic("three", 1, 3)]))

    async def scenario() -> None:
        checks, clients, bad = await with_an_open_one(world)
        target, other = bad.backups
        end = world.nodes[target.node_id].store.copies[bad.id].end
        checks.rotting(bad.node_id, bad.id)
        for number in (bad.node_id, target.node_id, other.node_id):
            world.crash(number)
        _, torn = copy_of(world, bad, target)
        torn.data[FILE_HEADER_SIZE + end - bad.start] = 1
        owner = world.machines[bad.node_id]
        journal = owner.find(f"{owner.root}/journal/{journal_name(*bad.id)}")
        assert journal is not None
        owner.rot(journal, FILE_HEADER_SIZE + end - bad.start - 1, 1)
        world.start(bad.node_id)
        await asyncio.sleep(SESSION_S / 2)
        world.start(target.node_id)
        while (now := world.table.vsegs[bad.id]).open:
            await asyncio.sleep(0.1)
            world.look()
        assert (now.end, now.backups, now.shortened) == (end, (target,), True)
        world.start(other.node_id)
        await Reading(world, checks.leading.leaders).finish(clients)
        world.look()

    play(world, scenario())
