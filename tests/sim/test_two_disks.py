"""When two disks may be lost: not while a leader's own files lack what it took over."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from .parts import installed
from .plan import plan_of
from .two_disks import brought_over
from .world import Violation, World


def lacking(world: World, partitions: Callable[[], int]) -> None:
    """n1 has not brought over the old data of so many partitions."""

    def recovering() -> dict[str, Any]:
        return {"bring_over": {"partitions": partitions()}}

    broker: Any = SimpleNamespace(_member=SimpleNamespace(recovering=recovering))
    world.nodes[1].broker = broker


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
