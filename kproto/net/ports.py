"""What the layers above need of the connections to other brokers, so that a simulator can stand in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

Buffer = bytes | bytearray | memoryview
"""One-dimensional, of bytes: ``len`` counts bytes."""


class PeerError(Exception):
    """A call had no answer: the peer is unreachable, was lost meanwhile, or took too long."""


class Answer(NamedTuple):
    """``error`` is an :class:`~kproto.wire.internal.InternalError`; ``body`` stays valid."""

    error: int
    body: memoryview


Done = Callable[[Answer | None], object]
"""Called exactly once, on the event loop and never before ``request`` has returned. None: no answer will
come, and nobody knows whether the peer did what was asked."""


class PeersPort(Protocol):
    """Requests to other brokers by node id. See :class:`~kproto.net.peers.Peers`."""

    def request(self, node_id: int, api: int, pieces: Sequence[Buffer], done: Done) -> None:
        """Send ``pieces`` as the body of a request; they must not change before ``done`` is called."""
        ...

    async def call(self, node_id: int, api: int, body: Buffer = b"", timeout: float = 10.0) -> Answer:
        """One request and its answer within ``timeout`` seconds; raises :class:`PeerError`."""
        ...
