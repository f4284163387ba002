"""A network that is cut in part: who is to take over reaches the controller, but not who has the copies."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from compat_tests.black_box.run import faulty_cluster
from compat_tests.support.cluster import vsegs_of
from compat_tests.support.confluent import producer, read_samples, send_all
from compat_tests.support.moving import Admin
from compat_tests.support.ports import PATIENCE_S, wait_until
from compat_tests.support.records import Sample, plain
from compat_tests.support.topics import unique
from kproto.local_cluster import LocalCluster
from kproto.metadata.vlogs import VsegId

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]

DEAD, CUT = 2, (3, 4)
"""Who leads and dies, and the two that do not reach each other. Broker 1 is the controller."""
COUNT = 200
LATE_REPAIR = {"kproto.repair.delay.ms": "600000"}
"""Else there would soon be a copy that the chosen leader reaches."""


def copies_of(cluster: LocalCluster) -> dict[VsegId, int]:
    """Who has the other copy of what the broker that is to die has open, with two copies."""
    opened = [vseg for vseg in vsegs_of(cluster) if vseg.node_id == DEAD and vseg.open and vseg.copies == 2]
    return {vseg.id: vseg.backups[0].node_id for vseg in opened}


def records(bootstrap: str, topic: str, partition: int) -> list[Sample]:
    """What is in it; nothing as long as nobody leads it."""
    with suppress(KafkaException):
        return read_samples(bootstrap, topic, partition)
    return []


@pytest.mark.timeout(900)
def test_somebody_else_takes_over_what_the_chosen_leader_cannot_read(tmp_path: Path) -> None:
    values = [b"%d" % n for n in range(COUNT)]
    with faulty_cluster(tmp_path, LATE_REPAIR) as cluster, Admin(cluster.bootstrap_servers) as admin:
        bootstrap = cluster.bootstrap_servers
        creator = AdminClient({"bootstrap.servers": bootstrap})
        known: dict[VsegId, int] = {}
        holders: set[int] = set()
        while not holders & set(CUT):  # each topic has a virtual log of its own, with a backup that is drawn
            topic = unique("cut")
            rows = [[DEAD, node] for node in CUT]
            new = NewTopic(topic, 2, replica_assignment=rows, config={"kproto.vlogs": "1"})
            creator.create_topics([new])[topic].result(PATIENCE_S)
            for partition in range(len(rows)):
                send_all(producer(bootstrap, acks="all"), topic, partition, plain(values))
            found = copies_of(cluster)
            holders = {node for vseg, node in found.items() if vseg not in known}
            known |= found
        assert len(holders) == 1
        cluster.links.cut([CUT, CUT[::-1]])
        cluster.kill(DEAD)
        for partition in range(len(rows)):
            read = wait_until("what it has", partial(records, bootstrap, topic, partition))
            assert [one.value for one in read] == values
        wrong = next(node for node in CUT if node not in holders)
        able = {1, *holders}
        print(f"the copy is on {holders}; {wrong} was to lead {CUT.index(wrong)}: {admin.leaders(topic)}")
        assert cluster.state(cluster.node(wrong)) == "running"
        for _ in range(50):  # it is not given back to the chosen one, which is a replica
            assert admin.leaders(topic)[CUT.index(wrong)] in able
            time.sleep(0.2)
