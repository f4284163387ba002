"""ElectLeaders: API key 43, versions 0-2. Written by kproto.wire.generator: do not edit."""

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

p_b = Struct(">b").pack
p_bB = Struct(">bB").pack
p_bi = Struct(">bi").pack
p_h = Struct(">h").pack
p_i = Struct(">i").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_ihh = Struct(">ihh").pack
p_ihi = Struct(">ihi").pack
p_ii = Struct(">ii").pack
p_ix = Struct(">ix").pack
u_bB = Struct(">bB").unpack_from
u_bi = Struct(">bi").unpack_from
u_h = Struct(">h").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_ihh = Struct(">ihh").unpack_from
u_ihi = Struct(">ihi").unpack_from


class TopicPartitions(WireStruct):
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


class ElectLeadersRequest(WireStruct):
    __slots__ = ('election_type', 'topic_partitions', 'timeout_ms',)
    election_type: int
    topic_partitions: list[TopicPartitions] | None
    timeout_ms: int

    def __init__(
        self,
        election_type: int = 0,
        topic_partitions: list[TopicPartitions] | None = EMPTY,
        timeout_ms: int = 60000,
    ) -> None:
        self.election_type = election_type
        self.topic_partitions = [] if topic_partitions is EMPTY else topic_partitions
        self.timeout_ms = timeout_ms


def parse_request_v0(buf: Buf, pos: int) -> tuple[ElectLeadersRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ElectLeadersRequest)
    m.election_type = 0
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ElectLeadersRequest.topic_partitions', n)
        m.topic_partitions = a1 = []
        for _ in range(n):
            m1 = new(TopicPartitions)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ElectLeadersRequest.topic')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('ElectLeadersRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('ElectLeadersRequest.partitions')
    elif n == -1:
        m.topic_partitions = None
    else:
        raise bad_length('ElectLeadersRequest.topic_partitions')
    m.timeout_ms = u_i(buf, pos)[0]
    pos += 4
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[ElectLeadersRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ElectLeadersRequest)
    m.election_type, n = u_bi(buf, pos)
    pos += 5
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ElectLeadersRequest.topic_partitions', n)
        m.topic_partitions = a1 = []
        for _ in range(n):
            m1 = new(TopicPartitions)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ElectLeadersRequest.topic')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('ElectLeadersRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('ElectLeadersRequest.partitions')
    elif n == -1:
        m.topic_partitions = None
    else:
        raise bad_length('ElectLeadersRequest.topic_partitions')
    m.timeout_ms = u_i(buf, pos)[0]
    pos += 4
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[ElectLeadersRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ElectLeadersRequest)
    m.election_type, n = u_bB(buf, pos)
    pos += 2
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('ElectLeadersRequest.topic_partitions', n)
        m.topic_partitions = a1 = []
        for _ in range(n):
            m1 = new(TopicPartitions)
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
                raise bad_length('ElectLeadersRequest.topic')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('ElectLeadersRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('ElectLeadersRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.topic_partitions = None
    m.timeout_ms, n = u_iB(buf, pos)
    pos += 5
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
    2: parse_request_v2,
}


def write_request_v0(m: ElectLeadersRequest, out: bytearray) -> None:
    a1 = m.topic_partitions
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
    out += p_i(m.timeout_ms)


def write_request_v1(m: ElectLeadersRequest, out: bytearray) -> None:
    a1 = m.topic_partitions
    if a1 is None:
        a1 = ()
        n = -1
    else:
        n = len(a1)
    out += p_bi(m.election_type, n)
    for m1 in a1:
        b = m1.topic.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        out += pack(f">{len(a2)}i", *a2)
    out += p_i(m.timeout_ms)


def write_request_v2(m: ElectLeadersRequest, out: bytearray) -> None:
    a1 = m.topic_partitions
    if a1 is None:
        a1 = ()
        n = 0
    else:
        n = len(a1) + 1
    if n < 128:
        out += p_bB(m.election_type, n)
    else:
        out += p_b(m.election_type)
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
    out += p_ix(m.timeout_ms)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v1,
    2: write_request_v2,
}


class PartitionResult(WireStruct):
    __slots__ = ('partition_id', 'error_code', 'error_message',)
    partition_id: int
    error_code: int
    error_message: str | None

    def __init__(
        self,
        partition_id: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
    ) -> None:
        self.partition_id = partition_id
        self.error_code = error_code
        self.error_message = error_message


class ReplicaElectionResult(WireStruct):
    __slots__ = ('topic', 'partition_result',)
    topic: str
    partition_result: list[PartitionResult]

    def __init__(
        self,
        topic: str = '',
        partition_result: list[PartitionResult] = EMPTY,
    ) -> None:
        self.topic = topic
        self.partition_result = [] if partition_result is EMPTY else partition_result


class ElectLeadersResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'replica_election_results',)
    throttle_time_ms: int
    error_code: int
    replica_election_results: list[ReplicaElectionResult]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        replica_election_results: list[ReplicaElectionResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.replica_election_results = [] if replica_election_results is EMPTY else replica_election_results


def parse_response_v0(buf: Buf, pos: int) -> tuple[ElectLeadersResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ElectLeadersResponse)
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
    m.error_code = 0
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ElectLeadersResponse.replica_election_results', n)
        m.replica_election_results = a1 = []
        for _ in range(n):
            m1 = new(ReplicaElectionResult)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ElectLeadersResponse.topic')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 8 > size - pos:
                    raise bad_count('ElectLeadersResponse.partition_result', n)
                m1.partition_result = a2 = []
                for _ in range(n):
                    m2 = new(PartitionResult)
                    a2.append(m2)
                    m2.partition_id, m2.error_code, n = u_ihh(buf, pos)
                    pos += 8
                    if n >= 0:
                        end = pos + n
                        m2.error_message = str(buf[pos:end], "utf-8")
                        pos = end
                    elif n == -1:
                        m2.error_message = None
                    else:
                        raise bad_length('ElectLeadersResponse.error_message')
            else:
                raise bad_length('ElectLeadersResponse.partition_result')
    else:
        raise bad_length('ElectLeadersResponse.replica_election_results')
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[ElectLeadersResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ElectLeadersResponse)
    m.throttle_time_ms, m.error_code, n = u_ihi(buf, pos)
    pos += 10
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ElectLeadersResponse.replica_election_results', n)
        m.replica_election_results = a1 = []
        for _ in range(n):
            m1 = new(ReplicaElectionResult)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ElectLeadersResponse.topic')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 8 > size - pos:
                    raise bad_count('ElectLeadersResponse.partition_result', n)
                m1.partition_result = a2 = []
                for _ in range(n):
                    m2 = new(PartitionResult)
                    a2.append(m2)
                    m2.partition_id, m2.error_code, n = u_ihh(buf, pos)
                    pos += 8
                    if n >= 0:
                        end = pos + n
                        m2.error_message = str(buf[pos:end], "utf-8")
                        pos = end
                    elif n == -1:
                        m2.error_message = None
                    else:
                        raise bad_length('ElectLeadersResponse.error_message')
            else:
                raise bad_length('ElectLeadersResponse.partition_result')
    else:
        raise bad_length('ElectLeadersResponse.replica_election_results')
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[ElectLeadersResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ElectLeadersResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('ElectLeadersResponse.replica_election_results', n)
        m.replica_election_results = a1 = []
        for _ in range(n):
            m1 = new(ReplicaElectionResult)
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
                raise bad_length('ElectLeadersResponse.topic')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 8 > size - pos:
                    raise bad_count('ElectLeadersResponse.partition_result', n)
                m1.partition_result = a2 = []
                for _ in range(n):
                    m2 = new(PartitionResult)
                    a2.append(m2)
                    m2.partition_id, m2.error_code, n = u_ihB(buf, pos)
                    pos += 7
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.error_message = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.error_message = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('ElectLeadersResponse.partition_result')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ElectLeadersResponse.replica_election_results')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v1,
    2: parse_response_v2,
}


def write_response_v0(m: ElectLeadersResponse, out: bytearray) -> None:
    a1 = m.replica_election_results
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.topic.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partition_result
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.error_message
            if b is None:
                b = b""
                n = -1
            else:
                b = b.encode()
                n = len(b)
            out += p_ihh(m2.partition_id, m2.error_code, n)
            out += b


def write_response_v1(m: ElectLeadersResponse, out: bytearray) -> None:
    a1 = m.replica_election_results
    n = len(a1)
    out += p_ihi(m.throttle_time_ms, m.error_code, n)
    for m1 in a1:
        b = m1.topic.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partition_result
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.error_message
            if b is None:
                b = b""
                n = -1
            else:
                b = b.encode()
                n = len(b)
            out += p_ihh(m2.partition_id, m2.error_code, n)
            out += b


def write_response_v2(m: ElectLeadersResponse, out: bytearray) -> None:
    a1 = m.replica_election_results
    n = len(a1) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
        uvarint(out, n)
    for m1 in a1:
        b = m1.topic.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        a2 = m1.partition_result
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.error_message
            if b is None:
                b = b""
                n = 0
            else:
                b = b.encode()
                n = len(b) + 1
            if n < 128:
                out += p_ihB(m2.partition_id, m2.error_code, n)
            else:
                out += p_ih(m2.partition_id, m2.error_code)
                uvarint(out, n)
            out += b
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v1,
    2: write_response_v2,
}
