"""Rounds: on a machine without idle processors, small requests are answered together instead of at once.

An answer wakes a client. When all processors are busy and requests are small, answering at once makes clients
send the next small request instead of a larger one later, and both sides pay for every request. So the loop
rests between two turns, and each turn finds what gathered meanwhile: one read and one write per connection,
one push, one look for every fetch that waits; and clients fill their batches.

It rests only while that costs nobody anything: as soon as a processor is idle, the rest is halved at every
look until there is none. It grows slowly, and only while answers stay small. This is what network cards do
with their interrupts under load.

The processors' idle time is read from ``/proc/stat``; where there is none, the loop never rests.
"""

from __future__ import annotations

import os
import time
from typing import Final

LOOK_SECONDS: Final = 0.2
"""Between two looks at the processors; a look costs about 50 microseconds."""
SATURATED_IDLE: Final = 0.03
"""Share of all processors' time that is idle, below which a machine counts as saturated."""
RELIEVED_IDLE: Final = 0.08
"""And above which it does not any more."""
SMALL_BYTES: Final = 16 * 1024
"""Per write to a connection. Half of the writes answer Produce with a few bytes, so batches are about twice
as large."""
LARGE_BYTES: Final = 2 * SMALL_BYTES
MANY_WRITES: Final = 1000.0
"""Per second: with fewer, nothing is to be gained, and who else uses the processors is not our client."""
FEW_WRITES: Final = 300.0
STEP_SECONDS: Final = 0.002
SHORTEST_SECONDS: Final = 0.001


class Rest:
    """How long the loop rests, decided at every look from what was since the last one.

    Invariant: 0, or between `SHORTEST_SECONDS` and what the broker was told.
    """

    __slots__ = ("most", "seconds")

    def __init__(self, most: float) -> None:
        """``most``: seconds."""
        self.most = most
        self.seconds = 0.0

    def decide(self, idle: float, writes: float, bytes_per_write: float) -> float:
        """The rest from now on, in seconds.

        ``idle``: share of all processors' time; ``writes``: to connections, per second.
        """
        resting = self.seconds > 0
        busy = idle <= (RELIEVED_IDLE if resting else SATURATED_IDLE)
        many = writes >= (FEW_WRITES if resting else MANY_WRITES)
        if not busy or not many:
            self.seconds = self.seconds / 2 if self.seconds >= 2 * SHORTEST_SECONDS else 0.0
        elif bytes_per_write > LARGE_BYTES:
            shorter = self.seconds - STEP_SECONDS
            self.seconds = shorter if shorter >= SHORTEST_SECONDS else 0.0
        elif bytes_per_write < SMALL_BYTES and idle <= SATURATED_IDLE:
            self.seconds = min(self.most, self.seconds + STEP_SECONDS)
        return self.seconds


class Processors:
    """Idle and total time of all processors, in ticks. Raises OSError where the kernel does not tell."""

    __slots__ = ("_fd",)

    def __init__(self, path: str = "/proc/stat") -> None:
        self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            self.read()
        except (ValueError, IndexError) as error:
            self.close()
            raise OSError(f"{path} has no line of processor times") from error

    def read(self) -> tuple[int, int]:
        """``(idle, all)`` since the machine started; waiting for a disk counts as idle."""
        line = os.pread(self._fd, 256, 0).split(b"\n", 1)[0]
        # user nice system idle iowait irq softirq steal; guests are in user already
        times = [int(text) for text in line.split()[1:9]]
        return times[3] + times[4], sum(times)

    def close(self) -> None:
        os.close(self._fd)


class Rounds:
    """Rests at the end of a turn, if the time is one for it. Belongs to one loop."""

    __slots__ = (
        "_bytes",
        "_idle",
        "_look_at",
        "_looked_at",
        "_processors",
        "_rest",
        "_rested_at",
        "_total",
        "_writes",
    )

    def __init__(self, rest: Rest, processors: Processors) -> None:
        """Both are this object's from now on."""
        self._rest = rest
        self._processors = processors
        self._idle, self._total = processors.read()
        self._looked_at = time.monotonic()
        self._look_at = self._looked_at + LOOK_SECONDS
        self._rested_at = 0.0
        self._writes = 0
        self._bytes = 0

    def turn_over(self, writes: int, size: int) -> None:
        """A turn wrote ``size`` bytes to ``writes`` connections; returns when the next one may begin."""
        self._writes += writes
        self._bytes += size
        now = time.monotonic()
        if now >= self._look_at:
            self._look(now)
        rest = self._rest.seconds
        if rest:
            left = self._rested_at + rest - now
            if left > 0:
                time.sleep(left)
                now = time.monotonic()
            self._rested_at = now

    def _look(self, now: float) -> None:
        idle, total = self._processors.read()
        if total > self._total:
            since = now - self._looked_at
            self._rest.decide(
                (idle - self._idle) / (total - self._total),
                self._writes / since,
                self._bytes / max(self._writes, 1),
            )
        self._idle, self._total = idle, total
        self._looked_at = now
        self._look_at = now + LOOK_SECONDS
        self._writes = self._bytes = 0

    def close(self) -> None:
        self._processors.close()


def rounds(most_ms: int) -> Rounds | None:
    """Rounds with rests of at most ``most_ms`` milliseconds; None for 0 and where it cannot be known when."""
    if most_ms <= 0:
        return None
    try:
        return Rounds(Rest(most_ms / 1000), Processors())
    except OSError:
        return None
