"""``MetadataStore``: the little that the controller asks of a store, and what the backends share.

Linearizable compare-and-set transactions over text keys and UTF-8 values without NUL, ranges, a watch from
a revision, and leases. Every successful transaction that changes anything gets the next revision. Leases
only detect death; safety comes from epochs and compare-and-set (rule 1).
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    import asyncio

    from kproto.clock import Clock

ABSENT: Final = 0
"""In a :class:`Condition`: the key must not exist."""

HISTORY_CHANGES: Final = 1000
"""Changes kept for watchers that start behind."""


class StoreError(Exception):
    """The store cannot be opened or written; ``str(error)`` is one line for the operator."""


class EmptyStoreError(StoreError):
    """There is no metadata, though the data directory is of cluster ``cluster_id``: begun anew it would be
    another cluster, which no directory of this one belongs to."""

    def __init__(self, cluster_id: str) -> None:
        super().__init__(
            f"the metadata is empty, but this data directory is of cluster {cluster_id}: restore the metadata"
            " from a backup, look at kproto.join and kproto.metadata.store, or use another directory"
        )


class NoTablesError(StoreError):
    """A file that is to be a store has nothing in it."""


class CompactedError(StoreError):
    """A watch asked for changes that are no longer kept: read everything again."""


class UnreachableError(StoreError):
    """Nobody answered for the store in time; a later try may. Whether the request arrived is not known."""


class UnknownOutcomeError(StoreError):
    """Whether a transaction happened is not known: who goes on must read everything again."""


class Entry(NamedTuple):
    """A key with its value and the revision of the transaction that wrote it last."""

    key: str
    value: bytes
    revision: int


class Condition(NamedTuple):
    """Holds when the key was last written by ``revision``, or does not exist for :data:`ABSENT`."""

    key: str
    revision: int


class Change(NamedTuple):
    """What one transaction did."""

    revision: int
    puts: Mapping[str, bytes]
    deletes: tuple[str, ...]


class Transacted(NamedTuple):
    """``revision`` is that of the transaction, or the store's current one when the conditions failed."""

    succeeded: bool
    revision: int


class MetadataStore(Protocol):
    """A store of metadata; see the module's text. All methods may raise :class:`StoreError`."""

    async def get(self, key: str) -> Entry | None:
        """The newest entry of a key."""
        ...

    async def range(self, prefix: str) -> tuple[int, list[Entry]]:
        """Revision of the store and all entries whose key starts with ``prefix``, in key order."""
        ...

    async def transact(
        self, conditions: Sequence[Condition], puts: Mapping[str, bytes], deletes: Sequence[str] = ()
    ) -> Transacted:
        """If all conditions hold, write ``puts`` and remove ``deletes`` (missing ones are fine), at once."""
        ...

    def watch(self, after_revision: int) -> AsyncIterator[Change]:
        """Every change after ``after_revision``, in order, without end; raises :class:`CompactedError`."""
        ...

    async def lease(self, name: str, holder: str, ttl_ms: int) -> bool:
        """Take or renew a lease; False while another holder has it."""
        ...

    async def holder(self, name: str) -> str | None:
        """Who has a lease; None when nobody has."""
        ...

    async def release(self, name: str, holder: str) -> None:
        """Give a lease back; nothing happens when ``holder`` does not have it."""
        ...

    async def close(self) -> None:
        """Finish what was begun and let go of files and threads."""
        ...


@dataclass(slots=True)
class _Lease:
    holder: str
    expires: float


class Leases:
    """Leases in memory."""

    __slots__ = ("_clock", "_leases")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._leases: dict[str, _Lease] = {}

    def lease(self, name: str, holder: str, ttl_ms: int) -> bool:
        now = self._clock.monotonic()
        current = self._leases.get(name)
        if current is not None and current.holder != holder and current.expires > now:
            return False
        self._leases[name] = _Lease(holder, now + ttl_ms / 1000)
        return True

    def holder(self, name: str) -> str | None:
        current = self._leases.get(name)
        return current.holder if current is not None and current.expires > self._clock.monotonic() else None

    def release(self, name: str, holder: str) -> None:
        current = self._leases.get(name)
        if current is not None and current.holder == holder:
            del self._leases[name]


class ChangeLog:
    """The last changes of a store and the watchers waiting for the next one."""

    __slots__ = ("_changes", "_dropped_to", "_waiting")

    def __init__(self, revision: int) -> None:
        self._changes: deque[Change] = deque()
        self._dropped_to = revision
        self._waiting: set[asyncio.Future[None]] = set()

    def append(self, change: Change) -> None:
        """Keep a change and wake all watchers. On the event loop's thread."""
        self._changes.append(change)
        if len(self._changes) > HISTORY_CHANGES:
            self._dropped_to = self._changes.popleft().revision
        waiting, self._waiting = self._waiting, set()
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def watch(self, after_revision: int) -> AsyncIterator[Change]:
        """See :meth:`MetadataStore.watch`."""
        import asyncio

        seen = after_revision
        while True:
            if seen < self._dropped_to:
                raise CompactedError(f"changes up to revision {self._dropped_to} are no longer kept")
            ready = [change for change in self._changes if change.revision > seen]
            for change in ready:
                yield change
                seen = change.revision
            if not ready:
                future = asyncio.get_running_loop().create_future()
                self._waiting.add(future)
                try:
                    await future
                finally:
                    self._waiting.discard(future)


class OneProcess:
    """What is the same in all stores that one process at a time can open: changes and leases in memory."""

    __slots__ = ("_leases", "_log")

    def __init__(self, clock: Clock) -> None:
        self._leases = Leases(clock)
        self._log = ChangeLog(0)

    def watch(self, after_revision: int) -> AsyncIterator[Change]:
        return self._log.watch(after_revision)

    async def lease(self, name: str, holder: str, ttl_ms: int) -> bool:
        return self._leases.lease(name, holder, ttl_ms)

    async def holder(self, name: str) -> str | None:
        return self._leases.holder(name)

    async def release(self, name: str, holder: str) -> None:
        self._leases.release(name, holder)
