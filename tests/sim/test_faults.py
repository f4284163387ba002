"""The faults themselves: all of them happen, a seed with all of them is the same again, and what stands for
machines, network and store fails as the real ones do."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from kproto.metadata.store import Condition, StoreError, UnknownOutcomeError
from kproto.metadata.vlogs import VsegId
from tests.replica.support import Station

from . import parts
from .checks import Checks
from .clients import Clients
from .damage import Damage
from .disk import Inode, Machine, SimDisk
from .faults import Faults
from .loop import SimLoop
from .media import is_unsynced
from .net import UNANSWERED_SECONDS, Connection, Network, SimListener
from .parts import SharedStore, SimClock, SimStore
from .plan import Plan, plan_of
from .run import run_seed
from .world import World

ROOT = Path(__file__).parents[2]
EVERYTHING: dict[str, Any] = {
    "kind": "disks",
    "nodes": 4,
    "seconds": 4.0,
    "calm": 0.2,
    "zombies": True,
    "trouble": True,
    "moves": True,
    "shared": True,
    "outages": True,
    "rot": True,
    "clocks": True,
    "emptied": True,
    "hasty": True,
    "harmed": True,
    "busy": True,
    "racks": True,
    "scarce": True,
    "hectic": True,
    "torn": True,
}
"""A plan that leaves nothing out."""


def with_everything(seed: int) -> Plan:
    return replace(plan_of(seed), **EVERYTHING)


def test_the_plans_of_many_seeds_have_everything() -> None:
    plans = [plan_of(seed) for seed in range(200)]
    names = ("deletes", "zombies", "trouble", "moves", "shared", "outages", "clocks", "emptied", "hasty")
    for name in (*names, "harmed", "busy", "racks", "scarce", "hectic", "torn"):
        assert {getattr(plan, name) for plan in plans} == {False, True}, name
    assert {plan.kind for plan in plans} == {"disks", "synced", "kills"}
    assert {plan.nodes for plan in plans} == {3, 4, 5}
    assert {plan.journal for plan in plans} == {0, 150_000, 400_000}
    assert {plan.journal for plan in plans if plan.hasty} == {0, 400_000}, "their states are large"
    fewest = {(topic.copies, topic.fewest) for plan in plans for topic in plan.topics}
    assert fewest == {(3, 0), (3, 1), (3, 2), (2, 0), (2, 1), (2, 2), (1, 0), (1, 1)}
    assert all(topic.fewest == 0 for plan in plans if plan.kind == "disks" for topic in plan.topics)
    assert {plan.kind for plan in plans if plan.rot or plan.two_disks} == {"disks"}, "where the budget allows"


def test_a_seed_with_all_faults_is_the_same_again() -> None:
    """In this process and in another one, whatever order sets have there."""
    script = (
        "from tests.sim.run import run_seed\nfrom tests.sim.test_faults import with_everything, told\n"
        "print(told(run_seed(11, plan=with_everything(11))))"
    )
    here = told(run_seed(11, plan=with_everything(11)))
    assert told(run_seed(11, plan=with_everything(11))) == here
    command = [sys.executable, "-c", script]
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.removesuffix("\n") == here
    assert "faults end" in here


def told(outcome: Any) -> str:
    """All that is known of a run."""
    return "\n".join([*outcome.lines, repr(sorted(outcome.cover.items())), outcome.violation])


# The network


def test_who_loses_power_tells_nobody_until_it_has_it_again() -> None:
    loop = SimLoop(Random(1))
    network = Network(loop, Random(2))
    SimListener.network = network
    ended: list[float] = []

    class Link:
        def ended(self, connection: Connection) -> None:
            ended.append(loop.now)

    one, two = loop.process("one", 1), loop.process("two", 2)
    for process in (one, two):
        process.on_end.append(partial(network.ended, process))
    first, second = (Connection(network, one, two, Link()) for _ in range(2))  # type: ignore[arg-type]
    loop.call_later(1.0, network.dark.add, 2)
    loop.call_later(1.1, two.kill)
    loop.call_later(2.0, first.send, lambda: pytest.fail("nobody is there"))
    loop.call_later(20.0, network.lit, 2)
    loop.call_later(21.0, loop.stop)
    loop.run_forever()
    times = [at - 1000 for at in ended]
    assert times == pytest.approx([2.0 + UNANSWERED_SECONDS, 20.0], abs=0.1)
    assert not second.open
    loop.bury()


def test_a_clogged_direction_keeps_what_is_sent_in_order() -> None:
    loop = SimLoop(Random(1))
    network = Network(loop, Random(2))
    one, two = loop.process("one", 1), loop.process("two", 2)
    connection = Connection(network, one, two, None)  # type: ignore[arg-type]
    got: list[tuple[int, bool]] = []
    network.cut(1, 2)
    for number in range(3):
        connection.send(lambda number=number: got.append((number, loop.now > 1002)))  # type: ignore[misc]
    connection.send(lambda: got.append((9, loop.now > 1002)), back=True)
    loop.call_later(2.5, network.mend, 1, 2)
    loop.call_later(4.0, loop.stop)
    loop.run_forever()
    assert got == [(9, False), (0, True), (1, True), (2, True)]
    loop.bury()


# Disks


def test_no_disk_fails_while_another_one_may_have_lost_something() -> None:
    """Copies on both would be the last of two, and nobody could tell what is in them (seed 30029852)."""
    world = World(0, plan_of(0))
    checks = Checks(world)
    faults = Faults(world, Clients(world), checks, Damage(world, checks))

    def failing() -> list[int]:
        for _ in range(50):
            faults.break_disk()
        return [number for number, machine in world.machines.items() if machine.fail_next is not None]

    (first,) = failing()
    machine = world.machines[first]
    machine.fail_next = None
    machine.make_folder(machine.root)
    machine.link(f"{machine.root}/failed", Inode())
    assert not failing(), "what it has lost by that is not made up for"
    machine.unlink(f"{machine.root}/failed")
    store = Station().store
    replicas: Any = SimpleNamespace(_member=SimpleNamespace(replicas=SimpleNamespace(store=store)))
    world.nodes[first].broker = replicas
    store.state.limbo.add(VsegId(2, 1, 6))
    assert not failing(), "nor is what it cannot tell it has"
    store.state.limbo.clear()
    assert len(failing()) == 1


def test_what_a_power_loss_may_change() -> None:
    disk = SimDisk(Machine(1, "/sim/n1", Random(3)))
    fd = disk.open("/sim/n1/f", create=True)
    inode = disk.machine.find("/sim/n1/f")
    assert inode is not None
    disk.pwritev(fd, [bytes(100)], 0)
    assert is_unsynced(inode, 99, 100)
    disk.datasync(fd)
    assert not is_unsynced(inode, 0, 100)
    disk.pwritev(fd, [bytes(10)], 40)
    assert [is_unsynced(inode, *part) for part in ((0, 40), (0, 41), (49, 60), (50, 60))] == [0, 1, 1, 0]
    disk.datasync(fd)
    disk.allocate(fd, 100, 50)
    assert not is_unsynced(inode, 0, 100), "room behind the end"
    assert is_unsynced(inode, 0, 101)
    disk.datasync(fd)
    disk.truncate(fd, 80)
    assert [is_unsynced(inode, 0, end) for end in (80, 81)] == [False, True]


def test_what_rots_and_what_cannot_be_read() -> None:
    machine = Machine(1, "/sim/n1", Random(3))
    disk = SimDisk(machine)
    fd = disk.open("/sim/n1/f", create=True)
    disk.pwritev(fd, [bytes(100)], 0)
    disk.datasync(fd)
    inode = machine.find("/sim/n1/f")
    assert inode is not None
    machine.rot(inode, 40, 1)
    machine.rot(inode, 90, 512)
    found = disk.pread(fd, 100, 0)
    assert [at for at in range(100) if found[at]] == [40, *range(90, 100)]
    machine.unreadable.add(inode)
    with pytest.raises(OSError, match="Input/output"):
        disk.pread(fd, 100, 0)


@pytest.mark.parametrize("room", [0, 3, 10])
def test_a_disk_that_gets_full_takes_what_it_has_room_for(room: int) -> None:
    machine = Machine(1, "/sim/n1", Random(3))
    disk = SimDisk(machine)
    fd = disk.open("/sim/n1/f", create=True)
    disk.pwritev(fd, [b"before"], 0)
    machine.room = room
    if room < 6:
        with pytest.raises(OSError, match="No space"):
            disk.pwritev(fd, [b"be", b"hind", b"it"], 4)
    else:
        disk.pwritev(fd, [b"be", b"hind", b"it"], 4)
    assert disk.pread(fd, 100, 0) == b"befobehindit"[: 6 + room] if room else b"before"
    disk.truncate(fd, 2)
    disk.pwritev(fd, [b"xyz"], 2)
    assert disk.pread(fd, 100, 0)[2:5] == b"xyz"


def test_who_is_killed_as_it_writes_leaves_a_part_and_nothing_after_it() -> None:
    """Neither on its disk nor with others, whatever the rest of that callback does."""
    loop, machine = SimLoop(Random(1)), Machine(1, "/sim/n1", Random(3))
    disk, network = SimDisk(machine), Network(loop, Random(2))
    disk.makedirs("/sim/n1/replicas")
    one, two = loop.process("one", 1), loop.process("two", 2)
    machine.on_cut = one.kill_meanwhile
    one.on_end += [partial(network.ended, one), machine.kill]
    connection = Connection(network, two, one, None)  # type: ignore[arg-type]
    connection.link = SimpleNamespace(ended=lambda _: None)  # type: ignore[assignment]
    data, done = bytes(range(1, 101)), []

    def callback() -> None:
        fd, other = (disk.open(f"/sim/n1/replicas/{name}", create=True) for name in "ab")
        disk.pwritev(other, [b"before"], 0)
        machine.cut_in = "/a"
        disk.pwritev(other, [b"still there"], 6)
        assert disk.pwritev(fd, [data], 0) == len(data), "who is dead does not wonder"
        disk.pwritev(other, [b"after"], 0)
        disk.unlink("/sim/n1/replicas/b")
        disk.makedirs("/sim/n1/streams")
        assert not disk.is_deleted(disk.open("/sim/n1/streams/c", create=True)), "as far as it can tell"
        connection.send(lambda: pytest.fail("it had been killed"), back=True)
        loop.call_soon(pytest.fail, "it has been killed")
        done.append(loop.now)

    loop.deliver(one, loop.now + 1.0, callback)
    loop.call_later(2.0, loop.stop)
    loop.run_forever()
    assert done
    assert not loop.errors
    assert not connection.open
    part, whole = (machine.find(f"/sim/n1/replicas/{name}") for name in "ab")
    assert part is not None
    assert whole is not None
    assert 0 < part.length < len(data)
    assert bytes(part.data) == data[: part.length]
    assert bytes(whole.data) == b"beforestill there"
    assert "/sim/n1/streams" not in machine.folders
    assert disk.open("/sim/n1/replicas/d", create=True), "the next process"
    assert machine.find("/sim/n1/replicas/d") is not None
    loop.bury()


def test_the_next_operation_of_one_kind_fails_once() -> None:
    machine = Machine(1, "/sim/n1", Random(3))
    disk = SimDisk(machine)
    machine.fail_next, machine.fail_where = "rename", "journal"
    for name in ("f", "journal"):
        disk.close(disk.open(f"/sim/n1/{name}", create=True))
    disk.rename("/sim/n1/f", "/sim/n1/g")
    with pytest.raises(OSError, match="Input/output"):
        disk.rename("/sim/n1/journal", "/sim/n1/h")
    disk.rename("/sim/n1/journal", "/sim/n1/h")
    assert machine.failures == 1


# The store


def with_store(body: Callable[[SimStore, SharedStore], Awaitable[None]]) -> None:
    loop = SimLoop(Random(5))
    store = SimStore(SimClock(loop))
    shared = SharedStore(store, loop.process("n1", 1))
    loop.run_until_complete(asyncio.wait_for(body(store, shared), 60))
    loop.bury()


def test_nobody_knows_what_became_of_a_transaction_when_the_store_goes_away() -> None:
    async def body(store: SimStore, shared: SharedStore) -> None:
        assert (await shared.transact([Condition("a", 0)], {"a": b"1"})).succeeded
        store.away.add(1)
        with pytest.raises(StoreError) as refused:
            await shared.transact([], {"a": b"2"})
        assert not isinstance(refused.value, UnknownOutcomeError), "it never left"
        store.away.clear()
        store.on_change = lambda puts, deletes: store.away.add(1)
        with pytest.raises(UnknownOutcomeError):
            await shared.transact([], {"a": b"3"})
        entry = await store.get("a")
        assert entry is not None
        assert entry.value == b"3"
        assert not await asyncio.wait_for(_lease(store), 5)

    with_store(body)


async def _lease(store: SimStore) -> bool:
    await store.lease("seat", "one", 1000)
    return await store.lease("seat", "two", 1000)


def test_requests_and_answers_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "LOST_REQUESTS", 0.5)

    async def body(store: SimStore, shared: SharedStore) -> None:
        happened = set()
        for number in range(40):
            try:
                await shared.transact([], {"a": b"%d" % number})
            except UnknownOutcomeError:
                entry = await store.get("a")
                happened.add(entry is not None and entry.value == b"%d" % number)
        assert happened == {False, True}

    with_store(body)


def test_a_store_that_is_not_shared_refuses_and_has_done_nothing() -> None:
    async def body(store: SimStore, _: SharedStore) -> None:
        store.down = True
        with pytest.raises(StoreError):
            await store.transact([], {"a": b"1"})
        with pytest.raises(StoreError):
            await store.range("")
        store.down = False
        assert await store.range("") == (0, [])

    with_store(body)
