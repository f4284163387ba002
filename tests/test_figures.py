"""The values behind the metrics endpoint, of real brokers that real connections have asked something."""

import asyncio
import urllib.request
from pathlib import Path

import pytest

from kproto import figures
from kproto.broker import Broker
from kproto.wire.generated import create_topics, delete_topics, metadata, offset_commit, produce
from tests.groups.members import Members, members
from tests.log.support import batch

PRODUCE, FETCH, METADATA, OFFSET_COMMIT, FIND_COORDINATOR = 0, 1, 3, 8, 10
CREATE_TOPICS, DELETE_TOPICS = 19, 20


async def shown(broker: Broker, path: str = "/metrics") -> dict[str, float]:
    """Prometheus' lines of a broker, by name with labels."""
    assert broker._metrics is not None
    address = f"http://127.0.0.1:{broker._metrics.port}{path}"

    def fetch() -> str:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return str(answer.read(), "utf-8")

    lines = (await asyncio.to_thread(fetch)).splitlines()
    pairs = [line.rpartition(" ") for line in lines if not line.startswith("#")]
    return {name: float(value) for name, _, value in pairs}


async def create(cluster: Members, name: str, partitions: int, copies: int) -> None:
    topic = create_topics.CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=copies,
        configs=[create_topics.CreatableTopicConfig(name="kproto.active.groups", value="2")],
    )
    answer = await cluster.call(1, CREATE_TOPICS, 7, topics=[topic], timeout_ms=30_000, validate_only=False)
    assert [one.error_code for one in answer.topics] == [0]


def test_requests_are_counted_by_api_and_bytes_both_ways(tmp_path: Path) -> None:
    async def main() -> None:
        async with members(tmp_path, 1, kproto_metrics_listen="127.0.0.1:0") as cluster:
            broker = cluster.brokers[1]
            before = await shown(broker)
            assert not [name for name in before if name.startswith("kproto_requests_total")]
            assert before["kproto_response_bytes_total"] == before["kproto_connections_total"] == 0
            for _ in range(3):
                await cluster.call(1, METADATA, 12, topics=[metadata.MetadataRequestTopic(name="unknown")])
                await cluster.call(1, FETCH, 12, max_wait_ms=0, min_bytes=0, topics=[])
            after = await shown(broker)
            assert after['kproto_requests_total{api="Metadata"}'] == 3
            assert after['kproto_requests_total{api="Fetch"}'] == 3
            assert after["kproto_connections_total"] >= 1
            # of three fetches the first is timed, of the others all
            assert after['kproto_request_seconds_count{api="Fetch"}'] == 1
            assert after['kproto_request_seconds_count{api="Metadata"}'] == 3
            assert after['kproto_request_seconds_bucket{api="Fetch",le="10.0"}'] == 1
            assert 0 < after['kproto_request_seconds_sum{api="Fetch"}'] < 10
            for api in ("Metadata", "Fetch"):
                assert 3 * 20 < after[f'kproto_request_bytes_total{{api="{api}"}}'] < 3 * 200
            assert 3 * 50 < after["kproto_response_bytes_total"] < 3 * 1000

    asyncio.run(main())


def test_partitions_that_a_broker_serves_and_those_that_nobody_does(tmp_path: Path) -> None:
    """Five partitions of two per streamlet; one broker of two goes away, and nobody else has its copies."""

    async def main() -> None:
        listen, patience = "127.0.0.1:0", "60000"
        async with members(
            tmp_path, 2, kproto_metrics_listen=listen, kproto_controller_grace_ms=patience
        ) as cluster:
            await create(cluster, "t", 5, 1)
            await cluster.until(lambda: cluster.image(2).revision == cluster.image(1).revision)
            both = [await shown(cluster.brokers[node]) for node in (1, 2)]
            assert sum(each["kproto_partitions_led"] for each in both) == 5
            assert all(1 < each["kproto_partitions_led"] < 5 for each in both)
            assert [each["kproto_active_controller"] for each in both] == [1, 0]
            assert [each["kproto_brokers"] for each in both] == [2, 2]
            assert [each["kproto_partitions_offline"] for each in both] == [0, 0]
            await cluster.kill(2)
            await cluster.until(lambda: 2 not in cluster.image(1).brokers)
            left = await shown(cluster.brokers[1])
            assert left["kproto_brokers"] == 1
            assert left["kproto_partitions_offline"] == both[1]["kproto_partitions_led"]
            assert left["kproto_partitions_led"] == both[0]["kproto_partitions_led"]

    asyncio.run(main())


async def write(cluster: Members, node: int, topic: str, index: int, chunk: memoryview) -> None:
    part = produce.PartitionProduceData(index=index, records=chunk)
    data = produce.TopicProduceData(name=topic, partition_data=[part])
    answer = await cluster.call(node, PRODUCE, 9, acks=-1, timeout_ms=30_000, topic_data=[data])
    assert [one.error_code for one in answer.responses[0].partition_responses] == [0]


async def commit(cluster: Members, group: str, topic: str, index: int, offset: int) -> int:
    """Commit an offset outside of any generation; the coordinator."""
    found = await cluster.call(1, FIND_COORDINATOR, 4, key_type=0, coordinator_keys=[group])
    node = int(found.coordinators[0].node_id)
    part = offset_commit.OffsetCommitRequestPartition(partition_index=index, committed_offset=offset)
    part.committed_metadata = ""
    topics = [offset_commit.OffsetCommitRequestTopic(name=topic, partitions=[part])]
    answer = await cluster.call(
        node, OFFSET_COMMIT, 8, group_id=group, generation_id_or_member_epoch=-1, member_id="", topics=topics
    )
    assert [one.error_code for one in answer.topics[0].partitions] == [0]
    return node


def test_each_leader_tells_of_its_partitions_and_each_coordinator_of_its_groups(tmp_path: Path) -> None:
    """Of a broker that starts anew, too, which has opened nothing yet."""

    async def main() -> None:
        settings = {
            "kproto_metrics_listen": "127.0.0.1:0",
            "offsets_topic_num_partitions": "2",
            "offsets_topic_replication_factor": "1",
        }
        async with members(tmp_path, 2, **settings) as cluster:
            await create(cluster, "t", 4, 1)
            await cluster.until(lambda: cluster.image(2).revision == cluster.image(1).revision)
            image = cluster.image()
            leaders = [image.partition_streamlet(image.topics["t"], index).leader for index in range(4)]
            assert set(leaders) == {1, 2}
            chunk = batch(b"one", b"two")
            for index in range(3):
                for _ in range(index):
                    await write(cluster, leaders[index], "t", index, chunk)
            coordinator = await commit(cluster, "g", "t", 2, 3)

            async def all_is_told() -> None:
                brokers = cluster.brokers.items()
                told = {node: await shown(broker, "/metrics/topics") for node, broker in brokers}
                for index, leader in enumerate(leaders):
                    labels = f'{{partition="{index}",topic="t"}}'
                    batches = index if index < 3 else 0
                    assert told[leader]["kproto_partition_start_offset" + labels] == 0
                    assert told[leader]["kproto_partition_end_offset" + labels] == 2 * batches
                    assert told[leader]["kproto_partition_bytes" + labels] == len(chunk) * batches
                    assert "kproto_partition_end_offset" + labels not in told[3 - leader]
                labels = '{group="g",partition="2",topic="t"}'
                assert told[coordinator]["kproto_group_committed_offset" + labels] == 3
                assert told[coordinator]['kproto_group_members{group="g"}'] == 0
                assert "kproto_group_committed_offset" + labels not in told[3 - coordinator]

            await all_is_told()
            await cluster.stop(2)
            await cluster.start(2)
            await cluster.until(lambda: len(cluster.brokers[2]._groups.loaded) == 1)
            opened = {one.topic_id for one in cluster.brokers[2]._logs.partitions_open()}
            assert image.topics["t"].topic_id not in opened
            await all_is_told()

    asyncio.run(main())


def test_a_topic_that_is_deleted_while_its_numbers_are_gathered_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither its partitions, of which all was taken down before, nor what groups had committed there."""

    async def main() -> None:
        settings = {
            "kproto_metrics_listen": "127.0.0.1:0",
            "offsets_topic_num_partitions": "1",
            "offsets_topic_replication_factor": "1",
        }
        async with members(tmp_path, 1, **settings) as cluster:
            for name in ("kept", "deleted"):
                await create(cluster, name, 2, 1)
                await commit(cluster, f"of-{name}", name, 0, 5)
            broker, paused = cluster.brokers[1], 0
            last = sum(topic.partitions for topic in cluster.image().topics.values()) + 2

            class Pausing:
                async def __call__(self) -> None:
                    nonlocal paused
                    paused += 1
                    if paused == last:
                        gone = [delete_topics.DeleteTopicState(name="deleted")]
                        answer = await cluster.call(1, DELETE_TOPICS, 6, topics=gone, timeout_ms=30_000)
                        assert [one.error_code for one in answer.responses] == [0]
                        await cluster.until(lambda: "deleted" not in cluster.image().topics)

            monkeypatch.setattr(figures, "Pauses", Pausing)
            told = await shown(broker, "/metrics/topics")
            assert paused == last
            assert 'kproto_partition_end_offset{partition="1",topic="kept"}' in told
            assert told['kproto_group_committed_offset{group="of-kept",partition="0",topic="kept"}'] == 5
            assert [name for name in told if 'topic="deleted"' in name] == []

    asyncio.run(main())
