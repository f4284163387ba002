"""Whether a virtual log waits for backups that fail, or goes on without them (rule 13).

Usually it goes on at once, in another segment with others. When every other broker fails though it is a
member, that would leave one copy only. So who is silent is waited for, who has no room is offered the oldest
frame that it lacks every `AGAIN_S`, and who refuses is tried again as often, until that has lasted for
``replica.lag.time.max.ms``: Kafka's followers leave the in-sync replicas then. Who is silent or has no room
is also waited for while no controller is heard, who has to record the next segment.

Only decides, by what `replication` knows of all brokers; `replicated` does what is decided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kproto.vlog.replication import Suspects

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kproto.clock import Clock
    from kproto.vlog.replication import Replication

AGAIN_S: Final = 1.0
"""Between two segments with backups that have all failed lately, and two offers to one without room."""
FULL_S: Final = 20.0
"""Nobody is wanted, to have more copies, who had no room so lately, if it lasted."""


class Patience:
    """That of one virtual log. Times are seconds of ``clock``."""

    __slots__ = ("_again_at", "_clock", "_full", "_shared")

    def __init__(self, shared: Replication, clock: Clock) -> None:
        self._shared = shared
        self._clock = clock
        self._full = Suspects(clock)
        """Who has no room for this virtual log, and may have some reserved for others."""
        self._again_at = 0.0
        """When all who failed may be tried again."""

    def stored(self, node_id: int) -> None:
        """A backup stored something."""
        self._shared.suspects.clear(node_id)
        self._full.clear(node_id)

    def left(self, nodes: Iterable[int]) -> None:
        """They are no members any more."""
        for node_id in nodes:
            self._full.clear(node_id)

    def failed(self, node_id: int, waited: float) -> None:
        """A backup failed, silent for ``waited`` seconds."""
        self._shared.failed(node_id, waited, full=self._full.failing(node_id) > 0)

    def has_no_room(self, node_id: int, waited: float) -> float:
        """A backup refused a frame, of which the oldest byte has ``waited`` for so long, for want of room.
        Returns for how long that has been so."""
        self._full.add(node_id, waited, FULL_S)
        lasting = self._full.failing(node_id)
        self._shared.failed(node_id, lasting, full=True)
        return lasting

    def hopes(self, late: Sequence[int], waited: float) -> bool:
        """Whether to go on waiting for ``late`` backups, because nobody else is there, or is to be had: what
        is closed now would have nowhere to go before there is a controller again."""
        shared = self._shared
        if not shared.heard() and waited < shared.lag_s:
            return True
        nobody = shared.alone(shared.suspects.now().union(late))
        return nobody and any(max(waited, shared.suspects.failing(node)) < shared.lag_s for node in late)

    def choice(self) -> tuple[frozenset[int], float]:
        """Who should not be a backup of the next segment, and in how many seconds it may be asked for: who
        failed lately, but not all others as long as there is hope."""
        shared, now = self._shared, self._clock.monotonic()
        avoided = shared.suspects.now()
        if not shared.alone(avoided):
            return avoided, 0.0
        avoided = shared.suspects.hopeless(shared.lag_s) | self._full.hopeless(shared.lag_s)
        if shared.alone(avoided):
            return avoided, 0.0
        if now < self._again_at:
            return avoided, self._again_at - now
        self._again_at = now + AGAIN_S
        return avoided, 0.0

    def unwanted(self) -> frozenset[int]:
        """Who failed lately, or had no room: not wanted for more copies."""
        return self._shared.suspects.now() | self._full.now()
