"""Where brokers of tests listen, and waiting for something to happen."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from bench.failover import promises

T = TypeVar("T")
WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
FREE_PORTS = (range(20_000, 23_900), range(24_000, 27_900), range(28_000, 31_900))[WORKER % 3]
"""Others for each of three processes that run tests: a broker that was killed finds its port free again."""
PATIENCE_S = 180.0
"""For what takes seconds: a busy machine takes many times as long, or stands still for some."""


def wait_until(
    what: str, condition: Callable[[], T | None], timeout_s: float = PATIENCE_S, every_s: float = 0.05
) -> T:
    """The first true value of `condition`; AssertionError naming `what` when none comes in time."""
    return promises.wait_until(what, condition, timeout_s, every_s)
