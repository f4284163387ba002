"""One client connection: frames in, answers out in the order of the requests.

Reading. Small frames are handed over straight out of a scratch buffer that all connections of the loop
share (the receiver must consume them before it returns); a frame larger than ``LARGE_FRAME`` gets memory
of its own, which grows with what has arrived: at most four times that (or as large as the frame before
it was), and only while the budget allows.

Answering. ``begin()`` reserves the place of an answer, ``Exchange.respond`` fills it. Answers of one loop
iteration leave with one system call. Reading stops while the peer has too many requests open or does not
read its answers, and resumes below the marks: a connection holds at most ``MAX_HELD`` bytes plus one answer.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from struct import Struct
from time import perf_counter
from typing import TYPE_CHECKING, Final

from kproto.memory import buffer_of

if TYPE_CHECKING:
    from kproto.net.server import Server

Buffer = bytes | bytearray | memoryview

SCRATCH_BYTES: Final = 256 * 1024
LARGE_FRAME: Final = 96 * 1024
FIRST_READ_AFTER_LARGE: Final = 16 * 1024
MAX_OPEN_REQUESTS: Final = 1024
MAX_HELD: Final = 32 * 1024 * 1024
MAX_UNSENT: Final = 4 * 1024 * 1024
MIN_OWN_BYTES: Final = 8 * 1024
JOIN_BYTES: Final = 32 * 1024
PIECES_PER_SEND: Final = 512
NO_MEMORY: Final = "no memory for a frame"
"""What has come of the frame has no place then, and where the next one begins is lost with it."""

_LENGTH: Final = Struct(">i")
_QUEUED: Final = b""
"""In place of an answer that is on its way: whoever still knows the exchange keeps no memory of it."""


class Exchange:
    """The place of one answer in its connection's order.

    Exactly one of :meth:`respond`, :meth:`reply` and :meth:`drop` takes effect; after the connection is
    closed they do nothing.
    """

    __slots__ = ("answer", "connection", "forget", "interrupt", "open_ended", "request_bytes", "size")

    def __init__(self, connection: Connection, request_bytes: int) -> None:
        self.connection = connection
        self.request_bytes = request_bytes
        self.interrupt: Callable[[], None] | None = None
        """Set by a handler that waits: called once when the broker drains, memory is short or the connection
        closes, to answer now or forget."""
        self.forget: Callable[[], object] | None = None
        """The same only when the connection closes."""
        self.open_ended = False
        """Set where the answer may take minutes and cannot be had earlier: it is up to other clients."""
        self.answer: bytes | Sequence[Buffer] | None = None
        """None until it is known."""
        self.size = 0

    def reply(self, frame: bytes) -> None:
        """Answer with one complete small frame (length prefix included)."""
        connection = self.connection
        if self.answer is not None or connection.closed:
            return
        self.answer = frame
        size = self.size = len(frame)
        connection.server.answered_bytes += size
        connection.held += size - self.request_bytes
        if connection.pending[0] is self:
            connection.release()
        else:
            connection.settle()

    def respond(self, pieces: Sequence[Buffer], size: int) -> None:
        """Answer with pieces (a length prefix first), ``size`` bytes together; large ones are not copied."""
        connection = self.connection
        if self.answer is not None or connection.closed:
            return
        self.answer = pieces
        self.size = size
        connection.server.answered_bytes += size
        connection.held += size - self.request_bytes
        if connection.pending[0] is self:
            connection.release()
        else:
            if 0 < size <= JOIN_BYTES:
                self.answer = b"".join(pieces)  # it may wait for long, and views keep all that they are of
            connection.settle()

    def drop(self) -> None:
        """This request gets no answer (acks=0)."""
        self.respond((), 0)

    def charge(self, more: int) -> None:
        """Until it is answered the request takes ``more`` bytes than its frame had."""
        self.request_bytes += more
        self.connection.held += more


class TimedExchange(Exchange):
    """One that calls ``told`` with the seconds that its answer took, if it gets one."""

    __slots__ = ("_began", "_told")

    def __init__(self, connection: Connection, request_bytes: int, told: Callable[[float], object]) -> None:
        super().__init__(connection, request_bytes)
        self._told = told
        self._began = perf_counter()

    def reply(self, frame: bytes) -> None:
        self._tell()
        super().reply(frame)

    def respond(self, pieces: Sequence[Buffer], size: int) -> None:
        self._tell()
        super().respond(pieces, size)

    def drop(self) -> None:
        super().respond((), 0)

    def _tell(self) -> None:
        if self.answer is None and not self.connection.closed:
            self._told(perf_counter() - self._began)


class Connection:
    """A plaintext connection on a non-blocking socket.

    Invariants: ``pending`` holds the open exchanges in request order; ``held`` is the sum of their request
    bytes (of their answers' bytes once those are known) plus ``unsent`` plus ``_pinned``, what was sent of a
    piece whose rest waits (its memory is free when all of it is sent); ``_charged`` is what the budget was
    last told of ``held``, ``_partial`` what it was told of an unfinished frame; the socket is watched for
    reading iff ``_reading``.
    """

    __slots__ = (
        "_again_due",
        "_buffer",
        "_charged",
        "_flushing",
        "_have",
        "_loop",
        "_out",
        "_partial",
        "_pinned",
        "_proven",
        "_reading",
        "_recv_into",
        "_resume_due",
        "_size",
        "_sock",
        "_stash",
        "_writing",
        "active_at",
        "closed",
        "closing",
        "context",
        "fd",
        "held",
        "max_frame",
        "peer",
        "pending",
        "sent",
        "server",
        "trusted",
        "unsent",
    )

    def __init__(self, server: Server, sock: socket.socket, peer: str) -> None:
        self.server = server
        self._loop = server.loop
        self._sock = sock
        self._recv_into = sock.recv_into
        self.fd = sock.fileno()
        self.peer = peer
        self.context: object | None = None
        """Room for the dispatcher: what this client said about itself."""
        self.max_frame = server.first_frame
        """Bytes of the largest frame it may send; more are refused before there is memory for them."""
        self.trusted = False
        """A frame gets all its memory as soon as its length is known, within the budget. Set for senders that
        would not announce what they do not send."""
        self.pending: deque[Exchange] = deque()
        self.held = 0
        self.unsent = 0
        self.sent = 0
        """Bytes the peer has taken so far."""
        self.closed = False
        self.closing = False
        """True once nothing more is read and the socket closes after the last answer."""
        self.active_at = server.now
        self._out: deque[Buffer] = deque()
        self._stash: bytes | None = None
        self._buffer: memoryview | None = None
        self._have = 0
        self._size = 0
        self._partial = 0
        self._charged = 0
        self._pinned = 0
        self._proven = 0
        self._flushing = False
        self._writing = False
        self._resume_due = False
        self._again_due = False
        self._reading = True
        self._loop.add_reader(self.fd, self._on_readable)

    # --- reading -----------------------------------------------------------------------------------

    def _on_readable(self) -> None:
        server = self.server
        budget = server.budget
        full = budget.used >= (budget.soft if self.held else budget.limit)
        if full and not self._wait_unless_allowed():
            return
        try:
            if self._buffer is not None:
                self._read_large()
                self._read_on()
                return
            stash = self._stash
            if stash is None:
                direct = self._proven > (SCRATCH_BYTES if self.trusted else 0)
                view = server.first_view if direct else server.scratch_view
                received = end = self._recv_into(view)
            else:
                base = len(stash)
                received = self._recv_into(server.scratch_view[base:])
                server.scratch[:base] = stash
                end = base + received
                self._set_stash(None)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self.close(f"read: {error}")
            return
        if received == 0:
            self._on_end()
            return
        self.active_at = server.now
        self._consume(end)
        self._read_on()

    def _read_on(self) -> None:
        """Inside a frame read once more unasked, until there is nothing or the error: when the peer has reset
        the connection uvloop says so once and then watches it no more (libuv's ``UV_EBADF``), even if much is
        still to be read, and the half frame would keep its memory.
        """
        if self._partial and self._reading and not self._again_due:
            self._again_due = True
            self._loop.call_soon(self._read_again)

    def _read_again(self) -> None:
        self._again_due = False
        self.read_now()

    def read_now(self) -> None:
        """Read what has come without waiting for the loop; never inside a dispatch, which has the scratch."""
        if self._reading and not self.closed:
            self._on_readable()

    def _consume(self, end: int) -> None:
        """Hand over the frames in the scratch buffer up to ``end`` and keep what is left of the last one."""
        server = self.server
        dispatch = server.dispatch
        scratch = server.scratch_view
        budget = server.budget
        pending = self.pending
        unpack = _LENGTH.unpack_from
        position = 0
        held_back = False
        while end - position >= 4:
            size = unpack(scratch, position)[0]
            if not 0 < size <= self.max_frame:
                server.refuse(self, f"a frame of {size} bytes (does it speak TLS, or HTTP?)")
                return
            start = position + 4
            stop = start + size
            if stop > end or len(pending) >= MAX_OPEN_REQUESTS:
                break
            if self.unsent >= MAX_UNSENT or self.held >= MAX_HELD:
                break
            if position and budget.used >= budget.soft and self.held >= server.light:
                held_back = True
                break
            position = stop
            dispatch(self, scratch[start:stop], False)
            if self.closed or self.closing:
                return
        if position:
            self._proven = 0
            budget.give_up_privilege(self)
        if position < end:
            try:
                self._keep(position, end)
            except (OSError, MemoryError):
                self.close(NO_MEMORY)
                return
        self._pause_if_loaded(held_back)

    def _pause_if_loaded(self, held_back: bool = False) -> None:
        """Stop reading a peer that has too much open, and tell the budget what this event changed.

        A whole frame that is ``held_back`` needs no more bytes, which may never come: it is not read on for
        them, but handed over by :meth:`_resume`.
        """
        loaded = len(self.pending) >= MAX_OPEN_REQUESTS or self.held >= MAX_HELD or self.unsent >= MAX_UNSENT
        budget = self.server.budget
        if loaded:
            self._stop_reading()
            if self._buffer is None:
                budget.give_up_privilege(self)
        self.settle()
        if self._stash is None or not self._reading:
            return
        if budget.used < budget.soft:
            if held_back:
                self._stop_reading()
                self._resume_soon()
        elif held_back:
            self._wait_for_memory()
        else:
            self._wait_unless_allowed()

    def _wait_unless_allowed(self) -> bool:
        """Memory is used up. True: this one is read all the same."""
        if self.held < self.server.light or self.server.budget.may_go_on(self, self._partial):
            return True
        self._wait_for_memory()
        return False

    def _keep(self, position: int, end: int) -> None:
        """Keep the bytes of an unfinished frame (or of frames that may not be handed over yet)."""
        server = self.server
        have = end - position
        if have >= 4:
            size: int = _LENGTH.unpack_from(server.scratch, position)[0]
            if size > LARGE_FRAME and size > have - 4 >= MIN_OWN_BYTES:
                self._size = size
                self._have = have - 4
                if self._grow(server.scratch_view[position + 4 : end]):
                    return
        self._set_stash(bytes(server.scratch_view[position:end]))

    def _grow(self, received: Buffer) -> bool:
        """Give the unfinished frame more memory, ``received`` at its head; False: must wait for memory."""
        budget = self.server.budget
        believed = self.trusted or self._size <= self._proven
        capacity = self._size if believed else min(self._size, 4 * self._have)
        if not budget.may_grow(self, capacity - self._partial, self._size - self._partial):
            self._wait_for_memory()
            return False
        if budget.privileged is self:
            capacity = self._size
        self._buffer = self.server.spares.take(capacity) or buffer_of(capacity)
        self._buffer[: self._have] = received
        self._set_partial(capacity)
        return True

    def _read_large(self) -> None:
        """Receive more of a frame that has memory of its own."""
        buffer = self._buffer
        if buffer is not None and self._have == len(buffer):
            try:
                if not self._grow(buffer):
                    return
            except (OSError, MemoryError):
                self.close(NO_MEMORY)
                return
            self.server.spares.give(buffer.obj)  # type: ignore[arg-type]
            buffer = self._buffer
        if buffer is None:
            return
        received = self._recv_into(buffer[self._have :])
        if received == 0:
            self._on_end()
            return
        self.active_at = self.server.now
        self._have += received
        if self._have == self._size:
            del buffer
            self._hand_over_large()

    def _hand_over_large(self) -> None:
        """The frame with memory of its own is whole. Memory that nobody keeps is used for the next one."""
        buffer, self._buffer = self._buffer, None
        if buffer is None:
            return
        owner = buffer.obj
        server = self.server
        self._proven = self._size
        self._set_partial(0)
        server.budget.give_up_privilege(self)
        server.dispatch(self, buffer, True)
        del buffer
        server.spares.give_unused(owner)  # type: ignore[arg-type]
        if not self.closed and not self.closing:
            self._pause_if_loaded()

    def _on_end(self) -> None:
        """The peer sends nothing more. A client may have closed one direction only, and read its answers: it
        gets those that are soon known (see also `Server._sweep_connections`). If it has closed both, the
        first one is answered by a reset. A broker's process has ended, which is to be known at once."""
        if self.trusted or any(one.open_ended and one.answer is None for one in self.pending):
            self.close("closed by peer")
            return
        self.active_at = self.server.now
        self._buffer = None
        self._set_stash(None)
        self.server.budget.give_up_privilege(self)
        self.finish()

    def _set_stash(self, stash: bytes | None) -> None:
        self._stash = stash
        self._set_partial(0 if stash is None else len(stash))

    def _set_partial(self, size: int) -> None:
        self.server.budget.change_partial(size - self._partial)
        self._partial = size

    @property
    def mid_frame(self) -> bool:
        """True while a request has begun to arrive, this side is ready to read it, and it is not whole."""
        return self._partial > 0 and self._reading

    @property
    def is_clogged(self) -> bool:
        """The peer has not read enough for all of its answers to leave; not: one is about to be sent."""
        return self._writing

    def _wait_for_memory(self) -> None:
        self._stop_reading()
        self.server.budget.wait(self, self._resume_soon)
        self.server.out_of_memory()

    def _stop_reading(self) -> None:
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self.fd)

    def _resume_soon(self) -> None:
        """Read again, from the loop: never inside somebody's dispatch, where the scratch is in use."""
        if not self._resume_due and not self._reading and not self.closed and not self.closing:
            self._resume_due = True
            self._loop.call_soon(self._resume)

    def _resume(self) -> None:
        self._resume_due = False
        if self._reading or self.closed or self.closing:
            return
        server = self.server
        budget = server.budget
        full = budget.used >= (budget.soft if self.held else budget.limit)
        if full and not self._wait_unless_allowed():
            return
        self.active_at = server.now  # until now it could not be
        self._reading = True
        self._loop.add_reader(self.fd, self._on_readable)
        stash = self._stash
        if stash is not None:
            server.scratch[: len(stash)] = stash
            self._set_stash(None)
            self._consume(len(stash))

    # --- answering ---------------------------------------------------------------------------------

    def begin(self, request_bytes: int, told: Callable[[float], object] | None = None) -> Exchange:
        """Reserve the next answer's place for a request of ``request_bytes``; ``told(seconds)`` when there is
        one."""
        exchange = Exchange(self, request_bytes) if told is None else TimedExchange(self, request_bytes, told)
        self.pending.append(exchange)
        self.held += request_bytes
        return exchange

    def release(self) -> None:
        """Queue the answers at the head of the order that are known, to leave in this loop iteration."""
        pending = self.pending
        out = self._out
        while pending:
            exchange = pending[0]
            answer = exchange.answer
            if answer is None:
                break
            pending.popleft()
            exchange.answer = _QUEUED
            if type(answer) is bytes:
                out.append(answer)
            elif out and 0 < exchange.size <= JOIN_BYTES:
                out.append(b"".join(answer))  # type: ignore[arg-type]
            else:
                out.extend(answer)  # type: ignore[arg-type]
            self.unsent += exchange.size
        if not self._flushing:
            self._flushing = True
            self.server.flush_soon(self)

    def queue(self, pieces: Sequence[Buffer], size: int) -> None:
        """Queue a frame that no place in the order was kept for, to leave in this loop iteration."""
        self._out.extend(pieces)
        self.unsent += size
        self.held += size
        if not self._flushing:
            self._flushing = True
            self.server.flush_soon(self)

    def flush(self) -> None:
        """Send what is queued, as far as the socket takes it."""
        self._flushing = False
        if self.closed:
            return
        out = self._out
        if out and not self._writing:
            try:
                self._send()
            except (BlockingIOError, InterruptedError):
                self._writing = True
                self._loop.add_writer(self.fd, self._on_writable)
            except OSError as error:
                self.close(f"write: {error}")
                return
        self._after_send()

    def _send(self) -> None:
        """One system call; keeps what the socket did not take and watches for room then."""
        out = self._out
        total = self.unsent
        if len(out) == 1:
            sent = self._sock.send(out[0])
        elif total <= JOIN_BYTES:
            joined = b"".join(out)
            out.clear()
            out.append(joined)
            sent = self._sock.send(joined)
        else:
            sent = self._sock.sendmsg(islice(out, PIECES_PER_SEND))
        self.unsent = total - sent
        self.sent += sent
        self.active_at = self.server.now
        if sent == total:
            self.held -= total + self._pinned
            self._pinned = 0
            out.clear()
            if self._writing:
                self._writing = False
                self._loop.remove_writer(self.fd)
            return
        while sent:
            head = out[0]
            size = len(head)
            if size > sent:
                out[0] = memoryview(head)[sent:]
                self._pinned += sent
                break
            out.popleft()
            sent -= size
            self.held -= size + self._pinned
            self._pinned = 0
        if not self._writing:
            self._writing = True
            self._loop.add_writer(self.fd, self._on_writable)

    def _on_writable(self) -> None:
        try:
            self._send()
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self.close(f"write: {error}")
            return
        self._after_send()

    def _after_send(self) -> None:
        if self.closing:
            if not self.pending and not self._out:
                self.close("drained")
                return
        elif (
            not self._reading
            and self.unsent < MAX_UNSENT // 2
            and self.held < MAX_HELD // 2
            and len(self.pending) < MAX_OPEN_REQUESTS // 2
        ):
            self._resume_soon()
        self.settle()

    def settle(self) -> None:
        """Tell the budget what changed since the last time."""
        delta = self.held - self._charged
        if delta:
            self._charged = self.held
            self.server.budget.change(delta)

    # --- ending ------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Read nothing more, answer what is open, then close."""
        if self.closed or self.closing:
            return
        self.closing = True
        self._stop_reading()
        self.answer_waiting()
        if not self.closed and not self.pending and not self._out:
            self.close("drained")

    def close(self, reason: str) -> None:
        """Close at once; open exchanges are forgotten. Safe to call twice."""
        if self.closed:
            return
        self.closed = True
        self._stop_reading()
        if self._writing:
            self._loop.remove_writer(self.fd)
        self._sock.close()
        self._buffer = None
        self._stash = None
        self._set_partial(0)
        self.answer_waiting()
        for exchange in self.pending:
            if exchange.forget is not None:
                exchange.forget()
        self.pending.clear()
        self._out.clear()
        self.held = self.unsent = self._pinned = 0
        self.server.budget.stop_waiting(self)
        self.server.budget.give_up_privilege(self)
        self.settle()
        self.server.forget(self, reason)

    def answer_waiting(self) -> None:
        """Have the handlers that wait answer now, or forget when the connection is closed."""
        for exchange in list(self.pending):
            interrupt = exchange.interrupt
            if interrupt is not None:
                exchange.interrupt = None
                interrupt()
