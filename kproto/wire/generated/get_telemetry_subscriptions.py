"""GetTelemetrySubscriptions: API key 71, versions 0-0. Written by kproto.wire.generator: do not edit."""

from struct import Struct, pack, unpack_from

from kproto.wire.primitives import (
    EMPTY,
    MAX_ELEMENTS,
    ZERO_UUID,
    Buf,
    WireStruct,
    bad_count,
    bad_length,
    more,
    new,
    skip_tags,
    uvarint,
)

p_Ux = Struct(">16sx").pack
p_ihUi = Struct(">ih16si").pack
p_ihUiB = Struct(">ih16siB").pack
p_iit = Struct(">ii?").pack
p_iitB = Struct(">ii?B").pack
u_UB = Struct(">16sB").unpack_from
u_ihUiB = Struct(">ih16siB").unpack_from
u_iitB = Struct(">ii?B").unpack_from


class GetTelemetrySubscriptionsRequest(WireStruct):
    __slots__ = ('client_instance_id',)
    client_instance_id: bytes

    def __init__(
        self,
        client_instance_id: bytes = ZERO_UUID,
    ) -> None:
        self.client_instance_id = client_instance_id


def parse_request_v0(buf: Buf, pos: int) -> tuple[GetTelemetrySubscriptionsRequest, int]:
    m = new(GetTelemetrySubscriptionsRequest)
    m.client_instance_id, n = u_UB(buf, pos)
    pos += 17
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
}


def write_request_v0(m: GetTelemetrySubscriptionsRequest, out: bytearray) -> None:
    out += p_Ux(m.client_instance_id)


WRITE_REQUEST = {
    0: write_request_v0,
}


class GetTelemetrySubscriptionsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'client_instance_id', 'subscription_id', 'accepted_compression_types', 'push_interval_ms', 'telemetry_max_bytes', 'delta_temporality', 'requested_metrics',)
    throttle_time_ms: int
    error_code: int
    client_instance_id: bytes
    subscription_id: int
    accepted_compression_types: list[int]
    push_interval_ms: int
    telemetry_max_bytes: int
    delta_temporality: bool
    requested_metrics: list[str]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        client_instance_id: bytes = ZERO_UUID,
        subscription_id: int = 0,
        accepted_compression_types: list[int] = EMPTY,
        push_interval_ms: int = 0,
        telemetry_max_bytes: int = 0,
        delta_temporality: bool = False,
        requested_metrics: list[str] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.accepted_compression_types = [] if accepted_compression_types is EMPTY else accepted_compression_types
        self.push_interval_ms = push_interval_ms
        self.telemetry_max_bytes = telemetry_max_bytes
        self.delta_temporality = delta_temporality
        self.requested_metrics = [] if requested_metrics is EMPTY else requested_metrics


def parse_response_v0(buf: Buf, pos: int) -> tuple[GetTelemetrySubscriptionsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(GetTelemetrySubscriptionsResponse)
    m.throttle_time_ms, m.error_code, m.client_instance_id, m.subscription_id, n = u_ihUiB(buf, pos)
    pos += 27
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('GetTelemetrySubscriptionsResponse.accepted_compression_types', n)
        m.accepted_compression_types = list(unpack_from(f">{n}b", buf, pos))
        pos += n
    else:
        raise bad_length('GetTelemetrySubscriptionsResponse.accepted_compression_types')
    m.push_interval_ms, m.telemetry_max_bytes, m.delta_temporality, n = u_iitB(buf, pos)
    pos += 10
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('GetTelemetrySubscriptionsResponse.requested_metrics', n)
        m.requested_metrics = a1 = []
        for _ in range(n):
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                s = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('GetTelemetrySubscriptionsResponse.s')
            a1.append(s)
    else:
        raise bad_length('GetTelemetrySubscriptionsResponse.requested_metrics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
}


def write_response_v0(m: GetTelemetrySubscriptionsResponse, out: bytearray) -> None:
    a1 = m.accepted_compression_types
    n = len(a1) + 1
    if n < 128:
        out += p_ihUiB(m.throttle_time_ms, m.error_code, m.client_instance_id, m.subscription_id, n)
    else:
        out += p_ihUi(m.throttle_time_ms, m.error_code, m.client_instance_id, m.subscription_id)
        uvarint(out, n)
    out += pack(f">{len(a1)}b", *a1)
    a1 = m.requested_metrics
    n = len(a1) + 1
    if n < 128:
        out += p_iitB(m.push_interval_ms, m.telemetry_max_bytes, m.delta_temporality, n)
    else:
        out += p_iit(m.push_interval_ms, m.telemetry_max_bytes, m.delta_temporality)
        uvarint(out, n)
    for m1 in a1:
        b = m1.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
}
