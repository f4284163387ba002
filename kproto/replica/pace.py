"""How fast a backup reads its copies for recoveries and repairs: ``kproto.recovery.read.bytes.per.second``.

What somebody waits for (tails that new leaders replay, consumers of data that is not brought over yet) is
read at once and only counted; what goes on in the background waits its turn behind it, in a line. So clients
on the same disks and links keep what the limit leaves them, whatever the number of brokers that recover.

A turn may take longer than others wait for an answer: frames are read whole, and many may stand in line. So
who has not had his turn after `LONGEST_WAIT` is told to ask again, and finds his place when he does. Nothing
is read for somebody who does not wait any more, and how low the limit is makes nobody give up.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.vlog.worker import Loop

TURNS_PER_SECOND: Final = 16
"""A read in the background takes at most this share of a second's bytes, so that several readers get on."""
SMALLEST_TURN: Final = 64 << 10
LONGEST_WAIT: Final = 4.0
"""Seconds in line before others are told to ask again: less than anybody waits for an answer."""
KEPT_S: Final = 2.0
"""So long the place of one who was told is kept."""
MOST_DEBT_S: Final = 5.0
"""What is read at once holds up the background so long at most after the last of it."""
_MOMENT: Final = 1e-6
"""Less than the clock can tell."""


class _Waiter:
    """One in line; ``go`` is None while he was told to ask again and has not yet."""

    __slots__ = ("again", "asked_at", "go", "size")

    def __init__(self) -> None:
        self.go: Callable[[], object] | None = None
        self.again: Callable[[], object] | None = None
        """None: he waits as long as it takes."""
        self.size = 0
        self.asked_at = 0.0


class Pace:
    """See the module's text. ``rate`` in bytes per second, 0: no limit. On the loop."""

    __slots__ = ("_clock", "_free_at", "_line", "_loop", "_wake_at", "bytes", "rate", "waited")

    def __init__(self, loop: Loop, clock: Clock, rate: int) -> None:
        self._loop = loop
        self._clock = clock
        self._free_at = 0.0
        """When everything that was granted so far has had its time."""
        self._line: dict[Hashable, _Waiter] = {}
        """In order of their places."""
        self._wake_at: float | None = None
        self.rate = rate
        self.bytes = 0
        """Read so far."""
        self.waited = 0.0
        """Seconds that reads in the background had to wait, together."""

    def turn(self, wanted: int) -> int:
        """How much of ``wanted`` bytes one read in the background may take at most."""
        return min(wanted, max(self.rate // TURNS_PER_SECOND, SMALLEST_TURN)) if self.rate else wanted

    def at_once(self, size: int) -> None:
        """``size`` bytes were read without waiting."""
        self.bytes += size
        if self.rate:
            now = self._clock.monotonic()
            due = max(self._free_at, now) + size / self.rate
            self._free_at = min(due, max(self._free_at, now + MOST_DEBT_S))

    def take(
        self,
        size: int,
        go: Callable[[], object],
        again: Callable[[], object] | None = None,
        who: Hashable = None,
    ) -> None:
        """``go()`` when ``size`` bytes may be read, in the order of the line; say what it really was with
        `correct`. Or ``again()``, after `LONGEST_WAIT`: who asks again soon, as the same ``who``, has kept
        his place. Each ``who`` (None: somebody else each time) is in line once: his last request counts.
        """
        if not self.rate:
            go()
            return
        waiter = self._line.setdefault(object() if who is None else who, _Waiter())
        former = waiter.again if waiter.go is not None else None
        waiter.go, waiter.again, waiter.size = go, again, size
        waiter.asked_at = self._clock.monotonic()
        if former is not None:
            former()  # nobody waits for that one any more
        self._look()

    def correct(self, taken: int, size: int) -> None:
        """A read that took its turn for ``taken`` bytes had ``size``."""
        self.bytes += size
        if self.rate:
            self._free_at += (size - taken) / self.rate
            if self._line:
                self._look()

    def _look(self) -> None:
        """Let those go whose turn it is, and tell the others that it takes longer."""
        now = self._clock.monotonic()
        told: list[Callable[[], object]] = []
        for who, waiter in list(self._line.items()):
            if waiter.go is None:
                if now - waiter.asked_at >= LONGEST_WAIT + KEPT_S:
                    del self._line[who]
            elif self._free_at - now < _MOMENT:
                del self._line[who]
                self._free_at = max(self._free_at, now) + waiter.size / self.rate
                self.waited += now - waiter.asked_at
                told.append(waiter.go)
            elif waiter.again is not None and waiter.asked_at + LONGEST_WAIT - now < _MOMENT:
                self.waited += now - waiter.asked_at
                waiter.go = None
                told.append(waiter.again)
        self._wake(now)
        for tell in told:
            tell()

    def _wake(self, now: float) -> None:
        """Look again when the next turn comes, or somebody has to be told."""
        standing = [waiter for waiter in self._line.values() if waiter.go is not None]
        ends = [waiter.asked_at + LONGEST_WAIT for waiter in standing if waiter.again is not None]
        at = min([self._free_at, *ends]) if standing else None
        if at is not None and (self._wake_at is None or at < self._wake_at - _MOMENT):
            self._wake_at = at
            self._loop.call_later(max(at - now, 0.0), self._woken, at)

    def _woken(self, at: float) -> None:
        if self._wake_at == at:
            self._wake_at = None
        self._look()
