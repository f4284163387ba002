"""What may be forgotten, and when (rules 30, 43, 44)."""

from __future__ import annotations

from kproto.controller.decision import PER_TRANSACTION, Decision
from kproto.controller.freeing import (
    Start,
    Unneeded,
    decide_emptied,
    decide_free,
    decide_starts,
)
from kproto.controller.moves import HandOver, Wish, decide_handed_over, decide_moves
from kproto.controller.reassignment import NewReplicas, decide_reassign
from kproto.metadata.records import StreamletRecord
from kproto.metadata.vlogs import VsegId

from .cluster_world import World, cluster


def freed(world: World, unneeded: Unneeded) -> list[int]:
    return [vseg.seq for vseg in world.commit(decide_free(world.image, world.table, unneeded))]


def chain(world: World, node: int, count: int) -> list[VsegId]:
    return [world.open(node, seq, seq * 10).id for seq in range(count)]


def hand_over(world: World, record: StreamletRecord, target: int, seq: int) -> None:
    """Its leader gives it to ``target``; what it appended is in segments up to ``seq`` of virtual log 0."""
    wish, leader = Wish(record.topic_id, record.index, target), record.leader
    (move,) = world.commit(decide_moves(world.image, world.table, [wish]))
    attempts = [HandOver(record.topic_id, record.index, move.leader_epoch, move.began)]
    decision = decide_handed_over(world.image, world.table, leader, world.epoch(leader), attempts, [(0, seq)])
    assert world.commit(decision) == [True]


def one_waits() -> tuple[World, list[VsegId]]:
    """Broker 1 leads t-1. It closed segment 1, the second, to give t-0 to broker 2, which is gone, with all
    copies of what it had appended. Segments 2 and 3 of broker 1 are closed since, 4 is open."""
    world = cluster(5, t=(2, 2, [1, 1]))
    vsegs = chain(world, 1, 3)
    hand_over(world, world.streamlet("t"), 2, 1)
    assert world.commit_all([world.streamlet("t")]) == [True]
    (kept, _) = world.table.vsegs[vsegs[0]].backups
    lost = world.open(2, copies=2, exclude=(1, kept.node_id))
    vsegs += [world.open(1, seq, seq * 10).id for seq in (3, 4)]
    world.fence(2)
    world.register(lost.backups[0].node_id, store="another")
    world.seal_all(15)
    assert world.assign() == []
    return world, vsegs


def test_closed_ones_that_their_leader_does_not_need_go_from_the_front() -> None:
    world = cluster(3, t=(1, 3, [1]))
    vsegs = chain(world, 1, 4)
    unneeded = Unneeded()
    assert freed(world, unneeded) == []
    unneeded.report(1, 1, [vsegs[0], vsegs[1], vsegs[3]])
    assert freed(world, unneeded) == [0, 1], "number 3 is open"
    assert sorted(vseg.seq for vseg in world.table.vsegs) == [2, 3]


def test_those_behind_one_that_is_needed_lose_their_copies_and_keep_the_chain() -> None:
    """Else one old record of a partition would keep the copies of all that came after it."""
    world = cluster(3, t=(1, 3, [1]))
    vsegs = chain(world, 1, 4)
    unneeded = Unneeded()
    unneeded.report(1, 1, [vsegs[1], vsegs[3]])
    assert freed(world, unneeded) == [1], "number 0 is before it, number 3 is open"
    assert freed(world, unneeded) == [], "once"
    record = world.table.vsegs[vsegs[1]]
    assert (record.backups, record.emptied, record.start, record.end) == ((), True, 10, 20)
    assert sorted(vseg.seq for vseg in world.table.vsegs) == [0, 1, 2, 3]
    unneeded.report(1, 1, [vsegs[0]])
    assert freed(world, unneeded) == [0, 1]
    assert sorted(vseg.seq for vseg in world.table.vsegs) == [2, 3]


def test_neighbours_behind_one_that_is_needed_become_one_record() -> None:
    """Else there would be one more for each virtual segment that was ever closed behind an old record, and
    a file on every backup for each that was closed empty."""
    world = cluster(3, t=(1, 3, [1]))
    vsegs = [world.open(1, 0, 0).id]
    unneeded = Unneeded()
    for seq in range(1, 3 * PER_TRANSACTION):
        vsegs.append(world.open(1, seq, (seq + 1) // 2 * 10).id)
        if seq % PER_TRANSACTION == 0:
            unneeded.report(1, 1, vsegs[1:-1])
            assert 0 < len(freed(world, unneeded)) <= PER_TRANSACTION
    unneeded.report(1, 1, vsegs[1:-1])
    while freed(world, unneeded):
        pass
    first, kept, last = world.table.of_owner(1)
    assert (kept.id, kept.start, kept.end, kept.backups) == (vsegs[-2], first.end, last.start, ())
    assert kept.emptied
    unneeded.report(1, 1, vsegs[:1])
    assert freed(world, unneeded) == [vsegs[0].seq, kept.id.seq]
    assert world.table.of_owner(1) == [last]


def test_what_was_given_up_is_not_forgotten_with_its_neighbours() -> None:
    """Whoever misses chunks goes on behind them, as it may be what was lost there (20 to 22, 45)."""
    world = cluster(3, t=(1, 3, [1]))
    vsegs = chain(world, 1, 6)
    lost = world.table.vsegs[vsegs[2]]._replace(lost=True)
    world.commit(Decision(None, puts={lost.key: lost.encode()}))
    unneeded = Unneeded()
    unneeded.report(1, 1, vsegs[1:5])
    assert freed(world, unneeded) == [1, 2, 3, 4]
    assert [record.id.seq for record in world.table.of_owner(1)] == [0, 1, 2, 4, 5]


def test_reports_of_others_and_of_old_epochs_do_not_count() -> None:
    world = cluster(3, t=(1, 3, [1]))
    vsegs = chain(world, 1, 2)
    unneeded = Unneeded()
    unneeded.report(2, 2, vsegs)
    unneeded.report(1, 0, vsegs)
    assert freed(world, unneeded) == []


def test_after_a_recovery_every_new_leader_has_to_agree() -> None:
    world = cluster(3, t=(2, 3, [1, 1]))
    vsegs = chain(world, 1, 2)
    unneeded = Unneeded()
    unneeded.report(1, 1, vsegs)
    world.fence(1)
    assert freed(world, unneeded) == [], "the streamlets are to be recovered from them"
    world.seal_all(15)
    assigned = world.assign()
    assert freed(world, unneeded) == [], "they are being recovered"
    world.commit_all(assigned)
    assert freed(world, unneeded) == []
    unneeded.report(2, 2, vsegs)
    assert freed(world, unneeded) == []
    unneeded.report(3, 3, vsegs)
    assert freed(world, unneeded) == [0, 1]


def test_what_a_leader_opened_since_it_gave_a_streamlet_away_is_not_kept_for_that() -> None:
    """Else nothing that it writes would ever be freed while the other one waits (12b)."""
    world, vsegs = one_waits()
    unneeded = Unneeded()
    assert freed(world, unneeded) == [], "the leader of t-1 needs them"
    unneeded.report(1, world.epoch(1), vsegs)
    assert freed(world, unneeded) == [2, 3], "who rebuilds t-0 reads the first two, and number 4 is open"
    assert [vseg for vseg in vsegs if vseg not in world.table.vsegs] == [vsegs[2]], "3 stands for both"
    assert [record.emptied for record in world.table.of_owner(1)] == [False, False, True, False]
    world.fence(1)
    world.seal_all(45)
    (recovering,) = world.assign()
    assert world.commit_all([recovering]) == [True]
    unneeded.report(recovering.leader, world.epoch(recovering.leader), vsegs)
    assert freed(world, unneeded) == [4], "the same holds when it is gone"


def test_what_was_open_when_its_owner_led_a_streamlet_again_is_kept_for_that() -> None:
    """What was closed before has nothing of it."""
    world = cluster(4, t=(2, 3, [1, 1]))
    vsegs = chain(world, 1, 3)
    hand_over(world, world.streamlet("t"), 2, 1)
    world.commit_all([world.streamlet("t")])
    hand_over(world, world.streamlet("t"), 1, -1)
    unneeded = Unneeded()
    unneeded.report(1, world.epoch(1), vsegs)
    vsegs.append(world.open(1, 3, 30).id)
    assert freed(world, unneeded) == [2], "nobody appended to t-0 yet"
    world.commit_all([world.streamlet("t")])
    vsegs.append(world.open(1, 4, 40).id)
    world.fence(1)
    world.seal_all(45)
    recovering = world.assign()
    assert len(recovering) == 2
    world.commit_all([one for one in recovering if one.index == 1])
    for node in world.image.brokers:
        unneeded.report(node, world.epoch(node), vsegs)
    assert freed(world, unneeded) == []


def test_what_cannot_hold_anything_of_a_streamlet_that_waits_is_not_kept_for_it() -> None:
    """Rule 12c."""
    world = cluster(4, t=(1, 3, [1]), u=(1, 2, [1]))
    vsegs = chain(world, 1, 2)
    for seq in range(2):
        vsegs.append(world.open(1, seq, seq * 10, copies=2, vlog=1).id)
    world.fence(1)
    world.seal_all(15)
    recovering = world.assign()
    world.commit_all([one for one in recovering if one.topic_id == world.streamlet("u").topic_id])
    leader = world.streamlet("u").leader
    unneeded = Unneeded()
    unneeded.report(leader, world.epoch(leader), vsegs)
    assert world.commit(decide_free(world.image, world.table, unneeded)) == vsegs[2:]


def test_what_was_pushed_again_is_given_up_when_no_copy_is_left_and_all_leaders_say_so() -> None:
    """Rule 45: the record stays, empty, until it is at the front."""
    world = cluster(4, t=(2, 3, [1, 2]))
    vsegs = chain(world, 1, 4)
    for node in {target.node_id for vseg in vsegs for target in world.table.vsegs[vseg].backups}:
        world.fence(node)
    world.register(*[node for node in (2, 3, 4) if node not in world.image.brokers], store="another")
    reports = Unneeded()

    def emptied() -> list[int]:
        decision = decide_emptied(world.image, world.table, reports)
        return [vseg.seq for vseg in world.commit(decision)]

    assert emptied() == []
    reports.report(1, world.epoch(1), [vsegs[1], vsegs[3]])
    assert emptied() == [1], "number 3 is open"
    record = world.table.vsegs[vsegs[1]]
    assert record.empty
    assert (record.backups, record.start, record.end) == ((), 10, 20)
    assert emptied() == [], "once"
    needed = Unneeded()
    needed.report(1, world.epoch(1), vsegs)
    assert freed(world, needed) == [0, 1, 2]


def test_who_makes_first_copies_is_a_leader_for_what_was_lost_and_has_what_is_left_kept() -> None:
    """It waits until all that is its own has copies. What was lost of that was emptied only afterwards."""
    world = cluster(4, t=(1, 3, [2]), single=(1, 1, [1]))
    wanted = [NewReplicas("single", 0, (1, 2, 3))]
    assert world.commit(decide_reassign(world.image, world.table, wanted)) == [None]
    vsegs = chain(world, 1, 3)
    for node in {target.node_id for vseg in vsegs for target in world.table.vsegs[vseg].backups}:
        world.fence(node)
    world.register(*[node for node in (2, 3, 4) if node not in world.image.brokers], store="another")
    reports = Unneeded()
    assert world.commit(decide_emptied(world.image, world.table, reports)) == []
    reports.report(1, world.epoch(1), [vsegs[1]])
    assert world.commit(decide_emptied(world.image, world.table, reports)) == [vsegs[1]]
    unneeded = Unneeded()
    unneeded.report(1, world.epoch(1), vsegs)
    assert freed(world, unneeded) == []
    assert world.streamlet("single").sources == ()


def test_those_given_up_before_leave_room_for_others() -> None:
    world = cluster(4, t=(1, 3, [1]))
    vsegs = chain(world, 1, PER_TRANSACTION + 3)
    for node in (2, 3, 4):
        world.fence(node)
    world.register(2, 3, 4, store="another")
    reports = Unneeded()
    reports.report(1, world.epoch(1), vsegs)
    given_up = [len(world.commit(decide_emptied(world.image, world.table, reports))) for _ in range(3)]
    assert given_up == [PER_TRANSACTION, 2, 0], "the last one is open"


def test_what_has_a_copy_is_not_given_up() -> None:
    world = cluster(4, t=(1, 3, [1]))
    vsegs = chain(world, 1, 3)
    reports = Unneeded()
    reports.report(1, 1, vsegs)
    assert world.commit(decide_emptied(world.image, world.table, reports)) == []


def test_what_is_no_copy_as_its_broker_said_is_given_up_like_others() -> None:
    world = cluster(4, t=(1, 3, [1]))
    vsegs = chain(world, 1, 3)
    first, second = (target.node_id for target in world.table.vsegs[vsegs[0]].backups)
    reports = Unneeded()
    reports.report(1, world.epoch(1), vsegs)

    def said_by(*nodes: int) -> None:
        said = tuple((node, world.epoch(node)) for node in nodes)
        world.table.vsegs[vsegs[0]] = world.table.vsegs[vsegs[0]]._replace(denied=said)

    said_by(first)
    assert decide_emptied(world.image, world.table, reports).answer == []
    said_by(first, second)
    assert decide_emptied(world.image, world.table, reports).answer == [vsegs[0]]
    world.register(second)
    assert decide_emptied(world.image, world.table, reports).answer == [], "it may have one again"


def test_a_report_from_before_a_streamlet_was_taken_over_says_nothing_about_it() -> None:
    world = cluster(3, t=(2, 3, [1, 1]))
    vsegs = chain(world, 1, 2)
    world.fence(1)
    world.seal_all(15)
    first, second = world.assign()
    world.commit_all([first, second])
    unneeded = Unneeded()
    unneeded.report(first.leader, world.epoch(first.leader), vsegs)
    world.fence(second.leader)
    (late,) = world.assign()
    assert late.leader == first.leader
    unneeded.took_over(late.leader, world.epoch(late.leader), [late])
    world.commit_all([late])
    assert freed(world, unneeded) == []
    unneeded.report(late.leader, world.epoch(late.leader), vsegs)
    assert freed(world, unneeded) == [0, 1]


def test_without_any_topic_all_that_is_closed_goes() -> None:
    world = cluster(3, t=(1, 3, [1]))
    chain(world, 1, 3)
    world.delete("t")
    assert freed(world, Unneeded()) == [0, 1]
    world.fence(1)
    world.seal_all(25)
    assert freed(world, Unneeded()) == [2]
    assert world.table.vsegs == {}


def test_a_transaction_is_bounded() -> None:
    world = cluster(3)
    chain(world, 1, PER_TRANSACTION + 20)
    assert len(freed(world, Unneeded())) == PER_TRANSACTION
    assert len(freed(world, Unneeded())) == 19


def test_sources_without_virtual_segments_leave_with_the_next_commit() -> None:
    world = cluster(3, t=(1, 3, [1]))
    world.open(1)
    for expected in ((1, 4), (1, 4, 5)):
        world.register(world.streamlet("t").leader)
        world.open(1)
        world.seal_all(10)
        assert world.commit_all(world.assign()) == [True]
        assert world.streamlet("t").sources == expected
    unneeded = Unneeded()
    unneeded.report(1, 5, list(world.table.vsegs))
    freed(world, unneeded)
    world.register(1)
    world.seal_all(20)
    world.commit_all(world.assign())
    assert world.streamlet("t").sources == (5, 6)


def test_log_starts_only_grow_and_only_by_the_leader() -> None:
    """Rule 44."""
    world = cluster(3, t=(2, 3, [1, 2]), single=(1, 1, [1]))
    topic, single = world.image.topics["t"].topic_id, world.image.topics["single"].topic_id
    starts = [Start(topic, 0, 50), Start(topic, 1, 50), Start(topic, 2, 50), Start(single, 0, 1)]
    assert world.commit(decide_starts(world.image, world.table, 1, 1, starts)) == [True, False, False, False]
    assert world.table.log_start(topic, 0) == 50
    back = decide_starts(world.image, world.table, 1, 1, [Start(topic, 0, 20), Start(topic, 0, 50)])
    assert back.answer == [True, True]
    assert not back.writes
    twice = [Start(topic, 0, 80), Start(topic, 0, 60)]
    world.commit(decide_starts(world.image, world.table, 1, 1, twice))
    assert world.table.log_start(topic, 0) == 80
    assert decide_starts(world.image, world.table, 1, 9, [Start(topic, 0, 99)]).answer == [False]
    assert decide_starts(world.image, world.table, 1, 1, [Start(bytes(16), 0, 99)]).answer == [False]
    world.register(1)
    assert decide_starts(world.image, world.table, 1, 4, [Start(topic, 0, 99)]).answer == [False]


def test_a_report_on_its_way_while_its_leader_got_more_streamlets_does_not_count() -> None:
    world = cluster(3, t=(2, 3, [1, 1]))
    vsegs = chain(world, 1, 2)
    world.fence(1)
    world.seal_all(15)
    recovering = world.assign()
    world.commit_all(recovering)
    unneeded = Unneeded(start=5)
    for number, record in enumerate(recovering):
        unneeded.took_over(record.leader, world.epoch(record.leader), [record], 7 + number)
    for record in recovering:
        unneeded.report(record.leader, world.epoch(record.leader), vsegs, 7)
    assert freed(world, unneeded) == []
    for record in recovering:
        unneeded.report(record.leader, world.epoch(record.leader), vsegs, 9)
    assert freed(world, unneeded) == [0, 1]


def test_a_report_made_for_an_earlier_controller_does_not_count() -> None:
    """It may have been overtaken by a commit that only that one knew."""
    world = cluster(3, t=(1, 3, [1]))
    vsegs = chain(world, 1, 2)
    unneeded = Unneeded(start=5)
    unneeded.report(1, 1, vsegs, 4)
    assert freed(world, unneeded) == []
    unneeded.report(1, 1, vsegs, 5)
    assert freed(world, unneeded) == [0]
