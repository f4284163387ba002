"""Deleted files go in a thread, and nobody meets one there that has its name since."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kproto.directory import LeftAs
from kproto.disk import Disk
from kproto.log.files import DELETED
from kproto.log.ports import Done
from kproto.log.trash import AT_ONCE, Trash
from tests.log.support import Log, batch


class Background:
    """A thread's place: what it was given waits until `work`."""

    def __init__(self) -> None:
        self.jobs: list[tuple[Callable[[], object], Done]] = []
        self.rounds = 0

    def submit(self, call: Callable[[], object], done: Done) -> None:
        self.jobs.append((call, done))

    def work(self) -> None:
        call, done = self.jobs.pop(0)
        call()
        done(None)

    def note(self) -> None:
        self.rounds += 1


def files(path: Path, *names: str) -> list[str]:
    path.mkdir(exist_ok=True)
    for name in names:
        (path / name).write_bytes(b"old")
    return [str(path / name) for name in names]


def finish(trash: Trash, background: Background, now: float = 0.0) -> None:
    for _ in range(100):
        while background.jobs:
            background.work()
        if not trash.is_due(now):
            return
        trash.remove_some()
    raise AssertionError("it never ends")


def test_a_file_goes_in_the_thread_and_its_name_is_free_at_once(tmp_path: Path) -> None:
    background = Background()
    trash = Trash(Disk(), background.submit, background.note)
    (path,) = files(tmp_path, "one")
    trash.add(1.0, path)
    assert not trash.is_due(0.9)
    assert trash.is_due(1.0)
    trash.remove_some()
    assert trash.busy
    assert os.listdir(tmp_path) == ["one" + DELETED]
    files(tmp_path, "one")
    background.work()
    assert (trash.busy, background.rounds, os.listdir(tmp_path)) == (False, 1, ["one"])


def test_what_is_taken_back_while_the_thread_is_at_it_stays(tmp_path: Path) -> None:
    background = Background()
    trash = Trash(Disk(), background.submit, background.note)
    partition = tmp_path / "p"
    names = [f"{number:02}" for number in range(AT_ONCE + 5)]
    files(partition, *names)
    trash.lend(0.0, str(partition))
    assert trash.is_due(0.0)
    trash.remove_some()  # looks into it
    trash.remove_some()
    gone = {name.removesuffix(DELETED) for name in os.listdir(partition) if name.endswith(DELETED)}
    assert len(gone) == AT_ONCE
    trash.take_back(str(partition))
    again = gone.pop()
    files(partition, again)
    finish(trash, background)
    assert sorted(os.listdir(partition)) == sorted({*names} - gone)
    trash.lend(0.0, str(partition))
    finish(trash, background)
    assert not partition.exists()


def test_a_directory_goes_with_all_that_is_in_it(tmp_path: Path) -> None:
    background = Background()
    trash = Trash(Disk(), background.submit, background.note)
    stream = tmp_path / "stream"
    stream.mkdir()
    for number in range(3):
        files(stream / str(number), *(f"{n}" for n in range(AT_ONCE + 1)), "left" + DELETED)
    (stream / "empty").mkdir()
    trash.add(0.0, str(stream))
    trash.add(0.0, str(tmp_path / "missing"))
    finish(trash, background)
    assert (os.listdir(tmp_path), len(trash)) == ([], 0)


class Broken(Disk):
    """Cannot remove one file, and has no room for longer names if ``full``."""

    def __init__(self, stays: str = "", full: bool = False) -> None:
        self.stays = stays
        self.full = full

    def unlink(self, path: str) -> None:
        if self.stays and self.stays in path:
            raise OSError(errno.EIO, "made up")
        super().unlink(path)

    def rename(self, source: str, target: str) -> None:
        if self.full:
            raise OSError(errno.ENOSPC, "made up")
        super().rename(source, target)


def test_what_cannot_be_removed_stays_and_ends_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    background = Background()
    trash = Trash(Broken("bad"), background.submit, background.note)
    files(tmp_path / "p", "bad", "good")
    trash.add(0.0, str(tmp_path / "p"))
    finish(trash, background)
    assert os.listdir(tmp_path / "p") == ["bad" + DELETED]
    assert [record.message.split(":")[0] for record in caplog.records] == [
        "a deleted file stays",
        "a deleted directory stays",
    ]


def test_a_directory_that_cannot_be_looked_into_stays_and_holds_nothing_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It was tried again and again, and nothing else of the log was looked after."""

    class Unreadable(Disk):
        def listdir(self, path: str) -> list[str]:
            if path.endswith("bad"):
                raise PermissionError(errno.EACCES, "made up")
            return super().listdir(path)

    background = Background()
    trash = Trash(Unreadable(), background.submit, background.note)
    for name in ("bad", "good"):
        files(tmp_path / name, "one")
        trash.add(0.0, str(tmp_path / name))
    finish(trash, background)
    assert (os.listdir(tmp_path), os.listdir(tmp_path / "bad")) == (["bad"], ["one"])
    assert ["made up" in record.message for record in caplog.records] == [True]
    trash._disk = Disk()
    trash.add(0.0, str(tmp_path / "bad"))
    finish(trash, background)
    assert os.listdir(tmp_path) == []


def test_a_full_disk_gets_its_room_back(tmp_path: Path) -> None:
    background = Background()
    trash = Trash(Broken(full=True), background.submit, background.note)
    for path in files(tmp_path, "one", "two"):
        trash.add(0.0, path)
    finish(trash, background)
    assert os.listdir(tmp_path) == []


def test_what_a_killed_process_was_about_to_remove_goes_when_its_partition_is_opened(tmp_path: Path) -> None:
    log = Log(tmp_path)
    partition = log.partition()
    partition.append(batch(b"x"))
    assert partition.flush()
    directory = Path(partition.directory)
    (left,) = files(directory, "00000000000000000007.00000.00000000000000000007.chunks" + DELETED)
    log.tick(6.0)
    log.restart(LeftAs.KILLED)
    assert log.partition().log_end_offset == 1
    log.tick(1.0)
    log.tick(6.0)
    assert not os.path.exists(left)


def test_deleted_segments_go_one_batch_after_the_other(tmp_path: Path) -> None:
    background = Background()
    log = Log(tmp_path, {"segment.ms": "1000", "file.delete.delay.ms": "0"}, in_background=background.submit)
    partition = log.partition()
    for number in range(3 * AT_ONCE):
        partition.append(batch(b"x", time=number * 10_000))
        partition.flush()
    partition.delete_records(-1)
    for _ in range(4):
        log.tick(6.0)
    assert len(background.jobs) == 1
    rounds = 0
    while background.jobs:
        background.work()
        log.run_deferred()
        rounds += 1
    assert rounds > 3
    assert [path for path in tmp_path.rglob("*.chunks*") if str(path) != partition.segments[-1].path] == []


def test_after_a_stop_nothing_more_is_begun(tmp_path: Path) -> None:
    background = Background()
    trash = Trash(Disk(), background.submit, background.note)
    for path in files(tmp_path, *(f"{n}" for n in range(2 * AT_ONCE))):
        trash.add(0.0, path)
    assert trash.is_due(0.0)
    trash.remove_some()
    trash.close()
    background.work()
    assert not trash.is_due(0.0)
    assert len(os.listdir(tmp_path)) == AT_ONCE


class Killed(Exception):
    """The process ends here."""


def test_a_kill_between_the_files_of_a_segment_leaves_none_for_ever(tmp_path: Path) -> None:
    class Killing(Disk):
        armed = False

        def rename(self, source: str, target: str) -> None:
            super().rename(source, target)
            if self.armed:
                raise Killed

    disk = Killing()
    log = Log(tmp_path, {"segment.ms": "1000", "file.delete.delay.ms": "0"}, disk=disk)
    partition = log.partition()
    for number in range(3):
        partition.append(batch(5000, time=1_700_000_000_000 + number * 10_000))
        partition.flush()
    partition.delete_records(2)
    disk.armed = True
    with pytest.raises(Killed):
        log.tick(6.0)
    disk.armed = False
    log.restart(LeftAs.KILLED)
    log.partition()
    for _ in range(5):
        log.tick(60.0)
    stems = {path.name.split(".")[2] for path in (tmp_path / "streams").rglob("*") if path.is_file()}
    assert stems == {f"{2:020}"}


@pytest.mark.parametrize("before", [LeftAs.POWER_LOST, LeftAs.CLEAN])
def test_what_a_clean_stop_left_to_be_removed_is_not_removed_in_use(tmp_path: Path, before: LeftAs) -> None:
    """After a loss of power a start looks for files, and takes the last one into use again."""
    log = Log(tmp_path)
    log.partition()
    log.restart(before)
    log.partition().append(batch(b"a"))
    assert log.partition().flush()
    assert log.partition().delete_records(-1) == 1
    log.restart(LeftAs.CLEAN)
    log.partition().append(batch(b"b"))
    assert log.partition().flush()
    log.tick(70.0)
    log.partition().append(batch(b"c"))
    assert log.partition().flush()
    log.tick(70.0)
    assert not log.poisoned
    log.journal.stored.clear()
    log.restart(LeftAs.KILLED)
    assert (log.partition().log_start_offset, log.partition().log_end_offset) == (1, 3)


def test_what_a_kill_left_to_be_removed_goes_though_nobody_opens_it_before_a_clean_stop(
    tmp_path: Path,
) -> None:
    """The thread had not come to it. After a clean stop no start looks for it."""
    background = Background()
    log = Log(tmp_path, {"file.delete.delay.ms": "0"}, in_background=background.submit)
    log.partition().append(batch(b"a"))
    assert log.partition().flush()
    log.partition().delete_records(-1)
    for _ in range(3):
        log.tick(6.0)
        while background.jobs and not list(tmp_path.rglob("*" + DELETED)):
            background.work()
    assert list(tmp_path.rglob("*" + DELETED))
    log.in_background = None
    log.restart(LeftAs.KILLED)
    log.restart(LeftAs.CLEAN)
    log.tick(70.0)
    log.tick(70.0)
    assert not list(tmp_path.rglob("*" + DELETED))
