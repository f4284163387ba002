"""Many waits, one timer: ends what waits too long; a wait that ends earlier costs a list append.

A long poll usually ends because data came, so a timer of the event loop for each would be made only to be
cancelled. Waits of the same length end in the order in which they began: one queue for each length.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final, Protocol

SWEEP_EVERY: Final = 4096
"""So many additions after which ended waits are forgotten even behind one that still waits."""
EARLY_SECONDS: Final = 0.0005
"""What is due so soon is ended with what is due now."""


class Waiting(Protocol):
    """Somebody who waits. ``done`` becomes true when the wait is over; then ``expire`` is not called."""

    done: bool

    def expire(self) -> None:
        """The time is over."""
        ...


class Deadlines:
    """Invariant: while a queue has an entry the timer runs, and not later than the earliest first entry."""

    __slots__ = ("_added", "_armed_for", "_loop", "_queues", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._queues: dict[int, deque[tuple[float, Waiting]]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._armed_for = 0.0
        self._added = 0

    def add(self, wait_ms: int, waiting: Waiting) -> None:
        """Call ``waiting.expire()`` in ``wait_ms`` milliseconds unless it is done by then."""
        deadline = self._loop.time() + wait_ms / 1000
        queue = self._queues.get(wait_ms)
        if queue is None:
            queue = self._queues[wait_ms] = deque()
        queue.append((deadline, waiting))
        self._added += 1
        if self._added >= SWEEP_EVERY:
            self._sweep()
        if self._timer is None or deadline < self._armed_for:
            self._arm(deadline)

    def _arm(self, deadline: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._armed_for = deadline
        self._timer = self._loop.call_at(deadline, self._fire)

    def _fire(self) -> None:
        self._timer = None
        now = self._loop.time() + EARLY_SECONDS
        late: list[Waiting] = []
        for wait_ms, queue in list(self._queues.items()):
            while queue and (queue[0][1].done or queue[0][0] <= now):
                late.append(queue.popleft()[1])
            if not queue:
                del self._queues[wait_ms]
        if self._queues:
            self._arm(min(queue[0][0] for queue in self._queues.values()))
        for waiting in late:
            if not waiting.done:
                waiting.expire()

    def _sweep(self) -> None:
        self._added = 0
        for wait_ms, queue in list(self._queues.items()):
            kept = deque(entry for entry in queue if not entry[1].done)
            if kept:
                self._queues[wait_ms] = kept
            else:
                del self._queues[wait_ms]
