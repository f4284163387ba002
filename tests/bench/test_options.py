"""Directories for the brokers' data."""

from dataclasses import replace
from pathlib import Path

import click
import pytest

from bench.cases import FULL
from bench.options import asked, finish, new_directory, workspace
from bench.results import Result, Run


def test_the_place_for_data_is_made_when_it_is_not_there(tmp_path: Path) -> None:
    one = new_directory("kproto-bench-", tmp_path / "a" / "b")
    another = new_directory("kproto-bench-", tmp_path / "a" / "b")
    assert one != another
    assert {one.parent, another.parent} == {tmp_path / "a" / "b"}
    assert one.is_dir()


def test_a_workspace_is_gone_afterwards_and_the_place_for_data_stays(tmp_path: Path) -> None:
    with workspace(tmp_path / "data") as work:
        (work / "broker").mkdir()
        (work / "broker" / "file").write_bytes(b"x")
    assert not work.exists()
    assert (tmp_path / "data").is_dir()


def test_options_that_were_given_replace_those_of_the_scale() -> None:
    assert asked(FULL, pairs=1, seconds=None, steady_seconds=0) == replace(FULL, pairs=1, steady_seconds=0)
    assert asked(FULL, pairs=None) == FULL


def test_a_suite_without_a_run_has_failed() -> None:
    """Those that start brokers for each run note what went wrong and go on: it ended with exit code 0."""
    empty = Result("idle", "idle", "t", "c", {})
    with pytest.raises(click.ClickException, match="nothing was measured"):
        finish(empty, empty)
    finish(empty, Result("idle", "idle", "t", "c", {}, runs=[Run("kproto", "c", 0, {}, {})]))
