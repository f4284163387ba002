"""The acting controller's side of the control requests between brokers (see ``metadata/exchange``).

Registration, heartbeats, changes by long poll, proposals, and clients' requests that other brokers hand on.
Whoever asks under an epoch that is no member's is told so with FENCED: it owns nothing any more (rule 16).
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final

from kproto.clock import SystemClock
from kproto.controller import rules
from kproto.controller.registration import Registration
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata.exchange import (
    Update,
    decode_broker,
    encode_broker,
    encode_refusal,
    encode_update,
    field_of,
    told_power_lost,
    told_seen,
)
from kproto.net.internal import Caller, InternalListener
from kproto.net.ports import Buffer
from kproto.trouble import Seldom
from kproto.wire import WireError
from kproto.wire.internal import Api, InternalError, decode_json, decode_mixed, encode_json, encode_mixed

if TYPE_CHECKING:
    from kproto.controller.controller import Controller
    from kproto.controller.loop import ControllerLoop
    from kproto.metadata import BrokerRecord, Change

log = logging.getLogger(__name__)

HISTORY_CHANGES: Final = 1000
HISTORY_BYTES: Final = 16 * 1024 * 1024
"""Changes kept for brokers that are behind; who is further behind gets everything."""
UPDATE_BYTES: Final = 4 * 1024 * 1024
"""Changes in one answer, about; the rest comes with the next one."""
WAIT_MS_MAX: Final = 30_000
GONE: Final = 0
"""In place of a revision for who left just now: no change is told to it, it has none to wait for."""

Outcome = tuple[int, Sequence[Buffer]]
AnswerClient = Callable[[memoryview, str], Awaitable[bytes]]
"""A client's request frame and address in, the whole answer frame out; raises KafkaError, WireError."""


class _History:
    """The last changes, within bounds."""

    __slots__ = ("_bytes", "_changes", "dropped_to")

    def __init__(self, revision: int) -> None:
        self._changes: deque[tuple[Change, int]] = deque()
        self._bytes = 0
        self.dropped_to = revision
        """Everything up to this revision is not here any more."""

    def append(self, change: Change) -> None:
        size = sum(len(key) + len(value) for key, value in change.puts.items())
        size += sum(map(len, change.deletes))
        self._changes.append((change, size))
        self._bytes += size
        while len(self._changes) > HISTORY_CHANGES or self._bytes > HISTORY_BYTES:
            gone, size = self._changes.popleft()
            self._bytes -= size
            self.dropped_to = gone.revision

    def after(self, revision: int) -> list[Change]:
        """Changes after ``revision``, up to a limit; :attr:`dropped_to` must not be later."""
        found: list[Change] = []
        size = 0
        first = len(self._changes)
        while first and self._changes[first - 1][0].revision > revision:
            first -= 1
        for place in range(first, len(self._changes)):
            change, bytes_ = self._changes[place]
            if found and size + bytes_ > UPDATE_BYTES:
                break
            found.append(change)
            size += bytes_
        return found


class ControllerService:
    """See the module's text. Registers its handlers with ``listener`` at once.

    ``answer_client`` answers requests of clients that other brokers hand on.
    """

    __slots__ = (
        "_answer_client",
        "_closed",
        "_controller",
        "_foreign",
        "_history",
        "_listener",
        "_loop",
        "_waiting",
    )

    def __init__(
        self,
        controller: Controller,
        loop: ControllerLoop,
        listener: InternalListener,
        answer_client: AnswerClient,
    ) -> None:
        self._controller = controller
        self._loop = loop
        self._answer_client = answer_client
        self._history = _History(controller.image.revision)
        self._waiting: list[asyncio.Future[None]] = []
        self._closed = False
        self._foreign = Seldom(SystemClock())
        """Who is of another cluster asks each second; whose mistake that is looks here, perhaps."""
        self._listener = listener
        controller.subscribe_changes(self._on_change)
        for api, handler in (
            (Api.REGISTER, self._register),
            (Api.HEARTBEAT, self._heartbeat),
            (Api.CHANGES, self._changes),
            (Api.PROPOSE, self._propose),
            (Api.FORWARD, self._forward),
        ):
            listener.serve_async(api, handler)

    def close(self) -> None:
        """The controller is another one: who asks, or waits for changes, is told so."""
        self._closed = True
        for api in (Api.REGISTER, Api.HEARTBEAT, Api.CHANGES, Api.PROPOSE, Api.FORWARD):
            self._listener.withdraw(api)
        self._wake()

    def _on_change(self, change: Change) -> None:
        self._history.append(change)
        self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def _register(self, caller: Caller, body: memoryview) -> Outcome:
        broker, cluster_id, _ = decode_broker(body)
        image = self._controller.image
        if broker.node_id != caller.node_id:
            raise WireError(f"broker {caller.node_id} registers broker {broker.node_id}")
        if cluster_id and cluster_id != image.cluster_id:
            message = f"This is cluster {image.cluster_id}, not {cluster_id}."
            if self._foreign.is_due(caller.node_id):
                log.warning("broker %d is refused: %s", caller.node_id, message)
            return _refused(KafkaError(ErrorCode.INCONSISTENT_CLUSTER_ID, message))
        known = image.brokers.get(broker.node_id)
        now = self._loop.now()
        if (
            known is not None
            and not _is_same_broker(known, broker)
            and self._loop.sessions.in_use(broker.node_id, now)
        ):
            if known.store_id == broker.store_id:
                message = f"A broker with a copy of this data directory is here as {broker.node_id}."
            else:
                message = f"Another broker is here as {broker.node_id}; each needs a node.id of its own."
            return _refused(KafkaError(ErrorCode.DUPLICATE_BROKER_REGISTRATION, message))
        registration = Registration(
            broker.node_id,
            broker.host,
            broker.port,
            broker.rack,
            broker.internal_host,
            broker.internal_port,
            broker.store_id,
            told_power_lost(body),
        )
        try:
            await self._controller.check_history(told_seen(body))
            registered = await self._controller.register_broker(registration)
        except KafkaError as error:
            return _failed(error)
        image = self._controller.image
        return InternalError.NONE, (encode_broker(registered, image.cluster_id, image.revision),)

    async def _heartbeat(self, caller: Caller, body: memoryview) -> Outcome:
        field_of(decode_json(body), "revision")
        if not self._is_member(caller):
            return InternalError.FENCED, ()
        return InternalError.NONE, (encode_json({"revision": self._controller.image.revision}),)

    async def _changes(self, caller: Caller, body: memoryview) -> Outcome:
        """Long poll; ends early when the caller is fenced meanwhile."""
        fields = decode_json(body)
        revision, wait_ms = field_of(fields, "revision"), field_of(fields, "wait_ms")
        if not isinstance(revision, int) or not isinstance(wait_ms, int):
            raise WireError("a question for changes needs two numbers")
        controller = self._controller
        if not self._is_member(caller):
            return InternalError.FENCED, ()
        try:
            await controller.check_history(told_seen(body))
        except KafkaError as error:
            return _failed(error)
        if controller.image.revision == revision and wait_ms > 0:
            await self._next_change(min(wait_ms, WAIT_MS_MAX) / 1000)
            if self._closed:
                return InternalError.NOT_CONTROLLER, ()
            if not rules.is_current(controller.image, caller.node_id, caller.epoch):
                return InternalError.FENCED, ()
        if revision < self._history.dropped_to:
            try:
                newest, entries = await controller.snapshot()
            except KafkaError as error:
                return _failed(error)
            return InternalError.NONE, encode_update(Update(controller.node_id, newest, (), entries))
        changes = self._history.after(revision)
        newest = changes[-1].revision if changes else min(revision, controller.image.revision)
        return InternalError.NONE, encode_update(Update(controller.node_id, newest, changes))

    async def _next_change(self, seconds: float) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            await asyncio.wait_for(future, seconds)
        except TimeoutError:
            if future in self._waiting:
                self._waiting.remove(future)

    async def _propose(self, caller: Caller, body: memoryview) -> Outcome:
        fields = decode_json(body)
        kind, args = field_of(fields, "kind"), field_of(fields, "args")
        if not isinstance(kind, str):
            raise WireError("the kind of a proposal is text")
        if not self._is_member(caller):
            return InternalError.FENCED, ()
        controller = self._controller
        try:
            value = await controller.proposals.handle(caller.node_id, caller.epoch, kind, args)
        except KafkaError as error:
            return _failed(error)
        image = controller.image
        if rules.is_current(image, caller.node_id, caller.epoch):
            answer = {"revision": image.revision, "value": value}
        elif kind == "leave":
            answer = {"revision": GONE, "value": value}
        else:  # whatever was decided: it cannot hear of what had changed before, nor act on it
            return InternalError.FENCED, ()
        return InternalError.NONE, (encode_json(answer),)

    async def _forward(self, caller: Caller, body: memoryview) -> Outcome:
        head, frame = decode_mixed(body)
        peer = field_of(head, "peer")
        if not isinstance(peer, str):
            raise WireError("a client's address is text")
        if not self._is_member(caller):
            return InternalError.FENCED, ()
        try:
            response = await self._answer_client(frame, peer)
        except KafkaError as error:
            return _failed(error)
        return InternalError.NONE, encode_mixed({"revision": self._controller.image.revision}, response)

    def _is_member(self, caller: Caller) -> bool:
        """The caller's epoch is a member's; whatever it sent is a sign of life."""
        if not rules.is_current(self._controller.image, caller.node_id, caller.epoch):
            return False
        self._loop.heard(caller.node_id, caller.epoch)
        return True


def _failed(error: KafkaError) -> Outcome:
    """The answer to a request that could not be done."""
    if error.code is ErrorCode.STALE_BROKER_EPOCH:
        return InternalError.FENCED, ()
    if error.code is ErrorCode.NOT_CONTROLLER:
        return InternalError.NOT_CONTROLLER, ()
    return _refused(error)


def _is_same_broker(known: BrokerRecord, broker: BrokerRecord) -> bool:
    """Whether that is the one that is known, started anew before its end was noticed. Two at different
    addresses with the same data directory are the broker and somebody's copy of it: who was let in would
    fence the other one, which starts anew and does the same, for ever."""
    here, there = ((one.store_id, one.internal_host, one.internal_port) for one in (known, broker))
    return here == there


def _refused(error: KafkaError) -> Outcome:
    return InternalError.REFUSED, (encode_refusal(error),)
