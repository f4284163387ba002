"""How long coming to rest may take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kproto.replica.scrub import PAUSE_S

if TYPE_CHECKING:
    from .world import World

SETTLE_SECONDS = 70.0
"""With one move that did not happen, because copies were missing just then, and is tried again half a minute
later (seed 14016201)."""


class Patience:
    """`SETTLE_SECONDS` from now on; longer where copies may be read only so fast: by what is ``missing``, in
    bytes, and by what leaders have read meanwhile of what they took over, which is read from the same copies;
    and where a broker doubts copies, which its scrub looks at one by one.
    """

    def __init__(self, world: World, missing: int = 0) -> None:
        self._world = world
        self._missing = missing
        self._began = world.loop.now
        self._brought = self._bytes()

    @property
    def seconds(self) -> float:
        """In all, as far as one can tell now."""
        rate: int = self._world.plan.rate
        reading = (self._missing + max(self._bytes() - self._brought, 0)) / rate if rate else 0.0
        return SETTLE_SECONDS + reading + self._looking()

    @property
    def over(self) -> bool:
        waited = self._world.loop.now - self._began
        return waited >= SETTLE_SECONDS and waited >= self.seconds

    def _looking(self) -> float:
        """Seconds for a scrub's round where some copy has yet to be read (seed 30072612)."""
        stores = [node.store for node in self._world.nodes.values() if node.serving]
        return max((PAUSE_S * len(store.copies) for store in stores if store.state.unread), default=0.0)

    def _bytes(self) -> int:
        """Brought over so far by the processes that there are."""
        told = [bringing_over(self._world, number) for number in self._world.nodes]
        return sum(one.get("bytes", 0) for one in told)


def bringing_over(world: World, number: int) -> dict[str, int]:
    """What a node tells of bringing old data over; nothing when it does not run."""
    broker = world.nodes[number].broker
    if broker is None or broker._member is None:
        return {}
    told: dict[str, int] = broker._member.recovering()["bring_over"]
    return told
