"""What no member has a copy of any more, and an operator gives up: only that. Nobody waits for it then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from kproto.controller import rules
from kproto.controller.decision import Decision
from kproto.controller.freeing import Unneeded, decide_emptied, decide_free
from kproto.controller.giving_up import decide_give_up, hopeless, told, who_lack
from kproto.controller.proposals import Proposals
from kproto.controller.recovery import awaited, being_rebuilt, due_streamlets, stuck
from kproto.controller.repair import Repairs, decide_disowned, decide_repaired
from kproto.controller.repair_pairs import Repair
from kproto.controller.retiring import is_only_here
from kproto.controller.sources import Sources
from kproto.metadata.records import MOVED, ONLINE, RECOVERING, StreamletRecord
from kproto.metadata.vlogs import CopyTarget, VsegId, VsegRecord, given_key
from kproto.wire.internal import InternalError

from .cluster_world import World, cluster, no_other_has_any, no_owner_has_any
from .test_draining import drain


def lost(owner_is_back: str = "") -> tuple[World, VsegRecord]:
    """Broker 1 led t-0 and u-0 and is gone; the disks with copies of its first virtual segment, too. Others
    have the second one."""
    world = cluster(5, t=(1, 3, [1]), u=(1, 3, [1]), other=(1, 3, [5]))
    world.open(1, 0, 0)
    world.open(1, 1, 500)
    gone = world.table.vsegs[VsegId(world.epoch(1), 0, 0)]
    world.fence(1)
    for target in gone.backups:
        world.fence(target.node_id)
        world.register(target.node_id, store=f"new{target.node_id}")
    for number, record in list(world.table.vsegs.items()):
        if number.seq == 1:  # it was closed, and copied to 4 and 5 since
            _put(world, record._replace(end=900, backups=tuple(_copies(world, 4, 5))))
    if owner_is_back:
        world.register(1, store=owner_is_back)
    return world, world.table.vsegs[gone.id]


def _copies(world: World, *nodes: int) -> list[CopyTarget]:
    return [CopyTarget(node, world.image.brokers[node].store_id) for node in nodes]


def _put(world: World, record: VsegRecord | StreamletRecord) -> None:
    world.commit(Decision(None, {record.key: record.encode()}))


def give_up(world: World, name: str = "t", vain: bool = False) -> list[VsegId]:
    denials = no_owner_has_any(world) if vain else no_other_has_any(world)
    records = [world.streamlet(name)]
    return [vseg.id for vseg in world.commit(decide_give_up(world.image, world.table, records, denials))]


def test_recoveries_go_on_without_it_and_nothing_else_is_given_up() -> None:
    world, gone = lost()
    assert hopeless(world.image, world.table, world.streamlet("t"), no_other_has_any(world)) == [gone]
    assert hopeless(world.image, world.table, world.streamlet("other"), no_other_has_any(world)) == []
    world.commit_all(world.assign())
    assert world.assign() == []
    assert len(stuck(awaited(world.image, world.table, [world.streamlet("t")]))) == 1
    assert give_up(world) == [gone.id]
    assert give_up(world) == [], "once"
    record = world.table.vsegs[gone.id]
    assert (record.lost, record.emptied, record.backups, record.end) == (True, False, (), gone.end)
    assert [one.topic_id for one in world.assign()] == [
        world.image.topics[name].topic_id for name in ("t", "u")
    ], "u was in it, too"
    (line,) = told(world.table.vsegs.values())
    assert f"{gone.id.owner_epoch}/0/0 of broker 1 was given up" in line


def test_what_thousands_wait_for_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 200 partitions and ten thousand virtual segments each look, twice a second and with each hundred
    that were given up, held up the controller for seven seconds."""
    world = cluster(4, t=(200, 2, [1] * 200), u=(1, 2, [2]))
    for owner in (1, 2):
        world.open(owner, 0, 0, 2)
    world.fence(1)
    world.seal_all(500)
    looked: list[StreamletRecord] = []
    orphans = Sources.orphans

    def counted(self: Sources, record: StreamletRecord) -> list[VsegRecord]:
        looked.append(record)
        return orphans(self, record)

    monkeypatch.setattr(Sources, "orphans", counted)
    records = [*(world.streamlet("t", index) for index in range(200)), world.streamlet("u")]
    for vseg in [one for one in world.table.vsegs.values() if not one.open]:
        _put(world, vseg._replace(backups=(vseg.backups[0]._replace(store_id="lost"),)))
    assert who_lack(world.image, world.table, dict(enumerate(records))) == set(range(200))
    assert len(looked) == 2
    lost = decide_give_up(world.image, world.table, records, no_other_has_any(world)).answer
    assert [one.id.owner_epoch for one in lost] == list(records[0].sources)
    assert len(looked) == 4


@pytest.mark.parametrize("assigned", [False, True])
def test_what_thousands_wait_for_is_found_once(monkeypatch: pytest.MonkeyPatch, assigned: bool) -> None:
    """With 200 partitions and ten thousand virtual segments each step of the controller took six seconds."""
    world = cluster(4, t=(80, 2, [1] * 80))
    world.open(1, 0, 0, 2)
    world.fence(1)
    world.seal_all(500)
    if assigned:
        world.assign()
    (vseg,) = world.table.vsegs.values()
    _put(world, vseg._replace(backups=(vseg.backups[0]._replace(store_id="lost"),)))
    looked = 0
    is_for = Sources.is_for

    def counted(self: Sources, record: StreamletRecord, vseg: VsegRecord) -> bool:
        nonlocal looked
        looked += 1
        return is_for(self, record, vseg)

    monkeypatch.setattr(Sources, "is_for", counted)
    waiting = awaited(world.image, world.table, due_streamlets(world.image), being_rebuilt(world.image))
    assert list(waiting.values()) == [80]
    assert looked <= 3, "once for each leader"


@pytest.mark.parametrize("other", [{"given": True}, {"leader": 2}, {"state": RECOVERING}])
def test_partitions_that_do_not_wait_for_the_same_are_not_taken_for_alike(other: dict[str, Any]) -> None:
    """One of them tells for the others: what nobody said may be lost would be given up with that."""
    world, gone = lost("store1")
    epoch = gone.id.owner_epoch
    if "leader" in other:  # what it gave away; its own files are a copy for what it leads all the same
        world.commit(Decision(None, {given_key(epoch, 0): b"0"}))
    elif "state" in other:  # the owner lives
        epoch = world.epoch(1)
        _put(world, gone._replace(id=gone.id._replace(owner_epoch=epoch)))

    def made(leader: int = 1, state: int = ONLINE, given: bool = False) -> StreamletRecord:
        before = world.streamlet("t")
        gave = (epoch,) if given else ()
        return StreamletRecord(before.topic_id, 0, leader, 3, before.replicas, state, (epoch,), gave)

    one, two = made(), made(**other)

    def found(*records: StreamletRecord) -> list[object]:
        sources = Sources(world.image, world.table)
        able = [(list(sources.orphans(each)), sources.candidates(each)) for each in records]
        return [*able, *(at in who_lack(world.image, world.table, dict(enumerate(records))) for at in (0, 1))]

    (first, *_), (second, *_) = found(one), found(two)
    assert first != second
    assert found(one, two)[:2] == [first, second]
    assert found(one, two)[2:] == [found(each)[1] for each in (one, two)]


def test_a_copy_that_comes_back_is_none_any_more() -> None:
    world, gone = lost()
    give_up(world)
    repairs = Repairs(0.0)
    assert not any(one.vseg.id == gone.id for one in repairs.plan(world.image, world.table, 9.0).orders)
    for target in gone.backups:
        world.register(target.node_id, store=target.store_id)
    assert Sources(world.image, world.table).orphans(world.streamlet("t")) == []
    assert world.table.vsegs[gone.id].backups == ()


@pytest.mark.parametrize("moved", [False, True])
def test_an_owner_that_is_back_with_its_disk_is_asked_first(moved: bool) -> None:
    """Its own files count, or its journal may have everything."""
    world, gone = lost("store1")
    if moved:
        world.commit(Decision(None, {f"{MOVED}1": str(gone.id.owner_epoch).encode()}))
    record = world.streamlet("t")
    able = Sources(world.image, world.table).candidates(record)
    assert able == ([] if moved else [1])
    assert give_up(world) == []
    assert give_up(world, vain=True) == ([gone.id] if moved else [])


def test_a_living_owner_that_gave_the_streamlet_away_has_not_got_what_was_appended_since() -> None:
    """Its files are a copy for what it kept, but not for this one (12b)."""
    world, gone = lost("store1")
    before = world.streamlet("t")
    epochs = (gone.id.owner_epoch, world.epoch(5))
    moved = StreamletRecord(before.topic_id, 0, 2, 3, before.replicas, ONLINE, epochs)
    given = {given_key(gone.id.owner_epoch, 0): b"0", moved.key: moved.encode()}
    world.commit(Decision(None, given))
    assert Sources(world.image, world.table).candidates(moved) == []
    assert give_up(world) == []
    assert give_up(world, "u", vain=True) == [], "that one it kept"
    assert give_up(world, vain=True) == [gone.id]


def test_without_its_disk_an_owner_helps_nobody() -> None:
    world, gone = lost("another")
    assert give_up(world) == [gone.id]


@pytest.mark.parametrize("drained", [False, True])
def test_who_led_it_last_saves_what_it_has_of_what_was_given_up(drained: bool) -> None:
    """Broker 1 has led both since broker 2, their preferred leader, had gone; it lost its power, and is
    back, and has of a lost virtual segment what was in synced files. One of them went back to broker 2 to
    spread them again, which has nothing of that: all of it was lost, and not the end alone (18b, 45)."""
    world = cluster(5, t=(2, 3, [2, 2]))
    world.fence(2)
    for record in (world.streamlet("t", index).recovering(1) for index in (0, 1)):
        _put(world, record)
        world.commit_all([record])
    vseg = world.open(1, 0, 0)
    _put(world, vseg._replace(end=500, backups=tuple(_copies(world, 3, 4))))
    world.register(2)
    for node in (3, 4):
        world.register(node, store=f"new{node}")
    world.register(1, power_lost=True)
    if drained:
        drain(world, 1)
    assert give_up(world, vain=True) == [vseg.id]
    assigned = world.assign()
    assert [(one.index, one.leader) for one in assigned] == [(0, 1), (1, 1)]
    world.fence(1)
    assert {one.leader for one in world.assign()}.isdisjoint({1}), "nobody waits for it"


def test_who_led_it_last_saves_it_too_when_another_one_was_told_to_meanwhile() -> None:
    """Broker 2 was to rebuild it while broker 1 was away, and died before it had: somebody else was told to,
    who leads less than broker 1 and has nothing of it."""
    world = cluster(4, t=(1, 3, [1]), more=(2, 1, [1, 1]))
    vseg = world.open(1, 0, 0, exclude=(2,))
    _put(world, vseg._replace(end=500))
    world.fence(1)
    for node in (3, 4):
        world.register(node, store=f"new{node}")
    assert give_up(world, vain=True) == [vseg.id]
    (told,) = world.assign()
    assert told.leader == 2
    world.fence(2)
    world.register(1)
    assert [one.leader for one in world.assign()] == [1]


def test_not_named_itself_a_partition_gives_up_nothing_that_may_only_be_away() -> None:
    """Found by simulation: brokers that were fenced for a moment had all of it."""
    for back, expected in (("", 0), ("another", 1)):
        world, gone = lost(back)
        decision = decide_give_up(
            world.image, world.table, [world.streamlet("t")], no_other_has_any(world), named=False
        )
        assert [vseg.id for vseg in decision.answer] == [gone.id] * expected
        assert len(decision.puts) == expected


def test_a_listed_copy_may_only_be_away_too() -> None:
    world, gone = lost("another")
    world.fence(gone.backups[0].node_id)
    assert not decide_give_up(
        world.image, world.table, [world.streamlet("t")], no_other_has_any(world), named=False
    ).answer, "it was a member with another disk, and may come back with that one"
    assert give_up(world) == [gone.id]


def test_making_a_copy_was_tried_in_vain() -> None:
    world, gone = lost("store1")

    world.commit(Decision(None, {f"{MOVED}1": str(gone.id.owner_epoch).encode()}))
    repairs = Repairs(0.0)
    order = next(one for one in repairs.plan(world.image, world.table, 9.0).orders if one.vseg.id == gone.id)
    assert order.source == 1
    repairs.ordered(order)
    assert not repairs.denials.owner_has_none(world.image, gone)
    repairs.ended(order, False, 10.0)
    assert repairs.denials.owner_has_none(world.image, gone)
    assert world.commit(decide_repaired(world.image, world.table, order))
    repairs.plan(world.image, world.table, 11.0)
    assert hopeless(world.image, world.table, world.streamlet("t"), repairs.denials) == []


def test_what_failed_elsewhere_says_nothing_about_the_copy_of_the_owner() -> None:
    """The disk of who was to have the new one may be full, or another copy was damaged."""
    world, gone = lost("store1")
    world.commit(Decision(None, {f"{MOVED}1": str(gone.id.owner_epoch).encode()}))
    repairs = Repairs(0.0)
    order = next(one for one in repairs.plan(world.image, world.table, 9.0).orders if one.vseg.id == gone.id)
    repairs.ended(order, False, 10.0, answer=InternalError.FULL)
    assert not repairs.denials.others(gone.id), "nor about one that it has itself"
    repairs.ended(order._replace(source=5), False, 11.0)
    assert not repairs.denials.owner_has_none(world.image, gone)
    repairs.ended(order, False, 12.0)
    assert repairs.denials.owner_has_none(world.image, gone)


def disowned(world: World, vseg: VsegRecord, repairs: Repairs, node: int) -> bool:
    """A broker says that it cannot vouch for its copy; whether it is off the list."""

    async def decide(decision: Callable[[], Any]) -> Any:
        return world.commit(decision())

    controller: Any = SimpleNamespace(image=world.image, table=world.table, decide=decide)
    proposals = Proposals(controller)
    proposals.denials = repairs.denials
    told = proposals.handle(node, world.epoch(node), "disown", {"vsegs": [list(vseg.id)]})
    (done,) = asyncio.run(told)
    return bool(done)


def bad_last_copy(copies: int = 3, power_lost: bool = True) -> tuple[World, VsegRecord, Repairs]:
    """All machines lost their power, perhaps but for the owner's, and no copy is whole: all say so."""
    world = cluster(4, t=(1, copies, [1]))
    vseg = world.open(1, 0, 0, copies)
    world.open(1, 1, 500, copies)
    world.register(1, power_lost=power_lost)
    world.register(2, 3, 4, power_lost=True)
    record, repairs = world.table.vsegs[vseg.id], Repairs(0.0)
    if not power_lost:
        record = record._replace(backups=record.backups[:1])
        world.table.given_upto[record.id.owner_epoch, 0] = 0
        _put(world, record)
    told = [disowned(world, record, repairs, target.node_id) for target in record.backups]
    assert told == [True] * (len(told) - 1) + [False], "the last one stays listed"
    return world, world.table.vsegs[record.id], repairs


def in_vain(world: World, vseg: VsegRecord, repairs: Repairs) -> None:
    """Nobody that is asked for a copy has one."""
    now = 10.0
    denials = repairs.denials
    while not (denials.owner_has_none(world.image, vseg) and denials.others_have_none(world.image, vseg)):
        (order,) = [one for one in repairs.plan(world.image, world.table, now).orders if one.vseg == vseg]
        assert order.source != order.target.node_id
        repairs.ordered(order)
        repairs.ended(order, False, now)
        now += 10.0
        assert now < 200.0


@pytest.mark.parametrize("copies", [2, 3])
def test_a_last_copy_that_is_none_can_be_given_up_once_its_owner_was_asked(copies: int) -> None:
    """Found by simulation: the power of all was lost, the last listed copy was not whole, and stayed listed;
    what waited for it had no leader for ever, and no command helped."""
    world, vseg, repairs = bad_last_copy(copies)
    streamlet = world.streamlet("t")

    def found() -> list[VsegRecord]:
        return hopeless(world.image, world.table, streamlet, repairs.denials)

    assert found() == [], "its owner may have it"
    in_vain(world, vseg, repairs)
    assert found() == [vseg]
    give = decide_give_up(world.image, world.table, [streamlet], repairs.denials, named=False)
    assert [one.id for one in world.commit(give)] == [vseg.id]
    assert world.table.vsegs[vseg.id].lost


def ordered(world: World, vseg: VsegRecord, repairs: Repairs, now: float) -> list[Repair]:
    return [one for one in repairs.plan(world.image, world.table, now).orders if one.vseg.id == vseg.id]


def test_as_soon_as_a_last_copy_is_none_its_owner_is_asked() -> None:
    """Found by simulation (seed 2000165): the power of all was lost, and the owner's journal had all of it
    until it led again, 1.3 s after the last listed copy had turned out to be none. An order that had failed
    when that broker started was waited for, then two more were sent there: the owner was asked 15 s later
    (17, 18b)."""
    world, vseg, _ = bad_last_copy()
    (last,) = vseg.backups
    _put(world, vseg._replace(denied=()))  # it has not found out yet
    repairs = Repairs(0.0)
    (vain,) = ordered(world, vseg, repairs, 10.0)
    assert vain.source == last.node_id
    repairs.ordered(vain)
    repairs.ended(vain, False, 10.0, answer=InternalError.FULL)
    assert ordered(world, vseg, repairs, 10.1) == [], "the same again can wait"
    assert not disowned(world, vseg, repairs, last.node_id)
    (order,) = ordered(world, vseg, repairs, 10.2)
    assert order.source == vseg.node_id
    repairs.ordered(order)
    repairs.ended(order, False, 10.3)
    assert not disowned(world, vseg, repairs, last.node_id)
    (other,) = ordered(world, vseg, repairs, 10.4)
    assert (other.known, other.target.node_id in (1, last.node_id, order.target.node_id)) == (False, False)
    repairs.ordered(other)
    repairs.ended(other, False, 10.4)
    (vain,) = ordered(world, vseg, repairs, 10.5)
    repairs.ordered(vain)
    repairs.ended(vain, False, 10.5)
    assert not disowned(world, vseg, repairs, last.node_id)
    assert ordered(world, vseg, repairs, 10.6) == [], "that was known"
    (again,) = ordered(world, vseg, repairs, 20.0)
    assert again.source == vseg.node_id
    assert again.target != order.target
    repairs.ordered(again)
    assert world.commit(decide_repaired(world.image, world.table, again))
    record = world.table.vsegs[vseg.id]
    assert (record.backups, record.denied) == ((again.target,), ()), "it is not the last one any more"


def test_who_said_that_its_copy_is_none_is_not_asked_while_the_owner_is_away() -> None:
    """Others are, for what they may have unlisted. A vain order would keep the owner waiting for the next one
    when it is back: that is none."""
    world, vseg, repairs = bad_last_copy()
    world.fence(vseg.node_id)
    for _ in range(2):
        (order,) = ordered(world, vseg, repairs, 10.0)
        assert order.target.node_id != vseg.backups[0].node_id
        repairs.ordered(order)
        repairs.ended(order, False, 10.0, answer=InternalError.FULL)
    assert ordered(world, vseg, repairs, 10.0) == []
    world.register(vseg.node_id, power_lost=True)
    (order,) = ordered(world, vseg, repairs, 10.1)
    assert order.source == vseg.node_id


def test_another_listed_copy_that_comes_back_is_asked_before_the_owner() -> None:
    world, vseg, repairs = bad_last_copy()
    (last,) = vseg.backups
    other = next(node for node in (2, 3, 4) if node != last.node_id)
    _put(world, vseg._replace(backups=(last, *_copies(world, other))))
    world.fence(other)
    assert not disowned(world, vseg, repairs, last.node_id)
    world.register(other)
    (order,) = ordered(world, vseg, repairs, 10.0)
    assert order.source == other
    assert not disowned(world, vseg, repairs, other), "what is listed beside it is none, either"
    record = world.table.vsegs[vseg.id]
    assert record.denied == tuple((node, world.epoch(node)) for node in (last.node_id, other))
    assert ordered(world, vseg, repairs, 10.1)[0].source == vseg.node_id
    epoch = world.epoch(other)
    again = decide_disowned(world.image, world.table, other, epoch, [vseg.id], lambda *_: False)
    assert not again.puts, "it is known"


def test_what_nobody_else_has_keeps_its_owner() -> None:
    """Though a copy is listed (18b)."""
    world = cluster(4, t=(1, 2, [1]))
    vseg = world.open(1, 0, 0, 2)
    world.open(1, 1, 500, 2)
    record = world.table.vsegs[vseg.id]
    (backup,) = (target.node_id for target in record.backups)
    assert not rules.lacks_copies(world.image, record)
    assert not is_only_here(world.image, record)
    _put(world, record._replace(denied=((backup, world.epoch(backup)),)))
    record = world.table.vsegs[vseg.id]
    assert rules.lacks_copies(world.image, record)
    assert is_only_here(world.image, record)


def test_a_copy_is_made_where_the_last_one_is_none() -> None:
    """All others have said so: there was nobody who could have taken one, for ever."""
    world, vseg, repairs = bad_last_copy()
    last, others = (
        vseg.backups[0],
        _copies(world, *(node for node in (2, 3, 4) if node != vseg.backups[0][0])),
    )
    epochs = tuple((one.node_id, world.epoch(one.node_id)) for one in (last, *others))
    _put(world, vseg._replace(backups=(last, *others), denied=epochs))
    world.fence(4)
    (order,) = ordered(world, vseg, repairs, 10.0)
    assert (order.source, order.target.node_id) in {(1, 2), (1, 3)}
    assert world.commit(decide_repaired(world.image, world.table, order))
    record = world.table.vsegs[vseg.id]
    assert order.target in record.backups
    assert record.denied == ()
    assert repairs.more(world.image, world.table, order)[0].source == order.target.node_id, "one more"


def test_who_leaves_the_list_is_forgotten_with_what_it_said() -> None:
    world, vseg, repairs = bad_last_copy()
    (last,) = vseg.backups
    other = next(node for node in (2, 3, 4) if node != last.node_id)
    _put(world, vseg._replace(backups=(last, *_copies(world, other))))
    assert disowned(world, vseg, repairs, last.node_id)
    record = world.table.vsegs[vseg.id]
    assert (record.backups, record.denied) == (tuple(_copies(world, other)), ())


def test_an_owner_that_is_listed_is_asked_though_it_has_none() -> None:
    """Its answer is what an operator needs to give it up."""
    world, vseg, repairs = bad_last_copy()
    _put(world, vseg._replace(backups=tuple(_copies(world, vseg.node_id))))
    assert not disowned(world, vseg, repairs, vseg.node_id)
    vseg = world.table.vsegs[vseg.id]
    in_vain(world, vseg, repairs)
    for node in (2, 3, 4):
        world.fence(node)
    world.table.moved_upto[vseg.node_id] = vseg.id.owner_epoch
    assert ordered(world, vseg, repairs, 500.0) == [], "not for itself"


def test_a_last_copy_counts_again_when_its_broker_does_not_say_so_any_more() -> None:
    world, vseg, repairs = bad_last_copy()
    in_vain(world, vseg, repairs)
    (last,) = vseg.backups
    assert hopeless(world.image, world.table, world.streamlet("t"), repairs.denials) == [vseg]
    world.register(last.node_id)
    assert hopeless(world.image, world.table, world.streamlet("t"), repairs.denials) == []
    assert not disowned(world, vseg, repairs, last.node_id)
    assert world.table.vsegs[vseg.id].denied == ((last.node_id, world.epoch(last.node_id)),)


def test_who_has_none_leaves_the_list_when_a_copy_is_made_from_another_one() -> None:
    world, vseg, repairs = bad_last_copy()
    (order,) = ordered(world, vseg, repairs, 10.0)
    assert order.source == vseg.node_id
    assert world.commit(decide_repaired(world.image, world.table, order))
    record = world.table.vsegs[vseg.id]
    assert record.backups == (order.target,)
    assert record.denied == ()


def test_any_controller_knows_that_the_last_copy_is_none() -> None:
    """Found by simulation (seed 30024341): the controller that was told was followed by another one, which
    took it for a copy; nor did any leader know that it was to push again what it had of it (45)."""
    world, vseg, _ = bad_last_copy()
    assert VsegRecord.decode(vseg.key, vseg.encode()) == vseg
    (last,) = vseg.backups
    assert Sources(world.image, world.table).orphans(world.streamlet("t")) == [vseg]
    (order,) = ordered(world, vseg, Repairs(0.0), 10.0)
    assert order.source != last.node_id


def test_what_an_owner_wrote_that_kept_its_power_is_not_given_up() -> None:
    world, vseg, repairs = bad_last_copy(power_lost=False)
    world.table.given_upto.clear()
    in_vain(world, vseg, repairs)
    assert hopeless(world.image, world.table, world.streamlet("t"), repairs.denials) == []


def test_who_is_not_listed_disowns_nothing() -> None:
    world, vseg, _ = bad_last_copy()
    repairs = Repairs(0.0)
    (last,) = vseg.backups
    other = next(node for node in (2, 3, 4) if node != last.node_id)
    assert not disowned(world, vseg, repairs, other)
    assert {node for node, _ in world.table.vsegs[vseg.id].denied} == {last.node_id}


def test_it_is_emptied_and_freed_when_all_leaders_have_pushed_what_they_had_of_it() -> None:
    world, gone = lost()
    give_up(world)
    world.commit_all(world.assign())
    reports = Unneeded()
    leaders = {world.streamlet(name).leader for name in ("t", "u")}
    for leader in leaders:
        assert world.commit(decide_emptied(world.image, world.table, reports)) == []
        reports.report(leader, world.epoch(leader), [gone.id])
    assert world.commit(decide_emptied(world.image, world.table, reports)) == [gone.id]
    record = world.table.vsegs[gone.id]
    assert (record.emptied, record.lost) == (True, True)
    unneeded = Unneeded()
    for leader in leaders:
        unneeded.report(leader, world.epoch(leader), [gone.id])
    assert world.commit(decide_free(world.image, world.table, unneeded)) == [gone.id]
    assert told(world.table.vsegs.values()) == []


@pytest.mark.parametrize("emptied", [False, True])
@pytest.mark.parametrize("lost", [False, True])
def test_the_stored_form_has_both_marks(emptied: bool, lost: bool) -> None:
    record = VsegRecord(VsegId(1, 2, 3), 1, "s", 3, 0, 10, 20, (), emptied, lost)
    assert VsegRecord.decode(record.key, record.encode()) == record


def test_a_copy_that_was_on_its_way_is_none_either() -> None:
    """Its repair was ordered before. On the list it would keep the virtual segment from ever being emptied:
    leaders push again what has no copy."""
    world, gone = lost("store1")
    world.commit(Decision(None, {f"{MOVED}1": str(gone.id.owner_epoch).encode()}))
    plan = Repairs(0.0).plan(world.image, world.table, 9.0)
    order = next(one for one in plan.orders if one.vseg.id == gone.id)
    assert give_up(world, vain=True) == [gone.id]
    assert not world.commit(decide_repaired(world.image, world.table, order))
    assert world.table.vsegs[gone.id].backups == ()
    world.commit_all(world.assign())
    reports = Unneeded()
    for leader in {world.streamlet(name).leader for name in ("t", "u")}:
        reports.report(leader, world.epoch(leader), [gone.id])
    assert world.commit(decide_emptied(world.image, world.table, reports)) == [gone.id]
