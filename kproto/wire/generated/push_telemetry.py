"""PushTelemetry: API key 72, versions 0-0. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    ZERO_UUID,
    Buf,
    WireStruct,
    bad_length,
    more,
    new,
    skip_tags,
    uvarint,
)

p_Uitb = Struct(">16si?b").pack
p_UitbB = Struct(">16si?bB").pack
p_ihx = Struct(">ihx").pack
u_UitbB = Struct(">16si?bB").unpack_from
u_ihB = Struct(">ihB").unpack_from


class PushTelemetryRequest(WireStruct):
    __slots__ = ('client_instance_id', 'subscription_id', 'terminating', 'compression_type', 'metrics',)
    client_instance_id: bytes
    subscription_id: int
    terminating: bool
    compression_type: int
    metrics: bytes

    def __init__(
        self,
        client_instance_id: bytes = ZERO_UUID,
        subscription_id: int = 0,
        terminating: bool = False,
        compression_type: int = 0,
        metrics: bytes = b"",
    ) -> None:
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.terminating = terminating
        self.compression_type = compression_type
        self.metrics = metrics


def parse_request_v0(buf: Buf, pos: int) -> tuple[PushTelemetryRequest, int]:
    m = new(PushTelemetryRequest)
    m.client_instance_id, m.subscription_id, m.terminating, m.compression_type, n = u_UitbB(buf, pos)
    pos += 23
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.metrics = bytes(buf[pos:end])
        pos = end
    else:
        raise bad_length('PushTelemetryRequest.metrics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
}


def write_request_v0(m: PushTelemetryRequest, out: bytearray) -> None:
    b = m.metrics
    n = len(b) + 1
    if n < 128:
        out += p_UitbB(m.client_instance_id, m.subscription_id, m.terminating, m.compression_type, n)
    else:
        out += p_Uitb(m.client_instance_id, m.subscription_id, m.terminating, m.compression_type)
        uvarint(out, n)
    out += b
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
}


class PushTelemetryResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code',)
    throttle_time_ms: int
    error_code: int

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code


def parse_response_v0(buf: Buf, pos: int) -> tuple[PushTelemetryResponse, int]:
    m = new(PushTelemetryResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
}


def write_response_v0(m: PushTelemetryResponse, out: bytearray) -> None:
    out += p_ihx(m.throttle_time_ms, m.error_code)


WRITE_RESPONSE = {
    0: write_response_v0,
}
