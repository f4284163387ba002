"""JoinGroup: API key 11, versions 0-9. Written by kproto.wire.generator: do not edit."""

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

p_t = Struct(">?").pack
p_tB = Struct(">?B").pack
p_h = Struct(">h").pack
p_hih = Struct(">hih").pack
p_i = Struct(">i").pack
p_ih = Struct(">ih").pack
p_ihi = Struct(">ihi").pack
p_ihiB = Struct(">ihiB").pack
p_ihih = Struct(">ihih").pack
p_ii = Struct(">ii").pack
p_iiB = Struct(">iiB").pack
p_iih = Struct(">iih").pack
u_tB = Struct(">?B").unpack_from
u_h = Struct(">h").unpack_from
u_hi = Struct(">hi").unpack_from
u_i = Struct(">i").unpack_from
u_ihi = Struct(">ihi").unpack_from
u_ihiB = Struct(">ihiB").unpack_from
u_iiB = Struct(">iiB").unpack_from
u_iih = Struct(">iih").unpack_from


class JoinGroupRequestProtocol(WireStruct):
    __slots__ = ('name', 'metadata',)
    name: str
    metadata: bytes

    def __init__(
        self,
        name: str = '',
        metadata: bytes = b"",
    ) -> None:
        self.name = name
        self.metadata = metadata


class JoinGroupRequest(WireStruct):
    __slots__ = ('group_id', 'session_timeout_ms', 'rebalance_timeout_ms', 'member_id', 'group_instance_id', 'protocol_type', 'protocols', 'reason',)
    group_id: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    member_id: str
    group_instance_id: str | None
    protocol_type: str
    protocols: list[JoinGroupRequestProtocol]
    reason: str | None

    def __init__(
        self,
        group_id: str = '',
        session_timeout_ms: int = 0,
        rebalance_timeout_ms: int = -1,
        member_id: str = '',
        group_instance_id: str | None = None,
        protocol_type: str = '',
        protocols: list[JoinGroupRequestProtocol] = EMPTY,
        reason: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocols = [] if protocols is EMPTY else protocols
        self.reason = reason


def parse_request_v0(buf: Buf, pos: int) -> tuple[JoinGroupRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(JoinGroupRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupRequest.group_id')
    m.session_timeout_ms = u_i(buf, pos)[0]
    pos += 4
    m.rebalance_timeout_ms = -1
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupRequest.member_id')
    m.group_instance_id = None
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.protocol_type = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupRequest.protocol_type')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('JoinGroupRequest.protocols', n)
        m.protocols = a1 = []
        for _ in range(n):
            m1 = new(JoinGroupRequestProtocol)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('JoinGroupRequest.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                end = pos + n
                m1.metadata = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('JoinGroupRequest.metadata')
    else:
        raise bad_length('JoinGroupRequest.protocols')
    m.reason = None
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[JoinGroupRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(JoinGroupRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupRequest.group_id')
    m.session_timeout_ms, m.rebalance_timeout_ms, n = u_iih(buf, pos)
    pos += 10
    if n >= 0:
        end = pos + n
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupRequest.member_id')
    m.group_instance_id = None
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.protocol_type = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupRequest.protocol_type')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('JoinGroupRequest.protocols', n)
        m.protocols = a1 = []
        for _ in range(n):
            m1 = new(JoinGroupRequestProtocol)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('JoinGroupRequest.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                end = pos + n
                m1.metadata = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('JoinGroupRequest.metadata')
    else:
        raise bad_length('JoinGroupRequest.protocols')
    m.reason = None
    return m, pos


def parse_request_v5(buf: Buf, pos: int) -> tuple[JoinGroupRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(JoinGroupRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupRequest.group_id')
    m.session_timeout_ms, m.rebalance_timeout_ms, n = u_iih(buf, pos)
    pos += 10
    if n >= 0:
        end = pos + n
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupRequest.member_id')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_instance_id = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.group_instance_id = None
    else:
        raise bad_length('JoinGroupRequest.group_instance_id')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.protocol_type = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupRequest.protocol_type')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('JoinGroupRequest.protocols', n)
        m.protocols = a1 = []
        for _ in range(n):
            m1 = new(JoinGroupRequestProtocol)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('JoinGroupRequest.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                end = pos + n
                m1.metadata = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('JoinGroupRequest.metadata')
    else:
        raise bad_length('JoinGroupRequest.protocols')
    m.reason = None
    return m, pos


def parse_request_v6(buf: Buf, pos: int) -> tuple[JoinGroupRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(JoinGroupRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupRequest.group_id')
    m.session_timeout_ms, m.rebalance_timeout_ms, n = u_iiB(buf, pos)
    pos += 9
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupRequest.member_id')
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
        raise bad_length('JoinGroupRequest.protocol_type')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('JoinGroupRequest.protocols', n)
        m.protocols = a1 = []
        for _ in range(n):
            m1 = new(JoinGroupRequestProtocol)
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
                raise bad_length('JoinGroupRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.metadata = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('JoinGroupRequest.metadata')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('JoinGroupRequest.protocols')
    m.reason = None
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v8(buf: Buf, pos: int) -> tuple[JoinGroupRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(JoinGroupRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupRequest.group_id')
    m.session_timeout_ms, m.rebalance_timeout_ms, n = u_iiB(buf, pos)
    pos += 9
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupRequest.member_id')
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
        raise bad_length('JoinGroupRequest.protocol_type')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('JoinGroupRequest.protocols', n)
        m.protocols = a1 = []
        for _ in range(n):
            m1 = new(JoinGroupRequestProtocol)
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
                raise bad_length('JoinGroupRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.metadata = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('JoinGroupRequest.metadata')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('JoinGroupRequest.protocols')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.reason = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.reason = None
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
    2: parse_request_v1,
    3: parse_request_v1,
    4: parse_request_v1,
    5: parse_request_v5,
    6: parse_request_v6,
    7: parse_request_v6,
    8: parse_request_v8,
    9: parse_request_v8,
}


def write_request_v0(m: JoinGroupRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.member_id.encode()
    n = len(b)
    out += p_ih(m.session_timeout_ms, n)
    out += b
    b = m.protocol_type.encode()
    n = len(b)
    out += p_h(n)
    out += b
    a1 = m.protocols
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.metadata
        n = len(b)
        out += p_i(n)
        out += b


def write_request_v1(m: JoinGroupRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.member_id.encode()
    n = len(b)
    out += p_iih(m.session_timeout_ms, m.rebalance_timeout_ms, n)
    out += b
    b = m.protocol_type.encode()
    n = len(b)
    out += p_h(n)
    out += b
    a1 = m.protocols
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.metadata
        n = len(b)
        out += p_i(n)
        out += b


def write_request_v5(m: JoinGroupRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.member_id.encode()
    n = len(b)
    out += p_iih(m.session_timeout_ms, m.rebalance_timeout_ms, n)
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
    b = m.protocol_type.encode()
    n = len(b)
    out += p_h(n)
    out += b
    a1 = m.protocols
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.metadata
        n = len(b)
        out += p_i(n)
        out += b


def write_request_v6(m: JoinGroupRequest, out: bytearray) -> None:
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
        out += p_iiB(m.session_timeout_ms, m.rebalance_timeout_ms, n)
    else:
        out += p_ii(m.session_timeout_ms, m.rebalance_timeout_ms)
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
    b = m.protocol_type.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    a1 = m.protocols
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
        b = m1.metadata
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out.append(0)
    out.append(0)


def write_request_v8(m: JoinGroupRequest, out: bytearray) -> None:
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
        out += p_iiB(m.session_timeout_ms, m.rebalance_timeout_ms, n)
    else:
        out += p_ii(m.session_timeout_ms, m.rebalance_timeout_ms)
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
    b = m.protocol_type.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    a1 = m.protocols
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
        b = m1.metadata
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out.append(0)
    b = m.reason
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
    1: write_request_v1,
    2: write_request_v1,
    3: write_request_v1,
    4: write_request_v1,
    5: write_request_v5,
    6: write_request_v6,
    7: write_request_v6,
    8: write_request_v8,
    9: write_request_v8,
}


class JoinGroupResponseMember(WireStruct):
    __slots__ = ('member_id', 'group_instance_id', 'metadata',)
    member_id: str
    group_instance_id: str | None
    metadata: bytes

    def __init__(
        self,
        member_id: str = '',
        group_instance_id: str | None = None,
        metadata: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.metadata = metadata


class JoinGroupResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'generation_id', 'protocol_type', 'protocol_name', 'leader', 'skip_assignment', 'member_id', 'members',)
    throttle_time_ms: int
    error_code: int
    generation_id: int
    protocol_type: str | None
    protocol_name: str | None
    leader: str
    skip_assignment: bool
    member_id: str
    members: list[JoinGroupResponseMember]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        generation_id: int = -1,
        protocol_type: str | None = None,
        protocol_name: str | None = '',
        leader: str = '',
        skip_assignment: bool = False,
        member_id: str = '',
        members: list[JoinGroupResponseMember] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.generation_id = generation_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.leader = leader
        self.skip_assignment = skip_assignment
        self.member_id = member_id
        self.members = [] if members is EMPTY else members


def parse_response_v0(buf: Buf, pos: int) -> tuple[JoinGroupResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(JoinGroupResponse)
    m.throttle_time_ms = 0
    m.error_code, m.generation_id = u_hi(buf, pos)
    pos += 6
    m.protocol_type = None
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.protocol_name = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupResponse.protocol_name')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.leader = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupResponse.leader')
    m.skip_assignment = False
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupResponse.member_id')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('JoinGroupResponse.members', n)
        m.members = a1 = []
        for _ in range(n):
            m1 = new(JoinGroupResponseMember)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.member_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('JoinGroupResponse.member_id')
            m1.group_instance_id = None
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                end = pos + n
                m1.metadata = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('JoinGroupResponse.metadata')
    else:
        raise bad_length('JoinGroupResponse.members')
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[JoinGroupResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(JoinGroupResponse)
    m.throttle_time_ms, m.error_code, m.generation_id = u_ihi(buf, pos)
    pos += 10
    m.protocol_type = None
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.protocol_name = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupResponse.protocol_name')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.leader = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupResponse.leader')
    m.skip_assignment = False
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupResponse.member_id')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('JoinGroupResponse.members', n)
        m.members = a1 = []
        for _ in range(n):
            m1 = new(JoinGroupResponseMember)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.member_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('JoinGroupResponse.member_id')
            m1.group_instance_id = None
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                end = pos + n
                m1.metadata = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('JoinGroupResponse.metadata')
    else:
        raise bad_length('JoinGroupResponse.members')
    return m, pos


def parse_response_v5(buf: Buf, pos: int) -> tuple[JoinGroupResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(JoinGroupResponse)
    m.throttle_time_ms, m.error_code, m.generation_id = u_ihi(buf, pos)
    pos += 10
    m.protocol_type = None
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.protocol_name = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupResponse.protocol_name')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.leader = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupResponse.leader')
    m.skip_assignment = False
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupResponse.member_id')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 8 > size - pos:
            raise bad_count('JoinGroupResponse.members', n)
        m.members = a1 = []
        for _ in range(n):
            m1 = new(JoinGroupResponseMember)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.member_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('JoinGroupResponse.member_id')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.group_instance_id = str(buf[pos:end], "utf-8")
                pos = end
            elif n == -1:
                m1.group_instance_id = None
            else:
                raise bad_length('JoinGroupResponse.group_instance_id')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                end = pos + n
                m1.metadata = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('JoinGroupResponse.metadata')
    else:
        raise bad_length('JoinGroupResponse.members')
    return m, pos


def parse_response_v6(buf: Buf, pos: int) -> tuple[JoinGroupResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(JoinGroupResponse)
    m.throttle_time_ms, m.error_code, m.generation_id = u_ihi(buf, pos)
    pos += 10
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
        raise bad_length('JoinGroupResponse.protocol_name')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.leader = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupResponse.leader')
    m.skip_assignment = False
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupResponse.member_id')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 4 > size - pos:
            raise bad_count('JoinGroupResponse.members', n)
        m.members = a1 = []
        for _ in range(n):
            m1 = new(JoinGroupResponseMember)
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
                raise bad_length('JoinGroupResponse.member_id')
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
                m1.metadata = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('JoinGroupResponse.metadata')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('JoinGroupResponse.members')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v7(buf: Buf, pos: int) -> tuple[JoinGroupResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(JoinGroupResponse)
    m.throttle_time_ms, m.error_code, m.generation_id, n = u_ihiB(buf, pos)
    pos += 11
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
        m.leader = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupResponse.leader')
    m.skip_assignment = False
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupResponse.member_id')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 4 > size - pos:
            raise bad_count('JoinGroupResponse.members', n)
        m.members = a1 = []
        for _ in range(n):
            m1 = new(JoinGroupResponseMember)
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
                raise bad_length('JoinGroupResponse.member_id')
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
                m1.metadata = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('JoinGroupResponse.metadata')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('JoinGroupResponse.members')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v9(buf: Buf, pos: int) -> tuple[JoinGroupResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(JoinGroupResponse)
    m.throttle_time_ms, m.error_code, m.generation_id, n = u_ihiB(buf, pos)
    pos += 11
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
        m.leader = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupResponse.leader')
    m.skip_assignment, n = u_tB(buf, pos)
    pos += 2
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('JoinGroupResponse.member_id')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 4 > size - pos:
            raise bad_count('JoinGroupResponse.members', n)
        m.members = a1 = []
        for _ in range(n):
            m1 = new(JoinGroupResponseMember)
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
                raise bad_length('JoinGroupResponse.member_id')
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
                m1.metadata = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('JoinGroupResponse.metadata')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('JoinGroupResponse.members')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v0,
    2: parse_response_v2,
    3: parse_response_v2,
    4: parse_response_v2,
    5: parse_response_v5,
    6: parse_response_v6,
    7: parse_response_v7,
    8: parse_response_v7,
    9: parse_response_v9,
}


def write_response_v0(m: JoinGroupResponse, out: bytearray) -> None:
    b = m.protocol_name.encode()
    n = len(b)
    out += p_hih(m.error_code, m.generation_id, n)
    out += b
    b = m.leader.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.member_id.encode()
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
        b = m1.metadata
        n = len(b)
        out += p_i(n)
        out += b


def write_response_v2(m: JoinGroupResponse, out: bytearray) -> None:
    b = m.protocol_name.encode()
    n = len(b)
    out += p_ihih(m.throttle_time_ms, m.error_code, m.generation_id, n)
    out += b
    b = m.leader.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.member_id.encode()
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
        b = m1.metadata
        n = len(b)
        out += p_i(n)
        out += b


def write_response_v5(m: JoinGroupResponse, out: bytearray) -> None:
    b = m.protocol_name.encode()
    n = len(b)
    out += p_ihih(m.throttle_time_ms, m.error_code, m.generation_id, n)
    out += b
    b = m.leader.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.member_id.encode()
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
        b = m1.metadata
        n = len(b)
        out += p_i(n)
        out += b


def write_response_v6(m: JoinGroupResponse, out: bytearray) -> None:
    b = m.protocol_name.encode()
    n = len(b) + 1
    if n < 128:
        out += p_ihiB(m.throttle_time_ms, m.error_code, m.generation_id, n)
    else:
        out += p_ihi(m.throttle_time_ms, m.error_code, m.generation_id)
        uvarint(out, n)
    out += b
    b = m.leader.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    b = m.member_id.encode()
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
        b = m1.metadata
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out.append(0)
    out.append(0)


def write_response_v7(m: JoinGroupResponse, out: bytearray) -> None:
    b = m.protocol_type
    if b is None:
        b = b""
        n = 0
    else:
        b = b.encode()
        n = len(b) + 1
    if n < 128:
        out += p_ihiB(m.throttle_time_ms, m.error_code, m.generation_id, n)
    else:
        out += p_ihi(m.throttle_time_ms, m.error_code, m.generation_id)
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
    b = m.leader.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    b = m.member_id.encode()
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
        b = m1.metadata
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out.append(0)
    out.append(0)


def write_response_v9(m: JoinGroupResponse, out: bytearray) -> None:
    b = m.protocol_type
    if b is None:
        b = b""
        n = 0
    else:
        b = b.encode()
        n = len(b) + 1
    if n < 128:
        out += p_ihiB(m.throttle_time_ms, m.error_code, m.generation_id, n)
    else:
        out += p_ihi(m.throttle_time_ms, m.error_code, m.generation_id)
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
    b = m.leader.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    b = m.member_id.encode()
    n = len(b) + 1
    if n < 128:
        out += p_tB(m.skip_assignment, n)
    else:
        out += p_t(m.skip_assignment)
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
        b = m1.metadata
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v0,
    2: write_response_v2,
    3: write_response_v2,
    4: write_response_v2,
    5: write_response_v5,
    6: write_response_v6,
    7: write_response_v7,
    8: write_response_v7,
    9: write_response_v9,
}
