"""Free TCP ports and waiting for something to happen."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


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


def wait_until(what: str, condition: Callable[[], T], timeout_s: float = 30.0, every_s: float = 0.05) -> T:
    """The first true value of `condition`; AssertionError naming `what` when none comes in time."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout_s} s in vain: {what} (last value: {value!r})")
        time.sleep(every_s)
