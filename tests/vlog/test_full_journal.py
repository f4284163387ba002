"""A journal at its limit: what makes room must not wait for room itself."""

from __future__ import annotations

from tests.vlog.cluster import ClusterPartition, ClusterWorld, MemoryDisk

MEGABYTE = 1 << 20
SIZES = {"kproto__journal__bytes": str(4 * MEGABYTE), "kproto__virtual__segment__bytes": str(MEGABYTE)}


def append(world: ClusterWorld, part: ClusterPartition, times: int) -> None:
    """So many batches, each in a push of its own if there is room."""
    for _ in range(times):
        part.append(5_000)
        world.flow()


def begun() -> tuple[ClusterWorld, ClusterPartition, ClusterPartition]:
    """A partition with three copies, and one with a single copy, in a journal of 4 MB."""
    world = ClusterWorld.begin(**SIZES)
    world.manager.replicate(world.backups, world.vsegs, lambda topic, _: 3 if topic[-1] == 1 else 1)
    world.manager.members_changed(range(1, 4))
    shared, alone = world.partition(topic=1), world.partition(topic=2)
    for part in (shared, alone):
        part.append()
    world.flow()
    return world, shared, alone


def fill(world: ClusterWorld, alone: ClusterPartition) -> None:
    """Append until the journal has no room: all that is closed waits for what was closed before."""
    for _ in range(2000):
        alone.append(5_000)
        world.flow(1)
    assert alone.high_watermark < alone.log_end_offset


def test_who_was_alone_for_a_moment_goes_on_though_others_filled_the_journal_meanwhile() -> None:
    """Files are given back in the order in which they were closed, and that of a segment whose end the store
    does not know stays: so the next one, which tells it, has to get a file (found by attack: acks of some
    virtual logs never came again)."""
    world, shared, alone = begun()
    for node in world.nodes.values():
        node.refuses = True
    shared.append()
    world.flow()
    fill(world, alone)
    assert shared.high_watermark < shared.log_end_offset
    for node in world.nodes.values():
        node.refuses = False
    world.pass_time(10)
    assert shared.high_watermark == shared.log_end_offset
    assert alone.high_watermark == alone.log_end_offset
    world.check()


def test_virtual_logs_whose_open_files_fill_the_journal_go_on() -> None:
    """The first ones took their share when they were few. Nothing is closed that could make room, and none of
    them can be closed without a next one (found by attack)."""
    world = ClusterWorld.begin(kproto__vlogs__per__broker="8", **SIZES)
    parts = []
    for index in range(8):
        parts.append(world.partition(index=index))
        parts[-1].append()
        world.flow()
    for _ in range(299):
        for part in parts:
            part.append(5_000)
        world.flow()
    world.pass_time(10)
    assert len({part.vlog.vlog_id for part in parts}) > 4
    assert [part.high_watermark for part in parts] == [300] * 8
    assert world.manager.journal.bytes < 8 * MEGABYTE
    world.check()


def alone(**config: str) -> tuple[ClusterWorld, ClusterPartition, ClusterPartition]:
    """A broker without others and a partition with ``config`` and one record, one without, in a journal of
    4 MB."""
    world = ClusterWorld.begin(1, 0, kproto__journal__bytes=str(4 * MEGABYTE))
    parts = world.partition(topic=1, **config), world.partition(topic=2)
    for part in parts:
        part.append()
    world.flow()
    return world, *parts


def test_a_sync_that_is_not_due_for_long_holds_up_no_file() -> None:
    """The file of a virtual log is pinned while it has records that are to be synced some time, and its next
    one, with which they would be, waits for this one (found by attack: no acks of this broker any more)."""
    world, timed, _ = alone(flush__messages="1000000")
    append(world, timed, 2000)
    world.pass_time(10)
    assert timed.high_watermark == timed.log_end_offset
    assert world.manager.journal.bytes <= 4 * MEGABYTE
    world.check()


def test_a_sync_that_is_not_due_for_long_holds_up_no_other_virtual_log() -> None:
    """Nobody appends to its partition any more, so it would not become due."""
    world, timed, other = alone(flush__messages="1000000")
    append(world, timed, 300)
    append(world, other, 2000)
    world.pass_time(10)
    assert other.high_watermark == other.log_end_offset
    assert timed.high_watermark == timed.log_end_offset
    world.check()


def test_a_file_that_is_left_during_a_sync_is_synced_by_the_next_one() -> None:
    world, timed, _ = alone(flush__messages="400")
    worker = world.manager._timed_worker
    worker.held = True  # type: ignore[attr-defined]
    append(world, timed, 500)
    world.pass_time(10)
    assert world.manager.cleaner.closed, "the files that are being synced stay"
    worker.release()  # type: ignore[attr-defined]
    world.pass_time(10)
    assert not world.manager.cleaner.closed
    world.check()


def test_a_process_without_backups_ends_though_its_disk_does_not_answer() -> None:
    """What is acknowledged is in the journal."""
    world, _, _ = alone()
    part = world.partition(topic=3, flush__messages="1")
    part.append()
    world.flow()
    world.manager._sync_worker.held = True  # type: ignore[attr-defined]
    part.append()
    world.flow()
    for _ in range(300):
        if world.manager.drain() or world.manager.stuck:
            break
        world.loop.advance(0.1)
        world.manager.tick()
    assert world.manager.stuck
    assert not world.manager.drain()
    assert part.high_watermark == 1
    world.manager.close()
    recovered = world.recover()
    assert len(recovered.chunks[part.topic_id, part.index]) == 2


def test_virtual_logs_of_a_deleted_topic_share_the_journal_no_more() -> None:
    """Ever smaller files were made for all others, until the next start."""
    world = ClusterWorld.begin(**SIZES)
    world.partition(topic=1)
    before = world.manager.space.file_bytes
    own = [world.partition(topic=2, index=index, kproto__vlogs="8") for index in range(8)]
    assert world.manager.space.file_bytes < before
    for _ in range(2):
        world.manager.forget_topic(own[0].topic_id)
        assert world.manager.space.file_bytes == before


def test_what_is_given_back_goes_at_once_where_there_is_no_room_for_another_name() -> None:
    world = ClusterWorld.begin(**SIZES)
    journal, disk = world.manager.journal, world.disk
    assert isinstance(disk, MemoryDisk)
    before = journal.bytes
    assert journal.reserve(MEGABYTE)
    file = journal.create(journal.new_name(), MEGABYTE)
    disk.no_longer_names = True
    journal.give_back(file)
    assert file.path not in disk.names
    assert journal.bytes == before
    assert not journal.spares
