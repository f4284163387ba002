"""DescribeTransactions: API key 65, versions 0-0. Written by kproto.wire.generator: do not edit."""

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

p_h = Struct(">h").pack
p_hB = Struct(">hB").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_iqqh = Struct(">iqqh").pack
p_iqqhB = Struct(">iqqhB").pack
u_hB = Struct(">hB").unpack_from
u_iB = Struct(">iB").unpack_from
u_iqqhB = Struct(">iqqhB").unpack_from


class DescribeTransactionsRequest(WireStruct):
    __slots__ = ('transactional_ids',)
    transactional_ids: list[str]

    def __init__(
        self,
        transactional_ids: list[str] = EMPTY,
    ) -> None:
        self.transactional_ids = [] if transactional_ids is EMPTY else transactional_ids


def parse_request_v0(buf: Buf, pos: int) -> tuple[DescribeTransactionsRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(DescribeTransactionsRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n > size - pos:
            raise bad_count('DescribeTransactionsRequest.transactional_ids', n)
        m.transactional_ids = a1 = []
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
                raise bad_length('DescribeTransactionsRequest.s')
            a1.append(s)
    else:
        raise bad_length('DescribeTransactionsRequest.transactional_ids')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
}


def write_request_v0(m: DescribeTransactionsRequest, out: bytearray) -> None:
    a1 = m.transactional_ids
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
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
}


class TopicData(WireStruct):
    __slots__ = ('topic', 'partitions',)
    topic: str
    partitions: list[int]

    def __init__(
        self,
        topic: str = '',
        partitions: list[int] = EMPTY,
    ) -> None:
        self.topic = topic
        self.partitions = [] if partitions is EMPTY else partitions


class TransactionState(WireStruct):
    __slots__ = ('error_code', 'transactional_id', 'transaction_state', 'transaction_timeout_ms', 'transaction_start_time_ms', 'producer_id', 'producer_epoch', 'topics',)
    error_code: int
    transactional_id: str
    transaction_state: str
    transaction_timeout_ms: int
    transaction_start_time_ms: int
    producer_id: int
    producer_epoch: int
    topics: list[TopicData]

    def __init__(
        self,
        error_code: int = 0,
        transactional_id: str = '',
        transaction_state: str = '',
        transaction_timeout_ms: int = 0,
        transaction_start_time_ms: int = 0,
        producer_id: int = 0,
        producer_epoch: int = 0,
        topics: list[TopicData] = EMPTY,
    ) -> None:
        self.error_code = error_code
        self.transactional_id = transactional_id
        self.transaction_state = transaction_state
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_start_time_ms = transaction_start_time_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.topics = [] if topics is EMPTY else topics


class DescribeTransactionsResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'transaction_states',)
    throttle_time_ms: int
    transaction_states: list[TransactionState]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        transaction_states: list[TransactionState] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.transaction_states = [] if transaction_states is EMPTY else transaction_states


def parse_response_v0(buf: Buf, pos: int) -> tuple[DescribeTransactionsResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(DescribeTransactionsResponse)
    m.throttle_time_ms, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 28 > size - pos:
            raise bad_count('DescribeTransactionsResponse.transaction_states', n)
        m.transaction_states = a1 = []
        for _ in range(n):
            m1 = new(TransactionState)
            a1.append(m1)
            m1.error_code, n = u_hB(buf, pos)
            pos += 3
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.transactional_id = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeTransactionsResponse.transactional_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.transaction_state = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('DescribeTransactionsResponse.transaction_state')
            m1.transaction_timeout_ms, m1.transaction_start_time_ms, m1.producer_id, m1.producer_epoch, n = u_iqqhB(buf, pos)
            pos += 23
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('DescribeTransactionsResponse.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(TopicData)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.topic = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('DescribeTransactionsResponse.topic')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('DescribeTransactionsResponse.partitions', n)
                        m2.partitions = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('DescribeTransactionsResponse.partitions')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('DescribeTransactionsResponse.topics')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('DescribeTransactionsResponse.transaction_states')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
}


def write_response_v0(m: DescribeTransactionsResponse, out: bytearray) -> None:
    a1 = m.transaction_states
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.transactional_id.encode()
        n = len(b) + 1
        if n < 128:
            out += p_hB(m1.error_code, n)
        else:
            out += p_h(m1.error_code)
            uvarint(out, n)
        out += b
        b = m1.transaction_state.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        a2 = m1.topics
        n = len(a2) + 1
        if n < 128:
            out += p_iqqhB(m1.transaction_timeout_ms, m1.transaction_start_time_ms, m1.producer_id, m1.producer_epoch, n)
        else:
            out += p_iqqh(m1.transaction_timeout_ms, m1.transaction_start_time_ms, m1.producer_id, m1.producer_epoch)
            uvarint(out, n)
        for m2 in a2:
            b = m2.topic.encode()
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
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
}
