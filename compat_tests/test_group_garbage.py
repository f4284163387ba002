"""What was committed long ago goes from all brokers of a cluster, not only from the coordinator."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from compat_tests.support.cluster import own_cluster
from compat_tests.support.ports import wait_until
from compat_tests.support.topics import create_topic, unique
from kproto.local_cluster import LocalCluster

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]

PARTITIONS = 100
COMMITS = 1_200
"""Of all partitions: some 15 MB of ``__consumer_offsets``, which its coordinator makes short three times."""


def bytes_of_copies(cluster: LocalCluster) -> int:
    """What backups keep."""
    folders = [Path(cluster.data_dir(node.node)) / "replicas" for node in cluster.nodes]
    return sum(file.stat().st_blocks * 512 for folder in folders for file in folder.iterdir())


def test_backups_keep_no_old_commits(tmp_path: Path) -> None:
    """The store has to know where the log of a coordinator begins: without that no virtual segment in which
    there ever was a commit was freed."""
    with own_cluster(tmp_path, 3, {"kproto.virtual.segment.bytes": str(1 << 20)}) as cluster:
        topic = create_topic(cluster.bootstrap_servers, unique("t"), PARTITIONS, {}, 3)
        consumer = Consumer(
            {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "busy", "enable.auto.commit": False}
        )
        most = 0
        for number in range(COMMITS):
            offsets = [TopicPartition(topic, index, number) for index in range(PARTITIONS)]
            consumer.commit(offsets=offsets, asynchronous=False)
            if not number % 100:
                most = max(most, bytes_of_copies(cluster))
        most = max(most, bytes_of_copies(cluster))
        assert most > 12 << 20
        wait_until("old commits are gone", lambda: bytes_of_copies(cluster) < most // 2)
        found = consumer.committed([TopicPartition(topic, index) for index in range(PARTITIONS)])
        assert [one.offset for one in found] == [COMMITS - 1] * PARTITIONS
        consumer.close()
