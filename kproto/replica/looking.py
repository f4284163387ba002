"""What a leader looks at again and again in the background, as long as its owner epoch lasts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Container, Hashable
from typing import TYPE_CHECKING, Generic, TypeVar

from kproto.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from kproto.replica.reach import Metadata

log = logging.getLogger(__name__)


_Key = TypeVar("_Key", bound=Hashable)


class Waits(Generic[_Key]):
    """How long what failed waits for another try: ``first`` seconds, twice as long each time, ``most`` at
    most."""

    __slots__ = ("_first", "_most", "_next")

    def __init__(self, first: float, most: float) -> None:
        self._first = first
        self._most = most
        self._next: dict[_Key, float] = {}

    def longer(self, what: _Key) -> float:
        """It failed: seconds to wait now."""
        seconds = self._next.get(what, self._first)
        self._next[what] = min(seconds * 2, self._most)
        return seconds

    def __len__(self) -> int:
        return len(self._next)

    def over(self, what: _Key) -> None:
        """It has not failed any more, or does not matter."""
        self._next.pop(what, None)

    def keep(self, those: Container[_Key]) -> None:
        """Forget all but ``those``."""
        self._next = {what: seconds for what, seconds in self._next.items() if what in those}


class LostError(Exception):
    """The owner epoch is over (rule 16)."""


def if_changed(metadata: Metadata, look: Callable[[], Awaitable[int]]) -> Callable[[], Awaitable[None]]:
    """``look`` only at another revision than that at which it left nothing to do; it returns how much it
    leaves."""
    done_at = -1

    async def look_if_changed() -> None:
        nonlocal done_at
        revision = metadata.image.revision
        if revision != done_at:
            done_at = -1 if await look() else revision

    return look_if_changed


class Looking:
    """Looks until `close`, or until the owner or broker epoch is over (LostError, STALE_BROKER_EPOCH). What
    fails otherwise is logged as ``what`` and tried again. On the loop."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._task: asyncio.Task[None] | None = None

    def start(self, seconds: float, look: Callable[[], Awaitable[object]]) -> None:
        """``look`` from now on, with so many seconds before each time."""
        self._task = asyncio.get_running_loop().create_task(self._run(seconds, look))

    async def close(self) -> None:
        """Stop."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self, seconds: float, look: Callable[[], Awaitable[object]]) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await look()
            except LostError:
                return
            except KafkaError as error:
                if error.code is ErrorCode.STALE_BROKER_EPOCH:
                    return
                log.info("%s: the controller refused: %s", self._what, error)
            except Exception:
                log.exception("%s failed; trying again", self._what)
