"""Requests that take long go on in turns of the event loop, so that others are served in between.

A handler that may take long is a generator, which yields wherever it can pause, and takes the metadata image
once: what is small ends in the turn in which it came, without any of this. Else its connection stands in line
with what it has begun, and whatever it asks next waits behind that (Produce and Fetch excepted). Behind a
handler that awaits something it does not wait: Apache Kafka handles one request of a connection at a time,
here the next one begins, and only its answer waits. One request of the line goes on at a time, each
connection's in its turn: a thousand parsed requests of ten megabytes each would be no help to anybody.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from time import perf_counter
from types import GeneratorType
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from kproto.net.server import Connection, Exchange, Server

A = TypeVar("A")
T = TypeVar("T")

Steps = Generator[None, None, T]
"""What a handler that may take long returns: it yields where it can pause, and its answer is what it
returns."""

TURN_SECONDS: Final = 0.001
"""What goes on for longer is continued in the next turn."""
LARGE_BYTES: Final = 8 * 1024
"""From this size on a request can name thousands of things; it is not even parsed while another goes on."""
LIGHT_BYTES: Final = 16 * 1024
"""An answer of this size never waits for memory, while its connection holds no more or waits for nothing
else."""
LEND_SECONDS: Final = 0.5
"""While memory is used up one request is begun, or answered, all the same after so long."""

PART: Final = 250
"""Things of one request that tasks are begun for, or the controller decides about, in one go."""


class Turns:
    """See the module's text. Invariants: no queue in ``_line`` is empty; a turn is due iff it has one."""

    __slots__ = ("_begun", "_due", "_lend_at", "_lent", "_line", "_lock", "_replies")

    def __init__(self) -> None:
        self._line: dict[Connection, deque[Steps[None]]] = {}
        """Whose turn is next comes first; only the first work of a connection may have begun."""
        self._due = False
        self._begun = False
        """The first work of the line has."""
        self._lent = False
        """It may begin though memory is used up."""
        self._lend_at = 0.0
        """When it may, however often there was room meanwhile that others took; 0: it does not wait."""
        self._lock = asyncio.Lock()
        self._replies: dict[Connection, deque[asyncio.Future[None]]] = {}
        """Who waits for memory for an answer, and what waits behind that on the same connection."""

    def must_wait(self, connection: Connection, size: int) -> bool:
        """Whether a request of ``size`` bytes is not to be begun now."""
        return connection in self._line or (size >= LARGE_BYTES and bool(self._line))

    def begin(self, connection: Connection, work: Steps[None]) -> None:
        """Do ``work``, which handles its own failures, now, as far as that takes one turn, the rest later."""
        if not _one_turn(work):
            self.wait(connection, work)

    def wait(self, connection: Connection, work: Steps[None]) -> None:
        """The same when its turn has come."""
        self._line.setdefault(connection, deque()).append(work)
        self._go_on()

    def _go_on(self) -> None:
        if not self._due and self._line:
            self._due = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._due = False
        if not self._begun and self._all_wait():
            return
        connection, queue = next(iter(self._line.items()))
        if connection.closed:
            self._begun = False
            del self._line[connection]
        else:
            self._begun = not _one_turn(queue[0])
            if not self._begun:
                queue.popleft()
                del self._line[connection]
                if queue:
                    self._line[connection] = queue  # behind the others
        self._go_on()

    def _all_wait(self) -> bool:
        """While memory is used up nothing of the line is begun, since its answer would need more, but what
        comes from who holds nothing else, which goes first; and one now and then, since what waits here may
        be what holds it.
        """
        first = next(iter(self._line))
        server = first.server
        if not server.budget.is_short or self._lent or first.closed:
            self._lent = False
            self._lend_at = 0.0
            return False
        light = next((one for one in self._line if _is_light(one)), None)
        if light is not None:
            self._line = {light: self._line.pop(light), **self._line}
            return False
        loop = asyncio.get_running_loop()
        self._lend_at = self._lend_at or loop.time() + LEND_SECONDS
        later = loop.call_at(self._lend_at, self._lend, server)
        self._due = True

        def go_on() -> None:
            later.cancel()
            loop.call_soon(self._turn)

        server.budget.wait(self, go_on)
        server.out_of_memory()
        return True

    def _lend(self, server: Server) -> None:
        server.budget.stop_waiting(self)
        self._lent = True
        self._turn()

    async def reply(self, exchange: Exchange, frame: Callable[[], bytes]) -> None:
        """Answer with what ``frame`` makes. While memory is used up those who get much, or have asked for
        more, get theirs one after the other, and seldom.
        """
        connection = exchange.connection
        budget = connection.server.budget
        made = frame()
        alone = len(connection.pending) <= 1 or connection.held <= LIGHT_BYTES
        is_light = alone and len(made) <= LIGHT_BYTES
        if not is_light and (self._lock.locked() or budget.is_short):
            del made
            await self._behind_its_own(connection)
            try:
                async with self._lock:
                    if budget.is_short and not connection.closed:
                        await self._room(connection.server)
                    if connection.closed:
                        return
                    made = frame()
            finally:
                self._next_of(connection)
        exchange.reply(made)
        connection.settle()

    async def _behind_its_own(self, connection: Connection) -> None:
        """One answer of a connection is in the queue at a time: thousands of one are not before others'."""
        behind = self._replies.get(connection)
        if behind is None:
            self._replies[connection] = deque()
        else:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            behind.append(turn)
            await turn

    def _next_of(self, connection: Connection) -> None:
        behind = self._replies[connection]
        while behind:
            turn = behind.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        del self._replies[connection]

    async def _room(self, server: Server) -> None:
        """Wait until there may be room, at most ``LEND_SECONDS``."""
        room = asyncio.Event()
        server.budget.wait(room, room.set)
        server.out_of_memory()
        with suppress(TimeoutError):
            await asyncio.wait_for(room.wait(), LEND_SECONDS)
        server.budget.stop_waiting(room)


def _is_light(connection: Connection) -> bool:
    """It is one of those that are read though memory is short: all that it holds is its one request; or it is
    closed."""
    budget = connection.server.budget
    alone = len(connection.pending) <= 1 and not connection.unsent
    return connection.closed or (alone and budget.used < budget.limit)


class Pauses:
    """For a task that goes on for long without waiting for anything: it calls this where it can pause."""

    __slots__ = ("_until",)

    def __init__(self) -> None:
        self._until = perf_counter() + TURN_SECONDS

    async def __call__(self) -> None:
        """Let others be served when a turn's time is over."""
        if perf_counter() >= self._until:
            await asyncio.sleep(0)
            self._until = perf_counter() + TURN_SECONDS


async def answer_of(response: Any) -> Any:
    """What a handler that returned ``response`` answers in the end; for a task, which may take long."""
    while True:
        if type(response) is GeneratorType:
            response = await _finish(response)
        elif isinstance(response, Awaitable):
            response = await response
        else:
            return response


async def for_each(items: Sequence[A], work: Callable[[A], T | Awaitable[T]]) -> list[T]:
    """What ``work`` gives for each of ``items``, in order; others are served after every part of them."""

    async def part(some: Sequence[A]) -> list[T]:
        begun = [work(item) for item in some]
        waited = iter(await asyncio.gather(*(one for one in begun if isinstance(one, Awaitable))))
        return [next(waited) if isinstance(one, Awaitable) else one for one in begun]

    return await _one_by_one((items[at : at + PART] for at in range(0, len(items), PART)), part)


async def in_parts(
    items: Sequence[A], thing: Callable[[A], Hashable], work: Callable[[Sequence[A]], Awaitable[Sequence[T]]]
) -> list[T]:
    """What ``work`` gives for ``items``, a part of them after the other: for what is decided in one piece.

    All items about the same ``thing`` are in one part, so that it is seen when something is named twice. The
    results are in the order in which things are named first.
    """
    about: dict[Hashable, list[A]] = {}
    for item in items:
        about.setdefault(thing(item), []).append(item)

    def parts() -> Iterator[list[A]]:
        part: list[A] = []
        for same in about.values():
            part += same
            if len(part) >= PART:
                yield part
                part = []
        if part:
            yield part

    return await _one_by_one(parts(), work)


async def _one_by_one(
    parts: Iterable[Sequence[A]], work: Callable[[Sequence[A]], Awaitable[Sequence[T]]]
) -> list[T]:
    done: list[T] = []
    for number, part in enumerate(parts):
        if number:
            await asyncio.sleep(0)
        done += await work(part)
    return done


async def _finish(steps: Steps[T]) -> T:
    """The result of ``steps``: a turn of it in each turn of the loop."""
    result: list[T] = []

    def work() -> Steps[None]:
        result.append((yield from steps))

    working = work()
    while not _one_turn(working):
        await asyncio.sleep(0)
    return result[0]


def _one_turn(work: Steps[None]) -> bool:
    """Whether ``work`` is done."""
    until = perf_counter() + TURN_SECONDS
    return all(perf_counter() < until for _ in work)
