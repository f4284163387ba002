"""The store against a model: pushes of all kinds, seals, closings, full disks, kills and losses of power.

What has to hold, whatever happens (rules 6 to 8, 20 to 24): an eligible answer to a seal covers everything
that was acked; a copy holds exactly the owner's bytes, never overwritten; a fenced epoch stores nothing any
more; a closed copy that is called whole is whole; what metadata lists is not deleted.
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from kproto.metadata.vlogs import VsegId
from kproto.replica import copies as copies_module
from kproto.replica import rules as rules_module
from kproto.replica import store as store_module
from kproto.replica import store_state as store_state_module
from kproto.replica.copy_syncs import CopySyncs
from kproto.replica.fences import Fences
from kproto.replica.rules import Presence, Push
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import FILE_HEADER_SIZE
from tests.replica.support import OTHERS, TOPIC, MemoryDisk, Metadata, Owner, Station

VSEGS = st.integers(0, 3)
SIZES = st.integers(61, 900)


class Tracked:
    """What the model knows of one vseg."""

    def __init__(self, owner: Owner) -> None:
        self.owner = owner
        self.acked = owner.start
        self.limbo = False
        """A power loss may have taken acked bytes."""
        self.closed: int | None = None
        self.listed = True


class StoreMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.station = Station(MemoryDisk())
        self.metadata = Metadata(1, 2)
        self.fenced: set[int] = set()
        self.tracked: list[Tracked] = []
        policies = (FlushPolicy.MEMORY, FlushPolicy.SYNCED)
        for epoch in (1, 2):
            for vlog in (0, 1):
                start = 1000 * vlog
                owner = Owner(VsegId(epoch, vlog, 1), start, policies[(epoch + vlog) % 2])
                self.tracked.append(Tracked(owner))
                self.metadata.put(owner.record())
        self.apply()

    def apply(self) -> None:
        self.station.store.apply(self.metadata.table, self.metadata.live)

    def answered(
        self, one: Tracked, position: int, end: int, open_then: bool, verdict: Push, now: int
    ) -> None:
        """The store said something about the frame at ``[position, end)``. ``open_then``: no fence and no end
        was known when it came (what was stored before may be acked after)."""
        if verdict in (Push.STORE, Push.REPEATED):
            assert open_then
            assert not one.limbo
            assert now >= end
            if one.closed is None:
                one.acked = max(one.acked, end)
        elif verdict is Push.GAP:
            assert now < position or position == one.owner.start, "a gap below the frame"
            assert now >= one.acked or one.limbo or now == 0

    def push(self, one: Tracked, number: int, run: bool, late_header: bool = False) -> None:
        owner = one.owner
        position, frame = owner.frames[number]
        open_then = owner.vseg.owner_epoch not in self.fenced and one.closed is None
        done = partial(self.answered, one, position, position + len(frame), open_then)
        first = owner.first if late_header else owner.header_for(position)
        self.station.store.push(first, memoryview(frame), done)
        if run:
            self.station.loop.run()

    @rule(which=VSEGS, size=SIZES, state=st.booleans(), run=st.booleans())
    def push_next(self, which: int, size: int, state: bool, run: bool) -> None:
        """The owner makes one more frame when all before were acked, else it repeats the oldest that was
        not."""
        one = self.tracked[which]
        owner = one.owner
        if one.acked == owner.end:
            if state and owner.frames:
                owner.push_state()
            else:
                owner.push([(TOPIC, 0), (TOPIC, which)], [size, size + 5])
        number = next(i for i, (position, frame) in enumerate(owner.frames) if position >= one.acked)
        self.push(one, number, run)

    @rule(which=VSEGS, data=st.data(), header=st.booleans())
    def push_old_or_late(self, which: int, data: st.DataObject, header: bool) -> None:
        one = self.tracked[which]
        if one.owner.frames:
            self.push(one, data.draw(st.integers(0, len(one.owner.frames) - 1)), True, header)

    @rule(which=VSEGS, size=SIZES, old=st.booleans())
    def push_other_bytes(self, which: int, size: int, old: bool) -> None:
        """A frame that continues something else: a zombie, or a broken promise."""
        one = self.tracked[which]
        twin = Owner(one.owner.vseg, one.owner.start, one.owner.policy)
        twin.chain = 12345
        twin.end = one.owner.frames[-1][0] if old and one.owner.frames else one.acked
        frame = twin.make([(TOPIC, 0)], [size], fill=99)
        answer = self.station.push(None, frame)
        assert answer is not None
        assert answer[0] not in (Push.STORE, Push.REPEATED)

    @rule(which=VSEGS, fence=st.booleans())
    def seal(self, which: int, fence: bool) -> None:
        one = self.tracked[which]
        vseg = one.owner.vseg
        if fence:
            self.fenced.add(vseg.owner_epoch)
        answers: list[tuple[int, bool, int]] = []
        number = vseg.owner_epoch + 1 if fence else 0
        self.station.store.seal(
            vseg, number, lambda position, usable: answers.append((position, usable, one.acked))
        )
        self.station.loop.run()
        ((position, eligible, acked),) = answers
        if fence:
            acked = one.acked  # nor is anything acked afterwards; without a fence a frame under way may be
        if eligible:
            assert max(position, one.owner.start) >= acked, "an eligible copy lacks acked bytes"
            assert not one.limbo or one.closed is not None
        elif not one.limbo and one.listed:
            assert one.closed is not None, "nothing happened that makes the copy ineligible"

    @precondition(lambda self: self.station.disk.room is None)
    @rule()
    def fill_disk(self) -> None:
        self.station.disk.room = 0

    @rule()
    def free_disk(self) -> None:
        self.station.disk.room = None

    @rule(which=VSEGS)
    def close(self, which: int) -> None:
        """The owner, or the controller, closes the vseg at what was acked everywhere."""
        one = self.tracked[which]
        if one.closed is None and one.listed:
            one.closed = one.acked
            self.metadata.put(one.owner.record(one.closed))
            self.apply()

    @rule(which=VSEGS)
    def give_to_others(self, which: int) -> None:
        one = self.tracked[which]
        if one.closed is not None:
            one.listed = False
            self.metadata.put(one.owner.record(one.closed, OTHERS))
            self.apply()
            self.station.loop.run(1.0)
            assert one.owner.vseg not in self.station.store.copies

    @rule(seconds=st.sampled_from([0.0, 0.05, 2.0]))
    def run(self, seconds: float) -> None:
        self.station.loop.run(seconds)

    @rule()
    def kill(self) -> None:
        self.station.restart()
        self.apply()

    @rule(seed=st.integers(0, 1 << 30), twice=st.booleans())
    def lose_power(self, seed: int, twice: bool) -> None:
        self.station.lose_power(seed)
        if twice:  # a kill before the first table has come
            self.station.restart()
        for one in self.tracked:
            if one.owner.policy is not FlushPolicy.SYNCED and one.closed is None:
                one.limbo = True
        self.apply()

    @rule()
    def stop_and_lose_power(self) -> None:
        """Nothing is lost after a clean stop."""
        done: list[int] = []
        self.station.store.close(partial(done.append, 1))
        self.station.loop.run()
        assert done
        self.station.lose_power(1)
        self.apply()

    @invariant()
    def bytes_are_the_owners(self) -> None:
        """S10: what a copy counts is what the owner made, at its place."""
        assert not self.station.poison
        for one in self.tracked:
            copy = self.station.store.copies.get(one.owner.vseg)
            if copy is None or not copy.loaded or copy.presence is Presence.UNREADABLE:
                continue  # that one counts nothing, its header was lost
            owner = one.owner
            made = owner.first + b"".join(frame for _, frame in owner.frames)
            length = FILE_HEADER_SIZE + copy.end - owner.start
            with contextlib.suppress(KeyError):
                found = bytes(self.station.file(owner.vseg)[:length])
                assert found.ljust(FILE_HEADER_SIZE, b"\0") == made[:length], "a torn head ends with zeros"

    @invariant()
    def closed_copies_are_whole_or_say_that_they_are_not(self) -> None:
        store: Any = self.station.store
        for one in self.tracked:
            copy = store.copies.get(one.owner.vseg)
            if one.closed is not None and one.listed and one.closed > one.owner.start:
                if copy is None:
                    assert one.owner.vseg in store.unfit()
                elif copy.loaded and one.owner.vseg not in store.unfit():
                    assert copy.end >= one.closed


TestStoreModel = StoreMachine.TestCase
TestStoreModel.settings = settings(max_examples=120, stateful_step_count=40, deadline=None)


def no_fence_on_disk(fences: Fences, records: bytes, at: int, grow_from: int) -> None:
    """The answer to a seal without what it promises."""


MUTATIONS: dict[str, tuple[Any, str, Any]] = {
    "limbo (3)": (store_state_module, "in_limbo", lambda *_: False),
    "what an ack promised (8)": (copies_module, "survived", lambda *_: True),
    "fences refuse (6, 20)": (store_module, "fenced", lambda *_: False),
    "fences are persisted (20)": (Fences, "_persist", no_fence_on_disk),
    "synced before the ack (8)": (CopySyncs, "sync_file", lambda *_: None),
    "chained (6)": (rules_module, "continues", lambda *_: True),
    "same bytes (6, S10)": (rules_module, "same_bytes", lambda *_: True),
    "eligible (22)": (store_module, "eligible", lambda *_: True),
    "garbage only by metadata (30)": (store_module, "is_garbage", lambda *_: True),
}


@pytest.mark.parametrize("rule_name", MUTATIONS)
def test_the_model_notices_a_rule_that_is_taken_out(monkeypatch: pytest.MonkeyPatch, rule_name: str) -> None:
    monkeypatch.setattr(*MUTATIONS[rule_name])
    quick = settings(
        max_examples=1500,
        derandomize=True,
        stateful_step_count=40,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    with pytest.raises(Exception):  # noqa: B017, PT011
        run_state_machine_as_test(StoreMachine, settings=quick)
