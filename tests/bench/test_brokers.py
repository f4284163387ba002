"""Brokers as processes: what a signal does while one starts."""

from __future__ import annotations

import signal

from bench.brokers import uninterrupted


def test_a_signal_waits_until_the_process_is_known() -> None:
    seen: list[str] = []
    before = signal.signal(signal.SIGTERM, lambda *_: seen.append("signal"))
    try:
        with uninterrupted():
            signal.raise_signal(signal.SIGTERM)
            seen.append("started")
        assert seen == ["started", "signal"]
        signal.raise_signal(signal.SIGTERM)
        assert seen == ["started", "signal", "signal"]
    finally:
        signal.signal(signal.SIGTERM, before)
