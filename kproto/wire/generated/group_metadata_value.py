"""GroupMetadataValue: versions 0-4. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    EMPTY,
    MAX_ELEMENTS,
    Buf,
    WireStruct,
    bad_count,
    bad_length,
    more,
    new,
    skip_tags,
    uvarint,
)

p_h = Struct(">h").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ii = Struct(">ii").pack
p_iiB = Struct(">iiB").pack
p_iii = Struct(">iii").pack
p_q = Struct(">q").pack
p_qB = Struct(">qB").pack
p_qi = Struct(">qi").pack
u_h = Struct(">h").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ih = Struct(">ih").unpack_from
u_ii = Struct(">ii").unpack_from
u_iiB = Struct(">iiB").unpack_from
u_iii = Struct(">iii").unpack_from
u_qB = Struct(">qB").unpack_from
u_qi = Struct(">qi").unpack_from


class MemberMetadata(WireStruct):
    __slots__ = ('member_id', 'group_instance_id', 'client_id', 'client_host', 'rebalance_timeout', 'session_timeout', 'subscription', 'assignment',)
    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout: int
    session_timeout: int
    subscription: bytes
    assignment: bytes

    def __init__(
        self,
        member_id: str = '',
        group_instance_id: str | None = None,
        client_id: str = '',
        client_host: str = '',
        rebalance_timeout: int = -1,
        session_timeout: int = 0,
        subscription: bytes = b"",
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout = rebalance_timeout
        self.session_timeout = session_timeout
        self.subscription = subscription
        self.assignment = assignment


class GroupMetadataValue(WireStruct):
    __slots__ = ('protocol_type', 'generation', 'protocol', 'leader', 'current_state_timestamp', 'members',)
    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    current_state_timestamp: int
    members: list[MemberMetadata]

    def __init__(
        self,
        protocol_type: str = '',
        generation: int = 0,
        protocol: str | None = '',
        leader: str | None = '',
        current_state_timestamp: int = -1,
        members: list[MemberMetadata] = EMPTY,
    ) -> None:
        self.protocol_type = protocol_type
        self.generation = generation
        self.protocol = protocol
        self.leader = leader
        self.current_state_timestamp = current_state_timestamp
        self.members = [] if members is EMPTY else members


def parse_v0(buf: Buf, pos: int) -> tuple[GroupMetadataValue, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(GroupMetadataValue)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.protocol_type = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('GroupMetadataValue.protocol_type')
    m.generation, n = u_ih(buf, pos)
    pos += 6
    if n >= 0:
        end = pos + n
        m.protocol = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.protocol = None
    else:
        raise bad_length('GroupMetadataValue.protocol')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.leader = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.leader = None
    else:
        raise bad_length('GroupMetadataValue.leader')
    m.current_state_timestamp = -1
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('GroupMetadataValue.members', n)
        m.members = a1 = []
        for _ in range(n):
            m1 = new(MemberMetadata)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.member_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('GroupMetadataValue.member_id')
            m1.group_instance_id = None
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.client_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('GroupMetadataValue.client_id')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.client_host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('GroupMetadataValue.client_host')
            m1.rebalance_timeout = -1
            m1.session_timeout, n = u_ii(buf, pos)
            pos += 8
            if n >= 0:
                end = pos + n
                m1.subscription = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('GroupMetadataValue.subscription')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                end = pos + n
                m1.assignment = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('GroupMetadataValue.assignment')
    else:
        raise bad_length('GroupMetadataValue.members')
    return m, pos


def parse_v1(buf: Buf, pos: int) -> tuple[GroupMetadataValue, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(GroupMetadataValue)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.protocol_type = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('GroupMetadataValue.protocol_type')
    m.generation, n = u_ih(buf, pos)
    pos += 6
    if n >= 0:
        end = pos + n
        m.protocol = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.protocol = None
    else:
        raise bad_length('GroupMetadataValue.protocol')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.leader = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.leader = None
    else:
        raise bad_length('GroupMetadataValue.leader')
    m.current_state_timestamp = -1
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 22 > size - pos:
            raise bad_count('GroupMetadataValue.members', n)
        m.members = a1 = []
        for _ in range(n):
            m1 = new(MemberMetadata)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.member_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('GroupMetadataValue.member_id')
            m1.group_instance_id = None
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.client_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('GroupMetadataValue.client_id')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.client_host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('GroupMetadataValue.client_host')
            m1.rebalance_timeout, m1.session_timeout, n = u_iii(buf, pos)
            pos += 12
            if n >= 0:
                end = pos + n
                m1.subscription = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('GroupMetadataValue.subscription')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                end = pos + n
                m1.assignment = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('GroupMetadataValue.assignment')
    else:
        raise bad_length('GroupMetadataValue.members')
    return m, pos


def parse_v2(buf: Buf, pos: int) -> tuple[GroupMetadataValue, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(GroupMetadataValue)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.protocol_type = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('GroupMetadataValue.protocol_type')
    m.generation, n = u_ih(buf, pos)
    pos += 6
    if n >= 0:
        end = pos + n
        m.protocol = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.protocol = None
    else:
        raise bad_length('GroupMetadataValue.protocol')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.leader = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.leader = None
    else:
        raise bad_length('GroupMetadataValue.leader')
    m.current_state_timestamp, n = u_qi(buf, pos)
    pos += 12
    if n >= 0:
        left -= n
        if left < 0 or n * 22 > size - pos:
            raise bad_count('GroupMetadataValue.members', n)
        m.members = a1 = []
        for _ in range(n):
            m1 = new(MemberMetadata)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.member_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('GroupMetadataValue.member_id')
            m1.group_instance_id = None
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.client_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('GroupMetadataValue.client_id')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.client_host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('GroupMetadataValue.client_host')
            m1.rebalance_timeout, m1.session_timeout, n = u_iii(buf, pos)
            pos += 12
            if n >= 0:
                end = pos + n
                m1.subscription = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('GroupMetadataValue.subscription')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                end = pos + n
                m1.assignment = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('GroupMetadataValue.assignment')
    else:
        raise bad_length('GroupMetadataValue.members')
    return m, pos


def parse_v3(buf: Buf, pos: int) -> tuple[GroupMetadataValue, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(GroupMetadataValue)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.protocol_type = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('GroupMetadataValue.protocol_type')
    m.generation, n = u_ih(buf, pos)
    pos += 6
    if n >= 0:
        end = pos + n
        m.protocol = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.protocol = None
    else:
        raise bad_length('GroupMetadataValue.protocol')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.leader = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.leader = None
    else:
        raise bad_length('GroupMetadataValue.leader')
    m.current_state_timestamp, n = u_qi(buf, pos)
    pos += 12
    if n >= 0:
        left -= n
        if left < 0 or n * 24 > size - pos:
            raise bad_count('GroupMetadataValue.members', n)
        m.members = a1 = []
        for _ in range(n):
            m1 = new(MemberMetadata)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.member_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('GroupMetadataValue.member_id')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.group_instance_id = str(buf[pos:end], "utf-8")
                pos = end
            elif n == -1:
                m1.group_instance_id = None
            else:
                raise bad_length('GroupMetadataValue.group_instance_id')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.client_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('GroupMetadataValue.client_id')
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.client_host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('GroupMetadataValue.client_host')
            m1.rebalance_timeout, m1.session_timeout, n = u_iii(buf, pos)
            pos += 12
            if n >= 0:
                end = pos + n
                m1.subscription = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('GroupMetadataValue.subscription')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                end = pos + n
                m1.assignment = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('GroupMetadataValue.assignment')
    else:
        raise bad_length('GroupMetadataValue.members')
    return m, pos


def parse_v4(buf: Buf, pos: int) -> tuple[GroupMetadataValue, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(GroupMetadataValue)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.protocol_type = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('GroupMetadataValue.protocol_type')
    m.generation, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.protocol = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.protocol = None
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.leader = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.leader = None
    m.current_state_timestamp, n = u_qB(buf, pos)
    pos += 9
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 15 > size - pos:
            raise bad_count('GroupMetadataValue.members', n)
        m.members = a1 = []
        for _ in range(n):
            m1 = new(MemberMetadata)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.member_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('GroupMetadataValue.member_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_instance_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.group_instance_id = None
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.client_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('GroupMetadataValue.client_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.client_host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('GroupMetadataValue.client_host')
            m1.rebalance_timeout, m1.session_timeout, n = u_iiB(buf, pos)
            pos += 9
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.subscription = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('GroupMetadataValue.subscription')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.assignment = bytes(buf[pos:end])
                pos = end
            else:
                raise bad_length('GroupMetadataValue.assignment')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('GroupMetadataValue.members')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE = {
    0: parse_v0,
    1: parse_v1,
    2: parse_v2,
    3: parse_v3,
    4: parse_v4,
}


def write_v0(m: GroupMetadataValue, out: bytearray) -> None:
    b = m.protocol_type.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.protocol
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_ih(m.generation, n)
    out += b
    b = m.leader
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_h(n)
    out += b
    a1 = m.members
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.member_id.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.client_id.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.client_host.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.subscription
        n = len(b)
        out += p_ii(m1.session_timeout, n)
        out += b
        b = m1.assignment
        n = len(b)
        out += p_i(n)
        out += b


def write_v1(m: GroupMetadataValue, out: bytearray) -> None:
    b = m.protocol_type.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.protocol
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_ih(m.generation, n)
    out += b
    b = m.leader
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_h(n)
    out += b
    a1 = m.members
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.member_id.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.client_id.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.client_host.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.subscription
        n = len(b)
        out += p_iii(m1.rebalance_timeout, m1.session_timeout, n)
        out += b
        b = m1.assignment
        n = len(b)
        out += p_i(n)
        out += b


def write_v2(m: GroupMetadataValue, out: bytearray) -> None:
    b = m.protocol_type.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.protocol
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_ih(m.generation, n)
    out += b
    b = m.leader
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_h(n)
    out += b
    a1 = m.members
    n = len(a1)
    out += p_qi(m.current_state_timestamp, n)
    for m1 in a1:
        b = m1.member_id.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.client_id.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.client_host.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.subscription
        n = len(b)
        out += p_iii(m1.rebalance_timeout, m1.session_timeout, n)
        out += b
        b = m1.assignment
        n = len(b)
        out += p_i(n)
        out += b


def write_v3(m: GroupMetadataValue, out: bytearray) -> None:
    b = m.protocol_type.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.protocol
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_ih(m.generation, n)
    out += b
    b = m.leader
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_h(n)
    out += b
    a1 = m.members
    n = len(a1)
    out += p_qi(m.current_state_timestamp, n)
    for m1 in a1:
        b = m1.member_id.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.group_instance_id
        if b is None:
            b = b""
            n = -1
        else:
            b = b.encode()
            n = len(b)
        out += p_h(n)
        out += b
        b = m1.client_id.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.client_host.encode()
        n = len(b)
        out += p_h(n)
        out += b
        b = m1.subscription
        n = len(b)
        out += p_iii(m1.rebalance_timeout, m1.session_timeout, n)
        out += b
        b = m1.assignment
        n = len(b)
        out += p_i(n)
        out += b


def write_v4(m: GroupMetadataValue, out: bytearray) -> None:
    b = m.protocol_type.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    b = m.protocol
    if b is None:
        b = b""
        n = 0
    else:
        b = b.encode()
        n = len(b) + 1
    if n < 128:
        out += p_iB(m.generation, n)
    else:
        out += p_i(m.generation)
        uvarint(out, n)
    out += b
    b = m.leader
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
    a1 = m.members
    n = len(a1) + 1
    if n < 128:
        out += p_qB(m.current_state_timestamp, n)
    else:
        out += p_q(m.current_state_timestamp)
        uvarint(out, n)
    for m1 in a1:
        b = m1.member_id.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.group_instance_id
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
        b = m1.client_id.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.client_host.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.subscription
        n = len(b) + 1
        if n < 128:
            out += p_iiB(m1.rebalance_timeout, m1.session_timeout, n)
        else:
            out += p_ii(m1.rebalance_timeout, m1.session_timeout)
            uvarint(out, n)
        out += b
        b = m1.assignment
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out.append(0)
    out.append(0)


WRITE = {
    0: write_v0,
    1: write_v1,
    2: write_v2,
    3: write_v3,
    4: write_v4,
}
