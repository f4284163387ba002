"""Threads, and what others do meanwhile: syncs that fail when nobody waits for their answer any more (rule
35), and files that are deleted."""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from pathlib import Path

import pytest

from kproto.directory import LeftAs
from kproto.disk import Disk
from kproto.handlers.groups import partition_log
from kproto.handlers.groups.partition_log import PartitionLog
from kproto.log.checkpointing import sync_all
from kproto.log.reader import in_memory
from kproto.metadata import MetadataImage
from tests.log.support import TOPIC_ID, Log, batch

PATIENCE_S = 60


class Kernel:
    """`os.fdatasync` as Linux has it: who syncs a file that could not be written is told, in a thread once it
    may ``go_on``; who does after that is not: its pages count as written."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.told = 0
        self._sync = os.fdatasync
        monkeypatch.setattr(os, "fdatasync", self.fdatasync)

    def fdatasync(self, fd: int) -> None:
        in_thread = threading.current_thread() is not threading.main_thread()
        if in_thread and not self.told and os.readlink(f"/proc/self/fd/{fd}").endswith(".chunks"):
            self.begun.set()
            assert self.go_on.wait(PATIENCE_S)
            self.told += 1
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        self._sync(fd)


def test_a_sync_that_failed_for_an_abandoned_checkpoint_of_a_group_log_is_not_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stop of a broker, and the loss of a group's partition, abandon it while a thread syncs the files.
    The next sync of these worked, and the stop was clean: a loss of power took what nobody else had."""
    kernel = Kernel(monkeypatch)
    monkeypatch.setattr(partition_log, "TOPIC", "t")
    log = Log(tmp_path)
    monkeypatch.setattr(partition_log, "leader_of", lambda *_: log.settings.node_id)
    log.restart(LeftAs.CLEAN)
    for _ in range(4):
        log.partition().append(batch(500))
    groups = PartitionLog(log.image, log.settings.node_id, log.manager)

    async def abandon() -> None:
        checkpoint = asyncio.create_task(groups.truncate_prefix(0, 2))
        assert await asyncio.to_thread(kernel.begun.wait, PATIENCE_S)
        checkpoint.cancel()
        await asyncio.wait([checkpoint])
        kernel.go_on.set()
        await asyncio.get_running_loop().shutdown_default_executor()

    asyncio.run(abandon())
    assert kernel.told
    assert not log.manager.close()
    assert log.poisoned


class Held(Disk):
    """A thread that syncs a directory of partitions is held in its first one."""

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()

    def sync_directory(self, path: str) -> None:
        super().sync_directory(path)
        if threading.current_thread() is not threading.main_thread() and not self.begun.is_set():
            self.begun.set()
            assert self.go_on.wait(PATIENCE_S)


def test_a_topic_that_is_deleted_while_its_directories_are_synced_is_no_failed_sync(tmp_path: Path) -> None:
    """On a slow disk, with a short file.delete.delay.ms: the broker ended as if its storage had failed."""
    disk = Held()
    log = Log(tmp_path, {"file.delete.delay.ms": "0"}, disk=disk)
    partition = log.partition()
    partition.append(batch(500))
    assert partition.flush()
    errors: list[OSError] = []

    def sync() -> None:
        try:
            sync_all([partition])
        except OSError as error:
            errors.append(error)

    thread = threading.Thread(target=sync)
    thread.start()
    assert disk.begun.wait(PATIENCE_S)
    log.manager.apply_image(MetadataImage(revision=2, base_revision=1, touched=frozenset({TOPIC_ID})))
    for _ in range(10):
        log.tick(1.0)
    assert not Path(partition.directory).exists()
    disk.go_on.set()
    thread.join()
    assert not errors


def test_a_file_that_is_deleted_while_somebody_reads_is_not_opened_for_good(tmp_path: Path) -> None:
    """Who reads in the background waits for a thread, and goes on with a file that is deleted by then. It
    was kept open, and its room on the disk with it, until enough others were used."""
    log = Log(tmp_path, {"segment.bytes": "1048576", "file.delete.delay.ms": "1000"})
    partition = log.partition()
    for _ in range(12):
        partition.append(batch(200_000))
    assert partition.flush()
    first = partition.segments[0]
    while first.blocks:
        first.evict(first.blocks[-1])
    pieces = partition.read(0, 300_000).pieces
    partition.delete_records(9)
    assert asyncio.run(in_memory(pieces))[0]
    for _ in range(10):
        log.tick(1.0)
    assert not Path(first.path).exists()
    assert not [path for path in log.manager.files._descriptors if not Path(path).exists()]
