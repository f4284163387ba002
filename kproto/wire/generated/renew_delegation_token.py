"""RenewDelegationToken: API key 39, versions 1-2. Written by kproto.wire.generator: do not edit."""

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

p_hqi = Struct(">hqi").pack
p_hqix = Struct(">hqix").pack
p_i = Struct(">i").pack
p_q = Struct(">q").pack
p_qx = Struct(">qx").pack
u_hqi = Struct(">hqi").unpack_from
u_hqiB = Struct(">hqiB").unpack_from
u_i = Struct(">i").unpack_from
u_q = Struct(">q").unpack_from
u_qB = Struct(">qB").unpack_from


class RenewDelegationTokenRequest(WireStruct):
    __slots__ = ('hmac', 'renew_period_ms',)
    hmac: bytes
    renew_period_ms: int

    def __init__(
        self,
        hmac: bytes = b"",
        renew_period_ms: int = 0,
    ) -> None:
        self.hmac = hmac
        self.renew_period_ms = renew_period_ms


def parse_request_v1(buf: Buf, pos: int) -> tuple[RenewDelegationTokenRequest, int]:
    m = new(RenewDelegationTokenRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        end = pos + n
        m.hmac = bytes(buf[pos:end])
        pos = end
    else:
        raise bad_length('RenewDelegationTokenRequest.hmac')
    m.renew_period_ms = u_q(buf, pos)[0]
    pos += 8
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[RenewDelegationTokenRequest, int]:
    m = new(RenewDelegationTokenRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.hmac = bytes(buf[pos:end])
        pos = end
    else:
        raise bad_length('RenewDelegationTokenRequest.hmac')
    m.renew_period_ms, n = u_qB(buf, pos)
    pos += 9
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    1: parse_request_v1,
    2: parse_request_v2,
}


def write_request_v1(m: RenewDelegationTokenRequest, out: bytearray) -> None:
    b = m.hmac
    n = len(b)
    out += p_i(n)
    out += b
    out += p_q(m.renew_period_ms)


def write_request_v2(m: RenewDelegationTokenRequest, out: bytearray) -> None:
    b = m.hmac
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    out += p_qx(m.renew_period_ms)


WRITE_REQUEST = {
    1: write_request_v1,
    2: write_request_v2,
}


class RenewDelegationTokenResponse(WireStruct):
    __slots__ = ('error_code', 'expiry_timestamp_ms', 'throttle_time_ms',)
    error_code: int
    expiry_timestamp_ms: int
    throttle_time_ms: int

    def __init__(
        self,
        error_code: int = 0,
        expiry_timestamp_ms: int = 0,
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.throttle_time_ms = throttle_time_ms


def parse_response_v1(buf: Buf, pos: int) -> tuple[RenewDelegationTokenResponse, int]:
    m = new(RenewDelegationTokenResponse)
    m.error_code, m.expiry_timestamp_ms, m.throttle_time_ms = u_hqi(buf, pos)
    pos += 14
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[RenewDelegationTokenResponse, int]:
    m = new(RenewDelegationTokenResponse)
    m.error_code, m.expiry_timestamp_ms, m.throttle_time_ms, n = u_hqiB(buf, pos)
    pos += 15
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    1: parse_response_v1,
    2: parse_response_v2,
}


def write_response_v1(m: RenewDelegationTokenResponse, out: bytearray) -> None:
    out += p_hqi(m.error_code, m.expiry_timestamp_ms, m.throttle_time_ms)


def write_response_v2(m: RenewDelegationTokenResponse, out: bytearray) -> None:
    out += p_hqix(m.error_code, m.expiry_timestamp_ms, m.throttle_time_ms)


WRITE_RESPONSE = {
    1: write_response_v1,
    2: write_response_v2,
}
