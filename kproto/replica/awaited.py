"""Reads of copies that others wait for, in line for the reading worker.

A backup that is asked for more than it can read would read for those who have given up and asked another one,
and its answers would heap up for who does not take them. So it is looked at each read's turn whether the
answer is still wanted; what the worker does for the store itself does not stand behind this line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kproto.vlog.worker import Done, Jobs

AT_ONCE: Final = 2
"""While the loop answers one, the worker reads the next; of answers that count for nobody yet there are no
more."""


class UnwantedError(Exception):
    """Nobody waits for what was to be read."""


class AwaitedReads:
    """See the module's text. On the loop."""

    __slots__ = ("_jobs", "_line", "_looking", "_under_way")

    def __init__(self, jobs: Callable[[], Jobs]) -> None:
        self._jobs = jobs
        self._line: deque[tuple[Callable[[], object], Done, Callable[[], bool]]] = deque()
        self._looking = False
        self._under_way = 0

    def submit(self, call: Callable[[], object], done: Done, wanted: Callable[[], bool]) -> None:
        """See `Jobs.submit`. When it is not ``wanted()`` any more as its turn comes, ``done`` gets an
        `UnwantedError`."""
        self._line.append((call, done, wanted))
        self._go_on()

    def _go_on(self) -> None:
        if self._looking:  # who is told below may bring another one, and so on
            return
        self._looking = True
        try:
            while self._line and self._under_way < AT_ONCE:
                call, done, wanted = self._line.popleft()
                if wanted():
                    self._under_way += 1
                    self._jobs().submit(call, partial(self._ended, done))
                else:
                    done(UnwantedError())
        finally:
            self._looking = False

    def _ended(self, done: Done, error: BaseException | None) -> None:
        self._under_way -= 1
        try:
            done(error)  # first: what it answers counts when the next one is looked at
        finally:
            self._go_on()
