"""An event loop on virtual time whose callbacks belong to processes: they can be killed and paused.

Whatever a callback schedules belongs to its process. A killed process never runs again; its tasks are kept
until the end, lest the collector run their ``finally`` blocks. A paused one runs later, in order, what came
due meanwhile, as after SIGCONT.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import contextmanager
from heapq import heappop, heappush
from random import Random
from typing import Any

RUNNING, PAUSED, DEAD = "running", "paused", "dead"
MOST_TURNS = 1_000_000
EXECUTOR_S = 0.002
TIMER_JITTER_S = 0.0005
"""Timers fire up to so much late, differently each time."""


class _Handle:
    """What asyncio's handles are, and whose callback it is; without a copy of the context, which nothing
    here looks at."""

    __slots__ = ("args", "callback", "cancelled_", "context", "process", "when_")

    def __init__(self, process: Process | None, callback: Any, args: Any, context: Any = None) -> None:
        self.process = process
        self.callback = callback
        self.args = args
        self.context = context
        self.cancelled_ = False
        self.when_ = 0.0

    def cancel(self) -> None:
        self.cancelled_ = True
        self.callback = self.args = None

    def cancelled(self) -> bool:
        return self.cancelled_

    def when(self) -> float:
        return self.when_


class Process:
    """One process of a node, from its start to its end. ``name`` is for people."""

    def __init__(self, loop: SimLoop, name: str, node: int) -> None:
        self.loop = loop
        self.name = name
        self.node = node
        self.state = RUNNING
        self.backlog: list[_Handle] = []
        self.tasks: list[asyncio.Task[Any]] = []
        self.on_end: list[Callable[[], object]] = []
        """Called by `kill`: what the operating system does then."""

    @property
    def alive(self) -> bool:
        return self.state is not DEAD

    @contextmanager
    def here(self):
        """What is scheduled inside belongs to this process."""
        before, self.loop.current = self.loop.current, self
        try:
            yield
        finally:
            self.loop.current = before

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        with self.here():
            return self.loop.create_task(work)

    def kill(self) -> None:
        if self.state is not DEAD:
            self.state = DEAD
            self.backlog.clear()
            for end in self.on_end:
                end()

    def pause(self) -> None:
        if self.state is RUNNING:
            self.state = PAUSED

    def resume(self) -> None:
        if self.state is PAUSED:
            self.state = RUNNING
            self.loop.take_back(self.backlog)
            self.backlog = []


class SimLoop(asyncio.BaseEventLoop):
    """Time begins at 1,000 s. ``errors`` are exceptions that nobody caught."""

    def __init__(self, random: Random) -> None:
        super().__init__()
        self.now = 1000.0
        self.random = random
        self.current: Process | None = None
        self.processes: list[Process] = []
        self.errors: list[str] = []
        self.turns = 0
        self.timers = 0
        self.set_task_factory(_make_task)
        self.set_exception_handler(_note_error)

    def process(self, name: str, node: int) -> Process:
        """A new process."""
        process = Process(self, name, node)
        self.processes.append(process)
        return process

    def time(self) -> float:
        return self.now

    def call_soon(self, callback, *args, context=None):
        handle = _Handle(self.current, callback, args, context)
        self._ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon

    def call_later(self, delay, callback, *args, context=None):
        return self.call_at(self.now + max(delay, 0.0), callback, *args, context=context)

    def call_at(self, when, callback, *args, context=None):
        handle = _Handle(self.current, callback, args, context)
        handle.when_ = when = when + self.random.random() * TIMER_JITTER_S
        self.timers += 1
        heappush(self._scheduled, (when, self.timers, handle))
        return handle

    def deliver(self, process: Process | None, when: float, callback, *args) -> None:
        """Run ``callback`` in ``process`` at ``when``, exactly."""
        self.timers += 1
        heappush(self._scheduled, (when, self.timers, _Handle(process, callback, args)))

    def run_in_executor(self, executor, func, *args):
        """A thread's work is done a moment later, all at once: a real thread would make every run another."""
        future = self.create_future()

        def work():
            try:
                result = func(*args)
            except Exception as error:
                if not future.done():
                    future.set_exception(error)
            else:
                if not future.done():
                    future.set_result(result)

        self.deliver(self.current, self.now + EXECUTOR_S * self.random.random() ** 3, work)
        return future

    def take_back(self, handles: list[_Handle]) -> None:
        """Run what came due while its process was paused."""
        self._ready.extend(handles)

    def _run_once(self) -> None:
        ready, scheduled = self._ready, self._scheduled
        if not ready:
            while scheduled and scheduled[0][2].cancelled_:
                heappop(scheduled)
            if not scheduled:
                raise RuntimeError("everybody waits, and nothing will ever happen")
            self.now = max(self.now, scheduled[0][0])
        if self.turns > MOST_TURNS:
            raise RuntimeError(f"{MOST_TURNS} callbacks, and no end")
        now = self.now
        while scheduled and scheduled[0][0] <= now:
            ready.append(heappop(scheduled)[2])
        for _ in range(len(ready)):
            handle = ready.popleft()
            if handle.cancelled_:
                continue
            process = handle.process
            if process is not None and process.state is not RUNNING:
                if process.state is PAUSED:
                    process.backlog.append(handle)
                continue
            self.current = process
            self.turns += 1
            try:
                if handle.context is None:
                    handle.callback(*handle.args)
                else:
                    handle.context.run(handle.callback, *handle.args)
            except (SystemExit, KeyboardInterrupt):
                raise
            except BaseException as error:
                message = f"Exception in callback {handle.callback}"
                self.call_exception_handler({"message": message, "exception": error})
        self.current = None

    def bury(self) -> None:
        """End all coroutines that are still there, quietly; the loop is not used any more."""
        for process in self.processes:
            process.state = DEAD
            for task in process.tasks:
                task._log_destroy_pending = False
                if not task.done():
                    try:
                        task.get_coro().close()
                    except BaseException:
                        pass
        self._ready.clear()
        self._scheduled.clear()
        self.close()


def _make_task(loop, coro, context=None):
    task = (
        asyncio.Task(coro, loop=loop) if context is None else asyncio.Task(coro, loop=loop, context=context)
    )
    process = loop.current
    if process is not None:
        process.tasks.append(task)
    return task


def _note_error(loop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    loop.errors.append(f"{context.get('message')}: {error!r}")
