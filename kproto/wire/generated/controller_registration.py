"""ControllerRegistration: API key 70, versions 0-0. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    EMPTY,
    MAX_REQUEST_ELEMENTS,
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

p_Hhx = Struct(">Hhx").pack
p_hhx = Struct(">hhx").pack
p_iUt = Struct(">i16s?").pack
p_iUtB = Struct(">i16s?B").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
u_HhB = Struct(">HhB").unpack_from
u_hhB = Struct(">hhB").unpack_from
u_iUtB = Struct(">i16s?B").unpack_from
u_ihB = Struct(">ihB").unpack_from


class Listener(WireStruct):
    __slots__ = ('name', 'host', 'port', 'security_protocol',)
    name: str
    host: str
    port: int
    security_protocol: int

    def __init__(
        self,
        name: str = '',
        host: str = '',
        port: int = 0,
        security_protocol: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.security_protocol = security_protocol


class Feature(WireStruct):
    __slots__ = ('name', 'min_supported_version', 'max_supported_version',)
    name: str
    min_supported_version: int
    max_supported_version: int

    def __init__(
        self,
        name: str = '',
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.name = name
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version


class ControllerRegistrationRequest(WireStruct):
    __slots__ = ('controller_id', 'incarnation_id', 'zk_migration_ready', 'listeners', 'features',)
    controller_id: int
    incarnation_id: bytes
    zk_migration_ready: bool
    listeners: list[Listener]
    features: list[Feature]

    def __init__(
        self,
        controller_id: int = 0,
        incarnation_id: bytes = ZERO_UUID,
        zk_migration_ready: bool = False,
        listeners: list[Listener] = EMPTY,
        features: list[Feature] = EMPTY,
    ) -> None:
        self.controller_id = controller_id
        self.incarnation_id = incarnation_id
        self.zk_migration_ready = zk_migration_ready
        self.listeners = [] if listeners is EMPTY else listeners
        self.features = [] if features is EMPTY else features


def parse_request_v0(buf: Buf, pos: int) -> tuple[ControllerRegistrationRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ControllerRegistrationRequest)
    m.controller_id, m.incarnation_id, m.zk_migration_ready, n = u_iUtB(buf, pos)
    pos += 22
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 7 > size - pos:
            raise bad_count('ControllerRegistrationRequest.listeners', n)
        m.listeners = a1 = []
        for _ in range(n):
            m1 = new(Listener)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ControllerRegistrationRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ControllerRegistrationRequest.host')
            m1.port, m1.security_protocol, n = u_HhB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ControllerRegistrationRequest.listeners')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ControllerRegistrationRequest.features', n)
        m.features = a1 = []
        for _ in range(n):
            m1 = new(Feature)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ControllerRegistrationRequest.name')
            m1.min_supported_version, m1.max_supported_version, n = u_hhB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ControllerRegistrationRequest.features')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
}


def write_request_v0(m: ControllerRegistrationRequest, out: bytearray) -> None:
    a1 = m.listeners
    n = len(a1) + 1
    if n < 128:
        out += p_iUtB(m.controller_id, m.incarnation_id, m.zk_migration_ready, n)
    else:
        out += p_iUt(m.controller_id, m.incarnation_id, m.zk_migration_ready)
        uvarint(out, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.host.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_Hhx(m1.port, m1.security_protocol)
    a1 = m.features
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_hhx(m1.min_supported_version, m1.max_supported_version)
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
}


class ControllerRegistrationResponse(WireStruct):
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


def parse_response_v0(buf: Buf, pos: int) -> tuple[ControllerRegistrationResponse, int]:
    m = new(ControllerRegistrationResponse)
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


def write_response_v0(m: ControllerRegistrationResponse, out: bytearray) -> None:
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
