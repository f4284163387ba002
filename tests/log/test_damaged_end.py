"""The last file of a partition of one copy is damaged in what the checkpoint vouches for: that is no torn
end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kproto.directory import LeftAs
from kproto.errors import ErrorCode
from kproto.wire.batch import hop
from kproto.wire.records import Producer
from tests.log.support import Log, batch
from tests.log.test_scrubbing import errors, offsets_or_error

RECORDS = 20
BAD = 12
"""Its header is damaged."""
CHECKPOINT_S = 6.0
LEFT = [LeftAs.CLEAN, LeftAs.KILLED, LeftAs.POWER_LOST]


def written(tmp_path: Path, records: int = RECORDS, configs: dict[str, str] | None = None) -> Log:
    """A log of which that is in a synced file, and in no journal that a start reads."""
    log = Log(tmp_path, configs)
    append(log, records)
    assert log.partition().flush()
    for segment in log.partition().unsynced():
        segment.sync()
    log.tick(CHECKPOINT_S)
    log.journal.stored.clear()
    return log


def append(log: Log, records: int = 1) -> list[int]:
    """The offsets they get."""
    return [log.partition().append(batch(5_000))[0] for _ in range(records)]


def damage(path: str, byte: int = 1) -> bytes:
    """Change a ``byte`` of the header of `BAD`; what the file has then."""
    data = bytearray(Path(path).read_bytes())
    at = [at for at, _, _ in hop(data)][BAD]
    data[at + byte] ^= 1
    Path(path).write_bytes(data)
    return bytes(data)


def offsets(log: Log) -> Iterator[int]:
    """Those that can be read."""
    for offset in range(log.partition().high_watermark):
        found = offsets_or_error(log, offset, 1)
        if found != ErrorCode.KAFKA_STORAGE_ERROR:
            assert found == [offset]
            yield offset


@pytest.mark.parametrize("then", LEFT)
@pytest.mark.parametrize("left_as", LEFT)
@pytest.mark.parametrize("byte", [1, 8, 16], ids=["base offset", "length", "magic"])
def test_nothing_is_cut_and_no_offset_is_given_away_again(
    tmp_path: Path, byte: int, left_as: LeftAs, then: LeftAs, caplog: pytest.LogCaptureFixture
) -> None:
    """Sound records behind one damaged byte were removed, and others got their offsets."""
    log = written(tmp_path)
    path = log.partition().segments[-1].path
    log.restart(left_as)
    data = damage(path, byte)
    assert log.partition().high_watermark == RECORDS
    (line,) = errors(caplog)
    assert f"t-0: offsets {BAD} to {RECORDS - 1} are missing in {path} from byte " in line
    assert f"begins at offset {RECORDS}" in line
    there = list(range(BAD))
    for left in (then, LeftAs.KILLED, LeftAs.POWER_LOST):
        assert list(offsets(log)) == there
        assert Path(path).read_bytes() == data
        log.restart(left)
    assert append(log) == [RECORDS]
    for left in (then, LeftAs.POWER_LOST, LeftAs.CLEAN, LeftAs.CLEAN):
        assert list(offsets(log)) == [*there, RECORDS]
        assert Path(path).read_bytes() == data
        log.restart(left)
    assert append(log, 2) == [RECORDS + 1, RECORDS + 2]


def test_what_only_the_journal_has_is_appended(tmp_path: Path) -> None:
    log = written(tmp_path)
    path = log.partition().segments[-1].path
    append(log, 3)
    log.restart(LeftAs.KILLED)
    damage(path)
    assert list(offsets(log)) == [*range(BAD), *range(RECORDS, RECORDS + 3)]


@pytest.mark.parametrize("begin", [BAD - 2, BAD, BAD + 2])
def test_what_the_journal_has_of_the_damaged_file_is_read_from_there(tmp_path: Path, begin: int) -> None:
    log = written(tmp_path, begin)
    append(log, RECORDS - begin)
    assert log.partition().flush()
    for _ in range(2):
        log.tick(CHECKPOINT_S)
    path = log.partition().segments[-1].path
    data = damage(path)
    for left in (LeftAs.KILLED, LeftAs.KILLED, LeftAs.CLEAN):
        log.restart(left)
        assert list(offsets(log)) == [*range(BAD), *range(max(begin, BAD), RECORDS)]
        assert Path(path).read_bytes() == data
    assert append(log) == [RECORDS]


@pytest.mark.parametrize("left_as", [LeftAs.KILLED, LeftAs.POWER_LOST])
def test_files_behind_it_that_no_checkpoint_knows_are_kept(tmp_path: Path, left_as: LeftAs) -> None:
    """They went with all that was behind the damaged byte."""
    log = written(tmp_path, configs={"kproto.segment.file.bytes": "131072"})
    path = log.partition().segments[-1].path
    append(log, 40)
    partition = log.partition()
    assert partition.flush()
    bases = partition.bases[:]
    assert len(bases) == 3
    log.journal.stored.clear()
    log.restart(left_as)
    damage(path)
    for left in (LeftAs.KILLED, LeftAs.POWER_LOST, LeftAs.CLEAN):
        assert list(offsets(log)) == [*range(BAD), *range(bases[1], RECORDS + 40)]
        log.restart(left)
    assert append(log) == [RECORDS + 40]


@pytest.mark.parametrize("index", ["kept", "lost"])
def test_a_file_that_was_closed_with_nothing_behind_it(tmp_path: Path, index: str) -> None:
    log = written(tmp_path)
    path = log.partition().segments[-1].path
    log.partition().roll_group()
    log.restart(LeftAs.CLEAN)
    data = damage(path)
    if index == "lost":
        Path(path.replace(".chunks", ".index")).unlink()
    for number, left in enumerate((LeftAs.KILLED, LeftAs.CLEAN)):
        assert append(log) == [RECORDS + number]
        log.restart(left)
        assert Path(path).read_bytes()[: len(data)] == data
        readable = list(offsets(log))
        assert readable[:BAD] == list(range(BAD))
        if index == "lost":
            assert readable[BAD:] == list(range(RECORDS, RECORDS + number + 1))


def test_a_producer_of_which_a_part_is_not_known_goes_on(tmp_path: Path) -> None:
    log = Log(tmp_path)
    for i in range(RECORDS):
        log.partition().append(batch(5_000, producer=Producer(7, 0, i)))
    path = log.partition().segments[-1].path
    log.restart(LeftAs.CLEAN)
    damage(path)
    assert log.partition().append(batch(5_000, producer=Producer(7, 0, RECORDS)))[0] == RECORDS
