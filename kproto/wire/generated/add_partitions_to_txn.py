"""AddPartitionsToTxn: API key 24, versions 0-5. Written by kproto.wire.generator: do not edit."""

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
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_ihx = Struct(">ihx").pack
p_ii = Struct(">ii").pack
p_qh = Struct(">qh").pack
p_qht = Struct(">qh?").pack
p_qhtB = Struct(">qh?B").pack
p_qhB = Struct(">qhB").pack
p_qhi = Struct(">qhi").pack
u_h = Struct(">h").unpack_from
u_i = Struct(">i").unpack_from
u_ih = Struct(">ih").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_qhtB = Struct(">qh?B").unpack_from
u_qhB = Struct(">qhB").unpack_from
u_qhi = Struct(">qhi").unpack_from


class AddPartitionsToTxnTopic(WireStruct):
    __slots__ = ('name', 'partitions',)
    name: str
    partitions: list[int]

    def __init__(
        self,
        name: str = '',
        partitions: list[int] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class AddPartitionsToTxnTransaction(WireStruct):
    __slots__ = ('transactional_id', 'producer_id', 'producer_epoch', 'verify_only', 'topics',)
    transactional_id: str
    producer_id: int
    producer_epoch: int
    verify_only: bool
    topics: list[AddPartitionsToTxnTopic]

    def __init__(
        self,
        transactional_id: str = '',
        producer_id: int = 0,
        producer_epoch: int = 0,
        verify_only: bool = False,
        topics: list[AddPartitionsToTxnTopic] = EMPTY,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.verify_only = verify_only
        self.topics = [] if topics is EMPTY else topics


class AddPartitionsToTxnRequest(WireStruct):
    __slots__ = ('transactions', 'v3_and_below_transactional_id', 'v3_and_below_producer_id', 'v3_and_below_producer_epoch', 'v3_and_below_topics',)
    transactions: list[AddPartitionsToTxnTransaction]
    v3_and_below_transactional_id: str
    v3_and_below_producer_id: int
    v3_and_below_producer_epoch: int
    v3_and_below_topics: list[AddPartitionsToTxnTopic]

    def __init__(
        self,
        transactions: list[AddPartitionsToTxnTransaction] = EMPTY,
        v3_and_below_transactional_id: str = '',
        v3_and_below_producer_id: int = 0,
        v3_and_below_producer_epoch: int = 0,
        v3_and_below_topics: list[AddPartitionsToTxnTopic] = EMPTY,
    ) -> None:
        self.transactions = [] if transactions is EMPTY else transactions
        self.v3_and_below_transactional_id = v3_and_below_transactional_id
        self.v3_and_below_producer_id = v3_and_below_producer_id
        self.v3_and_below_producer_epoch = v3_and_below_producer_epoch
        self.v3_and_below_topics = [] if v3_and_below_topics is EMPTY else v3_and_below_topics


def parse_request_v0(buf: Buf, pos: int) -> tuple[AddPartitionsToTxnRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(AddPartitionsToTxnRequest)
    m.transactions = []
    n = u_h(buf, pos)[0]
    pos += 2
    if n >= 0:
        end = pos + n
        m.v3_and_below_transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('AddPartitionsToTxnRequest.v3_and_below_transactional_id')
    m.v3_and_below_producer_id, m.v3_and_below_producer_epoch, n = u_qhi(buf, pos)
    pos += 14
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('AddPartitionsToTxnRequest.v3_and_below_topics', n)
        m.v3_and_below_topics = a1 = []
        for _ in range(n):
            m1 = new(AddPartitionsToTxnTopic)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('AddPartitionsToTxnRequest.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('AddPartitionsToTxnRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('AddPartitionsToTxnRequest.partitions')
    else:
        raise bad_length('AddPartitionsToTxnRequest.v3_and_below_topics')
    return m, pos


def parse_request_v3(buf: Buf, pos: int) -> tuple[AddPartitionsToTxnRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(AddPartitionsToTxnRequest)
    m.transactions = []
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.v3_and_below_transactional_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('AddPartitionsToTxnRequest.v3_and_below_transactional_id')
    m.v3_and_below_producer_id, m.v3_and_below_producer_epoch, n = u_qhB(buf, pos)
    pos += 11
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('AddPartitionsToTxnRequest.v3_and_below_topics', n)
        m.v3_and_below_topics = a1 = []
        for _ in range(n):
            m1 = new(AddPartitionsToTxnTopic)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('AddPartitionsToTxnRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 4 > size - pos:
                    raise bad_count('AddPartitionsToTxnRequest.partitions', n)
                m1.partitions = list(unpack_from(f">{n}i", buf, pos))
                pos += 4 * n
            else:
                raise bad_length('AddPartitionsToTxnRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AddPartitionsToTxnRequest.v3_and_below_topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v4(buf: Buf, pos: int) -> tuple[AddPartitionsToTxnRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(AddPartitionsToTxnRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 14 > size - pos:
            raise bad_count('AddPartitionsToTxnRequest.transactions', n)
        m.transactions = a1 = []
        for _ in range(n):
            m1 = new(AddPartitionsToTxnTransaction)
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
                raise bad_length('AddPartitionsToTxnRequest.transactional_id')
            m1.producer_id, m1.producer_epoch, m1.verify_only, n = u_qhtB(buf, pos)
            pos += 12
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('AddPartitionsToTxnRequest.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(AddPartitionsToTxnTopic)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('AddPartitionsToTxnRequest.name')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('AddPartitionsToTxnRequest.partitions', n)
                        m2.partitions = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('AddPartitionsToTxnRequest.partitions')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('AddPartitionsToTxnRequest.topics')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AddPartitionsToTxnRequest.transactions')
    m.v3_and_below_transactional_id = ''
    m.v3_and_below_producer_id = 0
    m.v3_and_below_producer_epoch = 0
    m.v3_and_below_topics = []
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
    4: parse_request_v4,
    5: parse_request_v4,
}


def write_request_v0(m: AddPartitionsToTxnRequest, out: bytearray) -> None:
    b = m.v3_and_below_transactional_id.encode()
    n = len(b)
    out += p_h(n)
    out += b
    a1 = m.v3_and_below_topics
    n = len(a1)
    out += p_qhi(m.v3_and_below_producer_id, m.v3_and_below_producer_epoch, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.partitions
        n = len(a2)
        out += p_i(n)
        out += pack(f">{len(a2)}i", *a2)


def write_request_v3(m: AddPartitionsToTxnRequest, out: bytearray) -> None:
    b = m.v3_and_below_transactional_id.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    a1 = m.v3_and_below_topics
    n = len(a1) + 1
    if n < 128:
        out += p_qhB(m.v3_and_below_producer_id, m.v3_and_below_producer_epoch, n)
    else:
        out += p_qh(m.v3_and_below_producer_id, m.v3_and_below_producer_epoch)
        uvarint(out, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += pack(f">{len(a2)}i", *a2)
        out.append(0)
    out.append(0)


def write_request_v4(m: AddPartitionsToTxnRequest, out: bytearray) -> None:
    a1 = m.transactions
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
        a2 = m1.topics
        n = len(a2) + 1
        if n < 128:
            out += p_qhtB(m1.producer_id, m1.producer_epoch, m1.verify_only, n)
        else:
            out += p_qht(m1.producer_id, m1.producer_epoch, m1.verify_only)
            uvarint(out, n)
        for m2 in a2:
            b = m2.name.encode()
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


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v0,
    2: write_request_v0,
    3: write_request_v3,
    4: write_request_v4,
    5: write_request_v4,
}


class AddPartitionsToTxnPartitionResult(WireStruct):
    __slots__ = ('partition_index', 'partition_error_code',)
    partition_index: int
    partition_error_code: int

    def __init__(
        self,
        partition_index: int = 0,
        partition_error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.partition_error_code = partition_error_code


class AddPartitionsToTxnTopicResult(WireStruct):
    __slots__ = ('name', 'results_by_partition',)
    name: str
    results_by_partition: list[AddPartitionsToTxnPartitionResult]

    def __init__(
        self,
        name: str = '',
        results_by_partition: list[AddPartitionsToTxnPartitionResult] = EMPTY,
    ) -> None:
        self.name = name
        self.results_by_partition = [] if results_by_partition is EMPTY else results_by_partition


class AddPartitionsToTxnResult(WireStruct):
    __slots__ = ('transactional_id', 'topic_results',)
    transactional_id: str
    topic_results: list[AddPartitionsToTxnTopicResult]

    def __init__(
        self,
        transactional_id: str = '',
        topic_results: list[AddPartitionsToTxnTopicResult] = EMPTY,
    ) -> None:
        self.transactional_id = transactional_id
        self.topic_results = [] if topic_results is EMPTY else topic_results


class AddPartitionsToTxnResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'results_by_transaction', 'results_by_topic_v3_and_below',)
    throttle_time_ms: int
    error_code: int
    results_by_transaction: list[AddPartitionsToTxnResult]
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results_by_transaction: list[AddPartitionsToTxnResult] = EMPTY,
        results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results_by_transaction = [] if results_by_transaction is EMPTY else results_by_transaction
        self.results_by_topic_v3_and_below = [] if results_by_topic_v3_and_below is EMPTY else results_by_topic_v3_and_below


def parse_response_v0(buf: Buf, pos: int) -> tuple[AddPartitionsToTxnResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(AddPartitionsToTxnResponse)
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
    m.error_code = 0
    m.results_by_transaction = []
    n = u_i(buf, pos)[0]
    pos += 4
    if n >= 0:
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('AddPartitionsToTxnResponse.results_by_topic_v3_and_below', n)
        m.results_by_topic_v3_and_below = a1 = []
        for _ in range(n):
            m1 = new(AddPartitionsToTxnTopicResult)
            a1.append(m1)
            n = u_h(buf, pos)[0]
            pos += 2
            if n >= 0:
                end = pos + n
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('AddPartitionsToTxnResponse.name')
            n = u_i(buf, pos)[0]
            pos += 4
            if n >= 0:
                left -= n
                if left < 0 or n * 6 > size - pos:
                    raise bad_count('AddPartitionsToTxnResponse.results_by_partition', n)
                m1.results_by_partition = a2 = []
                for _ in range(n):
                    m2 = new(AddPartitionsToTxnPartitionResult)
                    a2.append(m2)
                    m2.partition_index, m2.partition_error_code = u_ih(buf, pos)
                    pos += 6
            else:
                raise bad_length('AddPartitionsToTxnResponse.results_by_partition')
    else:
        raise bad_length('AddPartitionsToTxnResponse.results_by_topic_v3_and_below')
    return m, pos


def parse_response_v3(buf: Buf, pos: int) -> tuple[AddPartitionsToTxnResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(AddPartitionsToTxnResponse)
    m.throttle_time_ms = u_i(buf, pos)[0]
    pos += 4
    m.error_code = 0
    m.results_by_transaction = []
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('AddPartitionsToTxnResponse.results_by_topic_v3_and_below', n)
        m.results_by_topic_v3_and_below = a1 = []
        for _ in range(n):
            m1 = new(AddPartitionsToTxnTopicResult)
            a1.append(m1)
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.name = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('AddPartitionsToTxnResponse.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 7 > size - pos:
                    raise bad_count('AddPartitionsToTxnResponse.results_by_partition', n)
                m1.results_by_partition = a2 = []
                for _ in range(n):
                    m2 = new(AddPartitionsToTxnPartitionResult)
                    a2.append(m2)
                    m2.partition_index, m2.partition_error_code, n = u_ihB(buf, pos)
                    pos += 7
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('AddPartitionsToTxnResponse.results_by_partition')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AddPartitionsToTxnResponse.results_by_topic_v3_and_below')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_response_v4(buf: Buf, pos: int) -> tuple[AddPartitionsToTxnResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(AddPartitionsToTxnResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 3 > size - pos:
            raise bad_count('AddPartitionsToTxnResponse.results_by_transaction', n)
        m.results_by_transaction = a1 = []
        for _ in range(n):
            m1 = new(AddPartitionsToTxnResult)
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
                raise bad_length('AddPartitionsToTxnResponse.transactional_id')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('AddPartitionsToTxnResponse.topic_results', n)
                m1.topic_results = a2 = []
                for _ in range(n):
                    m2 = new(AddPartitionsToTxnTopicResult)
                    a2.append(m2)
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.name = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        raise bad_length('AddPartitionsToTxnResponse.name')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 7 > size - pos:
                            raise bad_count('AddPartitionsToTxnResponse.results_by_partition', n)
                        m2.results_by_partition = a3 = []
                        for _ in range(n):
                            m3 = new(AddPartitionsToTxnPartitionResult)
                            a3.append(m3)
                            m3.partition_index, m3.partition_error_code, n = u_ihB(buf, pos)
                            pos += 7
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('AddPartitionsToTxnResponse.results_by_partition')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('AddPartitionsToTxnResponse.topic_results')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AddPartitionsToTxnResponse.results_by_transaction')
    m.results_by_topic_v3_and_below = []
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v0,
    2: parse_response_v0,
    3: parse_response_v3,
    4: parse_response_v4,
    5: parse_response_v4,
}


def write_response_v0(m: AddPartitionsToTxnResponse, out: bytearray) -> None:
    a1 = m.results_by_topic_v3_and_below
    n = len(a1)
    out += p_ii(m.throttle_time_ms, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b)
        out += p_h(n)
        out += b
        a2 = m1.results_by_partition
        n = len(a2)
        out += p_i(n)
        for m2 in a2:
            out += p_ih(m2.partition_index, m2.partition_error_code)


def write_response_v3(m: AddPartitionsToTxnResponse, out: bytearray) -> None:
    a1 = m.results_by_topic_v3_and_below
    n = len(a1) + 1
    if n < 128:
        out += p_iB(m.throttle_time_ms, n)
    else:
        out += p_i(m.throttle_time_ms)
        uvarint(out, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        a2 = m1.results_by_partition
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            out += p_ihx(m2.partition_index, m2.partition_error_code)
        out.append(0)
    out.append(0)


def write_response_v4(m: AddPartitionsToTxnResponse, out: bytearray) -> None:
    a1 = m.results_by_transaction
    n = len(a1) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
        uvarint(out, n)
    for m1 in a1:
        b = m1.transactional_id.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        a2 = m1.topic_results
        n = len(a2) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        for m2 in a2:
            b = m2.name.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            a3 = m2.results_by_partition
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            for m3 in a3:
                out += p_ihx(m3.partition_index, m3.partition_error_code)
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v0,
    2: write_response_v0,
    3: write_response_v3,
    4: write_response_v4,
    5: write_response_v4,
}
