"""DescribeConfigs: API key 32, versions 1-4. Written by kproto.wire.generator: do not edit."""

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
p_tt = Struct(">??").pack
p_ttx = Struct(">??x").pack
p_tbt = Struct(">?b?").pack
p_tbtB = Struct(">?b?B").pack
p_tbti = Struct(">?b?i").pack
p_b = Struct(">b").pack
p_bB = Struct(">bB").pack
p_bh = Struct(">bh").pack
p_bx = Struct(">bx").pack
p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_hh = Struct(">hh").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ii = Struct(">ii").pack
u_tt = Struct(">??").unpack_from
u_ttB = Struct(">??B").unpack_from
u_tbtB = Struct(">?b?B").unpack_from
u_tbti = Struct(">?b?i").unpack_from
u_b = Struct(">b").unpack_from
u_bB = Struct(">bB").unpack_from
u_bh = Struct(">bh").unpack_from
u_h = Struct(">h").unpack_from
u_hB = Struct(">hB").unpack_from
u_hh = Struct(">hh").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ii = Struct(">ii").unpack_from


class DescribeConfigsResource(WireStruct):
    __slots__ = ('resource_type', 'resource_name', 'configuration_keys',)
    resource_type: int
    resource_name: str
    configuration_keys: list[str] | None

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = '',
        configuration_keys: list[str] | None = EMPTY,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configuration_keys = [] if configuration_keys is EMPTY else configuration_keys


class DescribeConfigsRequest(WireStruct):
    __slots__ = ('resources', 'include_synonyms', 'include_documentation',)
    resources: list[DescribeConfigsResource]
    include_synonyms: bool
    include_documentation: bool

    def __init__(
        self,
        resources: list[DescribeConfigsResource] = EMPTY,
        include_synonyms: bool = False,
        include_documentation: bool = False,
    ) -> None:
        self.resources = [] if resources is EMPTY else resources
        self.include_synonyms = include_synonyms
        self.include_documentation = include_documentation


def parse_request_v1(buf: Buf, pos: int) -> tuple[DescribeConfigsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DescribeConfigsRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 7 > size - pos:
            raise bad_count('DescribeConfigsRequest.resources', n)
        m.resources = a1 = []
        for _ in range(n):
            m1 = new(DescribeConfigsResource)
            a1.append(m1)
            m1.resource_type, n = u_bh(buf, pos)
            pos += 3
            if n >= 0:
                end = pos + n
                m1.resource_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeConfigsRequest.resource_name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 2 > size - pos:
                    raise bad_count('DescribeConfigsRequest.configuration_keys', n)
                m1.configuration_keys = a2 = []
                for _ in range(n):
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        s = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeConfigsRequest.s')
                    a2.append(s)
            elif n == -1:
                m1.configuration_keys = None
            else:
                raise bad_length('DescribeConfigsRequest.configuration_keys')
    else:
        raise bad_length('DescribeConfigsRequest.resources')
    m.include_synonyms = buf[pos] != 0
    pos += 1
    m.include_documentation = False
    return m, pos


def parse_request_v3(buf: Buf, pos: int) -> tuple[DescribeConfigsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DescribeConfigsRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 7 > size - pos:
            raise bad_count('DescribeConfigsRequest.resources', n)
        m.resources = a1 = []
        for _ in range(n):
            m1 = new(DescribeConfigsResource)
            a1.append(m1)
            m1.resource_type, n = u_bh(buf, pos)
            pos += 3
            if n >= 0:
                end = pos + n
                m1.resource_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeConfigsRequest.resource_name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 2 > size - pos:
                    raise bad_count('DescribeConfigsRequest.configuration_keys', n)
                m1.configuration_keys = a2 = []
                for _ in range(n):
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        s = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeConfigsRequest.s')
                    a2.append(s)
            elif n == -1:
                m1.configuration_keys = None
            else:
                raise bad_length('DescribeConfigsRequest.configuration_keys')
    else:
        raise bad_length('DescribeConfigsRequest.resources')
    m.include_synonyms, m.include_documentation = u_tt(buf, pos)
    pos += 2
    return m, pos


def parse_request_v4(buf: Buf, pos: int) -> tuple[DescribeConfigsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DescribeConfigsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 4 > size - pos:
            raise bad_count('DescribeConfigsRequest.resources', n)
        m.resources = a1 = []
        for _ in range(n):
            m1 = new(DescribeConfigsResource)
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
                raise bad_length('DescribeConfigsRequest.resource_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n > size - pos:
                    raise bad_count('DescribeConfigsRequest.configuration_keys', n)
                m1.configuration_keys = a2 = []
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
                        raise bad_length('DescribeConfigsRequest.s')
                    a2.append(s)
            else:
                m1.configuration_keys = None
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeConfigsRequest.resources')
    m.include_synonyms, m.include_documentation, n = u_ttB(buf, pos)
    pos += 3
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    1: parse_request_v1,
    2: parse_request_v1,
    3: parse_request_v3,
    4: parse_request_v4,
}


def write_request_v1(m: DescribeConfigsRequest, out: bytearray) -> None:
    a1 = m.resources
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.resource_name.encode()
        n = len(b)
        out += p_bh(m1.resource_type, n)
        out += b
        a2 = m1.configuration_keys
        if a2 is None:
            a2 = ()
            n = -1
        else:
            n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.encode()
            n = len(b)
            out += p_h(n)
            out += b
    out += p_t(m.include_synonyms)


def write_request_v3(m: DescribeConfigsRequest, out: bytearray) -> None:
    a1 = m.resources
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.resource_name.encode()
        n = len(b)
        out += p_bh(m1.resource_type, n)
        out += b
        a2 = m1.configuration_keys
        if a2 is None:
            a2 = ()
            n = -1
        else:
            n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.encode()
            n = len(b)
            out += p_h(n)
            out += b
    out += p_tt(m.include_synonyms, m.include_documentation)


def write_request_v4(m: DescribeConfigsRequest, out: bytearray) -> None:
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
        a2 = m1.configuration_keys
        if a2 is None:
            a2 = ()
            n = 0
        else:
            n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
        out.append(0)
    out += p_ttx(m.include_synonyms, m.include_documentation)


WRITE_REQUEST = {
    1: write_request_v1,
    2: write_request_v1,
    3: write_request_v3,
    4: write_request_v4,
}


class DescribeConfigsSynonym(WireStruct):
    __slots__ = ('name', 'value', 'source',)
    name: str
    value: str | None
    source: int

    def __init__(
        self,
        name: str = '',
        value: str | None = '',
        source: int = 0,
    ) -> None:
        self.name = name
        self.value = value
        self.source = source


class DescribeConfigsResourceResult(WireStruct):
    __slots__ = ('name', 'value', 'read_only', 'config_source', 'is_sensitive', 'synonyms', 'config_type', 'documentation',)
    name: str
    value: str | None
    read_only: bool
    config_source: int
    is_sensitive: bool
    synonyms: list[DescribeConfigsSynonym]
    config_type: int
    documentation: str | None

    def __init__(
        self,
        name: str = '',
        value: str | None = '',
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
        synonyms: list[DescribeConfigsSynonym] = EMPTY,
        config_type: int = 0,
        documentation: str | None = '',
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive
        self.synonyms = [] if synonyms is EMPTY else synonyms
        self.config_type = config_type
        self.documentation = documentation


class DescribeConfigsResult(WireStruct):
    __slots__ = ('error_code', 'error_message', 'resource_type', 'resource_name', 'configs',)
    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str
    configs: list[DescribeConfigsResourceResult]

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = '',
        resource_type: int = 0,
        resource_name: str = '',
        configs: list[DescribeConfigsResourceResult] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = [] if configs is EMPTY else configs


class DescribeConfigsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'results',)
    throttle_time_ms: int
    results: list[DescribeConfigsResult]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[DescribeConfigsResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is EMPTY else results


def parse_response_v1(buf: Buf, pos: int) -> tuple[DescribeConfigsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeConfigsResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 11 > size - pos:
            raise bad_count('DescribeConfigsResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(DescribeConfigsResult)
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
                raise bad_length('DescribeConfigsResponse.error_message')
            m1.resource_type, n = u_bh(buf, pos)
            pos += 3
            if n >= 0:
                end = pos + n
                m1.resource_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeConfigsResponse.resource_name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 11 > size - pos:
                    raise bad_count('DescribeConfigsResponse.configs', n)
                m1.configs = a2 = []
                for _ in range(n):
                    m2 = new(DescribeConfigsResourceResult)
                    a2.append(m2)
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeConfigsResponse.name')
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.value = str(buf[pos:end], "utf-8")
                        pos = end
                    elif n == -1:
                        m2.value = None
                    else:
                        raise bad_length('DescribeConfigsResponse.value')
                    m2.read_only, m2.config_source, m2.is_sensitive, n = u_tbti(buf, pos)
                    pos += 7
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 5 > size - pos:
                            raise bad_count('DescribeConfigsResponse.synonyms', n)
                        m2.synonyms = a3 = []
                        for _ in range(n):
                            m3 = new(DescribeConfigsSynonym)
                            a3.append(m3)
                            n = u_h(buf, pos)[0]
                            pos += 2
                            if n >= 0:
                                end = pos + n
                                m3.name = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                raise bad_length('DescribeConfigsResponse.name')
                            n = u_h(buf, pos)[0]
                            pos += 2
                            if n >= 0:
                                end = pos + n
                                m3.value = str(buf[pos:end], "utf-8")
                                pos = end
                            elif n == -1:
                                m3.value = None
                            else:
                                raise bad_length('DescribeConfigsResponse.value')
                            m3.source = u_b(buf, pos)[0]
                            pos += 1
                    else:
                        raise bad_length('DescribeConfigsResponse.synonyms')
                    m2.config_type = 0
                    m2.documentation = ''
            else:
                raise bad_length('DescribeConfigsResponse.configs')
    else:
        raise bad_length('DescribeConfigsResponse.results')
    return m, pos


def parse_response_v3(buf: Buf, pos: int) -> tuple[DescribeConfigsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeConfigsResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 11 > size - pos:
            raise bad_count('DescribeConfigsResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(DescribeConfigsResult)
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
                raise bad_length('DescribeConfigsResponse.error_message')
            m1.resource_type, n = u_bh(buf, pos)
            pos += 3
            if n >= 0:
                end = pos + n
                m1.resource_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeConfigsResponse.resource_name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 14 > size - pos:
                    raise bad_count('DescribeConfigsResponse.configs', n)
                m1.configs = a2 = []
                for _ in range(n):
                    m2 = new(DescribeConfigsResourceResult)
                    a2.append(m2)
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeConfigsResponse.name')
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.value = str(buf[pos:end], "utf-8")
                        pos = end
                    elif n == -1:
                        m2.value = None
                    else:
                        raise bad_length('DescribeConfigsResponse.value')
                    m2.read_only, m2.config_source, m2.is_sensitive, n = u_tbti(buf, pos)
                    pos += 7
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 5 > size - pos:
                            raise bad_count('DescribeConfigsResponse.synonyms', n)
                        m2.synonyms = a3 = []
                        for _ in range(n):
                            m3 = new(DescribeConfigsSynonym)
                            a3.append(m3)
                            n = u_h(buf, pos)[0]
                            pos += 2
                            if n >= 0:
                                end = pos + n
                                m3.name = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                raise bad_length('DescribeConfigsResponse.name')
                            n = u_h(buf, pos)[0]
                            pos += 2
                            if n >= 0:
                                end = pos + n
                                m3.value = str(buf[pos:end], "utf-8")
                                pos = end
                            elif n == -1:
                                m3.value = None
                            else:
                                raise bad_length('DescribeConfigsResponse.value')
                            m3.source = u_b(buf, pos)[0]
                            pos += 1
                    else:
                        raise bad_length('DescribeConfigsResponse.synonyms')
                    m2.config_type, n = u_bh(buf, pos)
                    pos += 3
                    if n >= 0:
                        end = pos + n
                        m2.documentation = str(buf[pos:end], "utf-8")
                        pos = end
                    elif n == -1:
                        m2.documentation = None
                    else:
                        raise bad_length('DescribeConfigsResponse.documentation')
            else:
                raise bad_length('DescribeConfigsResponse.configs')
    else:
        raise bad_length('DescribeConfigsResponse.results')
    return m, pos


def parse_response_v4(buf: Buf, pos: int) -> tuple[DescribeConfigsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeConfigsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 7 > size - pos:
            raise bad_count('DescribeConfigsResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(DescribeConfigsResult)
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
            m1.resource_type, n = u_bB(buf, pos)
            pos += 2
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.resource_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeConfigsResponse.resource_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 9 > size - pos:
                    raise bad_count('DescribeConfigsResponse.configs', n)
                m1.configs = a2 = []
                for _ in range(n):
                    m2 = new(DescribeConfigsResourceResult)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeConfigsResponse.name')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.value = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.value = None
                    m2.read_only, m2.config_source, m2.is_sensitive, n = u_tbtB(buf, pos)
                    pos += 4
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('DescribeConfigsResponse.synonyms', n)
                        m2.synonyms = a3 = []
                        for _ in range(n):
                            m3 = new(DescribeConfigsSynonym)
                            a3.append(m3)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m3.name = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                raise bad_length('DescribeConfigsResponse.name')
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m3.value = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                m3.value = None
                            m3.source, n = u_bB(buf, pos)
                            pos += 2
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('DescribeConfigsResponse.synonyms')
                    m2.config_type, n = u_bB(buf, pos)
                    pos += 2
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.documentation = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.documentation = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeConfigsResponse.configs')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeConfigsResponse.results')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    1: parse_response_v1,
    2: parse_response_v1,
    3: parse_response_v3,
    4: parse_response_v4,
}


def write_response_v1(m: DescribeConfigsResponse, out: bytearray) -> None:
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
        b = m1.resource_name.encode()
        n = len(b)
        out += p_bh(m1.resource_type, n)
        out += b
        a2 = m1.configs
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.name.encode()
            n = len(b)
            out += p_h(n)
            out += b
            b = m2.value
            if b is None:
                b = b""
                n = -1
            else:
                b = b.encode()
                n = len(b)
            out += p_h(n)
            out += b
            a3 = m2.synonyms
            n = len(a3)
            out += p_tbti(m2.read_only, m2.config_source, m2.is_sensitive, n)
            for m3 in a3:
                b = m3.name.encode()
                n = len(b)
                out += p_h(n)
                out += b
                b = m3.value
                if b is None:
                    b = b""
                    n = -1
                else:
                    b = b.encode()
                    n = len(b)
                out += p_h(n)
                out += b
                out += p_b(m3.source)


def write_response_v3(m: DescribeConfigsResponse, out: bytearray) -> None:
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
        b = m1.resource_name.encode()
        n = len(b)
        out += p_bh(m1.resource_type, n)
        out += b
        a2 = m1.configs
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.name.encode()
            n = len(b)
            out += p_h(n)
            out += b
            b = m2.value
            if b is None:
                b = b""
                n = -1
            else:
                b = b.encode()
                n = len(b)
            out += p_h(n)
            out += b
            a3 = m2.synonyms
            n = len(a3)
            out += p_tbti(m2.read_only, m2.config_source, m2.is_sensitive, n)
            for m3 in a3:
                b = m3.name.encode()
                n = len(b)
                out += p_h(n)
                out += b
                b = m3.value
                if b is None:
                    b = b""
                    n = -1
                else:
                    b = b.encode()
                    n = len(b)
                out += p_h(n)
                out += b
                out += p_b(m3.source)
            b = m2.documentation
            if b is None:
                b = b""
                n = -1
            else:
                b = b.encode()
                n = len(b)
            out += p_bh(m2.config_type, n)
            out += b


def write_response_v4(m: DescribeConfigsResponse, out: bytearray) -> None:
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
        b = m1.resource_name.encode()
        n = len(b) + 1
        if n < 128:
            out += p_bB(m1.resource_type, n)
        else:
            out += p_b(m1.resource_type)
            uvarint(out, n)
        out += b
        a2 = m1.configs
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.name.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.value
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
            a3 = m2.synonyms
            n = len(a3) + 1
            if n < 128:
                out += p_tbtB(m2.read_only, m2.config_source, m2.is_sensitive, n)
            else:
                out += p_tbt(m2.read_only, m2.config_source, m2.is_sensitive)
                uvarint(out, n)
            for m3 in a3:
                b = m3.name.encode()
                n = len(b) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += b
                b = m3.value
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
                out += p_bx(m3.source)
            b = m2.documentation
            if b is None:
                b = b""
                n = 0
            else:
                b = b.encode()
                n = len(b) + 1
            if n < 128:
                out += p_bB(m2.config_type, n)
            else:
                out += p_b(m2.config_type)
                uvarint(out, n)
            out += b
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    1: write_response_v1,
    2: write_response_v1,
    3: write_response_v3,
    4: write_response_v4,
}
