"""WriteShareGroupState: API key 85, versions 0-1. Written by kproto.wire.generator: do not edit."""

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
p_iiiq = Struct(">iiiq").pack
p_iiiqB = Struct(">iiiqB").pack
p_iiiqi = Struct(">iiiqi").pack
p_iiiqiB = Struct(">iiiqiB").pack
p_qqbhx = Struct(">qqbhx").pack
u_UB = Struct(">16sB").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_iiiq = Struct(">iiiq").unpack_from
u_iiiqiB = Struct(">iiiqiB").unpack_from
u_qqbhB = Struct(">qqbhB").unpack_from


class StateBatch(WireStruct):
    __slots__ = ('first_offset', 'last_offset', 'delivery_state', 'delivery_count',)
    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_state: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count


class PartitionData(WireStruct):
    __slots__ = ('partition', 'state_epoch', 'leader_epoch', 'start_offset', 'delivery_complete_count', 'state_batches',)
    partition: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    state_batches: list[StateBatch]

    def __init__(
        self,
        partition: int = 0,
        state_epoch: int = 0,
        leader_epoch: int = 0,
        start_offset: int = 0,
        delivery_complete_count: int = -1,
        state_batches: list[StateBatch] = EMPTY,
    ) -> None:
        self.partition = partition
        self.state_epoch = state_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count
        self.state_batches = [] if state_batches is EMPTY else state_batches


class WriteStateData(WireStruct):
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


class WriteShareGroupStateRequest(WireStruct):
    __slots__ = ('group_id', 'topics',)
    group_id: str
    topics: list[WriteStateData]

    def __init__(
        self,
        group_id: str = '',
        topics: list[WriteStateData] = EMPTY,
    ) -> None:
        self.group_id = group_id
        self.topics = [] if topics is EMPTY else topics


def parse_request_v0(buf: Buf, pos: int) -> tuple[WriteShareGroupStateRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(WriteShareGroupStateRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('WriteShareGroupStateRequest.group_id')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('WriteShareGroupStateRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(WriteStateData)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 22 > size - pos:
                    raise bad_count('WriteShareGroupStateRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(PartitionData)
                    a2.append(m2)
                    m2.partition, m2.state_epoch, m2.leader_epoch, m2.start_offset = u_iiiq(buf, pos)
                    pos += 20
                    m2.delivery_complete_count = -1
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 20 > size - pos:
                            raise bad_count('WriteShareGroupStateRequest.state_batches', n)
                        m2.state_batches = a3 = []
                        for _ in range(n):
                            m3 = new(StateBatch)
                            a3.append(m3)
                            m3.first_offset, m3.last_offset, m3.delivery_state, m3.delivery_count, n = u_qqbhB(buf, pos)
                            pos += 20
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('WriteShareGroupStateRequest.state_batches')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('WriteShareGroupStateRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('WriteShareGroupStateRequest.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[WriteShareGroupStateRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(WriteShareGroupStateRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.group_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('WriteShareGroupStateRequest.group_id')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('WriteShareGroupStateRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(WriteStateData)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 26 > size - pos:
                    raise bad_count('WriteShareGroupStateRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(PartitionData)
                    a2.append(m2)
                    m2.partition, m2.state_epoch, m2.leader_epoch, m2.start_offset, m2.delivery_complete_count, n = u_iiiqiB(buf, pos)
                    pos += 25
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 20 > size - pos:
                            raise bad_count('WriteShareGroupStateRequest.state_batches', n)
                        m2.state_batches = a3 = []
                        for _ in range(n):
                            m3 = new(StateBatch)
                            a3.append(m3)
                            m3.first_offset, m3.last_offset, m3.delivery_state, m3.delivery_count, n = u_qqbhB(buf, pos)
                            pos += 20
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('WriteShareGroupStateRequest.state_batches')
                    n = buf[pos]
                    pos += 1
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('WriteShareGroupStateRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('WriteShareGroupStateRequest.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
}


def write_request_v0(m: WriteShareGroupStateRequest, out: bytearray) -> None:
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
            a3 = m2.state_batches
            n = len(a3) + 1
            if n < 128:
                out += p_iiiqB(m2.partition, m2.state_epoch, m2.leader_epoch, m2.start_offset, n)
            else:
                out += p_iiiq(m2.partition, m2.state_epoch, m2.leader_epoch, m2.start_offset)
                uvarint(out, n)
            for m3 in a3:
                out += p_qqbhx(m3.first_offset, m3.last_offset, m3.delivery_state, m3.delivery_count)
            out.append(0)
        out.append(0)
    out.append(0)


def write_request_v1(m: WriteShareGroupStateRequest, out: bytearray) -> None:
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
            a3 = m2.state_batches
            n = len(a3) + 1
            if n < 128:
                out += p_iiiqiB(m2.partition, m2.state_epoch, m2.leader_epoch, m2.start_offset, m2.delivery_complete_count, n)
            else:
                out += p_iiiqi(m2.partition, m2.state_epoch, m2.leader_epoch, m2.start_offset, m2.delivery_complete_count)
                uvarint(out, n)
            for m3 in a3:
                out += p_qqbhx(m3.first_offset, m3.last_offset, m3.delivery_state, m3.delivery_count)
            out.append(0)
        out.append(0)
    out.append(0)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v1,
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


class WriteStateResult(WireStruct):
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


class WriteShareGroupStateResponse(WireStruct):
    __slots__ = ('results',)
    results: list[WriteStateResult]

    def __init__(
        self,
        results: list[WriteStateResult] = EMPTY,
    ) -> None:
        self.results = [] if results is EMPTY else results


def parse_response_v0(buf: Buf, pos: int) -> tuple[WriteShareGroupStateResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(WriteShareGroupStateResponse)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('WriteShareGroupStateResponse.results', n)
        m.results = a1 = []
        for _ in range(n):
            m1 = new(WriteStateResult)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 8 > size - pos:
                    raise bad_count('WriteShareGroupStateResponse.partitions', n)
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
                raise bad_length('WriteShareGroupStateResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('WriteShareGroupStateResponse.results')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v0,
}


def write_response_v0(m: WriteShareGroupStateResponse, out: bytearray) -> None:
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
    1: write_response_v0,
}
