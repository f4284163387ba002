"""Replica placement: distinct brokers, even leaders, racks apart."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from kproto.controller.placement import rack_order, racks_of, spread, streamlets_led
from kproto.metadata import StreamletRecord, TopicRecord

from .worlds import applied, image_of


@given(st.integers(1, 9), st.data())
def test_replicas_are_distinct_and_leaders_even(brokers: int, data: st.DataObject) -> None:
    factor = data.draw(st.integers(1, brokers))
    streamlets = data.draw(st.integers(1, 60))
    start = data.draw(st.integers(0, 100))
    assignments = spread(range(1, brokers + 1), start, streamlets, factor, {})
    assert len(assignments) == streamlets
    assert all(len(set(members)) == len(members) == factor for members in assignments)
    leaders = Counter(members[0] for members in assignments)
    assert max(leaders.values()) - min([*leaders.values(), streamlets // brokers]) <= 1
    copies = Counter(node for members in assignments for node in members)
    assert max(copies.values()) - min(copies[node] for node in range(1, brokers + 1)) <= 2 * factor


@given(st.integers(1, 9), st.data())
def test_a_rack_has_two_replicas_only_where_no_other_could_have_its_first(
    brokers: int, data: st.DataObject
) -> None:
    nodes = range(1, brokers + 1)
    racks = data.draw(st.dictionaries(st.sampled_from(nodes), st.sampled_from("abc")))
    factor = data.draw(st.integers(1, brokers))
    streamlets = data.draw(st.integers(1, 60))
    assignments = spread(nodes, data.draw(st.integers(0, 100)), streamlets, factor, racks)
    assert all(len(set(members)) == len(members) == factor for members in assignments)
    leaders = Counter(members[0] for members in assignments)
    assert max(leaders.values()) - min(leaders[node] for node in nodes) <= 1
    for members in assignments:
        held = Counter(racks.get(node, node) for node in members)
        for node in nodes:
            if node not in members:
                assert held[racks.get(node, node)] >= max(held.values()) - 1, (members, node)


def test_copies_stay_even_among_racks_of_one_size() -> None:
    image = image_of(6, racks=("a", "b", "c"))
    assignments = spread(rack_order(image.brokers), 0, 60, 3, racks_of(image.brokers))
    copies = Counter(node for members in assignments for node in members)
    assert max(copies.values()) - min(copies.values()) <= 6, copies


def test_neighbours_are_in_different_racks() -> None:
    image = image_of(6, racks=("a", "b", "c"))
    order = rack_order(image.brokers)
    racks = [image.brokers[node].rack for node in order]
    assert racks == ["a", "b", "c"] * 2
    assert sorted(order) == [1, 2, 3, 4, 5, 6]
    uneven = image_of(3, racks=("a", "a", "b"))
    assert sorted(rack_order(uneven.brokers)) == [1, 2, 3]


def test_streamlets_led_counts_leaders() -> None:
    topic = TopicRecord("t", bytes(range(16)), 3, 1, 1, {}, False)
    puts = {topic.key: topic.encode()}
    for index, leader in enumerate((1, 2, 1)):
        record = StreamletRecord(topic.topic_id, index, leader, 0, (leader,))
        puts[record.key] = record.encode()
    assert streamlets_led(applied(image_of(2), puts)) == {1: 2, 2: 1}
