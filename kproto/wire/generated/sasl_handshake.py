"""SaslHandshake: API key 17, versions 0-1. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    EMPTY,
    MAX_ELEMENTS,
    Buf,
    WireStruct,
    bad_count,
    bad_length,
    new,
)

p_h = Struct(">h").pack
p_hi = Struct(">hi").pack
u_h = Struct(">h").unpack_from
u_hi = Struct(">hi").unpack_from


class SaslHandshakeRequest(WireStruct):
    __slots__ = ('mechanism',)
    mechanism: str

    def __init__(
        self,
        mechanism: str = '',
    ) -> None:
        self.mechanism = mechanism


def parse_request_v0(buf: Buf, pos: int) -> tuple[SaslHandshakeRequest, int]:
    m = new(SaslHandshakeRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.mechanism = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('SaslHandshakeRequest.mechanism')
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v0,
}


def write_request_v0(m: SaslHandshakeRequest, out: bytearray) -> None:
    b = m.mechanism.encode()
    n = len(b)
    out += p_h(n)
    out += b


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v0,
}


class SaslHandshakeResponse(WireStruct):
    __slots__ = ('error_code', 'mechanisms',)
    error_code: int
    mechanisms: list[str]

    def __init__(
        self,
        error_code: int = 0,
        mechanisms: list[str] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.mechanisms = [] if mechanisms is EMPTY else mechanisms


def parse_response_v0(buf: Buf, pos: int) -> tuple[SaslHandshakeResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(SaslHandshakeResponse)
    m.error_code, n = u_hi(buf, pos)
    pos += 6
    if n >= 0:
        left -= n
        if left < 0 or n * 2 > size - pos:
            raise bad_count('SaslHandshakeResponse.mechanisms', n)
        m.mechanisms = a1 = []
        for _ in range(n):
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                s = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('SaslHandshakeResponse.s')
            a1.append(s)
    else:
        raise bad_length('SaslHandshakeResponse.mechanisms')
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v0,
}


def write_response_v0(m: SaslHandshakeResponse, out: bytearray) -> None:
    a1 = m.mechanisms
    n = len(a1)
    out += p_hi(m.error_code, n)
    for m1 in a1:
        b = m1.encode()
        n = len(b)
        out += p_h(n)
        out += b


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v0,
}
