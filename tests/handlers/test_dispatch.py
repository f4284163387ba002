"""Headers, versions and rubbish, against a whole broker; the registry against the modules."""

import random
import socket
import struct
from types import SimpleNamespace

import pytest
from conftest import Kafka, chunk_of, fetch_request, produce_request

from kproto.clock import ManualClock
from kproto.errors import ErrorCode
from kproto.handlers import registry
from kproto.handlers.dispatch import Dispatcher
from kproto.testing import kafka_broker
from kproto.trouble import AGAIN_SECONDS, MOST_TOLD
from kproto.wire.framing import parse_response_frame, request_frame
from kproto.wire.generated.api_versions import ApiVersionsRequest
from kproto.wire.generated.find_coordinator import FindCoordinatorRequest
from kproto.wire.generated.heartbeat import HeartbeatRequest
from kproto.wire.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from kproto.wire.generated.metadata import MetadataRequest
from kproto.wire.generated.sync_group import SyncGroupRequest
from kproto.wire.messages import codec


def refused(broker, body: bytes) -> None:
    """Send ``body`` on a connection of its own, which is closed without an answer."""
    with Kafka(broker.host, broker.port) as bad:
        bad.socket.sendall(struct.pack(">i", len(body)) + body)
        with pytest.raises(ConnectionError):
            bad.receive_frame()


def raw(client: Kafka, body: bytes) -> memoryview:
    client.socket.sendall(struct.pack(">i", len(body)) + body)
    return client.receive_frame()


@pytest.mark.parametrize("key", sorted(registry.APIS))
def test_every_api_has_its_handler_with_the_versions_of_the_table(key):
    api = registry.APIS[key]
    found = registry.handler(key)
    assert (found.key, found.min_version, found.max_version) == (key, api.min_version, api.max_version)
    assert (found.handle is None) != (found.raw is None)
    assert codec(key).min_version <= api.min_version <= api.max_version <= codec(key).max_version


@pytest.mark.parametrize("version", range(5))
def test_api_versions_says_what_is_served(kafka, version):
    request = ApiVersionsRequest(client_software_name="kproto-test", client_software_version="1.0")
    answer = kafka.call(18, version, request)
    assert answer.error_code == 0
    told = {k.api_key: (k.min_version, k.max_version) for k in answer.api_keys}
    assert told == {a.key: (a.advertised_min, a.max_version) for a in registry.APIS.values()}
    assert told[0] == (0, 13), "librdkafka wants to see Produce 0"


@pytest.mark.parametrize("version", [5, 100, 32767, -1])
def test_an_unknown_version_of_api_versions_is_answered_in_version_0(kafka, version):
    frame = raw(kafka, struct.pack(">hhih", 18, version, 77, 2) + b"me" + b"\1\2\3")
    correlation_id, answer = parse_response_frame(18, 0, frame)
    assert correlation_id == 77
    assert answer.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert {k.api_key for k in answer.api_keys} == set(registry.APIS)
    assert kafka.call(18, 0, ApiVersionsRequest()).error_code == 0, "the connection lives on"


@pytest.mark.parametrize(("name", "version"), [("", "1"), ("ok", ""), ("-x", "1"), ("a b", "1"), ("x", "1.")])
def test_malformed_software_names(kafka, name, version):
    request = ApiVersionsRequest(client_software_name=name, client_software_version=version)
    answer = kafka.call(18, 3, request)
    assert (answer.error_code, answer.api_keys) == (ErrorCode.INVALID_REQUEST, [])


@pytest.mark.parametrize(
    "body",
    [
        b"\0",
        b"\0" * 9,
        struct.pack(">hhih", 3, 9, 1, 100) + b"short",
        struct.pack(">hhih", 3, 9, 1, 2) + b"\xff\xfe\0\0\0\0\0",
        struct.pack(">hhih", 3, 9, 1, -1) + b"\xff\xff\xff\xff\x0f",
        struct.pack(">hhih", 3, 9, 1, -1) + b"\0\xff\xff\xff\xff\x07",
        struct.pack(">hhih", 9999, 0, 1, -1) + b"\0" * 10,
        struct.pack(">hhih", -1, 0, 1, -1) + b"\0" * 10,
        struct.pack(">hhih", 3, 14, 1, -1) + b"\0" * 10,
        struct.pack(">hhih", 4, 0, 1, -1) + b"\0" * 10,
    ],
)
def test_rubbish_closes_its_connection_only(broker, kafka, body):
    refused(broker, body)
    assert kafka.call(18, 0, ApiVersionsRequest()).error_code == 0


def test_what_cannot_be_read_is_told_once_for_each_api(caplog):
    request = HeartbeatRequest(group_id="q-none", generation_id=1, member_id="m")
    body = request_frame(12, 4, request, 1)[4:].replace(b"q-none", b"q-n\xe9ne")
    with kafka_broker() as own:
        for _ in range(3):
            refused(own, body)
            refused(own, b"\0\3")
            refused(own, struct.pack(">hhih", 0, 9, 1, -1) + b"\0" * 3)
            refused(own, struct.pack(">hhih", 1, 3, 1, -1))
            refused(own, struct.pack(">hhih", 24, 3, 1, -1))
    assert len(caplog.messages) == 5
    with kafka_broker() as own, socket.create_connection((own.host, own.port)) as client:
        client.sendall(b"\x16\x03\x01\x02\x00" + bytes(60))  # how TLS begins
        assert client.recv(1) == b""
    start = "closing the connection of 127.0.0.1: "
    heartbeat, short, produce, fetch, unserved, tls = caplog.messages
    assert heartbeat.startswith(
        f"{start}API 12 version 4: Heartbeat v4: 'utf-8' codec can't decode byte 0xe9"
    )
    assert short == f"{start}a request of 2 bytes has no header"
    assert produce == f"{start}API 0 version 9: a produce request ends too early"
    assert fetch == f"{start}API 1 version 3: it is not served"
    assert unserved == f"{start}API 24 version 3: it is not served"
    assert tls == f"{start}a frame of 369295618 bytes (does it speak TLS, or HTTP?)"
    assert {record.levelname for record in caplog.records} == {"WARNING"}


def test_rubbish_from_many_does_not_fill_the_log(caplog):
    clock, closed = ManualClock(), []
    dispatcher = Dispatcher(SimpleNamespace(clock=clock))

    def send(peer: str, key: int) -> None:
        connection = SimpleNamespace(peer=peer, close=closed.append)
        dispatcher.dispatch(connection, memoryview(struct.pack(">hhih", key, 99, 1, -1)), True)

    for key in range(1000, 2000):
        send("10.0.0.1", key)
    assert len(caplog.messages) == 1, "keys that are not served count as one"
    for number in range(500):
        for key in (0, 3, 8):
            send(f"10.0.1.{number}", key)
    assert len(caplog.messages) == MOST_TOLD
    assert len(closed) == 2500
    clock.advance(AGAIN_SECONDS)
    send("10.0.0.1", 3)
    assert caplog.messages[MOST_TOLD:] == [
        "closing the connection of 10.0.0.1: API 3 version 99: it is not served"
    ]


def test_a_client_that_has_closed_its_half_is_answered_but_not_when_that_is_up_to_others(broker, kafka):
    """Its produce request was stored, and had no answer. A JoinGroup may wait for minutes: a connection that
    was closed must not stay as long."""
    name, _ = kafka.create(flush_messages="1")
    join = JoinGroupRequest(
        group_id=name,
        session_timeout_ms=60_000,
        rebalance_timeout_ms=60_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol("range", b"")],
    )
    kafka.call(10, 3, FindCoordinatorRequest(key=name))
    assert kafka.call(11, 3, join).error_code == 0
    sync = SyncGroupRequest(group_id=name, generation_id=1, member_id="nobody")
    poll = fetch_request(name, (0, 1), max_wait_ms=60_000)
    requests = {0: (9, produce_request(name, (0, chunk_of(b"x")))), 1: (12, poll), 14: (3, sync)}
    for key, (version, request) in requests.items():
        with Kafka(broker.host, broker.port) as half:
            half.send(key, version, request)
            half.socket.shutdown(socket.SHUT_WR)
            half.receive()
            assert half.socket.recv(1) == b"", key
    with Kafka(broker.host, broker.port) as half:
        half.send(11, 3, join)
        half.socket.shutdown(socket.SHUT_WR)
        with pytest.raises(ConnectionError):
            half.receive()


def test_flexible_headers_may_carry_tags(kafka):
    body = struct.pack(">hhih", 3, 9, 5, 2) + b"me" + b"\2\0\3abc\x09\1x" + b"\1\0\0\0\0"
    correlation_id, answer = parse_response_frame(3, 9, raw(kafka, body))
    assert correlation_id == 5
    assert answer.topics == []


def test_random_frames_never_hurt_others(broker, kafka):
    """Mutated requests of every API: an answer or a closed connection, and the broker serves on."""
    rng = random.Random(20)
    name, _ = kafka.create()
    for _ in range(400):
        key = rng.choice(sorted(registry.APIS))
        api = registry.APIS[key]
        version = rng.randint(api.min_version, api.max_version)
        head = struct.pack(">hhih", key, version, 1, -1)
        body = bytearray(head + rng.randbytes(rng.randint(0, 60)))
        for _ in range(rng.randint(0, 3)):
            body[rng.randrange(10, len(body)) if len(body) > 10 else 9] = rng.choice([0, 1, 0x7F, 0xFF])
        with Kafka(broker.host, broker.port) as bad:
            bad.socket.settimeout(0.05)
            try:
                raw(bad, bytes(body))
            except (ConnectionError, TimeoutError):
                pass
    assert kafka.stored(name, chunk_of(b"alive")) == 0
    frame = request_frame(3, 12, MetadataRequest(topics=None), 9)
    assert parse_response_frame(3, 12, raw(kafka, frame[4:]))[0] == 9
