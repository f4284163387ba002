"""Headers, versions and rubbish, against a whole broker; the registry against the modules."""

import random
import struct

import pytest
from conftest import Kafka, chunk_of

from kproto.errors import ErrorCode
from kproto.handlers import registry
from kproto.wire.framing import parse_response_frame, request_frame
from kproto.wire.generated.api_versions import ApiVersionsRequest
from kproto.wire.generated.metadata import MetadataRequest
from kproto.wire.messages import codec


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
    with Kafka(broker.host, broker.port) as bad:
        bad.socket.sendall(struct.pack(">i", len(body)) + body)
        with pytest.raises(ConnectionError):
            bad.receive_frame()
    assert kafka.call(18, 0, ApiVersionsRequest()).error_code == 0


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
