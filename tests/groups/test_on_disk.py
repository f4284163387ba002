"""Groups on the real log: a whole broker in this process, requests over the network, crashes as copies.

A crash is what a copy of the data directory, taken while the broker runs, has in it (kill -9 of a process
leaves exactly the written pages behind); the copy is then opened by another broker.
"""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from kproto.broker import Broker
from kproto.config import load
from kproto.disk import Disk
from kproto.handlers.groups import offsets_log
from kproto.handlers.groups.records import partition_of
from kproto.wire.generated.offset_commit import OffsetCommitRequestPartition, OffsetCommitRequestTopic
from kproto.wire.generated.offset_fetch import OffsetFetchRequestTopic
from tests.groups.conversation import Remote
from tests.groups.world import COMMIT, FETCH, FIND
from tests.vlog.test_with_log import Everything, PowerDisk


async def started(directory: Path, disk: Disk | None = None) -> tuple[Broker, Remote]:
    settings = load(None, {"log.dirs": str(directory), "listeners": "PLAINTEXT://127.0.0.1:0"})
    broker = Broker(settings, disk=disk)
    await broker.start()
    return broker, Remote("127.0.0.1", broker.port)


async def commit(remote: Remote, group: str, offset: int, partition: int = 0) -> None:
    part = OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)
    topic = OffsetCommitRequestTopic(name="t", partitions=[part])
    response: Any = await remote.call(COMMIT, 9, group_id=group, topics=[topic])
    assert response.topics[0].partitions[0].error_code == 0


async def committed(remote: Remote, group: str, partition: int = 0) -> int:
    topic = OffsetFetchRequestTopic(name="t", partition_indexes=[partition])
    response: Any = await remote.call(FETCH, 7, group_id=group, topics=[topic])
    assert response.error_code == 0
    offset: int = response.topics[0].partitions[0].committed_offset
    return offset


def test_offsets_survive_a_crash_and_a_clean_stop(tmp_path: Path) -> None:
    async def scenario() -> None:
        broker, remote = await started(tmp_path / "a")
        await remote.prepare()
        for i in range(40):
            await commit(remote, f"g{i}", i)
        shutil.copytree(tmp_path / "a", tmp_path / "crashed")
        await commit(remote, "g7", 700)
        await broker.stop()
        crashed, remote = await started(tmp_path / "crashed")
        assert [await committed(remote, f"g{i}") for i in range(40)] == list(range(40))
        await commit(remote, "g7", 70)
        await crashed.stop()
        for name, expected in (("a", 700), ("crashed", 70)):
            again, remote = await started(tmp_path / name)
            assert await committed(remote, "g7") == expected
            await again.stop()

    asyncio.run(asyncio.wait_for(scenario(), 240))


def test_checkpoints_bound_the_real_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offsets_log, "GARBAGE_BYTES", 30_000)

    async def scenario() -> None:
        broker, remote = await started(tmp_path / "a")
        await remote.prepare()
        await remote.call(FIND, 3, key="g")
        for i in range(1_500):
            await commit(remote, "g", i, i % 3)
            if i in (500, 1_000, 1_499):
                target = tmp_path / f"crashed-{i}"
                shutil.copytree(tmp_path / "a", target)
        topic = broker._controller.image.topics["__consumer_offsets"]
        partition = broker._logs.partition(topic.topic_id, partition_of("g", 50))
        assert partition is not None
        assert partition.log_end_offset >= 1_500
        assert partition.log_end_offset - partition.log_start_offset < 700
        await broker.stop()
        for i in (500, 1_000, 1_499):
            crashed, remote = await started(tmp_path / f"crashed-{i}")
            newest = [max(n for n in range(i + 1) if n % 3 == p) for p in range(3)]
            assert [await committed(remote, "g", p) for p in range(3)] == newest
            await crashed.stop()

    asyncio.run(asyncio.wait_for(scenario(), 240))


def test_what_was_committed_long_ago_outlives_a_power_loss_after_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkpoint writes it anew and gives up where it was before: not until the new place is on the medium,
    though a commit is answered before that."""
    monkeypatch.setattr(offsets_log, "GARBAGE_BYTES", 30_000)

    async def scenario() -> None:
        broker, remote = await started(tmp_path / "a")
        await remote.prepare()
        await remote.call(FIND, 3, key="g")
        await commit(remote, "g", 7, 0)
        await broker.stop()
        disk = PowerDisk()
        broker, remote = await started(tmp_path / "a", disk)
        topic = broker._controller.image.topics["__consumer_offsets"]
        partition = broker._logs.partition(topic.topic_id, partition_of("g", 50))
        assert partition is not None
        for i in range(2_000):
            await commit(remote, "g", i, 1)
            if partition.log_start_offset:
                break
        while not broker._logs.checkpointing.deletions.all_known:
            await asyncio.sleep(0.01)
        lost, where = tmp_path / "lost", str(tmp_path / "a")
        shutil.copytree(tmp_path / "a", lost)
        disk.undo = {path.replace(where, str(lost)): writes for path, writes in disk.undo.items()}
        disk.lose_power(Everything(0))
        (lost / "running").write_text("another boot")
        await broker.stop()
        again, remote = await started(lost)
        assert await committed(remote, "g", 0) == 7
        await again.stop()

    asyncio.run(asyncio.wait_for(scenario(), 240))
