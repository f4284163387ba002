"""IncrementalAlterConfigs: API key 44, versions 0-1. Written by kproto.wire.generator: do not edit."""

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
p_b = Struct(">b").pack
p_bB = Struct(">bB").pack
p_bh = Struct(">bh").pack
p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_hh = Struct(">hh").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ii = Struct(">ii").pack
u_tB = Struct(">?B").unpack_from
u_bB = Struct(">bB").unpack_from
u_bh = Struct(">bh").unpack_from
u_h = Struct(">h").unpack_from
u_hB = Struct(">hB").unpack_from
u_hh = Struct(">hh").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ii = Struct(">ii").unpack_from


class AlterableConfig(WireStruct):
    __slots__ = ('name', 'config_operation', 'value',)
    name: str
    config_operation: int
    value: str | None

    def __init__(
        self,
        name: str = '',
        config_operation: int = 0,
        value: str | None = '',
    ) -> None:
        self.name = name
        self.config_operation = config_operation
        self.value = value


class AlterConfigsResource(WireStruct):
    __slots__ = ('resource_type', 'resource_name', 'configs',)
    resource_type: int
    resource_name: str
    configs: list[AlterableConfig]

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = '',
        configs: list[AlterableConfig] = EMPTY,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = [] if configs is EMPTY else configs


class IncrementalAlterConfigsRequest(WireStruct):
    __slots__ = ('resources', 'validate_only',)
    resources: list[AlterConfigsResource]
    validate_only: bool

    def __init__(
        self,
        resources: list[AlterConfigsResource] = EMPTY,
        validate_only: bool = False,
    ) -> None:
        self.resources = [] if resources is EMPTY else resources
        self.validate_only = validate_only


def parse_request_v0(buf: Buf, pos: int) -> tuple[IncrementalAlterConfigsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(IncrementalAlterConfigsRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 7 > size - pos:
            raise bad_count('IncrementalAlterConfigsRequest.resources', n)
        m.resources = a1 = []
        for _ in range(n):
            m1 = new(AlterConfigsResource)
            a1.append(m1)
            m1.resource_type, n = u_bh(buf, pos)
            pos += 3
            if n >= 0:
                end = pos + n
                m1.resource_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('IncrementalAlterConfigsRequest.resource_name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 5 > size - pos:
                    raise bad_count('IncrementalAlterConfigsRequest.configs', n)
                m1.configs = a2 = []
                for _ in range(n):
                    m2 = new(AlterableConfig)
                    a2.append(m2)
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('IncrementalAlterConfigsRequest.name')
                    m2.config_operation, n = u_bh(buf, pos)
                    pos += 3
                    if n >= 0:
                        end = pos + n
                        m2.value = str(buf[pos:end], "utf-8")
                        pos = end
                    elif n == -1:
                        m2.value = None
                    else:
                        raise bad_length('IncrementalAlterConfigsRequest.value')
            else:
                raise bad_length('IncrementalAlterConfigsRequest.configs')
    else:
        raise bad_length('IncrementalAlterConfigsRequest.resources')
    m.validate_only = buf[pos] != 0
    pos += 1
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[IncrementalAlterConfigsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(IncrementalAlterConfigsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 4 > size - pos:
            raise bad_count('IncrementalAlterConfigsRequest.resources', n)
        m.resources = a1 = []
        for _ in range(n):
            m1 = new(AlterConfigsResource)
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
                raise bad_length('IncrementalAlterConfigsRequest.resource_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('IncrementalAlterConfigsRequest.configs', n)
                m1.configs = a2 = []
                for _ in range(n):
                    m2 = new(AlterableConfig)
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
                        raise bad_length('IncrementalAlterConfigsRequest.name')
                    m2.config_operation, n = u_bB(buf, pos)
                    pos += 2
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.value = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.value = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('IncrementalAlterConfigsRequest.configs')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('IncrementalAlterConfigsRequest.resources')
    m.validate_only, n = u_tB(buf, pos)
    pos += 2
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
}


def write_request_v0(m: IncrementalAlterConfigsRequest, out: bytearray) -> None:
    a1 = m.resources
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
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
            out += p_bh(m2.config_operation, n)
            out += b
    out += p_t(m.validate_only)


def write_request_v1(m: IncrementalAlterConfigsRequest, out: bytearray) -> None:
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
                out += p_bB(m2.config_operation, n)
            else:
                out += p_b(m2.config_operation)
                uvarint(out, n)
            out += b
            out.append(0)
        out.append(0)
    out += p_tx(m.validate_only)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v1,
}


class AlterConfigsResourceResponse(WireStruct):
    __slots__ = ('error_code', 'error_message', 'resource_type', 'resource_name',)
    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = '',
        resource_type: int = 0,
        resource_name: str = '',
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name


class IncrementalAlterConfigsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'responses',)
    throttle_time_ms: int
    responses: list[AlterConfigsResourceResponse]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: list[AlterConfigsResourceResponse] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = [] if responses is EMPTY else responses


def parse_response_v0(buf: Buf, pos: int) -> tuple[IncrementalAlterConfigsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(IncrementalAlterConfigsResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 7 > size - pos:
            raise bad_count('IncrementalAlterConfigsResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(AlterConfigsResourceResponse)
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
                raise bad_length('IncrementalAlterConfigsResponse.error_message')
            m1.resource_type, n = u_bh(buf, pos)
            pos += 3
            if n >= 0:
                end = pos + n
                m1.resource_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('IncrementalAlterConfigsResponse.resource_name')
    else:
        raise bad_length('IncrementalAlterConfigsResponse.responses')
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[IncrementalAlterConfigsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(IncrementalAlterConfigsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('IncrementalAlterConfigsResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(AlterConfigsResourceResponse)
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
                raise bad_length('IncrementalAlterConfigsResponse.resource_name')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('IncrementalAlterConfigsResponse.responses')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v1,
}


def write_response_v0(m: IncrementalAlterConfigsResponse, out: bytearray) -> None:
    a1 = m.responses
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


def write_response_v1(m: IncrementalAlterConfigsResponse, out: bytearray) -> None:
    a1 = m.responses
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
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v1,
}
