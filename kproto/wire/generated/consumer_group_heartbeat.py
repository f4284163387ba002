"""ConsumerGroupHeartbeat: API key 68, versions 0-1. Written by kproto.wire.generator: do not edit."""

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

p_U = Struct(">16s").pack
p_UB = Struct(">16sB").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_ii = Struct(">ii").pack
u_UB = Struct(">16sB").unpack_from
u_iB = Struct(">iB").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_iib = Struct(">iib").unpack_from


class RequestTopicPartitions(WireStruct):
    __slots__ = ('topic_id', 'partitions',)
    topic_id: bytes
    partitions: list[int]

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class ConsumerGroupHeartbeatRequest(WireStruct):
    __slots__ = ('group_id', 'member_id', 'member_epoch', 'instance_id', 'rack_id', 'rebalance_timeout_ms', 'subscribed_topic_names', 'subscribed_topic_regex', 'server_assignor', 'topic_partitions',)
    group_id: str
    member_id: str
    member_epoch: int
    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int
    subscribed_topic_names: list[str] | None
    subscribed_topic_regex: str | None
    server_assignor: str | None
    topic_partitions: list[RequestTopicPartitions] | None

    def __init__(
        self,
        group_id: str = '',
        member_id: str = '',
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        subscribed_topic_names: list[str] | None = None,
        subscribed_topic_regex: str | None = None,
        server_assignor: str | None = None,
        topic_partitions: list[RequestTopicPartitions] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.subscribed_topic_names = subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.server_assignor = server_assignor
        self.topic_partitions = topic_partitions


def parse_request_v0(buf: Buf, pos: int) -> tuple[ConsumerGroupHeartbeatRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ConsumerGroupHeartbeatRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('ConsumerGroupHeartbeatRequest.group_id')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('ConsumerGroupHeartbeatRequest.member_id')
    m.member_epoch, n = u_iB(buf, pos)
    pos += 5
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
    m.rebalance_timeout_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('ConsumerGroupHeartbeatRequest.subscribed_topic_names', n)
        m.subscribed_topic_names = a1 = []
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
                raise bad_length('ConsumerGroupHeartbeatRequest.s')
            a1.append(s)
    else:
        m.subscribed_topic_names = None
    m.subscribed_topic_regex = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.server_assignor = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.server_assignor = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('ConsumerGroupHeartbeatRequest.topic_partitions', n)
        m.topic_partitions = a1 = []
        for _ in range(n):
            m1 = new(RequestTopicPartitions)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('ConsumerGroupHeartbeatRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('ConsumerGroupHeartbeatRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.topic_partitions = None
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[ConsumerGroupHeartbeatRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ConsumerGroupHeartbeatRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('ConsumerGroupHeartbeatRequest.group_id')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('ConsumerGroupHeartbeatRequest.member_id')
    m.member_epoch, n = u_iB(buf, pos)
    pos += 5
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
    m.rebalance_timeout_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('ConsumerGroupHeartbeatRequest.subscribed_topic_names', n)
        m.subscribed_topic_names = a1 = []
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
                raise bad_length('ConsumerGroupHeartbeatRequest.s')
            a1.append(s)
    else:
        m.subscribed_topic_names = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.subscribed_topic_regex = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.subscribed_topic_regex = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.server_assignor = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.server_assignor = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('ConsumerGroupHeartbeatRequest.topic_partitions', n)
        m.topic_partitions = a1 = []
        for _ in range(n):
            m1 = new(RequestTopicPartitions)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('ConsumerGroupHeartbeatRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('ConsumerGroupHeartbeatRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.topic_partitions = None
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
}


def write_request_v0(m: ConsumerGroupHeartbeatRequest, out: bytearray) -> None:
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
        out += p_iB(m.member_epoch, n)
    else:
        out += p_i(m.member_epoch)
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
    a1 = m.subscribed_topic_names
    if a1 is None:
        a1 = ()
        n = 0
    else:
        n = len(a1) + 1
    if n < 128:
        out += p_iB(m.rebalance_timeout_ms, n)
    else:
        out += p_i(m.rebalance_timeout_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
    b = m.server_assignor
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
    a1 = m.topic_partitions
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
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out += p_UB(m1.topic_id, n)
        else:
            out += p_U(m1.topic_id)
            uvarint(out, n)
        out += pack(f">{len(a2)}i", *a2)
        out.append(0)
    out.append(0)


def write_request_v1(m: ConsumerGroupHeartbeatRequest, out: bytearray) -> None:
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
        out += p_iB(m.member_epoch, n)
    else:
        out += p_i(m.member_epoch)
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
    a1 = m.subscribed_topic_names
    if a1 is None:
        a1 = ()
        n = 0
    else:
        n = len(a1) + 1
    if n < 128:
        out += p_iB(m.rebalance_timeout_ms, n)
    else:
        out += p_i(m.rebalance_timeout_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
    b = m.subscribed_topic_regex
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
    b = m.server_assignor
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
    a1 = m.topic_partitions
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
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out += p_UB(m1.topic_id, n)
        else:
            out += p_U(m1.topic_id)
            uvarint(out, n)
        out += pack(f">{len(a2)}i", *a2)
        out.append(0)
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v1,
}


class ResponseTopicPartitions(WireStruct):
    __slots__ = ('topic_id', 'partitions',)
    topic_id: bytes
    partitions: list[int]

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class Assignment(WireStruct):
    __slots__ = ('topic_partitions',)
    topic_partitions: list[ResponseTopicPartitions]

    def __init__(
        self,
        topic_partitions: list[ResponseTopicPartitions] = EMPTY,
    ) -> None:
        self.topic_partitions = [] if topic_partitions is EMPTY else topic_partitions


class ConsumerGroupHeartbeatResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'error_message', 'member_id', 'member_epoch', 'heartbeat_interval_ms', 'assignment',)
    throttle_time_ms: int
    error_code: int
    error_message: str | None
    member_id: str | None
    member_epoch: int
    heartbeat_interval_ms: int
    assignment: Assignment | None

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str | None = None,
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        assignment: Assignment | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.assignment = assignment


def parse_response_v0(buf: Buf, pos: int) -> tuple[ConsumerGroupHeartbeatResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ConsumerGroupHeartbeatResponse)
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
        m.member_id = None
    m.member_epoch, m.heartbeat_interval_ms, n = u_iib(buf, pos)
    pos += 9
    if n < 0:
        m.assignment = None
    else:
        m.assignment = m1 = new(Assignment)
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = more(buf, pos, n)
        if n:
            n -= 1
            left -= n
            if left < 0 or n * 18 > size - pos:
                raise bad_count('ConsumerGroupHeartbeatResponse.topic_partitions', n)
            m1.topic_partitions = a2 = []
            for _ in range(n):
                m2 = new(ResponseTopicPartitions)
                a2.append(m2)
                m2.topic_id, n = u_UB(buf, pos)
                pos += 17
                if n > 127:
                    n, pos = more(buf, pos, n)
                if n:
                    n -= 1
                    left -= n
                    if left < 0 or n * 4 > size - pos:
                        raise bad_count('ConsumerGroupHeartbeatResponse.partitions', n)
                    m2.partitions = list(unpack_from(f">{n}i", buf, pos))
                    pos += 4 * n
                else:
                    raise bad_length('ConsumerGroupHeartbeatResponse.partitions')
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos, n)
        else:
            raise bad_length('ConsumerGroupHeartbeatResponse.topic_partitions')
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tags(buf, pos, n)
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v0,
}


def write_response_v0(m: ConsumerGroupHeartbeatResponse, out: bytearray) -> None:
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
    b = m.member_id
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
    out += p_ii(m.member_epoch, m.heartbeat_interval_ms)
    m1 = m.assignment
    if m1 is None:
        out.append(255)
    else:
        out.append(1)
        a2 = m1.topic_partitions
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            a3 = m2.partitions
            n = len(a3) + 1
            if n < 128:
                out += p_UB(m2.topic_id, n)
            else:
                out += p_U(m2.topic_id)
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v0,
}
