"""Brokers under test as subprocesses: kproto, and Apache Kafka as the reference.

Both are started with what makes tests quick (no initial rebalance delay, one copy of the internal topics) and
stopped by their process id; a dead broker's last log lines are part of the error.
"""

from __future__ import annotations

import base64
import signal
import socket
import struct
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from compat_tests.support.java import JVM_QUIET, KAFKA_JARS
from kproto.local_cluster import free_port

FAST_SETTINGS: dict[str, object] = {"group.initial.rebalance.delay.ms": 0}
START_TIMEOUT_S = 180.0


def answers(host: str, port: int, timeout_s: float = 10.0) -> bool:
    """Whether an ApiVersions v0 request gets a whole answer there."""
    request = struct.pack(">hhih", 18, 0, 7, -1)
    try:
        with socket.create_connection((host, port), timeout=timeout_s) as sock:
            sock.settimeout(timeout_s)
            sock.sendall(struct.pack(">i", len(request)) + request)
            answer = sock.recv(8, socket.MSG_WAITALL)
    except OSError:
        return False
    return len(answer) == 8 and struct.unpack(">i", answer[4:])[0] == 7


class Subprocess:
    """A broker process with a port, a data directory and a log file; a context manager."""

    def __init__(self, directory: Path, name: str) -> None:
        self.directory = directory
        self.port = free_port()
        self.log_path = directory / f"{name}.log"
        self.process: subprocess.Popen[bytes] | None = None
        directory.mkdir(parents=True, exist_ok=True)

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def data_dir(self) -> Path:
        return self.directory / "data"

    def command(self) -> Sequence[str]:
        raise NotImplementedError

    def start(self) -> None:
        """Start; return when the broker answers. AssertionError with its log when it ends or stays mute."""
        process = self.spawn()
        deadline = time.monotonic() + START_TIMEOUT_S
        while not answers("127.0.0.1", self.port):
            if process.poll() is not None:
                raise AssertionError(f"broker ended with {process.returncode}:\n{self.log_tail()}")
            if time.monotonic() > deadline:
                raise AssertionError(f"broker does not answer after {START_TIMEOUT_S} s:\n{self.log_tail()}")
            time.sleep(0.01)

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start it and do not wait."""
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                list(self.command()), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        return self.process

    def log_tail(self, size: int = 6000) -> str:
        return self.log_path.read_bytes()[-size:].decode("utf-8", "replace")

    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def kill(self) -> None:
        """SIGKILL and wait: no chance to say goodbye."""
        assert self.process is not None
        assert self.process.poll() is None, f"broker was dead already:\n{self.log_tail()}"
        self.process.kill()
        self.process.wait()

    def stop(self, timeout_s: float = 120.0) -> int:
        """SIGTERM and wait; the exit code (SIGKILL and its code when it does not end in time)."""
        if self.process is None or self.process.poll() is not None:
            return self.process.returncode if self.process else 0
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()

    def rss_bytes(self) -> int:
        assert self.process is not None
        return int(psutil.Process(self.process.pid).memory_info().rss)

    def descriptors(self) -> int:
        assert self.process is not None
        return int(psutil.Process(self.process.pid).num_fds())

    def __enter__(self) -> Subprocess:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def toml_lines(settings: Mapping[str, object]) -> str:
    """Settings by Kafka's dotted names as quoted TOML keys."""
    lines = []
    for name, value in settings.items():
        if isinstance(value, bool):
            text = "true" if value else "false"
        else:
            text = str(value) if isinstance(value, int) else f'"{value}"'
        lines.append(f'"{name}" = {text}\n')
    return "".join(lines)


class Kproto(Subprocess):
    """`kproto serve` with settings by Kafka's dotted names; `data_dir` may be elsewhere (a small disk)."""

    def __init__(
        self, directory: Path, settings: Mapping[str, object] | None = None, data_dir: Path | None = None
    ) -> None:
        super().__init__(directory, "kproto")
        self._data_dir = data_dir
        self.config_path = directory / "kproto.toml"
        self.config_path.write_text(toml_lines({**FAST_SETTINGS, **(settings or {})}))

    @property
    def data_dir(self) -> Path:
        return self._data_dir or super().data_dir

    def command(self) -> Sequence[str]:
        python = [sys.executable, "-m", "kproto.cli.main"]
        places = [
            "--listen",
            self.bootstrap,
            "--data-dir",
            str(self.data_dir),
            "--config",
            str(self.config_path),
        ]
        return [*python, "serve", *places]


class ApacheKafka(Subprocess):
    """One combined KRaft node out of the jars that Maven resolved, with the settings Kafka ships."""

    def __init__(self, directory: Path, settings: Mapping[str, object] | None = None) -> None:
        super().__init__(directory, "kafka")
        controller_port = free_port()
        shipped: dict[str, object] = {
            "node.id": 1,
            "process.roles": "broker,controller",
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{controller_port}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
            "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "PLAINTEXT",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": self.data_dir,
            "offsets.topic.replication.factor": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
        }
        lines = (
            f"{name}={value}\n" for name, value in {**shipped, **FAST_SETTINGS, **(settings or {})}.items()
        )
        self.config_path = directory / "server.properties"
        self.config_path.write_text("".join(lines))

    def command(self) -> Sequence[str]:
        return [
            "java",
            "-Xms512M",
            "-Xmx512M",
            *JVM_QUIET,
            "-cp",
            KAFKA_JARS,
            "kafka.Kafka",
            str(self.config_path),
        ]

    def start(self) -> None:
        if not (self.data_dir / "meta.properties").exists():
            tool = ["java", "-Xmx256M", "-XX:TieredStopAtLevel=1", *JVM_QUIET, "-cp", KAFKA_JARS]
            cluster_id = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "A")
            format_it = ["kafka.tools.StorageTool", "format", "-t", cluster_id, "-c"]
            subprocess.run([*tool, *format_it, str(self.config_path)], check=True, stdout=subprocess.DEVNULL)
        super().start()
