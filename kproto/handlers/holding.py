"""Answers that wait until a partition that is being handed over has its next leader.

A client that is told NOT_LEADER_OR_FOLLOWER before there is another leader can only ask again, after a pause
that has nothing to do with how soon there is one, and a longer one each time. So such an answer is kept for a
moment, as Metadata is while a broker seems to be dead (`kproto.metadata.suspects`); then it names the
new leader (KIP-951). Only the answer waits: nothing is appended later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

HOLD_SECONDS: Final = 1.0
"""An answer is kept no longer."""
Settled = Callable[[], bool]


class Holding:
    """Kept answers, in order. Call :meth:`look` with every image; on one event loop."""

    __slots__ = ("_kept", "_loop", "_next")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._kept: dict[int, tuple[Settled, Callable[[], object]]] = {}
        self._next = 0

    def keep(self, seconds: float, settled: Settled, release: Callable[[], object]) -> None:
        """Call ``release`` when ``settled()`` holds, after ``seconds`` or `HOLD_SECONDS` at the latest."""
        self._next += 1
        self._kept[self._next] = (settled, release)
        self._loop.call_later(min(seconds, HOLD_SECONDS), self._release, self._next)

    def look(self) -> None:
        """There is another image."""
        for number, (settled, _) in list(self._kept.items()):
            if settled():
                self._release(number)

    def _release(self, number: int) -> None:
        kept = self._kept.pop(number, None)
        if kept is not None:
            kept[1]()
