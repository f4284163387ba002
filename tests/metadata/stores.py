"""The two store backends behind one context manager, for tests that must hold for both."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from kproto.clock import ManualClock
from kproto.metadata import MetadataStore
from kproto.metadata.memory import MemoryStore
from kproto.metadata.sqlite import SqliteStore

BACKENDS: Final = ("memory", "sqlite")


@asynccontextmanager
async def opened(backend: str, clock: ManualClock | None = None) -> AsyncIterator[MetadataStore]:
    """An empty store, closed and deleted afterwards."""
    clock = clock or ManualClock()
    if backend == "memory":
        yield MemoryStore(clock)
        return
    with tempfile.TemporaryDirectory() as directory:
        store = await SqliteStore.open(Path(directory) / "metadata.db", clock)
        try:
            yield store
        finally:
            await store.close()


def run(work: Callable[[], Awaitable[None]]) -> None:
    """Run an async test body with a limit on its time."""
    asyncio.run(asyncio.wait_for(work(), 60))  # type: ignore[arg-type]
