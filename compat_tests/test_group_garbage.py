"""What was committed long ago goes from all brokers of a cluster, not only from the coordinator."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from compat_tests.support.cluster import own_cluster
from compat_tests.support.ports import wait_until
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
