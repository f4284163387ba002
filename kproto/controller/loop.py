"""The acting controller at work in a cluster: who is dead, what is sealed, who leads, which copies are made.

A thin shell around the pure decisions. It is level-triggered: every change, answer and timer only makes it
look again at image and table, so a step that was interrupted (by a lost answer, or because the controller
itself started anew) is taken up where it was. Everything runs on one event loop, with the injected clock and
peers only.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from kproto.controller import rules
from kproto.controller.arranging import Arranger
from kproto.controller.decision import Decision
from kproto.controller.fencing import decide_fence
from kproto.controller.recovery import awaits_preferred, decide_assign, due_streamlets, led_now, stuck
from kproto.controller.repair import Repair, Repairs, decide_repaired
from kproto.controller.sealing import Ask, Sealing, decide_close
from kproto.controller.sessions import Sessions
from kproto.errors import KafkaError
from kproto.metadata.records import RECOVERING
from kproto.net.ports import Answer, PeerError, PeersPort
from kproto.replica import messages
from kproto.trouble import Trouble
from kproto.wire import WireError
from kproto.wire.internal import Api, InternalError

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.config import Settings
    from kproto.controller.controller import Controller
    from kproto.metadata import MetadataImage
    from kproto.metadata.records import BrokerRecord, StreamletRecord
    from kproto.metadata.vlogs import VsegId

log = logging.getLogger(__name__)

REFUSAL_LOOKS: Final = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)
"""Seconds before each look whether a broker that lost its connection still listens."""
FIRST_LOOK_SECONDS: Final = 0.6
"""After it took over from another, a controller looks who of the registered brokers has died meanwhile; so
long it waits for those that are starting."""
CANNOT_WRITE: Final = "the controller cannot write its decisions"
TROUBLE_SECONDS: Final = 0.5
"""After a decision could not be written."""
START_SECONDS: Final = 1.0
"""How long a controller that starts waits for brokers that start with it, before others lead for them."""
UPKEEP_SECONDS: Final = 1.0
"""Between two looks at missing copies and at what can be freed, at least, unless a repair ended..."""
UPKEEP_REST: Final = 20.0
"""...and in times of what the last one took..."""
UPKEEP_REST_MOST: Final = 10.0
"""...in seconds: it may have waited for a slow store, and missing copies cannot wait so much longer."""
REPAIR_SECONDS: Final = 120.0
"""One virtual segment has been copied by then, or is said to be still on its way; else it is tried again."""
LISTED_SECONDS: Final = 30.0
"""A copy that was made is listed so soon after it was asked for, or it is asked for anew: its broker gives up
what is not listed for long (`kproto.replica.store.HELD_S`, twice as long at least)."""
STUCK_LOG_SECONDS: Final = 30.0

_FAULTS_OF_TARGETS: Final = (
    InternalError.NONE,
    InternalError.FULL,
    InternalError.REFUSED,
    InternalError.BAD_REQUEST,
    InternalError.WAIT,
)
"""Answers to REPAIR that say nothing about the copy at its source."""

Refused = Callable[[int], Awaitable[bool]]


class ControllerLoop:
    """See the module's text. :meth:`start` once the controller's own broker is registered; then
    :meth:`heard` and :meth:`lost` from the listener and the peers.

    ``refused`` tells whether nobody listens where a node should (``Peers.refused``).
    """

    __slots__ = (
        "_arranger",
        "_brokers",
        "_causes",
        "_clock",
        "_closed",
        "_controller",
        "_due",
        "_due_stale",
        "_hold_until",
        "_loop",
        "_peers",
        "_refused",
        "_repaired",
        "_repairs",
        "_sealing",
        "_short",
        "_stuck",
        "_stuck_logged",
        "_tasks",
        "_timer",
        "_upkeep_stale",
        "_wake",
        "_watched",
        "sessions",
    )

    def __init__(
        self, controller: Controller, peers: PeersPort, refused: Refused, clock: Clock, settings: Settings
    ) -> None:
        self._controller = controller
        self._peers = peers
        self._refused = refused
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        session = settings.broker_session_timeout_ms / 1000
        self.sessions = Sessions(session, controller.node_id)
        repair_delay = settings.kproto_repair_delay_ms / 1000
        may_lose = bool(settings.values[rules.UNCLEAN])
        self._sealing = Sealing(settings.kproto_backup_stall_ms / 1000, repair_delay, session, may_lose)
        self._repairs = Repairs(repair_delay, controller.proposals.denials)
        self._arranger = Arranger(controller, settings, clock.monotonic())
        self._brokers: dict[int, BrokerRecord] = {}
        """As of the last image, to see who started again."""
        self._causes: dict[tuple[int, int], tuple[str, float]] = {}
        """Why (node id, epoch) is being fenced, and when that was noticed."""
        self._due: list[StreamletRecord] = []
        self._due_stale = True
        self._hold_until = 0.0
        self._upkeep_stale = True
        self._short = 0
        self._stuck: list[str] = []
        self._stuck_logged: tuple[float, list[str]] = (0.0, [])
        self._wake = asyncio.Event()
        self._repaired = asyncio.Event()
        """A repair ended: there is room for the next."""
        self._timer: asyncio.TimerHandle | None = None
        self._watched: set[tuple[int, int]] = set()
        self._tasks: dict[asyncio.Task[None], None] = {}
        self._closed = False

    def start(self, took_over: bool = False) -> None:
        """Begin; every broker that is registered has a whole session to be heard.

        ``took_over``: the brokers were running all the while, so that one where nobody listens is dead.
        Else the whole cluster may be starting.
        """
        self._brokers = dict(self._controller.image.brokers)
        self.sessions.follow(self._brokers, self._clock.monotonic(), connected=False)
        own = self._brokers.get(self._controller.node_id)
        if own is not None and not took_over:  # it registered before this began
            self.sessions.heard(own.node_id, own.epoch, self._clock.monotonic())
        self._arranger.follow(self._brokers, self._clock.monotonic())
        proposals = self._controller.proposals
        proposals.clock = self._clock.monotonic
        proposals.stuck = lambda: self._stuck
        proposals.accept_loss = self._accept_loss
        proposals.look_for_copies = self._look_for_copies
        proposals.heard_since = self.sessions.heard_since
        proposals.repairs = lambda: {"running": self._repairs.running, "short": self._short}
        self._note_found()
        self._hold_until = self._clock.monotonic() + START_SECONDS
        self._loop.call_later(START_SECONDS, self._wake.set)
        self._controller.subscribe(self._on_image)
        self._begin(self._drive())
        self._begin(self._watch())
        for node_id, broker in sorted(self._brokers.items()):
            if took_over and node_id != self._controller.node_id:
                self._begin(self._look_after(node_id, broker.epoch, FIRST_LOOK_SECONDS))
        self._begin(self._upkeep())

    async def close(self) -> None:
        """Stop; what is on its way to the store is finished by the controller."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks[task] = None
        task.add_done_callback(self._tasks.pop)

    def now(self) -> float:
        """Seconds of the clock that sessions are measured with."""
        return self._clock.monotonic()

    # --- who is alive ------------------------------------------------------------------------------

    def heard(self, node_id: int, epoch: int) -> bool:
        """A broker sent something; False when this epoch is no member (any more)."""
        return self.sessions.heard(node_id, epoch, self._clock.monotonic())

    def lost(self, node_id: int) -> None:
        """A connection with a broker ended. When nobody listens there any more it is dead at once."""
        broker = self._controller.image.brokers.get(node_id)
        if broker is None or node_id == self._controller.node_id or self._closed:
            return
        self.sessions.lost(node_id, broker.epoch)
        if (node_id, broker.epoch) not in self._watched:
            self._watched.add((node_id, broker.epoch))
            self._begin(self._look_after(node_id, broker.epoch))

    async def _look_after(self, node_id: int, epoch: int, after: float = 0.0) -> None:
        """Fence a broker if nobody listens where it should; ``after`` seconds are its to come back."""
        await asyncio.sleep(after)
        noticed = self._clock.monotonic()
        try:
            for pause in REFUSAL_LOOKS:
                await asyncio.sleep(pause)
                if not rules.is_current(self._controller.image, node_id, epoch):
                    return
                if await self._refused(node_id):
                    await self._fence(node_id, epoch, "its process ended", noticed)
                    return
        finally:
            self._watched.discard((node_id, epoch))

    async def _watch(self) -> None:
        """Fence brokers that were silent for a whole session."""
        while True:
            await asyncio.sleep(self.sessions.interval)
            now = self._clock.monotonic()
            for node_id, epoch in self.sessions.expired(now):
                await self._fence(node_id, epoch, "it was silent for a whole session", now)

    async def _fence(self, node_id: int, epoch: int, cause: str, noticed: float) -> None:
        """Declare a broker dead (rule 19). May be wrong; then it learns that from the next answer it gets."""
        self._causes[node_id, epoch] = (cause, noticed)
        try:
            broker = await self._controller.decide(
                lambda: decide_fence(self._controller.image, node_id, epoch)
            )
        except KafkaError as error:
            log.error("broker %d could not be fenced: %s", node_id, error)
            return
        finally:
            self._causes.pop((node_id, epoch), None)  # both a silence and a lost connection may have led here
        if broker is not None:
            log.warning("broker %d (epoch %d) is fenced: %s", node_id, epoch, cause)

    # --- looking at what changed -------------------------------------------------------------------

    def _on_image(self, image: MetadataImage) -> None:
        now = self._clock.monotonic()
        if image.brokers != self._brokers:
            self._note_ends(image, now)
            self._brokers = dict(image.brokers)
            self.sessions.follow(self._brokers, now)
            self._arranger.follow(self._brokers, now)
            self._due_stale = True
        if image.touched:
            self._due_stale = True
            self._note_deleted(image, now)
        self._upkeep_stale = True
        self._wake.set()

    def _note_ends(self, image: MetadataImage, now: float) -> None:
        """Owner epochs that ended with this image are recoveries from now on."""
        for node_id, before in sorted(self._brokers.items()):
            if not rules.is_current(image, node_id, before.epoch):
                ended = (node_id, before.epoch)
                usual = "it left" if ended in self._controller.proposals.leaving else "it started again"
                cause, noticed = self._causes.get(ended, (usual, now))
                self._controller.proposals.recoveries.ended(
                    node_id, before.epoch, cause, noticed, now, self._clock.wall_ms()
                )

    def _note_found(self) -> None:
        """Recoveries that a controller before this one did not finish begin with this one."""
        image, table = self._controller.image, self._controller.table
        now, wall_ms = self._clock.monotonic(), self._clock.wall_ms()
        owners = {
            vseg.id.owner_epoch: vseg.node_id for vseg in table.open_vsegs() if rules.is_sealing(image, vseg)
        }
        for part in image.streamlets.values():
            for record in part:
                if record.state == RECOVERING or rules.is_due(image, record):
                    owners.setdefault(record.sources[-1], record.leader)
        recoveries = self._controller.proposals.recoveries
        for epoch, node_id in sorted(owners.items()):
            recoveries.ended(node_id, epoch, "found when the controller started", now, now, wall_ms)

    def _note_deleted(self, image: MetadataImage, now: float) -> None:
        recoveries = self._controller.proposals.recoveries
        gone = [topic_id for topic_id in image.touched if topic_id not in image.topics_by_id]
        if gone:
            recoveries.deleted(gone, now)

    async def _drive(self) -> None:
        """Take every step that is possible, then wait for something to change."""
        trouble = Trouble(log, self._clock, CANNOT_WRITE)
        while True:
            self._wake.clear()
            try:
                self._ask_and_look(await self._close_vsegs())
                await self._assign()
                trouble.over()
            except KafkaError as error:
                trouble.failed(error)
                await asyncio.sleep(TROUBLE_SECONDS)
                self._wake.set()
            await self._wake.wait()

    async def _close_vsegs(self) -> list[Ask]:
        """Close what can be closed; whom to ask for the rest."""
        controller = self._controller
        while True:
            now = self._clock.monotonic()
            plan = self._sealing.plan(controller.image, controller.table, now)
            if not plan.closes:
                self._note_stuck(plan.waiting)
                self._look_at(plan.look_at, now)
                return plan.asks
            closes = plan.closes
            closed = await controller.decide(
                lambda closes=closes: decide_close(controller.image, controller.table, closes)  # type: ignore[misc]
            )
            controller.proposals.recoveries.closed(closed, self._clock.monotonic())

    def _accept_loss(self, vsegs: Sequence[VsegId], named: bool) -> list[bool]:
        """See :meth:`Sealing.accept_loss`."""
        self._wake.set()
        return self._sealing.accept_loss(vsegs, named)

    def _look_at(self, at: float | None, now: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(max(0.0, at - now), self._wake.set) if at is not None else None

    def _ask_and_look(self, asks: list[Ask]) -> None:
        """Send the SEALs; every answer wakes the loop."""
        for ask in asks:
            self._sealing.asked(ask)
            body = messages.Seal(ask.vseg, ask.fence, ask.target.store_id, ask.journal).encode()
            self._peers.request(
                ask.target.node_id,
                Api.SEAL,
                (body,),
                lambda answer, ask=ask: self._on_sealed(ask, answer),  # type: ignore[misc]
            )

    def _on_sealed(self, ask: Ask, answer: Answer | None) -> None:
        now = self._clock.monotonic()
        broker = self._controller.image.brokers.get(ask.target.node_id)
        sealed = _read_sealed(answer)
        if sealed is None or broker is None or broker.store_id != ask.target.store_id:
            self._sealing.failed(ask, now)
        else:
            self._sealing.answered(ask, sealed.position, sealed.limbo, broker.epoch, now)
        self._wake.set()

    async def _assign(self) -> None:
        """Give due streamlets to leaders, a hundred at a time, until none is left that can be."""
        controller = self._controller
        if self._due_stale:
            self._due_stale = False
            self._due = due_streamlets(controller.image)
        if not self._due:
            return
        load = led_now(controller.image)
        held = self._hold()
        while self._due:
            due = self._due
            assigned = await controller.decide(
                lambda due=due: decide_assign(controller.image, controller.table, due, load)  # type: ignore[misc]
            )
            if not assigned:
                break
            controller.proposals.recoveries.assigned(assigned, self._clock.monotonic())
            done = {(record.topic_id, record.index) for record in assigned}
            self._due = [record for record in due if (record.topic_id, record.index) not in done]
        self._stuck += stuck(controller.image, controller.table, self._due)
        self._due += held

    def _hold(self) -> list[StreamletRecord]:
        """Take from what is due those that wait a moment for their preferred leader: the whole cluster may be
        starting."""
        if self._clock.monotonic() >= self._hold_until:
            return []
        image, table, due = self._controller.image, self._controller.table, self._due
        waits = [awaits_preferred(image, table, record) for record in due]
        self._due = [record for record, held in zip(due, waits, strict=True) if not held]
        return [record for record, held in zip(due, waits, strict=True) if held]

    def _note_stuck(self, lines: list[str]) -> None:
        """Tell the operator what is waited for, not too often."""
        at, told = self._stuck_logged
        now = self._clock.monotonic()
        if self._stuck and (self._stuck != told or now - at > STUCK_LOG_SECONDS):
            self._stuck_logged = now, list(self._stuck)
            for line in self._stuck:
                log.warning("%s", line)
        self._stuck = list(lines)

    # --- copies and garbage ------------------------------------------------------------------------

    async def _upkeep(self) -> None:
        """Order missing copies and delete what nobody needs; a fraction of the time at most."""
        look_at: float | None = None
        freeing, arranging = (Trouble(log, self._clock, CANNOT_WRITE) for _ in range(2))
        while True:
            began = self._clock.monotonic()
            if self._upkeep_stale or (look_at is not None and began >= look_at):
                self._upkeep_stale = False
                try:
                    look_at = self._order_repairs(began)
                    await self._controller.proposals.free()
                    freeing.over()
                except KafkaError as error:
                    freeing.failed(error)
                    self._upkeep_stale = True
            try:
                await self._arranger.look(began)
                arranging.over()
            except KafkaError as error:
                arranging.failed(error)
            rest = upkeep_rest(self._clock.monotonic() - began)
            await asyncio.sleep(rest)
            with suppress(TimeoutError):
                async with asyncio.timeout(max(UPKEEP_SECONDS - rest, 0.0)):
                    await self._repaired.wait()
            self._repaired.clear()

    def _order_repairs(self, now: float) -> float | None:
        plan = self._repairs.plan(self._controller.image, self._controller.table, now)
        self._short = plan.short
        for repair in plan.orders:
            self._repairs.ordered(repair)
            self._begin(self._repair(repair))
        return plan.look_at

    def _look_for_copies(self) -> None:
        self._upkeep_stale = True

    async def _repair(self, repair: Repair) -> None:
        """Have one copy made and list it (rule 17)."""
        controller = self._controller
        done = for_want = False
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
            for_want = answer.error not in _FAULTS_OF_TARGETS
            if answer.error == InternalError.NONE:
                done = await controller.decide(
                    lambda: (
                        Decision(False)
                        if self._is_late(asked)
                        else decide_repaired(controller.image, controller.table, repair)
                    )
                )
        except (PeerError, KafkaError) as error:
            log.warning("a copy of %s could not be made: %s", repair.vseg.key, error)
        finally:
            self._repairs.ended(repair, done, self._clock.monotonic(), for_want)
            self._upkeep_stale = True
            self._repaired.set()

    def _is_late(self, asked: float) -> bool:
        """What was made for this question may have been given up again, because nobody listed it."""
        return self._clock.monotonic() - asked > LISTED_SECONDS


def upkeep_rest(took: float) -> float:
    """Seconds to rest after a look at missing copies and garbage that ``took`` so many."""
    return min(UPKEEP_REST * took, UPKEEP_REST_MOST)


def _read_sealed(answer: Answer | None) -> messages.Sealed | None:
    """What a copy answered; None when it says nothing about the copy. LIMBO may come as an error, too."""
    if answer is None:
        return None
    if answer.error == InternalError.LIMBO:
        return messages.Sealed(messages.NOTHING, True)
    if answer.error != InternalError.NONE:
        return None
    try:
        return messages.Sealed.decode(answer.body)
    except WireError as error:
        log.error("an answer to SEAL cannot be read: %s", error)
        return None
