"""ShareFetch: API key 78, versions 1-2. Written by kproto.wire.generator: do not edit."""

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
p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_iiiiii = Struct(">iiiiii").pack
p_iiiiiiB = Struct(">iiiiiiB").pack
p_iiiiiibt = Struct(">iiiiiib?").pack
p_iiiiiibtB = Struct(">iiiiiib?B").pack
p_iix = Struct(">iix").pack
p_iixB = Struct(">iixB").pack
p_qq = Struct(">qq").pack
p_qqB = Struct(">qqB").pack
p_qqhx = Struct(">qqhx").pack
u_UB = Struct(">16sB").unpack_from
u_hB = Struct(">hB").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_iiB = Struct(">iiB").unpack_from
u_iiiiii = Struct(">iiiiii").unpack_from
u_iiiiiibtB = Struct(">iiiiiib?B").unpack_from
u_qqB = Struct(">qqB").unpack_from
u_qqhB = Struct(">qqhB").unpack_from


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


class FetchPartition(WireStruct):
    __slots__ = ('partition_index', 'partition_max_bytes', 'acknowledgement_batches',)
    partition_index: int
    partition_max_bytes: int
    acknowledgement_batches: list[AcknowledgementBatch]

    def __init__(
        self,
        partition_index: int = 0,
        partition_max_bytes: int = 0,
        acknowledgement_batches: list[AcknowledgementBatch] = EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.partition_max_bytes = partition_max_bytes
        self.acknowledgement_batches = [] if acknowledgement_batches is EMPTY else acknowledgement_batches


class FetchTopic(WireStruct):
    __slots__ = ('topic_id', 'partitions',)
    topic_id: bytes
    partitions: list[FetchPartition]

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[FetchPartition] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class ForgottenTopic(WireStruct):
    __slots__ = ('topic_id', 'partitions',)
    topic_id: bytes
    partitions: list[int]

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class ShareFetchRequest(WireStruct):
    __slots__ = ('group_id', 'member_id', 'share_session_epoch', 'max_wait_ms', 'min_bytes', 'max_bytes', 'max_records', 'batch_size', 'share_acquire_mode', 'is_renew_ack', 'topics', 'forgotten_topics_data',)
    group_id: str | None
    member_id: str | None
    share_session_epoch: int
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    max_records: int
    batch_size: int
    share_acquire_mode: int
    is_renew_ack: bool
    topics: list[FetchTopic]
    forgotten_topics_data: list[ForgottenTopic]

    def __init__(
        self,
        group_id: str | None = None,
        member_id: str | None = '',
        share_session_epoch: int = 0,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        max_records: int = 0,
        batch_size: int = 0,
        share_acquire_mode: int = 0,
        is_renew_ack: bool = False,
        topics: list[FetchTopic] = EMPTY,
        forgotten_topics_data: list[ForgottenTopic] = EMPTY,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.max_records = max_records
        self.batch_size = batch_size
        self.share_acquire_mode = share_acquire_mode
        self.is_renew_ack = is_renew_ack
        self.topics = [] if topics is EMPTY else topics
        self.forgotten_topics_data = [] if forgotten_topics_data is EMPTY else forgotten_topics_data


def parse_request_v1(buf: Buf, pos: int) -> tuple[ShareFetchRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ShareFetchRequest)
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
    m.share_session_epoch, m.max_wait_ms, m.min_bytes, m.max_bytes, m.max_records, m.batch_size = u_iiiiii(buf, pos)
    pos += 24
    m.share_acquire_mode = 0
    m.is_renew_ack = False
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('ShareFetchRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(FetchTopic)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('ShareFetchRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(FetchPartition)
                    a2.append(m2)
                    m2.partition_index = u_i(buf, pos)[0]
                    pos += 4
                    m2.partition_max_bytes = 0
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 18 > size - pos:
                            raise bad_count('ShareFetchRequest.acknowledgement_batches', n)
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
                                    raise bad_count('ShareFetchRequest.acknowledge_types', n)
                                m3.acknowledge_types = list(unpack_from(f">{n}b", buf, pos))
                                pos += n
                            else:
                                raise bad_length('ShareFetchRequest.acknowledge_types')
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('ShareFetchRequest.acknowledgement_batches')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('ShareFetchRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ShareFetchRequest.topics')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('ShareFetchRequest.forgotten_topics_data', n)
        m.forgotten_topics_data = a1 = []
        for _ in range(n):
            m1 = new(ForgottenTopic)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('ShareFetchRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('ShareFetchRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ShareFetchRequest.forgotten_topics_data')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[ShareFetchRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ShareFetchRequest)
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
    m.share_session_epoch, m.max_wait_ms, m.min_bytes, m.max_bytes, m.max_records, m.batch_size, m.share_acquire_mode, m.is_renew_ack, n = u_iiiiiibtB(buf, pos)
    pos += 27
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('ShareFetchRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(FetchTopic)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('ShareFetchRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(FetchPartition)
                    a2.append(m2)
                    m2.partition_index = u_i(buf, pos)[0]
                    pos += 4
                    m2.partition_max_bytes = 0
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 18 > size - pos:
                            raise bad_count('ShareFetchRequest.acknowledgement_batches', n)
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
                                    raise bad_count('ShareFetchRequest.acknowledge_types', n)
                                m3.acknowledge_types = list(unpack_from(f">{n}b", buf, pos))
                                pos += n
                            else:
                                raise bad_length('ShareFetchRequest.acknowledge_types')
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('ShareFetchRequest.acknowledgement_batches')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('ShareFetchRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ShareFetchRequest.topics')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('ShareFetchRequest.forgotten_topics_data', n)
        m.forgotten_topics_data = a1 = []
        for _ in range(n):
            m1 = new(ForgottenTopic)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('ShareFetchRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('ShareFetchRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ShareFetchRequest.forgotten_topics_data')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    1: parse_request_v1,
    2: parse_request_v2,
}


def write_request_v1(m: ShareFetchRequest, out: bytearray) -> None:
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
        out += p_iiiiiiB(m.share_session_epoch, m.max_wait_ms, m.min_bytes, m.max_bytes, m.max_records, m.batch_size, n)
    else:
        out += p_iiiiii(m.share_session_epoch, m.max_wait_ms, m.min_bytes, m.max_bytes, m.max_records, m.batch_size)
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
    a1 = m.forgotten_topics_data
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
        out += pack(f">{len(a2)}i", *a2)
        out.append(0)
    out.append(0)


def write_request_v2(m: ShareFetchRequest, out: bytearray) -> None:
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
        out += p_iiiiiibtB(m.share_session_epoch, m.max_wait_ms, m.min_bytes, m.max_bytes, m.max_records, m.batch_size, m.share_acquire_mode, m.is_renew_ack, n)
    else:
        out += p_iiiiiibt(m.share_session_epoch, m.max_wait_ms, m.min_bytes, m.max_bytes, m.max_records, m.batch_size, m.share_acquire_mode, m.is_renew_ack)
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
    a1 = m.forgotten_topics_data
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
        out += pack(f">{len(a2)}i", *a2)
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


class AcquiredRecords(WireStruct):
    __slots__ = ('first_offset', 'last_offset', 'delivery_count',)
    first_offset: int
    last_offset: int
    delivery_count: int

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_count = delivery_count


class PartitionData(WireStruct):
    __slots__ = ('partition_index', 'error_code', 'error_message', 'acknowledge_error_code', 'acknowledge_error_message', 'current_leader', 'records', 'acquired_records',)
    partition_index: int
    error_code: int
    error_message: str | None
    acknowledge_error_code: int
    acknowledge_error_message: str | None
    current_leader: LeaderIdAndEpoch
    records: memoryview | None
    acquired_records: list[AcquiredRecords]

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acknowledge_error_code: int = 0,
        acknowledge_error_message: str | None = None,
        current_leader: LeaderIdAndEpoch = EMPTY,
        records: memoryview | None = None,
        acquired_records: list[AcquiredRecords] = EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.acknowledge_error_code = acknowledge_error_code
        self.acknowledge_error_message = acknowledge_error_message
        self.current_leader = LeaderIdAndEpoch() if current_leader is EMPTY else current_leader
        self.records = records
        self.acquired_records = [] if acquired_records is EMPTY else acquired_records


class ShareFetchableTopicResponse(WireStruct):
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


class ShareFetchResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'acquisition_lock_timeout_ms', 'responses', 'node_endpoints',)
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    acquisition_lock_timeout_ms: int
    responses: list[ShareFetchableTopicResponse]
    node_endpoints: list[NodeEndpoint]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: list[ShareFetchableTopicResponse] = EMPTY,
        node_endpoints: list[NodeEndpoint] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.acquisition_lock_timeout_ms = acquisition_lock_timeout_ms
        self.responses = [] if responses is EMPTY else responses
        self.node_endpoints = [] if node_endpoints is EMPTY else node_endpoints


def parse_response_v1(buf: Buf, pos: int) -> tuple[ShareFetchResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ShareFetchResponse)
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
            raise bad_count('ShareFetchResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(ShareFetchableTopicResponse)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 22 > size - pos:
                    raise bad_count('ShareFetchResponse.partitions', n)
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
                    m2.acknowledge_error_code, n = u_hB(buf, pos)
                    pos += 3
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.acknowledge_error_message = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.acknowledge_error_message = None
                    m2.current_leader = m3 = new(LeaderIdAndEpoch)
                    m3.leader_id, m3.leader_epoch, n = u_iiB(buf, pos)
                    pos += 9
                    if n:
                        pos = skip_tags(buf, pos, n)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.records = buf[pos:end]
                        pos = end
                    else:
                        raise bad_length('ShareFetchResponse.records')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 19 > size - pos:
                            raise bad_count('ShareFetchResponse.acquired_records', n)
                        m2.acquired_records = a3 = []
                        for _ in range(n):
                            m3 = new(AcquiredRecords)
                            a3.append(m3)
                            m3.first_offset, m3.last_offset, m3.delivery_count, n = u_qqhB(buf, pos)
                            pos += 19
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('ShareFetchResponse.acquired_records')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('ShareFetchResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ShareFetchResponse.responses')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 11 > size - pos:
            raise bad_count('ShareFetchResponse.node_endpoints', n)
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
                raise bad_length('ShareFetchResponse.host')
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
        raise bad_length('ShareFetchResponse.node_endpoints')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    1: parse_response_v1,
    2: parse_response_v1,
}


def write_response_v1(m: ShareFetchResponse, out: bytearray) -> None:
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
            b = m2.acknowledge_error_message
            if b is None:
                b = b""
                n = 0
            else:
                b = b.encode()
                n = len(b) + 1
            if n < 128:
                out += p_hB(m2.acknowledge_error_code, n)
            else:
                out += p_h(m2.acknowledge_error_code)
                uvarint(out, n)
            out += b
            m3 = m2.current_leader
            b = m2.records
            n = len(b) + 1
            if n < 128:
                out += p_iixB(m3.leader_id, m3.leader_epoch, n)
            else:
                out += p_iix(m3.leader_id, m3.leader_epoch)
                uvarint(out, n)
            out += b
            a3 = m2.acquired_records
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m3 in a3:
                out += p_qqhx(m3.first_offset, m3.last_offset, m3.delivery_count)
            out.append(0)
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
    2: write_response_v1,
}
