"""Vote: API key 52, versions 0-2. Written by kproto.wire.generator: do not edit."""

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
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ihiitx = Struct(">ihii?x").pack
p_iiiUUiqtx = Struct(">iii16s16siq?x").pack
p_iiiUUiqx = Struct(">iii16s16siqx").pack
p_iiiiqx = Struct(">iiiiqx").pack
u_HB = Struct(">HB").unpack_from
u_hB = Struct(">hB").unpack_from
u_iB = Struct(">iB").unpack_from
u_ihiitB = Struct(">ihii?B").unpack_from
u_iii = Struct(">iii").unpack_from
u_iiiUUiq = Struct(">iii16s16siq").unpack_from
u_iiiUUiqtB = Struct(">iii16s16siq?B").unpack_from
u_iq = Struct(">iq").unpack_from


class RequestPartitionData(WireStruct):
    __slots__ = ('partition_index', 'replica_epoch', 'replica_id', 'replica_directory_id', 'voter_directory_id', 'last_offset_epoch', 'last_offset', 'pre_vote',)
    partition_index: int
    replica_epoch: int
    replica_id: int
    replica_directory_id: bytes
    voter_directory_id: bytes
    last_offset_epoch: int
    last_offset: int
    pre_vote: bool

    def __init__(
        self,
        partition_index: int = 0,
        replica_epoch: int = 0,
        replica_id: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        voter_directory_id: bytes = ZERO_UUID,
        last_offset_epoch: int = 0,
        last_offset: int = 0,
        pre_vote: bool = False,
    ) -> None:
        self.partition_index = partition_index
        self.replica_epoch = replica_epoch
        self.replica_id = replica_id
        self.replica_directory_id = replica_directory_id
        self.voter_directory_id = voter_directory_id
        self.last_offset_epoch = last_offset_epoch
        self.last_offset = last_offset
        self.pre_vote = pre_vote


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


class VoteRequest(WireStruct):
    __slots__ = ('cluster_id', 'voter_id', 'topics',)
    cluster_id: str | None
    voter_id: int
    topics: list[RequestTopicData]

    def __init__(
        self,
        cluster_id: str | None = None,
        voter_id: int = -1,
        topics: list[RequestTopicData] = EMPTY,
    ) -> None:
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.topics = [] if topics is EMPTY else topics


def parse_request_v0(buf: Buf, pos: int) -> tuple[VoteRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(VoteRequest)
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
    m.voter_id = -1
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('VoteRequest.topics', n)
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
                raise bad_length('VoteRequest.topic_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 25 > size - pos:
                    raise bad_count('VoteRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(RequestPartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.replica_epoch, m2.replica_id = u_iii(buf, pos)
                    pos += 12
                    m2.replica_directory_id = ZERO_UUID
                    m2.voter_directory_id = ZERO_UUID
                    m2.last_offset_epoch, m2.last_offset = u_iq(buf, pos)
                    pos += 12
                    m2.pre_vote = False
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('VoteRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('VoteRequest.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[VoteRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(VoteRequest)
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
            raise bad_count('VoteRequest.topics', n)
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
                raise bad_length('VoteRequest.topic_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 57 > size - pos:
                    raise bad_count('VoteRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(RequestPartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.replica_epoch, m2.replica_id, m2.replica_directory_id, m2.voter_directory_id, m2.last_offset_epoch, m2.last_offset = u_iiiUUiq(buf, pos)
                    pos += 56
                    m2.pre_vote = False
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('VoteRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('VoteRequest.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[VoteRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(VoteRequest)
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
            raise bad_count('VoteRequest.topics', n)
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
                raise bad_length('VoteRequest.topic_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 58 > size - pos:
                    raise bad_count('VoteRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(RequestPartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.replica_epoch, m2.replica_id, m2.replica_directory_id, m2.voter_directory_id, m2.last_offset_epoch, m2.last_offset, m2.pre_vote, n = u_iiiUUiqtB(buf, pos)
                    pos += 58
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('VoteRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('VoteRequest.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
    2: parse_request_v2,
}


def write_request_v0(m: VoteRequest, out: bytearray) -> None:
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
            out += p_iiiiqx(m2.partition_index, m2.replica_epoch, m2.replica_id, m2.last_offset_epoch, m2.last_offset)
        out.append(0)
    out.append(0)


def write_request_v1(m: VoteRequest, out: bytearray) -> None:
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
            out += p_iiiUUiqx(m2.partition_index, m2.replica_epoch, m2.replica_id, m2.replica_directory_id, m2.voter_directory_id, m2.last_offset_epoch, m2.last_offset)
        out.append(0)
    out.append(0)


def write_request_v2(m: VoteRequest, out: bytearray) -> None:
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
            out += p_iiiUUiqtx(m2.partition_index, m2.replica_epoch, m2.replica_id, m2.replica_directory_id, m2.voter_directory_id, m2.last_offset_epoch, m2.last_offset, m2.pre_vote)
        out.append(0)
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v1,
    2: write_request_v2,
}


class ResponsePartitionData(WireStruct):
    __slots__ = ('partition_index', 'error_code', 'leader_id', 'leader_epoch', 'vote_granted',)
    partition_index: int
    error_code: int
    leader_id: int
    leader_epoch: int
    vote_granted: bool

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        vote_granted: bool = False,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.vote_granted = vote_granted


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


class VoteResponse(WireStruct):
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


def parse_response_v0(buf: Buf, pos: int) -> tuple[VoteResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(VoteResponse)
    m.error_code, n = u_hB(buf, pos)
    pos += 3
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('VoteResponse.topics', n)
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
                raise bad_length('VoteResponse.topic_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 16 > size - pos:
                    raise bad_count('VoteResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ResponsePartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, m2.leader_id, m2.leader_epoch, m2.vote_granted, n = u_ihiitB(buf, pos)
                    pos += 16
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('VoteResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('VoteResponse.topics')
    m.node_endpoints = []
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[VoteResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(VoteResponse)
    m.error_code, n = u_hB(buf, pos)
    pos += 3
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('VoteResponse.topics', n)
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
                raise bad_length('VoteResponse.topic_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 16 > size - pos:
                    raise bad_count('VoteResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ResponsePartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, m2.leader_id, m2.leader_epoch, m2.vote_granted, n = u_ihiitB(buf, pos)
                    pos += 16
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('VoteResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('VoteResponse.topics')
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
                        raise bad_count('VoteResponse.node_endpoints', n)
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
                            raise bad_length('VoteResponse.host')
                        m1.port, n = u_HB(buf, pos)
                        pos += 3
                        if n:
                            pos = skip_tags(buf, pos, n)
                else:
                    raise bad_length('VoteResponse.node_endpoints')
                if pos != end1:
                    raise bad_tag('VoteResponse.node_endpoints')
            else:
                pos = end1
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v1,
    2: parse_response_v1,
}


def write_response_v0(m: VoteResponse, out: bytearray) -> None:
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
            out += p_ihiitx(m2.partition_index, m2.error_code, m2.leader_id, m2.leader_epoch, m2.vote_granted)
        out.append(0)
    out.append(0)


def write_response_v1(m: VoteResponse, out: bytearray) -> None:
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
            out += p_ihiitx(m2.partition_index, m2.error_code, m2.leader_id, m2.leader_epoch, m2.vote_granted)
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
    2: write_response_v1,
}
