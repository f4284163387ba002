"""InitProducerId: API key 22, versions 0-6. Written by kproto.wire.generator: do not edit."""

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
p_i = Struct(">i").pack
p_ihqh = Struct(">ihqh").pack
p_ihqhqhx = Struct(">ihqhqhx").pack
p_ihqhx = Struct(">ihqhx").pack
p_iqhttx = Struct(">iqh??x").pack
p_iqhx = Struct(">iqhx").pack
p_ix = Struct(">ix").pack
u_h = Struct(">h").unpack_from
u_i = Struct(">i").unpack_from
u_ihqh = Struct(">ihqh").unpack_from
u_ihqhqhB = Struct(">ihqhqhB").unpack_from
u_iqh = Struct(">iqh").unpack_from
u_iqhttB = Struct(">iqh??B").unpack_from


class InitProducerIdRequest(WireStruct):
    __slots__ = ('transactional_id', 'transaction_timeout_ms', 'producer_id', 'producer_epoch', 'enable2_pc', 'keep_prepared_txn',)
    transactional_id: str | None
    transaction_timeout_ms: int
    producer_id: int
    producer_epoch: int
    enable2_pc: bool
    keep_prepared_txn: bool

    def __init__(
        self,
        transactional_id: str | None = '',
        transaction_timeout_ms: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        enable2_pc: bool = False,
        keep_prepared_txn: bool = False,
    ) -> None:
        self.transactional_id = transactional_id
        self.transaction_timeout_ms = transaction_timeout_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.enable2_pc = enable2_pc
        self.keep_prepared_txn = keep_prepared_txn


def parse_request_v0(buf: Buf, pos: int) -> tuple[InitProducerIdRequest, int]:
    m = new(InitProducerIdRequest)
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    elif n == -1:
        m.transactional_id = None
    else:
        raise bad_length('InitProducerIdRequest.transactional_id')
    m.transaction_timeout_ms = u_i(buf, pos)[0]
    pos += 4
    m.producer_id = -1
    m.producer_epoch = -1
    m.enable2_pc = False
    m.keep_prepared_txn = False
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[InitProducerIdRequest, int]:
    m = new(InitProducerIdRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.transactional_id = None
    m.transaction_timeout_ms = u_i(buf, pos)[0]
    pos += 4
    m.producer_id = -1
    m.producer_epoch = -1
    m.enable2_pc = False
    m.keep_prepared_txn = False
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v3(buf: Buf, pos: int) -> tuple[InitProducerIdRequest, int]:
    m = new(InitProducerIdRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.transactional_id = None
    m.transaction_timeout_ms, m.producer_id, m.producer_epoch = u_iqh(buf, pos)
    pos += 14
    m.enable2_pc = False
    m.keep_prepared_txn = False
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v6(buf: Buf, pos: int) -> tuple[InitProducerIdRequest, int]:
    m = new(InitProducerIdRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.transactional_id = None
    m.transaction_timeout_ms, m.producer_id, m.producer_epoch, m.enable2_pc, m.keep_prepared_txn, n = u_iqhttB(buf, pos)
    pos += 17
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v0,
    2: parse_request_v2,
    3: parse_request_v3,
    4: parse_request_v3,
    5: parse_request_v3,
    6: parse_request_v6,
}


def write_request_v0(m: InitProducerIdRequest, out: bytearray) -> None:
    b = m.transactional_id
    if b is None:
        b = b""
        n = -1
    else:
        b = b.encode()
        n = len(b)
    out += p_h(n)
    out += b
    out += p_i(m.transaction_timeout_ms)


def write_request_v2(m: InitProducerIdRequest, out: bytearray) -> None:
    b = m.transactional_id
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
    out += p_ix(m.transaction_timeout_ms)


def write_request_v3(m: InitProducerIdRequest, out: bytearray) -> None:
    b = m.transactional_id
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
    out += p_iqhx(m.transaction_timeout_ms, m.producer_id, m.producer_epoch)


def write_request_v6(m: InitProducerIdRequest, out: bytearray) -> None:
    b = m.transactional_id
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
    out += p_iqhttx(m.transaction_timeout_ms, m.producer_id, m.producer_epoch, m.enable2_pc, m.keep_prepared_txn)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v0,
    2: write_request_v2,
    3: write_request_v3,
    4: write_request_v3,
    5: write_request_v3,
    6: write_request_v6,
}


class InitProducerIdResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'producer_id', 'producer_epoch', 'ongoing_txn_producer_id', 'ongoing_txn_producer_epoch',)
    throttle_time_ms: int
    error_code: int
    producer_id: int
    producer_epoch: int
    ongoing_txn_producer_id: int
    ongoing_txn_producer_epoch: int

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = 0,
        ongoing_txn_producer_id: int = -1,
        ongoing_txn_producer_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.ongoing_txn_producer_id = ongoing_txn_producer_id
        self.ongoing_txn_producer_epoch = ongoing_txn_producer_epoch


def parse_response_v0(buf: Buf, pos: int) -> tuple[InitProducerIdResponse, int]:
    m = new(InitProducerIdResponse)
    m.throttle_time_ms, m.error_code, m.producer_id, m.producer_epoch = u_ihqh(buf, pos)
    pos += 16
    m.ongoing_txn_producer_id = -1
    m.ongoing_txn_producer_epoch = -1
    return m, pos


def parse_response_v2(buf: Buf, pos: int) -> tuple[InitProducerIdResponse, int]:
    m = new(InitProducerIdResponse)
    m.throttle_time_ms, m.error_code, m.producer_id, m.producer_epoch = u_ihqh(buf, pos)
    pos += 16
    m.ongoing_txn_producer_id = -1
    m.ongoing_txn_producer_epoch = -1
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v6(buf: Buf, pos: int) -> tuple[InitProducerIdResponse, int]:
    m = new(InitProducerIdResponse)
    m.throttle_time_ms, m.error_code, m.producer_id, m.producer_epoch, m.ongoing_txn_producer_id, m.ongoing_txn_producer_epoch, n = u_ihqhqhB(buf, pos)
    pos += 27
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v0,
    2: parse_response_v2,
    3: parse_response_v2,
    4: parse_response_v2,
    5: parse_response_v2,
    6: parse_response_v6,
}


def write_response_v0(m: InitProducerIdResponse, out: bytearray) -> None:
    out += p_ihqh(m.throttle_time_ms, m.error_code, m.producer_id, m.producer_epoch)


def write_response_v2(m: InitProducerIdResponse, out: bytearray) -> None:
    out += p_ihqhx(m.throttle_time_ms, m.error_code, m.producer_id, m.producer_epoch)


def write_response_v6(m: InitProducerIdResponse, out: bytearray) -> None:
    out += p_ihqhqhx(m.throttle_time_ms, m.error_code, m.producer_id, m.producer_epoch, m.ongoing_txn_producer_id, m.ongoing_txn_producer_epoch)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v0,
    2: write_response_v2,
    3: write_response_v2,
    4: write_response_v2,
    5: write_response_v2,
    6: write_response_v6,
}
