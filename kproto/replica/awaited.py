"""Reads of copies that others wait for, in line for the reading worker.

A backup that is asked for more than it can read would read for those who have given up and asked another one,
and its answers would heap up for who does not take them. So it is looked at each read's turn whether the
answer is still wanted, and will be when it comes: where the line is long the first in it have waited nearly
as long as they can. What the worker does for the store itself does not stand behind this line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.vlog.worker import Done, Jobs

AT_ONCE: Final = 2
"""While the loop answers one, the worker reads the next. Answers that count for nobody yet are at most twice
as many: those under way, and those that were just queued and are about to be sent."""

MARGIN: Final = 1.25
"""The next read takes so many times as long as the last one, its way included."""

Wanted = Callable[[float], bool]
"""Whether an answer is wanted that comes so many seconds from now."""


class UnwantedError(Exception):
    """Nobody waits for what was to be read."""


class _Read(NamedTuple):
    call: Callable[[], object]
    done: Done
    wanted: Wanted


class AwaitedReads:
    """See the module's text. On the loop."""

    __slots__ = ("_clock", "_jobs", "_late", "_line", "_looking", "_took", "_under_way")

    def __init__(self, jobs: Callable[[], Jobs], clock: Clock) -> None:
        self._jobs = jobs
        self._clock = clock
        self._line: deque[_Read] = deque()
        self._late: deque[_Read] = deque()
        """Those whose answers would come too late if they took as long as the last one: after the others, if
        there is time."""
        self._took = 0.0
        """Seconds from its turn to its end, of the last read."""
        self._looking = False
        self._under_way = 0

    def submit(self, call: Callable[[], object], done: Done, wanted: Wanted) -> None:
        """See `Jobs.submit`. When it is not ``wanted`` any more as its turn comes, ``done`` gets an
        `UnwantedError`."""
        self._line.append(_Read(call, done, wanted))
        self._go_on()

    def _go_on(self) -> None:
        if self._looking:  # who is told below may bring another one, and so on
            return
        self._looking = True
        try:
            while self._under_way < AT_ONCE and (self._line or self._late):
                self._look()
        finally:
            self._looking = False

    def _look(self) -> None:
        """See to the next one."""
        if self._late and not self._late[0].wanted(0.0):
            self._begin(self._late.popleft())
        elif not self._line:
            self._begin(self._late.pop())  # who came last has most time
        else:
            read = self._line.popleft()
            if read.wanted(0.0) and not read.wanted(self._took * MARGIN):
                self._late.append(read)
            else:
                self._begin(read)

    def _begin(self, read: _Read) -> None:
        """Let it go, or tell it that nobody waits for it any more."""
        if read.wanted(0.0):
            self._under_way += 1
            self._jobs().submit(read.call, partial(self._ended, read.done, self._clock.monotonic()))
        else:
            read.done(UnwantedError())

    def _ended(self, done: Done, since: float, error: BaseException | None) -> None:
        self._under_way -= 1
        self._took = self._clock.monotonic() - since
        try:
            done(error)  # first: what it answers counts when the next one is looked at
        finally:
            self._go_on()
