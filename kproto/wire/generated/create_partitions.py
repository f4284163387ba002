"""CreatePartitions: API key 37, versions 0-3. Written by kproto.wire.generator: do not edit."""

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

p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_hh = Struct(">hh").pack
p_i = Struct(">i").pack
p_it = Struct(">i?").pack
p_itx = Struct(">i?x").pack
p_iB = Struct(">iB").pack
p_ii = Struct(">ii").pack
u_h = Struct(">h").unpack_from
u_hB = Struct(">hB").unpack_from
u_hh = Struct(">hh").unpack_from
u_i = Struct(">i").unpack_from
u_it = Struct(">i?").unpack_from
u_itB = Struct(">i?B").unpack_from
u_iB = Struct(">iB").unpack_from
u_ii = Struct(">ii").unpack_from


class CreatePartitionsAssignment(WireStruct):
    __slots__ = ('broker_ids',)
    broker_ids: list[int]

    def __init__(
        self,
        broker_ids: list[int] = EMPTY,
    ) -> None:
        self.broker_ids = [] if broker_ids is EMPTY else broker_ids


class CreatePartitionsTopic(WireStruct):
    __slots__ = ('name', 'count', 'assignments',)
    name: str
    count: int
    assignments: list[CreatePartitionsAssignment] | None

    def __init__(
        self,
        name: str = '',
        count: int = 0,
        assignments: list[CreatePartitionsAssignment] | None = EMPTY,
    ) -> None:
        self.name = name
        self.count = count
        self.assignments = [] if assignments is EMPTY else assignments


class CreatePartitionsRequest(WireStruct):
    __slots__ = ('topics', 'timeout_ms', 'validate_only',)
    topics: list[CreatePartitionsTopic]
    timeout_ms: int
    validate_only: bool

    def __init__(
        self,
        topics: list[CreatePartitionsTopic] = EMPTY,
        timeout_ms: int = 0,
        validate_only: bool = False,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only


def parse_request_v0(buf: Buf, pos: int) -> tuple[CreatePartitionsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(CreatePartitionsRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 10 > size - pos:
            raise bad_count('CreatePartitionsRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(CreatePartitionsTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('CreatePartitionsRequest.name')
            m1.count, n = u_ii(buf, pos)
            pos += 8
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('CreatePartitionsRequest.assignments', n)
                m1.assignments = a2 = []
                for _ in range(n):
                    m2 = new(CreatePartitionsAssignment)
                    a2.append(m2)
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('CreatePartitionsRequest.broker_ids', n)
                        m2.broker_ids = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('CreatePartitionsRequest.broker_ids')
            elif n == -1:
                m1.assignments = None
            else:
                raise bad_length('CreatePartitionsRequest.assignments')
    else:
        raise bad_length('CreatePartitionsRequest.topics')
    m.timeout_ms, m.validate_only = u_it(buf, pos)
    pos += 5
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[CreatePartitionsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(CreatePartitionsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 7 > size - pos:
            raise bad_count('CreatePartitionsRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(CreatePartitionsTopic)
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
                raise bad_length('CreatePartitionsRequest.name')
            m1.count, n = u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 2 > size - pos:
                    raise bad_count('CreatePartitionsRequest.assignments', n)
                m1.assignments = a2 = []
                for _ in range(n):
                    m2 = new(CreatePartitionsAssignment)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('CreatePartitionsRequest.broker_ids', n)
                        m2.broker_ids = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('CreatePartitionsRequest.broker_ids')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                m1.assignments = None
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('CreatePartitionsRequest.topics')
    m.timeout_ms, m.validate_only, n = u_itB(buf, pos)
    pos += 6
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v0,
    2: parse_request_v2,
    3: parse_request_v2,
}


def write_request_v0(m: CreatePartitionsRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.assignments
        if a2 is None:
            a2 = ()
            n = -1
        else:
            n = len(a2)
        out += p_ii(m1.count, n)
        for m2 in a2:
            a3 = m2.broker_ids
            n = len(a3)
            out += p_i(n)
            out += pack(f">{len(a3)}i", *a3)
    out += p_it(m.timeout_ms, m.validate_only)


def write_request_v2(m: CreatePartitionsRequest, out: bytearray) -> None:
    a1 = m.topics
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
        a2 = m1.assignments
        if a2 is None:
            a2 = ()
            n = 0
        else:
            n = len(a2) + 1
        if n < 128:
            out += p_iB(m1.count, n)
        else:
            out += p_i(m1.count)
            uvarint(out, n)
        for m2 in a2:
            a3 = m2.broker_ids
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        out.append(0)
    out += p_itx(m.timeout_ms, m.validate_only)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v0,
    2: write_request_v2,
    3: write_request_v2,
}


class CreatePartitionsTopicResult(WireStruct):
    __slots__ = ('name', 'error_code', 'error_message',)
    name: str
    error_code: int
    error_message: str | None

    def __init__(
        self,
        name: str = '',
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name = name
        self.error_code = error_code
        self.error_message = error_message


class CreatePartitionsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'results',)
    throttle_time_ms: int
    results: list[CreatePartitionsTopicResult]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[CreatePartitionsTopicResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is EMPTY else results


def parse_response_v0(buf: Buf, pos: int) -> tuple[CreatePartitionsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(CreatePartitionsResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('CreatePartitionsResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(CreatePartitionsTopicResult)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('CreatePartitionsResponse.name')
            m1.error_code, n = u_hh(buf, pos)
            pos += 4
            if n >= 0:
                end = pos + n
                m1.error_message = str(buf[pos:end], "utf-8")
                pos = end
            elif n == -1:
                m1.error_message = None
            else:
                raise bad_length('CreatePartitionsResponse.error_message')
    else:
        raise bad_length('CreatePartitionsResponse.results')
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[CreatePartitionsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(CreatePartitionsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('CreatePartitionsResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(CreatePartitionsTopicResult)
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
                raise bad_length('CreatePartitionsResponse.name')
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
        raise bad_length('CreatePartitionsResponse.results')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v0,
    2: parse_response_v2,
    3: parse_response_v2,
}


def write_response_v0(m: CreatePartitionsResponse, out: bytearray) -> None:
    a1 = m.results
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.error_message
        if b is None:
            b = b""
            n = -1
        else:
            b = b.encode()
            n = len(b)
        out += p_hh(m1.error_code, n)
        out += b


def write_response_v2(m: CreatePartitionsResponse, out: bytearray) -> None:
    a1 = m.results
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.name.encode()
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
    1: write_response_v0,
    2: write_response_v2,
    3: write_response_v2,
}
