"""confluent-kafka (librdkafka): one partition per Produce request, many in flight; its AdminClient."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from compat_tests.support.confluent import (
    consumer,
    messages,
    producer,
    read_partition,
    read_samples,
    send_all,
)
from compat_tests.support.ports import wait_until
from compat_tests.support.records import (
    BASE_TIME_MS,
    CODECS,
    Sample,
    large_values,
    same_sequence,
    samples,
)
from compat_tests.support.topics import unique

MakeTopic = Callable[..., str]


@pytest.mark.parametrize("acks", ["0", "1", "all"])
@pytest.mark.parametrize("codec", CODECS)
def test_produce_and_read_back(bootstrap: str, new_topic: MakeTopic, codec: str, acks: str) -> None:
    topic = new_topic(partitions=2)
    client = producer(bootstrap, acks=acks, compression_codec=codec, linger_ms=5, max_in_flight=1)
    for partition in (0, 1):
        sent = samples(1000, seed=partition)
        offsets = send_all(client, topic, partition, sent)
        assert offsets == ([-1] * 1000 if acks == "0" else list(range(1000)))
        if acks == "0":
            wait_until("acks=0 records", lambda p=partition: high_watermark(bootstrap, topic, p) == 1000)
        same_sequence(sent, read_samples(bootstrap, topic, partition), f"{topic}-{partition}")


def high_watermark(bootstrap: str, topic: str, partition: int) -> int:
    client = consumer(bootstrap)
    try:
        return int(client.get_watermark_offsets(TopicPartition(topic, partition), timeout=60)[1])
    finally:
        client.close()


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_idempotent_producer_keeps_order(bootstrap: str, new_topic: MakeTopic, codec: str) -> None:
    topic = new_topic()
    client = producer(
        bootstrap, enable_idempotence=True, compression_codec=codec, linger_ms=0, batch_num_messages=7
    )
    sent = samples(2000)
    assert send_all(client, topic, 0, sent) == list(range(2000))
    same_sequence(sent, read_samples(bootstrap, topic, 0), topic)


@pytest.mark.parametrize("codec", ["none", "snappy"])
def test_messages_of_900_kb(bootstrap: str, new_topic: MakeTopic, codec: str) -> None:
    topic = new_topic()
    client = producer(bootstrap, compression_codec=codec, enable_idempotence=True)
    sent = [Sample(None, value, (), BASE_TIME_MS) for value in large_values()]
    assert send_all(client, topic, 0, sent) == list(range(len(sent)))
    same_sequence(sent, read_samples(bootstrap, topic, 0), topic)


def test_a_message_over_the_limit_is_refused(bootstrap: str, new_topic: MakeTopic) -> None:
    topic = new_topic(max_message_bytes=10_000)
    client = producer(bootstrap, message_max_bytes=100_000)
    failures: list[int] = []
    for size in (20_000, 100):
        client.produce(
            topic,
            bytes(size),
            partition=0,
            on_delivery=lambda error, _: failures.append(error.code() if error else 0),
        )
        client.flush(120)
    assert failures == [KafkaError.MSG_SIZE_TOO_LARGE, 0]
    assert len(read_partition(bootstrap, topic, 0)) == 1


def test_unknown_topic_and_partition(bootstrap: str, new_topic: MakeTopic) -> None:
    topic = new_topic(partitions=1)
    client = consumer(bootstrap, allow_auto_create_topics=False)
    with pytest.raises(KafkaException) as raised:
        client.get_watermark_offsets(TopicPartition(topic, 9), timeout=60)
    assert raised.value.args[0].code() in (
        KafkaError._UNKNOWN_PARTITION,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
    )
    client.close()
    missing = producer(bootstrap, allow_auto_create_topics=False, topic_metadata_propagation_max_ms=1000)
    codes: list[int] = []
    missing.produce(unique("missing"), b"x", on_delivery=lambda error, _: codes.append(error.code()))
    missing.flush(120)
    assert codes
    assert codes[0] in (KafkaError._UNKNOWN_TOPIC, KafkaError.UNKNOWN_TOPIC_OR_PART)


def test_a_topic_is_created_by_its_first_message(bootstrap: str) -> None:
    topic = unique("auto")
    send_all(producer(bootstrap), topic, 0, [Sample(b"k", b"v", (), BASE_TIME_MS)])
    assert [message.value() for message in read_partition(bootstrap, topic, 0)] == [b"v"]
    meta = AdminClient({"bootstrap.servers": bootstrap}).list_topics(topic, timeout=60).topics[topic]
    assert list(meta.partitions) == [0]


def test_seek_by_time_and_offset(bootstrap: str, new_topic: MakeTopic) -> None:
    topic = new_topic()
    sent = [Sample(None, b"%d" % n, (), BASE_TIME_MS + 10 * n) for n in range(1000)]
    send_all(producer(bootstrap, batch_num_messages=13), topic, 0, sent)
    client = consumer(bootstrap)
    for number in random.Random(3).sample(range(1, 1000), 25):
        exact, before = (
            client.offsets_for_times(
                [TopicPartition(topic, 0, BASE_TIME_MS + 10 * number - less)], timeout=60
            )[0]
            for less in (0, 5)
        )
        assert (exact.offset, before.offset) == (number, number)
    late = client.offsets_for_times([TopicPartition(topic, 0, BASE_TIME_MS + 10_000)], timeout=60)[0]
    assert late.offset == -1
    client.assign([TopicPartition(topic, 0, 500)])
    assert messages(client, 3)[0].offset() == 500
    for target in (999, 0, 321):
        client.seek(TopicPartition(topic, 0, target))
        assert messages(client, 1)[0].offset() == target
    client.close()


def test_pause_and_resume(bootstrap: str, new_topic: MakeTopic) -> None:
    topic = new_topic(partitions=2)
    feed = producer(bootstrap)
    for partition in (0, 1):
        send_all(feed, topic, partition, samples(300))
    client = consumer(bootstrap)
    places = [TopicPartition(topic, 0, 0), TopicPartition(topic, 1, 0)]
    client.assign(places)
    client.pause(places[:1])
    assert {message.partition() for message in messages(client, 300)} == {1}
    assert client.consume(10, 0.5) == []
    client.resume(places[:1])
    resumed = messages(client, 300)
    assert [(message.partition(), message.offset()) for message in resumed] == [(0, n) for n in range(300)]
    client.close()


def test_commit_and_resume(bootstrap: str, new_topic: MakeTopic, group: str) -> None:
    topic = new_topic()
    send_all(producer(bootstrap), topic, 0, samples(500))
    place = 0
    for turn in range(4):
        client = consumer(bootstrap, group_id=group)
        client.subscribe([topic])
        first = messages(client, 1)[0]
        assert first.offset() == place
        place += 100
        wanted = TopicPartition(topic, 0, place, metadata=f"turn {turn}")
        client.commit(offsets=[wanted], asynchronous=False)
        stored = client.committed([TopicPartition(topic, 0)], timeout=60)[0]
        assert (stored.offset, stored.metadata) == (place, f"turn {turn}")
        client.close()


def test_a_long_poll_ends_with_the_first_record(bootstrap: str, new_topic: MakeTopic) -> None:
    topic = new_topic()
    client = consumer(bootstrap, fetch_wait_max_ms=250_000, fetch_min_bytes=1, socket_timeout_ms=300_000)
    client.assign([TopicPartition(topic, 0, 0)])
    assert client.poll(1.0) is None
    feed = producer(bootstrap, linger_ms=0)
    feed.produce(topic, b"now", partition=0)
    feed.flush(120)
    assert messages(client, 1, 120)[0].value() == b"now"  # fails where it waits for the end of the long poll
    client.close()


def test_topics_from_birth_to_death(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    topic = unique("life")
    wish = NewTopic(topic, num_partitions=3, replication_factor=1, config={"retention.ms": "5000000"})
    admin.create_topics([wish])[topic].result(120)
    with pytest.raises(KafkaException, match="exists"):
        admin.create_topics([wish])[topic].result(120)
    wait_until("the topic", lambda: len(admin.list_topics(topic, timeout=60).topics[topic].partitions) == 3)
    admin.create_partitions([NewPartitions(topic, 5)])[topic].result(120)
    wait_until(
        "5 partitions", lambda: len(admin.list_topics(topic, timeout=60).topics[topic].partitions) == 5
    )
    assert config_value(admin, topic, "retention.ms") == "5000000"
    change = ConfigEntry("retention.ms", "6000000", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[change])
    admin.incremental_alter_configs([resource])[resource].result(120)
    assert config_value(admin, topic, "retention.ms") == "6000000"
    admin.delete_topics([topic])[topic].result(120)
    wait_until("its end", lambda: topic not in admin.list_topics(timeout=60).topics)
    with pytest.raises(KafkaException):
        admin.delete_topics([topic])[topic].result(120)


def config_value(admin: AdminClient, topic: str, name: str) -> str:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    return str(admin.describe_configs([resource])[resource].result(120)[name].value)


def test_delete_records(bootstrap: str, new_topic: MakeTopic) -> None:
    topic = new_topic()
    send_all(producer(bootstrap, batch_num_messages=10), topic, 0, samples(500))
    admin = AdminClient({"bootstrap.servers": bootstrap})
    wish = TopicPartition(topic, 0, 123)
    assert admin.delete_records([wish])[TopicPartition(topic, 0)].result(120).low_watermark == 123
    left = read_partition(bootstrap, topic, 0)
    assert [message.offset() for message in left] == list(range(123, 500))
    specs = {TopicPartition(topic, 0): OffsetSpec.earliest()}
    assert next(iter(admin.list_offsets(specs).values())).result(120).offset == 123
    client = consumer(bootstrap, auto_offset_reset="earliest")
    client.assign([TopicPartition(topic, 0, 5)])
    assert messages(client, 1)[0].offset() == 123, "an offset below the log start is reset to it"
    client.close()


def test_retention_by_size_and_segment_roll_settings_are_accepted(
    bootstrap: str, new_topic: MakeTopic
) -> None:
    topic = new_topic(segment_bytes=1_048_576, retention_bytes=2_097_152, segment_ms=60_000)
    sent = [Sample(None, value, (), BASE_TIME_MS) for value in large_values(4, 500_000)]
    assert send_all(producer(bootstrap), topic, 0, sent) == [0, 1, 2, 3]
    assert read_partition(bootstrap, topic, 0)[-1].offset() == 3


def test_log_append_time(bootstrap: str, new_topic: MakeTopic) -> None:
    """The broker's own time, not the producer's; the CRC is right again (the client checks it)."""
    import time

    topic = new_topic(message_timestamp_type="LogAppendTime")
    before = time.time() * 1000
    send_all(producer(bootstrap, compression_codec="zstd"), topic, 0, samples(50))
    found = read_partition(bootstrap, topic, 0, check_crcs=True)
    assert len(found) == 50
    for message in found:
        kind, stamp = message.timestamp()
        assert kind == 2
        assert before - 2000 <= stamp <= time.time() * 1000 + 2000


def test_timestamps_too_far_ahead_are_refused(bootstrap: str, new_topic: MakeTopic) -> None:
    import time

    topic = new_topic(message_timestamp_after_max_ms=60_000)
    client = producer(bootstrap)
    codes: list[int] = []
    ahead = int(time.time() * 1000) + 3_600_000
    client.produce(
        topic, b"x", partition=0, timestamp=ahead, on_delivery=lambda error, _: codes.append(error.code())
    )
    client.flush(120)
    assert codes == [KafkaError.INVALID_TIMESTAMP]
