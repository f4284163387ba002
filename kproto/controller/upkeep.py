"""What the acting controller does about copies that are missing, what nobody needs, and who should lead.

A look at all that is there, for a fraction of the time at most, whenever something changed: whatever one look
leaves undone, the next one finds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence, Set
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from kproto.controller import rules
from kproto.controller.arranging import Arranger
from kproto.controller.decision import Decision
from kproto.controller.repair import Repairs, decide_repaired
from kproto.controller.repair_pairs import Repair
from kproto.errors import KafkaError
from kproto.net.ports import PeerError, PeersPort
from kproto.replica import messages
from kproto.trouble import Alike, Trouble
from kproto.wire.internal import Api, InternalError

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.config import Settings
    from kproto.controller.controller import Controller
    from kproto.metadata import BrokerRecord
    from kproto.metadata.vlogs import VsegId

log = logging.getLogger(__name__)

CANNOT_WRITE: Final = "the controller cannot write its decisions"
UPKEEP_SECONDS: Final = 1.0
"""Between two looks, at least, unless repairs ended or one is waited for..."""
UPKEEP_REST: Final = 20.0
"""...and, unless a recovery waits for one, in times of what the last one took..."""
UPKEEP_REST_MOST: Final = 10.0
"""...in seconds: it may have waited for a slow store, and missing copies cannot wait so much longer."""
REPAIR_SECONDS: Final = 120.0
"""One virtual segment has been copied by then, or is said to be still on its way; else it is tried again."""
LISTED_SECONDS: Final = 30.0
"""A copy that was made is listed so soon after it was asked for, or it is asked for anew: its broker gives up
what is not listed for long (`kproto.replica.store.HELD_S`, twice as long at least)."""


class Upkeep:
    """See the module's text. ``begin`` runs something beside it, until the controller's term ends."""

    __slots__ = (
        "_arranger",
        "_awaited",
        "_begin",
        "_changes",
        "_clock",
        "_controller",
        "_failures",
        "_peers",
        "_repairs",
        "_seen",
        "_short",
        "_soon",
        "_urgent",
    )

    def __init__(
        self,
        controller: Controller,
        peers: PeersPort,
        clock: Clock,
        settings: Settings,
        begin: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._controller = controller
        self._peers = peers
        self._clock = clock
        self._begin = begin
        self._repairs = Repairs(settings.kproto_repair_delay_ms / 1000, controller.proposals.denials)
        self._arranger = Arranger(controller, settings, clock.monotonic())
        self._short = 0
        """Virtual segments that lacked copies at the last look."""
        self._changes = 1
        """Images and the like that may lack other copies than those before them..."""
        self._seen = 0
        """...and how many of them there were at the last look."""
        self._soon = asyncio.Event()
        """A repair failed, or the last one that runs ended, or somebody waits for one."""
        self._urgent = asyncio.Event()
        """A recovery waits for one: no time to rest."""
        self._awaited: Set[VsegId] = frozenset()
        self._failures = Alike(log, clock)

    def follow(self, brokers: Mapping[int, BrokerRecord], now: float) -> None:
        """The members changed: one who came may have what a recovery waits for."""
        self._arranger.follow(brokers, now)
        if self._awaited:
            self._urgent.set()

    def look_again(self) -> None:
        """There is a new image, or a repair ended, or failed."""
        self._changes += 1

    def hurry(self, awaited: Set[VsegId]) -> None:
        """Recoveries wait for copies of these: `Repairs.plan`."""
        if not awaited <= self._awaited:
            self.look_again()
            self._soon.set()
            self._urgent.set()
        self._awaited = awaited

    def repairs(self) -> dict[str, int]:
        """How many are under way, and how many virtual segments lacked copies at the last look: it came
        after ``seen`` of the ``changes`` so far. Those ``sealing`` are looked at once they are closed."""
        image, table = self._controller.image, self._controller.table
        return {
            "running": self._repairs.running,
            "short": self._short,
            "sealing": sum(rules.is_sealing(image, vseg) for vseg in table.open_vsegs()),
            "changes": self._changes,
            "seen": self._seen,
        }

    async def run(self) -> None:
        """Order missing copies and delete what nobody needs, until cancelled."""
        look_at: float | None = None
        freeing, arranging = (Trouble(log, self._clock, CANNOT_WRITE) for _ in range(2))
        while True:
            began = self._clock.monotonic()
            if self._seen < self._changes or (look_at is not None and began >= look_at):
                try:
                    look_at = self._order_repairs(began)
                    await self._controller.proposals.free()
                    freeing.over()
                except Exception as error:
                    freeing.failed(error, isinstance(error, KafkaError))
                    self.look_again()
            try:
                await self._arranger.look(began)
                arranging.over()
            except Exception as error:
                arranging.failed(error, isinstance(error, KafkaError))
            rest = upkeep_rest(self._clock.monotonic() - began)
            for event, most in ((self._urgent, rest), (self._soon, UPKEEP_SECONDS - rest)):
                with suppress(TimeoutError):
                    async with asyncio.timeout(max(most, 0.0)):
                        await event.wait()
            self._urgent.clear()
            self._soon.clear()

    def _order_repairs(self, now: float) -> float | None:
        plan = self._repairs.plan(self._controller.image, self._controller.table, now, self._awaited)
        self._short, self._seen = plan.short, self._changes
        self._order(plan.orders)
        return plan.look_at

    def _order(self, repairs: Sequence[Repair]) -> None:
        for repair in repairs:
            self._repairs.ordered(repair)
            self._begin(self._repair(repair))

    async def _repair(self, repair: Repair) -> None:
        """Have one copy made and list it (rule 17)."""
        controller = self._controller
        done = False
        error: int | None = None
        try:
            body = messages.Repair(repair.vseg, repair.source).encode()
            while True:
                asked = self._clock.monotonic()
                answer = await self._peers.call(repair.target.node_id, Api.REPAIR, body, REPAIR_SECONDS)
                again = answer.error == InternalError.WAIT or (
                    answer.error == InternalError.NONE and self._is_late(asked)
                )
                if not again or repair.vseg.id not in controller.table.vsegs:
                    break
            error = answer.error
            if error == InternalError.NONE:
                done = await controller.decide(
                    lambda: (
                        Decision(False)
                        if self._is_late(asked)
                        else decide_repaired(controller.image, controller.table, repair)
                    )
                )
        except (PeerError, KafkaError) as problem:
            line = f"a copy of virtual segment {repair.vseg.id} could not be made: {problem}"
            self._failures.failed((repair.target.node_id, str(problem)), line)
        finally:
            go_on = self._repairs.ended(repair, done, self._clock.monotonic(), error)
            self.look_again()
        if go_on:
            self._order(self._repairs.more(controller.image, controller.table, repair))
        if not go_on or not self._repairs.running:
            self._soon.set()
        if not go_on and repair.vseg.id in self._awaited:
            self._urgent.set()

    def _is_late(self, asked: float) -> bool:
        """What was made for this question may have been given up again, because nobody listed it."""
        return self._clock.monotonic() - asked > LISTED_SECONDS


def upkeep_rest(took: float) -> float:
    """Seconds to rest after a look at missing copies and garbage that ``took`` so many."""
    return min(UPKEEP_REST * took, UPKEEP_REST_MOST)
