"""Property tests find what is wrong, not what is slow: an example takes as long as a busy machine needs.
Each of three processes that run tests has ports of its own: who was killed finds its port free again.
Commands that a test runs in its own process leave no signal handlers to the tests behind it.
"""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from kproto import local_cluster

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
local_cluster.FREE_PORTS = (range(20_000, 22_900), range(23_000, 25_900), range(26_000, 28_900))[WORKER % 3]  # type: ignore[misc]


@pytest.fixture(autouse=True)
def plain_signals() -> Iterator[None]:
    """Whoever ends a command sees to what it began: its handlers end with its test."""
    before = {each: signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for each, handler in before.items():
        if signal.getsignal(each) is not handler:
            signal.signal(each, handler)
