"""The end of what a fenced owner left open (rules 18b, 19b, 20 to 23)."""

from __future__ import annotations

import pytest

from kproto.controller.decision import Decision
from kproto.controller.rules import UNCLEAN
from kproto.controller.sealing import RETRY_SECONDS, Sealing, decide_close
from kproto.metadata.records import StreamletRecord, config_key, encode_configs
from kproto.metadata.vlogs import CopyTarget
from kproto.replica.messages import NOTHING

from .cluster_world import PATIENCE, STALL, World, cluster, nodes, reading


def owner_died(copies: int = 3, brokers: int = 3) -> World:
    world = cluster(brokers, t=(1, copies, [1]))
    world.open(1, 0, 0, copies)
    world.open(1, 1, 100, copies)
    world.fence(1)
    return world


def test_only_the_open_ones_of_dead_owners_are_sealed_with_their_fence() -> None:
    world = owner_died()
    world.open(2)
    asks = world.plan().asks
    assert [(tuple(ask.vseg), ask.target.node_id, ask.fence, ask.journal) for ask in asks] == [
        ((1, 0, 1), node, 2, False) for node in nodes(world.table.open_vsegs()[0].backups)
    ]
    assert world.plan().asks == [], "they are on their way"


def test_the_end_is_what_every_answering_copy_holds() -> None:
    """Rule 21: not below what was durable, and each copy that stays listed has all of it."""
    world = owner_died()
    first, second = world.plan().asks
    world.answer(first, 180)
    assert world.close() == []
    world.answer(second, 150)
    (closed,) = world.close()
    assert (closed.end, len(closed.backups)) == (150, 2)
    assert world.plan().asks == []
    assert world.table.open_vsegs() == []


def test_a_restarted_owner_is_sealed_like_a_dead_one() -> None:
    """Rules 2 and 2b: saving time on copying, never on sealing."""
    world = cluster(3, t=(1, 3, [1]))
    world.open(1)
    world.register(1)
    assert len(world.plan().asks) == 2


def test_a_backup_that_is_late_is_waited_for_no_longer_than_a_stall() -> None:
    world = owner_died()
    first, second = world.plan().asks
    world.answer(first, 180)
    plan = world.plan()
    assert plan.closes == []
    assert plan.look_at == world.now + STALL
    world.now += STALL
    assert world.plan().asks == [reading(first)], "whether it is still there"
    assert world.plan() == ([], [], [], None), "it is on its way"
    world.answer(first, 180)
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (180, (first.target,))
    world.answer(second, 200)
    assert world.plan() == ([], [], [], None), "the late answer changes nothing"


def test_who_is_asked_when_others_are_late_reads_its_copy() -> None:
    """It may be listed alone (24c)."""
    world = owner_died()
    first, second = world.plan().asks
    assert (first.thorough, second.thorough) == (False, False)
    world.answer(first, 180)
    world.now += STALL
    (again,) = world.plan().asks
    assert again == first._replace(thorough=True)


def test_who_has_not_answered_yet_is_not_told_to_read_its_copy() -> None:
    """Who reads 64 MB would be late, and be listed no more, when another one is back and answers at once."""
    world = cluster(3, t=(1, 3, [1]))
    back = world.open(1).backups[1].node_id
    world.fence(back)
    world.fence(1)
    (first,) = world.plan().asks
    assert not first.thorough
    world.answer(first, 180)
    (again,) = world.plan().asks
    assert again == reading(first)
    world.register(back)
    (second,) = world.plan().asks
    world.answer(second, 180)
    (closed,) = world.close()
    assert closed.backups == (first.target, second.target)


def test_who_is_to_read_its_copy_is_not_given_up_for_one_in_limbo() -> None:
    """All were away for long, so that topics may lose something; an operator allows it, too."""
    for allowed in ("configs", "operator"):
        world = cluster(3, t=(1, 3, [1]))
        vseg = world.open(1)
        one, other = (target.node_id for target in vseg.backups)
        world.fence(1)
        world.fence(one)
        world.fence(other)
        if allowed == "configs":
            world.sealing = Sealing(STALL, PATIENCE, may_lose=True)
        world.plan()
        world.now += 3 * PATIENCE
        world.register(one)
        world.register(other)
        first, second = world.plan().asks
        if allowed == "operator":
            world.sealing.accept_loss([vseg.id])
        world.answer(first, 250, limbo=True)
        world.answer(second, 200)
        plan = world.plan()
        assert (plan.asks, plan.closes) == ([reading(second)], [])
        world.answer(second, 200)
        (closed,) = world.close()
        assert (closed.end, closed.backups, closed.shortened) == (200, (second.target,), False)


def test_but_one_that_never_has_done_is_not_waited_for_for_ever() -> None:
    world = owner_died()
    first, second = world.plan().asks
    world.sealing.accept_loss([first.vseg])
    world.answer(first, 250, limbo=True)
    world.answer(second, 200)
    assert world.plan().asks == [reading(second)]
    world.now += PATIENCE
    (closed,) = world.close()
    assert closed.shortened


def test_an_answer_without_a_look_does_not_become_one_by_time() -> None:
    """The owner went again, so both were asked again, as nobody was away who is listed; then one of them is.
    It was late at once, by its first answer, and the other one's answer came after that."""
    world = cluster(3, t=(1, 3, [1]))
    world.open(1)
    world.fence(1)
    world.register(1)
    first, second = world.plan().asks
    world.answer(first, 180)
    world.answer(second, 180)
    world.now += 2 * STALL
    world.fence(1)
    for ask in world.plan().asks:
        world.answer(ask, 180)
    world.now += STALL / 2
    world.register(second.target.node_id)
    plan = world.plan()
    assert plan.closes == []
    assert reading(first) in plan.asks


def test_who_answered_and_is_silent_now_does_not_decide_alone() -> None:
    """A machine that loses its power is a member for a whole session; whoever was late has all of it."""
    world = owner_died()
    first, second = world.plan().asks
    world.answer(first, 180)
    world.now += STALL
    assert world.plan().asks == [reading(first)]
    world.sealing.failed(first, world.now)
    world.now += RETRY_SECONDS
    plan = world.plan()
    assert (plan.asks, plan.closes) == ([reading(first)], [])
    world.answer(second, 200)
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (180, (first.target, second.target))


def test_who_may_have_lost_its_last_frame_decides_only_where_nobody_has_it_whole() -> None:
    """The last frame that it acknowledged was damaged since, which looks as if it had been torn before it was
    acknowledged. It was the end of all copies (24b, 24c)."""
    for other, closed_with in ((200, (200, 1)), (180, (180, 2)), (150, (150, 2)), (None, (180, 1))):
        world = owner_died()
        first, second = world.plan().asks
        world.answer(first, 180, torn=True)
        if other is not None:
            world.answer(second, other)
            world.say_again()
        else:
            world.fence(second.target.node_id)
            world.now += PATIENCE
            (again,) = world.plan().asks
            world.answer(again, 180, torn=True)
        (closed,) = world.close()
        assert (closed.end, len(closed.backups)) == closed_with
        assert other != 200 or closed.backups == (second.target,)


def test_who_has_the_last_frame_whole_and_went_away_is_waited_for() -> None:
    """It may have lost its disk, and the other one's frame may have been torn by nothing but a kill (24b)."""
    world = owner_died()
    first, second = world.plan().asks
    world.answer(first, 180, torn=True)
    world.answer(second, 200)
    world.now += 1.0
    world.fence(second.target.node_id)
    plan = world.plan()
    assert (plan.asks, plan.closes) == ([reading(first)], []), "whether it is still there"
    world.answer(first, 180, torn=True)
    plan = world.plan()
    assert (plan.asks, plan.closes, plan.look_at) == ([], [], 100.0 + PATIENCE)
    world.now += PATIENCE
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (180, (first.target, second.target))


@pytest.mark.parametrize("torn", [False, True])
def test_who_lacks_what_another_copy_says_was_durable_does_not_decide(torn: bool) -> None:
    """It was damaged where its file does not show it, and is not listed (24c)."""
    world = owner_died()
    first, second = world.plan().asks
    world.answer(first, 180, torn=torn, durable=150)
    world.answer(second, 200, durable=181)
    if torn:
        world.say_again()
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (200, (second.target,))


def test_who_has_all_that_was_durable_decides() -> None:
    """What it lacks was on its way (21)."""
    world = owner_died()
    first, second = world.plan().asks
    world.answer(first, 180, durable=150)
    world.answer(second, 200, durable=180)
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (180, (first.target, second.target))


def test_of_what_begins_later_a_copy_may_have_nothing() -> None:
    """Nothing was ever durable there."""
    world = cluster(3, t=(1, 3, [1]))
    world.open(1, 0, 100)
    world.fence(1)
    first, second = world.plan().asks
    world.answer(first, -1)
    world.answer(second, 200, durable=100)
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (100, ())


def test_a_fenced_backup_is_not_waited_for() -> None:
    world = owner_died()
    first, second = world.plan().asks
    world.answer(first, 180)
    world.fence(second.target.node_id)
    world.say_again()
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (180, (first.target,))


def test_who_answered_and_died_does_not_decide_alone() -> None:
    """Its disk may be what died; whoever is late has all of it, and would be listed no more."""
    world = owner_died()
    first, second = world.plan().asks
    world.answer(first, 180)
    world.fence(first.target.node_id)
    world.now += STALL
    assert world.close() == []
    world.answer(second, 200)
    assert world.plan().asks == [reading(second)], "whether it is there still"
    world.answer(second, 200)
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (180, (first.target, second.target))


def test_who_answered_before_the_other_was_gone_is_asked_whether_it_is_still_there() -> None:
    """It answered, its machine lost its power, and before anybody noticed that the other one died: that one
    comes back with all of it (seed 13003605)."""
    world = owner_died()
    first, second = world.plan().asks
    world.answer(first, 180)
    world.now += 0.1
    world.fence(second.target.node_id)
    plan = world.plan()
    assert (plan.asks, plan.closes) == ([reading(first)], [])
    for ask in (first, second):
        world.sealing.failed(ask, world.now)
    world.fence(first.target.node_id)
    assert world.close() == []
    world.now += RETRY_SECONDS
    world.register(second.target.node_id)
    (ask,) = world.plan().asks
    world.answer(ask, 200)
    world.say_again()
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (180, (first.target, second.target))


def test_the_owner_is_not_asked_while_a_backup_may_say_that_it_is_still_there() -> None:
    """More copies are better; but a member that answers no more is not waited for for ever."""
    world = owner_died()
    first, second = world.plan().asks
    world.answer(first, 180)
    world.register(1)
    world.now += PATIENCE
    world.fence(second.target.node_id)
    assert world.plan().asks == [reading(first)]
    plan = world.plan()
    assert (plan.asks, plan.closes, plan.look_at) == ([], [], world.now + STALL)
    world.now += STALL
    (ask,) = world.plan().asks
    assert ask.journal
    world.answer(first, 180)
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (180, (first.target,))


def test_who_answered_and_died_is_asked_again_when_it_is_back() -> None:
    """With the power it may have lost what it had said that it has."""
    world = owner_died()
    first, second = world.plan().asks
    world.answer(first, 180)
    world.fence(first.target.node_id)
    world.register(first.target.node_id)
    world.now += STALL
    plan = world.plan()
    assert ([ask.target for ask in plan.asks], plan.closes) == ([first.target], [])
    world.answer(first, 170, limbo=True)
    assert world.close() == []
    world.answer(second, 200)
    world.say_again()
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (200, (second.target,))


def test_who_never_got_anything_may_die() -> None:
    """All of nothing is what every copy has."""
    world = owner_died()
    first, _ = world.plan().asks
    world.answer(first, -1)
    world.fence(first.target.node_id)
    world.now += STALL
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (100, ())


def test_who_is_dead_by_the_time_that_it_is_decided_does_not_decide_alone() -> None:
    world = owner_died()
    first, second = world.plan().asks
    world.answer(first, 180)
    world.now += STALL
    plan = world.sealing.plan(world.image, world.table, world.now)
    world.fence(first.target.node_id)
    assert world.commit(decide_close(world.image, world.table, plan.closes)) == []
    world.answer(second, 200)
    assert world.plan().asks == [reading(second)]
    world.answer(second, 200)
    assert [closed.end for closed in world.close()] == [180]


def test_an_owner_that_told_its_end_and_died_is_asked_again_when_it_is_back() -> None:
    """What only its journal has may be lost with its power, or its disk."""
    world = owner_died()
    backups = world.table.open_vsegs()[0].backups
    for target in backups:
        world.fence(target.node_id)
    world.register(1)
    world.now += PATIENCE
    world.plan()
    world.now += PATIENCE
    (ask,) = world.plan().asks
    assert ask.journal
    world.answer(ask, 200)
    world.fence(1)
    assert world.close() == []
    world.register(1)
    (ask,) = world.plan().asks
    assert ask.journal
    world.answer(ask, 200)
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (200, ())


def test_both_backups_are_dead_so_nothing_is_decided_until_one_is_back() -> None:
    world = owner_died(brokers=4)
    first, second = world.plan().asks
    world.sealing.failed(first, world.now)
    world.sealing.failed(second, world.now)
    world.fence(first.target.node_id)
    world.fence(second.target.node_id)
    for _ in range(5):
        world.now += 100
        plan = world.plan()
        assert (plan.asks, plan.closes) == ([], [])
    away = sorted((first.target.node_id, second.target.node_id))
    assert plan.waiting == [f"virtual segment 1/0/1 waits for a copy: away on {away[0]}, {away[1]}"]
    world.register(second.target.node_id)
    (ask,) = world.plan().asks
    world.answer(ask, 170)
    world.say_again()
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (170, (second.target,))


def test_a_wiped_backup_is_not_asked() -> None:
    """Rule 3: another data directory is no copy, whatever it would say."""
    world = owner_died()
    for target in world.table.open_vsegs()[0].backups:
        world.register(target.node_id, store="new")
    plan = world.plan()
    assert (plan.asks, plan.closes) == ([], [])
    assert "away on" in plan.waiting[0]


def test_a_copy_in_limbo_does_not_count() -> None:
    """Rule 22: neither as an answer nor as a copy."""
    world = owner_died()
    first, second = world.plan().asks
    world.answer(first, 0, limbo=True)
    world.answer(second, 170)
    assert world.close() == [], "it has not looked, and would be listed alone"
    world.say_again()
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (170, (second.target,))


def test_only_limbo_waits_and_says_so_until_the_broker_started_again() -> None:
    world = owner_died()
    first, second = world.plan().asks
    world.answer(first, 170, limbo=True)
    world.answer(second, 170, limbo=True)
    world.now += 100
    plan = world.plan()
    assert (plan.asks, plan.closes) == ([], [])
    assert "in limbo on" in plan.waiting[0]
    world.register(first.target.node_id)
    (ask,) = world.plan().asks
    assert ask.target == first.target


def both_in_limbo() -> World:
    world = owner_died()
    first, second = world.plan().asks
    world.answer(first, 170, limbo=True)
    world.answer(second, 150, limbo=True)
    return world


def test_an_operator_can_accept_a_loss_and_the_longest_copy_decides() -> None:
    world = both_in_limbo()
    vseg = world.table.open_vsegs()[0]
    assert world.close() == []
    assert world.sealing.accept_loss([vseg.id, vseg.id._replace(seq=0)]) == [True, False]
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (170, vseg.backups[:1])
    assert closed.shortened, "what came later elsewhere may not continue it"


def test_an_operator_need_not_wait_for_a_broker_that_is_gone() -> None:
    world = owner_died()
    first, second = world.plan().asks
    world.sealing.accept_loss([first.vseg])
    world.sealing.failed(second, world.now)
    world.fence(second.target.node_id)
    assert world.close() == []
    world.answer(first, 170, limbo=True)
    assert [(closed.end, closed.backups) for closed in world.close()] == [(170, (first.target,))]


def test_an_operator_can_give_up_what_no_copy_is_left_of() -> None:
    world = owner_died()
    asks = world.plan().asks
    for ask in asks:
        world.sealing.failed(ask, world.now)
        world.fence(ask.target.node_id)
    assert world.close() == []
    world.sealing.accept_loss([asks[0].vseg])
    (closed,) = world.close()
    assert closed.empty
    assert (closed.end, closed.backups, closed.shortened) == (closed.start, (), True)


def test_an_election_of_all_partitions_gives_up_nothing_that_may_only_be_away() -> None:
    """Found by simulation: all who had a copy were fenced for a moment, and what they had was given up. Those
    that are back with other disks have it no more."""
    world = owner_died()
    vseg = world.plan().asks[0].vseg
    gone = [1, *(target.node_id for target in world.table.vsegs[vseg].backups)]
    for node in gone[1:]:
        world.fence(node)
    assert world.close() == []
    world.sealing.accept_loss([vseg], named=False)
    for node in gone:
        assert world.close() == [], f"{node} may come back"
        world.register(node, store=f"new{node}")
    (closed,) = world.close()
    assert closed.empty


@pytest.mark.parametrize("disk", ["kept", "new"])
def test_such_an_election_waits_for_who_is_away_though_a_damaged_copy_is_here(disk: str) -> None:
    """Found by simulation (seed 41000806, open copies damaged): the damaged one decided at once."""
    world = owner_died()
    first, second = world.plan().asks
    owner = world.table.vsegs[first.vseg].node_id
    world.answer(first, 170, limbo=True)
    world.sealing.failed(second, world.now)
    world.fence(second.target.node_id)
    world.sealing.accept_loss([first.vseg], named=False)
    assert world.close() == []
    if disk == "kept":
        world.register(second.target.node_id)
        world.now += STALL
        (again,) = (ask for ask in world.plan().asks if ask.target == second.target)
        world.answer(again, 200)
        world.say_again()
        assert [(closed.end, closed.backups) for closed in world.close()] == [(200, (second.target,))]
        return
    world.register(second.target.node_id, store="new")
    assert world.close() == [], "its owner may come back"
    world.register(owner, store="another")
    assert [(closed.end, closed.backups) for closed in world.close()] == [(170, (first.target,))]


def test_what_partitions_were_named_for_stays_accepted() -> None:
    world = owner_died()
    asks = world.plan().asks
    for ask in asks:
        world.fence(ask.target.node_id)
    assert world.close() == []
    for named in (False, True, False):
        world.sealing.accept_loss([asks[0].vseg], named)
    assert [closed.empty for closed in world.close()] == [True]


def test_what_no_copy_is_left_of_may_still_be_with_its_owner() -> None:
    world = owner_died()
    owner = world.table.open_vsegs()[0]
    asks = world.plan().asks
    for ask in asks:
        world.sealing.failed(ask, world.now)
        world.fence(ask.target.node_id)
    world.sealing.accept_loss([asks[0].vseg])
    world.register(owner.node_id)
    assert world.close() == []


@pytest.mark.parametrize("answer", [170, NOTHING, None])
def test_an_operator_can_give_up_what_an_owner_that_is_here_has_lost(answer: int | None) -> None:
    """The disks of all others are gone, and its own files are in limbo, or it cannot tell: the command was in
    vain as long as the owner was here, and without it what it had was given up, too."""
    world = owner_died()
    vseg = world.table.open_vsegs()[0]
    for target in vseg.backups:
        world.register(target.node_id, store=f"new{target.node_id}")
    world.register(vseg.node_id, power_lost=True)
    world.plan()
    world.now += PATIENCE
    (ask,) = world.plan().asks
    assert (ask.target.node_id, ask.journal) == (vseg.node_id, True)
    world.sealing.accept_loss([vseg.id])
    assert world.close() == [], "it has not answered"
    if answer is None:
        world.sealing.failed(ask, world.now)
        assert world.close() == [], "it may be starting"
        world.now += PATIENCE
    else:
        world.answer(ask, answer, limbo=True)
    (closed,) = world.close()
    end = max(vseg.start, answer or 0)
    assert (closed.end, closed.backups, closed.shortened) == (end, (), True)
    assert [one.leader for one in world.assign()] == [vseg.node_id], "it has it"


@pytest.mark.parametrize("end", [160, 200])
def test_of_copies_in_limbo_that_of_the_owner_decides_too_where_it_is_the_longest(end: int) -> None:
    """All lost their power. What it had beyond the others was given up, though it was here with that."""
    world = both_in_limbo()
    vseg = world.table.open_vsegs()[0]
    world.register(vseg.node_id, power_lost=True)
    world.now += PATIENCE
    (ask,) = world.plan().asks
    assert ask.journal
    world.sealing.accept_loss([vseg.id])
    world.answer(ask, end, limbo=True)
    (closed,) = world.close()
    expected = (200, ()) if end == 200 else (170, vseg.backups[:1])
    assert (closed.end, closed.backups, closed.shortened) == (*expected, True)


def test_a_loss_is_not_taken_when_a_complete_copy_is_there() -> None:
    world = owner_died()
    first, second = world.plan().asks
    world.sealing.accept_loss([first.vseg])
    world.answer(first, 170, limbo=True)
    world.answer(second, 160)
    world.say_again()
    told = [(closed.end, closed.backups, closed.shortened) for closed in world.close()]
    assert told == [(160, (second.target,), False)]


def test_topics_may_prefer_being_served_to_being_complete() -> None:
    """As in Apache Kafka; all that may have records in it must."""
    world = both_in_limbo()
    topic = world.image.topics["t"]
    careful = topic._replace(name="careful", topic_id=bytes(range(16)))
    streamlet = world.streamlet("t")
    other = StreamletRecord(careful.topic_id, 0, 1, 0, streamlet.replicas, sources=streamlet.sources)
    unclean(world)
    world.commit(Decision(None, {each.key: each.encode() for each in (careful, other)}))
    assert world.close() == []
    world.delete("careful")
    away = world.table.open_vsegs()[0].backups[1]
    world.fence(away.node_id)
    plan = world.plan()
    assert (plan.closes, plan.look_at) == ([], world.now + PATIENCE), "the one that is away may be complete"
    world.now += PATIENCE
    assert [closed.end for closed in world.close()] == [170]


def test_an_owner_that_is_back_is_asked_before_anything_is_given_up() -> None:
    """Found by simulation: its journal had all of it, and the config of its topic allowed the loss."""
    world = both_in_limbo()
    unclean(world)
    world.register(1)
    world.now += PATIENCE
    assert world.close() == []
    (ask,) = world.plan().asks
    assert ask.journal
    world.answer(ask, 300)
    assert [closed.end for closed in world.close()] == [300]


def unclean(world: World) -> World:
    """The config of its topic prefers being served to being complete."""
    topic = world.image.topics["t"]._replace(configs={"unclean.leader.election.enable": "true"})
    world.commit(Decision(None, {topic.key: topic.encode()}))
    return world


def test_a_topic_without_a_config_of_its_own_has_that_of_the_brokers() -> None:
    world = both_in_limbo()
    world.plan()
    world.now += PATIENCE
    assert world.close() == []
    world.sealing._may_lose = True
    world.commit(Decision(None, {config_key(None): encode_configs({UNCLEAN: "false"})}))
    assert world.close() == [], "what was set since is newer than what the file of the controller says"
    world.commit(Decision(None, {config_key(None): encode_configs({UNCLEAN: "true"})}))
    world.sealing._may_lose = False
    topic = world.image.topics["t"]._replace(configs={UNCLEAN: "false"})
    world.commit(Decision(None, {topic.key: topic.encode()}))
    assert world.close() == [], "its own is nearer"
    topic = topic._replace(configs={})
    world.commit(Decision(None, {topic.key: topic.encode()}))
    assert [closed.end for closed in world.close()] == [170]


def test_an_owner_that_is_away_is_waited_for_before_its_topic_loses_anything() -> None:
    """It may be starting, with a whole journal, while all its backups are here, in limbo."""
    world = unclean(both_in_limbo())
    for _ in range(3):
        plan = world.plan()
        assert (plan.closes, plan.look_at) == ([], 100.0 + PATIENCE)
        world.now += 0.3 * PATIENCE
    world.now = 100.0 + PATIENCE
    assert [closed.end for closed in world.close()] == [170]


def test_patience_begins_when_the_last_one_goes_and_is_a_session_at_least() -> None:
    session = 3 * PATIENCE
    world = owner_died()
    world.sealing = Sealing(STALL, PATIENCE, session)
    first, second = unclean(world).plan().asks
    world.answer(first, 170, limbo=True)
    world.now += 2 * session
    world.fence(second.target.node_id)
    plan = world.plan()
    assert (plan.closes, plan.look_at) == ([], world.now + session)
    world.now += session
    assert [closed.end for closed in world.close()] == [170]


def test_an_owner_that_is_starting_is_waited_for() -> None:
    """It is a member, and was asked once before it could answer."""
    world = unclean(both_in_limbo())
    world.register(1)
    world.now += PATIENCE
    (ask,) = world.plan().asks
    world.sealing.failed(ask, world.now)
    failed_at = world.now
    assert world.close() == []
    world.now += RETRY_SECONDS
    (again,) = world.plan().asks
    world.sealing.failed(again, world.now)
    assert world.close() == []
    world.now = failed_at + PATIENCE
    assert [closed.end for closed in world.close()] == [170], "it has had its time"


def test_what_was_of_deleted_topics_is_nobodys_loss() -> None:
    """Found by simulation: copies in limbo, or none, of what nobody reads any more were waited for, and given
    up as a loss that a config had allowed."""
    world = owner_died()
    world.delete("t")
    for target in world.table.open_vsegs()[0].backups:
        world.fence(target.node_id)
    plan = world.plan()
    assert (plan.asks, plan.waiting) == ([], [])
    assert [(closed.empty, closed.backups) for closed in world.close()] == [(True, ())]


def test_an_unreachable_backup_is_asked_again() -> None:
    world = owner_died()
    first, second = world.plan().asks
    world.sealing.failed(first, world.now)
    plan = world.plan()
    assert plan.asks == []
    assert plan.look_at == world.now + RETRY_SECONDS
    world.now += RETRY_SECONDS
    assert world.plan().asks == [first]
    world.answer(first, 120)
    world.answer(second, 130)
    assert [closed.end for closed in world.close()] == [120]


def test_nothing_was_pushed_so_no_copy_is_needed() -> None:
    """Rule 23: closed without a byte."""
    world = owner_died()
    for ask in world.plan().asks:
        world.answer(ask, -1)
    (closed,) = world.close()
    assert (closed.end, closed.empty, closed.backups) == (100, True, ())


def test_an_owner_without_backups_is_asked_for_its_journal() -> None:
    """Rule 18b: the set was empty; nobody else can know the end."""
    world = cluster(3, t=(1, 3, [1]))
    world.fence(2)
    world.fence(3)
    world.open(1)
    world.fence(1)
    world.register(2, 3)
    plan = world.plan()
    assert plan.asks == []
    assert plan.waiting == ["virtual segment 1/0/0 waits for a copy: the only one is its owner's, broker 1"]
    world.register(1)
    (ask,) = world.plan().asks
    assert (ask.target, ask.journal) == (CopyTarget(1, "store1"), True)
    world.answer(ask, 77)
    (closed,) = world.close()
    assert (closed.end, closed.backups) == (77, ())


def test_an_owner_with_lost_backups_is_asked_after_some_patience() -> None:
    world = cluster(3, t=(1, 2, [1]))
    (target,) = world.open(1, copies=2).backups
    world.fence(target.node_id)
    world.register(1)
    plan = world.plan()
    assert plan.asks == []
    assert plan.look_at == world.now + PATIENCE
    world.now += PATIENCE
    (ask,) = world.plan().asks
    assert ask.journal
    world.answer(ask, 50)
    assert [(closed.end, closed.backups) for closed in world.close()] == [(50, ())]


def test_a_wiped_owner_is_not_asked() -> None:
    world = cluster(3, t=(1, 2, [1]))
    (target,) = world.open(1, copies=2).backups
    world.fence(target.node_id)
    world.register(1, store="new")
    world.plan()
    world.now += PATIENCE
    assert world.plan().asks == []


def test_a_controller_that_starts_anew_asks_again_and_decides_once() -> None:
    """19b: everything but the answers is derived from records; SEAL can be repeated."""
    world = owner_died()
    first, second = world.plan().asks
    world.answer(first, 150)
    world.sealing = Sealing(STALL, PATIENCE)
    assert world.plan().asks == [first, second]
    world.answer(first, 150)
    world.answer(second, 160)
    plan = world.plan()
    assert len(world.commit(decide_close(world.image, world.table, plan.closes))) == 1
    revision = world.image.revision
    assert world.commit(decide_close(world.image, world.table, plan.closes)) == []
    assert world.image.revision == revision
