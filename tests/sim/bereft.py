"""A topic of two copies loses both of some of what it had, and its loss is accepted.

Some seeds of the kind ``disks`` end like that: beside their topics of three copies, which must not lose
anything, there is one whose records are in several virtual segments, perhaps of two owners; then an owner and
one of its backups lose their disks. What no copy is left of is given up by command. The topic's log starts
behind it, is whole from there on, and is as good as any other (17, 18b, 27b, 44).
"""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from kproto.controller import NewTopic
from kproto.controller.leader_choice import ElectionType, elect
from kproto.controller.reassignment import NewReplicas
from kproto.errors import KafkaError

from .blackout import LOOK_S, LOOSE, _delete, _unled
from .clients import Consumer, Ledger, Unanswered, make_chunk, produce
from .patience import SETTLE_SECONDS, Patience
from .two_disks import _copies, _reassign, _start, _survives, _with_only_copies, brought_over, in_controller
from .visitors import _plain

if TYPE_CHECKING:
    from kproto.controller import Controller
    from kproto.metadata.vlogs import VsegRecord

    from .checks import Checks
    from .clients import Clients
    from .world import World

COPIES = 2
VSEGS = 3
"""So many closed virtual segments there are to be."""


async def bereft(world: World, clients: Clients, checks: Checks) -> None:
    """See the module's text. The world is at rest before, and afterwards."""
    random = Random(f"bereft {world.seed}")
    plan = world.plan
    if plan.kind != "disks" or plan.nodes < 4 or plan.two_disks or random.random() < 0.5:
        return
    await brought_over(world)
    await _make(world, clients)
    await _fill(world, clients, random, VSEGS)
    if random.random() < 0.5:
        await _move(world, clients, random)
        await _fill(world, clients, random, VSEGS + random.randint(0, 3))
    pair = _pair(world, checks, random)
    if pair is not None:
        await _lose(world, clients, checks, pair, random)
        await checks.settle(clients)
        await _write(world, clients, random)
        await _read(world, clients)
    await _delete(world, clients)
    await checks.settle(clients)
    checks.at_owner = set()


def _loose(world: World) -> list[VsegRecord]:
    """Virtual segments that hold nothing of others."""
    return [one for one in world.table.vsegs.values() if one.copies == COPIES and not one.empty]


async def _make(world: World, clients: Clients) -> None:
    while LOOSE not in world.image.topics:
        with contextlib.suppress(KafkaError, Unanswered):
            await in_controller(world, clients, lambda one: one.create_topics([NewTopic(LOOSE, 1, COPIES)]))
        await asyncio.sleep(LOOK_S)
        world.look()


async def _move(world: World, clients: Clients, random: Random) -> None:
    """Another leader, which may have brought over all, some or none of it when its owner is lost."""
    wanted = [NewReplicas(LOOSE, 0, tuple(random.sample(list(world.nodes), COPIES)))]
    with contextlib.suppress(KafkaError, Unanswered):
        await in_controller(world, clients, partial(_reassign, wanted))
    await asyncio.sleep(random.choice((0.5, 2.0)) * random.random())


async def _fill(world: World, clients: Clients, random: Random, count: int) -> None:
    """Write until there are so many closed virtual segments."""
    until = world.loop.now + SETTLE_SECONDS
    while sum(not one.open for one in _loose(world)) < count and world.loop.now < until:
        await _write(world, clients, random)


async def _write(world: World, clients: Clients, random: Random) -> None:
    """Something is acknowledged."""
    reader = Consumer(clients, Ledger(world, LOOSE, 0, COPIES))
    until = world.loop.now + SETTLE_SECONDS
    while world.loop.now < until:
        reader._look()
        size = random.choice((20, 700, 3_000, 9_000))
        chunks = [_plain(make_chunk(-1, -1, 2, size, world.clock.wall_ms())) for _ in range(3)]
        if reader.leader >= 0:
            with contextlib.suppress(KafkaError, Unanswered):
                await clients.ask(reader.leader, partial(produce, ledger=reader.ledger, batches=chunks))
                return
        await asyncio.sleep(LOOK_S)
        world.look()
    world.failed(f"L2: {LOOSE} takes nothing")
    world.look()


def _pair(world: World, checks: Checks, random: Random) -> tuple[int, int] | None:
    """An owner and one of its backups, without which all others have everything."""
    acting = world.acting()
    spared = _with_only_copies(world) | ({acting[0].node} if acting is not None else set())
    pairs = {(one.node_id, target.node_id) for one in _loose(world) for target in one.backups}
    able = [
        pair
        for pair in sorted(pairs)
        if not spared & {*pair} and _survives(world, checks, pair, lambda one: one.copies != COPIES)
    ]
    return random.choice(able) if able else None


async def _lose(
    world: World, clients: Clients, checks: Checks, pair: tuple[int, int], random: Random
) -> None:
    every = world.table.vsegs.values()
    loose = {one.id for one in every if one.copies == COPIES}
    checks.accepted |= loose
    checks.at_owner = loose | {
        one.id for one in every if not one.empty and not _copies(world, checks, one, pair)
    }
    world.note(f"n{pair[0]} and n{pair[1]} lose their disks, and with them some of {LOOSE}")
    for number in pair:
        checks.losing_disk(number)
        world.wipe(number)
    for vseg in loose:
        checks.durable.pop(vseg, None)  # the loss of that will be accepted
    world.count("bereft")
    await _start(world, pair)
    patience = Patience(world, checks.missing_bytes())
    while _waits(world, checks) or not all(node.serving for node in world.nodes.values()):
        await asyncio.sleep(random.choice((0.1, 1.0, 3.0)))
        await _accept(world, clients)
        checks.look()
        world.look()
        if patience.over:
            world.failed(f"L1: the loss was accepted, and {LOOSE} is not led, or waits for what it had")
            world.look()


def _waits(world: World, checks: Checks) -> bool:
    """The topic has no leader, or one that waits for what nobody has."""
    left = [one for one in _loose(world) if not one.open and one.backups and not checks._copies(one)]
    return _unled(world) or bool(left)


async def _accept(world: World, clients: Clients) -> None:
    """The command, for a partition that is named: it loses what a broker may have that is away, too."""

    async def work(controller: Controller) -> None:
        await elect(controller, ElectionType.UNCLEAN, [(LOOSE, 0)], 0.5)

    with contextlib.suppress(KafkaError, Unanswered):
        await in_controller(world, clients, work)
        world.count("bereft: loss accepted")


async def _read(world: World, clients: Clients) -> None:
    """All that is left can be read, in one piece."""
    reader = Consumer(clients, Ledger(world, LOOSE, 0, COPIES))
    until = world.loop.now + SETTLE_SECONDS
    while world.loop.now < until:
        reader._look()
        before = reader.offset
        if reader.leader >= 0:
            await reader.poll(reader.offset or -1, 20_000)
            if reader.offset and reader.offset == reader.high_watermark:
                world.count("bereft: some was lost", reader.log_start > 0)
                return
        if reader.offset == before:
            await asyncio.sleep(LOOK_S)
        world.look()
    world.failed(f"L2: {LOOSE} can be read up to {reader.offset}, not {reader.high_watermark}")
    world.look()
