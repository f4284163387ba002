"""What a handler is given: the request's surroundings and the broker's services.

An ordinary handler module ends with ``HANDLER = Handler(key=..., min_version=..., max_version=...,
handle=handle)`` where ``handle(ctx, request)`` takes the generated request class and returns the generated
response class, or an awaitable of it; where it may take long it is, or awaits, a generator that returns it
(see ``turns``). A raw handler (Produce, Fetch) gets the frame instead, keeps state of its own and answers
through the exchange itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kproto.log.line import Line
from kproto.metadata.vlogs import VlogTable
from kproto.trouble import Seldom

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.config import Settings
    from kproto.controller import Controller
    from kproto.handlers.forwarding import RemoteController
    from kproto.handlers.groups.coordinator import GroupCoordinator
    from kproto.log.manager import LogManager
    from kproto.metadata import MetadataImage
    from kproto.metadata.client import Forward
    from kproto.metadata.suspects import Suspects
    from kproto.net.budget import MemoryBudget
    from kproto.net.server import Exchange
    from kproto.net.threads import BlockingPool


@dataclass(slots=True)
class Services:
    """One broker's parts, as the handlers use them. Filled once by ``broker``; never changed afterwards."""

    settings: Settings
    node_id: int
    clock: Clock
    image: Callable[[], MetadataImage]
    """The newest applied metadata image; immutable."""
    controller: Controller | RemoteController
    logs: LogManager
    groups: GroupCoordinator
    budget: MemoryBudget
    """Bytes of requests and responses in memory, over all connections."""
    blocking: BlockingPool
    """Bounded threads for calls that read files: ``await blocking.run(function, *arguments)``."""
    host: str
    """The advertised host of this broker."""
    port: int
    """The advertised port of this broker."""
    table: VlogTable = field(default_factory=VlogTable)
    """Virtual segments and fenced brokers, at the revision of the image; empty outside a cluster."""
    forward: Forward | None = None
    """Has another broker, the controller, answer a client's request; None where the controller is here."""
    suspects: Suspects | None = None
    """Brokers that seem to be dead; None outside a cluster."""
    look_ups: Line = field(default_factory=Line)
    """Those by time, a client's address after the other's."""
    refusals: Seldom = field(init=False)
    """What the operator is told of, since few clients show more than the error's code: by address."""

    def __post_init__(self) -> None:
        self.refusals = Seldom(self.clock)


@dataclass(slots=True)
class RequestContext:
    """One request: who asks and in which version. ``peer`` is the client's IP address."""

    version: int
    correlation_id: int
    client_id: str | None
    peer: str
    broker: Services


Handle = Callable[[RequestContext, Any], Any | Awaitable[Any]]
RawHandle = Callable[["Exchange", int, int, memoryview, int, bool], None]
"""``(exchange, version, correlation id, frame, body position, owned)``; must answer through the exchange.
Unless ``owned``, the frame's memory is reused as soon as the call returns. Raises WireError for rubbish."""


@dataclass(frozen=True, slots=True)
class Handler:
    """One API: its key, the versions it serves and what does so: ``handle``, or ``raw``, which makes the
    broker's one raw handler on the first request."""

    key: int
    min_version: int
    max_version: int
    handle: Handle | None = None
    raw: Callable[[Services], RawHandle] | None = None
    open_ended: bool = False
    """The answer may take minutes: it is up to other clients."""
