"""A broker that may have few files open: more connections than it can take, and more partitions."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from compat_tests.support.broker import Kproto, answers
from compat_tests.support.load import ProducerLoad, verify_exactly_once
from compat_tests.support.ports import wait_until
from compat_tests.support.topics import create_topic

pytestmark = pytest.mark.owns_broker

LIMIT = 128
PARTITIONS = 300
CONNECTIONS = 250


class Confined(Kproto):
    """`ulimit -n` is :data:`LIMIT`."""

    def command(self) -> Sequence[str]:
        return ["prlimit", f"--nofile={LIMIT}:{LIMIT}", *super().command()]


@pytest.fixture
def confined(tmp_path: Path) -> Iterator[Confined]:
    with Confined(tmp_path, {"kproto.flush.age.ms": 200}) as broker:
        yield broker


def test_connections_without_end_take_no_descriptor_from_files(confined: Confined) -> None:
    """What is acknowledged goes on, survives a kill, and who waited is served when others go."""
    topic = create_topic(confined.bootstrap, "many", PARTITIONS)
    load = ProducerLoad(
        confined.bootstrap, topic, list(range(PARTITIONS)), 500, 2000, enable_idempotence=True
    )
    wait_until("a first acknowledgement", lambda: load.promises.total() > 0)
    with ExitStack() as opened:
        for _ in range(CONNECTIONS):
            sock = opened.enter_context(socket.socket())
            sock.setblocking(False)
            sock.connect_ex(("127.0.0.1", confined.port))
        wait_until("connections to wait", lambda: "have to wait" in confined.log_tail())
        acked = load.promises.total()
        wait_until("every partition's turn", lambda: load.promises.total() > acked + 10 * PARTITIONS)
        assert confined.descriptors() < LIMIT
    wait_until("who waited to be served", lambda: answers("127.0.0.1", confined.port))
    confined.kill()
    confined.start()
    load.finish()
    assert verify_exactly_once(confined.bootstrap, load) > 0


def test_too_few_descriptors_for_anything_are_said_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kproto.cli.main", "serve", "--listen", "127.0.0.1:0"]
    found = subprocess.run(
        ["prlimit", "--nofile=64:64", *command, "--data-dir", str(tmp_path / "data")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert found.returncode == 2
    assert found.stderr.strip() == "kproto: 64 open files are allowed (ulimit -n), and 96 are needed at least"
