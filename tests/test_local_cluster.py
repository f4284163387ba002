"""A killed broker is dead when nothing of it is left, as another one is started on its data then."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import sys
import threading
import tomllib
from collections import deque
from pathlib import Path
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

from bench.failover.promises import wait_until
from kproto import local_cluster
from kproto.cli.launch import LaunchError, launch
from kproto.cli.main import main
from kproto.directory import IDENTITY_FILE, open_directory
from kproto.disk import Disk
from kproto.local_cluster import DEAD, RUNNING, ClusterError, LocalCluster, Node, NotYetError, process_of
from kproto.metadata.opening import SQLITE_FILE

SECRET = 'a "b" \\c\t\x7f\U0001f600'
FIRST_THREAD_ENDS = """
import ctypes, sys, threading
threading.Thread(target=sys.stdin.read).start()
print("ready", flush=True)
ctypes.CDLL(None).pthread_exit(None)
"""


def shown(cluster: LocalCluster) -> list[str]:
    """The states of all brokers in ``kproto cluster status``."""
    done = CliRunner().invoke(main, ["cluster", "status", "--json", "--data-dir", cluster.directory])
    assert done.exit_code == 0, done.output
    return [row["state"] for row in json.loads(done.output)]


def test_it_looks_for_what_brokers_write() -> None:
    """It imports nothing of kproto."""
    assert (local_cluster.IDENTITY_FILE, local_cluster.METADATA_FILE) == (IDENTITY_FILE, SQLITE_FILE)


def test_a_process_that_still_has_threads_is_not_dead(tmp_path: Path) -> None:
    """Its first thread has ended, as after a kill when another one waits for the disk."""
    cluster = LocalCluster.create(str(tmp_path / "cluster"), 1, 0, {})
    node = cluster.nodes[0]
    command = [sys.executable, "-c", FIRST_THREAD_ENDS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == b"ready\n"
        found = process_of(process.pid)
        assert found is not None
        node.pid, node.born = process.pid, found.born
        wait_until("its first thread ends", lambda: (one := process_of(process.pid)) and one.state == "Z")
        assert cluster.state(node) == RUNNING
        process.stdin.close()
        wait_until("it ends", lambda: cluster.state(node) == DEAD)


def test_brokers_are_started_together_and_apart(tmp_path: Path) -> None:
    """Both times each is a process of its own, in its own session, that ends alone."""
    cluster = LocalCluster.create(str(tmp_path / "cluster"), 2, 0, {})
    cluster.start()
    try:
        first, second = cluster.nodes
        assert [cluster.state(node) for node in cluster.nodes] == [RUNNING, RUNNING]
        assert [Path(f"/proc/{node.pid}/comm").read_text() for node in cluster.nodes] == [
            "kproto-1\n",
            "kproto-2\n",
        ]
        assert [os.getsid(node.pid) for node in cluster.nodes] == [first.pid, second.pid]
        assert not any(
            os.readlink(each).endswith(".log")
            for each in Path(f"/proc/{first.pid}/fd").iterdir()
            if int(each.name) > 2
        )
        before = second.pid
        cluster.kill(2)
        assert (cluster.state(first), cluster.state(second)) == (RUNNING, DEAD)
        assert shown(cluster) == ["running", "dead"]
        cluster.start()
        assert second.pid != before
        assert cluster.state(second) == RUNNING
        cluster.stop([2])
        assert shown(cluster) == ["running", "stopped"]
        cluster.start()
        assert shown(cluster) == ["running", "running"]
    finally:
        cluster.stop()
    assert [cluster.state(node) for node in cluster.nodes] == [DEAD, DEAD]
    assert shown(cluster) == ["stopped", "stopped"]


def test_files_of_the_current_directory_are_not_taken_for_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever starts it may have some of any name there; in a process within another command, too."""

    class Within(LocalCluster):
        def within(self, node: Node) -> list[str]:
            return ["env"] if node.node == 2 else []

    (tmp_path / "queue.py").write_text("raise SystemExit('of somebody else')")
    monkeypatch.chdir(tmp_path)
    cluster = Within.create(str(tmp_path / "cluster"), 2, 0, {})
    try:
        cluster.start()
        assert [cluster.state(node) for node in cluster.nodes] == [RUNNING, RUNNING]
    finally:
        cluster.stop()


def test_commands_at_the_same_time_keep_each_others_processes(tmp_path: Path) -> None:
    """Both have read the file before either writes it; so has a third one, which takes a broker out."""
    directory = str(tmp_path / "cluster")
    cluster = LocalCluster.create(directory, 3, 0, {})
    cluster.start()
    try:
        one, other, third = (LocalCluster.open(directory) for _ in range(3))
        one.restart(2)
        other.restart(3)
        found = LocalCluster.open(directory)
        assert [found.state(node) for node in found.nodes] == [RUNNING] * 3
        assert [node.pid for node in found.nodes] == [
            cluster.node(1).pid,
            one.node(2).pid,
            other.node(3).pid,
        ]
        with pytest.raises(ClusterError, match="node 3 is running: stop it first"):
            third.forget(3)
        third.stop([3])
        third.forget(3)
        found = LocalCluster.open(directory)
        assert [(node.node, found.state(node)) for node in found.nodes] == [(1, RUNNING), (2, RUNNING)]
        one.start()
        assert [node.node for node in one.nodes] == [1, 2]
    finally:
        LocalCluster.open(directory).stop()


def test_a_cluster_that_another_command_makes_first_stays(tmp_path: Path) -> None:
    directory = str(tmp_path / "cluster")
    LocalCluster.create(directory, 1, 0, {})
    before = (tmp_path / "cluster" / "cluster.json").read_text()
    with pytest.raises(ClusterError, match="has a cluster already"):
        LocalCluster.create(directory, 2, 0, {})
    assert (tmp_path / "cluster" / "cluster.json").read_text() == before


def test_settings_that_an_operator_edits_are_not_written_over(tmp_path: Path) -> None:
    """Between what a command reads and what it writes may be the time of a decommission."""
    cluster = LocalCluster.create(str(tmp_path / "cluster"), 2, 0, {"num.partitions": "3"})
    file = tmp_path / "cluster" / "cluster.json"
    file.write_text(file.read_text().replace('"num.partitions": "3"', '"num.partitions": "5"'))
    cluster.forget(2)
    assert LocalCluster.open(cluster.directory).settings["num.partitions"] == "5"


def test_commands_change_the_file_one_after_the_other(tmp_path: Path) -> None:
    cluster = LocalCluster.create(str(tmp_path / "cluster"), 2, 0, {})
    forgetting = threading.Thread(target=cluster.forget, args=(2,))
    with open(tmp_path / "cluster" / "cluster.lock", "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        forgetting.start()
        forgetting.join(0.2)
        assert [node.node for node in LocalCluster.open(cluster.directory).nodes] == [1, 2]
    forgetting.join(60)
    assert [node.node for node in LocalCluster.open(cluster.directory).nodes] == [1]


def test_who_keeps_the_metadata_is_not_started_without_it(tmp_path: Path) -> None:
    """It would be a new cluster, and the others would leave their own for good."""
    cluster = LocalCluster.create(str(tmp_path / "cluster"), 2, 0, {})
    cluster.start()
    try:
        cluster.kill(1)
        data = Path(cluster.data_dir(1))
        data.rename(tmp_path / "kept")
        for start in (cluster.start, lambda: cluster.restart(1)):
            with pytest.raises(ClusterError, match=r"^node 1 cannot start: .*/metadata\.sqlite is gone"):
                start()
        assert not data.exists()
        (tmp_path / "kept").rename(data)
        cluster.start()
        assert [cluster.state(node) for node in cluster.nodes] == [RUNNING, RUNNING]
        cluster.stop()
        cluster.wipe(2)
        (data / "metadata.sqlite").rename(tmp_path / "kept")
        with pytest.raises(ClusterError, match="is gone"):
            cluster.start()
    finally:
        cluster.stop()


def test_who_keeps_no_metadata_is_started_without_it(tmp_path: Path) -> None:
    """As where it is in memory, or nobody has been a member yet when a first start was broken off."""
    cluster = LocalCluster.create(str(tmp_path / "cluster"), 2, 0, {"kproto.metadata.store": "memory"})
    for node in (1, 2):
        open_directory(cluster.data_dir(node), node, Disk()).close(clean=True)
    for _ in range(2):
        cluster.start()
        cluster.stop()


def test_one_that_cannot_start_says_why(tmp_path: Path) -> None:
    cluster = LocalCluster.create(str(tmp_path / "cluster"), 1, 0, {"kproto.vlogs.per.broker": "many"})
    with pytest.raises(ClusterError, match=r"node 1 did not start: .*kproto\.vlogs\.per\.broker"):
        cluster.start()
    assert Path(cluster.log_path(1)).read_text().count("\n") == 1


def test_one_that_waits_is_not_said_to_have_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the controller here; it joins later. "It did not start" was said of it."""
    cluster = LocalCluster.create(str(tmp_path / "cluster"), 2, 0, {})
    cluster.start()
    cluster.stop()
    try:
        with monkeypatch.context() as impatient:
            impatient.setattr(local_cluster, "START_TIMEOUT_S", 0.5)
            with pytest.raises(
                NotYetError, match=r"^node 2 has started, but is no member .* yet after 0\.5 s: "
            ):
                cluster.start([2])
        assert cluster.state(cluster.node(2)) == RUNNING
        cluster.start([1])
        wait_until("it joins", lambda: not local_cluster.is_free(cluster.node(2).metrics_port))
    finally:
        cluster.stop()


def test_who_has_one_of_its_ports_is_not_taken_for_it(tmp_path: Path) -> None:
    cluster = LocalCluster.create(str(tmp_path / "cluster"), 1, 0, {})
    node = cluster.nodes[0]
    for port in (node.port, node.internal_port, node.metrics_port):
        with socket.create_server(("127.0.0.1", port)):
            with pytest.raises(ClusterError, match=f"somebody listens on port {port} already"):
                cluster.start()
            assert cluster.state(node) == DEAD


def test_what_an_earlier_start_said_is_not_the_reason(tmp_path: Path) -> None:
    """The logs are appended to."""
    cluster = LocalCluster.create(str(tmp_path / "cluster"), 1, 0, {"kproto.vlogs.per.broker": "many"})
    Path(cluster.log_path(1)).write_text("kproto: an error of yesterday\n")
    with pytest.raises(ClusterError, match=r"^node 1 did not start: kproto: kproto\.vlogs\.per\.broker"):
        cluster.start()
    assert "yesterday" in Path(cluster.log_path(1)).read_text()


@pytest.mark.parametrize("name", ["node.id", "log.dirs", "listeners", "kproto.metrics.listen", "kproto.join"])
def test_what_follows_from_the_plan_is_no_setting(tmp_path: Path, name: str) -> None:
    with pytest.raises(ClusterError, match=f"^{name} is another one for each broker"):
        LocalCluster.create(str(tmp_path / "cluster"), 1, 0, {name: "5"})
    assert not (tmp_path / "cluster").exists()


def test_only_the_user_reads_the_secret(tmp_path: Path) -> None:
    """Also where an earlier version had left the file to be read by all."""
    cluster = LocalCluster.create(str(tmp_path / "cluster"), 2, 0, {"kproto.cluster.secret": SECRET})
    cluster.start()
    cluster.stop()
    read = tmp_path / "cluster" / "secret.toml"
    assert read.stat().st_mode & 0o777 == 0o600
    assert tomllib.loads(read.read_text()) == {"kproto.cluster.secret": SECRET}
    file = tmp_path / "cluster" / "cluster.json"
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o644)
    Path(f"{file}.new").touch(0o644)
    LocalCluster.open(cluster.directory).forget(2)
    assert file.stat().st_mode & 0o777 == 0o600


def test_one_runs_within_another_command(tmp_path: Path) -> None:
    """As what gives it a file system of its own, or a limit."""

    class Limited(LocalCluster):
        def within(self, node: Node) -> list[str]:
            return ["prlimit", "--nofile=1234:1234"] if node.node == 2 else []

    cluster = Limited.create(str(tmp_path / "cluster"), 2, 0, {})
    cluster.start()
    try:
        limits = [Path(f"/proc/{node.pid}/limits").read_text() for node in cluster.nodes]
        assert ["1234 " in text for text in limits] == [False, True]
        shown = Path(f"/proc/{cluster.nodes[1].pid}/cmdline").read_text()
        assert "kproto.metrics.listen" in shown
        assert cluster.settings["kproto.cluster.secret"] not in shown
    finally:
        cluster.stop()


def test_without_what_is_optional(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """uvloop is an extra: asyncio's own loop serves, too."""
    (tmp_path / "uvloop.py").write_text("raise ImportError")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path.cwd()}")
    cluster = LocalCluster.create(str(tmp_path / "cluster"), 1, 0, {})
    cluster.start()
    cluster.stop()


def test_none_stays_when_one_cannot_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second fork fails, or a log cannot be written."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os\nforks, fork = [11], os.fork\n"
        "def once() -> int:\n"
        "    if not forks:\n"
        "        raise BlockingIOError(11, 'no more processes')\n"
        "    forks.pop()\n"
        "    return fork()\n"
        "os.fork = once\n"
    )
    cluster = LocalCluster.create(str(tmp_path / "cluster"), 2, 0, {})
    with monkeypatch.context() as failing:
        failing.setenv("PYTHONPATH", f"{tmp_path}:{Path.cwd()}")
        with pytest.raises(ClusterError, match=r"^brokers cannot be started: fork: no more processes$"):
            cluster.start()
    Path(cluster.log_path(2)).unlink()
    Path(cluster.log_path(2)).mkdir()
    with pytest.raises(ClusterError, match=r"^brokers cannot be started: .*broker-2\.log: Is a directory$"):
        cluster.start()
    Path(cluster.log_path(2)).rmdir()
    cluster.start()
    cluster.stop()
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", cluster.nodes[0].port)), "the first of the first time serves"


def test_nothing_is_started_for_nobody(tmp_path: Path) -> None:
    """Who wanted a broker died before it was there."""
    log = tmp_path / "log"
    wanted = [{"name": "b", "within": ["touch", str(tmp_path / "ran")], "arguments": [], "log": str(log)}]
    command = [sys.executable, "-m", "kproto.cli.launch", str(os.getpid() + 1)]
    done = subprocess.run(
        command, input=json.dumps(wanted), text=True, capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "who wanted them is gone\n")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("shown", [FileNotFoundError(), "1"])
def test_nothing_is_started_that_could_not_be_found_again(
    shown: OSError | str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without /proc, or with that of other processes: the brokers ran, and no command knew of them."""
    wanted = [{"name": "b", "within": ["true"], "arguments": [], "log": str(tmp_path / "log")}]
    monkeypatch.setattr(os, "readlink", Mock(side_effect=[shown]))
    monkeypatch.setattr(os, "fork", Mock(side_effect=AssertionError))
    with pytest.raises(LaunchError, match="/proc does not show the processes"):
        launch(wanted, os.getppid())


def test_a_broker_that_ends_while_it_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs when its state is looked at, and has ended when it gets the signal."""
    cluster = LocalCluster.create(str(tmp_path), 1, 0, {})
    states = iter([local_cluster.RUNNING, local_cluster.DEAD])
    monkeypatch.setattr(cluster, "state", lambda _node: next(states, local_cluster.DEAD))
    cluster.stop()


def test_a_broker_that_ends_without_a_word(tmp_path: Path) -> None:
    class Within(LocalCluster):
        def within(self, node: Node) -> list[str]:
            return ["true"]

    cluster = Within.create(str(tmp_path / "cluster"), 1, 0, {})
    with pytest.raises(ClusterError, match=r"^node 1 did not start: it ended and has logged nothing$"):
        cluster.start()


def test_a_command_to_run_within_that_is_not_there(tmp_path: Path) -> None:
    class Within(LocalCluster):
        def within(self, node: Node) -> list[str]:
            return ["no-such-command"]

    cluster = Within.create(str(tmp_path / "cluster"), 1, 0, {})
    with pytest.raises(ClusterError, match="no-such-command: No such file or directory"):
        cluster.start()


def test_free_ports_are_given_once_and_no_longer_when_somebody_listens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, *rest = local_cluster.free_ports(8)
    monkeypatch.setattr(local_cluster, "FREE_PORTS", range(first, first + 1))
    with pytest.raises(ClusterError, match=f"fewer than 1 ports are free from {first} to {first + 1}"):
        local_cluster.free_port()
    monkeypatch.setattr(local_cluster, "_given", deque(maxlen=4))
    assert local_cluster.free_port() == first
    local_cluster._given.clear()
    with socket.create_server(("127.0.0.1", first)), pytest.raises(ClusterError):
        local_cluster.free_port()
    assert local_cluster.free_port() == first
    assert len({first, *rest}) == 8
