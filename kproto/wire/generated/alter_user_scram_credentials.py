"""AlterUserScramCredentials: API key 51, versions 0-0. Written by kproto.wire.generator: do not edit."""

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

p_bi = Struct(">bi").pack
p_biB = Struct(">biB").pack
p_bx = Struct(">bx").pack
p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
u_bB = Struct(">bB").unpack_from
u_biB = Struct(">biB").unpack_from
u_hB = Struct(">hB").unpack_from
u_iB = Struct(">iB").unpack_from


class ScramCredentialDeletion(WireStruct):
    __slots__ = ('name', 'mechanism',)
    name: str
    mechanism: int

    def __init__(
        self,
        name: str = '',
        mechanism: int = 0,
    ) -> None:
        self.name = name
        self.mechanism = mechanism


class ScramCredentialUpsertion(WireStruct):
    __slots__ = ('name', 'mechanism', 'iterations', 'salt', 'salted_password',)
    name: str
    mechanism: int
    iterations: int
    salt: bytes
    salted_password: bytes

    def __init__(
        self,
        name: str = '',
        mechanism: int = 0,
        iterations: int = 0,
        salt: bytes = b"",
        salted_password: bytes = b"",
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.iterations = iterations
        self.salt = salt
        self.salted_password = salted_password


class AlterUserScramCredentialsRequest(WireStruct):
    __slots__ = ('deletions', 'upsertions',)
    deletions: list[ScramCredentialDeletion]
    upsertions: list[ScramCredentialUpsertion]

    def __init__(
        self,
        deletions: list[ScramCredentialDeletion] = EMPTY,
        upsertions: list[ScramCredentialUpsertion] = EMPTY,
    ) -> None:
        self.deletions = [] if deletions is EMPTY else deletions
        self.upsertions = [] if upsertions is EMPTY else upsertions


def parse_request_v0(buf: Buf, pos: int) -> tuple[AlterUserScramCredentialsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(AlterUserScramCredentialsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('AlterUserScramCredentialsRequest.deletions', n)
        m.deletions = a1 = []
        for _ in range(n):
            m1 = new(ScramCredentialDeletion)
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
                raise bad_length('AlterUserScramCredentialsRequest.name')
            m1.mechanism, n = u_bB(buf, pos)
            pos += 2
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AlterUserScramCredentialsRequest.deletions')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 9 > size - pos:
            raise bad_count('AlterUserScramCredentialsRequest.upsertions', n)
        m.upsertions = a1 = []
        for _ in range(n):
            m1 = new(ScramCredentialUpsertion)
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
                raise bad_length('AlterUserScramCredentialsRequest.name')
            m1.mechanism, m1.iterations, n = u_biB(buf, pos)
            pos += 6
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.salt = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('AlterUserScramCredentialsRequest.salt')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.salted_password = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('AlterUserScramCredentialsRequest.salted_password')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AlterUserScramCredentialsRequest.upsertions')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
}


def write_request_v0(m: AlterUserScramCredentialsRequest, out: bytearray) -> None:
    a1 = m.deletions
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
        out += p_bx(m1.mechanism)
    a1 = m.upsertions
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
        b = m1.salt
        n = len(b) + 1
        if n < 128:
            out += p_biB(m1.mechanism, m1.iterations, n)
        else:
            out += p_bi(m1.mechanism, m1.iterations)
            uvarint(out, n)
        out += b
        b = m1.salted_password
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


class AlterUserScramCredentialsResult(WireStruct):
    __slots__ = ('user', 'error_code', 'error_message',)
    user: str
    error_code: int
    error_message: str | None

    def __init__(
        self,
        user: str = '',
        error_code: int = 0,
        error_message: str | None = '',
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message


class AlterUserScramCredentialsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'results',)
    throttle_time_ms: int
    results: list[AlterUserScramCredentialsResult]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[AlterUserScramCredentialsResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is EMPTY else results


def parse_response_v0(buf: Buf, pos: int) -> tuple[AlterUserScramCredentialsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(AlterUserScramCredentialsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('AlterUserScramCredentialsResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(AlterUserScramCredentialsResult)
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
                raise bad_length('AlterUserScramCredentialsResponse.user')
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
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AlterUserScramCredentialsResponse.results')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
}


def write_response_v0(m: AlterUserScramCredentialsResponse, out: bytearray) -> None:
    a1 = m.results
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
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
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
}
