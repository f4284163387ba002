"""FetchSnapshot: API key 59, versions 0-1. Written by kproto.wire.generator: do not edit."""

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
p_U = Struct(">16s").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_ii = Struct(">ii").pack
p_iiB = Struct(">iiB").pack
p_iix = Struct(">iix").pack
p_qixqB = Struct(">qixqB").pack
p_qixqq = Struct(">qixqq").pack
p_qixqqB = Struct(">qixqqB").pack
p_qixqx = Struct(">qixqx").pack
u_HB = Struct(">HB").unpack_from
u_iB = Struct(">iB").unpack_from
u_ih = Struct(">ih").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_ii = Struct(">ii").unpack_from
u_iiB = Struct(">iiB").unpack_from
u_q = Struct(">q").unpack_from
u_qiB = Struct(">qiB").unpack_from
u_qqB = Struct(">qqB").unpack_from


class RequestSnapshotId(WireStruct):
    __slots__ = ('end_offset', 'epoch',)
    end_offset: int
    epoch: int

    def __init__(
        self,
        end_offset: int = 0,
        epoch: int = 0,
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch


class RequestPartitionSnapshot(WireStruct):
    __slots__ = ('partition', 'current_leader_epoch', 'snapshot_id', 'position', 'replica_directory_id',)
    partition: int
    current_leader_epoch: int
    snapshot_id: RequestSnapshotId
    position: int
    replica_directory_id: bytes

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = 0,
        snapshot_id: RequestSnapshotId = EMPTY,
        position: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.snapshot_id = RequestSnapshotId() if snapshot_id is EMPTY else snapshot_id
        self.position = position
        self.replica_directory_id = replica_directory_id


class RequestTopicSnapshot(WireStruct):
    __slots__ = ('name', 'partitions',)
    name: str
    partitions: list[RequestPartitionSnapshot]

    def __init__(
        self,
        name: str = '',
        partitions: list[RequestPartitionSnapshot] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class FetchSnapshotRequest(WireStruct):
    __slots__ = ('cluster_id', 'replica_id', 'max_bytes', 'topics',)
    cluster_id: str | None
    replica_id: int
    max_bytes: int
    topics: list[RequestTopicSnapshot]

    def __init__(
        self,
        cluster_id: str | None = None,
        replica_id: int = -1,
        max_bytes: int = 2147483647,
        topics: list[RequestTopicSnapshot] = EMPTY,
    ) -> None:
        self.cluster_id = cluster_id
        self.replica_id = replica_id
        self.max_bytes = max_bytes
        self.topics = [] if topics is EMPTY else topics


def parse_request_v0(buf: Buf, pos: int) -> tuple[FetchSnapshotRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(FetchSnapshotRequest)
    m.cluster_id = None
    m.replica_id, m.max_bytes, n = u_iiB(buf, pos)
    pos += 9
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('FetchSnapshotRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(RequestTopicSnapshot)
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
                raise bad_length('FetchSnapshotRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 30 > size - pos:
                    raise bad_count('FetchSnapshotRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(RequestPartitionSnapshot)
                    a2.append(m2)
                    m2.partition, m2.current_leader_epoch = u_ii(buf, pos)
                    pos += 8
                    m2.snapshot_id = m3 = new(RequestSnapshotId)
                    m3.end_offset, m3.epoch, n = u_qiB(buf, pos)
                    pos += 13
                    if n:
                        pos = skip_tags(buf, pos, n)
                    m2.position = u_q(buf, pos)[0]
                    pos += 8
                    m2.replica_directory_id = ZERO_UUID
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('FetchSnapshotRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('FetchSnapshotRequest.topics')
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
                    end = pos + n - 1
                    m.cluster_id = str(buf[pos:end], "utf-8")
                    pos = end
                else:
                    m.cluster_id = None
                if pos != end1:
                    raise bad_tag('FetchSnapshotRequest.cluster_id')
            else:
                pos = end1
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[FetchSnapshotRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(FetchSnapshotRequest)
    m.cluster_id = None
    m.replica_id, m.max_bytes, n = u_iiB(buf, pos)
    pos += 9
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('FetchSnapshotRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(RequestTopicSnapshot)
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
                raise bad_length('FetchSnapshotRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 30 > size - pos:
                    raise bad_count('FetchSnapshotRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(RequestPartitionSnapshot)
                    a2.append(m2)
                    m2.partition, m2.current_leader_epoch = u_ii(buf, pos)
                    pos += 8
                    m2.snapshot_id = m3 = new(RequestSnapshotId)
                    m3.end_offset, m3.epoch, n = u_qiB(buf, pos)
                    pos += 13
                    if n:
                        pos = skip_tags(buf, pos, n)
                    m2.position = u_q(buf, pos)[0]
                    pos += 8
                    m2.replica_directory_id = ZERO_UUID
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
                                m2.replica_directory_id = bytes(buf[pos:pos + 16])
                                pos += 16
                                if pos != end3:
                                    raise bad_tag('FetchSnapshotRequest.replica_directory_id')
                            else:
                                pos = end3
            else:
                raise bad_length('FetchSnapshotRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('FetchSnapshotRequest.topics')
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
                    end = pos + n - 1
                    m.cluster_id = str(buf[pos:end], "utf-8")
                    pos = end
                else:
                    m.cluster_id = None
                if pos != end1:
                    raise bad_tag('FetchSnapshotRequest.cluster_id')
            else:
                pos = end1
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
}


def write_request_v0(m: FetchSnapshotRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_iiB(m.replica_id, m.max_bytes, n)
    else:
        out += p_ii(m.replica_id, m.max_bytes)
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
            out += p_ii(m2.partition, m2.current_leader_epoch)
            m3 = m2.snapshot_id
            out += p_qixqx(m3.end_offset, m3.epoch, m2.position)
        out.append(0)
    n = (m.cluster_id is not None)
    out += p_B(n)
    if n:
        if m.cluster_id is not None:
            t1 = bytearray()
            b = m.cluster_id
            if b is None:
                b = b""
                n = 0
            else:
                b = b.encode()
                n = len(b) + 1
            if n < 128:
                t1.append(n)
            else:
                uvarint(t1, n)
            t1 += b
            uvarint(out, 0)
            uvarint(out, len(t1))
            out += t1


def write_request_v1(m: FetchSnapshotRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_iiB(m.replica_id, m.max_bytes, n)
    else:
        out += p_ii(m.replica_id, m.max_bytes)
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
            out += p_ii(m2.partition, m2.current_leader_epoch)
            m3 = m2.snapshot_id
            n = (m2.replica_directory_id != ZERO_UUID)
            out += p_qixqB(m3.end_offset, m3.epoch, m2.position, n)
            if n:
                if m2.replica_directory_id != ZERO_UUID:
                    t3 = bytearray()
                    t3 += p_U(m2.replica_directory_id)
                    uvarint(out, 0)
                    uvarint(out, len(t3))
                    out += t3
        out.append(0)
    n = (m.cluster_id is not None)
    out += p_B(n)
    if n:
        if m.cluster_id is not None:
            t1 = bytearray()
            b = m.cluster_id
            if b is None:
                b = b""
                n = 0
            else:
                b = b.encode()
                n = len(b) + 1
            if n < 128:
                t1.append(n)
            else:
                uvarint(t1, n)
            t1 += b
            uvarint(out, 0)
            uvarint(out, len(t1))
            out += t1


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v1,
}


class ResponseSnapshotId(WireStruct):
    __slots__ = ('end_offset', 'epoch',)
    end_offset: int
    epoch: int

    def __init__(
        self,
        end_offset: int = 0,
        epoch: int = 0,
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch


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


class ResponsePartitionSnapshot(WireStruct):
    __slots__ = ('index', 'error_code', 'snapshot_id', 'current_leader', 'size', 'position', 'unaligned_records',)
    index: int
    error_code: int
    snapshot_id: ResponseSnapshotId
    current_leader: LeaderIdAndEpoch | None
    size: int
    position: int
    unaligned_records: memoryview | None

    def __init__(
        self,
        index: int = 0,
        error_code: int = 0,
        snapshot_id: ResponseSnapshotId = EMPTY,
        current_leader: LeaderIdAndEpoch | None = None,
        size: int = 0,
        position: int = 0,
        unaligned_records: memoryview | None = None,
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.snapshot_id = ResponseSnapshotId() if snapshot_id is EMPTY else snapshot_id
        self.current_leader = current_leader
        self.size = size
        self.position = position
        self.unaligned_records = unaligned_records


class ResponseTopicSnapshot(WireStruct):
    __slots__ = ('name', 'partitions',)
    name: str
    partitions: list[ResponsePartitionSnapshot]

    def __init__(
        self,
        name: str = '',
        partitions: list[ResponsePartitionSnapshot] = EMPTY,
    ) -> None:
        self.name = name
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


class FetchSnapshotResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'topics', 'node_endpoints',)
    throttle_time_ms: int
    error_code: int
    topics: list[ResponseTopicSnapshot]
    node_endpoints: list[NodeEndpoint]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: list[ResponseTopicSnapshot] = EMPTY,
        node_endpoints: list[NodeEndpoint] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.topics = [] if topics is EMPTY else topics
        self.node_endpoints = [] if node_endpoints is EMPTY else node_endpoints


def parse_response_v0(buf: Buf, pos: int) -> tuple[FetchSnapshotResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(FetchSnapshotResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('FetchSnapshotResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(ResponseTopicSnapshot)
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
                raise bad_length('FetchSnapshotResponse.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 37 > size - pos:
                    raise bad_count('FetchSnapshotResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ResponsePartitionSnapshot)
                    a2.append(m2)
                    m2.index, m2.error_code = u_ih(buf, pos)
                    pos += 6
                    m2.snapshot_id = m3 = new(ResponseSnapshotId)
                    m3.end_offset, m3.epoch, n = u_qiB(buf, pos)
                    pos += 13
                    if n:
                        pos = skip_tags(buf, pos, n)
                    m2.current_leader = None
                    m2.size, m2.position, n = u_qqB(buf, pos)
                    pos += 17
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.unaligned_records = buf[pos:end]
                        pos = end
                    else:
                        raise bad_length('FetchSnapshotResponse.unaligned_records')
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
                                    raise bad_tag('FetchSnapshotResponse.current_leader')
                            else:
                                pos = end3
            else:
                raise bad_length('FetchSnapshotResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('FetchSnapshotResponse.topics')
    m.node_endpoints = []
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[FetchSnapshotResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(FetchSnapshotResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('FetchSnapshotResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(ResponseTopicSnapshot)
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
                raise bad_length('FetchSnapshotResponse.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 37 > size - pos:
                    raise bad_count('FetchSnapshotResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ResponsePartitionSnapshot)
                    a2.append(m2)
                    m2.index, m2.error_code = u_ih(buf, pos)
                    pos += 6
                    m2.snapshot_id = m3 = new(ResponseSnapshotId)
                    m3.end_offset, m3.epoch, n = u_qiB(buf, pos)
                    pos += 13
                    if n:
                        pos = skip_tags(buf, pos, n)
                    m2.current_leader = None
                    m2.size, m2.position, n = u_qqB(buf, pos)
                    pos += 17
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.unaligned_records = buf[pos:end]
                        pos = end
                    else:
                        raise bad_length('FetchSnapshotResponse.unaligned_records')
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
                                    raise bad_tag('FetchSnapshotResponse.current_leader')
                            else:
                                pos = end3
            else:
                raise bad_length('FetchSnapshotResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('FetchSnapshotResponse.topics')
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
                        raise bad_count('FetchSnapshotResponse.node_endpoints', n)
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
                            raise bad_length('FetchSnapshotResponse.host')
                        m1.port, n = u_HB(buf, pos)
                        pos += 3
                        if n:
                            pos = skip_tags(buf, pos, n)
                else:
                    raise bad_length('FetchSnapshotResponse.node_endpoints')
                if pos != end1:
                    raise bad_tag('FetchSnapshotResponse.node_endpoints')
            else:
                pos = end1
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v1,
}


def write_response_v0(m: FetchSnapshotResponse, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
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
            out += p_ih(m2.index, m2.error_code)
            m3 = m2.snapshot_id
            b = m2.unaligned_records
            n = len(b) + 1
            if n < 128:
                out += p_qixqqB(m3.end_offset, m3.epoch, m2.size, m2.position, n)
            else:
                out += p_qixqq(m3.end_offset, m3.epoch, m2.size, m2.position)
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
    out.append(0)


def write_response_v1(m: FetchSnapshotResponse, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
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
            out += p_ih(m2.index, m2.error_code)
            m3 = m2.snapshot_id
            b = m2.unaligned_records
            n = len(b) + 1
            if n < 128:
                out += p_qixqqB(m3.end_offset, m3.epoch, m2.size, m2.position, n)
            else:
                out += p_qixqq(m3.end_offset, m3.epoch, m2.size, m2.position)
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
