"""Conversations about topics that change while in use: trimmed, deleted and made again, set differently."""

from __future__ import annotations

from typing import Any

from compat_tests.support.frames import batch, record
from compat_tests.support.wire.build import (
    FETCH,
    METADATA,
    T0,
    create,
    fetch,
    fetch_request,
    list_offsets,
    produce,
    topic,
)
from compat_tests.support.wire.compare import Allowed, Conversation
from compat_tests.support.wire.fetching import ABORTED
from compat_tests.support.wire.producing import TIMING
from compat_tests.support.wire.talk import Talk
from kproto.wire.compression import compress
from kproto.wire.generated.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kproto.wire.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kproto.wire.generated.delete_topics import DeleteTopicsRequest
from kproto.wire.generated.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from kproto.wire.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kproto.wire.generated.metadata import MetadataRequest, MetadataRequestTopic
from kproto.wire.generated.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

DELETE_TOPICS, DELETE_RECORDS, LEADER_EPOCH, LOG_DIRS, CREATE_PARTITIONS, INCREMENTAL = 20, 21, 23, 35, 37, 44
TIMES = (T0 - 1, T0, T0 + 1, T0 + 9, T0 + 10, T0 + 15, T0 + 19, T0 + 20, T0 + 29, T0 + 30)


def spread(first: int, codec: int = 0) -> bytes:
    """Ten records, 1 ms apart, from T0 + ``first`` on."""
    body = b"".join(record(place, b"v" * 50, place) for place in range(10))
    stamps = T0 + first, T0 + first + 9
    return batch(
        [b""] * 10, attributes=codec, records=bytes(compress(codec, body)) if codec else body, times_ms=stamps
    )


def trimmed(talk: Talk) -> None:
    """Look-ups, fetches and ends of a log whose records are deleted bit by bit."""
    for codec in (0, 1, 4):
        name = talk.make(f"trimmed{codec}")
        for first in (0, 10, 20):
            produce(talk, "ten", name, spread(first, codec))
        for before in (0, 3, 10, 15, 29, 30):
            part = DeleteRecordsPartition(partition_index=0, offset=before)
            topics = [DeleteRecordsTopic(name=name, partitions=[part])]
            talk(DELETE_RECORDS, 2, DeleteRecordsRequest(topics=topics, timeout_ms=9000), f"below {before}")
            label = f"codec {codec}, from {before}:"
            wanted = [DescribableLogDirTopic(topic=name, partitions=[0])]
            talk(LOG_DIRS, 4, DescribeLogDirsRequest(topics=wanted), f"{label} size")
            list_offsets(talk, label, name, -1, -2, -3, -4, *TIMES, version=8)
            for offset in (0, 2, 3, 14, 15, 29, 30):
                fetch(talk, f"{label} fetch {offset}", (name, 0, offset), version=12)
            for epoch in (0, 1):
                asked = OffsetForLeaderPartition(partition=0, leader_epoch=epoch)
                epochs = [OffsetForLeaderTopic(topic=name, partitions=[asked])]
                request = OffsetForLeaderEpochRequest(replica_id=-1, topics=epochs)
                talk(LEADER_EPOCH, 4, request, f"{label} epoch {epoch}")
        produce(talk, "and more", name, spread(30, codec))
        list_offsets(talk, "at last", name, -1, -2, -3, *TIMES, version=8)


def again(talk: Talk) -> None:
    """A topic that is deleted, and made again, while a fetch session has it."""
    for version in (7, 12, 13, 18):
        name, other = talk.make(f"again{version}"), talk.make(f"stays{version}")
        produce(talk, "before", name, spread(0), version=min(version, 13))
        produce(talk, "before", other, spread(0), version=min(version, 13))
        opened = fetch_request(talk, version, [(name, 0, 10), (other, 0, 10)], session_epoch=0)
        session = talk.quietly(FETCH, version, opened).session_id
        talk.client.call(DELETE_TOPICS, 5, DeleteTopicsRequest(topic_names=[name], timeout_ms=9000))
        talk.settle()
        epochs = iter(range(1, 9))

        def ask(
            label: str, *wanted: Any, version: int = version, session: int = session, epochs: Any = epochs
        ) -> None:
            request = fetch_request(talk, version, wanted, session_id=session, session_epoch=next(epochs))
            answer = talk.quietly(FETCH, version, request)
            if not isinstance(answer, str):
                answer.session_id = int(answer.session_id == session)
            talk.note(f"Fetch v{version} {label}", answer)

        ask("deleted")
        ask("still deleted")
        produce(talk, "to what is deleted", name, spread(0), version=min(version, 13))
        fetch(talk, "of what is deleted", (name, 0, 0), version=version)
        old = talk.ids[name]
        talk.make(f"again{version}")
        ask("made again")
        produce(talk, "to the new one", name, spread(0), version=min(version, 13))
        ask("made again, with data")
        ask("made again, asked for", (name, 0, 0))
        produce(talk, "to the old id", old, spread(0), version=13)
        fetch(talk, "of the old id", (old, 0, 0), version=13)
        fetch(talk, "of the new one", (name, 0, 0), version=version)


def reset(talk: Talk) -> None:
    """Settings that change under a topic in use; partitions that are added."""
    name = talk.make("reset")

    def change(key: str, value: str | None) -> None:
        config = AlterableConfig(name=key, config_operation=0 if value is not None else 1, value=value)
        resource = AlterConfigsResource(resource_type=2, resource_name=name, configs=[config])
        talk(INCREMENTAL, 1, IncrementalAlterConfigsRequest(resources=[resource]), f"{key} {value}")
        talk.settle()

    def send(label: str) -> None:
        produce(talk, f"{label}: small", name, batch([b"x"], times_ms=(T0, T0)))
        produce(talk, f"{label}: large", name, batch([b"x" * 5000], times_ms=(T0, T0)))
        produce(talk, f"{label}: ahead", name, batch([b"x"], times_ms=(talk.now + 60_000_000,) * 2))
        produce(talk, f"{label}: old", name, batch([b"x"], times_ms=(1, 1)))

    send("default")
    for key, value in (
        ("max.message.bytes", "1000"),
        ("message.timestamp.before.max.ms", "100000000"),
        ("message.timestamp.after.max.ms", "100000000"),
        ("message.timestamp.type", "LogAppendTime"),
        ("max.message.bytes", None),
        ("message.timestamp.type", "CreateTime"),
    ):
        change(key, value)
        send(f"{key} {value}")
    fetch(talk, "everything", (name, 0, 0))
    more = [CreatePartitionsTopic(name=name, count=3, assignments=None)]
    talk(CREATE_PARTITIONS, 3, CreatePartitionsRequest(topics=more, timeout_ms=9000), "more")
    talk.settle()
    produce(talk, "to all", name, *(batch([b"x"], times_ms=(T0, T0)) for _ in range(4)))
    fetch(talk, "of all", *((name, number, 0) for number in range(4)))
    wanted = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
    talk(METADATA, 9, wanted, "of all")
    create(talk, "exists", topic(name, 3))


TRIMMED = (
    Allowed(
        "from 30: size .*partition_size",
        "what is deleted wholly goes at once; Kafka keeps its last file a while",
    ),
    Allowed("from 30: -3 ", "Kafka finds a record that is deleted but still in a file; to us it is gone"),
)
AGAIN = (
    ABORTED,
    Allowed(
        r"Fetch v1[38] (still )?(deleted|made again).*error_code: kafka (3|103), kproto 100",
        "Kafka's session remembers the name of an id, to us the id is unknown; clients ask for metadata "
        "in all cases",
    ),
)
CONVERSATIONS = (
    Conversation("trimmed", trimmed, TRIMMED),
    Conversation("again", again, AGAIN),
    Conversation("reset", reset, (*TIMING, ABORTED)),
)
