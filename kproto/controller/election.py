"""Who acts as controller, where the store is shared: the broker that holds the lease.

The decisions are pure (:class:`Standing` and what follows it); :class:`Election` drives them. The lease only
says when to try: that never two act is what the controller epoch is for, which the elected one takes with its
first transaction and compares in every later one (rules 1, 16, 19b). The holder's name in the lease is where
it can be reached, so every broker that has the store open knows the acting controller.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from kproto.metadata import StoreError
from kproto.trouble import Trouble

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.config import Settings
    from kproto.controller.loop import Refused
    from kproto.controller.seat import AnswerClientOf, Seat
    from kproto.metadata import MetadataStore
    from kproto.net.internal import InternalListener
    from kproto.net.ports import PeersPort

log = logging.getLogger(__name__)

CONTROLLER_LEASE: Final = "controller"
ROUNDS_PER_LEASE: Final = 5
"""Renewals in the time that a lease lives."""
FAREWELL_S: Final = 2.0
"""For giving the lease back at the end; it expires anyhow."""


class Candidate(NamedTuple):
    """A broker that may be controller: where the others reach it, and which data directory it runs in.

    A process that starts again in the same directory is the same candidate: it need not wait until the lease
    of the one before it expires.
    """

    node_id: int
    host: str
    port: int
    store_id: str

    def encode(self) -> str:
        return json.dumps(list(self), separators=(",", ":"))

    @classmethod
    def decode(cls, text: str) -> Candidate | None:
        """None for what is no candidate."""
        try:
            node_id, host, port, store_id = json.loads(text)
        except (ValueError, TypeError):
            return None
        return cls(node_id, host, port, store_id)


@dataclass(frozen=True, slots=True)
class Standing:
    """What a candidate knows of itself. While ``acting`` the lease is certainly its own before ``until``,
    seconds of the monotonic clock, if clocks run equally fast."""

    acting: bool = False
    until: float = 0.0


def granted(standing: Standing, sent: float, ttl: float, now: float) -> Standing:
    """The store gave or renewed the lease; it was asked at ``sent``, so it cannot expire before its end."""
    until = max(standing.until, sent + ttl)
    return Standing(now < until, until)


def refused(standing: Standing) -> Standing:
    """Another one holds the lease, or the guard of a transaction failed: somebody acts after us (rule 16)."""
    return Standing(False, standing.until)


def unanswered(standing: Standing, now: float) -> Standing:
    """The store could not be asked: the lease holds as long as it was given for."""
    return Standing(standing.acting and now < standing.until, standing.until)


class Election:
    """Takes part for one broker until :meth:`run` is cancelled, which gives the lease back.

    ``on_elected`` becomes the controller and may take its time; it is cancelled when the lease is lost
    meanwhile, and when it fails the lease is given back. ``on_deposed`` is called with the reason, after each
    ``on_elected``; the next election waits for it. ``on_leader`` hears of every change of the known acting
    controller; None: nobody. Callbacks run on the event loop.
    """

    __slots__ = (
        "_asked",
        "_candidate",
        "_clock",
        "_lost",
        "_on_deposed",
        "_on_elected",
        "_on_leader",
        "_standing",
        "_store",
        "_term",
        "_ttl",
        "_unable",
        "_unasked",
        "_wake",
        "_why",
        "leader",
    )

    def __init__(
        self,
        store: MetadataStore,
        candidate: Candidate,
        clock: Clock,
        ttl_ms: int,
        on_elected: Callable[[], Awaitable[object]],
        on_deposed: Callable[[str], Awaitable[object]],
        on_leader: Callable[[Candidate | None], object] = lambda _: None,
    ) -> None:
        self._store = store
        self._candidate = candidate
        self._clock = clock
        self._ttl = ttl_ms / 1000
        self._on_elected = on_elected
        self._on_deposed = on_deposed
        self._on_leader = on_leader
        self._standing = Standing()
        self._term: asyncio.Task[None] | None = None
        self._lost = ""
        self._unable = Trouble(log, clock, f"broker {candidate.node_id} cannot be controller")
        """While the last term could not begin, that is all that is told of them: where the store takes leases
        and nothing else there are several in each lease's time."""
        self._unasked = Trouble(log, clock, "the metadata store cannot be asked who is controller")
        self._asked = clock.monotonic()
        """When the store answered last, or the last time before that there was no need to."""
        self._why = ""
        """What the store said last when the lease could not be had."""
        self._wake = asyncio.Event()
        self.leader: Candidate | None = None
        """The acting controller, as the store said last."""

    @property
    def acting(self) -> bool:
        """This broker is the controller, or becoming it."""
        return self._standing.acting

    def step_down(self, reason: str) -> None:
        """End this broker's term: a guard failed, or what a transaction did is not known (rule 16)."""
        if self.acting:
            self._lost = reason
            self._wake.set()

    async def vacate(self, gone: Candidate) -> None:
        """The process of ``gone``, the holder of the lease, has ended: the seat is free at once. Being wrong
        is allowed: safety is in the controller epoch (rule 1)."""
        if gone != self.leader or gone == self._candidate:
            return
        try:
            async with asyncio.timeout(FAREWELL_S):
                await self._store.release(CONTROLLER_LEASE, gone.encode())
        except (StoreError, TimeoutError) as error:
            log.info("the lease is left to expire: %s", str(error) or "no answer")
        self._wake.set()

    async def run(self) -> None:
        """Take part until cancelled."""
        trouble = Trouble(log, self._clock, "a round of the election failed")
        try:
            while True:
                try:
                    await self._round()
                    trouble.over()
                except Exception as error:
                    trouble.failed(error, expected=False)
                await self._pause()
        finally:
            if self._standing.acting:
                await self._end_term("the broker stops")
            await self._release()

    async def _round(self) -> None:
        """Ask for the lease once and do what follows."""
        if self._lost:
            reason, self._lost = self._lost, ""
            await self._change(refused(self._standing), reason)
            await self._release()
            return
        sent = self._clock.monotonic()
        limit = self._standing.until - sent if self.acting else self._ttl
        text = self._candidate.encode()
        try:
            async with asyncio.timeout(max(limit, 0.0)):
                ours = await self._store.lease(CONTROLLER_LEASE, text, int(self._ttl * 1000))
                holder = text if ours else await self._store.holder(CONTROLLER_LEASE)
        except Exception as error:
            await self._no_answer(str(error))
            if not isinstance(error, StoreError | TimeoutError):
                raise
            return
        now = self._asked = self._clock.monotonic()
        self._why = ""
        self._unasked.over()
        after = granted(self._standing, sent, self._ttl, now) if ours else refused(self._standing)
        self._learn(Candidate.decode(holder) if holder is not None else None)
        await self._change(after, "another broker holds the lease" if not ours else "the lease ran out")

    async def _no_answer(self, why: str) -> None:
        """The store did not say whose the lease is."""
        now = self._clock.monotonic()
        self._why = why or self._why or "no answer"
        if now - self._asked >= self._ttl:
            self._unasked.failed(self._why)
        acted = self.acting
        await self._change(unanswered(self._standing, now), f"the lease could not be renewed: {self._why}")
        if acted and not self.acting:  # who is only slow would be elected again and again
            await self._release()

    def _learn(self, leader: Candidate | None) -> None:
        if leader != self.leader:
            self.leader = leader
            self._on_leader(leader)

    async def _change(self, after: Standing, reason: str) -> None:
        """Begin or end a term if the standing says so."""
        before, self._standing = self._standing, after
        if after.acting and not before.acting:
            if not self._unable.lasts:
                log.info("broker %d is elected controller", self._candidate.node_id)
            self._term = asyncio.ensure_future(self._become())
        elif before.acting and not after.acting:
            await self._end_term(reason)

    async def _become(self) -> None:
        try:
            await self._on_elected()
        except Exception as error:
            self._unable.failed(error)
            self.step_down(f"it could not begin: {error}")
        else:
            self._unable.over()

    async def _end_term(self, reason: str) -> None:
        if not self._unable.lasts:
            log.warning("broker %d is controller no more: %s", self._candidate.node_id, reason)
        self._standing = refused(self._standing)
        term, self._term = self._term, None
        if term is not None:
            term.cancel()
            await asyncio.wait([term])
        self._lost = ""
        if self.leader == self._candidate:
            self._learn(None)
        await self._on_deposed(reason)

    async def _pause(self) -> None:
        """Until the next round, the end of the lease, or :meth:`step_down`."""
        pause = self._ttl / ROUNDS_PER_LEASE
        if self.acting:
            pause = min(pause, self._standing.until - self._clock.monotonic())
        try:
            async with asyncio.timeout(max(pause, 0.0)):
                await self._wake.wait()
        except TimeoutError:
            return
        finally:
            self._wake.clear()

    async def _release(self) -> None:
        try:
            async with asyncio.timeout(FAREWELL_S):
                await self._store.release(CONTROLLER_LEASE, self._candidate.encode())
        except (StoreError, TimeoutError) as error:
            log.info("the lease is left to expire: %s", str(error) or "no answer")


def candidacy(
    store: MetadataStore,
    settings: Settings,
    clock: Clock,
    candidate: Candidate,
    listener: InternalListener,
    peers: PeersPort,
    refused: Refused,
    answer_client_of: AnswerClientOf,
    on_leader: Callable[[Candidate | None], object],
) -> tuple[Election, Seat]:
    """A broker's election and the seat that it is for; run the election until the broker stops.

    The lease lives as long as a broker's session. The other arguments are those of the two classes.
    """
    from kproto.controller.seat import Seat

    seat = Seat(store, settings, clock, listener, peers, refused, answer_client_of)
    ttl_ms = settings.broker_session_timeout_ms
    election = Election(store, candidate, clock, ttl_ms, seat.take, seat.leave, on_leader)
    seat.on_deposed = election.step_down
    return election, seat
