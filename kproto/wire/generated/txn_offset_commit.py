"""TxnOffsetCommit: API key 28, versions 0-5. Written by kproto.wire.generator: do not edit."""

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
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ihx = Struct(">ihx").pack
p_ii = Struct(">ii").pack
p_iqh = Struct(">iqh").pack
p_iqi = Struct(">iqi").pack
p_iqiB = Struct(">iqiB").pack
p_iqih = Struct(">iqih").pack
p_qhi = Struct(">qhi").pack
p_qhiB = Struct(">qhiB").pack
u_h = Struct(">h").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ih = Struct(">ih").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_ii = Struct(">ii").unpack_from
u_iq = Struct(">iq").unpack_from
u_iqiB = Struct(">iqiB").unpack_from
u_iqih = Struct(">iqih").unpack_from
u_qh = Struct(">qh").unpack_from
u_qhiB = Struct(">qhiB").unpack_from


class TxnOffsetCommitRequestPartition(WireStruct):
    __slots__ = ('partition_index', 'committed_offset', 'committed_leader_epoch', 'committed_metadata',)
    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    committed_metadata: str | None

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        committed_metadata: str | None = '',
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.committed_metadata = committed_metadata


class TxnOffsetCommitRequestTopic(WireStruct):
    __slots__ = ('name', 'partitions',)
    name: str
    partitions: list[TxnOffsetCommitRequestPartition]

    def __init__(
        self,
        name: str = '',
        partitions: list[TxnOffsetCommitRequestPartition] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class TxnOffsetCommitRequest(WireStruct):
    __slots__ = ('transactional_id', 'group_id', 'producer_id', 'producer_epoch', 'generation_id', 'member_id', 'group_instance_id', 'topics',)
    transactional_id: str
    group_id: str
    producer_id: int
    producer_epoch: int
    generation_id: int
    member_id: str
    group_instance_id: str | None
    topics: list[TxnOffsetCommitRequestTopic]

    def __init__(
        self,
        transactional_id: str = '',
        group_id: str = '',
        producer_id: int = 0,
        producer_epoch: int = 0,
        generation_id: int = -1,
        member_id: str = '',
        group_instance_id: str | None = None,
        topics: list[TxnOffsetCommitRequestTopic] = EMPTY,
    ) -> None:
        self.transactional_id = transactional_id
        self.group_id = group_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.topics = [] if topics is EMPTY else topics


def parse_request_v0(buf: Buf, pos: int) -> tuple[TxnOffsetCommitRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(TxnOffsetCommitRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('TxnOffsetCommitRequest.transactional_id')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('TxnOffsetCommitRequest.group_id')
    m.producer_id, m.producer_epoch = u_qh(buf, pos)
    pos += 10
    m.generation_id = -1
    m.member_id = ''
    m.group_instance_id = None
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('TxnOffsetCommitRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(TxnOffsetCommitRequestTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('TxnOffsetCommitRequest.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 14 > size - pos:
                    raise bad_count('TxnOffsetCommitRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(TxnOffsetCommitRequestPartition)
                    a2.append(m2)
                    m2.partition_index, m2.committed_offset = u_iq(buf, pos)
                    pos += 12
                    m2.committed_leader_epoch = -1
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.committed_metadata = str(buf[pos:end], "utf-8")
                        pos = end
                    elif n == -1:
                        m2.committed_metadata = None
                    else:
                        raise bad_length('TxnOffsetCommitRequest.committed_metadata')
            else:
                raise bad_length('TxnOffsetCommitRequest.partitions')
    else:
        raise bad_length('TxnOffsetCommitRequest.topics')
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[TxnOffsetCommitRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(TxnOffsetCommitRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('TxnOffsetCommitRequest.transactional_id')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('TxnOffsetCommitRequest.group_id')
    m.producer_id, m.producer_epoch = u_qh(buf, pos)
    pos += 10
    m.generation_id = -1
    m.member_id = ''
    m.group_instance_id = None
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('TxnOffsetCommitRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(TxnOffsetCommitRequestTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('TxnOffsetCommitRequest.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('TxnOffsetCommitRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(TxnOffsetCommitRequestPartition)
                    a2.append(m2)
                    m2.partition_index, m2.committed_offset, m2.committed_leader_epoch, n = u_iqih(buf, pos)
                    pos += 18
                    if n >= 0:
                        end = pos + n
                        m2.committed_metadata = str(buf[pos:end], "utf-8")
                        pos = end
                    elif n == -1:
                        m2.committed_metadata = None
                    else:
                        raise bad_length('TxnOffsetCommitRequest.committed_metadata')
            else:
                raise bad_length('TxnOffsetCommitRequest.partitions')
    else:
        raise bad_length('TxnOffsetCommitRequest.topics')
    return m, pos


def parse_request_v3(buf: Buf, pos: int) -> tuple[TxnOffsetCommitRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(TxnOffsetCommitRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('TxnOffsetCommitRequest.transactional_id')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('TxnOffsetCommitRequest.group_id')
    m.producer_id, m.producer_epoch, m.generation_id, n = u_qhiB(buf, pos)
    pos += 15
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('TxnOffsetCommitRequest.member_id')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_instance_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.group_instance_id = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('TxnOffsetCommitRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(TxnOffsetCommitRequestTopic)
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
                raise bad_length('TxnOffsetCommitRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('TxnOffsetCommitRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(TxnOffsetCommitRequestPartition)
                    a2.append(m2)
                    m2.partition_index, m2.committed_offset, m2.committed_leader_epoch, n = u_iqiB(buf, pos)
                    pos += 17
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.committed_metadata = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.committed_metadata = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('TxnOffsetCommitRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('TxnOffsetCommitRequest.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v0,
    2: parse_request_v2,
    3: parse_request_v3,
    4: parse_request_v3,
    5: parse_request_v3,
}


def write_request_v0(m: TxnOffsetCommitRequest, out: bytearray) -> None:
    b = m.transactional_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.group_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    a1 = m.topics
    n = len(a1)
    out += p_qhi(m.producer_id, m.producer_epoch, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.committed_metadata
            if b is None:
                b = b""
                n = -1
            else:
                b = b.encode()
                n = len(b)
            out += p_iqh(m2.partition_index, m2.committed_offset, n)
            out += b


def write_request_v2(m: TxnOffsetCommitRequest, out: bytearray) -> None:
    b = m.transactional_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.group_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    a1 = m.topics
    n = len(a1)
    out += p_qhi(m.producer_id, m.producer_epoch, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.committed_metadata
            if b is None:
                b = b""
                n = -1
            else:
                b = b.encode()
                n = len(b)
            out += p_iqih(m2.partition_index, m2.committed_offset, m2.committed_leader_epoch, n)
            out += b


def write_request_v3(m: TxnOffsetCommitRequest, out: bytearray) -> None:
    b = m.transactional_id.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    b = m.group_id.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    b = m.member_id.encode()
    n = len(b) + 1
    if n < 128:
        out += p_qhiB(m.producer_id, m.producer_epoch, m.generation_id, n)
    else:
        out += p_qhi(m.producer_id, m.producer_epoch, m.generation_id)
        uvarint(out, n)
    out += b
    b = m.group_instance_id
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
            b = m2.committed_metadata
            if b is None:
                b = b""
                n = 0
            else:
                b = b.encode()
                n = len(b) + 1
            if n < 128:
                out += p_iqiB(m2.partition_index, m2.committed_offset, m2.committed_leader_epoch, n)
            else:
                out += p_iqi(m2.partition_index, m2.committed_offset, m2.committed_leader_epoch)
                uvarint(out, n)
            out += b
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v0,
    2: write_request_v2,
    3: write_request_v3,
    4: write_request_v3,
    5: write_request_v3,
}


class TxnOffsetCommitResponsePartition(WireStruct):
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


class TxnOffsetCommitResponseTopic(WireStruct):
    __slots__ = ('name', 'partitions',)
    name: str
    partitions: list[TxnOffsetCommitResponsePartition]

    def __init__(
        self,
        name: str = '',
        partitions: list[TxnOffsetCommitResponsePartition] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class TxnOffsetCommitResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'topics',)
    throttle_time_ms: int
    topics: list[TxnOffsetCommitResponseTopic]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[TxnOffsetCommitResponseTopic] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics


def parse_response_v0(buf: Buf, pos: int) -> tuple[TxnOffsetCommitResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(TxnOffsetCommitResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('TxnOffsetCommitResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(TxnOffsetCommitResponseTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('TxnOffsetCommitResponse.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('TxnOffsetCommitResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(TxnOffsetCommitResponsePartition)
                    a2.append(m2)
                    m2.partition_index, m2.error_code = u_ih(buf, pos)
                    pos += 6
            else:
                raise bad_length('TxnOffsetCommitResponse.partitions')
    else:
        raise bad_length('TxnOffsetCommitResponse.topics')
    return m, pos


def parse_response_v3(buf: Buf, pos: int) -> tuple[TxnOffsetCommitResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(TxnOffsetCommitResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('TxnOffsetCommitResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(TxnOffsetCommitResponseTopic)
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
                raise bad_length('TxnOffsetCommitResponse.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 7 > size - pos:
                    raise bad_count('TxnOffsetCommitResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(TxnOffsetCommitResponsePartition)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, n = u_ihB(buf, pos)
                    pos += 7
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('TxnOffsetCommitResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('TxnOffsetCommitResponse.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v0,
    2: parse_response_v0,
    3: parse_response_v3,
    4: parse_response_v3,
    5: parse_response_v3,
}


def write_response_v0(m: TxnOffsetCommitResponse, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_ih(m2.partition_index, m2.error_code)


def write_response_v3(m: TxnOffsetCommitResponse, out: bytearray) -> None:
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
            out += p_ihx(m2.partition_index, m2.error_code)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v0,
    2: write_response_v0,
    3: write_response_v3,
    4: write_response_v3,
    5: write_response_v3,
}
