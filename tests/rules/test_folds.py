"""What is known of a partition is the fold of its chunks, wherever the log is cut (rules 28, 28b, 33, 39)."""

from __future__ import annotations

import itertools

import pytest

from kproto.log.epochs import EpochCache
from kproto.vlog import states
from tests.vlog.cluster import ClusterWorld


def fold(epochs: tuple[int, ...], start: int, end: int) -> list[tuple[int, int]]:
    """Epochs and their first offsets of a log with one record per chunk, between two offsets."""
    cache = EpochCache()
    for offset in range(start, end):
        cache.note(epochs[offset], offset)
    return list(zip(cache.epochs, cache.starts, strict=True))


def test_epochs_are_those_of_the_chunks_that_are_left() -> None:
    """Cut at any offset, a log does not remember an epoch of which no chunk is left: asked for its end, a
    leader would answer for an epoch that never was in the sealed log."""
    for steps in itertools.product((0, 1, 3), repeat=4):
        epochs = tuple(itertools.accumulate(steps))
        for end in range(len(epochs) + 1):
            cache = EpochCache()
            for offset, epoch in enumerate(epochs):
                cache.note(epoch, offset)
            cache.cut_end(end)
            assert list(zip(cache.epochs, cache.starts, strict=True)) == fold(epochs, 0, end)
            for start in range(end):
                cache.cut_front(start)
                assert list(zip(cache.epochs, cache.starts, strict=True)) == fold(epochs, start, end)


def test_a_state_frame_counts_when_all_copies_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The frame before it is durable, the state frame itself is on its way: what is in it alone would be lost
    with this process, so that nothing may be freed on its account yet (28b, 30)."""
    world = ClusterWorld.begin(3, 3)
    part = world.partition()
    part.append()
    world.flow()
    key = (part.topic_id, part.index)
    (pusher,) = world.pushers
    monkeypatch.setattr(states, "FIRST_AFTER", 1)
    part.append()
    world.loop.turn()
    assert pusher.states.written == 1, "the state frame follows the chunk"

    def covered() -> bool:
        return world.manager.covers(1, pusher.vlog.vlog_id, 0, key)

    assert not covered()
    for _ in range(2):
        world.backups.deliver(0)
    for _ in range(2):
        world.backups.answer(0)
    assert part.high_watermark == 2, "the chunk is durable"
    assert len(world.backups.pushes) == 2, "the state frame is on its way"
    assert not covered(), "nobody has it yet"
    world.flow()
    assert covered()


def test_what_was_written_down_before_a_partition_went_on_elsewhere_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It appends to another virtual log now. When those records are deleted, and the virtual segment with
    them is freed because of the old state, producers would be remembered as they were then (28b, 30, 40)."""
    world = ClusterWorld.begin(3, 3)
    part = world.partition()
    key = (part.topic_id, part.index)
    monkeypatch.setattr(states, "FIRST_AFTER", 1)
    part.append()
    world.flow()
    (before,) = world.pushers
    assert world.manager.covers(0, 1, 1, key)
    other = world.partition(topic=9, kproto__vlogs="1")
    assert other.vlog is not part.vlog
    after = world.manager._of[other.vlog]  # type: ignore[index]
    monkeypatch.setattr(states, "FIRST_AFTER", 1 << 30)
    world.manager._move(part, part.vlog, after)  # type: ignore[arg-type]
    part.append()
    world.flow()
    assert key in before.states.covered[1], "as it was then"
    assert not world.manager.covers(0, 1, 1, key)
    assert not world.manager.covers(1, after.vlog.vlog_id, 1, key)
    monkeypatch.setattr(states, "FIRST_AFTER", 1)
    world.manager.write_down(part)  # type: ignore[arg-type]
    part.append()
    world.flow()
    assert world.manager.covers(0, 1, 1, key)
    assert not world.manager.covers(1, after.vlog.vlog_id, 1, key), "it is in that very segment"
