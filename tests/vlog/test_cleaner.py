"""The cleaner beside other work of the loop, in virtual time: segments whose flushes take long."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kproto.vlog.cleaner import REST, SLICE_S, Cleaner, Closed
from kproto.vlog.virtual_segment import VirtualSegment
from tests.replica.support import VirtualLoop

FLUSH_S = 0.0015
SEGMENTS = 200
END = 1000


class SlowSegment:
    """A segment of a partition of its own; a flush takes its time."""

    def __init__(self, loop: VirtualLoop, log: list[float]) -> None:
        self.flushed = self.synced = 0
        self.earlier: list[SlowSegment] = []
        self._loop = loop
        self._log = log

    def flush(self, upto: int) -> None:
        self._log.append(self._loop.now)
        self._loop.now += FLUSH_S
        self.flushed = max(self.flushed, min(upto, 2 * END))

    def sync(self) -> None:
        self.synced = self.flushed

    def before(self) -> list[SlowSegment]:
        return [one for one in self.earlier if not one.synced]


class World:
    """A cleaner, a journal that only counts, and a thread that is done at once."""

    def __init__(self) -> None:
        self.loop = VirtualLoop()
        self.flushes: list[float] = []
        self.given_back: list[Any] = []
        self.synced = 0
        self.journal = SimpleNamespace(bytes=0, limit=1 << 40, give_back=self.given_back.append)
        self.cleaner = Cleaner(
            self.journal,  # type: ignore[arg-type]
            self.loop,
            SimpleNamespace(submit=self._submit),  # type: ignore[arg-type]
            self.loop,
            lambda: None,
            lambda: None,
            lambda error: pytest.fail(str(error)),
            pytest.fail,
        )
        self.segments = [SlowSegment(self.loop, self.flushes) for _ in range(SEGMENTS)]

    def _submit(self, call: Any, done: Any) -> None:
        self.synced += 1
        call()
        self.loop.call_soon(done, None)

    def closed(self, number: int) -> Closed:
        segment = VirtualSegment(number, 0, 1 << 20, 1, 0)
        segment.stripes[0].extents = dict.fromkeys(self.segments, END)
        segment.closed = True
        vlog: Any = SimpleNamespace(forget=lambda _segment: None)
        file: Any = SimpleNamespace(pins=0)
        return Closed(vlog, segment, file)

    def add(self, closed: Closed) -> None:
        """As `VlogManager` does, from the loop."""
        self.loop.call_soon(self.cleaner.add, closed)

    def flushed(self) -> bool:
        return all(segment.flushed == END for segment in self.segments)


def test_others_have_the_loop_most_of_the_time() -> None:
    world = World()
    world.add(world.closed(0))
    world.loop.run(SEGMENTS * FLUSH_S * (1 + REST) * 1.1)
    assert world.flushed()
    rests = [
        after - before - FLUSH_S for before, after in zip(world.flushes, world.flushes[1:], strict=False)
    ]
    assert min(rests) >= REST * SLICE_S
    assert world.flushes[-1] >= (SEGMENTS - 1) * FLUSH_S * (1 + REST) * 0.99


def test_not_when_a_push_waits_for_room() -> None:
    world = World()
    closed = world.closed(0)
    world.add(closed)
    world.loop.call_soon(world.cleaner.press)
    world.loop.run(SEGMENTS * FLUSH_S * 1.1)
    assert world.flushed()
    assert world.given_back == [closed.file]


def test_many_files_are_synced_only_under_pressure() -> None:
    world = World()
    closed = [world.closed(number) for number in range(4)]
    for one in closed:
        world.add(one)
    world.loop.run(60)
    assert world.flushed()
    assert world.synced == 0
    world.journal.bytes = world.journal.limit
    world.loop.call_soon(world.cleaner.work)
    world.loop.run(60)
    assert world.given_back == [one.file for one in closed]
    assert not world.cleaner.closed
    assert world.synced >= 1


def test_one_that_grew_meanwhile_is_not_given_back() -> None:
    """A later virtual segment needs more of the same segment files."""
    world = World()
    first, second = world.closed(0), world.closed(1)
    second.segment.stripes[0].extents = dict.fromkeys(world.segments, 2 * END)
    world.journal.bytes = world.journal.limit
    world.add(first)
    world.loop.run(60)
    assert world.given_back == [first.file]
    world.add(second)
    world.loop.run(60)
    assert all(segment.synced == 2 * END for segment in world.segments)
    assert world.given_back == [first.file, second.file]


def test_files_wait_until_a_start_would_know_what_was_deleted() -> None:
    world = World()
    world.cleaner.deletions.newest = 7
    closed = world.closed(0)
    world.add(closed)
    world.journal.bytes = world.journal.limit
    world.loop.run(60)
    assert world.flushed()
    assert world.given_back == []
    world.cleaner.deletions.known = 6
    world.loop.call_soon(world.cleaner.work)
    world.loop.run(60)
    assert world.given_back == []
    world.cleaner.deletions.known = 7
    world.loop.call_soon(world.cleaner.work)
    world.loop.run(60)
    assert world.given_back == [closed.file]


def test_files_do_not_wait_for_deletions_that_come_later() -> None:
    """Some come all the time: the journal became full. All that was done at one time goes with one sync of
    the checkpoint."""
    world = World()
    deletions, closed = world.cleaner.deletions, [world.closed(number) for number in range(3)]
    deletions.newest = 7
    world.journal.bytes = world.journal.limit
    for one in closed:
        world.add(one)
    world.loop.run(60)
    assert world.given_back == []
    deletions.known, deletions.newest = 7, 9
    world.loop.call_soon(world.cleaner.work)
    world.loop.run(60)
    assert world.given_back == [one.file for one in closed]
    assert not world.cleaner._done


def test_what_a_partition_has_before_is_synced_first() -> None:
    """It is in the journal of another virtual log, which may stay open for long."""
    world = World()
    earlier = SlowSegment(world.loop, world.flushes)
    world.segments[-1].earlier = [earlier]
    closed = world.closed(0)
    world.add(closed)
    world.loop.run(60)
    assert earlier.flushed == 2 * END
    for segment in world.segments:
        segment.sync()
    assert world.cleaner.release() == 0
    world.journal.bytes = world.journal.limit
    world.loop.call_soon(world.cleaner.work)
    world.loop.run(60)
    assert earlier.synced == 2 * END
    assert world.given_back == [closed.file]
