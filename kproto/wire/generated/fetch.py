"""Fetch: API key 1, versions 4-18. Written by kproto.wire.generator: do not edit."""

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
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ihi = Struct(">ihi").pack
p_ihiB = Struct(">ihiB").pack
p_ihii = Struct(">ihii").pack
p_ihqqi = Struct(">ihqqi").pack
p_ihqqq = Struct(">ihqqq").pack
p_ihqqqB = Struct(">ihqqqB").pack
p_ihqqqi = Struct(">ihqqqi").pack
p_ii = Struct(">ii").pack
p_iiibii = Struct(">iiibii").pack
p_iiibiiB = Struct(">iiibiiB").pack
p_iiiibi = Struct(">iiiibi").pack
p_iiiibii = Struct(">iiiibii").pack
p_iiiibiiB = Struct(">iiiibiiB").pack
p_iiiibiii = Struct(">iiiibiii").pack
p_iiqiqiB = Struct(">iiqiqiB").pack
p_iiqiqix = Struct(">iiqiqix").pack
p_iiqqi = Struct(">iiqqi").pack
p_iix = Struct(">iix").pack
p_iqi = Struct(">iqi").pack
p_iqqi = Struct(">iqqi").pack
p_iqx = Struct(">iqx").pack
p_q = Struct(">q").pack
p_qix = Struct(">qix").pack
p_qq = Struct(">qq").pack
p_qqx = Struct(">qqx").pack
u_UB = Struct(">16sB").unpack_from
u_h = Struct(">h").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ihiB = Struct(">ihiB").unpack_from
u_ihii = Struct(">ihii").unpack_from
u_ihqq = Struct(">ihqq").unpack_from
u_ihqqq = Struct(">ihqqq").unpack_from
u_ii = Struct(">ii").unpack_from
u_iiB = Struct(">iiB").unpack_from
u_iiib = Struct(">iiib").unpack_from
u_iiibiiB = Struct(">iiibiiB").unpack_from
u_iiibiii = Struct(">iiibiii").unpack_from
u_iiq = Struct(">iiq").unpack_from
u_iiqiqi = Struct(">iiqiqi").unpack_from
u_iqB = Struct(">iqB").unpack_from
u_q = Struct(">q").unpack_from
u_qi = Struct(">qi").unpack_from
u_qiB = Struct(">qiB").unpack_from
u_qq = Struct(">qq").unpack_from
u_qqB = Struct(">qqB").unpack_from


class ReplicaState(WireStruct):
    __slots__ = ('replica_id', 'replica_epoch',)
    replica_id: int
    replica_epoch: int

    def __init__(
        self,
        replica_id: int = -1,
        replica_epoch: int = -1,
    ) -> None:
        self.replica_id = replica_id
        self.replica_epoch = replica_epoch


class FetchPartition(WireStruct):
    __slots__ = ('partition', 'current_leader_epoch', 'fetch_offset', 'last_fetched_epoch', 'log_start_offset', 'partition_max_bytes', 'replica_directory_id', 'high_watermark',)
    partition: int
    current_leader_epoch: int
    fetch_offset: int
    last_fetched_epoch: int
    log_start_offset: int
    partition_max_bytes: int
    replica_directory_id: bytes
    high_watermark: int

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = -1,
        fetch_offset: int = 0,
        last_fetched_epoch: int = -1,
        log_start_offset: int = -1,
        partition_max_bytes: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        high_watermark: int = 9223372036854775807,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.fetch_offset = fetch_offset
        self.last_fetched_epoch = last_fetched_epoch
        self.log_start_offset = log_start_offset
        self.partition_max_bytes = partition_max_bytes
        self.replica_directory_id = replica_directory_id
        self.high_watermark = high_watermark


class FetchTopic(WireStruct):
    __slots__ = ('topic', 'topic_id', 'partitions',)
    topic: str
    topic_id: bytes
    partitions: list[FetchPartition]

    def __init__(
        self,
        topic: str = '',
        topic_id: bytes = ZERO_UUID,
        partitions: list[FetchPartition] = EMPTY,
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class ForgottenTopic(WireStruct):
    __slots__ = ('topic', 'topic_id', 'partitions',)
    topic: str
    topic_id: bytes
    partitions: list[int]

    def __init__(
        self,
        topic: str = '',
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class FetchRequest(WireStruct):
    __slots__ = ('cluster_id', 'replica_id', 'replica_state', 'max_wait_ms', 'min_bytes', 'max_bytes', 'isolation_level', 'session_id', 'session_epoch', 'topics', 'forgotten_topics_data', 'rack_id',)
    cluster_id: str | None
    replica_id: int
    replica_state: ReplicaState | None
    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    isolation_level: int
    session_id: int
    session_epoch: int
    topics: list[FetchTopic]
    forgotten_topics_data: list[ForgottenTopic]
    rack_id: str

    def __init__(
        self,
        cluster_id: str | None = None,
        replica_id: int = -1,
        replica_state: ReplicaState | None = None,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        isolation_level: int = 0,
        session_id: int = 0,
        session_epoch: int = -1,
        topics: list[FetchTopic] = EMPTY,
        forgotten_topics_data: list[ForgottenTopic] = EMPTY,
        rack_id: str = '',
    ) -> None:
        self.cluster_id = cluster_id
        self.replica_id = replica_id
        self.replica_state = replica_state
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.isolation_level = isolation_level
        self.session_id = session_id
        self.session_epoch = session_epoch
        self.topics = [] if topics is EMPTY else topics
        self.forgotten_topics_data = [] if forgotten_topics_data is EMPTY else forgotten_topics_data
        self.rack_id = rack_id


def parse_request_v4(buf: Buf, pos: int) -> tuple[FetchRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(FetchRequest)
    m.cluster_id = None
    m.replica_id = u_i(buf, pos)[0]
    pos += 4
    m.replica_state = None
    m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level = u_iiib(buf, pos)
    pos += 13
    m.session_id = 0
    m.session_epoch = -1
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('FetchRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(FetchTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('FetchRequest.topic')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 16 > size - pos:
                    raise bad_count('FetchRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(FetchPartition)
                    a2.append(m2)
                    m2.partition = u_i(buf, pos)[0]
                    pos += 4
                    m2.current_leader_epoch = -1
                    m2.fetch_offset = u_q(buf, pos)[0]
                    pos += 8
                    m2.last_fetched_epoch = -1
                    m2.log_start_offset = -1
                    m2.partition_max_bytes = u_i(buf, pos)[0]
                    pos += 4
                    m2.replica_directory_id = ZERO_UUID
                    m2.high_watermark = 9223372036854775807
            else:
                raise bad_length('FetchRequest.partitions')
    else:
        raise bad_length('FetchRequest.topics')
    m.forgotten_topics_data = []
    m.rack_id = ''
    return m, pos


def parse_request_v5(buf: Buf, pos: int) -> tuple[FetchRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(FetchRequest)
    m.cluster_id = None
    m.replica_id = u_i(buf, pos)[0]
    pos += 4
    m.replica_state = None
    m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level = u_iiib(buf, pos)
    pos += 13
    m.session_id = 0
    m.session_epoch = -1
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('FetchRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(FetchTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('FetchRequest.topic')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 24 > size - pos:
                    raise bad_count('FetchRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(FetchPartition)
                    a2.append(m2)
                    m2.partition = u_i(buf, pos)[0]
                    pos += 4
                    m2.current_leader_epoch = -1
                    m2.fetch_offset = u_q(buf, pos)[0]
                    pos += 8
                    m2.last_fetched_epoch = -1
                    m2.log_start_offset, m2.partition_max_bytes = u_qi(buf, pos)
                    pos += 12
                    m2.replica_directory_id = ZERO_UUID
                    m2.high_watermark = 9223372036854775807
            else:
                raise bad_length('FetchRequest.partitions')
    else:
        raise bad_length('FetchRequest.topics')
    m.forgotten_topics_data = []
    m.rack_id = ''
    return m, pos


def parse_request_v7(buf: Buf, pos: int) -> tuple[FetchRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(FetchRequest)
    m.cluster_id = None
    m.replica_id = u_i(buf, pos)[0]
    pos += 4
    m.replica_state = None
    m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch, n = u_iiibiii(buf, pos)
    pos += 25
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('FetchRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(FetchTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('FetchRequest.topic')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 24 > size - pos:
                    raise bad_count('FetchRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(FetchPartition)
                    a2.append(m2)
                    m2.partition = u_i(buf, pos)[0]
                    pos += 4
                    m2.current_leader_epoch = -1
                    m2.fetch_offset = u_q(buf, pos)[0]
                    pos += 8
                    m2.last_fetched_epoch = -1
                    m2.log_start_offset, m2.partition_max_bytes = u_qi(buf, pos)
                    pos += 12
                    m2.replica_directory_id = ZERO_UUID
                    m2.high_watermark = 9223372036854775807
            else:
                raise bad_length('FetchRequest.partitions')
    else:
        raise bad_length('FetchRequest.topics')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('FetchRequest.forgotten_topics_data', n)
        m.forgotten_topics_data = a1 = []
        for _ in range(n):
            m1 = new(ForgottenTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('FetchRequest.topic')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('FetchRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('FetchRequest.partitions')
    else:
        raise bad_length('FetchRequest.forgotten_topics_data')
    m.rack_id = ''
    return m, pos


def parse_request_v9(buf: Buf, pos: int) -> tuple[FetchRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(FetchRequest)
    m.cluster_id = None
    m.replica_id = u_i(buf, pos)[0]
    pos += 4
    m.replica_state = None
    m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch, n = u_iiibiii(buf, pos)
    pos += 25
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('FetchRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(FetchTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('FetchRequest.topic')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 28 > size - pos:
                    raise bad_count('FetchRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(FetchPartition)
                    a2.append(m2)
                    m2.partition, m2.current_leader_epoch, m2.fetch_offset = u_iiq(buf, pos)
                    pos += 16
                    m2.last_fetched_epoch = -1
                    m2.log_start_offset, m2.partition_max_bytes = u_qi(buf, pos)
                    pos += 12
                    m2.replica_directory_id = ZERO_UUID
                    m2.high_watermark = 9223372036854775807
            else:
                raise bad_length('FetchRequest.partitions')
    else:
        raise bad_length('FetchRequest.topics')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('FetchRequest.forgotten_topics_data', n)
        m.forgotten_topics_data = a1 = []
        for _ in range(n):
            m1 = new(ForgottenTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('FetchRequest.topic')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('FetchRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('FetchRequest.partitions')
    else:
        raise bad_length('FetchRequest.forgotten_topics_data')
    m.rack_id = ''
    return m, pos


def parse_request_v11(buf: Buf, pos: int) -> tuple[FetchRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(FetchRequest)
    m.cluster_id = None
    m.replica_id = u_i(buf, pos)[0]
    pos += 4
    m.replica_state = None
    m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch, n = u_iiibiii(buf, pos)
    pos += 25
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('FetchRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(FetchTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('FetchRequest.topic')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 28 > size - pos:
                    raise bad_count('FetchRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(FetchPartition)
                    a2.append(m2)
                    m2.partition, m2.current_leader_epoch, m2.fetch_offset = u_iiq(buf, pos)
                    pos += 16
                    m2.last_fetched_epoch = -1
                    m2.log_start_offset, m2.partition_max_bytes = u_qi(buf, pos)
                    pos += 12
                    m2.replica_directory_id = ZERO_UUID
                    m2.high_watermark = 9223372036854775807
            else:
                raise bad_length('FetchRequest.partitions')
    else:
        raise bad_length('FetchRequest.topics')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('FetchRequest.forgotten_topics_data', n)
        m.forgotten_topics_data = a1 = []
        for _ in range(n):
            m1 = new(ForgottenTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('FetchRequest.topic')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('FetchRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('FetchRequest.partitions')
    else:
        raise bad_length('FetchRequest.forgotten_topics_data')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.rack_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('FetchRequest.rack_id')
    return m, pos


def parse_request_v12(buf: Buf, pos: int) -> tuple[FetchRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(FetchRequest)
    m.cluster_id = None
    m.replica_id = u_i(buf, pos)[0]
    pos += 4
    m.replica_state = None
    m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch, n = u_iiibiiB(buf, pos)
    pos += 22
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('FetchRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(FetchTopic)
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
                raise bad_length('FetchRequest.topic')
            m1.topic_id = ZERO_UUID
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 33 > size - pos:
                    raise bad_count('FetchRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(FetchPartition)
                    a2.append(m2)
                    m2.partition, m2.current_leader_epoch, m2.fetch_offset, m2.last_fetched_epoch, m2.log_start_offset, m2.partition_max_bytes = u_iiqiqi(buf, pos)
                    pos += 32
                    m2.replica_directory_id = ZERO_UUID
                    m2.high_watermark = 9223372036854775807
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('FetchRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('FetchRequest.topics')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('FetchRequest.forgotten_topics_data', n)
        m.forgotten_topics_data = a1 = []
        for _ in range(n):
            m1 = new(ForgottenTopic)
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
                raise bad_length('FetchRequest.topic')
            m1.topic_id = ZERO_UUID
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('FetchRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('FetchRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('FetchRequest.forgotten_topics_data')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.rack_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('FetchRequest.rack_id')
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
                    raise bad_tag('FetchRequest.cluster_id')
            else:
                pos = end1
    return m, pos


def parse_request_v13(buf: Buf, pos: int) -> tuple[FetchRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(FetchRequest)
    m.cluster_id = None
    m.replica_id = u_i(buf, pos)[0]
    pos += 4
    m.replica_state = None
    m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch, n = u_iiibiiB(buf, pos)
    pos += 22
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('FetchRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(FetchTopic)
            a1.append(m1)
            m1.topic = ''
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 33 > size - pos:
                    raise bad_count('FetchRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(FetchPartition)
                    a2.append(m2)
                    m2.partition, m2.current_leader_epoch, m2.fetch_offset, m2.last_fetched_epoch, m2.log_start_offset, m2.partition_max_bytes = u_iiqiqi(buf, pos)
                    pos += 32
                    m2.replica_directory_id = ZERO_UUID
                    m2.high_watermark = 9223372036854775807
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('FetchRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('FetchRequest.topics')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('FetchRequest.forgotten_topics_data', n)
        m.forgotten_topics_data = a1 = []
        for _ in range(n):
            m1 = new(ForgottenTopic)
            a1.append(m1)
            m1.topic = ''
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('FetchRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('FetchRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('FetchRequest.forgotten_topics_data')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.rack_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('FetchRequest.rack_id')
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
                    raise bad_tag('FetchRequest.cluster_id')
            else:
                pos = end1
    return m, pos


def parse_request_v15(buf: Buf, pos: int) -> tuple[FetchRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(FetchRequest)
    m.cluster_id = None
    m.replica_id = -1
    m.replica_state = None
    m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch, n = u_iiibiiB(buf, pos)
    pos += 22
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('FetchRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(FetchTopic)
            a1.append(m1)
            m1.topic = ''
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 33 > size - pos:
                    raise bad_count('FetchRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(FetchPartition)
                    a2.append(m2)
                    m2.partition, m2.current_leader_epoch, m2.fetch_offset, m2.last_fetched_epoch, m2.log_start_offset, m2.partition_max_bytes = u_iiqiqi(buf, pos)
                    pos += 32
                    m2.replica_directory_id = ZERO_UUID
                    m2.high_watermark = 9223372036854775807
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('FetchRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('FetchRequest.topics')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('FetchRequest.forgotten_topics_data', n)
        m.forgotten_topics_data = a1 = []
        for _ in range(n):
            m1 = new(ForgottenTopic)
            a1.append(m1)
            m1.topic = ''
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('FetchRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('FetchRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('FetchRequest.forgotten_topics_data')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.rack_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('FetchRequest.rack_id')
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
                    raise bad_tag('FetchRequest.cluster_id')
            elif tag1 == 1:
                m.replica_state = m1 = new(ReplicaState)
                m1.replica_id, m1.replica_epoch, n = u_iqB(buf, pos)
                pos += 13
                if n:
                    pos = skip_tags(buf, pos, n)
                if pos != end1:
                    raise bad_tag('FetchRequest.replica_state')
            else:
                pos = end1
    return m, pos


def parse_request_v17(buf: Buf, pos: int) -> tuple[FetchRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(FetchRequest)
    m.cluster_id = None
    m.replica_id = -1
    m.replica_state = None
    m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch, n = u_iiibiiB(buf, pos)
    pos += 22
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('FetchRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(FetchTopic)
            a1.append(m1)
            m1.topic = ''
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 33 > size - pos:
                    raise bad_count('FetchRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(FetchPartition)
                    a2.append(m2)
                    m2.partition, m2.current_leader_epoch, m2.fetch_offset, m2.last_fetched_epoch, m2.log_start_offset, m2.partition_max_bytes = u_iiqiqi(buf, pos)
                    pos += 32
                    m2.replica_directory_id = ZERO_UUID
                    m2.high_watermark = 9223372036854775807
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
                                    raise bad_tag('FetchRequest.replica_directory_id')
                            else:
                                pos = end3
            else:
                raise bad_length('FetchRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('FetchRequest.topics')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('FetchRequest.forgotten_topics_data', n)
        m.forgotten_topics_data = a1 = []
        for _ in range(n):
            m1 = new(ForgottenTopic)
            a1.append(m1)
            m1.topic = ''
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('FetchRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('FetchRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('FetchRequest.forgotten_topics_data')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.rack_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('FetchRequest.rack_id')
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
                    raise bad_tag('FetchRequest.cluster_id')
            elif tag1 == 1:
                m.replica_state = m1 = new(ReplicaState)
                m1.replica_id, m1.replica_epoch, n = u_iqB(buf, pos)
                pos += 13
                if n:
                    pos = skip_tags(buf, pos, n)
                if pos != end1:
                    raise bad_tag('FetchRequest.replica_state')
            else:
                pos = end1
    return m, pos


def parse_request_v18(buf: Buf, pos: int) -> tuple[FetchRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(FetchRequest)
    m.cluster_id = None
    m.replica_id = -1
    m.replica_state = None
    m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch, n = u_iiibiiB(buf, pos)
    pos += 22
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('FetchRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(FetchTopic)
            a1.append(m1)
            m1.topic = ''
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 33 > size - pos:
                    raise bad_count('FetchRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(FetchPartition)
                    a2.append(m2)
                    m2.partition, m2.current_leader_epoch, m2.fetch_offset, m2.last_fetched_epoch, m2.log_start_offset, m2.partition_max_bytes = u_iiqiqi(buf, pos)
                    pos += 32
                    m2.replica_directory_id = ZERO_UUID
                    m2.high_watermark = 9223372036854775807
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
                                    raise bad_tag('FetchRequest.replica_directory_id')
                            elif tag3 == 1:
                                m2.high_watermark = u_q(buf, pos)[0]
                                pos += 8
                                if pos != end3:
                                    raise bad_tag('FetchRequest.high_watermark')
                            else:
                                pos = end3
            else:
                raise bad_length('FetchRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('FetchRequest.topics')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('FetchRequest.forgotten_topics_data', n)
        m.forgotten_topics_data = a1 = []
        for _ in range(n):
            m1 = new(ForgottenTopic)
            a1.append(m1)
            m1.topic = ''
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('FetchRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('FetchRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('FetchRequest.forgotten_topics_data')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.rack_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('FetchRequest.rack_id')
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
                    raise bad_tag('FetchRequest.cluster_id')
            elif tag1 == 1:
                m.replica_state = m1 = new(ReplicaState)
                m1.replica_id, m1.replica_epoch, n = u_iqB(buf, pos)
                pos += 13
                if n:
                    pos = skip_tags(buf, pos, n)
                if pos != end1:
                    raise bad_tag('FetchRequest.replica_state')
            else:
                pos = end1
    return m, pos


PARSE_REQUEST = {
    4: parse_request_v4,
    5: parse_request_v5,
    6: parse_request_v5,
    7: parse_request_v7,
    8: parse_request_v7,
    9: parse_request_v9,
    10: parse_request_v9,
    11: parse_request_v11,
    12: parse_request_v12,
    13: parse_request_v13,
    14: parse_request_v13,
    15: parse_request_v15,
    16: parse_request_v15,
    17: parse_request_v17,
    18: parse_request_v18,
}


def write_request_v4(m: FetchRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_iiiibi(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, n)
    for m1 in a1:
        b = m1.topic.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_iqi(m2.partition, m2.fetch_offset, m2.partition_max_bytes)


def write_request_v5(m: FetchRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_iiiibi(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, n)
    for m1 in a1:
        b = m1.topic.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_iqqi(m2.partition, m2.fetch_offset, m2.log_start_offset, m2.partition_max_bytes)


def write_request_v7(m: FetchRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_iiiibiii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch, n)
    for m1 in a1:
        b = m1.topic.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_iqqi(m2.partition, m2.fetch_offset, m2.log_start_offset, m2.partition_max_bytes)
    a1 = m.forgotten_topics_data
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
        out += pack(f">{len(a2)}i", *a2)


def write_request_v9(m: FetchRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_iiiibiii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch, n)
    for m1 in a1:
        b = m1.topic.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_iiqqi(m2.partition, m2.current_leader_epoch, m2.fetch_offset, m2.log_start_offset, m2.partition_max_bytes)
    a1 = m.forgotten_topics_data
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
        out += pack(f">{len(a2)}i", *a2)


def write_request_v11(m: FetchRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_iiiibiii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch, n)
    for m1 in a1:
        b = m1.topic.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_iiqqi(m2.partition, m2.current_leader_epoch, m2.fetch_offset, m2.log_start_offset, m2.partition_max_bytes)
    a1 = m.forgotten_topics_data
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
        out += pack(f">{len(a2)}i", *a2)
    b = m.rack_id.encode()
    n = len(b)
    out += p_h(n)
    out += b


def write_request_v12(m: FetchRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_iiiibiiB(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch, n)
    else:
        out += p_iiiibii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
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
            out += p_iiqiqix(m2.partition, m2.current_leader_epoch, m2.fetch_offset, m2.last_fetched_epoch, m2.log_start_offset, m2.partition_max_bytes)
        out.append(0)
    a1 = m.forgotten_topics_data
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
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
        out += pack(f">{len(a2)}i", *a2)
        out.append(0)
    b = m.rack_id.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
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


def write_request_v13(m: FetchRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_iiiibiiB(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch, n)
    else:
        out += p_iiiibii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
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
            out += p_iiqiqix(m2.partition, m2.current_leader_epoch, m2.fetch_offset, m2.last_fetched_epoch, m2.log_start_offset, m2.partition_max_bytes)
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
    b = m.rack_id.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
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


def write_request_v15(m: FetchRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_iiibiiB(m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch, n)
    else:
        out += p_iiibii(m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
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
            out += p_iiqiqix(m2.partition, m2.current_leader_epoch, m2.fetch_offset, m2.last_fetched_epoch, m2.log_start_offset, m2.partition_max_bytes)
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
    b = m.rack_id.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    n = (m.cluster_id is not None) + (m.replica_state is not None)
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
        if m.replica_state is not None:
            t1 = bytearray()
            m1 = m.replica_state
            t1 += p_iqx(m1.replica_id, m1.replica_epoch)
            uvarint(out, 1)
            uvarint(out, len(t1))
            out += t1


def write_request_v17(m: FetchRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_iiibiiB(m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch, n)
    else:
        out += p_iiibii(m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
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
            n = (m2.replica_directory_id != ZERO_UUID)
            out += p_iiqiqiB(m2.partition, m2.current_leader_epoch, m2.fetch_offset, m2.last_fetched_epoch, m2.log_start_offset, m2.partition_max_bytes, n)
            if n:
                if m2.replica_directory_id != ZERO_UUID:
                    t3 = bytearray()
                    t3 += p_U(m2.replica_directory_id)
                    uvarint(out, 0)
                    uvarint(out, len(t3))
                    out += t3
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
    b = m.rack_id.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    n = (m.cluster_id is not None) + (m.replica_state is not None)
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
        if m.replica_state is not None:
            t1 = bytearray()
            m1 = m.replica_state
            t1 += p_iqx(m1.replica_id, m1.replica_epoch)
            uvarint(out, 1)
            uvarint(out, len(t1))
            out += t1


def write_request_v18(m: FetchRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_iiibiiB(m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch, n)
    else:
        out += p_iiibii(m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
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
            n = (m2.replica_directory_id != ZERO_UUID) + (m2.high_watermark != 9223372036854775807)
            out += p_iiqiqiB(m2.partition, m2.current_leader_epoch, m2.fetch_offset, m2.last_fetched_epoch, m2.log_start_offset, m2.partition_max_bytes, n)
            if n:
                if m2.replica_directory_id != ZERO_UUID:
                    t3 = bytearray()
                    t3 += p_U(m2.replica_directory_id)
                    uvarint(out, 0)
                    uvarint(out, len(t3))
                    out += t3
                if m2.high_watermark != 9223372036854775807:
                    t3 = bytearray()
                    t3 += p_q(m2.high_watermark)
                    uvarint(out, 1)
                    uvarint(out, len(t3))
                    out += t3
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
    b = m.rack_id.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    n = (m.cluster_id is not None) + (m.replica_state is not None)
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
        if m.replica_state is not None:
            t1 = bytearray()
            m1 = m.replica_state
            t1 += p_iqx(m1.replica_id, m1.replica_epoch)
            uvarint(out, 1)
            uvarint(out, len(t1))
            out += t1


WRITE_REQUEST = {
    4: write_request_v4,
    5: write_request_v5,
    6: write_request_v5,
    7: write_request_v7,
    8: write_request_v7,
    9: write_request_v9,
    10: write_request_v9,
    11: write_request_v11,
    12: write_request_v12,
    13: write_request_v13,
    14: write_request_v13,
    15: write_request_v15,
    16: write_request_v15,
    17: write_request_v17,
    18: write_request_v18,
}


class EpochEndOffset(WireStruct):
    __slots__ = ('epoch', 'end_offset',)
    epoch: int
    end_offset: int

    def __init__(
        self,
        epoch: int = -1,
        end_offset: int = -1,
    ) -> None:
        self.epoch = epoch
        self.end_offset = end_offset


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


class SnapshotId(WireStruct):
    __slots__ = ('end_offset', 'epoch',)
    end_offset: int
    epoch: int

    def __init__(
        self,
        end_offset: int = -1,
        epoch: int = -1,
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch


class AbortedTransaction(WireStruct):
    __slots__ = ('producer_id', 'first_offset',)
    producer_id: int
    first_offset: int

    def __init__(
        self,
        producer_id: int = 0,
        first_offset: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.first_offset = first_offset


class PartitionData(WireStruct):
    __slots__ = ('partition_index', 'error_code', 'high_watermark', 'last_stable_offset', 'log_start_offset', 'diverging_epoch', 'current_leader', 'snapshot_id', 'aborted_transactions', 'preferred_read_replica', 'records',)
    partition_index: int
    error_code: int
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    diverging_epoch: EpochEndOffset | None
    current_leader: LeaderIdAndEpoch | None
    snapshot_id: SnapshotId | None
    aborted_transactions: list[AbortedTransaction] | None
    preferred_read_replica: int
    records: memoryview | None

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        high_watermark: int = 0,
        last_stable_offset: int = -1,
        log_start_offset: int = -1,
        diverging_epoch: EpochEndOffset | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        snapshot_id: SnapshotId | None = None,
        aborted_transactions: list[AbortedTransaction] | None = EMPTY,
        preferred_read_replica: int = -1,
        records: memoryview | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.high_watermark = high_watermark
        self.last_stable_offset = last_stable_offset
        self.log_start_offset = log_start_offset
        self.diverging_epoch = diverging_epoch
        self.current_leader = current_leader
        self.snapshot_id = snapshot_id
        self.aborted_transactions = [] if aborted_transactions is EMPTY else aborted_transactions
        self.preferred_read_replica = preferred_read_replica
        self.records = records


class FetchableTopicResponse(WireStruct):
    __slots__ = ('topic', 'topic_id', 'partitions',)
    topic: str
    topic_id: bytes
    partitions: list[PartitionData]

    def __init__(
        self,
        topic: str = '',
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionData] = EMPTY,
    ) -> None:
        self.topic = topic
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


class FetchResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'session_id', 'responses', 'node_endpoints',)
    throttle_time_ms: int
    error_code: int
    session_id: int
    responses: list[FetchableTopicResponse]
    node_endpoints: list[NodeEndpoint]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        session_id: int = 0,
        responses: list[FetchableTopicResponse] = EMPTY,
        node_endpoints: list[NodeEndpoint] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.session_id = session_id
        self.responses = [] if responses is EMPTY else responses
        self.node_endpoints = [] if node_endpoints is EMPTY else node_endpoints


def parse_response_v4(buf: Buf, pos: int) -> tuple[FetchResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(FetchResponse)
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
    m.error_code = 0
    m.session_id = 0
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('FetchResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(FetchableTopicResponse)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('FetchResponse.topic')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 30 > size - pos:
                    raise bad_count('FetchResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(PartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, m2.high_watermark, m2.last_stable_offset = u_ihqq(buf, pos)
                    pos += 22
                    m2.log_start_offset = -1
                    m2.diverging_epoch = None
                    m2.current_leader = None
                    m2.snapshot_id = None
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 16 > size - pos:
                            raise bad_count('FetchResponse.aborted_transactions', n)
                        m2.aborted_transactions = a3 = []
                        for _ in range(n):
                            m3 = new(AbortedTransaction)
                            a3.append(m3)
                            m3.producer_id, m3.first_offset = u_qq(buf, pos)
                            pos += 16
                    elif n == -1:
                        m2.aborted_transactions = None
                    else:
                        raise bad_length('FetchResponse.aborted_transactions')
                    m2.preferred_read_replica = -1
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        end = pos + n
                        m2.records = buf[pos:end]
                        pos = end
                    elif n == -1:
                        m2.records = None
                    else:
                        raise bad_length('FetchResponse.records')
            else:
                raise bad_length('FetchResponse.partitions')
    else:
        raise bad_length('FetchResponse.responses')
    m.node_endpoints = []
    return m, pos


def parse_response_v5(buf: Buf, pos: int) -> tuple[FetchResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(FetchResponse)
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
    m.error_code = 0
    m.session_id = 0
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('FetchResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(FetchableTopicResponse)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('FetchResponse.topic')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 38 > size - pos:
                    raise bad_count('FetchResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(PartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, m2.high_watermark, m2.last_stable_offset, m2.log_start_offset = u_ihqqq(buf, pos)
                    pos += 30
                    m2.diverging_epoch = None
                    m2.current_leader = None
                    m2.snapshot_id = None
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 16 > size - pos:
                            raise bad_count('FetchResponse.aborted_transactions', n)
                        m2.aborted_transactions = a3 = []
                        for _ in range(n):
                            m3 = new(AbortedTransaction)
                            a3.append(m3)
                            m3.producer_id, m3.first_offset = u_qq(buf, pos)
                            pos += 16
                    elif n == -1:
                        m2.aborted_transactions = None
                    else:
                        raise bad_length('FetchResponse.aborted_transactions')
                    m2.preferred_read_replica = -1
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        end = pos + n
                        m2.records = buf[pos:end]
                        pos = end
                    elif n == -1:
                        m2.records = None
                    else:
                        raise bad_length('FetchResponse.records')
            else:
                raise bad_length('FetchResponse.partitions')
    else:
        raise bad_length('FetchResponse.responses')
    m.node_endpoints = []
    return m, pos


def parse_response_v7(buf: Buf, pos: int) -> tuple[FetchResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(FetchResponse)
    m.throttle_time_ms, m.error_code, m.session_id, n = u_ihii(buf, pos)
    pos += 14
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('FetchResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(FetchableTopicResponse)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('FetchResponse.topic')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 38 > size - pos:
                    raise bad_count('FetchResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(PartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, m2.high_watermark, m2.last_stable_offset, m2.log_start_offset = u_ihqqq(buf, pos)
                    pos += 30
                    m2.diverging_epoch = None
                    m2.current_leader = None
                    m2.snapshot_id = None
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 16 > size - pos:
                            raise bad_count('FetchResponse.aborted_transactions', n)
                        m2.aborted_transactions = a3 = []
                        for _ in range(n):
                            m3 = new(AbortedTransaction)
                            a3.append(m3)
                            m3.producer_id, m3.first_offset = u_qq(buf, pos)
                            pos += 16
                    elif n == -1:
                        m2.aborted_transactions = None
                    else:
                        raise bad_length('FetchResponse.aborted_transactions')
                    m2.preferred_read_replica = -1
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        end = pos + n
                        m2.records = buf[pos:end]
                        pos = end
                    elif n == -1:
                        m2.records = None
                    else:
                        raise bad_length('FetchResponse.records')
            else:
                raise bad_length('FetchResponse.partitions')
    else:
        raise bad_length('FetchResponse.responses')
    m.node_endpoints = []
    return m, pos


def parse_response_v11(buf: Buf, pos: int) -> tuple[FetchResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(FetchResponse)
    m.throttle_time_ms, m.error_code, m.session_id, n = u_ihii(buf, pos)
    pos += 14
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('FetchResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(FetchableTopicResponse)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('FetchResponse.topic')
            m1.topic_id = ZERO_UUID
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 42 > size - pos:
                    raise bad_count('FetchResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(PartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, m2.high_watermark, m2.last_stable_offset, m2.log_start_offset = u_ihqqq(buf, pos)
                    pos += 30
                    m2.diverging_epoch = None
                    m2.current_leader = None
                    m2.snapshot_id = None
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 16 > size - pos:
                            raise bad_count('FetchResponse.aborted_transactions', n)
                        m2.aborted_transactions = a3 = []
                        for _ in range(n):
                            m3 = new(AbortedTransaction)
                            a3.append(m3)
                            m3.producer_id, m3.first_offset = u_qq(buf, pos)
                            pos += 16
                    elif n == -1:
                        m2.aborted_transactions = None
                    else:
                        raise bad_length('FetchResponse.aborted_transactions')
                    m2.preferred_read_replica, n = u_ii(buf, pos)
                    pos += 8
                    if n >= 0:
                        end = pos + n
                        m2.records = buf[pos:end]
                        pos = end
                    elif n == -1:
                        m2.records = None
                    else:
                        raise bad_length('FetchResponse.records')
            else:
                raise bad_length('FetchResponse.partitions')
    else:
        raise bad_length('FetchResponse.responses')
    m.node_endpoints = []
    return m, pos


def parse_response_v12(buf: Buf, pos: int) -> tuple[FetchResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(FetchResponse)
    m.throttle_time_ms, m.error_code, m.session_id, n = u_ihiB(buf, pos)
    pos += 11
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('FetchResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(FetchableTopicResponse)
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
                raise bad_length('FetchResponse.topic')
            m1.topic_id = ZERO_UUID
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 37 > size - pos:
                    raise bad_count('FetchResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(PartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, m2.high_watermark, m2.last_stable_offset, m2.log_start_offset = u_ihqqq(buf, pos)
                    pos += 30
                    m2.diverging_epoch = None
                    m2.current_leader = None
                    m2.snapshot_id = None
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 17 > size - pos:
                            raise bad_count('FetchResponse.aborted_transactions', n)
                        m2.aborted_transactions = a3 = []
                        for _ in range(n):
                            m3 = new(AbortedTransaction)
                            a3.append(m3)
                            m3.producer_id, m3.first_offset, n = u_qqB(buf, pos)
                            pos += 17
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        m2.aborted_transactions = None
                    m2.preferred_read_replica, n = u_iB(buf, pos)
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
                        if n > 127:
                            n, pos = count_tags(buf, pos, n)
                        for _ in range(n):
                            tag3, pos = read_uvarint(buf, pos)
                            n, pos = read_uvarint(buf, pos)
                            end3 = pos + n
                            if tag3 == 0:
                                m2.diverging_epoch = m3 = new(EpochEndOffset)
                                m3.epoch, m3.end_offset, n = u_iqB(buf, pos)
                                pos += 13
                                if n:
                                    pos = skip_tags(buf, pos, n)
                                if pos != end3:
                                    raise bad_tag('FetchResponse.diverging_epoch')
                            elif tag3 == 1:
                                m2.current_leader = m3 = new(LeaderIdAndEpoch)
                                m3.leader_id, m3.leader_epoch, n = u_iiB(buf, pos)
                                pos += 9
                                if n:
                                    pos = skip_tags(buf, pos, n)
                                if pos != end3:
                                    raise bad_tag('FetchResponse.current_leader')
                            elif tag3 == 2:
                                m2.snapshot_id = m3 = new(SnapshotId)
                                m3.end_offset, m3.epoch, n = u_qiB(buf, pos)
                                pos += 13
                                if n:
                                    pos = skip_tags(buf, pos, n)
                                if pos != end3:
                                    raise bad_tag('FetchResponse.snapshot_id')
                            else:
                                pos = end3
            else:
                raise bad_length('FetchResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('FetchResponse.responses')
    m.node_endpoints = []
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v13(buf: Buf, pos: int) -> tuple[FetchResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(FetchResponse)
    m.throttle_time_ms, m.error_code, m.session_id, n = u_ihiB(buf, pos)
    pos += 11
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('FetchResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(FetchableTopicResponse)
            a1.append(m1)
            m1.topic = ''
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 37 > size - pos:
                    raise bad_count('FetchResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(PartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, m2.high_watermark, m2.last_stable_offset, m2.log_start_offset = u_ihqqq(buf, pos)
                    pos += 30
                    m2.diverging_epoch = None
                    m2.current_leader = None
                    m2.snapshot_id = None
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 17 > size - pos:
                            raise bad_count('FetchResponse.aborted_transactions', n)
                        m2.aborted_transactions = a3 = []
                        for _ in range(n):
                            m3 = new(AbortedTransaction)
                            a3.append(m3)
                            m3.producer_id, m3.first_offset, n = u_qqB(buf, pos)
                            pos += 17
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        m2.aborted_transactions = None
                    m2.preferred_read_replica, n = u_iB(buf, pos)
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
                        if n > 127:
                            n, pos = count_tags(buf, pos, n)
                        for _ in range(n):
                            tag3, pos = read_uvarint(buf, pos)
                            n, pos = read_uvarint(buf, pos)
                            end3 = pos + n
                            if tag3 == 0:
                                m2.diverging_epoch = m3 = new(EpochEndOffset)
                                m3.epoch, m3.end_offset, n = u_iqB(buf, pos)
                                pos += 13
                                if n:
                                    pos = skip_tags(buf, pos, n)
                                if pos != end3:
                                    raise bad_tag('FetchResponse.diverging_epoch')
                            elif tag3 == 1:
                                m2.current_leader = m3 = new(LeaderIdAndEpoch)
                                m3.leader_id, m3.leader_epoch, n = u_iiB(buf, pos)
                                pos += 9
                                if n:
                                    pos = skip_tags(buf, pos, n)
                                if pos != end3:
                                    raise bad_tag('FetchResponse.current_leader')
                            elif tag3 == 2:
                                m2.snapshot_id = m3 = new(SnapshotId)
                                m3.end_offset, m3.epoch, n = u_qiB(buf, pos)
                                pos += 13
                                if n:
                                    pos = skip_tags(buf, pos, n)
                                if pos != end3:
                                    raise bad_tag('FetchResponse.snapshot_id')
                            else:
                                pos = end3
            else:
                raise bad_length('FetchResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('FetchResponse.responses')
    m.node_endpoints = []
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v16(buf: Buf, pos: int) -> tuple[FetchResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(FetchResponse)
    m.throttle_time_ms, m.error_code, m.session_id, n = u_ihiB(buf, pos)
    pos += 11
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('FetchResponse.responses', n)
        m.responses = a1 = []
        for _ in range(n):
            m1 = new(FetchableTopicResponse)
            a1.append(m1)
            m1.topic = ''
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 37 > size - pos:
                    raise bad_count('FetchResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(PartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, m2.high_watermark, m2.last_stable_offset, m2.log_start_offset = u_ihqqq(buf, pos)
                    pos += 30
                    m2.diverging_epoch = None
                    m2.current_leader = None
                    m2.snapshot_id = None
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 17 > size - pos:
                            raise bad_count('FetchResponse.aborted_transactions', n)
                        m2.aborted_transactions = a3 = []
                        for _ in range(n):
                            m3 = new(AbortedTransaction)
                            a3.append(m3)
                            m3.producer_id, m3.first_offset, n = u_qqB(buf, pos)
                            pos += 17
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        m2.aborted_transactions = None
                    m2.preferred_read_replica, n = u_iB(buf, pos)
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
                        if n > 127:
                            n, pos = count_tags(buf, pos, n)
                        for _ in range(n):
                            tag3, pos = read_uvarint(buf, pos)
                            n, pos = read_uvarint(buf, pos)
                            end3 = pos + n
                            if tag3 == 0:
                                m2.diverging_epoch = m3 = new(EpochEndOffset)
                                m3.epoch, m3.end_offset, n = u_iqB(buf, pos)
                                pos += 13
                                if n:
                                    pos = skip_tags(buf, pos, n)
                                if pos != end3:
                                    raise bad_tag('FetchResponse.diverging_epoch')
                            elif tag3 == 1:
                                m2.current_leader = m3 = new(LeaderIdAndEpoch)
                                m3.leader_id, m3.leader_epoch, n = u_iiB(buf, pos)
                                pos += 9
                                if n:
                                    pos = skip_tags(buf, pos, n)
                                if pos != end3:
                                    raise bad_tag('FetchResponse.current_leader')
                            elif tag3 == 2:
                                m2.snapshot_id = m3 = new(SnapshotId)
                                m3.end_offset, m3.epoch, n = u_qiB(buf, pos)
                                pos += 13
                                if n:
                                    pos = skip_tags(buf, pos, n)
                                if pos != end3:
                                    raise bad_tag('FetchResponse.snapshot_id')
                            else:
                                pos = end3
            else:
                raise bad_length('FetchResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('FetchResponse.responses')
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
                        raise bad_count('FetchResponse.node_endpoints', n)
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
                            raise bad_length('FetchResponse.host')
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
                    raise bad_length('FetchResponse.node_endpoints')
                if pos != end1:
                    raise bad_tag('FetchResponse.node_endpoints')
            else:
                pos = end1
    return m, pos


PARSE_RESPONSE = {
    4: parse_response_v4,
    5: parse_response_v5,
    6: parse_response_v5,
    7: parse_response_v7,
    8: parse_response_v7,
    9: parse_response_v7,
    10: parse_response_v7,
    11: parse_response_v11,
    12: parse_response_v12,
    13: parse_response_v13,
    14: parse_response_v13,
    15: parse_response_v13,
    16: parse_response_v16,
    17: parse_response_v16,
    18: parse_response_v16,
}


def write_response_v4(m: FetchResponse, out: bytearray) -> None:
    a1 = m.responses
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
            a3 = m2.aborted_transactions
            if a3 is None:
                a3 = ()
                n = -1
            else:
                n = len(a3)
            out += p_ihqqi(m2.partition_index, m2.error_code, m2.high_watermark, m2.last_stable_offset, n)
            for m3 in a3:
                out += p_qq(m3.producer_id, m3.first_offset)
            b = m2.records
            if b is None:
                b = b""
                n = -1
            else:
                n = len(b)
            out += p_i(n)
            out += b


def write_response_v5(m: FetchResponse, out: bytearray) -> None:
    a1 = m.responses
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
            a3 = m2.aborted_transactions
            if a3 is None:
                a3 = ()
                n = -1
            else:
                n = len(a3)
            out += p_ihqqqi(m2.partition_index, m2.error_code, m2.high_watermark, m2.last_stable_offset, m2.log_start_offset, n)
            for m3 in a3:
                out += p_qq(m3.producer_id, m3.first_offset)
            b = m2.records
            if b is None:
                b = b""
                n = -1
            else:
                n = len(b)
            out += p_i(n)
            out += b


def write_response_v7(m: FetchResponse, out: bytearray) -> None:
    a1 = m.responses
    n = len(a1)
    out += p_ihii(m.throttle_time_ms, m.error_code, m.session_id, n)
    for m1 in a1:
        b = m1.topic.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            a3 = m2.aborted_transactions
            if a3 is None:
                a3 = ()
                n = -1
            else:
                n = len(a3)
            out += p_ihqqqi(m2.partition_index, m2.error_code, m2.high_watermark, m2.last_stable_offset, m2.log_start_offset, n)
            for m3 in a3:
                out += p_qq(m3.producer_id, m3.first_offset)
            b = m2.records
            if b is None:
                b = b""
                n = -1
            else:
                n = len(b)
            out += p_i(n)
            out += b


def write_response_v11(m: FetchResponse, out: bytearray) -> None:
    a1 = m.responses
    n = len(a1)
    out += p_ihii(m.throttle_time_ms, m.error_code, m.session_id, n)
    for m1 in a1:
        b = m1.topic.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            a3 = m2.aborted_transactions
            if a3 is None:
                a3 = ()
                n = -1
            else:
                n = len(a3)
            out += p_ihqqqi(m2.partition_index, m2.error_code, m2.high_watermark, m2.last_stable_offset, m2.log_start_offset, n)
            for m3 in a3:
                out += p_qq(m3.producer_id, m3.first_offset)
            b = m2.records
            if b is None:
                b = b""
                n = -1
            else:
                n = len(b)
            out += p_ii(m2.preferred_read_replica, n)
            out += b


def write_response_v12(m: FetchResponse, out: bytearray) -> None:
    a1 = m.responses
    n = len(a1) + 1
    if n < 128:
        out += p_ihiB(m.throttle_time_ms, m.error_code, m.session_id, n)
    else:
        out += p_ihi(m.throttle_time_ms, m.error_code, m.session_id)
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
            a3 = m2.aborted_transactions
            if a3 is None:
                a3 = ()
                n = 0
            else:
                n = len(a3) + 1
            if n < 128:
                out += p_ihqqqB(m2.partition_index, m2.error_code, m2.high_watermark, m2.last_stable_offset, m2.log_start_offset, n)
            else:
                out += p_ihqqq(m2.partition_index, m2.error_code, m2.high_watermark, m2.last_stable_offset, m2.log_start_offset)
                uvarint(out, n)
            for m3 in a3:
                out += p_qqx(m3.producer_id, m3.first_offset)
            b = m2.records
            if b is None:
                b = b""
                n = 0
            else:
                n = len(b) + 1
            if n < 128:
                out += p_iB(m2.preferred_read_replica, n)
            else:
                out += p_i(m2.preferred_read_replica)
                uvarint(out, n)
            out += b
            n = (m2.diverging_epoch is not None) + (m2.current_leader is not None) + (m2.snapshot_id is not None)
            out += p_B(n)
            if n:
                if m2.diverging_epoch is not None:
                    t3 = bytearray()
                    m3 = m2.diverging_epoch
                    t3 += p_iqx(m3.epoch, m3.end_offset)
                    uvarint(out, 0)
                    uvarint(out, len(t3))
                    out += t3
                if m2.current_leader is not None:
                    t3 = bytearray()
                    m3 = m2.current_leader
                    t3 += p_iix(m3.leader_id, m3.leader_epoch)
                    uvarint(out, 1)
                    uvarint(out, len(t3))
                    out += t3
                if m2.snapshot_id is not None:
                    t3 = bytearray()
                    m3 = m2.snapshot_id
                    t3 += p_qix(m3.end_offset, m3.epoch)
                    uvarint(out, 2)
                    uvarint(out, len(t3))
                    out += t3
        out.append(0)
    out.append(0)


def write_response_v13(m: FetchResponse, out: bytearray) -> None:
    a1 = m.responses
    n = len(a1) + 1
    if n < 128:
        out += p_ihiB(m.throttle_time_ms, m.error_code, m.session_id, n)
    else:
        out += p_ihi(m.throttle_time_ms, m.error_code, m.session_id)
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
            a3 = m2.aborted_transactions
            if a3 is None:
                a3 = ()
                n = 0
            else:
                n = len(a3) + 1
            if n < 128:
                out += p_ihqqqB(m2.partition_index, m2.error_code, m2.high_watermark, m2.last_stable_offset, m2.log_start_offset, n)
            else:
                out += p_ihqqq(m2.partition_index, m2.error_code, m2.high_watermark, m2.last_stable_offset, m2.log_start_offset)
                uvarint(out, n)
            for m3 in a3:
                out += p_qqx(m3.producer_id, m3.first_offset)
            b = m2.records
            if b is None:
                b = b""
                n = 0
            else:
                n = len(b) + 1
            if n < 128:
                out += p_iB(m2.preferred_read_replica, n)
            else:
                out += p_i(m2.preferred_read_replica)
                uvarint(out, n)
            out += b
            n = (m2.diverging_epoch is not None) + (m2.current_leader is not None) + (m2.snapshot_id is not None)
            out += p_B(n)
            if n:
                if m2.diverging_epoch is not None:
                    t3 = bytearray()
                    m3 = m2.diverging_epoch
                    t3 += p_iqx(m3.epoch, m3.end_offset)
                    uvarint(out, 0)
                    uvarint(out, len(t3))
                    out += t3
                if m2.current_leader is not None:
                    t3 = bytearray()
                    m3 = m2.current_leader
                    t3 += p_iix(m3.leader_id, m3.leader_epoch)
                    uvarint(out, 1)
                    uvarint(out, len(t3))
                    out += t3
                if m2.snapshot_id is not None:
                    t3 = bytearray()
                    m3 = m2.snapshot_id
                    t3 += p_qix(m3.end_offset, m3.epoch)
                    uvarint(out, 2)
                    uvarint(out, len(t3))
                    out += t3
        out.append(0)
    out.append(0)


def write_response_v16(m: FetchResponse, out: bytearray) -> None:
    a1 = m.responses
    n = len(a1) + 1
    if n < 128:
        out += p_ihiB(m.throttle_time_ms, m.error_code, m.session_id, n)
    else:
        out += p_ihi(m.throttle_time_ms, m.error_code, m.session_id)
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
            a3 = m2.aborted_transactions
            if a3 is None:
                a3 = ()
                n = 0
            else:
                n = len(a3) + 1
            if n < 128:
                out += p_ihqqqB(m2.partition_index, m2.error_code, m2.high_watermark, m2.last_stable_offset, m2.log_start_offset, n)
            else:
                out += p_ihqqq(m2.partition_index, m2.error_code, m2.high_watermark, m2.last_stable_offset, m2.log_start_offset)
                uvarint(out, n)
            for m3 in a3:
                out += p_qqx(m3.producer_id, m3.first_offset)
            b = m2.records
            if b is None:
                b = b""
                n = 0
            else:
                n = len(b) + 1
            if n < 128:
                out += p_iB(m2.preferred_read_replica, n)
            else:
                out += p_i(m2.preferred_read_replica)
                uvarint(out, n)
            out += b
            n = (m2.diverging_epoch is not None) + (m2.current_leader is not None) + (m2.snapshot_id is not None)
            out += p_B(n)
            if n:
                if m2.diverging_epoch is not None:
                    t3 = bytearray()
                    m3 = m2.diverging_epoch
                    t3 += p_iqx(m3.epoch, m3.end_offset)
                    uvarint(out, 0)
                    uvarint(out, len(t3))
                    out += t3
                if m2.current_leader is not None:
                    t3 = bytearray()
                    m3 = m2.current_leader
                    t3 += p_iix(m3.leader_id, m3.leader_epoch)
                    uvarint(out, 1)
                    uvarint(out, len(t3))
                    out += t3
                if m2.snapshot_id is not None:
                    t3 = bytearray()
                    m3 = m2.snapshot_id
                    t3 += p_qix(m3.end_offset, m3.epoch)
                    uvarint(out, 2)
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
    4: write_response_v4,
    5: write_response_v5,
    6: write_response_v5,
    7: write_response_v7,
    8: write_response_v7,
    9: write_response_v7,
    10: write_response_v7,
    11: write_response_v11,
    12: write_response_v12,
    13: write_response_v13,
    14: write_response_v13,
    15: write_response_v13,
    16: write_response_v16,
    17: write_response_v16,
    18: write_response_v16,
}
