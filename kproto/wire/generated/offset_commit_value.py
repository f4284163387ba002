"""OffsetCommitValue: versions 0-4. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    ZERO_UUID,
    Buf,
    WireStruct,
    bad_length,
    bad_tag,
    count_tags,
    more,
    new,
    read_uvarint,
    uvarint,
)

p_U = Struct(">16s").pack
p_q = Struct(">q").pack
p_qB = Struct(">qB").pack
p_qh = Struct(">qh").pack
p_qi = Struct(">qi").pack
p_qiB = Struct(">qiB").pack
p_qih = Struct(">qih").pack
p_qq = Struct(">qq").pack
u_h = Struct(">h").unpack_from
u_q = Struct(">q").unpack_from
u_qiB = Struct(">qiB").unpack_from
u_qih = Struct(">qih").unpack_from
u_qq = Struct(">qq").unpack_from


class OffsetCommitValue(WireStruct):
    __slots__ = ('offset', 'leader_epoch', 'metadata', 'commit_timestamp', 'expire_timestamp', 'topic_id',)
    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp: int
    expire_timestamp: int
    topic_id: bytes

    def __init__(
        self,
        offset: int = 0,
        leader_epoch: int = -1,
        metadata: str = '',
        commit_timestamp: int = 0,
        expire_timestamp: int = -1,
        topic_id: bytes = ZERO_UUID,
    ) -> None:
        self.offset = offset
        self.leader_epoch = leader_epoch
        self.metadata = metadata
        self.commit_timestamp = commit_timestamp
        self.expire_timestamp = expire_timestamp
        self.topic_id = topic_id


def parse_v0(buf: Buf, pos: int) -> tuple[OffsetCommitValue, int]:
    m = new(OffsetCommitValue)
    m.offset = u_q(buf, pos)[0]
    pos += 8
    m.leader_epoch = -1
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.metadata = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetCommitValue.metadata')
    m.commit_timestamp = u_q(buf, pos)[0]
    pos += 8
    m.expire_timestamp = -1
    m.topic_id = ZERO_UUID
    return m, pos


def parse_v1(buf: Buf, pos: int) -> tuple[OffsetCommitValue, int]:
    m = new(OffsetCommitValue)
    m.offset = u_q(buf, pos)[0]
    pos += 8
    m.leader_epoch = -1
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.metadata = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetCommitValue.metadata')
    m.commit_timestamp, m.expire_timestamp = u_qq(buf, pos)
    pos += 16
    m.topic_id = ZERO_UUID
    return m, pos


def parse_v3(buf: Buf, pos: int) -> tuple[OffsetCommitValue, int]:
    m = new(OffsetCommitValue)
    m.offset, m.leader_epoch, n = u_qih(buf, pos)
    pos += 14
    if n >= 0:
        end = pos + n
        m.metadata = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetCommitValue.metadata')
    m.commit_timestamp = u_q(buf, pos)[0]
    pos += 8
    m.expire_timestamp = -1
    m.topic_id = ZERO_UUID
    return m, pos


def parse_v4(buf: Buf, pos: int) -> tuple[OffsetCommitValue, int]:
    m = new(OffsetCommitValue)
    m.offset, m.leader_epoch, n = u_qiB(buf, pos)
    pos += 13
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.metadata = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetCommitValue.metadata')
    m.commit_timestamp = u_q(buf, pos)[0]
    pos += 8
    m.expire_timestamp = -1
    m.topic_id = ZERO_UUID
    n = buf[pos]
    pos += 1
    if n:
        if n > 127:
            n, pos = count_tags(buf, pos, n)
        for _ in range(n):
            tag1, pos = read_uvarint(buf, pos)
            n, pos = read_uvarint(buf, pos)
            end1 = pos + n
            if tag1 == 0:
                m.topic_id = bytes(buf[pos:pos + 16])
                pos += 16
                if pos != end1:
                    raise bad_tag('OffsetCommitValue.topic_id')
            else:
                pos = end1
    return m, pos


PARSE = {
    0: parse_v0,
    1: parse_v1,
    2: parse_v0,
    3: parse_v3,
    4: parse_v4,
}


def write_v0(m: OffsetCommitValue, out: bytearray) -> None:
    b = m.metadata.encode()
    n = len(b)
    out += p_qh(m.offset, n)
    out += b
    out += p_q(m.commit_timestamp)


def write_v1(m: OffsetCommitValue, out: bytearray) -> None:
    b = m.metadata.encode()
    n = len(b)
    out += p_qh(m.offset, n)
    out += b
    out += p_qq(m.commit_timestamp, m.expire_timestamp)


def write_v3(m: OffsetCommitValue, out: bytearray) -> None:
    b = m.metadata.encode()
    n = len(b)
    out += p_qih(m.offset, m.leader_epoch, n)
    out += b
    out += p_q(m.commit_timestamp)


def write_v4(m: OffsetCommitValue, out: bytearray) -> None:
    b = m.metadata.encode()
    n = len(b) + 1
    if n < 128:
        out += p_qiB(m.offset, m.leader_epoch, n)
    else:
        out += p_qi(m.offset, m.leader_epoch)
        uvarint(out, n)
    out += b
    n = (m.topic_id != ZERO_UUID)
    out += p_qB(m.commit_timestamp, n)
    if n:
        if m.topic_id != ZERO_UUID:
            t1 = bytearray()
            t1 += p_U(m.topic_id)
            uvarint(out, 0)
            uvarint(out, len(t1))
            out += t1


WRITE = {
    0: write_v0,
    1: write_v1,
    2: write_v0,
    3: write_v3,
    4: write_v4,
}
