"""What is in the journal of a killed leader, and no backup has, is no part of the log. The partition goes
back to one copy, which is on that leader, and its next process finds the journal file again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from confluent_kafka import KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from compat_tests.support.cluster import own_cluster
from compat_tests.support.confluent import producer, read_samples, send_all
from compat_tests.support.moving import Admin
from compat_tests.support.ports import wait_until
from compat_tests.support.records import Sample, plain
from compat_tests.support.topics import create_topic

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]

LEADER, OTHERS = 2, [1, 3, 4]


def try_to_read(bootstrap: str, topic: str) -> tuple[list[Sample]] | None:
    """The client gives up at once when a broker it asks goes, or comes back."""
    try:
        return (read_samples(bootstrap, topic, 0),)
    except KafkaException:
        return None


@pytest.mark.parametrize("then", ["nothing", "appended", "appended and deleted"])
def test_what_no_backup_had_does_not_come_back(tmp_path: Path, then: str) -> None:
    first, unsealed, new = plain([b"first"] * 5), plain([b"unsealed"] * 7), plain([b"new"] * 3)
    with own_cluster(tmp_path, settings={"kproto.flush.age.ms": "100"}) as cluster:
        bootstrap = cluster.bootstrap_servers
        topic = create_topic(bootstrap, "stale", 1, {"file.delete.delay.ms": "0"}, 3)
        with Admin(bootstrap) as admin:
            admin.reassign(topic, {0: [LEADER, 3, 4]})
            wait_until("it is led there", lambda: admin.leaders(topic) == {0: LEADER})
        send_all(producer(bootstrap, acks="all"), topic, 0, first)
        alone = producer(f"127.0.0.1:{cluster.node(LEADER).port}", acks=1, linger_ms=20)
        alone.list_topics(topic)
        cluster.kill(*OTHERS)
        assert send_all(alone, topic, 0, unsealed) == list(range(5, 12)), "its journal has them"
        cluster.kill(LEADER)
        cluster.start()
        with Admin(bootstrap) as admin:
            admin.reassign(topic, {0: [LEADER]})

            def is_alone() -> bool:
                one = admin.partitions(topic)[0]
                return one.leader_id == LEADER and list(one.isr_nodes) == [LEADER]

            wait_until("it has one copy", is_alone)
        expected = first
        if then != "nothing":
            assert send_all(producer(bootstrap, acks="all"), topic, 0, new) == [5, 6, 7]
            expected = first + new
        if then == "appended and deleted":
            client = AdminClient({"bootstrap.servers": bootstrap})
            (deleted,) = client.delete_records([TopicPartition(topic, 0, 8)]).values()
            assert deleted.result(120).low_watermark == 8
            expected = []
        cluster.kill(LEADER)
        print("its journal:", sorted(os.listdir(os.path.join(cluster.data_dir(LEADER), "journal"))))
        cluster.start([LEADER])
        with Admin(bootstrap) as admin:
            wait_until("it is led again", lambda: admin.leaders(topic) == {0: LEADER})
        assert wait_until("it can be read", lambda: try_to_read(bootstrap, topic)) == (expected,)
        assert send_all(producer(bootstrap, acks="all"), topic, 0, new)[0] == (8 if then != "nothing" else 5)
