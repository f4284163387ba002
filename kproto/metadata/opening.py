"""Which backend of :class:`~kproto.metadata.store.MetadataStore` a broker uses: ``kproto.metadata.store``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.metadata.store import MetadataStore

SQLITE_FILE = "metadata.sqlite"


async def open_store(kind: str, directory: str, clock: Clock) -> MetadataStore:
    """Open the store of a data directory; raises :class:`~kproto.metadata.store.StoreError`.

    ``kind`` is ``sqlite`` or ``memory``; what is in memory is gone when the process ends, topics included.
    """
    if kind == "memory":
        from kproto.metadata.memory import MemoryStore

        return MemoryStore(clock)
    from kproto.metadata.sqlite import SqliteStore

    return await SqliteStore.open(os.path.join(directory, SQLITE_FILE), clock)
