"""A call that is made once, a while after it was first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kproto.vlog.worker import Loop


class Later:
    """``call()`` on the loop, a while after it was first asked for, however often it is until then."""

    __slots__ = ("_call", "_loop", "due")

    def __init__(self, loop: Loop, call: Callable[[], object]) -> None:
        self._loop = loop
        self._call = call
        self.due = False
        """It was asked for and not made yet."""

    def ask(self, seconds: float) -> None:
        """Have it called in so many seconds, unless it will be anyway."""
        if not self.due:
            self.due = True
            self._loop.call_later(seconds, self._now)

    def _now(self) -> None:
        self.due = False  # first: the call may ask again
        self._call()
