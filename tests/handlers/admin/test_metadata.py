"""Metadata in all its versions, with the answers Apache Kafka 4.3.1 gives to the same requests."""

from __future__ import annotations

import asyncio

import pytest

from kproto.controller import NewPartitions, NewTopic
from kproto.errors import ErrorCode
from kproto.handlers import registry
from kproto.handlers.authorized import CLUSTER_OPERATIONS, NOT_ASKED, TOPIC_OPERATIONS
from kproto.handlers.context import RequestContext
from kproto.handlers.turns import answer_of
from kproto.metadata import Change
from kproto.wire.generated.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from kproto.wire.messages import codec

VERSIONS = range(14)


def create(world, *topics: NewTopic) -> None:
    outcomes = world.runner.run(world.controller.create_topics(topics))
    assert [outcome.error for outcome in outcomes] == [None] * len(topics)


def ask(world, version: int, *names: str, **fields) -> MetadataResponse:
    topics = [MetadataRequestTopic(name=name) for name in names]
    return world.call(3, version, MetadataRequest(topics=topics, **fields))


def by_id(world, version: int, *ids: bytes) -> list[MetadataResponseTopic]:
    topics = [MetadataRequestTopic(topic_id=identity, name=None) for identity in ids]
    return world.call(3, version, MetadataRequest(topics=topics)).topics


@pytest.mark.parametrize("version", VERSIONS)
def test_a_topic_in_every_version(cluster, version: int) -> None:
    create(cluster, NewTopic("t", 4, 2, configs={"kproto.active.groups": "2"}))
    answer = ask(cluster, version, "t")
    assert [(b.node_id, b.host, b.port) for b in answer.brokers] == [
        (n, f"host{n}", 9091 + n) for n in (1, 2, 3)
    ]
    assert answer.brokers[0].rack == ("rack1" if version >= 1 else None)
    assert answer.controller_id == (1 if version >= 1 else -1)
    assert answer.cluster_id == (cluster.controller.image.cluster_id if version >= 2 else None)
    (topic,) = answer.topics
    assert (topic.error_code, topic.name, topic.is_internal) == (0, "t", False)
    assert topic.topic_id == (cluster.controller.image.topics["t"].topic_id if version >= 10 else bytes(16))
    assert [(p.partition_index, p.leader_id, p.replica_nodes, p.isr_nodes) for p in topic.partitions] == [
        (0, 1, [1, 2], [1, 2]),
        (1, 1, [1, 2], [1, 2]),
        (2, 2, [2, 3], [2, 3]),
        (3, 2, [2, 3], [2, 3]),
    ]
    assert {p.leader_epoch for p in topic.partitions} == {0 if version >= 7 else -1}
    assert topic.topic_authorized_operations == NOT_ASKED
    assert answer.cluster_authorized_operations == NOT_ASKED


@pytest.mark.parametrize("version", VERSIONS)
def test_all_topics(served, version: int) -> None:
    """Null means all; in version 0, which has no null, an empty list does."""
    create(served, NewTopic("a"), NewTopic("b"), NewTopic("__consumer_offsets"))
    request = MetadataRequest(topics=[] if version == 0 else None)
    topics = served.call(3, version, request).topics
    assert sorted(topic.name for topic in topics) == ["__consumer_offsets", "a", "b"]
    if version >= 1:
        assert [topic.name for topic in topics if topic.is_internal] == ["__consumer_offsets"]
        assert served.call(3, version, MetadataRequest(topics=[])).topics == []


@pytest.mark.parametrize("version", VERSIONS)
def test_faulty_names(served, version: int) -> None:
    fields = {"allow_auto_topic_creation": False} if version >= 4 else {}
    topics = ask(served, version, "none", "a/b", "", **fields).topics
    missing = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if version >= 4 else ErrorCode.NONE
    assert [(t.name, t.error_code) for t in topics] == [
        ("none", missing),
        ("a/b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("", ErrorCode.INVALID_TOPIC_EXCEPTION),
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_missing_topics_are_created_and_answered_at_once(served, version: int) -> None:
    (topic,) = ask(served, version, "new").topics
    assert (topic.error_code, len(topic.partitions)) == (0, 1)
    assert set(served.controller.image.topics) == {"new"}


def test_missing_topics_are_not_created_when_client_or_broker_do_not_want_it(served, frugal) -> None:
    for world, allow in ((served, False), (frugal, True)):
        (topic,) = ask(world, 12, "new", allow_auto_topic_creation=allow).topics
        assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert not world.controller.image.topics


def test_automatic_creation_that_is_refused_says_why(served) -> None:
    create(served, NewTopic("a.b"))
    (topic,) = ask(served, 12, "a_b").topics
    assert topic.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    (topic,) = ask(served, 12, "__cluster_metadata").topics
    assert topic.error_code == ErrorCode.INVALID_REQUEST


def test_the_offsets_topic_is_created_with_its_own_numbers(served) -> None:
    (topic,) = ask(served, 12, "__consumer_offsets").topics
    assert topic.is_internal
    assert len(topic.partitions) == 50


@pytest.mark.parametrize("version", [12, 13])
def test_topics_by_id(served, version: int) -> None:
    create(served, NewTopic("t"))
    identity = served.controller.image.topics["t"].topic_id
    known, unknown = by_id(served, version, identity, b"?" * 16)
    assert (known.name, known.error_code, len(known.partitions)) == ("t", 0, 1)
    assert (unknown.name, unknown.topic_id, unknown.error_code) == (
        None,
        b"?" * 16,
        ErrorCode.UNKNOWN_TOPIC_ID,
    )
    both = MetadataRequest(topics=[MetadataRequestTopic(topic_id=identity, name="other")])
    assert served.call(3, version, both).topics[0].name == "t"
    neither = MetadataRequest(topics=[MetadataRequestTopic(name=None)])
    assert served.call(3, version, neither).topics[0].error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("version", [10, 11])
def test_ids_before_they_may_be_asked_for(served, version: int) -> None:
    """Both fields are on the wire of these versions; Apache Kafka refuses the whole request."""
    create(served, NewTopic("t"))
    identity = served.controller.image.topics["t"].topic_id
    for one in (MetadataRequestTopic(topic_id=identity, name="t"), MetadataRequestTopic(name=None)):
        answer = served.call(3, version, MetadataRequest(topics=[MetadataRequestTopic(name="t"), one]))
        assert [topic.error_code for topic in answer.topics] == [ErrorCode.INVALID_REQUEST] * 2
        assert (answer.brokers, answer.controller_id) == ([], -1)


def test_a_topic_asked_for_twice_is_answered_once(served) -> None:
    create(served, NewTopic("t"))
    assert len(ask(served, 12, "t", "t").topics) == 1


@pytest.mark.parametrize("version", range(8, 14))
def test_authorized_operations(served, version: int) -> None:
    create(served, NewTopic("t"))
    fields = {"include_cluster_authorized_operations": True} if version <= 10 else {}
    answer = ask(served, version, "t", include_topic_authorized_operations=True, **fields)
    assert answer.topics[0].topic_authorized_operations == TOPIC_OPERATIONS == 3576
    assert answer.cluster_authorized_operations == (CLUSTER_OPERATIONS if version <= 10 else NOT_ASKED)
    assert CLUSTER_OPERATIONS == 8096


def test_a_partition_whose_leader_is_gone_has_none(cluster) -> None:
    create(cluster, NewTopic("t", assignments=((0, (2, 1)), (1, (1, 2)))))
    image = cluster.controller.image
    without = image.apply(Change(image.revision + 1, {}, (image.brokers[2].key,)))
    cluster.services.image = lambda: without
    first, second = ask(cluster, 12, "t").topics[0].partitions
    assert (first.error_code, first.leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)
    assert (first.replica_nodes, first.isr_nodes, first.offline_replicas) == ([2, 1], [1], [2])
    assert (second.error_code, second.leader_id, second.isr_nodes) == (0, 1, [1])


@pytest.mark.parametrize("version", range(9, 14))
def test_the_handwritten_answer_is_what_the_generated_codec_writes(cluster, version: int) -> None:
    """Parsed and written again it is the same, byte by byte; the memo changes nothing."""
    long = "x" * 200
    create(
        cluster,
        NewTopic("t", 300, 2, configs={"kproto.active.groups": "7"}),
        NewTopic(long, 1, 3),
        NewTopic("__consumer_offsets", 2, 1),
    )
    handler, messages = registry.handler(3), codec(3)
    context = RequestContext(version, 1, "test", "127.0.0.1", cluster.services)
    names = ["t", long, "__consumer_offsets", "__transaction_state", "none", "a/b"]
    some = MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in names]
        + [MetadataRequestTopic(topic_id=b"?" * 16, name=None)] * (version not in (10, 11)),
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=True,
        include_cluster_authorized_operations=True,
    )
    for request in (some, some, MetadataRequest(topics=[]), MetadataRequest(topics=None)):
        written = asyncio.run(answer_of(handler.handle(context, request)))
        parsed, end = messages.parse_response(version, memoryview(written), 0)
        assert end == len(written)
        again = bytearray()
        messages.write_response(version, parsed, again)
        assert bytes(again) == written


@pytest.mark.parametrize("version", [8, 12])
def test_an_answer_follows_every_change(cluster, version: int) -> None:
    """What the image remembers of an older answer is never shown after a change."""
    create(cluster, NewTopic("t", 1, 1), NewTopic("u", 1, 1))

    def shown() -> list[tuple[str | None, int, list[int]]]:
        topics = ask(cluster, version, "t", "u").topics
        return [(t.name, len(t.partitions), t.partitions[0].isr_nodes) for t in topics]

    first = shown()
    assert [(name, count) for name, count, _ in first] == [("t", 1), ("u", 1)]
    cluster.runner.run(cluster.controller.create_partitions([NewPartitions("t", 3)]))
    assert [(name, count) for name, count, _ in shown()] == [("t", 3), ("u", 1)]
    image = cluster.controller.image
    gone = next(iter(image.streamlets[image.topics["u"].topic_id])).leader
    without = image.apply(Change(image.revision + 1, {}, (image.brokers[gone].key,)))
    cluster.services.image = lambda: without
    assert shown()[1] == ("u", 1, [])
