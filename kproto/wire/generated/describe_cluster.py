"""DescribeCluster: API key 60, versions 0-2. Written by kproto.wire.generator: do not edit."""

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

p_tbtx = Struct(">?b?x").pack
p_tbx = Struct(">?bx").pack
p_tx = Struct(">?x").pack
p_b = Struct(">b").pack
p_bB = Struct(">bB").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_ix = Struct(">ix").pack
u_tB = Struct(">?B").unpack_from
u_tb = Struct(">?b").unpack_from
u_tbtB = Struct(">?b?B").unpack_from
u_bB = Struct(">bB").unpack_from
u_iB = Struct(">iB").unpack_from
u_ihB = Struct(">ihB").unpack_from


class DescribeClusterRequest(WireStruct):
    __slots__ = ('include_cluster_authorized_operations', 'endpoint_type', 'include_fenced_brokers',)
    include_cluster_authorized_operations: bool
    endpoint_type: int
    include_fenced_brokers: bool

    def __init__(
        self,
        include_cluster_authorized_operations: bool = False,
        endpoint_type: int = 1,
        include_fenced_brokers: bool = False,
    ) -> None:
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.endpoint_type = endpoint_type
        self.include_fenced_brokers = include_fenced_brokers


def parse_request_v0(buf: Buf, pos: int) -> tuple[DescribeClusterRequest, int]:
    m = new(DescribeClusterRequest)
    m.include_cluster_authorized_operations = buf[pos] != 0
    pos += 1
    m.endpoint_type = 1
    m.include_fenced_brokers = False
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[DescribeClusterRequest, int]:
    m = new(DescribeClusterRequest)
    m.include_cluster_authorized_operations, m.endpoint_type = u_tb(buf, pos)
    pos += 2
    m.include_fenced_brokers = False
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[DescribeClusterRequest, int]:
    m = new(DescribeClusterRequest)
    m.include_cluster_authorized_operations, m.endpoint_type, m.include_fenced_brokers, n = u_tbtB(buf, pos)
    pos += 4
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
    2: parse_request_v2,
}


def write_request_v0(m: DescribeClusterRequest, out: bytearray) -> None:
    out += p_tx(m.include_cluster_authorized_operations)


def write_request_v1(m: DescribeClusterRequest, out: bytearray) -> None:
    out += p_tbx(m.include_cluster_authorized_operations, m.endpoint_type)


def write_request_v2(m: DescribeClusterRequest, out: bytearray) -> None:
    out += p_tbtx(m.include_cluster_authorized_operations, m.endpoint_type, m.include_fenced_brokers)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v1,
    2: write_request_v2,
}


class DescribeClusterBroker(WireStruct):
    __slots__ = ('broker_id', 'host', 'port', 'rack', 'is_fenced',)
    broker_id: int
    host: str
    port: int
    rack: str | None
    is_fenced: bool

    def __init__(
        self,
        broker_id: int = 0,
        host: str = '',
        port: int = 0,
        rack: str | None = None,
        is_fenced: bool = False,
    ) -> None:
        self.broker_id = broker_id
        self.host = host
        self.port = port
        self.rack = rack
        self.is_fenced = is_fenced


class DescribeClusterResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'endpoint_type', 'cluster_id', 'controller_id', 'brokers', 'cluster_authorized_operations',)
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    endpoint_type: int
    cluster_id: str
    controller_id: int
    brokers: list[DescribeClusterBroker]
    cluster_authorized_operations: int

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        endpoint_type: int = 1,
        cluster_id: str = '',
        controller_id: int = -1,
        brokers: list[DescribeClusterBroker] = EMPTY,
        cluster_authorized_operations: int = -2147483648,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.endpoint_type = endpoint_type
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.brokers = [] if brokers is EMPTY else brokers
        self.cluster_authorized_operations = cluster_authorized_operations


def parse_response_v0(buf: Buf, pos: int) -> tuple[DescribeClusterResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeClusterResponse)
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
    m.endpoint_type = 1
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('DescribeClusterResponse.cluster_id')
    m.controller_id, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 11 > size - pos:
            raise bad_count('DescribeClusterResponse.brokers', n)
        m.brokers = a1 = []
        for _ in range(n):
            m1 = new(DescribeClusterBroker)
            a1.append(m1)
            m1.broker_id, n = u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeClusterResponse.host')
            m1.port, n = u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.rack = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.rack = None
            m1.is_fenced = False
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeClusterResponse.brokers')
    m.cluster_authorized_operations, n = u_iB(buf, pos)
    pos += 5
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[DescribeClusterResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeClusterResponse)
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
    m.endpoint_type, n = u_bB(buf, pos)
    pos += 2
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('DescribeClusterResponse.cluster_id')
    m.controller_id, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 11 > size - pos:
            raise bad_count('DescribeClusterResponse.brokers', n)
        m.brokers = a1 = []
        for _ in range(n):
            m1 = new(DescribeClusterBroker)
            a1.append(m1)
            m1.broker_id, n = u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeClusterResponse.host')
            m1.port, n = u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.rack = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.rack = None
            m1.is_fenced = False
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeClusterResponse.brokers')
    m.cluster_authorized_operations, n = u_iB(buf, pos)
    pos += 5
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[DescribeClusterResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeClusterResponse)
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
    m.endpoint_type, n = u_bB(buf, pos)
    pos += 2
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('DescribeClusterResponse.cluster_id')
    m.controller_id, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 12 > size - pos:
            raise bad_count('DescribeClusterResponse.brokers', n)
        m.brokers = a1 = []
        for _ in range(n):
            m1 = new(DescribeClusterBroker)
            a1.append(m1)
            m1.broker_id, n = u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeClusterResponse.host')
            m1.port, n = u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.rack = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.rack = None
            m1.is_fenced, n = u_tB(buf, pos)
            pos += 2
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeClusterResponse.brokers')
    m.cluster_authorized_operations, n = u_iB(buf, pos)
    pos += 5
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v1,
    2: parse_response_v2,
}


def write_response_v0(m: DescribeClusterResponse, out: bytearray) -> None:
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
    b = m.cluster_id.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    a1 = m.brokers
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.controller_id, n)
    else:
        out += p_i(m.controller_id)
        uvarint(out, n)
    for m1 in a1:
        b = m1.host.encode()
        n = len(b) + 1
        if n < 128:
            out += p_iB(m1.broker_id, n)
        else:
            out += p_i(m1.broker_id)
            uvarint(out, n)
        out += b
        b = m1.rack
        if b is None:
            b = b""
            n = 0
        else:
            b = b.encode()
            n = len(b) + 1
        if n < 128:
            out += p_iB(m1.port, n)
        else:
            out += p_i(m1.port)
            uvarint(out, n)
        out += b
        out.append(0)
    out += p_ix(m.cluster_authorized_operations)


def write_response_v1(m: DescribeClusterResponse, out: bytearray) -> None:
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
    b = m.cluster_id.encode()
    n = len(b) + 1
    if n < 128:
        out += p_bB(m.endpoint_type, n)
    else:
        out += p_b(m.endpoint_type)
        uvarint(out, n)
    out += b
    a1 = m.brokers
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.controller_id, n)
    else:
        out += p_i(m.controller_id)
        uvarint(out, n)
    for m1 in a1:
        b = m1.host.encode()
        n = len(b) + 1
        if n < 128:
            out += p_iB(m1.broker_id, n)
        else:
            out += p_i(m1.broker_id)
            uvarint(out, n)
        out += b
        b = m1.rack
        if b is None:
            b = b""
            n = 0
        else:
            b = b.encode()
            n = len(b) + 1
        if n < 128:
            out += p_iB(m1.port, n)
        else:
            out += p_i(m1.port)
            uvarint(out, n)
        out += b
        out.append(0)
    out += p_ix(m.cluster_authorized_operations)


def write_response_v2(m: DescribeClusterResponse, out: bytearray) -> None:
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
    b = m.cluster_id.encode()
    n = len(b) + 1
    if n < 128:
        out += p_bB(m.endpoint_type, n)
    else:
        out += p_b(m.endpoint_type)
        uvarint(out, n)
    out += b
    a1 = m.brokers
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.controller_id, n)
    else:
        out += p_i(m.controller_id)
        uvarint(out, n)
    for m1 in a1:
        b = m1.host.encode()
        n = len(b) + 1
        if n < 128:
            out += p_iB(m1.broker_id, n)
        else:
            out += p_i(m1.broker_id)
            uvarint(out, n)
        out += b
        b = m1.rack
        if b is None:
            b = b""
            n = 0
        else:
            b = b.encode()
            n = len(b) + 1
        if n < 128:
            out += p_iB(m1.port, n)
        else:
            out += p_i(m1.port)
            uvarint(out, n)
        out += b
        out += p_tx(m1.is_fenced)
    out += p_ix(m.cluster_authorized_operations)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v1,
    2: write_response_v2,
}
