"""Fetch of what a new leader has not brought over: from the brokers that have copies (rule 27b)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from conftest import chunk_of, fetch_request, produce_request
from simulated_backups import ME, Owner, owner

from kproto.controller.decision import Decision
from kproto.errors import ErrorCode, KafkaError
from kproto.log.reader import RemoteRange
from kproto.wire.generated.fetch import FetchRequest
from kproto.wire.generated.list_offsets import ListOffsetsPartition, ListOffsetsTopic
from tests.log.test_take_over import Sealed

FETCH, LIST_OFFSETS, PRODUCE = 1, 2, 0
CHUNKS, BEFORE_STATE = 20, 18
FIRST_MS = 1_700_000_000_000


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), 120))  # type: ignore[arg-type]


class Copies(Sealed):
    """The copies that other brokers have; they answer while nobody holds them back."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()
        self.failing = False
        self.asked: list[tuple[int, int]] = []
        """Offset and bytes of every read."""

    async def _read(self, wanted: RemoteRange) -> memoryview:
        self.asked.append((wanted.offset, wanted.max_bytes))
        await self.gate.wait()
        if self.failing:
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "no copy answers")
        return await super()._read(wanted)


async def taken_over(world: Owner, topic: str) -> Copies:
    """The only partition of ``topic`` comes from broker 2; the last two chunks are local, the others are
    not."""
    copies = Copies()
    for i in range(CHUNKS):
        copies.add(memoryview(chunk_of(b"%d" % i * 100, timestamp=FIRST_MS + i)), 0)
    image = world.controller.image
    old = image.streamlet(image.topics[topic].topic_id, 0)
    new = old.recovering(ME)
    await world.controller.decide(lambda: Decision(None, {new.key: new.encode()}))
    logs = world.broker._logs
    logs.ports.remote = copies
    state, chunks = copies.state(BEFORE_STATE), copies.from_(BEFORE_STATE)
    assert logs.take_over(new.topic_id, 0, new.leader_epoch, state, chunks, 0) == CHUNKS
    led = new.online(image.brokers[ME].epoch)
    await world.controller.decide(lambda: Decision(None, {led.key: led.encode()}))
    return copies


async def fetch(world: Owner, request: FetchRequest) -> dict[str, Any]:
    names = ("topics", "max_bytes", "max_wait_ms", "min_bytes", "session_epoch")
    answer = await world.call(FETCH, 12, **{name: getattr(request, name) for name in names})
    return {topic.topic: topic.partitions[0] for topic in answer.responses}


def data_of(copies: Copies, first: int, end: int) -> bytes:
    return b"".join(chunk.data for chunk in copies.chunks[first:end])


async def produced(world: Owner, topic: str) -> tuple[int, int]:
    request = produce_request(topic, (0, chunk_of(b"new")))
    fields = {name: getattr(request, name) for name in ("acks", "timeout_ms", "topic_data")}
    part = (await world.call(PRODUCE, 9, **fields)).responses[0].partition_responses[0]
    return part.error_code, part.base_offset


def test_old_records_come_from_copies_and_new_ones_from_here(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (2, 1, 3))
            copies = await taken_over(world, "t")
            assert await produced(world, "t") == (ErrorCode.NONE, CHUNKS)
            for offset in range(BEFORE_STATE):
                part = (await fetch(world, fetch_request("t", (0, offset))))["t"]
                assert (part.error_code, part.high_watermark) == (0, CHUNKS + 1)
                assert bytes(part.records) == data_of(copies, offset, BEFORE_STATE)
            reads = len(copies.asked)
            part = (await fetch(world, fetch_request("t", (0, BEFORE_STATE))))["t"]
            assert bytes(part.records).startswith(data_of(copies, BEFORE_STATE, CHUNKS))
            assert len(bytes(part.records)) > len(data_of(copies, BEFORE_STATE, CHUNKS))
            assert len(copies.asked) == reads, "what is here is read here"

    run(scenario)


def test_limits_hold_and_the_first_chunk_is_whole(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (2, 1, 3))
            copies = await taken_over(world, "t")
            one = len(copies.chunks[3].data)
            for most, chunks in ((1, 1), (one, 1), (3 * one, 3)):
                part = (await fetch(world, fetch_request("t", (0, 3), partition_max_bytes=most)))["t"]
                assert bytes(part.records) == data_of(copies, 3, 3 + chunks)
            part = (await fetch(world, fetch_request("t", (0, 3), max_bytes=2 * one)))["t"]
            assert bytes(part.records) == data_of(copies, 3, 5)
            assert copies.asked[-1] == (3, 2 * one), "no more is asked for than may be answered"

    run(scenario)


def test_copies_that_do_not_answer_are_one_partitions_error(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (2, 1, 3))
            await world.create("here", (1, 2, 3))
            copies = await taken_over(world, "t")
            assert await produced(world, "here") == (ErrorCode.NONE, 0)
            request = fetch_request("t", (0, 3))
            request.topics += fetch_request("here", (0, 0)).topics
            copies.failing = True
            used = world.broker._dispatcher._services.budget.used
            parts = await fetch(world, request)
            assert (parts["t"].error_code, parts["t"].records) == (ErrorCode.KAFKA_STORAGE_ERROR, b"")
            assert parts["here"].error_code == 0
            assert len(parts["here"].records) > 0
            assert world.broker._dispatcher._services.budget.used == used
            copies.failing = False
            parts = await fetch(world, request)
            assert bytes(parts["t"].records) == data_of(copies, 3, BEFORE_STATE)

    run(scenario)


def test_others_are_served_while_copies_are_asked(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (2, 1, 3))
            await world.create("here", (1, 2, 3))
            copies = await taken_over(world, "t")
            copies.gate.clear()
            budget = world.broker._dispatcher._services.budget
            used = budget.used
            request = fetch_request("t", (0, 0), partition_max_bytes=300_000)
            slow = asyncio.ensure_future(fetch(world, request))
            while not copies.asked:
                await asyncio.sleep(0.001)
            assert budget.used >= used + 300_000, "what may come is counted"
            assert await produced(world, "here") == (ErrorCode.NONE, 0)
            assert (await fetch(world, fetch_request("here", (0, 0))))["here"].error_code == 0
            assert not slow.done()
            copies.gate.set()
            assert bytes((await slow)["t"].records) == data_of(copies, 0, BEFORE_STATE)

    run(scenario)


def test_offsets_by_time_are_found_in_copies(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (2, 1, 3))
            await taken_over(world, "t")
            for timestamp, offset in (
                (FIRST_MS, 0),
                (FIRST_MS + 7, 7),
                (FIRST_MS + 19, 19),
                (-2, 0),
                (-1, 20),
            ):
                asked = ListOffsetsTopic(name="t", partitions=[ListOffsetsPartition(timestamp=timestamp)])
                part = (await world.call(LIST_OFFSETS, 6, topics=[asked])).topics[0].partitions[0]
                assert (part.error_code, part.offset) == (0, offset)

    run(scenario)
