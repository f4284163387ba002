"""An event loop on virtual time whose callbacks belong to processes: they can be killed and paused.

Whatever a callback schedules belongs to its process. A killed process never runs again; its tasks are kept
until the end, lest the collector run their ``finally`` blocks. A paused one runs later, in order, what came
due meanwhile, as after SIGCONT.
"""

from __future__ import annotations

import asyncio
from asyncio.futures import _set_result_unless_cancelled  # type: ignore[attr-defined]
from collections import defaultdict, deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import Context
from functools import partial
from heapq import heappop, heappush
from random import Random
from typing import Any

Call = tuple["Process | None", Any, Any]
"""Whose callback, the callback and its arguments; or None and a `_Handle`. Without a context: nothing here
looks at one."""
Timer = tuple[float, int, Call]
"""When, a number that no other one has, and what."""
RUNNING, PAUSED, DEAD = "running", "paused", "dead"
MOST_TURNS = 1_000_000
EXECUTOR_S = 0.002
SLOTS = 8
"""Parts of a second, after each of which timers move to the heap."""
TIMER_JITTER_S = 0.0005
"""Timers fire up to so much late, differently each time."""
_sleep = asyncio.sleep


class _Handle:
    """What asyncio's handles are: something that can be cancelled."""

    __slots__ = ("args", "callback", "when_")

    def __init__(self, callback: Any, args: Any, when: float) -> None:
        self.callback = callback
        self.args = args
        self.when_ = when

    def cancel(self) -> None:
        self.callback = self.args = None

    def cancelled(self) -> bool:
        return self.callback is None

    def when(self) -> float:
        return self.when_


class Process:
    """One process of a node, from its start to its end. ``name`` is for people."""

    def __init__(self, loop: SimLoop, name: str, node: int) -> None:
        self.loop = loop
        self.name = name
        self.node = node
        self.state = RUNNING
        self.backlog: list[Call] = []
        self.tasks: list[asyncio.Task[Any]] = []
        self.on_end: list[Callable[[], object]] = []
        """Called by `kill`: what the operating system does then."""

    @property
    def alive(self) -> bool:
        return self.state is not DEAD

    @contextmanager
    def here(self) -> Iterator[None]:
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
            self._end()

    def _end(self) -> None:
        self.backlog.clear()
        for end in self.on_end:
            end()

    def kill_meanwhile(self) -> None:
        """Kill it within the callback that runs. That goes on to its end, and whatever stands for machines
        and network takes no notice; then the operating system does what it does."""
        if self.state is not DEAD:
            self.state = DEAD
            self.loop.when_done = self._end

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

    _ready: deque[Call]
    _scheduled: list[Timer]
    _stopping: bool

    def __init__(self, random: Random) -> None:
        super().__init__()
        self.now = 1000.0
        self.random = random
        self.current: Process | None = None
        self.processes: list[Process] = []
        self.errors: list[str] = []
        self.when_done: Callable[[], object] | None = None
        """To be called when the present callback returns."""
        self.turns = 0
        self.timers = 0
        self.horizon = self.now
        self.later: defaultdict[int, list[Timer]] = defaultdict(list)
        """By slot, timers behind the horizon. Most are cancelled before, and need no place in the heap."""
        self.create_future = partial(asyncio.Future, loop=self)  # type: ignore[method-assign]
        self.get_debug = bool  # type: ignore[method-assign]  # False; every future and task asks
        self.set_exception_handler(_note_error)

    def process(self, name: str, node: int) -> Process:
        """A new process."""
        process = Process(self, name, node)
        self.processes.append(process)
        return process

    def time(self) -> float:
        return self.now

    def create_task(
        self, coro: Any, *, name: Any = None, context: Context | None = None
    ) -> asyncio.Task[Any]:
        """``name``: without one asyncio would make one up, which nobody reads."""
        task = asyncio.Task(coro, loop=self, name=name or "", context=context)
        if self.current is not None:
            self.current.tasks.append(task)
        return task

    def call_soon(  # type: ignore[override]
        self, callback: Any, *args: Any, context: Context | None = None
    ) -> Any:
        if context is not None:  # from a future or a task: they never cancel it
            self._ready.append((self.current, callback, args))
            return None
        handle = _Handle(callback, args, 0.0)
        self._ready.append((self.current, None, handle))
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Any, *args: Any, context: Context | None = None
    ) -> Any:
        return self._timer(self.now + delay if delay > 0.0 else self.now, callback, args)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Any, *args: Any, context: Context | None = None
    ) -> Any:
        return self._timer(when, callback, args)

    def _timer(self, when: float, callback: Any, args: Any) -> _Handle:
        when += self.random.random() * TIMER_JITTER_S
        handle = _Handle(callback, args, when)
        self.timers += 1
        timer = (when, self.timers, (self.current, None, handle))
        if when < self.horizon:
            heappush(self._scheduled, timer)
        else:
            self.later[int(when * SLOTS)].append(timer)
        return handle

    async def sleep(self, delay: float, result: Any = None) -> Any:
        """``asyncio.sleep``, which asks three times which loop runs."""
        if delay <= 0.0:
            return await _sleep(0.0, result)
        future = self.create_future()
        handle = self._timer(self.now + delay, _set_result_unless_cancelled, (future, result))
        try:
            return await future
        finally:
            handle.callback = handle.args = None

    def deliver(self, process: Process | None, when: float, callback: Any, *args: Any) -> None:
        """Run ``callback`` in ``process`` at ``when``, exactly."""
        self.timers += 1
        timer = (when, self.timers, (process, callback, args))
        if when < self.horizon:
            heappush(self._scheduled, timer)
        else:
            self.later[int(when * SLOTS)].append(timer)

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Any, *args: Any
    ) -> asyncio.Future[Any]:
        """A thread's work is done a moment later, all at once: a real thread would make every run another."""
        future = self.create_future()

        def work() -> None:
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

    def take_back(self, calls: list[Call]) -> None:
        """Run what came due while its process was paused."""
        self._ready.extend(calls)

    def _run_once(self) -> None:
        """All rounds until the loop is stopped, not one of them: most have a single callback."""
        ready, scheduled, running = self._ready, self._scheduled, RUNNING
        take = ready.popleft
        while not self._stopping:
            if not ready:
                while scheduled:
                    _, callback, handle = scheduled[0][2]
                    if callback is not None or handle.callback is not None:
                        break
                    heappop(scheduled)  # cancelled
                else:
                    self._next_slot()
                    continue
                if scheduled[0][0] > self.now:
                    self.now = scheduled[0][0]
            if scheduled:
                now = self.now
                while scheduled and scheduled[0][0] <= now:
                    ready.append(heappop(scheduled)[2])
            count = len(ready)
            self.turns += count
            if self.turns > MOST_TURNS:
                raise RuntimeError(f"{MOST_TURNS} callbacks, and no end")
            while count:
                count -= 1
                call = take()
                process, callback, args = call
                if callback is None:
                    callback, args = args.callback, args.args
                    if callback is None:
                        continue
                if process is not None and process.state is not running:
                    if process.state is PAUSED:
                        process.backlog.append(call)
                    continue
                self.current = process
                try:
                    callback(*args)
                except (SystemExit, KeyboardInterrupt):
                    raise
                except BaseException as error:
                    message = f"Exception in callback {callback}"
                    self.call_exception_handler({"message": message, "exception": error})
                if self.when_done is not None:
                    end, self.when_done = self.when_done, None
                    end()
        self.current = None

    def _next_slot(self) -> None:
        """Move the horizon behind the next slot in which something may happen."""
        if not self.later:
            raise RuntimeError("everybody waits, and nothing will ever happen")
        slot = int(self.horizon * SLOTS)
        while slot not in self.later:
            slot += 1
        self.horizon = (slot + 1) / SLOTS
        for timer in self.later.pop(slot):
            _, callback, handle = timer[2]
            if callback is not None or handle.callback is not None:
                heappush(self._scheduled, timer)

    def bury(self) -> None:
        """End all coroutines that are still there, quietly; the loop is not used any more."""
        for process in self.processes:
            process.state = DEAD
            for task in process.tasks:
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                if not task.done():
                    try:
                        task.get_coro().close()
                    except BaseException:
                        pass
        self._ready.clear()
        self._scheduled.clear()
        self.later.clear()
        self.close()


def _note_error(loop: Any, context: dict[str, Any]) -> None:
    error = context.get("exception")
    loop.errors.append(f"{context.get('message')}: {error!r}")
