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


def test_what_is_ignored_is_so_for_who_is_started() -> None:
    """As by nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with uninterrupted():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
