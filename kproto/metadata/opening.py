"""Which backend of :class:`~kproto.metadata.store.MetadataStore` a broker uses: ``kproto.metadata.store``."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import TYPE_CHECKING, Final

from kproto.config.store_url import SCHEME, parse_etcd_url
from kproto.metadata.store import StoreError, UnreachableError

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.metadata.store import MetadataStore

log = logging.getLogger(__name__)

SQLITE_FILE = "metadata.sqlite"
MEMORY: Final = "memory"
"""Another cluster with every start."""
TELL_SECONDS: Final = 3.0
"""A store that answers later than this is waited for visibly."""


async def wait_for_store(kind: str, directory: str, clock: Clock) -> MetadataStore:
    """As :func:`open_store`, but waits for a store that nobody answers for: a broker may start before etcd
    does, or while etcd is away. One line says so.
    """
    loop = asyncio.get_running_loop()
    telling = loop.call_later(TELL_SECONDS, log.warning, "%s does not answer: waiting for it", kind)
    try:
        while True:
            try:
                return await open_store(kind, directory, clock)
            except UnreachableError as error:
                log.info("trying again: %s", error)
    finally:
        telling.cancel()


async def open_store(kind: str, directory: str, clock: Clock) -> MetadataStore:
    """Open the store of a data directory; raises :class:`~kproto.metadata.store.StoreError`.

    ``kind`` is ``sqlite``, ``memory`` (gone when the process ends, topics included) or an ``etcd://`` URL.
    """
    if kind == MEMORY:
        from kproto.metadata.memory import MemoryStore

        return MemoryStore(clock)
    if kind.startswith(SCHEME):
        return await _open_etcd(kind)
    from kproto.metadata.sqlite import SqliteStore

    return await SqliteStore.open(os.path.join(directory, SQLITE_FILE), clock)


async def _open_etcd(text: str) -> MetadataStore:
    try:
        url = parse_etcd_url(text)
    except ValueError as error:
        raise StoreError(f"kproto.metadata.store: {text!r} {error}") from None
    try:
        from kproto.metadata.etcd import EtcdStore
    except ImportError as error:
        how = "kproto's extra 'etcd': pip install '.[etcd]' in a clone"
        raise StoreError(f"kproto.metadata.store: etcd needs {how} ({error})") from None
    return await EtcdStore.open(url)
