"""Whether other brokers are there, asked before clients are told that they lead.

The connections of a process that is killed are closed one after the other, and a client asks for metadata
within a millisecond of the end of its own: often before the broker that it asks has lost anything. So that
broker asks the others first (`Api.PING`): from one that is dying no answer comes, and the end of the
connection does. Whoever does not answer for `PATIENCE_SECONDS` may only be busy, and is waited for no longer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from kproto.net.ports import Answer, PeersPort
from kproto.wire.internal import Api

PATIENCE_SECONDS: Final = 0.1


class RollCall:
    """Ask with `hear`; ``missing(node id)`` is called for those that cannot be reached. On one event loop.

    Invariant: a broker is asked once at a time; whoever comes meanwhile waits for the next time, because the
    answer that is on its way may be older than what he asks after.
    """

    __slots__ = ("_loop", "_missing", "_next", "_peers", "_under_way")

    def __init__(self, peers: PeersPort, missing: Callable[[int], object]) -> None:
        self._peers = peers
        self._missing = missing
        self._loop = asyncio.get_running_loop()
        self._under_way: dict[int, asyncio.Future[None]] = {}
        self._next: dict[int, asyncio.Future[None]] = {}

    async def hear(self, node_ids: Iterable[int]) -> None:
        """Return when all of them have answered something that was asked since this was called, or are
        missing, or after `PATIENCE_SECONDS`."""
        heard = [self._from_now(node_id) for node_id in node_ids]
        if heard:
            await asyncio.wait(heard, timeout=PATIENCE_SECONDS)

    def _from_now(self, node_id: int) -> asyncio.Future[None]:
        future = self._next.get(node_id)
        if future is None:
            future = self._next[node_id] = self._loop.create_future()
        if node_id not in self._under_way:
            self._ask(node_id)
        return future

    def _ask(self, node_id: int) -> None:
        self._under_way[node_id] = self._next.pop(node_id)
        self._peers.request(node_id, Api.PING, (), partial(self._answered, node_id))

    def _answered(self, node_id: int, answer: Answer | None) -> None:
        if answer is None:
            self._missing(node_id)
        future = self._under_way.pop(node_id)
        if not future.done():
            future.set_result(None)
        if node_id in self._next:
            self._ask(node_id)
