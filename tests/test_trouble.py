"""What fails for long is not logged for long."""

import logging

import pytest

from kproto.clock import ManualClock
from kproto.trouble import AGAIN_SECONDS, MOST_TOLD, Alike, Quietly, Seldom, Trouble


def test_told_when_it_begins_then_once_a_minute_and_when_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    clock = ManualClock()
    trouble = Trouble(logging.getLogger("kproto.test"), clock, "writing")
    trouble.over()
    assert caplog.messages == []
    for _ in range(10 * int(AGAIN_SECONDS)):
        trouble.failed("the disk is full")
        clock.advance(0.125)
    assert caplog.messages == ["writing: the disk is full"] * 2
    trouble.over()
    trouble.over()
    trouble.failed("again")
    assert caplog.messages[2:] == ["writing: it works again", "writing: again"]


def test_what_nobody_expected_is_told_with_its_place(caplog: pytest.LogCaptureFixture) -> None:
    trouble = Trouble(logging.getLogger("kproto.test"), ManualClock(), "writing")
    try:
        raise ValueError("what is this?")
    except ValueError as error:
        trouble.failed(error, expected=False)
    (record,) = caplog.records
    assert record.exc_info is not None
    assert record.exc_info[0] is ValueError
    assert caplog.messages == ["writing: what is this?"]


def test_each_stranger_is_told_of_once_a_minute_and_not_all_of_many() -> None:
    clock = ManualClock()
    seldom = Seldom(clock)
    assert [seldom.is_due("a") for _ in range(3)] == [True, False, False]
    assert seldom.is_due("b")
    clock.advance(AGAIN_SECONDS / 2)
    assert sum(seldom.is_due(number) for number in range(1000)) == MOST_TOLD - 2
    assert not seldom.is_due("a")
    clock.advance(AGAIN_SECONDS / 2)
    assert seldom.is_due("a")
    assert not seldom.is_due(0)
    assert seldom.is_due(999)
    assert not seldom.is_due("c")


def test_what_fails_with_many_for_one_reason_is_told_once_a_minute_and_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = ManualClock()
    alike = Alike(logging.getLogger("kproto.test"), clock)
    for number in range(1000):
        alike.failed("full", f"{number}: the disk is full")
    alike.failed("away", "7: broker 3 is away")
    alike.failed("away", "8: broker 3 is away")
    clock.advance(AGAIN_SECONDS)
    alike.failed("full", "5: the disk is full")
    clock.advance(AGAIN_SECONDS)
    alike.failed("full", "6: the disk is full")
    assert caplog.messages == [
        "0: the disk is full",
        "7: broker 3 is away (999 more since the last line like this)",
        "5: the disk is full (1 more since the last line like this)",
        "6: the disk is full",
    ]


def test_what_is_tried_as_a_whole_says_the_same_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    """All of it, though that is much; and afterwards nobody is kept from saying anything."""
    clock, log = ManualClock(), logging.getLogger("kproto.test")
    quietly, every = Quietly(clock), [f"{number} is lost" for number in range(2 * MOST_TOLD)]
    for _ in range(2 * int(AGAIN_SECONDS)):
        with quietly:
            for message in every:
                log.warning("%s", message)
        clock.advance(1.0)
    assert caplog.messages == 2 * every
    with quietly:
        log.warning("something else")
    log.warning("something else")
    assert caplog.messages[2 * len(every) :] == ["something else"] * 2


def test_another_error_under_the_same_words_is_said(caplog: pytest.LogCaptureFixture) -> None:
    quietly = Quietly(ManualClock())
    for error in (ValueError("a"), KeyError("b"), ValueError("a")):
        with quietly:
            try:
                raise error
            except (ValueError, KeyError):
                logging.getLogger("kproto.test").exception("trying again")
    assert [record.exc_info and repr(record.exc_info[1]) for record in caplog.records] == [
        "ValueError('a')",
        "KeyError('b')",
    ]
