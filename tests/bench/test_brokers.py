"""Brokers as processes: what a signal does while one starts."""

from __future__ import annotations

import signal

import pytest

from bench.brokers import uninterrupted


def test_a_signal_waits_until_the_process_is_known() -> None:
    started: list[bool] = []

    def start() -> None:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            started.append(True)

    with pytest.raises(KeyboardInterrupt):
        start()
    assert started
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
