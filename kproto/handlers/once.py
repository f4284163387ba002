"""What several clients wait for at once is asked for once, and goes on when they give up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


class Once:
    """What is under way, by what it is called."""

    __slots__ = ("_under_way",)

    def __init__(self) -> None:
        self._under_way: dict[Hashable, asyncio.Future[Any]] = {}

    async def result(self, name: Hashable, begin: Callable[[], Awaitable[T]], seconds: float) -> T:
        """Of ``begin()``, or of what is under way under that name. TimeoutError for who has waited so many
        seconds, as when it is ended; what it raises passes through."""
        task = self._under_way.get(name)
        if task is None:
            task = self._under_way[name] = asyncio.ensure_future(begin())
            task.add_done_callback(partial(self._ended, name))
        await asyncio.wait([task], timeout=seconds)
        if not task.done() or task.cancelled():
            raise TimeoutError
        found: T = task.result()
        return found

    def close(self) -> None:
        """End all of it."""
        for task in self._under_way.values():
            task.cancel()

    def _ended(self, name: Hashable, task: asyncio.Future[Any]) -> None:
        """Its error is looked at, whether anybody waits for it any more or not."""
        del self._under_way[name]
        if not task.cancelled():
            task.exception()
