"""DeleteGroups: API key 42, versions 0-2. Written by kproto.wire.generator: do not edit."""

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
p_iB = Struct(">iB").pack
p_ii = Struct(">ii").pack
u_h = Struct(">h").unpack_from
u_hB = Struct(">hB").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ii = Struct(">ii").unpack_from


class DeleteGroupsRequest(WireStruct):
    __slots__ = ('groups_names',)
    groups_names: list[str]

    def __init__(
        self,
        groups_names: list[str] = EMPTY,
    ) -> None:
        self.groups_names = [] if groups_names is EMPTY else groups_names


def parse_request_v0(buf: Buf, pos: int) -> tuple[DeleteGroupsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DeleteGroupsRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 2 > size - pos:
            raise bad_count('DeleteGroupsRequest.groups_names', n)
        m.groups_names = a1 = []
        for _ in range(n):
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                s = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DeleteGroupsRequest.s')
            a1.append(s)
    else:
        raise bad_length('DeleteGroupsRequest.groups_names')
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[DeleteGroupsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DeleteGroupsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('DeleteGroupsRequest.groups_names', n)
        m.groups_names = a1 = []
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
                raise bad_length('DeleteGroupsRequest.s')
            a1.append(s)
    else:
        raise bad_length('DeleteGroupsRequest.groups_names')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v0,
    2: parse_request_v2,
}


def write_request_v0(m: DeleteGroupsRequest, out: bytearray) -> None:
    a1 = m.groups_names
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.encode()
        n = len(b)
        out += p_h(n)
        out += b


def write_request_v2(m: DeleteGroupsRequest, out: bytearray) -> None:
    a1 = m.groups_names
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
    2: write_request_v2,
}


class DeletableGroupResult(WireStruct):
    __slots__ = ('group_id', 'error_code',)
    group_id: str
    error_code: int

    def __init__(
        self,
        group_id: str = '',
        error_code: int = 0,
    ) -> None:
        self.group_id = group_id
        self.error_code = error_code


class DeleteGroupsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'results',)
    throttle_time_ms: int
    results: list[DeletableGroupResult]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[DeletableGroupResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is EMPTY else results


def parse_response_v0(buf: Buf, pos: int) -> tuple[DeleteGroupsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DeleteGroupsResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 4 > size - pos:
            raise bad_count('DeleteGroupsResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(DeletableGroupResult)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DeleteGroupsResponse.group_id')
            m1.error_code = u_h(buf, pos)[0]
            pos += 2
    else:
        raise bad_length('DeleteGroupsResponse.results')
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[DeleteGroupsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DeleteGroupsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 4 > size - pos:
            raise bad_count('DeleteGroupsResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(DeletableGroupResult)
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
                raise bad_length('DeleteGroupsResponse.group_id')
            m1.error_code, n = u_hB(buf, pos)
            pos += 3
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DeleteGroupsResponse.results')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v0,
    2: parse_response_v2,
}


def write_response_v0(m: DeleteGroupsResponse, out: bytearray) -> None:
    a1 = m.results
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.group_id.encode()
        n = len(b)
        out += p_h(n)
        out += b
        out += p_h(m1.error_code)


def write_response_v2(m: DeleteGroupsResponse, out: bytearray) -> None:
    a1 = m.results
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
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_hx(m1.error_code)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v0,
    2: write_response_v2,
}
