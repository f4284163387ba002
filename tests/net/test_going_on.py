"""No connection waits for ever: neither for memory nor for an event loop that says nothing more."""

import asyncio
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import uvloop

from kproto.net.connection import Connection, Exchange
from kproto.net.server import Dispatch, Limits
from tests.net.conftest import Running
from tests.net.test_server import connect, echo, frame, receive, until

LOOPS = pytest.mark.parametrize(
    "new_loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["own", "uvloop"]
)
OFTEN = Limits(idle_ms=160_000, stalled_frame_seconds=10)
"""Sweeps every 2.5 s, closes for silence after all tests."""


@contextmanager
def busy(running: Running) -> Iterator[None]:
    """The loop does nothing inside the block: what peers do meanwhile it sees at once at its end."""
    begun, go_on = threading.Event(), threading.Event()

    def stand() -> None:
        begun.set()
        go_on.wait(10)

    running.loop.call_soon_threadsafe(stand)
    assert begun.wait(10)
    try:
        yield
    finally:
        go_on.set()


def fill(sock: socket.socket, data: bytes) -> int:
    """Send what the kernel takes."""
    sock.setblocking(False)
    sent = 0
    try:
        while sent < len(data):
            sent += sock.send(data[sent:])
    except BlockingIOError:
        pass
    sock.settimeout(60)
    return sent


def reset(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def short(connection: Connection, data: memoryview, owned: bool) -> None:
    connection.begin(len(data)).reply(frame(b"%d" % len(data)))


@LOOPS
@pytest.mark.parametrize("size", [60_000, 300_000, 3_000_000])
def test_a_reset_inside_a_frame_gives_its_memory_back(serve, new_loop, size):
    """Data and reset that come together are one event for uvloop: there is no other for the rest."""
    running = serve(echo, new_loop=new_loop, limits=Limits(stalled_frame_seconds=600))
    sock = connect(running.port)
    until(lambda: running.server.connections == 1)
    with busy(running):
        fill(sock, struct.pack(">i", size) + b"x" * (size - 1))
        reset(sock)
    until(lambda: running.server.connections == 0, 4)
    assert running.budget.used == 0


@LOOPS
def test_a_reset_behind_whole_requests_is_seen(serve, new_loop):
    """Nothing is answered here, so that no failing write tells."""
    running = serve(lambda c, data, owned: c.begin(len(data)).drop(), new_loop=new_loop, limits=OFTEN)
    sock = connect(running.port)
    until(lambda: running.server.connections == 1)
    with busy(running):
        sock.sendall(frame(b"no answer, please"))
        reset(sock)
    until(lambda: running.server.connections == 0)


@LOOPS
def test_resets_inside_large_frames_keep_nobody_out(serve, new_loop):
    running = serve(short, budget=8_000_000, new_loop=new_loop, limits=Limits(stalled_frame_seconds=600))
    with connect(running.port) as good:
        for _ in range(3):
            with busy(running):
                for _ in range(20):
                    sock = connect(running.port)
                    fill(sock, frame(b"x" * 3_000_000)[:-1])
                    reset(sock)
            good.sendall(frame(b"x" * 3_000_000))
            assert receive(good) == b"3000000"
    until(lambda: running.server.connections == 0)


@pytest.mark.parametrize("size", [95_000, 3_000_000])
def test_half_frames_beyond_the_limit_do_not_wait_for_each_other(serve, size):
    """What was read first of each is more than the limit together; somebody else holds a little for ever."""

    def dispatch(connection: Connection, data: memoryview, owned: bool) -> None:
        if data == b"poll":
            connection.begin(len(data))
        else:
            short(connection, data, owned)

    running = serve(dispatch, budget=1_000_000, limits=Limits(stalled_frame_seconds=600))
    poll = connect(running.port)
    poll.sendall(frame(b"poll"))
    body = frame(b"x" * size)
    socks = [connect(running.port) for _ in range(16)]
    until(lambda: running.server.connections == 17)
    with busy(running):
        sent = [fill(sock, body[: min(size - 5_000, 400_000)]) for sock in socks]
    until(lambda: running.budget.used >= 1_000_000)
    senders = [
        threading.Thread(target=sock.sendall, args=(body[done:],))
        for sock, done in zip(socks, sent, strict=True)
    ]
    for sender in senders:
        sender.start()
    for sock in socks:
        assert receive(sock) == b"%d" % size
    for sender in senders:
        sender.join(10)
    for sock in [*socks, poll]:
        sock.close()


@pytest.mark.parametrize("size", [500_000, 3_000_000])
def test_a_frame_too_large_for_the_rest_is_read_although_somebody_holds_a_little(serve, size):
    """A long poll is open for ever; half of the limit is less than either frame."""
    opened: list[Exchange] = []

    def dispatch(connection: Connection, data: memoryview, owned: bool) -> None:
        if len(data) == 600_000:
            opened.append(connection.begin(len(data)))
        else:
            short(connection, data, owned)

    running = serve(dispatch, budget=1_000_000)
    with connect(running.port) as poll, connect(running.port) as sock:
        poll.sendall(frame(b"p" * 600_000))
        until(lambda: opened != [])
        for _ in range(2):
            sock.sendall(frame(b"x" * size))
            assert receive(sock) == b"%d" % size


def test_small_requests_are_served_while_a_frame_beyond_the_limit_is_read(serve):
    running = serve(short, budget=4_000_000)
    with connect(running.port) as slow, connect(running.port) as good:
        slow.sendall(frame(b"x" * 3_000_000)[:2_900_000])
        until(lambda: running.budget.partial >= 2_900_000)
        good.sendall(frame(b"small"))
        assert receive(good) == b"5"
        slow.sendall(b"x" * 100_004)
        assert receive(slow) == b"3000000"


def polls(go: Callable[[], object] = lambda: None) -> tuple[list[Exchange], Dispatch]:
    """The requests that are not answered, and what answers others; a request ``go`` calls that before."""
    opened: list[Exchange] = []

    def dispatch(connection: Connection, data: memoryview, owned: bool) -> None:
        if bytes(data[:4]) == b"poll":
            opened.append(connection.begin(len(data)))
            return
        if data == b"go":
            go()
        short(connection, data, owned)

    return opened, dispatch


@LOOPS
@pytest.mark.parametrize("freed", [True, False])
def test_a_whole_frame_behind_another_is_no_half_frame(serve, new_loop, freed):
    """Nothing more comes of its sender: it must not be read on as the one whose half frame is let in."""
    opened, dispatch = polls()
    running = serve(dispatch, budget=1_000_000, new_loop=new_loop, limits=Limits(stalled_frame_seconds=2))
    with connect(running.port) as poll, connect(running.port) as sock:
        poll.sendall(frame(b"poll" + b"x" * 900_000))
        until(lambda: opened != [])
        poll.sendall(frame(b"poll"))  # waits, with no half frame, until one may be let in
        until(lambda: running.budget._lent)
        sock.sendall(frame(b"1") + frame(b"22"))
        assert receive(sock) == b"1"
        if freed:
            running.run(opened[0].drop)
        assert receive(sock) == b"2"


@LOOPS
def test_a_whole_frame_is_not_held_back_when_its_own_sender_has_given_memory_back(serve, new_loop):
    """What a connection gives back counts only when all that came at once is handed over, or held back."""

    def go() -> None:
        opened[1].reply(frame(b"y" * 300_000))  # has to wait for its turn, and counts now
        opened[2].reply(frame(b"done"))

    opened, dispatch = polls(go)
    running = serve(dispatch, budget=1_000_000, new_loop=new_loop, limits=Limits(stalled_frame_seconds=2))
    with connect(running.port) as other, connect(running.port) as sock:
        other.sendall(frame(b"poll" + b"x" * 400_000) + frame(b"poll"))
        until(lambda: len(opened) == 2)
        sock.sendall(frame(b"poll" + b"x" * 200_000))
        until(lambda: len(opened) == 3)
        sock.sendall(frame(b"go") + frame(b"333"))
        assert [receive(sock) for _ in range(3)] == [b"done", b"2", b"3"]
