"""A journal at its limit: what makes room must not wait for room itself."""

from __future__ import annotations

from tests.vlog.cluster import ClusterPartition, ClusterWorld

MEGABYTE = 1 << 20


def begun() -> tuple[ClusterWorld, ClusterPartition, ClusterPartition]:
    """A partition with three copies, and one with a single copy, in a journal of 4 MB."""
    sizes = {"kproto__journal__bytes": str(4 * MEGABYTE), "kproto__virtual__segment__bytes": str(MEGABYTE)}
    world = ClusterWorld.begin(**sizes)
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
        node.full = True
    shared.append()
    world.flow()
    fill(world, alone)
    assert shared.high_watermark < shared.log_end_offset
    for node in world.nodes.values():
        node.full = False
    world.pass_time(10)
    assert shared.high_watermark == shared.log_end_offset
    assert alone.high_watermark == alone.log_end_offset
    world.check()


def test_virtual_logs_whose_open_files_fill_the_journal_go_on() -> None:
    """The first ones took their share when they were few. Nothing is closed that could make room, and none of
    them can be closed without a next one (found by attack)."""
    sizes = {"kproto__journal__bytes": str(4 * MEGABYTE), "kproto__virtual__segment__bytes": str(MEGABYTE)}
    world = ClusterWorld.begin(kproto__vlogs__per__broker="8", **sizes)
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
