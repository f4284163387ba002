"""Who has given up, or is gone, is read for no more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from kproto.metadata.vlogs import VsegId
from kproto.net.internal import Caller
from kproto.net.ports import Answer, PeerError
from kproto.replica import awaited
from kproto.replica.awaited import AwaitedReads, UnwantedError
from kproto.replica.copies import NO_FILE
from kproto.replica.messages import Look, Raw, Read
from kproto.replica.reach import ANSWER_SECONDS, FIRST_SECONDS
from kproto.wire.internal import Api, InternalError
from tests.replica.support import Metadata, Owner, Replying, VirtualLoop
from tests.replica.test_edges import reach, record
from tests.replica.test_service import CALLER, PARTS, VSEG, Backup, owner_of
from tests.replica.test_store_waiting import BusyWorker

Request = Look | Read | Raw
REQUESTS: dict[Api, Callable[[Owner], Request]] = {
    Api.READ: lambda owner: Read(VSEG, 0, owner.end, PARTS, 1000),
    Api.STATE: lambda owner: Look(VSEG, owner.end, PARTS),
    Api.CATALOG: lambda owner: Look(VSEG, owner.end, PARTS),
    Api.RAW: lambda owner: Raw(VSEG, 0, 1000),
}


class Line:
    """A backup whose worker is busy, and what it answered."""

    def __init__(self, read_rate: int = 0) -> None:
        self.backup = Backup(read_rate=read_rate)
        self.owner = owner_of([[(0, 300)], None, [(1, 200)]])
        self.backup.hold(self.owner)
        self.busy = BusyWorker()
        store = self.backup.station.store
        store.workers = store.workers._replace(reads=self.busy)
        self.answers: list[InternalError] = []

    def ask(
        self, api: Api, patience: float = 0.0, caller: Caller = CALLER, *, wanted: bool = True
    ) -> Replying:
        service = self.backup.service
        handler = {
            Api.READ: service.read,
            Api.STATE: service.state,
            Api.CATALOG: service.catalog,
            Api.RAW: service.raw,
        }[api]
        body = REQUESTS[api](self.owner)._replace(patience_ms=int(patience * 1000)).encode()
        reply = Replying(lambda error, *_: self.answers.append(InternalError(error)))
        reply.wanted = wanted
        handler(caller, memoryview(body), reply)
        return reply

    def finish(self) -> None:
        while self.busy.jobs:
            self.busy.finish()


@pytest.mark.parametrize("api", REQUESTS)
def test_a_read_whose_connection_is_gone_is_not_done(api: Api) -> None:
    """All that a dead broker, or one that nobody reaches any more, had asked for was read."""
    line = Line()
    replies = [line.ask(api) for _ in range(5)]
    replies[2].wanted = replies[3].wanted = False
    line.finish()
    assert line.answers.count(InternalError.NONE) == 3
    assert line.answers.count(InternalError.WAIT) == 2
    assert not line.backup.station.store.copies[VSEG].pins


@pytest.mark.parametrize("api", REQUESTS)
def test_nor_one_whose_answer_would_come_too_late(api: Api) -> None:
    """A hundred consumers of a dead broker's data: copies that were behind read for each of them four
    times, for nobody, and so none had an answer in time."""
    line = Line()
    for patience in (0.0, 0.0, 1.0, 5.0, 0.0):
        line.ask(api, patience)
    line.backup.station.loop.now += 2.0
    line.finish()
    assert line.answers.count(InternalError.NONE) == 4
    assert line.answers.count(InternalError.WAIT) == 1


def test_what_is_not_read_counts_for_no_limit() -> None:
    line = Line(read_rate=1000)
    line.ask(Api.RAW, 1.0, Caller(1, 5), wanted=False)
    line.finish()
    assert line.answers == [InternalError.WAIT]
    assert line.backup.service.pace.bytes == 0
    line.ask(Api.RAW, 1.0, Caller(2, 5))
    line.finish()
    assert line.answers[1:] == [InternalError.NONE], "its turn comes at once"


def test_any_number_in_the_line_of_the_pace_may_be_gone() -> None:
    """Each that was not read let the next one go, from within: a hundred were too many for the stack, and
    what was left had no answer, or kept the file for ever."""
    line = Line(read_rate=1000)
    body = Read(VSEG, 0, line.owner.end, PARTS, 1000, background=True).encode()
    replies = [Replying(lambda error, *_: line.answers.append(error)) for _ in range(300)]
    for node_id, reply in enumerate(replies):
        line.backup.service.read(Caller(node_id, 5), memoryview(body), reply)
    for reply in replies:
        reply.wanted = False
    line.finish()
    line.backup.station.loop.run(1.0)
    assert line.answers == [InternalError.NONE] + [InternalError.WAIT] * 299
    assert not line.backup.station.store.copies[VSEG].pins


def test_what_the_store_needs_itself_does_not_stand_behind_them() -> None:
    line = Line()
    for _ in range(100):
        line.ask(Api.READ)
    assert len(line.busy.jobs) == awaited.AT_ONCE
    line.busy.finish()
    assert line.answers == [InternalError.NONE]
    assert len(line.busy.jobs) == awaited.AT_ONCE, "the next one"


def test_a_read_whose_answer_fails_does_not_hold_up_others() -> None:
    busy, told = BusyWorker(), list[Any]()
    reads = AwaitedReads(lambda: busy, VirtualLoop())

    def done(error: BaseException | None) -> None:
        told.append(error)
        raise ValueError("made up")

    for _ in range(awaited.AT_ONCE):
        reads.submit(lambda: None, done, lambda _: True)
    reads.submit(lambda: told.append("read in vain"), told.append, lambda _: False)
    reads.submit(lambda: told.append("read"), told.append, lambda _: True)
    for _ in range(awaited.AT_ONCE):
        with pytest.raises(ValueError, match="made up"):
            busy.finish()
    busy.finish()
    vain = told.pop(1)
    assert told == [None, None, "read", None]
    assert isinstance(vain, UnwantedError)


def test_a_copy_that_is_closed_while_a_read_is_in_line_keeps_no_descriptor() -> None:
    """It was left open as long as the copy was there: one for each segment that was read as it was closed."""
    line, metadata = Line(), Metadata(5)
    station = line.backup.station
    metadata.put(line.owner.record(line.owner.end))
    station.store.apply(metadata.table, metadata.live)
    line.ask(Api.READ)
    station.loop.run(1.0)
    copy = station.store.copies[VSEG]
    assert copy.settled
    assert copy.fd != NO_FILE
    line.finish()
    assert line.answers == [InternalError.NONE]
    assert copy.fd == NO_FILE


def test_who_would_have_the_answer_too_late_does_not_take_the_time_of_others() -> None:
    """In a line that is longer than anybody's patience the first ones have hardly any left: half of the reads
    were for nobody, nineteen of twenty where one took 0.3 s."""
    busy, clock, told = BusyWorker(), VirtualLoop(), list[str]()
    reads = AwaitedReads(lambda: busy, clock)

    def submit(name: str, until: float) -> None:
        def done(error: BaseException | None) -> None:
            told.append(f"{name} unwanted" if error is not None else name)

        reads.submit(lambda: None, done, lambda seconds: clock.now + seconds < until)

    for name, until in (("a", 9.0), ("b", 9.0), ("c", 1.0), ("d", 1.7), ("e", 9.0)):
        submit(name, until)
    clock.now = 0.9
    busy.finish()
    clock.now = 1.1
    busy.finish()
    assert told == ["a", "b", "c unwanted"]
    busy.finish()
    busy.finish()
    assert told == ["a", "b", "c unwanted", "e", "d"], "the first to have time, then who may have"
    assert not busy.jobs


def test_copies_are_told_how_long_they_are_waited_for() -> None:
    told: list[int] = []

    class Peers:
        async def call(self, _node: int, _api: int, body: Any, _timeout: float) -> Answer:
            told.append(Look.decode(body).patience_ms)
            if len(told) < 4:
                raise PeerError("silent")
            return Answer(InternalError.NONE, memoryview(b"it"))

    one = reach(5, {node: f"s{node}" for node in (2, 3, 5)}, Peers())
    assert asyncio.run(one.ask(record(2, 3), Api.CATALOG, Look(VsegId(9, 1, 0), 9, []), bytes)) == b"it"
    assert told == [FIRST_SECONDS * 1000] * 2 + [ANSWER_SECONDS * 1000] * 2
