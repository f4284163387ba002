"""One event-loop timer for any number of groups (:class:`Timers`), one for any number of answers
(:class:`Patience`)."""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from kproto.clock import Clock
from kproto.errors import ErrorCode
from kproto.handlers.groups.group import NEVER

log = logging.getLogger(__name__)

STALL_MS: Final = 1_000
GRACE_MS: Final = 250
SLICE_S: Final = 0.005
"""Then the event loop gets its turn."""
SKIPPED_KEPT: Final = 100
"""Entries in the heap that are to be skipped, besides half of all; more are taken out together."""


class Sleeper(Protocol):
    """Something that wants to be woken; ``scheduled_at`` belongs to :class:`Timers`."""

    scheduled_at: int
    """Monotonic ms of its only valid heap entry; ``NEVER`` when it has none."""


class Timers:
    """Calls ``wake(sleeper)`` shortly after the moment asked for, never before: a heap of moments, in which
    entries that have moved are skipped."""

    def __init__(self, clock: Clock, wake: Callable[[Sleeper], None]) -> None:
        self._clock = clock
        self._wake = wake
        self._heap: list[tuple[int, int, Sleeper]] = []
        self._sequence = 0
        self._skipped = 0
        """Entries that have moved, or whose sleepers are forgotten, about."""
        self._handle: asyncio.TimerHandle | None = None
        self._handle_at = NEVER

    def schedule(self, sleeper: Sleeper, at_ms: int) -> None:
        """Wake ``sleeper`` at ``at_ms`` or before; an earlier moment already asked for stays."""
        if at_ms >= sleeper.scheduled_at:
            return
        self.forget(sleeper)
        sleeper.scheduled_at = at_ms
        self._sequence += 1
        heapq.heappush(self._heap, (at_ms, self._sequence, sleeper))
        if at_ms < self._handle_at:
            self._set_handle(at_ms)

    def forget(self, sleeper: Sleeper) -> None:
        """Do not wake ``sleeper``, which is not kept alive for long: sessions may have half an hour."""
        if sleeper.scheduled_at == NEVER:
            return
        sleeper.scheduled_at = NEVER
        self._skipped += 1
        if self._skipped > SKIPPED_KEPT + len(self._heap) // 2:
            self._heap = [entry for entry in self._heap if entry[2].scheduled_at == entry[0]]
            heapq.heapify(self._heap)
            self._skipped = 0

    def close(self) -> None:
        """Wake nobody any more."""
        self._heap.clear()
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _set_handle(self, at_ms: int) -> None:
        if self._handle is not None:
            self._handle.cancel()
        delay_s = max((at_ms + 1) / 1000 - self._clock.monotonic(), 0.0)  # not before it, however rounded
        self._handle = asyncio.get_running_loop().call_later(delay_s, self._fire)
        self._handle_at = at_ms

    def _fire(self) -> None:
        now_ms = int(self._clock.monotonic() * 1000)  # as sleepers have it: woken early they ask for it again
        late_ms = now_ms - self._handle_at
        self._handle = None
        self._handle_at = NEVER
        if late_ms > STALL_MS:
            # The process stood still, not its clients: hear first what they have sent meanwhile.
            self._set_handle(now_ms + GRACE_MS)
            return
        until = self._clock.monotonic() + SLICE_S
        while self._heap and self._heap[0][0] <= now_ms:
            if self._clock.monotonic() > until:  # thousands at once: all sessions begin anew with a start
                self._set_handle(now_ms - 1)
                return
            at_ms, _, sleeper = heapq.heappop(self._heap)
            if sleeper.scheduled_at == at_ms:
                sleeper.scheduled_at = NEVER
                try:
                    self._wake(sleeper)
                except Exception:  # for want of memory, say: the others would sleep on
                    log.exception("a group failed when it was woken")
                    self.schedule(sleeper, now_ms + STALL_MS)
            else:
                self._skipped = max(self._skipped - 1, 0)
        if self._heap and self._heap[0][0] < self._handle_at:
            self._set_handle(self._heap[0][0])


class Patience:
    """Futures that get ``error`` unless they are answered within ``timeout_s`` of the event loop's time."""

    def __init__(self, timeout_s: float, error: ErrorCode) -> None:
        self._timeout_s = timeout_s
        self._error = error
        self._waiting: deque[tuple[float, asyncio.Future[ErrorCode]]] = deque()
        """Oldest first; answered ones are dropped when they reach the front."""
        self._handle: asyncio.TimerHandle | None = None

    def new_answer(self) -> asyncio.Future[ErrorCode]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[ErrorCode] = loop.create_future()
        self._drop_answered()
        self._waiting.append((loop.time() + self._timeout_s, answer))
        if self._handle is None:
            self._handle = loop.call_later(self._timeout_s, self._fire)
        return answer

    def close(self, error: ErrorCode) -> None:
        """Give whoever still waits ``error``."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        for _, answer in self._waiting:
            if not answer.done():
                answer.set_result(error)
        self._waiting.clear()

    def _fire(self) -> None:
        loop = asyncio.get_running_loop()
        self._handle = None
        self._drop_answered()
        while self._waiting and self._waiting[0][0] <= loop.time():
            self._waiting.popleft()[1].set_result(self._error)
            self._drop_answered()
        if self._waiting:
            self._handle = loop.call_at(self._waiting[0][0], self._fire)

    def _drop_answered(self) -> None:
        while self._waiting and self._waiting[0][1].done():
            self._waiting.popleft()
