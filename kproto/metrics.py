"""What a broker does, for operators: a Prometheus endpoint and the same as JSON for the ``kproto`` command.

``GET /metrics`` is Prometheus text, every other path of ``pages`` a JSON document. A thread of its own speaks
HTTP; the values are always taken on the broker's event loop, so that nothing is seen half changed. Imported
only when ``kproto.metrics.listen`` is set.

May import ``errors check clock disk directory memory config``.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import TimeoutError as TooSlow
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, NamedTuple

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from kproto.disk import NO_DESCRIPTOR

Page = Callable[[], Any]
"""What a page shows, as JSON values or an awaitable of them; called on the event loop."""
ANSWER_S: Final = 5.0
REQUEST_S: Final = 10.0
"""Who connects and asks nothing for so long loses its thread and its descriptor."""
MOST_ASKING: Final = 8
"""Connections at the same time; more are closed."""
ACCEPT_RETRY_S: Final = 0.25


class Metric(NamedTuple):
    """One value for Prometheus. ``counter``: it only grows. ``labels`` tell several of one name apart."""

    name: str
    help: str
    value: float
    labels: Mapping[str, str]
    counter: bool = False


class _Collector(Collector):
    """Turns what `take` gives into Prometheus' families."""

    def __init__(self, take: Callable[[], Iterable[Metric]]) -> None:
        self._take = take

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        families: dict[str, CounterMetricFamily | GaugeMetricFamily] = {}
        for metric in self._take():
            family = families.get(metric.name)
            if family is None:
                kind = CounterMetricFamily if metric.counter else GaugeMetricFamily
                family = families[metric.name] = kind(metric.name, metric.help, labels=tuple(metric.labels))
            family.add_metric(tuple(metric.labels.values()), metric.value)
        yield from families.values()


class _HTTPServer(ThreadingHTTPServer):
    """Whose thread does not run hot while there is no descriptor for who waits to be accepted, and which
    takes few of them."""

    _asking = 0

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._lock = threading.Lock()
        super().__init__(address, handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        try:
            return super().get_request()
        except OSError as error:
            if error.errno in NO_DESCRIPTOR:
                time.sleep(ACCEPT_RETRY_S)
            raise

    def verify_request(self, request: object, client_address: object) -> bool:  # noqa: ARG002
        return self._asking < MOST_ASKING

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._asking += 1
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._asking -= 1


class MetricsEndpoint:
    """The HTTP server of one broker. ``port`` is the real one after `start`."""

    def __init__(
        self, host: str, port: int, metrics: Callable[[], Iterable[Metric]], pages: Mapping[str, Page]
    ) -> None:
        """``metrics`` and ``pages`` (path -> function) are called on the loop that `start` ran on."""
        self._address = (host, port)
        self._metrics = metrics
        self._pages = pages
        self._registry = CollectorRegistry(auto_describe=False)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: ThreadingHTTPServer | None = None
        self.port = port

    def start(self) -> None:
        """Listen. Raises OSError when the address is taken."""
        self._loop = asyncio.get_running_loop()
        self._registry.register(_Collector(lambda: self._on_loop(lambda: list(self._metrics()))))
        ProcessCollector(registry=self._registry)
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            timeout = REQUEST_S

            def do_GET(self) -> None:
                status, kind, body = endpoint.answer(self.path)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing: the broker's log is not an access log."""

        self._server = _HTTPServer(self._address, Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, name="kproto-metrics", daemon=True).start()

    def answer(self, path: str) -> tuple[int, str, bytes]:
        """Status, content type and body for one GET. Called in a thread of the server."""
        page = self._pages.get(path)
        try:
            if path == "/metrics":
                return 200, CONTENT_TYPE_LATEST, generate_latest(self._registry)
            if page is not None:
                return 200, "application/json", json.dumps(self._on_loop(page)).encode()
        except TooSlow:
            return 503, "text/plain", b"the broker is too busy\n"
        return 404, "text/plain", f"try /metrics {' '.join(self._pages)}\n".encode()

    def _on_loop(self, take: Callable[[], Any]) -> Any:
        async def taken() -> Any:
            value = take()
            return await value if isinstance(value, Awaitable) else value

        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(taken(), self._loop).result(ANSWER_S)

    def close(self) -> None:
        """Stop listening. A question that is being answered gets no answer any more."""
        if self._server is not None:
            self._server.socket.shutdown(socket.SHUT_RDWR)  # its thread looks twice a second: wake it
            self._server.shutdown()
            self._server.server_close()
