"""GroupMetadataKey: versions 0-0. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    Buf,
    WireStruct,
    bad_length,
    new,
)

p_h = Struct(">h").pack
u_h = Struct(">h").unpack_from


class GroupMetadataKey(WireStruct):
    __slots__ = ('group',)
    group: str

    def __init__(
        self,
        group: str = '',
    ) -> None:
        self.group = group


def parse_v0(buf: Buf, pos: int) -> tuple[GroupMetadataKey, int]:
    m = new(GroupMetadataKey)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.group = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('GroupMetadataKey.group')
    return m, pos


PARSE = {
    0: parse_v0,
}


def write_v0(m: GroupMetadataKey, out: bytearray) -> None:
    b = m.group.encode()
    n = len(b)
    out += p_h(n)
    out += b


WRITE = {
    0: write_v0,
}
