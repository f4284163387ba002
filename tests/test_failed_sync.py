"""A sync that failed (rule 35): what the kernel shows afterwards is not what the medium has, and the next
process goes on from what it can prove."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import threading
import time
from pathlib import Path

import pytest

from kproto.broker import Broker, StartError
from kproto.config import load
from kproto.directory import DataDirectory, LeftAs
from kproto.disk import Disk, SyncError
from kproto.log import manager
from kproto.net.client import Client
from kproto.testing import kafka_broker
from kproto.vlog import inherited
from kproto.vlog import manager as vlogs
from kproto.vlog.frame import FILE_HEADER_SIZE
from kproto.vlog.scan import FileScan, JournalReader
from kproto.wire.batch import HEADER, crc_of, iter_batches
from kproto.wire.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from kproto.wire.generated.metadata import MetadataRequest, MetadataRequestTopic
from kproto.wire.generated.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kproto.wire.records import Record, build_batch
from tests.descriptors import data_files_closed

__all__ = ["data_files_closed"]  # what a broker that failed has open would add up in this process

PRODUCE, FETCH, METADATA = 0, 1, 3
RECORD_BYTES = 8_000
PATIENCE_S = 60


class BrokenDisk(Disk):
    """No sync of files with such names succeeds."""

    def __init__(self, suffix: str = ".chunks") -> None:
        self._suffix = suffix

    def datasync(self, fd: int) -> None:
        if os.readlink(f"/proc/self/fd/{fd}").endswith(self._suffix):
            raise SyncError(errno.EIO, os.strerror(errno.EIO))
        super().datasync(fd)


def broker_on(path: Path, disk: Disk, **more: str) -> Broker:
    settings = {
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "log.dirs": str(path),
        "kproto.virtual.segment.bytes": "1048576",
        "kproto.journal.bytes": "67108864",
        "kproto.flush.age.ms": "100",
        "kproto.checkpoint.interval.ms": "100",
        **more,
    }
    return Broker(load(None, settings), disk=disk)


def produce(port: int, broker: Broker) -> int:
    """Write until the broker has had enough; how many records it has acknowledged."""
    acked = 0
    with Client("127.0.0.1", port) as client:
        while not broker.failed.is_set():
            acked += send(client)
    return acked


def send(client: Client, topic: str = "t") -> bool:
    """Write a record; whether it is acknowledged."""
    asked = MetadataRequest(topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=True)
    client.call(METADATA, 9, asked)
    batch = memoryview(build_batch([Record(None, bytes(RECORD_BYTES), timestamp=1)]))
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=0, records=batch)])
    request = ProduceRequest(acks=-1, timeout_ms=2000, topic_data=[data])
    found = client.call(PRODUCE, 9, request).responses[0].partition_responses[0]
    return bool(found.error_code == 0)


def send_to(port: int) -> bool:
    """The same over a connection of its own."""
    with Client("127.0.0.1", port) as client:
        return send(client)


def records_in(port: int) -> int:
    """Read everything; how many whole records there are."""
    offset = 0
    with Client("127.0.0.1", port) as client:
        while True:
            wanted = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
            request = FetchRequest(max_bytes=1 << 20, topics=[FetchTopic(topic="t", partitions=[wanted])])
            (data,) = client.call(FETCH, 11, request).responses[0].partitions
            assert data.error_code == 0
            batches = list(iter_batches(data.records or b""))
            if not batches:
                return offset
            for batch in batches:
                assert HEADER.unpack_from(batch)[4] == crc_of(batch)
                offset += 1


def test_nothing_is_lost_when_a_file_was_never_written_though_the_kernel_shows_it(tmp_path: Path) -> None:
    async def first() -> int:
        broker = broker_on(tmp_path, BrokenDisk())
        await broker.start()
        acked = await asyncio.to_thread(produce, broker.port, broker)
        await broker.stop()
        return acked

    async def second() -> int:
        broker = broker_on(tmp_path, Disk())
        await broker.start()
        found = await asyncio.to_thread(records_in, broker.port)
        await broker.stop()
        return found

    acked = asyncio.run(asyncio.wait_for(first(), PATIENCE_S))
    assert acked > 100
    for path in tmp_path.rglob("*.chunks"):  # the medium has nothing; the memory is needed elsewhere
        path.write_bytes(bytes(path.stat().st_size))
    assert asyncio.run(asyncio.wait_for(second(), PATIENCE_S)) >= acked


def test_nothing_is_lost_when_the_start_after_that_is_killed_at_once(tmp_path: Path) -> None:
    """Found by simulation (seed 30051209): the one after it took the journal of the process that failed for
    one of a process that was killed, and did not read what its checkpoint vouched for."""
    killed = tmp_path / "killed"

    async def first() -> int:
        broker = broker_on(tmp_path / "a", BrokenDisk())
        await broker.start()
        acked = await asyncio.to_thread(produce, broker.port, broker)
        await broker.stop()
        return acked

    async def second() -> None:
        broker = broker_on(tmp_path / "a", Disk())
        await broker.start()
        shutil.copytree(tmp_path / "a", killed)  # as kill -9 would leave it
        await broker.stop()

    async def third() -> tuple[LeftAs, int]:
        broker = broker_on(killed, Disk())
        await broker.start()
        found = await asyncio.to_thread(records_in, broker.port)
        left_as = broker._directory.left_as
        await broker.stop()
        return left_as, found

    acked = asyncio.run(asyncio.wait_for(first(), PATIENCE_S))
    for path in tmp_path.rglob("*.chunks"):
        path.write_bytes(bytes(path.stat().st_size))
    asyncio.run(asyncio.wait_for(second(), PATIENCE_S))
    left_as, found = asyncio.run(asyncio.wait_for(third(), PATIENCE_S))
    assert left_as is LeftAs.KILLED
    assert found >= acked > 100


@pytest.mark.parametrize("full", [False, True])
def test_copies_count_as_after_a_loss_of_power(tmp_path: Path, full: bool) -> None:
    """Also when the disk has no room for a mark that says so, and the next start takes it for one."""

    class Full(Disk):
        def rename(self, source: str, target: str) -> None:
            if target.endswith("failed"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), target)
            super().rename(source, target)

    async def start(disk: Disk, fails: bool) -> tuple[LeftAs, bool, bytes]:
        broker = broker_on(tmp_path, disk, **{"kproto.internal.listen": "127.0.0.1:0"})
        await broker.start()
        assert broker._member is not None
        store = broker._member.replicas.store
        if fails:
            store.poison("it failed")
        found = broker._directory.left_as, store.state.thorough, broker._directory.boot
        await broker.stop()
        return found

    _, _, boot = asyncio.run(start(Full() if full else Disk(), True))
    left_as, thorough, later = asyncio.run(start(Disk(), False))
    assert left_as is (LeftAs.POWER_LOST if full else LeftAs.FAILED)
    assert thorough
    assert later != boot


def test_what_the_start_cannot_sync_is_not_believed_by_the_next_one(tmp_path: Path) -> None:
    """The journal of a process that was killed before its sync: the second try has nothing left to write."""
    synced = {"log.flush.interval.messages": "1"}
    with kafka_broker(synced, subprocess=True, data_dir=tmp_path) as killed:
        with Client("127.0.0.1", killed.port) as client:
            send(client)
        killed.kill()

    async def start(disk: Disk) -> LeftAs:
        broker = broker_on(tmp_path, disk)
        await broker.start()
        left_as = broker._directory.left_as
        await broker.stop()
        return left_as

    with pytest.raises(StartError, match="Input/output error"):
        asyncio.run(start(BrokenDisk(".journal")))
    with pytest.raises(StartError, match="Input/output error"):
        asyncio.run(start(BrokenDisk(".journal")))
    assert asyncio.run(start(Disk())) is LeftAs.FAILED
    assert asyncio.run(start(Disk())) is not LeftAs.FAILED


@pytest.mark.parametrize("failing", ["the journal", "copies"])
def test_whatever_fails_nothing_in_the_directory_acks_any_more(tmp_path: Path, failing: str) -> None:
    """A backup went on to take pushes until its process ended when its journal failed, and as leader to ack
    when a copy did (S16, 35; many seeds of the simulation, once such a process lives on for a while)."""

    async def acks() -> tuple[bool, bool]:
        broker = broker_on(tmp_path, Disk(), **{"kproto.internal.listen": "127.0.0.1:0"})
        await broker.start()
        assert broker._member is not None
        store, vlogs = broker._member.replicas.store, broker._vlogs
        before = await asyncio.to_thread(send_to, broker.port)
        (vlogs.poison if failing == "the journal" else store.poison)("it failed")
        assert broker.failed.is_set()
        assert store.poisoned == vlogs.poisoned == "it failed"
        after = await asyncio.to_thread(send_to, broker.port)
        await broker.stop()
        return before, after

    assert asyncio.run(asyncio.wait_for(acks(), PATIENCE_S)) == (True, False)


@pytest.mark.parametrize("deleted", [False, True])
def test_a_failure_with_files_of_the_journal_gone_is_as_bad_as_a_power_loss(
    tmp_path: Path, deleted: bool
) -> None:
    """After a failed sync alone, the next start said of what lost its file that it was never begun, and so it
    was given up, though a backup, that was away, had it (18b)."""

    async def fail() -> None:
        broker = broker_on(tmp_path, Disk())
        await broker.start()
        assert await asyncio.to_thread(send_to, broker.port)
        if deleted:
            for file in tmp_path.glob("journal/0*.journal"):
                file.unlink()
        broker._on_poison("something else failed")
        await broker.stop()

    async def start() -> LeftAs:
        broker = broker_on(tmp_path, Disk())
        await broker.start()
        left_as = broker._directory.left_as
        await broker.stop()
        return left_as

    asyncio.run(asyncio.wait_for(fail(), PATIENCE_S))
    assert asyncio.run(start()) is (LeftAs.POWER_LOST if deleted else LeftAs.FAILED)


def test_what_fails_while_a_broker_joins_is_not_forgotten_when_its_log_is_opened(tmp_path: Path) -> None:
    """Found by simulation (seed 30053865): it served, and acknowledged, until its process had ended."""

    class Early(Broker):
        def _open_logs(self, directory: DataDirectory, owner_epoch: int) -> None:
            self._on_poison("a copy could not be synced")
            super()._open_logs(directory, owner_epoch)

    async def acks() -> bool:
        broker = Early(broker_on(tmp_path, Disk())._settings)
        await broker.start()
        assert broker.failed.is_set()
        stored = await asyncio.to_thread(send_to, broker.port)
        await broker.stop()
        return stored

    assert not asyncio.run(asyncio.wait_for(acks(), PATIENCE_S))


def test_another_error_of_the_start_is_no_failed_sync(tmp_path: Path) -> None:
    class Unreadable(Disk):
        def pread(self, fd: int, length: int, position: int) -> bytes:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    with kafka_broker(None, subprocess=True, data_dir=tmp_path) as killed:
        with Client("127.0.0.1", killed.port) as client:
            send(client)
        killed.kill()
    with pytest.raises(StartError, match="Input/output error"):
        asyncio.run(broker_on(tmp_path, Unreadable()).start())
    assert not (tmp_path / "failed").exists()
    assert (tmp_path / "running").exists()


class UnreadableJournal(Disk):
    """The machine has no files of the journal to read from, for a while."""

    def open(self, path: str, *, create: bool = False, write: bool = True) -> int:
        if path.endswith(".journal") and not write:
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        return super().open(path, create=create, write=write)


def test_a_start_that_fails_in_the_journal_leaves_the_loss_of_power_to_the_next_one(tmp_path: Path) -> None:
    """Found by simulation (seed 30125364): the next start took a header that went with the power for damage,
    and so did all after it."""
    with kafka_broker(None, subprocess=True, data_dir=tmp_path) as killed:
        with Client("127.0.0.1", killed.port) as client:
            assert send(client)
        killed.kill()
    (journal,) = tmp_path.glob("journal/*-*.journal")
    with journal.open("r+b") as stream:
        stream.write(bytes(FILE_HEADER_SIZE))
    (tmp_path / "running").write_text("another start of the machine")
    with pytest.raises(StartError, match="Input/output error"):
        asyncio.run(broker_on(tmp_path, UnreadableJournal()).start())

    async def start() -> LeftAs:
        broker = broker_on(tmp_path, Disk())
        await broker.start()
        assert not journal.exists()
        left_as = broker._directory.left_as
        await broker.stop()
        return left_as

    assert asyncio.run(start()) is LeftAs.POWER_LOST


def unpush_last(journal: Path) -> None:
    """Zeros in place of the last frame, as if the process had been killed before it pushed that."""
    reader = JournalReader(Disk(), str(journal))
    assert reader.header is not None
    start = reader.header.start
    frames = list(FileScan(reader, reader.header, start, reader.header.chain).frames())
    reader.close()
    with journal.open("r+b") as file:
        file.seek(FILE_HEADER_SIZE + frames[-1].header.position - start)
        file.write(bytes(frames[-1].header.length))


@pytest.mark.parametrize("where", ["opening", "old journal"])
def test_a_sync_that_fails_while_the_broker_stops_is_poison(
    tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second sync of a file whose first one failed in a thread succeeds, and says nothing: the stop gave
    back the journal, and said that the file was synced."""
    monkeypatch.setattr(manager, "PROVING_S", 0.0)
    synced = {"log.flush.interval.messages": "1", "kproto.flush.age.ms": "100"}
    with kafka_broker(synced, subprocess=True, data_dir=tmp_path) as killed:
        with Client("127.0.0.1", killed.port) as client:
            while sum(send(client) for _ in range(10)) < 10:
                pass
        while sum(path.stat().st_size for path in tmp_path.rglob("*.chunks")) < 10 * RECORD_BYTES:
            time.sleep(0.01)
        killed.kill()
    (journal,) = tmp_path.glob("journal/*-*.journal")
    if where == "opening":
        unpush_last(journal)

    class Late(Disk):
        def __init__(self) -> None:
            self.begun, self.stopping = threading.Event(), threading.Event()
            self.failed = False

        def datasync(self, fd: int) -> None:
            chunks = os.readlink(f"/proc/self/fd/{fd}").endswith(".chunks")
            if chunks and threading.current_thread() is not threading.main_thread() and not self.failed:
                self.begun.set()
                assert self.stopping.wait(PATIENCE_S)
                self.failed = True
                raise SyncError(errno.EIO, os.strerror(errno.EIO))
            super().datasync(fd)

    class Stopping(Broker):
        async def _close_logs(self) -> bool:
            disk.stopping.set()
            while not disk.failed:
                time.sleep(0.001)
            return await super()._close_logs()

    async def stop() -> None:
        broker = Stopping(broker_on(tmp_path, disk, **synced)._settings, disk=disk)
        await broker.start()
        assert await asyncio.to_thread(send_to, broker.port) is (where == "old journal")
        assert await asyncio.to_thread(disk.begun.wait, PATIENCE_S)
        await broker.stop()

    async def read() -> int:
        broker = broker_on(tmp_path, Disk(), **synced)
        await broker.start()
        found = await asyncio.to_thread(records_in, broker.port)
        await broker.stop()
        return found

    disk = Late()
    asyncio.run(asyncio.wait_for(stop(), PATIENCE_S))
    for path in tmp_path.rglob("*.chunks"):  # what the medium has
        path.write_bytes(bytes(path.stat().st_size))
    assert asyncio.run(asyncio.wait_for(read(), PATIENCE_S)) >= 9


def test_a_sync_that_the_stop_waits_for_may_begin_another_one_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old journals have the next files synced when those before are. One of these failed while the stop
    synced all files: its own sync of that one said nothing, and it gave back the journal."""
    monkeypatch.setattr(inherited, "SYNCS_AT_ONCE", 1)
    monkeypatch.setattr(vlogs, "FIRST_SETTLE_S", 0.0)
    begun, stopping, failed = threading.Event(), threading.Event(), threading.Event()
    sync = os.fdatasync

    def kernel(fd: int) -> None:
        if not os.readlink(f"/proc/self/fd/{fd}").endswith(".chunks"):
            sync(fd)
        elif threading.current_thread() is threading.main_thread():
            assert failed.wait(PATIENCE_S)
            time.sleep(0.05)  # the thread knows it
        elif not begun.is_set():
            begun.set()
            assert stopping.wait(PATIENCE_S)
        else:
            failed.set()
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    def fill(port: int) -> None:
        with Client("127.0.0.1", port) as client:
            for topic in ("t", "u", "v"):
                while not send(client, topic):
                    pass

    async def first() -> None:
        broker = broker_on(tmp_path / "a", Disk(), **{"kproto.flush.age.ms": "60000"})
        await broker.start()
        await asyncio.to_thread(fill, broker.port)
        shutil.copytree(tmp_path / "a", tmp_path / "b")  # as kill -9 would leave it
        await broker.stop()

    class Stopping(Broker):
        async def _close_logs(self) -> bool:
            stopping.set()
            return await super()._close_logs()

    async def second() -> None:
        broker = Stopping(broker_on(tmp_path / "b", Disk())._settings)
        await broker.start()
        assert await asyncio.to_thread(begun.wait, PATIENCE_S)
        while broker._logs.unopened.has_runs:
            await asyncio.sleep(0.01)
        await broker.stop()
        assert broker.failed.is_set()

    asyncio.run(asyncio.wait_for(first(), PATIENCE_S))
    monkeypatch.setattr(os, "fdatasync", kernel)
    asyncio.run(asyncio.wait_for(second(), PATIENCE_S))
    assert list(tmp_path.glob("b/journal/*-*.journal"))
