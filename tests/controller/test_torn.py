"""A backup that may have lost the last frame that it acknowledged (rules 21, 22, 24b, 24c)."""

from __future__ import annotations

import pytest

from kproto.controller.sealing import Ask, Sealing

from .cluster_world import PATIENCE, STALL, World, reading
from .test_sealing import owner_died


def one_is_torn_the_other_went_away() -> tuple[World, Ask, Ask]:
    """B has the frame whole, said so and went away; A is torn, here, and was asked again since."""
    world = owner_died()
    first, second = world.plan().asks
    world.answer(second, 200)
    world.now += STALL / 2
    world.fence(second.target.node_id)
    assert world.plan().asks == []  # A's answer is on its way
    world.now += STALL
    world.answer(first, 180, torn=True)
    plan = world.plan()
    assert (plan.asks, plan.closes) == ([reading(first)], [])
    world.answer(first, 180, torn=True)
    assert world.plan().closes == []
    return world, first, second


def test_who_is_waited_for_and_comes_back_is_asked_before_the_torn_one_decides() -> None:
    world, _, second = one_is_torn_the_other_went_away()
    world.now += 1.0
    world.register(second.target.node_id)
    plan = world.plan()
    assert plan.closes == [], "B has come back, as was hoped, and nobody has asked it"
    assert second in plan.asks
    world.answer(second, 200)
    world.say_again()
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (200, (second.target,))


def test_who_was_restarted_unnoticed_is_asked_before_the_torn_one_decides() -> None:
    """B is killed and registers anew within its session: its answer is void, its stall is over."""
    world = owner_died()
    first, second = world.plan().asks
    world.answer(second, 200)
    world.now += STALL / 2
    world.register(second.target.node_id)  # before A has answered
    world.plan()
    world.answer(first, 180, torn=True)
    world.now += STALL / 2
    for ask in world.plan().asks:
        if ask.target == first.target:
            world.answer(ask, 180, torn=True)  # from memory; B is still reading its file
    assert world.close() == []


def test_who_takes_longer_than_a_stall_is_waited_for() -> None:
    """B was never restarted, and has it all; its fdatasync of the fence takes 600 ms."""
    world = owner_died()
    first, _ = world.plan().asks
    world.answer(first, 180, torn=True)
    world.now += STALL
    (again,) = world.plan().asks
    assert again == reading(first)
    world.answer(again, 180, torn=True)
    assert world.close() == []


def test_a_controller_that_starts_anew_waits_as_well() -> None:
    """B answered the controller before; it may have been that controller's broker itself."""
    world, first, _ = one_is_torn_the_other_went_away()
    world.sealing = Sealing(STALL, PATIENCE)
    for asked in (first, reading(first)):
        (ask,) = world.plan().asks
        assert ask == asked
        world.answer(ask, 180, torn=True)
        assert world.close() == []


def test_the_sound_one_is_asked_again_before_the_torn_one_is_listed_no_more() -> None:
    """B answered, its machine lost its power, and is a member for a session yet. A was killed in a write, and
    has all that was acknowledged."""
    world = owner_died()
    first, second = world.plan().asks
    world.answer(second, 200)
    world.now += STALL / 2
    world.answer(first, 180, torn=True)
    plan = world.plan()
    assert plan.closes == []
    assert reading(second) in plan.asks


def test_both_are_torn_and_one_has_more() -> None:
    """A's last acknowledged frame is damaged; B was killed in the write of the next one."""
    world = owner_died()
    first, second = world.plan().asks
    world.answer(first, 180, torn=True)
    world.answer(second, 200, torn=True)
    world.say_again()
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (200, (second.target,))
    assert closed.shortened, "its last frame may have been acknowledged"


def test_after_patience_the_longest_that_is_here_decides() -> None:
    world = owner_died(copies=4, brokers=4)
    asks = {ask.target: ask for ask in world.plan().asks}
    first, second, third = asks.values()
    world.answer(third, 200)
    world.fence(third.target.node_id)
    world.plan()
    for _ in range(2):
        world.answer(first, 180, torn=True)
        world.answer(second, 190, torn=True)
        world.plan()
    world.now += PATIENCE
    (closed,) = world.close()
    assert closed.end == 190


def test_an_owner_that_comes_and_goes_does_not_make_the_others_wait_for_ever() -> None:
    """Before, the torn one decided at once."""
    world, first, _ = one_is_torn_the_other_went_away()
    began = world.now
    while world.now < began + 20 * PATIENCE:
        world.register(1)
        world.plan()
        world.now += PATIENCE / 3  # it dies before it has answered for its journal
        world.fence(1)
        for ask in world.plan().asks:
            if ask.target == first.target:
                world.answer(ask, 180, torn=True)
        if world.plan().closes:
            break
        world.now += PATIENCE / 3
        if world.plan().closes:
            break
    assert world.now < began + 20 * PATIENCE


def test_a_member_that_answers_no_more_is_not_waited_for_for_ever() -> None:
    """It can reach the controller, not the other way round. The owner went again meanwhile, so B is to say
    that it is still there."""
    world = owner_died()
    first, second = world.plan().asks
    world.answer(second, 200)
    world.register(1)
    world.plan()
    world.now += STALL / 2
    world.fence(1)
    world.plan()
    world.answer(first, 180, torn=True)
    began = world.now
    while world.now < began + 20 * PATIENCE:
        for ask in world.plan().asks:
            if ask.target == first.target:
                world.answer(ask, 180, torn=True)
            else:
                world.sealing.failed(ask, world.now)
        if world.plan().closes:
            break
        world.now += 1.0
    assert world.now < began + 20 * PATIENCE


def test_what_came_during_a_pause_of_the_controller_counts() -> None:
    """What came meanwhile is read before the time is up."""
    world, _, second = one_is_torn_the_other_went_away()
    world.register(second.target.node_id)
    assert second in world.plan().asks
    world.now += 3 * PATIENCE
    world.answer(second, 200)
    world.say_again()
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (200, (second.target,))


def who_is_torn_and_the_owner_are_here() -> tuple[World, Ask, Ask, Ask]:
    """A was killed in a write and has all that was acknowledged; B is away; their owner is being asked."""
    world = owner_died()
    first, second = world.plan().asks
    world.fence(second.target.node_id)
    world.register(1)
    world.now += STALL / 2
    world.answer(first, 180, torn=True)
    world.say_again()
    world.now += PATIENCE - STALL / 2  # as of the first question: before the torn one decides
    (journal,) = world.plan().asks
    assert journal.journal
    return world, first, second, journal


@pytest.mark.parametrize(
    ("owners", "end", "is_listed", "shortened"),
    [(170, 180, True, True), (180, 180, True, False), (190, 190, False, False)],
    ids=["less", "as much", "more"],
)
def test_a_torn_one_that_is_here_decides_together_with_the_owner(
    owners: int, end: int, is_listed: bool, shortened: bool
) -> None:
    """The owner's last frame may be damaged."""
    world, first, _, journal = who_is_torn_and_the_owner_are_here()
    world.answer(journal, owners)
    (closed,) = world.close()
    assert (closed.end, closed.shortened) == (end, shortened)
    assert closed.backups == ((first.target,) if is_listed else ())


@pytest.mark.parametrize("restarted", [False, True], ids=["B comes and goes", "A is restarted"])
def test_a_torn_one_that_has_more_than_its_owner_may_say_so_again(restarted: bool) -> None:
    """What it has said is void while the owner reads its journal."""
    world, first, second, journal = who_is_torn_and_the_owner_are_here()
    world.register((first if restarted else second).target.node_id)
    world.plan()
    world.now += STALL / 2
    if not restarted:
        world.fence(second.target.node_id)
        world.plan()
    world.answer(world.sent[journal.vseg, journal.target], 170)
    plan = world.plan()
    assert plan.closes == []
    assert plan.asks == [] or restarted, "its owner has told, and reads its journal once"
    world.answer(first, 180, torn=True)
    while not (closed := world.close()):
        for ask in world.plan().asks:
            world.answer(ask, 170 if ask.journal else 180, torn=not ask.journal)
    assert [(one.end, one.backups) for one in closed] == [(180, (first.target,))]


@pytest.mark.parametrize("loops", [False, True], ids=["silent", "killed again and again"])
def test_a_torn_one_that_does_not_say_so_again_is_not_waited_for_for_ever(loops: bool) -> None:
    world, first, _, journal = who_is_torn_and_the_owner_are_here()
    world.register(first.target.node_id)
    world.plan()
    world.now += STALL / 2
    world.answer(journal, 170)
    began, closes = world.now, []
    while not closes and world.now < began + 20 * PATIENCE:
        if loops:
            world.fence(first.target.node_id)
            world.plan()
            world.register(first.target.node_id)
        for ask in world.plan().asks:
            if ask.journal:
                world.answer(ask, 170)
        closes = world.plan().closes
        world.now += STALL / 2
    assert [close.end for close in closes] == [170]
    assert began + PATIENCE / 2 < world.now <= began + 2 * PATIENCE
