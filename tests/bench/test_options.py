"""Directories for the brokers' data."""

import shlex
from dataclasses import replace
from pathlib import Path

import click
import pytest

from bench import cluster
from bench.cases import FULL
from bench.omb import command as omb
from bench.options import asked, command_line, finish, new_directory, workspace
from bench.pravega import command as pravega
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


@pytest.mark.parametrize(
    ("suite", "line"),
    [
        (cluster.command, "cluster --quick --set kproto.x=1 --set 'y=a b' --out elsewhere"),
        (omb.command, f"omb {__file__} --minutes 0.5 --case '100 bytes' --case backlog"),
        (pravega.command, "pravega --rf 3 --no-flush --data-dir elsewhere --raw elsewhere"),
    ],
    ids=["cluster", "omb", "pravega"],
)
def test_a_result_has_the_command_that_measures_it_again(suite: click.Command, line: str) -> None:
    """Settings, files, a flag switched off and what has a space in it made commands of no meaning."""
    name, *words = shlex.split(line)
    with suite.make_context(name, words):
        again = shlex.split(command_line(name))
    assert again[:3] == ["kproto", "bench", name]
    assert sorted(again[3:]) == sorted(shlex.split(line.partition(" --out")[0].partition(" --data")[0])[1:])
    with suite.make_context(name, again[3:]):
        assert command_line(name) == shlex.join(again)
