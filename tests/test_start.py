"""A broker that cannot start says why in one line and ends with 2, whatever the system refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kproto.broker import StartError
from kproto.testing import kafka_broker


def serve(directory: Path, *within: str) -> tuple[int, str, str]:
    """Exit code and output of a start that fails, perhaps inside of another command."""
    command = [sys.executable, "-m", "kproto.cli.main", "serve", "--listen", "127.0.0.1:0"]
    command += ["--data-dir", str(directory)]
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
