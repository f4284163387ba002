"""aiokafka: older protocol versions (Produce 8, Fetch 11, Metadata 5, no flexible ones)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.admin.records_to_delete import RecordsToDelete
from aiokafka.structs import OffsetAndMetadata

from compat_tests.support.confluent import read_samples
from compat_tests.support.records import BASE_TIME_MS, CODECS, Sample, large_values, same_sequence, samples
from compat_tests.support.topics import unique

MakeTopic = Callable[..., str]


async def send(bootstrap: str, topic: str, records: list[Sample], **settings: object) -> list[int]:
    """Send to partition 0; the acknowledged offsets (-1 without acks)."""
    async with AIOKafkaProducer(bootstrap_servers=bootstrap, linger_ms=5, **settings) as client:
        futures = [
            await client.send(
                topic,
                value=record.value,
                key=record.key,
                headers=list(record.headers),
                partition=0,
                timestamp_ms=record.timestamp,
            )
            for record in records
        ]
        await client.flush()
        return [-1 if (done := await future) is None else done.offset for future in futures]


async def receive(bootstrap: str, topic: str, count: int) -> list[Sample]:
    async with AIOKafkaConsumer(
        bootstrap_servers=bootstrap, auto_offset_reset="earliest", check_crcs=True
    ) as client:
        place = TopicPartition(topic, 0)
        client.assign([place])
        await client.seek_to_beginning(place)
        found: list[Sample] = []
        async with asyncio.timeout(180):
            while len(found) < count:
                for record in (await client.getmany(timeout_ms=200)).get(place, []):
                    assert record.offset == len(found)
                    found.append(Sample(record.key, record.value, tuple(record.headers), record.timestamp))
        return found


@pytest.mark.parametrize("acks", [0, 1, "all"])
@pytest.mark.parametrize("codec", CODECS)
def test_produce_and_read_back(bootstrap: str, new_topic: MakeTopic, codec: str, acks: int | str) -> None:
    topic = new_topic()
    sent = samples(500, gentle=True)
    settings = {"compression_type": None if codec == "none" else codec, "enable_idempotence": acks == "all"}

    async def both() -> None:
        offsets = await send(bootstrap, topic, sent, acks=acks, **settings)
        assert offsets == ([-1] * 500 if acks == 0 else list(range(500)))
        same_sequence(sent, await receive(bootstrap, topic, 500), f"{codec} {acks}")

    asyncio.run(both())
    same_sequence(sent, read_samples(bootstrap, topic, 0), f"{codec} {acks}, read by librdkafka")


def test_messages_of_900_kb(bootstrap: str, new_topic: MakeTopic) -> None:
    topic = new_topic()
    sent = [Sample(None, value, (), BASE_TIME_MS) for value in large_values()]

    async def both() -> None:
        assert await send(bootstrap, topic, sent, max_request_size=1_000_000) == list(range(8))
        same_sequence(sent, await receive(bootstrap, topic, 8), topic)

    asyncio.run(both())


def test_seek_by_time_pause_resume(bootstrap: str, new_topic: MakeTopic) -> None:
    topic = new_topic()
    place = TopicPartition(topic, 0)

    async def run() -> None:
        await send(bootstrap, topic, [Sample(None, b"%d" % n, (), BASE_TIME_MS + 10 * n) for n in range(300)])
        async with AIOKafkaConsumer(bootstrap_servers=bootstrap) as client:
            client.assign([place])
            for number in (0, 1, 150, 299):
                found = (await client.offsets_for_times({place: BASE_TIME_MS + 10 * number}))[place]
                assert (found.offset, found.timestamp) == (number, BASE_TIME_MS + 10 * number)
            assert await client.beginning_offsets([place]) == {place: 0}
            assert await client.end_offsets([place]) == {place: 300}
            client.seek(place, 290)
            assert (await client.getone()).offset == 290
            client.pause(place)
            assert await client.getmany(timeout_ms=500) == {}
            client.resume(place)
            assert (await client.getone()).offset == 291

    asyncio.run(run())


def test_commit_and_resume(bootstrap: str, new_topic: MakeTopic, group: str) -> None:
    topic = new_topic()
    place = TopicPartition(topic, 0)

    async def run() -> None:
        await send(bootstrap, topic, samples(100, gentle=True))
        for turn in range(3):
            async with AIOKafkaConsumer(
                topic,
                bootstrap_servers=bootstrap,
                group_id=group,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
            ) as client:
                first = await asyncio.wait_for(client.getone(), 180)
                assert first.offset == turn * 20
                await client.commit({place: OffsetAndMetadata(first.offset + 20, f"turn {turn}")})
                assert await client.committed(place) == first.offset + 20

    asyncio.run(run())


async def flush_ms(admin: AIOKafkaAdminClient, topic: str) -> str:
    """What the topic has for ``flush.ms``."""
    wanted = ConfigResource(ConfigResourceType.TOPIC, topic, {"flush.ms": None})
    (answer,) = await admin.describe_configs([wanted])
    ((_, _, _, _, ((_, value, *_),)),) = answer.resources
    return str(value)


def test_admin(bootstrap: str) -> None:
    topic = unique("aio")
    place = TopicPartition(topic, 0)

    async def until(condition: Callable[[list[str]], bool], admin: AIOKafkaAdminClient) -> None:
        async with asyncio.timeout(180):
            while not condition(await admin.list_topics()):
                await asyncio.sleep(0.05)

    async def run() -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
        await admin.start()
        created = await admin.create_topics([NewTopic(topic, num_partitions=3, replication_factor=1)])
        assert created.topic_errors[0][1] == 0
        again = await admin.create_topics([NewTopic(topic, num_partitions=3, replication_factor=1)])
        assert again.topic_errors[0][1] == 36
        await until(lambda names: topic in names, admin)
        described = (await admin.describe_topics([topic]))[0]
        assert sorted(part["partition"] for part in described["partitions"]) == [0, 1, 2]
        change = ConfigResource(ConfigResourceType.TOPIC, topic, {"flush.ms": "800000"})
        (altered,) = await admin.alter_configs([change])
        assert altered.resources[0][0] == 0
        async with asyncio.timeout(180):
            while await flush_ms(admin, topic) != "800000":
                await asyncio.sleep(0.05)
        await send(bootstrap, topic, samples(60, gentle=True))
        assert await admin.delete_records({place: RecordsToDelete(before_offset=25)}) == {place: 25}
        await admin.delete_topics([topic])
        await until(lambda names: topic not in names, admin)
        await admin.close()

    asyncio.run(run())
