"""DescribeDelegationToken: API key 41, versions 1-3. Written by kproto.wire.generator: do not edit."""

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

p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_hi = Struct(">hi").pack
p_i = Struct(">i").pack
p_ix = Struct(">ix").pack
p_qqq = Struct(">qqq").pack
p_qqqB = Struct(">qqqB").pack
p_qqqh = Struct(">qqqh").pack
u_h = Struct(">h").unpack_from
u_hB = Struct(">hB").unpack_from
u_hi = Struct(">hi").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_qqqB = Struct(">qqqB").unpack_from
u_qqqh = Struct(">qqqh").unpack_from


class DescribeDelegationTokenOwner(WireStruct):
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


class DescribeDelegationTokenRequest(WireStruct):
    __slots__ = ('owners',)
    owners: list[DescribeDelegationTokenOwner] | None

    def __init__(
        self,
        owners: list[DescribeDelegationTokenOwner] | None = EMPTY,
    ) -> None:
        self.owners = [] if owners is EMPTY else owners


def parse_request_v1(buf: Buf, pos: int) -> tuple[DescribeDelegationTokenRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DescribeDelegationTokenRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 4 > size - pos:
            raise bad_count('DescribeDelegationTokenRequest.owners', n)
        m.owners = a1 = []
        for _ in range(n):
            m1 = new(DescribeDelegationTokenOwner)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.principal_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeDelegationTokenRequest.principal_type')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.principal_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeDelegationTokenRequest.principal_name')
    elif n == -1:
        m.owners = None
    else:
        raise bad_length('DescribeDelegationTokenRequest.owners')
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[DescribeDelegationTokenRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DescribeDelegationTokenRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('DescribeDelegationTokenRequest.owners', n)
        m.owners = a1 = []
        for _ in range(n):
            m1 = new(DescribeDelegationTokenOwner)
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
                raise bad_length('DescribeDelegationTokenRequest.principal_type')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.principal_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeDelegationTokenRequest.principal_name')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.owners = None
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


def write_request_v1(m: DescribeDelegationTokenRequest, out: bytearray) -> None:
    a1 = m.owners
    if a1 is None:
        a1 = ()
        n = -1
    else:
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


def write_request_v2(m: DescribeDelegationTokenRequest, out: bytearray) -> None:
    a1 = m.owners
    if a1 is None:
        a1 = ()
        n = 0
    else:
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
    out.append(0)


WRITE_REQUEST = {
    1: write_request_v1,
    2: write_request_v2,
    3: write_request_v2,
}


class DescribedDelegationTokenRenewer(WireStruct):
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


class DescribedDelegationToken(WireStruct):
    __slots__ = ('principal_type', 'principal_name', 'token_requester_principal_type', 'token_requester_principal_name', 'issue_timestamp', 'expiry_timestamp', 'max_timestamp', 'token_id', 'hmac', 'renewers',)
    principal_type: str
    principal_name: str
    token_requester_principal_type: str
    token_requester_principal_name: str
    issue_timestamp: int
    expiry_timestamp: int
    max_timestamp: int
    token_id: str
    hmac: bytes
    renewers: list[DescribedDelegationTokenRenewer]

    def __init__(
        self,
        principal_type: str = '',
        principal_name: str = '',
        token_requester_principal_type: str = '',
        token_requester_principal_name: str = '',
        issue_timestamp: int = 0,
        expiry_timestamp: int = 0,
        max_timestamp: int = 0,
        token_id: str = '',
        hmac: bytes = b"",
        renewers: list[DescribedDelegationTokenRenewer] = EMPTY,
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp = issue_timestamp
        self.expiry_timestamp = expiry_timestamp
        self.max_timestamp = max_timestamp
        self.token_id = token_id
        self.hmac = hmac
        self.renewers = [] if renewers is EMPTY else renewers


class DescribeDelegationTokenResponse(WireStruct):
    __slots__ = ('error_code', 'tokens', 'throttle_time_ms',)
    error_code: int
    tokens: list[DescribedDelegationToken]
    throttle_time_ms: int

    def __init__(
        self,
        error_code: int = 0,
        tokens: list[DescribedDelegationToken] = EMPTY,
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.tokens = [] if tokens is EMPTY else tokens
        self.throttle_time_ms = throttle_time_ms


def parse_response_v1(buf: Buf, pos: int) -> tuple[DescribeDelegationTokenResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeDelegationTokenResponse)
    m.error_code, n = u_hi(buf, pos)
    pos += 6
    if n >= 0:
        left -= n
        if left < 0 or n * 38 > size - pos:
            raise bad_count('DescribeDelegationTokenResponse.tokens', n)
        m.tokens = a1 = []
        for _ in range(n):
            m1 = new(DescribedDelegationToken)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.principal_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeDelegationTokenResponse.principal_type')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.principal_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeDelegationTokenResponse.principal_name')
            m1.token_requester_principal_type = ''
            m1.token_requester_principal_name = ''
            m1.issue_timestamp, m1.expiry_timestamp, m1.max_timestamp, n = u_qqqh(buf, pos)
            pos += 26
            if n >= 0:
                end = pos + n
                m1.token_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeDelegationTokenResponse.token_id')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                end = pos + n
                m1.hmac = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('DescribeDelegationTokenResponse.hmac')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('DescribeDelegationTokenResponse.renewers', n)
                m1.renewers = a2 = []
                for _ in range(n):
                    m2 = new(DescribedDelegationTokenRenewer)
                    a2.append(m2)
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.principal_type = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeDelegationTokenResponse.principal_type')
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.principal_name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeDelegationTokenResponse.principal_name')
            else:
                raise bad_length('DescribeDelegationTokenResponse.renewers')
    else:
        raise bad_length('DescribeDelegationTokenResponse.tokens')
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[DescribeDelegationTokenResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeDelegationTokenResponse)
    m.error_code, n = u_hB(buf, pos)
    pos += 3
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 30 > size - pos:
            raise bad_count('DescribeDelegationTokenResponse.tokens', n)
        m.tokens = a1 = []
        for _ in range(n):
            m1 = new(DescribedDelegationToken)
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
                raise bad_length('DescribeDelegationTokenResponse.principal_type')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.principal_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeDelegationTokenResponse.principal_name')
            m1.token_requester_principal_type = ''
            m1.token_requester_principal_name = ''
            m1.issue_timestamp, m1.expiry_timestamp, m1.max_timestamp, n = u_qqqB(buf, pos)
            pos += 25
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.token_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeDelegationTokenResponse.token_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.hmac = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('DescribeDelegationTokenResponse.hmac')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('DescribeDelegationTokenResponse.renewers', n)
                m1.renewers = a2 = []
                for _ in range(n):
                    m2 = new(DescribedDelegationTokenRenewer)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.principal_type = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeDelegationTokenResponse.principal_type')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.principal_name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeDelegationTokenResponse.principal_name')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeDelegationTokenResponse.renewers')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeDelegationTokenResponse.tokens')
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v3(buf: Buf, pos: int) -> tuple[DescribeDelegationTokenResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeDelegationTokenResponse)
    m.error_code, n = u_hB(buf, pos)
    pos += 3
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 32 > size - pos:
            raise bad_count('DescribeDelegationTokenResponse.tokens', n)
        m.tokens = a1 = []
        for _ in range(n):
            m1 = new(DescribedDelegationToken)
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
                raise bad_length('DescribeDelegationTokenResponse.principal_type')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.principal_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeDelegationTokenResponse.principal_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.token_requester_principal_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeDelegationTokenResponse.token_requester_principal_type')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.token_requester_principal_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeDelegationTokenResponse.token_requester_principal_name')
            m1.issue_timestamp, m1.expiry_timestamp, m1.max_timestamp, n = u_qqqB(buf, pos)
            pos += 25
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.token_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeDelegationTokenResponse.token_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.hmac = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('DescribeDelegationTokenResponse.hmac')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('DescribeDelegationTokenResponse.renewers', n)
                m1.renewers = a2 = []
                for _ in range(n):
                    m2 = new(DescribedDelegationTokenRenewer)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.principal_type = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeDelegationTokenResponse.principal_type')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.principal_name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeDelegationTokenResponse.principal_name')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeDelegationTokenResponse.renewers')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeDelegationTokenResponse.tokens')
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


def write_response_v1(m: DescribeDelegationTokenResponse, out: bytearray) -> None:
    a1 = m.tokens
    n = len(a1)
    out += p_hi(m.error_code, n)
    for m1 in a1:
        b = m1.principal_type.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.principal_name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.token_id.encode()
        n = len(b)
        out += p_qqqh(m1.issue_timestamp, m1.expiry_timestamp, m1.max_timestamp, n)
        out += b
        b = m1.hmac
        n = len(b)
        out += p_i(n)
        out += b
        a2 = m1.renewers
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.principal_type.encode()
            n = len(b)
            out += p_h(n)
            out += b
            b = m2.principal_name.encode()
            n = len(b)
            out += p_h(n)
            out += b
    out += p_i(m.throttle_time_ms)


def write_response_v2(m: DescribeDelegationTokenResponse, out: bytearray) -> None:
    a1 = m.tokens
    n = len(a1) + 1
    if n < 128:
        out += p_hB(m.error_code, n)
    else:
        out += p_h(m.error_code)
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
        b = m1.token_id.encode()
        n = len(b) + 1
        if n < 128:
            out += p_qqqB(m1.issue_timestamp, m1.expiry_timestamp, m1.max_timestamp, n)
        else:
            out += p_qqq(m1.issue_timestamp, m1.expiry_timestamp, m1.max_timestamp)
            uvarint(out, n)
        out += b
        b = m1.hmac
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        a2 = m1.renewers
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.principal_type.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.principal_name.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            out.append(0)
        out.append(0)
    out += p_ix(m.throttle_time_ms)


def write_response_v3(m: DescribeDelegationTokenResponse, out: bytearray) -> None:
    a1 = m.tokens
    n = len(a1) + 1
    if n < 128:
        out += p_hB(m.error_code, n)
    else:
        out += p_h(m.error_code)
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
        b = m1.token_requester_principal_type.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.token_requester_principal_name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.token_id.encode()
        n = len(b) + 1
        if n < 128:
            out += p_qqqB(m1.issue_timestamp, m1.expiry_timestamp, m1.max_timestamp, n)
        else:
            out += p_qqq(m1.issue_timestamp, m1.expiry_timestamp, m1.max_timestamp)
            uvarint(out, n)
        out += b
        b = m1.hmac
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        a2 = m1.renewers
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.principal_type.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.principal_name.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            out.append(0)
        out.append(0)
    out += p_ix(m.throttle_time_ms)


WRITE_RESPONSE = {
    1: write_response_v1,
    2: write_response_v2,
    3: write_response_v3,
}
