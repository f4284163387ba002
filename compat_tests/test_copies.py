"""All copies of what a cluster stored are the same, and the comparison sees it when they are not."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from bench.failover.copies import Found, compare
from compat_tests.support.cluster import ClusterLoad, await_copies, own_cluster
from compat_tests.support.ports import wait_until
from compat_tests.support.topics import create_topic
from kproto.log.files import CHUNKS, STREAMS
from kproto.replica.store import DIRECTORY
from kproto.replica.stored_file import SUFFIX
from kproto.vlog.frame import FILE_HEADER_SIZE

pytestmark = [pytest.mark.owns_broker, pytest.mark.kproto_only]

SETTINGS = {"kproto.virtual.segment.bytes": str(1 << 20), "kproto.segment.file.bytes": str(1 << 20)}
Directories = Mapping[int, Path]


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> Directories:
    """Of four brokers that were killed after some seconds of load."""
    with own_cluster(tmp_path_factory.mktemp("copies"), settings=SETTINGS) as cluster:
        load = ClusterLoad(cluster, partitions=8, producers=2)
        load.await_progress()
        wait_until("12 MB", lambda: sum(load.acked().values()) * 250 > 12 << 20)
        load.finish()
        await_copies(cluster)
    return {node.node: Path(cluster.data_dir(node.node)) for node in cluster.nodes}


def changed(path: Path, at: int, directories: Directories) -> Found:
    """What the comparison says while the byte at ``at`` is another one."""
    with path.open("r+b") as file:
        (old,) = os.pread(file.fileno(), 1, at)
        os.pwrite(file.fileno(), bytes([old ^ 1]), at)
        try:
            return compare("sqlite", directories)
        finally:
            os.pwrite(file.fileno(), bytes([old]), at)


def largest(paths: list[Path]) -> Path:
    """The one with most bytes that are not zero at its end."""
    return max(paths, key=lambda path: len(path.read_bytes().rstrip(b"\0")))


def test_three_copies_are_the_same(directories: Directories) -> None:
    found = compare("sqlite", directories)
    assert found.problems == []
    assert found.vsegs > 3
    assert dict(found.copies) == {"3 of 3": found.vsegs}
    assert found.chunks_of_owners > 100
    assert found.bytes_compared > found.vsegs * 1000
    assert len(found.chains) >= 4


def of_replica(directories: Directories) -> tuple[Path, int]:
    return largest(sorted((directories[2] / DIRECTORY).glob(f"*{SUFFIX}"))), FILE_HEADER_SIZE + 5000


def of_segment(directories: Directories) -> tuple[Path, int]:
    return largest(sorted((directories[2] / STREAMS).glob(f"*/*/*{CHUNKS}"))), 100


@pytest.mark.parametrize("place", [of_replica, of_segment])
def test_one_other_bit_is_seen(
    directories: Directories, place: Callable[[Directories], tuple[Path, int]]
) -> None:
    path, at = place(directories)
    found = changed(path, at, directories)
    assert len(found.problems) >= 1
    assert "differs" in found.problems[0] or "does not have" in found.problems[0]


def test_a_missing_copy_is_seen(directories: Directories) -> None:
    path, _ = of_replica(directories)
    path.rename(path.with_suffix(".away"))
    try:
        found = compare("sqlite", directories)
    finally:
        path.with_suffix(".away").rename(path)
    assert any("is not there" in problem for problem in found.problems)


def test_batches_of_tens_of_megabytes_are_the_same_everywhere(tmp_path: Path) -> None:
    """Beside small ones, while a broker dies; backups write them in several turns."""
    settings = {
        "message.max.bytes": str(64 << 20),
        "kproto.repair.delay.ms": "500",
        "kproto.virtual.segment.bytes": str(1 << 20),
    }
    large = [bytes([number]) * (20 << 20) for number in range(1, 7)]
    with own_cluster(tmp_path, settings=settings) as cluster:
        load = ClusterLoad(cluster, partitions=8, producers=2)
        topic = create_topic(cluster.bootstrap_servers, "large", 3, None, 3)
        client = Producer(
            {
                "bootstrap.servers": cluster.bootstrap_servers,
                "enable.idempotence": True,
                "message.max.bytes": 64 << 20,
                "queue.buffering.max.kbytes": 512 << 10,
            }
        )
        acked: dict[int, int] = {}
        for number, value in enumerate(large):
            client.produce(
                topic,
                value,
                partition=number % 3,
                on_delivery=lambda error, _, number=number: acked.update({number: error}),
            )
            if number == 3:
                wait_until("one is acknowledged", lambda: client.poll(0.05) or acked)
                cluster.kill(2)
        assert client.flush(120) == 0
        assert acked == dict.fromkeys(range(len(large)))
        cluster.start([2])
        await_copies(cluster)
        for partition in range(3):
            expected = [value for number, value in enumerate(large) if number % 3 == partition]
            assert read_all(cluster.bootstrap_servers, topic, partition, len(expected)) == expected
        load.finish()
    directories = {node.node: Path(cluster.data_dir(node.node)) for node in cluster.nodes}
    found = compare("sqlite", directories)
    assert found.problems == []
    assert found.bytes_compared > 2 * sum(map(len, large))


def read_all(bootstrap: str, topic: str, partition: int, count: int) -> list[bytes | None]:
    """The values of ``count`` records from the start."""
    client = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "nobody", "fetch.message.max.bytes": 64 << 20}
    )
    client.assign([TopicPartition(topic, partition, 0)])
    found: list[bytes | None] = []

    def read() -> bool:
        message = client.poll(0.2)
        if message is not None and message.error() is None:
            found.append(message.value())
        return len(found) >= count

    try:
        wait_until(f"{count} records", read)
    finally:
        client.close()
    return found
