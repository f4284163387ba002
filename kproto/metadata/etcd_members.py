"""Calls to the members of an etcd cluster: the next member is tried when one does not answer.

Over the gRPC stubs of ``aetcd`` rather than its client, which knows one member, reads whole ranges only and
not at a revision, and drops what a watch says about whole revisions. Every call made here may be repeated:
reads, writes that compare what they were decided on, leases under an id of our own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import grpc
from aetcd import rpc

from kproto.metadata.store import CompactedError, StoreError, UnreachableError

PATIENCE_S: Final = 10.0
"""How long a call is repeated before it fails."""
ATTEMPT_S: Final = 3.0
"""How long one member may take to answer."""
PAUSE_S: Final = 0.05
"""Wait after every member was tried once."""

_LASTING: Final = frozenset(
    (
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.UNIMPLEMENTED,
    )
)
"""What another member would answer as well; nothing was written."""

_OPTIONS: Final = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1000),
    ("grpc.max_reconnect_backoff_ms", 1000),
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),
)

Method = Callable[..., Awaitable[Any]]


class RefusedError(StoreError):
    """etcd refused the request; nothing was written."""


class Member:
    """One address, its channel and the stubs on it."""

    __slots__ = ("address", "channel", "kv", "lease", "watch")

    def __init__(self, address: str) -> None:
        self.address = address
        self.channel = grpc.aio.insecure_channel(address, options=_OPTIONS)
        self.kv = rpc.KVStub(self.channel)
        self.lease = rpc.LeaseStub(self.channel)
        self.watch = rpc.WatchStub(self.channel)

    async def keep_alive(self, request: Any, timeout: float) -> Any:
        """Renew a lease once: etcd has only a stream for it."""
        stream = self.lease.LeaseKeepAlive(timeout=timeout)
        try:
            await stream.write(request)
            response = await stream.read()
        except asyncio.InvalidStateError:
            response = grpc.aio.EOF
        finally:
            stream.cancel()
        if response is grpc.aio.EOF:
            raise UnreachableError(f"{self.address} ended the renewal of a lease")
        return response


class Members:
    """The members named in the URL; one of them is used until it fails."""

    __slots__ = ("_closed", "_members", "_place", "failures")

    def __init__(self, addresses: Sequence[str]) -> None:
        self._members = [Member(address) for address in addresses]
        self._place = 0
        self._closed = False
        self.failures = 0
        """Calls that one member did not answer so far."""

    def __str__(self) -> str:
        return "etcd at " + ", ".join(member.address for member in self._members)

    def __len__(self) -> int:
        return len(self._members)

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def current(self) -> Member:
        """The member that is used now."""
        if self._closed:
            raise StoreError(f"{self}: the metadata store is closed")
        return self._members[self._place]

    def leave(self, member: Member) -> None:
        """Use the next one, unless another call has gone on already."""
        self.failures += 1
        if self._members[self._place] is member:
            self._place = (self._place + 1) % len(self._members)

    async def call(
        self,
        method: Callable[[Member], Method],
        request: Any,
        patience: float = PATIENCE_S,
        attempt: float = ATTEMPT_S,
    ) -> Any:
        """The answer of the first member that gives one.

        Raises :class:`RefusedError`, :class:`CompactedError` and, after ``patience`` seconds,
        :class:`UnreachableError`.
        """
        clock = asyncio.get_running_loop().time
        until = clock() + patience
        tries = 0
        while True:
            member = self.current
            try:
                return await method(member)(request, timeout=max(0.05, min(attempt, until - clock())))
            except grpc.aio.AioRpcError as error:
                self.refuse(error)
                reason = error.details() or error.code().name
            except UnreachableError as error:
                reason = str(error)
            except asyncio.CancelledError:
                if self._closed and not _cancelled():
                    raise StoreError(f"{self}: the metadata store is closed") from None
                raise
            self.leave(member)
            tries += 1
            if clock() >= until:
                raise UnreachableError(f"{self}: no answer within {patience:g} s ({reason})")
            if tries % len(self._members) == 0:
                await asyncio.sleep(PAUSE_S)

    def refuse(self, error: Any) -> None:
        """Raise when asking another member would not help."""
        details = error.details() or error.code().name
        if error.code() is grpc.StatusCode.OUT_OF_RANGE and "compacted" in details:
            raise CompactedError(f"{self}: {details}") from None
        exhausted = error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED and "too many requests" not in details
        if exhausted or error.code() in _LASTING:
            raise RefusedError(f"{self}: {details}") from None

    async def close(self) -> None:
        """End all calls and connections."""
        self._closed = True
        for member in self._members:
            await member.channel.close()


def _cancelled() -> bool:
    """The running task itself is being cancelled, not just the call that it waits for."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
