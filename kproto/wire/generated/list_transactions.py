"""ListTransactions: API key 66, versions 0-2. Written by kproto.wire.generator: do not edit."""

from struct import Struct, pack, unpack_from

from kproto.wire.primitives import (
    EMPTY,
    MAX_ELEMENTS,
    MAX_REQUEST_ELEMENTS,
    Buf,
    WireStruct,
    bad_count,
    bad_length,
    more,
    new,
    skip_tags,
    uvarint,
)

p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_q = Struct(">q").pack
p_qB = Struct(">qB").pack
p_qx = Struct(">qx").pack
u_ihB = Struct(">ihB").unpack_from
u_q = Struct(">q").unpack_from
u_qB = Struct(">qB").unpack_from


class ListTransactionsRequest(WireStruct):
    __slots__ = ('state_filters', 'producer_id_filters', 'duration_filter', 'transactional_id_pattern',)
    state_filters: list[str]
    producer_id_filters: list[int]
    duration_filter: int
    transactional_id_pattern: str | None

    def __init__(
        self,
        state_filters: list[str] = EMPTY,
        producer_id_filters: list[int] = EMPTY,
        duration_filter: int = -1,
        transactional_id_pattern: str | None = None,
    ) -> None:
        self.state_filters = [] if state_filters is EMPTY else state_filters
        self.producer_id_filters = [] if producer_id_filters is EMPTY else producer_id_filters
        self.duration_filter = duration_filter
        self.transactional_id_pattern = transactional_id_pattern


def parse_request_v0(buf: Buf, pos: int) -> tuple[ListTransactionsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ListTransactionsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('ListTransactionsRequest.state_filters', n)
        m.state_filters = a1 = []
        for _ in range(n):
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                s = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListTransactionsRequest.s')
            a1.append(s)
    else:
        raise bad_length('ListTransactionsRequest.state_filters')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 8 > size - pos:
            raise bad_count('ListTransactionsRequest.producer_id_filters', n)
        m.producer_id_filters = list(unpack_from(f">{n}q", buf, pos))
        pos += 8 * n
    else:
        raise bad_length('ListTransactionsRequest.producer_id_filters')
    m.duration_filter = -1
    m.transactional_id_pattern = None
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[ListTransactionsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ListTransactionsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('ListTransactionsRequest.state_filters', n)
        m.state_filters = a1 = []
        for _ in range(n):
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                s = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListTransactionsRequest.s')
            a1.append(s)
    else:
        raise bad_length('ListTransactionsRequest.state_filters')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 8 > size - pos:
            raise bad_count('ListTransactionsRequest.producer_id_filters', n)
        m.producer_id_filters = list(unpack_from(f">{n}q", buf, pos))
        pos += 8 * n
    else:
        raise bad_length('ListTransactionsRequest.producer_id_filters')
    m.duration_filter = u_q(buf, pos)[0]
    pos += 8
    m.transactional_id_pattern = None
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[ListTransactionsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(ListTransactionsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('ListTransactionsRequest.state_filters', n)
        m.state_filters = a1 = []
        for _ in range(n):
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                s = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListTransactionsRequest.s')
            a1.append(s)
    else:
        raise bad_length('ListTransactionsRequest.state_filters')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 8 > size - pos:
            raise bad_count('ListTransactionsRequest.producer_id_filters', n)
        m.producer_id_filters = list(unpack_from(f">{n}q", buf, pos))
        pos += 8 * n
    else:
        raise bad_length('ListTransactionsRequest.producer_id_filters')
    m.duration_filter, n = u_qB(buf, pos)
    pos += 9
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.transactional_id_pattern = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.transactional_id_pattern = None
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
    2: parse_request_v2,
}


def write_request_v0(m: ListTransactionsRequest, out: bytearray) -> None:
    a1 = m.state_filters
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
    a1 = m.producer_id_filters
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += pack(f">{len(a1)}q", *a1)
    out.append(0)


def write_request_v1(m: ListTransactionsRequest, out: bytearray) -> None:
    a1 = m.state_filters
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
    a1 = m.producer_id_filters
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += pack(f">{len(a1)}q", *a1)
    out += p_qx(m.duration_filter)


def write_request_v2(m: ListTransactionsRequest, out: bytearray) -> None:
    a1 = m.state_filters
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
    a1 = m.producer_id_filters
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += pack(f">{len(a1)}q", *a1)
    b = m.transactional_id_pattern
    if b is None:
        b = b""
        n = 0
    else:
        b = b.encode()
        n = len(b) + 1
    if n < 128:
        out += p_qB(m.duration_filter, n)
    else:
        out += p_q(m.duration_filter)
        uvarint(out, n)
    out += b
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v1,
    2: write_request_v2,
}


class TransactionState(WireStruct):
    __slots__ = ('transactional_id', 'producer_id', 'transaction_state',)
    transactional_id: str
    producer_id: int
    transaction_state: str

    def __init__(
        self,
        transactional_id: str = '',
        producer_id: int = 0,
        transaction_state: str = '',
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.transaction_state = transaction_state


class ListTransactionsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'unknown_state_filters', 'transaction_states',)
    throttle_time_ms: int
    error_code: int
    unknown_state_filters: list[str]
    transaction_states: list[TransactionState]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_state_filters: list[str] = EMPTY,
        transaction_states: list[TransactionState] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_state_filters = [] if unknown_state_filters is EMPTY else unknown_state_filters
        self.transaction_states = [] if transaction_states is EMPTY else transaction_states


def parse_response_v0(buf: Buf, pos: int) -> tuple[ListTransactionsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(ListTransactionsResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('ListTransactionsResponse.unknown_state_filters', n)
        m.unknown_state_filters = a1 = []
        for _ in range(n):
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                s = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListTransactionsResponse.s')
            a1.append(s)
    else:
        raise bad_length('ListTransactionsResponse.unknown_state_filters')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 11 > size - pos:
            raise bad_count('ListTransactionsResponse.transaction_states', n)
        m.transaction_states = a1 = []
        for _ in range(n):
            m1 = new(TransactionState)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.transactional_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListTransactionsResponse.transactional_id')
            m1.producer_id, n = u_qB(buf, pos)
            pos += 9
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.transaction_state = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('ListTransactionsResponse.transaction_state')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('ListTransactionsResponse.transaction_states')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v0,
    2: parse_response_v0,
}


def write_response_v0(m: ListTransactionsResponse, out: bytearray) -> None:
    a1 = m.unknown_state_filters
    n = len(a1) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
        uvarint(out, n)
    for m1 in a1:
        b = m1.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
    a1 = m.transaction_states
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.transactional_id.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.transaction_state.encode()
        n = len(b) + 1
        if n < 128:
            out += p_qB(m1.producer_id, n)
        else:
            out += p_q(m1.producer_id)
            uvarint(out, n)
        out += b
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v0,
    2: write_response_v0,
}
