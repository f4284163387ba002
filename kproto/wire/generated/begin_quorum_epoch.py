"""BeginQuorumEpoch: API key 53, versions 0-1. Written by kproto.wire.generator: do not edit."""

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
    bad_tag,
    count_tags,
    more,
    new,
    read_uvarint,
    skip_tags,
    uvarint,
)

p_B = Struct(">B").pack
p_Hx = Struct(">Hx").pack
p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_hi = Struct(">hi").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_iUiix = Struct(">i16siix").pack
p_ihii = Struct(">ihii").pack
p_ihiix = Struct(">ihiix").pack
p_iii = Struct(">iii").pack
u_HB = Struct(">HB").unpack_from
u_h = Struct(">h").unpack_from
u_hB = Struct(">hB").unpack_from
u_hi = Struct(">hi").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_iUiiB = Struct(">i16siiB").unpack_from
u_ihii = Struct(">ihii").unpack_from
u_ihiiB = Struct(">ihiiB").unpack_from
u_ii = Struct(">ii").unpack_from


class RequestPartitionData(WireStruct):
    __slots__ = ('partition_index', 'voter_directory_id', 'leader_id', 'leader_epoch',)
    partition_index: int
    voter_directory_id: bytes
    leader_id: int
    leader_epoch: int

    def __init__(
        self,
        partition_index: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.voter_directory_id = voter_directory_id
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


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


class LeaderEndpoint(WireStruct):
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


class BeginQuorumEpochRequest(WireStruct):
    __slots__ = ('cluster_id', 'voter_id', 'topics', 'leader_endpoints',)
    cluster_id: str | None
    voter_id: int
    topics: list[RequestTopicData]
    leader_endpoints: list[LeaderEndpoint]

    def __init__(
        self,
        cluster_id: str | None = None,
        voter_id: int = -1,
        topics: list[RequestTopicData] = EMPTY,
        leader_endpoints: list[LeaderEndpoint] = EMPTY,
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.topics = [] if topics is EMPTY else topics
        self.leader_endpoints = [] if leader_endpoints is EMPTY else leader_endpoints


def parse_request_v0(buf: Buf, pos: int) -> tuple[BeginQuorumEpochRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(BeginQuorumEpochRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.cluster_id = None
    else:
        raise bad_length('BeginQuorumEpochRequest.cluster_id')
    m.voter_id = -1
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('BeginQuorumEpochRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(RequestTopicData)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('BeginQuorumEpochRequest.topic_name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 12 > size - pos:
                    raise bad_count('BeginQuorumEpochRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(RequestPartitionData)
                    a2.append(m2)
                    m2.partition_index = u_i(buf, pos)[0]
                    pos += 4
                    m2.voter_directory_id = ZERO_UUID
                    m2.leader_id, m2.leader_epoch = u_ii(buf, pos)
                    pos += 8
            else:
                raise bad_length('BeginQuorumEpochRequest.partitions')
    else:
        raise bad_length('BeginQuorumEpochRequest.topics')
    m.leader_endpoints = []
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[BeginQuorumEpochRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(BeginQuorumEpochRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.cluster_id = None
    m.voter_id, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('BeginQuorumEpochRequest.topics', n)
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
                raise bad_length('BeginQuorumEpochRequest.topic_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 29 > size - pos:
                    raise bad_count('BeginQuorumEpochRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(RequestPartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.voter_directory_id, m2.leader_id, m2.leader_epoch, n = u_iUiiB(buf, pos)
                    pos += 29
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('BeginQuorumEpochRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('BeginQuorumEpochRequest.topics')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('BeginQuorumEpochRequest.leader_endpoints', n)
        m.leader_endpoints = a1 = []
        for _ in range(n):
            m1 = new(LeaderEndpoint)
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
                raise bad_length('BeginQuorumEpochRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('BeginQuorumEpochRequest.host')
            m1.port, n = u_HB(buf, pos)
            pos += 3
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('BeginQuorumEpochRequest.leader_endpoints')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
}


def write_request_v0(m: BeginQuorumEpochRequest, out: bytearray) -> None:
    b = m.cluster_id
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_h(n)
    out += b
    a1 = m.topics
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.topic_name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_iii(m2.partition_index, m2.leader_id, m2.leader_epoch)


def write_request_v1(m: BeginQuorumEpochRequest, out: bytearray) -> None:
    b = m.cluster_id
    if b is None:
        b = b""
        n = 0
    else:
        b = b.encode()
        n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.voter_id, n)
    else:
        out += p_i(m.voter_id)
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
            out += p_iUiix(m2.partition_index, m2.voter_directory_id, m2.leader_id, m2.leader_epoch)
        out.append(0)
    a1 = m.leader_endpoints
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
        b = m1.host.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_Hx(m1.port)
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v1,
}


class ResponsePartitionData(WireStruct):
    __slots__ = ('partition_index', 'error_code', 'leader_id', 'leader_epoch',)
    partition_index: int
    error_code: int
    leader_id: int
    leader_epoch: int

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


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


class NodeEndpoint(WireStruct):
    __slots__ = ('node_id', 'host', 'port',)
    node_id: int
    host: str
    port: int

    def __init__(
        self,
        node_id: int = 0,
        host: str = '',
        port: int = 0,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port


class BeginQuorumEpochResponse(WireStruct):
    __slots__ = ('error_code', 'topics', 'node_endpoints',)
    error_code: int
    topics: list[ResponseTopicData]
    node_endpoints: list[NodeEndpoint]

    def __init__(
        self,
        error_code: int = 0,
        topics: list[ResponseTopicData] = EMPTY,
        node_endpoints: list[NodeEndpoint] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.topics = [] if topics is EMPTY else topics
        self.node_endpoints = [] if node_endpoints is EMPTY else node_endpoints


def parse_response_v0(buf: Buf, pos: int) -> tuple[BeginQuorumEpochResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(BeginQuorumEpochResponse)
    m.error_code, n = u_hi(buf, pos)
    pos += 6
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('BeginQuorumEpochResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(ResponseTopicData)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('BeginQuorumEpochResponse.topic_name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 14 > size - pos:
                    raise bad_count('BeginQuorumEpochResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ResponsePartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, m2.leader_id, m2.leader_epoch = u_ihii(buf, pos)
                    pos += 14
            else:
                raise bad_length('BeginQuorumEpochResponse.partitions')
    else:
        raise bad_length('BeginQuorumEpochResponse.topics')
    m.node_endpoints = []
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[BeginQuorumEpochResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(BeginQuorumEpochResponse)
    m.error_code, n = u_hB(buf, pos)
    pos += 3
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('BeginQuorumEpochResponse.topics', n)
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
                raise bad_length('BeginQuorumEpochResponse.topic_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 15 > size - pos:
                    raise bad_count('BeginQuorumEpochResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ResponsePartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, m2.leader_id, m2.leader_epoch, n = u_ihiiB(buf, pos)
                    pos += 15
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('BeginQuorumEpochResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('BeginQuorumEpochResponse.topics')
    m.node_endpoints = []
    n = buf[pos]
    pos += 1
    if n:
        if n > 127:
            n, pos = count_tags(buf, pos, n)
        for _ in range(n):
            tag1, pos = read_uvarint(buf, pos)
            n, pos = read_uvarint(buf, pos)
            end1 = pos + n
            if tag1 == 0:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = more(buf, pos, n)
                if n:
                    n -= 1
                    left -= n
                    if left < 0 or n * 8 > size - pos:
                        raise bad_count('BeginQuorumEpochResponse.node_endpoints', n)
                    m.node_endpoints = a1 = []
                    for _ in range(n):
                        m1 = new(NodeEndpoint)
                        a1.append(m1)
                        m1.node_id, n = u_iB(buf, pos)
                        pos += 5
                        if n > 127:
                            n, pos = more(buf, pos, n)
                        if n:
                            end = pos + n - 1
                            m1.host = str(buf[pos:end], "utf-8")
                            pos = end
                        else:
                            raise bad_length('BeginQuorumEpochResponse.host')
                        m1.port, n = u_HB(buf, pos)
                        pos += 3
                        if n:
                            pos = skip_tags(buf, pos, n)
                else:
                    raise bad_length('BeginQuorumEpochResponse.node_endpoints')
                if pos != end1:
                    raise bad_tag('BeginQuorumEpochResponse.node_endpoints')
            else:
                pos = end1
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v1,
}


def write_response_v0(m: BeginQuorumEpochResponse, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_hi(m.error_code, n)
    for m1 in a1:
        b = m1.topic_name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_ihii(m2.partition_index, m2.error_code, m2.leader_id, m2.leader_epoch)


def write_response_v1(m: BeginQuorumEpochResponse, out: bytearray) -> None:
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
            out += p_ihiix(m2.partition_index, m2.error_code, m2.leader_id, m2.leader_epoch)
        out.append(0)
    n = (m.node_endpoints != [])
    out += p_B(n)
    if n:
        if m.node_endpoints != []:
            t1 = bytearray()
            a1 = m.node_endpoints
            n = len(a1) + 1
            if n < 128:
                t1.append(n)
            else:
                uvarint(t1, n)
            for m1 in a1:
                b = m1.host.encode()
                n = len(b) + 1
                if n < 128:
                    t1 += p_iB(m1.node_id, n)
                else:
                    t1 += p_i(m1.node_id)
                    uvarint(t1, n)
                t1 += b
                t1 += p_Hx(m1.port)
            uvarint(out, 0)
            uvarint(out, len(t1))
            out += t1


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v1,
}
