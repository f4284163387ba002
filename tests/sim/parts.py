"""What stands for sockets, threads, files and the metadata store while a simulation runs, and `installed`,
which puts it into the modules of kproto that would use the real ones.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

import kproto.broker
import kproto.controller.controller
import kproto.controller.loop
import kproto.directory
import kproto.log.checkpoint
import kproto.log.manager
import kproto.log.opening
import kproto.log.reader
import kproto.log.segment
import kproto.log.trash
import kproto.member
import kproto.replica.store
import kproto.replica.takeover
import kproto.replica.unneeded
import kproto.vlog.manager
import kproto.vlog.replicated
import kproto.vlog.replication
import kproto.vlog.states
from kproto.metadata.memory import MemoryStore
from kproto.metadata.store import StoreError
from kproto.vlog.manager import VlogManager

from .loop import Process, SimLoop
from .net import SimListener, SimPeers, SimServer, random_wait

if TYPE_CHECKING:
    from .world import World

JOB_S = 0.002
STORE_S = 0.002
CONSTANTS: dict[Any, dict[str, Any]] = {
    kproto.vlog.states: {
        "FIRST_AFTER": 1024,
        "INTERVAL": 8192,
        "SHARE": 3,
        "BYTES_PER_PARTITION": 64,
        "PATIENCE_S": 0.3,
    },
    kproto.vlog.replicated: {"WIDEN_S": 0.5, "WIDEN_MOST_S": 4.0, "FRAME_CHUNKS": 8},
    kproto.vlog.replication: {"SUSPECT_S": 0.5, "LONGEST_SUSPICION_S": 4.0},
    kproto.replica.unneeded: {"LOOK_SECONDS": 1.5},
    kproto.replica.takeover: {"MOST_RETRY_SECONDS": 1.0},
    kproto.replica.store: {"HELD_S": 5.0},
    kproto.controller.loop: {"UPKEEP_SECONDS": 0.4},
    kproto.log.manager: {"RELEASED_KEPT_S": 5.0},
    kproto.vlog.manager: {"FIRST_SETTLE_S": 0.5, "SETTLE_S": 0.5},
}
"""Sizes and times that a run of seconds would never reach."""


class SimClock:
    """The loop's time."""

    def __init__(self, loop: SimLoop) -> None:
        self.loop = loop

    def monotonic(self) -> float:
        return self.loop.now

    def wall_ms(self) -> int:
        return 1_700_000_000_000 + int(self.loop.now * 1000)


class SimWorks:
    """A thread's place: each job runs at once, some time after it was submitted; its end is told later."""

    world: World

    def __init__(self, loop: SimLoop, name: str) -> None:
        assert loop.current is not None
        self.loop = loop
        self.process: Process = loop.current
        self.jobs: deque[tuple[Callable[[], object], Callable[..., object]]] = deque()
        self.due = 0.0

    def submit(self, call: Callable[[], object], done: Callable[..., object]) -> None:
        self.jobs.append((call, done))
        slow = self.world.machines[self.process.node].slow
        wait = slow * random_wait(self.loop.random, JOB_S)
        self.due = max(self.due, self.loop.now) + wait
        self.loop.deliver(self.process, self.due, self._next)

    def _next(self) -> None:
        if self.jobs:
            call, done = self.jobs.popleft()
            error: BaseException | None = None
            try:
                call()
            except BaseException as raised:
                error = raised
            self.loop.deliver(
                self.process, self.loop.now + random_wait(self.loop.random, 0.0005), done, error
            )

    def close(self) -> None:
        while self.jobs:
            self._next()


class SimPool:
    """``kproto.net.threads.BlockingPool``."""

    def __init__(self, size: int = 4) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimLoop)
        self.loop = loop
        self.process = loop.current

    def run(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> asyncio.Future[Any]:
        future = self.loop.create_future()

        def work() -> None:
            try:
                future.set_result(function(*args, **kwargs))
            except Exception as error:
                future.set_exception(error)

        self.loop.deliver(self.process, self.loop.now + random_wait(self.loop.random, JOB_S), work)
        return future

    def close(self) -> None:
        """Nothing runs."""


class SimStore(MemoryStore):
    """The metadata store, which outlives every process. ``down``: nobody can write. ``on_change`` is told
    every transaction before its caller hears of it."""

    __slots__ = ("down", "loop", "on_change")

    def __init__(self, clock: SimClock) -> None:
        super().__init__(clock)
        self.loop = clock.loop
        self.down = False
        self.on_change: Callable[[Any, Any], object] = lambda puts, deletes: None

    async def transact(self, conditions: Any, puts: Any, deletes: Any = ()) -> Any:
        await asyncio.sleep(random_wait(self.loop.random, STORE_S))
        if self.down:
            raise StoreError("the store is down")
        done = await super().transact(conditions, puts, deletes)
        if done.succeeded:
            self.on_change(puts, deletes)
        await asyncio.sleep(random_wait(self.loop.random, STORE_S))
        return done


@contextmanager
def installed(world: World) -> Iterator[None]:
    """Run kproto's modules on ``world``."""
    sim_os = world.os
    SimPeers.network = SimListener.network = world.network
    SimWorks.world = world

    async def open_store(*_: Any) -> SimStore:
        return world.store

    places: list[tuple[Any, str, Any]] = [
        (kproto.member, "Peers", SimPeers),
        (kproto.member, "InternalListener", SimListener),
        (kproto.member, "Worker", SimWorks),
        (kproto.broker, "Server", SimServer),
        (kproto.broker, "BlockingPool", SimPool),
        (kproto.broker, "open_store", open_store),
        (kproto.broker, "VlogManager", partial(VlogManager, make_worker=SimWorks)),
        (kproto.directory, "boot_id", lambda: world.machines[world.loop.current.node].boot_id),
        (kproto.directory, "fcntl", _NoLocks),
    ]
    using_os = (
        kproto.directory,
        kproto.log.opening,
        kproto.log.reader,
        kproto.log.segment,
        kproto.log.manager,
        kproto.log.trash,
        kproto.controller.controller,
    )
    places += [(module, "os", sim_os) for module in using_os]
    opening = (kproto.directory, kproto.log.segment, kproto.log.checkpoint)
    places += [(module, "open", sim_os.open_file) for module in opening]
    places += [(module, name, value) for module, items in CONSTANTS.items() for name, value in items.items()]
    places += world.replaced
    missing = object()
    before = [(module, name, vars(module).get(name, missing)) for module, name, _ in places]
    try:
        for module, name, value in places:
            setattr(module, name, value)
        yield
    finally:
        for module, name, value in reversed(before):
            if value is missing:
                delattr(module, name)
            else:
                setattr(module, name, value)


class _NoLocks:
    """``fcntl``: a directory has one process because the world starts one."""

    LOCK_EX = LOCK_NB = 0

    @staticmethod
    def flock(descriptor: int, flags: int) -> None:
        """Granted."""


def seeded(seed: int) -> Random:
    """A generator of its own for each use of a seed."""
    return Random(seed)
