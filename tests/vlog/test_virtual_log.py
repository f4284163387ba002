"""Progress of a virtual log under arbitrary interleavings, for one and for several copies (rules 7, 9, 11,
13)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproto.check import InvariantError
from kproto.vlog.virtual_log import VirtualLog
from kproto.vlog.virtual_segment import Frame, VirtualSegment

SIZE = 10
"""Bytes of each frame entry in the model."""


class Model:
    """Drives a VirtualLog the way a pusher with backups will, and checks it against plain lists."""

    def __init__(self, copies: int) -> None:
        self.log = VirtualLog(1, 1, copies)
        self.copies = copies
        self.appended: list[Any] = []
        self.applied: list[Any] = []
        self.fired: list[int] = []
        self.waiting: list[int] = []
        self.flying: list[list[tuple[VirtualSegment, int]]] = [[] for _ in range(copies)]
        self.contents: list[dict[int, list[Any]]] = [{} for _ in range(copies)]

    def append(self) -> None:
        ref: Any = ("partition", len(self.appended))
        self.appended.append(ref)
        self.log.append(ref)

    def wait(self, back: int) -> None:
        position = max(self.log.end - back, 0)
        self.waiting.append(position)
        self.log.when_durable(position, lambda: self.fired.append(position))

    def push(self, count: int) -> None:
        log = self.log
        if not log.pending:
            return
        if log.open_segment is None:
            log.open(1 << 20, 0)
        refs = log.take(max(count, 1))
        segment = log.segments[-1]
        ends = {"partition": log.framed + len(refs)}
        log.add(Frame(segment.end, SIZE * len(refs), [], refs, ends, log.framed + len(refs), 0))

    def send(self, copy: int) -> None:
        for segment in self.log.segments:
            frame = segment.unsent(copy)
            if frame is not None:
                segment.sent(copy, frame)
                held = self.contents[copy].setdefault(segment.number, [])
                at = (frame.position - segment.start) // SIZE
                assert at <= len(held), "a copy never has a gap"
                held[at : at + len(frame.refs)] = frame.refs
                self.flying[copy].append((segment, frame.position + frame.length))
                return

    def answer(self, copy: int) -> None:
        if self.flying[copy]:
            segment, end = self.flying[copy].pop(0)
            if end <= segment.end:
                self.apply(self.log.ack(copy, segment, end))

    def answer_again(self, copy: int) -> None:
        for segment in self.log.segments:
            self.apply(self.log.ack(copy, segment, segment.copies[copy].acked))

    def fail(self, copy: int) -> None:
        self.flying[copy].clear()
        for segment in self.log.segments:
            segment.failed(copy, segment.copies[copy].acked)

    def roll(self) -> None:
        self.log.close()

    def abandon(self) -> None:
        """Rule 13: a backup is replaced, so the open segment ends at its durable header."""
        segment = self.log.open_segment
        if segment is None or any(earlier.frames for earlier in self.log.segments[:-1]):
            return
        for copy in range(self.copies):
            self.flying[copy] = [one for one in self.flying[copy] if one[0] is not segment]
        self.log.abandon()

    def forget(self) -> None:
        if self.log.segments and self.log.segments[0].closed and not self.log.segments[0].frames:
            self.log.forget(self.log.segments[0])

    def apply(self, frames: list[Frame]) -> None:
        for frame in frames:
            self.applied += frame.refs
        for position, callback in self.log.fired():
            assert position <= self.log.durable
            callback()

    def check(self) -> None:
        log = self.log
        assert log.durable <= log.framed <= log.end
        assert self.applied == self.appended[: log.durable], "durable in order, each exactly once"
        for before, after in zip(log.segments, log.segments[1:], strict=False):
            assert before.closed
            assert before.end == after.start
        expected = [position for position in self.waiting if position <= log.durable]
        assert sorted(self.fired) == sorted(expected), "a waiter fires once, when its position is durable"
        for segment in log.segments:
            assert segment.durable == min(copy.acked for copy in segment.copies)

    def finish(self) -> None:
        """Once faults stop, everything becomes durable (liveness)."""
        for _ in range(10_000):
            if self.log.durable == self.log.end:
                break
            self.push(1000)
            for copy in range(self.copies):
                self.send(copy)
                self.answer(copy)
        assert self.log.durable == self.log.end
        self.check()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append")),
        st.tuples(st.just("wait"), st.integers(0, 5)),
        st.tuples(st.just("push"), st.integers(1, 4)),
        st.tuples(st.just("send"), st.integers(0, 2)),
        st.tuples(st.just("answer"), st.integers(0, 2)),
        st.tuples(st.just("answer_again"), st.integers(0, 2)),
        st.tuples(st.just("fail"), st.integers(0, 2)),
        st.tuples(st.just("roll")),
        st.tuples(st.just("abandon")),
        st.tuples(st.just("forget")),
    ),
    max_size=80,
)


@given(copies=st.integers(1, 3), steps=STEPS)
def test_any_interleaving_keeps_order_and_ends_durable(copies: int, steps: list[Any]) -> None:
    model = Model(copies)
    for name, *arguments in steps:
        one_copy = name in ("send", "answer", "answer_again", "fail")
        getattr(model, name)(*[number % copies if one_copy else number for number in arguments])
        model.check()
    model.finish()


def test_durable_is_the_least_of_all_copies() -> None:
    model = Model(3)
    model.append()
    model.push(1)
    for copy in (0, 1):
        model.send(copy)
        model.answer(copy)
    assert model.log.durable == 0, "rule 9: all copies, not a quorum"
    model.send(2)
    model.answer(2)
    assert model.log.durable == 1


def test_later_segments_wait_for_earlier_ones() -> None:
    model = Model(2)
    for _ in range(2):
        model.append()
        model.push(1)
        model.roll()
    one, two = model.log.segments
    for copy in range(2):
        frame = two.unsent(copy)
        assert frame is not None
        two.sent(copy, frame)
        model.apply(model.log.ack(copy, two, two.end))
    assert model.log.durable == 0
    for copy in range(2):
        model.send(copy)
        model.apply(model.log.ack(copy, one, one.end))
    assert model.log.durable == 2
    assert model.applied == model.appended


def test_an_answer_beyond_what_was_sent_is_a_bug() -> None:
    model = Model(1)
    model.append()
    model.push(1)
    with pytest.raises(InvariantError):
        model.log.ack(0, model.log.segments[0], SIZE)


def test_a_frame_out_of_place_is_a_bug() -> None:
    segment = VirtualSegment(1, 0, 100, 1, 0)
    with pytest.raises(InvariantError, match="does not continue"):
        segment.add(Frame(5, 10, [], [], {}, 1, 0))
    with pytest.raises(InvariantError, match="does not continue"):
        segment.add(Frame(0, 101, [], [], {}, 1, 0))


def test_waiting_for_what_was_never_appended_is_a_bug() -> None:
    with pytest.raises(InvariantError):
        VirtualLog(1, 1).when_durable(1, lambda: None)
