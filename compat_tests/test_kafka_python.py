"""kafka-python 3: its producer (idempotent by default), consumer and admin client."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, NewPartitions, NewTopic
from kafka.errors import TopicAlreadyExistsError
from kafka.structs import OffsetAndMetadata

from compat_tests.support.confluent import read_samples
from compat_tests.support.ports import wait_until
from compat_tests.support.records import BASE_TIME_MS, CODECS, Sample, large_values, same_sequence, samples
from compat_tests.support.topics import unique

MakeTopic = Callable[..., str]


def send(bootstrap: str, topic: str, records: list[Sample], **settings: object) -> list[int]:
    """Send to partition 0; the acknowledged offsets."""
    client = KafkaProducer(bootstrap_servers=bootstrap, linger_ms=5, **settings)
    futures = [
        client.send(
            topic,
            value=record.value,
            key=record.key,
            headers=list(record.headers),
            partition=0,
            timestamp_ms=record.timestamp,
        )
        for record in records
    ]
    client.flush(120)
    offsets = [future.get(120).offset for future in futures]
    client.close()
    return offsets


def receive(bootstrap: str, topic: str, count: int) -> list[Sample]:
    client = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", check_crcs=True)
    place = TopicPartition(topic, 0)
    client.assign([place])
    found: list[Sample] = []

    def enough() -> bool:
        for record in client.poll(timeout_ms=200).get(place, []):
            assert record.offset == len(found)
            found.append(Sample(record.key, record.value, tuple(record.headers), record.timestamp))
        return len(found) >= count

    wait_until(f"{count} records", enough)
    client.close()
    return found


@pytest.mark.parametrize("acks", [0, 1, "all"])
@pytest.mark.parametrize("codec", CODECS)
def test_produce_and_read_back(bootstrap: str, new_topic: MakeTopic, codec: str, acks: int | str) -> None:
    topic = new_topic()
    sent = samples(500, gentle=True)
    offsets = send(
        bootstrap,
        topic,
        sent,
        acks=acks,
        compression_type=None if codec == "none" else codec,
        enable_idempotence=acks == "all",
        max_in_flight_requests_per_connection=1,
    )
    assert acks == 0 or offsets == list(range(500)), "without acks the client makes its offsets up"
    same_sequence(sent, receive(bootstrap, topic, 500), f"{codec} {acks}")
    same_sequence(sent, read_samples(bootstrap, topic, 0), f"{codec} {acks}, read by librdkafka")


def test_messages_of_900_kb(bootstrap: str, new_topic: MakeTopic) -> None:
    topic = new_topic()
    sent = [Sample(None, value, (), BASE_TIME_MS) for value in large_values()]
    assert send(bootstrap, topic, sent) == list(range(8))
    same_sequence(sent, receive(bootstrap, topic, 8), topic)


def test_seek_by_time_pause_resume(bootstrap: str, new_topic: MakeTopic) -> None:
    topic = new_topic()
    send(
        bootstrap,
        topic,
        [Sample(None, b"%d" % n, (), BASE_TIME_MS + 10 * n) for n in range(500)],
        batch_size=400,
    )
    client = KafkaConsumer(bootstrap_servers=bootstrap)
    place = TopicPartition(topic, 0)
    client.assign([place])
    for number in (0, 1, 249, 499):
        found = client.offsets_for_times({place: BASE_TIME_MS + 10 * number})[place]
        assert (found.offset, found.timestamp) == (number, BASE_TIME_MS + 10 * number)
    assert client.beginning_offsets([place]) == {place: 0}
    assert client.end_offsets([place]) == {place: 500}
    client.seek(place, 490)
    got: list[int] = []

    def read_on() -> int:
        got.extend(record.offset for record in client.poll(timeout_ms=200).get(place, []))
        return len(got) == 10

    wait_until("ten records", read_on)
    assert got == list(range(490, 500))
    client.pause(place)
    client.seek(place, 0)
    assert client.poll(timeout_ms=500) == {}
    client.resume(place)
    got.clear()
    wait_until(
        "the rest", lambda: got.extend(r.offset for r in client.poll(200).get(place, [])) or len(got) >= 500
    )
    assert got == list(range(500))
    client.close()


def test_commit_and_resume(bootstrap: str, new_topic: MakeTopic, group: str) -> None:
    topic = new_topic()
    send(bootstrap, topic, samples(100, gentle=True))
    place = TopicPartition(topic, 0)
    for turn in range(3):
        client = KafkaConsumer(
            topic,
            bootstrap_servers=bootstrap,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )
        first = next(client)
        assert first.offset == turn * 20
        client.commit({place: OffsetAndMetadata(first.offset + 20, f"turn {turn}", -1)})
        assert client.committed(place) == first.offset + 20
        client.close()


def test_what_was_committed_is_told_before_the_commit_was_answered(
    bootstrap: str, new_topic: MakeTopic, group: str
) -> None:
    """Both requests are on their way at once, on one connection: the old offset was told."""
    place = TopicPartition(new_topic(), 0)
    client = KafkaConsumer(bootstrap_servers=bootstrap, group_id=group, enable_auto_commit=False)
    client.assign([place])
    told = []
    for offset in range(1, 31):
        client.commit_async({place: OffsetAndMetadata(offset, "", -1)})
        told.append(client.committed(place))
    assert told == list(range(1, 31))
    client.close()


def test_admin(bootstrap: str) -> None:
    topic = unique("kp")
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    admin.create_topics(
        [NewTopic(topic, num_partitions=2, replication_factor=1, topic_configs={"flush.ms": "900000"})]
    )
    with pytest.raises(TopicAlreadyExistsError):
        admin.create_topics([NewTopic(topic, num_partitions=2, replication_factor=1)])
    wait_until("the topic", lambda: topic in admin.list_topics())
    admin.create_partitions({topic: NewPartitions(4)})
    wait_until("4 partitions", lambda: len(admin.describe_topics([topic])[0]["partitions"]) == 4)
    described = admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)], config_filter="all")
    assert "900000" in str(described)
    for incremental, wanted in ((True, "800000"), (False, "700000")):
        change = ConfigResource(ConfigResourceType.TOPIC, topic, configs={"flush.ms": wanted})
        admin.alter_configs([change], incremental=incremental)
        change = ConfigResource(ConfigResourceType.TOPIC, topic)
        wait_until(
            f"flush.ms={wanted}",
            lambda wanted=wanted, change=change: wanted in str(admin.describe_configs([change])),
        )
    send(bootstrap, topic, samples(60, gentle=True))
    place = TopicPartition(topic, 0)
    admin.delete_records({place: 25})
    reader = KafkaConsumer(bootstrap_servers=bootstrap)
    assert reader.beginning_offsets([place]) == {place: 25}
    reader.close()
    assert len(admin.describe_cluster()["brokers"]) == 1
    admin.delete_topics([topic])
    wait_until("its end", lambda: topic not in admin.list_topics())
    admin.close()


def test_group_admin(bootstrap: str, new_topic: MakeTopic, group: str) -> None:
    topic = new_topic()
    send(bootstrap, topic, samples(10, gentle=True))
    place = TopicPartition(topic, 0)
    member = KafkaConsumer(topic, bootstrap_servers=bootstrap, group_id=group, auto_offset_reset="earliest")
    next(member)
    member.commit({place: OffsetAndMetadata(7, "", -1)})
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    assert group in str(admin.list_groups())
    assert "Stable" in str(admin.describe_groups([group])).title()
    member.close(autocommit=False)
    admin.delete_groups([group])
    assert group not in str(admin.list_groups())
    admin.close()
