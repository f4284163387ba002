"""Every API and version against kio and kafka-python: what they write we read, and write again."""

import importlib
import pkgutil
import random
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import kafka.protocol
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.protocol.api_message import ApiMessage
from kio.schema.index import api_key_map

from kproto.wire import WireError
from kproto.wire.generated import APIS
from kproto.wire.messages import API_VERSIONS, api_keys, codec

from . import kio_oracle

CASES = kio_oracle.cases()
SEEDS = st.integers(0, 2**32)


def parse(key: int, version: int, kind: str, data: bytes) -> Any:
    function = codec(key).parse_request if kind == "request" else codec(key).parse_response
    message, end = function(version, data)
    assert end == len(data)
    return message


def write(key: int, version: int, kind: str, message: Any) -> bytes:
    out = bytearray()
    function = codec(key).write_request if kind == "request" else codec(key).write_response
    function(version, message, out)
    return bytes(out)


def assert_same_fields(ours: Any, theirs: Any) -> None:
    """Every field of kio's entity that we know under the same name has the same value."""
    for f in fields(theirs):
        expected = getattr(theirs, f.name)
        name = f.name if f.name in ours.__slots__ else f"{f.name}_ms"
        if name not in ours.__slots__:
            continue
        actual = getattr(ours, name)
        if is_dataclass(expected):
            if actual is not None:
                assert_same_fields(actual, expected)
        elif isinstance(expected, tuple) and expected and is_dataclass(expected[0]):
            for one, other in zip(actual, expected, strict=True):
                assert_same_fields(one, other)
        elif expected is not None:
            assert actual == kio_oracle.plain(expected), f.name


def test_every_api_of_kio_is_covered() -> None:
    assert set(api_keys()) == set(api_key_map)
    expected = {(key, version) for key in APIS for version in range(APIS[key][2], APIS[key][3] + 1)}
    assert {(key, version) for key, version, _ in CASES} == expected


@pytest.mark.parametrize("key", api_keys(), ids=lambda key: APIS[key][1])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_bytes_of_kio_are_read_and_written_again(key: int, data: st.DataObject) -> None:
    _, version, kind = data.draw(st.sampled_from([case for case in CASES if case[0] == key]))
    cls = kio_oracle.entity(key, version, kind)
    theirs = kio_oracle.build(cls, random.Random(data.draw(SEEDS)))
    expected = kio_oracle.write(theirs)
    ours = parse(key, version, kind, expected)
    assert_same_fields(ours, theirs)
    assert write(key, version, kind, ours) == expected
    assert parse(key, version, kind, expected) == ours


@pytest.mark.parametrize("seed", range(3))
def test_every_version_against_kio(seed: int) -> None:
    """What the property test draws at random, once for each of the versions."""
    for key, version, kind in CASES:
        theirs = kio_oracle.build(kio_oracle.entity(key, version, kind), random.Random(seed))
        expected = kio_oracle.write(theirs)
        ours = parse(key, version, kind, expected)
        assert write(key, version, kind, ours) == expected, (key, version, kind)


def test_kio_reads_what_defaults_write() -> None:
    """A message made by our constructor alone is complete for kio."""
    for key, version, kind in CASES:
        module = importlib.import_module(f"kproto.wire.generated.{APIS[key][0]}")
        message = getattr(module, APIS[key][1] + kind.capitalize())()
        ours = write(key, version, kind, message)
        assert parse(key, version, kind, ours) is not None
        kio_oracle.read(kio_oracle.entity(key, version, kind), ours)


def test_header_versions_are_those_of_kio() -> None:
    for key, version, kind in CASES:
        theirs = int(kio_oracle.entity(key, version, kind).__header_schema__.__version__)  # type: ignore[attr-defined]
        messages = codec(key)
        ours = messages.request_header_version if kind == "request" else messages.response_header_version
        assert ours(version) == theirs, (messages.name, version, kind)


def _subclasses(cls: type) -> Iterator[type]:
    for sub in type.__subclasses__(cls):
        yield sub
        yield from _subclasses(sub)


@cache
def kafka_python_classes() -> dict[str, Any]:
    """Name -> unversioned message class."""
    for module in pkgutil.walk_packages(kafka.protocol.__path__, "kafka.protocol."):
        if ".old" not in module.name and "generate" not in module.name:
            importlib.import_module(module.name)
    classes: list[Any] = list(_subclasses(ApiMessage))
    return {cls.__name__: cls for cls in classes if cls._class_version is None}


def kafka_python_cases() -> list[tuple[int, int, str]]:
    """What kafka-python has too, but for ApiVersions responses above 0, which it reads as 0 first."""
    found = []
    for key, version, kind in CASES:
        cls = kafka_python_classes().get(APIS[key][1] + kind.capitalize())
        if cls is None or not cls.valid_versions[0] <= version <= cls.valid_versions[1]:
            continue
        if key != API_VERSIONS or kind == "request" or version == 0:
            found.append((key, version, kind))
    return found


@settings(max_examples=1500, deadline=None)
@given(case=st.sampled_from(kafka_python_cases()), seed=SEEDS)
def test_kafka_python_agrees(case: tuple[int, int, str], seed: int) -> None:
    """kafka-python writes the bytes we write, and we read and write again what it writes."""
    key, version, kind = case
    theirs = kio_oracle.build(kio_oracle.entity(key, version, kind), random.Random(seed))
    ours = write(key, version, kind, parse(key, version, kind, kio_oracle.write(theirs)))
    cls = kafka_python_classes()[APIS[key][1] + kind.capitalize()]
    message = cls.decode(ours, version=version)
    message._header = None
    rewritten = bytes(message.encode(version=version))
    assert rewritten == ours
    assert write(key, version, kind, parse(key, version, kind, rewritten)) == rewritten


def test_kafka_python_covers_half_of_the_apis() -> None:
    """The differential test above must not go empty when the oracle changes its layout."""
    assert len(kafka_python_cases()) > 450


def test_records_are_views_and_all_else_is_copied() -> None:
    from kproto.wire.generated.produce import PartitionProduceData, ProduceRequest, TopicProduceData

    partition = PartitionProduceData(index=1, records=memoryview(b"chunk"))
    request = ProduceRequest(acks=-1, topic_data=[TopicProduceData(name="t", partition_data=[partition])])
    frame = bytearray(write(0, 12, "request", request))
    parsed, _ = codec(0).parse_request(12, memoryview(frame))
    records = parsed.topic_data[0].partition_data[0].records
    frame[frame.index(b"chunk")] = ord("C")
    assert bytes(records) == b"Chunk"


def test_unknown_tagged_fields_are_skipped() -> None:
    """A newer client's tags (KIP-482): one empty, one longer than a byte can count."""
    empty = write(18, 3, "request", _api_versions_request())
    assert empty[-1] == 0
    tags = bytes([2, 77, 0, 0x80, 0x01, 0xAC, 0x02]) + bytes(300)
    assert parse(18, 3, "request", empty[:-1] + tags) == _api_versions_request()


def _api_versions_request() -> Any:
    from kproto.wire.generated.api_versions import ApiVersionsRequest

    return ApiVersionsRequest(client_software_name="n", client_software_version="1")


def test_fresh_arrays_for_every_object() -> None:
    from kproto.wire.generated.metadata import MetadataRequest, MetadataResponse

    one, other = MetadataResponse(), MetadataResponse()
    one.topics.append(None)  # type: ignore[arg-type]
    assert other.topics == []
    assert MetadataRequest().topics == []
    assert MetadataRequest(topics=None).topics is None


def test_values_that_do_not_fit_leave_the_output_alone() -> None:
    from kproto.wire.generated.heartbeat import HeartbeatRequest

    out = bytearray(b"before")
    with pytest.raises(WireError):
        codec(12).write_request(0, HeartbeatRequest(group_id="g", generation_id=2**31), out)
    assert out == b"before"


@pytest.mark.parametrize(("key", "version"), [(0, 2), (0, 14), (4, 0), (999, 0)])
def test_versions_and_keys_that_do_not_exist(key: int, version: int) -> None:
    with pytest.raises(WireError):
        codec(key).parse_request(version, b"")
