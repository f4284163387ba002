"""What the controller moves by itself: leaders back to preferred replicas, or off drained brokers; and
internal topics to more replicas when brokers join.

Level-triggered like the rest of the controller: what is to be done follows from image and table (see
``moves``), so a controller that starts anew goes on.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from kproto.controller.decision import carry_out
from kproto.controller.draining import decide_replacements, draining, replacements
from kproto.controller.moves import MOVES_AT_ONCE, Wish, decide_moves, decide_tidy, misplaced
from kproto.controller.reassignment import decide_reassign, more_internal_copies

if TYPE_CHECKING:
    from kproto.config import Settings
    from kproto.controller.controller import Controller
    from kproto.metadata import BrokerRecord

log = logging.getLogger(__name__)

SETTLED_SECONDS: Final = 5.0
"""A broker has been a member for so long before it is given anything to lead by itself."""
AGAIN_SECONDS: Final = 30.0
"""A move that did not happen is tried again after so long."""
REPLACED_AT_ONCE: Final = 100


class Arranger:
    """See the module's text. Times are seconds of one monotonic clock."""

    __slots__ = (
        "_automatic",
        "_balance_at",
        "_controller",
        "_internal_copies",
        "_interval",
        "_members",
        "_seen",
        "_tried",
    )

    def __init__(self, controller: Controller, settings: Settings, now: float) -> None:
        self._controller = controller
        self._automatic = settings.auto_leader_rebalance_enable
        self._internal_copies = settings.offsets_topic_replication_factor
        self._interval = float(settings.leader_imbalance_check_interval_seconds)
        self._balance_at = now + self._interval
        self._members: dict[int, tuple[int, float]] = {}
        """Node id -> epoch, and since when it is a member."""
        self._seen = (-1, frozenset[int]())
        """What the last look saw when it began: what came since, also by itself, is for the next one."""
        self._tried: dict[Wish, float] = {}

    def follow(self, brokers: Mapping[int, BrokerRecord], now: float) -> None:
        """The members changed."""
        known = self._members
        self._members = {
            node: known[node] if node in known and known[node][0] == broker.epoch else (broker.epoch, now)
            for node, broker in brokers.items()
        }

    async def look(self, now: float) -> None:
        """Take the next steps. Raises KafkaError when they cannot be written."""
        controller = self._controller
        settled = self._settled(now)
        balance = self._automatic and now >= self._balance_at
        seen = (controller.image.revision, settled)
        if seen == self._seen and not balance:
            return
        if controller.table.moves or controller.table.given_upto:
            await carry_out(controller, decide_tidy)
        more = more_internal_copies(controller.image, settled, self._internal_copies, controller.table.fenced)
        if more:
            await carry_out(controller, decide_reassign, more)
        if draining(controller.image):
            wanted = replacements(controller.image, REPLACED_AT_ONCE)
            if wanted:
                await carry_out(controller, decide_replacements, wanted)
        left = await self._begin(now, settled, balance)
        if balance and not left:
            self._balance_at = now + self._interval
        waits = left or self._tried or controller.proposals.unreached
        self._seen = seen if not waits else (-1, settled)

    async def _begin(self, now: float, settled: frozenset[int], balance: bool) -> bool:
        """Whether there is more to move than there is room for."""
        controller = self._controller
        self._tried = {wish: until for wish, until in self._tried.items() if now < until}
        unreached = controller.proposals.unreached
        unreached.forget(now)
        tried = unreached.at(controller.image, now)
        found = misplaced(controller.image, controller.table, settled, balance, tried)
        wishes, more = self._choose(wish for wish in found if wish not in self._tried)
        if wishes:
            moves = await carry_out(controller, decide_moves, wishes)
            log.info("%d streamlets move to other leaders", len(moves))
            self._tried.update((Wish(*move[:3]), now + AGAIN_SECONDS) for move in moves)
        return more

    def _choose(self, found: Iterable[Wish]) -> tuple[list[Wish], bool]:
        """As many as there is room for, and whether there are more. With two copies they wait for others to
        be made (`missing.owed`), be it for hours: others have a room of their own."""
        room = Counter({True: MOVES_AT_ONCE, False: MOVES_AT_ONCE})
        room.subtract(self._has_two_copies(key) for key in self._controller.table.moves)
        wishes: list[Wish] = []
        passed_over = False
        left = iter(found)
        while max(room.values()) > 0:
            wish = next(left, None)
            if wish is None:
                return wishes, passed_over
            slow = self._has_two_copies(wish[:2])
            if room[slow] > 0:
                room[slow] -= 1
                wishes.append(wish)
            else:
                passed_over = True
        return wishes, True

    def _has_two_copies(self, key: tuple[bytes, int]) -> bool:
        record = self._controller.image.find_streamlet(*key)
        return record is not None and len(record.replicas) == 2

    def _settled(self, now: float) -> frozenset[int]:
        gone = draining(self._controller.image)
        return frozenset(
            node
            for node, (_, since) in self._members.items()
            if now - since >= SETTLED_SECONDS and node not in gone
        )
