"""Which brokers are alive, as far as anybody can tell: heartbeats, lost connections, time-outs. Pure.

A session only ever suggests a death. Being wrong is allowed: safety comes from epochs and compare-and-set
(rules 1 and 19). Brokers on the controller's own loop are pinned: they live as long as it does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

from kproto.metadata import BrokerRecord

PAUSE_SHARE: Final = 4
"""A controller that slept for more than a fourth of the time-out heard nobody: nobody pays for that."""
UNHEARD_SHARE: Final = 2
"""For half of the time-out, two heartbeats, a starting controller takes whom it finds for there."""


class Session(NamedTuple):
    """One registration: its epoch and when it was last heard, in seconds of the monotonic clock;
    ``connected`` is False from the loss of its connection until it is heard again. ``began`` is when it was
    first known here, ``sign`` its last sign of life, which no pause of the controller moves.
    """

    epoch: int
    heard: float
    connected: bool = True
    began: float = 0.0
    sign: float = -math.inf


class Sessions:
    """The sessions of all registered brokers. Times are seconds of one monotonic clock."""

    __slots__ = ("_last_look", "_pinned", "_sessions", "_timeout")

    def __init__(self, timeout: float, pinned: int) -> None:
        self._timeout = timeout
        self._pinned = pinned
        self._sessions: dict[int, Session] = {}
        self._last_look: float | None = None

    def follow(self, brokers: Mapping[int, BrokerRecord], now: float, connected: bool = True) -> None:
        """Take the registered brokers of a new image; a registration begins with a whole session.

        So does every broker that a starting controller finds registered, but those are not ``connected``:
        whoever was lost while no controller was there must be able to come back soon, even with another
        data directory. Not at once: a copy of a broker that lives may be asking all the time. It may be the
        controller's own broker, which can: where it is elected, it is so first.
        """
        for node_id in [each for each in self._sessions if each not in brokers]:
            del self._sessions[node_id]
        for node_id, broker in brokers.items():
            known = self._sessions.get(node_id)
            if known is None or known.epoch != broker.epoch:
                sign = now if connected else -math.inf
                self._sessions[node_id] = Session(broker.epoch, now, connected, now, sign)

    def heard(self, node_id: int, epoch: int, now: float) -> bool:
        """A sign of life; False when this epoch is not (or no longer) a member."""
        session = self._sessions.get(node_id)
        if session is None or session.epoch != epoch:
            return False
        self._sessions[node_id] = Session(epoch, max(now, session.heard), True, session.began, now)
        return True

    def lost(self, node_id: int, epoch: int) -> None:
        """Its connection ended, which proves nothing; heartbeats may come over the next one."""
        session = self._sessions.get(node_id)
        if session is not None and session.epoch == epoch:
            self._sessions[node_id] = session._replace(connected=False)

    def in_use(self, node_id: int, now: float) -> bool:
        """Somebody is there under this node id: connected, and heard within the session; or may be, because
        a starting controller could not have heard it yet."""
        session = self._sessions.get(node_id)
        if session is None:
            return False
        if session.sign == -math.inf and node_id != self._pinned:
            return now - session.began < self._timeout / UNHEARD_SHARE
        return session.connected and (node_id == self._pinned or now - session.heard < self._timeout)

    def heard_since(self, node_id: int, other: int) -> bool:
        """``node_id`` gave a sign of life after the session of ``other`` began: whatever ended the process
        that was there before, as a loss of all power, did not end both."""
        mine, others = self._sessions.get(node_id), self._sessions.get(other)
        if mine is None or others is None:
            return False
        return mine.sign > (others.began if node_id != self._pinned else -math.inf)

    def expired(self, now: float) -> list[tuple[int, int]]:
        """(node id, epoch) of the brokers that were not heard in time, by node id.

        To be asked at least every :attr:`interval` seconds: a longer pause is taken for the controller's own
        and does not count.
        """
        pause = now - self._last_look if self._last_look is not None else 0.0
        self._last_look = now
        if pause > self._timeout / PAUSE_SHARE:
            for node_id, session in self._sessions.items():
                self._sessions[node_id] = session._replace(heard=min(now, session.heard + pause))
        return [
            (node_id, session.epoch)
            for node_id, session in sorted(self._sessions.items())
            if self.is_silent(node_id, session.epoch, now)
        ]

    def is_silent(self, node_id: int, epoch: int, now: float) -> bool:
        """It was not heard for a whole session. False for what is no member."""
        session = self._sessions.get(node_id)
        if session is None or session.epoch != epoch or node_id == self._pinned:
            return False
        return now - session.heard >= self._timeout

    @property
    def interval(self) -> float:
        """Seconds between two looks, half of what counts as a pause."""
        return self._timeout / PAUSE_SHARE / 2
