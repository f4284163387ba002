"""One timer for all groups; patience with slow answers; a stalled process does not punish its clients."""

import asyncio
import time
import weakref
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from kproto.clock import SystemClock
from kproto.errors import ErrorCode
from kproto.handlers.groups.group import NEVER
from kproto.handlers.groups.timers import SKIPPED_KEPT, STALL_MS, Patience, Sleeper, Timers
from tests.controller.virtual_time import VirtualClock, run_virtual


@dataclass(eq=False)
class Nap:
    name: str
    scheduled_at: int = NEVER


def run(scenario: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scenario, 120))


def test_who_fails_when_woken_is_woken_again_and_keeps_nobody_asleep() -> None:
    async def scenario() -> None:
        woken: list[str] = []

        def wake(sleeper: Sleeper) -> None:
            assert isinstance(sleeper, Nap)
            woken.append(sleeper.name)
            if woken == ["first"]:
                raise MemoryError

        timers = Timers(VirtualClock(asyncio.get_running_loop()), wake)  # type: ignore[arg-type]
        for name, at_ms in (("first", 10), ("second", 10), ("third", 30)):
            timers.schedule(Nap(name), at_ms)
        await asyncio.sleep(60)
        assert woken == ["first", "second", "third", "first"]

    run_virtual(scenario())


class _Working(SystemClock):
    """Time goes on while somebody works, too."""

    worked_s = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.worked_s


def test_thousands_at_the_same_moment_leave_the_loop_free_in_between() -> None:
    """So it is with the sessions of all groups a while after a start, when no member is there any more."""

    async def scenario() -> None:
        clock = _Working()
        woken: list[Sleeper] = []

        def wake(sleeper: Sleeper) -> None:
            woken.append(sleeper)
            clock.worked_s += 0.001

        timers = Timers(clock, wake)
        naps = [Nap(str(i)) for i in range(300)]
        for nap in naps:
            timers.schedule(nap, int(clock.monotonic() * 1000))
        at_once = seen = 0
        while len(woken) < len(naps):
            await asyncio.sleep(0)
            at_once, seen = max(at_once, len(woken) - seen), len(woken)
        assert woken == naps
        assert at_once < 20

    run(scenario())


def test_sleepers_wake_in_order_and_only_at_their_earliest_moment() -> None:
    async def scenario() -> None:
        clock = VirtualClock(asyncio.get_running_loop())  # type: ignore[arg-type]
        woken: list[str] = []

        def wake(sleeper: Sleeper) -> None:
            assert isinstance(sleeper, Nap)
            woken.append(sleeper.name)

        def now_ms() -> int:
            return int(clock.monotonic() * 1000)

        timers = Timers(clock, wake)
        a, b, c = Nap("a"), Nap("b"), Nap("c")
        start = now_ms()
        timers.schedule(a, start + 120)
        timers.schedule(b, start + 60)
        timers.schedule(a, start + 30)
        timers.schedule(a, start + 300)
        timers.schedule(c, NEVER)
        await asyncio.sleep(0.02)
        assert woken == []
        await asyncio.sleep(0.02)
        assert woken == ["a"]
        await asyncio.sleep(0.04)
        assert woken == ["a", "b"]
        await asyncio.sleep(1)
        assert woken == ["a", "b"]
        timers.schedule(a, now_ms() + 20)
        await asyncio.sleep(0.03)
        assert woken == ["a", "b", "a"]
        timers.schedule(b, now_ms() + 20)
        timers.close()
        await asyncio.sleep(1)
        assert woken == ["a", "b", "a"]

    run_virtual(scenario())


def test_who_is_forgotten_or_woken_earlier_is_not_kept_until_the_later_moment() -> None:
    """Sessions may have half an hour, in which thousands of groups come and are deleted."""

    async def scenario() -> None:
        clock = VirtualClock(asyncio.get_running_loop())  # type: ignore[arg-type]
        woken: list[Sleeper] = []
        timers = Timers(clock, woken.append)
        start = int(clock.monotonic() * 1000)
        staying, gone = Nap("staying"), [Nap(str(number)) for number in range(1000)]
        references = [weakref.ref(nap) for nap in gone]
        for nap in gone:
            timers.schedule(nap, start + 1_800_000)
            timers.schedule(staying, start + 1_800_000)
            timers.schedule(staying, int(clock.monotonic() * 1000) + 1)
            timers.forget(nap)
            await asyncio.sleep(0.01)
        del nap
        gone.clear()
        assert woken == [staying] * 1000
        assert sum(reference() is not None for reference in references) <= 2 * SKIPPED_KEPT
        await asyncio.sleep(2000)
        assert woken == [staying] * 1000

    run_virtual(scenario())


def test_nobody_is_woken_before_its_moment() -> None:
    """It would find nothing due and ask for the same moment again, and again until that has come."""

    async def scenario() -> None:
        clock = VirtualClock(asyncio.get_running_loop())  # type: ignore[arg-type]
        early: list[int] = []
        moments = {Nap("a"): 20, Nap("b"): 21, Nap("c"): 22}
        start = int(clock.monotonic() * 1000)

        def wake(sleeper: Sleeper) -> None:
            assert isinstance(sleeper, Nap)
            early.append(start + moments.pop(sleeper) - int(clock.monotonic() * 1000))

        timers = Timers(clock, wake)
        for nap, after in moments.items():
            timers.schedule(nap, start + after)
        await asyncio.sleep(1)
        assert not moments
        assert max(early) <= 0

    run_virtual(scenario())


def test_after_a_stall_the_clients_are_heard_before_deadlines_count() -> None:
    async def scenario() -> None:
        events: list[str] = []
        timers = Timers(SystemClock(), lambda _: events.append("deadline"))
        reader, writer = await _socket_pair(events)
        timers.schedule(Nap("session"), int(time.monotonic() * 1000) + 50)
        writer.write(b"heartbeat")
        time.sleep((STALL_MS + 200) / 1000)
        while "deadline" not in events:
            await asyncio.sleep(0.01)
        assert events == ["heartbeat", "deadline"]
        writer.close()
        reader.cancel()

    run(scenario())


async def _socket_pair(events: list[str]) -> tuple[asyncio.Task[None], asyncio.StreamWriter]:
    ends: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    server = await asyncio.start_server(lambda *end: ends.put_nowait(end), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    reader, answers = await ends.get()

    async def listen() -> None:
        while data := await reader.read(100):
            events.append(data.decode())
        answers.close()  # until then it is kept: without it there is no connection

    return asyncio.create_task(listen()), writer


def test_patience_ends_for_each_answer_on_its_own() -> None:
    async def scenario() -> None:
        patience = Patience(0.1, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        first = patience.new_answer()
        await asyncio.sleep(0.05)
        quick, second = patience.new_answer(), patience.new_answer()
        quick.set_result(ErrorCode.NONE)
        await asyncio.sleep(0.07)
        assert first.result() is ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert not second.done()
        await asyncio.sleep(0.06)
        assert second.result() is ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert quick.result() is ErrorCode.NONE
        last = patience.new_answer()
        patience.close(ErrorCode.NOT_COORDINATOR)
        assert last.result() is ErrorCode.NOT_COORDINATOR

    run_virtual(scenario())
