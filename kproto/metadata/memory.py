"""The memory backend of :class:`~kproto.metadata.store.MetadataStore`: for tests, the simulator and
in-process fixtures. Nothing survives the process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kproto.clock import SystemClock
from kproto.metadata.store import Change, Condition, Entry, OneProcess, Transacted

if TYPE_CHECKING:
    from kproto.clock import Clock


class MemoryStore(OneProcess):
    """A dictionary behind the store's interface; linearizable because no call waits half-way."""

    __slots__ = ("_entries", "_revision")

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__(clock if clock is not None else SystemClock())
        self._entries: dict[str, Entry] = {}
        self._revision = 0

    async def get(self, key: str) -> Entry | None:
        return self._entries.get(key)

    async def range(self, prefix: str) -> tuple[int, list[Entry]]:
        keys = sorted(key for key in self._entries if key.startswith(prefix))
        return self._revision, [self._entries[key] for key in keys]

    async def transact(
        self, conditions: Sequence[Condition], puts: Mapping[str, bytes], deletes: Sequence[str] = ()
    ) -> Transacted:
        for key, revision in conditions:
            entry = self._entries.get(key)
            if (entry.revision if entry is not None else 0) != revision:
                return Transacted(False, self._revision)
        removed = tuple(sorted({key for key in deletes if key in self._entries and key not in puts}))
        if not puts and not removed:
            return Transacted(True, self._revision)
        self._revision += 1
        for key in removed:
            del self._entries[key]
        for key, value in puts.items():
            self._entries[key] = Entry(key, value, self._revision)
        self._log.append(Change(self._revision, dict(puts), removed))
        return Transacted(True, self._revision)

    async def close(self) -> None:
        """Nothing to let go of."""
