"""When to wait for backups that fail, and when to go on without them (13)."""

from __future__ import annotations

from typing import Any, cast

import pytest

from kproto.clock import ManualClock
from kproto.config import load
from kproto.vlog.patience import AGAIN_S, Patience
from kproto.vlog.replication import SUSPECT_S, Replication

LAG_S = 30.0
"""The default of ``replica.lag.time.max.ms``."""


class Waiting:
    """The patience of one virtual log beside other brokers."""

    def __init__(self, *members: int) -> None:
        self.clock = ManualClock()
        nothing = cast("Any", None)
        self.shared = Replication(nothing, nothing, self.clock, load(), lambda: None)
        self.shared.change_members(members, frozenset())
        self.patience = Patience(self.shared, self.clock)

    def avoided(self) -> set[int]:
        """Who is not chosen for the next segment, which may be asked for now."""
        nodes, wait = self.patience.choice()
        assert wait == 0.0
        return set(nodes)


def test_who_fails_is_avoided_at_once_while_another_is_there() -> None:
    waiting = Waiting(2, 3)
    assert not waiting.patience.hopes([2], 1.0)
    waiting.patience.failed(2, 1.0)
    assert waiting.avoided() == {2}
    assert waiting.patience.unwanted() == {2}
    waiting.clock.advance(SUSPECT_S)
    assert waiting.avoided() == set()


def test_all_who_fail_are_tried_once_a_second() -> None:
    waiting = Waiting(2, 3)
    for node in (2, 3):
        waiting.patience.failed(node, 0.0)
    assert waiting.avoided() == set()
    assert waiting.patience.choice()[1] == AGAIN_S
    waiting.clock.advance(AGAIN_S / 4)
    assert waiting.patience.choice()[1] == pytest.approx(AGAIN_S * 3 / 4)
    waiting.clock.advance(AGAIN_S * 3 / 4)
    assert waiting.avoided() == set()


def test_what_was_stored_ends_it() -> None:
    waiting = Waiting(2)
    waiting.patience.has_no_room(2, 0.5)
    assert waiting.patience.unwanted() == {2}
    waiting.patience.stored(2)
    assert waiting.patience.unwanted() == set()
    assert waiting.avoided() == set()


@pytest.mark.parametrize(("waited", "hope"), [(0.0, True), (LAG_S - 1, True), (LAG_S, False)])
def test_the_last_one_is_hoped_for_until_it_lags(waited: float, hope: bool) -> None:
    waiting = Waiting(2)
    assert waiting.patience.hopes([2], waited) is hope
    waiting.shared.heard = lambda: False
    assert waiting.patience.hopes([2], waited) is hope


def test_nobody_is_given_up_while_no_controller_is_heard() -> None:
    waiting = Waiting(2, 3)
    waiting.shared.heard = lambda: False
    assert waiting.patience.hopes([2], 1.0)
    assert not waiting.patience.hopes([2], LAG_S)


def test_who_has_had_no_room_for_the_lag_time_is_avoided() -> None:
    """As long as it is suspect: one copy has to do then."""
    waiting = Waiting(2)
    lasting = [waiting.patience.has_no_room(2, 0.0)]
    while lasting[-1] < LAG_S:
        assert waiting.avoided() == set()
        waiting.clock.advance(AGAIN_S)
        lasting.append(waiting.patience.has_no_room(2, 0.0))
    assert lasting == [float(second) for second in range(31)]
    assert waiting.avoided() == {2}
    assert not waiting.patience.hopes([2], lasting[-1])


def test_one_that_left_the_cluster_has_room_when_it_comes_back() -> None:
    waiting = Waiting(2)
    waiting.patience.has_no_room(2, LAG_S)
    waiting.patience.left(waiting.shared.change_members((), frozenset()))
    waiting.shared.change_members((2,), frozenset())
    assert waiting.patience.unwanted() == set()
