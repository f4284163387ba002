"""What stands for sockets, threads, files and the metadata store while a simulation runs, and `installed`,
which puts it into the modules of kproto that would use the real ones.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from random import Random
from typing import TYPE_CHECKING, Any

import kproto.broker
import kproto.controller.controller
import kproto.controller.unreached
import kproto.controller.upkeep
import kproto.directory
import kproto.log.checkpoint
import kproto.log.checkpointing
import kproto.log.manager
import kproto.log.opening
import kproto.log.reader
import kproto.log.scrubbing
import kproto.log.segment
import kproto.log.trash
import kproto.member
import kproto.metadata.client
import kproto.replica.store
import kproto.replica.takeover
import kproto.replica.unneeded
import kproto.vlog.cleaner
import kproto.vlog.gathering
import kproto.vlog.manager
import kproto.vlog.replicated
import kproto.vlog.replication
import kproto.vlog.states
from kproto.controller.controller import CONTROLLER_EPOCH_KEY
from kproto.log.manager import LogManager
from kproto.log.scrubbing import Scrub as SegmentScrub
from kproto.metadata import records
from kproto.metadata.exchange import decode_update
from kproto.metadata.memory import MemoryStore
from kproto.metadata.store import StoreError, UnknownOutcomeError
from kproto.metadata.vlogs import VsegRecord
from kproto.replica.scrub import Scrub
from kproto.vlog.manager import VlogManager
from kproto.vlog.older import Older
from kproto.wire import internal

from . import groups
from .disk import SimOs
from .loop import Process, SimLoop
from .net import SimListener, SimPeers, SimServer, random_wait
from .sizes import drawn

if TYPE_CHECKING:
    from kproto.log.ports import LogPartition

    from .world import World

JOB_S = 0.002
STORE_S = 0.002
STORE_RETRY_S = 0.1
STORE_TRIES = 8
BUSY, BUSY_S = 0.01, 0.0015
"""How often a look at the clock finds that work took so long."""
LOST_REQUESTS = 0.002
"""Of the transactions of a shared store; as many lose their answer."""
STORE_IS_DOWN = "the store is down"
CONSTANTS: dict[Any, dict[str, Any]] = {
    kproto.vlog.states: {
        "FIRST_AFTER": 1024,
        "INTERVAL": 8192,
        "SHARE": 3,
        "BYTES_PER_PARTITION": 64,
        "PATIENCE_S": 0.3,
    },
    kproto.vlog.replicated: {"WIDEN_S": 0.5, "WIDEN_MOST_S": 4.0, "FRAME_CHUNKS": 8},
    kproto.vlog.gathering: {
        "WINDOW_S": 0.05,
        "FRAMES": 2,
        "MANY": 1,
        "KEPT": 0.0,
        "COUNTED_S": 0.05,
        "PAUSE_S": 1000.0,
        "FLYING": 0.0,
        "CYCLE_S": 0.5,
    },
    kproto.vlog.replication: {"SUSPECT_S": 0.5, "LONGEST_SUSPICION_S": 4.0},
    kproto.vlog.cleaner: {"BYTES_PER_SYNC": 1 << 10},
    kproto.replica.unneeded: {"LOOK_SECONDS": 1.5},
    kproto.replica.takeover: {"MOST_RETRY_SECONDS": 1.0},
    kproto.replica.store: {"HELD_S": 5.0},
    kproto.controller.unreached: {"KEPT_SECONDS": 20.0},
    kproto.controller.upkeep: {"UPKEEP_SECONDS": 0.4, "LISTED_SECONDS": 2.5},
    kproto.log.manager: {"RELEASED_KEPT_S": 5.0},
    kproto.log.scrubbing: {"ROUND_S": 0.5, "LOOK_S": 0.1, "RETRY_S": 1.0},
    kproto.vlog.manager: {"FIRST_SETTLE_S": 0.5, "SETTLE_S": 0.5},
}
"""Sizes and times that a run of seconds would never reach."""


class SimClock:
    """The loop's time. ``ahead``: how many ms the wall clock is ahead of the world's. ``busy``: what was done
    since somebody looked at it last may have taken a while."""

    def __init__(
        self, loop: SimLoop, ahead: Callable[[], int] = lambda: 0, busy: Random | None = None
    ) -> None:
        self.loop = loop
        self.ahead = ahead
        self.busy = busy

    def monotonic(self) -> float:
        if self.busy is not None and self.busy.random() < BUSY:
            self.loop.now += BUSY_S
        return self.loop.now

    def wall_ms(self) -> int:
        return 1_700_000_000_000 + int(self.loop.now * 1000) + self.ahead()


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
    """The metadata store, which outlives every process. ``down``: nobody gets an answer. ``slow``: a factor.
    ``on_change`` is told every transaction before its caller hears of it."""

    __slots__ = ("away", "down", "loop", "on_change", "on_unguarded", "slow")

    def __init__(self, clock: SimClock) -> None:
        super().__init__(clock)
        self.loop = clock.loop
        self.down = False
        self.slow = 1.0
        self.away: set[int] = set()
        """Nodes that do not reach a store that is shared."""
        self.on_change: Callable[[Any, Any], object] = lambda puts, deletes: None
        self.on_unguarded: Callable[[str], object] = lambda _: None
        """Told the keys of a transaction that would be done whoever is the controller (19b)."""

    def wait(self) -> Awaitable[None]:
        return asyncio.sleep(self.slow * random_wait(self.loop.random, STORE_S))

    async def range(self, prefix: str) -> Any:
        await self.wait()
        if self.down:
            raise StoreError(STORE_IS_DOWN)
        return await super().range(prefix)

    async def transact(self, conditions: Any, puts: Any, deletes: Any = ()) -> Any:
        await self.wait()
        if self.down:
            raise StoreError(STORE_IS_DOWN)
        done = await self.change(conditions, puts, deletes)
        await self.wait()
        return done

    async def change(self, conditions: Any, puts: Any, deletes: Any) -> Any:
        """The transaction itself, in no time."""
        revision = self._revision
        if not any(one.key == CONTROLLER_EPOCH_KEY for one in conditions):
            self.on_unguarded(", ".join([*puts, *deletes]))
        done = await super().transact(conditions, puts, deletes)
        if self._revision != revision:
            self.on_change(puts, deletes)
        return done


class SharedStore:
    """What one process has of a store that all brokers share, as with etcd: it may be out of reach, and what
    became of a transaction may stay unknown."""

    def __init__(self, store: SimStore, process: Process) -> None:
        self.store = store
        self.node = process.node
        self.random = store.loop.random

    def _reaches(self) -> bool:
        return not self.store.down and self.node not in self.store.away

    async def _there(self) -> None:
        """A request arrives, perhaps after some tries; StoreError when it does not."""
        for _ in range(STORE_TRIES):
            await self.store.wait()
            if self._reaches():
                return
            await asyncio.sleep(STORE_RETRY_S)
        raise StoreError("no member of the store answers")

    async def _back(self) -> None:
        await self.store.wait()
        if not self._reaches():
            await asyncio.sleep(STORE_RETRY_S)
            raise StoreError("the connection to the store ended")

    async def get(self, key: str) -> Any:
        await self._there()
        found = await self.store.get(key)
        await self._back()
        return found

    async def range(self, prefix: str) -> Any:
        await self._there()
        found = await MemoryStore.range(self.store, prefix)
        await self._back()
        return found

    async def transact(self, conditions: Any, puts: Any, deletes: Any = ()) -> Any:
        await self._there()
        if self.random.random() < LOST_REQUESTS:
            raise UnknownOutcomeError("the request did not arrive, which nobody knows")
        done = await self.store.change(conditions, puts, deletes)
        if self.random.random() < LOST_REQUESTS:
            raise UnknownOutcomeError("the answer did not arrive")
        try:
            await self._back()
        except StoreError as error:
            raise UnknownOutcomeError(str(error)) from None
        return done

    async def lease(self, name: str, holder: str, ttl_ms: int) -> bool:
        await self._there()
        given = await self.store.lease(name, holder, ttl_ms)
        await self._back()
        return given

    async def holder(self, name: str) -> str | None:
        await self._there()
        found = await self.store.holder(name)
        await self._back()
        return found

    async def release(self, name: str, holder: str) -> None:
        await self._there()
        await self.store.release(name, holder)
        await self._back()

    async def close(self) -> None:
        """Nothing to let go of."""


@contextmanager
def installed(world: World) -> Iterator[None]:
    """Run kproto's modules on ``world``."""
    sim_os = world.os

    def current() -> Process:
        assert world.loop.current is not None
        return world.loop.current

    workers: Any = SimWorks  # its loop is the simulator's

    async def open_store(*_: Any) -> Any:
        return SharedStore(world.store, current()) if world.plan.shared else world.store

    places: list[tuple[Any, str, Any]] = [
        (kproto.member, "Peers", SimPeers),
        (kproto.member, "InternalListener", SimListener),
        (kproto.member, "Worker", SimWorks),
        (kproto.broker, "Server", SimServer),
        (kproto.broker, "BlockingPool", SimPool),
        (kproto.broker, "Worker", SimWorks),
        (kproto.broker, "wait_for_store", open_store),
        (kproto.broker, "VlogManager", partial(VlogManager, make_worker=workers)),
        (kproto.directory, "boot_id", lambda: world.machines[current().node].boot_id),
        (kproto.directory, "fcntl", _NoLocks),
        (SimPeers, "network", world.network),
        (SimListener, "network", world.network),
        (SimWorks, "world", world),
        (LogManager, "random_below", lambda _, limit: world.random.randrange(limit)),
        (kproto.log.manager, "PROVING_S", Random(f"proving {world.seed}").choice((0.0, 1.0))),
    ]
    places += [*files_of(sim_os), (kproto.controller.controller, "os", sim_os)]
    places += [(module, name, value) for module, items in CONSTANTS.items() for name, value in items.items()]
    decoded = lru_cache(1000)(VsegRecord.decode)  # each change is read by every broker
    places.append((VsegRecord, "decode", staticmethod(decoded)))
    update_of = lru_cache(20)(decode_update)
    places.append((kproto.metadata.client, "decode_update", lambda body: update_of(bytes(body))))
    loop = world.loop
    places += [(module, "get_running_loop", lambda: loop) for module in (asyncio, asyncio.events)]
    places.append((asyncio, "sleep", loop.sleep))
    places += _quick_json()
    if sys.version_info < (3, 12):  # later it takes no time; nobody asks for all tasks
        places.append((asyncio.tasks._all_tasks, "add", id))  # type: ignore[attr-defined]
    places += [*drawn(world.seed), *_scrubs(world), *groups.places(world)]
    places.append((Older, "add", _came(world, Older.add)))
    places += world.replaced
    with replaced(places):
        yield


def files_of(sim_os: SimOs) -> list[tuple[Any, str, Any]]:
    """Where kproto's storage asks the operating system itself, not its disk."""
    using_os = (
        kproto.directory,
        kproto.log.opening,
        kproto.log.reader,
        kproto.log.scrubbing,
        kproto.log.segment,
        kproto.log.manager,
        kproto.log.checkpointing,
        kproto.log.trash,
    )
    opening = (kproto.directory, kproto.log.segment, kproto.log.checkpoint)
    return [
        *((module, "os", sim_os) for module in using_os),
        *((module, "open", sim_os.open_file) for module in opening),
    ]


@contextmanager
def replaced(places: Sequence[tuple[Any, str, Any]]) -> Iterator[None]:
    """Have others in the places of what modules and classes have."""
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


def _came(world: World, add: Callable[[Older, LogPartition], None]) -> Callable[..., None]:
    """Older chunks may be synced, and no longer older, before anybody looks (seed 30211913)."""

    def came(older: Older, partition: LogPartition) -> None:
        world.came[partition] = partition.log_end_offset
        add(older, partition)

    return came


def _scrubs(world: World) -> list[tuple[Any, str, Any]]:
    """What looks for damage, as often as a run of seconds needs it."""
    piece = seeded(world.seed).choice((1 << 20, 3_000, 500))
    copies = partial(Scrub, piece_bytes=piece, pause_s=0.02, round_s=2.0)
    segments = partial(SegmentScrub, piece_bytes=piece, pause_s=0.02, again_s=2.0)
    rot, plan = world.plan.rot, world.plan
    places: list[tuple[Any, str, Any]] = [(kproto.member, "Scrub", copies)] if rot else []
    return [*places, (kproto.broker, "Scrub", segments)] if rot or plan.harmed else places


def _quick_json() -> list[tuple[Any, str, Any]]:
    """What encodes and decodes JSON between brokers and in records, without what ``json`` does each time:
    making an encoder, looking for white space twice."""
    return [
        *((coder, "encode", _encode_by(coder)) for coder in (internal._ENCODER, records._ENCODER)),
        *((coder, "decode", _decode_by(coder)) for coder in (internal._DECODER, records._DECODER)),
    ]


def _encode_by(coder: json.JSONEncoder) -> Callable[[Any], str]:
    pieces = json.encoder.c_make_encoder(  # type: ignore[attr-defined]
        None,
        coder.default,
        json.encoder.encode_basestring,
        None,
        coder.key_separator,
        coder.item_separator,
        coder.sort_keys,
        coder.skipkeys,
        coder.allow_nan,
    )
    return lambda value: "".join(pieces(value, 0))


def _decode_by(coder: json.JSONDecoder) -> Callable[[str], Any]:
    whole = type(coder).decode

    def decode(text: str) -> Any:
        try:
            value, end = coder.scan_once(text, 0)  # type: ignore[attr-defined]
        except StopIteration:
            end = -1
        return value if end == len(text) else whole(coder, text)

    return decode


class _NoLocks:
    """``fcntl``: a directory has one process because the world starts one."""

    LOCK_EX = LOCK_NB = 0

    @staticmethod
    def flock(descriptor: int, flags: int) -> None:
        """Granted."""


def seeded(seed: int) -> Random:
    """A generator of its own for each use of a seed."""
    return Random(seed)
