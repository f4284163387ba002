"""All machines lose their power at once, with topics that always synced beside one that never does (12c, 22).

Some seeds of the kind ``synced`` go through that when their faults have ended. The topic without syncs waits
for an operator then, who says that its loss is accepted, or deletes it; those with flush.messages=1 from the
beginning wait for nobody.
"""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from kproto.controller import NewTopic, TopicRef, rules
from kproto.controller.leader_choice import ElectionType, all_partitions, elect, is_led
from kproto.errors import KafkaError
from kproto.vlog.classes import FlushPolicy

from .clients import Consumer, Ledger, Unanswered, make_chunk, produce
from .patience import SETTLE_SECONDS
from .two_disks import in_controller
from .visitors import _plain

if TYPE_CHECKING:
    from kproto.controller import Controller
    from kproto.metadata import TopicRecord

    from .checks import Checks
    from .clients import Clients
    from .faults import Faults
    from .world import World

LOOSE = "loose"
LOOK_S = 0.1


async def blackout(world: World, clients: Clients, checks: Checks, faults: Faults) -> None:
    """See the module's text. The world is at rest before, and afterwards."""
    random = Random(f"blackout {world.seed}")
    if world.plan.kind != "synced" or not world.power_may_go or random.random() < 0.4:
        return
    partitions = random.choice((1, len(world.nodes)))
    await _make(world, clients, partitions)
    for index in range(partitions):
        await _write(world, clients, index, random)
    faults.power_loss_of_all()
    for vseg, record in world.table.vsegs.items():
        if record.open and record.policy != FlushPolicy.SYNCED:
            checks.durable.pop(vseg, None)  # the loss of that will be accepted
    await _come_back(world)
    waits = any(rules.is_sealing(world.image, vseg) for vseg in world.table.vsegs.values())
    world.count("blackout: others wait" if waits else "blackout: nobody waits")
    if random.random() < 0.5:
        await _delete(world, clients)
    while _unled(world):
        await _accept(world, clients)
        checks.look()
        world.look()
    await checks.settle(clients)
    await _delete(world, clients)
    await checks.settle(clients)


async def _come_back(world: World) -> None:
    """L1 without an operator."""
    until = world.loop.now + SETTLE_SECONDS
    while not all(node.serving for node in world.nodes.values()) or _waiting(world):
        await asyncio.sleep(LOOK_S)
        world.look()
        if world.loop.now > until:
            world.failed(f"L1: they always synced, and do not come back by themselves: {_waiting(world)}")
            world.look()


async def _make(world: World, clients: Clients, partitions: int) -> None:
    new = NewTopic(LOOSE, partitions, 3)
    while LOOSE not in world.image.topics:
        with contextlib.suppress(KafkaError, Unanswered):
            await in_controller(world, clients, lambda one: one.create_topics([new]))
        await asyncio.sleep(LOOK_S)
        world.look()


async def _write(world: World, clients: Clients, index: int, random: Random) -> None:
    """Something is acknowledged in the partition, so that a virtual segment without syncs is open."""
    reader = Consumer(clients, Ledger(world, LOOSE, index, 3))
    until = world.loop.now + SETTLE_SECONDS
    while world.loop.now < until:
        reader._look()
        chunk = _plain(make_chunk(-1, -1, 1, random.choice((20, 3_000)), world.clock.wall_ms()))
        if reader.leader < 0:
            await asyncio.sleep(LOOK_S)
            continue
        with contextlib.suppress(KafkaError, Unanswered):
            await clients.ask(reader.leader, partial(produce, ledger=reader.ledger, batches=[chunk]))
            return
        await asyncio.sleep(LOOK_S)
        world.look()
    world.failed(f"L2: {LOOSE}-{index} takes nothing")


def _safe(world: World) -> list[TopicRecord]:
    return [topic for topic in world.image.topics.values() if topic.weakest == FlushPolicy.SYNCED]


def _waiting(world: World) -> list[str]:
    """Partitions that always synced, and that nobody leads."""
    return [
        f"{topic.name}/{record.index}"
        for topic in _safe(world)
        for record in world.image.streamlets[topic.topic_id]
        if len(record.replicas) > 1 and not is_led(world.image, record)
    ]


def _unled(world: World) -> bool:
    return any(not is_led(world.image, record) for part in world.image.streamlets.values() for record in part)


async def _accept(world: World, clients: Clients) -> None:
    """The command, for all that has no leader."""

    async def work(controller: Controller) -> None:
        names = all_partitions(controller.image)
        await elect(controller, ElectionType.UNCLEAN, names, 0.5, named=False)

    with contextlib.suppress(KafkaError, Unanswered):
        await in_controller(world, clients, work)
        world.count("blackout: loss accepted")
    await asyncio.sleep(LOOK_S)


async def _delete(world: World, clients: Clients) -> None:
    while LOOSE in world.image.topics:
        with contextlib.suppress(KafkaError, Unanswered):
            await in_controller(world, clients, lambda one: one.delete_topics([TopicRef(LOOSE)]))
        await asyncio.sleep(LOOK_S)
        world.look()
