"""DescribeShareGroupOffsets: API key 90, versions 0-1. Written by kproto.wire.generator: do not edit."""

from struct import Struct, pack, unpack_from

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

p_U = Struct(">16s").pack
p_UB = Struct(">16sB").pack
p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_iqih = Struct(">iqih").pack
p_iqihB = Struct(">iqihB").pack
p_iqiqh = Struct(">iqiqh").pack
p_iqiqhB = Struct(">iqiqhB").pack
u_UB = Struct(">16sB").unpack_from
u_hB = Struct(">hB").unpack_from
u_iB = Struct(">iB").unpack_from
u_iqi = Struct(">iqi").unpack_from
u_iqiqhB = Struct(">iqiqhB").unpack_from


class DescribeShareGroupOffsetsRequestTopic(WireStruct):
    __slots__ = ('topic_name', 'partitions',)
    topic_name: str
    partitions: list[int]

    def __init__(
        self,
        topic_name: str = '',
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is EMPTY else partitions


class DescribeShareGroupOffsetsRequestGroup(WireStruct):
    __slots__ = ('group_id', 'topics',)
    group_id: str
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None

    def __init__(
        self,
        group_id: str = '',
        topics: list[DescribeShareGroupOffsetsRequestTopic] | None = EMPTY,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is EMPTY else topics


class DescribeShareGroupOffsetsRequest(WireStruct):
    __slots__ = ('groups',)
    groups: list[DescribeShareGroupOffsetsRequestGroup]

    def __init__(
        self,
        groups: list[DescribeShareGroupOffsetsRequestGroup] = EMPTY,
    ) -> None:
        self.groups = [] if groups is EMPTY else groups


def parse_request_v0(buf: Buf, pos: int) -> tuple[DescribeShareGroupOffsetsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DescribeShareGroupOffsetsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('DescribeShareGroupOffsetsRequest.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(DescribeShareGroupOffsetsRequestGroup)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeShareGroupOffsetsRequest.group_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('DescribeShareGroupOffsetsRequest.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(DescribeShareGroupOffsetsRequestTopic)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.topic_name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeShareGroupOffsetsRequest.topic_name')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('DescribeShareGroupOffsetsRequest.partitions', n)
                        m2.partitions = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('DescribeShareGroupOffsetsRequest.partitions')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                m1.topics = None
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeShareGroupOffsetsRequest.groups')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v0,
}


def write_request_v0(m: DescribeShareGroupOffsetsRequest, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.group_id.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        a2 = m1.topics
        if a2 is None:
            a2 = ()
            n = 0
        else:
            n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.topic_name.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            a3 = m2.partitions
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v0,
}


class DescribeShareGroupOffsetsResponsePartition(WireStruct):
    __slots__ = ('partition_index', 'start_offset', 'leader_epoch', 'lag', 'error_code', 'error_message',)
    partition_index: int
    start_offset: int
    leader_epoch: int
    lag: int
    error_code: int
    error_message: str | None

    def __init__(
        self,
        partition_index: int = 0,
        start_offset: int = 0,
        leader_epoch: int = 0,
        lag: int = -1,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.start_offset = start_offset
        self.leader_epoch = leader_epoch
        self.lag = lag
        self.error_code = error_code
        self.error_message = error_message


class DescribeShareGroupOffsetsResponseTopic(WireStruct):
    __slots__ = ('topic_name', 'topic_id', 'partitions',)
    topic_name: str
    topic_id: bytes
    partitions: list[DescribeShareGroupOffsetsResponsePartition]

    def __init__(
        self,
        topic_name: str = '',
        topic_id: bytes = ZERO_UUID,
        partitions: list[DescribeShareGroupOffsetsResponsePartition] = EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class DescribeShareGroupOffsetsResponseGroup(WireStruct):
    __slots__ = ('group_id', 'topics', 'error_code', 'error_message',)
    group_id: str
    topics: list[DescribeShareGroupOffsetsResponseTopic]
    error_code: int
    error_message: str | None

    def __init__(
        self,
        group_id: str = '',
        topics: list[DescribeShareGroupOffsetsResponseTopic] = EMPTY,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is EMPTY else topics
        self.error_code = error_code
        self.error_message = error_message


class DescribeShareGroupOffsetsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'groups',)
    throttle_time_ms: int
    groups: list[DescribeShareGroupOffsetsResponseGroup]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: list[DescribeShareGroupOffsetsResponseGroup] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is EMPTY else groups


def parse_response_v0(buf: Buf, pos: int) -> tuple[DescribeShareGroupOffsetsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeShareGroupOffsetsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('DescribeShareGroupOffsetsResponse.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(DescribeShareGroupOffsetsResponseGroup)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeShareGroupOffsetsResponse.group_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 19 > size - pos:
                    raise bad_count('DescribeShareGroupOffsetsResponse.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(DescribeShareGroupOffsetsResponseTopic)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.topic_name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeShareGroupOffsetsResponse.topic_name')
                    m2.topic_id, n = u_UB(buf, pos)
                    pos += 17
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 20 > size - pos:
                            raise bad_count('DescribeShareGroupOffsetsResponse.partitions', n)
                        m2.partitions = a3 = []
                        for _ in range(n):
                            m3 = new(DescribeShareGroupOffsetsResponsePartition)
                            a3.append(m3)
                            m3.partition_index, m3.start_offset, m3.leader_epoch = u_iqi(buf, pos)
                            pos += 16
                            m3.lag = -1
                            m3.error_code, n = u_hB(buf, pos)
                            pos += 3
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m3.error_message = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                m3.error_message = None
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('DescribeShareGroupOffsetsResponse.partitions')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeShareGroupOffsetsResponse.topics')
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
        raise bad_length('DescribeShareGroupOffsetsResponse.groups')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[DescribeShareGroupOffsetsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeShareGroupOffsetsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('DescribeShareGroupOffsetsResponse.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(DescribeShareGroupOffsetsResponseGroup)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeShareGroupOffsetsResponse.group_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 19 > size - pos:
                    raise bad_count('DescribeShareGroupOffsetsResponse.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(DescribeShareGroupOffsetsResponseTopic)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.topic_name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeShareGroupOffsetsResponse.topic_name')
                    m2.topic_id, n = u_UB(buf, pos)
                    pos += 17
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 28 > size - pos:
                            raise bad_count('DescribeShareGroupOffsetsResponse.partitions', n)
                        m2.partitions = a3 = []
                        for _ in range(n):
                            m3 = new(DescribeShareGroupOffsetsResponsePartition)
                            a3.append(m3)
                            m3.partition_index, m3.start_offset, m3.leader_epoch, m3.lag, m3.error_code, n = u_iqiqhB(buf, pos)
                            pos += 27
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m3.error_message = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                m3.error_message = None
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('DescribeShareGroupOffsetsResponse.partitions')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeShareGroupOffsetsResponse.topics')
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
        raise bad_length('DescribeShareGroupOffsetsResponse.groups')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v1,
}


def write_response_v0(m: DescribeShareGroupOffsetsResponse, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.group_id.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        a2 = m1.topics
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.topic_name.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            a3 = m2.partitions
            n = len(a3) + 1
            if n < 128:
                out += p_UB(m2.topic_id, n)
            else:
                out += p_U(m2.topic_id)
                uvarint(out, n)
            for m3 in a3:
                b = m3.error_message
                if b is None:
                    b = b""
                    n = 0
                else:
                    b = b.encode()
                    n = len(b) + 1
                if n < 128:
                    out += p_iqihB(m3.partition_index, m3.start_offset, m3.leader_epoch, m3.error_code, n)
                else:
                    out += p_iqih(m3.partition_index, m3.start_offset, m3.leader_epoch, m3.error_code)
                    uvarint(out, n)
                out += b
                out.append(0)
            out.append(0)
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


def write_response_v1(m: DescribeShareGroupOffsetsResponse, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.group_id.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        a2 = m1.topics
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.topic_name.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            a3 = m2.partitions
            n = len(a3) + 1
            if n < 128:
                out += p_UB(m2.topic_id, n)
            else:
                out += p_U(m2.topic_id)
                uvarint(out, n)
            for m3 in a3:
                b = m3.error_message
                if b is None:
                    b = b""
                    n = 0
                else:
                    b = b.encode()
                    n = len(b) + 1
                if n < 128:
                    out += p_iqiqhB(m3.partition_index, m3.start_offset, m3.leader_epoch, m3.lag, m3.error_code, n)
                else:
                    out += p_iqiqh(m3.partition_index, m3.start_offset, m3.leader_epoch, m3.lag, m3.error_code)
                    uvarint(out, n)
                out += b
                out.append(0)
            out.append(0)
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
    1: write_response_v1,
}
