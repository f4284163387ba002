"""ConsumerGroupDescribe: API key 69, versions 0-1. Written by kproto.wire.generator: do not edit."""

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

p_tx = Struct(">?x").pack
p_U = Struct(">16s").pack
p_UB = Struct(">16sB").pack
p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ii = Struct(">ii").pack
p_iiB = Struct(">iiB").pack
p_ix = Struct(">ix").pack
p_xbx = Struct(">xbx").pack
p_xx = Struct(">xx").pack
u_tB = Struct(">?B").unpack_from
u_UB = Struct(">16sB").unpack_from
u_bB = Struct(">bB").unpack_from
u_hB = Struct(">hB").unpack_from
u_iB = Struct(">iB").unpack_from
u_iiB = Struct(">iiB").unpack_from


class ConsumerGroupDescribeRequest(WireStruct):
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


def parse_request_v0(buf: Buf, pos: int) -> tuple[ConsumerGroupDescribeRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ConsumerGroupDescribeRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('ConsumerGroupDescribeRequest.group_ids', n)
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
                raise bad_length('ConsumerGroupDescribeRequest.s')
            a1.append(s)
    else:
        raise bad_length('ConsumerGroupDescribeRequest.group_ids')
    m.include_authorized_operations, n = u_tB(buf, pos)
    pos += 2
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v0,
}


def write_request_v0(m: ConsumerGroupDescribeRequest, out: bytearray) -> None:
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
    1: write_request_v0,
}


class TopicPartitions(WireStruct):
    __slots__ = ('topic_id', 'topic_name', 'partitions',)
    topic_id: bytes
    topic_name: str
    partitions: list[int]

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = '',
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.partitions = [] if partitions is EMPTY else partitions


class Assignment(WireStruct):
    __slots__ = ('topic_partitions',)
    topic_partitions: list[TopicPartitions]

    def __init__(
        self,
        topic_partitions: list[TopicPartitions] = EMPTY,
    ) -> None:
        self.topic_partitions = [] if topic_partitions is EMPTY else topic_partitions


class Member(WireStruct):
    __slots__ = ('member_id', 'instance_id', 'rack_id', 'member_epoch', 'client_id', 'client_host', 'subscribed_topic_names', 'subscribed_topic_regex', 'assignment', 'target_assignment', 'member_type',)
    member_id: str
    instance_id: str | None
    rack_id: str | None
    member_epoch: int
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str | None
    assignment: Assignment
    target_assignment: Assignment
    member_type: int

    def __init__(
        self,
        member_id: str = '',
        instance_id: str | None = None,
        rack_id: str | None = None,
        member_epoch: int = 0,
        client_id: str = '',
        client_host: str = '',
        subscribed_topic_names: list[str] = EMPTY,
        subscribed_topic_regex: str | None = None,
        assignment: Assignment = EMPTY,
        target_assignment: Assignment = EMPTY,
        member_type: int = -1,
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.member_epoch = member_epoch
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = [] if subscribed_topic_names is EMPTY else subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.assignment = Assignment() if assignment is EMPTY else assignment
        self.target_assignment = Assignment() if target_assignment is EMPTY else target_assignment
        self.member_type = member_type


class DescribedGroup(WireStruct):
    __slots__ = ('error_code', 'error_message', 'group_id', 'group_state', 'group_epoch', 'assignment_epoch', 'assignor_name', 'members', 'authorized_operations',)
    error_code: int
    error_message: str | None
    group_id: str
    group_state: str
    group_epoch: int
    assignment_epoch: int
    assignor_name: str
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
        assignor_name: str = '',
        members: list[Member] = EMPTY,
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.assignor_name = assignor_name
        self.members = [] if members is EMPTY else members
        self.authorized_operations = authorized_operations


class ConsumerGroupDescribeResponse(WireStruct):
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


def parse_response_v0(buf: Buf, pos: int) -> tuple[ConsumerGroupDescribeResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ConsumerGroupDescribeResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 20 > size - pos:
            raise bad_count('ConsumerGroupDescribeResponse.groups', n)
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
                raise bad_length('ConsumerGroupDescribeResponse.group_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_state = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ConsumerGroupDescribeResponse.group_state')
            m1.group_epoch, m1.assignment_epoch, n = u_iiB(buf, pos)
            pos += 9
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.assignor_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ConsumerGroupDescribeResponse.assignor_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 16 > size - pos:
                    raise bad_count('ConsumerGroupDescribeResponse.members', n)
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
                        raise bad_length('ConsumerGroupDescribeResponse.member_id')
                    n = buf[pos]
                    pos += 1
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
                    m2.member_epoch, n = u_iB(buf, pos)
                    pos += 5
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.client_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('ConsumerGroupDescribeResponse.client_id')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.client_host = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('ConsumerGroupDescribeResponse.client_host')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n > size - pos:
                            raise bad_count('ConsumerGroupDescribeResponse.subscribed_topic_names', n)
                        m2.subscribed_topic_names = a3 = []
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
                                raise bad_length('ConsumerGroupDescribeResponse.s')
                            a3.append(s)
                    else:
                        raise bad_length('ConsumerGroupDescribeResponse.subscribed_topic_names')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.subscribed_topic_regex = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.subscribed_topic_regex = None
                    m2.assignment = m3 = new(Assignment)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 19 > size - pos:
                            raise bad_count('ConsumerGroupDescribeResponse.topic_partitions', n)
                        m3.topic_partitions = a4 = []
                        for _ in range(n):
                            m4 = new(TopicPartitions)
                            a4.append(m4)
                            m4.topic_id, n = u_UB(buf, pos)
                            pos += 17
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m4.topic_name = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                raise bad_length('ConsumerGroupDescribeResponse.topic_name')
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                n -= 1
                                left -= n
                                if left < 0 or n * 4 > size - pos:
                                    raise bad_count('ConsumerGroupDescribeResponse.partitions', n)
                                m4.partitions = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                raise bad_length('ConsumerGroupDescribeResponse.partitions')
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('ConsumerGroupDescribeResponse.topic_partitions')
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
                        if left < 0 or n * 19 > size - pos:
                            raise bad_count('ConsumerGroupDescribeResponse.topic_partitions', n)
                        m3.topic_partitions = a4 = []
                        for _ in range(n):
                            m4 = new(TopicPartitions)
                            a4.append(m4)
                            m4.topic_id, n = u_UB(buf, pos)
                            pos += 17
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m4.topic_name = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                raise bad_length('ConsumerGroupDescribeResponse.topic_name')
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                n -= 1
                                left -= n
                                if left < 0 or n * 4 > size - pos:
                                    raise bad_count('ConsumerGroupDescribeResponse.partitions', n)
                                m4.partitions = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                raise bad_length('ConsumerGroupDescribeResponse.partitions')
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('ConsumerGroupDescribeResponse.topic_partitions')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
                    m2.member_type = -1
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('ConsumerGroupDescribeResponse.members')
            m1.authorized_operations, n = u_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ConsumerGroupDescribeResponse.groups')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v1(buf: Buf, pos: int) -> tuple[ConsumerGroupDescribeResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ConsumerGroupDescribeResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 20 > size - pos:
            raise bad_count('ConsumerGroupDescribeResponse.groups', n)
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
                raise bad_length('ConsumerGroupDescribeResponse.group_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_state = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ConsumerGroupDescribeResponse.group_state')
            m1.group_epoch, m1.assignment_epoch, n = u_iiB(buf, pos)
            pos += 9
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.assignor_name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ConsumerGroupDescribeResponse.assignor_name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 17 > size - pos:
                    raise bad_count('ConsumerGroupDescribeResponse.members', n)
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
                        raise bad_length('ConsumerGroupDescribeResponse.member_id')
                    n = buf[pos]
                    pos += 1
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
                    m2.member_epoch, n = u_iB(buf, pos)
                    pos += 5
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.client_id = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('ConsumerGroupDescribeResponse.client_id')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.client_host = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('ConsumerGroupDescribeResponse.client_host')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n > size - pos:
                            raise bad_count('ConsumerGroupDescribeResponse.subscribed_topic_names', n)
                        m2.subscribed_topic_names = a3 = []
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
                                raise bad_length('ConsumerGroupDescribeResponse.s')
                            a3.append(s)
                    else:
                        raise bad_length('ConsumerGroupDescribeResponse.subscribed_topic_names')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.subscribed_topic_regex = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.subscribed_topic_regex = None
                    m2.assignment = m3 = new(Assignment)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 19 > size - pos:
                            raise bad_count('ConsumerGroupDescribeResponse.topic_partitions', n)
                        m3.topic_partitions = a4 = []
                        for _ in range(n):
                            m4 = new(TopicPartitions)
                            a4.append(m4)
                            m4.topic_id, n = u_UB(buf, pos)
                            pos += 17
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m4.topic_name = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                raise bad_length('ConsumerGroupDescribeResponse.topic_name')
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                n -= 1
                                left -= n
                                if left < 0 or n * 4 > size - pos:
                                    raise bad_count('ConsumerGroupDescribeResponse.partitions', n)
                                m4.partitions = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                raise bad_length('ConsumerGroupDescribeResponse.partitions')
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('ConsumerGroupDescribeResponse.topic_partitions')
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
                        if left < 0 or n * 19 > size - pos:
                            raise bad_count('ConsumerGroupDescribeResponse.topic_partitions', n)
                        m3.topic_partitions = a4 = []
                        for _ in range(n):
                            m4 = new(TopicPartitions)
                            a4.append(m4)
                            m4.topic_id, n = u_UB(buf, pos)
                            pos += 17
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m4.topic_name = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                raise bad_length('ConsumerGroupDescribeResponse.topic_name')
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                n -= 1
                                left -= n
                                if left < 0 or n * 4 > size - pos:
                                    raise bad_count('ConsumerGroupDescribeResponse.partitions', n)
                                m4.partitions = list(unpack_from(f">{n}i", buf, pos))
                                pos += 4 * n
                            else:
                                raise bad_length('ConsumerGroupDescribeResponse.partitions')
                            n = buf[pos]
                            pos += 1
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('ConsumerGroupDescribeResponse.topic_partitions')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
                    m2.member_type, n = u_bB(buf, pos)
                    pos += 2
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('ConsumerGroupDescribeResponse.members')
            m1.authorized_operations, n = u_iB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ConsumerGroupDescribeResponse.groups')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v1,
}


def write_response_v0(m: ConsumerGroupDescribeResponse, out: bytearray) -> None:
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
        b = m1.assignor_name.encode()
        n = len(b) + 1
        if n < 128:
            out += p_iiB(m1.group_epoch, m1.assignment_epoch, n)
        else:
            out += p_ii(m1.group_epoch, m1.assignment_epoch)
            uvarint(out, n)
        out += b
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
                out.append(n)
            else:
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
                out += p_iB(m2.member_epoch, n)
            else:
                out += p_i(m2.member_epoch)
                uvarint(out, n)
            out += b
            b = m2.client_host.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            a3 = m2.subscribed_topic_names
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
            b = m2.subscribed_topic_regex
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
            m3 = m2.assignment
            a4 = m3.topic_partitions
            n = len(a4) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m4 in a4:
                b = m4.topic_name.encode()
                n = len(b) + 1
                if n < 128:
                    out += p_UB(m4.topic_id, n)
                else:
                    out += p_U(m4.topic_id)
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
            a4 = m3.topic_partitions
            n = len(a4) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m4 in a4:
                b = m4.topic_name.encode()
                n = len(b) + 1
                if n < 128:
                    out += p_UB(m4.topic_id, n)
                else:
                    out += p_U(m4.topic_id)
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
            out += p_xx()
        out += p_ix(m1.authorized_operations)
    out.append(0)


def write_response_v1(m: ConsumerGroupDescribeResponse, out: bytearray) -> None:
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
        b = m1.assignor_name.encode()
        n = len(b) + 1
        if n < 128:
            out += p_iiB(m1.group_epoch, m1.assignment_epoch, n)
        else:
            out += p_ii(m1.group_epoch, m1.assignment_epoch)
            uvarint(out, n)
        out += b
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
                out.append(n)
            else:
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
                out += p_iB(m2.member_epoch, n)
            else:
                out += p_i(m2.member_epoch)
                uvarint(out, n)
            out += b
            b = m2.client_host.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            a3 = m2.subscribed_topic_names
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
            b = m2.subscribed_topic_regex
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
            m3 = m2.assignment
            a4 = m3.topic_partitions
            n = len(a4) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m4 in a4:
                b = m4.topic_name.encode()
                n = len(b) + 1
                if n < 128:
                    out += p_UB(m4.topic_id, n)
                else:
                    out += p_U(m4.topic_id)
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
            a4 = m3.topic_partitions
            n = len(a4) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m4 in a4:
                b = m4.topic_name.encode()
                n = len(b) + 1
                if n < 128:
                    out += p_UB(m4.topic_id, n)
                else:
                    out += p_U(m4.topic_id)
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
            out += p_xbx(m2.member_type)
        out += p_ix(m1.authorized_operations)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v1,
}
