"""A leader that hands over: refuses, waits, rolls, tells, and takes back what it may (rule 12b)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kproto.clock import ManualClock
from kproto.errors import ErrorCode, KafkaError
from kproto.log.partition import Partition
from kproto.metadata import BrokerRecord, MetadataImage, StreamletRecord
from kproto.metadata.records import ONLINE, RECOVERING
from kproto.metadata.vlogs import Move, VlogTable, VsegId
from kproto.replica import handing_over
from kproto.replica.handing_over import HandingOver, all_durable
from kproto.wire.primitives import WireError
from tests.log.replicated import ME, Replicated, Sealed
from tests.log.support import TOPIC_ID, batch

EPOCH = 99


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handing_over, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(handing_over, "REST_SECONDS", 0.01)
    monkeypatch.setattr(handing_over, "RETRY_SECONDS", 0.01)


class Rolls:
    """Virtual logs that have rolled when the test says so."""

    def __init__(self) -> None:
        self.rolled = True
        self.asked = 0

    def leave_behind(self) -> dict[int, int]:
        self.asked += 1
        return {1: 4}

    def left_behind(self, marks: Mapping[int, int]) -> bool:
        assert marks == {1: 4}
        return self.rolled


class Office:
    """Metadata in which streamlet 0 is led here, and the controller that is told."""

    def __init__(self) -> None:
        self.table = VlogTable()
        self.told: list[Any] = []
        self.answers: list[Any] = []
        self.led(ME, ONLINE)

    def led(self, leader: int, state: int) -> None:
        record = StreamletRecord(TOPIC_ID, 0, leader, 3, (ME, 2), state, (EPOCH,))
        brokers = {node: BrokerRecord(node, EPOCH if node == ME else node, "h", 1, None) for node in (ME, 2)}
        self.image = MetadataImage(brokers=brokers, streamlets={TOPIC_ID: (record,)})

    def move(self, began: int = 7) -> None:
        self.table.moves[TOPIC_ID, 0] = Move(TOPIC_ID, 0, 2, 3, began)

    async def propose(self, kind: str, args: Any) -> Any:
        assert kind == "handed_over"
        self.told.append(args)
        await asyncio.sleep(0)
        answer = self.answers.pop(0) if self.answers else True
        if isinstance(answer, Exception):
            raise answer
        self.table.moves.clear()
        if answer:
            self.led(2, RECOVERING)
        return [answer]


class Bench:
    """A log with one partition in it, and who hands it over."""

    def __init__(self, path: Path) -> None:
        self.log = Replicated(path, Sealed())
        self.log.take_over(0)
        self.office = Office()
        self.vlogs = Rolls()
        self.owed: set[VsegId] = set()
        self.clock = ManualClock()
        self.handing = HandingOver(
            ME,
            self.office,
            self.log.manager,
            self.vlogs,
            lambda: EPOCH,
            self.clock,
            lambda records: [frozenset(self.owed)] * len(records),
        )

    @property
    def partition(self) -> Partition:
        return self.log.partition(0)

    def look(self) -> None:
        self.handing.on_image(self.office.image)

    async def told(self, times: int = 1) -> None:
        async with asyncio.timeout(60):
            while len(self.office.told) < times:
                await asyncio.sleep(0.001)
        await asyncio.sleep(0.01)

    def takes_appends(self) -> bool:
        if not self.partition.handing_over:
            self.partition.append(memoryview(batch(10)))
            return True
        with pytest.raises(KafkaError) as refused:
            self.partition.append(memoryview(batch(10)))
        assert refused.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER
        return False


def run(path: Path, body: Callable[[Bench], Awaitable[None]]) -> None:
    async def go() -> None:
        bench = Bench(path)
        await body(bench)
        await bench.handing.close()

    asyncio.run(asyncio.wait_for(go(), 120))


def test_it_waits_for_all_that_was_appended_and_refuses_more(tmp_path: Path) -> None:
    async def body(bench: Bench) -> None:
        assert bench.takes_appends()
        bench.office.move()
        bench.look()
        await asyncio.sleep(0.01)
        assert not bench.takes_appends()
        assert not bench.vlogs.asked, "not before all is durable"
        bench.log.journal.push()
        await bench.told()
        assert bench.vlogs.asked == 1
        assert bench.office.told[0] == {"streamlets": [[TOPIC_ID.hex(), 0, 3, 7]], "upto": [[1, 4]]}
        assert not bench.takes_appends()

    run(tmp_path, body)


def test_an_answer_that_makes_no_sense_does_not_end_it(tmp_path: Path) -> None:
    """Nobody knows what became of it: it refuses appends, and asks again, though no news come."""

    async def body(bench: Bench) -> None:
        bench.office.answers = [WireError("no answer")]
        bench.office.move()
        bench.look()
        await bench.told()
        assert not bench.takes_appends()
        await bench.told(2)
        assert not bench.office.table.moves

    run(tmp_path, body)


def test_what_the_controller_may_have_done_is_not_taken_back(tmp_path: Path) -> None:
    """The other one may lead already, and what is appended here then is read by nobody."""

    async def body(bench: Bench) -> None:
        propose = bench.office.propose

        async def once(kind: str, args: Any) -> Any:
            bench.vlogs.rolled = False
            return await propose(kind, args)

        bench.office.answers = [WireError("no answer")]
        bench.office.propose = once  # type: ignore[method-assign]
        bench.office.move()
        bench.look()
        await bench.told()
        await asyncio.sleep(0.3)  # several rounds that end without having told anything
        assert not bench.takes_appends()
        assert len(bench.office.told) == 1
        bench.vlogs.rolled = True
        await bench.told(2)

    run(tmp_path, body)


def test_appends_are_taken_again_when_something_fails_before_it_is_told(tmp_path: Path) -> None:
    async def body(bench: Bench) -> None:
        def fails() -> dict[int, int]:
            raise OSError("no descriptor")

        bench.vlogs.leave_behind = fails  # type: ignore[method-assign]
        bench.office.move()
        bench.look()
        await asyncio.sleep(0.005)
        assert bench.takes_appends()

    run(tmp_path, body)


def test_reading_goes_on(tmp_path: Path) -> None:
    async def body(bench: Bench) -> None:
        assert bench.takes_appends()
        bench.log.journal.push()
        bench.office.answers = [KafkaError(ErrorCode.NOT_CONTROLLER)] * 3
        bench.office.move()
        bench.look()
        await bench.told()
        assert bench.partition.read(0, 1000).pieces

    run(tmp_path, body)


def test_a_move_that_is_given_up_before_it_was_told(tmp_path: Path) -> None:
    async def body(bench: Bench) -> None:
        bench.vlogs.rolled = False
        bench.office.move()
        bench.look()
        await asyncio.sleep(0.01)
        assert not bench.takes_appends()
        bench.office.table.moves.clear()
        bench.look()
        assert bench.takes_appends()
        bench.vlogs.rolled = True
        await asyncio.sleep(0.1)
        assert not bench.office.told

    run(tmp_path, body)


def test_it_takes_appends_again_when_it_lasts_too_long_and_tries_once_more(tmp_path: Path) -> None:
    async def body(bench: Bench) -> None:
        bench.vlogs.rolled = False
        bench.office.move()
        bench.look()
        seen = set()
        async with asyncio.timeout(60):
            while len(seen) < 2 or bench.vlogs.asked < 2:
                seen.add(bench.takes_appends())
                bench.log.journal.push()
                await asyncio.sleep(0.002)
        bench.vlogs.rolled = True
        await bench.told()

    run(tmp_path, body)


def test_while_the_outcome_is_unknown_nothing_is_taken(tmp_path: Path) -> None:
    async def body(bench: Bench) -> None:
        bench.office.answers = [KafkaError(ErrorCode.NOT_CONTROLLER)] * 5
        bench.office.move()
        bench.look()
        for _ in range(5):
            await asyncio.sleep(0.005)
            assert not bench.takes_appends()
        await bench.told(6)
        assert not bench.takes_appends()

    run(tmp_path, body)


def test_a_refused_move_leaves_the_leader(tmp_path: Path) -> None:
    async def body(bench: Bench) -> None:
        bench.office.answers = [False]
        bench.office.move()
        bench.look()
        await bench.told()
        assert bench.takes_appends()

    run(tmp_path, body)


def test_nothing_is_refused_before_what_was_closed_has_more_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two one is the leader's own (17). What is closed meanwhile, or loses a copy afterwards, holds up
    nothing: else a leader that is written to would never go."""

    async def body(bench: Bench) -> None:
        monkeypatch.setattr(handing_over, "PATIENCE_SECONDS", 60.0)
        first, second, third = (VsegId(EPOCH, 1, seq) for seq in range(3))
        bench.vlogs.rolled = False
        bench.office.move()
        for owed in ({first, second}, {second, third}):
            bench.owed = owed
            bench.look()
            await asyncio.sleep(0.01)
            assert bench.takes_appends()
        bench.owed = {third}
        bench.look()
        await asyncio.sleep(0.01)
        assert not bench.takes_appends()
        bench.owed = {first, second, third}
        bench.look()
        await asyncio.sleep(0.01)
        assert not bench.takes_appends(), "it goes on with what it has begun"
        bench.vlogs.rolled = True
        bench.log.journal.push()
        await bench.told()
        assert bench.office.told[0]["streamlets"] == [[TOPIC_ID.hex(), 0, 3, 7]]

    run(tmp_path, body)


def test_a_move_that_waits_for_long_is_told_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing said why it did not end. No image has to come for that: with full disks none does."""

    async def body(bench: Bench) -> None:
        bench.owed = {VsegId(EPOCH, 1, seq) for seq in range(9)}
        bench.office.move()
        bench.look()
        for seconds, lines in ((0.0, 0), (handing_over.TOLD_SECONDS, 1), (1.0, 1)):
            bench.clock.advance(seconds)
            bench.handing.tick()
            assert len(caplog.records) == lines
        assert "wait for copies (12b): 1 of them, of 9 virtual segments" in caplog.text
        bench.office.table.moves.clear()
        bench.look()
        assert "works again" in caplog.text
        assert not bench.handing._owed
        bench.office.move(9)
        bench.look()
        assert len(caplog.records) == 2, "another one, which has just begun"

    run(tmp_path, body)


def test_moves_that_wait_for_the_same_share_what_is_known_of_it(tmp_path: Path) -> None:
    """Of 2,000 moves each kept its own 2,000 virtual segments: 780 MB."""

    async def body(bench: Bench) -> None:
        records = tuple(
            StreamletRecord(TOPIC_ID, index, ME, 3, (ME, 2), ONLINE, (EPOCH,)) for index in range(3)
        )
        bench.office.image = replace(bench.office.image, streamlets={TOPIC_ID: records})
        for index in range(3):
            bench.office.table.moves[TOPIC_ID, index] = Move(TOPIC_ID, index, 2, 3, 7)
        bench.owed = {VsegId(EPOCH, 1, seq) for seq in range(9)}
        for left in (9, 8, 7):
            bench.look()
            assert len(bench.handing._owed) == 3
            assert {id(owed) for owed in bench.handing._owed.values()} == {
                id(bench.handing._owed[min(bench.handing._owed)])
            }
            assert len(bench.handing._owed[min(bench.handing._owed)]) == left
            bench.owed.pop()
            bench.owed.add(VsegId(EPOCH, 2, left))

    run(tmp_path, body)


def test_an_owner_epoch_that_is_over_hands_nothing_over(tmp_path: Path) -> None:
    async def body(bench: Bench) -> None:
        bench.office.answers = [KafkaError(ErrorCode.STALE_BROKER_EPOCH)]
        bench.office.move()
        bench.look()
        await bench.told()
        assert not bench.takes_appends()
        assert len(bench.office.told) == 1

    run(tmp_path, body)


def test_without_waiting_chunks_would_be_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(bench: Bench) -> None:
        assert bench.takes_appends()
        bench.office.move()
        bench.look()
        await asyncio.sleep(0.02)
        told.append(len(bench.office.told))

    told: list[int] = []
    run(tmp_path / "with", body)
    monkeypatch.setattr(handing_over, "all_durable", lambda _: True)
    run(tmp_path / "without", body)
    assert told == [0, 1]
    assert all_durable([])


def test_what_is_opened_meanwhile_takes_nothing_either(tmp_path: Path) -> None:
    async def body(bench: Bench) -> None:
        bench.office.move()
        bench.look()
        await bench.told()
        assert not bench.log.manager.streams.get(TOPIC_ID)
        assert not bench.takes_appends()

    run(tmp_path, body)


def test_what_is_tried_again_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Each try of either kind was a line: ten a second while the controller was away."""

    async def body(bench: Bench) -> None:
        bench.office.answers = [KafkaError(ErrorCode.NOT_CONTROLLER, "nobody is there")] * 5
        bench.vlogs.rolled = False
        bench.office.move()
        bench.look()
        async with asyncio.timeout(15):
            while bench.vlogs.asked < 4:
                await asyncio.sleep(0.001)
        bench.vlogs.rolled = True
        await bench.told(6)

    run(tmp_path, body)
    assert caplog.messages == [
        "streamlets could not be handed over in time: 1 of them, which take appends again until the next try",
        "1 streamlets wait to be handed over: NOT_CONTROLLER: nobody is there",
        "1 streamlets wait to be handed over: it works again",
        "streamlets could not be handed over in time: it works again",
    ]
