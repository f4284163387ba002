"""The disk space set aside for metadata."""

from pathlib import Path

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
