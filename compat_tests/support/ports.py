"""Free TCP ports and waiting for something to happen."""

from __future__ import annotations

import socket
import time

from bench.failover.promises import wait_until

__all__ = ["free_port", "wait_until"]


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
