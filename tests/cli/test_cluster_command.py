"""What ``kproto cluster`` refuses before it starts anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from kproto.cli.main import main
from kproto.local_cluster import LocalCluster


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
