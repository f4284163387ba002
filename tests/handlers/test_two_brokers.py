"""The same conversation with two brokers as Apache Kafka had it; see ``two_brokers``."""

from __future__ import annotations

import asyncio
from difflib import ndiff
from pathlib import Path

from two_brokers import METADATA, speak

from tests.groups.members import members

RECORDED = Path(__file__).parent / "answers" / "kafka-4.3.1-two-brokers.txt"


async def _spoken(directory: Path) -> list[str]:
    async with members(directory, 2, offsets_topic_replication_factor="2") as cluster:
        calls = {
            node: lambda key, version, node=node, **fields: cluster.call(node, key, version, **fields)
            for node in (1, 2)
        }

        async def kill() -> None:
            await cluster.stop(2)
            await cluster.until(lambda: list(cluster.image().brokers) == [1])
            while any(
                part.leader_id != 1
                for topic in (await calls[1](METADATA, 12, topics=None)).topics
                if topic.name != "second"
                for part in topic.partitions
            ):
                await asyncio.sleep(0.02)

        return await speak(calls, kill)


def _expected() -> list[str]:
    """What Apache Kafka answered, but for two things: its followers have the records and give them to
    consumers, too (KIP-392), where in kproto only the leader has a partition; v16 tells who that is. And who
    died leaves the list of brokers at once (`kproto.metadata.suspects` says why not here).
    """
    lines: list[str] = []
    dead = False
    followers = {("2", "both"): "1 0 [1]", ("1", "other-way"): "2 0 [2]"}
    for line in RECORDED.read_text().splitlines():
        if line == "broker 2 dies":
            followers, dead = {}, True
        words = line.split()
        if dead and words[0] == "metadata" and words[3] == "brokers":
            line = line.replace("[1]", "[1, 2]")  # noqa: PLW2901
        if words[0] == "fetch" and words[4] in ("-1", "0") and tuple(words[1:3]) in followers:
            told = followers[words[1], words[2]] if words[3] == "16" else "nobody"
            line = " ".join((*words[:5], f"6 -1 -1 -1 0 {told}"))  # noqa: PLW2901
        lines.append(line)
    return lines


def test_two_brokers_answer_as_apache_kafkas(tmp_path: Path) -> None:
    spoken = asyncio.run(asyncio.wait_for(_spoken(tmp_path), 240))
    assert [line for line in ndiff(_expected(), spoken) if line[0] in "+-"] == []
