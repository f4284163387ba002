"""Producers that wait for the leader's journal only (acks=1), and send again and again meanwhile.

For them the next frame goes before all copies have the last one, so that several are in flight. They are
promised nothing, and never send anything twice: what they wrote must only be the same for everybody who sees
it, and in order.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING

from kproto.errors import KafkaError
from kproto.handlers.leading import led_here

from .clients import Clients, Ledger, Unanswered, make_chunk, services_of

if TYPE_CHECKING:
    from kproto.broker import Broker

    from .world import World

FIRST_PID = 1 << 20
MOST_AT_ONCE = 6


class Hasty:
    """All of them in one world; those of one moment write to one partition."""

    def __init__(self, world: World, clients: Clients) -> None:
        self.world = world
        self.clients = clients
        self.random = Random(f"hasty {world.seed}")
        self.pid = FIRST_PID

    async def run(self) -> None:
        """Until the clients stop."""
        ledgers = [ledger for ledger in self.clients.ledgers if ledger.copies > 1]
        while ledgers and self.clients.running:
            await asyncio.sleep(0.4 * self.random.random() * self.world.pace)
            ledger = self.random.choice(ledgers)
            some = range(self.random.randint(2, MOST_AT_ONCE))
            await asyncio.gather(*(self._send(ledger, 0.012 * number) for number in some))

    async def _send(self, ledger: Ledger, wait: float) -> None:
        await asyncio.sleep(wait)
        found = self.clients.find(ledger)
        if found is None:
            return
        self.pid += 1
        chunk = make_chunk(self.pid, 0, 1, self.random.choice((20, 400)), self.world.clock.wall_ms())
        try:
            await self.clients.ask(found[0], lambda broker: write(broker, ledger, chunk))
        except (KafkaError, Unanswered):
            return
        self.world.count("written by the hasty")


async def write(broker: Broker, ledger: Ledger, chunk: bytes) -> None:
    """What the Produce handler does with acks=1."""
    services = services_of(broker)
    record = services.image().topics.get(ledger.topic)
    partition = led_here(services, record, ledger.index)
    partition.append(memoryview(bytearray(chunk)))
    vlog = partition.vlog
    assert vlog is not None
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def written() -> None:
        if not future.done():
            future.set_result(None)

    vlog.when_written(vlog.end, written)
    await future
