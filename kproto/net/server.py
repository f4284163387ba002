"""The listening side of a broker: accepts connections on one event loop and closes them in good order.

The server knows frames, not their meaning: ``dispatch(connection, frame, owned)`` is given by the broker
and is called for every complete frame (length prefix removed). ``owned=False`` means the memory is reused
as soon as ``dispatch`` returns; ``owned=True`` means nobody else will ever write to it. It must not raise.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kproto.clock import SystemClock
from kproto.net.budget import MemoryBudget
from kproto.net.connection import FIRST_READ_AFTER_LARGE, SCRATCH_BYTES, Connection, Exchange
from kproto.trouble import Seldom

__all__ = ["Connection", "Dispatch", "Exchange", "Limits", "Server", "take_address"]

log = logging.getLogger(__name__)

Dispatch = Callable[[Connection, memoryview, bool], None]

ACCEPTS_PER_EVENT: Final = 64
ACCEPT_RETRY_SECONDS: Final = 0.25
SAY_AGAIN_SECONDS: Final = 60.0
"""That connections have to wait is logged no more often."""
STALLED_FRAME_SECONDS: Final = 30.0
RELIEF_SECONDS: Final = 0.5
RELIEF_PROGRESS_BYTES: Final = 64 * 1024
"""While memory is used up, who takes less than this of its answers in ``RELIEF_SECONDS`` is closed."""
_OUT_OF_RESOURCES: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


@dataclass(frozen=True, slots=True)
class Limits:
    """``socket.request.max.bytes``, ``connections.max.idle.ms`` (-1: never), ``max.connections(.per.ip)``.

    ``first_frame_bytes``: what may come before ``Connection.max_frame`` is raised; 0 for no difference.
    ``descriptors``: with so many open in the whole process the next connections wait in the kernel's queue.
    """

    max_frame_bytes: int = 104_857_600
    idle_ms: int = 600_000
    max_connections: int = 2_147_483_647
    max_connections_per_ip: int = 2_147_483_647
    stalled_frame_seconds: float = STALLED_FRAME_SECONDS
    first_frame_bytes: int = 0
    descriptors: int = 2_147_483_647


def take_address(host: str, port: int) -> socket.socket:
    """A non-blocking socket that is to listen on ``host``:``port`` (0: any free port; no host: all interfaces
    of IPv4). Of a host name with addresses of both kinds that of IPv4, as Java: what is often localhost is
    127.0.0.1 to clients. Until then who connects is refused. Raises OSError when somebody listens there.
    """
    found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, _, _, _, address = min(found, key=lambda each: each[0] != socket.AF_INET)
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setblocking(False)
        sock.bind(address)
    except OSError:
        sock.close()
        raise
    return sock


class _Together:
    """Flushes a server at the end of a block, also when the block failed."""

    __slots__ = ("_server",)

    def __init__(self, server: Server) -> None:
        self._server = server

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self._server.flush()


class Server:
    """One or more listening sockets and their connections, on the running loop.

    ``now`` is the loop's time, as of the last sweep: connections note it at each read and write, so that
    idleness costs them no clock call.
    """

    __slots__ = (
        "_connections",
        "_dirty",
        "_drained",
        "_flush_due",
        "_in_flush",
        "_limits",
        "_listeners",
        "_paused",
        "_per_ip",
        "_relief",
        "_said_until",
        "_soon",
        "_sweep",
        "_together",
        "_turned_away",
        "accepted",
        "answered_bytes",
        "budget",
        "dispatch",
        "first_frame",
        "first_view",
        "light",
        "loop",
        "max_frame",
        "now",
        "refuse",
        "scratch",
        "scratch_view",
        "spares",
    )

    def __init__(self, dispatch: Dispatch, budget: MemoryBudget, limits: Limits | None = None) -> None:
        self.loop = asyncio.get_running_loop()
        self.dispatch = dispatch
        self.refuse: Callable[[Connection, str], None] = Connection.close
        """Ends a connection on which something came that is no frame: why is its second argument."""
        self.budget = budget
        self.spares = budget.spares
        """Buffers for large frames."""
        self.light = 0
        """Connections that hold less are read though memory is used up; only large frames of theirs wait."""
        self._limits = limits or Limits()
        self.max_frame = self._limits.max_frame_bytes
        self.first_frame = self._limits.first_frame_bytes or self.max_frame
        self.scratch = bytearray(SCRATCH_BYTES)
        self.scratch_view = memoryview(self.scratch)
        self.first_view = self.scratch_view[:FIRST_READ_AFTER_LARGE]
        self.now = self.loop.time()
        self.accepted = 0
        """Connections so far."""
        self.answered_bytes = 0
        """Of all answers so far, length prefixes included."""
        self._listeners: list[socket.socket] = []
        self._paused: set[socket.socket] = set()
        self._said_until = 0.0
        self._connections: set[Connection] = set()
        self._per_ip: dict[str, int] = {}
        self._turned_away = Seldom(SystemClock())
        self._dirty: list[Connection] = []
        self._soon: list[Callable[[], None]] = []
        self._flush_due = False
        self._in_flush = False
        self._together = _Together(self)
        self._drained: asyncio.Event | None = None
        self._relief: asyncio.TimerHandle | None = None
        self._sweep = self.loop.call_later(self._sweep_seconds(), self._sweep_connections)

    @property
    def connections(self) -> int:
        """Open connections."""
        return len(self._connections)

    def listen(self, host: str, port: int) -> int:
        """Bind and accept at once; see :meth:`bind`."""
        bound = self.bind(host, port)
        self.accept()
        return bound

    def bind(self, host: str, port: int) -> int:
        """As `take_address`; return the port. Connections wait in the kernel's queue until :meth:`accept`."""
        sock = take_address(host, port)
        self._listeners.append(sock)
        sock.listen(1024)
        bound: int = sock.getsockname()[1]
        return bound

    def accept(self) -> None:
        """Serve the connections that wait on the bound sockets, and all that come."""
        for sock in self._listeners:
            self.loop.add_reader(sock.fileno(), self._on_acceptable, sock)

    # --- accepting ---------------------------------------------------------------------------------

    def _on_acceptable(self, listener: socket.socket) -> None:
        for _ in range(ACCEPTS_PER_EVENT):
            if not self._is_room(listener):  # whenever one goes, one comes, not two
                self._pause_accepting(listener, "the descriptors that are left are for files")
                return
            try:
                sock, address = listener.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                self._on_accept_error(listener, error)
                return
            self._adopt(sock, str(address[0]))

    def _adopt(self, sock: socket.socket, peer: str) -> None:
        from_peer = self._per_ip.get(peer, 0)
        if len(self._connections) >= self._limits.max_connections:
            self._turn_away(sock, peer, "max.connections")
            return
        if from_peer >= self._limits.max_connections_per_ip:
            self._turn_away(sock, peer, "max.connections.per.ip")
            return
        try:
            sock.setblocking(False)
            self.prepare(sock)
            connection = Connection(self, sock, peer)
            self._connections.add(connection)
            self._per_ip[peer] = from_peer + 1
            self.accepted += 1
            self.joined(connection)
        except OSError as error:
            log.info("connection from %s lost while it was accepted: %s", peer, error)
            sock.close()

    def _turn_away(self, sock: socket.socket, peer: str, limit: str) -> None:
        log.log(self._turned_away.level((peer, limit)), "connection from %s refused: %s reached", peer, limit)
        sock.close()

    def prepare(self, sock: socket.socket) -> None:
        """Set the options of an accepted socket: a peer that vanished without a word is noticed, too, though
        it may take the system's two hours. Raises OSError."""
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def joined(self, connection: Connection) -> None:
        """A connection was accepted; for what needs to know."""

    def _on_accept_error(self, listener: socket.socket, error: OSError) -> None:
        """Out of descriptors or memory: leave the queue alone for a moment. Else it concerns one peer."""
        if error.errno in _OUT_OF_RESOURCES:
            self._pause_accepting(listener, str(error))

    def _pause_accepting(self, listener: socket.socket, reason: str) -> None:
        if listener in self._paused:
            return
        if self.loop.time() >= self._said_until:
            self._said_until = self.loop.time() + SAY_AGAIN_SECONDS
            log.warning("%d connections, and more have to wait: %s", len(self._connections), reason)
        self._paused.add(listener)
        self.loop.remove_reader(listener.fileno())
        self.loop.call_later(ACCEPT_RETRY_SECONDS, self._accept_again, listener)

    def _accept_again(self, listener: socket.socket) -> None:
        if listener not in self._listeners:
            self._paused.discard(listener)
        elif self._is_room(listener):
            self._paused.discard(listener)
            self.loop.add_reader(listener.fileno(), self._on_acceptable, listener)
        else:
            self.loop.call_later(ACCEPT_RETRY_SECONDS, self._accept_again, listener)

    def _is_room(self, listener: socket.socket) -> bool:
        """Whether another connection may be accepted, by the number that its descriptor would have: the
        lowest that is free, so all below it are open."""
        try:
            number = os.dup(listener.fileno())
        except OSError:
            return False
        os.close(number)
        return number < self._limits.descriptors

    # --- answers -----------------------------------------------------------------------------------

    def flush_soon(self, connection: Connection) -> None:
        """Send what ``connection`` has queued, with everything else that is queued in this iteration."""
        self._dirty.append(connection)
        if not self._flush_due:
            self._flush_due = True
            self.loop.call_soon(self.flush)

    def soon(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` at the end of this turn, just before its answers are sent.

        That is after everything that was scheduled for this turn until now: a push, above all.
        """
        self._soon.append(callback)
        if not self._flush_due:
            self._flush_due = True
            self.loop.call_soon(self.flush)

    def together(self) -> _Together:
        """``with server.together():`` answers given inside leave at its end, not in the next iteration."""
        self._flush_due = True
        return self._together

    def flush(self) -> None:
        """End the turn: what was asked for by :meth:`soon`, then send what is queued on all connections."""
        if self._in_flush:
            return
        self._in_flush = self._flush_due = True
        try:
            while self._soon or self._dirty:
                soon, self._soon = self._soon, []
                for callback in soon:
                    try:
                        callback()
                    except Exception:
                        log.exception("work at the end of a turn failed")
                if not self._soon:
                    dirty, self._dirty = self._dirty, []
                    for connection in dirty:
                        try:
                            connection.flush()
                        except Exception:
                            log.exception("answers to %s cannot be sent", connection.peer)
                            connection.close("internal error")
        finally:
            self._in_flush = self._flush_due = False

    # --- memory ------------------------------------------------------------------------------------

    def out_of_memory(self) -> None:
        """A connection waits for memory: watch who holds answers without taking them."""
        if self._relief is None:
            taken = {c: c.sent for c in self._connections if c.is_clogged}
            self._relief = self.loop.call_later(RELIEF_SECONDS, self._relieve, taken)

    def _relieve(self, taken: dict[Connection, int]) -> None:
        """Close the peers that made no progress since, those that hold most first, until there is room; if
        that is not enough end the long polls that hold back other answers."""
        self._relief = None
        budget = self.budget
        stuck = [c for c, sent in taken.items() if c.is_clogged and c.sent - sent < RELIEF_PROGRESS_BYTES]
        for connection in sorted(stuck, key=lambda c: -c.unsent):
            if budget.used <= budget.limit // 4:
                break
            connection.close("holds memory by not reading its answers")
        if budget.waiting and budget.used > budget.limit // 4:
            for connection in list(self._connections):
                if connection.held - connection.unsent > RELIEF_PROGRESS_BYTES:
                    connection.answer_waiting()  # what is behind a long poll cannot be sent before it
        if budget.waiting:
            self.out_of_memory()
        budget.lend()

    # --- ending ------------------------------------------------------------------------------------

    def forget(self, connection: Connection, reason: str) -> None:
        """A connection has closed itself."""
        self._connections.discard(connection)
        left = self._per_ip.pop(connection.peer, 1) - 1
        if left > 0:
            self._per_ip[connection.peer] = left
        if log.isEnabledFor(logging.DEBUG):
            log.debug("connection of %s closed: %s", connection.peer, reason)
        if self._drained is not None and not self._connections:
            self._drained.set()

    async def drain(self, timeout: float) -> None:
        """Accept nothing more, answer what is in flight, close; after ``timeout`` seconds close anyway."""
        self.stop_accepting()
        self._drained = asyncio.Event()
        for connection in list(self._connections):
            connection.finish()
        if self._connections:
            try:
                await asyncio.wait_for(self._drained.wait(), timeout)
            except TimeoutError:
                log.warning("%d connections still busy after %s s: closed", len(self._connections), timeout)
        self.close()

    def stop_accepting(self) -> None:
        """Close the listening sockets."""
        listeners, self._listeners = self._listeners, []
        for listener in listeners:
            self.loop.remove_reader(listener.fileno())
            listener.close()

    def close(self) -> None:
        """Close everything at once."""
        self.stop_accepting()
        self._sweep.cancel()
        if self._relief is not None:
            self._relief.cancel()
        for connection in list(self._connections):
            connection.close("server closed")

    def _sweep_seconds(self) -> float:
        idle = self._limits.idle_ms / 1000 if self._limits.idle_ms > 0 else 60.0
        return max(0.02, min(5.0, idle / 8, self._limits.stalled_frame_seconds / 4))

    def _sweep_connections(self) -> None:
        """Close connections that have been silent too long, or stopped in the middle of a request or, with
        nothing more to come, of their answers."""
        period = self._sweep_seconds()
        before = self.now  # what connections have noted since the last sweep, however long ago that was
        self.now = self.loop.time()
        idle_since = before - self._limits.idle_ms / 1000 if self._limits.idle_ms > 0 else float("-inf")
        stalled_since = before - self._limits.stalled_frame_seconds
        for connection in list(self._connections):
            if connection.active_at < idle_since:
                connection.close("idle")
            elif (connection.mid_frame or connection.closing) and connection.active_at < stalled_since:
                connection.close("stalled inside a request, or its last answer")
            elif connection.active_at == before and not self.budget.waiting:
                connection.read_now()  # uvloop may have told of a reset already, as `_read_on` says
        self._sweep = self.loop.call_later(period, self._sweep_connections)
