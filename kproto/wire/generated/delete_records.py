"""DeleteRecords: API key 21, versions 0-2. Written by kproto.wire.generator: do not edit."""

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
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ii = Struct(">ii").pack
p_iq = Struct(">iq").pack
p_iqh = Struct(">iqh").pack
p_iqhx = Struct(">iqhx").pack
p_iqx = Struct(">iqx").pack
p_ix = Struct(">ix").pack
u_h = Struct(">h").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ii = Struct(">ii").unpack_from
u_iq = Struct(">iq").unpack_from
u_iqB = Struct(">iqB").unpack_from
u_iqh = Struct(">iqh").unpack_from
u_iqhB = Struct(">iqhB").unpack_from


class DeleteRecordsPartition(WireStruct):
    __slots__ = ('partition_index', 'offset',)
    partition_index: int
    offset: int

    def __init__(
        self,
        partition_index: int = 0,
        offset: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.offset = offset


class DeleteRecordsTopic(WireStruct):
    __slots__ = ('name', 'partitions',)
    name: str
    partitions: list[DeleteRecordsPartition]

    def __init__(
        self,
        name: str = '',
        partitions: list[DeleteRecordsPartition] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class DeleteRecordsRequest(WireStruct):
    __slots__ = ('topics', 'timeout_ms',)
    topics: list[DeleteRecordsTopic]
    timeout_ms: int

    def __init__(
        self,
        topics: list[DeleteRecordsTopic] = EMPTY,
        timeout_ms: int = 0,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.timeout_ms = timeout_ms


def parse_request_v0(buf: Buf, pos: int) -> tuple[DeleteRecordsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DeleteRecordsRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('DeleteRecordsRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(DeleteRecordsTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DeleteRecordsRequest.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 12 > size - pos:
                    raise bad_count('DeleteRecordsRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(DeleteRecordsPartition)
                    a2.append(m2)
                    m2.partition_index, m2.offset = u_iq(buf, pos)
                    pos += 12
            else:
                raise bad_length('DeleteRecordsRequest.partitions')
    else:
        raise bad_length('DeleteRecordsRequest.topics')
    m.timeout_ms = u_i(buf, pos)[0]
    pos += 4
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[DeleteRecordsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DeleteRecordsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('DeleteRecordsRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(DeleteRecordsTopic)
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
                raise bad_length('DeleteRecordsRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 13 > size - pos:
                    raise bad_count('DeleteRecordsRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(DeleteRecordsPartition)
                    a2.append(m2)
                    m2.partition_index, m2.offset, n = u_iqB(buf, pos)
                    pos += 13
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DeleteRecordsRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DeleteRecordsRequest.topics')
    m.timeout_ms, n = u_iB(buf, pos)
    pos += 5
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v0,
    2: parse_request_v2,
}


def write_request_v0(m: DeleteRecordsRequest, out: bytearray) -> None:
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
            out += p_iq(m2.partition_index, m2.offset)
    out += p_i(m.timeout_ms)


def write_request_v2(m: DeleteRecordsRequest, out: bytearray) -> None:
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
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            out += p_iqx(m2.partition_index, m2.offset)
        out.append(0)
    out += p_ix(m.timeout_ms)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v0,
    2: write_request_v2,
}


class DeleteRecordsPartitionResult(WireStruct):
    __slots__ = ('partition_index', 'low_watermark', 'error_code',)
    partition_index: int
    low_watermark: int
    error_code: int

    def __init__(
        self,
        partition_index: int = 0,
        low_watermark: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.low_watermark = low_watermark
        self.error_code = error_code


class DeleteRecordsTopicResult(WireStruct):
    __slots__ = ('name', 'partitions',)
    name: str
    partitions: list[DeleteRecordsPartitionResult]

    def __init__(
        self,
        name: str = '',
        partitions: list[DeleteRecordsPartitionResult] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class DeleteRecordsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'topics',)
    throttle_time_ms: int
    topics: list[DeleteRecordsTopicResult]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[DeleteRecordsTopicResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics


def parse_response_v0(buf: Buf, pos: int) -> tuple[DeleteRecordsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DeleteRecordsResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('DeleteRecordsResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(DeleteRecordsTopicResult)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DeleteRecordsResponse.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 14 > size - pos:
                    raise bad_count('DeleteRecordsResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(DeleteRecordsPartitionResult)
                    a2.append(m2)
                    m2.partition_index, m2.low_watermark, m2.error_code = u_iqh(buf, pos)
                    pos += 14
            else:
                raise bad_length('DeleteRecordsResponse.partitions')
    else:
        raise bad_length('DeleteRecordsResponse.topics')
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[DeleteRecordsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DeleteRecordsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('DeleteRecordsResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(DeleteRecordsTopicResult)
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
                raise bad_length('DeleteRecordsResponse.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 15 > size - pos:
                    raise bad_count('DeleteRecordsResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(DeleteRecordsPartitionResult)
                    a2.append(m2)
                    m2.partition_index, m2.low_watermark, m2.error_code, n = u_iqhB(buf, pos)
                    pos += 15
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DeleteRecordsResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DeleteRecordsResponse.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v0,
    2: parse_response_v2,
}


def write_response_v0(m: DeleteRecordsResponse, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_iqh(m2.partition_index, m2.low_watermark, m2.error_code)


def write_response_v2(m: DeleteRecordsResponse, out: bytearray) -> None:
    a1 = m.topics
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
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            out += p_iqhx(m2.partition_index, m2.low_watermark, m2.error_code)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v0,
    2: write_response_v2,
}
