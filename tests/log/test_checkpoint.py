"""A checkpoint that is not what the last process left: nothing is believed that it would have said."""

from __future__ import annotations

import errno
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kproto.directory import LeftAs
from kproto.disk import Disk, SyncError
from kproto.log import checkpoint
from kproto.log.checkpoint import Checkpoint, Entry, Found
from tests.log.support import TOPIC_ID, Jobs, Log, batch, do

FILES = {"kproto.segment.file.bytes": "65536"}


def flip(position: int) -> Callable[[Path], object]:
    def damage(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[position] ^= 0xFF
        path.write_bytes(content)

    return damage


def zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def hole(path: Path) -> None:
    """Somebody deleted it under a broker, which wrote the next frame to where it had been."""
    content = path.read_bytes()
    path.write_bytes(bytes(100) + content[100:])


@pytest.mark.parametrize("damage", [Path.unlink, zeros, flip(0), flip(40), hole])
def test_after_a_clean_stop_all_files_are_found_without_a_sound_checkpoint(
    tmp_path: Path, damage: Callable[[Path], object], caplog: pytest.LogCaptureFixture
) -> None:
    log = Log(tmp_path, FILES)
    for _ in range(60):
        log.partition().append(batch(5_000))
    log.restart(LeftAs.CLEAN)
    assert log.partition().log_end_offset == 60
    log.restart(LeftAs.CLEAN)
    damage(tmp_path / "checkpoint")
    with caplog.at_level(logging.ERROR):
        log.restart(LeftAs.CLEAN)
    assert "all files are looked at" in caplog.text
    assert log.partition().log_end_offset == 60
    assert log.partition().append(batch(b"next"))[0] == 60


@pytest.mark.parametrize("left_as", [LeftAs.CLEAN, LeftAs.KILLED])
def test_what_was_in_a_lost_checkpoint_is_not_believed_by_later_starts_either(
    tmp_path: Path, left_as: LeftAs
) -> None:
    """Nobody opens the partition in between, so no new checkpoint has it."""
    log = Log(tmp_path, FILES)
    log.partition().append(batch(5_000))
    log.restart(LeftAs.CLEAN)
    os.unlink(tmp_path / "checkpoint")
    log.restart(left_as)
    assert log.manager.checkpointing.file.get(TOPIC_ID, 0) is None
    for later in (LeftAs.KILLED, LeftAs.CLEAN, LeftAs.CLEAN):
        log.restart(later)
    assert log.partition().log_end_offset == 1


def test_a_frame_in_the_middle_that_is_damaged_costs_no_file(tmp_path: Path) -> None:
    """What is before it names one file of several."""
    log = Log(tmp_path, FILES)
    log.partition().append(batch(5_000))
    assert log.partition().flush()
    log.tick(10)
    first = len((tmp_path / "checkpoint").read_bytes().rstrip(b"\0"))
    for _ in range(60):
        log.partition().append(batch(5_000))
    log.restart(LeftAs.CLEAN)
    flip(first + 20)(tmp_path / "checkpoint")
    log.restart(LeftAs.CLEAN)
    assert log.partition().log_end_offset == 61


def test_a_frame_that_a_killed_process_tore_is_nothing_unusual(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = Log(tmp_path)
    log.partition().append(batch(5_000))
    log.restart(LeftAs.CLEAN)
    path = tmp_path / "checkpoint"
    path.write_bytes(path.read_bytes().rstrip(b"\0") + b"KP torn")
    log.restart(LeftAs.KILLED)
    assert log.manager.checkpointing.file.exact
    assert not caplog.records
    assert log.partition().log_end_offset == 1


@pytest.mark.parametrize("left_as", [LeftAs.POWER_LOST, LeftAs.KILLED])
def test_a_full_disk_is_no_reason_not_to_start(tmp_path: Path, left_as: LeftAs) -> None:
    class FullDisk(Disk):
        full = False

        def write_atomically(self, path: str, content: bytes, *, sync: bool = True) -> None:
            if self.full:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
            super().write_atomically(path, content, sync=sync)

    disk = FullDisk()
    log = Log(tmp_path, disk=disk)
    log.partition().append(batch(5_000))
    assert log.partition().flush()
    log.tick(10)
    if left_as is LeftAs.KILLED:
        os.unlink(tmp_path / "checkpoint")
    disk.full = True
    log.restart(left_as)
    assert not log.manager.checkpointing.noted
    assert not log.manager.checkpointing.file.exact
    assert log.partition().log_end_offset == 1


class Threads(Disk):
    """Notes which files are synced while the loop runs, and fails on demand."""

    def __init__(self) -> None:
        self.on_the_loop: list[str] = []
        self.in_thread = False
        self.broken = False

    def datasync(self, fd: int) -> None:
        if self.broken:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        if not self.in_thread:
            self.on_the_loop.append(os.path.basename(os.readlink(f"/proc/self/fd/{fd}")))
        super().datasync(fd)


@pytest.mark.parametrize("broken", [False, True])
def test_a_thread_syncs_what_deleted_files_wait_for(tmp_path: Path, broken: bool) -> None:
    """On a slow disk that takes seconds, in which nobody was served."""
    disk, jobs = Threads(), Jobs()
    log = Log(tmp_path, {"file.delete.delay.ms": "0"}, disk=disk, in_background=lambda *job: jobs.append(job))
    log.partition().append(batch(5_000))
    assert log.partition().flush()
    path = log.partition().segments[-1].path
    log.tick(10)
    log.partition().delete_records(1)
    disk.broken = broken
    for _ in range(3):
        log.tick(1)
    assert "checkpoint" not in disk.on_the_loop
    assert not log.manager.checkpointing.deletions.all_known
    assert len(jobs) == 1
    while jobs:
        job, done = jobs.popleft()
        disk.in_thread, failure = True, None
        try:
            job()
        except OSError as error:
            failure = error
        disk.in_thread = False
        done(failure)
        log.run_deferred()
    assert log.manager.checkpointing.deletions.all_known is not broken
    assert os.path.exists(path) is broken
    assert bool(log.poisoned) is broken


class NoNames(Disk):
    """One sync of a directory fails, with ``error``."""

    error: OSError | None = None

    def sync_directory(self, path: str) -> None:
        error, self.error = self.error, None
        if error is not None:
            raise error
        super().sync_directory(path)


NO_SYNC = SyncError(errno.EIO, os.strerror(errno.EIO))
CROWDED = OSError(errno.EMFILE, os.strerror(errno.EMFILE))


@pytest.mark.parametrize("error", [NO_SYNC, CROWDED])
def test_what_follows_a_file_that_was_written_anew_is_in_no_hole(
    tmp_path: Path, error: OSError, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had the name already when its directory could not be synced. The frame went where the old one ended,
    was synced, and no start found it: neither the log start of what was deleted then."""
    monkeypatch.setattr(checkpoint, "_REWRITE_BYTES", 1)
    disk = NoNames()
    file = Checkpoint(disk, str(tmp_path))
    entry = Entry(*range(11))
    for sync in (True, False, False):
        file.write([(TOPIC_ID, 0, entry)], b"", sync=sync)
    assert file.is_long
    file.anew()()
    file.take_anew()
    assert not file.is_long
    disk.error = error
    newer = entry._replace(log_start=100)
    with pytest.raises(OSError, match=os.strerror(error.errno or 0)):
        file.write([(TOPIC_ID, 0, newer)], b"point", sync=True)
    file.write([(TOPIC_ID, 0, newer)], b"point", sync=True)
    found = Checkpoint(Disk(), str(tmp_path))
    assert (found.get(TOPIC_ID, 0), found.point) == (newer, b"point")


def test_a_file_that_says_nothing_twice_is_not_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the point is most of it, it was written anew all the time, and nothing else was written: of
    deletions, above all, so that journal files stayed for ever (seed 30231747)."""
    monkeypatch.setattr(checkpoint, "_REWRITE_BYTES", 500)
    file = Checkpoint(Disk(), str(tmp_path))
    for _ in range(3):
        file.write([(TOPIC_ID, 0, Entry(*range(11)))], bytes(400))
    assert file.is_long
    file.anew()()
    file.take_anew()
    assert not file.is_long


class NoSpareSync(Disk):
    """The file beside the checkpoint cannot be synced, or written."""

    number = errno.EIO

    def write_beside(self, path: str, content: bytes, *, sync: bool = True) -> None:
        super().write_beside(path, content, sync=sync)
        raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize("what", ["sync", "write"])
def test_what_is_no_want_of_room_is_poison(
    tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was tried again a second later; a sync that says so then does not speak of what was lost (35)."""
    jobs = Jobs()
    log = Log(tmp_path, disk=NoSpareSync(), in_background=lambda *job: jobs.append(job))
    log.partition().append(batch(5_000))
    assert log.partition().flush()
    checkpointing = log.manager.checkpointing
    with monkeypatch.context() as patch:
        if what == "sync":
            make_long(log, patch)
        else:
            patch.setattr(Disk, "pwritev", lambda *_: broken())
        assert not checkpointing.tick(log.clock.monotonic() + 1000, 1.0)
        do(jobs)
    assert log.poisoned == [f"the checkpoint: [Errno {errno.EIO}] {os.strerror(errno.EIO)}"]


def make_long(log: Log, patch: pytest.MonkeyPatch) -> None:
    """Its checkpoint says everything many times."""
    patch.setattr(checkpoint, "_REWRITE_BYTES", 1000)
    log.manager.checkpointing.file._enough = 1000
    log.partition().append(batch(5_000))
    assert log.partition().flush()
    while not log.manager.checkpointing.file.is_long:
        log.manager.checkpointing.note_down([log.partition()])


def test_a_thread_writes_the_file_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its sync, and that of the directory, kept all clients waiting: on a slow disk for seconds."""
    disk, jobs = Threads(), Jobs()
    log = Log(tmp_path, disk=disk, in_background=lambda *job: jobs.append(job))
    make_long(log, monkeypatch)
    disk.on_the_loop.clear()
    for _ in range(3):
        log.tick(10)
    assert len(jobs) == 1
    assert not disk.on_the_loop
    disk.in_thread = True
    do(jobs)
    disk.in_thread = False
    log.tick(10)
    assert not log.manager.checkpointing.file.is_long
    assert log.manager.checkpointing.file._named is False
    assert not disk.on_the_loop
    expected = log.manager.checkpointing.file.get(TOPIC_ID, 0)
    assert Checkpoint(Disk(), str(tmp_path)).get(TOPIC_ID, 0) == expected


@pytest.mark.parametrize("sync", [False, True])
def test_what_was_written_meanwhile_is_not_lost_with_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sync: bool
) -> None:
    jobs = Jobs()
    log = Log(tmp_path, in_background=lambda *job: jobs.append(job))
    make_long(log, monkeypatch)
    log.tick(10)
    log.partition().append(batch(5_000))
    assert log.partition().flush()
    log.manager.checkpointing.note_down([log.partition()], sync)
    do(jobs)
    assert Checkpoint(Disk(), str(tmp_path)).get(TOPIC_ID, 0) == log.partition().entry()
    assert log.manager.checkpointing.file.is_long is sync
    log.manager.checkpointing.note_down([log.partition()])
    found = Checkpoint(Disk(), str(tmp_path))
    assert (found.found, found._size) == (Found.WHOLE, log.manager.checkpointing.file._size)
    log.tick(10)
    assert len(jobs) == sync


def test_who_writes_all_the_time_holds_up_no_deletion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time the thread had worked for nothing, and began anew: until the clients stopped nothing that
    was due was written, and no file of deleted data went."""
    jobs = Jobs()
    log = Log(tmp_path, in_background=lambda *job: jobs.append(job))
    make_long(log, monkeypatch)
    checkpointing = log.manager.checkpointing
    checkpointing.sync_soon(log.partition())
    for _ in range(3):
        log.tick(10)
        checkpointing.note_down([log.partition()])
        do(jobs)
    assert checkpointing.deletions.all_known


def test_without_room_for_another_file_the_old_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk, jobs = NoSpareSync(), Jobs()
    disk.number = errno.ENOSPC
    log = Log(tmp_path, disk=disk, in_background=lambda *job: jobs.append(job))
    make_long(log, monkeypatch)
    log.tick(10)
    do(jobs)
    assert not (tmp_path / "checkpoint.tmp").exists()
    log.partition().append(batch(5_000))
    assert log.partition().flush()
    log.tick(10)
    assert not jobs
    assert not log.poisoned
    assert Checkpoint(Disk(), str(tmp_path)).get(TOPIC_ID, 0) == log.partition().entry()


def broken() -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.mark.parametrize(("left_as", "told"), [(LeftAs.CLEAN, True), (LeftAs.KILLED, False)])
def test_that_all_is_gone_is_told_but_not_of_a_start_that_came_to_nothing(
    tmp_path: Path, left_as: LeftAs, told: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """A clean stop has left a checkpoint. Who was killed, or failed, before there was any log left none."""
    log = Log(tmp_path)
    log.partition().append(batch(b"x"))
    log.restart(LeftAs.CLEAN)
    shutil.rmtree(tmp_path / "streams")
    (tmp_path / "checkpoint").unlink()
    with caplog.at_level(logging.ERROR):
        log.restart(left_as)
    assert ("all files are looked at" in caplog.text) is told


def test_a_checkpoint_says_nothing_of_what_is_not_in_its_file_yet(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An open segment without anything follows; the chunk before it was never in the journal."""
    log = Log(tmp_path, automatic=False)
    partition = log.partition()
    partition.append(batch(b"a"))
    partition.flush()
    partition.append(batch(b"b"))
    partition.roll_group()
    entry = partition.entry()
    assert entry.next_offset == 1
    log.manager.checkpointing.note_down([partition])
    log.restart(LeftAs.KILLED)
    assert log.partition().log_end_offset == 1
    assert "are lost" not in caplog.text


def test_a_log_without_files_does_not_begin_behind_what_never_was_in_one(tmp_path: Path) -> None:
    """Nor in the journal: an open segment without anything follows it."""
    log = Log(tmp_path, automatic=False)
    partition = log.partition()
    partition.append(batch(b"a"))
    partition.roll_group()
    log.manager.checkpointing.note_down([partition])
    log.restart(LeftAs.KILLED)
    assert (log.partition().log_start_offset, log.partition().log_end_offset) == (0, 0)
