"""Producers are known after a restart though their records were deleted (rule 40)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kproto.directory import LeftAs
from kproto.log.kept_producers import EPOCHS, FILE
from kproto.wire.records import Producer
from tests.log.support import TOPIC_ID, Log, batch


def kept(log: Log) -> Path:
    return Path(log.partition().directory) / FILE


def append(log: Log, pid: int, *sequences: int) -> list[tuple[int, bool]]:
    """Base offset, and whether it was there already, of one record for each sequence."""
    answers = [log.partition().append(batch(b"x", producer=Producer(pid, 0, seq))) for seq in sequences]
    return [(base, again) for base, _, _, again in answers]


def restart(log: Log, left_as: LeftAs, journal_from: int) -> None:
    """When the checkpoint knows, and the journal begins at an offset."""
    log.tick(6.0)
    log.tick(6.0)
    key = TOPIC_ID, 0
    log.journal.stored[key] = [each for each in log.journal.stored[key] if each[0] >= journal_from]
    log.restart(left_as)


@pytest.mark.parametrize("left_as", [LeftAs.CLEAN, LeftAs.KILLED])
@pytest.mark.parametrize("later", [[], [0], [0, 1]])
@pytest.mark.parametrize("flushed", [True, False])
def test_what_is_sent_again_after_everything_was_deleted(
    tmp_path: Path, left_as: LeftAs, later: list[int], flushed: bool
) -> None:
    log = Log(tmp_path, {"file.delete.delay.ms": "0"})
    append(log, 7, 0, 1, 2)
    append(log, 8, 0)
    if flushed:
        log.partition().flush()
    assert log.partition().delete_records(-1) == 4
    append(log, 9, *later)
    before = log.partition().producers.encode()
    restart(log, left_as, 4)
    assert (log.partition().log_start_offset, log.partition().log_end_offset) == (4, 4 + len(later))
    assert log.partition().producers.encode() == before
    assert append(log, 7, 2, 3) == [(2, True), (4 + len(later), False)]
    restart(log, LeftAs.KILLED, 4)
    assert append(log, 7, 3) == [(4 + len(later), True)]


@pytest.mark.parametrize("flushed", [False, True])
def test_what_was_kept_is_in_the_indexes_that_a_start_writes(tmp_path: Path, flushed: bool) -> None:
    """Chunks without a producer id follow: of files whose index is missing, or that the journal has. The next
    start begins with those indexes."""
    log = Log(tmp_path, {"file.delete.delay.ms": "0", "kproto.segment.file.bytes": "65536"})
    append(log, 7, 0, 1, 2)
    log.partition().delete_records(-1)
    restart(log, LeftAs.KILLED, 3)
    for _ in range(6):
        log.partition().append(batch(30_000))
    if flushed:
        log.partition().flush()
        log.tick(6.0)
    log.restart(LeftAs.KILLED)
    for path in tmp_path.rglob("*.index"):
        path.unlink()
    assert list(log.partition().producers) == [7]
    log.partition().flush()
    assert list(tmp_path.rglob("*.index"))
    restart(log, LeftAs.KILLED, 9)
    assert append(log, 7, 2, 3) == [(2, True), (9, False)]


def test_a_log_start_within_what_only_the_journal_has(tmp_path: Path) -> None:
    """The file ends before what was deleted, and the journal begins behind it."""
    log = Log(tmp_path)
    append(log, 7, 0, 1)
    log.partition().flush()
    append(log, 7, 2, 3, 4)
    append(log, 8, 0, 1)
    log.partition().delete_records(4)
    before = log.partition().producers.encode()
    restart(log, LeftAs.KILLED, 4)
    assert log.partition().log_end_offset == 7
    assert log.partition().producers.encode() == before


def test_what_was_kept_of_a_log_that_was_longer_is_forgotten(tmp_path: Path) -> None:
    """It must not replace what is learned when the log gets there again with other records."""
    log = Log(tmp_path)
    append(log, 7, 0, 1, 2)
    log.partition().delete_records(1)
    assert kept(log).exists()
    log.journal.stored[TOPIC_ID, 0] = log.journal.stored[TOPIC_ID, 0][:2]
    log.restart(LeftAs.KILLED)
    assert log.partition().log_end_offset == 2
    assert int.from_bytes(kept(log).read_bytes()[4:12], "big") == 2
    append(log, 5, 0, 1)
    log.restart(LeftAs.KILLED)
    assert append(log, 5, 1) == [(3, True)]


def test_what_was_kept_of_a_log_that_was_longer_tells_of_what_is_left(tmp_path: Path) -> None:
    """The last chunk was on its way to the journal when records were deleted, and the process was killed."""
    log = Log(tmp_path, {"file.delete.delay.ms": "0"})
    append(log, 7, 0, 1)
    append(log, 8, 0)
    append(log, 7, 2)
    log.partition().delete_records(3)
    log.tick(6.0)
    log.tick(6.0)
    for path in Path(log.partition().directory).glob("*.chunks"):
        path.unlink()
    log.journal.stored.clear()
    for _ in range(2):
        log.restart(LeftAs.KILLED)
        assert (log.partition().log_start_offset, log.partition().log_end_offset) == (3, 3)
        assert append(log, 7, 0, 1) == [(0, True), (1, True)]
        assert append(log, 8, 0) == [(2, True)]
    assert append(log, 7, 2) == [(3, False)]


@pytest.mark.parametrize("damage", [b"", b"short", bytes(40)])
def test_a_damaged_file_is_as_none(tmp_path: Path, damage: bytes) -> None:
    log = Log(tmp_path, {"file.delete.delay.ms": "0"})
    append(log, 7, 0, 1, 2)
    log.partition().delete_records(-1)
    kept(log).write_bytes(damage)
    restart(log, LeftAs.KILLED, 3)
    assert log.partition().producers == {}
    assert append(log, 7, 3) == [(3, False)]


def test_nothing_is_kept_without_producers(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.partition().append(batch(b"x"))
    log.partition().delete_records(-1)
    assert not kept(log).exists()


@pytest.mark.parametrize("left_as", [LeftAs.CLEAN, LeftAs.KILLED, LeftAs.POWER_LOST])
@pytest.mark.parametrize("later", [[], [0]])
def test_what_was_kept_before_records_that_are_deleted_is_nothing_any_more(
    tmp_path: Path, left_as: LeftAs, later: list[int]
) -> None:
    """It was not written again, because its producers had expired, or had not reached the medium: what they
    sent since, which nobody can learn any more, must not be missed in their sequences (S13)."""
    log = Log(tmp_path, {"file.delete.delay.ms": "0"})
    append(log, 7, 0, 1, 2)
    log.partition().delete_records(-1)
    append(log, 7, 3, 4)
    log.partition().producers.expire(1 << 62, 0)
    log.partition().delete_records(-1)
    append(log, 9, *later)
    for segment in log.partition().segments if log.partition().flush() else ():
        segment.sync()
    restart(log, left_as, 5)
    assert (log.partition().log_start_offset, log.partition().log_end_offset) == (5, 5 + len(later))
    assert append(log, 7, 5) == [(5 + len(later), False)]


@pytest.mark.parametrize("kept_at", [None, 2, 5, 6])
def test_producers_are_forgotten_where_chunks_are_missing(tmp_path: Path, kept_at: int | None) -> None:
    """What they sent there, nobody can learn any more: a producer was refused for good, as its next sequence
    was taken for a gap. The file has no index, and is damaged; others follow it."""
    log = Log(tmp_path, {"kproto.segment.file.bytes": "65536"})
    append(log, 7, 0)
    append(log, 8, 0)
    damaged_at = log.partition().segments[0].measure()
    for offset in range(2, 9):
        if offset == kept_at:
            log.partition().delete_records(1)
        if offset in (4, 6, 7):
            log.partition().append(batch(60_000))
        else:
            append(log, *{2: (7, 1), 3: (8, 1), 5: (7, 2), 8: (8, 2)}[offset])
    log.partition().flush()
    segments = log.partition().segments
    assert [segment.base_offset for segment in segments] == [0, 6, 7]
    for index in tmp_path.rglob("*.index"):
        index.unlink()
    with open(segments[0].path, "r+b") as file:
        file.seek(damaged_at)
        file.write(bytes(100))
    restart(log, LeftAs.KILLED, 9)
    assert log.partition().log_end_offset == 9
    assert append(log, 8, 2, 3) == [(8, True), (9, False)]
    if kept_at == 6:
        assert append(log, 7, 2) == [(5, True)]
    assert append(log, 7, 3) == [(10, False)]


@pytest.mark.parametrize("older", [False, True])
def test_what_files_of_deleted_records_told_is_kept_when_these_go(tmp_path: Path, older: bool) -> None:
    """A loss of power took what had been kept, or left what had been before, and left the files."""
    log = Log(tmp_path)
    append(log, 7, 0)
    log.partition().flush()
    log.partition().delete_records(1)
    before = kept(log).read_bytes()
    append(log, 7, 1)
    log.partition().flush()
    log.partition().delete_records(-1)
    append(log, 8, 0)
    log.partition().flush()
    log.tick(6.0)
    kept(log).write_bytes(before if older else b"")
    log.journal.stored.clear()
    log.restart(LeftAs.POWER_LOST)
    assert append(log, 7, 0, 1) == [(0, True), (1, True)]
    log.tick(70.0)
    log.tick(70.0)
    assert len(list(tmp_path.rglob("*.chunks"))) == 1
    log.restart(LeftAs.KILLED)
    assert append(log, 7, 0, 1) == [(0, True), (1, True)]


def test_what_was_lost_does_not_come_back_from_the_journal_when_all_behind_it_is_deleted(
    tmp_path: Path,
) -> None:
    """A chunk before it was lost with the power. The log went on, and what it had of that was deleted."""
    log = Log(tmp_path, {"file.delete.delay.ms": "0"})
    append(log, 7, 0, 1, 2, 3)
    stale = log.journal.stored[TOPIC_ID, 0][2:]
    log.journal.stored[TOPIC_ID, 0] = [log.journal.stored[TOPIC_ID, 0][0], *stale]
    log.restart(LeftAs.POWER_LOST)
    assert log.partition().log_end_offset == 1
    append(log, 9, 0, 1)
    assert log.partition().delete_records(-1) == 3
    log.tick(6.0)
    log.tick(6.0)
    log.journal.stored[TOPIC_ID, 0] = stale
    log.restart(LeftAs.KILLED)
    assert (log.partition().log_start_offset, log.partition().log_end_offset) == (3, 3)
    noted = (Path(log.partition().directory) / EPOCHS).stat().st_ino
    log.restart(LeftAs.KILLED)
    assert log.partition().log_end_offset == 3
    now = (Path(log.partition().directory) / EPOCHS).stat().st_ino
    assert now == noted, "it is known already: each start would sync for it"


def test_a_batch_of_which_only_the_deleted_part_is_left_is_unknown(tmp_path: Path) -> None:
    """The rest was lost: who sends it again is to have it stored."""
    log = Log(tmp_path, {"file.delete.delay.ms": "0"})
    append(log, 7, 0)
    pair = batch(b"x", b"y", producer=Producer(7, 0, 1))
    log.partition().append(pair)
    log.partition().delete_records(2)
    log.tick(6.0)
    for path in Path(log.partition().directory).glob("*.chunks"):
        path.unlink()
    log.journal.stored.clear()
    log.restart(LeftAs.KILLED)
    assert (log.partition().log_start_offset, log.partition().log_end_offset) == (2, 2)
    assert append(log, 7, 0) == [(0, True)]
    assert log.partition().append(pair)[0] == 2


def test_leader_epochs_of_a_log_that_was_longer_are_none_of_what_comes_in_its_place(tmp_path: Path) -> None:
    """They were written down, synced, where what old journals had was stale. What they are of was not synced,
    and a loss of power took it, when those journals had gone."""
    log = Log(tmp_path)
    append(log, 7, 0, 1, 2, 3)
    first, *_, stale = log.journal.stored[TOPIC_ID, 0]
    log.journal.stored[TOPIC_ID, 0] = [first, stale]
    log.restart(LeftAs.POWER_LOST)
    append(log, 9, 0, 1)
    assert log.partition().flush()
    log.journal.stored[TOPIC_ID, 0] = [stale]
    log.restart(LeftAs.KILLED)
    assert log.partition().log_end_offset == 3
    log.manager.files.close_all()
    (path,) = Path(log.partition().directory).glob("*.chunks")
    os.truncate(path, len(first[2]))
    log.journal.stored.clear()
    log.restart(LeftAs.POWER_LOST)
    assert log.partition().log_end_offset == 1
    append(log, 10, 0, 1, 2, 3)
    assert log.partition().epoch_end_offset(1) == (0, 1)
    log.restart(LeftAs.KILLED)
    partition = log.partition()
    assert (partition.epoch_end_offset(1), partition.epoch_end_offset(3)) == ((0, 1), (3, 5))
