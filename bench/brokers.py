"""The two brokers as processes, and what the kernel says they used."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bench.jars import HERE, kafka_jars
from kproto.local_cluster import free_port, uninterrupted

START_TIMEOUT_S = 120.0
HEAP = "1G"
"""Heap of the JVM broker: what Apache Kafka's start script gives it."""

JVM_OPTIONS = (
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-Djava.awt.headless=true",
)
"""As in the start script that Apache Kafka ships."""

SHIPPED: Mapping[str, object] = {
    "process.roles": "broker,controller",
    "node.id": 1,
    "inter.broker.listener.name": "PLAINTEXT",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "num.network.threads": 3,
    "num.io.threads": 8,
    "socket.send.buffer.bytes": 102400,
    "socket.receive.buffer.bytes": 102400,
    "socket.request.max.bytes": 104857600,
    "num.partitions": 1,
    "num.recovery.threads.per.data.dir": 2,
    "offsets.topic.replication.factor": 1,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "log.retention.hours": 168,
    "log.segment.bytes": 1073741824,
    "log.retention.check.interval.ms": 300000,
}
"""The values of the server.properties that Apache Kafka 4.3.1 ships."""
DELETE_SOON: Mapping[str, object] = {"log.segment.delete.delay.ms": 1000}
"""So that the files of a deleted topic are gone before the next run begins, and not a minute later, within
it; a topic's own config does not count when the topic is deleted."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process has used so far."""

    cpu_s: float
    """User and system time of all its threads, seconds."""
    rss_bytes: int
    peak_rss_bytes: int
    """Highest resident size since the start or the last `reset_peak`."""


class Target(Protocol):
    """What load can be put on: a broker, or a cluster of them."""

    name: str

    @property
    def bootstrap(self) -> str: ...

    @property
    def pid(self) -> int:
        """Of the process to profile."""
        ...

    @property
    def pids(self) -> list[int]:
        """Of all processes."""
        ...

    def usage(self) -> Usage:
        """Of all processes together."""
        ...

    def reset_peak(self) -> None:
        """Let the peak resident size count from now."""
        ...


def together(parts: Iterable[Usage]) -> Usage:
    """The sum."""
    listed = list(parts)
    return Usage(
        sum(part.cpu_s for part in listed),
        sum(part.rss_bytes for part in listed),
        sum(part.peak_rss_bytes for part in listed),
    )


def usage(pid: int) -> Usage:
    """Read /proc. Raises FileNotFoundError when the process is gone."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    ticks = int(fields[11]) + int(fields[12])
    status = Path(f"/proc/{pid}/status").read_text()
    sizes = {
        line.split(":")[0]: int(line.split()[1]) * 1024
        for line in status.splitlines()
        if line.endswith(" kB")
    }
    return Usage(ticks / os.sysconf("SC_CLK_TCK"), sizes["VmRSS"], sizes["VmHWM"])


def reset_peak(pid: int) -> None:
    """Let the peak resident size count from now."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def answers(port: int) -> bool:
    """Whether an ApiVersions v0 request gets a whole answer on that port of 127.0.0.1."""
    request = struct.pack(">hhih", 18, 0, 7, -1)
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as sock:
            sock.sendall(struct.pack(">i", len(request)) + request)
            answer = sock.recv(8, socket.MSG_WAITALL)
    except OSError:
        return False
    return len(answer) == 8 and struct.unpack(">i", answer[4:])[0] == 7


class BrokerProcess:
    """A broker on a port of 127.0.0.1 with its data in a directory of its own."""

    name = ""

    def __init__(self, directory: Path, port: int | None = None) -> None:
        self.directory = directory
        self.port = port or free_port()
        self.process: subprocess.Popen[bytes] | None = None
        directory.mkdir(parents=True, exist_ok=True)

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        if self.process is None:
            raise RuntimeError(f"{self.name} is not running")
        return self.process.pid

    @property
    def pids(self) -> list[int]:
        """Of all its processes."""
        return [self.pid]

    def usage(self) -> Usage:
        """See `Target`."""
        return usage(self.pid)

    def reset_peak(self) -> None:
        """See `Target`."""
        reset_peak(self.pid)

    @property
    def log_path(self) -> Path:
        return self.directory / "broker.log"

    def command(self) -> Sequence[str]:
        raise NotImplementedError

    def prepare(self) -> None:
        """What has to be done before the first start."""

    def spawn(self) -> None:
        """Start the process and return at once. Python may keep its bytecode, as an installed kproto does."""
        environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        with self.log_path.open("ab") as log, uninterrupted():
            self.process = subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )

    def start(self) -> None:
        """Start and wait until it answers. Raises RuntimeError with the end of its log."""
        self.prepare()
        self.spawn()
        self.wait_for_answers(time.monotonic() + START_TIMEOUT_S)

    def wait_for_answers(self, deadline: float) -> None:
        """Until ``deadline``, of `time.monotonic`. Raises RuntimeError with the end of its log when that is
        over, or the process has ended."""
        while not answers(self.port):
            self.must_run()
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.name} did not start:\n{self.log_path.read_text()[-3000:]}")
            time.sleep(0.02)

    def must_run(self) -> None:
        """Raises RuntimeError with the end of its log when the process has ended."""
        if self.process is not None and self.process.poll() is not None:
            raise RuntimeError(f"{self.name} ended:\n{self.log_path.read_text()[-3000:]}")

    def stop(self, with_signal: signal.Signals = signal.SIGTERM) -> None:
        """End the process, by SIGKILL if it takes longer than a minute; the data stays."""
        if self.process is None:
            return
        self.process.send_signal(with_signal)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def remove(self) -> None:
        """Delete data and log."""
        shutil.rmtree(self.directory, ignore_errors=True)


class Kproto(BrokerProcess):
    """`kproto serve` with its defaults, on the Python that runs this."""

    name = "kproto"

    def command(self) -> Sequence[str]:
        places = ["--listen", self.bootstrap, "--data-dir", str(self.directory / "data")]
        return [sys.executable, "-P", "-m", "kproto.cli.main", "serve", *places]


class ApacheKafka(BrokerProcess):
    """Apache Kafka as shipped: one node, broker and controller, heap `HEAP`."""

    name = "Apache Kafka"

    def __init__(
        self, directory: Path, others: Mapping[str, object] | None = None, port: int | None = None
    ) -> None:
        """``others``: settings beside or instead of those of a single node; ``{bootstrap}`` in them is this
        node's own address."""
        super().__init__(directory, port)
        controller = free_port()
        settings = {
            **SHIPPED,
            **DELETE_SOON,
            "listeners": f"PLAINTEXT://{self.bootstrap},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"PLAINTEXT://{self.bootstrap}",
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "log.dirs": directory / "data",
        }
        for name, value in (others or {}).items():
            settings[name] = str(value).format(bootstrap=self.bootstrap)
        self.is_broker = "broker" in str(settings["process.roles"])
        self.properties = directory / "server.properties"
        self.properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))

    def command(self) -> Sequence[str]:
        logging = f"-Dlog4j2.configurationFile={HERE / 'java' / 'log4j2.properties'}"
        heap = [f"-Xms{HEAP}", f"-Xmx{HEAP}"]
        return [
            "java",
            *heap,
            *JVM_OPTIONS,
            logging,
            "-cp",
            f"{kafka_jars()}/*",
            "kafka.Kafka",
            str(self.properties),
        ]

    def prepare(self) -> None:
        if (self.directory / "data" / "meta.properties").exists():
            return
        tool = [
            "java",
            "-Xmx256M",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            f"{kafka_jars()}/*",
            "kafka.tools.StorageTool",
        ]
        command = [*tool, "format", "-t", "kprotoBenchmarkCluster", "-c", str(self.properties)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"formatting the storage failed:\n{done.stdout}{done.stderr}")


KINDS: Mapping[str, type[BrokerProcess]] = {"kafka": ApacheKafka, "kproto": Kproto}
