"""OffsetForLeaderEpoch: API key 23, versions 2-4. Written by kproto.wire.generator: do not edit."""

from struct import Struct

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

p_h = Struct(">h").pack
p_hiiq = Struct(">hiiq").pack
p_hiiqx = Struct(">hiiqx").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ii = Struct(">ii").pack
p_iii = Struct(">iii").pack
p_iiix = Struct(">iiix").pack
u_h = Struct(">h").unpack_from
u_hiiq = Struct(">hiiq").unpack_from
u_hiiqB = Struct(">hiiqB").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ii = Struct(">ii").unpack_from
u_iii = Struct(">iii").unpack_from
u_iiiB = Struct(">iiiB").unpack_from


class OffsetForLeaderPartition(WireStruct):
    __slots__ = ('partition', 'current_leader_epoch', 'leader_epoch',)
    partition: int
    current_leader_epoch: int
    leader_epoch: int

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = -1,
        leader_epoch: int = 0,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.leader_epoch = leader_epoch


class OffsetForLeaderTopic(WireStruct):
    __slots__ = ('topic', 'partitions',)
    topic: str
    partitions: list[OffsetForLeaderPartition]

    def __init__(
        self,
        topic: str = '',
        partitions: list[OffsetForLeaderPartition] = EMPTY,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is EMPTY else partitions


class OffsetForLeaderEpochRequest(WireStruct):
    __slots__ = ('replica_id', 'topics',)
    replica_id: int
    topics: list[OffsetForLeaderTopic]

    def __init__(
        self,
        replica_id: int = -2,
        topics: list[OffsetForLeaderTopic] = EMPTY,
    ) -> None:
        self.replica_id = replica_id
        self.topics = [] if topics is EMPTY else topics


def parse_request_v2(buf: Buf, pos: int) -> tuple[OffsetForLeaderEpochRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(OffsetForLeaderEpochRequest)
    m.replica_id = -2
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('OffsetForLeaderEpochRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetForLeaderTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetForLeaderEpochRequest.topic')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 12 > size - pos:
                    raise bad_count('OffsetForLeaderEpochRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetForLeaderPartition)
                    a2.append(m2)
                    m2.partition, m2.current_leader_epoch, m2.leader_epoch = u_iii(buf, pos)
                    pos += 12
            else:
                raise bad_length('OffsetForLeaderEpochRequest.partitions')
    else:
        raise bad_length('OffsetForLeaderEpochRequest.topics')
    return m, pos


def parse_request_v3(buf: Buf, pos: int) -> tuple[OffsetForLeaderEpochRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(OffsetForLeaderEpochRequest)
    m.replica_id, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('OffsetForLeaderEpochRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetForLeaderTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetForLeaderEpochRequest.topic')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 12 > size - pos:
                    raise bad_count('OffsetForLeaderEpochRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetForLeaderPartition)
                    a2.append(m2)
                    m2.partition, m2.current_leader_epoch, m2.leader_epoch = u_iii(buf, pos)
                    pos += 12
            else:
                raise bad_length('OffsetForLeaderEpochRequest.partitions')
    else:
        raise bad_length('OffsetForLeaderEpochRequest.topics')
    return m, pos


def parse_request_v4(buf: Buf, pos: int) -> tuple[OffsetForLeaderEpochRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(OffsetForLeaderEpochRequest)
    m.replica_id, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('OffsetForLeaderEpochRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetForLeaderTopic)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetForLeaderEpochRequest.topic')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 13 > size - pos:
                    raise bad_count('OffsetForLeaderEpochRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetForLeaderPartition)
                    a2.append(m2)
                    m2.partition, m2.current_leader_epoch, m2.leader_epoch, n = u_iiiB(buf, pos)
                    pos += 13
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('OffsetForLeaderEpochRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('OffsetForLeaderEpochRequest.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    2: parse_request_v2,
    3: parse_request_v3,
    4: parse_request_v4,
}


def write_request_v2(m: OffsetForLeaderEpochRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.topic.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_iii(m2.partition, m2.current_leader_epoch, m2.leader_epoch)


def write_request_v3(m: OffsetForLeaderEpochRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_ii(m.replica_id, n)
    for m1 in a1:
        b = m1.topic.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_iii(m2.partition, m2.current_leader_epoch, m2.leader_epoch)


def write_request_v4(m: OffsetForLeaderEpochRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.replica_id, n)
    else:
        out += p_i(m.replica_id)
        uvarint(out, n)
    for m1 in a1:
        b = m1.topic.encode()
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
            out += p_iiix(m2.partition, m2.current_leader_epoch, m2.leader_epoch)
        out.append(0)
    out.append(0)


WRITE_REQUEST = {
    2: write_request_v2,
    3: write_request_v3,
    4: write_request_v4,
}


class EpochEndOffset(WireStruct):
    __slots__ = ('error_code', 'partition', 'leader_epoch', 'end_offset',)
    error_code: int
    partition: int
    leader_epoch: int
    end_offset: int

    def __init__(
        self,
        error_code: int = 0,
        partition: int = 0,
        leader_epoch: int = -1,
        end_offset: int = -1,
    ) -> None:
        self.error_code = error_code
        self.partition = partition
        self.leader_epoch = leader_epoch
        self.end_offset = end_offset


class OffsetForLeaderTopicResult(WireStruct):
    __slots__ = ('topic', 'partitions',)
    topic: str
    partitions: list[EpochEndOffset]

    def __init__(
        self,
        topic: str = '',
        partitions: list[EpochEndOffset] = EMPTY,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is EMPTY else partitions


class OffsetForLeaderEpochResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'topics',)
    throttle_time_ms: int
    topics: list[OffsetForLeaderTopicResult]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[OffsetForLeaderTopicResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics


def parse_response_v2(buf: Buf, pos: int) -> tuple[OffsetForLeaderEpochResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(OffsetForLeaderEpochResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('OffsetForLeaderEpochResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetForLeaderTopicResult)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetForLeaderEpochResponse.topic')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('OffsetForLeaderEpochResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(EpochEndOffset)
                    a2.append(m2)
                    m2.error_code, m2.partition, m2.leader_epoch, m2.end_offset = u_hiiq(buf, pos)
                    pos += 18
            else:
                raise bad_length('OffsetForLeaderEpochResponse.partitions')
    else:
        raise bad_length('OffsetForLeaderEpochResponse.topics')
    return m, pos


def parse_response_v4(buf: Buf, pos: int) -> tuple[OffsetForLeaderEpochResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(OffsetForLeaderEpochResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('OffsetForLeaderEpochResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetForLeaderTopicResult)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetForLeaderEpochResponse.topic')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 19 > size - pos:
                    raise bad_count('OffsetForLeaderEpochResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(EpochEndOffset)
                    a2.append(m2)
                    m2.error_code, m2.partition, m2.leader_epoch, m2.end_offset, n = u_hiiqB(buf, pos)
                    pos += 19
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('OffsetForLeaderEpochResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('OffsetForLeaderEpochResponse.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    2: parse_response_v2,
    3: parse_response_v2,
    4: parse_response_v4,
}


def write_response_v2(m: OffsetForLeaderEpochResponse, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.topic.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_hiiq(m2.error_code, m2.partition, m2.leader_epoch, m2.end_offset)


def write_response_v4(m: OffsetForLeaderEpochResponse, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.topic.encode()
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
            out += p_hiiqx(m2.error_code, m2.partition, m2.leader_epoch, m2.end_offset)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    2: write_response_v2,
    3: write_response_v2,
    4: write_response_v4,
}
