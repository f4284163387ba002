"""From append to durable: order, batching, classes, rolling."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from kproto.disk import Buffer
from kproto.vlog import pusher
from kproto.vlog.frame import FRAME_SIZE
from kproto.vlog.journal import SPARE_PREFIX
from tests.vlog.conftest import TestLoop
from tests.vlog.support import FaultyDisk, World, recovered_bytes


def journal_names(world: World) -> list[str]:
    return sorted(n for n in os.listdir(world.journal_path()) if not n.startswith(SPARE_PREFIX))


def test_one_push_takes_all_references_of_a_turn(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop)
    parts = [world.partition(index=i) for i in range(3)]
    for part in parts * 2:
        part.append()
    assert parts[0].vlog.durable == 0, "nothing is written before the turn ends"
    loop.turn()
    assert parts[0].vlog.durable == 6
    assert [part.history for part in parts] == [[2], [2], [2]], (
        "one high watermark step per partition and push"
    )


def test_waiters_fire_by_position_after_the_high_watermarks(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop)
    part = world.partition()
    seen: list[tuple[str, int]] = []
    first, second = part.append(), part.append()
    part.vlog.when_durable(second, lambda: seen.append(("second", part.high_watermark)))
    part.vlog.when_durable(first, lambda: seen.append(("first", part.high_watermark)))
    part.vlog.when_durable(second, lambda: seen.append(("second again", part.high_watermark)))
    loop.turn()
    part.vlog.when_durable(first, lambda: seen.append(("late", part.high_watermark)))
    assert seen == [("first", 2), ("second", 2), ("second again", 2), ("late", 2)]


def test_a_broken_callback_does_not_stop_the_others(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop)
    part = world.partition()
    seen: list[int] = []
    part.vlog.when_durable(part.append(), lambda: 1 / 0)
    part.vlog.when_durable(part.append(), lambda: seen.append(1))
    loop.turn()
    assert seen == [1]
    assert [type(context["exception"]) for context in loop.errors] == [ZeroDivisionError]
    part.append()
    loop.turn()
    assert part.high_watermark == 3


def test_neighbours_in_a_block_are_one_piece(tmp_path: Path, loop: TestLoop) -> None:
    pieces: list[int] = []

    class Counting(FaultyDisk):
        def pwritev(self, fd: int, buffers: list[Buffer], position: int, length: int = -1) -> int:
            pieces.append(len(buffers))
            return super().pwritev(fd, buffers, position, length)

    world = World.start(str(tmp_path), loop, disk=Counting())
    one, two = world.partition(index=0), world.partition(index=1)
    for part in (one, one, one, two, two):
        part.append()
    loop.turn()
    assert pieces == [2, 4], "the file header; then one head and one piece for each partition; zeros behind"


def test_large_partitions_go_to_their_segment_file_small_ones_to_the_journal(
    tmp_path: Path, loop: TestLoop
) -> None:
    world = World.start(str(tmp_path), loop, kproto__direct__bytes="16384")
    small, large = world.partition(index=0), world.partition(index=1)
    small.append(1000)
    for _ in range(4):
        large.append(5000)
    loop.turn()
    assert (small.segment.flushed, large.segment.flushed) == (0, 20_000)
    assert large.high_watermark == 4
    segment = world.manager._pushers[next(iter(world.manager._pushers))].vlog.segments[0]
    assert segment.end < 2000 + FRAME_SIZE, "the journal holds references only"
    found = world.recover()
    assert recovered_bytes(world, found, large) == large.chunks
    assert recovered_bytes(world, found, small) == small.chunks
    assert [list(runs) for key, runs in found.runs() if key[1] == 1] == [[]]


def test_segments_roll_and_every_file_is_found_again(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(
        str(tmp_path), loop, kproto__virtual__segment__bytes="1048576", kproto__direct__bytes="0"
    )
    part = world.partition()
    for _ in range(300):
        part.append(10_000)
        loop.until(lambda: part.vlog.durable == part.vlog.end)
    assert len(journal_names(world)) >= 3
    found = world.recover()
    assert not found.losses
    assert recovered_bytes(world, found, part) == part.chunks


def test_a_push_that_does_not_fit_is_split(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(
        str(tmp_path), loop, kproto__virtual__segment__bytes="1048576", kproto__direct__bytes="0"
    )
    part = world.partition()
    for size in (600_000, 600_000, 2_500_000, 100):
        part.append(size)
    loop.until(lambda: part.high_watermark == 4)
    assert part.history == [1, 2, 3, 4] or part.history[-1] == 4
    assert recovered_bytes(world, world.recover(), part) == part.chunks


def test_synced_class_acks_after_the_fdatasync_and_batches_meanwhile(tmp_path: Path, loop: TestLoop) -> None:
    synced: list[int] = []

    class Watching(FaultyDisk):
        def datasync(self, fd: int) -> None:
            synced.append(fd)
            super().datasync(fd)

    world = World.start(str(tmp_path), loop, disk=Watching())
    part = world.partition(flush__messages="1")
    part.append()
    loop.until(lambda: part.high_watermark == 1)
    assert len(synced) == 2, "the header of a new file first, then the frame"
    part.append()
    loop.turn()
    assert part.high_watermark == 1, "the ack waits for the disk"
    part.append()
    part.append()
    loop.until(lambda: part.high_watermark == 4)
    assert part.history == [1, 2, 4], "what came during the sync is one push"
    assert len(synced) == 4
    world.manager.close()


def test_timed_class_acks_at_once_and_syncs_after_n_records(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop)
    part = world.partition(flush__messages="10")
    (pusher,) = world.manager._pushers.values()
    sync = pusher.group_sync
    assert sync is not None
    for _ in range(9):
        part.append()
    loop.turn()
    assert part.high_watermark == 9
    assert not sync.syncs
    part.append()
    loop.until(lambda: sync.syncs == 1)
    part.append(records=25)
    loop.until(lambda: sync.syncs == 2)
    world.manager.close()


def test_timed_class_syncs_after_t_milliseconds(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop)
    part = world.partition(flush__ms="30")
    (pusher,) = world.manager._pushers.values()
    sync = pusher.group_sync
    assert sync is not None
    part.append()
    loop.turn()
    assert part.high_watermark == 1
    loop.until(lambda: sync.syncs == 1)
    assert not loop.later, "an idle partition costs no timer"
    world.manager.close()


def test_no_group_sync_begins_when_the_files_are_closed(tmp_path: Path, loop: TestLoop) -> None:
    """Neither by what came during the last one, nor by a timer: it would be of another file, or fail."""
    disk_goes_on = threading.Event()

    class Slow(FaultyDisk):
        def datasync(self, fd: int) -> None:
            assert disk_goes_on.wait(60)
            super().datasync(fd)

    world = World.start(str(tmp_path), loop, disk=Slow())
    by_number = world.partition(flush__messages="3")
    by_time = world.partition(index=1, flush__ms="1")
    sync = world.manager._of[by_number.vlog].group_sync  # type: ignore[index]
    assert sync is not None
    for _ in range(2):
        for _ in range(3):
            by_number.append()
        by_time.append()
        loop.turn()
    disk_goes_on.set()
    world.manager.close()
    loop.until(lambda: sync.syncs == 1)
    loop.until(lambda: not loop.later)
    world.manager._timed_worker.close()
    loop.turn()
    assert not world.poison
    assert sync.syncs == 1


def test_a_partition_moves_only_when_nothing_of_it_is_pending(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop)
    parts = [world.partition(index=i) for i in range(8)]
    for part in parts:
        part.append()
    more = World.start(str(tmp_path / "other"), loop, kproto__vlogs__per__broker="4").settings
    world.manager.apply_settings(more, parts)
    for part in parts[1:]:
        part.append()
    ends = [pusher.vlog.end for pusher in world.manager._pushers.values()]
    assert [end > 0 for end in ends] == [True, False, False, False]
    loop.turn()
    assert len({id(part.vlog) for part in parts}) == 4
    parts[0].append()
    loop.turn()
    assert all(part.high_watermark == 2 for part in parts)
    found = world.recover()
    for part in parts:
        assert recovered_bytes(world, found, part) == part.chunks


def test_topics_with_virtual_logs_of_their_own(tmp_path: Path, loop: TestLoop) -> None:
    world = World.start(str(tmp_path), loop)
    shared = [world.partition(topic=1, index=i) for i in range(3)]
    own = [world.partition(topic=2, index=i, kproto__vlogs="2") for i in range(4)]
    assert len({id(part.vlog) for part in shared}) == 1
    assert len({id(part.vlog) for part in own}) == 2
    assert not {id(part.vlog) for part in own} & {id(part.vlog) for part in shared}


def test_the_head_of_a_frame_that_is_written_in_turns_keeps_the_chunks_behind_it(
    tmp_path: Path, loop: TestLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes last, and enters pages that they are in."""
    monkeypatch.setattr(pusher, "BYTES_A_TURN", 20_000)
    world = World.start(str(tmp_path), loop, kproto__direct__bytes="0")
    parts = [world.partition(index=index) for index in range(100)]
    for part in parts:
        part.append()
    loop.until(lambda: all(part.high_watermark for part in parts))
    found = world.recover()
    for part in parts:
        assert recovered_bytes(world, found, part) == part.chunks
