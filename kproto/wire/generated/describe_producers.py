"""DescribeProducers: API key 61, versions 0-0. Written by kproto.wire.generator: do not edit."""

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
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_qiiqiqx = Struct(">qiiqiqx").pack
u_iB = Struct(">iB").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_qiiqiqB = Struct(">qiiqiqB").unpack_from


class TopicRequest(WireStruct):
    __slots__ = ('name', 'partition_indexes',)
    name: str
    partition_indexes: list[int]

    def __init__(
        self,
        name: str = '',
        partition_indexes: list[int] = EMPTY,
    ) -> None:
        self.name = name
        self.partition_indexes = [] if partition_indexes is EMPTY else partition_indexes


class DescribeProducersRequest(WireStruct):
    __slots__ = ('topics',)
    topics: list[TopicRequest]

    def __init__(
        self,
        topics: list[TopicRequest] = EMPTY,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics


def parse_request_v0(buf: Buf, pos: int) -> tuple[DescribeProducersRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DescribeProducersRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('DescribeProducersRequest.topics', n)
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
                raise bad_length('DescribeProducersRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('DescribeProducersRequest.partition_indexes', n)
                m1.partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('DescribeProducersRequest.partition_indexes')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeProducersRequest.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
}


def write_request_v0(m: DescribeProducersRequest, out: bytearray) -> None:
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
        a2 = m1.partition_indexes
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += pack(f">{len(a2)}i", *a2)
        out.append(0)
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
}


class ProducerState(WireStruct):
    __slots__ = ('producer_id', 'producer_epoch', 'last_sequence', 'last_timestamp', 'coordinator_epoch', 'current_txn_start_offset',)
    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int
    current_txn_start_offset: int

    def __init__(
        self,
        producer_id: int = 0,
        producer_epoch: int = 0,
        last_sequence: int = -1,
        last_timestamp: int = -1,
        coordinator_epoch: int = 0,
        current_txn_start_offset: int = -1,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.last_sequence = last_sequence
        self.last_timestamp = last_timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_start_offset = current_txn_start_offset


class PartitionResponse(WireStruct):
    __slots__ = ('partition_index', 'error_code', 'error_message', 'active_producers',)
    partition_index: int
    error_code: int
    error_message: str | None
    active_producers: list[ProducerState]

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        active_producers: list[ProducerState] = EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.active_producers = [] if active_producers is EMPTY else active_producers


class TopicResponse(WireStruct):
    __slots__ = ('name', 'partitions',)
    name: str
    partitions: list[PartitionResponse]

    def __init__(
        self,
        name: str = '',
        partitions: list[PartitionResponse] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class DescribeProducersResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'topics',)
    throttle_time_ms: int
    topics: list[TopicResponse]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[TopicResponse] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics


def parse_response_v0(buf: Buf, pos: int) -> tuple[DescribeProducersResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeProducersResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('DescribeProducersResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(TopicResponse)
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
                raise bad_length('DescribeProducersResponse.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 9 > size - pos:
                    raise bad_count('DescribeProducersResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(PartitionResponse)
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
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 37 > size - pos:
                            raise bad_count('DescribeProducersResponse.active_producers', n)
                        m2.active_producers = a3 = []
                        for _ in range(n):
                            m3 = new(ProducerState)
                            a3.append(m3)
                            m3.producer_id, m3.producer_epoch, m3.last_sequence, m3.last_timestamp, m3.coordinator_epoch, m3.current_txn_start_offset, n = u_qiiqiqB(buf, pos)
                            pos += 37
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('DescribeProducersResponse.active_producers')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeProducersResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeProducersResponse.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
}


def write_response_v0(m: DescribeProducersResponse, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
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
            a3 = m2.active_producers
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m3 in a3:
                out += p_qiiqiqx(m3.producer_id, m3.producer_epoch, m3.last_sequence, m3.last_timestamp, m3.coordinator_epoch, m3.current_txn_start_offset)
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
}
