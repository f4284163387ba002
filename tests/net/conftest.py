"""A real server on its own loop and thread; tests talk to it over real sockets."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kproto.net import internal, peers, silence
from kproto.net.budget import MemoryBudget
from kproto.net.server import Dispatch, Limits, Server


class Running:
    """A server in a thread. ``run(f)`` calls ``f`` on the loop, awaits a coroutine, returns the result."""

    def __init__(
        self,
        dispatch: Dispatch,
        budget: MemoryBudget,
        limits: Limits,
        new_loop: Callable[[], asyncio.AbstractEventLoop],
    ) -> None:
        self.budget = budget
        self.loop = new_loop()
        self.errors: list[dict[str, Any]] = []
        self.loop.set_exception_handler(lambda _, context: self.errors.append(context))
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

        async def start() -> tuple[Server, int]:
            server = Server(dispatch, budget, limits)
            return server, server.listen("127.0.0.1", 0)

        self.server, self.port = asyncio.run_coroutine_threadsafe(start(), self.loop).result(120)

    def run(self, function: Callable[[], Any]) -> Any:
        async def call() -> Any:
            result = function()
            return await result if asyncio.iscoroutine(result) else result

        return asyncio.run_coroutine_threadsafe(call(), self.loop).result(120)

    def stop(self) -> None:
        self.run(self.server.close)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(60)
        self.loop.close()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ends stand still together on a busy machine; who tests a limit sets it."""
    monkeypatch.setattr(peers, "CONNECT_SECONDS", 600.0)
    monkeypatch.setattr(silence, "UNANSWERED_MS", 600_000)
    monkeypatch.setattr(internal, "GREETING_SECONDS", 600.0)
    monkeypatch.setattr(peers.Peers.call, "__defaults__", (b"", 600.0))


@pytest.fixture
def serve() -> Iterator[Callable[..., Running]]:
    started: list[Running] = []

    def start(
        dispatch: Dispatch,
        *,
        budget: int = 1 << 28,
        limits: Limits | None = None,
        new_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
    ) -> Running:
        running = Running(dispatch, MemoryBudget(budget), limits or Limits(), new_loop)
        started.append(running)
        return running

    yield start
    for running in started:
        running.stop()
        assert running.errors == []
        assert running.budget.used == 0
        assert running.budget.partial == 0
