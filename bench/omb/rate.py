"""``producerRate: 0``: the search for the greatest rate that the consumers keep up with, by OMB's rules."""

from __future__ import annotations

from dataclasses import dataclass, field

FIRST_RATE = 10_000.0
PERIOD_S = 3.0
"""The rate is looked at this often."""

BACKLOG_LIMIT = 1_000
"""Records that may wait, to be sent or to be received."""

LEAST_RATE = 1_000.0
"""No lower. OMB's own search falls to 0 when more waits than a period brings, and stays there."""

RAMP_MIN, RAMP_MAX = 0.01, 1.0


@dataclass(slots=True)
class RateSearch:
    """Doubles its step while both ends keep up, halves it when one does not.

    Invariant: RAMP_MIN <= ramp <= RAMP_MAX, rate >= LEAST_RATE. The ramp only grows by doubling and shrinks
    by halving.
    """

    rate: float = FIRST_RATE
    ramp: float = RAMP_MAX
    _published: int = field(default=0, init=False)
    _received: int = field(default=0, init=False)

    def next_rate(self, seconds: float, published: int, received: int) -> float:
        """The rate for the next period, after one of ``seconds``; the counts are totals since the start,
        ``received`` of one subscription (OMB's own search takes that of all: one of two may stand still).

        Consumers more than the limit behind: no more than they received, and than what was meant to be sent
        less what waits. Else, producers more than the limit behind their schedule: the same with what they
        sent. Else up by the ramp.
        """
        expected = int(self.rate * seconds)
        sent, self._published = published - self._published, published
        taken, self._received = received - self._received, received
        waiting = published - received
        unsent = expected - sent
        if waiting > BACKLOG_LIMIT:
            self.rate = self._reduced(seconds, taken, expected - waiting)
        elif unsent > BACKLOG_LIMIT:
            self.rate = self._reduced(seconds, sent, expected - unsent)
        else:
            self.ramp = min(RAMP_MAX, self.ramp * 2)
            self.rate += self.rate * self.ramp
        return self.rate

    def _reduced(self, seconds: float, actual: int, left: int) -> float:
        self.ramp = max(RAMP_MIN, self.ramp / 2)
        return max(LEAST_RATE, min(actual, left) / seconds)
