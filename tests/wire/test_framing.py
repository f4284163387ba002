"""Headers and frames, against kafka-python's."""

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.api_header import RequestHeader as TheirHeader

from kproto.wire import WireError
from kproto.wire.framing import (
    parse_response_frame,
    request_frame,
    response_frame,
)
from kproto.wire.generated.heartbeat import HeartbeatRequest, HeartbeatResponse
from kproto.wire.messages import codec

HEARTBEAT = 12


@given(
    correlation=st.integers(0, 2**31 - 1), client=st.text(max_size=200), version=st.sampled_from([0, 3, 4])
)
def test_request_frames(correlation: int, client: str, version: int) -> None:
    """kafka-python reads the header, and what is left is the body."""
    request = HeartbeatRequest(group_id="g", generation_id=3, member_id="m")
    frame = request_frame(HEARTBEAT, version, request, correlation, client)
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    rest = BytesIO(frame[4:])
    header = TheirHeader.decode(rest, flexible=version == 4)
    assert (header.request_api_key, header.request_api_version) == (HEARTBEAT, version)
    assert (header.correlation_id, header.client_id) == (correlation, client)
    body = rest.read()
    assert codec(HEARTBEAT).parse_request(version, body) == (request, len(body))


def test_a_frame_without_client_id() -> None:
    frame = request_frame(HEARTBEAT, 0, HeartbeatRequest(), 1, None)
    assert frame[12:14] == b"\xff\xff"


@pytest.mark.parametrize("version", [0, 4])
def test_response_frames(version: int) -> None:
    response = HeartbeatResponse(error_code=27)
    frame = response_frame(codec(HEARTBEAT), version, 77, response)
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert parse_response_frame(HEARTBEAT, version, frame[4:]) == (77, response)
    with pytest.raises(WireError):
        parse_response_frame(HEARTBEAT, version, frame[4:7])
