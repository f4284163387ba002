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
tried only where frames follow each other closely (`FLYING`) with several chunks each (`MANY`): at a low rate
rests would cost time and save little.

A client of several logs waits for the slowest: one log that rests makes the others carry less, and rests of
their own would seem to cost nothing. So all logs of all brokers whose clocks agree begin each `CYCLE_S`
without rests, and those that gave rests up try them again in the same cycle.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Final

REST_TIMES: Final = 12.0
FRAMES: Final = 16
"""Flights are averaged over about so many; nothing is judged by fewer frames."""
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
FLYING: Final = 0.3
"""Rests are tried only where frames were on their way for this part of the time."""
FULL_BYTES: Final = 256 * 1024
"""A frame of so many bytes costs little for each: after one there is no rest."""
WINDOW_S: Final = 1.0
"""What is carried is counted over so long."""
PAUSE_S: Final = 0.1
"""When nothing was sent for so long it may be another load; what is carried in its first window, when clients
fill their buffers, tells nothing."""
KEPT: Final = 0.7
"""Of what was carried without rests: less is less. (Loads are not that even.)"""
LOW_WINDOWS: Final = 2
"""So many windows in a row have to be less: machines are not that even either."""
CYCLE_S: Final = 8.0
"""So often all logs measure what they carry without rests."""
FIRST_AWAY: Final = 2
"""When less was carried with rests they are tried again so many cycles later, then after twice as many..."""
MOST_AWAY: Final = 8
"""... up to this many."""


class Gathering:
    """What one virtual log has seen of its flights. Times in seconds; ``ahead`` is how far the wall clock, on
    which the brokers agree, is ahead of the one that ``now`` is of."""

    __slots__ = (
        "_ahead",
        "_away",
        "_bytes",
        "_chunks",
        "_cycle",
        "_doubted",
        "_excess",
        "_first",
        "_flown",
        "_frames",
        "_least",
        "_not_before",
        "_plain",
        "_rested",
        "_since",
        "_until",
        "rest",
        "rests",
    )

    def __init__(self, ahead: float) -> None:
        self._ahead = ahead
        self._least = math.inf
        self._excess = 0.0
        self._until = 0.0
        self.rest = 0.0
        """How long it rests at most after the last frame; 0: not."""
        self.rests = False
        self._cycle = 0
        self._since = 0.0
        """When the first of the `_frames` was sent whose `_chunks`, `_bytes` and flights are counted."""
        self._frames = self._chunks = self._bytes = 0
        self._flown = 0.0
        self._first = True
        """It is the first window of a load."""
        self._plain = math.inf
        """Bytes per second in the last window without rests."""
        self._rested: deque[float] = deque(maxlen=LOW_WINDOWS)
        """In the last `LOW_WINDOWS` with them."""
        self._doubted = math.inf
        """The most of those, if that may be less. It is if more is carried in the next one without, too:
        loads fall by themselves."""
        self._not_before = 0
        """The cycle in which rests are tried again."""
        self._away = FIRST_AWAY
        """How many cycles later they are when less was carried with them."""

    def landed(self, flight: float, chunks: int, size: int, now: float, longest: float) -> None:
        """A frame of so many chunks and bytes is on all copies, after a flight of so many seconds;
        ``longest`` is the longest rest."""
        sent = now - flight
        if sent - self._until >= PAUSE_S:
            self._paused()
        self._least = max(min(flight, self._least * RISE), SHORTEST_S)
        waited = min(max(flight - self._least, 0.0), COUNTED_S)
        self._excess += (waited - self._excess) / FRAMES
        rest = min(REST_TIMES * self._excess, longest)
        cycle = int((sent + self._ahead) // CYCLE_S)
        if cycle != self._cycle:
            self._cycle = cycle
            if self.rests:
                self._end_rests()
            self._count_anew()
        if not self._frames:
            self._since = sent
        self._frames += 1
        self._chunks += chunks
        self._bytes += size
        self._flown += flight
        if now - self._since >= WINDOW_S and self._frames >= FRAMES:
            self._judge(now - self._since, rest >= LEAST_S)
            self._count_anew()
        self.rest = rest if self.rests and rest >= LEAST_S and size < FULL_BYTES else 0.0
        self._until = now + self.rest

    def _judge(self, seconds: float, busy: bool) -> None:
        """Whether to rest from now on, by what was carried in so many seconds."""
        carried = self._bytes / seconds
        if self._first:
            self._first = False
        elif not self.rests:
            self._compare(carried)
            close = self._flown >= FLYING * seconds and self._chunks >= MANY * self._frames
            self.rests = busy and close and self._cycle >= self._not_before
            self._rested.clear()
        else:
            self._rested.append(carried)
            if len(self._rested) == LOW_WINDOWS and max(self._rested) < KEPT * self._plain:
                self._end_rests()

    def _compare(self, plain: float) -> None:
        """So much was carried without rests: was it less with them?"""
        if self._doubted < KEPT * min(plain, self._plain):
            self._not_before = self._cycle + self._away
            self._away = min(self._away * 2, MOST_AWAY)
        elif self._doubted < math.inf:
            self._away = FIRST_AWAY
        self._plain, self._doubted = plain, math.inf

    def _end_rests(self) -> None:
        """What is carried without tells whether what was carried with them was less."""
        self.rests = False
        self._doubted = max(self._rested, default=math.inf)

    def _paused(self) -> None:
        """A load has ended, or one of bursts, whose next one may be too short for a window with rests. What
        seemed less with rests than before counts, whatever comes."""
        counted = self._until - self._since
        if self.rests and self._frames >= FRAMES and counted >= WINDOW_S / 4:
            self._doubted = self._bytes / counted
        if self._doubted >= KEPT * self._plain:
            self._doubted = math.inf
        self.rests = False
        self._first = True
        self._count_anew()

    def _count_anew(self) -> None:
        self._frames = self._chunks = self._bytes = 0
        self._flown = 0.0

    def left(self, now: float) -> float:
        """How long to wait for more chunks; 0: send what is there."""
        left = self._until - now
        return left if left >= LEAST_S / 2 else 0.0

    def moved(self) -> None:
        """Other backups from now on: the way to them may be longer."""
        self._least = math.inf
