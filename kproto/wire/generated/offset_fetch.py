"""OffsetFetch: API key 9, versions 1-10. Written by kproto.wire.generator: do not edit."""

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
p_hx = Struct(">hx").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ii = Struct(">ii").pack
p_iqh = Struct(">iqh").pack
p_iqi = Struct(">iqi").pack
p_iqiB = Struct(">iqiB").pack
p_iqih = Struct(">iqih").pack
u_tB = Struct(">?B").unpack_from
u_UB = Struct(">16sB").unpack_from
u_h = Struct(">h").unpack_from
u_hB = Struct(">hB").unpack_from
u_i = Struct(">i").unpack_from
u_iB = Struct(">iB").unpack_from
u_ii = Struct(">ii").unpack_from
u_iq = Struct(">iq").unpack_from
u_iqiB = Struct(">iqiB").unpack_from
u_iqih = Struct(">iqih").unpack_from


class OffsetFetchRequestTopic(WireStruct):
    __slots__ = ('name', 'partition_indexes',)
    name: str
    partition_indexes: list[int]

    def __init__(
        self,
        name: str = '',
        partition_indexes: list[int] = EMPTY,
    ) -> None:
        self.name = name
        self.partition_indexes = [] if partition_indexes is EMPTY else partition_indexes


class OffsetFetchRequestTopics(WireStruct):
    __slots__ = ('name', 'topic_id', 'partition_indexes',)
    name: str
    topic_id: bytes
    partition_indexes: list[int]

    def __init__(
        self,
        name: str = '',
        topic_id: bytes = ZERO_UUID,
        partition_indexes: list[int] = EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_indexes = [] if partition_indexes is EMPTY else partition_indexes


class OffsetFetchRequestGroup(WireStruct):
    __slots__ = ('group_id', 'member_id', 'member_epoch', 'topics',)
    group_id: str
    member_id: str | None
    member_epoch: int
    topics: list[OffsetFetchRequestTopics] | None

    def __init__(
        self,
        group_id: str = '',
        member_id: str | None = None,
        member_epoch: int = -1,
        topics: list[OffsetFetchRequestTopics] | None = EMPTY,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.topics = [] if topics is EMPTY else topics


class OffsetFetchRequest(WireStruct):
    __slots__ = ('group_id', 'topics', 'groups', 'require_stable',)
    group_id: str
    topics: list[OffsetFetchRequestTopic] | None
    groups: list[OffsetFetchRequestGroup]
    require_stable: bool

    def __init__(
        self,
        group_id: str = '',
        topics: list[OffsetFetchRequestTopic] | None = EMPTY,
        groups: list[OffsetFetchRequestGroup] = EMPTY,
        require_stable: bool = False,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is EMPTY else topics
        self.groups = [] if groups is EMPTY else groups
        self.require_stable = require_stable


def parse_request_v1(buf: Buf, pos: int) -> tuple[OffsetFetchRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(OffsetFetchRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetFetchRequest.group_id')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('OffsetFetchRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetFetchRequestTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetFetchRequest.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('OffsetFetchRequest.partition_indexes', n)
                m1.partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('OffsetFetchRequest.partition_indexes')
    else:
        raise bad_length('OffsetFetchRequest.topics')
    m.groups = []
    m.require_stable = False
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[OffsetFetchRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(OffsetFetchRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetFetchRequest.group_id')
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('OffsetFetchRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetFetchRequestTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetFetchRequest.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('OffsetFetchRequest.partition_indexes', n)
                m1.partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('OffsetFetchRequest.partition_indexes')
    elif n == -1:
        m.topics = None
    else:
        raise bad_length('OffsetFetchRequest.topics')
    m.groups = []
    m.require_stable = False
    return m, pos


def parse_request_v6(buf: Buf, pos: int) -> tuple[OffsetFetchRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(OffsetFetchRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetFetchRequest.group_id')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('OffsetFetchRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetFetchRequestTopic)
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
                raise bad_length('OffsetFetchRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('OffsetFetchRequest.partition_indexes', n)
                m1.partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('OffsetFetchRequest.partition_indexes')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.topics = None
    m.groups = []
    m.require_stable = False
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v7(buf: Buf, pos: int) -> tuple[OffsetFetchRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(OffsetFetchRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetFetchRequest.group_id')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('OffsetFetchRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetFetchRequestTopic)
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
                raise bad_length('OffsetFetchRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('OffsetFetchRequest.partition_indexes', n)
                m1.partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('OffsetFetchRequest.partition_indexes')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        m.topics = None
    m.groups = []
    m.require_stable, n = u_tB(buf, pos)
    pos += 2
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v8(buf: Buf, pos: int) -> tuple[OffsetFetchRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(OffsetFetchRequest)
    m.group_id = ''
    m.topics = []
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('OffsetFetchRequest.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(OffsetFetchRequestGroup)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetFetchRequest.group_id')
            m1.member_id = None
            m1.member_epoch = -1
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('OffsetFetchRequest.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(OffsetFetchRequestTopics)
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
                        raise bad_length('OffsetFetchRequest.name')
                    m2.topic_id = ZERO_UUID
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('OffsetFetchRequest.partition_indexes', n)
                        m2.partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('OffsetFetchRequest.partition_indexes')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                m1.topics = None
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('OffsetFetchRequest.groups')
    m.require_stable, n = u_tB(buf, pos)
    pos += 2
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v9(buf: Buf, pos: int) -> tuple[OffsetFetchRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(OffsetFetchRequest)
    m.group_id = ''
    m.topics = []
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 8 > size - pos:
            raise bad_count('OffsetFetchRequest.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(OffsetFetchRequestGroup)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetFetchRequest.group_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.member_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.member_id = None
            m1.member_epoch, n = u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('OffsetFetchRequest.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(OffsetFetchRequestTopics)
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
                        raise bad_length('OffsetFetchRequest.name')
                    m2.topic_id = ZERO_UUID
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('OffsetFetchRequest.partition_indexes', n)
                        m2.partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('OffsetFetchRequest.partition_indexes')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                m1.topics = None
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('OffsetFetchRequest.groups')
    m.require_stable, n = u_tB(buf, pos)
    pos += 2
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v10(buf: Buf, pos: int) -> tuple[OffsetFetchRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(OffsetFetchRequest)
    m.group_id = ''
    m.topics = []
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 8 > size - pos:
            raise bad_count('OffsetFetchRequest.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(OffsetFetchRequestGroup)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetFetchRequest.group_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.member_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                m1.member_id = None
            m1.member_epoch, n = u_iB(buf, pos)
            pos += 5
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('OffsetFetchRequest.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(OffsetFetchRequestTopics)
                    a2.append(m2)
                    m2.name = ''
                    m2.topic_id, n = u_UB(buf, pos)
                    pos += 17
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('OffsetFetchRequest.partition_indexes', n)
                        m2.partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('OffsetFetchRequest.partition_indexes')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                m1.topics = None
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('OffsetFetchRequest.groups')
    m.require_stable, n = u_tB(buf, pos)
    pos += 2
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    1: parse_request_v1,
    2: parse_request_v2,
    3: parse_request_v2,
    4: parse_request_v2,
    5: parse_request_v2,
    6: parse_request_v6,
    7: parse_request_v7,
    8: parse_request_v8,
    9: parse_request_v9,
    10: parse_request_v10,
}


def write_request_v1(m: OffsetFetchRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    a1 = m.topics
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partition_indexes
        n = len(a2)
        out += p_i(n)
        out += pack(f">{len(a2)}i", *a2)


def write_request_v2(m: OffsetFetchRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
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
        a2 = m1.partition_indexes
        n = len(a2)
        out += p_i(n)
        out += pack(f">{len(a2)}i", *a2)


def write_request_v6(m: OffsetFetchRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
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
        a2 = m1.partition_indexes
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += pack(f">{len(a2)}i", *a2)
        out.append(0)
    out.append(0)


def write_request_v7(m: OffsetFetchRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
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
        a2 = m1.partition_indexes
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += pack(f">{len(a2)}i", *a2)
        out.append(0)
    out += p_tx(m.require_stable)


def write_request_v8(m: OffsetFetchRequest, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.group_id.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        a2 = m1.topics
        if a2 is None:
            a2 = ()
            n = 0
        else:
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
            a3 = m2.partition_indexes
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        out.append(0)
    out += p_tx(m.require_stable)


def write_request_v9(m: OffsetFetchRequest, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.group_id.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.member_id
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
        a2 = m1.topics
        if a2 is None:
            a2 = ()
            n = 0
        else:
            n = len(a2) + 1
        if n < 128:
            out += p_iB(m1.member_epoch, n)
        else:
            out += p_i(m1.member_epoch)
            uvarint(out, n)
        for m2 in a2:
            b = m2.name.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            a3 = m2.partition_indexes
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        out.append(0)
    out += p_tx(m.require_stable)


def write_request_v10(m: OffsetFetchRequest, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.group_id.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.member_id
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
        a2 = m1.topics
        if a2 is None:
            a2 = ()
            n = 0
        else:
            n = len(a2) + 1
        if n < 128:
            out += p_iB(m1.member_epoch, n)
        else:
            out += p_i(m1.member_epoch)
            uvarint(out, n)
        for m2 in a2:
            a3 = m2.partition_indexes
            n = len(a3) + 1
            if n < 128:
                out += p_UB(m2.topic_id, n)
            else:
                out += p_U(m2.topic_id)
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        out.append(0)
    out += p_tx(m.require_stable)


WRITE_REQUEST = {
    1: write_request_v1,
    2: write_request_v2,
    3: write_request_v2,
    4: write_request_v2,
    5: write_request_v2,
    6: write_request_v6,
    7: write_request_v7,
    8: write_request_v8,
    9: write_request_v9,
    10: write_request_v10,
}


class OffsetFetchResponsePartition(WireStruct):
    __slots__ = ('partition_index', 'committed_offset', 'committed_leader_epoch', 'metadata', 'error_code',)
    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    metadata: str | None
    error_code: int

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = '',
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code


class OffsetFetchResponseTopic(WireStruct):
    __slots__ = ('name', 'partitions',)
    name: str
    partitions: list[OffsetFetchResponsePartition]

    def __init__(
        self,
        name: str = '',
        partitions: list[OffsetFetchResponsePartition] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class OffsetFetchResponsePartitions(WireStruct):
    __slots__ = ('partition_index', 'committed_offset', 'committed_leader_epoch', 'metadata', 'error_code',)
    partition_index: int
    committed_offset: int
    committed_leader_epoch: int
    metadata: str | None
    error_code: int

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = '',
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code


class OffsetFetchResponseTopics(WireStruct):
    __slots__ = ('name', 'topic_id', 'partitions',)
    name: str
    topic_id: bytes
    partitions: list[OffsetFetchResponsePartitions]

    def __init__(
        self,
        name: str = '',
        topic_id: bytes = ZERO_UUID,
        partitions: list[OffsetFetchResponsePartitions] = EMPTY,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class OffsetFetchResponseGroup(WireStruct):
    __slots__ = ('group_id', 'topics', 'error_code',)
    group_id: str
    topics: list[OffsetFetchResponseTopics]
    error_code: int

    def __init__(
        self,
        group_id: str = '',
        topics: list[OffsetFetchResponseTopics] = EMPTY,
        error_code: int = 0,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is EMPTY else topics
        self.error_code = error_code


class OffsetFetchResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'topics', 'error_code', 'groups',)
    throttle_time_ms: int
    topics: list[OffsetFetchResponseTopic]
    error_code: int
    groups: list[OffsetFetchResponseGroup]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: list[OffsetFetchResponseTopic] = EMPTY,
        error_code: int = 0,
        groups: list[OffsetFetchResponseGroup] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is EMPTY else topics
        self.error_code = error_code
        self.groups = [] if groups is EMPTY else groups


def parse_response_v1(buf: Buf, pos: int) -> tuple[OffsetFetchResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(OffsetFetchResponse)
    m.throttle_time_ms = 0
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('OffsetFetchResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetFetchResponseTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetFetchResponse.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 16 > size - pos:
                    raise bad_count('OffsetFetchResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetFetchResponsePartition)
                    a2.append(m2)
                    m2.partition_index, m2.committed_offset = u_iq(buf, pos)
                    pos += 12
                    m2.committed_leader_epoch = -1
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.metadata = str(buf[pos:end], "utf-8")
                        pos = end
                    elif n == -1:
                        m2.metadata = None
                    else:
                        raise bad_length('OffsetFetchResponse.metadata')
                    m2.error_code = u_h(buf, pos)[0]
                    pos += 2
            else:
                raise bad_length('OffsetFetchResponse.partitions')
    else:
        raise bad_length('OffsetFetchResponse.topics')
    m.error_code = 0
    m.groups = []
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[OffsetFetchResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(OffsetFetchResponse)
    m.throttle_time_ms = 0
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('OffsetFetchResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetFetchResponseTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetFetchResponse.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 16 > size - pos:
                    raise bad_count('OffsetFetchResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetFetchResponsePartition)
                    a2.append(m2)
                    m2.partition_index, m2.committed_offset = u_iq(buf, pos)
                    pos += 12
                    m2.committed_leader_epoch = -1
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.metadata = str(buf[pos:end], "utf-8")
                        pos = end
                    elif n == -1:
                        m2.metadata = None
                    else:
                        raise bad_length('OffsetFetchResponse.metadata')
                    m2.error_code = u_h(buf, pos)[0]
                    pos += 2
            else:
                raise bad_length('OffsetFetchResponse.partitions')
    else:
        raise bad_length('OffsetFetchResponse.topics')
    m.error_code = u_h(buf, pos)[0]
    pos += 2
    m.groups = []
    return m, pos


def parse_response_v3(buf: Buf, pos: int) -> tuple[OffsetFetchResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(OffsetFetchResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('OffsetFetchResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetFetchResponseTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetFetchResponse.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 16 > size - pos:
                    raise bad_count('OffsetFetchResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetFetchResponsePartition)
                    a2.append(m2)
                    m2.partition_index, m2.committed_offset = u_iq(buf, pos)
                    pos += 12
                    m2.committed_leader_epoch = -1
                    n = u_h(buf, pos)[0]
                    pos += 2
                    if n >= 0:
                        end = pos + n
                        m2.metadata = str(buf[pos:end], "utf-8")
                        pos = end
                    elif n == -1:
                        m2.metadata = None
                    else:
                        raise bad_length('OffsetFetchResponse.metadata')
                    m2.error_code = u_h(buf, pos)[0]
                    pos += 2
            else:
                raise bad_length('OffsetFetchResponse.partitions')
    else:
        raise bad_length('OffsetFetchResponse.topics')
    m.error_code = u_h(buf, pos)[0]
    pos += 2
    m.groups = []
    return m, pos


def parse_response_v5(buf: Buf, pos: int) -> tuple[OffsetFetchResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(OffsetFetchResponse)
    m.throttle_time_ms, n = u_ii(buf, pos)
    pos += 8
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('OffsetFetchResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetFetchResponseTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetFetchResponse.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 20 > size - pos:
                    raise bad_count('OffsetFetchResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetFetchResponsePartition)
                    a2.append(m2)
                    m2.partition_index, m2.committed_offset, m2.committed_leader_epoch, n = u_iqih(buf, pos)
                    pos += 18
                    if n >= 0:
                        end = pos + n
                        m2.metadata = str(buf[pos:end], "utf-8")
                        pos = end
                    elif n == -1:
                        m2.metadata = None
                    else:
                        raise bad_length('OffsetFetchResponse.metadata')
                    m2.error_code = u_h(buf, pos)[0]
                    pos += 2
            else:
                raise bad_length('OffsetFetchResponse.partitions')
    else:
        raise bad_length('OffsetFetchResponse.topics')
    m.error_code = u_h(buf, pos)[0]
    pos += 2
    m.groups = []
    return m, pos


def parse_response_v6(buf: Buf, pos: int) -> tuple[OffsetFetchResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(OffsetFetchResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('OffsetFetchResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(OffsetFetchResponseTopic)
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
                raise bad_length('OffsetFetchResponse.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 20 > size - pos:
                    raise bad_count('OffsetFetchResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(OffsetFetchResponsePartition)
                    a2.append(m2)
                    m2.partition_index, m2.committed_offset, m2.committed_leader_epoch, n = u_iqiB(buf, pos)
                    pos += 17
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.metadata = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.metadata = None
                    m2.error_code, n = u_hB(buf, pos)
                    pos += 3
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('OffsetFetchResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('OffsetFetchResponse.topics')
    m.error_code = u_h(buf, pos)[0]
    pos += 2
    m.groups = []
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v8(buf: Buf, pos: int) -> tuple[OffsetFetchResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(OffsetFetchResponse)
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
    m.topics = []
    m.error_code = 0
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('OffsetFetchResponse.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(OffsetFetchResponseGroup)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetFetchResponse.group_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('OffsetFetchResponse.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(OffsetFetchResponseTopics)
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
                        raise bad_length('OffsetFetchResponse.name')
                    m2.topic_id = ZERO_UUID
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 20 > size - pos:
                            raise bad_count('OffsetFetchResponse.partitions', n)
                        m2.partitions = a3 = []
                        for _ in range(n):
                            m3 = new(OffsetFetchResponsePartitions)
                            a3.append(m3)
                            m3.partition_index, m3.committed_offset, m3.committed_leader_epoch, n = u_iqiB(buf, pos)
                            pos += 17
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m3.metadata = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                m3.metadata = None
                            m3.error_code, n = u_hB(buf, pos)
                            pos += 3
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('OffsetFetchResponse.partitions')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('OffsetFetchResponse.topics')
            m1.error_code, n = u_hB(buf, pos)
            pos += 3
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('OffsetFetchResponse.groups')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v10(buf: Buf, pos: int) -> tuple[OffsetFetchResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(OffsetFetchResponse)
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
    m.topics = []
    m.error_code = 0
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('OffsetFetchResponse.groups', n)
        m.groups = a1 = []
        for _ in range(n):
            m1 = new(OffsetFetchResponseGroup)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.group_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('OffsetFetchResponse.group_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 18 > size - pos:
                    raise bad_count('OffsetFetchResponse.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(OffsetFetchResponseTopics)
                    a2.append(m2)
                    m2.name = ''
                    m2.topic_id, n = u_UB(buf, pos)
                    pos += 17
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 20 > size - pos:
                            raise bad_count('OffsetFetchResponse.partitions', n)
                        m2.partitions = a3 = []
                        for _ in range(n):
                            m3 = new(OffsetFetchResponsePartitions)
                            a3.append(m3)
                            m3.partition_index, m3.committed_offset, m3.committed_leader_epoch, n = u_iqiB(buf, pos)
                            pos += 17
                            if n > 127:
                                n, pos = more(buf, pos, n)
                            if n:
                                end = pos + n - 1
                                m3.metadata = str(buf[pos:end], "utf-8")
                                pos = end
                            else:
                                m3.metadata = None
                            m3.error_code, n = u_hB(buf, pos)
                            pos += 3
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('OffsetFetchResponse.partitions')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('OffsetFetchResponse.topics')
            m1.error_code, n = u_hB(buf, pos)
            pos += 3
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('OffsetFetchResponse.groups')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    1: parse_response_v1,
    2: parse_response_v2,
    3: parse_response_v3,
    4: parse_response_v3,
    5: parse_response_v5,
    6: parse_response_v6,
    7: parse_response_v6,
    8: parse_response_v8,
    9: parse_response_v8,
    10: parse_response_v10,
}


def write_response_v1(m: OffsetFetchResponse, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.metadata
            if b is None:
                b = b""
                n = -1
            else:
                b = b.encode()
                n = len(b)
            out += p_iqh(m2.partition_index, m2.committed_offset, n)
            out += b
            out += p_h(m2.error_code)


def write_response_v2(m: OffsetFetchResponse, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_i(n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.metadata
            if b is None:
                b = b""
                n = -1
            else:
                b = b.encode()
                n = len(b)
            out += p_iqh(m2.partition_index, m2.committed_offset, n)
            out += b
            out += p_h(m2.error_code)
    out += p_h(m.error_code)


def write_response_v3(m: OffsetFetchResponse, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.metadata
            if b is None:
                b = b""
                n = -1
            else:
                b = b.encode()
                n = len(b)
            out += p_iqh(m2.partition_index, m2.committed_offset, n)
            out += b
            out += p_h(m2.error_code)
    out += p_h(m.error_code)


def write_response_v5(m: OffsetFetchResponse, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            b = m2.metadata
            if b is None:
                b = b""
                n = -1
            else:
                b = b.encode()
                n = len(b)
            out += p_iqih(m2.partition_index, m2.committed_offset, m2.committed_leader_epoch, n)
            out += b
            out += p_h(m2.error_code)
    out += p_h(m.error_code)


def write_response_v6(m: OffsetFetchResponse, out: bytearray) -> None:
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
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.metadata
            if b is None:
                b = b""
                n = 0
            else:
                b = b.encode()
                n = len(b) + 1
            if n < 128:
                out += p_iqiB(m2.partition_index, m2.committed_offset, m2.committed_leader_epoch, n)
            else:
                out += p_iqi(m2.partition_index, m2.committed_offset, m2.committed_leader_epoch)
                uvarint(out, n)
            out += b
            out += p_hx(m2.error_code)
        out.append(0)
    out += p_hx(m.error_code)


def write_response_v8(m: OffsetFetchResponse, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.group_id.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        a2 = m1.topics
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
            a3 = m2.partitions
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m3 in a3:
                b = m3.metadata
                if b is None:
                    b = b""
                    n = 0
                else:
                    b = b.encode()
                    n = len(b) + 1
                if n < 128:
                    out += p_iqiB(m3.partition_index, m3.committed_offset, m3.committed_leader_epoch, n)
                else:
                    out += p_iqi(m3.partition_index, m3.committed_offset, m3.committed_leader_epoch)
                    uvarint(out, n)
                out += b
                out += p_hx(m3.error_code)
            out.append(0)
        out += p_hx(m1.error_code)
    out.append(0)


def write_response_v10(m: OffsetFetchResponse, out: bytearray) -> None:
    a1 = m.groups
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.group_id.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        a2 = m1.topics
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
            for m3 in a3:
                b = m3.metadata
                if b is None:
                    b = b""
                    n = 0
                else:
                    b = b.encode()
                    n = len(b) + 1
                if n < 128:
                    out += p_iqiB(m3.partition_index, m3.committed_offset, m3.committed_leader_epoch, n)
                else:
                    out += p_iqi(m3.partition_index, m3.committed_offset, m3.committed_leader_epoch)
                    uvarint(out, n)
                out += b
                out += p_hx(m3.error_code)
            out.append(0)
        out += p_hx(m1.error_code)
    out.append(0)


WRITE_RESPONSE = {
    1: write_response_v1,
    2: write_response_v2,
    3: write_response_v3,
    4: write_response_v3,
    5: write_response_v5,
    6: write_response_v6,
    7: write_response_v6,
    8: write_response_v8,
    9: write_response_v8,
    10: write_response_v10,
}
