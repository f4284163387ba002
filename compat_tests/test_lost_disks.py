"""Disks that are lost together: what has no copy besides its owner's any more is copied again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from compat_tests.support.cluster import (
    ClusterLoad,
    await_copies,
    lose_disks,
    own_cluster,
    pushed_again,
    tell_next_time,
    told,
    vsegs_of,
)
from compat_tests.support.confluent import producer, read_samples, send_all
from compat_tests.support.moving import Admin
from compat_tests.support.ports import wait_until
from compat_tests.support.records import Sample, plain
from compat_tests.support.topics import create_topic
from kproto.local_cluster import LocalCluster
from kproto.replica.stored_file import vseg_of_name

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]

SETTINGS = {
    "kproto.virtual.segment.bytes": str(1 << 20),
    "kproto.segment.file.bytes": str(1 << 20),
    "kproto.journal.bytes": str(4 << 20),
    "kproto.repair.delay.ms": "1000",
}
"""Virtual segments are closed, and their journal files used again, all the time."""
LIMIT = "kproto.recovery.read.bytes.per.second"


def test_both_backups_lose_their_disks_and_then_the_owner_dies(tmp_path: Path) -> None:
    with own_cluster(tmp_path, settings=SETTINGS) as cluster:
        load = ClusterLoad(cluster, partitions=8, producers=2)
        load.await_progress()
        wait_until("40 MB", lambda: sum(load.acked().values()) * 250 > 40 << 20, 240)
        await_copies(cluster)
        load.lose_disks_and_come_back(3, 4)
        owners = cluster.nodes[:2]
        wait_until("some is pushed again: it cannot be copied", lambda: pushed_again(owners) > 1 << 20)
        await_copies(cluster)
        print(f"pushed again: {pushed_again(owners)} bytes")
        lose_disks(cluster, 2)
        load.await_progress()
        assert load.finish() > 100


def test_the_journal_of_a_killed_owner_stays_until_there_are_enough_copies(tmp_path: Path) -> None:
    """One backup loses its disk and the other one is killed before its file was copied: the owner, which is
    back, has all of it (17, 18b). It had given that up as soon as it was back.

    The backups let nobody copy what they have in less than minutes, as long as they live."""
    owner, killed, wiped = 2, 3, 4
    with own_cluster(tmp_path, settings={**SETTINGS, "kproto.vlogs.per.broker": "1"}) as cluster:
        cluster.stop([killed, wiped])
        tell_next_time(cluster, LIMIT, "1000")
        cluster.start([killed, wiped])
        tell_next_time(cluster, LIMIT, "0")
        bootstrap = cluster.bootstrap_servers
        brokers = AdminClient({"bootstrap.servers": bootstrap})
        drain(brokers, 1, AlterConfigOpType.SET)
        topic = create_topic(bootstrap, "kept", 1, None, 3)
        client = producer(bootstrap, acks="all", compression_type="none")
        with Admin(bootstrap) as admin:
            admin.reassign(topic, {0: [owner, killed, wiped]})
            wait_until("it is led there", lambda: admin.leaders(topic) == {0: owner})
        records = plain(os.urandom(100_000) for _ in range(3))
        sent: list[Sample] = []

        def send() -> None:
            assert send_all(client, topic, 0, records)[0] == len(sent)
            sent.extend(records)

        def is_on_both() -> bool:
            send()
            (only,) = told(cluster.node(owner), "/vlogs")
            return set(only["backups"]) == {killed, wiped}

        wait_until("both are backups of what is open", is_on_both)
        drain(brokers, 1, AlterConfigOpType.DELETE)
        cluster.kill(owner)
        send()
        with Admin(bootstrap) as admin:
            assert admin.leaders(topic) == {0: killed}, "it has records in files, too"
        journal = Path(cluster.data_dir(owner), "journal")
        left = list(journal.glob("0*.journal"))
        cluster.start([owner])
        wait_until("they were looked at", lambda: not any(path.exists() for path in left))
        lose_disks(cluster, wiped)
        cluster.start([wiped])
        cluster.kill(killed)
        send()
        assert read_samples(bootstrap, topic, 0) == sent
        cluster.start([killed])
        await_copies(cluster)
        wait_until("the journal is given back", lambda: not list(journal.glob("*.kept")))


@pytest.mark.parametrize("moved_to", [[3, 4], [3, 2]], ids=["reassigned", "elected"])
def test_of_two_copies_one_may_be_lost_as_soon_as_another_broker_leads(
    tmp_path: Path, moved_to: list[int]
) -> None:
    """The old leader has everything in its files, which count no more: another copy is made before it goes.
    When the new one lost its disk at once, records were lost (12b, 17)."""
    with own_cluster(tmp_path, settings=SETTINGS) as cluster:
        bootstrap = cluster.bootstrap_servers
        topic = create_topic(bootstrap, "two", 1, None, 2)
        records = plain(os.urandom(100_000) for _ in range(60))
        with Admin(bootstrap) as admin:
            for replicas in ([2, 3], moved_to):
                admin.reassign(topic, {0: replicas})
                wait_until("a replica leads", lambda among=replicas: admin.leaders(topic)[0] in among)
                admin.elect_preferred(topic, [0])
                if replicas == [2, 3]:
                    client = producer(bootstrap, acks="all", compression_type="none")
                    assert send_all(client, topic, 0, records) == list(range(len(records)))
                    await_copies(cluster)
        lose_disks(cluster, 3)
        assert read_samples(bootstrap, topic, 0) == records
        cluster.start([3])
        await_copies(cluster)
        assert read_samples(bootstrap, topic, 0) == records


def accept_loss(cluster: LocalCluster, *words: str) -> list[dict[str, Any]]:
    command = (sys.executable, "-m", "kproto.cli.main", "recovery", "accept-loss", *words, "--json")
    where = ("--bootstrap", f"127.0.0.1:{cluster.nodes[0].port}")
    done = subprocess.run([*command, *where], capture_output=True, text=True, timeout=300, check=False)
    print(done.stdout, done.stderr)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def drain(admin: AdminClient, node: int, operation: AlterConfigOpType) -> None:
    """Nothing new is put on broker ``node`` as long as others are enough, until that is deleted."""
    entry = ConfigEntry("kproto.drain", "true", incremental_operation=operation)
    named = ConfigResource(ResourceType.BROKER, str(node), incremental_configs=[entry])
    admin.incremental_alter_configs([named])[named].result(120)


def test_what_is_lost_for_good_can_be_given_up_by_command(tmp_path: Path) -> None:
    """Everybody with a copy loses its disk: the topic waits until somebody accepts that."""
    with own_cluster(tmp_path, settings=SETTINGS) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        drain(admin, 1, AlterConfigOpType.SET)
        create_topic(cluster.bootstrap_servers, "lost", 1, replicas=3)
        config = {"bootstrap.servers": cluster.bootstrap_servers, "acks": "all"}
        producer = Producer(config)
        producer.produce("lost", b"gone")
        assert producer.flush(180) == 0
        for node in (2, 3, 4):
            cluster.pause(node)
        lose_disks(cluster, 2, 3, 4)
        wait_until("they are missed", lambda: told(cluster.node(1))["waiting"])
        cluster.start([2, 3, 4])
        (row,) = accept_loss(cluster, "lost", "--yes")
        assert (row["topic"], row["partition"], row["result"]) == ("lost", 0, "NONE")
        offsets: list[int] = []
        again = Producer(config)
        again.produce("lost", b"new", on_delivery=lambda error, message: offsets.append(message.offset()))
        assert again.flush(180) == 0
        assert offsets == [0]


SLOW = {**SETTINGS, "kproto.repair.delay.ms": "10000", LIMIT: "262144"}


class Numbered:
    """A partition of two copies, led by broker 2, whose backups are 3 and 4; each record says its offset."""

    def __init__(self, cluster: LocalCluster, records: int) -> None:
        self.cluster = cluster
        self.admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        drain(self.admin, 1, AlterConfigOpType.SET)
        create_topic(cluster.bootstrap_servers, "few", 1, replicas=2)
        with Admin(cluster.bootstrap_servers) as moving:
            moving.reassign("few", {0: [2, 3]})
        wait_until("broker 2 leads", lambda: self.leader() == 2)
        self.producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "acks": "all"})
        self.records = 0
        self.produce(records - 1)
        self.produce(1)  # the state of the others, which comes before it, is on backups: nobody replays them

    def leader(self) -> int:
        found: int = self.admin.list_topics("few", timeout=60).topics["few"].partitions[0].leader
        return found

    def move(self, leader: int) -> None:
        """Another broker leads, and has all of it."""
        with Admin(self.cluster.bootstrap_servers) as moving:
            moving.reassign("few", {0: [leader, 3]})
        wait_until("it leads", lambda: self.leader() == leader)
        self.check()

    def produce(self, count: int) -> None:
        offsets: list[int] = []
        for number in range(self.records, self.records + count):
            self.producer.produce(
                "few",
                str(number).encode().ljust(1000),
                partition=0,
                on_delivery=lambda _, message: offsets.append(message.offset()),
            )
            self.producer.poll(0)
        assert self.producer.flush(180) == 0
        self.records += count
        assert offsets == list(range(self.records - count, self.records))

    def watermarks(self) -> tuple[int, int]:
        """Whoever is asked may not have heard yet who leads, and a client that was told so believes it."""

        def ask() -> tuple[int, int] | None:
            consumer = Consumer({"bootstrap.servers": self.cluster.bootstrap_servers, "group.id": "nobody"})
            try:
                return consumer.get_watermark_offsets(TopicPartition("few", 0), timeout=60)
            except KafkaException:
                return None
            finally:
                consumer.close()

        return wait_until("a leader tells the watermarks", ask)

    def check(self) -> tuple[int, int]:
        """Who asks for offset 0 is sent to what is left, which is all there and in its place. The log start
        moves from hole to hole until the leader has everything."""
        # Nobody does for a moment, when it moves to its preferred replica.
        leader = wait_until("somebody leads", lambda: max(self.leader(), 0))
        wait_until(
            "all is brought over",
            lambda: not told(self.cluster.node(leader), "/recovery/here")["bring_over"].get("partitions"),
            120,
        )
        low, high = self.watermarks()
        config = {
            "bootstrap.servers": self.cluster.bootstrap_servers,
            "group.id": "reader",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
        consumer = Consumer(config)
        consumer.assign([TopicPartition("few", 0, 0)])
        offsets: list[int] = []
        while len(offsets) < high - low:
            message = consumer.poll(120)
            assert message is not None
            assert message.error() is None, message.error()
            assert int(message.value()) == message.offset()
            offsets.append(message.offset())
        consumer.close()
        assert offsets == list(range(low, high))
        return low, high


def is_accepted(cluster: LocalCluster) -> bool:
    """Not before it is missed, and all who are here were asked."""
    rows = accept_loss(cluster, "few-0", "--yes")
    assert all((row["topic"], row["partition"]) == ("few", 0) for row in rows)
    return any(row["result"] == "NONE" for row in rows)


def test_closed_virtual_segments_that_nobody_has_are_given_up_by_command(tmp_path: Path) -> None:
    """Nobody can lead the partition; what is behind the last hole is served when that is accepted."""
    with own_cluster(tmp_path, settings=SLOW) as cluster:
        few = Numbered(cluster, 12_000)
        lose_disks(cluster, 2, 3)
        wait_until("they are missed", lambda: told(cluster.node(1))["waiting"])
        wait_until("nobody leads", lambda: few.leader() == -1)
        wait_until("it is given up", lambda: is_accepted(cluster))
        wait_until("broker 4 leads", lambda: few.leader() == 4)
        low, high = few.check()
        print(f"of 12000 records those from {low} to {high - 1} are left")
        assert low > 0
        few.records = high
        few.produce(100)
        cluster.start([2, 3])
        wait_until("what was given up is freed", lambda: not told(cluster.node(1))["lost"])
        assert few.check() == (low, high + 100)
        # Without a leader for a moment, when it moves, it is among those that the command is for.
        wait_until("it waits for nothing", lambda: not accept_loss(cluster, "few", "--yes"))
        assert few.check() == (low, high + 100), "nothing was given up"


def test_a_leader_gives_up_what_it_had_not_brought_over_by_command(tmp_path: Path) -> None:
    """It serves, but not its old offsets, until that is accepted."""
    with own_cluster(tmp_path, settings=SLOW) as cluster:
        few = Numbered(cluster, 12_000)
        lose_disks(cluster, 2)
        wait_until("another one leads", lambda: few.leader() in (3, 4))
        leader = few.leader()
        other = 7 - leader
        cluster.kill(other)
        cluster.wipe(other)
        few.produce(100)
        before = few.watermarks()
        assert before == (0, 12_100)
        assert accept_loss(cluster, "few", "--yes") == [], "it has a leader, and was not named itself"
        wait_until("it is given up", lambda: is_accepted(cluster))
        assert told(cluster.node(1))["lost"]
        wait_until("the log starts later", lambda: few.watermarks()[0] > 0)
        cluster.start([2, other])
        wait_until("what was given up is freed", lambda: not told(cluster.node(1))["lost"])
        low, high = few.check()
        print(f"of 12100 records those from {low} to {high - 1} are left")
        assert high == 12_100
        await_copies(cluster)
        cluster.kill(leader)
        wait_until("another one leads", lambda: few.leader() in (2, other))
        assert few.check() == (low, high)


def test_files_of_copies_that_are_gone_are_made_again_by_who_took_over(tmp_path: Path) -> None:
    """Both brokers that have copies lose these files, and nothing else: both say so, and who leads since
    pushes again what it has (24, 45). As long as the last one was listed, nobody did."""
    with own_cluster(tmp_path, settings=SETTINGS) as cluster:
        few = Numbered(cluster, 8_000)
        first = next(vseg.id.owner_epoch for vseg in vsegs_of(cluster) if vseg.node_id == 2)
        drain(few.admin, 1, AlterConfigOpType.DELETE)  # or it would soon be moved away from there
        few.move(1)
        await_copies(cluster)
        holders = [3, 4]
        cluster.kill(*holders)
        gone = [
            path
            for node in holders
            for path in Path(cluster.data_dir(node), "replicas").glob("*.replica")
            if (vseg := vseg_of_name(path.name)) is not None and vseg.owner_epoch == first
        ]
        assert gone
        for path in gone:
            path.unlink()
        cluster.start(holders)
        leader = cluster.node(1)
        wait_until("some is pushed again: it cannot be copied", lambda: pushed_again([leader]) > 1 << 20)
        await_copies(cluster)
        print(f"{len(gone)} files gone, pushed again: {pushed_again([leader])} bytes")
        assert not [vseg for vseg in vsegs_of(cluster) if vseg.denied]
        few.move(4)
        assert few.check() == (0, 8_000)


def test_topics_with_more_copies_come_back_while_others_have_lost_all_of_theirs(tmp_path: Path) -> None:
    """Two disks are lost, with all that a topic of two copies had there: one of three is served at once."""
    with own_cluster(tmp_path, settings=SETTINGS) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        partitions = 12
        for node in (1, 2):
            drain(admin, node, AlterConfigOpType.SET)
        create_topic(cluster.bootstrap_servers, "few", partitions, replicas=2)
        config = {"bootstrap.servers": cluster.bootstrap_servers, "acks": "all"}
        producer = Producer(config)
        for index in range(partitions):
            producer.produce("few", b"kept", partition=index)
        assert producer.flush(180) == 0
        drain(admin, 2, AlterConfigOpType.DELETE)
        create_topic(cluster.bootstrap_servers, "many", partitions, replicas=3)
        for index in range(partitions):
            producer.produce("many", b"kept", partition=index)
        assert producer.flush(180) == 0

        def led(name: str) -> int:
            topic = admin.list_topics(name, timeout=60).topics[name]
            return sum(part.leader in (1, 2) for part in topic.partitions.values())

        lose_disks(cluster, 3, 4)
        wait_until("all with three copies have leaders", lambda: led("many") == partitions)
        assert led("few") == 0, "all had both copies there"
        ends = {}
        consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "nobody"})
        for index in range(partitions):
            ends[index] = consumer.get_watermark_offsets(TopicPartition("many", index), timeout=60)
        consumer.close()
        assert set(ends.values()) == {(0, 1)}
        rows = accept_loss(cluster, "few", "--yes")
        assert {row["result"] for row in rows} == {"NONE"}
        wait_until("all have leaders", lambda: led("few") == partitions)
