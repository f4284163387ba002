"""Conversations about what clients rarely say: odd frames, acks=0, empty lists, settings that matter late."""

from __future__ import annotations

import struct
from typing import Any

from compat_tests.support.frames import batch, record
from compat_tests.support.wire.build import LIST_OFFSETS, METADATA, T0, create, fetch, produce, topic
from compat_tests.support.wire.compare import Allowed, Conversation
from compat_tests.support.wire.producing import good, squeezed
from compat_tests.support.wire.talk import Talk
from kproto.wire.framing import request_frame
from kproto.wire.generated.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kproto.wire.generated.create_topics import CreateTopicsRequest
from kproto.wire.generated.delete_records import DeleteRecordsRequest, DeleteRecordsTopic
from kproto.wire.generated.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from kproto.wire.generated.fetch import FetchRequest, FetchTopic, ForgottenTopic
from kproto.wire.generated.list_offsets import ListOffsetsRequest, ListOffsetsTopic
from kproto.wire.generated.metadata import MetadataRequest
from kproto.wire.generated.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kproto.wire.generated.produce import PartitionProduceData, ProduceRequest, TopicProduceData

PRODUCE, FETCH, CREATE_TOPICS, DELETE_RECORDS, LEADER_EPOCH, LOG_DIRS, CREATE_PARTITIONS = (
    0,
    1,
    19,
    21,
    23,
    35,
    37,
)
UNKNOWN_TAGS = b"\2\x64\3abc\x7f\0"
"""Two tagged fields nobody knows: number 100 with three bytes, number 127 with none."""


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def frames(talk: Talk) -> None:
    """Headers and tagged fields."""
    head = struct.pack(">hhi", METADATA, 12, 7)
    nothing = b"\1\0\0"  # no topics, no creation, no operations
    for label, client in {
        "null client": b"\xff\xff",
        "empty client": b"\0\0",
        "client": b"\0\2ab",
        "client that is not UTF-8": b"\0\2\xff\xfe",
        "client behind the end": b"\x7f\xff",
        "client of length -2": b"\xff\xfe",
    }.items():
        talk.raw(label, framed(head + client + b"\0" + nothing + b"\0"))
    talk.raw("unknown tags in the header", framed(head + b"\0\1a" + UNKNOWN_TAGS + nothing + b"\0"))
    talk.raw("unknown tags in the body", framed(head + b"\0\1a\0" + nothing + UNKNOWN_TAGS))
    talk.raw("tags cut", framed(head + b"\0\1a\0" + nothing + b"\1\x64\5ab"))
    talk.raw("tags twice", framed(head + b"\0\1a\0" + nothing + b"\2\x64\0\x64\0"))
    talk.raw("tags in falling order", framed(head + b"\0\1a\0" + nothing + b"\2\x65\0\x64\0"))
    talk.raw("null list of topics", framed(head + b"\0\1a\0" + b"\0\0\0\0"))
    talk.raw("topics that are not there", framed(head + b"\0\1a\0" + b"\x05\0\0\0"))
    named = b"\2" + bytes(16) + b"\3\xff\xfe\0" + b"\0\0"
    talk.raw("topic that is not UTF-8", framed(head + b"\0\1a\0" + named + b"\0"))
    talk.raw("bool 2", framed(head + b"\0\1a\0" + b"\1\2\0\0"))
    talk.raw("body cut", framed(head + b"\0\1a\0" + b"\1"))
    whole = request_frame(METADATA, 9, MetadataRequest(topics=[]), 7)
    talk.raw("two in one piece", whole + whole)


def nulls(talk: Talk) -> None:
    """Lists of Produce and Fetch that are empty, then the same as null, which they may not be."""
    name = talk.make("t")
    place = {"topic_id": talk.ids[name]}
    given = TopicProduceData(name=name, **place)
    wanted, forgotten = FetchTopic(topic=name, **place), ForgottenTopic(topic=name, **place)
    zero, empty = bytes(4), b"\1"
    cases: tuple[tuple[str, int, tuple[int, ...], dict[str, Any], bytes, bytes], ...] = (
        ("topics", PRODUCE, (3, 8), {}, zero, b""),
        ("topics", PRODUCE, (9, 13), {}, empty, b"\0"),
        ("partitions", PRODUCE, (3, 8), {"topic_data": [given]}, zero, b""),
        ("partitions", PRODUCE, (9, 13), {"topic_data": [given]}, empty, b"\0\0"),
        ("topics", FETCH, (4,), {}, zero, b""),
        ("topics", FETCH, (7,), {}, zero, zero),
        ("topics", FETCH, (12, 13, 18), {}, empty, b"\1\1\0"),
        ("partitions", FETCH, (4,), {"topics": [wanted]}, zero, b""),
        ("partitions", FETCH, (12, 13, 18), {"topics": [wanted]}, empty, b"\0\1\1\0"),
        ("forgotten topics", FETCH, (7,), {}, zero, b""),
        ("forgotten topics", FETCH, (12, 13, 18), {}, empty, b"\1\0"),
        ("forgotten partitions", FETCH, (7,), {"forgotten_topics_data": [forgotten]}, zero, b""),
        ("forgotten partitions", FETCH, (12, 18), {"forgotten_topics_data": [forgotten]}, empty, b"\0\1\0"),
    )
    for label, key, versions, fields, count, rest in cases:
        for version in versions:
            message: Any = ProduceRequest(acks=1, timeout_ms=1000, **fields) if key == PRODUCE else None
            whole = request_frame(key, version, message or FetchRequest(max_wait_ms=0, **fields), 7)
            assert whole.endswith(count + rest)
            null = b"\xff" * 4 if count == zero else b"\0"
            talk.raw(f"{key} v{version} no {label}", whole)
            talk.raw(f"{key} v{version} null {label}", whole[: -len(count + rest)] + null + rest)


def unanswered(talk: Talk) -> None:
    """acks=0: what is right is stored, what is wrong closes the connection."""
    name = talk.make("silent")

    def send(label: str, data: bytes, version: int, at: str = name) -> None:
        part = PartitionProduceData(index=0, records=memoryview(data))
        one = TopicProduceData(name=at, topic_id=talk.ids.get(at, bytes(16)), partition_data=[part])
        talk.client.send_unanswered(
            PRODUCE, version, ProduceRequest(acks=0, timeout_ms=1000, topic_data=[one])
        )
        talk(METADATA, 9, MetadataRequest(topics=[]), f"after {label}, {version}")

    for version in (3, 9, 12, 13):
        send("a good one", good(), version)
        send("a bad one", good(crc=1), version)
        send("an unknown topic", good(), version, talk.name("unknown"))
    talk.client.send_unanswered(PRODUCE, 9, ProduceRequest(acks=0, timeout_ms=1000))
    talk(METADATA, 9, MetadataRequest(topics=[]), "after nothing")
    fetch(talk, "what was stored", (name, 0, 0))


def settings(talk: Talk) -> None:
    """Topics whose settings change what happens to their batches."""
    for label, configs in {
        "isr": {"min.insync.replicas": "2"},
        "producer": {"compression.type": "producer"},
        "segments": {"segment.bytes": "1048576"},
    }.items():
        name = talk.make(label, 1, configs)
        for acks in (1, -1):
            produce(talk, f"{label}, acks {acks}", name, good(2), acks=acks)
        produce(talk, f"{label}, compressed", name, squeezed(4))
        fetch(talk, f"{label}", (name, 0, 0))
    name = talk.make("small-segments", 1, {"segment.bytes": "1048576", "max.message.bytes": "3000000"})
    produce(talk, "above segment.bytes", name, good(1, records=record(0, b"x" * 1_100_000)))
    for timeout in (0, -1):
        part = PartitionProduceData(index=0, records=memoryview(good()))
        one = TopicProduceData(name=name, partition_data=[part])
        talk(PRODUCE, 9, ProduceRequest(acks=-1, timeout_ms=timeout, topic_data=[one]), f"timeout {timeout}")
    for codec in ("gzip", "zstd", "uncompressed"):
        name = talk.make(codec, 1, {"compression.type": codec})
        produce(talk, f"to {codec}", name, batch([b"v" * 500], times_ms=(T0, T0)))
        fetch(talk, codec, (name, 0, 0))


def empty(talk: Talk) -> None:
    """Topics without partitions, the same thing twice, internal topics."""
    talk.internal()
    name = talk.make("there", 2)
    unknown = talk.name("unknown")
    for which in (name, unknown):
        label = which.removeprefix(talk.mark)
        for version in (4, 9, 12):
            talk(
                FETCH,
                version,
                FetchRequest(max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic=which)]),
                label,
            )
        for version in (1, 7, 11):
            talk(
                LIST_OFFSETS,
                version,
                ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=which)]),
                label,
            )
        for version in (2, 4):
            wanted = [OffsetForLeaderTopic(topic=which)]
            talk(LEADER_EPOCH, version, OffsetForLeaderEpochRequest(replica_id=-1, topics=wanted), label)
        for version in (0, 2):
            given = [DeleteRecordsTopic(name=which)]
            talk(DELETE_RECORDS, version, DeleteRecordsRequest(topics=given, timeout_ms=1000), label)
        dirs = [DescribableLogDirTopic(topic=which)]
        talk(LOG_DIRS, 4, DescribeLogDirsRequest(topics=dirs), label)
    part = OffsetForLeaderPartition(partition=0, leader_epoch=0)
    twice = [OffsetForLeaderTopic(topic=name, partitions=[part, part])]
    talk(LEADER_EPOCH, 4, OffsetForLeaderEpochRequest(replica_id=-1, topics=twice), "partition twice")
    more = CreatePartitionsTopic(name="__consumer_offsets", count=60, assignments=None)
    request = CreatePartitionsRequest(topics=[more], timeout_ms=5000, validate_only=True)
    talk(CREATE_PARTITIONS, 3, request, "of an internal topic")
    for timeout in (0, -1):
        made = [topic(talk.name(f"timeout{timeout}"))]
        talk(CREATE_TOPICS, 7, CreateTopicsRequest(topics=made, timeout_ms=timeout), f"timeout {timeout}")
    create(
        talk, "with a null config", topic(talk.name("nulls"), configs={"retention.ms": None, "flush.ms": "1"})
    )


FRAMES = (Allowed("(client|topic) that is not UTF-8 ", "ids and names are text; Kafka reads U+FFFD instead"),)
SETTINGS = (
    Allowed(
        "Fetch v12 (gzip|zstd) ",
        "batches are kept as their producers sent them, whatever compression.type says",
    ),
)
EMPTY = (
    Allowed("CreatePartitions v3 of an internal topic ", "groups would lose their offsets"),
    Allowed("CreateTopics v7 timeout (0|-1) ", "creating a topic takes no time that could run out"),
)
CONVERSATIONS = (
    Conversation("frames", frames, FRAMES),
    Conversation("nulls", nulls),
    Conversation("unanswered", unanswered),
    Conversation("settings", settings, SETTINGS),
    Conversation("empty", empty, EMPTY),
)
