"""StreamsGroupDescribe: API key 89, versions 0-0. Written by kproto.wire.generator: do not edit."""

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

p_tx = Struct(">?x").pack
p_Hx = Struct(">Hx").pack
p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_ii = Struct(">ii").pack
p_iqx = Struct(">iqx").pack
p_ix = Struct(">ix").pack
p_xtx = Struct(">x?x").pack
u_tB = Struct(">?B").unpack_from
u_HB = Struct(">HB").unpack_from
u_b = Struct(">b").unpack_from
u_hB = Struct(">hB").unpack_from
u_iB = Struct(">iB").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_iib = Struct(">iib").unpack_from
u_iqB = Struct(">iqB").unpack_from


class StreamsGroupDescribeRequest(WireStruct):
    __slots__ = ('group_ids', 'include_authorized_operations',)
    group_ids: list[str]
    include_authorized_operations: bool

    def __init__(
        self,
        group_ids: list[str] = EMPTY,
        include_authorized_operations: bool = False,
    ) -> None:
        self.group_ids = [] if group_ids is EMPTY else group_ids
        self.include_authorized_operations = include_authorized_operations


def parse_request_v0(buf: Buf, pos: int) -> tuple[StreamsGroupDescribeRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(StreamsGroupDescribeRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('StreamsGroupDescribeRequest.group_ids', n)
        m.group_ids = a1 = []
        for _ in range(n):
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                s = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('StreamsGroupDescribeRequest.s')
            a1.append(s)
    else:
        raise bad_length('StreamsGroupDescribeRequest.group_ids')
    m.include_authorized_operations, n = u_tB(buf, pos)
    pos += 2
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
}


def write_request_v0(m: StreamsGroupDescribeRequest, out: bytearray) -> None:
    a1 = m.group_ids
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
    out += p_tx(m.include_authorized_operations)


WRITE_REQUEST = {
    0: write_request_v0,
}


class KeyValue(WireStruct):
    __slots__ = ('key', 'value',)
    key: str
    value: str

    def __init__(
        self,
        key: str = '',
        value: str = '',
    ) -> None:
        self.key = key
        self.value = value


class TopicInfo(WireStruct):
    __slots__ = ('name', 'partitions', 'replication_factor', 'topic_configs',)
    name: str
    partitions: int
    replication_factor: int
    topic_configs: list[KeyValue]

    def __init__(
        self,
        name: str = '',
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: list[KeyValue] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = partitions
        self.replication_factor = replication_factor
        self.topic_configs = [] if topic_configs is EMPTY else topic_configs


class Subtopology(WireStruct):
    __slots__ = ('subtopology_id', 'source_topics', 'repartition_sink_topics', 'state_changelog_topics', 'repartition_source_topics',)
    subtopology_id: str
    source_topics: list[str]
    repartition_sink_topics: list[str]
    state_changelog_topics: list[TopicInfo]
    repartition_source_topics: list[TopicInfo]

    def __init__(
        self,
        subtopology_id: str = '',
        source_topics: list[str] = EMPTY,
        repartition_sink_topics: list[str] = EMPTY,
        state_changelog_topics: list[TopicInfo] = EMPTY,
        repartition_source_topics: list[TopicInfo] = EMPTY,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics = [] if source_topics is EMPTY else source_topics
        self.repartition_sink_topics = [] if repartition_sink_topics is EMPTY else repartition_sink_topics
        self.state_changelog_topics = [] if state_changelog_topics is EMPTY else state_changelog_topics
        self.repartition_source_topics = [] if repartition_source_topics is EMPTY else repartition_source_topics


class Topology(WireStruct):
    __slots__ = ('epoch', 'subtopologies',)
    epoch: int
    subtopologies: list[Subtopology] | None

    def __init__(
        self,
        epoch: int = 0,
        subtopologies: list[Subtopology] | None = None,
    ) -> None:
        self.epoch = epoch
        self.subtopologies = subtopologies


class Endpoint(WireStruct):
    __slots__ = ('host', 'port',)
    host: str
    port: int

    def __init__(
        self,
        host: str = '',
        port: int = 0,
    ) -> None:
        self.host = host
        self.port = port


class TaskOffset(WireStruct):
    __slots__ = ('subtopology_id', 'partition', 'offset',)
    subtopology_id: str
    partition: int
    offset: int

    def __init__(
        self,
        subtopology_id: str = '',
        partition: int = 0,
        offset: int = 0,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partition = partition
        self.offset = offset


class TaskIds(WireStruct):
    __slots__ = ('subtopology_id', 'partitions',)
    subtopology_id: str
    partitions: list[int]

    def __init__(
        self,
        subtopology_id: str = '',
        partitions: list[int] = EMPTY,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.partitions = [] if partitions is EMPTY else partitions


class Assignment(WireStruct):
    __slots__ = ('active_tasks', 'standby_tasks', 'warmup_tasks',)
    active_tasks: list[TaskIds]
    standby_tasks: list[TaskIds]
    warmup_tasks: list[TaskIds]

    def __init__(
        self,
        active_tasks: list[TaskIds] = EMPTY,
        standby_tasks: list[TaskIds] = EMPTY,
        warmup_tasks: list[TaskIds] = EMPTY,
    ) -> None:
        self.active_tasks = [] if active_tasks is EMPTY else active_tasks
        self.standby_tasks = [] if standby_tasks is EMPTY else standby_tasks
        self.warmup_tasks = [] if warmup_tasks is EMPTY else warmup_tasks


class Member(WireStruct):
    __slots__ = ('member_id', 'member_epoch', 'instance_id', 'rack_id', 'client_id', 'client_host', 'topology_epoch', 'process_id', 'user_endpoint', 'client_tags', 'task_offsets', 'task_end_offsets', 'assignment', 'target_assignment', 'is_classic',)
    member_id: str
    member_epoch: int
    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    topology_epoch: int
    process_id: str
    user_endpoint: Endpoint | None
    client_tags: list[KeyValue]
    task_offsets: list[TaskOffset]
    task_end_offsets: list[TaskOffset]
    assignment: Assignment
    target_assignment: Assignment
    is_classic: bool

    def __init__(
        self,
        member_id: str = '',
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        client_id: str = '',
        client_host: str = '',
        topology_epoch: int = 0,
        process_id: str = '',
        user_endpoint: Endpoint | None = None,
        client_tags: list[KeyValue] = EMPTY,
        task_offsets: list[TaskOffset] = EMPTY,
        task_end_offsets: list[TaskOffset] = EMPTY,
        assignment: Assignment = EMPTY,
        target_assignment: Assignment = EMPTY,
        is_classic: bool = False,
    ) -> None:
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.topology_epoch = topology_epoch
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = [] if client_tags is EMPTY else client_tags
        self.task_offsets = [] if task_offsets is EMPTY else task_offsets
        self.task_end_offsets = [] if task_end_offsets is EMPTY else task_end_offsets
        self.assignment = Assignment() if assignment is EMPTY else assignment
        self.target_assignment = Assignment() if target_assignment is EMPTY else target_assignment
        self.is_classic = is_classic


class DescribedGroup(WireStruct):
    __slots__ = ('error_code', 'error_message', 'group_id', 'group_state', 'group_epoch', 'assignment_epoch', 'topology', 'members', 'authorized_operations',)
    error_code: int
    error_message: str | None
    group_id: str
    group_state: str
    group_epoch: int
    assignment_epoch: int
    topology: Topology | None
    members: list[Member]
    authorized_operations: int

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = '',
        group_state: str = '',
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        topology: Topology | None = None,
        members: list[Member] = EMPTY,
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.topology = topology
        self.members = [] if members is EMPTY else members
        self.authorized_operations = authorized_operations


class StreamsGroupDescribeResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'groups',)
    throttle_time_ms: int
    groups: list[DescribedGroup]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: list[DescribedGroup] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is EMPTY else groups


def parse_response_v0(buf: Buf, pos: int) -> tuple[StreamsGroupDescribeResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(StreamsGroupDescribeResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 20 > size - pos:
            raise bad_count('StreamsGroupDescribeResponse.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(DescribedGroup)
            a1.append(m1)
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
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('StreamsGroupDescribeResponse.group_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_state = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('StreamsGroupDescribeResponse.group_state')
            m1.group_epoch, m1.assignment_epoch, n = u_iib(buf, pos)
            pos += 9
            if n < 0:
                m1.topology = None
            else:
                m1.topology = m2 = new(Topology)
                m2.epoch, n = u_iB(buf, pos)
                pos += 5
                if n > 127:
                    n, pos = more(buf, pos, n)
                if n:
                    n -= 1
                    left -= n
                    if left < 0 or n * 6 > size - pos:
                        raise bad_count('StreamsGroupDescribeResponse.subtopologies', n)
                    m2.subtopologies = a3 = []
                    for _ in range(n):
                        m3 = new(Subtopology)
                        a3.append(m3)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = more(buf, pos, n)
                        if n:
                            end = pos + n - 1
                            m3.subtopology_id = str(buf[pos:end], "utf-8")
                            pos = end
                        else:
                            raise bad_length('StreamsGroupDescribeResponse.subtopology_id')
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = more(buf, pos, n)
                        if n:
                            n -= 1
                            left -= n
                            if left < 0 or n > size - pos:
                                raise bad_count('StreamsGroupDescribeResponse.source_topics', n)
                            m3.source_topics = a4 = []
                            for _ in range(n):
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = more(buf, pos, n)
                                if n:
                                    end = pos + n - 1
                                    s = str(buf[pos:end], "utf-8")
                                    pos = end
                                else:
                                    raise bad_length('StreamsGroupDescribeResponse.s')
                                a4.append(s)
                        else:
                            raise bad_length('StreamsGroupDescribeResponse.source_topics')
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = more(buf, pos, n)
                        if n:
                            n -= 1
                            left -= n
                            if left < 0 or n > size - pos:
                                raise bad_count('StreamsGroupDescribeResponse.repartition_sink_topics', n)
                            m3.repartition_sink_topics = a4 = []
                            for _ in range(n):
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = more(buf, pos, n)
                                if n:
                                    end = pos + n - 1
                                    s = str(buf[pos:end], "utf-8")
                                    pos = end
                                else:
                                    raise bad_length('StreamsGroupDescribeResponse.s')
                                a4.append(s)
                        else:
                            raise bad_length('StreamsGroupDescribeResponse.repartition_sink_topics')
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = more(buf, pos, n)
                        if n:
                            n -= 1
                            left -= n
                            if left < 0 or n * 9 > size - pos:
                                raise bad_count('StreamsGroupDescribeResponse.state_changelog_topics', n)
                            m3.state_changelog_topics = a4 = []
                            for _ in range(n):
                                m4 = new(TopicInfo)
                                a4.append(m4)
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = more(buf, pos, n)
                                if n:
                                    end = pos + n - 1
                                    m4.name = str(buf[pos:end], "utf-8")
                                    pos = end
                                else:
                                    raise bad_length('StreamsGroupDescribeResponse.name')
                                m4.partitions, m4.replication_factor, n = u_ihB(buf, pos)
                                pos += 7
                                if n > 127:
                                    n, pos = more(buf, pos, n)
                                if n:
                                    n -= 1
                                    left -= n
                                    if left < 0 or n * 3 > size - pos:
                                        raise bad_count('StreamsGroupDescribeResponse.topic_configs', n)
                                    m4.topic_configs = a5 = []
                                    for _ in range(n):
                                        m5 = new(KeyValue)
                                        a5.append(m5)
                                        n = buf[pos]
                                        pos += 1
                                        if n > 127:
                                            n, pos = more(buf, pos, n)
                                        if n:
                                            end = pos + n - 1
                                            m5.key = str(buf[pos:end], "utf-8")
                                            pos = end
                                        else:
                                            raise bad_length('StreamsGroupDescribeResponse.key')
                                        n = buf[pos]
                                        pos += 1
                                        if n > 127:
                                            n, pos = more(buf, pos, n)
                                        if n:
                                            end = pos + n - 1
                                            m5.value = str(buf[pos:end], "utf-8")
                                            pos = end
                                        else:
                                            raise bad_length('StreamsGroupDescribeResponse.value')
                                        n = buf[pos]
                                        pos += 1
                                        if n:
                                            pos = skip_tags(buf, pos, n)
                                else:
                                    raise bad_length('StreamsGroupDescribeResponse.topic_configs')
                                n = buf[pos]
                                pos += 1
                                if n:
                                    pos = skip_tags(buf, pos, n)
                        else:
                            raise bad_length('StreamsGroupDescribeResponse.state_changelog_topics')
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = more(buf, pos, n)
                        if n:
                            n -= 1
                            left -= n
                            if left < 0 or n * 9 > size - pos:
                                raise bad_count('StreamsGroupDescribeResponse.repartition_source_topics', n)
                            m3.repartition_source_topics = a4 = []
                            for _ in range(n):
                                m4 = new(TopicInfo)
                                a4.append(m4)
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = more(buf, pos, n)
                                if n:
                                    end = pos + n - 1
                                    m4.name = str(buf[pos:end], "utf-8")
                                    pos = end
                                else:
                                    raise bad_length('StreamsGroupDescribeResponse.name')
                                m4.partitions, m4.replication_factor, n = u_ihB(buf, pos)
                                pos += 7
                                if n > 127:
                                    n, pos = more(buf, pos, n)
                                if n:
                                    n -= 1
                                    left -= n
                                    if left < 0 or n * 3 > size - pos:
                                        raise bad_count('StreamsGroupDescribeResponse.topic_configs', n)
                                    m4.topic_configs = a5 = []
                                    for _ in range(n):
                                        m5 = new(KeyValue)
                                        a5.append(m5)
                                        n = buf[pos]
                                        pos += 1
                                        if n > 127:
                                            n, pos = more(buf, pos, n)
                                        if n:
                                            end = pos + n - 1
                                            m5.key = str(buf[pos:end], "utf-8")
                                            pos = end
                                        else:
                                            raise bad_length('StreamsGroupDescribeResponse.key')
                                        n = buf[pos]
                                        pos += 1
                                        if n > 127:
                                            n, pos = more(buf, pos, n)
                                        if n:
                                            end = pos + n - 1
                                            m5.value = str(buf[pos:end], "utf-8")
                                            pos = end
                                        else:
                                            raise bad_length('StreamsGroupDescribeResponse.value')
                                        n = buf[pos]
                                        pos += 1
                                        if n:
                                            pos = skip_tags(buf, pos, n)
                                else:
                                    raise bad_length('StreamsGroupDescribeResponse.topic_configs')
                                n = buf[pos]
                                pos += 1
                                if n:
                                    pos = skip_tags(buf, pos, n)
                        else:
                            raise bad_length('StreamsGroupDescribeResponse.repartition_source_topics')
                        n = buf[pos]
                        pos += 1
                        if n:
                            pos = skip_tags(buf, pos, n)
                else:
                    m2.subtopologies = None
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos, n)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 28 > size - pos:
                    raise bad_count('StreamsGroupDescribeResponse.members', n)
                m1.members = a2 = []
                for _ in range(n):
                    m2 = new(Member)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.member_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('StreamsGroupDescribeResponse.member_id')
                    m2.member_epoch, n = u_iB(buf, pos)
                    pos += 5
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.instance_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.instance_id = None
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.rack_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.rack_id = None
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.client_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('StreamsGroupDescribeResponse.client_id')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.client_host = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('StreamsGroupDescribeResponse.client_host')
                    m2.topology_epoch, n = u_iB(buf, pos)
                    pos += 5
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.process_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('StreamsGroupDescribeResponse.process_id')
                    n = u_b(buf, pos)[0]
                    pos += 1
                    if n < 0:
                        m2.user_endpoint = None
                    else:
                        m2.user_endpoint = m3 = new(Endpoint)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = more(buf, pos, n)
                        if n:
                            end = pos + n - 1
                            m3.host = str(buf[pos:end], "utf-8")
                            pos = end
                        else:
                            raise bad_length('StreamsGroupDescribeResponse.host')
                        m3.port, n = u_HB(buf, pos)
                        pos += 3
                        if n:
                            pos = skip_tags(buf, pos, n)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 3 > size - pos:
                            raise bad_count('StreamsGroupDescribeResponse.client_tags', n)
                        m2.client_tags = a3 = []
                        for _ in range(n):
                            m3 = new(KeyValue)
                            a3.append(m3)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m3.key = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                raise bad_length('StreamsGroupDescribeResponse.key')
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m3.value = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                raise bad_length('StreamsGroupDescribeResponse.value')
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('StreamsGroupDescribeResponse.client_tags')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 14 > size - pos:
                            raise bad_count('StreamsGroupDescribeResponse.task_offsets', n)
                        m2.task_offsets = a3 = []
                        for _ in range(n):
                            m3 = new(TaskOffset)
                            a3.append(m3)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m3.subtopology_id = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                raise bad_length('StreamsGroupDescribeResponse.subtopology_id')
                            m3.partition, m3.offset, n = u_iqB(buf, pos)
                            pos += 13
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('StreamsGroupDescribeResponse.task_offsets')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 14 > size - pos:
                            raise bad_count('StreamsGroupDescribeResponse.task_end_offsets', n)
                        m2.task_end_offsets = a3 = []
                        for _ in range(n):
                            m3 = new(TaskOffset)
                            a3.append(m3)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m3.subtopology_id = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                raise bad_length('StreamsGroupDescribeResponse.subtopology_id')
                            m3.partition, m3.offset, n = u_iqB(buf, pos)
                            pos += 13
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('StreamsGroupDescribeResponse.task_end_offsets')
                    m2.assignment = m3 = new(Assignment)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 3 > size - pos:
                            raise bad_count('StreamsGroupDescribeResponse.active_tasks', n)
                        m3.active_tasks = a4 = []
                        for _ in range(n):
                            m4 = new(TaskIds)
                            a4.append(m4)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m4.subtopology_id = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                raise bad_length('StreamsGroupDescribeResponse.subtopology_id')
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                n -= 1
                                left -= n
                                if left < 0 or n * 4 > size - pos:
                                    raise bad_count('StreamsGroupDescribeResponse.partitions', n)
                                m4.partitions = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                raise bad_length('StreamsGroupDescribeResponse.partitions')
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('StreamsGroupDescribeResponse.active_tasks')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 3 > size - pos:
                            raise bad_count('StreamsGroupDescribeResponse.standby_tasks', n)
                        m3.standby_tasks = a4 = []
                        for _ in range(n):
                            m4 = new(TaskIds)
                            a4.append(m4)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m4.subtopology_id = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                raise bad_length('StreamsGroupDescribeResponse.subtopology_id')
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                n -= 1
                                left -= n
                                if left < 0 or n * 4 > size - pos:
                                    raise bad_count('StreamsGroupDescribeResponse.partitions', n)
                                m4.partitions = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                raise bad_length('StreamsGroupDescribeResponse.partitions')
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('StreamsGroupDescribeResponse.standby_tasks')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 3 > size - pos:
                            raise bad_count('StreamsGroupDescribeResponse.warmup_tasks', n)
                        m3.warmup_tasks = a4 = []
                        for _ in range(n):
                            m4 = new(TaskIds)
                            a4.append(m4)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m4.subtopology_id = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                raise bad_length('StreamsGroupDescribeResponse.subtopology_id')
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                n -= 1
                                left -= n
                                if left < 0 or n * 4 > size - pos:
                                    raise bad_count('StreamsGroupDescribeResponse.partitions', n)
                                m4.partitions = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                raise bad_length('StreamsGroupDescribeResponse.partitions')
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('StreamsGroupDescribeResponse.warmup_tasks')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
                    m2.target_assignment = m3 = new(Assignment)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 3 > size - pos:
                            raise bad_count('StreamsGroupDescribeResponse.active_tasks', n)
                        m3.active_tasks = a4 = []
                        for _ in range(n):
                            m4 = new(TaskIds)
                            a4.append(m4)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m4.subtopology_id = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                raise bad_length('StreamsGroupDescribeResponse.subtopology_id')
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                n -= 1
                                left -= n
                                if left < 0 or n * 4 > size - pos:
                                    raise bad_count('StreamsGroupDescribeResponse.partitions', n)
                                m4.partitions = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                raise bad_length('StreamsGroupDescribeResponse.partitions')
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('StreamsGroupDescribeResponse.active_tasks')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 3 > size - pos:
                            raise bad_count('StreamsGroupDescribeResponse.standby_tasks', n)
                        m3.standby_tasks = a4 = []
                        for _ in range(n):
                            m4 = new(TaskIds)
                            a4.append(m4)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m4.subtopology_id = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                raise bad_length('StreamsGroupDescribeResponse.subtopology_id')
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                n -= 1
                                left -= n
                                if left < 0 or n * 4 > size - pos:
                                    raise bad_count('StreamsGroupDescribeResponse.partitions', n)
                                m4.partitions = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                raise bad_length('StreamsGroupDescribeResponse.partitions')
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('StreamsGroupDescribeResponse.standby_tasks')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 3 > size - pos:
                            raise bad_count('StreamsGroupDescribeResponse.warmup_tasks', n)
                        m3.warmup_tasks = a4 = []
                        for _ in range(n):
                            m4 = new(TaskIds)
                            a4.append(m4)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m4.subtopology_id = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                raise bad_length('StreamsGroupDescribeResponse.subtopology_id')
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                n -= 1
                                left -= n
                                if left < 0 or n * 4 > size - pos:
                                    raise bad_count('StreamsGroupDescribeResponse.partitions', n)
                                m4.partitions = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                raise bad_length('StreamsGroupDescribeResponse.partitions')
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('StreamsGroupDescribeResponse.warmup_tasks')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
                    m2.is_classic, n = u_tB(buf, pos)
                    pos += 2
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('StreamsGroupDescribeResponse.members')
            m1.authorized_operations, n = u_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('StreamsGroupDescribeResponse.groups')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
}


def write_response_v0(m: StreamsGroupDescribeResponse, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
        uvarint(out, n)
    for m1 in a1:
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
        b = m1.group_id.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.group_state.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_ii(m1.group_epoch, m1.assignment_epoch)
        m2 = m1.topology
        if m2 is None:
            out.append(255)
        else:
            out.append(1)
            a3 = m2.subtopologies
            if a3 is None:
                a3 = ()
                n = 0
            else:
                n = len(a3) + 1
            if n < 128:
                out += p_iB(m2.epoch, n)
            else:
                out += p_i(m2.epoch)
                uvarint(out, n)
            for m3 in a3:
                b = m3.subtopology_id.encode()
                n = len(b) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += b
                a4 = m3.source_topics
                n = len(a4) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                for m4 in a4:
                    b = m4.encode()
                    n = len(b) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        uvarint(out, n)
                    out += b
                a4 = m3.repartition_sink_topics
                n = len(a4) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                for m4 in a4:
                    b = m4.encode()
                    n = len(b) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        uvarint(out, n)
                    out += b
                a4 = m3.state_changelog_topics
                n = len(a4) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                for m4 in a4:
                    b = m4.name.encode()
                    n = len(b) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        uvarint(out, n)
                    out += b
                    a5 = m4.topic_configs
                    n = len(a5) + 1
                    if n < 128:
                        out += p_ihB(m4.partitions, m4.replication_factor, n)
                    else:
                        out += p_ih(m4.partitions, m4.replication_factor)
                        uvarint(out, n)
                    for m5 in a5:
                        b = m5.key.encode()
                        n = len(b) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            uvarint(out, n)
                        out += b
                        b = m5.value.encode()
                        n = len(b) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            uvarint(out, n)
                        out += b
                        out.append(0)
                    out.append(0)
                a4 = m3.repartition_source_topics
                n = len(a4) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                for m4 in a4:
                    b = m4.name.encode()
                    n = len(b) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        uvarint(out, n)
                    out += b
                    a5 = m4.topic_configs
                    n = len(a5) + 1
                    if n < 128:
                        out += p_ihB(m4.partitions, m4.replication_factor, n)
                    else:
                        out += p_ih(m4.partitions, m4.replication_factor)
                        uvarint(out, n)
                    for m5 in a5:
                        b = m5.key.encode()
                        n = len(b) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            uvarint(out, n)
                        out += b
                        b = m5.value.encode()
                        n = len(b) + 1
                        if n < 128:
                            out.append(n)
                        else:
                            uvarint(out, n)
                        out += b
                        out.append(0)
                    out.append(0)
                out.append(0)
            out.append(0)
        a2 = m1.members
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.member_id.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.instance_id
            if b is None:
                b = b""
                n = 0
            else:
                b = b.encode()
                n = len(b) + 1
            if n < 128:
                out += p_iB(m2.member_epoch, n)
            else:
                out += p_i(m2.member_epoch)
                uvarint(out, n)
            out += b
            b = m2.rack_id
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
            b = m2.client_id.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.client_host.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            b = m2.process_id.encode()
            n = len(b) + 1
            if n < 128:
                out += p_iB(m2.topology_epoch, n)
            else:
                out += p_i(m2.topology_epoch)
                uvarint(out, n)
            out += b
            m3 = m2.user_endpoint
            if m3 is None:
                out.append(255)
            else:
                out.append(1)
                b = m3.host.encode()
                n = len(b) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += b
                out += p_Hx(m3.port)
            a3 = m2.client_tags
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m3 in a3:
                b = m3.key.encode()
                n = len(b) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += b
                b = m3.value.encode()
                n = len(b) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += b
                out.append(0)
            a3 = m2.task_offsets
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m3 in a3:
                b = m3.subtopology_id.encode()
                n = len(b) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += b
                out += p_iqx(m3.partition, m3.offset)
            a3 = m2.task_end_offsets
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m3 in a3:
                b = m3.subtopology_id.encode()
                n = len(b) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += b
                out += p_iqx(m3.partition, m3.offset)
            m3 = m2.assignment
            a4 = m3.active_tasks
            n = len(a4) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m4 in a4:
                b = m4.subtopology_id.encode()
                n = len(b) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += b
                a5 = m4.partitions
                n = len(a5) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += pack(f">{len(a5)}i", *a5)
                out.append(0)
            a4 = m3.standby_tasks
            n = len(a4) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m4 in a4:
                b = m4.subtopology_id.encode()
                n = len(b) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += b
                a5 = m4.partitions
                n = len(a5) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += pack(f">{len(a5)}i", *a5)
                out.append(0)
            a4 = m3.warmup_tasks
            n = len(a4) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m4 in a4:
                b = m4.subtopology_id.encode()
                n = len(b) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += b
                a5 = m4.partitions
                n = len(a5) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += pack(f">{len(a5)}i", *a5)
                out.append(0)
            out.append(0)
            m3 = m2.target_assignment
            a4 = m3.active_tasks
            n = len(a4) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m4 in a4:
                b = m4.subtopology_id.encode()
                n = len(b) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += b
                a5 = m4.partitions
                n = len(a5) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += pack(f">{len(a5)}i", *a5)
                out.append(0)
            a4 = m3.standby_tasks
            n = len(a4) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m4 in a4:
                b = m4.subtopology_id.encode()
                n = len(b) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += b
                a5 = m4.partitions
                n = len(a5) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += pack(f">{len(a5)}i", *a5)
                out.append(0)
            a4 = m3.warmup_tasks
            n = len(a4) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m4 in a4:
                b = m4.subtopology_id.encode()
                n = len(b) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += b
                a5 = m4.partitions
                n = len(a5) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += pack(f">{len(a5)}i", *a5)
                out.append(0)
            out += p_xtx(m2.is_classic)
        out += p_ix(m1.authorized_operations)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
}
