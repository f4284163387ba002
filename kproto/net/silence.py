"""Connections between brokers whose other end says nothing more are ended by the kernel, at both ends.

A machine that lost its power or its network closes nothing: without this its connections would stay, with
what waits for them, until something is sent to it, and those on which nothing is sent for ever.
"""

from __future__ import annotations

import socket
from typing import Final

UNANSWERED_MS: Final = 5000
"""A peer whose machine acknowledges no byte for so long is lost (TCP_USER_TIMEOUT)."""
KEEPALIVE_SECONDS: Final = 2
KEEPALIVE_PROBES: Final = 2


def notice_silence(sock: socket.socket) -> None:
    """Have the kernel end ``sock`` when its peer's machine is silent. Raises OSError."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEPALIVE_SECONDS)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, KEEPALIVE_SECONDS)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, KEEPALIVE_PROBES)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNANSWERED_MS)
