"""The hand-written parser of Fetch requests against the generated codec."""

import random
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kproto.handlers.fetch_request import parse
from kproto.handlers.fetch_sessions import MAX_PARTITIONS
from kproto.wire import WireError
from kproto.wire.generated.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic, ReplicaState
from kproto.wire.messages import codec
from kproto.wire.primitives import MAX_TAGGED_FIELDS, uvarint

int32 = st.integers(-(2**31), 2**31 - 1)
int64 = st.integers(-(2**63), 2**63 - 1)
names = st.text(min_size=1, max_size=200)
ids = st.binary(min_size=16, max_size=16)
partitions = st.builds(
    FetchPartition,
    partition=int32,
    current_leader_epoch=int32,
    fetch_offset=int64,
    last_fetched_epoch=int32,
    log_start_offset=int64,
    partition_max_bytes=int32,
    replica_directory_id=ids,
)
requests = st.builds(
    FetchRequest,
    cluster_id=st.none() | st.text(max_size=30),
    replica_id=int32,
    replica_state=st.none() | st.builds(ReplicaState, replica_id=int32, replica_epoch=int64),
    max_wait_ms=int32,
    min_bytes=int32,
    max_bytes=int32,
    isolation_level=st.integers(0, 1),
    session_id=int32,
    session_epoch=int32,
    topics=st.lists(
        st.builds(FetchTopic, topic=names, topic_id=ids, partitions=st.lists(partitions, max_size=130)),
        max_size=3,
    ),
    forgotten_topics_data=st.lists(
        st.builds(ForgottenTopic, topic=names, topic_id=ids, partitions=st.lists(int32, max_size=130)),
        max_size=3,
    ),
    rack_id=st.text(max_size=30),
)


def written(version: int, request: FetchRequest) -> bytearray:
    out = bytearray(b"head")
    codec(1).write_request(version, request, out)
    return out


@given(version=st.integers(4, 18), request=requests)
@settings(max_examples=300, deadline=None)
def test_parse_reads_what_the_generated_codec_writes(version, request):
    found = parse(version, memoryview(written(version, request)), 4)
    assert (found.max_wait_ms, found.min_bytes) == (request.max_wait_ms, request.min_bytes)
    assert (found.max_bytes, found.read_committed) == (request.max_bytes, request.isolation_level == 1)
    session = (request.session_id, request.session_epoch) if version >= 7 else (0, -1)
    assert (found.session_id, found.session_epoch) == session
    assert found.wanted == [
        (
            (t.topic_id if version >= 13 else t.topic, p.partition),
            p.fetch_offset,
            p.partition_max_bytes,
            p.current_leader_epoch if version >= 9 else -1,
        )
        for t in request.topics
        for p in t.partitions
    ]
    forgotten = request.forgotten_topics_data if version >= 7 else []
    assert found.forgotten == [
        (t.topic_id if version >= 13 else t.topic, index) for t in forgotten for index in t.partitions
    ]


@given(version=st.integers(4, 18), request=requests, seed=st.integers(0, 2**32))
@settings(max_examples=300, deadline=None)
def test_whatever_comes_parse_answers_or_raises_a_wire_error(version, request, seed):
    data = written(version, request)
    rng = random.Random(seed)
    for _ in range(rng.randint(1, 4)):
        data[rng.randrange(len(data))] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
    data = data[: rng.randint(4, len(data))] if rng.random() < 0.5 else data
    try:
        parse(version, memoryview(data), 4)
    except WireError:
        pass


@pytest.mark.parametrize("version", [4, 7, 11, 12, 15, 18])
def test_more_partitions_than_anybody_has_are_refused(version):
    request = FetchRequest(
        topics=[FetchTopic(topic="t", partitions=[FetchPartition()] * (MAX_PARTITIONS + 1))]
    )
    with pytest.raises(WireError):
        parse(version, memoryview(written(version, request)), 4)


@pytest.mark.parametrize("version", [4, 11])
def test_counts_that_lie_are_refused(version):
    body = bytearray(written(version, FetchRequest()))
    at = len(body) - (6 if version == 11 else 0) - 4
    struct.pack_into(">i", body, at, 2**31 - 1)
    with pytest.raises(WireError):
        parse(version, memoryview(body), 4)


@pytest.mark.parametrize("forgotten", [False, True])
@pytest.mark.parametrize("version", [7, 11, 12, 13, 18])
def test_a_count_is_refused_before_what_it_counts_is_read(version, forgotten):
    front = written(version, FetchRequest())[: 4 + (4 if version < 15 else 0) + 13 + 8]
    key = bytes(16) if version >= 13 else b"\2t" if version >= 12 else b"\0\1t"
    for count in (MAX_PARTITIONS + 1, 17_000_000):
        counts = bytearray()
        if version >= 12:
            uvarint(counts, count + 1)
            body = front + (b"\1" if forgotten else b"") + b"\2" + key + counts
        else:
            body = front + bytes(4 * forgotten) + struct.pack(">i", 1) + key + struct.pack(">i", count)
        with pytest.raises(WireError, match=f"names {count} "):
            parse(version, memoryview(body + bytes(600)), 4)


@pytest.mark.parametrize("forgotten", [False, True])
@pytest.mark.parametrize("version", [9, 11, 12, 13, 18])
def test_lists_that_are_null_are_refused(version, forgotten):
    flexible = version >= 12
    front = written(version, FetchRequest())[: 4 + (4 if version < 15 else 0) + 13 + 8]
    key = bytes(16) if version >= 13 else b"\2t" if flexible else b"\0\1t"
    null, none, one, two = (bytes([n]) if flexible else struct.pack(">i", n - 1) for n in range(4))
    part = bytes(4) if forgotten else bytes(33 if flexible else 28)
    full = key + one + part + (b"\0" if flexible else b"")
    if forgotten:
        front += none
    assert parse(version, memoryview(front + two + full + full + none + bytes(9)), 4)
    for topics in (null, one + key + null, two + full + key + null):
        with pytest.raises(WireError, match="null"):
            parse(version, memoryview(front + topics + bytes(600)), 4)


@pytest.mark.parametrize("version", [12, 18])
def test_tagged_fields_are_counted_for_the_whole_request(version):
    front = written(version, FetchRequest())[: 4 + (4 if version < 15 else 0) + 13 + 8]
    key = bytes(16) if version >= 13 else b"\2t"

    def request(tags: int) -> memoryview:
        tagged = bytearray()
        uvarint(tagged, tags)
        tagged += b"\1\0" * tags
        topic = key + b"\3" + (bytes(32) + tagged) * 2 + tagged
        return memoryview(front + b"\3" + topic * 2 + b"\1")

    most = MAX_TAGGED_FIELDS // 6
    assert len(parse(version, request(most), 4).wanted) == 4
    with pytest.raises(WireError, match="tagged fields"):
        parse(version, request(most + 1), 4)
