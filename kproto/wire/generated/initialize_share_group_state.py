"""InitializeShareGroupState: API key 83, versions 0-0. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    EMPTY,
    MAX_ELEMENTS,
    MAX_REQUEST_ELEMENTS,
    ZERO_UUID,
    Buf,
    WireStruct,
    bad_count,
    bad_length,
    more,
    new,
    skip_tags,
    uvarint,
)

p_U = Struct(">16s").pack
p_UB = Struct(">16sB").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_iiqx = Struct(">iiqx").pack
u_UB = Struct(">16sB").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_iiqB = Struct(">iiqB").unpack_from


class PartitionData(WireStruct):
    __slots__ = ('partition', 'state_epoch', 'start_offset',)
    partition: int
    state_epoch: int
    start_offset: int

    def __init__(
        self,
        partition: int = 0,
        state_epoch: int = 0,
        start_offset: int = 0,
    ) -> None:
        self.partition = partition
        self.state_epoch = state_epoch
        self.start_offset = start_offset


class InitializeStateData(WireStruct):
    __slots__ = ('topic_id', 'partitions',)
    topic_id: bytes
    partitions: list[PartitionData]

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionData] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class InitializeShareGroupStateRequest(WireStruct):
    __slots__ = ('group_id', 'topics',)
    group_id: str
    topics: list[InitializeStateData]

    def __init__(
        self,
        group_id: str = '',
        topics: list[InitializeStateData] = EMPTY,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is EMPTY else topics


def parse_request_v0(buf: Buf, pos: int) -> tuple[InitializeShareGroupStateRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(InitializeShareGroupStateRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('InitializeShareGroupStateRequest.group_id')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('InitializeShareGroupStateRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(InitializeStateData)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 17 > size - pos:
                    raise bad_count('InitializeShareGroupStateRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(PartitionData)
                    a2.append(m2)
                    m2.partition, m2.state_epoch, m2.start_offset, n = u_iiqB(buf, pos)
                    pos += 17
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('InitializeShareGroupStateRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('InitializeShareGroupStateRequest.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
}


def write_request_v0(m: InitializeShareGroupStateRequest, out: bytearray) -> None:
    b = m.group_id.encode()
    n = len(b) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    out += b
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out += p_UB(m1.topic_id, n)
        else:
            out += p_U(m1.topic_id)
            uvarint(out, n)
        for m2 in a2:
            out += p_iiqx(m2.partition, m2.state_epoch, m2.start_offset)
        out.append(0)
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
}


class PartitionResult(WireStruct):
    __slots__ = ('partition', 'error_code', 'error_message',)
    partition: int
    error_code: int
    error_message: str | None

    def __init__(
        self,
        partition: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message


class InitializeStateResult(WireStruct):
    __slots__ = ('topic_id', 'partitions',)
    topic_id: bytes
    partitions: list[PartitionResult]

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[PartitionResult] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class InitializeShareGroupStateResponse(WireStruct):
    __slots__ = ('results',)
    results: list[InitializeStateResult]

    def __init__(
        self,
        results: list[InitializeStateResult] = EMPTY,
    ) -> None:
        self.results = [] if results is EMPTY else results


def parse_response_v0(buf: Buf, pos: int) -> tuple[InitializeShareGroupStateResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(InitializeShareGroupStateResponse)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('InitializeShareGroupStateResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(InitializeStateResult)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 8 > size - pos:
                    raise bad_count('InitializeShareGroupStateResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(PartitionResult)
                    a2.append(m2)
                    m2.partition, m2.error_code, n = u_ihB(buf, pos)
                    pos += 7
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        end = pos + n - 1
                        m2.error_message = str(buf[pos:end], "utf-8")
                        pos = end
                    else:
                        m2.error_message = None
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('InitializeShareGroupStateResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('InitializeShareGroupStateResponse.results')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
}


def write_response_v0(m: InitializeShareGroupStateResponse, out: bytearray) -> None:
    a1 = m.results
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        a2 = m1.partitions
        n = len(a2) + 1
        if n < 128:
            out += p_UB(m1.topic_id, n)
        else:
            out += p_U(m1.topic_id)
            uvarint(out, n)
        for m2 in a2:
            b = m2.error_message
            if b is None:
                b = b""
                n = 0
            else:
                b = b.encode()
                n = len(b) + 1
            if n < 128:
                out += p_ihB(m2.partition, m2.error_code, n)
            else:
                out += p_ih(m2.partition, m2.error_code)
                uvarint(out, n)
            out += b
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    0: write_response_v0,
}
