"""A background thread for calls that wait for the disk and release the GIL: fdatasync, fallocate."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final, Protocol, TypeVar

AGAIN_SECONDS: Final = 0.5
"""When the system has no thread to give it is asked again so much later."""

log = logging.getLogger(__name__)

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

    __slots__ = ("_again", "_loop", "_name", "_queue", "_thread")

    def __init__(self, loop: Loop, name: str) -> None:
        self._loop = loop
        self._name = name
        self._queue: SimpleQueue[tuple[Callable[[], object], Done] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._again = False
        """Whether a start failed and is going to be repeated."""

    def submit(self, call: Callable[[], object], done: Done) -> None:
        """Run ``call()`` in the thread, then ``done(error or None)`` on the loop."""
        self._queue.put((call, done))
        if self._thread is None and not self._again:
            self._start()

    def _start(self) -> None:
        """Start the thread, now or when the system has one: whoever submitted waits for an answer."""
        if self._queue.empty():  # closed meanwhile
            self._again = False
            return
        thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            if not self._again:
                log.warning("what %s has to do waits: %s", self._name, error)
            self._again = True
            self._loop.call_later(AGAIN_SECONDS, self._start)
        else:
            self._again = False
            self._thread = thread

    def close(self) -> None:
        """Finish what was submitted, here if there is no thread, and end the thread; waits for it."""
        self._queue.put(None)
        if self._thread is None:
            self._run()
        else:
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
