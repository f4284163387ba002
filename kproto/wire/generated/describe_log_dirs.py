"""DescribeLogDirs: API key 35, versions 1-5. Written by kproto.wire.generator: do not edit."""

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
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_ii = Struct(">ii").pack
p_iqqt = Struct(">iqq?").pack
p_iqqtx = Struct(">iqq?x").pack
p_qqtx = Struct(">qq?x").pack
p_qqx = Struct(">qqx").pack
u_h = Struct(">h").unpack_from
u_hB = Struct(">hB").unpack_from
u_hh = Struct(">hh").unpack_from
u_i = Struct(">i").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_iqqt = Struct(">iqq?").unpack_from
u_iqqtB = Struct(">iqq?B").unpack_from
u_qq = Struct(">qq").unpack_from
u_qqtB = Struct(">qq?B").unpack_from


class DescribableLogDirTopic(WireStruct):
    __slots__ = ('topic', 'partitions',)
    topic: str
    partitions: list[int]

    def __init__(
        self,
        topic: str = '',
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is EMPTY else partitions


class DescribeLogDirsRequest(WireStruct):
    __slots__ = ('topics',)
    topics: list[DescribableLogDirTopic] | None

    def __init__(
        self,
        topics: list[DescribableLogDirTopic] | None = EMPTY,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics


def parse_request_v1(buf: Buf, pos: int) -> tuple[DescribeLogDirsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DescribeLogDirsRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('DescribeLogDirsRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(DescribableLogDirTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeLogDirsRequest.topic')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('DescribeLogDirsRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('DescribeLogDirsRequest.partitions')
    elif n == -1:
        m.topics = None
    else:
        raise bad_length('DescribeLogDirsRequest.topics')
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[DescribeLogDirsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DescribeLogDirsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('DescribeLogDirsRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(DescribableLogDirTopic)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeLogDirsRequest.topic')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('DescribeLogDirsRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('DescribeLogDirsRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.topics = None
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    1: parse_request_v1,
    2: parse_request_v2,
    3: parse_request_v2,
    4: parse_request_v2,
    5: parse_request_v2,
}


def write_request_v1(m: DescribeLogDirsRequest, out: bytearray) -> None:
    a1 = m.topics
    if a1 is None:
        a1 = ()
        n = -1
    else:
        n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.topic.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        out += pack(f">{len(a2)}i", *a2)


def write_request_v2(m: DescribeLogDirsRequest, out: bytearray) -> None:
    a1 = m.topics
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
        b = m1.topic.encode()
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
        out += pack(f">{len(a2)}i", *a2)
        out.append(0)
    out.append(0)


WRITE_REQUEST = {
    1: write_request_v1,
    2: write_request_v2,
    3: write_request_v2,
    4: write_request_v2,
    5: write_request_v2,
}


class DescribeLogDirsPartition(WireStruct):
    __slots__ = ('partition_index', 'partition_size', 'offset_lag', 'is_future_key',)
    partition_index: int
    partition_size: int
    offset_lag: int
    is_future_key: bool

    def __init__(
        self,
        partition_index: int = 0,
        partition_size: int = 0,
        offset_lag: int = 0,
        is_future_key: bool = False,
    ) -> None:
        self.partition_index = partition_index
        self.partition_size = partition_size
        self.offset_lag = offset_lag
        self.is_future_key = is_future_key


class DescribeLogDirsTopic(WireStruct):
    __slots__ = ('name', 'partitions',)
    name: str
    partitions: list[DescribeLogDirsPartition]

    def __init__(
        self,
        name: str = '',
        partitions: list[DescribeLogDirsPartition] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class DescribeLogDirsResult(WireStruct):
    __slots__ = ('error_code', 'log_dir', 'topics', 'total_bytes', 'usable_bytes', 'is_cordoned',)
    error_code: int
    log_dir: str
    topics: list[DescribeLogDirsTopic]
    total_bytes: int
    usable_bytes: int
    is_cordoned: bool

    def __init__(
        self,
        error_code: int = 0,
        log_dir: str = '',
        topics: list[DescribeLogDirsTopic] = EMPTY,
        total_bytes: int = -1,
        usable_bytes: int = -1,
        is_cordoned: bool = False,
    ) -> None:
        self.error_code = error_code
        self.log_dir = log_dir
        self.topics = [] if topics is EMPTY else topics
        self.total_bytes = total_bytes
        self.usable_bytes = usable_bytes
        self.is_cordoned = is_cordoned


class DescribeLogDirsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'results',)
    throttle_time_ms: int
    error_code: int
    results: list[DescribeLogDirsResult]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results: list[DescribeLogDirsResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results = [] if results is EMPTY else results


def parse_response_v1(buf: Buf, pos: int) -> tuple[DescribeLogDirsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeLogDirsResponse)
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
    m.error_code = 0
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 8 > size - pos:
            raise bad_count('DescribeLogDirsResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(DescribeLogDirsResult)
            a1.append(m1)
            m1.error_code, n = u_hh(buf, pos)
            pos += 4
            if n >= 0:
                end = pos + n
                m1.log_dir = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeLogDirsResponse.log_dir')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('DescribeLogDirsResponse.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(DescribeLogDirsTopic)
                    a2.append(m2)
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeLogDirsResponse.name')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 21 > size - pos:
                            raise bad_count('DescribeLogDirsResponse.partitions', n)
                        m2.partitions = a3 = []
                        for _ in range(n):
                            m3 = new(DescribeLogDirsPartition)
                            a3.append(m3)
                            m3.partition_index, m3.partition_size, m3.offset_lag, m3.is_future_key = u_iqqt(buf, pos)
                            pos += 21
                    else:
                        raise bad_length('DescribeLogDirsResponse.partitions')
            else:
                raise bad_length('DescribeLogDirsResponse.topics')
            m1.total_bytes = -1
            m1.usable_bytes = -1
            m1.is_cordoned = False
    else:
        raise bad_length('DescribeLogDirsResponse.results')
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[DescribeLogDirsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeLogDirsResponse)
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
    m.error_code = 0
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('DescribeLogDirsResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(DescribeLogDirsResult)
            a1.append(m1)
            m1.error_code, n = u_hB(buf, pos)
            pos += 3
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.log_dir = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeLogDirsResponse.log_dir')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('DescribeLogDirsResponse.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(DescribeLogDirsTopic)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeLogDirsResponse.name')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 22 > size - pos:
                            raise bad_count('DescribeLogDirsResponse.partitions', n)
                        m2.partitions = a3 = []
                        for _ in range(n):
                            m3 = new(DescribeLogDirsPartition)
                            a3.append(m3)
                            m3.partition_index, m3.partition_size, m3.offset_lag, m3.is_future_key, n = u_iqqtB(buf, pos)
                            pos += 22
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('DescribeLogDirsResponse.partitions')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeLogDirsResponse.topics')
            m1.total_bytes = -1
            m1.usable_bytes = -1
            m1.is_cordoned = False
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeLogDirsResponse.results')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v3(buf: Buf, pos: int) -> tuple[DescribeLogDirsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeLogDirsResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('DescribeLogDirsResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(DescribeLogDirsResult)
            a1.append(m1)
            m1.error_code, n = u_hB(buf, pos)
            pos += 3
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.log_dir = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeLogDirsResponse.log_dir')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('DescribeLogDirsResponse.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(DescribeLogDirsTopic)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeLogDirsResponse.name')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 22 > size - pos:
                            raise bad_count('DescribeLogDirsResponse.partitions', n)
                        m2.partitions = a3 = []
                        for _ in range(n):
                            m3 = new(DescribeLogDirsPartition)
                            a3.append(m3)
                            m3.partition_index, m3.partition_size, m3.offset_lag, m3.is_future_key, n = u_iqqtB(buf, pos)
                            pos += 22
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('DescribeLogDirsResponse.partitions')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeLogDirsResponse.topics')
            m1.total_bytes = -1
            m1.usable_bytes = -1
            m1.is_cordoned = False
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeLogDirsResponse.results')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v4(buf: Buf, pos: int) -> tuple[DescribeLogDirsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeLogDirsResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 21 > size - pos:
            raise bad_count('DescribeLogDirsResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(DescribeLogDirsResult)
            a1.append(m1)
            m1.error_code, n = u_hB(buf, pos)
            pos += 3
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.log_dir = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeLogDirsResponse.log_dir')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('DescribeLogDirsResponse.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(DescribeLogDirsTopic)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeLogDirsResponse.name')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 22 > size - pos:
                            raise bad_count('DescribeLogDirsResponse.partitions', n)
                        m2.partitions = a3 = []
                        for _ in range(n):
                            m3 = new(DescribeLogDirsPartition)
                            a3.append(m3)
                            m3.partition_index, m3.partition_size, m3.offset_lag, m3.is_future_key, n = u_iqqtB(buf, pos)
                            pos += 22
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('DescribeLogDirsResponse.partitions')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeLogDirsResponse.topics')
            m1.total_bytes, m1.usable_bytes = u_qq(buf, pos)
            pos += 16
            m1.is_cordoned = False
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeLogDirsResponse.results')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v5(buf: Buf, pos: int) -> tuple[DescribeLogDirsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeLogDirsResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 22 > size - pos:
            raise bad_count('DescribeLogDirsResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(DescribeLogDirsResult)
            a1.append(m1)
            m1.error_code, n = u_hB(buf, pos)
            pos += 3
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.log_dir = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeLogDirsResponse.log_dir')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('DescribeLogDirsResponse.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(DescribeLogDirsTopic)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeLogDirsResponse.name')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 22 > size - pos:
                            raise bad_count('DescribeLogDirsResponse.partitions', n)
                        m2.partitions = a3 = []
                        for _ in range(n):
                            m3 = new(DescribeLogDirsPartition)
                            a3.append(m3)
                            m3.partition_index, m3.partition_size, m3.offset_lag, m3.is_future_key, n = u_iqqtB(buf, pos)
                            pos += 22
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('DescribeLogDirsResponse.partitions')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeLogDirsResponse.topics')
            m1.total_bytes, m1.usable_bytes, m1.is_cordoned, n = u_qqtB(buf, pos)
            pos += 18
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeLogDirsResponse.results')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    1: parse_response_v1,
    2: parse_response_v2,
    3: parse_response_v3,
    4: parse_response_v4,
    5: parse_response_v5,
}


def write_response_v1(m: DescribeLogDirsResponse, out: bytearray) -> None:
    a1 = m.results
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.log_dir.encode()
        n = len(b)
        out += p_hh(m1.error_code, n)
        out += b
        a2 = m1.topics
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.name.encode()
            n = len(b)
            out += p_h(n)
            out += b
            a3 = m2.partitions
            n = len(a3)
            out += p_i(n)
            for m3 in a3:
                out += p_iqqt(m3.partition_index, m3.partition_size, m3.offset_lag, m3.is_future_key)


def write_response_v2(m: DescribeLogDirsResponse, out: bytearray) -> None:
    a1 = m.results
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.log_dir.encode()
        n = len(b) + 1
        if n < 128:
            out += p_hB(m1.error_code, n)
        else:
            out += p_h(m1.error_code)
            uvarint(out, n)
        out += b
        a2 = m1.topics
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.name.encode()
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
            for m3 in a3:
                out += p_iqqtx(m3.partition_index, m3.partition_size, m3.offset_lag, m3.is_future_key)
            out.append(0)
        out.append(0)
    out.append(0)


def write_response_v3(m: DescribeLogDirsResponse, out: bytearray) -> None:
    a1 = m.results
    n = len(a1) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
        uvarint(out, n)
    for m1 in a1:
        b = m1.log_dir.encode()
        n = len(b) + 1
        if n < 128:
            out += p_hB(m1.error_code, n)
        else:
            out += p_h(m1.error_code)
            uvarint(out, n)
        out += b
        a2 = m1.topics
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.name.encode()
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
            for m3 in a3:
                out += p_iqqtx(m3.partition_index, m3.partition_size, m3.offset_lag, m3.is_future_key)
            out.append(0)
        out.append(0)
    out.append(0)


def write_response_v4(m: DescribeLogDirsResponse, out: bytearray) -> None:
    a1 = m.results
    n = len(a1) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
        uvarint(out, n)
    for m1 in a1:
        b = m1.log_dir.encode()
        n = len(b) + 1
        if n < 128:
            out += p_hB(m1.error_code, n)
        else:
            out += p_h(m1.error_code)
            uvarint(out, n)
        out += b
        a2 = m1.topics
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.name.encode()
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
            for m3 in a3:
                out += p_iqqtx(m3.partition_index, m3.partition_size, m3.offset_lag, m3.is_future_key)
            out.append(0)
        out += p_qqx(m1.total_bytes, m1.usable_bytes)
    out.append(0)


def write_response_v5(m: DescribeLogDirsResponse, out: bytearray) -> None:
    a1 = m.results
    n = len(a1) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
        uvarint(out, n)
    for m1 in a1:
        b = m1.log_dir.encode()
        n = len(b) + 1
        if n < 128:
            out += p_hB(m1.error_code, n)
        else:
            out += p_h(m1.error_code)
            uvarint(out, n)
        out += b
        a2 = m1.topics
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.name.encode()
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
            for m3 in a3:
                out += p_iqqtx(m3.partition_index, m3.partition_size, m3.offset_lag, m3.is_future_key)
            out.append(0)
        out += p_qqtx(m1.total_bytes, m1.usable_bytes, m1.is_cordoned)
    out.append(0)


WRITE_RESPONSE = {
    1: write_response_v1,
    2: write_response_v2,
    3: write_response_v3,
    4: write_response_v4,
    5: write_response_v5,
}
