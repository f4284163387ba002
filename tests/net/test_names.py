"""Names of brokers whose name server answers, fails, or says nothing."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from kproto.net.names import Names

HERE = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 9092))


class Server:
    """Name servers: that of ``silent`` says nothing until the end."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.ended = threading.Event()

    def getaddrinfo(self, host: str, port: int, **_: Any) -> list[Any]:
        self.asked.append(host)
        if host == "silent":
            self.ended.wait()
        if host == "unknown":
            raise socket.gaierror(-2, "Name or service not known")
        return [HERE]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    server = Server()
    monkeypatch.setattr(socket, "getaddrinfo", server.getaddrinfo)
    yield server
    server.ended.set()


def test_a_silent_name_server_holds_up_neither_others_nor_the_end(server: Server) -> None:
    """Each try to connect was one more look-up: soon no thread was left for other names, nor for reading
    files, and a stop took 10 seconds more."""

    async def test() -> None:
        names = Names(asyncio.get_running_loop())
        for _ in range(100):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(names.find("silent", 9092), 0.001)
        assert await names.find("known", 9092) == [(socket.AF_INET, ("127.0.0.1", 9092))]
        assert await asyncio.get_running_loop().run_in_executor(None, lambda: 7) == 7

    asyncio.run(test())
    assert not server.ended.is_set()
    assert server.asked == ["silent", "known"]


def test_an_answer_after_the_end_is_heard_by_nobody(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    problems: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", problems.append)

    async def test() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(Names(asyncio.get_running_loop()).find("silent", 9092), 0.001)

    before = set(threading.enumerate())
    asyncio.run(test())
    (asking,) = (one for one in set(threading.enumerate()) - before if one.name == "kproto-names")
    assert asking.daemon, "the process does not wait for it"
    server.ended.set()
    asking.join(10)
    assert not asking.is_alive()
    assert not problems


def test_who_comes_while_a_name_is_looked_up_gets_the_same_and_the_next_one_asks_anew(server: Server) -> None:
    async def test() -> None:
        names = Names(asyncio.get_running_loop())
        both = [asyncio.create_task(names.find("silent", 9092)) for _ in range(2)]
        await asyncio.sleep(0)
        server.ended.set()
        assert await both[0] == await both[1] == await names.find("silent", 9092)

    asyncio.run(test())
    assert server.asked == ["silent", "silent"]


def test_a_name_that_is_not_known_is_told_to_all_who_wait(server: Server) -> None:
    async def test() -> None:
        names = Names(asyncio.get_running_loop())
        both = await asyncio.gather(*(names.find("unknown", 1) for _ in range(2)), return_exceptions=True)
        assert [str(one) for one in both] == ["[Errno -2] Name or service not known"] * 2
        assert [type(one) for one in both] == [socket.gaierror] * 2
        assert both[0] is not both[1]

    asyncio.run(test())
    assert server.asked == ["unknown"]


@pytest.mark.parametrize(("host", "family"), [("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)])
def test_an_address_costs_no_look_up(server: Server, host: str, family: int) -> None:
    async def test() -> None:
        assert await Names(asyncio.get_running_loop()).find(host, 1) == [(family, (host, 1))]

    asyncio.run(test())
    assert server.asked == []


def test_a_system_without_a_thread_to_give_knows_no_name(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def test() -> None:
        names = Names(asyncio.get_running_loop())
        with monkeypatch.context() as context:
            context.setattr(threading.Thread, "start", start)
            with pytest.raises(OSError, match="can't start new thread"):
                await names.find("known", 1)
        assert await names.find("known", 1)

    asyncio.run(test())
