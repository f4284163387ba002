"""A killed broker is dead when nothing of it is left, as another one is started on its data then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bench.failover.promises import wait_until
from kproto.local_cluster import DEAD, RUNNING, LocalCluster, _process

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
