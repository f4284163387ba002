"""Stories that hold with a rule and break without it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kproto.check import InvariantError
from tests.controller.cluster_world import World
from tests.sim.mutations import MUTATIONS, Mutation

from .directed import DIRECTED

BY_NAME = {mutation.name: mutation for mutation in (*MUTATIONS, *DIRECTED)}
TOLD: dict[str, str] = {}
"""Mutations that have a story, and where it is."""


class Broken(AssertionError):
    """What the rules promise is not so."""


def promise(kept: object, otherwise: str) -> None:
    """Raise `Broken` unless the promise is kept; ``otherwise`` says what is wrong then, invariant first."""
    if not kept:
        raise Broken(otherwise)


def waits_for_its_backup(world: World, backup: int, leader: int) -> None:
    """``backup`` and ``leader`` die: nobody leads what they had, until the backup is back."""
    for node in {backup, leader}:
        world.fence(node)
    leaders = [each.leader for each in world.assign()]
    promise(not leaders, f"S1: broker {leaders} leads without what it has given up")
    world.register(backup)
    assert len(world.assign()) == 1


@contextmanager
def taken_out(mutation: Mutation) -> Iterator[None]:
    """The product without a rule."""
    before = [(place, name, vars(place)[name]) for place, name in mutation.places]
    try:
        for place, name in mutation.places:
            setattr(place, name, mutation.instead)
        yield
    finally:
        for place, name, value in before:
            setattr(place, name, value)


def needs(name: str, *, noticed: bool = False) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """The story holds only with this rule: `Broken` without it. ``noticed``: the product itself sees that
    something impossible happens (`kproto.check`), before a client could."""
    mutation = BY_NAME[name]

    def decorate(story: Callable[[], None]) -> Callable[[], None]:
        assert name not in TOLD, f"{name} has a story in {TOLD[name]}"
        TOLD[name] = story.__module__

        @functools.wraps(story)
        def test() -> None:
            story()
            with taken_out(mutation), pytest.raises(InvariantError if noticed else Broken):
                story()

        return test

    return decorate
