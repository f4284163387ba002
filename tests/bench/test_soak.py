"""What a soak says about growth."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from bench import soak
from bench.brokers import Usage
from bench.soak import GROWING, LIMITS, figures, growth


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 1, 5, 5, 9, 9, 5, 5], 1.0),  # The first quarter is warm-up, the third says nothing.
        ([1, 1, 5, 5, 5, 5, 6, 7], 1.3),
        ([9, 9, 5, 5, 5, 5, 4, 4], 0.8),
        ([5, 100, 5, 5, 5, 5, 5, 5, 5, 5, 100, 5], 1.0),  # One look counts for little.
        ([3], 1.0),
        ([2, 3], 1.0),
        ([0, 0, 0, 4], 1.0),
    ],
)
def test_growth_is_of_the_last_quarter_over_the_second(values: list[float], expected: float) -> None:
    assert growth(values) == pytest.approx(expected)


def test_figures_are_of_the_last_quarter() -> None:
    series = {"rss_mb": [[number, number] for number in range(1, 9)], "publish_p50_ms": [[1, 4], [2, 2]]}
    assert figures(series) == {
        "rss_mb": 7.5,
        "rss_mb_growth": pytest.approx(7.5 / 3.5),
        "publish_p50_ms": 2,
    }


def test_all_that_may_not_grow_has_a_limit() -> None:
    found = figures({name: [[0, 10], [1, 10], [2, 10], [3, 13]] for name in GROWING})
    over = {name for name, limit in LIMITS.items() if found[name] > limit}
    assert over == {"rss_mb_growth", "descriptors_growth", "files_growth"}


def test_what_loads_a_system_ends_with_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """It went on beside the next system's when a look, or a guest, failed, or somebody had enough of it."""
    loads = [SimpleNamespace(start=lambda: None, ended=threading.Event()) for _ in range(2)]
    monkeypatch.setattr(soak, "create", lambda *_, **__: None)
    monkeypatch.setattr(soak, "Steady", lambda *_: loads[0])
    monkeypatch.setattr(soak, "Guests", lambda *_: loads[1])

    def interrupted() -> Usage:
        raise KeyboardInterrupt

    cluster: Any = SimpleNamespace(bootstrap="", usage=interrupted)
    with pytest.raises(KeyboardInterrupt):
        soak.measure(cluster, 1, 1, 1)
    assert all(each.ended.is_set() for each in loads)
