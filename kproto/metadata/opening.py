"""Which backend of :class:`~kproto.metadata.store.MetadataStore` a broker uses: ``kproto.metadata.store``."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from typing import TYPE_CHECKING, Final

from kproto.config.store_url import SCHEME, parse_etcd_url
from kproto.metadata.history import NOTHING, Seen, Terms
from kproto.metadata.records import CLUSTER_KEY, TERMS
from kproto.metadata.store import EmptyStoreError, NoTablesError, StoreError, UnreachableError

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.metadata.store import MetadataStore

log = logging.getLogger(__name__)

SQLITE_FILE = "metadata.sqlite"
KEPT_LOG: Final = "-wal.refused"
"""Behind that name: the log of before a start that was refused."""
MEMORY: Final = "memory"
"""Another cluster with every start."""
TELL_SECONDS: Final = 3.0
"""A store that answers later than this is waited for visibly."""


async def wait_for_store(
    kind: str, directory: str, clock: Clock, cluster_id: str = "", seen: Seen = NOTHING
) -> MetadataStore:
    """As :func:`open_store`, but waits for a store that nobody answers for: a broker may start before etcd
    does, or while etcd is away. One line says so.
    """
    loop = asyncio.get_running_loop()
    telling = loop.call_later(TELL_SECONDS, log.warning, "%s does not answer: waiting for it", kind)
    try:
        while True:
            try:
                return await open_store(kind, directory, clock, cluster_id, seen)
            except UnreachableError as error:
                log.info("trying again: %s", error)
    finally:
        telling.cancel()


async def open_store(
    kind: str, directory: str, clock: Clock, cluster_id: str = "", seen: Seen = NOTHING
) -> MetadataStore:
    """Open the store of a data directory; raises :class:`~kproto.metadata.store.StoreError`.

    ``kind`` is ``sqlite``, ``memory`` (gone when the process ends, topics included) or an ``etcd://`` URL.
    ``cluster_id``: of which cluster the directory is, if of any. A store without metadata is not that one's
    then: :class:`~kproto.metadata.store.EmptyStoreError`, and no file is made; nor is one without what the
    directory's broker has ``seen``: :class:`~kproto.metadata.history.OlderStoreError`.
    """
    if kind == MEMORY:
        from kproto.metadata.memory import MemoryStore

        return MemoryStore(clock)
    if kind.startswith(SCHEME):
        return await _checked(await _open_etcd(kind), cluster_id, seen)
    from kproto.metadata.sqlite import SqliteStore

    path = os.path.join(directory, SQLITE_FILE)
    if cluster_id and not os.path.exists(path):
        raise EmptyStoreError(cluster_id)
    _keep_log(path)
    try:
        store = await SqliteStore.open(path, clock, new=not cluster_id)
    except NoTablesError:
        raise EmptyStoreError(cluster_id) from None
    await _checked(store, cluster_id, seen)
    with contextlib.suppress(OSError):
        os.unlink(path + KEPT_LOG)
    return store


async def _checked(store: MetadataStore, cluster_id: str, seen: Seen) -> MetadataStore:
    """The store, if it has what was ``seen`` of that cluster; else it is closed, and the error says why. What
    is damaged is told as that first, whatever else it looks like."""
    try:
        cluster = await store.get(CLUSTER_KEY)
        revision, terms = await store.range(TERMS)
        lacks = cluster is None or (
            cluster.value.decode() == cluster_id and Terms(terms).lack(seen, revision)
        )
        if cluster_id and lacks:
            await store.range("")
            if cluster is None:
                raise EmptyStoreError(cluster_id)
            Terms(terms).check(seen, revision)
    except BaseException:
        await store.close()
        raise
    return store


def _keep_log(path: str) -> None:
    """Give SQLite's log another name, too, until the file is known to be whole: who opens it and goes away
    again takes what is before a damaged frame into the file, and removes the log with what is behind it.
    The next time that frame may be read right."""
    with contextlib.suppress(OSError):  # there is no log; or there is one from a start that was refused
        os.link(path + "-wal", path + KEPT_LOG)


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
