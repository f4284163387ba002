"""State frames: what they hold comes back, damage anywhere in one is seen, and when they are written (rule
28b)."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproto.vlog import replicated, states
from kproto.vlog.frame import (
    FRAME_SIZE,
    KIND_STATE,
    PartitionSnapshot,
    decode_frame_header,
    decode_state,
    encode_state,
    head_is_sound,
    head_length,
)
from tests.steps import steps
from tests.vlog.cluster import ClusterWorld, backups_of, begun

OFFSETS = st.integers(0, 2**63 - 1)
SNAPSHOTS = st.lists(
    st.builds(
        PartitionSnapshot,
        st.binary(min_size=16, max_size=16),
        st.integers(0, 2**32 - 1),
        OFFSETS,
        OFFSETS,
        st.binary(max_size=40),
        st.binary(max_size=200),
    ),
    max_size=5,
)


def framed(snapshots: list[PartitionSnapshot]) -> tuple[bytearray, int]:
    return encode_state([one.encode() for one in snapshots], 3, 7, 2, 4096, 0xABCD, 4000)


@given(SNAPSHOTS)
def test_what_a_state_frame_holds_comes_back(snapshots: list[PartitionSnapshot]) -> None:
    frame, chain = framed(snapshots)
    header = decode_frame_header(frame)
    assert header is not None
    assert (header.vlog, header.owner_epoch, header.vseg, header.position) == (3, 7, 2, 4096)
    assert (header.previous, header.durable, header.chain) == (0xABCD, 4000, chain)
    assert (header.kind, header.chunks) == (KIND_STATE, 0)
    assert header.length == head_length(header) == len(frame)
    assert head_is_sound(frame, 0, header)
    assert decode_state(frame) == snapshots


@given(SNAPSHOTS.filter(bool), st.data())
def test_any_changed_byte_is_seen(snapshots: list[PartitionSnapshot], data: st.DataObject) -> None:
    frame, _ = framed(snapshots)
    at = data.draw(st.integers(4, len(frame) - 1))
    frame[at] ^= data.draw(st.integers(1, 255))
    header = decode_frame_header(frame)
    assert header is None or not head_is_sound(frame, 0, header)


@given(SNAPSHOTS.filter(bool), st.data())
def test_lengths_that_do_not_fill_the_frame_are_refused(
    snapshots: list[PartitionSnapshot], data: st.DataObject
) -> None:
    frame, _ = framed(snapshots)
    cut = data.draw(st.integers(0, len(frame) - 1))
    assert decode_state(frame[:cut]) is None
    assert decode_state(frame + bytes(1)) is None
    frame[FRAME_SIZE : FRAME_SIZE + 4] = b"\xff\xff\xff\xff"
    assert decode_state(frame) is None


def kinds(world: ClusterWorld, seq: int) -> list[int]:
    copy = world.nodes[backups_of(world, seq)[0]].copies[1, seq]
    found, at = [], 0
    while at < len(copy.data):
        header = decode_frame_header(copy.data, at)
        assert header is not None
        found.append(header.kind)
        at += header.length
    return found


def test_state_frames_come_after_some_data_and_then_rarely() -> None:
    world, part = begun()
    other = world.partition(index=1)
    for _ in range(40):
        part.append(10_000)
        other.append(5_000, records=3)
        world.flow()
    found = kinds(world, 1)
    assert found.count(KIND_STATE) == 1
    assert found.index(KIND_STATE) > 1
    world.check_states()
    assert world.manager.covered(1) == (1, frozenset({(part.topic_id, 0), (part.topic_id, 1)}))
    world.pushers[0].renew()
    world.flow()
    part.append(80_000)
    world.flow()
    assert kinds(world, 2) == [0, KIND_STATE], "each segment has one soon, so that older ones can be freed"
    world.check_states()


def test_a_state_frame_waits_for_a_frame_that_took_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "FIRST_AFTER", 1)
    world = ClusterWorld.begin()
    part = world.partition()
    for _ in range(300):
        part.append(20_000)
    world.flow()
    assert part.high_watermark == 300
    assert sum(pusher.states.written for pusher in world.pushers) >= 1
    world.check_states()


def test_a_backlog_that_never_ends_does_not_keep_state_frames_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame that takes everything is made larger for it, when one has been due for long."""
    monkeypatch.setattr(replicated, "FRAME_BYTES", 20_000)
    monkeypatch.setattr(states, "INTERVAL", 40_000)
    world, part = begun()
    pushed = 0
    for _ in range(60):
        for _ in range(5):
            part.append(5_000)
        world.flow(rounds=1)
        assert part.log_end_offset > part.high_watermark, "there is always something to push"
        pushed = max(pushed, world.pushers[0].states.since)
    assert world.pushers[0].states.written > 2
    assert pushed < 400_000, "bytes that a recovery would have had to read"
    world.flow()
    world.check_states()
    world.check()


def test_a_topic_that_is_deleted_where_others_led_it_at_last_is_in_no_frame_any_more() -> None:
    world, part = begun()
    gone = world.partition(topic=2)
    gone.append(1_000)
    world.flow()
    gone.lost, gone.vlog = True, None
    world.pushers[0].write_down()
    world.loop.advance(1.0)
    part.append(1_000)
    world.flow()
    states = world.pushers[0].states
    assert states._collect(part.vlog).keys() == {(part.topic_id, 0), (gone.topic_id, 0)}
    world.manager.forget_topic(gone.topic_id)
    assert states._collect(part.vlog).keys() == {(part.topic_id, 0)}


def test_a_topic_is_forgotten_without_a_look_at_the_others() -> None:
    """Of every virtual log, for each of the topics that one request deletes."""
    taken = []
    for others in (3, 100):
        world, part = begun()
        for topic in range(2, 2 + others):
            world.partition(topic=topic).append(100)
            gone = world.partition(topic=topic, index=1)
            gone.append(100)
            world.flow()
            gone.lost, gone.vlog = True, None
        states = world.pushers[0].states
        assert len(states._collect(part.vlog)) == 2 * others + 1
        taken.append(steps(partial(world.manager.forget_topic, part.topic_id)))
        assert len(states._collect(part.vlog)) == 2 * others
    assert taken[0] == taken[1]


def test_a_partition_that_came_with_data_is_written_down_without_traffic() -> None:
    world, part = begun()
    taken = world.partition(topic=2, base=500)
    assert not world.pushers[0].states.overdue(world.loop.clock.monotonic())
    world.pass_time(3)
    assert world.manager.covered(1)[1] == {(part.topic_id, 0), (taken.topic_id, 0)}
    assert world.pushers[0].states.written == 1
    world.check_states()
    world.check()


def test_a_state_frame_without_room_is_written_in_the_next_segment() -> None:
    """Found by simulation: nothing was appended any more, and nothing older was ever freed."""
    world, part = begun()
    segment = world.pushers[0].vlog.segments[0]
    before = segment.end
    part.append(1000)
    world.flow()
    part.append(segment.room() - (segment.end - before - 1000) - 20)
    world.flow()
    assert segment.room() == 20
    taken = world.partition(topic=2, base=500)
    world.pass_time(4)
    assert world.manager.covered(1) == (2, frozenset({(part.topic_id, 0), (taken.topic_id, 0)}))
    world.check_states()
    world.pass_time(4)
    assert len(world.vsegs.records) == 2, "once is enough"


def test_a_state_frame_larger_than_a_virtual_segment_gets_a_larger_one() -> None:
    """Found by simulation: it was never written, and so nothing older was ever freed."""
    world, part = begun()
    taken = world.partition(topic=2, base=500)
    for producer in range(40_000):
        taken.producers.add(producer, 0, 0, 1, 499, 0)
    world.pass_time(4)
    assert world.pushers[0].states.last_bytes > world.manager.space.file_bytes
    assert world.manager.covered(1) == (2, frozenset({(part.topic_id, 0), (taken.topic_id, 0)}))
    world.check_states()
    world.pass_time(6)
    assert len(world.vsegs.records) == 2, "once is enough"
    part.append()
    world.flow()
    assert part.high_watermark == 2


def test_a_state_frame_larger_than_a_share_of_a_small_journal_is_written() -> None:
    """With twenty virtual logs each has a 40th of it: nothing of one with more to say was ever freed."""
    world, part = begun(kproto__journal__bytes="8388608")
    others = [world.partition(topic=2 + i, kproto__vlogs="1") for i in range(19)]
    for one in others:
        one.append()
    world.flow()
    for producer in range(16_000):
        part.producers.add(producer, 0, 0, 1, 0, 0)
    for _ in range(400):
        part.append(100_000)
        world.flow()
    world.pass_time(4)
    assert world.pushers[0].states.last_bytes > world.manager.space.file_bytes
    newest = world.pushers[0].vlog.numbered
    assert world.manager.covered(1) == (newest, frozenset({(part.topic_id, 0)}))
    assert newest > 5
    world.check_states()
    assert all(one.high_watermark == one.log_end_offset for one in (part, *others))
    world.check()


def test_a_state_frame_that_is_too_large_for_the_journal_holds_up_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A virtual segment with all that a virtual log may have of the journal has no room for it. That is said:
    backups keep all they get."""
    world, part = begun(kproto__journal__bytes="4194304")
    taken = world.partition(topic=2, base=500)
    for producer in range(60_000):
        taken.producers.add(producer, 0, 0, 1, 499, 0)
    for _ in range(10):
        part.append()
        world.flow()
        world.loop.advance(1.2)
        world.manager.tick()
        world.flow()
    assert world.manager.covered(1) == (0, frozenset())
    assert len(world.vsegs.records) == 1, "another one would be no help"
    assert part.high_watermark == 11
    world.check()
    (line,) = caplog.messages
    assert line.startswith("the state of virtual log 1 ")
    caplog.clear()
    world.pass_time(200)
    assert not caplog.messages, "it is said once"
    taken.producers.clear()
    taken.append()
    world.flow()
    world.pass_time(8)
    assert world.manager.covered(1)[1] == {(part.topic_id, 0), (taken.topic_id, 0)}
    (line,) = caplog.messages
    assert line.endswith("it fits again")


def test_a_state_frame_that_was_given_up_is_written_again() -> None:
    world, part = begun()
    part.append(70_000)
    world.loop.turn()
    while world.backups.pushes or world.backups.answers:
        world.backups.deliver(0)
        world.backups.answer(0)
        if len(world.backups.pushes) == 2 and len(world.backups.pushes[0].pieces) == 1:
            break
    header = decode_frame_header(bytes(world.backups.pushes[0].pieces[0]))
    assert header is not None
    assert header.kind == KIND_STATE
    world.backups.cut(world.backups.pushes[0].node)
    for _ in range(4):
        world.flow()
        world.loop.advance(0.6)
        world.manager.tick()
    assert world.manager.covered(1) == (2, frozenset({(part.topic_id, 0)}))
    world.check_states()


@pytest.mark.parametrize("arrives", [True, False])
def test_a_large_state_frame_has_the_time_that_it_needs(
    monkeypatch: pytest.MonkeyPatch, arrives: bool
) -> None:
    """It took longer than the stall time on a slow network, each time: backups were replaced because of it,
    and nothing older was ever freed."""
    most = 100_000
    monkeypatch.setattr(replicated, "FRAME_BYTES", most)
    world, part = begun()
    for producer in range(16_000):
        part.producers.add(producer, 0, 0, 1, 0, 0)
    world.manager.write_down(part)  # type: ignore[arg-type]
    world.pass_time(1)
    world.loop.advance(0.6)
    world.manager.tick()
    (pusher,) = world.pushers
    length = sum(map(len, world.backups.pushes[0].pieces))
    assert length == pusher.states.last_bytes > 5 * most
    world.loop.advance(0.5 * length / most - 0.1)
    assert (pusher.stalls, world.manager.covered(1)) == (0, (0, frozenset()))
    if arrives:
        world.flow()
        assert world.manager.covered(1) == (1, frozenset({(part.topic_id, 0)}))
    world.loop.advance(0.5 * length / most)
    assert pusher.stalls == (not arrives)
    world.flow()
    world.check()


def test_partitions_that_left_stay_as_they_were_unless_deleted() -> None:
    world, part = begun()
    moved, deleted = world.partition(index=1), world.partition(index=2)
    for one in (moved, deleted):
        one.append(100)
    world.flow()
    two = world.partition(topic=9, kproto__vlogs="1")
    world.manager._move(moved, moved.vlog, world.manager._of[two.vlog])  # type: ignore[arg-type]
    world.manager._move(deleted, deleted.vlog, world.manager._of[two.vlog])  # type: ignore[arg-type]
    deleted.deleted = True
    moved.append(100)
    part.append(100_000)
    world.flow()
    assert world.manager.covered(1)[1] == {(part.topic_id, 0), (part.topic_id, 1)}
    world.check_states()
