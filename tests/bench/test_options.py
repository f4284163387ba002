"""Directories for the brokers' data."""

from pathlib import Path

from bench.options import new_directory, workspace


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
