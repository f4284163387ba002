"""An open copy is damaged where the file cannot tell that it was longer; another backup has all of it, and
answers (21, 24c, 24f)."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from .plan import Topic
from .reading import Reading
from .test_rotten import QUIET, copy_of, play, with_an_open_one
from .world import World


@pytest.mark.parametrize("zeros", [False, True], ids=["after a power loss", "zeros"])
def test_the_damaged_copy_does_not_say_where_it_ends(zeros: bool) -> None:
    """Its first sector is another one: nothing of it seems to have been there."""
    topic = Topic("three", 1, 3, {} if zeros else {"flush.messages": "1"})
    world = World(0, replace(QUIET, kind="kills" if zeros else "synced", topics=[topic]))

    async def scenario() -> None:
        checks, clients, bad = await with_an_open_one(world)
        target, _ = bad.backups
        end = world.nodes[target.node_id].store.copies[bad.id].end
        checks.rotting(target.node_id, bad.id)
        machine, inode = copy_of(world, bad, target)
        for number in (bad.node_id, target.node_id):
            if zeros:
                world.crash(number)
            else:
                checks.losing_power(number)
                world.power_loss(number)
        if zeros:
            inode.data[:512] = bytes(512)
        else:
            machine.rot(inode, 0, 512)
        for number in (bad.node_id, target.node_id):
            world.start(number)
        while (now := world.table.vsegs[bad.id]).open:
            await asyncio.sleep(0.1)
            world.look()
        assert now.end == end
        await Reading(world, checks.leading.leaders).finish(clients)
        world.look()

    play(world, scenario())
