"""Journal files of an owner that is alone stay until others have copies (rule 18b)."""

from __future__ import annotations

import errno
import os
from functools import partial

import pytest

from kproto.vlog.journal import file_name
from kproto.vlog.kept import KEPT, Kept
from kproto.vlog.recovery import Recovered, recover
from tests.vlog.cluster import ClusterPartition, ClusterWorld, MemoryDisk
from tests.vlog.support import BOOT

FIRST = f"/data/journal/{file_name(1, 1, 1)}"


def alone() -> tuple[ClusterWorld, ClusterPartition]:
    """An owner whose backups are gone; the first segment is closed, and in synced segment files."""
    world = ClusterWorld.begin()
    part = world.partition()
    part.append()
    world.flow()
    for node in world.nodes.values():
        node.up = False
    world.manager.lacks_copies = partial(lacks_backups, world)
    world.manager.members_changed([])
    world.flow()
    part.append()
    world.flow()
    assert part.high_watermark == 2
    part.segment.flush(1 << 40)
    part.segment.sync()
    world.manager.cleaner.press()
    world.loop.turn()
    return world, part


def lacks_backups(world: ClusterWorld, _: int, vlog: int, seq: int) -> bool:
    record = world.vsegs.records.get((vlog, seq))
    return record is not None and not any(world.nodes[one.node_id].up for one in record.backups)


def names(world: ClusterWorld) -> list[str]:
    disk = world.disk
    assert isinstance(disk, MemoryDisk)
    return sorted(disk.names)


def test_a_file_stays_while_no_backup_with_a_copy_is_here() -> None:
    world, _ = alone()
    assert FIRST + KEPT in names(world)
    assert FIRST not in names(world)
    world.manager.tick()
    assert FIRST + KEPT in names(world)
    for node in world.nodes.values():
        node.up = True
    world.loop.advance(2.0)
    world.manager.tick()
    world.loop.turn()
    assert FIRST + KEPT not in names(world)


def test_of_many_kept_files_the_first_one_is_told_of(caplog: pytest.LogCaptureFixture) -> None:
    """There was a line for each that was closed during a planned move (12b)."""
    disk = MemoryDisk()
    kept = Kept(disk, "", disk.unlink)
    for _ in range(2):
        for seq in range(3):
            disk.close(disk.open(f"{seq}", create=True))
            kept.keep(f"{seq}", (1, 1, seq))
        kept.sweep(lambda *_: False)
    assert [record.getMessage().split()[0] for record in caplog.records] == ["0", "0"]


def test_kept_files_are_no_part_of_the_journal() -> None:
    world, _ = alone()
    counted = world.manager.journal.bytes
    assert counted == sum(
        len(data)
        for name, data in world.disk.names.items()  # type: ignore[attr-defined]
        if name.endswith(".journal")
    )
    recovered = recover(world.disk, world.journal_path(), (), BOOT)
    assert [file.path for files in recovered.files for file in files] == [
        f"/data/journal/{file_name(1, 1, 2)}"
    ]


def next_process(world: ClusterWorld) -> tuple[ClusterWorld, Recovered]:
    """On the same disk, and what it found."""
    recovered = recover(world.disk, world.journal_path(), (), BOOT)
    after = ClusterWorld.begin()
    after.manager._disk = world.disk
    after.manager.journal._disk = world.disk
    after.manager.replicate(world.backups, world.vsegs, lambda *_: 3)
    after.manager.lacks_copies = partial(lacks_backups, world)
    after.manager.unsealed = lambda *_: False
    return after, recovered


def test_the_next_process_keeps_what_the_one_before_left_or_kept() -> None:
    world, _ = alone()
    after, recovered = next_process(world)
    after.manager.inherit(recovered, lambda *_: True, lambda *_: [])
    second = f"/data/journal/{file_name(1, 1, 2)}"
    assert {FIRST + KEPT, second + KEPT} <= set(names(world))
    assert after.manager.journal.inherited == after.manager.journal.bytes == 0
    after.loop.advance(10.0)
    after.manager.tick()
    assert {FIRST + KEPT, second + KEPT} <= set(names(world))
    world.vsegs.records.clear()
    after.loop.advance(10.0)
    after.manager.tick()
    after.loop.turn()
    assert not {FIRST + KEPT, second + KEPT} & set(names(world))


def test_a_file_that_cannot_be_kept_is_poison_and_no_error_of_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was a traceback with every tick, and nothing old was ever dropped again."""
    world, _ = alone()
    after, recovered = next_process(world)

    def stays(_: MemoryDisk, source: str, target: str) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO), source)

    monkeypatch.setattr(MemoryDisk, "rename", stays)
    after.manager.inherit(recovered, lambda *_: True, lambda *_: [])
    (reason,) = after.poison
    assert file_name(1, 1, 2) in reason
    assert f"/data/journal/{file_name(1, 1, 2)}" in names(world), "it is not deleted"


class Names:
    """Of files that are kept. ``room``: whether the disk has any for them; else it fails with ``code``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, code: int = errno.ENOSPC) -> None:
        self.room = False
        rename = MemoryDisk.rename

        def refused(disk: MemoryDisk, source: str, target: str) -> None:
            if not self.room and target.endswith(KEPT):
                raise OSError(code, os.strerror(code), source)
            rename(disk, source, target)

        monkeypatch.setattr(MemoryDisk, "rename", refused)


def test_nor_is_one_of_this_process_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """It became a spare, and the only copy of its virtual segment was gone (18b, 35)."""
    Names(monkeypatch, errno.EIO)
    world, _ = alone()
    (reason,) = world.poison
    assert FIRST in reason
    assert FIRST in names(world)


def test_it_waits_for_room_for_its_other_name_and_the_next_ones_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Found by simulation: a full disk was poison then."""
    new = Names(monkeypatch)
    world, part = alone()
    for _ in range(3):
        world.manager.tick()
        world.loop.turn()
    assert not world.poison
    assert FIRST in names(world)
    assert part.high_watermark == 2
    new.room = True
    world.manager.tick()
    world.loop.turn()
    assert FIRST + KEPT in names(world)
    assert FIRST not in names(world)


@pytest.mark.parametrize("ends", [False, True])
def test_so_does_what_the_process_before_left(monkeypatch: pytest.MonkeyPatch, ends: bool) -> None:
    new = Names(monkeypatch)
    world, _ = alone()
    after, recovered = next_process(world)
    left = [f"/data/journal/{file_name(1, 1, seq)}" for seq in (1, 2)]
    after.manager.inherit(recovered, lambda *_: True, lambda *_: [])
    counted = after.manager.journal.inherited
    assert set(left) <= set(names(world))
    assert after.manager.journal.bytes == counted > 0
    if ends:
        after.manager.close()
    assert not after.poison
    assert set(left) <= set(names(world)), "the next start takes them as they are"
    new.room = not ends
    after.loop.advance(10.0)
    after.manager.tick()
    assert ends or {name + KEPT for name in left} <= set(names(world))
    assert after.manager.journal.inherited == after.manager.journal.bytes == (counted if ends else 0)


def test_the_state_of_a_partition_is_written_down_when_somebody_wants_it() -> None:
    """One that was taken over and gets nothing: what others know of it is to be freed some day."""
    world = ClusterWorld.begin()
    part = world.partition(base=7)
    world.loop.advance(2.0)
    world.manager.tick()
    world.flow()
    assert not world.vsegs.records
    world.manager.write_down(part)
    world.flow()
    world.loop.advance(2.0)
    world.manager.tick()
    world.flow()
    assert world.pushers[0].states.covered == (1, {(part.topic_id, part.index)})
    world.check()
    world.check_states()


def test_a_new_segment_gets_a_state_frame_without_traffic() -> None:
    """So a recovery does not need the segments before, which may have no copy any more."""
    world, part = alone()
    (pusher,) = world.pushers
    before = pusher.states.covered[0]
    world.loop.advance(2.0)
    world.manager.tick()
    world.flow()
    assert pusher.states.covered[0] == 2 > before
    assert (part.topic_id, part.index) in pusher.states.covered[1]
