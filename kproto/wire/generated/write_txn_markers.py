"""WriteTxnMarkers: API key 27, versions 1-2. Written by kproto.wire.generator: do not edit."""

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

p_ibx = Struct(">ibx").pack
p_ihx = Struct(">ihx").pack
p_ix = Struct(">ix").pack
p_q = Struct(">q").pack
p_qB = Struct(">qB").pack
p_qht = Struct(">qh?").pack
p_qhtB = Struct(">qh?B").pack
u_i = Struct(">i").unpack_from
u_ibB = Struct(">ibB").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_qB = Struct(">qB").unpack_from
u_qhtB = Struct(">qh?B").unpack_from


class WritableTxnMarkerTopic(WireStruct):
    __slots__ = ('name', 'partition_indexes',)
    name: str
    partition_indexes: list[int]

    def __init__(
        self,
        name: str = '',
        partition_indexes: list[int] = EMPTY,
    ) -> None:
        self.name = name
        self.partition_indexes = [] if partition_indexes is EMPTY else partition_indexes


class WritableTxnMarker(WireStruct):
    __slots__ = ('producer_id', 'producer_epoch', 'transaction_result', 'topics', 'coordinator_epoch', 'transaction_version',)
    producer_id: int
    producer_epoch: int
    transaction_result: bool
    topics: list[WritableTxnMarkerTopic]
    coordinator_epoch: int
    transaction_version: int

    def __init__(
        self,
        producer_id: int = 0,
        producer_epoch: int = 0,
        transaction_result: bool = False,
        topics: list[WritableTxnMarkerTopic] = EMPTY,
        coordinator_epoch: int = 0,
        transaction_version: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.transaction_result = transaction_result
        self.topics = [] if topics is EMPTY else topics
        self.coordinator_epoch = coordinator_epoch
        self.transaction_version = transaction_version


class WriteTxnMarkersRequest(WireStruct):
    __slots__ = ('markers',)
    markers: list[WritableTxnMarker]

    def __init__(
        self,
        markers: list[WritableTxnMarker] = EMPTY,
    ) -> None:
        self.markers = [] if markers is EMPTY else markers


def parse_request_v1(buf: Buf, pos: int) -> tuple[WriteTxnMarkersRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(WriteTxnMarkersRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 17 > size - pos:
            raise bad_count('WriteTxnMarkersRequest.markers', n)
        m.markers = a1 = []
        for _ in range(n):
            m1 = new(WritableTxnMarker)
            a1.append(m1)
            m1.producer_id, m1.producer_epoch, m1.transaction_result, n = u_qhtB(buf, pos)
            pos += 12
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('WriteTxnMarkersRequest.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(WritableTxnMarkerTopic)
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
                        raise bad_length('WriteTxnMarkersRequest.name')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('WriteTxnMarkersRequest.partition_indexes', n)
                        m2.partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('WriteTxnMarkersRequest.partition_indexes')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('WriteTxnMarkersRequest.topics')
            m1.coordinator_epoch = u_i(buf, pos)[0]
            pos += 4
            m1.transaction_version = 0
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('WriteTxnMarkersRequest.markers')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[WriteTxnMarkersRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(WriteTxnMarkersRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('WriteTxnMarkersRequest.markers', n)
        m.markers = a1 = []
        for _ in range(n):
            m1 = new(WritableTxnMarker)
            a1.append(m1)
            m1.producer_id, m1.producer_epoch, m1.transaction_result, n = u_qhtB(buf, pos)
            pos += 12
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('WriteTxnMarkersRequest.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(WritableTxnMarkerTopic)
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
                        raise bad_length('WriteTxnMarkersRequest.name')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('WriteTxnMarkersRequest.partition_indexes', n)
                        m2.partition_indexes = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('WriteTxnMarkersRequest.partition_indexes')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('WriteTxnMarkersRequest.topics')
            m1.coordinator_epoch, m1.transaction_version, n = u_ibB(buf, pos)
            pos += 6
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('WriteTxnMarkersRequest.markers')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    1: parse_request_v1,
    2: parse_request_v2,
}


def write_request_v1(m: WriteTxnMarkersRequest, out: bytearray) -> None:
    a1 = m.markers
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        a2 = m1.topics
        n = len(a2) + 1
        if n < 128:
            out += p_qhtB(m1.producer_id, m1.producer_epoch, m1.transaction_result, n)
        else:
            out += p_qht(m1.producer_id, m1.producer_epoch, m1.transaction_result)
            uvarint(out, n)
        for m2 in a2:
            b = m2.name.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            a3 = m2.partition_indexes
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        out += p_ix(m1.coordinator_epoch)
    out.append(0)


def write_request_v2(m: WriteTxnMarkersRequest, out: bytearray) -> None:
    a1 = m.markers
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        a2 = m1.topics
        n = len(a2) + 1
        if n < 128:
            out += p_qhtB(m1.producer_id, m1.producer_epoch, m1.transaction_result, n)
        else:
            out += p_qht(m1.producer_id, m1.producer_epoch, m1.transaction_result)
            uvarint(out, n)
        for m2 in a2:
            b = m2.name.encode()
            n = len(b) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += b
            a3 = m2.partition_indexes
            n = len(a3) + 1
            if n < 128:
                out.append(n)
            else:
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out.append(0)
        out += p_ibx(m1.coordinator_epoch, m1.transaction_version)
    out.append(0)


WRITE_REQUEST = {
    1: write_request_v1,
    2: write_request_v2,
}


class WritableTxnMarkerPartitionResult(WireStruct):
    __slots__ = ('partition_index', 'error_code',)
    partition_index: int
    error_code: int

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class WritableTxnMarkerTopicResult(WireStruct):
    __slots__ = ('name', 'partitions',)
    name: str
    partitions: list[WritableTxnMarkerPartitionResult]

    def __init__(
        self,
        name: str = '',
        partitions: list[WritableTxnMarkerPartitionResult] = EMPTY,
    ) -> None:
        self.name = name
        self.partitions = [] if partitions is EMPTY else partitions


class WritableTxnMarkerResult(WireStruct):
    __slots__ = ('producer_id', 'topics',)
    producer_id: int
    topics: list[WritableTxnMarkerTopicResult]

    def __init__(
        self,
        producer_id: int = 0,
        topics: list[WritableTxnMarkerTopicResult] = EMPTY,
    ) -> None:
        self.producer_id = producer_id
        self.topics = [] if topics is EMPTY else topics


class WriteTxnMarkersResponse(WireStruct):
    __slots__ = ('markers',)
    markers: list[WritableTxnMarkerResult]

    def __init__(
        self,
        markers: list[WritableTxnMarkerResult] = EMPTY,
    ) -> None:
        self.markers = [] if markers is EMPTY else markers


def parse_response_v1(buf: Buf, pos: int) -> tuple[WriteTxnMarkersResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(WriteTxnMarkersResponse)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 10 > size - pos:
            raise bad_count('WriteTxnMarkersResponse.markers', n)
        m.markers = a1 = []
        for _ in range(n):
            m1 = new(WritableTxnMarkerResult)
            a1.append(m1)
            m1.producer_id, n = u_qB(buf, pos)
            pos += 9
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 3 > size - pos:
                    raise bad_count('WriteTxnMarkersResponse.topics', n)
                m1.topics = a2 = []
                for _ in range(n):
                    m2 = new(WritableTxnMarkerTopicResult)
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
                        raise bad_length('WriteTxnMarkersResponse.name')
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 7 > size - pos:
                            raise bad_count('WriteTxnMarkersResponse.partitions', n)
                        m2.partitions = a3 = []
                        for _ in range(n):
                            m3 = new(WritableTxnMarkerPartitionResult)
                            a3.append(m3)
                            m3.partition_index, m3.error_code, n = u_ihB(buf, pos)
                            pos += 7
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('WriteTxnMarkersResponse.partitions')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('WriteTxnMarkersResponse.topics')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('WriteTxnMarkersResponse.markers')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    1: parse_response_v1,
    2: parse_response_v1,
}


def write_response_v1(m: WriteTxnMarkersResponse, out: bytearray) -> None:
    a1 = m.markers
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        a2 = m1.topics
        n = len(a2) + 1
        if n < 128:
            out += p_qB(m1.producer_id, n)
        else:
            out += p_q(m1.producer_id)
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
            for m3 in a3:
                out += p_ihx(m3.partition_index, m3.error_code)
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    1: write_response_v1,
    2: write_response_v1,
}
