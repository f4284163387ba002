"""Bad input: the right error or a closed connection, others served all the while, memory bounded.

The expectations about damaged batches and frames hold for Apache Kafka too (``--target kafka``).
"""

from __future__ import annotations

import os
import random
import resource
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    OffsetSpec,
    ResourceType,
)

from compat_tests.support import frames
from compat_tests.support.broker import ApacheKafka, Subprocess
from compat_tests.support.confluent import consumer, messages, producer, send_all
from compat_tests.support.frames import RawConnection, batch
from compat_tests.support.load import MemberLoad, ProducerLoad, verify_exactly_once
from compat_tests.support.peak import Peak
from compat_tests.support.ports import wait_until
from compat_tests.support.proxy import RecordingProxy
from compat_tests.support.records import BASE_TIME_MS, Sample
from compat_tests.support.target import own_broker
from compat_tests.support.topics import create_topic, unique
from kproto.net.client import Client
from kproto.wire.generated.find_coordinator import FindCoordinatorRequest
from kproto.wire.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kproto.wire.generated.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

pytestmark = pytest.mark.owns_broker

MIB = 1 << 20
REQUEST_MEMORY = 64 * MIB
RSS_LIMIT = 60_000_000 + REQUEST_MEMORY
SEED = int(os.environ.get("KPROTO_HOSTILE_SEED", str(time.time_ns() % 1_000_000)))
SETTINGS: dict[str, object] = {
    "kproto.request.memory.bytes": REQUEST_MEMORY,
    "kproto.log.memory.bytes": 16 * MIB,
    "auto.create.topics.enable": False,
}

NONE, CORRUPT_MESSAGE, MESSAGE_TOO_LARGE, INVALID_TIMESTAMP, UNSUPPORTED_FORMAT, INVALID_RECORD = (
    0,
    2,
    10,
    32,
    43,
    87,
)
OUT_OF_ORDER_SEQUENCE, UNSUPPORTED_VERSION, MEMBER_ID_REQUIRED = 45, 35, 79
CLOSED = None


class Victim:
    """The broker, and a witness that is served all the while."""

    def __init__(self, broker: Subprocess) -> None:
        self.broker = broker
        self.is_kafka = isinstance(broker, ApacheKafka)
        self.address = ("127.0.0.1", broker.port)
        topic = create_topic(broker.bootstrap, "witness", 1)
        self.writer = ProducerLoad(broker.bootstrap, topic, [0], 500, 200, enable_idempotence=True)
        self.reader = MemberLoad(broker.bootstrap, topic, "witness")

    def served(self) -> None:
        """The witness's producer gets an ack for something and its consumer a commit, from now on."""
        assert self.broker.running(), self.broker.log_tail()
        acked, commits = self.writer.promises.total(), self.reader.commits
        wait_until(
            "the witness to be served",
            lambda: self.writer.promises.total() > acked and self.reader.commits > commits,
            every_s=0.01,
        )

    def connect(self, timeout_s: float = 60.0) -> RawConnection:
        return RawConnection(self.address, timeout_s)

    def finish(self) -> None:
        self.served()
        self.writer.finish()
        self.reader.finish(self.writer)
        assert verify_exactly_once(self.broker.bootstrap, self.writer) > 0


@pytest.fixture(scope="module")
def victim(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 65_536), hard))
    with own_broker(request.config, tmp_path_factory.mktemp("hostile"), SETTINGS) as broker:
        running = Victim(broker)
        yield running
        running.finish()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.fixture(autouse=True)
def others_are_served(victim: Victim) -> Iterator[None]:
    """All the while, and with no more memory than is allowed."""
    with Peak(victim.broker) as peak:
        yield
        victim.served()
    assert victim.is_kafka or peak.bytes < RSS_LIMIT


def damaged() -> dict[str, tuple[bytes, set[int | None]]]:
    """Name -> (records field, the answers allowed: an error code, or CLOSED)."""
    good = batch([b"one", b"two"])
    flipped = bytearray(good)
    flipped[-2] ^= 0x40
    now = int(time.time() * 1000)
    corrupt: set[int | None] = {CORRUPT_MESSAGE}
    invalid: set[int | None] = {INVALID_RECORD}
    either = corrupt | invalid
    return {
        "crc": (batch([b"x"], crc=12345), corrupt),
        "bit-flip": (bytes(flipped), corrupt),
        "magic-0": (frames.old_message(b"x", 0), either | {UNSUPPORTED_FORMAT}),
        "magic-1": (frames.old_message(b"x", 1), either | {UNSUPPORTED_FORMAT}),
        "magic-3": (batch([b"x"], magic=3), either),
        "magic-negative": (batch([b"x"], magic=-1), either),
        "length-zero": (batch([b"x"], length=0), either),
        "length-negative": (batch([b"x"], length=-5), either),
        "length-too-long": (batch([b"x"], length=4000), either),
        "length-too-short": (batch([b"x" * 50], length=60), either),
        "length-huge": (batch([b"x"], length=2**31 - 1), either),
        "count-too-high": (batch([b"x"], count=7), either),
        "count-zero": (batch([b"x"], count=0), either),
        "count-negative": (batch([b"x"], count=-3), either),
        "last-delta-wrong": (batch([b"x"], last_delta=9), either),
        "last-delta-negative": (batch([b"x"], last_delta=-1), either),
        "codec-unknown": (batch([b"x"], attributes=7), either | {76}),
        "control-batch": (batch([b"x"], attributes=0x20), either),
        "two-batches": (good + good, invalid),
        "batch-and-half": (good + good[:30], either),
        "half-batch": (good[:40], either),
        "few-bytes": (good[:7], either),
        "nothing": (b"", either),
        "zeros": (bytes(200), either | {UNSUPPORTED_FORMAT}),
        "noise": (random.Random(SEED).randbytes(300), either | {UNSUPPORTED_FORMAT}),
        "time-ahead": (batch([b"x"], times_ms=(now + 7_200_000, now + 7_200_000)), {INVALID_TIMESTAMP}),
        "too-large": (batch([bytes(1_100_000)]), {MESSAGE_TOO_LARGE}),
        "sequence-gap": (batch([b"x"], producer=(123_456, 0, 17)), {OUT_OF_ORDER_SEQUENCE, NONE}),
    }


KAFKA_TOO: dict[str, set[int | None]] = {"length-huge": {-1}, "codec-unknown": {-1}, "batch-and-half": {NONE}}
"""Where Apache Kafka does less: an unknown server error, or the good half of a request is stored."""


def end_offset(victim: Victim, topic: str) -> int:
    admin = AdminClient({"bootstrap.servers": victim.broker.bootstrap})
    place = TopicPartition(topic, 0)
    return int(admin.list_offsets({place: OffsetSpec.latest()})[place].result(60).offset)


@pytest.mark.parametrize("name", list(damaged()))
def test_a_damaged_batch_is_refused_and_not_stored(victim: Victim, name: str) -> None:
    topic = create_topic(victim.broker.bootstrap, unique("damaged"), 1)
    records, allowed = damaged()[name]
    with victim.connect() as connection:
        answer = connection.ask(frames.produce(topic, 0, records))
        code = CLOSED if answer is None else frames.produce_error(answer)[0]
        assert code in allowed | (KAFKA_TOO.get(name, set()) if victim.is_kafka else set())
        assert end_offset(victim, topic) == (0 if code != NONE else 2 if name == "batch-and-half" else 1)
        if code is not CLOSED:
            good = connection.ask(frames.produce(topic, 0, batch([b"good"])))
            assert good is not None
            assert frames.produce_error(good) == (NONE, end_offset(victim, topic) - 1)


def test_damage_without_acks_is_dropped_or_closes(victim: Victim) -> None:
    """acks=0: there is no answer to put an error in, so the broker closes (as Kafka does) or drops it."""
    topic = create_topic(victim.broker.bootstrap, unique("damaged"), 1)
    with victim.connect() as connection:
        connection.send(frames.produce(topic, 0, batch([b"x"], crc=1), acks=0))
        answer = connection.ask(frames.request(frames.API_VERSIONS, 0, b"", correlation=9))
        assert answer is None or struct.unpack_from(">h", answer)[0] == NONE
    assert end_offset(victim, topic) == 0


@pytest.mark.parametrize("size", [-1, -(2**31), 2**31 - 1, 104_857_601, 0, 3])
def test_impossible_frame_sizes_close_the_connection(victim: Victim, size: int) -> None:
    with victim.connect() as connection:
        connection.send(struct.pack(">i", size) + bytes(max(0, min(size, 8))))
        assert connection.closed()


@pytest.mark.parametrize("key", [999, -1, 32_767, 7, 52, 1000])
def test_unknown_keys_close_the_connection(victim: Victim, key: int) -> None:
    with victim.connect() as connection:
        connection.send(frames.request(key, 0, b"\0" * 20))
        assert connection.closed()


@pytest.mark.parametrize("key", [frames.PRODUCE, frames.FETCH, frames.METADATA, 11, 19])
@pytest.mark.parametrize("version", [-1, 99, 32_767])
def test_unknown_versions_close_the_connection(victim: Victim, key: int, version: int) -> None:
    with victim.connect() as connection:
        connection.send(frames.request(key, version, b"\0" * 20))
        assert connection.closed()


@pytest.mark.parametrize("version", [5, 99, 32_767])
def test_api_versions_of_the_future_get_version_0_and_the_range(victim: Victim, version: int) -> None:
    with victim.connect() as connection:
        answer = connection.ask(frames.request(frames.API_VERSIONS, version, b"\0" * 10))
        assert answer is not None
        code, count = struct.unpack_from(">hi", answer)
        assert code == UNSUPPORTED_VERSION
        ranges = {
            key: (low, high) for key, low, high in struct.iter_unpack(">hhh", answer[6 : 6 + 6 * count])
        }
        assert ranges[frames.API_VERSIONS][0] == 0
        again = connection.ask(frames.request(frames.API_VERSIONS, 0, b"", correlation=2))
        assert again is not None, "the connection goes on with a version both know"
        assert struct.unpack_from(">h", again)[0] == NONE


def lying_requests() -> dict[str, bytes]:
    """Requests whose inner lengths do not fit what follows."""
    produce_head = frames.string(None) + struct.pack(">hi", -1, 1000)
    return {
        "array-huge": frames.request(frames.METADATA, 1, struct.pack(">i", 2**31 - 1)),
        "array-negative": frames.request(frames.METADATA, 1, struct.pack(">i", -7)),
        "array-of-nothing": frames.request(frames.METADATA, 1, struct.pack(">i", 1_000_000)),
        "string-too-long": frames.request(frames.METADATA, 1, struct.pack(">ih", 1, 30_000) + b"abc"),
        "string-negative": frames.request(frames.METADATA, 1, struct.pack(">ih", 1, -9) + b"abc"),
        "string-not-utf8": frames.request(frames.METADATA, 1, struct.pack(">ih", 1, 3) + b"\xff\xfe\x80"),
        "records-too-long": frames.request(
            frames.PRODUCE,
            7,
            produce_head + struct.pack(">i", 1) + frames.string("t") + struct.pack(">iii", 1, 0, 2**30),
        ),
        "records-negative": frames.request(
            frames.PRODUCE,
            7,
            produce_head + struct.pack(">i", 1) + frames.string("t") + struct.pack(">iii", 1, 0, -2),
        ),
        "client-id-too-long": frames.sized(struct.pack(">hhih", 3, 1, 1, 20_000) + b"x"),
        "tags-huge": frames.request(frames.METADATA, 12, b"\xff\xff\xff\xff\x07" + b"\0" * 10),
        "varint-endless": frames.request(frames.METADATA, 12, b"\0" + b"\xff" * 40),
        "compact-array-huge": frames.request(frames.METADATA, 12, b"\0" + b"\xff\xff\xff\xff\x07"),
        "cut-short": frames.request(frames.FETCH, 4, b"\0" * 9),
        "header-only": frames.sized(struct.pack(">hh", 3, 1)),
    }


MAY_BE_ANSWERED = {"array-negative", "string-negative", "string-not-utf8", "records-negative"}
"""A negative length can be read as null, and names need not be text: then an answer is as good."""


@pytest.mark.parametrize("name", list(lying_requests()))
def test_lengths_that_lie_close_the_connection(victim: Victim, name: str) -> None:
    before = victim.broker.rss_bytes()
    with victim.connect() as connection:
        answer = connection.ask(lying_requests()[name])
        assert answer is None or name in MAY_BE_ANSWERED
    assert victim.broker.rss_bytes() < before + 20 * MIB


def test_cut_frames_and_half_closed_connections(victim: Victim) -> None:
    import socket

    whole = frames.request(frames.METADATA, 1, struct.pack(">i", -1))
    base = victim.broker.descriptors()
    for cut in range(1, len(whole)):
        with victim.connect() as connection:
            connection.send(whole[:cut])
            connection.sock.shutdown(socket.SHUT_WR)
            assert connection.closed()
    wait_until("the descriptors to be given back", lambda: victim.broker.descriptors() <= base + 5)


def pour(victim: Victim, chance: random.Random, make: list[bytes]) -> None:
    """Send frames on short-lived connections, a few on each; take whatever comes back, wait for nothing."""
    while make:
        with victim.connect() as connection:
            connection.sock.settimeout(0.02)
            for _ in range(chance.randrange(1, 6)):
                if not make:
                    return
                try:
                    connection.send(make.pop())
                    connection.sock.recv(65_536)
                except TimeoutError:
                    continue
                except OSError:
                    break


@pytest.mark.kproto_only
def test_random_frames(victim: Victim) -> None:
    print(f"KPROTO_HOSTILE_SEED={SEED}")
    chance = random.Random(SEED)
    noise = [frames.sized(chance.randbytes(chance.randrange(1, 400))) for _ in range(300)]
    keyed = [
        frames.request(
            chance.randrange(0, 76), chance.randrange(0, 14), chance.randbytes(chance.randrange(0, 200))
        )
        for _ in range(900)
    ]
    raw = [chance.randbytes(chance.randrange(1, 400)) for _ in range(100)]
    pour(victim, chance, noise + keyed + raw)


def exercise(bootstrap: str, topic: str) -> None:
    """A bit of everything, so that the proxy sees many kinds of requests."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    create_topic(bootstrap, topic, 2)
    admin.create_partitions([NewPartitions(topic, 3)])[topic].result(120)
    resource_of = ConfigResource(ResourceType.TOPIC, topic)
    admin.describe_configs([resource_of])[resource_of].result(120)
    send_all(producer(bootstrap, enable_idempotence=True), topic, 0, [Sample(b"k", b"v", (), BASE_TIME_MS)])
    send_all(
        producer(bootstrap, compression_codec="lz4"), topic, 0, [Sample(b"k", bytes(500), (), BASE_TIME_MS)]
    )
    client = consumer(bootstrap, group_id=topic, session_timeout_ms=60_000, heartbeat_interval_ms=200)
    client.subscribe([topic])
    messages(client, 2)
    client.commit(asynchronous=False)
    client.committed([TopicPartition(topic, 0)], timeout=60)
    client.offsets_for_times([TopicPartition(topic, 0, BASE_TIME_MS)], timeout=60)
    time.sleep(0.5)
    client.close()
    admin.list_consumer_groups().result(120)
    admin.describe_consumer_groups([topic])[topic].result(120)
    admin.delete_records([TopicPartition(topic, 0, 1)])[TopicPartition(topic, 0)].result(120)
    admin.describe_cluster().result(120)
    admin.delete_consumer_groups([topic])[topic].result(120)
    shorter = ConfigEntry("retention.ms", "3600000", incremental_operation=AlterConfigOpType.SET)
    changed = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[shorter])
    admin.incremental_alter_configs([changed])[changed].result(120)
    admin.delete_topics([create_topic(bootstrap, f"{topic}-gone", 1)])[f"{topic}-gone"].result(120)


EXERCISED = {0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 22, 32, 37, 42, 44}
"""Keys of what `exercise` asks at least, all of it past the proxy."""
DOES_WHAT_IT_SAYS = {19, 20, 37, 44}
"""Create and delete topics, add partitions, alter configs: other numbers make these other valid wishes."""


def mutated(frame: bytes, chance: random.Random) -> bytes:
    """One to four changes: flipped bits, extreme numbers, cut or doubled pieces; mostly the size fits."""
    body = bytearray(frame[4:])
    key = struct.unpack_from(">h", body)[0]
    extremes = [
        b"\xff\xff\xff\xff",
        b"\x7f\xff\xff\xff",
        b"\x80\x00\x00\x00",
        b"\x00\x00\x00\x00",
        b"\xff\xff\xff\x7f",
    ]
    for _ in range(chance.randrange(1, 5)):
        place = chance.randrange(4, max(5, len(body)))
        kind = 2 if key in DOES_WHAT_IT_SAYS else chance.randrange(4)
        if kind == 0:
            body[min(place, len(body) - 1)] ^= 1 << chance.randrange(8)
        elif kind == 1:
            body[place : place + 4] = chance.choice(extremes)
        elif kind == 2:
            del body[place:]
        else:
            body[place:place] = body[place : place + chance.randrange(1, 40)]
    size = len(body) + (chance.randrange(-3, 4) if chance.random() < 0.1 else 0)
    return struct.pack(">i", size) + bytes(body)


@pytest.mark.kproto_only
def test_mutated_frames_of_real_clients(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """The broker tells clients the proxy's address: what they ask after the first answer goes there, too."""
    print(f"KPROTO_HOSTILE_SEED={SEED}")
    chance = random.Random(SEED)
    proxy = RecordingProxy()
    told = {"advertised.listeners": f"PLAINTEXT://127.0.0.1:{proxy.port}"}
    with own_broker(request.config, tmp_path, SETTINGS | told) as broker:
        proxy.target = ("127.0.0.1", broker.port)
        exercise(broker.bootstrap, unique("mutated"))
        assert proxy.keys() >= EXERCISED
        samples = list(proxy.frames.values()) + hand_made()
        victim = Victim(broker)
        with Peak(broker) as peak:
            pour(victim, chance, [mutated(chance.choice(samples), chance) for _ in range(2000)])
        assert peak.bytes < RSS_LIMIT
        victim.finish()
    proxy.close()


def hand_made() -> list[bytes]:
    """Older versions than those of today's clients."""
    group = frames.string("g")
    member = group + struct.pack(">i", 1) + frames.string("m")
    names = frames.string("") + frames.string("consumer") + struct.pack(">i", 1) + frames.string("range")
    offsets = struct.pack(">i", 1) + frames.string("t") + struct.pack(">i", 1)
    return [
        frames.produce("t", 0, batch([b"a", b"b"])),
        frames.fetch("t", 0, 0),
        frames.request(frames.LIST_OFFSETS, 1, struct.pack(">i", -1) + offsets + struct.pack(">iq", 0, -1)),
        frames.request(10, 1, group + b"\0"),
        frames.request(11, 2, group + struct.pack(">ii", 6000, 6000) + names + frames.sized(bytes(12))),
        frames.request(14, 0, member + struct.pack(">i", 0)),
        frames.request(12, 0, member),
        frames.request(9, 1, group + offsets + struct.pack(">i", 0)),
        frames.request(22, 0, frames.string(None) + struct.pack(">i", 1000)),
        frames.request(23, 2, offsets + struct.pack(">iii", 0, 0, 0)),
    ]


@pytest.mark.kproto_only
def test_2000_idle_connections(victim: Victim) -> None:
    base = victim.broker.descriptors()
    idle: list[RawConnection] = []
    try:
        with Peak(victim.broker) as peak:
            for _ in range(2000):
                idle.append(victim.connect())
            wait_until("all to be accepted", lambda: victim.broker.descriptors() >= base + 2000)
            victim.served()
            ask = frames.request(frames.API_VERSIONS, 0, b"")
            for connection in random.Random(SEED).sample(idle, 50):
                assert connection.ask(ask) is not None
        assert peak.bytes < 60_000_000 + 40 * MIB
    finally:
        for connection in idle:
            connection.sock.close()
    wait_until("the descriptors to be given back", lambda: victim.broker.descriptors() <= base + 5)


@pytest.mark.kproto_only
def test_slow_loris(victim: Victim) -> None:
    """A hundred clients announce 100 MB each and send a byte now and then: they reserve what they sent."""
    slow = [victim.connect() for _ in range(100)]
    try:
        with Peak(victim.broker) as peak:
            for connection in slow:
                connection.send(struct.pack(">ihhi", 104_857_600, 0, 7, 1))
            for _ in range(20):
                for connection in slow:
                    connection.send(b"\0" * 10)
                time.sleep(0.05)
            victim.served()
        assert peak.bytes < 60_000_000 + 40 * MIB
    finally:
        for connection in slow:
            connection.sock.close()


@pytest.mark.kproto_only
def test_requests_without_reading_replies(victim: Victim) -> None:
    """Clients ask for 40 MB again and again and never read: memory stays bounded, and the others are served
    as soon as those that pin all of it have been shown the door."""
    topic = create_topic(victim.broker.bootstrap, unique("unread"), 1)
    noise = random.Random(SEED).randbytes(900_000)
    send_all(producer(victim.broker.bootstrap), topic, 0, [Sample(None, noise, (), BASE_TIME_MS)] * 45)
    greedy = [victim.connect(0.2) for _ in range(20)]
    try:
        for _ in range(50):
            for connection in greedy:
                try:
                    connection.send(frames.fetch(topic, 0, 0, max_bytes=40_000_000))
                except (TimeoutError, ConnectionError):
                    continue
        for _ in range(6):
            victim.served()
    finally:
        for connection in greedy:
            connection.sock.close()


@pytest.mark.kproto_only
def test_large_requests_at_once(victim: Victim) -> None:
    """Thirty produce requests of 20 MB together are ten times the memory there is: they take turns."""
    topic = create_topic(victim.broker.bootstrap, unique("large"), 1)
    request = frames.produce(topic, 0, batch([bytes(20_000_000)]))
    codes: list[int | None] = []

    def one() -> None:
        with victim.connect(240) as connection:
            answer = connection.ask(request)
            codes.append(CLOSED if answer is None else frames.produce_error(answer)[0])

    threads = [threading.Thread(target=one) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(240)
    assert codes == [MESSAGE_TOO_LARGE] * 30


@pytest.mark.kproto_only
@pytest.mark.parametrize("version", [2, 5, 9])
def test_a_group_with_the_longest_client_id_is_stored(victim: Victim, version: int) -> None:
    """The member id is longer than the client id, and records have room for 32,767 bytes."""
    group = unique("long")
    with Client(*victim.address, client_id="c" * 32_767) as client:
        client.call(10, 4, FindCoordinatorRequest(coordinator_keys=[group]))
        request = JoinGroupRequest(
            group_id=group,
            session_timeout_ms=6000,
            rebalance_timeout_ms=6000,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=bytes(6))],
        )
        joined = client.call(11, version, request)
        if joined.error_code == MEMBER_ID_REQUIRED:
            request.member_id = joined.member_id
            joined = client.call(11, version, request)
        assert joined.error_code == NONE
        mine = [SyncGroupRequestAssignment(member_id=joined.member_id, assignment=b"all")]
        sync = SyncGroupRequest(group_id=group, generation_id=1, member_id=joined.member_id, assignments=mine)
        synced = client.call(14, 2, sync)
        assert (synced.error_code, synced.assignment) == (NONE, b"all")
