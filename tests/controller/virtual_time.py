"""An event loop whose time passes only when nobody has anything to do: seconds of a scenario take none."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.PollSelector):
    """Never waits for files; tells the loop how long it would have."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("everybody waits, and nothing will ever happen")
        self._loop.now += max(0.0, timeout)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """Time begins at 1,000 s; timers fire in order, at exactly their time."""

    def __init__(self) -> None:
        self.now = 1000.0
        super().__init__(_Selector(self))

    def time(self) -> float:
        return self.now


class VirtualClock:
    """The loop's time for code that takes a clock."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    def monotonic(self) -> float:
        return self._loop.now

    def wall_ms(self) -> int:
        return int(self._loop.now * 1000)


def run_virtual(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a virtual loop; it must finish within an hour of virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(asyncio.wait_for(work, 3600))
