"""Small clusters for controller tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from kproto.config import Settings, load
from kproto.controller import Controller
from kproto.controller.registration import Registration
from kproto.metadata import BrokerRecord, Change, MetadataImage, MetadataStore
from kproto.metadata.memory import MemoryStore


def run(work: Callable[[], Awaitable[None]]) -> None:
    """Run an async test body with a limit on its time."""
    asyncio.run(asyncio.wait_for(work(), 240))  # type: ignore[arg-type]


def image_of(brokers: int, racks: tuple[str, ...] = ()) -> MetadataImage:
    """An image of brokers 1..n and nothing else."""
    records = [
        BrokerRecord(n, n, f"host{n}", 9092, racks[(n - 1) % len(racks)] if racks else None)
        for n in range(1, brokers + 1)
    ]
    return MetadataImage().apply(Change(1, {each.key: each.encode() for each in records}, ()))


def applied(image: MetadataImage, puts: dict[str, bytes], deletes: list[str] | None = None) -> MetadataImage:
    """The image after a decision was committed."""
    return image.apply(Change(image.revision + 1, puts, tuple(deletes or ())))


async def started(
    store: MetadataStore | None = None, settings: Settings | None = None, brokers: int = 1
) -> Controller:
    """A controller on node 1 with brokers 1..n registered."""
    controller = Controller(store or MemoryStore(), settings or load(), 1)
    await controller.start()
    for node_id in range(1, brokers + 1):
        await controller.register_broker(Registration(node_id, f"host{node_id}", 9091 + node_id))
    return controller
