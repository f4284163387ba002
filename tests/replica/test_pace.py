"""A limit on reads, however low, makes nobody wait in vain: neither reads for recoveries nor repairs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from kproto.metadata.vlogs import VsegId
from kproto.net.internal import Caller
from kproto.net.ports import Answer
from kproto.replica import bring_over, pace, repair
from kproto.replica.messages import Look, Raw, Read, ReadAnswer
from kproto.replica.pace import KEPT_S, LONGEST_WAIT, MOST_DEBT_S, Pace
from kproto.vlog.frame import FILE_HEADER_SIZE
from kproto.wire.internal import Api, InternalError
from tests.replica.support import Replying, VirtualLoop
from tests.replica.test_edges import reach, record
from tests.replica.test_repair import repaired, source_and_target
from tests.replica.test_service import PARTS, VSEG, Backup, owner_of

RATE = 32 << 10
FRAME = 200_000
"""Reading one takes longer than anybody waits for one answer when others come first."""
PATIENCE = min(*bring_over.PATIENCE, repair.PIECE_SECONDS)


class Asking:
    """Somebody who reads a copy to its end, answer by answer; who has no answer in time asks once more."""

    def __init__(self, backup: Backup, node: int, end: int, raw: bool) -> None:
        self.backup = backup
        self.caller = Caller(node, 5)
        self.end = end
        self.raw = raw
        self.at = 0
        self.gave_up = 0
        self.turns: list[float] = []
        self.asked = 0
        self.ask()

    def ask(self) -> None:
        if self.at >= self.end:
            return
        self.asked += 1
        number, service = self.asked, self.backup.service
        self.backup.station.loop.call_later(PATIENCE, self.late, number)

        def reply(error: int, *pieces: Any) -> None:
            if number == self.asked:
                self.answered(error, b"".join(map(bytes, pieces)))

        if self.raw:
            service.raw(self.caller, memoryview(Raw(VSEG, self.at, 1 << 20).encode()), Replying(reply))
        else:
            read = Read(VSEG, self.at, self.end, PARTS[:1], 1 << 20, background=True)
            service.read(self.caller, memoryview(read.encode()), Replying(reply))

    def answered(self, error: int, body: bytes) -> None:
        if error != InternalError.WAIT:
            assert error == InternalError.NONE
            self.at = self.at + len(body) if self.raw else ReadAnswer.decode(memoryview(body)).next
            self.turns.append(self.backup.station.loop.now)
        self.asked += 1
        self.ask()

    def late(self, number: int) -> None:
        if number == self.asked and self.at < self.end:
            self.gave_up += 1
            self.ask()


def test_all_get_what_they_want_in_the_time_that_it_takes() -> None:
    """Nothing is read in vain, and none of them is left behind."""
    backup = Backup(read_rate=RATE)
    owner = owner_of([[(0, FRAME)]] * 4)
    backup.hold(owner)
    readers = [Asking(backup, node, owner.end, False) for node in range(1, 6)]
    repairs = [Asking(backup, node, owner.end + FILE_HEADER_SIZE, True) for node in (6, 7)]
    backup.station.loop.run(3600)
    everybody = readers + repairs
    assert all(one.at >= one.end for one in everybody)
    assert not any(one.gave_up for one in everybody)
    assert max(one.asked for one in readers) > 8, "the frames are too small to make anybody wait"
    took = max(one.turns[-1] for one in everybody)
    assert took <= sum(one.end for one in everybody) / RATE * 1.1
    assert backup.service.pace.bytes <= sum(one.end for one in everybody) * 1.01
    for one in readers:
        for number, at in enumerate(one.turns):
            others = [sum(turn < at for turn in other.turns) for other in readers if other is not one]
            assert all(abs(count - number) <= 1 for count in others)


class Line:
    """A limit of 1000 bytes per second, and who was let in or told to ask again, in order."""

    def __init__(self) -> None:
        self.loop = VirtualLoop()
        self.pace = Pace(self.loop, self.loop, 1000)
        self.told: list[tuple[str, float]] = []

    def take(self, name: str, size: int, again: bool = True, who: str = "") -> None:
        def tell(what: str) -> Callable[[], None]:
            return lambda: self.told.append((what, round(self.loop.now, 3)))

        self.pace.take(size, tell(name), tell(name + "?") if again else None, who or name)


def test_who_asks_again_has_kept_his_place() -> None:
    line = Line()
    line.take("first", 5000)
    line.take("a", 1000)
    line.loop.run(0.5)
    line.take("b", 1000)
    line.loop.run(LONGEST_WAIT - 0.5)
    assert line.told == [("first", 0), ("a?", LONGEST_WAIT)]
    line.loop.run(0.2)
    line.take("a", 1000)
    line.loop.run(10)
    assert line.told[2:] == [("b?", LONGEST_WAIT + 0.5), ("a", 5)]
    assert line.pace.waited == pytest.approx(LONGEST_WAIT * 2 + 0.8)


def test_the_place_of_one_who_does_not_come_back_is_gone() -> None:
    line = Line()
    line.take("first", 9000)
    line.take("a", 1000)
    line.loop.run(LONGEST_WAIT + KEPT_S)
    assert line.told[1:] == [("a?", LONGEST_WAIT)]
    line.take("b", 1000)
    line.loop.run(1.5)
    line.take("a", 1000)
    line.loop.run(10)
    assert line.told[2:] == [("b", 9), ("a", 10)]


def test_nobody_stands_in_line_twice() -> None:
    line = Line()
    line.take("first", 1000)
    line.take("a", 1000, who="a")
    line.take("b", 1000)
    line.take("a once more", 500, who="a")
    line.loop.run(10)
    assert line.told == [("first", 0), ("a?", 0), ("a once more", 1), ("b", 1.5)]


def test_who_cannot_ask_again_waits_as_long_as_it_takes() -> None:
    line = Line()
    line.take("first", 20_000)
    line.take("here", 1000, again=False)
    line.loop.run(30)
    assert line.told == [("first", 0), ("here", 20)]


def test_what_was_read_at_once_holds_up_others_for_a_while_only() -> None:
    line = Line()
    for _ in range(3):
        line.pace.at_once(1 << 30)
    line.take("a", 1000, again=False)
    line.loop.run(60)
    assert line.told == [("a", MOST_DEBT_S)]
    assert line.pace.bytes == 3 << 30


def test_a_turn_that_needed_less_lets_the_next_one_in_sooner() -> None:
    line = Line()
    line.take("a", 3000)
    line.take("b", 1000)
    line.pace.correct(3000, 1000)
    line.loop.run(10)
    assert line.told == [("a", 0), ("b", 1)]


class Waiting:
    """A peer that lets everybody ask so many times."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.asked: list[int] = []

    async def call(self, node: int, _api: int, _body: Any, _timeout: float) -> Answer:
        self.asked.append(node)
        self.times -= 1
        error = InternalError.WAIT if self.times >= 0 else InternalError.NONE
        return Answer(error, memoryview(b"" if error else b"it"))


def test_a_copy_that_lets_wait_is_asked_again_and_no_other() -> None:
    peers = Waiting(7)
    one = reach(5, {node: f"s{node}" for node in range(1, 6)}, peers)
    assert asyncio.run(one.ask(record(2, 3, 4), Api.CATALOG, Look(VSEG, 9, []), bytes)) == b"it"
    assert len(peers.asked) == 8
    assert len(set(peers.asked)) == 1


def test_a_repair_asks_again_and_takes_what_it_gets() -> None:
    """Pieces are as small as the source likes, and come when it likes."""
    peers, _, target, owner, listed = source_and_target()
    turns = 0

    def let_wait(answer: Answer) -> Answer:
        nonlocal turns
        turns += 1
        if turns % 3:
            return Answer(InternalError.WAIT, memoryview(b""))
        return Answer(answer.error, answer.body[:100])

    peers.answers = let_wait
    assert repaired(target, listed) == InternalError.NONE
    assert target.station.store.is_whole(VsegId(*listed.id))
    assert bytes(target.station.file(VSEG)) == owner.first + b"".join(frame for _, frame in owner.frames)
    assert turns > 6


def test_whoever_waits_is_told_before_he_gives_up() -> None:
    assert pace.LONGEST_WAIT * 2 < PATIENCE
