"""Of all look-ups by time one goes on at a time: a batch of a few bytes may unpack to 64 MB, and a look-up
holds what it has unpacked until it has walked through it. Who waits for a file or another broker stands
aside.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Hashable


class Line:
    """Those of different keys take turns: whoever asks a thousand things holds up others by one.

    Invariants: no queue in ``_waiting`` is empty; nobody waits unless somebody is inside.
    """

    __slots__ = ("_taken", "_waiting")

    def __init__(self) -> None:
        self._taken = False
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}
        """Whose turn is next comes first."""

    def place(self, key: Hashable) -> Place:
        """For one look-up after the other; not inside yet."""
        return Place(self, key)

    async def enter(self, key: Hashable) -> None:
        """Wait until nobody else is inside."""
        if not self._taken:
            self._taken = True
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it had come just before
                self.leave()
            raise

    def leave(self) -> None:
        """The next one enters."""
        while self._waiting:
            key, turns = next(iter(self._waiting.items()))
            del self._waiting[key]
            turn = turns.popleft()
            if turns:
                self._waiting[key] = turns  # behind the others
            if not turn.done():
                turn.set_result(None)
                return
        self._taken = False


class Place:
    """Knows whether it is inside."""

    __slots__ = ("_inside", "_key", "_line")

    def __init__(self, line: Line, key: Hashable) -> None:
        self._line = line
        self._key = key
        self._inside = False

    async def enter(self) -> None:
        if not self._inside:
            await self._line.enter(self._key)
            self._inside = True

    def leave(self) -> None:
        if self._inside:
            self._inside = False
            self._line.leave()
