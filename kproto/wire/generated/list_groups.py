"""ListGroups: API key 16, versions 0-5. Written by kproto.wire.generator: do not edit."""

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
p_hi = Struct(">hi").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_ihi = Struct(">ihi").pack
u_h = Struct(">h").unpack_from
u_hi = Struct(">hi").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_ihi = Struct(">ihi").unpack_from


class ListGroupsRequest(WireStruct):
    __slots__ = ('states_filter', 'types_filter',)
    states_filter: list[str]
    types_filter: list[str]

    def __init__(
        self,
        states_filter: list[str] = EMPTY,
        types_filter: list[str] = EMPTY,
    ) -> None:
        self.states_filter = [] if states_filter is EMPTY else states_filter
        self.types_filter = [] if types_filter is EMPTY else types_filter


def parse_request_v0(buf: Buf, pos: int) -> tuple[ListGroupsRequest, int]:
    m = new(ListGroupsRequest)
    m.states_filter = []
    m.types_filter = []
    return m, pos


def parse_request_v3(buf: Buf, pos: int) -> tuple[ListGroupsRequest, int]:
    m = new(ListGroupsRequest)
    m.states_filter = []
    m.types_filter = []
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v4(buf: Buf, pos: int) -> tuple[ListGroupsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ListGroupsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('ListGroupsRequest.states_filter', n)
        m.states_filter = a1 = []
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
                raise bad_length('ListGroupsRequest.s')
            a1.append(s)
    else:
        raise bad_length('ListGroupsRequest.states_filter')
    m.types_filter = []
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v5(buf: Buf, pos: int) -> tuple[ListGroupsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ListGroupsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('ListGroupsRequest.states_filter', n)
        m.states_filter = a1 = []
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
                raise bad_length('ListGroupsRequest.s')
            a1.append(s)
    else:
        raise bad_length('ListGroupsRequest.states_filter')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('ListGroupsRequest.types_filter', n)
        m.types_filter = a1 = []
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
                raise bad_length('ListGroupsRequest.s')
            a1.append(s)
    else:
        raise bad_length('ListGroupsRequest.types_filter')
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


def write_request_v0(m: ListGroupsRequest, out: bytearray) -> None:
    pass


def write_request_v3(m: ListGroupsRequest, out: bytearray) -> None:
    out.append(0)


def write_request_v4(m: ListGroupsRequest, out: bytearray) -> None:
    a1 = m.states_filter
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
    out.append(0)


def write_request_v5(m: ListGroupsRequest, out: bytearray) -> None:
    a1 = m.states_filter
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
    a1 = m.types_filter
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
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v0,
    2: write_request_v0,
    3: write_request_v3,
    4: write_request_v4,
    5: write_request_v5,
}


class ListedGroup(WireStruct):
    __slots__ = ('group_id', 'protocol_type', 'group_state', 'group_type',)
    group_id: str
    protocol_type: str
    group_state: str
    group_type: str

    def __init__(
        self,
        group_id: str = '',
        protocol_type: str = '',
        group_state: str = '',
        group_type: str = '',
    ) -> None:
        self.group_id = group_id
        self.protocol_type = protocol_type
        self.group_state = group_state
        self.group_type = group_type


class ListGroupsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'groups',)
    throttle_time_ms: int
    error_code: int
    groups: list[ListedGroup]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        groups: list[ListedGroup] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.groups = [] if groups is EMPTY else groups


def parse_response_v0(buf: Buf, pos: int) -> tuple[ListGroupsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ListGroupsResponse)
    m.throttle_time_ms = 0
    m.error_code, n = u_hi(buf, pos)
    pos += 6
    if n >= 0:
        left -= n
        if left < 0 or n * 4 > size - pos:
            raise bad_count('ListGroupsResponse.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(ListedGroup)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListGroupsResponse.group_id')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.protocol_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListGroupsResponse.protocol_type')
            m1.group_state = ''
            m1.group_type = ''
    else:
        raise bad_length('ListGroupsResponse.groups')
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[ListGroupsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ListGroupsResponse)
    m.throttle_time_ms, m.error_code, n = u_ihi(buf, pos)
    pos += 10
    if n >= 0:
        left -= n
        if left < 0 or n * 4 > size - pos:
            raise bad_count('ListGroupsResponse.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(ListedGroup)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListGroupsResponse.group_id')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.protocol_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListGroupsResponse.protocol_type')
            m1.group_state = ''
            m1.group_type = ''
    else:
        raise bad_length('ListGroupsResponse.groups')
    return m, pos


def parse_response_v3(buf: Buf, pos: int) -> tuple[ListGroupsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ListGroupsResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('ListGroupsResponse.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(ListedGroup)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListGroupsResponse.group_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.protocol_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListGroupsResponse.protocol_type')
            m1.group_state = ''
            m1.group_type = ''
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ListGroupsResponse.groups')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v4(buf: Buf, pos: int) -> tuple[ListGroupsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ListGroupsResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 4 > size - pos:
            raise bad_count('ListGroupsResponse.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(ListedGroup)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListGroupsResponse.group_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.protocol_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListGroupsResponse.protocol_type')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_state = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListGroupsResponse.group_state')
            m1.group_type = ''
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ListGroupsResponse.groups')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v5(buf: Buf, pos: int) -> tuple[ListGroupsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ListGroupsResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('ListGroupsResponse.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(ListedGroup)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListGroupsResponse.group_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.protocol_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListGroupsResponse.protocol_type')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_state = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListGroupsResponse.group_state')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListGroupsResponse.group_type')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ListGroupsResponse.groups')
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
}


def write_response_v0(m: ListGroupsResponse, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1)
    out += p_hi(m.error_code, n)
    for m1 in a1:
        b = m1.group_id.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.protocol_type.encode()
        n = len(b)
        out += p_h(n)
        out += b


def write_response_v1(m: ListGroupsResponse, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1)
    out += p_ihi(m.throttle_time_ms, m.error_code, n)
    for m1 in a1:
        b = m1.group_id.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.protocol_type.encode()
        n = len(b)
        out += p_h(n)
        out += b


def write_response_v3(m: ListGroupsResponse, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
        uvarint(out, n)
    for m1 in a1:
        b = m1.group_id.encode()
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
        out.append(0)
    out.append(0)


def write_response_v4(m: ListGroupsResponse, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
        uvarint(out, n)
    for m1 in a1:
        b = m1.group_id.encode()
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
        b = m1.group_state.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out.append(0)
    out.append(0)


def write_response_v5(m: ListGroupsResponse, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
        uvarint(out, n)
    for m1 in a1:
        b = m1.group_id.encode()
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
        b = m1.group_state.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.group_type.encode()
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
    1: write_response_v1,
    2: write_response_v1,
    3: write_response_v3,
    4: write_response_v4,
    5: write_response_v5,
}
