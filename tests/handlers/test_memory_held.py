"""What clients ask, without reading or again and again, is within the bound on memory, and gone when it is
over."""

import asyncio
import gc
import os
import select
import socket
import struct
import threading
import time
import weakref
from contextlib import suppress

import pytest
from conftest import Kafka, chunk_of, produce_request

from bench.failover.promises import wait_until
from kproto.handlers import produce
from kproto.handlers.context import Services
from kproto.handlers.fetch_sessions import FetchPartition, Session
from kproto.handlers.groups.model import JoinReply
from kproto.net.budget import MemoryBudget
from kproto.testing import InProcessBroker, kafka_broker
from kproto.wire.framing import request_frame
from kproto.wire.generated.api_versions import ApiVersionsRequest
from kproto.wire.generated.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kproto.wire.generated.describe_groups import DescribeGroupsRequest
from kproto.wire.generated.fetch import FetchPartition as Asked
from kproto.wire.generated.fetch import FetchRequest, FetchTopic
from kproto.wire.generated.find_coordinator import FindCoordinatorRequest
from kproto.wire.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kproto.wire.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kproto.wire.generated.metadata import MetadataRequest
from kproto.wire.generated.produce import TopicProduceData
from kproto.wire.generated.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

LIMIT = 4 << 20
RESET = struct.pack("ii", 1, 0)
"""For SO_LINGER: who closes so will not read what it asked for."""


@pytest.fixture
def small():
    settings = {"kproto.request.memory.bytes": LIMIT + (1 << 20), "kproto.log.memory.bytes": 1 << 20}
    with kafka_broker(settings) as broker, Kafka(broker.host, broker.port) as client:
        yield broker, client


def living(kind: type) -> int:
    return sum(type(one) is kind for one in gc.get_objects())


def budgets(limit: int) -> list[MemoryBudget]:
    return [one for one in gc.get_objects() if type(one) is MemoryBudget and one.limit == limit]


def held(of: int) -> int:
    """What is charged to the budget with that limit."""
    return max(one.used for one in budgets(of))


def most_held(broker: InProcessBroker, frames: bytes, connections: int, least: int) -> int:
    """The most that is held for connections that send ``frames`` and read nothing: once it was more than
    ``least`` it is watched for a while."""
    most = 0
    until = time.monotonic() + 60
    found = budgets(LIMIT)
    socks = [socket.create_connection((broker.host, broker.port)) for _ in range(connections)]
    try:
        for sock in socks:
            sock.sendall(frames)
        while (now := time.monotonic()) < until:
            if most <= least < max(one.used for one in found):
                until = now + 2
            most = max(most, *(one.used for one in found))
            time.sleep(0.001)
    finally:
        for sock in socks:
            sock.close()
    assert most > least
    return most


def ask(topic: str, partitions: int, wait_ms: int) -> FetchRequest:
    asked = [Asked(partition=index, fetch_offset=0, partition_max_bytes=1000) for index in range(partitions)]
    topics = [FetchTopic(topic=topic, partitions=asked)]
    return FetchRequest(max_wait_ms=wait_ms, min_bytes=1, max_bytes=1 << 20, topics=topics)


@pytest.mark.parametrize("wait_ms", [0, 20])
def test_a_fetch_without_session_leaves_nothing_for_the_collector(kafka, wait_ms):
    name, _ = kafka.create(partitions=10)
    gc.collect()
    gc.disable()
    try:
        before = living(FetchPartition)
        for _ in range(10):
            kafka.call(1, 4, ask(name, 10, wait_ms))
        assert living(FetchPartition) == before
    finally:
        gc.enable()


def member(client: Kafka, group: str, size: int) -> None:
    client.call(10, 4, FindCoordinatorRequest(coordinator_keys=[group]))
    request = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=60_000,
        rebalance_timeout_ms=60_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=bytes(6))],
    )
    until = time.monotonic() + 60
    while (joined := client.call(11, 2, request)).error_code and time.monotonic() < until:
        time.sleep(0.05)
    mine = [SyncGroupRequestAssignment(member_id=joined.member_id, assignment=bytes(size))]
    sync = SyncGroupRequest(group_id=group, generation_id=1, member_id=joined.member_id, assignments=mine)
    assert client.call(14, 2, sync).error_code == 0


def test_joins_leave_nothing_for_the_collector(kafka):
    member(kafka, "first", 10)
    gc.collect()
    gc.disable()
    try:
        before = living(JoinReply)
        for number in range(5):
            member(kafka, f"g{number}", 10)
        assert living(JoinReply) == before
    finally:
        gc.enable()


def test_answers_of_requests_in_line_are_within_the_bound(small):
    """The first request takes long, so the small ones wait behind it: what they are answered was not counted
    before it was made. 4 connections had 500 MB."""
    broker, client = small
    names = [client.create()[0] for _ in range(60)]
    client.create(partitions=3000)
    slow = DescribeConfigsRequest(
        resources=[DescribeConfigsResource(resource_type=2, resource_name=name) for name in names]
    )
    metadata = request_frame(3, 12, MetadataRequest(topics=None), 1)
    frames = bytes(request_frame(32, 1, slow, 1) + metadata * 600)
    assert most_held(broker, frames, 3, LIMIT // 2) < 2 * LIMIT


def test_answers_that_are_awaited_are_within_the_bound(small):
    broker, client = small
    member(client, "large", 500_000)
    frame = bytes(request_frame(15, 0, DescribeGroupsRequest(groups=["large"]), 1))
    assert most_held(broker, frame * 300, 3, LIMIT // 2) < 2 * LIMIT


def test_what_a_fetch_of_many_partitions_takes_is_counted_while_it_waits(small):
    broker, client = small
    name, _ = client.create(partitions=1000)
    frame = bytes(request_frame(1, 4, ask(name, 1000, 60_000), 1))
    assert most_held(broker, frame, 3, 3 * 1000 * 400) < 2 * LIMIT


def test_what_sessions_take_is_counted_and_given_back(small):
    client = small[1]
    request = ask("unknown", 1000, 0)
    request.session_id, request.session_epoch = 0, 0
    ids = [client.call(1, 11, request).session_id for _ in range(10)]
    kept = [one for one in ids if one]
    assert 0 < len(kept) < 10, "the others have to ask for all of it each time"
    assert len(kept) * 400_000 <= held(LIMIT) <= LIMIT // 4
    for one in kept:
        request.session_id, request.session_epoch = one, -1
        client.call(1, 11, request)
    wait_until("all is given back", lambda: not held(LIMIT))


def test_who_wants_no_answers_waits_while_memory_for_new_data_is_used_up(small, monkeypatch):
    """Nobody else makes such a client wait: its data went beyond the memory there is for it, without being
    counted, until some was refused, which is a closed connection."""
    broker, client = small
    name, _ = client.create(flush_messages="1")
    send = bytes(request_frame(0, 7, produce_request(name, (0, chunk_of(bytes(200_000))), acks=0), 1))
    last = bytes(request_frame(18, 0, ApiVersionsRequest(), 2))
    sync = os.fdatasync
    monkeypatch.setattr(os, "fdatasync", lambda fd: (time.sleep(0.1), sync(fd)))
    with socket.create_connection((broker.host, broker.port)) as sock:
        sock.settimeout(60)
        sock.sendall(send * 100 + last)
        head = sock.recv(8, socket.MSG_WAITALL)
    assert struct.unpack(">4xi", head) == (2,), "nothing was refused"
    assert client.stored(name, chunk_of(b"last")) == 100


def test_a_disk_that_stands_still_keeps_nobody_out(small, monkeypatch):
    """acks=0 waits no longer than its request says, as others do for their answers."""
    broker, client = small
    name, _ = client.create(flush_messages="1")
    request = produce_request(name, (0, chunk_of(bytes(200_000))), acks=0, timeout_ms=100)
    go_on, sync = threading.Event(), os.fdatasync
    monkeypatch.setattr(os, "fdatasync", lambda fd: (go_on.wait(120), sync(fd)))
    full = [socket.create_connection((broker.host, broker.port)) for _ in range(4)]
    try:
        for sock in full:
            sock.settimeout(1)
            with suppress(OSError):
                sock.sendall(bytes(request_frame(0, 7, request, 1)) * 40)
        with Kafka(broker.host, broker.port) as other:
            assert other.call(18, 0, ApiVersionsRequest()).error_code == 0
    finally:
        go_on.set()
        for sock in full:
            sock.close()


@pytest.mark.parametrize("many", [True, False])
@pytest.mark.parametrize("acks", [-1, 0])
def test_what_tiny_batches_take_is_counted_until_they_are_stored(small, monkeypatch, acks, many):
    """A batch of 69 bytes takes several times its size, which matters where very many are on their way; of
    acks=0 nothing was counted."""
    broker, client = small
    name, _ = client.create(partitions=1000, flush_messages="1")
    parts = [(index, chunk_of(b"")) for index in range(1000)]
    request = produce_request(name, *parts, acks=acks, timeout_ms=120_000)
    request.topic_data.append(TopicProduceData(name=name, partition_data=[]))
    asks = bytes(request_frame(18, 0, ApiVersionsRequest(), 2))
    go_on, sync = threading.Event(), os.fdatasync
    monkeypatch.setattr(produce, "MANY", 999 if many else 1000)
    monkeypatch.setattr(os, "fdatasync", lambda fd: (go_on.wait(120), sync(fd)))
    try:
        with socket.create_connection((broker.host, broker.port)) as sock:
            sock.sendall(bytes(request_frame(0, 7, request, 1)) + asks)
            if many:
                wait_until("it is counted", lambda: held(LIMIT) >= 1000 * produce.BYTES_EACH)
            elif acks:
                wait_until("it waits", lambda: held(LIMIT))
                assert held(LIMIT) < 1000 * produce.BYTES_EACH
            go_on.set()
            wait_until("it is stored", lambda: not held(LIMIT))
    finally:
        go_on.set()


def silence() -> list[weakref.ref[memoryview]]:
    """The controller of the small broker does not answer any more: what it is asked."""
    asked: list[weakref.ref[memoryview]] = []

    async def forward(frame: memoryview, _peer: str) -> bytes:
        asked.append(weakref.ref(frame))
        async with asyncio.timeout(120) as patience:  # which knows the task
            await asyncio.Event().wait()
        assert patience
        return b""

    found = (one for one in gc.get_objects() if type(one) is Services and one.budget.limit == LIMIT)
    next(found).forward = forward
    return asked


def alter_configs(topic: str, configs: int) -> bytes:
    """A request of 20 KB for each config."""
    config = AlterableConfig(name="retention.ms", config_operation=0, value="x" * 20_000)
    resource = AlterConfigsResource(resource_type=2, resource_name=topic, configs=[config] * configs)
    return bytes(request_frame(44, 1, IncrementalAlterConfigsRequest(resources=[resource]), 1))


def test_what_a_silent_controller_is_asked_is_counted_and_ends_with_its_client(small):
    """A connection that asked for 12 MB and was closed left 36 MB for half a minute, and four that stayed
    kept all others out."""
    broker, client = small
    name, _ = client.create()
    asked, frame = silence(), alter_configs(name, 20)
    gc.collect()
    gc.disable()
    before = living(IncrementalAlterConfigsRequest)
    try:
        for count in (1, 2):
            with socket.create_connection((broker.host, broker.port)) as sock:
                sock.sendall(frame)
                wait_until("the controller is asked", lambda count=count: len(asked) == count)
                wait_until("it is counted", lambda: held(LIMIT) >= 800_000)
                wait_until("its request is gone", lambda: living(IncrementalAlterConfigsRequest) == before)
                with socket.create_connection((broker.host, broker.port)) as other:
                    other.sendall(frame)
                    other.settimeout(60)
                    assert other.recv(4, socket.MSG_WAITALL), "an eighth of the memory is enough for these"
                assert len(asked) == count
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            wait_until("all is given back", lambda: not held(LIMIT))
            wait_until("nobody keeps it", lambda: asked[-1]() is None)
    finally:
        gc.enable()


def test_all_that_comes_in_one_turn_is_counted_for_the_controller(small):
    """A broker that was away for a moment finds the requests of all connections at once."""
    broker, client = small
    name, _ = client.create()
    asked, frame = silence(), alter_configs(name, 1)
    socks = [socket.create_connection((broker.host, broker.port)) for _ in range(51)]
    try:
        socks[0].sendall(frame)
        wait_until("the controller is asked", lambda: asked)
        broker._loop.call_soon_threadsafe(time.sleep, 1)
        time.sleep(0.2)
        for sock in socks[1:]:
            sock.sendall(frame)
        wait_until("all have come", lambda: client.call(18, 0, ApiVersionsRequest()).error_code == 0)
        wait_until("others are answered", lambda: len(readable(socks)) >= 50 - LIMIT // 8 // len(frame))
        assert len(asked) <= LIMIT // 8 // len(frame)
    finally:
        for sock in socks:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            sock.close()


def readable(socks: list[socket.socket]) -> list[socket.socket]:
    return select.select(socks, [], [], 0)[0]


@pytest.mark.parametrize("min_bytes", [1, 2])
def test_a_session_that_ends_keeps_its_partitions_for_the_fetch_that_waits(small, min_bytes):
    """Another connection ends it. The fetch waited until its time was over, and told nothing."""
    broker, kafka = small
    name, _ = kafka.create(partitions=3)
    request = ask(name, 3, 0)
    request.session_epoch = 0
    session_id = kafka.call(1, 11, request).session_id
    assert session_id
    found: list[int] = []

    def wait() -> None:
        waiting = FetchRequest(
            max_wait_ms=120_000,
            min_bytes=min_bytes,
            max_bytes=1 << 20,
            session_id=session_id,
            session_epoch=1,
        )
        with Kafka(broker.host, broker.port, timeout=120) as client:
            topics = client.call(1, 11, waiting).responses
        found.append(sum(len(one.records or b"") for topic in topics for one in topic.partitions))

    thread = threading.Thread(target=wait)
    thread.start()
    wait_until("it waits", lambda: any(type(one) is Session and one.waiting for one in gc.get_objects()))
    request = FetchRequest(max_wait_ms=0, min_bytes=1, session_id=session_id, session_epoch=-1)
    kafka.call(1, 11, request)
    kafka.stored(name, chunk_of(b"x" * 300))
    thread.join(60)
    assert found, "it is answered"
    assert found[0] > 300
