"""Many waits, one timer: ends what waits too long; a wait that ends earlier takes itself out.

A long poll usually ends because data came, so a timer of the event loop for each would be made only to be
cancelled. Waits of the same length end in the order in which they began: one queue for each length. Nothing
that ended is kept: its memory is used by the next wait while it is still in the processor's cache. Kept until
it would have been due, half a second of requests lay between two uses of the same memory.
"""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

EARLY_SECONDS: Final = 0.0005
"""What is due so soon is ended with what is due now."""


class Waiting(Protocol):
    """Somebody who waits, hashed by identity. ``done`` becomes true when the wait is over; then ``expire`` is
    not called."""

    done: bool

    def expire(self) -> None:
        """The time is over."""
        ...


class Deadlines:
    """Invariants: while a queue has an entry the timer runs, and not later than the earliest first entry; no
    queue is empty."""

    __slots__ = ("_armed_for", "_loop", "_queues", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._queues: dict[int, dict[Waiting, float]] = {}
        """Length of the wait in ms -> who waits so long and until when, first come first."""
        self._timer: asyncio.TimerHandle | None = None
        self._armed_for = 0.0

    def add(self, wait_ms: int, waiting: Waiting) -> None:
        """Call ``waiting.expire()`` in ``wait_ms`` milliseconds unless it is done by then."""
        deadline = self._loop.time() + wait_ms / 1000
        queue = self._queues.get(wait_ms)
        if queue is None:
            self._queues[wait_ms] = {waiting: deadline}
        else:
            queue[waiting] = deadline
        if self._timer is None or deadline < self._armed_for:
            self._arm(deadline)

    def end(self, wait_ms: int, waiting: Waiting) -> None:
        """``waiting``, added with the same ``wait_ms``, waits no more; it may be out already."""
        queue = self._queues.get(wait_ms)
        if queue is not None:
            queue.pop(waiting, None)
            if not queue:
                del self._queues[wait_ms]

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
            due: list[Waiting] = []
            for waiting, deadline in queue.items():
                if deadline > now:
                    break
                due.append(waiting)
            for waiting in due:
                self.end(wait_ms, waiting)
            late += due
        if self._queues:
            self._arm(min(next(iter(queue.values())) for queue in self._queues.values()))
        for waiting in late:
            if not waiting.done:
                waiting.expire()
