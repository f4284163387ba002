"""The metadata as a broker without the controller sees it: registered, heard, one revision after the other.

:class:`MetadataClient` follows the acting controller through a list of candidates (peers that may have it).
It runs on the loop's time and an injected :class:`~kproto.net.ports.PeersPort` only. What answers say is in
``exchange``; requests whose answer is lost are repeated, so all of them can be.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, NoReturn, Protocol

from kproto.clock import SystemClock
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata.exchange import (
    Update,
    decode_broker,
    decode_refusal,
    decode_update,
    encode_broker,
    field_of,
)
from kproto.metadata.history import NOTHING, Seen
from kproto.metadata.image import EMPTY_IMAGE, MetadataImage, load_image
from kproto.metadata.records import BrokerRecord
from kproto.metadata.vlogs import VlogTable
from kproto.net.ports import Answer, Buffer, PeerError, PeersPort
from kproto.trouble import Trouble
from kproto.wire import WireError
from kproto.wire.internal import Api, InternalError, decode_json, decode_mixed, encode_json, encode_mixed

log = logging.getLogger(__name__)

OnImage = Callable[[MetadataImage], object]

RETRY_SECONDS: Final = 0.1
"""Between two tries, so that a controller that starts again is found soon."""
POLL_SECONDS: Final = 5.0
"""How long the controller may keep a question for changes."""
PROPOSAL_SECONDS: Final = 10.0
"""For one try of a proposal or a registration."""
REQUEST_SECONDS: Final = 30.0
"""For a proposal with all its repetitions; for one try of a forwarded request."""
HEARTBEATS_PER_SESSION: Final = 5
IN_USE_SESSIONS: Final = 2
"""So many sessions a broker waits once it is told that its node id is in use: the one before it, at another
address, may have gone with its machine, without a word."""


class ControllerPort(Protocol):
    """The controller, wherever it is: what every part of a broker that is not the controller may ask it.

    The embedded controller offers this itself; on other brokers it is a :class:`MetadataClient`.
    """

    @property
    def image(self) -> MetadataImage:
        """The newest applied image."""
        ...

    @property
    def table(self) -> VlogTable:
        """Virtual segments and fenced brokers at the revision of :attr:`image`; changed in place."""
        ...

    def subscribe(self, on_image: OnImage) -> None:
        """Have ``on_image`` called with every later image, in revision order; ``table`` is at its revision
        then."""
        ...

    async def propose(self, kind: str, args: object) -> Any:
        """Ask for a decision; JSON in and out, applied here when this returns. It may be asked for twice, so
        every proposal means the same then. Raises :class:`KafkaError`:
        STALE_BROKER_EPOCH when this broker was fenced, NOT_CONTROLLER when no controller could be asked."""
        ...


class NotController(Exception):
    """The peer that was asked is not the controller, or not any more."""


class MetadataClient:
    """See the module's text. :meth:`register`, then :meth:`start`; one event loop.

    ``candidates`` are node ids as ``peers`` knows them, the most likely controller first. ``session_ms`` is
    ``broker.session.timeout.ms``. Invariant: ``image`` and ``table`` have the same revision, which never goes
    back, whenever a subscriber runs.
    """

    __slots__ = (
        "_applied",
        "_behind_since",
        "_candidate",
        "_candidates",
        "_closed",
        "_due",
        "_heard",
        "_image",
        "_leaving",
        "_listeners",
        "_loop",
        "_node_id",
        "_peers",
        "_seen",
        "_session",
        "_table",
        "_tasks",
        "_tries",
        "cluster_id",
        "epoch",
        "on_fenced",
        "put_off_at",
    )

    def __init__(
        self,
        peers: PeersPort,
        candidates: Callable[[], Sequence[int]],
        session_ms: int,
        *,
        cluster_id: str = "",
        seen: Seen = NOTHING,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._peers = peers
        self._candidates = candidates
        self._candidate = 0
        self._session = session_ms / 1000
        self._image = EMPTY_IMAGE
        self._table = VlogTable()
        self._listeners: list[OnImage] = []
        self._applied: list[tuple[int, asyncio.Future[None]]] = []
        """Who waits until a revision is applied."""
        self._tasks: list[asyncio.Task[None]] = []
        self._behind_since: float | None = None
        """When a controller was first heard that knows less than this broker."""
        self._heard = self._loop.time()
        self._due: tuple[int, float] | None = None
        """A revision that a heartbeat told, and when that was sent: it counts when the image is there."""
        self._tries: dict[asyncio.Timeout, int] = {}
        """Ends each request that is under way; whom it was sent to."""
        self._closed = False
        self._leaving = False
        self._node_id = -1
        """Known once the image has this broker."""
        self.cluster_id = cluster_id
        """Of the cluster to join; empty: whichever it is."""
        self.put_off_at = -math.inf
        """When a controller last answered that it cannot take this broker yet."""
        self._seen = seen
        """How far the broker's directory followed that one's metadata."""
        self.epoch = 0
        """This broker's epoch, 0 before :meth:`register`."""
        self.on_fenced: Callable[[str], object] | None = None
        """Called once with the reason when the controller does not know this broker's epoch any more: it
        owns nothing from then on and must register anew."""

    @property
    def image(self) -> MetadataImage:
        """See :class:`ControllerPort`."""
        return self._image

    @property
    def table(self) -> VlogTable:
        """See :class:`ControllerPort`."""
        return self._table

    def subscribe(self, on_image: OnImage) -> None:
        """See :class:`ControllerPort`."""
        self._listeners.append(on_image)

    def silence(self) -> float:
        """Seconds since the last heartbeat was sent that was answered with a revision that is applied here
        (rules 31 and 34): who hears the controller and does not get its changes follows nobody."""
        return self._loop.time() - self._heard

    def hears(self) -> bool:
        """The controller answered one of the last two heartbeats."""
        return self.silence() < 2 * self._session / HEARTBEATS_PER_SESSION

    async def register(
        self, broker: BrokerRecord, timeout: float = math.inf, *, power_lost: bool = False
    ) -> BrokerRecord:
        """Join under a new epoch (``broker.epoch`` is ignored); the image has it when this returns.
        ``power_lost``: the machine was without power since this broker's process before.

        Tries again until ``timeout`` seconds are over, then raises :class:`KafkaError` NOT_CONTROLLER; the
        controller's refusals (another cluster) are raised at once, except those that pass: it cannot use its
        store, or the id is in use, for `IN_USE_SESSIONS`. Who is fenced before it knows the image, because
        answers took longer than a session, owns nothing yet and registers again.
        """
        deadline = self._loop.time() + timeout
        body = encode_broker(
            broker._replace(epoch=0), self.cluster_id, power_lost=power_lost, seen=self._seen
        )
        answer = await self._taken(body, deadline)
        registered, self.cluster_id, revision = decode_broker(answer.body)
        self._heard = self._loop.time()
        self.epoch = registered.epoch
        while self._image.revision < revision:
            try:
                await self._poll(RETRY_SECONDS)
            except (PeerError, NotController):
                await self._rest(deadline)
            except KafkaError as error:
                if error.code not in (ErrorCode.STALE_BROKER_EPOCH, ErrorCode.KAFKA_STORAGE_ERROR):
                    raise
                await self._rest(deadline)
                if error.code is ErrorCode.STALE_BROKER_EPOCH:
                    left = deadline - self._loop.time()
                    return await self.register(broker, left, power_lost=power_lost)
        self._node_id = registered.node_id
        self._check_member(self._image)
        return registered

    async def _taken(self, registration: bytes, deadline: float) -> Answer:
        """Register; while the controller cannot use its store, or another broker is there, ask again. Who is
        the controller next lets that one, too, be silent for a session before it goes."""
        told = False
        free = deadline
        while True:
            try:
                return await self._ask_once(Api.REGISTER, registration, PROPOSAL_SECONDS)
            except (PeerError, NotController):
                free = deadline
            except KafkaError as error:
                now = self._loop.time()
                if error.code is ErrorCode.DUPLICATE_BROKER_REGISTRATION:
                    free = min(free, now + IN_USE_SESSIONS * self._session)
                    if now + RETRY_SECONDS >= free:
                        raise
                elif error.code is not ErrorCode.KAFKA_STORAGE_ERROR:
                    raise
                if not told:
                    log.warning("the controller cannot take this broker yet: %s", error)
                told = True
                self.put_off_at = now
            await self._rest(deadline)

    def start(self) -> None:
        """Send heartbeats and apply changes from now on."""
        self._tasks = [self._loop.create_task(self._beat()), self._loop.create_task(self._follow())]

    async def close(self) -> None:
        """Stop both; whoever waits for a revision gets NOT_CONTROLLER."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        waiting, self._applied = self._applied, []
        for _, future in waiting:
            if not future.done():
                future.set_exception(_gone())

    async def propose(self, kind: str, args: object) -> Any:
        """See :class:`ControllerPort`."""
        body = encode_json({"kind": kind, "args": args})
        answer = await self._ask(Api.PROPOSE, body, PROPOSAL_SECONDS, self._loop.time() + REQUEST_SECONDS)
        value = decode_json(answer.body)
        await self._until(field_of(value, "revision"))
        return field_of(value, "value")

    async def leave(self) -> None:
        """Be no member any more (rule 12b). Other than after a proposal the image does not say so: who is
        no member is told no changes. Raises KafkaError."""
        self.leaves()
        body = encode_json({"kind": "leave", "args": None})
        await self._ask(Api.PROPOSE, body, PROPOSAL_SECONDS, self._loop.time() + REQUEST_SECONDS)

    def leaves(self) -> None:
        """That this broker is a member no more will be by its own wish."""
        self._leaving = True

    async def forward(self, frame: Buffer, peer: str) -> bytes:
        """Have the controller answer a client's request (without its length); the whole answer frame.

        ``peer`` is the client's address. When the controller is lost, or another one is elected, the request
        is made again, as by Kafka's brokers: what the last one had done by then is told as an error (a topic
        exists already), or done again. Raises :class:`KafkaError`.
        """
        body = b"".join(encode_mixed({"peer": peer}, frame))
        answer = await self._ask(Api.FORWARD, body, REQUEST_SECONDS, self._loop.time() + REQUEST_SECONDS)
        value, response = decode_mixed(answer.body)
        await self._until(field_of(value, "revision"))
        return bytes(response)

    def turn(self, *, anew: bool = False) -> None:
        """To be called when another one became the controller: what anybody else was asked is asked of it.

        The last one may hang, or be out of reach, and questions are patient. What it was in the middle of may
        have been done, so it may be done twice: see :meth:`ControllerPort.propose` and :meth:`forward`.
        ``anew``: it is the first candidate.
        """
        if anew:
            self._candidate = 0
        likely, now = self._likely(), self._loop.time()
        if likely is None:
            return
        for patience, node_id in list(self._tries.items()):
            if node_id != likely:
                del self._tries[patience]
                patience.reschedule(now)

    # --- asking ------------------------------------------------------------------------------------

    async def _ask(self, api: Api, body: bytes, timeout: float, deadline: float) -> Answer:
        """One request to whoever is the controller: tries of ``timeout`` seconds until the deadline."""
        while True:
            try:
                return await self._ask_once(api, body, timeout)
            except (PeerError, NotController):
                await self._rest(deadline)

    async def _rest(self, deadline: float) -> None:
        """Before the next try; raises KafkaError NOT_CONTROLLER when there is no time for one."""
        if self._closed or self._loop.time() + RETRY_SECONDS > deadline:
            raise _gone()
        await asyncio.sleep(RETRY_SECONDS)

    async def _ask_once(self, api: Api, body: bytes, timeout: float) -> Answer:
        """Raises PeerError, NotController (both after turning to the next candidate) or KafkaError."""
        place, node_id = self._candidate, self._likely()
        if node_id is None:
            raise NotController
        try:
            answer = await self._call(node_id, api, body, timeout)
            if answer.error in (InternalError.NOT_CONTROLLER, InternalError.UNKNOWN):
                raise NotController
        except (PeerError, NotController):
            if self._candidate == place:
                self._candidate = place + 1
            raise
        if answer.error == InternalError.FENCED:
            self._fenced("the controller does not know this epoch any more")
            raise KafkaError(ErrorCode.STALE_BROKER_EPOCH, "This broker has been fenced.")
        if answer.error != InternalError.NONE:
            raise decode_refusal(answer.body)
        if node_id == self._likely():
            self.turn()
        return answer

    def _likely(self) -> int | None:
        """Whom to ask; None while nobody is known."""
        candidates = self._candidates()
        return candidates[self._candidate % len(candidates)] if candidates else None

    async def _call(self, node_id: int, api: Api, body: bytes, timeout: float) -> Answer:
        """One request to one peer; PeerError as soon as another one turns out to be the controller."""
        patience = asyncio.timeout(None)
        try:
            async with patience:
                self._tries[patience] = node_id
                return await self._peers.call(node_id, api, body, timeout)
        except TimeoutError:
            raise PeerError(f"broker {node_id} is not the controller any more") from None
        finally:
            self._tries.pop(patience, None)

    def _fenced(self, reason: str) -> None:
        if self._node_id >= 0 and self.on_fenced is not None:
            on_fenced, self.on_fenced = self.on_fenced, None
            on_fenced(reason)

    def _check_member(self, image: MetadataImage) -> None:
        """Notice that the image has this broker no more, or under a newer epoch (rule 19)."""
        if self._node_id >= 0 and not image.is_member(self._node_id, self.epoch):
            self._fenced(f"epoch {self.epoch} of this broker is fenced at revision {image.revision}")

    # --- being heard -------------------------------------------------------------------------------

    async def _beat(self) -> None:
        period = self._session / HEARTBEATS_PER_SESSION
        trouble = Trouble(log, SystemClock(), "a heartbeat was refused")
        while True:
            began = self._loop.time()
            try:
                body = encode_json({"revision": self._image.revision})
                answer = await self._ask_once(Api.HEARTBEAT, body, period)
                self._hear(field_of(decode_json(answer.body), "revision"), began)
                trouble.over()
            except (PeerError, NotController, WireError):
                pass
            except KafkaError as error:
                trouble.failed(error)
                if error.code == ErrorCode.STALE_BROKER_EPOCH:
                    return
            await asyncio.sleep(max(RETRY_SECONDS / 4, began + period - self._loop.time()))

    def _hear(self, revision: int, sent: float) -> None:
        """A heartbeat was answered by a controller at ``revision``. While the image is not there, no later
        one counts either: a revision that moves on all the time would never be reached."""
        if revision <= self._image.revision:
            self._heard, self._due = sent, None
        elif self._due is None:
            self._due = revision, sent

    # --- applying changes --------------------------------------------------------------------------

    async def _follow(self) -> None:
        trouble = Trouble(log, SystemClock(), "changes of the metadata were not to be had")
        while True:
            try:
                await self._poll(POLL_SECONDS)
                trouble.over()
            except (PeerError, NotController):
                await asyncio.sleep(RETRY_SECONDS)
            except (KafkaError, WireError) as error:
                if self._leaving:
                    return  # no member any more, as it wanted
                trouble.failed(error)
                await asyncio.sleep(self._session)
            except Exception:
                log.exception("changes of the metadata cannot be applied; trying again")
                await asyncio.sleep(self._session)

    async def _poll(self, wait: float) -> None:
        """Ask for what came after the image and apply it."""
        image = self._image
        seen = [image.term, image.revision]
        body = encode_json({"revision": image.revision, "wait_ms": int(wait * 1000), "seen": seen})
        try:
            answer = await self._ask_once(Api.CHANGES, body, wait + PROPOSAL_SECONDS)
        except KafkaError as error:
            if error.code is ErrorCode.INCONSISTENT_CLUSTER_ID:  # it is no continuation of what is known here
                self._fenced(str(error))
            raise
        self._take(decode_update(answer.body))

    def _take(self, update: Update) -> None:
        """Apply an update, publishing each image."""
        if update.revision < self._image.revision:
            self._older(update.revision)
        self._behind_since = None
        if update.snapshot is not None:
            self._table.load(update.revision, update.snapshot)
            self._publish(load_image(update.revision, update.snapshot), update.controller_id)
            return
        for change in update.changes:
            if change.revision > self._image.revision:
                image = self._image.apply(change)
                self._table.apply(change)
                self._publish(image, update.controller_id)
        if self._image.controller_id != update.controller_id:
            self._publish(self._image, update.controller_id)

    def _older(self, revision: int) -> NoReturn:
        """The answer knows less than this broker. For a moment that is a controller that does not know yet
        that another one was elected: ask again. For a whole session it is other metadata."""
        now = self._loop.time()
        if self._behind_since is None:
            self._behind_since = now
        if now - self._behind_since < self._session:
            raise NotController
        self._fenced(f"the controller's metadata ended at revision {revision}: it is another one")
        raise KafkaError(ErrorCode.STALE_BROKER_EPOCH, "The controller's metadata is older than known.")

    def _publish(self, image: MetadataImage, controller_id: int) -> None:
        if image.controller_id != controller_id:
            image = image.with_controller(controller_id)
        self._image = image
        for on_image in self._listeners:
            try:
                on_image(image)
            except Exception:
                log.exception("revision %d of the metadata was not taken in by all", image.revision)
        if self._due is not None and self._due[0] <= image.revision:
            self._heard, self._due = self._due[1], None
        self._wake(image.revision)
        self._check_member(image)

    def _wake(self, revision: int) -> None:
        waiting, self._applied = self._applied, []
        for wanted, future in waiting:
            if wanted > revision:
                self._applied.append((wanted, future))
            elif not future.done():
                future.set_result(None)

    async def _until(self, revision: int) -> None:
        """Wait until ``revision`` is applied here; KafkaError NOT_CONTROLLER when that takes too long."""
        if self._image.revision >= revision:
            return
        future: asyncio.Future[None] = self._loop.create_future()
        self._applied.append((revision, future))
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                await future
        except TimeoutError:
            raise _gone() from None


def _gone() -> KafkaError:
    return KafkaError(ErrorCode.NOT_CONTROLLER, "The controller cannot be reached.")


Forward = Callable[[Buffer, str], Awaitable[bytes]]
"""See :meth:`MetadataClient.forward`."""
