"""What a start finds in the journal: torn tails at every byte, damage, lost page cache, several processes
(rule 24)."""

from __future__ import annotations

import errno
import os
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from kproto.disk import NO_DATA, Disk
from kproto.vlog import manager
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.dump import frames, journal_files
from kproto.vlog.frame import (
    ENTRY_SIZE,
    FILE_HEADER_SIZE,
    FRAME_SIZE,
    FrameHeader,
    decode_frame_header,
    identity,
    seal,
)
from kproto.vlog.kept import EMPTIED, HEADLESS
from kproto.vlog.recovery import JournalCorruptError, Recovered, recover
from kproto.vlog.scan import Verdict, decide
from kproto.vlog.scan_point import decode_starts, encode_starts
from tests.vlog.conftest import TestLoop
from tests.vlog.support import BOOT, Partition, World, recovered_bytes

OTHER_BOOT = bytes(16 * [9])
INLINE = {"kproto__direct__bytes": "0"}
SMALL = {**INLINE, "kproto__virtual__segment__bytes": "1048576"}


def pushes(world: World, loop: TestLoop, part: Partition, count: int, size: int = 200) -> None:
    for _ in range(count):
        part.append(size)
        loop.until(lambda: part.vlog.durable == part.vlog.end)


def only_file(world: World) -> str:
    (file,) = journal_files(world.disk, world.journal_path())
    return file.path


def overwrite(path: str, at: int, data: bytes) -> None:
    with open(path, "r+b") as stream:
        stream.seek(at)
        stream.write(data)


def ends(world: World, found: Recovered, part: Partition) -> int:
    chunks = found.chunks.get((part.topic_id, part.index), [])
    return chunks[-1].next_offset if chunks else 0


def test_the_decision_table_is_complete() -> None:
    """Every combination has exactly the row that rule 24 gives it."""
    rows = {
        (damaged, proven, survives): decide(damaged, proven, survives)
        for damaged, proven, survives in product((False, True), repeat=3)
    }
    assert {key: row for key, row in rows.items() if not key[0]} == {
        (False, proven, survives): Verdict.USE for proven, survives in product((False, True), repeat=2)
    }
    assert rows[True, False, False] is Verdict.CUT
    assert rows[True, False, True] is Verdict.CUT
    assert rows[True, True, True] is Verdict.CORRUPT
    assert rows[True, True, False] is Verdict.LOST


def test_a_tail_torn_at_any_byte_costs_exactly_its_frame(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop, **INLINE)
    part = world.partition()
    pushes(world, loop, part, 3)
    path = only_file(world)
    length = FRAME_SIZE + ENTRY_SIZE + 200
    content = Path(path).read_bytes()[: FILE_HEADER_SIZE + 3 * length]
    for frame in (1, 2):
        start = FILE_HEADER_SIZE + frame * length
        for cut in range(start, start + length):
            Path(path).write_bytes(content[:cut] + b"\xa5" * (len(content) - cut))
            assert ends(world, world.recover(), part) == frame, f"torn at byte {cut - start} of frame {frame}"
    Path(path).write_bytes(content)
    assert ends(world, world.recover(), part) == 3


def test_every_byte_of_the_last_frame_matters(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop, **INLINE)
    part = world.partition()
    pushes(world, loop, part, 2)
    path = only_file(world)
    length = FRAME_SIZE + ENTRY_SIZE + 200
    start = FILE_HEADER_SIZE + length
    content = Path(path).read_bytes()[: start + length]
    for at in range(start, start + length):
        damaged = bytearray(content)
        damaged[at] ^= 0x40
        Path(path).write_bytes(damaged)
        assert ends(world, world.recover(), part) == 1, f"byte {at - start} of the frame is not covered"


def test_damage_below_what_was_durable_is_corruption(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop, **INLINE)
    part, other = world.partition(index=0), world.partition(index=1)
    pushes(world, loop, part, 2)
    pushes(world, loop, other, 1)
    length = FRAME_SIZE + ENTRY_SIZE + 200
    overwrite(only_file(world), FILE_HEADER_SIZE + length + FRAME_SIZE + ENTRY_SIZE + 100, b"rotten")
    with pytest.raises(JournalCorruptError, match="only copy"):
        world.recover()
    found = world.recover(accept_loss=True)
    assert (ends(world, found, part), ends(world, found, other)) == (1, 1), (
        "others are found behind the damage"
    )
    assert len(found.losses) == 1


def test_any_later_frame_proves_that_what_is_damaged_was_durable(tmp_path: Path, loop: TestLoop) -> None:
    """Not the first one alone, which may have been on its way together with it (24c)."""
    world = World.start(str(tmp_path), loop, **INLINE)
    part = world.partition()
    pushes(world, loop, part, 4)
    path, length = only_file(world), FRAME_SIZE + ENTRY_SIZE + 200
    content = bytearray(Path(path).read_bytes())
    places = range(FILE_HEADER_SIZE, FILE_HEADER_SIZE + 4 * length, length)
    headers = [decode_frame_header(content, at) for at in places]
    chain = headers[1].chain  # type: ignore[union-attr]
    for at, header in list(zip(places, headers, strict=True))[2:]:
        assert isinstance(header, FrameHeader)
        durable = header.durable - length if at == places[2] else header.durable
        head = content[at : at + FRAME_SIZE + ENTRY_SIZE]
        chain = seal(head, *header[2:6], length, chain, durable, 1)
        content[at : at + len(head)] = head
    Path(path).write_bytes(content)
    assert ends(world, world.recover(), part) == 4, "they are sound"
    overwrite(path, places[1] + FRAME_SIZE + 5, b"rotten")
    with pytest.raises(JournalCorruptError, match="only copy"):
        world.recover()


def test_a_damaged_header_is_corruption(tmp_path: Path, loop: TestLoop) -> None:
    """The file was deleted, and with it all that was acknowledged in it. Where others have copies it is set
    aside: an owner that has no file says that its virtual segment was never begun."""
    world = World.start(str(tmp_path), loop, **INLINE)
    part = world.partition()
    pushes(world, loop, part, 2)
    path = only_file(world)
    whole = Path(path).read_bytes()
    overwrite(path, 9, bytes([whole[9] ^ 1]))
    with pytest.raises(JournalCorruptError, match="header is damaged; this is the only copy"):
        world.recover()
    asked: list[tuple[int, ...]] = []
    found = recover(world.disk, world.journal_path(), (), BOOT, listed=lambda *vseg: not asked.append(vseg))
    assert (len(asked), len(found.losses), found.chunks) == (1, 1, {})
    os.rename(path + HEADLESS, path)
    overwrite(path, 9, whole[9:10])
    assert ends(world, world.recover(), part) == 2
    overwrite(path, 9, bytes([whole[9] ^ 1]))
    assert len(world.recover(accept_loss=True).losses) == 1
    assert not os.path.exists(path)


def test_a_header_that_a_power_loss_took_is_no_corruption(tmp_path: Path, loop: TestLoop) -> None:
    for begun in (False, True):
        world = World.start(str(tmp_path / str(begun)), loop, **INLINE)
        part = world.partition()
        pushes(world, loop, part, 1)
        path = only_file(world)
        overwrite(path, 0, bytes(FILE_HEADER_SIZE if begun else os.path.getsize(path)))
        found = recover(world.disk, world.journal_path(), (), OTHER_BOOT, power_lost=begun)
        assert "never written" in found.losses[0]
        assert not os.path.exists(path)


def test_a_file_without_header_stays_aside_as_long_as_the_store_has_its_virtual_segment(
    tmp_path: Path, loop: TestLoop
) -> None:
    """A later start took one that was damaged for the only copy of something, and refused to start, when its
    virtual segment had been deleted: there had been copies, then nobody needed any."""
    for power_lost, damage in product((False, True), (b"rotten", bytes(FILE_HEADER_SIZE + FRAME_SIZE))):
        world = World.start(str(tmp_path / f"{power_lost} {len(damage)}"), loop, **INLINE)
        pushes(world, loop, world.partition(), 1)
        path = only_file(world)
        overwrite(path, 9, damage)
        start = partial(recover, world.disk, world.journal_path(), (), BOOT, power_lost=power_lost)
        for losses in (1, 0):
            found = start(listed=lambda *_: True)
            assert (len(found.losses), found.files, os.path.exists(path)) == (losses, [], False)
            emptied = power_lost and damage != b"rotten"  # before there was a frame
            assert (os.path.getsize(path + HEADLESS) == EMPTIED) is emptied, (
                "when the power was lost before a frame"
            )
        assert start().losses == []
        assert os.listdir(world.journal_path()) == []


@pytest.mark.parametrize("power_lost", [False, True])
def test_a_file_that_lost_its_first_page_is_damaged(tmp_path: Path, loop: TestLoop, power_lost: bool) -> None:
    """The header and the first frames are in it: it was taken for a file that never began, and deleted,
    though others followed."""
    world = World.start(str(tmp_path), loop, **INLINE)
    pushes(world, loop, world.partition(), 50)
    path = only_file(world)
    overwrite(path, 0, bytes(4096))
    found = partial(recover, world.disk, world.journal_path(), (), BOOT, power_lost=power_lost)
    if not power_lost:
        with pytest.raises(JournalCorruptError, match="this is the only copy"):
            found()
    found(listed=lambda *_: True)
    assert os.path.getsize(path + HEADLESS) > EMPTIED


class NoNames(Disk):
    """A full disk has no room for another name."""

    def rename(self, source: str, target: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), target)


class NoRoom(Disk):
    """A file system that copies on writing has none for a shorter file, either."""

    def truncate(self, fd: int, length: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("power_lost", [False, True])
@pytest.mark.parametrize("full", [NoNames, NoRoom])
def test_a_full_disk_that_cannot_set_a_file_aside_keeps_nobody_away(
    tmp_path: Path, loop: TestLoop, power_lost: bool, full: type[Disk]
) -> None:
    """The start was refused (37); without that name the file was deleted, or stayed as it was."""
    world = World.start(str(tmp_path), loop, **INLINE)
    pushes(world, loop, world.partition(), 1)
    path = only_file(world)
    overwrite(path, 9, bytes(FILE_HEADER_SIZE + FRAME_SIZE))
    for disk, there in ((full(), full is NoNames or power_lost), (Disk(), False)):
        if not os.path.exists(path):
            break
        found = recover(disk, world.journal_path(), (), BOOT, power_lost=power_lost, listed=lambda *_: True)
        assert (len(found.losses), found.files, os.path.exists(path)) == (1, [], there)


def test_bytes_lost_with_the_page_cache_are_reported_not_refused(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop, **INLINE)
    part, other = world.partition(index=0), world.partition(index=1)
    pushes(world, loop, part, 2)
    pushes(world, loop, other, 1)
    overwrite(only_file(world), FILE_HEADER_SIZE + FRAME_SIZE, b"\0" * 60)
    found = world.recover(boot=OTHER_BOOT)
    assert ends(world, found, other) == 1
    assert [chunk.base_offset for chunk in found.chunks[part.topic_id, 0]] == [1], "the log sees the gap at 0"
    assert "lost" in found.losses[0]


def test_synced_data_must_survive_a_power_loss(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop, **INLINE)
    part = world.partition(flush__messages="1")
    pushes(world, loop, part, 3)
    overwrite(only_file(world), FILE_HEADER_SIZE + FRAME_SIZE, b"\0" * 60)
    with pytest.raises(JournalCorruptError):
        world.recover(boot=OTHER_BOOT)
    world.manager.close()


class SyncsSeen(Disk):
    """Remembers the files and directories that were synced."""

    __slots__ = ("synced",)

    def __init__(self) -> None:
        self.synced: set[str] = set()

    def datasync(self, fd: int) -> None:
        self.synced.add(os.readlink(f"/proc/self/fd/{fd}"))
        super().datasync(fd)

    def sync_directory(self, path: str) -> None:
        self.synced.add(path)
        super().sync_directory(path)


@pytest.mark.parametrize("config", [{"flush__messages": "1"}, {"flush__messages": "5"}, {}])
def test_what_was_not_synced_when_the_process_ended_is_synced_by_the_next(
    config: dict[str, str], tmp_path: Path, loop: TestLoop
) -> None:
    """Found by simulation: a producer that repeated it was told that it is stored; then power was lost."""
    world = World.start(str(tmp_path), loop, **SMALL)
    part = world.partition(**config)
    pushes(world, loop, part, 3)
    path = only_file(world)
    disk = SyncsSeen()
    found = recover(disk, world.journal_path(), (), BOOT)
    assert ends(world, found, part) == 3
    assert disk.synced == ({path, world.journal_path()} if config else set())


def test_a_missing_virtual_segment_is_corruption(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop, **SMALL)
    part = world.partition()
    pushes(world, loop, part, 50, 60_000)
    files = journal_files(world.disk, world.journal_path())
    assert len(files) >= 3
    os.unlink(files[1].path)
    with pytest.raises(JournalCorruptError):
        world.recover()
    assert len(world.recover(accept_loss=True).losses) >= 1


def test_a_recycled_file_shows_nothing_of_its_former_life(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop, **SMALL)
    part = world.partition()
    while not part.vlog.segments or part.vlog.segments[-1].number < 6:
        pushes(world, loop, part, 1, 100_000)
        part.segment.flush(part.segment.end)
        part.segment.sync()
    loop.until(lambda: not world.manager.cleaner.closed)
    files = journal_files(world.disk, world.journal_path())
    (file,) = files
    assert file.header is not None
    content = Path(file.path).read_bytes()
    found = world.recover()
    assert not found.losses
    kept = recovered_bytes(world, found, part)
    assert kept == {base: data for base, data in part.chunks.items() if base >= min(kept)}
    assert ends(world, found, part) == part.high_watermark
    former = [identity(file.header.vlog, 1, number) in content for number in range(1, file.header.vseg)]
    assert any(former), "recycled, not erased: frames of former segments are there, and were not believed"


def test_the_checkpoint_shortens_the_scan(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop, **SMALL)
    part, late = world.partition(index=0), world.partition(index=1)
    pushes(world, loop, part, 40, 60_000)
    part.segment.flush(part.segment.end)
    starts = decode_starts(encode_starts(world.manager.scan_start()))
    pushes(world, loop, late, 3)
    found = world.recover(starts)
    assert (part.topic_id, 0) not in found.chunks
    assert recovered_bytes(world, found, late) == late.chunks
    after_power_loss = world.recover(starts, boot=OTHER_BOOT)
    assert recovered_bytes(world, after_power_loss, part) == part.chunks, "flushed is not synced"
    after_a_failed_sync = world.recover(starts, power_lost=True)
    assert recovered_bytes(world, after_a_failed_sync, part) == part.chunks, "nor is it in the same boot"


def test_a_later_process_replaces_what_an_earlier_one_left(tmp_path: Path, loop: TestLoop) -> None:
    first = World.start(str(tmp_path), loop, epoch=1, **INLINE)
    part = first.partition()
    pushes(first, loop, part, 5)
    second = World.start(str(tmp_path), loop, epoch=2, **INLINE)
    again = second.partition(base=3)
    pushes(second, loop, again, 2, 300)
    found = second.recover()
    expected = {base: data for base, data in part.chunks.items() if base < 3} | again.chunks
    assert recovered_bytes(second, found, part) == expected
    assert [chunk.leader_epoch for chunk in found.chunks[part.topic_id, 0]] == [1, 1, 1, 2, 2]


def test_runs_join_neighbours_and_read_them(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop, **INLINE)
    part = world.partition()
    for count in (3, 2):
        for _ in range(count):
            part.append(150)
        loop.turn()
    found = world.recover()
    ((_, runs),) = list(found.runs())
    assert [(run.base_offset, run.next_offset, run.length) for run in runs] == [(0, 3, 450), (3, 5, 300)]
    data = b"".join(bytes(run.read(run.position, run.length)) for run in runs)
    assert data == b"".join(part.chunks.values())


def test_old_files_stay_until_the_log_has_settled_them(tmp_path: Path, loop: TestLoop) -> None:
    first = World.start(str(tmp_path), loop, epoch=1, **INLINE)
    parts = [first.partition(index=i) for i in range(2)]
    for part in parts:
        pushes(first, loop, part, 2)
    old = only_file(first)
    second = World.start(str(tmp_path), loop, epoch=2, **INLINE)
    settled: set[int] = set()
    asked: set[tuple[int, int]] = set()

    def is_settled(_: bytes, index: int, end: int) -> bool:
        asked.add((index, end))
        return index in settled

    second.manager.inherit(second.recover(), is_settled, lambda topic_id, index: None)
    settled.add(0)
    second.manager._next_settle = 0.0
    second.manager.tick()
    assert os.path.exists(old)
    assert asked == {(0, 2), (1, 2)}
    settled.add(1)
    second.manager._next_settle = 0.0
    second.manager.tick()
    loop.until(lambda: second.manager.journal.bytes == 0)
    assert not os.path.exists(old)
    second.manager.close()


def test_the_segments_that_old_files_wait_for_are_synced(
    tmp_path: Path, loop: TestLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manager, "SETTLE_S", 0.0)
    monkeypatch.setattr(manager, "FIRST_SETTLE_S", 0.0)
    first = World.start(str(tmp_path), loop, epoch=1, **INLINE)
    part = first.partition()
    pushes(first, loop, part, 2)
    old, segment = only_file(first), part.segment
    second = World.start(str(tmp_path), loop, epoch=2, **INLINE)
    second.manager.inherit(
        second.recover(),
        lambda topic_id, index, end: segment.synced == segment.end,
        lambda topic_id, index: [segment],
    )
    second.manager.tick()
    assert segment.flushed == segment.end
    loop.until(lambda: not os.path.exists(old))
    second.manager.close()


def test_an_old_file_stays_until_a_start_would_know_what_was_deleted(
    tmp_path: Path, loop: TestLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of the partition is unsynced, because it was deleted: the file went before the log start was
    on the medium."""
    monkeypatch.setattr(manager, "SETTLE_S", 0.0)
    monkeypatch.setattr(manager, "FIRST_SETTLE_S", 0.0)
    first = World.start(str(tmp_path), loop, epoch=1, **INLINE)
    pushes(first, loop, first.partition(), 2)
    old = only_file(first)
    second = World.start(str(tmp_path), loop, epoch=2, **INLINE)
    deletions = second.manager.cleaner.deletions
    deletions.newest = 1
    second.manager.inherit(second.recover(), lambda *_: False, lambda *_: [])
    for _ in range(3):
        second.manager.tick()
        assert os.path.exists(old)
    deletions.newest, deletions.known = 2, 1
    for _ in range(2):
        second.manager.tick()
    assert not os.path.exists(old), "later ones do not matter"
    second.manager.close()


def test_a_file_that_never_began_is_deleted(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop, **INLINE)
    stray = Path(world.journal_path(), "0000000000000009-0000000000000001-00000001.journal")
    stray.write_bytes(b"\0" * 4096)
    found = world.recover()
    assert not stray.exists()
    assert not found.chunks


class CountingDisk(Disk):
    """How often it was read from, and how many bytes."""

    def __init__(self) -> None:
        self.reads = self.bytes = 0

    def pread(self, fd: int, length: int, position: int) -> bytes:
        found = super().pread(fd, length, position)
        self.reads += 1
        self.bytes += len(found)
        return found


def test_sixty_four_mebibytes_of_tail_are_read_once(tmp_path: Path, loop: TestLoop) -> None:
    """In windows of about a mebibyte, each byte once but for the frame that a window cuts."""
    world = World.start(str(tmp_path), loop, kproto__virtual__segment__bytes="67108864", **INLINE)
    parts = [world.partition(index=i) for i in range(64)]
    for _ in range(900):
        for part in parts:
            part.append(1024)
        loop.turn()
    world.disk = disk = CountingDisk()
    found = world.recover()
    assert sum(len(chunks) for chunks in found.chunks.values()) == 57_600
    held = sum(file.stat().st_size for file in Path(world.journal_path()).iterdir())
    assert disk.bytes < 1.2 * held
    assert disk.reads < 2 * held / 2**20


def test_room_that_was_only_reserved_is_not_read(tmp_path: Path, loop: TestLoop) -> None:
    """Nor would be at the next start: what is read ahead of such room is data from then on."""
    world = World.start(str(tmp_path), loop, kproto__virtual__segment__bytes="67108864", **INLINE)
    part = world.partition()
    for _ in range(20):
        part.append(1024)
        loop.turn()
    (path,) = Path(world.journal_path()).iterdir()
    assert path.stat().st_size >= 32 << 20
    world.disk = disk = CountingDisk()
    fd = disk.open(str(path), write=False)
    told = disk.next_data(fd, 4 << 20) == NO_DATA  # not every file system can
    assert sum(len(chunks) for chunks in world.recover().chunks.values()) == 20
    if told:
        assert disk.next_data(fd, 4 << 20) == NO_DATA
        assert disk.bytes < 4 << 20
    disk.close(fd)


def test_the_dump_shows_frames_and_chunks(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop, epoch=5, **INLINE)
    part = world.partition(index=3)
    part.append(100, records=7)
    part.append(120)
    loop.turn()
    (file,) = journal_files(world.disk, world.journal_path())
    assert file.describe()["owner epoch"] == 5
    assert file.describe()["flush policy"] == "memory"
    (frame,) = frames(world.disk, file.path)
    assert (frame.header.position, frame.header.chunks) == (0, 2)
    assert [(c.partition, c.base_offset, c.next_offset, c.length) for c in frame.chunks] == [
        (3, 0, 7, 100),
        (3, 7, 8, 120),
    ]


def test_journal_files_of_an_unknown_boot_are_never_trusted(tmp_path: Path, loop: TestLoop) -> None:
    """Where the system has no boot id, a damaged place counts as lost, never as corruption."""
    world = World.start(str(tmp_path), loop, boot=bytes(16), **INLINE)
    part = world.partition()
    pushes(world, loop, part, 3)
    overwrite(only_file(world), FILE_HEADER_SIZE + FRAME_SIZE, b"\0" * 60)
    assert "lost" in world.recover(boot=bytes(16)).losses[0]
    assert bytes(16) != BOOT
    assert FlushPolicy.MEMORY == 0


def test_a_file_that_was_about_to_be_deleted_is_no_spare(tmp_path: Path, loop: TestLoop) -> None:
    """It was cut to what it contained: two of these kept all of the usual size from being used again."""
    first = World.start(str(tmp_path), loop, epoch=1, **SMALL)
    pushes(first, loop, first.partition(), 1)
    journal = first.manager.journal
    journal.remove = lambda path, counted: None  # killed before that
    (path,) = Path(first.journal_path()).glob("0*.journal")
    journal.drop(str(path), 100)
    assert not path.exists()
    second = World.start(str(tmp_path), loop, epoch=2, **SMALL)
    assert not second.manager.journal.spares
    assert [name for name in os.listdir(first.journal_path()) if name.startswith(path.name)] == []
    second.manager.close()


def test_spare_files_of_an_earlier_process_are_used(tmp_path: Path, loop: TestLoop) -> None:
    first = World.start(str(tmp_path), loop, epoch=1, **SMALL)
    part = first.partition()
    while not first.manager.journal.spares:
        pushes(first, loop, part, 1, 100_000)
        part.segment.flush(part.segment.end)
        part.segment.sync()
    first.manager._sync_worker.close()
    first.manager._clean_worker.close()  # of the first nothing is on its way while the second looks
    loop.turn()
    spares = {spare.path for spare in first.manager.journal.spares}
    second = World.start(str(tmp_path), loop, epoch=2, **SMALL)
    assert {spare.path for spare in second.manager.journal.spares} <= spares
    again = second.partition(index=1)
    pushes(second, loop, again, 2)
    assert len(second.manager.journal.spares) < len(spares), "no new file was made"
    found = second.recover()
    assert recovered_bytes(second, found, again) == again.chunks
    second.manager.close()


@pytest.mark.parametrize("fill", [0, 1])
def test_damage_before_a_long_run_of_zeros_hides_nothing(tmp_path: Path, loop: TestLoop, fill: int) -> None:
    """A chunk of zeros is no unwritten space: what is acked behind it proves the damage (24c)."""
    world = World.start(str(tmp_path), loop, **INLINE, kproto__virtual__segment__bytes=str(8 << 20))
    zeros = world.partition(index=fill, flush__messages="1")
    other = world.partition(index=7, flush__messages="1")
    for part, size in ((other, 500), (zeros, 3 << 20), (other, 500)):
        pushes(world, loop, part, 1, size)
    second = FILE_HEADER_SIZE + FRAME_SIZE + ENTRY_SIZE + 500
    overwrite(only_file(world), second + 50, b"\xff")
    with pytest.raises(JournalCorruptError):
        world.recover()


def test_a_sound_frame_of_another_history_is_not_believed(tmp_path: Path, loop: TestLoop) -> None:
    """Same virtual log, segment and position, but chained to another frame (rule 6)."""
    worlds = [World.start(str(tmp_path / name), loop, **INLINE) for name in ("one", "other")]
    parts = [worlds[0].partition(index=0), worlds[1].partition(index=7)]
    for world, part in zip(worlds, parts, strict=True):
        pushes(world, loop, part, 2)
    length = FRAME_SIZE + ENTRY_SIZE + 200
    at = FILE_HEADER_SIZE + length
    stray = Path(only_file(worlds[1])).read_bytes()[at : at + length]
    overwrite(only_file(worlds[0]), at, stray)
    found = worlds[0].recover()
    assert ends(worlds[0], found, parts[0]) == 1
    assert set(found.chunks) == {(parts[0].topic_id, 0)}


def test_runs_tell_whose_chunks_they_are_and_whether_a_loss_of_power_takes_them(
    tmp_path: Path, loop: TestLoop
) -> None:
    """What is in a file, too, need not be synced then before it is used (8)."""
    world = World.start(str(tmp_path), loop, **INLINE)
    synced, timed = world.partition(flush__messages="1"), world.partition(index=1, flush__ms="1000")
    loose = world.partition(index=2)
    for part in (synced, timed, loose):
        part.append(200)
    synced.leader_epoch += 1
    pushes(world, loop, synced, 1)
    loop.until(lambda: timed.vlog.durable == loose.vlog.durable == 1)
    found = {
        key[1]: [(run.base_offset, run.next_offset, run.epoch, run.synced) for run in runs]
        for key, runs in world.recover().runs()
    }
    assert found == {
        0: [(0, 1, 1, True), (1, 2, 2, True)],
        1: [(0, 1, 1, True)],
        2: [(0, 1, 1, False)],
    }
