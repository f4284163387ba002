"""EndTxnMarker: versions 0-0. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    Buf,
    WireStruct,
    new,
)

p_i = Struct(">i").pack
u_i = Struct(">i").unpack_from


class EndTxnMarker(WireStruct):
    __slots__ = ('coordinator_epoch',)
    coordinator_epoch: int

    def __init__(
        self,
        coordinator_epoch: int = 0,
    ) -> None:
        self.coordinator_epoch = coordinator_epoch


def parse_v0(buf: Buf, pos: int) -> tuple[EndTxnMarker, int]:
    m = new(EndTxnMarker)
    m.coordinator_epoch = u_i(buf, pos)[0]
    pos += 4
    return m, pos


PARSE = {
    0: parse_v0,
}


def write_v0(m: EndTxnMarker, out: bytearray) -> None:
    out += p_i(m.coordinator_epoch)


WRITE = {
    0: write_v0,
}
