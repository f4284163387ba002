"""AddOffsetsToTxn: API key 25, versions 0-4. Written by kproto.wire.generator: do not edit."""

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
p_ihx = Struct(">ihx").pack
p_qh = Struct(">qh").pack
p_qhB = Struct(">qhB").pack
p_qhh = Struct(">qhh").pack
u_h = Struct(">h").unpack_from
u_ih = Struct(">ih").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_qhB = Struct(">qhB").unpack_from
u_qhh = Struct(">qhh").unpack_from


class AddOffsetsToTxnRequest(WireStruct):
    __slots__ = ('transactional_id', 'producer_id', 'producer_epoch', 'group_id',)
    transactional_id: str
    producer_id: int
    producer_epoch: int
    group_id: str

    def __init__(
        self,
        transactional_id: str = '',
        producer_id: int = 0,
        producer_epoch: int = 0,
        group_id: str = '',
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.group_id = group_id


def parse_request_v0(buf: Buf, pos: int) -> tuple[AddOffsetsToTxnRequest, int]:
    m = new(AddOffsetsToTxnRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('AddOffsetsToTxnRequest.transactional_id')
    m.producer_id, m.producer_epoch, n = u_qhh(buf, pos)
    pos += 12
    if n >= 0:
        end = pos + n
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('AddOffsetsToTxnRequest.group_id')
    return m, pos


def parse_request_v3(buf: Buf, pos: int) -> tuple[AddOffsetsToTxnRequest, int]:
    m = new(AddOffsetsToTxnRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('AddOffsetsToTxnRequest.transactional_id')
    m.producer_id, m.producer_epoch, n = u_qhB(buf, pos)
    pos += 11
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('AddOffsetsToTxnRequest.group_id')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v0,
    2: parse_request_v0,
    3: parse_request_v3,
    4: parse_request_v3,
}


def write_request_v0(m: AddOffsetsToTxnRequest, out: bytearray) -> None:
    b = m.transactional_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    b = m.group_id.encode()
    n = len(b)
    out += p_qhh(m.producer_id, m.producer_epoch, n)
    out += b


def write_request_v3(m: AddOffsetsToTxnRequest, out: bytearray) -> None:
    b = m.transactional_id.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    b = m.group_id.encode()
    n = len(b) + 1
    if n < 128:
        out += p_qhB(m.producer_id, m.producer_epoch, n)
    else:
        out += p_qh(m.producer_id, m.producer_epoch)
        uvarint(out, n)
    out += b
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v0,
    2: write_request_v0,
    3: write_request_v3,
    4: write_request_v3,
}


class AddOffsetsToTxnResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code',)
    throttle_time_ms: int
    error_code: int

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code


def parse_response_v0(buf: Buf, pos: int) -> tuple[AddOffsetsToTxnResponse, int]:
    m = new(AddOffsetsToTxnResponse)
    m.throttle_time_ms, m.error_code = u_ih(buf, pos)
    pos += 6
    return m, pos


def parse_response_v3(buf: Buf, pos: int) -> tuple[AddOffsetsToTxnResponse, int]:
    m = new(AddOffsetsToTxnResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v0,
    2: parse_response_v0,
    3: parse_response_v3,
    4: parse_response_v3,
}


def write_response_v0(m: AddOffsetsToTxnResponse, out: bytearray) -> None:
    out += p_ih(m.throttle_time_ms, m.error_code)


def write_response_v3(m: AddOffsetsToTxnResponse, out: bytearray) -> None:
    out += p_ihx(m.throttle_time_ms, m.error_code)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v0,
    2: write_response_v0,
    3: write_response_v3,
    4: write_response_v3,
}
