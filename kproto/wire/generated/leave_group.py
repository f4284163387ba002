"""LeaveGroup: API key 13, versions 0-5. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    EMPTY,
    MAX_ELEMENTS,
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
p_hx = Struct(">hx").pack
p_i = Struct(">i").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_ihi = Struct(">ihi").pack
u_h = Struct(">h").unpack_from
u_hB = Struct(">hB").unpack_from
u_i = Struct(">i").unpack_from
u_ih = Struct(">ih").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_ihi = Struct(">ihi").unpack_from


class MemberIdentity(WireStruct):
    __slots__ = ('member_id', 'group_instance_id', 'reason',)
    member_id: str
    group_instance_id: str | None
    reason: str | None

    def __init__(
        self,
        member_id: str = '',
        group_instance_id: str | None = None,
        reason: str | None = None,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.reason = reason


class LeaveGroupRequest(WireStruct):
    __slots__ = ('group_id', 'member_id', 'members',)
    group_id: str
    member_id: str
    members: list[MemberIdentity]

    def __init__(
        self,
        group_id: str = '',
        member_id: str = '',
        members: list[MemberIdentity] = EMPTY,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.members = [] if members is EMPTY else members


def parse_request_v0(buf: Buf, pos: int) -> tuple[LeaveGroupRequest, int]:
    m = new(LeaveGroupRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('LeaveGroupRequest.group_id')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('LeaveGroupRequest.member_id')
    m.members = []
    return m, pos


def parse_request_v3(buf: Buf, pos: int) -> tuple[LeaveGroupRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(LeaveGroupRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('LeaveGroupRequest.group_id')
    m.member_id = ''
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 4 > size - pos:
            raise bad_count('LeaveGroupRequest.members', n)
        m.members = a1 = []
        for _ in range(n):
            m1 = new(MemberIdentity)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.member_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('LeaveGroupRequest.member_id')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.group_instance_id = str(buf[pos:end], "utf-8")
                pos = end
            elif n == -1:
                m1.group_instance_id = None
            else:
                raise bad_length('LeaveGroupRequest.group_instance_id')
            m1.reason = None
    else:
        raise bad_length('LeaveGroupRequest.members')
    return m, pos


def parse_request_v4(buf: Buf, pos: int) -> tuple[LeaveGroupRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(LeaveGroupRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('LeaveGroupRequest.group_id')
    m.member_id = ''
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('LeaveGroupRequest.members', n)
        m.members = a1 = []
        for _ in range(n):
            m1 = new(MemberIdentity)
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
                raise bad_length('LeaveGroupRequest.member_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_instance_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.group_instance_id = None
            m1.reason = None
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('LeaveGroupRequest.members')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v5(buf: Buf, pos: int) -> tuple[LeaveGroupRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(LeaveGroupRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('LeaveGroupRequest.group_id')
    m.member_id = ''
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 4 > size - pos:
            raise bad_count('LeaveGroupRequest.members', n)
        m.members = a1 = []
        for _ in range(n):
            m1 = new(MemberIdentity)
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
                raise bad_length('LeaveGroupRequest.member_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_instance_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.group_instance_id = None
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.reason = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.reason = None
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('LeaveGroupRequest.members')
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


def write_request_v0(m: LeaveGroupRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.member_id.encode()
    n = len(b)
    out += p_h(n)
    out += b


def write_request_v3(m: LeaveGroupRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    a1 = m.members
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.member_id.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.group_instance_id
        if b is None:
            b = b""
            n = -1
        else:
            b = b.encode()
            n = len(b)
        out += p_h(n)
        out += b


def write_request_v4(m: LeaveGroupRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    a1 = m.members
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
        b = m1.group_instance_id
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
    out.append(0)


def write_request_v5(m: LeaveGroupRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    a1 = m.members
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
        b = m1.group_instance_id
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
        b = m1.reason
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
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v0,
    2: write_request_v0,
    3: write_request_v3,
    4: write_request_v4,
    5: write_request_v5,
}


class MemberResponse(WireStruct):
    __slots__ = ('member_id', 'group_instance_id', 'error_code',)
    member_id: str
    group_instance_id: str | None
    error_code: int

    def __init__(
        self,
        member_id: str = '',
        group_instance_id: str | None = '',
        error_code: int = 0,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.error_code = error_code


class LeaveGroupResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'members',)
    throttle_time_ms: int
    error_code: int
    members: list[MemberResponse]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        members: list[MemberResponse] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.members = [] if members is EMPTY else members


def parse_response_v0(buf: Buf, pos: int) -> tuple[LeaveGroupResponse, int]:
    m = new(LeaveGroupResponse)
    m.throttle_time_ms = 0
    m.error_code = u_h(buf, pos)[0]
    pos += 2
    m.members = []
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[LeaveGroupResponse, int]:
    m = new(LeaveGroupResponse)
    m.throttle_time_ms, m.error_code = u_ih(buf, pos)
    pos += 6
    m.members = []
    return m, pos


def parse_response_v3(buf: Buf, pos: int) -> tuple[LeaveGroupResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(LeaveGroupResponse)
    m.throttle_time_ms, m.error_code, n = u_ihi(buf, pos)
    pos += 10
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('LeaveGroupResponse.members', n)
        m.members = a1 = []
        for _ in range(n):
            m1 = new(MemberResponse)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.member_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('LeaveGroupResponse.member_id')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.group_instance_id = str(buf[pos:end], "utf-8")
                pos = end
            elif n == -1:
                m1.group_instance_id = None
            else:
                raise bad_length('LeaveGroupResponse.group_instance_id')
            m1.error_code = u_h(buf, pos)[0]
            pos += 2
    else:
        raise bad_length('LeaveGroupResponse.members')
    return m, pos


def parse_response_v4(buf: Buf, pos: int) -> tuple[LeaveGroupResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(LeaveGroupResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('LeaveGroupResponse.members', n)
        m.members = a1 = []
        for _ in range(n):
            m1 = new(MemberResponse)
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
                raise bad_length('LeaveGroupResponse.member_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_instance_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.group_instance_id = None
            m1.error_code, n = u_hB(buf, pos)
            pos += 3
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('LeaveGroupResponse.members')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v1,
    2: parse_response_v1,
    3: parse_response_v3,
    4: parse_response_v4,
    5: parse_response_v4,
}


def write_response_v0(m: LeaveGroupResponse, out: bytearray) -> None:
    out += p_h(m.error_code)


def write_response_v1(m: LeaveGroupResponse, out: bytearray) -> None:
    out += p_ih(m.throttle_time_ms, m.error_code)


def write_response_v3(m: LeaveGroupResponse, out: bytearray) -> None:
    a1 = m.members
    n = len(a1)
    out += p_ihi(m.throttle_time_ms, m.error_code, n)
    for m1 in a1:
        b = m1.member_id.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.group_instance_id
        if b is None:
            b = b""
            n = -1
        else:
            b = b.encode()
            n = len(b)
        out += p_h(n)
        out += b
        out += p_h(m1.error_code)


def write_response_v4(m: LeaveGroupResponse, out: bytearray) -> None:
    a1 = m.members
    n = len(a1) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
        uvarint(out, n)
    for m1 in a1:
        b = m1.member_id.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.group_instance_id
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
        out += p_hx(m1.error_code)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v1,
    2: write_response_v1,
    3: write_response_v3,
    4: write_response_v4,
    5: write_response_v4,
}
