"""Real etcd processes on free ports of 127.0.0.1, for tests: one member, or several as one cluster."""

from __future__ import annotations

import atexit
import contextlib
import functools
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from kproto.local_cluster import free_ports

READY_S = 120.0


class Etcd:
    """One member; its data stay in ``directory`` when it is killed."""

    def __init__(self, name: str, directory: Path, client: int, peer: int, cluster: str) -> None:
        self.address = f"127.0.0.1:{client}"
        self._log = directory / f"{name}.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._command = [
            "etcd",
            f"--name={name}",
            f"--data-dir={directory / name}",
            f"--listen-client-urls=http://127.0.0.1:{client}",
            f"--advertise-client-urls=http://127.0.0.1:{client}",
            f"--listen-peer-urls=http://127.0.0.1:{peer}",
            f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
            f"--initial-cluster={cluster}",
            "--logger=zap",
            "--log-level=warn",
        ]

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log)

    def wait_until_ready(self) -> None:
        """Until it answers with a leader."""
        assert self._process is not None
        end = time.monotonic() + READY_S
        while not self._healthy():
            assert self._process.poll() is None, self._log.read_text()
            assert time.monotonic() < end, self._log.read_text()
            time.sleep(0.02)

    def _healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://{self.address}/health", timeout=10) as answer:
                return b'"true"' in answer.read()
        except OSError:
            return False

    def kill(self) -> None:
        """As a crash does it."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Connections stay, nothing is answered."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGCONT)
            self._process.send_signal(number)
            self._process.wait(120)
        self._process = None


@contextlib.contextmanager
def etcd_cluster(directory: Path, members: int = 1) -> Iterator[list[Etcd]]:
    """Running members that know each other."""
    ports = free_ports(2 * members)
    names = [f"m{number}" for number in range(members)]
    peers = dict(zip(names, ports[members:], strict=True))
    cluster = ",".join(f"{name}=http://127.0.0.1:{port}" for name, port in peers.items())
    started = [
        Etcd(name, directory, port, peers[name], cluster)
        for name, port in zip(names, ports[:members], strict=True)
    ]
    try:
        for each in started:
            each.start()
        for each in started:
            each.wait_until_ready()
        yield started
    finally:
        for each in started:
            each.kill()


@functools.cache
def shared_etcd() -> str:
    """Address of a member that runs until the tests end; each user takes a prefix of its own."""
    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    directory = stack.enter_context(tempfile.TemporaryDirectory())
    return stack.enter_context(etcd_cluster(Path(directory)))[0].address
