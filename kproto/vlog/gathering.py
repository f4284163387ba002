"""When the next frame of a virtual log leaves: at once or, where brokers are busy, once it is worth its cost.

A frame costs its owner and every backup about the same whether it has one chunk or thirty. Where processors
are short, a log that sends one as soon as the last one has landed spends them on many small frames; and
clients that are answered one by one send small batches, each of them a request.

How busy the brokers are is read off the flights, as TCP Vegas reads it off round trips (Brakmo and Peterson
1995): what they take beyond the shortest ones is waiting, in sockets, loops and run queues, of whichever
broker. `REST_TIMES` as long the log rests after a frame has landed, ``kproto.push.linger.max.ms`` at most.

Who waits for each answer, or cannot send larger batches, sends less for a rest; who has more to send than he
is asked for does not. Nothing in a request tells them apart, so it is tried: a log that rests goes on with it
while it carries about as much as it did without (`KEPT`), and forgets it for a while when it does not. It is
tried only where several chunks wait at a time anyway: at a low rate rests would cost time and save little.
"""

from __future__ import annotations

import math
from typing import Final

REST_TIMES: Final = 12.0
FRAMES: Final = 16
"""So many frames are the last ones; nothing is judged by fewer."""
RISE: Final = 1.02
"""The shortest flight is forgotten by so much with each frame: the way may have become longer."""
SHORTEST_S: Final = 0.0001
"""No flight counts as shorter."""
COUNTED_S: Final = 0.005
"""Nor does a flight count as having waited longer: one pause of a machine is not a busy one."""
LEAST_S: Final = 0.001
"""Less is no rest: timers are no finer."""
MANY: Final = 3
"""Chunks per frame, on average, from which on rests are tried."""
WINDOW_S: Final = 1.0
"""What is carried is counted over so long at least."""
PAUSE_S: Final = 0.1
"""When nothing was sent for so long, what is carried is counted anew: it may be another load."""
KEPT: Final = 0.7
"""Of what was carried without rests: less is less. (Loads are not that even.)"""
FIRST_S: Final = 8.0
"""After so long with rests it is measured again what is carried without; and so long they are not tried again
when less was carried with them. Either doubles up to `LONGEST_S` while that goes on."""
LONGEST_S: Final = 64.0


class Gathering:
    """What one virtual log has seen of its flights. Times in seconds."""

    __slots__ = (
        "_away",
        "_bytes",
        "_chunks",
        "_doubted",
        "_excess",
        "_frames",
        "_hold",
        "_least",
        "_not_before",
        "_plain",
        "_since",
        "_until",
        "rest",
        "rests",
    )

    def __init__(self) -> None:
        self._least = math.inf
        self._excess = 0.0
        self._until = 0.0
        self.rest = 0.0
        """How long it rests after each frame; 0: not."""
        self.rests = False
        self._since = 0.0
        """When the first of the `_frames` was sent whose `_chunks` and `_bytes` are counted."""
        self._frames = self._chunks = self._bytes = 0
        self._plain = 0.0
        """Bytes per second without rests."""
        self._doubted = math.inf
        """What was carried with rests, if less than before. It counts if more is carried without afterwards,
        too: loads fall by themselves."""
        self._not_before = 0.0
        """Rests are not tried sooner."""
        self._hold = self._away = FIRST_S
        """How long it rests before it is measured again without; and does not after less was carried so."""

    def landed(self, flight: float, chunks: int, size: int, now: float, longest: float) -> None:
        """A frame of so many chunks and bytes is on all copies, after a flight of so many seconds;
        ``longest`` is the longest rest."""
        self._least = max(min(flight, self._least * RISE), SHORTEST_S)
        waited = min(max(flight - self._least, 0.0), COUNTED_S)
        self._excess += (waited - self._excess) / FRAMES
        rest = min(REST_TIMES * self._excess, longest)
        sent = now - flight
        if sent - self._until >= PAUSE_S:
            self.rests, self._doubted = False, math.inf
            self._frames = self._chunks = self._bytes = 0
        if not self._frames:
            self._since = sent
        self._frames += 1
        self._chunks += chunks
        self._bytes += size
        if now - self._since >= WINDOW_S and self._frames >= FRAMES:
            self._judge(now, rest >= LEAST_S)
        self.rest = rest if self.rests and rest >= LEAST_S else 0.0
        self._until = now + self.rest

    def _judge(self, now: float, busy: bool) -> None:
        """Whether to rest from now on, by what was carried since the last change."""
        seconds = now - self._since
        carried = self._bytes / seconds
        if not self.rests:
            self._plain = carried
            if self._doubted < KEPT * carried:
                self._not_before = now + self._away
                self._away, self._hold = min(self._away * 2, LONGEST_S), FIRST_S
            self._doubted = math.inf
            many = self._chunks >= MANY * self._frames
            self.rests = busy and many and now >= self._not_before
        elif carried < KEPT * self._plain:
            self.rests = False
            self._doubted = carried
        elif seconds >= self._hold:
            self.rests = False
            self._away, self._hold = FIRST_S, min(self._hold * 2, LONGEST_S)
        else:
            return
        self._frames = self._chunks = self._bytes = 0

    def left(self, now: float) -> float:
        """How long to wait for more chunks; 0: send what is there."""
        left = self._until - now
        return left if left >= LEAST_S / 2 else 0.0

    def moved(self) -> None:
        """Other backups from now on: the way to them may be longer."""
        self._least = math.inf
