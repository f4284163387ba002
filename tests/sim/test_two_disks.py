"""When two disks may be lost: not while a leader's own files lack what it took over. Whoever takes them is no
part of a process that may end with its disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from .checks import Checks
from .clients import Clients
from .parts import installed
from .plan import plan_of
from .two_disks import brought_over, in_controller
from .world import Violation, World


def lacking(world: World, partitions: Callable[[], int]) -> None:
    """n1 has not brought over the old data of so many partitions."""

    def recovering() -> dict[str, Any]:
        return {"bring_over": {"partitions": partitions()}}

    broker: Any = SimpleNamespace(_member=SimpleNamespace(recovering=recovering))
    world.nodes[1].broker = broker


def broker_of(controller: Any) -> Any:
    return SimpleNamespace(
        _member=SimpleNamespace(_acting=controller), _server=SimpleNamespace(drained=False)
    )


def test_it_waits_until_leaders_have_their_old_data() -> None:
    """An owner that lost its power, and both backups of what it had: that is more than may be lost."""
    world = World(0, plan_of(0))
    left = [0, 1, 2]
    lacking(world, left.pop)
    with installed(world):
        world.loop.run_until_complete(brought_over(world))
    assert not left


def test_it_does_not_wait_for_ever() -> None:
    world = World(0, plan_of(0))
    lacking(world, lambda: 3)
    with installed(world), pytest.raises(Violation, match="n1 has not brought over all old data of 3"):
        world.loop.run_until_complete(brought_over(world))


def test_who_waits_for_a_controller_does_not_end_with_it() -> None:
    """A decision waited for another one, whose process woke the scenario: it was part of that one from then
    on, and waited for ever when it took that broker's disk."""
    world = World(0, plan_of(0))
    busy = asyncio.Lock()
    controller: Any = SimpleNamespace()
    node = world.nodes[1]
    node.process = process = world.loop.process("n1#1", 1)
    node.broker = broker_of(controller)
    node.ready = True

    async def other() -> None:
        async with busy:
            await asyncio.sleep(0.1)

    async def decide(_: Any) -> str:
        async with busy:
            return "decided"

    async def scenario() -> str:
        process.spawn(other())
        await asyncio.sleep(0.01)
        answer = await in_controller(world, Clients(world), decide)
        process.kill()
        await asyncio.sleep(0.1)
        return answer

    with installed(world):
        assert world.loop.run_until_complete(asyncio.wait_for(scenario(), 10)) == "decided"


def test_a_scenario_that_is_part_of_a_process_is_told() -> None:
    world = World(0, plan_of(0))
    process = world.loop.process("n1#1", 1)

    async def scenario() -> None:
        woken = world.loop.create_future()

        async def wake() -> None:
            woken.set_result(None)

        process.spawn(wake())
        await woken
        await Checks(world).settle(Clients(world))

    with installed(world), pytest.raises(Violation, match="part of n1#1"):
        world.loop.run_until_complete(scenario())
