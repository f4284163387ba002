"""Reads of copies that others wait for, in line for the reading worker.

A backup that is asked for more than it can read would read for those who have given up and asked another one,
and its answers would heap up for who does not take them. So it is looked at each read's turn whether the
answer is still wanted, and will be when it comes: where the line is long the first in it have waited nearly as
long as they can. What the worker does for the store itself does not stand behind this line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kproto.clock import Clock
    from kproto.vlog.worker import Done, Jobs

AT_ONCE: Final = 2
"""While the loop answers one, the worker reads the next; of answers that count for nobody yet there are no
more."""

MARGIN: Final = 1.25
"""The next read takes so many times as long as the last one, its way included."""

Wanted = Callable[[float], bool]
"""Whether an answer is wanted that comes so many seconds from now."""


class UnwantedError(Exception):
    """Nobody waits for what was to be read."""


class AwaitedReads:
    """See the module's text. On the loop."""

    __slots__ = ("_clock", "_jobs", "_late", "_line", "_looking", "_took", "_under_way")

    def __init__(self, jobs: Callable[[], Jobs], clock: Clock) -> None:
        self._jobs = jobs
        self._clock = clock
        self._line: deque[tuple[Callable[[], object], Done, Wanted]] = deque()
        self._late: deque[tuple[Callable[[], object], Done, Wanted]] = deque()
        """Those whose answers would come too late if they took as long as the last one: after the others, if
        there is time."""
        self._took = 0.0
        """Seconds from its turn to its end, of the last read."""
        self._looking = False
        self._under_way = 0

    def submit(self, call: Callable[[], object], done: Done, wanted: Wanted) -> None:
        """See `Jobs.submit`. When it is not ``wanted`` any more as its turn comes, ``done`` gets an
        `UnwantedError`."""
        self._line.append((call, done, wanted))
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
        """Let the next one go, put it off, or tell it that nobody waits for it."""
        late, line = self._late, self._line
        is_late = not line or (bool(late) and not late[0][2](0.0))
        if not is_late:
            call, done, wanted = one = line.popleft()
        else:  # who came last has most time
            call, done, wanted = one = late.popleft() if line or not late[0][2](0.0) else late.pop()
        if not wanted(0.0):
            done(UnwantedError())
        elif is_late or wanted(self._took * MARGIN):
            self._under_way += 1
            self._jobs().submit(call, partial(self._ended, done, self._clock.monotonic()))
        else:
            late.append(one)

    def _ended(self, done: Done, since: float, error: BaseException | None) -> None:
        self._under_way -= 1
        self._took = self._clock.monotonic() - since
        try:
            done(error)  # first: what it answers counts when the next one is looked at
        finally:
            self._go_on()
