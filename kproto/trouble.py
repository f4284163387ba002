"""What fails again and again is logged when it begins, then once a minute, and when it works again.

A full disk lasts for hours, and who waits tries many times a second: the log must not fill what is left.
:class:`Seldom` is for what others do wrong, who may be many, :class:`Alike` for many things that fail for the
same reason, :class:`Quietly` for something large that is tried as a whole, and says each time all that it has
to say.
May be imported from anywhere; imports only ``clock``.
"""

from __future__ import annotations

import logging
from collections.abc import Hashable
from functools import partial
from math import inf
from threading import Lock
from typing import Final

from kproto.clock import Clock

AGAIN_SECONDS: Final = 60.0
MOST_TOLD: Final = 100
"""Of so many others something is logged in :data:`AGAIN_SECONDS`."""


class Trouble:
    """One thing that is tried until it works; ``what`` is the beginning of each line about it."""

    __slots__ = ("_clock", "_log", "_next", "_what")

    def __init__(self, log: logging.Logger, clock: Clock, what: str) -> None:
        self._log = log
        self._clock = clock
        self._what = what
        self._next: float | None = None
        """When it is to be told again; None while all is well."""

    @property
    def lasts(self) -> bool:
        """It did not work the last time."""
        return self._next is not None

    def failed(self, error: object, expected: bool = True) -> None:
        """It did not work, this time either. What is not ``expected`` is told with its traceback."""
        now = self._clock.monotonic()
        if self._next is None or now >= self._next:
            self._next = now + AGAIN_SECONDS
            level = logging.WARNING if expected else logging.ERROR
            self._log.log(level, "%s: %s", self._what, error, exc_info=not expected)

    def over(self) -> None:
        """It worked."""
        if self._next is not None:
            self._next = None
            self._log.warning("%s: it works again", self._what)


class Seldom:
    """Whether something about others is to be logged: once in ``again`` seconds about each of them, and no
    more about any while that was done for ``most``."""

    __slots__ = ("_again", "_clock", "_most", "_until")

    def __init__(self, clock: Clock, most: float = MOST_TOLD, again: float = AGAIN_SECONDS) -> None:
        self._clock = clock
        self._most = most
        self._again = again
        self._until: dict[Hashable, float] = {}
        """Of whom nothing is logged until when; the first to expire comes first."""

    def is_due(self, whom: Hashable) -> bool:
        """True: it is to be logged now, and counts as logged."""
        now = self._clock.monotonic()
        while self._until:
            oldest = next(iter(self._until))
            if self._until[oldest] > now:
                break
            del self._until[oldest]
        if whom in self._until or len(self._until) >= self._most:
            return False
        self._until[whom] = now + self._again
        return True

    def level(self, whom: Hashable) -> int:
        """Of what is said of them: a warning when that `is_due`, else nothing that is shown."""
        return logging.WARNING if self.is_due(whom) else logging.INFO


class Alike:
    """What fails with many things, each tried again and again, for the same few reasons: a line a minute for
    each reason. It says how many failures there were that no line told of."""

    __slots__ = ("_held", "_log", "_told")

    def __init__(self, log: logging.Logger, clock: Clock) -> None:
        self._log = log
        self._told = Seldom(clock)
        self._held = 0

    def failed(self, reason: Hashable, line: str) -> None:
        """It did not work with one of them."""
        if not self._told.is_due(reason):
            self._held += 1
            return
        held, self._held = self._held, 0
        more = f" ({held} more since the last line like this)" if held else ""
        self._log.warning("%s%s", line, more)


class Quietly:
    """While it is entered, which may be many times, whatever is logged by anybody in the same words is logged
    once a minute."""

    __slots__ = ("_filters", "_lock", "_told")

    def __init__(self, clock: Clock) -> None:
        self._told = Seldom(clock, inf)
        self._lock = Lock()
        self._filters: list[tuple[logging.Handler, partial[bool]]] = []

    def __enter__(self) -> None:
        for handler in logging.getLogger().handlers:
            each = partial(self._is_due, handler)
            handler.addFilter(each)
            self._filters.append((handler, each))

    def __exit__(self, *_: object) -> None:
        for handler, each in self._filters:
            handler.removeFilter(each)
        self._filters.clear()

    def _is_due(self, handler: logging.Handler, record: logging.LogRecord) -> bool:
        why = repr(record.exc_info[1]) if record.exc_info else None
        with self._lock:  # threads log, too
            return self._told.is_due((handler, record.name, record.getMessage(), why))
