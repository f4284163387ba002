"""How the start of a broker is measured."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.brokers import Kproto
from bench.startup import start_to_first_ack


class _Ends(Kproto):
    def command(self) -> Sequence[str]:
        return [sys.executable, "-c", "raise SystemExit('no such disk')"]


def test_a_broker_that_ends_is_not_waited_for(tmp_path: Path) -> None:
    """An ack of it was waited for, for five minutes."""
    tmp_path.joinpath("data").mkdir()
    broker = _Ends(tmp_path)
    with pytest.raises(RuntimeError, match=r"^kproto ended:\nno such disk"):
        start_to_first_ack(broker, "first")
    with pytest.raises(RuntimeError, match=r"^kproto ended:\nno such disk"):
        broker.start()
