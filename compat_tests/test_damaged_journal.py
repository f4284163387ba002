"""A damaged journal of a single broker: acknowledged records are not given up unless the operator says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_tests.support.broker import Kproto
from compat_tests.support.confluent import producer, read_partition
from compat_tests.support.topics import create_topic

pytestmark = [pytest.mark.owns_broker]

MARKS = [b"first-" + b"a" * 50, b"second-" + b"b" * 50, b"third-" + b"c" * 50]


def write_one_by_one(bootstrap: str, topic: str) -> None:
    client = producer(bootstrap, acks="all")
    for value in MARKS:
        client.produce(topic, value, partition=0)
        assert client.flush(180) == 0


def damage(data_dir: Path, mark: bytes) -> None:
    """Flip bytes in the journal where the record is."""
    for path in data_dir.glob("journal/*.journal"):
        content = bytearray(path.read_bytes())
        place = content.find(mark)
        if place >= 0:
            content[place : place + 4] = b"!!!!"
            path.write_bytes(content)
            return
    raise AssertionError(f"{mark!r} is in no journal file")


def write_and_damage(broker: Kproto) -> str:
    """A topic whose second record is damaged in the journal of a killed broker."""
    topic = create_topic(broker.bootstrap, "damaged", 1)
    write_one_by_one(broker.bootstrap, topic)
    broker.kill()
    damage(broker.data_dir, MARKS[1])
    return topic


def test_the_start_is_refused_until_the_loss_is_accepted(tmp_path: Path) -> None:
    broker = Kproto(tmp_path, {"kproto.flush.age.ms": 600_000})
    with broker:
        topic = write_and_damage(broker)
        process = broker.spawn()
        assert process.wait(120) == 2
        assert "unclean.leader.election.enable=true" in broker.log_tail().strip().splitlines()[-1]
    brave = Kproto(tmp_path, {"unclean.leader.election.enable": "true"})
    with brave:
        left = [message.value() for message in read_partition(brave.bootstrap, topic, 0)]
        assert left == MARKS[:1], "the log ends before the damage"
        write_one_by_one(brave.bootstrap, topic)
        again = [message.value() for message in read_partition(brave.bootstrap, topic, 0)]
        assert again == [MARKS[0], *MARKS]


def test_the_loss_is_accepted_once_also_by_a_broker_that_stops_at_once(tmp_path: Path) -> None:
    broker = Kproto(tmp_path, {"kproto.flush.age.ms": 600_000})
    with broker:
        topic = write_and_damage(broker)
    with Kproto(tmp_path, {"unclean.leader.election.enable": "true"}) as brave:
        brave.stop()
        assert not list(brave.data_dir.glob("journal/*.journal")), "nobody needs it"
    with Kproto(tmp_path) as broker:
        left = [message.value() for message in read_partition(broker.bootstrap, topic, 0)]
        assert left == MARKS[:1]
