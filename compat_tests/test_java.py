"""Java kafka-clients 4.3.1: producer, consumer, AdminClient (scenarios in java/src)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from compat_tests.support.java import Jvm
from compat_tests.support.target import Target
from compat_tests.support.topics import unique

NewTopic = Callable[..., str]
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
ASSIGNORS = ["RangeAssignor", "CooperativeStickyAssignor"]

# What Apache Kafka 4.3.1 answers for a topic without settings: type and value.
TOPIC_DEFAULTS = {
    "cleanup.policy": "LIST delete",
    "compression.gzip.level": "INT -1",
    "compression.lz4.level": "INT 9",
    "compression.type": "STRING producer",
    "compression.zstd.level": "INT 3",
    "delete.retention.ms": "LONG 86400000",
    "file.delete.delay.ms": "LONG 60000",
    "flush.messages": "LONG 9223372036854775807",
    "flush.ms": "LONG 9223372036854775807",
    "follower.replication.throttled.replicas": "LIST ",
    "index.interval.bytes": "INT 4096",
    "leader.replication.throttled.replicas": "LIST ",
    "local.retention.bytes": "LONG -2",
    "local.retention.ms": "LONG -2",
    "max.compaction.lag.ms": "LONG 9223372036854775807",
    "max.message.bytes": "INT 1048588",
    "message.timestamp.after.max.ms": "LONG 3600000",
    "message.timestamp.before.max.ms": "LONG 9223372036854775807",
    "message.timestamp.type": "STRING CreateTime",
    "min.cleanable.dirty.ratio": "DOUBLE 0.5",
    "min.compaction.lag.ms": "LONG 0",
    "min.insync.replicas": "INT 1",
    "preallocate": "BOOLEAN false",
    "remote.log.copy.disable": "BOOLEAN false",
    "remote.log.delete.on.disable": "BOOLEAN false",
    "remote.storage.enable": "BOOLEAN false",
    "retention.bytes": "LONG -1",
    "retention.ms": "LONG 604800000",
    "segment.bytes": "INT 1073741824",
    "segment.index.bytes": "INT 10485760",
    "segment.jitter.ms": "LONG 0",
    "segment.ms": "LONG 604800000",
    "unclean.leader.election.enable": "BOOLEAN false",
}


@pytest.mark.parametrize("acks", ["0", "1", "all"])
@pytest.mark.parametrize("codec", CODECS)
def test_produce_consume(jvm: Jvm, new_topic: NewTopic, codec: str, acks: str) -> None:
    topic = new_topic(partitions=4)
    facts = jvm.scenario("produceConsume", topic=topic, codec=codec, acks=acks, count=2000, partitions=4)
    assert facts["records"] == 2000


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_messages_of_900_kb(jvm: Jvm, new_topic: NewTopic, codec: str) -> None:
    assert jvm.scenario("largeMessages", topic=new_topic(), codec=codec)["messages"] == 8


def test_seek_by_time(jvm: Jvm, new_topic: NewTopic) -> None:
    jvm.scenario("seekByTime", topic=new_topic())


def test_pause_and_resume(jvm: Jvm, new_topic: NewTopic) -> None:
    jvm.scenario("pauseResume", topic=new_topic(partitions=2))


def test_commit_and_resume(jvm: Jvm, new_topic: NewTopic, group: str) -> None:
    assert jvm.scenario("commitResume", topic=new_topic(), group=group)["position"] == 400


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_members_join_leave_and_vanish(jvm: Jvm, new_topic: NewTopic, group: str, assignor: str) -> None:
    topic = new_topic(partitions=6)
    name = f"org.apache.kafka.clients.consumer.{assignor}"
    facts = jvm.scenario("groupRounds", topic=topic, group=group, assignor=name, partitions=6)
    assert facts["deliveries"] == 800, "a planned hand-over or a clean commit delivered something twice"


@pytest.mark.parametrize("name", ["adminTopics", "adminErrors", "adminCluster", "adminOffsets"])
def test_admin(jvm: Jvm, name: str) -> None:
    jvm.scenario(name, topic=unique("admin"))


def test_admin_configs(jvm: Jvm) -> None:
    shown = jvm.scenario("adminConfigs", topic=unique("admin"))["defaults"]
    kafkas = {name: value for name, value in shown.items() if not name.startswith("kproto.")}
    assert kafkas == TOPIC_DEFAULTS


def test_admin_groups(jvm: Jvm, group: str) -> None:
    jvm.scenario("adminGroups", topic=unique("admin"), group=group)


def test_transactions_are_refused_clearly(jvm: Jvm, target: Target) -> None:
    if target.name == "kproto":
        assert "error" in jvm.scenario("transactionsRefused")
    else:
        with pytest.raises(AssertionError, match="initTransactions succeeded"):
            jvm.scenario("transactionsRefused")
