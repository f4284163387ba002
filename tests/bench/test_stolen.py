"""What the host took, as /proc/stat has it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from bench import stolen
from bench.results import direction

STAT = "cpu  4071760 2047473 1240924 4443129 64596 0 110416 {steal} 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 1\n"
TICK = os.sysconf("SC_CLK_TCK")


def test_steal_is_the_eighth_figure_in_ticks() -> None:
    assert stolen.stolen_s(STAT.format(steal=34087)) == 34087 / TICK


def test_percent_is_of_the_time_and_of_all_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([(100.0, 5.0), (110.0, 5.4)])
    monkeypatch.setattr(stolen, "_now", lambda: next(now))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert stolen.Stolen(stolen._now()).percent() == pytest.approx(2.0)


def test_this_machine_has_such_a_line() -> None:
    began = time.monotonic()
    meter = stolen.Stolen()
    assert stolen.stolen_s(Path("/proc/stat").read_text()) >= 0
    assert 0 <= meter.percent() <= 100
    assert time.monotonic() > began


def test_it_explains_and_is_not_judged() -> None:
    assert direction("stolen_percent") == 0
