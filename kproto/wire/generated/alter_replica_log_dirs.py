"""AlterReplicaLogDirs: API key 34, versions 1-2. Written by kproto.wire.generator: do not edit."""

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
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ihx = Struct(">ihx").pack
p_ii = Struct(">ii").pack
u_h = Struct(">h").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ih = Struct(">ih").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_ii = Struct(">ii").unpack_from


class AlterReplicaLogDirTopic(WireStruct):
    __slots__ = ('name', 'partitions',)
    name: str
    partitions: list[int]

    def __init__(
        self,
        name: str = '',
        partitions: list[int] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class AlterReplicaLogDir(WireStruct):
    __slots__ = ('path', 'topics',)
    path: str
    topics: list[AlterReplicaLogDirTopic]

    def __init__(
        self,
        path: str = '',
        topics: list[AlterReplicaLogDirTopic] = EMPTY,
    ) -> None:
        self.path = path
        self.topics = [] if topics is EMPTY else topics


class AlterReplicaLogDirsRequest(WireStruct):
    __slots__ = ('dirs',)
    dirs: list[AlterReplicaLogDir]

    def __init__(
        self,
        dirs: list[AlterReplicaLogDir] = EMPTY,
    ) -> None:
        self.dirs = [] if dirs is EMPTY else dirs


def parse_request_v1(buf: Buf, pos: int) -> tuple[AlterReplicaLogDirsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(AlterReplicaLogDirsRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('AlterReplicaLogDirsRequest.dirs', n)
        m.dirs = a1 = []
        for _ in range(n):
            m1 = new(AlterReplicaLogDir)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.path = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('AlterReplicaLogDirsRequest.path')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('AlterReplicaLogDirsRequest.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(AlterReplicaLogDirTopic)
                    a2.append(m2)
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('AlterReplicaLogDirsRequest.name')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('AlterReplicaLogDirsRequest.partitions', n)
                        m2.partitions = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('AlterReplicaLogDirsRequest.partitions')
            else:
                raise bad_length('AlterReplicaLogDirsRequest.topics')
    else:
        raise bad_length('AlterReplicaLogDirsRequest.dirs')
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[AlterReplicaLogDirsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(AlterReplicaLogDirsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('AlterReplicaLogDirsRequest.dirs', n)
        m.dirs = a1 = []
        for _ in range(n):
            m1 = new(AlterReplicaLogDir)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.path = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('AlterReplicaLogDirsRequest.path')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('AlterReplicaLogDirsRequest.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(AlterReplicaLogDirTopic)
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
                        raise bad_length('AlterReplicaLogDirsRequest.name')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('AlterReplicaLogDirsRequest.partitions', n)
                        m2.partitions = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('AlterReplicaLogDirsRequest.partitions')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('AlterReplicaLogDirsRequest.topics')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AlterReplicaLogDirsRequest.dirs')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    1: parse_request_v1,
    2: parse_request_v2,
}


def write_request_v1(m: AlterReplicaLogDirsRequest, out: bytearray) -> None:
    a1 = m.dirs
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.path.encode()
        n = len(b)
        out += p_h(n)
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
            out += pack(f">{len(a3)}i", *a3)


def write_request_v2(m: AlterReplicaLogDirsRequest, out: bytearray) -> None:
    a1 = m.dirs
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.path.encode()
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
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_REQUEST = {
    1: write_request_v1,
    2: write_request_v2,
}


class AlterReplicaLogDirPartitionResult(WireStruct):
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


class AlterReplicaLogDirTopicResult(WireStruct):
    __slots__ = ('topic_name', 'partitions',)
    topic_name: str
    partitions: list[AlterReplicaLogDirPartitionResult]

    def __init__(
        self,
        topic_name: str = '',
        partitions: list[AlterReplicaLogDirPartitionResult] = EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is EMPTY else partitions


class AlterReplicaLogDirsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'results',)
    throttle_time_ms: int
    results: list[AlterReplicaLogDirTopicResult]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: list[AlterReplicaLogDirTopicResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is EMPTY else results


def parse_response_v1(buf: Buf, pos: int) -> tuple[AlterReplicaLogDirsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(AlterReplicaLogDirsResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('AlterReplicaLogDirsResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(AlterReplicaLogDirTopicResult)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('AlterReplicaLogDirsResponse.topic_name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('AlterReplicaLogDirsResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(AlterReplicaLogDirPartitionResult)
                    a2.append(m2)
                    m2.partition_index, m2.error_code = u_ih(buf, pos)
                    pos += 6
            else:
                raise bad_length('AlterReplicaLogDirsResponse.partitions')
    else:
        raise bad_length('AlterReplicaLogDirsResponse.results')
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[AlterReplicaLogDirsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(AlterReplicaLogDirsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('AlterReplicaLogDirsResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(AlterReplicaLogDirTopicResult)
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
                raise bad_length('AlterReplicaLogDirsResponse.topic_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 7 > size - pos:
                    raise bad_count('AlterReplicaLogDirsResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(AlterReplicaLogDirPartitionResult)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, n = u_ihB(buf, pos)
                    pos += 7
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('AlterReplicaLogDirsResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AlterReplicaLogDirsResponse.results')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    1: parse_response_v1,
    2: parse_response_v2,
}


def write_response_v1(m: AlterReplicaLogDirsResponse, out: bytearray) -> None:
    a1 = m.results
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.topic_name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_ih(m2.partition_index, m2.error_code)


def write_response_v2(m: AlterReplicaLogDirsResponse, out: bytearray) -> None:
    a1 = m.results
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.topic_name.encode()
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
            out += p_ihx(m2.partition_index, m2.error_code)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    1: write_response_v1,
    2: write_response_v2,
}
