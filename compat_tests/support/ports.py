"""Free TCP ports and waiting for something to happen."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import TypeVar

from bench.failover import promises

T = TypeVar("T")
PATIENCE_S = 180.0
"""For what takes seconds: a busy machine takes many times as long, or stands still for some."""


def wait_until(
    what: str, condition: Callable[[], T], timeout_s: float = PATIENCE_S, every_s: float = 0.05
) -> T:
    """The first true value of `condition`; AssertionError naming `what` when none comes in time."""
    return promises.wait_until(what, condition, timeout_s, every_s)


def free_port() -> int:
    """A port on 127.0.0.1 nobody listens on now, below the range the kernel gives to outgoing connections."""
    for port in range(20000 + (time.time_ns() // 1000) % 9000, 32000):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError("no free port between 20000 and 32000")
