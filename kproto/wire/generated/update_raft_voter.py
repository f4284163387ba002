"""UpdateRaftVoter: API key 82, versions 0-0. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    EMPTY,
    MAX_REQUEST_ELEMENTS,
    ZERO_UUID,
    Buf,
    WireStruct,
    bad_count,
    bad_length,
    bad_tag,
    count_tags,
    more,
    new,
    read_uvarint,
    skip_tags,
    uvarint,
)

p_Hx = Struct(">Hx").pack
p_hhxx = Struct(">hhxx").pack
p_ihB = Struct(">ihB").pack
p_ii = Struct(">ii").pack
p_iiB = Struct(">iiB").pack
p_iiU = Struct(">ii16s").pack
p_iiUB = Struct(">ii16sB").pack
p_ix = Struct(">ix").pack
u_HB = Struct(">HB").unpack_from
u_hhB = Struct(">hhB").unpack_from
u_iB = Struct(">iB").unpack_from
u_ih = Struct(">ih").unpack_from
u_iiB = Struct(">iiB").unpack_from
u_iiUB = Struct(">ii16sB").unpack_from


class Listener(WireStruct):
    __slots__ = ('name', 'host', 'port',)
    name: str
    host: str
    port: int

    def __init__(
        self,
        name: str = '',
        host: str = '',
        port: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port


class KRaftVersionFeature(WireStruct):
    __slots__ = ('min_supported_version', 'max_supported_version',)
    min_supported_version: int
    max_supported_version: int

    def __init__(
        self,
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version


class UpdateRaftVoterRequest(WireStruct):
    __slots__ = ('cluster_id', 'current_leader_epoch', 'voter_id', 'voter_directory_id', 'listeners', 'k_raft_version_feature',)
    cluster_id: str | None
    current_leader_epoch: int
    voter_id: int
    voter_directory_id: bytes
    listeners: list[Listener]
    k_raft_version_feature: KRaftVersionFeature

    def __init__(
        self,
        cluster_id: str | None = '',
        current_leader_epoch: int = 0,
        voter_id: int = 0,
        voter_directory_id: bytes = ZERO_UUID,
        listeners: list[Listener] = EMPTY,
        k_raft_version_feature: KRaftVersionFeature = EMPTY,
    ) -> None:
        self.cluster_id = cluster_id
        self.current_leader_epoch = current_leader_epoch
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.listeners = [] if listeners is EMPTY else listeners
        self.k_raft_version_feature = KRaftVersionFeature() if k_raft_version_feature is EMPTY else k_raft_version_feature


def parse_request_v0(buf: Buf, pos: int) -> tuple[UpdateRaftVoterRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(UpdateRaftVoterRequest)
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.cluster_id = None
    m.current_leader_epoch, m.voter_id, m.voter_directory_id, n = u_iiUB(buf, pos)
    pos += 25
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 5 > size - pos:
            raise bad_count('UpdateRaftVoterRequest.listeners', n)
        m.listeners = a1 = []
        for _ in range(n):
            m1 = new(Listener)
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
                raise bad_length('UpdateRaftVoterRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('UpdateRaftVoterRequest.host')
            m1.port, n = u_HB(buf, pos)
            pos += 3
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('UpdateRaftVoterRequest.listeners')
    m.k_raft_version_feature = m1 = new(KRaftVersionFeature)
    m1.min_supported_version, m1.max_supported_version, n = u_hhB(buf, pos)
    pos += 5
    if n:
        pos = skip_tags(buf, pos, n)
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
}


def write_request_v0(m: UpdateRaftVoterRequest, out: bytearray) -> None:
    b = m.cluster_id
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
    a1 = m.listeners
    n = len(a1) + 1
    if n < 128:
        out += p_iiUB(m.current_leader_epoch, m.voter_id, m.voter_directory_id, n)
    else:
        out += p_iiU(m.current_leader_epoch, m.voter_id, m.voter_directory_id)
        uvarint(out, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        b = m1.host.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_Hx(m1.port)
    m1 = m.k_raft_version_feature
    out += p_hhxx(m1.min_supported_version, m1.max_supported_version)


WRITE_REQUEST = {
    0: write_request_v0,
}


class CurrentLeader(WireStruct):
    __slots__ = ('leader_id', 'leader_epoch', 'host', 'port',)
    leader_id: int
    leader_epoch: int
    host: str
    port: int

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
        host: str = '',
        port: int = 0,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.host = host
        self.port = port


class UpdateRaftVoterResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'current_leader',)
    throttle_time_ms: int
    error_code: int
    current_leader: CurrentLeader | None

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        current_leader: CurrentLeader | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.current_leader = current_leader


def parse_response_v0(buf: Buf, pos: int) -> tuple[UpdateRaftVoterResponse, int]:
    m = new(UpdateRaftVoterResponse)
    m.throttle_time_ms, m.error_code = u_ih(buf, pos)
    pos += 6
    m.current_leader = None
    n = buf[pos]
    pos += 1
    if n:
        if n > 127:
            n, pos = count_tags(buf, pos, n)
        for _ in range(n):
            tag1, pos = read_uvarint(buf, pos)
            n, pos = read_uvarint(buf, pos)
            end1 = pos + n
            if tag1 == 0:
                m.current_leader = m1 = new(CurrentLeader)
                m1.leader_id, m1.leader_epoch, n = u_iiB(buf, pos)
                pos += 9
                if n > 127:
                    n, pos = more(buf, pos, n)
                if n:
                    end = pos + n - 1
                    m1.host = str(buf[pos:end], "utf-8")
                    pos = end
                else:
                    raise bad_length('UpdateRaftVoterResponse.host')
                m1.port, n = u_iB(buf, pos)
                pos += 5
                if n:
                    pos = skip_tags(buf, pos, n)
                if pos != end1:
                    raise bad_tag('UpdateRaftVoterResponse.current_leader')
            else:
                pos = end1
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
}


def write_response_v0(m: UpdateRaftVoterResponse, out: bytearray) -> None:
    n = (m.current_leader is not None)
    out += p_ihB(m.throttle_time_ms, m.error_code, n)
    if n:
        if m.current_leader is not None:
            t1 = bytearray()
            m1 = m.current_leader
            b = m1.host.encode()
            n = len(b) + 1
            if n < 128:
                t1 += p_iiB(m1.leader_id, m1.leader_epoch, n)
            else:
                t1 += p_ii(m1.leader_id, m1.leader_epoch)
                uvarint(t1, n)
            t1 += b
            t1 += p_ix(m1.port)
            uvarint(out, 0)
            uvarint(out, len(t1))
            out += t1


WRITE_RESPONSE = {
    0: write_response_v0,
}
