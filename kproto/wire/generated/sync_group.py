"""SyncGroup: API key 14, versions 0-5. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    EMPTY,
    MAX_REQUEST_ELEMENTS,
    Buf,
    WireStruct,
    bad_count,
    bad_length,
    more,
    new,
    skip_tags,
    uvarint,
)

p_h = Struct(">h").pack
p_hi = Struct(">hi").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_ihi = Struct(">ihi").pack
u_h = Struct(">h").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ih = Struct(">ih").unpack_from
u_ihB = Struct(">ihB").unpack_from


class SyncGroupRequestAssignment(WireStruct):
    __slots__ = ('member_id', 'assignment',)
    member_id: str
    assignment: bytes

    def __init__(
        self,
        member_id: str = '',
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.assignment = assignment


class SyncGroupRequest(WireStruct):
    __slots__ = ('group_id', 'generation_id', 'member_id', 'group_instance_id', 'protocol_type', 'protocol_name', 'assignments',)
    group_id: str
    generation_id: int
    member_id: str
    group_instance_id: str | None
    protocol_type: str | None
    protocol_name: str | None
    assignments: list[SyncGroupRequestAssignment]

    def __init__(
        self,
        group_id: str = '',
        generation_id: int = 0,
        member_id: str = '',
        group_instance_id: str | None = None,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignments: list[SyncGroupRequestAssignment] = EMPTY,
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignments = [] if assignments is EMPTY else assignments


def parse_request_v0(buf: Buf, pos: int) -> tuple[SyncGroupRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(SyncGroupRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('SyncGroupRequest.group_id')
    m.generation_id, n = u_ih(buf, pos)
    pos += 6
    if n >= 0:
        end = pos + n
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('SyncGroupRequest.member_id')
    m.group_instance_id = None
    m.protocol_type = None
    m.protocol_name = None
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('SyncGroupRequest.assignments', n)
        m.assignments = a1 = []
        for _ in range(n):
            m1 = new(SyncGroupRequestAssignment)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.member_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('SyncGroupRequest.member_id')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                end = pos + n
                m1.assignment = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('SyncGroupRequest.assignment')
    else:
        raise bad_length('SyncGroupRequest.assignments')
    return m, pos


def parse_request_v3(buf: Buf, pos: int) -> tuple[SyncGroupRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(SyncGroupRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('SyncGroupRequest.group_id')
    m.generation_id, n = u_ih(buf, pos)
    pos += 6
    if n >= 0:
        end = pos + n
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('SyncGroupRequest.member_id')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_instance_id = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.group_instance_id = None
    else:
        raise bad_length('SyncGroupRequest.group_instance_id')
    m.protocol_type = None
    m.protocol_name = None
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('SyncGroupRequest.assignments', n)
        m.assignments = a1 = []
        for _ in range(n):
            m1 = new(SyncGroupRequestAssignment)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.member_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('SyncGroupRequest.member_id')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                end = pos + n
                m1.assignment = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('SyncGroupRequest.assignment')
    else:
        raise bad_length('SyncGroupRequest.assignments')
    return m, pos


def parse_request_v4(buf: Buf, pos: int) -> tuple[SyncGroupRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(SyncGroupRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('SyncGroupRequest.group_id')
    m.generation_id, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('SyncGroupRequest.member_id')
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
    m.protocol_type = None
    m.protocol_name = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('SyncGroupRequest.assignments', n)
        m.assignments = a1 = []
        for _ in range(n):
            m1 = new(SyncGroupRequestAssignment)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.member_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('SyncGroupRequest.member_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.assignment = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('SyncGroupRequest.assignment')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('SyncGroupRequest.assignments')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v5(buf: Buf, pos: int) -> tuple[SyncGroupRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(SyncGroupRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('SyncGroupRequest.group_id')
    m.generation_id, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('SyncGroupRequest.member_id')
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
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.protocol_type = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.protocol_type = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.protocol_name = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.protocol_name = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('SyncGroupRequest.assignments', n)
        m.assignments = a1 = []
        for _ in range(n):
            m1 = new(SyncGroupRequestAssignment)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.member_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('SyncGroupRequest.member_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.assignment = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('SyncGroupRequest.assignment')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('SyncGroupRequest.assignments')
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
    5: parse_request_v5,
}


def write_request_v0(m: SyncGroupRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.member_id.encode()
    n = len(b)
    out += p_ih(m.generation_id, n)
    out += b
    a1 = m.assignments
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.member_id.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.assignment
        n = len(b)
        out += p_i(n)
        out += b


def write_request_v3(m: SyncGroupRequest, out: bytearray) -> None:
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
    a1 = m.assignments
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.member_id.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.assignment
        n = len(b)
        out += p_i(n)
        out += b


def write_request_v4(m: SyncGroupRequest, out: bytearray) -> None:
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
    a1 = m.assignments
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.member_id.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.assignment
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out.append(0)
    out.append(0)


def write_request_v5(m: SyncGroupRequest, out: bytearray) -> None:
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
    b = m.protocol_type
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
    b = m.protocol_name
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
    a1 = m.assignments
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.member_id.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.assignment
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out.append(0)
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v0,
    2: write_request_v0,
    3: write_request_v3,
    4: write_request_v4,
    5: write_request_v5,
}


class SyncGroupResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'protocol_type', 'protocol_name', 'assignment',)
    throttle_time_ms: int
    error_code: int
    protocol_type: str | None
    protocol_name: str | None
    assignment: bytes

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignment: bytes = b"",
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignment = assignment


def parse_response_v0(buf: Buf, pos: int) -> tuple[SyncGroupResponse, int]:
    m = new(SyncGroupResponse)
    m.throttle_time_ms = 0
    m.error_code = u_h(buf, pos)[0]
    pos += 2
    m.protocol_type = None
    m.protocol_name = None
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        end = pos + n
        m.assignment = bytes(buf[pos:end])
        pos = end
    else:
        raise bad_length('SyncGroupResponse.assignment')
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[SyncGroupResponse, int]:
    m = new(SyncGroupResponse)
    m.throttle_time_ms, m.error_code = u_ih(buf, pos)
    pos += 6
    m.protocol_type = None
    m.protocol_name = None
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        end = pos + n
        m.assignment = bytes(buf[pos:end])
        pos = end
    else:
        raise bad_length('SyncGroupResponse.assignment')
    return m, pos


def parse_response_v4(buf: Buf, pos: int) -> tuple[SyncGroupResponse, int]:
    m = new(SyncGroupResponse)
    m.throttle_time_ms, m.error_code = u_ih(buf, pos)
    pos += 6
    m.protocol_type = None
    m.protocol_name = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.assignment = bytes(buf[pos:end])
        pos = end
    else:
        raise bad_length('SyncGroupResponse.assignment')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v5(buf: Buf, pos: int) -> tuple[SyncGroupResponse, int]:
    m = new(SyncGroupResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.protocol_type = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.protocol_type = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.protocol_name = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.protocol_name = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.assignment = bytes(buf[pos:end])
        pos = end
    else:
        raise bad_length('SyncGroupResponse.assignment')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v1,
    2: parse_response_v1,
    3: parse_response_v1,
    4: parse_response_v4,
    5: parse_response_v5,
}


def write_response_v0(m: SyncGroupResponse, out: bytearray) -> None:
    b = m.assignment
    n = len(b)
    out += p_hi(m.error_code, n)
    out += b


def write_response_v1(m: SyncGroupResponse, out: bytearray) -> None:
    b = m.assignment
    n = len(b)
    out += p_ihi(m.throttle_time_ms, m.error_code, n)
    out += b


def write_response_v4(m: SyncGroupResponse, out: bytearray) -> None:
    b = m.assignment
    n = len(b) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
        uvarint(out, n)
    out += b
    out.append(0)


def write_response_v5(m: SyncGroupResponse, out: bytearray) -> None:
    b = m.protocol_type
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
    b = m.protocol_name
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
    b = m.assignment
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v1,
    2: write_response_v1,
    3: write_response_v1,
    4: write_response_v4,
    5: write_response_v5,
}
