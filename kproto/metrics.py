"""What is shown of a running broker, taken on its event loop, so that nothing is seen half changed.

`metrics_endpoint` listens for who asks; `metrics_http` answers.

May import nothing of kproto.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

Page = Callable[[], Any]
"""What a page shows, as JSON values or an awaitable of them; called on the event loop."""
ANSWER_S: Final = 5.0


class Metric(NamedTuple):
    """One value for Prometheus. ``counter``: it only grows. ``labels`` tell several of one name apart. With
    ``buckets``, (upper bound, how many are not above it), it is a histogram, and ``value`` the sum."""

    name: str
    help: str
    value: float
    labels: Mapping[str, str]
    counter: bool = False
    buckets: Sequence[tuple[str, float]] | None = None


Metrics = Iterable[Metric] | Awaitable[Iterable[Metric]]


class Shown:
    """Metrics and pages, by their paths, for threads that are not the loop's."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        metrics: Mapping[str, Callable[[], Metrics]],
        pages: Mapping[str, Page],
    ) -> None:
        """``metrics`` and ``pages`` (path -> function) are called on ``loop``."""
        self._loop = loop
        self.metric_paths: Final = tuple(metrics)
        self._metrics = metrics
        self.pages = pages

    def metrics(self, path: str) -> Iterable[Metric]:
        """The values of now. Raises TimeoutError when the loop does not give them in time."""

        def take() -> Any:
            found = self._metrics[path]()
            return found if isinstance(found, Awaitable) else list(found)

        found: Iterable[Metric] = self._on_loop(take)
        return found

    def page(self, path: str) -> Any:
        """What a page shows now. Raises TimeoutError when the loop does not give it in time."""
        return self._on_loop(self.pages[path])

    def _on_loop(self, take: Callable[[], Any]) -> Any:
        """What comes too late is not gathered to its end: nobody waits for it, and the next one asks."""

        async def taken() -> Any:
            value = take()
            return await value if isinstance(value, Awaitable) else value

        gathered = asyncio.run_coroutine_threadsafe(taken(), self._loop)
        try:
            return gathered.result(ANSWER_S)
        except TimeoutError:
            gathered.cancel()
            raise
