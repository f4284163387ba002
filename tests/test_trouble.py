"""What fails for long is not logged for long."""

import logging

import pytest

from kproto.clock import ManualClock
from kproto.trouble import AGAIN_SECONDS, Trouble


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
