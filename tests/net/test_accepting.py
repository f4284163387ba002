"""Where a server listens, and who is accepted when there are few descriptors."""

import contextlib
import os
import selectors
import socket
from collections.abc import Iterable

import pytest

from kproto.net.server import Limits, take_address
from tests.net.test_server import echo, frame, receive, until


def ready(socks: Iterable[socket.socket], timeout: float | None = 0) -> list[socket.socket]:
    """Those with something to read. Descriptors may be too large for select(), and epoll needs one itself."""
    with selectors.PollSelector() as selector:
        for sock in socks:
            selector.register(sock, selectors.EVENT_READ)
        return [key.fileobj for key, _ in selector.select(timeout) if isinstance(key.fileobj, socket.socket)]


def test_whenever_a_connection_goes_one_comes_not_two(serve):
    """At the limit each that went was followed by two: in the end connections had all descriptors."""

    def last() -> int:
        return max(connection._sock.fileno() for connection in running.server._connections)

    with contextlib.ExitStack() as opened:
        socks = [opened.enter_context(socket.socket()) for _ in range(40)]
        top = max(map(int, os.listdir("/proc/self/fd"))) + 30
        running = serve(echo, limits=Limits(descriptors=top + 20))
        while (number := os.open(os.devnull, os.O_RDONLY)) < top:  # no free ones below
            opened.callback(os.close, number)
        opened.callback(os.close, number)
        for sock in socks:
            sock.settimeout(60)
            sock.connect(("127.0.0.1", running.port))
            sock.sendall(frame(b"x"))
        until(lambda: running.run(lambda: bool(running.server._paused)))
        assert running.run(last) < top + 20
        waiting = set(socks)
        for _ in range(8):
            served = ready(waiting, None)[0]
            assert receive(served) == b"x"
            waiting.remove(served)
            before = len(ready(waiting))
            served.shutdown(socket.SHUT_RDWR)  # its own descriptor stays open
            until(lambda before=before: len(ready(waiting)) > before)
            assert running.run(last) < top + 20


def test_of_a_name_with_both_kinds_of_addresses_the_one_of_ipv4_is_taken(monkeypatch: pytest.MonkeyPatch):
    """localhost is ::1 first in many a /etc/hosts, and 127.0.0.1 was refused then."""
    found = [socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0] for host in ("::1", "127.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with take_address("localhost", 0) as sock:
        assert sock.getsockname()[0] == "127.0.0.1"
    del found[1]
    with take_address("localhost", 0) as sock:
        assert sock.getsockname()[0] == "::1"
