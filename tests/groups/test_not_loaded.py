"""A partition of ``__consumer_offsets`` that its leader cannot read."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kproto.errors import ErrorCode, KafkaError
from kproto.handlers.groups.coordinator import LOAD_RETRY_S
from kproto.handlers.groups.records import partition_of
from kproto.log.partition import Partition
from kproto.trouble import AGAIN_SECONDS
from tests.groups.nodes import running
from tests.groups.test_coordinator import commit, fetched, join
from tests.groups.world import FIND, World, scenario

HERE = partition_of("g", 50)
COORDINATOR = "kproto.handlers.groups.coordinator"


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the coordinator said of single partitions to who looks for what is wrong."""
    of_it = [record for record in caplog.records if record.name == COORDINATOR]
    said = [record.getMessage() for record in of_it if record.levelno >= logging.WARNING]
    return [each for each in said if each.startswith("__consumer_offsets-")]


class Unread:
    """While ``why`` is set, the group's partition cannot be read for that reason."""

    def __init__(self, world: World, why: ErrorCode) -> None:
        self.why: ErrorCode | None = why
        self._scan = world.port.scan
        world.port.scan = self.scan  # type: ignore[method-assign]

    async def scan(self, index: int) -> AsyncIterator[memoryview]:
        if index == HERE and self.why is not None:
            raise KafkaError(self.why, "cannot open it")
        async for batch in self._scan(index):
            yield batch


def test_clients_ask_again_and_the_log_says_why_but_not_each_second(caplog: pytest.LogCaptureFixture) -> None:
    """They were sent to look for another coordinator, of which there is none, and nothing was seen in a log
    of warnings."""

    @scenario("t")
    async def test(world: World) -> None:
        await world.call(FIND, 3, key="g")
        assert await commit(world, "g", 7) == [0]
        disk = Unread(world, ErrorCode.KAFKA_STORAGE_ERROR)
        world.restart()
        assert await commit(world, "g", 8) == [ErrorCode.COORDINATOR_NOT_AVAILABLE]
        assert (await join(world, "g")).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        what = f"__consumer_offsets-{HERE} cannot be loaded"
        why = f"{what}: KAFKA_STORAGE_ERROR: cannot open it"
        assert warnings(caplog) == [why]
        await asyncio.sleep(AGAIN_SECONDS + 2 * LOAD_RETRY_S)
        assert warnings(caplog) == [why] * 2
        disk.why = None
        await asyncio.sleep(2 * LOAD_RETRY_S)
        assert warnings(caplog)[2:] == [f"{what}: it works again"]
        assert await fetched(world, "g") == 7

    test()


def test_who_does_not_lead_it_is_not_its_coordinator(caplog: pytest.LogCaptureFixture) -> None:
    @scenario("t")
    async def test(world: World) -> None:
        await world.call(FIND, 3, key="g")
        Unread(world, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        world.restart()
        assert await commit(world, "g", 8) == [ErrorCode.NOT_COORDINATOR]
        assert warnings(caplog) == []

    test()


def test_a_disk_that_fails_is_told_until_another_broker_leads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever leads it then says whether it can be read."""

    def broken(topic_id: bytes, index: int) -> Partition | None:
        raise OSError(errno.EIO, os.strerror(errno.EIO), "segment")

    async def main() -> None:
        async with running(tmp_path, 2, offsets_topic_num_partitions="1") as cluster:
            await cluster.controller.ensure_offsets_topic()
            await cluster.lead(0, 2)
            here = cluster.nodes[1]
            partition = type(here.logs).partition
            monkeypatch.setattr(
                type(here.logs),
                "partition",
                lambda logs, *key: broken(*key) if logs is here.logs else partition(logs, *key),
            )
            await cluster.lead(0, 1)
            async with asyncio.timeout(30):
                while not warnings(caplog):
                    await asyncio.sleep(0.01)
            (told,) = warnings(caplog)
            assert told.startswith("__consumer_offsets-0 cannot be loaded: KAFKA_STORAGE_ERROR: ")
            assert os.strerror(errno.EIO) in told
            await cluster.lead(0, 2)
            assert here.groups._troubles == {}
            assert warnings(caplog) == [told]

    asyncio.run(asyncio.wait_for(main(), 60))
