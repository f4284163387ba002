"""Reads of what is on other brokers only: limits, memory, and copies that do not have what they should."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from kproto.errors import ErrorCode, KafkaError
from kproto.log.reader import RemoteRange
from kproto.replica import remote
from kproto.replica.messages import CatalogRow, ReadAnswer, ReadChunk, decode_catalog
from kproto.replica.remote import RemoteChunks, take
from tests.controller.cluster_world import World, cluster


def chunk(base: int, end: int, size: int = 10) -> ReadChunk:
    return ReadChunk(0, base, end, memoryview(bytes(size)))


def wanted(
    offset: int, limit: int = 100, most: int = 25, first: bool = True, partition: Any = None
) -> RemoteRange:
    return RemoteRange(partition, offset, limit, most, first)


def offsets(found: list[ReadChunk] | None) -> list[int] | None:
    return None if found is None else [one.base_offset for one in found]


def test_which_chunks_are_taken() -> None:
    chunks = [chunk(0, 3), chunk(3, 5), chunk(5, 9), chunk(12, 15)]
    assert offsets(take(chunks, wanted(4))) == [3, 5], "from the one with the offset on, up to the bytes"
    assert offsets(take(chunks, wanted(6, most=100))) == [5], "not beyond a gap"
    assert offsets(take(chunks, wanted(0, limit=5))) == [0, 3], "not beyond the limit"
    assert offsets(take(chunks, wanted(3, most=5))) == [3], "one at least, when one has to be"
    assert offsets(take(chunks, wanted(3, most=5, first=False))) == [], "none, when none fits"
    assert take(chunks, wanted(10)) is None, "it is not among them"
    assert take([], wanted(0)) is None


class Copies:
    """Virtual segment 0 of broker 1 has the chunks of t-0 with offsets below ``count``, one of 10 bytes at
    each position of the virtual log. In the place of `Reach`."""

    def __init__(self, count: int = 8) -> None:
        self.world: World = cluster(3, t=(1, 3, [1]))
        self.vseg = self.world.open(1).id
        self.world.fence(1)
        self.world.seal_all(count)
        self.node_id = 2
        self.count = count
        self.catalogs = 0
        self.reads: list[int] = []
        self.stuck = False
        self.lost: set[int] = set()
        """Positions without the chunk that the catalog promises."""
        self.remote = RemoteChunks(self, self)  # type: ignore[arg-type]
        self.topic_id = self.world.image.topics["t"].topic_id
        self.partition: Any = SimpleNamespace(topic_id=self.topic_id, index=0, leader_epoch=1)

    @property
    def image(self) -> Any:
        return self.world.image

    @property
    def table(self) -> Any:
        return self.world.table

    async def ask(self, record: Any, api: Any, asked: Any, decode: Any) -> Any:
        if decode is decode_catalog:
            self.catalogs += 1
            return [CatalogRow(0, self.count, 10 * self.count, 0)]
        self.reads.append(asked.begin)
        if self.stuck:
            return ReadAnswer(asked.begin, [])
        if asked.begin in self.lost or asked.begin < asked.offsets[0]:
            return ReadAnswer(asked.begin + 1, [])
        return ReadAnswer(asked.begin + 1, [chunk(asked.begin, asked.begin + 1)])

    def read(self, offset: int) -> int:
        """How many bytes come."""
        return len(asyncio.run(self.remote.read(wanted(offset, most=10, partition=self.partition))))


def refused(copies: Copies, offset: int) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        copies.read(offset)
    return caught.value.code


def test_who_reads_on_is_not_looked_for_again() -> None:
    copies = Copies()
    assert [copies.read(offset) for offset in range(4)] == [10] * 4
    assert copies.catalogs == 1
    assert copies.reads == [0, 1, 2, 3], "each read goes on where the last one ended"
    assert (copies.remote.reads, copies.remote.bytes) == (4, 40)


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Consumers come and go; what is forgotten is found again, by another look."""
    monkeypatch.setattr(remote, "PLACES_KEPT", 2)
    monkeypatch.setattr(remote, "MAPS_KEPT", 1)
    copies = Copies()
    for offset in (0, 2, 4, 1):
        assert copies.read(offset) == 10
    assert len(copies.remote._places) == 2
    for leader_epoch in (1, 2, 1):
        copies.partition.leader_epoch = leader_epoch
        assert copies.read(6) == 10
    assert len(copies.remote._maps) == 1
    assert copies.catalogs == 3


def test_copies_that_were_made_since_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where copies are may change, what is in them does not."""
    copies = Copies()
    assert copies.read(0) == 10
    record = copies.table.vsegs[copies.vseg]
    moved = record._replace(backups=record.backups[:1])
    monkeypatch.setitem(copies.table.vsegs, copies.vseg, moved)
    asked: list[Any] = []
    ask = copies.ask

    async def noted(record: Any, *rest: Any) -> Any:
        asked.append(record)
        return await ask(record, *rest)

    monkeypatch.setattr(copies, "ask", noted)
    assert [copies.read(1), copies.read(5)] == [10, 10]
    assert asked
    assert all(one is moved for one in asked)
    assert copies.catalogs == 1


def test_a_place_that_turned_out_empty_is_looked_for_from_the_begin() -> None:
    copies = Copies()
    assert copies.read(0) == 10
    ((key, (stretch, _)),) = copies.remote._places.items()
    copies.remote._places[key] = (stretch, copies.count)
    assert copies.read(1) == 10
    assert copies.reads[-2:] == [0, 1]


def test_a_copy_that_does_not_get_on_is_an_error_and_no_endless_loop() -> None:
    copies = Copies()
    copies.stuck = True
    assert refused(copies, 3) is ErrorCode.KAFKA_STORAGE_ERROR
    assert len(copies.reads) == 1


def test_a_chunk_that_no_copy_has_is_an_error_and_not_the_next_one() -> None:
    copies = Copies()
    copies.lost = {3}
    assert refused(copies, 3) is ErrorCode.KAFKA_STORAGE_ERROR
    assert copies.read(4) == 10


def test_a_topic_that_was_deleted_has_nothing_elsewhere() -> None:
    copies = Copies()
    copies.world.delete("t")
    assert refused(copies, 0) is ErrorCode.KAFKA_STORAGE_ERROR
    assert not copies.reads
