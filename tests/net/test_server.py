"""The server against real sockets: framing, order, bounds, ends."""

import contextlib
import errno
import os
import random
import resource
import socket
import struct
import threading
import time
from collections.abc import Callable

import pytest

from kproto.memory import untouched
from kproto.net.connection import JOIN_BYTES, MAX_HELD, MAX_OPEN_REQUESTS, Connection, Exchange
from kproto.net.server import Limits


def frame(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def connect(port: int) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", port), 60)
    sock.settimeout(60)
    return sock


def exactly(sock: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = sock.recv(size - len(data))
        if not part:
            raise ConnectionError(f"closed after {len(data)} of {size} bytes")
        data += part
    return bytes(data)


def receive(sock: socket.socket) -> bytes:
    return exactly(sock, struct.unpack(">i", exactly(sock, 4))[0])


def is_closed(sock: socket.socket) -> bool:
    try:
        return sock.recv(1) == b""
    except ConnectionResetError:
        return True


def echo(connection: Connection, data: memoryview, owned: bool) -> None:
    connection.begin(len(data)).reply(frame(bytes(data)))


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def test_frames_of_all_sizes_come_back_whole_and_in_order(serve):
    running = serve(echo)
    rng = random.Random(7)
    sizes = [1, 3, 4, 5, 100, 98_303, 98_304, 98_305, 262_140, 262_144, 262_145, 3_000_001, 2, 700_000, 1]
    sizes += [rng.choice([rng.randint(1, 200), rng.randint(1, 200_000)]) for _ in range(300)]
    bodies = [rng.randbytes(size) for size in sizes]
    with connect(running.port) as sock:
        sender = threading.Thread(target=sock.sendall, args=(b"".join(map(frame, bodies)),))
        sender.start()
        for body in bodies:
            assert receive(sock) == body
        sender.join()


def test_frames_cut_at_every_byte(serve):
    running = serve(echo)
    stream = frame(b"first") + frame(b"x" * 30) + frame(b"last")
    with connect(running.port) as sock:
        for cut in range(1, len(stream)):
            sock.sendall(stream[:cut])
            time.sleep(0.001)
            sock.sendall(stream[cut:])
            assert [receive(sock) for _ in range(3)] == [b"first", b"x" * 30, b"last"]


def test_answers_leave_in_request_order_whatever_the_order_of_completion(serve):
    opened: list[Exchange] = []
    running = serve(lambda connection, data, owned: opened.append(connection.begin(len(data))))
    rng = random.Random(3)
    with connect(running.port) as sock:
        sock.sendall(frame(b"r") * 50)
        until(lambda: len(opened) == 50)
        order = list(enumerate(opened))
        rng.shuffle(order)
        for number, exchange in order:
            if number % 5 == 4:
                running.run(exchange.drop)
            else:
                running.run(lambda e=exchange, n=number: e.reply(frame(b"%d" % n)))
        assert [receive(sock) for _ in range(40)] == [b"%d" % n for n in range(50) if n % 5 != 4]


def test_many_pieces_and_large_pieces_arrive_in_order(serve):
    big = os.urandom(5_000_000)

    def dispatch(connection: Connection, data: memoryview, owned: bool) -> None:
        pieces = [memoryview(big)[i : i + 1000] for i in range(0, 2_000_000, 1000)]
        pieces.append(memoryview(big)[2_000_000:])
        connection.begin(len(data)).respond([struct.pack(">i", len(big)), *pieces], 4 + len(big))

    running = serve(dispatch)
    with connect(running.port) as sock:
        sock.sendall(frame(b"a") * 3)
        for _ in range(3):
            assert receive(sock) == big


def test_who_still_knows_an_answered_request_keeps_none_of_its_memory(serve):
    """A fetch stays known to the timers until its longest wait is over; the segment memory it showed must be
    free long before."""
    known: list[Exchange] = []
    shown = bytearray(b"z" * 500_000)

    def dispatch(connection: Connection, data: memoryview, owned: bool) -> None:
        known.append(connection.begin(len(data)))
        known[-1].respond([struct.pack(">i", len(shown)), memoryview(shown)], 4 + len(shown))

    running = serve(dispatch)
    with connect(running.port) as sock:
        sock.sendall(frame(b"a"))
        assert receive(sock) == shown
        until(lambda: running.budget.used == 0)
        assert known
        assert running.run(lambda: untouched(shown))


def test_answers_that_cannot_be_sent_end_their_connection_only(serve, monkeypatch):
    """An error that nobody expects had the broker answer nobody any more."""
    opened: list[Exchange] = []
    running = serve(lambda connection, data, owned: opened.append(connection.begin(len(data))))
    send = Connection._send

    def failing(connection: Connection) -> None:
        if connection is opened[0].connection:
            raise RuntimeError
        send(connection)

    def answer() -> None:
        for exchange in opened:
            exchange.reply(frame(b"answer"))

    monkeypatch.setattr(Connection, "_send", failing)
    with connect(running.port) as bad, connect(running.port) as good:
        bad.sendall(frame(b"r"))
        until(lambda: len(opened) == 1)
        good.sendall(frame(b"r"))
        until(lambda: len(opened) == 2)
        running.run(answer)
        assert receive(good) == b"answer"
        assert is_closed(bad)
        good.sendall(frame(b"r"))
        until(lambda: len(opened) == 3)
        running.run(answer)
        assert receive(good) == b"answer"


@pytest.mark.parametrize("size", [1, JOIN_BYTES - 4, JOIN_BYTES])
def test_small_answers_that_have_to_wait_keep_no_large_memory(serve, size):
    """Behind a long poll and behind what the client does not read, also what is to leave together with that:
    fetches of 150 bytes kept 256 KB of memory of segments each, and counted as 150."""
    opened: list[Exchange] = []
    running = serve(lambda connection, data, owned: opened.append(connection.begin(len(data))))
    shown = bytearray(b"z" * 500_000)
    big = os.urandom(20_000_000)

    def respond(number: int, body: bytes | bytearray, size: int) -> bool:
        opened[number].respond([struct.pack(">i", size), memoryview(body)[:size]], 4 + size)
        return untouched(shown)

    joined = size + 4 <= JOIN_BYTES
    with connect(running.port) as sock:
        sock.sendall(frame(b"r") * 6)
        until(lambda: len(opened) == 6)
        assert running.run(lambda: respond(1, shown, size)) is joined
        running.run(lambda: respond(0, b"first", 5))
        assert [receive(sock), receive(sock)] == [b"first", b"z" * size]
        running.run(lambda: respond(2, big, len(big)))
        assert running.run(lambda: respond(3, shown, size)) is joined
        assert receive(sock) == big
        assert receive(sock) == b"z" * size
        assert running.run(lambda: (respond(4, big, len(big)), respond(5, shown, size))[1]) is joined
        assert receive(sock) == big
        assert receive(sock) == b"z" * size


@pytest.mark.parametrize("prefix", [-1, -(2**31), 0, 1001, 2**31 - 1])
def test_a_frame_beyond_the_limit_closes_only_its_connection(serve, prefix):
    running = serve(echo, limits=Limits(max_frame_bytes=1000))
    with connect(running.port) as good, connect(running.port) as bad:
        bad.sendall(struct.pack(">i", prefix) + b"x" * 10)
        assert is_closed(bad)
        good.sendall(frame(b"y" * 1000))
        assert receive(good) == b"y" * 1000


def test_a_large_frame_costs_only_what_has_arrived(serve):
    running = serve(echo)
    with connect(running.port) as sock:
        sock.sendall(struct.pack(">i", 100_000_000))
        time.sleep(0.05)
        assert running.budget.used <= 4
        sock.sendall(b"x" * 50_000)
        until(lambda: running.budget.used >= 50_000)
        time.sleep(0.05)
        assert running.budget.used <= 4 * 50_004


@pytest.mark.parametrize("error", [MemoryError(), OSError(errno.ENOMEM, "no memory")], ids=["heap", "map"])
@pytest.mark.parametrize("buffers", [0, 1], ids=["at its head", "later"])
def test_a_frame_that_there_is_no_memory_for_closes_its_connection(serve, monkeypatch, error, buffers):
    """What comes after its head would be taken for requests."""
    had: list[int] = []

    def none_left(size: int) -> memoryview:
        had.append(size)
        if len(had) > buffers:
            raise error
        return memoryview(bytearray(size))

    seen: list[bytes] = []

    def dispatch(connection: Connection, data: memoryview, owned: bool) -> None:
        seen.append(bytes(data))
        echo(connection, data, owned)

    running = serve(dispatch, budget=1 << 20)
    monkeypatch.setattr("kproto.net.connection.buffer_of", none_left)
    sock = connect(running.port)
    sock.sendall(frame(bytes(700_000))[:10_004])
    until(lambda: len(had) == 1)
    with contextlib.suppress(ConnectionError):
        for _ in range(60):
            sock.sendall(frame(b"inside") * 1000)
    assert is_closed(sock)
    assert seen == []
    assert running.budget.privileged is None
    other = connect(running.port)
    other.sendall(frame(b"outside"))
    assert receive(other) == b"outside"


def test_half_frames_cannot_keep_small_requests_out(serve):
    """Stalled senders fill their half of the budget; others are served, and the stalled ones end."""
    running = serve(echo, budget=8_000_000, limits=Limits(stalled_frame_seconds=0.5))
    stalled = [connect(running.port) for _ in range(30)]
    for sock in stalled:
        sock.setblocking(False)
        try:
            sock.send(struct.pack(">i", 3_000_000) + b"x" * 400_000)
        except BlockingIOError:
            pass
    with connect(running.port) as good:
        for _ in range(20):
            good.sendall(frame(b"small" * 1000))
            assert receive(good) == b"small" * 1000
            assert running.budget.used <= 8_000_000
            time.sleep(0.01)
        until(lambda: running.server.connections == 1)
        good.sendall(frame(b"still there"))
        assert receive(good) == b"still there"
    for sock in stalled:
        sock.close()


def test_several_large_frames_never_wait_for_each_other(serve):
    running = serve(echo, budget=4_000_000)
    body = os.urandom(1_900_000)
    results: list[bool] = []

    def client() -> None:
        with connect(running.port) as sock:
            for start in range(0, len(body), 200_000):
                part = body[start : start + 200_000]
                sock.sendall(part if start else struct.pack(">i", len(body)) + part)
                time.sleep(0.002)
            results.append(receive(sock) == body)

    threads = [threading.Thread(target=client) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert results == [True] * 8


def test_a_client_that_does_not_read_is_not_read(serve):
    answer = frame(b"z" * 100_000)

    def dispatch(connection: Connection, data: memoryview, owned: bool) -> None:
        connection.begin(len(data)).reply(answer)

    running = serve(dispatch, budget=64_000_000)
    with connect(running.port) as greedy, connect(running.port) as good:
        greedy.setblocking(False)
        sent = 0
        try:
            while sent < 50_000_000:
                sent += greedy.send(frame(b"q" * 20) * 1000)
        except BlockingIOError:
            pass
        time.sleep(0.2)
        assert running.budget.used < 8_000_000
        good.sendall(frame(b"hello"))
        assert receive(good) == answer[4:]
        greedy.setblocking(True)
        greedy.settimeout(60)
        for _ in range(sent // 24):
            assert len(receive(greedy)) == 100_000


def test_open_requests_are_bounded(serve):
    opened: list[Exchange] = []
    running = serve(lambda connection, data, owned: opened.append(connection.begin(len(data))))
    total = MAX_OPEN_REQUESTS * 3
    with connect(running.port) as sock:
        sock.sendall(frame(b"r") * total)
        until(lambda: len(opened) == MAX_OPEN_REQUESTS)
        time.sleep(0.05)
        assert len(opened) == MAX_OPEN_REQUESTS
        for number in range(total):
            until(lambda n=number: len(opened) > n)
            running.run(lambda n=number: opened[n].reply(frame(b"%d" % n)))
        assert [int(receive(sock)) for _ in range(total)] == list(range(total))


def test_answers_behind_a_long_poll_count(serve):
    """They cannot be sent yet, but they are memory: the client is not read beyond the bound."""
    opened: list[Exchange] = []
    answer = frame(b"z" * 1_000_000)

    def dispatch(connection: Connection, data: memoryview, owned: bool) -> None:
        exchange = connection.begin(len(data))
        opened.append(exchange)
        if len(opened) > 1:
            exchange.respond([answer], len(answer))

    running = serve(dispatch)
    with connect(running.port) as sock:
        sock.sendall(frame(b"poll") + frame(b"more") * 200)
        until(lambda: running.budget.used >= MAX_HELD)
        time.sleep(0.1)
        assert len(opened) < 40
        assert running.budget.used < MAX_HELD + 2_000_000
        running.run(lambda: opened[0].reply(frame(b"at last")))
        assert receive(sock) == b"at last"
        for _ in range(200):
            assert len(receive(sock)) == 1_000_000


def test_all_connections_together_stay_within_the_budget(serve):
    """Requests that stay open fill the budget; then nobody is read until some are answered."""
    opened: list[Exchange] = []
    running = serve(
        lambda connection, data, owned: opened.append(connection.begin(len(data))), budget=2_000_000
    )
    socks = [connect(running.port) for _ in range(10)]
    for sock in socks:
        sock.setblocking(False)
        try:
            sock.send(frame(b"x" * 50_000) * 40)
        except BlockingIOError:
            pass
    time.sleep(0.3)
    assert running.budget.used < 2_000_000 + 10 * 300_000
    seen = len(opened)
    for exchange in opened[:seen]:
        running.run(exchange.drop)
    until(lambda: len(opened) > seen)
    for sock in socks:
        sock.close()


def test_peers_that_do_not_read_cannot_keep_the_memory(serve):
    """Their unread answers fill the budget; they are closed, a peer that takes its answers is served."""
    answer = frame(b"a" * 1_000_000)

    def large(connection: Connection, data: memoryview, owned: bool) -> None:
        connection.begin(len(data)).respond([answer], len(answer))

    running = serve(large, budget=20_000_000)
    greedy = [connect(running.port) for _ in range(24)]
    for sock in greedy:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for _ in range(6):
            sock.send(frame(b"more"))
    until(lambda: running.budget.used >= running.budget.soft)
    with connect(running.port) as sock:
        for _ in range(3):
            sock.send(frame(b"me too"))
            assert receive(sock) == answer[4:]
    until(lambda: running.budget.used < 20_000_000)
    for sock in greedy:
        sock.close()


def test_long_polls_cannot_keep_the_memory_of_answers_behind_them(serve):
    """Nobody is closed for them: they are answered at once. Those that hold nothing back go on waiting."""
    ended: list[bytes] = []

    def dispatch(connection: Connection, data: memoryview, owned: bool) -> None:
        exchange = connection.begin(len(data))
        name = bytes(data)
        if name == b"more":
            exchange.respond([frame(b"a" * 1_000_000)], 1_000_004)
            return

        def end() -> None:
            ended.append(name)
            exchange.reply(frame(name))

        exchange.interrupt = end

    running = serve(dispatch, budget=20_000_000)
    with connect(running.port) as sock, connect(running.port) as other:
        other.sendall(frame(b"alone"))
        sent = [b"first", *[b"more"] * 10, b"second", *[b"more"] * 30]
        sock.sendall(b"".join(map(frame, sent)))
        for name in sent:
            answer = receive(sock)
            assert answer == name or (name == b"more" and len(answer) == 1_000_000)
        until(lambda: running.budget.used < 1000)
        assert ended == [b"first", b"second"]


def test_idle_connections_are_closed_and_active_ones_are_not(serve):
    running = serve(echo, limits=Limits(idle_ms=3000))
    with connect(running.port) as idle, connect(running.port) as active:
        start = time.monotonic()
        until(lambda: running.server.connections == 2)
        while running.server.connections == 2 and time.monotonic() < start + 60:
            active.sendall(frame(b"x"))
            receive(active)
            time.sleep(0.05)
        assert is_closed(idle)
        assert time.monotonic() - start >= 2.9
        active.sendall(frame(b"x"))
        assert receive(active) == b"x"


def test_a_client_that_vanished_is_asked_for_by_the_kernel(serve):
    running = serve(echo)
    with connect(running.port):
        until(lambda: running.server.connections == 1)
        (connection,) = running.server._connections
        assert connection._sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert connection._sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
        assert connection._sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 0


def test_drain_answers_what_is_open_then_closes(serve):
    opened: list[Exchange] = []
    interrupted: list[Exchange] = []

    def dispatch(connection: Connection, data: memoryview, owned: bool) -> None:
        exchange = connection.begin(len(data))
        if bytes(data) == b"wait":
            exchange.interrupt = lambda: (interrupted.append(exchange), exchange.reply(frame(b"cut short")))
        opened.append(exchange)

    running = serve(dispatch)
    with connect(running.port) as sock, connect(running.port) as idle:
        sock.sendall(frame(b"wait") + frame(b"slow"))
        until(lambda: len(opened) == 2)
        running.run(lambda: running.loop.call_later(0.1, lambda: opened[1].reply(frame(b"done"))) and None)
        running.run(lambda: running.server.drain(100))
        assert receive(sock) == b"cut short"
        assert receive(sock) == b"done"
        assert is_closed(sock)
        assert is_closed(idle)
        assert interrupted == opened[:1]
        with pytest.raises(ConnectionRefusedError):
            connect(running.port)


def test_drain_ends_on_time_when_an_answer_never_comes(serve):
    opened: list[Exchange] = []
    running = serve(lambda connection, data, owned: opened.append(connection.begin(len(data))))
    with connect(running.port) as sock:
        sock.sendall(frame(b"never"))
        until(lambda: len(opened) == 1)
        start = time.monotonic()
        running.run(lambda: running.server.drain(0.2))
        assert time.monotonic() - start > 0.15
        assert is_closed(sock)
        running.run(lambda: opened[0].reply(b"too late"))


def test_out_of_descriptors_new_clients_wait_and_old_ones_are_served(serve):
    running = serve(echo)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with connect(running.port) as old:
        used = len(os.listdir("/proc/self/fd"))
        waiting = socket.socket()
        resource.setrlimit(resource.RLIMIT_NOFILE, (used + 1, hard))
        try:
            waiting.settimeout(60)
            waiting.connect(("127.0.0.1", running.port))
            waiting.sendall(frame(b"patient"))
            time.sleep(0.1)
            old.sendall(frame(b"x"))
            assert receive(old) == b"x"
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert receive(waiting) == b"patient"
        waiting.close()


def test_connections_leave_descriptors_to_files(serve):
    """Who comes late waits, is served when others go, and at most one is taken beyond what is allowed."""
    used = len(os.listdir("/proc/self/fd"))
    running = serve(echo, limits=Limits(descriptors=used + 60))
    socks = [connect(running.port) for _ in range(50)]  # two descriptors each, one of them the server's
    for sock in socks:
        sock.sendall(frame(b"x"))
    with contextlib.ExitStack() as held:
        free = os.open(os.devnull, os.O_RDONLY)  # a file is opened all the same
        held.callback(os.close, free)
        until(lambda: running.run(lambda: bool(running.server._paused)))
        taken = running.server.connections
        assert 0 < taken < len(socks)
        for sock in socks[:taken]:
            assert receive(sock) == b"x"
            sock.close()
        for sock in socks[taken:]:
            assert receive(sock) == b"x"
            sock.close()
    until(lambda: running.server.connections == 0)


def test_two_thousand_idle_connections_are_cheap(serve):
    """Below 10 KB each of our own memory (the kernel's is not ours)."""
    running = serve(echo)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))

    def rss() -> int:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * 4096

    try:
        before = rss()
        socks = [connect(running.port) for _ in range(2000)]
        for sock in socks:
            sock.sendall(frame(b"hi"))
        assert all(receive(sock) == b"hi" for sock in socks)
        assert running.server.connections == 2000
        assert (rss() - before) / 2000 < 10_000
        for sock in socks:
            sock.close()
        until(lambda: running.server.connections == 0)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_peer_that_resets_costs_nothing_but_its_connection(serve):
    running = serve(echo)
    for linger in range(20):
        sock = connect(running.port)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.sendall(frame(b"x" * 100_000) * 3 + frame(b"y" * (linger + 1))[:-1])
        sock.close()
    until(lambda: running.server.connections == 0)


def test_who_has_closed_its_half_gets_what_it_waits_for(serve):
    """Its connection was closed, and a produce request that was done had no answer. Long polls end at once:
    it may be gone. Half a request is forgotten."""
    opened: list[Exchange] = []

    def dispatch(connection: Connection, data: memoryview, owned: bool) -> None:
        exchange = connection.begin(len(data))
        exchange.interrupt = lambda: exchange.reply(frame(b"cut short"))
        if bytes(data) == b"slow":
            exchange.interrupt = None
        opened.append(exchange)

    running = serve(dispatch)
    for rest in (b"", frame(b"half")[:-1], frame(b"x" * 1_000_000)[:-1]):
        opened.clear()
        with connect(running.port) as sock:
            sock.sendall(frame(b"slow") + frame(b"poll") + rest)
            sock.shutdown(socket.SHUT_WR)
            until(lambda: len(opened) == 2 and opened[1].answer is not None)
            assert running.server.connections == 1
            assert running.budget.used < 1000, "the half request"
            running.run(lambda: opened[0].reply(frame(b"done")))
            assert receive(sock) == b"done"
            assert receive(sock) == b"cut short"
            assert is_closed(sock)
        until(lambda: running.server.connections == 0)


def test_who_has_closed_its_half_gets_all_of_a_large_answer(serve):
    large = bytes(3_000_000)

    def dispatch(connection: Connection, data: memoryview, owned: bool) -> None:
        connection._sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)
        connection.begin(len(data)).reply(frame(large))

    running = serve(dispatch)
    with connect(running.port) as sock:
        sock.sendall(frame(b"x"))
        sock.shutdown(socket.SHUT_WR)
        time.sleep(0.1)
        assert receive(sock) == large
        assert is_closed(sock)


@pytest.mark.parametrize("kind", ["poll", "open-ended", "never answered"])
def test_a_client_that_is_gone_leaves_nothing_behind(serve, kind):
    """A close looks as if it concerned its half only, until something is sent."""
    forgotten: list[bool] = []

    def dispatch(connection: Connection, data: memoryview, owned: bool) -> None:
        exchange = connection.begin(len(data))
        exchange.open_ended = kind == "open-ended"
        if kind == "poll":
            exchange.interrupt = lambda: (forgotten.append(True), exchange.reply(frame(b"")))

    seconds = 1 if kind == "never answered" else 600
    running = serve(dispatch, limits=Limits(stalled_frame_seconds=seconds))
    sock = connect(running.port)
    sock.sendall(frame(b"x"))
    until(lambda: running.budget.used > 0)
    sock.close()
    until(lambda: running.server.connections == 0, 10)
    assert forgotten == [True] * (kind == "poll")
    assert running.budget.used == 0


def test_connection_limits_close_the_newest(serve):
    running = serve(echo, limits=Limits(max_connections=5, max_connections_per_ip=3))
    socks = [connect(running.port) for _ in range(4)]
    assert is_closed(socks[3])
    socks[0].close()
    until(lambda: running.server.connections == 2)
    with connect(running.port) as again:
        again.sendall(frame(b"in"))
        assert receive(again) == b"in"
    for sock in socks:
        sock.close()


def test_who_is_turned_away_by_a_limit_is_told_of_once_a_minute(serve, caplog):
    caplog.set_level("WARNING")
    running = serve(echo, limits=Limits(max_connections=1, max_connections_per_ip=1))
    with connect(running.port) as sock:
        sock.sendall(frame(b"in"))
        receive(sock)
        for _ in range(3):
            with connect(running.port) as other:
                assert is_closed(other)
    assert caplog.messages == ["connection from 127.0.0.1 refused: max.connections reached"]
