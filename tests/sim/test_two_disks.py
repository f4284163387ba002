"""When two disks may be lost: not while a leader's own files lack what it took over. Whoever takes them is no
part of a process that may end with its disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kproto.controller.sealing import Ask, Sealing
from kproto.metadata.image import load_image
from kproto.metadata.records import StreamletRecord, TopicRecord
from kproto.metadata.store import Change, Entry
from kproto.metadata.vlogs import CopyTarget, Move, VsegId
from kproto.replica.messages import Sealed
from tests.replica.support import Owner

from .checks import Checks
from .clients import Clients
from .parts import installed
from .patience import SETTLE_SECONDS, Patience
from .plan import plan_of
from .two_disks import _survives, brought_over, in_controller
from .world import Violation, World


def lacking(world: World, partitions: Callable[[], int], brought: Callable[[], int] = int) -> None:
    """n1 has not brought over the old data of so many partitions, but so many bytes."""

    def recovering() -> dict[str, Any]:
        return {"bring_over": {"partitions": partitions(), "bytes": brought()}}

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


@pytest.mark.parametrize(("rate", "brought"), [(50_000, 2_500_000), (50_000, 1_500_000), (0, 2_500_000)])
def test_it_waits_as_long_as_old_data_comes_as_fast_as_it_may(rate: int, brought: int) -> None:
    """A visitor made virtual segments of 1 MB, of which 50 kB may be read in a second: there was more to come
    when the time was over."""
    world = World(0, replace(plan_of(0), rate=rate))
    began = world.loop.now

    def seconds() -> float:
        return world.loop.now - began

    lacking(
        world, lambda: int(seconds() < SETTLE_SECONDS + 40.0), lambda: min(int(seconds() * 50_000), brought)
    )
    with installed(world):
        if rate and brought == 2_500_000:
            world.loop.run_until_complete(brought_over(world))
            assert seconds() >= SETTLE_SECONDS + 40.0
            return
        with pytest.raises(Violation, match="n1 has not brought over"):
            world.loop.run_until_complete(brought_over(world))
        assert seconds() < SETTLE_SECONDS + 1.0 + (brought / rate if rate else 0.0)


@pytest.mark.parametrize(("rate", "more"), [(0, 0.0), (50_000, 60.0)])
def test_missing_copies_take_longer_where_they_may_be_read_only_slowly(rate: int, more: float) -> None:
    """The only copy of a few kB waited for its turn among some of 1 MB, and the time was that of others
    when a loss had been accepted (seed 10001160)."""
    world = World(0, replace(plan_of(0), rate=rate))
    checks = Checks(world)
    lost = Owner(VsegId(2, 1, 1)).record(1_500_000)._replace(copies=2, backups=())
    opened = lost._replace(id=VsegId(2, 1, 2), start=1_500_000, end=None)
    for record in (lost, opened):
        world.table.apply(Change(1, {record.key: record.encode()}, ()))
    patience = Patience(world, checks.missing_bytes())
    assert patience.seconds == SETTLE_SECONDS + more
    assert not patience.over


def test_a_disk_may_be_lost_while_owners_are_dead_if_others_have_what_is_on_it() -> None:
    """Be what they have open or closed, and they themselves up or not."""
    world = World(0, plan_of(0))
    checks = Checks(world)
    targets = [CopyTarget(1, "a"), CopyTarget(2, "b")]
    record = Owner(VsegId(8, 1, 1)).record(1_000, targets)._replace(node_id=3, end=None)
    world.table.apply(Change(1, {record.key: record.encode()}, ()))
    assert [checks.may_lose_disk_meanwhile(number) for number in (1, 2, 3)] == [True, True, True]
    checks.gone.add("a")
    assert [checks.may_lose_disk_meanwhile(number) for number in (1, 2, 3)] == [True, False, True]
    closed = record._replace(end=1_000, backups=())
    world.table.apply(Change(2, {closed.key: closed.encode()}, ()))
    assert [checks.may_lose_disk_meanwhile(number) for number in (1, 2, 3)] == [True, True, False]


def test_no_disk_is_lost_while_its_broker_says_once_more_what_it_has() -> None:
    """The answer was on its way, and counted: the copy was listed alone, and gone (seed 30091589)."""
    world, sealing = World(0, plan_of(0)), Sealing(0.5, 10.0)
    checks, vseg = Checks(world), VsegId(8, 1, 1)
    member = SimpleNamespace(
        _acting=SimpleNamespace(_busy=asyncio.Lock()),
        _seat=None,
        _embedded=SimpleNamespace(_sealing=sealing),
    )
    node, broker = world.nodes[1], SimpleNamespace(_member=member)
    node.broker, node.process = cast(Any, broker), world.loop.process("n1#1", 1)
    node.ready = True
    ask = Ask(vseg, CopyTarget(2, "b"), 9, False)

    def allowed() -> list[bool]:
        return [checks.may_lose_disk_meanwhile(number) for number in (2, 3)]

    sealing.asked(ask, 1.0)
    assert allowed() == [True, True]
    sealing.answered(ask, Sealed(100, False), 4, 1.0)
    assert allowed() == [True, True]
    sealing.asked(ask, 2.0)
    assert allowed() == [False, True]
    sealing.answered(ask, Sealed(100, False), 4, 2.0)
    assert allowed() == [True, True]


def test_a_copy_that_was_named_behind_a_power_loss_is_none() -> None:
    """Two virtual segments were opened with one backup, whose machine was off unnoticed: when the
    owner's disk was lost, their ends waited for an operator (seed 13001167)."""
    world = World(0, plan_of(0))
    checks = Checks(world)
    record = (
        Owner(VsegId(8, 1, 1))
        .record(1_000, [CopyTarget(1, "a"), CopyTarget(2, "b")])
        ._replace(node_id=3, end=None)
    )
    checks.stores[1] = "a"
    checks.losing_power(1)
    world.table.apply(Change(1, {record.key: record.encode()}, ()))
    assert [checks.may_lose_disk_meanwhile(number) for number in (1, 2, 3)] == [True, False, True]


@pytest.mark.parametrize(
    ("target", "leader_epoch", "survives"), [(None, 4, True), (1, 4, False), (1, 3, True)]
)
def test_the_files_of_who_hands_over_do_not_count(
    target: int | None, leader_epoch: int, survives: bool
) -> None:
    """Both backups of an owner lost their disks when it had been told to hand over: it did before that was
    known, and nobody had a copy afterwards (seed 10004200). A move of another leader epoch is void."""
    world = World(0, plan_of(0))
    checks = Checks(world)
    record = (
        Owner(VsegId(8, 1, 1)).record(1_000, [CopyTarget(1, "a"), CopyTarget(2, "b")])._replace(node_id=3)
    )
    streamlet = StreamletRecord(bytes(16), 0, 3, 4, (1, 2, 3), sources=(8,))
    topic = TopicRecord("t", bytes(16), 1, 3, 1, {}, False)
    world.image = load_image(1, [Entry(one.key, one.encode(), 1) for one in (topic, streamlet)])
    changes = {record.key: record.encode()}
    if target is not None:
        move = Move(bytes(16), 0, target, leader_epoch, 7)
        changes[move.key] = move.encode()
    world.table.apply(Change(1, changes, ()))
    assert _survives(world, checks, (1, 2)) == survives
    assert _survives(world, checks, (1, 3)), "n2 has a copy"


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
