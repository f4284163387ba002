"""A loop that runs in the test's own hands, with the threads' answers arriving as in a real one."""

from __future__ import annotations

import heapq
import threading
import time
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from tests.descriptors import data_files_closed

__all__ = ["data_files_closed"]


class TestLoop:
    """call_soon, call_later and call_soon_threadsafe of an event loop, driven by `turn` and `until`. ``now``
    is the time of timers, in seconds."""

    __test__ = False

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.now = now
        self.ready: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self.later: list[tuple[float, int, Callable[..., object], tuple[Any, ...]]] = []
        self.errors: list[dict[str, Any]] = []
        self._order = count()
        self._arrived = threading.Condition()

    def call_soon(self, callback: Callable[..., object], *args: Any) -> None:
        self.ready.append((callback, args))

    def call_soon_threadsafe(self, callback: Callable[..., object], *args: Any) -> None:
        with self._arrived:
            self.ready.append((callback, args))
            self._arrived.notify()

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> None:
        heapq.heappush(self.later, (self.now() + delay, next(self._order), callback, args))

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        self.errors.append(context)

    def turn(self) -> None:
        """Run what was ready at the beginning of the turn, and timers that are due."""
        for _ in range(len(self.ready)):
            callback, args = self.ready.popleft()
            callback(*args)
        while self.later and self.later[0][0] <= self.now():
            _, _, callback, args = heapq.heappop(self.later)
            callback(*args)

    def until(self, done: Callable[[], object], timeout_s: float = 60.0) -> None:
        """Turn until ``done()``; fails after ``timeout_s``."""
        end = time.monotonic() + timeout_s
        while not done():
            self.turn()
            if done():
                return
            if time.monotonic() > end:
                pytest.fail("the expected state did not come")
            with self._arrived:
                if not self.ready:
                    self._arrived.wait(0.01)


@pytest.fixture
def loop() -> TestLoop:
    return TestLoop()
