"""What a signal does to a command while it starts brokers."""

from __future__ import annotations

import signal

import pytest

from kproto.local_cluster import INTERRUPTS, uninterrupted


@pytest.mark.parametrize("number", INTERRUPTS)
def test_a_signal_waits_until_the_process_is_known(number: int) -> None:
    seen: list[str] = []
    before = signal.signal(number, lambda *_: seen.append("signal"))
    try:
        with uninterrupted():
            signal.raise_signal(number)
            seen.append("started")
        assert seen == ["started", "signal"]
        signal.raise_signal(number)
        assert seen == ["started", "signal", "signal"]
    finally:
        signal.signal(number, before)
