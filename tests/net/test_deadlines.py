"""Waits end on time, not early, and those that are done are forgotten."""

import asyncio
import random
import weakref

from kproto.net.deadlines import EARLY_SECONDS, Deadlines
from tests.controller.virtual_time import run_virtual


class Wait:
    def __init__(self, wait_ms: int) -> None:
        self.done = False
        self._clock = asyncio.get_running_loop().time
        self.due = self._clock() + wait_ms / 1000
        self.late: float | None = None

    def expire(self) -> None:
        self.done = True
        self.late = self._clock() - self.due


def test_every_wait_ends_on_time_whatever_its_length_and_order():
    async def run() -> list[Wait]:
        deadlines = Deadlines(asyncio.get_running_loop())
        rng = random.Random(1)
        waits = []
        for _ in range(300):
            wait_ms = rng.choice([0, 1, 20, 20, 20, 150, 300])
            waits.append(Wait(wait_ms))
            deadlines.add(wait_ms, waits[-1])
            if rng.random() < 0.2:
                await asyncio.sleep(0.001)
        await asyncio.sleep(0.4)
        assert not deadlines._queues
        return waits

    for wait in run_virtual(run()):
        assert wait.late is not None
        assert -EARLY_SECONDS - 1e-9 <= wait.late < 1e-9


def test_ended_waits_are_not_called_and_not_kept():
    async def run() -> None:
        deadlines = Deadlines(asyncio.get_running_loop())
        kept = Wait(60_000)
        deadlines.add(60_000, kept)
        ended = []
        for i in range(100):
            wait_ms = 60_000 + i % 7
            ended.append(weakref.ref(wait := Wait(wait_ms)))
            deadlines.add(wait_ms, wait)
            deadlines.end(wait_ms, wait)
            deadlines.end(wait_ms, wait)
        del wait
        assert not [one for one in ended if one() is not None]
        assert deadlines._queues.keys() == {60_000}
        gone = Wait(10)
        deadlines.add(10, gone)
        deadlines.end(10, gone)
        await asyncio.sleep(0.05)
        assert gone.late is None
        assert not kept.done

    run_virtual(run())


def test_a_wait_that_another_one_ends_while_both_are_due_is_not_called():
    class Ends(Wait):
        def expire(self) -> None:
            super().expire()
            other.done = True

    async def run() -> None:
        nonlocal other
        deadlines = Deadlines(asyncio.get_running_loop())
        other = Wait(10)
        deadlines.add(10, Ends(10))
        deadlines.add(10, other)
        await asyncio.sleep(0.05)
        assert other.late is None
        assert not deadlines._queues

    other: Wait
    run_virtual(run())


def test_a_shorter_wait_added_later_ends_first():
    async def run() -> None:
        deadlines = Deadlines(asyncio.get_running_loop())
        long, short = Wait(200), Wait(30)
        deadlines.add(200, long)
        deadlines.add(30, short)
        await asyncio.sleep(0.1)
        assert (short.done, long.done) == (True, False)
        await asyncio.sleep(0.15)
        assert long.done

    run_virtual(run())
