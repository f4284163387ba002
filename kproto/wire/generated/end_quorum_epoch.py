"""EndQuorumEpoch: API key 54, versions 0-1. Written by kproto.wire.generator: do not edit."""

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
p_iUx = Struct(">i16sx").pack
p_ihii = Struct(">ihii").pack
p_ihiix = Struct(">ihiix").pack
p_iii = Struct(">iii").pack
p_iiiB = Struct(">iiiB").pack
p_iiii = Struct(">iiii").pack
u_HB = Struct(">HB").unpack_from
u_h = Struct(">h").unpack_from
u_hB = Struct(">hB").unpack_from
u_hi = Struct(">hi").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_iUB = Struct(">i16sB").unpack_from
u_ihii = Struct(">ihii").unpack_from
u_ihiiB = Struct(">ihiiB").unpack_from
u_iii = Struct(">iii").unpack_from
u_iiii = Struct(">iiii").unpack_from


class ReplicaInfo(WireStruct):
    __slots__ = ('candidate_id', 'candidate_directory_id',)
    candidate_id: int
    candidate_directory_id: bytes

    def __init__(
        self,
        candidate_id: int = 0,
        candidate_directory_id: bytes = ZERO_UUID,
    ) -> None:
        self.candidate_id = candidate_id
        self.candidate_directory_id = candidate_directory_id


class RequestPartitionData(WireStruct):
    __slots__ = ('partition_index', 'leader_id', 'leader_epoch', 'preferred_successors', 'preferred_candidates',)
    partition_index: int
    leader_id: int
    leader_epoch: int
    preferred_successors: list[int]
    preferred_candidates: list[ReplicaInfo]

    def __init__(
        self,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        preferred_successors: list[int] = EMPTY,
        preferred_candidates: list[ReplicaInfo] = EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.preferred_successors = [] if preferred_successors is EMPTY else preferred_successors
        self.preferred_candidates = [] if preferred_candidates is EMPTY else preferred_candidates


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


class EndQuorumEpochRequest(WireStruct):
    __slots__ = ('cluster_id', 'topics', 'leader_endpoints',)
    cluster_id: str | None
    topics: list[RequestTopicData]
    leader_endpoints: list[LeaderEndpoint]

    def __init__(
        self,
        cluster_id: str | None = None,
        topics: list[RequestTopicData] = EMPTY,
        leader_endpoints: list[LeaderEndpoint] = EMPTY,
    ) -> None:
        self.cluster_id = cluster_id
        self.topics = [] if topics is EMPTY else topics
        self.leader_endpoints = [] if leader_endpoints is EMPTY else leader_endpoints


def parse_request_v0(buf: Buf, pos: int) -> tuple[EndQuorumEpochRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(EndQuorumEpochRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.cluster_id = None
    else:
        raise bad_length('EndQuorumEpochRequest.cluster_id')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('EndQuorumEpochRequest.topics', n)
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
                raise bad_length('EndQuorumEpochRequest.topic_name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 16 > size - pos:
                    raise bad_count('EndQuorumEpochRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(RequestPartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.leader_id, m2.leader_epoch, n = u_iiii(buf, pos)
                    pos += 16
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('EndQuorumEpochRequest.preferred_successors', n)
                        m2.preferred_successors = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('EndQuorumEpochRequest.preferred_successors')
                    m2.preferred_candidates = []
            else:
                raise bad_length('EndQuorumEpochRequest.partitions')
    else:
        raise bad_length('EndQuorumEpochRequest.topics')
    m.leader_endpoints = []
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[EndQuorumEpochRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(EndQuorumEpochRequest)
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
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('EndQuorumEpochRequest.topics', n)
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
                raise bad_length('EndQuorumEpochRequest.topic_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 14 > size - pos:
                    raise bad_count('EndQuorumEpochRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(RequestPartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.leader_id, m2.leader_epoch = u_iii(buf, pos)
                    pos += 12
                    m2.preferred_successors = []
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 21 > size - pos:
                            raise bad_count('EndQuorumEpochRequest.preferred_candidates', n)
                        m2.preferred_candidates = a3 = []
                        for _ in range(n):
                            m3 = new(ReplicaInfo)
                            a3.append(m3)
                            m3.candidate_id, m3.candidate_directory_id, n = u_iUB(buf, pos)
                            pos += 21
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('EndQuorumEpochRequest.preferred_candidates')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('EndQuorumEpochRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('EndQuorumEpochRequest.topics')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('EndQuorumEpochRequest.leader_endpoints', n)
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
                raise bad_length('EndQuorumEpochRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('EndQuorumEpochRequest.host')
            m1.port, n = u_HB(buf, pos)
            pos += 3
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('EndQuorumEpochRequest.leader_endpoints')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
}


def write_request_v0(m: EndQuorumEpochRequest, out: bytearray) -> None:
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
            a3 = m2.preferred_successors
            n = len(a3)
            out += p_iiii(m2.partition_index, m2.leader_id, m2.leader_epoch, n)
            out += pack(f">{len(a3)}i", *a3)


def write_request_v1(m: EndQuorumEpochRequest, out: bytearray) -> None:
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
            a3 = m2.preferred_candidates
            n = len(a3) + 1
            if n < 128:
                out += p_iiiB(m2.partition_index, m2.leader_id, m2.leader_epoch, n)
            else:
                out += p_iii(m2.partition_index, m2.leader_id, m2.leader_epoch)
                uvarint(out, n)
            for m3 in a3:
                out += p_iUx(m3.candidate_id, m3.candidate_directory_id)
            out.append(0)
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


class EndQuorumEpochResponse(WireStruct):
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


def parse_response_v0(buf: Buf, pos: int) -> tuple[EndQuorumEpochResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(EndQuorumEpochResponse)
    m.error_code, n = u_hi(buf, pos)
    pos += 6
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('EndQuorumEpochResponse.topics', n)
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
                raise bad_length('EndQuorumEpochResponse.topic_name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 14 > size - pos:
                    raise bad_count('EndQuorumEpochResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ResponsePartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, m2.leader_id, m2.leader_epoch = u_ihii(buf, pos)
                    pos += 14
            else:
                raise bad_length('EndQuorumEpochResponse.partitions')
    else:
        raise bad_length('EndQuorumEpochResponse.topics')
    m.node_endpoints = []
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[EndQuorumEpochResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(EndQuorumEpochResponse)
    m.error_code, n = u_hB(buf, pos)
    pos += 3
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('EndQuorumEpochResponse.topics', n)
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
                raise bad_length('EndQuorumEpochResponse.topic_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 15 > size - pos:
                    raise bad_count('EndQuorumEpochResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ResponsePartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, m2.leader_id, m2.leader_epoch, n = u_ihiiB(buf, pos)
                    pos += 15
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('EndQuorumEpochResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('EndQuorumEpochResponse.topics')
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
                        raise bad_count('EndQuorumEpochResponse.node_endpoints', n)
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
                            raise bad_length('EndQuorumEpochResponse.host')
                        m1.port, n = u_HB(buf, pos)
                        pos += 3
                        if n:
                            pos = skip_tags(buf, pos, n)
                else:
                    raise bad_length('EndQuorumEpochResponse.node_endpoints')
                if pos != end1:
                    raise bad_tag('EndQuorumEpochResponse.node_endpoints')
            else:
                pos = end1
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v1,
}


def write_response_v0(m: EndQuorumEpochResponse, out: bytearray) -> None:
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


def write_response_v1(m: EndQuorumEpochResponse, out: bytearray) -> None:
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
