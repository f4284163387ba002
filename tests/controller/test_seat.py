"""Brokers that share etcd, over real sockets: whoever is elected answers, and nobody else notices much."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kproto.clock import SystemClock
from kproto.config import load
from kproto.config.store_url import EtcdUrl
from kproto.controller.controller import Controller
from kproto.controller.election import Candidate, candidacy
from kproto.controller.service import AnswerClient
from kproto.metadata import BrokerRecord, client
from kproto.metadata.client import MetadataClient
from kproto.metadata.etcd import EtcdStore
from kproto.net.internal import Caller, InternalListener
from kproto.net.peers import Address, Peers
from kproto.net.ports import Buffer
from kproto.wire.internal import Api
from tests.metadata.etcd_process import etcd_cluster, shared_etcd

from .worlds import run

SESSION_MS = 10_000


def answering(controller: Controller) -> AnswerClient:
    async def answer(frame: memoryview, peer: str) -> bytes:
        return f"{controller.node_id} answers {peer}: ".encode() + bytes(frame)

    return answer


class Machine:
    """A broker without data: listener, peers, a client of the metadata, and a seat."""

    def __init__(self, node_id: int, store: EtcdStore) -> None:
        overrides = {"node.id": str(node_id), "broker.session.timeout.ms": str(SESSION_MS)}
        self.node_id = node_id
        self.store = store
        self.fenced: list[str] = []
        self.leader: Candidate | None = None
        self.listener = InternalListener("secret", node_id=node_id)
        self.port = self.listener.bind("127.0.0.1", 0)
        self.peers = Peers(node_id, "secret", self._address_of, lambda: self.client.epoch)
        self.client = MetadataClient(self.peers, self._candidates, SESSION_MS)
        self.client.on_fenced = self.fenced.append
        settings, clock = load(None, overrides), SystemClock()
        candidate = Candidate(node_id, "127.0.0.1", self.port, f"store-{node_id}")
        wiring = (self.listener, self.peers, self.peers.refused, answering, self._led_by)
        self.election, self.seat = candidacy(store, settings, clock, candidate, *wiring)
        self.peers.on_lost = self.seat.lost
        self.listener.on_closed = lambda caller: self.seat.lost(caller.node_id)
        self.listener.accept()
        self.task = asyncio.ensure_future(self.election.run())

    def _led_by(self, leader: Candidate | None) -> None:
        self.leader = leader or self.leader
        self.client.turn()

    def _candidates(self) -> Sequence[int]:
        return (self.leader.node_id,) if self.leader is not None else ()

    def _address_of(self, node_id: int) -> Address | None:
        if self.leader is not None and self.leader.node_id == node_id:
            return self.leader.host, self.leader.port
        broker = self.client.image.brokers.get(node_id)
        return (broker.internal_host, broker.internal_port) if broker is not None else None

    async def join(self) -> None:
        own = BrokerRecord(self.node_id, 0, "h", 9092, None, "127.0.0.1", self.port, f"store-{self.node_id}")
        await self.client.register(own)
        self.client.start()

    async def close(self) -> None:
        """What comes before the end of the process decides whether the lease is given back."""
        await self.client.close()
        self.peers.close()
        self.listener.close()
        self.task.cancel()
        await asyncio.wait([self.task])
        await self.store.close()

    async def crash(self) -> None:
        await self.store.close()
        await self.close()


@asynccontextmanager
async def machines(address: str, count: int = 3) -> AsyncIterator[list[Machine]]:
    url = EtcdUrl((address,), f"tests/{secrets.token_hex(8)}")
    started = [Machine(number, await EtcdStore.open(url)) for number in range(1, count + 1)]
    try:
        for machine in started:
            await machine.join()
        yield started
    finally:
        for machine in started:
            await machine.close()


def seated(of: Sequence[Machine]) -> list[Machine]:
    return [machine for machine in of if machine.seat.controller is not None]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(90):
        while not condition():
            await asyncio.sleep(0.01)


async def check_alike(of: Sequence[Machine], blocks: list[int]) -> None:
    """All work with one controller and have one picture; ``blocks`` collects producer ids given out."""
    for machine in of:
        first, _ = await machine.client.propose("producer_ids", None)
        blocks.append(first)
    assert blocks == list(range(0, 1000 * len(blocks), 1000))
    (acting,) = seated(of)
    image = acting.seat.controller.image  # type: ignore[union-attr]
    await until(lambda: all(machine.client.image.revision >= image.revision for machine in of))
    for machine in of:
        if machine.client.image.revision == image.revision:
            assert machine.client.image.brokers == image.brokers
    await until(lambda: {machine.client.image.controller_id for machine in of} == {acting.node_id})
    answer = await of[-1].client.forward(b"frame", "client")
    assert answer == b"%d answers client: frame" % acting.node_id


def epochs(of: Sequence[Machine]) -> list[int]:
    return [machine.client.epoch for machine in of]


def test_the_seat_goes_from_broker_to_broker() -> None:
    """Each change of the controller leaves every broker a member under the epoch it has."""

    async def body() -> None:
        async with machines(shared_etcd()) as all_:
            blocks: list[int] = []
            await check_alike(all_, blocks)
            before = epochs(all_)
            assert sorted(before) == [1, 2, 3]
            for _ in range(4):
                (acting,) = seated(all_)
                acting.election.step_down("the test says so")
                await until(lambda acting=acting: seated(all_) != [acting])  # type: ignore[misc]
                await until(lambda: seated(all_))
                await check_alike(all_, blocks)
            assert epochs(all_) == before
            assert not any(machine.fenced for machine in all_)

    run(body)


def test_another_broker_takes_the_seat_of_one_that_died() -> None:
    """The survivors stay members, the dead one is fenced by its successor, proposals go on."""

    async def body() -> None:
        async with machines(shared_etcd()) as all_:
            blocks: list[int] = []
            await check_alike(all_, blocks)
            (dead,) = seated(all_)
            rest = [machine for machine in all_ if machine is not dead]
            before = epochs(rest)
            await dead.crash()
            await until(lambda: seated(rest))
            await check_alike(rest, blocks)
            await until(lambda: all(dead.node_id not in machine.client.image.brokers for machine in rest))
            assert epochs(rest) == before
            assert not any(machine.fenced for machine in rest)

    run(body)


def test_what_a_controller_does_not_answer_goes_on_to_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections stay, as those of a process that hangs."""
    monkeypatch.setattr(client, "PROPOSAL_SECONDS", 1000.0)

    async def body() -> None:
        async with machines(shared_etcd()) as all_:
            await check_alike(all_, [])
            (last,) = seated(all_)
            asked: list[int] = []

            async def hang(caller: Caller, _: memoryview) -> tuple[int, Sequence[Buffer]]:
                asked.append(caller.node_id)
                return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]

            last.listener.serve_async(Api.PROPOSE, hang)
            rest = [machine for machine in all_ if machine is not last]
            asking = [asyncio.ensure_future(each.client.propose("producer_ids", None)) for each in rest]
            await until(lambda: len(asked) == len(rest))
            last.task.cancel()
            firsts = [first for first, _ in await asyncio.gather(*asking)]
            assert sorted(firsts) == [3000, 4000]
            assert seated(rest)
            assert not any(machine.fenced for machine in all_)

    run(body)


def test_etcd_may_be_away_for_a_while(tmp_path: Path) -> None:
    """Longer than the lease: nobody is controller meanwhile; afterwards one is, and all are members still."""

    async def body() -> None:
        with etcd_cluster(tmp_path) as (etcd,):
            async with machines(etcd.address) as all_:
                blocks: list[int] = []
                await check_alike(all_, blocks)
                before = epochs(all_)
                etcd.kill()
                await until(lambda: not seated(all_))
                await asyncio.sleep(0.5)
                etcd.start()
                await until(lambda: seated(all_))
                await check_alike(all_, blocks)
                assert epochs(all_) == before
                assert not any(machine.fenced for machine in all_)

    run(body)


def test_a_seat_that_lost_its_guard_answers_nobody_any_more() -> None:
    """A controller elsewhere took the next epoch: the next proposal ends the term, and is then answered."""

    async def body() -> None:
        async with machines(shared_etcd(), 2) as all_:
            blocks: list[int] = []
            await check_alike(all_, blocks)
            (acting,) = seated(all_)
            old = acting.seat.controller
            await Controller(all_[0].store, load(), 9).start()
            await check_alike(all_, blocks)
            assert acting.seat.controller is not old
            assert not any(machine.fenced for machine in all_)

    run(body)
