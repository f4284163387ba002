"""What the controller decides, and what would be lost if it decided otherwise (rules 2b, 3, 16 to 30)."""

from __future__ import annotations

from kproto.controller import OpType
from kproto.controller.freeing import Unneeded, decide_free
from kproto.controller.recovery import Attempt, decide_commit
from kproto.controller.vsegs import Opening, decide_open_vseg
from kproto.errors import KafkaError
from kproto.metadata.vlogs import VsegId
from tests.controller.cluster_world import STALL, World, cluster, nodes
from tests.controller.test_flush_classes import alter, lose_power, opened

from .support import needs, promise, waits_for_its_backup


def freed(world: World, reports: Unneeded) -> list[VsegId]:
    return world.commit(decide_free(world.image, world.table, reports))


@needs("a store is whatever its broker has")
def test_a_wiped_backup_does_not_say_where_the_log_ends() -> None:
    """Both backups have 170 bytes of an open virtual segment. One of them starts again with an empty
    directory; then the owner dies. Whoever is asked must have the directory that the store lists: the empty
    one would say "nothing" and the log would end there (3, 22)."""
    world = cluster(3, t=(1, 3, [1]))
    vseg = world.open(1)
    wiped, whole = vseg.backups
    world.register(wiped.node_id, store="new")
    world.fence(1)
    for _ in range(2):
        for ask in world.plan().asks:
            world.answer(ask, 170 if ask.target == whole else 0)
    world.close()
    closed = world.table.vsegs[vseg.id]
    promise(closed.end == 170, f"S1: 170 bytes were acked, the log ends at {closed.end}")


@needs("any epoch may propose")
def test_a_fenced_owner_opens_nothing() -> None:
    """A broker was declared dead and sleeps. Its partitions have another leader when it wakes up, finds a
    backup slow and asks for a virtual segment with other backups. With that it could go on acknowledging
    beside the new leader (16, 19b)."""
    world = cluster(4, t=(1, 3, [1]))
    vseg = world.open(1)
    epoch = world.epoch(1)
    world.fence(1)
    world.register(1)
    opening = Opening(1, vseg.id._replace(seq=1), 3, 0, 50, frozenset())
    try:
        backups = decide_open_vseg(world.image, world.table, opening).answer
    except KafkaError:
        backups = ()
    promise(not backups, f"S6: epoch {epoch} is over, and has new backups {nodes(backups)}")


@needs("an answer counts without its broker")
def test_who_answered_and_is_gone_does_not_say_where_the_log_ends() -> None:
    """An owner died. One backup has answered, and lost its disk, when the other one is late by a stall. With
    the end that the first one told it would be the only one that is listed: the other one's copy is none
    then, and is deleted (15, 21, 22)."""
    world = cluster(3, t=(1, 3, [1]))
    vseg = world.open(1)
    world.fence(1)
    gone, late = world.plan().asks
    world.answer(gone, 170)
    world.fence(gone.target.node_id)
    world.now += STALL
    world.close()
    world.answer(late, 170)
    world.close()
    closed = world.table.vsegs[vseg.id]
    promise(late.target in closed.backups, f"S8: 170 bytes were acked, {nodes(closed.backups)} have them")


@needs("a copy that is short decides")
def test_a_copy_that_lost_its_end_does_not_say_where_the_log_ends() -> None:
    """Two backups have 170 acknowledged bytes of an open virtual segment. One of them starts again, and its
    file ends where its last sector was: nothing in it tells that there was more. Then the owner dies. The
    last frame of the other one says that 120 were durable, and the first has 100 (21, 24c)."""
    world = cluster(3, t=(1, 3, [1]))
    vseg = world.open(1)
    world.fence(1)
    short, whole = world.plan().asks
    world.answer(short, 100, durable=90)
    world.answer(whole, 170, durable=120)
    world.close()
    closed = world.table.vsegs[vseg.id]
    promise(closed.end == 170, f"S1: 170 bytes were acked, the log ends at {closed.end}")
    assert closed.backups == (whole.target,)


@needs("who answers for others does not look")
def test_who_answers_for_others_reads_what_it_has() -> None:
    """An owner loses its power. Of two backups one is down with a sound copy, and the medium of the other one
    has other bytes than it was given, which it does not know. If the log ended where that one says, the sound
    copy would be listed no more, and deleted (22, 24c)."""
    world = cluster(4, t=(1, 3, [1]))
    vseg = world.open(1)
    world.fence(1)
    both = world.plan().asks
    assert not any(ask.thorough for ask in both), "all that are listed stay listed: one can be mended"
    away, here = both
    world.answer(here, 170)
    world.sealing.failed(away, world.now)
    world.now += STALL / 2
    world.fence(away.target.node_id)
    (again,) = world.plan().asks
    world.answer(again, 120 if again.thorough else 170, limbo=again.thorough)  # as `ReplicaService.seal`
    world.close()
    promise(world.table.vsegs[vseg.id].open, "S8: no copy is left, for the sound one is given up")
    world.register(away.target.node_id)
    (last,) = world.plan().asks
    assert last.target == away.target
    world.answer(last, 150)
    world.say_again()
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (150, (away.target,))


@needs("nothing is sealing")
def test_nobody_leads_before_the_old_owner_is_sealed() -> None:
    """An owner is declared dead while a push of it is on its way. A new leader that reads before the backups
    have fenced the owner does not find what that push adds, and its ack is out (19b, 20)."""
    world = cluster(3, t=(1, 3, [1]))
    world.open(1)
    world.fence(1)
    assigned = world.assign()
    promise(not assigned, "S1: a new leader reads what the old owner still adds to")
    world.seal_all(100)
    assert len(world.assign()) == 1


@needs("sealed at the start")
def test_the_end_is_what_the_copies_hold() -> None:
    """Both backups hold 170 bytes, all of them acknowledged. The log ends there, not before (21)."""
    world = cluster(3, t=(1, 3, [1]))
    vseg = world.open(1)
    world.fence(1)
    world.seal_all(170)
    end = world.table.vsegs[vseg.id].end
    promise(end == 170, f"S1: 170 bytes were acked, the log ends at {end}")


@needs("empty segments need a copy")
def test_nobody_waits_for_a_copy_of_nothing() -> None:
    """A virtual segment was opened and closed without a byte; the broker that has its file is gone for good.
    The partition comes back all the same (23)."""
    world = cluster(3, t=(1, 2, [1]))
    first = world.open(1, 0, 0, 2)
    world.open(1, 1, 0, 2, exclude=(first.backups[0].node_id,))
    world.fence(first.backups[0].node_id)
    world.fence(1)
    world.seal_all(0)
    promise(len(world.assign()) == 1, "L1: a partition waits for ever for a copy of nothing")


@needs("every attempt commits")
def test_the_attempt_before_does_not_commit() -> None:
    """A new leader hangs while it recovers; another one recovers and serves. The first one goes on and
    commits: there would be two leaders (27, 29)."""
    world = cluster(4, t=(1, 3, [1]))
    world.open(1)
    world.fence(1)
    world.seal_all(40)
    (first,) = world.assign()
    hung, epoch = first.leader, world.epoch(first.leader)
    world.fence(hung)
    (second,) = world.assign()
    assert world.commit_all([second]) == [True]
    late = Attempt(first.topic_id, 0, first.leader_epoch)
    world.commit(decide_commit(world.image, world.table, hung, epoch, [late]))
    now = world.streamlet("t")
    sources = now.sources
    promise(
        sources[-1] == world.epoch(second.leader), f"S6: {second.leader} leads; epoch {sources[-1]} does, too"
    )


@needs("an owner that came back has all")
def test_files_of_a_former_leader_are_no_copy() -> None:
    """A leader dies and another one leads its partition: the files of the first one are given up. It comes
    back; then the backup of its old virtual segment dies, and the new leader. The partition has to wait for
    that backup: the first leader would serve it with a hole (2b, 33)."""
    world = cluster(4, t=(1, 2, [1]))
    (backup,) = world.open(1, 0, 0, 2).backups
    world.fence(1)
    world.seal_all(100)
    (record,) = world.assign()
    world.commit_all([record])
    world.register(1)
    waits_for_its_backup(world, backup.node_id, record.leader)


@needs("freed at once")
def test_a_virtual_segment_is_freed_when_all_its_leaders_agree() -> None:
    """Two partitions share a virtual segment, and have two leaders since its owner died. One of them needs it
    no more. The other one does (30)."""
    world = cluster(3, t=(2, 3, [1, 1]))
    vsegs = [world.open(1, seq, seq * 10).id for seq in range(2)]
    world.fence(1)
    world.seal_all(15)
    recovering = world.assign()
    world.commit_all(recovering)
    assert {record.leader for record in recovering} == {2, 3}
    reports = Unneeded()
    reports.report(2, world.epoch(2), vsegs)
    promise(not freed(world, reports), "S15: freed while broker 3 has live records in it")
    reports.report(3, world.epoch(3), vsegs)
    assert freed(world, reports) == vsegs


@needs("late reports free")
def test_a_report_from_before_a_leader_got_more_does_not_count() -> None:
    """A leader needs nothing of a virtual segment and says so. While that is on its way it is given another
    partition, whose records are in there (30)."""
    world = cluster(3, t=(2, 3, [1, 1]))
    vsegs = [world.open(1, seq, seq * 10).id for seq in range(2)]
    world.fence(1)
    world.seal_all(15)
    first, second = world.assign()
    world.commit_all([first, second])
    reports = Unneeded()
    said_at = world.image.revision
    world.fence(second.leader)
    (more,) = world.assign()
    assert more.leader == first.leader
    reports.took_over(more.leader, world.epoch(more.leader), [more], world.image.revision)
    world.commit_all([more])
    reports.report(first.leader, world.epoch(first.leader), vsegs, said_at)
    promise(not freed(world, reports), "S15: freed by a leader that did not know of its newest partition")
    reports.report(first.leader, world.epoch(first.leader), vsegs, world.image.revision)
    assert freed(world, reports) == vsegs


@needs("what a topic had before it synced is forgotten")
def test_records_from_before_flush_messages_are_waited_for() -> None:
    """A topic with records, acknowledged without a sync, gets flush.messages=1; then all lose their power.
    What it had before is in an open virtual segment of the other class, and all copies of that are in limbo.
    Who led the topic without it would give its offsets to others (8, 12c, 22)."""
    world = opened(safe={})
    alter(world, "safe", OpType.SET, "1")
    lose_power(world)
    led = [record.topic_id for record in world.assign()]
    promise(not led, "S1: the topic goes on without what it had before")
