"""ShareGroupHeartbeat: API key 76, versions 1-1. Written by kproto.wire.generator: do not edit."""

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


class ShareGroupHeartbeatRequest(WireStruct):
    __slots__ = ('group_id', 'member_id', 'member_epoch', 'rack_id', 'subscribed_topic_names',)
    group_id: str
    member_id: str
    member_epoch: int
    rack_id: str | None
    subscribed_topic_names: list[str] | None

    def __init__(
        self,
        group_id: str = '',
        member_id: str = '',
        member_epoch: int = 0,
        rack_id: str | None = None,
        subscribed_topic_names: list[str] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.rack_id = rack_id
        self.subscribed_topic_names = subscribed_topic_names


def parse_request_v1(buf: Buf, pos: int) -> tuple[ShareGroupHeartbeatRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ShareGroupHeartbeatRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('ShareGroupHeartbeatRequest.group_id')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.member_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('ShareGroupHeartbeatRequest.member_id')
    m.member_epoch, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.rack_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.rack_id = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('ShareGroupHeartbeatRequest.subscribed_topic_names', n)
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
                raise bad_length('ShareGroupHeartbeatRequest.s')
            a1.append(s)
    else:
        m.subscribed_topic_names = None
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    1: parse_request_v1,
}


def write_request_v1(m: ShareGroupHeartbeatRequest, out: bytearray) -> None:
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
    b = m.rack_id
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
    a1 = m.subscribed_topic_names
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
        b = m1.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
    out.append(0)


WRITE_REQUEST = {
    1: write_request_v1,
}


class TopicPartitions(WireStruct):
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
    topic_partitions: list[TopicPartitions]

    def __init__(
        self,
        topic_partitions: list[TopicPartitions] = EMPTY,
    ) -> None:
        self.topic_partitions = [] if topic_partitions is EMPTY else topic_partitions


class ShareGroupHeartbeatResponse(WireStruct):
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


def parse_response_v1(buf: Buf, pos: int) -> tuple[ShareGroupHeartbeatResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ShareGroupHeartbeatResponse)
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
                raise bad_count('ShareGroupHeartbeatResponse.topic_partitions', n)
            m1.topic_partitions = a2 = []
            for _ in range(n):
                m2 = new(TopicPartitions)
                a2.append(m2)
                m2.topic_id, n = u_UB(buf, pos)
                pos += 17
                if n > 127:
                    n, pos = more(buf, pos, n)
                if n:
                    n -= 1
                    left -= n
                    if left < 0 or n * 4 > size - pos:
                        raise bad_count('ShareGroupHeartbeatResponse.partitions', n)
                    m2.partitions = list(unpack_from(f">{n}i", buf, pos))
                    pos += 4 * n
                else:
                    raise bad_length('ShareGroupHeartbeatResponse.partitions')
                n = buf[pos]
                pos += 1
                if n:
                    pos = skip_tags(buf, pos, n)
        else:
            raise bad_length('ShareGroupHeartbeatResponse.topic_partitions')
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
    1: parse_response_v1,
}


def write_response_v1(m: ShareGroupHeartbeatResponse, out: bytearray) -> None:
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
    1: write_response_v1,
}
