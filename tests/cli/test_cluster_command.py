"""What ``kproto cluster`` refuses before it starts anything, what an interrupt leaves, and how it ends when
it cannot do something.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.failover.promises import wait_until
from kproto import local_cluster
from kproto.cli.main import main
from kproto.local_cluster import LocalCluster, free_port, process_of
from kproto.testing import kafka_broker

INTERRUPTIBLE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from kproto.cli.main import main
main(prog_name="kproto")
"""
"""The command as in a terminal, also when the tests run in the background, where these are ignored."""


def start(directory: Path, *words: str) -> str:
    """What is said by a start that is refused. One that is not is taken back."""
    given = ["cluster", "start", "--data-dir", str(directory), "--base-port", "0", *words]
    done = CliRunner().invoke(main, given)
    if done.exit_code == 0:
        LocalCluster.open(str(directory)).stop()
    assert done.exit_code == 2, done.output
    assert done.output.count("\n") == 1
    return done.output


@pytest.mark.parametrize("exists", [False, True])
def test_a_setting_that_follows_from_the_plan_is_refused(tmp_path: Path, exists: bool) -> None:
    if exists:
        LocalCluster.create(str(tmp_path), 1, 0, {})
    said = start(tmp_path, "--set", "node.id=5")
    assert said == "kproto: node.id is another one for each broker: kproto cluster sets it\n"


def test_it_is_said_how_to_change_a_setting_of_a_cluster_that_is_there(tmp_path: Path) -> None:
    LocalCluster.create(str(tmp_path), 1, 0, {})
    said = start(tmp_path, "--set", "num.partitions=3")
    assert "kafka-configs --alter" in said
    assert f'{tmp_path}/cluster.json ("settings")' in said
    assert "--data-dir" in start(tmp_path, "--brokers", "3")


def test_a_brokers_own_directory_is_not_a_clusters(tmp_path: Path) -> None:
    with kafka_broker(data_dir=tmp_path):
        said = start(tmp_path)
    assert said == f"kproto: {tmp_path} is the data directory of a broker; use another one\n"
    assert not list(tmp_path.glob("broker-*"))


def writing_to(log: str) -> Iterator[int]:
    """Processes whose standard output it is."""
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and os.readlink(process / "fd" / "1") == log:
                yield int(process.name)
        except OSError:  # it has ended, or is somebody else's
            continue


@pytest.mark.parametrize("waiting", [False, True])
def test_ctrl_c_in_the_first_start_leaves_nothing(tmp_path: Path, waiting: bool) -> None:
    """While the processes are made, or later, while it waits for brokers whose metadata nobody has: no broker
    runs on without being known, and another cluster can be started there."""
    directory = tmp_path / "cluster"
    command = [sys.executable, "-c", INTERRUPTIBLE, "cluster", "start", "--data-dir", str(directory)]
    command += ["--brokers", "2", "--base-port", "0", "--metadata", f"etcd://127.0.0.1:{free_port()}/p"]
    logs = [str(directory / f"broker-{node}.log") for node in (1, 2)]
    with subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL) as starting:
        try:
            wait_until("there is a plan", lambda: LocalCluster.exists(str(directory)), every_s=0.01)
            if waiting:
                wait_until(
                    "both are known", lambda: all(n.pid for n in LocalCluster.open(str(directory)).nodes)
                )
            else:
                time.sleep(0.03)
            os.killpg(starting.pid, signal.SIGINT)  # as a terminal does: all of the group
            assert starting.wait(60) == 1
            assert not LocalCluster.exists(str(directory))
            assert not [pid for log in logs for pid in writing_to(log)]
        finally:
            starting.kill()
            for pid in [pid for log in logs for pid in writing_to(log)]:
                os.kill(pid, signal.SIGKILL)


def test_a_first_start_that_takes_too_long_says_that_nothing_runs_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_cluster, "START_TIMEOUT_S", 0.2)
    given = ["cluster", "start", "--data-dir", str(tmp_path), "--brokers", "1", "--base-port", "0"]
    done = CliRunner().invoke(main, [*given, "--metadata", f"etcd://127.0.0.1:{free_port()}/p"])
    said = "node 1 has started, but is no member of the cluster yet after 0.2 s: "
    assert done.output.startswith("kproto: all brokers are stopped again: " + said)
    assert done.exit_code == 2
    assert not LocalCluster.exists(str(tmp_path))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_a_later_start_loses_no_process(tmp_path: Path, number: int) -> None:
    """The cluster was there before: it stays, and its brokers can be stopped. SIGHUP is a terminal's end."""
    directory = tmp_path / "cluster"
    store = {"kproto.metadata.store": f"etcd://127.0.0.1:{free_port()}/p"}
    cluster = LocalCluster.create(str(directory), 1, 0, store)
    command = [sys.executable, "-c", INTERRUPTIBLE, "cluster", "start", "--data-dir", str(directory)]
    log = directory / "broker-1.log"
    with subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL) as starting:
        try:
            wait_until("it is being started", log.exists, every_s=0.005)
            os.killpg(starting.pid, number)
            assert starting.wait(60) == (1 if number == signal.SIGINT else -number)
            cluster.refresh()
            wait_until("it is known", lambda: list(writing_to(str(log))) == [cluster.nodes[0].pid])
            cluster.stop()
            assert not list(writing_to(str(log)))
        finally:
            starting.kill()
            for pid in writing_to(str(log)):
                os.kill(pid, signal.SIGKILL)


def test_a_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "cluster.json.new").mkdir()
    assert start(tmp_path, "--brokers", "1").endswith("cluster.json.new: Is a directory\n")


def test_a_broker_that_does_not_answer(tmp_path: Path) -> None:
    """A process that is there, and nobody listens on its port: as whatever else could not be done."""
    local = LocalCluster.create(str(tmp_path), 2, 0, {})
    first = local.nodes[0]
    command = [sys.executable, "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        found = process_of(process.pid)
        assert found is not None
        first.pid, first.born = process.pid, found.born
        local._save({})
        words = ["cluster", "decommission", "--node", "2", "--data-dir", str(tmp_path)]
        done = CliRunner().invoke(main, words)
        assert process.stdin is not None
        process.stdin.write(b"\n")
    assert (done.exit_code, done.output) == (2, f"kproto: 127.0.0.1:{first.port}: Connection refused\n")


def test_what_cannot_be_meant_is_said_as_everywhere(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["cluster", "start", "--data-dir", str(tmp_path), "--set", "a"])
    assert (done.exit_code, done.output) == (2, "Error: --set a: expected NAME=VALUE\n")
    done = CliRunner().invoke(main, ["cluster", "kill", "--data-dir", str(tmp_path)])
    assert done.exit_code == 2
    assert done.output.startswith("Usage: ")
