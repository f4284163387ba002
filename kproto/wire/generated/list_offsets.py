"""ListOffsets: API key 2, versions 1-11. Written by kproto.wire.generator: do not edit."""

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
p_ib = Struct(">ib").pack
p_ibB = Struct(">ibB").pack
p_ibi = Struct(">ibi").pack
p_ihqq = Struct(">ihqq").pack
p_ihqqi = Struct(">ihqqi").pack
p_ihqqix = Struct(">ihqqix").pack
p_ii = Struct(">ii").pack
p_iiq = Struct(">iiq").pack
p_iiqx = Struct(">iiqx").pack
p_iq = Struct(">iq").pack
p_ix = Struct(">ix").pack
u_h = Struct(">h").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ibB = Struct(">ibB").unpack_from
u_ibi = Struct(">ibi").unpack_from
u_ihqq = Struct(">ihqq").unpack_from
u_ihqqi = Struct(">ihqqi").unpack_from
u_ihqqiB = Struct(">ihqqiB").unpack_from
u_ii = Struct(">ii").unpack_from
u_iiq = Struct(">iiq").unpack_from
u_iiqB = Struct(">iiqB").unpack_from
u_q = Struct(">q").unpack_from


class ListOffsetsPartition(WireStruct):
    __slots__ = ('partition_index', 'current_leader_epoch', 'timestamp',)
    partition_index: int
    current_leader_epoch: int
    timestamp: int

    def __init__(
        self,
        partition_index: int = 0,
        current_leader_epoch: int = -1,
        timestamp: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.current_leader_epoch = current_leader_epoch
        self.timestamp = timestamp


class ListOffsetsTopic(WireStruct):
    __slots__ = ('name', 'partitions',)
    name: str
    partitions: list[ListOffsetsPartition]

    def __init__(
        self,
        name: str = '',
        partitions: list[ListOffsetsPartition] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class ListOffsetsRequest(WireStruct):
    __slots__ = ('replica_id', 'isolation_level', 'topics', 'timeout_ms',)
    replica_id: int
    isolation_level: int
    topics: list[ListOffsetsTopic]
    timeout_ms: int

    def __init__(
        self,
        replica_id: int = 0,
        isolation_level: int = 0,
        topics: list[ListOffsetsTopic] = EMPTY,
        timeout_ms: int = 0,
    ) -> None:
        self.replica_id = replica_id
        self.isolation_level = isolation_level
        self.topics = [] if topics is EMPTY else topics
        self.timeout_ms = timeout_ms


def parse_request_v1(buf: Buf, pos: int) -> tuple[ListOffsetsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ListOffsetsRequest)
    m.replica_id = u_i(buf, pos)[0]
    pos += 4
    m.isolation_level = 0
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ListOffsetsRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(ListOffsetsTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListOffsetsRequest.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 12 > size - pos:
                    raise bad_count('ListOffsetsRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ListOffsetsPartition)
                    a2.append(m2)
                    m2.partition_index = u_i(buf, pos)[0]
                    pos += 4
                    m2.current_leader_epoch = -1
                    m2.timestamp = u_q(buf, pos)[0]
                    pos += 8
            else:
                raise bad_length('ListOffsetsRequest.partitions')
    else:
        raise bad_length('ListOffsetsRequest.topics')
    m.timeout_ms = 0
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[ListOffsetsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ListOffsetsRequest)
    m.replica_id, m.isolation_level, n = u_ibi(buf, pos)
    pos += 9
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ListOffsetsRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(ListOffsetsTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListOffsetsRequest.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 12 > size - pos:
                    raise bad_count('ListOffsetsRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ListOffsetsPartition)
                    a2.append(m2)
                    m2.partition_index = u_i(buf, pos)[0]
                    pos += 4
                    m2.current_leader_epoch = -1
                    m2.timestamp = u_q(buf, pos)[0]
                    pos += 8
            else:
                raise bad_length('ListOffsetsRequest.partitions')
    else:
        raise bad_length('ListOffsetsRequest.topics')
    m.timeout_ms = 0
    return m, pos


def parse_request_v4(buf: Buf, pos: int) -> tuple[ListOffsetsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ListOffsetsRequest)
    m.replica_id, m.isolation_level, n = u_ibi(buf, pos)
    pos += 9
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ListOffsetsRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(ListOffsetsTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListOffsetsRequest.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 16 > size - pos:
                    raise bad_count('ListOffsetsRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ListOffsetsPartition)
                    a2.append(m2)
                    m2.partition_index, m2.current_leader_epoch, m2.timestamp = u_iiq(buf, pos)
                    pos += 16
            else:
                raise bad_length('ListOffsetsRequest.partitions')
    else:
        raise bad_length('ListOffsetsRequest.topics')
    m.timeout_ms = 0
    return m, pos


def parse_request_v6(buf: Buf, pos: int) -> tuple[ListOffsetsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ListOffsetsRequest)
    m.replica_id, m.isolation_level, n = u_ibB(buf, pos)
    pos += 6
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('ListOffsetsRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(ListOffsetsTopic)
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
                raise bad_length('ListOffsetsRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 17 > size - pos:
                    raise bad_count('ListOffsetsRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ListOffsetsPartition)
                    a2.append(m2)
                    m2.partition_index, m2.current_leader_epoch, m2.timestamp, n = u_iiqB(buf, pos)
                    pos += 17
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('ListOffsetsRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ListOffsetsRequest.topics')
    m.timeout_ms = 0
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v10(buf: Buf, pos: int) -> tuple[ListOffsetsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ListOffsetsRequest)
    m.replica_id, m.isolation_level, n = u_ibB(buf, pos)
    pos += 6
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('ListOffsetsRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(ListOffsetsTopic)
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
                raise bad_length('ListOffsetsRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 17 > size - pos:
                    raise bad_count('ListOffsetsRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ListOffsetsPartition)
                    a2.append(m2)
                    m2.partition_index, m2.current_leader_epoch, m2.timestamp, n = u_iiqB(buf, pos)
                    pos += 17
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('ListOffsetsRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ListOffsetsRequest.topics')
    m.timeout_ms, n = u_iB(buf, pos)
    pos += 5
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    1: parse_request_v1,
    2: parse_request_v2,
    3: parse_request_v2,
    4: parse_request_v4,
    5: parse_request_v4,
    6: parse_request_v6,
    7: parse_request_v6,
    8: parse_request_v6,
    9: parse_request_v6,
    10: parse_request_v10,
    11: parse_request_v10,
}


def write_request_v1(m: ListOffsetsRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_ii(m.replica_id, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_iq(m2.partition_index, m2.timestamp)


def write_request_v2(m: ListOffsetsRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_ibi(m.replica_id, m.isolation_level, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_iq(m2.partition_index, m2.timestamp)


def write_request_v4(m: ListOffsetsRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_ibi(m.replica_id, m.isolation_level, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_iiq(m2.partition_index, m2.current_leader_epoch, m2.timestamp)


def write_request_v6(m: ListOffsetsRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_ibB(m.replica_id, m.isolation_level, n)
    else:
        out += p_ib(m.replica_id, m.isolation_level)
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
            out += p_iiqx(m2.partition_index, m2.current_leader_epoch, m2.timestamp)
        out.append(0)
    out.append(0)


def write_request_v10(m: ListOffsetsRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_ibB(m.replica_id, m.isolation_level, n)
    else:
        out += p_ib(m.replica_id, m.isolation_level)
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
            out += p_iiqx(m2.partition_index, m2.current_leader_epoch, m2.timestamp)
        out.append(0)
    out += p_ix(m.timeout_ms)


WRITE_REQUEST = {
    1: write_request_v1,
    2: write_request_v2,
    3: write_request_v2,
    4: write_request_v4,
    5: write_request_v4,
    6: write_request_v6,
    7: write_request_v6,
    8: write_request_v6,
    9: write_request_v6,
    10: write_request_v10,
    11: write_request_v10,
}


class ListOffsetsPartitionResponse(WireStruct):
    __slots__ = ('partition_index', 'error_code', 'timestamp', 'offset', 'leader_epoch',)
    partition_index: int
    error_code: int
    timestamp: int
    offset: int
    leader_epoch: int

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        timestamp: int = -1,
        offset: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.timestamp = timestamp
        self.offset = offset
        self.leader_epoch = leader_epoch


class ListOffsetsTopicResponse(WireStruct):
    __slots__ = ('name', 'partitions',)
    name: str
    partitions: list[ListOffsetsPartitionResponse]

    def __init__(
        self,
        name: str = '',
        partitions: list[ListOffsetsPartitionResponse] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class ListOffsetsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'topics',)
    throttle_time_ms: int
    topics: list[ListOffsetsTopicResponse]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[ListOffsetsTopicResponse] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics


def parse_response_v1(buf: Buf, pos: int) -> tuple[ListOffsetsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ListOffsetsResponse)
    m.throttle_time_ms = 0
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ListOffsetsResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(ListOffsetsTopicResponse)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListOffsetsResponse.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 22 > size - pos:
                    raise bad_count('ListOffsetsResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ListOffsetsPartitionResponse)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, m2.timestamp, m2.offset = u_ihqq(buf, pos)
                    pos += 22
                    m2.leader_epoch = -1
            else:
                raise bad_length('ListOffsetsResponse.partitions')
    else:
        raise bad_length('ListOffsetsResponse.topics')
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[ListOffsetsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ListOffsetsResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ListOffsetsResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(ListOffsetsTopicResponse)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListOffsetsResponse.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 22 > size - pos:
                    raise bad_count('ListOffsetsResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ListOffsetsPartitionResponse)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, m2.timestamp, m2.offset = u_ihqq(buf, pos)
                    pos += 22
                    m2.leader_epoch = -1
            else:
                raise bad_length('ListOffsetsResponse.partitions')
    else:
        raise bad_length('ListOffsetsResponse.topics')
    return m, pos


def parse_response_v4(buf: Buf, pos: int) -> tuple[ListOffsetsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ListOffsetsResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ListOffsetsResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(ListOffsetsTopicResponse)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListOffsetsResponse.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 26 > size - pos:
                    raise bad_count('ListOffsetsResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ListOffsetsPartitionResponse)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, m2.timestamp, m2.offset, m2.leader_epoch = u_ihqqi(buf, pos)
                    pos += 26
            else:
                raise bad_length('ListOffsetsResponse.partitions')
    else:
        raise bad_length('ListOffsetsResponse.topics')
    return m, pos


def parse_response_v6(buf: Buf, pos: int) -> tuple[ListOffsetsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ListOffsetsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('ListOffsetsResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(ListOffsetsTopicResponse)
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
                raise bad_length('ListOffsetsResponse.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 27 > size - pos:
                    raise bad_count('ListOffsetsResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ListOffsetsPartitionResponse)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, m2.timestamp, m2.offset, m2.leader_epoch, n = u_ihqqiB(buf, pos)
                    pos += 27
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('ListOffsetsResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ListOffsetsResponse.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    1: parse_response_v1,
    2: parse_response_v2,
    3: parse_response_v2,
    4: parse_response_v4,
    5: parse_response_v4,
    6: parse_response_v6,
    7: parse_response_v6,
    8: parse_response_v6,
    9: parse_response_v6,
    10: parse_response_v6,
    11: parse_response_v6,
}


def write_response_v1(m: ListOffsetsResponse, out: bytearray) -> None:
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
            out += p_ihqq(m2.partition_index, m2.error_code, m2.timestamp, m2.offset)


def write_response_v2(m: ListOffsetsResponse, out: bytearray) -> None:
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
            out += p_ihqq(m2.partition_index, m2.error_code, m2.timestamp, m2.offset)


def write_response_v4(m: ListOffsetsResponse, out: bytearray) -> None:
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
            out += p_ihqqi(m2.partition_index, m2.error_code, m2.timestamp, m2.offset, m2.leader_epoch)


def write_response_v6(m: ListOffsetsResponse, out: bytearray) -> None:
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
            out += p_ihqqix(m2.partition_index, m2.error_code, m2.timestamp, m2.offset, m2.leader_epoch)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    1: write_response_v1,
    2: write_response_v2,
    3: write_response_v2,
    4: write_response_v4,
    5: write_response_v4,
    6: write_response_v6,
    7: write_response_v6,
    8: write_response_v6,
    9: write_response_v6,
    10: write_response_v6,
    11: write_response_v6,
}
