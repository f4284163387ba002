"""What a leader looks at again and again in the background, as long as its owner epoch lasts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from kproto.errors import ErrorCode, KafkaError

log = logging.getLogger(__name__)


class LostError(Exception):
    """The owner epoch is over (rule 16)."""


class Looking:
    """Calls ``look`` until `close`, or until the owner or broker epoch is over (LostError,
    STALE_BROKER_EPOCH). What fails otherwise is logged as ``what`` and tried again. On the loop."""

    def __init__(self, what: str, look: Callable[[], Awaitable[object]]) -> None:
        self._what = what
        self._look = look
        self._task: asyncio.Task[None] | None = None

    def start(self, seconds: float) -> None:
        """Look from now on, with so many seconds before each time."""
        self._task = asyncio.get_running_loop().create_task(self._run(seconds))

    async def close(self) -> None:
        """Stop."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self, seconds: float) -> None:
        while True:
            await asyncio.sleep(seconds)
            try:
                await self._look()
            except LostError:
                return
            except KafkaError as error:
                if error.code is ErrorCode.STALE_BROKER_EPOCH:
                    return
                log.info("%s: the controller refused: %s", self._what, error)
            except Exception:
                log.exception("%s failed; trying again", self._what)
