"""CreateTopics, DeleteTopics, CreatePartitions and what shows topics, in all their versions."""

from __future__ import annotations

import pytest

from kproto.config import TOPIC_CONFIGS
from kproto.errors import ErrorCode
from kproto.handlers.authorized import TOPIC_OPERATIONS
from kproto.wire.generated.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kproto.wire.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kproto.wire.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kproto.wire.generated.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    RequestCursor,
    TopicRequest,
)
from kproto.wire.generated.list_partition_reassignments import ListPartitionReassignmentsRequest


def create(world, *topics: CreatableTopic, version: int = 7, validate_only: bool = False):
    return world.call(
        19, version, CreateTopicsRequest(topics=list(topics), validate_only=validate_only)
    ).topics


def plain(name: str, partitions: int = 1, **configs: str) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=1,
        configs=[CreatableTopicConfig(name=k.replace("_", "."), value=v) for k, v in configs.items()],
    )


@pytest.mark.parametrize("version", range(2, 8))
def test_create(served, version: int) -> None:
    made, refused = create(served, plain("t", 3, retention_ms="5"), plain("bad/"), version=version)
    assert (made.name, made.error_code, made.error_message) == ("t", 0, None)
    assert (refused.name, refused.error_code) == ("bad/", ErrorCode.INVALID_TOPIC_EXCEPTION)
    assert "bad/" in refused.error_message
    assert served.controller.image.topics["t"].partitions == 3
    if version >= 5:
        assert (made.num_partitions, made.replication_factor) == (3, 1)
        shown = {config.name: (config.value, config.config_source) for config in made.configs}
        assert set(shown) == set(TOPIC_CONFIGS)
        assert shown["retention.ms"] == ("5", 1)
        assert shown["cleanup.policy"] == ("delete", 5)
        assert (refused.num_partitions, refused.replication_factor) == (-1, -1)
    assert made.topic_id == (served.controller.image.topics["t"].topic_id if version >= 7 else bytes(16))


@pytest.mark.parametrize("version", range(2, 8))
def test_validate_only_creates_nothing(served, version: int) -> None:
    good, bad = create(served, plain("t"), plain("u", 0), version=version, validate_only=True)
    assert (good.error_code, bad.error_code) == (0, ErrorCode.INVALID_PARTITIONS)
    assert not served.controller.image.topics


def test_create_with_an_assignment(cluster) -> None:
    topic = CreatableTopic(
        name="t",
        num_partitions=-1,
        replication_factor=-1,
        assignments=[
            CreatableReplicaAssignment(partition_index=0, broker_ids=[3, 1]),
            CreatableReplicaAssignment(partition_index=1, broker_ids=[2, 3]),
        ],
    )
    (made,) = create(cluster, topic)
    assert (made.error_code, made.num_partitions, made.replication_factor) == (0, 2, 2)
    records = cluster.controller.image.streamlets[made.topic_id]
    assert [record.replicas for record in records] == [(3, 1), (2, 3)]


@pytest.mark.parametrize("version", [2, 7])
def test_what_a_client_sent_is_not_quoted_at_length(served, version: int) -> None:
    """A string of the old versions holds 32,767 bytes; the answer must fit whatever the request was."""
    huge = "ä" * 16_000
    twice = plain(huge)
    bad_key, bad_value = plain("a"), plain("b", retention_ms="9" * 30_000)
    bad_key.configs = [CreatableTopicConfig(name=huge, value="1")]
    results = create(served, twice, twice, bad_key, bad_value, version=version)
    assert [each.error_code for each in results] == [
        ErrorCode.INVALID_REQUEST,
        ErrorCode.INVALID_CONFIG,
        ErrorCode.INVALID_CONFIG,
    ]
    assert all(len(each.error_message) < 1100 for each in results)


@pytest.mark.parametrize("version", range(1, 7))
def test_delete_by_name(served, version: int) -> None:
    create(served, plain("a"), plain("b"))
    if version >= 6:
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name) for name in ("a", "none")])
    else:
        request = DeleteTopicsRequest(topic_names=["a", "none"])
    gone, missing = served.call(20, version, request).responses
    assert (gone.name, gone.error_code) == ("a", 0)
    assert (missing.name, missing.error_code) == ("none", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert (missing.error_message is not None) == (version >= 5)
    assert set(served.controller.image.topics) == {"b"}


def test_delete_by_id(served) -> None:
    (made,) = create(served, plain("a"))
    states = [
        DeleteTopicState(topic_id=made.topic_id),
        DeleteTopicState(topic_id=b"?" * 16),
        DeleteTopicState(),
    ]
    gone, unknown, nothing = served.call(20, 6, DeleteTopicsRequest(topics=states)).responses
    assert (gone.name, gone.topic_id, gone.error_code) == ("a", made.topic_id, 0)
    assert (unknown.name, unknown.topic_id) == (None, b"?" * 16)
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert nothing.error_code == ErrorCode.INVALID_REQUEST
    assert not served.controller.image.topics


@pytest.mark.parametrize("version", range(4))
def test_create_partitions(served, version: int) -> None:
    create(served, plain("a", 2), plain("b", 2))

    def grow(name: str, count: int, *members: list[int], validate_only: bool = False):
        assignments = [CreatePartitionsAssignment(broker_ids=each) for each in members] or None
        topic = CreatePartitionsTopic(name=name, count=count, assignments=assignments)
        request = CreatePartitionsRequest(topics=[topic], validate_only=validate_only)
        (result,) = served.call(37, version, request).results
        assert result.name == name
        return result.error_code

    assert grow("a", 4, validate_only=True) == 0
    assert served.controller.image.topics["a"].partitions == 2
    assert grow("a", 4) == 0
    assert grow("b", 3, [1]) == 0
    assert grow("b", 4, [2]) == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert grow("b", 3) == ErrorCode.INVALID_PARTITIONS
    assert grow("none", 3) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert [served.controller.image.topics[name].partitions for name in "ab"] == [4, 3]


def pages(world, *names: str, limit: int = 2000, cursor: tuple[str, int] | None = None):
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=RequestCursor(topic_name=cursor[0], partition_index=cursor[1]) if cursor else None,
    )
    answer = world.call(75, 0, request)
    shown = [(t.name, t.error_code, [p.partition_index for p in t.partitions]) for t in answer.topics]
    after = answer.next_cursor
    return shown, (after.topic_name, after.partition_index) if after is not None else None


def test_describe_topic_partitions_in_pages(served) -> None:
    """The pages of Apache Kafka 4.3.1 for the same topics, limits and cursors."""
    create(served, plain("g1", 3), plain("g2", 3))
    all_of = [("g1", 0, [0, 1, 2]), ("g2", 0, [0, 1, 2])]
    unknown, invalid = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION
    assert pages(served, "g1", "g2", "nope", "a/b") == (
        [("a/b", invalid, []), *all_of, ("nope", unknown, [])],
        None,
    )
    assert pages(served) == (all_of, None)
    assert pages(served, "g1", "g1") == (all_of[:1], None)
    assert pages(served, "g2", "g1", limit=2) == ([("g1", 0, [0, 1])], ("g1", 2))
    assert pages(served, "g2", "g1", limit=2, cursor=("g1", 2)) == (
        [("g1", 0, [2]), ("g2", 0, [0])],
        ("g2", 1),
    )
    assert pages(served, "g1", "g2", limit=3, cursor=("g2", 0)) == (all_of[1:], None)
    assert pages(served, "g1", "g2", limit=0) == ([("g1", 0, [0])], ("g1", 1))
    assert pages(served, "g1", "g2", limit=6) == (all_of, None)
    assert pages(served, "g1", "g2", limit=3) == (all_of[:1], ("g2", 0))
    assert pages(served, "g1", "g2", limit=3, cursor=("g1", 50)) == ([("g1", 0, []), all_of[1]], None)
    assert pages(served, "nope", "g1", limit=1) == ([("g1", 0, [0])], ("g1", 1))
    refused = [("g1", ErrorCode.INVALID_REQUEST, []), ("g2", ErrorCode.INVALID_REQUEST, [])]
    assert pages(served, "g1", "g2", cursor=("zzz", 0)) == (refused, None)
    assert pages(served, "g1", "g2", cursor=("g1", -1)) == (refused, None)


def test_paging_survives_the_deletion_of_the_topic_in_the_cursor(served) -> None:
    create(served, plain("a", 2), plain("c", 2))
    assert pages(served, limit=1, cursor=("b", 1)) == ([("c", 0, [0])], ("c", 1))
    unknown = ("b", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, [])
    assert pages(served, "a", "b", "c", limit=1, cursor=("b", 1)) == ([unknown, ("c", 0, [0])], ("c", 1))


def test_describe_topic_partitions_shows_everything(cluster) -> None:
    create(cluster, CreatableTopic(name="t", num_partitions=1, replication_factor=2))
    answer = cluster.call(75, 0, DescribeTopicPartitionsRequest(topics=[TopicRequest(name="t")]))
    (topic,) = answer.topics
    assert topic.topic_id == cluster.controller.image.topics["t"].topic_id
    assert topic.topic_authorized_operations == TOPIC_OPERATIONS
    (partition,) = topic.partitions
    assert (partition.leader_id, partition.leader_epoch) == (1, 0)
    assert (partition.replica_nodes, partition.isr_nodes, partition.offline_replicas) == ([1, 2], [1, 2], [])
    assert (partition.eligible_leader_replicas, partition.last_known_elr) == ([], [])


def test_nothing_is_ever_being_reassigned(served) -> None:
    answer = served.call(46, 0, ListPartitionReassignmentsRequest(topics=None))
    assert (answer.error_code, answer.error_message, answer.topics) == (0, None, [])
