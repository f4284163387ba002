"""ShareAcknowledge: API key 79, versions 1-2. Written by kproto.wire.generator: do not edit."""

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

p_U = Struct(">16s").pack
p_UB = Struct(">16sB").pack
p_i = Struct(">i").pack
p_it = Struct(">i?").pack
p_itB = Struct(">i?B").pack
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_iixx = Struct(">iixx").pack
p_qq = Struct(">qq").pack
p_qqB = Struct(">qqB").pack
u_UB = Struct(">16sB").unpack_from
u_i = Struct(">i").unpack_from
u_itB = Struct(">i?B").unpack_from
u_iB = Struct(">iB").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_iiB = Struct(">iiB").unpack_from
u_qqB = Struct(">qqB").unpack_from


class AcknowledgementBatch(WireStruct):
    __slots__ = ('first_offset', 'last_offset', 'acknowledge_types',)
    first_offset: int
    last_offset: int
    acknowledge_types: list[int]

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        acknowledge_types: list[int] = EMPTY,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.acknowledge_types = [] if acknowledge_types is EMPTY else acknowledge_types


class AcknowledgePartition(WireStruct):
    __slots__ = ('partition_index', 'acknowledgement_batches',)
    partition_index: int
    acknowledgement_batches: list[AcknowledgementBatch]

    def __init__(
        self,
        partition_index: int = 0,
        acknowledgement_batches: list[AcknowledgementBatch] = EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.acknowledgement_batches = [] if acknowledgement_batches is EMPTY else acknowledgement_batches


class AcknowledgeTopic(WireStruct):
    __slots__ = ('topic_id', 'partitions',)
    topic_id: bytes
    partitions: list[AcknowledgePartition]

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[AcknowledgePartition] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class ShareAcknowledgeRequest(WireStruct):
    __slots__ = ('group_id', 'member_id', 'share_session_epoch', 'is_renew_ack', 'topics',)
    group_id: str | None
    member_id: str | None
    share_session_epoch: int
    is_renew_ack: bool
    topics: list[AcknowledgeTopic]

    def __init__(
        self,
        group_id: str | None = None,
        member_id: str | None = '',
        share_session_epoch: int = 0,
        is_renew_ack: bool = False,
        topics: list[AcknowledgeTopic] = EMPTY,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.is_renew_ack = is_renew_ack
        self.topics = [] if topics is EMPTY else topics


def parse_request_v1(buf: Buf, pos: int) -> tuple[ShareAcknowledgeRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ShareAcknowledgeRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.group_id = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.member_id = None
    m.share_session_epoch = u_i(buf, pos)[0]
    pos += 4
    m.is_renew_ack = False
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('ShareAcknowledgeRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(AcknowledgeTopic)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('ShareAcknowledgeRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(AcknowledgePartition)
                    a2.append(m2)
                    m2.partition_index, n = u_iB(buf, pos)
                    pos += 5
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 18 > size - pos:
                            raise bad_count('ShareAcknowledgeRequest.acknowledgement_batches', n)
                        m2.acknowledgement_batches = a3 = []
                        for _ in range(n):
                            m3 = new(AcknowledgementBatch)
                            a3.append(m3)
                            m3.first_offset, m3.last_offset, n = u_qqB(buf, pos)
                            pos += 17
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                n -= 1
                                left -= n
                                if left < 0 or n > size - pos:
                                    raise bad_count('ShareAcknowledgeRequest.acknowledge_types', n)
                                m3.acknowledge_types = list(unpack_from(f">{n}b", buf, pos))
                                pos += n
                            else:
                                raise bad_length('ShareAcknowledgeRequest.acknowledge_types')
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('ShareAcknowledgeRequest.acknowledgement_batches')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('ShareAcknowledgeRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ShareAcknowledgeRequest.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[ShareAcknowledgeRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ShareAcknowledgeRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.group_id = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.member_id = None
    m.share_session_epoch, m.is_renew_ack, n = u_itB(buf, pos)
    pos += 6
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('ShareAcknowledgeRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(AcknowledgeTopic)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('ShareAcknowledgeRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(AcknowledgePartition)
                    a2.append(m2)
                    m2.partition_index, n = u_iB(buf, pos)
                    pos += 5
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 18 > size - pos:
                            raise bad_count('ShareAcknowledgeRequest.acknowledgement_batches', n)
                        m2.acknowledgement_batches = a3 = []
                        for _ in range(n):
                            m3 = new(AcknowledgementBatch)
                            a3.append(m3)
                            m3.first_offset, m3.last_offset, n = u_qqB(buf, pos)
                            pos += 17
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                n -= 1
                                left -= n
                                if left < 0 or n > size - pos:
                                    raise bad_count('ShareAcknowledgeRequest.acknowledge_types', n)
                                m3.acknowledge_types = list(unpack_from(f">{n}b", buf, pos))
                                pos += n
                            else:
                                raise bad_length('ShareAcknowledgeRequest.acknowledge_types')
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('ShareAcknowledgeRequest.acknowledgement_batches')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('ShareAcknowledgeRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ShareAcknowledgeRequest.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    1: parse_request_v1,
    2: parse_request_v2,
}


def write_request_v1(m: ShareAcknowledgeRequest, out: bytearray) -> None:
    b = m.group_id
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
    b = m.member_id
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
        out += p_iB(m.share_session_epoch, n)
    else:
        out += p_i(m.share_session_epoch)
        uvarint(out, n)
    for m1 in a1:
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out += p_UB(m1.topic_id, n)
        else:
            out += p_U(m1.topic_id)
            uvarint(out, n)
        for m2 in a2:
            a3 = m2.acknowledgement_batches
            n = len(a3) + 1
            if n < 128:
                out += p_iB(m2.partition_index, n)
            else:
                out += p_i(m2.partition_index)
                uvarint(out, n)
            for m3 in a3:
                a4 = m3.acknowledge_types
                n = len(a4) + 1
                if n < 128:
                    out += p_qqB(m3.first_offset, m3.last_offset, n)
                else:
                    out += p_qq(m3.first_offset, m3.last_offset)
                    uvarint(out, n)
                out += pack(f">{len(a4)}b", *a4)
                out.append(0)
            out.append(0)
        out.append(0)
    out.append(0)


def write_request_v2(m: ShareAcknowledgeRequest, out: bytearray) -> None:
    b = m.group_id
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
    b = m.member_id
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
        out += p_itB(m.share_session_epoch, m.is_renew_ack, n)
    else:
        out += p_it(m.share_session_epoch, m.is_renew_ack)
        uvarint(out, n)
    for m1 in a1:
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out += p_UB(m1.topic_id, n)
        else:
            out += p_U(m1.topic_id)
            uvarint(out, n)
        for m2 in a2:
            a3 = m2.acknowledgement_batches
            n = len(a3) + 1
            if n < 128:
                out += p_iB(m2.partition_index, n)
            else:
                out += p_i(m2.partition_index)
                uvarint(out, n)
            for m3 in a3:
                a4 = m3.acknowledge_types
                n = len(a4) + 1
                if n < 128:
                    out += p_qqB(m3.first_offset, m3.last_offset, n)
                else:
                    out += p_qq(m3.first_offset, m3.last_offset)
                    uvarint(out, n)
                out += pack(f">{len(a4)}b", *a4)
                out.append(0)
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_REQUEST = {
    1: write_request_v1,
    2: write_request_v2,
}


class LeaderIdAndEpoch(WireStruct):
    __slots__ = ('leader_id', 'leader_epoch',)
    leader_id: int
    leader_epoch: int

    def __init__(
        self,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


class PartitionData(WireStruct):
    __slots__ = ('partition_index', 'error_code', 'error_message', 'current_leader',)
    partition_index: int
    error_code: int
    error_message: str | None
    current_leader: LeaderIdAndEpoch

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch = EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.current_leader = LeaderIdAndEpoch() if current_leader is EMPTY else current_leader


class ShareAcknowledgeTopicResponse(WireStruct):
    __slots__ = ('topic_id', 'partitions',)
    topic_id: bytes
    partitions: list[PartitionData]

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionData] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class NodeEndpoint(WireStruct):
    __slots__ = ('node_id', 'host', 'port', 'rack',)
    node_id: int
    host: str
    port: int
    rack: str | None

    def __init__(
        self,
        node_id: int = 0,
        host: str = '',
        port: int = 0,
        rack: str | None = None,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack


class ShareAcknowledgeResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'acquisition_lock_timeout_ms', 'responses', 'node_endpoints',)
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    acquisition_lock_timeout_ms: int
    responses: list[ShareAcknowledgeTopicResponse]
    node_endpoints: list[NodeEndpoint]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: list[ShareAcknowledgeTopicResponse] = EMPTY,
        node_endpoints: list[NodeEndpoint] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.acquisition_lock_timeout_ms = acquisition_lock_timeout_ms
        self.responses = [] if responses is EMPTY else responses
        self.node_endpoints = [] if node_endpoints is EMPTY else node_endpoints


def parse_response_v1(buf: Buf, pos: int) -> tuple[ShareAcknowledgeResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ShareAcknowledgeResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.error_message = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.error_message = None
    m.acquisition_lock_timeout_ms = 0
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('ShareAcknowledgeResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(ShareAcknowledgeTopicResponse)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 17 > size - pos:
                    raise bad_count('ShareAcknowledgeResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(PartitionData)
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
                    m2.current_leader = m3 = new(LeaderIdAndEpoch)
                    m3.leader_id, m3.leader_epoch, n = u_iiB(buf, pos)
                    pos += 9
                    if n:
                        pos = skip_tags(buf, pos, n)
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('ShareAcknowledgeResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ShareAcknowledgeResponse.responses')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 11 > size - pos:
            raise bad_count('ShareAcknowledgeResponse.node_endpoints', n)
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
                raise bad_length('ShareAcknowledgeResponse.host')
            m1.port, n = u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.rack = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.rack = None
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ShareAcknowledgeResponse.node_endpoints')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[ShareAcknowledgeResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ShareAcknowledgeResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.error_message = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.error_message = None
    m.acquisition_lock_timeout_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('ShareAcknowledgeResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(ShareAcknowledgeTopicResponse)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 17 > size - pos:
                    raise bad_count('ShareAcknowledgeResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(PartitionData)
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
                    m2.current_leader = m3 = new(LeaderIdAndEpoch)
                    m3.leader_id, m3.leader_epoch, n = u_iiB(buf, pos)
                    pos += 9
                    if n:
                        pos = skip_tags(buf, pos, n)
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('ShareAcknowledgeResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ShareAcknowledgeResponse.responses')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 11 > size - pos:
            raise bad_count('ShareAcknowledgeResponse.node_endpoints', n)
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
                raise bad_length('ShareAcknowledgeResponse.host')
            m1.port, n = u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.rack = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.rack = None
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ShareAcknowledgeResponse.node_endpoints')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    1: parse_response_v1,
    2: parse_response_v2,
}


def write_response_v1(m: ShareAcknowledgeResponse, out: bytearray) -> None:
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
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out += p_UB(m1.topic_id, n)
        else:
            out += p_U(m1.topic_id)
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
            m3 = m2.current_leader
            out += p_iixx(m3.leader_id, m3.leader_epoch)
        out.append(0)
    a1 = m.node_endpoints
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.host.encode()
        n = len(b) + 1
        if n < 128:
            out += p_iB(m1.node_id, n)
        else:
            out += p_i(m1.node_id)
            uvarint(out, n)
        out += b
        b = m1.rack
        if b is None:
            b = b""
            n = 0
        else:
            b = b.encode()
            n = len(b) + 1
        if n < 128:
            out += p_iB(m1.port, n)
        else:
            out += p_i(m1.port)
            uvarint(out, n)
        out += b
        out.append(0)
    out.append(0)


def write_response_v2(m: ShareAcknowledgeResponse, out: bytearray) -> None:
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
        out += p_iB(m.acquisition_lock_timeout_ms, n)
    else:
        out += p_i(m.acquisition_lock_timeout_ms)
        uvarint(out, n)
    for m1 in a1:
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out += p_UB(m1.topic_id, n)
        else:
            out += p_U(m1.topic_id)
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
            m3 = m2.current_leader
            out += p_iixx(m3.leader_id, m3.leader_epoch)
        out.append(0)
    a1 = m.node_endpoints
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.host.encode()
        n = len(b) + 1
        if n < 128:
            out += p_iB(m1.node_id, n)
        else:
            out += p_i(m1.node_id)
            uvarint(out, n)
        out += b
        b = m1.rack
        if b is None:
            b = b""
            n = 0
        else:
            b = b.encode()
            n = len(b) + 1
        if n < 128:
            out += p_iB(m1.port, n)
        else:
            out += p_i(m1.port)
            uvarint(out, n)
        out += b
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    1: write_response_v1,
    2: write_response_v2,
}
