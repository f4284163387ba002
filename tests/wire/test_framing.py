"""Headers and frames, against kafka-python's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.api_header import RequestHeader as TheirHeader

from kproto.wire import WireError
from kproto.wire.framing import (
    check_frame_length,
    parse_request_header,
    parse_response_frame,
    request_frame,
    response_frame,
)
from kproto.wire.generated.heartbeat import HeartbeatRequest, HeartbeatResponse
from kproto.wire.messages import codec

HEARTBEAT = 12


@given(
    correlation=st.integers(0, 2**31 - 1),
    client=st.none() | st.text(max_size=200),
    version=st.sampled_from([0, 3, 4]),
)
def test_request_frames(correlation: int, client: str | None, version: int) -> None:
    request = HeartbeatRequest(group_id="g", generation_id=3, member_id="m")
    frame = request_frame(HEARTBEAT, version, request, correlation, client)
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    header = parse_request_header(frame, 4)
    assert header[:4] == (HEARTBEAT, version, correlation, client)
    parsed, end = codec(HEARTBEAT).parse_request(version, frame, header.body_pos)
    assert (parsed, end) == (request, len(frame))


@pytest.mark.parametrize("flexible", [False, True])
def test_a_header_of_kafka_python(flexible: bool) -> None:
    theirs = TheirHeader(request_api_key=HEARTBEAT, request_api_version=4, correlation_id=9, client_id="me")
    data = theirs.encode(flexible=flexible)
    header = parse_request_header(data, version=2 if flexible else 1)
    assert header == (HEARTBEAT, 4, 9, "me", len(data))


def test_tags_in_a_header_are_skipped() -> None:
    frame = request_frame(HEARTBEAT, 4, HeartbeatRequest(), 1, "c")
    position = parse_request_header(frame, 4).body_pos
    tagged = frame[: position - 1] + b"\x02\x00\x01a\x05\x00" + frame[position:]
    assert parse_request_header(tagged, 4).body_pos == position + 5


def test_a_header_without_client_id() -> None:
    assert parse_request_header(b"\0\7\0\0\0\0\0\5", version=0) == (7, 0, 5, None, 8)


def test_a_header_of_an_unknown_api_is_still_read() -> None:
    assert parse_request_header(b"\x03\xe7\0\0\0\0\0\5\xff\xff") == (999, 0, 5, None, 10)


@given(st.binary(max_size=60))
def test_any_bytes(data: bytes) -> None:
    try:
        assert parse_request_header(data).body_pos <= len(data)
    except WireError:
        pass


@pytest.mark.parametrize("version", [0, 4])
def test_response_frames(version: int) -> None:
    response = HeartbeatResponse(error_code=27)
    frame = response_frame(codec(HEARTBEAT), version, 77, response)
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert parse_response_frame(HEARTBEAT, version, frame[4:]) == (77, response)
    with pytest.raises(WireError):
        parse_response_frame(HEARTBEAT, version, frame[4:7])


@pytest.mark.parametrize(("length", "fine"), [(-1, False), (7, False), (8, True), (100, True), (101, False)])
def test_the_length_of_a_frame_is_checked_first(length: int, fine: bool) -> None:
    if fine:
        check_frame_length(length, 100)
    else:
        with pytest.raises(WireError):
            check_frame_length(length, 100)
