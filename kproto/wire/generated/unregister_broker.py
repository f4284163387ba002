"""UnregisterBroker: API key 64, versions 0-0. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    Buf,
    WireStruct,
    more,
    new,
    skip_tags,
    uvarint,
)

p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_ix = Struct(">ix").pack
u_iB = Struct(">iB").unpack_from
u_ihB = Struct(">ihB").unpack_from


class UnregisterBrokerRequest(WireStruct):
    __slots__ = ('broker_id',)
    broker_id: int

    def __init__(
        self,
        broker_id: int = 0,
    ) -> None:
        self.broker_id = broker_id


def parse_request_v0(buf: Buf, pos: int) -> tuple[UnregisterBrokerRequest, int]:
    m = new(UnregisterBrokerRequest)
    m.broker_id, n = u_iB(buf, pos)
    pos += 5
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
}


def write_request_v0(m: UnregisterBrokerRequest, out: bytearray) -> None:
    out += p_ix(m.broker_id)


WRITE_REQUEST = {
    0: write_request_v0,
}


class UnregisterBrokerResponse(WireStruct):
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


def parse_response_v0(buf: Buf, pos: int) -> tuple[UnregisterBrokerResponse, int]:
    m = new(UnregisterBrokerResponse)
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


def write_response_v0(m: UnregisterBrokerResponse, out: bytearray) -> None:
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
