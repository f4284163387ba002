"""Planned moves (rule 12b): when one may begin and end, what is left on a broker, who should lead what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from kproto.controller import rules
from kproto.controller.decision import Decision
from kproto.controller.leader_choice import ElectionType, decide_unregister, examine
from kproto.controller.missing import owed, wanted_copies
from kproto.controller.moves import (
    HandOver,
    Wish,
    decide_handed_over,
    decide_moves,
    decide_tidy,
    misplaced,
)
from kproto.controller.reassignment import NewReplicas, decide_reassign, ongoing
from kproto.controller.repair import Repairs, decide_repaired
from kproto.controller.sources import Sources, owner_has
from kproto.controller.vsegs import decide_close_vsegs
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata.records import ONLINE, RECOVERING
from kproto.metadata.vlogs import CopyTarget, VsegId
from kproto.replica.takeover import older_sources
from tests.controller.cluster_world import World, cluster, nodes

ALL = frozenset({1, 2, 3, 4})


def begin(world: World, target: int, name: str = "t", index: int = 0) -> None:
    topic_id = world.image.topics[name].topic_id
    assert world.commit(decide_moves(world.image, world.table, [Wish(topic_id, index, target)]))


def hand_over(world: World, seq: int = 0, index: int = 0, node: int | None = None, **other: int) -> bool:
    """The leader says that everything up to segment ``seq`` of virtual log 0 is closed."""
    record = world.streamlet("t", index)
    move = world.table.moves.get((record.topic_id, index))
    named = {"leader_epoch": record.leader_epoch, "began": move.began if move else 0, **other}
    leader = record.leader if node is None else node
    attempt = HandOver(record.topic_id, index, **named)
    (done,) = world.commit(
        decide_handed_over(
            world.image, world.table, leader, world.epoch(leader), [attempt], [(0, seq)] if seq >= 0 else []
        )
    )
    return done


def moving(target: int = 2) -> World:
    """Broker 1 leads t-0, has closed segment 0 and opened 1, and is to hand over."""
    world = cluster(4, t=(2, 3, [1, 1]))
    world.open(1, seq=0)
    begin(world, target)
    world.open(1, seq=1, start=500)
    return world


def led_again() -> World:
    """The same; broker 1 has handed over to broker 2 since, and leads again."""
    world = moving(target=2)
    assert hand_over(world)
    world.commit_all([world.streamlet("t")])
    begin(world, 1)
    assert hand_over(world, seq=-1)
    world.commit_all([world.streamlet("t")])
    return world


def test_a_move_from_beginning_to_end() -> None:
    world = moving()
    old = world.epoch(1)
    assert hand_over(world)
    record = world.streamlet("t")
    assert (record.leader, record.state, record.leader_epoch, record.sources) == (2, RECOVERING, 1, (old,))
    assert not world.table.moves
    assert world.commit_all([record]) == [True]
    record = world.streamlet("t")
    assert (record.state, record.sources) == (ONLINE, (old, world.epoch(2)))
    assert world.streamlet("t", 1).leader == 1
    assert not hand_over(world, node=1)


def test_what_was_given_away_wants_all_copies_and_the_rest_does_not() -> None:
    world = moving()
    assert hand_over(world)
    first, second = (world.table.vsegs[VsegId(world.epoch(1), 0, seq)] for seq in (0, 1))
    assert wanted_copies(world.image, world.table, first) == 3
    assert wanted_copies(world.image, world.table, second) == 2
    world.fence(1)
    world.seal_all(600)
    world.commit_all(world.assign())
    assert world.streamlet("t", 1).leader != 1


def gave_and_lost() -> World:
    """Broker 1 gave t-0 away, up to segment 0, and leads t-1. Segment 1, opened since, was closed when all
    its backups lost their disks."""
    world = moving(target=4)
    assert hand_over(world)
    vseg = world.table.vsegs[VsegId(world.epoch(1), 0, 1)]
    world.commit(decide_close_vsegs(world.image, world.table, 1, [(vseg.id, 600)]))
    held = world.table.vsegs[vseg.id._replace(seq=0)]
    kept = next(node for node in (2, 3) if node in nodes(held.backups))
    backups = tuple(CopyTarget(node, "wiped") for node in (2, 3, 4) if node != kept)
    record = world.table.vsegs[vseg.id]._replace(backups=backups)
    world.commit(Decision(None, {record.key: record.encode()}))
    return world


def test_what_an_owner_opened_after_it_gave_a_streamlet_away_is_not_waited_for() -> None:
    """It has nothing of that (12b), so its copies do not matter, whether the owner lives or not. They do to
    what it leads itself, and who died may have led that to the end."""
    world = gave_and_lost()
    world.fence(4)
    given, own = world.streamlet("t"), world.streamlet("t", 1)
    sources = Sources(world.image, world.table)
    assert sources.candidates(given) == [1, 2, 3]
    assert sources.candidates(own) == [1]
    begin(world, 2, index=1)
    assert not hand_over(world, seq=1, index=1)
    world.fence(1)
    sources = Sources(world.image, world.table)
    assert sources.candidates(given) == [2, 3]
    assert sources.candidates(own) == []


def test_what_is_open_when_an_owner_dies_that_had_given_a_streamlet_away_is_not_waited_for() -> None:
    world = moving(target=2)
    assert hand_over(world)
    world.fence(1)
    sources = Sources(world.image, world.table)
    assert sources.sealed(world.streamlet("t"))
    assert not sources.sealed(world.streamlet("t", 1))


def test_the_journal_of_who_gave_a_streamlet_away_still_tells_what_it_opened_since() -> None:
    """Found by simulation (seed 430549): another one led the streamlet, so nobody asked the journal of its
    former owner where that had ended what others waited for."""
    world = moving(target=2)
    owner = world.image.brokers[1]
    assert hand_over(world)
    world.commit_all([world.streamlet("t")])
    world.fence(1)
    world.fence(2)
    assert [record.leader for record in world.assign()] == [3]
    world.register(1, store=owner.store_id)
    later = world.table.vsegs[VsegId(owner.epoch, 0, 1)]
    assert rules.owner_holds(world.image, world.table, later)
    assert rules.was_given(world.table, later._replace(id=later.id._replace(seq=0)))


def test_an_owner_that_led_a_streamlet_again_may_have_led_it_to_the_end() -> None:
    world = moving(target=2)
    one, two = world.epoch(1), world.epoch(2)
    assert hand_over(world)
    assert world.streamlet("t").given == (one,)
    world.commit_all([world.streamlet("t")])
    begin(world, 1)
    assert hand_over(world, seq=-1)
    assert world.streamlet("t").given == (one, two), "it appends nothing before it commits"
    world.commit_all([world.streamlet("t")])
    assert world.streamlet("t").given == (two,)
    world.fence(1)
    assert not Sources(world.image, world.table).sealed(world.streamlet("t"))


def test_back_to_an_owner_that_led_it_before() -> None:
    world = moving()
    one, two = world.epoch(1), world.epoch(2)
    assert hand_over(world)
    world.commit_all([world.streamlet("t")])
    for target, expected in ((1, (one, two, one)), (2, (one, two, one, two)), (1, (one, two, two, one))):
        begin(world, target)
        world.open(2, seq=0) if VsegId(two, 0, 0) not in world.table.vsegs else None
        world.commit(decide_close_vsegs(world.image, world.table, 2, [(VsegId(two, 0, 0), 10)]))
        assert hand_over(world)
        world.commit_all([world.streamlet("t")])
        assert world.streamlet("t").sources == expected


def test_what_a_failed_move_gave_back_is_read_from_copies() -> None:
    """Found by simulation: its files had gone when it handed over, and nobody looked for its records in the
    virtual logs of the owner that led it again."""
    world = moving()
    one = world.epoch(1)
    assert hand_over(world)
    given = world.table.vsegs[VsegId(one, 0, 0)]
    assert not owner_has(world.image, world.table, world.streamlet("t"), given)
    assert owner_has(world.image, world.table, world.streamlet("t", 1), given), "that was not given away"
    world.fence(2)
    back = world.streamlet("t").recovering(1)
    world.commit(Decision(None, {back.key: back.encode()}))
    assert world.commit_all([back]) == [True]
    record = world.streamlet("t")
    assert (record.state, record.sources) == (ONLINE, (one, one))
    assert older_sources(world.image, 1, record) == (one,)
    assert not owner_has(world.image, world.table, record, given)


def tidy_away(world: World) -> None:
    world.fence(2)
    assert world.commit(decide_tidy(world.image, world.table)) == 1


REFUSALS: dict[str, tuple[Callable[[World], object], dict[str, int]]] = {
    "no move": (tidy_away, {}),
    "the target is away": (lambda world: world.fence(2), {}),
    "another one leads": (lambda _: None, {"node": 3}),
    "an earlier leader epoch": (lambda _: None, {"leader_epoch": -1}),
    "a move that was given up": (lambda _: None, {"began": 1}),
    "an open segment": (lambda _: None, {"seq": 1}),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_move_that_may_not_end(case: str) -> None:
    world = moving()
    before = world.streamlet("t")
    prepare, what = REFUSALS[case]
    prepare(world)
    assert not hand_over(world, **what)
    assert world.streamlet("t") == before
    assert not world.table.given_upto


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        ("is_rolled", lambda *_: True),
        ("is_that_move", lambda *_: True),
    ],
)
def test_without_a_rule_chunks_could_be_lost(
    rule: str, broken: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The predicate alone stands between a leader that appends and its successor."""
    attempt: dict[str, int] = {"seq": 1} if rule == "is_rolled" else {"began": 1}
    assert not hand_over(moving(), **attempt)
    monkeypatch.setattr(rules, rule, broken)
    assert hand_over(moving(), **attempt)


def test_a_move_without_a_copy_to_read_does_not_end() -> None:
    world = moving()
    vseg = world.table.vsegs[VsegId(world.epoch(1), 0, 0)]
    for node in nodes(vseg.backups):
        world.fence(node)
    left = next(node for node in (2, 3, 4) if node in world.image.brokers)
    begin(world, left)
    assert not hand_over(world)
    assert world.streamlet("t").leader == 1
    assert not world.table.moves


def test_a_leader_stays_while_its_files_are_needed_as_a_copy() -> None:
    """Found by simulation (seed 10004200): one of two backups had lost its disk, and the leader handed over,
    so that its own files were no copy any more. Then the other backup lost its disk, too."""
    world = moving()
    first = world.table.vsegs[VsegId(world.epoch(1), 0, 0)]
    gone, kept = nodes(first.backups)
    begin(world, kept)
    world.fence(gone)
    before = world.streamlet("t")
    assert not hand_over(world)
    assert (world.streamlet("t"), world.table.moves, world.table.given_upto) == (before, {}, {})
    world.commit(decide_reassign(world.image, world.table, [NewReplicas("t", 0, (kept, 1))]))
    assert list(misplaced(world.image, world.table, ALL, True)) == [], "it would refuse appends for nothing"
    (other,) = {2, 3, 4} - {gone, kept}
    copies = (*first.backups, CopyTarget(other, world.image.brokers[other].store_id))
    record = world.table.vsegs[first.id]._replace(backups=copies)
    world.commit(Decision(None, {record.key: record.encode()}))
    assert [wish.target for wish in misplaced(world.image, world.table, ALL, True)] == [kept]
    begin(world, kept)
    assert hand_over(world)


def test_a_leader_goes_when_nobody_could_have_another_copy() -> None:
    """With three brokers and one of them away, or drained, what is missing cannot be made."""
    for drained in (False, True):
        world = cluster(3, t=(1, 3, [1]))
        first = world.open(1, seq=0)
        begin(world, 2)
        world.open(1, seq=1, start=500)
        if drained:
            kept = tuple(target for target in first.backups if target.node_id == 2)
            record = world.table.vsegs[first.id]._replace(backups=kept)
            drain = {"configs/3": b'{"kproto.drain":"true"}'}
            world.commit(Decision(None, {record.key: record.encode(), **drain}))
        else:
            world.fence(3)
        assert hand_over(world)


def test_what_a_leader_gave_away_before_does_not_keep_it() -> None:
    """Its files are no copy of that: the copies of others are all there are, whoever leads."""
    world = led_again()
    first = world.table.vsegs[VsegId(world.epoch(1), 0, 0)]
    gone, kept = nodes(first.backups)
    begin(world, kept)
    world.fence(gone)
    sources = Sources(world.image, world.table)
    assert not sources.needs_leader(world.streamlet("t"))
    assert sources.needs_leader(world.streamlet("t", 1)), "that it kept all the while"
    assert hand_over(world, node=1, seq=-1)


def test_who_still_pushes_again_what_was_given_up_stays_the_leader() -> None:
    """Found by simulation: the next leader took for lost what this one had in its files."""
    for lost, emptied in ((True, False), (True, True), (False, True)):
        world = moving()
        vseg = world.table.vsegs[VsegId(world.epoch(1), 0, 0)]
        record = vseg._replace(backups=(), lost=lost, emptied=emptied)
        world.commit(Decision(None, {record.key: record.encode()}))
        assert hand_over(world) == emptied
        assert world.streamlet("t").leader == (2 if emptied else 1)
        assert not world.table.moves


def test_moves_of_dead_leaders_are_tidied_away() -> None:
    world = moving()
    world.fence(1)
    world.seal_all(600)
    world.assign()
    assert world.table.moves
    assert world.commit(decide_tidy(world.image, world.table)) == 1
    assert not world.table.moves


def test_one_copy_never_moves() -> None:
    world = cluster(2, t=(1, 1, [1]))
    topic_id = world.image.topics["t"].topic_id
    assert decide_moves(world.image, world.table, [Wish(topic_id, 0, 2)]).answer == []
    world.commit(decide_reassign(world.image, world.table, [NewReplicas("t", 0, (2,))]))
    assert list(misplaced(world.image, world.table, ALL, True)) == [], "before others have copies"
    assert decide_moves(world.image, world.table, [Wish(topic_id, 0, 2)]).answer == []


# Reassignments


def test_a_reassignment_that_keeps_the_leader_is_done_at_once() -> None:
    world = cluster(4, t=(1, 3, [1]))
    assert world.commit(decide_reassign(world.image, world.table, [NewReplicas("t", 0, (4, 1, 2))])) == [None]
    assert (world.streamlet("t").replicas, world.streamlet("t").leader) == ((4, 1, 2), 1)
    assert not world.table.moves
    assert ongoing(world.image, world.table, None) == []


def test_a_reassignment_of_the_leader_lasts_until_it_has_moved() -> None:
    world = moving(3)
    world.commit(decide_reassign(world.image, world.table, [NewReplicas("t", 0, (4, 2, 3))]))
    (one,) = ongoing(world.image, world.table, None)
    assert (one.replicas, one.adding, one.removing) == ([4, 2, 3, 1], [4], [1])
    assert ongoing(world.image, world.table, [("t", [1, 7]), ("u", [0])]) == []
    assert hand_over(world)
    assert world.streamlet("t").leader == 4
    assert ongoing(world.image, world.table, None) == []


def test_a_reassignment_is_cancelled() -> None:
    world = cluster(4, t=(1, 3, [1]))
    before = world.streamlet("t")
    world.commit(decide_reassign(world.image, world.table, [NewReplicas("t", 0, (4, 2, 3))]))
    world.commit(decide_reassign(world.image, world.table, [NewReplicas("t", 0, (3, 2, 4))]))
    assert world.commit(decide_reassign(world.image, world.table, [NewReplicas("t", 0, None)])) == [None]
    assert world.streamlet("t") == before
    assert not world.table.moves
    (error,) = decide_reassign(world.image, world.table, [NewReplicas("t", 0, None)]).answer
    assert error is not None
    assert error.code is ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


@pytest.mark.parametrize(
    ("copies", "replicas", "waits"), [(2, (2, 3), True), (2, (3, 1), True), (3, (2, 3, 4), False)]
)
def test_of_two_copies_the_other_one_is_doubled_before_another_broker_leads(
    copies: int, replicas: tuple[int, ...], waits: bool
) -> None:
    """None was left to lose when the old leader's files had ceased to be one: the next disk took acknowledged
    records with it (12b, 17)."""
    world = cluster(4, t=(1, copies, [1]), u=(1, 3, [1]))
    closed = world.open(1, copies=copies)
    world.commit(decide_close_vsegs(world.image, world.table, 1, [(closed.id, 400)]))
    world.open(1, 1, 400, copies=copies)
    other = world.open(1, vlog=1, copies=3)
    world.commit(decide_close_vsegs(world.image, world.table, 1, [(other.id, 400)]))
    repairs = Repairs(0)
    assert repairs.plan(world.image, world.table, world.now).short == 0
    world.commit(decide_reassign(world.image, world.table, [NewReplicas("t", 0, replicas)]))
    if not world.table.moves:
        begin(world, replicas[0])
    leaving = [world.streamlet("t"), world.streamlet("u")]
    assert owed(world.image, world.table, leaving) == [{closed.id} if waits else set(), set()]
    plan = repairs.plan(world.image, world.table, world.now)
    assert [order.vseg.id for order in plan.orders] == [closed.id] * waits
    for order in plan.orders:
        assert order.target.node_id not in (1, *nodes(closed.backups))
        assert world.commit(decide_repaired(world.image, world.table, order))
    assert owed(world.image, world.table, leaving) == [set(), set()]
    if waits:
        world.fence(closed.backups[0].node_id)
        world.fence(order.target.node_id)
        assert owed(world.image, world.table, leaving) == [{closed.id}, set()], "one can have it again"
        world.table.moves.clear()
        assert owed(world.image, world.table, leaving) == [set(), set()]


def test_a_reassignment_that_is_asked_for_again_goes_on() -> None:
    """Its leader took it for another one, which waited for copies of all that was closed since the first: who
    asked again and again kept it from ending."""
    world = cluster(4, t=(1, 2, [1]))
    begun = []
    for replicas in ((2, 3), (2, 3), (2, 4), (3, 4), (2, 4)):
        world.commit(decide_reassign(world.image, world.table, [NewReplicas("t", 0, replicas)]))
        (move,) = world.table.moves.values()
        assert (move.target, move.before) == (replicas[0], (1, 2))
        begun.append(move.began)
    assert begun[0] == begun[1] == begun[2] < begun[3] < begun[4]


def test_a_reassignment_to_more_than_one_replica_after_all_waits_for_copies() -> None:
    """To one replica it need not: its leader took it for the same move, which waits for nothing any more."""
    world = cluster(4, t=(1, 2, [1]))
    begun = []
    for replicas in ((3,), (3,), (3, 4)):
        world.commit(decide_reassign(world.image, world.table, [NewReplicas("t", 0, replicas)]))
        (move,) = world.table.moves.values()
        begun.append(move.began)
    assert begun[0] == begun[1] < begun[2]


def test_a_move_waits_for_no_second_copy_of_what_holds_nothing_of_it_or_is_to_have_one_or_three() -> None:
    world = cluster(5, many=(1, 3, [1]), t=(1, 2, [1]))
    two, three = world.open(1, copies=2), world.open(1, vlog=1, copies=3)
    ends = [(one.id, 400) for one in (two, three)]
    world.commit(decide_close_vsegs(world.image, world.table, 1, ends))
    for each in (two, three):
        lost = each._replace(backups=each.backups[:-1], end=400)
        world.commit(Decision(None, {lost.key: lost.encode()}))
    begin(world, 2, "many")
    begin(world, 2, "t")
    both = [world.streamlet("many"), world.streamlet("t")]
    assert owed(world.image, world.table, both) == [set(), {two.id}], "see `Sources.could_lead` for the other"
    alone = both[1].assigned_to((4,))
    world.commit(Decision(None, {alone.key: alone.encode()}))
    assert owed(world.image, world.table, [world.streamlet("t")]) == [set()], "one disk is all it is to have"


def test_thousands_of_moves_wait_for_thousands_of_virtual_segments_and_each_is_looked_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With 2,000 moves of one leader that had 2,000 of 10,000 virtual segments each image held it up for five
    seconds: its session ended."""
    world, looks = cluster(4, t=(40, 2, [1] * 40)), Counter[str]()
    for seq in range(41):
        world.open(1, seq, seq * 400, 2)
        world.open(2, seq, seq * 400, 2)
    for index in range(40):
        begin(world, 2, index=index)

    def counted(name: str, real: Callable[..., Any], *args: Any) -> Any:
        looks[name] += 1
        return real(*args)

    for name in ("leaves", "is_for"):
        monkeypatch.setattr(rules, name, partial(counted, name, getattr(rules, name)))
    records = [world.streamlet("t", index) for index in range(40)]
    found = owed(world.image, world.table, records)
    assert [len(each) for each in found] == [40] * 40
    assert all(each is found[0] for each in found)
    assert looks["leaves"] <= 4 * len(records)
    assert looks["is_for"] == 40
    looks.clear()
    assert (
        sum(wanted_copies(world.image, world.table, vseg) == 2 for vseg in world.table.vsegs.values()) == 41
    )
    assert not looks["leaves"], "known of this image"


def test_whether_others_have_enough_copies_is_looked_at_once_for_all_that_are_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 50,000 virtual segments of one leader it took the controller 0.1 s for each fifty streamlets that
    were handed over."""
    world, looks = cluster(4, t=(1, 3, [1])), Counter[str]()
    vseg = world.open(1)
    alike = [vseg._replace(id=vseg.id._replace(seq=seq), start=seq, end=seq + 1) for seq in range(200)]
    world.commit(Decision(None, {one.key: one.encode() for one in alike}))
    real = rules.lacks_copies

    def counted(*args: Any) -> bool:
        looks["vsegs"] += 1
        return real(*args)

    monkeypatch.setattr(rules, "lacks_copies", counted)
    assert Sources(world.image, world.table).could_lead(world.streamlet("t"), 2)
    assert looks["vsegs"] == 1
    one = alike[7]._replace(backups=alike[7].backups[:1])
    world.commit(Decision(None, {one.key: one.encode()}))
    assert not Sources(world.image, world.table).could_lead(world.streamlet("t"), 2)


def test_all_of_an_owner_that_lack_copies_are_known() -> None:
    """The first one may have nothing of the streamlet."""
    world = cluster(4, t=(1, 3, [1]), u=(1, 2, [1]))
    for vlog, copies in enumerate((2, 3)):
        one = world.open(1, vlog=vlog, copies=copies)._replace(end=10, backups=())
        world.commit(Decision(None, {one.key: one.encode()}))
    sources = Sources(world.image, world.table)
    assert [sources.needs_leader(world.streamlet(name)) for name in "tu"] == [True, True]


# Who should lead


def test_leaders_that_should_be_others() -> None:
    world = cluster(4, t=(2, 3, [1, 2]))
    world.commit(decide_reassign(world.image, world.table, [NewReplicas("t", 0, (3, 1, 2))]))
    assert list(misplaced(world.image, world.table, ALL, False)) == []
    (wish,) = misplaced(world.image, world.table, ALL, True)
    assert wish[1:] == (0, 3)
    assert list(misplaced(world.image, world.table, ALL - {3}, True)) == []
    begin(world, 3)
    assert list(misplaced(world.image, world.table, ALL, True)) == []


def test_nothing_is_to_be_led_elsewhere_before_it_can_be() -> None:
    """Found by simulation (seed 841274): a leader stopped appends to hand over what nobody else could read
    yet, and was asked again half a minute later only."""
    world = moving(target=3)
    world.commit(decide_reassign(world.image, world.table, [NewReplicas("t", 0, (3, 2, 4))]))
    vseg = world.table.vsegs[VsegId(world.epoch(1), 0, 0)]

    def wishes(**change: Any) -> list[int]:
        changed = vseg._replace(end=500, **change)
        world.commit(Decision(None, {changed.key: changed.encode()}))
        return [wish.target for wish in misplaced(world.image, world.table, ALL, False)]

    assert wishes() == [], "it is under way"
    wishes(backups=())
    assert not hand_over(world)
    assert not world.table.moves
    assert wishes(backups=()) == [], "the leader has the only copy"
    assert wishes(lost=True) == [], "the leader pushes it again"
    assert wishes() == [3]


# Elections and unregistering


def code_of(world: World, kind: ElectionType, index: int = 0) -> ErrorCode | None:
    error, record = examine(world.image, kind, ("t", index))
    assert (error is None) != (record is None)
    return error.code if error is not None else None


def test_elections_as_kafka_answers_them() -> None:
    world = cluster(4, t=(1, 3, [1]))
    assert code_of(world, ElectionType.PREFERRED) is ErrorCode.ELECTION_NOT_NEEDED
    assert code_of(world, ElectionType.UNCLEAN) is ErrorCode.ELECTION_NOT_NEEDED
    assert code_of(world, ElectionType.PREFERRED, 1) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    world.commit(decide_reassign(world.image, world.table, [NewReplicas("t", 0, (3, 1, 2))]))
    assert code_of(world, ElectionType.PREFERRED) is None
    world.fence(3)
    assert code_of(world, ElectionType.PREFERRED) is ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    world.fence(1)
    assert code_of(world, ElectionType.UNCLEAN) is None


def refused(world: World, node: int) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        decide_unregister(world.image, world.table, node)
    return caught.value.code


def test_who_may_be_forgotten() -> None:
    world = cluster(4, t=(1, 3, [1]), single=(1, 1, [2]))
    assert refused(world, 9) is ErrorCode.BROKER_ID_NOT_REGISTERED
    assert refused(world, 1) is ErrorCode.INVALID_REQUEST
    world.fence(2)
    assert refused(world, 2) is ErrorCode.INVALID_REQUEST
    world.fence(4)
    world.commit(decide_unregister(world.image, world.table, 4))
    assert 4 not in world.table.fenced
    assert refused(world, 4) is ErrorCode.BROKER_ID_NOT_REGISTERED
    assert world.table.moved_upto[4] == 4


def test_a_live_owner_without_virtual_segments_stays_a_source() -> None:
    """It may write down later what it knew when it handed over; who leads next must look further then."""
    world = cluster(4, t=(1, 3, [1]))
    one, two = world.epoch(1), world.epoch(2)
    for target, expected in ((2, (one, two)), (3, (one, two, world.epoch(3)))):
        begin(world, target)
        assert hand_over(world, seq=-1)
        world.commit_all([world.streamlet("t")])
        assert world.streamlet("t").sources == expected
    world.fence(2)
    begin(world, 4)
    assert hand_over(world, seq=-1)
    world.commit_all([world.streamlet("t")])
    assert world.streamlet("t").sources == (one, world.epoch(3), world.epoch(4))


def test_in_limbo_without_a_topic_that_waits_for_it_it_ends_where_it_began() -> None:
    """Found by simulation: what an owner opened after it had given everything away stayed open for ever when
    all copies of it were in limbo, since nobody waits for it, and so nobody can accept its loss."""
    world = cluster(4, t=(1, 3, [1]))
    world.open(1, seq=0)
    begin(world, 2)
    world.open(1, seq=1, start=500)
    assert hand_over(world)
    world.commit_all([world.streamlet("t")])
    later = VsegId(world.epoch(1), 0, 1)
    world.fence(1)
    for ask in world.plan().asks:
        world.answer(ask, 550, limbo=True)
    world.now += 1000
    (closed,) = world.close()
    assert (closed.id, closed.end) == (later, closed.start)
