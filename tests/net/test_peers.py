"""Requests to other brokers over real sockets: pipelines, slow peers, ends of all kinds."""

import asyncio
import errno
import gc
import random
import socket
import struct
import time
import weakref
from collections.abc import Callable
from contextlib import suppress

import pytest
import uvloop
from talking import SECRET, Fake, is_closed, listening, peers_to, run, until

from kproto.net import peers, silence
from kproto.net.internal import InternalListener, Reply
from kproto.net.names import Names
from kproto.net.peers import Answer, PeerError, Peers
from kproto.wire import WireError
from kproto.wire.internal import Api, InternalError


def test_bodies_of_all_sizes_come_back_and_stay_valid():
    async def test() -> None:
        listener, port = listening()
        link = peers_to(port)
        rng = random.Random(5)
        sizes = [0, 1, 10, 1000, 16_000, 65_000, 65_536, 65_537, 98_304, 98_305, 262_144, 3_000_001, 7]
        sizes += [rng.choice([rng.randint(0, 300), rng.randint(0, 200_000)]) for _ in range(200)]
        bodies = [rng.randbytes(size) for size in sizes]
        answers: list[Answer | None] = []
        for body in bodies:
            cut = len(body) // 3
            pieces = [body[:cut], b"", memoryview(body)[cut : 2 * cut], bytearray(body[2 * cut :])]
            link.request(2, Api.PING, pieces, answers.append)
        await until(lambda: len(answers) == len(bodies))
        assert [answer and bytes(answer.body) for answer in answers] == bodies
        assert {answer and answer.error for answer in answers} == {InternalError.NONE}
        link.close()
        listener.close()

    run(test)


def test_many_pieces_and_large_requests_go_through():
    async def test() -> None:
        listener, port = listening()
        link = peers_to(port)
        many = [bytes([place % 256]) * 3 for place in range(5000)]
        answers: list[Answer | None] = []
        await link.call(2, Api.PING)
        link.request(2, Api.PING, many, answers.append)
        link.request(2, Api.PING, [bytes(40_000_000)], answers.append)
        await until(lambda: len(answers) == 2)
        assert answers[0] is not None
        assert bytes(answers[0].body) == b"".join(many)
        assert answers[1] is not None
        assert len(answers[1].body) == 40_000_000
        link.close()
        listener.close()

    run(test)


def test_a_peer_that_dies_in_the_middle_of_a_frame_leaves_no_request_open():
    async def test() -> None:
        fake = Fake()
        link = peers_to(fake.port)
        lost: list[int] = []
        link.on_lost = lost.append
        events: list[tuple[int, bytes | None]] = []

        def noting(number: int) -> Callable[[Answer | None], None]:
            def done(answer: Answer | None) -> None:
                assert lost == []
                events.append((number, answer and bytes(answer.body)))

            return done

        for number in range(6):
            link.request(2, Api.PING, [b"%d" % number], noting(number))
        sock = await fake.accept()
        correlations = [(await fake.request(sock))[1] for _ in range(6)]
        await fake.answer(sock, correlations[3], b"three")
        await fake.answer(sock, correlations[0], b"zero")
        half = struct.pack(">iih", 1000 + 6, correlations[1], 0) + bytes(100)
        await asyncio.get_running_loop().sock_sendall(sock, half)
        await until(lambda: len(events) == 2)
        sock.close()
        await until(lambda: len(events) == 6)
        assert events == [(3, b"three"), (0, b"zero"), (1, None), (2, None), (4, None), (5, None)]
        assert lost == [2]
        link.close()
        fake.listener.close()

    run(test)


def test_a_large_answer_cut_off_is_no_answer():
    async def test() -> None:
        fake = Fake()
        link = peers_to(fake.port)
        call = asyncio.ensure_future(link.call(2, Api.RAW))
        sock = await fake.accept()
        _, correlation, _ = await fake.request(sock)
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(sock, struct.pack(">iih", 500_000 + 6, correlation, 0) + bytes(499_999))
        await asyncio.sleep(0.01)
        assert not call.done()
        sock.close()
        with pytest.raises(PeerError):
            await call
        link.close()
        fake.listener.close()

    run(test)


def test_answers_cut_at_every_byte():
    async def test() -> None:
        fake = Fake()
        link = peers_to(fake.port)
        answers: list[Answer | None] = []
        for _ in range(3):
            link.request(2, Api.PING, [b""], answers.append)
        sock = await fake.accept()
        ids = [(await fake.request(sock))[1] for _ in range(3)]
        stream = b"".join(
            struct.pack(">iih", 6 + 5 * n, each, n) + b"hello" * n for n, each in enumerate(ids)
        )
        for place in range(len(stream)):
            await asyncio.get_running_loop().sock_sendall(sock, stream[place : place + 1])
            await asyncio.sleep(0)
        await until(lambda: len(answers) == 3)
        assert [answer and (answer.error, bytes(answer.body)) for answer in answers] == [
            (0, b""),
            (1, b"hello"),
            (2, b"hellohello"),
        ]
        link.close()
        sock.close()
        fake.listener.close()

    run(test)


@pytest.mark.parametrize("size", [-1, 0, 5, 10_001, 0x7FFFFFFF])
def test_an_answer_of_impossible_size_ends_the_connection_before_there_is_memory_for_it(size, monkeypatch):
    taken: list[int] = []
    monkeypatch.setattr(peers, "buffer_of", lambda size: taken.append(size) or memoryview(bytearray(size)))

    async def test() -> None:
        fake = Fake()
        link = peers_to(fake.port, max_frame_bytes=10_000)
        call = asyncio.ensure_future(link.call(2, Api.PING))
        sock = await fake.accept()
        _, correlation, _ = await fake.request(sock)
        await asyncio.get_running_loop().sock_sendall(sock, struct.pack(">iih", size, correlation, 0))
        with pytest.raises(PeerError):
            await call
        assert await is_closed(sock)
        assert taken == []
        sock.close()
        link.close()
        fake.listener.close()

    run(test)


@pytest.mark.parametrize("error", [MemoryError(), OSError(errno.ENOMEM, "no memory")], ids=["heap", "map"])
def test_an_answer_that_there_is_no_memory_for_ends_the_connection(error, monkeypatch):
    """What comes after its head would be taken for other answers."""

    def none_left(size: int) -> memoryview:
        raise error

    async def test() -> None:
        fake = Fake()
        link = peers_to(fake.port)
        calls = [asyncio.ensure_future(link.call(2, Api.RAW)) for _ in range(2)]
        sock = await fake.accept()
        first, _ = [(await fake.request(sock))[1] for _ in range(2)]
        monkeypatch.setattr(peers, "buffer_of", none_left)
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(sock, struct.pack(">iih", 500_000 + 6, first, 0) + bytes(1000))
        assert await is_closed(sock)
        found = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(each) for each in found] == [PeerError, PeerError]
        sock.close()
        again = asyncio.ensure_future(link.call(2, Api.PING))
        sock = await fake.accept()
        await fake.answer(sock, (await fake.request(sock))[1], b"again")
        assert (await again).body == b"again"
        link.close()
        sock.close()
        fake.listener.close()

    run(test)


def test_an_answer_nobody_asked_for_ends_the_connection():
    async def test() -> None:
        fake = Fake()
        link = peers_to(fake.port)
        call = asyncio.ensure_future(link.call(2, Api.PING))
        sock = await fake.accept()
        _, correlation, _ = await fake.request(sock)
        await fake.answer(sock, correlation + 1)
        with pytest.raises(PeerError):
            await call
        link.close()
        sock.close()
        fake.listener.close()

    run(test)


@pytest.mark.parametrize(
    "answer",
    [
        struct.pack(">iih", 6, 0, InternalError.REFUSED),
        struct.pack(">iih", 6, 1, 0),
        struct.pack(">iih", 5, 0, 0),
        struct.pack(">iih", 7, 0, 0) + b"x",
    ],
)
def test_a_greeting_that_is_refused_or_strange_is_no_connection(answer):
    async def test() -> None:
        fake = Fake(hello=answer)
        link = peers_to(fake.port)
        lost: list[int] = []
        link.on_lost = lost.append
        call = asyncio.ensure_future(link.call(2, Api.PING))
        sock = await fake.accept()
        with pytest.raises(PeerError):
            await call
        assert await is_closed(sock)
        assert lost == []  # there never was a connection
        sock.close()
        link.close()
        fake.listener.close()

    run(test)


def test_a_peer_that_does_not_greet_is_given_up(monkeypatch):
    monkeypatch.setattr(peers, "CONNECT_SECONDS", 0.05)

    async def test() -> None:
        silent = socket.create_server(("127.0.0.1", 0))
        link = peers_to(silent.getsockname()[1])
        with pytest.raises(PeerError, match="not reachable"):
            await link.call(2, Api.PING)
        link.close()
        silent.close()

    run(test)


def test_nothing_is_sent_before_the_greeting_is_answered():
    async def test() -> None:
        fake = Fake(hello=b"")
        link = peers_to(fake.port)
        done: list[Answer | None] = []
        link.request(2, Api.PUSH, [b"secret data"], done.append)
        sock = await fake.accept()
        await asyncio.sleep(0.02)
        with pytest.raises(BlockingIOError):
            sock.recv(1)
        link.close()
        assert done == [None]
        sock.close()
        fake.listener.close()

    run(test)


def test_a_restarted_peer_is_found_again():
    async def test() -> None:
        listener, port = listening()
        link = peers_to(port)
        lost: list[int] = []
        link.on_lost = lost.append
        await link.call(2, Api.PING)
        listener.close()
        await until(lambda: lost == [2])
        assert await link.refused(2) is True
        with pytest.raises(PeerError):
            await link.call(2, Api.PING)
        again = InternalListener(SECRET, node_id=2)
        again.serve(Api.PING, lambda caller, body, reply: reply(InternalError.NONE, b"again"))
        again.bind("127.0.0.1", port)
        again.accept()
        assert (await link.call(2, Api.PING)).body == b"again"
        assert lost == [2]
        link.close()
        again.close()
        assert lost == [2]  # closing is not losing

    run(test)


def test_requests_in_the_turn_in_which_a_connection_breaks_are_lost_with_it_and_later_ones_are_not():
    async def test() -> None:
        fake = Fake()
        link = peers_to(fake.port)
        first = asyncio.ensure_future(link.call(2, Api.PING))
        sock = await fake.accept()
        await fake.answer(sock, (await fake.request(sock))[1])
        await first
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()  # a reset: the next write fails
        order: list[int] = []
        time.sleep(0.01)
        for number in range(3):
            link.request(
                2, Api.PING, [b"x"], lambda answer, n=number: order.append(n if answer is None else -1)
            )
        assert order == []  # never before request returns
        await until(lambda: order == [0, 1, 2])
        again = asyncio.ensure_future(link.call(2, Api.PING))
        sock = await fake.accept()
        await fake.answer(sock, (await fake.request(sock))[1], b"back")
        assert (await again).body == b"back"
        link.close()
        sock.close()
        fake.listener.close()

    run(test)


def test_a_connection_that_cannot_be_written_ends_although_it_could_be_read(monkeypatch):
    opened: list[socket.socket] = []
    original = peers._open

    async def remembering(*arguments) -> socket.socket:
        opened.append(await original(*arguments))
        return opened[-1]

    monkeypatch.setattr(peers, "_open", remembering)

    async def test() -> None:
        fake = Fake()
        link = peers_to(fake.port)
        lost: list[int] = []
        link.on_lost = lost.append
        order: list[int] = []
        link.request(2, Api.CHANGES, [b""], lambda answer: order.append(0 if answer is None else -1))
        sock = await fake.accept()
        await fake.request(sock)
        opened[0].shutdown(socket.SHUT_WR)
        link.request(2, Api.PING, [b""], lambda answer: order.append(1 if answer is None else -1))
        link.request(2, Api.PING, [b""], lambda answer: order.append(2 if answer is None else -1))
        assert order == []
        await until(lambda: lost == [2])
        assert order == [0, 1, 2]
        link.close()
        sock.close()
        fake.listener.close()

    run(test)


def test_every_address_of_a_host_name_is_tried(monkeypatch):
    """A name that is ::1 and 127.0.0.1, where the peer listens on one of them only."""

    async def found(_names, _host, port):
        return [(socket.AF_INET6, ("::1", port)), (socket.AF_INET, ("127.0.0.1", port))]

    monkeypatch.setattr(Names, "find", found)

    async def test() -> None:
        listener, port = listening()
        link = peers_to(port)
        assert (await link.call(2, Api.PING, b"there")).body == b"there"
        assert not await link.refused(2)
        listener.close()
        assert await link.refused(2)
        link.close()

    run(test)


def test_a_peer_is_gone_only_if_all_its_addresses_say_so():
    refused = ConnectionRefusedError(errno.ECONNREFUSED, "")
    late, away = TimeoutError(), OSError(errno.EHOSTUNREACH, "")
    no_way = OSError(errno.ENETUNREACH, "")
    assert peers._telling([refused, late]) is late
    assert peers._telling([away, refused]) is away
    assert peers._telling([no_way, refused]) is refused
    assert peers._telling([no_way]) is no_way


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["own", "uvloop"])
@pytest.mark.parametrize("size", [10, 60_000, 500_000])
def test_a_reset_seen_together_with_an_answer_ends_the_connection_at_once(new_loop, size):
    """The peer's process is killed with requests unread that came while its last answer was on its way."""

    async def test() -> None:
        fake = Fake()
        link = peers_to(fake.port)
        answers: list[Answer | None] = []
        for _ in range(2):
            link.request(2, Api.PING, [b"hello"], answers.append)
        sock = await fake.accept()
        _, first, _ = await fake.request(sock)
        sock.send(struct.pack(">iih", size + 6, first, 0) + bytes(size))  # and the loop sees it with the end
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
        await until(lambda: len(answers) == 2)
        assert answers[1] is None
        link.close()
        fake.listener.close()

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(test())


@pytest.mark.parametrize("have", [5, 100, 5000])
def test_half_an_answer_is_forgotten_with_its_connection(have):
    async def test() -> None:
        fake = Fake()
        link = peers_to(fake.port)
        call = asyncio.ensure_future(link.call(2, Api.PING))
        sock = await fake.accept()
        _, correlation, _ = await fake.request(sock)
        whole = struct.pack(">iih", 6 + 4 * have, correlation, 0) + bytes(4 * have)
        await asyncio.get_running_loop().sock_sendall(sock, whole[:have])
        await asyncio.sleep(0.01)
        sock.close()
        with pytest.raises(PeerError):
            await call
        call = asyncio.ensure_future(link.call(2, Api.PING))
        sock = await fake.accept()
        _, correlation, _ = await fake.request(sock)
        await fake.answer(sock, correlation, b"whole")
        assert (await call).body == b"whole"
        link.close()
        sock.close()
        fake.listener.close()

    run(test)


def test_a_slow_peer_fills_a_bounded_queue_and_gets_everything_in_order():
    async def test() -> None:
        fake = Fake(buffer=16_384)
        link = peers_to(fake.port, queue_bytes=1_000_000)
        outcome: dict[int, str] = {}
        first = asyncio.ensure_future(link.call(2, Api.PING))
        sock = await fake.accept()
        await fake.answer(sock, (await fake.request(sock))[1])
        await first

        def noting(number: int) -> Callable[[Answer | None], None]:
            def done(answer: Answer | None) -> None:
                outcome[number] = "refused" if answer is None else "done"

            return done

        for number in range(400):
            piece = struct.pack(">I", number) * 5000
            link.request(2, Api.PUSH, [piece[:7000], piece[7000:]], noting(number))
        assert outcome == {}
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        refused = set(outcome)
        taken = [number for number in range(400) if number not in refused]
        # what the kernel holds and the queue: no more than that was taken
        assert 1_000_000 // 20_000 <= len(taken) < 400
        assert taken == list(range(len(taken)))
        for number in taken:
            _, correlation, body = await fake.request(sock)
            assert body == struct.pack(">I", number) * 5000
            await fake.answer(sock, correlation)
        await until(lambda: len(outcome) == 400)
        assert [number for number in outcome if outcome[number] == "done"] == taken
        link.close()
        sock.close()
        fake.listener.close()

    run(test)


def test_a_peer_that_reads_nothing_for_long_is_lost(monkeypatch):
    monkeypatch.setattr(silence, "UNANSWERED_MS", 300)

    async def test() -> None:
        fake = Fake(buffer=16_384)
        link = peers_to(fake.port)
        lost: list[int] = []
        link.on_lost = lost.append
        done: list[Answer | None] = []
        link.request(2, Api.PUSH, [bytes(20_000_000)], done.append)
        link.request(2, Api.PING, [b""], done.append)
        sock = await fake.accept()
        began = time.monotonic()
        await until(lambda: lost == [2])
        assert done == [None, None]
        assert time.monotonic() - began > 0.2
        link.close()
        sock.close()
        fake.listener.close()

    run(test)


def test_pieces_are_not_copied_while_they_wait():
    async def test() -> None:
        fake = Fake(buffer=16_384)
        link = peers_to(fake.port)
        piece = bytearray(b"a" * 8_000_000)
        link.request(2, Api.PUSH, [memoryview(piece)], lambda _: None)
        sock = await fake.accept()
        await asyncio.sleep(0.05)
        piece[-1:] = b"z"
        _, _, body = await fake.request(sock)
        assert body[-2:] == b"az"
        link.close()
        sock.close()
        fake.listener.close()

    run(test)


def test_closing_answers_everybody_in_order_and_later_requests_too():
    async def test() -> None:
        fake = Fake()
        link = peers_to(fake.port)
        order: list[int] = []
        for number in range(3):
            link.request(2, Api.PING, [b""], lambda answer, n=number: order.append(n))
        sock = await fake.accept()
        await fake.request(sock)
        link.close()
        assert order == [0, 1, 2]
        link.request(2, Api.PING, [b""], lambda answer: order.append(3))
        assert order == [0, 1, 2]
        await until(lambda: order == [0, 1, 2, 3])
        sock.close()
        fake.listener.close()

    run(test)


def test_a_callback_may_close_or_ask_again_and_a_broken_one_harms_nobody():
    async def test() -> None:
        listener, port = listening()
        link = peers_to(port)
        seen: list[str] = []

        def again(answer: Answer | None) -> None:
            seen.append("first")
            link.request(2, Api.PING, [b""], lambda _: seen.append("nested"))
            raise RuntimeError("a bug in a callback")

        await link.call(2, Api.PING)
        link.request(2, Api.PING, [b""], again)
        link.request(2, Api.PING, [b""], lambda _: seen.append("second"))
        await until(lambda: len(seen) == 3)
        assert sorted(seen) == ["first", "nested", "second"]

        def close(answer: Answer | None) -> None:
            seen.append("closing" if answer is not None else "lost")
            link.close()

        link.request(2, Api.PING, [b""], close)
        link.request(2, Api.PING, [b""], lambda answer: seen.append("answered" if answer else "none"))
        await until(lambda: len(seen) == 5)
        assert seen[3:] == ["closing", "none"]
        listener.close()

    run(test)


def test_a_call_that_takes_too_long_fails_and_the_connection_lives():
    async def test() -> None:
        listener, port = listening()
        replies: list[Reply] = []
        listener.serve(Api.RAW, lambda caller, body, reply: replies.append(reply))
        link = peers_to(port)
        with pytest.raises(PeerError, match="not answered"):
            await link.call(2, Api.RAW, timeout=0.03)
        await until(lambda: replies != [])
        replies[0](InternalError.NONE, b"too late")
        assert (await link.call(2, Api.PING, b"fine")).body == b"fine"
        link.close()
        listener.close()

    run(test)


class Large:
    """What somebody has who waits for another broker."""


def test_a_call_that_takes_too_long_leaves_nothing_for_the_collector():
    """Its error kept all who had waited for it, and what they got from others instead: 300 MB of answers."""

    async def test() -> None:
        listener, port = listening()
        listener.serve(Api.RAW, lambda caller, body, reply: None)
        link = peers_to(port)

        async def ask() -> weakref.ref[Large]:
            with suppress(PeerError):
                await link.call(2, Api.RAW, timeout=0.01)
            large = Large()
            return weakref.ref(large)

        gc.collect()
        gc.disable()
        try:
            asked = await ask()
            assert asked() is None
        finally:
            gc.enable()
        link.close()
        listener.close()

    run(test)


def test_no_address_and_too_large_requests():
    async def test() -> None:
        link = Peers(1, SECRET, lambda _: None, lambda: 7, max_frame_bytes=1000)
        with pytest.raises(PeerError):
            await link.call(2, Api.PING)
        assert await link.refused(2) is False
        with pytest.raises(WireError):
            link.request(2, Api.PUSH, [bytes(500), bytes(481)], lambda _: None)
        link.close()

    run(test)


def test_a_host_name_is_looked_up():
    async def test() -> None:
        listener, port = listening()
        link = Peers(1, SECRET, lambda _: ("localhost", port), lambda: 7)
        assert (await link.call(2, Api.PING, b"by name")).body == b"by name"
        link.close()
        listener.close()

    run(test)


def test_why_there_is_no_connection_is_told_with_the_address(monkeypatch):
    monkeypatch.setattr(peers, "CONNECT_SECONDS", 0.1)

    async def problem(link: Peers, node: int = 2) -> str | None:
        with pytest.raises(PeerError):
            await link.call(node, Api.PING)
        return link.problem(node)

    async def test() -> None:
        listener, port = listening()
        where = f"127.0.0.1:{port}"
        link = peers_to(port)
        assert link.problem(2) is None, "nobody tried"
        assert await problem(link, 3) == f"{where}: another broker listens there"
        assert await problem(peers_to(port, "wrong")) == f"{where}: refused the cluster secret"
        await link.call(2, Api.PING)
        listener.close()
        await until(lambda: not link._links[2]._sock)
        assert await problem(link) == f"{where}: Connection refused"
        with Fake().listener as silent:
            silent_port = silent.getsockname()[1]
            assert await problem(peers_to(silent_port)) == f"127.0.0.1:{silent_port}: no answer in 0.1 s"
        six = Peers(1, SECRET, lambda _: ("::1", port), lambda: 0)
        assert await problem(six) == f"[::1]:{port}: Connection refused"

    run(test)


@pytest.mark.parametrize("host", ["b..example", "b" * 64, "b\0", "\ud800"])
def test_a_host_that_is_no_name_is_a_peer_that_cannot_be_reached(host: str) -> None:
    """And one that can be, once the address is another one."""

    async def test() -> None:
        listener, port = listening()
        address = [(host, port)]
        link = Peers(1, SECRET, lambda _: address[0], lambda: 7)
        with pytest.raises(PeerError, match="is not reachable"):
            await link.call(2, Api.PING)
        assert link.problem(2) == f"{host}:{port}: {host!r} is no host name"
        assert await link.refused(2) is False
        address[0] = ("127.0.0.1", port)
        assert bytes((await link.call(2, Api.PING, b"x")).body) == b"x"
        link.close()
        listener.close()

    run(test)


def test_what_nobody_foresaw_while_connecting_does_not_end_the_link(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def test() -> None:
        listener, port = listening()
        ports = [1 << 40, port]
        link = Peers(1, SECRET, lambda _: ("127.0.0.1", ports[0]), lambda: 7)
        with pytest.raises(PeerError, match="is not reachable"):
            await link.call(2, Api.PING)
        del ports[0]
        assert bytes((await link.call(2, Api.PING, b"x")).body) == b"x"
        link.close()
        listener.close()

    run(test)
    assert "there was no way to connect to broker 2" in caplog.text


def test_a_connection_that_works_again_has_no_problem():
    async def test() -> None:
        listener, port = listening()
        link = peers_to(port, "wrong")
        with pytest.raises(PeerError):
            await link.call(2, Api.PING)
        assert link.problem(2) is not None
        link._secret = SECRET
        await link.call(2, Api.PING)
        assert link.problem(2) is None
        link.close()
        listener.close()

    run(test)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"", "closes the connection: not an internal listener?"),
        (b"HTTP/1.1 400 Bad Request", "answers HELLO with something else: not an internal listener?"),
    ],
)
def test_one_that_is_no_broker_is_told_as_such(said, why):
    async def test() -> None:
        fake = Fake(hello=said)

        async def serve() -> None:
            (await fake.accept()).close()

        serving = asyncio.get_running_loop().create_task(serve())
        link = peers_to(fake.port)
        with pytest.raises(PeerError):
            await link.call(2, Api.PING)
        assert link.problem(2) == f"127.0.0.1:{fake.port}: {why}"
        await serving
        fake.listener.close()

    run(test)
