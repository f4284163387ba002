"""BrokerRegistration: API key 62, versions 0-4. Written by kproto.wire.generator: do not edit."""

from struct import Struct

from kproto.wire.primitives import (
    EMPTY,
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

p_t = Struct(">?").pack
p_tB = Struct(">?B").pack
p_tx = Struct(">?x").pack
p_Hhx = Struct(">Hhx").pack
p_U = Struct(">16s").pack
p_UB = Struct(">16sB").pack
p_hhx = Struct(">hhx").pack
p_i = Struct(">i").pack
p_iB = Struct(">iB").pack
p_ihqx = Struct(">ihqx").pack
p_qx = Struct(">qx").pack
u_tB = Struct(">?B").unpack_from
u_HhB = Struct(">HhB").unpack_from
u_UB = Struct(">16sB").unpack_from
u_hhB = Struct(">hhB").unpack_from
u_iB = Struct(">iB").unpack_from
u_ihqB = Struct(">ihqB").unpack_from
u_qB = Struct(">qB").unpack_from


class Listener(WireStruct):
    __slots__ = ('name', 'host', 'port', 'security_protocol',)
    name: str
    host: str
    port: int
    security_protocol: int

    def __init__(
        self,
        name: str = '',
        host: str = '',
        port: int = 0,
        security_protocol: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.security_protocol = security_protocol


class Feature(WireStruct):
    __slots__ = ('name', 'min_supported_version', 'max_supported_version',)
    name: str
    min_supported_version: int
    max_supported_version: int

    def __init__(
        self,
        name: str = '',
        min_supported_version: int = 0,
        max_supported_version: int = 0,
    ) -> None:
        self.name = name
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version


class BrokerRegistrationRequest(WireStruct):
    __slots__ = ('broker_id', 'cluster_id', 'incarnation_id', 'listeners', 'features', 'rack', 'is_migrating_zk_broker', 'log_dirs', 'previous_broker_epoch',)
    broker_id: int
    cluster_id: str
    incarnation_id: bytes
    listeners: list[Listener]
    features: list[Feature]
    rack: str | None
    is_migrating_zk_broker: bool
    log_dirs: list[bytes]
    previous_broker_epoch: int

    def __init__(
        self,
        broker_id: int = 0,
        cluster_id: str = '',
        incarnation_id: bytes = ZERO_UUID,
        listeners: list[Listener] = EMPTY,
        features: list[Feature] = EMPTY,
        rack: str | None = '',
        is_migrating_zk_broker: bool = False,
        log_dirs: list[bytes] = EMPTY,
        previous_broker_epoch: int = -1,
    ) -> None:
        self.broker_id = broker_id
        self.cluster_id = cluster_id
        self.incarnation_id = incarnation_id
        self.listeners = [] if listeners is EMPTY else listeners
        self.features = [] if features is EMPTY else features
        self.rack = rack
        self.is_migrating_zk_broker = is_migrating_zk_broker
        self.log_dirs = [] if log_dirs is EMPTY else log_dirs
        self.previous_broker_epoch = previous_broker_epoch


def parse_request_v0(buf: Buf, pos: int) -> tuple[BrokerRegistrationRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(BrokerRegistrationRequest)
    m.broker_id, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('BrokerRegistrationRequest.cluster_id')
    m.incarnation_id, n = u_UB(buf, pos)
    pos += 17
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 7 > size - pos:
            raise bad_count('BrokerRegistrationRequest.listeners', n)
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
                raise bad_length('BrokerRegistrationRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('BrokerRegistrationRequest.host')
            m1.port, m1.security_protocol, n = u_HhB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('BrokerRegistrationRequest.listeners')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('BrokerRegistrationRequest.features', n)
        m.features = a1 = []
        for _ in range(n):
            m1 = new(Feature)
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
                raise bad_length('BrokerRegistrationRequest.name')
            m1.min_supported_version, m1.max_supported_version, n = u_hhB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('BrokerRegistrationRequest.features')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.rack = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.rack = None
    m.is_migrating_zk_broker = False
    m.log_dirs = []
    m.previous_broker_epoch = -1
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v1(buf: Buf, pos: int) -> tuple[BrokerRegistrationRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(BrokerRegistrationRequest)
    m.broker_id, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('BrokerRegistrationRequest.cluster_id')
    m.incarnation_id, n = u_UB(buf, pos)
    pos += 17
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 7 > size - pos:
            raise bad_count('BrokerRegistrationRequest.listeners', n)
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
                raise bad_length('BrokerRegistrationRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('BrokerRegistrationRequest.host')
            m1.port, m1.security_protocol, n = u_HhB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('BrokerRegistrationRequest.listeners')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('BrokerRegistrationRequest.features', n)
        m.features = a1 = []
        for _ in range(n):
            m1 = new(Feature)
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
                raise bad_length('BrokerRegistrationRequest.name')
            m1.min_supported_version, m1.max_supported_version, n = u_hhB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('BrokerRegistrationRequest.features')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.rack = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.rack = None
    m.is_migrating_zk_broker = buf[pos] != 0
    pos += 1
    m.log_dirs = []
    m.previous_broker_epoch = -1
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v2(buf: Buf, pos: int) -> tuple[BrokerRegistrationRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(BrokerRegistrationRequest)
    m.broker_id, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('BrokerRegistrationRequest.cluster_id')
    m.incarnation_id, n = u_UB(buf, pos)
    pos += 17
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 7 > size - pos:
            raise bad_count('BrokerRegistrationRequest.listeners', n)
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
                raise bad_length('BrokerRegistrationRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('BrokerRegistrationRequest.host')
            m1.port, m1.security_protocol, n = u_HhB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('BrokerRegistrationRequest.listeners')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('BrokerRegistrationRequest.features', n)
        m.features = a1 = []
        for _ in range(n):
            m1 = new(Feature)
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
                raise bad_length('BrokerRegistrationRequest.name')
            m1.min_supported_version, m1.max_supported_version, n = u_hhB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('BrokerRegistrationRequest.features')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.rack = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.rack = None
    m.is_migrating_zk_broker, n = u_tB(buf, pos)
    pos += 2
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 16 > size - pos:
            raise bad_count('BrokerRegistrationRequest.log_dirs', n)
        end = pos + 16 * n
        m.log_dirs = [bytes(buf[p:p + 16]) for p in range(pos, end, 16)]
        pos = end
    else:
        raise bad_length('BrokerRegistrationRequest.log_dirs')
    m.previous_broker_epoch = -1
    n = buf[pos]
    pos += 1
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


def parse_request_v3(buf: Buf, pos: int) -> tuple[BrokerRegistrationRequest, int]:
    size = len(buf)
    left = MAX_REQUEST_ELEMENTS
    m = new(BrokerRegistrationRequest)
    m.broker_id, n = u_iB(buf, pos)
    pos += 5
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.cluster_id = str(buf[pos:end], "utf-8")
        pos = end
    else:
        raise bad_length('BrokerRegistrationRequest.cluster_id')
    m.incarnation_id, n = u_UB(buf, pos)
    pos += 17
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 7 > size - pos:
            raise bad_count('BrokerRegistrationRequest.listeners', n)
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
                raise bad_length('BrokerRegistrationRequest.name')
            n = buf[pos]
            pos += 1
            if n > 127:
                n, pos = more(buf, pos, n)
            if n:
                end = pos + n - 1
                m1.host = str(buf[pos:end], "utf-8")
                pos = end
            else:
                raise bad_length('BrokerRegistrationRequest.host')
            m1.port, m1.security_protocol, n = u_HhB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('BrokerRegistrationRequest.listeners')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 6 > size - pos:
            raise bad_count('BrokerRegistrationRequest.features', n)
        m.features = a1 = []
        for _ in range(n):
            m1 = new(Feature)
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
                raise bad_length('BrokerRegistrationRequest.name')
            m1.min_supported_version, m1.max_supported_version, n = u_hhB(buf, pos)
            pos += 5
            if n:
                pos = skip_tags(buf, pos, n)
    else:
        raise bad_length('BrokerRegistrationRequest.features')
    n = buf[pos]
    pos += 1
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        end = pos + n - 1
        m.rack = str(buf[pos:end], "utf-8")
        pos = end
    else:
        m.rack = None
    m.is_migrating_zk_broker, n = u_tB(buf, pos)
    pos += 2
    if n > 127:
        n, pos = more(buf, pos, n)
    if n:
        n -= 1
        left -= n
        if left < 0 or n * 16 > size - pos:
            raise bad_count('BrokerRegistrationRequest.log_dirs', n)
        end = pos + 16 * n
        m.log_dirs = [bytes(buf[p:p + 16]) for p in range(pos, end, 16)]
        pos = end
    else:
        raise bad_length('BrokerRegistrationRequest.log_dirs')
    m.previous_broker_epoch, n = u_qB(buf, pos)
    pos += 9
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_REQUEST = {
    0: parse_request_v0,
    1: parse_request_v1,
    2: parse_request_v2,
    3: parse_request_v3,
    4: parse_request_v3,
}


def write_request_v0(m: BrokerRegistrationRequest, out: bytearray) -> None:
    b = m.cluster_id.encode()
    n = len(b) + 1
    if n < 128:
        out += p_iB(m.broker_id, n)
    else:
        out += p_i(m.broker_id)
        uvarint(out, n)
    out += b
    a1 = m.listeners
    n = len(a1) + 1
    if n < 128:
        out += p_UB(m.incarnation_id, n)
    else:
        out += p_U(m.incarnation_id)
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
        out += p_Hhx(m1.port, m1.security_protocol)
    a1 = m.features
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_hhx(m1.min_supported_version, m1.max_supported_version)
    b = m.rack
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
    out.append(0)


def write_request_v1(m: BrokerRegistrationRequest, out: bytearray) -> None:
    b = m.cluster_id.encode()
    n = len(b) + 1
    if n < 128:
        out += p_iB(m.broker_id, n)
    else:
        out += p_i(m.broker_id)
        uvarint(out, n)
    out += b
    a1 = m.listeners
    n = len(a1) + 1
    if n < 128:
        out += p_UB(m.incarnation_id, n)
    else:
        out += p_U(m.incarnation_id)
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
        out += p_Hhx(m1.port, m1.security_protocol)
    a1 = m.features
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_hhx(m1.min_supported_version, m1.max_supported_version)
    b = m.rack
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
    out += p_tx(m.is_migrating_zk_broker)


def write_request_v2(m: BrokerRegistrationRequest, out: bytearray) -> None:
    b = m.cluster_id.encode()
    n = len(b) + 1
    if n < 128:
        out += p_iB(m.broker_id, n)
    else:
        out += p_i(m.broker_id)
        uvarint(out, n)
    out += b
    a1 = m.listeners
    n = len(a1) + 1
    if n < 128:
        out += p_UB(m.incarnation_id, n)
    else:
        out += p_U(m.incarnation_id)
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
        out += p_Hhx(m1.port, m1.security_protocol)
    a1 = m.features
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_hhx(m1.min_supported_version, m1.max_supported_version)
    b = m.rack
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
    a1 = m.log_dirs
    n = len(a1) + 1
    if n < 128:
        out += p_tB(m.is_migrating_zk_broker, n)
    else:
        out += p_t(m.is_migrating_zk_broker)
        uvarint(out, n)
    for m1 in a1:
        out += p_U(m1)
    out.append(0)


def write_request_v3(m: BrokerRegistrationRequest, out: bytearray) -> None:
    b = m.cluster_id.encode()
    n = len(b) + 1
    if n < 128:
        out += p_iB(m.broker_id, n)
    else:
        out += p_i(m.broker_id)
        uvarint(out, n)
    out += b
    a1 = m.listeners
    n = len(a1) + 1
    if n < 128:
        out += p_UB(m.incarnation_id, n)
    else:
        out += p_U(m.incarnation_id)
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
        out += p_Hhx(m1.port, m1.security_protocol)
    a1 = m.features
    n = len(a1) + 1
    if n < 128:
        out.append(n)
    else:
        uvarint(out, n)
    for m1 in a1:
        b = m1.name.encode()
        n = len(b) + 1
        if n < 128:
            out.append(n)
        else:
            uvarint(out, n)
        out += b
        out += p_hhx(m1.min_supported_version, m1.max_supported_version)
    b = m.rack
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
    a1 = m.log_dirs
    n = len(a1) + 1
    if n < 128:
        out += p_tB(m.is_migrating_zk_broker, n)
    else:
        out += p_t(m.is_migrating_zk_broker)
        uvarint(out, n)
    for m1 in a1:
        out += p_U(m1)
    out += p_qx(m.previous_broker_epoch)


WRITE_REQUEST = {
    0: write_request_v0,
    1: write_request_v1,
    2: write_request_v2,
    3: write_request_v3,
    4: write_request_v3,
}


class BrokerRegistrationResponse(WireStruct):
    __slots__ = ('throttle_time_ms', 'error_code', 'broker_epoch',)
    throttle_time_ms: int
    error_code: int
    broker_epoch: int

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        broker_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.broker_epoch = broker_epoch


def parse_response_v0(buf: Buf, pos: int) -> tuple[BrokerRegistrationResponse, int]:
    m = new(BrokerRegistrationResponse)
    m.throttle_time_ms, m.error_code, m.broker_epoch, n = u_ihqB(buf, pos)
    pos += 15
    if n:
        pos = skip_tags(buf, pos, n)
    return m, pos


PARSE_RESPONSE = {
    0: parse_response_v0,
    1: parse_response_v0,
    2: parse_response_v0,
    3: parse_response_v0,
    4: parse_response_v0,
}


def write_response_v0(m: BrokerRegistrationResponse, out: bytearray) -> None:
    out += p_ihqx(m.throttle_time_ms, m.error_code, m.broker_epoch)


WRITE_RESPONSE = {
    0: write_response_v0,
    1: write_response_v0,
    2: write_response_v0,
    3: write_response_v0,
    4: write_response_v0,
}
