"""`kproto bench peers` with the real Apache Kafka: it starts, clients can connect, it is stopped."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.brokers import answers
from bench.jars import installed_kafka, kafka_version
from bench.quorum import CONTROLLER_OFFSET
from kproto.local_cluster import free_port, is_free


def peers(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kproto.cli.main", "bench", "peers", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)


def free_base_port() -> int:
    """The port of a broker, with that of its controller free as well."""
    while not is_free((port := free_port()) + CONTROLLER_OFFSET):
        pass
    return port


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    """Whatever was started there is stopped."""
    yield tmp_path / "peer"
    peers("stop", "kafka", "--data-dir", str(tmp_path / "peer"))


def test_apache_kafka_is_installed_started_and_stopped(data_dir: Path) -> None:
    done = peers("install", "kafka")
    assert done.returncode == 0, done.stderr
    assert f"Apache Kafka {kafka_version()}" in done.stdout
    assert str(installed_kafka()) in done.stdout
    port = free_base_port()
    done = peers("start", "kafka", "--base-port", str(port), "--data-dir", str(data_dir))
    assert done.returncode == 0, done.stderr
    assert f"heap 1G each, bootstrap 127.0.0.1:{port}" in done.stdout
    assert answers(port)
    assert f"node 1: 127.0.0.1:{port}, runs" in peers("list", "--data-dir", str(data_dir)).stdout
    done = peers("stop", "kafka", "--data-dir", str(data_dir))
    assert (done.returncode, done.stdout) == (0, "stopped: node 1\n")
    assert not answers(port)
