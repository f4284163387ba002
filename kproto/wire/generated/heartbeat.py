"""Heartbeat: API key 12, versions 0-4. Written by kproto.wire.generator: do not edit."""

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
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ihx = Struct(">ihx").pack
u_h = Struct(">h").unpack_from
u_iB = Struct(">iB").unpack_from
u_ih = Struct(">ih").unpack_from
u_ihB = Struct(">ihB").unpack_from


class HeartbeatRequest(WireStruct):
    __slots__ = ('group_id', 'generation_id', 'member_id', 'group_instance_id',)
    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None

    def __init__(
        self,
        group_id: str = '',
        generation_id: int = 0,
        member_id: str = '',
        group_instance_id: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id


def parse_request_v0(buf: Buf, pos: int) -> tuple[HeartbeatRequest, int]:
    m = new(HeartbeatRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('HeartbeatRequest.group_id')
    m.generation_id, n = u_ih(buf, pos)
    pos += 6
    if n >= 0:
        end = pos + n
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('HeartbeatRequest.member_id')
    m.group_instance_id = None
    return m, pos


def parse_request_v3(buf: Buf, pos: int) -> tuple[HeartbeatRequest, int]:
    m = new(HeartbeatRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('HeartbeatRequest.group_id')
    m.generation_id, n = u_ih(buf, pos)
    pos += 6
    if n >= 0:
        end = pos + n
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('HeartbeatRequest.member_id')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_instance_id = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.group_instance_id = None
    else:
        raise bad_length('HeartbeatRequest.group_instance_id')
    return m, pos


def parse_request_v4(buf: Buf, pos: int) -> tuple[HeartbeatRequest, int]:
    m = new(HeartbeatRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('HeartbeatRequest.group_id')
    m.generation_id, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('HeartbeatRequest.member_id')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_instance_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.group_instance_id = None
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v0,
    2: parse_request_v0,
    3: parse_request_v3,
    4: parse_request_v4,
}


def write_request_v0(m: HeartbeatRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.member_id.encode()
    n = len(b)
    out += p_ih(m.generation_id, n)
    out += b


def write_request_v3(m: HeartbeatRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.member_id.encode()
    n = len(b)
    out += p_ih(m.generation_id, n)
    out += b
    b = m.group_instance_id
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_h(n)
    out += b


def write_request_v4(m: HeartbeatRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    b = m.member_id.encode()
    n = len(b) + 1
    if n < 128:
        out += p_iB(m.generation_id, n)
    else:
        out += p_i(m.generation_id)
        uvarint(out, n)
    out += b
    b = m.group_instance_id
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
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v0,
    2: write_request_v0,
    3: write_request_v3,
    4: write_request_v4,
}


class HeartbeatResponse(WireStruct):
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


def parse_response_v0(buf: Buf, pos: int) -> tuple[HeartbeatResponse, int]:
    m = new(HeartbeatResponse)
    m.throttle_time_ms = 0
    m.error_code = u_h(buf, pos)[0]
    pos += 2
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[HeartbeatResponse, int]:
    m = new(HeartbeatResponse)
    m.throttle_time_ms, m.error_code = u_ih(buf, pos)
    pos += 6
    return m, pos


def parse_response_v4(buf: Buf, pos: int) -> tuple[HeartbeatResponse, int]:
    m = new(HeartbeatResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v1,
    2: parse_response_v1,
    3: parse_response_v1,
    4: parse_response_v4,
}


def write_response_v0(m: HeartbeatResponse, out: bytearray) -> None:
    out += p_h(m.error_code)


def write_response_v1(m: HeartbeatResponse, out: bytearray) -> None:
    out += p_ih(m.throttle_time_ms, m.error_code)


def write_response_v4(m: HeartbeatResponse, out: bytearray) -> None:
    out += p_ihx(m.throttle_time_ms, m.error_code)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v1,
    2: write_response_v1,
    3: write_response_v1,
    4: write_response_v4,
}
