"""The HTTP side of the metrics endpoint: text for Prometheus, and pages as JSON.

Imported when somebody asks for the first time: that takes a fifth of the time of all else a broker imports.

May import ``disk metrics``.
"""

from __future__ import annotations

import contextlib
import json
import logging
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import TimeoutError as TooSlow
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from kproto.disk import NO_DESCRIPTOR

if TYPE_CHECKING:
    from kproto.metrics import Metric, Shown

log = logging.getLogger(__name__)

REQUEST_S: Final = 10.0
"""Who has not asked after so long, or not taken the answer after as long again, loses its thread and its
descriptor."""
MOST_ASKING: Final = 8
"""Connections at the same time; more are closed."""
ACCEPT_RETRY_S: Final = 0.25
PROCESS_PATH: Final = "/metrics"
"""The metrics that the process's own (CPU, memory, descriptors) are beside."""


Family = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily


class _Collector(Collector):
    """Turns what `take` gives into Prometheus' families."""

    def __init__(self, take: Callable[[], Iterable[Metric]]) -> None:
        self._take = take

    def collect(self) -> Iterator[Family]:
        families: dict[str, Family] = {}
        for metric in self._take():
            family = families.get(metric.name)
            if family is None:
                family = families[metric.name] = _family(metric)
            labels = tuple(metric.labels.values())
            if isinstance(family, HistogramMetricFamily):
                family.add_metric(labels, metric.buckets or (), metric.value)
            else:
                family.add_metric(labels, metric.value)
        yield from families.values()


def _family(metric: Metric) -> Family:
    """An empty one for metrics of the same name."""
    labels = tuple(metric.labels)
    if metric.buckets is not None:
        return HistogramMetricFamily(metric.name, metric.help, labels=labels)
    kind = CounterMetricFamily if metric.counter else GaugeMetricFamily
    return kind(metric.name, metric.help, labels=labels)


class PagesServer(ThreadingHTTPServer):
    """On a socket that listens. Its thread does not run hot while there is no descriptor for who waits to be
    accepted, and it takes few of them."""

    daemon_threads = True

    def __init__(self, listener: socket.socket, shown: Shown) -> None:
        self._lock = threading.Lock()
        self._asking: dict[socket.socket, float] = {}
        """Until when each has to have asked, on the monotonic clock: a byte now and then is no question."""
        self._shown = shown
        self._registries: dict[str, CollectorRegistry] = {}
        for path in shown.metric_paths:
            registry = self._registries[path] = CollectorRegistry(auto_describe=False)
            registry.register(_Collector(partial(shown.metrics, path)))
        ProcessCollector(registry=self._registries[PROCESS_PATH])
        super().__init__(listener.getsockname(), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener

    def answer(self, path: str) -> tuple[int, str, bytes]:
        """Status, content type and body for one GET or HEAD; a query says nothing. Called in a thread of the
        server."""
        pages = self._shown.pages
        path = path.partition("?")[0]
        try:
            if path in self._registries:
                return 200, CONTENT_TYPE_LATEST, generate_latest(self._registries[path])
            if path in pages:
                return 200, "application/json", json.dumps(self._shown.page(path)).encode()
        except TooSlow:
            return 503, "text/plain", b"the broker is too busy\n"
        return 404, "text/plain", f"try {' '.join((*self._registries, *pages))}\n".encode()

    def get_request(self) -> tuple[socket.socket, Any]:
        try:
            return super().get_request()
        except OSError as error:
            if error.errno in NO_DESCRIPTOR:
                time.sleep(ACCEPT_RETRY_S)
            raise

    def verify_request(self, request: object, client_address: object) -> bool:  # noqa: ARG002
        return len(self._asking) < MOST_ASKING

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._asking[request] = time.monotonic() + REQUEST_S
        super().process_request(request, client_address)

    def close_request(self, request: Any) -> None:
        with self._lock:
            self._asking.pop(request, None)
        super().close_request(request)

    def service_actions(self) -> None:
        """Twice a second: let those whose time is over come to the end of what they ask."""
        now = time.monotonic()
        with self._lock:
            for request, until in self._asking.items():
                if now >= until:
                    with contextlib.suppress(OSError):  # it has ended
                        request.shutdown(socket.SHUT_RD)

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002
        """Who goes away before it has its answer is no news."""
        if not isinstance(sys.exception(), OSError):
            log.exception("a page could not be shown")


class _Handler(BaseHTTPRequestHandler):
    timeout = REQUEST_S
    server: PagesServer

    def do_GET(self) -> None:
        self.wfile.write(self._begin())

    def do_HEAD(self) -> None:
        self._begin()

    def _begin(self) -> bytes:
        """Send all but the body, which is returned."""
        status, kind, body = self.server.answer(self.path)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return body

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the broker's log is not an access log."""
