"""Replica placement: distinct brokers, even leaders, racks apart."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from kproto.controller.placement import rack_order, spread, streamlets_led
from kproto.metadata import StreamletRecord, TopicRecord

from .worlds import applied, image_of


@given(st.integers(1, 9), st.data())
def test_replicas_are_distinct_and_leaders_even(brokers: int, data: st.DataObject) -> None:
    factor = data.draw(st.integers(1, brokers))
    streamlets = data.draw(st.integers(1, 60))
    start = data.draw(st.integers(0, 100))
    assignments = spread(range(1, brokers + 1), start, streamlets, factor)
    assert len(assignments) == streamlets
    assert all(len(set(members)) == len(members) == factor for members in assignments)
    leaders = Counter(members[0] for members in assignments)
    assert max(leaders.values()) - min([*leaders.values(), streamlets // brokers]) <= 1
    copies = Counter(node for members in assignments for node in members)
    assert max(copies.values()) - min(copies[node] for node in range(1, brokers + 1)) <= 2 * factor


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
