"""The disk space set aside for metadata."""

import errno
import os
from pathlib import Path

import pytest

from kproto.metadata.reserve import RESERVE_BYTES, Reserve


def test_the_reserve_takes_space_and_gives_it_up(tmp_path: Path) -> None:
    file = tmp_path / "reserve"
    reserve = Reserve(str(file))
    assert not reserve.give_up(), "nothing held yet"
    reserve.hold()
    assert file.stat().st_blocks * 512 >= RESERVE_BYTES
    assert reserve.give_up()
    assert not file.exists()
    reserve.hold()
    assert Reserve(str(file)).give_up(), "a later process finds what an earlier one held"


def test_a_full_disk_is_no_error() -> None:
    reserve = Reserve("/dev/full/reserve")
    reserve.hold()
    assert not reserve.give_up()


def test_where_nothing_can_be_reserved_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There was no reserve: topics could not be deleted when the disk was full."""

    def refuse(*_: int) -> None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    file = tmp_path / "reserve"
    Reserve(str(file)).hold()
    assert file.stat().st_blocks * 512 >= RESERVE_BYTES
