"""The listener for other brokers: HELLO first, then requests to handlers; answers leave in any order.

Its sockets, limits and memory are its own (rule 46): a client's connection never gets here, and whoever does
not begin with a HELLO that shows the cluster's secret is closed. Handlers run straight from the reader.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, Protocol

from kproto.clock import SystemClock
from kproto.net.budget import MemoryBudget
from kproto.net.connection import MAX_HELD
from kproto.net.ports import Buffer
from kproto.net.server import Connection, Limits, Server
from kproto.net.silence import notice_silence
from kproto.trouble import Seldom
from kproto.wire import WireError
from kproto.wire.internal import (
    LENGTH_BYTES,
    MAX_FRAME_BYTES,
    REQUEST_HEADER,
    REQUEST_OVERHEAD,
    RESPONSE,
    RESPONSE_OVERHEAD,
    VERSION,
    Api,
    InternalError,
    decode_json,
)

log = logging.getLogger(__name__)

ANY_NODE: Final = -1
HELLO_BYTES: Final = 16 * 1024
"""The largest first frame of a connection."""
GREETING_SECONDS: Final = 3.0
"""A connection that has not said HELLO so long after it was made is closed, whatever else it has said.
A broker that makes one gives up after two seconds."""
MAX_STRANGERS: Final = 128
"""Connections that have not said HELLO; with one more, one is closed of the address that has most of them."""
NETWORK_BYTES: Final = 8
"""Who has an IPv6 address can have all those that begin with these bytes, too."""
MEMORY_BYTES: Final = 64 * 1024 * 1024
LIGHT_BYTES: Final = 64 * 1024
"""Connections that hold less are read though the memory is used up: brokers that take their answers, or cost
nothing, do not stand behind those that do not."""
REQUEST_COST: Final = 512
"""What a request being handled counts against the memory besides its bytes."""
LIMITS: Final = Limits(max_frame_bytes=MAX_FRAME_BYTES, idle_ms=-1)


class Caller(NamedTuple):
    """Who asks: node id and broker epoch, as the cluster's secret vouches for them."""

    node_id: int
    epoch: int


class Reply(Protocol):
    """Answers one request; to be called once, now or later. After the connection is gone it does nothing."""

    def __call__(self, error: int, *pieces: Buffer) -> None:
        """Send ``error`` and a body of ``pieces``, which are not copied and must not change any more."""
        ...

    @property
    def wanted(self) -> bool:
        """False: the connection is gone, and with it who waits for the answer; or the caller leaves so many
        answers unread that this one would lie in memory behind them. A short one, to ask again, does not, and
        comes when those have been taken."""
        ...


InternalHandler = Callable[[Caller, memoryview, Reply], None]
"""``(caller, body, reply)``. The body is the handler's own: it stays valid and unchanged after the call,
unless the handler was registered as ``borrowing``. WireError ends the connection."""
AsyncHandler = Callable[[Caller, memoryview], Awaitable[tuple[int, Sequence[Buffer]]]]
"""``await handler(caller, body)`` gives the error and the pieces of the answer."""


class InternalListener:
    """See the module's text. ``node_id``: whom a caller must mean; :data:`ANY_NODE` is not checked."""

    __slots__ = ("_handlers", "_node_id", "_secret", "_server", "_strange", "_tasks", "memory", "on_closed")

    def __init__(
        self,
        secret: str,
        limits: Limits = LIMITS,
        *,
        node_id: int = ANY_NODE,
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:
        self._secret = secret.encode()
        self._node_id = node_id
        self._handlers: dict[int, tuple[InternalHandler, bool]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._strange = Seldom(SystemClock())
        """Who is refused tries again at once, and may be anybody."""
        self.on_closed: Callable[[Caller], object] | None = None
        """Called with the last caller of every greeted connection that ends; it may have others."""
        self.memory = MemoryBudget(memory_bytes, loose=True)
        """Bytes of requests and answers of all connections; beyond its limit those that hold some of it are
        not read."""
        limits = replace(limits, first_frame_bytes=HELLO_BYTES)
        self._server = _Server(self._dispatch, self.memory, limits, self._on_closed)

    def serve(self, api: int, handler: InternalHandler, *, borrowing: bool = False) -> None:
        """Have ``handler`` called for every request of ``api``.

        ``borrowing``: it has done with the body when it returns, so that small ones need no copy.
        """
        self._handlers[api] = (handler, borrowing)

    def serve_async(self, api: int, handler: AsyncHandler) -> None:
        """As :meth:`serve`, with a task for each request. An exception is logged and answered as REFUSED."""

        def begin(caller: Caller, body: memoryview, reply: Reply) -> None:
            task = self._server.loop.create_task(_finish(handler, caller, body, reply))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        self._handlers[api] = (begin, False)

    def withdraw(self, api: int) -> None:
        """Answer requests of ``api`` with UNKNOWN from now on."""
        self._handlers.pop(api, None)

    def bind(self, host: str, port: int) -> int:
        """Take the address and return the port; connections wait until :meth:`accept`. Raises OSError."""
        if not self._secret and not _only_this_machine(host):
            log.warning(
                "kproto.cluster.secret is empty: whoever reaches %s:%d is taken for a broker", host, port
            )
        return self._server.bind(host, port)

    def accept(self) -> None:
        """Serve from now on."""
        self._server.accept()

    def close(self) -> None:
        """Close everything at once; answers that come later are dropped, async handlers cancelled."""
        for task in list(self._tasks):
            task.cancel()
        self._server.close()

    def _on_closed(self, connection: Connection) -> None:
        caller = connection.context
        if isinstance(caller, Caller) and self.on_closed is not None:
            self.on_closed(caller)

    def _dispatch(self, connection: Connection, frame: memoryview, owned: bool) -> None:
        """Handle one request; never raises."""
        try:
            if len(frame) < REQUEST_OVERHEAD:
                raise WireError(f"a request of {len(frame)} bytes has no header")
            api, version, correlation, node_id, epoch = REQUEST_HEADER.unpack_from(frame)
            caller = connection.context
            if type(caller) is not Caller:
                self._greet(connection, frame)
                return
            if caller.node_id != node_id:
                raise WireError(f"a request of node {node_id} on the connection of {caller.node_id}")
            if caller.epoch != epoch:
                caller = connection.context = Caller(node_id, epoch)
            cost = len(frame) + REQUEST_COST
            connection.held += cost
            reply = _Reply(connection, correlation, cost)
            handler, borrowing = self._handlers.get(api, _NO_HANDLER)
            if version != VERSION:
                reply(InternalError.BAD_REQUEST)
                return
            body = frame[REQUEST_OVERHEAD:]
            handler(caller, body if owned or borrowing else memoryview(bytes(body)), reply)
        except WireError as error:
            if type(connection.context) is Caller or self._strange.is_due(connection.peer):
                log.warning("closing the internal connection of %s: %s", connection.peer, error)
            connection.close(f"protocol error: {error}")
        except Exception:
            log.exception("a request of broker %s failed, closing its connection", connection.peer)
            connection.close("internal error")

    def _greet(self, connection: Connection, frame: memoryview) -> None:
        """The first request of a connection: HELLO with the right secret, for this node."""
        api, version, correlation, node_id, epoch = REQUEST_HEADER.unpack_from(frame)
        if api != Api.HELLO or version != VERSION or node_id < 0:
            raise WireError(f"the first request is API {api} version {version} of node {node_id}")
        hello = decode_json(frame[REQUEST_OVERHEAD:])
        secret, to = (hello.get("secret"), hello.get("to")) if isinstance(hello, dict) else (None, None)
        if not isinstance(secret, str) or not isinstance(to, int):
            raise WireError("a HELLO without secret or destination")
        error, problem = InternalError.NONE, ""
        if not _same_secret(secret.encode(errors="replace"), self._secret):
            error, problem = InternalError.REFUSED, "has another cluster secret"
        elif to >= 0 and self._node_id not in (ANY_NODE, to):
            error, problem = InternalError.UNKNOWN, f"looks for broker {to} where this one listens"
        if problem and self._strange.is_due((connection.peer, error)):
            log.warning("broker %d at %s %s: refused", node_id, connection.peer, problem)
        connection.begin(0).reply(RESPONSE.pack(RESPONSE_OVERHEAD, correlation, error))
        if error is InternalError.NONE:
            connection.context = Caller(node_id, epoch)
            self._server.greeted(connection)
            connection.max_frame = self._server.max_frame
            connection.trusted = True
        else:
            connection.finish()


class _Reply:
    """See :class:`Reply`. Answers need no order here, so their place is taken when they are known."""

    __slots__ = ("_connection", "_correlation", "_cost")

    def __init__(self, connection: Connection, correlation: int, cost: int) -> None:
        self._connection: Connection | None = connection
        self._correlation = correlation
        self._cost = cost

    @property
    def wanted(self) -> bool:
        connection = self._connection
        if connection is None or connection.closed:
            return False
        most = LIGHT_BYTES if connection.server.budget.is_short else MAX_HELD
        return not connection.is_clogged or connection.unsent < most

    def __call__(self, error: int, *pieces: Buffer) -> None:
        connection, self._connection = self._connection, None
        if connection is None or connection.closed:
            return
        connection.held -= self._cost
        size = RESPONSE_OVERHEAD + sum(map(len, pieces))
        header = RESPONSE.pack(size, self._correlation, error)
        connection.queue((header, *pieces), LENGTH_BYTES + size)


class _Server(Server):
    """A server that tells of every connection's end and closes those that say nothing.

    Whatever strangers do, a broker gets in: what has come of a connection is read before it is closed for
    others, and strangers at one address only take each other's place. Invariant: while there is a stranger
    the timer runs, and not later than the first one's time is over.
    """

    __slots__ = ("_on_closed", "_patience", "_strangers")

    def __init__(
        self,
        dispatch: Callable[[Connection, memoryview, bool], None],
        budget: MemoryBudget,
        limits: Limits,
        on_closed: Callable[[Connection], None],
    ) -> None:
        super().__init__(dispatch, budget, limits)
        self.light = LIGHT_BYTES
        self._on_closed = on_closed
        self._strangers: dict[Connection, float] = {}
        """Who has not said HELLO, and until when there is time for it; first come first."""
        self._patience: asyncio.TimerHandle | None = None

    def prepare(self, sock: socket.socket) -> None:
        """Brokers may be idle for ever, so only the kernel can tell that the machine of one is gone."""
        super().prepare(sock)
        notice_silence(sock)

    def joined(self, connection: Connection) -> None:
        self._strangers[connection] = self.loop.time() + GREETING_SECONDS
        while len(self._strangers) > MAX_STRANGERS:
            oldest = self._one_too_many()
            oldest.read_now()
            if oldest in self._strangers:
                oldest.close("has not said HELLO, and others want to")
        if self._patience is None:
            self._patience = self.loop.call_later(GREETING_SECONDS, self._time_is_over)

    def _one_too_many(self) -> Connection:
        """The first that came of the address that has most strangers."""
        networks = [(_network(connection.peer), connection) for connection in self._strangers]
        most = Counter(network for network, _ in networks).most_common(1)[0][0]
        return next(connection for network, connection in networks if network == most)

    def greeted(self, connection: Connection) -> None:
        """``connection`` has said HELLO."""
        self._strangers.pop(connection, None)

    def _time_is_over(self) -> None:
        self._patience = None
        now = self.loop.time()
        for connection, until in list(self._strangers.items()):
            if until > now:
                self._patience = self.loop.call_at(until, self._time_is_over)
                return
            connection.close("has not said HELLO")

    def forget(self, connection: Connection, reason: str) -> None:
        self._strangers.pop(connection, None)
        super().forget(connection, reason)
        self._on_closed(connection)

    def close(self) -> None:
        super().close()
        if self._patience is not None:
            self._patience.cancel()


async def _finish(handler: AsyncHandler, caller: Caller, body: memoryview, reply: Reply) -> None:
    try:
        error, pieces = await handler(caller, body)
    except WireError as error_:
        log.warning("a request of broker %d makes no sense: %s", caller.node_id, error_)
        reply(InternalError.BAD_REQUEST)
    except Exception:
        log.exception("a request of broker %d failed", caller.node_id)
        reply(InternalError.REFUSED)
    else:
        reply(error, *pieces)


def _unknown(caller: Caller, body: memoryview, reply: Reply) -> None:  # noqa: ARG001
    reply(InternalError.UNKNOWN)


_NO_HANDLER: Final[tuple[InternalHandler, bool]] = (_unknown, True)


def _only_this_machine(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


def _network(address: str) -> str | bytes:
    """What one that has ``address`` may have all of."""
    if ":" not in address or address.startswith("::ffff:"):
        return address
    return socket.inet_pton(socket.AF_INET6, address.partition("%")[0])[:NETWORK_BYTES]


def _same_secret(given: bytes, own: bytes) -> bool:
    """Compared in constant time."""
    from hmac import compare_digest

    return compare_digest(given, own)
