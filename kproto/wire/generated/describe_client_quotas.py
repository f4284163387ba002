"""DescribeClientQuotas: API key 48, versions 0-1. Written by kproto.wire.generator: do not edit."""

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
p_d = Struct(">d").pack
p_dx = Struct(">dx").pack
p_h = Struct(">h").pack
p_i = Struct(">i").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_ihh = Struct(">ihh").pack
u_tB = Struct(">?B").unpack_from
u_bB = Struct(">bB").unpack_from
u_bh = Struct(">bh").unpack_from
u_d = Struct(">d").unpack_from
u_dB = Struct(">dB").unpack_from
u_h = Struct(">h").unpack_from
u_i = Struct(">i").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_ihh = Struct(">ihh").unpack_from


class ComponentData(WireStruct):
    __slots__ = ('entity_type', 'match_type', 'match',)
    entity_type: str
    match_type: int
    match: str | None

    def __init__(
        self,
        entity_type: str = '',
        match_type: int = 0,
        match: str | None = '',
    ) -> None:
        self.entity_type = entity_type
        self.match_type = match_type
        self.match = match


class DescribeClientQuotasRequest(WireStruct):
    __slots__ = ('components', 'strict',)
    components: list[ComponentData]
    strict: bool

    def __init__(
        self,
        components: list[ComponentData] = EMPTY,
        strict: bool = False,
    ) -> None:
        self.components = [] if components is EMPTY else components
        self.strict = strict


def parse_request_v0(buf: Buf, pos: int) -> tuple[DescribeClientQuotasRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DescribeClientQuotasRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('DescribeClientQuotasRequest.components', n)
        m.components = a1 = []
        for _ in range(n):
            m1 = new(ComponentData)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.entity_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeClientQuotasRequest.entity_type')
            m1.match_type, n = u_bh(buf, pos)
            pos += 3
            if n >= 0:
                end = pos + n
                m1.match = str(buf[pos:end], "utf-8")
                pos = end
            elif n == -1:
                m1.match = None
            else:
                raise bad_length('DescribeClientQuotasRequest.match')
    else:
        raise bad_length('DescribeClientQuotasRequest.components')
    m.strict = buf[pos] != 0
    pos += 1
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[DescribeClientQuotasRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DescribeClientQuotasRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 4 > size - pos:
            raise bad_count('DescribeClientQuotasRequest.components', n)
        m.components = a1 = []
        for _ in range(n):
            m1 = new(ComponentData)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.entity_type = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeClientQuotasRequest.entity_type')
            m1.match_type, n = u_bB(buf, pos)
            pos += 2
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.match = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.match = None
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeClientQuotasRequest.components')
    m.strict, n = u_tB(buf, pos)
    pos += 2
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
}


def write_request_v0(m: DescribeClientQuotasRequest, out: bytearray) -> None:
    a1 = m.components
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.entity_type.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.match
        if b is None:
            b = b""
            n = -1
        else:
            b = b.encode()
            n = len(b)
        out += p_bh(m1.match_type, n)
        out += b
    out += p_t(m.strict)


def write_request_v1(m: DescribeClientQuotasRequest, out: bytearray) -> None:
    a1 = m.components
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.entity_type.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.match
        if b is None:
            b = b""
            n = 0
        else:
            b = b.encode()
            n = len(b) + 1
        if n < 128:
            out += p_bB(m1.match_type, n)
        else:
            out += p_b(m1.match_type)
            uvarint(out, n)
        out += b
        out.append(0)
    out += p_tx(m.strict)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v1,
}


class EntityData(WireStruct):
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


class ValueData(WireStruct):
    __slots__ = ('key', 'value',)
    key: str
    value: float

    def __init__(
        self,
        key: str = '',
        value: float = 0.0,
    ) -> None:
        self.key = key
        self.value = value


class EntryData(WireStruct):
    __slots__ = ('entity', 'values',)
    entity: list[EntityData]
    values: list[ValueData]

    def __init__(
        self,
        entity: list[EntityData] = EMPTY,
        values: list[ValueData] = EMPTY,
    ) -> None:
        self.entity = [] if entity is EMPTY else entity
        self.values = [] if values is EMPTY else values


class DescribeClientQuotasResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'entries',)
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    entries: list[EntryData] | None

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
        entries: list[EntryData] | None = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.entries = [] if entries is EMPTY else entries


def parse_response_v0(buf: Buf, pos: int) -> tuple[DescribeClientQuotasResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeClientQuotasResponse)
    m.throttle_time_ms, m.error_code, n = u_ihh(buf, pos)
    pos += 8
    if n >= 0:
        end = pos + n
        m.error_message = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.error_message = None
    else:
        raise bad_length('DescribeClientQuotasResponse.error_message')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 8 > size - pos:
            raise bad_count('DescribeClientQuotasResponse.entries', n)
        m.entries = a1 = []
        for _ in range(n):
            m1 = new(EntryData)
            a1.append(m1)
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('DescribeClientQuotasResponse.entity', n)
                m1.entity = a2 = []
                for _ in range(n):
                    m2 = new(EntityData)
                    a2.append(m2)
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.entity_type = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeClientQuotasResponse.entity_type')
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.entity_name = str(buf[pos:end], "utf-8")
                        pos = end
                    elif n == -1:
                        m2.entity_name = None
                    else:
                        raise bad_length('DescribeClientQuotasResponse.entity_name')
            else:
                raise bad_length('DescribeClientQuotasResponse.entity')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 10 > size - pos:
                    raise bad_count('DescribeClientQuotasResponse.values', n)
                m1.values = a2 = []
                for _ in range(n):
                    m2 = new(ValueData)
                    a2.append(m2)
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.key = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeClientQuotasResponse.key')
                    m2.value = u_d(buf, pos)[0]
                    pos += 8
            else:
                raise bad_length('DescribeClientQuotasResponse.values')
    elif n == -1:
        m.entries = None
    else:
        raise bad_length('DescribeClientQuotasResponse.entries')
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[DescribeClientQuotasResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeClientQuotasResponse)
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
        if left < 0 or n * 3 > size - pos:
            raise bad_count('DescribeClientQuotasResponse.entries', n)
        m.entries = a1 = []
        for _ in range(n):
            m1 = new(EntryData)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('DescribeClientQuotasResponse.entity', n)
                m1.entity = a2 = []
                for _ in range(n):
                    m2 = new(EntityData)
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
                        raise bad_length('DescribeClientQuotasResponse.entity_type')
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
                raise bad_length('DescribeClientQuotasResponse.entity')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 10 > size - pos:
                    raise bad_count('DescribeClientQuotasResponse.values', n)
                m1.values = a2 = []
                for _ in range(n):
                    m2 = new(ValueData)
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
                        raise bad_length('DescribeClientQuotasResponse.key')
                    m2.value, n = u_dB(buf, pos)
                    pos += 9
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeClientQuotasResponse.values')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.entries = None
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v1,
}


def write_response_v0(m: DescribeClientQuotasResponse, out: bytearray) -> None:
    b = m.error_message
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_ihh(m.throttle_time_ms, m.error_code, n)
    out += b
    a1 = m.entries
    if a1 is None:
        a1 = ()
        n = -1
    else:
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
        a2 = m1.values
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.key.encode()
            n = len(b)
            out += p_h(n)
            out += b
            out += p_d(m2.value)


def write_response_v1(m: DescribeClientQuotasResponse, out: bytearray) -> None:
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
    a1 = m.entries
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
        a2 = m1.values
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
            out += p_dx(m2.value)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v1,
}
