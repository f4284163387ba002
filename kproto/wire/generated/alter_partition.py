"""AlterPartition: API key 56, versions 2-3. Written by kproto.wire.generator: do not edit."""

from struct import Struct, pack, unpack_from

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
p_bix = Struct(">bix").pack
p_ih = Struct(">ih").pack
p_ihB = Struct(">ihB").pack
p_ihii = Struct(">ihii").pack
p_ihiiB = Struct(">ihiiB").pack
p_ii = Struct(">ii").pack
p_iiB = Struct(">iiB").pack
p_iq = Struct(">iq").pack
p_iqB = Struct(">iqB").pack
p_iqx = Struct(">iqx").pack
u_UB = Struct(">16sB").unpack_from
u_biB = Struct(">biB").unpack_from
u_ihB = Struct(">ihB").unpack_from
u_ihiiB = Struct(">ihiiB").unpack_from
u_ii = Struct(">ii").unpack_from
u_iiB = Struct(">iiB").unpack_from
u_iqB = Struct(">iqB").unpack_from


class BrokerState(WireStruct):
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


class RequestPartitionData(WireStruct):
    __slots__ = ('partition_index', 'leader_epoch', 'new_isr', 'new_isr_with_epochs', 'leader_recovery_state', 'partition_epoch',)
    partition_index: int
    leader_epoch: int
    new_isr: list[int]
    new_isr_with_epochs: list[BrokerState]
    leader_recovery_state: int
    partition_epoch: int

    def __init__(
        self,
        partition_index: int = 0,
        leader_epoch: int = 0,
        new_isr: list[int] = EMPTY,
        new_isr_with_epochs: list[BrokerState] = EMPTY,
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.leader_epoch = leader_epoch
        self.new_isr = [] if new_isr is EMPTY else new_isr
        self.new_isr_with_epochs = [] if new_isr_with_epochs is EMPTY else new_isr_with_epochs
        self.leader_recovery_state = leader_recovery_state
        self.partition_epoch = partition_epoch


class RequestTopicData(WireStruct):
    __slots__ = ('topic_id', 'partitions',)
    topic_id: bytes
    partitions: list[RequestPartitionData]

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[RequestPartitionData] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class AlterPartitionRequest(WireStruct):
    __slots__ = ('broker_id', 'broker_epoch', 'topics',)
    broker_id: int
    broker_epoch: int
    topics: list[RequestTopicData]

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        topics: list[RequestTopicData] = EMPTY,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.topics = [] if topics is EMPTY else topics


def parse_request_v2(buf: Buf, pos: int) -> tuple[AlterPartitionRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(AlterPartitionRequest)
    m.broker_id, m.broker_epoch, n = u_iqB(buf, pos)
    pos += 13
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('AlterPartitionRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(RequestTopicData)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 15 > size - pos:
                    raise bad_count('AlterPartitionRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(RequestPartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.leader_epoch, n = u_iiB(buf, pos)
                    pos += 9
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('AlterPartitionRequest.new_isr', n)
                        m2.new_isr = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('AlterPartitionRequest.new_isr')
                    m2.new_isr_with_epochs = []
                    m2.leader_recovery_state, m2.partition_epoch, n = u_biB(buf, pos)
                    pos += 6
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('AlterPartitionRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AlterPartitionRequest.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v3(buf: Buf, pos: int) -> tuple[AlterPartitionRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(AlterPartitionRequest)
    m.broker_id, m.broker_epoch, n = u_iqB(buf, pos)
    pos += 13
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('AlterPartitionRequest.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(RequestTopicData)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 15 > size - pos:
                    raise bad_count('AlterPartitionRequest.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(RequestPartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.leader_epoch = u_ii(buf, pos)
                    pos += 8
                    m2.new_isr = []
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 13 > size - pos:
                            raise bad_count('AlterPartitionRequest.new_isr_with_epochs', n)
                        m2.new_isr_with_epochs = a3 = []
                        for _ in range(n):
                            m3 = new(BrokerState)
                            a3.append(m3)
                            m3.broker_id, m3.broker_epoch, n = u_iqB(buf, pos)
                            pos += 13
                            if n:
                                pos = skip_tags(buf, pos, n)
                    else:
                        raise bad_length('AlterPartitionRequest.new_isr_with_epochs')
                    m2.leader_recovery_state, m2.partition_epoch, n = u_biB(buf, pos)
                    pos += 6
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('AlterPartitionRequest.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AlterPartitionRequest.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    2: parse_request_v2,
    3: parse_request_v3,
}


def write_request_v2(m: AlterPartitionRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_iqB(m.broker_id, m.broker_epoch, n)
    else:
        out += p_iq(m.broker_id, m.broker_epoch)
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
            a3 = m2.new_isr
            n = len(a3) + 1
            if n < 128:
                out += p_iiB(m2.partition_index, m2.leader_epoch, n)
            else:
                out += p_ii(m2.partition_index, m2.leader_epoch)
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out += p_bix(m2.leader_recovery_state, m2.partition_epoch)
        out.append(0)
    out.append(0)


def write_request_v3(m: AlterPartitionRequest, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_iqB(m.broker_id, m.broker_epoch, n)
    else:
        out += p_iq(m.broker_id, m.broker_epoch)
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
            a3 = m2.new_isr_with_epochs
            n = len(a3) + 1
            if n < 128:
                out += p_iiB(m2.partition_index, m2.leader_epoch, n)
            else:
                out += p_ii(m2.partition_index, m2.leader_epoch)
                uvarint(out, n)
            for m3 in a3:
                out += p_iqx(m3.broker_id, m3.broker_epoch)
            out += p_bix(m2.leader_recovery_state, m2.partition_epoch)
        out.append(0)
    out.append(0)


WRITE_REQUEST = {
    2: write_request_v2,
    3: write_request_v3,
}


class ResponsePartitionData(WireStruct):
    __slots__ = ('partition_index', 'error_code', 'leader_id', 'leader_epoch', 'isr', 'leader_recovery_state', 'partition_epoch',)
    partition_index: int
    error_code: int
    leader_id: int
    leader_epoch: int
    isr: list[int]
    leader_recovery_state: int
    partition_epoch: int

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        leader_id: int = 0,
        leader_epoch: int = 0,
        isr: list[int] = EMPTY,
        leader_recovery_state: int = 0,
        partition_epoch: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.isr = [] if isr is EMPTY else isr
        self.leader_recovery_state = leader_recovery_state
        self.partition_epoch = partition_epoch


class ResponseTopicData(WireStruct):
    __slots__ = ('topic_id', 'partitions',)
    topic_id: bytes
    partitions: list[ResponsePartitionData]

    def __init__(
        self,
        topic_id: bytes = ZERO_UUID,
        partitions: list[ResponsePartitionData] = EMPTY,
    ) -> None:
        self.topic_id = topic_id
        self.partitions = [] if partitions is EMPTY else partitions


class AlterPartitionResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'topics',)
    throttle_time_ms: int
    error_code: int
    topics: list[ResponseTopicData]

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        topics: list[ResponseTopicData] = EMPTY,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.topics = [] if topics is EMPTY else topics


def parse_response_v2(buf: Buf, pos: int) -> tuple[AlterPartitionResponse, int]:
    size = len(buf)
    left = MAX_ELEMENTS
    m = new(AlterPartitionResponse)
    m.throttle_time_ms, m.error_code, n = u_ihB(buf, pos)
    pos += 7
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 18 > size - pos:
            raise bad_count('AlterPartitionResponse.topics', n)
        m.topics = a1 = []
        for _ in range(n):
            m1 = new(ResponseTopicData)
            a1.append(m1)
            m1.topic_id, n = u_UB(buf, pos)
            pos += 17
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                n -= 1
                left -= n
                if left < 0 or n * 21 > size - pos:
                    raise bad_count('AlterPartitionResponse.partitions', n)
                m1.partitions = a2 = []
                for _ in range(n):
                    m2 = new(ResponsePartitionData)
                    a2.append(m2)
                    m2.partition_index, m2.error_code, m2.leader_id, m2.leader_epoch, n = u_ihiiB(buf, pos)
                    pos += 15
                    if n > 127:
                        n, pos = more(buf, pos, n)
                    if n:
                        n -= 1
                        left -= n
                        if left < 0 or n * 4 > size - pos:
                            raise bad_count('AlterPartitionResponse.isr', n)
                        m2.isr = list(unpack_from(f">{n}i", buf, pos))
                        pos += 4 * n
                    else:
                        raise bad_length('AlterPartitionResponse.isr')
                    m2.leader_recovery_state, m2.partition_epoch, n = u_biB(buf, pos)
                    pos += 6
                    if n:
                        pos = skip_tags(buf, pos, n)
            else:
                raise bad_length('AlterPartitionResponse.partitions')
            n = buf[pos]
            pos += 1
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('AlterPartitionResponse.topics')
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    2: parse_response_v2,
    3: parse_response_v2,
}


def write_response_v2(m: AlterPartitionResponse, out: bytearray) -> None:
    a1 = m.topics
    n = len(a1) + 1
    if n < 128:
        out += p_ihB(m.throttle_time_ms, m.error_code, n)
    else:
        out += p_ih(m.throttle_time_ms, m.error_code)
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
            a3 = m2.isr
            n = len(a3) + 1
            if n < 128:
                out += p_ihiiB(m2.partition_index, m2.error_code, m2.leader_id, m2.leader_epoch, n)
            else:
                out += p_ihii(m2.partition_index, m2.error_code, m2.leader_id, m2.leader_epoch)
                uvarint(out, n)
            out += pack(f">{len(a3)}i", *a3)
            out += p_bix(m2.leader_recovery_state, m2.partition_epoch)
        out.append(0)
    out.append(0)


WRITE_RESPONSE = {
    2: write_response_v2,
    3: write_response_v2,
}
