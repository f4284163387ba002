"""CreateTopics: API key 19, versions 2-7. Written by kproto.wire.generator: do not edit."""

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

p_tbtx = Struct(">?b?x").pack
p_B = Struct(">B").pack
p_Uh = Struct(">16sh").pack
p_UhB = Struct(">16shB").pack
p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_hh = Struct(">hh").pack
p_i = Struct(">i").pack
p_it = Struct(">i?").pack
p_itx = Struct(">i?x").pack
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_ihi = Struct(">ihi").pack
p_ii = Struct(">ii").pack
u_tbtB = Struct(">?b?B").unpack_from
u_UhB = Struct(">16shB").unpack_from
u_h = Struct(">h").unpack_from
u_hB = Struct(">hB").unpack_from
u_hh = Struct(">hh").unpack_from
u_i = Struct(">i").unpack_from
u_it = Struct(">i?").unpack_from
u_itB = Struct(">i?B").unpack_from
u_iB = Struct(">iB").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_ihi = Struct(">ihi").unpack_from
u_ii = Struct(">ii").unpack_from


class CreatableReplicaAssignment(WireStruct):
    __slots__ = ('partition_index', 'broker_ids',)
    partition_index: int
    broker_ids: list[int]

    def __init__(
        self,
        partition_index: int = 0,
        broker_ids: list[int] = EMPTY,
    ) -> None:
        self.partition_index = partition_index
        self.broker_ids = [] if broker_ids is EMPTY else broker_ids


class CreatableTopicConfig(WireStruct):
    __slots__ = ('name', 'value',)
    name: str
    value: str | None

    def __init__(
        self,
        name: str = '',
        value: str | None = '',
    ) -> None:
        self.name = name
        self.value = value


class CreatableTopic(WireStruct):
    __slots__ = ('name', 'num_partitions', 'replication_factor', 'assignments', 'configs',)
    name: str
    num_partitions: int
    replication_factor: int
    assignments: list[CreatableReplicaAssignment]
    configs: list[CreatableTopicConfig]

    def __init__(
        self,
        name: str = '',
        num_partitions: int = 0,
        replication_factor: int = 0,
        assignments: list[CreatableReplicaAssignment] = EMPTY,
        configs: list[CreatableTopicConfig] = EMPTY,
    ) -> None:
        self.name = name
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.assignments = [] if assignments is EMPTY else assignments
        self.configs = [] if configs is EMPTY else configs


class CreateTopicsRequest(WireStruct):
    __slots__ = ('topics', 'timeout_ms', 'validate_only',)
    topics: list[CreatableTopic]
    timeout_ms: int
    validate_only: bool

    def __init__(
        self,
        topics: list[CreatableTopic] = EMPTY,
        timeout_ms: int = 60000,
        validate_only: bool = False,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only


def parse_request_v2(buf: Buf, pos: int) -> tuple[CreateTopicsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(CreateTopicsRequest)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 16 > size - pos:
            raise bad_count('CreateTopicsRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(CreatableTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('CreateTopicsRequest.name')
            m1.num_partitions, m1.replication_factor, n = u_ihi(buf, pos)
            pos += 10
            if n >= 0:
                left -= n
                if left < 0 or n * 8 > size - pos:
                    raise bad_count('CreateTopicsRequest.assignments', n)
                m1.assignments = a2 = []
                for _ in range(n):
                    m2 = new(CreatableReplicaAssignment)
                    a2.append(m2)
                    m2.partition_index, n = u_ii(buf, pos)
                    pos += 8
                    if n >= 0:
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('CreateTopicsRequest.broker_ids', n)
                        m2.broker_ids = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('CreateTopicsRequest.broker_ids')
            else:
                raise bad_length('CreateTopicsRequest.assignments')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('CreateTopicsRequest.configs', n)
                m1.configs = a2 = []
                for _ in range(n):
                    m2 = new(CreatableTopicConfig)
                    a2.append(m2)
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('CreateTopicsRequest.name')
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.value = str(buf[pos:end], "utf-8")
                        pos = end
                    elif n == -1:
                        m2.value = None
                    else:
                        raise bad_length('CreateTopicsRequest.value')
            else:
                raise bad_length('CreateTopicsRequest.configs')
    else:
        raise bad_length('CreateTopicsRequest.topics')
    m.timeout_ms, m.validate_only = u_it(buf, pos)
    pos += 5
    return m, pos


def parse_request_v5(buf: Buf, pos: int) -> tuple[CreateTopicsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(CreateTopicsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 10 > size - pos:
            raise bad_count('CreateTopicsRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(CreatableTopic)
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
                raise bad_length('CreateTopicsRequest.name')
            m1.num_partitions, m1.replication_factor, n = u_ihB(buf, pos)
            pos += 7
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('CreateTopicsRequest.assignments', n)
                m1.assignments = a2 = []
                for _ in range(n):
                    m2 = new(CreatableReplicaAssignment)
                    a2.append(m2)
                    m2.partition_index, n = u_iB(buf, pos)
                    pos += 5
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('CreateTopicsRequest.broker_ids', n)
                        m2.broker_ids = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('CreateTopicsRequest.broker_ids')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('CreateTopicsRequest.assignments')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('CreateTopicsRequest.configs', n)
                m1.configs = a2 = []
                for _ in range(n):
                    m2 = new(CreatableTopicConfig)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('CreateTopicsRequest.name')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.value = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.value = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('CreateTopicsRequest.configs')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('CreateTopicsRequest.topics')
    m.timeout_ms, m.validate_only, n = u_itB(buf, pos)
    pos += 6
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    2: parse_request_v2,
    3: parse_request_v2,
    4: parse_request_v2,
    5: parse_request_v5,
    6: parse_request_v5,
    7: parse_request_v5,
}


def write_request_v2(m: CreateTopicsRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.assignments
        n = len(a2)
        out += p_ihi(m1.num_partitions, m1.replication_factor, n)
        for m2 in a2:
            a3 = m2.broker_ids
            n = len(a3)
            out += p_ii(m2.partition_index, n)
            out += pack(f">{len(a3)}i", *a3)
        a2 = m1.configs
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.name.encode()
            n = len(b)
            out += p_h(n)
            out += b
            b = m2.value
            if b is None:
                b = b""
                n = -1
            else:
                b = b.encode()
                n = len(b)
            out += p_h(n)
            out += b
    out += p_it(m.timeout_ms, m.validate_only)


def write_request_v5(m: CreateTopicsRequest, out: bytearray) -> None:
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
        a2 = m1.assignments
        n = len(a2) + 1
        if n < 128:
            out += p_ihB(m1.num_partitions, m1.replication_factor, n)
        else:
            out += p_ih(m1.num_partitions, m1.replication_factor)
            uvarint(out, n)
        for m2 in a2:
            a3 = m2.broker_ids
            n = len(a3) + 1
            if n < 128:
                out += p_iB(m2.partition_index, n)
            else:
                out += p_i(m2.partition_index)
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        a2 = m1.configs
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.name.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.value
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
    out += p_itx(m.timeout_ms, m.validate_only)


WRITE_REQUEST = {
    2: write_request_v2,
    3: write_request_v2,
    4: write_request_v2,
    5: write_request_v5,
    6: write_request_v5,
    7: write_request_v5,
}


class CreatableTopicConfigs(WireStruct):
    __slots__ = ('name', 'value', 'read_only', 'config_source', 'is_sensitive',)
    name: str
    value: str | None
    read_only: bool
    config_source: int
    is_sensitive: bool

    def __init__(
        self,
        name: str = '',
        value: str | None = '',
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive


class CreatableTopicResult(WireStruct):
    __slots__ = ('name', 'topic_id', 'error_code', 'error_message', 'topic_config_error_code', 'num_partitions', 'replication_factor', 'configs',)
    name: str
    topic_id: bytes
    error_code: int
    error_message: str | None
    topic_config_error_code: int
    num_partitions: int
    replication_factor: int
    configs: list[CreatableTopicConfigs] | None

    def __init__(
        self,
        name: str = '',
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = '',
        topic_config_error_code: int = 0,
        num_partitions: int = -1,
        replication_factor: int = -1,
        configs: list[CreatableTopicConfigs] | None = EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.topic_config_error_code = topic_config_error_code
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.configs = [] if configs is EMPTY else configs


class CreateTopicsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'topics',)
    throttle_time_ms: int
    topics: list[CreatableTopicResult]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[CreatableTopicResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics


def parse_response_v2(buf: Buf, pos: int) -> tuple[CreateTopicsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(CreateTopicsResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('CreateTopicsResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(CreatableTopicResult)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('CreateTopicsResponse.name')
            m1.topic_id = ZERO_UUID
            m1.error_code, n = u_hh(buf, pos)
            pos += 4
            if n >= 0:
                end = pos + n
                m1.error_message = str(buf[pos:end], "utf-8")
                pos = end
            elif n == -1:
                m1.error_message = None
            else:
                raise bad_length('CreateTopicsResponse.error_message')
            m1.topic_config_error_code = 0
            m1.num_partitions = -1
            m1.replication_factor = -1
            m1.configs = []
    else:
        raise bad_length('CreateTopicsResponse.topics')
    return m, pos


def parse_response_v5(buf: Buf, pos: int) -> tuple[CreateTopicsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(CreateTopicsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 12 > size - pos:
            raise bad_count('CreateTopicsResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(CreatableTopicResult)
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
                raise bad_length('CreateTopicsResponse.name')
            m1.topic_id = ZERO_UUID
            m1.error_code, n = u_hB(buf, pos)
            pos += 3
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.error_message = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.error_message = None
            m1.topic_config_error_code = 0
            m1.num_partitions, m1.replication_factor, n = u_ihB(buf, pos)
            pos += 7
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('CreateTopicsResponse.configs', n)
                m1.configs = a2 = []
                for _ in range(n):
                    m2 = new(CreatableTopicConfigs)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('CreateTopicsResponse.name')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.value = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.value = None
                    m2.read_only, m2.config_source, m2.is_sensitive, n = u_tbtB(buf, pos)
                    pos += 4
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                m1.configs = None
            n = buf[pos]
            pos += 1
            if n:
                if n > 127:
                    n, pos = count_tags(buf, pos, n)
                for _ in range(n):
                    tag2, pos = read_uvarint(buf, pos)
                    n, pos = read_uvarint(buf, pos)
                    end2 = pos + n
                    if tag2 == 0:
                        m1.topic_config_error_code = u_h(buf, pos)[0]
                        pos += 2
                        if pos != end2:
                            raise bad_tag('CreateTopicsResponse.topic_config_error_code')
                    else:
                        pos = end2
    else:
        raise bad_length('CreateTopicsResponse.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v7(buf: Buf, pos: int) -> tuple[CreateTopicsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(CreateTopicsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 28 > size - pos:
            raise bad_count('CreateTopicsResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(CreatableTopicResult)
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
                raise bad_length('CreateTopicsResponse.name')
            m1.topic_id, m1.error_code, n = u_UhB(buf, pos)
            pos += 19
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.error_message = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.error_message = None
            m1.topic_config_error_code = 0
            m1.num_partitions, m1.replication_factor, n = u_ihB(buf, pos)
            pos += 7
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('CreateTopicsResponse.configs', n)
                m1.configs = a2 = []
                for _ in range(n):
                    m2 = new(CreatableTopicConfigs)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('CreateTopicsResponse.name')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.value = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.value = None
                    m2.read_only, m2.config_source, m2.is_sensitive, n = u_tbtB(buf, pos)
                    pos += 4
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                m1.configs = None
            n = buf[pos]
            pos += 1
            if n:
                if n > 127:
                    n, pos = count_tags(buf, pos, n)
                for _ in range(n):
                    tag2, pos = read_uvarint(buf, pos)
                    n, pos = read_uvarint(buf, pos)
                    end2 = pos + n
                    if tag2 == 0:
                        m1.topic_config_error_code = u_h(buf, pos)[0]
                        pos += 2
                        if pos != end2:
                            raise bad_tag('CreateTopicsResponse.topic_config_error_code')
                    else:
                        pos = end2
    else:
        raise bad_length('CreateTopicsResponse.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    2: parse_response_v2,
    3: parse_response_v2,
    4: parse_response_v2,
    5: parse_response_v5,
    6: parse_response_v5,
    7: parse_response_v7,
}


def write_response_v2(m: CreateTopicsResponse, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.error_message
        if b is None:
            b = b""
            n = -1
        else:
            b = b.encode()
            n = len(b)
        out += p_hh(m1.error_code, n)
        out += b


def write_response_v5(m: CreateTopicsResponse, out: bytearray) -> None:
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
        b = m1.error_message
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
        a2 = m1.configs
        if a2 is None:
            a2 = ()
            n = 0
        else:
            n = len(a2) + 1
        if n < 128:
            out += p_ihB(m1.num_partitions, m1.replication_factor, n)
        else:
            out += p_ih(m1.num_partitions, m1.replication_factor)
            uvarint(out, n)
        for m2 in a2:
            b = m2.name.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.value
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
            out += p_tbtx(m2.read_only, m2.config_source, m2.is_sensitive)
        n = (m1.topic_config_error_code != 0)
        out += p_B(n)
        if n:
            if m1.topic_config_error_code != 0:
                t2 = bytearray()
                t2 += p_h(m1.topic_config_error_code)
                uvarint(out, 0)
                uvarint(out, len(t2))
                out += t2
    out.append(0)


def write_response_v7(m: CreateTopicsResponse, out: bytearray) -> None:
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
        b = m1.error_message
        if b is None:
            b = b""
            n = 0
        else:
            b = b.encode()
            n = len(b) + 1
        if n < 128:
            out += p_UhB(m1.topic_id, m1.error_code, n)
        else:
            out += p_Uh(m1.topic_id, m1.error_code)
            uvarint(out, n)
        out += b
        a2 = m1.configs
        if a2 is None:
            a2 = ()
            n = 0
        else:
            n = len(a2) + 1
        if n < 128:
            out += p_ihB(m1.num_partitions, m1.replication_factor, n)
        else:
            out += p_ih(m1.num_partitions, m1.replication_factor)
            uvarint(out, n)
        for m2 in a2:
            b = m2.name.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.value
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
            out += p_tbtx(m2.read_only, m2.config_source, m2.is_sensitive)
        n = (m1.topic_config_error_code != 0)
        out += p_B(n)
        if n:
            if m1.topic_config_error_code != 0:
                t2 = bytearray()
                t2 += p_h(m1.topic_config_error_code)
                uvarint(out, 0)
                uvarint(out, len(t2))
                out += t2
    out.append(0)


WRITE_RESPONSE = {
    2: write_response_v2,
    3: write_response_v2,
    4: write_response_v2,
    5: write_response_v5,
    6: write_response_v5,
    7: write_response_v7,
}
