"""Where operators ask what a broker does: a Prometheus endpoint and the same as JSON for ``kproto``.

``GET /metrics``, as every path of ``metrics``, is Prometheus text, a path of ``pages`` a JSON document. A
thread waits for who asks, and speaks HTTP from then on. Imported only when ``kproto.metrics.listen`` is set.

May import ``disk metrics``, and ``metrics_http`` once it is needed.
"""

from __future__ import annotations

import asyncio
import contextlib
import select
import socket
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from kproto.disk import NO_DESCRIPTOR
from kproto.metrics import Metrics, Page, Shown

if TYPE_CHECKING:
    from kproto.metrics_http import PagesServer

RETRY_S: Final = 0.25
"""When there was no descriptor."""


class MetricsEndpoint:
    """The endpoint of one broker. It is closed until `start`."""

    def __init__(self, listener: socket.socket) -> None:
        """``listener`` has its address, and does not listen yet."""
        self._listener = listener
        self._changing = threading.Lock()
        self._started = self._closed = False
        self._server: PagesServer | None = None
        self.port: int = listener.getsockname()[1]

    def start(self, metrics: Mapping[str, Callable[[], Metrics]], pages: Mapping[str, Page]) -> None:
        """Answer. ``metrics`` and ``pages`` (path -> function) are called on the running loop. Raises OSError
        when somebody else listens there by now."""
        self._listener.listen()
        self._started = True
        self._shown = Shown(asyncio.get_running_loop(), metrics, pages)
        threading.Thread(target=self._run, args=(self._listener,), name="kproto-metrics", daemon=True).start()

    def _run(self, listener: socket.socket) -> None:
        """The thread. What serves pages is imported when somebody asks for one: a broker that starts has no
        time for it."""
        waiting = select.poll()
        waiting.register(listener, select.POLLIN)
        with listener:
            while True:
                waiting.poll()
                try:
                    server = self._serving(listener)
                except OSError as error:
                    if error.errno not in NO_DESCRIPTOR:
                        raise
                    time.sleep(RETRY_S)  # who asked waits in the kernel's queue
                    continue
                if server is not None:
                    server.serve_forever()
                return

    def _serving(self, listener: socket.socket) -> PagesServer | None:
        """What serves pages, unless this has been closed."""
        with self._changing:
            if self._closed:
                return None
            from kproto.metrics_http import PagesServer

            self._server = PagesServer(listener, self._shown)
            return self._server

    def close(self) -> None:
        """Stop listening. A question that is being answered gets no answer any more."""
        with self._changing:
            self._closed = True
        with contextlib.suppress(OSError):  # it has ended with an error
            self._listener.shutdown(socket.SHUT_RDWR)  # its thread looks twice a second: wake it
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
        elif not self._started:
            self._listener.close()
