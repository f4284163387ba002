"""The hand-written Fetch answers against the generated codec."""

from hypothesis import given, settings
from hypothesis import strategies as st

from kproto.handlers.fetch_wire import (
    FIRST_WITH_ENDPOINTS,
    FIRST_WITH_IDS,
    FIRST_WITH_SESSIONS,
    Endpoint,
    Leader,
    PartitionAnswer,
    answer,
)
from kproto.wire.framing import parse_response_frame

int64 = st.integers(-1, 2**62)
int31 = st.integers(0, 2**31 - 1)
pieces = st.lists(st.binary(min_size=1, max_size=400), max_size=3)
leaders = st.none() | st.builds(Leader, int31, int31, st.integers(-1, 2**31 - 1))


@st.composite
def partition_answers(draw):
    records = draw(pieces)
    size = sum(map(len, records))
    return PartitionAnswer(
        draw(int31),
        draw(st.integers(0, 100)),
        draw(int64),
        draw(int64),
        draw(int64),
        records,
        size,
        draw(leaders),
    )


topics = st.lists(
    st.tuples(
        st.text(min_size=1, max_size=200),
        st.binary(min_size=16, max_size=16),
        st.lists(partition_answers(), max_size=5),
    ),
    max_size=4,
)
endpoints = st.lists(
    st.builds(Endpoint, int31, st.text(max_size=50), int31, st.none() | st.text(max_size=20)), max_size=3
)


@given(
    version=st.integers(4, 18),
    correlation_id=st.integers(-(2**31), 2**31 - 1),
    error=st.integers(0, 120),
    session_id=int31,
    committed=st.booleans(),
    found=topics,
    nodes=endpoints,
)
@settings(max_examples=500, deadline=None)
def test_answers_read_back_with_the_generated_codec(
    version, correlation_id, error, session_id, committed, found, nodes
):
    with_ids = version >= FIRST_WITH_IDS
    named = [(topic_id if with_ids else name, parts) for name, topic_id, parts in found]
    out, size = answer(version, correlation_id, error, session_id, committed, named, nodes)
    frame = b"".join(out)
    assert size == len(frame)
    assert int.from_bytes(frame[:4], "big") == size - 4
    read_id, response = parse_response_frame(1, version, memoryview(frame)[4:])
    assert read_id == correlation_id
    with_sessions = version >= FIRST_WITH_SESSIONS
    assert response.error_code == (error if with_sessions else 0)
    assert response.session_id == (session_id if with_sessions else 0)
    with_nodes = version >= FIRST_WITH_ENDPOINTS
    told = [(n.node_id, n.host, n.port, n.rack) for n in response.node_endpoints]
    assert told == (nodes if with_nodes else [])
    assert [t.topic_id if with_ids else t.topic for t in response.responses] == [key for key, _ in named]
    for topic, (_, parts) in zip(response.responses, named, strict=True):
        assert len(topic.partitions) == len(parts)
        for read, part in zip(topic.partitions, parts, strict=True):
            check_partition(version, committed, read, part)


def check_partition(version: int, committed: bool, read, part: PartitionAnswer) -> None:
    assert (read.partition_index, read.error_code) == (part.partition, part.error)
    assert (read.high_watermark, read.last_stable_offset) == (part.high_watermark, part.last_stable_offset)
    assert read.log_start_offset == (part.log_start_offset if version >= 5 else -1)
    assert read.aborted_transactions == ([] if committed else None)
    preferred = -1 if part.leader is None else part.leader.preferred
    assert read.preferred_read_replica == (preferred if version >= 12 else -1)
    assert bytes(read.records) == b"".join(part.pieces)
    told = read.current_leader and (read.current_leader.leader_id, read.current_leader.leader_epoch)
    assert told == (part.leader and part.leader[:2] if version >= 12 else None)
