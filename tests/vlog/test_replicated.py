"""Virtual logs with backups, step by step: what is durable when, and what a failure does (rules 4 to 18)."""

from __future__ import annotations

from functools import partial

import pytest

from kproto.metadata.vlogs import VsegId
from kproto.replica.stored_file import inspect
from kproto.vlog.ports import PushAnswer, PushOutcome
from kproto.vlog.recovery import recover
from kproto.vlog.side import is_side
from tests.vlog.cluster import ClusterPartition, ClusterWorld, backups_of, begun
from tests.vlog.support import BOOT


def test_nothing_is_pushed_before_the_store_has_the_segment() -> None:
    world = ClusterWorld.begin()
    part = world.partition()
    part.append()
    world.loop.turn()
    assert len(world.vsegs.answers) == 1
    assert not world.backups.pushes
    world.vsegs.answer()
    assert [message.node.target.node_id for message in world.backups.pushes] == backups_of(world, 1)
    assert all(message.first is not None for message in world.backups.pushes)
    assert part.high_watermark == 0, "rule 9: the journal alone is not enough"
    world.backups.deliver(0)
    world.backups.answer(0)
    assert part.high_watermark == 0, "nor is one of two backups"
    world.backups.deliver(0)
    world.backups.answer(0)
    assert part.high_watermark == 1
    world.check()


def test_one_frame_is_in_flight_and_the_next_takes_what_came_meanwhile() -> None:
    world, part = begun()
    fired: list[int] = []
    for i in range(10):
        part.vlog.when_durable(part.append(), partial(fired.append, i))
        world.loop.turn()
    assert len(world.backups.pushes) == 2
    world.flow()
    assert part.history == [1, 2, 11]
    assert fired == list(range(10))
    (row,) = world.manager.state()
    assert (row["pushes"], row["lag"], row["live_copies"]) == (3, 0, 3)
    assert row["chunks_per_push"] == pytest.approx(11 / 3)


def test_an_unreachable_backup_is_replaced_and_the_rest_pushed_to_all_of_the_new_ones() -> None:
    world, part = begun()
    first = backups_of(world, 1)
    part.append()
    world.loop.turn()
    world.backups.deliver(0)
    world.backups.answer(0)
    world.backups.cut(world.nodes[first[1]])
    assert part.high_watermark == 1
    record = world.vsegs.records[1, 1]
    assert record.end == world.vsegs.records[1, 2].start
    assert first[1] not in backups_of(world, 2)
    assert len(backups_of(world, 2)) == 2
    world.flow()
    assert part.high_watermark == 2
    survivor = world.nodes[first[0]].copies[1, 1]
    assert survivor.end > (record.end or 0), "what it had beyond the end is garbage now (rule 15)"
    world.check()


def test_a_silent_backup_is_replaced_after_the_stall_time_and_its_late_answer_means_nothing() -> None:
    world, part = begun()
    silent = world.nodes[backups_of(world, 1)[0]]
    silent.up = False
    part.append()
    world.flow()
    world.loop.advance(0.49)
    assert len(world.vsegs.records) == 1
    world.loop.advance(0.07)
    assert len(world.vsegs.records) == 2
    end = world.vsegs.records[1, 1].end
    silent.up = True
    stale = [message for message in world.backups.pushes if message.node is silent]
    world.backups.pushes = [message for message in world.backups.pushes if message.node is not silent]
    (late,) = stale
    late.done(silent.push(late.first, b"".join(late.pieces)))
    assert part.high_watermark == 1, "its answer must not complete what was given up"
    (pusher,) = world.pushers
    assert (pusher.late, pusher.stalls, pusher.replaced) == (1, 1, 1)
    world.flow()
    assert part.high_watermark == 2
    assert world.vsegs.records[1, 1].end == end
    world.check()


def test_a_silent_backup_is_waited_for_while_no_controller_could_name_another_one() -> None:
    """It may be well again long before there is a controller; what was closed would have nowhere to go."""
    world, part = begun()
    heard = False
    world.manager.follow_controller(lambda: heard)
    slow, dead = (world.nodes[node] for node in backups_of(world, 1))
    slow.silent = True
    part.append()
    world.flow()
    world.loop.advance(5.0)
    assert part.high_watermark == 1
    slow.silent = False
    world.flow()
    assert (part.high_watermark, len(world.vsegs.records)) == (2, 1)
    dead.up = False
    part.append()
    world.flow()
    world.loop.advance(5.0)
    assert (part.high_watermark, len(world.vsegs.records)) == (2, 1)
    heard = True
    world.loop.advance(0.6)
    world.flow()
    assert (part.high_watermark, len(world.vsegs.records)) == (3, 2)
    world.check()


def test_a_stall_that_is_due_in_no_time_at_all_is_looked_at_once_more() -> None:
    """2.05 - 1.55 is less than 0.5, and with what is left of that 2.05 is 2.05 still."""
    world, part = begun()
    world.nodes[backups_of(world, 1)[0]].up = False
    world.loop.advance(1.55 - world.loop.clock.monotonic())
    part.append()
    world.flow()
    world.loop.advance(1.0)
    assert [pusher.stalls for pusher in world.pushers] == [1]


def test_a_backup_that_holds_less_than_it_was_sent_is_replaced() -> None:
    world, part = begun()
    part.append()
    world.loop.turn()
    (one, two) = world.backups.pushes
    world.backups.pushes = []
    two.done(two.node.push(two.first, b"".join(two.pieces)))
    one.done(PushAnswer(PushOutcome.STORED, world.vsegs.records[1, 1].start + 1))
    assert part.high_watermark == 1
    assert one.node.target.node_id not in backups_of(world, 2)
    world.flow()
    assert part.high_watermark == 2
    world.check()


def test_a_pause_of_the_owner_is_no_stall_of_its_backups() -> None:
    """Timers may run before what the sockets brought meanwhile is read."""
    world, part = begun()
    part.append()
    world.loop.turn()
    for _ in range(2):
        world.backups.deliver(0)
    world.loop.clock.advance(5.0)
    world.loop.advance(0.0)
    world.flow()
    assert part.high_watermark == 2
    world.loop.advance(10.0)
    assert len(world.vsegs.records) == 1


def test_memory_of_a_frame_that_was_given_up_is_still_held_by_the_connection() -> None:
    world, part = begun()
    part.append()
    world.loop.turn()
    slow = world.backups.pushes.pop()
    world.backups.cut(world.backups.pushes[0].node)
    world.flow()
    assert part.high_watermark == 2
    with pytest.raises(BufferError):
        part.segment.memory.extend(b"x")  # what the block pool asks before it uses a block again
    del slow
    part.segment.memory.extend(b"x")


def test_a_segment_rolls_only_when_all_of_it_is_durable() -> None:
    world, part = begun()
    part.append(900_000)
    world.loop.turn()
    assert len(world.backups.pushes) == 2
    part.append(900_000)
    world.loop.turn()
    assert len(world.vsegs.requests) == 1, "the frame in flight first"
    world.flow()
    assert part.high_watermark == 3
    assert [(one.seq, one.start) for one in world.vsegs.requests] == [
        (1, 0),
        (2, world.vsegs.records[1, 1].end),
    ]
    world.check()


def test_a_segment_is_closed_some_time_after_its_first_chunk_and_one_without_chunks_never() -> None:
    world, part = begun(kproto__virtual__segment__ms="3000")
    world.pass_time(4)
    part.append()
    world.flow()
    assert len(world.vsegs.requests) == 1, "2.4 s"
    world.pass_time(2)
    assert [one.seq for one in world.vsegs.requests] == [1, 2]
    world.pass_time(50)
    (row,) = world.manager.state()
    assert row["state_frames"] > 0
    assert len(world.vsegs.requests) == 2, "a state frame is no chunk"
    world.check()
    world.check_states()

    part.append()
    world.flow()
    sooner = ClusterWorld.begin(kproto__virtual__segment__ms="1000").settings
    world.manager.apply_settings(sooner, [part])
    world.pass_time(2)
    assert len(world.vsegs.requests) == 3, "it may be changed meanwhile"


def test_a_chunk_larger_than_a_segment_gets_one_of_its_own() -> None:
    world, part = begun()
    part.append(2_500_000)
    part.append(100)
    world.flow()
    assert part.high_watermark == 3
    world.check()


@pytest.mark.parametrize("how", ["backup", "store"])
def test_a_fenced_owner_fails_all_who_wait_and_sends_nothing_more(how: str) -> None:
    world, part = begun()
    other = world.partition(topic=2, kproto__vlogs="1")
    fired: list[tuple[str, bool]] = []
    other.vlog.when_durable(other.append(), lambda: fired.append(("other", other.vlog.lost)))
    part.vlog.when_durable(part.append(), lambda: fired.append(("part", part.vlog.lost)))
    if how == "backup":
        for node in world.nodes.values():
            node.fence = 2
    else:
        world.vsegs.fenced = True
        world.pushers[0].renew()
    world.flow()
    assert sorted(fired) == [("other", True), ("part", True)]
    assert world.manager.lost
    assert world.vsegs.told_lost == 1
    assert part.vlog.blocked
    assert (part.high_watermark, other.high_watermark) == (1, 0)
    late: list[int] = []
    part.vlog.when_durable(part.append(), lambda: late.append(1))
    world.flow()
    world.loop.advance(5.0)
    assert late == [1]
    assert not world.backups.pushes
    assert part.high_watermark == 1
    assert world.manager.drain(), (
        "nothing of it will ever be durable: the end of the process waits for no one"
    )
    world.manager.close()
    fresh = world.partition(topic=3, kproto__vlogs="1")
    assert fresh.vlog.lost, "nor may a new virtual log begin"


def test_a_proposal_answered_after_the_loss_changes_nothing() -> None:
    world, part = begun()
    part.append(900_000)
    part.append(900_000)
    world.flow()
    part.append(900_000)
    world.loop.turn()
    (answer,) = world.vsegs.answers
    world.manager.lose_ownership()
    requests = len(world.vsegs.requests)
    world.flow()
    assert answer
    assert part.vlog.open_segment is None
    assert not world.backups.pushes
    assert len(world.vsegs.requests) == requests
    world.manager.close()


def test_fewer_live_backups_are_fewer_copies_until_a_broker_joins() -> None:
    world, part = begun(others=2)
    assert world.pushers[0].vlog.live_copies == 3
    gone = world.nodes[2]
    gone.up = False
    part.append()
    world.flow()
    world.backups.cut(gone)
    assert part.vlog.live_copies == 2, "said as soon as it is known"
    world.flow()
    assert (part.high_watermark, part.vlog.live_copies) == (2, 2)
    world.manager.members_changed([1])
    gone.up = True
    world.manager.members_changed([1, 2])
    world.flow()
    assert part.vlog.live_copies == 3, "rolled at once, without waiting for traffic"
    assert world.vsegs.records[1, 2].end is not None
    world.check()


def test_a_backup_that_stalled_once_comes_back_after_its_suspicion() -> None:
    world, part = begun(others=2)
    world.backups.cut(world.nodes[1])
    world.nodes[1].up = False
    part.append()
    world.flow()
    world.loop.advance(0.6)
    world.flow()
    assert part.vlog.live_copies == 2
    world.nodes[1].up = True
    world.backups.cut(world.nodes[1])
    for _ in range(12):
        world.loop.advance(1.0)
        world.manager.tick()
        world.flow()
    assert part.vlog.live_copies == 3
    assert len(world.vsegs.records) == 3, "one roll is enough"


def test_a_backup_that_is_no_member_any_more_is_replaced_without_traffic() -> None:
    world, part = begun()
    (gone, kept) = backups_of(world, 1)
    world.nodes[gone].up = False
    world.manager.members_changed(node for node in world.nodes if node != gone)
    world.flow()
    assert world.vsegs.records[1, 1].end == world.vsegs.records[1, 2].start
    assert gone not in backups_of(world, 2)
    assert part.vlog.live_copies == 3
    world.check()
    assert kept in world.nodes


def test_a_backup_is_replaced_without_traffic_though_another_broker_goes_in_the_same_turn() -> None:
    """Found by simulation (seed 221099): the second change of the members took back that a new virtual
    segment was wanted. The old one, without a copy, was open for the store until something was pushed."""
    world, part = begun(copies=2)
    (gone,) = backups_of(world, 1)
    (other, left) = [node for node in world.nodes if node != gone]
    world.nodes[gone].up = world.nodes[other].up = False
    world.manager.members_changed([other, left])
    world.manager.members_changed([left])
    world.flow()
    assert world.vsegs.records[1, 1].end == world.vsegs.records[1, 2].start
    assert backups_of(world, 2) == [left]
    assert part.vlog.live_copies == 2
    world.check()


def backups_now(world: ClusterWorld) -> list[int]:
    """Of the one virtual segment that is open."""
    (last,) = [record for record in world.vsegs.records.values() if record.end is None]
    return [target.node_id for target in last.backups]


def test_a_backup_that_is_drained_is_replaced_without_traffic_when_there_are_enough_others() -> None:
    world, part = begun(copies=2, others=2)
    (leaving,) = backups_of(world, 1)
    (other,) = (node for node in world.nodes if node != leaving)
    world.nodes[leaving].drained = True
    world.manager.members_changed([1, 2], frozenset([leaving, other]))
    world.flow()
    assert len(world.vsegs.records) == 1, "all are drained: who else should have it?"
    world.manager.members_changed([1, 2], frozenset([leaving]))
    world.flow()
    assert backups_of(world, 2) == [other]
    assert part.vlog.live_copies == 2
    for _ in range(10):
        world.loop.advance(1.0)
        world.manager.tick()
        world.flow()
    assert len(world.vsegs.records) == 2, "once"
    world.check()


def test_a_drained_backup_stays_while_the_one_that_should_replace_it_takes_nothing() -> None:
    """Each try is a new virtual segment, and a transaction."""
    world, part = begun(copies=3, others=3)
    leaving, other = backups_of(world, 1)
    (full,) = (node for node in world.nodes if node not in (leaving, other))
    world.nodes[leaving].drained = world.nodes[full].full = True
    for _ in range(60):
        world.manager.members_changed([1, 2, 3], frozenset([leaving]))
        world.loop.advance(1.0)
        world.manager.tick()
        part.append()
        world.flow()
    assert len(world.vsegs.requests) <= 15, "after 5, 10, 20 .. s of suspicion"
    world.nodes[full].full = False
    for _ in range(90):
        world.loop.advance(1.0)
        world.manager.tick()
        world.flow()
    assert leaving not in backups_now(world)
    assert part.vlog.live_copies == 3


def test_who_is_drained_while_the_next_segment_is_being_opened_is_not_forgotten() -> None:
    world, part = begun(copies=2, others=2)
    world.pushers[0].renew()
    world.pushers[0].run()
    ((_, number),) = [key for key, record in world.vsegs.records.items() if record.end is None]
    (leaving,) = [target.node_id for target in world.vsegs.records[1, number].backups]
    assert world.vsegs.answers, "the store has not answered yet"
    world.nodes[leaving].drained = True
    world.manager.members_changed([1, 2], frozenset([leaving]))
    world.flow()
    world.loop.advance(1.0)
    world.manager.tick()
    world.flow()
    assert leaving not in backups_now(world)
    assert part.vlog.live_copies == 2


def test_a_store_that_gives_too_few_backups_is_not_asked_without_end() -> None:
    """Every proposal changes the metadata, and every change of the metadata is told to the virtual logs."""
    world, part = begun(others=2)
    world.nodes[2].up = False
    part.append()
    world.flow()
    world.backups.cut(world.nodes[2])
    for _ in range(100):
        before = len(world.vsegs.requests)
        world.loop.advance(0.3)
        world.manager.tick()
        world.flow()
        for _ in range(len(world.vsegs.requests) - before):
            world.manager.members_changed([1, 2])
            world.manager.members_changed([2, 1])
    assert part.high_watermark == 2
    assert len(world.vsegs.requests) <= 7, "30 s: after 5, 10 and 20 s"


def test_a_full_journal_waits_while_the_backups_are_fine() -> None:
    world, part = begun()
    disk = world.manager._disk
    disk.full = True  # type: ignore[attr-defined]
    for _ in range(8):
        part.append(300_000)
        world.flow()
    assert part.vlog.blocked
    waiting = part.log_end_offset - part.high_watermark
    assert waiting > 0
    disk.full = False  # type: ignore[attr-defined]
    for _ in range(5):
        world.loop.advance(1.1)
        world.flow()
    assert part.high_watermark == part.log_end_offset
    assert not part.vlog.blocked
    world.check()


def test_a_segment_that_is_recorded_waits_for_room_for_the_name_of_its_file() -> None:
    """It was poison: a broker with a full disk ended."""
    world, part = begun(others=4)
    disk = world.manager._disk
    disk.no_longer_names = True  # type: ignore[attr-defined]
    world.nodes[backups_of(world, 1)[0]].full = True
    part.append()
    world.flow()
    assert len(world.vsegs.records) == 2, "the next segment is recorded"
    for _ in range(3):
        world.loop.advance(1.1)
        world.flow()
        assert part.high_watermark == 1
        assert part.vlog.blocked
        assert world.manager.poisoned is None
    disk.no_longer_names = False  # type: ignore[attr-defined]
    for _ in range(2):
        world.loop.advance(1.1)
        world.flow()
    assert part.high_watermark == 2
    assert not part.vlog.blocked
    assert len(world.vsegs.records) == 2
    part.append()
    world.flow()
    assert part.high_watermark == 3
    world.check()


def test_it_waits_for_that_though_nothing_is_to_be_pushed() -> None:
    """Found by simulation (seed 30027339): what was to be written down before streamlets were handed over was
    not, for ever."""
    world, part = begun()
    disk = world.manager._disk
    disk.no_longer_names = True  # type: ignore[attr-defined]
    (pusher,) = world.pushers
    pusher.renew()
    world.flow()
    assert pusher.opening
    disk.no_longer_names = False  # type: ignore[attr-defined]
    world.loop.advance(1.1)
    world.flow()
    assert not pusher.opening
    assert part.vlog.open_segment is not None
    world.check()


def test_full_backups_are_replaced_while_the_journal_is_fine() -> None:
    world, part = begun(others=4)
    full = backups_of(world, 1)[0]
    world.nodes[full].full = True
    part.append()
    world.flow()
    assert part.high_watermark == 2
    assert full not in backups_of(world, 2)
    world.check()


def test_the_synced_class_waits_for_the_own_disk_and_for_the_backups() -> None:
    world = ClusterWorld.begin()
    part = world.partition(flush__messages="1")
    part.append()
    world.flow()
    assert part.high_watermark == 1
    worker = world.manager._sync_worker
    worker.held = True  # type: ignore[attr-defined]
    part.append()
    world.flow()
    assert not world.backups.answers
    assert part.high_watermark == 1, "the own fdatasync is not done"
    world.loop.advance(3.0)
    assert len(world.vsegs.records) == 1, "a slow disk of one's own is no failure of a backup"
    worker.release()  # type: ignore[attr-defined]
    world.flow()
    assert part.high_watermark == 2
    part.append()
    world.loop.turn()
    world.loop.turn()
    assert part.high_watermark == 2, "the backups have not answered"
    world.flow()
    assert part.high_watermark == 3
    world.check()


def test_a_sync_that_ends_after_the_segment_was_given_up_counts_for_nothing() -> None:
    world = ClusterWorld.begin()
    part = world.partition(flush__messages="1")
    part.append()
    world.flow()
    worker = world.manager._sync_worker
    worker.held = True  # type: ignore[attr-defined]
    part.append()
    world.loop.turn()
    world.backups.cut(world.nodes[backups_of(world, 1)[0]])
    worker.release()  # type: ignore[attr-defined]
    world.flow()
    assert part.high_watermark == 2
    assert len(world.vsegs.records) == 2
    world.check()


def test_the_process_ends_though_backups_and_controller_are_gone() -> None:
    world, part = begun()
    for node in world.nodes.values():
        node.up = False
    part.append()
    world.loop.turn()
    ended = False
    for _ in range(200):
        ended = world.manager.drain() or world.manager.stuck
        if ended:
            break
        world.loop.advance(0.1)
        world.manager.tick()
    assert ended
    assert part.high_watermark == 1
    world.manager.close()
    recovered = recover(world.disk, world.journal_path(), (), BOOT)
    assert recovered_bytes_of(world, recovered, part) == part.chunks, "the journal still has it"


def recovered_bytes_of(world: ClusterWorld, recovered: object, part: ClusterPartition) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    for one in recovered.chunks[part.topic_id, part.index]:  # type: ignore[attr-defined]
        data = world.disk.names[one.path]  # type: ignore[attr-defined]
        found[one.base_offset] = bytes(data[one.file_position : one.file_position + one.length])
    return found


def test_a_journal_with_surplus_behind_a_segments_end_is_read_once() -> None:
    """Rule 13 leaves frames in the closed file that are framed again in the next: not twice, and no error."""
    world, part = begun()
    for i in range(3):
        part.append()
        world.loop.turn()
        world.backups.deliver(i)
        world.backups.cut(world.backups.pushes[0].node)
        world.flow()
        world.loop.advance(6.0)
    assert part.high_watermark == 4
    assert len(world.vsegs.records) >= 4
    recovered = recover(world.disk, world.journal_path(), (), BOOT)
    chunks = recovered.chunks[part.topic_id, part.index]
    assert [chunk.base_offset for chunk in chunks] == [0, 1, 2, 3]
    assert recovered_bytes_of(world, recovered, part) == part.chunks
    for key, record in world.vsegs.records.items():
        name = f"/data/journal/{1:016x}-{1:016x}-{key[1]:08x}.journal"
        assert all(chunk.path != name or record.end != record.start for chunk in chunks)
    assert not recovered.losses


def test_surplus_is_there_for_the_next_start_as_long_as_no_other_segment_was_opened() -> None:
    """Found by simulation: SEAL told where the journal ended, then the start cut it where the checkpoint had
    the chain of what was given up, and nobody had the rest (18b)."""
    world, part = begun()
    part.append()
    world.loop.turn()
    world.backups.cut(world.backups.pushes[0].node)
    (segment,) = world.pushers[0].vlog.segments
    assert segment.closed
    for stripe in segment.stripes:
        for file in stripe.extents:
            file.flush(1 << 62)
    (path,) = [name for name in world.disk.names if name.endswith("00000001.journal")]  # type: ignore[attr-defined]
    starts = world.manager.scan_start()
    assert [start.position for start in starts] == [segment.durable]
    whole = inspect(world.disk, path, VsegId(1, 1, 1), True)
    assert whole.end > segment.durable
    recovered = recover(world.disk, world.journal_path(), starts, BOOT)
    assert [chunk.base_offset for chunk in recovered.chunks[part.topic_id, part.index]] == [1]
    assert inspect(world.disk, path, VsegId(1, 1, 1), True).end == whole.end


def test_surplus_that_was_not_framed_again_is_not_there() -> None:
    """The process dies between the new segment's first byte and the frame that repeats what was given up."""
    world, part = begun()
    part.append()
    world.loop.turn()
    world.backups.cut(world.backups.pushes[0].node)
    part.vlog.pending.clear()
    world.vsegs.answer()
    names = sorted(name for name in world.disk.names if "/0000" in name)  # type: ignore[attr-defined]
    assert len(names) == 2
    recovered = recover(world.disk, world.journal_path(), (), BOOT)
    chunks = recovered.chunks[part.topic_id, part.index]
    assert [chunk.base_offset for chunk in chunks] == [0], "rule 15: clipped to the end of its segment"


def test_damage_in_a_journal_with_backups_costs_this_copy_only() -> None:
    world, part = begun()
    part.append()
    world.flow()
    (path,) = [name for name in world.disk.names if name.endswith("00000001.journal")]  # type: ignore[attr-defined]
    world.disk.names[path][400] ^= 1  # type: ignore[attr-defined]
    recovered = recover(world.disk, world.journal_path(), (), BOOT)
    assert len(recovered.losses) == 1


def test_settings_change_while_running() -> None:
    world, part = begun()
    parts = [part, *(world.partition(index=i) for i in range(1, 4))]
    for one in parts:
        one.append()
    more = ClusterWorld.begin(
        kproto__vlogs__per__broker="4",
        kproto__virtual__segment__bytes="2097152",
        kproto__backup__stall__ms="2000",
    ).settings
    world.manager.apply_settings(more, parts)
    assert [pusher.vlog.end > 0 for pusher in world.pushers] == [True, False, False, False], "rule 12"
    world.flow()
    assert len({id(one.vlog) for one in parts}) == 4
    for one in parts:
        one.append(900_000)
    world.flow()
    assert all(one.high_watermark == one.log_end_offset for one in parts)
    assert max(row["segments"][-1][0] for row in world.manager.state()) == 1
    world.nodes[1].up = False
    for one in parts:
        one.append()
    world.flow()
    world.loop.advance(1.5)
    assert not any(pusher.stalls for pusher in world.pushers)
    world.loop.advance(1.0)
    assert any(pusher.stalls for pusher in world.pushers)
    world.check()
    world.check_states()


def test_topics_of_one_replica_need_no_backup_and_no_store() -> None:
    world = ClusterWorld.begin(copies=1)
    part = world.partition()
    part.append()
    world.loop.turn()
    assert part.high_watermark == 1
    assert not world.vsegs.requests
    world.manager.lose_ownership()
    part.append()
    world.loop.turn()
    assert part.high_watermark == 2


# State frames


def test_side_virtual_logs_are_told_apart_by_their_numbers() -> None:
    world, part = begun()
    side = world.manager.side(part)
    other = world.partition(topic=9, kproto__vlogs="1")
    assert side is world.manager.side(part)
    (number,) = world.manager.side_vlogs()
    assert is_side(number)
    assert not any(is_side(one.vlog.vlog_id) for one in world.pushers if one.vlog is not side)
    assert other.vlog in [one.vlog for one in world.pushers]


def ended(world: ClusterWorld, part: ClusterPartition, tell: bool) -> list[str]:
    """End in peace, everything in synced segment files; the journal files that are left."""
    for _ in range(10):
        part.append(200_000)
    world.flow()
    assert world.manager.drain()
    ends = world.manager.finish()
    last = max(seq for _, seq in world.vsegs.records)
    assert ends == [(1, last, part.vlog.position)]
    part.append()
    world.flow()
    assert not world.backups.pushes, "pushed after its end was told"
    if tell:
        world.manager.recorded()
    part.segment.flush(1 << 40)
    part.segment.sync()
    world.manager.close()
    return [name for name in world.disk.names if "/journal/" in name]  # type: ignore[attr-defined]


def test_a_clean_end_that_the_store_knows_leaves_no_journal_file() -> None:
    world, part = begun()
    assert ended(world, part, tell=True) == []


def test_a_clean_end_that_the_store_does_not_know_leaves_what_may_be_asked_for() -> None:
    """Rule 18b: when no backup comes back, the journal alone tells where the segment ended."""
    world, part = begun()
    (name,) = ended(world, part, tell=False)
    assert name.endswith(f"{max(seq for _, seq in world.vsegs.records):08x}.journal")
    recovered = recover(world.disk, world.journal_path(), (), BOOT)
    size = recovered.bytes
    assert size < 1_100_000, "no more of it than was written"
    asked: list[tuple[int, int, int]] = []
    after = ClusterWorld.begin()
    after.manager._disk = world.disk
    after.manager.journal._disk = world.disk
    sealed = False

    def unsealed(*vseg: int) -> bool:
        asked.append(vseg)  # type: ignore[arg-type]
        return not sealed

    after.manager.unsealed = unsealed
    after.manager.inherit(recovered, lambda *_: True, lambda *_: [])
    assert asked == [(1, 1, max(seq for _, seq in world.vsegs.records))]
    assert after.manager.journal.inherited == size
    sealed = True
    after.loop.advance(10.0)
    after.manager.tick()
    assert after.manager.journal.inherited == 0


def test_the_file_of_a_segment_stays_until_the_store_knows_its_end() -> None:
    """Rule 13 closes it here at once, but a recovery would still ask the owner's store for it."""
    world, part = begun()
    part.append()
    world.loop.turn()
    world.backups.cut(world.backups.pushes[0].node)
    part.segment.flush(1 << 40)
    part.segment.sync()
    world.manager.cleaner.press()
    world.loop.turn()
    assert f"/data/journal/{1:016x}-{1:016x}-{1:08x}.journal" in world.disk.names  # type: ignore[attr-defined]
    world.flow()
    world.manager.cleaner.press()
    world.loop.turn()
    assert f"/data/journal/{1:016x}-{1:016x}-{1:08x}.journal" not in world.disk.names  # type: ignore[attr-defined]


def test_backups_that_started_anew_are_chosen_again_at_once() -> None:
    """They are replaced, because what they had may be gone (3); but they are there: nobody writes alone."""
    world = ClusterWorld.begin(others=2)
    epochs = {1: 5, 2: 6}
    world.manager.follow_backups(lambda target: epochs[target.node_id])
    part = world.partition()
    part.append()
    world.flow()
    epochs = {1: 7, 2: 8}
    world.manager.tick()
    world.flow()
    part.append()
    world.flow()
    assert sorted(backups_of(world, 2)) == [1, 2]
    assert part.high_watermark == 2
    world.manager.tick()
    world.flow()
    assert max(world.vsegs.records) == (1, 2)
