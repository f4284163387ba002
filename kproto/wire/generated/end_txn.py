"""EndTxn: API key 26, versions 0-5. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    Buf,
    WireStruct,
    bad_length,
    more,
    new,
    skip_tags,
    uvarint,
)

p_h = Struct(">h").pack
p_ih = Struct(">ih").pack
p_ihqhx = Struct(">ihqhx").pack
p_ihx = Struct(">ihx").pack
p_qht = Struct(">qh?").pack
p_qhtx = Struct(">qh?x").pack
u_h = Struct(">h").unpack_from
u_ih = Struct(">ih").unpack_from
u_ihqhB = Struct(">ihqhB").unpack_from
u_qht = Struct(">qh?").unpack_from
u_qhtB = Struct(">qh?B").unpack_from


class EndTxnRequest(WireStruct):
    __slots__ = ('transactional_id', 'producer_id', 'producer_epoch', 'committed',)
    transactional_id: str
    producer_id: int
    producer_epoch: int
    committed: bool

    def __init__(
        self,
        transactional_id: str = '',
        producer_id: int = 0,
        producer_epoch: int = 0,
        committed: bool = False,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.committed = committed


def parse_request_v0(buf: Buf, pos: int) -> tuple[EndTxnRequest, int]:
    m = new(EndTxnRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('EndTxnRequest.transactional_id')
    m.producer_id, m.producer_epoch, m.committed = u_qht(buf, pos)
    pos += 11
    return m, pos


def parse_request_v3(buf: Buf, pos: int) -> tuple[EndTxnRequest, int]:
    m = new(EndTxnRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('EndTxnRequest.transactional_id')
    m.producer_id, m.producer_epoch, m.committed, n = u_qhtB(buf, pos)
    pos += 12
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v0,
    2: parse_request_v0,
    3: parse_request_v3,
    4: parse_request_v3,
    5: parse_request_v3,
}


def write_request_v0(m: EndTxnRequest, out: bytearray) -> None:
    b = m.transactional_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    out += p_qht(m.producer_id, m.producer_epoch, m.committed)


def write_request_v3(m: EndTxnRequest, out: bytearray) -> None:
    b = m.transactional_id.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    out += p_qhtx(m.producer_id, m.producer_epoch, m.committed)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v0,
    2: write_request_v0,
    3: write_request_v3,
    4: write_request_v3,
    5: write_request_v3,
}


class EndTxnResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'producer_id', 'producer_epoch',)
    throttle_time_ms: int
    error_code: int
    producer_id: int
    producer_epoch: int

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch


def parse_response_v0(buf: Buf, pos: int) -> tuple[EndTxnResponse, int]:
    m = new(EndTxnResponse)
    m.throttle_time_ms, m.error_code = u_ih(buf, pos)
    pos += 6
    m.producer_id = -1
    m.producer_epoch = -1
    return m, pos


def parse_response_v3(buf: Buf, pos: int) -> tuple[EndTxnResponse, int]:
    m = new(EndTxnResponse)
    m.throttle_time_ms, m.error_code = u_ih(buf, pos)
    pos += 6
    m.producer_id = -1
    m.producer_epoch = -1
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v5(buf: Buf, pos: int) -> tuple[EndTxnResponse, int]:
    m = new(EndTxnResponse)
    m.throttle_time_ms, m.error_code, m.producer_id, m.producer_epoch, n = u_ihqhB(buf, pos)
    pos += 17
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v0,
    2: parse_response_v0,
    3: parse_response_v3,
    4: parse_response_v3,
    5: parse_response_v5,
}


def write_response_v0(m: EndTxnResponse, out: bytearray) -> None:
    out += p_ih(m.throttle_time_ms, m.error_code)


def write_response_v3(m: EndTxnResponse, out: bytearray) -> None:
    out += p_ihx(m.throttle_time_ms, m.error_code)


def write_response_v5(m: EndTxnResponse, out: bytearray) -> None:
    out += p_ihqhx(m.throttle_time_ms, m.error_code, m.producer_id, m.producer_epoch)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v0,
    2: write_response_v0,
    3: write_response_v3,
    4: write_response_v3,
    5: write_response_v5,
}
