"""The hand-written Produce codec against the generated one."""

import random
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kproto.errors import ErrorCode
from kproto.handlers.produce_wire import (
    FIRST_WITH_IDS,
    MAX_PARTITIONS,
    all_stored,
    one_stored,
    parse,
    topic_name,
)
from kproto.wire import WireError
from kproto.wire.framing import parse_response_frame
from kproto.wire.generated.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kproto.wire.messages import codec
from kproto.wire.primitives import MAX_TAGGED_FIELDS, uvarint

VERSIONS = range(3, 14)
names = st.text(min_size=1, max_size=300)
parts = st.lists(
    st.tuples(st.integers(-(2**31), 2**31 - 1), st.none() | st.binary(max_size=300)), max_size=140
)
requests = st.tuples(
    st.none() | st.text(max_size=200),
    st.integers(-(2**15), 2**15 - 1),
    st.integers(-(2**31), 2**31 - 1),
    st.lists(st.tuples(names, st.binary(min_size=16, max_size=16), parts), max_size=4),
)


def written(version: int, request: tuple) -> bytearray:
    transactional_id, acks, timeout_ms, topics = request
    message = ProduceRequest(
        transactional_id=transactional_id,
        acks=acks,
        timeout_ms=timeout_ms,
        topic_data=[
            TopicProduceData(
                name=name,
                topic_id=topic_id,
                partition_data=[
                    PartitionProduceData(index=index, records=None if data is None else memoryview(data))
                    for index, data in partitions
                ],
            )
            for name, topic_id, partitions in topics
        ],
    )
    out = bytearray(b"head")
    codec(0).write_request(version, message, out)
    return out


@given(version=st.sampled_from(VERSIONS), request=requests)
@settings(max_examples=300, deadline=None)
def test_parse_reads_what_the_generated_codec_writes(version, request):
    *front, parsed = parse(version, memoryview(written(version, request)), 4)
    transactional_id, acks, timeout_ms, topics = request
    assert front == [bool(transactional_id), acks, timeout_ms]
    assert len(parsed) == len(topics)
    for (key, found), (name, topic_id, partitions) in zip(parsed, topics, strict=True):
        assert (key == topic_id) if version >= FIRST_WITH_IDS else (topic_name(version, key) == name)
        assert [(i, None if r is None else bytes(r)) for i, r in found] == partitions


@pytest.mark.parametrize("transactional_id", [None, "", "t", "t" * 200])
@pytest.mark.parametrize("version", VERSIONS)
def test_an_empty_transactional_id_is_none(version, transactional_id):
    request = (transactional_id, -1, 7, [("topic", bytes(16), [(5, b"x")])])
    front = parse(version, memoryview(written(version, request)), 4)
    assert front[:3] == (transactional_id not in (None, ""), -1, 7)
    assert front[3][0][1] == [(5, b"x")]


@pytest.mark.parametrize("size", [0, 1, 126, 127, 16_381, 16_383, 16_384, 2_097_150, 2_097_151, 2_097_152])
@pytest.mark.parametrize("version", VERSIONS)
def test_one_partition_of_every_length_of_size(version, size):
    data = bytes(size)
    request = (None, -1, 7, [("topic", bytes(16), [(5, data)])])
    front = parse(version, memoryview(written(version, request)), 4)
    assert front[:3] == (False, -1, 7)
    ((_, ((index, records),)),) = front[3]
    assert index == 5
    assert records == data


@given(version=st.sampled_from(VERSIONS), request=requests, seed=st.integers(0, 2**32))
@settings(max_examples=300, deadline=None)
def test_whatever_comes_parse_answers_or_raises_a_wire_error(version, request, seed):
    data = written(version, request)
    rng = random.Random(seed)
    for _ in range(rng.randint(1, 4)):
        data[rng.randrange(len(data))] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
    data = data[: rng.randint(4, len(data))] if rng.random() < 0.5 else data
    try:
        parsed = parse(version, memoryview(data), 4)[3]
    except WireError:
        return
    size = sum(len(r) for _, found in parsed for _, r in found if r is not None)
    assert size <= len(data)


stored = st.tuples(
    st.integers(0, 2**31 - 1), st.integers(0, 2**62), st.integers(-1, 2**62), st.integers(0, 2**62)
)


@given(
    version=st.sampled_from(VERSIONS),
    correlation_id=st.integers(-(2**31), 2**31 - 1),
    topics=st.lists(
        st.tuples(names, st.binary(min_size=16, max_size=16), st.lists(stored, max_size=140)), max_size=3
    ),
)
@settings(max_examples=300, deadline=None)
def test_answers_read_back_with_the_generated_codec(version, correlation_id, topics):
    request = (None, 1, 2, [(name, topic_id, [(0, b"")]) for name, topic_id, _ in topics])
    keys = [key for key, _ in parse(version, memoryview(written(version, request)), 4)[3]]
    answers = [
        (key, [(*one, ErrorCode.NONE, None) for one in found])
        for key, (_, _, found) in zip(keys, topics, strict=True)
    ]
    check_answer(version, correlation_id, all_stored(version, correlation_id, answers), topics)


@given(version=st.sampled_from(VERSIONS), correlation_id=st.integers(0, 2**31 - 1), name=names, one=stored)
@settings(max_examples=200, deadline=None)
def test_the_answer_to_one_partition_is_the_same(version, correlation_id, name, one):
    topic_id = bytes(range(16))
    request = (None, 1, 2, [(name, topic_id, [(0, b"")])])
    key = parse(version, memoryview(written(version, request)), 4)[3][0][0]
    frame = one_stored(version, correlation_id, key, *one)
    assert frame == all_stored(version, correlation_id, [(key, [(*one, ErrorCode.NONE, None)])])
    check_answer(version, correlation_id, frame, [(name, topic_id, [one])])


def check_answer(version: int, correlation_id: int, frame: bytes, topics: list) -> None:
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    found_id, response = parse_response_frame(0, version, memoryview(frame)[4:])
    assert found_id == correlation_id
    assert response.throttle_time_ms == 0
    assert len(response.responses) == len(topics)
    for found, (name, topic_id, partitions) in zip(response.responses, topics, strict=True):
        assert (found.topic_id == topic_id) if version >= FIRST_WITH_IDS else (found.name == name)
        assert [
            (p.index, p.error_code, p.base_offset, p.log_append_time_ms, p.log_start_offset)
            for p in found.partition_responses
        ] == [(i, 0, base, at, start if version >= 5 else -1) for i, base, at, start in partitions]
        for part in found.partition_responses:
            assert (part.record_errors, part.error_message, part.current_leader) == ([], None, None)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_cut_of_a_request_is_a_wire_error(version):
    data = written(version, ("txn", 1, 2, [("topic", bytes(16), [(1, b"x" * 200), (2, b"y")])]))
    for cut in range(4, len(data)):
        with pytest.raises(WireError):
            parse(version, memoryview(data)[:cut], 4)


@pytest.mark.parametrize("version", VERSIONS)
def test_more_partitions_than_anybody_has_are_refused(version):
    many = [("t", bytes(16), [(i, b"") for i in range(MAX_PARTITIONS // 2)])] * 3
    with pytest.raises(WireError):
        parse(version, memoryview(written(version, (None, 1, 1, many))), 4)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_count_is_refused_before_what_it_counts_is_read(version):
    request = written(version, (None, 1, 1, [("t", bytes(16), [(0, b"x")])]))
    front = request[: 4 + (2 if version < 9 else 1) + 6]
    key = bytes(16) if version >= FIRST_WITH_IDS else b"\2t" if version >= 9 else b"\0\1t"
    for count in (MAX_PARTITIONS, 17_000_000):
        if version < 9:
            body = front + struct.pack(">i", 1) + key + struct.pack(">i", count)
        else:
            body = front + b"\2" + key + uvarint_of(count + 1)
        with pytest.raises(WireError, match=f"{count} partitions of a topic"):
            parse(version, memoryview(body + bytes(600)), 4)


@pytest.mark.parametrize("version", VERSIONS)
def test_lists_that_are_null_are_refused(version):
    front = written(version, (None, 1, 1, []))[: 4 + (2 if version < 9 else 1) + 6]
    key = bytes(16) if version >= FIRST_WITH_IDS else b"\2t" if version >= 9 else b"\0\1t"
    null, one = (b"\0", b"\2") if version >= 9 else (b"\xff" * 4, b"\0\0\0\1")
    for body in (null, one + key + null):
        with pytest.raises(WireError, match="null"):
            parse(version, memoryview(front + body + bytes(2)), 4)


@pytest.mark.parametrize("version", [9, 13])
def test_tagged_fields_are_counted_for_the_whole_request(version):
    key = bytes(16) if version >= FIRST_WITH_IDS else b"\2t"

    def request(tags: int) -> memoryview:
        part = bytes(4) + b"\1" + uvarint_of(tags) + b"\1\0" * tags
        topic = key + b"\3" + part * 2 + uvarint_of(tags) + b"\1\0" * tags
        return memoryview(b"head\0" + bytes(6) + b"\3" + topic * 2 + uvarint_of(tags) + b"\1\0" * tags)

    most = MAX_TAGGED_FIELDS // 7
    assert [len(parts) for _, parts in parse(version, request(most), 4)[3]] == [2, 2]
    with pytest.raises(WireError, match="tagged fields"):
        parse(version, request(most + 1), 4)


def uvarint_of(value: int) -> bytes:
    out = bytearray()
    uvarint(out, value)
    return bytes(out)
