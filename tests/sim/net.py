"""The network between simulated brokers: connections that keep order, lose nothing and may end at any time.

What is sent through a cut direction arrives when it is healed, unless the connection ends before, as with
TCP. `SimPeers` and `SimListener` stand for ``Peers`` and ``InternalListener`` of ``kproto.net``;
`SimServer` for the clients' server, to which nobody connects.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any

from kproto.log import due
from kproto.net.internal import Caller, _finish
from kproto.net.ports import Answer, Buffer, Done, PeerError
from kproto.net.server import Server
from kproto.wire import WireError
from kproto.wire.internal import Api, InternalError

from .loop import RUNNING, Process, SimLoop

CONNECT_SECONDS = 2.0
UNANSWERED_SECONDS = 5.0
LATENCY_S = 0.0003
SLOW_S = 0.05
PUSHES_KEPT = 300


class Network:
    """Who listens, which directions are cut, and how long a message takes. ``watch(call)`` is told every
    request when it arrives and may return a function that is told its answer's error and body."""

    def __init__(self, loop: SimLoop, random: Random) -> None:
        self.loop = loop
        self.random = random
        self.listeners: dict[int, SimListener] = {}
        self.cuts: set[tuple[int, int]] = set()
        self.dark: set[int] = set()
        """Machines without power: nobody there says that a connection has ended."""
        self.slow: dict[tuple[int, int], float] = {}
        """Directions that take longer, and how many times."""
        self.held: dict[tuple[int, int], list[tuple[Process | None, Callable[[], object]]]] = {}
        self.connections: list[Connection] = []
        self.watch: Callable[[int, Caller, int, bytes], Callable[[int, bytes], object] | None] | None = None
        self.pushes: deque[tuple[int, Caller, bytes]] = deque(maxlen=PUSHES_KEPT)
        """Node, caller and body of the last ones, to be repeated (`rubbish`)."""
        self.spoil: Callable[[int, bytes], bytes] = lambda _, answer: answer
        """What becomes of the answer to a request."""

    def delay(self, direction: tuple[int, int] | None = None) -> float:
        chance = self.random.random()
        usual = LATENCY_S * (0.5 + chance) if chance < 0.97 else SLOW_S * self.random.random()
        return usual * self.slow.get(direction, 1.0) if self.slow and direction is not None else usual

    def cut(self, source: int, target: int) -> None:
        self.cuts.add((source, target))

    def heal(self) -> None:
        """Everything gets through again, late, and as fast as usual."""
        self.slow.clear()
        for direction in sorted(self.cuts | set(self.held)):
            self.mend(*direction)

    def mend(self, source: int, target: int) -> None:
        """One direction gets through again, late."""
        self.cuts.discard((source, target))
        for process, message in self.held.pop((source, target), ()):
            self.loop.deliver(process, self.loop.now + LATENCY_S, message)

    def drop(self, node: int, other: int) -> None:
        """Reset the connections between two nodes."""
        for connection in list(self.connections):
            if {connection.source.node, connection.target.node} == {node, other}:
                connection.reset()

    def ended(self, process: Process) -> None:
        """A process ended: the kernel resets its connections, if there still is one."""
        if self.listeners.get(process.node) is not None and self.listeners[process.node].process is process:
            del self.listeners[process.node]
        for connection in list(self.connections):
            if process in (connection.source, connection.target):
                if process.node in self.dark:
                    connection.dark = True
                else:
                    connection.reset()

    def lit(self, node: int) -> None:
        """A machine without power has it again: it knows nothing of its connections, and says so."""
        self.dark.discard(node)
        for connection in list(self.connections):
            if connection.dark and node in (connection.source.node, connection.target.node):
                connection.reset()


class Connection:
    """From one process to another. Each direction keeps its order."""

    def __init__(self, network: Network, source: Process, target: Process, link: _Link) -> None:
        self.network = network
        self.source = source
        self.target = target
        self.link = link
        self.forth = (source.node, target.node)
        self.backwards = (target.node, source.node)
        self.caller: Caller | None = None
        self.open = True
        self.dark = False
        """One end is on a machine that lost its power."""
        self._there = 0.0
        self._back = 0.0
        network.connections.append(self)

    def send(self, message: Callable[[], object], *, back: bool = False) -> None:
        """Run ``message`` at the other end, after everything sent before."""
        network, loop = self.network, self.network.loop
        if not (self.target if back else self.source).alive:
            return  # killed within this callback
        direction, to = (self.backwards, self.source) if back else (self.forth, self.target)
        if self.dark:
            loop.deliver(None, loop.now + UNANSWERED_SECONDS, self.reset)
            return
        if direction in network.cuts or direction in network.held:
            network.held.setdefault(direction, []).append((to, message))
            loop.deliver(None, loop.now + UNANSWERED_SECONDS, self._too_long, direction, message)
            return
        due = loop.now + network.delay(direction)
        if back:
            if due < self._back + 1e-9:
                due = self._back + 1e-9
            self._back = due
        else:
            if due < self._there + 1e-9:
                due = self._there + 1e-9
            self._there = due
        loop.deliver(to, due, message)

    def _too_long(self, direction: tuple[int, int], message: Callable[[], object]) -> None:
        """Data has been on its way for so long that the kernel gives the connection up."""
        if self.open and any(waiting is message for _, waiting in self.network.held.get(direction, ())):
            self.reset()

    def reset(self) -> None:
        """Both ends hear of it; nothing that is on its way arrives any more."""
        if not self.open:
            return
        self.open = False
        network, loop = self.network, self.network.loop
        network.connections.remove(self)
        if self.source.alive:
            loop.deliver(self.source, loop.now + network.delay(), self.link.ended, self)
        listener = network.listeners.get(self.target.node)
        if listener is not None and listener.process is self.target:
            loop.deliver(self.target, loop.now + network.delay(), listener.closed, self.caller)


class _Link:
    """One peer of a `SimPeers`: a connection, or the want of one."""

    def __init__(self, peers: SimPeers, node_id: int) -> None:
        self.peers = peers
        self.node_id = node_id
        self.connection: Connection | None = None
        self.connecting = False
        self.waiting: dict[int, Done] = {}
        self.queue: list[Callable[[Connection], object]] = []
        self.count = 0

    def request(self, api: int, pieces: Sequence[Buffer], done: Done) -> None:
        self.count += 1
        number = self.count
        self.waiting[number] = done
        caller = Caller(self.peers.node_id, self.peers.epoch())
        if self.connection is not None:
            self._send(number, caller, api, tuple(pieces), self.connection)
            return
        self.queue.append(partial(self._send, number, caller, api, tuple(pieces)))
        if not self.connecting:
            self.connecting = True
            self.peers.begin(self._connect())

    def _send(
        self, number: int, caller: Caller, api: int, pieces: tuple[Buffer, ...], connection: Connection
    ) -> None:
        connection.caller = caller
        connection.send(partial(_arrive, connection, number, caller, api, pieces))

    async def _connect(self) -> None:
        connection = await self.peers.connect(self)
        self.connecting = False
        if connection is None:
            self.end()
            return
        self.connection = connection
        queue, self.queue = self.queue, []
        for send in queue:
            send(connection)

    def answered(self, connection: Connection, number: int, error: int, body: bytes) -> None:
        if connection is self.connection and connection.open:
            done = self.waiting.pop(number, None)
            if done is not None:
                done(Answer(error, memoryview(body)))

    def ended(self, connection: Connection) -> None:
        """The connection is gone: nobody knows what of the unanswered was done."""
        if connection is self.connection:
            self.end()
            if self.peers.on_lost is not None and not self.peers.closed:
                self.peers.on_lost(self.node_id)

    def end(self) -> None:
        self.connection = None
        self.queue = []
        waiting, self.waiting = self.waiting, {}
        for done in waiting.values():
            done(None)


def _arrive(
    connection: Connection, number: int, caller: Caller, api: int, pieces: tuple[Buffer, ...]
) -> None:
    """A request has reached the other process."""
    network = connection.network
    listener = network.listeners.get(connection.target.node)
    if not connection.open or listener is None or listener.process is not connection.target:
        return
    listener.take(connection, number, caller, api, b"".join(pieces))


class SimPeers:
    """See ``kproto.net.ports.PeersPort``."""

    network: Network

    def __init__(
        self, node_id: int, secret: str, address_of: Callable[[int], Any], epoch: Callable[[], int]
    ) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimLoop)
        assert loop.current is not None
        self.loop = loop
        self.process = loop.current
        self.node_id = node_id
        self.epoch = epoch
        self.address_of = address_of
        self.on_lost: Callable[[int], object] | None = None
        self.closed = False
        self.links: dict[int, _Link] = {}
        self.tasks: list[asyncio.Task[Any]] = []

    def begin(self, work: Any) -> None:
        self.tasks.append(self.loop.create_task(work))

    def request(self, node_id: int, api: int, pieces: Sequence[Buffer], done: Done) -> None:
        if self.closed:
            self.loop.call_soon(done, None)
            return
        link = self.links.get(node_id)
        if link is None:
            link = self.links[node_id] = _Link(self, node_id)
        link.request(api, pieces, done)

    def problem(self, node_id: int) -> str | None:
        """Nobody is told why here."""
        return None

    async def call(self, node_id: int, api: int, body: Buffer = b"", timeout: float = 10.0) -> Answer:
        future: asyncio.Future[Answer | None] = self.loop.create_future()

        def done(answer: Answer | None) -> None:
            if not future.done():
                future.set_result(answer)

        self.request(node_id, api, (body,), done)

        def late() -> None:
            if not future.done():
                future.set_exception(PeerError(f"broker {node_id} has not answered {api}"))

        timer = self.loop.call_later(timeout, late)
        try:
            answer = await future
        finally:
            timer.cancel()
        if answer is None:
            raise PeerError(f"broker {node_id} is not reachable")
        return answer

    def _node(self, node_id: int) -> int | None:
        address = self.address_of(node_id)
        return int(address[0][1:]) if address is not None else None

    async def connect(self, link: _Link) -> Connection | None:
        """A connection, or None: refused, or nobody answers."""
        node, network, me = self._node(link.node_id), self.network, self.process.node
        await asyncio.sleep(network.delay())
        if node is None:
            return None
        if {(me, node), (node, me)} & network.cuts or node in network.dark:
            await asyncio.sleep(CONNECT_SECONDS)
            return None
        listener = network.listeners.get(node)
        if listener is None or not listener.accepting or self.closed:
            return None
        if listener.process.state is not RUNNING:
            await asyncio.sleep(CONNECT_SECONDS)
            return None
        return Connection(network, self.process, listener.process, link)

    async def refused(self, node_id: int) -> bool:
        node, me = self._node(node_id), self.process.node
        await asyncio.sleep(self.network.delay())
        if node is None or self.closed:
            return False
        if {(me, node), (node, me)} & self.network.cuts or node in self.network.dark:
            await asyncio.sleep(CONNECT_SECONDS)
            return False
        return node not in self.network.listeners

    def close(self) -> None:
        self.closed = True
        for link in list(self.links.values()):
            connection = link.connection
            link.end()
            if connection is not None:
                connection.reset()


class SimListener:
    """See ``kproto.net.internal.InternalListener``."""

    network: Network

    def __init__(self, secret: str, limits: object = None, *, node_id: int = -1, **_: Any) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimLoop)
        assert loop.current is not None
        self.loop = loop
        self.process = loop.current
        self.handlers: dict[int, tuple[Callable[..., object], bool]] = {}
        self.on_closed: Callable[[Caller], object] | None = None
        self.accepting = False

    def serve(self, api: int, handler: Callable[..., object], *, borrowing: bool = False) -> None:
        self.handlers[api] = (handler, borrowing)

    def serve_async(self, api: int, handler: Callable[..., Any]) -> None:
        def begin(caller: Caller, body: memoryview, reply: Any) -> None:
            self.loop.create_task(_finish(handler, caller, body, reply))

        self.handlers[api] = (begin, False)

    def withdraw(self, api: int) -> None:
        self.handlers.pop(api, None)

    def bind(self, host: str, port: int) -> int:
        self.network.listeners[self.process.node] = self
        return port

    def accept(self) -> None:
        self.accepting = True

    def close(self) -> None:
        self.accepting = False
        if self.network.listeners.get(self.process.node) is self:
            del self.network.listeners[self.process.node]
        for connection in list(self.network.connections):
            if connection.target is self.process:
                connection.reset()

    def closed(self, caller: Caller | None) -> None:
        if caller is not None and self.on_closed is not None:
            self.on_closed(caller)

    def take(self, connection: Connection, number: int, caller: Caller, api: int, body: bytes) -> None:
        """A request: a handler that borrows its memory finds rubbish in it when it looks again. What does
        not fit in the connection's own memory is the handler's."""
        watch = self.network.watch
        told = watch(self.process.node, caller, api, body) if watch is not None else None
        if api == Api.PUSH:
            self.network.pushes.append((self.process.node, caller, body))
        answered = False

        def reply(error: int, *pieces: Buffer) -> None:
            nonlocal answered
            if not self.process.alive:
                return
            assert not answered, f"request {api} is answered twice"
            answered = True
            answer = b"".join(pieces)
            if told is not None:
                told(error, answer)
            if error == InternalError.NONE:
                answer = self.network.spoil(api, answer)
            if connection.open:
                connection.send(
                    partial(connection.link.answered, connection, number, error, answer), back=True
                )

        handler = self.handlers.get(api)
        if handler is None:
            reply(InternalError.UNKNOWN)
            return
        function, borrowing = handler
        borrowing = borrowing and len(body) <= due.BYTES_A_TURN
        borrowed = bytearray(body if borrowing else b"")
        try:
            function(caller, memoryview(borrowed if borrowing else body), Replying(reply, connection))
        except WireError:
            connection.reset()
        finally:
            borrowed[:] = b"\xaa" * len(borrowed)


class Replying:
    """`kproto.net.internal.Reply`: ``tell(error, *pieces)`` gets the answer, as long as ``connection`` is
    there (None: always)."""

    def __init__(self, tell: Callable[..., object], connection: Connection | None = None) -> None:
        self._tell = tell
        self._connection = connection

    @property
    def wanted(self) -> bool:
        return self._connection is None or self._connection.open

    def __call__(self, error: int, *pieces: Buffer) -> None:
        self._tell(error, *pieces)


class SimServer(Server):
    """The clients' server, without a socket: simulated clients come another way."""

    drained = False
    """Nobody is heard any more: the broker stops."""

    def bind(self, host: str, port: int) -> int:
        return port

    def accept(self) -> None:
        """Nobody comes."""

    def close(self) -> None:
        """Nobody is there."""

    async def drain(self, timeout: float) -> None:
        """Nobody waits."""
        self.drained = True


def random_wait(random: Random, most: float) -> float:
    """Mostly short."""
    return most * random.random() ** 3
