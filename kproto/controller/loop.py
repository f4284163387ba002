"""The acting controller at work in a cluster: who is dead, what is sealed, who leads. The rest is `upkeep`.

A thin shell around the pure decisions. It is level-triggered: every change, answer and timer only makes it
look again at image and table, so a step that was interrupted (by a lost answer, or because the controller
itself started anew) is taken up where it was. Everything runs on one event loop, with the injected clock and
peers only.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Final

from kproto.controller import rules
from kproto.controller.decision import Decision, carry_out
from kproto.controller.fencing import decide_fence
from kproto.controller.recovery import (
    awaited,
    awaits_preferred,
    being_rebuilt,
    decide_assign,
    due_streamlets,
    led_now,
    stuck,
)
from kproto.controller.sealing import Ask, Sealing, decide_close
from kproto.controller.sessions import Sessions
from kproto.controller.upkeep import CANNOT_WRITE, Upkeep
from kproto.errors import KafkaError
from kproto.metadata.records import RECOVERING
from kproto.net.ports import Answer, PeersPort
from kproto.replica import messages
from kproto.trouble import Seldom, Trouble
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
TROUBLE_SECONDS: Final = 0.5
"""After a decision could not be written."""
START_SECONDS: Final = 1.0
"""How long a controller that starts waits for brokers that start with it, before others lead for them."""
STUCK_LOG_SECONDS: Final = 30.0
SILENT: Final = "it was silent for a whole session"

Refused = Callable[[int], Awaitable[bool]]


class ControllerLoop:
    """See the module's text. :meth:`start` once the controller's own broker is registered; then
    :meth:`heard` and :meth:`lost` from the listener and the peers.

    ``refused`` tells whether nobody listens where a node should (``Peers.refused``).
    """

    __slots__ = (
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
        "_rebuilt",
        "_recoveries",
        "_refused",
        "_sealing",
        "_stuck",
        "_tasks",
        "_timer",
        "_told_stuck",
        "_unfenced",
        "_upkeep",
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
        self._upkeep = Upkeep(controller, peers, clock, settings, self._begin)
        self._recoveries = controller.proposals.recoveries
        self._brokers: dict[int, BrokerRecord] = {}
        """As of the last image, to see who started again."""
        self._unfenced = Trouble(log, clock, "dead brokers cannot be fenced")
        self._causes: dict[tuple[int, int], tuple[str, float]] = {}
        """Why (node id, epoch) is being fenced, and when that was noticed."""
        self._due: list[StreamletRecord] = []
        self._rebuilt: dict[tuple[int, ...], list[StreamletRecord]] = {}
        self._due_stale = True
        """Both are to be looked for anew."""
        self._hold_until = 0.0
        self._stuck: list[str] = []
        self._told_stuck = Seldom(self._clock, math.inf, STUCK_LOG_SECONDS)
        self._wake = asyncio.Event()
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
        self._upkeep.follow(self._brokers, self._clock.monotonic())
        self._controller.proposals.loop = self
        self._note_found()
        self._hold_until = self._clock.monotonic() + START_SECONDS
        self._loop.call_later(START_SECONDS, self._wake.set)
        self._controller.subscribe(self._on_image)
        self._begin(self._drive())
        self._begin(self._watch())
        for node_id, broker in sorted(self._brokers.items()):
            if took_over and node_id != self._controller.node_id:
                self._begin(self._look_after(node_id, broker.epoch, FIRST_LOOK_SECONDS))
        self._begin(self._upkeep.run())

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

    # --- what proposals ask (`LoopPort`) -------------------------------------------------------------

    def now(self) -> float:
        """See `LoopPort`."""
        return self._clock.monotonic()

    def stuck(self) -> Sequence[str]:
        """See `LoopPort`."""
        return self._stuck

    def repairs(self) -> dict[str, int]:
        """See `LoopPort`."""
        return self._upkeep.repairs()

    def heard_since(self, node_id: int, other: int) -> bool:
        """See `LoopPort`."""
        return self.sessions.heard_since(node_id, other)

    def accept_loss(self, vsegs: Sequence[VsegId], named: bool) -> list[bool]:
        """See `LoopPort`."""
        self._wake.set()
        return self._sealing.accept_loss(vsegs, named)

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
        trouble = Trouble(log, self._clock, "silent brokers cannot be fenced")
        while True:
            await asyncio.sleep(self.sessions.interval)
            now = self._clock.monotonic()
            for node_id, epoch in self.sessions.expired(now):
                try:
                    await self._fence(node_id, epoch, SILENT, now)
                    trouble.over()
                except Exception as error:
                    trouble.failed(error, expected=False)

    async def _fence(self, node_id: int, epoch: int, cause: str, noticed: float) -> None:
        """Declare a broker dead (rule 19). May be wrong; then it learns that from the next answer it gets.
        Who was heard while the decision waited for a slow store is not silent."""

        def decide() -> Decision[BrokerRecord | None]:
            if cause == SILENT and not self.sessions.is_silent(node_id, epoch, self._clock.monotonic()):
                return Decision(None)
            return decide_fence(self._controller.image, node_id, epoch)

        self._causes[node_id, epoch] = (cause, noticed)
        try:
            broker = await self._controller.decide(decide)
        except KafkaError as error:
            self._unfenced.failed(f"broker {node_id}: {error}")
            return
        finally:
            self._causes.pop((node_id, epoch), None)  # both a silence and a lost connection may have led here
        if broker is not None:
            self._unfenced.over()
            log.warning("broker %d (epoch %d) is fenced: %s", node_id, epoch, cause)

    # --- looking at what changed -------------------------------------------------------------------

    def _on_image(self, image: MetadataImage) -> None:
        now = self._clock.monotonic()
        if image.brokers != self._brokers:
            self._note_ends(image, now)
            self._brokers = dict(image.brokers)
            self.sessions.follow(self._brokers, now)
            self._upkeep.follow(self._brokers, now)
            self._due_stale = True
        if image.touched:
            self._due_stale = True
            self._note_deleted(image, now)
        self._upkeep.look_again()
        self._wake.set()

    def _note_ends(self, image: MetadataImage, now: float) -> None:
        """Owner epochs that ended with this image are recoveries from now on."""
        for node_id, before in sorted(self._brokers.items()):
            if not rules.is_current(image, node_id, before.epoch):
                ended = (node_id, before.epoch)
                usual = "it left" if ended in self._controller.proposals.leaving else "it started again"
                cause, noticed = self._causes.get(ended, (usual, now))
                wall_ms = self._clock.wall_ms()
                self._recoveries.ended(node_id, before.epoch, cause, noticed, now, wall_ms)

    def _note_found(self) -> None:
        """Recoveries that a controller before this one did not finish begin with this one."""
        image, table = self._controller.image, self._controller.table
        now, wall_ms = self._clock.monotonic(), self._clock.wall_ms()
        owners = {
            vseg.id.owner_epoch: vseg.node_id for vseg in table.open_vsegs() if rules.is_sealing(image, vseg)
        }
        for record in image.every_streamlet():
            if record.state == RECOVERING or rules.is_due(image, record):
                owners.setdefault(record.sources[-1], record.leader)
        for epoch, node_id in sorted(owners.items()):
            self._recoveries.ended(node_id, epoch, "found when the controller started", now, now, wall_ms)

    def _note_deleted(self, image: MetadataImage, now: float) -> None:
        gone = {topic_id for topic_id in image.touched if topic_id not in image.topics_by_id}
        if gone:
            self._recoveries.deleted(gone, now)

    async def _drive(self) -> None:
        """Take every step that is possible, then wait for something to change."""
        trouble = Trouble(log, self._clock, CANNOT_WRITE)
        while True:
            self._wake.clear()
            try:
                self._ask_and_look(await self._close_vsegs())
                await self._assign()
                trouble.over()
            except Exception as error:
                trouble.failed(error, isinstance(error, KafkaError))
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
            closed = await carry_out(controller, decide_close, plan.closes)
            self._recoveries.closed(closed, self._clock.monotonic())

    def _look_at(self, at: float | None, now: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(max(0.0, at - now), self._wake.set) if at is not None else None

    def _ask_and_look(self, asks: list[Ask]) -> None:
        """Send the SEALs; every answer wakes the loop."""
        now = self._clock.monotonic()
        for ask in asks:
            self._sealing.asked(ask, now)
            body = messages.Seal(ask.vseg, ask.fence, ask.target.store_id, ask.journal, ask.thorough).encode()
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
            self._sealing.answered(ask, sealed, broker.epoch, now)
        self._wake.set()

    async def _assign(self) -> None:
        """Give due streamlets to leaders, and note what is waited for by others, and by those that are being
        rebuilt."""
        controller = self._controller
        if self._due_stale:
            self._due_stale = False
            self._due = due_streamlets(controller.image)
            self._rebuilt = being_rebuilt(controller.image)
        held: list[StreamletRecord] = []
        if self._due:
            held = self._hold()
            await self._assign_due()
        waiting = awaited(controller.image, controller.table, self._due, self._rebuilt)
        self._stuck += stuck(waiting)
        self._upkeep.hurry({vseg.id for vseg in waiting})
        self._due += held

    async def _assign_due(self) -> None:
        """A hundred at a time, until none is left that can be given to anybody."""
        controller = self._controller
        load = led_now(controller.image)
        unreached = controller.proposals.unreached.at(controller.image, self._clock.monotonic())
        while self._due:
            assigned = await carry_out(controller, decide_assign, self._due, load, unreached)
            if not assigned:
                break
            self._recoveries.assigned(assigned, self._clock.monotonic())
            done = {(record.topic_id, record.index) for record in assigned}
            self._due = [record for record in self._due if (record.topic_id, record.index) not in done]

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
        """Tell the operator what is waited for, not too often: each answer, and each that does not come, may
        change what of it is waited for at the moment."""
        for line in self._stuck:
            if self._told_stuck.is_due(line):
                log.warning("%s", line)
        self._stuck = list(lines)


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
