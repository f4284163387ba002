"""DeleteAcls: API key 31, versions 1-3. Written by kproto.wire.generator: do not edit."""

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


class DeleteAclsFilter(WireStruct):
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


class DeleteAclsRequest(WireStruct):
    __slots__ = ('filters',)
    filters: list[DeleteAclsFilter]

    def __init__(
        self,
        filters: list[DeleteAclsFilter] = EMPTY,
    ) -> None:
        self.filters = [] if filters is EMPTY else filters


def parse_request_v1(buf: Buf, pos: int) -> tuple[DeleteAclsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DeleteAclsRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 10 > size - pos:
            raise bad_count('DeleteAclsRequest.filters', n)
        m.filters = a1 = []
        for _ in range(n):
            m1 = new(DeleteAclsFilter)
            a1.append(m1)
            m1.resource_type_filter, n = u_bh(buf, pos)
            pos += 3
            if n >= 0:
                end = pos + n
                m1.resource_name_filter = str(buf[pos:end], "utf-8")
                pos = end
            elif n == -1:
                m1.resource_name_filter = None
            else:
                raise bad_length('DeleteAclsRequest.resource_name_filter')
            m1.pattern_type_filter, n = u_bh(buf, pos)
            pos += 3
            if n >= 0:
                end = pos + n
                m1.principal_filter = str(buf[pos:end], "utf-8")
                pos = end
            elif n == -1:
                m1.principal_filter = None
            else:
                raise bad_length('DeleteAclsRequest.principal_filter')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.host_filter = str(buf[pos:end], "utf-8")
                pos = end
            elif n == -1:
                m1.host_filter = None
            else:
                raise bad_length('DeleteAclsRequest.host_filter')
            m1.operation, m1.permission_type = u_bb(buf, pos)
            pos += 2
    else:
        raise bad_length('DeleteAclsRequest.filters')
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[DeleteAclsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DeleteAclsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 8 > size - pos:
            raise bad_count('DeleteAclsRequest.filters', n)
        m.filters = a1 = []
        for _ in range(n):
            m1 = new(DeleteAclsFilter)
            a1.append(m1)
            m1.resource_type_filter, n = u_bB(buf, pos)
            pos += 2
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.resource_name_filter = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.resource_name_filter = None
            m1.pattern_type_filter, n = u_bB(buf, pos)
            pos += 2
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.principal_filter = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.principal_filter = None
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.host_filter = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.host_filter = None
            m1.operation, m1.permission_type, n = u_bbB(buf, pos)
            pos += 3
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DeleteAclsRequest.filters')
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


def write_request_v1(m: DeleteAclsRequest, out: bytearray) -> None:
    a1 = m.filters
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.resource_name_filter
        if b is None:
            b = b""
            n = -1
        else:
            b = b.encode()
            n = len(b)
        out += p_bh(m1.resource_type_filter, n)
        out += b
        b = m1.principal_filter
        if b is None:
            b = b""
            n = -1
        else:
            b = b.encode()
            n = len(b)
        out += p_bh(m1.pattern_type_filter, n)
        out += b
        b = m1.host_filter
        if b is None:
            b = b""
            n = -1
        else:
            b = b.encode()
            n = len(b)
        out += p_h(n)
        out += b
        out += p_bb(m1.operation, m1.permission_type)


def write_request_v2(m: DeleteAclsRequest, out: bytearray) -> None:
    a1 = m.filters
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.resource_name_filter
        if b is None:
            b = b""
            n = 0
        else:
            b = b.encode()
            n = len(b) + 1
        if n < 128:
            out += p_bB(m1.resource_type_filter, n)
        else:
            out += p_b(m1.resource_type_filter)
            uvarint(out, n)
        out += b
        b = m1.principal_filter
        if b is None:
            b = b""
            n = 0
        else:
            b = b.encode()
            n = len(b) + 1
        if n < 128:
            out += p_bB(m1.pattern_type_filter, n)
        else:
            out += p_b(m1.pattern_type_filter)
            uvarint(out, n)
        out += b
        b = m1.host_filter
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
        out += p_bbx(m1.operation, m1.permission_type)
    out.append(0)


WRITE_REQUEST = {
    1: write_request_v1,
    2: write_request_v2,
    3: write_request_v2,
}


class DeleteAclsMatchingAcl(WireStruct):
    __slots__ = ('error_code', 'error_message', 'resource_type', 'resource_name', 'pattern_type', 'principal', 'host', 'operation', 'permission_type',)
    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = '',
        resource_type: int = 0,
        resource_name: str = '',
        pattern_type: int = 3,
        principal: str = '',
        host: str = '',
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type


class DeleteAclsFilterResult(WireStruct):
    __slots__ = ('error_code', 'error_message', 'matching_acls',)
    error_code: int
    error_message: str | None
    matching_acls: list[DeleteAclsMatchingAcl]

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = '',
        matching_acls: list[DeleteAclsMatchingAcl] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.matching_acls = [] if matching_acls is EMPTY else matching_acls


class DeleteAclsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'filter_results',)
    throttle_time_ms: int
    filter_results: list[DeleteAclsFilterResult]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        filter_results: list[DeleteAclsFilterResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.filter_results = [] if filter_results is EMPTY else filter_results


def parse_response_v1(buf: Buf, pos: int) -> tuple[DeleteAclsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DeleteAclsResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 8 > size - pos:
            raise bad_count('DeleteAclsResponse.filter_results', n)
        m.filter_results = a1 = []
        for _ in range(n):
            m1 = new(DeleteAclsFilterResult)
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
                raise bad_length('DeleteAclsResponse.error_message')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 14 > size - pos:
                    raise bad_count('DeleteAclsResponse.matching_acls', n)
                m1.matching_acls = a2 = []
                for _ in range(n):
                    m2 = new(DeleteAclsMatchingAcl)
                    a2.append(m2)
                    m2.error_code, n = u_hh(buf, pos)
                    pos += 4
                    if n >= 0:
                        end = pos + n
                        m2.error_message = str(buf[pos:end], "utf-8")
                        pos = end
                    elif n == -1:
                        m2.error_message = None
                    else:
                        raise bad_length('DeleteAclsResponse.error_message')
                    m2.resource_type, n = u_bh(buf, pos)
                    pos += 3
                    if n >= 0:
                        end = pos + n
                        m2.resource_name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DeleteAclsResponse.resource_name')
                    m2.pattern_type, n = u_bh(buf, pos)
                    pos += 3
                    if n >= 0:
                        end = pos + n
                        m2.principal = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DeleteAclsResponse.principal')
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.host = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DeleteAclsResponse.host')
                    m2.operation, m2.permission_type = u_bb(buf, pos)
                    pos += 2
            else:
                raise bad_length('DeleteAclsResponse.matching_acls')
    else:
        raise bad_length('DeleteAclsResponse.filter_results')
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[DeleteAclsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DeleteAclsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('DeleteAclsResponse.filter_results', n)
        m.filter_results = a1 = []
        for _ in range(n):
            m1 = new(DeleteAclsFilterResult)
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
                n -= 1
                left -= n
                if left < 0 or n * 11 > size - pos:
                    raise bad_count('DeleteAclsResponse.matching_acls', n)
                m1.matching_acls = a2 = []
                for _ in range(n):
                    m2 = new(DeleteAclsMatchingAcl)
                    a2.append(m2)
                    m2.error_code, n = u_hB(buf, pos)
                    pos += 3
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.error_message = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.error_message = None
                    m2.resource_type, n = u_bB(buf, pos)
                    pos += 2
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.resource_name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DeleteAclsResponse.resource_name')
                    m2.pattern_type, n = u_bB(buf, pos)
                    pos += 2
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.principal = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DeleteAclsResponse.principal')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.host = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DeleteAclsResponse.host')
                    m2.operation, m2.permission_type, n = u_bbB(buf, pos)
                    pos += 3
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DeleteAclsResponse.matching_acls')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DeleteAclsResponse.filter_results')
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


def write_response_v1(m: DeleteAclsResponse, out: bytearray) -> None:
    a1 = m.filter_results
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
        a2 = m1.matching_acls
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.error_message
            if b is None:
                b = b""
                n = -1
            else:
                b = b.encode()
                n = len(b)
            out += p_hh(m2.error_code, n)
            out += b
            b = m2.resource_name.encode()
            n = len(b)
            out += p_bh(m2.resource_type, n)
            out += b
            b = m2.principal.encode()
            n = len(b)
            out += p_bh(m2.pattern_type, n)
            out += b
            b = m2.host.encode()
            n = len(b)
            out += p_h(n)
            out += b
            out += p_bb(m2.operation, m2.permission_type)


def write_response_v2(m: DeleteAclsResponse, out: bytearray) -> None:
    a1 = m.filter_results
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
        a2 = m1.matching_acls
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.error_message
            if b is None:
                b = b""
                n = 0
            else:
                b = b.encode()
                n = len(b) + 1
            if n < 128:
                out += p_hB(m2.error_code, n)
            else:
                out += p_h(m2.error_code)
                uvarint(out, n)
            out += b
            b = m2.resource_name.encode()
            n = len(b) + 1
            if n < 128:
                out += p_bB(m2.resource_type, n)
            else:
                out += p_b(m2.resource_type)
                uvarint(out, n)
            out += b
            b = m2.principal.encode()
            n = len(b) + 1
            if n < 128:
                out += p_bB(m2.pattern_type, n)
            else:
                out += p_b(m2.pattern_type)
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
