"""Whole brokers of one cluster in one event loop, spoken to over sockets."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from kproto.broker import Broker
from kproto.config import load
from kproto.metadata import MetadataImage
from tests.groups.conversation import Remote

SECRET = "test"


class Members:
    """Brokers 1 to n; 1 has the metadata. ``call`` is what a client of one of them would do."""

    def __init__(self, directory: Path, settings: dict[str, str]) -> None:
        self._directory = directory
        self._settings = {
            "group.initial.rebalance.delay.ms": "0",
            "kproto.cluster.secret": SECRET,
            **settings,
        }
        self.brokers: dict[int, Broker] = {}

    async def start(self, node_id: int) -> None:
        directory = self._directory / str(node_id)
        directory.mkdir(exist_ok=True)
        own = {
            "log.dirs": str(directory),
            "listeners": "PLAINTEXT://127.0.0.1:0",
            "node.id": str(node_id),
            "kproto.internal.listen": "127.0.0.1:0",
        }
        if node_id != 1:
            member = self.brokers[1]._member
            assert member is not None
            own["kproto.join"] = f"127.0.0.1:{member.port}"
        broker = Broker(load(None, {**self._settings, **own}))
        await broker.start()
        self.brokers[node_id] = broker
        await self.until(lambda: all(node_id in self.image(n).brokers for n in self.brokers))

    async def stop(self, node_id: int) -> None:
        await self.brokers.pop(node_id).stop()

    async def kill(self, node_id: int) -> None:
        """End a broker without handing over: the others have to find out, and to seal what it led."""
        member = self.brokers[node_id]._member
        assert member is not None
        member._on_fenced = None
        await self.stop(node_id)

    def image(self, node_id: int = 1) -> MetadataImage:
        return self.brokers[node_id]._controller.image

    async def call(self, node_id: int, key: int, version: int, /, **fields: Any) -> Any:
        return await Remote("127.0.0.1", self.brokers[node_id].port).call(key, version, **fields)

    async def until(self, condition: Callable[[], object], seconds: float = 90) -> None:
        """Wait until ``condition()`` holds."""
        try:
            async with asyncio.timeout(seconds):
                while not condition():
                    await asyncio.sleep(0.005)
        except TimeoutError:
            raise AssertionError("it did not come true") from None

    async def close(self) -> None:
        for node_id in sorted(self.brokers, reverse=True):
            await self.stop(node_id)


@asynccontextmanager
async def members(directory: Path, count: int, **settings: str) -> AsyncIterator[Members]:
    """``count`` brokers; setting names have underscores for dots."""
    cluster = Members(directory, {name.replace("_", "."): value for name, value in settings.items()})
    try:
        for node_id in range(1, count + 1):
            await cluster.start(node_id)
        yield cluster
    finally:
        await cluster.close()
