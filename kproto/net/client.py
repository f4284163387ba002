"""A small client for tests and commands: one connection, generated messages in both directions.

No retries, no metadata, no pooling: what is sent is what the caller says. :class:`Client` blocks,
:class:`AsyncClient` runs on the current event loop; both may pipeline (send several, then receive).
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from itertools import count
from types import TracebackType
from typing import Any

from kproto.wire.framing import LENGTH, LENGTH_SIZE, MAX_RESPONSE_BYTES, parse_response_frame, request_frame


class _Pipeline:
    """What both clients share: correlation ids and which answer comes next."""

    def __init__(self, client_id: str) -> None:
        self._client_id = client_id
        self._ids = count(1)
        self._expected: deque[tuple[int, int, int]] = deque()

    def _frame(self, key: int, version: int, message: Any) -> bytes:
        correlation_id = next(self._ids)
        self._expected.append((key, version, correlation_id))
        return request_frame(key, version, message, correlation_id, self._client_id)

    def _message(self, frame: memoryview) -> Any:
        key, version, expected = self._expected.popleft()
        correlation_id, message = parse_response_frame(key, version, frame)
        if correlation_id != expected:
            raise ConnectionError(f"answer {correlation_id} came where {expected} was due")
        return message


def _frame_size(prefix: bytes) -> int:
    size: int = LENGTH.unpack(prefix)[0]
    if not 0 <= size <= MAX_RESPONSE_BYTES:
        raise ConnectionError(f"a response of {size} bytes (does it speak TLS, or HTTP?)")
    return size


class Client(_Pipeline):
    """A blocking connection. Errors are OSError; a closed connection is ConnectionError."""

    def __init__(self, host: str, port: int, *, timeout: float = 30.0, client_id: str = "kproto") -> None:
        super().__init__(client_id)
        self.socket = socket.create_connection((host, port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def call(self, key: int, version: int, message: Any) -> Any:
        """Send one request and return its answer."""
        self.send(key, version, message)
        return self.receive()

    def send(self, key: int, version: int, message: Any) -> None:
        """Send one request; its answer is for :meth:`receive`."""
        self.socket.sendall(self._frame(key, version, message))

    def send_unanswered(self, key: int, version: int, message: Any) -> None:
        """Send a request that gets no answer (Produce with acks=0)."""
        self.socket.sendall(self._frame(key, version, message))
        self._expected.pop()

    def receive(self) -> Any:
        """The answer of the oldest request that has none yet."""
        return self._message(self.receive_frame())

    def receive_frame(self) -> memoryview:
        """The next frame as bytes, whatever it is."""
        return memoryview(self._exactly(_frame_size(self._exactly(LENGTH_SIZE))))

    def _exactly(self, size: int) -> bytes:
        data = bytearray(size)
        view = memoryview(data)
        while view:
            received = self.socket.recv_into(view)
            if received == 0:
                raise ConnectionError("the broker closed the connection")
            view = view[received:]
        return bytes(data)

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient(_Pipeline):
    """The same on the running event loop: ``client = await AsyncClient.connect(host, port)``."""

    def __init__(self, sock: socket.socket, client_id: str) -> None:
        super().__init__(client_id)
        self.socket = sock
        self._buffer = bytearray()

    @classmethod
    async def connect(cls, host: str, port: int, *, client_id: str = "kproto") -> AsyncClient:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        sock = socket.socket(found[0][0], socket.SOCK_STREAM)
        sock.setblocking(False)
        try:
            await loop.sock_connect(sock, found[0][4])
        except BaseException:
            sock.close()
            raise
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return cls(sock, client_id)

    async def call(self, key: int, version: int, message: Any) -> Any:
        """Send one request and return its answer."""
        await self.send(key, version, message)
        return await self.receive()

    async def send(self, key: int, version: int, message: Any) -> None:
        """Send one request; its answer is for :meth:`receive`."""
        await asyncio.get_running_loop().sock_sendall(self.socket, self._frame(key, version, message))

    async def receive(self) -> Any:
        """The answer of the oldest request that has none yet. One receiver at a time."""
        size = _frame_size(bytes(await self._take(LENGTH_SIZE)))
        return self._message(memoryview(bytes(await self._take(size))))

    async def _take(self, size: int) -> bytearray:
        loop = asyncio.get_running_loop()
        while len(self._buffer) < size:
            data = await loop.sock_recv(self.socket, 1 << 18)
            if not data:
                raise ConnectionError("the broker closed the connection")
            self._buffer += data
        taken = self._buffer[:size]
        del self._buffer[:size]
        return taken

    def close(self) -> None:
        self.socket.close()
