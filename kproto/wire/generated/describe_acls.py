"""DescribeAcls: API key 29, versions 1-3. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    EMPTY,
    MAX_ELEMENTS,
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
p_bi = Struct(">bi").pack
p_h = Struct(">h").pack
p_i = Struct(">i").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_ihh = Struct(">ihh").pack
u_bB = Struct(">bB").unpack_from
u_bb = Struct(">bb").unpack_from
u_bbB = Struct(">bbB").unpack_from
u_bh = Struct(">bh").unpack_from
u_bi = Struct(">bi").unpack_from
u_h = Struct(">h").unpack_from
u_i = Struct(">i").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_ihh = Struct(">ihh").unpack_from


class DescribeAclsRequest(WireStruct):
    __slots__ = ('resource_type_filter', 'resource_name_filter', 'pattern_type_filter', 'principal_filter', 'host_filter', 'operation', 'permission_type',)
    resource_type_filter: int
    resource_name_filter: str | None
    pattern_type_filter: int
    principal_filter: str | None
    host_filter: str | None
    operation: int
    permission_type: int

    def __init__(
        self,
        resource_type_filter: int = 0,
        resource_name_filter: str | None = '',
        pattern_type_filter: int = 3,
        principal_filter: str | None = '',
        host_filter: str | None = '',
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type_filter = resource_type_filter
        self.resource_name_filter = resource_name_filter
        self.pattern_type_filter = pattern_type_filter
        self.principal_filter = principal_filter
        self.host_filter = host_filter
        self.operation = operation
        self.permission_type = permission_type


def parse_request_v1(buf: Buf, pos: int) -> tuple[DescribeAclsRequest, int]:
    m = new(DescribeAclsRequest)
    m.resource_type_filter, n = u_bh(buf, pos)
    pos += 3
    if n >= 0:
        end = pos + n
        m.resource_name_filter = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.resource_name_filter = None
    else:
        raise bad_length('DescribeAclsRequest.resource_name_filter')
    m.pattern_type_filter, n = u_bh(buf, pos)
    pos += 3
    if n >= 0:
        end = pos + n
        m.principal_filter = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.principal_filter = None
    else:
        raise bad_length('DescribeAclsRequest.principal_filter')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.host_filter = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.host_filter = None
    else:
        raise bad_length('DescribeAclsRequest.host_filter')
    m.operation, m.permission_type = u_bb(buf, pos)
    pos += 2
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[DescribeAclsRequest, int]:
    m = new(DescribeAclsRequest)
    m.resource_type_filter, n = u_bB(buf, pos)
    pos += 2
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.resource_name_filter = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.resource_name_filter = None
    m.pattern_type_filter, n = u_bB(buf, pos)
    pos += 2
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.principal_filter = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.principal_filter = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.host_filter = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.host_filter = None
    m.operation, m.permission_type, n = u_bbB(buf, pos)
    pos += 3
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    1: parse_request_v1,
    2: parse_request_v2,
    3: parse_request_v2,
}


def write_request_v1(m: DescribeAclsRequest, out: bytearray) -> None:
    b = m.resource_name_filter
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_bh(m.resource_type_filter, n)
    out += b
    b = m.principal_filter
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_bh(m.pattern_type_filter, n)
    out += b
    b = m.host_filter
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_h(n)
    out += b
    out += p_bb(m.operation, m.permission_type)


def write_request_v2(m: DescribeAclsRequest, out: bytearray) -> None:
    b = m.resource_name_filter
    if b is None:
        b = b""
        n = 0
    else:
        b = b.encode()
        n = len(b) + 1
    if n < 128:
        out += p_bB(m.resource_type_filter, n)
    else:
        out += p_b(m.resource_type_filter)
        uvarint(out, n)
    out += b
    b = m.principal_filter
    if b is None:
        b = b""
        n = 0
    else:
        b = b.encode()
        n = len(b) + 1
    if n < 128:
        out += p_bB(m.pattern_type_filter, n)
    else:
        out += p_b(m.pattern_type_filter)
        uvarint(out, n)
    out += b
    b = m.host_filter
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
    out += p_bbx(m.operation, m.permission_type)


WRITE_REQUEST = {
    1: write_request_v1,
    2: write_request_v2,
    3: write_request_v2,
}


class AclDescription(WireStruct):
    __slots__ = ('principal', 'host', 'operation', 'permission_type',)
    principal: str
    host: str
    operation: int
    permission_type: int

    def __init__(
        self,
        principal: str = '',
        host: str = '',
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type


class DescribeAclsResource(WireStruct):
    __slots__ = ('resource_type', 'resource_name', 'pattern_type', 'acls',)
    resource_type: int
    resource_name: str
    pattern_type: int
    acls: list[AclDescription]

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = '',
        pattern_type: int = 3,
        acls: list[AclDescription] = EMPTY,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.acls = [] if acls is EMPTY else acls


class DescribeAclsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'resources',)
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    resources: list[DescribeAclsResource]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
        resources: list[DescribeAclsResource] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.resources = [] if resources is EMPTY else resources


def parse_response_v1(buf: Buf, pos: int) -> tuple[DescribeAclsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeAclsResponse)
    m.throttle_time_ms, m.error_code, n = u_ihh(buf, pos)
    pos += 8
    if n >= 0:
        end = pos + n
        m.error_message = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.error_message = None
    else:
        raise bad_length('DescribeAclsResponse.error_message')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 8 > size - pos:
            raise bad_count('DescribeAclsResponse.resources', n)
        m.resources = a1 = []
        for _ in range(n):
            m1 = new(DescribeAclsResource)
            a1.append(m1)
            m1.resource_type, n = u_bh(buf, pos)
            pos += 3
            if n >= 0:
                end = pos + n
                m1.resource_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeAclsResponse.resource_name')
            m1.pattern_type, n = u_bi(buf, pos)
            pos += 5
            if n >= 0:
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('DescribeAclsResponse.acls', n)
                m1.acls = a2 = []
                for _ in range(n):
                    m2 = new(AclDescription)
                    a2.append(m2)
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.principal = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeAclsResponse.principal')
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.host = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeAclsResponse.host')
                    m2.operation, m2.permission_type = u_bb(buf, pos)
                    pos += 2
            else:
                raise bad_length('DescribeAclsResponse.acls')
    else:
        raise bad_length('DescribeAclsResponse.resources')
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[DescribeAclsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeAclsResponse)
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
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('DescribeAclsResponse.resources', n)
        m.resources = a1 = []
        for _ in range(n):
            m1 = new(DescribeAclsResource)
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
                raise bad_length('DescribeAclsResponse.resource_name')
            m1.pattern_type, n = u_bB(buf, pos)
            pos += 2
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 5 > size - pos:
                    raise bad_count('DescribeAclsResponse.acls', n)
                m1.acls = a2 = []
                for _ in range(n):
                    m2 = new(AclDescription)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.principal = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeAclsResponse.principal')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.host = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeAclsResponse.host')
                    m2.operation, m2.permission_type, n = u_bbB(buf, pos)
                    pos += 3
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeAclsResponse.acls')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeAclsResponse.resources')
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


def write_response_v1(m: DescribeAclsResponse, out: bytearray) -> None:
    b = m.error_message
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_ihh(m.throttle_time_ms, m.error_code, n)
    out += b
    a1 = m.resources
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.resource_name.encode()
        n = len(b)
        out += p_bh(m1.resource_type, n)
        out += b
        a2 = m1.acls
        n = len(a2)
        out += p_bi(m1.pattern_type, n)
        for m2 in a2:
            b = m2.principal.encode()
            n = len(b)
            out += p_h(n)
            out += b
            b = m2.host.encode()
            n = len(b)
            out += p_h(n)
            out += b
            out += p_bb(m2.operation, m2.permission_type)


def write_response_v2(m: DescribeAclsResponse, out: bytearray) -> None:
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
    a1 = m.resources
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
        a2 = m1.acls
        n = len(a2) + 1
        if n < 128:
            out += p_bB(m1.pattern_type, n)
        else:
            out += p_b(m1.pattern_type)
            uvarint(out, n)
        for m2 in a2:
            b = m2.principal.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.host.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            out += p_bbx(m2.operation, m2.permission_type)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    1: write_response_v1,
    2: write_response_v2,
    3: write_response_v2,
}
