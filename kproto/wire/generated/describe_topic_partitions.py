"""DescribeTopicPartitions: API key 75, versions 0-0. Written by kproto.wire.generator: do not edit."""

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

p_Ut = Struct(">16s?").pack
p_UtB = Struct(">16s?B").pack
p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_hiii = Struct(">hiii").pack
p_hiiiB = Struct(">hiiiB").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ix = Struct(">ix").pack
u_UtB = Struct(">16s?B").unpack_from
u_b = Struct(">b").unpack_from
u_hB = Struct(">hB").unpack_from
u_hiiiB = Struct(">hiiiB").unpack_from
u_iB = Struct(">iB").unpack_from
u_ib = Struct(">ib").unpack_from


class TopicRequest(WireStruct):
    __slots__ = ('name',)
    name: str

    def __init__(
        self,
        name: str = '',
    ) -> None:
        self.name = name


class RequestCursor(WireStruct):
    __slots__ = ('topic_name', 'partition_index',)
    topic_name: str
    partition_index: int

    def __init__(
        self,
        topic_name: str = '',
        partition_index: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index


class DescribeTopicPartitionsRequest(WireStruct):
    __slots__ = ('topics', 'response_partition_limit', 'cursor',)
    topics: list[TopicRequest]
    response_partition_limit: int
    cursor: RequestCursor | None

    def __init__(
        self,
        topics: list[TopicRequest] = EMPTY,
        response_partition_limit: int = 2000,
        cursor: RequestCursor | None = None,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.response_partition_limit = response_partition_limit
        self.cursor = cursor


def parse_request_v0(buf: Buf, pos: int) -> tuple[DescribeTopicPartitionsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DescribeTopicPartitionsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 2 > size - pos:
            raise bad_count('DescribeTopicPartitionsRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(TopicRequest)
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
                raise bad_length('DescribeTopicPartitionsRequest.name')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeTopicPartitionsRequest.topics')
    m.response_partition_limit, n = u_ib(buf, pos)
    pos += 5
    if n < 0:
        m.cursor = None
    else:
        m.cursor = m1 = new(RequestCursor)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = more(buf, pos, n)
        if n:
            end = pos + n - 1
            m1.topic_name = str(buf[pos:end], "utf-8")
            pos = end
        else:
            raise bad_length('DescribeTopicPartitionsRequest.topic_name')
        m1.partition_index, n = u_iB(buf, pos)
        pos += 5
        if n:
            pos = skip_tags(buf, pos, n)
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
}


def write_request_v0(m: DescribeTopicPartitionsRequest, out: bytearray) -> None:
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
        out.append(0)
    out += p_i(m.response_partition_limit)
    m1 = m.cursor
    if m1 is None:
        out.append(255)
    else:
        out.append(1)
        b = m1.topic_name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_ix(m1.partition_index)
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
}


class DescribeTopicPartitionsResponsePartition(WireStruct):
    __slots__ = ('error_code', 'partition_index', 'leader_id', 'leader_epoch', 'replica_nodes', 'isr_nodes', 'eligible_leader_replicas', 'last_known_elr', 'offline_replicas',)
    error_code: int
    partition_index: int
    leader_id: int
    leader_epoch: int
    replica_nodes: list[int]
    isr_nodes: list[int]
    eligible_leader_replicas: list[int] | None
    last_known_elr: list[int] | None
    offline_replicas: list[int]

    def __init__(
        self,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: list[int] = EMPTY,
        isr_nodes: list[int] = EMPTY,
        eligible_leader_replicas: list[int] | None = None,
        last_known_elr: list[int] | None = None,
        offline_replicas: list[int] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = [] if replica_nodes is EMPTY else replica_nodes
        self.isr_nodes = [] if isr_nodes is EMPTY else isr_nodes
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.offline_replicas = [] if offline_replicas is EMPTY else offline_replicas


class DescribeTopicPartitionsResponseTopic(WireStruct):
    __slots__ = ('error_code', 'name', 'topic_id', 'is_internal', 'partitions', 'topic_authorized_operations',)
    error_code: int
    name: str | None
    topic_id: bytes
    is_internal: bool
    partitions: list[DescribeTopicPartitionsResponsePartition]
    topic_authorized_operations: int

    def __init__(
        self,
        error_code: int = 0,
        name: str | None = '',
        topic_id: bytes = ZERO_UUID,
        is_internal: bool = False,
        partitions: list[DescribeTopicPartitionsResponsePartition] = EMPTY,
        topic_authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = [] if partitions is EMPTY else partitions
        self.topic_authorized_operations = topic_authorized_operations


class ResponseCursor(WireStruct):
    __slots__ = ('topic_name', 'partition_index',)
    topic_name: str
    partition_index: int

    def __init__(
        self,
        topic_name: str = '',
        partition_index: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index


class DescribeTopicPartitionsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'topics', 'next_cursor',)
    throttle_time_ms: int
    topics: list[DescribeTopicPartitionsResponseTopic]
    next_cursor: ResponseCursor | None

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[DescribeTopicPartitionsResponseTopic] = EMPTY,
        next_cursor: ResponseCursor | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics
        self.next_cursor = next_cursor


def parse_response_v0(buf: Buf, pos: int) -> tuple[DescribeTopicPartitionsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeTopicPartitionsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 26 > size - pos:
            raise bad_count('DescribeTopicPartitionsResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(DescribeTopicPartitionsResponseTopic)
            a1.append(m1)
            m1.error_code, n = u_hB(buf, pos)
            pos += 3
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.name = None
            m1.topic_id, m1.is_internal, n = u_UtB(buf, pos)
            pos += 18
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 20 > size - pos:
                    raise bad_count('DescribeTopicPartitionsResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(DescribeTopicPartitionsResponsePartition)
                    a2.append(m2)
                    m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch, n = u_hiiiB(buf, pos)
                    pos += 15
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('DescribeTopicPartitionsResponse.replica_nodes', n)
                        m2.replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('DescribeTopicPartitionsResponse.replica_nodes')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('DescribeTopicPartitionsResponse.isr_nodes', n)
                        m2.isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('DescribeTopicPartitionsResponse.isr_nodes')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('DescribeTopicPartitionsResponse.eligible_leader_replicas', n)
                        m2.eligible_leader_replicas = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        m2.eligible_leader_replicas = None
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('DescribeTopicPartitionsResponse.last_known_elr', n)
                        m2.last_known_elr = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        m2.last_known_elr = None
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('DescribeTopicPartitionsResponse.offline_replicas', n)
                        m2.offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('DescribeTopicPartitionsResponse.offline_replicas')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeTopicPartitionsResponse.partitions')
            m1.topic_authorized_operations, n = u_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeTopicPartitionsResponse.topics')
    n = u_b(buf, pos)[0]
    pos += 1
    if n < 0:
        m.next_cursor = None
    else:
        m.next_cursor = m1 = new(ResponseCursor)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = more(buf, pos, n)
        if n:
            end = pos + n - 1
            m1.topic_name = str(buf[pos:end], "utf-8")
            pos = end
        else:
            raise bad_length('DescribeTopicPartitionsResponse.topic_name')
        m1.partition_index, n = u_iB(buf, pos)
        pos += 5
        if n:
            pos = skip_tags(buf, pos, n)
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
}


def write_response_v0(m: DescribeTopicPartitionsResponse, out: bytearray) -> None:
    a1 = m.topics
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
            out += p_hB(m1.error_code, n)
        else:
            out += p_h(m1.error_code)
            uvarint(out, n)
        out += b
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out += p_UtB(m1.topic_id, m1.is_internal, n)
        else:
            out += p_Ut(m1.topic_id, m1.is_internal)
            uvarint(out, n)
        for m2 in a2:
            a3 = m2.replica_nodes
            n = len(a3) + 1
            if n < 128:
                out += p_hiiiB(m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch, n)
            else:
                out += p_hiii(m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch)
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.isr_nodes
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.eligible_leader_replicas
            if a3 is None:
                a3 = ()
                n = 0
            else:
                n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.last_known_elr
            if a3 is None:
                a3 = ()
                n = 0
            else:
                n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.offline_replicas
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        out += p_ix(m1.topic_authorized_operations)
    m1 = m.next_cursor
    if m1 is None:
        out.append(255)
    else:
        out.append(1)
        b = m1.topic_name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_ix(m1.partition_index)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
}
