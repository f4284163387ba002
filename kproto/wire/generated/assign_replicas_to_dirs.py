"""AssignReplicasToDirs: API key 73, versions 0-0. Written by kproto.wire.generator: do not edit."""

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

p_U = Struct(">16s").pack
p_UB = Struct(">16sB").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_ihx = Struct(">ihx").pack
p_iq = Struct(">iq").pack
p_iqB = Struct(">iqB").pack
p_ix = Struct(">ix").pack
u_UB = Struct(">16sB").unpack_from
u_iB = Struct(">iB").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_iqB = Struct(">iqB").unpack_from


class RequestPartitionData(WireStruct):
    __slots__ = ('partition_index',)
    partition_index: int

    def __init__(
        self,
        partition_index: int = 0,
    ) -> None:
        self.partition_index = partition_index


class RequestTopicData(WireStruct):
    __slots__ = ('topic_id', 'partitions',)
    topic_id: bytes
    partitions: list[RequestPartitionData]

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[RequestPartitionData] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class RequestDirectoryData(WireStruct):
    __slots__ = ('id', 'topics',)
    id: bytes
    topics: list[RequestTopicData]

    def __init__(
        self,
        id: bytes = ZERO_UUID,
        topics: list[RequestTopicData] = EMPTY,
    ) -> None:
        self.id = id
        self.topics = [] if topics is EMPTY else topics


class AssignReplicasToDirsRequest(WireStruct):
    __slots__ = ('broker_id', 'broker_epoch', 'directories',)
    broker_id: int
    broker_epoch: int
    directories: list[RequestDirectoryData]

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        directories: list[RequestDirectoryData] = EMPTY,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.directories = [] if directories is EMPTY else directories


def parse_request_v0(buf: Buf, pos: int) -> tuple[AssignReplicasToDirsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(AssignReplicasToDirsRequest)
    m.broker_id, m.broker_epoch, n = u_iqB(buf, pos)
    pos += 13
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('AssignReplicasToDirsRequest.directories', n)
        m.directories = a1 = []
        for _ in range(n):
            m1 = new(RequestDirectoryData)
            a1.append(m1)
            m1.id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('AssignReplicasToDirsRequest.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(RequestTopicData)
                    a2.append(m2)
                    m2.topic_id, n = u_UB(buf, pos)
                    pos += 17
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 5 > size - pos:
                            raise bad_count('AssignReplicasToDirsRequest.partitions', n)
                        m2.partitions = a3 = []
                        for _ in range(n):
                            m3 = new(RequestPartitionData)
                            a3.append(m3)
                            m3.partition_index, n = u_iB(buf, pos)
                            pos += 5
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('AssignReplicasToDirsRequest.partitions')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('AssignReplicasToDirsRequest.topics')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AssignReplicasToDirsRequest.directories')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
}


def write_request_v0(m: AssignReplicasToDirsRequest, out: bytearray) -> None:
    a1 = m.directories
    n = len(a1) + 1
    if n < 128:
        out += p_iqB(m.broker_id, m.broker_epoch, n)
    else:
        out += p_iq(m.broker_id, m.broker_epoch)
        uvarint(out, n)
    for m1 in a1:
        a2 = m1.topics
        n = len(a2) + 1
        if n < 128:
            out += p_UB(m1.id, n)
        else:
            out += p_U(m1.id)
            uvarint(out, n)
        for m2 in a2:
            a3 = m2.partitions
            n = len(a3) + 1
            if n < 128:
                out += p_UB(m2.topic_id, n)
            else:
                out += p_U(m2.topic_id)
                uvarint(out, n)
            for m3 in a3:
                out += p_ix(m3.partition_index)
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
}


class ResponsePartitionData(WireStruct):
    __slots__ = ('partition_index', 'error_code',)
    partition_index: int
    error_code: int

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class ResponseTopicData(WireStruct):
    __slots__ = ('topic_id', 'partitions',)
    topic_id: bytes
    partitions: list[ResponsePartitionData]

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[ResponsePartitionData] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class ResponseDirectoryData(WireStruct):
    __slots__ = ('id', 'topics',)
    id: bytes
    topics: list[ResponseTopicData]

    def __init__(
        self,
        id: bytes = ZERO_UUID,
        topics: list[ResponseTopicData] = EMPTY,
    ) -> None:
        self.id = id
        self.topics = [] if topics is EMPTY else topics


class AssignReplicasToDirsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'directories',)
    throttle_time_ms: int
    error_code: int
    directories: list[ResponseDirectoryData]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        directories: list[ResponseDirectoryData] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.directories = [] if directories is EMPTY else directories


def parse_response_v0(buf: Buf, pos: int) -> tuple[AssignReplicasToDirsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(AssignReplicasToDirsResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('AssignReplicasToDirsResponse.directories', n)
        m.directories = a1 = []
        for _ in range(n):
            m1 = new(ResponseDirectoryData)
            a1.append(m1)
            m1.id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('AssignReplicasToDirsResponse.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(ResponseTopicData)
                    a2.append(m2)
                    m2.topic_id, n = u_UB(buf, pos)
                    pos += 17
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 7 > size - pos:
                            raise bad_count('AssignReplicasToDirsResponse.partitions', n)
                        m2.partitions = a3 = []
                        for _ in range(n):
                            m3 = new(ResponsePartitionData)
                            a3.append(m3)
                            m3.partition_index, m3.error_code, n = u_ihB(buf, pos)
                            pos += 7
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('AssignReplicasToDirsResponse.partitions')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('AssignReplicasToDirsResponse.topics')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AssignReplicasToDirsResponse.directories')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
}


def write_response_v0(m: AssignReplicasToDirsResponse, out: bytearray) -> None:
    a1 = m.directories
    n = len(a1) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
        uvarint(out, n)
    for m1 in a1:
        a2 = m1.topics
        n = len(a2) + 1
        if n < 128:
            out += p_UB(m1.id, n)
        else:
            out += p_U(m1.id)
            uvarint(out, n)
        for m2 in a2:
            a3 = m2.partitions
            n = len(a3) + 1
            if n < 128:
                out += p_UB(m2.topic_id, n)
            else:
                out += p_U(m2.topic_id)
                uvarint(out, n)
            for m3 in a3:
                out += p_ihx(m3.partition_index, m3.error_code)
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
}
