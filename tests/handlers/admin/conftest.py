"""The handlers of metadata, configs and topics behind their codecs, on a real controller.

No sockets, and of the storage only the settings in force: what is answered comes from the image. Every
request and every answer goes through the codec of the version it is sent in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from kproto.clock import ManualClock
from kproto.config import load
from kproto.controller import Controller
from kproto.controller.registration import Registration
from kproto.handlers import registry
from kproto.handlers.context import RequestContext, Services
from kproto.handlers.turns import answer_of
from kproto.metadata.memory import MemoryStore
from kproto.wire.messages import codec
from tests.no_storage import unopened_logs


class Served:
    """A controller with brokers 1..n and the handlers on broker 1; ``call`` is what a client would do.

    ``own`` are settings that only broker 1 has, not the controller."""

    def __init__(
        self,
        settings: dict[str, str] | None = None,
        brokers: int = 1,
        own: dict[str, str] | None = None,
    ) -> None:
        self.runner = asyncio.Runner()
        self.controller = self.runner.run(self._started(settings or {}, brokers, own or {}))

    async def _started(self, settings: dict[str, str], brokers: int, own: dict[str, str]) -> Controller:
        controller = Controller(MemoryStore(), load(None, settings), 1)
        await controller.start()
        for node_id in range(1, brokers + 1):
            await controller.register_broker(
                Registration(node_id, f"host{node_id}", 9091 + node_id, f"rack{node_id}")
            )
        clock, started = ManualClock(), load(None, {"node.id": "1", **settings, **own})
        self.services = Services(
            settings=started,
            node_id=1,
            clock=clock,
            image=lambda: self.controller.image,
            controller=controller,
            logs=unopened_logs(controller, started, clock),
            groups=None,  # type: ignore[arg-type]
            budget=None,  # type: ignore[arg-type]
            blocking=None,  # type: ignore[arg-type]
            host="host1",
            port=9092,
        )
        return controller

    def call(self, key: int, version: int, request: Any) -> Any:
        """Send a request in a version: encoded, parsed, handled, answered, parsed again."""
        messages, handler = codec(key), registry.handler(key)
        assert handler is not None
        assert handler.handle is not None
        out = bytearray()
        messages.write_request(version, request, out)
        parsed, end = messages.parse_request(version, memoryview(bytes(out)), 0)
        assert end == len(out)
        response = self.runner.run(
            answer_of(handler.handle(RequestContext(version, 1, "test", "127.0.0.1", self.services), parsed))
        )
        answer = bytearray()
        if isinstance(response, bytes):
            answer += response
        else:
            messages.write_response(version, response, answer)
        received, end = messages.parse_response(version, memoryview(bytes(answer)), 0)
        assert end == len(answer)
        return received

    def close(self) -> None:
        self.runner.close()


@pytest.fixture
def served() -> Iterator[Served]:
    """One broker with Kafka's defaults."""
    world = Served()
    yield world
    world.close()


@pytest.fixture
def cluster() -> Iterator[Served]:
    """Three brokers, each in a rack of its own."""
    world = Served(brokers=3)
    yield world
    world.close()


@pytest.fixture
def frugal() -> Iterator[Served]:
    """One broker that creates no topics by itself."""
    world = Served({"auto.create.topics.enable": "false"})
    yield world
    world.close()


@pytest.fixture
def tuned() -> Iterator[Served]:
    """One broker with some settings of its own."""
    world = Served({"log.retention.hours": "1", "num.partitions": "4"})
    yield world
    world.close()


@pytest.fixture
def spelled() -> Iterator[Served]:
    """One broker whose settings are not spelled as they are shown."""
    world = Served({"log.preallocate": "TRUE", "log.retention.hours": "+1", "num.partitions": "+4"})
    yield world
    world.close()


@pytest.fixture
def small() -> Iterator[Served]:
    """One broker with a smaller journal than the controller expects."""
    world = Served(own={"kproto.journal.bytes": str(256 << 20)})
    yield world
    world.close()
