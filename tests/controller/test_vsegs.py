"""Opening virtual segments: backups, racks, refusals (rules 4, 11, 13, 14, 16, 18)."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproto.controller.vsegs import Opening, decide_close_vsegs, decide_open_vseg, decide_widen
from kproto.errors import ErrorCode, KafkaError
from kproto.metadata.vlogs import VsegId, VsegRecord

from .cluster_world import World, cluster, nodes


def refusal(world: World, opening: Opening) -> ErrorCode:
    with pytest.raises(KafkaError) as refused:
        decide_open_vseg(world.image, world.table, opening)
    return refused.value.code


def test_opening_the_next_closes_the_one_before_where_it_begins() -> None:
    """Rule 11, S9; both in one transaction."""
    world = cluster(4)
    first = world.open(1, 0, 0)
    assert (first.open, first.store_id, first.copies) == (True, "store1", 3)
    assert len(set(nodes(first.backups))) == 2
    assert 1 not in nodes(first.backups)
    revision = world.image.revision
    second = world.open(1, 1, 640)
    assert world.image.revision == revision + 1
    assert world.table.vsegs[first.id].end == 640
    assert world.table.vsegs[first.id].backups == first.backups, "copies of a closed one do not change (14)"
    assert (second.start, second.open) == (640, True)


def test_after_a_rest_the_next_begins_where_the_last_one_ended() -> None:
    world = cluster(4)
    first = world.open(1, 0)
    assert world.commit(decide_close_vsegs(world.image, world.table, 1, [(first.id, 70)])) == [True]
    with pytest.raises(KafkaError):
        world.open(1, 1, 80)
    second = world.open(1, 1, 70)
    assert second.open
    assert world.table.vsegs[first.id].end == 70


def test_what_outgrown_virtual_logs_hold_wants_more_copies() -> None:
    world = cluster(4)
    for seq in range(3):
        world.open(1, seq, seq * 10, copies=2)
    other = world.open(1, 0, copies=2, vlog=1)
    widen = [(0, 1, 3)]
    assert world.commit(decide_widen(world.image, world.table, 1, 0, widen)) == 0, "of an epoch that is over"
    assert world.commit(decide_widen(world.image, world.table, 1, world.epoch(1), widen)) == 2
    copies = [world.table.vsegs[vseg].copies for vseg in sorted(world.table.vsegs) if vseg.vlog == 0]
    assert copies == [3, 3, 2]
    assert world.table.vsegs[other.id].copies == 2
    assert world.commit(decide_widen(world.image, world.table, 1, world.epoch(1), widen)) == 0


def test_the_same_request_again_means_the_same() -> None:
    world = cluster(4)
    world.open(1, 0, 0)
    first = world.open(1, 1, 640)
    world.register(5)
    revision = world.image.revision
    again = world.open(1, 1, 640, exclude=(3,))
    assert again == first
    assert world.image.revision == revision


def test_an_owner_that_is_no_member_any_more_opens_nothing() -> None:
    """Rule 16: fenced, or started again."""
    world = cluster(3)
    old = world.epoch(1)
    world.register(1)
    opening = Opening(1, VsegId(old, 0, 0), 3, 0, 0, frozenset())
    assert refusal(world, opening) is ErrorCode.STALE_BROKER_EPOCH
    world.fence(2)
    opening = Opening(2, VsegId(2, 0, 0), 3, 0, 0, frozenset())
    assert refusal(world, opening) is ErrorCode.STALE_BROKER_EPOCH


@pytest.mark.parametrize(("seq", "start"), [(2, 640), (1, 500), (0, 1)])
def test_a_virtual_log_has_no_gap_and_no_second_beginning(seq: int, start: int) -> None:
    world = cluster(3)
    world.open(1, 0, 0)
    world.open(1, 1, 640)
    opening = Opening(1, VsegId(world.epoch(1), 0, seq), 3, 0, start, frozenset())
    if seq == 2:
        opening = opening._replace(start=639)
    assert refusal(world, opening) is ErrorCode.INVALID_REQUEST


def test_skipping_a_number_is_refused() -> None:
    world = cluster(3)
    world.open(1, 0, 0)
    opening = Opening(1, VsegId(world.epoch(1), 0, 2), 3, 0, 640, frozenset())
    assert refusal(world, opening) is ErrorCode.INVALID_REQUEST


def test_a_failed_backup_is_replaced_and_its_copy_of_the_closed_one_counts() -> None:
    """Rule 13: the end is what all had acked, so the failed one holds it, too."""
    world = cluster(4)
    first = world.open(1, 0, 0)
    failed = first.backups[0].node_id
    second = world.open(1, 1, 300, exclude=(failed,))
    assert failed not in nodes(second.backups)
    assert len(second.backups) == 2
    assert failed in nodes(world.table.vsegs[first.id].backups)


def test_fewer_live_brokers_make_a_smaller_set_that_is_recorded() -> None:
    """Rule 18: down to none, and wide again when brokers join."""
    world = cluster(3)
    world.fence(2)
    assert nodes(world.open(1, 0, 0).backups) == [3]
    world.fence(3)
    assert nodes(world.open(1, 1, 10).backups) == []
    world.register(2, 3)
    assert sorted(nodes(world.open(1, 2, 20).backups)) == [2, 3]


def test_copies_go_to_other_racks_first() -> None:
    world = World()
    for node, rack in ((1, "a"), (2, "a"), (3, "a"), (4, "b"), (5, "c"), (6, "b")):
        world.register(node, rack=rack)
    for seq in range(12):
        chosen = nodes(world.open(1, seq, seq * 10).backups)
        racks = {world.image.brokers[node].rack for node in chosen}
        assert racks == {"b", "c"}


def test_copies_are_spread_over_all_others() -> None:
    world = cluster(6)
    use: Counter[int] = Counter()
    for vlog in range(30):
        use.update(nodes(world.open(1, 0, 0, vlog=vlog).backups))
    assert set(use) == {2, 3, 4, 5, 6}
    assert max(use.values()) - min(use.values()) <= 1


@given(
    brokers=st.integers(1, 7),
    copies=st.integers(2, 5),
    exclude=st.sets(st.integers(1, 7)),
    fenced=st.sets(st.integers(2, 7)),
    racks=st.lists(st.sampled_from(["a", "b", None]), min_size=7, max_size=7),
)
def test_backups_are_always_distinct_live_others(
    brokers: int, copies: int, exclude: set[int], fenced: set[int], racks: list[str | None]
) -> None:
    world = World()
    for node in range(1, brokers + 1):
        world.register(node, rack=racks[node - 1])
    for node in sorted(fenced):
        if node in world.image.brokers:
            world.fence(node)
    chosen = nodes(world.open(1, 0, 0, copies, exclude=tuple(exclude)).backups)
    able = set(world.image.brokers) - exclude - {1}
    assert len(set(chosen)) == len(chosen) == min(copies - 1, len(able))
    assert set(chosen) <= able


@pytest.mark.parametrize(
    "args",
    [
        None,
        [],
        {"vlog": 0},
        {"vlog": -1, "seq": 0, "copies": 2, "policy": 0, "start": 0},
        {"vlog": 0, "seq": 0, "copies": 1, "policy": 0, "start": 0},
        {"vlog": 0, "seq": 0, "copies": 2, "policy": 0, "start": 2**63},
        {"vlog": 0, "seq": True, "copies": 2, "policy": 0, "start": 0},
        {"vlog": 0, "seq": 0, "copies": 2, "policy": 0, "start": 0, "exclude": ["x"]},
        {"vlog": 0, "seq": 0, "copies": 2, "policy": 0, "start": 0, "exclude": [0] * 10_001},
    ],
)
def test_rubbish_is_refused(args: object) -> None:
    with pytest.raises(KafkaError) as refused:
        Opening.of_arguments(1, 1, args)
    assert refused.value.code is ErrorCode.INVALID_REQUEST


def test_an_owner_that_ends_in_peace_says_where_its_segments_end() -> None:
    world = cluster(4)
    one = world.open(1, 0, 0)
    two = world.open(1, 1, 640)
    other = world.open(1, 0, 0, vlog=2)
    closes = [(one.id, 640), (two.id, 900), (two.id, 500), (other.id, 0), (other.id._replace(seq=9), 1)]
    decision = decide_close_vsegs(world.image, world.table, 1, closes)
    assert decision.answer == [True, True, False, True, False]
    assert [VsegRecord.decode(key, value).end for key, value in decision.puts.items()] == [900, 0]
    world.register(1)
    with pytest.raises(KafkaError) as refused:
        decide_close_vsegs(world.image, world.table, 1, closes)
    assert refused.value.code is ErrorCode.STALE_BROKER_EPOCH
