"""The store backends behind one context manager, for tests that must hold for all."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from kproto.clock import ManualClock
from kproto.config.store_url import EtcdUrl
from kproto.metadata import MetadataStore
from kproto.metadata.etcd import EtcdStore
from kproto.metadata.memory import MemoryStore
from kproto.metadata.sqlite import SqliteStore

from .etcd_process import shared_etcd

BACKENDS: Final = ("memory", "sqlite", "etcd")


@asynccontextmanager
async def opened(backend: str, clock: ManualClock | None = None) -> AsyncIterator[MetadataStore]:
    """An empty store, closed and deleted afterwards."""
    clock = clock or ManualClock()
    if backend == "memory":
        yield MemoryStore(clock)
        return
    if backend == "etcd":
        etcd = await EtcdStore.open(EtcdUrl((shared_etcd(),), f"tests/{secrets.token_hex(8)}"))
        try:
            yield etcd
        finally:
            await etcd.close()
        return
    with tempfile.TemporaryDirectory() as directory:
        store = await SqliteStore.open(Path(directory) / "metadata.db", clock)
        try:
            yield store
        finally:
            await store.close()


def run(work: Callable[[], Awaitable[None]]) -> None:
    """Run an async test body with a limit on its time."""
    asyncio.run(asyncio.wait_for(work(), 240))  # type: ignore[arg-type]
