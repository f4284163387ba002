"""Produce: API key 0, versions 3-13. Written by kproto.wire.generator: do not edit."""

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
p_U = Struct(">16s").pack
p_UB = Struct(">16sB").pack
p_h = Struct(">h").pack
p_hi = Struct(">hi").pack
p_hiB = Struct(">hiB").pack
p_hii = Struct(">hii").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ihqq = Struct(">ihqq").pack
p_ihqqq = Struct(">ihqqq").pack
p_ihqqqB = Struct(">ihqqqB").pack
p_ihqqqi = Struct(">ihqqqi").pack
p_ii = Struct(">ii").pack
p_iix = Struct(">iix").pack
p_ix = Struct(">ix").pack
u_UB = Struct(">16sB").unpack_from
u_h = Struct(">h").unpack_from
u_hiB = Struct(">hiB").unpack_from
u_hii = Struct(">hii").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ih = Struct(">ih").unpack_from
u_ihqq = Struct(">ihqq").unpack_from
u_ihqqq = Struct(">ihqqq").unpack_from
u_ihqqqB = Struct(">ihqqqB").unpack_from
u_ihqqqi = Struct(">ihqqqi").unpack_from
u_ii = Struct(">ii").unpack_from
u_iiB = Struct(">iiB").unpack_from


class PartitionProduceData(WireStruct):
    __slots__ = ('index', 'records',)
    index: int
    records: memoryview | None

    def __init__(
        self,
        index: int = 0,
        records: memoryview | None = None,
    ) -> None:
        self.index = index
        self.records = records


class TopicProduceData(WireStruct):
    __slots__ = ('name', 'topic_id', 'partition_data',)
    name: str
    topic_id: bytes
    partition_data: list[PartitionProduceData]

    def __init__(
        self,
        name: str = '',
        topic_id: bytes = ZERO_UUID,
        partition_data: list[PartitionProduceData] = EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_data = [] if partition_data is EMPTY else partition_data


class ProduceRequest(WireStruct):
    __slots__ = ('transactional_id', 'acks', 'timeout_ms', 'topic_data',)
    transactional_id: str | None
    acks: int
    timeout_ms: int
    topic_data: list[TopicProduceData]

    def __init__(
        self,
        transactional_id: str | None = None,
        acks: int = 0,
        timeout_ms: int = 0,
        topic_data: list[TopicProduceData] = EMPTY,
    ) -> None:
        self.transactional_id = transactional_id
        self.acks = acks
        self.timeout_ms = timeout_ms
        self.topic_data = [] if topic_data is EMPTY else topic_data


def parse_request_v3(buf: Buf, pos: int) -> tuple[ProduceRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ProduceRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.transactional_id = None
    else:
        raise bad_length('ProduceRequest.transactional_id')
    m.acks, m.timeout_ms, n = u_hii(buf, pos)
    pos += 10
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ProduceRequest.topic_data', n)
        m.topic_data = a1 = []
        for _ in range(n):
            m1 = new(TopicProduceData)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ProduceRequest.name')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 8 > size - pos:
                    raise bad_count('ProduceRequest.partition_data', n)
                m1.partition_data = a2 = []
                for _ in range(n):
                    m2 = new(PartitionProduceData)
                    a2.append(m2)
                    m2.index, n = u_ii(buf, pos)
                    pos += 8
                    if n >= 0:
                        end = pos + n
                        m2.records = buf[pos:end]
                        pos = end
                    elif n == -1:
                        m2.records = None
                    else:
                        raise bad_length('ProduceRequest.records')
            else:
                raise bad_length('ProduceRequest.partition_data')
    else:
        raise bad_length('ProduceRequest.topic_data')
    return m, pos


def parse_request_v9(buf: Buf, pos: int) -> tuple[ProduceRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ProduceRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.transactional_id = None
    m.acks, m.timeout_ms, n = u_hiB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('ProduceRequest.topic_data', n)
        m.topic_data = a1 = []
        for _ in range(n):
            m1 = new(TopicProduceData)
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
                raise bad_length('ProduceRequest.name')
            m1.topic_id = ZERO_UUID
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('ProduceRequest.partition_data', n)
                m1.partition_data = a2 = []
                for _ in range(n):
                    m2 = new(PartitionProduceData)
                    a2.append(m2)
                    m2.index, n = u_iB(buf, pos)
                    pos += 5
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.records = buf[pos:end]
                        pos = end
                    else:
                        m2.records = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('ProduceRequest.partition_data')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ProduceRequest.topic_data')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v13(buf: Buf, pos: int) -> tuple[ProduceRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ProduceRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.transactional_id = None
    m.acks, m.timeout_ms, n = u_hiB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('ProduceRequest.topic_data', n)
        m.topic_data = a1 = []
        for _ in range(n):
            m1 = new(TopicProduceData)
            a1.append(m1)
            m1.name = ''
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('ProduceRequest.partition_data', n)
                m1.partition_data = a2 = []
                for _ in range(n):
                    m2 = new(PartitionProduceData)
                    a2.append(m2)
                    m2.index, n = u_iB(buf, pos)
                    pos += 5
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.records = buf[pos:end]
                        pos = end
                    else:
                        m2.records = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('ProduceRequest.partition_data')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ProduceRequest.topic_data')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    3: parse_request_v3,
    4: parse_request_v3,
    5: parse_request_v3,
    6: parse_request_v3,
    7: parse_request_v3,
    8: parse_request_v3,
    9: parse_request_v9,
    10: parse_request_v9,
    11: parse_request_v9,
    12: parse_request_v9,
    13: parse_request_v13,
}


def write_request_v3(m: ProduceRequest, out: bytearray) -> None:
    b = m.transactional_id
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_h(n)
    out += b
    a1 = m.topic_data
    n = len(a1)
    out += p_hii(m.acks, m.timeout_ms, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partition_data
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.records
            if b is None:
                b = b""
                n = -1
            else:
                n = len(b)
            out += p_ii(m2.index, n)
            out += b


def write_request_v9(m: ProduceRequest, out: bytearray) -> None:
    b = m.transactional_id
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
    a1 = m.topic_data
    n = len(a1) + 1
    if n < 128:
        out += p_hiB(m.acks, m.timeout_ms, n)
    else:
        out += p_hi(m.acks, m.timeout_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        a2 = m1.partition_data
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.records
            if b is None:
                b = b""
                n = 0
            else:
                n = len(b) + 1
            if n < 128:
                out += p_iB(m2.index, n)
            else:
                out += p_i(m2.index)
                uvarint(out, n)
            out += b
            out.append(0)
        out.append(0)
    out.append(0)


def write_request_v13(m: ProduceRequest, out: bytearray) -> None:
    b = m.transactional_id
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
    a1 = m.topic_data
    n = len(a1) + 1
    if n < 128:
        out += p_hiB(m.acks, m.timeout_ms, n)
    else:
        out += p_hi(m.acks, m.timeout_ms)
        uvarint(out, n)
    for m1 in a1:
        a2 = m1.partition_data
        n = len(a2) + 1
        if n < 128:
            out += p_UB(m1.topic_id, n)
        else:
            out += p_U(m1.topic_id)
            uvarint(out, n)
        for m2 in a2:
            b = m2.records
            if b is None:
                b = b""
                n = 0
            else:
                n = len(b) + 1
            if n < 128:
                out += p_iB(m2.index, n)
            else:
                out += p_i(m2.index)
                uvarint(out, n)
            out += b
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_REQUEST = {
    3: write_request_v3,
    4: write_request_v3,
    5: write_request_v3,
    6: write_request_v3,
    7: write_request_v3,
    8: write_request_v3,
    9: write_request_v9,
    10: write_request_v9,
    11: write_request_v9,
    12: write_request_v9,
    13: write_request_v13,
}


class BatchIndexAndErrorMessage(WireStruct):
    __slots__ = ('batch_index', 'batch_index_error_message',)
    batch_index: int
    batch_index_error_message: str | None

    def __init__(
        self,
        batch_index: int = 0,
        batch_index_error_message: str | None = None,
    ) -> None:
        self.batch_index = batch_index
        self.batch_index_error_message = batch_index_error_message


class LeaderIdAndEpoch(WireStruct):
    __slots__ = ('leader_id', 'leader_epoch',)
    leader_id: int
    leader_epoch: int

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


class PartitionProduceResponse(WireStruct):
    __slots__ = ('index', 'error_code', 'base_offset', 'log_append_time_ms', 'log_start_offset', 'record_errors', 'error_message', 'current_leader',)
    index: int
    error_code: int
    base_offset: int
    log_append_time_ms: int
    log_start_offset: int
    record_errors: list[BatchIndexAndErrorMessage]
    error_message: str | None
    current_leader: LeaderIdAndEpoch | None

    def __init__(
        self,
        index: int = 0,
        error_code: int = 0,
        base_offset: int = 0,
        log_append_time_ms: int = -1,
        log_start_offset: int = -1,
        record_errors: list[BatchIndexAndErrorMessage] = EMPTY,
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.log_start_offset = log_start_offset
        self.record_errors = [] if record_errors is EMPTY else record_errors
        self.error_message = error_message
        self.current_leader = current_leader


class TopicProduceResponse(WireStruct):
    __slots__ = ('name', 'topic_id', 'partition_responses',)
    name: str
    topic_id: bytes
    partition_responses: list[PartitionProduceResponse]

    def __init__(
        self,
        name: str = '',
        topic_id: bytes = ZERO_UUID,
        partition_responses: list[PartitionProduceResponse] = EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_responses = [] if partition_responses is EMPTY else partition_responses


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


class ProduceResponse(WireStruct):
    __slots__ = ('responses', 'throttle_time_ms', 'node_endpoints',)
    responses: list[TopicProduceResponse]
    throttle_time_ms: int
    node_endpoints: list[NodeEndpoint]

    def __init__(
        self,
        responses: list[TopicProduceResponse] = EMPTY,
        throttle_time_ms: int = 0,
        node_endpoints: list[NodeEndpoint] = EMPTY,
    ) -> None:
        self.responses = [] if responses is EMPTY else responses
        self.throttle_time_ms = throttle_time_ms
        self.node_endpoints = [] if node_endpoints is EMPTY else node_endpoints


def parse_response_v3(buf: Buf, pos: int) -> tuple[ProduceResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ProduceResponse)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ProduceResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(TopicProduceResponse)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ProduceResponse.name')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 22 > size - pos:
                    raise bad_count('ProduceResponse.partition_responses', n)
                m1.partition_responses = a2 = []
                for _ in range(n):
                    m2 = new(PartitionProduceResponse)
                    a2.append(m2)
                    m2.index, m2.error_code, m2.base_offset, m2.log_append_time_ms = u_ihqq(buf, pos)
                    pos += 22
                    m2.log_start_offset = -1
                    m2.record_errors = []
                    m2.error_message = None
                    m2.current_leader = None
            else:
                raise bad_length('ProduceResponse.partition_responses')
    else:
        raise bad_length('ProduceResponse.responses')
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
    m.node_endpoints = []
    return m, pos


def parse_response_v5(buf: Buf, pos: int) -> tuple[ProduceResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ProduceResponse)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ProduceResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(TopicProduceResponse)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ProduceResponse.name')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 30 > size - pos:
                    raise bad_count('ProduceResponse.partition_responses', n)
                m1.partition_responses = a2 = []
                for _ in range(n):
                    m2 = new(PartitionProduceResponse)
                    a2.append(m2)
                    m2.index, m2.error_code, m2.base_offset, m2.log_append_time_ms, m2.log_start_offset = u_ihqqq(buf, pos)
                    pos += 30
                    m2.record_errors = []
                    m2.error_message = None
                    m2.current_leader = None
            else:
                raise bad_length('ProduceResponse.partition_responses')
    else:
        raise bad_length('ProduceResponse.responses')
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
    m.node_endpoints = []
    return m, pos


def parse_response_v8(buf: Buf, pos: int) -> tuple[ProduceResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ProduceResponse)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ProduceResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(TopicProduceResponse)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ProduceResponse.name')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 36 > size - pos:
                    raise bad_count('ProduceResponse.partition_responses', n)
                m1.partition_responses = a2 = []
                for _ in range(n):
                    m2 = new(PartitionProduceResponse)
                    a2.append(m2)
                    m2.index, m2.error_code, m2.base_offset, m2.log_append_time_ms, m2.log_start_offset, n = u_ihqqqi(buf, pos)
                    pos += 34
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 6 > size - pos:
                            raise bad_count('ProduceResponse.record_errors', n)
                        m2.record_errors = a3 = []
                        for _ in range(n):
                            m3 = new(BatchIndexAndErrorMessage)
                            a3.append(m3)
                            m3.batch_index, n = u_ih(buf, pos)
                            pos += 6
                            if n >= 0:
                                end = pos + n
                                m3.batch_index_error_message = str(buf[pos:end], "utf-8")
                                pos = end
                            elif n == -1:
                                m3.batch_index_error_message = None
                            else:
                                raise bad_length('ProduceResponse.batch_index_error_message')
                    else:
                        raise bad_length('ProduceResponse.record_errors')
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.error_message = str(buf[pos:end], "utf-8")
                        pos = end
                    elif n == -1:
                        m2.error_message = None
                    else:
                        raise bad_length('ProduceResponse.error_message')
                    m2.current_leader = None
            else:
                raise bad_length('ProduceResponse.partition_responses')
    else:
        raise bad_length('ProduceResponse.responses')
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
    m.node_endpoints = []
    return m, pos


def parse_response_v9(buf: Buf, pos: int) -> tuple[ProduceResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ProduceResponse)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('ProduceResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(TopicProduceResponse)
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
                raise bad_length('ProduceResponse.name')
            m1.topic_id = ZERO_UUID
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 33 > size - pos:
                    raise bad_count('ProduceResponse.partition_responses', n)
                m1.partition_responses = a2 = []
                for _ in range(n):
                    m2 = new(PartitionProduceResponse)
                    a2.append(m2)
                    m2.index, m2.error_code, m2.base_offset, m2.log_append_time_ms, m2.log_start_offset, n = u_ihqqqB(buf, pos)
                    pos += 31
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 6 > size - pos:
                            raise bad_count('ProduceResponse.record_errors', n)
                        m2.record_errors = a3 = []
                        for _ in range(n):
                            m3 = new(BatchIndexAndErrorMessage)
                            a3.append(m3)
                            m3.batch_index, n = u_iB(buf, pos)
                            pos += 5
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m3.batch_index_error_message = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                m3.batch_index_error_message = None
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('ProduceResponse.record_errors')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.error_message = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.error_message = None
                    m2.current_leader = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('ProduceResponse.partition_responses')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ProduceResponse.responses')
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
    m.node_endpoints = []
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v10(buf: Buf, pos: int) -> tuple[ProduceResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ProduceResponse)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('ProduceResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(TopicProduceResponse)
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
                raise bad_length('ProduceResponse.name')
            m1.topic_id = ZERO_UUID
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 33 > size - pos:
                    raise bad_count('ProduceResponse.partition_responses', n)
                m1.partition_responses = a2 = []
                for _ in range(n):
                    m2 = new(PartitionProduceResponse)
                    a2.append(m2)
                    m2.index, m2.error_code, m2.base_offset, m2.log_append_time_ms, m2.log_start_offset, n = u_ihqqqB(buf, pos)
                    pos += 31
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 6 > size - pos:
                            raise bad_count('ProduceResponse.record_errors', n)
                        m2.record_errors = a3 = []
                        for _ in range(n):
                            m3 = new(BatchIndexAndErrorMessage)
                            a3.append(m3)
                            m3.batch_index, n = u_iB(buf, pos)
                            pos += 5
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m3.batch_index_error_message = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                m3.batch_index_error_message = None
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('ProduceResponse.record_errors')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.error_message = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.error_message = None
                    m2.current_leader = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        if n > 127:
                            n, pos = count_tags(buf, pos, n)
                        for _ in range(n):
                            tag3, pos = read_uvarint(buf, pos)
                            n, pos = read_uvarint(buf, pos)
                            end3 = pos + n
                            if tag3 == 0:
                                m2.current_leader = m3 = new(LeaderIdAndEpoch)
                                m3.leader_id, m3.leader_epoch, n = u_iiB(buf, pos)
                                pos += 9
                                if n:
                                    pos = skip_tags(buf, pos, n)
                                if pos != end3:
                                    raise bad_tag('ProduceResponse.current_leader')
                            else:
                                pos = end3
            else:
                raise bad_length('ProduceResponse.partition_responses')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ProduceResponse.responses')
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
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
                    if left < 0 or n * 11 > size - pos:
                        raise bad_count('ProduceResponse.node_endpoints', n)
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
                            raise bad_length('ProduceResponse.host')
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
                    raise bad_length('ProduceResponse.node_endpoints')
                if pos != end1:
                    raise bad_tag('ProduceResponse.node_endpoints')
            else:
                pos = end1
    return m, pos


def parse_response_v13(buf: Buf, pos: int) -> tuple[ProduceResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ProduceResponse)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('ProduceResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(TopicProduceResponse)
            a1.append(m1)
            m1.name = ''
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 33 > size - pos:
                    raise bad_count('ProduceResponse.partition_responses', n)
                m1.partition_responses = a2 = []
                for _ in range(n):
                    m2 = new(PartitionProduceResponse)
                    a2.append(m2)
                    m2.index, m2.error_code, m2.base_offset, m2.log_append_time_ms, m2.log_start_offset, n = u_ihqqqB(buf, pos)
                    pos += 31
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 6 > size - pos:
                            raise bad_count('ProduceResponse.record_errors', n)
                        m2.record_errors = a3 = []
                        for _ in range(n):
                            m3 = new(BatchIndexAndErrorMessage)
                            a3.append(m3)
                            m3.batch_index, n = u_iB(buf, pos)
                            pos += 5
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m3.batch_index_error_message = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                m3.batch_index_error_message = None
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('ProduceResponse.record_errors')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.error_message = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.error_message = None
                    m2.current_leader = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        if n > 127:
                            n, pos = count_tags(buf, pos, n)
                        for _ in range(n):
                            tag3, pos = read_uvarint(buf, pos)
                            n, pos = read_uvarint(buf, pos)
                            end3 = pos + n
                            if tag3 == 0:
                                m2.current_leader = m3 = new(LeaderIdAndEpoch)
                                m3.leader_id, m3.leader_epoch, n = u_iiB(buf, pos)
                                pos += 9
                                if n:
                                    pos = skip_tags(buf, pos, n)
                                if pos != end3:
                                    raise bad_tag('ProduceResponse.current_leader')
                            else:
                                pos = end3
            else:
                raise bad_length('ProduceResponse.partition_responses')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ProduceResponse.responses')
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
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
                    if left < 0 or n * 11 > size - pos:
                        raise bad_count('ProduceResponse.node_endpoints', n)
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
                            raise bad_length('ProduceResponse.host')
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
                    raise bad_length('ProduceResponse.node_endpoints')
                if pos != end1:
                    raise bad_tag('ProduceResponse.node_endpoints')
            else:
                pos = end1
    return m, pos


PARSE_RESPONSE = {
    3: parse_response_v3,
    4: parse_response_v3,
    5: parse_response_v5,
    6: parse_response_v5,
    7: parse_response_v5,
    8: parse_response_v8,
    9: parse_response_v9,
    10: parse_response_v10,
    11: parse_response_v10,
    12: parse_response_v10,
    13: parse_response_v13,
}


def write_response_v3(m: ProduceResponse, out: bytearray) -> None:
    a1 = m.responses
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partition_responses
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_ihqq(m2.index, m2.error_code, m2.base_offset, m2.log_append_time_ms)
    out += p_i(m.throttle_time_ms)


def write_response_v5(m: ProduceResponse, out: bytearray) -> None:
    a1 = m.responses
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partition_responses
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_ihqqq(m2.index, m2.error_code, m2.base_offset, m2.log_append_time_ms, m2.log_start_offset)
    out += p_i(m.throttle_time_ms)


def write_response_v8(m: ProduceResponse, out: bytearray) -> None:
    a1 = m.responses
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partition_responses
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            a3 = m2.record_errors
            n = len(a3)
            out += p_ihqqqi(m2.index, m2.error_code, m2.base_offset, m2.log_append_time_ms, m2.log_start_offset, n)
            for m3 in a3:
                b = m3.batch_index_error_message
                if b is None:
                    b = b""
                    n = -1
                else:
                    b = b.encode()
                    n = len(b)
                out += p_ih(m3.batch_index, n)
                out += b
            b = m2.error_message
            if b is None:
                b = b""
                n = -1
            else:
                b = b.encode()
                n = len(b)
            out += p_h(n)
            out += b
    out += p_i(m.throttle_time_ms)


def write_response_v9(m: ProduceResponse, out: bytearray) -> None:
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
        a2 = m1.partition_responses
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            a3 = m2.record_errors
            n = len(a3) + 1
            if n < 128:
                out += p_ihqqqB(m2.index, m2.error_code, m2.base_offset, m2.log_append_time_ms, m2.log_start_offset, n)
            else:
                out += p_ihqqq(m2.index, m2.error_code, m2.base_offset, m2.log_append_time_ms, m2.log_start_offset)
                uvarint(out, n)
            for m3 in a3:
                b = m3.batch_index_error_message
                if b is None:
                    b = b""
                    n = 0
                else:
                    b = b.encode()
                    n = len(b) + 1
                if n < 128:
                    out += p_iB(m3.batch_index, n)
                else:
                    out += p_i(m3.batch_index)
                    uvarint(out, n)
                out += b
                out.append(0)
            b = m2.error_message
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
            out.append(0)
        out.append(0)
    out += p_ix(m.throttle_time_ms)


def write_response_v10(m: ProduceResponse, out: bytearray) -> None:
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
        a2 = m1.partition_responses
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            a3 = m2.record_errors
            n = len(a3) + 1
            if n < 128:
                out += p_ihqqqB(m2.index, m2.error_code, m2.base_offset, m2.log_append_time_ms, m2.log_start_offset, n)
            else:
                out += p_ihqqq(m2.index, m2.error_code, m2.base_offset, m2.log_append_time_ms, m2.log_start_offset)
                uvarint(out, n)
            for m3 in a3:
                b = m3.batch_index_error_message
                if b is None:
                    b = b""
                    n = 0
                else:
                    b = b.encode()
                    n = len(b) + 1
                if n < 128:
                    out += p_iB(m3.batch_index, n)
                else:
                    out += p_i(m3.batch_index)
                    uvarint(out, n)
                out += b
                out.append(0)
            b = m2.error_message
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
            n = (m2.current_leader is not None)
            out += p_B(n)
            if n:
                if m2.current_leader is not None:
                    t3 = bytearray()
                    m3 = m2.current_leader
                    t3 += p_iix(m3.leader_id, m3.leader_epoch)
                    uvarint(out, 0)
                    uvarint(out, len(t3))
                    out += t3
        out.append(0)
    n = (m.node_endpoints != [])
    out += p_iB(m.throttle_time_ms, n)
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
                b = m1.rack
                if b is None:
                    b = b""
                    n = 0
                else:
                    b = b.encode()
                    n = len(b) + 1
                if n < 128:
                    t1 += p_iB(m1.port, n)
                else:
                    t1 += p_i(m1.port)
                    uvarint(t1, n)
                t1 += b
                t1.append(0)
            uvarint(out, 0)
            uvarint(out, len(t1))
            out += t1


def write_response_v13(m: ProduceResponse, out: bytearray) -> None:
    a1 = m.responses
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        a2 = m1.partition_responses
        n = len(a2) + 1
        if n < 128:
            out += p_UB(m1.topic_id, n)
        else:
            out += p_U(m1.topic_id)
            uvarint(out, n)
        for m2 in a2:
            a3 = m2.record_errors
            n = len(a3) + 1
            if n < 128:
                out += p_ihqqqB(m2.index, m2.error_code, m2.base_offset, m2.log_append_time_ms, m2.log_start_offset, n)
            else:
                out += p_ihqqq(m2.index, m2.error_code, m2.base_offset, m2.log_append_time_ms, m2.log_start_offset)
                uvarint(out, n)
            for m3 in a3:
                b = m3.batch_index_error_message
                if b is None:
                    b = b""
                    n = 0
                else:
                    b = b.encode()
                    n = len(b) + 1
                if n < 128:
                    out += p_iB(m3.batch_index, n)
                else:
                    out += p_i(m3.batch_index)
                    uvarint(out, n)
                out += b
                out.append(0)
            b = m2.error_message
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
            n = (m2.current_leader is not None)
            out += p_B(n)
            if n:
                if m2.current_leader is not None:
                    t3 = bytearray()
                    m3 = m2.current_leader
                    t3 += p_iix(m3.leader_id, m3.leader_epoch)
                    uvarint(out, 0)
                    uvarint(out, len(t3))
                    out += t3
        out.append(0)
    n = (m.node_endpoints != [])
    out += p_iB(m.throttle_time_ms, n)
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
                b = m1.rack
                if b is None:
                    b = b""
                    n = 0
                else:
                    b = b.encode()
                    n = len(b) + 1
                if n < 128:
                    t1 += p_iB(m1.port, n)
                else:
                    t1 += p_i(m1.port)
                    uvarint(t1, n)
                t1 += b
                t1.append(0)
            uvarint(out, 0)
            uvarint(out, len(t1))
            out += t1


WRITE_RESPONSE = {
    3: write_response_v3,
    4: write_response_v3,
    5: write_response_v5,
    6: write_response_v5,
    7: write_response_v5,
    8: write_response_v8,
    9: write_response_v9,
    10: write_response_v10,
    11: write_response_v10,
    12: write_response_v10,
    13: write_response_v13,
}
