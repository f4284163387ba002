"""One seed from begin to end: boot, faults, healing, the last checks."""

from __future__ import annotations

import asyncio
import gc
import logging
import traceback
from collections import Counter
from dataclasses import dataclass
from typing import Any

from . import two_disks
from .bereft import bereft
from .blackout import blackout
from .checks import Checks
from .clients import Clients
from .damage import Damage
from .faults import Faults
from .garbage import Garbage
from .late import Late
from .moves import Moves
from .parts import installed
from .plan import plan_of
from .reading import Reading
from .world import Complaints, Violation, World

MOST_SECONDS = 240.0
"""Of virtual time..."""
MOST_BYTES = 8_000_000
"""...and what it takes to read so much where copies may be read only slowly: whatever waits has a limit of
its own, in proportion to what there is (`patience`)."""
SECONDS_PER_COPY = 2.0
"""More, where all is deleted at the end: virtual segments may go one after the other (seed 30093004)."""
OWN_FAULT = "the simulation itself"


@dataclass
class Outcome:
    """``violation`` is empty when all was well."""

    seed: int
    violation: str
    cover: Counter[str]
    lines: list[str]
    seconds: float = 0.0

    @property
    def caught(self) -> str:
        """The violation, unless the simulation itself came to grief: that says nothing about a rule."""
        return "" if self.violation.startswith(OWN_FAULT) else self.violation


def run_seed(seed: int, replaced: Any = (), plan: Any = None) -> Outcome:
    """Run a seed, with rules replaced. All its garbage is collected at the end, and nothing of it is left."""
    gc.disable()
    try:
        return _run(seed, replaced, plan)
    finally:
        gc.collect(0)  # with the collector off all of it is in the youngest generation
        gc.enable()


def _run(seed: int, replaced: Any, plan: Any) -> Outcome:
    world = World(seed, plan or plan_of(seed), replaced)
    complaints = Complaints(world)
    logger = logging.getLogger("kproto")
    levels = logger.level, logger.propagate
    logger.addHandler(complaints)
    logger.setLevel(logging.ERROR)
    logger.propagate = False
    violation = ""
    most = MOST_SECONDS + (MOST_BYTES / world.plan.rate if world.plan.rate else 0.0)
    try:
        with installed(world):
            try:
                checks, clients = world.loop.run_until_complete(asyncio.wait_for(_scenario(world), most))
                world.look()
                if world.plan.emptied:
                    most += SECONDS_PER_COPY * sum(1 + len(one.backups) for one in world.table.vsegs.values())
                    emptying = Garbage(world, checks).clear(clients)
                    world.loop.run_until_complete(asyncio.wait_for(emptying, most))
                    world.look()
            except Violation as error:
                violation = str(error)
            except TimeoutError:
                violation = f"L: not at rest after {most:.0f} s"
            except Exception as error:
                violation = f"{OWN_FAULT}: {error!r}"
                world.note(traceback.format_exc())
            finally:
                world.close()
    finally:
        logger.removeHandler(complaints)
        logger.setLevel(levels[0])
        logger.propagate = levels[1]
    return Outcome(seed, violation, world.cover, world.lines)


async def _scenario(world: World) -> tuple[Checks, Clients]:
    """All but what is emptied at the end."""
    checks = Checks(world)
    await world.boot()
    clients = Clients(world)
    clients.begin()
    damage = Damage(world, checks)
    checks.still_damaged = damage.look
    faults = Faults(world, clients, checks, damage)
    late = asyncio.get_running_loop().create_task(Late(world, clients, faults).run())
    moving = asyncio.get_running_loop().create_task(Moves(world).run()) if world.plan.moves else None
    await faults.run()
    if moving is not None:
        moving.cancel()
    await late
    faults.heal()
    await checks.settle(clients)
    await blackout(world, clients, checks, faults)
    await bereft(world, clients, checks)
    if world.plan.two_disks or world.plan.growing:
        await two_disks.lose_two(world, clients, checks)
    await clients.stop()
    checks.compare_copies()
    world.look()
    await Reading(world, checks.leading.leaders).finish(clients)
    if clients.groups is not None:
        await clients.groups.rest()
        await clients.groups.end()
    return checks, clients
