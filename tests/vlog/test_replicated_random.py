"""Virtual logs with backups under any order of messages, failures and stalls: S4, S9, S10, and all that was
appended becomes durable once faults stop."""

from __future__ import annotations

from functools import partial
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from kproto.config.topic_configs import topic_config
from kproto.vlog import pusher
from tests.vlog.cluster import ClusterPartition, ClusterWorld

SIZES = st.sampled_from([100, 3_000, 40_000, 120_000])
POLICIES = st.sampled_from(["9223372036854775807", "5", "1"])
PUSHING = st.one_of(
    st.tuples(st.just("append"), st.integers(0, 3), SIZES),
    st.tuples(st.just("journal"), st.integers(0, 3), SIZES),
    st.tuples(st.just("deliver"), st.integers(0, 3)),
    st.tuples(st.just("answer"), st.integers(0, 3)),
    st.tuples(st.just("store")),
    st.tuples(st.just("flow")),
)
FAILING = st.one_of(
    st.tuples(st.just("cut"), st.integers(0, 3)),
    st.tuples(st.just("down"), st.integers(0, 3)),
    st.tuples(st.just("up"), st.integers(0, 3)),
    st.tuples(st.just("fill"), st.integers(0, 3)),
    st.tuples(st.just("wait"), st.sampled_from([0.01, 0.1, 0.3, 0.6, 6.0])),
    st.tuples(st.just("members")),
)
MANAGING = st.one_of(
    st.tuples(st.just("tick")),
    st.tuples(st.just("renew")),
    st.tuples(st.just("disk"), st.booleans()),
    st.tuples(st.just("sync"), st.booleans()),
    st.tuples(st.just("spread"), st.integers(1, 4)),
    st.tuples(st.just("policy"), st.integers(0, 3), POLICIES),
)
STEPS = st.lists(st.one_of(PUSHING, PUSHING, FAILING, MANAGING), max_size=80)


class Run:
    """One world and what the steps of a test do to it."""

    def __init__(self, copies: int, others: int, policy: str) -> None:
        self.world = ClusterWorld.begin(copies, others)
        config = {"flush__messages": policy}
        self.parts = [self.world.partition(index=i, **config) for i in range(3)]
        self.parts.append(self.world.partition(topic=2, base=70, **config))
        self.waiting: list[tuple[ClusterPartition, int, Any]] = []
        self.fired: list[int] = []
        self.journals: list[bool] = []
        """Who waited for the journal only, and whether they were told."""

    def node(self, number: int) -> Any:
        return list(self.world.nodes.values())[number % len(self.world.nodes)]

    def append(self, number: int, size: int) -> None:
        part = self.parts[number]
        if not part.vlog.blocked:
            vlog, position, number = part.vlog, part.append(size), len(self.waiting)
            self.waiting.append((part, part.log_end_offset, vlog))
            vlog.when_durable(position, partial(self.done, number))
            self.world.loop.turn()

    def journal(self, number: int, size: int) -> None:
        """The same, with somebody who waits for the journal only."""
        part = self.parts[number]
        if not part.vlog.blocked:
            self.append(number, size)
            number = len(self.journals)
            self.journals.append(False)
            part.vlog.when_written(part.vlog.end, partial(self.journaled, number))
            self.world.loop.turn()

    def journaled(self, number: int) -> None:
        assert not self.journals[number], "told twice"
        self.journals[number] = True

    def done(self, number: int) -> None:
        part, end, vlog = self.waiting[number]
        assert vlog.lost or part.high_watermark >= end, "told before it is durable"
        self.fired.append(number)

    def deliver(self, choice: int) -> None:
        self.world.backups.deliver(choice)

    def answer(self, choice: int) -> None:
        self.world.backups.answer(choice)

    def store(self) -> None:
        self.world.vsegs.answer()

    def flow(self) -> None:
        self.world.flow(6)

    def cut(self, number: int) -> None:
        self.world.backups.cut(self.node(number))

    def down(self, number: int) -> None:
        self.node(number).up = False

    def up(self, number: int) -> None:
        self.node(number).up = True

    def fill(self, number: int) -> None:
        self.node(number).full = not self.node(number).full

    def wait(self, seconds: float) -> None:
        self.world.loop.advance(seconds)

    def tick(self) -> None:
        self.world.manager.tick()

    def members(self) -> None:
        self.world.manager.members_changed(i for i, node in self.world.nodes.items() if node.up)

    def renew(self) -> None:
        self.world.pushers[0].renew()

    def disk(self, full: bool) -> None:
        self.world.disk.full = full  # type: ignore[attr-defined]

    def sync(self, held: bool) -> None:
        worker: Any = self.world.manager._sync_worker
        worker.held = held
        if not held:
            worker.release()

    def spread(self, vlogs: int) -> None:
        texts = {"kproto__vlogs__per__broker": str(vlogs)}
        self.world.manager.apply_settings(ClusterWorld.begin(**texts).settings, self.parts)

    def policy(self, number: int, messages: str) -> None:
        """Another flush.messages of one partition."""
        part = self.parts[number]
        part.config = topic_config({"flush.messages": messages}, self.world.settings)
        self.world.manager.assign(part)  # type: ignore[arg-type]

    def fence(self) -> None:
        """The controller declares this owner dead: every backup and the store refuse it."""
        for node in self.world.nodes.values():
            node.fence = 2
        self.world.vsegs.fenced = True

    def play(self, steps: list[Any]) -> None:
        self.append(0, 100)
        self.flow()
        for name, *arguments in steps:
            getattr(self, name)(*arguments)
            self.world.check()


@settings(max_examples=150, deadline=None)
@given(
    copies=st.integers(2, 3),
    others=st.integers(1, 4),
    policy=POLICIES,
    turn=st.sampled_from([pusher.BYTES_A_TURN, 30_000]),
    steps=STEPS,
)
def test_whatever_happens_what_is_exposed_is_on_all_copies(
    copies: int, others: int, policy: str, turn: int, steps: list[Any]
) -> None:
    run = Run(copies, others, policy)
    with patch.object(pusher, "BYTES_A_TURN", turn):
        run.play(steps)
        run.world.heal()
    run.world.check()
    run.world.check_states()
    assert sorted(run.fired) == list(range(len(run.waiting))), "each waiter is told exactly once"
    assert all(run.journals)
    assert not run.world.poison


@settings(max_examples=80, deadline=None)
@given(copies=st.integers(2, 3), before=STEPS, after=STEPS)
def test_after_a_fence_nothing_more_becomes_durable(copies: int, before: list[Any], after: list[Any]) -> None:
    run = Run(copies, 3, "9223372036854775807")
    run.play(before)
    for node in run.world.nodes.values():
        node.up = True
    run.fence()
    run.world.backups.answers.clear()  # answers from before the fence may come or not
    before_fence = {part: (part.high_watermark, set(part.alone)) for part in run.parts}
    run.play(after)
    run.world.heal()
    for part, (high_watermark, alone) in before_fence.items():
        since = {base for base in part.chunks if high_watermark <= base < part.high_watermark}
        assert since <= part.alone - alone, "acknowledged by backups that had been fenced"
        assert part.vlog.lost or part.vlog.durable == part.vlog.end
    assert sorted(run.fired) == list(range(len(run.waiting)))
    assert all(run.journals)
