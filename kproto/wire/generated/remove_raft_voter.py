"""RemoveRaftVoter: API key 81, versions 0-0. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    ZERO_UUID,
    Buf,
    WireStruct,
    more,
    new,
    skip_tags,
    uvarint,
)

p_iUx = Struct(">i16sx").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
u_iUB = Struct(">i16sB").unpack_from
u_ihB = Struct(">ihB").unpack_from


class RemoveRaftVoterRequest(WireStruct):
    __slots__ = ('cluster_id', 'voter_id', 'voter_directory_id',)
    cluster_id: str | None
    voter_id: int
    voter_directory_id: bytes

    def __init__(
        self,
        cluster_id: str | None = '',
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id


def parse_request_v0(buf: Buf, pos: int) -> tuple[RemoveRaftVoterRequest, int]:
    m = new(RemoveRaftVoterRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.cluster_id = None
    m.voter_id, m.voter_directory_id, n = u_iUB(buf, pos)
    pos += 21
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
}


def write_request_v0(m: RemoveRaftVoterRequest, out: bytearray) -> None:
    b = m.cluster_id
    if b is None:
        b = b""
        n = 0
    else:
        b = b.encode()
        n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    out += p_iUx(m.voter_id, m.voter_directory_id)


WRITE_REQUEST = {
    0: write_request_v0,
}


class RemoveRaftVoterResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message',)
    throttle_time_ms: int
    error_code: int
    error_message: str | None

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message


def parse_response_v0(buf: Buf, pos: int) -> tuple[RemoveRaftVoterResponse, int]:
    m = new(RemoveRaftVoterResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.error_message = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.error_message = None
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
}


def write_response_v0(m: RemoveRaftVoterResponse, out: bytearray) -> None:
    b = m.error_message
    if b is None:
        b = b""
        n = 0
    else:
        b = b.encode()
        n = len(b) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
        uvarint(out, n)
    out += b
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
}
