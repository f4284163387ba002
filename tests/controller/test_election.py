"""Elections of the controller: the decisions, and candidates on stores in memory and in real etcd."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kproto.clock import Clock, ManualClock, SystemClock
from kproto.config import load
from kproto.config.store_url import EtcdUrl
from kproto.controller import Controller
from kproto.controller.election import (
    CONTROLLER_LEASE,
    Candidate,
    Election,
    Standing,
    granted,
    refused,
    unanswered,
)
from kproto.controller.registration import Registration
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata import Condition, MetadataStore, StoreError
from kproto.metadata.etcd import EtcdStore
from kproto.metadata.memory import MemoryStore
from kproto.metadata.store import Transacted
from kproto.trouble import AGAIN_SECONDS
from tests.metadata.etcd_process import etcd_cluster, shared_etcd
from tests.sim.loop import SimLoop

from .virtual_time import VirtualClock, VirtualLoop, run_virtual
from .worlds import run

TTL_MS = 2000
LONG_TTL_MS = 20_000
"""For terms that are not to end by themselves, however busy the machine is."""


# --- decisions ----------------------------------------------------------------------------------------


def test_a_granted_lease_counts_from_when_it_was_asked_for() -> None:
    assert granted(Standing(), 10.0, 3.0, 10.5) == Standing(True, 13.0)
    assert granted(Standing(True, 13.0), 11.0, 3.0, 11.1) == Standing(True, 14.0)


def test_an_answer_that_took_as_long_as_the_lease_lives_elects_nobody() -> None:
    assert not granted(Standing(), 10.0, 3.0, 13.0).acting
    assert granted(Standing(), 10.0, 3.0, 12.9).acting


def test_a_late_answer_does_not_shorten_what_a_later_one_gave() -> None:
    assert granted(Standing(True, 14.0), 10.0, 3.0, 11.5) == Standing(True, 14.0)


def test_a_refusal_ends_the_term_at_once() -> None:
    assert refused(Standing(True, 99.0)) == Standing(False, 99.0)


@pytest.mark.parametrize(("now", "acting"), [(12.9, True), (13.0, False), (14.0, False)])
def test_silence_ends_the_term_with_the_lease(now: float, acting: bool) -> None:
    assert unanswered(Standing(True, 13.0), now).acting is acting
    assert not unanswered(Standing(False, 13.0), now).acting


def test_candidates_in_the_lease() -> None:
    candidate = Candidate(3, "fe80::1", 9192, "ä")
    assert Candidate.decode(candidate.encode()) == candidate
    for text in ("", "1", "[1]", "{", "null"):
        assert Candidate.decode(text) is None


# --- candidates ---------------------------------------------------------------------------------------


class Node:
    """A candidate whose controller is the real one; ``events`` is shared by the nodes of a test."""

    def __init__(
        self,
        node_id: int,
        store: MetadataStore,
        events: list[tuple[str, int, int]],
        ttl_ms: int = TTL_MS,
        clock: Clock | None = None,
    ) -> None:
        self.node_id = node_id
        self.store = store
        self.events = events
        self.controller: Controller | None = None
        self.leaders: list[int | None] = []
        self.election = Election(
            store,
            Candidate(node_id, "127.0.0.1", 9000 + node_id, f"store-{node_id}"),
            clock or SystemClock(),
            ttl_ms,
            self._elected,
            self._deposed,
            lambda leader: self.leaders.append(leader.node_id if leader is not None else None),
        )
        self.task = asyncio.ensure_future(self.election.run())

    async def _elected(self) -> None:
        controller = Controller(self.store, load(), self.node_id)
        controller.on_deposed = self.election.step_down
        await controller.start()
        entry = await self.store.get("epochs/controller")
        assert entry is not None
        self.controller = controller  # together: who acts is among the events
        self.events.append(("elected", self.node_id, int(entry.value)))

    async def _deposed(self, reason: str) -> None:
        self.events.append(("deposed", self.node_id, 0))
        self.controller = None

    async def stop(self) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])


async def until(condition: Callable[[], object], seconds: float = 60) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


def virtual_clock() -> VirtualClock:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return VirtualClock(loop)


def acting(nodes: list[Node]) -> list[Node]:
    return [node for node in nodes if node.controller is not None]


def test_one_of_two_acts_and_the_other_knows_where_it_is() -> None:
    async def body() -> None:
        clock = virtual_clock()
        store = MemoryStore(clock)
        events: list[tuple[str, int, int]] = []
        one, two = (Node(number, store, events, clock=clock) for number in (1, 2))
        await until(lambda: acting([one, two]))
        await until(lambda: two.election.leader is not None)
        assert acting([one, two]) == [one]
        assert one.election.leader == two.election.leader == Candidate(1, "127.0.0.1", 9001, "store-1")
        await one.stop()
        await until(lambda: acting([two]))
        assert events == [("elected", 1, 1), ("deposed", 1, 0), ("elected", 2, 2)]
        assert two.leaders == [1, 2]
        assert one.leaders == [1, None]
        await two.stop()
        assert await store.holder(CONTROLLER_LEASE) is None

    run_virtual(body())


def test_a_failed_guard_ends_the_term() -> None:
    """Somebody took the next controller epoch although the lease is ours: our next transaction finds out."""

    async def body() -> None:
        clock = virtual_clock()
        store = MemoryStore(clock)
        events: list[tuple[str, int, int]] = []
        node = Node(1, store, events, clock=clock)
        await until(lambda: acting([node]))
        old = node.controller
        assert old is not None
        await old.register_broker(Registration(1, "h", 9092))
        revision = old.image.revision
        await Controller(store, load(), 9).start()
        with pytest.raises(KafkaError) as refusal:
            await old.register_broker(Registration(2, "h", 9093))
        assert refusal.value.code == ErrorCode.NOT_CONTROLLER
        await until(lambda: len(events) == 3)
        assert events == [("elected", 1, 1), ("deposed", 1, 0), ("elected", 1, 3)]
        with pytest.raises(KafkaError):
            await old.register_broker(Registration(2, "h", 9093))
        assert old.image.revision == revision
        assert node.controller is not None
        await node.controller.register_broker(Registration(2, "h", 9093))
        await node.stop()

    run_virtual(body())


def test_writes_past_the_controller_end_its_term() -> None:
    """Not the guard but a gap in the revisions tells it."""

    async def body() -> None:
        store = MemoryStore()
        controller = Controller(store, load(), 1)
        reasons: list[str] = []
        controller.on_deposed = reasons.append
        await controller.start()
        await store.transact([], {"configs/default": b"{}"})
        for _ in range(2):
            with pytest.raises(KafkaError) as refusal:
                await controller.allocate_producer_ids()
            assert refusal.value.code == ErrorCode.NOT_CONTROLLER
        assert len(reasons) == 1

    run(body)


def test_who_cannot_begin_gives_the_lease_back() -> None:
    async def body() -> None:
        clock = virtual_clock()
        store = MemoryStore(clock)
        tries: list[str] = []

        async def elected() -> None:
            tries.append("elected")
            raise StoreError("no")

        async def deposed(reason: str) -> None:
            tries.append(reason)

        broken = Election(store, Candidate(1, "h", 1, "s"), clock, TTL_MS, elected, deposed)
        task = asyncio.ensure_future(broken.run())
        await until(lambda: len(tries) >= 2)
        assert tries[:2] == ["elected", "it could not begin: no"]
        events: list[tuple[str, int, int]] = []
        node = Node(2, store, events, clock=clock)
        await until(lambda: acting([node]))
        task.cancel()
        await asyncio.wait([task])
        await node.stop()

    run_virtual(body())


def test_who_cannot_begin_for_long_does_not_say_so_for_long(caplog: pytest.LogCaptureFixture) -> None:
    """Two warnings in half a second, where the store takes leases and nothing else."""
    caplog.set_level(logging.INFO, "kproto.controller.election")

    class Full(MemoryStore):
        full = False

        async def transact(self, *args: Any) -> Transacted:
            if self.full:
                raise StoreError("the disk is full")
            return await super().transact(*args)

    async def body() -> None:
        clock = virtual_clock()
        store = Full(clock)
        events: list[tuple[str, int, int]] = []
        store.full = True
        node = Node(1, store, events, clock=clock)
        await asyncio.sleep(AGAIN_SECONDS + 2)
        assert acting([node]) == []
        assert len(events) > AGAIN_SECONDS
        store.full = False
        await until(lambda: acting([node]))
        node.election.step_down("the test says so")
        await until(lambda: not acting([node]))
        await until(lambda: acting([node]))
        await node.stop()

    run_virtual(body())
    said = [record.getMessage() for record in caplog.records if record.name == "kproto.controller.election"]
    assert said == [
        "broker 1 is elected controller",
        *["broker 1 cannot be controller: the disk is full"] * 2,
        "broker 1 cannot be controller: it works again",
        "broker 1 is controller no more: the test says so",
        "broker 1 is elected controller",
        "broker 1 is controller no more: the broker stops",
    ]


def test_what_nobody_foresaw_ends_a_term_in_time_but_not_the_election(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Store(MemoryStore):
        broken = False

        async def lease(self, name: str, holder: str, ttl_ms: int) -> bool:
            if self.broken:
                raise RuntimeError("a bug")
            return await super().lease(name, holder, ttl_ms)

    async def body() -> None:
        clock = virtual_clock()
        store = Store(clock)
        events: list[tuple[str, int, int]] = []
        node = Node(1, store, events, clock=clock)
        await until(lambda: acting([node]))
        store.broken = True
        until_then = node.election._standing.until
        await until(lambda: not node.election.acting)
        assert clock.monotonic() <= until_then + 0.1
        await asyncio.sleep(10)
        store.broken = False
        await until(lambda: acting([node]))
        assert events == [("elected", 1, 1), ("deposed", 1, 0), ("elected", 1, 2)]
        await node.stop()

    run_virtual(body())
    assert "a round of the election failed: a bug" in caplog.text


def test_what_the_store_says_when_it_gives_no_lease_is_told_by_all(caplog: pytest.LogCaptureFixture) -> None:
    """A full etcd, or one that wants a password by now: nobody can be elected, and nobody said why. The last
    renewal before the end of a lease has no time left: that there was no answer to it is not why."""

    class Refusing(MemoryStore):
        refuses = False

        async def lease(self, name: str, holder: str, ttl_ms: int) -> bool:
            if self.refuses:
                await asyncio.sleep(0.2)
                raise StoreError("database space exceeded")
            return await super().lease(name, holder, ttl_ms)

    async def body() -> None:
        clock = virtual_clock()
        store = Refusing(clock)
        events: list[tuple[str, int, int]] = []
        one, two = (Node(number, store, events, clock=clock) for number in (1, 2))
        await until(lambda: acting([one]))
        store.refuses = True
        await asyncio.sleep(AGAIN_SECONDS / 2)
        store.refuses = False
        await until(lambda: one.election.leader is not None and one.election.leader == two.election.leader)
        await one.stop()
        await two.stop()

    run_virtual(body())
    said = [record.getMessage() for record in caplog.records]
    assert "broker 1 is controller no more: the lease could not be renewed: database space exceeded" in said
    unasked = "the metadata store cannot be asked who is controller"
    assert said.count(f"{unasked}: database space exceeded") == 2
    assert said.count(f"{unasked}: it works again") == 2


def test_who_is_too_slow_to_keep_the_lease_leaves_it_to_others() -> None:
    """The store is far away from one broker only: what it asked for too late kept the lease its own, and it
    was elected again every few seconds, for ever."""

    class Far(MemoryStore):
        slow = ""

        async def lease(self, name: str, holder: str, ttl_ms: int) -> bool:
            ours = await super().lease(name, holder, ttl_ms)
            await asyncio.sleep(0.9 if holder == self.slow else 0.0)
            return ours

    async def body() -> None:
        clock = virtual_clock()
        store = Far(clock)
        events: list[tuple[str, int, int]] = []
        one, two = (Node(number, store, events, clock=clock) for number in (1, 2))
        await until(lambda: acting([one]))
        store.slow = one.election._candidate.encode()
        await asyncio.sleep(30)
        assert acting([one, two]) == [two]
        assert len(events) == 3
        await one.stop()
        await two.stop()

    run_virtual(body())


def test_a_silent_store_ends_the_term_in_time() -> None:
    """The store hangs: the term ends when the lease does, also while the controller is still starting. On
    virtual time, so that it does not matter how busy the machine is."""
    loop = SimLoop(Random(1))

    class LoopClock(ManualClock):
        def monotonic(self) -> float:
            return loop.time()

    class Hanging(MemoryStore):
        hangs = False

        async def lease(self, name: str, holder: str, ttl_ms: int) -> bool:
            if self.hangs:
                await asyncio.get_running_loop().create_future()
            return await super().lease(name, holder, ttl_ms)

    async def body() -> None:
        store = Hanging(ManualClock())
        events: list[str] = []

        async def elected() -> None:
            events.append("elected")
            try:
                await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                events.append("cancelled")
                raise

        async def deposed(reason: str) -> None:
            events.append(reason)

        election = Election(store, Candidate(1, "h", 1, "s"), LoopClock(), 500, elected, deposed)
        task = asyncio.ensure_future(election.run())
        await until(lambda: events)
        store.hangs = True
        ends = election._standing.until
        await until(lambda: len(events) == 3)
        assert ends <= loop.time() < ends + 0.02
        assert events == ["elected", "cancelled", "the lease could not be renewed: no answer"]
        assert not election.acting
        store.hangs = False
        await until(lambda: len(events) == 4)
        task.cancel()
        await asyncio.wait([task])

    loop.run_until_complete(body())
    assert loop.errors == []
    loop.bury()


# --- with etcd ----------------------------------------------------------------------------------------


def with_stores(address: str, count: int, work: Callable[[list[EtcdStore]], Awaitable[None]]) -> None:
    """Stores of as many brokers on one prefix of its own."""

    async def body() -> None:
        url = EtcdUrl((address,), f"tests/{secrets.token_hex(8)}")
        stores = [await EtcdStore.open(url) for _ in range(count)]
        try:
            await work(stores)
        finally:
            for store in stores:
                await store.close()

    asyncio.run(asyncio.wait_for(body(), 240))


def test_rivals_with_etcd_never_share_an_epoch() -> None:
    """Terms end in every way, over and over; whoever is controller writes under its guard all the time."""

    async def work(stores: list[EtcdStore]) -> None:
        events: list[tuple[str, int, int]] = []
        nodes = [Node(number, store, events) for number, store in enumerate(stores, 1)]
        ids: list[int] = []

        async def write(node: Node) -> None:
            while True:
                controller = node.controller
                if controller is None:
                    await asyncio.sleep(0.01)
                    continue
                try:
                    first, _ = await controller.allocate_producer_ids()
                    ids.append(first)
                except KafkaError as error:  # the other one: a busy etcd did not answer for long
                    assert error.code in (ErrorCode.NOT_CONTROLLER, ErrorCode.KAFKA_STORAGE_ERROR)  # noqa: PT017

        writers = [asyncio.ensure_future(write(node)) for node in nodes]
        for turn in range(6):
            before = len(ids)
            await until(lambda before=before: len(ids) > before + 10 and acting(nodes))  # type: ignore[misc]
            now = acting(nodes)[0]
            terms, ended = len(events), ("deposed", now.node_id, 0)
            if turn % 3 == 0:
                now.election.step_down("the test says so")
            elif turn % 3 == 1:
                other = next(node for node in nodes if node is not now).election._candidate.encode()
                while await stores[0].holder(CONTROLLER_LEASE) != other:
                    await stores[0].release(CONTROLLER_LEASE, now.election._candidate.encode())
                    await stores[0].lease(CONTROLLER_LEASE, other, LONG_TTL_MS)
            else:
                await Controller(stores[0], load(), 9).start()
            await until(lambda ended=ended, terms=terms: ended in events[terms:])  # type: ignore[misc]
        epochs = [epoch for what, _, epoch in events if what == "elected"]
        assert len(epochs) >= 5
        assert epochs == sorted(set(epochs))
        assert ids == sorted(set(ids))
        assert all(first % 1000 == 0 for first in ids)
        for each in writers:
            assert not each.done() or each.exception() is None
            each.cancel()
        for node in nodes:
            await node.stop()

    with_stores(shared_etcd(), 2, work)


def test_a_controller_that_cannot_reach_etcd_stops_before_the_next_one_begins() -> None:
    async def work(stores: list[EtcdStore]) -> None:
        events: list[tuple[str, int, int]] = []
        nodes = [Node(number, store, events) for number, store in enumerate(stores, 1)]
        await until(lambda: acting(nodes) and all(node.election.leader is not None for node in nodes))
        old = acting(nodes)[0]
        zombie = old.controller
        before, (_, _, epoch) = len(events), events[-1]
        await old.store.close()
        await until(lambda: len(events) >= before + 2)
        ended, begun = events[before : before + 2]
        assert ended == ("deposed", old.node_id, 0)
        assert begun[:2] == ("elected", 3 - old.node_id)
        assert begun[2] > epoch
        assert zombie is not None
        with pytest.raises(KafkaError):
            await zombie.allocate_producer_ids()
        for node in nodes:
            await node.stop()

    with_stores(shared_etcd(), 2, work)


def test_a_term_outlives_a_restart_of_etcd(tmp_path: Path) -> None:
    """etcd is killed and back within the lease: the controller goes on; the guard holds as before."""

    def body(address: str, restart: Callable[[], None]) -> None:
        async def work(stores: list[EtcdStore]) -> None:
            events: list[tuple[str, int, int]] = []
            nodes = [Node(number, store, events, LONG_TTL_MS) for number, store in enumerate(stores, 1)]
            await until(lambda: acting(nodes))
            now = acting(nodes)[0]
            controller = now.controller
            assert controller is not None
            restart()
            for number in range(20):
                assert (await controller.allocate_producer_ids())[0] == 1000 * number
            entry = await stores[1].get("epochs/controller")
            assert entry is not None
            guard = Condition("epochs/controller", entry.revision)
            assert (await stores[1].transact([guard], {})).succeeded
            assert events == [("elected", now.node_id, 1)]
            for node in nodes:
                await node.stop()

        with_stores(address, 2, work)

    with etcd_cluster(tmp_path) as (etcd,):

        def restart() -> None:
            etcd.kill()
            etcd.start()

        body(etcd.address, restart)
