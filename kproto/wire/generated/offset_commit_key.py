"""OffsetCommitKey: versions 0-0. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    Buf,
    WireStruct,
    bad_length,
    new,
)

p_h = Struct(">h").pack
p_i = Struct(">i").pack
u_h = Struct(">h").unpack_from
u_i = Struct(">i").unpack_from


class OffsetCommitKey(WireStruct):
    __slots__ = ('group', 'topic', 'partition',)
    group: str
    topic: str
    partition: int

    def __init__(
        self,
        group: str = '',
        topic: str = '',
        partition: int = 0,
    ) -> None:
        self.group = group
        self.topic = topic
        self.partition = partition


def parse_v0(buf: Buf, pos: int) -> tuple[OffsetCommitKey, int]:
    m = new(OffsetCommitKey)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetCommitKey.group')
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.topic = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('OffsetCommitKey.topic')
    m.partition = u_i(buf, pos)[0]
    pos += 4
    return m, pos


PARSE = {
    0: parse_v0,
}


def write_v0(m: OffsetCommitKey, out: bytearray) -> None:
    b = m.group.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.topic.encode()
    n = len(b)
    out += p_h(n)
    out += b
    out += p_i(m.partition)


WRITE = {
    0: write_v0,
}
