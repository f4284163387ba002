"""DescribeQuorum: API key 55, versions 0-2. Written by kproto.wire.generator: do not edit."""

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

p_Hx = Struct(">Hx").pack
p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_iUqqqx = Struct(">i16sqqqx").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_ihiiq = Struct(">ihiiq").pack
p_ihiiqB = Struct(">ihiiqB").pack
p_iiq = Struct(">iiq").pack
p_iiqB = Struct(">iiqB").pack
p_iqqqx = Struct(">iqqqx").pack
p_iqx = Struct(">iqx").pack
p_ix = Struct(">ix").pack
u_HB = Struct(">HB").unpack_from
u_h = Struct(">h").unpack_from
u_hB = Struct(">hB").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_iUqqqB = Struct(">i16sqqqB").unpack_from
u_ih = Struct(">ih").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_iiqB = Struct(">iiqB").unpack_from
u_q = Struct(">q").unpack_from
u_qqqB = Struct(">qqqB").unpack_from


class RequestPartitionData(WireStruct):
    __slots__ = ('partition_index',)
    partition_index: int

    def __init__(
        self,
        partition_index: int = 0,
    ) -> None:
        self.partition_index = partition_index


class RequestTopicData(WireStruct):
    __slots__ = ('topic_name', 'partitions',)
    topic_name: str
    partitions: list[RequestPartitionData]

    def __init__(
        self,
        topic_name: str = '',
        partitions: list[RequestPartitionData] = EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is EMPTY else partitions


class DescribeQuorumRequest(WireStruct):
    __slots__ = ('topics',)
    topics: list[RequestTopicData]

    def __init__(
        self,
        topics: list[RequestTopicData] = EMPTY,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics


def parse_request_v0(buf: Buf, pos: int) -> tuple[DescribeQuorumRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DescribeQuorumRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('DescribeQuorumRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(RequestTopicData)
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
                raise bad_length('DescribeQuorumRequest.topic_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 5 > size - pos:
                    raise bad_count('DescribeQuorumRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(RequestPartitionData)
                    a2.append(m2)
                    m2.partition_index, n = u_iB(buf, pos)
                    pos += 5
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeQuorumRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeQuorumRequest.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v0,
    2: parse_request_v0,
}


def write_request_v0(m: DescribeQuorumRequest, out: bytearray) -> None:
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
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            out += p_ix(m2.partition_index)
        out.append(0)
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v0,
    2: write_request_v0,
}


class ReplicaState(WireStruct):
    __slots__ = ('replica_id', 'replica_directory_id', 'log_end_offset', 'last_fetch_timestamp', 'last_caught_up_timestamp',)
    replica_id: int
    replica_directory_id: bytes
    log_end_offset: int
    last_fetch_timestamp: int
    last_caught_up_timestamp: int

    def __init__(
        self,
        replica_id: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        log_end_offset: int = 0,
        last_fetch_timestamp: int = -1,
        last_caught_up_timestamp: int = -1,
    ) -> None:
        self.replica_id = replica_id
        self.replica_directory_id = replica_directory_id
        self.log_end_offset = log_end_offset
        self.last_fetch_timestamp = last_fetch_timestamp
        self.last_caught_up_timestamp = last_caught_up_timestamp


class ResponsePartitionData(WireStruct):
    __slots__ = ('partition_index', 'error_code', 'error_message', 'leader_id', 'leader_epoch', 'high_watermark', 'current_voters', 'observers',)
    partition_index: int
    error_code: int
    error_message: str | None
    leader_id: int
    leader_epoch: int
    high_watermark: int
    current_voters: list[ReplicaState]
    observers: list[ReplicaState]

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = '',
        leader_id: int = 0,
        leader_epoch: int = 0,
        high_watermark: int = 0,
        current_voters: list[ReplicaState] = EMPTY,
        observers: list[ReplicaState] = EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.high_watermark = high_watermark
        self.current_voters = [] if current_voters is EMPTY else current_voters
        self.observers = [] if observers is EMPTY else observers


class ResponseTopicData(WireStruct):
    __slots__ = ('topic_name', 'partitions',)
    topic_name: str
    partitions: list[ResponsePartitionData]

    def __init__(
        self,
        topic_name: str = '',
        partitions: list[ResponsePartitionData] = EMPTY,
    ) -> None:
        self.topic_name = topic_name
        self.partitions = [] if partitions is EMPTY else partitions


class Listener(WireStruct):
    __slots__ = ('name', 'host', 'port',)
    name: str
    host: str
    port: int

    def __init__(
        self,
        name: str = '',
        host: str = '',
        port: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port


class Node(WireStruct):
    __slots__ = ('node_id', 'listeners',)
    node_id: int
    listeners: list[Listener]

    def __init__(
        self,
        node_id: int = 0,
        listeners: list[Listener] = EMPTY,
    ) -> None:
        self.node_id = node_id
        self.listeners = [] if listeners is EMPTY else listeners


class DescribeQuorumResponse(WireStruct):
    __slots__ = ('error_code', 'error_message', 'topics', 'nodes',)
    error_code: int
    error_message: str | None
    topics: list[ResponseTopicData]
    nodes: list[Node]

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = '',
        topics: list[ResponseTopicData] = EMPTY,
        nodes: list[Node] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.topics = [] if topics is EMPTY else topics
        self.nodes = [] if nodes is EMPTY else nodes


def parse_response_v0(buf: Buf, pos: int) -> tuple[DescribeQuorumResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeQuorumResponse)
    m.error_code = u_h(buf, pos)[0]
    pos += 2
    m.error_message = ''
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('DescribeQuorumResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(ResponseTopicData)
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
                raise bad_length('DescribeQuorumResponse.topic_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 25 > size - pos:
                    raise bad_count('DescribeQuorumResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ResponsePartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.error_code = u_ih(buf, pos)
                    pos += 6
                    m2.error_message = ''
                    m2.leader_id, m2.leader_epoch, m2.high_watermark, n = u_iiqB(buf, pos)
                    pos += 17
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 13 > size - pos:
                            raise bad_count('DescribeQuorumResponse.current_voters', n)
                        m2.current_voters = a3 = []
                        for _ in range(n):
                            m3 = new(ReplicaState)
                            a3.append(m3)
                            m3.replica_id = u_i(buf, pos)[0]
                            pos += 4
                            m3.replica_directory_id = ZERO_UUID
                            m3.log_end_offset = u_q(buf, pos)[0]
                            pos += 8
                            m3.last_fetch_timestamp = -1
                            m3.last_caught_up_timestamp = -1
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('DescribeQuorumResponse.current_voters')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 13 > size - pos:
                            raise bad_count('DescribeQuorumResponse.observers', n)
                        m2.observers = a3 = []
                        for _ in range(n):
                            m3 = new(ReplicaState)
                            a3.append(m3)
                            m3.replica_id = u_i(buf, pos)[0]
                            pos += 4
                            m3.replica_directory_id = ZERO_UUID
                            m3.log_end_offset = u_q(buf, pos)[0]
                            pos += 8
                            m3.last_fetch_timestamp = -1
                            m3.last_caught_up_timestamp = -1
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('DescribeQuorumResponse.observers')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeQuorumResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeQuorumResponse.topics')
    m.nodes = []
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[DescribeQuorumResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeQuorumResponse)
    m.error_code = u_h(buf, pos)[0]
    pos += 2
    m.error_message = ''
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('DescribeQuorumResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(ResponseTopicData)
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
                raise bad_length('DescribeQuorumResponse.topic_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 25 > size - pos:
                    raise bad_count('DescribeQuorumResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ResponsePartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.error_code = u_ih(buf, pos)
                    pos += 6
                    m2.error_message = ''
                    m2.leader_id, m2.leader_epoch, m2.high_watermark, n = u_iiqB(buf, pos)
                    pos += 17
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 29 > size - pos:
                            raise bad_count('DescribeQuorumResponse.current_voters', n)
                        m2.current_voters = a3 = []
                        for _ in range(n):
                            m3 = new(ReplicaState)
                            a3.append(m3)
                            m3.replica_id = u_i(buf, pos)[0]
                            pos += 4
                            m3.replica_directory_id = ZERO_UUID
                            m3.log_end_offset, m3.last_fetch_timestamp, m3.last_caught_up_timestamp, n = u_qqqB(buf, pos)
                            pos += 25
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('DescribeQuorumResponse.current_voters')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 29 > size - pos:
                            raise bad_count('DescribeQuorumResponse.observers', n)
                        m2.observers = a3 = []
                        for _ in range(n):
                            m3 = new(ReplicaState)
                            a3.append(m3)
                            m3.replica_id = u_i(buf, pos)[0]
                            pos += 4
                            m3.replica_directory_id = ZERO_UUID
                            m3.log_end_offset, m3.last_fetch_timestamp, m3.last_caught_up_timestamp, n = u_qqqB(buf, pos)
                            pos += 25
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('DescribeQuorumResponse.observers')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeQuorumResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeQuorumResponse.topics')
    m.nodes = []
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[DescribeQuorumResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeQuorumResponse)
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
            raise bad_count('DescribeQuorumResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(ResponseTopicData)
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
                raise bad_length('DescribeQuorumResponse.topic_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 26 > size - pos:
                    raise bad_count('DescribeQuorumResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ResponsePartitionData)
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
                    m2.leader_id, m2.leader_epoch, m2.high_watermark, n = u_iiqB(buf, pos)
                    pos += 17
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 45 > size - pos:
                            raise bad_count('DescribeQuorumResponse.current_voters', n)
                        m2.current_voters = a3 = []
                        for _ in range(n):
                            m3 = new(ReplicaState)
                            a3.append(m3)
                            m3.replica_id, m3.replica_directory_id, m3.log_end_offset, m3.last_fetch_timestamp, m3.last_caught_up_timestamp, n = u_iUqqqB(buf, pos)
                            pos += 45
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('DescribeQuorumResponse.current_voters')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 45 > size - pos:
                            raise bad_count('DescribeQuorumResponse.observers', n)
                        m2.observers = a3 = []
                        for _ in range(n):
                            m3 = new(ReplicaState)
                            a3.append(m3)
                            m3.replica_id, m3.replica_directory_id, m3.log_end_offset, m3.last_fetch_timestamp, m3.last_caught_up_timestamp, n = u_iUqqqB(buf, pos)
                            pos += 45
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('DescribeQuorumResponse.observers')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeQuorumResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeQuorumResponse.topics')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('DescribeQuorumResponse.nodes', n)
        m.nodes = a1 = []
        for _ in range(n):
            m1 = new(Node)
            a1.append(m1)
            m1.node_id, n = u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 5 > size - pos:
                    raise bad_count('DescribeQuorumResponse.listeners', n)
                m1.listeners = a2 = []
                for _ in range(n):
                    m2 = new(Listener)
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
                        raise bad_length('DescribeQuorumResponse.name')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.host = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeQuorumResponse.host')
                    m2.port, n = u_HB(buf, pos)
                    pos += 3
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeQuorumResponse.listeners')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeQuorumResponse.nodes')
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


def write_response_v0(m: DescribeQuorumResponse, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_hB(m.error_code, n)
    else:
        out += p_h(m.error_code)
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
            a3 = m2.current_voters
            n = len(a3) + 1
            if n < 128:
                out += p_ihiiqB(m2.partition_index, m2.error_code, m2.leader_id, m2.leader_epoch, m2.high_watermark, n)
            else:
                out += p_ihiiq(m2.partition_index, m2.error_code, m2.leader_id, m2.leader_epoch, m2.high_watermark)
                uvarint(out, n)
            for m3 in a3:
                out += p_iqx(m3.replica_id, m3.log_end_offset)
            a3 = m2.observers
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m3 in a3:
                out += p_iqx(m3.replica_id, m3.log_end_offset)
            out.append(0)
        out.append(0)
    out.append(0)


def write_response_v1(m: DescribeQuorumResponse, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_hB(m.error_code, n)
    else:
        out += p_h(m.error_code)
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
            a3 = m2.current_voters
            n = len(a3) + 1
            if n < 128:
                out += p_ihiiqB(m2.partition_index, m2.error_code, m2.leader_id, m2.leader_epoch, m2.high_watermark, n)
            else:
                out += p_ihiiq(m2.partition_index, m2.error_code, m2.leader_id, m2.leader_epoch, m2.high_watermark)
                uvarint(out, n)
            for m3 in a3:
                out += p_iqqqx(m3.replica_id, m3.log_end_offset, m3.last_fetch_timestamp, m3.last_caught_up_timestamp)
            a3 = m2.observers
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m3 in a3:
                out += p_iqqqx(m3.replica_id, m3.log_end_offset, m3.last_fetch_timestamp, m3.last_caught_up_timestamp)
            out.append(0)
        out.append(0)
    out.append(0)


def write_response_v2(m: DescribeQuorumResponse, out: bytearray) -> None:
    b = m.error_message
    if b is None:
        b = b""
        n = 0
    else:
        b = b.encode()
        n = len(b) + 1
    if n < 128:
        out += p_hB(m.error_code, n)
    else:
        out += p_h(m.error_code)
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
            a3 = m2.current_voters
            n = len(a3) + 1
            if n < 128:
                out += p_iiqB(m2.leader_id, m2.leader_epoch, m2.high_watermark, n)
            else:
                out += p_iiq(m2.leader_id, m2.leader_epoch, m2.high_watermark)
                uvarint(out, n)
            for m3 in a3:
                out += p_iUqqqx(m3.replica_id, m3.replica_directory_id, m3.log_end_offset, m3.last_fetch_timestamp, m3.last_caught_up_timestamp)
            a3 = m2.observers
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m3 in a3:
                out += p_iUqqqx(m3.replica_id, m3.replica_directory_id, m3.log_end_offset, m3.last_fetch_timestamp, m3.last_caught_up_timestamp)
            out.append(0)
        out.append(0)
    a1 = m.nodes
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        a2 = m1.listeners
        n = len(a2) + 1
        if n < 128:
            out += p_iB(m1.node_id, n)
        else:
            out += p_i(m1.node_id)
            uvarint(out, n)
        for m2 in a2:
            b = m2.name.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.host.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            out += p_Hx(m2.port)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v1,
    2: write_response_v2,
}
