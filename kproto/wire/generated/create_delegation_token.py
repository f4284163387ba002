"""CreateDelegationToken: API key 38, versions 1-3. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    EMPTY,
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
p_hB = Struct(">hB").pack
p_hh = Struct(">hh").pack
p_i = Struct(">i").pack
p_ix = Struct(">ix").pack
p_q = Struct(">q").pack
p_qqq = Struct(">qqq").pack
p_qqqB = Struct(">qqqB").pack
p_qqqh = Struct(">qqqh").pack
p_qx = Struct(">qx").pack
u_h = Struct(">h").unpack_from
u_hB = Struct(">hB").unpack_from
u_hh = Struct(">hh").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_q = Struct(">q").unpack_from
u_qB = Struct(">qB").unpack_from
u_qqqB = Struct(">qqqB").unpack_from
u_qqqh = Struct(">qqqh").unpack_from


class CreatableRenewers(WireStruct):
    __slots__ = ('principal_type', 'principal_name',)
    principal_type: str
    principal_name: str

    def __init__(
        self,
        principal_type: str = '',
        principal_name: str = '',
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name


class CreateDelegationTokenRequest(WireStruct):
    __slots__ = ('owner_principal_type', 'owner_principal_name', 'renewers', 'max_lifetime_ms',)
    owner_principal_type: str | None
    owner_principal_name: str | None
    renewers: list[CreatableRenewers]
    max_lifetime_ms: int

    def __init__(
        self,
        owner_principal_type: str | None = '',
        owner_principal_name: str | None = '',
        renewers: list[CreatableRenewers] = EMPTY,
        max_lifetime_ms: int = 0,
    ) -> None:
        self.owner_principal_type = owner_principal_type
        self.owner_principal_name = owner_principal_name
        self.renewers = [] if renewers is EMPTY else renewers
        self.max_lifetime_ms = max_lifetime_ms


def parse_request_v1(buf: Buf, pos: int) -> tuple[CreateDelegationTokenRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(CreateDelegationTokenRequest)
    m.owner_principal_type = ''
    m.owner_principal_name = ''
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 4 > size - pos:
            raise bad_count('CreateDelegationTokenRequest.renewers', n)
        m.renewers = a1 = []
        for _ in range(n):
            m1 = new(CreatableRenewers)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.principal_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('CreateDelegationTokenRequest.principal_type')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.principal_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('CreateDelegationTokenRequest.principal_name')
    else:
        raise bad_length('CreateDelegationTokenRequest.renewers')
    m.max_lifetime_ms = u_q(buf, pos)[0]
    pos += 8
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[CreateDelegationTokenRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(CreateDelegationTokenRequest)
    m.owner_principal_type = ''
    m.owner_principal_name = ''
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('CreateDelegationTokenRequest.renewers', n)
        m.renewers = a1 = []
        for _ in range(n):
            m1 = new(CreatableRenewers)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.principal_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('CreateDelegationTokenRequest.principal_type')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.principal_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('CreateDelegationTokenRequest.principal_name')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('CreateDelegationTokenRequest.renewers')
    m.max_lifetime_ms, n = u_qB(buf, pos)
    pos += 9
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v3(buf: Buf, pos: int) -> tuple[CreateDelegationTokenRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(CreateDelegationTokenRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.owner_principal_type = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.owner_principal_type = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.owner_principal_name = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.owner_principal_name = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('CreateDelegationTokenRequest.renewers', n)
        m.renewers = a1 = []
        for _ in range(n):
            m1 = new(CreatableRenewers)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.principal_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('CreateDelegationTokenRequest.principal_type')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.principal_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('CreateDelegationTokenRequest.principal_name')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('CreateDelegationTokenRequest.renewers')
    m.max_lifetime_ms, n = u_qB(buf, pos)
    pos += 9
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    1: parse_request_v1,
    2: parse_request_v2,
    3: parse_request_v3,
}


def write_request_v1(m: CreateDelegationTokenRequest, out: bytearray) -> None:
    a1 = m.renewers
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.principal_type.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.principal_name.encode()
        n = len(b)
        out += p_h(n)
        out += b
    out += p_q(m.max_lifetime_ms)


def write_request_v2(m: CreateDelegationTokenRequest, out: bytearray) -> None:
    a1 = m.renewers
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.principal_type.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.principal_name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out.append(0)
    out += p_qx(m.max_lifetime_ms)


def write_request_v3(m: CreateDelegationTokenRequest, out: bytearray) -> None:
    b = m.owner_principal_type
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
    b = m.owner_principal_name
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
    a1 = m.renewers
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.principal_type.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.principal_name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out.append(0)
    out += p_qx(m.max_lifetime_ms)


WRITE_REQUEST = {
    1: write_request_v1,
    2: write_request_v2,
    3: write_request_v3,
}


class CreateDelegationTokenResponse(WireStruct):
    __slots__ = ('error_code', 'principal_type', 'principal_name', 'token_requester_principal_type', 'token_requester_principal_name', 'issue_timestamp_ms', 'expiry_timestamp_ms', 'max_timestamp_ms', 'token_id', 'hmac', 'throttle_time_ms',)
    error_code: int
    principal_type: str
    principal_name: str
    token_requester_principal_type: str
    token_requester_principal_name: str
    issue_timestamp_ms: int
    expiry_timestamp_ms: int
    max_timestamp_ms: int
    token_id: str
    hmac: bytes
    throttle_time_ms: int

    def __init__(
        self,
        error_code: int = 0,
        principal_type: str = '',
        principal_name: str = '',
        token_requester_principal_type: str = '',
        token_requester_principal_name: str = '',
        issue_timestamp_ms: int = 0,
        expiry_timestamp_ms: int = 0,
        max_timestamp_ms: int = 0,
        token_id: str = '',
        hmac: bytes = b"",
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp_ms = issue_timestamp_ms
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.max_timestamp_ms = max_timestamp_ms
        self.token_id = token_id
        self.hmac = hmac
        self.throttle_time_ms = throttle_time_ms


def parse_response_v1(buf: Buf, pos: int) -> tuple[CreateDelegationTokenResponse, int]:
    m = new(CreateDelegationTokenResponse)
    m.error_code, n = u_hh(buf, pos)
    pos += 4
    if n >= 0:
        end = pos + n
        m.principal_type = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('CreateDelegationTokenResponse.principal_type')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.principal_name = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('CreateDelegationTokenResponse.principal_name')
    m.token_requester_principal_type = ''
    m.token_requester_principal_name = ''
    m.issue_timestamp_ms, m.expiry_timestamp_ms, m.max_timestamp_ms, n = u_qqqh(buf, pos)
    pos += 26
    if n >= 0:
        end = pos + n
        m.token_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('CreateDelegationTokenResponse.token_id')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        end = pos + n
        m.hmac = bytes(buf[pos:end])
        pos = end
    else:
        raise bad_length('CreateDelegationTokenResponse.hmac')
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[CreateDelegationTokenResponse, int]:
    m = new(CreateDelegationTokenResponse)
    m.error_code, n = u_hB(buf, pos)
    pos += 3
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.principal_type = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('CreateDelegationTokenResponse.principal_type')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.principal_name = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('CreateDelegationTokenResponse.principal_name')
    m.token_requester_principal_type = ''
    m.token_requester_principal_name = ''
    m.issue_timestamp_ms, m.expiry_timestamp_ms, m.max_timestamp_ms, n = u_qqqB(buf, pos)
    pos += 25
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.token_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('CreateDelegationTokenResponse.token_id')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.hmac = bytes(buf[pos:end])
        pos = end
    else:
        raise bad_length('CreateDelegationTokenResponse.hmac')
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v3(buf: Buf, pos: int) -> tuple[CreateDelegationTokenResponse, int]:
    m = new(CreateDelegationTokenResponse)
    m.error_code, n = u_hB(buf, pos)
    pos += 3
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.principal_type = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('CreateDelegationTokenResponse.principal_type')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.principal_name = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('CreateDelegationTokenResponse.principal_name')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.token_requester_principal_type = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('CreateDelegationTokenResponse.token_requester_principal_type')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.token_requester_principal_name = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('CreateDelegationTokenResponse.token_requester_principal_name')
    m.issue_timestamp_ms, m.expiry_timestamp_ms, m.max_timestamp_ms, n = u_qqqB(buf, pos)
    pos += 25
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.token_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('CreateDelegationTokenResponse.token_id')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.hmac = bytes(buf[pos:end])
        pos = end
    else:
        raise bad_length('CreateDelegationTokenResponse.hmac')
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    1: parse_response_v1,
    2: parse_response_v2,
    3: parse_response_v3,
}


def write_response_v1(m: CreateDelegationTokenResponse, out: bytearray) -> None:
    b = m.principal_type.encode()
    n = len(b)
    out += p_hh(m.error_code, n)
    out += b
    b = m.principal_name.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.token_id.encode()
    n = len(b)
    out += p_qqqh(m.issue_timestamp_ms, m.expiry_timestamp_ms, m.max_timestamp_ms, n)
    out += b
    b = m.hmac
    n = len(b)
    out += p_i(n)
    out += b
    out += p_i(m.throttle_time_ms)


def write_response_v2(m: CreateDelegationTokenResponse, out: bytearray) -> None:
    b = m.principal_type.encode()
    n = len(b) + 1
    if n < 128:
        out += p_hB(m.error_code, n)
    else:
        out += p_h(m.error_code)
        uvarint(out, n)
    out += b
    b = m.principal_name.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    b = m.token_id.encode()
    n = len(b) + 1
    if n < 128:
        out += p_qqqB(m.issue_timestamp_ms, m.expiry_timestamp_ms, m.max_timestamp_ms, n)
    else:
        out += p_qqq(m.issue_timestamp_ms, m.expiry_timestamp_ms, m.max_timestamp_ms)
        uvarint(out, n)
    out += b
    b = m.hmac
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    out += p_ix(m.throttle_time_ms)


def write_response_v3(m: CreateDelegationTokenResponse, out: bytearray) -> None:
    b = m.principal_type.encode()
    n = len(b) + 1
    if n < 128:
        out += p_hB(m.error_code, n)
    else:
        out += p_h(m.error_code)
        uvarint(out, n)
    out += b
    b = m.principal_name.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    b = m.token_requester_principal_type.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    b = m.token_requester_principal_name.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    b = m.token_id.encode()
    n = len(b) + 1
    if n < 128:
        out += p_qqqB(m.issue_timestamp_ms, m.expiry_timestamp_ms, m.max_timestamp_ms, n)
    else:
        out += p_qqq(m.issue_timestamp_ms, m.expiry_timestamp_ms, m.max_timestamp_ms)
        uvarint(out, n)
    out += b
    b = m.hmac
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    out += p_ix(m.throttle_time_ms)


WRITE_RESPONSE = {
    1: write_response_v1,
    2: write_response_v2,
    3: write_response_v3,
}
