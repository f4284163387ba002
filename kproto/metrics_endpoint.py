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
    """The endpoint of one broker. ``port`` is the real one after `start`."""

    def __init__(
        self,
        host: str,
        port: int,
        metrics: Mapping[str, Callable[[], Metrics]],
        pages: Mapping[str, Page],
    ) -> None:
        """``metrics`` and ``pages`` (path -> function) are called on the running loop."""
        self._address = (host, port)
        self._shown = Shown(asyncio.get_running_loop(), metrics, pages)
        self._listener: socket.socket | None = None
        self._changing = threading.Lock()
        self._closed = False
        self._server: PagesServer | None = None
        self.port = port

    def start(self) -> None:
        """Listen, as for clients also on IPv6. Raises OSError when the address is taken."""
        host, port = self._address
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        self._listener = socket.create_server(address, family=family, dualstack_ipv6=both)
        self.port = self._listener.getsockname()[1]
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
        if self._listener is None:
            return
        with self._changing:
            self._closed = True
        with contextlib.suppress(OSError):  # it has ended with an error
            self._listener.shutdown(socket.SHUT_RDWR)  # its thread looks twice a second: wake it
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
