"""AddRaftVoter: API key 80, versions 0-1. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    EMPTY,
    MAX_REQUEST_ELEMENTS,
    ZERO_UUID,
    Buf,
    WireStruct,
    bad_count,
    bad_length,
    more,
    new,
    skip_tags,
    uvarint,
)

p_tx = Struct(">?x").pack
p_Hx = Struct(">Hx").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_iiU = Struct(">ii16s").pack
p_iiUB = Struct(">ii16sB").pack
u_tB = Struct(">?B").unpack_from
u_HB = Struct(">HB").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_iiUB = Struct(">ii16sB").unpack_from


class Listener(WireStruct):
    __slots__ = ('name', 'host', 'port',)
    name: str
    host: str
    port: int

    def __init__(
        self,
        name: str = '',
        host: str = '',
        port: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port


class AddRaftVoterRequest(WireStruct):
    __slots__ = ('cluster_id', 'timeout_ms', 'voter_id', 'voter_directory_id', 'listeners', 'ack_when_committed',)
    cluster_id: str | None
    timeout_ms: int
    voter_id: int
    voter_directory_id: bytes
    listeners: list[Listener]
    ack_when_committed: bool

    def __init__(
        self,
        cluster_id: str | None = '',
        timeout_ms: int = 0,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        listeners: list[Listener] = EMPTY,
        ack_when_committed: bool = True,
    ) -> None:
        self.cluster_id = cluster_id
        self.timeout_ms = timeout_ms
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.listeners = [] if listeners is EMPTY else listeners
        self.ack_when_committed = ack_when_committed


def parse_request_v0(buf: Buf, pos: int) -> tuple[AddRaftVoterRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(AddRaftVoterRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.cluster_id = None
    m.timeout_ms, m.voter_id, m.voter_directory_id, n = u_iiUB(buf, pos)
    pos += 25
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('AddRaftVoterRequest.listeners', n)
        m.listeners = a1 = []
        for _ in range(n):
            m1 = new(Listener)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('AddRaftVoterRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('AddRaftVoterRequest.host')
            m1.port, n = u_HB(buf, pos)
            pos += 3
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AddRaftVoterRequest.listeners')
    m.ack_when_committed = True
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[AddRaftVoterRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(AddRaftVoterRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.cluster_id = None
    m.timeout_ms, m.voter_id, m.voter_directory_id, n = u_iiUB(buf, pos)
    pos += 25
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('AddRaftVoterRequest.listeners', n)
        m.listeners = a1 = []
        for _ in range(n):
            m1 = new(Listener)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('AddRaftVoterRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('AddRaftVoterRequest.host')
            m1.port, n = u_HB(buf, pos)
            pos += 3
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AddRaftVoterRequest.listeners')
    m.ack_when_committed, n = u_tB(buf, pos)
    pos += 2
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
}


def write_request_v0(m: AddRaftVoterRequest, out: bytearray) -> None:
    b = m.cluster_id
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
    a1 = m.listeners
    n = len(a1) + 1
    if n < 128:
        out += p_iiUB(m.timeout_ms, m.voter_id, m.voter_directory_id, n)
    else:
        out += p_iiU(m.timeout_ms, m.voter_id, m.voter_directory_id)
        uvarint(out, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.host.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_Hx(m1.port)
    out.append(0)


def write_request_v1(m: AddRaftVoterRequest, out: bytearray) -> None:
    b = m.cluster_id
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
    a1 = m.listeners
    n = len(a1) + 1
    if n < 128:
        out += p_iiUB(m.timeout_ms, m.voter_id, m.voter_directory_id, n)
    else:
        out += p_iiU(m.timeout_ms, m.voter_id, m.voter_directory_id)
        uvarint(out, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.host.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_Hx(m1.port)
    out += p_tx(m.ack_when_committed)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v1,
}


class AddRaftVoterResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message',)
    throttle_time_ms: int
    error_code: int
    error_message: str | None

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message


def parse_response_v0(buf: Buf, pos: int) -> tuple[AddRaftVoterResponse, int]:
    m = new(AddRaftVoterResponse)
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
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v0,
}


def write_response_v0(m: AddRaftVoterResponse, out: bytearray) -> None:
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
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v0,
}
