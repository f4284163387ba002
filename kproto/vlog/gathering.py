"""When the next frame of a virtual log leaves: at once or, where brokers are busy, once it is worth its cost.

A frame costs its owner and every backup about the same whether it has one chunk or thirty. Where processors
are short, a log that sends one as soon as the last one has landed spends them on many small frames; and
clients that are answered one by one send small batches, each of them a request.

How busy the brokers are is read off the flights, as TCP Vegas reads it off round trips (Brakmo and Peterson
1995): what they take beyond the shortest ones is waiting, in sockets, loops and run queues, of whichever
broker. `REST_TIMES` as long the log rests after a frame has landed, ``kproto.push.linger.max.ms`` at most. A
way that is always long is no waiting, and adds nothing.

It rests no longer than until as many chunks are there as the largest of the last frames had, if those were
few: who sends one request after the other is back by then, and nobody else will come. So a single producer
never waits. Many chunks are of producers of whom some always have more: the longer they are not answered, the
larger their batches. What would make a large frame leaves at once, too.
"""

from __future__ import annotations

import math
from typing import Final

REST_TIMES: Final = 12.0
FRAMES: Final = 16
"""So many frames are the last ones."""
RISE: Final = 1.02
"""The shortest flight is forgotten by so much with each frame: the way may have become longer."""
SHORTEST_S: Final = 0.0001
"""No flight counts as shorter."""
COUNTED_PART: Final = 0.25
"""Of the longest rest; a flight counts as no longer: one pause of a machine is not a busy one."""
LEAST_S: Final = 0.001
"""Less is no rest: timers are no finer."""
FEW: Final = 8
"""Chunks of a frame that may be all that there are."""
ENOUGH_BYTES: Final = 128 * 1024
"""A frame as large as this costs by its bytes: nothing is gained by a larger one."""


class Gathering:
    """What one virtual log has seen of its flights. Times in seconds."""

    __slots__ = ("_least", "_most", "_until", "_usual", "awaited", "rest")

    def __init__(self) -> None:
        self._least = math.inf
        self._usual = 0.0
        self._most = 0.0
        self._until = 0.0
        self.rest = 0.0
        """How long it rests at the moment after each frame."""
        self.awaited = 0
        """With so many chunks the next frame leaves at once."""

    def landed(self, flight: float, chunks: int, size: int, now: float, longest: float) -> None:
        """A frame of so many chunks and bytes is durable, after a flight of so many seconds; ``longest`` is
        the longest rest."""
        self._least = max(min(flight, self._least * RISE), SHORTEST_S)
        self._usual += (min(flight, longest * COUNTED_PART) - self._usual) / FRAMES
        self._most = max(chunks, self._most + (chunks - self._most) / FRAMES)
        enough = ENOUGH_BYTES * chunks // size
        self.awaited = min(int(self._most), enough) if self._most < FEW + 1 else enough
        rest = min(REST_TIMES * (self._usual - self._least), longest)
        self.rest = rest if rest >= LEAST_S else 0.0
        self._until = now + self.rest

    def left(self, chunks: int, now: float) -> float:
        """How long to wait for more though ``chunks`` are there; 0: send them."""
        left = self._until - now
        return left if left >= LEAST_S / 2 and chunks < self.awaited else 0.0
