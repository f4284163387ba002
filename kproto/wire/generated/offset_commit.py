"""OffsetCommit: API key 8, versions 2-10. Written by kproto.wire.generator: do not edit."""

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
p_qi = Struct(">qi").pack
u_UB = Struct(">16sB").unpack_from
u_h = Struct(">h").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ih = Struct(">ih").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_ii = Struct(">ii").unpack_from
u_iq = Struct(">iq").unpack_from
u_iqiB = Struct(">iqiB").unpack_from
u_iqih = Struct(">iqih").unpack_from
u_qi = Struct(">qi").unpack_from


class OffsetCommitRequestPartition(WireStruct):
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


class OffsetCommitRequestTopic(WireStruct):
    __slots__ = ('name', 'topic_id', 'partitions',)
    name: str
    topic_id: bytes
    partitions: list[OffsetCommitRequestPartition]

    def __init__(
        self,
        name: str = '',
        topic_id: bytes = ZERO_UUID,
        partitions: list[OffsetCommitRequestPartition] = EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class OffsetCommitRequest(WireStruct):
    __slots__ = ('group_id', 'generation_id_or_member_epoch', 'member_id', 'group_instance_id', 'retention_time_ms', 'topics',)
    group_id: str
    generation_id_or_member_epoch: int
    member_id: str
    group_instance_id: str | None
    retention_time_ms: int
    topics: list[OffsetCommitRequestTopic]

    def __init__(
        self,
        group_id: str = '',
        generation_id_or_member_epoch: int = -1,
        member_id: str = '',
        group_instance_id: str | None = None,
        retention_time_ms: int = -1,
        topics: list[OffsetCommitRequestTopic] = EMPTY,
    ) -> None:
        self.group_id = group_id
        self.generation_id_or_member_epoch = generation_id_or_member_epoch
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.retention_time_ms = retention_time_ms
        self.topics = [] if topics is EMPTY else topics


def parse_request_v2(buf: Buf, pos: int) -> tuple[OffsetCommitRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(OffsetCommitRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetCommitRequest.group_id')
    m.generation_id_or_member_epoch, n = u_ih(buf, pos)
    pos += 6
    if n >= 0:
        end = pos + n
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetCommitRequest.member_id')
    m.group_instance_id = None
    m.retention_time_ms, n = u_qi(buf, pos)
    pos += 12
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('OffsetCommitRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetCommitRequestTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetCommitRequest.name')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 14 > size - pos:
                    raise bad_count('OffsetCommitRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetCommitRequestPartition)
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
                        raise bad_length('OffsetCommitRequest.committed_metadata')
            else:
                raise bad_length('OffsetCommitRequest.partitions')
    else:
        raise bad_length('OffsetCommitRequest.topics')
    return m, pos


def parse_request_v5(buf: Buf, pos: int) -> tuple[OffsetCommitRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(OffsetCommitRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetCommitRequest.group_id')
    m.generation_id_or_member_epoch, n = u_ih(buf, pos)
    pos += 6
    if n >= 0:
        end = pos + n
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetCommitRequest.member_id')
    m.group_instance_id = None
    m.retention_time_ms = -1
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('OffsetCommitRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetCommitRequestTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetCommitRequest.name')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 14 > size - pos:
                    raise bad_count('OffsetCommitRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetCommitRequestPartition)
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
                        raise bad_length('OffsetCommitRequest.committed_metadata')
            else:
                raise bad_length('OffsetCommitRequest.partitions')
    else:
        raise bad_length('OffsetCommitRequest.topics')
    return m, pos


def parse_request_v6(buf: Buf, pos: int) -> tuple[OffsetCommitRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(OffsetCommitRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetCommitRequest.group_id')
    m.generation_id_or_member_epoch, n = u_ih(buf, pos)
    pos += 6
    if n >= 0:
        end = pos + n
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetCommitRequest.member_id')
    m.group_instance_id = None
    m.retention_time_ms = -1
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('OffsetCommitRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetCommitRequestTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetCommitRequest.name')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('OffsetCommitRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetCommitRequestPartition)
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
                        raise bad_length('OffsetCommitRequest.committed_metadata')
            else:
                raise bad_length('OffsetCommitRequest.partitions')
    else:
        raise bad_length('OffsetCommitRequest.topics')
    return m, pos


def parse_request_v7(buf: Buf, pos: int) -> tuple[OffsetCommitRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(OffsetCommitRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetCommitRequest.group_id')
    m.generation_id_or_member_epoch, n = u_ih(buf, pos)
    pos += 6
    if n >= 0:
        end = pos + n
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetCommitRequest.member_id')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_instance_id = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.group_instance_id = None
    else:
        raise bad_length('OffsetCommitRequest.group_instance_id')
    m.retention_time_ms = -1
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('OffsetCommitRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetCommitRequestTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetCommitRequest.name')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('OffsetCommitRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetCommitRequestPartition)
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
                        raise bad_length('OffsetCommitRequest.committed_metadata')
            else:
                raise bad_length('OffsetCommitRequest.partitions')
    else:
        raise bad_length('OffsetCommitRequest.topics')
    return m, pos


def parse_request_v8(buf: Buf, pos: int) -> tuple[OffsetCommitRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(OffsetCommitRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetCommitRequest.group_id')
    m.generation_id_or_member_epoch, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetCommitRequest.member_id')
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
    m.retention_time_ms = -1
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('OffsetCommitRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetCommitRequestTopic)
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
                raise bad_length('OffsetCommitRequest.name')
            m1.topic_id = ZERO_UUID
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('OffsetCommitRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetCommitRequestPartition)
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
                raise bad_length('OffsetCommitRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('OffsetCommitRequest.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v10(buf: Buf, pos: int) -> tuple[OffsetCommitRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(OffsetCommitRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetCommitRequest.group_id')
    m.generation_id_or_member_epoch, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetCommitRequest.member_id')
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
    m.retention_time_ms = -1
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('OffsetCommitRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetCommitRequestTopic)
            a1.append(m1)
            m1.name = ''
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('OffsetCommitRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetCommitRequestPartition)
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
                raise bad_length('OffsetCommitRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('OffsetCommitRequest.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    2: parse_request_v2,
    3: parse_request_v2,
    4: parse_request_v2,
    5: parse_request_v5,
    6: parse_request_v6,
    7: parse_request_v7,
    8: parse_request_v8,
    9: parse_request_v8,
    10: parse_request_v10,
}


def write_request_v2(m: OffsetCommitRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.member_id.encode()
    n = len(b)
    out += p_ih(m.generation_id_or_member_epoch, n)
    out += b
    a1 = m.topics
    n = len(a1)
    out += p_qi(m.retention_time_ms, n)
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


def write_request_v5(m: OffsetCommitRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.member_id.encode()
    n = len(b)
    out += p_ih(m.generation_id_or_member_epoch, n)
    out += b
    a1 = m.topics
    n = len(a1)
    out += p_i(n)
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


def write_request_v6(m: OffsetCommitRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.member_id.encode()
    n = len(b)
    out += p_ih(m.generation_id_or_member_epoch, n)
    out += b
    a1 = m.topics
    n = len(a1)
    out += p_i(n)
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


def write_request_v7(m: OffsetCommitRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.member_id.encode()
    n = len(b)
    out += p_ih(m.generation_id_or_member_epoch, n)
    out += b
    b = m.group_instance_id
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


def write_request_v8(m: OffsetCommitRequest, out: bytearray) -> None:
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
        out += p_iB(m.generation_id_or_member_epoch, n)
    else:
        out += p_i(m.generation_id_or_member_epoch)
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


def write_request_v10(m: OffsetCommitRequest, out: bytearray) -> None:
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
        out += p_iB(m.generation_id_or_member_epoch, n)
    else:
        out += p_i(m.generation_id_or_member_epoch)
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
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out += p_UB(m1.topic_id, n)
        else:
            out += p_U(m1.topic_id)
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
    2: write_request_v2,
    3: write_request_v2,
    4: write_request_v2,
    5: write_request_v5,
    6: write_request_v6,
    7: write_request_v7,
    8: write_request_v8,
    9: write_request_v8,
    10: write_request_v10,
}


class OffsetCommitResponsePartition(WireStruct):
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


class OffsetCommitResponseTopic(WireStruct):
    __slots__ = ('name', 'topic_id', 'partitions',)
    name: str
    topic_id: bytes
    partitions: list[OffsetCommitResponsePartition]

    def __init__(
        self,
        name: str = '',
        topic_id: bytes = ZERO_UUID,
        partitions: list[OffsetCommitResponsePartition] = EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class OffsetCommitResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'topics',)
    throttle_time_ms: int
    topics: list[OffsetCommitResponseTopic]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[OffsetCommitResponseTopic] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics


def parse_response_v2(buf: Buf, pos: int) -> tuple[OffsetCommitResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(OffsetCommitResponse)
    m.throttle_time_ms = 0
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('OffsetCommitResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetCommitResponseTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetCommitResponse.name')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('OffsetCommitResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetCommitResponsePartition)
                    a2.append(m2)
                    m2.partition_index, m2.error_code = u_ih(buf, pos)
                    pos += 6
            else:
                raise bad_length('OffsetCommitResponse.partitions')
    else:
        raise bad_length('OffsetCommitResponse.topics')
    return m, pos


def parse_response_v3(buf: Buf, pos: int) -> tuple[OffsetCommitResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(OffsetCommitResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('OffsetCommitResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetCommitResponseTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetCommitResponse.name')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('OffsetCommitResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetCommitResponsePartition)
                    a2.append(m2)
                    m2.partition_index, m2.error_code = u_ih(buf, pos)
                    pos += 6
            else:
                raise bad_length('OffsetCommitResponse.partitions')
    else:
        raise bad_length('OffsetCommitResponse.topics')
    return m, pos


def parse_response_v8(buf: Buf, pos: int) -> tuple[OffsetCommitResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(OffsetCommitResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('OffsetCommitResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetCommitResponseTopic)
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
                raise bad_length('OffsetCommitResponse.name')
            m1.topic_id = ZERO_UUID
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 7 > size - pos:
                    raise bad_count('OffsetCommitResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetCommitResponsePartition)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, n = u_ihB(buf, pos)
                    pos += 7
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('OffsetCommitResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('OffsetCommitResponse.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v10(buf: Buf, pos: int) -> tuple[OffsetCommitResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(OffsetCommitResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('OffsetCommitResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetCommitResponseTopic)
            a1.append(m1)
            m1.name = ''
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 7 > size - pos:
                    raise bad_count('OffsetCommitResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetCommitResponsePartition)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, n = u_ihB(buf, pos)
                    pos += 7
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('OffsetCommitResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('OffsetCommitResponse.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    2: parse_response_v2,
    3: parse_response_v3,
    4: parse_response_v3,
    5: parse_response_v3,
    6: parse_response_v3,
    7: parse_response_v3,
    8: parse_response_v8,
    9: parse_response_v8,
    10: parse_response_v10,
}


def write_response_v2(m: OffsetCommitResponse, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_i(n)
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


def write_response_v3(m: OffsetCommitResponse, out: bytearray) -> None:
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


def write_response_v8(m: OffsetCommitResponse, out: bytearray) -> None:
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


def write_response_v10(m: OffsetCommitResponse, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
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
            out += p_ihx(m2.partition_index, m2.error_code)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    2: write_response_v2,
    3: write_response_v3,
    4: write_response_v3,
    5: write_response_v3,
    6: write_response_v3,
    7: write_response_v3,
    8: write_response_v8,
    9: write_response_v8,
    10: write_response_v10,
}
