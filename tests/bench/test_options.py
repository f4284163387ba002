"""Directories for the brokers' data; settings as they are given."""

from pathlib import Path

import click
import pytest

from bench.options import new_directory, settings_of, workspace


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


def test_a_setting_may_have_an_equals_sign_in_its_value_but_needs_one() -> None:
    assert settings_of(("one=1", "two=a=b", "none=")) == {"one": "1", "two": "a=b", "none": ""}
    with pytest.raises(click.UsageError, match="three"):
        settings_of(("one=1", "three"))
