"""What goes when: retention.ms, retention.bytes, DeleteRecords, and the files behind them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kproto.directory import LeftAs
from kproto.disk import Disk
from kproto.errors import ErrorCode, KafkaError
from kproto.log.checkpoint import Checkpoint
from kproto.log.ports import Done
from kproto.log.retention import GroupState, new_log_start
from tests.log.support import TOPIC_ID, Log, batch, everything
from tests.log.test_segments import START, files, fill

GROUPS = [GroupState(10, 100, 1000), GroupState(20, 100, 3000), GroupState(30, 50, 2000)]


@pytest.mark.parametrize(
    ("now", "age", "size", "durable", "start"),
    [
        (1500, 1000, -1, 30, None),
        (2001, 1000, -1, 30, 10),
        (3500, 1000, -1, 30, 10),
        (4001, 1000, -1, 30, 30),
        (4001, 1000, -1, 25, 20),
        (9999, -1, -1, 30, None),
        (0, -1, 151, 30, None),
        (0, -1, 150, 30, 10),
        (0, -1, 50, 30, 20),
        (0, -1, 0, 30, 30),
        (2001, 1000, 50, 30, 20),
    ],
)
def test_the_decision(now: int, age: int, size: int, durable: int, start: int | None) -> None:
    assert new_log_start(GROUPS, now, 250, age, size, durable) == start


def test_old_groups_go_and_their_files_later(tmp_path: Path) -> None:
    configs = {"segment.ms": "1000", "retention.ms": "100000", "file.delete.delay.ms": "5000"}
    log = Log(tmp_path, configs)
    partition = log.partition()
    for second in (0, 50, 100):
        partition.append(batch(b"x", time=START + second * 1000))
    log.tick(30.0)
    assert partition.log_start_offset == 0
    log.tick(90.0)
    log.tick(300.0)
    assert partition.log_start_offset == 3, "the open group goes too when all of it is old (as in Kafka)"
    assert len(files(log)) == 3
    log.tick(6.0)
    log.tick(6.0)
    assert files(log) == []
    assert partition.append(batch(b"y", time=START + 430_000))[0] == 3
    assert len(everything(partition)) == partition.size_bytes()


def test_a_group_whose_first_file_is_torn_at_its_begin_ends_where_it_should(tmp_path: Path) -> None:
    """What is behind the damage is there; offsets below the log start would be passed over unknowingly."""
    log = Log(tmp_path, {"segment.ms": "1000"})
    partition = log.partition()
    for second in (0, 50, 100):
        partition.append(batch(b"x", time=START + second * 1000))
        partition.flush()
    before = [segment.path for segment in partition.segments]
    first = partition.segments[0]
    first.blocks.clear()
    first.tear(0, 0)
    partition.remove_dead_groups()
    assert [segment.path for segment in partition.segments] == before
    assert partition.delete_records(1) == 1
    assert [segment.path for segment in partition.segments] == before[1:]


def test_compact_only_topics_keep_everything(tmp_path: Path) -> None:
    log = Log(tmp_path, {"retention.ms": "1000", "cleanup.policy": "compact"})
    log.partition().append(batch(b"x"))
    log.tick(1000.0)
    assert log.partition().log_start_offset == 0


def test_retention_by_size_reaches_partitions_that_nobody_opened(tmp_path: Path) -> None:
    log = Log(tmp_path, {"segment.bytes": "1048576"}, partitions=2)
    fill(log, 120, 20_000)
    fill(log, 1, 20_000, index=1)
    log.restart(LeftAs.CLEAN)
    log.configs["retention.bytes"] = "1000000"
    log.revision += 1
    log.manager.apply_image(log.image())
    log.tick(40.0)
    assert [partition.index for partition in log.manager.partitions_open()] == [0]
    assert 1_000_000 <= log.partition().size_bytes() <= 1_000_000 + 1048576
    assert log.partition().log_start_offset > 0


def test_delete_records(tmp_path: Path) -> None:
    log = Log(tmp_path, {"file.delete.delay.ms": "0"}, automatic=False)
    partition = log.partition()
    changes: list[int] = []
    partition.waiters.append(lambda: changes.append(partition.log_start_offset))
    for _ in range(10):
        partition.append(batch(b"x"))
    with pytest.raises(KafkaError) as caught:
        partition.delete_records(1)
    assert caught.value.code == ErrorCode.OFFSET_OUT_OF_RANGE
    log.journal.push()
    assert partition.delete_records(4) == 4
    assert partition.delete_records(2) == 4, "never back"
    assert changes == [0] * 10 + [4]
    for offset in (3, 11):
        with pytest.raises(KafkaError) as caught:
            partition.read(offset, 1000)
        assert caught.value.code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert partition.read(4, 1000).size > 0
    log.tick()
    log.restart(LeftAs.KILLED)
    assert log.partition().log_start_offset == 4
    assert log.partition().delete_records(-1) == 10
    log.tick(1.0)
    log.tick(1.0)
    assert files(log) == []
    log.journal.stored.clear()
    log.restart(LeftAs.KILLED)
    partition = log.partition()
    assert (partition.log_start_offset, partition.log_end_offset) == (10, 10)
    assert partition.append(batch(b"y"))[0] == 10


def test_files_wait_for_the_checkpoint_that_knows(tmp_path: Path) -> None:
    """A restart must never begin at offsets whose files are gone."""
    log = Log(tmp_path, {"file.delete.delay.ms": "0"})
    partition = log.partition()
    fill(log, 3, 100)
    partition.flush()
    log.tick(6.0)
    before = Checkpoint(log.disk, str(tmp_path)).get(TOPIC_ID, 0)
    assert before is not None
    assert before.log_start == 0
    partition.delete_records(3)
    assert len(files(log)) == 1
    log.tick(0.0)
    log.tick(0.0)
    assert files(log) == []
    after = Checkpoint(log.disk, str(tmp_path)).get(TOPIC_ID, 0)
    assert after is not None
    assert after.log_start == 3


def test_the_journal_goes_on_behind_what_was_deleted_from_it(tmp_path: Path) -> None:
    """A file that ends before the new log start is still there when the process is killed, what lay between
    was in the journal only, and the scan of that begins behind it."""
    log = Log(tmp_path, {"file.delete.delay.ms": "60000"})
    partition = log.partition()
    fill(log, 2, 100)
    partition.flush()
    fill(log, 2, 100)
    partition.delete_records(4)
    log.tick(6.0)
    fill(log, 3, 100)
    key = TOPIC_ID, 0
    log.journal.stored[key] = [each for each in log.journal.stored[key] if each[0] >= 4]
    assert files(log)
    log.restart(LeftAs.KILLED)
    partition = log.partition()
    assert (partition.log_start_offset, partition.high_watermark) == (4, 7)
    assert len(everything(partition)) == partition.size_bytes()


def test_the_journal_waits_for_the_checkpoint_that_knows_a_log_start(tmp_path: Path) -> None:
    """Else a start with the old one would end the log where the journal has nothing any more."""
    log = Log(tmp_path)
    fill(log, 4, 100)
    partition = log.partition()
    assert log.manager.checkpointing.deletions.all_known
    partition.delete_records(4)
    assert not log.manager.checkpointing.deletions.all_known
    assert not log.manager.settled(TOPIC_ID, 0, 4)
    log.tick(6.0)
    known = Checkpoint(log.disk, str(tmp_path)).get(TOPIC_ID, 0)
    assert known is not None
    assert known.log_start == 4
    assert log.manager.checkpointing.deletions.all_known
    assert log.manager.settled(TOPIC_ID, 0, 4)


def test_neither_files_nor_the_journal_wait_for_deletions_that_come_later(tmp_path: Path) -> None:
    """While one came during each sync of the checkpoint nothing was ever removed."""
    jobs: list[tuple[Callable[[], object], Done]] = []
    log = Log(tmp_path, {"file.delete.delay.ms": "0"}, in_background=lambda *job: jobs.append(job))

    def sync() -> None:
        while jobs:
            call, done = jobs.pop(0)
            call()
            done(None)

    waited = 0
    settled = False
    for number in range(6):
        fill(log, 1, 100)
        log.partition().flush()
        log.partition().delete_records(number + 1)
        settled = settled or log.manager.settled(TOPIC_ID, 0, 1)
        waited += not settled
        sync()
        log.tick(1.0)
        assert not log.manager.checkpointing.deletions.all_known
    assert waited == 2
    assert len(files(log)) <= 3
    fill(log, 1, 100)
    log.partition().delete_records(7)
    for _ in range(2):
        log.tick(1.0)
        sync()
    assert log.manager.checkpointing.deletions.all_known


def test_a_synced_checkpoint_is_found_after_a_power_loss(tmp_path: Path) -> None:
    """Its name is on the medium, too (rule 36)."""

    synced: list[str] = []

    class Watched(Disk):
        def sync_directory(self, path: str) -> None:
            synced.append(path)

    log = Log(tmp_path, disk=Watched())
    fill(log, 4, 100)
    log.partition().delete_records(4)
    log.tick(6.0)
    assert str(tmp_path) in synced


def test_files_that_wait_at_a_clean_stop_go_in_the_next_process(tmp_path: Path) -> None:
    """After that nobody looks into the directory of a partition without closed segments."""
    log = Log(tmp_path, {"file.delete.delay.ms": "60000"})
    fill(log, 3, 100)
    log.partition().flush()
    log.partition().delete_records(3)
    log.tick(6.0)
    assert len(files(log)) == 1
    log.restart(LeftAs.CLEAN)
    log.restart(LeftAs.CLEAN)
    assert len(files(log)) == 1
    log.tick(61.0)
    log.tick(6.0)
    assert files(log) == []
    assert not (tmp_path / "deleted").exists()
    assert log.partition().append(batch(b"y"))[0] == 3


def test_what_has_no_timestamp_goes_by_when_its_group_was_written_last(tmp_path: Path) -> None:
    """As in Apache Kafka. A group whose first record was old enough took all that came since along."""
    log = Log(tmp_path, {"retention.ms": "100000", "segment.ms": "1000000"})
    for _ in range(12):
        log.partition().append(batch(b"x", time=-1))
        log.tick(60.0)
        log.tick(1.0)
    assert log.partition().log_start_offset == 0
    log.tick(400.0)
    assert log.partition().log_start_offset == 12


def test_segment_ms_of_what_has_no_timestamp_counts_from_when_the_group_was_opened(tmp_path: Path) -> None:
    often = {"log.retention.check.interval.ms": "1000"}
    log = Log(tmp_path, {"retention.ms": "100000", "segment.ms": "50000"}, settings=often)
    for _ in range(30):
        log.partition().append(batch(b"x", time=-1))
        log.tick(20.0)
        log.tick(1.0)
    assert 18 < log.partition().log_start_offset < 26, "older than 100 s, and what is in one group with it"


def test_a_partition_that_was_opened_again_is_as_large_as_it_is(tmp_path: Path) -> None:
    """Its old groups were not measured, and the next checkpoint said that they were empty."""
    log = Log(tmp_path, {"segment.bytes": "1048576", "retention.ms": "-1"})
    fill(log, 200, 20_000)
    size = log.partition().size_bytes()
    for _ in range(2):
        log.restart(LeftAs.CLEAN)
        log.partition().append(batch(b"x"))
        size += len(batch(b"x"))
    log.restart(LeftAs.CLEAN)
    assert log.manager.size_bytes(TOPIC_ID, 0) == size
    log.configs["retention.bytes"] = "1000000"
    log.revision += 1
    log.manager.apply_image(log.image())
    log.tick(40.0)
    assert log.partition().size_bytes() < 2_100_000


def test_deleted_records_that_were_in_no_file_are_not_said_to_be_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = Log(tmp_path)
    partition = log.partition()
    partition.append(batch(b"a"))
    assert partition.flush()
    partition.append(batch(b"b"))
    assert partition.delete_records(-1) == 2
    partition.append(batch(b"c"))
    assert partition.flush()
    log.tick(10.0)
    assert len(files(log)) == 2, "the deleted one goes in a minute"
    log.restart(LeftAs.KILLED)
    partition = log.partition()
    assert (partition.log_start_offset, partition.log_end_offset) == (2, 3)
    assert caplog.messages == []
