"""Metadata: API key 3, versions 0-13. Written by kproto.wire.generator: do not edit."""

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

p_t = Struct(">?").pack
p_ttt = Struct(">???").pack
p_tttx = Struct(">???x").pack
p_ttx = Struct(">??x").pack
p_tB = Struct(">?B").pack
p_ti = Struct(">?i").pack
p_U = Struct(">16s").pack
p_Ut = Struct(">16s?").pack
p_UtB = Struct(">16s?B").pack
p_UB = Struct(">16sB").pack
p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_hh = Struct(">hh").pack
p_hiii = Struct(">hiii").pack
p_hiiiB = Struct(">hiiiB").pack
p_hiiii = Struct(">hiiii").pack
p_hx = Struct(">hx").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ii = Struct(">ii").pack
p_ix = Struct(">ix").pack
u_ttt = Struct(">???").unpack_from
u_tttB = Struct(">???B").unpack_from
u_tB = Struct(">?B").unpack_from
u_ti = Struct(">?i").unpack_from
u_UtB = Struct(">16s?B").unpack_from
u_UB = Struct(">16sB").unpack_from
u_h = Struct(">h").unpack_from
u_hB = Struct(">hB").unpack_from
u_hh = Struct(">hh").unpack_from
u_hii = Struct(">hii").unpack_from
u_hiiiB = Struct(">hiiiB").unpack_from
u_hiiii = Struct(">hiiii").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ih = Struct(">ih").unpack_from
u_ii = Struct(">ii").unpack_from


class MetadataRequestTopic(WireStruct):
    __slots__ = ('topic_id', 'name',)
    topic_id: bytes
    name: str | None

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        name: str | None = '',
    ) -> None:
        self.topic_id = topic_id
        self.name = name


class MetadataRequest(WireStruct):
    __slots__ = ('topics', 'allow_auto_topic_creation', 'include_cluster_authorized_operations', 'include_topic_authorized_operations',)
    topics: list[MetadataRequestTopic] | None
    allow_auto_topic_creation: bool
    include_cluster_authorized_operations: bool
    include_topic_authorized_operations: bool

    def __init__(
        self,
        topics: list[MetadataRequestTopic] | None = EMPTY,
        allow_auto_topic_creation: bool = True,
        include_cluster_authorized_operations: bool = False,
        include_topic_authorized_operations: bool = False,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.allow_auto_topic_creation = allow_auto_topic_creation
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.include_topic_authorized_operations = include_topic_authorized_operations


def parse_request_v0(buf: Buf, pos: int) -> tuple[MetadataRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(MetadataRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 2 > size - pos:
            raise bad_count('MetadataRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(MetadataRequestTopic)
            a1.append(m1)
            m1.topic_id = ZERO_UUID
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataRequest.name')
    else:
        raise bad_length('MetadataRequest.topics')
    m.allow_auto_topic_creation = True
    m.include_cluster_authorized_operations = False
    m.include_topic_authorized_operations = False
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[MetadataRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(MetadataRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 2 > size - pos:
            raise bad_count('MetadataRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(MetadataRequestTopic)
            a1.append(m1)
            m1.topic_id = ZERO_UUID
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataRequest.name')
    elif n == -1:
        m.topics = None
    else:
        raise bad_length('MetadataRequest.topics')
    m.allow_auto_topic_creation = True
    m.include_cluster_authorized_operations = False
    m.include_topic_authorized_operations = False
    return m, pos


def parse_request_v4(buf: Buf, pos: int) -> tuple[MetadataRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(MetadataRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 2 > size - pos:
            raise bad_count('MetadataRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(MetadataRequestTopic)
            a1.append(m1)
            m1.topic_id = ZERO_UUID
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataRequest.name')
    elif n == -1:
        m.topics = None
    else:
        raise bad_length('MetadataRequest.topics')
    m.allow_auto_topic_creation = buf[pos] != 0
    pos += 1
    m.include_cluster_authorized_operations = False
    m.include_topic_authorized_operations = False
    return m, pos


def parse_request_v8(buf: Buf, pos: int) -> tuple[MetadataRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(MetadataRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 2 > size - pos:
            raise bad_count('MetadataRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(MetadataRequestTopic)
            a1.append(m1)
            m1.topic_id = ZERO_UUID
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataRequest.name')
    elif n == -1:
        m.topics = None
    else:
        raise bad_length('MetadataRequest.topics')
    m.allow_auto_topic_creation, m.include_cluster_authorized_operations, m.include_topic_authorized_operations = u_ttt(buf, pos)
    pos += 3
    return m, pos


def parse_request_v9(buf: Buf, pos: int) -> tuple[MetadataRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(MetadataRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 2 > size - pos:
            raise bad_count('MetadataRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(MetadataRequestTopic)
            a1.append(m1)
            m1.topic_id = ZERO_UUID
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataRequest.name')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.topics = None
    m.allow_auto_topic_creation, m.include_cluster_authorized_operations, m.include_topic_authorized_operations, n = u_tttB(buf, pos)
    pos += 4
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v10(buf: Buf, pos: int) -> tuple[MetadataRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(MetadataRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('MetadataRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(MetadataRequestTopic)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.name = None
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.topics = None
    m.allow_auto_topic_creation, m.include_cluster_authorized_operations, m.include_topic_authorized_operations, n = u_tttB(buf, pos)
    pos += 4
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v11(buf: Buf, pos: int) -> tuple[MetadataRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(MetadataRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('MetadataRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(MetadataRequestTopic)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.name = None
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.topics = None
    m.allow_auto_topic_creation = buf[pos] != 0
    pos += 1
    m.include_cluster_authorized_operations = False
    m.include_topic_authorized_operations, n = u_tB(buf, pos)
    pos += 2
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
    2: parse_request_v1,
    3: parse_request_v1,
    4: parse_request_v4,
    5: parse_request_v4,
    6: parse_request_v4,
    7: parse_request_v4,
    8: parse_request_v8,
    9: parse_request_v9,
    10: parse_request_v10,
    11: parse_request_v11,
    12: parse_request_v11,
    13: parse_request_v11,
}


def write_request_v0(m: MetadataRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b


def write_request_v1(m: MetadataRequest, out: bytearray) -> None:
    a1 = m.topics
    if a1 is None:
        a1 = ()
        n = -1
    else:
        n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b


def write_request_v4(m: MetadataRequest, out: bytearray) -> None:
    a1 = m.topics
    if a1 is None:
        a1 = ()
        n = -1
    else:
        n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
    out += p_t(m.allow_auto_topic_creation)


def write_request_v8(m: MetadataRequest, out: bytearray) -> None:
    a1 = m.topics
    if a1 is None:
        a1 = ()
        n = -1
    else:
        n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
    out += p_ttt(m.allow_auto_topic_creation, m.include_cluster_authorized_operations, m.include_topic_authorized_operations)


def write_request_v9(m: MetadataRequest, out: bytearray) -> None:
    a1 = m.topics
    if a1 is None:
        a1 = ()
        n = 0
    else:
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
        out.append(0)
    out += p_tttx(m.allow_auto_topic_creation, m.include_cluster_authorized_operations, m.include_topic_authorized_operations)


def write_request_v10(m: MetadataRequest, out: bytearray) -> None:
    a1 = m.topics
    if a1 is None:
        a1 = ()
        n = 0
    else:
        n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.name
        if b is None:
            b = b""
            n = 0
        else:
            b = b.encode()
            n = len(b) + 1
        if n < 128:
            out += p_UB(m1.topic_id, n)
        else:
            out += p_U(m1.topic_id)
            uvarint(out, n)
        out += b
        out.append(0)
    out += p_tttx(m.allow_auto_topic_creation, m.include_cluster_authorized_operations, m.include_topic_authorized_operations)


def write_request_v11(m: MetadataRequest, out: bytearray) -> None:
    a1 = m.topics
    if a1 is None:
        a1 = ()
        n = 0
    else:
        n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.name
        if b is None:
            b = b""
            n = 0
        else:
            b = b.encode()
            n = len(b) + 1
        if n < 128:
            out += p_UB(m1.topic_id, n)
        else:
            out += p_U(m1.topic_id)
            uvarint(out, n)
        out += b
        out.append(0)
    out += p_ttx(m.allow_auto_topic_creation, m.include_topic_authorized_operations)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v1,
    2: write_request_v1,
    3: write_request_v1,
    4: write_request_v4,
    5: write_request_v4,
    6: write_request_v4,
    7: write_request_v4,
    8: write_request_v8,
    9: write_request_v9,
    10: write_request_v10,
    11: write_request_v11,
    12: write_request_v11,
    13: write_request_v11,
}


class MetadataResponseBroker(WireStruct):
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


class MetadataResponsePartition(WireStruct):
    __slots__ = ('error_code', 'partition_index', 'leader_id', 'leader_epoch', 'replica_nodes', 'isr_nodes', 'offline_replicas',)
    error_code: int
    partition_index: int
    leader_id: int
    leader_epoch: int
    replica_nodes: list[int]
    isr_nodes: list[int]
    offline_replicas: list[int]

    def __init__(
        self,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: list[int] = EMPTY,
        isr_nodes: list[int] = EMPTY,
        offline_replicas: list[int] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = [] if replica_nodes is EMPTY else replica_nodes
        self.isr_nodes = [] if isr_nodes is EMPTY else isr_nodes
        self.offline_replicas = [] if offline_replicas is EMPTY else offline_replicas


class MetadataResponseTopic(WireStruct):
    __slots__ = ('error_code', 'name', 'topic_id', 'is_internal', 'partitions', 'topic_authorized_operations',)
    error_code: int
    name: str | None
    topic_id: bytes
    is_internal: bool
    partitions: list[MetadataResponsePartition]
    topic_authorized_operations: int

    def __init__(
        self,
        error_code: int = 0,
        name: str | None = '',
        topic_id: bytes = ZERO_UUID,
        is_internal: bool = False,
        partitions: list[MetadataResponsePartition] = EMPTY,
        topic_authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = [] if partitions is EMPTY else partitions
        self.topic_authorized_operations = topic_authorized_operations


class MetadataResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'brokers', 'cluster_id', 'controller_id', 'topics', 'cluster_authorized_operations', 'error_code',)
    throttle_time_ms: int
    brokers: list[MetadataResponseBroker]
    cluster_id: str | None
    controller_id: int
    topics: list[MetadataResponseTopic]
    cluster_authorized_operations: int
    error_code: int

    def __init__(
        self,
        throttle_time_ms: int = 0,
        brokers: list[MetadataResponseBroker] = EMPTY,
        cluster_id: str | None = None,
        controller_id: int = -1,
        topics: list[MetadataResponseTopic] = EMPTY,
        cluster_authorized_operations: int = -2147483648,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.brokers = [] if brokers is EMPTY else brokers
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.topics = [] if topics is EMPTY else topics
        self.cluster_authorized_operations = cluster_authorized_operations
        self.error_code = error_code


def parse_response_v0(buf: Buf, pos: int) -> tuple[MetadataResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(MetadataResponse)
    m.throttle_time_ms = 0
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 10 > size - pos:
            raise bad_count('MetadataResponse.brokers', n)
        m.brokers = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseBroker)
            a1.append(m1)
            m1.node_id, n = u_ih(buf, pos)
            pos += 6
            if n >= 0:
                end = pos + n
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataResponse.host')
            m1.port = u_i(buf, pos)[0]
            pos += 4
            m1.rack = None
    else:
        raise bad_length('MetadataResponse.brokers')
    m.cluster_id = None
    m.controller_id = -1
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 8 > size - pos:
            raise bad_count('MetadataResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseTopic)
            a1.append(m1)
            m1.error_code, n = u_hh(buf, pos)
            pos += 4
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataResponse.name')
            m1.topic_id = ZERO_UUID
            m1.is_internal = False
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('MetadataResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(MetadataResponsePartition)
                    a2.append(m2)
                    m2.error_code, m2.partition_index, m2.leader_id = u_hii(buf, pos)
                    pos += 10
                    m2.leader_epoch = -1
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.replica_nodes', n)
                        m2.replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.replica_nodes')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.isr_nodes', n)
                        m2.isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.isr_nodes')
                    m2.offline_replicas = []
            else:
                raise bad_length('MetadataResponse.partitions')
            m1.topic_authorized_operations = -2147483648
    else:
        raise bad_length('MetadataResponse.topics')
    m.cluster_authorized_operations = -2147483648
    m.error_code = 0
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[MetadataResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(MetadataResponse)
    m.throttle_time_ms = 0
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 12 > size - pos:
            raise bad_count('MetadataResponse.brokers', n)
        m.brokers = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseBroker)
            a1.append(m1)
            m1.node_id, n = u_ih(buf, pos)
            pos += 6
            if n >= 0:
                end = pos + n
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataResponse.host')
            m1.port, n = u_ih(buf, pos)
            pos += 6
            if n >= 0:
                end = pos + n
                m1.rack = str(buf[pos:end], "utf-8")
                pos = end
            elif n == -1:
                m1.rack = None
            else:
                raise bad_length('MetadataResponse.rack')
    else:
        raise bad_length('MetadataResponse.brokers')
    m.cluster_id = None
    m.controller_id, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 9 > size - pos:
            raise bad_count('MetadataResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseTopic)
            a1.append(m1)
            m1.error_code, n = u_hh(buf, pos)
            pos += 4
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataResponse.name')
            m1.topic_id = ZERO_UUID
            m1.is_internal, n = u_ti(buf, pos)
            pos += 5
            if n >= 0:
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('MetadataResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(MetadataResponsePartition)
                    a2.append(m2)
                    m2.error_code, m2.partition_index, m2.leader_id = u_hii(buf, pos)
                    pos += 10
                    m2.leader_epoch = -1
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.replica_nodes', n)
                        m2.replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.replica_nodes')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.isr_nodes', n)
                        m2.isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.isr_nodes')
                    m2.offline_replicas = []
            else:
                raise bad_length('MetadataResponse.partitions')
            m1.topic_authorized_operations = -2147483648
    else:
        raise bad_length('MetadataResponse.topics')
    m.cluster_authorized_operations = -2147483648
    m.error_code = 0
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[MetadataResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(MetadataResponse)
    m.throttle_time_ms = 0
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 12 > size - pos:
            raise bad_count('MetadataResponse.brokers', n)
        m.brokers = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseBroker)
            a1.append(m1)
            m1.node_id, n = u_ih(buf, pos)
            pos += 6
            if n >= 0:
                end = pos + n
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataResponse.host')
            m1.port, n = u_ih(buf, pos)
            pos += 6
            if n >= 0:
                end = pos + n
                m1.rack = str(buf[pos:end], "utf-8")
                pos = end
            elif n == -1:
                m1.rack = None
            else:
                raise bad_length('MetadataResponse.rack')
    else:
        raise bad_length('MetadataResponse.brokers')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.cluster_id = None
    else:
        raise bad_length('MetadataResponse.cluster_id')
    m.controller_id, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 9 > size - pos:
            raise bad_count('MetadataResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseTopic)
            a1.append(m1)
            m1.error_code, n = u_hh(buf, pos)
            pos += 4
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataResponse.name')
            m1.topic_id = ZERO_UUID
            m1.is_internal, n = u_ti(buf, pos)
            pos += 5
            if n >= 0:
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('MetadataResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(MetadataResponsePartition)
                    a2.append(m2)
                    m2.error_code, m2.partition_index, m2.leader_id = u_hii(buf, pos)
                    pos += 10
                    m2.leader_epoch = -1
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.replica_nodes', n)
                        m2.replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.replica_nodes')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.isr_nodes', n)
                        m2.isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.isr_nodes')
                    m2.offline_replicas = []
            else:
                raise bad_length('MetadataResponse.partitions')
            m1.topic_authorized_operations = -2147483648
    else:
        raise bad_length('MetadataResponse.topics')
    m.cluster_authorized_operations = -2147483648
    m.error_code = 0
    return m, pos


def parse_response_v3(buf: Buf, pos: int) -> tuple[MetadataResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(MetadataResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 12 > size - pos:
            raise bad_count('MetadataResponse.brokers', n)
        m.brokers = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseBroker)
            a1.append(m1)
            m1.node_id, n = u_ih(buf, pos)
            pos += 6
            if n >= 0:
                end = pos + n
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataResponse.host')
            m1.port, n = u_ih(buf, pos)
            pos += 6
            if n >= 0:
                end = pos + n
                m1.rack = str(buf[pos:end], "utf-8")
                pos = end
            elif n == -1:
                m1.rack = None
            else:
                raise bad_length('MetadataResponse.rack')
    else:
        raise bad_length('MetadataResponse.brokers')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.cluster_id = None
    else:
        raise bad_length('MetadataResponse.cluster_id')
    m.controller_id, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 9 > size - pos:
            raise bad_count('MetadataResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseTopic)
            a1.append(m1)
            m1.error_code, n = u_hh(buf, pos)
            pos += 4
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataResponse.name')
            m1.topic_id = ZERO_UUID
            m1.is_internal, n = u_ti(buf, pos)
            pos += 5
            if n >= 0:
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('MetadataResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(MetadataResponsePartition)
                    a2.append(m2)
                    m2.error_code, m2.partition_index, m2.leader_id = u_hii(buf, pos)
                    pos += 10
                    m2.leader_epoch = -1
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.replica_nodes', n)
                        m2.replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.replica_nodes')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.isr_nodes', n)
                        m2.isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.isr_nodes')
                    m2.offline_replicas = []
            else:
                raise bad_length('MetadataResponse.partitions')
            m1.topic_authorized_operations = -2147483648
    else:
        raise bad_length('MetadataResponse.topics')
    m.cluster_authorized_operations = -2147483648
    m.error_code = 0
    return m, pos


def parse_response_v5(buf: Buf, pos: int) -> tuple[MetadataResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(MetadataResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 12 > size - pos:
            raise bad_count('MetadataResponse.brokers', n)
        m.brokers = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseBroker)
            a1.append(m1)
            m1.node_id, n = u_ih(buf, pos)
            pos += 6
            if n >= 0:
                end = pos + n
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataResponse.host')
            m1.port, n = u_ih(buf, pos)
            pos += 6
            if n >= 0:
                end = pos + n
                m1.rack = str(buf[pos:end], "utf-8")
                pos = end
            elif n == -1:
                m1.rack = None
            else:
                raise bad_length('MetadataResponse.rack')
    else:
        raise bad_length('MetadataResponse.brokers')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.cluster_id = None
    else:
        raise bad_length('MetadataResponse.cluster_id')
    m.controller_id, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 9 > size - pos:
            raise bad_count('MetadataResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseTopic)
            a1.append(m1)
            m1.error_code, n = u_hh(buf, pos)
            pos += 4
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataResponse.name')
            m1.topic_id = ZERO_UUID
            m1.is_internal, n = u_ti(buf, pos)
            pos += 5
            if n >= 0:
                left -= n
                if left < 0 or n * 22 > size - pos:
                    raise bad_count('MetadataResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(MetadataResponsePartition)
                    a2.append(m2)
                    m2.error_code, m2.partition_index, m2.leader_id = u_hii(buf, pos)
                    pos += 10
                    m2.leader_epoch = -1
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.replica_nodes', n)
                        m2.replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.replica_nodes')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.isr_nodes', n)
                        m2.isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.isr_nodes')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.offline_replicas', n)
                        m2.offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.offline_replicas')
            else:
                raise bad_length('MetadataResponse.partitions')
            m1.topic_authorized_operations = -2147483648
    else:
        raise bad_length('MetadataResponse.topics')
    m.cluster_authorized_operations = -2147483648
    m.error_code = 0
    return m, pos


def parse_response_v7(buf: Buf, pos: int) -> tuple[MetadataResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(MetadataResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 12 > size - pos:
            raise bad_count('MetadataResponse.brokers', n)
        m.brokers = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseBroker)
            a1.append(m1)
            m1.node_id, n = u_ih(buf, pos)
            pos += 6
            if n >= 0:
                end = pos + n
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataResponse.host')
            m1.port, n = u_ih(buf, pos)
            pos += 6
            if n >= 0:
                end = pos + n
                m1.rack = str(buf[pos:end], "utf-8")
                pos = end
            elif n == -1:
                m1.rack = None
            else:
                raise bad_length('MetadataResponse.rack')
    else:
        raise bad_length('MetadataResponse.brokers')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.cluster_id = None
    else:
        raise bad_length('MetadataResponse.cluster_id')
    m.controller_id, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 9 > size - pos:
            raise bad_count('MetadataResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseTopic)
            a1.append(m1)
            m1.error_code, n = u_hh(buf, pos)
            pos += 4
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataResponse.name')
            m1.topic_id = ZERO_UUID
            m1.is_internal, n = u_ti(buf, pos)
            pos += 5
            if n >= 0:
                left -= n
                if left < 0 or n * 26 > size - pos:
                    raise bad_count('MetadataResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(MetadataResponsePartition)
                    a2.append(m2)
                    m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch, n = u_hiiii(buf, pos)
                    pos += 18
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.replica_nodes', n)
                        m2.replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.replica_nodes')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.isr_nodes', n)
                        m2.isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.isr_nodes')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.offline_replicas', n)
                        m2.offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.offline_replicas')
            else:
                raise bad_length('MetadataResponse.partitions')
            m1.topic_authorized_operations = -2147483648
    else:
        raise bad_length('MetadataResponse.topics')
    m.cluster_authorized_operations = -2147483648
    m.error_code = 0
    return m, pos


def parse_response_v8(buf: Buf, pos: int) -> tuple[MetadataResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(MetadataResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 12 > size - pos:
            raise bad_count('MetadataResponse.brokers', n)
        m.brokers = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseBroker)
            a1.append(m1)
            m1.node_id, n = u_ih(buf, pos)
            pos += 6
            if n >= 0:
                end = pos + n
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataResponse.host')
            m1.port, n = u_ih(buf, pos)
            pos += 6
            if n >= 0:
                end = pos + n
                m1.rack = str(buf[pos:end], "utf-8")
                pos = end
            elif n == -1:
                m1.rack = None
            else:
                raise bad_length('MetadataResponse.rack')
    else:
        raise bad_length('MetadataResponse.brokers')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.cluster_id = None
    else:
        raise bad_length('MetadataResponse.cluster_id')
    m.controller_id, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 13 > size - pos:
            raise bad_count('MetadataResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseTopic)
            a1.append(m1)
            m1.error_code, n = u_hh(buf, pos)
            pos += 4
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataResponse.name')
            m1.topic_id = ZERO_UUID
            m1.is_internal, n = u_ti(buf, pos)
            pos += 5
            if n >= 0:
                left -= n
                if left < 0 or n * 26 > size - pos:
                    raise bad_count('MetadataResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(MetadataResponsePartition)
                    a2.append(m2)
                    m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch, n = u_hiiii(buf, pos)
                    pos += 18
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.replica_nodes', n)
                        m2.replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.replica_nodes')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.isr_nodes', n)
                        m2.isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.isr_nodes')
                    n = u_i(buf, pos)[0]
                    pos += 4
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.offline_replicas', n)
                        m2.offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.offline_replicas')
            else:
                raise bad_length('MetadataResponse.partitions')
            m1.topic_authorized_operations = u_i(buf, pos)[0]
            pos += 4
    else:
        raise bad_length('MetadataResponse.topics')
    m.cluster_authorized_operations = u_i(buf, pos)[0]
    pos += 4
    m.error_code = 0
    return m, pos


def parse_response_v9(buf: Buf, pos: int) -> tuple[MetadataResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(MetadataResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 11 > size - pos:
            raise bad_count('MetadataResponse.brokers', n)
        m.brokers = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseBroker)
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
                raise bad_length('MetadataResponse.host')
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
        raise bad_length('MetadataResponse.brokers')
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
    m.controller_id, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 10 > size - pos:
            raise bad_count('MetadataResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseTopic)
            a1.append(m1)
            m1.error_code, n = u_hB(buf, pos)
            pos += 3
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataResponse.name')
            m1.topic_id = ZERO_UUID
            m1.is_internal, n = u_tB(buf, pos)
            pos += 2
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('MetadataResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(MetadataResponsePartition)
                    a2.append(m2)
                    m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch, n = u_hiiiB(buf, pos)
                    pos += 15
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.replica_nodes', n)
                        m2.replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.replica_nodes')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.isr_nodes', n)
                        m2.isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.isr_nodes')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.offline_replicas', n)
                        m2.offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.offline_replicas')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('MetadataResponse.partitions')
            m1.topic_authorized_operations, n = u_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('MetadataResponse.topics')
    m.cluster_authorized_operations = u_i(buf, pos)[0]
    pos += 4
    m.error_code = 0
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v10(buf: Buf, pos: int) -> tuple[MetadataResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(MetadataResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 11 > size - pos:
            raise bad_count('MetadataResponse.brokers', n)
        m.brokers = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseBroker)
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
                raise bad_length('MetadataResponse.host')
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
        raise bad_length('MetadataResponse.brokers')
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
    m.controller_id, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 26 > size - pos:
            raise bad_count('MetadataResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseTopic)
            a1.append(m1)
            m1.error_code, n = u_hB(buf, pos)
            pos += 3
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataResponse.name')
            m1.topic_id, m1.is_internal, n = u_UtB(buf, pos)
            pos += 18
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('MetadataResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(MetadataResponsePartition)
                    a2.append(m2)
                    m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch, n = u_hiiiB(buf, pos)
                    pos += 15
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.replica_nodes', n)
                        m2.replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.replica_nodes')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.isr_nodes', n)
                        m2.isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.isr_nodes')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.offline_replicas', n)
                        m2.offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.offline_replicas')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('MetadataResponse.partitions')
            m1.topic_authorized_operations, n = u_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('MetadataResponse.topics')
    m.cluster_authorized_operations = u_i(buf, pos)[0]
    pos += 4
    m.error_code = 0
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v11(buf: Buf, pos: int) -> tuple[MetadataResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(MetadataResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 11 > size - pos:
            raise bad_count('MetadataResponse.brokers', n)
        m.brokers = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseBroker)
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
                raise bad_length('MetadataResponse.host')
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
        raise bad_length('MetadataResponse.brokers')
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
    m.controller_id, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 26 > size - pos:
            raise bad_count('MetadataResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseTopic)
            a1.append(m1)
            m1.error_code, n = u_hB(buf, pos)
            pos += 3
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('MetadataResponse.name')
            m1.topic_id, m1.is_internal, n = u_UtB(buf, pos)
            pos += 18
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('MetadataResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(MetadataResponsePartition)
                    a2.append(m2)
                    m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch, n = u_hiiiB(buf, pos)
                    pos += 15
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.replica_nodes', n)
                        m2.replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.replica_nodes')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.isr_nodes', n)
                        m2.isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.isr_nodes')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.offline_replicas', n)
                        m2.offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.offline_replicas')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('MetadataResponse.partitions')
            m1.topic_authorized_operations, n = u_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('MetadataResponse.topics')
    m.cluster_authorized_operations = -2147483648
    m.error_code = 0
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v12(buf: Buf, pos: int) -> tuple[MetadataResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(MetadataResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 11 > size - pos:
            raise bad_count('MetadataResponse.brokers', n)
        m.brokers = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseBroker)
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
                raise bad_length('MetadataResponse.host')
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
        raise bad_length('MetadataResponse.brokers')
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
    m.controller_id, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 26 > size - pos:
            raise bad_count('MetadataResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseTopic)
            a1.append(m1)
            m1.error_code, n = u_hB(buf, pos)
            pos += 3
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.name = None
            m1.topic_id, m1.is_internal, n = u_UtB(buf, pos)
            pos += 18
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('MetadataResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(MetadataResponsePartition)
                    a2.append(m2)
                    m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch, n = u_hiiiB(buf, pos)
                    pos += 15
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.replica_nodes', n)
                        m2.replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.replica_nodes')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.isr_nodes', n)
                        m2.isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.isr_nodes')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.offline_replicas', n)
                        m2.offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.offline_replicas')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('MetadataResponse.partitions')
            m1.topic_authorized_operations, n = u_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('MetadataResponse.topics')
    m.cluster_authorized_operations = -2147483648
    m.error_code = 0
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v13(buf: Buf, pos: int) -> tuple[MetadataResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(MetadataResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 11 > size - pos:
            raise bad_count('MetadataResponse.brokers', n)
        m.brokers = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseBroker)
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
                raise bad_length('MetadataResponse.host')
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
        raise bad_length('MetadataResponse.brokers')
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
    m.controller_id, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 26 > size - pos:
            raise bad_count('MetadataResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(MetadataResponseTopic)
            a1.append(m1)
            m1.error_code, n = u_hB(buf, pos)
            pos += 3
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.name = None
            m1.topic_id, m1.is_internal, n = u_UtB(buf, pos)
            pos += 18
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('MetadataResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(MetadataResponsePartition)
                    a2.append(m2)
                    m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch, n = u_hiiiB(buf, pos)
                    pos += 15
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.replica_nodes', n)
                        m2.replica_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.replica_nodes')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.isr_nodes', n)
                        m2.isr_nodes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.isr_nodes')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('MetadataResponse.offline_replicas', n)
                        m2.offline_replicas = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('MetadataResponse.offline_replicas')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('MetadataResponse.partitions')
            m1.topic_authorized_operations, n = u_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('MetadataResponse.topics')
    m.cluster_authorized_operations = -2147483648
    m.error_code, n = u_hB(buf, pos)
    pos += 3
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v1,
    2: parse_response_v2,
    3: parse_response_v3,
    4: parse_response_v3,
    5: parse_response_v5,
    6: parse_response_v5,
    7: parse_response_v7,
    8: parse_response_v8,
    9: parse_response_v9,
    10: parse_response_v10,
    11: parse_response_v11,
    12: parse_response_v12,
    13: parse_response_v13,
}


def write_response_v0(m: MetadataResponse, out: bytearray) -> None:
    a1 = m.brokers
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.host.encode()
        n = len(b)
        out += p_ih(m1.node_id, n)
        out += b
        out += p_i(m1.port)
    a1 = m.topics
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_hh(m1.error_code, n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            a3 = m2.replica_nodes
            n = len(a3)
            out += p_hiii(m2.error_code, m2.partition_index, m2.leader_id, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.isr_nodes
            n = len(a3)
            out += p_i(n)
            out += pack(f">{len(a3)}i", *a3)


def write_response_v1(m: MetadataResponse, out: bytearray) -> None:
    a1 = m.brokers
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.host.encode()
        n = len(b)
        out += p_ih(m1.node_id, n)
        out += b
        b = m1.rack
        if b is None:
            b = b""
            n = -1
        else:
            b = b.encode()
            n = len(b)
        out += p_ih(m1.port, n)
        out += b
    a1 = m.topics
    n = len(a1)
    out += p_ii(m.controller_id, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_hh(m1.error_code, n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_ti(m1.is_internal, n)
        for m2 in a2:
            a3 = m2.replica_nodes
            n = len(a3)
            out += p_hiii(m2.error_code, m2.partition_index, m2.leader_id, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.isr_nodes
            n = len(a3)
            out += p_i(n)
            out += pack(f">{len(a3)}i", *a3)


def write_response_v2(m: MetadataResponse, out: bytearray) -> None:
    a1 = m.brokers
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.host.encode()
        n = len(b)
        out += p_ih(m1.node_id, n)
        out += b
        b = m1.rack
        if b is None:
            b = b""
            n = -1
        else:
            b = b.encode()
            n = len(b)
        out += p_ih(m1.port, n)
        out += b
    b = m.cluster_id
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
    out += p_ii(m.controller_id, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_hh(m1.error_code, n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_ti(m1.is_internal, n)
        for m2 in a2:
            a3 = m2.replica_nodes
            n = len(a3)
            out += p_hiii(m2.error_code, m2.partition_index, m2.leader_id, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.isr_nodes
            n = len(a3)
            out += p_i(n)
            out += pack(f">{len(a3)}i", *a3)


def write_response_v3(m: MetadataResponse, out: bytearray) -> None:
    a1 = m.brokers
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.host.encode()
        n = len(b)
        out += p_ih(m1.node_id, n)
        out += b
        b = m1.rack
        if b is None:
            b = b""
            n = -1
        else:
            b = b.encode()
            n = len(b)
        out += p_ih(m1.port, n)
        out += b
    b = m.cluster_id
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
    out += p_ii(m.controller_id, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_hh(m1.error_code, n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_ti(m1.is_internal, n)
        for m2 in a2:
            a3 = m2.replica_nodes
            n = len(a3)
            out += p_hiii(m2.error_code, m2.partition_index, m2.leader_id, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.isr_nodes
            n = len(a3)
            out += p_i(n)
            out += pack(f">{len(a3)}i", *a3)


def write_response_v5(m: MetadataResponse, out: bytearray) -> None:
    a1 = m.brokers
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.host.encode()
        n = len(b)
        out += p_ih(m1.node_id, n)
        out += b
        b = m1.rack
        if b is None:
            b = b""
            n = -1
        else:
            b = b.encode()
            n = len(b)
        out += p_ih(m1.port, n)
        out += b
    b = m.cluster_id
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
    out += p_ii(m.controller_id, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_hh(m1.error_code, n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_ti(m1.is_internal, n)
        for m2 in a2:
            a3 = m2.replica_nodes
            n = len(a3)
            out += p_hiii(m2.error_code, m2.partition_index, m2.leader_id, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.isr_nodes
            n = len(a3)
            out += p_i(n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.offline_replicas
            n = len(a3)
            out += p_i(n)
            out += pack(f">{len(a3)}i", *a3)


def write_response_v7(m: MetadataResponse, out: bytearray) -> None:
    a1 = m.brokers
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.host.encode()
        n = len(b)
        out += p_ih(m1.node_id, n)
        out += b
        b = m1.rack
        if b is None:
            b = b""
            n = -1
        else:
            b = b.encode()
            n = len(b)
        out += p_ih(m1.port, n)
        out += b
    b = m.cluster_id
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
    out += p_ii(m.controller_id, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_hh(m1.error_code, n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_ti(m1.is_internal, n)
        for m2 in a2:
            a3 = m2.replica_nodes
            n = len(a3)
            out += p_hiiii(m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.isr_nodes
            n = len(a3)
            out += p_i(n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.offline_replicas
            n = len(a3)
            out += p_i(n)
            out += pack(f">{len(a3)}i", *a3)


def write_response_v8(m: MetadataResponse, out: bytearray) -> None:
    a1 = m.brokers
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.host.encode()
        n = len(b)
        out += p_ih(m1.node_id, n)
        out += b
        b = m1.rack
        if b is None:
            b = b""
            n = -1
        else:
            b = b.encode()
            n = len(b)
        out += p_ih(m1.port, n)
        out += b
    b = m.cluster_id
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
    out += p_ii(m.controller_id, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_hh(m1.error_code, n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_ti(m1.is_internal, n)
        for m2 in a2:
            a3 = m2.replica_nodes
            n = len(a3)
            out += p_hiiii(m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.isr_nodes
            n = len(a3)
            out += p_i(n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.offline_replicas
            n = len(a3)
            out += p_i(n)
            out += pack(f">{len(a3)}i", *a3)
        out += p_i(m1.topic_authorized_operations)
    out += p_i(m.cluster_authorized_operations)


def write_response_v9(m: MetadataResponse, out: bytearray) -> None:
    a1 = m.brokers
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
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
    b = m.cluster_id
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
        out += p_iB(m.controller_id, n)
    else:
        out += p_i(m.controller_id)
        uvarint(out, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b) + 1
        if n < 128:
            out += p_hB(m1.error_code, n)
        else:
            out += p_h(m1.error_code)
            uvarint(out, n)
        out += b
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out += p_tB(m1.is_internal, n)
        else:
            out += p_t(m1.is_internal)
            uvarint(out, n)
        for m2 in a2:
            a3 = m2.replica_nodes
            n = len(a3) + 1
            if n < 128:
                out += p_hiiiB(m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch, n)
            else:
                out += p_hiii(m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch)
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.isr_nodes
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.offline_replicas
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        out += p_ix(m1.topic_authorized_operations)
    out += p_ix(m.cluster_authorized_operations)


def write_response_v10(m: MetadataResponse, out: bytearray) -> None:
    a1 = m.brokers
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
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
    b = m.cluster_id
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
        out += p_iB(m.controller_id, n)
    else:
        out += p_i(m.controller_id)
        uvarint(out, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b) + 1
        if n < 128:
            out += p_hB(m1.error_code, n)
        else:
            out += p_h(m1.error_code)
            uvarint(out, n)
        out += b
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out += p_UtB(m1.topic_id, m1.is_internal, n)
        else:
            out += p_Ut(m1.topic_id, m1.is_internal)
            uvarint(out, n)
        for m2 in a2:
            a3 = m2.replica_nodes
            n = len(a3) + 1
            if n < 128:
                out += p_hiiiB(m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch, n)
            else:
                out += p_hiii(m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch)
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.isr_nodes
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.offline_replicas
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        out += p_ix(m1.topic_authorized_operations)
    out += p_ix(m.cluster_authorized_operations)


def write_response_v11(m: MetadataResponse, out: bytearray) -> None:
    a1 = m.brokers
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
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
    b = m.cluster_id
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
        out += p_iB(m.controller_id, n)
    else:
        out += p_i(m.controller_id)
        uvarint(out, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b) + 1
        if n < 128:
            out += p_hB(m1.error_code, n)
        else:
            out += p_h(m1.error_code)
            uvarint(out, n)
        out += b
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out += p_UtB(m1.topic_id, m1.is_internal, n)
        else:
            out += p_Ut(m1.topic_id, m1.is_internal)
            uvarint(out, n)
        for m2 in a2:
            a3 = m2.replica_nodes
            n = len(a3) + 1
            if n < 128:
                out += p_hiiiB(m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch, n)
            else:
                out += p_hiii(m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch)
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.isr_nodes
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.offline_replicas
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        out += p_ix(m1.topic_authorized_operations)
    out.append(0)


def write_response_v12(m: MetadataResponse, out: bytearray) -> None:
    a1 = m.brokers
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
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
    b = m.cluster_id
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
        out += p_iB(m.controller_id, n)
    else:
        out += p_i(m.controller_id)
        uvarint(out, n)
    for m1 in a1:
        b = m1.name
        if b is None:
            b = b""
            n = 0
        else:
            b = b.encode()
            n = len(b) + 1
        if n < 128:
            out += p_hB(m1.error_code, n)
        else:
            out += p_h(m1.error_code)
            uvarint(out, n)
        out += b
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out += p_UtB(m1.topic_id, m1.is_internal, n)
        else:
            out += p_Ut(m1.topic_id, m1.is_internal)
            uvarint(out, n)
        for m2 in a2:
            a3 = m2.replica_nodes
            n = len(a3) + 1
            if n < 128:
                out += p_hiiiB(m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch, n)
            else:
                out += p_hiii(m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch)
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.isr_nodes
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.offline_replicas
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        out += p_ix(m1.topic_authorized_operations)
    out.append(0)


def write_response_v13(m: MetadataResponse, out: bytearray) -> None:
    a1 = m.brokers
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
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
    b = m.cluster_id
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
        out += p_iB(m.controller_id, n)
    else:
        out += p_i(m.controller_id)
        uvarint(out, n)
    for m1 in a1:
        b = m1.name
        if b is None:
            b = b""
            n = 0
        else:
            b = b.encode()
            n = len(b) + 1
        if n < 128:
            out += p_hB(m1.error_code, n)
        else:
            out += p_h(m1.error_code)
            uvarint(out, n)
        out += b
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out += p_UtB(m1.topic_id, m1.is_internal, n)
        else:
            out += p_Ut(m1.topic_id, m1.is_internal)
            uvarint(out, n)
        for m2 in a2:
            a3 = m2.replica_nodes
            n = len(a3) + 1
            if n < 128:
                out += p_hiiiB(m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch, n)
            else:
                out += p_hiii(m2.error_code, m2.partition_index, m2.leader_id, m2.leader_epoch)
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.isr_nodes
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            a3 = m2.offline_replicas
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        out += p_ix(m1.topic_authorized_operations)
    out += p_hx(m.error_code)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v1,
    2: write_response_v2,
    3: write_response_v3,
    4: write_response_v3,
    5: write_response_v5,
    6: write_response_v5,
    7: write_response_v7,
    8: write_response_v8,
    9: write_response_v9,
    10: write_response_v10,
    11: write_response_v11,
    12: write_response_v12,
    13: write_response_v13,
}
