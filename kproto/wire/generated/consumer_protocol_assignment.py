"""ConsumerProtocolAssignment: versions 0-3. Written by kproto.wire.generator: do not edit."""

from struct import Struct, pack, unpack_from

from kproto.wire.primitives import (
    EMPTY,
    MAX_ELEMENTS,
    Buf,
    WireStruct,
    bad_count,
    bad_length,
    new,
)

p_h = Struct(">h").pack
p_i = Struct(">i").pack
u_h = Struct(">h").unpack_from
u_i = Struct(">i").unpack_from


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


class ConsumerProtocolAssignment(WireStruct):
    __slots__ = ('assigned_partitions', 'user_data',)
    assigned_partitions: list[TopicPartition]
    user_data: bytes | None

    def __init__(
        self,
        assigned_partitions: list[TopicPartition] = EMPTY,
        user_data: bytes | None = None,
    ) -> None:
        self.assigned_partitions = [] if assigned_partitions is EMPTY else assigned_partitions
        self.user_data = user_data


def parse_v0(buf: Buf, pos: int) -> tuple[ConsumerProtocolAssignment, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ConsumerProtocolAssignment)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ConsumerProtocolAssignment.assigned_partitions', n)
        m.assigned_partitions = a1 = []
        for _ in range(n):
            m1 = new(TopicPartition)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.topic = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ConsumerProtocolAssignment.topic')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('ConsumerProtocolAssignment.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('ConsumerProtocolAssignment.partitions')
    else:
        raise bad_length('ConsumerProtocolAssignment.assigned_partitions')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        end = pos + n
        m.user_data = bytes(buf[pos:end])
        pos = end
    elif n == -1:
        m.user_data = None
    else:
        raise bad_length('ConsumerProtocolAssignment.user_data')
    return m, pos


PARSE = {
    0: parse_v0,
    1: parse_v0,
    2: parse_v0,
    3: parse_v0,
}


def write_v0(m: ConsumerProtocolAssignment, out: bytearray) -> None:
    a1 = m.assigned_partitions
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
    b = m.user_data
    if b is None:
        b = b""
        n = -1
    else:
        n = len(b)
    out += p_i(n)
    out += b


WRITE = {
    0: write_v0,
    1: write_v0,
    2: write_v0,
    3: write_v0,
}
