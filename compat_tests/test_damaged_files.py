"""Segment files of a leader that are cut or changed: with copies it is as if nothing had happened; without,
the log says what is gone, and no client is led past it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from compat_tests.support.broker import Kproto
from compat_tests.support.cluster import own_cluster
from compat_tests.support.confluent import consumer, messages, producer, read_partition
from compat_tests.support.moving import Admin
from compat_tests.support.ports import wait_until
from compat_tests.support.topics import create_topic
from kproto.local_cluster import LocalCluster
from kproto.log.files import CHUNKS, STREAMS, parse_name

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]

SIZE = 5_000
FILES = {"kproto.segment.file.bytes": "65536"}
SMALL_MEMORY = {
    "kproto.virtual.segment.bytes": str(1 << 20),
    "kproto.journal.bytes": str(8 << 20),
    "kproto.log.memory.bytes": str(1 << 20),
}


def send(bootstrap: str, topic: str, count: int) -> list[bytes]:
    """So many records, each in a batch of its own."""
    client = producer(bootstrap, acks="all", batch_num_messages=1)
    values = [f"{number:06d}".encode() + os.urandom(SIZE) for number in range(count)]
    for value in values:
        client.produce(topic, value, partition=0)
    assert client.flush(180) == 0
    return values


def reader(bootstrap: str, topic: str, offset: int) -> Consumer:
    client = consumer(bootstrap)
    client.assign([TopicPartition(topic, 0, offset)])
    return client


def values_from(bootstrap: str, topic: str, offset: int, count: int) -> list[bytes]:
    client = reader(bootstrap, topic, offset)
    try:
        return [message.value() for message in messages(client, count, 60)]
    finally:
        client.close()


def files_of(data_dir: Path) -> list[Path]:
    return sorted((data_dir / STREAMS).glob(f"*/*/*{CHUNKS}"))


def base_of(path: Path) -> int:
    name = parse_name(path.name)
    assert name is not None
    return name.base_offset


def test_the_only_copy_is_cut_while_the_broker_is_down(tmp_path: Path) -> None:
    broker = Kproto(tmp_path)
    with broker:
        topic = create_topic(broker.bootstrap, "cut", 1, FILES)
        values = send(broker.bootstrap, topic, 60)
        assert broker.stop() == 0
        cut, changed = files_of(broker.data_dir)[1:3]
        os.truncate(cut, 30_000)
        with changed.open("r+b") as file:
            file.seek(22_000)
            file.write(b"!!!!")
        missing, end = base_of(cut) + 30_000 // (len(values[0]) + 50), base_of(changed)
        broker.start()
        assert values_from(broker.bootstrap, topic, 0, missing) == values[:missing]
        client = reader(broker.bootstrap, topic, missing)
        try:
            wait_until("the read is refused", lambda: "cannot be read" in broker.log_tail())
            assert client.poll(0.2) is None, "it was led past what is missing"
        finally:
            client.close()
        first = base_of(files_of(broker.data_dir)[3])
        assert values_from(broker.bootstrap, topic, first, 60 - first) == values[first:]
        wait_until("the scrub has seen it", lambda: "are damaged in" in broker.log_tail())
        said = [line for line in broker.log_tail(1 << 20).splitlines() if " ERROR kproto.log.se" in line]
        (line,) = said
        assert f"{topic}-0: offsets {missing} to {end - 1} are missing in {cut}" in line
        said = [line for line in broker.log_tail(1 << 20).splitlines() if "are damaged in" in line]
        (line,) = said
        assert f"{topic}-0: offsets {end + 4} to {end + 4} are damaged in {changed}" in line


def leader_files(cluster: LocalCluster, topic: str) -> list[Path]:
    with Admin(cluster.bootstrap_servers) as admin:
        leader = admin.leaders(topic)[0]
    return files_of(Path(cluster.data_dir(leader)))


def test_files_of_a_running_leader_are_mended_from_copies(tmp_path: Path) -> None:
    """What this leader itself has pushed: no other broker led the partition before."""
    with own_cluster(tmp_path, 3, SMALL_MEMORY) as cluster:
        topic = create_topic(cluster.bootstrap_servers, "mended", 1, FILES, 3)
        values = send(cluster.bootstrap_servers, topic, 1200)
        cut, emptied, deleted = leader_files(cluster, topic)[2:5]
        good = {path: path.read_bytes() for path in (cut, emptied, deleted)}
        os.truncate(cut, 30_000)
        os.truncate(emptied, 0)
        deleted.unlink()
        assert values_from(cluster.bootstrap_servers, topic, 0, 1200) == values

        def whole(*paths: Path) -> bool:
            return all(path.read_bytes() == good[path] for path in paths)

        wait_until("they are mended", lambda: whole(cut, emptied))
        if deleted.exists():  # else it is read from the descriptor that is open still
            wait_until("it is made again", lambda: whole(deleted))


def test_a_journal_file_is_deleted_under_a_running_broker(tmp_path: Path) -> None:
    """It ends with one line, within a second or so; what it acknowledged is there, also what came after."""
    settings = {**SMALL_MEMORY, "kproto.direct.bytes": "0"}
    with Kproto(tmp_path, settings) as broker:
        topic = create_topic(broker.bootstrap, "gone", 1, FILES)
        acked = dict(enumerate(send(broker.bootstrap, topic, 150)))

        def note(error: KafkaError | None, message: Message) -> None:
            if error is None:
                acked[message.offset() or 0] = message.value() or b""

        client = producer(broker.bootstrap, acks="all", batch_num_messages=1, message_timeout_ms=2_000)

        def send_one() -> None:
            client.produce(topic, os.urandom(SIZE), partition=0, on_delivery=note)
            client.poll(0.001)

        def went_on() -> bool:
            send_one()
            return len(acked) > 160

        def ended() -> bool:
            send_one()
            return not broker.running()

        wait_until("some are acknowledged meanwhile", went_on, every_s=0)
        for path in (broker.data_dir / "journal").glob("0*.journal"):
            path.unlink()
        wait_until("it ends", ended, every_s=0)
        client.flush(10)
        assert broker.stop() == 1
        said = broker.log_tail(1 << 20)
        assert "Traceback" not in said
        (line,) = [line for line in said.splitlines() if " CRITICAL " in line]
        assert "somebody deleted it" in line
        broker.start()
        stored = {one.offset(): one.value() for one in read_partition(broker.bootstrap, topic, 0)}
        assert {offset: stored[offset] for offset in acked} == acked
