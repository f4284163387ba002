"""A few threads for calls that may block on a file; started on first use, bounded in number.

Only calls that release the GIL for most of their time belong here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from kproto.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

P = ParamSpec("P")
T = TypeVar("T")


class BlockingPool:
    """``await pool.run(function, *arguments)`` runs a blocking function in one of ``size`` threads."""

    __slots__ = ("_executor", "_size")

    def __init__(self, size: int = 4) -> None:
        self._size = size
        self._executor: ThreadPoolExecutor | None = None

    def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[T]:
        """The function's result as a future of the running loop; exceptions pass through, and so does that
        the system has no thread to give: a retriable one.
        """
        if self._executor is None:
            from concurrent.futures import ThreadPoolExecutor

            self._executor = ThreadPoolExecutor(self._size, thread_name_prefix="kproto-blocking")
        try:
            return asyncio.wrap_future(self._executor.submit(function, *args, **kwargs))
        except RuntimeError as error:
            failed: asyncio.Future[T] = asyncio.get_running_loop().create_future()
            failed.set_exception(KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)))
            return failed

    def close(self) -> None:
        """Wait for what runs, drop what has not begun."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
