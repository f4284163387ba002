"""From a frame to its handler and back.

The way of a request: ``net`` hands over a frame; the header says which API in which version; raw handlers
(Produce, Fetch) get the frame itself, the others the parsed request. The answer goes into the exchange that
keeps the request's place in its connection's order.

What a peer can do wrong ends its connection and nothing else: a header or body that does not parse, an API
or version that was not advertised (ApiVersions excepted, see ``api_versions``). A warning says so, once a
minute for each address and API. An exception nobody expected is logged and closes the connection too: the
client tries again, with its state unharmed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Coroutine
from functools import partial
from types import GeneratorType
from typing import TYPE_CHECKING, Any, Final

from kproto.errors import ErrorCode, KafkaError
from kproto.handlers import api_versions, registry
from kproto.handlers.context import Handler, RawHandle, RequestContext, Services
from kproto.handlers.forwarding import FORWARDED
from kproto.handlers.latency import EACH, Latency
from kproto.handlers.turns import Steps, Turns, answer_of
from kproto.net.server import Connection, Exchange
from kproto.trouble import Seldom
from kproto.wire import WireError
from kproto.wire.framing import REQUEST_HEADER, response_frame
from kproto.wire.generated import APIS
from kproto.wire.messages import Codec, codec
from kproto.wire.primitives import skip_tags

if TYPE_CHECKING:
    from kproto.metadata.client import Forward

log = logging.getLogger(__name__)

NOT_SERVED: Final = "it is not served"
MAX_OTHER_BYTES: Final = 16 * 1024 * 1024
"""A request without records is never so large; parsed, it would take many times its bytes."""
RELAY_BYTES: Final = 4096
"""What a request that the controller is asked for takes besides itself and a copy, until it is answered."""


class Dispatcher:
    """Knows the services and hands every frame to its handler. ``dispatch`` is what the server calls."""

    __slots__ = ("_raw", "_relayed", "_services", "_strange", "_tasks", "_turns", "latencies", "requests")

    def __init__(self, services: Services) -> None:
        self._services = services
        self._raw: dict[int, tuple[RawHandle, int, int, int, list[int], Latency]] = {}
        """API key -> (function, lowest version, highest version, first flexible version, its requests, how
        long they take)."""
        self.requests: dict[int, list[int]] = {}
        """API key -> [requests so far, their bytes], of those that are served."""
        self.latencies: dict[int, Latency] = {}
        """API key -> how long they take, of some."""
        self._strange = Seldom(services.clock)
        """Who is not understood tries again at once, and may be anybody."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._relayed = 0
        """Bytes that the requests take that the controller is asked for."""
        self._turns = Turns()

    def dispatch(self, connection: Connection, frame: memoryview, owned: bool) -> None:
        """Handle one request; never raises."""
        if len(frame) < REQUEST_HEADER.size:
            self.refuse(connection, f"a request of {len(frame)} bytes has no header")
            return
        key, version, correlation_id, id_length = REQUEST_HEADER.unpack_from(frame)
        try:
            raw = self._raw.get(key)
            if raw is None:
                self._dispatch_other(connection, frame, key, version, correlation_id, owned)
                return
            function, lowest, highest, flexible, count, latency = raw
            if not lowest <= version <= highest:
                raise WireError(NOT_SERVED)
            position = 10 + id_length if id_length > 0 else 10
            if version >= flexible:
                position = _skip_tags(frame, position)
            size = len(frame)
            exchange = connection.begin(size, None if count[0] % EACH else latency)
            count[0] += 1
            count[1] += size
            function(exchange, version, correlation_id, frame, position, owned)
        except WireError as error:
            self._refuse(connection, key, f"API {key} version {version}: {error}")
        except Exception:
            log.exception("a request of %s failed, closing its connection", connection.peer)
            connection.close("internal error")

    def refuse(self, connection: Connection, problem: str) -> None:
        """Close the connection of who sent something that is no request at all."""
        self._refuse(connection, None, problem)

    def _refuse(self, connection: Connection, key: int | None, problem: str) -> None:
        """The same of who sent something that is no request here; ``key`` of which API, if it said one."""
        level = self._strange.level((connection.peer, key if key in APIS else None))
        log.log(level, "closing the connection of %s: %s", connection.peer, problem)
        connection.close(f"protocol error: {problem}")

    def _dispatch_other(
        self,
        connection: Connection,
        frame: memoryview,
        key: int,
        version: int,
        correlation_id: int,
        owned: bool,
    ) -> None:
        """A request whose API is used for the first time, or whose handler takes the parsed request."""
        if key == api_versions.KEY and not 0 <= version <= api_versions.MAX_VERSION:
            connection.begin(len(frame)).reply(api_versions.unsupported(correlation_id))
            return
        handler = registry.handler(key)
        if handler is None or not handler.min_version <= version <= handler.max_version:
            raise WireError(NOT_SERVED)
        if handler.raw is None and len(frame) > MAX_OTHER_BYTES:
            raise WireError(f"a request of {len(frame)} bytes")
        messages = codec(key)
        count = self.requests.setdefault(key, [0, 0])
        latency = self.latencies.setdefault(key, Latency())
        if handler.raw is not None:
            flexible = messages.flexible_from
            self._raw[key] = (
                handler.raw(self._services),
                handler.min_version,
                handler.max_version,
                1 << 15 if flexible is None else flexible,
                count,
                latency,
            )
            self.dispatch(connection, frame, owned)
            return
        count[0] += 1
        count[1] += len(frame)
        if connection.pending:
            connection.answer_waiting()  # answers go in order: this one's is not to wait for a long poll
            if connection.closed:  # that one could not be answered
                return
        exchange = connection.begin(len(frame), latency)
        exchange.open_ended = handler.open_ended
        if self._turns.must_wait(connection, len(frame)):
            kept = frame if owned else memoryview(bytes(frame))
            self._turns.wait(connection, self._work(exchange, handler, messages, kept, True))
        else:
            self._turns.begin(connection, self._work(exchange, handler, messages, frame, owned))

    def _work(
        self, exchange: Exchange, handler: Handler, messages: Codec, frame: memoryview, owned: bool
    ) -> Steps[None]:
        """Parse, handle and answer a request; a failure closes its connection. Unless ``owned``, the frame is
        looked at in the first step only."""
        connection = exchange.connection
        try:
            _, version, correlation_id, id_length = REQUEST_HEADER.unpack_from(frame)
            context, request = self._parse(
                messages, frame, version, correlation_id, id_length, connection.peer
            )
            forward, size = self._services.forward, len(frame) + RELAY_BYTES
            if forward is not None and handler.key in FORWARDED and self._may_relay(size):
                whole = frame if owned else memoryview(bytes(frame))
                exchange.charge(size)
                self._relayed += size
                task = self._begin(self._relay(forward, whole, handler, messages, connection.peer, exchange))
                task.add_done_callback(partial(self._end_relay, exchange, size))
                exchange.forget = task.cancel  # it keeps the request, which nobody would count then
                return
            del frame
            yield
            yield from self._answer(handler, messages, context, request, exchange)
        except WireError as error:
            self._refuse(connection, handler.key, f"API {handler.key} version {version}: {error}")
        except Exception:
            log.exception("%s of %s failed, closing its connection", messages.name, connection.peer)
            connection.close("internal error")

    def _may_relay(self, size: int) -> bool:
        """Not when requests for a controller that says nothing would take the memory that all others need:
        then it is answered here, as when there is none."""
        relayed = self._relayed
        return not relayed or relayed + size <= self._services.budget.limit // 8

    def _parse(
        self,
        messages: Codec,
        frame: memoryview,
        version: int,
        correlation_id: int,
        id_length: int,
        peer: str,
    ) -> tuple[RequestContext, Any]:
        """The request and its surroundings. Raises WireError."""
        client_id, position = _client_id(frame, id_length)
        if messages.request_header_version(version) >= 2:
            position = _skip_tags(frame, position)
        request, _ = messages.parse_request(version, frame, position)
        return RequestContext(version, correlation_id, client_id, peer, self._services), request

    async def answer(self, frame: memoryview, peer: str) -> bytes:
        """Answer a request that a client of another broker sent to it, as the controller: the whole frame.

        Raises WireError for one that is not to be forwarded or does not parse, KafkaError NOT_CONTROLLER
        where the controller is elsewhere.
        """
        if self._services.forward is not None:
            raise KafkaError(ErrorCode.NOT_CONTROLLER, "The controller is elsewhere.")
        if len(frame) < REQUEST_HEADER.size:
            raise WireError(f"a forwarded request of {len(frame)} bytes has no header")
        key, version, correlation_id, id_length = REQUEST_HEADER.unpack_from(frame)
        handler = registry.handler(key) if key in FORWARDED else None
        if handler is None or not handler.min_version <= version <= handler.max_version:
            raise WireError(f"API {key} version {version} is not served to other brokers")
        assert handler.handle is not None
        messages = codec(key)
        context, request = self._parse(messages, frame, version, correlation_id, id_length, peer)
        response = await answer_of(handler.handle(context, request))
        return response_frame(messages, version, correlation_id, response)

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _answer(
        self, handler: Handler, messages: Codec, context: RequestContext, request: Any, exchange: Exchange
    ) -> Steps[None]:
        """Handle a request here and answer it."""
        assert handler.handle is not None
        response = handler.handle(context, request)
        if type(response) is GeneratorType:
            response = yield from response
        if isinstance(response, Awaitable):
            self._begin(self._answer_later(response, messages, context, exchange))
        else:
            yield
            exchange.reply(response_frame(messages, context.version, context.correlation_id, response))

    async def _answer_later(
        self, response: Awaitable[Any], messages: Codec, context: RequestContext, exchange: Exchange
    ) -> None:
        try:
            answer = await answer_of(response)
            await self._turns.reply(
                exchange, partial(response_frame, messages, context.version, context.correlation_id, answer)
            )
        except Exception:
            log.exception("%s of %s failed, closing its connection", messages.name, context.peer)
            exchange.connection.close("internal error")

    async def _relay(
        self,
        forward: Forward,
        frame: memoryview,
        handler: Handler,
        messages: Codec,
        peer: str,
        exchange: Exchange,
    ) -> None:
        """Have the controller answer; when it cannot, this broker does, with an error for every item. What is
        in the frame, which takes several times its memory, is not kept meanwhile."""
        try:
            try:
                exchange.reply(await forward(frame, peer))
            except KafkaError as error:
                log.warning("%s of %s could not be forwarded: %s", messages.name, peer, error)
                _, version, correlation_id, id_length = REQUEST_HEADER.unpack_from(frame)
                context, request = self._parse(messages, frame, version, correlation_id, id_length, peer)
                await answer_of(self._answer(handler, messages, context, request, exchange))
        except Exception:
            log.exception("%s of %s failed, closing its connection", messages.name, peer)
            exchange.connection.close("internal error")
        except asyncio.CancelledError:
            pass  # the connection is closed; the task, cancelled, would keep the request in its traceback

    def _end_relay(self, exchange: Exchange, size: int, _: asyncio.Task[None]) -> None:
        """Also of one that was cancelled before it began."""
        self._relayed -= size
        exchange.forget = None

    async def drain(self, timeout: float = 1.0) -> None:
        """Wait for the handlers that are still busy, at most ``timeout`` seconds."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=timeout)
            for task in late:
                task.cancel()


def _client_id(frame: memoryview, length: int) -> tuple[str | None, int]:
    """The client id (None when null) and the position behind it."""
    if length < 0:
        return None, REQUEST_HEADER.size
    end = REQUEST_HEADER.size + length
    if end > len(frame):
        raise WireError("the client id ends behind the request")
    try:
        return str(frame[REQUEST_HEADER.size : end], "utf-8"), end
    except UnicodeDecodeError as error:
        raise WireError("the client id is not UTF-8") from error


def _skip_tags(frame: memoryview, position: int) -> int:
    """The position behind the tagged fields of a flexible header (usually none: one zero byte)."""
    try:
        return position + 1 if frame[position] == 0 else skip_tags(frame, position + 1, frame[position])
    except IndexError as error:
        raise WireError("the header ends behind the request") from error
