"""A background thread for calls that wait for the disk and release the GIL: fdatasync, fallocate."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

_Result = TypeVar("_Result")


class Loop(Protocol):
    """The part of an event loop that virtual logs use; ``asyncio``'s has it."""

    def call_soon(self, callback: Callable[..., object], *args: Any) -> Any: ...

    def call_soon_threadsafe(self, callback: Callable[..., object], *args: Any) -> Any: ...

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any) -> Any: ...

    def call_exception_handler(self, context: dict[str, Any]) -> None: ...


Done = Callable[[BaseException | None], object]


class Jobs(Protocol):
    """What calls that wait for the disk are given to."""

    def submit(self, call: Callable[[], object], done: Done) -> None:
        """Have ``call()`` run, then ``done(error or None)`` on the loop; in the order of the calls."""
        ...


class Works(Jobs, Protocol):
    """What does calls that wait for the disk: a `Worker`, or a simulator's stand-in."""

    def close(self) -> None:
        """Finish what was submitted."""
        ...


class Worker:
    """One thread, started on first use, that runs calls in order. All methods on the loop."""

    __slots__ = ("_loop", "_name", "_queue", "_thread")

    def __init__(self, loop: Loop, name: str) -> None:
        self._loop = loop
        self._name = name
        self._queue: SimpleQueue[tuple[Callable[[], object], Done] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def submit(self, call: Callable[[], object], done: Done) -> None:
        """Run ``call()`` in the thread, then ``done(error or None)`` on the loop."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        self._queue.put((call, done))

    def close(self) -> None:
        """Finish what was submitted and end the thread; waits for it."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            call, done = job
            error: BaseException | None = None
            try:
                call()
            except BaseException as raised:
                error = raised
            try:
                self._loop.call_soon_threadsafe(done, error)
            except RuntimeError:  # the loop is closed: nobody waits for the answer
                return


async def in_worker(worker: Jobs, job: Callable[[], _Result]) -> _Result:
    """The result of ``job()``, run by ``worker``; its exception is raised here."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    results: list[_Result] = []

    def done(error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)

    worker.submit(lambda: results.append(job()), done)
    await future
    return results[0]
