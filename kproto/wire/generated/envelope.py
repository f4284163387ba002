"""Envelope: API key 58, versions 0-0. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    Buf,
    WireStruct,
    bad_length,
    more,
    new,
    skip_tags,
    uvarint,
)

p_hx = Struct(">hx").pack
u_hB = Struct(">hB").unpack_from


class EnvelopeRequest(WireStruct):
    __slots__ = ('request_data', 'request_principal', 'client_host_address',)
    request_data: bytes
    request_principal: bytes | None
    client_host_address: bytes

    def __init__(
        self,
        request_data: bytes = b"",
        request_principal: bytes | None = b"",
        client_host_address: bytes = b"",
    ) -> None:
        self.request_data = request_data
        self.request_principal = request_principal
        self.client_host_address = client_host_address


def parse_request_v0(buf: Buf, pos: int) -> tuple[EnvelopeRequest, int]:
    m = new(EnvelopeRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.request_data = bytes(buf[pos:end])
        pos = end
    else:
        raise bad_length('EnvelopeRequest.request_data')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.request_principal = bytes(buf[pos:end])
        pos = end
    else:
        m.request_principal = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.client_host_address = bytes(buf[pos:end])
        pos = end
    else:
        raise bad_length('EnvelopeRequest.client_host_address')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
}


def write_request_v0(m: EnvelopeRequest, out: bytearray) -> None:
    b = m.request_data
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    b = m.request_principal
    if b is None:
        b = b""
        n = 0
    else:
        n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    b = m.client_host_address
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
}


class EnvelopeResponse(WireStruct):
    __slots__ = ('response_data', 'error_code',)
    response_data: bytes | None
    error_code: int

    def __init__(
        self,
        response_data: bytes | None = None,
        error_code: int = 0,
    ) -> None:
        self.response_data = response_data
        self.error_code = error_code


def parse_response_v0(buf: Buf, pos: int) -> tuple[EnvelopeResponse, int]:
    m = new(EnvelopeResponse)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.response_data = bytes(buf[pos:end])
        pos = end
    else:
        m.response_data = None
    m.error_code, n = u_hB(buf, pos)
    pos += 3
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
}


def write_response_v0(m: EnvelopeResponse, out: bytearray) -> None:
    b = m.response_data
    if b is None:
        b = b""
        n = 0
    else:
        n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    out += p_hx(m.error_code)


WRITE_RESPONSE = {
    0: write_response_v0,
}
