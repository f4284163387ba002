"""Own disks that fail under virtual logs: what is acknowledged, what is poison, what takes less room."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kproto.disk import Buffer, Disk
from kproto.log.checkpoint import Checkpoint
from kproto.vlog.journal import SPARE_PREFIX, SPARES_KEPT, file_name
from kproto.vlog.kept import EMPTIED, HEADLESS
from kproto.vlog.scan_point import ScanStart, decode_starts, encode_starts
from kproto.vlog.side import DamagedError, OldChunks
from tests.vlog.cluster import ClusterWorld, MemoryDisk
from tests.vlog.conftest import TestLoop
from tests.vlog.support import FaultyDisk, Partition, World, chunk
from tests.vlog.test_faults import SMALL, everything_is_somewhere


def failing(number: int = errno.EIO) -> Any:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


def test_a_failed_fdatasync_is_no_copy_though_all_backups_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The owner's journal counts as a copy in the synced class; nothing is tried again (35)."""
    world = ClusterWorld.begin()
    part = world.partition(flush__messages="1")
    part.append()
    world.flow()
    assert part.high_watermark == 1
    monkeypatch.setattr(MemoryDisk, "datasync", failing())
    part.append()
    world.flow()
    assert part.high_watermark == 1
    assert len(world.poison) == 1
    monkeypatch.undo()
    assert part.vlog.blocked
    world.flow()
    world.loop.advance(10.0)
    assert part.high_watermark == 1


def test_a_lost_ownership_ends_what_has_backups_and_nothing_else() -> None:
    """The journal is the only copy of what has none, whatever the epoch (16)."""
    world = ClusterWorld.begin()
    world.manager.replicate(world.backups, world.vsegs, lambda topic, _: 3 if topic[-1] == 1 else 1)
    world.manager.members_changed(range(1, 4))
    shared, alone = world.partition(topic=1), world.partition(topic=2)
    shared.append()
    world.flow()
    told: list[bool] = []
    shared.vlog.when_durable(shared.append(), lambda: told.append(shared.vlog.lost))
    world.manager.lose_ownership()
    assert told == [True], "whoever waits hears that nobody knows"
    alone.append()
    world.flow()
    assert (shared.high_watermark, alone.high_watermark) == (1, 1)
    assert (world.manager.lost, world.vsegs.told_lost) == (True, 1)


def test_a_broker_without_a_cluster_has_no_ownership_to_lose(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop, **SMALL)
    part = world.partition()
    world.manager.follow_backups(lambda _: None)
    world.manager.lose_ownership()
    part.append()
    loop.until(lambda: part.high_watermark == 1)
    assert not world.manager.lost
    world.manager.close()


def test_an_end_is_told_of_virtual_logs_alone_that_are_all_durable() -> None:
    """The store would close the others at an end that backups do not have."""
    world = ClusterWorld.begin(kproto__vlogs__per__broker="2")
    first, second = world.partition(index=0), world.partition(index=1)
    assert first.vlog is not second.vlog
    for part in (first, second):
        part.append()
    world.flow()
    first.append()
    world.loop.turn()
    ends = world.manager.finish()
    assert ends == [(second.vlog.vlog_id, 1, second.vlog.position)]


class Undeletable(FaultyDisk):
    """Files of the journal cannot be deleted."""

    __slots__ = ("stays",)

    def __init__(self) -> None:
        super().__init__()
        self.stays = False

    def unlink(self, path: str) -> None:
        if self.stays:
            raise OSError(errno.EIO, path)
        super().unlink(path)


@pytest.mark.parametrize("what", ["deletion", "sync"])
def test_a_journal_that_cannot_be_given_back_is_poison_and_loses_nothing(
    tmp_path: Path, loop: TestLoop, what: str
) -> None:
    disk = Undeletable()
    world = World.start(str(tmp_path), loop, disk=disk, **SMALL)
    part = world.partition()
    disk.stays, disk.syncs_fail = what == "deletion", what == "sync"
    for _ in range(600):
        if world.poison:
            break
        part.append(50_000)
        loop.until(lambda: part.vlog.durable == part.vlog.end or part.vlog.blocked or world.poison)
        loop.turn()
    assert len(world.poison) == 1
    assert part.vlog.blocked, "nothing is taken any more"
    disk.stays = False
    for base in [base for base in part.chunks if base >= part.high_watermark]:
        del part.chunks[base]  # never acknowledged
    everything_is_somewhere(world, part)


def test_a_journal_that_cannot_be_deleted_at_the_end_is_poison(tmp_path: Path, loop: TestLoop) -> None:
    """The end is as any other: nothing is raised, and the stop is no clean one."""
    disk = Undeletable()
    world = World.start(str(tmp_path), loop, disk=disk, **SMALL)
    part = world.partition()
    for _ in range(600):
        if world.manager.journal.spares:
            break
        part.append(50_000)
        loop.until(lambda: part.vlog.durable == part.vlog.end)
        loop.turn()
    loop.until(world.manager.drain)
    assert world.manager.journal.spares, "something is to be deleted"
    disk.stays = True
    world.manager.close()
    assert len(world.poison) == 1
    assert world.manager.poisoned is not None


class FailsOnce(FaultyDisk):
    """One deletion or one renaming to a spare fails, when ``fails`` is its name; the next ones work."""

    __slots__ = ("fails",)

    def __init__(self) -> None:
        super().__init__()
        self.fails = ""

    def _once(self, what: str, path: str) -> None:
        if self.fails == what:
            self.fails = ""
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    def unlink(self, path: str) -> None:
        self._once("deletion", path)
        super().unlink(path)

    def rename(self, source: str, target: str) -> None:
        if os.path.basename(target).startswith(SPARE_PREFIX):
            self._once("renaming", source)
        super().rename(source, target)


def several_closed(world: World, loop: TestLoop, part: Partition) -> None:
    """More virtual segments than are kept as spares, whose files are all still there."""
    world.manager.cleaner.deletions.newest = 1
    while len(world.manager.cleaner.closed) < 2 * SPARES_KEPT + 1:
        part.append(50_000)
        loop.until(lambda: part.vlog.durable == part.vlog.end)


@pytest.mark.parametrize("what", ["deletion", "renaming"])
def test_a_deletion_that_fails_leaves_no_hole_in_the_journal(
    tmp_path: Path, loop: TestLoop, what: str
) -> None:
    """What was queued behind it was deleted: an older file was there and a later one was not, which the next
    start took for lost records, the only copy, and refused to go on (24c, 35)."""
    disk = FailsOnce()
    world = World.start(str(tmp_path), loop, disk=disk, **SMALL)
    part = world.partition()
    several_closed(world, loop, part)
    disk.fails = what
    world.manager.cleaner.deletions.known = 1
    world.manager.cleaner.press()
    loop.until(lambda: world.poison)
    everything_is_somewhere(world, part)


def test_nor_in_the_journal_of_an_earlier_process(tmp_path: Path, loop: TestLoop) -> None:
    disk = FailsOnce()
    before = World.start(str(tmp_path), loop, disk=disk, **SMALL)
    part = before.partition()
    several_closed(before, loop, part)
    before.manager.close()
    part.segment.flush(part.segment.end)
    world = World.start(str(tmp_path), loop, epoch=2, disk=disk, **SMALL)
    recovered = before.recover()
    disk.fails = "deletion"
    last = part.log_end_offset
    world.manager.inherit(recovered, lambda _topic, _index, end: end < last, lambda *_: [])
    loop.until(lambda: world.poison)
    world.manager.close()
    everything_is_somewhere(before, part)


@pytest.mark.parametrize("closed", [False, True])
def test_a_journal_file_that_somebody_deleted_is_poison_at_once(
    tmp_path: Path, loop: TestLoop, closed: bool
) -> None:
    """It was noticed when the file was to be given back, an hour later perhaps; what was acked until then was
    in a file that no start finds."""
    world = World.start(str(tmp_path), loop, **SMALL)
    part = world.partition()
    part.append()
    loop.until(lambda: part.high_watermark == 1)
    world.manager.tick()
    assert not world.poison
    (path,) = Path(world.journal_path()).glob("0*.journal")
    if closed:
        for pusher in world.manager._pushers.values():
            pusher.roll()
    path.unlink()
    world.manager._next_look = 0.0
    said: list[int] = []
    world.manager.on_files_gone = lambda: said.append(len(world.poison))
    world.manager.tick()
    assert world.poison == [f"{path}: somebody deleted it"]
    assert said == [0], "before that"
    assert Path(f"{path}{HEADLESS}").stat().st_size != EMPTIED
    assert part.vlog.blocked


class Full(FaultyDisk):
    """There is room for a name, and for nothing behind it."""

    __slots__ = ()

    def pwritev(self, fd: int, pieces: Sequence[Buffer], position: int, length: int | None = None) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("what", ["full disk", "directory", "at the end"])
def test_that_such_a_file_was_begun_is_noted_whatever_else_is_wrong(
    tmp_path: Path, loop: TestLoop, what: str
) -> None:
    """On a full disk the note was empty, which told that nothing was lost; in a directory that was deleted,
    too, and in the moment before a stop, there was none, and that stop was a clean one."""
    disk = FaultyDisk()
    world = World.start(str(tmp_path), loop, disk=disk, **SMALL)
    part = world.partition()
    part.append()
    loop.until(lambda: part.high_watermark == 1)
    (path,) = Path(world.journal_path()).glob("0*.journal")
    gone: list[str] = []
    world.manager.on_files_gone = lambda: gone.append("gone")
    if what == "directory":
        shutil.rmtree(world.journal_path())
    else:
        path.unlink()
    if what == "at the end":
        for pusher in world.manager._pushers.values():
            pusher.klass = pusher.klass._replace(copies=2)
        world.manager.close()
    else:
        if what == "full disk":
            disk.__class__ = Full
        world.manager._next_look = 0.0
        world.manager.tick()
    assert gone == ["gone"]
    assert len(world.poison) == 1
    assert Path(f"{path}{HEADLESS}").stat().st_size != EMPTIED


def test_a_file_of_an_earlier_process_that_somebody_deleted_is_noted(tmp_path: Path, loop: TestLoop) -> None:
    """The next start said of others without file that they were never begun, since a failure takes no names.
    This one is missed when it is to be deleted; others may have gone with it."""
    world = World.start(str(tmp_path), loop, **SMALL)
    said: list[int] = []
    world.manager.on_files_gone = lambda: said.append(len(world.poison))
    world.manager.journal.reserve(100)
    world.manager.journal.drop(os.path.join(world.journal_path(), file_name(1, 1, 1)), 100)
    loop.until(lambda: world.poison)
    assert said == [0], "before the poison tells of itself"


def test_a_journal_file_that_somebody_deleted_before_it_is_given_back(tmp_path: Path, loop: TestLoop) -> None:
    """It becomes a spare by renaming, before anybody looks: the same line is said."""
    world = World.start(str(tmp_path), loop, **SMALL)
    several_closed(world, loop, world.partition())
    oldest = min(Path(world.journal_path()).glob("0*.journal"))
    oldest.unlink()
    said: list[int] = []
    world.manager.on_files_gone = lambda: said.append(len(world.poison))
    world.manager.cleaner.deletions.known = 1
    world.manager.cleaner.press()
    loop.until(lambda: world.poison)
    assert world.poison == [f"{oldest}: somebody deleted it"]
    assert said == [0], "before that"


def test_on_a_nearly_full_disk_smaller_files_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk with room for less than an ordinary file is not full."""
    world = ClusterWorld.begin()
    part = world.partition()
    allocate = MemoryDisk.allocate

    def small(self: MemoryDisk, fd: int, position: int, length: int) -> None:
        if length >= 1 << 20:
            raise OSError(errno.ENOSPC, "made up")
        allocate(self, fd, position, length)

    part.append()
    world.flow()
    monkeypatch.setattr(MemoryDisk, "allocate", small)
    for _ in range(60):
        part.append(50_000)
        world.flow()
    assert part.high_watermark == 61
    assert not part.vlog.blocked
    assert not world.poison
    world.check()


def test_a_disk_that_cannot_reserve_is_poison(monkeypatch: pytest.MonkeyPatch) -> None:
    world = ClusterWorld.begin()
    part = world.partition()
    part.append()
    world.flow()
    monkeypatch.setattr(MemoryDisk, "allocate", failing())
    for _ in range(60):
        if world.poison:
            break
        part.append(50_000)
        world.flow()
    assert len(world.poison) == 1
    assert part.vlog.blocked


def test_a_scan_point_of_another_form_is_not_believed() -> None:
    """The scan begins at the oldest file then, which is always right."""
    starts = [ScanStart(3, 1, 2, 700, 9)]
    assert decode_starts(encode_starts(starts)) == starts
    assert decode_starts(encode_starts(starts)[:-1]) == []


def test_a_checkpoint_has_room_for_a_scan_point_of_any_number_of_virtual_logs(tmp_path: Path) -> None:
    """From 2,048 on (`kproto.vlogs` of 64 topics) none could be written, and no deleted file went."""
    starts = [ScanStart(3, vlog, 2, 700, 9) for vlog in range(2048)]
    Checkpoint(Disk(), str(tmp_path)).write([], encode_starts(starts))
    assert decode_starts(Checkpoint(Disk(), str(tmp_path)).point) == starts[:2047]


def test_a_damaged_chunk_is_not_pushed_again() -> None:
    partition: Any = ClusterWorld.begin().partition()
    stand_in = OldChunks(partition)
    data = bytearray(chunk(0, 100) + chunk(1, 100) + chunk(2, 100))
    data[150] ^= 1
    references = stand_in.references
    assert [ref[3] for ref in references(memoryview(data), 2, 9)] == [2], "the others are not looked at"
    with pytest.raises(DamagedError, match="offset 1"):
        references(memoryview(data), 0, 9)
