"""DescribeGroups: API key 15, versions 0-6. Written by kproto.wire.generator: do not edit."""

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
p_tx = Struct(">?x").pack
p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_hh = Struct(">hh").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ii = Struct(">ii").pack
p_ix = Struct(">ix").pack
u_tB = Struct(">?B").unpack_from
u_h = Struct(">h").unpack_from
u_hB = Struct(">hB").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ii = Struct(">ii").unpack_from


class DescribeGroupsRequest(WireStruct):
    __slots__ = ('groups', 'include_authorized_operations',)
    groups: list[str]
    include_authorized_operations: bool

    def __init__(
        self,
        groups: list[str] = EMPTY,
        include_authorized_operations: bool = False,
    ) -> None:
        self.groups = [] if groups is EMPTY else groups
        self.include_authorized_operations = include_authorized_operations


def parse_request_v0(buf: Buf, pos: int) -> tuple[DescribeGroupsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DescribeGroupsRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 2 > size - pos:
            raise bad_count('DescribeGroupsRequest.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                s = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsRequest.s')
            a1.append(s)
    else:
        raise bad_length('DescribeGroupsRequest.groups')
    m.include_authorized_operations = False
    return m, pos


def parse_request_v3(buf: Buf, pos: int) -> tuple[DescribeGroupsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DescribeGroupsRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 2 > size - pos:
            raise bad_count('DescribeGroupsRequest.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                s = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsRequest.s')
            a1.append(s)
    else:
        raise bad_length('DescribeGroupsRequest.groups')
    m.include_authorized_operations = buf[pos] != 0
    pos += 1
    return m, pos


def parse_request_v5(buf: Buf, pos: int) -> tuple[DescribeGroupsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DescribeGroupsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('DescribeGroupsRequest.groups', n)
        m.groups = a1 = []
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
                raise bad_length('DescribeGroupsRequest.s')
            a1.append(s)
    else:
        raise bad_length('DescribeGroupsRequest.groups')
    m.include_authorized_operations, n = u_tB(buf, pos)
    pos += 2
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v0,
    2: parse_request_v0,
    3: parse_request_v3,
    4: parse_request_v3,
    5: parse_request_v5,
    6: parse_request_v5,
}


def write_request_v0(m: DescribeGroupsRequest, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.encode()
        n = len(b)
        out += p_h(n)
        out += b


def write_request_v3(m: DescribeGroupsRequest, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.encode()
        n = len(b)
        out += p_h(n)
        out += b
    out += p_t(m.include_authorized_operations)


def write_request_v5(m: DescribeGroupsRequest, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
    out += p_tx(m.include_authorized_operations)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v0,
    2: write_request_v0,
    3: write_request_v3,
    4: write_request_v3,
    5: write_request_v5,
    6: write_request_v5,
}


class DescribedGroupMember(WireStruct):
    __slots__ = ('member_id', 'group_instance_id', 'client_id', 'client_host', 'member_metadata', 'member_assignment',)
    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    member_metadata: bytes
    member_assignment: bytes

    def __init__(
        self,
        member_id: str = '',
        group_instance_id: str | None = None,
        client_id: str = '',
        client_host: str = '',
        member_metadata: bytes = b"",
        member_assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.member_metadata = member_metadata
        self.member_assignment = member_assignment


class DescribedGroup(WireStruct):
    __slots__ = ('error_code', 'error_message', 'group_id', 'group_state', 'protocol_type', 'protocol_data', 'members', 'authorized_operations',)
    error_code: int
    error_message: str | None
    group_id: str
    group_state: str
    protocol_type: str
    protocol_data: str
    members: list[DescribedGroupMember]
    authorized_operations: int

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = '',
        group_state: str = '',
        protocol_type: str = '',
        protocol_data: str = '',
        members: list[DescribedGroupMember] = EMPTY,
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.protocol_type = protocol_type
        self.protocol_data = protocol_data
        self.members = [] if members is EMPTY else members
        self.authorized_operations = authorized_operations


class DescribeGroupsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'groups',)
    throttle_time_ms: int
    groups: list[DescribedGroup]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: list[DescribedGroup] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is EMPTY else groups


def parse_response_v0(buf: Buf, pos: int) -> tuple[DescribeGroupsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeGroupsResponse)
    m.throttle_time_ms = 0
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 14 > size - pos:
            raise bad_count('DescribeGroupsResponse.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(DescribedGroup)
            a1.append(m1)
            m1.error_code = u_h(buf, pos)[0]
            pos += 2
            m1.error_message = None
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.group_id')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.group_state = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.group_state')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.protocol_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.protocol_type')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.protocol_data = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.protocol_data')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 14 > size - pos:
                    raise bad_count('DescribeGroupsResponse.members', n)
                m1.members = a2 = []
                for _ in range(n):
                    m2 = new(DescribedGroupMember)
                    a2.append(m2)
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.member_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.member_id')
                    m2.group_instance_id = None
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.client_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.client_id')
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.client_host = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.client_host')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        end = pos + n
                        m2.member_metadata = bytes(buf[pos:end])
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.member_metadata')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        end = pos + n
                        m2.member_assignment = bytes(buf[pos:end])
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.member_assignment')
            else:
                raise bad_length('DescribeGroupsResponse.members')
            m1.authorized_operations = -2147483648
    else:
        raise bad_length('DescribeGroupsResponse.groups')
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[DescribeGroupsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeGroupsResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 14 > size - pos:
            raise bad_count('DescribeGroupsResponse.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(DescribedGroup)
            a1.append(m1)
            m1.error_code = u_h(buf, pos)[0]
            pos += 2
            m1.error_message = None
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.group_id')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.group_state = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.group_state')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.protocol_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.protocol_type')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.protocol_data = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.protocol_data')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 14 > size - pos:
                    raise bad_count('DescribeGroupsResponse.members', n)
                m1.members = a2 = []
                for _ in range(n):
                    m2 = new(DescribedGroupMember)
                    a2.append(m2)
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.member_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.member_id')
                    m2.group_instance_id = None
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.client_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.client_id')
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.client_host = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.client_host')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        end = pos + n
                        m2.member_metadata = bytes(buf[pos:end])
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.member_metadata')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        end = pos + n
                        m2.member_assignment = bytes(buf[pos:end])
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.member_assignment')
            else:
                raise bad_length('DescribeGroupsResponse.members')
            m1.authorized_operations = -2147483648
    else:
        raise bad_length('DescribeGroupsResponse.groups')
    return m, pos


def parse_response_v3(buf: Buf, pos: int) -> tuple[DescribeGroupsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeGroupsResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('DescribeGroupsResponse.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(DescribedGroup)
            a1.append(m1)
            m1.error_code = u_h(buf, pos)[0]
            pos += 2
            m1.error_message = None
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.group_id')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.group_state = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.group_state')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.protocol_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.protocol_type')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.protocol_data = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.protocol_data')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 14 > size - pos:
                    raise bad_count('DescribeGroupsResponse.members', n)
                m1.members = a2 = []
                for _ in range(n):
                    m2 = new(DescribedGroupMember)
                    a2.append(m2)
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.member_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.member_id')
                    m2.group_instance_id = None
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.client_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.client_id')
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.client_host = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.client_host')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        end = pos + n
                        m2.member_metadata = bytes(buf[pos:end])
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.member_metadata')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        end = pos + n
                        m2.member_assignment = bytes(buf[pos:end])
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.member_assignment')
            else:
                raise bad_length('DescribeGroupsResponse.members')
            m1.authorized_operations = u_i(buf, pos)[0]
            pos += 4
    else:
        raise bad_length('DescribeGroupsResponse.groups')
    return m, pos


def parse_response_v4(buf: Buf, pos: int) -> tuple[DescribeGroupsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeGroupsResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('DescribeGroupsResponse.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(DescribedGroup)
            a1.append(m1)
            m1.error_code = u_h(buf, pos)[0]
            pos += 2
            m1.error_message = None
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.group_id')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.group_state = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.group_state')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.protocol_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.protocol_type')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.protocol_data = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.protocol_data')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 16 > size - pos:
                    raise bad_count('DescribeGroupsResponse.members', n)
                m1.members = a2 = []
                for _ in range(n):
                    m2 = new(DescribedGroupMember)
                    a2.append(m2)
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.member_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.member_id')
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.group_instance_id = str(buf[pos:end], "utf-8")
                        pos = end
                    elif n == -1:
                        m2.group_instance_id = None
                    else:
                        raise bad_length('DescribeGroupsResponse.group_instance_id')
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.client_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.client_id')
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.client_host = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.client_host')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        end = pos + n
                        m2.member_metadata = bytes(buf[pos:end])
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.member_metadata')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        end = pos + n
                        m2.member_assignment = bytes(buf[pos:end])
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.member_assignment')
            else:
                raise bad_length('DescribeGroupsResponse.members')
            m1.authorized_operations = u_i(buf, pos)[0]
            pos += 4
    else:
        raise bad_length('DescribeGroupsResponse.groups')
    return m, pos


def parse_response_v5(buf: Buf, pos: int) -> tuple[DescribeGroupsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeGroupsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 12 > size - pos:
            raise bad_count('DescribeGroupsResponse.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(DescribedGroup)
            a1.append(m1)
            m1.error_code = u_h(buf, pos)[0]
            pos += 2
            m1.error_message = None
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.group_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_state = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.group_state')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.protocol_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.protocol_type')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.protocol_data = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.protocol_data')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 7 > size - pos:
                    raise bad_count('DescribeGroupsResponse.members', n)
                m1.members = a2 = []
                for _ in range(n):
                    m2 = new(DescribedGroupMember)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.member_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.member_id')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.group_instance_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.group_instance_id = None
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.client_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.client_id')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.client_host = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.client_host')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.member_metadata = bytes(buf[pos:end])
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.member_metadata')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.member_assignment = bytes(buf[pos:end])
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.member_assignment')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeGroupsResponse.members')
            m1.authorized_operations, n = u_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeGroupsResponse.groups')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v6(buf: Buf, pos: int) -> tuple[DescribeGroupsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeGroupsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 13 > size - pos:
            raise bad_count('DescribeGroupsResponse.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(DescribedGroup)
            a1.append(m1)
            m1.error_code, n = u_hB(buf, pos)
            pos += 3
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.error_message = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.error_message = None
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.group_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_state = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.group_state')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.protocol_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.protocol_type')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.protocol_data = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeGroupsResponse.protocol_data')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 7 > size - pos:
                    raise bad_count('DescribeGroupsResponse.members', n)
                m1.members = a2 = []
                for _ in range(n):
                    m2 = new(DescribedGroupMember)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.member_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.member_id')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.group_instance_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.group_instance_id = None
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.client_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.client_id')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.client_host = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.client_host')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.member_metadata = bytes(buf[pos:end])
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.member_metadata')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.member_assignment = bytes(buf[pos:end])
                        pos = end
                    else:
                        raise bad_length('DescribeGroupsResponse.member_assignment')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeGroupsResponse.members')
            m1.authorized_operations, n = u_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeGroupsResponse.groups')
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
    5: parse_response_v5,
    6: parse_response_v6,
}


def write_response_v0(m: DescribeGroupsResponse, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.group_id.encode()
        n = len(b)
        out += p_hh(m1.error_code, n)
        out += b
        b = m1.group_state.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.protocol_type.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.protocol_data.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.members
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.member_id.encode()
            n = len(b)
            out += p_h(n)
            out += b
            b = m2.client_id.encode()
            n = len(b)
            out += p_h(n)
            out += b
            b = m2.client_host.encode()
            n = len(b)
            out += p_h(n)
            out += b
            b = m2.member_metadata
            n = len(b)
            out += p_i(n)
            out += b
            b = m2.member_assignment
            n = len(b)
            out += p_i(n)
            out += b


def write_response_v1(m: DescribeGroupsResponse, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.group_id.encode()
        n = len(b)
        out += p_hh(m1.error_code, n)
        out += b
        b = m1.group_state.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.protocol_type.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.protocol_data.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.members
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.member_id.encode()
            n = len(b)
            out += p_h(n)
            out += b
            b = m2.client_id.encode()
            n = len(b)
            out += p_h(n)
            out += b
            b = m2.client_host.encode()
            n = len(b)
            out += p_h(n)
            out += b
            b = m2.member_metadata
            n = len(b)
            out += p_i(n)
            out += b
            b = m2.member_assignment
            n = len(b)
            out += p_i(n)
            out += b


def write_response_v3(m: DescribeGroupsResponse, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.group_id.encode()
        n = len(b)
        out += p_hh(m1.error_code, n)
        out += b
        b = m1.group_state.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.protocol_type.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.protocol_data.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.members
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.member_id.encode()
            n = len(b)
            out += p_h(n)
            out += b
            b = m2.client_id.encode()
            n = len(b)
            out += p_h(n)
            out += b
            b = m2.client_host.encode()
            n = len(b)
            out += p_h(n)
            out += b
            b = m2.member_metadata
            n = len(b)
            out += p_i(n)
            out += b
            b = m2.member_assignment
            n = len(b)
            out += p_i(n)
            out += b
        out += p_i(m1.authorized_operations)


def write_response_v4(m: DescribeGroupsResponse, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.group_id.encode()
        n = len(b)
        out += p_hh(m1.error_code, n)
        out += b
        b = m1.group_state.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.protocol_type.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.protocol_data.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.members
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.member_id.encode()
            n = len(b)
            out += p_h(n)
            out += b
            b = m2.group_instance_id
            if b is None:
                b = b""
                n = -1
            else:
                b = b.encode()
                n = len(b)
            out += p_h(n)
            out += b
            b = m2.client_id.encode()
            n = len(b)
            out += p_h(n)
            out += b
            b = m2.client_host.encode()
            n = len(b)
            out += p_h(n)
            out += b
            b = m2.member_metadata
            n = len(b)
            out += p_i(n)
            out += b
            b = m2.member_assignment
            n = len(b)
            out += p_i(n)
            out += b
        out += p_i(m1.authorized_operations)


def write_response_v5(m: DescribeGroupsResponse, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.group_id.encode()
        n = len(b) + 1
        if n < 128:
            out += p_hB(m1.error_code, n)
        else:
            out += p_h(m1.error_code)
            uvarint(out, n)
        out += b
        b = m1.group_state.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.protocol_type.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.protocol_data.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        a2 = m1.members
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.member_id.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.group_instance_id
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
            b = m2.client_id.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.client_host.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.member_metadata
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.member_assignment
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            out.append(0)
        out += p_ix(m1.authorized_operations)
    out.append(0)


def write_response_v6(m: DescribeGroupsResponse, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.error_message
        if b is None:
            b = b""
            n = 0
        else:
            b = b.encode()
            n = len(b) + 1
        if n < 128:
            out += p_hB(m1.error_code, n)
        else:
            out += p_h(m1.error_code)
            uvarint(out, n)
        out += b
        b = m1.group_id.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.group_state.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.protocol_type.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.protocol_data.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        a2 = m1.members
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.member_id.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.group_instance_id
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
            b = m2.client_id.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.client_host.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.member_metadata
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.member_assignment
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            out.append(0)
        out += p_ix(m1.authorized_operations)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v1,
    2: write_response_v1,
    3: write_response_v3,
    4: write_response_v4,
    5: write_response_v5,
    6: write_response_v6,
}
