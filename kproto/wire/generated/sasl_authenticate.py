"""SaslAuthenticate: API key 36, versions 0-2. Written by kproto.wire.generator: do not edit."""

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

p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_hh = Struct(">hh").pack
p_i = Struct(">i").pack
p_q = Struct(">q").pack
p_qx = Struct(">qx").pack
u_hB = Struct(">hB").unpack_from
u_hh = Struct(">hh").unpack_from
u_i = Struct(">i").unpack_from
u_q = Struct(">q").unpack_from
u_qB = Struct(">qB").unpack_from


class SaslAuthenticateRequest(WireStruct):
    __slots__ = ('auth_bytes',)
    auth_bytes: bytes

    def __init__(
        self,
        auth_bytes: bytes = b"",
    ) -> None:
        self.auth_bytes = auth_bytes


def parse_request_v0(buf: Buf, pos: int) -> tuple[SaslAuthenticateRequest, int]:
    m = new(SaslAuthenticateRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        end = pos + n
        m.auth_bytes = bytes(buf[pos:end])
        pos = end
    else:
        raise bad_length('SaslAuthenticateRequest.auth_bytes')
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[SaslAuthenticateRequest, int]:
    m = new(SaslAuthenticateRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.auth_bytes = bytes(buf[pos:end])
        pos = end
    else:
        raise bad_length('SaslAuthenticateRequest.auth_bytes')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v0,
    2: parse_request_v2,
}


def write_request_v0(m: SaslAuthenticateRequest, out: bytearray) -> None:
    b = m.auth_bytes
    n = len(b)
    out += p_i(n)
    out += b


def write_request_v2(m: SaslAuthenticateRequest, out: bytearray) -> None:
    b = m.auth_bytes
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v0,
    2: write_request_v2,
}


class SaslAuthenticateResponse(WireStruct):
    __slots__ = ('error_code', 'error_message', 'auth_bytes', 'session_lifetime_ms',)
    error_code: int
    error_message: str | None
    auth_bytes: bytes
    session_lifetime_ms: int

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = '',
        auth_bytes: bytes = b"",
        session_lifetime_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.auth_bytes = auth_bytes
        self.session_lifetime_ms = session_lifetime_ms


def parse_response_v0(buf: Buf, pos: int) -> tuple[SaslAuthenticateResponse, int]:
    m = new(SaslAuthenticateResponse)
    m.error_code, n = u_hh(buf, pos)
    pos += 4
    if n >= 0:
        end = pos + n
        m.error_message = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.error_message = None
    else:
        raise bad_length('SaslAuthenticateResponse.error_message')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        end = pos + n
        m.auth_bytes = bytes(buf[pos:end])
        pos = end
    else:
        raise bad_length('SaslAuthenticateResponse.auth_bytes')
    m.session_lifetime_ms = 0
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[SaslAuthenticateResponse, int]:
    m = new(SaslAuthenticateResponse)
    m.error_code, n = u_hh(buf, pos)
    pos += 4
    if n >= 0:
        end = pos + n
        m.error_message = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.error_message = None
    else:
        raise bad_length('SaslAuthenticateResponse.error_message')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        end = pos + n
        m.auth_bytes = bytes(buf[pos:end])
        pos = end
    else:
        raise bad_length('SaslAuthenticateResponse.auth_bytes')
    m.session_lifetime_ms = u_q(buf, pos)[0]
    pos += 8
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[SaslAuthenticateResponse, int]:
    m = new(SaslAuthenticateResponse)
    m.error_code, n = u_hB(buf, pos)
    pos += 3
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
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.auth_bytes = bytes(buf[pos:end])
        pos = end
    else:
        raise bad_length('SaslAuthenticateResponse.auth_bytes')
    m.session_lifetime_ms, n = u_qB(buf, pos)
    pos += 9
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v1,
    2: parse_response_v2,
}


def write_response_v0(m: SaslAuthenticateResponse, out: bytearray) -> None:
    b = m.error_message
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_hh(m.error_code, n)
    out += b
    b = m.auth_bytes
    n = len(b)
    out += p_i(n)
    out += b


def write_response_v1(m: SaslAuthenticateResponse, out: bytearray) -> None:
    b = m.error_message
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_hh(m.error_code, n)
    out += b
    b = m.auth_bytes
    n = len(b)
    out += p_i(n)
    out += b
    out += p_q(m.session_lifetime_ms)


def write_response_v2(m: SaslAuthenticateResponse, out: bytearray) -> None:
    b = m.error_message
    if b is None:
        b = b""
        n = 0
    else:
        b = b.encode()
        n = len(b) + 1
    if n < 128:
        out += p_hB(m.error_code, n)
    else:
        out += p_h(m.error_code)
        uvarint(out, n)
    out += b
    b = m.auth_bytes
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    out += p_qx(m.session_lifetime_ms)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v1,
    2: write_response_v2,
}
