"""The image: deltas, lookups, and that nothing of an older image changes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kproto.check import InvariantError
from kproto.metadata import (
    EMPTY_IMAGE,
    BrokerRecord,
    Change,
    Entry,
    MetadataImage,
    StoreError,
    StreamletRecord,
    TopicRecord,
)
from kproto.metadata.image import load_image
from kproto.metadata.records import RECOVERING, config_key, encode_configs, streamlet_of_key


def topic_id(number: int) -> bytes:
    return number.to_bytes(16, "big")


def puts_of(topic: TopicRecord, leader: int = 1, epoch: int = 0) -> dict[str, bytes]:
    records = [StreamletRecord(topic.topic_id, i, leader, epoch, (leader,)) for i in range(topic.streamlets)]
    return {topic.key: topic.encode(), **{record.key: record.encode() for record in records}}


def topic(name: str, number: int, partitions: int = 1, groups: int = 1) -> TopicRecord:
    return TopicRecord(name, topic_id(number), partitions, 1, groups, {}, False)


names = st.text(st.sampled_from("abcXYZ019._-"), min_size=1, max_size=20)
records = st.builds(
    TopicRecord,
    names,
    st.binary(min_size=16, max_size=16),
    st.integers(1, 10_000),
    st.integers(1, 9),
    st.integers(1, 64),
    st.dictionaries(names, st.text(max_size=9), max_size=3),
    st.booleans(),
)


@given(records)
def test_topic_records_come_back_as_they_were(record: TopicRecord) -> None:
    assert TopicRecord.decode(record.key, record.encode()) == record
    assert (record.streamlets - 1) * record.active_groups < record.partitions
    assert record.partitions <= record.streamlets * record.active_groups


@given(
    st.integers(0, 2**31 - 1),
    st.integers(1, 2**40),
    st.text(max_size=9),
    st.integers(0, 65535),
    st.none() | names,
)
def test_broker_records_come_back_as_they_were(
    node_id: int, epoch: int, host: str, port: int, rack: str | None
) -> None:
    record = BrokerRecord(node_id, epoch, host, port, rack)
    assert BrokerRecord.decode(record.key, record.encode()) == record


@given(st.binary(min_size=16, max_size=16), st.integers(0, 2**31 - 1))
def test_streamlet_keys_come_back_as_they_were(identity: bytes, index: int) -> None:
    assert streamlet_of_key(StreamletRecord(identity, index, 1, 0, (1,)).key) == (identity, index)


def test_a_topic_of_ten_partitions_in_groups_of_four_is_three_streamlets() -> None:
    ten = topic("ten", 1, partitions=10, groups=4)
    image = EMPTY_IMAGE.apply(Change(1, puts_of(ten, epoch=7), ()))
    assert [record.index for record in image.streamlets[ten.topic_id]] == [0, 1, 2]
    changed = StreamletRecord(ten.topic_id, 1, 1, 8, (1,))
    image = image.apply(Change(2, {changed.key: changed.encode()}, ()))
    assert [image.leader_epoch("ten", partition) for partition in range(10)] == [7] * 4 + [8] * 4 + [7] * 2
    assert image.streamlet(ten.topic_id, 1) == changed
    for missing in (-1, 10):
        with pytest.raises(IndexError):
            image.leader_epoch("ten", missing)
    with pytest.raises(KeyError):
        image.leader_epoch("none", 0)


def test_an_older_image_never_changes() -> None:
    first = EMPTY_IMAGE.apply(Change(1, puts_of(topic("a", 1)), ()))
    second = first.apply(Change(2, puts_of(topic("b", 2, partitions=3)), ()))
    third = second.apply(Change(3, {}, (topic("a", 1).key, StreamletRecord(topic_id(1), 0, 1, 0, (1,)).key)))
    assert set(EMPTY_IMAGE.topics) == set()
    assert set(first.topics) == {"a"}
    assert set(second.topics) == {"a", "b"}
    assert set(third.topics) == {"b"}
    assert set(third.topics_by_id) == set(third.streamlets) == {topic_id(2)}
    assert second.topics["a"] is first.topics["a"]
    assert [(i.base_revision, i.touched) for i in (first, second, third)] == [
        (0, {topic_id(1)}),
        (1, {topic_id(2)}),
        (2, {topic_id(1)}),
    ]


def test_a_change_of_something_else_shares_all_and_touches_nothing() -> None:
    first = EMPTY_IMAGE.apply(Change(1, {"cluster": b"c", **puts_of(topic("a", 1))}, ())).with_controller(7)
    first.encoded[topic_id(1)] = b"memo"
    second = first.apply(Change(2, {"vsegs/1/0/0": b"[]", "starts/x": b"5"}, ("moves/x",)))
    assert (second.revision, second.base_revision, second.touched) == (2, 1, frozenset())
    assert (second.cluster_id, second.controller_id, second.encoded) == ("c", 7, {topic_id(1): b"memo"})
    assert second.streamlets is first.streamlets
    assert second.topics is first.topics
    third = second.apply(Change(3, {"vsegs/1/0/1": b"[]"}, (topic("a", 1).key,)))
    assert (third.topics, third.touched) == ({}, {topic_id(1)})
    with pytest.raises(InvariantError):
        first.apply(Change(3, {"vsegs/1/0/1": b"[]"}, ()))


def test_a_streamlet_that_was_given_away_comes_back() -> None:
    first = EMPTY_IMAGE.apply(Change(1, puts_of(topic("a", 1)), ()))
    record = StreamletRecord(topic_id(1), 0, 2, 5, (1, 2), RECOVERING, (5, 8), (8,))
    second = first.apply(Change(2, {record.key: record.encode()}, ()))
    assert second.streamlet(topic_id(1), 0) == record


def test_a_topic_deleted_and_created_again_in_one_change_has_a_new_id() -> None:
    first = EMPTY_IMAGE.apply(Change(1, puts_of(topic("a", 1, partitions=2)), ()))
    second = first.apply(Change(2, puts_of(topic("a", 2)), ()))
    assert second.topics["a"].topic_id == topic_id(2)
    assert set(second.topics_by_id) == set(second.streamlets) == {topic_id(2)}
    assert second.touched == {topic_id(1), topic_id(2)}


def test_growing_a_topic_appends_streamlets() -> None:
    small, grown = topic("a", 1, partitions=2), topic("a", 1, partitions=4)
    image = EMPTY_IMAGE.apply(Change(1, puts_of(small, epoch=3), ()))
    added = {
        record.key: record.encode()
        for record in (StreamletRecord(topic_id(1), i, 1, 0, (1,)) for i in (2, 3))
    }
    image = image.apply(Change(2, {grown.key: grown.encode(), **added}, ()))
    assert [image.leader_epoch("a", partition) for partition in range(4)] == [3, 3, 0, 0]


@pytest.mark.parametrize(
    ("revision", "puts", "message"),
    [
        (3, {}, "cannot follow"),
        (1, {}, "cannot follow"),
        (2, {topic("x", 9, partitions=2).key: topic("x", 9, partitions=2).encode()}, "0 streamlet records"),
        (2, {StreamletRecord(topic_id(1), 5, 1, 0, (1,)).key: b"[1,0,[1]]"}, "comes after 1 others"),
        (2, {"format": b"2"}, "has format"),
    ],
)
def test_a_broken_change_is_an_invariant_breach(revision: int, puts: dict[str, bytes], message: str) -> None:
    image = EMPTY_IMAGE.apply(Change(1, puts_of(topic("a", 1)), ()))
    with pytest.raises(InvariantError, match=message):
        image.apply(Change(revision, puts, ()))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (config_key(None), b'{"a"', "under 'configs/default' cannot be read"),
        (topic("a", 1).key, b"[1", "under 'topics/a' cannot be read"),
        (topic("a", 1).key, b"[1]", "under 'topics/a' cannot be read"),
        ("brokers/x", b"[]", "under 'brokers/x' cannot be read"),
        (StreamletRecord(topic_id(1), 1, 1, 0, (1,)).key, b"[1,", "/00000001' cannot be read"),
        (StreamletRecord(topic_id(1), 1, 1, 0, (1,)).key, b"\xff", "/00000001' cannot be read"),
        (StreamletRecord(topic_id(1), 5, 1, 0, (1,)).key, b"[1,0,[1]]", "/00000005' cannot be read"),
        ("format", b"2", "under 'format' cannot be read .*which version of kproto"),
        (topic("x", 9).key, topic("x", 9).encode(), "does not fit together .*0 streamlet records"),
    ],
)
def test_a_store_that_cannot_be_read_is_told_in_one_line(key: str, value: bytes, message: str) -> None:
    puts = {**puts_of(topic("a", 1, partitions=2)), "cluster": b"c", key: value}
    entries = [Entry(one, puts[one], 1) for one in sorted(puts)]
    with pytest.raises(StoreError, match=message) as caught:
        load_image(1, entries)
    assert str(caught.value).endswith("restore the metadata from a backup")
    assert len(str(caught.value).splitlines()) == 1


def test_brokers_and_dynamic_configs() -> None:
    broker = BrokerRecord(2, 5, "host", 9092, "rack-a")
    puts = {
        broker.key: broker.encode(),
        "cluster": b"abc",
        config_key(None): encode_configs({"log.retention.ms": "1", "log.roll.ms": "2"}),
        config_key(2): encode_configs({"log.retention.ms": "3"}),
    }
    image = EMPTY_IMAGE.apply(Change(1, puts, ())).with_controller(2)
    assert image.brokers == {2: broker}
    assert (image.cluster_id, image.controller_id) == ("abc", 2)
    assert image.broker_configs(2) == {"log.retention.ms": "3", "log.roll.ms": "2"}
    assert image.broker_configs(1) == {"log.retention.ms": "1", "log.roll.ms": "2"}
    image = image.apply(Change(2, {}, (broker.key, config_key(None))))
    assert image.brokers == {}
    assert image.broker_configs(1) == {}
    assert image.controller_id == 2


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 6), st.booleans()), max_size=12))
def test_deltas_lead_to_what_the_whole_store_says(steps: list[tuple[int, int, bool]]) -> None:
    """Create, replace and delete topics step by step; the image equals one loaded from the end state."""
    image = EMPTY_IMAGE
    stored: dict[str, bytes] = {}
    for revision, (number, partitions, remove) in enumerate(steps, 1):
        name = f"t{number}"
        old = image.topics.get(name)
        gone = [] if old is None else [old.key, *(each.key for each in image.streamlets[old.topic_id])]
        puts = {} if remove else puts_of(topic(name, revision, partitions))
        gone = [key for key in gone if key not in puts]
        image = image.apply(Change(revision, puts, tuple(gone)))
        for key in gone:
            stored.pop(key)
        stored.update(puts)
    loaded = load_image(len(steps), [Entry(key, stored[key], 1) for key in sorted(stored)])
    assert comparable(loaded) == comparable(image)


def comparable(image: MetadataImage) -> object:
    return image.revision, dict(image.topics), dict(image.topics_by_id), dict(image.streamlets)


def test_deltas_are_cheap_at_five_thousand_topics() -> None:
    puts: dict[str, bytes] = {}
    for number in range(5000):
        puts |= puts_of(topic(f"topic-{number}", number + 1))
    image = EMPTY_IMAGE.apply(Change(1, puts, ()))
    started = time.process_time()
    for revision in range(2, 102):
        image = image.apply(Change(revision, puts_of(topic(f"more-{revision}", 10_000 + revision)), ()))
    assert (time.process_time() - started) / 100 < 0.005
    assert len(image.touched) == 1
