"""Time as a parameter: the product takes a :class:`Clock`, tests and the simulator give their own.

May be imported from anywhere; imports nothing of kproto.
"""

import time
from typing import Protocol


class Clock(Protocol):
    """Wall time for what clients see, monotonic time for every wait."""

    def wall_ms(self) -> int:
        """Milliseconds since the epoch (UTC)."""
        ...

    def monotonic(self) -> float:
        """Seconds from an arbitrary start; never goes back."""
        ...


class SystemClock:
    """The operating system's clocks."""

    __slots__ = ()

    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()


class ManualClock:
    """A clock that moves only when told to; for tests and the simulator."""

    __slots__ = ("_now_s", "_wall_ms")

    def __init__(self, wall_ms: int = 1_700_000_000_000) -> None:
        self._wall_ms = wall_ms
        self._now_s = 0.0

    def wall_ms(self) -> int:
        return self._wall_ms

    def monotonic(self) -> float:
        return self._now_s

    def advance(self, seconds: float) -> None:
        """Move both clocks forward by ``seconds`` (may be fractional)."""
        self._now_s += seconds
        self._wall_ms += int(seconds * 1000)
