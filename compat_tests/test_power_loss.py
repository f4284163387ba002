"""All machines lose their power at once: what was never synced is gone, and every broker takes the boot id in
its directory for that of another start of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from compat_tests.support.cluster import own_cluster
from compat_tests.support.ports import wait_until
from compat_tests.support.topics import create_topic
from compat_tests.test_lost_disks import accept_loss
from kproto.local_cluster import LocalCluster
from kproto.vlog.classes import FlushPolicy
from kproto.vlog.frame import FILE_HEADER_SIZE, decode_file_header

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]

PARTITIONS = 8
RECORDS = 400


def lose_power(cluster: LocalCluster) -> None:
    """All brokers are killed, and start on a machine that was started, too."""
    cluster.kill(*(node.node for node in cluster.nodes))
    for node in cluster.nodes:
        directory = Path(cluster.data_dir(node.node))
        (directory / "running").write_text("another start of the machine")
        (directory / "replicas" / "state").unlink()  # which boot it was of: not knowing is as bad
        for file in (*directory.glob("replicas/*"), *directory.glob("journal/*")):
            with file.open("rb") as stream:
                header = decode_file_header(stream.read(FILE_HEADER_SIZE))
            if header is not None and header.policy != FlushPolicy.SYNCED:
                file.unlink()
    cluster.start()


def leaders(admin: AdminClient, topic: str) -> list[int]:
    parts = admin.list_topics(topic, timeout=60).topics[topic].partitions
    return [parts[index].leader for index in range(PARTITIONS)]


def read(cluster: LocalCluster, topic: str, count: int) -> list[bytes]:
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "reader"})
    consumer.assign([TopicPartition(topic, index, 0) for index in range(PARTITIONS)])
    found: list[bytes] = []

    def enough() -> bool:
        for message in consumer.consume(count, 1.0):
            assert message.error() is None
            found.append(message.value() or b"")
        return len(found) >= count

    wait_until(f"{count} records of {topic}", enough)
    consumer.close()
    return sorted(found)


def test_a_topic_that_always_synced_is_served_without_an_operator(tmp_path: Path) -> None:
    with own_cluster(tmp_path, brokers=3, settings={"kproto.repair.delay.ms": "1000"}) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        for name, configs in (("loose", {}), ("safe", {"flush.messages": "1"})):
            create_topic(cluster.bootstrap_servers, name, PARTITIONS, configs, replicas=3)
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "acks": "all"})
        sent = [b"%06d" % number for number in range(RECORDS)]
        for number, value in enumerate(sent):
            for name in ("loose", "safe"):
                producer.produce(name, value, partition=number % PARTITIONS)
        assert producer.flush(180) == 0
        lose_power(cluster)
        wait_until("safe has leaders", lambda: min(leaders(admin, "safe")) > 0)
        assert read(cluster, "safe", RECORDS) == sent
        assert max(leaders(admin, "loose")) < 0, "who could vouch for what it had?"
        accept_loss(cluster, "loose", "--yes")
        wait_until("loose has leaders", lambda: min(leaders(admin, "loose")) > 0)
        offsets: list[int | None] = []
        again = Producer({"bootstrap.servers": cluster.bootstrap_servers, "acks": "all"})
        again.produce(
            "loose", b"new", partition=0, on_delivery=lambda _, message: offsets.append(message.offset())
        )
        assert again.flush(180) == 0
        assert offsets == [0], "it goes on with what a copy proves, which is nothing here"
