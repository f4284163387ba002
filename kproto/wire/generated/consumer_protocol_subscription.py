"""ConsumerProtocolSubscription: versions 0-3. Written by kproto.wire.generator: do not edit."""

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
p_ih = Struct(">ih").pack
u_h = Struct(">h").unpack_from
u_i = Struct(">i").unpack_from
u_ih = Struct(">ih").unpack_from


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


class ConsumerProtocolSubscription(WireStruct):
    __slots__ = ('topics', 'user_data', 'owned_partitions', 'generation_id', 'rack_id',)
    topics: list[str]
    user_data: bytes | None
    owned_partitions: list[TopicPartition]
    generation_id: int
    rack_id: str | None

    def __init__(
        self,
        topics: list[str] = EMPTY,
        user_data: bytes | None = None,
        owned_partitions: list[TopicPartition] = EMPTY,
        generation_id: int = -1,
        rack_id: str | None = None,
    ) -> None:
        self.topics = [] if topics is EMPTY else topics
        self.user_data = user_data
        self.owned_partitions = [] if owned_partitions is EMPTY else owned_partitions
        self.generation_id = generation_id
        self.rack_id = rack_id


def parse_v0(buf: Buf, pos: int) -> tuple[ConsumerProtocolSubscription, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ConsumerProtocolSubscription)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 2 > size - pos:
            raise bad_count('ConsumerProtocolSubscription.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                s = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ConsumerProtocolSubscription.s')
            a1.append(s)
    else:
        raise bad_length('ConsumerProtocolSubscription.topics')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        end = pos + n
        m.user_data = bytes(buf[pos:end])
        pos = end
    elif n == -1:
        m.user_data = None
    else:
        raise bad_length('ConsumerProtocolSubscription.user_data')
    m.owned_partitions = []
    m.generation_id = -1
    m.rack_id = None
    return m, pos


def parse_v1(buf: Buf, pos: int) -> tuple[ConsumerProtocolSubscription, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ConsumerProtocolSubscription)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 2 > size - pos:
            raise bad_count('ConsumerProtocolSubscription.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                s = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ConsumerProtocolSubscription.s')
            a1.append(s)
    else:
        raise bad_length('ConsumerProtocolSubscription.topics')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        end = pos + n
        m.user_data = bytes(buf[pos:end])
        pos = end
    elif n == -1:
        m.user_data = None
    else:
        raise bad_length('ConsumerProtocolSubscription.user_data')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ConsumerProtocolSubscription.owned_partitions', n)
        m.owned_partitions = a1 = []
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
                raise bad_length('ConsumerProtocolSubscription.topic')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('ConsumerProtocolSubscription.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('ConsumerProtocolSubscription.partitions')
    else:
        raise bad_length('ConsumerProtocolSubscription.owned_partitions')
    m.generation_id = -1
    m.rack_id = None
    return m, pos


def parse_v2(buf: Buf, pos: int) -> tuple[ConsumerProtocolSubscription, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ConsumerProtocolSubscription)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 2 > size - pos:
            raise bad_count('ConsumerProtocolSubscription.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                s = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ConsumerProtocolSubscription.s')
            a1.append(s)
    else:
        raise bad_length('ConsumerProtocolSubscription.topics')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        end = pos + n
        m.user_data = bytes(buf[pos:end])
        pos = end
    elif n == -1:
        m.user_data = None
    else:
        raise bad_length('ConsumerProtocolSubscription.user_data')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ConsumerProtocolSubscription.owned_partitions', n)
        m.owned_partitions = a1 = []
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
                raise bad_length('ConsumerProtocolSubscription.topic')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('ConsumerProtocolSubscription.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('ConsumerProtocolSubscription.partitions')
    else:
        raise bad_length('ConsumerProtocolSubscription.owned_partitions')
    m.generation_id = u_i(buf, pos)[0]
    pos += 4
    m.rack_id = None
    return m, pos


def parse_v3(buf: Buf, pos: int) -> tuple[ConsumerProtocolSubscription, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ConsumerProtocolSubscription)
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 2 > size - pos:
            raise bad_count('ConsumerProtocolSubscription.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                s = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ConsumerProtocolSubscription.s')
            a1.append(s)
    else:
        raise bad_length('ConsumerProtocolSubscription.topics')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        end = pos + n
        m.user_data = bytes(buf[pos:end])
        pos = end
    elif n == -1:
        m.user_data = None
    else:
        raise bad_length('ConsumerProtocolSubscription.user_data')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('ConsumerProtocolSubscription.owned_partitions', n)
        m.owned_partitions = a1 = []
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
                raise bad_length('ConsumerProtocolSubscription.topic')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('ConsumerProtocolSubscription.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('ConsumerProtocolSubscription.partitions')
    else:
        raise bad_length('ConsumerProtocolSubscription.owned_partitions')
    m.generation_id, n = u_ih(buf, pos)
    pos += 6
    if n >= 0:
        end = pos + n
        m.rack_id = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.rack_id = None
    else:
        raise bad_length('ConsumerProtocolSubscription.rack_id')
    return m, pos


PARSE = {
    0: parse_v0,
    1: parse_v1,
    2: parse_v2,
    3: parse_v3,
}


def write_v0(m: ConsumerProtocolSubscription, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.encode()
        n = len(b)
        out += p_h(n)
        out += b
    b = m.user_data
    if b is None:
        b = b""
        n = -1
    else:
        n = len(b)
    out += p_i(n)
    out += b


def write_v1(m: ConsumerProtocolSubscription, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.encode()
        n = len(b)
        out += p_h(n)
        out += b
    b = m.user_data
    if b is None:
        b = b""
        n = -1
    else:
        n = len(b)
    out += p_i(n)
    out += b
    a1 = m.owned_partitions
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


def write_v2(m: ConsumerProtocolSubscription, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.encode()
        n = len(b)
        out += p_h(n)
        out += b
    b = m.user_data
    if b is None:
        b = b""
        n = -1
    else:
        n = len(b)
    out += p_i(n)
    out += b
    a1 = m.owned_partitions
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
    out += p_i(m.generation_id)


def write_v3(m: ConsumerProtocolSubscription, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.encode()
        n = len(b)
        out += p_h(n)
        out += b
    b = m.user_data
    if b is None:
        b = b""
        n = -1
    else:
        n = len(b)
    out += p_i(n)
    out += b
    a1 = m.owned_partitions
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
    b = m.rack_id
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_ih(m.generation_id, n)
    out += b


WRITE = {
    0: write_v0,
    1: write_v1,
    2: write_v2,
    3: write_v3,
}
