"""Groups as they are stored: Kafka's own formatters read them, and members go on after kill -9."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from compat_tests.support.confluent import producer, send_all
from compat_tests.support.java import Jvm
from compat_tests.support.members import PATIENCE_S, Members
from compat_tests.support.ports import wait_until
from compat_tests.support.records import plain
from compat_tests.support.target import own_broker
from compat_tests.support.topics import create_topic, unique

CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
FORMATTERS = "org.apache.kafka.tools.consumer."


def internal_records(jvm: Jvm, formatter: str) -> list[dict[str, dict[str, Any]]]:
    """``__consumer_offsets`` from its beginning, as one of Kafka's formatters prints it.

    Kafka's tool ends when no record comes for 8 s, also when it has seen none yet on a busy machine.
    """
    arguments = ("--topic", "__consumer_offsets", "--from-beginning", "--timeout-ms", "8000")
    shown = jvm.tool(
        CONSOLE_CONSUMER,
        "--bootstrap-server",
        jvm.bootstrap,
        *arguments,
        "--formatter",
        FORMATTERS + formatter,
    )
    assert shown.exit == 0, shown.stderr
    found, position = [], 0  # one of the formatters prints no line ends
    while (position := shown.stdout.find("{", position)) >= 0:
        record, position = json.JSONDecoder().raw_decode(shown.stdout, position)
        found.append(record)
    return found


def test_kafkas_formatters_read_offsets_and_groups(
    jvm: Jvm, bootstrap: str, new_topic: Callable[..., str], group: str
) -> None:
    topic = new_topic(partitions=2)
    config = {"bootstrap.servers": bootstrap, "group.id": group, "enable.auto.commit": False}
    consumer = Consumer(config)
    consumer.subscribe([topic])

    def assigned() -> bool:
        consumer.poll(0.2)
        return bool(consumer.assignment())

    wait_until("an assignment", assigned, PATIENCE_S)
    consumer.commit(offsets=[TopicPartition(topic, 1, 42, "a note")], asynchronous=False)
    consumer.close()

    def ours(formatter: str) -> list[dict[str, dict[str, Any]]]:
        return [r for r in internal_records(jvm, formatter) if r["key"]["data"]["group"] == group]

    offsets = wait_until("the offset to be read", lambda: ours("OffsetsMessageFormatter"), PATIENCE_S)
    (offset,) = (r for r in offsets if r["key"]["data"]["partition"] == 1)
    assert offset["key"]["data"]["topic"] == topic
    assert offset["value"]["data"]["offset"] == 42
    # confluent-kafka sends the C string's terminating zero along.
    assert str(offset["value"]["data"]["metadata"]).rstrip("\0") == "a note"
    groups = wait_until("the group to be read", lambda: ours("GroupMetadataMessageFormatter"), PATIENCE_S)
    states = [r["value"]["data"] for r in groups if r["value"]]
    joined = [state for state in states if state["members"]]
    assert joined[0]["protocolType"] == "consumer"
    assert joined[0]["members"][0]["clientId"] == "rdkafka"
    assert states[-1]["members"] == []


@pytest.mark.owns_broker
@pytest.mark.kproto_only
def test_members_go_on_after_the_broker_is_killed(
    request: pytest.FixtureRequest, group: str, tmp_path: Path
) -> None:
    """The group comes back stable from its log: the same members keep their partitions and offsets.

    No member dies, so none is to be thrown out because the machine stood still.
    """
    (tmp_path / "members").mkdir()
    with own_broker(request.config, tmp_path / "broker", {}) as broker:
        topic = create_topic(broker.bootstrap, unique("t"), 6, {})
        client = producer(broker.bootstrap)

        def send(start: int) -> set[str]:
            for partition in range(6):
                numbers = [n for n in range(start, start + 60) if n % 6 == partition]
                send_all(client, topic, partition, plain(b"%d" % n for n in numbers))
            return {str(n) for n in range(start + 60)}

        place = tmp_path / "members"
        with Members("confluent", broker.bootstrap, topic, group, place, session_ms=60_000) as members:
            members.join("a")
            members.join("b")
            members.settle(6)
            members.await_delivery(send(0))
            before = members.owned()
            for round_ in range(1, 4):
                broker.kill()
                broker.start()
                members.await_delivery(send(60 * round_))
            assert members.owned() == before, "a restart moved partitions"
            delivered = members.delivered()
        assert len(delivered) == len(set(delivered)) == 240
