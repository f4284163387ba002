"""Conversations about topics: made, changed, described, deleted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compat_tests.support.frames import batch
from compat_tests.support.wire.build import create, produce, topic
from compat_tests.support.wire.compare import Allowed, Conversation
from compat_tests.support.wire.talk import NO_ID, Talk
from kproto.wire.generated.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kproto.wire.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kproto.wire.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kproto.wire.generated.describe_cluster import DescribeClusterRequest
from kproto.wire.generated.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from kproto.wire.generated.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    RequestCursor,
    TopicRequest,
)
from kproto.wire.generated.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from kproto.wire.generated.metadata import MetadataRequest, MetadataRequestTopic

METADATA, DELETE_TOPICS, DELETE_RECORDS = 3, 20, 21
LOG_DIRS, CREATE_PARTITIONS, REASSIGNMENTS, CLUSTER, TOPIC_PARTITIONS = 35, 37, 46, 60, 75
BAD_NAMES = ("", ".", "..", "a b", "a/b", "ü", "x" * 250, "a\nb")


def creating(talk: Talk) -> None:
    """CreateTopics."""
    talk.internal()
    talk.make("there")
    for version in range(2, 8):
        create(talk, "new", topic(talk.name(f"v{version}")), version=version)
        create(talk, "validate only", topic(talk.name("not-made"), 3), version=version, validate=True)
    for bad in BAD_NAMES:
        create(talk, f"name {bad[:5]!r}", topic(bad))
    create(talk, "x" * 3, topic(talk.name("x" * (249 - len(talk.mark)))))
    create(talk, "exists", topic(talk.name("there")))
    create(talk, "exists, validate only", topic(talk.name("there")), validate=True)
    create(talk, "collides", topic(talk.name("a.b")), topic(talk.name("a_b")))
    create(talk, "collides with existing", topic(talk.name("a_b")))
    create(talk, "twice", topic(talk.name("twice")), topic(talk.name("twice")), topic(talk.name("once")))
    create(talk, "twice with other counts", topic(talk.name("2x"), 1), topic(talk.name("2x"), 2))
    for count in (0, -1, -2, 2**31 - 1, 10_001):
        create(talk, f"{count} partitions", topic(talk.name(f"p{count}"), count), validate=count > 10_000)
    for factor in (0, -1, -2, 2, 32767):
        create(talk, f"factor {factor}", topic(talk.name(f"f{factor}"), 1, factor))
    create(talk, "defaults in v3", topic(talk.name("defaults3"), -1, -1), version=3)
    create(talk, "defaults in v4", topic(talk.name("defaults4"), -1, -1), version=4)
    create(talk, "no topics")
    create(talk, "internal name", topic("__consumer_offsets", 1), validate=True)
    create(talk, "wrong in two ways", topic(talk.name("there"), 0, 5))
    for count, factor in ((0, 5), (0, 0), (-2, -2), (10_001, 0)):
        create(talk, f"{count} partitions, factor {factor}", topic(talk.name("both"), count, factor))
    for label, bad in {
        "bad name and counts": topic("a b", 0, 9, {"no.such": "1"}),
        "there and a bad config": topic(talk.name("there"), 1, 1, {"no.such": "1"}),
        "bad config and counts": topic(talk.name("both"), 0, 9, {"no.such": "1"}),
        "bad config and assignment": topic(talk.name("both"), -1, -1, {"no.such": "1"}, {0: [7]}),
        "collides and bad factor": topic(talk.name("a_b"), 1, 9),
    }.items():
        create(talk, label, bad)
    create(talk, "one good, one bad", topic(talk.name("good")), topic("bad name"))
    _assigned(talk)
    _configured(talk)


def _assigned(talk: Talk) -> None:
    cases: Sequence[tuple[str, int, int, dict[int, list[int]]]] = (
        ("right", -1, -1, {0: [1], 1: [1]}),
        ("with counts", 2, 1, {0: [1], 1: [1]}),
        ("with count only", 1, -1, {0: [1]}),
        ("with factor only", -1, 1, {0: [1]}),
        ("hole", -1, -1, {0: [1], 2: [1]}),
        ("not from 0", -1, -1, {1: [1]}),
        ("negative partition", -1, -1, {-1: [1]}),
        ("unknown broker", -1, -1, {0: [7]}),
        ("broker twice", -1, -1, {0: [1, 1]}),
        ("no broker", -1, -1, {0: []}),
        ("different lengths", -1, -1, {0: [1], 1: [1, 7]}),
        ("negative broker", -1, -1, {0: [-1]}),
    )
    for label, count, factor, assignments in cases:
        name = talk.name("as-" + label.replace(" ", "-"))
        create(talk, f"assignment {label}", topic(name, count, factor, assignments=assignments))


def _configured(talk: Talk) -> None:
    cases: Sequence[tuple[str, dict[str, str | None]]] = (
        ("good", {"retention.ms": "1000", "cleanup.policy": "compact,delete"}),
        ("spaces", {"retention.ms": " 1000 ", "cleanup.policy": " compact , delete "}),
        ("unknown", {"no.such.config": "1"}),
        ("not a number", {"retention.ms": "soon"}),
        ("below its minimum", {"segment.bytes": "1"}),
        ("null", {"retention.ms": None}),
        ("empty", {"retention.ms": ""}),
        ("empty policy", {"cleanup.policy": ""}),
        ("twice in a policy", {"cleanup.policy": "delete,delete"}),
        ("bad policy", {"cleanup.policy": "burn"}),
        ("bad compression", {"compression.type": "rar"}),
        ("compression", {"compression.type": "zstd"}),
        ("capitals", {"compression.type": "ZSTD"}),
        ("bad bool", {"preallocate": "yes"}),
        ("bool", {"preallocate": "TRUE"}),
        ("too large an int", {"segment.bytes": "2147483648"}),
        ("retention -2", {"retention.ms": "-2"}),
        ("isr 0", {"min.insync.replicas": "0"}),
        ("isr 2", {"min.insync.replicas": "2"}),
        ("ratio", {"min.cleanable.dirty.ratio": "1.5"}),
        ("ratio 0.25", {"min.cleanable.dirty.ratio": "0.25"}),
        ("type", {"message.timestamp.type": "logappendtime"}),
        ("remote", {"remote.storage.enable": "true"}),
        ("local above", {"local.retention.ms": "1000", "retention.ms": "10"}),
        ("lag order", {"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "1"}),
        ("throttled", {"leader.replication.throttled.replicas": "*"}),
        ("throttled wrongly", {"leader.replication.throttled.replicas": "a-b"}),
        ("level", {"compression.zstd.level": "100"}),
        ("gzip level", {"compression.gzip.level": "0"}),
        ("hex", {"retention.ms": "0x10"}),
        ("plus", {"retention.ms": "+5"}),
        ("broker name", {"log.retention.ms": "1"}),
        ("internal", {"internal.segment.bytes": "1000000"}),
    )
    for label, configs in cases:
        name = talk.name("c-" + label.replace(" ", "-"))
        create(talk, f"config {label}", topic(name, configs=configs))
    create(talk, "config in v4", topic(talk.name("c4"), configs={"retention.ms": "7"}), version=4)


def metadata(talk: Talk) -> None:
    """Metadata."""
    first, second = talk.make("first", 2), talk.make("second")
    known, unknown = talk.ids[second], talk.name("unknown")

    def ask(version: int, label: str, *topics: Any, **fields: Any) -> Any:
        wanted = [
            MetadataRequestTopic(topic_id=each, name=None)
            if isinstance(each, bytes)
            else MetadataRequestTopic(name=each)
            for each in topics
        ]
        fields = {"allow_auto_topic_creation": version < 4, **fields}
        if version < 4:
            fields.pop("allow_auto_topic_creation")
        return talk(METADATA, version, MetadataRequest(topics=wanted, **fields), label)

    for version in range(14):
        ask(version, "two", first, second)
        ask(version, "same twice", first, first)
        for bad in BAD_NAMES:
            ask(version, f"name {bad[:5]!r}", bad)
        if version >= 1:
            ask(version, "no topics")
        if version >= 4:
            ask(version, "unknown", unknown)
        if 8 <= version <= 10:
            ask(version, "cluster operations", include_cluster_authorized_operations=True)
        if version >= 8:
            ask(version, "operations", first, unknown, include_topic_authorized_operations=True)
        if version >= 12:
            ask(version, "by id", known, NO_ID)
            ask(version, "by id and name", known, first)
            ask(version, "zero id without name", bytes(16))
            ask(version, "by unknown id, creation allowed", NO_ID, allow_auto_topic_creation=True)
        if version >= 10:
            _both(talk, version, first, known)
    _created_by_asking(talk)
    _everything(talk, {first, second})


def _both(talk: Talk, version: int, name: str, topic_id: bytes) -> None:
    """Name and id of different topics in one entry; a null name."""
    for label, entry in (
        ("name and id", MetadataRequestTopic(name=name, topic_id=topic_id)),
        ("null name", MetadataRequestTopic(name=None)),
    ):
        request = MetadataRequest(topics=[entry], allow_auto_topic_creation=False)
        talk(METADATA, version, request, label)


def _created_by_asking(talk: Talk) -> None:
    for version in (0, 1, 4, 9, 13):
        name = talk.name(f"auto{version}")
        request = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=True)
        talk(METADATA, version, request, "creates")
        talk.until(METADATA, version, request, "created", lambda a: bool(a.topics[0].partitions))
    bad = [MetadataRequestTopic(name=name) for name in ("a b", talk.name("au.to"), talk.name("au_to"))]
    request = MetadataRequest(topics=bad, allow_auto_topic_creation=True)
    talk(METADATA, 12, request, "creates, bad names")


def _everything(talk: Talk, mine: set[str]) -> None:
    """All topics, of which only ours are looked at."""
    for version in range(14):
        request = MetadataRequest(topics=[] if version == 0 else None)
        answer = talk.quietly(METADATA, version, request)
        if not isinstance(answer, str):
            answer.topics = [each for each in answer.topics if each.name in mine]
        talk.note(f"Metadata v{version} all", answer)


def describing(talk: Talk) -> None:
    """DescribeTopicPartitions, DescribeCluster, DescribeLogDirs, ListPartitionReassignments."""
    names = [talk.make("a", 3), talk.make("b"), talk.make("c", 2)]

    def ask(
        label: str, topics: Sequence[str], limit: int = 2000, cursor: tuple[str, int] | None = None
    ) -> None:
        place = RequestCursor(topic_name=cursor[0], partition_index=cursor[1]) if cursor else None
        wanted = [TopicRequest(name=name) for name in topics]
        request = DescribeTopicPartitionsRequest(topics=wanted, response_partition_limit=limit, cursor=place)
        talk(TOPIC_PARTITIONS, 0, request, label)

    ask("all", names)
    ask("other order", names[::-1])
    ask("twice", [names[0], names[0]])
    ask("unknown", [talk.name("unknown"), names[1]])
    for bad in BAD_NAMES:
        ask(f"name {bad[:5]!r}", [bad])
    for limit in (1, 2, 3, 4, 5, 6, 7, 0, -1):
        ask(f"limit {limit}", names, limit)
    for cursor in ((names[0], 0), (names[0], 1), (names[0], 3), (names[0], 9), (names[1], 0), (names[2], 1)):
        ask(f"cursor {cursor[0][-1]} {cursor[1]}", names, 2, cursor)
    ask("cursor at no topic of the request", names[:1], 2, (names[2], 0))
    ask("cursor at unknown topic", names, 2, (talk.name("aa"), 0))
    ask("cursor at unknown topic of the request", [*names, talk.name("aa")], 2, (talk.name("aa"), 2))
    ask("cursor behind all", names, 2, (talk.name("z"), 0))
    ask("negative cursor", names, 2, (names[0], -1))
    some = [names[0], talk.name("aa"), names[1], talk.name("bb"), names[2], talk.name("d")]
    for limit in range(1, 8):
        ask(f"unknown between, limit {limit}", some, limit)
        for cursor in ((some[0], 2), (some[0], 3), (some[1], 0), (some[2], 0), (some[3], 5), (some[4], 1)):
            ask(f"unknown between, limit {limit}, cursor {cursor[0][-2:]} {cursor[1]}", some, limit, cursor)
    _cluster(talk)
    _places(talk, names)


def _cluster(talk: Talk) -> None:
    for version in range(3):
        for operations in (False, True):
            request = DescribeClusterRequest(include_cluster_authorized_operations=operations)
            talk(CLUSTER, version, request, f"operations={operations}")
        if version >= 1:
            for kind in (0, 2, 3):
                talk(
                    CLUSTER, version, DescribeClusterRequest(endpoint_type=kind), f"endpoints of type {kind}"
                )
    talk(CLUSTER, 2, DescribeClusterRequest(include_fenced_brokers=True), "fenced too")


def _places(talk: Talk, names: Sequence[str]) -> None:
    produce(talk, "something", names[0], batch([b"x" * 1000], times_ms=(1, 1)))
    for version in range(1, 6):
        wanted = [
            DescribableLogDirTopic(topic=names[0], partitions=[0, 1]),
            DescribableLogDirTopic(topic=names[1], partitions=[0, 5]),
            DescribableLogDirTopic(topic=talk.name("unknown"), partitions=[0]),
        ]
        talk(LOG_DIRS, version, DescribeLogDirsRequest(topics=wanted))
        talk(LOG_DIRS, version, DescribeLogDirsRequest(topics=[]), "no topics")
    for label, topics in (
        ("all", None),
        ("none", []),
        ("one", [ListPartitionReassignmentsTopics(name=names[0], partition_indexes=[0, 9])]),
        ("unknown", [ListPartitionReassignmentsTopics(name=talk.name("unknown"), partition_indexes=[0])]),
    ):
        talk(REASSIGNMENTS, 0, ListPartitionReassignmentsRequest(topics=topics), label)


def growing(talk: Talk) -> None:
    """CreatePartitions."""
    name = talk.make("grows", 2)

    def ask(label: str, count: int, *assignments: Sequence[int], version: int = 3, **fields: Any) -> None:
        given = [CreatePartitionsAssignment(broker_ids=list(each)) for each in assignments] or None
        wanted = [CreatePartitionsTopic(name=fields.pop("name", name), count=count, assignments=given)]
        talk(
            CREATE_PARTITIONS,
            version,
            CreatePartitionsRequest(topics=wanted, timeout_ms=9000, **fields),
            label,
        )

    for version in range(4):
        ask("validate only", 9, version=version, validate_only=True)
        ask("more", 3 + version, version=version)
    for count in (6, 5, 0, -1):
        ask(f"to {count}", count)
    ask("too many", 2**31 - 1)
    ask("assigned", 7, [1])
    ask("assigned, too few", 9, [1])
    ask("assigned, too many", 8, [1], [1])
    ask("assigned to unknown", 8, [7])
    ask("assigned to the same twice", 8, [1, 1])
    ask("assigned to two", 8, [1, 7])
    ask("assigned to none", 8, [])
    ask("unknown topic", 8, name=talk.name("unknown"))
    ask("bad name", 8, name="a b")
    ask("empty name", 8, name="")
    twice = [CreatePartitionsTopic(name=name, count=count, assignments=None) for count in (8, 9)]
    talk(CREATE_PARTITIONS, 3, CreatePartitionsRequest(topics=twice, timeout_ms=9000), "twice")
    talk(CREATE_PARTITIONS, 3, CreatePartitionsRequest(topics=[], timeout_ms=9000), "none")
    talk.settle()
    talk(METADATA, 9, MetadataRequest(topics=[MetadataRequestTopic(name=name)]), "afterwards")


def deleting(talk: Talk) -> None:
    """DeleteTopics and DeleteRecords."""
    for version in range(1, 6):
        names = [talk.make(f"gone{version}"), talk.name("unknown"), "a b", ""]
        talk(DELETE_TOPICS, version, DeleteTopicsRequest(topic_names=names, timeout_ms=9000), "by name")
        talk(DELETE_TOPICS, version, DeleteTopicsRequest(topic_names=[], timeout_ms=9000), "none")
    twice = talk.make("twice")
    talk(DELETE_TOPICS, 5, DeleteTopicsRequest(topic_names=[twice, twice], timeout_ms=9000), "twice")

    def ask(label: str, *states: tuple[str | None, bytes]) -> None:
        topics = [DeleteTopicState(name=name, topic_id=topic_id) for name, topic_id in states]
        talk(DELETE_TOPICS, 6, DeleteTopicsRequest(topics=topics, timeout_ms=9000), label)

    first, second, third = talk.make("first"), talk.make("second"), talk.make("third")
    zero = bytes(16)
    ask("name and id", (first, talk.ids[first]))
    ask("neither", (None, zero))
    ask("unknown id and name", (None, NO_ID), (talk.name("unknown"), zero))
    ask("by id twice", (None, talk.ids[second]), (None, talk.ids[second]))
    ask("by id and by name", (None, talk.ids[second]), (second, zero))
    ask("by id", (None, talk.ids[first]))
    ask("again", (None, talk.ids[first]))
    ask("by name", (third, zero), ("a b", zero))
    ask("none")
    talk.settle()
    gone = MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in (first, third)], allow_auto_topic_creation=False
    )
    talk(METADATA, 9, gone, "afterwards")
    _deleting_records(talk)


def _deleting_records(talk: Talk) -> None:
    name = talk.make("records", 2)
    for _ in range(3):
        produce(talk, "five", name, batch([b"v"] * 5, times_ms=(1, 1)))

    def ask(version: int, label: str, offset: int, partition: int = 0, at: str = name) -> None:
        part = DeleteRecordsPartition(partition_index=partition, offset=offset)
        topics = [DeleteRecordsTopic(name=at, partitions=[part])]
        talk(DELETE_RECORDS, version, DeleteRecordsRequest(topics=topics, timeout_ms=9000), label)

    for version in range(3):
        ask(version, "forward", 3 + version)
        ask(version, "backward", 1)
        ask(version, "beyond the end", 16)
        ask(version, "below -1", -2)
        ask(version, "of no partition", 0, 5)
        ask(version, "of no topic", 0, 0, talk.name("unknown"))
        ask(version, "of a bad name", 0, 0, "a b")
        talk(DELETE_RECORDS, version, DeleteRecordsRequest(topics=[], timeout_ms=9000), "none")
    produce(talk, "after deleting", name, batch([b"v"], times_ms=(1, 1)))
    ask(2, "all", -1)
    ask(2, "all again", -1)
    ask(2, "all of an empty one", -1, 1)
    produce(talk, "after deleting all", name, batch([b"v"], times_ms=(1, 1)))
    compacted = talk.make("compacted", 1, {"cleanup.policy": "compact"})
    ask(2, "of a compacted topic", 0, 0, compacted)
    same = DeleteRecordsPartition(partition_index=0, offset=0)
    topics = [DeleteRecordsTopic(name=name, partitions=[same, same])]
    talk(DELETE_RECORDS, 2, DeleteRecordsRequest(topics=topics, timeout_ms=9000), "twice")


KAFKA_FAILS = "Kafka fails inside (UNKNOWN_SERVER_ERROR)"
CREATING = (
    Allowed(
        r"config spaces .*\.value: kafka (' 1000 '|' compact , delete ')",
        "blanks around values are not kept, Kafka echoes the text that was sent",
    ),
    Allowed("config internal ", "internal.segment.bytes is a knob of Kafka's own tests"),
)
ASKING = (
    Allowed("by id and name ", "Kafka forgets the names when there are ids, too; we answer both"),
    Allowed("(zero id without|null) name ", KAFKA_FAILS),
    Allowed(
        r"v\d+ creates",
        "the answer waits for the new topic, where Kafka says unknown and lets the client ask again",
    ),
)
DESCRIBING = (Allowed("DescribeTopicPartitions v0 name '' ", KAFKA_FAILS),)
GROWING = (Allowed("too many .*error_code: kafka -1, kproto 44", KAFKA_FAILS),)
CONVERSATIONS = (
    Conversation("creating", creating, CREATING),
    Conversation("metadata", metadata, ASKING),
    Conversation("describing", describing, DESCRIBING),
    Conversation("growing", growing, GROWING),
    Conversation("deleting", deleting),
)
