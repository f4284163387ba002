"""Who is alive (rules 1, 19); being wrong is allowed, being unfair to others is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproto.controller.sessions import Sessions
from kproto.metadata import BrokerRecord

TIMEOUT = 3.0


def brokers(*epochs: tuple[int, int]) -> dict[int, BrokerRecord]:
    return {node: BrokerRecord(node, epoch, "h", 1, None) for node, epoch in epochs}


def started(*epochs: tuple[int, int], now: float = 0.0) -> Sessions:
    sessions = Sessions(TIMEOUT, pinned=1)
    sessions.follow(brokers(*epochs), now)
    sessions.expired(now)
    return sessions


def pass_time(sessions: Sessions, begin: float, end: float) -> list[tuple[int, int]]:
    """Look as often as the controller does; the expired ones at the first look that finds any."""
    now = begin
    while now < end:
        now = min(end, now + sessions.interval)
        found = sessions.expired(now)
        if found:
            return found
    return []


def test_silence_for_a_session_is_death_but_not_for_the_controllers_own_broker() -> None:
    sessions = started((1, 1), (2, 2), (3, 3))
    assert pass_time(sessions, 0, 2.9) == []
    assert sessions.heard(3, 3, 2.9)
    assert pass_time(sessions, 2.9, 3.2) == [(2, 2)]
    assert pass_time(sessions, 3.2, 5.8) == [(2, 2)], "until the image says that it is fenced"


def test_heartbeats_of_other_epochs_do_not_count() -> None:
    sessions = started((2, 2))
    assert not sessions.heard(2, 1, 1.0)
    assert not sessions.heard(9, 1, 1.0)
    sessions.follow(brokers((2, 5)), 2.0)
    assert not sessions.heard(2, 2, 2.0)
    assert sessions.heard(2, 5, 2.0)


def test_who_was_heard_since_another_one_began() -> None:
    """A loss of all power ends both, and may be noticed of the one that is back first only."""
    sessions = started((1, 1), (2, 2), (3, 3))
    assert not sessions.heard_since(2, 3)
    assert not sessions.heard_since(2, 9)
    assert not sessions.heard_since(9, 3)
    sessions.heard(2, 2, 1.0)
    assert sessions.heard_since(2, 3)
    sessions.follow(brokers((1, 1), (2, 2), (3, 5)), 2.0)
    sessions.expired(8.0)
    assert not sessions.heard_since(2, 3), "a pause of the controller is no sign of it"
    sessions.heard(2, 2, 8.5)
    assert sessions.heard_since(2, 3)
    sessions.follow(brokers((1, 1), (2, 6), (3, 5)), 9.0)
    assert sessions.heard_since(2, 3), "it registered since"
    assert sessions.heard_since(1, 2), "the controller's own broker lives"


def test_what_a_new_controller_finds_registered_was_not_heard_yet() -> None:
    sessions = Sessions(TIMEOUT, pinned=1)
    sessions.follow(brokers((1, 1), (2, 2), (3, 3)), 0.0, connected=False)
    assert not sessions.heard_since(2, 3)
    assert not sessions.heard_since(1, 3), "it may be of its process before"
    sessions.heard(1, 1, 0.0)
    sessions.heard(2, 2, 1.0)
    assert sessions.heard_since(1, 3)
    assert sessions.heard_since(2, 3)


def test_a_registration_begins_with_a_whole_session() -> None:
    sessions = started((2, 2))
    pass_time(sessions, 0, 2.9)
    sessions.follow(brokers((2, 5), (3, 6)), 2.9)
    assert pass_time(sessions, 2.9, 5.8) == []
    assert pass_time(sessions, 5.8, 6.2) == [(2, 5), (3, 6)]
    sessions.follow(brokers((3, 6)), 6.2)
    assert sessions.expired(6.3) == [(3, 6)]


def test_a_pause_of_the_controller_counts_for_nobody() -> None:
    sessions = started((2, 2))
    pass_time(sessions, 0, 1.0)
    assert sessions.expired(60.0) == []
    assert pass_time(sessions, 60.0, 61.9) == []
    assert pass_time(sessions, 61.9, 62.5) == [(2, 2)]


def test_a_node_id_is_in_use_while_its_broker_is_connected_and_heard() -> None:
    sessions = started((1, 1), (2, 2))
    assert sessions.in_use(1, 99.0)
    assert sessions.in_use(2, 1.0)
    assert not sessions.in_use(2, 3.0)
    assert not sessions.in_use(7, 0.0)
    sessions.lost(2, 1)
    assert sessions.in_use(2, 1.0), "the loss of an older epoch's connection"
    sessions.lost(2, 2)
    assert not sessions.in_use(2, 1.0)
    sessions.heard(2, 2, 1.5)
    assert sessions.in_use(2, 2.0)


@given(st.lists(st.tuples(st.integers(2, 4), st.floats(0.01, 0.7)), max_size=60))
def test_exactly_those_are_expired_that_were_silent_for_a_session(steps: list[tuple[int, float]]) -> None:
    sessions = started((1, 1), (2, 2), (3, 3), (4, 4))
    heard = {2: 0.0, 3: 0.0, 4: 0.0}
    now = 0.0
    for node, pause in steps:
        now += pause
        assert sessions.expired(now) == [(n, n) for n in sorted(heard) if now - heard[n] >= TIMEOUT]
        sessions.heard(node, node, now)
        heard[node] = now


@pytest.mark.parametrize("timeout", [0.5, 3.0, 9.0])
def test_looks_are_far_more_often_than_what_counts_as_a_pause(timeout: float) -> None:
    sessions = Sessions(timeout, pinned=1)
    assert 0 < sessions.interval * 2 <= timeout / 4


def test_a_broker_that_a_new_controller_has_not_heard_may_be_replaced() -> None:
    """It may have been lost, disk and all, while there was no controller."""
    sessions = Sessions(TIMEOUT, pinned=1)
    sessions.follow(brokers((1, 1), (2, 2)), 0.0, connected=False)
    assert sessions.in_use(2, 0.1), "its heartbeats may be on their way, while its copy asks all the time"
    assert not sessions.in_use(2, TIMEOUT / 2)
    assert not sessions.in_use(1, 0.1), "the controller's own, elected before it is registered"
    assert sessions.heard(1, 1, 0.1)
    assert sessions.in_use(1, 99.0)
    assert sessions.heard(2, 2, 0.2)
    assert sessions.in_use(2, 0.3)


def test_who_is_heard_is_not_silent_nor_is_who_is_no_member() -> None:
    sessions = started((1, 1), (2, 2))
    assert not sessions.is_silent(2, 2, 2.9)
    assert sessions.is_silent(2, 2, 3.0)
    assert not sessions.is_silent(2, 1, 3.0)
    assert not sessions.is_silent(3, 3, 3.0)
    assert not sessions.is_silent(1, 1, 9.0), "the controller's own broker"
    assert sessions.heard(2, 2, 3.0)
    assert not sessions.is_silent(2, 2, 5.9)
