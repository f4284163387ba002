"""OffsetDelete: API key 47, versions 0-0. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    EMPTY,
    MAX_ELEMENTS,
    MAX_REQUEST_ELEMENTS,
    Buf,
    WireStruct,
    bad_count,
    bad_length,
    new,
)

p_h = Struct(">h").pack
p_hii = Struct(">hii").pack
p_i = Struct(">i").pack
p_ih = Struct(">ih").pack
u_h = Struct(">h").unpack_from
u_hii = Struct(">hii").unpack_from
u_i = Struct(">i").unpack_from
u_ih = Struct(">ih").unpack_from


class OffsetDeleteRequestPartition(WireStruct):
    __slots__ = ('partition_index',)
    partition_index: int

    def __init__(
        self,
        partition_index: int = 0,
    ) -> None:
        self.partition_index = partition_index


class OffsetDeleteRequestTopic(WireStruct):
    __slots__ = ('name', 'partitions',)
    name: str
    partitions: list[OffsetDeleteRequestPartition]

    def __init__(
        self,
        name: str = '',
        partitions: list[OffsetDeleteRequestPartition] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class OffsetDeleteRequest(WireStruct):
    __slots__ = ('group_id', 'topics',)
    group_id: str
    topics: list[OffsetDeleteRequestTopic]

    def __init__(
        self,
        group_id: str = '',
        topics: list[OffsetDeleteRequestTopic] = EMPTY,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is EMPTY else topics


def parse_request_v0(buf: Buf, pos: int) -> tuple[OffsetDeleteRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(OffsetDeleteRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetDeleteRequest.group_id')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('OffsetDeleteRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetDeleteRequestTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetDeleteRequest.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('OffsetDeleteRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetDeleteRequestPartition)
                    a2.append(m2)
                    m2.partition_index = u_i(buf, pos)[0]
                    pos += 4
            else:
                raise bad_length('OffsetDeleteRequest.partitions')
    else:
        raise bad_length('OffsetDeleteRequest.topics')
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
}


def write_request_v0(m: OffsetDeleteRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    a1 = m.topics
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_i(m2.partition_index)


WRITE_REQUEST = {
    0: write_request_v0,
}


class OffsetDeleteResponsePartition(WireStruct):
    __slots__ = ('partition_index', 'error_code',)
    partition_index: int
    error_code: int

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class OffsetDeleteResponseTopic(WireStruct):
    __slots__ = ('name', 'partitions',)
    name: str
    partitions: list[OffsetDeleteResponsePartition]

    def __init__(
        self,
        name: str = '',
        partitions: list[OffsetDeleteResponsePartition] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class OffsetDeleteResponse(WireStruct):
    __slots__ = ('error_code', 'throttle_time_ms', 'topics',)
    error_code: int
    throttle_time_ms: int
    topics: list[OffsetDeleteResponseTopic]

    def __init__(
        self,
        error_code: int = 0,
        throttle_time_ms: int = 0,
        topics: list[OffsetDeleteResponseTopic] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics


def parse_response_v0(buf: Buf, pos: int) -> tuple[OffsetDeleteResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(OffsetDeleteResponse)
    m.error_code, m.throttle_time_ms, n = u_hii(buf, pos)
    pos += 10
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('OffsetDeleteResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetDeleteResponseTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetDeleteResponse.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('OffsetDeleteResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetDeleteResponsePartition)
                    a2.append(m2)
                    m2.partition_index, m2.error_code = u_ih(buf, pos)
                    pos += 6
            else:
                raise bad_length('OffsetDeleteResponse.partitions')
    else:
        raise bad_length('OffsetDeleteResponse.topics')
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
}


def write_response_v0(m: OffsetDeleteResponse, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_hii(m.error_code, m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_ih(m2.partition_index, m2.error_code)


WRITE_RESPONSE = {
    0: write_response_v0,
}
