"""A call that is asked for often and made once."""

from __future__ import annotations

from kproto.vlog.later import Later
from tests.vlog.cluster import SimLoop


def test_it_is_made_once_however_often_it_was_asked_for_and_can_be_asked_for_again() -> None:
    loop, made = SimLoop(), list[float]()
    later = Later(loop, lambda: made.append(loop.clock.monotonic()))
    start = loop.clock.monotonic()
    for seconds in (0.5, 0.1, 2.0):
        later.ask(seconds)
        assert later.due
    loop.advance(0.4)
    assert not made
    loop.advance(3)
    assert (len(made), later.due) == (1, False)
    assert made[0] >= start + 0.5
    later.ask(0.1)
    loop.advance(0.2)
    assert len(made) == 2


def test_the_call_may_ask_again() -> None:
    loop, made = SimLoop(), list[bool]()

    def call() -> None:
        made.append(later.due)
        if len(made) < 3:
            later.ask(0.1)

    later = Later(loop, call)
    later.ask(0.1)
    for _ in range(10):
        loop.advance(0.1)
    assert made == [False] * 3
