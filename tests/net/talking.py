"""Two ends of the way between brokers for tests, and a peer by hand."""

import asyncio
import socket
import struct
import time
from collections.abc import Awaitable, Callable

from kproto.net.internal import InternalListener
from kproto.net.peers import Peers
from kproto.wire.internal import Api, InternalError

SECRET = "open sesame"


def run(test: Callable[[], Awaitable[None]]) -> None:
    """Run on a loop of its own; anything the loop reports fails the test."""
    errors: list[dict[str, object]] = []

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context))
        await asyncio.wait_for(test(), 280)
        await asyncio.sleep(0)

    asyncio.run(main())
    assert errors == []


async def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        await asyncio.sleep(0.002)


def listening(node_id: int = 2, secret: str = SECRET, **options) -> tuple[InternalListener, int]:
    listener = InternalListener(secret, node_id=node_id, **options)
    listener.serve(Api.PING, lambda caller, body, reply: reply(InternalError.NONE, body))
    port = listener.bind("127.0.0.1", 0)
    listener.accept()
    return listener, port


def peers_to(port: int, secret: str = SECRET, epoch: int = 7, **options) -> Peers:
    return Peers(1, secret, lambda _: ("127.0.0.1", port), lambda: epoch, **options)


async def is_closed(sock: socket.socket) -> bool:
    try:
        return await asyncio.get_running_loop().sock_recv(sock, 1) == b""
    except ConnectionResetError:
        return True


class Fake:
    """A peer by hand: accepts one connection and greets it, then does what the test says."""

    def __init__(self, hello: bytes | None = None, buffer: int | None = None) -> None:
        self.listener = socket.socket()
        if buffer is not None:
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen()
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]
        self.hello = struct.pack(">iih", 6, 0, 0) if hello is None else hello

    async def accept(self) -> socket.socket:
        loop = asyncio.get_running_loop()
        sock, _ = await loop.sock_accept(self.listener)
        await self.request(sock)
        await loop.sock_sendall(sock, self.hello)
        return sock

    async def request(self, sock: socket.socket) -> tuple[int, int, bytes]:
        """``(api, correlation, body)`` of the next request."""
        size = struct.unpack(">i", await self.exactly(sock, 4))[0]
        frame = await self.exactly(sock, size)
        api, _, correlation = struct.unpack_from(">hhi", frame)
        return api, correlation, frame[20:]

    async def exactly(self, sock: socket.socket, size: int) -> bytes:
        loop = asyncio.get_running_loop()
        data = b""
        while len(data) < size:
            part = await loop.sock_recv(sock, size - len(data))
            assert part, "closed by the peers' side"
            data += part
        return data

    async def answer(self, sock: socket.socket, correlation: int, body: bytes = b"", error: int = 0) -> None:
        frame = struct.pack(">iih", len(body) + 6, correlation, error) + body
        await asyncio.get_running_loop().sock_sendall(sock, frame)
