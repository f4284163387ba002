"""`kproto bench peers` as far as it goes without Apache Kafka: what it remembers, what it signals."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bench import brokers, jars, quorum
from bench.jars import kafka_version
from bench.peers import FILE, Node, _born, command
from bench.quorum import kafka_nodes


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that is somebody's."""
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield process
    process.kill()
    process.wait()


def remember(directory: Path, process: subprocess.Popen[bytes], born: int) -> None:
    rows = [{"node": 1, "port": 9092, "pid": process.pid, "born": born}]
    (directory / FILE).write_text(json.dumps(rows))


def call(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_list_without_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    found = call("list", "--data-dir", str(tmp_path))
    assert found.exit_code == 0
    assert found.output == f"kafka {kafka_version()}: not installed: kproto bench peers install kafka\n"


def test_list_and_stop_of_what_runs(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    remember(tmp_path, sleeper, _born(sleeper.pid) or 0)
    assert (
        f"node 1: 127.0.0.1:9092, runs, pid {sleeper.pid}" in call("list", "--data-dir", str(tmp_path)).output
    )
    assert "it runs already" in call("start", "kafka", "--data-dir", str(tmp_path)).output
    assert call("stop", "kafka", "--data-dir", str(tmp_path)).output == "stopped: node 1\n"
    assert sleeper.wait(10) == -15
    assert "node 1: 127.0.0.1:9092, stopped" in call("list", "--data-dir", str(tmp_path)).output


def test_who_listens_there_already_is_not_taken_for_apache_kafka(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kproto's default port is the same: its answer was taken for Apache Kafka's, which had not started."""
    monkeypatch.setattr(brokers, "answers", lambda _port: True)
    monkeypatch.setattr(quorum.ApacheKafka, "prepare", lambda _node: None)
    monkeypatch.setattr(quorum.ApacheKafka, "command", lambda _node: [sys.executable, "-c", ""])
    with socket.create_server(("127.0.0.1", 0)) as other:
        nodes = kafka_nodes(tmp_path, 1, other.getsockname()[1])
        said = f"something listens on {nodes[0].bootstrap} already"
        with pytest.raises(RuntimeError, match=said):
            quorum.start(nodes)
    assert nodes[0].process is None


def test_another_process_with_that_pid_is_left_alone(
    tmp_path: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    remember(tmp_path, sleeper, (_born(sleeper.pid) or 0) - 1)
    found = call("stop", "kafka", "--data-dir", str(tmp_path))
    assert found.exit_code == 1
    assert "nothing was started" in found.output
    assert sleeper.poll() is None


def test_a_process_that_is_gone_does_not_run() -> None:
    assert not Node(1, 9092, 2**22 + 1, 5).running
    assert Node(1, 9092, os.getpid(), _born(os.getpid()) or 0).running


def test_without_maven_it_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    monkeypatch.setenv("PATH", str(tmp_path))
    found = call("install", "kafka")
    assert found.exit_code == 1
    assert "it takes Java 17 and Maven" in found.output
    assert jars.installed_kafka() is None


@pytest.mark.parametrize(
    ("brokers", "separate", "controllers", "copies"), [(1, False, 1, 1), (4, False, 3, 3), (4, True, 1, 3)]
)
def test_who_is_what_in_a_cluster(
    tmp_path: Path, brokers: int, separate: bool, controllers: int, copies: int
) -> None:
    nodes = kafka_nodes(tmp_path, brokers, 19_500, {"min.insync.replicas": 2}, separate)
    files = [dict(line.split("=", 1) for line in node.properties.read_text().splitlines()) for node in nodes]
    roles = [each["process.roles"].split(",") for each in files]
    assert sum("broker" in role for role in roles) == brokers
    assert sum("controller" in role for role in roles) == controllers
    assert [node.is_broker for node in nodes] == ["broker" in role for role in roles]
    assert {each["offsets.topic.replication.factor"] for each in files} == {str(copies)}
    assert {each["min.insync.replicas"] for each in files} == {"2"}
    assert [node.port for node in nodes[:brokers]] == [19_500 + n for n in range(brokers)]
    assert len({each["node.id"] for each in files}) == len(nodes)
    assert len(files[0]["controller.quorum.voters"].split(",")) == controllers
    for node, each in zip(nodes, files, strict=True):
        if node.is_broker:
            assert each["advertised.listeners"] == f"PLAINTEXT://{node.bootstrap}"


@pytest.mark.parametrize("text", ["{", '[{"a": 1}]', '{"a": 1}'])
def test_a_damaged_file_of_what_runs_is_said_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "peer.json").write_text(text)
    found = call("stop", "kafka", "--data-dir", str(tmp_path))
    assert found.exit_code == 1
    assert "peer.json is damaged" in found.output
