"""Who operates the broker hears of virtual logs whose state frames find no room."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kproto.vlog.replicated import ReplicatedPusher

log = logging.getLogger(__name__)

MISSED_TOLD: Final = 5
"""A state that found no room so often in a row is no matter of chance."""


class LargeStates:
    """Where no state frame finds room nothing older is ever freed, on backups neither (rule 30): somebody has
    to know. It is said when it begins, and when it is over."""

    __slots__ = ("_told",)

    def __init__(self) -> None:
        self._told: set[int] = set()
        """Virtual logs of which it was said that their state has no room."""

    def look(self, pushers: Iterable[ReplicatedPusher]) -> None:
        """Say what is new of these."""
        for pusher in pushers:
            number, large = pusher.vlog.vlog_id, pusher.states.missed >= MISSED_TOLD
            if large == (number in self._told):
                continue
            self._told ^= {number}
            if large:
                log.warning(
                    "the state of virtual log %d (%d bytes) has no room in a virtual segment: backups keep "
                    "all they get, and a new leader would read ever more. It needs larger "
                    "kproto.virtual.segment.bytes, or kproto.journal.bytes, or fewer producers",
                    number,
                    pusher.states.last_bytes,
                )
            else:
                log.warning("the state of virtual log %d: it fits again", number)
