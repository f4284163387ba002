"""CreateAcls: API key 30, versions 1-3. Written by kproto.wire.generator: do not edit."""

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

p_b = Struct(">b").pack
p_bB = Struct(">bB").pack
p_bb = Struct(">bb").pack
p_bbx = Struct(">bbx").pack
p_bh = Struct(">bh").pack
p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_hh = Struct(">hh").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ii = Struct(">ii").pack
u_bB = Struct(">bB").unpack_from
u_bb = Struct(">bb").unpack_from
u_bbB = Struct(">bbB").unpack_from
u_bh = Struct(">bh").unpack_from
u_h = Struct(">h").unpack_from
u_hB = Struct(">hB").unpack_from
u_hh = Struct(">hh").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ii = Struct(">ii").unpack_from


class AclCreation(WireStruct):
    __slots__ = ('resource_type', 'resource_name', 'resource_pattern_type', 'principal', 'host', 'operation', 'permission_type',)
    resource_type: int
    resource_name: str
    resource_pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = '',
        resource_pattern_type: int = 3,
        principal: str = '',
        host: str = '',
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.resource_pattern_type = resource_pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type


class CreateAclsRequest(WireStruct):
    __slots__ = ('creations',)
    creations: list[AclCreation]

    def __init__(
        self,
        creations: list[AclCreation] = EMPTY,
    ) -> None:
        self.creations = [] if creations is EMPTY else creations


def parse_request_v1(buf: Buf, pos: int) -> tuple[CreateAclsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(CreateAclsRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 10 > size - pos:
            raise bad_count('CreateAclsRequest.creations', n)
        m.creations = a1 = []
        for _ in range(n):
            m1 = new(AclCreation)
            a1.append(m1)
            m1.resource_type, n = u_bh(buf, pos)
            pos += 3
            if n >= 0:
                end = pos + n
                m1.resource_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('CreateAclsRequest.resource_name')
            m1.resource_pattern_type, n = u_bh(buf, pos)
            pos += 3
            if n >= 0:
                end = pos + n
                m1.principal = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('CreateAclsRequest.principal')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('CreateAclsRequest.host')
            m1.operation, m1.permission_type = u_bb(buf, pos)
            pos += 2
    else:
        raise bad_length('CreateAclsRequest.creations')
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[CreateAclsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(CreateAclsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 8 > size - pos:
            raise bad_count('CreateAclsRequest.creations', n)
        m.creations = a1 = []
        for _ in range(n):
            m1 = new(AclCreation)
            a1.append(m1)
            m1.resource_type, n = u_bB(buf, pos)
            pos += 2
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.resource_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('CreateAclsRequest.resource_name')
            m1.resource_pattern_type, n = u_bB(buf, pos)
            pos += 2
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.principal = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('CreateAclsRequest.principal')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('CreateAclsRequest.host')
            m1.operation, m1.permission_type, n = u_bbB(buf, pos)
            pos += 3
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('CreateAclsRequest.creations')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    1: parse_request_v1,
    2: parse_request_v2,
    3: parse_request_v2,
}


def write_request_v1(m: CreateAclsRequest, out: bytearray) -> None:
    a1 = m.creations
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.resource_name.encode()
        n = len(b)
        out += p_bh(m1.resource_type, n)
        out += b
        b = m1.principal.encode()
        n = len(b)
        out += p_bh(m1.resource_pattern_type, n)
        out += b
        b = m1.host.encode()
        n = len(b)
        out += p_h(n)
        out += b
        out += p_bb(m1.operation, m1.permission_type)


def write_request_v2(m: CreateAclsRequest, out: bytearray) -> None:
    a1 = m.creations
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.resource_name.encode()
        n = len(b) + 1
        if n < 128:
            out += p_bB(m1.resource_type, n)
        else:
            out += p_b(m1.resource_type)
            uvarint(out, n)
        out += b
        b = m1.principal.encode()
        n = len(b) + 1
        if n < 128:
            out += p_bB(m1.resource_pattern_type, n)
        else:
            out += p_b(m1.resource_pattern_type)
            uvarint(out, n)
        out += b
        b = m1.host.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_bbx(m1.operation, m1.permission_type)
    out.append(0)


WRITE_REQUEST = {
    1: write_request_v1,
    2: write_request_v2,
    3: write_request_v2,
}


class AclCreationResult(WireStruct):
    __slots__ = ('error_code', 'error_message',)
    error_code: int
    error_message: str | None

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = '',
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message


class CreateAclsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'results',)
    throttle_time_ms: int
    results: list[AclCreationResult]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[AclCreationResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is EMPTY else results


def parse_response_v1(buf: Buf, pos: int) -> tuple[CreateAclsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(CreateAclsResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 4 > size - pos:
            raise bad_count('CreateAclsResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(AclCreationResult)
            a1.append(m1)
            m1.error_code, n = u_hh(buf, pos)
            pos += 4
            if n >= 0:
                end = pos + n
                m1.error_message = str(buf[pos:end], "utf-8")
                pos = end
            elif n == -1:
                m1.error_message = None
            else:
                raise bad_length('CreateAclsResponse.error_message')
    else:
        raise bad_length('CreateAclsResponse.results')
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[CreateAclsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(CreateAclsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 4 > size - pos:
            raise bad_count('CreateAclsResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(AclCreationResult)
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
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('CreateAclsResponse.results')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    1: parse_response_v1,
    2: parse_response_v2,
    3: parse_response_v2,
}


def write_response_v1(m: CreateAclsResponse, out: bytearray) -> None:
    a1 = m.results
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.error_message
        if b is None:
            b = b""
            n = -1
        else:
            b = b.encode()
            n = len(b)
        out += p_hh(m1.error_code, n)
        out += b


def write_response_v2(m: CreateAclsResponse, out: bytearray) -> None:
    a1 = m.results
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
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    1: write_response_v1,
    2: write_response_v2,
    3: write_response_v2,
}
