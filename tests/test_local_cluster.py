"""A killed broker is dead when nothing of it is left, as another one is started on its data then."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.failover.promises import wait_until
from kproto.local_cluster import DEAD, RUNNING, ClusterError, LocalCluster, Node, _process

FIRST_THREAD_ENDS = """
import ctypes, sys, threading
threading.Thread(target=sys.stdin.read).start()
print("ready", flush=True)
ctypes.CDLL(None).pthread_exit(None)
"""


def test_a_process_that_still_has_threads_is_not_dead(tmp_path: Path) -> None:
    """Its first thread has ended, as after a kill when another one waits for the disk."""
    cluster = LocalCluster.create(str(tmp_path / "cluster"), 1, 0, {})
    node = cluster.nodes[0]
    command = [sys.executable, "-c", FIRST_THREAD_ENDS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == b"ready\n"
        found = _process(process.pid)
        assert found is not None
        node.pid, node.born = process.pid, found.born
        wait_until("its first thread ends", lambda: (one := _process(process.pid)) and one.state == "Z")
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
        before = second.pid
        cluster.kill(2)
        assert (cluster.state(first), cluster.state(second)) == (RUNNING, DEAD)
        cluster.start()
        assert second.pid != before
        assert cluster.state(second) == RUNNING
    finally:
        cluster.stop()
    assert [cluster.state(node) for node in cluster.nodes] == [DEAD, DEAD]


def test_one_that_cannot_start_says_why(tmp_path: Path) -> None:
    cluster = LocalCluster.create(str(tmp_path / "cluster"), 1, 0, {"kproto.vlogs.per.broker": "many"})
    with pytest.raises(ClusterError, match=r"node 1 did not start: .*kproto\.vlogs\.per\.broker"):
        cluster.start()
    assert Path(cluster.log_path(1)).read_text().count("\n") == 1


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
    finally:
        cluster.stop()
