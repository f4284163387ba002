"""What a result says of where it was measured."""

from __future__ import annotations

import subprocess
from pathlib import Path

from bench.environment import revision


def git(directory: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    asked = ["git", "-C", str(directory), *who, *arguments]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip()


def test_a_result_names_the_commit_and_whether_files_were_changed(tmp_path: Path) -> None:
    assert revision(tmp_path) == ""
    git(tmp_path, "init", "-q")
    assert revision(tmp_path) == ""  # nothing is committed
    (tmp_path / "file").write_text("1")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "-q", "-m", "first")
    commit = git(tmp_path, "rev-parse", "--short", "HEAD")
    assert revision(tmp_path) == f" at {commit}"
    (tmp_path / "file").write_text("2")
    assert revision(tmp_path) == f" at {commit}+"


def test_a_package_within_a_checkout_of_something_else_has_no_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "first")
    (tmp_path / "site-packages").mkdir()
    assert revision(tmp_path / "site-packages") == ""
