"""AllocateProducerIds: API key 67, versions 0-0. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    Buf,
    WireStruct,
    new,
    skip_tags,
)

p_ihqix = Struct(">ihqix").pack
p_iqx = Struct(">iqx").pack
u_ihqiB = Struct(">ihqiB").unpack_from
u_iqB = Struct(">iqB").unpack_from


class AllocateProducerIdsRequest(WireStruct):
    __slots__ = ('broker_id', 'broker_epoch',)
    broker_id: int
    broker_epoch: int

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch


def parse_request_v0(buf: Buf, pos: int) -> tuple[AllocateProducerIdsRequest, int]:
    m = new(AllocateProducerIdsRequest)
    m.broker_id, m.broker_epoch, n = u_iqB(buf, pos)
    pos += 13
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
}


def write_request_v0(m: AllocateProducerIdsRequest, out: bytearray) -> None:
    out += p_iqx(m.broker_id, m.broker_epoch)


WRITE_REQUEST = {
    0: write_request_v0,
}


class AllocateProducerIdsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'producer_id_start', 'producer_id_len',)
    throttle_time_ms: int
    error_code: int
    producer_id_start: int
    producer_id_len: int

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id_start: int = 0,
        producer_id_len: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id_start = producer_id_start
        self.producer_id_len = producer_id_len


def parse_response_v0(buf: Buf, pos: int) -> tuple[AllocateProducerIdsResponse, int]:
    m = new(AllocateProducerIdsResponse)
    m.throttle_time_ms, m.error_code, m.producer_id_start, m.producer_id_len, n = u_ihqiB(buf, pos)
    pos += 19
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
}


def write_response_v0(m: AllocateProducerIdsResponse, out: bytearray) -> None:
    out += p_ihqix(m.throttle_time_ms, m.error_code, m.producer_id_start, m.producer_id_len)


WRITE_RESPONSE = {
    0: write_response_v0,
}
