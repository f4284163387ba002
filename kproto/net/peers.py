"""Connections to other brokers: one each, made on demand, requests pipelined, answers in any order.

Heartbeats have a connection of their own: whatever is under way on the other one, and however long the peer
does not read that, they are not behind it.

A request costs one ``sendmsg`` when nothing is queued, and its ``done`` is called straight from the reader:
no task, no future, no copy of the pieces. What the socket does not take waits in a bounded queue. The first
request on a connection is HELLO, which shows the cluster's secret; nothing else is sent before its answer.
Whatever ends a connection, every request that has no answer by then gets ``done(None)``, in their order, and
the next request makes a new connection.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from kproto.config import address_text
from kproto.memory import buffer_of
from kproto.net.names import Names, Place
from kproto.net.ports import Answer, Buffer, Done, PeerError, PeersPort
from kproto.net.silence import notice_silence
from kproto.wire import WireError
from kproto.wire.internal import (
    LENGTH_BYTES,
    MAX_CORRELATION,
    MAX_FRAME_BYTES,
    REQUEST,
    REQUEST_OVERHEAD,
    RESPONSE,
    RESPONSE_OVERHEAD,
    VERSION,
    Api,
    InternalError,
    encode_json,
)

__all__ = ["Address", "Answer", "Buffer", "Done", "PeerError", "Peers", "PeersPort"]

log = logging.getLogger(__name__)

Address = tuple[str, int]

CONNECT_SECONDS: Final = 2.0
"""For a connection and its HELLO together; what waits for it is unreachable then."""
QUEUE_BYTES: Final = 64 * 1024 * 1024
"""Unsent bytes of one connection; a request beyond them gets ``done(None)``. One request may be larger."""
QUEUE_REQUESTS: Final = 65_536
"""Requests without an answer of one connection."""
SCRATCH_BYTES: Final = 64 * 1024
OWN_BUFFER_BYTES: Final = 16 * 1024
"""An unfinished answer of so many bytes gets memory of its own; shorter ones leave room to read the rest."""
_NO_WAY: Final = frozenset((errno.ENETUNREACH, errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT))
PIECES_PER_SEND: Final = 512
HEARTBEAT: Final = int(Api.HEARTBEAT)
RESET_LOOK_SECONDS: Final = 0.02
"""So long after a read it is asked whether the connection was reset with it."""
HELLO_CORRELATION: Final = 0
NO_HELLO: Final = "closes the connection: not an internal listener?"
_REFUSALS: Final[dict[int, str]] = {
    InternalError.REFUSED: "refused the cluster secret",
    InternalError.UNKNOWN: "another broker listens there",
}


class Peers:
    """Requests to other brokers on the running event loop; see the module's text.

    ``address_of`` gives host and port of a node's internal listener, None when it has none now; ``epoch`` the
    broker epoch that requests carry. A node id below 0 stands for an address whose node is not known yet.
    """

    __slots__ = (
        "_address_of",
        "_closed",
        "_links",
        "_names",
        "_pulses",
        "_queue_bytes",
        "_secret",
        "epoch",
        "loop",
        "max_frame",
        "node_id",
        "on_lost",
        "scratch",
    )

    def __init__(
        self,
        node_id: int,
        secret: str,
        address_of: Callable[[int], Address | None],
        epoch: Callable[[], int],
        *,
        queue_bytes: int = QUEUE_BYTES,
        max_frame_bytes: int = MAX_FRAME_BYTES,
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.node_id = node_id
        self.epoch = epoch
        self.on_lost: Callable[[int], object] | None = None
        """Called with the node id when a connection that had been greeted ends, but not by :meth:`close`,
        and after every ``done(None)`` of it."""
        self.max_frame = max_frame_bytes
        self.scratch = memoryview(bytearray(SCRATCH_BYTES))
        self._secret = secret
        self._address_of = address_of
        self._queue_bytes = queue_bytes
        self._names = Names(self.loop)
        self._links: dict[int, _Link] = {}
        self._pulses: dict[int, _Link] = {}
        """Those for heartbeats."""
        self._closed = False

    def request(self, node_id: int, api: int, pieces: Sequence[Buffer], done: Done) -> None:
        """See :class:`PeersPort`. Raises WireError for a body beyond the largest frame."""
        links = self._links if api != HEARTBEAT else self._pulses
        link = links.get(node_id)
        if link is None:
            if self._closed:
                self.loop.call_soon(done, None)
                return
            link = links[node_id] = _Link(self, node_id, self._queue_bytes)
        link.request(api, pieces, done)

    async def call(self, node_id: int, api: int, body: Buffer = b"", timeout: float = 10.0) -> Answer:
        """See :class:`PeersPort`."""
        future: asyncio.Future[Answer | None] = self.loop.create_future()
        is_late = False

        def done(answer: Answer | None) -> None:
            if not future.done():
                future.set_result(answer)

        def late() -> None:
            nonlocal is_late
            is_late = True
            done(None)

        self.request(node_id, api, (body,), done)
        timer = self.loop.call_later(timeout, late)
        try:
            answer = await future
        finally:
            timer.cancel()
        if is_late and answer is None:
            # Not the future's exception: it would keep all who wait for this, and the large answers that they
            # get from others, until somebody collects garbage.
            raise PeerError(f"broker {node_id} has not answered request {api} for {timeout} s")
        if answer is None:
            raise PeerError(f"broker {node_id} is not reachable")
        return answer

    async def refused(self, node_id: int) -> bool:
        """Whether nobody listens where ``node_id`` should: its process is gone. False when that is unsure."""
        address = self._address_of(node_id)
        if address is None or self._closed:
            return False
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                (await _open(self.loop, self._names, address)).close()
        except ConnectionRefusedError:
            return True
        except (OSError, TimeoutError):
            return False
        return False

    def problem(self, node_id: int) -> str | None:
        """Why ``node_id`` could not be connected to at the last try, with the address; None when it could, or
        nobody tried yet."""
        link, address = self._links.get(node_id), self._address_of(node_id)
        if link is None or link.problem is None or address is None:
            return None
        return f"{address_text(*address)}: {link.problem}"

    def close(self) -> None:
        """End all connections; what has no answer yet gets ``done(None)`` before this returns."""
        self._closed = True
        links = [*self._links.values(), *self._pulses.values()]
        self._links, self._pulses = {}, {}
        for link in links:
            link.end("closed", lost=False)

    async def connect(self, node_id: int) -> socket.socket:
        """A greeted connection. Raises OSError, TimeoutError, WireError or :class:`PeerError`."""
        address = self._address_of(node_id)
        if address is None:
            raise PeerError(f"broker {node_id} has no known address")
        sock = await _open(self.loop, self._names, address)
        try:
            body = encode_json({"secret": self._secret, "to": node_id})
            size = REQUEST_OVERHEAD + len(body)
            header = REQUEST.pack(size, Api.HELLO, VERSION, HELLO_CORRELATION, self.node_id, self.epoch())
            await self.loop.sock_sendall(sock, header + body)
            await _greeted(self.loop, sock)
        except BaseException:
            sock.close()
            raise
        return sock


class _Link:
    """The connection to one peer, or the want of one.

    Invariants: ``_waiting`` holds every request without an answer, in order; ``_unsent`` is the bytes in
    ``_out``; requests are sent at once iff ``_sock`` is set, ``_out`` is empty and the link is not broken;
    at most one connect task runs, and only while ``_sock`` is None.
    """

    __slots__ = (
        "_answer",
        "_broken",
        "_buffer",
        "_connecting",
        "_correlation",
        "_have",
        "_look_due",
        "_out",
        "_queue_bytes",
        "_sock",
        "_stash",
        "_unsent",
        "_waiting",
        "_writing",
        "node_id",
        "peers",
        "problem",
    )

    def __init__(self, peers: Peers, node_id: int, queue_bytes: int) -> None:
        self.peers = peers
        self.node_id = node_id
        self._queue_bytes = queue_bytes
        self._sock: socket.socket | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._broken = False
        self._correlation = HELLO_CORRELATION
        self._waiting: dict[int, Done] = {}
        self._out: deque[Buffer] = deque()
        self._unsent = 0
        self._writing = False
        self._stash = b""
        self._buffer: memoryview | None = None
        self._have = 0
        self._look_due = False
        self._answer = (0, 0)
        """Correlation and error of the answer that ``_buffer`` is for."""
        self.problem: str | None = None
        """Why there was no connection at the last try."""

    # --- requests ----------------------------------------------------------------------------------

    def request(self, api: int, pieces: Sequence[Buffer], done: Done) -> None:
        size = REQUEST_OVERHEAD + sum(map(len, pieces))
        peers = self.peers
        if size > peers.max_frame:
            raise WireError(f"a request of {size} bytes, {peers.max_frame} allowed")
        waiting = self._waiting
        unsent = self._unsent
        if (unsent and unsent + size > self._queue_bytes) or len(waiting) >= QUEUE_REQUESTS:
            peers.loop.call_soon(done, None)
            return
        correlation = self._correlation = self._correlation % MAX_CORRELATION + 1
        waiting[correlation] = done
        header = REQUEST.pack(size, api, VERSION, correlation, peers.node_id, peers.epoch())
        total = size + LENGTH_BYTES
        if unsent == 0 and self._sock is not None and len(pieces) < PIECES_PER_SEND and not self._broken:
            try:
                sent = self._sock.sendmsg((header, *pieces))
            except (BlockingIOError, InterruptedError):
                sent = 0
            except OSError as error:
                self._break(f"write: {error}")
                return
            if sent != total:
                self._out.append(header)
                self._out.extend(pieces)
                self._unsent = total
                self._sent(sent)
                self._want_room()
            return
        self._out.append(header)
        self._out.extend(pieces)
        self._unsent = unsent + total
        if self._sock is None:
            self._connect_soon()
        elif unsent == 0:
            self._want_room()

    def _want_room(self) -> None:
        if not self._writing and self._sock is not None and not self._broken:
            self._writing = True
            self.peers.loop.add_writer(self._sock.fileno(), self._on_writable)

    def _on_writable(self) -> None:
        """Send what is queued, one system call for each event."""
        if self._sock is None:
            return
        out = self._out
        try:
            self._sent(self._sock.sendmsg(list(islice(out, PIECES_PER_SEND))) if out else 0)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self.end(f"write: {error}")
            return
        if not out:
            self._writing = False
            self.peers.loop.remove_writer(self._sock.fileno())

    def _sent(self, sent: int) -> None:
        """Forget ``sent`` bytes at the head of the queue."""
        out = self._out
        self._unsent -= sent
        while out and sent >= len(out[0]):
            sent -= len(out.popleft())
        if sent:
            out[0] = memoryview(out[0])[sent:]

    # --- answers -----------------------------------------------------------------------------------

    def _on_readable(self) -> None:
        sock = self._sock
        if sock is None:
            return
        self._read(sock)
        if not self._look_due:
            self._look_due = True
            self.peers.loop.call_later(RESET_LOOK_SECONDS, self._look_for_reset)

    def _look_for_reset(self) -> None:
        """uvloop tells of a reset once, with what was to be read before it, and then watches no more. To ask
        with every read would make the way to a backup slower."""
        self._look_due = False
        sock = self._sock
        if sock is not None and sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            while self._sock is sock and self._read(sock):
                pass

    def _read(self, sock: socket.socket) -> bool:
        """What one system call gives; False when there is nothing now."""
        scratch = self.peers.scratch
        base = len(self._stash)
        try:
            if self._buffer is not None:
                received = sock.recv_into(self._buffer[self._have :])
            else:
                received = sock.recv_into(scratch[base:] if base else scratch)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError as error:
            self.end(f"read: {error}")
            return True
        if received == 0:
            self.end("closed by the peer")
        elif self._buffer is not None:
            self._read_large(self._buffer, received)
        else:
            if base:
                scratch[:base] = self._stash
                self._stash = b""
            self._consume(sock, base + received)
        return True

    def _consume(self, sock: socket.socket, end: int) -> None:
        """Hand over the answers in the scratch buffer up to ``end``, keep what is left of the last one."""
        scratch = self.peers.scratch
        max_frame = self.peers.max_frame
        waiting = self._waiting
        unpack = RESPONSE.unpack_from
        position = 0
        while end - position >= RESPONSE.size:
            size, correlation, error = unpack(scratch, position)
            if not RESPONSE_OVERHEAD <= size <= max_frame:
                self.end(f"an answer of {size} bytes")
                return
            stop = position + LENGTH_BYTES + size
            if stop > end:
                if size < OWN_BUFFER_BYTES:
                    break
                start = position + RESPONSE.size
                try:
                    self._buffer = buffer_of(stop - start)
                except (OSError, MemoryError):  # what follows would be read as another answer
                    self.end(f"no memory for an answer of {size} bytes")
                    return
                self._have = end - start
                self._buffer[: self._have] = scratch[start:end]
                self._answer = (correlation, error)
                return
            done = waiting.pop(correlation, None)
            if done is None:
                self.end(f"an answer to request {correlation}, which was not asked")
                return
            try:
                done(Answer(error, memoryview(bytes(scratch[position + RESPONSE.size : stop]))))
            except Exception:
                log.exception("what was to follow an answer failed")
            if self._sock is not sock:
                return
            position = stop
        if position < end:
            self._stash = bytes(scratch[position:end])

    def _read_large(self, buffer: memoryview, received: int) -> None:
        self._have += received
        if self._have < len(buffer):
            return
        self._buffer = None
        correlation, error = self._answer
        done = self._waiting.pop(correlation, None)
        if done is None:
            self.end(f"an answer to request {correlation}, which was not asked")
            return
        _call(done, Answer(error, buffer))

    # --- beginning and end -------------------------------------------------------------------------

    def _connect_soon(self) -> None:
        if self._connecting is None:
            self._connecting = self.peers.loop.create_task(self._connect())

    async def _connect(self) -> None:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                sock = await self.peers.connect(self.node_id)
        except Exception as error:
            if not isinstance(error, OSError | TimeoutError | WireError | PeerError):
                log.exception("there was no way to connect to broker %d", self.node_id)
            self._connecting = None
            self.problem = _problem(error)
            self.end(f"no connection: {self.problem}", lost=False)
            return
        self._connecting = None
        self.problem = None
        self._sock = sock
        self.peers.loop.add_reader(sock.fileno(), self._on_readable)
        self._want_room()

    def _break(self, reason: str) -> None:
        """End the connection from the loop: ``done`` is not to be called inside ``request``."""
        self._broken = True
        self.peers.loop.call_soon(self._end_broken, reason)

    def _end_broken(self, reason: str) -> None:
        if self._broken:
            self.end(reason)

    def end(self, reason: str, *, lost: bool = True) -> None:
        """Close, and tell everybody who waits, in order; the next request begins anew."""
        sock, self._sock = self._sock, None
        waiting, self._waiting = self._waiting, {}
        self._out.clear()
        self._unsent = 0
        self._stash = b""
        self._buffer = None
        self._broken = False
        if self._connecting is not None:
            self._connecting.cancel()
            self._connecting = None
        if sock is not None:
            self.peers.loop.remove_reader(sock.fileno())
            if self._writing:
                self._writing = False
                self.peers.loop.remove_writer(sock.fileno())
            sock.close()
        log.info("connection to broker %d: %s; %d requests unanswered", self.node_id, reason, len(waiting))
        for done in waiting.values():
            _call(done, None)
        if lost and self.peers.on_lost is not None:
            self.peers.on_lost(self.node_id)


def _call(done: Done, answer: Answer | None) -> None:
    try:
        done(answer)
    except Exception:
        log.exception("what was to follow an answer failed")


async def _open(loop: asyncio.AbstractEventLoop, names: Names, address: Address) -> socket.socket:
    """Connect to the first address of a host name that takes it, each within its share of the time: the peer
    may listen on one of them only. Raises OSError (TimeoutError is one), see `_telling`."""
    found = await names.find(*address)
    problems: list[OSError] = []
    for family, place in found:
        try:
            async with asyncio.timeout(CONNECT_SECONDS / len(found)):
                return await _open_at(loop, family, place)
        except OSError as error:
            problems.append(error)
    raise _telling(problems)


def _telling(problems: list[OSError]) -> OSError:
    """Of what kept it from connecting to each address: refused is a peer only if nobody listens at any that
    this machine has a way to."""
    tried = [each for each in problems if each.errno not in _NO_WAY] or problems
    return next((each for each in tried if not isinstance(each, ConnectionRefusedError)), tried[0])


async def _open_at(loop: asyncio.AbstractEventLoop, family: int, place: Place) -> socket.socket:
    """A connection; a peer whose machine is silent is noticed by the kernel. Raises OSError."""
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        notice_silence(sock)
        await loop.sock_connect(sock, place)
    except BaseException:
        sock.close()
        raise
    return sock


async def _greeted(loop: asyncio.AbstractEventLoop, sock: socket.socket) -> None:
    """Receive the answer to HELLO. Raises OSError, WireError or :class:`PeerError`."""
    data = b""
    while len(data) < RESPONSE.size:
        received = await loop.sock_recv(sock, RESPONSE.size - len(data))
        if not received:
            raise PeerError(NO_HELLO)
        data += received
    size, correlation, error = RESPONSE.unpack(data)
    if size != RESPONSE_OVERHEAD or correlation != HELLO_CORRELATION:
        raise WireError("answers HELLO with something else: not an internal listener?")
    if error != InternalError.NONE:
        raise PeerError(_REFUSALS.get(error) or f"HELLO was refused with error {error}")


def _problem(error: Exception) -> str:
    """What kept a connection from being made, in a few words."""
    if isinstance(error, ConnectionResetError):
        return NO_HELLO
    if isinstance(error, TimeoutError) and not error.strerror:
        return f"no answer in {CONNECT_SECONDS:g} s"
    if isinstance(error, ConnectionError) and error.errno:
        return os.strerror(error.errno)  # asyncio's own text is longer and says less
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
