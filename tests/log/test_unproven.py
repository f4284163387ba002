"""Opening after a kill where acks wait for syncs: what may be in files only is on the medium before anybody
uses it (rules 8 and 9)."""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from kproto.directory import LeftAs
from kproto.disk import Disk, SyncError
from kproto.errors import ErrorCode, KafkaError
from kproto.log import manager
from kproto.log.above import DIRECTORIES_ABOVE, Above
from tests.log.support import TOPIC_ID, Jobs, Log, batch, do, everything

SYNCED = {"flush.messages": "1"}


class Syncs(Disk):
    """Names what is synced, in order; ``broken``: nothing can be."""

    def __init__(self) -> None:
        self.synced: list[str] = []
        self.broken = False

    def sync_file(self, path: str) -> None:
        self._sync(path)

    def sync_directory(self, path: str) -> None:
        self._sync(path)

    def _sync(self, path: str) -> None:
        if self.broken:
            raise SyncError(errno.EIO, os.strerror(errno.EIO), path)
        self.synced.append(path)


@pytest.fixture(autouse=True)
def loop_held(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """By syncs of earlier openings, for long enough."""
    if request.function is not test_a_few_are_synced_at_once:
        monkeypatch.setattr(manager, "PROVING_S", 0.0)


def killed(tmp_path: Path, jobs: Jobs, partitions: int = 1, in_journal: int = 4) -> tuple[Log, Syncs]:
    """Of each partition four chunks are in the file, which nobody synced; the first ``in_journal`` of them
    are in the journal of the killed process, too. Their leader epoch is 1."""
    disk = Syncs()
    log = Log(tmp_path, SYNCED, partitions=partitions, disk=disk, in_background=lambda *job: jobs.append(job))
    log.restart(LeftAs.CLEAN)
    log.journal.synced = True
    for index in range(partitions):
        for _ in range(4):
            log.partition(index).append(batch(500))
        assert log.partition(index).flush()
        stored = log.journal.stored[TOPIC_ID, index]
        del stored[in_journal:]
    log.restart(LeftAs.KILLED)
    disk.synced = []
    return log, disk


def is_refused(log: Log, index: int = 0) -> bool:
    try:
        return log.manager.partition(TOPIC_ID, index) is None
    except KafkaError as error:
        return error.code is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_nothing_is_synced_that_a_synced_journal_has(tmp_path: Path) -> None:
    """It took five syncs for each partition, on the loop."""
    jobs = Jobs()
    log, disk = killed(tmp_path, jobs, partitions=3)
    for index in range(3):
        assert log.partition(index).high_watermark == 4
    assert (disk.synced, list(jobs)) == ([], [])
    assert log.partition().unsynced(), "they wait for it as ever"


def test_what_no_journal_has_is_synced_by_a_thread_before_it_is_used(tmp_path: Path) -> None:
    """A chunk of it that is sent again is acknowledged at once (8)."""
    jobs = Jobs()
    log, disk = killed(tmp_path, jobs, in_journal=3)
    assert is_refused(log)
    assert is_refused(log)
    assert log.manager.open(TOPIC_ID, 0) is not None
    assert log.manager.unsynced(TOPIC_ID, 0) is None, "nobody else syncs it, too"
    assert (disk.synced, len(jobs)) == ([], 1)
    do(jobs)
    partition = log.partition()
    assert partition.high_watermark == 4
    assert disk.synced == [partition.segments[0].path, *map(str, parents(partition.segments[0].path))]
    assert log.manager.unsynced(TOPIC_ID, 0) == []


def test_a_few_are_synced_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a quick disk nobody is refused."""
    jobs = Jobs()
    log, disk = killed(tmp_path, jobs, partitions=5, in_journal=0)

    def slow(path: str) -> None:
        log.clock.advance(0.1)
        disk.synced.append(path)

    monkeypatch.setattr(disk, "_sync", slow)
    assert [is_refused(log, index) for index in range(5)] == [False, True, True, True, True]
    assert len(disk.synced) == 2 + DIRECTORIES_ABOVE
    do(jobs)
    assert not any(is_refused(log, index) for index in range(5))


def parents(path: str) -> Iterable[Path]:
    return Path(path).parents[: 1 + DIRECTORIES_ABOVE]


def test_directories_that_partitions_share_are_synced_once(tmp_path: Path) -> None:
    jobs = Jobs()
    log, disk = killed(tmp_path, jobs, partitions=5, in_journal=0)
    assert all(is_refused(log, index) for index in range(5))
    do(jobs)
    assert len(disk.synced) == 5 * 2 + DIRECTORIES_ABOVE
    assert len(set(disk.synced)) == len(disk.synced)


@pytest.mark.parametrize("what", ["not synced", "stale"])
def test_a_journal_that_does_not_have_the_very_chunks_does_not_count(tmp_path: Path, what: str) -> None:
    """Its class asks for no syncs; or an earlier start could not use its chunks, and gave their offsets to
    others (25)."""
    jobs = Jobs()
    log, disk = killed(tmp_path, jobs, in_journal=4)
    if what == "not synced":
        log.journal.synced = False
    else:
        (begin, end, chunk), *_ = log.journal.stored[TOPIC_ID, 0]
        older = chunk[:12] + bytes(4) + chunk[16:]
        log.journal.stored[TOPIC_ID, 0][0] = begin, end, older
    log.restart(LeftAs.KILLED)
    assert is_refused(log)
    do(jobs)
    assert log.partition().segments[0].path in disk.synced


@pytest.mark.parametrize("missing", [0, 1])
def test_the_journal_goes_on_where_files_are_known_to_be_synced(tmp_path: Path, missing: int) -> None:
    """It has given back what is before."""
    jobs = Jobs()
    log, disk = killed(tmp_path, jobs)
    log.partition().segments[0].sync()
    for _ in range(3):
        log.partition().append(batch(500))
        log.partition().flush()
        log.tick(10)
    del log.journal.stored[TOPIC_ID, 0][: 4 + missing]
    log.restart(LeftAs.KILLED)
    disk.synced = []
    assert is_refused(log) is bool(missing)
    do(jobs)
    assert disk.synced == [log.partition().segments[0].path] * missing
    assert log.partition().high_watermark == 7


def test_a_loss_of_power_takes_nothing_that_only_the_journal_had_synced(tmp_path: Path) -> None:
    jobs = Jobs()
    log, _ = killed(tmp_path, jobs)
    whole = everything(log.partition())
    log.partition().append(batch(500))
    path = log.partition().segments[0].path
    log.restart(LeftAs.POWER_LOST)
    os.truncate(path, 700)
    assert log.manager.open(TOPIC_ID, 0) is not None
    do(jobs)
    assert log.partition().high_watermark == 5
    assert everything(log.partition())[: len(whole)] == whole


def test_a_file_that_cannot_be_synced_is_poison_and_not_used(tmp_path: Path) -> None:
    jobs = Jobs()
    log, disk = killed(tmp_path, jobs, in_journal=0)
    disk.broken = True
    assert is_refused(log)
    do(jobs)
    assert len(log.poisoned) == 1
    assert is_refused(log)


def test_a_partition_that_is_led_elsewhere_by_then(tmp_path: Path) -> None:
    jobs = Jobs()
    log, _ = killed(tmp_path, jobs, in_journal=0)
    assert is_refused(log)
    log.manager.release(TOPIC_ID, 0)
    do(jobs)
    assert not log.manager._proving
    assert not log.poisoned


def test_a_directory_that_got_something_new_is_synced_again(tmp_path: Path) -> None:
    """Also when that came while it was synced (36)."""
    disk = Syncs()
    above = Above(disk)
    topic = tmp_path / "streams" / "topic"
    first, second, third = (str(topic / name) for name in "abc")
    everything_above = [str(one) for one in Path(first).parents[:DIRECTORIES_ABOVE]]
    for path in (first, second):
        above.make(path)
    above.sync(first)
    above.sync(second)
    assert disk.synced == everything_above
    disk.synced = []
    with above.making(third):
        above.sync(first)
        os.mkdir(third)
    above.sync(third)
    above.sync(first)
    assert disk.synced == [str(topic)] * 2
    above.forget(str(topic))
    above.sync(first)
    assert disk.synced == [str(topic)] * 3


def test_what_a_stop_opens_is_not_left_to_a_thread(tmp_path: Path) -> None:
    """Its error would be told when the stop is over, and called clean: the next sync of the file succeeds."""
    jobs = Jobs()
    log, disk = killed(tmp_path, jobs, in_journal=0)
    del log.journal.stored[TOPIC_ID, 0]
    log.restart(LeftAs.KILLED)

    def thread(*job: Any) -> None:
        jobs.append(job)
        do(deque([(job[0], lambda _: None)]))
        disk.broken = False

    log.manager.ports.in_background = thread
    disk.broken = True
    assert not log.manager.close()
    assert log.poisoned
    assert not jobs
