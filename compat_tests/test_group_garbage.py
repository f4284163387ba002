"""What was committed long ago goes from all brokers of a cluster, not only from the coordinator."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from compat_tests.support.cluster import own_cluster
from compat_tests.support.confluent import consumer, producer, read_samples, send_all
from compat_tests.support.ports import wait_until
from compat_tests.support.records import plain
from compat_tests.support.topics import create_topic, unique
from kproto.local_cluster import LocalCluster

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]

PARTITIONS = 100
COMMITS = 2_400
"""Of all partitions: some 18 MB of ``__consumer_offsets``, which its coordinator makes short, again."""
LEAST = 50
"""Bytes of the record of one committed offset, at least: its key names group, topic and partition."""


def bytes_of_copies(cluster: LocalCluster) -> int:
    """What backups keep."""
    total = 0
    for node in cluster.nodes:
        for file in (Path(cluster.data_dir(node.node)) / "replicas").iterdir():
            with suppress(FileNotFoundError):  # it has gone since
                total += file.stat().st_blocks * 512
    return total


def copies(cluster: LocalCluster) -> int:
    """Files of backups."""
    folders = [Path(cluster.data_dir(node.node)) / "replicas" for node in cluster.nodes]
    return sum(len(list(folder.glob("*.replica"))) for folder in folders)


def test_one_commit_keeps_no_copies_of_other_topics(tmp_path: Path) -> None:
    """Nothing is live but the first commit, at the very beginning, of a group that never commits again, and
    one record of a topic that keeps everything. All else lies below the log start after a moment."""
    settings = {"kproto.virtual.segment.bytes": str(1 << 20), "log.retention.check.interval.ms": "500"}
    soon = {"retention.ms": "1000", "segment.bytes": str(1 << 20), "kproto.segment.file.bytes": str(1 << 20)}
    with own_cluster(tmp_path, 3, settings) as cluster:
        bootstrap = cluster.bootstrap_servers
        busy = create_topic(bootstrap, unique("busy"), 3, soon, 3)
        kept = create_topic(bootstrap, unique("kept"), 3, {"retention.ms": "-1"}, 3)
        for index in range(3):
            send_all(producer(bootstrap), kept, index, plain([b"for ever"]))
        once = consumer(bootstrap, group_id="once")
        once.commit(offsets=[TopicPartition(busy, 0, 7)], asynchronous=False)
        client = producer(bootstrap)
        for index in range(3):
            send_all(client, busy, index, plain([random.Random(1).randbytes(100_000)] * 100))
        assert copies(cluster) > 3 * 2 * 8, "of virtual segments of 1 MB"

        def is_short() -> bool:
            for index in range(3):  # a segment that is active does not go by itself
                send_all(client, busy, index, plain([b"now"]))
            return copies(cluster) <= 3 * 2 * 2 + 3

        wait_until("old copies are gone", is_short, every_s=1)
        (found,) = once.committed([TopicPartition(busy, 0)], timeout=60)
        assert found.offset == 7
        assert [read_samples(bootstrap, kept, index) for index in range(3)] == [plain([b"for ever"])] * 3
        once.close()


def test_backups_keep_no_old_commits(tmp_path: Path) -> None:
    """The store has to know where the log of a coordinator begins: without that no virtual segment in which
    there ever was a commit was freed."""
    with own_cluster(tmp_path, 3, {"kproto.virtual.segment.bytes": str(1 << 20)}) as cluster:
        topic = create_topic(cluster.bootstrap_servers, unique("t"), PARTITIONS, {}, 3)
        consumer = Consumer(
            {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "busy", "enable.auto.commit": False}
        )
        number = 0

        def commit() -> None:
            nonlocal number
            number += 1
            offsets = [TopicPartition(topic, index, number) for index in range(PARTITIONS)]
            consumer.commit(offsets=offsets, asynchronous=False)

        def is_short() -> bool:
            commit()
            return bytes_of_copies(cluster) < pushed // 2

        for _ in range(COMMITS):
            commit()
        pushed = 2 * LEAST * COMMITS * PARTITIONS
        wait_until("old commits are gone", is_short)
        found = consumer.committed([TopicPartition(topic, index) for index in range(PARTITIONS)])
        assert [one.offset for one in found] == [number] * PARTITIONS
        consumer.close()
