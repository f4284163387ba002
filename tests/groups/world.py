"""A coordinator with real metadata, handlers and codecs over a log in memory."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from kproto.config import load
from kproto.controller import Controller, NewTopic, TopicRef
from kproto.controller.registration import Registration
from kproto.handlers import registry
from kproto.handlers.context import RequestContext, Services
from kproto.handlers.groups.coordinator import GroupCoordinator
from kproto.handlers.turns import answer_of
from kproto.metadata.memory import MemoryStore
from kproto.wire.messages import codec
from tests.controller.virtual_time import VirtualClock, run_virtual
from tests.groups.memory_log import MemoryLog
from tests.no_storage import unopened_logs

FIND, JOIN, HEARTBEAT, LEAVE, SYNC, DESCRIBE, LIST = 10, 11, 12, 13, 14, 15, 16
COMMIT, FETCH, DELETE_GROUPS, OFFSET_DELETE = 8, 9, 42, 47


class World:
    """One broker's worth of group coordination. ``port`` survives :meth:`restart`."""

    def __init__(self, port: MemoryLog | None = None, **settings: str) -> None:
        self.port = port if port is not None else MemoryLog()
        defaults = {
            "node.id": "0",
            "group.initial.rebalance.delay.ms": "0",
            "group.min.session.timeout.ms": "50",
        }
        names = {name.replace("_", "."): value for name, value in settings.items()}
        self.settings = load(None, {**defaults, **names})
        self.controller = Controller(MemoryStore(), self.settings, 0)

    async def start(self, *topics: str) -> None:
        self.clock = VirtualClock(asyncio.get_running_loop())  # type: ignore[arg-type]
        await self.controller.start()
        await self.controller.register_broker(Registration(0, "127.0.0.1", 9092))
        await self.create(*topics)
        self.begin()

    def begin(self) -> None:
        """A (re)started coordinator over the same log and metadata."""
        self.groups = GroupCoordinator(
            self.settings,
            0,
            self.clock,
            lambda: self.controller.image,
            self.controller.ensure_offsets_topic,
            self.port,
        )
        self.controller.subscribe(self.groups.on_image)
        self.groups.start()
        self.services = Services(
            settings=self.settings,
            node_id=0,
            clock=self.clock,
            image=lambda: self.controller.image,
            controller=self.controller,
            logs=unopened_logs(self.controller, self.settings, self.clock),
            groups=self.groups,
            budget=None,  # type: ignore[arg-type]
            blocking=None,  # type: ignore[arg-type]
            host="127.0.0.1",
            port=9092,
        )

    def restart(self) -> None:
        self.groups.close()
        self.begin()

    async def create(self, *topics: str) -> None:
        await self.controller.create_topics([NewTopic(name, 3, 1) for name in topics])

    async def delete(self, topic: str) -> None:
        await self.controller.delete_topics([TopicRef(name=topic)])

    async def call(self, key: int, version: int, /, **fields: Any) -> Any:
        """Send a request through codec and handler and return the parsed response."""
        api = codec(key)
        module = __import__(module_name(api.name), fromlist=["x"])
        request = getattr(module, api.name + "Request")(**fields)
        out = bytearray()
        api.write_request(version, request, out)
        parsed, end = api.parse_request(version, memoryview(bytes(out)))
        assert end == len(out)
        handler = registry.handler(key)
        assert handler is not None
        assert handler.handle is not None
        context = RequestContext(version, 1, "c", "127.0.0.1", self.services)
        response = await answer_of(handler.handle(context, parsed))
        out = bytearray()
        if isinstance(response, bytes):
            out += response
        else:
            api.write_response(version, response, out)
        return api.parse_response(version, memoryview(bytes(out)))[0]


def module_name(api: str) -> str:
    """The module with the generated classes of an API."""
    snake = "".join("_" + c.lower() if c.isupper() else c for c in api).lstrip("_")
    return f"kproto.wire.generated.{snake}"


def scenario(*topics: str, **settings: str) -> Callable[..., Callable[[], None]]:
    """Run an async test in a fresh world with ``topics``, on virtual time."""

    def decorate(test: Callable[[World], Awaitable[None]]) -> Callable[[], None]:
        async def body() -> None:
            world = World(**settings)
            await world.start(*topics)
            try:
                await test(world)
            finally:
                world.groups.close()

        def run() -> None:
            run_virtual(body())

        run.__name__ = getattr(test, "__name__", "test")
        run.__doc__ = test.__doc__
        return run

    return decorate
