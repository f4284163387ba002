"""DeleteShareGroupOffsets: API key 92, versions 0-0. Written by kproto.wire.generator: do not edit."""

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
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
u_UhB = Struct(">16shB").unpack_from
u_ihB = Struct(">ihB").unpack_from


class DeleteShareGroupOffsetsRequestTopic(WireStruct):
    __slots__ = ('topic_name',)
    topic_name: str

    def __init__(
        self,
        topic_name: str = '',
    ) -> None:
        self.topic_name = topic_name


class DeleteShareGroupOffsetsRequest(WireStruct):
    __slots__ = ('group_id', 'topics',)
    group_id: str
    topics: list[DeleteShareGroupOffsetsRequestTopic]

    def __init__(
        self,
        group_id: str = '',
        topics: list[DeleteShareGroupOffsetsRequestTopic] = EMPTY,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is EMPTY else topics


def parse_request_v0(buf: Buf, pos: int) -> tuple[DeleteShareGroupOffsetsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DeleteShareGroupOffsetsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('DeleteShareGroupOffsetsRequest.group_id')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 2 > size - pos:
            raise bad_count('DeleteShareGroupOffsetsRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(DeleteShareGroupOffsetsRequestTopic)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.topic_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DeleteShareGroupOffsetsRequest.topic_name')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DeleteShareGroupOffsetsRequest.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
}


def write_request_v0(m: DeleteShareGroupOffsetsRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.topic_name.encode()
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


class DeleteShareGroupOffsetsResponseTopic(WireStruct):
    __slots__ = ('topic_name', 'topic_id', 'error_code', 'error_message',)
    topic_name: str
    topic_id: bytes
    error_code: int
    error_message: str | None

    def __init__(
        self,
        topic_name: str = '',
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message


class DeleteShareGroupOffsetsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'responses',)
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    responses: list[DeleteShareGroupOffsetsResponseTopic]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        responses: list[DeleteShareGroupOffsetsResponseTopic] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.responses = [] if responses is EMPTY else responses


def parse_response_v0(buf: Buf, pos: int) -> tuple[DeleteShareGroupOffsetsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DeleteShareGroupOffsetsResponse)
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
        if left < 0 or n * 21 > size - pos:
            raise bad_count('DeleteShareGroupOffsetsResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(DeleteShareGroupOffsetsResponseTopic)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.topic_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DeleteShareGroupOffsetsResponse.topic_name')
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
        raise bad_length('DeleteShareGroupOffsetsResponse.responses')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
}


def write_response_v0(m: DeleteShareGroupOffsetsResponse, out: bytearray) -> None:
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
    a1 = m.responses
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.topic_name.encode()
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
    0: write_response_v0,
}
