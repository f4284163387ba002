"""Leaders report what they do not need; with the controller's decisions that frees it, never too early."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproto.config import load
from kproto.controller.decision import Decision
from kproto.controller.freeing import Unneeded, decide_free
from kproto.controller.moves import Wish, decide_moves
from kproto.controller.topics import TopicRef, decide_delete
from kproto.metadata import MetadataImage, exchange
from kproto.metadata.records import StreamletRecord
from kproto.metadata.vlogs import VlogTable, VsegId, VsegRecord, start_key
from kproto.replica import unneeded as module
from kproto.replica.messages import CatalogRow, Look, PartitionKey, encode_catalog
from kproto.replica.reach import NoCopyError
from kproto.replica.unneeded import UnneededReports, led_from
from kproto.vlog.classes import FlushPolicy
from tests.controller.cluster_world import World, cluster


class Copies:
    """Stands in for Reach: what every virtual segment holds, as offsets; ``away`` ones have no copy now."""

    def __init__(self, node_id: int) -> None:
        self.node_id = node_id
        self.ends: dict[VsegId, dict[PartitionKey, int]] = {}
        self.away: set[VsegId] = set()
        self.asked = 0

    async def ask(self, record: VsegRecord, api: int, request: Look, decode: Callable[[Any], Any]) -> Any:
        self.asked += 1
        if record.id in self.away:
            raise NoCopyError("nobody")
        held = self.ends.get(record.id, {})
        keys = request.partitions
        rows = [CatalogRow(0, held[key], 1, 0) if key in held else CatalogRow(0, 0, 0, -1) for key in keys]
        return decode(memoryview(encode_catalog(rows)))


class Leader:
    """A broker of a world that reports; one `Unneeded` of the controller for all of them."""

    def __init__(self, world: World, node: int, reports: Unneeded, copies: Copies | None = None) -> None:
        self.world, self.node, self.reports = world, node, reports
        self.copies = copies or Copies(node)
        self.unneeded = UnneededReports(
            self.copies,
            self,
            lambda: world.epoch(node),
            lambda vseg, partitions: self.knows(vseg),  # type: ignore[arg-type]
            lambda *_: False,
        )
        self.knows: Callable[[VsegId], bool] = lambda _: True

    @property
    def image(self) -> MetadataImage:
        return self.world.image

    @property
    def table(self) -> VlogTable:
        return self.world.table

    async def propose(self, kind: str, args: Any) -> Any:
        assert kind == "unneeded"
        assert 0 < len(args["vsegs"]) <= exchange.ITEMS_MAX
        vsegs = [VsegId(*row) for row in args["vsegs"]]
        self.reports.report(self.node, self.world.epoch(self.node), vsegs, args["revision"])
        self.world.commit(decide_free(self.world.image, self.world.table, self.reports))

    def look(self) -> int:
        return asyncio.run(self.unneeded.look())


def start(world: World, key: PartitionKey, offset: int) -> None:
    world.commit(Decision(None, {start_key(*key): str(offset).encode()}))


def written(
    world: World, node: int, *contents: dict[PartitionKey, int]
) -> dict[VsegId, dict[PartitionKey, int]]:
    """A closed virtual segment of ``node`` for each of ``contents``, and an open one."""
    held = {}
    for seq, ends in enumerate(contents):
        held[world.open(node, seq, seq * 10).id] = ends
    world.open(node, len(contents), len(contents) * 10)
    return held


def seqs(world: World) -> list[int]:
    return sorted(vseg.seq for vseg in world.table.vsegs)


def test_what_lies_below_the_log_start_is_freed_from_the_front() -> None:
    world = cluster(3, t=(2, 3, [1, 1]))
    topic = world.image.topics["t"].topic_id
    a, b = (topic, 0), (topic, 1)
    leader = Leader(world, 1, Unneeded())
    leader.copies.ends = written(world, 1, {a: 10, b: 10}, {a: 20, b: 11}, {b: 30})
    assert leader.look() == 0
    start(world, a, 20)
    assert leader.look() == 0, "b is live in both"
    start(world, b, 9)
    assert leader.look() == 0, "its last record is at 9"
    start(world, b, 11)
    assert leader.look() == 2
    assert seqs(world) == [2, 3]
    assert leader.look() == 0
    start(world, b, 30)
    assert leader.look() == 1
    assert seqs(world) == [3], "the open one stays"


def test_more_than_a_proposal_takes_is_reported_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "ITEMS_MAX", 4)
    world = cluster(3, t=(1, 3, [1]))
    key = (world.image.topics["t"].topic_id, 0)
    leader = Leader(world, 1, Unneeded())
    leader.copies.ends = written(world, 1, *({key: seq} for seq in range(9)))
    start(world, key, 9)
    assert leader.look() == 9
    assert seqs(world) == [9]


def test_one_old_record_does_not_keep_the_copies_of_what_came_later() -> None:
    """The first commit of a group that never commits again was before all that its leader ever took since."""
    world = cluster(3, t=(2, 3, [1, 1]))
    topic = world.image.topics["t"].topic_id
    a, b = (topic, 0), (topic, 1)
    leader = Leader(world, 1, Unneeded())
    leader.copies.ends = written(world, 1, {a: 10, b: 1}, *({a: 10 * seq} for seq in range(2, 150)))
    start(world, a, 1400)
    assert [leader.look() for _ in range(3)] == [module.AT_ONCE - 1, module.AT_ONCE, 12]
    assert leader.look() == 0, "it begins anew, and they need nothing more"
    left = {vseg.seq for vseg, record in world.table.vsegs.items() if record.backups}
    assert left == {0, *range(140, 150)}
    assert seqs(world) == [0, *range(139, 150)], "one record keeps the chain"
    start(world, b, 1)
    start(world, a, 1430)
    while leader.look():
        pass
    assert seqs(world) == list(range(143, 150))


def test_what_is_dead_for_one_leader_and_live_for_another_holds_nothing_up() -> None:
    """However many of them come first: a look goes on where the last one stopped."""
    world = cluster(3, t=(2, 3, [1, 1]))
    topic = world.image.topics["t"].topic_id
    a, b = (topic, 0), (topic, 1)
    count = 3 * module.AT_ONCE
    held = written(
        world, 1, *({a: 1000, b: seq} for seq in range(count)), *({b: seq} for seq in range(count))
    )
    world.fence(1)
    world.seal_all(10 * 2 * count)
    reports, leaders = Unneeded(), []
    recovering = world.assign()
    world.commit_all(recovering)
    for node in {record.leader for record in recovering}:
        leaders.append(Leader(world, node, reports))
        leaders[-1].copies.ends = held
    assert len(leaders) == 2
    start(world, b, count)
    for _ in range(16):
        for leader in leaders:
            leader.look()
    left = sorted(vseg.seq for vseg, record in world.table.vsegs.items() if record.backups)
    assert left == list(range(count))
    start(world, a, 1000)
    for _ in range(16):
        for leader in leaders:
            leader.look()
    world.commit(decide_free(world.image, world.table, reports))
    assert [record for record in world.table.vsegs.values() if not record.empty] == []


def plain_led_from(world: World, node: int, owners: set[int]) -> dict[int, frozenset[PartitionKey]]:
    """Partition by partition and source by source."""
    led: dict[int, set[PartitionKey]] = {}
    for record in world.image.every_streamlet():
        if record.leader == node and record.is_served_by(world.epoch(node)):
            for index in world.image.topic_of(record).partitions_of(record.index):
                for source in record.sources:
                    if source in owners:
                        led.setdefault(source, set()).add((record.topic_id, index))
    return {source: frozenset(keys) for source, keys in led.items()}


EPOCHS = range(1000, 1008)


def led_after(record: StreamletRecord, *owners: int) -> StreamletRecord:
    """The same when all of these led it before its first source."""
    sources = (*owners, *record.sources)
    return StreamletRecord(
        record.topic_id, record.index, record.leader, record.leader_epoch, record.replicas, sources=sources
    )


@given(
    sources=st.lists(st.lists(st.sampled_from(EPOCHS), max_size=12), min_size=1, max_size=6),
    owners=st.sets(st.sampled_from(EPOCHS)),
)
def test_whoever_led_what_is_led_here_is_found(sources: list[list[int]], owners: set[int]) -> None:
    world = cluster(2, t=(len(sources), 2, [1] * len(sources)), u=(2, 2, [2, 1]))
    epoch = world.epoch(1)
    topic = world.image.topics["t"].topic_id
    for index, before in enumerate(sources):
        record = led_after(world.image.streamlet(topic, index), *before)
        world.commit(Decision(None, {record.key: record.encode()}))
    found = led_from(world.image, 1, epoch, owners | {epoch})
    assert found == plain_led_from(world, 1, owners | {epoch})
    assert list(found) == sorted(found)


def test_long_lists_of_sources_are_gone_through_once() -> None:
    """Thousands of partitions have the same hundreds of sources, one for each restart."""
    looked_up = []

    class Owners(set[int]):
        def __contains__(self, owner: object) -> bool:
            looked_up.append(owner)
            return super().__contains__(owner)

    count = 200
    world = cluster(2, t=(50, 2, [1] * 50))
    epoch = world.epoch(1)
    former = tuple(range(1000, 1000 + count))
    for record in list(world.image.every_streamlet()):
        longer = led_after(record, *former)
        world.commit(Decision(None, {longer.key: longer.encode()}))
    found = led_from(world.image, 1, epoch, Owners((*former, epoch)))
    assert len(looked_up) == count + 1
    assert {len(keys) for keys in found.values()} == {50}


def test_nothing_is_reported_of_what_is_to_be_handed_over_since_the_look_began() -> None:
    """Its next leader reads closed virtual segments only: the state frames that make one unneeded here may be
    in the open one (12b, 28b)."""
    world = cluster(3, t=(1, 3, [1]))
    topic = world.image.topics["t"]
    leader = Leader(world, 1, Unneeded())
    leader.copies.ends = written(world, 1, {(topic.topic_id, 0): 10})
    start(world, (topic.topic_id, 0), 10)
    ask = leader.copies.ask

    async def slowly(*args: Any) -> Any:
        (streamlet,) = world.image.streamlets[topic.topic_id]
        target = next(node for node in streamlet.replicas if node != 1)
        world.commit(decide_moves(world.image, world.table, [Wish(topic.topic_id, 0, target)]))
        return await ask(*args)

    leader.copies.ask = slowly  # type: ignore[method-assign]
    assert leader.look() == 0
    assert world.table.moves


def test_nothing_is_remembered_of_leaders_that_are_gone() -> None:
    world, reports = cluster(2, t=(1, 2, [1])), Unneeded()
    for node in (1, 2):
        reports.took_over(node, world.epoch(node), [], world.image.revision)
    world.fence(1)
    decide_free(world.image, world.table, reports)
    assert list(reports._since) == [(2, world.epoch(2))]


def test_one_copy_that_cannot_be_asked_costs_its_patience_once_a_look_and_holds_up_no_others() -> None:
    world = cluster(3, t=(1, 3, [1]))
    key = (world.image.topics["t"].topic_id, 0)
    leader = Leader(world, 1, Unneeded())
    leader.copies.ends = written(world, 1, *({key: seq} for seq in range(5)))
    start(world, key, 10)
    leader.copies.away = {vseg for vseg in leader.copies.ends if vseg.seq in (0, 2)}
    assert [leader.look() for _ in range(3)] == [0, 1, 2]
    assert leader.copies.asked == 6
    assert {vseg.seq for vseg, record in world.table.vsegs.items() if not record.empty} == {0, 2, 5}


def test_a_catalog_is_asked_for_once_while_something_in_it_is_live() -> None:
    world = cluster(3, t=(1, 3, [1]))
    leader = Leader(world, 1, Unneeded())
    first = (world.image.topics["t"].topic_id, 0)
    leader.copies.ends = written(world, 1, {first: 10}, {first: 20})
    for _ in range(3):
        leader.look()
    assert leader.copies.asked == 2
    world.topic("u", 1, 3, [1])
    leader.look()
    assert leader.copies.asked == 2
    start(world, first, 10)
    assert leader.look() == 1, "of both partitions"
    assert leader.copies.asked == 3


def test_a_catalog_is_asked_for_again_for_partitions_that_came_later() -> None:
    world = cluster(3, t=(1, 3, [1]))
    leader = Leader(world, 1, Unneeded())
    first = (world.image.topics["t"].topic_id, 0)
    leader.copies.ends = written(world, 1, {first: 10})
    start(world, first, 10)
    leader.knows = lambda _: False
    for _ in range(3):
        assert leader.look() == 0
    assert leader.copies.asked == 1
    world.topic("u", 1, 3, [1])
    leader.look()
    assert leader.copies.asked == 2


def test_of_many_partitions_that_are_live_in_it_one_is_remembered() -> None:
    """The one that has most to go. When that is dead, too, all are asked about."""
    world = cluster(3, t=(3, 3, [1, 1, 1]))
    topic = world.image.topics["t"].topic_id
    a, b, c = ((topic, index) for index in range(3))
    leader = Leader(world, 1, Unneeded())
    leader.copies.ends = written(world, 1, {a: 10, b: 90, c: 50})
    assert leader.look() == 0
    for key, offset in ((a, 10), (c, 50), (b, 89)):
        start(world, key, offset)
        assert leader.look() == 0
    assert leader.copies.asked == 1
    start(world, b, 90)
    assert leader.look() == 1
    assert leader.copies.asked == 2


def test_a_topic_that_was_deleted_after_a_look_holds_nothing_up() -> None:
    world = cluster(3, t=(1, 3, [1]), u=(1, 3, [1]))
    a, b = ((world.image.topics[name].topic_id, 0) for name in "tu")
    leader = Leader(world, 1, Unneeded())
    leader.copies.ends = written(world, 1, {a: 10, b: 10})
    assert leader.look() == 0
    world.commit(decide_delete(world.image, [TopicRef("u", None)], load(None, {})))
    assert leader.look() == 0
    start(world, a, 10)
    assert leader.look() == 1


def test_an_empty_one_and_one_of_deleted_topics_need_no_log_start() -> None:
    world = cluster(3, t=(1, 3, [1]))
    gone = (bytes(16), 0)
    leader = Leader(world, 1, Unneeded())
    world.open(1, 0, 0)
    world.open(1, 1, 0)
    leader.copies.ends[world.open(1, 2, 10).id._replace(seq=1)] = {gone: 5}
    assert leader.look() == 1, "of the empty one nobody has to say anything"
    assert seqs(world) == [2]


@pytest.mark.parametrize("end", [10, 0])
def test_what_tells_of_a_gap_stays_while_somebody_may_have_it(end: int) -> None:
    """The end of the first virtual segment was given up: a partition that went on in another one cannot get
    what it lacks, and without the record it would not know. Nothing of it need be in there."""
    world = cluster(3, t=(2, 3, [1, 1]))
    topic = world.image.topics["t"].topic_id
    leader = Leader(world, 1, Unneeded())
    leader.copies.ends = written(world, 1, {}, {})
    first = min(world.table.vsegs.values())
    short = first._replace(end=end, backups=first.backups if end else (), shortened=True)
    world.commit(Decision(None, {short.key: short.encode()}))
    leader.unneeded._lacks = lambda *key: key == (topic, 1)
    assert leader.look() == 1, "the other one is empty"
    assert seqs(world) == [0, 1, 2]
    assert world.table.vsegs[first.id._replace(seq=1)].emptied
    leader.unneeded._lacks = lambda *_: False
    assert leader.look() == 1
    assert seqs(world) == [2]


def test_without_a_copy_that_tells_nothing_is_reported() -> None:
    world = cluster(3, t=(1, 3, [1]))
    leader = Leader(world, 1, Unneeded())
    leader.copies.ends = written(world, 1, {}, {})
    leader.copies.away = set(leader.copies.ends)
    assert leader.look() == 0
    leader.copies.away = set()
    assert leader.look() == 2


@pytest.mark.parametrize(("copies", "policy"), [(3, FlushPolicy.MEMORY), (2, FlushPolicy.SYNCED)])
def test_nobody_looks_where_nothing_of_its_topics_can_be(copies: int, policy: FlushPolicy) -> None:
    """Found by simulation: all power was lost, no copy of a topic without syncs was whole, and the topic was
    deleted. Leaders of a topic that always synced asked for a copy of its virtual segments for ever (12c)."""
    world = cluster(3, t=(1, 3, [1], {"flush.messages": "1"}), u=(1, 2, [1]))
    t, u = ((world.image.topics[name].topic_id, 0) for name in "tu")
    leader = Leader(world, 1, Unneeded())
    for seq in (0, 1):
        lower = world.open(1, seq, seq * 10, copies, vlog=0, policy=policy)
        upper = world.open(1, seq, seq * 10, 3, vlog=1, policy=FlushPolicy.SYNCED)
        leader.copies.ends |= {lower.id: {u: 10}, upper.id: {t: 10}}
    leader.copies.away = set(leader.copies.ends)
    assert leader.look() == 0, "it may hold what is live of another topic"
    world.commit(decide_delete(world.image, [TopicRef("u", None)], load(None, {})))
    leader.knows = lambda _: False
    assert leader.look() == 0, "its state frames have to come first"
    leader.knows = lambda _: True
    assert leader.look() == 1
    assert [(vseg.vlog, vseg.seq) for vseg in sorted(world.table.vsegs)] == [(0, 1), (1, 0), (1, 1)]


def test_every_leader_of_a_dead_owners_streamlets_has_its_say() -> None:
    world = cluster(3, t=(2, 3, [1, 1]))
    topic = world.image.topics["t"].topic_id
    held = written(world, 1, {(topic, 0): 10, (topic, 1): 10})
    world.fence(1)
    world.seal_all(10)
    reports = Unneeded()
    leaders: dict[int, Leader] = {}
    recovering: list[StreamletRecord] = world.assign()
    for record in recovering:
        leaders[record.leader] = Leader(world, record.leader, reports)
        leaders[record.leader].copies.ends = held
    assert [leader.look() for leader in leaders.values()] == [0, 0], "not theirs before the commit"
    world.commit_all(recovering)
    for index in (0, 1):
        start(world, (topic, index), 10)
    first, second = leaders.values()
    assert first.look() == 1, "of the one that ended empty nobody has to say anything"
    assert seqs(world) == [0, 1], "the other leader has not said so"
    assert second.look() == 1
    assert seqs(world) == []


def test_what_came_while_others_were_asked_is_not_taken_for_unneeded() -> None:
    """A backup was silent for seconds. A topic that was made meanwhile filled virtual segments, which had
    nothing of the partitions that were known before, and all of them were deleted (seed 10320272)."""
    world = cluster(3, t=(1, 3, [1]))
    a = (world.image.topics["t"].topic_id, 0)
    held = written(world, 1, {a: 10})
    world.fence(1)
    world.seal_all(10)
    (record,) = world.assign()
    leader = Leader(world, record.leader, Unneeded())
    world.commit_all([record])
    held |= written(world, record.leader, {a: 20})
    start(world, a, 10)
    leader.copies.ends = held
    ask, young = leader.copies.ask, []

    async def slow(record: VsegRecord, api: int, request: Look, decode: Callable[[Any], Any]) -> Any:
        if not young:
            topic = world.topic("u", 1, 3, [leader.node])
            young.append(world.open(leader.node, 0, 0, vlog=7).id)
            world.open(leader.node, 1, 10, vlog=7)
            held[young[0]] = {(topic, 0): 5}
        return await ask(record, api, request, decode)

    leader.copies.ask = slow  # type: ignore[method-assign]
    assert leader.look() == 1, "what the dead owner had"
    assert young[0] in world.table.vsegs
    assert leader.look() == 0
    start(world, (world.image.topics["u"].topic_id, 0), 5)
    assert leader.look() == 1
    assert young[0] not in world.table.vsegs


def test_reports_are_repeated_while_the_record_is_there() -> None:
    world = cluster(3, t=(2, 3, [1, 1]))
    topic = world.image.topics["t"].topic_id
    held = written(world, 1, {(topic, 0): 10})
    world.fence(1)
    world.seal_all(10)
    world.commit_all(world.assign())
    start(world, (topic, 0), 10)
    reports = Unneeded()
    leaders = [Leader(world, node, reports) for node in (2, 3)]
    for leader in leaders:
        leader.copies.ends = held
    leaders[0].look()
    reports._reports.clear()
    leaders[1].look()
    assert seqs(world) == [0, 1]
    leaders[0].look()
    assert seqs(world) == []


def test_a_rule_taken_out_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "is_dead", lambda contents, keys, table: True)
    with pytest.raises(AssertionError):
        test_what_lies_below_the_log_start_is_freed_from_the_front()


def test_what_only_a_virtual_segment_knows_about_producers_keeps_it() -> None:
    world = cluster(3, t=(1, 3, [1]))
    leader = Leader(world, 1, Unneeded())
    leader.copies.ends = written(world, 1, {}, {})
    leader.knows = lambda vseg: vseg.seq == 0
    assert leader.look() == 1
    assert seqs(world) == [1, 2]
    leader.knows = lambda vseg: True
    assert leader.look() == 1
    assert seqs(world) == [2]


def test_while_a_streamlet_is_handed_over_nothing_that_may_hold_it_is_reported() -> None:
    """Its leader has closed what the next one is to read, and goes on in segments that nobody else reads. A
    state frame there covers all before it, but not for the next leader: it would know of no producer (40)."""
    world = cluster(3, t=(2, 3, [1, 1]), u=(1, 3, [2]))
    topic = world.image.topics["t"].topic_id
    leader, other = Leader(world, 1, Unneeded()), Leader(world, 2, Unneeded())
    leader.copies.ends = written(world, 1, {(topic, 1): 10})
    other.copies.ends = written(world, 2, {})
    start(world, (topic, 1), 10)
    (move,) = world.commit(decide_moves(world.image, world.table, [Wish(topic, 1, 2)]))
    assert leader.look() == 0
    assert other.look() == 1, "no source of what moves"
    world.commit(Decision(None, deletes=[move.key]))
    assert leader.look() == 1
