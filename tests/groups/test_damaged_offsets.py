"""The coordinator's own file of committed offsets has other bytes than were written; two copies are sound."""

import asyncio
from pathlib import Path

import pytest

from kproto.handlers.groups.records import offset_key, partition_of
from kproto.wire.generated.alter_partition_reassignments import ReassignablePartition, ReassignableTopic
from kproto.wire.generated.elect_leaders import TopicPartitions
from tests.groups.members import Members, members
from tests.groups.test_failover import GROUPS, OFFSETS_TOPIC, commit, committed, coordinator, prepared, run

ALTER_REASSIGNMENTS, ELECT_LEADERS = 45, 43
OWN = 2


def damage(directory: Path, group: str, offset: int, *, structure: bool) -> int:
    """Change the newest committed offset of a group, or the length of its key, in every segment file; in how
    many."""
    changed = 0
    for path in (directory / "streams").rglob("*.chunks"):
        data = bytearray(path.read_bytes())
        at = data.rfind(offset_key(group, "t", 0))
        where = data.find(offset.to_bytes(8, "big"), at) if at >= 0 else -1
        if where >= 0:
            data[at - 1 if structure else where + 7] ^= 0x40
            path.write_bytes(data)
            changed += 1
    return changed


async def led_by(cluster: Members, index: int, node_id: int) -> None:
    """Have another broker lead a partition of committed offsets."""
    order = [node_id, *({1, 2, 3} - {node_id})]
    part = ReassignablePartition(partition_index=index, replicas=order)
    wanted = [ReassignableTopic(name=OFFSETS_TOPIC, partitions=[part])]
    await cluster.call(1, ALTER_REASSIGNMENTS, 0, timeout_ms=5000, topics=wanted)
    topic = cluster.image().topics[OFFSETS_TOPIC]
    elected = [TopicPartitions(topic=OFFSETS_TOPIC, partitions=[index])]
    async with asyncio.timeout(60):
        while cluster.image().partition_streamlet(topic, index).leader != node_id:
            await cluster.call(
                1, ELECT_LEADERS, 2, election_type=0, topic_partitions=elected, timeout_ms=5000
            )
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("structure", [False, True])
def test_what_was_committed_is_read_from_a_sound_copy(tmp_path: Path, structure: bool) -> None:
    """It was believed, and the next checkpoint made it the only truth."""

    async def scenario() -> None:
        async with members(tmp_path, 3) as cluster:
            await prepared(cluster)
            (group, *_) = [each for each in GROUPS if await coordinator(cluster, each) == OWN]
            index = partition_of(group, 50)
            assert await commit(cluster, group, 1003) == 0
            neighbour = next(f"n{i}" for i in range(10_000) if partition_of(f"n{i}", 50) == index)
            for offset in range(100):
                assert await commit(cluster, neighbour, offset) == 0
            await led_by(cluster, index, 1)
            await asyncio.sleep(3)  # until its file has all of it
            assert damage(tmp_path / str(OWN), group, 1003, structure=structure) == 1
            await led_by(cluster, index, OWN)
            assert await committed(cluster, group) == 1003
            await cluster.brokers[OWN]._groups._shards[index].log.checkpoint()
            await cluster.kill(OWN)
            assert await coordinator(cluster, group) != OWN
            assert await committed(cluster, group) == 1003

    run(scenario)
