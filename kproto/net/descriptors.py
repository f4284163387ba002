"""How many descriptors the process may have open, and how many of them connections leave to files.

Who connects takes a descriptor, and a client may connect as often as it likes. A broker that has none left
for its next file cannot store anything, or has to end (rule 35): so connections must not have them all. The
last ones are for files, connections to and from other brokers have some of these, and clients wait.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
from typing import Final, NamedTuple

FEWEST: Final = 96
"""With fewer a broker does not start."""
OTHER_FILES: Final = 256
"""Journals, copies, metadata, what threads read: besides segment files, and more where more is allowed."""
FEWEST_SEGMENTS: Final = 16
MOST: Final = 1 << 30
_ROOM: Final = 1 << 14


class Shares(NamedTuple):
    """Who may have how many of ``limit`` descriptors."""

    limit: int
    clients: int
    """Connections of clients are taken while fewer are open, for whatever."""
    brokers: int
    """The same for connections of other brokers."""
    segments: int
    """Segment files that stay open."""


def allowed() -> int:
    """How many the process may have open now."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return soft if soft != resource.RLIM_INFINITY else MOST


def taken() -> int:
    """How many are open already, about: in somebody's tests they may be many, and are not the broker's."""
    try:
        lowest = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return allowed()
    os.close(lowest)
    return lowest


def raise_limit() -> int:
    """Have as many as the process is allowed to ask for; how many that is."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return allowed()


def make_room(limit: int) -> None:
    """Have the kernel's table of descriptors large from the start on, for up to 16,384 of them (128 KB).

    It doubles whenever it is full. In a process of one thread that is a copy; in one of several the kernel
    lets every core pass through the scheduler first (RCU), and who opened the file, the event loop, waits 10
    to 20 ms for that. So: before there are threads. Where it cannot be done, the table grows as ever.
    """
    highest = min(limit, _ROOM) - 1
    with contextlib.suppress(OSError):
        null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        try:
            # It takes the first free one from there on: nobody else's is closed.
            os.close(fcntl.fcntl(null, fcntl.F_DUPFD_CLOEXEC, highest))
        finally:
            os.close(null)


def share(limit: int, segments: int, taken: int = 0) -> Shares:
    """Of ``limit`` descriptors, the first of which are ``taken``; ``segments`` files should stay open if
    there is room for that."""
    wanted = segments + max(OTHER_FILES, limit // 16)
    files = min(max(limit - taken, 0) // 2, wanted)
    kept_open = segments if files == wanted else min(segments, max(FEWEST_SEGMENTS, files // 3))
    return Shares(limit, limit - files, limit - files // 2, kept_open)
