"""AlterPartitionReassignments: API key 45, versions 0-1. Written by kproto.wire.generator: do not edit."""

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

p_i = Struct(">i").pack
p_it = Struct(">i?").pack
p_itB = Struct(">i?B").pack
p_ith = Struct(">i?h").pack
p_ithB = Struct(">i?hB").pack
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
u_hB = Struct(">hB").unpack_from
u_i = Struct(">i").unpack_from
u_itB = Struct(">i?B").unpack_from
u_ithB = Struct(">i?hB").unpack_from
u_iB = Struct(">iB").unpack_from
u_ihB = Struct(">ihB").unpack_from


class ReassignablePartition(WireStruct):
    __slots__ = ('partition_index', 'replicas',)
    partition_index: int
    replicas: list[int] | None

    def __init__(
        self,
        partition_index: int = 0,
        replicas: list[int] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.replicas = replicas


class ReassignableTopic(WireStruct):
    __slots__ = ('name', 'partitions',)
    name: str
    partitions: list[ReassignablePartition]

    def __init__(
        self,
        name: str = '',
        partitions: list[ReassignablePartition] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class AlterPartitionReassignmentsRequest(WireStruct):
    __slots__ = ('timeout_ms', 'allow_replication_factor_change', 'topics',)
    timeout_ms: int
    allow_replication_factor_change: bool
    topics: list[ReassignableTopic]

    def __init__(
        self,
        timeout_ms: int = 60000,
        allow_replication_factor_change: bool = True,
        topics: list[ReassignableTopic] = EMPTY,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.topics = [] if topics is EMPTY else topics


def parse_request_v0(buf: Buf, pos: int) -> tuple[AlterPartitionReassignmentsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(AlterPartitionReassignmentsRequest)
    m.timeout_ms = u_i(buf, pos)[0]
    pos += 4
    m.allow_replication_factor_change = True
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('AlterPartitionReassignmentsRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(ReassignableTopic)
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
                raise bad_length('AlterPartitionReassignmentsRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('AlterPartitionReassignmentsRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ReassignablePartition)
                    a2.append(m2)
                    m2.partition_index, n = u_iB(buf, pos)
                    pos += 5
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('AlterPartitionReassignmentsRequest.replicas', n)
                        m2.replicas = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        m2.replicas = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('AlterPartitionReassignmentsRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AlterPartitionReassignmentsRequest.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[AlterPartitionReassignmentsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(AlterPartitionReassignmentsRequest)
    m.timeout_ms, m.allow_replication_factor_change, n = u_itB(buf, pos)
    pos += 6
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('AlterPartitionReassignmentsRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(ReassignableTopic)
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
                raise bad_length('AlterPartitionReassignmentsRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('AlterPartitionReassignmentsRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ReassignablePartition)
                    a2.append(m2)
                    m2.partition_index, n = u_iB(buf, pos)
                    pos += 5
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('AlterPartitionReassignmentsRequest.replicas', n)
                        m2.replicas = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        m2.replicas = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('AlterPartitionReassignmentsRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AlterPartitionReassignmentsRequest.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
}


def write_request_v0(m: AlterPartitionReassignmentsRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.timeout_ms, n)
    else:
        out += p_i(m.timeout_ms)
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
            a3 = m2.replicas
            if a3 is None:
                a3 = ()
                n = 0
            else:
                n = len(a3) + 1
            if n < 128:
                out += p_iB(m2.partition_index, n)
            else:
                out += p_i(m2.partition_index)
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        out.append(0)
    out.append(0)


def write_request_v1(m: AlterPartitionReassignmentsRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_itB(m.timeout_ms, m.allow_replication_factor_change, n)
    else:
        out += p_it(m.timeout_ms, m.allow_replication_factor_change)
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
            a3 = m2.replicas
            if a3 is None:
                a3 = ()
                n = 0
            else:
                n = len(a3) + 1
            if n < 128:
                out += p_iB(m2.partition_index, n)
            else:
                out += p_i(m2.partition_index)
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v1,
}


class ReassignablePartitionResponse(WireStruct):
    __slots__ = ('partition_index', 'error_code', 'error_message',)
    partition_index: int
    error_code: int
    error_message: str | None

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message


class ReassignableTopicResponse(WireStruct):
    __slots__ = ('name', 'partitions',)
    name: str
    partitions: list[ReassignablePartitionResponse]

    def __init__(
        self,
        name: str = '',
        partitions: list[ReassignablePartitionResponse] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class AlterPartitionReassignmentsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'allow_replication_factor_change', 'error_code', 'error_message', 'responses',)
    throttle_time_ms: int
    allow_replication_factor_change: bool
    error_code: int
    error_message: str | None
    responses: list[ReassignableTopicResponse]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        allow_replication_factor_change: bool = True,
        error_code: int = 0,
        error_message: str | None = '',
        responses: list[ReassignableTopicResponse] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.error_code = error_code
        self.error_message = error_message
        self.responses = [] if responses is EMPTY else responses


def parse_response_v0(buf: Buf, pos: int) -> tuple[AlterPartitionReassignmentsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(AlterPartitionReassignmentsResponse)
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
    m.allow_replication_factor_change = True
    m.error_code, n = u_hB(buf, pos)
    pos += 3
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
        if left < 0 or n * 3 > size - pos:
            raise bad_count('AlterPartitionReassignmentsResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(ReassignableTopicResponse)
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
                raise bad_length('AlterPartitionReassignmentsResponse.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 8 > size - pos:
                    raise bad_count('AlterPartitionReassignmentsResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ReassignablePartitionResponse)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, n = u_ihB(buf, pos)
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
                raise bad_length('AlterPartitionReassignmentsResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AlterPartitionReassignmentsResponse.responses')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[AlterPartitionReassignmentsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(AlterPartitionReassignmentsResponse)
    m.throttle_time_ms, m.allow_replication_factor_change, m.error_code, n = u_ithB(buf, pos)
    pos += 8
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
        if left < 0 or n * 3 > size - pos:
            raise bad_count('AlterPartitionReassignmentsResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(ReassignableTopicResponse)
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
                raise bad_length('AlterPartitionReassignmentsResponse.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 8 > size - pos:
                    raise bad_count('AlterPartitionReassignmentsResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ReassignablePartitionResponse)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, n = u_ihB(buf, pos)
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
                raise bad_length('AlterPartitionReassignmentsResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AlterPartitionReassignmentsResponse.responses')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v1,
}


def write_response_v0(m: AlterPartitionReassignmentsResponse, out: bytearray) -> None:
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
            b = m2.error_message
            if b is None:
                b = b""
                n = 0
            else:
                b = b.encode()
                n = len(b) + 1
            if n < 128:
                out += p_ihB(m2.partition_index, m2.error_code, n)
            else:
                out += p_ih(m2.partition_index, m2.error_code)
                uvarint(out, n)
            out += b
            out.append(0)
        out.append(0)
    out.append(0)


def write_response_v1(m: AlterPartitionReassignmentsResponse, out: bytearray) -> None:
    b = m.error_message
    if b is None:
        b = b""
        n = 0
    else:
        b = b.encode()
        n = len(b) + 1
    if n < 128:
        out += p_ithB(m.throttle_time_ms, m.allow_replication_factor_change, m.error_code, n)
    else:
        out += p_ith(m.throttle_time_ms, m.allow_replication_factor_change, m.error_code)
        uvarint(out, n)
    out += b
    a1 = m.responses
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
            b = m2.error_message
            if b is None:
                b = b""
                n = 0
            else:
                b = b.encode()
                n = len(b) + 1
            if n < 128:
                out += p_ihB(m2.partition_index, m2.error_code, n)
            else:
                out += p_ih(m2.partition_index, m2.error_code)
                uvarint(out, n)
            out += b
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v1,
}
