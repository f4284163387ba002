"""Produce, Fetch and Metadata where records have several copies: too few, lost, back again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from conftest import chunk_of, fetch_request, produce_request, producer
from simulated_backups import ME, Owner, owner

from kproto.controller.decision import Decision
from kproto.errors import ErrorCode
from kproto.handlers.copies import TooFew, copies_short
from kproto.handlers.produce import Producer, _Joint
from kproto.metadata.records import RECOVERING, StreamletRecord
from kproto.metadata.vlogs import CopyTarget, VlogTable, VsegId, VsegRecord
from kproto.wire.generated.list_offsets import ListOffsetsPartition, ListOffsetsTopic
from kproto.wire.generated.metadata import MetadataRequestTopic
from kproto.wire.generated.offset_for_leader_epoch import OffsetForLeaderPartition, OffsetForLeaderTopic

PRODUCE, FETCH, LIST_OFFSETS, METADATA, OFFSET_FOR_LEADER_EPOCH = 0, 1, 2, 3, 23
NONE = ErrorCode.NONE


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), 120))  # type: ignore[arg-type]


async def produce(world: Owner, topic: str | bytes, index: int = 0, acks: int = -1, version: int = 9) -> Any:
    """Produce one record; the partition's answer."""
    request = produce_request(topic, (index, chunk_of(b"x")), acks=acks)
    fields = {name: getattr(request, name) for name in ("acks", "timeout_ms", "topic_data")}
    answer = await world.call(PRODUCE, version, **fields)
    return answer.responses[0].partition_responses[0]


async def sent(world: Owner, topic: str, sequence: int) -> tuple[int, int]:
    """Produce one record of an idempotent producer."""
    batch = chunk_of(b"x", producer=producer(1000, 0, sequence))
    request = produce_request(topic, (0, batch))
    answer = await world.call(PRODUCE, 9, acks=-1, timeout_ms=30_000, topic_data=request.topic_data)
    part = answer.responses[0].partition_responses[0]
    return part.error_code, part.base_offset


async def produced(world: Owner, topic: str, **how: Any) -> tuple[int, int]:
    answer = await produce(world, topic, **how)
    return answer.error_code, answer.base_offset


async def shown(world: Owner, topic: str, version: int = 12) -> tuple[int, int, list[int], list[int]]:
    answer = await world.call(METADATA, version, topics=[MetadataRequestTopic(name=topic)])
    part = answer.topics[0].partitions[0]
    return part.error_code, part.leader_id, part.replica_nodes, part.isr_nodes


async def settled(world: Owner, topic: str, copies: int) -> None:
    """Wait until new records of ``topic`` get so many copies."""
    try:
        async with asyncio.timeout(60):
            while world.vlog(topic).live_copies != copies:
                await asyncio.sleep(0.001)
    except TimeoutError:
        raise AssertionError(f"{world.vlog(topic).live_copies} copies instead of {copies}") from None


async def appended(world: Owner, topic: str) -> asyncio.Future[tuple[int, int]]:
    """A request that was appended and waits for the backups."""
    world.backups.held = True
    end = world.partition(topic).log_end_offset
    waiting = asyncio.ensure_future(produced(world, topic))
    while world.partition(topic).log_end_offset == end or not world.backups.waiting:
        await asyncio.sleep(0.001)
    return waiting


@pytest.mark.parametrize(("needed", "refused"), [(1, False), (2, False), (3, True), (9, True)])
def test_acks_all_is_refused_below_min_insync_replicas(tmp_path: Path, needed: int, refused: bool) -> None:
    """One of three brokers is fenced: two copies are left. More than the replication factor counts as all."""

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (1, 2, 3), min_insync_replicas=str(needed))
            assert await produced(world, "t") == (NONE, 0)
            await world.fence(3)
            await settled(world, "t", 2)
            expected = (ErrorCode.NOT_ENOUGH_REPLICAS, -1) if refused else (NONE, 1)
            assert await produced(world, "t") == expected
            assert await produced(world, "t", acks=1) == (NONE, 1 if refused else 2)
            assert await produced(world, "t") == (expected[0], -1 if refused else 3)
            assert world.partition("t").log_end_offset == (2 if refused else 4)
            world.partition("t").delete_records(1)
            assert (await produce(world, "t")).log_start_offset == 1, "told with the refusal, too"
            await world.register(3)
            await settled(world, "t", 3)
            assert (await produced(world, "t"))[0] == NONE

    run(scenario)


def test_a_backup_that_is_replaced_by_nobody_counts_at_once(tmp_path: Path) -> None:
    """Live brokers and copies are different things: the fewer of them count. acks=1 asks for neither, and
    what it found out is not used for acks=-1."""

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (1, 2, 3), min_insync_replicas="3")
            assert await produced(world, "t") == (NONE, 0)
            record = world.controller.image.topics["t"]
            image = world.controller.image
            fewer = replace(image, brokers={node: image.brokers[node] for node in list(image.brokers)[:2]})
            assert not copies_short(world.partition("t"), record, image)
            assert copies_short(world.partition("t"), record, fewer), "one is fenced, its copy not replaced"
            waiting = await appended(world, "t")
            world.backups.lose(2)  # it stays a member
            await settled(world, "t", 2)
            world.backups.release()
            assert await waiting == (ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, -1)
            for offset in (2, 3):
                assert await produced(world, "t", acks=1) == (NONE, offset)
            assert await produced(world, "t") == (ErrorCode.NOT_ENOUGH_REPLICAS, -1)

    run(scenario)


def test_after_a_batch_that_got_too_few_copies_none_is_taken_before_it_has_them(tmp_path: Path) -> None:
    """Sent again after a backup came back it was appended no more, and acknowledged: only its leader had it.
    And of one that is stored behind it librdkafka concludes that it is stored, too."""

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.fence(3)
            await world.create("t", (1, 2), min_insync_replicas="2")
            await world.create("other", (1, 2), min_insync_replicas="2")
            assert await sent(world, "t", 0) == (NONE, 0)
            assert await sent(world, "other", 0) == (NONE, 0)
            world.backups.held = True
            first = asyncio.ensure_future(sent(world, "t", 1))
            while not world.backups.waiting:
                await asyncio.sleep(0.001)
            world.backups.lose(2)
            await world.fence(2)
            await settled(world, "t", 1)
            world.backups.release()
            assert await first == (ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, -1)
            await world.register(2)
            await settled(world, "t", 2)
            for sequence in (1, 2, 1):
                assert await sent(world, "t", sequence) == (ErrorCode.NOT_ENOUGH_REPLICAS, -1)
            assert await produced(world, "t", acks=1) == (NONE, 2)
            for _ in range(2):
                assert await sent(world, "other", 0) == (NONE, 0), "it never had too few"
            (bare,) = [
                one for one in world.controller.table.vsegs.values() if not one.open and not one.backups
            ]
            copied = bare._replace(backups=(CopyTarget(2, "store2"),))
            await world.controller.decide(lambda: Decision(None, {copied.key: copied.encode()}))
            await world.fence(2)
            await settled(world, "t", 1)
            assert await sent(world, "t", 1) == (ErrorCode.NOT_ENOUGH_REPLICAS, -1), "that is as ever"
            await world.register(2)
            await settled(world, "t", 2)
            assert await sent(world, "t", 1) == (NONE, 1)
            assert await sent(world, "t", 2) == (NONE, 3)

    run(scenario)


async def both(world: Owner, sequence: int) -> list[tuple[int, int]]:
    """One request of an idempotent producer for topics ``t`` and ``u``."""
    batch = chunk_of(b"x", producer=producer(1000, 0, sequence))
    data = [produce_request(topic, (0, batch)).topic_data[0] for topic in ("t", "u")]
    answer = await world.call(PRODUCE, 9, acks=-1, timeout_ms=30_000, topic_data=data)
    parts = [topic.partition_responses[0] for topic in answer.responses]
    return [(part.error_code, part.base_offset) for part in parts]


def test_each_virtual_log_of_a_request_is_remembered_where_its_copies_were_too_few(tmp_path: Path) -> None:
    """The first that is durable judges all of them, before the others are where they will be."""

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.fence(3)
            for topic in ("t", "u"):
                await world.create(topic, (1, 2), min_insync_replicas="2", kproto_vlogs="1")
            assert await both(world, 0) == [(NONE, 0)] * 2
            world.backups.held = True
            first = asyncio.ensure_future(both(world, 1))
            while len(world.backups.waiting) < 2:
                await asyncio.sleep(0.001)
            world.backups.lose(2)
            await world.fence(2)
            for topic in ("t", "u"):
                await settled(world, topic, 1)
            world.backups.release()
            assert await first == [(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, -1)] * 2
            await world.register(2)
            for topic in ("t", "u"):
                await settled(world, topic, 2)
            for sequence in (1, 2):
                assert await both(world, sequence) == [(ErrorCode.NOT_ENOUGH_REPLICAS, -1)] * 2
            bare = [one for one in world.controller.table.vsegs.values() if not one.open and not one.backups]
            copied = [one._replace(backups=(CopyTarget(2, "store2"),)) for one in bare]
            puts = {one.key: one.encode() for one in copied}
            await world.controller.decide(lambda: Decision(None, puts))
            assert await both(world, 1) == [(NONE, 1)] * 2

    run(scenario)


def test_too_few_copies_are_enough_once_a_topic_wants_no_more() -> None:
    """What nobody can copy any more refused acks=all for as long as the virtual segment was there."""
    few = TooFew(VlogTable())
    vseg = VsegRecord(VsegId(1, 1, 1), 1, "s", 2, 0, 0, 10, ())
    few._table.vsegs[vseg.id] = vseg
    one = Mock(deleted=False)
    one.vlog.places.return_value = [vseg.id]
    one.config.min_insync_replicas = 2
    few.note(one)
    few.look()
    assert few.has(one, 2)
    assert not few.has(one, 1)
    assert not few
    few.note(one)
    one.deleted = True
    few.look()
    assert not few, "it is led by another broker"


@pytest.mark.parametrize("why", ["the topic is not known", "copies are short"])
def test_what_follows_a_batch_that_was_refused_early_waits_for_it(tmp_path: Path, why: str) -> None:
    """The reason is over when the second one comes: as the first of its producer it was stored, and
    librdkafka took what it had sent before for stored, too."""

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            if why == "copies are short":
                await world.create("t", (1, 2, 3), min_insync_replicas="3")
                await world.fence(3)
                assert await sent(world, "t", 0) == (ErrorCode.NOT_ENOUGH_REPLICAS, -1)
                await world.register(3)
                await settled(world, "t", 3)
            else:
                assert await sent(world, "t", 0) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)
                await world.create("t", (1, 2, 3))
            for sequence in (1, 2):
                assert await sent(world, "t", sequence) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
            assert [await sent(world, "t", sequence) for sequence in (0, 1, 2)] == [
                (NONE, n) for n in range(3)
            ]

    run(scenario)


def test_a_remembered_partition_is_forgotten_when_its_copies_are_short(tmp_path: Path) -> None:
    """Also when no image says so: the answer of the store may come before the image that it made."""

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (1, 2, 3), min_insync_replicas="2")
            for offset in range(3):
                assert await produced(world, "t") == (NONE, offset)
            world.vlog("t").live_copies = 1
            assert await produced(world, "t") == (ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, -1)
            assert await produced(world, "t") == (ErrorCode.NOT_ENOUGH_REPLICAS, -1)
            assert world.partition("t").log_end_offset == 4
            world.vlog("t").live_copies = 3
            assert await produced(world, "t") == (NONE, 4)

    run(scenario)


class Answered:
    """Stands for an exchange."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []

    def reply(self, frame: bytes) -> None:
        self.frames.append(frame)


def test_an_error_of_the_first_virtual_log_is_the_answer_of_the_last() -> None:
    exchange = Answered()
    joint = _Joint(exchange, 3)  # type: ignore[arg-type]
    joint.instead = b"error"
    joint.reply(b"error")
    joint.reply(b"good")
    assert exchange.frames == []
    joint.reply(b"good")
    assert exchange.frames == [b"error"]


def test_what_one_virtual_log_was_short_of_stays_in_the_answer_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first has its copies again by then: what was stored while it had not is told all the same."""
    short = {b"\x02a"}
    monkeypatch.setattr(Producer, "_has_too_few", lambda _, version, key, index: key in short)

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            producer = Producer(world.broker._services)
            joint = _Joint(Answered(), 2)  # type: ignore[arg-type]
            stored = [(key, [(0, 5, -1, 0, NONE, None)]) for key in (b"\x02a", b"\x02b", b"\x02c")]
            waiting = (joint, b"", 1000, None, 9, 1, stored, -1)
            judged = producer._judged_again(SimpleNamespace(lost=False), waiting)  # type: ignore[arg-type]
            short.clear()
            short.add(b"\x02b")
            again = producer._judged_again(SimpleNamespace(lost=False), waiting)  # type: ignore[arg-type]
            few = ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
            assert [outcomes[0][4] for _, outcomes in judged[6]] == [few, NONE, NONE]
            assert [outcomes[0][4] for _, outcomes in again[6]] == [few, few, NONE]
            assert joint.instead == again[1] != judged[1]

    run(scenario)


def test_one_copy_is_never_too_few(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (1,), min_insync_replicas="3")
            assert await produced(world, "t") == (NONE, 0)
            assert not copies_short(
                world.partition("t"), world.controller.image.topics["t"], world.controller.image
            )

    run(scenario)


def test_copies_that_are_being_made_do_not_count_yet(tmp_path: Path) -> None:
    """While 1 becomes 3, only the leader can serve what is written: as in Apache Kafka two are too many to
    ask for."""

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (1, 2, 3), min_insync_replicas="2")
            assert await produced(world, "t") == (NONE, 0)
            image, record = world.controller.image, world.controller.image.topics["t"]
            streamlets = tuple(
                StreamletRecord(each.topic_id, each.index, each.leader, each.leader_epoch, each.replicas)
                for each in image.streamlets[record.topic_id]
            )
            widening = replace(image, streamlets={record.topic_id: streamlets})
            assert not copies_short(world.partition("t"), record, image)
            assert copies_short(world.partition("t"), record, widening)

    run(scenario)


def test_copies_that_go_missing_on_the_way_are_told(tmp_path: Path) -> None:
    """Rule 18: appended, then durable on fewer copies than asked for. Two topics share the virtual log."""

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("strict", (1, 2, 3), min_insync_replicas="3")
            await world.create("easy", (1, 2, 3), min_insync_replicas="2")
            assert await produced(world, "strict") == (NONE, 0)
            assert await produced(world, "easy") == (NONE, 0)
            assert world.vlog("strict") is world.vlog("easy")
            strict = await appended(world, "strict")
            lax = asyncio.ensure_future(produced(world, "strict", acks=1))
            easy = asyncio.ensure_future(produced(world, "easy"))
            while world.partition("easy").log_end_offset < 2 or world.partition("strict").log_end_offset < 3:
                await asyncio.sleep(0.001)
            await world.fence(3)
            world.backups.lose(3)
            await settled(world, "strict", 2)
            world.backups.release()
            assert await strict == (ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, -1)
            assert await lax == (NONE, 2)
            assert await easy == (NONE, 1)
            assert await produced(world, "strict") == (ErrorCode.NOT_ENOUGH_REPLICAS, -1)
            assert world.partition("strict").high_watermark == 3

    run(scenario)


def test_one_ack_does_not_wait_for_backups_but_consumers_do(tmp_path: Path) -> None:
    """acks=1 is answered once it is in the journal here; the high watermark moves when all copies have it."""

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (1, 2, 3))
            assert await produced(world, "t") == (NONE, 0)
            world.backups.held = True
            strict = asyncio.ensure_future(produced(world, "t"))
            for offset in (2, 3, 4):
                while world.partition("t").log_end_offset < offset:
                    await asyncio.sleep(0.001)
                assert await produced(world, "t", acks=1) == (NONE, offset)
            assert not strict.done()
            assert world.partition("t").high_watermark == 1
            world.backups.release()
            assert await strict == (NONE, 1)
            while world.partition("t").high_watermark < 5:
                await asyncio.sleep(0.001)

    run(scenario)


@pytest.mark.parametrize("version", range(3, 14))
def test_whoever_waits_is_told_when_ownership_is_lost(tmp_path: Path, version: int) -> None:
    async def scenario() -> None:
        async with owner(tmp_path) as world:
            topic_id = await world.create("t", (1, 2, 3))
            key = topic_id if version >= 13 else "t"
            assert (await produce(world, key, version=version)).error_code == NONE
            world.backups.held = True
            waiting = asyncio.ensure_future(produce(world, key, version=version))
            while world.partition("t").log_end_offset < 2:
                await asyncio.sleep(0.001)
            lax = await produce(world, key, acks=1, version=version)
            assert (lax.error_code, lax.base_offset) == (NONE, 2)
            world.vlogs.lose_ownership()
            answer = await waiting
            assert (answer.error_code, answer.base_offset) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
            refused = await produce(world, key, version=version)
            assert refused.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
            assert world.partition("t").log_end_offset == 3
            assert world.partition("t").high_watermark == 1

    run(scenario)


def test_one_lost_virtual_log_of_several_fails_the_request(tmp_path: Path) -> None:
    """A request with partitions of two classes, of which one loses its ownership, is answered once."""

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("one", (1,))
            await world.create("three", (1, 2, 3))
            assert await produced(world, "one") == await produced(world, "three") == (NONE, 0)
            world.backups.held = True
            request = produce_request("one", (0, chunk_of(b"x")))
            request.topic_data += produce_request("three", (0, chunk_of(b"x"))).topic_data
            fields = {name: getattr(request, name) for name in ("acks", "timeout_ms", "topic_data")}
            waiting = asyncio.ensure_future(world.call(PRODUCE, 9, **fields))
            while world.partition("three").log_end_offset < 2:
                await asyncio.sleep(0.001)
            await asyncio.sleep(0.02)
            assert not waiting.done()
            world.vlogs.lose_ownership()
            answer = await waiting
            codes = {t.name: t.partition_responses[0].error_code for t in answer.responses}
            assert codes["three"] == ErrorCode.NOT_LEADER_OR_FOLLOWER

    run(scenario)


def test_metadata_shows_how_many_copies_there_are(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (1, 2, 3))
            assert await produced(world, "t") == (NONE, 0)
            for version in range(14):
                assert await shown(world, "t", version) == (NONE, ME, [1, 2, 3], [1, 2, 3])
            waiting = await appended(world, "t")
            world.backups.lose(2)  # still a member, but not a backup any more
            await settled(world, "t", 2)
            world.backups.release()
            assert (await waiting)[0] == NONE
            for version in range(14):
                code, leader, replicas, isr = await shown(world, "t", version)
                assert (code, leader, replicas, len(isr), isr[0]) == (NONE, ME, [1, 2, 3], 2, ME)

    run(scenario)


@pytest.mark.parametrize("version", [0, 1, 5, 12])
def test_replicas_that_are_gone(tmp_path: Path, version: int) -> None:
    """Version 0 names live replicas only, and says so."""

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (1, 2, 3))
            await world.fence(2)
            code = ErrorCode.REPLICA_NOT_AVAILABLE if version == 0 else NONE
            replicas = [1, 3] if version == 0 else [1, 2, 3]
            assert await shown(world, "t", version) == (code, ME, replicas, [1, 3])

    run(scenario)


async def led_by_nobody(world: Owner, topic: str, leader: int, state: int) -> None:
    image = world.controller.image
    old = image.streamlet(image.topics[topic].topic_id, 0)
    new = old.recovering(leader) if state == RECOVERING else old.led_by(leader)
    await world.controller.decide(lambda: Decision(None, {new.key: new.encode()}))


@pytest.mark.parametrize(("leader", "state"), [(ME, RECOVERING), (2, RECOVERING), (2, 0)])
def test_what_is_recovering_is_served_by_nobody(tmp_path: Path, leader: int, state: int) -> None:
    """Rule 27. The last case is by derivation (19b): broker 2 never committed it."""

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (1, 2, 3))
            assert await produced(world, "t") == (NONE, 0)
            await led_by_nobody(world, "t", leader, state)
            for version in (8, 13):
                key = world.controller.image.topics["t"].topic_id if version == 13 else "t"
                answer = await produce(world, key, version=version)
                assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
                assert answer.current_leader is None
            for version in range(14):
                assert (await shown(world, "t", version))[:2] == (ErrorCode.LEADER_NOT_AVAILABLE, -1)
            request = fetch_request("t", (0, 0))
            fields = {name: getattr(request, name) for name in ("topics", "max_bytes", "session_epoch")}
            part = (await world.call(FETCH, 12, **fields)).responses[0].partitions[0]
            assert (part.error_code, part.high_watermark) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)

    run(scenario)


@pytest.mark.parametrize("least", [1, 1000])
def test_a_waiting_fetch_is_answered_when_leadership_goes(tmp_path: Path, least: int) -> None:
    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", (1, 2, 3))
            assert await produced(world, "t") == (NONE, 0)
            request = fetch_request("t", (0, 1), max_wait_ms=600_000, min_bytes=least)
            names = ("topics", "max_bytes", "max_wait_ms", "min_bytes", "session_epoch")
            fields = {name: getattr(request, name) for name in names}
            waiting = asyncio.ensure_future(world.call(FETCH, 12, **fields))
            while not world.partition("t").waiters:
                await asyncio.sleep(0.001)
            await led_by_nobody(world, "t", 2, RECOVERING)
            part = (await asyncio.wait_for(waiting, 60)).responses[0].partitions[0]
            assert part.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER

    run(scenario)


async def led_by_another(world: Owner, topic: str, leader: int) -> int:
    """``leader`` has taken over and committed; the new leader epoch."""
    image = world.controller.image
    old = image.streamlet(image.topics[topic].topic_id, 0)
    new = old.recovering(leader).online(image.brokers[leader].epoch)
    await world.controller.decide(lambda: Decision(None, {new.key: new.encode()}))
    return new.leader_epoch


def test_clients_are_told_the_new_leader(tmp_path: Path) -> None:
    """KIP-951: who leads, in which epoch, and where that is."""

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            topic_id = await world.create("t", (1, 2, 3))
            assert await produced(world, "t") == (NONE, 0)
            epoch = await led_by_another(world, "t", 2)
            request = produce_request(topic_id, (0, chunk_of(b"x")))
            fields = {name: getattr(request, name) for name in ("acks", "timeout_ms", "topic_data")}
            answer = await world.call(PRODUCE, 13, **fields)
            part = answer.responses[0].partition_responses[0]
            assert part.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
            assert (part.current_leader.leader_id, part.current_leader.leader_epoch) == (2, epoch)
            assert [(n.node_id, n.host, n.port) for n in answer.node_endpoints] == [(2, "host2", 9092)]
            wanted = fetch_request(topic_id, (0, 0))
            fields = {name: getattr(wanted, name) for name in ("topics", "max_bytes", "session_epoch")}
            answer = await world.call(FETCH, 18, **fields)
            part = answer.responses[0].partitions[0]
            assert part.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
            assert (part.current_leader.leader_id, part.current_leader.leader_epoch) == (2, epoch)
            assert [(n.node_id, n.host, n.port) for n in answer.node_endpoints] == [(2, "host2", 9092)]
            assert await shown(world, "t") == (NONE, 2, [1, 2, 3], [1, 2, 3])

    run(scenario)


@pytest.mark.parametrize(
    ("replicas", "step", "code"),
    [
        ((1, 2, 3), -1, ErrorCode.FENCED_LEADER_EPOCH),
        ((1, 2, 3), 0, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        ((1, 2, 3), 1, ErrorCode.UNKNOWN_LEADER_EPOCH),
        ((2, 3), -1, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        ((2, 3), 1, ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ],
)
def test_epochs_come_before_leadership_on_a_replica(
    tmp_path: Path, replicas: tuple[int, ...], step: int, code: ErrorCode
) -> None:
    """Rule 32, in Apache Kafka's order: a replica compares leader epochs, any other broker does not."""

    async def scenario() -> None:
        async with owner(tmp_path) as world:
            await world.create("t", replicas)
            epoch = await led_by_another(world, "t", 2) + step
            wanted = fetch_request("t", (0, 0), epoch=epoch)
            fields = {name: getattr(wanted, name) for name in ("topics", "max_bytes", "session_epoch")}
            part = (await world.call(FETCH, 12, **fields)).responses[0].partitions[0]
            assert part.error_code == code
            asked = ListOffsetsTopic(
                name="t", partitions=[ListOffsetsPartition(timestamp=-1, current_leader_epoch=epoch)]
            )
            listed = await world.call(LIST_OFFSETS, 6, topics=[asked])
            assert listed.topics[0].partitions[0].error_code == code
            end = OffsetForLeaderTopic(
                topic="t", partitions=[OffsetForLeaderPartition(current_leader_epoch=epoch, leader_epoch=0)]
            )
            answer = await world.call(OFFSET_FOR_LEADER_EPOCH, 4, topics=[end])
            assert answer.topics[0].partitions[0].error_code == code

    run(scenario)
