"""AlterClientQuotas: API key 49, versions 0-1. Written by kproto.wire.generator: do not edit."""

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
p_dt = Struct(">d?").pack
p_dtx = Struct(">d?x").pack
p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_hh = Struct(">hh").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ii = Struct(">ii").pack
u_tB = Struct(">?B").unpack_from
u_dt = Struct(">d?").unpack_from
u_dtB = Struct(">d?B").unpack_from
u_h = Struct(">h").unpack_from
u_hB = Struct(">hB").unpack_from
u_hh = Struct(">hh").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ii = Struct(">ii").unpack_from


class RequestEntityData(WireStruct):
    __slots__ = ('entity_type', 'entity_name',)
    entity_type: str
    entity_name: str | None

    def __init__(
        self,
        entity_type: str = '',
        entity_name: str | None = '',
    ) -> None:
        self.entity_type = entity_type
        self.entity_name = entity_name


class OpData(WireStruct):
    __slots__ = ('key', 'value', 'remove',)
    key: str
    value: float
    remove: bool

    def __init__(
        self,
        key: str = '',
        value: float = 0.0,
        remove: bool = False,
    ) -> None:
        self.key = key
        self.value = value
        self.remove = remove


class RequestEntryData(WireStruct):
    __slots__ = ('entity', 'ops',)
    entity: list[RequestEntityData]
    ops: list[OpData]

    def __init__(
        self,
        entity: list[RequestEntityData] = EMPTY,
        ops: list[OpData] = EMPTY,
    ) -> None:
        self.entity = [] if entity is EMPTY else entity
        self.ops = [] if ops is EMPTY else ops


class AlterClientQuotasRequest(WireStruct):
    __slots__ = ('entries', 'validate_only',)
    entries: list[RequestEntryData]
    validate_only: bool

    def __init__(
        self,
        entries: list[RequestEntryData] = EMPTY,
        validate_only: bool = False,
    ) -> None:
        self.entries = [] if entries is EMPTY else entries
        self.validate_only = validate_only


def parse_request_v0(buf: Buf, pos: int) -> tuple[AlterClientQuotasRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(AlterClientQuotasRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 8 > size - pos:
            raise bad_count('AlterClientQuotasRequest.entries', n)
        m.entries = a1 = []
        for _ in range(n):
            m1 = new(RequestEntryData)
            a1.append(m1)
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('AlterClientQuotasRequest.entity', n)
                m1.entity = a2 = []
                for _ in range(n):
                    m2 = new(RequestEntityData)
                    a2.append(m2)
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.entity_type = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('AlterClientQuotasRequest.entity_type')
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.entity_name = str(buf[pos:end], "utf-8")
                        pos = end
                    elif n == -1:
                        m2.entity_name = None
                    else:
                        raise bad_length('AlterClientQuotasRequest.entity_name')
            else:
                raise bad_length('AlterClientQuotasRequest.entity')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 11 > size - pos:
                    raise bad_count('AlterClientQuotasRequest.ops', n)
                m1.ops = a2 = []
                for _ in range(n):
                    m2 = new(OpData)
                    a2.append(m2)
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.key = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('AlterClientQuotasRequest.key')
                    m2.value, m2.remove = u_dt(buf, pos)
                    pos += 9
            else:
                raise bad_length('AlterClientQuotasRequest.ops')
    else:
        raise bad_length('AlterClientQuotasRequest.entries')
    m.validate_only = buf[pos] != 0
    pos += 1
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[AlterClientQuotasRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(AlterClientQuotasRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('AlterClientQuotasRequest.entries', n)
        m.entries = a1 = []
        for _ in range(n):
            m1 = new(RequestEntryData)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('AlterClientQuotasRequest.entity', n)
                m1.entity = a2 = []
                for _ in range(n):
                    m2 = new(RequestEntityData)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.entity_type = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('AlterClientQuotasRequest.entity_type')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.entity_name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.entity_name = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('AlterClientQuotasRequest.entity')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 11 > size - pos:
                    raise bad_count('AlterClientQuotasRequest.ops', n)
                m1.ops = a2 = []
                for _ in range(n):
                    m2 = new(OpData)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.key = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('AlterClientQuotasRequest.key')
                    m2.value, m2.remove, n = u_dtB(buf, pos)
                    pos += 10
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('AlterClientQuotasRequest.ops')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AlterClientQuotasRequest.entries')
    m.validate_only, n = u_tB(buf, pos)
    pos += 2
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
}


def write_request_v0(m: AlterClientQuotasRequest, out: bytearray) -> None:
    a1 = m.entries
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        a2 = m1.entity
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.entity_type.encode()
            n = len(b)
            out += p_h(n)
            out += b
            b = m2.entity_name
            if b is None:
                b = b""
                n = -1
            else:
                b = b.encode()
                n = len(b)
            out += p_h(n)
            out += b
        a2 = m1.ops
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.key.encode()
            n = len(b)
            out += p_h(n)
            out += b
            out += p_dt(m2.value, m2.remove)
    out += p_t(m.validate_only)


def write_request_v1(m: AlterClientQuotasRequest, out: bytearray) -> None:
    a1 = m.entries
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        a2 = m1.entity
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.entity_type.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.entity_name
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
            out.append(0)
        a2 = m1.ops
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.key.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            out += p_dtx(m2.value, m2.remove)
        out.append(0)
    out += p_tx(m.validate_only)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v1,
}


class ResponseEntityData(WireStruct):
    __slots__ = ('entity_type', 'entity_name',)
    entity_type: str
    entity_name: str | None

    def __init__(
        self,
        entity_type: str = '',
        entity_name: str | None = '',
    ) -> None:
        self.entity_type = entity_type
        self.entity_name = entity_name


class ResponseEntryData(WireStruct):
    __slots__ = ('error_code', 'error_message', 'entity',)
    error_code: int
    error_message: str | None
    entity: list[ResponseEntityData]

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = '',
        entity: list[ResponseEntityData] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.entity = [] if entity is EMPTY else entity


class AlterClientQuotasResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'entries',)
    throttle_time_ms: int
    entries: list[ResponseEntryData]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        entries: list[ResponseEntryData] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.entries = [] if entries is EMPTY else entries


def parse_response_v0(buf: Buf, pos: int) -> tuple[AlterClientQuotasResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(AlterClientQuotasResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 8 > size - pos:
            raise bad_count('AlterClientQuotasResponse.entries', n)
        m.entries = a1 = []
        for _ in range(n):
            m1 = new(ResponseEntryData)
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
                raise bad_length('AlterClientQuotasResponse.error_message')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('AlterClientQuotasResponse.entity', n)
                m1.entity = a2 = []
                for _ in range(n):
                    m2 = new(ResponseEntityData)
                    a2.append(m2)
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.entity_type = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('AlterClientQuotasResponse.entity_type')
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.entity_name = str(buf[pos:end], "utf-8")
                        pos = end
                    elif n == -1:
                        m2.entity_name = None
                    else:
                        raise bad_length('AlterClientQuotasResponse.entity_name')
            else:
                raise bad_length('AlterClientQuotasResponse.entity')
    else:
        raise bad_length('AlterClientQuotasResponse.entries')
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[AlterClientQuotasResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(AlterClientQuotasResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('AlterClientQuotasResponse.entries', n)
        m.entries = a1 = []
        for _ in range(n):
            m1 = new(ResponseEntryData)
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
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('AlterClientQuotasResponse.entity', n)
                m1.entity = a2 = []
                for _ in range(n):
                    m2 = new(ResponseEntityData)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.entity_type = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('AlterClientQuotasResponse.entity_type')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.entity_name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.entity_name = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('AlterClientQuotasResponse.entity')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AlterClientQuotasResponse.entries')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v1,
}


def write_response_v0(m: AlterClientQuotasResponse, out: bytearray) -> None:
    a1 = m.entries
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
        a2 = m1.entity
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.entity_type.encode()
            n = len(b)
            out += p_h(n)
            out += b
            b = m2.entity_name
            if b is None:
                b = b""
                n = -1
            else:
                b = b.encode()
                n = len(b)
            out += p_h(n)
            out += b


def write_response_v1(m: AlterClientQuotasResponse, out: bytearray) -> None:
    a1 = m.entries
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
        a2 = m1.entity
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.entity_type.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.entity_name
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
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v1,
}
