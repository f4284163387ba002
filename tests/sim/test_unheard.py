"""The controller stands still, and then a backup does: brokers are put together so that they know of both."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from .clients import Clients
from .plan import Topic
from .test_rotten import QUIET, play
from .world import SESSION_S, World

SILENT_S = 0.45
"""How long the backup stands still: more than `kproto.backup.stall.ms` and the second look that follows."""


def stalls(world: World, number: int) -> int:
    """Segments that this broker closed because a backup was slow."""
    states: list[dict[str, Any]] = world.nodes[number].running._vlogs.state()
    return sum(state["stalls"] for state in states)


def test_a_slow_backup_is_waited_for_while_the_controller_is_silent() -> None:
    """What is closed has nowhere to go until there is a controller again."""
    world = World(0, replace(QUIET, topics=[Topic("two", 6, 2)], vseg_bytes=1 << 20))

    async def open_without_controller() -> tuple[int, int]:
        while True:
            for one in world.table.vsegs.values():
                if one.open and one.copies == 2 and one.backups and 1 not in (one.node_id, one.backups[0][0]):
                    return one.node_id, one.backups[0][0]
            await asyncio.sleep(0.1)
            world.look()

    async def slow(owner: int, backup: int) -> int:
        """Segments that were closed because of a backup that stood still."""
        before = stalls(world, owner)
        world.pause(backup)
        await asyncio.sleep(SILENT_S)
        world.resume(backup)
        await asyncio.sleep(0.2)
        return stalls(world, owner) - before

    async def scenario() -> None:
        await world.boot()
        clients = Clients(world)
        clients.begin()
        both = await open_without_controller()
        world.pause(1)
        await asyncio.sleep(SESSION_S * 0.5)
        assert await slow(*both) == 0
        world.resume(1)
        await asyncio.sleep(SESSION_S)
        assert await slow(*await open_without_controller()) > 0, "or this test would show nothing"
        await clients.stop()
        world.look()

    play(world, scenario())
