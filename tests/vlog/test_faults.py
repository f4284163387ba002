"""Full disks, failing writes and syncs, the journal's limit: an error, never a lost ack (rules 35, 37)."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kproto.disk import Disk
from kproto.vlog import space
from kproto.vlog.dump import journal_files
from tests.vlog.conftest import TestLoop
from tests.vlog.support import FaultyDisk, Partition, World, recovered_bytes

SMALL = {
    "kproto__virtual__segment__bytes": "1048576",
    "kproto__journal__bytes": "8388608",
    "kproto__direct__bytes": "0",
}


@pytest.fixture(autouse=True)
def _quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space, "RETRY_S", 0.02)


def fill_until_blocked(world: World, loop: TestLoop, part: Partition, limit: int = 400) -> None:
    for _ in range(limit):
        if part.vlog.blocked:
            return
        part.append(50_000)
        loop.until(lambda: part.vlog.durable == part.vlog.end or part.vlog.blocked)
    pytest.fail("the full disk was not noticed")


def size_of(file: Path) -> int:
    """Bytes of a file that a thread may be deleting."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def everything_is_somewhere(world: World, part: Partition) -> None:
    """Each chunk is in the journal, or in the segment file (when its journal file was given back)."""
    world.manager._clean_worker.close()  # nothing is being deleted while we look
    found = recovered_bytes(world, world.recover(), part)
    assert found == {base: data for base, data in part.chunks.items() if base >= min(found)}
    older = b"".join(data for base, data in sorted(part.chunks.items()) if base < min(found))
    on_disk = Path(part.segment.path).read_bytes() if older else b""
    assert on_disk[: len(older)] == older


class NoDescriptors(FaultyDisk):
    """While it is ``full`` no file can be opened, because too many are."""

    __slots__ = ()

    def open(self, path: str, *, create: bool = False, write: bool = True) -> int:
        if self.full:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return super().open(path, create=create, write=write)

    def allocate(self, fd: int, position: int, length: int) -> None:
        Disk.allocate(self, fd, position, length)


FULL = pytest.mark.parametrize("disk_of", [FaultyDisk, NoDescriptors])


@FULL
def test_a_full_disk_is_said_before_the_room_is_used_up(
    tmp_path: Path, loop: TestLoop, disk_of: type[FaultyDisk]
) -> None:
    disk = disk_of()
    world = World.start(str(tmp_path), loop, disk=disk, **SMALL)
    part = world.partition()
    part.append()
    loop.turn()
    disk.full = True
    fill_until_blocked(world, loop, part)
    waiting = part.log_end_offset - part.high_watermark
    assert waiting <= 1, "appends are refused while what was accepted fits, but for the one that found out"
    assert not world.poison
    disk.full = False
    loop.until(lambda: not part.vlog.blocked)
    part.append()
    loop.until(lambda: part.high_watermark == part.log_end_offset)
    everything_is_somewhere(world, part)


@FULL
def test_what_did_not_fit_is_pushed_when_there_is_room_again(
    tmp_path: Path, loop: TestLoop, disk_of: type[FaultyDisk]
) -> None:
    disk = disk_of()
    world = World.start(str(tmp_path), loop, disk=disk, **SMALL)
    disk.full = True
    part = world.partition()
    fired: list[int] = []
    part.vlog.when_durable(part.append(), lambda: fired.append(1))
    loop.turn()
    assert part.vlog.blocked
    assert not fired
    disk.full = False
    loop.until(lambda: fired)
    assert part.high_watermark == 1
    loop.until(lambda: not part.vlog.blocked)


def test_enospc_of_a_frame_write_keeps_the_frame(tmp_path: Path, loop: TestLoop) -> None:
    disk = FaultyDisk()
    disk.write_errno = errno.ENOSPC
    world = World.start(str(tmp_path), loop, disk=disk, **SMALL)
    part = world.partition()
    part.append()
    loop.turn()
    disk.writes_fail = lambda fd: True
    part.append()
    loop.turn()
    assert part.high_watermark == 1
    assert part.vlog.blocked
    disk.writes_fail = None
    loop.until(lambda: part.high_watermark == 2)
    part.append()
    loop.turn()
    assert recovered_bytes(world, world.recover(), part) == part.chunks


def test_a_full_disk_without_room_for_the_name_of_a_journal_file_is_no_poison(
    tmp_path: Path, loop: TestLoop
) -> None:
    disk = FaultyDisk()
    world = World.start(str(tmp_path), loop, disk=disk, **SMALL)
    part = world.partition()
    disk.no_longer_names = True
    part.append()
    loop.turn()
    assert part.vlog.blocked
    assert world.manager.poisoned is None
    disk.no_longer_names = False
    loop.until(lambda: part.high_watermark == 1)
    loop.until(lambda: not part.vlog.blocked)
    assert recovered_bytes(world, world.recover(), part) == part.chunks


def test_files_of_an_earlier_process_go_though_there_is_no_room_for_another_name(
    tmp_path: Path, loop: TestLoop
) -> None:
    first = World.start(str(tmp_path), loop, epoch=1, **SMALL)
    first.partition().append()
    loop.turn()
    (old,) = (file.path for file in journal_files(first.disk, first.journal_path()))
    disk = FaultyDisk()
    second = World.start(str(tmp_path), loop, epoch=2, disk=disk, **SMALL)
    disk.no_longer_names = True
    second.manager.inherit(second.recover(), lambda *_: True, lambda *_: None)
    assert second.manager.poisoned is None
    assert not os.path.exists(old)
    assert second.manager.journal.bytes == 0
    second.manager.close()


def test_on_a_full_disk_flushing_waits_for_the_next_tick(tmp_path: Path, loop: TestLoop) -> None:
    """It was tried again in every turn of the loop before."""
    disk = FaultyDisk()
    disk.write_errno = errno.ENOSPC
    world = World.start(str(tmp_path), loop, disk=disk, **SMALL)
    part = world.partition()
    part.append()
    loop.turn()
    world.manager._press()
    tries: list[int] = []
    disk.writes_fail = lambda fd: tries.append(fd) is None
    world.manager.cleaner.press()
    for _ in range(20):
        loop.turn()
    assert len(tries) == 1
    disk.writes_fail = None
    world.manager.tick()
    loop.until(lambda: part.segment.synced > 0)


def test_a_full_disk_under_a_direct_write_falls_back_to_the_journal(tmp_path: Path, loop: TestLoop) -> None:
    disk = FaultyDisk()
    disk.write_errno = errno.ENOSPC
    world = World.start(str(tmp_path), loop, disk=disk, kproto__direct__bytes="1000")
    part = world.partition()
    part.append(500)
    loop.turn()
    journal = {pusher._file.fd for pusher in world.manager._pushers.values() if pusher._file}
    disk.writes_fail = lambda fd: fd not in journal
    part.append(5000)
    loop.turn()
    assert part.high_watermark == 2, "acked: the bytes are in the journal"
    assert part.vlog.blocked, "and nothing more is accepted while the disk is full"
    disk.writes_fail = None
    loop.until(lambda: not part.vlog.blocked)
    assert recovered_bytes(world, world.recover(), part) == part.chunks


@pytest.mark.parametrize("policy", ["memory", "synced"])
def test_eio_is_poison(tmp_path: Path, loop: TestLoop, policy: str) -> None:
    disk = FaultyDisk()
    world = World.start(str(tmp_path), loop, disk=disk, **SMALL)
    part = world.partition(**({"flush__messages": "1"} if policy == "synced" else {}))
    part.append()
    loop.until(lambda: part.high_watermark == 1)
    disk.writes_fail = lambda fd: True
    fired: list[int] = []
    part.vlog.when_durable(part.append(), lambda: fired.append(1))
    loop.turn()
    disk.writes_fail = None
    part.append()
    for _ in range(5):
        loop.turn()
    assert len(world.poison) == 1
    assert part.vlog.blocked
    assert part.high_watermark == 1
    assert not fired, "a poisoned directory never acks again (S16)"
    world.manager.close()


@pytest.mark.parametrize("config", [{"flush__messages": "1"}, {"flush__messages": "2"}])
def test_a_failed_fdatasync_is_poison_and_never_retried(
    tmp_path: Path, loop: TestLoop, config: dict[str, str]
) -> None:
    disk = FaultyDisk()
    disk.syncs_fail = True
    world = World.start(str(tmp_path), loop, disk=disk, **SMALL)
    part = world.partition(**config)
    part.append()
    part.append()
    loop.until(lambda: world.poison)
    disk.syncs_fail = False
    acked = part.high_watermark
    part.append()
    for _ in range(5):
        loop.turn()
    assert part.high_watermark == acked
    assert acked == (0 if config["flush__messages"] == "1" else 2)
    assert len(world.poison) == 1
    world.manager.close()


def test_the_journal_stays_below_its_limit_and_old_data_moves_to_segments(
    tmp_path: Path, loop: TestLoop
) -> None:
    world = World.start(str(tmp_path), loop, **SMALL)
    idle, busy = world.partition(index=0), world.partition(index=1)
    idle.append(100)
    journal = Path(world.journal_path())
    largest = 0
    for _ in range(600):
        busy.append(50_000)
        loop.until(lambda: busy.vlog.durable == busy.vlog.end)
        largest = max(largest, sum(map(size_of, journal.iterdir())))
    assert largest <= 8 << 20
    assert idle.segment.synced == idle.segment.end, (
        "the idle partition was written out to free its journal file"
    )
    everything_is_somewhere(world, busy)
    world.manager.close()


def test_many_virtual_logs_share_a_small_journal(tmp_path: Path, loop: TestLoop) -> None:
    """No deadlock when idle virtual logs hold all the room: their segments are closed and cleaned."""
    world = World.start(str(tmp_path), loop, kproto__vlogs__per__broker="8", **SMALL)
    parts = [world.partition(index=i) for i in range(8)]
    for part in parts:
        for _ in range(40):
            part.append(30_000)
            loop.until(lambda: part.vlog.durable == part.vlog.end)  # noqa: B023
    assert world.manager.journal.bytes <= 9 << 20
    assert all(part.high_watermark == 40 for part in parts)
    world.manager.close()


@pytest.mark.parametrize("timed", [{}, {"flush__messages": "1000"}, {"flush__ms": "3600000"}])
def test_a_clean_end_leaves_no_journal(tmp_path: Path, loop: TestLoop, timed: dict[str, str]) -> None:
    world = World.start(str(tmp_path), loop, **SMALL)
    part = world.partition(**timed)
    for _ in range(50):
        part.append(50_000)
        loop.until(lambda: part.vlog.durable == part.vlog.end)
    part.append()
    loop.until(world.manager.drain)
    part.segment.flush(part.segment.end)
    part.segment.sync()
    world.manager.close()
    assert os.listdir(world.journal_path()) == []


def test_an_end_without_synced_segments_keeps_the_journal(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop, **SMALL)
    part = world.partition()
    part.append()
    loop.turn()
    world.manager.close()
    assert recovered_bytes(world, world.recover(), part) == part.chunks
