"""The metrics endpoint over real HTTP."""

import asyncio
import contextlib
import errno
import json
import os
import select
import socket
import struct
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import ThreadingHTTPServer

import pytest

from kproto import metrics, metrics_http
from kproto.metrics import Metric
from kproto.metrics_endpoint import MetricsEndpoint
from kproto.net.server import take_address


def test_connections_that_ask_nothing_are_few_and_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has a thread and a descriptor, which the broker needs for its files."""
    monkeypatch.setattr(metrics_http._Handler, "timeout", 0.5)

    async def run() -> None:
        endpoint = MetricsEndpoint(take_address("127.0.0.1", 0))
        endpoint.start({"/metrics": some}, {})
        silent = [socket.create_connection(("127.0.0.1", endpoint.port), 20) for _ in range(40)]
        before = threading.active_count()
        for sock in silent:
            assert await asyncio.to_thread(sock.recv, 1) == b""
            sock.close()
        assert before < 40
        assert "kproto_lag_bytes 3.5" in (await get(endpoint.port, "/metrics"))[1]
        endpoint.close()

    asyncio.run(run())


def test_who_asks_a_byte_at_a_time_does_not_keep_others_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte gave them as long again, and eight of them kept every scrape out."""
    monkeypatch.setattr(metrics_http, "REQUEST_S", 1.0)

    async def run() -> None:
        endpoint = MetricsEndpoint(take_address("127.0.0.1", 0))
        endpoint.start({"/metrics": some}, {})
        slow = [socket.create_connection(("127.0.0.1", endpoint.port), 20) for _ in range(8)]
        half = [b"GET /metrics HTTP/1.0\r\nA: " if number % 2 else b"G" for number in range(8)]
        for sock, begun in zip(slow, half, strict=True):
            sock.sendall(begun)
        ended: set[socket.socket] = set()
        async with asyncio.timeout(60):
            while len(ended) < len(slow):
                await asyncio.sleep(0.1)
                for sock in slow:
                    with contextlib.suppress(OSError):
                        sock.send(b"x")
                    if select.select([sock], [], [], 0)[0]:
                        ended.add(sock)
        assert "kproto_lag_bytes 3.5" in (await get(endpoint.port, "/metrics"))[1]
        endpoint.close()
        for sock in slow:
            sock.close()

    asyncio.run(run())


async def get(port: int, path: str, host: str = "127.0.0.1") -> tuple[str, str]:
    """Content type and body."""

    def fetch() -> tuple[str, str]:
        with urllib.request.urlopen(f"http://{host}:{port}{path}", timeout=10) as answer:
            return answer.headers["Content-Type"], answer.read().decode()

    return await asyncio.to_thread(fetch)


def some() -> Iterator[Metric]:
    yield Metric("kproto_pushes", "Pushes so far.", 17, {"vlog": "1"}, counter=True)
    yield Metric("kproto_pushes", "Pushes so far.", 4, {"vlog": "2"}, counter=True)
    yield Metric("kproto_lag_bytes", "Not durable yet.", 3.5, {})


def test_prometheus_reads_metrics_and_machines_read_pages() -> None:
    async def run() -> None:
        endpoint = MetricsEndpoint(take_address("127.0.0.1", 0))
        endpoint.start({"/metrics": some}, {"/vlogs": lambda: [{"vlog": 1}]})
        kind, text = await get(endpoint.port, "/metrics")
        assert kind.startswith("text/plain")
        assert 'kproto_pushes_total{vlog="1"} 17.0' in text
        assert 'kproto_pushes_total{vlog="2"} 4.0' in text
        assert "kproto_lag_bytes 3.5" in text
        kind, text = await get(endpoint.port, "/vlogs")
        assert (kind, json.loads(text)) == ("application/json", [{"vlog": 1}])
        assert (await get(endpoint.port, "/vlogs?pretty=1"))[1] == text
        for path in ("/nothing", "/?/vlogs"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                await get(endpoint.port, path)
        port = endpoint.port
        endpoint.close()
        with pytest.raises(urllib.error.URLError):
            await get(port, "/metrics")

    asyncio.run(run())


@pytest.mark.parametrize(
    ("host", "asked"),
    [
        ("::1", ["[::1]"]),
        ("::", ["[::1]", "127.0.0.1"]),
        ("localhost", ["localhost"]),
        ("", ["127.0.0.1"]),
    ],
)
def test_it_listens_wherever_brokers_do(host: str, asked: list[str]) -> None:
    async def run() -> None:
        endpoint = MetricsEndpoint(take_address(host, 0))
        endpoint.start({"/metrics": some}, {})
        for where in asked:
            assert "kproto_lag_bytes 3.5" in (await get(endpoint.port, "/metrics", where))[1]
        endpoint.close()

    asyncio.run(run())


def test_who_asks_for_the_head_gets_no_more() -> None:
    async def run() -> None:
        endpoint = MetricsEndpoint(take_address("127.0.0.1", 0))
        endpoint.start({"/metrics": some}, {"/vlogs": lambda: [1]})

        def head() -> bytes:
            with socket.create_connection(("127.0.0.1", endpoint.port), 20) as sock:
                sock.sendall(b"HEAD /vlogs HTTP/1.0\r\n\r\n")
                return b"".join(iter(lambda: sock.recv(1 << 16), b""))

        answer = await asyncio.to_thread(head)
        assert answer.startswith(b"HTTP/1.0 200 ")
        assert b"\r\nContent-Length: 3\r\n" in answer
        assert answer.endswith(b"\r\n\r\n")
        endpoint.close()

    asyncio.run(run())


def test_who_goes_away_before_the_answer_is_no_news(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A page that cannot be made is."""

    async def run() -> None:
        asked, gone = asyncio.Event(), asyncio.Event()

        async def slow() -> list[int]:
            asked.set()
            await gone.wait()
            return [1]

        endpoint = MetricsEndpoint(take_address("127.0.0.1", 0))
        endpoint.start({"/metrics": some}, {"/slow": slow, "/wrong": object})
        sock = socket.create_connection(("127.0.0.1", endpoint.port), 20)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.sendall(b"GET /slow HTTP/1.0\r\n\r\n")
        await asked.wait()
        sock.close()
        gone.set()
        server = endpoint._server
        assert server is not None
        while server._asking:
            await asyncio.sleep(0.01)
        assert (caplog.text, capfd.readouterr().err) == ("", "")
        with pytest.raises((urllib.error.URLError, ConnectionError)):
            await get(endpoint.port, "/wrong")
        while server._asking:
            await asyncio.sleep(0.01)
        assert "a page could not be shown" in caplog.text
        assert "Object of type object is not JSON serializable" in caplog.text
        endpoint.close()

    asyncio.run(asyncio.wait_for(run(), 60))


def test_what_takes_too_long_is_not_gathered_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each scrape began another one, and a busy broker got busier."""
    monkeypatch.setattr(metrics, "ANSWER_S", 0.2)

    async def run() -> None:
        ended = asyncio.Event()

        async def slow() -> list[Metric]:
            try:
                await asyncio.sleep(3600)
            finally:
                ended.set()
            return []

        endpoint = MetricsEndpoint(take_address("127.0.0.1", 0))
        endpoint.start({"/metrics": some, "/slow": slow}, {"/page": slow})
        for path in ("/slow", "/page"):
            with pytest.raises(urllib.error.HTTPError, match="503"):
                await get(endpoint.port, path)
            await asyncio.wait_for(ended.wait(), 20)
            ended.clear()
        assert "kproto_lag_bytes 3.5" in (await get(endpoint.port, "/metrics"))[1]
        endpoint.close()

    asyncio.run(run())


def test_an_endpoint_that_nobody_asked_ends_at_once() -> None:
    async def run() -> None:
        endpoint = MetricsEndpoint(take_address("127.0.0.1", 0))
        endpoint.start({"/metrics": some}, {})
        threads = [each for each in threading.enumerate() if each.name == "kproto-metrics"]
        with pytest.raises(OSError, match="in use"):
            take_address("127.0.0.1", endpoint.port)
        endpoint.close()
        with pytest.raises(urllib.error.URLError):
            await get(endpoint.port, "/metrics")
        for thread in threads:
            await asyncio.to_thread(thread.join, 30)
            assert not thread.is_alive()

    asyncio.run(run())


def test_without_a_descriptor_who_asks_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What answers the first question is imported for it; that needs some."""
    serving, refused = MetricsEndpoint._serving, []

    def scarce(endpoint: MetricsEndpoint, listener: socket.socket) -> metrics_http.PagesServer | None:
        if len(refused) < 2:
            refused.append(listener)
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return serving(endpoint, listener)

    monkeypatch.setattr(MetricsEndpoint, "_serving", scarce)

    async def run() -> None:
        endpoint = MetricsEndpoint(take_address("127.0.0.1", 0))
        endpoint.start({"/metrics": some}, {})
        assert "kproto_lag_bytes 3.5" in (await get(endpoint.port, "/metrics"))[1]
        assert len(refused) == 2
        endpoint.close()

    asyncio.run(run())


def test_what_serves_pages_is_imported_when_somebody_asks() -> None:
    """A broker that starts has no time for it."""
    program = "import sys; import kproto.figures, kproto.broker; print('http.server' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", program]) == b"False\n"


def test_the_end_of_the_broker_does_not_wait_for_the_listener(monkeypatch: pytest.MonkeyPatch) -> None:
    """`close` runs on the event loop, while clients of a broker that leaves still ask it who leads now."""
    forever = ThreadingHTTPServer.serve_forever
    monkeypatch.setattr(ThreadingHTTPServer, "serve_forever", lambda server: forever(server, 3600.0))

    async def run() -> None:
        endpoint = MetricsEndpoint(take_address("127.0.0.1", 0))
        endpoint.start({"/metrics": some}, {})
        await get(endpoint.port, "/metrics")
        await asyncio.wait_for(asyncio.to_thread(endpoint.close), 30)
        with pytest.raises(urllib.error.URLError):
            await get(endpoint.port, "/metrics")

    asyncio.run(run())
