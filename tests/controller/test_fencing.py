"""Fences and registrations: one key decides, everything else is derived (rules 1, 2, 3, 16, 19, 19b)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from kproto.config import load
from kproto.controller import Controller, NewTopic, rules
from kproto.controller.fencing import decide_fence
from kproto.controller.loop import SILENT, STUCK_LOG_SECONDS, ControllerLoop
from kproto.controller.registration import Registration, decide_register
from kproto.metadata import StoreError
from kproto.metadata.memory import MemoryStore
from kproto.metadata.records import streamlet_key
from kproto.metadata.store import Transacted
from kproto.net.ports import Buffer, Done
from kproto.trouble import AGAIN_SECONDS

from .cluster_world import cluster
from .virtual_time import VirtualClock, VirtualLoop, run_virtual


def test_a_fence_is_one_transaction_on_the_brokers_key() -> None:
    world = cluster(3, t=(100, 3, [1] * 100))
    world.open(1)
    broker = world.image.brokers[1]
    decision = decide_fence(world.image, 1, 1)
    assert decision.deletes == ["brokers/1"]
    assert decision.puts == {"fenced/1": broker.encode()}
    world.commit(decision)
    assert world.table.fenced == {1: broker}
    assert 1 not in world.image.brokers
    assert all(
        rules.is_due(world.image, record) for record in world.image.streamlets[(1).to_bytes(16, "big")]
    )
    assert all(rules.is_sealing(world.image, vseg) for vseg in world.table.open_vsegs())


def test_only_the_epoch_that_is_meant_is_fenced_and_only_once() -> None:
    world = cluster(2)
    assert not decide_fence(world.image, 1, 7).writes
    world.register(1)
    assert decide_fence(world.image, 1, 1).answer is None
    world.fence(1)
    assert decide_fence(world.image, 1, 3).answer is None


def test_a_broker_that_comes_back_is_a_member_under_a_new_epoch() -> None:
    world = cluster(2)
    world.fence(2)
    assert world.register(2).epoch == 3
    assert world.table.fenced == {}
    assert world.table.moved_upto == {}


def test_registering_with_another_directory_gives_up_the_old_files() -> None:
    """Rule 3: at once, and after a fence, too."""
    world = cluster(3)
    world.register(2, store="new")
    assert world.table.moved_upto == {2: 2}
    world.fence(3)
    world.register(3, store="other")
    assert world.table.moved_upto == {2: 2, 3: 3}


def test_streamlets_of_one_copy_stay_with_their_broker_as_ever() -> None:
    """Rules 2 and 18b; those with more copies are not touched: their recovery follows by derivation."""
    world = cluster(2, single=(2, 1, [1, 2]), many=(1, 2, [1]))
    many = world.streamlet("many")
    world.fence(1)
    assert world.streamlet("single").leader == 1
    assert not rules.is_due(world.image, world.streamlet("single"))
    registration = Registration(1, "h", 1, None, "i", 2, "store1")
    decision = decide_register(world.image, world.table, registration, world.last_epoch)
    single = streamlet_key(world.image.topics["single"].topic_id, 0)
    assert [key for key in decision.puts if key.startswith("streamlets/")] == [single]
    world.commit(decision)
    assert world.streamlet("single").leader_epoch == 1
    assert world.streamlet("single", 1).leader_epoch == 0
    assert world.streamlet("many") == many
    assert rules.is_due(world.image, many)


def test_a_second_registration_supersedes_the_first() -> None:
    """Its answer may have been lost."""
    world = cluster(1)
    first = world.register(2)
    second = world.register(2)
    assert (first.epoch, second.epoch) == (2, 3)
    assert rules.is_current(world.image, 2, 3)
    assert not rules.is_current(world.image, 2, 2)


class SlowStore(MemoryStore):
    """Writes wait while ``ready`` is cleared."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(clock)
        self.ready = asyncio.Event()
        self.ready.set()

    async def transact(self, *args: Any) -> Transacted:
        await self.ready.wait()
        return await super().transact(*args)


class NoPeers:
    """Nobody answers."""

    def request(self, node_id: int, api: int, pieces: Sequence[Buffer], done: Done) -> None:
        asyncio.get_running_loop().call_soon(done, None)


class RefusingStore(MemoryStore):
    """Takes no writes while ``refuses`` is set."""

    refuses = False

    async def transact(self, *args: Any) -> Transacted:
        if self.refuses:
            raise StoreError("the disk is full")
        return await super().transact(*args)


async def nobody_knows(node_id: int) -> bool:
    """Whether nobody listens where a broker should."""
    return False


async def with_two_brokers(store: MemoryStore, clock: VirtualClock) -> tuple[Controller, ControllerLoop]:
    """A controller at work and a loop that has begun; sessions last three seconds."""
    settings = load(None, {"broker.session.timeout.ms": "3000"})
    controller = Controller(store, settings, 1)
    await controller.start()
    for node in (1, 2):
        await controller.register_broker(Registration(node, "h", 1, None, "h", 2, f"store-{node}", False))
    loop = ControllerLoop(controller, NoPeers(), nobody_knows, clock, settings)  # type: ignore[arg-type]
    loop.start()
    return controller, loop


def virtual_clock() -> VirtualClock:
    virtual = asyncio.get_running_loop()
    assert isinstance(virtual, VirtualLoop)
    return VirtualClock(virtual)


@pytest.mark.parametrize("heard", [True, False])
def test_who_is_heard_while_the_store_is_slow_is_not_fenced_for_its_silence(heard: bool) -> None:
    async def body() -> None:
        clock = virtual_clock()
        store = SlowStore(clock)
        controller, loop = await with_two_brokers(store, clock)
        two = controller.image.brokers[2]
        await asyncio.sleep(2.5)
        store.ready.clear()
        creating = asyncio.ensure_future(controller.create_topics([NewTopic("t", 1, 1)]))
        await asyncio.sleep(1.5)
        assert loop._causes == {(2, two.epoch): (SILENT, loop._causes[2, two.epoch][1])}
        if heard:
            assert loop.heard(2, two.epoch)
        store.ready.set()
        await creating
        await asyncio.sleep(0.5)
        assert (2 in controller.image.brokers) is heard
        await loop.close()

    run_virtual(body())


def test_a_fence_that_the_store_refuses_is_not_told_of_at_each_look(caplog: pytest.LogCaptureFixture) -> None:
    """It was an error three times a second for as long as the store's disk was full."""

    async def body() -> None:
        clock = virtual_clock()
        store = RefusingStore(clock)
        controller, loop = await with_two_brokers(store, clock)
        store.refuses = True
        await asyncio.sleep(3 + AGAIN_SECONDS + 3)
        assert 2 in controller.image.brokers
        store.refuses = False
        await asyncio.sleep(1)
        assert 2 not in controller.image.brokers
        await loop.close()

    run_virtual(body())
    said = [record.getMessage() for record in caplog.records if record.name == "kproto.controller.loop"]
    said = [each for each in said if "fenced" in each]
    what = "dead brokers cannot be fenced"
    assert said[:3] == [f"{what}: broker 2: KAFKA_STORAGE_ERROR: the disk is full"] * 2 + [
        f"{what}: it works again"
    ]
    assert said[3:] == [f"broker 2 (epoch 2) is fenced: {SILENT}"]


def test_what_is_waited_for_by_turns_is_not_told_at_each_turn(caplog: pytest.LogCaptureFixture) -> None:
    """Of two virtual segments on a broker that did not answer one was always being asked: forty lines in the
    quarter of a second until it was fenced."""

    async def body() -> None:
        clock = virtual_clock()
        _, loop = await with_two_brokers(MemoryStore(), clock)
        for _ in range(20):
            for lines in (["one"], ["one", "two"], ["two"], []):
                loop._note_stuck(lines)
            await asyncio.sleep(0.02)
        assert told(caplog) == ["one", "two"]
        assert list(loop.stuck()) == []
        await asyncio.sleep(STUCK_LOG_SECONDS)
        loop._note_stuck(["one"])
        loop._note_stuck([])
        assert told(caplog) == ["one", "two", "one"]
        await loop.close()

    run_virtual(body())


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Of what was waited for."""
    return [each for each in caplog.messages if each in ("one", "two")]
