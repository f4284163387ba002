"""All partitions together: topics that come and go, full and failing disks, many partitions, restarts."""

from __future__ import annotations

import errno
import gc
import logging
import os
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kproto.directory import LeftAs
from kproto.disk import Buffer, Disk, SyncError
from kproto.errors import ErrorCode, KafkaError
from kproto.log import checkpointing, due
from kproto.log.checkpoint import Checkpoint, Entry
from tests.log.support import TOPIC_ID, Log, batch, everything, image
from tests.log.test_segments import files, fill


class FaultyDisk(Disk):
    """Writes to chunk files fail with ``error`` while it is set."""

    def __init__(self) -> None:
        self.error = 0

    def open(self, path: str, *, create: bool = False, write: bool = True) -> int:
        if self.error and path.endswith(".chunks") and create:
            raise OSError(self.error, os.strerror(self.error), path)
        return super().open(path, create=create, write=write)

    def pwritev(self, fd: int, buffers: Sequence[Buffer], position: int, length: int = -1) -> int:
        if self.error and os.readlink(f"/proc/self/fd/{fd}").endswith(".chunks"):
            raise OSError(self.error, os.strerror(self.error))
        return super().pwritev(fd, buffers, position, length)


def test_unknown_partitions(tmp_path: Path) -> None:
    log = Log(tmp_path, partitions=2)
    assert log.manager.partition(TOPIC_ID, 2) is None
    assert log.manager.partition(TOPIC_ID, -1) is None
    assert log.manager.partition(bytes(16), 0) is None
    assert log.manager.partition(TOPIC_ID, 1) is log.manager.partition(TOPIC_ID, 1)


def test_a_partition_that_is_added_later_is_served(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.partitions, log.revision = 5, 2
    log.manager.apply_image(log.image())
    assert log.partition(4).append(batch(b"x"))[0] == 0


def test_a_deleted_topic_goes_with_its_files(tmp_path: Path) -> None:
    log = Log(tmp_path, {"file.delete.delay.ms": "5000"}, partitions=2)
    for index in range(2):
        fill(log, 3, 1000, index)
    assert log.manager.flushing.flush_all()
    segment = log.partition().segments[0]
    called: list[int] = []
    log.partition().waiters.append(lambda: called.append(1))
    empty: dict[str, Any] = {"topics": {}, "topics_by_id": {}, "streamlets": {}}
    log.revision = 2
    log.manager.apply_image(log.image(**empty))
    assert called == [1]
    assert log.manager.partition(TOPIC_ID, 0) is None
    assert segment.synced >= segment.size, "the journal needs to keep nothing for it"
    assert log.manager.settled(TOPIC_ID, 0, 3)
    assert log.manager.pool.used == 0
    log.tick(4.0)
    assert len(files(log)) == 2
    log.tick(2.0)
    assert os.listdir(tmp_path / "streams") == []


def test_directories_without_metadata_are_removed_at_start(tmp_path: Path) -> None:
    stale = tmp_path / "streams" / ("ab" * 16) / "00000.00000"
    stale.mkdir(parents=True)
    (stale / "x.chunks").write_bytes(b"old")
    log = Log(tmp_path)
    log.tick(1.0)
    assert stale.exists()
    log.tick(61.0)
    assert not stale.parent.exists()


def test_a_start_warns_of_what_it_will_remove(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where the metadata is another one by mistake, that is all the data there is: a line of INFO said so."""
    names = [f"{number:032x}" for number in range(100, 103)]
    for name in names:
        (tmp_path / "streams" / name).mkdir(parents=True)
    log = Log(tmp_path, settings={"log.segment.delete.delay.ms": "90000"})
    (record,) = [record for record in caplog.records if "removed" in record.getMessage()]
    assert record.levelno == logging.WARNING
    said = record.getMessage()
    assert said.startswith(f"what {tmp_path / 'streams'} has of topics that the metadata does not know")
    assert "removed in 90 s" in said
    assert said.endswith("to keep it, stop this broker before: " + ", ".join(names))
    log.tick(80.0)
    log.restart(LeftAs.CLEAN)
    assert set(names) <= set(os.listdir(tmp_path / "streams"))
    log.partition().append(batch(1))
    assert log.partition().flush()
    names += [f"{number:032x}" for number in range(103, 120)]
    for name in names[3:]:
        (tmp_path / "streams" / name).mkdir()
    caplog.clear()
    log.restart(LeftAs.CLEAN)
    (said,) = [message for message in caplog.messages if "removed" in message]
    assert said.endswith(": " + ", ".join(names[:5]) + " and 15 more")
    log.tick(91.0)
    caplog.clear()
    log.restart(LeftAs.CLEAN)
    assert caplog.messages == []
    assert os.listdir(tmp_path / "streams") == [TOPIC_ID.hex()]


def test_configs_and_leader_epochs_follow_the_image(tmp_path: Path) -> None:
    log = Log(tmp_path)
    partition = log.partition()
    partition.append(batch(1000))
    called: list[int] = []
    partition.waiters.append(lambda: called.append(partition.leader_epoch))
    log.configs["max.message.bytes"] = "500"
    log.revision, log.epoch = 2, 7
    log.manager.apply_image(log.image())
    assert called == [7]
    with pytest.raises(KafkaError) as caught:
        partition.append(batch(1000))
    assert caught.value.code == ErrorCode.MESSAGE_TOO_LARGE
    partition.append(batch(10))
    assert partition.epoch_of(1) == 7
    log.configs.clear()
    log.revision = 9
    log.manager.apply_image(replace(log.image(), base_revision=8, touched=frozenset()))
    assert partition.append(batch(1000))[0] == 2, "an image that skips revisions is compared as a whole"


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EMFILE])
def test_a_full_disk_loses_nothing_and_heals(tmp_path: Path, error: int) -> None:
    disk = FaultyDisk()
    settings = {"kproto.log.memory.bytes": "1048576", "kproto.flush.bytes": "65536"}
    log = Log(tmp_path, settings=settings, disk=disk)
    partition = log.partition()
    fill(log, 10, 10_000)
    disk.error = error
    with pytest.raises(KafkaError) as caught:
        fill(log, 1000, 10_000)
    assert caught.value.code == ErrorCode.KAFKA_STORAGE_ERROR
    end = partition.log_end_offset
    assert len(everything(partition)) == partition.size_bytes(), "reads go on"
    assert log.manager.pool.used <= 1048576
    assert not log.poisoned
    disk.error = 0
    log.tick(2.0)
    log.tick(6.0)
    assert partition.dirty_bytes == 0
    assert partition.append(batch(10_000))[0] == end
    log.restart(LeftAs.CLEAN)
    assert log.partition().log_end_offset == end + 1
    assert len(everything(log.partition())) == log.partition().size_bytes()


def test_any_other_write_error_poisons_the_directory(tmp_path: Path) -> None:
    disk = FaultyDisk()
    log = Log(tmp_path, disk=disk)
    log.partition().append(batch(b"x"))
    disk.error = errno.EIO
    log.tick(6.0)
    assert len(log.poisoned) == 1
    assert "Input/output error" in log.poisoned[0]


def test_dirty_partitions_are_written_by_age_by_size_and_before_the_stop(tmp_path: Path) -> None:
    log = Log(tmp_path, partitions=3)
    fill(log, 1, 1000, 0)
    assert log.partition(0).dirty_bytes > 0
    log.tick(4.0)
    assert log.partition(0).dirty_bytes > 0
    log.tick(2.0)
    assert log.partition(0).dirty_bytes == 0
    fill(log, 3, 100_000, 1)
    assert log.partition(1).dirty_bytes < 200_000
    fill(log, 1, 10, 2)
    assert log.manager.close()
    assert [partition.dirty_bytes for partition in log.manager.partitions_open()] == [0, 0, 0]
    assert not [one for partition in log.manager.partitions_open() for one in partition.unsynced()]


def test_a_flush_for_a_direct_write_puts_the_bytes_into_the_file(tmp_path: Path) -> None:
    log = Log(tmp_path, automatic=False)
    partition = log.partition()
    partition.append(batch(b"direct" * 5000))
    _, segment, position, *_, length, _, block, start = log.journal.pending[0]
    segment.flush(position + length)
    assert segment.flushed == position + length
    with open(partition.segments[0].path, "rb") as file:
        assert file.read()[position : position + length] == bytes(block[start : start + length])
    assert segment.synced == 0
    segment.sync()
    assert segment.synced == position + length
    assert partition.synced_offset == 1


def test_a_torn_checkpoint_frame_is_ignored_and_written_over(tmp_path: Path) -> None:
    checkpoint = Checkpoint(Disk(), str(tmp_path))
    entries = [Entry(i, i, 0, 0, 0, i, 0, 0, 0, i, 0) for i in range(3)]
    checkpoint.write([(TOPIC_ID, i, entries[i]) for i in range(3)], b"first")
    whole = (tmp_path / "checkpoint").read_bytes().rstrip(b"\0")
    assert Checkpoint(Disk(), str(tmp_path)).get(TOPIC_ID, 2) == entries[2]
    checkpoint.write([(TOPIC_ID, 0, entries[2])], b"second")
    content = (tmp_path / "checkpoint").read_bytes()
    torn = bytearray(content)
    torn[len(content.rstrip(b"\0")) - 1] ^= 0xEE
    (tmp_path / "checkpoint").write_bytes(torn)
    again = Checkpoint(Disk(), str(tmp_path))
    assert again.point == b"first"
    assert again.get(TOPIC_ID, 0) == entries[0]
    assert (tmp_path / "checkpoint").read_bytes().rstrip(b"\0") == whole
    again.write([(TOPIC_ID, 1, entries[0])], b"third", sync=True)
    last = Checkpoint(Disk(), str(tmp_path))
    assert (last.point, last.get(TOPIC_ID, 1), last.get(TOPIC_ID, 2)) == (b"third", entries[0], entries[2])


def test_a_full_disk_can_be_freed_by_deleting(tmp_path: Path) -> None:
    """Files go after a checkpoint that knows, so the checkpoint must be writable on a full disk."""

    class FullDisk(Disk):
        full = False

        def allocate(self, fd: int, position: int, length: int) -> None:
            if self.full:
                raise OSError(errno.ENOSPC, "full")
            super().allocate(fd, position, length)

        def pwritev(self, fd: int, buffers: Sequence[Buffer], position: int, length: int = -1) -> int:
            if self.full and position + sum(map(len, buffers)) > os.fstat(fd).st_size:
                raise OSError(errno.ENOSPC, "full")
            return super().pwritev(fd, buffers, position, length)

        def write_atomically(self, path: str, content: bytes, *, sync: bool = True) -> None:
            if self.full:
                raise OSError(errno.ENOSPC, "full")
            super().write_atomically(path, content, sync=sync)

    disk = FullDisk()
    log = Log(tmp_path, {"file.delete.delay.ms": "0"}, disk=disk)
    fill(log, 5, 10_000)
    log.tick(6.0)
    log.tick(6.0)
    disk.full = True
    log.partition().delete_records(-1)
    for _ in range(4):
        log.tick(1.0)
    assert files(log) == []


def test_the_checkpoint_is_rewritten_when_most_of_it_is_old(tmp_path: Path) -> None:
    checkpoint = Checkpoint(Disk(), str(tmp_path))
    batch_of = [(TOPIC_ID, i, Entry(0, i, 0, 0, 0, 0, 0, 0, 0, 0, 0)) for i in range(2000)]
    for _ in range(60):
        checkpoint.write(batch_of, b"p")
        if checkpoint.is_long:
            checkpoint.anew()()
            checkpoint.take_anew()
    assert os.path.getsize(tmp_path / "checkpoint") < 7 << 20
    assert dict(Checkpoint(Disk(), str(tmp_path)).entries.items()) == dict(checkpoint.entries.items())


class Syncs(Disk):
    """Names of files that were synced; ``broken``: no segment file can be."""

    def __init__(self) -> None:
        self.synced: set[str] = set()
        self.broken = False

    def sync_file(self, path: str) -> None:
        if self.broken and path.endswith(".chunks"):
            raise SyncError(errno.EIO, "made up")
        super().sync_file(path)
        self.synced.add(os.path.basename(path))

    def sync_directory(self, path: str) -> None:
        super().sync_directory(path)
        self.synced.add(os.path.basename(path))


def left_by_a_killed_process(tmp_path: Path, disk: Disk) -> Log:
    """What was written was not synced, and the journal that is left need not have it."""
    log = Log(tmp_path, disk=disk)
    fill(log, 3, 100)
    log.partition().flush()
    log.journal.stored.clear()
    log.tick(6.0)
    log.tick(6.0)
    log.restart(LeftAs.KILLED)
    return log


@pytest.mark.parametrize("together", [False, True])
def test_a_clean_stop_syncs_what_a_killed_process_left_and_nobody_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: bool
) -> None:
    """A loss of power would take what the checkpoint counts; and no later stop was clean either."""
    disk, whole = Syncs(), list[str]()
    monkeypatch.setattr(checkpointing, "SYNC_ALL_FROM", 0 if together else 1)
    monkeypatch.setattr(os, "sync", lambda: whole.append("sync"))
    log = left_by_a_killed_process(tmp_path, disk)
    names = {path.name for path in (tmp_path / "streams").rglob("*") if path.suffix != ".index"}
    disk.synced.clear()
    assert log.manager.close()
    assert whole == ["sync"] * together
    assert names <= disk.synced, "sync(2) does not say whether it failed"
    log.restart(LeftAs.POWER_LOST)
    entry = log.manager.checkpointing.file.get(TOPIC_ID, 0)
    assert entry is not None
    assert (entry.flushed, entry.synced) == (os.path.getsize(files(log)[0]),) * 2
    assert log.partition().log_end_offset == 3


@pytest.mark.parametrize("together", [False, True])
def test_a_stop_is_not_clean_when_a_file_cannot_be_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: bool
) -> None:
    """With many files it was: nobody asked whether one had failed, and nothing was verified ever after."""
    monkeypatch.setattr(checkpointing, "SYNC_ALL_FROM", 0 if together else 1)
    disk = Syncs()
    log = Log(tmp_path, disk=disk)
    for _ in range(3):
        log.partition().append(batch(100))
    log.partition().flush()
    disk.broken = True
    assert not log.manager.close()
    assert log.poisoned


@pytest.mark.parametrize("together", [False, True])
def test_a_stop_is_not_clean_when_what_a_killed_process_left_cannot_be_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: bool
) -> None:
    monkeypatch.setattr(checkpointing, "SYNC_ALL_FROM", 0 if together else 1)
    disk = Syncs()
    log = left_by_a_killed_process(tmp_path, disk)
    disk.broken = True
    assert not log.manager.close()
    assert log.poisoned
    disk.broken = False
    log.restart(LeftAs.FAILED)
    entry = log.manager.checkpointing.file.get(TOPIC_ID, 0)
    assert entry is not None
    assert (entry.flushed, entry.synced) == (0, 0)


def test_stops_are_clean_after_a_crash_though_a_topic_was_deleted_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frames from before the deletion have its entries, which nobody would ever remove or prove."""
    log = left_by_a_killed_process(tmp_path, Disk())
    monkeypatch.setattr(log, "image", lambda: image(topic_id=bytes(range(16, 32))))
    log.restart(LeftAs.KILLED)
    assert list(log.manager.checkpointing.file.entries) == []
    assert log.manager.close()


def test_the_checkpoint_takes_the_journal_point_of_the_same_moment(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.manager.ports.scan_point = lambda: b"journal position 17"
    fill(log, 2, 100)
    log.tick(6.0)
    log.tick(6.0)
    log.restart(LeftAs.KILLED)
    assert log.manager.checkpointing.file.point == b"journal position 17"


def test_idle_partitions_cost_no_descriptor_buffer_or_list_entry(tmp_path: Path) -> None:
    log = Log(tmp_path, partitions=300)
    for index in range(300):
        log.partition(index).append(batch(100))
    log.journal.stored.clear()
    for _ in range(6):
        log.tick(30.0)
    manager = log.manager
    assert not manager.flushing.dirty
    assert manager.pool.used == 0
    assert not any(segment.blocks for one in manager.partitions_open() for segment in one.segments)
    assert len(manager.files) <= log.settings.kproto_open_files
    assert manager.tick(log.clock.monotonic()) is False


class CountingDisk(Disk):
    """How often files are opened, read and measured, and directories listed."""

    def __init__(self) -> None:
        self.calls = 0

    def open(self, path: str, *, create: bool = False, write: bool = True) -> int:
        self.calls += 1
        return super().open(path, create=create, write=write)

    def pread(self, fd: int, length: int, position: int) -> bytes:
        self.calls += 1
        return super().pread(fd, length, position)

    def size(self, fd: int) -> int:
        self.calls += 1
        return super().size(fd)

    def listdir(self, path: str) -> list[str]:
        self.calls += 1
        return super().listdir(path)


def test_what_is_due_to_be_written_at_once_is_written_a_part_in_each_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many partitions, or a few with very large chunks: others are served in between."""
    monkeypatch.setattr(due, "BYTES_A_TURN", 200_000)
    log = Log(tmp_path, partitions=5, settings={"kproto.flush.bytes": "40000"})
    partitions = [log.partition(index) for index in range(5)]
    for partition in partitions:
        partition.append(batch(60_000))
    left: list[int] = []
    while log.deferred:
        log.deferred.pop(0)()
        left.append(sum(bool(partition.dirty_bytes) for partition in partitions))
    assert left == [3, 1, 0]
    assert not log.manager.flushing.dirty


def test_five_thousand_partitions_are_cheap(tmp_path: Path) -> None:
    log = Log(tmp_path, partitions=5000)
    chunk = batch(100)
    for index in range(5000):
        log.partition(index).append(chunk)
        if index % 500 == 0:
            log.run_deferred()
    log.journal.stored.clear()
    log.disk = disk = CountingDisk()
    log.restart(LeftAs.CLEAN)
    gc.collect()
    tracemalloc.start()
    for index in range(5000):
        assert log.partition(index).log_end_offset == 1
    each = tracemalloc.get_traced_memory()[0] / 5000
    tracemalloc.stop()
    assert each < 10_000, "bytes per open, idle partition"
    assert disk.calls < 10, "a checkpoint names all segments: the start reads it, partitions read nothing"


def test_a_clean_start_opens_partitions_without_listing_directories(tmp_path: Path) -> None:
    log = Log(tmp_path, partitions=3)
    for index in range(3):
        fill(log, 2, 100, index)
    listed: list[str] = []

    class Watching(Disk):
        def listdir(self, path: str) -> list[str]:
            listed.append(path)
            return super().listdir(path)

    log.disk = Watching()
    log.restart(LeftAs.CLEAN)
    listed.clear()
    assert [log.partition(index).log_end_offset for index in range(3)] == [2, 2, 2]
    assert listed == []


def test_opening_that_fails_leaves_nothing_and_can_be_tried_again(tmp_path: Path) -> None:
    log = Log(tmp_path)
    fill(log, 3, 100)
    log.restart(LeftAs.KILLED)
    runs = log.manager.unopened.runs(TOPIC_ID, 0)
    good = runs[1]

    def unreadable(position: int, length: int) -> bytes:
        raise OSError(errno.EIO, "unreadable")

    runs[1] = good._replace(read=unreadable)
    with pytest.raises(OSError, match="unreadable"):
        log.manager.partition(TOPIC_ID, 0)
    assert not log.manager.flushing.dirty
    runs[1] = good
    assert log.partition().log_end_offset == 3
    assert len(everything(log.partition())) == log.partition().size_bytes()


def test_chunks_of_a_topic_that_was_deleted_meanwhile_hold_nothing_up(tmp_path: Path) -> None:
    """They used to be tried for ever, before all others, and no later stop was clean."""
    log = Log(tmp_path)
    fill(log, 3, 100)
    gone = (bytes(15) + b"d", 0)
    log.journal.stored = {gone: log.journal.stored[TOPIC_ID, 0], **log.journal.stored}
    log.restart(LeftAs.KILLED)
    for _ in range(2):
        log.manager.partition(*log.manager.to_open()[0])
    assert not log.manager.to_open()
    assert log.partition().log_end_offset == 3
    assert log.manager.close()


def test_a_gap_in_the_journal_ends_the_log_there(tmp_path: Path) -> None:
    log = Log(tmp_path)
    fill(log, 4, 100)
    del log.journal.stored[TOPIC_ID, 0][2]
    log.restart(LeftAs.KILLED)
    assert log.partition().log_end_offset == 2


def test_a_damaged_journal_chunk_is_never_served(tmp_path: Path) -> None:
    log = Log(tmp_path)
    fill(log, 4, 100)
    stored = log.journal.stored[TOPIC_ID, 0]
    base, end, data = stored[1]
    stored[1] = (base, end, data[:-3] + b"\xff\xff\xff")
    log.restart(LeftAs.KILLED)
    assert log.partition().log_end_offset == 1


def test_a_stop_before_the_journal_was_applied_is_not_clean(tmp_path: Path) -> None:
    """Else the next start would believe checkpoint entries that are older than the files."""
    log = Log(tmp_path, partitions=2)
    fill(log, 2, 100, 0)
    fill(log, 2, 100, 1)
    log.restart(LeftAs.KILLED)
    assert log.partition(0).log_end_offset == 2
    assert not log.manager.close()
    log.restart(LeftAs.KILLED)
    assert [log.partition(index).log_end_offset for index in range(2)] == [2, 2]
    assert log.manager.close()


def test_after_a_power_loss_no_later_start_believes_unsynced_bytes(tmp_path: Path) -> None:
    log = Log(tmp_path)
    fill(log, 3, 1000)
    assert log.partition().flush()
    log.tick(6.0)
    log.tick(6.0)
    with open(log.partition().segments[0].path, "r+b") as file:
        file.seek(1500)
        file.write(b"lost")
    log.restart(LeftAs.POWER_LOST)
    log.restart(LeftAs.KILLED)
    partition = log.partition()
    assert partition.log_end_offset == 3, "the journal has what the file lost"
    assert len(everything(partition)) == partition.size_bytes()


@pytest.mark.parametrize("there", [False, True], ids=["no file", "an empty one"])
def test_what_a_power_loss_took_as_a_whole_is_told_and_is_not_taken_for_deleted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, there: bool
) -> None:
    """Found by simulation (seed 8008546): the log began where the lost records had ended, without a word, and
    who had asked for nothing yet was told that its offset was out of range."""
    log = Log(tmp_path)
    fill(log, 3, 1000)
    assert log.partition().flush()
    log.tick(6.0)
    log.tick(6.0)
    path = Path(log.partition().segments[0].path)
    path.unlink()
    if there:
        path.touch()
    log.journal.stored = {}
    log.restart(LeftAs.POWER_LOST)
    partition = log.partition()
    assert (partition.log_start_offset, partition.log_end_offset) == (0, 0)
    assert "offsets 0 to 2 are lost" in caplog.text
    fill(log, 1, 1000)
    assert everything(partition)


def test_what_is_cut_off_a_file_stays_off_when_the_power_is_lost_again(tmp_path: Path) -> None:
    """Found by simulation: what was left was known to be synced, so nobody synced the file any more, and its
    damaged end came back behind what the checkpoint vouched for."""

    class Forgetful(Disk):
        """Gives every file its end back that was not synced away."""

        def __init__(self) -> None:
            self.ends: dict[int, bytes] = {}

        def truncate(self, fd: int, length: int) -> None:
            self.ends[fd] = os.pread(fd, 1 << 20, length)
            super().truncate(fd, length)

        def datasync(self, fd: int) -> None:
            super().datasync(fd)
            self.ends.pop(fd, None)

        def close(self, fd: int) -> None:
            end = self.ends.pop(fd, b"")
            os.pwrite(fd, end, os.fstat(fd).st_size)
            super().close(fd)

    log = Log(tmp_path)
    fill(log, 3, 1000)
    assert log.partition().flush()
    log.tick(6.0)
    path = log.partition().segments[0].path
    whole = os.path.getsize(path)
    with open(path, "ab") as file:
        file.write(b"damaged" * 100)
    log.disk = Forgetful()
    log.restart(LeftAs.POWER_LOST)
    assert log.partition().log_end_offset == 3
    assert log.manager.close()
    assert os.path.getsize(path) == whole


def test_the_log_start_may_lie_inside_a_chunk_that_only_the_journal_has(tmp_path: Path) -> None:
    log = Log(tmp_path)
    log.partition().append(batch(b"a", b"b", b"c"))
    log.partition().append(batch(b"d"))
    log.partition().delete_records(1)
    log.tick()
    log.restart(LeftAs.KILLED)
    partition = log.partition()
    assert (partition.log_start_offset, partition.log_end_offset) == (1, 4)
    assert partition.append(batch(b"e"))[0] == 4


def test_a_deleted_partition_takes_nothing(tmp_path: Path) -> None:
    log = Log(tmp_path)
    partition = log.partition()
    partition.append(batch(b"x"))
    log.revision = 2
    log.manager.apply_image(log.image(topics={}, topics_by_id={}, streamlets={}))
    with pytest.raises(KafkaError) as caught:
        partition.append(batch(b"x"))
    assert caught.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    log.tick(10.0)
    assert not log.manager.flushing.dirty


def test_a_journal_chunk_older_than_the_last_epoch_stays_out(tmp_path: Path) -> None:
    """Rule 25: what an earlier start could not use does not come back behind what was appended since."""
    log = Log(tmp_path)
    log.partition().append(batch(b"epoch 0", time=1))
    log.partition().append(batch(b"stale", time=2))
    stale = log.journal.stored[TOPIC_ID, 0].pop()
    log.restart(LeftAs.KILLED)
    assert log.partition().log_end_offset == 1
    log.partition().append(batch(b"epoch 1", time=3))
    base, end, data = stale
    again = bytearray(data)
    again[:8] = (2).to_bytes(8, "big")
    log.journal.stored[TOPIC_ID, 0].append((base + 1, end + 1, bytes(again)))
    log.restart(LeftAs.KILLED)
    stored = everything(log.partition())
    assert log.partition().log_end_offset == 2
    assert b"epoch 1" in stored
    assert b"stale" not in stored


def test_a_checkpoint_torn_behind_its_magic_is_the_end_of_it(tmp_path: Path) -> None:
    """Zeros are a sound checksum of nothing."""
    disk, key = Disk(), bytes(16)
    entry = Entry._make(range(11))
    Checkpoint(disk, str(tmp_path)).write([(key, 0, entry)], b"point")
    (path,) = [each for each in tmp_path.iterdir() if each.is_file()]
    content = path.read_bytes().rstrip(b"\0")
    path.write_bytes(content + content[:4] + bytes(100))
    found = Checkpoint(disk, str(tmp_path))
    assert (found.get(key, 0), found.point) == (entry, b"point")
