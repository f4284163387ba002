"""DeleteTopics: API key 20, versions 1-6. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    EMPTY,
    MAX_ELEMENTS,
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

p_Uh = Struct(">16sh").pack
p_UhB = Struct(">16shB").pack
p_Ux = Struct(">16sx").pack
p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_hx = Struct(">hx").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ii = Struct(">ii").pack
p_ix = Struct(">ix").pack
u_UB = Struct(">16sB").unpack_from
u_UhB = Struct(">16shB").unpack_from
u_h = Struct(">h").unpack_from
u_hB = Struct(">hB").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ii = Struct(">ii").unpack_from


class DeleteTopicState(WireStruct):
    __slots__ = ('name', 'topic_id',)
    name: str | None
    topic_id: bytes

    def __init__(
        self,
        name: str | None = None,
        topic_id: bytes = ZERO_UUID,
    ) -> None:
        self.name = name
        self.topic_id = topic_id


class DeleteTopicsRequest(WireStruct):
    __slots__ = ('topics', 'topic_names', 'timeout_ms',)
    topics: list[DeleteTopicState]
    topic_names: list[str]
    timeout_ms: int

    def __init__(
        self,
        topics: list[DeleteTopicState] = EMPTY,
        topic_names: list[str] = EMPTY,
        timeout_ms: int = 0,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.topic_names = [] if topic_names is EMPTY else topic_names
        self.timeout_ms = timeout_ms


def parse_request_v1(buf: Buf, pos: int) -> tuple[DeleteTopicsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DeleteTopicsRequest)
    m.topics = []
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 2 > size - pos:
            raise bad_count('DeleteTopicsRequest.topic_names', n)
        m.topic_names = a1 = []
        for _ in range(n):
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                s = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DeleteTopicsRequest.s')
            a1.append(s)
    else:
        raise bad_length('DeleteTopicsRequest.topic_names')
    m.timeout_ms = u_i(buf, pos)[0]
    pos += 4
    return m, pos


def parse_request_v4(buf: Buf, pos: int) -> tuple[DeleteTopicsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DeleteTopicsRequest)
    m.topics = []
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('DeleteTopicsRequest.topic_names', n)
        m.topic_names = a1 = []
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
                raise bad_length('DeleteTopicsRequest.s')
            a1.append(s)
    else:
        raise bad_length('DeleteTopicsRequest.topic_names')
    m.timeout_ms, n = u_iB(buf, pos)
    pos += 5
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v6(buf: Buf, pos: int) -> tuple[DeleteTopicsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DeleteTopicsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('DeleteTopicsRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(DeleteTopicState)
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
                m1.name = None
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DeleteTopicsRequest.topics')
    m.topic_names = []
    m.timeout_ms, n = u_iB(buf, pos)
    pos += 5
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    1: parse_request_v1,
    2: parse_request_v1,
    3: parse_request_v1,
    4: parse_request_v4,
    5: parse_request_v4,
    6: parse_request_v6,
}


def write_request_v1(m: DeleteTopicsRequest, out: bytearray) -> None:
    a1 = m.topic_names
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.encode()
        n = len(b)
        out += p_h(n)
        out += b
    out += p_i(m.timeout_ms)


def write_request_v4(m: DeleteTopicsRequest, out: bytearray) -> None:
    a1 = m.topic_names
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
    out += p_ix(m.timeout_ms)


def write_request_v6(m: DeleteTopicsRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.name
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
        out += p_Ux(m1.topic_id)
    out += p_ix(m.timeout_ms)


WRITE_REQUEST = {
    1: write_request_v1,
    2: write_request_v1,
    3: write_request_v1,
    4: write_request_v4,
    5: write_request_v4,
    6: write_request_v6,
}


class DeletableTopicResult(WireStruct):
    __slots__ = ('name', 'topic_id', 'error_code', 'error_message',)
    name: str | None
    topic_id: bytes
    error_code: int
    error_message: str | None

    def __init__(
        self,
        name: str | None = '',
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message


class DeleteTopicsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'responses',)
    throttle_time_ms: int
    responses: list[DeletableTopicResult]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: list[DeletableTopicResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = [] if responses is EMPTY else responses


def parse_response_v1(buf: Buf, pos: int) -> tuple[DeleteTopicsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DeleteTopicsResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 4 > size - pos:
            raise bad_count('DeleteTopicsResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(DeletableTopicResult)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DeleteTopicsResponse.name')
            m1.topic_id = ZERO_UUID
            m1.error_code = u_h(buf, pos)[0]
            pos += 2
            m1.error_message = None
    else:
        raise bad_length('DeleteTopicsResponse.responses')
    return m, pos


def parse_response_v4(buf: Buf, pos: int) -> tuple[DeleteTopicsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DeleteTopicsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 4 > size - pos:
            raise bad_count('DeleteTopicsResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(DeletableTopicResult)
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
                raise bad_length('DeleteTopicsResponse.name')
            m1.topic_id = ZERO_UUID
            m1.error_code = u_h(buf, pos)[0]
            pos += 2
            m1.error_message = None
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DeleteTopicsResponse.responses')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v5(buf: Buf, pos: int) -> tuple[DeleteTopicsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DeleteTopicsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('DeleteTopicsResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(DeletableTopicResult)
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
                raise bad_length('DeleteTopicsResponse.name')
            m1.topic_id = ZERO_UUID
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
        raise bad_length('DeleteTopicsResponse.responses')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v6(buf: Buf, pos: int) -> tuple[DeleteTopicsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DeleteTopicsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 21 > size - pos:
            raise bad_count('DeleteTopicsResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(DeletableTopicResult)
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
                m1.name = None
            m1.topic_id, m1.error_code, n = u_UhB(buf, pos)
            pos += 19
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
        raise bad_length('DeleteTopicsResponse.responses')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    1: parse_response_v1,
    2: parse_response_v1,
    3: parse_response_v1,
    4: parse_response_v4,
    5: parse_response_v5,
    6: parse_response_v6,
}


def write_response_v1(m: DeleteTopicsResponse, out: bytearray) -> None:
    a1 = m.responses
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        out += p_h(m1.error_code)


def write_response_v4(m: DeleteTopicsResponse, out: bytearray) -> None:
    a1 = m.responses
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
        out += p_hx(m1.error_code)
    out.append(0)


def write_response_v5(m: DeleteTopicsResponse, out: bytearray) -> None:
    a1 = m.responses
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


def write_response_v6(m: DeleteTopicsResponse, out: bytearray) -> None:
    a1 = m.responses
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.name
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
        b = m1.error_message
        if b is None:
            b = b""
            n = 0
        else:
            b = b.encode()
            n = len(b) + 1
        if n < 128:
            out += p_UhB(m1.topic_id, m1.error_code, n)
        else:
            out += p_Uh(m1.topic_id, m1.error_code)
            uvarint(out, n)
        out += b
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    1: write_response_v1,
    2: write_response_v1,
    3: write_response_v1,
    4: write_response_v4,
    5: write_response_v5,
    6: write_response_v6,
}
