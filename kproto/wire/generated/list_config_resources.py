"""ListConfigResources: API key 74, versions 0-1. Written by kproto.wire.generator: do not edit."""

from struct import Struct, pack, unpack_from

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

p_bx = Struct(">bx").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
u_bB = Struct(">bB").unpack_from
u_ihB = Struct(">ihB").unpack_from


class ListConfigResourcesRequest(WireStruct):
    __slots__ = ('resource_types',)
    resource_types: list[int]

    def __init__(
        self,
        resource_types: list[int] = EMPTY,
    ) -> None:
        self.resource_types = [] if resource_types is EMPTY else resource_types


def parse_request_v0(buf: Buf, pos: int) -> tuple[ListConfigResourcesRequest, int]:
    m = new(ListConfigResourcesRequest)
    m.resource_types = []
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[ListConfigResourcesRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ListConfigResourcesRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('ListConfigResourcesRequest.resource_types', n)
        m.resource_types = list(unpack_from(f">{n}b", buf, pos))
        pos += n
    else:
        raise bad_length('ListConfigResourcesRequest.resource_types')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
}


def write_request_v0(m: ListConfigResourcesRequest, out: bytearray) -> None:
    out.append(0)


def write_request_v1(m: ListConfigResourcesRequest, out: bytearray) -> None:
    a1 = m.resource_types
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += pack(f">{len(a1)}b", *a1)
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v1,
}


class ConfigResource(WireStruct):
    __slots__ = ('resource_name', 'resource_type',)
    resource_name: str
    resource_type: int

    def __init__(
        self,
        resource_name: str = '',
        resource_type: int = 16,
    ) -> None:
        self.resource_name = resource_name
        self.resource_type = resource_type


class ListConfigResourcesResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'config_resources',)
    throttle_time_ms: int
    error_code: int
    config_resources: list[ConfigResource]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        config_resources: list[ConfigResource] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.config_resources = [] if config_resources is EMPTY else config_resources


def parse_response_v0(buf: Buf, pos: int) -> tuple[ListConfigResourcesResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ListConfigResourcesResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 2 > size - pos:
            raise bad_count('ListConfigResourcesResponse.config_resources', n)
        m.config_resources = a1 = []
        for _ in range(n):
            m1 = new(ConfigResource)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.resource_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListConfigResourcesResponse.resource_name')
            m1.resource_type = 16
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ListConfigResourcesResponse.config_resources')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[ListConfigResourcesResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ListConfigResourcesResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('ListConfigResourcesResponse.config_resources', n)
        m.config_resources = a1 = []
        for _ in range(n):
            m1 = new(ConfigResource)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.resource_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListConfigResourcesResponse.resource_name')
            m1.resource_type, n = u_bB(buf, pos)
            pos += 2
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ListConfigResourcesResponse.config_resources')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v1,
}


def write_response_v0(m: ListConfigResourcesResponse, out: bytearray) -> None:
    a1 = m.config_resources
    n = len(a1) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
        uvarint(out, n)
    for m1 in a1:
        b = m1.resource_name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out.append(0)
    out.append(0)


def write_response_v1(m: ListConfigResourcesResponse, out: bytearray) -> None:
    a1 = m.config_resources
    n = len(a1) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
        uvarint(out, n)
    for m1 in a1:
        b = m1.resource_name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_bx(m1.resource_type)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v1,
}
