"""DescribeUserScramCredentials: API key 50, versions 0-0. Written by kproto.wire.generator: do not edit."""

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

p_bix = Struct(">bix").pack
p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
u_biB = Struct(">biB").unpack_from
u_hB = Struct(">hB").unpack_from
u_ihB = Struct(">ihB").unpack_from


class UserName(WireStruct):
    __slots__ = ('name',)
    name: str

    def __init__(
        self,
        name: str = '',
    ) -> None:
        self.name = name


class DescribeUserScramCredentialsRequest(WireStruct):
    __slots__ = ('users',)
    users: list[UserName] | None

    def __init__(
        self,
        users: list[UserName] | None = EMPTY,
    ) -> None:
        self.users = [] if users is EMPTY else users


def parse_request_v0(buf: Buf, pos: int) -> tuple[DescribeUserScramCredentialsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DescribeUserScramCredentialsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 2 > size - pos:
            raise bad_count('DescribeUserScramCredentialsRequest.users', n)
        m.users = a1 = []
        for _ in range(n):
            m1 = new(UserName)
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
                raise bad_length('DescribeUserScramCredentialsRequest.name')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.users = None
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
}


def write_request_v0(m: DescribeUserScramCredentialsRequest, out: bytearray) -> None:
    a1 = m.users
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
        b = m1.name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out.append(0)
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
}


class CredentialInfo(WireStruct):
    __slots__ = ('mechanism', 'iterations',)
    mechanism: int
    iterations: int

    def __init__(
        self,
        mechanism: int = 0,
        iterations: int = 0,
    ) -> None:
        self.mechanism = mechanism
        self.iterations = iterations


class DescribeUserScramCredentialsResult(WireStruct):
    __slots__ = ('user', 'error_code', 'error_message', 'credential_infos',)
    user: str
    error_code: int
    error_message: str | None
    credential_infos: list[CredentialInfo]

    def __init__(
        self,
        user: str = '',
        error_code: int = 0,
        error_message: str | None = '',
        credential_infos: list[CredentialInfo] = EMPTY,
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message
        self.credential_infos = [] if credential_infos is EMPTY else credential_infos


class DescribeUserScramCredentialsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'results',)
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    results: list[DescribeUserScramCredentialsResult]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
        results: list[DescribeUserScramCredentialsResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = [] if results is EMPTY else results


def parse_response_v0(buf: Buf, pos: int) -> tuple[DescribeUserScramCredentialsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeUserScramCredentialsResponse)
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
        if left < 0 or n * 6 > size - pos:
            raise bad_count('DescribeUserScramCredentialsResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(DescribeUserScramCredentialsResult)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.user = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeUserScramCredentialsResponse.user')
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
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('DescribeUserScramCredentialsResponse.credential_infos', n)
                m1.credential_infos = a2 = []
                for _ in range(n):
                    m2 = new(CredentialInfo)
                    a2.append(m2)
                    m2.mechanism, m2.iterations, n = u_biB(buf, pos)
                    pos += 6
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeUserScramCredentialsResponse.credential_infos')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeUserScramCredentialsResponse.results')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
}


def write_response_v0(m: DescribeUserScramCredentialsResponse, out: bytearray) -> None:
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
    a1 = m.results
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.user.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
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
            out += p_hB(m1.error_code, n)
        else:
            out += p_h(m1.error_code)
            uvarint(out, n)
        out += b
        a2 = m1.credential_infos
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            out += p_bix(m2.mechanism, m2.iterations)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
}
