"""Files of partitions that nobody opens are verified, and the partitions stay as they are."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from kproto.directory import LeftAs
from kproto.log import scrubbing
from tests.log.replicated import ME, OTHER, START, check_all
from tests.log.support import TOPIC_ID, Log, batch
from tests.log.test_scrubbing import (
    CHUNKS,
    SHORTER,
    SMALL,
    Damage,
    errors,
    impatient,
    records_changed,
    scrubbed,
    three_copies,
)

__all__ = ["impatient"]
PARTITIONS = 3


def unopened(tmp_path: Path, left_as: LeftAs = LeftAs.CLEAN) -> Log:
    """Partitions of several files each, and one of a single file."""
    log = Log(tmp_path, SMALL, partitions=PARTITIONS + 1)
    for index in range(PARTITIONS):
        for i in range(CHUNKS):
            log.partition(index).append(batch(5_000, time=START + i))
    log.partition(PARTITIONS).append(batch(5_000, time=START))
    log.restart(LeftAs.CLEAN)
    if left_as is not LeftAs.CLEAN:
        log.restart(left_as)
    return log


def opened(log: Log) -> list[int]:
    return [one.index for one in log.manager.partitions_open()]


def files(log: Log, index: int) -> list[Path]:
    return sorted(log.path.glob(f"streams/*/*.{index:05d}/*.chunks"))


@pytest.mark.parametrize("left_as", [LeftAs.CLEAN, LeftAs.KILLED])
def test_sound_files_are_read_once_in_a_while_and_nothing_is_opened(tmp_path: Path, left_as: LeftAs) -> None:
    log = unopened(tmp_path, left_as)
    closed = [path for index in range(PARTITIONS) for path in files(log, index)[:-1]]
    size = sum(path.stat().st_size for path in closed)
    scrub = scrubbed(log, lambda scrub: scrub.bytes >= size and scrub.rounds > 20)
    assert scrub.bytes == size > 600_000
    assert opened(log) == []


@pytest.mark.parametrize("damage", [*SHORTER, records_changed])
def test_only_the_partition_of_a_damaged_file_is_opened_and_it_is_told(
    tmp_path: Path, damage: Damage, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody heard of it before somebody read it, when another disk may have been gone, too."""
    log = unopened(tmp_path)
    path = files(log, 1)[1]
    damage(str(path))
    scrubbed(log, lambda scrub: bool(errors(caplog)) and scrub.rounds > 20)
    (line,) = errors(caplog)
    assert line.startswith("t-1: offsets ")
    if path.exists():
        assert str(path) in line
    assert opened(log) == [1]


def test_what_is_damaged_is_written_again_from_copies(tmp_path: Path) -> None:
    log, copies = three_copies(tmp_path)
    path = log.partition().segments[1].path
    good = Path(path).read_bytes()
    log.restart(LeftAs.CLEAN)
    log.take_over(CHUNKS)
    log.manager.ports.copies = copies
    assert opened(log) == []
    records_changed(path)
    scrubbed(log, lambda scrub: bool(scrub.mended))
    assert Path(path).read_bytes() == good
    check_all(log)


def test_a_partition_that_is_led_elsewhere_is_left_alone(tmp_path: Path) -> None:
    log, _ = three_copies(tmp_path)
    path = log.partition().segments[1].path
    log.restart(LeftAs.CLEAN)
    records_changed(path)
    log.lead(OTHER)
    scrub = scrubbed(log, lambda scrub: scrub.rounds > 20)
    assert scrub.bytes == 0
    assert opened(log) == []
    assert log.leader != ME


def test_a_topic_that_is_deleted_meanwhile_is_no_damage(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = unopened(tmp_path)
    check = scrubbing.check_piece

    def deleted(path: str, *more: object) -> object:
        log.revision += 1
        log.manager.apply_image(log.image(topics={}, topics_by_id={}, streamlets={}))
        os.unlink(path)
        return check(path, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(scrubbing, "check_piece", deleted)
    scrubbed(log, lambda scrub: scrub.rounds > 20)
    assert [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING] == []
    assert log.manager.opened(TOPIC_ID, 0) is None


def test_of_one_file_no_more_is_told_than_helps(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A disk that fails damages thousands of places: each was a line, and remembered for ever."""
    log = Log(tmp_path, {"kproto.segment.file.bytes": "65536"})
    for i in range(400):
        log.partition().append(batch(500, time=START + i))
    log.restart(LeftAs.CLEAN)
    path = files(log, 0)[0]
    data = bytearray(path.read_bytes())
    for at in range(300, len(data), 568):
        data[at] ^= 1
    path.write_bytes(data)
    log.partition()
    told: list[int] = []

    def done(scrub: scrubbing.Scrub) -> bool:
        if not told and scrub.rounds > 5:
            told.extend(len(places) for places in scrub._told.values())
            log.partition().close_deleted()
        return bool(told) and not scrub._told

    scrubbed(log, done, again_s=0.0)
    assert len(errors(caplog)) == scrubbing.PLACES_TOLD
    assert told == [scrubbing.PLACES_TOLD]
