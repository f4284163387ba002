"""Decisions on topics. Error codes are those of Apache Kafka 4.3.1 for the same request."""

from __future__ import annotations

import itertools

import pytest

from kproto.config import load
from kproto.controller.decision import Decision
from kproto.controller.topics import (
    PARTITIONS_PER_REQUEST,
    NewPartitions,
    NewTopic,
    TopicOutcome,
    TopicRef,
    decide_create,
    decide_create_partitions,
    decide_delete,
    offsets_topic,
)
from kproto.errors import ErrorCode
from kproto.metadata import Change, MetadataImage

from .worlds import applied, image_of

SETTINGS = load()
Outcomes = Decision[list[TopicOutcome]]


def create(image: MetadataImage, *topics: NewTopic, settings=SETTINGS) -> Outcomes:  # type: ignore[no-untyped-def]
    ids = itertools.count(len(image.topics) + 1)
    return decide_create(image, topics, settings, lambda: next(ids).to_bytes(16, "big"), {})


def codes(decision: Outcomes) -> list[tuple[str | None, ErrorCode]]:
    return [(each.name, each.error.code if each.error else ErrorCode.NONE) for each in decision.answer]


def with_topic(brokers: int = 1, **fields: object) -> MetadataImage:
    image = image_of(brokers)
    decision = create(image, NewTopic(**{"name": "t", "partitions": 1, "replication_factor": 1, **fields}))  # type: ignore[arg-type]
    assert decision.answer[0].error is None, decision.answer
    return applied(image, decision.puts)


def manual(*members: tuple[int, tuple[int, ...]], **configs: str) -> NewTopic:
    return NewTopic(
        "t", assignments=members, configs={name.replace("_", "."): v for name, v in configs.items()}
    )


@pytest.mark.parametrize(
    ("topic", "code"),
    [
        (NewTopic("t"), ErrorCode.NONE),
        (NewTopic("t", 3, 3), ErrorCode.NONE),
        (NewTopic("a.b", 1, 1), ErrorCode.NONE),
        (NewTopic(""), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (NewTopic(".."), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (NewTopic("a/b"), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (NewTopic("x" * 250), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (NewTopic("__cluster_metadata"), ErrorCode.INVALID_REQUEST),
        (NewTopic("__consumer_offsets"), ErrorCode.NONE),
        (NewTopic("t", 0, 1), ErrorCode.INVALID_PARTITIONS),
        (NewTopic("t", -2, 1), ErrorCode.INVALID_PARTITIONS),
        (NewTopic("t", PARTITIONS_PER_REQUEST + 1, 1), ErrorCode.POLICY_VIOLATION),
        (NewTopic("t", PARTITIONS_PER_REQUEST + 1, 0), ErrorCode.POLICY_VIOLATION),
        (NewTopic("t", 1, 0), ErrorCode.INVALID_REPLICATION_FACTOR),
        (NewTopic("t", 1, -2), ErrorCode.INVALID_REPLICATION_FACTOR),
        (NewTopic("t", -2, -2), ErrorCode.INVALID_REPLICATION_FACTOR),
        (NewTopic("t", 1, 4), ErrorCode.INVALID_REPLICATION_FACTOR),
        (NewTopic("t", configs={"retention.ms": "x"}), ErrorCode.INVALID_CONFIG),
        (NewTopic("t", configs={"nope": "1"}), ErrorCode.INVALID_CONFIG),
        (NewTopic("t", configs={"retention.ms": None}), ErrorCode.INVALID_CONFIG),
        (NewTopic("t", configs={"remote.storage.enable": "true"}), ErrorCode.INVALID_CONFIG),
        (NewTopic("t", configs={"retention.bytes": "-7"}), ErrorCode.NONE),
        (
            NewTopic("t", configs={"leader.replication.throttled.replicas": "1:1," * 8192}),
            ErrorCode.INVALID_CONFIG,
        ),
        (manual((0, (1,)), (1, (2,))), ErrorCode.NONE),
        (manual((1, (1,)), (0, (2,))), ErrorCode.NONE),
        (manual((0, (1,)), (2, (1,))), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (manual((1, (1,))), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (manual((0, (1,)), (0, (2,))), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (manual((0, (9,))), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (manual((0, (1, 1))), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (manual((0, ())), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (manual((0, (1,)), (1, (1, 2))), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (NewTopic("t", 1, -1, ((0, (1,)),)), ErrorCode.INVALID_REQUEST),
        (NewTopic("t", -1, 1, ((0, (1,)),)), ErrorCode.INVALID_REQUEST),
        (manual((0, (1, 2)), (1, (1, 2)), (2, (3, 1)), kproto_active_groups="2"), ErrorCode.NONE),
        (manual((0, (1, 2)), (1, (2, 1)), kproto_active_groups="2"), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (manual((0, (1,)), (1, (2,)), kproto_active_groups="4"), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (NewTopic("t", configs={"kproto.active.groups": "0"}), ErrorCode.INVALID_CONFIG),
    ],
)
def test_create(topic: NewTopic, code: ErrorCode) -> None:
    image = image_of(3)
    decision = create(image, topic)
    assert codes(decision) == [(topic.name, code)]
    assert decision.writes == (code is ErrorCode.NONE)
    if decision.writes:
        after = applied(image, decision.puts)
        assert after.topics[topic.name].internal == topic.name.startswith("__consumer")


def test_created_streamlets_lead_with_their_first_replica_at_epoch_zero() -> None:
    image = with_topic(3, partitions=10, replication_factor=2, configs={"kproto.active.groups": "4"})
    topic = image.topics["t"]
    assert (topic.partitions, topic.streamlets, topic.active_groups, topic.replication_factor) == (
        10,
        3,
        4,
        2,
    )
    records = image.streamlets[topic.topic_id]
    assert [record.leader for record in records] == [1, 2, 3]
    assert all(record.leader == record.replicas[0] and record.leader_epoch == 0 for record in records)
    assert all(len(record.replicas) == 2 for record in records)


def test_manual_assignment_is_kept_in_partition_order() -> None:
    image = image_of(3)
    decision = create(image, manual((2, (3, 1)), (0, (1, 2)), (1, (2, 3))))
    records = applied(image, decision.puts).streamlets[decision.answer[0].topic_id or b""]
    assert [record.replicas for record in records] == [(1, 2), (2, 3), (3, 1)]


def test_defaults_come_from_the_settings() -> None:
    settings = load(None, {"num.partitions": "6", "default.replication.factor": "2"})
    decision = create(image_of(3), NewTopic("t"), settings=settings)
    topic = decision.answer[0].topic
    assert topic is not None
    assert (topic.partitions, topic.replication_factor) == (6, 2)
    refused = create(image_of(1), NewTopic("t"), settings=settings)
    assert codes(refused) == [("t", ErrorCode.INVALID_REPLICATION_FACTOR)]


def test_no_broker_no_topic() -> None:
    assert codes(create(image_of(0), NewTopic("t"))) == [("t", ErrorCode.INVALID_REPLICATION_FACTOR)]


def test_faults_do_not_stop_the_others() -> None:
    image = with_topic(name="old")
    decision = create(
        image,
        NewTopic("new"),
        NewTopic("old"),
        NewTopic("twice"),
        NewTopic("bad/"),
        NewTopic("twice", 2),
        NewTopic("o"),
    )
    assert codes(decision) == [
        ("new", ErrorCode.NONE),
        ("old", ErrorCode.TOPIC_ALREADY_EXISTS),
        ("twice", ErrorCode.INVALID_REQUEST),
        ("bad/", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("o", ErrorCode.NONE),
    ]
    assert set(applied(image, decision.puts).topics) == {"old", "new", "o"}


def test_names_that_differ_in_dot_and_underscore_collide_with_existing_ones_only() -> None:
    """As in Apache Kafka: both of a request pass, a later one does not."""
    image = with_topic(name="a.b_c")
    assert codes(create(image, NewTopic("a_b.c"))) == [("a_b.c", ErrorCode.INVALID_TOPIC_EXCEPTION)]
    both = create(image_of(1), NewTopic("q.w"), NewTopic("q_w"))
    assert codes(both) == [("q.w", ErrorCode.NONE), ("q_w", ErrorCode.NONE)]


def test_a_request_creates_at_most_ten_thousand_partitions() -> None:
    decision = create(image_of(1), NewTopic("a", 6000, 1), NewTopic("b", 5000, 1))
    assert codes(decision) == [("a", ErrorCode.NONE), ("b", ErrorCode.POLICY_VIOLATION)]


def test_a_request_for_more_topics_than_that_is_refused_before_a_look_at_any() -> None:
    names = [f"t{number}" for number in range(PARTITIONS_PER_REQUEST + 1)]
    refused = [(name, ErrorCode.POLICY_VIOLATION) for name in names]
    decision = create(image_of(1), *(NewTopic(name, 1, 1) for name in names))
    assert (codes(decision), decision.puts) == (refused, {})
    image = with_topic(name="t1")
    decision = decide_create_partitions(image, [NewPartitions(name, 2) for name in names], {})
    assert (codes(decision), decision.puts) == (refused, {})


@pytest.mark.parametrize(("brokers", "factor"), [(1, 1), (2, 2), (5, 3)])
def test_offsets_topic_has_as_many_copies_as_brokers_up_to_three(brokers: int, factor: int) -> None:
    image = image_of(brokers)
    decision = create(image, offsets_topic(image, SETTINGS))
    topic = decision.answer[0].topic
    assert topic is not None
    assert topic.internal
    assert (topic.partitions, topic.replication_factor) == (50, factor)
    assert topic.configs["cleanup.policy"] == "compact"


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (NewPartitions("t", 5), ErrorCode.NONE),
        (NewPartitions("none", 5), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (NewPartitions("a/b", 5), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (NewPartitions("t", 3), ErrorCode.INVALID_PARTITIONS),
        (NewPartitions("t", 1), ErrorCode.INVALID_PARTITIONS),
        (NewPartitions("t", -1), ErrorCode.INVALID_PARTITIONS),
        (NewPartitions("t", 20_000), ErrorCode.POLICY_VIOLATION),
        (NewPartitions("t", 5, [(1,)]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (NewPartitions("t", 5, []), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (NewPartitions("t", 4, [(9, 1)]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (NewPartitions("t", 4, [()]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (NewPartitions("t", 4, [(1, 1)]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (NewPartitions("t", 4, [(1,)]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (NewPartitions("t", 4, [(2, 1)]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (NewPartitions("t", 4, [(1, 2)]), ErrorCode.NONE),
        (NewPartitions("t", 6, [(1, 2), (3, 1), (3, 1)]), ErrorCode.NONE),
        (NewPartitions("t", 6, [(1, 2), (3, 1), (3, 2)]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_create_partitions(request_: NewPartitions, code: ErrorCode) -> None:
    """3 partitions in streamlets of 2: partition 3 joins streamlet 1, 4 and 5 begin streamlet 2."""
    topic = NewTopic(
        "t", assignments=((0, (1, 2)), (1, (1, 2)), (2, (1, 2))), configs={"kproto.active.groups": "2"}
    )
    image = image_of(3)
    image = applied(image, create(image, topic).puts)
    decision = decide_create_partitions(image, [request_], {})
    assert codes(decision) == [(request_.name, code)]
    assert decision.writes == (code is ErrorCode.NONE)
    if decision.writes:
        after = applied(image, decision.puts)
        assert after.topics["t"].partitions == request_.count
        assert after.topics["t"].topic_id == image.topics["t"].topic_id
        assert (
            after.streamlets[after.topics["t"].topic_id][:2] == image.streamlets[image.topics["t"].topic_id]
        )


def test_the_offsets_topic_does_not_grow() -> None:
    image = image_of(1)
    image = applied(image, create(image, offsets_topic(image, SETTINGS)).puts)
    decision = decide_create_partitions(image, [NewPartitions("__consumer_offsets", 60)], {})
    assert codes(decision) == [("__consumer_offsets", ErrorCode.INVALID_REQUEST)]
    assert not decision.writes


def test_partitions_for_a_topic_twice_in_a_request() -> None:
    decision = decide_create_partitions(with_topic(), [NewPartitions("t", 3), NewPartitions("t", 4)], {})
    assert codes(decision) == [("t", ErrorCode.INVALID_REQUEST)]
    assert not decision.writes


def test_new_partitions_need_as_many_brokers_as_copies() -> None:
    image = with_topic(2, replication_factor=2)
    image = applied(image, {}, [image.brokers[2].key])
    decision = decide_create_partitions(image, [NewPartitions("t", 2)], {})
    assert codes(decision) == [("t", ErrorCode.INVALID_REPLICATION_FACTOR)]


def test_delete_by_name_and_by_id() -> None:
    image = with_topic(partitions=5)
    identity = image.topics["t"].topic_id
    for ref in (TopicRef("t"), TopicRef(None, identity)):
        decision = decide_delete(image, [ref], SETTINGS)
        assert codes(decision) == [("t", ErrorCode.NONE)]
        assert decision.answer[0].topic_id == identity
        after = applied(image, decision.puts, decision.deletes)
        assert not after.topics
        assert not after.streamlets
        assert len(decision.deletes) == 6


@pytest.mark.parametrize(
    ("refs", "expected"),
    [
        ([TopicRef("none")], [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]),
        ([TopicRef(None, b"x" * 16)], [ErrorCode.UNKNOWN_TOPIC_ID]),
        ([TopicRef()], [ErrorCode.INVALID_REQUEST]),
        ([TopicRef("t", (1).to_bytes(16, "big"))], [ErrorCode.INVALID_REQUEST]),
        ([TopicRef("t"), TopicRef("t")], [ErrorCode.INVALID_REQUEST]),
        (
            [TopicRef("t"), TopicRef(None, (1).to_bytes(16, "big"))],
            [ErrorCode.INVALID_REQUEST],
        ),
    ],
)
def test_deletes_that_are_refused(refs: list[TopicRef], expected: list[ErrorCode]) -> None:
    decision = decide_delete(with_topic(), refs, SETTINGS)
    assert [code for _, code in codes(decision)] == expected


def test_deletion_can_be_switched_off() -> None:
    decision = decide_delete(with_topic(), [TopicRef("t")], load(None, {"delete.topic.enable": "false"}))
    assert codes(decision) == [("t", ErrorCode.TOPIC_DELETION_DISABLED)]
    assert not decision.writes


def away(image: MetadataImage, *nodes: int) -> MetadataImage:
    """The image after brokers were fenced."""
    return image.apply(Change(image.revision + 1, {}, tuple(image.brokers[node].key for node in nodes)))


def made_while_away(topic: NewTopic, *fenced: int) -> tuple[ErrorCode, list[tuple[int, tuple[int, ...]]]]:
    """The answer of three brokers of which some are away; leader and replicas of each streamlet."""
    image = away(image_of(3), *fenced)
    decision = decide_create(image, [topic], SETTINGS, lambda: b"i" * 16, {}, fenced)
    after = applied(image, decision.puts)
    made = [(each.leader, each.replicas) for each in after.streamlets.get(b"i" * 16, ())]
    return codes(decision)[0][1], made


def test_brokers_that_are_away_get_replicas_where_live_ones_are_not_enough() -> None:
    code, made = made_while_away(NewTopic("t", 3, 3), 2)
    assert code is ErrorCode.NONE
    assert [set(replicas) for _, replicas in made] == [{1, 2, 3}] * 3
    assert {leader for leader, _ in made} == {1, 3}
    assert made_while_away(NewTopic("t", 1, 2), 2)[1][0][1] in ((1, 3), (3, 1))
    assert made_while_away(NewTopic("t", 1, 3), 2, 3) == (ErrorCode.NONE, [(1, (1, 2, 3))])
    assert made_while_away(NewTopic("t", 1, 4), 2)[0] is ErrorCode.INVALID_REPLICATION_FACTOR


def test_an_assignment_may_name_brokers_that_are_away_but_not_only_those() -> None:
    assert made_while_away(manual((0, (2, 1)), (1, (3, 2))), 2) == (
        ErrorCode.NONE,
        [(1, (2, 1)), (3, (3, 2))],
    )
    assert made_while_away(manual((0, (1, 2)), (1, (2, 3))), 2, 3)[0] is ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert made_while_away(manual((0, (1, 9))), 2)[0] is ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_new_partitions_may_be_kept_by_brokers_that_are_away() -> None:
    image = away(with_topic(3, replication_factor=3), 2)

    def grown(request: NewPartitions, *fenced: int) -> ErrorCode:
        return codes(decide_create_partitions(image, [request], {}, fenced))[0][1]

    assert grown(NewPartitions("t", 4), 2) is ErrorCode.NONE
    assert grown(NewPartitions("t", 4)) is ErrorCode.INVALID_REPLICATION_FACTOR
    assert grown(NewPartitions("t", 2, [(2, 3, 1)]), 2) is ErrorCode.NONE
    assert grown(NewPartitions("t", 2, [(2, 3, 1)])) is ErrorCode.INVALID_REPLICA_ASSIGNMENT
