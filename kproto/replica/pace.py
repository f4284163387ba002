"""How fast a backup reads its copies for recoveries and repairs: ``kproto.recovery.read.bytes.per.second``.

What somebody waits for (tails that new leaders replay, consumers of data that is not brought over yet) is
read at once and only counted; what goes on in the background waits its turn behind it. So clients on the
same disks and links keep what the limit leaves them, whatever the number of brokers that recover.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.vlog.worker import Loop

TURNS_PER_SECOND: Final = 16
"""A read in the background takes at most this share of a second's bytes, so that several readers get on."""
SMALLEST_TURN: Final = 64 << 10


class Pace:
    """See the module's text. ``rate`` in bytes per second, 0: no limit. On the loop."""

    __slots__ = ("_clock", "_free_at", "_loop", "bytes", "rate", "waited")

    def __init__(self, loop: Loop, clock: Clock, rate: int) -> None:
        self._loop = loop
        self._clock = clock
        self._free_at = 0.0
        """When everything that was granted so far has had its time."""
        self.rate = rate
        self.bytes = 0
        """Read so far."""
        self.waited = 0.0
        """Seconds that reads in the background had to wait, together."""

    def turn(self, wanted: int) -> int:
        """How much of ``wanted`` bytes one read in the background may take at most."""
        return min(wanted, max(self.rate // TURNS_PER_SECOND, SMALLEST_TURN)) if self.rate else wanted

    def take(self, size: int, background: bool, go: Callable[[], object]) -> None:
        """``go()`` when ``size`` bytes may be read, in the order of the calls; say what it really was with
        `correct`."""
        if not self.rate:
            go()
            return
        now = self._clock.monotonic()
        at = max(self._free_at, now)
        self._free_at = at + size / self.rate
        if at > now and background:
            self.waited += at - now
            self._loop.call_later(at - now, go)
        else:
            go()

    def correct(self, taken: int, size: int) -> None:
        """A read that took its turn for ``taken`` bytes had ``size``."""
        self.bytes += size
        if self.rate:
            self._free_at += (size - taken) / self.rate
