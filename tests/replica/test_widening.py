"""Partitions of one copy get more: what is pushed when, and when the controller is told (KIP-455)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from kproto.clock import ManualClock
from kproto.controller.reassignment import Copied, NewReplicas, decide_copied, decide_reassign
from kproto.errors import ErrorCode, KafkaError
from kproto.replica import widening
from kproto.replica.rewriting import NotHereError, Stretch
from kproto.replica.widening import Widening
from tests.controller.cluster_world import cluster

ME = 1


class Part:
    """An open partition with 10 records that are here, and later ones that have copies."""

    def __init__(self, topic_id: bytes, index: int) -> None:
        self.topic_id, self.index = topic_id, index
        self.vlog: Any = SimpleNamespace(copies=3)
        self.log_start_offset = 2
        self.high_watermark = 10


class Vlogs:
    """Virtual logs of which ``outgrown`` were left, deleted topics had those that are ``over``, and those in
    ``open`` can rest; all have rolled at the third look."""

    def __init__(self) -> None:
        self.outgrown: dict[int, int] = {}
        self.over: list[int] = []
        self.open: dict[int, tuple[int, int]] = {}
        self.looks = 0
        self.told: list[int] = []

    def take_outgrown(self) -> dict[int, int]:
        taken, self.outgrown = self.outgrown, {}
        return taken

    def ended(self) -> list[int]:
        return self.over

    def rest(self, vlog_ids: Iterable[int]) -> list[tuple[int, int, int]]:
        return [(vlog, *self.open[vlog]) for vlog in vlog_ids if vlog in self.open]

    def rested(self, ends: Iterable[tuple[int, int, int]]) -> None:
        for vlog, *end in ends:
            assert self.open.pop(vlog) == tuple(end)
            self.told.append(vlog)

    def leave_behind(self) -> dict[int, int]:
        return {5: 4, 6: 2}

    def left_behind(self, marks: Mapping[int, int]) -> bool:
        self.looks += 1
        return self.looks >= 3


class Pushing:
    """In the place of `Rewriting`."""

    def __init__(self) -> None:
        self.pushed: list[tuple[int, int, int]] = []
        self.problem: Exception | None = None
        self.stops_at = 0
        """Up to there it comes in spite of that."""
        self.copied = True
        self.meanwhile: Callable[[], object] = lambda: None
        """Called once, before anything is pushed."""

    async def push(self, stretch: Stretch, wanted: Callable[[], bool]) -> None:
        if self.problem is not None:
            self._push(stretch, self.stops_at)
            raise self.problem
        meanwhile, self.meanwhile = self.meanwhile, lambda: None
        meanwhile()
        if not wanted():
            raise NotHereError("not wanted any more")
        self._push(stretch, stretch.end)

    def _push(self, stretch: Stretch, end: int) -> None:
        if stretch.at < end:
            self.pushed.append((stretch.partition.index, stretch.at, end))
            stretch.at = end

    async def durable(self) -> None:
        """At once."""

    def is_copied(self, which: Callable[[int], bool]) -> bool:
        return self.copied


class Case:
    """Broker 1 leads the two streamlets of a topic of one copy, which is to have two."""

    def __init__(self) -> None:
        self.world = cluster(3, t=(2, 1, [1, 1]), other=(1, 2, [1]))
        self.topic_id = self.world.image.topics["t"].topic_id
        self.parts = {index: Part(self.topic_id, index) for index in (0, 1)}
        self.vlogs = Vlogs()
        self.pushing = Pushing()
        self.knows = True
        self.refusal: KafkaError | None = None
        self.proposals: list[tuple[str, Any]] = []
        self.done: list[int] = []
        self.clock = ManualClock()
        here: Any = self
        self.widening = Widening(
            ME,
            here,
            here,
            self.vlogs,
            here.pushing,
            lambda: self.world.epoch(ME),
            lambda vseg, keys: self.knows,
            lambda partition: self.done.append(partition.index),
            self.clock,
        )

    @property
    def image(self) -> Any:
        return self.world.image

    def partition(self, topic_id: bytes, index: int) -> Part | None:
        return self.parts.get(index)

    def more_copies(self) -> None:
        wanted = [NewReplicas("t", index, (1, 2)) for index in (0, 1)]
        self.world.commit(decide_reassign(self.world.image, self.world.table, wanted))

    def one_copy(self) -> None:
        """The reassignment is cancelled."""
        wanted = [NewReplicas("t", index, None) for index in (0, 1)]
        answers = self.world.commit(decide_reassign(self.world.image, self.world.table, wanted))
        assert answers == [None, None]

    async def propose(self, kind: str, args: Any) -> Any:
        self.proposals.append((kind, args))
        if self.refusal is not None:
            raise self.refusal
        if kind != "copied":
            return []
        copied = [Copied(bytes.fromhex(topic), *rest) for topic, *rest in args["streamlets"]]
        return self.world.commit(
            decide_copied(self.world.image, self.world.table, ME, self.world.epoch(ME), copied)
        )

    def told(self) -> list[int]:
        """Streamlets that the controller was told of."""
        return [row[1] for kind, args in self.proposals if kind == "copied" for row in args["streamlets"]]


def run(body: Callable[[Case], Coroutine[Any, Any, None]]) -> None:
    async def go() -> None:
        this = Case()
        this.more_copies()
        await body(this)

    asyncio.run(asyncio.wait_for(go(), 120))


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(widening, "LOOK_SECONDS", 0.001)
    monkeypatch.setattr(widening, "ROLL_LOOK_SECONDS", 0.0)


def test_what_is_there_is_pushed_once_and_the_owner_is_a_source_then() -> None:
    async def body(this: Case) -> None:
        assert await this.widening.look() == 2
        assert this.pushing.pushed == [(0, 2, 10), (1, 2, 10)]
        assert [this.world.streamlet("t", index).sources for index in (0, 1)] == [(this.world.epoch(ME),)] * 2
        assert this.done == [0, 1]
        assert await this.widening.look() == 0, "nothing is left to do"
        assert len(this.pushing.pushed) == 2

    run(body)


@pytest.mark.parametrize("lacks", ["state", "copies"])
def test_the_controller_is_told_only_when_others_can_serve_it(lacks: str) -> None:
    """Before, a recovery would find records without what is known of their producers, or none at all."""

    async def body(this: Case) -> None:
        this.knows, this.pushing.copied = lacks != "state", lacks != "copies"
        assert await this.widening.look() == 2
        assert not this.proposals
        assert this.world.streamlet("t").sources == ()
        this.knows = this.pushing.copied = True
        await this.widening.look()
        assert this.told() == [0, 1]
        assert len(this.pushing.pushed) == 2, "what was pushed is not pushed again"

    run(body)


@pytest.mark.parametrize("why", ["not open", "no virtual log", "one copy", "missing"])
def test_a_partition_that_is_not_ready_holds_no_other_up(why: str) -> None:
    async def body(this: Case) -> None:
        first = this.parts[0]
        vlog = first.vlog
        if why == "not open":
            del this.parts[0]
        elif why == "no virtual log":
            first.vlog = None
        elif why == "one copy":
            first.vlog = SimpleNamespace(copies=1)
        else:
            this.pushing.problem = NotHereError("not in files here yet")
        assert await this.widening.look() == 2
        assert this.told() == ([] if why == "missing" else [1])
        this.parts[0], first.vlog, this.pushing.problem = first, vlog, None
        this.clock.advance(widening.RETRY_SECONDS)
        await this.widening.look()
        assert sorted(this.told()) == [0, 1]
        assert sorted(this.done) == [0, 1]

    run(body)


def test_what_stopped_goes_on_where_it_was_and_waits_longer_each_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """With a damaged batch in the only copy, all before it was pushed again every second: backups filled up,
    and nobody was told."""

    async def body(this: Case) -> None:
        this.pushing.problem, this.pushing.stops_at = NotHereError("t-0: offset 6"), 6
        for _ in range(100):
            assert await this.widening.look() == 2
            this.parts[0].high_watermark += 1
            this.clock.advance(1.0)
        assert this.pushing.pushed == [(0, 2, 6), (1, 2, 6)]
        warnings = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
        assert all("t-0: offset 6" in one for one in warnings)
        assert len(warnings) == 2 * 8, "after 0, 1, 3, 7, 15, 31, 61 and 91 s"
        this.pushing.problem = None
        this.clock.advance(widening.MOST_RETRY_SECONDS)
        await this.widening.look()
        assert this.pushing.pushed[2:] == [(0, 6, 10), (1, 6, 10)], "what came since has backups"
        assert this.done == [0, 1]

    run(body)


def test_what_was_pushed_of_a_partition_that_was_closed_meanwhile_is_pushed_again() -> None:
    async def body(this: Case) -> None:
        this.pushing.problem, this.pushing.stops_at = NotHereError("t-0: offset 6"), 6
        await this.widening.look()
        this.parts[0], this.pushing.problem = Part(this.topic_id, 0), None
        this.clock.advance(widening.RETRY_SECONDS)
        await this.widening.look()
        assert this.pushing.pushed[2:] == [(0, 2, 10), (1, 6, 10)]

    run(body)


def test_what_the_controller_does_not_take_is_said_again_and_not_pushed_again() -> None:
    async def body(this: Case) -> None:
        before = this.world.image
        propose = this.propose

        async def too_late(kind: str, args: Any) -> Any:
            answers = await propose(kind, args)
            this.world.image = before
            return [False for _ in answers]

        this.propose = too_late  # type: ignore[method-assign]
        await this.widening.look()
        assert not this.done
        this.propose = propose  # type: ignore[method-assign]
        await this.widening.look()
        assert this.done == [0, 1]
        assert len(this.pushing.pushed) == 2

    run(body)


def test_what_was_pushed_before_it_was_cancelled_is_pushed_again_with_what_came_since() -> None:
    """In between, records were appended that are in virtual logs without backups."""

    async def body(this: Case) -> None:
        this.knows = False
        await this.widening.look()
        assert this.pushing.pushed == [(0, 2, 10), (1, 2, 10)]
        this.one_copy()
        assert await this.widening.look() == 0
        for part in this.parts.values():
            part.high_watermark = 15
        this.more_copies()
        this.knows = True
        await this.widening.look()
        assert this.pushing.pushed[2:] == [(0, 2, 15), (1, 2, 15)]
        assert [this.world.streamlet("t", index).sources for index in (0, 1)] == [(this.world.epoch(ME),)] * 2

    run(body)


def test_cancelled_and_begun_again_between_two_looks_it_is_pushed_again() -> None:
    async def body(this: Case) -> None:
        this.knows = False
        await this.widening.look()
        this.one_copy()
        this.more_copies()
        this.pushing.problem, this.pushing.stops_at = NotHereError("t-0: offset 6"), 6
        await this.widening.look()
        this.one_copy()
        this.more_copies()
        this.pushing.problem = None
        await this.widening.look()
        both = [[(0, 2, end), (1, 2, end)] for end in (10, 6, 10)]
        assert this.pushing.pushed == [one for some in both for one in some]

    run(body)


def test_cancelling_ends_the_push_that_is_running_and_what_it_would_have_said() -> None:
    async def body(this: Case) -> None:
        this.pushing.meanwhile = this.one_copy
        await this.widening.look()
        assert not this.pushing.pushed
        assert not this.proposals
        this.more_copies()
        durable = this.pushing.durable

        async def too_late() -> None:
            await durable()
            this.one_copy()

        this.pushing.durable = too_late  # type: ignore[method-assign]
        await this.widening.look()
        assert this.told() == [0, 1]
        assert not this.done, "the controller did not take it"
        assert this.world.streamlet("t").sources == ()

    run(body)


def test_who_leads_no_more_and_who_is_alone_push_nothing() -> None:
    async def body(this: Case) -> None:
        for node in (2, 3):
            this.world.fence(node)
        assert await this.widening.look() == 0, "there is nobody to have copies"
        this.world.register(2)
        this.widening._node_id = 2
        assert await this.widening.look() == 0, "another broker leads them"
        assert not this.pushing.pushed

    run(body)


def test_what_was_outgrown_is_closed_first_and_copied_more_often_then() -> None:
    async def body(this: Case) -> None:
        await this.widening.roll()
        assert not this.proposals, "nothing was outgrown"
        this.vlogs.outgrown, this.vlogs.open = {5: 3, 7: 2}, {5: (4, 900)}
        await this.widening.roll()
        closing, widen = this.proposals
        assert closing == ("close_vsegs", {"vsegs": [[5, 4, 900]]})
        assert this.vlogs.told == [5]
        assert this.vlogs.looks == 3, "all of them are closed before more copies are made"
        assert widen == ("widen", {"vlogs": [[5, 4, 3], [7, 0, 2]]})
        await this.widening.roll()
        assert len(this.proposals) == 2, "said once"

    run(body)


def test_what_only_deleted_topics_had_is_closed_as_soon_as_nothing_is_on_its_way() -> None:
    """All others go on where they are."""

    async def body(this: Case) -> None:
        this.vlogs.over, this.vlogs.open = [5, 7], {5: (4, 900)}
        this.refusal = KafkaError(ErrorCode.REQUEST_TIMED_OUT, "the controller is away")
        with pytest.raises(KafkaError):
            await this.widening.close_ended()
        assert this.vlogs.told == []
        this.refusal = None
        await this.widening.close_ended()
        this.vlogs.open = {7: (1, 20)}
        await this.widening.close_ended()
        await this.widening.close_ended()
        five, seven = ({"vsegs": [[5, 4, 900]]}, {"vsegs": [[7, 1, 20]]})
        assert this.proposals == [("close_vsegs", five), ("close_vsegs", five), ("close_vsegs", seven)]
        assert (this.vlogs.told, this.vlogs.looks) == ([5, 7], 0)

    run(body)


def test_what_only_deleted_topics_had_waits_for_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others may wait for room in the journal, which there is when these ends are known."""
    monkeypatch.setattr(widening, "LOOK_SECONDS", 0.001)

    async def body(this: Case) -> None:
        this.knows = False
        this.vlogs.outgrown, this.vlogs.over = {6: 3}, [5]
        monkeypatch.setattr(this.vlogs, "left_behind", lambda marks: 5 in this.vlogs.told)
        this.widening.start()
        while this.vlogs.outgrown:
            await asyncio.sleep(0)
        this.vlogs.open = {5: (4, 900)}
        async with asyncio.timeout(10):
            while len(this.proposals) < 2:
                await asyncio.sleep(0.001)
        await this.widening.close()
        assert [name for name, _ in this.proposals[:2]] == ["close_vsegs", "widen"]

    run(body)


def test_what_was_outgrown_waits_for_nothing_that_is_being_pushed() -> None:
    """Its virtual segments were open, and had one copy fewer, as long as that took."""

    async def body(this: Case) -> None:
        never = asyncio.Event()

        async def push(*_: Any) -> None:
            this.vlogs.outgrown = {5: 3}
            await never.wait()

        this.pushing.push = push  # type: ignore[method-assign]
        this.widening.start()
        async with asyncio.timeout(10):
            while not this.proposals:
                await asyncio.sleep(0.001)
        await this.widening.close()
        assert this.proposals == [("widen", {"vlogs": [[5, 4, 3]]})]

    run(body)


def test_what_was_outgrown_and_had_to_go_on_once_more_rests_all_the_same() -> None:
    """Something of it was on its way at first, so another segment was opened: an open one would be in limbo
    after a loss of power, and hold up others."""

    async def body(this: Case) -> None:
        this.vlogs.outgrown = {5: 3}
        leave_behind = this.vlogs.leave_behind

        def rolled() -> dict[int, int]:
            this.vlogs.open = {5: (5, 900)}
            return leave_behind()

        this.vlogs.leave_behind = rolled  # type: ignore[method-assign]
        await this.widening.roll()
        assert [kind for kind, _ in this.proposals] == ["close_vsegs", "widen"]
        assert this.proposals[0][1] == {"vsegs": [[5, 5, 900]]}
        assert this.vlogs.told == [5]

    run(body)


def test_what_is_being_pushed_again_into_what_was_outgrown_is_below_the_end_that_is_widened() -> None:
    """It went into the virtual segment after that, which kept one copy fewer for good (12c, 45)."""

    async def body(this: Case) -> None:
        this.vlogs.outgrown = {5: 3}
        pending = [True]
        leave_behind = this.vlogs.leave_behind

        async def durable() -> None:
            await asyncio.sleep(0.001)
            pending.clear()

        def rolled() -> dict[int, int]:
            assert not pending
            return leave_behind()

        this.pushing.durable = durable  # type: ignore[method-assign]
        this.vlogs.leave_behind = rolled  # type: ignore[method-assign]
        await this.widening.roll()
        assert [kind for kind, _ in this.proposals] == ["widen"]

    run(body)


def test_what_was_outgrown_is_not_forgotten_when_the_controller_is_away() -> None:
    async def body(this: Case) -> None:
        this.vlogs.outgrown, this.vlogs.open = {5: 3}, {5: (4, 900)}
        this.refusal = KafkaError(ErrorCode.NOT_CONTROLLER)
        with pytest.raises(KafkaError):
            await this.widening.roll()
        assert not this.vlogs.told, "the store does not know its end"
        this.refusal = None
        this.vlogs.outgrown = {5: 2, 6: 2}
        await this.widening.roll()
        assert this.vlogs.told == [5]
        assert this.proposals[-1] == ("widen", {"vlogs": [[5, 4, 3], [6, 2, 2]]})

    run(body)


def test_it_looks_again_when_something_changed_or_is_left_to_do() -> None:
    async def body(this: Case) -> None:
        looks: list[int] = []
        look = this.widening.look

        async def counted() -> int:
            looks.append(await look())
            return looks[-1]

        this.widening.look = counted  # type: ignore[method-assign]
        this.knows = False
        this.widening.start()
        async with asyncio.timeout(60):
            while len(looks) < 3:
                await asyncio.sleep(0.001)
            this.knows = True
            while looks[-1]:
                await asyncio.sleep(0.001)
        assert this.done == [0, 1]
        before = len(looks)
        await asyncio.sleep(0.01)
        assert len(looks) == before, "nothing to do, and nothing changed"
        this.world.register(4)
        async with asyncio.timeout(60):
            while len(looks) == before:
                await asyncio.sleep(0.001)
        await this.widening.close()

    run(body)
