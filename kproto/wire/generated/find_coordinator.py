"""FindCoordinator: API key 10, versions 0-6. Written by kproto.wire.generator: do not edit."""

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
p_bx = Struct(">bx").pack
p_h = Struct(">h").pack
p_hih = Struct(">hih").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_ihh = Struct(">ihh").pack
p_ix = Struct(">ix").pack
u_b = Struct(">b").unpack_from
u_bB = Struct(">bB").unpack_from
u_h = Struct(">h").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ih = Struct(">ih").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_ihh = Struct(">ihh").unpack_from


class FindCoordinatorRequest(WireStruct):
    __slots__ = ('key', 'key_type', 'coordinator_keys',)
    key: str
    key_type: int
    coordinator_keys: list[str]

    def __init__(
        self,
        key: str = '',
        key_type: int = 0,
        coordinator_keys: list[str] = EMPTY,
    ) -> None:
        self.key = key
        self.key_type = key_type
        self.coordinator_keys = [] if coordinator_keys is EMPTY else coordinator_keys


def parse_request_v0(buf: Buf, pos: int) -> tuple[FindCoordinatorRequest, int]:
    m = new(FindCoordinatorRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.key = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('FindCoordinatorRequest.key')
    m.key_type = 0
    m.coordinator_keys = []
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[FindCoordinatorRequest, int]:
    m = new(FindCoordinatorRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.key = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('FindCoordinatorRequest.key')
    m.key_type = u_b(buf, pos)[0]
    pos += 1
    m.coordinator_keys = []
    return m, pos


def parse_request_v3(buf: Buf, pos: int) -> tuple[FindCoordinatorRequest, int]:
    m = new(FindCoordinatorRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.key = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('FindCoordinatorRequest.key')
    m.key_type = u_b(buf, pos)[0]
    pos += 1
    m.coordinator_keys = []
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v4(buf: Buf, pos: int) -> tuple[FindCoordinatorRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(FindCoordinatorRequest)
    m.key = ''
    m.key_type, n = u_bB(buf, pos)
    pos += 2
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('FindCoordinatorRequest.coordinator_keys', n)
        m.coordinator_keys = a1 = []
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
                raise bad_length('FindCoordinatorRequest.s')
            a1.append(s)
    else:
        raise bad_length('FindCoordinatorRequest.coordinator_keys')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
    2: parse_request_v1,
    3: parse_request_v3,
    4: parse_request_v4,
    5: parse_request_v4,
    6: parse_request_v4,
}


def write_request_v0(m: FindCoordinatorRequest, out: bytearray) -> None:
    b = m.key.encode()
    n = len(b)
    out += p_h(n)
    out += b


def write_request_v1(m: FindCoordinatorRequest, out: bytearray) -> None:
    b = m.key.encode()
    n = len(b)
    out += p_h(n)
    out += b
    out += p_b(m.key_type)


def write_request_v3(m: FindCoordinatorRequest, out: bytearray) -> None:
    b = m.key.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    out += p_bx(m.key_type)


def write_request_v4(m: FindCoordinatorRequest, out: bytearray) -> None:
    a1 = m.coordinator_keys
    n = len(a1) + 1
    if n < 128:
        out += p_bB(m.key_type, n)
    else:
        out += p_b(m.key_type)
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
    1: write_request_v1,
    2: write_request_v1,
    3: write_request_v3,
    4: write_request_v4,
    5: write_request_v4,
    6: write_request_v4,
}


class Coordinator(WireStruct):
    __slots__ = ('key', 'node_id', 'host', 'port', 'error_code', 'error_message',)
    key: str
    node_id: int
    host: str
    port: int
    error_code: int
    error_message: str | None

    def __init__(
        self,
        key: str = '',
        node_id: int = 0,
        host: str = '',
        port: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
    ) -> None:
        self.key = key
        self.node_id = node_id
        self.host = host
        self.port = port
        self.error_code = error_code
        self.error_message = error_message


class FindCoordinatorResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'node_id', 'host', 'port', 'coordinators',)
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    node_id: int
    host: str
    port: int
    coordinators: list[Coordinator]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
        node_id: int = 0,
        host: str = '',
        port: int = 0,
        coordinators: list[Coordinator] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.node_id = node_id
        self.host = host
        self.port = port
        self.coordinators = [] if coordinators is EMPTY else coordinators


def parse_response_v0(buf: Buf, pos: int) -> tuple[FindCoordinatorResponse, int]:
    m = new(FindCoordinatorResponse)
    m.throttle_time_ms = 0
    m.error_code = u_h(buf, pos)[0]
    pos += 2
    m.error_message = ''
    m.node_id, n = u_ih(buf, pos)
    pos += 6
    if n >= 0:
        end = pos + n
        m.host = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('FindCoordinatorResponse.host')
    m.port = u_i(buf, pos)[0]
    pos += 4
    m.coordinators = []
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[FindCoordinatorResponse, int]:
    m = new(FindCoordinatorResponse)
    m.throttle_time_ms, m.error_code, n = u_ihh(buf, pos)
    pos += 8
    if n >= 0:
        end = pos + n
        m.error_message = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.error_message = None
    else:
        raise bad_length('FindCoordinatorResponse.error_message')
    m.node_id, n = u_ih(buf, pos)
    pos += 6
    if n >= 0:
        end = pos + n
        m.host = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('FindCoordinatorResponse.host')
    m.port = u_i(buf, pos)[0]
    pos += 4
    m.coordinators = []
    return m, pos


def parse_response_v3(buf: Buf, pos: int) -> tuple[FindCoordinatorResponse, int]:
    m = new(FindCoordinatorResponse)
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
    m.node_id, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.host = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('FindCoordinatorResponse.host')
    m.port = u_i(buf, pos)[0]
    pos += 4
    m.coordinators = []
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v4(buf: Buf, pos: int) -> tuple[FindCoordinatorResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(FindCoordinatorResponse)
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
    m.error_code = 0
    m.error_message = ''
    m.node_id = 0
    m.host = ''
    m.port = 0
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 14 > size - pos:
            raise bad_count('FindCoordinatorResponse.coordinators', n)
        m.coordinators = a1 = []
        for _ in range(n):
            m1 = new(Coordinator)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.key = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('FindCoordinatorResponse.key')
            m1.node_id, n = u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('FindCoordinatorResponse.host')
            m1.port, m1.error_code, n = u_ihB(buf, pos)
            pos += 7
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
        raise bad_length('FindCoordinatorResponse.coordinators')
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
    5: parse_response_v4,
    6: parse_response_v4,
}


def write_response_v0(m: FindCoordinatorResponse, out: bytearray) -> None:
    b = m.host.encode()
    n = len(b)
    out += p_hih(m.error_code, m.node_id, n)
    out += b
    out += p_i(m.port)


def write_response_v1(m: FindCoordinatorResponse, out: bytearray) -> None:
    b = m.error_message
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_ihh(m.throttle_time_ms, m.error_code, n)
    out += b
    b = m.host.encode()
    n = len(b)
    out += p_ih(m.node_id, n)
    out += b
    out += p_i(m.port)


def write_response_v3(m: FindCoordinatorResponse, out: bytearray) -> None:
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
    b = m.host.encode()
    n = len(b) + 1
    if n < 128:
        out += p_iB(m.node_id, n)
    else:
        out += p_i(m.node_id)
        uvarint(out, n)
    out += b
    out += p_ix(m.port)


def write_response_v4(m: FindCoordinatorResponse, out: bytearray) -> None:
    a1 = m.coordinators
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.key.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.host.encode()
        n = len(b) + 1
        if n < 128:
            out += p_iB(m1.node_id, n)
        else:
            out += p_i(m1.node_id)
            uvarint(out, n)
        out += b
        b = m1.error_message
        if b is None:
            b = b""
            n = 0
        else:
            b = b.encode()
            n = len(b) + 1
        if n < 128:
            out += p_ihB(m1.port, m1.error_code, n)
        else:
            out += p_ih(m1.port, m1.error_code)
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
    5: write_response_v4,
    6: write_response_v4,
}
