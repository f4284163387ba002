"""A backup may have lost the last frame that it acknowledged, nobody knows where the other one is, and their
owner is back with its own files (rules 18b, 21, 24b, 24c)."""

from __future__ import annotations

import pytest

from kproto.controller.sealing import Ask, Sealing

from .cluster_world import PATIENCE, STALL, World, reading
from .test_sealing import owner_died


def one_is_torn_the_other_is_silent(session: float = 0.0) -> tuple[World, Ask, Ask]:
    """A is torn, said so twice, and is here; B is a member yet that answers nothing; their owner is back."""
    world = owner_died()
    world.sealing = Sealing(STALL, PATIENCE, session)
    world.register(1)
    first, second = world.plan().asks
    world.answer(first, 180, torn=True)
    world.now += STALL
    assert world.plan().asks == [reading(first)]
    world.answer(first, 180, torn=True)
    world.now += max(PATIENCE, session) - STALL - 0.1
    assert world.plan().asks == []
    return world, first, second


def asked_for_its_journal(world: World) -> Ask:
    """The patience is over."""
    world.now += 0.1
    plan = world.plan()
    assert plan.closes == [], "the owner has its journal, and nobody has asked for it"
    (ask,) = [ask for ask in plan.asks if ask.journal]
    return ask


@pytest.mark.parametrize("session", [0.0, 3 * PATIENCE])
def test_the_owner_is_asked_before_the_torn_one_decides(session: float) -> None:
    """Found by simulation: B was dead, the end of its session and that of the patience came together."""
    world, _, _ = one_is_torn_the_other_is_silent(session)
    ask = asked_for_its_journal(world)
    assert world.close() == [], "it is reading"
    world.answer(ask, 200)
    (closed,) = world.close()
    assert (closed.end, closed.backups, closed.shortened) == (200, (), False)


def test_a_torn_copy_that_has_as_much_as_the_owner_stays_one() -> None:
    """Else the disk of the owner would be the only one with what was acknowledged."""
    world, first, _ = one_is_torn_the_other_is_silent()
    world.answer(asked_for_its_journal(world), 180)
    (closed,) = world.close()
    assert (closed.end, closed.backups, closed.shortened) == (180, (first.target,), False)


@pytest.mark.parametrize(("limbo", "position"), [(False, 170), (True, 200)])
def test_an_owner_that_has_less_or_cannot_tell_does_not_help(limbo: bool, position: int) -> None:
    world, _, _ = one_is_torn_the_other_is_silent()
    world.answer(asked_for_its_journal(world), position, limbo=limbo)
    (closed,) = world.close()
    assert (closed.end, closed.shortened) == (180, True)


@pytest.mark.parametrize("what", ["restarted", "fenced", "told again"])
def test_an_owner_that_has_less_does_not_decide_while_the_torn_one_starts(what: str) -> None:
    """Its own last frame was damaged; A was killed in a write, and has all that was acknowledged."""
    world, first, second = one_is_torn_the_other_is_silent()
    if what == "restarted":
        world.register(first.target.node_id)
    elif what == "fenced":
        world.fence(first.target.node_id)
    else:
        world.fence(second.target.node_id)  # A is to say again that it is there
    world.plan()
    world.answer(asked_for_its_journal(world), 170)
    assert world.close() == []
    if what == "fenced":
        world.register(first.target.node_id)
    for _ in range(2):
        world.plan()
        world.answer(first, 180, torn=True)
        world.now += STALL
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (180, (first.target,))


def test_an_owner_that_has_less_is_asked_once() -> None:
    world, first, _ = one_is_torn_the_other_is_silent()
    world.register(first.target.node_id)
    ask = asked_for_its_journal(world)
    for _ in range(5):
        world.answer(ask, 170)
        plan = world.plan()
        assert (plan.asks, plan.closes) == ([], []), "A is starting"


@pytest.mark.parametrize("failed", [True, False])
def test_an_owner_that_does_not_answer_is_not_waited_for_for_ever(failed: bool) -> None:
    """Its disk hangs: no answer comes, and no error, or one after the other."""
    world, _, _ = one_is_torn_the_other_is_silent()
    ask = asked_for_its_journal(world)
    until = world.now + PATIENCE
    while not (closed := world.close()):
        assert world.now < until
        if failed:
            world.sealing.failed(ask, world.now)
        world.now += 1.0
        world.plan()
    assert closed[0].end == 180


@pytest.mark.parametrize("away", [1.0, 0.3])
def test_an_owner_that_comes_and_goes_is_not_waited_for_for_ever(away: float) -> None:
    """It is there for 3 s a time, and never answers; A takes half a second to say again what it has."""
    world, first, second = one_is_torn_the_other_is_silent()
    world.fence(second.target.node_id)
    until, changes, up = world.now + 30 * PATIENCE, world.now + 3.0, True
    owner: list[Ask] = []
    due: list[float] = []
    while not (closed := world.close()):
        assert world.now < until
        if world.now >= changes:
            if up:
                world.fence(1)
                for ask in owner:
                    world.sealing.failed(ask, world.now)
                owner.clear()
            else:
                world.register(1)
            up = not up
            changes = world.now + (3.0 if up else away)
        if due and world.now >= due[0]:
            due.pop()
            world.answer(first, 180, torn=True)
        for ask in world.plan().asks:
            if ask.journal:
                owner.append(ask)
            elif ask.target == first.target:
                due.append(world.now + 0.5)
        world.now += 0.1
    assert closed[0].end == 180
