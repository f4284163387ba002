"""A real broker for tests of people's own Kafka code.

    from kproto.testing import kafka_broker

    with kafka_broker() as broker:
        producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap_servers})

The broker listens on a free port of 127.0.0.1, starts empty and its data is deleted afterwards. In-process
(the default) it runs on an event loop of its own in a background thread and is up in a few hundredths of a
second; as a subprocess it can be killed and started again with its data. Consumer groups do not wait for
further members (``group.initial.rebalance.delay.ms`` = 0). With pytest the fixture ``kafka_broker`` of
``kproto.pytest_plugin`` does the same.

A test process that ends before it has stopped its brokers (SIGKILL, ``os._exit``) takes them along; their
data then stays, in ``kproto-test-*`` of the directory for temporary files.

A process that is forked beside an in-process broker (``multiprocessing`` with ``fork``) keeps its port and
the lock of its data directory as long as it lives, also when the broker has stopped.

May import everything but ``cli`` (which it starts as a command).
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, Literal, NoReturn, overload

from kproto.local_cluster import free_port, is_free

if TYPE_CHECKING:
    import asyncio

    from kproto.broker import Broker

START_TIMEOUT_S: Final = 30.0
"""Longer than a start ever takes; a broker that needs more is reported as failed."""

SAID_BYTES: Final = 2000
_NO_FAILURE: Final = (None, 0, -signal.SIGTERM, -signal.SIGKILL)
"""Exit codes of a broker that was not running, stopped, or was killed by somebody: a test may do that."""
_ONLY_SUBPROCESS: Final = (
    "only a broker in a process of its own can be killed or terminated: "
    "kafka_broker(subprocess=True), or pytest --kproto-broker=subprocess"
)
LAST_PORT: Final = 65_535
LOOK_S: Final = 0.01
ANSWER_S: Final = 1.0
_API_VERSIONS: Final = struct.pack(">ihhih", 10, 18, 0, 1, -1)
"""A whole request, version 0, of a client without a name: a broker answers it as soon as it serves."""

Setting = str | int | float | bool

_DEFAULTS: Final[Mapping[str, Setting]] = {"group.initial.rebalance.delay.ms": "0"}


def _text(value: Setting) -> str:
    """As Kafka writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _directory(settings: dict[str, str], data_dir: str | os.PathLike[str] | None) -> str | None:
    """Where the data is to be; taken out of ``settings``, where ``log.dirs`` wins over ``log.dir``. None when
    nobody says. An absolute path, as tests change the working directory. Raises ValueError."""
    found = settings.pop("log.dir", None)
    found = settings.pop("log.dirs", found)
    if data_dir is not None:
        if found not in (None, os.fspath(data_dir)):
            raise ValueError(f"log.dirs: {found!r} contradicts data_dir = {os.fspath(data_dir)!r}")
        found = os.fspath(data_dir)
    return found and os.path.abspath(found)


def _address(listeners: str) -> tuple[str, int]:
    """Host and port at which clients of this machine reach it; port 0 for one that is free, or is none: that
    is for the broker to say."""
    host, _, port = listeners.partition("://")[2].rpartition(":")
    host = host.strip("[]")
    known = port.isdecimal() and int(port) <= LAST_PORT
    return "127.0.0.1" if host in ("", "0.0.0.0") else host, int(port) if known else 0


class _TestBroker:
    """Where a broker for tests listens and keeps its data."""

    def __init__(
        self, settings: Mapping[str, Setting] | None = None, data_dir: str | os.PathLike[str] | None = None
    ) -> None:
        """``settings``: Kafka's dotted names to values. ``data_dir``: kept afterwards when given.

        Both kinds of broker take them alike: of ``listeners`` port 0 is a free one, and ``log.dirs`` is as
        good as ``data_dir``. Raises ValueError when both are given and differ.
        """
        self._settings = {name: _text(value) for name, value in {**_DEFAULTS, **(settings or {})}.items()}
        directory = _directory(self._settings, data_dir)
        self._listeners = self._settings.pop("listeners", "PLAINTEXT://127.0.0.1:0")
        self.host, self.port = _address(self._listeners)
        self._own_directory = directory is None
        own = os.path.join(os.path.abspath(tempfile.gettempdir()), f"kproto-test-{secrets.token_hex(8)}")
        self.data_dir = own if directory is None else directory

    @property
    def bootstrap_servers(self) -> str:
        """``host:port``, as clients want it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def _told(self) -> dict[str, str]:
        """All settings of the broker, by dotted name; its port stays the same in later starts."""
        before, _, port = self._listeners.rpartition(":")
        listeners = f"{before}:{self.port}" if port == "0" else self._listeners
        return {**self._settings, "listeners": listeners, "log.dirs": self.data_dir}

    def _make_directory(self) -> None:
        """At each start: who is never started, and so never stopped, leaves nothing. Its own is for nobody
        else's eyes."""
        os.makedirs(self.data_dir, 0o700 if self._own_directory else 0o777, exist_ok=True)

    def _discard_data(self) -> None:
        if self._own_directory:
            shutil.rmtree(self.data_dir, ignore_errors=True)


class InProcessBroker(_TestBroker):
    """A broker on an event loop of its own in a background thread."""

    def __init__(
        self, settings: Mapping[str, Setting] | None = None, data_dir: str | os.PathLike[str] | None = None
    ) -> None:
        """``settings``: Kafka's dotted names to values. ``data_dir``: kept afterwards when given."""
        super().__init__(settings, data_dir)
        self._ready = threading.Event()
        self._failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start and return once clients can connect. Raises what the broker's start raised, TimeoutError,
        RuntimeError when it runs already."""
        if self._thread is not None and self._thread.is_alive():
            raise RuntimeError("the broker is running already")
        if self._own_directory:
            self._make_directory()
        self._ready.clear()
        self._failure = None
        self._thread = threading.Thread(target=self._run, name="kproto-broker", daemon=True)
        self._thread.start()
        if not self._ready.wait(START_TIMEOUT_S):
            raise TimeoutError(f"the broker did not start within {START_TIMEOUT_S:g} s")
        self._raise_failure()

    def stop(self) -> None:
        """Drain, stop, and delete the data unless the directory was given.

        Raises what ended the broker before, or kept it from stopping cleanly; RuntimeError when its storage
        failed or it was fenced. TimeoutError when it does not stop: its data then stays.
        """
        if self._loop is not None and self._stop is not None:
            with contextlib.suppress(RuntimeError):  # it has ended, and its loop is closed
                self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread is not None:
            self._thread.join(START_TIMEOUT_S)
            if self._thread.is_alive():
                raise TimeoutError(
                    f"the broker did not stop within {START_TIMEOUT_S:g} s; {self.data_dir} is left to it"
                )
            self._thread = None
        self._discard_data()
        self._raise_failure()

    def kill(self) -> NoReturn:
        """A thread cannot be killed."""
        raise RuntimeError(_ONLY_SUBPROCESS)

    def terminate(self) -> NoReturn:
        """Nor does it get signals."""
        raise RuntimeError(_ONLY_SUBPROCESS)

    def _raise_failure(self) -> None:
        """Once: who was told need not be told by the next call."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _run(self) -> None:
        import asyncio

        try:
            asyncio.run(self._serve())
        except BaseException as failure:
            self._failure = failure
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        import asyncio

        from kproto.broker import Broker
        from kproto.config import load

        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        usual = {"kproto.metadata.store": "memory"} if self._own_directory else {}
        settings = load(None, self._told(), usual)
        if settings.kproto_join and not settings.kproto_internal_listen:
            raise ValueError("kproto.join: a broker inside a test needs kproto.internal.listen, too")
        broker: Broker = Broker(settings)
        starting = asyncio.ensure_future(broker.start())
        stopping = asyncio.ensure_future(self._stop.wait())
        await asyncio.wait((starting, stopping), return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            starting.cancel()  # it took too long, and nobody waits for it any more
            await asyncio.wait((starting,))
            return
        starting.result()
        self.port = broker.port
        self._ready.set()
        ends = [stopping, *(asyncio.ensure_future(event.wait()) for event in (broker.failed, broker.fenced))]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        fenced = broker.fenced.is_set() and not self._stop.is_set()
        await broker.stop()
        if broker.failed.is_set():
            raise RuntimeError("the broker has ended: its storage failed, as its log says")
        if fenced:
            raise RuntimeError("the broker has ended: it was fenced, as its log says")


class SubprocessBroker(_TestBroker):
    """A broker in a process of its own: it can be killed and started again with its data. It stops cleanly by
    itself when this process ends, however that is: it then finds the end of its standard input."""

    def __init__(
        self, settings: Mapping[str, Setting] | None = None, data_dir: str | os.PathLike[str] | None = None
    ) -> None:
        """``settings``: Kafka's dotted names to values. ``data_dir``: kept afterwards when given."""
        super().__init__(settings, data_dir)
        self.port = self.port or free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._log_path = os.path.join(self.data_dir, "broker.log")

    @property
    def pid(self) -> int:
        """The process id of the running broker. Raises RuntimeError when it is not running."""
        if self._process is None:
            raise RuntimeError("the broker is not running")
        return self._process.pid

    def start(self) -> None:
        """Start and return once clients are served. Raises RuntimeError with what the broker printed, or
        when somebody else has its port: who answers there would be taken for it."""
        if self._process is not None and self._process.poll() is None:
            raise RuntimeError("the broker is running already")
        if not is_free(self.port):
            raise RuntimeError(f"the broker did not start: somebody listens on port {self.port} already")
        command = [sys.executable, "-P", "-m", "kproto.cli.main", "serve", "--quiet", "--stop-with-stdin"]
        for name, value in self._told().items():
            command += ["--set", f"{name}={value}"]
        try:
            self._make_directory()
        except OSError as error:
            raise RuntimeError(f"the broker did not start: {self.data_dir}: {error.strerror}") from None
        with open(self._log_path, "ab") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log)
        self._wait_until_up()

    def _wait_until_up(self) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if self._process is None or self._process.poll() is not None:
                break
            if self._is_served():
                return
            time.sleep(LOOK_S)
        self.kill()
        raise RuntimeError(f"the broker did not start: {self._said()}")

    def _said(self) -> str:
        """The end of what the broker has printed, if that is still there."""
        try:
            with open(self._log_path, "rb") as log:
                return log.read()[-SAID_BYTES:].decode("utf-8", "replace")
        except FileNotFoundError:
            return ""

    def _is_served(self) -> bool:
        """Whether a request is answered. The port is bound early in a start, and the kernel takes connections
        from then on; a start that fails later resets them."""
        try:
            with socket.create_connection((self.host, self.port), timeout=ANSWER_S) as probe:
                probe.sendall(_API_VERSIONS)
                return bool(probe.recv(1))
        except OSError:
            return False

    def kill(self) -> None:
        """SIGKILL, as a crash would; the data stays."""
        self._end(signal.SIGKILL)

    def terminate(self) -> int | None:
        """SIGTERM and wait until the broker has stopped cleanly; the data stays. Returns its exit code."""
        return self._end(signal.SIGTERM)

    def stop(self) -> None:
        """Stop cleanly, and delete the data unless the directory was given. Raises TimeoutError when that
        took too long and the process was killed, RuntimeError with what the broker printed when it had failed
        before."""
        try:
            code = self.terminate()
            if code not in _NO_FAILURE:
                raise RuntimeError(f"the broker had failed (exit code {code}): {self._said()}")
        finally:
            self._discard_data()

    def _end(self, signal_number: signal.Signals) -> int | None:
        if self._process is None:
            return None
        process, self._process = self._process, None
        process.send_signal(signal_number)
        try:
            return process.wait(START_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise TimeoutError(f"the broker did not stop within {START_TIMEOUT_S:g} s; killed") from None
        finally:
            if process.stdin is not None:
                process.stdin.close()


@overload
@contextlib.contextmanager
def kafka_broker(
    settings: Mapping[str, Setting] | None = None,
    *,
    subprocess: Literal[False] = False,
    data_dir: str | os.PathLike[str] | None = None,
) -> Iterator[InProcessBroker]: ...
@overload
@contextlib.contextmanager
def kafka_broker(
    settings: Mapping[str, Setting] | None = None,
    *,
    subprocess: Literal[True],
    data_dir: str | os.PathLike[str] | None = None,
) -> Iterator[SubprocessBroker]: ...
@overload
@contextlib.contextmanager
def kafka_broker(
    settings: Mapping[str, Setting] | None = None,
    *,
    subprocess: bool,
    data_dir: str | os.PathLike[str] | None = None,
) -> Iterator[InProcessBroker | SubprocessBroker]: ...
@contextlib.contextmanager
def kafka_broker(
    settings: Mapping[str, Setting] | None = None,
    *,
    subprocess: bool = False,
    data_dir: str | os.PathLike[str] | None = None,
) -> Iterator[InProcessBroker | SubprocessBroker]:
    """Start a broker, yield it, stop it. See :class:`InProcessBroker` and :class:`SubprocessBroker`."""
    kind = SubprocessBroker if subprocess else InProcessBroker
    broker = kind(settings, data_dir)
    try:
        broker.start()
    except BaseException:
        with contextlib.suppress(TimeoutError, RuntimeError):  # why it did not start is what matters
            broker.stop()
        raise
    try:
        yield broker
    finally:
        broker.stop()
