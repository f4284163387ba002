"""The listener for other brokers over real sockets: who is let in, what is answered, what it may cost."""

import asyncio
import contextlib
import socket
import struct
import threading

import pytest
from talking import SECRET, Fake, is_closed, listening, peers_to, run, until

from kproto.net import internal, server, silence
from kproto.net.connection import MAX_HELD, MAX_UNSENT, SCRATCH_BYTES
from kproto.net.internal import Caller, InternalListener
from kproto.net.peers import Answer, PeerError, Peers
from kproto.wire import WireError
from kproto.wire.internal import REQUEST, REQUEST_OVERHEAD, Api, InternalError, encode_json


def test_callers_are_named_and_answers_overtake_each_other():
    async def test() -> None:
        listener, port = listening()
        callers: list[Caller] = []
        waiting: list[internal.Reply] = []

        def hold(caller: Caller, body: memoryview, reply: internal.Reply) -> None:
            callers.append(caller)
            waiting.append(reply)

        listener.serve(Api.CHANGES, hold)
        epoch = 7
        link = Peers(1, SECRET, lambda _: ("127.0.0.1", port), lambda: epoch)
        order: list[str] = []
        link.request(2, Api.CHANGES, [b""], lambda _: order.append("held"))
        assert (await link.call(2, Api.PING, b"x")).body == b"x"
        epoch = 8
        link.request(2, Api.CHANGES, [b""], lambda _: order.append("later"))
        await until(lambda: len(waiting) == 2)
        assert callers == [Caller(1, 7), Caller(1, 8)]
        waiting[1](InternalError.NONE)
        await until(lambda: order == ["later"])
        waiting[0](InternalError.LIMBO, b"a", b"b")
        waiting[0](InternalError.NONE)  # a second answer is none
        await until(lambda: order == ["later", "held"])
        assert (await link.call(2, Api.PING, b"y")).body == b"y"
        link.close()
        listener.close()

    run(test)


def test_what_is_not_served_is_answered_unknown():
    async def test() -> None:
        listener, port = listening()
        link = peers_to(port)
        assert (await link.call(2, Api.RAW)).error == InternalError.UNKNOWN
        link.close()
        listener.close()

    run(test)


def test_async_handlers_answer_also_when_they_fail():
    async def test() -> None:
        listener, port = listening()

        async def propose(caller: Caller, body: memoryview) -> tuple[int, list[bytes]]:
            await asyncio.sleep(0.001)
            if body == b"rubbish":
                raise WireError("rubbish")
            if body == b"bug":
                raise RuntimeError("a bug")
            return InternalError.FENCED, [b"to ", bytes(body)]

        listener.serve_async(Api.PROPOSE, propose)
        link = peers_to(port)
        answer = await link.call(2, Api.PROPOSE, b"you")
        assert (answer.error, bytes(answer.body)) == (InternalError.FENCED, b"to you")
        assert (await link.call(2, Api.PROPOSE, b"rubbish")).error == InternalError.BAD_REQUEST
        assert (await link.call(2, Api.PROPOSE, b"bug")).error == InternalError.REFUSED
        link.close()
        listener.close()

    run(test)


def test_bodies_are_the_handlers_own_unless_borrowed():
    async def test() -> None:
        listener, port = listening()
        kept: list[memoryview] = []

        def keep(caller: Caller, body: memoryview, reply: internal.Reply) -> None:
            kept.append(body)
            reply(InternalError.NONE)

        listener.serve(Api.PUSH, keep)
        link = peers_to(port)
        bodies = [bytes([place]) * size for place, size in enumerate((5, 50_000, 200_000, 5, 90_000))]
        for body in bodies:
            await link.call(2, Api.PUSH, body)
        assert [bytes(body) for body in kept] == bodies
        listener.serve(Api.PUSH, keep, borrowing=True)
        await link.call(2, Api.PUSH, b"first")
        await link.call(2, Api.PUSH, b"later")
        assert bytes(kept[-2]) == b"later"
        link.close()
        listener.close()

    run(test)


def test_a_long_request_of_a_broker_gets_its_memory_at_once_and_a_shorter_one_needs_none():
    async def test() -> None:
        listener, port = listening()
        lent: list[memoryview] = []

        def look(caller: Caller, body: memoryview, reply: internal.Reply) -> None:
            lent.append(body)
            reply(InternalError.NONE, bytes(body[-1:]))

        listener.serve(Api.PUSH, look, borrowing=True)
        loop = asyncio.get_running_loop()
        sock = socket.create_connection(("127.0.0.1", port))
        sock.setblocking(False)
        await loop.sock_sendall(sock, hello())
        assert len(await loop.sock_recv(sock, 1000)) == 10
        size = 3_000_000
        frame = struct.pack(">ihhiiq", 20 + size, Api.PUSH, 0, 2, 1, 7) + bytes(size - 1) + b"!"
        await loop.sock_sendall(sock, frame[:20_000])
        await until(lambda: listener.memory.partial > 0)
        assert listener.memory.partial == 20 + size
        await loop.sock_sendall(sock, frame[20_000:])
        assert (await loop.sock_recv(sock, 1000))[-1:] == b"!"
        assert listener.memory.partial == 0
        sock.close()
        link = peers_to(port)
        for length in (600_000, 200_000, 100_000):
            await link.call(2, Api.PUSH, bytes(length))
        assert [len(body.obj) == SCRATCH_BYTES for body in lent[1:]] == [False, False, True]
        link.close()
        listener.close()

    run(test)


@pytest.mark.parametrize("secret", ["", "open sesam", "open sesamee", "épée"])
def test_a_wrong_secret_is_refused(secret):
    async def test() -> None:
        listener, port = listening()
        link = peers_to(port, secret)
        with pytest.raises(PeerError):
            await link.call(2, Api.PING)
        assert await link.refused(2) is False
        link.close()
        listener.close()

    run(test)


def test_who_is_refused_again_and_again_is_told_of_once(caplog):
    """A broker that is to join tries ten times a second; which one it is, it may make up."""

    async def test() -> None:
        listener, port = listening()
        seventh = Peers(7, "wrong", lambda _: ("127.0.0.1", port), lambda: 1)
        for link, node in ((peers_to(port, "wrong"), 2), (seventh, 2), (peers_to(port), 5)):
            for _ in range(5):
                with pytest.raises(PeerError):
                    await link.call(node, Api.PING)
            link.close()
        for _ in range(5):
            with contextlib.closing(socket.create_connection(("127.0.0.1", port))) as sock:
                sock.setblocking(False)
                await asyncio.get_running_loop().sock_sendall(sock, ping())
                assert await is_closed(sock)
        listener.close()

    run(test)
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        "broker 1 at 127.0.0.1 has another cluster secret: refused",
        "broker 1 at 127.0.0.1 looks for broker 5 where this one listens: refused",
        f"closing the internal connection of 127.0.0.1: the first request is API {Api.PING:d} "
        "version 0 of node 1",
    ]


@pytest.mark.parametrize(
    ("secret", "host", "warned"), [("", "", True), ("", "127.0.0.1", False), (SECRET, "", False)]
)
def test_a_listener_that_trusts_everybody_says_so(secret, host, warned, caplog):
    async def test() -> None:
        listener = InternalListener(secret)
        listener.bind(host, 0)
        listener.close()

    run(test)
    assert ("kproto.cluster.secret" in caplog.text) is warned


def test_a_broker_that_listens_at_anothers_address_is_not_taken_for_it():
    async def test() -> None:
        listener, port = listening(node_id=3)
        link = peers_to(port)
        with pytest.raises(PeerError):
            await link.call(2, Api.PING)
        assert (await link.call(-1, Api.PING, b"whoever")).body == b"whoever"
        assert (await link.call(3, Api.PING, b"three")).body == b"three"
        link.close()
        listener.close()

    run(test)


def hello(secret: object = SECRET, to: object = 2, api: int = Api.HELLO, node: int = 1) -> bytes:
    body = encode_json({"secret": secret, "to": to})
    return struct.pack(">ihhiiq", len(body) + 20, api, 0, 1, node, 7) + body


def ping(body: bytes = b"", node: int = 1, version: int = 0) -> bytes:
    return struct.pack(">ihhiiq", len(body) + 20, Api.PING, version, 2, node, 7) + body


@pytest.mark.parametrize(
    "sent",
    [
        ping(),
        hello(api=Api.PING),
        hello(secret=5),
        hello(to=None),
        hello(secret="wrong") + ping(),
        hello(to=3) + ping(),
        hello(node=-1),
        struct.pack(">ihhiiq", 20 + 1, Api.HELLO, 0, 1, 1, 7) + b"[",
        struct.pack(">ihhiiq", 20 + 2, Api.HELLO, 1, 1, 1, 7) + b"{}",
        struct.pack(">i", 19) + bytes(19),
        struct.pack(">i", 0),
        struct.pack(">i", -1),
        struct.pack(">i", internal.HELLO_BYTES + 1),
        struct.pack(">hhih", 18, 3, 1, -1),
        hello() + ping(node=5),
        hello() + struct.pack(">i", 5) + b"short",
        hello() + struct.pack(">i", internal.LIMITS.max_frame_bytes + 1),
    ],
)
def test_who_does_not_begin_right_is_closed_and_served_nothing(sent):
    async def test() -> None:
        listener, port = listening()
        served: list[bytes] = []
        listener.serve(Api.PING, lambda caller, body, reply: served.append(bytes(body)))
        loop = asyncio.get_running_loop()
        sock = socket.create_connection(("127.0.0.1", port))
        sock.setblocking(False)
        await loop.sock_sendall(sock, sent)
        received = b""
        try:
            while part := await loop.sock_recv(sock, 1000):
                received += part
        except ConnectionResetError:
            pass
        assert served == []
        assert len(received) in (0, 10)  # the answer to HELLO at most
        sock.close()
        listener.close()

    run(test)


def test_a_silent_connection_is_closed(monkeypatch):
    monkeypatch.setattr(internal, "GREETING_SECONDS", 0.0)

    async def test() -> None:
        listener = InternalListener(SECRET, internal.LIMITS.__class__(stalled_frame_seconds=0.1))
        port = listener.bind("127.0.0.1", 0)
        listener.accept()
        sock = socket.create_connection(("127.0.0.1", port))
        sock.setblocking(False)
        assert await is_closed(sock)
        sock.close()
        listener.close()

    run(test)


def test_who_dribbles_has_no_more_time_for_its_hello(monkeypatch):
    """The time counts from the connection, to the second, not from the last byte or the last sweep."""
    monkeypatch.setattr(internal, "GREETING_SECONDS", 0.2)

    async def test() -> None:
        listener, port = listening()
        sock = socket.create_connection(("127.0.0.1", port))
        sock.setblocking(False)
        closed = asyncio.ensure_future(is_closed(sock))
        for byte in hello()[:100]:
            if closed.done():
                break
            await asyncio.sleep(0.02)
            with contextlib.suppress(ConnectionError):
                sock.send(bytes([byte]))
        assert closed.done()
        assert closed.result()
        sock.close()
        listener.close()

    run(test)


def test_of_too_many_that_have_not_said_hello_the_oldest_is_closed(monkeypatch):
    monkeypatch.setattr(internal, "MAX_STRANGERS", 3)

    async def test() -> None:
        listener, port = listening()
        link = peers_to(port)
        await link.call(2, Api.PING)
        strangers: list[socket.socket] = []
        for _ in range(5):
            strangers.append(socket.create_connection(("127.0.0.1", port)))
            strangers[-1].setblocking(False)
            await until(lambda: listener._server.connections == 1 + min(len(strangers), 3))
        assert [await is_closed(sock) for sock in strangers[:2]] == [True, True]
        loop = asyncio.get_running_loop()
        for sock in strangers[2:]:  # they are let in, and then they are strangers no more
            await loop.sock_sendall(sock, hello())
            assert len(await loop.sock_recv(sock, 100)) == 10
        more = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
        await until(lambda: listener._server.connections == 7)
        assert (await link.call(2, Api.PING, b"still there")).body == b"still there"
        for sock in strangers + more:
            sock.close()
        link.close()
        listener.close()

    run(test)


def dial(port: int, source: str = "127.0.0.1") -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", port), source_address=(source, 0))
    sock.setblocking(False)
    return sock


def test_whose_hello_has_come_is_let_in_however_many_others_came_since(monkeypatch):
    """The loop was busy: it meets the broker and all the others at once."""
    monkeypatch.setattr(internal, "MAX_STRANGERS", 3)

    async def test() -> None:
        listener, port = listening()
        broker = dial(port)
        broker.send(hello())
        strangers = [dial(port) for _ in range(9)]
        loop = asyncio.get_running_loop()
        assert len(await loop.sock_recv(broker, 100)) == 10
        await until(lambda: listener._server.connections == 4)
        assert [await is_closed(sock) for sock in strangers[:6]] == [True] * 6
        await loop.sock_sendall(strangers[6], hello())
        assert len(await loop.sock_recv(strangers[6], 100)) == 10
        for sock in (broker, *strangers):
            sock.close()
        listener.close()

    run(test)


def test_strangers_take_only_the_place_of_others_at_their_address(monkeypatch):
    monkeypatch.setattr(internal, "MAX_STRANGERS", 4)

    async def test() -> None:
        listener, port = listening()
        loop = asyncio.get_running_loop()
        slow = dial(port)
        strangers = []
        for _ in range(20):
            strangers.append(dial(port, "127.0.0.2"))
            await until(lambda: listener._server.connections == min(4, 1 + len(strangers)))
        await loop.sock_sendall(slow, hello())
        assert len(await loop.sock_recv(slow, 100)) == 10
        await until(lambda: listener._server.connections == 4)
        more = [dial(port, "127.0.0.2"), dial(port, "127.0.0.3"), dial(port, "127.0.0.3")]
        assert [await is_closed(sock) for sock in strangers[:-1]] == [True] * 19
        assert listener._server.connections == 5
        for sock in (slow, *strangers, *more):
            sock.close()
        listener.close()

    run(test)


@pytest.mark.parametrize("nonsense", [b"", b"\0\0\0\x14" + bytes(20)])
def test_a_broker_gets_in_while_strangers_come_all_the_time(nonsense, monkeypatch):
    monkeypatch.setattr(internal, "MAX_STRANGERS", 8)
    ended = threading.Event()

    def crowd(port: int) -> None:
        there: list[socket.socket] = []
        with contextlib.ExitStack() as stack:
            while not ended.is_set():
                with contextlib.suppress(OSError):
                    there.append(dial(port, "127.0.0.2"))
                    stack.callback(there[-1].close)
                    there[-1].send(nonsense)
                if len(there) > 100:
                    there.pop(0).close()

    async def test() -> None:
        listener, port = listening()
        flood = threading.Thread(target=crowd, args=(port,), daemon=True)
        flood.start()
        await until(lambda: listener._server.connections > 0)
        try:
            for number in range(50):
                link = peers_to(port)
                assert (await link.call(2, Api.PING, b"%d" % number)).body == b"%d" % number
                link.close()
        finally:
            ended.set()
            flood.join()
        listener.close()

    run(test)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("10.0.0.1", "10.0.0.2", False),
        ("::ffff:10.0.0.1", "::ffff:10.0.0.2", False),
        ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("fe80::1%eth0", "fe80::2", True),
    ],
)
def test_who_has_an_ipv6_address_has_many(one, other, same):
    assert (internal._network(one) == internal._network(other)) is same


def test_another_version_is_answered_as_a_bad_request():
    async def test() -> None:
        listener, port = listening()
        fake = Fake()
        sock = socket.create_connection(("127.0.0.1", port))
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_sendall(sock, hello() + ping(version=1))
        assert await fake.exactly(sock, 10) == struct.pack(">iih", 6, 1, InternalError.NONE)
        assert await fake.exactly(sock, 10) == struct.pack(">iih", 6, 2, InternalError.BAD_REQUEST)
        sock.close()
        fake.listener.close()
        listener.close()

    run(test)


def test_a_broker_whose_machine_is_silent_is_noticed_at_both_ends(monkeypatch):
    """It was only where the connection was made: the other end's was never closed."""
    monkeypatch.setattr(silence, "UNANSWERED_MS", 4321)

    async def test() -> None:
        listener, port = listening()
        link = peers_to(port)
        await link.call(2, Api.PING)
        (there,) = (connection._sock for connection in listener._server._connections)
        here = link._links[2]._sock
        assert here is not None
        for sock in (here, there):
            assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            tcp = ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_USER_TIMEOUT", "TCP_NODELAY")
            found = [sock.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)) for name in tcp]
            assert found == [2, 2, 2, 4321, 1]
        link.close()
        listener.close()

    run(test)


def test_a_listener_tells_who_is_gone():
    async def test() -> None:
        listener, port = listening()
        gone: list[Caller] = []
        listener.on_closed = gone.append
        link = peers_to(port, epoch=12)
        await link.call(2, Api.PING)
        socket.create_connection(("127.0.0.1", port)).close()
        assert gone == []
        link.close()
        await until(lambda: gone == [Caller(1, 12)])
        listener.close()

    run(test)


def test_who_is_gone_is_told_at_once_though_an_answer_is_on_its_way_to_it():
    async def test() -> None:
        listener, port = listening()
        gone: list[Caller] = []
        listener.on_closed = gone.append
        listener.serve(Api.READ, lambda caller, body, reply: reply(InternalError.NONE, bytes(3_000_000)))
        peer = socket.socket()
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        peer.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(peer, ("127.0.0.1", port))
        await loop.sock_sendall(peer, hello())
        assert len(await loop.sock_recv(peer, 10)) == 10
        (there,) = listener._server._connections
        there._sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)
        await loop.sock_sendall(peer, REQUEST.pack(REQUEST_OVERHEAD, Api.READ, 0, 1, 1, 7))
        await until(lambda: 0 < there.unsent < MAX_UNSENT)
        peer.shutdown(socket.SHUT_WR)
        await until(lambda: there.closed or there.closing)
        assert gone == [Caller(1, 7)]
        peer.close()
        listener.close()

    run(test)


def test_a_failing_handler_costs_its_connection_and_no_other():
    async def test() -> None:
        listener, port = listening()

        def bug(caller: Caller, body: memoryview, reply: internal.Reply) -> None:
            raise RuntimeError("a bug in a handler")

        listener.serve(Api.PUSH, bug)
        one, other = peers_to(port), peers_to(port)
        await other.call(2, Api.PING)
        with pytest.raises(PeerError):
            await one.call(2, Api.PUSH)
        assert (await other.call(2, Api.PING, b"here")).body == b"here"
        assert (await one.call(2, Api.PING, b"again")).body == b"again"
        one.close()
        other.close()
        listener.close()

    run(test)


def test_memory_for_requests_is_bounded_and_given_back():
    async def test() -> None:
        listener, port = listening(memory_bytes=4_000_000)
        held: list[tuple[memoryview, internal.Reply]] = []
        listener.serve(Api.PUSH, lambda caller, body, reply: held.append((body, reply)))
        link = peers_to(port)
        done: list[Answer | None] = []
        for _ in range(30):
            link.request(2, Api.PUSH, [bytes(400_000)], done.append)
        await until(lambda: len(held) >= 8)
        await asyncio.sleep(0.05)
        assert len(held) <= 11  # the rest is not read
        while len(done) < 30:
            replies, held = held, []
            for _, reply in replies:
                reply(InternalError.NONE)
            await asyncio.sleep(0.001)
        assert all(done)
        assert listener.memory.used == 0
        assert listener.memory.partial == 0
        link.close()
        listener.close()

    run(test)


def test_heartbeats_are_not_behind_requests_that_take_long():
    """A broker's connection is read no more while what it asked holds so much."""

    async def test() -> None:
        listener, port = listening()
        held: list[internal.Reply] = []
        listener.serve(Api.FORWARD, lambda caller, body, reply: held.append(reply))
        listener.serve(
            Api.HEARTBEAT, lambda caller, body, reply: reply(InternalError.NONE, b"%d" % caller.node_id)
        )
        link = peers_to(port)
        done: list[Answer | None] = []
        for _ in range(8):
            link.request(2, Api.FORWARD, [bytes(MAX_HELD // 2)], done.append)
        await until(lambda: len(held) == 2)
        assert (await link.call(2, Api.HEARTBEAT)).body == b"1"
        link.request(2, Api.HEARTBEAT, [b""], done.append)
        link.close()
        assert done == [None] * 9
        for reply in held:
            reply(InternalError.NONE)
        await until(lambda: listener.memory.used == 0)
        listener.close()

    run(test)


def test_a_broker_that_holds_little_is_heard_though_others_hold_all_the_memory(monkeypatch):
    """One takes its answers, but slowly. The other one waits for changes, as brokers always do."""
    monkeypatch.setattr(server, "RELIEF_SECONDS", 600.0)  # it takes enough

    async def test() -> None:
        listener, port = listening(memory_bytes=4_000_000)
        size = 64_000_000  # more than the kernel takes
        listener.serve(Api.READ, lambda caller, body, reply: reply(InternalError.NONE, bytes(size)))
        waiting: list[internal.Reply] = []
        listener.serve(Api.CHANGES, lambda caller, body, reply: waiting.append(reply))
        pushed: list[internal.Reply] = []
        listener.serve(Api.PUSH, lambda caller, body, reply: pushed.append(reply))
        link = peers_to(port)
        link.request(2, Api.CHANGES, [b""], lambda _: None)
        await until(lambda: len(waiting) == 1)
        loop = asyncio.get_running_loop()
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        slow.setblocking(False)
        await loop.sock_connect(slow, ("127.0.0.1", port))
        hello = encode_json({"secret": SECRET, "to": 2})
        await loop.sock_sendall(
            slow, REQUEST.pack(REQUEST_OVERHEAD + len(hello), Api.HELLO, 0, 0, 3, 7) + hello
        )
        assert len(await loop.sock_recv(slow, 10)) == 10
        await loop.sock_sendall(slow, REQUEST.pack(REQUEST_OVERHEAD, Api.READ, 0, 1, 3, 7))
        await until(lambda: listener.memory.used > listener.memory.limit)
        link.request(2, Api.CHANGES, [b""], lambda _: None)  # its next frame comes with the same read
        assert (await link.call(2, Api.PING, b"x")).body == b"x"
        link.request(2, Api.PUSH, [bytes(1_000_000)], lambda _: None)
        assert (await peers_to(port).call(2, Api.PING, b"y")).body == b"y", "a new connection"
        assert (len(waiting), len(pushed)) == (2, 0), "large frames wait"
        assert listener.memory.partial < 1_000_000
        taken = 10
        while taken < size:
            received = await loop.sock_recv(slow, 1_000_000)
            assert received
            taken += len(received)
        await until(lambda: len(pushed) == 1)
        link.close()
        slow.close()
        listener.close()

    run(test)


def test_who_answers_sees_when_nobody_waits_for_it_any_more():
    async def test() -> None:
        listener, port = listening()
        held: list[internal.Reply] = []
        listener.serve(Api.READ, lambda caller, body, reply: held.append(reply))
        stays, goes = peers_to(port), peers_to(port)
        for link in (stays, goes):
            link.request(2, Api.READ, [b""], lambda _: None)
            await link.call(2, Api.PING)
        assert [reply.wanted for reply in held] == [True, True]
        goes.close()
        await until(lambda: [reply.wanted for reply in held] == [True, False])
        held[0](InternalError.NONE)
        assert not held[0].wanted, "it has its answer"
        stays.close()
        listener.close()

    run(test)


def test_an_answer_that_is_about_to_be_sent_is_not_one_left_unread():
    """While others held the memory, who had several reads in line was told to ask again for all but one, each
    time one was answered: thirty times for each read."""

    async def test() -> None:
        listener, port = listening()
        held: list[internal.Reply] = []
        listener.serve(Api.READ, lambda caller, body, reply: held.append(reply))
        link = peers_to(port)
        for _ in range(2):
            link.request(2, Api.READ, [b""], lambda _: None)
        await link.call(2, Api.PING)
        listener.memory.change(listener.memory.limit)
        held[0](InternalError.NONE, bytes(internal.LIGHT_BYTES))
        assert held[1].wanted
        listener.memory.change(-listener.memory.limit)
        link.close()
        listener.close()

    run(test)
