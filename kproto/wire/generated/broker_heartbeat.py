"""BrokerHeartbeat: API key 63, versions 0-2. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    EMPTY,
    MAX_REQUEST_ELEMENTS,
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

p_U = Struct(">16s").pack
p_ihtttx = Struct(">ih???x").pack
p_iqqttB = Struct(">iqq??B").pack
p_iqqttx = Struct(">iqq??x").pack
u_ihtttB = Struct(">ih???B").unpack_from
u_iqqtt = Struct(">iqq??").unpack_from


class BrokerHeartbeatRequest(WireStruct):
    __slots__ = ('broker_id', 'broker_epoch', 'current_metadata_offset', 'want_fence', 'want_shut_down', 'offline_log_dirs', 'cordoned_log_dirs',)
    broker_id: int
    broker_epoch: int
    current_metadata_offset: int
    want_fence: bool
    want_shut_down: bool
    offline_log_dirs: list[bytes]
    cordoned_log_dirs: list[bytes] | None

    def __init__(
        self,
        broker_id: int = 0,
        broker_epoch: int = -1,
        current_metadata_offset: int = 0,
        want_fence: bool = False,
        want_shut_down: bool = False,
        offline_log_dirs: list[bytes] = EMPTY,
        cordoned_log_dirs: list[bytes] | None = None,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.current_metadata_offset = current_metadata_offset
        self.want_fence = want_fence
        self.want_shut_down = want_shut_down
        self.offline_log_dirs = [] if offline_log_dirs is EMPTY else offline_log_dirs
        self.cordoned_log_dirs = cordoned_log_dirs


def parse_request_v0(buf: Buf, pos: int) -> tuple[BrokerHeartbeatRequest, int]:
    m = new(BrokerHeartbeatRequest)
    m.broker_id, m.broker_epoch, m.current_metadata_offset, m.want_fence, m.want_shut_down = u_iqqtt(buf, pos)
    pos += 22
    m.offline_log_dirs = []
    m.cordoned_log_dirs = None
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[BrokerHeartbeatRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(BrokerHeartbeatRequest)
    m.broker_id, m.broker_epoch, m.current_metadata_offset, m.want_fence, m.want_shut_down = u_iqqtt(buf, pos)
    pos += 22
    m.offline_log_dirs = []
    m.cordoned_log_dirs = None
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
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = more(buf, pos, n)
                if n:
                    n -= 1
                    left -= n
                    if left < 0 or n * 16 > size - pos:
                        raise bad_count('BrokerHeartbeatRequest.offline_log_dirs', n)
                    end = pos + 16 * n
                    m.offline_log_dirs = [bytes(buf[p:p + 16]) for p in range(pos, end, 16)]
                    pos = end
                else:
                    raise bad_length('BrokerHeartbeatRequest.offline_log_dirs')
                if pos != end1:
                    raise bad_tag('BrokerHeartbeatRequest.offline_log_dirs')
            else:
                pos = end1
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[BrokerHeartbeatRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(BrokerHeartbeatRequest)
    m.broker_id, m.broker_epoch, m.current_metadata_offset, m.want_fence, m.want_shut_down = u_iqqtt(buf, pos)
    pos += 22
    m.offline_log_dirs = []
    m.cordoned_log_dirs = None
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
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = more(buf, pos, n)
                if n:
                    n -= 1
                    left -= n
                    if left < 0 or n * 16 > size - pos:
                        raise bad_count('BrokerHeartbeatRequest.offline_log_dirs', n)
                    end = pos + 16 * n
                    m.offline_log_dirs = [bytes(buf[p:p + 16]) for p in range(pos, end, 16)]
                    pos = end
                else:
                    raise bad_length('BrokerHeartbeatRequest.offline_log_dirs')
                if pos != end1:
                    raise bad_tag('BrokerHeartbeatRequest.offline_log_dirs')
            elif tag1 == 1:
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = more(buf, pos, n)
                if n:
                    n -= 1
                    left -= n
                    if left < 0 or n * 16 > size - pos:
                        raise bad_count('BrokerHeartbeatRequest.cordoned_log_dirs', n)
                    end = pos + 16 * n
                    m.cordoned_log_dirs = [bytes(buf[p:p + 16]) for p in range(pos, end, 16)]
                    pos = end
                else:
                    m.cordoned_log_dirs = None
                if pos != end1:
                    raise bad_tag('BrokerHeartbeatRequest.cordoned_log_dirs')
            else:
                pos = end1
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
    2: parse_request_v2,
}


def write_request_v0(m: BrokerHeartbeatRequest, out: bytearray) -> None:
    out += p_iqqttx(m.broker_id, m.broker_epoch, m.current_metadata_offset, m.want_fence, m.want_shut_down)


def write_request_v1(m: BrokerHeartbeatRequest, out: bytearray) -> None:
    n = (m.offline_log_dirs != [])
    out += p_iqqttB(m.broker_id, m.broker_epoch, m.current_metadata_offset, m.want_fence, m.want_shut_down, n)
    if n:
        if m.offline_log_dirs != []:
            t1 = bytearray()
            a1 = m.offline_log_dirs
            n = len(a1) + 1
            if n < 128:
                t1.append(n)
            else:
                uvarint(t1, n)
            for m1 in a1:
                t1 += p_U(m1)
            uvarint(out, 0)
            uvarint(out, len(t1))
            out += t1


def write_request_v2(m: BrokerHeartbeatRequest, out: bytearray) -> None:
    n = (m.offline_log_dirs != []) + (m.cordoned_log_dirs is not None)
    out += p_iqqttB(m.broker_id, m.broker_epoch, m.current_metadata_offset, m.want_fence, m.want_shut_down, n)
    if n:
        if m.offline_log_dirs != []:
            t1 = bytearray()
            a1 = m.offline_log_dirs
            n = len(a1) + 1
            if n < 128:
                t1.append(n)
            else:
                uvarint(t1, n)
            for m1 in a1:
                t1 += p_U(m1)
            uvarint(out, 0)
            uvarint(out, len(t1))
            out += t1
        if m.cordoned_log_dirs is not None:
            t1 = bytearray()
            a1 = m.cordoned_log_dirs
            if a1 is None:
                a1 = ()
                n = 0
            else:
                n = len(a1) + 1
            if n < 128:
                t1.append(n)
            else:
                uvarint(t1, n)
            for m1 in a1:
                t1 += p_U(m1)
            uvarint(out, 1)
            uvarint(out, len(t1))
            out += t1


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v1,
    2: write_request_v2,
}


class BrokerHeartbeatResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'is_caught_up', 'is_fenced', 'should_shut_down',)
    throttle_time_ms: int
    error_code: int
    is_caught_up: bool
    is_fenced: bool
    should_shut_down: bool

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        is_caught_up: bool = False,
        is_fenced: bool = True,
        should_shut_down: bool = False,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.is_caught_up = is_caught_up
        self.is_fenced = is_fenced
        self.should_shut_down = should_shut_down


def parse_response_v0(buf: Buf, pos: int) -> tuple[BrokerHeartbeatResponse, int]:
    m = new(BrokerHeartbeatResponse)
    m.throttle_time_ms, m.error_code, m.is_caught_up, m.is_fenced, m.should_shut_down, n = u_ihtttB(buf, pos)
    pos += 10
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v0,
    2: parse_response_v0,
}


def write_response_v0(m: BrokerHeartbeatResponse, out: bytearray) -> None:
    out += p_ihtttx(m.throttle_time_ms, m.error_code, m.is_caught_up, m.is_fenced, m.should_shut_down)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v0,
    2: write_response_v0,
}
