"""A broker that cannot start says why in one line and ends with 2, whatever the system refused."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from bench.brokers import answers
from bench.failover.promises import wait_until
from kproto.broker import StartError
from kproto.testing import kafka_broker


def serve(directory: Path, *within: str, more: Sequence[str] = ()) -> tuple[int, str, str]:
    """Exit code and output of a start that fails, perhaps inside of another command."""
    command = [sys.executable, "-m", "kproto.cli.main", "serve", "--listen", "127.0.0.1:0"]
    command += ["--data-dir", str(directory), *more]
    done = subprocess.run([*within, *command], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def test_a_new_directory_that_cannot_be_written(tmp_path: Path) -> None:
    """No file may have a byte: as on a full disk, the error does not name the file."""
    data = tmp_path / "data"
    assert serve(data, "prlimit", "--fsize=0:0") == (2, "", f"kproto: {data}: File too large\n")


def test_a_file_in_the_place_of_the_journal(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "journal").write_text("")
    assert serve(data) == (2, "", f"kproto: {data}/journal: File exists\n")
    with pytest.raises(StartError, match="File exists"), kafka_broker(data_dir=data):
        raise AssertionError("it started")
    (data / "journal").unlink()
    with kafka_broker(data_dir=data):
        pass


@pytest.mark.parametrize("option", ["--listen=", "--internal-listen=", "--set=kproto.metrics.listen="])
def test_a_port_that_somebody_has_changes_nothing(tmp_path: Path, option: str) -> None:
    """What was left by a clean stop is that as before: the machine may be restarted next."""
    with kafka_broker(data_dir=tmp_path):
        pass
    assert (tmp_path / "clean").exists()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said, why = serve(tmp_path, more=[f"{option}127.0.0.1:{port}"])
    assert (code, said) == (2, "")
    assert why == f"kproto: cannot listen on 127.0.0.1:{port}: Address already in use\n"
    assert (tmp_path / "clean").exists()


def test_a_broker_without_standard_streams(tmp_path: Path) -> None:
    """Nothing else gets their numbers, which the event loop does not survive."""
    line = f"exec {sys.executable} -m kproto.cli.main serve --listen 127.0.0.1:0 --data-dir {tmp_path}"
    with subprocess.Popen(["sh", "-c", f"{line} <&- >&- 2>&-"]) as process:
        try:
            wait_until("it serves", lambda: _serves(process.pid))
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            process.kill()
    assert (tmp_path / "clean").exists()


def _serves(pid: int) -> bool:
    sockets = psutil.Process(pid).net_connections("tcp")
    return any(answers(one.laddr.port) for one in sockets if one.status == psutil.CONN_LISTEN)
