"""StreamsGroupHeartbeat: API key 88, versions 0-0. Written by kproto.wire.generator: do not edit."""

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
p_HxB = Struct(">HxB").pack
p_b = Struct(">b").pack
p_bB = Struct(">bB").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_ii = Struct(">ii").pack
p_iiB = Struct(">iiB").pack
p_iiii = Struct(">iiii").pack
p_iiiiB = Struct(">iiiiB").pack
p_iqx = Struct(">iqx").pack
u_tB = Struct(">?B").unpack_from
u_HB = Struct(">HB").unpack_from
u_b = Struct(">b").unpack_from
u_bB = Struct(">bB").unpack_from
u_iB = Struct(">iB").unpack_from
u_ib = Struct(">ib").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_iiB = Struct(">iiB").unpack_from
u_iiiiB = Struct(">iiiiB").unpack_from
u_iqB = Struct(">iqB").unpack_from


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


class CopartitionGroup(WireStruct):
    __slots__ = ('source_topics', 'source_topic_regex', 'repartition_source_topics',)
    source_topics: list[int]
    source_topic_regex: list[int]
    repartition_source_topics: list[int]

    def __init__(
        self,
        source_topics: list[int] = EMPTY,
        source_topic_regex: list[int] = EMPTY,
        repartition_source_topics: list[int] = EMPTY,
    ) -> None:
        self.source_topics = [] if source_topics is EMPTY else source_topics
        self.source_topic_regex = [] if source_topic_regex is EMPTY else source_topic_regex
        self.repartition_source_topics = [] if repartition_source_topics is EMPTY else repartition_source_topics


class Subtopology(WireStruct):
    __slots__ = ('subtopology_id', 'source_topics', 'source_topic_regex', 'state_changelog_topics', 'repartition_sink_topics', 'repartition_source_topics', 'copartition_groups',)
    subtopology_id: str
    source_topics: list[str]
    source_topic_regex: list[str]
    state_changelog_topics: list[TopicInfo]
    repartition_sink_topics: list[str]
    repartition_source_topics: list[TopicInfo]
    copartition_groups: list[CopartitionGroup]

    def __init__(
        self,
        subtopology_id: str = '',
        source_topics: list[str] = EMPTY,
        source_topic_regex: list[str] = EMPTY,
        state_changelog_topics: list[TopicInfo] = EMPTY,
        repartition_sink_topics: list[str] = EMPTY,
        repartition_source_topics: list[TopicInfo] = EMPTY,
        copartition_groups: list[CopartitionGroup] = EMPTY,
    ) -> None:
        self.subtopology_id = subtopology_id
        self.source_topics = [] if source_topics is EMPTY else source_topics
        self.source_topic_regex = [] if source_topic_regex is EMPTY else source_topic_regex
        self.state_changelog_topics = [] if state_changelog_topics is EMPTY else state_changelog_topics
        self.repartition_sink_topics = [] if repartition_sink_topics is EMPTY else repartition_sink_topics
        self.repartition_source_topics = [] if repartition_source_topics is EMPTY else repartition_source_topics
        self.copartition_groups = [] if copartition_groups is EMPTY else copartition_groups


class Topology(WireStruct):
    __slots__ = ('epoch', 'subtopologies',)
    epoch: int
    subtopologies: list[Subtopology]

    def __init__(
        self,
        epoch: int = 0,
        subtopologies: list[Subtopology] = EMPTY,
    ) -> None:
        self.epoch = epoch
        self.subtopologies = [] if subtopologies is EMPTY else subtopologies


class RequestTaskIds(WireStruct):
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


class RequestEndpoint(WireStruct):
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


class StreamsGroupHeartbeatRequest(WireStruct):
    __slots__ = ('group_id', 'member_id', 'member_epoch', 'endpoint_information_epoch', 'instance_id', 'rack_id', 'rebalance_timeout_ms', 'topology', 'active_tasks', 'standby_tasks', 'warmup_tasks', 'process_id', 'user_endpoint', 'client_tags', 'task_offsets', 'task_end_offsets', 'shutdown_application',)
    group_id: str
    member_id: str
    member_epoch: int
    endpoint_information_epoch: int
    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int
    topology: Topology | None
    active_tasks: list[RequestTaskIds] | None
    standby_tasks: list[RequestTaskIds] | None
    warmup_tasks: list[RequestTaskIds] | None
    process_id: str | None
    user_endpoint: RequestEndpoint | None
    client_tags: list[KeyValue] | None
    task_offsets: list[TaskOffset] | None
    task_end_offsets: list[TaskOffset] | None
    shutdown_application: bool

    def __init__(
        self,
        group_id: str = '',
        member_id: str = '',
        member_epoch: int = 0,
        endpoint_information_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        topology: Topology | None = None,
        active_tasks: list[RequestTaskIds] | None = None,
        standby_tasks: list[RequestTaskIds] | None = None,
        warmup_tasks: list[RequestTaskIds] | None = None,
        process_id: str | None = None,
        user_endpoint: RequestEndpoint | None = None,
        client_tags: list[KeyValue] | None = None,
        task_offsets: list[TaskOffset] | None = None,
        task_end_offsets: list[TaskOffset] | None = None,
        shutdown_application: bool = False,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.endpoint_information_epoch = endpoint_information_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology = topology
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = client_tags
        self.task_offsets = task_offsets
        self.task_end_offsets = task_end_offsets
        self.shutdown_application = shutdown_application


def parse_request_v0(buf: Buf, pos: int) -> tuple[StreamsGroupHeartbeatRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(StreamsGroupHeartbeatRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('StreamsGroupHeartbeatRequest.group_id')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('StreamsGroupHeartbeatRequest.member_id')
    m.member_epoch, m.endpoint_information_epoch, n = u_iiB(buf, pos)
    pos += 9
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.instance_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.instance_id = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.rack_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.rack_id = None
    m.rebalance_timeout_ms, n = u_ib(buf, pos)
    pos += 5
    if n < 0:
        m.topology = None
    else:
        m.topology = m1 = new(Topology)
        m1.epoch, n = u_iB(buf, pos)
        pos += 5
        if n > 127:
            n, pos = more(buf, pos, n)
        if n:
            n -= 1
            left -= n
            if left < 0 or n * 8 > size - pos:
                raise bad_count('StreamsGroupHeartbeatRequest.subtopologies', n)
            m1.subtopologies = a2 = []
            for _ in range(n):
                m2 = new(Subtopology)
                a2.append(m2)
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = more(buf, pos, n)
                if n:
                    end = pos + n - 1
                    m2.subtopology_id = str(buf[pos:end], "utf-8")
                    pos = end
                else:
                    raise bad_length('StreamsGroupHeartbeatRequest.subtopology_id')
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = more(buf, pos, n)
                if n:
                    n -= 1
                    left -= n
                    if left < 0 or n > size - pos:
                        raise bad_count('StreamsGroupHeartbeatRequest.source_topics', n)
                    m2.source_topics = a3 = []
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
                            raise bad_length('StreamsGroupHeartbeatRequest.s')
                        a3.append(s)
                else:
                    raise bad_length('StreamsGroupHeartbeatRequest.source_topics')
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = more(buf, pos, n)
                if n:
                    n -= 1
                    left -= n
                    if left < 0 or n > size - pos:
                        raise bad_count('StreamsGroupHeartbeatRequest.source_topic_regex', n)
                    m2.source_topic_regex = a3 = []
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
                            raise bad_length('StreamsGroupHeartbeatRequest.s')
                        a3.append(s)
                else:
                    raise bad_length('StreamsGroupHeartbeatRequest.source_topic_regex')
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = more(buf, pos, n)
                if n:
                    n -= 1
                    left -= n
                    if left < 0 or n * 9 > size - pos:
                        raise bad_count('StreamsGroupHeartbeatRequest.state_changelog_topics', n)
                    m2.state_changelog_topics = a3 = []
                    for _ in range(n):
                        m3 = new(TopicInfo)
                        a3.append(m3)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = more(buf, pos, n)
                        if n:
                            end = pos + n - 1
                            m3.name = str(buf[pos:end], "utf-8")
                            pos = end
                        else:
                            raise bad_length('StreamsGroupHeartbeatRequest.name')
                        m3.partitions, m3.replication_factor, n = u_ihB(buf, pos)
                        pos += 7
                        if n > 127:
                            n, pos = more(buf, pos, n)
                        if n:
                            n -= 1
                            left -= n
                            if left < 0 or n * 3 > size - pos:
                                raise bad_count('StreamsGroupHeartbeatRequest.topic_configs', n)
                            m3.topic_configs = a4 = []
                            for _ in range(n):
                                m4 = new(KeyValue)
                                a4.append(m4)
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = more(buf, pos, n)
                                if n:
                                    end = pos + n - 1
                                    m4.key = str(buf[pos:end], "utf-8")
                                    pos = end
                                else:
                                    raise bad_length('StreamsGroupHeartbeatRequest.key')
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = more(buf, pos, n)
                                if n:
                                    end = pos + n - 1
                                    m4.value = str(buf[pos:end], "utf-8")
                                    pos = end
                                else:
                                    raise bad_length('StreamsGroupHeartbeatRequest.value')
                                n = buf[pos]
                                pos += 1
                                if n:
                                    pos = skip_tags(buf, pos, n)
                        else:
                            raise bad_length('StreamsGroupHeartbeatRequest.topic_configs')
                        n = buf[pos]
                        pos += 1
                        if n:
                            pos = skip_tags(buf, pos, n)
                else:
                    raise bad_length('StreamsGroupHeartbeatRequest.state_changelog_topics')
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = more(buf, pos, n)
                if n:
                    n -= 1
                    left -= n
                    if left < 0 or n > size - pos:
                        raise bad_count('StreamsGroupHeartbeatRequest.repartition_sink_topics', n)
                    m2.repartition_sink_topics = a3 = []
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
                            raise bad_length('StreamsGroupHeartbeatRequest.s')
                        a3.append(s)
                else:
                    raise bad_length('StreamsGroupHeartbeatRequest.repartition_sink_topics')
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = more(buf, pos, n)
                if n:
                    n -= 1
                    left -= n
                    if left < 0 or n * 9 > size - pos:
                        raise bad_count('StreamsGroupHeartbeatRequest.repartition_source_topics', n)
                    m2.repartition_source_topics = a3 = []
                    for _ in range(n):
                        m3 = new(TopicInfo)
                        a3.append(m3)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = more(buf, pos, n)
                        if n:
                            end = pos + n - 1
                            m3.name = str(buf[pos:end], "utf-8")
                            pos = end
                        else:
                            raise bad_length('StreamsGroupHeartbeatRequest.name')
                        m3.partitions, m3.replication_factor, n = u_ihB(buf, pos)
                        pos += 7
                        if n > 127:
                            n, pos = more(buf, pos, n)
                        if n:
                            n -= 1
                            left -= n
                            if left < 0 or n * 3 > size - pos:
                                raise bad_count('StreamsGroupHeartbeatRequest.topic_configs', n)
                            m3.topic_configs = a4 = []
                            for _ in range(n):
                                m4 = new(KeyValue)
                                a4.append(m4)
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = more(buf, pos, n)
                                if n:
                                    end = pos + n - 1
                                    m4.key = str(buf[pos:end], "utf-8")
                                    pos = end
                                else:
                                    raise bad_length('StreamsGroupHeartbeatRequest.key')
                                n = buf[pos]
                                pos += 1
                                if n > 127:
                                    n, pos = more(buf, pos, n)
                                if n:
                                    end = pos + n - 1
                                    m4.value = str(buf[pos:end], "utf-8")
                                    pos = end
                                else:
                                    raise bad_length('StreamsGroupHeartbeatRequest.value')
                                n = buf[pos]
                                pos += 1
                                if n:
                                    pos = skip_tags(buf, pos, n)
                        else:
                            raise bad_length('StreamsGroupHeartbeatRequest.topic_configs')
                        n = buf[pos]
                        pos += 1
                        if n:
                            pos = skip_tags(buf, pos, n)
                else:
                    raise bad_length('StreamsGroupHeartbeatRequest.repartition_source_topics')
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = more(buf, pos, n)
                if n:
                    n -= 1
                    left -= n
                    if left < 0 or n * 4 > size - pos:
                        raise bad_count('StreamsGroupHeartbeatRequest.copartition_groups', n)
                    m2.copartition_groups = a3 = []
                    for _ in range(n):
                        m3 = new(CopartitionGroup)
                        a3.append(m3)
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = more(buf, pos, n)
                        if n:
                            n -= 1
                            left -= n
                            if left < 0 or n * 2 > size - pos:
                                raise bad_count('StreamsGroupHeartbeatRequest.source_topics', n)
                            m3.source_topics = list(unpack_from(f">{n}h", buf, pos))
                            pos += 2 * n
                        else:
                            raise bad_length('StreamsGroupHeartbeatRequest.source_topics')
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = more(buf, pos, n)
                        if n:
                            n -= 1
                            left -= n
                            if left < 0 or n * 2 > size - pos:
                                raise bad_count('StreamsGroupHeartbeatRequest.source_topic_regex', n)
                            m3.source_topic_regex = list(unpack_from(f">{n}h", buf, pos))
                            pos += 2 * n
                        else:
                            raise bad_length('StreamsGroupHeartbeatRequest.source_topic_regex')
                        n = buf[pos]
                        pos += 1
                        if n > 127:
                            n, pos = more(buf, pos, n)
                        if n:
                            n -= 1
                            left -= n
                            if left < 0 or n * 2 > size - pos:
                                raise bad_count('StreamsGroupHeartbeatRequest.repartition_source_topics', n)
                            m3.repartition_source_topics = list(unpack_from(f">{n}h", buf, pos))
                            pos += 2 * n
                        else:
                            raise bad_length('StreamsGroupHeartbeatRequest.repartition_source_topics')
                        n = buf[pos]
                        pos += 1
                        if n:
                            pos = skip_tags(buf, pos, n)
                else:
                    raise bad_length('StreamsGroupHeartbeatRequest.copartition_groups')
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos, n)
        else:
            raise bad_length('StreamsGroupHeartbeatRequest.subtopologies')
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
        if left < 0 or n * 3 > size - pos:
            raise bad_count('StreamsGroupHeartbeatRequest.active_tasks', n)
        m.active_tasks = a1 = []
        for _ in range(n):
            m1 = new(RequestTaskIds)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.subtopology_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('StreamsGroupHeartbeatRequest.subtopology_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('StreamsGroupHeartbeatRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('StreamsGroupHeartbeatRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.active_tasks = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('StreamsGroupHeartbeatRequest.standby_tasks', n)
        m.standby_tasks = a1 = []
        for _ in range(n):
            m1 = new(RequestTaskIds)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.subtopology_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('StreamsGroupHeartbeatRequest.subtopology_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('StreamsGroupHeartbeatRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('StreamsGroupHeartbeatRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.standby_tasks = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('StreamsGroupHeartbeatRequest.warmup_tasks', n)
        m.warmup_tasks = a1 = []
        for _ in range(n):
            m1 = new(RequestTaskIds)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.subtopology_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('StreamsGroupHeartbeatRequest.subtopology_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('StreamsGroupHeartbeatRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('StreamsGroupHeartbeatRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.warmup_tasks = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.process_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.process_id = None
    n = u_b(buf, pos)[0]
    pos += 1
    if n < 0:
        m.user_endpoint = None
    else:
        m.user_endpoint = m1 = new(RequestEndpoint)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = more(buf, pos, n)
        if n:
            end = pos + n - 1
            m1.host = str(buf[pos:end], "utf-8")
            pos = end
        else:
            raise bad_length('StreamsGroupHeartbeatRequest.host')
        m1.port, n = u_HB(buf, pos)
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
            raise bad_count('StreamsGroupHeartbeatRequest.client_tags', n)
        m.client_tags = a1 = []
        for _ in range(n):
            m1 = new(KeyValue)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.key = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('StreamsGroupHeartbeatRequest.key')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.value = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('StreamsGroupHeartbeatRequest.value')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.client_tags = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 14 > size - pos:
            raise bad_count('StreamsGroupHeartbeatRequest.task_offsets', n)
        m.task_offsets = a1 = []
        for _ in range(n):
            m1 = new(TaskOffset)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.subtopology_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('StreamsGroupHeartbeatRequest.subtopology_id')
            m1.partition, m1.offset, n = u_iqB(buf, pos)
            pos += 13
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.task_offsets = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 14 > size - pos:
            raise bad_count('StreamsGroupHeartbeatRequest.task_end_offsets', n)
        m.task_end_offsets = a1 = []
        for _ in range(n):
            m1 = new(TaskOffset)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.subtopology_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('StreamsGroupHeartbeatRequest.subtopology_id')
            m1.partition, m1.offset, n = u_iqB(buf, pos)
            pos += 13
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.task_end_offsets = None
    m.shutdown_application, n = u_tB(buf, pos)
    pos += 2
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
}


def write_request_v0(m: StreamsGroupHeartbeatRequest, out: bytearray) -> None:
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
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    b = m.instance_id
    if b is None:
        b = b""
        n = 0
    else:
        b = b.encode()
        n = len(b) + 1
    if n < 128:
        out += p_iiB(m.member_epoch, m.endpoint_information_epoch, n)
    else:
        out += p_ii(m.member_epoch, m.endpoint_information_epoch)
        uvarint(out, n)
    out += b
    b = m.rack_id
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
    out += p_i(m.rebalance_timeout_ms)
    m1 = m.topology
    if m1 is None:
        out.append(255)
    else:
        out.append(1)
        a2 = m1.subtopologies
        n = len(a2) + 1
        if n < 128:
            out += p_iB(m1.epoch, n)
        else:
            out += p_i(m1.epoch)
            uvarint(out, n)
        for m2 in a2:
            b = m2.subtopology_id.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            a3 = m2.source_topics
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m3 in a3:
                b = m3.encode()
                n = len(b) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += b
            a3 = m2.source_topic_regex
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m3 in a3:
                b = m3.encode()
                n = len(b) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += b
            a3 = m2.state_changelog_topics
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m3 in a3:
                b = m3.name.encode()
                n = len(b) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += b
                a4 = m3.topic_configs
                n = len(a4) + 1
                if n < 128:
                    out += p_ihB(m3.partitions, m3.replication_factor, n)
                else:
                    out += p_ih(m3.partitions, m3.replication_factor)
                    uvarint(out, n)
                for m4 in a4:
                    b = m4.key.encode()
                    n = len(b) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        uvarint(out, n)
                    out += b
                    b = m4.value.encode()
                    n = len(b) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        uvarint(out, n)
                    out += b
                    out.append(0)
                out.append(0)
            a3 = m2.repartition_sink_topics
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m3 in a3:
                b = m3.encode()
                n = len(b) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += b
            a3 = m2.repartition_source_topics
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m3 in a3:
                b = m3.name.encode()
                n = len(b) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += b
                a4 = m3.topic_configs
                n = len(a4) + 1
                if n < 128:
                    out += p_ihB(m3.partitions, m3.replication_factor, n)
                else:
                    out += p_ih(m3.partitions, m3.replication_factor)
                    uvarint(out, n)
                for m4 in a4:
                    b = m4.key.encode()
                    n = len(b) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        uvarint(out, n)
                    out += b
                    b = m4.value.encode()
                    n = len(b) + 1
                    if n < 128:
                        out.append(n)
                    else:
                        uvarint(out, n)
                    out += b
                    out.append(0)
                out.append(0)
            a3 = m2.copartition_groups
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m3 in a3:
                a4 = m3.source_topics
                n = len(a4) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += pack(f">{len(a4)}h", *a4)
                a4 = m3.source_topic_regex
                n = len(a4) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += pack(f">{len(a4)}h", *a4)
                a4 = m3.repartition_source_topics
                n = len(a4) + 1
                if n < 128:
                    out.append(n)
                else:
                    uvarint(out, n)
                out += pack(f">{len(a4)}h", *a4)
                out.append(0)
            out.append(0)
        out.append(0)
    a1 = m.active_tasks
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
        b = m1.subtopology_id.encode()
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
    a1 = m.standby_tasks
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
        b = m1.subtopology_id.encode()
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
    a1 = m.warmup_tasks
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
        b = m1.subtopology_id.encode()
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
    b = m.process_id
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
    m1 = m.user_endpoint
    if m1 is None:
        out.append(255)
    else:
        out.append(1)
        b = m1.host.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_Hx(m1.port)
    a1 = m.client_tags
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
        b = m1.key.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.value.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out.append(0)
    a1 = m.task_offsets
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
        b = m1.subtopology_id.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_iqx(m1.partition, m1.offset)
    a1 = m.task_end_offsets
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
        b = m1.subtopology_id.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_iqx(m1.partition, m1.offset)
    out += p_tx(m.shutdown_application)


WRITE_REQUEST = {
    0: write_request_v0,
}


class Status(WireStruct):
    __slots__ = ('status_code', 'status_detail',)
    status_code: int
    status_detail: str

    def __init__(
        self,
        status_code: int = 0,
        status_detail: str = '',
    ) -> None:
        self.status_code = status_code
        self.status_detail = status_detail


class ResponseTaskIds(WireStruct):
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


class ResponseEndpoint(WireStruct):
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


class TopicPartition(WireStruct):
    __slots__ = ('topic', 'partitions',)
    topic: str
    partitions: list[int]

    def __init__(
        self,
        topic: str = '',
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is EMPTY else partitions


class EndpointToPartitions(WireStruct):
    __slots__ = ('user_endpoint', 'active_partitions', 'standby_partitions',)
    user_endpoint: ResponseEndpoint
    active_partitions: list[TopicPartition]
    standby_partitions: list[TopicPartition]

    def __init__(
        self,
        user_endpoint: ResponseEndpoint = EMPTY,
        active_partitions: list[TopicPartition] = EMPTY,
        standby_partitions: list[TopicPartition] = EMPTY,
    ) -> None:
        self.user_endpoint = ResponseEndpoint() if user_endpoint is EMPTY else user_endpoint
        self.active_partitions = [] if active_partitions is EMPTY else active_partitions
        self.standby_partitions = [] if standby_partitions is EMPTY else standby_partitions


class StreamsGroupHeartbeatResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'member_id', 'member_epoch', 'heartbeat_interval_ms', 'acceptable_recovery_lag', 'task_offset_interval_ms', 'status', 'active_tasks', 'standby_tasks', 'warmup_tasks', 'endpoint_information_epoch', 'partitions_by_user_endpoint',)
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    member_id: str
    member_epoch: int
    heartbeat_interval_ms: int
    acceptable_recovery_lag: int
    task_offset_interval_ms: int
    status: list[Status] | None
    active_tasks: list[ResponseTaskIds] | None
    standby_tasks: list[ResponseTaskIds] | None
    warmup_tasks: list[ResponseTaskIds] | None
    endpoint_information_epoch: int
    partitions_by_user_endpoint: list[EndpointToPartitions] | None

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str = '',
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        acceptable_recovery_lag: int = 0,
        task_offset_interval_ms: int = 0,
        status: list[Status] | None = EMPTY,
        active_tasks: list[ResponseTaskIds] | None = None,
        standby_tasks: list[ResponseTaskIds] | None = None,
        warmup_tasks: list[ResponseTaskIds] | None = None,
        endpoint_information_epoch: int = 0,
        partitions_by_user_endpoint: list[EndpointToPartitions] | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.acceptable_recovery_lag = acceptable_recovery_lag
        self.task_offset_interval_ms = task_offset_interval_ms
        self.status = [] if status is EMPTY else status
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.endpoint_information_epoch = endpoint_information_epoch
        self.partitions_by_user_endpoint = partitions_by_user_endpoint


def parse_response_v0(buf: Buf, pos: int) -> tuple[StreamsGroupHeartbeatResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(StreamsGroupHeartbeatResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.error_message = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.error_message = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('StreamsGroupHeartbeatResponse.member_id')
    m.member_epoch, m.heartbeat_interval_ms, m.acceptable_recovery_lag, m.task_offset_interval_ms, n = u_iiiiB(buf, pos)
    pos += 17
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('StreamsGroupHeartbeatResponse.status', n)
        m.status = a1 = []
        for _ in range(n):
            m1 = new(Status)
            a1.append(m1)
            m1.status_code, n = u_bB(buf, pos)
            pos += 2
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.status_detail = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('StreamsGroupHeartbeatResponse.status_detail')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.status = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('StreamsGroupHeartbeatResponse.active_tasks', n)
        m.active_tasks = a1 = []
        for _ in range(n):
            m1 = new(ResponseTaskIds)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.subtopology_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('StreamsGroupHeartbeatResponse.subtopology_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('StreamsGroupHeartbeatResponse.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('StreamsGroupHeartbeatResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.active_tasks = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('StreamsGroupHeartbeatResponse.standby_tasks', n)
        m.standby_tasks = a1 = []
        for _ in range(n):
            m1 = new(ResponseTaskIds)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.subtopology_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('StreamsGroupHeartbeatResponse.subtopology_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('StreamsGroupHeartbeatResponse.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('StreamsGroupHeartbeatResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.standby_tasks = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('StreamsGroupHeartbeatResponse.warmup_tasks', n)
        m.warmup_tasks = a1 = []
        for _ in range(n):
            m1 = new(ResponseTaskIds)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.subtopology_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('StreamsGroupHeartbeatResponse.subtopology_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('StreamsGroupHeartbeatResponse.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('StreamsGroupHeartbeatResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.warmup_tasks = None
    m.endpoint_information_epoch, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 7 > size - pos:
            raise bad_count('StreamsGroupHeartbeatResponse.partitions_by_user_endpoint', n)
        m.partitions_by_user_endpoint = a1 = []
        for _ in range(n):
            m1 = new(EndpointToPartitions)
            a1.append(m1)
            m1.user_endpoint = m2 = new(ResponseEndpoint)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m2.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('StreamsGroupHeartbeatResponse.host')
            m2.port, n = u_HB(buf, pos)
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
                    raise bad_count('StreamsGroupHeartbeatResponse.active_partitions', n)
                m1.active_partitions = a2 = []
                for _ in range(n):
                    m2 = new(TopicPartition)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.topic = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('StreamsGroupHeartbeatResponse.topic')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('StreamsGroupHeartbeatResponse.partitions', n)
                        m2.partitions = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('StreamsGroupHeartbeatResponse.partitions')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('StreamsGroupHeartbeatResponse.active_partitions')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('StreamsGroupHeartbeatResponse.standby_partitions', n)
                m1.standby_partitions = a2 = []
                for _ in range(n):
                    m2 = new(TopicPartition)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.topic = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('StreamsGroupHeartbeatResponse.topic')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('StreamsGroupHeartbeatResponse.partitions', n)
                        m2.partitions = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('StreamsGroupHeartbeatResponse.partitions')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('StreamsGroupHeartbeatResponse.standby_partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.partitions_by_user_endpoint = None
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
}


def write_response_v0(m: StreamsGroupHeartbeatResponse, out: bytearray) -> None:
    b = m.error_message
    if b is None:
        b = b""
        n = 0
    else:
        b = b.encode()
        n = len(b) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
        uvarint(out, n)
    out += b
    b = m.member_id.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    a1 = m.status
    if a1 is None:
        a1 = ()
        n = 0
    else:
        n = len(a1) + 1
    if n < 128:
        out += p_iiiiB(m.member_epoch, m.heartbeat_interval_ms, m.acceptable_recovery_lag, m.task_offset_interval_ms, n)
    else:
        out += p_iiii(m.member_epoch, m.heartbeat_interval_ms, m.acceptable_recovery_lag, m.task_offset_interval_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.status_detail.encode()
        n = len(b) + 1
        if n < 128:
            out += p_bB(m1.status_code, n)
        else:
            out += p_b(m1.status_code)
            uvarint(out, n)
        out += b
        out.append(0)
    a1 = m.active_tasks
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
        b = m1.subtopology_id.encode()
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
    a1 = m.standby_tasks
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
        b = m1.subtopology_id.encode()
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
    a1 = m.warmup_tasks
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
        b = m1.subtopology_id.encode()
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
    a1 = m.partitions_by_user_endpoint
    if a1 is None:
        a1 = ()
        n = 0
    else:
        n = len(a1) + 1
    if n < 128:
        out += p_iB(m.endpoint_information_epoch, n)
    else:
        out += p_i(m.endpoint_information_epoch)
        uvarint(out, n)
    for m1 in a1:
        m2 = m1.user_endpoint
        b = m2.host.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        a2 = m1.active_partitions
        n = len(a2) + 1
        if n < 128:
            out += p_HxB(m2.port, n)
        else:
            out += p_Hx(m2.port)
            uvarint(out, n)
        for m2 in a2:
            b = m2.topic.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            a3 = m2.partitions
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        a2 = m1.standby_partitions
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.topic.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            a3 = m2.partitions
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
}
